! Every procedure that the Fortran modules offer is called, and the sentinels must reach the library intact. What the
! program counts itself is the truth for tests/tests/mpi/fortran.rs. With -DPROCESSES what starts processes, else all the rest.
#include "binding.h"
program fortran
  use shared
  use point_to_point
  use collectives
  use communicators
  use datatypes
  use objects
  use one_sided
  use files
  use processes
  implicit none
  integer :: level
#ifdef PROCESSES
  CALL(MPI_Init_thread)(MPI_THREAD_FUNNELED, level ERR)
#else
  CALL(MPI_Init)(ierr)
#endif
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank ERR)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, size ERR)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
#ifdef PROCESSES
  if (started()) then
    call MPI_Finalize(ierr)
    stop
  end if
  call test_processes()
#else
  call test_point_to_point()
  call test_collectives()
  call test_communicators()
  call test_datatypes()
  call test_objects()
  call test_one_sided()
  call test_files()
#endif
  CALL(MPI_Finalize)(ierr)
  call write_tally()
  if (rank == 0) print '(a)', 'ok'
end program fortran
