//! Records as bytes (`spec/clog2.md` section 4): what files hold and what ranks send each other while they merge.

use super::bytes::{Endian, get, get_f64, get_i32};
use super::error::{Clog2Error, Clog2ErrorKind};
use super::gid::Gid;
use super::record::{
    CARGO_SIZE, Clog2Body, Clog2CommEvent, Clog2ConstDef, Clog2EventDef, Clog2Msg, Clog2Record,
    Clog2RecordHeader, Clog2StateDef, HEADER_SIZE, rectype,
};
use super::text::FixedText;

impl Clog2Record {
    /// Bytes of the record in a file.
    #[inline]
    pub fn size(&self) -> usize {
        record_size(self.body.rectype()).unwrap_or(HEADER_SIZE)
    }

    /// Writes the record in big-endian order to the front of `to` and gives its size in bytes.
    ///
    /// Gives 0 and writes nothing if `to` is too short. Pad fields are 0.
    #[inline]
    pub fn encode(&self, to: &mut [u8]) -> usize {
        let size = self.size();
        let Some(to) = to.get_mut(..size) else {
            return 0;
        };
        put_header(to, &self.header, self.body.rectype());
        let to = &mut to[HEADER_SIZE..];
        match &self.body {
            Clog2Body::EndLog | Clog2Body::EndBlock => {}
            Clog2Body::StateDef(def) => {
                put_ints(to, 0, &[def.state_id, def.start_etype, def.final_etype, 0]);
                put(to, 16, def.color.field());
                put(to, 40, def.name.field());
                put(to, 72, def.format.field());
            }
            Clog2Body::EventDef(def) => {
                put_ints(to, 0, &[def.etype, 0]);
                put(to, 8, def.color.field());
                put(to, 32, def.name.field());
                put(to, 64, def.format.field());
            }
            Clog2Body::ConstDef(def) => {
                put_ints(to, 0, &[def.etype, def.value]);
                put(to, 8, def.name.field());
            }
            Clog2Body::Bare { etype } => put_event(to, *etype, None),
            Clog2Body::Cargo { etype, bytes } => put_event(to, *etype, Some(bytes)),
            Clog2Body::Msg(msg) => put_message(to, msg),
            Clog2Body::Coll { etype, root, size } => put_ints(to, 0, &[*etype, *root, *size, 0]),
            Clog2Body::Comm(comm) => {
                put_ints(to, 0, &[comm.etype, comm.icomm, comm.rank, comm.wrank]);
                put(to, 16, &comm.gid.0);
            }
            Clog2Body::SrcLoc { srcloc, line, file } => {
                put_ints(to, 0, &[*srcloc, *line]);
                put(to, 8, file.field());
            }
            Clog2Body::TimeShift { shift } => put(to, 0, &shift.to_be_bytes()),
        }
        size
    }

    /// Encodes the record in the byte order `endian`, with the bytes `pad` in the pad field of records that have one. Returns
    /// the number of bytes written.
    #[inline]
    pub fn encode_as(&self, endian: Endian, pad: [u8; 4], to: &mut [u8]) -> usize {
        let size = self.encode(to);
        let Some(to) = to.get_mut(..size).filter(|_| size > 0) else {
            return 0;
        };
        if endian == Endian::Little {
            let gid = HEADER_SIZE + 16;
            for at in long_fields(self.body.rectype()) {
                reverse(to, *at, 8);
            }
            for at in int_fields(self.body.rectype()) {
                reverse(to, *at, 4);
            }
            if self.body.rectype() == rectype::COMMEVT {
                reverse(to, gid, 4);
                reverse(to, gid + 4, 8);
            }
        }
        if let Some(at) = pad_field(self.body.rectype()) {
            put(to, at, &pad);
        }
        size
    }

    /// The pad field of the record at the front of `bytes`, which has no meaning but is copied by MPE; zeros if it has none.
    pub fn pad(&self, bytes: &[u8]) -> [u8; 4] {
        pad_field(self.body.rectype()).map_or([0; 4], |at| get(bytes, at))
    }

    /// Reads the record at the front of `bytes`; [`Clog2Record::size`] tells how many bytes it took.
    ///
    /// The error's offset counts from the start of `bytes`.
    #[inline]
    pub fn decode(bytes: &[u8], endian: Endian) -> Result<Self, Clog2Error> {
        let truncated = |what, expected: usize| {
            let found = bytes.len() as u64;
            Clog2Error::new(
                0,
                Clog2ErrorKind::Truncated {
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
            return Err(Clog2Error::new(20, Clog2ErrorKind::RecordType(rectype)));
        };
        let Some(body) = bytes.get(HEADER_SIZE..size) else {
            return Err(truncated("record", size));
        };
        let header = Clog2RecordHeader {
            time: get_f64(bytes, 0, endian),
            icomm: int(8),
            rank: int(12),
            thread: int(16),
        };
        let int = |at| get_i32(body, at, endian);
        let body = match rectype {
            rectype::ENDLOG => Clog2Body::EndLog,
            rectype::ENDBLOCK => Clog2Body::EndBlock,
            rectype::STATEDEF => Clog2Body::StateDef(Clog2StateDef {
                state_id: int(0),
                start_etype: int(4),
                final_etype: int(8),
                color: FixedText::from_bytes(get(body, 16)),
                name: FixedText::from_bytes(get(body, 40)),
                format: FixedText::from_bytes(get(body, 72)),
            }),
            rectype::EVENTDEF => Clog2Body::EventDef(Clog2EventDef {
                etype: int(0),
                color: FixedText::from_bytes(get(body, 8)),
                name: FixedText::from_bytes(get(body, 32)),
                format: FixedText::from_bytes(get(body, 64)),
            }),
            rectype::CONSTDEF => Clog2Body::ConstDef(Clog2ConstDef {
                etype: int(0),
                value: int(4),
                name: FixedText::from_bytes(get(body, 8)),
            }),
            rectype::BAREEVT => Clog2Body::Bare { etype: int(0) },
            rectype::CARGOEVT => Clog2Body::Cargo {
                etype: int(0),
                bytes: get(body, 8),
            },
            rectype::MSGEVT => Clog2Body::Msg(Clog2Msg {
                etype: int(0),
                icomm: int(4),
                rank: int(8),
                tag: int(12),
                size: int(16),
            }),
            rectype::COLLEVT => Clog2Body::Coll {
                etype: int(0),
                root: int(4),
                size: int(8),
            },
            rectype::COMMEVT => Clog2Body::Comm(Clog2CommEvent {
                etype: int(0),
                icomm: int(4),
                rank: int(8),
                wrank: int(12),
                gid: Gid::decode(get(body, 16), endian),
            }),
            rectype::SRCLOC => Clog2Body::SrcLoc {
                srcloc: int(0),
                line: int(4),
                file: FixedText::from_bytes(get(body, 8)),
            },
            _ => Clog2Body::TimeShift {
                shift: get_f64(body, 0, endian),
            },
        };
        Ok(Clog2Record { header, body })
    }
}

/// Writes the header of a record to the front of `to`, which has room for it, in big-endian order.
#[inline]
fn put_header(to: &mut [u8], header: &Clog2RecordHeader, rectype: i32) {
    put(to, 0, &header.time.to_be_bytes());
    put_ints(to, 8, &[header.icomm, header.rank, header.thread, rectype]);
}

/// Bytes of a [`Clog2Body::Bare`] record.
pub(super) const BARE_SIZE: usize = HEADER_SIZE + 8;
/// Bytes of a [`Clog2Body::Cargo`] record.
pub(super) const CARGO_RECORD_SIZE: usize = BARE_SIZE + CARGO_SIZE;
/// Bytes of a [`Clog2Body::Msg`] record.
pub(super) const MSG_SIZE: usize = HEADER_SIZE + 24;

/// Writes the body of an event to the front of `to`, in big-endian order: that of a [`Clog2Body::Cargo`] record, or without data of a
/// [`Clog2Body::Bare`] one.
#[inline]
fn put_event(to: &mut [u8], etype: i32, cargo: Option<&[u8; CARGO_SIZE]>) {
    put_ints(to, 0, &[etype, 0]);
    if let Some(cargo) = cargo {
        put(to, 8, cargo);
    }
}

/// Writes the body of a [`Clog2Body::Msg`] record to the front of `to`, in big-endian order.
#[inline]
fn put_message(to: &mut [u8], msg: &Clog2Msg) {
    let ints = [msg.etype, msg.icomm, msg.rank, msg.tag, msg.size, 0];
    put_ints(to, 0, &ints);
}

/// Writes an event as [`Clog2Record::encode`] does, to `to`, which is as long as the record.
#[inline]
pub(super) fn encode_event(
    to: &mut [u8],
    header: &Clog2RecordHeader,
    etype: i32,
    cargo: Option<&[u8; CARGO_SIZE]>,
) {
    let rectype = cargo.map_or(rectype::BAREEVT, |_| rectype::CARGOEVT);
    put_header(to, header, rectype);
    put_event(&mut to[HEADER_SIZE..], etype, cargo);
}

/// Writes one end of a message as [`Clog2Record::encode`] does, to `to`, which is as long as the record.
#[inline]
pub(super) fn encode_message(to: &mut [u8], header: &Clog2RecordHeader, msg: &Clog2Msg) {
    put_header(to, header, rectype::MSGEVT);
    put_message(&mut to[HEADER_SIZE..], msg);
}

/// Bytes of a record of this type, header included; `None` for a number that is no type.
#[inline]
fn record_size(rectype: i32) -> Option<usize> {
    const SIZES: [usize; 12] = [24, 24, 136, 128, 64, 32, 64, 48, 40, 72, 72, 32];
    usize::try_from(rectype)
        .ok()
        .and_then(|index| SIZES.get(index))
        .copied()
}

/// Offset of the pad field of a record of this type.
fn pad_field(rectype: i32) -> Option<usize> {
    match rectype {
        rectype::STATEDEF | rectype::COLLEVT => Some(HEADER_SIZE + 12),
        rectype::EVENTDEF | rectype::BAREEVT | rectype::CARGOEVT => Some(HEADER_SIZE + 4),
        rectype::MSGEVT => Some(HEADER_SIZE + 20),
        _ => None,
    }
}

/// Offsets of the ints of a record of this type, without that of a GID.
fn int_fields(rectype: i32) -> &'static [usize] {
    const FIELDS: [usize; 9] = [8, 12, 16, 20, 24, 28, 32, 36, 40];
    let body = match rectype {
        rectype::BAREEVT | rectype::CARGOEVT | rectype::EVENTDEF => 1,
        rectype::CONSTDEF | rectype::SRCLOC => 2,
        rectype::STATEDEF | rectype::COLLEVT => 3,
        rectype::COMMEVT => 4,
        rectype::MSGEVT => 5,
        _ => 0,
    };
    &FIELDS[..4 + body]
}

/// Offsets of the doubles of a record of this type.
fn long_fields(rectype: i32) -> &'static [usize] {
    match rectype {
        rectype::TIMESHIFT => &[0, HEADER_SIZE],
        _ => &[0],
    }
}

fn reverse(bytes: &mut [u8], at: usize, size: usize) {
    if let Some(field) = bytes.get_mut(at..at + size) {
        field.reverse();
    }
}

/// Time in seconds of the big-endian record at the front of `bytes`; infinity if no header stands there, so that an
/// exhausted buffer sorts behind all others in a merge.
#[inline]
pub fn peek_time(bytes: &[u8]) -> f64 {
    if bytes.len() < HEADER_SIZE {
        f64::INFINITY
    } else {
        get_f64(bytes, 0, Endian::Big)
    }
}

/// Record type of the big-endian record at the front of `bytes`; −1 if no header stands there.
#[inline]
pub fn peek_rectype(bytes: &[u8]) -> i32 {
    if bytes.len() < HEADER_SIZE {
        -1
    } else {
        get_i32(bytes, 20, Endian::Big)
    }
}

/// Size in bytes of the big-endian record at the front of `bytes`; 0 if no complete record stands there.
#[inline]
pub fn peek_size(bytes: &[u8]) -> usize {
    match record_size(peek_rectype(bytes)) {
        Some(size) if size <= bytes.len() => size,
        _ => 0,
    }
}

#[inline]
fn put(to: &mut [u8], at: usize, from: &[u8]) {
    if let Some(to) = to.get_mut(at..at + from.len()) {
        to.copy_from_slice(from);
    }
}

#[inline]
fn put_ints(to: &mut [u8], at: usize, values: &[i32]) {
    for (index, value) in values.iter().enumerate() {
        put(to, at + 4 * index, &value.to_be_bytes());
    }
}
