//! Calls that begin and end: what each belongs to, whom it waited for, and what the replays make of it.

use super::arrivals::Arrival;
use super::by_file::EndedFileCall;
use super::call_info::CallInfo;
use super::cause_sums::CausesOfWait;
use super::clocks::later;
use super::collective::RankInOperation;
use super::coming::MAX_REQUESTS;
use super::history::{CausedStretch, RootCause};
use super::kept_waits::KeptWait;
use super::lane::{
    BegunCall, EndedProbe, LineUse, OneSidedCall, OpenCall, PreparedOperation, RankRequests,
    WaitEnd,
};
use super::message::{EndedCall, MessageEnvelope, PostedReceive, SenderCall, is_clearly_later};
use super::pass::{WaitPass, region_place};
use super::role::{CategoryRole, Needs, OneSidedStep};
use super::unseen::Gap;
use super::use_times::UseSums;
use super::wait::{CallPlace, Wait, WaitPattern};

/// When a wait was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// When its call ended.
    AtTheEnd,
    /// When its call ended, with an earlier message still to be received.
    InWrongOrder,
    /// After its call had ended.
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
        self.lacking.call(category);
        if self.unseen.is_control(category) {
            self.requests_of(line.lane).controls += 1;
        }
        let mut found = self.info.take().unwrap_or_default();
        self.infos[category as usize].read(info, &mut found);
        let definition = self.categories[category as usize];
        let by_file = &mut self.by_file;
        by_file.begin(line.lane, (category, definition), start, found.handle, info);
        let lane = &mut self.lanes[line.lane as usize];
        let clocks = lane.clocks;
        let begun = BegunCall {
            serial,
            category,
            role,
            line,
            region: lane.region,
            start,
            enter: start.max(self.focus.from.min(self.focus.to)),
            clocks,
        };
        let mut call = match lane.former_call.take() {
            Some(mut former) => {
                former.replace(begun);
                former
            }
            None => Box::new(OpenCall::new(begun)),
        };
        if let Some(made) = &found.made {
            self.make_comm(line.lane, made);
        }
        let arrival = Arrival {
            time: start,
            lane: line.lane,
            clocks,
        };
        call.asked = found.asked.map(|[source, tag]| MessageEnvelope {
            // A persistent receive may be on another communicator than the call that starts it.
            comm: (!found.starts_persistent).then_some(line.comm),
            source,
            tag,
        });
        match role {
            CategoryRole::Collective(collective) => {
                let moved = self.moved(line, category, collective, &found);
                self.add_moved(line, start, moved);
                call.operation = Some(self.come(line, category, collective, &found, arrival));
            }
            CategoryRole::StartsCollective(collective) => {
                let moved = self.moved(line, category, collective, &found);
                self.add_moved(line, start, moved);
                let part = self.come(line, category, collective, &found, arrival);
                self.start_operation(line.lane, found.request, part);
                if role.is_file_call() {
                    call.file_access = found.request;
                }
            }
            CategoryRole::PreparesCollective(role) => {
                let moved = self.moved(line, category, role, &found);
                let requests = self.requests_of(line.lane);
                if let Some(number) = found.prepared
                    && requests.prepared.len() < MAX_REQUESTS
                {
                    let root = found.root;
                    let prepared = PreparedOperation {
                        line,
                        root,
                        role,
                        moved,
                    };
                    requests.prepared.insert(number, prepared);
                }
            }
            CategoryRole::StartsTransfer => self.start_transfers(&mut call, &found, arrival),
            CategoryRole::MarksParts => self.mark_parts(&found, arrival),
            CategoryRole::OneSided(step) => self.begin_one_sided(&mut call, step, &found, arrival),
            CategoryRole::Completes => {
                call.completes.extend_from_slice(&found.completes);
                self.complete(&mut call);
            }
            _ => {}
        }
        self.lanes[line.lane as usize].call = Some(call);
        self.info = Some(found);
    }

    /// A call starts what its info tells: a send or a receive, or persistent operations of any kind.
    fn start_transfers(&mut self, call: &mut OpenCall, info: &CallInfo, arrival: Arrival) {
        let (lane, category) = (call.begun.line.lane, call.begun.category);
        if let (Some(number), Some(request)) = (info.prepared, info.request)
            && self.start_prepared(lane, category, number, Some(request), arrival)
        {
            return;
        }
        let started = info.started.as_deref();
        for &(request, number) in started.map_or(&[][..], |started| &started.collectives) {
            self.start_prepared(lane, category, number, Some(request), arrival);
        }
        let receives = started.map_or(&[][..], |started| &started.receives);
        let posted = PostedReceive {
            time: arrival.time,
            clocks: arrival.clocks,
            asked: call.asked,
        };
        let requests = self.requests_of(lane);
        for &request in receives.iter().chain(&info.request) {
            if requests.posted.len() < MAX_REQUESTS {
                requests.posted.insert(request, posted);
            }
        }
        let sends = started.map_or(&[][..], |started| &started.sends);
        call.starts.extend(sends.iter().rev().chain(&info.request));
    }

    /// Parts of a partitioned send are ready: its message has not been sent before.
    fn mark_parts(&mut self, info: &CallInfo, arrival: Arrival) {
        let requests = self.requests_of(arrival.lane);
        let message = info
            .request
            .and_then(|request| requests.sends.get(&request));
        if let Some(&message) = message {
            let message = self.messages.get_mut(message);
            message.sent = message.sent.max(arrival.time);
            message.clocks = later(&message.clocks, &arrival.clocks);
        }
    }

    fn begin_one_sided(
        &mut self,
        call: &mut OpenCall,
        step: OneSidedStep,
        info: &CallInfo,
        arrival: Arrival,
    ) {
        let requests = self.requests_of(call.begun.line.lane);
        let window = info.handle.and_then(|handle| requests.shared.get(&handle));
        let window = window.map(|window| window.queue);
        let is_unknown = window.is_none() && info.handle.is_some();
        self.counts.unknown_windows += u64::from(is_unknown && step != OneSidedStep::Access);
        let queue = window.and_then(|queue| self.comms.get(queue as usize));
        let own = OneSidedCall {
            step,
            window,
            size: queue.map_or(0, |queue| queue.size),
            rank: self.lanes[call.begun.line.lane as usize].rank_place,
            target: info.target,
        };
        let ranks = info
            .ranks
            .iter()
            .filter_map(|&rank| i32::try_from(rank).ok());
        let places = ranks.filter_map(|rank| self.rank_places.get(&rank).copied());
        let group: Vec<u32> = places.collect();
        let early = self
            .one_sided
            .begin(&own, &group, info.is_exclusive, arrival);
        for (waited, pattern) in early {
            let end = WaitEnd {
                lane: arrival.lane,
                time: waited.leave,
            };
            let from = waited.waited_until;
            self.add_wait(waited.place, pattern, from, end, Finding::AfterTheCall);
        }
        call.one_sided = Some(own);
    }

    pub(super) fn requests_of(&mut self, lane: u32) -> &mut RankRequests {
        let place = self.lanes[lane as usize].rank_place;
        &mut self.requests[place as usize]
    }

    /// Finds what a call completes: receives, and when they were posted, and sends, which wait for the receives of their messages from now on.
    pub(super) fn complete(&mut self, call: &mut OpenCall) {
        let place = self.lanes[call.begun.line.lane as usize].rank_place;
        let requests = &mut self.requests[place as usize];
        for request in &call.completes {
            call.posted.extend(requests.posted.remove(request));
            if let Some(message) = requests.sends.remove(request) {
                self.messages.get_mut(message).sender =
                    SenderCall::Open(call.begun.line.lane, call.begun.serial);
                call.sends.push(message);
            }
        }
        call.posted.sort_by(|a, b| b.time.total_cmp(&a.time));
    }

    pub(super) fn end_call(&mut self, mut call: Box<OpenCall>, time: f64) {
        let lane_number = call.begun.line.lane;
        let is_probe = call.begun.role == CategoryRole::Probe;
        let is_open_what_it_found = is_probe && self.find_probed(&mut call, time);
        let mut latest: Option<(WaitEnd, WaitPattern)> = None;
        let mut keep = |end: Option<WaitEnd>, pattern| {
            if let Some(end) = end
                && latest.is_none_or(|(other, _)| other.time < end.time)
            {
                latest = Some((end, pattern));
            }
        };
        keep(call.late_send, WaitPattern::LateSender);
        let sent = call.late_send.map_or(f64::NEG_INFINITY, |send| send.time);
        keep(
            call.late_receive.filter(|receive| {
                receive.time < time && is_clearly_later(receive.time, call.begun.enter, sent)
            }),
            WaitPattern::LateReceiver,
        );
        if let Some(part) = call.operation {
            let end = self.end_operation(&mut call, &part, time);
            keep(end, part.role.pattern);
        }
        for nth in 0..call.completes.len() {
            let operations = &mut self.requests_of(lane_number).operations;
            if let Some(part) = operations.remove(&call.completes[nth]) {
                let end = self.end_operation(&mut call, &part, time);
                keep(end, part.role.pattern);
            }
        }
        if let Some(own) = &call.one_sided {
            let wait = self
                .one_sided
                .waited_for(own, lane_number, call.begun.enter);
            call.needs = later(&call.needs, &wait.clocks);
            if let Some((end, pattern)) = wait.end {
                keep(Some(end), pattern);
            }
        }
        let waited_until = self.add_longest_wait(&call, latest, time);
        let ended = EndedCall {
            place: call.place(),
            enter: call.begun.enter,
            leave: time,
            waited_until,
            sent,
        };
        for &at in &call.sends {
            let message = self.messages.get_mut(at);
            // The place may have another message by now.
            if message.sender == SenderCall::Open(lane_number, call.begun.serial) {
                message.sender = SenderCall::Ended(ended);
            }
        }
        let is_file_call = call.begun.role.is_file_call();
        let transfer = self.focus.within(waited_until, time);
        let after = later(&call.begun.clocks, &call.needs);
        self.add_call(&call, time, waited_until);
        let lane = &mut self.lanes[lane_number as usize];
        let cause = RootCause {
            lane: lane_number,
            activity: Some(call.begun.category),
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
        if self.unseen.is_control(call.begun.category) {
            lane.gap = Gap::Control;
        }
        let clocks = lane.clocks;
        if is_open_what_it_found {
            lane.probe = Some(Box::new(EndedProbe {
                place: call.place(),
                enter: call.begun.enter,
                leave: time,
                asked: call.asked,
                clocks: [call.begun.clocks, lane.clocks],
            }));
        }
        if lane.end_clocks.is_none() && time >= self.focus.to {
            lane.end_clocks = Some(after);
        }
        if let Some(part) = call.left_early {
            self.leave_early(&call, &part, (waited_until, time));
        }
        if let Some(own) = &call.one_sided {
            let arrival = Arrival {
                time,
                lane: lane_number,
                clocks,
            };
            self.end_one_sided(own, ended, arrival);
        }
        self.lanes[lane_number as usize].former_call = Some(call);
    }

    fn end_one_sided(&mut self, own: &OneSidedCall, ended: EndedCall, arrival: Arrival) {
        for waited in self.one_sided.end(own, ended, arrival) {
            // The lock was free when the call that gave it back had ended: what the other call took longer was its own.
            let end = WaitEnd {
                lane: arrival.lane,
                time: waited.leave.min(arrival.time),
            };
            self.add_wait(
                waited.place,
                WaitPattern::LockContention,
                waited.enter,
                end,
                Finding::AfterTheCall,
            );
        }
    }

    /// Adds the wait of a call that ended at `time` for the last of what it needed, and gives until when it waited.
    fn add_longest_wait(
        &mut self,
        call: &OpenCall,
        longest: Option<(WaitEnd, WaitPattern)>,
        time: f64,
    ) -> f64 {
        let is_probe = call.begun.role == CategoryRole::Probe;
        let lane_number = call.begun.line.lane;
        let enter = call.begun.enter;
        let Some((end, pattern)) = longest.filter(|(end, _)| end.time > enter) else {
            return enter;
        };
        let waited_until = end.time.min(time);
        let end = WaitEnd {
            time: waited_until,
            ..end
        };
        // What was sent earlier and is not received with this call either.
        let earliest = self.lanes[lane_number as usize]
            .incoming
            .earliest(&self.messages);
        let finding = |sent: f64| match !is_probe && earliest.is_some_and(|first| first < sent) {
            true => Finding::InWrongOrder,
            false => Finding::AtTheEnd,
        };
        let mut from = enter;
        // Until its message was sent, the call waited for the sender; from then on for a receive of what it sends itself.
        if pattern == WaitPattern::LateReceiver
            && let Some(send) = call.late_send.filter(|send| send.time > from)
        {
            let late = WaitPattern::LateSender;
            self.add_wait(call.place(), late, from, send, finding(send.time));
            from = send.time;
        }
        let finding = match pattern {
            WaitPattern::LateSender => finding(end.time),
            _ => Finding::AtTheEnd,
        };
        self.add_wait(call.place(), pattern, from, end, finding);
        waited_until
    }

    /// Adds a call that has ended to the sums of its communicator, and to those of files.
    fn add_call(&mut self, call: &OpenCall, time: f64, waited_until: f64) {
        let lane = &mut self.lanes[call.begun.line.lane as usize];
        let is_main = lane.thread == 0;
        let in_calls = self.focus.within(call.begun.enter, time);
        let mut sums = UseSums {
            in_calls,
            ..UseSums::default()
        };
        if call.begun.role.is_file_call() {
            sums.file_calls = self.focus.within(waited_until, time);
            lane.sums.file_calls += sums.file_calls;
            if is_main {
                self.by_region[region_place(call.begun.region)].file_calls += sums.file_calls;
                let spans = &mut self.spans;
                self.focus.parts(waited_until, time, |from, to| {
                    spans
                        .iter_mut()
                        .for_each(|spans| spans.add_file_call(from, to));
                });
            }
        }
        let is_open = || (self.end_marks).is_open(call.begun.line.id, call.begun.start);
        if is_main && !call.begun.role.is_file_call() && is_open() {
            self.in_open_calls += self.focus.within(waited_until, time);
        }
        let waiting = self.focus.within(call.begun.enter, waited_until);
        let file_call = (is_main && in_calls > 0.0 && call.begun.role.is_file_call()).then_some({
            EndedFileCall {
                seconds: in_calls,
                waiting,
            }
        });
        self.by_file.end(call.begun.line.lane, file_call);
        if is_main
            && !self.is_second
            && in_calls > 0.0
            && let Some(by_comm) = self.by_comm.get_mut(call.begun.line.comm as usize)
        {
            by_comm.uses.add(&sums);
            by_comm.calls += 1;
        }
    }

    /// A call, which ends at `time`, ends its part in a collective operation. Gives the rank that came last.
    fn end_operation(
        &mut self,
        call: &mut OpenCall,
        part: &RankInOperation,
        time: f64,
    ) -> Option<WaitEnd> {
        self.lanes[call.begun.line.lane as usize].history.meet(time);
        let mut neighbours = None;
        if part.role.needs == Needs::Neighbours {
            let rank = self.lanes[call.begun.line.lane as usize].rank_place;
            neighbours = self.neighbours.get(&(part.queue, rank)).map(Vec::as_slice);
            self.counts.unknown_neighbours += u64::from(neighbours.is_none());
        }
        let queue = &mut self.comms[part.queue as usize];
        let mut part = *part;
        queue.find_again(&mut part, time);
        let part = &part;
        let needed = queue.needed(part, call.begun.line.lane, neighbours);
        // A rank may leave the operation on a file when its own data are written.
        if part.role.pattern != WaitPattern::FileCollective && queue.lacks(part) {
            call.left_early = Some(*part);
            queue.leave_lacking(part.number, time, time - call.begun.start);
        }
        queue.leave(part.number);
        if part.frees_queue {
            self.shared.free(&self.comms, part.queue);
        }
        let needed = needed?;
        // A rank whose data are on their way to the file already has waited for nobody who comes later.
        let mut waited_until = f64::INFINITY;
        if part.role.pattern == WaitPattern::FileCollective
            && let Some(first) = call.first_transfer
        {
            waited_until = first;
        }
        if needed.last.is_none_or(|last| last.time <= waited_until) {
            call.needs = later(&call.needs, &needed.clocks);
        }
        needed.last.map(|last| WaitEnd {
            lane: last.lane,
            time: last.time.min(waited_until),
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
        let lane = call.lane;
        let is_late_news = finding == Finding::AfterTheCall;
        let culprit = &mut self.lanes[end.lane as usize];
        if culprit.call.is_none() {
            culprit.note_activity(end.lane, culprit.now.max(end.time));
        }
        let otherwise = RootCause {
            lane: end.lane,
            activity: culprit.call.as_ref().map(|call| call.begun.category),
        };
        let mut causes = std::mem::take(&mut self.causes);
        causes.clear();
        culprit
            .history
            .causes(from, end.time, otherwise, &mut causes.stretches);
        let waiting = &mut self.lanes[lane as usize];
        match is_late_news {
            true => waiting.history.replace(&causes.stretches),
            false => waiting.history.add_all(&causes.stretches),
        }
        self.count_wait(call, pattern, from, end, finding, &mut causes);
        self.causes = causes;
    }

    /// Adds a wait with its causes to the sums, as far as it lies in the focus.
    fn count_wait(
        &mut self,
        call: CallPlace,
        pattern: WaitPattern,
        from: f64,
        end: WaitEnd,
        finding: Finding,
        causes: &mut CausesOfWait,
    ) {
        let CallPlace {
            lane,
            line,
            start,
            comm,
            region,
            category,
        } = call;
        let from = from.max(self.focus.from);
        let to = end.time.min(self.focus.to);
        let seconds = self.focus.within(from, to);
        if seconds <= 0.0 {
            return;
        }
        self.cut_to_focus(&mut causes.stretches);
        causes.add_up();
        let waiting = &mut self.lanes[lane as usize];
        let is_main = waiting.thread == 0;
        if is_main {
            for spans in &mut self.spans {
                spans.add_wait(causes);
            }
        }
        if self.is_second {
            return;
        }
        waiting.sums.waiting += seconds;
        if is_main {
            self.by_region[region_place(region)].waiting += seconds;
            if let Some(by_comm) = self.by_comm.get_mut(comm as usize) {
                by_comm.uses.waiting += seconds;
            }
        }
        for (cause, seconds) in causes.sums() {
            self.lanes[cause.lane as usize].caused += seconds;
        }
        let [rank, culprit] = [lane, end.lane].map(|lane| self.lanes[lane as usize].rank_place);
        self.pairs.add_wait(rank, culprit, seconds);
        self.edges.add(lane, end.lane, from, to);
        if let Some(kept) = &mut self.kept {
            kept.add(KeptWait {
                from,
                to,
                start,
                line,
                category,
                culprit: end.lane,
                pattern,
            });
        }
        let wait = Wait {
            pattern,
            category,
            lane,
            line,
            comm,
            start,
            from,
            to,
            seconds,
            culprit: end.lane,
            is_wrong_order: finding == Finding::InWrongOrder,
        };
        self.waits.add(&wait, causes);
    }

    /// Leaves of stretches, which are in order, the parts that lie in the focus.
    fn cut_to_focus(&self, stretches: &mut Vec<CausedStretch>) {
        let is_inside = |stretch: &CausedStretch| {
            stretch.from >= self.focus.from && stretch.to <= self.focus.to
        };
        if !self.focus.has_gaps()
            && stretches.first().is_none_or(is_inside)
            && stretches.last().is_none_or(is_inside)
        {
            return;
        }
        let mut parts = Vec::with_capacity(stretches.len());
        for &stretch in &*stretches {
            self.focus.parts(stretch.from, stretch.to, |from, to| {
                parts.push(CausedStretch {
                    from,
                    to,
                    ..stretch
                });
            });
        }
        *stretches = parts;
    }
}
