//! Completes a file that a crash cut off, as `clog2_repair` was meant to (`spec/clog2.md` section 14), and one that is
//! damaged: every sound record stays, an ENDLOG ends them, the communicator table follows from the COMM records.

use std::io::{Seek, Write};

use super::error::{Clog2Error, Clog2ErrorKind};
use super::read::{Clog2Reader, RawClog2Records};
use super::record::{Clog2Body, Clog2Record, Clog2RecordHeader, ENDLOG_TIME, HEADER_SIZE};
use super::write::{Clog2Layout, Clog2Writer};

/// Report of a repair.
#[derive(Debug, Default)]
pub struct Repair {
    /// Records kept.
    pub records: u64,
    /// Whether the log had no end mark: what its process held in memory is not in it.
    pub had_no_end: bool,
    /// Whether the communicator table had to be made.
    pub had_no_table: bool,
    /// Positions at which sound records stopped before the end of their block, with the reason; at most [`Repair::KEPT`] of
    /// them.
    pub damage: Vec<Clog2Error>,
    /// Number of such places.
    pub damages: u64,
    /// Bytes that were passed over there.
    pub bytes_lost: u64,
    /// Records left out because the end mark needed their room.
    pub records_lost: u64,
}

impl Repair {
    /// Number of places of damage that are named.
    pub const KEPT: usize = 100;

    /// Whether nothing was wrong with the file.
    pub fn was_sound(&self) -> bool {
        !self.had_no_end && !self.had_no_table && self.damages == 0
    }
}

/// Writes what is sound in a file to `writer`, which was started with its preamble, and completes it. Block for block it
/// stays as it was.
///
/// # Errors
/// [`Clog2ErrorKind::NoEndLog`] if there is no record at all, else of the output only.
pub fn repair<W: Write + Seek>(
    reader: &Clog2Reader<'_>,
    writer: Clog2Writer<W>,
) -> Result<(W, Repair), Clog2Error> {
    let preamble = reader.preamble();
    let mut writer = writer.with_layout(Clog2Layout::AsGiven, preamble);
    let mut repair = Repair::default();
    let mut blocks = reader.blocks().peekable();
    while let Some(block) = blocks.next() {
        let is_last = blocks.peek().is_none();
        let found = look(block.clone(), &mut repair);
        let end = found.end(is_last, &mut repair);
        let mut keep = found.records;
        // A record is larger than the end mark, so one makes room enough.
        if keep > 0 && found.size + HEADER_SIZE > preamble.block_size as usize {
            keep -= 1;
            repair.records_lost += 1;
        }
        let behind = block.block_end();
        for (offset, record) in block.take(keep).flatten() {
            let bytes = reader.bytes().get(offset as usize..).unwrap_or_default();
            writer.write_padded(&record, record.pad(bytes))?;
            repair.records += 1;
        }
        // Bytes after a sound end mark stay, too: a sound file comes out as it was.
        let behind = match found.end_at {
            Some(at) => reader.bytes().get(at + HEADER_SIZE..behind),
            None => None,
        };
        writer.write_end(&end, behind.unwrap_or_default())?;
        if end.body == Clog2Body::EndLog {
            break;
        }
    }
    if repair.records == 0 {
        let at = super::PREAMBLE_SIZE as u64;
        return Err(Clog2Error::new(at, Clog2ErrorKind::NoEndLog));
    }
    let table = reader.comm_table().unwrap_or_else(|_| {
        repair.had_no_table = true;
        reader.comm_table_of_records()
    });
    let out = writer.finish(&table, preamble)?;
    Ok((out, repair))
}

/// Sound records of a block.
struct SoundRecords {
    /// Number of records but for the end mark.
    records: usize,
    /// Size of the records found, bytes.
    size: usize,
    last: Clog2RecordHeader,
    end: Option<Clog2Record>,
    end_at: Option<usize>,
}

fn look(mut block: RawClog2Records<'_>, repair: &mut Repair) -> SoundRecords {
    let mut found = SoundRecords {
        records: 0,
        size: 0,
        last: Clog2RecordHeader::default(),
        end: None,
        end_at: None,
    };
    for result in &mut block {
        match result {
            Ok((offset, record)) => {
                if matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
                    found.end = Some(record);
                    found.end_at = Some(offset as usize);
                } else {
                    found.records += 1;
                    found.size += record.size();
                    found.last = record.header;
                }
            }
            Err(error) => {
                repair.damages += 1;
                let end = block.block_end() as u64;
                repair.bytes_lost += end.saturating_sub(error.offset);
                if repair.damage.len() < Repair::KEPT {
                    repair.damage.push(error);
                }
                break;
            }
        }
    }
    found
}

impl SoundRecords {
    /// The record that closes the block.
    fn end(&self, is_last: bool, repair: &mut Repair) -> Clog2Record {
        if let Some(end) = self.end
            && (end.body == Clog2Body::EndLog || !is_last)
        {
            return end;
        }
        let mut header = self.end.map_or(self.last, |end| end.header);
        if !is_last {
            let body = Clog2Body::EndBlock;
            return Clog2Record { header, body };
        }
        repair.had_no_end = true;
        header.time = ENDLOG_TIME;
        let body = Clog2Body::EndLog;
        Clog2Record { header, body }
    }
}
