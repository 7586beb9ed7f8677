! MPI 4.0 chapters 3 and 4: messages, requests, statuses, packing, partitions. Mostly messages to oneself.
#include "binding.h"
module point_to_point
  use shared
  implicit none
  integer, private, asynchronous :: a(8), b(8)
contains

  subroutine test_point_to_point()
    call blocking()
    call nonblocking()
    call completion()
    call persistent()
    call matched()
    call generalized()
    call packing()
#ifdef MPI4
    call partitioned()
#endif
  end subroutine test_point_to_point

  subroutine blocking()
    integer, target, asynchronous :: buffer(1000)
    HANDLE(MPI_Request) :: request
    STATUS(state)
    integer(CK) :: length
    integer(MPI_COUNT_KIND) :: wide
#if BINDING == 3
    block
      use iso_c_binding
      type(c_ptr) :: back
      LARGE(MPI_Buffer_attach)(buffer, N(4000) ERR)
      a = rank
      LARGE(MPI_Irecv)(b, N(8), MPI_INTEGER, prev, 1, MPI_COMM_WORLD, request ERR)
      LARGE(MPI_Bsend)(a, N(8), MPI_INTEGER, next, 1, MPI_COMM_WORLD ERR)
      CALL(MPI_Wait)(request, state ERR)
      length = 4000
      LARGE(MPI_Buffer_detach)(back, length NO_ERR)
    end block
#else
    CALL(MPI_Buffer_attach)(buffer, 4000 ERR)
    a = rank
    CALL(MPI_Irecv)(b, 8, MPI_INTEGER, prev, 1, MPI_COMM_WORLD, request ERR)
    CALL(MPI_Bsend)(a, 8, MPI_INTEGER, next, 1, MPI_COMM_WORLD ERR)
    CALL(MPI_Wait)(request, state ERR)
    CALL(MPI_Buffer_detach)(buffer, length ERR)
#endif
    CHECK(all(b == prev) .and. length == 4000)
    CHECK(FIELD(state, MPI_SOURCE) == prev .and. FIELD(state, MPI_TAG) == 1)
    length = -1
    LARGE(MPI_Get_count)(state, MPI_INTEGER, length ERR)
    CHECK(length == 8)
    LARGE(MPI_Get_elements)(state, MPI_INTEGER, length ERR)
    CHECK(length == 8)
    CALL(MPI_Get_elements_x)(state, MPI_INTEGER, wide ERR)
    CHECK(wide == 8)

    LARGE(MPI_Irecv)(b, N(8), MPI_INTEGER, prev, 2, MPI_COMM_WORLD, request ERR)
    LARGE(MPI_Send)(a, N(8), MPI_INTEGER, next, 2, MPI_COMM_WORLD ERR)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
    LARGE(MPI_Irecv)(b, N(8), MPI_INTEGER, prev, 3, MPI_COMM_WORLD, request ERR)
    LARGE(MPI_Ssend)(a, N(8), MPI_INTEGER, next, 3, MPI_COMM_WORLD ERR)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE NO_ERR)
    LARGE(MPI_Irecv)(b, N(8), MPI_INTEGER, rank, 4, MPI_COMM_WORLD, request ERR)
    LARGE(MPI_Rsend)(a, N(8), MPI_INTEGER, rank, 4, MPI_COMM_WORLD NO_ERR)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
    LARGE(MPI_Isend)(a, N(8), MPI_INTEGER, rank, 5, MPI_COMM_WORLD, request ERR)
    LARGE(MPI_Recv)(b, N(8), MPI_INTEGER, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, state ERR)
    CHECK(FIELD(state, MPI_SOURCE) == rank .and. FIELD(state, MPI_TAG) == 5)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
    LARGE(MPI_Recv)(b, N(8), MPI_INTEGER, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)

    b = -1
    LARGE(MPI_Sendrecv)(a, N(4), MPI_INTEGER, next, 6, b, N(8), MPI_INTEGER, prev, 6, MPI_COMM_WORLD, state ERR)
    CHECK(all(b(:4) == prev) .and. all(b(5:) == -1))
    LARGE(MPI_Sendrecv_replace)(a, N(8), MPI_INTEGER, next, 7, prev, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
    CHECK(all(a == prev))
    ! every other element, which the binding may have to describe with a datatype or copy
    a = [1, 2, 3, 4, 5, 6, 7, 8]
    b = 0
    LARGE(MPI_Sendrecv)(a(::2), N(4), MPI_INTEGER, rank, 8, b(:4), N(4), MPI_INTEGER, rank, 8, MPI_COMM_WORLD, state ERR)
    CHECK(all(b(:4) == [1, 3, 5, 7]))
  end subroutine blocking

  subroutine nonblocking()
    HANDLE(MPI_Request) :: requests(8)
    STATUSES(states, 8)
    integer, asynchronous :: room(500)
    integer(CK) :: length
    integer :: i
    do i = 1, 4
      LARGE(MPI_Irecv)(b(i), N(1), MPI_INTEGER, rank, 10 + i, MPI_COMM_WORLD, requests(i) ERR)
    end do
    a = [1, 2, 3, 4, 5, 6, 7, 8]
#if BINDING == 3
    block
      use iso_c_binding
      type(c_ptr) :: back
      LARGE(MPI_Buffer_attach)(room, N(2000) ERR)
      LARGE(MPI_Ibsend)(a(1), N(1), MPI_INTEGER, rank, 11, MPI_COMM_WORLD, requests(5) ERR)
      LARGE(MPI_Buffer_detach)(back, length ERR)
    end block
#else
    CALL(MPI_Buffer_attach)(room, 2000 ERR)
    CALL(MPI_Ibsend)(a(1), 1, MPI_INTEGER, rank, 11, MPI_COMM_WORLD, requests(5) ERR)
    CALL(MPI_Buffer_detach)(room, length ERR)
#endif
    LARGE(MPI_Issend)(a(2), N(1), MPI_INTEGER, rank, 12, MPI_COMM_WORLD, requests(6) ERR)
    LARGE(MPI_Irsend)(a(3), N(1), MPI_INTEGER, rank, 13, MPI_COMM_WORLD, requests(7) ERR)
    LARGE(MPI_Isend)(a(4), N(1), MPI_INTEGER, rank, 14, MPI_COMM_WORLD, requests(8) ERR)
    CALL(MPI_Waitall)(8, requests, states ERR)
    CHECK(all(b(:4) == [1, 2, 3, 4]))
#if BINDING == 3
    CHECK(states(3)%MPI_TAG == 13)
#else
    CHECK(states(MPI_TAG, 3) == 13)
#endif
#ifdef MPI4
    LARGE(MPI_Isendrecv)(a, N(8), MPI_INTEGER, next, 15, b, N(8), MPI_INTEGER, prev, 15, MPI_COMM_WORLD, requests(1) ERR)
    CALL(MPI_Wait)(requests(1), MPI_STATUS_IGNORE ERR)
    CHECK(all(b == a))
    LARGE(MPI_Isendrecv_replace)(b, N(8), MPI_INTEGER, next, 16, prev, 16, MPI_COMM_WORLD, requests(1) ERR)
    CALL(MPI_Wait)(requests(1), MPI_STATUS_IGNORE ERR)
#endif
  end subroutine nonblocking

  subroutine completion()
    HANDLE(MPI_Request) :: requests(4)
    STATUS(state)
    STATUSES(states, 4)
    integer :: i, index, done, ready, indices(4)
    logical :: flag
    call pairs(requests)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Testall)(4, requests, flag, MPI_STATUSES_IGNORE ERR)
    end do
    call pairs(requests)
    CALL(MPI_Waitall)(4, requests, MPI_STATUSES_IGNORE ERR)
    call pairs(requests)
    ! MPICH 4.0 counts from 0 in mpi_f08, and adds one to MPI_UNDEFINED elsewhere
    do i = 1, 4
      CALL(MPI_Waitany)(4, requests, index, state ERR)
      CHECK(index >= 0 .and. index <= 4)
    end do
    CALL(MPI_Waitany)(4, requests, index, MPI_STATUS_IGNORE ERR)
    CHECK(index == MPI_UNDEFINED .or. index == MPI_UNDEFINED + 1)
    call pairs(requests)
    done = 0
    do while (done < 4)
      CALL(MPI_Testany)(4, requests, index, flag, state ERR)
      if (flag) done = done + 1
    end do
    call pairs(requests)
    done = 0
    do while (done < 4)
      CALL(MPI_Waitsome)(4, requests, ready, indices, states ERR)
      CHECK(all(indices(:ready) >= 0))
      done = done + ready
    end do
    call pairs(requests)
    done = 0
    do while (done < 4)
      CALL(MPI_Testsome)(4, requests, ready, indices, MPI_STATUSES_IGNORE ERR)
      done = done + ready
    end do
    call pairs(requests)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Request_get_status)(requests(1), flag, state ERR)
    end do
    do i = 1, 4
      flag = .false.
      do while (.not. flag)
        CALL(MPI_Test)(requests(i), flag, state ERR)
      end do
    end do
    ! a receive that nobody sends to
    LARGE(MPI_Irecv)(b, N(1), MPI_INTEGER, rank, 99, MPI_COMM_WORLD, requests(1) ERR)
    CALL(MPI_Cancel)(requests(1) ERR)
    CALL(MPI_Wait)(requests(1), state ERR)
    CALL(MPI_Test_cancelled)(state, flag ERR)
    CHECK(flag)
    LARGE(MPI_Irecv)(b, N(1), MPI_INTEGER, rank, 98, MPI_COMM_WORLD, requests(1) ERR)
    LARGE(MPI_Isend)(a, N(1), MPI_INTEGER, rank, 98, MPI_COMM_WORLD, requests(2) ERR)
    CALL(MPI_Request_free)(requests(2) ERR)
    CALL(MPI_Wait)(requests(1), MPI_STATUS_IGNORE ERR)
  end subroutine completion

  ! Two messages to oneself.
  subroutine pairs(requests)
    HANDLE(MPI_Request), intent(out) :: requests(4)
    integer :: i
    do i = 1, 2
      LARGE(MPI_Irecv)(b(i), N(1), MPI_INTEGER, rank, 20 + i, MPI_COMM_WORLD, requests(i) ERR)
      LARGE(MPI_Isend)(a(i), N(1), MPI_INTEGER, rank, 20 + i, MPI_COMM_WORLD, requests(2 + i) ERR)
    end do
  end subroutine pairs

  subroutine persistent()
    HANDLE(MPI_Request) :: requests(8)
    integer, asynchronous :: room(500)
    integer(CK) :: length
    integer :: i
    do i = 1, 4
      LARGE(MPI_Recv_init)(b(i), N(1), MPI_INTEGER, rank, 30 + i, MPI_COMM_WORLD, requests(i) ERR)
    end do
    LARGE(MPI_Send_init)(a(1), N(1), MPI_INTEGER, rank, 31, MPI_COMM_WORLD, requests(5) ERR)
    LARGE(MPI_Bsend_init)(a(2), N(1), MPI_INTEGER, rank, 32, MPI_COMM_WORLD, requests(6) ERR)
    LARGE(MPI_Ssend_init)(a(3), N(1), MPI_INTEGER, rank, 33, MPI_COMM_WORLD, requests(7) ERR)
    LARGE(MPI_Rsend_init)(a(4), N(1), MPI_INTEGER, rank, 34, MPI_COMM_WORLD, requests(8) ERR)
    LARGE(MPI_Buffer_attach)(room, N(2000) ERR)
    a = 5
    CALL(MPI_Start)(requests(1) ERR)
    CALL(MPI_Startall)(7, requests(2:8) ERR)
    CALL(MPI_Waitall)(8, requests, MPI_STATUSES_IGNORE ERR)
    CHECK(all(b(:4) == 5))
    do i = 1, 8
      CALL(MPI_Request_free)(requests(i) ERR)
    end do
#if BINDING == 3
    block
      use iso_c_binding
      type(c_ptr) :: back
      LARGE(MPI_Buffer_detach)(back, length ERR)
    end block
#else
    CALL(MPI_Buffer_detach)(room, length ERR)
#endif
  end subroutine persistent

  subroutine matched()
    HANDLE(MPI_Request) :: requests(5)
    HANDLE(MPI_Message) :: message
    STATUS(state)
    logical :: flag
    integer :: i
    do i = 1, 4
      LARGE(MPI_Isend)(a(i), N(1), MPI_INTEGER, rank, 40 + i, MPI_COMM_WORLD, requests(i) ERR)
    end do
    CALL(MPI_Probe)(rank, 41, MPI_COMM_WORLD, state ERR)
    LARGE(MPI_Recv)(b, N(1), MPI_INTEGER, rank, MPI_ANY_TAG, MPI_COMM_WORLD, state ERR)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Iprobe)(rank, 42, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE ERR)
    end do
    LARGE(MPI_Recv)(b, N(1), MPI_INTEGER, rank, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
    CALL(MPI_Mprobe)(rank, 43, MPI_COMM_WORLD, message, state ERR)
    LARGE(MPI_Mrecv)(b, N(1), MPI_INTEGER, message, state ERR)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Improbe)(MPI_ANY_SOURCE, 44, MPI_COMM_WORLD, flag, message, state ERR)
    end do
    LARGE(MPI_Imrecv)(b, N(1), MPI_INTEGER, message, requests(5) ERR)
    CALL(MPI_Waitall)(5, requests, MPI_STATUSES_IGNORE ERR)
  end subroutine matched

  subroutine generalized()
    HANDLE(MPI_Request) :: request
    STATUS(state)
    integer(AK) :: extra
    logical :: flag
    extra = 7
    CALL(MPI_Grequest_start)(query, release, cancelled, extra, request ERR)
    CALL(MPI_Test)(request, flag, MPI_STATUS_IGNORE ERR)
    CHECK(.not. flag)
    CALL(MPI_Grequest_complete)(request ERR)
    CALL(MPI_Wait)(request, state ERR)
    CHECK(FIELD(state, MPI_TAG) == 77)
    CALL(MPI_Status_set_elements)(state, MPI_INTEGER, 5 ERR)
    CALL(MPI_Status_set_elements_x)(state, MPI_INTEGER, 5_MPI_COUNT_KIND ERR)
    CALL(MPI_Status_set_cancelled)(state, .true. ERR)
    CALL(MPI_Test_cancelled)(state, flag ERR)
    CHECK(flag)
  end subroutine generalized

  ! Callbacks of the generalized request; calls in them are part of the call that calls back.
  subroutine query(extra, state, code)
    integer(AK) :: extra
    STATUS(state)
    integer :: code
    if (extra /= 7) write (0, *) 'extra state', extra
    FIELD(state, MPI_SOURCE) = MPI_UNDEFINED
    FIELD(state, MPI_TAG) = 77
    call MPI_Status_set_elements(state, MPI_INTEGER, 3, code)
    call MPI_Status_set_cancelled(state, .false., code)
    code = MPI_SUCCESS
  end subroutine query

  subroutine release(extra, code)
    integer(AK) :: extra
    integer :: code
    if (extra /= 7) write (0, *) 'extra state', extra
    code = MPI_SUCCESS
  end subroutine release

  subroutine cancelled(extra, complete, code)
    integer(AK) :: extra
    logical :: complete
    integer :: code
    if (extra /= 7 .or. complete) write (0, *) 'extra state', extra
    code = MPI_SUCCESS
  end subroutine cancelled

  subroutine packing()
    character(256), asynchronous :: packed
    integer(CK) :: position, length
    ! external32 counts in addresses, in the large-count form in counts: both are eight bytes
    integer(AK) :: at, room
    position = 0
    LARGE(MPI_Pack_size)(N(3), MPI_INTEGER, MPI_COMM_WORLD, length ERR)
    CHECK(length >= 12)
    a(:3) = [7, 8, 9]
    LARGE(MPI_Pack)(a, N(3), MPI_INTEGER, packed, N(256), position, MPI_COMM_WORLD ERR)
    position = 0
    LARGE(MPI_Unpack)(packed, N(256), position, b, N(3), MPI_INTEGER, MPI_COMM_WORLD ERR)
    CHECK(all(b(:3) == [7, 8, 9]))
    at = 0
    LARGE(MPI_Pack_external_size)('external32', N(3), MPI_INTEGER, room ERR)
    CHECK(room == 12)
    LARGE(MPI_Pack_external)('external32', a, N(3), MPI_INTEGER, packed, room, at ERR)
    at = 0
    LARGE(MPI_Unpack_external)('external32', packed, room, at, b, N(3), MPI_INTEGER ERR)
    CHECK(all(b(:3) == [7, 8, 9]))
  end subroutine packing

#ifdef MPI4
  subroutine partitioned()
    HANDLE(MPI_Request) :: requests(2)
#if BINDING == 2
    integer :: flag ! so it stands in the module of MPICH 4.0
#define ARRIVED (flag /= 0)
#else
    logical :: flag
#define ARRIVED flag
#endif
    CALL(MPI_Psend_init)(a, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, next, 50, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1) ERR)
    CALL(MPI_Precv_init)(b, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, prev, 50, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2) ERR)
    CALL(MPI_Startall)(2, requests ERR)
    CALL(MPI_Pready)(0, requests(1) ERR)
    CALL(MPI_Pready_range)(1, 2, requests(1) ERR)
    CALL(MPI_Pready_list)(1, [3], requests(1) ERR)
    do
      CALL(MPI_Parrived)(requests(2), 0, flag ERR)
      if (ARRIVED) exit
    end do
    CALL(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE ERR)
    CALL(MPI_Request_free)(requests(1) ERR)
    CALL(MPI_Request_free)(requests(2) ERR)
  end subroutine partitioned
#endif

end module point_to_point
