//! One pass over the events of a trace in order of time: calls begin and end, messages leave and arrive, and what each call waited for is found
//! where it ends.

use super::by_file::SumsOfFiles;
use super::call_info::{CallInfo, InfoReader, InfoUse};
use super::cause_sums::CausesOfWait;
use super::clocks::{Assumption, IDEAL, REPLAYS, ReplayClocks, earlier_of, later, later_of};
use super::collective::OperationQueue;
use super::comm_sums::CommSums;
use super::critical_path::{PathProfile, WaitEdges};
use super::end_marks::EndMarks;
use super::events::{CategoryUse, DrawableCounts, Event, EventBatch, EventOrder, StateBegin};
use super::focus::Focus;
use super::intercomms::Intercomms;
use super::kept_waits::KeptWaits;
use super::lacking::Lacking;
use super::lane::{LineUse, OpenState, RankRequests, ThreadLane};
use super::message::{MessageEnvelope, TravellingMessages};
use super::one_sided::OneSided;
use super::pairs::PairSums;
use super::role::{CategoryRole, RoleFinder};
use super::shared::SharedQueues;
use super::spans::{Doing, LaneStretch, Spans};
use super::unseen::{Gap, Unseen};
use super::use_times::UseSums;
use super::wait::WaitSums;
use super::watched_rank::WatchedRank;
use trace_model::hash::Map;
use trace_model::{Actor, Category, CommNames, Definitions, TimeBBox, lane_of};
use wrappers::CollectiveOperation;

/// Counts of what the pass met.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassCounts {
    /// Of what the events were made.
    pub drawables: DrawableCounts,
    pub calls: u64,
    /// Collective calls with a root that the trace does not tell.
    pub unknown_roots: u64,
    /// Collective calls of which the trace does not tell on which intercommunicator they are.
    pub unknown_intercomms: u64,
    /// Collective calls on files and windows of which the trace does not tell which these are, as not all ranks are known to have made them.
    pub unknown_objects: u64,
    /// Calls that synchronise one-sided communication on windows of which the trace does not tell which these are.
    pub unknown_windows: u64,
    /// Neighbourhood calls with neighbours that the trace does not tell.
    pub unknown_neighbours: u64,
    /// Collective calls that end before who they need has come, as the clocks differ.
    pub early_leaves: u64,
}

/// Lanes that a processor's cache has room for.
const LANES_IN_CACHE: usize = 64;

/// Place of a region in sums by region.
pub(super) fn region_place(region: Option<u32>) -> usize {
    region.map_or(0, |category| category as usize + 1)
}

/// Seconds of a category in the focus.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CategoryTime {
    pub count: u64,
    /// Without the time of what is nested in it.
    pub exclusive: f64,
    /// Of that the time of main threads.
    pub of_mains: f64,
}

/// The state of the pass, and what it has found.
pub(super) struct WaitPass<'a> {
    pub categories: Vec<&'a Category>,
    pub(super) roles: Vec<CategoryRole>,
    /// The collective operation of each category, if it is one.
    pub(super) operations: Vec<Option<CollectiveOperation>>,
    pub(super) infos: Vec<InfoReader>,
    /// Lines of ranks.
    pub(super) lines: Vec<LineUse>,
    pub lanes: Vec<ThreadLane>,
    pub(super) requests: Vec<RankRequests>,
    pub(super) comms: Vec<OperationQueue>,
    /// Numbers of the communicators in the trace.
    pub comm_numbers: Vec<i32>,
    /// Their names, once the trace has been read.
    pub(super) comm_names: CommNames,
    /// Places of the communicators by number, and of the ranks.
    pub(super) comm_places: Map<i32, u32>,
    pub(super) rank_places: Map<i32, u32>,
    pub(super) intercomms: Intercomms,
    /// Queues of calls that make communicators, by the numbers of both sides; twice the same where there are no sides.
    pub(super) made: Map<(i32, i32), u32>,
    /// Calls that a lane has made to such a queue.
    pub(super) made_by: Map<(u32, u32), u64>,
    /// By communicator and rank: ranks in it whose data neighbourhood calls of that one get.
    pub(super) neighbours: Map<(u32, u32), Vec<i32>>,
    pub(super) one_sided: OneSided,
    /// Which of the queues are those of files and windows.
    pub(super) shared: SharedQueues,
    /// Queues of operations on files and windows that the trace does not tell, by category and communicator.
    pub(super) others: Map<(u32, u32), u32>,
    /// Serial number of the state that began last.
    pub(super) serial: u64,
    pub(super) messages: TravellingMessages,
    pub focus: Focus,
    /// When a rank left MPI_Init, if what was found since does not count yet.
    pub(super) restart: Option<f64>,
    /// Ranks that are in MPI_Init.
    pub(super) in_init: u32,
    /// Events since then.
    pub(super) uncounted: usize,
    pub(super) assumptions: [Assumption; REPLAYS],
    /// Whether this is the second pass, which adds up only what the first one could not: spans of time, the critical path and replays.
    pub is_second: bool,
    /// Room for the info of a call, while none is looked at, and for the causes of a wait.
    pub(super) info: Option<Box<CallInfo>>,
    pub(super) causes: CausesOfWait,
    pub waits: WaitSums,
    /// Messages and waits by pair of ranks.
    pub pairs: PairSums,
    pub edges: WaitEdges,
    /// Waits one by one; `None` if they are not wanted.
    pub kept: Option<KeptWaits>,
    pub path: Option<PathProfile>,
    /// Sums over spans of time, of each list of spans that is wanted.
    pub spans: Vec<Spans>,
    /// What one rank does, to find iterations in it; `None` if they are not wanted.
    pub watched: Option<WatchedRank>,
    pub times: Vec<CategoryTime>,
    /// Sums of main threads by the innermost region: at 0 outside of any, then by category.
    pub by_region: Vec<UseSums>,
    /// Sums by communicator.
    pub by_comm: Vec<CommSums>,
    /// Calls and operations by file.
    pub by_file: SumsOfFiles,
    /// Seconds that main threads spent in calls that had not returned when recording ended, without waiting that is known, and without MPI-IO.
    pub in_open_calls: f64,
    /// Time in which calls may be missing.
    pub unseen: Unseen,
    /// What the recorder says of ranks at their ends.
    pub end_marks: EndMarks,
    /// What calls the file holds less of than waits are found by.
    pub lacking: Lacking,
    pub counts: PassCounts,
    pub bounds: TimeBBox,
}

impl<'a> WaitPass<'a> {
    /// A pass over a trace with these definitions. `focus` are the ranges of time to look at; none is from the latest end of MPI_Init to the
    /// earliest begin of MPI_Finalize.
    pub(super) fn new(
        definitions: &'a Definitions,
        focus: &[TimeBBox],
        assumptions: [Assumption; REPLAYS],
    ) -> WaitPass<'a> {
        let finder = RoleFinder::new();
        let categories: Vec<&Category> = definitions.categories.iter().collect();
        let mut lanes = Vec::new();
        let mut lane_numbers: Map<(i32, i32), u32> = Map::default();
        let mut rank_places: Map<i32, u32> = Map::default();
        let mut comm_places: Map<i32, u32> = Map::default();
        let mut members: Vec<std::collections::HashSet<i32>> = Vec::new();
        let mut numbers = Vec::new();
        let mut ranks = Vec::new();
        let mut lines = Vec::new();
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
                    let place = *rank_places.entry(line.rank).or_insert_with(|| {
                        ranks.push(line.rank);
                        ranks.len() as u32 - 1
                    });
                    lanes.push(ThreadLane::new(line.rank, line.thread, place));
                    lanes.len() as u32 - 1
                });
            let comm = *comm_places.entry(line.comm).or_insert_with(|| {
                members.push(std::collections::HashSet::new());
                numbers.push(line.comm);
                members.len() as u32 - 1
            });
            members[comm as usize].insert(line.comm_rank);
            let rank = line.comm_rank;
            lines.push(LineUse {
                id: line.id,
                lane,
                comm,
                rank,
            });
        }
        let roles: Vec<CategoryRole> = (categories.iter())
            .map(|category| finder.of(category))
            .collect();
        let ranks_of_lines = lines
            .iter()
            .map(|line: &LineUse| (line.id, lanes[line.lane as usize].rank));
        let operations: Vec<_> = (categories.iter())
            .map(|category| finder.operation(category))
            .collect();
        WaitPass {
            lacking: Lacking::new(&categories, &roles),
            infos: (categories.iter().zip(&operations).zip(&roles))
                .map(|((category, operation), role)| {
                    let use_of = InfoUse {
                        moves_data: operation.is_some(),
                        asks_for_message: role.asks_for_message(),
                    };
                    InfoReader::of(category, use_of)
                })
                .collect(),
            roles,
            operations,
            times: vec![CategoryTime::default(); categories.len()],
            by_region: vec![UseSums::default(); categories.len() + 1],
            by_comm: vec![CommSums::default(); members.len()],
            by_file: SumsOfFiles::new(definitions, &categories, &lanes),
            in_open_calls: 0.0,
            unseen: Unseen::new(&categories, lines.iter().map(|line| (line.id, line.lane))),
            end_marks: EndMarks::new(&categories, ranks_of_lines),
            categories,
            lines,
            lanes,
            requests: vec![RankRequests::default(); ranks.len()],
            comms: (members.iter())
                .map(|ranks| OperationQueue::new(ranks.len() as u32))
                .collect(),
            comm_numbers: numbers,
            comm_names: CommNames::new(definitions),
            comm_places,
            rank_places,
            intercomms: Intercomms::default(),
            made: Map::default(),
            made_by: Map::default(),
            neighbours: Map::default(),
            one_sided: OneSided::default(),
            shared: SharedQueues::default(),
            others: Map::default(),
            serial: 0,
            messages: TravellingMessages::default(),
            focus: Focus::new(focus),
            restart: None,
            in_init: 0,
            uncounted: 0,
            assumptions,
            is_second: false,
            info: None,
            causes: CausesOfWait::default(),
            waits: WaitSums::default(),
            pairs: PairSums::new(&ranks),
            edges: WaitEdges::default(),
            kept: None,
            path: None,
            spans: Vec::new(),
            watched: None,
            counts: PassCounts::default(),
            bounds: TimeBBox::EMPTY,
        }
    }

    /// What puts the drawables of the trace into the order that [`WaitPass::take`] needs.
    pub(super) fn event_order(&self) -> EventOrder<'a> {
        let categories = (0..).zip(&self.categories).zip(&self.roles);
        let mut order = EventOrder::new(
            &self.lines,
            categories.map(|((nth, &category), &role)| CategoryUse {
                category,
                role,
                tells: self.by_file.tells(nth)
                    || !self.is_second
                        && (self.unseen.is_annotation(nth) || self.end_marks.may_mark(nth)),
                has_info: self.by_file.reads_calls(nth) || self.infos[nth as usize].reads(),
            }),
        );
        if !self.is_second {
            order.comm_names = self.comm_names.clone();
        }
        order
    }

    /// Takes the next events.
    pub(super) fn take(&mut self, batch: &EventBatch) {
        let events = &batch.events[..];
        for (nth, event) in events.iter().enumerate() {
            self.prefetch(&events[nth..]);
            match *event {
                Event::Begin { time } => self.begin(time),
                Event::Enter(state) => self.enter(&state, batch.info(state.info)),
                Event::Tell {
                    time,
                    end,
                    line,
                    category,
                    info,
                } => self.tell(category, line, (time, end), batch.info(info)),
                Event::Leave { time, lane, serial } => {
                    self.restart_if_due();
                    self.leave(lane, serial, time);
                }
                Event::Send {
                    time,
                    from,
                    to,
                    place,
                    lines: [from_line, to_line],
                    tag,
                    bytes,
                } => {
                    let from_line = self.lines[from_line as usize];
                    if !self.is_second && self.focus.has(time) {
                        let [from, to] =
                            [from, to].map(|lane| self.lanes[lane as usize].rank_place);
                        self.pairs.add_message(from, to, bytes.unwrap_or(0));
                        self.by_comm[from_line.comm as usize].add_message(bytes);
                    }
                    let envelope = MessageEnvelope {
                        comm: Some(self.lines[to_line as usize].comm),
                        source: from_line.rank,
                        tag,
                    };
                    self.send(time, [from, to], place, envelope);
                }
                Event::Receive { time, place } => {
                    self.restart_if_due();
                    self.receive(place, time);
                }
            }
        }
    }

    /// Asks for the lanes of events that come soon: of ten thousand, hardly any is in a cache.
    #[inline]
    fn prefetch(&self, events: &[Event]) {
        if self.lanes.len() < LANES_IN_CACHE {
            return;
        }
        let lane = |ahead: usize| {
            let lane = events.get(ahead).and_then(Event::lane);
            lane.and_then(|lane| self.lanes.get(lane as usize))
        };
        if let Some(lane) = lane(8) {
            lane.prefetch();
        }
        if let Some(lane) = lane(4) {
            lane.prefetch_inner();
        }
    }

    /// A drawable tells something of a file, or of calls that are not drawn.
    fn tell(&mut self, category: u32, line: i32, times: (f64, f64), info: &[u8]) {
        if self.by_file.is_operation(category) {
            self.restart_if_due();
        }
        let definition = self.categories[category as usize];
        self.end_marks
            .take((category, definition), line, times.0, info);
        if self.unseen.is_annotation(category) {
            if let Some(lane) = self.unseen.annotate(definition, line, info) {
                self.lanes[lane as usize].gap = Gap::Polls;
            }
            return;
        }
        self.by_file
            .put((category, definition), line, times, info, &self.focus);
    }

    /// The trace begins. What ranks did before their first states is known from then on.
    fn begin(&mut self, time: f64) {
        self.focus.from = self.focus.from.max(time);
        for lane in &mut self.lanes {
            lane.now = time;
            lane.since = time;
        }
    }

    /// Ends the input, whose drawables were put in order by this.
    pub(super) fn finish(&mut self, order: &EventOrder<'_>) {
        self.counts.drawables = order.counts;
        self.comm_names = order.comm_names.clone();
        self.bounds = order.bounds;
        self.focus.end(self.bounds);
        let end = self.focus.to;
        for number in 0..self.lanes.len() as u32 {
            let lane = &self.lanes[number as usize];
            // Nobody knows whether a thread is still there after its last state. The main thread is.
            if lane.thread == 0 || !lane.stack.is_empty() {
                self.advance(number, end);
            }
            self.end_focus(number);
        }
    }

    fn enter(&mut self, state: &StateBegin, info: &[u8]) {
        let StateBegin {
            time: start,
            end,
            serial,
            category,
            ..
        } = *state;
        let line = self.lines[state.line as usize];
        let role = self.roles[category as usize];
        match role {
            CategoryRole::Init => {
                self.in_init += 1;
                self.requests_of(line.lane).has_init = true;
            }
            CategoryRole::Finalize => self.restart(),
            _ => self.restart_if_due(),
        }
        if self.unseen.is_session_init(category) {
            self.requests_of(line.lane).has_init = true;
        }
        self.serial = serial;
        self.advance(line.lane, start);
        if role == CategoryRole::Finalize && self.focus.is_automatic && !self.focus.has_end {
            self.focus.has_end = true;
            self.focus.to = start;
        }
        let is_counted = start < self.focus.to && end > self.focus.from;
        self.times[category as usize].count += u64::from(is_counted);
        let happenings = match &mut self.watched {
            // What begins before the focus would take up the room of what lies in it.
            Some(watched) if start >= self.focus.from => watched.begin(line, category, role, start),
            _ => Default::default(),
        };
        let lane = &mut self.lanes[line.lane as usize];
        self.end_marks.take_state(category, lane.rank);
        if !lane.is_used {
            lane.is_used = true;
            lane.used_from = start;
        }
        if lane.gap != Gap::None {
            let gap = std::mem::take(&mut lane.gap);
            let is_off = self.unseen.is_control(category) || role == CategoryRole::Finalize;
            if lane.thread == 0 && (gap == Gap::Polls || is_off) {
                self.unseen.add(gap, (lane.since, start), &self.focus);
            }
        }
        if lane.call.is_none() {
            lane.note_activity(line.lane, start);
        }
        lane.stack.push(OpenState {
            serial,
            category,
            role,
            happenings,
        });
        match role {
            CategoryRole::Region => lane.region = Some(category),
            CategoryRole::FileTransfer => {
                if let Some(call) = &mut lane.call
                    && call.first_transfer.is_none()
                    && !(self.by_file.is_operation(category) && self.by_file.latest_is_hidden())
                {
                    call.first_transfer = Some(start);
                    // Its data are on their way before the call has returned.
                    if let Some(request) = call.file_access.take() {
                        self.forget_operation(line.lane, request);
                    }
                }
            }
            _ => {}
        }
        if role.is_call() && self.lanes[line.lane as usize].call.is_none() {
            self.begin_call(line, serial, category, role, start, info);
        }
    }

    fn leave(&mut self, lane_number: u32, serial: u64, time: f64) {
        self.advance(lane_number, time);
        let lane = &mut self.lanes[lane_number as usize];
        if let Some(at) = lane.stack.iter().rposition(|state| state.serial == serial) {
            if lane.call.is_none() {
                lane.note_activity(lane_number, time);
            }
            let state = lane.stack.remove(at);
            if state.role == CategoryRole::Region {
                let mut regions = lane.stack.iter().rev();
                let region = regions.find(|state| state.role == CategoryRole::Region);
                lane.region = region.map(|state| state.category);
            }
            if let Some(watched) = &mut self.watched {
                watched.end(state.happenings, time);
            }
            if state.role == CategoryRole::Init {
                self.in_init -= 1;
                if self.focus.is_automatic && !self.focus.has_end {
                    self.restart = Some(time);
                    self.focus.first_init_end.get_or_insert(time);
                }
            }
        }
        if let Some(call) = lane.call.take_if(|call| call.begun.serial == serial) {
            self.end_call(call, time);
        }
    }

    /// Adds up what a lane did from its latest event to `time`.
    #[inline]
    pub(super) fn advance(&mut self, lane_number: u32, time: f64) {
        let lane = &mut self.lanes[lane_number as usize];
        let from = later_of(lane.now, self.focus.from);
        let to = earlier_of(time, self.focus.to);
        lane.now = later_of(lane.now, time);
        let seconds = self.focus.within(from, to);
        if seconds > 0.0 && seconds.is_finite() {
            let top = lane.stack.last();
            let category = top.map(|top| top.category);
            if let Some(path) = &mut self.path {
                path.add(lane_number, from, to, category);
            }
            let doing = match top {
                _ if lane.call.is_some() => Doing::Call,
                Some(top) if top.role.is_file_operation() => Doing::FileOperation,
                _ => Doing::Computing,
            };
            let is_main = lane.thread == 0;
            // Nobody knows whether a thread is there before its first state, either.
            let is_there = is_main || lane.is_used;
            if is_there && !self.spans.is_empty() {
                let mut stretch = LaneStretch {
                    lane: lane_number,
                    is_main,
                    doing,
                    category,
                    from,
                    to,
                    clock: lane.clocks[IDEAL],
                };
                let spans = &mut self.spans;
                self.focus.parts(from, to, |from, to| {
                    (stretch.from, stretch.to) = (from, to);
                    spans.iter_mut().for_each(|spans| spans.add(&stretch));
                    if doing != Doing::Call {
                        stretch.clock += to - from;
                    }
                });
            }
            if !self.is_second && is_there {
                if let Some(category) = category {
                    let times = &mut self.times[category as usize];
                    times.exclusive += seconds;
                    times.of_mains += if is_main { seconds } else { 0.0 };
                }
                let place = |sums: &mut UseSums| match doing {
                    Doing::Computing => sums.computing += seconds,
                    Doing::FileOperation => sums.file_operations += seconds,
                    Doing::Call => sums.in_calls += seconds,
                };
                place(&mut lane.sums);
                if is_main {
                    place(&mut self.by_region[region_place(lane.region)]);
                }
            }
            if doing != Doing::Call {
                for (clock, assumption) in lane.clocks.iter_mut().zip(&self.assumptions) {
                    let factor = match doing {
                        Doing::Computing => assumption.factor(lane_number, category),
                        _ => 1.0,
                    };
                    *clock += seconds * factor;
                }
            }
        }
        if time >= self.focus.to && lane.call.is_none() {
            lane.end_clocks.get_or_insert(lane.clocks);
        }
    }

    /// The focus has ended for a lane.
    fn end_focus(&mut self, lane: u32) {
        let lane = &mut self.lanes[lane as usize];
        let clocks = match &lane.call {
            Some(call) => later(&call.begun.clocks, &call.needs),
            None => lane.clocks,
        };
        lane.end_clocks.get_or_insert(clocks);
    }

    /// Something happens that counts. If a rank has left MPI_Init, what was found before does not. While others are still in it, what is found
    /// now will most likely not count either: to begin anew takes a look at all lanes, so that is done once for a number of events.
    #[inline]
    pub(super) fn restart_if_due(&mut self) {
        if self.restart.is_some() {
            self.uncounted += 1;
            if self.in_init == 0 || self.uncounted * 16 >= self.lanes.len() {
                self.restart();
            }
        }
    }

    /// What was found before the latest end of MPI_Init does not count.
    fn restart(&mut self) {
        let Some(time) = self.restart.take() else {
            return;
        };
        self.uncounted = 0;
        self.focus.from = time;
        self.focus.has_begin = true;
        for lane in &mut self.lanes {
            lane.restart(time);
        }
        for comm in &mut self.comms {
            comm.restart();
        }
        self.messages.restart();
        self.one_sided.restart();
        self.waits = WaitSums::default();
        self.pairs.restart();
        self.edges.clear();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
        self.times.fill(CategoryTime::default());
        self.by_region.fill(UseSums::default());
        self.by_comm.fill(CommSums::default());
        self.by_file.restart();
        self.in_open_calls = 0.0;
        self.unseen.restart();
        if let Some(watched) = &mut self.watched {
            watched.restart();
        }
    }

    /// Replay clocks of main threads at the end of the focus: of each replay the latest one, and the lane that has it. Other threads may be idle
    /// or gone: they count where main threads only made no call.
    pub(super) fn lengths(&self) -> [(f64, u32); REPLAYS] {
        let has_main = self.lanes.iter().any(ThreadLane::is_main);
        std::array::from_fn(|nth| {
            let counts = |lane: &ThreadLane| lane.is_main() || !has_main && lane.is_used;
            let lanes = (0..).zip(&self.lanes).filter(|(_, lane)| counts(lane));
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

    /// Operations that not all ranks have left, or of which some ranks lack the call. What is left at the end counts if calls may not have been recorded, and
    /// all ranks have come to MPI_Finalize.
    pub(super) fn unmatched(&self) -> u64 {
        let known: u64 = self.comms.iter().map(|comm| comm.unmatched).sum();
        let is_partly_recorded = self.requests.iter().any(|rank| rank.gaps() > 0);
        if !is_partly_recorded || !self.end_marks.not_finalized().is_empty() {
            return known;
        }
        let comms = &self.comms[..self.comm_numbers.len()];
        known + comms.iter().map(OperationQueue::incomplete).sum::<u64>()
    }
}
