//! Merged records as ranks exchange them: little-endian, each with its size in front.

use super::cargo::Cargo;
use super::ready_records::ReadyRecords;
use super::record::{EventDefinition, MergedBody, MergedRecord, StateDefinition};
use super::state_info::StateInfo;
use trace_formats::clog2::{
    Clog2Body, Clog2Msg, Clog2Record, Clog2RecordHeader, Endian, MAX_RECORD_SIZE,
};

/// Kinds of encoded records.
mod kind {
    pub const ENTER: u32 = 0;
    pub const LEAVE: u32 = 1;
    pub const EVENT: u32 = 2;
    pub const MESSAGE: u32 = 3;
    /// A CLOG2 record, and behind it the whole name of a state.
    pub const AS_CLOG2: u32 = 4;
}

/// Bytes in front of a body: u32 size with these, u32 kind, f64 time, i32 communicator, rank and thread.
const HEAD_BYTES: usize = 28;

impl MergedRecord {
    /// Appends the record to `to`.
    #[inline]
    pub fn encode(&self, to: &mut Vec<u8>) {
        let begin = to.len();
        let kind = match &self.body {
            MergedBody::Enter { .. } => kind::ENTER,
            MergedBody::Leave(_) => kind::LEAVE,
            MergedBody::Event { .. } => kind::EVENT,
            MergedBody::Message { .. } => kind::MESSAGE,
            _ => kind::AS_CLOG2,
        };
        let mut head = [0; HEAD_BYTES];
        head[4..8].copy_from_slice(&kind.to_le_bytes());
        head[8..16].copy_from_slice(&self.header.time.to_le_bytes());
        head[16..20].copy_from_slice(&self.header.icomm.to_le_bytes());
        head[20..24].copy_from_slice(&self.header.rank.to_le_bytes());
        head[24..].copy_from_slice(&self.header.thread.to_le_bytes());
        to.extend_from_slice(&head);
        match &self.body {
            MergedBody::Enter { etype } => to.extend_from_slice(&etype.to_le_bytes()),
            MergedBody::Leave(state) => {
                to.extend_from_slice(&state.start.to_le_bytes());
                to.extend_from_slice(&state.etypes[0].to_le_bytes());
                to.extend_from_slice(&state.etypes[1].to_le_bytes());
                put_info(to, &state.info);
            }
            MergedBody::Event { etype, cargo } => {
                to.extend_from_slice(&etype.to_le_bytes());
                put_cargo(to, cargo.as_ref());
            }
            MergedBody::Message { message, ahead } => {
                let Clog2Msg {
                    etype,
                    icomm,
                    rank,
                    tag,
                    size,
                } = *message;
                for number in [etype, icomm, rank, tag, size, *ahead] {
                    to.extend_from_slice(&number.to_le_bytes());
                }
            }
            _ => self.encode_as_clog2(to),
        }
        let size = (to.len() - begin) as u32;
        if let Some(room) = to.get_mut(begin..begin + 4) {
            room.copy_from_slice(&size.to_le_bytes());
        }
    }

    fn encode_as_clog2(&self, to: &mut Vec<u8>) {
        let mut bytes = [0; MAX_RECORD_SIZE];
        let size = self.clog2().encode(&mut bytes);
        to.extend_from_slice(&bytes[..size]);
        if let MergedBody::State(state) = &self.body {
            let name = state.whole_name.as_deref().unwrap_or_default();
            to.extend_from_slice(&(name.len() as u32).to_le_bytes());
            to.extend_from_slice(name.as_bytes());
            to.extend_from_slice(state.details.as_bytes());
        }
        if let MergedBody::SoloEvent(event) = &self.body {
            let name = event.whole_name.as_deref().unwrap_or_default();
            to.extend_from_slice(name.as_bytes());
        }
    }

    /// Bytes of the encoded record at the beginning of `rest`; 0 if none is there.
    #[inline]
    pub fn encoded_size(rest: &[u8]) -> usize {
        let size = rest.first_chunk().copied().map_or(0, u32::from_le_bytes) as usize;
        if size < HEAD_BYTES { 0 } else { size }
    }

    /// Time of an encoded record, seconds.
    #[inline]
    pub fn encoded_time(record: &[u8]) -> f64 {
        let time = record.get(8..).and_then(|rest| rest.first_chunk());
        time.copied().map_or(f64::INFINITY, f64::from_le_bytes)
    }
}

/// Decodes records one after the other, each in the place of the one before.
#[derive(Debug, Default)]
pub struct RecordDecoder {
    decoded: ReadyRecords,
}

impl RecordDecoder {
    /// The record that `bytes` are; `None` if they are none.
    #[inline]
    pub fn decode(&mut self, bytes: &[u8]) -> Option<&MergedRecord> {
        self.decoded.clear();
        decode(bytes, &mut self.decoded)?;
        self.decoded.get(0)
    }
}

/// Appends the record that `bytes` are to `to`; `None` if they are none.
#[inline]
fn decode(bytes: &[u8], to: &mut ReadyRecords) -> Option<()> {
    let (head, mut rest) = bytes.split_first_chunk::<HEAD_BYTES>()?;
    let (mut head, rest) = (&head[4..], &mut rest);
    let kind = u32::from_le_bytes(take(&mut head)?);
    let header = Clog2RecordHeader {
        time: f64::from_le_bytes(take(&mut head)?),
        icomm: take_i32(&mut head)?,
        rank: take_i32(&mut head)?,
        thread: take_i32(&mut head)?,
    };
    match kind {
        kind::ENTER => {
            let etype = take_i32(rest)?;
            to.push(header, MergedBody::Enter { etype });
        }
        kind::LEAVE => {
            let start = f64::from_le_bytes(take(rest)?);
            let etypes = [take_i32(rest)?, take_i32(rest)?];
            take_info(rest, to.push_state(header, start, etypes))?;
        }
        kind::EVENT => {
            let (etype, cargo) = (take_i32(rest)?, take_cargo(rest)?);
            to.push(header, MergedBody::Event { etype, cargo });
        }
        kind::MESSAGE => {
            let message = Clog2Msg {
                etype: take_i32(rest)?,
                icomm: take_i32(rest)?,
                rank: take_i32(rest)?,
                tag: take_i32(rest)?,
                size: take_i32(rest)?,
            };
            to.push_message(header, message, take_i32(rest)?);
        }
        kind::AS_CLOG2 => to.push(header, decode_as_clog2(rest)?),
        _ => return None,
    }
    Some(())
}

#[inline]
fn put_cargo(to: &mut Vec<u8>, cargo: Option<&Cargo>) {
    to.push(u8::from(cargo.is_some()));
    to.extend_from_slice(cargo.map_or(&[], |bytes| bytes));
}

#[inline]
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*bytes)
}

#[inline]
fn take_i32(rest: &mut &[u8]) -> Option<i32> {
    take(rest).map(i32::from_le_bytes)
}

#[inline]
fn take_cargo(rest: &mut &[u8]) -> Option<Option<Cargo>> {
    let [is_there] = take(rest)?;
    match is_there {
        0 => Some(None),
        _ => take(rest).map(Some),
    }
}

/// Added to the bytes of data where counts follow.
const HAS_COUNTS: u8 = 1 << 7;
/// In place of a length that is as large or larger, and follows as a u32.
const LONG: u8 = u8::MAX;

/// Appends what is known of a state: bytes of data (u8), length (u8), the bytes, and counts behind them.
#[inline]
fn put_info(to: &mut Vec<u8>, info: &StateInfo) {
    let (bytes, counts) = (info.bytes(), info.counts());
    let has_counts = if counts.is_some() { HAS_COUNTS } else { 0 };
    to.push(info.data_bytes() as u8 | has_counts);
    match u8::try_from(bytes.len()) {
        Ok(length) if length < LONG => to.push(length),
        _ => {
            to.push(LONG);
            to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        }
    }
    to.extend_from_slice(bytes);
    let counts = counts.into_iter().flatten();
    counts.for_each(|count| to.extend_from_slice(&count.to_le_bytes()));
}

/// Reads what is known of a state into `info`, which is empty.
#[inline]
fn take_info(rest: &mut &[u8], info: &mut StateInfo) -> Option<()> {
    let [data, length] = take(rest)?;
    let length = match length {
        LONG => u32::from_le_bytes(take(rest)?) as usize,
        length => length.into(),
    };
    let (bytes, others) = rest.split_at_checked(length)?;
    info.push(bytes);
    info.set_data_bytes(usize::from(data & !HAS_COUNTS));
    if data & HAS_COUNTS != 0 {
        info.set_counts(take_counts(others));
    }
    Some(())
}

fn take_counts(rest: &[u8]) -> Box<[i64]> {
    let (counts, _) = rest.as_chunks();
    counts.iter().copied().map(i64::from_le_bytes).collect()
}

/// The whole name of a kind of states or events, if the record tells one.
fn whole_name(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn decode_as_clog2(bytes: &[u8]) -> Option<MergedBody> {
    let record = Clog2Record::decode(bytes, Endian::Big).ok()?;
    let more = bytes.get(record.size()..).unwrap_or_default();
    Some(match record.body {
        Clog2Body::Comm(event) => MergedBody::Comm(event),
        Clog2Body::StateDef(def) => {
            let mut rest = more;
            let length = u32::from_le_bytes(take(&mut rest)?) as usize;
            let (name, details) = rest.split_at_checked(length)?;
            MergedBody::State(Box::new(StateDefinition {
                def,
                whole_name: whole_name(name),
                details: String::from_utf8_lossy(details).into_owned(),
            }))
        }
        Clog2Body::EventDef(def) => MergedBody::SoloEvent(Box::new(EventDefinition {
            def,
            whole_name: whole_name(more),
        })),
        Clog2Body::ConstDef(def) => MergedBody::Constant(Box::new(def)),
        Clog2Body::TimeShift { shift } => MergedBody::TimeShift(shift),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::LeftState;
    use super::*;
    use proptest::prelude::*;
    use trace_formats::clog2::{
        CARGO_SIZE, Clog2CommEvent, Clog2ConstDef, Clog2EventDef, Clog2StateDef, FixedText, Gid,
        comm_etype, constdef_etype, msg_etype,
    };

    fn cargo() -> impl Strategy<Value = Option<Cargo>> {
        proptest::option::of(any::<Cargo>())
    }

    /// Short names, names that fill what CLOG2 has room for, and longer ones.
    fn state_definition() -> impl Strategy<Value = MergedBody> {
        let whole_name = proptest::option::of("[a-zé ]{1,80}");
        let texts = ("[a-z]{0,31}", "[a-z]{0,20}", "[a-z]{0,20}");
        (any::<[i32; 3]>(), texts, whole_name).prop_map(
            |([state_id, start_etype, final_etype], (name, color, details), whole_name)| {
                MergedBody::State(Box::new(StateDefinition {
                    def: Clog2StateDef {
                        state_id,
                        start_etype,
                        final_etype,
                        color: FixedText::new(&color),
                        name: FixedText::new(&name),
                        format: FixedText::new("ID=%l, bytes=%l"),
                    },
                    whole_name,
                    details,
                }))
            },
        )
    }

    fn body() -> impl Strategy<Value = MergedBody> {
        let leave = (
            -1e9..1e9,
            any::<[i32; 2]>(),
            prop::collection::vec(any::<u8>(), 0..=CARGO_SIZE),
            prop::collection::vec(any::<u8>(), 0..400),
            proptest::option::of(prop::collection::vec(any::<i64>(), 0..5)),
        );
        prop_oneof![
            any::<i32>().prop_map(|etype| MergedBody::Enter { etype }),
            leave.prop_map(|(start, etypes, data, details, counts)| {
                let mut info = StateInfo::default();
                info.push_data(&data);
                info.push(&details);
                if let Some(counts) = counts {
                    info.set_counts(counts.into());
                }
                MergedBody::Leave(LeftState {
                    start,
                    etypes,
                    info,
                })
            }),
            (any::<i32>(), cargo()).prop_map(|(etype, cargo)| MergedBody::Event { etype, cargo }),
            (any::<[i32; 4]>(), any::<bool>(), -3..4).prop_map(
                |([icomm, rank, tag, size], is_send, ahead)| {
                    let etype = if is_send {
                        msg_etype::SEND
                    } else {
                        msg_etype::RECV
                    };
                    let message = Clog2Msg {
                        etype,
                        icomm,
                        rank,
                        tag,
                        size,
                    };
                    MergedBody::Message { message, ahead }
                }
            ),
            any::<[i32; 3]>().prop_map(|[icomm, rank, wrank]| {
                MergedBody::Comm(Clog2CommEvent {
                    etype: comm_etype::INTRA_CREATE,
                    icomm,
                    rank,
                    wrank,
                    gid: Gid::NULL,
                })
            }),
            state_definition(),
            (any::<i32>(), "[a-z]{0,31}").prop_map(|(value, name)| {
                MergedBody::Constant(Box::new(Clog2ConstDef {
                    etype: constdef_etype::MPI_CONST,
                    value,
                    name: FixedText::new(&name),
                }))
            }),
            event_definition(),
            (-1e9..1e9).prop_map(MergedBody::TimeShift),
        ]
    }

    fn event_definition() -> impl Strategy<Value = MergedBody> {
        let whole_name = proptest::option::of("[a-zé ]{1,80}");
        let drawn = (any::<i32>(), "[a-z]{0,31}", whole_name);
        drawn.prop_map(|(etype, name, whole_name)| {
            MergedBody::SoloEvent(Box::new(EventDefinition {
                def: Clog2EventDef {
                    etype,
                    color: FixedText::new("white"),
                    name: FixedText::new(&name),
                    format: FixedText::new("%s"),
                },
                whole_name,
            }))
        })
    }

    fn record() -> impl Strategy<Value = MergedRecord> {
        let header = (-1e9..1e9, any::<[i32; 3]>()).prop_map(|(time, [icomm, rank, thread])| {
            Clog2RecordHeader {
                time,
                icomm,
                rank,
                thread,
            }
        });
        (header, body()).prop_map(|(header, body)| MergedRecord { header, body })
    }

    proptest! {
        /// Ranks that exchange records one after another get what was sent, and can skip records and compare times without
        /// decoding.
        #[test]
        fn records_survive_the_wire(records in prop::collection::vec(record(), 0..20)) {
            let mut bytes = Vec::new();
            records.iter().for_each(|record| record.encode(&mut bytes));
            let (mut rest, mut decoder) = (&bytes[..], RecordDecoder::default());
            for record in &records {
                let size = MergedRecord::encoded_size(rest);
                prop_assert!(size >= HEAD_BYTES && size <= rest.len());
                let (own, others) = rest.split_at(size);
                prop_assert_eq!(MergedRecord::encoded_time(own), record.header.time);
                let decoded = decoder.decode(own);
                prop_assert_eq!(decoded, Some(record));
                rest = others;
            }
            prop_assert!(rest.is_empty());
            prop_assert_eq!(MergedRecord::encoded_size(rest), 0);
        }

        /// A record that is cut off is none, or (a state whose counts or name are cut) a shorter one: never a panic.
        #[test]
        fn cut_records_do_no_harm(record in record(), keep in 0.0..1.0) {
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            let kept = (bytes.len() as f64 * keep) as usize;
            if kept < HEAD_BYTES {
                prop_assert!(RecordDecoder::default().decode(&bytes[..kept]).is_none());
            } else {
                let _ = RecordDecoder::default().decode(&bytes[..kept]);
            }
        }

        /// Whatever bytes another rank sends.
        #[test]
        fn any_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), kind in 0u32..6) {
            let mut bytes = bytes;
            if let Some(to) = bytes.get_mut(4..8) {
                to.copy_from_slice(&kind.to_le_bytes());
            }
            let _ = RecordDecoder::default().decode(&bytes);
        }
    }
}
