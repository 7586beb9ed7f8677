//! Drawables of the operations below MPI and of their edges, from the attribution, sorted for the tree of an SLOG2 file.

use crate::local::Merge;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use blockfile::define::{Definition, ServerKind};
use blockfile::file::{BlockFile, ThreadBlocks};
use io_attribution::draw::{CATEGORIES, DrawingBase};
use io_attribution::{Actor, AttributionRecord, OperationDrawer, PicturePoint, attribute_files};
use trace_formats::clog2::Preamble;
use trace_formats::slog2::Drawing;
use trace_model::{Category, Drawable, DrawableOrder, Line, Losses, Sorted, Sorter, Stop, lane_of};
use unify::scan::Pace;
use wrappers::Table;

/// Takes attribution records and sorts what is drawn of them, in bounded memory.
#[derive(Debug)]
pub struct OperationSort {
    drawer: OperationDrawer,
    sorter: DrawableSorter,
}

/// Sorts drawables by their ends, and notes how these are spread over time.
#[derive(Debug)]
struct DrawableSorter {
    sorter: Sorter,
    /// Ends in ns since time zero.
    pace: Pace,
    start: f64,
    end: f64,
}

impl DrawableSorter {
    fn push(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let bounds = drawable.bounds();
        self.start = self.start.min(bounds.earliest);
        self.end = self.end.max(bounds.latest);
        self.pace.note((bounds.latest * 1e9) as u64);
        Ok(self.sorter.push(drawable)?)
    }
}

/// Where operations are drawn in a trace whose CLOG2 file would have this preamble, with `comms` communicators and `zero_ns` as
/// time zero.
pub fn base(preamble: &Preamble, zero_ns: i64, comms: usize) -> DrawingBase {
    let (ranks, threads) = (preamble.max_comm_world_size, preamble.max_thread_count);
    DrawingBase {
        zero_ns,
        ranks,
        threads,
        first_line: DrawingBase::line_behind(ranks, threads, comms),
        first_category: Drawing::new(preamble, false).reserve_categories(CATEGORIES),
    }
}

/// Joins and draws what is in the block files of a run, which `merge` has looked through, those of servers and devices among them. Temporary files
/// go to `folder`.
///
/// # Errors
/// If the files do not belong together, and when a temporary file could not be written or read.
pub fn draw_files(
    merge: &Merge<'_, '_, '_>,
    files: &[BlockFile<'_>],
    table: &Table,
    folder: &Path,
) -> Result<DrawnOperations, Stop> {
    let (zero_ns, last_ns) = (merge.zero_ns(), merge.last_ns());
    let base = base(&merge.preamble(), zero_ns, merge.comm_table().0.len());
    let mut operations = OperationSort::new(base, folder);
    let mut records = RunRecords::new(zero_ns, last_ns);
    attribute_files(files, table, &mut |record| match records.take(record) {
        true => operations.take(record),
        false => Ok(()),
    })?;
    let mut drawn = operations.finish()?;
    drawn.left_out = records.left_out;
    set_hosts(&mut drawn.lines, &hosts_of(files));
    Ok(drawn)
}

/// On which hosts ranks, servers and the followers of devices ran.
pub(super) fn hosts_of(files: &[BlockFile<'_>]) -> BTreeMap<Actor, String> {
    let mut hosts = BTreeMap::new();
    for file in files {
        let mut actor = u32::try_from(file.info().rank).ok().map(Actor::Rank);
        let mut host = String::new();
        for thread in file.threads() {
            let mut records = thread.records();
            while let Some(record) = records.next().filter(|record| record.is_definition()) {
                match Definition::decode(record.function, record.payload) {
                    Some(Definition::Process(process)) => host = process.host,
                    Some(Definition::Server(server)) => {
                        actor = Some(match server.role {
                            ServerKind::FrontEnd => Actor::FrontEnd(server.number),
                            ServerKind::DataServer => Actor::DataServer(server.number),
                            ServerKind::Device => Actor::Device(server.number),
                        });
                    }
                    _ => {}
                }
            }
        }
        if let Some(actor) = actor.filter(|_| !host.is_empty()) {
            hosts.insert(actor, host);
        }
    }
    hosts
}

/// Gives lines of operations their hosts.
pub(super) fn set_hosts(lines: &mut [Line], hosts: &BTreeMap<Actor, String>) {
    for line in lines {
        line.host = hosts.get(&lane_of(line).actor).cloned();
    }
}

/// Time after a run in which its data may still be written out, ns: the kernel waits for half a minute.
const LATE_NS: i64 = 60_000_000_000;

/// Chooses the records of a run, and counts the operations of servers and devices that are not of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunRecords {
    zero_ns: i64,
    last_ns: i64,
    pub left_out: OperationsLeftOut,
}

/// Operations of servers and devices that are in block files and not of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationsLeftOut {
    /// Operations that ended before the run began, or began more than a minute after its end.
    pub outside: u64,
    /// Transfers of devices during the run that no call asked for, and that carry no data of the run's files.
    pub of_others: u64,
}

impl OperationsLeftOut {
    /// Adds them to what a conversion leaves out.
    pub(super) fn count(&self, losses: &mut Losses) {
        losses.add(
            "operation of a server or device before or after the run",
            self.outside,
        );
        losses.add(
            "transfer of a device that no call asked for, without data of the run's files",
            self.of_others,
        );
    }

    /// A sentence that says how many they are; `None` if there are none.
    pub fn note(&self) -> Option<String> {
        let mut losses = Losses::default();
        self.count(&mut losses);
        (!losses.is_empty()).then(|| format!("not drawn: {losses}"))
    }
}

impl RunRecords {
    /// Records of a run from `zero_ns` to `last_ns`.
    pub fn new(zero_ns: i64, last_ns: i64) -> RunRecords {
        RunRecords {
            zero_ns,
            last_ns,
            left_out: OperationsLeftOut::default(),
        }
    }

    fn is_in_time(&self, place: PicturePoint, stop: i64) -> bool {
        matches!(place.lane.actor, Actor::Rank(_))
            || (stop >= self.zero_ns && place.ns <= self.last_ns.saturating_add(LATE_NS))
    }

    /// False for what a server or device did long before or after the run, as its trace may be of many runs; and for transfers of a
    /// device that neither a call of the run asked for nor carry data of its files.
    pub fn take(&mut self, record: &AttributionRecord) -> bool {
        match record {
            AttributionRecord::Operation(operation) => {
                let is_device = matches!(operation.place.lane.actor, Actor::Device(_));
                let of_others = is_device && operation.call.is_none() && operation.file.is_none();
                let is_in_time = self.is_in_time(operation.place, operation.stop);
                self.left_out.outside += u64::from(!is_in_time);
                self.left_out.of_others += u64::from(is_in_time && of_others);
                is_in_time && !of_others
            }
            AttributionRecord::Edge(edge) => self.is_in_time(edge.to, i64::MAX),
            AttributionRecord::File(_) | AttributionRecord::Call(_) => true,
        }
    }
}

/// True for a block file of a server or device. It says so before its first operation.
pub fn is_server(file: &BlockFile<'_>) -> bool {
    let says_so = |thread: &ThreadBlocks<'_>| {
        let mut records = thread.records();
        while let Some(record) = records.next().filter(|record| record.is_definition()) {
            let definition = Definition::decode(record.function, record.payload);
            if let Some(Definition::Server(_)) = definition {
                return true;
            }
        }
        false
    };
    file.info().rank < 0 && file.threads().iter().any(says_so)
}

/// Drawables, categories and lines of the operations of a run.
#[derive(Debug)]
pub struct DrawnOperations {
    /// The categories used.
    pub categories: Vec<Category>,
    /// The lines used, beyond those of the ranks' threads.
    pub lines: Vec<Line>,
    /// The drawables, by increasing end time.
    pub drawables: Sorted,
    /// Operations that are in the block files and not drawn.
    pub left_out: OperationsLeftOut,
    /// When they end, ns since time zero.
    pub(super) pace: Pace,
    /// When the first one begins and the last one ends, seconds since time zero; zero at most and at least.
    pub(super) span: [f64; 2],
}

impl OperationSort {
    /// Temporary files go to `folder`.
    pub fn new(base: DrawingBase, folder: &Path) -> Self {
        OperationSort {
            drawer: OperationDrawer::new(base),
            sorter: DrawableSorter {
                sorter: Sorter::in_folder(DrawableOrder::End, folder),
                pace: Pace::default(),
                start: 0.0,
                end: 0.0,
            },
        }
    }

    /// Draws an attribution record.
    ///
    /// # Errors
    /// When a temporary file could not be written.
    pub fn take(&mut self, record: &AttributionRecord) -> Result<(), Stop> {
        let sorter = &mut self.sorter;
        self.drawer
            .draw(record, &mut |drawable| sorter.push(drawable))
    }

    /// There are no more attribution records.
    ///
    /// # Errors
    /// When a temporary file could not be written or read.
    pub fn finish(mut self) -> Result<DrawnOperations, Stop> {
        let sorter = &mut self.sorter;
        self.drawer.finish(&mut |drawable| sorter.push(drawable))?;
        let DrawableSorter {
            sorter,
            pace,
            start,
            end,
        } = self.sorter;
        Ok(DrawnOperations {
            categories: self.drawer.categories(),
            lines: self.drawer.lines(),
            drawables: sorter.sorted()?,
            left_out: OperationsLeftOut::default(),
            pace,
            span: [start, end],
        })
    }
}

impl DrawnOperations {
    /// Gives the drawables that end at `time` or before.
    ///
    /// # Errors
    /// The errors of `put`, and of the temporary files.
    pub(super) fn until<E>(
        &mut self,
        time: f64,
        mut put: impl FnMut(&Drawable<'_>) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        while self.drawables.peek().is_some_and(|next| next <= time) {
            let Some(drawable) = self.drawables.next()? else {
                break;
            };
            if let Err(error) = put(&drawable) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}
