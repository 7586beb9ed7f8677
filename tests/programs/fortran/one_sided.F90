! MPI 4.0 chapter 12: windows and one-sided communication.
#include "binding.h"
module one_sided
  use shared
  use iso_c_binding
  implicit none
#ifdef LARGE_COUNT
  integer, parameter, private :: UK = MPI_COUNT_KIND
#else
  integer, parameter, private :: UK = kind(0)
#endif
  integer, private, asynchronous :: memory(64), a(8), b(8), c(8)
  integer, private :: failed = 0
contains

  subroutine test_one_sided()
    call fences()
    call groups()
    call locks()
    call allocated()
    call attributes()
  end subroutine test_one_sided

  subroutine window(win)
    HANDLE(MPI_Win), intent(out) :: win
    memory = rank
    LARGE(MPI_Win_create)(memory, 256_AK, int(4, UK), MPI_INFO_NULL, MPI_COMM_WORLD, win ERR)
  end subroutine window

  subroutine fences()
    HANDLE(MPI_Win) :: win
    call window(win)
    a = 100 + rank
    CALL(MPI_Win_fence)(0, win ERR)
    LARGE(MPI_Put)(a, N(2), MPI_INTEGER, next, 0_AK, N(2), MPI_INTEGER, win ERR)
    LARGE(MPI_Get)(b, N(2), MPI_INTEGER, next, 8_AK, N(2), MPI_INTEGER, win ERR)
    LARGE(MPI_Accumulate)(a, N(1), MPI_INTEGER, next, 16_AK, N(1), MPI_INTEGER, MPI_SUM, win ERR)
    LARGE(MPI_Get_accumulate)(a, N(1), MPI_INTEGER, c, N(1), MPI_INTEGER, next, 17_AK, N(1), MPI_INTEGER, MPI_REPLACE, win ERR)
    CALL(MPI_Fetch_and_op)(a, c(2), MPI_INTEGER, next, 18_AK, MPI_SUM, win ERR)
    CALL(MPI_Compare_and_swap)(a, b(5), c(3), MPI_INTEGER, next, 19_AK, win ERR)
    CALL(MPI_Win_fence)(0, win ERR)
    CHECK(all(memory(:2) == 100 + prev) .and. all(b(:2) == next) .and. memory(17) == 100 + prev + rank)
    CALL(MPI_Win_free)(win ERR)
    CHECK(win == MPI_WIN_NULL)
  end subroutine fences

  subroutine groups()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Group) :: all_of, from, to
    logical :: flag
    call window(win)
    CALL(MPI_Win_get_group)(win, all_of ERR)
    CALL(MPI_Group_incl)(all_of, 1, [prev], from ERR)
    CALL(MPI_Group_incl)(all_of, 1, [next], to ERR)
    CALL(MPI_Win_post)(from, 0, win ERR)
    CALL(MPI_Win_start)(to, 0, win ERR)
    LARGE(MPI_Put)(a, N(1), MPI_INTEGER, next, 0_AK, N(1), MPI_INTEGER, win ERR)
    CALL(MPI_Win_complete)(win ERR)
    CALL(MPI_Win_wait)(win ERR)
    CALL(MPI_Win_post)(from, 0, win ERR)
    CALL(MPI_Win_start)(to, 0, win ERR)
    CALL(MPI_Win_complete)(win ERR)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Win_test)(win, flag ERR)
    end do
    CALL(MPI_Group_free)(from ERR)
    CALL(MPI_Group_free)(to ERR)
    CALL(MPI_Group_free)(all_of ERR)
    CALL(MPI_Win_free)(win ERR)
  end subroutine groups

  subroutine locks()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Request) :: requests(4)
    call window(win)
    CALL(MPI_Win_lock)(MPI_LOCK_SHARED, next, 0, win ERR)
    LARGE(MPI_Rput)(a, N(1), MPI_INTEGER, next, 0_AK, N(1), MPI_INTEGER, win, requests(1) ERR)
    LARGE(MPI_Rget)(b, N(1), MPI_INTEGER, next, 1_AK, N(1), MPI_INTEGER, win, requests(2) ERR)
    LARGE(MPI_Raccumulate)(a, N(1), MPI_INTEGER, next, 2_AK, N(1), MPI_INTEGER, MPI_SUM, win, requests(3) ERR)
    LARGE(MPI_Rget_accumulate)(a, N(1), MPI_INTEGER, c, N(1), MPI_INTEGER, next, 3_AK, N(1), MPI_INTEGER, MPI_SUM, win, requests(4) ERR)
    CALL(MPI_Waitall)(4, requests, MPI_STATUSES_IGNORE ERR)
    CALL(MPI_Win_flush)(next, win ERR)
    CALL(MPI_Win_flush_local)(next, win ERR)
    CALL(MPI_Win_unlock)(next, win ERR)
    CALL(MPI_Win_lock_all)(0, win ERR)
    CALL(MPI_Win_sync)(win ERR)
    CALL(MPI_Win_flush_all)(win ERR)
    CALL(MPI_Win_flush_local_all)(win ERR)
    CALL(MPI_Win_unlock_all)(win ERR)
    CALL(MPI_Win_free)(win ERR)
  end subroutine locks

  subroutine allocated()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Comm) :: node
    type(c_ptr) :: base
    integer(AK) :: address, bytes
    integer(UK) :: unit
#if BINDING == 1
    CALL(MPI_Win_allocate)(64_AK, 4, MPI_INFO_NULL, MPI_COMM_WORLD, address, win ERR)
    CHECK(address /= 0)
#else
    LARGE(MPI_Win_allocate)(64_AK, int(4, UK), MPI_INFO_NULL, MPI_COMM_WORLD, base, win ERR)
    CHECK(c_associated(base))
#endif
    CALL(MPI_Win_free)(win ERR)
    CALL(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node ERR)
#if BINDING == 1
    CALL(MPI_Win_allocate_shared)(64_AK, 4, MPI_INFO_NULL, node, address, win ERR)
    CALL(MPI_Win_shared_query)(win, 0, bytes, unit, address ERR)
#else
    LARGE(MPI_Win_allocate_shared)(64_AK, int(4, UK), MPI_INFO_NULL, node, base, win ERR)
    LARGE(MPI_Win_shared_query)(win, 0, bytes, unit, base ERR)
#endif
    CHECK(bytes == 64 .and. unit == 4)
    CALL(MPI_Win_free)(win ERR)
    CALL(MPI_Comm_free)(node ERR)
    CALL(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, win ERR)
    CALL(MPI_Win_attach)(win, memory, 256_AK ERR)
    CALL(MPI_Win_detach)(win, memory ERR)
    CALL(MPI_Win_free)(win ERR)
  end subroutine allocated

  subroutine on_error(win, code)
    HANDLE(MPI_Win) :: win
    integer :: code
    failed = failed + 1
  end subroutine on_error

  subroutine attributes()
    HANDLE(MPI_Win) :: win
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: handler, old
    integer :: keyval, length
    integer(AK) :: value
    logical :: flag
    character(MPI_MAX_OBJECT_NAME) :: name
    call window(win)
    CALL(MPI_Win_get_attr)(win, MPI_WIN_SIZE, value, flag ERR)
    CHECK(flag .and. value == 256)
    CALL(MPI_Win_create_keyval)(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, keyval, 0_AK ERR)
    CALL(MPI_Win_set_attr)(win, keyval, 9_AK NO_ERR)
    CALL(MPI_Win_get_attr)(win, keyval, value, flag NO_ERR)
    CHECK(flag .and. value == 9)
    CALL(MPI_Win_delete_attr)(win, keyval ERR)
    CALL(MPI_Win_free_keyval)(keyval ERR)
    CALL(MPI_Win_set_name)(win, 'a window' ERR)
    CALL(MPI_Win_get_name)(win, name, length ERR)
#if BINDING != 3 || defined(MPI4)
    ! mpi_f08 of Open MPI 4.1 gives something else
    CHECK(length == 8 .and. name == 'a window')
#endif
    CALL(MPI_Win_get_info)(win, info ERR)
    CALL(MPI_Win_set_info)(win, info ERR)
    CALL(MPI_Info_free)(info ERR)
    CALL(MPI_Win_get_errhandler)(win, old ERR)
    CALL(MPI_Win_create_errhandler)(on_error, handler ERR)
    CALL(MPI_Win_set_errhandler)(win, handler ERR)
    CALL(MPI_Win_call_errhandler)(win, MPI_ERR_OTHER ERR)
    CHECK(failed == 1)
    CALL(MPI_Win_set_errhandler)(win, old ERR)
    CALL(MPI_Errhandler_free)(handler ERR)
    CALL(MPI_Errhandler_free)(old ERR)
    CALL(MPI_Win_free)(win ERR)
  end subroutine attributes

end module one_sided
