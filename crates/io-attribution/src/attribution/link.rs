//! Operations below a rank's, and the links to what caused them: an operation waits in a link until its cause is known.

use super::resolved::ResolvedOperation;
use crate::fact::Actor;
use crate::item::OperationEvent;
use blockfile::operation::{Layer, REQUEST_QUEUED, kind};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Debug)]
enum LinkState {
    /// Operations that wait for it.
    Waiting(Vec<LowerOperation>),
    Known(Rc<ResolvedOperation>),
}

/// Shared by an operation and those below it.
#[derive(Clone, Debug)]
pub(super) struct CauseLink(Rc<RefCell<LinkState>>);

impl CauseLink {
    pub fn new() -> CauseLink {
        CauseLink(Rc::new(RefCell::new(LinkState::Waiting(Vec::new()))))
    }

    pub fn known(resolved: ResolvedOperation) -> CauseLink {
        CauseLink(Rc::new(RefCell::new(LinkState::Known(Rc::new(resolved)))))
    }

    /// A link to an operation of which nothing will be known.
    pub fn nothing() -> CauseLink {
        CauseLink::known(ResolvedOperation::default())
    }

    pub fn same(&self, other: &CauseLink) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// AttributionEventKind is known, if it is.
    pub fn get(&self) -> Option<Rc<ResolvedOperation>> {
        match &*self.0.borrow() {
            LinkState::Known(resolved) => Some(resolved.clone()),
            LinkState::Waiting(_) => None,
        }
    }

    /// Keeps `lower` until it is known.
    pub fn wait(&self, lower: LowerOperation) {
        if let LinkState::Waiting(waiting) = &mut *self.0.borrow_mut() {
            waiting.push(lower);
        }
    }

    /// Settles what the link stands for, and gives the operations that have waited for it.
    pub fn resolve(&self, resolved: ResolvedOperation) -> Vec<LowerOperation> {
        let known = LinkState::Known(Rc::new(resolved));
        match self.0.replace(known) {
            LinkState::Waiting(waiting) => waiting,
            LinkState::Known(_) => Vec::new(),
        }
    }
}

/// An operation below a rank's.
#[derive(Debug)]
pub(super) struct LowerOperation {
    pub operation: OperationEvent,
    pub actor: Actor,
    pub thread: u32,
    /// AttributionEventKind triggered it.
    pub trigger: Option<CauseLink>,
    /// The operations whose bytes it moved, and which bytes of the file that these worked on.
    pub carries: Vec<(CauseLink, (u64, u64))>,
    /// Bytes of its file that it moved.
    pub pieces: Vec<(u64, u64)>,
    /// AttributionEventKind has to be added to offsets of its own file to get those of the file that the link is about.
    pub shift: i64,
    /// Whether it was found by pages.
    pub by_page: bool,
    /// For what happens below it.
    pub own: CauseLink,
}

impl LowerOperation {
    pub fn new(operation: OperationEvent, actor: Actor, thread: u32) -> LowerOperation {
        LowerOperation {
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
            own: CauseLink::new(),
        }
    }

    /// Notes that the operation moved the bytes of the one that `link` stands for.
    pub fn carry(&mut self, link: &CauseLink) {
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
