//! DUMPI among the other formats: the files of a run, its drawables, and its text.

use crate::failure::Failure;
use crate::trace_files::dumpi_run::rank_of;
use crate::trace_files::input::shown;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::path::Path;
use trace_formats::dumpi::DumpiSource;
use trace_formats::dumpi::from_text::{FromTextError, FromTextOptions, Zone, from_text};
use trace_formats::dumpi::print::{PrintError, Sections, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_model::PendingFile;
use trace_model::{Definitions, Drawable, Losses, Stop};

/// A run as drawables.
pub fn source(trace: &TraceInput) -> Result<Box<dyn trace_model::Source + '_>, Failure> {
    let mut files: Vec<(u32, usize)> = Vec::new();
    for (nth, (path, _)) in trace.files.iter().enumerate() {
        let rank = rank_of(path).filter(|rank| files.iter().all(|(other, _)| other != rank));
        let free = files.iter().map(|(rank, _)| rank + 1).max().unwrap_or(0);
        files.push((rank.filter(|rank| *rank < 1 << 24).unwrap_or(free), nth));
    }
    files.sort_unstable();
    let ranks: Vec<(u32, &[u8])> = files
        .iter()
        .map(|&(rank, nth)| (rank, &*trace.files[nth].1))
        .collect();
    match DumpiSource::new(trace.processes, &ranks) {
        Ok(source) => Ok(Box::new(source)),
        Err((nth, error)) => {
            let path = &trace.files[files[nth].1].0;
            Err(Failure::file(shown(path), error))
        }
    }
}

/// The text of one rank as drawables: those of the file that it makes.
pub fn text_source(trace: &TraceInput) -> Result<Box<dyn trace_model::Source>, Failure> {
    let name = trace.name();
    let made = from_text(trace.bytes(), Vec::new(), &options(false));
    let (bytes, made) = made.map_err(|error| bad(name, name, error))?;
    let rank = rank_of(name).filter(|rank| *rank < 1 << 24).unwrap_or(0);
    let source =
        DumpiSource::new(0, &[(rank, &bytes)]).map_err(|(_, error)| Failure::file(name, error))?;
    Ok(Box::new(TextSource {
        definitions: trace_model::Source::definitions(&source).clone(),
        losses: made.losses,
        bytes,
        rank,
    }))
}

/// A file in memory that was made of a text.
struct TextSource {
    bytes: Vec<u8>,
    rank: u32,
    definitions: Definitions,
    losses: Losses,
}

impl trace_model::Source for TextSource {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let source =
            DumpiSource::new(0, &[(self.rank, &self.bytes)]).map_err(|(_, error)| error)?;
        let mut losses = source.for_each(put)?;
        losses.merge(&self.losses);
        Ok(losses)
    }
}

fn options(as_ascii2dumpi: bool) -> FromTextOptions {
    FromTextOptions {
        zone: Zone::Local,
        as_ascii2dumpi,
    }
}

fn bad(input: &Path, output: &Path, error: FromTextError) -> Failure {
    match error {
        FromTextError::Input(error) => Failure::file(input, error),
        FromTextError::Output(error) => Failure::file(output, error),
    }
}

/// The text of dumpi2ascii, all sections, back to a file.
pub fn text_to_file(
    trace: &TraceInput,
    target: &Target,
    as_ascii2dumpi: bool,
) -> Result<Losses, Failure> {
    let failed = |error: std::io::Error| Failure::output(target.path.display(), &error);
    target.place(|path| {
        let file = PendingFile::create(path).map_err(failed)?;
        let made = from_text(trace.bytes(), file, &options(as_ascii2dumpi));
        let (file, made) = made.map_err(|error| bad(trace.name(), &target.path, error))?;
        file.persist().map_err(failed)?;
        Ok(made.losses)
    })
}

/// A file as the text of dumpi2ascii, all sections.
pub fn file_to_text(trace: &TraceInput, target: &Target) -> Result<Losses, Failure> {
    let name = trace.name().display();
    if trace.files.len() > 1 {
        let message = format!("{name} and others: a DUMPI text is that of one rank");
        return Err(Failure::Call(message));
    }
    let reader = DumpiReader::open(trace.bytes());
    let reader = reader.map_err(|error| Failure::Data(format!("{name}: {error}")))?;
    let failed = |error: std::io::Error| Failure::output(target.path.display(), &error);
    target.place(|path| {
        let mut file = PendingFile::create(path).map_err(failed)?;
        print(&reader, Sections::ALL, Zone::Local, &mut file).map_err(|error| match error {
            PrintError::Output(error) => failed(error),
            PrintError::Input(error) => Failure::in_file(error, trace.name()),
        })?;
        file.persist().map_err(failed)?;
        Ok(Losses::default())
    })
}
