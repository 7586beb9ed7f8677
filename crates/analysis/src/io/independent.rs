//! Accesses of ranks by where they lie in the files: the patterns of each rank, what ranks share, and how much each has to do.

use super::OwnFileCalls;
use super::calls::HashMap;
use super::kinds::{Doing, duration, moved};
use super::own::OwnFiles;
use super::pattern::{AccessPattern, IndependentAccess, Part, SharedFiles, Sharing, count};
use crate::stats::Volume;
use io_attribution::{Actor, AttributedOperation, DataAccessCall};
use std::collections::BTreeMap;

/// Patterns that are told apart: by file, rank and direction.
const PATTERNS: usize = 1 << 18;
/// Files that are told apart.
const FILES: usize = 1 << 16;
/// Files whose opening by a rank is remembered until it uses them.
const OPENED: usize = 1 << 16;
/// Pairs of a file and a rank of which it is known how often the rank waited for the device.
const SYNCED: usize = 1 << 16;

/// Accesses of ranks by where they lie in the files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndependentAccesses {
    /// Accesses that are not collective, by file, rank and whether they write.
    pub patterns: BTreeMap<(u32, u32, bool), AccessPattern>,
    /// How ranks share each file, by file and whether they write.
    pub sharing: BTreeMap<(u32, bool), Sharing>,
    /// All accesses of a rank, collective ones among them, by rank and whether they write.
    pub ranks: BTreeMap<(u32, bool), Part>,
    /// Accesses to each file, of all kinds.
    pub files: BTreeMap<u32, Volume>,
    /// Number of accesses of all kinds by their bytes, of the first 64 sizes.
    pub sizes: BTreeMap<u64, u64>,
    /// Number of files that several ranks accessed.
    pub shared_files: u64,
    /// Waits for the device, by file and rank.
    pub syncs: BTreeMap<(u32, u32), Part>,
    /// The longest time from opening a file to its first use.
    pub opened_early: Option<OpenedEarly>,
}

/// A file that a rank opened long before it used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedEarly {
    /// Number of the file.
    pub file: u32,
    /// The rank.
    pub rank: u32,
    /// Time from the end of the opening to the begin of the first access, ns.
    pub ns: u64,
}

/// How often a file was written and read.
#[derive(Clone, Copy, Debug, Default)]
struct FileUses {
    reads: u64,
    writes: u64,
}

/// Takes accesses one by one.
#[derive(Debug, Default)]
pub(super) struct AccessesCollector {
    found: IndependentAccesses,
    shared: SharedFiles,
    uses: HashMap<u32, FileUses>,
    /// When a rank opened a file that it has not used since, ns.
    opened: HashMap<(u32, u32), i64>,
    own_files: OwnFiles,
    /// The rank that accessed a file; `None` for several.
    ranks_of_files: HashMap<u32, Option<u32>>,
}

impl AccessesCollector {
    /// Takes a data access of MPI-IO.
    pub fn call(&mut self, rank: u32, call: &DataAccessCall) {
        let is_deferred = call.complete > call.stop;
        let access = IndependentAccess {
            extent: call.bounding_extent,
            pieces: call.pieces,
            bytes: call.bytes,
            ns: call.duration(),
            span: (call.place.ns, call.complete.max(call.stop)),
            is_deferred,
        };
        let place = (call.file, rank, call.writes);
        self.any(place, call.place.ns, &access);
        if call.sequence.is_none() {
            self.independent(place, &access);
        }
    }

    /// Takes an operation; only those of ranks that stand outside of MPI are accesses of the program's own.
    pub fn operation(&mut self, operation: &AttributedOperation, own: &mut OwnFileCalls) {
        let Actor::Rank(rank) = operation.place.lane.actor else {
            return;
        };
        let doing = Doing::of(operation.kind);
        if let (Doing::Open, Some(file), 0) = (doing, operation.file, operation.error) {
            // What was written before is another state of the file.
            let uses = self.uses.entry(file).or_default();
            uses.reads += 1;
            uses.writes += 1;
            if self.opened.len() < OPENED {
                self.opened.insert((file, rank), operation.stop);
            }
        }
        if let (Doing::Sync, Some(file), 0) = (doing, operation.file, operation.error) {
            // What was written before is safe: writing it anew is another state, as of a file that somebody has read.
            self.uses.entry(file).or_default().reads += 1;
            let syncs = &mut self.found.syncs;
            let key = (file, rank);
            if syncs.len() < SYNCED || syncs.contains_key(&key) {
                syncs.entry(key).or_default().add(0, duration(operation));
            }
        }
        // An operation inside of MPI without a call belongs to one that is not recorded.
        if operation.call.is_some() || operation.record.flags & blockfile::operation::OUTSIDE == 0 {
            return;
        }
        own.add(operation, &mut self.own_files);
        let (Some(file), true) = (operation.file, doing.is_transfer()) else {
            return;
        };
        let bytes = moved(operation);
        let start = u64::try_from(operation.record.offset).ok();
        let access = IndependentAccess {
            extent: start.map(|start| (start, start.saturating_add(bytes))),
            pieces: 1,
            bytes,
            ns: duration(operation),
            span: (operation.place.ns, operation.stop),
            is_deferred: operation.outstanding,
        };
        let place = (file, rank, doing == Doing::Write);
        self.any(place, operation.place.ns, &access);
        self.independent(place, &access);
    }

    /// An access of any kind to a file by a rank.
    fn any(
        &mut self,
        (file, rank, writes): (u32, u32, bool),
        start: i64,
        access: &IndependentAccess,
    ) {
        let part = self.found.ranks.entry((rank, writes)).or_default();
        part.add(access.bytes, access.ns);
        count(&mut self.found.sizes, access.bytes);
        let files = &mut self.found.files;
        if files.len() < FILES || files.contains_key(&file) {
            let volume = files.entry(file).or_default();
            volume.count += 1;
            volume.bytes = volume.bytes.saturating_add(access.bytes);
            let first = self.ranks_of_files.entry(file).or_insert(Some(rank));
            *first = first.filter(|first| *first == rank);
        }
        let uses = self.uses.entry(file).or_default();
        match writes {
            true => uses.writes += 1,
            false => uses.reads += 1,
        }
        if let Some(opened) = self.opened.remove(&(file, rank)) {
            let ns = u64::try_from(start.saturating_sub(opened)).unwrap_or(0);
            let early = &mut self.found.opened_early;
            if early.is_none_or(|longest| longest.ns < ns) {
                *early = Some(OpenedEarly { file, rank, ns });
            }
        }
    }

    fn independent(&mut self, key: (u32, u32, bool), access: &IndependentAccess) {
        let (file, rank, writes) = key;
        self.shared.add(file, writes, rank, access);
        let patterns = &mut self.found.patterns;
        if patterns.len() >= PATTERNS && !patterns.contains_key(&key) {
            return;
        }
        let uses = self.uses.get(&file).copied().unwrap_or_default();
        let pattern = patterns.entry(key).or_default();
        pattern.note_use(match writes {
            true => uses.reads,
            false => uses.writes,
        });
        pattern.add(access);
    }

    pub fn finish(self, own: &mut OwnFileCalls) -> IndependentAccesses {
        own.finish(&self.own_files);
        let mut found = self.found;
        let several = self.ranks_of_files.values().filter(|rank| rank.is_none());
        found.shared_files = several.count() as u64;
        found.sharing = self.shared.finish();
        found
    }
}
