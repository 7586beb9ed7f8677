//! What a process leaves behind: objects, and calls that have not ended.

use super::call::{AskedMessage, CallPlace, FunctionKey, Peer, UnfinishedCall};
use super::collective::{Arrival, OperationNumber};
use super::deadlock::WaitsFor;
use super::one_sided::WindowPartners;
use super::pass::{CorrectnessPass, UnseenCalls};
use super::posted::PostedReceive;
use super::process::{self, ProbedMessage, ProcessState, is_buffered};
use super::role::{meets_other_side, waits_for_other_side};
use wrappers::{Class, Function};

impl CorrectnessPass {
    /// All calls of a process have been looked at. What it has left counts if it has come to MPI_Finalize.
    pub fn end_process(&mut self, process: &ProcessState) {
        self.processes += 1;
        self.post(process);
        if process.has_finalized {
            self.finalized += 1;
            let left = match process.has_attributes {
                true => &mut self.left_to_callbacks,
                false => &mut self.left,
            };
            left.append(&mut process.left());
        }
    }

    /// Notes the receives that a process has begun with requests, and the messages that its matched probes have taken, once.
    fn post(&mut self, process: &ProcessState) {
        if self.posted.contains_key(&process.rank()) {
            return;
        }
        let operations = process.operations();
        let receives = operations.iter().chain(process.freed_receives());
        let mut posted: Vec<PostedReceive> = receives
            .filter_map(|one| self.posted_receive(one.receive?, one.posted()))
            .collect();
        for ProbedMessage { asked, start } in process.probed_messages() {
            // Of a message whose sender or tag is not known, nobody knows which one is taken.
            if let (Peer::Rank(_), Some(_)) = (asked.peer, asked.tag)
                && let Some(taken) = self.posted_receive(asked, start)
            {
                posted.push(PostedReceive {
                    is_probe: true,
                    ..taken
                });
            }
        }
        posted.sort_by(|a, b| a.posted.total_cmp(&b.posted));
        self.posted.insert(process.rank(), posted);
    }

    pub(super) fn posted_receive(&self, asked: AskedMessage, start: f64) -> Option<PostedReceive> {
        match self.wait_of_receive(asked, start) {
            WaitsFor::Message {
                comm,
                from,
                tag,
                posted,
            } => Some(PostedReceive {
                comm,
                from,
                tag,
                posted,
                is_probe: false,
            }),
            _ => None,
        }
    }

    /// What an unfinished call of a function waits for. `comm` is its communicator, `send` and `receive` are its messages, `requests` the operations
    /// that it is to complete, where they are known.
    pub fn waits_for(
        &mut self,
        process: &ProcessState,
        function: &Function,
        place: CallPlace,
        unfinished: &UnfinishedCall,
    ) -> WaitsFor {
        self.post(process);
        // What looks for a message does not take it.
        let taken = unfinished
            .receive
            .filter(|_| function.class != Class::Probe)
            .and_then(|asked| self.posted_receive(asked, place.start));
        if let Some(posted) = taken {
            self.posted.entry(place.rank).or_default().push(posted);
        }
        match function.class {
            Class::Finalize => WaitsFor::Unknown,
            // It puts the message into a buffer of the program, or fails.
            Class::Send if is_buffered(function) => WaitsFor::Nobody,
            Class::Send | Class::Recv | Class::Sendrecv | Class::Probe => {
                let send = unfinished.send.map(|asked| self.wait_of_send(asked, true));
                let receive = unfinished.receive;
                let receive = receive.map(|asked| self.wait_of_receive(asked, place.start));
                both_ways(send, receive)
            }
            Class::Complete => self.wait_of_requests(process, function, unfinished),
            Class::RmaSync if unfinished.window.is_some() => {
                self.wait_on_window(process, function, place, unfinished)
            }
            _ => {
                let (comm, on) = (unfinished.comm, unfinished.on);
                let comm = process.comes_on(function, comm, on, place.start);
                let arrival = Arrival {
                    place,
                    signature: unfinished.signature,
                };
                let rank = place.rank;
                match comm.and_then(|comm| self.come(comm, rank, arrival)) {
                    Some(own) => self.wait_of_collective(own, place.function),
                    None => WaitsFor::Unknown,
                }
            }
        }
    }

    /// What a running call of one-sided communication waits for.
    fn wait_on_window(
        &self,
        process: &ProcessState,
        function: &Function,
        place: CallPlace,
        unfinished: &UnfinishedCall,
    ) -> WaitsFor {
        if self.unseen.contains_key(&UnseenCalls::OneSided) {
            return WaitsFor::Unknown;
        }
        let window = process.shared_on(unfinished.on, place.start);
        let Some((window, said)) = window.zip(unfinished.window) else {
            return WaitsFor::Unknown;
        };
        let caller = self.window_caller(window, process.rank(), &function.name, said);
        match caller.and_then(|caller| self.one_sided.partners(caller)) {
            None => WaitsFor::Unknown,
            Some((_, partners)) if partners == WindowPartners::default() => WaitsFor::Nobody,
            Some((wait, WindowPartners { all, any })) => WaitsFor::Window {
                window,
                wait,
                all,
                any,
            },
        }
    }

    /// What a collective operation of a function waits for, in an intercommunicator on its other side too.
    pub(super) fn wait_of_collective(
        &self,
        own: OperationNumber,
        function: FunctionKey,
    ) -> WaitsFor {
        let waits = |OperationNumber { comm, number }| WaitsFor::Operation { comm, number };
        if meets_other_side(self.name(function)) {
            return WaitsFor::All(vec![waits(own), WaitsFor::OtherSide]);
        }
        let needs_other = |_: &OperationNumber| waits_for_other_side(self.name(function));
        match self.on_other_side(own).filter(needs_other) {
            Some(other) => WaitsFor::All(vec![waits(own), waits(other)]),
            None => waits(own),
        }
    }

    /// What a call waits for that completes requests.
    fn wait_of_requests(
        &self,
        process: &ProcessState,
        function: &Function,
        unfinished: &UnfinishedCall,
    ) -> WaitsFor {
        let known = &unfinished.requests[..];
        let known = known
            .iter()
            .flatten()
            .filter_map(|&request| process.operation(request));
        let mut operations: Vec<process::Operation> = known.collect();
        let name = function.name.as_str();
        let waits_for_one = name.starts_with("MPI_Waitany") || name.starts_with("MPI_Waitsome");
        let is_send_only = |operation: &process::Operation| {
            operation.receive.is_none()
                && operation.collective.is_none()
                && !operation.is_synchronous
        };
        let asked = unfinished.request_count.unwrap_or(u32::MAX) as usize;
        let mut are_all_known = asked <= unfinished.requests.len();
        let mut is_exact = are_all_known;
        if !is_exact {
            let all = process.operations();
            are_all_known = all.len() == asked;
            // Others may be outstanding that the call does not wait for. It waits for all of those that it names first.
            is_exact = all.len() == asked || !waits_for_one && !operations.iter().all(is_send_only);
            if all.len() == asked || !is_exact {
                operations = all;
            }
        }
        let wait_of = |one: &process::Operation| self.wait_of(one);
        if waits_for_one {
            return WaitsFor::Any(operations.iter().map(wait_of).collect());
        }
        if !is_exact {
            let parts = operations.iter().map(wait_of).collect();
            return WaitsFor::AllThenAny(Vec::new(), parts);
        }
        // A standard send may be over as soon as it has begun.
        let (sends, others): (Vec<_>, Vec<_>) =
            operations.iter().partition(|one| is_send_only(one));
        let [sends, others] = [sends, others].map(|some| some.into_iter().map(wait_of).collect());
        match are_all_known {
            true => both_parts(others, sends),
            false => WaitsFor::All(others),
        }
    }

    fn wait_of(&self, operation: &process::Operation) -> WaitsFor {
        let send = operation.send.filter(|_| !operation.is_buffered);
        let send = send.map(|asked| self.wait_of_send(asked, false));
        let receive = operation.receive;
        let receive = receive.map(|asked| self.wait_of_receive(asked, operation.posted()));
        match operation.collective {
            Some(own) => self.wait_of_collective(own, operation.made.function),
            None => both_ways(send, receive),
        }
    }

    /// What a send waits for. `is_own` is whether the call that waits sends the message itself.
    fn wait_of_send(&self, asked: AskedMessage, is_own: bool) -> WaitsFor {
        let Peer::Rank(to) = asked.peer else {
            return WaitsFor::Nobody;
        };
        match self.partner(asked.comm, to) {
            Some(to) => WaitsFor::Receive {
                comm: self.channel_of(asked.comm),
                to,
                tag: asked.tag,
                is_own,
            },
            None => WaitsFor::Unknown,
        }
    }

    fn wait_of_receive(&self, asked: AskedMessage, posted: f64) -> WaitsFor {
        let from: Vec<u32> = match asked.peer {
            Peer::Nobody => return WaitsFor::Nobody,
            Peer::Rank(rank) => self.partner(asked.comm, rank).into_iter().collect(),
            Peer::Anybody => {
                let comm = self.comms.get(asked.comm.0 as usize);
                let partners = comm.map_or(&[][..], |comm| &comm.partners);
                partners
                    .iter()
                    .filter_map(|&rank| u32::try_from(rank).ok())
                    .collect()
            }
        };
        match from.is_empty() {
            true => WaitsFor::Unknown,
            false => WaitsFor::Message {
                comm: self.channel_of(asked.comm),
                from,
                tag: asked.tag,
                posted,
            },
        }
    }
}

/// What a call or a request waits for that sends, receives, or both: the send may be over while the message that is received has yet to come.
fn both_ways(send: Option<WaitsFor>, receive: Option<WaitsFor>) -> WaitsFor {
    match (send, receive) {
        (None, None) => WaitsFor::Unknown,
        (Some(one), None) | (None, Some(one)) => one,
        (Some(send), Some(receive)) => WaitsFor::AllThenAny(vec![receive], vec![send]),
    }
}

/// What is waited for: all of the first, and sends that may be over.
fn both_parts(first: Vec<WaitsFor>, sends: Vec<WaitsFor>) -> WaitsFor {
    match sends.is_empty() {
        true => WaitsFor::All(first),
        false => WaitsFor::AllThenAny(first, sends),
    }
}
