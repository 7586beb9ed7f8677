//! Corrects the times of messages that arrive before they were sent, while records pass by in order of time: a controlled logical
//! clock (Rabenseifner 1997; Becker, Rabenseifner, Wolf 2009). A receive is moved after its send. What follows it in its process keeps
//! nearly its distances, so the process comes back to its own clock by and by.
//!
//! A receive whose send has not come yet holds up its process until the send comes. What other processes do meanwhile waits, because
//! the times of what is held up are not known. So memory grows with the error of the clocks and not with the trace. A send that is
//! later than [`ForwardLimits`] allows is not waited for: messages of its channel keep their times from then on.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2Msg, Clog2Record, Clog2RecordHeader, comm_etype, msg_etype,
};
use trace_model::hash::Map;

/// Least time that a message is given, seconds.
const LATENCY: f64 = 1e-9;
/// Of the distance between two records of a process that is ahead of its clock, the part that it keeps.
const PACE: f64 = 0.99;

/// A record whose time [`Forwarding`] can correct.
pub trait ForwardedRecord {
    /// Time, communicator, rank and thread of the record.
    fn header(&self) -> &Clog2RecordHeader;
    /// Gives the record another time, seconds.
    fn set_time(&mut self, time: f64);
    /// The end of a message, if the record is one.
    fn message(&self) -> Option<&Clog2Msg>;
    /// The event of a communicator, if the record is one.
    fn comm(&self) -> Option<&Clog2CommEvent>;
    /// Start event of the state that begins with the record.
    fn begins(&self) -> Option<i32> {
        None
    }
    /// Start event and start time of the state that ends with the record, if the record knows them. The start time is set to what
    /// the record that begins the state got.
    fn ends(&mut self) -> Option<(i32, &mut f64)> {
        None
    }
}

/// How long [`Forwarding`] waits for sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForwardLimits {
    /// Longest time by which a send may come after its receive, seconds.
    pub late: f64,
    /// Most records that wait.
    pub held_records: usize,
}

impl ForwardLimits {
    /// Limits for a trace that is being written: 10 s, and about a million records.
    pub const STREAM: ForwardLimits = ForwardLimits {
        late: 10.0,
        held_records: 1 << 20,
    };
    /// No limits: sends are waited for up to the end of the trace.
    pub const NONE: ForwardLimits = ForwardLimits {
        late: f64::INFINITY,
        held_records: usize::MAX,
    };
}

impl ForwardedRecord for Clog2Record {
    fn header(&self) -> &Clog2RecordHeader {
        &self.header
    }

    fn set_time(&mut self, time: f64) {
        self.header.time = time;
    }

    fn message(&self) -> Option<&Clog2Msg> {
        match &self.body {
            Clog2Body::Msg(message) => Some(message),
            _ => None,
        }
    }

    fn comm(&self) -> Option<&Clog2CommEvent> {
        match &self.body {
            Clog2Body::Comm(event) => Some(event),
            _ => None,
        }
    }
}

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
    /// Receives that keep their times although their sends are later: those whose sends came too late, and those whose order
    /// contradicts itself, as each message waits for another one. Before the end of the trace also those whose sends never come.
    pub given_up: u64,
    /// Time of the latest record that was given, seconds.
    pub last: f64,
}

impl ForwardedMessages {
    /// Counts a message by the own times of its send and its receive.
    fn message(&mut self, sent: f64, received: f64) {
        let late = sent - received;
        self.messages += 1;
        if late >= 0.0 {
            self.violations += 1;
            self.largest = self.largest.max(late);
        }
    }
}

/// Sender's communicator and rank, the receiver's, tag.
type MessageChannel = ([i32; 2], [i32; 2], i32);

/// Records pass by and get their times.
#[derive(Debug)]
pub struct Forwarding<R> {
    limits: ForwardLimits,
    /// No more records come.
    is_ending: bool,
    /// World ranks by communicator and rank.
    world: Map<[i32; 2], i32>,
    numbers: Map<[i32; 2], usize>,
    processes: Vec<ForwardedProcess<R>>,
    channels: Map<MessageChannel, ChannelSends>,
    /// Processes that are held up, by the time of the receive that they stand at.
    held_up: BTreeSet<(u64, usize)>,
    /// What waits to be given, the earliest on top: its time, number among all, and place.
    waiting: BinaryHeap<Reverse<(u64, u64, usize)>>,
    records: Vec<Option<R>>,
    free: Vec<usize>,
    given: u64,
    held: usize,
    now: f64,
    result: ForwardedMessages,
}

#[derive(Debug)]
struct ForwardedProcess<R> {
    /// The time of the latest record, and what it became.
    before: Option<(f64, f64)>,
    /// Records that are held up, the first of them a receive.
    queue: VecDeque<R>,
    /// States that have begun and not ended.
    open: Vec<OpenState>,
}

/// A state that has begun.
#[derive(Clone, Copy, Debug)]
struct OpenState {
    thread: i32,
    /// Start event.
    etype: i32,
    /// The time at which it began, and what that became.
    began: (f64, f64),
}

impl<R: ForwardedRecord> ForwardedProcess<R> {
    fn new() -> ForwardedProcess<R> {
        ForwardedProcess {
            before: None,
            queue: VecDeque::new(),
            open: Vec::new(),
        }
    }

    /// Gives a record its time. States begin when their beginnings do.
    fn set_time(&mut self, record: &mut R, time: f64) {
        let Clog2RecordHeader {
            time: own, thread, ..
        } = *record.header();
        record.set_time(time);
        if let Some(etype) = record.begins() {
            self.open.push(OpenState {
                thread,
                etype,
                began: (own, time),
            });
        }
        if let Some((etype, start)) = record.ends() {
            let is_its = |open: &OpenState| {
                (open.thread, open.etype) == (thread, etype)
                    && open.began.0.to_bits() == start.to_bits()
            };
            if let Some(at) = self.open.iter().rposition(is_its) {
                *start = self.open.remove(at).began.1;
            }
        }
    }
}

#[derive(Debug, Default)]
struct ChannelSends {
    /// The times of sends that no receive has taken yet, and what they became.
    sent: VecDeque<(f64, f64)>,
    /// The process that waits for the next one.
    awaited: Option<usize>,
    /// Own times of receives that went on without their sends at the end of the trace.
    missed: VecDeque<f64>,
    /// Whether sends are not waited for any more.
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

/// Whether the record is a send, and the channel of its message.
fn channel<R: ForwardedRecord>(record: &R) -> Option<(bool, MessageChannel)> {
    let message = record.message()?;
    let own = [record.header().icomm, record.header().rank];
    let other = [message.icomm, message.rank];
    let is_send = message.etype == msg_etype::SEND;
    let (from, to) = if is_send { (own, other) } else { (other, own) };
    Some((is_send, (from, to, message.tag)))
}

impl<R: ForwardedRecord> Forwarding<R> {
    /// Begins a trace.
    pub fn new(limits: ForwardLimits) -> Forwarding<R> {
        Forwarding {
            limits,
            is_ending: false,
            world: Map::default(),
            numbers: Map::default(),
            processes: Vec::new(),
            channels: Map::default(),
            held_up: BTreeSet::new(),
            waiting: BinaryHeap::new(),
            records: Vec::new(),
            free: Vec::new(),
            given: 0,
            held: 0,
            now: 0.0,
            result: ForwardedMessages::default(),
        }
    }

    /// Takes the next record; gives those whose times are known now, in their order.
    pub fn push(&mut self, record: R, mut sink: impl FnMut(&R)) {
        self.now = self.now.max(record.header().time);
        if let Some(event) = record.comm()
            && event.etype != comm_etype::FREE
            && event.rank >= 0
        {
            self.world.insert([event.icomm, event.rank], event.wrank);
        }
        let own = [record.header().icomm, record.header().rank];
        let own = self.world.get(&own).map_or(own, |&wrank| [-1, wrank]);
        let process = *self.numbers.entry(own).or_insert_with(|| {
            self.processes.push(ForwardedProcess::new());
            self.processes.len() - 1
        });
        let is_held_up = !self.processes[process].queue.is_empty();
        self.processes[process].queue.push_back(record);
        self.held += 1;
        if !is_held_up {
            self.go_on(process);
        }
        while !self.held_up.is_empty()
            && (self.is_overdue() || self.held >= self.limits.held_records)
        {
            self.give_up();
        }
        self.give(&mut sink);
    }

    /// No more records come.
    pub fn finish(mut self, mut sink: impl FnMut(&R)) -> ForwardedMessages {
        self.is_ending = true;
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
                    let time = record.header().time;
                    let sends = self.channels.entry(channel).or_default();
                    match sends.sent.pop_front() {
                        Some((sent, became)) => {
                            self.result.message(sent, time);
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
        let own = record.header().time;
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
        if let Some(received) = sends.missed.pop_front() {
            self.result.message(own, received);
            self.result.given_up += 1;
            return None;
        }
        sends.sent.push_back((own, time));
        let awaited = sends.awaited.take()?;
        let receive = self.processes[awaited].queue.front()?;
        self.held_up.remove(&(key(receive.header().time), awaited));
        Some(awaited)
    }

    /// The own time of the receive that has been held up for longest.
    fn oldest(&self) -> Option<f64> {
        let &(_, process) = self.held_up.first()?;
        Some(self.processes[process].queue.front()?.header().time)
    }

    fn is_overdue(&self) -> bool {
        self.oldest()
            .is_some_and(|time| time + self.limits.late < self.now)
    }

    /// The process that has been held up for longest goes on as if nothing had been sent to it. At the end of the trace, all sends
    /// have been seen, so the next send of the channel is taken for the one of this receive.
    fn give_up(&mut self) {
        let Some((_, process)) = self.held_up.pop_first() else {
            return;
        };
        let front = self.processes[process].queue.front();
        let received = front.map_or(0.0, |receive| receive.header().time);
        if let Some((_, channel)) = front.and_then(channel) {
            let sends = self.channels.entry(channel).or_default();
            sends.awaited = None;
            if self.is_ending {
                sends.missed.push_back(received);
            } else {
                sends.dead = true;
                self.result.given_up += 1;
            }
        }
        self.step(process, None);
        self.go_on(process);
    }

    /// Gives what is earlier than all that may still come.
    fn give(&mut self, sink: &mut impl FnMut(&R)) {
        let until = self.oldest().map_or(self.now, |time| time.min(self.now));
        while let Some(&Reverse((time, _, place))) = self.waiting.peek()
            && time <= key(until)
        {
            self.waiting.pop();
            if let Some(record) = self.records[place].take() {
                sink(&record);
                self.result.last = record.header().time;
                self.held -= 1;
                self.free.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn endpoint(time: f64, rank: i32, partner: i32, is_send: bool) -> Clog2Record {
        let etype = if is_send {
            msg_etype::SEND
        } else {
            msg_etype::RECV
        };
        Clog2Record {
            header: Clog2RecordHeader {
                time,
                icomm: 0,
                rank,
                thread: 0,
            },
            body: Clog2Body::Msg(Clog2Msg {
                etype,
                icomm: 0,
                rank: partner,
                tag: 1,
                size: 4,
            }),
        }
    }

    fn corrected(
        records: &[Clog2Record],
        limits: ForwardLimits,
    ) -> (Vec<Clog2Record>, ForwardedMessages) {
        let mut forwarding = Forwarding::new(limits);
        let mut out = Vec::new();
        for record in records {
            forwarding.push(*record, |r| out.push(*r));
        }
        let result = forwarding.finish(|r| out.push(*r));
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
        let (out, result) = corrected(&records, ForwardLimits::STREAM);
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

    #[test]
    fn what_never_was_sent_holds_nothing_up_for_ever() {
        let mut records = vec![endpoint(1.0, 0, 1, false), endpoint(1.5, 1, 0, false)];
        records.extend((0..1000).map(|i| endpoint(2.0 + f64::from(i), 2, 3, true)));
        let (out, result) = corrected(&records, ForwardLimits::STREAM);
        assert_eq!((out.len(), result.given_up, result.moved), (1002, 2, 0));
        assert!(out.iter().map(|r| r.header.time).is_sorted());
    }

    #[test]
    fn without_limits_processes_come_back_to_their_clocks() {
        // Rank 1's clock is 20 s behind.
        let records = [
            endpoint(1.0, 1, 0, false),
            endpoint(2.0, 1, 0, true),
            endpoint(20.5, 0, 1, true),
            endpoint(22.5, 0, 1, false),
            endpoint(1000.0, 1, 0, true),
            endpoint(3000.0, 1, 0, true),
        ];
        let (out, result) = corrected(&records, ForwardLimits::NONE);
        assert_eq!((result.messages, result.violations), (2, 1));
        assert_eq!((result.largest, result.given_up), (19.5, 0));
        let times: Vec<f64> = out.iter().map(|r| r.header.time).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!((times[0], times[3]), (20.5, 22.5));
        assert!(times[1] > 20.5 && times[1] < 20.6, "{times:?}");
        // Twenty seconds ahead are made up for after two thousand.
        assert!(times[4] > 1000.0 && times[5] == 3000.0, "{times:?}");
        // Nothing to correct, nothing changed.
        let mut records = records;
        records[0].header.time = 21.0;
        records[1].header.time = 22.0;
        records.sort_by(|a, b| a.header.time.total_cmp(&b.header.time));
        let (out, result) = corrected(&records, ForwardLimits::NONE);
        assert_eq!((result.moved, out == records), (0, true));
    }

    #[test]
    fn messages_that_contradict_each_other_stay_as_they_are() {
        // Each receives before it sends what the other waits for.
        let records = [
            endpoint(1.0, 0, 1, false),
            endpoint(1.5, 1, 0, false),
            endpoint(2.0, 0, 1, true),
            endpoint(2.5, 1, 0, true),
            // A receive without a send.
            endpoint(3.0, 1, 2, false),
        ];
        let (out, result) = corrected(&records, ForwardLimits::NONE);
        assert_eq!(out.len(), records.len());
        assert_eq!((result.messages, result.violations), (2, 2));
        assert_eq!(result.given_up, 1);
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
            let (out, result) = corrected(&sorted, ForwardLimits::STREAM);
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
