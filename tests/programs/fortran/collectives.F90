! MPI 4.0 chapters 6 and 8.6: collectives, blocking, nonblocking and persistent, and those among neighbours.
#include "binding.h"
module collectives
  use shared
  implicit none
  integer, private, parameter :: MOST = 64
  integer, private, asynchronous :: a(MOST), b(MOST)
  integer(CK), private, asynchronous :: ones(MOST)
  integer(DK), private, asynchronous :: places(MOST)
  HANDLE(MPI_Datatype), private, asynchronous :: types(MOST)
  HANDLE(MPI_Request), private :: request
contains

  subroutine test_collectives()
    integer :: i
    ones = 1
    places = [(int(i - 1, DK), i = 1, MOST)]
    types = MPI_INTEGER
    call blocking()
    call reductions()
    call operations()
    call nonblocking()
    call neighbours()
#ifdef MPI4
    call persistent()
    call persistent_neighbours()
#endif
  end subroutine test_collectives

  subroutine fill()
    integer :: i
    a = [(100 * rank + i, i = 1, MOST)]
    b = -1
  end subroutine fill

  subroutine blocking()
    integer(DK) :: bytes(MOST)
    integer :: i
    bytes = 4 * places
    call fill()
    CALL(MPI_Barrier)(MPI_COMM_WORLD ERR)
    LARGE(MPI_Bcast)(a, N(3), MPI_INTEGER, size - 1, MPI_COMM_WORLD ERR)
    CHECK(a(3) == 100 * (size - 1) + 3)
    call fill()
    LARGE(MPI_Gather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
    if (rank == 0) then
      CHECK(b(size) == 100 * (size - 1) + 1)
      b(1) = 42
      LARGE(MPI_Gather)(MPI_IN_PLACE, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
      CHECK(b(1) == 42)
    else
      LARGE(MPI_Gather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
    end if
    LARGE(MPI_Gatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
    LARGE(MPI_Scatter)(b, N(1), MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
    CHECK(a(1) == 100 * rank + 1)
    LARGE(MPI_Scatterv)(b, ones, places, MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD ERR)
    CHECK(a(1) == 100 * rank + 1)
    LARGE(MPI_Allgather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD ERR)
    CHECK(b(size) == 100 * (size - 1) + 1)
    LARGE(MPI_Allgather)(MPI_IN_PLACE, N(0), MPI_DATATYPE_NULL, b, N(1), MPI_INTEGER, MPI_COMM_WORLD ERR)
    LARGE(MPI_Allgatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD ERR)
    CHECK(b(size) == 100 * (size - 1) + 1)
    call fill()
    LARGE(MPI_Alltoall)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD ERR)
    CHECK(all(b(:size) == [(100 * i + rank + 1, i = 0, size - 1)]))
    b = -1
    LARGE(MPI_Alltoallv)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD ERR)
    CHECK(all(b(:size) == [(100 * i + rank + 1, i = 0, size - 1)]))
    b = -1
    LARGE(MPI_Alltoallw)(a, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD ERR)
    CHECK(all(b(:size) == [(100 * i + rank + 1, i = 0, size - 1)]))
    LARGE(MPI_Alltoallw)(MPI_IN_PLACE, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD ERR)
    CHECK(all(b(:size) == [(100 * rank + i, i = 1, size)]))
  end subroutine blocking

  subroutine reductions()
    integer :: sums, i
    sums = size * (size - 1) / 2
    a = rank
    LARGE(MPI_Reduce)(a, b, N(2), MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD ERR)
    if (rank == 0) then
      CHECK(all(b(:2) == sums))
    end if
    LARGE(MPI_Allreduce)(a, b, N(2), MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD ERR)
    CHECK(all(b(:2) == size - 1))
    b = rank
    LARGE(MPI_Allreduce)(MPI_IN_PLACE, b, N(2), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
    CHECK(all(b(:2) == sums))
    LARGE(MPI_Reduce_scatter)(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
    CHECK(b(1) == sums)
    LARGE(MPI_Reduce_scatter_block)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
    CHECK(b(1) == sums)
    LARGE(MPI_Scan)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
    CHECK(b(1) == rank * (rank + 1) / 2)
    LARGE(MPI_Exscan)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD ERR)
    a = [(i, i = 1, MOST)]
    b = 1
    LARGE(MPI_Reduce_local)(a, b, N(4), MPI_INTEGER, MPI_SUM ERR)
    CHECK(all(b(:4) == [2, 3, 4, 5]))
  end subroutine reductions

  ! An operation of our own; the call in it is part of the call that calls back.
#if BINDING == 3
  subroutine product_of(in, inout, length, datatype)
    use iso_c_binding
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    logical :: flag
    call c_f_pointer(in, x, [length])
    call c_f_pointer(inout, y, [length])
#else
  subroutine product_of(x, y, length, datatype)
    integer :: length, datatype
    integer :: x(length), y(length)
    logical :: flag
#endif
    call MPI_Initialized(flag, ierr)
    if (.not. flag .or. datatype /= MPI_INTEGER) write (0, *) 'wrong datatype'
    y = x * y
  end subroutine product_of

  subroutine operations()
    HANDLE(MPI_Op) :: op
    logical :: commutes
    CALL(MPI_Op_create)(product_of, .true., op ERR)
    CALL(MPI_Op_commutative)(op, commutes ERR)
    CHECK(commutes)
    a = 2
    LARGE(MPI_Allreduce)(a, b, N(3), MPI_INTEGER, op, MPI_COMM_WORLD ERR)
    CHECK(all(b(:3) == 2**size))
    CALL(MPI_Op_free)(op ERR)
  end subroutine operations

  subroutine done()
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
  end subroutine done

  subroutine nonblocking()
    integer(DK), asynchronous :: bytes(MOST)
    bytes = 4 * places
    call fill()
    CALL(MPI_Ibarrier)(MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Ibcast)(a, N(3), MPI_INTEGER, 0, MPI_COMM_WORLD, request ERR)
    call done()
    CHECK(a(3) == 3)
    LARGE(MPI_Igather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Igatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iscatter)(b, N(1), MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iscatterv)(b, ones, places, MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iallgather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iallgatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, request ERR)
    call done()
    call fill()
    LARGE(MPI_Ialltoall)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD, request ERR)
    call done()
    CHECK(b(size) == 100 * (size - 1) + rank + 1)
    LARGE(MPI_Ialltoallv)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, request ERR)
    call done()
    b = -1
    LARGE(MPI_Ialltoallw)(a, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD, request ERR)
    call done()
    CHECK(b(size) == 100 * (size - 1) + rank + 1)
    LARGE(MPI_Ireduce)(a, b, N(1), MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, request ERR)
    call done()
    b = 1
    LARGE(MPI_Iallreduce)(MPI_IN_PLACE, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request ERR)
    call done()
    CHECK(b(1) == size)
    LARGE(MPI_Ireduce_scatter)(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Ireduce_scatter_block)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iscan)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request ERR)
    call done()
    LARGE(MPI_Iexscan)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request ERR)
    call done()
  end subroutine nonblocking

  ! A ring, in which each process has two neighbours.
  subroutine ring(comm)
    HANDLE(MPI_Comm), intent(out) :: comm
    integer :: both(2)
    both = [prev, next]
    CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., comm ERR)
  end subroutine ring

  subroutine neighbours()
    HANDLE(MPI_Comm) :: comm
    integer(AK), asynchronous :: bytes(MOST)
    integer :: i
    bytes = [(4_AK * (i - 1), i = 1, MOST)]
    call ring(comm)
    call fill()
    LARGE(MPI_Neighbor_allgather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm ERR)
    CHECK(b(1) == 100 * prev + 1 .and. b(2) == 100 * next + 1)
    LARGE(MPI_Neighbor_allgatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, comm ERR)
    LARGE(MPI_Neighbor_alltoall)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm ERR)
    LARGE(MPI_Neighbor_alltoallv)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, comm ERR)
    LARGE(MPI_Neighbor_alltoallw)(a, ones, bytes, types, b, ones, bytes, types, comm ERR)
    LARGE(MPI_Ineighbor_allgather)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm, request ERR)
    call done()
    LARGE(MPI_Ineighbor_allgatherv)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, comm, request ERR)
    call done()
    LARGE(MPI_Ineighbor_alltoall)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm, request ERR)
    call done()
    LARGE(MPI_Ineighbor_alltoallv)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, comm, request ERR)
    call done()
    LARGE(MPI_Ineighbor_alltoallw)(a, ones, bytes, types, b, ones, bytes, types, comm, request ERR)
    call done()
    CALL(MPI_Comm_free)(comm ERR)
  end subroutine neighbours

#ifdef MPI4
  subroutine started()
    CALL(MPI_Start)(request ERR)
    call done()
    CALL(MPI_Request_free)(request ERR)
  end subroutine started

  subroutine persistent()
    integer(DK), asynchronous :: bytes(MOST)
    bytes = 4 * places
    call fill()
    CALL(MPI_Barrier_init)(MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Bcast_init)(a, N(3), MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Gather_init)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Gatherv_init)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Scatter_init)(b, N(1), MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Scatterv_init)(b, ones, places, MPI_INTEGER, a, N(1), MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Allgather_init)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Allgatherv_init)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Alltoall_init)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Alltoallv_init)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Alltoallw_init)(a, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Reduce_init)(a, b, N(1), MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Allreduce_init)(MPI_IN_PLACE, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Reduce_scatter_init)(a, b, ones, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Reduce_scatter_block_init)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Scan_init)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Exscan_init)(a, b, N(1), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request ERR)
    call started()
  end subroutine persistent

  subroutine persistent_neighbours()
    HANDLE(MPI_Comm) :: comm
    integer(AK), asynchronous :: bytes(MOST)
    integer :: i
    bytes = [(4_AK * (i - 1), i = 1, MOST)]
    call ring(comm)
    LARGE(MPI_Neighbor_allgather_init)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Neighbor_allgatherv_init)(a, N(1), MPI_INTEGER, b, ones, places, MPI_INTEGER, comm, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Neighbor_alltoall_init)(a, N(1), MPI_INTEGER, b, N(1), MPI_INTEGER, comm, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Neighbor_alltoallv_init)(a, ones, places, MPI_INTEGER, b, ones, places, MPI_INTEGER, comm, MPI_INFO_NULL, request ERR)
    call started()
    LARGE(MPI_Neighbor_alltoallw_init)(a, ones, bytes, types, b, ones, bytes, types, comm, MPI_INFO_NULL, request ERR)
    call started()
    CALL(MPI_Comm_free)(comm ERR)
  end subroutine persistent_neighbours
#endif

end module collectives
