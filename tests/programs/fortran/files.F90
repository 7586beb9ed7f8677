! MPI 4.0 chapter 14: files.
#include "binding.h"
module files
  use shared
  implicit none
  integer, private, asynchronous :: a(8), b(8)
  integer, private :: failed = 0
  HANDLE(MPI_Request), private :: request
contains

  subroutine test_files()
    call administration()
    call explicit()
    call individual()
    call shared_pointers()
    call split()
    call errors()
    call representations()
    CALL(MPI_Barrier)(MPI_COMM_WORLD ERR)
    if (rank == 0) then
      CALL(MPI_File_delete)('fortran.data ', MPI_INFO_NULL ERR)
    end if
  end subroutine test_files

  subroutine open_file(file)
    HANDLE(MPI_File), intent(out) :: file
    CALL(MPI_File_open)(MPI_COMM_WORLD, 'fortran.data  ', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file ERR)
    a = rank
    b = -1
  end subroutine open_file

  subroutine close_file(file)
    HANDLE(MPI_File), intent(inout) :: file
    CALL(MPI_File_close)(file ERR)
    CHECK(file == MPI_FILE_NULL)
  end subroutine close_file

  subroutine administration()
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Datatype) :: etype, filetype
    integer(OK) :: bytes, offset
    integer(AK) :: extent
    integer :: mode
    logical :: atomic
    character(32) :: representation
    call open_file(file)
    CALL(MPI_File_set_size)(file, 1024_OK ERR)
    CALL(MPI_File_preallocate)(file, 2048_OK ERR)
    CALL(MPI_File_get_size)(file, bytes ERR)
    CHECK(bytes == 2048)
    CALL(MPI_File_get_group)(file, group ERR)
    CALL(MPI_Group_free)(group ERR)
    CALL(MPI_File_get_amode)(file, mode ERR)
    CHECK(mode == MPI_MODE_CREATE + MPI_MODE_RDWR)
    CALL(MPI_File_get_info)(file, info ERR)
    CALL(MPI_File_set_info)(file, info ERR)
    CALL(MPI_Info_free)(info ERR)
    CALL(MPI_File_set_view)(file, 16_OK, MPI_INTEGER, MPI_INTEGER, 'native ', MPI_INFO_NULL ERR)
    CALL(MPI_File_get_view)(file, offset, etype, filetype, representation ERR)
    CHECK(offset == 16 .and. representation == 'native')
    CALL(MPI_File_get_byte_offset)(file, 3_OK, offset ERR)
    CHECK(offset == 28)
    CALL(MPI_File_get_type_extent)(file, MPI_INTEGER, extent ERR)
    CHECK(extent == 4)
    CALL(MPI_File_set_atomicity)(file, .true. ERR)
    CALL(MPI_File_get_atomicity)(file, atomic ERR)
    CALL(MPI_File_sync)(file ERR)
    call close_file(file)
  end subroutine administration

  subroutine explicit()
    HANDLE(MPI_File) :: file
    STATUS(state)
    integer :: n
    integer(OK) :: at
    at = 32 * rank
    call open_file(file)
    CALL(MPI_File_write_at)(file, at, a, 8, MPI_INTEGER, state ERR)
    CALL(MPI_Get_count)(state, MPI_INTEGER, n ERR)
    CHECK(n == 8)
    CALL(MPI_File_read_at)(file, at, b, 8, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CHECK(all(b == rank))
    CALL(MPI_File_write_at_all)(file, at, a, 8, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_read_at_all)(file, at, b, 8, MPI_INTEGER, state ERR)
    CALL(MPI_File_iwrite_at)(file, at, a, 8, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_iread_at)(file, at, b, 8, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_iwrite_at_all)(file, at, a, 8, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_iread_at_all)(file, at, b, 8, MPI_INTEGER, request ERR)
    call done()
    CHECK(all(b == rank))
    call close_file(file)
  end subroutine explicit

  subroutine done()
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE ERR)
  end subroutine done

  subroutine individual()
    HANDLE(MPI_File) :: file
    STATUS(state)
    integer(OK) :: at, position
    at = 32 * rank
    call open_file(file)
    CALL(MPI_File_seek)(file, at, MPI_SEEK_SET ERR)
    CALL(MPI_File_write)(file, a, 2, MPI_INTEGER, state ERR)
    CALL(MPI_File_write_all)(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_iwrite)(file, a, 2, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_iwrite_all)(file, a, 2, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_get_position)(file, position ERR)
    CHECK(position == at + 32)
    CALL(MPI_File_seek)(file, at, MPI_SEEK_SET ERR)
    CALL(MPI_File_read)(file, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_read_all)(file, b(3), 2, MPI_INTEGER, state ERR)
    CALL(MPI_File_iread)(file, b(5), 2, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_iread_all)(file, b(7), 2, MPI_INTEGER, request ERR)
    call done()
    CHECK(all(b == rank))
    call close_file(file)
  end subroutine individual

  subroutine shared_pointers()
    HANDLE(MPI_File) :: file
    integer(OK) :: position
    call open_file(file)
    CALL(MPI_File_seek_shared)(file, 0_OK, MPI_SEEK_SET ERR)
    CALL(MPI_File_write_shared)(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_iwrite_shared)(file, a, 2, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_write_ordered)(file, a, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_Barrier)(MPI_COMM_WORLD ERR)
    CALL(MPI_File_get_position_shared)(file, position ERR)
    CHECK(position == 24 * size)
    CALL(MPI_Barrier)(MPI_COMM_WORLD ERR)
    CALL(MPI_File_seek_shared)(file, 0_OK, MPI_SEEK_SET ERR)
    CALL(MPI_File_read_shared)(file, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_iread_shared)(file, b, 2, MPI_INTEGER, request ERR)
    call done()
    CALL(MPI_File_read_ordered)(file, b, 2, MPI_INTEGER, MPI_STATUS_IGNORE ERR)
    call close_file(file)
  end subroutine shared_pointers

  subroutine split()
    HANDLE(MPI_File) :: file
    integer(OK) :: at
    at = 32 * rank
    call open_file(file)
    CALL(MPI_File_write_at_all_begin)(file, at, a, 8, MPI_INTEGER ERR)
    CALL(MPI_File_write_at_all_end)(file, a, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_read_at_all_begin)(file, at, b, 8, MPI_INTEGER ERR)
    CALL(MPI_File_read_at_all_end)(file, b, MPI_STATUS_IGNORE ERR)
    CHECK(all(b == rank))
    CALL(MPI_File_seek)(file, at, MPI_SEEK_SET ERR)
    CALL(MPI_File_write_all_begin)(file, a, 8, MPI_INTEGER ERR)
    CALL(MPI_File_write_all_end)(file, a, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_seek)(file, at, MPI_SEEK_SET ERR)
    CALL(MPI_File_read_all_begin)(file, b, 8, MPI_INTEGER ERR)
    CALL(MPI_File_read_all_end)(file, b, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_seek_shared)(file, 0_OK, MPI_SEEK_SET ERR)
    CALL(MPI_File_write_ordered_begin)(file, a, 8, MPI_INTEGER ERR)
    CALL(MPI_File_write_ordered_end)(file, a, MPI_STATUS_IGNORE ERR)
    CALL(MPI_File_seek_shared)(file, 0_OK, MPI_SEEK_SET ERR)
    CALL(MPI_File_read_ordered_begin)(file, b, 8, MPI_INTEGER ERR)
    CALL(MPI_File_read_ordered_end)(file, b, MPI_STATUS_IGNORE ERR)
    CHECK(all(b == rank))
    call close_file(file)
  end subroutine split

  subroutine on_error(file, code)
    HANDLE(MPI_File) :: file
    integer :: code
    failed = failed + 1
  end subroutine on_error

  subroutine errors()
    HANDLE(MPI_File) :: file
    HANDLE(MPI_Errhandler) :: handler, old
#if BINDING != 3 || !defined(MPI4)
    ! mpi_f08 of MPICH 4.0 crashes when it cannot open a file
    ierr = MPI_SUCCESS
    CALL(MPI_File_open)(MPI_COMM_SELF, 'no/such/folder', MPI_MODE_RDONLY, MPI_INFO_NULL, file ERR)
    CHECK(ierr /= MPI_SUCCESS)
#endif
    call open_file(file)
    CALL(MPI_File_get_errhandler)(file, old ERR)
    CALL(MPI_File_create_errhandler)(on_error, handler ERR)
    CALL(MPI_File_set_errhandler)(file, handler ERR)
    CALL(MPI_File_call_errhandler)(file, MPI_ERR_IO ERR)
    CHECK(failed == 1)
    CALL(MPI_File_set_errhandler)(file, old ERR)
    CALL(MPI_Errhandler_free)(handler ERR)
    call close_file(file)
  end subroutine errors

  ! Callbacks of a data representation that nobody uses.
  subroutine extent_of(datatype, extent, extra, code)
    HANDLE(MPI_Datatype) :: datatype
    integer(AK) :: extent, extra
    integer :: code
    extent = 4
    code = MPI_SUCCESS
  end subroutine extent_of

  subroutine representations()
#if BINDING == 2 && defined(MPI4)
    external :: MPI_CONVERSION_FN_NULL ! not in the module of MPICH
#endif
    CALL(MPI_Register_datarep)('ours', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 0_AK ERR)
  end subroutine representations

end module files
