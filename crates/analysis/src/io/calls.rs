//! Calls whose operations may still come: what was seen of each, until it can be added up.

use super::access::Times;
use super::busy::BusyTime;
use super::kinds::{Doing, KindKey, duration, moved};
use super::waits::Waits;
use blockfile::operation::{self as op, Effect};
use io_attribution::{AttributedOperation, DataAccessCall, PicturePoint};

/// Type of maps with keys that come from files.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
/// Type of sets with members that come from files.
pub(super) type HashSet<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// Calls that are remembered at once.
const REMEMBERED: usize = 1 << 16;
/// Operations of these, each call's counted up to [`MAX_COUNTED_OPERATIONS`]: they say how much memory the calls take.
const OPERATIONS: usize = 1 << 20;
/// Operations of a call from which on it takes no more memory.
const MAX_COUNTED_OPERATIONS: u64 = 256;
/// Calls of which it is remembered that they were forgotten.
const FORGOTTEN: usize = 1 << 20;
/// Operations of a call that are kept one by one.
const LONGEST: usize = 6;

/// Operations of one kind that a call caused or that carry its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CausedKind {
    /// Kind of the operations.
    pub key: KindKey,
    /// Number of operations.
    pub operations: u64,
    /// Bytes that they moved; of operations of other calls those that they moved for this one.
    pub bytes: u64,
    /// Time of the operations, ns.
    pub ns: u64,
    /// Time of the longest operation, ns.
    pub longest: u64,
}

/// An operation in few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief {
    /// Kind of the operation.
    pub key: KindKey,
    /// Lane and start of the operation.
    pub place: PicturePoint,
    /// Duration, ns.
    pub ns: u64,
    /// Offset in the file, bytes; -1 if not known.
    pub offset: i64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Whether it happened in another call and carries data of this one.
    pub elsewhere: bool,
}

/// The records seen so far of a call.
#[derive(Debug, Default)]
pub(super) struct OpenAccess {
    pub made: Option<DataAccessCall>,
    pub caused: Vec<CausedKind>,
    pub longest: Vec<Brief>,
    pub carried: u64,
    /// Bytes of its data that operations in other calls moved.
    pub carried_elsewhere: u64,
    /// Bytes of other calls that its operations moved.
    pub served: u64,
    /// Time of its operations that read, ns.
    pub reading_ns: u64,
    /// Whether other calls of its group wrote some of its bytes, too.
    pub may_carry: bool,
    /// Bytes of sieving holes that its operations read.
    pub hole_bytes_read: u64,
    /// Bytes of sieving holes that its operations wrote.
    pub hole_bytes_written: u64,
    pub read: u64,
    pub operations: u64,
    pub transfers: u64,
    pub times: Times,
    pub busy: BusyTime,
    pub waits: Option<Waits>,
    touched: u64,
}

impl OpenAccess {
    /// An operation that happened during it.
    fn triggers(&mut self, operation: &AttributedOperation, key: KindKey) {
        let (bytes, ns) = (moved(operation), duration(operation));
        self.cause(Brief {
            key,
            place: operation.place,
            ns,
            offset: operation.record.offset,
            bytes,
            elsewhere: false,
        });
        if !key.is_of_rank() {
            return;
        }
        let doing = key.doing();
        self.operations += 1;
        self.transfers += u64::from(doing.is_transfer());
        self.times.add(doing, operation.outstanding, ns);
        match doing {
            Doing::Read => {
                self.hole_bytes_read += operation.hole_bytes;
                self.read += bytes;
                self.reading_ns = self.reading_ns.saturating_add(ns);
            }
            Doing::Write => self.hole_bytes_written += operation.hole_bytes,
            _ => {}
        }
        if !operation.outstanding {
            self.busy.add(operation.place.ns, operation.stop, doing);
        }
    }

    /// An operation that happened in another call, and of which these bytes were its own.
    pub fn cause(&mut self, brief: Brief) {
        // The completion of an operation that was submitted elsewhere is no operation of its own.
        if op::kind(brief.key.kind).is_some_and(|kind| kind.effect == Effect::Complete) {
            return;
        }
        let found = self.caused.iter_mut().find(|c| c.key == brief.key);
        match found {
            Some(caused) => {
                caused.operations += 1;
                caused.bytes = caused.bytes.saturating_add(brief.bytes);
                caused.ns = caused.ns.saturating_add(brief.ns);
                caused.longest = caused.longest.max(brief.ns);
            }
            None => self.caused.push(CausedKind {
                key: brief.key,
                operations: 1,
                bytes: brief.bytes,
                ns: brief.ns,
                longest: brief.ns,
            }),
        }
        if self.longest.len() < LONGEST {
            self.longest.push(brief);
            return;
        }
        let shortest = self.longest.iter_mut().min_by_key(|one| one.ns);
        if let Some(one) = shortest.filter(|one| one.ns < brief.ns) {
            *one = brief;
        }
    }

    /// Calls of ranks into libc among what it caused.
    pub fn of_ranks(&self) -> u64 {
        let of_ranks = self.caused.iter().filter(|c| c.key.is_of_rank());
        of_ranks.map(|caused| caused.operations).sum()
    }
}

/// All calls whose operations may still come.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    open: HashMap<u64, OpenAccess>,
    forgotten: HashSet<u64>,
    clock: u64,
    operations: usize,
}

impl OpenCalls {
    /// The open call with this CallID; `None` if it has been added up already.
    pub fn get(&mut self, call: u64) -> Option<&mut OpenAccess> {
        if !self.open.contains_key(&call) && self.forgotten.contains(&call) {
            return None;
        }
        self.clock += 1;
        let open = self.open.entry(call).or_default();
        open.touched = self.clock;
        Some(open)
    }

    /// Notes that an operation happened during this call. Returns false if the call has been added up already.
    pub fn triggers(&mut self, call: u64, operation: &AttributedOperation, key: KindKey) -> bool {
        let Some(open) = self.get(call) else {
            return false;
        };
        let before = open.operations.min(MAX_COUNTED_OPERATIONS);
        open.triggers(operation, key);
        let after = open.operations.min(MAX_COUNTED_OPERATIONS);
        self.operations += (after - before) as usize;
        true
    }

    /// The open call of this CallID; the question is no sign that the call still runs.
    pub fn look(&mut self, call: u64) -> Option<&mut OpenAccess> {
        self.open.get_mut(&call)
    }

    /// The calls to be added up because there are too many: the half that nothing was heard of for the longest time.
    pub fn overdue(&self) -> Vec<u64> {
        if self.open.len() < REMEMBERED && self.operations < OPERATIONS {
            return Vec::new();
        }
        let mut ages: Vec<(u64, u64)> = self.open.iter().map(|(&id, o)| (o.touched, id)).collect();
        ages.sort_unstable();
        ages.truncate(self.open.len() / 2);
        ages.into_iter().map(|(_, id)| id).collect()
    }

    /// All calls, in the order in which they were last heard of.
    pub fn all(&self) -> Vec<u64> {
        let mut ages: Vec<(u64, u64)> = self.open.iter().map(|(&id, o)| (o.touched, id)).collect();
        ages.sort_unstable();
        ages.into_iter().map(|(_, id)| id).collect()
    }

    /// Takes a call out.
    pub fn take(&mut self, call: u64) -> Option<OpenAccess> {
        let open = self.open.remove(&call)?;
        self.operations -= open.operations.min(MAX_COUNTED_OPERATIONS) as usize;
        if self.forgotten.len() >= FORGOTTEN {
            self.forgotten.clear();
        }
        self.forgotten.insert(call);
        Some(open)
    }
}
