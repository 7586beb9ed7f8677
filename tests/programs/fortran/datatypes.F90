! MPI 4.0 chapter 5 and 19.1: datatypes.
#include "binding.h"
module datatypes
  use shared
  implicit none
#ifdef LARGE_COUNT
  integer, parameter, private :: BK = MPI_COUNT_KIND
#else
  integer, parameter, private :: BK = MPI_ADDRESS_KIND
#endif
  integer, private, asynchronous :: where(4)
#if BINDING == 1 && defined(MPI4)
  ! mpif.h of MPICH leaves them out
  integer(MPI_ADDRESS_KIND), external :: MPI_Aint_add, MPI_Aint_diff
#endif
contains

  subroutine test_datatypes()
    call derived()
    call asked()
    call distributed_arrays()
    call fortran_types()
#ifndef LARGE_COUNT
    call contents()
#endif
  end subroutine test_datatypes

  ! Sends one element of a datatype to oneself: first and third, as all of them are made.
  subroutine try(datatype)
    HANDLE(MPI_Datatype), intent(inout) :: datatype
    integer, asynchronous :: a(8), b(8)
    a = [1, 2, 3, 4, 5, 6, 7, 8]
    b = 0
    CALL(MPI_Type_commit)(datatype ERR)
    LARGE(MPI_Sendrecv)(a, N(1), datatype, rank, 1, b, N(1), datatype, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
    CHECK(all(b == [1, 0, 3, 0, 0, 0, 0, 0]))
    CALL(MPI_Type_free)(datatype ERR)
  end subroutine try

  subroutine derived()
    HANDLE(MPI_Datatype) :: type, other
    LARGE(MPI_Type_vector)(N(2), N(1), N(2), MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_create_hvector)(N(2), N(1), 8_BK, MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_indexed)(N(2), [N(1), N(1)], [N(0), N(2)], MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_create_hindexed)(N(2), [N(1), N(1)], [0_BK, 8_BK], MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_create_indexed_block)(N(2), N(1), [N(0), N(2)], MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_create_hindexed_block)(N(2), N(1), [0_BK, 8_BK], MPI_INTEGER, type ERR)
    call try(type)
    LARGE(MPI_Type_create_struct)(N(2), [N(1), N(1)], [0_BK, 8_BK], [MPI_INTEGER, MPI_INTEGER], type ERR)
    call try(type)
    LARGE(MPI_Type_contiguous)(N(1), MPI_INTEGER, other ERR)
    CALL(MPI_Type_create_resized)(other, 0_AK, 8_AK, type ERR)
    CALL(MPI_Type_free)(other ERR)
    LARGE(MPI_Type_contiguous)(N(2), type, other ERR)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Type_dup)(other, type ERR)
    CALL(MPI_Type_free)(other ERR)
    call try(type)
  end subroutine derived

  subroutine asked()
    HANDLE(MPI_Datatype) :: type
    integer(CK) :: bytes
    integer(AK) :: lower, extent, at, from
    integer(MPI_COUNT_KIND) :: wide, wide_lower
    integer :: length
    character(MPI_MAX_OBJECT_NAME) :: name
    LARGE(MPI_Type_vector)(N(2), N(1), N(2), MPI_INTEGER, type ERR)
    LARGE(MPI_Type_size)(type, bytes ERR)
    CHECK(bytes == 8)
    CALL(MPI_Type_size_x)(type, wide ERR)
    CHECK(wide == 8)
    CALL(MPI_Type_get_extent)(type, lower, extent ERR)
    CHECK(lower == 0 .and. extent == 12)
    CALL(MPI_Type_get_extent_x)(type, wide_lower, wide ERR)
    CALL(MPI_Type_get_true_extent)(type, lower, extent ERR)
    CALL(MPI_Type_get_true_extent_x)(type, wide_lower, wide ERR)
    CHECK(wide == 12)
    CALL(MPI_Type_set_name)(type, 'two of three' ERR)
    CALL(MPI_Type_get_name)(type, name, length ERR)
    CHECK(name == 'two of three' .and. length == 12)
    CALL(MPI_Type_free)(type ERR)
    CALL(MPI_Get_address)(where(1), from ERR)
    CALL(MPI_Get_address)(where(3), at ERR)
    call tally('MPI_Aint_diff')
    CHECK(MPI_Aint_diff(at, from) == 8)
    call tally('MPI_Aint_add')
    CHECK(MPI_Aint_add(from, 8_AK) == at)
    ! absolute addresses
    CALL(MPI_Type_create_hindexed)(1, [2], [from], MPI_INTEGER, type ERR)
    CALL(MPI_Type_commit)(type ERR)
    where = [5, 6, 0, 0]
    call at_bottom(type)
    CALL(MPI_Type_free)(type ERR)
  end subroutine asked

  subroutine at_bottom(type)
    HANDLE(MPI_Datatype), intent(in) :: type
    integer, asynchronous :: got(2)
    got = 0
    CALL(MPI_Sendrecv)(MPI_BOTTOM, 1, type, rank, 2, got, 2, MPI_INTEGER, rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE ERR)
    CHECK(all(got == [5, 6]))
  end subroutine at_bottom

  subroutine distributed_arrays()
    HANDLE(MPI_Datatype) :: type
    LARGE(MPI_Type_create_subarray)(1, [N(3)], [N(1)], [N(1)], MPI_ORDER_FORTRAN, MPI_INTEGER, type ERR)
    CALL(MPI_Type_free)(type ERR)
    LARGE(MPI_Type_create_darray)(1, 0, 1, [N(4)], [MPI_DISTRIBUTE_BLOCK], [MPI_DISTRIBUTE_DFLT_DARG], [1], MPI_ORDER_FORTRAN, MPI_INTEGER, type ERR)
    CALL(MPI_Type_free)(type ERR)
  end subroutine distributed_arrays

  subroutine fortran_types()
    HANDLE(MPI_Datatype) :: type
    integer(MPI_COUNT_KIND) :: bytes
    CALL(MPI_Type_match_size)(MPI_TYPECLASS_REAL, 8, type ERR)
    CALL(MPI_Type_size_x)(type, bytes ERR)
    CHECK(bytes == 8)
    CALL(MPI_Type_create_f90_real)(12, 100, type ERR)
    CALL(MPI_Type_create_f90_complex)(12, 100, type ERR)
    CALL(MPI_Type_create_f90_integer)(8, type ERR)
  end subroutine fortran_types

  subroutine contents()
    HANDLE(MPI_Datatype) :: type, types(1)
    integer :: integers, addresses, datatypes, combiner, numbers(3)
    integer(AK) :: places(1)
    CALL(MPI_Type_vector)(2, 1, 2, MPI_INTEGER, type ERR)
    CALL(MPI_Type_get_envelope)(type, integers, addresses, datatypes, combiner ERR)
    CHECK(integers == 3 .and. addresses == 0 .and. datatypes == 1 .and. combiner == MPI_COMBINER_VECTOR)
    CALL(MPI_Type_get_contents)(type, 3, 0, 1, numbers, places, types ERR)
    CHECK(all(numbers == [2, 1, 2]))
    CALL(MPI_Type_free)(type ERR)
  end subroutine contents

end module datatypes
