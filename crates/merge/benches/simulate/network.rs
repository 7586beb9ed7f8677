//! A network of simulated ranks in one process: each rank is a thread, and one of them runs at a time, the one whose clock is furthest
//! behind. Messages take the time that the LogGP model gives them; what a rank computes takes the processor time of its thread.

use merge::slices::{MessageTag, Peers};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Times of the network, in ns.
#[derive(Clone, Copy, Debug)]
pub struct LogGp {
    /// Time of an empty message from one rank to another.
    pub latency: f64,
    /// Processor time of a rank to send or to receive a message.
    pub overhead: f64,
    /// Time of a byte on the link of a rank.
    pub per_byte: f64,
}

/// What a rank has done.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankCounts {
    pub messages_sent: u64,
    pub messages_taken: u64,
    pub bytes_sent: u64,
    pub bytes_taken: u64,
    /// Clock of the rank when it ends, ns.
    pub clock: u64,
    /// Processor time of its own, ns, without that of messages.
    pub computed: u64,
}

struct Message {
    from: u32,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct RankState {
    counts: RankCounts,
    /// When its link is free again to send and to receive.
    link_out: u64,
    link_in: u64,
    /// By tag, then in order of arrival.
    mailbox: HashMap<u16, BTreeMap<(u64, u64), Message>>,
    /// When something happens to it: a message arrives, or one of its own has been taken.
    events: BinaryHeap<Reverse<u64>>,
    /// Bytes of messages that others have not taken.
    under_way: usize,
    /// When it hears that so many bytes have been taken.
    taken: BinaryHeap<Reverse<(u64, usize)>>,
    /// Whether it waits for an event.
    is_waiting: bool,
}

struct Simulation {
    ranks: Vec<RankState>,
    /// Ranks that can go on, with the times at which they can.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    running: u32,
    /// Number of the next message.
    next: u64,
}

struct Shared {
    network: LogGp,
    simulation: Mutex<Simulation>,
    turns: Vec<Condvar>,
}

/// One simulated rank as it sees the others.
pub struct SimulatedPeers {
    rank: u32,
    shared: Arc<Shared>,
    /// Processor time of the thread at the last look, ns.
    looked_at: u64,
}

/// All ranks wait for each other.
#[derive(Debug)]
pub struct Deadlock;

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

/// Processor time of this thread, ns.
fn thread_time() -> u64 {
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = [0i64; 2];
    // SAFETY: `time` is laid out as a timespec of 64-bit Linux, and lives through the call.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time[0] as u64 * 1_000_000_000 + time[1] as u64
}

impl SimulatedPeers {
    /// One for each of `ranks` threads. Each thread calls [`SimulatedPeers::begin`] first.
    pub fn new(ranks: u32, network: LogGp) -> Vec<SimulatedPeers> {
        let simulation = Simulation {
            ranks: (0..ranks).map(|_| RankState::default()).collect(),
            ready: (1..ranks).map(|rank| Reverse((0, rank))).collect(),
            running: 0,
            next: 0,
        };
        let shared = Arc::new(Shared {
            network,
            simulation: Mutex::new(simulation),
            turns: (0..ranks).map(|_| Condvar::new()).collect(),
        });
        let peer = |rank| SimulatedPeers {
            rank,
            shared: shared.clone(),
            looked_at: 0,
        };
        (0..ranks).map(peer).collect()
    }

    /// Waits for its first turn.
    pub fn begin(&mut self) {
        let simulation = self.lock();
        drop(self.wait_for_turn(simulation));
        self.looked_at = thread_time();
    }

    /// Ends this rank, and gives what it has done.
    pub fn end(mut self) -> RankCounts {
        self.compute();
        let mut simulation = self.lock();
        let counts = simulation.ranks[self.rank as usize].counts;
        self.pass_on(&mut simulation);
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Simulation> {
        self.shared.simulation.lock().expect("no rank panics")
    }

    /// Adds to this rank's clock what it has computed.
    fn compute(&mut self) {
        let now = thread_time();
        let passed = now - self.looked_at;
        let mut simulation = self.lock();
        let counts = &mut simulation.ranks[self.rank as usize].counts;
        counts.computed += passed;
        counts.clock += passed;
        drop(simulation);
        // What the simulation itself takes is not counted.
        self.looked_at = thread_time();
    }

    /// Lets the rank go on that is furthest behind; gives whether there is one.
    fn pass_on(&self, simulation: &mut Simulation) -> bool {
        let Some(Reverse((time, next))) = simulation.ready.pop() else {
            return false;
        };
        let state = &mut simulation.ranks[next as usize];
        state.counts.clock = state.counts.clock.max(time);
        simulation.running = next;
        self.shared.turns[next as usize].notify_one();
        true
    }

    fn wait_for_turn<'s>(
        &'s self,
        mut simulation: MutexGuard<'s, Simulation>,
    ) -> MutexGuard<'s, Simulation> {
        while simulation.running != self.rank {
            let turn = self.shared.turns[self.rank as usize].wait(simulation);
            simulation = turn.expect("no rank panics");
        }
        simulation
    }
}

impl Simulation {
    /// Something happens to a rank at this time.
    fn happen(&mut self, rank: u32, time: u64) {
        let state = &mut self.ranks[rank as usize];
        if std::mem::take(&mut state.is_waiting) {
            let at = time.max(state.counts.clock);
            self.ready.push(Reverse((at, rank)));
        } else {
            state.events.push(Reverse(time));
        }
    }
}

impl Peers for SimulatedPeers {
    type Failure = Deadlock;

    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.shared.turns.len() as u32
    }

    fn post(&mut self, to: u32, tag: MessageTag, bytes: Vec<u8>) -> Result<(), Deadlock> {
        self.compute();
        super::memory::gave_away(bytes.len());
        let network = self.shared.network;
        let mut simulation = self.lock();
        let number = simulation.next;
        simulation.next += 1;
        let length = bytes.len();
        let on_link = (length as f64 * network.per_byte) as u64;
        let own = &mut simulation.ranks[self.rank as usize];
        own.counts.messages_sent += 1;
        own.counts.bytes_sent += length as u64;
        own.counts.clock += network.overhead as u64;
        own.under_way += length.max(1);
        let leaves = own.counts.clock.max(own.link_out);
        own.link_out = leaves + on_link;
        let other = &mut simulation.ranks[to as usize];
        let begins = (leaves + network.latency as u64).max(other.link_in);
        let arrives = begins + on_link;
        other.link_in = arrives;
        let message = Message {
            from: self.rank,
            bytes,
        };
        let mailbox = other.mailbox.entry(tag.number()).or_default();
        mailbox.insert((arrives, number), message);
        simulation.happen(to, arrives);
        drop(simulation);
        self.looked_at = thread_time();
        Ok(())
    }

    fn under_way(&mut self) -> Result<usize, Deadlock> {
        self.compute();
        let mut simulation = self.lock();
        let own = &mut simulation.ranks[self.rank as usize];
        while let Some(&Reverse((time, bytes))) = own.taken.peek()
            && time <= own.counts.clock
        {
            own.taken.pop();
            own.under_way -= bytes;
        }
        Ok(own.under_way)
    }

    fn take(
        &mut self,
        from: Option<u32>,
        tag: MessageTag,
    ) -> Result<Option<(u32, Vec<u8>)>, Deadlock> {
        self.compute();
        let network = self.shared.network;
        let mut simulation = self.lock();
        let own = &mut simulation.ranks[self.rank as usize];
        let clock = own.counts.clock;
        let Some(mailbox) = own.mailbox.get_mut(&tag.number()) else {
            return Ok(None);
        };
        let arrived = mailbox.range(..=(clock, u64::MAX));
        let mut wanted =
            arrived.filter(|(_, message)| from.is_none_or(|from| from == message.from));
        let Some(key) = wanted.next().map(|(key, _)| *key) else {
            return Ok(None);
        };
        let Message { from, bytes } = mailbox.remove(&key).expect("just found");
        own.counts.messages_taken += 1;
        own.counts.bytes_taken += bytes.len() as u64;
        own.counts.clock += network.overhead as u64;
        let heard = own.counts.clock + network.latency as u64;
        let sender = &mut simulation.ranks[from as usize];
        sender.taken.push(Reverse((heard, bytes.len().max(1))));
        simulation.happen(from, heard);
        drop(simulation);
        super::memory::got(bytes.len());
        self.looked_at = thread_time();
        Ok(Some((from, bytes)))
    }

    fn idle(&mut self, _: u32) -> Result<(), Deadlock> {
        self.compute();
        let rank = self.rank;
        let mut simulation = self.lock();
        let own = &mut simulation.ranks[rank as usize];
        match own.events.pop() {
            Some(Reverse(time)) => {
                let at = time.max(own.counts.clock);
                simulation.ready.push(Reverse((at, rank)));
            }
            None => own.is_waiting = true,
        }
        if !self.pass_on(&mut simulation) {
            return Err(Deadlock);
        }
        drop(self.wait_for_turn(simulation));
        self.looked_at = thread_time();
        Ok(())
    }

    fn nonsense(&self, from: u32) -> Deadlock {
        panic!("rank {}: nonsense from rank {from}", self.rank)
    }
}
