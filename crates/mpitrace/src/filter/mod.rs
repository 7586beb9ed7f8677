//! `mpitrace filter`: a part of a trace. slog2filter and dumpi2dumpi in one, for every format.

mod arguments;
mod dumpi;
mod dumpi_parts;
mod selection;

pub use arguments::Arguments;

use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::terminal::tell;
use crate::trace_files::edited::known_categories;
use crate::trace_files::format::Format;
use crate::trace_files::losses::report_losses;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use std::ffi::OsStr;
use std::path::Path;
use trace_formats::clog2::{Clog2Writer, Endian};
use trace_formats::slog2::{Slog2ErrorKind, Slog2Reader};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Source, Stop};
use transform::{Clog2Filter, Filtered, Selection, Slog2Filter};

/// Copies one rank's DUMPI file, with everything in it.
pub use dumpi::whole as whole_dumpi;

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let selection = arguments.selection.selection()?;
    let (input, output) = files(arguments)?;
    let to = arguments.to.or_else(|| Format::of_name(output));
    let is_run =
        arguments.dumpi.metafile.is_some() || input.extension() == Some(OsStr::new("meta"));
    if is_run && to.is_none_or(|to| to == Format::Dumpi) {
        return dumpi::run(arguments, &selection, input, output);
    }
    arguments.overwrite.allow(output, &[input])?;
    let trace = TraceInput::open(input)?;
    // A new file without a telling name is of the format of the old one.
    let to = to.unwrap_or(trace.format);
    if trace.format == Format::Dumpi && to == Format::Dumpi {
        drop(trace);
        return dumpi::file(arguments, &selection, input, output);
    }
    if let Some(option) = arguments.dumpi.given() {
        let name = trace.name().display();
        return Err(Failure::Call(format!(
            "{option} has no meaning for {name}, which is {}",
            trace.format.with_article()
        )));
    }
    let target = Target::new(output, Some(to), &arguments.tree)?;
    let wanted = &selection.categories.keep;
    if !wanted.is_empty() {
        known_categories("--category", wanted, &trace, trace.source()?.as_ref())?;
    }
    match (trace.format, to) {
        (Format::Slog2, Format::Slog2) => slog2(arguments, selection, &trace, &target),
        (Format::Clog2, Format::Clog2) if is_merged(&trace) => {
            clog2(arguments, &selection, &trace, &target)
        }
        _ if arguments.as_slog2filter => Err(Failure::Call(
            "--as-slog2filter needs SLOG2 as input and as output".into(),
        )),
        _ => {
            let source = trace.source()?;
            let filtered = Filtered::new(source.as_ref(), &selection);
            let selected = SelectedPart {
                filtered: &filtered,
                input: trace.name(),
            };
            let losses = target.write(&selected, arguments.quiet)?;
            report_losses(&losses, &target.path);
            let (kept, removed) = filtered.counts();
            report(arguments, output, kept, removed);
            Ok(())
        }
    }
}

/// Says that no drawable of a trace is selected, so that no file is made.
fn nothing_selected(input: &Path) -> Failure {
    Failure::file(input, "nothing of it is selected")
}

/// The selected part of the trace `input`, at whose end it is an error if that is nothing.
struct SelectedPart<'s> {
    filtered: &'s Filtered<'s>,
    input: &'s Path,
}

impl Source for SelectedPart<'_> {
    fn definitions(&self) -> &Definitions {
        self.filtered.definitions()
    }

    fn order(&self) -> DrawableOrder {
        self.filtered.order()
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let losses = self.filtered.for_each(put)?;
        match self.filtered.counts() {
            (0, 1..) => Err(nothing_selected(self.input).to_string().into()),
            _ => Ok(losses),
        }
    }
}

/// Input and output, from wherever they are given.
fn files(arguments: &Arguments) -> Result<(&Path, &Path), Failure> {
    let mut rest = arguments.files.iter();
    let named = arguments
        .dumpi
        .infile
        .as_ref()
        .or(arguments.dumpi.metafile.as_ref());
    let input = named.or_else(|| rest.next());
    let output = arguments.output.as_ref().or_else(|| rest.next());
    match (input, output, rest.next()) {
        (Some(input), Some(output), None) => Ok((input, output)),
        (None, ..) => Err(Failure::Call("no input file".into())),
        (_, None, _) => Err(Failure::Call("no output file".into())),
        (.., Some(extra)) => Err(Failure::Call(format!(
            "{}: one file too many",
            extra.display()
        ))),
    }
}

fn slog2(
    arguments: &Arguments,
    selection: Selection,
    trace: &TraceInput,
    target: &Target,
) -> Result<(), Failure> {
    let bad = |error: trace_formats::slog2::Slog2Error| {
        let file = match error.kind {
            Slog2ErrorKind::Io(_) => &target.path,
            _ => trace.name(),
        };
        Failure::in_file(error, file)
    };
    let reader = Slog2Reader::new(trace.bytes()).map_err(bad)?;
    let shape = crate::trace_files::edited::shape(trace)?;
    let lines = reader
        .line_id_maps()
        .first()
        .map_or(0, |map| map.rows().len());
    let filter = Slog2Filter {
        selection,
        tree: Some(target.tree.options(lines as u64, shape)),
        like_original: arguments.as_slog2filter,
    };
    let progress = TaskProgress::drawables(&target.path.display().to_string(), arguments.quiet);
    let rebuilt = target.fill(|out| {
        let (out, rebuilt) = filter
            .run(&reader, out, || progress.step())
            .map_err(|error| match error.kind {
                Slog2ErrorKind::NoDrawables => nothing_selected(trace.name()),
                _ => bad(error),
            })?;
        Ok((out, rebuilt))
    })?;
    drop(progress);
    report(arguments, &target.path, rebuilt.kept, rebuilt.removed);
    Ok(())
}

/// True for what MPE calls merged: big-endian, and of all ranks.
fn is_merged(trace: &TraceInput) -> bool {
    trace_formats::clog2::Clog2Reader::new(trace.bytes()).is_ok_and(|reader| {
        let preamble = reader.preamble();
        preamble.is_finalized && preamble.endian == Endian::Big
    })
}

fn clog2(
    arguments: &Arguments,
    selection: &Selection,
    trace: &TraceInput,
    target: &Target,
) -> Result<(), Failure> {
    let bad = |error: trace_formats::clog2::Clog2Error| {
        let error = match error.path {
            None => error.in_file(trace.name()),
            Some(_) => error,
        };
        Failure::Data(error.to_string())
    };
    let filter = Clog2Filter::new(trace.bytes()).map_err(bad)?;
    let selected = filter.select(selection).map_err(bad)?;
    if selected.is_nothing() {
        return Err(nothing_selected(trace.name()));
    }
    let records = target.place(|path| {
        let writer = Clog2Writer::create(path, filter.reader().preamble()).map_err(bad)?;
        let (_, records) = filter.run(&selected, writer).map_err(bad)?;
        Ok(records)
    })?;
    if !arguments.quiet {
        tell!(
            "mpitrace: {}: {} records kept, {} removed",
            target.path.display(),
            records.kept,
            records.removed
        );
    }
    Ok(())
}

fn report(arguments: &Arguments, output: &Path, kept: u64, removed: u64) {
    if !arguments.quiet {
        let name = output.display();
        tell!("mpitrace: {name}: {kept} drawables kept, {removed} removed");
    }
}
