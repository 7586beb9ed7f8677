//! The text of the Java `clog2print`: every record as it stands in the file, ENDBLOCK and ENDLOG included.

use super::Clog2Reader;
use super::bytes::Endian;
use super::error::{Clog2Error, Clog2ErrorKind};
use super::preamble::{Preamble, VERSION};
use super::print::comm_event_name;
use super::record::{Clog2Body, Clog2Msg, Clog2Record, Clog2RecordHeader, msg_etype};
use super::text::{FixedText, java_text};
use std::fmt;
use std::io::{self, Write};

/// Prints a file as the Java `clog2print` does.
///
/// Like that tool it refuses little-endian files ([`Clog2ErrorKind::LittleEndian`]). Unlike it, it stops at ENDLOG, so a
/// communicator table larger than a block is not taken for records (`spec/clog2.md` section 14). A damaged file is
/// printed as far as it can be read before the error is given.
pub fn print(reader: &Clog2Reader<'_>, out: &mut impl Write) -> Result<(), Clog2Error> {
    if reader.preamble().endian == Endian::Little {
        return Err(Clog2Error::new(0, Clog2ErrorKind::LittleEndian));
    }
    preamble(out, reader.preamble()).map_err(|error| Clog2Error::io(0, error))?;
    let mut total = 0;
    for result in reader.raw_records() {
        let (offset, found) = result?;
        record(out, &found).map_err(|error| Clog2Error::io(offset, error))?;
        total += found.size() as u64;
    }
    writeln!(out, "Total ByteSize of the logfile = {total}")
        .map_err(|error| Clog2Error::io(0, error))
}

fn preamble(out: &mut impl Write, preamble: &Preamble) -> io::Result<()> {
    writeln!(out, "{VERSION}")?;
    writeln!(out, "is_big_endian={}", preamble.endian == Endian::Big)?;
    writeln!(out, "is_finalzed={}", preamble.is_finalized)?;
    writeln!(out, "block_size={}", preamble.block_size)?;
    writeln!(out, "num_buffered_blocks={}", preamble.num_buffered_blocks)?;
    writeln!(out, "max_comm_world_size={}", preamble.max_comm_world_size)?;
    writeln!(out, "max_thread_count={}", preamble.max_thread_count)?;
    writeln!(out, "known_eventID_start={}", preamble.known_event_id_start)?;
    writeln!(out, "user_eventID_start={}", preamble.user_event_id_start)?;
    writeln!(
        out,
        "known_solo_eventID_start={}",
        preamble.known_solo_event_id_start
    )?;
    writeln!(
        out,
        "user_solo_eventID_start={}",
        preamble.user_solo_event_id_start
    )?;
    writeln!(out, "known_stateID_count={}", preamble.known_state_id_count)?;
    writeln!(out, "user_stateID_count={}", preamble.user_state_id_count)?;
    writeln!(
        out,
        "known_solo_eventID_count={}",
        preamble.known_solo_event_id_count
    )?;
    writeln!(
        out,
        "user_solo_eventID_count={}",
        preamble.user_solo_event_id_count
    )?;
    writeln!(out, "commtable_fptr={}\n", preamble.comm_table_offset)
}

fn record(out: &mut impl Write, record: &Clog2Record) -> io::Result<()> {
    let Clog2RecordHeader {
        time,
        icomm,
        rank,
        thread,
    } = record.header;
    let (time, rectype) = (JavaNumber(time), record.body.rectype());
    writeln!(
        out,
        "RecHeader[ time={time}, icomm={icomm}, rank={rank}, thread={thread}, rectype={rectype} ]"
    )?;
    match &record.body {
        Clog2Body::EndLog => writeln!(out, "End Of File"),
        Clog2Body::EndBlock => writeln!(out, "End Of Block"),
        Clog2Body::StateDef(def) => writeln!(
            out,
            "RecDefState[ stateID={}, startetype={}, finaletype={}, color={}, name={}, format={} ]",
            def.state_id,
            def.start_etype,
            def.final_etype,
            JavaText(&def.color),
            JavaText(&def.name),
            JavaText(&def.format)
        ),
        Clog2Body::EventDef(def) => writeln!(
            out,
            "RecDefEvent[ etype={}, color={}, name={}, format={} ]",
            def.etype,
            JavaText(&def.color),
            JavaText(&def.name),
            JavaText(&def.format)
        ),
        Clog2Body::ConstDef(def) => {
            writeln!(
                out,
                "RecDefConst[ etype={}, value={}, name={} ]",
                def.etype,
                def.value,
                JavaText(&def.name)
            )
        }
        Clog2Body::Bare { etype } => writeln!(out, "RecBare[ etype={etype} ]"),
        Clog2Body::Cargo { etype, bytes } => {
            writeln!(out, "RecCargo[ etype={etype}, bytes={} ]", java_text(bytes))
        }
        Clog2Body::Msg(Clog2Msg {
            etype,
            icomm,
            rank,
            tag,
            size,
        }) => {
            match *etype {
                msg_etype::SEND => write!(out, "RecMsg[ etype=send")?,
                msg_etype::RECV => write!(out, "RecMsg[ etype=recv")?,
                other => write!(out, "RecMsg[ etype={other}")?,
            }
            writeln!(
                out,
                ", icomm={icomm}, rank={rank}, tag={tag}, size={size} ]"
            )
        }
        Clog2Body::Coll { etype, root, size } => {
            // The original takes the size for a communicator, and the padding for the size.
            writeln!(
                out,
                "RecColl[ etype={etype}, root={root}, comm={size}, size=0 ]"
            )
        }
        Clog2Body::Comm(comm) => {
            match comm_event_name(comm.etype) {
                Some(name) => write!(out, "RecComm[ etype={name}")?,
                None => write!(out, "RecComm[ etype={}", comm.etype)?,
            }
            write!(
                out,
                ", icomm={}, rank={}, wrank={}",
                comm.icomm, comm.rank, comm.wrank
            )?;
            let processor = java_text(comm.gid.processor_field());
            writeln!(
                out,
                ", gcomm={}-{}-{processor} ]",
                comm.gid.random(),
                JavaNumber(comm.gid.time())
            )
        }
        Clog2Body::SrcLoc { srcloc, line, file } => {
            writeln!(
                out,
                "RecSrc[ srcloc={srcloc}, lineno={line}, filename={} ]",
                JavaText(file)
            )
        }
        Clog2Body::TimeShift { shift } => {
            writeln!(out, "RecTshift[ timeshift={} ]", JavaNumber(*shift))
        }
    }
}

/// A text field; Java's reader makes an empty one `null`, and of others cuts blanks and control characters at both ends.
struct JavaText<'a, const N: usize>(&'a FixedText<N>);

impl<const N: usize> fmt::Display for JavaText<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_bytes() {
            [] => f.write_str("null"),
            _ => f.write_str(java_text(self.0.as_bytes()).trim_matches(|c| c <= ' ')),
        }
    }
}

/// A number as Java's `Double.toString` prints it: the shortest digits that identify it, at least one behind the point,
/// with an exponent below 1e-3 and from 1e7 on.
struct JavaNumber(f64);

impl fmt::Display for JavaNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        let size = value.abs();
        if value.is_nan() {
            f.write_str("NaN")
        } else if value.is_infinite() {
            f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
        } else if value == 0.0 || (1e-3..1e7).contains(&size) {
            write!(f, "{value:?}")
        } else {
            let text = format!("{value:E}");
            match text.split_once('E') {
                Some((digits, exponent)) if !digits.contains('.') => {
                    write!(f, "{digits}.0E{exponent}")
                }
                _ => f.write_str(&text),
            }
        }
    }
}
