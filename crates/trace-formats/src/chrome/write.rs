//! Writes drawables as Chrome's JSON.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use trace_model::{
    Complete, Definitions, Drawable, DrawableOrder, Fault, Losses, PendingFile, Stop,
};

use super::json;
use crate::track_event::{
    Argument, ArgumentValue, CounterValue, EventLabel, EventStream, EventWriter, FlowEnd,
    NameTable, Process, Track, TrackKind,
};

/// Size of the largest file that chrome://tracing reads, in bytes: it takes the file as one text, and the longest text of V8 has 2^29 - 24
/// characters.
pub const MAX_READABLE_BYTES: u64 = (1 << 29) - 24;

/// An error of Chrome's JSON that is being written.
pub type ChromeError = Fault<ChromeErrorKind>;

/// Kind of a [`ChromeError`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ChromeErrorKind {
    /// The file could not be written.
    Io(io::Error),
}

impl fmt::Display for ChromeErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChromeErrorKind::Io(error) => error.fmt(f),
        }
    }
}

trace_model::fault_kind!(ChromeErrorKind);

/// First line of a trace.
const HEAD: &str = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";

/// Whether bytes begin as a trace of [`ChromeSink`] does.
pub fn recognises(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD.as_bytes())
}

/// A trace of Chrome in the making. In memory are tracks, categories, paths of files, and the drawables that are not over yet.
pub struct ChromeSink<W> {
    events: EventStream<JsonWriter<W>>,
    complete: Complete<W>,
}

impl ChromeSink<BufWriter<PendingFile>> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(path: impl AsRef<Path>, definitions: &Definitions) -> Result<Self, ChromeError> {
        let path = path.as_ref();
        let (out, complete) = PendingFile::create_for_sink(path)?;
        ChromeSink::new(out, definitions, complete)
            .map_err(|error| ChromeError::io(0, error).in_file(path))
    }
}

impl<W: Write> ChromeSink<W> {
    /// Starts a trace at the beginning of `out`. `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(
        out: W,
        definitions: &Definitions,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> io::Result<Self> {
        let writer = JsonWriter::new(out)?;
        Ok(ChromeSink {
            events: EventStream::new(writer, definitions)?,
            complete: Box::new(complete),
        })
    }
}

impl<W: Write> trace_model::Sink for ChromeSink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.put(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let ChromeSink { events, complete } = *self;
        let (mut writer, mut losses) = events.finish()?;
        writer.write("\n]}\n")?;
        let too_many = writer.bytes.saturating_sub(MAX_READABLE_BYTES);
        losses.add(
            "byte beyond what chrome://tracing reads; Perfetto's format (.pftrace) has no such limit",
            too_many,
        );
        complete(writer.out)?;
        Ok(losses)
    }
}

struct JsonWriter<W> {
    out: W,
    /// Bytes written.
    bytes: u64,
    /// The event that is being written.
    line: String,
    is_first: bool,
}

impl<W: Write> JsonWriter<W> {
    fn new(out: W) -> io::Result<Self> {
        let mut writer = JsonWriter {
            out,
            bytes: 0,
            line: String::new(),
            is_first: true,
        };
        writer.write(HEAD)?;
        Ok(writer)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len() as u64;
        self.out.write_all(text.as_bytes())
    }

    /// Writes an event: an object whose members `fill` writes.
    fn event(&mut self, phase: &str, fill: impl FnOnce(&mut String)) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        if !std::mem::take(&mut self.is_first) {
            line.push_str(",\n");
        }
        line.push_str("{\"ph\":\"");
        line.push_str(phase);
        line.push('"');
        fill(&mut line);
        line.push('}');
        let written = self.write(&line);
        self.line = line;
        written
    }

    /// Writes what is known of a process or a thread: a member of the arguments of an event that is called `name`.
    fn metadata(
        &mut self,
        name: &str,
        pid: i32,
        tid: Option<i32>,
        fill: impl FnOnce(&mut String),
    ) -> io::Result<()> {
        self.event("M", |line| {
            member_text(line, "name", name);
            member_integer(line, "pid", pid);
            if let Some(tid) = tid {
                member_integer(line, "tid", tid);
            }
            line.push_str(",\"args\":{");
            fill(line);
            line.push('}');
        })
    }
}

fn member_text(line: &mut String, name: &str, value: &str) {
    line.push_str(",\"");
    line.push_str(name);
    line.push_str("\":");
    json::text(line, value);
}

fn member_integer(line: &mut String, name: &str, value: i32) {
    line.push_str(",\"");
    line.push_str(name);
    line.push_str("\":");
    json::integer(line, value);
}

/// Pid of the process with this number.
fn pid(track: &Track) -> i32 {
    i32::try_from(track.process + 1).unwrap_or(i32::MAX)
}

/// Appends thread and time of an event.
fn place(line: &mut String, time: u64, track: &Track) {
    member_integer(line, "pid", pid(track));
    member_integer(line, "tid", track.tid);
    line.push_str(",\"ts\":");
    json::microseconds(line, time);
}

fn arguments(line: &mut String, names: &NameTable, arguments: &[Argument<'_>]) {
    if arguments.is_empty() {
        return;
    }
    line.push_str(",\"args\":{");
    for (nth, argument) in arguments.iter().enumerate() {
        if nth > 0 {
            line.push(',');
        }
        json::text(line, names.name(argument.name));
        line.push(':');
        match &argument.value {
            ArgumentValue::Integer(value) => json::integer(line, *value),
            // JSON's numbers have 53 bits for most readers.
            ArgumentValue::Hex(value) => json::text(line, &format!("{value:#x}")),
            ArgumentValue::Real(value) => json::real(line, *value),
            ArgumentValue::Text(value) => json::text(line, value),
            ArgumentValue::Name(value) => json::text(line, names.name(*value)),
        }
    }
    line.push('}');
}

impl<W: Write> EventWriter for JsonWriter<W> {
    fn process(&mut self, process: &Process) -> io::Result<()> {
        let pid = process.pid;
        self.metadata("process_name", pid, None, |line| {
            line.push_str("\"name\":");
            json::text(line, &process.name);
        })?;
        self.metadata("process_sort_index", pid, None, |line| {
            line.push_str("\"sort_index\":");
            json::integer(line, pid);
        })?;
        let Some(host) = &process.host else {
            return Ok(());
        };
        self.metadata("process_labels", pid, None, |line| {
            line.push_str("\"labels\":");
            json::text(line, host);
        })
    }

    fn track(&mut self, track: &Track, process: &Process) -> io::Result<()> {
        if matches!(track.kind, TrackKind::Counter { .. }) {
            // Its events say what it is.
            return Ok(());
        }
        let tid = Some(track.tid);
        self.metadata("thread_name", process.pid, tid, |line| {
            line.push_str("\"name\":");
            json::text(line, &track.name);
        })?;
        self.metadata("thread_sort_index", process.pid, tid, |line| {
            line.push_str("\"sort_index\":");
            json::integer(line, track.tid);
        })
    }

    fn begin(
        &mut self,
        names: &NameTable,
        time: u64,
        track: &Track,
        label: EventLabel,
        flow: Option<FlowEnd>,
        values: &[Argument<'_>],
    ) -> io::Result<()> {
        self.event("B", |line| {
            member_text(line, "cat", names.name(label.group));
            member_text(line, "name", names.name(label.name));
            place(line, time, track);
            let flow = match flow {
                None => None,
                Some(FlowEnd::Start(flow)) => Some((flow, "flow_out")),
                Some(FlowEnd::End(flow)) => Some((flow, "flow_in")),
            };
            if let Some((flow, way)) = flow {
                line.push_str(&format!(",\"bind_id\":\"{flow:#x}\",\"{way}\":true"));
            }
            arguments(line, names, values);
        })
    }

    fn end(&mut self, time: u64, track: &Track) -> io::Result<()> {
        self.event("E", |line| place(line, time, track))
    }

    fn count(&mut self, time: u64, track: &Track, value: CounterValue) -> io::Result<()> {
        let unit = match track.kind {
            TrackKind::Counter { is_bytes: true } => "bytes",
            _ => "value",
        };
        self.event("C", |line| {
            member_text(line, "name", &track.name);
            member_integer(line, "pid", pid(track));
            line.push_str(",\"ts\":");
            json::microseconds(line, time);
            line.push_str(",\"args\":{");
            json::text(line, unit);
            line.push(':');
            match value {
                CounterValue::Integer(value) => json::integer(line, value),
                CounterValue::Real(value) => json::real(line, value),
            }
            line.push('}');
        })
    }
}
