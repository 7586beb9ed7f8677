//! The attribution events of a rank's operations: which file a descriptor stood for, in which call they happened, and asynchronous ones
//! put together of their beginning and their end.

use super::out::ReadyEvents;
use super::walk::comes_at_start;
use crate::event::{AttributionEventKind, EnclosingCall, OperationEvent, SeenFile};
use crate::record::FileRole;
use blockfile::define::OpenFileDefinition;
use blockfile::operation::{self as op, Effect, kind};
use blockfile::record::Record;
use trace_model::hash::Map;
use unify::clock::ClockMap;

/// A call that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'n> {
    pub inside: EnclosingCall,
    /// The MPI_File that it is about: number and name.
    pub handle: Option<(u32, &'n str)>,
    /// Whether it opens that file.
    pub opens: bool,
}

/// A call that is running.
#[derive(Debug, Default)]
struct Running {
    inside: Option<EnclosingCall>,
    /// The MPI_File that it is about: number and name.
    handle: Option<(u32, String)>,
    /// Whether the operation opens that file.
    opening: bool,
    /// Whether that file has been found among the descriptors.
    found: bool,
    /// The last file without a role that it opened.
    candidate: Option<SeenFile>,
    /// Whether each further line of the thread is taken by an asynchronous operation.
    lanes: Vec<bool>,
}

/// An asynchronous operation that is under way.
#[derive(Debug)]
struct Outstanding {
    thread: u32,
    operation: OperationEvent,
}

/// The operations of a rank.
#[derive(Debug, Default)]
pub(super) struct RankOperations {
    running: Map<u32, Running>,
    by_fd: Map<i32, SeenFile>,
    outstanding: Map<u64, Outstanding>,
}

impl RankOperations {
    /// A call begins; `None` if it is one that never returned.
    pub fn begin(&mut self, thread: u32, call: Option<Beginning<'_>>) {
        let running = self.running.entry(thread).or_default();
        running.found = false;
        running.candidate = None;
        running.inside = None;
        running.handle = None;
        running.opening = false;
        if let Some(call) = call {
            running.inside = Some(call.inside);
            running.handle = call.handle.map(|(number, name)| (number, name.to_owned()));
            running.opening = call.opens;
        }
    }

    /// The operations that follow happen in a call that never returned.
    pub fn inside_open(&mut self, thread: u32, inside: EnclosingCall) {
        self.running.entry(thread).or_default().inside = Some(inside);
    }

    /// A call has returned: which.
    pub fn end(&mut self, thread: u32, ns: i64, out: &mut ReadyEvents) -> Option<EnclosingCall> {
        let running = self.running.get_mut(&thread)?;
        // MPI_File_open has opened one file, but under another name: a link.
        if let (true, false, Some((handle, _)), Some(mut file)) = (
            running.opening,
            running.found,
            &running.handle,
            running.candidate.take(),
        ) {
            file.handle = Some(*handle);
            file.role = FileRole::Data;
            for known in self.by_fd.values_mut().filter(|f| f.seen == file.seen) {
                *known = file.clone();
            }
            out.put(ns, thread, AttributionEventKind::File(file));
        }
        running.inside.take()
    }

    /// A descriptor stands for a file from now on.
    pub fn file(&mut self, thread: u32, file: OpenFileDefinition, ns: i64, out: &mut ReadyEvents) {
        let running = self.running.entry(thread).or_default();
        let mut seen = SeenFile {
            // AttributionEventKind it stood for before is over.
            seen: file.fd as u32,
            handle: None,
            role: FileRole::Other,
            device: file.device,
            inode: file.inode,
            name: file.path,
        };
        let base = last_part(&seen.name);
        let same = |other: &SeenFile| {
            other.role == FileRole::Data
                && other.inode != 0
                && (other.device, other.inode) == (seen.device, seen.inode)
        };
        if let Some((handle, name)) = &running.handle
            && last_part(name) == base
        {
            // A data file may be named as the library's own files are.
            seen.role = FileRole::Data;
            seen.handle = Some(*handle);
            running.found = true;
        } else if base.contains(".shfp.") {
            seen.role = FileRole::SharedPointer;
        } else if base.contains(".locktest.") || base.ends_with(".sm") {
            seen.role = FileRole::Side;
        } else if self.by_fd.values().any(same) {
            seen.role = FileRole::Data;
        } else if running.opening {
            running.candidate = Some(seen.clone());
        }
        self.by_fd.insert(file.fd, seen.clone());
        out.put(ns, thread, AttributionEventKind::File(seen));
    }

    /// An operation has ended, or one that [`comes_at_start`] begins.
    pub fn operation(
        &mut self,
        thread: u32,
        record: &Record<'_>,
        inside: bool,
        clock: &ClockMap,
        out: &mut ReadyEvents,
    ) {
        let (Some(kind), Some(what)) = (
            kind(record.function),
            op::OperationRecord::decode(record.payload),
        ) else {
            return;
        };
        let (start, stop) = (clock.ns(record.start), clock.ns(record.stop()));
        if kind.effect == Effect::Complete {
            self.complete(what, record.code, stop, out);
            return;
        }
        let fd = match kind.effect {
            Effect::Open => i32::try_from(what.result).unwrap_or(what.fd),
            _ => what.fd,
        };
        let running = self.running.entry(thread).or_default();
        let mut operation = OperationEvent {
            kind: record.function,
            lane: 0,
            start,
            stop: stop.max(start),
            error: record.code,
            record: what,
            file: self.by_fd.get(&fd).map(|f| f.seen),
            inside: running.inside.filter(|_| inside),
            outstanding: false,
            arrived: start,
        };
        match what.control {
            Some(control) if what.result >= 0 => {
                let free = running.lanes.iter().position(|taken| !taken);
                let lane = free.unwrap_or(running.lanes.len());
                match running.lanes.get_mut(lane) {
                    Some(taken) => *taken = true,
                    None => running.lanes.push(true),
                }
                operation.lane = u32::try_from(lane + 1).unwrap_or(u32::MAX);
                operation.outstanding = true;
                let begun = Outstanding {
                    thread,
                    operation: operation.clone(),
                };
                // A control block that is used again without aio_return: its result was never asked for.
                if let Some(old) = self.outstanding.insert(control, begun) {
                    self.give(old, stop, out);
                }
                out.put(start, thread, AttributionEventKind::Begins(operation));
            }
            _ => {
                let ns = if comes_at_start(record) { start } else { stop };
                out.put(ns, thread, AttributionEventKind::Operation(operation));
            }
        }
    }

    /// The result of an asynchronous operation has been asked for.
    fn complete(
        &mut self,
        what: op::OperationRecord,
        error: i32,
        stop: i64,
        out: &mut ReadyEvents,
    ) {
        let begun = what.control.and_then(|c| self.outstanding.remove(&c));
        let Some(mut begun) = begun else { return };
        begun.operation.record.result = what.result;
        begun.operation.error = error;
        self.give(begun, stop, out);
    }

    fn give(&mut self, mut begun: Outstanding, stop: i64, out: &mut ReadyEvents) {
        let lanes = self.running.get_mut(&begun.thread).map(|r| &mut r.lanes);
        let place = begun.operation.lane.saturating_sub(1) as usize;
        if let Some(taken) = lanes.and_then(|lanes| lanes.get_mut(place)) {
            *taken = false;
        }
        begun.operation.stop = stop.max(begun.operation.start);
        out.put(
            stop,
            begun.thread,
            AttributionEventKind::Operation(begun.operation),
        );
    }

    /// The process has ended: whose result was never asked for is given as it is.
    pub fn finish(&mut self, ns: i64, out: &mut ReadyEvents) {
        let mut left: Vec<Outstanding> = self.outstanding.drain().map(|(_, o)| o).collect();
        left.sort_by_key(|o| (o.operation.start, o.operation.record.control));
        for begun in left {
            self.give(begun, ns, out);
        }
    }
}

/// The name without directories, and without the file system that ROMIO takes in front (`ufs:name`).
fn last_part(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name.split_once(':') {
        Some((system, rest)) if system.bytes().all(|b| b.is_ascii_lowercase()) => rest,
        _ => name,
    }
}
