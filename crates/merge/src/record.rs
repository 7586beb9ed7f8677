//! Merged records: what travels from the block files of the ranks to the files that are written.
//!
//! A call, a region or a function of the program is one record with a beginning and an end, [`MergedBody::Leave`], at the time of
//! its end. Who writes SLOG2 needs no other. Who writes CLOG2 cuts states into two events, in order of time: it is told of the
//! beginning by [`MergedBody::Enter`], as is the correction of times. Events of MPE's API are what the program logs, one by one;
//! whether two of them make a state is for the reader of a log to find out.

use super::cargo::Cargo;
use super::state_info::StateInfo;
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2ConstDef, Clog2EventDef, Clog2Msg, Clog2Record,
    Clog2RecordHeader, Clog2StateDef,
};

/// One record of the merged stream, which is in order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedRecord {
    /// Time in seconds since time zero, communicator, rank in it, and thread.
    pub header: Clog2RecordHeader,
    /// Event of the record.
    pub body: MergedBody,
}

/// Event of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum MergedBody {
    /// A state begins. Its [`MergedBody::Leave`] will come, with the same place and thread.
    Enter {
        /// Start event of the state.
        etype: i32,
    },
    /// A state ends: the whole of it.
    Leave(LeftState),
    /// An event of the program's own, an annotation, or one of MPE's.
    Event {
        /// Number of the event.
        etype: i32,
        /// Data of the event.
        cargo: Option<Cargo>,
    },
    /// A message is sent or received.
    Message {
        /// As a CLOG2 file has it.
        message: Clog2Msg,
        /// By how many places a receive is ahead of its turn: it gets not the next message of its channel but one that was sent so many later,
        /// since it was posted behind receives that are completed later. Negative, if it is behind its turn.
        ahead: i32,
    },
    /// A communicator is made or freed.
    Comm(Clog2CommEvent),
    /// A kind of state is defined.
    State(Box<StateDefinition>),
    /// A kind of event is defined.
    SoloEvent(Box<EventDefinition>),
    /// A constant is defined.
    Constant(Box<Clog2ConstDef>),
    /// The clock of the process is shifted, seconds.
    TimeShift(f64),
}

impl MergedBody {
    /// Whether something of it is kept elsewhere in memory.
    #[inline]
    pub(super) fn has_memory(&self) -> bool {
        match self {
            MergedBody::Leave(state) => state.info.is_long(),
            MergedBody::State(_) | MergedBody::SoloEvent(_) | MergedBody::Constant(_) => true,
            MergedBody::Enter { .. }
            | MergedBody::Event { .. }
            | MergedBody::Message { .. }
            | MergedBody::Comm(_)
            | MergedBody::TimeShift(_) => false,
        }
    }
}

// Few bytes: records are written and read again a moment later.
const _: () = assert!(size_of::<MergedRecord>() == 80);

/// A state that has come to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftState {
    /// When it began, seconds.
    pub start: f64,
    /// Start and end event.
    pub etypes: [i32; 2],
    /// What is known of it.
    pub info: StateInfo,
}

/// Definition of a kind of state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateDefinition {
    /// As a CLOG2 file has it.
    pub def: Clog2StateDef,
    /// The whole name, where `def` may have only its beginning.
    pub whole_name: Option<String>,
    /// Format of what SLOG2 says of its states behind the cargo; empty if it says nothing.
    pub details: String,
}

/// Definition of a kind of event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDefinition {
    /// As a CLOG2 file has it.
    pub def: Clog2EventDef,
    /// The whole name, where `def` may have only its beginning.
    pub whole_name: Option<String>,
}

impl MergedRecord {
    /// The record that a CLOG2 file has of it.
    #[inline]
    pub fn clog2(&self) -> Clog2Record {
        let event = |etype, cargo| match cargo {
            None => Clog2Body::Bare { etype },
            Some(bytes) => Clog2Body::Cargo { etype, bytes },
        };
        let body = match &self.body {
            MergedBody::Enter { etype } => Clog2Body::Bare { etype: *etype },
            MergedBody::Leave(state) => event(state.etypes[1], state.info.cargo()),
            MergedBody::Event { etype, cargo } => event(*etype, *cargo),
            MergedBody::Message { message, .. } => Clog2Body::Msg(*message),
            MergedBody::Comm(event) => Clog2Body::Comm(*event),
            MergedBody::State(state) => Clog2Body::StateDef(state.def),
            MergedBody::SoloEvent(event) => Clog2Body::EventDef(event.def),
            MergedBody::Constant(def) => Clog2Body::ConstDef(**def),
            MergedBody::TimeShift(shift) => Clog2Body::TimeShift { shift: *shift },
        };
        Clog2Record {
            header: self.header,
            body,
        }
    }
}
