//! The sink that writes SLOG2: states are drawn as they are, nothing is paired but messages. Operations below MPI are drawn between.

use super::operations::DrawnOperations;
use super::output_plan::OutputPlan;
use super::record::{LeftState, MergedBody, MergedRecord};
use io_attribution::draw::CATEGORIES;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use trace_formats::clog2::{Clog2CommEvent, comm_etype};
use trace_formats::slog2::{
    self, ConvertOptions, FromClog2, LineIdMap, PendingFile, Slog2Error, WholeState,
};
use trace_model::{Line, Sorted};

/// The state that a record is about the end of.
#[inline]
pub(super) fn whole<'r>(record: &MergedRecord, state: &'r LeftState) -> WholeState<'r> {
    WholeState {
        header: record.header,
        start: state.start,
        etypes: state.etypes,
        info: state.info.bytes(),
        counts: state.info.counts().unwrap_or_default(),
    }
}

/// An SLOG2 file being written of the merged stream.
pub(super) struct Slog2Sink {
    converter: FromClog2<BufWriter<PendingFile>>,
    /// Drawables that are in no record.
    drawn: Option<DrawnOperations>,
    lines: WorldLines,
}

/// Hosts, ranks of MPI_COMM_WORLD and threads of the lines, for the views that are added to the usual ones.
#[derive(Debug, Default)]
pub(crate) struct WorldLines {
    /// Host, world rank and thread by line.
    lines: BTreeMap<i32, [i32; 3]>,
}

impl Slog2Sink {
    /// Begins a file.
    pub(super) fn new(out: PendingFile, plan: &OutputPlan) -> Result<Slog2Sink, Slog2Error> {
        let options = ConvertOptions {
            tree: plan.tree_options(),
            check_end_times: false,
        };
        // Leaves are larger, and so are passed on without a copy.
        let out = BufWriter::with_capacity(1 << 15, out);
        let mut converter = FromClog2::new(out, &plan.preamble, options)?;
        converter.name_counters(&plan.counters);
        Ok(Slog2Sink {
            converter,
            drawn: None,
            lines: WorldLines::default(),
        })
    }

    /// Adds operations, drawn where [`crate::operations::base`] says; before the first record.
    pub(super) fn draw(&mut self, drawn: DrawnOperations) {
        self.converter.reserve_categories(CATEGORIES);
        self.drawn = Some(drawn);
    }

    /// Draws the operations that end at `time` or before: what ends together with a call is nested in it. Those that cannot be read
    /// are left out from then on, and the inner result says why.
    ///
    /// # Errors
    /// When the file could not be written.
    #[cold]
    pub(super) fn draw_operations(&mut self, time: f64) -> Result<Result<(), String>, Slog2Error> {
        let Some(drawn) = &mut self.drawn else {
            return Ok(Ok(()));
        };
        let converter = &mut self.converter;
        match drawn.until(time, |drawable| converter.add(drawable)) {
            Ok(added) => added.map(Ok),
            Err(e) => {
                drawn.drawables = Sorted::default();
                Ok(Err(format!("operations below MPI are not all there: {e}")))
            }
        }
    }

    /// Takes the next record.
    #[inline]
    pub(super) fn take(
        &mut self,
        record: &MergedRecord,
        plan: &OutputPlan,
    ) -> Result<(), Slog2Error> {
        match &record.body {
            MergedBody::Enter { .. } => Ok(()),
            MergedBody::Leave(state) => self.converter.state(&whole(record, state)),
            MergedBody::Message { message, ahead } => {
                self.converter.message(&record.header, message, *ahead)
            }
            MergedBody::State(state) => {
                let name = state.whole_name.as_deref();
                self.converter
                    .define_state(&state.def, name, &state.details);
                Ok(())
            }
            MergedBody::SoloEvent(event) => {
                let name = event.whole_name.as_deref();
                self.converter.define_event(&event.def, name);
                Ok(())
            }
            MergedBody::Comm(event) => {
                self.lines.announce(event, plan);
                self.converter.push(&record.clog2())
            }
            _ => self.converter.push(&record.clog2()),
        }
    }

    /// Ends the file; why it could not be, in words.
    pub(super) fn finish(mut self, plan: &OutputPlan) -> Result<PendingFile, String> {
        let drawn = self.drawn.as_ref().map_or(&[][..], |drawn| &drawn.lines);
        for view in self.lines.views(plan, drawn) {
            self.converter.add_line_map(view);
        }
        if let Some(drawn) = self.drawn {
            self.converter.describe(drawn.categories, drawn.lines);
        }
        let (mut out, _) = self.converter.finish().map_err(|e| e.to_string())?;
        out.flush().map_err(|e| e.to_string())?;
        out.into_inner().map_err(|e| e.to_string())
    }
}

impl WorldLines {
    /// Notes the lines that a communicator gives rise to.
    pub fn announce(&mut self, event: &Clog2CommEvent, plan: &OutputPlan) {
        let threads = i64::from(plan.preamble.max_thread_count);
        let world = i64::from(plan.preamble.max_comm_world_size);
        let made = event.etype != comm_etype::FREE;
        if !made || event.rank < 0 || event.icomm < 0 {
            return;
        }
        for thread in 0..threads {
            let line =
                i64::from(event.icomm) * world * threads + i64::from(event.rank) * threads + thread;
            let node = usize::try_from(event.wrank)
                .ok()
                .and_then(|r| plan.nodes.get(r));
            if let (Ok(line), Some(&node)) = (i32::try_from(line), node) {
                self.lines.insert(line, [node, event.wrank, thread as i32]);
            }
        }
    }

    /// The view by node: host, rank, thread.
    fn node_view(&self, plan: &OutputPlan, drawn: &[Line]) -> LineIdMap {
        let mut view = slog2::node_view(&plan.hosts);
        for (line, columns) in &self.lines {
            view.cells.push(*line);
            view.cells.extend(columns);
        }
        for line in drawn {
            let rank = usize::try_from(line.rank).ok();
            let of_rank = rank.and_then(|rank| plan.nodes.get(rank).copied());
            let mut hosts = plan.hosts.iter();
            let named = hosts.position(|host| Some(host) == line.host.as_ref());
            let node = of_rank.or(named.map(|node| node as i32)).unwrap_or(-1);
            view.push(line.id, &[node, line.rank, line.thread]);
        }
        view
    }

    /// The view by program, where there are several: program, rank, thread.
    fn program_view(&self, plan: &OutputPlan, drawn: &[Line]) -> Option<LineIdMap> {
        if plan.programs.len() < 2 {
            return None;
        }
        let mut view = slog2::program_view(&plan.programs);
        for (line, [_, rank, thread]) in &self.lines {
            let place = usize::try_from(*rank).ok();
            let program = place.and_then(|rank| plan.program_of.get(rank));
            view.push(*line, &[program.copied().unwrap_or(-1), *rank, *thread]);
        }
        for line in drawn {
            view.push(line.id, &[-1, line.rank, line.thread]);
        }
        Some(view)
    }

    /// The views by node and by program; `drawn` are lines of operations below MPI.
    pub fn views(&self, plan: &OutputPlan, drawn: &[Line]) -> Vec<LineIdMap> {
        let views = [
            Some(self.node_view(plan, drawn)),
            self.program_view(plan, drawn),
        ];
        views.into_iter().flatten().collect()
    }
}
