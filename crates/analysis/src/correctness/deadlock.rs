//! Who waits for whom in a run that hangs: ranks that can go on are taken out one after the other, and what is left is stuck.
//!
//! A call waits for all of some ranks (a collective call, MPI_Waitall) or for any of them (MPI_Recv from MPI_ANY_SOURCE). A rank outside of MPI, or in a
//! call that waits for nobody, can go on. A rank that waits can go on if all ranks can, or any can, that it waits for. Ranks in MPI_Finalize, and
//! ranks that have exited, do nothing for others any more. One that was killed while it computed could have gone on.

use super::call::{AskedTag, CallPlace, CommKey};
use super::collective::OperationNumber;
use super::message::{SentMessage, UnderWay};
use super::one_sided::WindowWait;
use super::posted::{PostedReceive, PostedReceives};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What a call that has not ended waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitsFor {
    /// Nobody: the call will end by itself.
    Nobody,
    /// The trace does not tell.
    Unknown,
    /// A message from a rank of MPI_COMM_WORLD, or from any of these.
    Message {
        /// Communicator of the message.
        comm: CommKey,
        /// Ranks in MPI_COMM_WORLD that may send it.
        from: Vec<u32>,
        /// The tag that is asked for.
        tag: AskedTag,
        /// Begin of the call that asks for it, seconds.
        posted: f64,
    },
    /// A receive of a message by this rank of MPI_COMM_WORLD.
    Receive {
        /// Communicator of the message.
        comm: CommKey,
        /// The receiver.
        to: u32,
        /// Tag of the message, if it is known.
        tag: Option<i32>,
        /// Whether the call itself sends the message. A send with a request has ended when this call begins, so its message is under way, or was received.
        is_own: bool,
    },
    /// Other ranks in a collective call.
    Operation {
        /// Communicator of the call.
        comm: CommKey,
        /// Number of the call on it.
        number: u64,
    },
    /// Processes outside of the communicator of a collective call, of which the trace does not tell who they are: the other side of an
    /// intercommunicator that is being made.
    OtherSide,
    /// What other ranks do on a window.
    Window {
        /// The window.
        window: CommKey,
        /// What they do.
        wait: WindowWait,
        /// Ranks in MPI_COMM_WORLD all of which must do it.
        all: Vec<u32>,
        /// Ranks of which one must do it, if there are any.
        any: Vec<u32>,
    },
    /// All of these.
    All(Vec<WaitsFor>),
    /// One of these.
    Any(Vec<WaitsFor>),
    /// All of the first; where these are all there, one of the others, of which it is not known which have ended: a standard send may end before its message
    /// is received.
    AllThenAny(Vec<WaitsFor>, Vec<WaitsFor>),
}

/// What a process does that is in no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutsideCalls {
    /// The process computes, or was killed while it did: it can go on, or could have.
    Computes,
    /// The process has come to MPI_Finalize.
    Finalized,
    /// The process has exited by itself without MPI_Finalize.
    Exited,
}

/// What a rank does at the end of the trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RankEnd {
    /// The rank is in no call.
    Outside(OutsideCalls),
    /// The rank is in a call that has not ended, and waits.
    In(CallPlace, WaitsFor),
}

impl RankEnd {
    /// Whether the rank does nothing for others any more.
    pub(super) fn is_finished(&self) -> bool {
        matches!(
            self,
            RankEnd::Outside(OutsideCalls::Finalized | OutsideCalls::Exited)
        )
    }
}

/// Ranks that a rank waits for: all of them, or any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Needed {
    /// Each must be there.
    pub all: Vec<u32>,
    /// Of each of these lists, one must be there.
    pub any: Vec<Vec<u32>>,
}

/// A rank that is stuck, the call that it is in, and the ranks that it waits for in vain.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StuckRank {
    pub rank: u32,
    pub place: CallPlace,
    pub waits_for: Vec<u32>,
}

/// Ranks that are stuck.
#[derive(Clone, Debug, Default)]
pub(super) struct Deadlock {
    /// Ranks that wait for each other in a circle; or a chain that ends at a rank that has come to MPI_Finalize.
    pub circle: Vec<StuckRank>,
    /// Whether it is a circle.
    pub is_circle: bool,
    /// Number of all ranks that are stuck by it, those of the circle among them.
    pub stuck: usize,
}

/// What is known of messages at the end of the trace.
pub(super) struct MessageState<'a> {
    /// Whether all calls that send and receive messages are known. Else a call that waits for a message, or for a receive, is taken for able to end.
    pub are_all_seen: bool,
    /// Messages that were sent and not received.
    pub under_way: UnderWay,
    /// Receives that have begun and not ended.
    pub posted: &'a PostedReceives,
    /// Whether a rank of MPI_COMM_WORLD has received a message of which the send has not ended: communicator, sender, receiver, and tag if it is known.
    pub is_received: &'a dyn Fn(CommKey, u32, u32, Option<i32>) -> bool,
}

/// Finds who is stuck: all circles, and all chains that end at ranks that do nothing for others any more. `missing` gives the ranks of MPI_COMM_WORLD that
/// have not come to a collective call. Gives those who are stuck, and the ranks in calls that need no rank any more.
pub(super) fn find(
    ends: &BTreeMap<u32, RankEnd>,
    mut messages: MessageState<'_>,
    missing: impl Fn(OperationNumber) -> Vec<u32>,
) -> (Vec<Deadlock>, BTreeSet<u32>) {
    // A send that has begun is as good as one that was made.
    for (&rank, end) in ends {
        if let RankEnd::In(place, waits) = end {
            add_sends(rank, place.start, waits, &mut messages.under_way);
        }
    }
    for sends in messages.under_way.values_mut() {
        sends.sort_by(|a, b| a.sent.total_cmp(&b.sent));
    }
    let needs: HashMap<u32, Needed> = ends
        .iter()
        .filter_map(|(&rank, end)| match end {
            RankEnd::In(_, waits) => {
                let mut needed = Needed::default();
                add_needed(rank, waits, &messages, &missing, &mut needed);
                Some((rank, needed))
            }
            RankEnd::Outside(_) => None,
        })
        .collect();
    let can_go_on = going_on(ends, &needs);
    let stuck_since = |rank: &u32| match ends.get(rank) {
        Some(RankEnd::In(place, _)) => place.start,
        _ => f64::INFINITY,
    };
    let mut stuck: Vec<u32> = needs
        .keys()
        .copied()
        .filter(|rank| !can_go_on.contains(rank))
        .collect();
    stuck.sort_by(|a, b| stuck_since(a).total_cmp(&stuck_since(b)).then(a.cmp(b)));
    let waits_for = |rank: u32| -> Vec<u32> {
        let Some(needed) = needs.get(&rank) else {
            return Vec::new();
        };
        let mut ranks: Vec<u32> = (needed.all.iter())
            .chain(needed.any.iter().flatten())
            .copied()
            .filter(|other| !can_go_on.contains(other))
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    };
    let mut waited_by: HashMap<u32, Vec<u32>> = HashMap::new();
    for &rank in &stuck {
        for other in waits_for(rank) {
            waited_by.entry(other).or_default().push(rank);
        }
    }
    let mut told: HashSet<u32> = HashSet::new();
    let mut found = Vec::new();
    for &first in &stuck {
        if told.contains(&first) {
            continue;
        }
        let (path, from) = follow(first, &needs, &waits_for);
        let circle: Vec<StuckRank> = path[from.unwrap_or(0)..]
            .iter()
            .filter_map(|&rank| {
                let RankEnd::In(place, _) = ends.get(&rank)? else {
                    return None;
                };
                Some(StuckRank {
                    rank,
                    place: *place,
                    waits_for: waits_for(rank),
                })
            })
            .collect();
        // All that wait for these, or for the end of the chain, are told of with them.
        let mut work: Vec<u32> = circle.iter().map(|it| it.rank).collect();
        if from.is_none() {
            work.extend(circle.last().iter().flat_map(|last| &last.waits_for));
        }
        let mut reached: HashSet<u32> = work.iter().copied().collect();
        while let Some(rank) = work.pop() {
            for &other in waited_by.get(&rank).into_iter().flatten() {
                if !told.contains(&other) && reached.insert(other) {
                    work.push(other);
                }
            }
        }
        reached.retain(|rank| needs.contains_key(rank) && !told.contains(rank));
        found.push(Deadlock {
            circle,
            is_circle: from.is_some(),
            stuck: reached.len(),
        });
        told.extend(reached);
    }
    let is_met = |(_, needed): &(&u32, &Needed)| **needed == Needed::default();
    let met = needs.iter().filter(is_met);
    (found, met.map(|(&rank, _)| rank).collect())
}

/// Follows who waits for whom from a rank on. Gives the ranks on the way, and where among them a circle begins, if there is one.
fn follow(
    first: u32,
    needs: &HashMap<u32, Needed>,
    waits_for: &dyn Fn(u32) -> Vec<u32>,
) -> (Vec<u32>, Option<usize>) {
    let mut path = vec![first];
    let mut places = HashMap::from([(first, 0)]);
    loop {
        let Some(&last) = path.last() else {
            return (path, None);
        };
        let all = waits_for(last);
        // Rather a rank that waits itself than one that has ended.
        let waiting = || all.iter().filter(|rank| needs.contains_key(rank));
        let Some(&next) = waiting()
            .find(|rank| places.contains_key(rank))
            .or_else(|| waiting().next())
        else {
            return (path, None);
        };
        if let Some(&at) = places.get(&next) {
            return (path, Some(at));
        }
        places.insert(next, path.len());
        path.push(next);
    }
}

/// Notes the messages that an unfinished call of a rank is sending itself, since this time.
fn add_sends(rank: u32, since: f64, waits: &WaitsFor, under_way: &mut UnderWay) {
    match waits {
        WaitsFor::Receive {
            comm,
            to,
            tag,
            is_own: true,
        } => {
            let sends = under_way.entry((*comm, *to)).or_default();
            sends.push(SentMessage {
                from: rank,
                tag: *tag,
                sent: since,
            });
        }
        WaitsFor::All(parts) | WaitsFor::Any(parts) => {
            for part in parts {
                add_sends(rank, since, part, under_way);
            }
        }
        WaitsFor::AllThenAny(first, others) => {
            for part in first.iter().chain(others) {
                add_sends(rank, since, part, under_way);
            }
        }
        _ => {}
    }
}

fn fits(asked: Option<i32>, sent: Option<i32>) -> bool {
    asked.zip(sent).is_none_or(|(asked, sent)| asked == sent)
}

/// What has become of a message that a call sends, or that a request stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendState {
    /// The message was received.
    Received,
    /// There may be a receive for it.
    Awaited,
    /// There is no receive for it.
    Alone,
}

impl MessageState<'_> {
    /// Messages of a sender to a rank, and the receive of those that the rank has posted before `until` which each gets, if no other sender's message gets
    /// it. Messages are in order, and each gets the receive that was posted first of those that ask for such a one: so do both sides of MPI.
    fn matched(
        &self,
        from: u32,
        to: u32,
        comm: CommKey,
        until: f64,
    ) -> impl Iterator<Item = (&SentMessage, Option<&PostedReceive>)> {
        let sends = self.under_way.get(&(comm, to)).into_iter().flatten();
        let posted = self.posted.get(&to).into_iter().flatten();
        let is_possible = move |it: &&PostedReceive| {
            it.comm == comm && it.from.contains(&from) && it.posted < until
        };
        let mut free: Vec<&PostedReceive> = posted.filter(is_possible).collect();
        free.sort_by(|a, b| a.posted.total_cmp(&b.posted));
        let sends = sends.filter(move |message| message.from == from);
        sends.map(move |message| {
            let mut receives = free.iter();
            let found = receives.position(|receive| fits(receive.tag, message.tag));
            (message, found.map(|at| free.remove(at)))
        })
    }

    /// Whether there is a message for a receive of `rank`. A message goes to the receive that was posted first.
    fn is_there(&self, rank: u32, comm: CommKey, from: &[u32], tag: AskedTag, posted: f64) -> bool {
        let sends = self.under_way.get(&(comm, rank)).into_iter().flatten();
        let is_asked =
            |message: &&SentMessage| from.contains(&message.from) && fits(tag, message.tag);
        let Some(first) = sends.clone().find(is_asked) else {
            return false;
        };
        let posted_before = self.posted.get(&rank).into_iter().flatten();
        let posted_before = posted_before.filter(|it| it.comm == comm && it.posted < posted);
        // Of several senders nobody knows whose messages came first.
        let is_of_another = |message: &SentMessage| {
            message.from != first.from
                && (is_asked(&message)
                    || posted_before.clone().any(|it| {
                        it.from.contains(&message.from)
                            && it.from.contains(&first.from)
                            && fits(it.tag, message.tag)
                    }))
        };
        if !sends.clone().any(is_of_another) {
            let mut matched = self.matched(first.from, rank, comm, posted);
            return matched.any(|(message, taken)| taken.is_none() && is_asked(&message));
        }
        let (&[from], Some(_)) = (from, tag) else {
            return true;
        };
        // A receive from anybody, or of any tag, may have got another message.
        let earlier = posted_before.filter(|it| it.from == [from] && it.tag == tag);
        sends.filter(is_asked).count() > earlier.count()
    }

    /// What has become of a message of `rank`. Where several are on one channel, it is the last of them if the call sends it itself, else any.
    fn send_state(
        &self,
        rank: u32,
        comm: CommKey,
        to: u32,
        tag: Option<i32>,
        is_own: bool,
    ) -> SendState {
        if is_own && (self.is_received)(comm, rank, to, tag) {
            return SendState::Received;
        }
        let matched = self.matched(rank, to, comm, f64::INFINITY);
        let own = matched.filter(|(message, _)| fits(tag, message.tag));
        // A probe receives nothing.
        let mut own = own.map(|(_, receive)| receive.is_some_and(|receive| !receive.is_probe));
        let is_awaited = match is_own {
            true => own.last(),
            false => own.next().map(|first| first || own.any(|it| it)),
        };
        match is_awaited {
            None => SendState::Received,
            Some(true) => SendState::Awaited,
            Some(false) => SendState::Alone,
        }
    }
}

/// Adds the ranks that a call of `rank` needs. A message that is under way needs nobody.
fn add_needed(
    rank: u32,
    waits: &WaitsFor,
    messages: &MessageState<'_>,
    missing: &dyn Fn(OperationNumber) -> Vec<u32>,
    needed: &mut Needed,
) {
    match waits {
        // What is not known is taken for what will end.
        WaitsFor::Nobody | WaitsFor::Unknown | WaitsFor::OtherSide => {}
        WaitsFor::Message {
            comm,
            from,
            tag,
            posted,
        } => {
            if !messages.are_all_seen || messages.is_there(rank, *comm, from, *tag, *posted) {
                return;
            }
            // A rank that waits sends nothing to itself.
            let others: Vec<u32> = from.iter().copied().filter(|&it| it != rank).collect();
            match (&others[..], &from[..]) {
                (&[one], _) | ([], &[one]) => needed.all.push(one),
                _ => needed.any.push(others),
            }
        }
        WaitsFor::Receive {
            comm,
            to,
            tag,
            is_own,
        } => {
            let state = || messages.send_state(rank, *comm, *to, *tag, *is_own);
            if messages.are_all_seen && state() == SendState::Alone {
                needed.all.push(*to);
            }
        }
        WaitsFor::Operation { comm, number } => {
            let (comm, number) = (*comm, *number);
            needed.all.extend(missing(OperationNumber { comm, number }));
        }
        WaitsFor::Window { all, any, .. } => {
            needed.all.extend(all);
            if !any.is_empty() {
                needed.any.push(any.clone());
            }
        }
        WaitsFor::All(parts) => {
            for part in parts {
                add_needed(rank, part, messages, missing, needed);
            }
        }
        WaitsFor::Any(parts) => add_any(rank, parts.iter(), messages, missing, needed),
        WaitsFor::AllThenAny(first, others) => {
            let mut sure = Needed::default();
            for part in first {
                add_needed(rank, part, messages, missing, &mut sure);
            }
            if sure == Needed::default() {
                let has_ended = |part: &&WaitsFor| {
                    matches!(part, WaitsFor::Receive { comm, to, tag, is_own }
                        if messages.send_state(rank, *comm, *to, *tag, *is_own) == SendState::Received)
                };
                let open = others.iter().filter(|part| !has_ended(part));
                add_any(rank, open, messages, missing, needed);
            }
            needed.all.append(&mut sure.all);
            needed.any.append(&mut sure.any);
        }
    }
}

/// Adds the ranks of which a call of `rank` needs one, as one of these parts is enough for it.
fn add_any<'w>(
    rank: u32,
    parts: impl Iterator<Item = &'w WaitsFor>,
    messages: &MessageState<'_>,
    missing: &dyn Fn(OperationNumber) -> Vec<u32>,
    needed: &mut Needed,
) {
    let mut ranks = Vec::new();
    for part in parts {
        let mut one = Needed::default();
        add_needed(rank, part, messages, missing, &mut one);
        if one == Needed::default() {
            // It can end by this one.
            return;
        }
        ranks.extend(one.all);
        ranks.extend(one.any.into_iter().flatten());
    }
    if !ranks.is_empty() {
        needed.any.push(ranks);
    }
}

/// The ranks that can go on.
fn going_on(ends: &BTreeMap<u32, RankEnd>, needs: &HashMap<u32, Needed>) -> HashSet<u32> {
    // By rank, those that wait for it.
    let mut waiting: HashMap<u32, Vec<u32>> = HashMap::new();
    for (&rank, needed) in needs {
        for &other in needed.all.iter().chain(needed.any.iter().flatten()) {
            waiting.entry(other).or_default().push(rank);
        }
    }
    let mut found: HashSet<u32> = ends
        .iter()
        .filter(|(_, end)| matches!(end, RankEnd::Outside(OutsideCalls::Computes)))
        .map(|(&rank, _)| rank)
        .collect();
    let is_met = |needed: &Needed, found: &HashSet<u32>| {
        // A rank of which nothing is known may do anything.
        let is_there = |rank: &u32| found.contains(rank) || !ends.contains_key(rank);
        needed.all.iter().all(is_there) && needed.any.iter().all(|any| any.iter().any(is_there))
    };
    let free = needs.iter().filter(|(_, needed)| is_met(needed, &found));
    let free: Vec<u32> = free.map(|(&rank, _)| rank).collect();
    found.extend(free);
    let mut work: Vec<u32> = found.iter().copied().collect();
    while let Some(rank) = work.pop() {
        for &other in waiting.get(&rank).into_iter().flatten() {
            if !found.contains(&other) && needs.get(&other).is_some_and(|n| is_met(n, &found)) {
                found.insert(other);
                work.push(other);
            }
        }
    }
    found
}
