//! Operations of servers and devices, and links to their causes. An operation waits in a link until its cause is resolved.

use super::resolved::ResolvedOperation;
use crate::event::OperationEvent;
use crate::record::Actor;
use blockfile::operation::{Layer, REQUEST_QUEUED, kind};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Debug)]
enum LinkState {
    /// The cause is not resolved; these operations wait for it.
    Waiting(Vec<LowerOperation>),
    Known(Rc<ResolvedOperation>),
}

/// Link to an operation and its attribution, shared by the operations below it.
#[derive(Clone, Debug)]
pub(super) struct CauseLink(Rc<RefCell<LinkState>>);

impl CauseLink {
    pub fn new() -> CauseLink {
        CauseLink(Rc::new(RefCell::new(LinkState::Waiting(Vec::new()))))
    }

    pub fn known(resolved: ResolvedOperation) -> CauseLink {
        CauseLink(Rc::new(RefCell::new(LinkState::Known(Rc::new(resolved)))))
    }

    /// A link to an operation that is never attributed.
    pub fn nothing() -> CauseLink {
        CauseLink::known(ResolvedOperation::default())
    }

    pub fn same(&self, other: &CauseLink) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Attribution of the cause; `None` if it is not resolved yet.
    pub fn get(&self) -> Option<Rc<ResolvedOperation>> {
        match &*self.0.borrow() {
            LinkState::Known(resolved) => Some(resolved.clone()),
            LinkState::Waiting(_) => None,
        }
    }

    /// Keeps `lower` until the cause is resolved.
    pub fn wait(&self, lower: LowerOperation) {
        if let LinkState::Waiting(waiting) = &mut *self.0.borrow_mut() {
            waiting.push(lower);
        }
    }

    /// Resolves the cause, and returns the operations that have waited for it.
    pub fn resolve(&self, resolved: ResolvedOperation) -> Vec<LowerOperation> {
        let known = LinkState::Known(Rc::new(resolved));
        match self.0.replace(known) {
            LinkState::Waiting(waiting) => waiting,
            LinkState::Known(_) => Vec::new(),
        }
    }
}

/// An operation of a server or device.
#[derive(Debug)]
pub(super) struct LowerOperation {
    pub operation: OperationEvent,
    pub actor: Actor,
    pub thread: u32,
    /// Operation that triggered it.
    pub trigger: Option<CauseLink>,
    /// Operations whose bytes it moved, each with the range of bytes in the file of that operation.
    pub carries: Vec<(CauseLink, (u64, u64))>,
    /// Bytes of its file that it moved.
    pub pieces: Vec<(u64, u64)>,
    /// Offset in the file of the link minus offset in its own file, bytes.
    pub shift: i64,
    /// True if its cause was found by pages.
    pub by_page: bool,
    /// Link for the operations below it.
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

    /// Notes that the operation moved bytes of the operation of `link`.
    pub fn carry(&mut self, link: &CauseLink) {
        let pieces = self.pieces.iter();
        self.carries = pieces.map(|&range| (link.clone(), range)).collect();
    }

    /// Number of the request; `None` if the operation is no request.
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
