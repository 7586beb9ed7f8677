//! The block files of a run as a source of drawables: those that its CLOG2 file would give, and the operations below MPI, of the
//! ranks and of servers and devices, with their edges. The files of servers and devices alone can be drawn, too.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::fmt;

use super::operations::{OperationsLeftOut, RunRecords, base, hosts_of, is_server, set_hosts};
use super::record::MergedBody;
use super::slog2;
use crate::local;
use crate::local::{Merge, MergeOptions};
use blockfile::file::BlockFile;
use io_attribution::draw::{CATEGORIES, DrawingBase};
use io_attribution::{AttributionRecord, OperationDrawer, attribute_files};
use trace_formats::slog2::Drawing;
use trace_model::{Definitions, Drawable, DrawableOrder, Line, Losses, Stop};
use wrappers::Table;

/// Why a run cannot be drawn.
#[derive(Debug)]
pub enum SourceError {
    /// The files of the run cannot be merged.
    Merge(local::RunFilesError),
    /// Operations could not be joined with calls.
    Join(Stop),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Merge(error) => error.fmt(f),
            SourceError::Join(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}

/// The block files of a run, ready to be drawn.
#[derive(Debug)]
pub struct BlockFilesSource<'a> {
    files: Vec<BlockFile<'a>>,
    table: &'static Table,
    options: MergeOptions,
    definitions: Definitions,
    /// Whether there are ranks.
    has_ranks: bool,
    /// End of the last call, ns on rank 0's clock.
    last_ns: i64,
    /// Base for drawing operations; `None` if there are none.
    base: Option<DrawingBase>,
}

impl<'a> BlockFilesSource<'a> {
    /// A source for the files of one run and of the servers and devices that worked for it. Reads the files twice, once for the
    /// definitions.
    ///
    /// # Errors
    /// If the files do not belong together, or were made with another table of functions than `table`.
    pub fn new(
        files: Vec<BlockFile<'a>>,
        table: &'static Table,
        options: MergeOptions,
    ) -> Result<Self, SourceError> {
        let mut source = BlockFilesSource {
            files,
            table,
            options,
            definitions: Definitions::default(),
            has_ranks: true,
            last_ns: i64::MAX,
            base: None,
        };
        let has_servers = source.files.iter().any(is_server);
        let calls = match source.merge() {
            Ok(merge) => {
                let (calls, last_ns) = (CallSurvey::of(&merge), merge.last_ns());
                drop(merge);
                source.last_ns = last_ns;
                calls
            }
            Err(local::RunFilesError::NoRank) if has_servers => {
                source.has_ranks = false;
                source.without_ranks()?
            }
            Err(error) => return Err(SourceError::Merge(error)),
        };
        let mut lines = calls.lines.clone();
        let mut operations = OperationDrawer::new(calls.base);
        if has_servers || calls.has_operations {
            source.base = Some(calls.base);
            let used = &mut lines;
            (operations, _) = source
                .operations(calls.base, &mut |drawable| {
                    used.extend(drawable.vertices.iter().map(|vertex| vertex.line));
                    Ok(())
                })
                .map_err(SourceError::Join)?;
        }
        source.definitions = calls.definitions(&lines);
        let mut lines = operations.lines();
        set_hosts(&mut lines, &hosts_of(&source.files));
        source.definitions.lines.extend(lines);
        let categories = operations.categories();
        source.definitions.categories.extend(categories);
        Ok(source)
    }

    fn merge(&self) -> Result<Merge<'_, 'a, '_>, local::RunFilesError> {
        Merge::new(&self.files, self.table, self.options.clone())
    }

    /// Time zero is where the first operation begins.
    fn without_ranks(&self) -> Result<CallSurvey, SourceError> {
        let mut zero_ns = i64::MAX;
        attribute_files(&self.files, self.table, &mut |record| {
            if let AttributionRecord::Operation(operation) = record {
                zero_ns = zero_ns.min(operation.place.ns);
            }
            Ok(())
        })
        .map_err(SourceError::Join)?;
        Ok(CallSurvey {
            base: DrawingBase {
                zero_ns,
                ranks: 0,
                threads: 1,
                first_line: 0,
                first_category: 1,
            },
            drawing: None,
            has_operations: true,
            lines: BTreeSet::new(),
            hosts: BTreeMap::new(),
            program: String::new(),
        })
    }

    /// Draws operations and edges.
    fn operations(
        &self,
        base: DrawingBase,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(OperationDrawer, OperationsLeftOut), Stop> {
        let mut drawer = OperationDrawer::new(base);
        let mut records = RunRecords::new(base.zero_ns, self.last_ns);
        attribute_files(
            &self.files,
            self.table,
            &mut |record| match records.take(record) {
                true => drawer.draw(record, put),
                false => Ok(()),
            },
        )?;
        drawer.finish(put)?;
        Ok((drawer, records.left_out))
    }
}

impl trace_model::Source for BlockFilesSource<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        // Several threads and clocks that were set back may leave it by a little.
        DrawableOrder::Any
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = Losses::default();
        if self.has_ranks {
            let merge = self.merge()?;
            let (drawing, found) = draw(&merge, &mut |drawable: &Drawable<'_>| put(drawable))?;
            losses.merge(&found);
            losses.merge(&drawing.losses());
            let lost = merge.scans().map(|scan| scan.lost).sum();
            losses.add("call that the recorder could not keep", lost);
        }
        if let Some(base) = self.base {
            let (_, left_out) = self.operations(base, put)?;
            left_out.count(&mut losses);
        }
        Ok(losses)
    }
}

/// Findings in the calls of the ranks about the trace.
struct CallSurvey {
    base: DrawingBase,
    drawing: Option<Drawing>,
    has_operations: bool,
    lines: BTreeSet<i32>,
    hosts: BTreeMap<i32, String>,
    program: String,
}

impl CallSurvey {
    fn of(merge: &Merge<'_, '_, '_>) -> CallSurvey {
        let mut lines = BTreeSet::new();
        let (mut drawing, _) = draw(merge, &mut |drawable: &Drawable<'_>| {
            lines.extend(drawable.vertices.iter().map(|vertex| vertex.line));
            Ok::<(), Infallible>(())
        })
        .unwrap_or_else(|never| match never {});
        let mut hosts = BTreeMap::new();
        let mut program = String::new();
        for scan in merge.scans() {
            let process = scan.library.process();
            if program.is_empty() {
                program = process.program.clone();
            }
            if !process.host.is_empty() {
                hosts.insert(scan.info.rank, process.host.clone());
            }
        }
        let preamble = merge.preamble();
        CallSurvey {
            base: DrawingBase {
                // Here categories of operations come behind those of the calls.
                first_category: drawing.reserve_categories(CATEGORIES),
                ..base(&preamble, merge.zero_ns(), merge.comm_table().0.len())
            },
            drawing: Some(drawing),
            has_operations: merge.scans().any(|scan| scan.operations > 0),
            lines,
            hosts,
            program,
        }
    }

    /// Definitions of these lines, as far as they are not those of operations, and of all categories of calls.
    fn definitions(self, lines: &BTreeSet<i32>) -> Definitions {
        let Some(drawing) = self.drawing else {
            return Definitions::default();
        };
        let line = |&id: &i32| {
            let place = drawing.place(id);
            Line {
                id,
                rank: place.world_rank,
                thread: place.thread,
                comm: place.comm,
                comm_rank: place.rank,
                host: self.hosts.get(&place.world_rank).cloned(),
                name: None,
            }
        };
        let lines = lines.range(..self.base.first_line).map(line).collect();
        let (categories, etypes) = drawing.into_categories();
        Definitions {
            program: self.program,
            categories,
            lines,
            etypes,
        }
    }
}

fn draw<E>(
    merge: &Merge<'_, '_, '_>,
    put: &mut impl FnMut(&Drawable<'_>) -> Result<(), E>,
) -> Result<(Drawing, Losses), E> {
    let mut drawing = Drawing::new(&merge.preamble(), false);
    drawing.name_counters(merge.counter_names());
    let put = &mut |drawable: &Drawable<'_>, _| put(drawable);
    let notes = merge.run_whole_states(|record| match &record.body {
        MergedBody::Enter { .. } => Ok(()),
        MergedBody::Leave(state) => drawing.state(&slog2::whole(record, state), put),
        MergedBody::State(state) => {
            drawing.define_state(&state.def, state.whole_name.as_deref(), &state.details);
            Ok(())
        }
        MergedBody::SoloEvent(event) => {
            drawing.define_event(&event.def, event.whole_name.as_deref());
            Ok(())
        }
        MergedBody::Message { message, ahead } => {
            drawing.message(&record.header, (message, *ahead), put)
        }
        _ => drawing.push(&record.clog2(), put),
    })?;
    let mut losses = Losses::default();
    let what = "communicator drawn on MPI_COMM_WORLD, having too many members or lines";
    losses.add(what, notes.folded_comms);
    losses.add(
        "message whose communicator or partner is not known",
        notes.unknown_messages,
    );
    losses.add("size of a message above 2 GiB", notes.large_messages);
    losses.add(
        "call whose function is not known or that is damaged",
        notes.unknown_calls,
    );
    losses.add(
        "region or event of the program's own that has no beginning or is damaged",
        notes.unknown_events,
    );
    Ok((drawing, losses))
}
