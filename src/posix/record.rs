//! Records of operations and definitions of files, written into the running thread's block.

use super::context::CallContext;
use super::paths::Path;
use crate::platform::errno::{errno, set_errno};
use crate::thread::records;
use crate::thread::{BusyGuard, Thread};
use blockfile::define::FILE;
use blockfile::encode::{EncodeCursor, RecordHead, SLACK};
use blockfile::operation::{self, CONTROL, PEER, SECTORS};
use blockfile::record::{ERROR, HEAD, HEAD_EXTRA, LONG};
use std::ffi::c_int;

/// Room that is made for a record.
const ROOM_BYTES: usize = HEAD + HEAD_EXTRA + operation::MAX_ENCODED_BYTES + SLACK;

/// Content of a record, without times and CallID. See [`operation::OperationRecord`].
#[derive(Clone, Copy)]
pub struct CallResult {
    /// Number of the kind.
    pub kind: u16,
    /// Flags besides those of the state.
    pub flags: u32,
    /// Descriptor.
    pub fd: c_int,
    /// Offset.
    pub offset: i64,
    /// Bytes asked for.
    pub size: i64,
    /// Return value of the call.
    pub result: i64,
    /// errno of a call that failed, else 0.
    pub error: c_int,
    /// Address of the control block.
    pub control: Option<u64>,
    /// Sectors read and to be written.
    pub sectors: Option<(u64, u64)>,
    /// The second descriptor of a transfer between two, and its offset.
    pub peer: Option<(c_int, i64)>,
}

impl CallResult {
    /// Nothing but this.
    pub fn new(kind: u16, fd: c_int, offset: i64, size: i64) -> CallResult {
        CallResult {
            kind,
            flags: 0,
            fd,
            offset,
            size,
            result: 0,
            error: 0,
            control: None,
            sectors: None,
            peer: None,
        }
    }
}

/// Writes the record of an operation that ran from `start` to `stop`.
#[inline(always)]
pub fn operation(context: &CallContext, start: u64, stop: u64, call_result: &CallResult) {
    // SAFETY: the state of the running thread, which nobody else writes; the guard holds off signal handlers.
    let t: &mut Thread = unsafe { &mut *context.thread };
    let _busy = BusyGuard::new(t);
    let duration = stop.wrapping_sub(start);
    // SAFETY: ROOM bytes are free where the record begins, and no record is larger.
    unsafe {
        let is_far = start.wrapping_sub(t.time_base) >> 32 != 0;
        let at = if is_far || ROOM_BYTES > (t.end as usize) - (t.at as usize) {
            // A block that is written out takes calls of ours.
            let saved = errno();
            let at = records::make_room(t, ROOM_BYTES, start, context.call);
            set_errno(saved);
            at
        } else {
            t.at
        };
        let mut word = call_result.kind;
        let mut out = EncodeCursor::new(at.add(HEAD));
        let mut short = duration as u32;
        if duration >> 32 != 0 {
            word |= LONG;
            short = 0;
            out.i64(duration as i64);
        }
        if call_result.error != 0 {
            word |= ERROR;
            out.i32(call_result.error);
        }
        let mut flags = context.flags | call_result.flags;
        let place_of_flags = out.position();
        out.u32(0);
        out.i32(call_result.fd);
        out.i64(call_result.offset);
        out.i64(call_result.size);
        out.i64(call_result.result);
        if let Some(control) = call_result.control {
            flags |= CONTROL;
            out.i64(control as i64);
        }
        if let Some((read, written)) = call_result.sectors {
            flags |= SECTORS;
            out.i64(read as i64);
            out.i64(written as i64);
        }
        if let Some((fd, offset)) = call_result.peer {
            flags |= PEER;
            out.i32(fd);
            out.i64(offset);
        }
        place_of_flags.cast::<u32>().write_unaligned(flags);
        let size = (out.position() as usize - at as usize).next_multiple_of(4);
        RecordHead {
            word,
            start: start.wrapping_sub(t.time_base) as u32,
            duration: short,
            call: context.call.wrapping_sub(t.call_base) as u32,
        }
        .write(at, size);
        t.at = at.add(size);
        let committed = t.at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
}

/// Writes that descriptor `fd` stands for a file from `time` on. With -1 it says which file the operation without a descriptor
/// is about that follows.
#[cold]
pub fn file(
    context: &CallContext,
    time: u64,
    fd: c_int,
    flags: c_int,
    status: &libc::stat,
    path: &Path,
) {
    const FIXED_BYTES: usize = 4 + 4 + 8 + 8 + 4;
    let name = path.bytes();
    let mut payload = [0; FIXED_BYTES + 4096];
    payload[..4].copy_from_slice(&fd.to_ne_bytes());
    payload[4..8].copy_from_slice(&flags.to_ne_bytes());
    payload[8..16].copy_from_slice(&status.st_dev.to_ne_bytes());
    payload[16..24].copy_from_slice(&status.st_ino.to_ne_bytes());
    payload[24..FIXED_BYTES].copy_from_slice(&(name.len() as u32).to_ne_bytes());
    payload[FIXED_BYTES..FIXED_BYTES + name.len()].copy_from_slice(name);
    // SAFETY: the state of the running thread.
    let t = unsafe { &mut *context.thread };
    let saved = errno();
    records::put_encoded(t, FILE, &payload[..FIXED_BYTES + name.len()], time);
    set_errno(saved);
}
