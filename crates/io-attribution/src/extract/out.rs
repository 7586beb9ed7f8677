//! Attribution events on their way out of a block file.

use crate::event::{AttributionEvent, AttributionEventKind};
use crate::record::Actor;
use std::collections::VecDeque;

/// Attribution events that are ready.
#[derive(Debug)]
pub(super) struct ReadyEvents {
    pub actor: Actor,
    /// Attribution events with their times, ns on rank 0's clock.
    pub ready: VecDeque<(i64, AttributionEvent)>,
    /// Time of the last event, ns.
    pub last: i64,
}

impl ReadyEvents {
    /// No events of this actor so far.
    pub fn new(actor: Actor) -> ReadyEvents {
        ReadyEvents {
            actor,
            ready: VecDeque::new(),
            last: i64::MIN,
        }
    }

    /// Adds an event at `ns`, or at the time of the event before if that is later.
    pub fn put(&mut self, ns: i64, thread: u32, what: AttributionEventKind) {
        self.last = self.last.max(ns);
        let actor = self.actor;
        let item = AttributionEvent {
            actor,
            thread,
            what,
        };
        self.ready.push_back((self.last, item));
    }
}
