//! One pass over the drawables of a trace: calls begin and end in order of time, messages leave and arrive, and what each call waited for is found
//! where it ends.

use super::clocks::{Assumption, REPLAYS, ReplayClocks, later};
use super::collective::{Arrival, OperationQueue};
use super::critical_path::{PathProfile, WaitEdges};
use super::history::RootCause;
use super::lane::{
    EndedProbe, LineUse, OpenCall, OpenState, PostedReceive, RankRequests, StartedOperation,
    ThreadLane, WaitEnd,
};
use super::message::{EndedCall, SenderCall, TravellingMessage, TravellingMessages};
use super::request_info::RequestInfo;
use super::role::{CategoryRole, CollectiveRole, Needs, RoleFinder};
use super::wait::{CallPlace, Wait, WaitPattern, WaitSums};
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use trace_model::{Actor, Category, Definitions, Drawable, TimeBBox, Topology, lane_of};

/// Requests of a thread that are kept until a call completes them.
const MAX_REQUESTS: usize = 1 << 16;

/// What ends at a time: a message, or the state of a lane.
#[derive(Clone, Copy, Debug)]
struct Ending {
    time: f64,
    /// Messages first; of states the one that began last.
    order: u64,
    /// Place of the message, or lane.
    index: u32,
}

const STATE_ENDS: u64 = 1 << 63;

impl Ending {
    fn message(time: f64, index: u32) -> Ending {
        Ending {
            time,
            order: u64::from(index),
            index,
        }
    }

    fn state(time: f64, serial: u64, lane: u32) -> Ending {
        Ending {
            time,
            order: STATE_ENDS | (STATE_ENDS - 1 - serial),
            index: lane,
        }
    }
}

impl Ord for Ending {
    fn cmp(&self, other: &Ending) -> Ordering {
        self.time
            .total_cmp(&other.time)
            .then(self.order.cmp(&other.order))
    }
}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Ending) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ending {
    fn eq(&self, other: &Ending) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ending {}

/// A message that begins at the time that is looked at, but after the states that begin then.
#[derive(Clone, Copy, Debug)]
struct HeldMessage {
    from: u32,
    to: u32,
    end: f64,
}

/// When a wait was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Finding {
    /// When its call ended.
    AtTheEnd,
    /// Then, too, and an earlier message was still to be received.
    InWrongOrder,
    /// Later.
    AfterTheCall,
}

/// Counts of what the pass met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassCounts {
    pub drawables: u64,
    pub calls: u64,
    pub messages: u64,
    pub message_bytes: u64,
    pub backward_messages: u64,
    pub out_of_order: u64,
    pub without_time: u64,
    /// Collective calls with a root that the trace does not tell.
    pub unknown_roots: u64,
    /// Receives of which it is not known when they were posted.
    pub unknown_posts: u64,
}

/// Seconds of a category in the focus.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CategoryTime {
    pub count: u64,
    /// Without the time of what is nested in it.
    pub exclusive: f64,
}

/// The range of time that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct FocusRange {
    pub from: f64,
    /// Infinite as long as the end has not come.
    pub to: f64,
    /// Whether it follows from the calls that begin and end the run; else it was given.
    pub is_automatic: bool,
    /// Whether a rank has left MPI_Init, and whether one has come to MPI_Finalize.
    pub has_begin: bool,
    pub has_end: bool,
}

/// The state of the pass, and what it has found.
pub(super) struct WaitPass<'a> {
    pub categories: Vec<&'a Category>,
    roles: Vec<CategoryRole>,
    infos: Vec<RequestInfo>,
    category_of: HashMap<i32, u32>,
    lines: HashMap<i32, LineUse>,
    pub lanes: Vec<ThreadLane>,
    requests: Vec<RankRequests>,
    comms: Vec<OperationQueue>,
    /// Operations on files and windows, whose communicator the trace does not tell, by category.
    others: HashMap<u32, u32>,
    endings: BinaryHeap<Reverse<Ending>>,
    held: Vec<HeldMessage>,
    now: f64,
    serial: u64,
    messages: TravellingMessages,
    pub focus: FocusRange,
    restart: Option<f64>,
    assumptions: [Assumption; REPLAYS],
    pub waits: WaitSums,
    pub edges: WaitEdges,
    pub path: Option<PathProfile>,
    pub times: Vec<CategoryTime>,
    pub counts: PassCounts,
    pub bounds: TimeBBox,
}

impl<'a> WaitPass<'a> {
    /// A pass over a trace with these definitions. `window` is the range of time to look at; none is from the latest end of MPI_Init to the earliest
    /// begin of MPI_Finalize.
    pub(super) fn new(
        definitions: &'a Definitions,
        window: Option<TimeBBox>,
        assumptions: [Assumption; REPLAYS],
    ) -> WaitPass<'a> {
        let finder = RoleFinder::new();
        let categories: Vec<&Category> = definitions.categories.iter().collect();
        let mut lanes = Vec::new();
        let mut lane_numbers: HashMap<(i32, i32), u32> = HashMap::new();
        let mut rank_places: HashMap<i32, u32> = HashMap::new();
        let mut comm_numbers: HashMap<i32, u32> = HashMap::new();
        let mut members: Vec<std::collections::HashSet<i32>> = Vec::new();
        let mut lines = HashMap::new();
        for line in &definitions.lines {
            let place = lane_of(line);
            let Actor::Rank(_) = place.actor else {
                continue;
            };
            if place.lane != 0 {
                continue;
            }
            let lane = *lane_numbers
                .entry((line.rank, line.thread))
                .or_insert_with(|| {
                    let place = rank_places.len() as u32;
                    let place = *rank_places.entry(line.rank).or_insert(place);
                    lanes.push(ThreadLane::new(line.rank, line.thread, place));
                    lanes.len() as u32 - 1
                });
            let comm = *comm_numbers.entry(line.comm).or_insert_with(|| {
                members.push(std::collections::HashSet::new());
                members.len() as u32 - 1
            });
            members[comm as usize].insert(line.comm_rank);
            let rank = line.comm_rank;
            let id = line.id;
            lines.insert(
                id,
                LineUse {
                    id,
                    lane,
                    comm,
                    rank,
                },
            );
        }
        WaitPass {
            roles: categories
                .iter()
                .map(|category| finder.of(category))
                .collect(),
            infos: categories
                .iter()
                .map(|category| RequestInfo::of(category))
                .collect(),
            category_of: (0..)
                .zip(&categories)
                .map(|(nth, c)| (c.index, nth))
                .collect(),
            times: vec![CategoryTime::default(); categories.len()],
            categories,
            lines,
            lanes,
            requests: vec![RankRequests::default(); rank_places.len()],
            comms: (members.iter())
                .map(|ranks| OperationQueue::new(ranks.len() as u32))
                .collect(),
            others: HashMap::new(),
            endings: BinaryHeap::new(),
            held: Vec::new(),
            now: f64::NEG_INFINITY,
            serial: 0,
            messages: TravellingMessages::default(),
            focus: FocusRange {
                from: window.map_or(f64::NEG_INFINITY, |window| window.earliest),
                to: window.map_or(f64::INFINITY, |window| window.latest),
                is_automatic: window.is_none(),
                has_begin: false,
                has_end: false,
            },
            restart: None,
            assumptions,
            waits: WaitSums::default(),
            edges: WaitEdges::default(),
            path: None,
            counts: PassCounts::default(),
            bounds: TimeBBox::EMPTY,
        }
    }

    /// Takes the next drawable in order of beginnings.
    pub(super) fn put(&mut self, drawable: &Drawable<'_>) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            self.counts.without_time += 1;
            return;
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            self.counts.without_time += 1;
            return;
        }
        self.counts.drawables += 1;
        let Some(&category) = self.category_of.get(&drawable.category) else {
            return;
        };
        let bounds = drawable.bounds();
        if self.bounds == TimeBBox::EMPTY {
            self.begin(bounds.earliest);
        }
        self.bounds.include(bounds);
        let mut start = bounds.earliest;
        if start < self.now {
            self.counts.out_of_order += 1;
            start = self.now;
        }
        if start > self.now {
            self.go_to(start);
        }
        let end = bounds.latest.max(start);
        match (drawable.topology, self.roles[category as usize]) {
            (Topology::Arrow, CategoryRole::Message) => {
                let [from, to] = [first.line, last.line].map(|line| self.lines.get(&line));
                let (Some(from), Some(to)) = (from, to) else {
                    return;
                };
                let (from, to) = (from.lane, to.lane);
                self.counts.messages += 1;
                let info = trace_model::message(self.categories[category as usize], drawable.info);
                let bytes = info.and_then(|info| u64::try_from(info.size).ok());
                self.counts.message_bytes += bytes.unwrap_or(0);
                self.counts.backward_messages += u64::from(last.time < first.time);
                self.held.push(HeldMessage { from, to, end });
            }
            (Topology::State, role) if role != CategoryRole::Ignored => {
                if let Some(&line) = self.lines.get(&first.line) {
                    self.enter(line, category, role, start, end, drawable.info);
                }
            }
            _ => {}
        }
    }

    /// The trace begins. What ranks did before their first states is known from then on.
    fn begin(&mut self, time: f64) {
        self.focus.from = self.focus.from.max(time);
        for lane in &mut self.lanes {
            lane.now = time;
            lane.since = time;
        }
    }

    /// Ends the input.
    pub(super) fn finish(&mut self) {
        self.go_to(f64::INFINITY);
        let end = self.focus.to.min(self.bounds.latest);
        self.focus.to = end;
        self.focus.from = self.focus.from.max(self.bounds.earliest).min(end);
        for lane in 0..self.lanes.len() as u32 {
            self.advance(lane, end);
            self.end_focus(lane);
        }
    }

    /// What begins from now on begins at `time`.
    fn go_to(&mut self, time: f64) {
        self.send_held();
        while let Some(&Reverse(ending)) = self.endings.peek() {
            if ending.time > time {
                break;
            }
            self.endings.pop();
            self.restart_if_due();
            match ending.order & STATE_ENDS {
                0 => self.receive(ending.index, ending.time),
                _ => {
                    let serial = STATE_ENDS - 1 - (ending.order & (STATE_ENDS - 1));
                    self.leave(ending.index, serial, ending.time);
                }
            }
        }
        self.now = time;
    }

    fn enter(
        &mut self,
        line: LineUse,
        category: u32,
        role: CategoryRole,
        start: f64,
        end: f64,
        info: &[u8],
    ) {
        match role {
            CategoryRole::Init => {}
            _ => self.restart_if_due(),
        }
        self.serial += 1;
        let serial = self.serial;
        self.advance(line.lane, start);
        if role == CategoryRole::Finalize && self.focus.is_automatic && !self.focus.has_end {
            self.focus.has_end = true;
            self.focus.to = start;
        }
        let is_counted = start < self.focus.to && end > self.focus.from;
        self.times[category as usize].count += u64::from(is_counted);
        let lane = &mut self.lanes[line.lane as usize];
        lane.is_used = true;
        if lane.call.is_none() {
            lane.note_activity(line.lane, start);
        }
        lane.stack.push(OpenState {
            serial,
            category,
            role,
        });
        self.endings
            .push(Reverse(Ending::state(end, serial, line.lane)));
        if role.is_call() && self.lanes[line.lane as usize].call.is_none() {
            self.begin_call(line, serial, category, role, start, info);
        }
    }

    fn begin_call(
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
        let found = infos.read(self.categories[category as usize], info);
        let clocks = self.lanes[line.lane as usize].clocks;
        let mut call = OpenCall {
            serial,
            category,
            role,
            line,
            enter: start.max(self.focus.from.min(self.focus.to)),
            clocks,
            needs: clocks,
            late_send: None,
            is_wrong_order: false,
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
                let (comm, rank) = self.queue_of(&mut call, collective);
                let number = self.comms[comm as usize].come(rank, is_root, collective, arrival);
                call.operation = Some((number, is_root));
            }
            CategoryRole::StartsCollective(collective) => {
                let (comm, rank) = self.queue_of(&mut call, collective);
                let number = self.comms[comm as usize].come(rank, is_root, collective, arrival);
                let requests = self.requests_of(line.lane);
                match found.request {
                    Some(request) if requests.operations.len() < MAX_REQUESTS => {
                        let started = StartedOperation {
                            comm,
                            rank,
                            number,
                            is_root,
                            role: collective,
                        };
                        requests.operations.insert(request, started);
                    }
                    _ => self.comms[comm as usize].leave(number),
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

    fn requests_of(&mut self, lane: u32) -> &mut RankRequests {
        let place = self.lanes[lane as usize].rank_place;
        &mut self.requests[place as usize]
    }

    /// Finds what a call completes: receives, and when they were posted, and sends, which wait for the receives of their messages from now on.
    fn complete(&mut self, call: &mut OpenCall) {
        let place = self.lanes[call.line.lane as usize].rank_place;
        let requests = &mut self.requests[place as usize];
        for request in &call.completes {
            call.posted.extend(requests.posted.remove(request));
            if let Some(message) = requests.sends.remove(request) {
                self.messages.get_mut(message).sender = SenderCall::Open(call.serial);
                call.sends.push(message);
            }
        }
        call.posted.sort_by(|a, b| a.time.total_cmp(&b.time));
    }

    /// The queue that a collective call is in, and the rank there.
    fn queue_of(&mut self, call: &mut OpenCall, role: CollectiveRole) -> (u32, i32) {
        if !matches!(
            role.pattern,
            WaitPattern::FileCollective | WaitPattern::Window
        ) {
            return (call.line.comm, call.line.rank);
        }
        let size = self
            .comms
            .get(call.line.comm as usize)
            .map_or(0, |comm| comm.size);
        let comms = &mut self.comms;
        let comm = *self.others.entry(call.category).or_insert_with(|| {
            comms.push(OperationQueue::new(size));
            comms.len() as u32 - 1
        });
        (comm, call.line.rank)
    }

    fn send_held(&mut self) {
        let held = std::mem::take(&mut self.held);
        for message in &held {
            self.send(message);
        }
        self.held = held;
        self.held.clear();
    }

    /// A message leaves its sender.
    fn send(&mut self, held: &HeldMessage) {
        let time = self.now;
        self.advance(held.from, time);
        let lane = &mut self.lanes[held.from as usize];
        let mut message = TravellingMessage {
            from: held.from,
            to: held.to,
            sent: time,
            clocks: lane.clocks,
            sender: SenderCall::Unknown,
            request: None,
            generation: 0,
        };
        if let Some(call) = &lane.call {
            message.clocks = call.clocks;
            if call.role == CategoryRole::BlockingTransfer {
                message.sender = SenderCall::Open(call.serial);
            }
        }
        let at = self.messages.add(message);
        let serial = self.serial;
        if let Some(call) = &mut lane.call {
            match call.role {
                CategoryRole::BlockingTransfer => call.sends.push(at),
                CategoryRole::StartsTransfer => {
                    let requests = &mut self.requests[lane.rank_place as usize];
                    if let [request] = call.completes[..] {
                        // It stands for a send, and not for a receive.
                        requests.posted.remove(&request);
                        if requests.sends.len() < MAX_REQUESTS {
                            requests.sends.insert(request, at);
                            self.messages.get_mut(at).request = Some(request);
                        }
                    }
                }
                _ => {}
            }
        }
        let to = &mut self.lanes[held.to as usize];
        to.incoming.add(serial, at, &self.messages);
        let end = held.end.max(time);
        self.endings.push(Reverse(Ending::message(end, at)));
    }

    /// A message is received.
    fn receive(&mut self, at: u32, time: f64) {
        let message = self.messages.remove(at);
        self.advance(message.to, time);
        let earliest = {
            let lane = &mut self.lanes[message.to as usize];
            lane.incoming.remove_one();
            let is_waiting = lane
                .call
                .as_ref()
                .is_some_and(|call| call.enter < message.sent);
            match is_waiting {
                true => lane.incoming.earliest(&self.messages),
                false => None,
            }
        };
        if let (SenderCall::Unknown, Some(request)) = (message.sender, message.request) {
            self.requests_of(message.from).sends.remove(&request);
        }
        self.end_probe(&message);
        let lane = &mut self.lanes[message.to as usize];
        let mut posted = None;
        match &mut lane.call {
            Some(call) => {
                call.needs = later(&call.needs, &message.clocks);
                WaitEnd::keep(
                    &mut call.late_send,
                    WaitEnd {
                        lane: message.from,
                        time: message.sent,
                    },
                );
                call.is_wrong_order |= earliest.is_some_and(|earliest| earliest < message.sent);
                posted = match call.role {
                    CategoryRole::BlockingTransfer => Some(PostedReceive {
                        time: call.enter,
                        clocks: call.clocks,
                    }),
                    // In the order in which they were posted, as messages of one sender are.
                    _ if !call.posted.is_empty() => Some(call.posted.remove(0)),
                    _ => None,
                };
            }
            None => lane.clocks = later(&lane.clocks, &message.clocks),
        }
        let Some(posted) = posted else {
            self.counts.unknown_posts += 1;
            return;
        };
        let end = WaitEnd {
            lane: message.to,
            time: posted.time,
        };
        match message.sender {
            SenderCall::Unknown => {}
            SenderCall::Open(serial) => {
                let sender = &mut self.lanes[message.from as usize];
                if let Some(call) = sender.call.as_mut().filter(|call| call.serial == serial) {
                    call.sends.retain(|&other| other != at);
                    WaitEnd::keep(&mut call.late_receive, end);
                    for (nth, assumption) in self.assumptions.iter().enumerate() {
                        if assumption.sends_wait {
                            call.needs[nth] = call.needs[nth].max(posted.clocks[nth]);
                        }
                    }
                }
            }
            SenderCall::Ended(ended) => {
                // It waited for this receive if that was posted before it ended.
                if posted.time < ended.leave && posted.time > ended.waited_until {
                    let from = ended.enter.max(ended.waited_until);
                    self.add_wait(
                        ended.place,
                        WaitPattern::LateReceiver,
                        from,
                        end,
                        Finding::AfterTheCall,
                    );
                }
            }
        }
    }

    /// A call that only looked for a message found this one, if it was sent while it looked.
    fn end_probe(&mut self, message: &TravellingMessage) {
        let lane = &mut self.lanes[message.to as usize];
        let Some(probe) = lane.probe.take() else {
            return;
        };
        if message.sent <= probe.enter || message.sent >= probe.leave {
            return;
        }
        // What the replays did not know when the call ended.
        let needed = later(&probe.clocks[0], &message.clocks);
        for (nth, assumption) in self.assumptions.iter().enumerate() {
            let ended = needed[nth] + (probe.leave - message.sent) * assumption.transfer;
            let shift = ended - probe.clocks[1][nth];
            match &mut lane.call {
                Some(call) => {
                    call.clocks[nth] += shift;
                    call.needs[nth] = call.needs[nth].max(call.clocks[nth]);
                }
                None => lane.clocks[nth] += shift,
            }
        }
        if let Some(call) = &mut lane.call {
            call.needs = later(&call.clocks, &message.clocks);
        }
        let end = WaitEnd {
            lane: message.from,
            time: message.sent,
        };
        self.add_wait(
            probe.place,
            WaitPattern::LateSender,
            probe.enter,
            end,
            Finding::AfterTheCall,
        );
    }

    fn leave(&mut self, lane_number: u32, serial: u64, time: f64) {
        self.advance(lane_number, time);
        let lane = &mut self.lanes[lane_number as usize];
        if let Some(at) = lane.stack.iter().rposition(|state| state.serial == serial) {
            if lane.call.is_none() {
                lane.note_activity(lane_number, time);
            }
            let state = lane.stack.remove(at);
            if state.role == CategoryRole::Init && self.focus.is_automatic && !self.focus.has_end {
                self.restart = Some(time);
            }
        }
        if let Some(call) = lane.call.take_if(|call| call.serial == serial) {
            self.end_call(call, time);
        }
    }

    fn end_call(&mut self, mut call: OpenCall, time: f64) {
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
        if let (CategoryRole::Collective(role), Some((number, is_root))) =
            (call.role, call.operation)
        {
            let (comm, rank) = self.queue_of(&mut call, role);
            let end = self.end_operation(&mut call, comm, rank, number, is_root, role);
            keep(end, role.pattern);
        }
        for request in std::mem::take(&mut call.completes) {
            let operations = &mut self.requests_of(lane_number).operations;
            if let Some(started) = operations.remove(&request) {
                let StartedOperation {
                    comm,
                    rank,
                    number,
                    is_root,
                    role,
                } = started;
                let end = self.end_operation(&mut call, comm, rank, number, is_root, role);
                keep(end, role.pattern);
            }
        }
        let mut waited_until = call.enter;
        if let Some((end, pattern)) = latest.filter(|(end, _)| end.time > call.enter) {
            waited_until = end.time.min(time);
            let end = WaitEnd {
                time: waited_until,
                ..end
            };
            let finding = match pattern {
                WaitPattern::LateSender if call.is_wrong_order => Finding::InWrongOrder,
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
        for &message in &call.sends {
            self.messages.get_mut(message).sender = SenderCall::Ended(ended);
        }
        let transfer = time - waited_until;
        let is_file_call = call.role.is_file_call();
        let focus = self.focus;
        let in_focus = |from: f64, to: f64| (to.min(focus.to) - from.max(focus.from)).max(0.0);
        let after = later(&call.clocks, &call.needs);
        let lane = &mut self.lanes[lane_number as usize];
        if is_file_call {
            lane.files += in_focus(waited_until, time);
        }
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
            after[nth] + transfer.max(0.0) * factor
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
        if lane.end_clocks.is_none() && time >= focus.to {
            lane.end_clocks = Some(after);
        }
    }

    /// A call ends its part in a collective operation. Gives the rank that came last.
    fn end_operation(
        &mut self,
        call: &mut OpenCall,
        comm: u32,
        rank: i32,
        number: u64,
        is_root: Option<bool>,
        role: CollectiveRole,
    ) -> Option<WaitEnd> {
        let queue = &mut self.comms[comm as usize];
        let needed = queue.needed(number, rank, call.line.lane, is_root, role);
        queue.leave(number);
        let needed = needed?;
        call.needs = later(&call.needs, &needed.clocks);
        needed.last.map(|last| WaitEnd {
            lane: last.lane,
            time: last.time,
        })
    }

    /// A call waited from `from` on for what another rank did at `end`.
    fn add_wait(
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
        let mut causes = culprit.history.causes(from, end.time, otherwise);
        let waiting = &mut self.lanes[lane as usize];
        for stretch in &causes {
            match is_late_news {
                true => waiting.history.replace(*stretch),
                false => waiting.history.add(stretch.from, stretch.to, stretch.cause),
            }
        }
        let from = from.max(self.focus.from);
        let to = end.time.min(self.focus.to);
        if to <= from {
            return;
        }
        for stretch in &mut causes {
            stretch.from = stretch.from.max(from);
            stretch.to = stretch.to.min(to);
        }
        causes.retain(|stretch| stretch.to > stretch.from);
        self.lanes[lane as usize].waited += to - from;
        for stretch in &causes {
            self.lanes[stretch.cause.lane as usize].caused += stretch.seconds();
        }
        self.edges.add(lane, end.lane, from, to);
        let wait = Wait {
            pattern,
            category,
            lane,
            line,
            from,
            to,
            culprit: end.lane,
            is_wrong_order,
        };
        self.waits.add(&wait, &causes);
    }

    /// Adds up what a lane did from its latest event to `time`.
    #[inline]
    fn advance(&mut self, lane_number: u32, time: f64) {
        let focus = self.focus;
        let lane = &mut self.lanes[lane_number as usize];
        let (from, to) = (lane.now.max(focus.from), time.min(focus.to));
        lane.now = lane.now.max(time);
        let seconds = to - from;
        if seconds > 0.0 && seconds.is_finite() {
            let top = lane.stack.last();
            if let Some(top) = top {
                self.times[top.category as usize].exclusive += seconds;
            }
            let category = top.map(|top| top.category);
            if let Some(path) = &mut self.path {
                path.add(lane_number, from, to, category);
            }
            if lane.call.is_some() {
                lane.in_calls += seconds;
            } else {
                let is_file = top.is_some_and(|top| top.role == CategoryRole::FileOperation);
                if is_file {
                    lane.files += seconds;
                } else {
                    lane.useful += seconds;
                }
                for (clock, assumption) in lane.clocks.iter_mut().zip(&self.assumptions) {
                    let factor = match is_file {
                        true => 1.0,
                        false => assumption.factor(lane_number, category),
                    };
                    *clock += seconds * factor;
                }
            }
        }
        if time >= focus.to && lane.call.is_none() {
            lane.end_clocks.get_or_insert(lane.clocks);
        }
    }

    /// The focus has ended for a lane.
    fn end_focus(&mut self, lane: u32) {
        let lane = &mut self.lanes[lane as usize];
        let clocks = match &lane.call {
            Some(call) => later(&call.clocks, &call.needs),
            None => lane.clocks,
        };
        lane.end_clocks.get_or_insert(clocks);
    }

    /// A rank has left MPI_Init: what was found before does not count.
    fn restart_if_due(&mut self) {
        let Some(time) = self.restart.take() else {
            return;
        };
        self.focus.from = time;
        self.focus.has_begin = true;
        for lane in &mut self.lanes {
            lane.restart(time);
        }
        for comm in &mut self.comms {
            comm.restart();
        }
        self.messages.restart();
        self.waits = WaitSums::default();
        self.edges.clear();
        self.times.fill(CategoryTime::default());
    }

    /// Replay clocks at the end of the focus: of each replay the latest one, and the lane that has it.
    pub(super) fn lengths(&self) -> [(f64, u32); REPLAYS] {
        std::array::from_fn(|nth| {
            let lanes = (0..).zip(&self.lanes).filter(|(_, lane)| lane.is_used);
            lanes.fold((0.0, 0), |latest, (number, lane)| {
                let clocks: ReplayClocks = lane.end_clocks.unwrap_or_default();
                if clocks[nth] > latest.0 {
                    (clocks[nth], number)
                } else {
                    latest
                }
            })
        })
    }

    /// Whether the states of a category are the program's own.
    pub(super) fn is_region(&self, category: u32) -> bool {
        self.roles.get(category as usize) == Some(&CategoryRole::Region)
    }

    /// Operations that not all ranks have left.
    pub(super) fn unmatched(&self) -> u64 {
        self.comms.iter().map(|comm| comm.unmatched).sum()
    }
}
