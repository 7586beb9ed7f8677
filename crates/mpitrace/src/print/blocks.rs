//! A block file as text of our own: a line for each record in order of completion.
//!
//! ```text
//! # thread start duration CallID function(arguments)
//! 0 0.012345678 0.000000512 0x10000000003 MPI_Send(count=1, datatype=MPI_INT, dest=0, tag=7, comm=MPI_COMM_WORLD)
//! ```
//!
//! Lines that begin with `#` are about the file, or definitions. Times are seconds since the first call.

use super::Arguments;
use super::definitions::describe;
use super::values::{CallValues, one};
use crate::block_files::machine_clock;
use crate::failure::Failure;
use crate::trace_files::input::{OpenedInput, shown};
use blockfile::args::ArgValues;
use blockfile::counts;
use blockfile::define::{self, Definition};
use blockfile::file::BlockFile;
use blockfile::function::FunctionStep;
use blockfile::operation::{self, OperationRecord};
use blockfile::record::Record;
use blockfile::user::{UserCategoryKind, UserEvent, UserEventContent};
use std::fmt::Write as _;
use std::io::Write;
use trace_model::units::exact_seconds;
use unify::library::Library;
use unify::scan::Scan;
use unify::timeline::Timeline;
use wrappers::Table;

pub fn print(
    input: &OpenedInput,
    arguments: &Arguments,
    out: &mut impl Write,
) -> Result<(), Failure> {
    with_calls(input, arguments, |text| {
        text.print(out)
            .map_err(|error| Failure::output("stdout", &error))
    })
}

/// Has `put` print what a block file holds, and then says what is damaged in it.
pub(super) fn with_calls(
    input: &OpenedInput,
    arguments: &Arguments,
    put: impl FnOnce(&BlockFileText<'_, '_, '_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let name = shown(&arguments.file).display();
    let bad = |what: String| Failure::Data(format!("{name}: {what}"));
    let table = wrappers::table().map_err(|error| bad(error.to_string()))?;
    let file = input.blocks().map_err(|error| bad(error.to_string()))?;
    if file.info().table != table.fingerprint() {
        return Err(bad("written by another version of libtrace".to_owned()));
    }
    // A process that was killed cannot tell the rate of its clock; what this machine's clock says is not to be printed.
    let notes = machine_clock::notes();
    let mut completed = file.clone();
    if let Some(notes) = &notes {
        let machine_clock::Introduction {
            process, readings, ..
        } = machine_clock::introduction(&file);
        notes.complete(&mut completed, &process, &readings);
    }
    put(&BlockFileText::new(&file, table, Scan::new(&completed)))?;
    match &file.damage()[..] {
        [] => Ok(()),
        damage => {
            let lines: Vec<String> = damage.iter().map(ToString::to_string).collect();
            Err(bad(lines.join(&format!("\nmpitrace: {name}: "))))
        }
    }
}

/// A block file with what its records need to be read.
pub(super) struct BlockFileText<'f, 'a, 't> {
    pub(super) file: &'f BlockFile<'a>,
    pub(super) table: &'t Table,
    scan: Scan,
    zero: i64,
}

impl<'f, 'a, 't> BlockFileText<'f, 'a, 't> {
    fn new(file: &'f BlockFile<'a>, table: &'t Table, scan: Scan) -> Self {
        BlockFileText {
            file,
            table,
            zero: scan.first_ns().unwrap_or(0),
            scan,
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let info = self.file.info();
        let process = self.scan.library.process();
        writeln!(
            out,
            "# {}, process {} on {}, rank {} of {}, handles as in {:?}, clock {:?}, ended {}, {} lost",
            process.program,
            info.pid,
            process.host,
            info.rank,
            info.size,
            info.family,
            info.clock,
            info.ended,
            info.lost
        )?;
        writeln!(out, "# thread start duration CallID function(arguments)")?;
        let mut library = Library::default();
        let mut line = String::new();
        let mut timeline = Timeline::new(self.file);
        while let Some(item) = timeline.next() {
            line.clear();
            let record = item.record;
            if record.function == define::USER_EVENT {
                let _ = write!(line, "{} {} ", item.thread, self.since_first(record.start));
                self.user_event(&mut line, record.payload);
            } else if let Some(call) = define::matching_only_call(&record) {
                line.push_str("# matching only: ");
                self.call(&mut line, item.thread, &call, &library);
            } else if record.function == define::GAP {
                let _ = write!(line, "# {} calls may be missing from here on", item.thread);
            } else if let Some(step) = FunctionStep::of(&record) {
                let what = if step.enters { "enters" } else { "leaves" };
                let time = self.since_first(record.start);
                let _ = write!(
                    line,
                    "{} {time} {what} the function at {:#x}",
                    item.thread, step.address
                );
            } else if record.function == define::COUNTS {
                let _ = write!(line, "# {} counters of the next call:", item.thread);
                for (before, after) in counts::decode(record.payload) {
                    let _ = write!(line, " {before} to {after}");
                }
            } else if record.is_definition() {
                let _ = write!(line, "# {} ", item.thread);
                match Definition::decode(record.function, record.payload) {
                    Some(definition) => {
                        library.define(&definition);
                        describe(&mut line, &definition);
                    }
                    None => line.push_str("damaged definition"),
                }
            } else if record.is_operation() {
                self.operation(&mut line, item.thread, &record);
            } else {
                self.call(&mut line, item.thread, &record, &library);
            }
            writeln!(out, "{line}")?;
        }
        for thread in self.file.threads() {
            let Some(open) = thread.open_call() else {
                continue;
            };
            writeln!(
                out,
                "{} {} running {:#x} {}",
                thread.number,
                self.since_first(open.start),
                self.call_id(open.call),
                self.name(open.function, &library)
            )?;
        }
        Ok(())
    }

    /// Appends an event of the program's own.
    fn user_event(&self, line: &mut String, payload: &[u8]) {
        let Some(event) = UserEvent::decode(payload) else {
            line.push_str("damaged event");
            return;
        };
        let (kind, name) = match self.scan.name_of(event.number) {
            Some((kind, name)) => (Some(kind), one(Some(name.as_bytes()))),
            None => (None, event.number.to_string()),
        };
        let _ = match event.content {
            UserEventContent::Enter => write!(line, "begin of region {name}"),
            UserEventContent::Exit => write!(line, "end of region {name}"),
            UserEventContent::Mark(bits) if kind == Some(UserCategoryKind::Real) => {
                write!(line, "marker {name} = {}", f64::from_bits(bits))
            }
            UserEventContent::Mark(bits) => write!(line, "marker {name} = {}", bits as i64),
            UserEventContent::Text(text) => write!(line, "text {}", one(Some(text))),
            UserEventContent::Mpe(None) => write!(line, "MPE event {}", event.number),
            UserEventContent::Mpe(Some(data)) => {
                write!(line, "MPE event {} with {data:02x?}", event.number)
            }
            UserEventContent::Send(m) => write!(
                line,
                "MPE message to {}, tag {}, {} bytes",
                m.partner, m.tag, m.bytes
            ),
            UserEventContent::Receive(m) => write!(
                line,
                "MPE message from {}, tag {}, {} bytes",
                m.partner, m.tag, m.bytes
            ),
        };
        if let Some(comm) = event.comm {
            let _ = write!(line, " on communicator {comm:#x}");
        }
    }

    fn operation(&self, line: &mut String, thread: u32, record: &Record<'_>) {
        let _ = write!(
            line,
            "{thread} {} {} {:#x} ",
            self.since_first(record.start),
            exact_seconds(
                self.scan
                    .clock
                    .ns(record.stop())
                    .wrapping_sub(self.scan.clock.ns(record.start))
            ),
            self.call_id(record.call)
        );
        let kind = operation::kind(record.function);
        match (kind, OperationRecord::decode(record.payload)) {
            (Some(kind), Some(o)) => {
                let _ = write!(
                    line,
                    "{}(fd={}, offset={}, size={}) = {}",
                    kind.name, o.fd, o.offset, o.size, o.result
                );
                if record.code != 0 {
                    let _ = write!(line, " errno {}", record.code);
                }
                for (flag, text) in [
                    (operation::OUTSIDE, "outside MPI"),
                    (operation::DEFERRED, "deferred"),
                    (operation::DIRECT, "direct"),
                ] {
                    if o.flags & flag != 0 {
                        let _ = write!(line, ", {text}");
                    }
                }
                if let Some(call) = o.call {
                    let _ = write!(line, ", for {call:#x}");
                }
                if let Some(control) = o.control {
                    let _ = write!(line, ", control {control:#x}");
                }
                if let Some((read, written)) = o.sectors {
                    let _ = write!(line, ", sectors {read} read {written} dirtied");
                }
                if let Some(r) = o.request {
                    let _ = write!(
                        line,
                        ", request {} of thread {} on inode {}",
                        r.unique, r.tid, r.inode
                    );
                }
                if let Some((fd, offset)) = o.peer {
                    let _ = write!(line, ", other fd {fd} at {offset}");
                }
            }
            _ => line.push_str("damaged operation"),
        }
    }

    /// Seconds from the first call to `ticks`.
    fn since_first(&self, ticks: u64) -> String {
        exact_seconds(self.ns_since_first(ticks))
    }

    /// ns from the first call to `ticks`.
    pub(super) fn ns_since_first(&self, ticks: u64) -> i64 {
        self.scan.clock.ns(ticks).wrapping_sub(self.zero)
    }

    /// The CallID of the call with this number.
    pub(super) fn call_id(&self, counter: u64) -> u64 {
        self.file.info().call_id(counter)
    }

    /// The name of the function with this number.
    pub(super) fn name(&self, number: u16, library: &Library) -> String {
        let known = self.table.functions.get(usize::from(number));
        known
            .map(|f| f.name.as_str())
            .or_else(|| library.function(number))
            .map_or_else(|| format!("function_{number}"), str::to_owned)
    }

    fn call(&self, line: &mut String, thread: u32, record: &Record<'_>, library: &Library) {
        let clock = &self.scan.clock;
        let duration = clock.ns(record.stop()).wrapping_sub(clock.ns(record.start));
        // Writing to a String cannot fail, here and below.
        let _ = write!(
            line,
            "{thread} {} {} {:#x} {}(",
            self.since_first(record.start),
            exact_seconds(duration),
            self.call_id(record.call),
            self.name(record.function, library)
        );
        if let Some(function) = self.table.functions.get(usize::from(record.function)) {
            match ArgValues::decode(function, self.file.info().family, record.payload) {
                Some(args) => {
                    let _ = write!(line, "{}", CallValues::new(function, &args, library));
                }
                None => line.push_str("damaged"),
            }
        }
        line.push(')');
        if record.in_place {
            line.push_str(" in place");
        }
        if record.code != 0 {
            let _ = write!(line, " failed with {}", record.code);
        }
        if let Some((start, stop)) = record.cpu {
            let _ = write!(
                line,
                " cpu {}",
                exact_seconds(stop.wrapping_sub(start) as i64)
            );
        }
    }
}
