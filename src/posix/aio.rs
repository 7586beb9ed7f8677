//! POSIX asynchronous I/O. The transfers themselves are made by threads inside libc and are not seen: there is a record of
//! the beginning and one of aio_return, joined by the address of the control block. aio_error is not even wrapped: MPI
//! libraries ask it millions of times.

use super::calls::watched;
use super::descriptors::{APPENDS, OpenFileDescription};
use super::record::{self, CallResult};
use crate::platform::clock;
use crate::platform::errno::errno;
use blockfile::operation::{AIO_FSYNC, AIO_READ, AIO_RETURN, AIO_WRITE, LIO_LISTIO};
use libc::{EAGAIN, EINPROGRESS, EINTR, EIO, aiocb};
use std::ffi::c_int;

/// The recorded fields of a control block.
fn of_control_block(kind: u16, block: &aiocb) -> CallResult {
    let mut call_result = CallResult::new(
        kind,
        block.aio_fildes,
        block.aio_offset,
        block.aio_nbytes as i64,
    );
    call_result.control = Some(std::ptr::from_ref(block) as u64);
    call_result
}

/// The record of the begin of a transfer. Where a write in append mode goes is not known before the file has grown.
fn of_begin(kind: u16, block: &aiocb, description: &OpenFileDescription) -> CallResult {
    let mut call_result = of_control_block(kind, block);
    if kind == AIO_WRITE && description.is(APPENDS) {
        call_result.offset = -1;
    }
    call_result
}

/// aio_read, aio_write and aio_fsync.
///
/// # Safety
/// The control block is what the program gave to libc.
#[inline(always)]
pub unsafe fn begin(real: impl FnOnce() -> c_int, kind: u16, block: *const aiocb) -> c_int {
    // SAFETY: promised by the caller.
    let Some(block) = (unsafe { block.as_ref() }) else {
        return real();
    };
    let Some((context, description)) = watched(block.aio_fildes) else {
        return real();
    };
    let mut call_result = of_begin(kind, block, description);
    if kind == AIO_FSYNC {
        (call_result.offset, call_result.size) = (-1, 0);
    }
    let start = clock::now();
    let r = real();
    let stop = clock::now();
    call_result.result = r.into();
    call_result.error = if r == -1 { errno() } else { 0 };
    record::operation(&context, start, stop, &call_result);
    r
}

/// aio_return.
///
/// # Safety
/// The control block is what the program gave to libc.
#[inline(always)]
pub unsafe fn end(real: impl FnOnce() -> isize, block: *mut aiocb) -> isize {
    // SAFETY: promised by the caller.
    let Some(state) = (unsafe { block.as_ref() }) else {
        return real();
    };
    let Some((context, _)) = watched(state.aio_fildes) else {
        return real();
    };
    let mut call_result = of_control_block(AIO_RETURN, state);
    let start = clock::now();
    let r = real();
    let stop = clock::now();
    call_result.result = r as i64;
    if r == -1 {
        // SAFETY: as above; asking leaves errno alone.
        call_result.error = unsafe { libc::aio_error(block) }.max(0);
    }
    record::operation(&context, start, stop, &call_result);
    r
}

/// lio_listio: one record for each transfer in the list, and one for the call.
///
/// # Safety
/// The list is what the program gave to libc.
#[inline(always)]
pub unsafe fn begin_list(
    real: impl FnOnce() -> c_int,
    list: *const *mut aiocb,
    count: c_int,
) -> c_int {
    if list.is_null() || count <= 0 {
        return real();
    }
    // SAFETY: promised by the caller.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    let start = clock::now();
    let r = real();
    let stop = clock::now();
    let error = if r == -1 { errno() } else { 0 };
    let mut last = None;
    for &block in list {
        // SAFETY: as promised; entries may be null.
        let Some(state) = (unsafe { block.as_ref() }) else {
            continue;
        };
        let kind = match state.aio_lio_opcode {
            libc::LIO_READ => AIO_READ,
            libc::LIO_WRITE => AIO_WRITE,
            _ => continue,
        };
        if let Some((context, description)) = watched(state.aio_fildes) {
            let mut call_result = of_begin(kind, state, description);
            (call_result.result, call_result.error) = match error {
                // The list was taken, but something in it failed or was not waited for.
                // SAFETY: as promised; asking leaves errno alone.
                EIO | EAGAIN | EINTR => match unsafe { libc::aio_error(block) } {
                    0 | EINPROGRESS => (0, 0),
                    own => (-1, own),
                },
                _ => (r.into(), error),
            };
            record::operation(&context, start, stop, &call_result);
            last = Some(context);
        }
    }
    if let Some(context) = last {
        let mut call_result = CallResult::new(LIO_LISTIO, -1, -1, count.into());
        call_result.result = r.into();
        call_result.error = error;
        record::operation(&context, start, stop, &call_result);
    }
    r
}
