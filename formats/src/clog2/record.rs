//! Records: header, the twelve bodies, and their bytes (section 4).

use super::comm::Gid;
use super::error::{Error, ErrorKind};
use super::text::FixedText;

/// Bytes of a record header.
pub const HEADER_SIZE: usize = 24;

/// Bytes of the largest record, a STATEDEF.
pub const MAX_RECORD_SIZE: usize = 136;

/// Bytes of data in a CARGO record.
pub const CARGO_SIZE: usize = 32;

/// The time MPE stamps ENDLOG with; later than any event, in seconds (section 11.1).
pub const ENDLOG_TIME: f64 = 1e8;

/// Record types (section 4.2).
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

/// Values of [`Msg::etype`].
pub mod msg_etype {
    /// A message is sent.
    pub const SEND: i32 = -101;
    /// A message has been received.
    pub const RECV: i32 = -102;
}

/// Values of [`ConstDef::etype`].
pub mod constdef_etype {
    /// A constant of the MPI in use; the only one MPE writes.
    pub const MPI_CONST: i32 = -201;
}

/// Values of [`CommEvent::etype`] (section 5.1).
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

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Most significant byte first: every merged file.
    Big,
    /// Least significant byte first: local files of x86 and ARM machines.
    Little,
}

/// The header of a record, without its type, which the [`Body`] tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecordHeader {
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
pub struct StateDef {
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
    /// Format of the data (section 8).
    pub format: FixedText<40>,
}

/// EVENTDEF: describes a solo event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventDef {
    /// Number of the event.
    pub etype: i32,
    /// X11 colour name.
    pub color: FixedText<24>,
    /// Name.
    pub name: FixedText<32>,
    /// Format of the data (section 8).
    pub format: FixedText<40>,
}

/// CONSTDEF: a constant of the MPI in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConstDef {
    /// See [`constdef_etype`].
    pub etype: i32,
    /// Its value.
    pub value: i32,
    /// Its name.
    pub name: FixedText<32>,
}

/// MSGEVT: one end of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Msg {
    /// See [`msg_etype`].
    pub etype: i32,
    /// LID of the partner's communicator (section 5.4).
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
pub struct CommEvent {
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

/// What a record says, one variant per record type.
///
/// The variants differ in size on purpose: records are made on the stack and encoded or used at once, so an allocation
/// for the two rare large ones would cost more than it saves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub enum Body {
    /// End of the log.
    EndLog,
    /// End of a block.
    EndBlock,
    /// Description of a state.
    StateDef(StateDef),
    /// Description of a solo event.
    EventDef(EventDef),
    /// A constant of MPI.
    ConstDef(ConstDef),
    /// An event without data.
    Bare {
        /// Number of the event.
        etype: i32,
    },
    /// An event with data.
    Cargo {
        /// Number of the event.
        etype: i32,
        /// The data, big-endian, laid out as the format of the definition says (section 8).
        bytes: [u8; CARGO_SIZE],
    },
    /// One end of a message.
    Msg(Msg),
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
    Comm(CommEvent),
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

impl Body {
    /// The record type.
    pub fn rectype(&self) -> i32 {
        match self {
            Body::EndLog => rectype::ENDLOG,
            Body::EndBlock => rectype::ENDBLOCK,
            Body::StateDef(_) => rectype::STATEDEF,
            Body::EventDef(_) => rectype::EVENTDEF,
            Body::ConstDef(_) => rectype::CONSTDEF,
            Body::Bare { .. } => rectype::BAREEVT,
            Body::Cargo { .. } => rectype::CARGOEVT,
            Body::Msg(_) => rectype::MSGEVT,
            Body::Coll { .. } => rectype::COLLEVT,
            Body::Comm(_) => rectype::COMMEVT,
            Body::SrcLoc { .. } => rectype::SRCLOC,
            Body::TimeShift { .. } => rectype::TIMESHIFT,
        }
    }
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// When and where.
    pub header: RecordHeader,
    /// What.
    pub body: Body,
}

impl Record {
    /// Bytes of the record in a file.
    pub fn size(&self) -> usize {
        record_size(self.body.rectype()).unwrap_or(HEADER_SIZE)
    }

    /// Writes the record in big-endian order to the front of `to` and gives its size in bytes.
    ///
    /// Gives 0 and writes nothing if `to` is too short. Pad fields are 0.
    pub fn encode(&self, to: &mut [u8]) -> usize {
        let size = self.size();
        let Some(to) = to.get_mut(..size) else {
            return 0;
        };
        put(to, 0, &self.header.time.to_be_bytes());
        put_ints(
            to,
            8,
            &[
                self.header.icomm,
                self.header.rank,
                self.header.thread,
                self.body.rectype(),
            ],
        );
        let to = &mut to[HEADER_SIZE..];
        match &self.body {
            Body::EndLog | Body::EndBlock => {}
            Body::StateDef(def) => {
                put_ints(to, 0, &[def.state_id, def.start_etype, def.final_etype, 0]);
                put(to, 16, def.color.field());
                put(to, 40, def.name.field());
                put(to, 72, def.format.field());
            }
            Body::EventDef(def) => {
                put_ints(to, 0, &[def.etype, 0]);
                put(to, 8, def.color.field());
                put(to, 32, def.name.field());
                put(to, 64, def.format.field());
            }
            Body::ConstDef(def) => {
                put_ints(to, 0, &[def.etype, def.value]);
                put(to, 8, def.name.field());
            }
            Body::Bare { etype } => put_ints(to, 0, &[*etype, 0]),
            Body::Cargo { etype, bytes } => {
                put_ints(to, 0, &[*etype, 0]);
                put(to, 8, bytes);
            }
            Body::Msg(msg) => put_ints(
                to,
                0,
                &[msg.etype, msg.icomm, msg.rank, msg.tag, msg.size, 0],
            ),
            Body::Coll { etype, root, size } => put_ints(to, 0, &[*etype, *root, *size, 0]),
            Body::Comm(comm) => {
                put_ints(to, 0, &[comm.etype, comm.icomm, comm.rank, comm.wrank]);
                put(to, 16, &comm.gid.0);
            }
            Body::SrcLoc { srcloc, line, file } => {
                put_ints(to, 0, &[*srcloc, *line]);
                put(to, 8, file.field());
            }
            Body::TimeShift { shift } => put(to, 0, &shift.to_be_bytes()),
        }
        size
    }

    /// Reads the record at the front of `bytes`; [`Record::size`] tells how many bytes it took.
    ///
    /// The error's offset counts from the start of `bytes`.
    pub fn decode(bytes: &[u8], endian: Endian) -> Result<Self, Error> {
        let truncated = |what, expected: usize| {
            let found = bytes.len() as u64;
            Error::new(
                0,
                ErrorKind::Truncated {
                    what,
                    expected: expected as u64,
                    found,
                },
            )
        };
        if bytes.len() < HEADER_SIZE {
            return Err(truncated("record header", HEADER_SIZE));
        }
        let int = |at| get_i32(bytes, at, endian);
        let rectype = int(20);
        let Some(size) = record_size(rectype) else {
            return Err(Error::new(20, ErrorKind::RecordType(rectype)));
        };
        let Some(body) = bytes.get(HEADER_SIZE..size) else {
            return Err(truncated("record", size));
        };
        let header = RecordHeader {
            time: get_f64(bytes, 0, endian),
            icomm: int(8),
            rank: int(12),
            thread: int(16),
        };
        let int = |at| get_i32(body, at, endian);
        let body = match rectype {
            rectype::ENDLOG => Body::EndLog,
            rectype::ENDBLOCK => Body::EndBlock,
            rectype::STATEDEF => Body::StateDef(StateDef {
                state_id: int(0),
                start_etype: int(4),
                final_etype: int(8),
                color: FixedText::from_bytes(get(body, 16)),
                name: FixedText::from_bytes(get(body, 40)),
                format: FixedText::from_bytes(get(body, 72)),
            }),
            rectype::EVENTDEF => Body::EventDef(EventDef {
                etype: int(0),
                color: FixedText::from_bytes(get(body, 8)),
                name: FixedText::from_bytes(get(body, 32)),
                format: FixedText::from_bytes(get(body, 64)),
            }),
            rectype::CONSTDEF => Body::ConstDef(ConstDef {
                etype: int(0),
                value: int(4),
                name: FixedText::from_bytes(get(body, 8)),
            }),
            rectype::BAREEVT => Body::Bare { etype: int(0) },
            rectype::CARGOEVT => Body::Cargo {
                etype: int(0),
                bytes: get(body, 8),
            },
            rectype::MSGEVT => Body::Msg(Msg {
                etype: int(0),
                icomm: int(4),
                rank: int(8),
                tag: int(12),
                size: int(16),
            }),
            rectype::COLLEVT => Body::Coll {
                etype: int(0),
                root: int(4),
                size: int(8),
            },
            rectype::COMMEVT => Body::Comm(CommEvent {
                etype: int(0),
                icomm: int(4),
                rank: int(8),
                wrank: int(12),
                gid: Gid::decode(get(body, 16), endian),
            }),
            rectype::SRCLOC => Body::SrcLoc {
                srcloc: int(0),
                line: int(4),
                file: FixedText::from_bytes(get(body, 8)),
            },
            _ => Body::TimeShift {
                shift: get_f64(body, 0, endian),
            },
        };
        Ok(Record { header, body })
    }
}

/// Bytes of a record of this type, header included; `None` for a number that is no type.
fn record_size(rectype: i32) -> Option<usize> {
    const SIZES: [usize; 12] = [24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32];
    usize::try_from(rectype)
        .ok()
        .and_then(|index| SIZES.get(index))
        .copied()
}

/// Time in seconds of the big-endian record at the front of `bytes`; infinity if no header stands there, so that an
/// exhausted buffer sorts behind all others in a merge.
pub fn peek_time(bytes: &[u8]) -> f64 {
    if bytes.len() < HEADER_SIZE {
        f64::INFINITY
    } else {
        get_f64(bytes, 0, Endian::Big)
    }
}

/// Record type of the big-endian record at the front of `bytes`; −1 if no header stands there.
pub fn peek_rectype(bytes: &[u8]) -> i32 {
    if bytes.len() < HEADER_SIZE {
        -1
    } else {
        get_i32(bytes, 20, Endian::Big)
    }
}

/// Size in bytes of the big-endian record at the front of `bytes`; 0 if no complete record stands there.
pub fn peek_size(bytes: &[u8]) -> usize {
    match record_size(peek_rectype(bytes)) {
        Some(size) if size <= bytes.len() => size,
        _ => 0,
    }
}

/// `N` bytes from `at` on; zeros where `bytes` is too short, which callers have ruled out.
fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .unwrap_or([0; N])
}

pub(crate) fn get_i32(bytes: &[u8], at: usize, endian: Endian) -> i32 {
    match endian {
        Endian::Big => i32::from_be_bytes(get(bytes, at)),
        Endian::Little => i32::from_le_bytes(get(bytes, at)),
    }
}

pub(crate) fn get_f64(bytes: &[u8], at: usize, endian: Endian) -> f64 {
    match endian {
        Endian::Big => f64::from_be_bytes(get(bytes, at)),
        Endian::Little => f64::from_le_bytes(get(bytes, at)),
    }
}

fn put(to: &mut [u8], at: usize, from: &[u8]) {
    if let Some(to) = to.get_mut(at..at + from.len()) {
        to.copy_from_slice(from);
    }
}

fn put_ints(to: &mut [u8], at: usize, values: &[i32]) {
    for (index, value) in values.iter().enumerate() {
        put(to, at + 4 * index, &value.to_be_bytes());
    }
}
