! MPI 4.0 chapters 7.7, 9 and 10: attributes, error handlers, info objects, memory, and what the environment tells.
#include "binding.h"
module objects
  use shared
  use iso_c_binding
  implicit none
  integer, private :: copied = 0, deleted = 0, failed = 0
contains

  subroutine test_objects()
    call environment()
    call infos()
    call memory()
    call errors()
    call attributes_of_communicators()
    call attributes_of_datatypes()
#if BINDING != 3
    call removed()
#endif
  end subroutine test_objects

  subroutine environment()
    integer :: version, subversion, length, level
    logical :: flag
    character(MPI_MAX_PROCESSOR_NAME) :: name
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: library
    double precision :: time
    CALL(MPI_Get_version)(version, subversion ERR)
    CHECK(version == MPI_VERSION)
    CALL(MPI_Get_library_version)(library, length ERR)
    CHECK(length > 5 .and. len_trim(library) <= length)
    CALL(MPI_Get_processor_name)(name, length ERR)
    CHECK(len_trim(name) == length)
    CALL(MPI_Initialized)(flag ERR)
    CHECK(flag)
    CALL(MPI_Finalized)(flag ERR)
    CHECK(.not. flag)
    CALL(MPI_Query_thread)(level ERR)
    CALL(MPI_Is_thread_main)(flag ERR)
    CHECK(flag)
    call tally('MPI_Wtime')
    time = MPI_Wtime()
    call tally('MPI_Wtick')
    CHECK(MPI_Wtick() > 0)
    CALL(MPI_Pcontrol)(1)
  end subroutine environment

  subroutine infos()
    HANDLE(MPI_Info) :: info, copy
    integer :: n
    logical :: flag
    character(MPI_MAX_INFO_KEY) :: key
    character(20) :: text
    CALL(MPI_Info_create)(info ERR)
    CALL(MPI_Info_set)(info, '  color ', ' red and blue ' ERR)
    CALL(MPI_Info_set)(info, 'shape', 'round' ERR)
    CALL(MPI_Info_get_nkeys)(info, n ERR)
    CHECK(n == 2)
    CALL(MPI_Info_get_nthkey)(info, 1, key ERR)
    CALL(MPI_Info_get_valuelen)(info, 'color', n, flag ERR)
    CHECK(flag .and. n == 12)
    text = repeat('x', 20)
    CALL(MPI_Info_get)(info, 'color', 20, text, flag ERR)
    CHECK(flag .and. text == 'red and blue')
    CALL(MPI_Info_dup)(info, copy ERR)
    CALL(MPI_Info_delete)(copy, 'shape' ERR)
    CALL(MPI_Info_get)(copy, 'shape', 20, text, flag ERR)
    CHECK(.not. flag)
    CALL(MPI_Info_free)(copy ERR)
#ifdef MPI4
    n = 20
    CALL(MPI_Info_get_string)(info, 'shape', n, text, flag ERR)
    CHECK(flag .and. text == 'round')
#if BINDING != 3
    ! crashes in mpi_f08 of MPICH 4.0
    CALL(MPI_Info_create_env)(copy ERR)
    CALL(MPI_Info_free)(copy ERR)
#endif
#endif
    CALL(MPI_Info_free)(info ERR)
  end subroutine infos

  subroutine memory()
    integer, pointer :: data(:)
    type(c_ptr) :: base
#if BINDING == 1
    integer(AK) :: address
    CALL(MPI_Alloc_mem)(400_AK, MPI_INFO_NULL, address ERR)
    base = transfer(address, base)
#else
    CALL(MPI_Alloc_mem)(400_AK, MPI_INFO_NULL, base ERR)
#endif
    call c_f_pointer(base, data, [100])
    data = 5
    CHECK(sum(data) == 500)
    CALL(MPI_Free_mem)(data ERR)
  end subroutine memory

  subroutine on_error(comm, code)
    HANDLE(MPI_Comm) :: comm
    integer :: code
    if (comm /= MPI_COMM_SELF .or. code == MPI_SUCCESS) write (0, *) 'wrong error', code
    failed = failed + 1
  end subroutine on_error

  subroutine errors()
    HANDLE(MPI_Errhandler) :: handler, old
    integer :: class, code, kind, length
    character(MPI_MAX_ERROR_STRING) :: text
    CALL(MPI_Add_error_class)(class ERR)
    CALL(MPI_Add_error_code)(class, code ERR)
    CALL(MPI_Add_error_string)(code, 'an error of our own' ERR)
    CALL(MPI_Error_string)(code, text, length ERR)
    CHECK(text == 'an error of our own' .and. length == 19)
    CALL(MPI_Error_class)(code, kind ERR)
    CHECK(kind == class)
    CALL(MPI_Comm_create_errhandler)(on_error, handler NO_ERR)
    CALL(MPI_Comm_get_errhandler)(MPI_COMM_SELF, old ERR)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_SELF, handler ERR)
    failed = 0
    CALL(MPI_Comm_call_errhandler)(MPI_COMM_SELF, code ERR)
    CHECK(failed == 1)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_SELF, MPI_ERRORS_RETURN ERR)
    ierr = MPI_SUCCESS
    CALL(MPI_Bcast)(code, 1, MPI_INTEGER, 55, MPI_COMM_SELF ERR)
    CHECK(ierr /= MPI_SUCCESS)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_SELF, old ERR)
    CALL(MPI_Errhandler_free)(handler ERR)
    CHECK(handler == MPI_ERRHANDLER_NULL)
    CALL(MPI_Errhandler_free)(old ERR)
  end subroutine errors

  ! Callbacks of attributes.
  subroutine copy(comm, keyval, extra, value, result, flag, code)
    HANDLE(MPI_Comm) :: comm
    integer :: keyval, code
    integer(AK) :: extra, value, result
    logical :: flag
    if (extra /= 11) write (0, *) 'extra state', extra
    copied = copied + 1
    result = value + 1
    flag = .true.
    code = MPI_SUCCESS
  end subroutine copy

  subroutine delete(comm, keyval, value, extra, code)
    HANDLE(MPI_Comm) :: comm
    integer :: keyval, code
    integer(AK) :: extra, value
    if (extra /= 11) write (0, *) 'extra state', extra
    deleted = deleted + 1
    code = MPI_SUCCESS
  end subroutine delete

  ! No error code: mpi_f08 passes none on.
  subroutine attributes_of_communicators()
    HANDLE(MPI_Comm) :: comm
    integer :: keyval
    integer(AK) :: value
    logical :: flag
    CALL(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, value, flag NO_ERR)
    CHECK(flag .and. value >= 32767)
    CALL(MPI_Comm_create_keyval)(copy, delete, keyval, 11_AK NO_ERR)
    CALL(MPI_Comm_get_attr)(MPI_COMM_SELF, keyval, value, flag NO_ERR)
    CHECK(.not. flag)
    CALL(MPI_Comm_set_attr)(MPI_COMM_SELF, keyval, 2_AK**40 NO_ERR)
    CALL(MPI_Comm_dup)(MPI_COMM_SELF, comm NO_ERR)
    value = 0
    CALL(MPI_Comm_get_attr)(comm, keyval, value, flag ERR)
    CHECK(flag .and. value == 2_AK**40 + 1 .and. copied == 1)
    CALL(MPI_Comm_delete_attr)(comm, keyval ERR)
    CHECK(deleted == 1)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Comm_delete_attr)(MPI_COMM_SELF, keyval ERR)
    CALL(MPI_Comm_free_keyval)(keyval ERR)
    CHECK(keyval == MPI_KEYVAL_INVALID)
    CALL(MPI_Comm_create_keyval)(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, 0_AK ERR)
    CALL(MPI_Comm_free_keyval)(keyval ERR)
    ! by the name that a Fortran tool takes
    call tally('MPI_Comm_get_attr')
    call PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    CHECK(flag)
  end subroutine attributes_of_communicators

  subroutine attributes_of_datatypes()
    HANDLE(MPI_Datatype) :: type
    integer :: keyval
    integer(AK) :: value
    logical :: flag
    CALL(MPI_Type_create_keyval)(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, 0_AK ERR)
    CALL(MPI_Type_contiguous)(2, MPI_INTEGER, type ERR)
    CALL(MPI_Type_set_attr)(type, keyval, -5_AK ERR)
    CALL(MPI_Type_get_attr)(type, keyval, value, flag ERR)
    CHECK(flag .and. value == -5)
    CALL(MPI_Type_delete_attr)(type, keyval ERR)
    CALL(MPI_Type_get_attr)(type, keyval, value, flag NO_ERR)
    CHECK(.not. flag)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Type_free_keyval)(keyval ERR)
  end subroutine attributes_of_datatypes

#if BINDING != 3
  ! What MPI 2 and 3 took away or replaced, and libraries still have.
  subroutine old_copy(comm, keyval, extra, value, result, flag, code)
    integer :: comm, keyval, extra, value, result, code
    logical :: flag
    result = value
    flag = .true.
    code = MPI_SUCCESS
  end subroutine old_copy

  subroutine old_delete(comm, keyval, value, extra, code)
    integer :: comm, keyval, value, extra, code
    code = MPI_SUCCESS
  end subroutine old_delete

  subroutine removed()
    external :: MPI_Address, MPI_Type_extent, MPI_Type_lb, MPI_Type_ub, MPI_Type_hvector, MPI_Type_hindexed
    external :: MPI_Type_struct, MPI_Errhandler_create, MPI_Errhandler_get, MPI_Errhandler_set
    integer, asynchronous, save :: place(4)
    integer :: keyval, value, type, at, handler, comm
    logical :: flag
    CALL(MPI_Keyval_create)(old_copy, old_delete, keyval, 3 ERR)
    CALL(MPI_Attr_put)(MPI_COMM_SELF, keyval, 17 ERR)
    CALL(MPI_Comm_dup)(MPI_COMM_SELF, comm ERR)
    value = 0
    CALL(MPI_Attr_get)(comm, keyval, value, flag ERR)
    CHECK(flag .and. value == 17)
    CALL(MPI_Comm_free)(comm ERR)
    CALL(MPI_Attr_delete)(MPI_COMM_SELF, keyval ERR)
    CALL(MPI_Keyval_free)(keyval ERR)
    CALL(MPI_Type_extent)(MPI_INTEGER, value ERR)
    CHECK(value == 4)
    CALL(MPI_Type_hvector)(2, 1, 8, MPI_INTEGER, type ERR)
    CALL(MPI_Type_lb)(type, value ERR)
    CHECK(value == 0)
    CALL(MPI_Type_ub)(type, value ERR)
    CHECK(value == 12)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Type_hindexed)(2, [1, 1], [0, 8], MPI_INTEGER, type ERR)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Type_struct)(2, [1, 1], [0, 8], [MPI_INTEGER, MPI_INTEGER], type ERR)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Errhandler_create)(on_error, handler ERR)
    CALL(MPI_Errhandler_set)(MPI_COMM_SELF, handler ERR)
    CALL(MPI_Errhandler_get)(MPI_COMM_SELF, value ERR)
    CHECK(value == handler)
    CALL(MPI_Errhandler_set)(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL ERR)
    CALL(MPI_Errhandler_free)(handler ERR)
    ! an address may not fit into an integer
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN ERR)
    CALL(MPI_Address)(place, at ERR)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL ERR)
  end subroutine removed
#endif

end module objects
