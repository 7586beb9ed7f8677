//! Records: the header and the twelve bodies (`spec/clog2.md` section 4).

use super::gid::Gid;
use super::text::FixedText;

/// Bytes of a record header.
pub const HEADER_SIZE: usize = 24;

/// Bytes of the largest record, a STATEDEF.
pub const MAX_RECORD_SIZE: usize = 136;

/// Bytes of data in a CARGO record.
pub const CARGO_SIZE: usize = 32;

/// The time MPE stamps ENDLOG with; later than any event, in seconds (`spec/clog2.md` section 11.1).
pub const ENDLOG_TIME: f64 = 1e8;

/// Start events from here on are those of states that nest: an end event ends the state of its kind that began last on its line, where
/// that of others ends the one that began first, as in the original converter. MPE gives out no such numbers.
pub const FUNCTION_STATE_ETYPES: i32 = 1 << 30;

/// Record types (`spec/clog2.md` section 4.2).
#[allow(missing_docs)]
pub mod rectype {
    pub const ENDLOG: i32 = 0;
    pub const ENDBLOCK: i32 = 1;
    pub const STATEDEF: i32 = 2;
    pub const EVENTDEF: i32 = 3;
    pub const CONSTDEF: i32 = 4;
    pub const BAREEVT: i32 = 5;
    pub const CARGOEVT: i32 = 6;
    pub const MSGEVT: i32 = 7;
    pub const COLLEVT: i32 = 8;
    pub const COMMEVT: i32 = 9;
    pub const SRCLOC: i32 = 10;
    pub const TIMESHIFT: i32 = 11;
}

/// Values of [`Clog2Msg::etype`].
pub mod msg_etype {
    /// A message is sent.
    pub const SEND: i32 = -101;
    /// A message has been received.
    pub const RECV: i32 = -102;
}

/// Values of [`Clog2ConstDef::etype`].
pub mod constdef_etype {
    /// A constant of the MPI in use; the only one MPE writes.
    pub const MPI_CONST: i32 = -201;
}

/// Values of [`Clog2CommEvent::etype`] (`spec/clog2.md` section 5.1).
pub mod comm_etype {
    /// MPI_COMM_WORLD, at start.
    pub const WORLD_CREATE: i32 = 0;
    /// MPI_COMM_SELF, at start.
    pub const SELF_CREATE: i32 = 1;
    /// MPI_Comm_free or MPI_Comm_disconnect; null body.
    pub const FREE: i32 = 10;
    /// A new intracommunicator, or the null body for callers that are no members.
    pub const INTRA_CREATE: i32 = 100;
    /// The local side of an intercommunicator.
    pub const INTRA_LOCAL: i32 = 101;
    /// The remote side of an intercommunicator.
    pub const INTRA_REMOTE: i32 = 102;
    /// A new intercommunicator.
    pub const INTER_CREATE: i32 = 1000;
}

/// The header of a record, without its type, which the [`Clog2Body`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clog2RecordHeader {
    /// Seconds since the log's time zero.
    pub time: f64,
    /// Communicator of the event: its LID in merged files, the index in the rank's own table in local ones.
    pub icomm: i32,
    /// Rank of the process in that communicator.
    pub rank: i32,
    /// 0 for the thread that called MPI_Init, then in order of first MPI call.
    pub thread: i32,
}

/// STATEDEF: describes a state, which lasts from its start event to its final event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog2StateDef {
    /// Number of the state.
    pub state_id: i32,
    /// Number of the start event.
    pub start_etype: i32,
    /// Number of the end event.
    pub final_etype: i32,
    /// X11 colour name.
    pub color: FixedText<24>,
    /// Name.
    pub name: FixedText<32>,
    /// Format of the data (`spec/clog2.md` section 8).
    pub format: FixedText<40>,
}

/// EVENTDEF: describes a solo event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog2EventDef {
    /// Number of the event.
    pub etype: i32,
    /// X11 colour name.
    pub color: FixedText<24>,
    /// Name.
    pub name: FixedText<32>,
    /// Format of the data (`spec/clog2.md` section 8).
    pub format: FixedText<40>,
}

/// CONSTDEF: a constant of the MPI in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog2ConstDef {
    /// See [`constdef_etype`].
    pub etype: i32,
    /// Value of the constant.
    pub value: i32,
    /// Name of the constant.
    pub name: FixedText<32>,
}

/// MSGEVT: one end of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog2Msg {
    /// See [`msg_etype`].
    pub etype: i32,
    /// LID of the partner's communicator (`spec/clog2.md` section 5.4).
    pub icomm: i32,
    /// The partner's rank in that communicator.
    pub rank: i32,
    /// Tag.
    pub tag: i32,
    /// Bytes.
    pub size: i32,
}

/// COMMEVT: a communicator was made or freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clog2CommEvent {
    /// See [`comm_etype`].
    pub etype: i32,
    /// LID of the communicator.
    pub icomm: i32,
    /// Rank of this process in it.
    pub rank: i32,
    /// Rank of this process in MPI_COMM_WORLD.
    pub wrank: i32,
    /// Global id.
    pub gid: Gid,
}

/// Content of a record, one variant per record type.
///
/// The variants differ in size on purpose: records are made on the stack and encoded or used at once, so an allocation
/// for the two rare large ones would cost more than it saves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub enum Clog2Body {
    /// End of the log.
    EndLog,
    /// End of a block.
    EndBlock,
    /// Description of a state.
    StateDef(Clog2StateDef),
    /// Description of a solo event.
    EventDef(Clog2EventDef),
    /// A constant of MPI.
    ConstDef(Clog2ConstDef),
    /// An event without data.
    Bare {
        /// Number of the event.
        etype: i32,
    },
    /// An event with data.
    Cargo {
        /// Number of the event.
        etype: i32,
        /// The data, big-endian, laid out as the format of the definition says (`spec/clog2.md` section 8).
        bytes: [u8; CARGO_SIZE],
    },
    /// One end of a message.
    Msg(Clog2Msg),
    /// A collective operation; MPE never writes it.
    Coll {
        /// Number of the event.
        etype: i32,
        /// Root of the operation.
        root: i32,
        /// Bytes.
        size: i32,
    },
    /// A communicator was made or freed.
    Comm(Clog2CommEvent),
    /// A place in the source; MPE never writes it.
    SrcLoc {
        /// Number of the place.
        srcloc: i32,
        /// Line.
        line: i32,
        /// File name.
        file: FixedText<40>,
    },
    /// Correction of the clock of the record's rank, valid from here on.
    TimeShift {
        /// In a local file the seconds to add to times, in a merged one minus what was added.
        shift: f64,
    },
}

impl Clog2Body {
    /// The record type.
    #[inline]
    pub fn rectype(&self) -> i32 {
        match self {
            Clog2Body::EndLog => rectype::ENDLOG,
            Clog2Body::EndBlock => rectype::ENDBLOCK,
            Clog2Body::StateDef(_) => rectype::STATEDEF,
            Clog2Body::EventDef(_) => rectype::EVENTDEF,
            Clog2Body::ConstDef(_) => rectype::CONSTDEF,
            Clog2Body::Bare { .. } => rectype::BAREEVT,
            Clog2Body::Cargo { .. } => rectype::CARGOEVT,
            Clog2Body::Msg(_) => rectype::MSGEVT,
            Clog2Body::Coll { .. } => rectype::COLLEVT,
            Clog2Body::Comm(_) => rectype::COMMEVT,
            Clog2Body::SrcLoc { .. } => rectype::SRCLOC,
            Clog2Body::TimeShift { .. } => rectype::TIMESHIFT,
        }
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clog2Record {
    /// Time, communicator, rank and thread.
    pub header: Clog2RecordHeader,
    /// Content of the record.
    pub body: Clog2Body,
}
