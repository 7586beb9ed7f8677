//! The block files of several ranks on one machine, merged: what MPI_Finalize does over MPI, done in one process.
//!
//! The records come out as from the binary tree of MPI_Finalize (`spec/clog2.md` section 12.2), in which the parent of
//! rank r is (r − 1) / 2.

use super::on_threads::on_threads;
use super::record::MergedRecord;
use super::stream::{MergeSettings, MergeStream, Notes};
use blockfile::define;
use blockfile::file::BlockFile;
use blockfile::layout::ended;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use trace_formats::clog2::states::CallIdDisplay;
use trace_formats::clog2::{CommTable, Preamble};
use unify::categories::UserCategories;
use unify::counters;
use unify::endpoints::{DrawnEndpoints, EndpointComparison, EndpointSelection};
use unify::function_set::FunctionSet;
use unify::functions::FunctionSelection;
use unify::gids::GidTable;
use unify::scan::Scan;
use unify::schema::Schema;
use wrappers::Table;

// A run may name more counters than one process has.
const _: () = assert!(counters::MAX_COUNTER_NAMES >= blockfile::counts::MAX_COUNTERS);

pub use unify::run_files::RunFilesError;

/// Options of a merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// For which calls the info box shows the CallID.
    pub call_ids: CallIdDisplay,
    /// Whether SLOG2 tells what an analysis of waits needs: roots, bytes, numbers of requests.
    pub details: bool,
    /// The run was killed: calls that never came to their end are shown up to the latest time known.
    pub recover: bool,
    /// Which functions of the program are shown.
    pub functions: FunctionSelection,
}

/// Ranks that are ready to be merged.
#[derive(Debug)]
pub struct Merge<'f, 'a, 't> {
    schema: Schema<'t>,
    /// In order of rank.
    processes: Vec<MergedProcess<'f, 'a>>,
    functions: FunctionSet,
    gids: GidTable,
    /// Of the program's functions.
    names: Vec<String>,
    /// Of performance counters.
    counters: Vec<String>,
    ranks: u32,
    width: u32,
    threads: u32,
    zero_ns: i64,
    last_ns: i64,
    recover: bool,
    by_time_of_day: usize,
}

#[derive(Debug)]
struct MergedProcess<'f, 'a> {
    file: &'f BlockFile<'a>,
    scan: Scan,
}

/// Looks through a file.
type ScanFile<'s, 'f, 'a> = dyn Fn(&&'f BlockFile<'a>) -> MergedProcess<'f, 'a> + Sync + 's;

impl<'f, 'a, 't> Merge<'f, 'a, 't> {
    /// Looks through all files. Those of processes whose MPI_Init did not return are left out.
    ///
    /// # Errors
    /// If the files do not belong together.
    pub fn new(
        files: &'f [BlockFile<'a>],
        table: &'t Table,
        options: MergeOptions,
    ) -> Result<Self, RunFilesError> {
        let one_by_one =
            |files: &[_], scan: &ScanFile<'_, 'f, 'a>| files.iter().map(scan).collect();
        Merge::scanned(files, table, options, one_by_one)
    }

    /// As [`Merge::new`], with so many threads. Not for the recorder, which starts none.
    ///
    /// # Errors
    /// If the files do not belong together.
    pub fn on_threads(
        files: &'f [BlockFile<'a>],
        table: &'t Table,
        options: MergeOptions,
        threads: usize,
    ) -> Result<Self, RunFilesError> {
        let on_threads =
            |files: &[_], scan: &ScanFile<'_, 'f, 'a>| on_threads(threads, files, scan);
        Merge::scanned(files, table, options, on_threads)
    }

    /// `scan_all` has each of the files looked through, which are in order of rank.
    fn scanned(
        files: &'f [BlockFile<'a>],
        table: &'t Table,
        options: MergeOptions,
        scan_all: impl FnOnce(&[&'f BlockFile<'a>], &ScanFile<'_, 'f, 'a>) -> Vec<MergedProcess<'f, 'a>>,
    ) -> Result<Self, RunFilesError> {
        let expected = table.fingerprint();
        let mut by_rank: BTreeMap<u32, &'f BlockFile<'a>> = BTreeMap::new();
        let mut run = None;
        for (i, file) in files.iter().enumerate() {
            let info = file.info();
            let Ok(rank) = u32::try_from(info.rank) else {
                continue;
            };
            if info.table != expected {
                return Err(RunFilesError::OtherTable {
                    file: i,
                    found: info.table,
                    expected,
                });
            }
            if *run.get_or_insert(info.run) != info.run {
                return Err(RunFilesError::OtherRun { file: i });
            }
            if by_rank.insert(rank, file).is_some() {
                return Err(RunFilesError::SameRank { file: i, rank });
            }
        }
        let ranked: Vec<&'f BlockFile<'a>> = by_rank.into_values().collect();
        let mut processes = scan_all(&ranked, &|&file| {
            let mut scan = Scan::new(file);
            scan.name_functions(&options.functions);
            MergedProcess { file, scan }
        });
        let scans = processes.iter_mut().map(|p| &mut p.scan);
        let by_time_of_day = unify::run_files::adopt_clocks(scans);
        let Some(first) = processes.first() else {
            return Err(RunFilesError::NoRank);
        };
        let family = first.scan.info.family;
        let mut functions = FunctionSet::default();
        let mut unknown = BTreeMap::new();
        let mut categories = UserCategories::default();
        let mut gids = GidTable::new(&first.scan.gids());
        let mut counted = Vec::new();
        let scans = || processes.iter().map(|p| &p.scan);
        let ranks = scans().map(Scan::ranks).max().unwrap_or(1);
        for scan in in_join_order(scans(), ranks) {
            functions.join(&scan.defined_functions(table));
            let mut own = scan.categories.clone();
            own.set_rank(scan.rank().unwrap_or(0));
            categories.join(own);
            counters::join(&mut counted, &scan.counters);
            unknown.extend(scan.library.functions().clone());
            gids.absorb(scan.gids().into_iter().map(|(gid, _)| gid));
        }
        if options.recover && scans().any(|scan| scan.info.ended != ended::FINALIZED) {
            // Their ends are marked by one.
            functions.insert(define::ANNOTATION);
        }
        let mut schema = Schema::new(table, family, options.call_ids, &unknown)
            .with_categories(&categories, options.recover);
        if options.details {
            schema = schema.with_details(table);
        }
        Ok(Merge {
            schema,
            functions,
            gids,
            names: names_of(scans()),
            counters: counted,
            ranks,
            width: scans().map(Scan::width).max().unwrap_or(1),
            threads: scans().map(|s| s.threads).max().unwrap_or(1),
            zero_ns: scans()
                .filter_map(Scan::first_ns)
                .min()
                .or_else(|| scans().filter_map(Scan::began_ns).min())
                .unwrap_or(0),
            last_ns: scans().filter_map(Scan::last_ns).max().unwrap_or(0),
            recover: options.recover,
            by_time_of_day,
            processes,
        })
    }

    /// Number of processes on other hosts than the first one that are placed by the time of day, as nobody compared their clocks.
    pub fn placed_by_time_of_day(&self) -> usize {
        self.by_time_of_day
    }

    /// Preamble of the merged file.
    pub fn preamble(&self) -> Preamble {
        self.schema
            .preamble(self.width, self.threads, &self.functions)
    }

    /// Names of the program's functions on all ranks, sorted.
    pub fn function_names(&self) -> &[String] {
        &self.names
    }

    /// Names of the performance counters of all ranks.
    pub fn counter_names(&self) -> &[String] {
        &self.counters
    }

    /// Communicator table of the merged file.
    pub fn comm_table(&self) -> &CommTable {
        self.gids.table()
    }

    /// The processes, in order of rank.
    pub fn processes(&self) -> impl Iterator<Item = (&'f BlockFile<'a>, &Scan)> {
        self.processes.iter().map(|p| (p.file, &p.scan))
    }

    /// Functions of MPI that any process has called.
    pub fn functions(&self) -> &FunctionSet {
        &self.functions
    }

    /// Number of ranks of the run, absent ones included.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The records of every `of`-th process from the one at place `nth` on, each with its rank; `enters` says whether they have the
    /// beginnings of states.
    pub fn streams<'s>(
        &'s self,
        nth: u32,
        of: u32,
        enters: bool,
        drawn_endpoints: Option<&'s DrawnEndpoints>,
    ) -> Vec<(u32, MergeStream<'s>)> {
        let all = self.processes.iter().enumerate();
        let chosen = all.skip(nth as usize).step_by(of.max(1) as usize);
        let stream = |(i, process): (usize, &'s MergedProcess<'f, 'a>)| {
            let describe = (i == 0).then_some(&self.functions);
            let stream = self.stream(process, enters, drawn_endpoints, describe);
            (process.scan.rank().unwrap_or(0), stream)
        };
        chosen.map(stream).collect()
    }

    /// Schema of the calls.
    pub fn schema(&self) -> &Schema<'t> {
        &self.schema
    }

    /// Time zero on rank 0's clock, ns.
    pub fn zero_ns(&self) -> i64 {
        self.zero_ns
    }

    /// End of the last call, ns on rank 0's clock.
    pub fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// Scans of the processes, in order of rank.
    pub fn scans(&self) -> impl ExactSizeIterator<Item = &Scan> {
        self.processes.iter().map(|p| &p.scan)
    }

    /// Gives all records in order of time to `sink`.
    ///
    /// # Errors
    /// The first error of `sink`; it gets nothing more then.
    pub fn run<E>(&self, sink: impl FnMut(&MergedRecord) -> Result<(), E>) -> Result<Notes, E> {
        self.give(true, sink)
    }

    /// Gives all records but the beginnings of states ([`super::MergedBody::Enter`]) in order of time to `sink`.
    ///
    /// # Errors
    /// The first error of `sink`; it gets nothing more then.
    pub fn run_whole_states<E>(
        &self,
        sink: impl FnMut(&MergedRecord) -> Result<(), E>,
    ) -> Result<Notes, E> {
        self.give(false, sink)
    }

    fn give<E>(
        &self,
        enters: bool,
        mut sink: impl FnMut(&MergedRecord) -> Result<(), E>,
    ) -> Result<Notes, E> {
        let turns = turns(self.ranks);
        let drawn_endpoints = self.drawn_endpoints();
        let mut streams: Vec<MergeStream<'_>> = Vec::with_capacity(self.processes.len());
        let mut next = BinaryHeap::with_capacity(self.processes.len());
        for (i, process) in self.processes.iter().enumerate() {
            let describe = (i == 0).then_some(&self.functions);
            let mut stream = self.stream(process, enters, drawn_endpoints.as_ref(), describe);
            let turn = process.scan.rank().and_then(|r| turns.get(r as usize));
            if let (Some(time), Some(&turn)) = (stream.peek_time(), turn) {
                next.push(Reverse((time_key(time), turn, i)));
            }
            streams.push(stream);
        }
        let mut notes = Notes::default();
        while let Some(mut top) = next.peek_mut() {
            let Reverse((_, turn, i)) = *top;
            let stream = &mut streams[i];
            if let Some(record) = stream.next_record() {
                sink(record)?;
            }
            match stream.peek_time() {
                Some(time) => *top = Reverse((time_key(time), turn, i)),
                None => {
                    notes.add(stream.notes());
                    std::collections::binary_heap::PeekMut::pop(top);
                }
            }
        }
        Ok(notes)
    }
}

impl<'f, 'a, 't> Merge<'f, 'a, 't> {
    fn stream<'s>(
        &'s self,
        process: &'s MergedProcess<'f, 'a>,
        enters: bool,
        drawn_endpoints: Option<&'s DrawnEndpoints>,
        describe: Option<&'s FunctionSet>,
    ) -> MergeStream<'s> {
        let settings = MergeSettings {
            ranks: self.width,
            threads: self.threads,
            zero_ns: self.zero_ns,
            open_until_ns: self.recover.then_some(self.last_ns),
            drawn_endpoints,
            describe,
            functions: &self.names,
            counters: &self.counters,
            enters,
        };
        let lids = self.gids.lids(&process.scan.gids());
        MergeStream::new(&self.schema, process.file, &process.scan, &lids, settings)
    }

    /// Which messages are drawn, if calls are missing that some hang on.
    pub(super) fn drawn_endpoints(&self) -> Option<DrawnEndpoints> {
        if self.scans().all(|scan| !scan.is_cut) {
            return None;
        }
        let mut items = Vec::new();
        for process in &self.processes {
            items.extend(self.stream(process, false, None, None).count().items());
        }
        items.sort_unstable();
        // Messages that were under way when a run was killed, or went to a rank that is missing, are in no order of the end.
        let ended = self.scans().all(|scan| scan.info.ended == ended::FINALIZED);
        let mut comparison =
            EndpointComparison::new(ended && self.processes.len() == self.ranks as usize);
        items.into_iter().for_each(|item| comparison.take(item));
        let (answer, left_out) = comparison.finish();
        Some(DrawnEndpoints::Selected(EndpointSelection::new(
            answer, left_out,
        )))
    }
}

/// Sorts like the time.
fn time_key(time: f64) -> u64 {
    let bits = time.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Names of the functions of all these processes, sorted.
fn names_of<'s>(scans: impl Iterator<Item = &'s Scan>) -> Vec<String> {
    let names = scans.flat_map(|scan| scan.named.iter().map(|(_, name)| name));
    let names: BTreeSet<&str> = names.collect();
    names.into_iter().map(str::to_owned).collect()
}

/// The processes in the order in which MPI_Finalize joins what the ranks know: each rank before its children in the tree, the left
/// child's part of the tree before the right one's. What comes first gets the lower number.
fn in_join_order<'s>(scans: impl Iterator<Item = &'s Scan>, ranks: u32) -> Vec<&'s Scan> {
    let mut places = vec![0; ranks as usize];
    let mut place = 0;
    let mut stack = vec![0];
    while let Some(rank) = stack.pop() {
        if let Some(of_rank) = places.get_mut(rank) {
            *of_rank = place;
            place += 1;
            stack.extend([2 * rank + 2, 2 * rank + 1]);
        }
    }
    let mut scans: Vec<&Scan> = scans.collect();
    scans.sort_by_key(|scan| scan.rank().and_then(|rank| places.get(rank as usize)));
    scans
}

/// For each rank, its turn among records of equal time: the left subtree before the right one before the rank itself.
pub(super) fn turns(ranks: u32) -> Vec<u32> {
    let ranks = ranks as usize;
    let mut turns = vec![0; ranks];
    let mut turn = 0;
    // Each rank is met twice: first to put its children on the stack, left one on top, then to get its turn.
    let mut stack = vec![(0, false)];
    while let Some((rank, children_done)) = stack.pop() {
        if rank >= ranks {
            continue;
        }
        if children_done {
            turns[rank] = turn;
            turn += 1;
        } else {
            stack.extend([(rank, true), (2 * rank + 2, false), (2 * rank + 1, false)]);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The merge of `spec/clog2.md` section 12.2 itself, on streams of (time, rank).
    fn tree(rank: usize, streams: &[Vec<(u32, usize)>]) -> Vec<(u32, usize)> {
        let Some(local) = streams.get(rank) else {
            return Vec::new();
        };
        let (left, right) = (tree(2 * rank + 1, streams), tree(2 * rank + 2, streams));
        let (mut l, mut r, mut o) = (left.iter(), right.iter(), local.iter());
        let mut out = Vec::new();
        loop {
            let time = |i: &std::slice::Iter<'_, (u32, usize)>| {
                i.as_slice().first().map_or(u32::MAX, |x| x.0)
            };
            let (tl, tr, to) = (time(&l), time(&r), time(&o));
            let taken = if tl <= tr {
                if tl <= to { l.next() } else { o.next() }
            } else if tr <= to {
                r.next()
            } else {
                o.next()
            };
            match taken {
                Some(&record) => out.push(record),
                None => return out,
            }
        }
    }

    #[test]
    fn equal_times_come_in_the_order_of_the_tree() {
        for ranks in 1..=13 {
            let streams: Vec<Vec<(u32, usize)>> = (0..ranks)
                .map(|r| {
                    [1, 1, 2, 3, 3]
                        .iter()
                        .map(|t| (t + (r as u32 % 3), r))
                        .collect()
                })
                .collect();
            let turns = turns(ranks as u32);
            let mut flat: Vec<_> = streams.concat();
            flat.sort_by_key(|&(time, rank)| (time, turns[rank]));
            assert_eq!(flat, tree(0, &streams), "{ranks} ranks");
        }
    }
}
