//! Numbers of the requests of a process, by which infos say what a call starts and completes.

use super::number_text::push_numbers;
use unify::lanes::{StartedKind, StartedOperation};

/// Numbers of the requests that a process makes, and those that the call has to do with that is looked at.
#[derive(Debug, Default)]
pub(super) struct RequestNumbers {
    /// Number of the last request; the first has 1.
    last: u32,
    /// The request that the call has made.
    pub made: Option<u32>,
    pub completed: Vec<u32>,
    /// The persistent operations that the call has started.
    pub started: Vec<StartedOperation>,
    /// Number of the last persistent collective operation; the first has 1.
    last_prepared: u32,
    /// The persistent collective operation that the call has made.
    pub prepared: Option<u32>,
    /// The list of numbers as text.
    text: Vec<u8>,
}

impl RequestNumbers {
    /// The request that a call has started when it began. Puts the persistent operations that it has started into `started`.
    #[inline]
    pub fn begun(&mut self, started: &mut Vec<StartedOperation>) -> Option<u32> {
        if !self.started.is_empty() {
            started.append(&mut self.started);
        }
        self.made.take()
    }

    /// A call ends that has started these when it began.
    #[inline]
    pub fn end_call(&mut self, begun: Option<u32>, started: &mut Vec<StartedOperation>) {
        self.made = begun;
        self.completed.clear();
        self.prepared = None;
        self.started.clear();
        if !started.is_empty() {
            self.started.append(started);
        }
    }

    /// The call makes a persistent collective operation. Gives its number.
    pub fn prepare(&mut self) -> u32 {
        self.last_prepared = self.last_prepared.wrapping_add(1);
        self.prepared = Some(self.last_prepared);
        self.last_prepared
    }

    /// The call has started a persistent operation.
    pub fn start(&mut self, request: u32, kind: StartedKind) {
        self.started.push(StartedOperation { request, kind });
    }

    /// The call makes a request. Gives its number.
    #[inline]
    pub fn make(&mut self) -> u32 {
        self.last = self.last.wrapping_add(1);
        self.made = Some(self.last);
        self.last
    }

    /// The call has completed the operation of the request with this number; 0 is one without.
    #[inline]
    pub fn complete(&mut self, number: u32) {
        if number > 0 {
            self.completed.push(number);
        }
    }

    /// The numbers of completed requests as a text such as `3,7-9`.
    pub fn completed_text(&mut self) -> &[u8] {
        self.completed.sort_unstable();
        self.text.clear();
        push_numbers(&mut self.text, self.completed.iter().copied());
        &self.text
    }

    /// The numbers of the requests that the call has started of a kind, as such a text.
    pub fn started_text(&mut self, kind: StartedKind) -> &[u8] {
        let started = self.started.iter().filter(|started| started.kind == kind);
        self.text.clear();
        push_numbers(&mut self.text, started.map(|started| started.request));
        &self.text
    }

    /// Requests and persistent collective operations that the call has started: a text such as `7:2,8:3`.
    pub fn started_collectives(&self) -> String {
        let pairs = self
            .started
            .iter()
            .filter_map(|started| match started.kind {
                StartedKind::Collective(prepared) => {
                    Some(format!("{}:{prepared}", started.request))
                }
                _ => None,
            });
        pairs.collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completed_requests_are_listed_in_runs() {
        let mut numbers = RequestNumbers::default();
        for number in [9, 3, 7, 8, 0, u32::MAX] {
            numbers.complete(number);
        }
        assert_eq!(numbers.completed_text(), b"3,7-9,4294967295");
        numbers.end_call(None, &mut Vec::new());
        assert_eq!(numbers.completed_text(), b"");
    }

    #[test]
    fn started_operations_are_told_by_kind() {
        let mut numbers = RequestNumbers::default();
        let prepared = numbers.prepare();
        for kind in [
            StartedKind::Send,
            StartedKind::Send,
            StartedKind::Receive,
            StartedKind::Collective(prepared),
        ] {
            let request = numbers.make();
            numbers.start(request, kind);
        }
        let mut started = Vec::new();
        assert_eq!(numbers.begun(&mut started), Some(4));
        assert!(numbers.started.is_empty());
        numbers.end_call(Some(4), &mut started);
        assert_eq!(numbers.started_text(StartedKind::Send), b"1-2");
        assert_eq!(numbers.started_text(StartedKind::Receive), b"3");
        assert_eq!(numbers.started_collectives(), "4:1");
    }
}
