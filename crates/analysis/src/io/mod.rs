//! The report on a run's I/O: which operations its MPI-IO calls caused, what these cost, and whose data they carried.
//!
//! A [`IoReportCollector`] takes [`AttributionRecord`](io_attribution::AttributionRecord)s one by one; [`IoReport`] is what it found, without any layout. Memory
//! depends on ranks, files, functions and on what is outstanding, not on the length of the trace: percentiles come of
//! [`Histogram`](crate::stats::Histogram)s, and of calls that end long before the last of their operations it is said how
//! many operations came too late ([`IoReport::late`]).
//!
//! [`chain`] is about one call: everything that it caused, down to the disk.

mod access;
mod attribution;
mod busy;
mod calls;
pub mod chain;
mod collect;
mod collectives;
mod findings;
mod independent;
mod kinds;
mod own;
mod pattern;
mod run;
mod servers;
mod slowest;
mod summary;
mod waits;

pub use access::{AccessTotals, OtherCalls, PerCall, Times};
pub use attribution::{Attribution, Stage};
pub use calls::{Brief, CausedKind};
pub use collect::IoReportCollector;
pub use collectives::{Collectives, MadeIndependent, RankWaits, WaitedFor};
pub use findings::{IoFinding, Paste, PasteFor, Sureness};
pub use independent::{IndependentAccesses, OpenedEarly};
pub use kinds::{Doing, KindKey, KindRow, OperationOwner, Sizes, duration, moved};
pub use own::OwnFileCalls;
pub use pattern::{AccessPattern, BLOCK, Part, SMALL, Sharing};
pub use run::{
    AtomicModes, CallSum, FileSystem, FileWaits, IoLibrary, RankSyncs, RunFacts, RunFactsCollector,
};
pub use servers::{DeviceRow, LowerTotals, RequestCallIds, ServerRow, WorkTotals};
pub use slowest::Slow;
pub use summary::{AccessSummary, Common, RankTime};
pub use waits::Waits;

use crate::stats::Volume;
use io_attribution::OpenedFile;
use std::collections::BTreeMap;

/// Options of an I/O report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoReportOptions {
    /// Number of slowest calls to keep.
    pub slowest: usize,
    /// Only calls of this rank, and operations that it did or that were done on its behalf.
    pub rank: Option<u32>,
    /// Only files whose names contain this.
    pub file: Option<String>,
    /// Bits of the counter in a CallID; the rank is above.
    pub counter_bits: u32,
}

impl Default for IoReportOptions {
    fn default() -> Self {
        IoReportOptions {
            slowest: 5,
            rank: None,
            file: None,
            counter_bits: 40,
        }
    }
}

/// Transfers and what the kernel charged their threads with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// Transfers of which it is known.
    pub transfers: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Sectors of 512 bytes that reads got from the device, or that writes made dirty that were clean.
    pub sectors: u64,
    /// Transfers without any: reads that the page cache served, writes to pages that were dirty already.
    pub cached: u64,
    /// Bytes of these.
    pub cached_bytes: u64,
}

/// A rank that moved data of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aggregator {
    /// Bytes of its own calls that it moved.
    pub own_bytes: u64,
    /// For each rank whose data it carried: number of transfers and bytes.
    pub serves: BTreeMap<u32, Volume>,
}

impl Aggregator {
    /// Bytes of other ranks that it moved.
    pub fn served_bytes(&self) -> u64 {
        let bytes = self.serves.values().map(|volume| volume.bytes);
        bytes.fold(0, u64::saturating_add)
    }
}

/// Report about the I/O of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IoReport {
    /// Start of the first and end of the last call or operation, ns on rank 0's clock.
    pub span: Option<(i64, i64)>,
    /// Moment that times are shown from, ns on rank 0's clock: that from which the trace counts them.
    pub zero: i64,
    /// The files by number.
    pub files: BTreeMap<u32, OpenedFile>,
    /// All reading calls.
    pub reads: AccessTotals,
    /// All writing calls.
    pub writes: AccessTotals,
    /// Calls by function.
    pub functions: BTreeMap<String, AccessTotals>,
    /// Calls by file and by whether they write.
    pub by_file: BTreeMap<(u32, bool), AccessTotals>,
    /// Calls by rank.
    pub by_rank: BTreeMap<u32, AccessTotals>,
    /// Accesses of ranks by where they lie in the files.
    pub accesses: IndependentAccesses,
    /// File calls of the program outside of MPI.
    pub own: OwnFileCalls,
    /// Whether MPI calls open files that are neither data nor side files, such as one of hints.
    pub opens_other_files: bool,
    /// Transfers of ranks that move less than 4 KiB: their time, ns.
    pub tiny_ns: u64,
    /// Reads in writing calls: their time, ns.
    pub modify_ns: u64,
    /// Transfers that moved sieving holes, reads and writes: their time, ns.
    pub hole_ns: [u64; 2],
    /// Calls that caused operations and are no data accesses.
    pub other: OtherCalls,
    /// Operations by who did them and by kind.
    pub kinds: BTreeMap<KindKey, KindRow>,
    /// Reading transfers of ranks, by bytes moved.
    pub read_sizes: Sizes,
    /// Writing transfers of ranks, by bytes moved.
    pub write_sizes: Sizes,
    /// Reading transfers of ranks: disk or cache.
    pub cache_reads: Cache,
    /// Writing transfers of ranks: newly dirty or not.
    pub cache_writes: Cache,
    /// Ranks that moved data of others.
    pub aggregators: BTreeMap<u32, Aggregator>,
    /// Blocking collective accesses.
    pub collectives: Collectives,
    /// The slowest calls, the slowest first.
    pub slowest: Vec<Slow>,
    /// Servers and devices.
    pub below: LowerTotals,
    /// Precision of the attribution of bytes to calls, by stage.
    pub attribution: BTreeMap<Stage, Attribution>,
    /// Different CallIDs.
    pub callids: u64,
    /// CallIDs that caused operations.
    pub causing: u64,
    /// Operations that CallIDs caused or that carry their data, each counted with every such CallID.
    pub caused: u64,
    /// Edges of kind "triggers".
    pub triggers: u64,
    /// Edges of kind "carries".
    pub carries: u64,
    /// Attribution records about calls that had been added up already, and that are missing in numbers per call.
    pub late: u64,
}

impl IoReport {
    fn lasts(&mut self, start: i64, stop: i64) {
        let (first, last) = self.span.unwrap_or((start, stop));
        self.span = Some((first.min(start), last.max(stop)));
    }

    /// Operations of all kinds.
    pub fn operations(&self) -> u64 {
        self.kinds.values().map(|row| row.count).sum()
    }

    /// Whether there is no access to data.
    pub fn is_empty(&self) -> bool {
        self.reads.calls + self.writes.calls == 0
    }

    /// Kinds of drawables that have a CallID: functions, and kinds of operations.
    pub fn categories_with_callid(&self) -> usize {
        let with_call = self
            .kinds
            .values()
            .filter(|row| row.without_call < row.count);
        self.functions.len() + with_call.count()
    }

    /// Operations per CallID that caused any; `None` if none did.
    pub fn operations_per_causing_call(&self) -> Option<f64> {
        (self.causing > 0).then(|| self.caused as f64 / self.causing as f64)
    }
}
