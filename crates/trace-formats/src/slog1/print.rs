//! The text of `slog_print` (`spec/slog1.md` section 10).

use super::error::{Slog1Error, Slog1ErrorKind};
use super::read::{Sector, Slog1Reader};
use super::record::{Slog1Record, TaskId};
use super::types::Display;
use std::fmt;
use std::io::{self, Write};

/// Writes the text that `slog_print NAME` prints of this file.
///
/// `name` is what the call says; the text begins with it. Of a damaged file everything before the damage is written; of
/// one without statistics, because it was cut off or not finished, everything else.
///
/// # Errors
/// The file is damaged, or [`Slog1ErrorKind::Io`] if the text could not be written.
pub fn print(
    reader: &Slog1Reader<'_>,
    name: &[u8],
    out: &mut impl Write,
) -> Result<(), Slog1Error> {
    Slog1Printer {
        reader,
        out,
        line: Vec::new(),
    }
    .all(name)
}

/// The four sectors in the order in which they are printed, with their titles.
const SECTORS: [(Sector, &str); 4] = [
    (Sector::Incoming, "---- The INCOMING sector:\n"),
    (Sector::Passing, "---- The PASSING THROUGH sector:\n"),
    (Sector::Current, "---- The CURRENT sector:\n"),
    (Sector::Outgoing, "---- The OUTGOING sector:\n"),
];

struct Slog1Printer<'a, 'p, W: Write> {
    reader: &'p Slog1Reader<'a>,
    out: &'p mut W,
    /// Line that is being put together.
    line: Vec<u8>,
}

impl<W: Write> Slog1Printer<'_, '_, W> {
    fn all(&mut self, name: &[u8]) -> Result<(), Slog1Error> {
        self.text(&[b"argv[1] = _", name, b"_\n"])?;
        self.header()?;
        // They stand at the end of the file and are the first to be missing.
        let statistics = match self.statistics() {
            Err(error) if matches!(error.kind, Slog1ErrorKind::Io(_)) => return Err(error),
            result => result,
        };
        let preview = self.reader.preview()?;
        let end = preview.iter().position(|&byte| byte == 0);
        let preview = &preview[..end.unwrap_or(preview.len())];
        self.text(&[b"The Preview :\n", preview, b"\n\n"])?;
        self.text(&[b"The Display Profile :\n"])?;
        for (nth, entry) in self.reader.profile()?.enumerate() {
            let entry = entry?;
            self.put(format_args!(" def[{nth}] = "))?;
            self.display(&entry)?;
        }
        self.text(&[b"\n\nThe Thread Table :\n"])?;
        for (nth, thread) in self.reader.threads()?.enumerate() {
            let t = thread?;
            self.put(format_args!(
                " threadinfo[{nth}] = [ ( {}, {} ), {}, {}, {} ]\n",
                t.node, t.thread, t.process_id, t.thread_id, t.application
            ))?;
        }
        self.text(&[b"\n\nThe Interval Record Definition Table :\n"])?;
        for (nth, definition) in self.reader.definitions()?.enumerate() {
            let d = definition?;
            self.put(format_args!(
                " def[{nth}] = [ {}, ({}), {}, {} ]\n",
                d.key.intvltype, d.key.bebits, d.associations, d.arguments
            ))?;
        }
        self.text(&[b"\nThe Frame Directory Header:\n"])?;
        self.frames()?;
        statistics
    }

    fn header(&mut self) -> Result<(), Slog1Error> {
        let h = *self.reader.header();
        let (main, sub) = h.version;
        let flag = |value| if value { "TRUE" } else { "FALSE" };
        self.put(format_args!(
            "The Header :\n\
             \tversion         = {main}.{sub}\n\
             \tbyte size of the frame                = {}\n\
             \tbyte size of the frame reserved space = {}\n\
             \tmax. number of frames per directory   = {}\n\
             \tIs_Increasing_Starttime_Order         = {}\n\
             \tIs_Increasing_Endtime_Order           = {}\n\
             \tHas_ReserveSpace()_Been_Used          = {}\n\
             \tlocation of Preview Statistics        = {}\n\
             \tlocation of Preview                   = {}\n\
             \tlocation of Threads Table             = {}\n\
             \tlocation of Profile                   = {}\n\
             \tlocation of Record Definition Table   = {}\n\
             \tlocation of FRAMES Data               = {}\n\n",
            h.frame_size,
            h.frame_reserved,
            h.frames_per_directory,
            flag(h.by_start),
            flag(h.by_end),
            flag(h.has_reservations),
            h.statistics,
            h.preview,
            h.threads,
            h.profile,
            h.definitions,
            h.directory,
        ))
    }

    fn statistics(&mut self) -> Result<(), Slog1Error> {
        self.text(&[b"Preview Statistics: \n"])?;
        let statistics = match self.reader.statistics() {
            Ok(statistics) => statistics,
            Err(error) if matches!(error.kind, Slog1ErrorKind::NoStatistics) => {
                // Text of the original about a file whose second pass did not come to its end.
                return self.text(&[
                    b"slog_pstat.c:SLOG_PSTAT_Print() - input pointer SLOG_pstat_t is NULL \n\n",
                ]);
            }
            Err(error) => return Err(error),
        };
        self.put(format_args!(
            "Collect At : Starttime = {}, Endtime = {}\n\n",
            Time(statistics.start),
            Time(statistics.end)
        ))?;
        for (nth, set) in statistics.sets().enumerate() {
            let set = set?;
            self.put(format_args!(
                "\tPreview Statistics Set {nth} : \n\trectype = {},  intvltype = {}\n\tlabel = ",
                set.rectype, set.intvltype
            ))?;
            self.text(&[set.label(), b" \n"])?;
            for (nth, bin) in set.bins().enumerate() {
                let end = if nth % 5 == 4 { "\n" } else { "" };
                self.put(format_args!(
                    "{}, {end}",
                    CFixed {
                        value: bin,
                        width: 13,
                        digits: 2
                    }
                ))?;
            }
            self.text(&[b"\n\n"])?;
        }
        self.text(&[b"\n\n"])
    }

    fn display(&mut self, entry: &Display) -> Result<(), Slog1Error> {
        let key = entry.key;
        self.put(format_args!("[ {}, ({}), ", key.intvltype, key.bebits))?;
        let (class, label, color) = (&entry.class.0, &entry.label.0, &entry.color.0);
        self.text(&[class, b", ", label, b", ", color])?;
        if let Some(labels) = &entry.arguments {
            self.text(&[b" : ( "])?;
            for label in labels {
                self.text(&[b"\"", &label.0, b"\" "])?;
            }
            self.text(&[b") "])?;
        }
        self.text(&[b" ]\n"])
    }

    fn frames(&mut self) -> Result<(), Slog1Error> {
        let mut is_full = false;
        for (nth, directory) in self.reader.directories().enumerate() {
            let directory = directory?;
            if nth == 0 {
                self.put(format_args!(
                    "       {} {} {}\n\nThe Frame Directory Non-empty Entries:\n",
                    directory.previous, directory.next, directory.used
                ))?;
                let entries = self.reader.header().frames_per_directory;
                is_full = directory.used == entries && directory.next == 0;
            }
            for entry in directory.entries() {
                self.put(format_args!(
                    "       {} {} {}\n",
                    entry.offset,
                    Time(entry.start),
                    Time(entry.end)
                ))?;
            }
        }
        self.text(&[b"\nStart reading records :\n\n"])?;
        for frame in self.reader.frames() {
            let frame = frame?;
            self.put(format_args!("****  Frame Index = {}  ****\n", frame.index))?;
            for (sector, title) in SECTORS {
                self.text(&[title.as_bytes()])?;
                for (nth, record) in frame.records(sector).enumerate() {
                    self.record(nth, &record?)?;
                }
            }
            self.text(&[b"\n"])?;
        }
        if is_full {
            // The original looks for the entry behind the last one, finds none and ends with a message on stderr.
            return Ok(());
        }
        self.text(&[b"Finish reading records :\n"])
    }

    fn record(&mut self, nth: usize, record: &Slog1Record<'_>) -> Result<(), Slog1Error> {
        let line = &mut self.line;
        line.clear();
        // Writing to a vector does not fail.
        let mut put = |text: fmt::Arguments<'_>| {
            let _ = line.write_fmt(text);
        };
        put(format_args!(
            "{nth}: {} {} {} ( {} ) {} {} {} ",
            record.size(),
            record.rectype,
            record.key.intvltype,
            record.key.bebits,
            Time(record.start),
            Time(record.duration),
            PrintedTask(record.origin)
        ));
        if let Some(destination) = record.destination {
            put(format_args!("{}", PrintedTask(destination)));
        }
        put(format_args!(" {:x} {{ ", record.address));
        for association in record.associations.iter() {
            put(format_args!("{association} "));
        }
        put(format_args!("}} "));
        for group in record.arguments.groups() {
            put(format_args!("[ "));
            for argument in group.iter() {
                put(format_args!("{argument} "));
            }
            put(format_args!("] "));
        }
        line.push(b'\n');
        self.out.write_all(line).map_err(written)
    }

    fn put(&mut self, text: fmt::Arguments<'_>) -> Result<(), Slog1Error> {
        self.out.write_fmt(text).map_err(written)
    }

    fn text(&mut self, parts: &[&[u8]]) -> Result<(), Slog1Error> {
        parts
            .iter()
            .try_for_each(|part| self.out.write_all(part))
            .map_err(written)
    }
}

fn written(error: io::Error) -> Slog1Error {
    Slog1Error::io(0, error)
}

/// `( node cpu thread )`.
struct PrintedTask(TaskId);

impl fmt::Display for PrintedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "( {} {} {} )", self.0.node, self.0.cpu, self.0.thread)
    }
}

/// A time as `%21.17f` prints it.
struct Time(f64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((whole, fraction)) = parts(self.0) {
            return write!(f, "{whole:>3}.{fraction:017}");
        }
        let (value, width, digits) = (self.0, 21, 17);
        CFixed {
            value,
            width,
            digits,
        }
        .fmt(f)
    }
}

/// Whole part of a number and the 17 digits after the point, rounded from its exact value; `None` for
/// numbers that are negative, very large or NaN, which take the slow way that formats any number.
fn parts(value: f64) -> Option<(u64, u64)> {
    const SCALE: u128 = 100_000_000_000_000_000;
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32;
    // Not for numbers below 2^-1022 either, which have no leading 1; nor from 2^52 on, which have nothing to round.
    if !(1..1023 + 52).contains(&exponent) {
        return (bits == 0).then_some((0, 0));
    }
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // Less than 2^110.
    let scaled = mantissa * SCALE;
    let shift = (1023 + 52 - exponent) as u32;
    if shift >= 112 {
        return Some((0, 0));
    }
    let (half, rest) = (1u128 << (shift - 1), scaled & ((1 << shift) - 1));
    let floor = scaled >> shift;
    let is_up = rest > half || (rest == half && floor % 2 == 1);
    let rounded = floor + u128::from(is_up);
    Some(((rounded / SCALE) as u64, (rounded % SCALE) as u64))
}

/// A number as C's `%W.Df` prints it.
struct CFixed {
    value: f64,
    width: usize,
    digits: usize,
}

impl fmt::Display for CFixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, width, digits) = (self.value, self.width, self.digits);
        if value.is_nan() {
            let text = if value.is_sign_negative() {
                "-nan"
            } else {
                "nan"
            };
            write!(f, "{text:>width$}")
        } else {
            write!(f, "{value:width$.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(value: f64) -> String {
        format!("{value:21.17}")
    }

    #[test]
    fn times_at_the_borders() {
        for value in [
            0.0,
            -0.0,
            -1.5,
            0.5,
            1.0,
            f64::MIN_POSITIVE,
            5e-324,
            2f64.powi(-60),
            2f64.powi(-57),
            3.0 * 2f64.powi(-18),
            999.999_999_999_999_9,
            1000.0,
            4_503_599_627_370_495.5,
            4_503_599_627_370_496.0,
            1e300,
            f64::INFINITY,
        ] {
            assert_eq!(Time(value).to_string(), slow(value), "{value:e}");
        }
        assert_eq!(Time(f64::NAN).to_string(), format!("{:>21}", "nan"));
        assert_eq!(Time(-f64::NAN).to_string(), format!("{:>21}", "-nan"));
    }

    proptest! {
        #[test]
        fn times_are_rounded_as_exactly_as_the_slow_way(bits in any::<u64>(), scale in -70i32..70) {
            for value in [f64::from_bits(bits), (bits >> 11) as f64 * 2f64.powi(scale - 53)] {
                if !value.is_nan() {
                    prop_assert_eq!(Time(value).to_string(), slow(value));
                }
            }
        }
    }
}
