//! The second walk over a process: its merged records in order of time (`spec/clog2.md` sections 9 and 16).
//!
//! Every recorded call becomes a state, on the communicator it names or else on MPI_COMM_WORLD. Messages are two records each,
//! which are paired for SLOG2 by communicator, ranks and tag: the send stands behind the beginning of the call
//! that sends, the receive in front of the end of the call that completes it. An annotation is a solo event on
//! MPI_COMM_WORLD.
//!
//! A thread's call is looked at twice, when it starts and when it ends, and between the two the other threads go on: so
//! records leave in order of time, and a handle is looked up at the moment at which it was used.

use super::calls::Core;
use super::record::MergedRecord;
use blockfile::file::BlockFile;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashSet};
use unify::cancelled::cancelled_sends;
use unify::endpoints::EndpointCounts;
use unify::lanes::{Lane, Next};
use unify::scan::Scan;
use unify::schema::Schema;

pub use super::notes::Notes;
pub use super::settings::Settings;

/// The merged records of one process in order of time.
#[derive(Debug)]
pub struct Stream<'a> {
    lanes: Vec<Lane<'a>>,
    /// What each thread does next, the earliest on top.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    core: Core<'a>,
    given: usize,
    finished: bool,
}

impl<'a> Stream<'a> {
    /// Of the process that `scan` was made of. `lids` are the numbers of [`Scan::gids`] in the merged file.
    pub fn new(
        schema: &'a Schema<'_>,
        file: &BlockFile<'a>,
        scan: &'a Scan,
        lids: &[i32],
        settings: Settings<'a>,
    ) -> Stream<'a> {
        let cancelled = match schema.cancel {
            Some(cancel) if scan.matching_only_calls > 0 || scan.functions.contains(cancel) => {
                cancelled_sends(file, &schema.plans)
            }
            _ => HashSet::new(),
        };
        let mut core = Core::new(schema, scan, lids, settings, cancelled);
        core.open_log();
        let mut stream = Stream {
            lanes: Vec::new(),
            next: BinaryHeap::new(),
            core,
            given: 0,
            finished: false,
        };
        for (i, thread) in file.threads().iter().enumerate() {
            let defined = scan.defined.get(i).map_or(&[][..], Vec::as_slice);
            let open = settings.open_until_ns.and_then(|_| thread.open_call());
            let mut lane = Lane::new(thread, i, defined, open);
            if let Some(key) = lane.go_on() {
                stream.next.push(Reverse((key, i)));
            }
            stream.lanes.push(lane);
        }
        stream
    }

    /// Time of the next record in seconds; `None` at the end.
    #[inline]
    pub fn peek_time(&mut self) -> Option<f64> {
        self.ready()
            .then(|| self.core.out.get(self.given).map(|r| r.header.time))?
    }

    /// The next record.
    #[inline]
    pub fn next_record(&mut self) -> Option<&MergedRecord> {
        if !self.ready() {
            return None;
        }
        let at = self.given;
        self.given += 1;
        self.core.out.get(at)
    }

    /// What could not be shown; complete when the records have come to an end.
    pub fn notes(&self) -> Notes {
        self.core.notes
    }

    /// The places of all messages in their channels. The stream must be at its beginning, and one that leaves nothing out.
    pub fn count(mut self) -> EndpointCounts {
        let mut counts = EndpointCounts::default();
        if self.core.has_gap {
            counts.cut();
        }
        self.core.counts = Some(counts);
        while !self.finished {
            self.core.out.clear();
            self.step();
        }
        self.core.counts.unwrap_or_default()
    }

    /// Makes sure that there is a record to give.
    #[inline]
    fn ready(&mut self) -> bool {
        while self.given >= self.core.out.len() {
            self.core.out.clear();
            self.given = 0;
            if self.finished {
                return false;
            }
            self.step();
        }
        true
    }

    /// The next thing that happens in any thread.
    #[inline]
    fn step(&mut self) {
        let Some(mut top) = self.next.peek_mut() else {
            self.core.close_user(&mut self.lanes);
            self.core.close_log();
            self.finished = true;
            return;
        };
        let Reverse((key, i)) = *top;
        let Some(lane) = self.lanes.get_mut(i) else {
            PeekMut::pop(top);
            return;
        };
        let next = match lane.next {
            Next::Start => {
                self.core.begin(lane);
                Some(lane.go_through(key))
            }
            Next::Stop => {
                self.core.end(lane);
                lane.go_on()
            }
            Next::Gap => {
                self.core.cut();
                lane.go_on()
            }
            Next::Annotation => {
                self.core.annotate(lane, key);
                lane.go_on()
            }
            Next::Event => {
                self.core.user_event(lane, key);
                lane.go_on()
            }
            Next::EventInside => {
                self.core.user_event(lane, key);
                Some(lane.go_through(key))
            }
            Next::OpenStart(open) => {
                self.core.define(lane, key);
                self.core.begin_open(lane, open);
                Some(lane.go_on_open(open))
            }
            Next::EventOpen(open) => {
                self.core.user_event(lane, key);
                Some(lane.go_on_open(open))
            }
            Next::Step(step) => {
                self.core.step(lane, &step, key);
                lane.go_on()
            }
            Next::OpenStop(open) => {
                self.core.end_open(lane, open);
                lane.close()
            }
            Next::Nothing => {
                self.core.define(lane, key);
                lane.close()
            }
            Next::Close => {
                self.core.close_functions(lane);
                None
            }
        };
        match next {
            Some(next) => *top = Reverse((next, i)),
            None => {
                PeekMut::pop(top);
            }
        }
    }
}
