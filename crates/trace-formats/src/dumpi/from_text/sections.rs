//! The lines of the other sections.

use std::io::Write;

use super::super::functions::ALL_FUNCTIONS;
use super::super::time::{self, Zone};
use super::super::types::{AddressLabel, Keyval, Version};
use super::error::{Expected, TextError};
use super::scan::TextScan;
use super::{FromTextError, Maker};

/// Largest step from a datatype number to the next: their list is written in order, and each takes memory.
const MAX_SKIPPED_TYPES: usize = 1 << 16;

impl<'t, W: Write> Maker<'t, W> {
    /// Takes a line that is no record, and those that belong to it. `line` is the one at `scan`.
    pub(super) fn section(
        &mut self,
        scan: &mut TextScan<'t>,
        line: &'t [u8],
    ) -> Result<(), FromTextError> {
        let mut ahead = TextScan::new(line);
        let starts = |prefix: &str| line.starts_with(prefix.as_bytes());
        let value = |prefix: &str| line[prefix.len()..].to_vec();
        let header = &mut self.trailer.header;
        // The error of a part of the line, as one of the whole text.
        let bad = |error: TextError| placed(scan, error);
        if ahead.eat("version=") {
            header.version = version(&mut ahead).map_err(bad)?;
        } else if starts("starttime=") {
            header.starttime = start_time(&line["starttime=".len()..], self.options.zone)
                .ok_or_else(|| scan.error(Expected::Date))?;
        } else if starts("hostname=") {
            header.hostname = value("hostname=");
        } else if starts("username=") {
            header.username = value("username=");
        } else if ahead.eat("meshdim=") {
            ahead.number::<u32>().map_err(bad)?;
        } else if ahead.eat("meshsize=[") {
            header.mesh_sizes = numbers(&mut ahead).map_err(bad)?;
        } else if ahead.eat("meshcrd=[") {
            header.mesh_coords = numbers(&mut ahead).map_err(bad)?;
        } else if ahead.eat("Total keyvals: ") {
            let count: u32 = ahead.number().map_err(bad)?;
            return self.keyvals(scan, count);
        } else if ahead.eat("Performance counters: ") {
            let count: u32 = ahead.number().map_err(bad)?;
            return self.perf_labels(scan, count);
        } else if ahead.eat("Function address ") {
            let key = ahead.number().map_err(bad)?;
            ahead.expect(" has label ").map_err(bad)?;
            let label = ahead.rest().to_vec();
            self.has.address_labels = true;
            self.trailer
                .address_labels
                .push(AddressLabel { key, label });
        } else if ahead.eat("Datatype ") {
            let number: usize = ahead.number().map_err(bad)?;
            ahead.until(b") has size ", 11).map_err(bad)?;
            let size = ahead.number().map_err(bad)?;
            let sizes = &mut self.trailer.type_sizes;
            if number > sizes.len() + MAX_SKIPPED_TYPES {
                return Err(scan.error(Expected::Datatype).into());
            }
            if number >= sizes.len() {
                sizes.resize(number + 1, 0);
            }
            sizes[number] = size;
        } else if let Some((name, counts)) = called(line) {
            let Some(id) = self.names.get(name).map(|function| function.id) else {
                return Err(scan.error(Expected::Function).into());
            };
            self.count(id, counts).map_err(bad)?;
        } else if !line.is_empty() {
            let mut error = scan.error(Expected::Line);
            // The first line of a record may be cut anywhere.
            error.at_end = scan.rest().len() == line.len();
            return Err(error.into());
        }
        scan.line();
        Ok(())
    }

    fn count(&mut self, id: u16, counts: &[u8]) -> Result<(), TextError> {
        let mut ahead = TextScan::new(counts);
        let called = ahead.number()?;
        ahead.expect(" times and ignored ")?;
        let ignored = ahead.number()?;
        ahead.expect(" times")?;
        let footer = &mut self.trailer.footer;
        let id = usize::from(id.min(ALL_FUNCTIONS));
        footer.called[id] = called;
        footer.ignored[id] = ignored;
        self.has.footer = true;
        Ok(())
    }

    fn keyvals(&mut self, scan: &mut TextScan<'t>, count: u32) -> Result<(), FromTextError> {
        scan.line();
        self.trailer.keyvals.clear();
        for _ in 0..count {
            scan.expect("    ")?;
            let line = scan.line();
            let Some(equals) = line.iter().position(|b| *b == b'=') else {
                return Err(scan.error(Expected::Text("=".to_owned())).into());
            };
            self.trailer.keyvals.push(Keyval {
                key: line[..equals].to_vec(),
                value: line[equals + 1..].to_vec(),
            });
        }
        Ok(())
    }

    fn perf_labels(&mut self, scan: &mut TextScan<'t>, count: u32) -> Result<(), FromTextError> {
        scan.line();
        self.trailer.perf_labels.clear();
        self.has.perf_labels = true;
        for _ in 0..count {
            scan.expect("    ")?;
            self.trailer.perf_labels.push(scan.line().to_vec());
        }
        Ok(())
    }
}

/// An error in a part of the line at `scan`.
fn placed(scan: &TextScan<'_>, error: TextError) -> TextError {
    TextError {
        found: error.found,
        at_end: error.at_end && scan.rest().len() == scan.peek_line().len(),
        ..scan.error(error.expected)
    }
}

fn version(scan: &mut TextScan<'_>) -> Result<Version, TextError> {
    let major = scan.number()?;
    scan.expect(".")?;
    let minor = scan.number()?;
    scan.expect(".")?;
    Ok(Version::new(major, minor, scan.number()?))
}

/// `1, 2]`
fn numbers(scan: &mut TextScan<'_>) -> Result<Vec<i32>, TextError> {
    let mut numbers = Vec::new();
    if scan.eat("]") {
        return Ok(numbers);
    }
    loop {
        numbers.push(scan.number()?);
        if !scan.eat(", ") {
            scan.expect("]")?;
            return Ok(numbers);
        }
    }
}

fn start_time(text: &[u8], zone: Zone) -> Option<u64> {
    if text == b"(null)" {
        // A time beyond all calendars.
        return Some(u64::MAX);
    }
    time::from_ctime(std::str::from_utf8(text).ok()?, zone)
}

/// `NAME called 2 times and ignored 0 times`: the name, and what stands behind "called".
fn called(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = line.iter().position(|b| *b == b' ')?;
    let (name, rest) = line.split_at(space);
    Some((name, rest.strip_prefix(b" called ")?))
}
