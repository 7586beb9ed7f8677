! MPI 4.0 chapter 11: names, ports, and processes that are started. The program is started again, with and without an
! argument; a second world keeps no count.
#include "binding.h"
module processes
  use shared
  implicit none
contains

  ! Whether this is a started process, which has said so to its parents.
  logical function started()
    HANDLE(MPI_Comm) :: parent
    integer :: value, sum
    CALL(MPI_Comm_get_parent)(parent ERR)
    started = parent /= MPI_COMM_NULL
    if (.not. started) return
    value = command_argument_count()
    call MPI_Reduce(value, sum, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierr)
    call MPI_Comm_disconnect(parent, ierr)
  end function started

  subroutine test_processes()
    HANDLE(MPI_Comm) :: children
    character(1000) :: program
    character(1000), dimension(2) :: programs
    character(10), dimension(3) :: arguments
    character(10), dimension(2, 3) :: lists
    character(MPI_MAX_PORT_NAME) :: port, found
    integer :: codes(2)
    call get_command_argument(0, program)
    arguments = [character(10) :: 'one', 'two', '']
    programs = program
    lists(1, :) = arguments
    lists(2, :) = arguments

    CALL(MPI_Comm_spawn)(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes ERR)
    CHECK(rank /= 0 .or. all(codes == MPI_SUCCESS))
    call gather(children, 4)
    CALL(MPI_Comm_spawn)(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE ERR)
    call gather(children, 0)
    CALL(MPI_Comm_spawn_multiple)(2, programs, lists, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, codes ERR)
    call gather(children, 4)
    CALL(MPI_Comm_spawn_multiple)(2, programs, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE ERR)
    call gather(children, 0)

    if (rank == 0) then
      CALL(MPI_Open_port)(MPI_INFO_NULL, port ERR)
      CALL(MPI_Publish_name)('tests/fortran ', MPI_INFO_NULL, port ERR)
      CALL(MPI_Lookup_name)('tests/fortran', MPI_INFO_NULL, found ERR)
      CHECK(found == port)
      CALL(MPI_Unpublish_name)('tests/fortran', MPI_INFO_NULL, port ERR)
    end if
    if (size > 1 .and. rank < 2) call meet(port)
    if (rank == 0) then
      CALL(MPI_Close_port)(port ERR)
    end if
    CALL(MPI_Barrier)(MPI_COMM_WORLD ERR)
  end subroutine test_processes

  ! Ranks 0 and 1 meet through the port.
  subroutine meet(port)
    character(MPI_MAX_PORT_NAME) :: port
    HANDLE(MPI_Comm) :: other
    if (rank == 0) then
      CALL(MPI_Send)(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 1, 70, MPI_COMM_WORLD ERR)
      CALL(MPI_Comm_accept)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other ERR)
    else
      CALL(MPI_Recv)(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
      CALL(MPI_Comm_connect)(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other ERR)
    end if
    CALL(MPI_Comm_disconnect)(other ERR)
  end subroutine meet

  ! How many arguments the children had.
  subroutine gather(children, expected)
    HANDLE(MPI_Comm), intent(inout) :: children
    integer, intent(in) :: expected
    integer :: nothing, total, root
    nothing = 0
    root = MPI_PROC_NULL
    if (rank == 0) root = MPI_ROOT
    CALL(MPI_Reduce)(nothing, total, 1, MPI_INTEGER, MPI_SUM, root, children ERR)
    CHECK(rank /= 0 .or. total == expected)
    CALL(MPI_Comm_disconnect)(children ERR)
  end subroutine gather

end module processes
