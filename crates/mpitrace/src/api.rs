//! Traces of every format, and what the subcommands say of them, for programs that link the command: the Python package.
//!
//! [`TraceFiles`] give definitions, drawables, rows of tables, pictures and reports. What a picture of another format than SLOG2 cannot
//! show is said on stderr; nothing else is printed.

use crate::draw;
use crate::draw::png;
use crate::report;
use crate::trace_files::format::Format;
use crate::trace_files::losses::failure;
use crate::trace_files::trace::TraceInput;
use std::ops::ControlFlow;
use std::path::PathBuf;
use trace_formats::slog2::{InModel, InOrder, Slog2Error, Slog2Reader};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop, TimeBBox};

pub use crate::compare::{TraceComparison, compare};
pub use crate::draw::{DrawnPicture, PictureRequest};
pub use crate::failure::Failure;
pub use crate::report::{FocusChoice, NamedFocus};
pub use crate::terminal::table::Width;
pub use crate::trace_files::time_window::TimePosition;
pub use analysis::performance::PerformanceReport;
#[cfg(feature = "tables")]
pub use row_batches::RowBatches;
#[cfg(feature = "tables")]
pub use tables::{RowSelection, TableKind, timelines_batch};
pub use viewer_core::{Theme, TimelineSelection};

#[cfg(feature = "tables")]
mod row_batches;
#[cfg(feature = "tables")]
mod waits;

/// A trace that is open: its files are mapped, and read when something is asked.
pub struct TraceFiles {
    input: TraceInput,
}

impl TraceFiles {
    /// Opens the files of one trace of any format: several block files, or the DUMPI files of a run; of other formats only one.
    ///
    /// # Errors
    /// A file cannot be read, or is of no format that is known.
    pub fn open(files: &[PathBuf]) -> Result<TraceFiles, Failure> {
        let input = TraceInput::open_all(files)?;
        match input.format {
            Format::Perfetto | Format::Chrome | Format::Otf2 | Format::Parquet => {
                Err(Failure::Data(input.format.refusal(input.name())))
            }
            _ => Ok(TraceFiles { input }),
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
        match self.slog2()? {
            Some(reader) => Ok(of_reader(&reader)),
            None => Ok(self.input.source()?.definitions().clone()),
        }
    }

    /// First and last time of the trace, in seconds; `None` if nothing is in it. Only SLOG2 tells without being read from end to end.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn bounds(&self) -> Result<Option<TimeBBox>, Failure> {
        if let Some(reader) = self.slog2()? {
            return Ok(reader.root().map(|root| root.bounds));
        }
        let mut bounds: Option<TimeBBox> = None;
        self.reading(None)?.for_each(&mut |drawable| {
            for vertex in drawable.vertices {
                let bounds = bounds.get_or_insert(TimeBBox {
                    earliest: vertex.time,
                    latest: vertex.time,
                });
                bounds.earliest = bounds.earliest.min(vertex.time);
                bounds.latest = bounds.latest.max(vertex.time);
            }
            Ok(())
        })?;
        Ok(bounds)
    }

    /// The trace, or the drawables that overlap a window and perhaps others, ready to be read by start.
    ///
    /// # Errors
    /// A file is damaged.
    pub fn reading(&self, window: Option<TimeBBox>) -> Result<TraceReading<'_>, Failure> {
        let source: Box<dyn Source> = match (self.slog2()?, window) {
            (Some(reader), Some(window)) => Box::new(WindowSource {
                definitions: of_reader(&reader),
                reader,
                window,
            }),
            _ => self.input.source()?,
        };
        Ok(TraceReading {
            source,
            name: self.name(),
        })
    }

    /// The report on a part of the run, with figures for so many parts of its time.
    ///
    /// # Errors
    /// A file is damaged, or nothing is in that part.
    pub fn report(&self, focus: &FocusChoice, parts: usize) -> Result<PerformanceReport, Failure> {
        let (_, report) = report::analyse(&self.input, focus, parts, true)?;
        Ok(report)
    }

    /// What a report says first: where the time goes, in a sentence or two.
    pub fn verdict(&self, report: &PerformanceReport) -> String {
        report::words::verdict(report)
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
        report::html::page(&self.name(), &self.input, focus, report, true)
    }

    /// A picture of the trace.
    ///
    /// # Errors
    /// A file is damaged, or has nothing of what is wanted.
    pub fn picture(&self, wanted: &PictureRequest) -> Result<DrawnPicture, Failure> {
        draw::picture(&self.input, wanted, true)
    }
}

impl DrawnPicture {
    /// The picture as PNG.
    ///
    /// # Errors
    /// It has too many pixels.
    pub fn png(&self) -> Result<Vec<u8>, Failure> {
        png::render(&self.svg)
    }
}

/// What an SLOG2 file tells without being read from end to end.
fn of_reader(reader: &Slog2Reader<'_>) -> Definitions {
    let real = reader.categories().iter().filter(|c| c.index >= 0);
    Definitions {
        categories: real.cloned().collect(),
        lines: reader.lines().into_values().collect(),
        ..Definitions::default()
    }
}

/// A trace that is ready to be read.
pub struct TraceReading<'a> {
    source: Box<dyn Source + 'a>,
    name: String,
}

impl TraceReading<'_> {
    /// Categories and timelines.
    pub fn definitions(&self) -> &Definitions {
        self.source.definitions()
    }

    /// Gives all drawables to `put`, by start.
    ///
    /// # Errors
    /// A file is damaged, and the errors of `put`. Of an SLOG2 file whose drawables are not in order no window can be read.
    pub fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Failure> {
        let read = trace_model::for_each_in_order(self.source.as_ref(), DrawableOrder::Start, put);
        read.map(drop).map_err(|stop| {
            let stop = match stop.downcast::<Slog2Error>() {
                Ok(error) => error.in_file(&self.name).into(),
                Err(stop) => stop,
            };
            failure(stop)
        })
    }
}

/// A window of an SLOG2 file, of which nothing else is read.
struct WindowSource<'a> {
    reader: Slog2Reader<'a>,
    window: TimeBBox,
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
        let read = self
            .reader
            .for_each_in_order(self.window, &mut |primitive| {
                ended = in_model.put(primitive, &mut losses, &mut *put);
                match &ended {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                }
            })?;
        ended?;
        match read {
            InOrder::Disordered => Err("drawables that are not in order, of which no stretch of time can be read alone; read the whole trace".into()),
            InOrder::Complete { .. } | InOrder::Stopped => Ok(losses),
        }
    }
}
