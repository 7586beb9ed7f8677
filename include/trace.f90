! libtrace for Fortran: what trace.h is for C. Compile this file with the program and link with -ltrace.
!
!   use trace
!   integer(trace_region_kind) :: solve
!   solve = trace_region('solve')
!   call trace_region_begin(solve)
!   ...
!   call trace_region_end(solve)
!   call trace_mark('residual', 1.0d-3)
!
! Programs without modules call trace_begin, trace_end, trace_mark_int, trace_mark_real and trace_text by these external names,
! with strings, a default integer, a double precision number.
module trace
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_double, c_null_char
  implicit none
  private

  integer, parameter, public :: trace_region_kind = c_int32_t
  integer, parameter, public :: trace_callid_kind = c_int64_t

  public :: trace_callid, trace_on, trace_off, trace_is_on
  public :: trace_region, trace_region_begin, trace_region_end
  public :: trace_begin, trace_end, trace_mark, trace_text

  interface
    ! CallID of the MPI call that is running on this thread, 0 outside MPI.
    function trace_callid() bind(C, name='trace_callid') result(id)
      import :: c_int64_t
      integer(c_int64_t) :: id
    end function
    ! Switch recording on and off.
    subroutine trace_on() bind(C, name='trace_on')
    end subroutine
    subroutine trace_off() bind(C, name='trace_off')
    end subroutine
    ! Begin and end of a region whose number trace_region gave.
    subroutine trace_region_begin(region) bind(C, name='libtrace_region_begin')
      import :: c_int32_t
      integer(c_int32_t), value :: region
    end subroutine
    subroutine trace_region_end(region) bind(C, name='libtrace_region_end')
      import :: c_int32_t
      integer(c_int32_t), value :: region
    end subroutine
  end interface

  interface
    function c_is_on() bind(C, name='trace_is_on') result(on)
      import :: c_int
      integer(c_int) :: on
    end function
    function c_region(name) bind(C, name='libtrace_region') result(region)
      import :: c_char, c_int32_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int32_t) :: region
    end function
    subroutine c_mark(name, value) bind(C, name='libtrace_mark')
      import :: c_char, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
    end subroutine
    subroutine c_mark_double(name, value) bind(C, name='libtrace_mark_double')
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end subroutine
    subroutine c_text(text) bind(C, name='libtrace_text')
      import :: c_char
      character(kind=c_char), intent(in) :: text(*)
    end subroutine
  end interface

  ! A marker with an integer of 4 or 8 bytes, or a double precision number.
  interface trace_mark
    module procedure mark_int, mark_long, mark_double
  end interface

contains

  logical function trace_is_on()
    trace_is_on = c_is_on() /= 0
  end function

  ! The number of a region.
  function trace_region(name) result(region)
    character(*), intent(in) :: name
    integer(c_int32_t) :: region
    region = c_region(trim(name)//c_null_char)
  end function

  subroutine trace_begin(name)
    character(*), intent(in) :: name
    call trace_region_begin(trace_region(name))
  end subroutine

  subroutine trace_end(name)
    character(*), intent(in) :: name
    call trace_region_end(trace_region(name))
  end subroutine

  subroutine mark_int(name, value)
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: value
    call c_mark(trim(name)//c_null_char, int(value, c_int64_t))
  end subroutine

  subroutine mark_long(name, value)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    call c_mark(trim(name)//c_null_char, value)
  end subroutine

  subroutine mark_double(name, value)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    call c_mark_double(trim(name)//c_null_char, value)
  end subroutine

  subroutine trace_text(text)
    character(*), intent(in) :: text
    call c_text(trim(text)//c_null_char)
  end subroutine
end module trace
