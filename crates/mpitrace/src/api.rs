//! Traces of every format, and what the subcommands say of them, for programs that link the command: the Python package.
//!
//! [`TraceFiles`] give definitions, drawables, rows of tables, pictures and reports. What a picture of another format than SLOG2 cannot
//! show is said on stderr; nothing else is printed.

use crate::draw;
use crate::report;
use crate::system::torn_pages::PageGuard;
use crate::trace_files::format::Format;
use crate::trace_files::losses::{MPI_CONSTANT, failure};
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::trace::TraceInput;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use trace_formats::slog2::{
    InModel, InOrder, NodeSurvey, Primitive, Slog2Error, Slog2Reader, Slog2Source, StartRange,
};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop, TimeBBox};

pub use crate::compare::{TraceComparison, compare};
pub use crate::draw::{DrawnPicture, PictureFile, PictureRequest};
pub use crate::failure::Failure;
pub use crate::report::words::verdict;
pub use crate::report::{FocusChoice, NamedFocus};
pub use crate::terminal::table::Width;
pub use crate::trace_files::time_window::TimePosition;
pub use analysis::performance::PerformanceReport;
#[cfg(feature = "tables")]
pub use parts::TraceParts;
#[cfg(feature = "tables")]
pub use row_batches::{RowBatches, WaitColumns};
#[cfg(feature = "tables")]
pub use tables::{DefinitionTable, RowSelection, TableKind};
pub use viewer_core::{CategoryColors, Theme, TimelineSelection};
#[cfg(feature = "tables")]
pub use waits::SharedWaits;

#[cfg(feature = "tables")]
mod parts;
#[cfg(feature = "tables")]
mod row_batches;
#[cfg(feature = "tables")]
mod waits;

/// A trace that is open: its files are mapped, and read when something is asked.
pub struct TraceFiles {
    /// By file of the trace what tells that it was shortened. They go before the files.
    guards: Vec<Option<PageGuard>>,
    input: TraceInput,
    /// What is to be said of what was read.
    notes: Mutex<BTreeSet<String>>,
    /// Of an SLOG2 file, what the first reading of it as a whole found out for all others.
    survey: OnceLock<Arc<NodeSurvey>>,
}

impl TraceFiles {
    /// Opens the files of one trace of any format: several block files, or the DUMPI files of a run; of other formats only one.
    ///
    /// # Errors
    /// A file cannot be read, or is of no format that is known.
    pub fn open(files: &[PathBuf]) -> Result<TraceFiles, Failure> {
        let input = TraceInput::open_all(files)?;
        match input.format.is_written_only() {
            true => Err(Failure::Data(input.format.refusal(input.name()))),
            false => Ok(TraceFiles {
                guards: input.files.iter().map(|(_, input)| input.guard()).collect(),
                input,
                notes: Mutex::default(),
                survey: OnceLock::new(),
            }),
        }
    }

    /// What is missing in what was read so far, in words, each once. They are told here in place of stderr.
    pub fn take_notes(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.notes.lock())
    }

    /// Notes what could not be read of the trace. MPI's constants do not count: every CLOG2 file has three of them.
    #[cfg(feature = "tables")]
    fn note_losses(&self, mut losses: Losses) {
        losses.forget(MPI_CONSTANT);
        let name = self.name();
        let in_words = losses.iter();
        let in_words = in_words.map(|(what, count)| format!("{name}: {count} x {what}"));
        self.notes.lock().extend(in_words);
    }

    /// What was found out, unless a file was shortened meanwhile: what was read of it then is nothing.
    ///
    /// # Errors
    /// The error of `found`, or that a file was shortened, which comes first.
    fn unless_torn<T>(&self, found: Result<T, Failure>) -> Result<T, Failure> {
        let mut files = self.guards.iter().zip(&self.input.files);
        let is_torn = |guard: &Option<PageGuard>| guard.as_ref().is_some_and(PageGuard::is_torn);
        match files.find(|(guard, _)| is_torn(guard)) {
            None => found,
            Some((_, (path, _))) => Err(Failure::Data(format!(
                "{} was shortened while it was open: open it again",
                path.display()
            ))),
        }
    }

    /// Name of the format.
    pub fn format(&self) -> String {
        self.input.format.to_string()
    }

    /// Name of the trace: that of its first file.
    pub fn name(&self) -> String {
        self.input.name().display().to_string()
    }

    /// The file as SLOG2, of which windows can be read alone; `None` if it is in another format.
    fn slog2(&self) -> Result<Option<Slog2Reader<'_>>, Failure> {
        if self.input.format != Format::Slog2 {
            return Ok(None);
        }
        let reader = Slog2Reader::new(self.input.bytes());
        reader.map(Some).map_err(|error| self.damaged(error))
    }

    fn damaged(&self, error: Slog2Error) -> Failure {
        Failure::in_file(error, self.input.name())
    }

    /// Categories and timelines.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn definitions(&self) -> Result<Definitions, Failure> {
        let definitions = || match self.slog2()? {
            Some(reader) => Ok(reader.definitions()),
            None => Ok(self.input.source()?.definitions().clone()),
        };
        self.unless_torn(definitions())
    }

    /// First and last time of the trace, in seconds; `None` if nothing is in it. Only SLOG2 tells without being read from end to end.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn bounds(&self) -> Result<Option<TimeBBox>, Failure> {
        self.unless_torn(self.found_bounds())
    }

    fn found_bounds(&self) -> Result<Option<TimeBBox>, Failure> {
        if let Some(reader) = self.slog2()? {
            return Ok(reader.root().map(|root| root.bounds));
        }
        let mut bounds = TimeBBox::EMPTY;
        let source = self.source(None)?;
        source
            .for_each(&mut |drawable| {
                bounds.include(drawable.bounds());
                Ok(())
            })
            .map_err(failure)?;
        Ok((bounds.earliest <= bounds.latest).then_some(bounds))
    }

    /// The trace, or the drawables that overlap a window and perhaps others.
    fn source(&self, window: Option<TimeBBox>) -> Result<Box<dyn Source + '_>, Failure> {
        match (self.slog2()?, window) {
            (Some(reader), Some(window)) => Ok(Box::new(WindowSource {
                definitions: reader.definitions(),
                name: self.input.name(),
                reader,
                window,
                ranges: vec![StartRange::default()],
            })),
            (Some(reader), None) => {
                let survey = self.survey(&reader)?;
                Ok(Box::new(Slog2Source::surveyed(reader, survey)))
            }
            (None, _) => self.input.source(),
        }
    }

    /// What is found out of the nodes of the SLOG2 file, once.
    fn survey(&self, reader: &Slog2Reader<'_>) -> Result<Arc<NodeSurvey>, Failure> {
        if let Some(survey) = self.survey.get() {
            return Ok(survey.clone());
        }
        let survey = NodeSurvey::of(reader).map_err(|error| self.damaged(error))?;
        Ok(self.survey.get_or_init(|| Arc::new(survey)).clone())
    }

    /// The report on a part of the run, with figures for so many parts of its time.
    ///
    /// # Errors
    /// A file is damaged, or nothing is in that part.
    pub fn report(&self, focus: &FocusChoice, parts: usize) -> Result<PerformanceReport, Failure> {
        let analysed = report::analyse(&self.input, focus, parts, true);
        self.unless_torn(analysed.map(|(_, report)| report))
    }

    /// A report as text of 80 columns.
    pub fn report_text(&self, focus: &FocusChoice, report: &PerformanceReport) -> String {
        report::text::text(&self.name(), focus, report)
    }

    /// A report as a page that needs no other file.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn report_html(
        &self,
        focus: &FocusChoice,
        report: &PerformanceReport,
    ) -> Result<String, Failure> {
        let page = report::html::page(&self.name(), &self.input, focus, report, true);
        self.unless_torn(page)
    }

    /// Refuses to write `path` if it is a file of the trace, by whatever name or link.
    ///
    /// # Errors
    /// A failure of the call that names both.
    pub fn refuse_own(&self, path: &Path) -> Result<(), Failure> {
        let files: Vec<&PathBuf> = self.input.files.iter().map(|(file, _)| file).collect();
        Overwrite::FORCED.allow(path, &files)
    }

    /// A picture of the trace.
    ///
    /// # Errors
    /// A file is damaged, or has nothing of what is wanted.
    pub fn picture(&self, wanted: &PictureRequest) -> Result<DrawnPicture, Failure> {
        self.unless_torn(draw::picture(&self.input, wanted, true))
    }
}

/// What begins in some ranges of a window of an SLOG2 file, of which nothing else is read. There is none of a file whose drawables are not in order.
struct WindowSource<'a> {
    name: &'a Path,
    reader: Slog2Reader<'a>,
    window: TimeBBox,
    ranges: Vec<StartRange>,
    definitions: Definitions,
}

impl Source for WindowSource<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let in_model = InModel::new(self.reader.categories());
        let (mut losses, mut ended) = (Losses::default(), Ok(()));
        for range in &self.ranges {
            let mut take = |primitive: &Primitive<'_>| {
                if range.holds(primitive.bounds.earliest) {
                    ended = in_model.put(primitive, &mut losses, &mut *put);
                }
                match &ended {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            };
            let window = range.within(self.window);
            let read = self.reader.for_each_in_order(window, &mut take);
            let read = read.map_err(|error| error.in_file(self.name))?;
            std::mem::replace(&mut ended, Ok(()))?;
            if read == InOrder::Disordered {
                return Err(format!(
                    "{}: its drawables are not in order, so no stretch of time can be read alone: read the whole trace",
                    self.name.display()
                )
                .into());
            }
        }
        Ok(losses)
    }
}
