! The same calls through each Fortran binding, chosen with -DBINDING=1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
! The sentinels MPI_IN_PLACE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE and MPI_BOTTOM must reach the library intact.
! The number of calls of each procedure is known to the test (tests/fortran.rs).
#if BINDING == 3
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
program fortran
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer :: rank, size, next, prev, ierr, i, value, total, count
  integer :: source(4), sink(4), positions(4)
  double precision :: vector(3)
  HANDLE(MPI_Comm) :: half
  HANDLE(MPI_Datatype) :: pair
  HANDLE(MPI_Request) :: requests(4)
#if BINDING == 3
  type(MPI_Status) :: status, statuses(4)
#else
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#endif
  logical :: flag

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)

  do i = 1, 3
    value = 10 * rank + i
    call MPI_Irecv(sink(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send(value, 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
    if (i == 1) then
      call MPI_Wait(requests(1), status, ierr)
      call MPI_Get_count(status, MPI_INTEGER, count, ierr)
      call check(count == 1, 1)
#if BINDING == 3
      call check(status%MPI_SOURCE == prev .and. status%MPI_TAG == i, 2)
#else
      call check(status(MPI_SOURCE) == prev .and. status(MPI_TAG) == i, 2)
#endif
    else
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    end if
    call check(sink(i) == 10 * prev + i, 3)
  end do

  do i = 1, 2
    call MPI_Irecv(sink(i), 1, MPI_INTEGER, prev, 20 + i, MPI_COMM_WORLD, requests(i), ierr)
    source(i) = 100 * rank + i
    call MPI_Isend(source(i), 1, MPI_INTEGER, next, 20 + i, MPI_COMM_WORLD, requests(2 + i), ierr)
  end do
  call MPI_Waitall(4, requests, statuses, ierr)
  call check(sink(2) == 100 * prev + 2, 4)
  do i = 1, 2
    call MPI_Irecv(sink(i), 1, MPI_INTEGER, prev, 30 + i, MPI_COMM_WORLD, requests(i), ierr)
    call MPI_Isend(source(i), 1, MPI_INTEGER, next, 30 + i, MPI_COMM_WORLD, requests(2 + i), ierr)
  end do
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierr)
  call check(flag, 5)

  call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 40, value, 1, MPI_INTEGER, prev, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(value == prev, 6)
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(total == size * (size + 1) / 2, 7)
  vector = rank
  call MPI_Bcast(vector, 3, MPI_DOUBLE_PRECISION, size - 1, MPI_COMM_WORLD, ierr)
  call check(vector(3) == size - 1, 8)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
  call check(total == (size + 1 - mod(rank, 2)) / 2, 9)
  call MPI_Comm_free(half, ierr)

  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, pair, ierr)
  call MPI_Type_commit(pair, ierr)
  source = [1, 2, 3, 4] + rank
  positions = -1
  call MPI_Sendrecv(source, 1, pair, next, 41, positions, 1, pair, prev, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call check(positions(1) == 1 + prev .and. positions(2) == -1 .and. positions(3) == 3 + prev, 10)
  call MPI_Type_free(pair, ierr)
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
  call check(.not. flag, 11)
  call MPI_Finalize(ierr)
  if (rank == 0) print '(a)', 'ok'

contains

  subroutine check(condition, where)
    logical, intent(in) :: condition
    integer, intent(in) :: where
    integer :: ignored
    if (.not. condition) then
      write (0, *) 'fortran.F90: check', where, 'failed on rank', rank
      call MPI_Abort(MPI_COMM_WORLD, 1, ignored)
    end if
  end subroutine check

end program fortran
