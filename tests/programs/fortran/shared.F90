! The count that the program keeps of its calls, checks, and who this process is.
#include "binding.h"
module shared
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer, parameter :: AK = MPI_ADDRESS_KIND, OK = MPI_OFFSET_KIND
#ifdef LARGE_COUNT
  integer, parameter :: CK = MPI_COUNT_KIND, DK = MPI_ADDRESS_KIND
#else
  integer, parameter :: CK = kind(0), DK = kind(0)
#endif
  integer :: rank, size, next, prev, ierr
  character(64), private :: names(800) = ''
  integer, private :: counts(800) = 0, known = 0

contains

  ! One more call of a procedure, under the name of its C function.
  subroutine tally(name)
    character(*), intent(in) :: name
    integer :: i
    do i = 1, known
      if (names(i) == name) then
        counts(i) = counts(i) + 1
        return
      end if
    end do
    known = known + 1
    names(known) = name
    counts(known) = 1
  end subroutine tally

  ! The line that the harness reads: rank total function=count ...
  subroutine write_tally()
    character(1024) :: folder
    character(16) :: number
    integer :: i, unit
    call get_environment_variable('TALLY_DIR', folder)
    if (folder == '') return
    write (number, '(i0)') rank
    open (newunit=unit, file=trim(folder) // '/' // trim(number) // '.tally', recl=100000)
    write (unit, '(i0, 1x, i0)', advance='no') rank, sum(counts)
    do i = 1, known
      write (unit, '(1x, a, a, i0)', advance='no') trim(names(i)), '=', counts(i)
    end do
    write (unit, *)
    close (unit)
  end subroutine write_tally

  subroutine check(condition, file, line)
    logical, intent(in) :: condition
    character(*), intent(in) :: file
    integer, intent(in) :: line
    if (.not. condition) then
      write (0, *) file, line, ': check failed on rank', rank
      call PMPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
  end subroutine check

end module shared
