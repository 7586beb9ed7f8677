//! Messages that arrive before they were sent, put right while records pass by in order of time: a controlled logical clock, as
//! the crate `transform` has it for whole files. A receive is put behind its send, and what follows it in its process keeps nearly its
//! distances, so that the process comes back to its own clock by and by.
//!
//! A receive whose send has not come yet holds up its process until that comes; what other processes do meanwhile waits to be given,
//! as times of what is held up are not known. So memory goes with how wrong clocks are and not with the trace. A send
//! that is more than [`LONGEST`] late is not waited for: the channel's messages stay as they are from then on.

use super::record::{MergedBody, MergedRecord};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use trace_formats::clog2::{comm_etype, msg_etype};
use trace_model::hash::Map;

/// Least time that a message is given, seconds.
const LATENCY: f64 = 1e-9;
/// Of the distance between two records of a process that is ahead of its clock, the part that it keeps.
const PACE: f64 = 0.99;
/// Longest time that a send may come late, seconds.
const LONGEST: f64 = 10.0;
/// Most records that wait.
const MAX_HELD_RECORDS: usize = 1 << 20;

/// Result of moving receives after their sends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForwardedMessages {
    /// Messages of which both endpoints are there.
    pub messages: u64,
    /// Number of messages that arrived before they were sent.
    pub violations: u64,
    /// Largest such time, seconds.
    pub largest: f64,
    /// Records whose time was changed.
    pub moved: u64,
    /// Most that one was moved, seconds.
    pub farthest: f64,
    /// Receives whose sends were not waited for any longer: those that came too late or never, and those whose order
    /// contradicts itself.
    pub given_up: u64,
    /// Time of the latest record that was given, seconds.
    pub last: f64,
}

/// Sender's communicator and rank, the receiver's, tag.
type MessageChannel = ([i32; 2], [i32; 2], i32);

/// Records pass by and get their times.
#[derive(Debug, Default)]
pub struct Forwarding {
    /// World ranks by communicator and rank.
    world: Map<[i32; 2], i32>,
    numbers: Map<[i32; 2], usize>,
    processes: Vec<ForwardedProcess>,
    channels: Map<MessageChannel, ChannelSends>,
    /// Processes that are held up, by the time of the receive that they stand at.
    held_up: BTreeSet<(u64, usize)>,
    /// What waits to be given, the earliest on top: its time, number among all, and place.
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    records: Vec<Option<MergedRecord>>,
    free: Vec<usize>,
    given: u64,
    held: usize,
    now: f64,
    result: ForwardedMessages,
}

#[derive(Debug, Default)]
struct ForwardedProcess {
    /// What the latest record's time was, and what it became.
    before: Option<(f64, f64)>,
    /// Records that are held up, the first of them a receive.
    queue: VecDeque<MergedRecord>,
    /// States that have begun and not ended.
    open: Vec<OpenState>,
}

/// A state that has begun.
#[derive(Clone, Copy, Debug)]
struct OpenState {
    thread: i32,
    /// Start event.
    etype: i32,
    /// When it began, and what that became.
    began: (f64, f64),
}

impl ForwardedProcess {
    /// A record gets its time. States begin when their beginnings do.
    fn set_time(&mut self, record: &mut MergedRecord, time: f64) {
        let own = std::mem::replace(&mut record.header.time, time);
        let thread = record.header.thread;
        match &mut record.body {
            MergedBody::Enter { etype } => self.open.push(OpenState {
                thread,
                etype: *etype,
                began: (own, time),
            }),
            MergedBody::Leave(state) => {
                let is_its = |open: &OpenState| {
                    (open.thread, open.etype) == (thread, state.etypes[0])
                        && open.began.0.to_bits() == state.start.to_bits()
                };
                if let Some(at) = self.open.iter().rposition(is_its) {
                    state.start = self.open.remove(at).began.1;
                }
            }
            _ => {}
        }
    }
}

#[derive(Debug, Default)]
struct ChannelSends {
    /// What their times were, and what they became.
    sent: VecDeque<(f64, f64)>,
    /// The process that waits for the next one.
    awaited: Option<usize>,
    /// Nobody waits for them any more.
    dead: bool,
}

/// Sorts like the time.
fn key(time: f64) -> u64 {
    let bits = time.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

fn channel(record: &MergedRecord) -> Option<(bool, MessageChannel)> {
    let MergedBody::Message(message) = &record.body else {
        return None;
    };
    let own = [record.header.icomm, record.header.rank];
    let other = [message.icomm, message.rank];
    let is_send = message.etype == msg_etype::SEND;
    let (from, to) = if is_send { (own, other) } else { (other, own) };
    Some((is_send, (from, to, message.tag)))
}

impl Forwarding {
    /// Takes the next record; gives those whose times are known now, in their order.
    pub fn push(&mut self, record: MergedRecord, mut sink: impl FnMut(&MergedRecord)) {
        self.now = self.now.max(record.header.time);
        if let MergedBody::Comm(event) = &record.body
            && event.etype != comm_etype::FREE
            && event.rank >= 0
        {
            self.world.insert([event.icomm, event.rank], event.wrank);
        }
        let own = [record.header.icomm, record.header.rank];
        let own = self.world.get(&own).map_or(own, |&wrank| [-1, wrank]);
        let process = *self.numbers.entry(own).or_insert_with(|| {
            self.processes.push(ForwardedProcess::default());
            self.processes.len() - 1
        });
        let is_held_up = !self.processes[process].queue.is_empty();
        self.processes[process].queue.push_back(record);
        self.held += 1;
        if !is_held_up {
            self.go_on(process);
        }
        while !self.held_up.is_empty() && (self.is_overdue() || self.held >= MAX_HELD_RECORDS) {
            self.give_up();
        }
        self.give(&mut sink);
    }

    /// No more records come.
    pub fn finish(mut self, mut sink: impl FnMut(&MergedRecord)) -> ForwardedMessages {
        while !self.held_up.is_empty() {
            self.give_up();
        }
        self.now = f64::INFINITY;
        self.give(&mut sink);
        self.result
    }

    /// A process that is not held up, or no longer, goes on as far as it can; and so do those that have waited for it.
    fn go_on(&mut self, process: usize) {
        let mut ready = vec![process];
        while let Some(process) = ready.pop() {
            while let Some(record) = self.processes[process].queue.front() {
                let mut earliest = None;
                if let Some((false, channel)) = channel(record) {
                    let time = record.header.time;
                    let sends = self.channels.entry(channel).or_default();
                    match sends.sent.pop_front() {
                        Some((sent, became)) => {
                            let late = sent - time;
                            self.result.messages += 1;
                            if late >= 0.0 {
                                self.result.violations += 1;
                                self.result.largest = self.result.largest.max(late);
                            }
                            earliest = Some(became + LATENCY);
                        }
                        None if sends.dead => {}
                        None => {
                            sends.awaited = Some(process);
                            self.held_up.insert((key(time), process));
                            break;
                        }
                    }
                }
                ready.extend(self.step(process, earliest));
            }
        }
    }

    /// The first record of a process gets its time. Gives the process that has waited for it.
    fn step(&mut self, process: usize, earliest: Option<f64>) -> Option<usize> {
        let ForwardedProcess { before, queue, .. } = &mut self.processes[process];
        let mut record = queue.pop_front()?;
        let own = record.header.time;
        let paced = before.map_or(own, |(was, became)| became + PACE * (own - was).max(0.0));
        let time = own.max(paced).max(earliest.unwrap_or(own));
        *before = Some((own, time));
        if time > own {
            self.result.moved += 1;
            self.result.farthest = self.result.farthest.max(time - own);
        }
        self.processes[process].set_time(&mut record, time);
        let found = channel(&record);
        let place = self.free.pop().unwrap_or_else(|| {
            self.records.push(None);
            self.records.len() - 1
        });
        self.records[place] = Some(record);
        self.waiting.push(Reverse((key(time), self.given, place)));
        self.given += 1;
        let (true, channel) = found? else {
            return None;
        };
        let sends = self.channels.entry(channel).or_default();
        if sends.dead {
            return None;
        }
        sends.sent.push_back((own, time));
        let awaited = sends.awaited.take()?;
        let receive = self.processes[awaited].queue.front()?;
        self.held_up.remove(&(key(receive.header.time), awaited));
        Some(awaited)
    }

    /// The own time of the receive that has been held up for longest.
    fn oldest(&self) -> Option<f64> {
        let &(_, process) = self.held_up.first()?;
        Some(self.processes[process].queue.front()?.header.time)
    }

    fn is_overdue(&self) -> bool {
        self.oldest().is_some_and(|time| time + LONGEST < self.now)
    }

    /// The process that has been held up for longest goes on as if nothing had been sent to it on this channel.
    fn give_up(&mut self) {
        let Some((_, process)) = self.held_up.pop_first() else {
            return;
        };
        let front = self.processes[process].queue.front();
        if let Some((_, channel)) = front.and_then(channel) {
            let sends = self.channels.entry(channel).or_default();
            sends.dead = true;
            sends.awaited = None;
        }
        self.result.given_up += 1;
        self.go_on(process);
    }

    /// Gives what is earlier than all that may still come.
    fn give(&mut self, sink: &mut impl FnMut(&MergedRecord)) {
        let until = self.oldest().map_or(self.now, |time| time.min(self.now));
        while let Some(&Reverse((time, _, place))) = self.waiting.peek()
            && time <= key(until)
        {
            self.waiting.pop();
            if let Some(record) = self.records[place].take() {
                sink(&record);
                self.result.last = record.header.time;
                self.held -= 1;
                self.free.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::LeftState;
    use super::*;
    use proptest::prelude::*;
    use trace_formats::clog2::{Clog2Msg, Clog2RecordHeader};

    fn endpoint(time: f64, rank: i32, partner: i32, is_send: bool) -> MergedRecord {
        let etype = if is_send {
            msg_etype::SEND
        } else {
            msg_etype::RECV
        };
        MergedRecord {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank,
                thread: 0,
            },
            body: MergedBody::Message(Clog2Msg {
                etype,
                icomm: 0,
                rank: partner,
                tag: 1,
                size: 4,
            }),
        }
    }

    fn corrected(records: &[MergedRecord]) -> (Vec<MergedRecord>, ForwardedMessages) {
        let mut forwarding = Forwarding::default();
        let mut out = Vec::new();
        for record in records {
            forwarding.push(record.clone(), |r| out.push(r.clone()));
        }
        let result = forwarding.finish(|r| out.push(r.clone()));
        (out, result)
    }

    #[test]
    fn receives_come_behind_their_sends() {
        // Rank 1's clock is 5 s behind.
        let records = [
            endpoint(1.0, 1, 0, false),
            endpoint(2.0, 1, 0, true),
            endpoint(5.5, 0, 1, true),
            endpoint(7.5, 0, 1, false),
            endpoint(1000.0, 1, 0, true),
        ];
        let (out, result) = corrected(&records);
        assert_eq!(
            (result.messages, result.violations, result.given_up),
            (2, 1, 0)
        );
        assert_eq!((result.largest, result.moved), (4.5, 2));
        let times: Vec<f64> = out.iter().map(|r| r.header.time).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!((times[0], times[3], times[4]), (5.5, 7.5, 1000.0));
        assert!(times[1] > 5.5 && times[2] > times[1] + 0.9, "{times:?}");
    }

    /// The beginning and the end of a state of rank 1.
    fn state(start: f64, end: f64, etypes: [i32; 2], thread: i32) -> [MergedRecord; 2] {
        let record = |time, body| MergedRecord {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank: 1,
                thread,
            },
            body,
        };
        let leave = LeftState {
            start,
            etypes,
            cargo: None,
            counts: None,
        };
        [
            record(start, MergedBody::Enter { etype: etypes[0] }),
            record(end, MergedBody::Leave(leave)),
        ]
    }

    #[test]
    fn states_begin_when_their_beginnings_do() {
        // Rank 1's clock is 5 s behind. It receives in one state, nested in another one of the same kind; a third state on another
        // thread begins at the same time.
        let [outer_enter, outer_leave] = state(0.5, 3.0, [10, 11], 0);
        let [inner_enter, inner_leave] = state(1.5, 2.5, [10, 11], 0);
        let [other_enter, other_leave] = state(1.5, 2.0, [10, 11], 1);
        let records = [
            outer_enter,
            endpoint(1.0, 1, 0, false),
            inner_enter,
            other_enter,
            other_leave,
            inner_leave,
            outer_leave,
            endpoint(5.5, 0, 1, true),
        ];
        let (out, result) = corrected(&records);
        assert_eq!((out.len(), result.violations), (records.len(), 1));
        assert!(out.iter().map(|r| r.header.time).is_sorted());
        let mut entered: Vec<(i32, f64)> = Vec::new();
        let mut spans = Vec::new();
        for record in &out {
            let (thread, time) = (record.header.thread, record.header.time);
            match &record.body {
                MergedBody::Enter { .. } => entered.push((thread, time)),
                MergedBody::Leave(state) => {
                    let at = entered.iter().rposition(|&(on, _)| on == thread);
                    let (_, began) = entered.remove(at.expect("a beginning"));
                    assert_eq!(state.start.to_bits(), began.to_bits());
                    spans.push((thread, state.start, time));
                }
                _ => {}
            }
        }
        // The outer state began before the message and keeps its time; what follows the receive moves along.
        let [other, inner, outer] = spans[..] else {
            panic!("{spans:?}");
        };
        assert_eq!((other.0, inner.0, outer.0), (1, 0, 0));
        assert_eq!(outer.1, 0.5);
        assert!(outer.2 > inner.2 && inner.2 > other.2, "{spans:?}");
        assert!(inner.1 > 5.5 && other.1 > 5.5, "{spans:?}");
    }

    #[test]
    fn what_never_was_sent_holds_nothing_up_for_ever() {
        let mut records = vec![endpoint(1.0, 0, 1, false), endpoint(1.5, 1, 0, false)];
        records.extend((0..1000).map(|i| endpoint(2.0 + f64::from(i), 2, 3, true)));
        let (out, result) = corrected(&records);
        assert_eq!((out.len(), result.given_up, result.moved), (1002, 2, 0));
        assert!(out.iter().map(|r| r.header.time).is_sorted());
    }

    proptest! {
        /// Whatever the clocks: every record comes out, in order of time, none earlier than it was, and messages forward.
        #[test]
        fn time_goes_forward(
            steps in prop::collection::vec((0i32..4, 1i32..4, 1u32..1000), 1..200),
            wrong in prop::array::uniform4(-2000i32..2000),
        ) {
            let (mut now, mut records) = (10.0, Vec::new());
            let clock = |rank: i32, time: f64| time + f64::from(wrong[rank as usize]) * 1e-3;
            for (from, by, ms) in steps {
                let to = (from + by) % 4;
                now += f64::from(ms) * 1e-4;
                records.push(endpoint(clock(from, now), from, to, true));
                now += 1e-4;
                records.push(endpoint(clock(to, now), to, from, false));
            }
            let mut sorted = records.clone();
            sorted.sort_by(|a, b| a.header.time.total_cmp(&b.header.time));
            let (out, result) = corrected(&sorted);
            prop_assert_eq!(out.len(), records.len());
            prop_assert_eq!(result.given_up, 0);
            prop_assert_eq!(result.messages as usize, records.len() / 2);
            prop_assert!(out.iter().map(|r| r.header.time).is_sorted());
            let mut open: Map<MessageChannel, VecDeque<f64>> = Map::default();
            for record in &out {
                let (is_send, channel) = channel(record).expect("a message");
                let sends = open.entry(channel).or_default();
                match is_send {
                    true => sends.push_back(record.header.time),
                    false => {
                        let sent = sends.pop_front().expect("sent before");
                        prop_assert!(record.header.time > sent);
                    }
                }
            }
        }
    }
}
