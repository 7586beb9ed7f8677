//! Text of dumpi2ascii back to a `.bin` file (`spec/dumpi-tools.md` sections 2 and 3): all sections in any order, every
//! function, counters, statuses and strings with quotes and line breaks in them. Printing the result gives the text again.
//!
//! What a text does not tell is filled in: records get status bits and a thread number, as the reference library always
//! writes them; a clock that shows 0.000000000 at both ends was not recorded; sections that the text lacks are made from
//! the records as far as these tell (counter and address labels, call counts).
//!
//! ```
//! use trace_formats::dumpi::from_text::{FromTextOptions, from_text};
//!
//! let text = b"MPI_Comm_rank entering at walltime 7.000000100, cputime 0.000000000 seconds in thread 0.
//! MPI_Comm comm=2 (MPI_COMM_WORLD)
//! int rank=5
//! MPI_Comm_rank returning at walltime 7.000000200, cputime 0.000000000 seconds in thread 0.
//! ";
//! let (bytes, made) = from_text(text, Vec::new(), &FromTextOptions::default())?;
//! assert_eq!(made.records, 1);
//! let reader = trace_formats::dumpi::read::DumpiReader::open(&bytes)?;
//! assert_eq!(reader.records().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod error;
mod scan;
mod sections;

use std::collections::BTreeMap;
use std::io::Write;

pub use error::{Expected, FromTextError, TextError};

use super::clock::{RecordAxis, RecordTicker};
use super::functions::{self, DumpiFunction};
use super::types::{
    AddressLabel, ClockOffsets, ClockSpan, ClockTime, DumpiTrailer, FOOTER_ENTRIES, Mask, Version,
};
use super::write::{ASCII2DUMPI, DumpiWriter, LIBDUMPI, RecordHead};
use scan::TextScan;
use trace_model::Losses;

pub use super::time::Zone;

/// Options of [`from_text`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FromTextOptions {
    /// The zone in which the header's start time is written.
    pub zone: Zone,
    /// Make the bytes that ascii2dumpi makes, with what it leaves out: counters, Function_enter and Function_exit and
    /// their labels.
    pub as_ascii2dumpi: bool,
}

/// Result of making a DUMPI file from text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FromTextResult {
    /// Number of records.
    pub records: u64,
    /// Counts of what the file does not hold as the text shows it.
    pub losses: Losses,
}

/// Function names to table entries: quick, and not to be filled with chosen collisions.
type FunctionsByName =
    std::collections::HashMap<&'static [u8], &'static DumpiFunction, foldhash::fast::RandomState>;

/// Makes a file of a text and gives the output back.
///
/// Several texts one behind the other make one file; of sections that are there twice the last one counts.
///
/// # Errors
/// [`FromTextError::Input`] with line and expectation if the text is not one of dumpi2ascii's. A text that ends within a
/// record gives a file of the records before it.
pub fn from_text<W: Write>(
    text: &[u8],
    out: W,
    options: &FromTextOptions,
) -> Result<(W, FromTextResult), FromTextError> {
    let offsets = if options.as_ascii2dumpi {
        first_seconds(text)
    } else {
        least_seconds(text)
    };
    let mut maker = Maker {
        writer: DumpiWriter::new(out, offsets)?,
        offsets,
        options: *options,
        names: functions::all()
            .iter()
            .map(|f| (f.name.as_bytes(), f))
            .collect(),
        values: call::ParsedValues::default(),
        counters: Vec::new(),
        trailer: DumpiTrailer::default(),
        has: Has::default(),
        called: [0; FOOTER_ENTRIES],
        seen_labels: BTreeMap::new(),
        read_times: [RecordAxis::Wall, RecordAxis::Cpu].map(RecordTicker::new),
        made: FromTextResult::default(),
    };
    maker.trailer.header.version = Version::CURRENT;
    let mut scan = TextScan::new(text);
    while !scan.is_at_end() {
        match maker.next(&mut scan) {
            Ok(()) => {}
            Err(FromTextError::Input(error)) if error.at_end => {
                maker
                    .made
                    .losses
                    .add("record cut off at the end of the text", 1);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    maker.finish()
}

/// Whether these bytes begin as a text of dumpi2ascii does: with a call or with its header section.
pub fn recognises(text: &[u8]) -> bool {
    let line = TextScan::new(text.get(..text.len().min(256)).unwrap_or(text)).line();
    line.starts_with(b"version=") || edge(line).is_some_and(|(_, entering, _)| entering)
}

/// Which sections the text has.
#[derive(Debug, Default)]
struct Has {
    footer: bool,
    perf_labels: bool,
    address_labels: bool,
}

struct Maker<'t, W: Write> {
    writer: DumpiWriter<W>,
    offsets: ClockOffsets,
    options: FromTextOptions,
    names: FunctionsByName,
    values: call::ParsedValues<'t>,
    counters: Vec<(i64, i64)>,
    trailer: DumpiTrailer,
    has: Has,
    /// Records by function.
    called: [u32; FOOTER_ENTRIES],
    /// Labels behind the keys of Function_enter and Function_exit.
    seen_labels: BTreeMap<u64, Vec<u8>>,
    /// Times as a reader of the file finds them: of the wall clock, then of the processor time.
    read_times: [RecordTicker; 2],
    made: FromTextResult,
}

impl<'t, W: Write> Maker<'t, W> {
    /// Takes the next record or the next line of another section.
    fn next(&mut self, scan: &mut TextScan<'t>) -> Result<(), FromTextError> {
        let line = scan.peek_line();
        match edge(line) {
            Some((name, true, _)) => match self.names.get(name) {
                Some(function) => self.record(scan, function),
                None => Err(scan.error(Expected::Function).into()),
            },
            _ => self.section(scan, line),
        }
    }

    fn record(
        &mut self,
        scan: &mut TextScan<'t>,
        function: &'static DumpiFunction,
    ) -> Result<(), FromTextError> {
        let (wall_start, cpu_start, thread) = edge_line(scan, function, " entering at walltime ")?;
        self.counters.clear();
        let labels = (!self.has.perf_labels && self.trailer.perf_labels.is_empty())
            .then_some(&mut self.trailer.perf_labels);
        let counted = scan::counters(scan, &mut self.counters, labels)?;
        self.values.parse(scan, function)?;
        let (wall_stop, cpu_stop, _) = edge_line(scan, function, " returning at walltime ")?;
        if counted {
            scan::exit_counters(scan, &mut self.counters)?;
        }
        let is_pseudo =
            function.id == functions::FUNCTION_ENTER || function.id == functions::FUNCTION_EXIT;
        if is_pseudo {
            if self.options.as_ascii2dumpi {
                self.made
                    .losses
                    .add("record of a function that is not MPI's", 1);
                return Ok(());
            }
            if let Some((key, label)) = self.values.label() {
                self.seen_labels
                    .entry(key)
                    .or_insert_with(|| label.to_vec());
            }
        }
        let cpu = ClockSpan {
            start: cpu_start,
            stop: cpu_stop,
        };
        let wall = ClockSpan {
            start: wall_start,
            stop: wall_stop,
        };
        let mut mask = Mask::DEFAULT;
        if !self.options.as_ascii2dumpi {
            for (bit, span) in [(Mask::CPU, cpu), (Mask::WALL, wall)] {
                if span == ClockSpan::default() {
                    mask.0 &= !bit;
                }
            }
            if counted {
                mask.0 |= Mask::COUNTERS;
            }
        }
        let head = RecordHead {
            mask,
            thread,
            cpu,
            wall,
        };
        self.check_range(&head, function.id);
        let mut call = self.writer.call(function.id, &head, &self.counters);
        self.values.put(function, &mut call);
        call.end()?;
        self.made.records += 1;
        if let Some(called) = self.called.get_mut(usize::from(function.id)) {
            *called = called.saturating_add(1);
        }
        Ok(())
    }

    /// Counts the times of a record that a reader of the file takes for others: beyond the 16 bits of seconds the file has the rest only, and the
    /// order of the records does not tell it.
    fn check_range(&mut self, head: &RecordHead, function: u16) {
        let RecordHead { mask, thread, .. } = *head;
        let clocks = [
            (Mask::WALL, head.wall, self.offsets.wall),
            (Mask::CPU, head.cpu, self.offsets.cpu),
        ];
        for (ticker, (bit, span, offset)) in self.read_times.iter_mut().zip(clocks) {
            if !mask.has(bit) {
                continue;
            }
            let seconds = |clock: ClockTime| i64::from(clock.sec) - i64::from(offset);
            let kept = |clock: ClockTime| ClockTime {
                sec: offset.saturating_add((seconds(clock) & i64::from(u16::MAX)) as i32),
                nsec: clock.nsec,
            };
            let in_file = ClockSpan {
                start: kept(span.start),
                stop: kept(span.stop),
            };
            let (start, end) = ticker.times_of_span(function, thread, in_file);
            for (clock, read) in [(span.start, start), (span.stop, end)] {
                let is_kept = (0..=i64::from(u16::MAX)).contains(&seconds(clock));
                if !is_kept && read != clock.ns() {
                    let what = "time that is read as another one: more than 18.2 hours from the record before, or before the first";
                    self.made.losses.add(what, 1);
                }
            }
        }
    }

    fn finish(mut self) -> Result<(W, FromTextResult), FromTextError> {
        let trailer = &mut self.trailer;
        if self.options.as_ascii2dumpi {
            trailer.address_labels.clear();
            trailer.perf_labels.clear();
        } else {
            if !self.has.footer {
                for (id, called) in (0..).zip(self.called) {
                    if id < functions::ALL_FUNCTIONS && called > 0 {
                        trailer.footer.count(id, called, 0);
                    }
                }
            }
            if !self.has.address_labels {
                let labels = self.seen_labels.into_iter();
                trailer.address_labels = labels
                    .map(|(key, label)| AddressLabel { key, label })
                    .collect();
            }
        }
        let version = trailer.header.version;
        if version < Version::new(0, 6, 9) {
            let what = format!("header of version {version}, whose layout is not written any more");
            self.made.losses.add(&what, 1);
            trailer.header.version = Version::CURRENT;
        }
        let layout = if self.options.as_ascii2dumpi {
            ASCII2DUMPI
        } else {
            LIBDUMPI
        };
        let (out, _) = self.writer.finish(trailer, layout)?;
        Ok((out, self.made))
    }
}

/// A line that begins or ends a record: the function's name, whether it begins, and what stands behind "walltime ".
fn edge(line: &[u8]) -> Option<(&[u8], bool, &[u8])> {
    let space = line.iter().position(|b| *b == b' ')?;
    let (name, rest) = line.split_at(space);
    if let Some(times) = rest.strip_prefix(b" entering at walltime ") {
        return Some((name, true, times));
    }
    Some((name, false, rest.strip_prefix(b" returning at walltime ")?))
}

/// Wall clock, cpu clock and thread of a line that begins or ends a record.
fn edge_line(
    scan: &mut TextScan<'_>,
    function: &DumpiFunction,
    what: &'static str,
) -> Result<(ClockTime, ClockTime, u16), TextError> {
    scan.expect(function.name)?;
    scan.expect(what)?;
    let wall = scan.clock()?;
    scan.expect(", cputime ")?;
    let cpu = scan.clock()?;
    scan.expect(" seconds in thread ")?;
    let thread = scan.number()?;
    scan.expect(".\n")?;
    Ok((wall, cpu, thread))
}

/// All times of a text that are not zero, as (wall, cpu) seconds.
fn seconds(text: &[u8]) -> impl Iterator<Item = (ClockTime, ClockTime)> + '_ {
    text.split(|b| *b == b'\n').filter_map(|line| {
        let (_, _, times) = edge(line)?;
        let mut scan = TextScan::new(times);
        let wall = scan.clock().ok()?;
        scan.expect(", cputime ").ok()?;
        Some((wall, scan.clock().ok()?))
    })
}

/// Seconds of the first record: what ascii2dumpi lets the times of a file count from.
fn first_seconds(text: &[u8]) -> ClockOffsets {
    let first = seconds(text).next();
    first.map_or(ClockOffsets::default(), |(wall, cpu)| ClockOffsets {
        cpu: cpu.sec,
        wall: wall.sec,
    })
}

/// The earliest seconds: threads may have begun before the first record did.
fn least_seconds(text: &[u8]) -> ClockOffsets {
    let mut least: [Option<i32>; 2] = [None; 2];
    for (wall, cpu) in seconds(text) {
        for (least, clock) in least.iter_mut().zip([wall, cpu]) {
            if clock != ClockTime::default() {
                *least = Some(least.map_or(clock.sec, |least| least.min(clock.sec)));
            }
        }
    }
    ClockOffsets {
        cpu: least[1].unwrap_or(0),
        wall: least[0].unwrap_or(0),
    }
}
