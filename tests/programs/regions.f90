! Regions and markers from Fortran: by the module, and by external names.
program regions
  use trace
  implicit none
  include 'mpif.h'
  integer :: ierr, i, number
  external :: plain
  call MPI_Init(ierr)
  number = trace_region('outer')
  do i = 1, 3
    call trace_region_begin(number)
    call trace_begin('inner   ')
    call trace_mark('step', i)
    call trace_mark('half', i / 2.0d0)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call trace_end('inner')
    call trace_region_end(number)
  end do
  call trace_text('from Fortran')
  call plain()
  if (.not. trace_is_on() .or. trace_callid() /= 0) stop 1
  call MPI_Finalize(ierr)
end program

subroutine plain()
  implicit none
  include 'mpif.h'
  include '../../include/mpe_logf.h'
  integer :: first, last, ierr, position
  character(32) :: bytes
  external :: trace_begin, trace_end, trace_mark_int, trace_mark_real
  call trace_begin('external')
  call trace_mark_int('external mark', 7)
  call trace_mark_real('external real', 0.5d0)
  call trace_end('external ')
  ierr = MPE_Log_get_state_eventIDs(first, last)
  ierr = MPE_Describe_info_state(first, last, 'Fortran state', 'red', 'n=%d')
  ierr = MPE_Log_event(first, 0, ' ')
  position = 0
  bytes = ' '
  ierr = MPE_Log_pack(bytes, position, 'd', 1, 77)
  ierr = MPE_Log_event(last, 0, bytes)
end subroutine
