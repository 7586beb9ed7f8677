//! What the kinds of a trace are to tracks: calls, file operations, messages, and where in their infos bytes and counters stand.

use io_attribution::draw::{Shows, shows};
use trace_formats::slog2::Topology;
use trace_model::{Actor, InfoValue, counter_of, info_values, lane_of};

use crate::trace::OpenTrace;
use crate::trace::class::ActivityClass;
use crate::trace::info::name_of_key;

/// What a kind of drawables is to tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KindRole {
    /// Nothing.
    Ignored,
    /// A call of MPI, but for those that have roles of their own.
    Call,
    /// A call that starts MPI or ends it.
    Start,
    /// A call of MPI-IO.
    FileCall,
    /// A file operation below MPI or beside it, and which way it moves bytes, if it does.
    Operation(Option<Direction>),
    /// What a call of MPI-IO accesses.
    Access,
    /// A message.
    Message,
}

/// Direction of a transfer of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// The kinds and lines of a trace, as tracks have them.
#[derive(Clone, Debug)]
pub(crate) struct TrackRoles {
    pub(super) kinds: Vec<KindRole>,
    /// By kind, for each value of the infos the counter that it is of; empty if there is none.
    pub(super) counters: Vec<Vec<Option<u32>>>,
    /// Names of the counters.
    pub(crate) counter_names: Vec<String>,
    /// By line the lane, if that is the main thread of a rank.
    pub(super) main_lanes: Vec<Option<u32>>,
    /// By line whether it is one of a rank, with what runs beside its threads.
    pub(super) of_ranks: Vec<bool>,
    /// Number of main threads of ranks.
    pub(crate) ranks: u32,
    /// Whether I/O is told by operations. Otherwise by accesses.
    pub(super) has_operations: bool,
}

impl TrackRoles {
    /// The roles of what a trace has.
    pub(crate) fn of(trace: &OpenTrace<'_>) -> TrackRoles {
        let kinds: Vec<KindRole> = (0..trace.kinds().len())
            .map(|kind| role(trace, kind))
            .collect();
        let mut names: Vec<String> = Vec::new();
        let counters = trace.kinds().iter().map(|kind| {
            let places = kind.category.info_keys.iter().map(|key| {
                let name = counter_of(key)?;
                let known = names.iter().position(|known| known == name);
                let place = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                u32::try_from(place).ok()
            });
            let places: Vec<Option<u32>> = places.collect();
            match places.iter().any(Option::is_some) {
                true => places,
                false => Vec::new(),
            }
        });
        let counters = counters.collect();
        let lines = trace.lines().iter();
        let main_lanes: Vec<Option<u32>> = lines
            .clone()
            .map(|line| {
                let place = lane_of(&line.line);
                let is_main = matches!(place.actor, Actor::Rank(_))
                    && (place.thread, place.lane) == (0, 0)
                    && line.line.thread == 0;
                is_main.then_some(line.lane)
            })
            .collect();
        let mut mains: Vec<u32> = main_lanes.iter().flatten().copied().collect();
        mains.sort_unstable();
        mains.dedup();
        TrackRoles {
            has_operations: kinds
                .iter()
                .any(|role| matches!(role, KindRole::Operation(Some(_)))),
            kinds,
            counters,
            counter_names: names,
            main_lanes,
            of_ranks: lines
                .map(|line| matches!(lane_of(&line.line).actor, Actor::Rank(_)))
                .collect(),
            ranks: mains.len() as u32,
        }
    }

    /// Whether there are messages.
    pub(crate) fn has_messages(&self) -> bool {
        self.kinds.contains(&KindRole::Message)
    }

    /// Whether there is what tells of I/O.
    pub(crate) fn has_io(&self) -> bool {
        self.has_operations || self.kinds.contains(&KindRole::Access)
    }
}

fn role(trace: &OpenTrace<'_>, kind: usize) -> KindRole {
    let of = &trace.kinds()[kind];
    match (of.category.topology, of.class) {
        (Topology::Arrow, ActivityClass::Message) => KindRole::Message,
        (Topology::Event, _) if shows(&of.category) == Some(Shows::Access) => KindRole::Access,
        (Topology::State, ActivityClass::Disk) => {
            KindRole::Operation(direction(&of.category.name.to_str()))
        }
        (Topology::State, ActivityClass::Io) => KindRole::FileCall,
        (Topology::State, ActivityClass::Start) => KindRole::Start,
        (
            Topology::State,
            ActivityClass::P2p
            | ActivityClass::Collective
            | ActivityClass::Wait
            | ActivityClass::Rma
            | ActivityClass::Mpi,
        ) => KindRole::Call,
        _ => KindRole::Ignored,
    }
}

/// Direction in which an operation of this name moves bytes.
fn direction(name: &str) -> Option<Direction> {
    let is = |part: &str| name.contains(part);
    match () {
        () if is("read") => Some(Direction::Read),
        () if is("write") || is("sendfile") || is("copy_file_range") => Some(Direction::Write),
        () => None,
    }
}

/// The whole number of this name in the infos of a kind; 0 of a negative one, which stands for none.
pub(super) fn number(trace: &OpenTrace<'_>, kind: u32, info: &[u8], name: &str) -> Option<u64> {
    let category = &trace.kinds()[kind as usize].category;
    let mut pairs = info_values(category, info);
    pairs.find_map(|(key, value)| match value {
        InfoValue::Integer(number) if name_of_key(&key.0) == name => {
            Some(u64::try_from(number).unwrap_or(0))
        }
        _ => None,
    })
}
