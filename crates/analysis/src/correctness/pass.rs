//! The checks of a run: what they know of its communicators, and what they have seen.

use super::call::{CallPlace, CommKey, FunctionKey, GroupKey, ObjectKind, WindowCall};
use super::collective::{Arrival, CollectiveMatcher, OperationNumber};
use super::deadlock::{OutsideCalls, RankEnd, WaitsFor};
use super::failed::Failures;
use super::left::LeftObjects;
use super::message::MessageMatcher;
use super::one_sided::{OneSidedState, WindowCaller};
use super::posted::{PostedReceive, PostedReceives};
use super::role;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wrappers::{Class, Function, Kind};

/// A communicator that all its members agree on.
#[derive(Clone, Debug)]
pub(super) struct Communicator {
    pub(super) name: String,
    /// Ranks in MPI_COMM_WORLD by rank in the (local) group; −1 for processes outside of it.
    pub(super) members: Arc<[i32]>,
    /// By rank, those that messages go to and come from.
    pub(super) partners: Arc<[i32]>,
    /// Communicator by which messages are told: that of one side of an intercommunicator.
    pub(super) channel: CommKey,
    /// Of one side of an intercommunicator, the communicator that stands for the other side, if that is known.
    pub(super) other_side: Option<CommKey>,
    /// Place in the group by rank in MPI_COMM_WORLD, where that is not the rank itself.
    pub(super) places: Option<HashMap<u32, u32>>,
}

/// Counts of what was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassCounts {
    pub(super) calls: u64,
}

/// The checks, as far as calls have been looked at.
#[derive(Debug, Default)]
pub struct CorrectnessPass {
    pub(super) functions: Vec<String>,
    pub(super) function_keys: HashMap<String, FunctionKey>,
    pub(super) comms: Vec<Communicator>,
    /// Files and windows by kind, communicator that they were made on, and number.
    pub(super) shared: HashMap<(ObjectKind, CommKey, u32), CommKey>,
    pub(super) collectives: CollectiveMatcher,
    pub(super) messages: MessageMatcher,
    pub(super) one_sided: OneSidedState,
    /// Receives in which processes ended.
    pub(super) ended_receives: Vec<(CallPlace, PostedReceive)>,
    /// By class of the error.
    pub(super) failures: Failures<i64>,
    /// Calls that returned success, and a write in them failed, by name of the system's error.
    pub(super) failed_writes: Failures<&'static str>,
    pub(super) ends: BTreeMap<u32, RankEnd>,
    pub(super) posted: PostedReceives,
    pub(super) left: Vec<LeftObjects>,
    /// What processes have left that callbacks of attributes may free in MPI_Finalize.
    pub(super) left_to_callbacks: Vec<LeftObjects>,
    /// Processes of which there are calls.
    pub(super) processes: u32,
    /// Processes that came to MPI_Finalize, so that their objects were counted.
    pub(super) finalized: u32,
    /// Classes of error codes, and their names.
    pub(super) error_names: HashMap<i64, (i64, String)>,
    /// The present moment of a run that goes on, seconds.
    pub(super) now: Option<f64>,
    pub(super) counts: PassCounts,
    /// Reasons for which parts of the checks are not made.
    pub(super) unchecked: BTreeMap<Check, String>,
    /// Kinds of calls that ranks may have made without a record, so that nobody knows whom those wait for who are in such a call, and why.
    pub(super) unseen: BTreeMap<UnseenCalls, String>,
    /// Kinds of objects of which nobody knows whether all were freed, and why.
    pub(super) unchecked_objects: BTreeMap<ObjectKind, String>,
    pub(super) not_checked: Vec<String>,
    pub(super) ranks: u32,
}

/// Checks that a trace may not have enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Kind, root, operation and size of collective calls.
    Collectives,
    /// Messages that are never received.
    Messages,
    /// Objects that are never freed.
    Leaks,
    /// Calls that return errors.
    Failures,
    /// Ranks that wait for each other.
    Deadlock,
}

/// Kinds of calls by which ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum UnseenCalls {
    /// Calls that send, receive or complete messages.
    Messages,
    /// Collective calls.
    Collectives,
    /// Calls that synchronise one-sided communication, and those that make windows or groups.
    OneSided,
}

impl UnseenCalls {
    /// Name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            UnseenCalls::Messages => "messages",
            UnseenCalls::Collectives => "collective calls",
            UnseenCalls::OneSided => "one-sided communication",
        }
    }
}

impl Check {
    /// What is not checked, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Check::Collectives => "collective calls",
            Check::Messages => "messages never received",
            Check::Leaks => "objects never freed",
            Check::Failures => "failed calls",
            Check::Deadlock => "who waits for whom",
        }
    }
}

impl CorrectnessPass {
    /// Checks for a run of so many ranks.
    pub fn new(ranks: u32) -> CorrectnessPass {
        CorrectnessPass {
            ranks,
            ..CorrectnessPass::default()
        }
    }

    /// Number that stands for a name of a function, or of a reduction operation.
    pub fn function(&mut self, name: &str) -> FunctionKey {
        if let Some(&key) = self.function_keys.get(name) {
            return key;
        }
        let key = FunctionKey(self.functions.len() as u32);
        self.functions.push(name.to_owned());
        self.function_keys.insert(name.to_owned(), key);
        key
    }

    /// A communicator. `members` are ranks in MPI_COMM_WORLD by rank in it, −1 for processes outside; `partners` those of the remote group if there is
    /// one. `channel` is the communicator by which its messages are told, if it is not itself.
    pub fn define_comm(
        &mut self,
        name: String,
        members: Arc<[i32]>,
        partners: Arc<[i32]>,
        channel: Option<CommKey>,
    ) -> CommKey {
        let key = CommKey(self.comms.len() as u32);
        let is_world = (0..).zip(members.iter()).all(|(nth, &rank)| nth == rank);
        let places = || {
            let known = (0..).zip(members.iter());
            known
                .filter_map(|(nth, &rank)| Some((u32::try_from(rank).ok()?, nth)))
                .collect()
        };
        // Of several intercommunicators with the same sides, nobody knows which of them the second side is of.
        let first = channel.and_then(|channel| self.comms.get_mut(channel.0 as usize));
        let first = first.filter(|first| first.other_side.is_none() && first.partners == members);
        let is_second = first.is_some();
        if let Some(first) = first {
            first.other_side = Some(key);
        }
        self.collectives.add_comm(members.len() as u32);
        self.comms.push(Communicator {
            name,
            other_side: channel.filter(|_| is_second),
            channel: channel.unwrap_or(key),
            places: (!is_world).then(places),
            members,
            partners,
        });
        key
    }

    /// A group of these ranks in MPI_COMM_WORLD.
    pub fn define_group(&mut self, ranks: &[u32]) -> GroupKey {
        self.one_sided.define_group(ranks)
    }

    /// A rank and its call of the function `name` on a window; `None` if the target is not known.
    pub(super) fn window_caller<'n>(
        &self,
        window: CommKey,
        rank: u32,
        name: &'n str,
        call: WindowCall,
    ) -> Option<WindowCaller<'n>> {
        let target = match call.target {
            Some(target) => Some(self.partner(window, target)?),
            None => None,
        };
        Some(WindowCaller {
            window,
            rank,
            function: name,
            call,
            target,
        })
    }

    /// What is not checked at all, and why.
    pub fn leave_out(&mut self, check: Check, why: &str) {
        self.unchecked
            .entry(check)
            .or_insert_with(|| why.to_owned());
    }

    /// The checks that need calls of many functions are not made at all, and why: some calls are missing, nobody knows which.
    pub fn leave_out_many(&mut self, why: &str) {
        for check in [Check::Collectives, Check::Messages, Check::Leaks] {
            self.leave_out(check, why);
        }
        for calls in [UnseenCalls::Messages, UnseenCalls::Collectives] {
            self.leave_unseen(calls, why);
        }
        self.leave_out_windows(why);
    }

    /// Nobody knows who waits for whom in one-sided communication, and why.
    pub fn leave_out_windows(&mut self, why: &str) {
        self.leave_unseen(UnseenCalls::OneSided, why);
    }

    /// Some calls of a kind have no record, and why.
    fn leave_unseen(&mut self, calls: UnseenCalls, why: &str) {
        self.unseen.entry(calls).or_insert_with(|| why.to_owned());
    }

    /// Calls of a function were counted and not recorded: the checks that need them are not made.
    pub fn leave_out_for(&mut self, function: &Function) {
        let makes_communicator = function.class == Class::CommCreate;
        let moves_messages = function.moves_messages();
        let comes_together = role::comes_together_on(function).is_some();
        let why = format!("calls of {} were counted only", function.name);
        for (check, calls, needs_them) in [
            (
                Check::Collectives,
                UnseenCalls::Collectives,
                makes_communicator || comes_together,
            ),
            (
                Check::Messages,
                UnseenCalls::Messages,
                makes_communicator || moves_messages,
            ),
        ] {
            if needs_them {
                self.leave_out(check, &why);
                self.leave_unseen(calls, &why);
            }
        }
        let mut owned = function.creates.iter().copied().chain(function.frees);
        let has_group = owned.any(|at| function.params[at].kind == Kind::Group);
        let is_on_window = matches!(
            function.class,
            Class::RmaSync | Class::WinCreate | Class::WinFree
        );
        if makes_communicator || has_group || is_on_window {
            self.leave_out_windows(&why);
        }
        self.leave_out_objects(function, &why);
    }

    /// Objects of the kinds that a function makes, frees or completes are not looked for among those never freed, and why.
    pub fn leave_out_objects(&mut self, function: &Function, why: &str) {
        let is_request = |at: &usize| function.params[*at].kind == Kind::Request;
        let completed = (0..function.params.len()).filter(is_request);
        let completed = completed.filter(|_| function.moves_messages());
        let owned = function.creates.iter().copied().chain(function.frees);
        for at in owned.chain(completed) {
            if let Some(kind) = ObjectKind::of(function.params[at].kind) {
                let reasons = self.unchecked_objects.entry(kind);
                reasons.or_insert_with(|| why.to_owned());
            }
        }
    }

    /// A part of a check that is not made.
    pub fn note_unchecked(&mut self, text: String) {
        if !self.not_checked.contains(&text) {
            self.not_checked.push(text);
        }
    }

    /// An error code is of a class that has this name.
    pub fn name_error(&mut self, code: i64, class: i64, name: &str) {
        self.error_names.insert(code, (class, name.to_owned()));
    }

    /// A call returned success, and a write to the file in it failed with the error of the system that has this name.
    pub fn write_failed(&mut self, place: CallPlace, error: &'static str) {
        self.failed_writes.add(place, error, 0);
    }

    /// The run goes on, and this is the present moment, in seconds.
    pub fn goes_on(&mut self, now: f64) {
        self.now = Some(now);
    }

    /// Whether a function's data has one size on all ranks, so that it is to be compared.
    pub fn compares_size(function: &Function) -> bool {
        role::has_one_size(&function.name)
    }

    /// A call of a process has not ended; nothing comes after it on its thread. `waits` is what it waits for.
    pub fn end_in_call(&mut self, place: CallPlace, waits: WaitsFor) {
        let end = RankEnd::In(place, waits);
        let known = self.ends.entry(place.rank);
        known
            .and_modify(|known| {
                // Of several threads, one that can go on decides.
                if let RankEnd::In(_, WaitsFor::Nobody | WaitsFor::Unknown) = end {
                    *known = end.clone();
                }
            })
            .or_insert(end);
    }

    /// A process is in no call, or in MPI_Finalize.
    pub fn end_outside(&mut self, rank: u32, outside: OutsideCalls) {
        self.ends.insert(rank, RankEnd::Outside(outside));
    }

    /// A rank of MPI_COMM_WORLD comes to its next collective call on a communicator.
    pub(super) fn come(
        &mut self,
        comm: CommKey,
        rank: u32,
        arrival: Arrival,
    ) -> Option<OperationNumber> {
        let known = self.comms.get(comm.0 as usize)?;
        let place = match &known.places {
            None => rank,
            Some(places) => *places.get(&rank)?,
        };
        Some(self.collectives.come(comm, place, arrival))
    }

    /// Whether it is MPI_COMM_WORLD or MPI_COMM_SELF, which MPI_Finalize frees.
    pub(super) fn is_predefined(&self, comm: CommKey) -> bool {
        ["MPI_COMM_WORLD", "MPI_COMM_SELF"].contains(&self.comm_name(comm))
    }

    pub(super) fn channel_of(&self, comm: CommKey) -> CommKey {
        self.comms
            .get(comm.0 as usize)
            .map_or(comm, |known| known.channel)
    }

    /// The operation on the other side of an intercommunicator that belongs to one on this side, if that is known.
    pub(super) fn on_other_side(&self, operation: OperationNumber) -> Option<OperationNumber> {
        let comm = self.comms.get(operation.comm.0 as usize)?.other_side?;
        let number = operation.number;
        Some(OperationNumber { comm, number })
    }

    /// Rank in MPI_COMM_WORLD of a partner; `None` for one outside.
    pub(super) fn partner(&self, comm: CommKey, rank: i32) -> Option<u32> {
        let comm = self.comms.get(comm.0 as usize)?;
        let rank = *comm.partners.get(usize::try_from(rank).ok()?)?;
        u32::try_from(rank).ok()
    }

    /// Communicator that stands for a persistent collective operation, by the call that made it.
    pub(super) fn started_together(&mut self, made: OperationNumber) -> CommKey {
        let nth = u32::try_from(made.number + 1).unwrap_or(u32::MAX);
        self.shared_object(ObjectKind::Request, made.comm, nth)
    }

    /// Communicator that stands for the n-th file or window that was made on one.
    pub(super) fn shared_object(&mut self, kind: ObjectKind, comm: CommKey, nth: u32) -> CommKey {
        if let Some(&known) = self.shared.get(&(kind, comm, nth)) {
            return known;
        }
        let known = &self.comms[comm.0 as usize];
        let name = match kind {
            ObjectKind::Request => {
                format!("the request of collective call {nth} on {}", known.name)
            }
            _ => format!("{} {nth} of {}", kind.name(), known.name),
        };
        let members = known.members.clone();
        let other_side = known.other_side;
        let key = self.define_comm(name, members.clone(), members, None);
        self.shared.insert((kind, comm, nth), key);
        // Those of the same number on both sides of an intercommunicator belong together.
        if let Some(other) = other_side {
            let other = self.shared_object(kind, other, nth);
            self.comms[key.0 as usize].other_side = Some(other);
        }
        key
    }
}
