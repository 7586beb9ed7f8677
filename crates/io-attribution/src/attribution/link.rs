//! Operations below a rank's, and the links to what caused them: an operation waits in a link until its cause is known.

use super::resolved::Resolved;
use crate::fact::Actor;
use crate::item::Operation;
use blockfile::operation::{Layer, REQUEST_QUEUED, kind};
use std::cell::RefCell;
use std::rc::Rc;

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

    /// A link to an operation of which nothing will be known.
    pub fn nothing() -> Link {
        Link::known(Resolved::default())
    }

    pub fn same(&self, other: &Link) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// AttributionEventKind is known, if it is.
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

    /// Settles what the link stands for, and gives the operations that have waited for it.
    pub fn resolve(&self, resolved: Resolved) -> Vec<Lower> {
        let known = State::Known(Rc::new(resolved));
        match self.0.replace(known) {
            State::Waiting(waiting) => waiting,
            State::Known(_) => Vec::new(),
        }
    }
}

/// An operation below a rank's.
#[derive(Debug)]
pub(super) struct Lower {
    pub operation: Operation,
    pub actor: Actor,
    pub thread: u32,
    /// AttributionEventKind triggered it.
    pub trigger: Option<Link>,
    /// The operations whose bytes it moved, and which bytes of the file that these worked on.
    pub carries: Vec<(Link, (u64, u64))>,
    /// Bytes of its file that it moved.
    pub pieces: Vec<(u64, u64)>,
    /// AttributionEventKind has to be added to offsets of its own file to get those of the file that the link is about.
    pub shift: i64,
    /// Whether it was found by pages.
    pub by_page: bool,
    /// For what happens below it.
    pub own: Link,
}

impl Lower {
    pub fn new(operation: Operation, actor: Actor, thread: u32) -> Lower {
        Lower {
            pieces: operation
                .moved()
                .into_iter()
                .filter(|(start, end)| start < end)
                .collect(),
            operation,
            actor,
            thread,
            trigger: None,
            carries: Vec::new(),
            shift: 0,
            by_page: false,
            own: Link::new(),
        }
    }

    /// Notes that the operation moved the bytes of the one that `link` stands for.
    pub fn carry(&mut self, link: &Link) {
        let pieces = self.pieces.iter();
        self.carries = pieces.map(|&range| (link.clone(), range)).collect();
    }

    /// The number of the request that it is.
    pub fn request(&self) -> Option<u64> {
        let layer = kind(self.operation.kind)?.layer;
        let is = layer == Layer::Request && self.operation.kind != REQUEST_QUEUED;
        self.operation
            .record
            .request
            .filter(|_| is)
            .map(|r| r.unique)
    }
}
