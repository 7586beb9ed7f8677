//! Operations by their kind and by who does them.

use crate::stats::{Histogram, SizeClass, Volume};
use blockfile::operation::{self as op, Effect, Layer, OperationKind};
use io_attribution::{Actor, AttributedOperation, FileRole};

/// Owner of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationOwner {
    /// A rank.
    Rank,
    /// The I/O server that programs see.
    FrontEnd,
    /// A data server behind it.
    DataServer,
    /// A block device.
    Device,
}

impl OperationOwner {
    /// Owner of the operations of an actor.
    pub fn of(actor: Actor) -> Self {
        match actor {
            Actor::Rank(_) => OperationOwner::Rank,
            Actor::FrontEnd(_) => OperationOwner::FrontEnd,
            Actor::DataServer(_) => OperationOwner::DataServer,
            Actor::Device(_) => OperationOwner::Device,
        }
    }
}

/// Key by which operations are grouped: owner, kind and role of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindKey {
    /// Owner of the operations.
    pub who: OperationOwner,
    /// Number of its kind ([`blockfile::operation::KINDS`]).
    pub kind: u16,
    /// Role of the file.
    pub role: FileRole,
}

impl KindKey {
    /// Key of an operation of `actor` with this kind, on a file with this role.
    pub fn of(actor: Actor, kind: u16, role: FileRole) -> Self {
        let who = OperationOwner::of(actor);
        KindKey { who, kind, role }
    }

    /// Work of the operations on the program's data. Operations that move bytes of other files are [`Doing::Other`].
    pub fn doing(self) -> Doing {
        match Doing::of(self.kind) {
            doing if doing.is_transfer() && self.role != FileRole::Data => Doing::Other,
            doing => doing,
        }
    }

    /// Description of the kind; `None` for an unknown number.
    pub fn describe(self) -> Option<&'static OperationKind> {
        op::kind(self.kind)
    }

    /// Whether it is a call into libc by a rank.
    pub fn is_of_rank(self) -> bool {
        self.who == OperationOwner::Rank
    }
}

/// Kind of work that the time of an operation counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doing {
    /// Moves bytes from the file.
    Read,
    /// Moves bytes to the file.
    Write,
    /// Takes and frees locks.
    Lock,
    /// Waits for the device.
    Sync,
    /// Opens and closes.
    Open,
    /// All else: sizes, names, positions.
    Other,
}

impl Doing {
    /// Work of the operations of a kind.
    pub fn of(kind: u16) -> Self {
        match op::kind(kind).map(|kind| kind.effect) {
            Some(Effect::Read | Effect::StartRead) => Doing::Read,
            Some(Effect::Write | Effect::StartWrite) => Doing::Write,
            Some(Effect::Lock) => Doing::Lock,
            Some(Effect::Sync) => Doing::Sync,
            Some(Effect::Open | Effect::Close) => Doing::Open,
            _ => Doing::Other,
        }
    }

    /// Whether it moves bytes of the file.
    pub fn is_transfer(self) -> bool {
        matches!(self, Doing::Read | Doing::Write)
    }
}

/// Bytes that an operation moved; 0 if it moves none.
pub fn moved(operation: &AttributedOperation) -> u64 {
    if !Doing::of(operation.kind).is_transfer() {
        return 0;
    }
    let record = &operation.record;
    let bytes = match op::kind(operation.kind).map(|kind| kind.layer) {
        // A device moves a request as a whole or not at all.
        Some(Layer::Device) if operation.error == 0 => record.result.max(record.size),
        _ => record.result,
    };
    u64::try_from(bytes).unwrap_or(0)
}

/// Duration of an operation, ns.
pub fn duration(operation: &AttributedOperation) -> u64 {
    u64::try_from(operation.stop.saturating_sub(operation.place.ns)).unwrap_or(0)
}

/// Errors of a lock that somebody else has (fcntl(2), flock(2)): it was not to be waited for, or a signal ended the wait.
const EACCES: i32 = 13;
const EAGAIN: i32 = 11;
const EINTR: i32 = 4;

/// Bytes that Linux moves in one call at most, however many a call asks for (write(2)).
const MAX_CALL_BYTES: u64 = 0x7fff_f000;

/// All operations of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindRow {
    /// Number of operations.
    pub count: u64,
    /// Number of operations that failed.
    pub failed: u64,
    /// Number of locks among these that somebody else had: a program that asks for a lock without waiting, or is interrupted by a signal, is told so.
    pub refused_locks: u64,
    /// Number of operations that moved less than they were asked to, without an error: the end of the file, or a full disk.
    pub short: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Bytes of sieving holes among the bytes moved: no call had asked for them.
    pub hole_bytes: u64,
    /// Time, ns; of outstanding ones from submission to result.
    pub ns: u64,
    /// Number of operations that were outstanding and not running.
    pub outstanding: u64,
    /// Time of these, ns.
    pub outstanding_ns: u64,
    /// Number of asynchronous operations that have moved nothing as far as is known: nobody asked for their result.
    pub unasked: u64,
    /// Bytes that these were asked to move.
    pub unasked_bytes: u64,
    /// Calls whose data they carried, all together.
    pub carried_calls: u64,
    /// Operations for which no call is known.
    pub without_call: u64,
    /// Durations of the operations, ns.
    pub durations: Histogram,
}

impl KindRow {
    pub(super) fn add(&mut self, operation: &AttributedOperation) {
        let (bytes, ns) = (moved(operation), duration(operation));
        self.count += 1;
        self.failed += u64::from(operation.error != 0);
        let doing = Doing::of(operation.kind);
        let is_refused = doing == Doing::Lock && matches!(operation.error, EACCES | EAGAIN | EINTR);
        self.refused_locks += u64::from(is_refused);
        let size = u64::try_from(operation.record.size).unwrap_or(0);
        // Nobody asked for the result of an asynchronous write that moved nothing and did not fail.
        let is_unknown = operation.outstanding && doing == Doing::Write && bytes == 0;
        if is_unknown && operation.error == 0 && size > 0 {
            self.unasked += 1;
            self.unasked_bytes = self.unasked_bytes.saturating_add(size);
        }
        let is_short = operation.error == 0
            && !is_unknown
            && doing.is_transfer()
            && bytes < size
            && bytes != MAX_CALL_BYTES;
        self.short += u64::from(is_short);
        self.bytes = self.bytes.saturating_add(bytes);
        self.hole_bytes = self.hole_bytes.saturating_add(operation.hole_bytes);
        self.ns = self.ns.saturating_add(ns);
        if operation.outstanding {
            self.outstanding += 1;
            self.outstanding_ns = self.outstanding_ns.saturating_add(ns);
        }
        self.without_call += u64::from(operation.call.is_none());
        self.durations.add(ns as f64);
    }
}

/// Numbers and bytes by powers of two of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    classes: [Volume; 65],
}

impl Default for Sizes {
    fn default() -> Self {
        Sizes {
            classes: [Volume::default(); 65],
        }
    }
}

impl Sizes {
    pub(super) fn add(&mut self, bytes: u64) {
        // 0 for 0, else the number of binary digits.
        let class = &mut self.classes[(u64::BITS - bytes.leading_zeros()) as usize];
        class.count += 1;
        class.bytes = class.bytes.saturating_add(bytes);
    }

    /// The classes 0, 1, 2 to 3, 4 to 7, …; empty ones left out.
    pub fn classes(&self) -> impl Iterator<Item = SizeClass> + '_ {
        let classes = self.classes.iter().enumerate();
        let used = classes.filter(|(_, volume)| volume.count > 0);
        used.map(|(class, &volume)| SizeClass {
            low: if class == 0 { 0 } else { 1 << (class - 1) },
            high: u64::MAX.checked_shr(64 - class as u32).unwrap_or(0),
            volume,
        })
    }

    /// All together.
    pub fn all(&self) -> Volume {
        self.below(u64::MAX)
    }

    /// The volume of all classes that lie below this size, a power of two.
    pub fn below(&self, size: u64) -> Volume {
        let mut all = Volume::default();
        for class in self.classes().filter(|class| class.high <= size) {
            all.count += class.volume.count;
            all.bytes = all.bytes.saturating_add(class.volume.bytes);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_sizes() {
        let mut sizes = Sizes::default();
        for size in [0, 1, 2, 3, 4095, 4096, u64::MAX] {
            sizes.add(size);
        }
        let classes: Vec<_> = sizes
            .classes()
            .map(|c| (c.low, c.high, c.volume.count))
            .collect();
        let expected = [
            (0, 0, 1),
            (1, 1, 1),
            (2, 3, 2),
            (2048, 4095, 1),
            (4096, 8191, 1),
            (1 << 63, u64::MAX, 1),
        ];
        assert_eq!(classes, expected);
        assert_eq!((sizes.below(4096).count, sizes.all().count), (5, 7));
    }
}
