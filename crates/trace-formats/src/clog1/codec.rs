//! Records from and to bytes.

use super::error::{Clog1Error, Clog1ErrorKind};
use super::header::{HeaderInts, peek};
use super::layout::Clog1Layout;
use super::record::{
    Clog1Body, Clog1Comm, Clog1EventDef, Clog1Msg, Clog1Record, Clog1RecordHeader, Clog1StateDef,
    Coll, HEADER_SIZE, RawEvent, SrcLoc, rectype, words,
};
use crate::clog2::{Endian, FixedText};

/// `N` bytes from `at` on; zeros where `bytes` is too short, which callers have ruled out.
fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

fn text<const N: usize>(bytes: &[u8], at: usize) -> FixedText<N> {
    FixedText::from_bytes(get(bytes, at))
}

impl Clog1Record {
    /// Reads the record at the front of `bytes`, which end where its block does.
    ///
    /// # Errors
    /// With offsets from the start of `bytes`.
    pub fn decode(bytes: &[u8], layout: Clog1Layout) -> Result<Clog1Record, Clog1Error> {
        let endian = layout.endian;
        let Some(header) = peek(bytes, endian) else {
            let kind = Clog1ErrorKind::Truncated {
                what: "record header",
                expected: HEADER_SIZE,
                found: bytes.len(),
            };
            return Err(Clog1Error::new(0, kind));
        };
        let known = words(header.rectype);
        let least = (HEADER_SIZE / 8) as i32;
        if known.map_or(header.length < least, |words| words != header.length) {
            let kind = Clog1ErrorKind::Length {
                rectype: header.rectype,
                expected: known.unwrap_or(least),
                found: header.length,
            };
            return Err(Clog1Error::new(12, kind));
        }
        let Some(body) = bytes.get(HEADER_SIZE..header.size()) else {
            let kind = Clog1ErrorKind::Truncated {
                what: "record",
                expected: header.size(),
                found: bytes.len(),
            };
            return Err(Clog1Error::new(0, kind));
        };
        Ok(Clog1Record {
            header: Clog1RecordHeader {
                time: header.time,
                rank: header.rank,
                pad: get(bytes, 20),
            },
            body: decode_body(header.rectype, body, layout),
        })
    }

    /// Appends the bytes of this record to `to`.
    pub fn encode(&self, layout: Clog1Layout, to: &mut Vec<u8>) {
        let mut out = Encoder {
            to,
            endian: layout.endian,
        };
        out.double(self.header.time);
        out.int(self.body.rectype());
        out.int((self.size() / 8) as i32);
        out.int(self.header.rank);
        out.bytes(&self.header.pad);
        encode_body(&self.body, layout, &mut out);
    }
}

fn decode_body(rectype: i32, body: &[u8], layout: Clog1Layout) -> Clog1Body {
    let endian = layout.endian;
    let int = |at| body.get_int(at, endian).unwrap_or_default();
    // In the oldest files the bytes without meaning come last.
    let (shift, last_pad) = if layout.is_padded {
        (4, 12)
    } else {
        (0, body.len().saturating_sub(4))
    };
    match rectype {
        rectype::ENDLOG => Clog1Body::EndLog,
        rectype::ENDBLOCK => Clog1Body::EndBlock,
        rectype::UNDEF => Clog1Body::Undefined,
        rectype::RAWEVENT => Clog1Body::Raw(RawEvent {
            etype: int(0),
            data: int(4),
            srcloc: int(8),
            pad: get(body, last_pad),
            text: text(body, 12 + shift),
        }),
        rectype::MSGEVENT => Clog1Body::Msg(Clog1Msg {
            etype: int(0),
            tag: int(4),
            partner: int(8),
            comm: int(12),
            size: int(16),
            srcloc: int(20),
        }),
        rectype::COLLEVENT => Clog1Body::Coll(Coll {
            etype: int(0),
            root: int(4),
            comm: int(8),
            size: int(12),
            srcloc: int(16),
            pad: get(body, 20),
        }),
        rectype::COMMEVENT => Clog1Body::Comm(Clog1Comm {
            etype: int(0),
            parent: int(4),
            comm: int(8),
            srcloc: int(12),
        }),
        rectype::EVENTDEF => Clog1Body::EventDef(Clog1EventDef {
            etype: int(0),
            pad: get(body, 4),
            name: text(body, 8),
        }),
        rectype::STATEDEF => Clog1Body::StateDef(Clog1StateDef {
            state_id: int(0),
            start_etype: int(4),
            end_etype: int(8),
            pad: get(body, last_pad),
            color: text(body, 12 + shift),
            name: text(body, 36 + shift),
        }),
        rectype::SRCLOC => Clog1Body::SrcLoc(SrcLoc {
            srcloc: int(0),
            line: int(4),
            file: text(body, 8),
        }),
        rectype::SHIFT => Clog1Body::Shift(body.get_double(0, endian).unwrap_or_default()),
        rectype => Clog1Body::Other {
            rectype,
            bytes: body.to_vec(),
        },
    }
}

struct Encoder<'a> {
    to: &'a mut Vec<u8>,
    endian: Endian,
}

impl Encoder<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.to.extend_from_slice(bytes);
    }

    fn double(&mut self, value: f64) {
        match self.endian {
            Endian::Big => self.bytes(&value.to_be_bytes()),
            Endian::Little => self.bytes(&value.to_le_bytes()),
        }
    }

    fn int(&mut self, value: i32) {
        match self.endian {
            Endian::Big => self.bytes(&value.to_be_bytes()),
            Endian::Little => self.bytes(&value.to_le_bytes()),
        }
    }

    fn ints(&mut self, values: &[i32]) {
        for &value in values {
            self.int(value);
        }
    }

    /// Texts and the pad before them, or behind them in the oldest files.
    fn texts(&mut self, pad: &[u8], texts: &[&[u8]], is_padded: bool) {
        if is_padded {
            self.bytes(pad);
        }
        for text in texts {
            self.bytes(text);
        }
        if !is_padded {
            self.bytes(pad);
        }
    }
}

fn encode_body(body: &Clog1Body, layout: Clog1Layout, out: &mut Encoder<'_>) {
    match body {
        Clog1Body::EndLog | Clog1Body::EndBlock | Clog1Body::Undefined => {}
        Clog1Body::Raw(raw) => {
            out.ints(&[raw.etype, raw.data, raw.srcloc]);
            out.texts(&raw.pad, &[raw.text.field()], layout.is_padded);
        }
        Clog1Body::Msg(msg) => out.ints(&[
            msg.etype,
            msg.tag,
            msg.partner,
            msg.comm,
            msg.size,
            msg.srcloc,
        ]),
        Clog1Body::Coll(coll) => {
            out.ints(&[coll.etype, coll.root, coll.comm, coll.size, coll.srcloc]);
            out.bytes(&coll.pad);
        }
        Clog1Body::Comm(comm) => out.ints(&[comm.etype, comm.parent, comm.comm, comm.srcloc]),
        Clog1Body::EventDef(def) => {
            out.int(def.etype);
            out.texts(&def.pad, &[def.name.field()], true);
        }
        Clog1Body::StateDef(def) => {
            out.ints(&[def.state_id, def.start_etype, def.end_etype]);
            let texts: [&[u8]; 2] = [def.color.field(), def.name.field()];
            out.texts(&def.pad, &texts, layout.is_padded);
        }
        Clog1Body::SrcLoc(place) => {
            out.ints(&[place.srcloc, place.line]);
            out.bytes(place.file.field());
        }
        Clog1Body::Shift(shift) => out.double(*shift),
        Clog1Body::Other { bytes, .. } => {
            out.bytes(bytes);
            let padding = bytes.len().next_multiple_of(8) - bytes.len();
            out.bytes(&[0; 8][..padding]);
        }
    }
}
