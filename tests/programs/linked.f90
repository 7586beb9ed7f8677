! A Fortran program for the tests of linking, which know how many calls it makes: one of each procedure named in it.
program linked
  use mpi
  implicit none
  integer :: rank, size, total, code
  integer(MPI_ADDRESS_KIND) :: highest
  logical :: flag
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, size, code)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
  ! does not call the function of C
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, highest, flag, code)
  if (total /= size .or. .not. flag) call MPI_Abort(MPI_COMM_WORLD, 1, code)
  call MPI_Finalize(code)
  if (rank == 0) print '(a)', 'ok'
end program linked
