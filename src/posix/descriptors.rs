//! Descriptors that are watched: those of regular files. Where their positions stand is followed here, because asking costs
//! more than the record. Descriptors made from each other by dup share one position.

use super::context::CallContext;
use super::mappings;
use super::paths::Path;
use super::record;
use super::system;
use crate::platform::clock;
use crate::thread::wiped::is_in_parents_memory;
use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU32, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};

/// Descriptors from here on are not watched.
const MAX_DESCRIPTORS: usize = 1 << 16;

/// Opened, or first used, by an MPI_File_* function.
pub const OF_MPI: u32 = 1;
/// Writes go to the end of the file.
pub const APPENDS: u32 = 2;
/// Transfers bypass the page cache.
pub const DIRECT: u32 = 4;
/// Others than the calls seen here may move the position: it must be asked for.
pub const SHARED: u32 = 8;
/// A call that was not recorded may have moved the position: it must be asked for once.
const STALE: u32 = 16;

/// An open file description, as open(2) calls it: what descriptors made from each other share.
pub struct OpenFileDescription {
    /// Descriptors that stand for it; 0 where the place is free.
    descriptors: AtomicU32,
    flags: AtomicU32,
    position: AtomicI64,
}

/// State of a descriptor that is not known.
const UNKNOWN: u32 = 0;
/// State of a descriptor that is no regular file, or not wanted.
const OTHER: u32 = 1;
/// First state of descriptors that are watched: the state is this plus the number of the open file description.
const WATCHED: u32 = 2;

static DESCRIPTORS: [AtomicU32; MAX_DESCRIPTORS] =
    [const { AtomicU32::new(UNKNOWN) }; MAX_DESCRIPTORS];
static DESCRIPTIONS: [OpenFileDescription; MAX_DESCRIPTORS] = [const {
    OpenFileDescription {
        descriptors: AtomicU32::new(0),
        flags: AtomicU32::new(0),
        position: AtomicI64::new(0),
    }
}; MAX_DESCRIPTORS];

/// Whether this process has forked: its children have its descriptors.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Calls on descriptors that are not watched because of their number.
static BEYOND: AtomicU64 = AtomicU64::new(0);

/// Calls on descriptors beyond the watched ones.
pub fn beyond() -> u64 {
    BEYOND.load(Relaxed)
}

/// The process forks: positions are no longer its own.
pub extern "C" fn share() {
    FORKED.store(true, Relaxed);
}

impl OpenFileDescription {
    /// Whether an MPI_File_* function has opened it.
    #[inline(always)]
    pub fn is(&self, flag: u32) -> bool {
        self.flags.load(Relaxed) & flag != 0
    }

    /// Takes what fcntl has set anew.
    pub fn set_flags(&self, of_open: c_int) {
        let kept = self.flags.load(Relaxed) & (OF_MPI | SHARED);
        self.flags.store(kept | from_open(of_open), Relaxed);
    }

    /// Others move the position, too.
    pub fn share(&self) {
        self.flags.fetch_or(SHARED, Relaxed);
    }

    /// The position has been set.
    pub fn seek(&self, to: i64) {
        self.position.store(to, Relaxed);
        self.flags.fetch_and(!STALE, Relaxed);
    }

    /// A transfer at the position has moved `moved` bytes through descriptor `fd`: where it began, -1 if that is not known.
    #[inline(always)]
    pub fn advance(&self, fd: c_int, moved: i64, writes: bool) -> i64 {
        let flags = self.flags.load(Relaxed);
        if flags & (SHARED | STALE) != 0 || flags & APPENDS != 0 && writes || FORKED.load(Relaxed) {
            return self.ask(fd, moved);
        }
        self.position.fetch_add(moved, Relaxed)
    }

    #[cold]
    fn ask(&self, fd: c_int, moved: i64) -> i64 {
        match system::position(fd) {
            Some(now) => {
                self.seek(now);
                now - moved
            }
            None => -1,
        }
    }

    /// Offset of a write of `moved` bytes by pwritev2 at `offset` (-1: the position), at a place that its flags choose.
    #[cold]
    pub fn place_of_flags(&self, place: WritePlace, fd: c_int, offset: i64, moved: i64) -> i64 {
        match place {
            _ if offset == -1 => self.ask(fd, moved),
            WritePlace::End if moved > 0 => system::status(fd).map_or(-1, |s| s.st_size - moved),
            _ => offset,
        }
    }

    /// Offset at which a transfer at `offset` took place. Writes to a file in append mode always go to its end.
    #[inline(always)]
    pub fn place(&self, fd: c_int, offset: i64, moved: i64, writes: bool) -> i64 {
        if writes && moved > 0 && self.is(APPENDS) {
            return system::status(fd).map_or(-1, |s| s.st_size - moved);
        }
        offset
    }
}

/// Place of a write that flags of pwritev2 choose, whatever the mode of the descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePlace {
    /// The end of the file.
    End,
    /// The offset or the position, also in append mode.
    Offset,
}

impl WritePlace {
    /// The place that the flags of pwritev2 choose; `None` if they leave it to the descriptor.
    #[inline(always)]
    pub fn of_flags(how: c_int) -> Option<WritePlace> {
        /// RWF_NOAPPEND of linux/fs.h.
        const NO_APPEND: c_int = 0x20;
        match how {
            _ if how & libc::RWF_APPEND != 0 => Some(WritePlace::End),
            _ if how & NO_APPEND != 0 => Some(WritePlace::Offset),
            _ => None,
        }
    }
}

fn from_open(flags: c_int) -> u32 {
    let mut own = 0;
    if flags & libc::O_APPEND != 0 {
        own |= APPENDS;
    }
    if flags & libc::O_DIRECT != 0 {
        own |= DIRECT;
    }
    own
}

fn entry(fd: c_int) -> Option<&'static AtomicU32> {
    DESCRIPTORS.get(usize::try_from(fd).ok()?)
}

/// A call on it is not recorded that may move its position.
#[inline(always)]
pub fn moved_unseen(fd: c_int) {
    if let Some(description) = known(fd) {
        description.flags.fetch_or(STALE, Relaxed);
    }
}

/// Recording has been off: all positions may have been moved.
pub fn all_moved_unseen() {
    for description in &DESCRIPTIONS {
        if description.descriptors.load(Relaxed) != 0 {
            description.flags.fetch_or(STALE, Relaxed);
        }
    }
}

/// Whether calls on it are recorded.
pub fn is_watched(fd: c_int) -> bool {
    entry(fd).is_some_and(|e| e.load(Relaxed) >= WATCHED)
}

/// Whether calls on it may have to be recorded. What has been seen to be no file is remembered.
pub fn may_be_watched(fd: c_int) -> bool {
    let Some(entry) = entry(fd) else { return false };
    match entry.load(Relaxed) {
        OTHER => false,
        UNKNOWN => {
            let is_file = |status: libc::stat| status.st_mode & libc::S_IFMT == libc::S_IFREG;
            let is_wanted =
                system::status(fd).is_some_and(is_file) && Path::of_descriptor(fd).is_wanted();
            if !is_wanted {
                entry.store(OTHER, Relaxed);
            }
            is_wanted
        }
        _ => true,
    }
}

/// The known description of a descriptor; `None` if it is not watched.
#[inline(always)]
pub fn known(fd: c_int) -> Option<&'static OpenFileDescription> {
    let number = entry(fd)?.load(Relaxed).checked_sub(WATCHED)?;
    DESCRIPTIONS.get(number as usize)
}

/// The description of a descriptor on which a call is to be recorded; `None` where it is not.
#[inline(always)]
pub fn find(context: &CallContext, fd: c_int) -> Option<&'static OpenFileDescription> {
    if fd as usize >= MAX_DESCRIPTORS {
        count_beyond(context, fd);
        return None;
    }
    match entry(fd)?.load(Relaxed) {
        UNKNOWN if context.put_off => None,
        UNKNOWN => first_use(context, fd),
        OTHER => None,
        known => {
            let description = DESCRIPTIONS.get((known - WATCHED) as usize)?;
            (!context.put_off || description.is(OF_MPI)).then_some(description)
        }
    }
}

#[cold]
fn count_beyond(context: &CallContext, fd: c_int) {
    if fd >= 0 && !context.put_off {
        BEYOND.fetch_add(1, Relaxed);
    }
}

/// Looks at a descriptor that nobody has seen being opened.
#[cold]
fn first_use(context: &CallContext, fd: c_int) -> Option<&'static OpenFileDescription> {
    let status = system::status(fd)?;
    let path = Path::of_descriptor(fd);
    // Who has given it to us may use it as well.
    let flags = system::flags(fd);
    opened(context, clock::now(), fd, flags, &status, &path, SHARED)
}

/// Descriptor `fd` stands for a file from `time` on. Gives its description if it is watched; then its definition has been written.
pub fn opened(
    context: &CallContext,
    time: u64,
    fd: c_int,
    flags: c_int,
    status: &libc::stat,
    path: &Path,
    more: u32,
) -> Option<&'static OpenFileDescription> {
    if fd as usize >= MAX_DESCRIPTORS {
        count_beyond(context, fd);
        return None;
    }
    if is_in_parents_memory() {
        return None;
    }
    let entry = entry(fd)?;
    if status.st_mode & libc::S_IFMT != libc::S_IFREG || !path.is_wanted() {
        forget(fd);
        entry.store(OTHER, Relaxed);
        return None;
    }
    let of_mpi = if context.in_file { OF_MPI } else { 0 };
    let position = if more & SHARED != 0 {
        system::position(fd).unwrap_or(0)
    } else {
        0
    };
    let number = describe(fd, from_open(flags) | of_mpi | more, position)?;
    stand_for(fd, number);
    record::file(context, time, fd, flags, status, path);
    DESCRIPTIONS.get(number as usize)
}

/// A free place for a description.
fn describe(fd: c_int, flags: u32, position: i64) -> Option<u32> {
    for i in 0..MAX_DESCRIPTORS {
        let number = (fd as usize + i) % MAX_DESCRIPTORS;
        let place = DESCRIPTIONS.get(number)?;
        if place
            .descriptors
            .compare_exchange(0, 1, AcqRel, Relaxed)
            .is_ok()
        {
            place.flags.store(flags, Relaxed);
            place.position.store(position, Relaxed);
            return Some(number as u32);
        }
    }
    None
}

/// Descriptor `fd` has description `number`, of which it has been counted.
fn stand_for(fd: c_int, number: u32) {
    if let Some(entry) = entry(fd) {
        release(entry.swap(number + WATCHED, AcqRel));
    }
}

fn release(entry: u32) {
    if let Some(number) = entry.checked_sub(WATCHED)
        && let Some(description) = DESCRIPTIONS.get(number as usize)
    {
        description.descriptors.fetch_sub(1, AcqRel);
    }
}

/// The descriptor is closed, or about to be.
#[inline(always)]
pub fn forget(fd: c_int) {
    if let Some(entry) = entry(fd)
        && entry.load(Relaxed) != UNKNOWN
    {
        forget_known(fd, entry);
    }
}

#[cold]
#[inline(never)]
fn forget_known(fd: c_int, entry: &AtomicU32) {
    if !is_in_parents_memory() {
        release(entry.swap(UNKNOWN, AcqRel));
        mappings::closed(fd);
    }
}

/// All descriptors from `first` to `last` are closed.
pub fn forget_range(first: u32, last: u32) {
    for fd in first..=last.min(MAX_DESCRIPTORS as u32 - 1) {
        forget(fd as c_int);
    }
}

/// Descriptor `new` stands for what `old` stands for.
pub fn duplicated(context: &CallContext, old: c_int, new: c_int) {
    if old == new || is_in_parents_memory() {
        return;
    }
    forget(new);
    let Some(description) = find(context, old) else {
        return;
    };
    if new as usize >= MAX_DESCRIPTORS {
        return;
    }
    description.descriptors.fetch_add(1, AcqRel);
    let number = entry(old).map_or(UNKNOWN, |e| e.load(Relaxed));
    let Some(number) = number.checked_sub(WATCHED) else {
        return;
    };
    stand_for(new, number);
    if let Some(status) = system::status(new) {
        let path = Path::of_descriptor(new);
        record::file(
            context,
            clock::now(),
            new,
            system::flags(new),
            &status,
            &path,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    /// In an MPI_File call of a thread without a state: nothing may be written.
    fn now() -> CallContext {
        CallContext {
            thread: std::ptr::null_mut(),
            call: 1,
            flags: 0,
            in_file: true,
            put_off: false,
        }
    }

    #[test]
    fn numbers_beyond_the_table_are_counted() {
        let before = beyond();
        assert!(find(&now(), MAX_DESCRIPTORS as c_int).is_none());
        assert!(find(&now(), c_int::MAX).is_none());
        assert!(find(&now(), -1).is_none());
        let deferred = CallContext {
            put_off: true,
            ..now()
        };
        assert!(find(&deferred, MAX_DESCRIPTORS as c_int).is_none());
        assert_eq!(beyond() - before, 2);
        assert!(!is_watched(MAX_DESCRIPTORS as c_int) && known(-1).is_none());
        forget(MAX_DESCRIPTORS as c_int);
    }

    #[test]
    fn what_is_no_file_is_not_watched() {
        let null = File::open("/dev/null").unwrap();
        let proc = File::open("/proc/self/status").unwrap();
        for file in [&null, &proc] {
            assert!(find(&now(), file.as_raw_fd()).is_none());
            assert_eq!(entry(file.as_raw_fd()).unwrap().load(Relaxed), OTHER);
            forget(file.as_raw_fd());
            assert_eq!(entry(file.as_raw_fd()).unwrap().load(Relaxed), UNKNOWN);
        }
    }

    #[test]
    fn descriptions_are_shared_and_freed() {
        let number = describe(60_000, APPENDS, 5).unwrap();
        stand_for(60_000, number);
        DESCRIPTIONS[number as usize]
            .descriptors
            .fetch_add(1, AcqRel);
        stand_for(60_001, number);
        forget(60_000);
        let description = known(60_001).unwrap();
        assert!(description.is(APPENDS) && known(60_000).is_none());
        assert_eq!(description.advance(60_001, 3, false), 5);
        assert_eq!(description.advance(60_001, 1, false), 8);
        forget_range(60_000, u32::MAX);
        assert_eq!(description.descriptors.load(Relaxed), 0);
    }
}
