//! The process behind a session: reads the kernel's events as they come, writes transfers to the block files, and answers the
//! commands that come through its socket.
//!
//! Its memory does not grow with the run: events wait in it only until those of all processors have been read, transfers only
//! until they are done. What the kernel has no room for is counted and said.

use super::device::Device;
use super::events::{TimedBlockEvent, TraceEventLayouts};
use super::follow::{self, Follow};
use super::state::{SessionFiles, SessionOrder};
use super::tracefs::Instance;
use super::transfers::{CompletedTransfer, Transfers};
use super::{ring, state};
use blockfile::define::{Definition, ServerDefinition, ServerKind};
use blockfile::machine;
use blockfile::writer::{BlockFileWriter, ThreadWriter};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Longest time between two looks into the buffers.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Shortest time between two looks into the buffers.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Time after which an event that was begun is surely in the buffer, ns.
const REORDER_MARGIN_NS: u64 = 5_000_000;
/// Transfers queued so long before events were lost are not waited for any more, ns.
const LOST_TRANSFER_TIMEOUT_NS: u64 = 60_000_000_000;
/// Time for which transfers that are under way at the end are waited for.
const FINAL_TRANSFERS_TIMEOUT: Duration = Duration::from_secs(2);
/// Pages of events that are read of one processor before it is the next one's turn.
const MAX_PAGES_PER_TURN: usize = 4096;

/// Task of a reader process.
pub struct ReaderTask {
    /// Files and directories, absolute.
    pub paths: Vec<PathBuf>,
    /// Block file; of further devices a number comes into its name.
    pub output: PathBuf,
    /// State file.
    pub state: PathBuf,
    /// Whether it ends when its parent does.
    pub with_parent: bool,
}

static ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn end(_: libc::c_int) {
    ENDED.store(true, Relaxed);
}

/// Runs until a command or signal ends it. What stdout gets is a line of JSON that says that it has begun, or why not.
pub fn run(task: &ReaderTask) -> Result<(), String> {
    // SAFETY: plain calls; the handler only stores to an atomic.
    unsafe {
        libc::setsid();
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
        for signal in [libc::SIGTERM, libc::SIGINT] {
            libc::signal(
                signal,
                end as extern "C" fn(libc::c_int) as libc::sighandler_t,
            );
        }
        if task.with_parent {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        }
    }
    let say = |value: &Value| {
        let mut out = crate::terminal::stdout();
        writeln!(out, "{value}").and_then(|()| out.flush())
    };
    let mut reader = match EventReader::new(task) {
        Ok(reader) => reader,
        Err(why) => {
            drop(say(&json!({ "error": why })));
            return Err(why);
        }
    };
    // Whoever started us may be gone: then nobody will ever stop us.
    let report = say(&reader.report());
    close_output();
    if report.is_ok() {
        reader.follow();
    } else {
        reader.finish(None);
    }
    Ok(())
}

/// Lets go of stdout, which somebody may read to its end.
fn close_output() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        // SAFETY: a descriptor that is open.
        unsafe { libc::dup2(null.as_raw_fd(), 1) };
    }
}

struct Processor {
    file: File,
    /// Time of the last event that was read.
    last: u64,
    missed: u64,
}

struct DeviceOutput {
    path: PathBuf,
    writer: BlockFileWriter,
    thread: ThreadWriter,
    last: u64,
}

#[derive(Default)]
struct TransferSums {
    operations: u64,
    read: u64,
    written: u64,
}

struct EventReader {
    instance: Option<Instance>,
    state: SessionFiles,
    listener: UnixListener,
    processors: Vec<Processor>,
    page: Vec<u8>,
    layouts: TraceEventLayouts,
    events: Vec<TimedBlockEvent>,
    devices: &'static [Device],
    transfers: Transfers<'static>,
    outputs: Vec<DeviceOutput>,
    follow: Follow,
    sums: TransferSums,
    forgotten: u64,
}

/// Whether a thread is one of the kernel's own, or this process, which asks for nobody.
fn asks_by_itself(tid: u32) -> bool {
    const PF_KTHREAD: u64 = 0x0020_0000;
    if tid == 0 || tid == std::process::id() {
        return true;
    }
    let Ok(text) = std::fs::read_to_string(format!("/proc/{tid}/stat")) else {
        return false;
    };
    let flags = text
        .rfind(')')
        .and_then(|at| text.get(at + 2..)?.split(' ').nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & PF_KTHREAD != 0)
}

impl EventReader {
    fn new(task: &ReaderTask) -> Result<EventReader, String> {
        let devices = follow::devices(&task.paths).map_err(|refusal| refusal.to_string())?;
        // They live as long as the process.
        let devices: &'static [Device] = Box::leak(devices.into_boxed_slice());
        let instance = Instance::new()?;
        let (layouts, folders) = TraceEventLayouts::of(&instance)?;
        let mut numbers: Vec<u32> = devices.iter().flat_map(|d| [d.own, d.disk]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let filter: Vec<String> = numbers.iter().map(|n| format!("dev == {n}")).collect();
        let filter = filter.join(" || ");
        for folder in &folders {
            instance.write(&format!("{folder}/filter"), &filter)?;
            instance.write(&format!("{folder}/enable"), "1")?;
        }
        let processors = instance
            .processors()?
            .into_iter()
            .map(|number| {
                let path = instance.path(&format!("per_cpu/cpu{number}/trace_pipe_raw"));
                OpenOptions::new()
                    .read(true)
                    .custom_flags(libc::O_NONBLOCK)
                    .open(&path)
                    .map(|file| Processor {
                        file,
                        last: 0,
                        missed: 0,
                    })
                    .map_err(|error| format!("{}: {error}", path.display()))
            })
            .collect::<Result<Vec<_>, String>>()?;
        let page = page_size(&instance.read_global("events/header_page")?)
            .ok_or("events/header_page has another form in this kernel")?;
        instance.write("tracing_on", "1")?;
        let names: Vec<PathBuf> = (0..devices.len()).map(|i| name(&task.output, i)).collect();
        let (state, listener) = SessionFiles::create(&task.state, &names, &task.paths)?;
        let outputs = names
            .into_iter()
            .zip(devices)
            .enumerate()
            .map(|(i, (name, device))| output(name, i, device))
            .collect::<Result<Vec<_>, String>>()?;
        let mut reader = EventReader {
            instance: Some(instance),
            state,
            listener,
            processors,
            page: vec![0; page],
            layouts,
            events: Vec::new(),
            devices,
            transfers: Transfers::new(devices, asks_by_itself),
            outputs,
            follow: Follow::new(&task.paths, devices.to_vec()),
            sums: TransferSums::default(),
            forgotten: 0,
        };
        reader.look(true);
        Ok(reader)
    }

    /// Reads until it is told to stop.
    fn follow(&mut self) {
        let mut before = Instant::now();
        while !ENDED.load(Relaxed) {
            self.wait();
            std::thread::sleep(MIN_POLL_INTERVAL.saturating_sub(before.elapsed()));
            before = Instant::now();
            self.round(false);
            let (follow, outputs) = (&mut self.follow, &mut self.outputs);
            follow.changes(&mut |device, definition| define(outputs, device, definition));
            self.look(false);
            if let Ok((stream, _)) = self.listener.accept()
                && self.answer(stream)
            {
                return;
            }
        }
        self.finish(None);
    }

    fn look(&mut self, now: bool) {
        let (follow, outputs) = (&mut self.follow, &mut self.outputs);
        follow.look(now, &mut |device, definition| {
            define(outputs, device, definition);
        });
    }

    /// Waits until there is something to do.
    fn wait(&self) {
        let mut all: Vec<libc::pollfd> = Vec::with_capacity(self.processors.len() + 2);
        let mut add = |fd| {
            all.push(libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            });
        };
        add(self.listener.as_raw_fd());
        if let Some(notify) = self.follow.descriptor() {
            add(notify.as_raw_fd());
        }
        // These wake us when a buffer is half full.
        for processor in &self.processors {
            add(processor.file.as_raw_fd());
        }
        // SAFETY: as many structures as we say.
        unsafe {
            libc::poll(
                all.as_mut_ptr(),
                all.len() as libc::nfds_t,
                MAX_POLL_INTERVAL.as_millis() as libc::c_int,
            )
        };
    }

    /// Reads what is in the buffers, and takes the events up to the time up to which those of all processors are there; all
    /// of them when nothing more will come.
    fn round(&mut self, last: bool) {
        let mut horizon = machine::now().saturating_sub(REORDER_MARGIN_NS);
        let mut missed = false;
        for processor in &mut self.processors {
            let mut empty = false;
            for _ in 0..MAX_PAGES_PER_TURN {
                let Ok(read @ 1..) = processor.file.read(&mut self.page) else {
                    empty = true;
                    break;
                };
                let (layouts, events) = (&self.layouts, &mut self.events);
                let lost = ring::page(&self.page[..read], |time, data| {
                    processor.last = processor.last.max(time);
                    events.extend(layouts.event(time, data));
                });
                processor.missed += lost;
                missed |= lost > 0;
            }
            if !empty {
                horizon = horizon.min(processor.last);
            }
        }
        if last {
            horizon = u64::MAX;
        }
        self.events.sort_by_key(|event| event.time);
        let ready = self.events.partition_point(|event| event.time <= horizon);
        let (outputs, sums) = (&mut self.outputs, &mut self.sums);
        for event in self.events.drain(..ready) {
            self.transfers
                .event(&event, &mut |done| write(outputs, sums, &done));
        }
        if missed {
            self.transfers
                .forget(horizon.saturating_sub(LOST_TRANSFER_TIMEOUT_NS));
        }
    }

    /// Does what somebody asks for; true when that was to stop.
    fn answer(&mut self, mut stream: UnixStream) -> bool {
        drop(stream.set_nonblocking(false));
        drop(stream.set_read_timeout(Some(Duration::from_secs(1))));
        let (value, stop) = match state::order(&stream) {
            Ok(SessionOrder::Status) => (self.report(), false),
            Ok(SessionOrder::Stop { blocks }) => (self.finish(blocks.as_deref()), true),
            Err(error) => (json!({ "error": error.to_string() }), false),
        };
        drop(writeln!(stream, "{value}"));
        stop
    }

    /// Takes the last places and transfers, and leaves nothing but the block files.
    fn finish(&mut self, blocks: Option<&Path>) -> Value {
        let mut notes = Vec::new();
        if let Some(blocks) = blocks {
            match state::files_in(blocks) {
                Ok(files) => {
                    for (path, device, inode) in files {
                        self.follow.add(&path, device, inode);
                    }
                }
                Err(why) => notes.push(why),
            }
        }
        self.round(false);
        let (follow, outputs) = (&mut self.follow, &mut self.outputs);
        follow.end(&mut |device, definition| define(outputs, device, definition));
        let begun = Instant::now();
        loop {
            std::thread::sleep(MIN_POLL_INTERVAL);
            self.round(false);
            if self.transfers.under_way() == 0 || begun.elapsed() > FINAL_TRANSFERS_TIMEOUT {
                break;
            }
        }
        if let Some(instance) = &self.instance {
            drop(instance.write("tracing_on", "0"));
        }
        self.round(true);
        self.forgotten = self.lost();
        let counts = self.transfers.counts();
        let unfinished = counts.unfinished + self.transfers.under_way() as u64;
        for (count, reason) in [
            (
                self.forgotten,
                "events of the block layer for which the kernel had no room",
            ),
            (unfinished, "transfers of which the end was not seen"),
        ] {
            if count > 0 {
                let definition = Definition::Lost {
                    count,
                    reason: reason.to_owned(),
                };
                define(&mut self.outputs, 0, &definition);
            }
        }
        for output in &self.outputs {
            output.writer.finish();
        }
        let mut report = self.report();
        if let Some(all) = report.get_mut("notes").and_then(Value::as_array_mut) {
            all.extend(notes.into_iter().map(Value::from));
        }
        self.processors.clear();
        self.instance = None;
        self.state.remove();
        report
    }

    /// Events that the kernel had no room for.
    fn lost(&self) -> u64 {
        let seen: u64 = self.processors.iter().map(|p| p.missed).sum();
        let Some(instance) = &self.instance else {
            return self.forgotten;
        };
        let mut counted = 0;
        for number in instance.processors().unwrap_or_default() {
            let text = instance
                .read(&format!("per_cpu/cpu{number}/stats"))
                .unwrap_or_default();
            let lines = text.lines().filter_map(|line| {
                let (name, value) = line.split_once(": ")?;
                let counts = ["overrun", "commit overrun", "dropped events"].contains(&name);
                value.trim().parse::<u64>().ok().filter(|_| counts)
            });
            counted += lines.sum::<u64>();
        }
        seen.max(counted)
    }

    fn report(&self) -> Value {
        let counts = self.transfers.counts();
        let outputs = self.devices.iter().zip(&self.outputs);
        let outputs: Vec<Value> = outputs
            .map(|(device, output)| {
                json!({ "device": device.name, "file": output.path.to_string_lossy() })
            })
            .collect();
        json!({
            "pid": std::process::id(),
            "devices": outputs,
            "files": self.follow.files(),
            "operations": self.sums.operations,
            "bytes_read": self.sums.read,
            "bytes_written": self.sums.written,
            "under_way": self.transfers.under_way(),
            "events_lost": self.lost(),
            "records_lost": self.outputs.iter().map(|o| o.writer.lost()).sum::<u64>(),
            "unknown": counts.unknown,
            "unfinished": counts.unfinished,
            "notes": self.follow.notes().collect::<Vec<_>>(),
        })
    }
}

/// Bytes of a page of events, from the text of `header_page`.
fn page_size(text: &str) -> Option<usize> {
    let line = text.lines().find(|line| line.contains(" data;"))?;
    let value = |key: &str| -> Option<usize> {
        let rest = line.split_once(key)?.1;
        rest.split(';').next()?.trim().parse().ok()
    };
    Some(value("offset:")? + value("size:")?).filter(|size| (64..1 << 24).contains(size))
}

/// Name of the block file of a device.
fn name(path: &Path, number: usize) -> PathBuf {
    match number {
        0 => path.to_path_buf(),
        n => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}.{n}.blocks"))
        }
    }
}

fn output(path: PathBuf, number: usize, device: &Device) -> Result<DeviceOutput, String> {
    let server = ServerDefinition {
        role: ServerKind::Device,
        number: number as u32,
        name: device.name.clone(),
    };
    let writer = BlockFileWriter::create(&path, server)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let thread = writer.thread();
    Ok(DeviceOutput {
        path,
        writer,
        thread,
        last: 0,
    })
}

fn define(outputs: &mut [DeviceOutput], device: usize, definition: &Definition) {
    if let Some(output) = outputs.get(device) {
        output.writer.define(definition);
    }
}

fn write(outputs: &mut [DeviceOutput], sums: &mut TransferSums, done: &CompletedTransfer) {
    use blockfile::operation as op;
    let Some(output) = outputs.get_mut(done.device) else {
        return;
    };
    sums.operations += 1;
    let bytes = done.operation.result.max(0) as u64;
    match done.kind {
        op::DEVICE_READ | op::DEVICE_METADATA_READ => sums.read += bytes,
        op::DEVICE_WRITE | op::DEVICE_METADATA_WRITE => sums.written += bytes,
        _ => {}
    }
    // An event may be seen late, and records stand in the order of their ends.
    output.last = output.last.max(done.stop);
    output.thread.put(
        done.kind,
        done.start,
        output.last,
        done.error,
        &done.operation,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
";
        assert_eq!(page_size(text), Some(4096));
        assert_eq!(page_size("size:"), None);
    }

    #[test]
    fn threads_of_the_kernel() {
        assert!(asks_by_itself(0) && asks_by_itself(std::process::id()));
        let mut child = std::process::Command::new("sleep")
            .arg("10")
            .spawn()
            .unwrap();
        assert!(!asks_by_itself(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
