//! The threads of a process, each standing at one of its calls.

use super::comms::CommId;
use super::places::Place;
use super::timeline::Cursor;
use records::define::{self, Definition};
use records::file::{OpenCall, Thread};

/// A definition that has been read and does not count yet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pending {
    /// A datatype: handle, and size in bytes if it has one.
    Type { handle: u64, size: Option<u64> },
    /// A communicator.
    Comm(CommId),
}

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// Its call starts.
    Start,
    /// Its call ends.
    Stop,
    /// The program annotates.
    Annotation,
    /// A call starts that never came to its end.
    OpenStart(OpenCall),
    /// That call is given an end.
    OpenStop(OpenCall),
    /// No more calls; definitions may be left.
    Nothing,
}

/// One thread.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    pub cursor: Cursor<'a>,
    /// Number in CLOG2 records.
    pub thread: i32,
    pub next: Next,
    /// Definitions read since the last call.
    pub pending: Vec<Pending>,
    /// Communicator the call names.
    pub comm: Option<CommId>,
    /// Where the call is drawn.
    pub place: Place,
    /// Communicator of the matched message that the call receives.
    pub message: Option<CommId>,
    /// Numbers of the communicators that are still to be defined.
    defined: std::slice::Iter<'a, CommId>,
    open: Option<OpenCall>,
    /// Latest time given out.
    key: u64,
}

impl<'a> Lane<'a> {
    /// Before the first call of `thread`, the one at this position in the file. `defined` are its communicators in the order
    /// of their definitions, `open` is the call that never ended, if it is to be shown.
    pub fn new(
        thread: &Thread<'a>,
        position: usize,
        defined: &'a [CommId],
        open: Option<OpenCall>,
    ) -> Self {
        Lane {
            cursor: Cursor::new(thread),
            thread: i32::try_from(position).unwrap_or(i32::MAX),
            next: Next::Nothing,
            pending: Vec::new(),
            comm: None,
            place: Place::default(),
            message: None,
            defined: defined.iter(),
            open,
            key: 0,
        }
    }

    /// Goes to the next call or annotation. Gives the time, in ticks, at which what [`Lane::next`] then says happens; `None` at the end.
    #[inline]
    pub fn go_on(&mut self) -> Option<u64> {
        while self.cursor.advance() {
            let record = self.cursor.record();
            if record.is_call() {
                self.key = self.key.max(record.start);
                self.next = Next::Start;
                return Some(self.key);
            }
            match record.function {
                define::COMM => self
                    .pending
                    .extend(self.defined.next().map(|&id| Pending::Comm(id))),
                define::TYPE => {
                    if let Some(Definition::Type(t)) =
                        Definition::decode(define::TYPE, record.payload)
                    {
                        self.pending.push(Pending::Type {
                            handle: t.handle,
                            size: u64::try_from(t.size).ok(),
                        });
                    }
                }
                define::ANNOTATION => {
                    self.key = self.key.max(record.start);
                    self.next = Next::Annotation;
                    return Some(self.key);
                }
                _ => {}
            }
        }
        // A call that was completed is in the records, too: then the process died before it could say that it is not open.
        if let Some(open) = self.open.take().filter(|open| open.start >= self.key) {
            self.key = open.start;
            self.next = Next::OpenStart(open);
            return Some(self.key);
        }
        self.next = Next::Nothing;
        (!self.pending.is_empty()).then_some(self.key)
    }

    /// Time at which the call that started at `start` ends, ticks.
    #[inline]
    pub fn stop_key(&mut self, start: u64) -> u64 {
        self.key = start.max(self.cursor.record().stop());
        self.key
    }
}
