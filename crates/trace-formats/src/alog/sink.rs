//! Makes an ALOG file of drawables from any source (`spec/alog.md` section 7).

use super::error::AlogError;
use super::event::{AlogEvent, Timestamp, etype};
use crate::mpe1::{self, Book, Emitter};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::SystemTime;
use trace_model::PendingFile;
use trace_model::{
    Actor, Complete, Definitions, Drawable, DrawableOrder, Line, Losses, Stop, named_lane,
};

/// Options of the ALOG writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlogOptions {
    /// Whether to write as MPE does: the creator is `Me`, processes have no names, texts have at most 15 bytes.
    pub is_mpe: bool,
    /// Text of the first line, not with `is_mpe`; else it is the program and today's date.
    pub creator: Option<String>,
}

/// An ALOG file in the making. Wants drawables by start time.
///
/// Times are microseconds, cut off, since the first event. The lines of the body go to a temporary file first, because
/// the header counts them.
pub struct AlogSink<W: Write> {
    emitter: Emitter,
    lines: BodyLines,
    out: W,
    creator: String,
    names: BTreeMap<i32, String>,
    complete: Complete<W>,
}

impl AlogSink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it or the temporary file cannot be created.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
        options: AlogOptions,
    ) -> Result<Self, AlogError> {
        let (out, complete) = PendingFile::create_for_sink(path.as_ref())?;
        AlogSink::new(out, definitions, options, complete)
    }
}

impl<W: Write> AlogSink<W> {
    /// Starts a file at the beginning of `out`. `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When the temporary file cannot be created.
    pub fn new(
        out: W,
        definitions: &Definitions,
        options: AlogOptions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> Result<Self, AlogError> {
        let longest = if options.is_mpe { 15 } else { usize::MAX };
        let mut emitter = Emitter::new(definitions, |_, _| true, longest);
        let book = &mut emitter.book;
        let hosts = definitions.lines.iter().filter(|line| line.host.is_some());
        book.losses.add("host of a line", hosts.count() as u64);
        let comms = definitions.lines.iter().filter(|line| line.comm != 0);
        book.losses
            .add("communicator of a line", comms.count() as u64);
        let mut names = BTreeMap::new();
        for line in &definitions.lines {
            let Some(name) = &line.name else {
                continue;
            };
            let (rank, _) = book.place(line.id);
            if options.is_mpe || names.contains_key(&rank) || is_beside_a_thread(line) {
                book.losses.add("name of a line", 1);
            } else {
                names.insert(rank, name.clone());
            }
        }
        let threads: BTreeSet<i32> = book.places().map(|(_, thread)| thread).collect();
        let body = tempfile::tempfile().map_err(|error| AlogError::io(0, error))?;
        Ok(AlogSink {
            lines: BodyLines {
                body: BufWriter::with_capacity(1 << 16, body),
                first: None,
                last: 0,
                count: 0,
                processes: BTreeSet::new(),
                etypes: BTreeSet::new(),
                tasks: threads.len().max(1),
                latest: BTreeMap::new(),
                collapsed: 0,
                longest,
                cut: 0,
            },
            emitter,
            out,
            creator: creator(definitions, options),
            names,
            complete: Box::new(complete),
        })
    }

    fn close(self) -> Result<Losses, Stop> {
        let AlogSink {
            emitter,
            mut lines,
            mut out,
            creator,
            names,
            complete,
        } = self;
        let book = emitter.finish(&mut |event| lines.put(event))?;
        let failed = |error| AlogError::io(0, error);
        header(&book, &lines, &creator, &names, &mut out).map_err(failed)?;
        let mut losses = book.losses;
        losses.add(
            "nanoseconds that set events of a line apart",
            lines.collapsed,
        );
        losses.add("text cut to 15 bytes", lines.cut);
        let mut body: File = lines
            .body
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        body.seek(SeekFrom::Start(0))
            .and_then(|_| io::copy(&mut body, &mut out))
            .and_then(|_| out.flush())
            .map_err(failed)?;
        complete(out)?;
        Ok(losses)
    }
}

impl<W: Write> trace_model::Sink for AlogSink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let lines = &mut self.lines;
        self.emitter.push(drawable, &mut |event| lines.put(event))
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        (*self).close()
    }
}

/// The lines of the body, and what the header says of them.
struct BodyLines {
    body: BufWriter<File>,
    /// Microseconds of the first event, which are taken off all others.
    first: Option<i64>,
    last: u64,
    count: u64,
    processes: BTreeSet<i32>,
    etypes: BTreeSet<i32>,
    tasks: usize,
    /// By rank and thread the latest time, in seconds and microseconds.
    latest: BTreeMap<(i32, i32), (f64, i64)>,
    collapsed: u64,
    longest: usize,
    cut: u64,
}

impl BodyLines {
    fn put(&mut self, event: &mpe1::Mpe1Event<'_>) -> Result<(), Stop> {
        // Cut off first, shifted afterwards, as clog2alog does.
        let micros = micros(event.time);
        let time = micros
            .saturating_sub(*self.first.get_or_insert(micros))
            .max(0) as u64;
        let place = (event.rank, event.thread);
        let before = self.latest.insert(place, (event.time, micros));
        if before.is_some_and(|(seconds, same)| same == micros && seconds != event.time) {
            self.collapsed += 1;
        }
        let mut text = event.text;
        if text.len() > self.longest {
            self.cut += 1;
            text = &text[..self.longest];
        }
        let mut rest = vec![b' '];
        rest.extend(text.iter().map(|&byte| match byte {
            b'\n' | b'\r' | 0 => b' ',
            byte => byte,
        }));
        let line = AlogEvent {
            etype: event.etype,
            process: event.rank,
            task: event.thread,
            data: event.data,
            cycle: 0,
            time: Timestamp::Whole(time),
            rest: &rest,
        };
        line.write(&mut self.body)
            .map_err(|error| AlogError::io(0, error))?;
        self.count += 1;
        self.last = time;
        self.processes.insert(event.rank);
        self.etypes.insert(event.etype);
        Ok(())
    }
}

/// Microseconds, cut off; but those of times that were whole microseconds before they were seconds stay what they were.
fn micros(seconds: f64) -> i64 {
    let micros = 1e6 * seconds;
    let whole = micros.round();
    if (micros - whole).abs() <= whole.abs() * 1e-15 {
        whole as i64
    } else {
        micros as i64
    }
}

/// Whether a line holds what overlaps on the own line of a rank's thread: its name is not the process's.
fn is_beside_a_thread(line: &Line) -> bool {
    named_lane(line).is_some_and(|lane| matches!(lane.actor, Actor::Rank(_)) && lane.lane > 0)
}

/// Who made the file, and when.
fn creator(definitions: &Definitions, options: AlogOptions) -> String {
    if options.is_mpe {
        return "Me".into();
    }
    options.creator.unwrap_or_else(|| {
        let program = match definitions.program.trim() {
            "" => "unknown",
            program => program,
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let days = now.map_or(0, |since| since.as_secs() / 86400);
        let (year, month, day) = civil(days);
        format!("{program} {year:04}-{month:02}-{day:02}")
    })
}

/// Year, month and day of so many days after 1 January 1970, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that the leap day is the last one of a year.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + next, month, day)
}

/// The lines of the header, in the order of `clog2alog`, and behind them the names of processes.
fn header(
    book: &Book,
    lines: &BodyLines,
    creator: &str,
    names: &BTreeMap<i32, String>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = |etype, process, task, data, time, text: &[&[u8]]| {
        let mut rest = Vec::new();
        for part in text {
            rest.push(b' ');
            rest.extend(
                part.iter()
                    .map(|&byte| if byte < b' ' { b' ' } else { byte }),
            );
        }
        let event = AlogEvent {
            etype,
            process,
            task,
            data,
            cycle: 0,
            time: Timestamp::Whole(time),
            rest: &rest,
        };
        event.write(out)
    };
    let number = |count: u64| i32::try_from(count).unwrap_or(i32::MAX);
    line(etype::CREATOR, 0, 0, 0, 0, &[creator.as_bytes()])?;
    line(etype::EVENTS, 0, 0, number(lines.count), 0, &[])?;
    line(
        etype::PROCESSES,
        0,
        0,
        number(lines.processes.len() as u64),
        0,
        &[],
    )?;
    line(etype::TASKS, 0, 0, number(lines.tasks as u64), 0, &[])?;
    line(
        etype::TYPES,
        0,
        0,
        number(lines.etypes.len() as u64),
        0,
        &[],
    )?;
    line(etype::START, 0, 0, 0, 0, &[])?;
    line(etype::END, 0, 0, 0, lines.last, &[])?;
    line(etype::CYCLES, 0, 0, 1, 0, &[])?;
    line(etype::ROLLOVER, 0, 0, 0, 0, &[])?;
    for event in &book.events {
        line(etype::EVENT_DEF, 0, 0, event.etype, 0, &[&event.name])?;
    }
    for state in &book.states {
        let text: [&[u8]; 2] = [state.look.as_bytes(), &state.name];
        line(etype::STATE_DEF, 0, state.start, state.end, 0, &text)?;
    }
    for (&rank, name) in names {
        line(etype::PROCESS_NAME, rank, 0, 0, 0, &[name.as_bytes()])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{civil, micros};

    #[test]
    fn whole_microseconds_stay() {
        for whole in (0..4_000_000_000i64).step_by(999_983) {
            assert_eq!(micros(whole as f64 / 1e6), whole);
        }
        assert_eq!(micros(0.000_001_999), 1);
    }

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_777), (2026, 11, 20));
    }
}
