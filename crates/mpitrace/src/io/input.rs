//! Source of attribution records: block files, whose operations are attributed here, or a trace into which they were drawn.

use super::file_system;
use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::units::counted;
use crate::trace_files::format::Format;
use crate::trace_files::losses::failure;
use crate::trace_files::trace::TraceInput;
use analysis::io::{IoReport, IoReportOptions, RunFacts, RunFactsCollector};
use analysis::performance::{PerformanceCollector, PerformanceOptions};
use blockfile::file::BlockFile;
use io_attribution::{
    Actor, AttributionRecord, AttributionTotals, attribute_files, read_attribution_by_time,
};
use trace_model::{DrawableOrder, Stop, for_each_in_order};
use wrappers::Phase;

/// What other formats do not tell, and who does.
const NOT_TOLD: &str = "which operations carried the data of a call; the SLOG2 file that the recorder writes does, and block files do; \
                        mpitrace report --by file shows what calls on files took";

/// Why a trace of calls that access data may lack what other traces tell of them.
const WHY_NOT: &str = "which operations carried the data of a call: file operations were not recorded (posix off), the calls failed as the file \
                       could not be opened, a filter left the rest out, or the trace was made of one of another format. The SLOG2 file that the \
                       recorder writes with posix mpiio tells it, and block files do; mpitrace report --by file shows what calls on files took";

/// The attribution records of a trace, to be gone through as often as needed.
pub struct AttributionInput {
    trace: TraceInput,
    quiet: bool,
}

impl AttributionInput {
    /// Input from an opened trace.
    ///
    /// # Errors
    /// If it is of a format that holds no attribution records about I/O.
    pub fn new(trace: TraceInput, quiet: bool) -> Result<Self, Failure> {
        if matches!(trace.format, Format::Blocks | Format::Slog2) {
            return Ok(AttributionInput { trace, quiet });
        }
        Err(Failure::Call(format!(
            "{} is {}, which does not tell {NOT_TOLD}",
            trace.name().display(),
            trace.format.with_article()
        )))
    }

    /// Fails if calls of the trace access data and no record tells which, as in an SLOG2 file that was made of a trace of another format.
    fn lacks_accesses(&self, report: &IoReport, facts: &RunFacts) -> Result<(), Failure> {
        if !report.is_empty() {
            return Ok(());
        }
        let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
        let accesses = facts.calls.iter().filter(|(name, _)| {
            let access = table.get(name).and_then(|function| function.io);
            access.is_some_and(|access| access.phase != Phase::End)
        });
        match accesses.map(|(_, sum)| sum.calls).sum::<u64>() {
            0 => Ok(()),
            calls => Err(Failure::Data(format!(
                "{}: of {} to data in files the trace does not tell {WHY_NOT}",
                self.trace.name().display(),
                counted(calls, "access"),
            ))),
        }
    }

    /// The trace.
    pub fn trace(&self) -> &TraceInput {
        &self.trace
    }

    /// Bits of the counter in a CallID. Block files say it; in other traces it is found by calls of which the rank is known.
    pub fn counter_bits(&self) -> Result<u32, Failure> {
        if let Some(file) = self.blocks()?.first() {
            return Ok(file.info().counter_bits);
        }
        let mut found = None;
        self.for_each(|record| {
            if let (None, AttributionRecord::Call(call)) = (found, record)
                && let Actor::Rank(rank @ 1..) = call.place.lane.actor
            {
                found = (1..64).find(|bits| call.call >> bits == u64::from(rank));
            }
        })?;
        Ok(found.unwrap_or(IoReportOptions::default().counter_bits))
    }

    fn blocks(&self) -> Result<Vec<BlockFile<'_>>, Failure> {
        if self.trace.format != Format::Blocks {
            return Ok(Vec::new());
        }
        self.trace.tell_damage();
        self.trace.block_files()
    }

    /// What the states of the trace say beside the report: other calls, and who waited for whom. Of some files only, states do not tell.
    ///
    /// # Errors
    /// The trace cannot be read, or it has accesses of which it does not tell what the report needs.
    pub fn run_facts(
        &self,
        report: &IoReport,
        rank: Option<u32>,
        takes_all_files: bool,
    ) -> Result<RunFacts, Failure> {
        let source = self.trace.source()?;
        let definitions = source.definitions();
        let mut collector = RunFactsCollector::new(definitions, rank);
        let mut waits = PerformanceCollector::new(definitions, &PerformanceOptions::default());
        if takes_all_files {
            let name = self.trace.name().display().to_string();
            let progress = TaskProgress::drawables(&name, self.quiet);
            for_each_in_order(source.as_ref(), DrawableOrder::Start, &mut |drawable| {
                progress.step();
                collector.put(drawable);
                waits.put(drawable);
                Ok(())
            })
            .map_err(failure)?;
        }
        let waits = takes_all_files.then(|| waits.finish());
        let facts = RunFacts {
            library: report.library(),
            file_system: file_system::of(report),
            ..collector.finish(waits.as_ref())
        };
        self.lacks_accesses(report, &facts)?;
        Ok(facts)
    }

    /// Gives all attribution records to `put`, and returns the totals of the attribution, where there was one.
    pub fn for_each(
        &self,
        mut put: impl FnMut(&AttributionRecord),
    ) -> Result<Option<AttributionTotals>, Failure> {
        let name = self.trace.name().display().to_string();
        let progress = TaskProgress::drawables(&name, self.quiet);
        let mut put = |record: &AttributionRecord| -> Result<(), Stop> {
            progress.step();
            put(record);
            Ok(())
        };
        if self.trace.format == Format::Blocks {
            let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
            let totals = attribute_files(&self.blocks()?, table, &mut put);
            return totals.map(Some).map_err(failure);
        }
        let source = self.trace.source()?;
        read_attribution_by_time(&*source, &mut put).map_err(failure)?;
        Ok(None)
    }
}
