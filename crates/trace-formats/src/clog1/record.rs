//! Records: the header and the eleven bodies (`spec/clog1.md` sections 2 and 3).

use crate::clog2::FixedText;

/// Bytes of a record header.
pub const HEADER_SIZE: usize = 24;

/// Bytes of the largest record, a STATEDEF.
pub const MAX_RECORD_SIZE: usize = 80;

/// The time MPE stamps ENDLOG with, "later than all times", in seconds.
pub const ENDLOG_TIME: f64 = 1_000_000.0;
/// Largest time in seconds that is believed of a file without any magic number: that of ENDLOG.
pub(super) const MAX_TIME: f64 = ENDLOG_TIME;
/// Number of ranks that are believed of a file without any magic number.
pub(super) const MAX_RANK: i32 = 1 << 20;

/// Record types (`spec/clog1.md` section 3).
#[allow(missing_docs)]
pub mod rectype {
    pub const ENDLOG: i32 = -2;
    pub const ENDBLOCK: i32 = -1;
    pub const UNDEF: i32 = 0;
    pub const RAWEVENT: i32 = 1;
    pub const MSGEVENT: i32 = 2;
    pub const COLLEVENT: i32 = 3;
    pub const COMMEVENT: i32 = 4;
    pub const EVENTDEF: i32 = 5;
    pub const STATEDEF: i32 = 6;
    pub const SRCLOC: i32 = 7;
    pub const SHIFT: i32 = 8;
}

/// Values of [`Clog1Comm::etype`].
pub mod comm_etype {
    /// MPI_COMM_WORLD, at start.
    pub const INIT: i32 = 101;
    /// MPI_Comm_dup.
    pub const DUP: i32 = 102;
    /// MPI_Comm_split.
    pub const SPLIT: i32 = 103;
    /// MPI_Cart_create.
    pub const CART_CREATE: i32 = 104;
    /// MPI_Comm_create.
    pub const CREATE: i32 = 105;
    /// MPI_Comm_free.
    pub const FREE: i32 = 106;
}

/// Bytes without meaning that keep fields aligned. MPE leaves what was in memory there; a writer of ours puts zeros.
pub type PadBytes = [u8; 4];

/// The header of a record, without type and length, which the [`Clog1Body`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clog1RecordHeader {
    /// Seconds since MPE_Init_log on rank 0's clock.
    pub time: f64,
    /// Rank in MPI_COMM_WORLD.
    pub rank: i32,
    /// Without meaning.
    pub pad: PadBytes,
}

/// RAW: the events that MPE logs.
///
/// Starts and ends of states, solo events, both ends of messages (-101, -102) and constants (-201).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawEvent {
    /// Number of the event.
    pub etype: i32,
    /// A number of the program's; of a message the partner's rank, of a constant its value.
    pub data: i32,
    /// Number of the place in the source.
    pub srcloc: i32,
    /// Without meaning.
    pub pad: PadBytes,
    /// A text of the program's; of a message `TAG SIZE`, of a constant its name.
    pub text: FixedText<16>,
}

/// MSG: one end of a message; MPE never writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog1Msg {
    /// Number of the event.
    pub etype: i32,
    /// Tag.
    pub tag: i32,
    /// The partner's rank.
    pub partner: i32,
    /// Communicator.
    pub comm: i32,
    /// Bytes.
    pub size: i32,
    /// Number of the place in the source.
    pub srcloc: i32,
}

/// COLL: a collective operation; MPE never writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coll {
    /// Number of the event.
    pub etype: i32,
    /// Root of the operation.
    pub root: i32,
    /// Communicator.
    pub comm: i32,
    /// Bytes.
    pub size: i32,
    /// Number of the place in the source.
    pub srcloc: i32,
    /// Without meaning.
    pub pad: PadBytes,
}

/// COMM: a communicator was made or freed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog1Comm {
    /// See [`comm_etype`].
    pub etype: i32,
    /// The communicator it was made of; -1 for MPI_COMM_WORLD.
    pub parent: i32,
    /// The communicator, as the C integer it is in MPICH-1.
    pub comm: i32,
    /// Number of the place in the source.
    pub srcloc: i32,
}

/// EVENTDEF: describes a solo event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog1EventDef {
    /// Number of the event.
    pub etype: i32,
    /// Without meaning.
    pub pad: PadBytes,
    /// Name.
    pub name: FixedText<16>,
}

/// STATEDEF: describes a state, which lasts from its start event to its end event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clog1StateDef {
    /// Number of the state.
    pub state_id: i32,
    /// Number of the start event.
    pub start_etype: i32,
    /// Number of the end event.
    pub end_etype: i32,
    /// Without meaning.
    pub pad: PadBytes,
    /// X11 colour name, then perhaps `:` and a stipple.
    pub color: FixedText<24>,
    /// Name.
    pub name: FixedText<16>,
}

/// SRCLOC: a place in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SrcLoc {
    /// Number of the source location, from 900 up, on the record's rank.
    pub srcloc: i32,
    /// Line.
    pub line: i32,
    /// File name.
    pub file: FixedText<40>,
}

/// Content of a record, one variant per record type.
#[derive(Clone, Debug, PartialEq)]
pub enum Clog1Body {
    /// End of the log.
    EndLog,
    /// End of a block.
    EndBlock,
    /// Nothing.
    Undefined,
    /// See [`RawEvent`].
    Raw(RawEvent),
    /// See [`Clog1Msg`].
    Msg(Clog1Msg),
    /// See [`Coll`].
    Coll(Coll),
    /// See [`Clog1Comm`].
    Comm(Clog1Comm),
    /// See [`Clog1EventDef`].
    EventDef(Clog1EventDef),
    /// See [`Clog1StateDef`].
    StateDef(Clog1StateDef),
    /// See [`SrcLoc`].
    SrcLoc(SrcLoc),
    /// The seconds that were added to the times of the record's rank.
    Shift(f64),
    /// A type that is not known; its length says where the next record is.
    Other {
        /// Record type.
        rectype: i32,
        /// Body of the record, a multiple of 8 bytes.
        bytes: Vec<u8>,
    },
}

impl Clog1Body {
    /// The record type.
    pub fn rectype(&self) -> i32 {
        match self {
            Clog1Body::EndLog => rectype::ENDLOG,
            Clog1Body::EndBlock => rectype::ENDBLOCK,
            Clog1Body::Undefined => rectype::UNDEF,
            Clog1Body::Raw(_) => rectype::RAWEVENT,
            Clog1Body::Msg(_) => rectype::MSGEVENT,
            Clog1Body::Coll(_) => rectype::COLLEVENT,
            Clog1Body::Comm(_) => rectype::COMMEVENT,
            Clog1Body::EventDef(_) => rectype::EVENTDEF,
            Clog1Body::StateDef(_) => rectype::STATEDEF,
            Clog1Body::SrcLoc(_) => rectype::SRCLOC,
            Clog1Body::Shift(_) => rectype::SHIFT,
            Clog1Body::Other { rectype, .. } => *rectype,
        }
    }
}

/// A record.
#[derive(Clone, Debug, PartialEq)]
pub struct Clog1Record {
    /// Time and rank.
    pub header: Clog1RecordHeader,
    /// Content of the record.
    pub body: Clog1Body,
}

impl Clog1Record {
    /// Bytes in a file.
    pub fn size(&self) -> usize {
        match &self.body {
            Clog1Body::Other { bytes, .. } => HEADER_SIZE + bytes.len().next_multiple_of(8),
            body => words(body.rectype()).map_or(HEADER_SIZE, |words| 8 * words as usize),
        }
    }

    /// True for ENDBLOCK and ENDLOG.
    pub fn is_end(&self) -> bool {
        matches!(self.body, Clog1Body::EndBlock | Clog1Body::EndLog)
    }
}

/// The length of records of this type, in units of 8 bytes; `None` if the type is not known.
pub(super) fn words(rectype: i32) -> Option<i32> {
    const WORDS: [i32; 11] = [3, 3, 3, 7, 6, 6, 5, 6, 10, 9, 4];
    let index = usize::try_from(rectype.checked_sub(rectype::ENDLOG)?).ok()?;
    WORDS.get(index).copied()
}
