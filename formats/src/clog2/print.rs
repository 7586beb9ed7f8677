//! The text of the original `clog2_print`, byte for byte.
//!
//! That tool shows a file as `clog2_join` would merge it: communicator numbers go through the table, times of a local
//! file are shifted to root's clock. So the partner's communicator of a message is lost on intercommunicators of merged
//! files (section 14); [`super::java`] shows it as it is.

use super::Reader;
use super::comm::{CommEntry, CommKind, Gid};
use super::error::Error;
use super::merging::Merging;
use super::preamble::{Preamble, VERSION};
use super::record::{Body, Endian, Msg, Record, comm_etype, msg_etype};
use super::text::until_nul;
use std::fmt;
use std::io::{self, Write};

/// Prints a file as `clog2_print` does.
///
/// A damaged file is printed as far as it can be read before the error is given. A file without a communicator table
/// is printed with the communicator numbers of its records as they are.
pub fn print(reader: &Reader<'_>, out: &mut impl Write) -> Result<(), Error> {
    let mut line = Vec::with_capacity(256);
    preamble(&mut line, reader.preamble()).map_err(|error| Error::io(0, error))?;
    let table = reader.comm_table();
    for entry in table.iter().flat_map(|table| &table.0) {
        comm_entry(&mut line, entry).map_err(|error| Error::io(0, error))?;
    }
    let mut shown = Merging::new(reader.preamble(), table.as_ref().ok());
    for result in reader.raw_records() {
        let (offset, raw) = match result {
            Ok(found) => found,
            Err(error) => {
                out.write_all(&line).map_err(|error| Error::io(0, error))?;
                return Err(error);
            }
        };
        if !matches!(raw.body, Body::EndBlock | Body::EndLog) {
            record(&mut line, &shown.apply(raw))
                .and_then(|()| out.write_all(&line))
                .map_err(|error| Error::io(offset, error))?;
            line.clear();
        }
    }
    out.write_all(&line).map_err(|error| Error::io(0, error))?;
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
        CommKind::Inter => "InterComm ",
        CommKind::Intra => "IntraComm ",
        CommKind::Local => "LocalComm ",
        CommKind::Remote => "RemoteComm",
        CommKind::Unknown => "Unknown(-1)",
    };
    writeln!(out, " LID={} kind={kind}", entry.lid)
}

/// `%d-%f-%s` of the three parts.
fn gid(out: &mut Vec<u8>, gid: &Gid) -> io::Result<()> {
    write!(out, "{}-{}-", gid.random(), Fixed(gid.time()))?;
    out.write_all(gid.processor())
}

fn record(out: &mut Vec<u8>, record: &Record) -> io::Result<()> {
    let header = &record.header;
    let time = Fixed(header.time);
    write!(
        out,
        "ts={time} icomm={} rank={} thd={} type=",
        header.icomm, header.rank, header.thread
    )?;
    match &record.body {
        Body::EndLog => write!(out, "elog ")?,
        Body::EndBlock => write!(out, "eblk ")?,
        Body::StateDef(def) => {
            write!(
                out,
                "sdef state={} s_et={} e_et={}",
                def.state_id, def.start_etype, def.final_etype
            )?;
            description(
                out,
                def.color.as_bytes(),
                def.name.as_bytes(),
                def.format.as_bytes(),
            )?;
        }
        Body::EventDef(def) => {
            write!(out, "edef et={}", def.etype)?;
            description(
                out,
                def.color.as_bytes(),
                def.name.as_bytes(),
                def.format.as_bytes(),
            )?;
        }
        Body::ConstDef(def) => {
            write!(out, "cdef et={} name=", def.etype)?;
            out.write_all(def.name.as_bytes())?;
            write!(out, " value={}", def.value)?;
        }
        Body::Bare { etype } => write!(out, "bare et={etype}")?,
        Body::Cargo { etype, bytes } => {
            write!(out, "cago et={etype} bytes=")?;
            out.write_all(until_nul(bytes))?;
        }
        Body::Msg(Msg {
            etype,
            icomm,
            rank,
            tag,
            size,
        }) => {
            match *etype {
                msg_etype::SEND => write!(out, "msg  et=send ")?,
                msg_etype::RECV => write!(out, "msg  et=recv ")?,
                other => write!(out, "msg  et={other} ")?,
            }
            write!(out, "icomm={icomm} rank={rank} tag={tag} sz={size}")?;
        }
        Body::Coll { etype, root, size } => write!(out, "coll et={etype} root={root} sz={size}")?,
        Body::Comm(comm) => {
            match comm_event_name(comm.etype) {
                Some(name) => write!(out, "comm et={name:16}")?,
                None => write!(out, "comm et={:<16}", comm.etype)?,
            }
            write!(
                out,
                "icomm={} rank={} wrank={} gcomm=",
                comm.icomm, comm.rank, comm.wrank
            )?;
            gid(out, &comm.gid)?;
        }
        Body::SrcLoc { srcloc, line, file } => {
            write!(out, "loc  srcid={srcloc} line={line} file=")?;
            out.write_all(file.as_bytes())?;
        }
        Body::TimeShift { shift } => write!(out, "shft shift={}", Fixed(*shift))?,
    }
    out.write_all(b"\n")
}

fn description(out: &mut Vec<u8>, color: &[u8], name: &[u8], format: &[u8]) -> io::Result<()> {
    for part in [b" color=", color, b" name=", name, b" fmt=", format] {
        out.write_all(part)?;
    }
    Ok(())
}

/// The name of a [`super::CommEvent::etype`], as both original tools print it.
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
pub(crate) struct Fixed(pub(crate) f64);

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.is_sign_negative() { "-" } else { "" };
        if self.0.is_nan() {
            write!(f, "{sign}nan")
        } else {
            write!(f, "{:.6}", self.0)
        }
    }
}
