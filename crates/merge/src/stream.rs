//! The second walk over a process: its merged records in order of time (`spec/clog2.md` sections 9 and 16).
//!
//! Every recorded call becomes a state, on the communicator it names or else on MPI_COMM_WORLD. Messages are two records each,
//! which are paired for SLOG2 by communicator, ranks and tag: the send stands behind the beginning of the call
//! that sends, the receive in front of the end of the call that completes it. An annotation is a solo event on
//! MPI_COMM_WORLD.
//!
//! A thread's call is looked at twice, when it starts and when it ends, and between the two the other threads go on: so
//! records leave in order of time, and a handle is looked up at the moment at which it was used.

use super::calls::ProcessWalk;
use super::record::MergedRecord;
use blockfile::file::BlockFile;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashSet};
use unify::cancelled::cancelled_sends;
use unify::endpoints::EndpointCounts;
use unify::lanes::{Lane, LaneStep};
use unify::scan::Scan;
use unify::schema::Schema;

pub use super::notes::Notes;
pub use super::settings::MergeSettings;

/// Records after which those that are ready are given: as many as fit the nearest cache.
const MANY: usize = 64;

/// The merged records of one process in order of time.
#[derive(Debug)]
pub struct MergeStream<'a> {
    lanes: Vec<Lane<'a>>,
    /// Next step of each thread, the earliest on top.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    walk: ProcessWalk<'a>,
    /// Time from which on records may be missing that could not be kept, ticks, until the walk has come to it.
    lost_since: Option<u64>,
    given: usize,
    finished: bool,
}

impl<'a> MergeStream<'a> {
    /// Of the process that `scan` was made of. `lids` are the numbers of [`Scan::gids`] in the merged file.
    pub fn new(
        schema: &'a Schema<'_>,
        file: &'a BlockFile<'a>,
        scan: &'a Scan,
        lids: &[i32],
        settings: MergeSettings<'a>,
    ) -> MergeStream<'a> {
        let cancelled = match schema.cancel {
            Some(cancel) if scan.matching_only_calls > 0 || scan.functions.contains(cancel) => {
                cancelled_sends(file, &schema.plans)
            }
            _ => HashSet::new(),
        };
        let mut core = ProcessWalk::new(schema, file, scan, lids, settings, cancelled);
        core.open_log();
        let mut stream = MergeStream {
            lanes: Vec::new(),
            next: BinaryHeap::new(),
            walk: core,
            lost_since: scan.info.lost_since,
            given: 0,
            finished: false,
        };
        for (i, thread) in file.threads().iter().enumerate() {
            let defined = scan.defined.get(i).map_or(&[][..], Vec::as_slice);
            let open = settings.open_until_ns.and_then(|_| thread.open_call());
            let mut lane = Lane::new(thread, i, defined, open, scan.info.dropped > 0);
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
            .then(|| self.walk.out.get(self.given).map(|r| r.header.time))?
    }

    /// The next record.
    #[inline]
    pub fn next_record(&mut self) -> Option<&MergedRecord> {
        if !self.ready() {
            return None;
        }
        let at = self.given;
        self.given += 1;
        self.walk.out.get(at)
    }

    /// Gives the next record, and those behind it that come before `limit`, in seconds, to `sink`; all of them without a limit. Gives the
    /// time of the record that then comes next; `None` at the end.
    ///
    /// # Errors
    /// The first error of `sink`.
    #[inline]
    pub fn give_until<E>(
        &mut self,
        limit: Option<f64>,
        mut sink: impl FnMut(&MergedRecord) -> Result<(), E>,
    ) -> Result<Option<f64>, E> {
        let mut limit_of_next = None;
        while self.ready() {
            while let Some(record) = self.walk.out.get(self.given) {
                let time = record.header.time;
                if limit_of_next.is_some_and(|limit| time >= limit) {
                    return Ok(Some(time));
                }
                limit_of_next = limit;
                self.given += 1;
                sink(record)?;
            }
        }
        Ok(None)
    }

    /// Numbers of what could not be shown; complete when the records have come to an end.
    pub fn notes(&self) -> Notes {
        self.walk.notes
    }

    /// The places of all messages in their channels. The stream must be at its beginning, and one that leaves nothing out.
    pub fn count(mut self) -> EndpointCounts {
        let mut counts = EndpointCounts::default();
        if self.walk.has_gap {
            counts.cut();
        }
        self.walk.counts = Some(counts);
        while !self.finished {
            self.walk.out.clear();
            self.step();
        }
        let mut counts = self.walk.counts.unwrap_or_default();
        if self.walk.scan.info.lost_since.is_some() {
            // Nothing tells how many of the last ones are missing, so none can be counted from the end.
            counts.cut();
        }
        counts
    }

    /// Makes sure that there is a record to give.
    #[inline]
    fn ready(&mut self) -> bool {
        while self.given >= self.walk.out.len() {
            self.walk.out.clear();
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
        let is_alone = self.lanes.len() == 1 && self.lost_since.is_none();
        let Some(mut top) = self.next.peek_mut() else {
            self.walk.close_user(&mut self.lanes);
            self.walk.close_log();
            self.finished = true;
            return;
        };
        let Reverse((key, i)) = *top;
        if self.lost_since.is_some_and(|since| key >= since) {
            self.lost_since = None;
            self.walk.cut();
        }
        let Some(lane) = self.lanes.get_mut(i) else {
            PeekMut::pop(top);
            return;
        };
        let next = match lane.next {
            LaneStep::Start => {
                let mut next = None;
                while is_alone
                    && self.walk.out.len() < MANY
                    && let Some(call) = lane.whole_call()
                {
                    self.walk.whole_call(&mut lane.call, &call);
                    next = Some(lane.go_past(&call));
                }
                next.unwrap_or_else(|| {
                    self.walk.begin(lane);
                    Some(lane.go_through(key))
                })
            }
            LaneStep::Stop => {
                self.walk.end(lane);
                lane.go_on()
            }
            LaneStep::Gap => {
                self.walk.cut();
                lane.go_on()
            }
            LaneStep::Define => {
                self.walk.define(lane, key);
                lane.go_on()
            }
            LaneStep::ThreadEnd => {
                self.walk.end_thread(lane, key);
                lane.go_on()
            }
            LaneStep::Annotation => {
                self.walk.annotate(lane, key);
                lane.go_on()
            }
            LaneStep::Event => {
                self.walk.user_event(lane, key);
                lane.go_on()
            }
            LaneStep::EventInside => {
                self.walk.user_event(lane, key);
                Some(lane.go_through(key))
            }
            LaneStep::OpenStart(open) => {
                self.walk.define(lane, key);
                self.walk.begin_open(lane, open);
                Some(lane.go_on_open(open))
            }
            LaneStep::EventOpen(open) => {
                self.walk.user_event(lane, key);
                Some(lane.go_on_open(open))
            }
            LaneStep::Step(step) => {
                self.walk.step(lane, &step, key);
                lane.go_on()
            }
            LaneStep::OpenStop(open) => {
                self.walk.end_open(lane, open);
                lane.close()
            }
            LaneStep::Nothing => {
                self.walk.define(lane, key);
                lane.close()
            }
            LaneStep::Close => {
                self.walk.close_functions(lane);
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
