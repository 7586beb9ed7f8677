//! The files of a run.

use super::convert::{Converter, Outcome};
use crate::PendingFile;
use crate::dumpi::meta::{self, Meta};
use crate::dumpi::types::{Header, Mask, Offsets, Span, Trailer, Version};
use crate::dumpi::write::{FileWriter, Head, LIBDUMPI, WriteError, Writer};
use crate::project::clock::ClockMap;
use crate::project::timeline::Timeline;
use records::define::{ClockReading, Definition, Process};
use records::file::File;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wrappers::Table;

/// What is to be written and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What all file names begin with (setting `fileroot`), directories included; they must exist.
    pub root: PathBuf,
    /// The run's time stamp in file names, `2026.11.20.05.32.58`: the same on all ranks.
    pub stamp: String,
    /// Whether cpu times are written, where they were recorded (setting `timestamp cpu` and `full`).
    pub cpu: bool,
    /// Whether wall times are written (setting `timestamp wall` and `full`).
    pub wall: bool,
    /// Status bits of the record masks (setting `statuses`): [`Mask::STATUSES`], [`Mask::STATUSES_OF_SUCCESS`] or 0.
    pub statuses: u8,
    /// Whether calls without a DUMPI id are written as pairs of pseudo calls (setting `extensions`).
    pub extensions: bool,
    /// Whether annotations have a Function_enter record (setting `tracing`). Their text is in the file in any case.
    pub enter: bool,
    /// Whether they have a Function_exit record.
    pub exit: bool,
}

impl Default for Options {
    /// Everything, in `dumpi-<stamp>…` of the working directory, the stamp empty.
    fn default() -> Options {
        Options {
            root: PathBuf::from("dumpi"),
            stamp: String::new(),
            cpu: true,
            wall: true,
            statuses: Mask::STATUSES,
            extensions: true,
            enter: true,
            exit: true,
        }
    }
}

impl Options {
    fn prefix(&self) -> PathBuf {
        let mut prefix = self.root.as_os_str().to_owned();
        prefix.push("-");
        prefix.push(&self.stamp);
        PathBuf::from(prefix)
    }

    /// Where the file of a rank goes.
    pub fn bin_path(&self, rank: u32) -> PathBuf {
        meta::bin_path(&self.prefix(), rank, 4)
    }

    /// Where the metafile goes.
    pub fn meta_path(&self) -> PathBuf {
        meta::meta_path(&self.prefix())
    }
}

/// What was written for one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The file.
    pub path: PathBuf,
    /// Its size, bytes.
    pub bytes: u64,
    /// Calls with a record of their own.
    pub calls: u64,
    /// Calls written as a pair of pseudo calls.
    pub extensions: u64,
    /// Annotations by MPI_Pcontrol.
    pub annotations: u64,
    /// Calls without a record, because DUMPI has none for them and extensions are off.
    pub left_out: u64,
    /// Calls without a record, because their arguments cannot be read.
    pub damaged: u64,
}

/// Why the files of a run were not written.
#[derive(Debug)]
pub enum Error {
    /// The block file was written with another function table.
    Table {
        /// Fingerprint in the block file.
        found: u64,
        /// Fingerprint of the table given.
        expected: u64,
    },
    /// The process has no rank: MPI_Init did not return.
    NoRank,
    /// Writing failed.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: WriteError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Table { found, expected } => write!(
                f,
                "written with function table {found:016x}, this program has {expected:016x}"
            ),
            Error::NoRank => write!(f, "the process ended before MPI_Init gave it a rank"),
            Error::Write {
                error: error @ WriteError::File { .. },
                ..
            } => error.fmt(f),
            Error::Write { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Write { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Writes the `.bin` file of the process that left `file`.
///
/// # Errors
/// If `file` was written with another function table than `table`, has no rank, or the output fails; no file is left then.
pub fn write(file: &File<'_>, table: &Table, options: &Options) -> Result<Summary, Error> {
    let rank = u32::try_from(file.info().rank).map_err(|_| Error::NoRank)?;
    let path = options.bin_path(rank);
    let failed = |error| Error::Write {
        path: path.clone(),
        error,
    };
    let about = prepare(file, table)?;
    let mut writer = FileWriter::create(&path, about.offsets).map_err(failed)?;
    let mut converter = Converter::new(table, file.info().family, options);
    let mut summary =
        stream(file, options, &about.clock, &mut converter, &mut writer).map_err(failed)?;
    let trailer = trailer(converter, about);
    let index = writer.finish(&trailer, LIBDUMPI).map_err(failed)?;
    // The index is what the file ends with, the table of names what stands before it.
    summary.bytes = fs::metadata(&path).map_or(index.address_labels, |m| m.len());
    summary.path = path;
    Ok(summary)
}

/// As [`write()`], to any output and whatever the rank; gives the output back.
///
/// # Errors
/// If `file` was written with another function table than `table` or the output fails.
pub fn write_to<W: Write>(
    file: &File<'_>,
    table: &Table,
    options: &Options,
    out: W,
) -> Result<(W, Summary), Error> {
    let failed = |error| Error::Write {
        path: PathBuf::from("DUMPI output"),
        error,
    };
    let about = prepare(file, table)?;
    let mut writer = Writer::new(out, about.offsets).map_err(failed)?;
    let mut converter = Converter::new(table, file.info().family, options);
    let summary =
        stream(file, options, &about.clock, &mut converter, &mut writer).map_err(failed)?;
    let trailer = trailer(converter, about);
    let (out, _) = writer.finish(&trailer, LIBDUMPI).map_err(failed)?;
    Ok((out, summary))
}

/// Writes the metafile of the run that `file` is a part of: the business of rank 0. Gives its path.
///
/// # Errors
/// If the file cannot be written; none is left then.
pub fn write_meta(file: &File<'_>, options: &Options) -> Result<PathBuf, Error> {
    let about = About::of(file);
    let prefix = options.prefix();
    let meta = Meta {
        hostname: about.header.hostname,
        numprocs: file.info().size,
        username: about.header.username,
        starttime: about.header.starttime,
        // Without directories: readers look beside the metafile.
        fileprefix: prefix
            .file_name()
            .unwrap_or_default()
            .as_encoded_bytes()
            .to_vec(),
        version: Version::CURRENT,
    };
    let path = options.meta_path();
    replace(&path, &meta.text()).map_err(|error| Error::Write {
        path: path.clone(),
        error: WriteError::Io(error),
    })?;
    Ok(path)
}

/// Writes a file that appears under its name only when it is complete.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = PendingFile::create(path)?;
    file.write_all(content)?;
    file.persist()
}

/// What the file says besides calls.
struct About {
    header: Header,
    clock: ClockMap,
    offsets: Offsets,
}

fn prepare(file: &File<'_>, table: &Table) -> Result<About, Error> {
    let (found, expected) = (file.info().table, table.fingerprint());
    if found != expected {
        return Err(Error::Table { found, expected });
    }
    Ok(About::of(file))
}

impl About {
    /// Goes over the definitions. The seconds that times count from must not be later than any of them.
    fn of(file: &File<'_>) -> About {
        let mut process = Process::default();
        let mut readings = Vec::new();
        let mut earliest = u64::MAX;
        let mut timeline = Timeline::new(file);
        while let Some(item) = timeline.next() {
            let record = item.record;
            if record.is_operation() {
                continue;
            }
            if !record.is_definition() {
                earliest = earliest.min(record.start);
                continue;
            }
            match Definition::decode(record.function, record.payload) {
                Some(Definition::Process(p)) => process = p,
                Some(Definition::Clock(reading)) => {
                    readings.push(reading);
                    earliest = earliest.min(reading.ticks);
                }
                // It has a record of its own.
                Some(Definition::Annotation { .. }) => earliest = earliest.min(record.start),
                _ => {}
            }
        }
        // Without comparisons with rank 0's clock: times are not corrected, as in the reference's files.
        let clock = ClockMap::new(file.info().clock, &readings, &[]);
        let first = readings.into_iter().min_by_key(|r| r.ticks);
        let first: ClockReading = first.unwrap_or_default();
        let wall = match earliest {
            u64::MAX => 0,
            ticks => nanoseconds(&clock, ticks) / SECOND,
        };
        let user = match process.user.as_str() {
            "" => "<none>",
            user => user,
        };
        About {
            header: Header {
                version: Version::CURRENT,
                starttime: first.realtime / SECOND,
                hostname: process.host.into_bytes(),
                username: user.as_bytes().to_vec(),
                mesh_coords: Vec::new(),
                mesh_sizes: Vec::new(),
            },
            clock,
            offsets: Offsets {
                cpu: (first.cpu / SECOND) as i32,
                wall: wall as i32,
            },
        }
    }
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC at `ticks`, ns.
#[inline]
fn nanoseconds(clock: &ClockMap, ticks: u64) -> u64 {
    u64::try_from(clock.monotonic_ns(ticks)).unwrap_or(0)
}

/// Writes all calls.
fn stream<W: Write>(
    file: &File<'_>,
    options: &Options,
    clock: &ClockMap,
    converter: &mut Converter<'_>,
    writer: &mut Writer<W>,
) -> Result<Summary, WriteError> {
    let mut mask = Mask::THREAD | (options.statuses & Mask::STATUSES);
    if options.wall {
        mask |= Mask::WALL;
    }
    let mut summary = Summary::default();
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let record = item.record;
        let head = || {
            let cpu = record.cpu.filter(|_| options.cpu);
            Head {
                mask: Mask(mask | cpu.map_or(0, |_| Mask::CPU)),
                thread: item.thread as u16,
                cpu: cpu.map_or(Span::default(), |(start, stop)| Span::from_ns(start, stop)),
                wall: Span::from_ns(
                    nanoseconds(clock, record.start),
                    nanoseconds(clock, record.stop()),
                ),
            }
        };
        if record.is_definition() {
            match Definition::decode(record.function, record.payload) {
                Some(Definition::Annotation { key, text }) => {
                    converter.annotation(writer, key, &text, &head())?;
                    summary.annotations += 1;
                }
                Some(definition) => converter.define(&definition),
                None => {}
            }
            continue;
        }
        // DUMPI knows MPI calls only.
        if record.is_operation() {
            continue;
        }
        let head = head();
        let count = match converter.call(writer, &record, &head)? {
            Outcome::Call => &mut summary.calls,
            Outcome::Extension => &mut summary.extensions,
            Outcome::LeftOut => &mut summary.left_out,
            Outcome::Damaged => &mut summary.damaged,
        };
        *count += 1;
    }
    Ok(summary)
}

fn trailer(converter: Converter<'_>, about: About) -> Trailer {
    let (footer, type_sizes, address_labels) = converter.finish();
    Trailer {
        header: about.header,
        footer,
        keyvals: Vec::new(),
        perf_labels: Vec::new(),
        type_sizes,
        address_labels,
    }
}
