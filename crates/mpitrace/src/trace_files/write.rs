//! Writing drawables to a file of any format.

use crate::failure::Failure;
use crate::system::cores;
use crate::terminal::progress::TaskProgress;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::losses::{failure, forgotten_waits, named};
use crate::trace_files::only_messages::OnlyMessages;
use crate::trace_files::pipeline;
use crate::trace_files::target::Target;
use analysis::performance::{WaitsOfCalls, waits_of_calls};
use std::path::{Path, PathBuf};
use trace_formats::{alog, chrome, clog1, clog2, otf2, paje, perfetto, slog1, slog2};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Sink, Source, Stop};
use trace_model::{Fault, FaultKind};

impl Target {
    /// A sink that makes the file. `waits` are those of the trace, for tables that have them.
    fn sink(
        &self,
        path: &Path,
        definitions: &Definitions,
        #[cfg_attr(not(feature = "tables"), expect(unused_variables))] waits: Option<&WaitsOfCalls>,
    ) -> Result<Box<dyn Sink>, Failure> {
        match self.format {
            Format::Slog2 => {
                let lines = definitions.lines.len() as u64;
                let options = self.tree.options(lines, slog2::TreeOptions::default());
                created(slog2::Slog2Sink::create(path, definitions, options), path)
            }
            Format::Paje => {
                let dialect = self.dialect;
                let options = paje::WriteOptions { dialect };
                created(paje::PajeSink::create(path, definitions, options), path)
            }
            Format::Perfetto => created(perfetto::PerfettoSink::create(path, definitions), path),
            Format::Chrome => created(chrome::ChromeSink::create(path, definitions), path),
            Format::Otf2 => created(otf2::Otf2Sink::create(path, definitions), path),
            #[cfg(feature = "tables")]
            Format::Parquet | Format::Arrow => {
                let format = match self.format {
                    Format::Arrow => tables::TableFormat::Arrow,
                    _ => tables::TableFormat::Parquet,
                };
                created(
                    tables::TablesSink::create(path, format, definitions, waits),
                    path,
                )
            }
            #[cfg(not(feature = "tables"))]
            Format::Parquet | Format::Arrow => Err(Failure::Call(format!(
                "{}: this mpitrace was built without tables (cargo's feature `tables`)",
                self.path.display()
            ))),
            Format::Alog => {
                let (is_mpe, creator) = (self.mpe, None);
                let options = alog::AlogOptions { is_mpe, creator };
                created(alog::AlogSink::create(path, definitions, options), path)
            }
            Format::Clog1 => created(clog1::Clog1Sink::create(path, definitions), path),
            Format::Clog2 => {
                let mut options = clog2::SinkOptions::default();
                options.block_size = self.block_size.unwrap_or(options.block_size);
                created(clog2::Clog2Sink::create(path, definitions, options), path)
            }
            Format::Slog1 => {
                let options = self.frames.options();
                created(slog1::Slog1Sink::create(path, definitions, options), path)
            }
            Format::Dumpi | Format::DumpiText | Format::Blocks => Err(Failure::Call(format!(
                "{}: a {} file holds the calls with all their arguments, which drawables do not have",
                self.path.display(),
                self.format
            ))),
        }
    }

    /// Makes the file of `source`, and says what was lost.
    pub fn write(&self, source: &dyn Source, quiet: bool) -> Result<Losses, Failure> {
        let messages = self
            .format
            .has_only_messages()
            .then(|| OnlyMessages::of(source));
        let source = messages.as_ref().map_or(source, |messages| messages);
        let progress = TaskProgress::drawables(&self.path.display().to_string(), quiet);
        let counted = CountingSource {
            source,
            progress: &progress,
        };
        let waits = match self.format.is_of_tables() && !self.no_waits {
            true => Some(self.waits(&counted)?),
            false => None,
        };
        self.place(|path| {
            let definitions = source.definitions();
            if cores() > 1 {
                return pipeline::convert(&counted, || {
                    self.sink(path, definitions, waits.as_ref())
                });
            }
            let sink = self.sink(path, definitions, waits.as_ref())?;
            trace_model::convert(&counted, sink).map_err(failure)
        })
    }

    /// The waits of a trace, for which it is read once more. Says which are missing.
    fn waits(&self, source: &dyn Source) -> Result<WaitsOfCalls, Failure> {
        let found = waits_of_calls(source).map_err(failure)?;
        if let Some(missing) = forgotten_waits(&self.path.display().to_string(), &found) {
            tell!("mpitrace: {missing}");
        }
        Ok(found)
    }
}

/// A sink that was created, or why it could not be. Whatever goes wrong with it says of which file.
fn created<K: FaultKind + Send + Sync + 'static>(
    sink: Result<impl Sink + 'static, Fault<K>>,
    path: &Path,
) -> Result<Box<dyn Sink>, Failure> {
    let path = path.to_path_buf();
    match sink {
        Ok(sink) => Ok(Box::new(FileNamingSink { sink, path })),
        Err(error) => Err(failure(named(error.into(), &path))),
    }
}

/// A sink whose errors name its file.
struct FileNamingSink<S> {
    sink: S,
    path: PathBuf,
}

impl<S: Sink> Sink for FileNamingSink<S> {
    fn order(&self) -> DrawableOrder {
        self.sink.order()
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let done = self.sink.put(drawable);
        done.map_err(|stop| named(stop, &self.path))
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let FileNamingSink { sink, path } = *self;
        Box::new(sink).finish().map_err(|stop| named(stop, &path))
    }
}

/// A source whose drawables are counted on the way.
pub struct CountingSource<'a> {
    /// The source.
    pub source: &'a dyn Source,
    /// Progress that counts the drawables.
    pub progress: &'a TaskProgress,
}

impl Source for CountingSource<'_> {
    fn definitions(&self) -> &Definitions {
        self.source.definitions()
    }

    fn order(&self) -> DrawableOrder {
        self.source.order()
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        self.source.for_each(&mut |drawable| {
            self.progress.step();
            put(drawable)
        })
    }
}
