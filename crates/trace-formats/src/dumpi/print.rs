//! The text of dumpi2ascii, byte for byte (`spec/dumpi-tools.md` section 2), its slips included where a trace shows them.

use std::io::{self, Write};

use super::error::DumpiError;
use super::functions::{self, FieldCode};
use super::names;
use super::read::DumpiReader;
use super::text::{Addresses, Labels, TextWriter};
use super::time;
use super::types::{AddressLabel, Keyval};
use crate::ConversionError;

pub use super::time::Zone;

/// Text that is collected before it goes to the output, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Parts of a file to print, in this order. The letters are dumpi2ascii's options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// `-H`
    pub header: bool,
    /// `-S`
    pub stream: bool,
    /// `-K`
    pub keyvals: bool,
    /// `-F`
    pub footer: bool,
    /// `-P`. Of a file without that section nothing but a zero is printed, which deserves a note.
    pub perf_labels: bool,
    /// `-A`
    pub address_labels: bool,
    /// `-X`
    pub type_sizes: bool,
}

impl Sections {
    /// `-a`
    pub const ALL: Sections = Sections {
        header: true,
        stream: true,
        keyvals: true,
        footer: true,
        perf_labels: true,
        address_labels: true,
        type_sizes: true,
    };
    /// The parts that are printed without options.
    pub const STREAM: Sections = Sections {
        header: false,
        stream: true,
        keyvals: false,
        footer: false,
        perf_labels: false,
        address_labels: false,
        type_sizes: false,
    };
}

/// Why a text ends early. What came before was printed.
pub type PrintError = ConversionError<DumpiError, io::Error>;

impl From<io::Error> for PrintError {
    fn from(e: io::Error) -> Self {
        PrintError::Output(e)
    }
}

impl From<DumpiError> for PrintError {
    fn from(e: DumpiError) -> Self {
        PrintError::Input(e)
    }
}

/// Prints parts of a file. Output goes out in large pieces, so `out` needs no buffer.
pub fn print(
    reader: &DumpiReader<'_>,
    sections: Sections,
    zone: Zone,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    let mut text = TextWriter {
        buf: Vec::with_capacity(BUFFER_BYTES + BUFFER_BYTES / 4),
    };
    let done = print_sections(reader, sections, zone, &mut text, out);
    out.write_all(&text.buf)?;
    out.flush()?;
    done
}

fn print_sections(
    reader: &DumpiReader<'_>,
    sections: Sections,
    zone: Zone,
    text: &mut TextWriter,
    out: &mut impl Write,
) -> Result<(), PrintError> {
    if sections.header {
        header(text, reader, zone);
    }
    if sections.stream {
        let labels = Labels {
            counters: reader.perf_labels()?.unwrap_or_default(),
            addresses: Addresses::new(reader.address_labels()?.unwrap_or_default()),
        };
        for record in reader.records() {
            text.record(&record?, &labels);
            if text.buf.len() >= BUFFER_BYTES {
                out.write_all(&text.buf)?;
                text.buf.clear();
            }
        }
    }
    if sections.keyvals {
        let pairs = reader.keyvals()?.unwrap_or_default();
        text.str("Total keyvals: ").number(pairs.len()).str("\n");
        for Keyval { key, value } in &pairs {
            text.str("    ").bytes(key).str("=").bytes(value).str("\n");
        }
    }
    if sections.footer
        && let Some(footer) = reader.footer()?
    {
        for (f, (called, ignored)) in functions::all()
            .iter()
            .zip(footer.called.iter().zip(footer.ignored.iter()))
        {
            text.str(f.name)
                .str(" called ")
                .number(*called)
                .str(" times and ignored ");
            text.number(*ignored).str(" times\n");
        }
    }
    if sections.perf_labels {
        let labels = reader.perf_labels()?.unwrap_or_default();
        text.str("Performance counters: ")
            .number(labels.len())
            .str("\n");
        for label in &labels {
            text.str("    ").bytes(label).str("\n");
        }
    }
    if sections.address_labels {
        for AddressLabel { key, label } in reader.address_labels()?.unwrap_or_default() {
            text.str("Function address ")
                .number(key)
                .str(" has label ")
                .bytes(&label)
                .str("\n");
        }
    }
    if sections.type_sizes {
        for (i, size) in reader
            .type_sizes()?
            .unwrap_or_default()
            .into_iter()
            .enumerate()
        {
            let name = names::name(FieldCode::Dt, i32::try_from(i).unwrap_or(i32::MAX))
                .unwrap_or_default();
            text.str("Datatype ")
                .number(i)
                .str(" (")
                .str(name)
                .str(") has size ")
                .number(size)
                .str("\n");
        }
    }
    Ok(())
}

fn header(text: &mut TextWriter, reader: &DumpiReader<'_>, zone: Zone) {
    let Some(h) = reader.header() else { return };
    text.str("version=")
        .number(h.version.major)
        .str(".")
        .number(h.version.minor)
        .str(".")
        .number(h.version.patch);
    text.str("\nstarttime=").str(
        time::ctime(h.starttime, zone)
            .as_deref()
            .unwrap_or("(null)"),
    );
    text.str("\nhostname=")
        .bytes(&h.hostname)
        .str("\nusername=")
        .bytes(&h.username);
    text.str("\nmeshdim=")
        .number(h.mesh_coords.len())
        .str("\nmeshsize=[");
    text.joined(h.mesh_sizes.iter().copied(), TextWriter::number_item);
    text.str("]\nmeshcrd=[")
        .joined(h.mesh_coords.iter().copied(), TextWriter::number_item);
    text.str("]\n");
}
