//! Limits for clients that only connect to a data server: connections are limited in number, and one that has not shown
//! that it may ask is one of few and short-lived.

use super::address::ServerStream;
use crate::terminal::tell;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Connections at a time: four front ends with 256 threads each.
const MAX_CONNECTIONS: usize = 1024;
/// Connections at a time that have not shown that they may ask: one more closes the oldest.
const MAX_UNAUTHENTICATED_CONNECTIONS: usize = 64;
/// Most refusals that are told: a client could go on for ever.
const MAX_REPORTED_REFUSALS: usize = 20;

/// The connections of a server.
#[derive(Debug, Default)]
pub struct Visitors {
    count: AtomicUsize,
    next: AtomicU64,
    refused: AtomicUsize,
    strangers: Mutex<VecDeque<(u64, ServerStream)>>,
}

/// A connection to a server; it counts until this is dropped.
#[derive(Debug)]
pub struct Visitor {
    visitors: Arc<Visitors>,
    number: u64,
}

impl Visitors {
    /// Counts a new connection; `None` when there are too many.
    pub fn add(self: &Arc<Self>, stream: &ServerStream) -> Option<Visitor> {
        let visitor = Visitor {
            visitors: Arc::clone(self),
            number: self.next.fetch_add(1, Relaxed),
        };
        let others = self.count.fetch_add(1, Relaxed);
        let copy = stream.try_clone().ok();
        let copy = copy.filter(|_| others < MAX_CONNECTIONS)?;
        let mut strangers = self.strangers.lock();
        if strangers.len() >= MAX_UNAUTHENTICATED_CONNECTIONS
            && let Some((_, oldest)) = strangers.pop_front()
        {
            oldest.close();
        }
        strangers.push_back((visitor.number, copy));
        Some(visitor)
    }

    /// Says why a connection is given up, unless that has been said often.
    pub fn report(&self, why: &dyn std::fmt::Display) {
        let refused = self.refused.fetch_add(1, Relaxed);
        if refused < MAX_REPORTED_REFUSALS {
            tell!("mpitrace: data server: a connection is given up: {why}");
        } else if refused == MAX_REPORTED_REFUSALS {
            tell!("mpitrace: data server: further such connections are not told");
        }
    }
}

impl Visitor {
    /// Takes note that the client has shown that it may ask.
    pub fn is_let_in(&self) {
        let mut strangers = self.visitors.strangers.lock();
        strangers.retain(|(number, _)| *number != self.number);
    }

    /// The connections of the server, this one among them.
    pub fn others(&self) -> &Visitors {
        &self.visitors
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.is_let_in();
        self.visitors.count.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    #[test]
    fn one_too_many_closes_the_oldest_stranger() {
        let visitors = Arc::new(Visitors::default());
        let mut ends = Vec::new();
        for number in 0..=MAX_UNAUTHENTICATED_CONNECTIONS + 1 {
            let (ours, theirs) = UnixStream::pair().unwrap();
            theirs
                .set_read_timeout(Some(Duration::from_millis(10)))
                .unwrap();
            let ours = ServerStream::Unix(ours);
            let visitor = visitors.add(&ours).unwrap();
            if number == 0 {
                visitor.is_let_in();
            }
            ends.push((ours, theirs, visitor));
        }
        let is_closed = |number: usize, ends: &mut Vec<(ServerStream, UnixStream, Visitor)>| {
            matches!(ends[number].1.read(&mut [0]), Ok(0))
        };
        let closed: Vec<bool> = (0..4).map(|number| is_closed(number, &mut ends)).collect();
        assert_eq!(closed, [false, true, false, false]);
        drop(ends);
        assert_eq!(visitors.count.load(Relaxed), 0);
        assert!(visitors.strangers.lock().is_empty());
    }

    #[test]
    fn there_is_a_most() {
        let visitors = Arc::new(Visitors::default());
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let ours = ServerStream::Unix(ours);
        let mut all: Vec<Visitor> = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            let visitor = visitors.add(&ours).unwrap();
            visitor.is_let_in();
            all.push(visitor);
        }
        assert!(visitors.add(&ours).is_none());
        all.pop();
        assert!(visitors.add(&ours).is_some());
    }
}
