//! The records of one thread, each call twice: when it begins and when it returns, and in between the operations in it.

use blockfile::define::{self, Definition, FileView, OpenFileDefinition};
use blockfile::file::{OpenCall, ThreadBlocks};
use blockfile::operation::{Effect, OUTSIDE, OperationRecord, kind};
use blockfile::record::Record;
use std::collections::VecDeque;
use unify::comms::CommId;
use unify::timeline::Cursor;

/// A definition recorded before a call.
#[derive(Debug)]
pub(super) enum PendingDefinition {
    /// A datatype: handle, and size in bytes if it has one.
    Type { handle: u64, size: Option<u64> },
    /// A communicator.
    Comm(CommId),
    /// The view that the call has set.
    View(FileView),
    /// Position of an individual file pointer: handle, etypes.
    Position { file: u64, etypes: i64 },
    /// Accesses through this handle that are not recorded: how many collective ones, and whether work of some goes on.
    LeftOut {
        file: u64,
        collective: u32,
        outlasts: bool,
    },
}

/// Next step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkStep {
    /// What a call that is not recorded has made or set begins to count: [`ThreadWalk::take_early`].
    Define,
    /// The call begins.
    Start,
    /// An operation has ended, or one that [`comes_at_start`] begins; [`ThreadWalk::operation`].
    Operation {
        /// Whether it is one of the call.
        inside: bool,
    },
    /// The call has returned.
    Stop,
}

/// Bytes from which on a transfer may become more requests than can be kept while nobody knows what made them.
const LARGE_BYTES: i64 = 1 << 20;

/// True for an operation that is given when it begins: the requests that it makes are answered before it ends, and those of an asynchronous or
/// large transfer can be many.
pub(super) fn comes_at_start(record: &Record<'_>) -> bool {
    let effect = kind(record.function).map(|kind| kind.effect);
    match effect {
        Some(Effect::StartRead | Effect::StartWrite) => true,
        Some(Effect::Read | Effect::Write) => OperationRecord::decode(record.payload)
            .is_some_and(|operation| operation.size >= LARGE_BYTES),
        _ => false,
    }
}

/// Position in the records of one thread.
#[derive(Debug)]
pub(super) struct ThreadWalk<'a> {
    pub thread: u32,
    /// Cursor at the record of the next call.
    ahead: Cursor<'a>,
    /// Cursor at the record of the next operation.
    behind: Cursor<'a>,
    /// Records that `behind` has not passed yet, although they have been dealt with.
    skip: u64,
    /// Records in front of the call that `behind` has still to give.
    left: u64,
    /// Definitions written in the call.
    pub pending: Vec<PendingDefinition>,
    /// Definitions in front of the call that were written before it began, with the ticks of that.
    early: VecDeque<(u64, PendingDefinition)>,
    /// Whether blocks were given up for newer ones (`at-disk-limit newest`). Definitions without a time are copies of those in them.
    has_copies: bool,
    /// Files that descriptors stand for when the next operation happens.
    pub files: Vec<OpenFileDefinition>,
    defined: std::slice::Iter<'a, CommId>,
    open: Option<OpenCall>,
    /// Whether there is a call behind the operations: the recorded one, or the one that never returned.
    state: CallAhead,
    begun: bool,
    /// Operations seen in the call.
    pub inside: u64,
    /// The communicator that the running call frees, and its handle, as it was when the call began: the library may give the handle to another thread
    /// before the call returns.
    pub frees: Option<(u64, CommId)>,
    key: u64,
}

#[derive(Clone, Copy, Debug)]
enum CallAhead {
    Call,
    Open(OpenCall),
    End,
}

impl<'a> ThreadWalk<'a> {
    /// Before the first record of `thread`, whose communicators are `defined`. `has_copies` tells whether blocks of the process were
    /// given up for newer ones.
    pub fn new(thread: &ThreadBlocks<'a>, defined: &'a [CommId], has_copies: bool) -> Self {
        ThreadWalk {
            thread: thread.number,
            ahead: Cursor::new(thread),
            behind: Cursor::new(thread),
            skip: 0,
            left: 0,
            pending: Vec::new(),
            early: VecDeque::new(),
            has_copies,
            files: Vec::new(),
            defined: defined.iter(),
            open: thread.open_call(),
            state: CallAhead::End,
            begun: false,
            inside: 0,
            frees: None,
            key: 0,
        }
    }

    /// The call, where it was recorded.
    pub fn call(&self) -> Option<Record<'_>> {
        matches!(self.state, CallAhead::Call).then(|| self.ahead.record())
    }

    /// The call that never returned.
    pub fn open_call(&self) -> Option<OpenCall> {
        match self.state {
            CallAhead::Open(open) => Some(open),
            _ => None,
        }
    }

    /// The operation that [`WalkStep::Operation`] is about.
    pub fn operation(&self) -> Record<'_> {
        self.behind.record()
    }

    /// Goes to the next call. Gives what happens first, and when, in ticks; `None` at the end.
    pub fn go_on(&mut self) -> Option<(u64, WalkStep)> {
        let (mut records, mut any) = (0, false);
        self.begun = false;
        self.inside = 0;
        self.state = loop {
            if !self.ahead.advance() {
                // A call that was completed is in the records, too.
                let open = self.open.take().filter(|open| open.start >= self.key);
                break open.map_or(CallAhead::End, CallAhead::Open);
            }
            let record = self.ahead.record();
            if record.is_call() {
                break CallAhead::Call;
            }
            records += 1;
            any |= record.is_operation() || record.function == define::FILE;
            let definition = Self::definition(&mut self.defined, &record);
            let time = record.start;
            match definition {
                // It tells where the next call begins. A definition without a time belongs to that call, too, if it is no copy.
                Some(definition @ PendingDefinition::Position { .. }) => {
                    self.pending.push(definition);
                }
                Some(definition) if time == 0 && !self.has_copies => {
                    self.pending.push(definition);
                }
                Some(definition) => self.early.push_back((time, definition)),
                None => {}
            }
        };
        let start = match self.state {
            CallAhead::Call => self.ahead.record().start,
            CallAhead::Open(open) => open.start,
            CallAhead::End => u64::MAX,
        };
        let before = self.early.iter().take_while(|(time, _)| *time < start);
        let before = before.count();
        let in_call = self.early.drain(before..);
        self.pending
            .extend(in_call.map(|(_, definition)| definition));
        if any {
            for _ in 0..self.skip {
                self.behind.advance();
            }
            self.skip = 1;
            self.left = records;
            self.behind.advance();
        } else {
            self.skip += records + 1;
            self.left = 0;
        }
        self.settle()
    }

    /// The definition that a record is, if one has to know of it.
    fn definition(
        defined: &mut std::slice::Iter<'a, CommId>,
        record: &Record<'_>,
    ) -> Option<PendingDefinition> {
        match record.function {
            define::COMM => defined.next().map(|&id| PendingDefinition::Comm(id)),
            define::TYPE | define::VIEW | define::POSITION | define::LEFT_OUT => {
                match Definition::decode(record.function, record.payload)? {
                    Definition::Type(t) => Some(PendingDefinition::Type {
                        handle: t.handle,
                        size: u64::try_from(t.size).ok(),
                    }),
                    Definition::View(view) => Some(PendingDefinition::View(view)),
                    Definition::Position { file, etypes } => {
                        Some(PendingDefinition::Position { file, etypes })
                    }
                    Definition::LeftOut {
                        file,
                        collective,
                        outlasts,
                    } => Some(PendingDefinition::LeftOut {
                        file,
                        collective,
                        outlasts,
                    }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The definition that [`WalkStep::Define`] is about.
    pub fn take_early(&mut self) -> Option<PendingDefinition> {
        self.early.pop_front().map(|(_, definition)| definition)
    }

    /// AttributionEventKind happens after that which has just been dealt with.
    pub fn after(&mut self, done: WalkStep) -> Option<(u64, WalkStep)> {
        match done {
            WalkStep::Define | WalkStep::Start => {}
            WalkStep::Operation { inside } => {
                self.inside += u64::from(inside);
                self.pass();
            }
            WalkStep::Stop => return self.go_on(),
        }
        self.settle()
    }

    fn pass(&mut self) {
        self.left -= 1;
        if self.left > 0 {
            self.behind.advance();
        }
    }

    fn settle(&mut self) -> Option<(u64, WalkStep)> {
        let (number, start, stop) = match self.state {
            CallAhead::Call => {
                let call = self.ahead.record();
                (Some(call.call), call.start, call.stop())
            }
            CallAhead::Open(open) => (Some(open.call), open.start, u64::MAX),
            CallAhead::End => (None, 0, 0),
        };
        while self.left > 0 {
            let record = self.behind.record();
            if record.is_operation() {
                let ticks = match comes_at_start(&record) {
                    true => record.start,
                    false => record.stop(),
                };
                if let Some(&(time, _)) = self.early.front().filter(|(time, _)| *time <= ticks) {
                    return self.at(time, WalkStep::Define);
                }
                let inside = Some(record.call) == number
                    && OperationRecord::decode(record.payload)
                        .is_some_and(|o| o.flags & OUTSIDE == 0);
                if inside && !self.begun {
                    self.begun = true;
                    return self.at(start, WalkStep::Start);
                }
                return self.at(ticks, WalkStep::Operation { inside });
            }
            if record.function == define::FILE
                && let Some(Definition::File(file)) =
                    Definition::decode(define::FILE, record.payload)
            {
                self.files.push(file);
            }
            self.pass();
        }
        if let Some(&(time, _)) = self.early.front() {
            return self.at(time, WalkStep::Define);
        }
        number?;
        if !self.begun {
            self.begun = true;
            return self.at(start, WalkStep::Start);
        }
        self.at(stop, WalkStep::Stop)
    }

    fn at(&mut self, ticks: u64, next: WalkStep) -> Option<(u64, WalkStep)> {
        if ticks != u64::MAX {
            self.key = self.key.max(ticks);
            return Some((self.key, next));
        }
        Some((ticks, next))
    }
}
