//! Filters that leave out calls by their content: ranks, sizes of communicators and of messages, numbers of calls, times.
//!
//! On the hot path there is nothing of it: where a filter is set, the [mode](modes) of functions says so, and their wrappers ask here
//! when the real function has returned. Calls that are left out are counted, and what they make is defined all the same.

use crate::call::arg;
use crate::call::arg::{ArrayInteger, is_address, length};
use crate::call::mode::{FILTERED, MATCHING_ONLY, modes};
use crate::mpi::constants;
use crate::mpi::functions::COUNT;
use crate::mpi::handles::{self, HandleBits};
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Comm, MPI_Count, MPI_Datatype};
use crate::platform::clock;
use crate::thread::wiped::WIPED;
use blockfile::encode::MpiStatus;
use settings::Settings;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// A range with both its ends.
struct AtomicRange {
    set: AtomicBool,
    first: AtomicU64,
    last: AtomicU64,
}

impl AtomicRange {
    const fn new() -> AtomicRange {
        AtomicRange {
            set: AtomicBool::new(false),
            first: AtomicU64::new(0),
            last: AtomicU64::new(u64::MAX),
        }
    }

    fn store(&self, range: Option<(u64, u64)>) {
        let (first, last) = range.unwrap_or((0, u64::MAX));
        self.first.store(first, Relaxed);
        self.last.store(last, Relaxed);
        self.set.store(range.is_some(), Release);
    }

    fn get(&self) -> Option<(u64, u64)> {
        self.set
            .load(Acquire)
            .then(|| (self.first.load(Relaxed), self.last.load(Relaxed)))
    }

    fn excludes(&self, n: u64) -> bool {
        self.get()
            .is_some_and(|(first, last)| !(first..=last).contains(&n))
    }
}

static MEMBERS: AtomicRange = AtomicRange::new();
static BYTES: AtomicRange = AtomicRange::new();
static CALLS: AtomicRange = AtomicRange::new();
/// Times of CLOCK_MONOTONIC, ns.
static TIME: AtomicRange = AtomicRange::new();
/// Calls of each function that are recorded.
static FIRST: AtomicU32 = AtomicU32::new(u32::MAX);
/// Calls of each function that were recorded, where that is limited.
static RECORDED: [AtomicU32; COUNT] = [const { AtomicU32::new(0) }; COUNT];

/// Value of [`WIPED`]'s window: the part of the run that is to be recorded has not begun. So it stands in forked children, too.
const BEFORE: u8 = 0;
const OPEN: u8 = 1;
const BEHIND: u8 = 2;

/// Takes new settings.
pub fn apply(settings: &Settings) {
    MEMBERS.store(settings.comm_size);
    BYTES.store(settings.message_size);
    CALLS.store(settings.calls);
    let begin = clock::first_reading().monotonic;
    let moment = |ns: u64| begin.saturating_add(ns);
    TIME.store(settings.time.map(|(from, to)| (moment(from), moment(to))));
    FIRST.store(settings.first_calls.unwrap_or(u32::MAX), Relaxed);
    WIPED.window.store(window(), Relaxed);
}

fn window() -> u8 {
    let now = || clock::posix(libc::CLOCK_MONOTONIC);
    match TIME.get() {
        Some((first, _)) if now() < first => BEFORE,
        Some((_, last)) if now() > last => BEHIND,
        _ => OPEN,
    }
}

/// Whether the part of the run that is to be recorded is there.
pub fn is_open() -> bool {
    WIPED.window.load(Relaxed) == OPEN
}

/// Whether it has not begun, as far as is known; in a forked child it never has.
#[inline(always)]
pub fn is_before() -> bool {
    WIPED.window.load(Relaxed) == BEFORE
}

/// Whether it may begin with the call that is being made, which is not recorded so far. It has begun, if so.
pub fn begins() -> bool {
    if WIPED.window.load(Relaxed) != BEFORE || window() == BEFORE {
        return false;
    }
    WIPED.window.store(window(), Relaxed);
    true
}

/// Whether this rank records at all. Before MPI_Init, what the launcher says of ranks counts; without it, all record.
pub fn is_of_chosen_rank(settings: &Settings, rank: Option<u32>) -> bool {
    match (&settings.ranks, rank) {
        (Some(ranges), Some(rank)) => ranges
            .iter()
            .any(|&(first, last)| (first..=last).contains(&rank)),
        _ => true,
    }
}

/// The flag of a function's mode that says that its wrapper has to ask.
pub fn flag(settings: &Settings) -> u8 {
    let any = settings.comm_size.is_some()
        || settings.message_size.is_some()
        || settings.calls.is_some()
        || settings.time.is_some()
        || settings.first_calls.is_some();
    if any { FILTERED } else { 0 }
}

/// Whether calls may be left out by something on which the two sides of a message need not agree.
pub fn cuts(settings: &Settings) -> bool {
    settings.calls.is_some() || settings.time.is_some() || settings.first_calls.is_some()
}

/// Whether the part of the run that is to be recorded has come to its end.
pub fn is_over() -> bool {
    WIPED.window.load(Relaxed) == BEHIND
}

/// Whether as many calls of a function have been recorded as are wanted.
pub fn has_enough(index: usize) -> bool {
    RECORDED[index].load(Relaxed) >= FIRST.load(Relaxed)
}

/// Fewest and most bytes of one piece of data that a call moves; more than one where only the bound is known.
pub type ByteRange = (u64, u64);

/// Decision of the filters on a call that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call is recorded.
    Record,
    /// The call is recorded, and no other call of its function.
    RecordLast,
    /// The call is left out.
    LeaveOut,
    /// The call is left out, as are all later ones of its function.
    LeaveOutFromNow,
    /// The call is left out, and the part of the run that is to be recorded has come to its end.
    WindowOver,
}

/// Decision on a call of function `index`: call number `number`, on a communicator if it names one, with these pieces of
/// data.
#[cold]
pub fn verdict(index: usize, number: u64, comm: Option<MPI_Comm>, data: &[ByteRange]) -> Verdict {
    if modes()[index].load(Relaxed) & MATCHING_ONLY != 0 || CALLS.excludes(number) {
        return Verdict::LeaveOut;
    }
    if let Some((first, last)) = BYTES.get() {
        let mut data = data.iter().filter(|&&amount| amount != NOTHING).peekable();
        if data.peek().is_some() && data.all(|&(least, most)| most < first || last < least) {
            return Verdict::LeaveOut;
        }
    }
    if let (Some(comm), true) = (comm, MEMBERS.get().is_some())
        && MEMBERS.excludes(members(comm))
    {
        return Verdict::LeaveOut;
    }
    if TIME.excludes(clock::posix(libc::CLOCK_MONOTONIC)) {
        WIPED.window.store(window(), Relaxed);
        return Verdict::WindowOver;
    }
    let limit = FIRST.load(Relaxed);
    if limit == u32::MAX {
        return Verdict::Record;
    }
    let before = RECORDED[index].fetch_add(1, Relaxed);
    if before >= limit {
        RECORDED[index].store(limit, Relaxed);
        return Verdict::LeaveOutFromNow;
    }
    if before.saturating_add(1) >= limit {
        return Verdict::RecordLast;
    }
    Verdict::Record
}

/// Members of both groups.
fn members(comm: MPI_Comm) -> u64 {
    if comm.bits() == constants::handle("MPI_COMM_NULL") {
        return 0;
    }
    let (mut inter, mut n, mut remote) = (0, 0, 0);
    // SAFETY: a communicator with which the program has just made a call that succeeded.
    unsafe {
        pmpi::MPI_Comm_size(comm, &mut n);
        if pmpi::MPI_Comm_test_inter(comm, &mut inter) == 0 && inter != 0 {
            pmpi::MPI_Comm_remote_size(comm, &mut remote);
        }
    }
    (length(n.into()) + length(remote.into())) as u64
}

/// Whether data on this communicator can be told by the arguments: on the sides of an intercommunicator some do not count.
pub fn is_intra(comm: MPI_Comm) -> bool {
    let mut inter = 0;
    // SAFETY: as above.
    unsafe { pmpi::MPI_Comm_test_inter(comm, &mut inter) == 0 && inter == 0 }
}

/// Bytes of so many elements of a datatype of a call that succeeded.
pub fn elements(count: i64, datatype: MPI_Datatype) -> Option<u64> {
    if count <= 0 || BYTES.get().is_none() {
        return Some(0);
    }
    let mut size: MPI_Count = 0;
    // SAFETY: the MPI library has just worked with it.
    let failed = unsafe { pmpi::MPI_Type_size_x(datatype, &mut size) } != 0;
    let size = u64::try_from(size).ok().filter(|_| !failed)?;
    Some(size.saturating_mul(count as u64))
}

/// Bytes of an array of so many counts of a datatype.
///
/// # Safety
/// An address must be readable for `n` elements.
pub unsafe fn sum<T: ArrayInteger>(
    counts: *const T,
    n: Option<usize>,
    datatype: MPI_Datatype,
) -> Option<u64> {
    // SAFETY: promised by the caller.
    elements(unsafe { arg::sum(counts, n?) } as i64, datatype)
}

/// Bytes of an array of so many counts, each of a datatype of its own.
///
/// # Safety
/// Addresses must be readable for `n` elements.
pub unsafe fn products<T: ArrayInteger, H: HandleBits>(
    counts: *const T,
    n: Option<usize>,
    datatypes: *const H,
) -> Option<u64> {
    if !is_address(counts.cast()) || !is_address(datatypes.cast()) {
        return None;
    }
    let each = |i| {
        // SAFETY: promised by the caller.
        let (count, datatype) = unsafe {
            (
                counts.add(i).read_unaligned(),
                datatypes.add(i).read_unaligned(),
            )
        };
        elements(count.wide(), handles::of(datatype))
    };
    (0..n?).map(each).sum()
}

/// Range of bytes of a call that moves no data.
pub const NOTHING: ByteRange = (u64::MAX, 0);

/// Range of exactly this many bytes; [`NOTHING`] if the number is not known.
pub fn exactly(bytes: Option<u64>) -> ByteRange {
    bytes.map_or(NOTHING, |n| (n, n))
}

/// Range of at most this many bytes; [`NOTHING`] if the number is not known.
pub fn at_most(room: Option<u64>) -> ByteRange {
    room.map_or(NOTHING, |n| (0, n))
}

/// Bytes of a received message: those of its status, else the range that fits the buffer.
pub fn received(status: Option<MpiStatus>, room: Option<u64>) -> ByteRange {
    status.map_or(at_most(room), |s| (s.bytes, s.bytes))
}
