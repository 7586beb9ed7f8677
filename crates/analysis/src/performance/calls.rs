//! Calls that begin and end: what each belongs to, whom it waited for, and what the replays make of it.

use super::by_file::EndedFileCall;
use super::clocks::later;
use super::collective::{Arrival, OperationQueue, RankInOperation};
use super::history::{CausedStretch, RootCause};
use super::lane::{
    EndedProbe, LineUse, OpenCall, PostedReceive, RankRequests, SharedObject, WaitEnd,
};
use super::message::{EndedCall, SenderCall};
use super::pass::{WaitPass, region_place};
use super::role::{CategoryRole, CollectiveRole, Needs, SharedUse};
use super::use_times::UseSums;
use super::wait::{CallPlace, Wait, WaitPattern};

/// Requests of a thread that are kept until a call completes them.
pub(super) const MAX_REQUESTS: usize = 1 << 16;

/// When a wait was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// When its call ended.
    AtTheEnd,
    /// Then, too, and an earlier message was still to be received.
    InWrongOrder,
    /// Later.
    AfterTheCall,
}

impl WaitPass<'_> {
    pub(super) fn begin_call(
        &mut self,
        line: LineUse,
        serial: u64,
        category: u32,
        role: CategoryRole,
        start: f64,
        info: &[u8],
    ) {
        self.counts.calls += 1;
        let infos = &self.infos[category as usize];
        let definition = self.categories[category as usize];
        let found = infos.read(definition, info);
        let by_file = &mut self.by_file;
        by_file.begin(line.lane, (category, definition), start, found.handle, info);
        let clocks = self.lanes[line.lane as usize].clocks;
        let mut call = OpenCall {
            serial,
            category,
            role,
            line,
            region: self.lanes[line.lane as usize].region,
            enter: start.max(self.focus.from.min(self.focus.to)),
            clocks,
            needs: clocks,
            late_send: None,
            late_receive: None,
            operation: None,
            sends: Vec::new(),
            completes: found.completes,
            posted: Vec::new(),
        };
        let is_root = found.root.map(|root| root == line.rank);
        let arrival = Arrival {
            time: start,
            lane: line.lane,
            clocks,
        };
        match role {
            CategoryRole::Collective(collective) => {
                if matches!(collective.needs, Needs::Root | Needs::AtRoot) && is_root.is_none() {
                    self.counts.unknown_roots += 1;
                }
                call.operation = Some(self.come(&call, collective, is_root, found.handle, arrival));
            }
            CategoryRole::StartsCollective(collective) => {
                let part = self.come(&call, collective, is_root, found.handle, arrival);
                let requests = self.requests_of(line.lane);
                match found.request {
                    Some(request) if requests.operations.len() < MAX_REQUESTS => {
                        requests.operations.insert(request, part);
                    }
                    _ => self.comms[part.queue as usize].leave(part.number),
                }
            }
            CategoryRole::StartsTransfer => {
                if let Some(request) = found.request {
                    let requests = self.requests_of(line.lane);
                    if requests.posted.len() < MAX_REQUESTS {
                        let time = start;
                        requests
                            .posted
                            .insert(request, PostedReceive { time, clocks });
                    }
                    call.completes.push(request);
                }
            }
            CategoryRole::Completes => self.complete(&mut call),
            _ => {}
        }
        self.lanes[line.lane as usize].call = Some(call);
    }

    pub(super) fn requests_of(&mut self, lane: u32) -> &mut RankRequests {
        let place = self.lanes[lane as usize].rank_place;
        &mut self.requests[place as usize]
    }

    /// Finds what a call completes: receives, and when they were posted, and sends, which wait for the receives of their messages from now on.
    pub(super) fn complete(&mut self, call: &mut OpenCall) {
        let place = self.lanes[call.line.lane as usize].rank_place;
        let requests = &mut self.requests[place as usize];
        for request in &call.completes {
            call.posted.extend(requests.posted.remove(request));
            if let Some(message) = requests.sends.remove(request) {
                self.messages.get_mut(message).sender = SenderCall::Open(call.serial);
                call.sends.push(message);
            }
        }
        call.posted.sort_by(|a, b| b.time.total_cmp(&a.time));
    }

    /// A rank comes to its next collective operation with a call, which is on the file or window that it has this number for.
    fn come(
        &mut self,
        call: &OpenCall,
        role: CollectiveRole,
        is_root: Option<bool>,
        handle: Option<u32>,
        arrival: Arrival,
    ) -> RankInOperation {
        let own = (call.line.comm, call.line.rank);
        let mut shared = None;
        if let (Some(handle), SharedUse::Uses | SharedUse::Frees) = (handle, role.shared) {
            let open = &mut self.requests_of(call.line.lane).shared;
            shared = match role.shared {
                SharedUse::Frees => open.remove(&handle),
                _ => open.get(&handle).copied(),
            };
        }
        let (queue, rank) = match (role.shared, handle, shared) {
            (_, _, Some(shared)) => (shared.queue, shared.rank),
            (SharedUse::Nothing, ..) | (SharedUse::Makes, Some(_), _) => own,
            // What it is about, the trace does not tell.
            _ => (self.queue_of_category(call), call.line.rank),
        };
        let number = self.comms[queue as usize].come(rank, is_root, role, arrival);
        if let (SharedUse::Makes, Some(handle)) = (role.shared, handle)
            && let Some(made) = self.shared.make(&mut self.comms, queue, number)
        {
            let open = &mut self.requests_of(call.line.lane).shared;
            if open.len() < MAX_REQUESTS {
                open.insert(handle, SharedObject { queue: made, rank });
            }
        }
        RankInOperation {
            queue,
            number,
            rank,
            is_root,
            role,
            frees_queue: role.shared == SharedUse::Frees && shared.is_some(),
        }
    }

    /// The queue of calls of a category on files or windows that the trace does not tell.
    fn queue_of_category(&mut self, call: &OpenCall) -> u32 {
        let comms = &mut self.comms;
        let size = comms
            .get(call.line.comm as usize)
            .map_or(0, |comm| comm.size);
        *self.others.entry(call.category).or_insert_with(|| {
            comms.push(OperationQueue::new(size));
            comms.len() as u32 - 1
        })
    }

    pub(super) fn end_call(&mut self, mut call: OpenCall, time: f64) {
        let lane_number = call.line.lane;
        let mut latest: Option<(WaitEnd, WaitPattern)> = None;
        let mut keep = |end: Option<WaitEnd>, pattern| {
            if let Some(end) = end
                && latest.is_none_or(|(other, _)| other.time < end.time)
            {
                latest = Some((end, pattern));
            }
        };
        keep(call.late_send, WaitPattern::LateSender);
        keep(
            call.late_receive.filter(|end| end.time < time),
            WaitPattern::LateReceiver,
        );
        let operations = &mut self.requests_of(lane_number).operations;
        let completed = call
            .completes
            .iter()
            .filter_map(|request| operations.remove(request));
        let parts: Vec<RankInOperation> = call.operation.into_iter().chain(completed).collect();
        for part in &parts {
            keep(self.end_operation(&mut call, part), part.role.pattern);
        }
        let mut waited_until = call.enter;
        if let Some((end, pattern)) = latest.filter(|(end, _)| end.time > call.enter) {
            waited_until = end.time.min(time);
            let end = WaitEnd {
                time: waited_until,
                ..end
            };
            // What was sent earlier and is not received with this call either.
            let earliest = self.lanes[lane_number as usize]
                .incoming
                .earliest(&self.messages);
            let finding = match pattern {
                WaitPattern::LateSender if earliest.is_some_and(|sent| sent < end.time) => {
                    Finding::InWrongOrder
                }
                _ => Finding::AtTheEnd,
            };
            self.add_wait(call.place(), pattern, call.enter, end, finding);
        }
        let ended = EndedCall {
            place: call.place(),
            enter: call.enter,
            leave: time,
            waited_until,
        };
        for &at in &call.sends {
            let message = self.messages.get_mut(at);
            // The place may have another message by now.
            if message.sender == SenderCall::Open(call.serial) {
                message.sender = SenderCall::Ended(ended);
            }
        }
        let is_file_call = call.role.is_file_call();
        let transfer = self.focus.within(waited_until, time);
        let after = later(&call.clocks, &call.needs);
        self.add_call(&call, time, waited_until);
        let lane = &mut self.lanes[lane_number as usize];
        let cause = RootCause {
            lane: lane_number,
            activity: Some(call.category),
        };
        lane.history.add(waited_until, time, cause);
        lane.clocks = std::array::from_fn(|nth| {
            let factor = match is_file_call {
                true => 1.0,
                false => self.assumptions[nth].transfer,
            };
            after[nth] + transfer * factor
        });
        lane.since = time;
        if call.role == CategoryRole::Probe {
            lane.probe = Some(EndedProbe {
                place: call.place(),
                enter: call.enter,
                leave: time,
                clocks: [call.clocks, lane.clocks],
            });
        }
        if lane.end_clocks.is_none() && time >= self.focus.to {
            lane.end_clocks = Some(after);
        }
    }

    /// Adds a call that has ended to the sums of its communicator, and to those of files.
    fn add_call(&mut self, call: &OpenCall, time: f64, waited_until: f64) {
        let lane = &mut self.lanes[call.line.lane as usize];
        let is_main = lane.thread == 0;
        let in_calls = self.focus.within(call.enter, time);
        let mut sums = UseSums {
            in_calls,
            ..UseSums::default()
        };
        if call.role.is_file_call() {
            sums.file_calls = self.focus.within(waited_until, time);
            lane.sums.file_calls += sums.file_calls;
            if is_main {
                self.by_region[region_place(call.region)].file_calls += sums.file_calls;
                let spans = &mut self.spans;
                self.focus.parts(waited_until, time, |from, to| {
                    spans
                        .iter_mut()
                        .for_each(|spans| spans.add_file_call(from, to));
                });
            }
        }
        let waiting = self.focus.within(call.enter, waited_until);
        let file_call = (is_main && in_calls > 0.0 && call.role.is_file_call()).then_some({
            EndedFileCall {
                seconds: in_calls,
                waiting,
            }
        });
        self.by_file.end(call.line.lane, file_call);
        if is_main
            && in_calls > 0.0
            && let Some((by_comm, count)) = self.by_comm.get_mut(call.line.comm as usize)
        {
            by_comm.add(&sums);
            *count += 1;
        }
    }

    /// A call ends its part in a collective operation. Gives the rank that came last.
    fn end_operation(&mut self, call: &mut OpenCall, part: &RankInOperation) -> Option<WaitEnd> {
        let queue = &mut self.comms[part.queue as usize];
        let needed = queue.needed(part, call.line.lane);
        queue.leave(part.number);
        if part.frees_queue {
            self.shared.free(&self.comms, part.queue);
        }
        let needed = needed?;
        call.needs = later(&call.needs, &needed.clocks);
        needed.last.map(|last| WaitEnd {
            lane: last.lane,
            time: last.time,
        })
    }

    /// A call waited from `from` on for what another rank did at `end`.
    pub(super) fn add_wait(
        &mut self,
        call: CallPlace,
        pattern: WaitPattern,
        from: f64,
        end: WaitEnd,
        finding: Finding,
    ) {
        let CallPlace {
            lane,
            line,
            comm,
            region,
            category,
        } = call;
        let is_late_news = finding == Finding::AfterTheCall;
        let is_wrong_order = finding == Finding::InWrongOrder;
        let culprit = &mut self.lanes[end.lane as usize];
        if culprit.call.is_none() {
            culprit.note_activity(end.lane, culprit.now.max(end.time));
        }
        let otherwise = RootCause {
            lane: end.lane,
            activity: culprit.call.as_ref().map(|call| call.category),
        };
        let causes = culprit.history.causes(from, end.time, otherwise);
        let waiting = &mut self.lanes[lane as usize];
        for stretch in &causes {
            match is_late_news {
                true => waiting.history.replace(*stretch),
                false => waiting.history.add(stretch.from, stretch.to, stretch.cause),
            }
        }
        let from = from.max(self.focus.from);
        let to = end.time.min(self.focus.to);
        let seconds = self.focus.within(from, to);
        if seconds <= 0.0 {
            return;
        }
        let causes = self.in_focus(&causes);
        let waiting = &mut self.lanes[lane as usize];
        waiting.sums.waiting += seconds;
        if waiting.thread == 0 {
            self.by_region[region_place(region)].waiting += seconds;
            if let Some((by_comm, _)) = self.by_comm.get_mut(comm as usize) {
                by_comm.waiting += seconds;
            }
            for spans in &mut self.spans {
                spans.add_wait(&causes);
            }
        }
        for stretch in &causes {
            self.lanes[stretch.cause.lane as usize].caused += stretch.seconds();
        }
        let [rank, culprit] = [lane, end.lane].map(|lane| self.lanes[lane as usize].rank_place);
        self.pairs.add_wait(rank, culprit, seconds);
        self.edges.add(lane, end.lane, from, to);
        let wait = Wait {
            pattern,
            category,
            lane,
            line,
            from,
            to,
            seconds,
            culprit: end.lane,
            is_wrong_order,
        };
        self.waits.add(&wait, &causes);
    }

    /// The parts of stretches that lie in the focus.
    fn in_focus(&self, stretches: &[CausedStretch]) -> Vec<CausedStretch> {
        let mut parts = Vec::with_capacity(stretches.len());
        for &stretch in stretches {
            self.focus.parts(stretch.from, stretch.to, |from, to| {
                parts.push(CausedStretch {
                    from,
                    to,
                    ..stretch
                });
            });
        }
        parts
    }
}
