//! The text of the original `clog_print`, byte for byte (`spec/clog1.md` section 8).

use super::Clog1Reader;
use super::error::Clog1Error;
use super::record::{Clog1Body, Clog1Record, comm_etype};
use crate::clog2::print::CFixed;
use std::io::{self, Write};

/// Prints a file as `clog_print` does.
///
/// A damaged file is printed as far as it can be read before the error is given.
pub fn print(reader: &Clog1Reader<'_>, out: &mut impl Write) -> Result<(), Clog1Error> {
    for found in reader.raw_records() {
        let raw = found?;
        record(out, &raw.record).map_err(|error| Clog1Error::new(raw.offset, error.into()))?;
    }
    Ok(())
}

fn record(out: &mut impl Write, record: &Clog1Record) -> io::Result<()> {
    let header = &record.header;
    write!(out, "ts={} type=", CFixed(header.time))?;
    match name(&record.body) {
        Some(name) => write!(out, "{name}")?,
        None => write!(out, "unknown({})", record.body.rectype())?,
    }
    write!(out, " len={}, pid={} ", record.size() / 8, header.rank)?;
    match &record.body {
        Clog1Body::EndLog => write!(out, "end of log")?,
        Clog1Body::EndBlock => write!(out, "end of block")?,
        Clog1Body::Raw(raw) => {
            write!(
                out,
                "id={} data={} srcid={} desc=",
                raw.etype, raw.data, raw.srcloc
            )?;
            out.write_all(raw.text.as_bytes())?;
        }
        Clog1Body::Msg(msg) => write!(
            out,
            "et=unk({}) tg={} prt={} cm={} sz={} loc={}",
            msg.etype, msg.tag, msg.partner, msg.comm, msg.size, msg.srcloc
        )?,
        Clog1Body::Coll(coll) => write!(
            out,
            "et=unk({}) root={} cm={} sz={}",
            coll.etype, coll.root, coll.comm, coll.size
        )?,
        Clog1Body::Comm(comm) => {
            match comm_name(comm.etype) {
                Some(name) => write!(out, "et={name}")?,
                None => write!(out, "et=unknown({})", comm.etype)?,
            }
            write!(
                out,
                " pt={} ncomm={} srcid={}",
                comm.parent, comm.comm, comm.srcloc
            )?;
        }
        Clog1Body::EventDef(def) => {
            write!(out, "id={} desc=", def.etype)?;
            out.write_all(def.name.as_bytes())?;
        }
        Clog1Body::StateDef(def) => {
            write!(
                out,
                "id={} start={} end={} color=",
                def.state_id, def.start_etype, def.end_etype
            )?;
            out.write_all(def.color.as_bytes())?;
            out.write_all(b" desc=")?;
            out.write_all(def.name.as_bytes())?;
        }
        Clog1Body::SrcLoc(place) => {
            write!(out, "srcid={} line={} file=", place.srcloc, place.line)?;
            out.write_all(place.file.as_bytes())?;
        }
        Clog1Body::Shift(shift) => write!(out, "shift={}", CFixed(*shift))?,
        Clog1Body::Undefined | Clog1Body::Other { .. } => write!(out, "unrecognized record type")?,
    }
    out.write_all(b"\n")
}

/// The name of the record type, four characters wide.
fn name(body: &Clog1Body) -> Option<&'static str> {
    Some(match body {
        Clog1Body::EndLog => "elog",
        Clog1Body::EndBlock => "eblk",
        Clog1Body::Undefined => "udef",
        Clog1Body::Raw(_) => "raw ",
        Clog1Body::Msg(_) => "msg ",
        Clog1Body::Coll(_) => "coll",
        Clog1Body::Comm(_) => "comm",
        Clog1Body::EventDef(_) => "edef",
        Clog1Body::StateDef(_) => "sdef",
        Clog1Body::SrcLoc(_) => "loc ",
        Clog1Body::Shift(_) => "shft",
        Clog1Body::Other { .. } => return None,
    })
}

fn comm_name(etype: i32) -> Option<&'static str> {
    Some(match etype {
        comm_etype::INIT => "init",
        comm_etype::DUP => "dup ",
        comm_etype::SPLIT => "splt",
        comm_etype::CART_CREATE => "crtc",
        comm_etype::CREATE => "cmmc",
        comm_etype::FREE => "free",
        _ => return None,
    })
}
