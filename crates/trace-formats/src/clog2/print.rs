//! The text of the original `clog2_print`, byte for byte.
//!
//! That tool shows a file as `clog2_join` would merge it: communicator numbers go through the table, times of a local
//! file are shifted to root's clock. So the partner's communicator of a message is lost on intercommunicators of merged
//! files (`spec/clog2.md` section 14); [`super::java`] shows it as it is.

use super::Clog2Reader;
use super::bytes::Endian;
use super::comm::{Clog2CommKind, CommEntry};
use super::error::Clog2Error;
use super::gid::Gid;
use super::merging::Merging;
use super::preamble::{Preamble, VERSION};
use super::record::{Clog2Body, Clog2Record, comm_etype, msg_etype};
use super::text::until_nul;
use std::fmt;
use std::io::{self, Write};

/// Text that is collected before it goes to the output, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Prints a file as `clog2_print` does. Output goes out in large pieces, so `out` needs no buffer.
///
/// A damaged file is printed as far as it can be read before the error is given. A file without a communicator table
/// is printed with the communicator numbers of its records as they are.
pub fn print(reader: &Clog2Reader<'_>, out: &mut impl Write) -> Result<(), Clog2Error> {
    let mut line = Vec::with_capacity(BUFFER_BYTES + 1024);
    preamble(&mut line, reader.preamble()).map_err(|error| Clog2Error::io(0, error))?;
    let table = reader.comm_table();
    for entry in table.iter().flat_map(|table| &table.0) {
        comm_entry(&mut line, entry).map_err(|error| Clog2Error::io(0, error))?;
    }
    let mut shown = Merging::new(reader.preamble(), table.as_ref().ok());
    for result in reader.raw_records() {
        let (offset, raw) = match result {
            Ok(found) => found,
            Err(error) => {
                out.write_all(&line)
                    .map_err(|error| Clog2Error::io(0, error))?;
                return Err(error);
            }
        };
        if !matches!(raw.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
            record(&mut line, &shown.apply(raw)).map_err(|error| Clog2Error::io(offset, error))?;
            if line.len() >= BUFFER_BYTES {
                out.write_all(&line)
                    .map_err(|error| Clog2Error::io(offset, error))?;
                line.clear();
            }
        }
    }
    out.write_all(&line)
        .map_err(|error| Clog2Error::io(0, error))?;
    table.map(|_| ())
}

fn preamble(out: &mut Vec<u8>, preamble: &Preamble) -> io::Result<()> {
    let flag = |value| if value { "TRUE" } else { "FALSE" };
    writeln!(out, "{VERSION}")?;
    writeln!(
        out,
        "is_big_endian = {}",
        flag(preamble.endian == Endian::Big)
    )?;
    writeln!(out, "is_finalized = {}", flag(preamble.is_finalized))?;
    writeln!(
        out,
        "num_buffered_blocks = {}",
        preamble.num_buffered_blocks
    )?;
    writeln!(out, "block_size = {}", preamble.block_size)?;
    writeln!(
        out,
        "max_comm_world_size = {}",
        preamble.max_comm_world_size
    )?;
    writeln!(out, "max_thread_count = {}", preamble.max_thread_count)?;
    writeln!(
        out,
        "known_eventID_start = {}",
        preamble.known_event_id_start
    )?;
    writeln!(out, "user_eventID_start = {}", preamble.user_event_id_start)?;
    writeln!(
        out,
        "known_solo_eventID_start = {}",
        preamble.known_solo_event_id_start
    )?;
    writeln!(
        out,
        "user_solo_eventID_start = {}",
        preamble.user_solo_event_id_start
    )?;
    writeln!(
        out,
        "known_stateID_count = {}",
        preamble.known_state_id_count
    )?;
    writeln!(out, "user_stateID_count = {}", preamble.user_state_id_count)?;
    writeln!(
        out,
        "known_solo_eventID_count = {}",
        preamble.known_solo_event_id_count
    )?;
    writeln!(
        out,
        "user_solo_eventID_count = {}",
        preamble.user_solo_event_id_count
    )?;
    writeln!(
        out,
        "commIDs_table_file_offset = {}",
        preamble.comm_table_offset
    )
}

fn comm_entry(out: &mut Vec<u8>, entry: &CommEntry) -> io::Result<()> {
    out.write_all(b"GID=")?;
    gid(out, &entry.gid)?;
    let kind = match entry.kind {
        Clog2CommKind::Inter => "InterComm ",
        Clog2CommKind::Intra => "IntraComm ",
        Clog2CommKind::Local => "LocalComm ",
        Clog2CommKind::Remote => "RemoteComm",
        Clog2CommKind::Unknown => "Unknown(-1)",
    };
    writeln!(out, " LID={} kind={kind}", entry.lid)
}

/// `%d-%f-%s` of the three parts.
fn gid(out: &mut Vec<u8>, gid: &Gid) -> io::Result<()> {
    write!(out, "{}-{}-", gid.random(), CFixed(gid.time()))?;
    out.write_all(gid.processor())
}

fn record(out: &mut Vec<u8>, record: &Clog2Record) -> io::Result<()> {
    let header = &record.header;
    out.extend_from_slice(b"ts=");
    fixed(out, header.time);
    ints(
        out,
        &[
            (" icomm=", header.icomm),
            (" rank=", header.rank),
            (" thd=", header.thread),
        ],
    );
    out.extend_from_slice(b" type=");
    match &record.body {
        Clog2Body::EndLog => out.extend_from_slice(b"elog "),
        Clog2Body::EndBlock => out.extend_from_slice(b"eblk "),
        Clog2Body::StateDef(def) => {
            ints(
                out,
                &[
                    ("sdef state=", def.state_id),
                    (" s_et=", def.start_etype),
                    (" e_et=", def.final_etype),
                ],
            );
            let (color, name) = (def.color.as_bytes(), def.name.as_bytes());
            description(out, color, name, def.format.as_bytes());
        }
        Clog2Body::EventDef(def) => {
            ints(out, &[("edef et=", def.etype)]);
            let (color, name) = (def.color.as_bytes(), def.name.as_bytes());
            description(out, color, name, def.format.as_bytes());
        }
        Clog2Body::ConstDef(def) => {
            ints(out, &[("cdef et=", def.etype)]);
            out.extend_from_slice(b" name=");
            out.extend_from_slice(def.name.as_bytes());
            ints(out, &[(" value=", def.value)]);
        }
        Clog2Body::Bare { etype } => ints(out, &[("bare et=", *etype)]),
        Clog2Body::Cargo { etype, bytes } => {
            ints(out, &[("cago et=", *etype)]);
            out.extend_from_slice(b" bytes=");
            out.extend_from_slice(until_nul(bytes));
        }
        Clog2Body::Msg(msg) => {
            match msg.etype {
                msg_etype::SEND => out.extend_from_slice(b"msg  et=send "),
                msg_etype::RECV => out.extend_from_slice(b"msg  et=recv "),
                other => write!(out, "msg  et={other} ")?,
            }
            ints(
                out,
                &[
                    ("icomm=", msg.icomm),
                    (" rank=", msg.rank),
                    (" tag=", msg.tag),
                    (" sz=", msg.size),
                ],
            );
        }
        Clog2Body::Coll { etype, root, size } => ints(
            out,
            &[("coll et=", *etype), (" root=", *root), (" sz=", *size)],
        ),
        Clog2Body::Comm(comm) => {
            match comm_event_name(comm.etype) {
                Some(name) => write!(out, "comm et={name:16}")?,
                None => write!(out, "comm et={:<16}", comm.etype)?,
            }
            ints(
                out,
                &[
                    ("icomm=", comm.icomm),
                    (" rank=", comm.rank),
                    (" wrank=", comm.wrank),
                ],
            );
            out.extend_from_slice(b" gcomm=");
            gid(out, &comm.gid)?;
        }
        Clog2Body::SrcLoc { srcloc, line, file } => {
            ints(out, &[("loc  srcid=", *srcloc), (" line=", *line)]);
            out.extend_from_slice(b" file=");
            out.extend_from_slice(file.as_bytes());
        }
        Clog2Body::TimeShift { shift } => {
            out.extend_from_slice(b"shft shift=");
            fixed(out, *shift);
        }
    }
    out.push(b'\n');
    Ok(())
}

fn description(out: &mut Vec<u8>, color: &[u8], name: &[u8], format: &[u8]) {
    for part in [b" color=", color, b" name=", name, b" fmt=", format] {
        out.extend_from_slice(part);
    }
}

/// Numbers, each behind its title.
#[inline]
fn ints(out: &mut Vec<u8>, fields: &[(&str, i32)]) {
    let mut buffer = itoa::Buffer::new();
    for (title, value) in fields {
        out.extend_from_slice(title.as_bytes());
        out.extend_from_slice(buffer.format(*value).as_bytes());
    }
}

/// A number as C's `%f` prints it: [`CFixed`], faster.
#[inline]
fn fixed(out: &mut Vec<u8>, value: f64) {
    /// Up to here the product is exact to a thousandth.
    const MAX_EXACT_MILLIONTHS: f64 = 1e12;
    let millionths = value * 1e6;
    let whole = millionths.floor();
    let rest = millionths - whole;
    // If rounding is close, or the sign matters, the exact way decides.
    if !(0.0..MAX_EXACT_MILLIONTHS).contains(&millionths)
        || (rest - 0.5).abs() < 0.01
        || value.is_sign_negative()
    {
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{}", CFixed(value));
        return;
    }
    let millionths = whole as u64 + u64::from(rest > 0.5);
    out.extend_from_slice(
        itoa::Buffer::new()
            .format(millionths / 1_000_000)
            .as_bytes(),
    );
    let mut digits = *b".000000";
    let mut left = millionths % 1_000_000;
    for digit in digits[1..].iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.extend_from_slice(&digits);
}

/// The name of a [`super::Clog2CommEvent::etype`], as both original tools print it.
pub(super) fn comm_event_name(etype: i32) -> Option<&'static str> {
    match etype {
        comm_etype::WORLD_CREATE => Some("CommWorldCreate"),
        comm_etype::SELF_CREATE => Some("CommSelfCreate"),
        comm_etype::FREE => Some("CommFree"),
        comm_etype::INTRA_CREATE => Some("IntraCommCreate"),
        comm_etype::INTRA_LOCAL => Some("LocalIntraComm"),
        comm_etype::INTRA_REMOTE => Some("RemoteIntraComm"),
        comm_etype::INTER_CREATE => Some("InterCommCreate"),
        _ => None,
    }
}

/// A number as C's `%f` prints it.
pub(crate) struct CFixed(pub(crate) f64);

impl fmt::Display for CFixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.is_sign_negative() { "-" } else { "" };
        if self.0.is_nan() {
            write!(f, "{sign}nan")
        } else {
            write!(f, "{:.6}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quick(value: f64) -> String {
        let mut out = Vec::new();
        fixed(&mut out, value);
        String::from_utf8(out).expect("digits")
    }

    #[test]
    fn borderline_numbers_are_rounded_as_by_c() {
        for (value, text) in [
            (0.0, "0.000000"),
            (-0.0, "-0.000000"),
            (1e8, "100000000.000000"),
            (0.000_000_5, "0.000000"),
            (0.000_001_5, "0.000002"),
            (2.000_000_5, "2.000001"),
            (0.999_999_9, "1.000000"),
            (-1.25, "-1.250000"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(quick(value), text);
            assert_eq!(CFixed(value).to_string(), text);
        }
    }

    proptest! {
        #[test]
        fn both_ways_give_the_same(value in prop_oneof![any::<f64>(), 0.0..1e3, 0.0..1e9, 0.0..1e-3]) {
            prop_assert_eq!(quick(value), CFixed(value).to_string());
        }

        #[test]
        fn both_ways_give_the_same_near_halves(millionths in 0u64..1 << 40, off in -3i64..4) {
            let half = (millionths as f64 + 0.5) / 1e6;
            let value = f64::from_bits((half.to_bits() as i64 + off) as u64);
            prop_assert_eq!(quick(value), CFixed(value).to_string());
        }
    }
}
