//! Work before and after a call, by kinds of calls, so that [`super::exports`] has one line per function.
//!
//! Each of these runs the real function exactly once, gives back what it gave and leaves errno as it left it.

use super::context::CallContext;
use super::descriptors::{self, DIRECT, OF_MPI, OpenFileDescription, WritePlace};
use super::paths::Path;
use super::record::{self, CallResult};
use super::system;
use super::watch::{self, COUNTERS};
use crate::platform::clock;
use crate::platform::errno::errno;
use crate::platform::say;
use crate::thread::wiped::is_in_parents_memory;
use blockfile::operation::{self, CLOSE, COPY_FILE_RANGE, FCNTL_LOCK, FCNTL_UNLOCK, SENDFILE};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

/// Return type of a libc function.
pub trait Returned: Copy {
    /// As a number, -1 where the call failed.
    fn number(self) -> i64;
}

impl Returned for c_int {
    fn number(self) -> i64 {
        self.into()
    }
}

impl Returned for isize {
    fn number(self) -> i64 {
        self as i64
    }
}

impl Returned for i64 {
    fn number(self) -> i64 {
        self
    }
}

impl Returned for *mut c_void {
    fn number(self) -> i64 {
        self as i64
    }
}

impl Returned for () {
    fn number(self) -> i64 {
        0
    }
}

/// A call that runs.
struct RunningFileCall {
    start: u64,
    sectors: Option<(u64, u64)>,
}

impl RunningFileCall {
    #[inline(always)]
    fn start() -> RunningFileCall {
        RunningFileCall {
            sectors: None,
            start: clock::now(),
        }
    }

    /// Of a call that moves bytes.
    #[inline(always)]
    fn start_transfer() -> RunningFileCall {
        let sectors = COUNTERS.load(Relaxed).then(system::sectors);
        RunningFileCall {
            sectors,
            start: clock::now(),
        }
    }

    /// Charges of the kernel since then.
    #[inline(always)]
    fn sectors(&self) -> Option<(u64, u64)> {
        let (read, written) = self.sectors?;
        let now = system::sectors();
        Some((now.0.wrapping_sub(read), now.1.wrapping_sub(written)))
    }

    /// Ends it.
    #[inline(always)]
    fn stop(self, context: &CallContext, stop: u64, mut call_result: CallResult, result: i64) {
        call_result.result = result;
        if result == -1 && call_result.error == 0 {
            call_result.error = errno();
        }
        record::operation(context, self.start, stop, &call_result);
    }
}

/// The state as calls on this description have it.
#[inline(always)]
fn on(context: CallContext, description: &OpenFileDescription) -> CallContext {
    CallContext {
        flags: context.flags_on(description.is(OF_MPI)),
        ..context
    }
}

/// State and description of a call on `fd` that is recorded.
#[inline(always)]
pub fn watched(fd: c_int) -> Option<(CallContext, &'static OpenFileDescription)> {
    let context = watch::context(fd)?;
    let description = descriptors::find(&context, fd)?;
    Some((on(context, description), description))
}

/// Whether a kind of operation writes.
#[inline(always)]
fn writes(kind: u16) -> bool {
    use operation::{PWRITE, PWRITEV, PWRITEV2, WRITE, WRITEV};
    matches!(kind, WRITE | PWRITE | WRITEV | PWRITEV | PWRITEV2)
}

/// Whether the kernel has read the arguments behind pointers of a call that gave `result`: one that is no address ends the call with an error, and must
/// not be read here either.
#[inline(always)]
fn has_read_arguments(result: isize) -> bool {
    result != -1 || !matches!(errno(), libc::EFAULT | libc::EBADF | libc::EINVAL)
}

/// A transfer of at most `size` bytes at `offset`; -1 is the descriptor's position.
#[inline(always)]
pub fn transfer(
    real: impl FnOnce() -> isize,
    kind: u16,
    fd: c_int,
    offset: i64,
    size: i64,
) -> isize {
    transfer_of(real, kind, fd, (offset, None), |_| size)
}

/// A transfer of what a vector of `count` buffers has or has room for, at `offset`; -1 is the descriptor's position. `how` has the flags of pwritev2.
///
/// # Safety
/// The vector is what the program gave to libc.
#[inline(always)]
pub unsafe fn transfer_vector(
    real: impl FnOnce() -> isize,
    kind: u16,
    fd: c_int,
    offset: i64,
    vector: *const libc::iovec,
    (count, how): (c_int, c_int),
) -> isize {
    let place = WritePlace::of_flags(how).filter(|_| writes(kind));
    transfer_of(real, kind, fd, (offset, place), |result| {
        if !has_read_arguments(result) {
            return 0;
        }
        // SAFETY: the kernel has read it.
        unsafe { bytes_of(vector, count) }
    })
}

/// A transfer at `offset`, or at `place` if flags of the call choose one; `size` tells from its result how many bytes were asked for.
#[inline(always)]
fn transfer_of(
    real: impl FnOnce() -> isize,
    kind: u16,
    fd: c_int,
    (offset, place): (i64, Option<WritePlace>),
    size: impl FnOnce(isize) -> i64,
) -> isize {
    let Some((context, description)) = watched(fd) else {
        if offset == -1 {
            descriptors::moved_unseen(fd);
        }
        return real();
    };
    let call = RunningFileCall::start_transfer();
    let r = real();
    let stop = clock::now();
    let mut call_result = CallResult::new(kind, fd, offset, size(r));
    let moved = r.max(0) as i64;
    call_result.offset = match place {
        Some(place) => description.place_of_flags(place, fd, offset, moved),
        None if offset == -1 => description.advance(fd, moved, writes(kind)),
        None => description.place(fd, offset, moved, writes(kind)),
    };
    if description.is(DIRECT) {
        call_result.flags |= operation::DIRECT;
    }
    call_result.sectors = call.sectors();
    call.stop(&context, stop, call_result, r as i64);
    r
}

/// Bytes in a vector of buffers; 0 where the program gives none.
///
/// # Safety
/// The vector must have so many buffers.
#[inline(always)]
unsafe fn bytes_of(vector: *const libc::iovec, count: c_int) -> i64 {
    if vector.is_null() || !(1..=libc::UIO_MAXIOV).contains(&count) {
        return 0;
    }
    // SAFETY: promised by the caller.
    let vector = unsafe { std::slice::from_raw_parts(vector, count as usize) };
    vector.iter().map(|v| v.iov_len as i64).sum()
}

/// A call on a file as a whole or a range of it that moves nothing.
#[inline(always)]
pub fn plain<R: Returned>(
    real: impl FnOnce() -> R,
    kind: u16,
    fd: c_int,
    offset: i64,
    size: i64,
) -> R {
    let Some((context, _)) = watched(fd) else {
        return real();
    };
    let call = RunningFileCall::start();
    let r = real();
    let stop = clock::now();
    call.stop(
        &context,
        stop,
        CallResult::new(kind, fd, offset, size),
        r.number(),
    );
    r
}

/// A call that gives back what errno would be: posix_fallocate.
#[inline(always)]
pub fn coded(real: impl FnOnce() -> c_int, kind: u16, fd: c_int, offset: i64, size: i64) -> c_int {
    let Some((context, _)) = watched(fd) else {
        return real();
    };
    let call = RunningFileCall::start();
    let r = real();
    let stop = clock::now();
    let mut call_result = CallResult::new(kind, fd, offset, size);
    call_result.error = r;
    call.stop(&context, stop, call_result, if r == 0 { 0 } else { -1 });
    r
}

/// lseek.
#[inline(always)]
pub fn seek(real: impl FnOnce() -> i64, kind: u16, fd: c_int) -> i64 {
    let Some((context, description)) = watched(fd) else {
        descriptors::moved_unseen(fd);
        return real();
    };
    let call = RunningFileCall::start();
    let r = real();
    let stop = clock::now();
    if r >= 0 {
        description.seek(r);
    }
    call.stop(&context, stop, CallResult::new(kind, fd, r, 0), r);
    r
}

/// A call that gives a new descriptor for the file `name` in `directory`.
///
/// # Safety
/// `name` is what the program gave to libc.
#[inline(always)]
pub unsafe fn opening(
    real: impl FnOnce() -> c_int,
    kind: u16,
    directory: c_int,
    name: *const c_char,
    flags: c_int,
) -> c_int {
    let context = watch::context_of_name(directory, name);
    let Some(context) = context.filter(|context| !context.put_off) else {
        let fd = real();
        descriptors::forget(fd);
        return fd;
    };
    let call = RunningFileCall::start();
    let fd = real();
    let stop = clock::now();
    // SAFETY: as promised.
    unsafe { note_open(&context, call, stop, kind, directory, name, flags, fd) };
    fd
}

/// Records what [`opening`] has done.
#[cold]
#[inline(never)]
#[allow(
    clippy::too_many_arguments,
    reason = "all that is known of a call that opens a file"
)]
unsafe fn note_open(
    context: &CallContext,
    call: RunningFileCall,
    stop: u64,
    kind: u16,
    directory: c_int,
    name: *const c_char,
    flags: c_int,
    fd: c_int,
) {
    if fd < 0 {
        let error = errno();
        if error == libc::EFAULT {
            return;
        }
        // SAFETY: promised by the caller; with a name that is no address the call fails as above.
        let path = unsafe { Path::of_name(directory, name) };
        if path.is_wanted() {
            // SAFETY: numbers, which may all be 0.
            let nothing = unsafe { std::mem::zeroed() };
            record::file(context, call.start, -1, flags, &nothing, &path);
            let mut call_result = CallResult::new(kind, fd, -1, 0);
            call_result.error = error;
            call.stop(context, stop, call_result, -1);
        }
        return;
    }
    let path = match flags & libc::O_TMPFILE == libc::O_TMPFILE {
        // The name is that of a directory.
        true => Path::of_descriptor(fd),
        // SAFETY: promised by the caller, and the call succeeded.
        false => unsafe { Path::of_opened(directory, name, fd) },
    };
    note_opened(context, call, stop, kind, flags, fd, &path);
}

/// Records that a call has opened descriptor `fd`.
fn note_opened(
    context: &CallContext,
    call: RunningFileCall,
    stop: u64,
    kind: u16,
    flags: c_int,
    fd: c_int,
    path: &Path,
) {
    let Some(status) = system::status(fd) else {
        return;
    };
    if descriptors::opened(context, call.start, fd, flags, &status, path, 0).is_some() {
        call.stop(context, stop, CallResult::new(kind, fd, -1, 0), fd.into());
    }
}

/// A call that gives a new descriptor for a file that has no name. One that fails is not recorded.
#[cold]
pub fn opening_nameless(real: impl FnOnce() -> c_int, kind: u16, flags: c_int) -> c_int {
    let context = watch::context(-1).filter(|context| !context.put_off);
    let call = RunningFileCall::start();
    let fd = real();
    let stop = clock::now();
    descriptors::forget(fd);
    if let Some(context) = context.filter(|_| fd >= 0) {
        note_opened(
            &context,
            call,
            stop,
            kind,
            flags,
            fd,
            &Path::of_descriptor(fd),
        );
    }
    fd
}

/// A call on the file `name` in `directory`, without a descriptor.
///
/// # Safety
/// `name` is what the program gave to libc.
#[inline(always)]
pub unsafe fn named(
    real: impl FnOnce() -> c_int,
    kind: u16,
    directory: c_int,
    name: *const c_char,
    size: i64,
) -> c_int {
    let of_links = match kind {
        operation::UNLINK | operation::UNLINKAT | operation::RENAME | operation::LSTAT => {
            libc::AT_SYMLINK_NOFOLLOW
        }
        _ => 0,
    };
    // SAFETY: as promised.
    unsafe { named_with(real, kind, directory, name, size, of_links) }
}

/// As [`named`]: with AT_SYMLINK_NOFOLLOW in `flags`, the call is on a symbolic link itself and not on the file that it stands for.
///
/// # Safety
/// `name` is what the program gave to libc.
#[inline(always)]
unsafe fn named_with(
    real: impl FnOnce() -> c_int,
    kind: u16,
    directory: c_int,
    name: *const c_char,
    size: i64,
    flags: c_int,
) -> c_int {
    let context = watch::context_of_name(directory, name);
    let Some(context) = context.filter(|context| !context.put_off) else {
        return real();
    };
    // SAFETY: as promised.
    let wanted = unsafe { note_name(&context, directory, name, flags) };
    if !wanted {
        return real();
    }
    let call = RunningFileCall::start();
    let r = real();
    let stop = clock::now();
    call.stop(
        &context,
        stop,
        CallResult::new(kind, -1, -1, size),
        r.into(),
    );
    r
}

/// A question for attributes of the file `name` in `directory`, or of `directory` itself if `flags` allow that and the name is empty.
///
/// # Safety
/// `name` is what the program gave to libc.
#[inline(always)]
pub unsafe fn asking(
    real: impl FnOnce() -> c_int,
    kind: u16,
    directory: c_int,
    name: *const c_char,
    flags: c_int,
) -> c_int {
    let is_of_descriptor = flags & libc::AT_EMPTY_PATH != 0
        // SAFETY: the kernel has read the name.
        && (name.is_null() || is_readable(directory, name) && unsafe { name.read() } == 0);
    if is_of_descriptor {
        plain(real, kind, directory, -1, 0)
    } else {
        // SAFETY: as promised.
        unsafe { named_with(real, kind, directory, name, 0, flags) }
    }
}

/// Whether the kernel finds a text at this address.
#[cold]
fn is_readable(directory: c_int, name: *const c_char) -> bool {
    !matches!(system::status_at(directory, name, 0), Err(libc::EFAULT))
}

/// Says which file the next call without a descriptor is about; whether it is wanted. The name may be no address at all.
#[cold]
#[inline(never)]
unsafe fn note_name(
    context: &CallContext,
    directory: c_int,
    name: *const c_char,
    flags: c_int,
) -> bool {
    let status = match system::status_at(directory, name, flags & libc::AT_SYMLINK_NOFOLLOW) {
        Ok(status) => status,
        Err(libc::EFAULT) => return false,
        // SAFETY: numbers, which may all be 0 where there is no such file.
        Err(_) => unsafe { std::mem::zeroed() },
    };
    // SAFETY: promised by the caller, and the kernel has read the name.
    let path = unsafe { Path::of_name(directory, name) };
    if !path.is_wanted() {
        return false;
    }
    record::file(context, clock::now(), -1, 0, &status, &path);
    true
}

/// close, or what closes it at last (fclose). It is forgotten before: another thread may get its number at once.
#[inline(always)]
pub fn closing<R: Returned>(real: impl FnOnce() -> R, fd: c_int) -> R {
    closes_standard_error(fd as u32, fd as u32);
    let Some(description) = descriptors::known(fd) else {
        descriptors::forget(fd);
        return real();
    };
    if is_in_parents_memory() {
        return real();
    }
    let context = watch::context(fd).filter(|context| !context.put_off || description.is(OF_MPI));
    let context = context.map(|context| on(context, description));
    descriptors::forget(fd);
    let Some(context) = context else {
        return real();
    };
    let call = RunningFileCall::start();
    let r = real();
    let stop = clock::now();
    call.stop(
        &context,
        stop,
        CallResult::new(CLOSE, fd, -1, 0),
        r.number(),
    );
    r
}

/// The descriptors from `first` to `last` are closed: standard error, if it is among them.
#[inline(always)]
pub(super) fn closes_standard_error(first: u32, last: u32) {
    if (first..=last).contains(&(libc::STDERR_FILENO as u32)) && !is_in_parents_memory() {
        say::closes_standard_error();
    }
}

/// Descriptor `fd` is a copy of another one, or a file that took its place: if it is standard error, there is one again.
#[inline(always)]
pub(super) fn gives_standard_error(fd: c_int) {
    if fd == libc::STDERR_FILENO && !is_in_parents_memory() {
        say::is_given_standard_error();
    }
}

/// dup and fcntl(F_DUPFD): a new descriptor for the same file.
#[inline(always)]
pub fn duplicate(real: impl FnOnce() -> c_int, old: c_int) -> c_int {
    let context = watch::context(old);
    let new = real();
    if new >= 0 {
        descriptors::forget(new);
        if let Some(context) = context {
            descriptors::duplicated(&context, old, new);
        }
    }
    new
}

/// dup2 and dup3: `new` is closed before, unless it is `old` or the call fails.
#[inline(always)]
pub fn duplicate_to(real: impl FnOnce() -> c_int, old: c_int, new: c_int) -> c_int {
    let context = watch::context(old);
    let r = real();
    if r >= 0 && old != new {
        gives_standard_error(new);
        descriptors::forget(new);
        if let Some(context) = context {
            descriptors::duplicated(&context, old, new);
        }
    }
    r
}

/// close_range: what is closed is forgotten.
#[inline(always)]
pub fn close_all<R: Returned>(real: impl FnOnce() -> R, first: u32, last: u32, flags: c_int) -> R {
    const CLOEXEC: c_int = 4;
    if flags & CLOEXEC == 0 && first <= last {
        closes_standard_error(first, last);
        descriptors::forget_range(first, last);
    }
    real()
}

/// fcntl: locks are recorded, what makes or changes descriptors is followed.
///
/// # Safety
/// The arguments are what the program gave to libc.
#[inline(always)]
pub unsafe fn control(
    real: impl FnOnce() -> c_int,
    fd: c_int,
    command: c_int,
    argument: usize,
) -> c_int {
    match command {
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
            let Some((context, _)) = watched(fd) else {
                return real();
            };
            let call = RunningFileCall::start();
            let r = real();
            let stop = clock::now();
            let has_read = has_read_arguments(r as isize);
            // SAFETY: these commands take a struct flock, which the kernel has read.
            let lock = has_read.then(|| unsafe { (argument as *const libc::flock).read() });
            call.stop(&context, stop, locking(fd, lock), r.into());
            r
        }
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicate(real, fd),
        libc::F_SETFL => {
            let r = real();
            if r >= 0
                && let Some(description) = descriptors::known(fd)
            {
                description.set_flags(argument as c_int);
            }
            r
        }
        _ => real(),
    }
}

/// lockf: sets or releases a lock of `length` bytes from the position on, which is not asked for.
#[inline(always)]
pub fn lock_here(real: impl FnOnce() -> c_int, fd: c_int, what: c_int, length: i64) -> c_int {
    let kind = match what {
        libc::F_ULOCK => FCNTL_UNLOCK,
        libc::F_LOCK | libc::F_TLOCK => FCNTL_LOCK,
        _ => return real(),
    };
    plain(real, kind, fd, -1, length)
}

/// A lock that is set or released; nothing is known of one that the kernel has not read.
fn locking(fd: c_int, lock: Option<libc::flock>) -> CallResult {
    let Some(lock) = lock else {
        return CallResult::new(FCNTL_LOCK, fd, -1, 0);
    };
    let kind = match c_int::from(lock.l_type) {
        libc::F_UNLCK => FCNTL_UNLOCK,
        _ => FCNTL_LOCK,
    };
    let offset = match c_int::from(lock.l_whence) {
        libc::SEEK_SET => lock.l_start,
        _ => -1,
    };
    CallResult::new(kind, fd, offset, lock.l_len)
}

/// splice: not recorded, as one end is a pipe, but it may move the positions of both.
#[inline(always)]
pub fn splice(real: impl FnOnce() -> isize, from: c_int, to: c_int) -> isize {
    let r = real();
    descriptors::moved_unseen(from);
    descriptors::moved_unseen(to);
    r
}

/// copy_file_range and sendfile: `size` bytes from `from` to `to`, at the places behind the pointers or at the positions.
///
/// # Safety
/// The pointers are what the program gave to libc.
#[inline(always)]
pub unsafe fn copy(
    real: impl FnOnce() -> isize,
    kind: u16,
    (from, from_at): (c_int, *const i64),
    (to, to_at): (c_int, *const i64),
    size: i64,
) -> isize {
    debug_assert!(kind == COPY_FILE_RANGE || kind == SENDFILE);
    let (source, target) = (watched(from), watched(to));
    let Some((context, _)) = target.or(source) else {
        descriptors::moved_unseen(from);
        descriptors::moved_unseen(to);
        return real();
    };
    let call = RunningFileCall::start_transfer();
    let r = real();
    let stop = clock::now();
    let moved = r.max(0) as i64;
    let place = |fd, at: *const i64, file: Option<(CallContext, &OpenFileDescription)>, writes| {
        match file {
            // SAFETY: the kernel has written there where the next bytes are.
            _ if !at.is_null() && r >= 0 => unsafe { at.read_unaligned() }.wrapping_sub(moved),
            Some((_, description)) if at.is_null() => description.advance(fd, moved, writes),
            _ => -1,
        }
    };
    let mut call_result = CallResult::new(kind, to, -1, size);
    call_result.peer = Some((from, place(from, from_at, source, false)));
    call_result.offset = place(to, to_at, target, true);
    call_result.sectors = call.sectors();
    call.stop(&context, stop, call_result, r as i64);
    r
}
