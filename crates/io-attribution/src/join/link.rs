//! What is known of an operation to those that happened below it: filled in when it has been found out.

use super::lower::Lower;
use crate::fact::{Place, Precision};
use crate::ranges::Ranges;
use std::cell::RefCell;
use std::rc::Rc;

/// What a call got of a transfer.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    pub call: u64,
    pub from: Place,
    pub ranges: Ranges,
    /// Its bytes that the transfer moved, in the order of the file.
    pub span: (u64, u64),
    pub bytes: u64,
    pub precision: Precision,
}

impl Credit {
    /// Bytes of it between these offsets of the file.
    pub fn within(&self, range: (u64, u64)) -> u64 {
        let (a, b) = self.ranges.overlap(range.0, range.1);
        b.min(self.span.1).saturating_sub(a.max(self.span.0))
    }
}

/// What a transfer moved for whom.
#[derive(Debug, Default)]
pub(super) struct Share {
    pub credits: Vec<Credit>,
    /// Bytes that nobody asked for; `None` if those that no call got may be of a call that is not known.
    pub filler: Option<u64>,
}

impl Share {
    /// Of the transfer of these bytes, of which calls got `credits`. `is_complete`: there is no other call that could have asked for
    /// any.
    pub fn new((start, end): (u64, u64), credits: Vec<Credit>, is_complete: bool) -> Share {
        let asked = credits
            .iter()
            .fold(0_u64, |sum, c| sum.saturating_add(c.bytes));
        let filler = is_complete.then(|| (end - start).saturating_sub(asked));
        Share { credits, filler }
    }
}

/// What was found out about an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    /// Number of the file of the program.
    pub file: Option<u32>,
    /// The call that triggered it, and where that is drawn.
    pub trigger: Option<(u64, Place)>,
    pub credits: Vec<Credit>,
    /// Whether bytes that no call got of it are known to be nobody's, and not those of a call that is not known.
    pub is_complete: bool,
    /// Bytes of the program's file that it moved.
    pub range: Option<(u64, u64)>,
    /// What has to be added to offsets of the file that it worked on to get offsets of the program's file.
    pub shift: i64,
}

#[derive(Debug)]
enum State {
    /// Operations that wait for it.
    Waiting(Vec<Lower>),
    Known(Rc<Resolved>),
}

/// Shared by an operation and those below it.
#[derive(Clone, Debug)]
pub(super) struct Link(Rc<RefCell<State>>);

impl Link {
    pub fn new() -> Link {
        Link(Rc::new(RefCell::new(State::Waiting(Vec::new()))))
    }

    pub fn known(resolved: Resolved) -> Link {
        Link(Rc::new(RefCell::new(State::Known(Rc::new(resolved)))))
    }

    pub fn same(&self, other: &Link) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// What is known, if it is.
    pub fn get(&self) -> Option<Rc<Resolved>> {
        match &*self.0.borrow() {
            State::Known(resolved) => Some(resolved.clone()),
            State::Waiting(_) => None,
        }
    }

    /// Keeps `lower` until it is known.
    pub fn wait(&self, lower: Lower) {
        if let State::Waiting(waiting) = &mut *self.0.borrow_mut() {
            waiting.push(lower);
        }
    }

    /// It is known now. Gives those that have waited.
    pub fn resolve(&self, resolved: Resolved) -> Vec<Lower> {
        let known = State::Known(Rc::new(resolved));
        match self.0.replace(known) {
            State::Waiting(waiting) => waiting,
            State::Known(_) => Vec::new(),
        }
    }
}
