//! The formats of traces: how each is recognised, called and ended.

use crate::failure::Failure;
use crate::trace_files::input::shown;
use clap::ValueEnum;
use std::fmt;
use std::path::Path;

/// Format of an input or an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Events of MPE2 (.clog2)
    Clog2,
    /// Drawables in a tree over time, for viewers (.slog2)
    Slog2,
    /// Calls with all arguments: the .meta file of a run, or the .bin file of one rank
    Dumpi,
    /// Text of dumpi2ascii (.txt)
    DumpiText,
    /// Block files of the recorder (.blocks)
    Blocks,
    /// Text events of p4, upshot and MPE1 (.alog)
    Alog,
    /// Binary events of MPE1 (.clog)
    Clog1,
    /// Intervals in frames, for Jumpshot-3 (.slog)
    Slog1,
    /// Text of containers, states and links, for ViTE and pajeng (.trace, .paje)
    Paje,
    /// Slices, flows and counters, for ui.perfetto.dev (.pftrace); written only
    Perfetto,
    /// Slices, flows and counters as JSON, for small traces and chrome://tracing (.json); written only
    Chrome,
    /// Folder of definitions and events: traces of Score-P, for Vampir, Scalasca and others (.otf2); by the OTF2 library
    Otf2,
    /// Folder of tables, for DuckDB, pandas, polars, Spark and others (.parquet); written only
    Parquet,
    /// Folder of the tables that Parquet gets, as Arrow has them in memory, for who maps files (.arrow); written only
    Arrow,
}

impl Format {
    /// Format of these bytes; `None` if unknown.
    pub fn of(input: &[u8]) -> Option<Self> {
        if trace_formats::clog2::Clog2Reader::recognises(input) {
            Some(Format::Clog2)
        } else if trace_formats::slog2::Slog2Reader::recognises(input) {
            Some(Format::Slog2)
        } else if input.starts_with(&trace_formats::dumpi::MAGIC) {
            Some(Format::Dumpi)
        } else if input.starts_with(&blockfile::layout::FILE_MAGIC) {
            Some(Format::Blocks)
        } else if trace_formats::clog1::recognises(input) {
            Some(Format::Clog1)
        } else if trace_formats::slog1::Slog1Reader::recognises(input) {
            Some(Format::Slog1)
        } else if trace_formats::otf2::recognises(input) {
            Some(Format::Otf2)
        } else if !begins_with_a_line(input) {
            None
        } else if trace_formats::paje::PajeTrace::recognises(input) {
            Some(Format::Paje)
        } else if crate::trace_files::dumpi_run::is_meta(input) {
            Some(Format::Dumpi)
        } else if trace_formats::dumpi::from_text::recognises(input) {
            Some(Format::DumpiText)
        } else if trace_formats::alog::recognises(input) {
            // Last, because a text of numbers is all that makes an ALOG file.
            Some(Format::Alog)
        } else {
            None
        }
    }

    /// Format of these bytes. The error names the known formats.
    pub fn known(input: &[u8], path: &Path) -> Result<Self, Failure> {
        Format::of(input).ok_or_else(|| {
            let name = shown(path).display();
            if trace_formats::perfetto::recognises(input) {
                return Failure::Data(Format::Perfetto.refusal(path));
            }
            if trace_formats::chrome::recognises(input) {
                return Failure::Data(Format::Chrome.refusal(path));
            }
            let formats = Format::value_variants().iter();
            let read = formats.filter(|format| !format.is_written_only());
            let names: Vec<String> = read.map(|format| format.to_string()).collect();
            Failure::Data(format!(
                "{name}: byte 0: of no known format; expected one of {}",
                names.join(", ")
            ))
        })
    }

    /// Whether traces of this format are written and not read.
    pub fn is_written_only(self) -> bool {
        match self {
            Format::Perfetto | Format::Chrome => true,
            _ => self.is_of_tables(),
        }
    }

    /// Whether a trace of this format tells nothing of the communicators of calls.
    pub fn loses_communicators(self) -> bool {
        matches!(self, Format::Alog | Format::Clog1 | Format::Slog1)
    }

    /// Whether every arrow of this format is a message.
    pub fn has_only_messages(self) -> bool {
        matches!(self, Format::Clog2 | Format::Alog | Format::Clog1)
    }

    /// Whether a trace of this format is a dataset of tables.
    pub fn is_of_tables(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }

    /// Whether a trace of this format is a folder.
    pub fn is_folder(self) -> bool {
        self == Format::Otf2 || self.is_of_tables()
    }

    /// Why a file of a format that is written only is not read.
    pub fn refusal(self, path: &Path) -> String {
        let name = shown(path).display();
        let what = self.with_article();
        format!("{name}: {what}, which mpitrace writes and does not read")
    }

    /// What a file or folder of this format is, with an article.
    pub fn with_article(self) -> String {
        match self {
            Format::Parquet | Format::Arrow => "a dataset of tables".to_owned(),
            Format::Otf2 => "an OTF2 archive".to_owned(),
            Format::Slog2 | Format::Slog1 | Format::Alog => format!("an {self} file"),
            _ => format!("a {self} file"),
        }
    }

    /// The endings of names by which a file to be written tells its format, separated by commas.
    pub fn known_endings() -> String {
        let formats = Format::value_variants().iter();
        let written = formats.filter(|format| **format != Format::Blocks);
        let endings = written.flat_map(|format| format.endings());
        let dotted: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
        dotted.join(", ")
    }

    /// The format that a file name asks for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        let formats = Format::value_variants().iter().copied();
        let mut found = formats.filter(|format| format.endings().contains(&ending));
        found.next()
    }

    /// Endings of file names, without the dot.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Format::Clog2 => &["clog2"],
            Format::Slog2 => &["slog2", "slog2a"],
            Format::Dumpi => &["bin", "meta"],
            Format::DumpiText => &["txt"],
            Format::Blocks => &["blocks"],
            Format::Alog => &["alog"],
            Format::Clog1 => &["clog"],
            Format::Slog1 => &["slog", "slog1"],
            Format::Paje => &["trace", "paje"],
            Format::Perfetto => &["pftrace", "perfetto-trace"],
            Format::Chrome => &["json"],
            Format::Otf2 => &["otf2"],
            Format::Parquet => &["parquet"],
            Format::Arrow => &["arrow"],
        }
    }
}

/// Whether a line ends, or the file, within [`MAX_FIRST_LINE_BYTES`]. Else it is no text that a reader should search for the end
/// of a line: it may be a hole of 100 GB.
fn begins_with_a_line(input: &[u8]) -> bool {
    input.len() <= MAX_FIRST_LINE_BYTES || input[..MAX_FIRST_LINE_BYTES].contains(&b'\n')
}

/// Longest first line of a trace that is a text, bytes.
const MAX_FIRST_LINE_BYTES: usize = 1 << 16;

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Clog2 => "CLOG2",
            Format::Slog2 => "SLOG2",
            Format::Dumpi => "DUMPI",
            Format::DumpiText => "DUMPI text",
            Format::Blocks => "block",
            Format::Alog => "ALOG",
            Format::Clog1 => "CLOG-1",
            Format::Slog1 => "SLOG-1",
            Format::Paje => "Pajé",
            Format::Perfetto => "Perfetto",
            Format::Chrome => "Chrome JSON",
            Format::Otf2 => "OTF2",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
        })
    }
}
