//! Sends put to receives as MPI does it: messages of one sender, receiver, communicator and tag arrive in the order in
//! which receives were posted. A receive with a wildcard counts from when its status tells what it took.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::hidden_calls::{HiddenCalls, certain_pairs};
use trace_model::Losses;

/// Messages that are passed over at most, where one is looked for among those that wait.
const LOOKED_AT: usize = 1000;

/// What clocks of one host may differ by at most, where a rank's own was corrected.
const CLOCK_DOUBT_NS: i64 = 1_000_000;

/// Messages that are left, to ranks that call MPI_Mrecv or its like.
const TAKEN_UNSEEN: &str =
    "message to a rank with receives that DUMPI cannot hold, such as MPI_Mrecv";

/// Receives that are left, from ranks that call MPI_Isendrecv or its like.
const SENT_UNSEEN: &str =
    "receive from a rank with sends that DUMPI cannot hold, such as MPI_Isendrecv";

/// Messages of which both ends are there, beside others of hidden calls.
const UNCERTAIN: &str = "message whose other end is not certain, beside calls that DUMPI cannot hold, such as MPI_Mrecv";

/// Properties that the two ends of a message share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MessageChannel {
    pub(super) comm: u32,
    /// World rank.
    pub(super) source: u32,
    /// World rank.
    pub(super) dest: u32,
    pub(super) tag: i32,
}

/// One end of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageEnd {
    pub(super) ns: i64,
    pub(super) line: i32,
    pub(super) bytes: i64,
}

/// Messages that a receive may take: `None` for any.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivePattern {
    pub(super) comm: u32,
    pub(super) source: Option<u32>,
    pub(super) dest: u32,
    pub(super) tag: Option<i32>,
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedMessage {
    pub(super) send: MessageEnd,
    pub(super) receive: MessageEnd,
    pub(super) tag: i32,
}

/// What the trace tells of a rank, where that bears on its messages.
#[derive(Clone, Debug)]
pub(super) struct RankFacts {
    /// Ranks with the same clock have the same text; `None` if times are not those of a clock.
    pub(super) clock: Option<Vec<u8>>,
    /// Whether it calls functions that receive messages and whose arguments DUMPI does not hold, as MPI_Mrecv.
    pub(super) receives_unseen: bool,
    /// Whether it calls functions that send messages and whose arguments DUMPI does not hold, as MPI_Isendrecv.
    pub(super) sends_unseen: bool,
}

/// A receive that took a message.
#[derive(Clone, Copy, Debug)]
struct CompleteReceive {
    end: MessageEnd,
    /// Bytes of the message, if a status tells.
    told: Option<i64>,
    /// Whether it was posted for any sender, or for nobody: DUMPI has one number for MPI_ANY_SOURCE and MPI_PROC_NULL.
    is_from_anyone: bool,
}

#[derive(Clone, Copy, Debug)]
enum PostedReceive {
    /// Posted.
    Open,
    Complete(CompleteReceive),
    /// Takes a message of which nobody learns.
    Forgotten,
}

#[derive(Debug, Default)]
struct ChannelQueues {
    sends: VecDeque<(u64, MessageEnd)>,
    /// By the order of posting.
    receives: BTreeMap<u64, PostedReceive>,
    /// Messages of which both ends are left, as it is not certain which belong together.
    uncertain: u64,
}

/// The messages under way.
#[derive(Debug, Default)]
pub(super) struct MessagesUnderWay {
    channels: HashMap<MessageChannel, ChannelQueues>,
    /// By receiver the receives with wildcards that are not complete.
    wild: HashMap<u32, BTreeMap<u64, ReceivePattern>>,
    /// By receiver the channels that wait for one of those.
    held: HashMap<u32, HashSet<MessageChannel>>,
    /// Complete receives of which nobody knows what they took, by the order of posting.
    unknown: BTreeMap<u64, (ReceivePattern, MessageEnd)>,
    ranks: HashMap<u32, RankFacts>,
    /// Whether a rank calls functions that send or receive messages and whose arguments DUMPI does not hold.
    has_hidden_calls: bool,
    count: u64,
    forgotten: u64,
    /// Receives that were complete before anything was sent that they could have taken.
    early: Vec<(MessageChannel, MessageEnd)>,
    /// Messages that are complete, for the caller to take.
    pub(super) arrows: Vec<MatchedMessage>,
}

impl MessagesUnderWay {
    /// None yet, of a run of which this is known by rank.
    pub(super) fn new(ranks: HashMap<u32, RankFacts>) -> Self {
        let hides = |rank: &RankFacts| rank.receives_unseen || rank.sends_unseen;
        MessagesUnderWay {
            has_hidden_calls: ranks.values().any(hides),
            ranks,
            ..MessagesUnderWay::default()
        }
    }

    /// A message is sent; gives its number.
    pub(super) fn send(&mut self, channel: MessageChannel, end: MessageEnd) -> u64 {
        self.count += 1;
        let queues = self.channels.entry(channel).or_default();
        queues.sends.push_back((self.count, end));
        self.settle(channel);
        self.count
    }

    /// A send was cancelled, unless the message has arrived already.
    pub(super) fn cancel_send(&mut self, channel: MessageChannel, number: u64) {
        if let Some(queues) = self.channels.get_mut(&channel) {
            queues.sends.retain(|(nth, _)| *nth != number);
        }
    }

    /// A receive is posted; gives its number.
    pub(super) fn post(&mut self, wanted: ReceivePattern) -> u64 {
        self.count += 1;
        match channel(&wanted) {
            Some(channel) => {
                let queues = self.channels.entry(channel).or_default();
                queues.receives.insert(self.count, PostedReceive::Open);
            }
            None => {
                let wild = self.wild.entry(wanted.dest).or_default();
                wild.insert(self.count, wanted);
            }
        }
        self.count
    }

    /// Completes a receive that took a message of this channel, of so many bytes if a status tells.
    pub(super) fn complete(
        &mut self,
        number: u64,
        wanted: &ReceivePattern,
        taken: MessageChannel,
        (end, told): (MessageEnd, Option<i64>),
    ) {
        let receive = CompleteReceive {
            end,
            told,
            is_from_anyone: wanted.source.is_none(),
        };
        let slot = PostedReceive::Complete(receive);
        self.fill(number, wanted, Some(taken), slot);
    }

    /// Completes a receive that took a message whose status nobody asked for.
    pub(super) fn forget(&mut self, number: u64, wanted: &ReceivePattern) {
        self.forgotten += 1;
        self.fill(number, wanted, channel(wanted), PostedReceive::Forgotten);
    }

    /// Completes a receive of which no status tells source and tag. It took a message, or none if it was from MPI_PROC_NULL.
    pub(super) fn unknown(&mut self, number: u64, wanted: &ReceivePattern, end: MessageEnd) {
        self.unknown.insert(number, (*wanted, end));
        self.cancel(number, wanted);
    }

    /// Completes a receive that took no message, such as a cancelled one.
    pub(super) fn cancel(&mut self, number: u64, wanted: &ReceivePattern) {
        if let Some(channel) = channel(wanted)
            && let Some(queues) = self.channels.get_mut(&channel)
        {
            queues.receives.remove(&number);
            self.settle(channel);
        }
        self.release(number, wanted.dest);
    }

    fn fill(
        &mut self,
        number: u64,
        wanted: &ReceivePattern,
        taken: Option<MessageChannel>,
        slot: PostedReceive,
    ) {
        if let Some(posted) = channel(wanted)
            && taken != Some(posted)
            && let Some(queues) = self.channels.get_mut(&posted)
        {
            queues.receives.remove(&number);
        }
        if let Some(taken) = taken {
            let queues = self.channels.entry(taken).or_default();
            queues.receives.insert(number, slot);
            self.settle(taken);
        }
        self.release(number, wanted.dest);
    }

    /// A receive with a wildcard waits no longer, nor do those that waited for it.
    fn release(&mut self, number: u64, dest: u32) {
        let Some(wild) = self.wild.get_mut(&dest) else {
            return;
        };
        if wild.remove(&number).is_none() {
            return;
        }
        if wild.is_empty() {
            self.wild.remove(&dest);
        }
        for channel in self.held.remove(&dest).unwrap_or_default() {
            self.settle(channel);
        }
    }

    /// Calls of a channel that the trace may lack.
    fn hidden_calls(&self, channel: &MessageChannel) -> HiddenCalls {
        if !self.has_hidden_calls {
            return HiddenCalls::default();
        }
        let (from, to) = (
            self.ranks.get(&channel.source),
            self.ranks.get(&channel.dest),
        );
        HiddenCalls {
            receives: to.is_some_and(|to| to.receives_unseen),
            sends: from.is_some_and(|from| from.sends_unseen),
        }
    }

    /// Makes arrows of what can be put together. Where calls are hidden, that is known only when all others are.
    fn settle(&mut self, channel: MessageChannel) {
        if self.hidden_calls(&channel).are_any() {
            return;
        }
        let Some(queues) = self.channels.get_mut(&channel) else {
            return;
        };
        while let (Some((&number, &slot)), Some(&(_, send))) =
            (queues.receives.first_key_value(), queues.sends.front())
        {
            if matches!(slot, PostedReceive::Open) {
                return;
            }
            let may_take = |wanted: &ReceivePattern| {
                wanted.comm == channel.comm
                    && wanted.source.is_none_or(|source| source == channel.source)
                    && wanted.tag.is_none_or(|tag| tag == channel.tag)
            };
            let wild = self.wild.get(&channel.dest);
            if wild.is_some_and(|wild| wild.range(..number).any(|(_, wanted)| may_take(wanted))) {
                self.held.entry(channel.dest).or_default().insert(channel);
                return;
            }
            queues.receives.pop_first();
            let PostedReceive::Complete(CompleteReceive {
                end: receive,
                is_from_anyone,
                ..
            }) = slot
            else {
                queues.sends.pop_front();
                continue;
            };
            // From MPI_PROC_NULL, which not all libraries say in the status.
            let is_early = is_from_anyone && receive.ns.saturating_add(CLOCK_DOUBT_NS) < send.ns;
            if is_early && have_one_clock(&self.ranks, channel) {
                self.early.push((channel, receive));
                continue;
            }
            if let Some((_, send)) = queues.sends.pop_front() {
                let tag = channel.tag;
                self.arrows.push(MatchedMessage { send, receive, tag });
            }
        }
        if queues.receives.is_empty() && queues.sends.is_empty() {
            self.channels.remove(&channel);
        }
    }

    /// Makes arrows of what certainly belongs together on a channel with hidden calls, after the last call.
    fn settle_hidden(&mut self, channel: MessageChannel, hidden: HiddenCalls) {
        let has_one_clock = have_one_clock(&self.ranks, channel);
        let may_take = |wanted: &ReceivePattern| {
            wanted.comm == channel.comm
                && wanted.dest == channel.dest
                && wanted.source.is_none_or(|source| source == channel.source)
                && wanted.tag.is_none_or(|tag| tag == channel.tag)
        };
        let hidden = HiddenCalls {
            // A receive of which nobody knows what it took may have taken one of these.
            receives: hidden.receives || self.unknown.values().any(|(wanted, _)| may_take(wanted)),
            ..hidden
        };
        let Some(queues) = self.channels.get_mut(&channel) else {
            return;
        };
        let is_before = |receive: &CompleteReceive, send: i64| {
            has_one_clock && receive.end.ns.saturating_add(CLOCK_DOUBT_NS) < send
        };
        // From MPI_PROC_NULL, which not all libraries say in the status.
        let first = queues.sends.iter().map(|(_, send)| send.ns).min();
        queues.receives.retain(|_, slot| match slot {
            PostedReceive::Complete(receive)
                if receive.is_from_anyone && first.is_some_and(|ns| is_before(receive, ns)) =>
            {
                self.early.push((channel, receive.end));
                false
            }
            _ => true,
        });
        let sends: Vec<MessageEnd> = queues.sends.iter().map(|&(_, end)| end).collect();
        let receives: Vec<(u64, PostedReceive)> = queues
            .receives
            .iter()
            .map(|(&nth, &slot)| (nth, slot))
            .collect();
        let counts = (sends.len(), receives.len());
        let pairs = certain_pairs(counts, hidden, |send, receive| {
            let send = &sends[send];
            match &receives[receive].1 {
                PostedReceive::Complete(receive) => {
                    // The size of types that were never committed is not known to the sender.
                    let told = receive.told.filter(|told| *told >= 0 && send.bytes != 0);
                    told.is_none_or(|told| told == send.bytes) && !is_before(receive, send.ns)
                }
                PostedReceive::Forgotten | PostedReceive::Open => true,
            }
        });
        queues.uncertain = (counts.0.min(counts.1) - pairs.len()) as u64;
        let mut taken = vec![false; sends.len()];
        for (send, receive) in pairs {
            let (number, slot) = receives[receive];
            taken[send] = true;
            queues.receives.remove(&number);
            if let PostedReceive::Complete(receive) = slot {
                self.arrows.push(MatchedMessage {
                    send: sends[send],
                    receive: receive.end,
                    tag: channel.tag,
                });
            }
        }
        let mut taken = taken.into_iter();
        queues.sends.retain(|_| !taken.next().unwrap_or(false));
    }

    /// Matches the rest at the end: receives with wildcards that never took anything hold nothing up any more.
    pub(super) fn finish(&mut self) {
        self.wild.clear();
        self.held.clear();
        let mut channels: Vec<MessageChannel> = self.channels.keys().copied().collect();
        channels.sort_unstable();
        for channel in channels {
            if let Some(queues) = self.channels.get_mut(&channel) {
                queues
                    .receives
                    .retain(|_, slot| !matches!(slot, PostedReceive::Open));
            }
            match self.hidden_calls(&channel) {
                hidden if hidden.are_any() => self.settle_hidden(channel, hidden),
                _ => self.settle(channel),
            }
        }
        self.guess();
    }

    /// Gives the receives of which nobody knows what they took the messages that are left, first come, first served.
    fn guess(&mut self) {
        type Waiting = Vec<(i64, MessageChannel, u64, MessageEnd, bool)>;
        // Where calls are hidden, what is left may be theirs.
        if self.unknown.is_empty() || self.has_hidden_calls {
            return;
        }
        let mut left: HashMap<(u32, u32), (usize, Waiting)> = HashMap::new();
        for (channel, queues) in &self.channels {
            let (_, waiting) = left.entry((channel.comm, channel.dest)).or_default();
            let sends = queues.sends.iter();
            waiting.extend(sends.map(|&(number, end)| (end.ns, *channel, number, end, false)));
        }
        for (_, waiting) in left.values_mut() {
            waiting.sort_unstable_by_key(|&(ns, channel, number, _, _)| (ns, channel, number));
        }
        self.unknown.retain(|_, (wanted, receive)| {
            let Some((first, waiting)) = left.get_mut(&(wanted.comm, wanted.dest)) else {
                return true;
            };
            while waiting.get(*first).is_some_and(|(.., taken)| *taken) {
                *first += 1;
            }
            let mut candidates = waiting.iter_mut().skip(*first).take(LOOKED_AT);
            let found = candidates.find(|(ns, channel, _, _, taken)| {
                !taken
                    && *ns <= receive.ns
                    && wanted.tag.is_none_or(|tag| tag == channel.tag)
                    && wanted.source.is_none_or(|source| source == channel.source)
            });
            let Some((_, channel, number, send, taken)) = found else {
                return true;
            };
            *taken = true;
            let (send, tag) = (*send, channel.tag);
            let receive = *receive;
            self.arrows.push(MatchedMessage { send, receive, tag });
            if let Some(queues) = self.channels.get_mut(channel) {
                queues.sends.retain(|(nth, _)| nth != number);
            }
            false
        });
    }

    /// The ends of messages that found no other end.
    pub(super) fn left(&self) -> impl Iterator<Item = MessageEnd> {
        let sends = |queues: &ChannelQueues| {
            let ends = queues.sends.iter().map(|&(_, end)| end);
            ends.collect::<Vec<_>>()
        };
        let receives = |queues: &ChannelQueues| {
            let ends = queues.receives.values().filter_map(|slot| match slot {
                PostedReceive::Complete(receive) => Some(receive.end),
                _ => None,
            });
            ends.collect::<Vec<_>>()
        };
        let all = self.channels.values();
        let all = all.flat_map(move |queues| sends(queues).into_iter().chain(receives(queues)));
        let early = self.early.iter().map(|&(_, end)| end);
        all.chain(early)
    }

    /// Ends that found no other end. What a rank may have received or sent by calls of which DUMPI holds no arguments is told as that.
    pub(super) fn losses(&self, losses: &mut Losses) {
        for (channel, queues) in &self.channels {
            let left = |count: usize| (count as u64).saturating_sub(queues.uncertain);
            losses.add(self.sent_only(channel), left(queues.sends.len()));
            losses.add(self.received_only(channel), left(queues.receives.len()));
            losses.add(UNCERTAIN, queues.uncertain);
        }
        for (channel, _) in &self.early {
            losses.add(self.received_only(channel), 1);
        }
        losses.add(
            "receive whose request was freed before it was complete",
            self.forgotten,
        );
    }

    /// What a message of a channel is called whose receive was not found.
    fn sent_only(&self, channel: &MessageChannel) -> &'static str {
        let to = self.ranks.get(&channel.dest);
        match to.is_some_and(|to| to.receives_unseen) {
            true => TAKEN_UNSEEN,
            false => "message without a receive",
        }
    }

    /// What a receive from a channel is called whose message was not found.
    fn received_only(&self, channel: &MessageChannel) -> &'static str {
        let from = self.ranks.get(&channel.source);
        match from.is_some_and(|from| from.sends_unseen) {
            true => SENT_UNSEEN,
            false => "receive without a message",
        }
    }
}

/// Whether times of both ends of a channel can be compared.
fn have_one_clock(ranks: &HashMap<u32, RankFacts>, channel: MessageChannel) -> bool {
    let clock = |rank: u32| ranks.get(&rank)?.clock.as_deref();
    clock(channel.source).is_some_and(|source| clock(channel.dest) == Some(source))
}

/// The only channel that a receive without wildcards can take from.
fn channel(wanted: &ReceivePattern) -> Option<MessageChannel> {
    Some(MessageChannel {
        comm: wanted.comm,
        source: wanted.source?,
        dest: wanted.dest,
        tag: wanted.tag?,
    })
}
