//! What a thread of a rank is doing: its open states, the MPI call it is in, and the time it has spent.

use super::clocks::ReplayClocks;
use super::collective::RankInOperation;
use super::history::{RecentHistory, RootCause};
use super::message::{MessageEnvelope, PostedReceive};
use super::prefetch::prefetch;
use super::role::{CategoryRole, CollectiveRole, OneSidedStep};
use super::unseen::Gap;
use super::use_times::UseSums;
use super::wait::{CallPlace, WaitPattern};
use trace_model::hash::Map;

/// A timeline of the file: thread, communicator and rank in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineUse {
    /// The number by which vertices name it.
    pub id: i32,
    pub lane: u32,
    pub comm: u32,
    pub rank: i32,
}

/// A state that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenState {
    /// Number of the state in order of beginnings.
    pub serial: u64,
    pub category: u32,
    pub role: CategoryRole,
    /// Places of the state in the rows of what the watched rank does.
    pub happenings: [Option<u32>; 2],
}

/// What ended a wait: the other rank, and when it did what was waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitEnd {
    pub lane: u32,
    pub time: f64,
}

impl WaitEnd {
    /// Keeps the later one.
    pub(super) fn keep(latest: &mut Option<WaitEnd>, other: WaitEnd) {
        if latest.is_none_or(|latest| latest.time < other.time) {
            *latest = Some(other);
        }
    }
}

/// A call that only looked for a message, and found one of several.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedProbe {
    pub place: CallPlace,
    pub enter: f64,
    pub leave: f64,
    /// What it looked for; `None` if the trace does not tell that.
    pub asked: Option<MessageEnvelope>,
    /// Clocks when it began and when it ended, without a wait.
    pub clocks: [ReplayClocks; 2],
}

/// A collective call that has ended before all had come whom it needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyLeave {
    /// Queue of the operation, and number in it.
    pub operation: (u32, u64),
    pub pattern: WaitPattern,
    pub place: CallPlace,
    /// Until when the call is known to have waited.
    pub waited_until: f64,
    pub leave: f64,
    /// Clocks when the call had whom it is known to have waited for, and when it ended.
    pub clocks: [ReplayClocks; 2],
    /// The lane that left the operation early before this one.
    pub before: Option<u32>,
}

/// The outermost MPI call that a thread is in.
#[derive(Clone, Debug)]
pub(super) struct OpenCall {
    pub begun: BegunCall,
    /// Clocks that it has to wait for.
    pub needs: ReplayClocks,
    /// The send that came last of the messages that the call received.
    pub late_send: Option<WaitEnd>,
    /// The receive that was posted last for the messages that the call sent.
    pub late_receive: Option<WaitEnd>,
    /// The collective operation that the call is part of from its begin to its end.
    pub operation: Option<RankInOperation>,
    /// An operation that the call has left before all had come whom it needed.
    pub left_early: Option<RankInOperation>,
    /// The request by which it begins a collective file access.
    pub file_access: Option<u32>,
    /// When the first file operation in it began that moves data of the program.
    pub first_transfer: Option<f64>,
    /// Messages that the call sends.
    pub sends: Vec<u32>,
    /// What message the call asks for; `None` if the trace does not tell that.
    pub asked: Option<MessageEnvelope>,
    /// Requests that the call completes.
    pub completes: Vec<u32>,
    /// Requests that the call starts and that may send, the first one at the end.
    pub starts: Vec<u32>,
    /// What the call does in one-sided communication.
    pub one_sided: Option<OneSidedCall>,
    /// The posted receives that the call completes, the one that was posted first at the end.
    pub posted: Vec<PostedReceive>,
}

/// Receives of a call that are compared with a message at most, to find the one that got it.
const MAX_COMPARED: usize = 1024;

/// What is known of a call when it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunCall {
    pub serial: u64,
    pub category: u32,
    pub role: CategoryRole,
    pub line: LineUse,
    /// The program's own state in which it was called.
    pub region: Option<u32>,
    /// When it began.
    pub start: f64,
    /// When it began, or the focus if that was later.
    pub enter: f64,
    /// Clocks when it began.
    pub clocks: ReplayClocks,
}

impl OpenCall {
    /// A call that has begun.
    pub(super) fn new(begun: BegunCall) -> OpenCall {
        OpenCall {
            begun,
            needs: begun.clocks,
            late_send: None,
            late_receive: None,
            operation: None,
            left_early: None,
            file_access: None,
            first_transfer: None,
            sends: Vec::new(),
            asked: None,
            completes: Vec::new(),
            starts: Vec::new(),
            one_sided: None,
            posted: Vec::new(),
        }
    }

    /// A call that has begun, in place of a former one, whose room for lists it takes over.
    /// Names each field, so that nothing of the former one can be left.
    pub(super) fn replace(&mut self, next: BegunCall) {
        let OpenCall {
            begun,
            needs,
            late_send,
            late_receive,
            operation,
            left_early,
            file_access,
            first_transfer,
            sends,
            asked,
            completes,
            starts,
            one_sided,
            posted,
        } = self;
        *begun = next;
        *needs = next.clocks;
        *late_send = None;
        *late_receive = None;
        *operation = None;
        *left_early = None;
        *file_access = None;
        *first_transfer = None;
        sends.clear();
        *asked = None;
        completes.clear();
        starts.clear();
        *one_sided = None;
        posted.clear();
    }

    /// Takes out, of the receives that the call completes, the one that got this message: of those that asked for such a one, the one that said most
    /// about it, and of several the one that was posted first. If none did, the one that was posted first of all.
    pub(super) fn take_posted(&mut self, message: &MessageEnvelope) -> Option<PostedReceive> {
        let mut found: Option<(i32, usize)> = None;
        let compared = (0..self.posted.len()).rev().take(MAX_COMPARED);
        for at in compared {
            let likeness = match &self.posted[at].asked {
                Some(asked) => asked.likeness(message),
                None => Some(0),
            };
            if let Some(likeness) = likeness
                && found.is_none_or(|(most, _)| likeness > most)
            {
                found = Some((likeness, at));
                if likeness == MessageEnvelope::SAME {
                    break;
                }
            }
        }
        match found {
            Some((_, at)) => Some(self.posted.remove(at)),
            None => self.posted.pop(),
        }
    }

    pub(super) fn place(&self) -> CallPlace {
        let BegunCall {
            line,
            start,
            region,
            category,
            ..
        } = self.begun;
        CallPlace {
            lane: line.lane,
            line: line.id,
            start,
            comm: line.comm,
            region,
            category,
        }
    }
}

/// What a call of one-sided communication is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneSidedCall {
    pub step: OneSidedStep,
    /// Queue of the collective calls on the window, if that is known.
    pub window: Option<u32>,
    /// Number of ranks of the window; 0 if that is not known.
    pub size: u32,
    /// Place of the rank among the ranks of the trace.
    pub rank: u32,
    /// Rank in the window that the call is directed to.
    pub target: Option<i32>,
}

/// A persistent collective operation of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreparedOperation {
    /// Timeline of the call that made it.
    pub line: LineUse,
    pub root: Option<i32>,
    pub role: CollectiveRole,
    /// Bytes that the rank gives to it and gets from it each time; `None` is not known.
    pub moved: [Option<u64>; 2],
}

/// A file or window as one of its ranks sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedObject {
    /// Queue of the collective calls on it.
    pub queue: u32,
    /// Rank in the communicator that it was made with.
    pub rank: i32,
}

/// The requests of a rank that no call has completed yet. Any of its threads may.
#[derive(Clone, Debug, Default)]
pub(super) struct RankRequests {
    /// Receives that were begun, by request.
    pub posted: Map<u32, PostedReceive>,
    /// Messages that are being sent, by request.
    pub sends: Map<u32, u32>,
    /// Collective operations that were begun, by request.
    pub operations: Map<u32, RankInOperation>,
    /// Files and windows that are open, by the number that the rank has for them.
    pub shared: Map<u32, SharedObject>,
    /// Persistent collective operations, by the number that the rank has for them.
    pub prepared: Map<u32, PreparedOperation>,
    /// Whether the rank was seen in MPI_Init: what is recorded of it begins there.
    pub has_init: bool,
    /// Calls of MPI_Pcontrol, which may have switched recording off.
    pub controls: u32,
}

impl RankRequests {
    /// How often calls of the rank may not have been recorded so far.
    pub(super) fn gaps(&self) -> u32 {
        self.controls.saturating_add(u32::from(!self.has_init))
    }
}

/// A thread of a rank.
///
/// Of ten thousand ranks, hardly any is in a cache when its next event comes: what every event needs stands in front, close together.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct ThreadLane {
    /// Time of its latest event.
    pub now: f64,
    pub clocks: ReplayClocks,
    pub call: Option<Box<OpenCall>>,
    pub stack: Vec<OpenState>,
    /// Since when it has been doing what it does outside of calls.
    pub since: f64,
    pub thread: i32,
    /// The innermost of the program's own states that it is in.
    pub region: Option<u32>,
    pub rank: i32,
    /// Place of its rank among the ranks of the trace.
    pub rank_place: u32,
    /// Whether a state was seen on it.
    pub is_used: bool,
    /// When its first state began.
    pub used_from: f64,
    /// Whether calls may be missing since its latest one.
    pub gap: Gap,
    /// The latest call that looked for a message, until one is received that it may have found, if there are several.
    pub probe: Option<Box<EndedProbe>>,
    pub history: RecentHistory,
    /// Seconds in the focus by use.
    pub sums: UseSums,
    /// The place of a former call, which the next one takes.
    pub former_call: Option<Box<OpenCall>>,
    /// Seconds in the focus in which others waited for it, as the root cause.
    pub caused: f64,
    /// Messages to this thread that are on their way.
    pub incoming: super::message::IncomingMessages,
    /// Clocks at the end of the focus, once it has come.
    pub end_clocks: Option<ReplayClocks>,
    /// Collective calls of the lane that ended before all had come whom they needed, in order; the latest of them.
    pub early_leaves: Vec<EarlyLeave>,
}

impl ThreadLane {
    pub(super) fn new(rank: i32, thread: i32, rank_place: u32) -> ThreadLane {
        ThreadLane {
            rank,
            rank_place,
            thread,
            stack: Vec::new(),
            call: None,
            former_call: None,
            now: f64::NEG_INFINITY,
            since: f64::NEG_INFINITY,
            clocks: ReplayClocks::default(),
            end_clocks: None,
            sums: UseSums::default(),
            region: None,
            caused: 0.0,
            history: RecentHistory::default(),
            incoming: super::message::IncomingMessages::default(),
            is_used: false,
            used_from: f64::INFINITY,
            gap: Gap::None,
            probe: None,
            early_leaves: Vec::new(),
        }
    }

    /// An event of the lane comes soon: what it needs of the lane itself.
    #[inline]
    pub(super) fn prefetch(&self) {
        let lane: *const ThreadLane = self;
        prefetch(lane);
        prefetch(&raw const self.since);
        prefetch(&raw const self.sums);
    }

    /// An event of the lane comes next: what the lane refers to.
    #[inline]
    pub(super) fn prefetch_inner(&self) {
        prefetch(self.stack.as_ptr());
        self.history.prefetch();
        if let Some(call) = &self.call {
            let call: *const OpenCall = &raw const **call;
            prefetch(call);
            prefetch(call.wrapping_byte_add(64));
            prefetch(call.wrapping_byte_add(128));
        }
    }

    /// From when and until when the thread is known to be there: a main thread always, and others from their first state to their latest event.
    pub(super) fn known_to_be_there(&self) -> (f64, f64) {
        match self.thread {
            0 => (f64::NEG_INFINITY, f64::INFINITY),
            _ => (self.used_from, self.now),
        }
    }

    /// The clocks that go on with what the thread does: those of the call that it is in, if there is one.
    pub(super) fn running_clocks(&mut self) -> &mut ReplayClocks {
        match &mut self.call {
            Some(call) => &mut call.begun.clocks,
            None => &mut self.clocks,
        }
    }

    /// Whether it is the main thread of a rank, and did anything.
    pub(super) fn is_main(&self) -> bool {
        self.thread == 0 && self.is_used
    }

    /// Category of what the thread does outside of calls; `None` outside of any state.
    pub(super) fn activity(&self) -> Option<u32> {
        self.stack.last().map(|state| state.category)
    }

    /// Keeps in mind what the thread, which is this lane, did outside of calls until `time`.
    pub(super) fn note_activity(&mut self, lane: u32, time: f64) {
        let activity = self.activity();
        self.history
            .add(self.since, time, RootCause { lane, activity });
        self.since = self.since.max(time);
    }

    /// The focus begins at `time`.
    pub(super) fn restart(&mut self, time: f64) {
        self.now = self.now.max(time);
        self.since = self.since.max(time);
        self.clocks = ReplayClocks::default();
        self.sums = UseSums::default();
        self.caused = 0.0;
        self.early_leaves.clear();
        if let Some(call) = &mut self.call {
            call.begun.enter = call.begun.enter.max(time);
            call.begun.clocks = ReplayClocks::default();
            call.needs = ReplayClocks::default();
        }
    }
}
