//! `mpitrace convert`: from any format to any other that can hold it.
//!
//! Where an original tool made the same conversion (clog2TOslog2, clog2alog, clog2slog), its bytes are made; the others go through the model.

use crate::failure::Failure;
use crate::filter;
use crate::terminal::progress::TaskProgress;
use crate::terminal::tell;
use crate::trace_files::archive_parts;
use crate::trace_files::clog2;
use crate::trace_files::dumpi;
use crate::trace_files::format::Format;
use crate::trace_files::input::shown;
use crate::trace_files::losses::report_losses;
use crate::trace_files::mpe1;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::shape::FrameArguments;
use crate::trace_files::shape::TreeArguments;
use crate::trace_files::slog1;
use crate::trace_files::target::{OutputFile, Target};
use crate::trace_files::trace::TraceInput;
use crate::updates::write_updated;
use std::path::{Path, PathBuf};
use trace_formats::paje;
use trace_formats::slog2::{
    self, ConvertError, ConvertOptions, Slog2Conversion, Slog2ErrorKind, TreeOptions,
    annotate_with_progress, convert_with_progress,
};
use trace_model::{Losses, PartNumber};

/// Convert a trace to another format
///
/// The input format is detected from content; the output format from the file extension or `--to`. Stderr shows what
/// was written, what was unusual in the input, and how much the output format could not hold. The output gets its name
/// only when it is complete.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace convert run.clog2 run.slog2            as clog2TOslog2, to the byte
  mpitrace convert old.clog old.alog              as clog2alog, to the byte
  mpitrace convert --frame 8k --frames 12 old.clog old.slog   as clog2slog -f=8 -d=12, to the byte
  mpitrace convert --leaf auto run.clog2 big.slog2
  mpitrace convert run.clog2 run.slog2a           a tree of previews, with the rest in run.clog2
  mpitrace convert run.slog2a run.slog2           with run.clog2 beside it: the full file
  mpitrace convert lmp-2026.11.20.08.15.00.meta run.slog2
  mpitrace convert dumpi-0000.txt dumpi-0000.bin  as ascii2dumpi tried
  mpitrace convert libtrace.*.blocks run.clog2
  mpitrace convert run.slog2 run.trace            for ViTE and pajeng
  mpitrace convert run.slog2 run.pftrace          for ui.perfetto.dev
  mpitrace convert run.slog2 run.json             for Chrome, small traces
  mpitrace convert run.slog2 run.otf2             for Vampir, Scalasca and ViTE: a folder
  mpitrace convert --part 3/8 run.slog2 run.parts        the third of eight jobs, for OTF2
  mpitrace convert --join run.parts run.slog2 run.otf2   when all of them have ended
  mpitrace convert scorep/traces.otf2 run.slog2   a trace of Score-P
  mpitrace convert run.slog2 run.parquet          for DuckDB, pandas, polars and Spark: a folder
  mpitrace convert run.slog2 run.arrow            the same tables, larger and mapped at once
  mpitrace convert --to slog2 - - <run.clog2 >run.slog2")]
pub struct Arguments {
    /// The files of the trace, then the file to write; - is stdin or stdout
    #[arg(required = true, value_name = "IN... OUT")]
    files: Vec<PathBuf>,
    /// Format of the output [default: from the file extension]
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    tree: TreeArguments,
    #[command(flatten)]
    frames: FrameArguments,
    /// Size of a block of a CLOG2 file in bytes [default: 65536; from CLOG2 to CLOG2 that of the input]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(192..=1 << 30))]
    block_size: Option<u32>,
    /// Write ALOG as MPE does: without names of the program and the processes, with texts of at most 15 bytes
    #[arg(long)]
    mpe: bool,
    /// Write an annotation file: an SLOG2 file without leaves. Readers take the leaves from the CLOG2 file, which must
    /// stay beside it. The file extension .slog2a asks for it, too (from CLOG2 to SLOG2)
    #[arg(long)]
    annotation: bool,
    /// Write the bytes that ascii2dumpi writes, with its omissions (from DUMPI text to DUMPI)
    #[arg(long)]
    like_original: bool,
    /// Report drawables that are not in order of increasing end time (from CLOG2 to SLOG2)
    #[arg(long)]
    check: bool,
    /// Names of the fields in a Pajé trace: those of 2012 and later, or those of the first report [default: new; from
    /// Pajé to Pajé those of the input]
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<PajeDialect>,
    /// Leave out what calls waited for, which takes three quarters of the time (to Parquet and Arrow)
    #[arg(long)]
    no_waits: bool,
    /// Be job I of N that write an OTF2 archive together: write the locations of some of the ranks into the folder OUT
    #[arg(long, value_name = "I/N", conflicts_with = "force")]
    part: Option<PartNumber>,
    /// Make the OTF2 archive of the parts that all jobs have left in this folder, and remove them. IN is what the parts were made of
    #[arg(long, value_name = "FOLDER", conflicts_with = "part")]
    join: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// Names of the fields of Pajé.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PajeDialect {
    /// Type, StartContainer, EndContainer
    New,
    /// ContainerType, EntityType, SourceContainer, DestContainer
    #[value(name = "2003")]
    Old,
}

impl From<PajeDialect> for paje::FieldDialect {
    fn from(dialect: PajeDialect) -> Self {
        match dialect {
            PajeDialect::New => paje::FieldDialect::New,
            PajeDialect::Old => paje::FieldDialect::Old,
        }
    }
}

/// Bytes of a mapped file that are given back at a time; a whole number of pages.
const RELEASE_STEP_BYTES: usize = 8 << 20;

/// Warnings that are shown in full.
const MAX_SHOWN_WARNINGS: usize = 10;

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Some((output, inputs)) = arguments.files.split_last() else {
        return Err(Failure::Call("no files".into()));
    };
    if inputs.is_empty() {
        let message = "expected a file to read, and behind it the file to write";
        return Err(Failure::Call(message.into()));
    }
    if let Some(part) = arguments.part {
        if arguments.to.is_some_and(|format| format != Format::Otf2) {
            let message = "--part writes a part of an OTF2 archive, expected no other --to";
            return Err(Failure::Call(message.into()));
        }
        let trace = TraceInput::open_all(inputs)?;
        report_losses(&archive_parts::write(&trace, output, part)?, output);
        return Ok(());
    }
    arguments.overwrite.allow(output, inputs)?;
    let mut target = Target::new(output, arguments.to, &arguments.tree)?;
    target.allow(arguments.mpe.then_some("--mpe"), &[Format::Alog])?;
    let block_size = arguments.block_size.map(|_| "--block-size");
    target.allow(block_size, &[Format::Clog2])?;
    target.allow(arguments.dialect.map(|_| "--dialect"), &[Format::Paje])?;
    target.allow(arguments.frames.given(), &[Format::Slog1])?;
    let no_waits = arguments.no_waits.then_some("--no-waits");
    target.allow(no_waits, &[Format::Parquet, Format::Arrow])?;
    target.mpe = arguments.mpe;
    target.no_waits = arguments.no_waits;
    target.block_size = arguments.block_size;
    target.dialect = arguments.dialect.map_or(target.dialect, Into::into);
    target.frames = arguments.frames.clone();
    let trace = TraceInput::open_all(inputs)?;
    // A metafile and a folder stand for files that are read, too.
    let read: Vec<&PathBuf> = trace.files.iter().map(|(path, _)| path).collect();
    arguments.overwrite.allow(output, &read)?;
    if is_annotation(arguments, output) {
        return annotation(arguments, &trace, &target);
    }
    refuse_misplaced(arguments, &trace, &target)?;
    if let Some(parts) = &arguments.join {
        target.allow(Some("--join"), &[Format::Otf2])?;
        archive_parts::join(&trace, parts, &target)?;
        report(&Losses::default(), &target, arguments.quiet);
        return Ok(());
    }
    let losses = match (trace.format, target.format) {
        (Format::Clog2, Format::Slog2) => return clog2_to_slog2(arguments, &trace, &target),
        (Format::Paje, Format::Paje) => return paje_to_paje(arguments, &trace, &target),
        (Format::Dumpi, Format::Dumpi)
            if trace.files.len() == 1
                && output.extension().is_none_or(|ending| ending != "meta") =>
        {
            return filter::whole_dumpi(trace.bytes(), trace.name(), &target, arguments.quiet);
        }
        (Format::Clog2, Format::Clog2) => clog2::convert(&trace, &target)?,
        (Format::Slog2, Format::Slog2) => {
            slog2_to_slog2(&trace, &target)?;
            Losses::default()
        }
        (Format::Clog1 | Format::Alog, Format::Clog1 | Format::Alog) if !arguments.mpe => {
            mpe1::convert(&trace, &target)?
        }
        (Format::Clog1, Format::Slog1) => slog1::from_clog1(&trace, &target)?,
        // With other frames it is another file.
        (Format::Slog1, Format::Slog1) if target.frames.given().is_none() => {
            slog1::copy(&trace, &target)?
        }
        (Format::DumpiText, Format::Dumpi) => {
            dumpi::text_to_file(&trace, &target, arguments.like_original)?
        }
        (Format::Dumpi, Format::DumpiText) => dumpi::file_to_text(&trace, &target)?,
        _ => target.write(trace.source()?.as_ref(), arguments.quiet)?,
    };
    report(&losses, &target, arguments.quiet);
    Ok(())
}

/// Refuses options that mean nothing for these formats, and a way that another command goes.
fn refuse_misplaced(
    arguments: &Arguments,
    trace: &TraceInput,
    target: &Target,
) -> Result<(), Failure> {
    let formats = (trace.format, target.format);
    let (from, to) = (trace.name().display(), target.path.display());
    let options = [
        ("--check", arguments.check, (Format::Clog2, Format::Slog2)),
        (
            "--like-original",
            arguments.like_original,
            (Format::DumpiText, Format::Dumpi),
        ),
    ];
    for (option, is_given, only) in options {
        if is_given && formats != only {
            return Err(Failure::Call(format!(
                "{option} has no meaning from {from}, which is {}, to {}; expected {} to {}",
                trace.format.with_article(),
                target.format,
                only.0,
                only.1
            )));
        }
    }
    match formats {
        (Format::Blocks, Format::Dumpi | Format::DumpiText) => Err(Failure::Call(format!(
            "{to}: mpitrace recover --formats dumpi makes the DUMPI files of block files"
        ))),
        _ => Ok(()),
    }
}

fn report(losses: &Losses, target: &Target, quiet: bool) {
    report_losses(losses, &target.path);
    if !quiet {
        tell!("mpitrace: {}: written", target.path.display());
    }
}

/// Writes an SLOG2 file as SLOG2: as it is, or with another tree or version. Composites and views stay.
fn slog2_to_slog2(trace: &TraceInput, target: &Target) -> Result<(), Failure> {
    let bad = |error: slog2::Slog2Error| {
        Failure::in_file_or_output(error, trace.name(), target.path.display())
    };
    let reader = slog2::Slog2Reader::new(trace.bytes()).map_err(bad)?;
    if reader.layout() == slog2::Slog2Layout::V205 || target.tree.given().is_some() {
        return write_updated(&reader, trace.name(), target).map(|_| ());
    }
    target.fill(|out| {
        let (out, _) = slog2::rewrite(&reader, reader.layout(), out).map_err(bad)?;
        Ok((out, ()))
    })
}

fn clog2_to_slog2(
    arguments: &Arguments,
    trace: &TraceInput,
    target: &Target,
) -> Result<(), Failure> {
    let input = trace.bytes();
    let options = clog2_options(arguments, trace, target);
    write_clog2(arguments, trace, target, |out, tell| {
        convert_with_progress(input, out, options, tell)
    })
}

/// Whether the output is to be an annotation file.
fn is_annotation(arguments: &Arguments, output: &Path) -> bool {
    arguments.annotation || output.extension().is_some_and(|ending| ending == "slog2a")
}

fn annotation(arguments: &Arguments, trace: &TraceInput, target: &Target) -> Result<(), Failure> {
    let name = trace.name().file_name().and_then(|name| name.to_str());
    let (Format::Clog2, Format::Slog2, Some(name), false) = (
        trace.format,
        target.format,
        name,
        arguments.files[0].as_os_str() == "-",
    ) else {
        return Err(Failure::Call(format!(
            "{}: an annotation is an SLOG2 file that points into a CLOG2 file; {} is {}{}",
            target.path.display(),
            trace.name().display(),
            trace.format.with_article(),
            if trace.format == Format::Clog2 {
                " without a name that can be noted"
            } else {
                ""
            }
        )));
    };
    let input = trace.bytes();
    let options = clog2_options(arguments, trace, target);
    write_clog2(arguments, trace, target, |out, tell| {
        annotate_with_progress(input, name, out, options, tell)
    })?;
    let beside = target.path.with_file_name(name);
    if !beside.exists() {
        tell!(
            "mpitrace: warning: {} is read together with {}, which is not there yet",
            target.path.display(),
            beside.display()
        );
    }
    Ok(())
}

fn clog2_options(arguments: &Arguments, trace: &TraceInput, target: &Target) -> ConvertOptions {
    let lines = trace_formats::clog2::Clog2Reader::new(trace.bytes()).map_or(1, |reader| {
        let preamble = reader.preamble();
        u64::from(preamble.max_comm_world_size) * u64::from(preamble.max_thread_count)
    });
    ConvertOptions {
        tree: target.tree.options(lines, TreeOptions::default()),
        check_end_times: arguments.check,
    }
}

/// Writes what `make` makes of a CLOG2 file, given the output and whom to tell of the bytes done.
fn write_clog2(
    arguments: &Arguments,
    trace: &TraceInput,
    target: &Target,
    make: impl FnOnce(
        OutputFile,
        &mut dyn FnMut(u64),
    ) -> Result<(OutputFile, Slog2Conversion), ConvertError>,
) -> Result<(), Failure> {
    let failed = |error: ConvertError| failure(error, trace.name(), &target.path);
    let shown = trace.name().display().to_string();
    let bytes = trace.bytes().len() as u64;
    let progress = TaskProgress::bytes(&shown, bytes, arguments.quiet);
    let conversion = target.fill(|out| {
        // Parts that are done need not stay in memory, however large the file.
        let mut released = 0;
        let mut tell = |done: u64| {
            progress.at(done);
            let done = usize::try_from(done).unwrap_or(usize::MAX);
            if done.saturating_sub(released) >= RELEASE_STEP_BYTES
                && let Some((_, input)) = trace.files.first()
            {
                input.release(released..done);
                released = done;
            }
        };
        let (out, conversion) = make(out, &mut tell).map_err(failed)?;
        Ok((out, conversion))
    })?;
    drop(progress);
    if !arguments.quiet {
        report_conversion(&conversion, &target.path);
    }
    Ok(())
}

/// The trace as it stands, with other names of fields if that is asked for.
fn paje_to_paje(arguments: &Arguments, trace: &TraceInput, target: &Target) -> Result<(), Failure> {
    let dialect = arguments.dialect.map(paje::FieldDialect::from);
    target.fill(|mut out| {
        paje::rewrite(trace.bytes(), dialect, &mut out).map_err(|error| {
            Failure::in_file_or_output(error, trace.name(), target.path.display())
        })?;
        Ok((out, ()))
    })?;
    report(&Losses::default(), target, arguments.quiet);
    Ok(())
}

fn failure(error: ConvertError, input: &Path, output: &Path) -> Failure {
    let input = shown(input);
    match error {
        ConvertError::Clog2(error) => Failure::in_file(error, input),
        ConvertError::LittleEndian => Failure::file(input, error),
        ConvertError::Slog2(error) => match error.kind {
            Slog2ErrorKind::NoDrawables => Failure::file(input, error),
            _ => Failure::in_file(error, output),
        },
    }
}

/// The last lines of clog2TOslog2 in short, on stderr, and what the conversion passed over.
fn report_conversion(conversion: &Slog2Conversion, output: &Path) {
    let warnings = &conversion.warnings;
    for warning in warnings.first.iter().take(MAX_SHOWN_WARNINGS) {
        tell!("mpitrace: warning: {warning}");
    }
    let shown = warnings.first.len().min(MAX_SHOWN_WARNINGS) as u64;
    if warnings.total > shown {
        tell!("mpitrace: and {} warnings more", warnings.total - shown);
    }
    tell!(
        "mpitrace: {}: {} drawables, {} unmatched events, {} bytes of records, tree of depth {}",
        output.display(),
        conversion.drawables,
        conversion.unmatched_events,
        conversion.record_bytes,
        conversion.header.max_depth
    );
}
