//! The second pass (step 7): from the last frame to the first, records are copied into the frames they begin in or pass
//! through, and the statistics are collected.

use super::super::cursor::Slog1Cursor;
use super::super::error::Slog1Error;
use super::super::key::RecordKey;
use super::super::record::Slog1Record;
use super::super::statistics::StatisticsBuilder;
use super::super::types::FRAME_HEADER_SIZE;
use super::list::{self, EncodedRecords};
use super::{RecordKind, Slog1Writer};
use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek, SeekFrom, Write};

impl<W: Read + Write + Seek> Slog1Writer<W> {
    /// Completes the frames, and gives the bytes of the statistics.
    pub(super) fn second_pass(&mut self) -> Result<Vec<u8>, Slog1Error> {
        let is_whole = |kind: &&RecordKind| kind.key() == RecordKey::whole(kind.key().intvltype);
        let sets = self.kinds.iter().filter(is_whole);
        let mut statistics = StatisticsBuilder::new(
            self.bins,
            sets.map(|kind| (kind.key().intvltype, kind.display.label.0.as_slice())),
        );
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            return Ok(statistics.encode());
        };
        if self.header.by_start {
            return Ok(statistics.encode());
        }
        statistics.span(first.start, last.end);
        let definitions: HashMap<_, _> = self
            .kinds
            .iter()
            .map(|kind| (kind.key(), kind.definition()))
            .collect();
        let mut pending = EncodedRecords::new();
        for nth in (0..self.entries.len()).rev() {
            let [current, incoming, mut passing, mut outgoing] =
                self.sectors(self.entries[nth].offset)?;
            let entry = &mut self.entries[nth];
            if nth == 0 {
                entry.start = entry.start.min(pending.earliest());
            }
            let (offset, start) = (entry.offset, entry.start);
            if !pending.is_empty() {
                distribute(&pending, start, &mut passing, &mut outgoing);
                let sectors = [&current, &incoming, &passing, &outgoing];
                let mut buffer = std::mem::take(&mut self.buffer);
                let used = list::fill(&mut buffer, offset, self.header.frame_size, &sectors)?;
                // Behind its records the frame stays as it is.
                self.put(offset, &buffer[..used])?;
                self.buffer = buffer;
            }
            for list in [&current, &incoming] {
                let mut from = Slog1Cursor::over(list.bytes(), offset, "record");
                while !from.is_empty() {
                    let define = |key| definitions.get(&key).copied();
                    statistics.add(&Slog1Record::decode(&mut from, define)?);
                }
            }
            pending = incoming;
            pending.append(&passing);
        }
        Ok(statistics.encode())
    }

    /// Reads back the sectors of a frame.
    fn sectors(&mut self, offset: u64) -> Result<[EncodedRecords; 4], Slog1Error> {
        let size = self.header.frame_size as usize;
        self.buffer.resize(size, 0);
        let read = self.out.seek(SeekFrom::Start(offset));
        read.and_then(|_| self.out.read_exact(&mut self.buffer))
            .map_err(|error| Slog1Error::io(offset, error))?;
        let mut from = Slog1Cursor::over(&self.buffer, offset, "frame");
        let mut sizes = [(0, 0); 4];
        for sector in &mut sizes {
            *sector = (from.u32()?, from.u32()?);
        }
        debug_assert_eq!(from.offset() - offset, FRAME_HEADER_SIZE as u64);
        let mut lists = [const { EncodedRecords::new() }; 4];
        for (list, (bytes, count)) in lists.iter_mut().zip(sizes) {
            *list = EncodedRecords::of(from.take(bytes as usize)?, count);
        }
        Ok(lists)
    }
}

/// Copies records of later frames into a frame: those that begin in it and those that pass through, unless the same
/// record is there already.
fn distribute(
    pending: &EncodedRecords,
    frame_start: f64,
    passing: &mut EncodedRecords,
    outgoing: &mut EncodedRecords,
) {
    let mut passing_seen: HashSet<Vec<u8>> = passing.iter().map(<[u8]>::to_vec).collect();
    let mut outgoing_seen: HashSet<Vec<u8>> = outgoing.iter().map(<[u8]>::to_vec).collect();
    for record in pending.iter() {
        let (list, seen) = if list::start(record) >= frame_start {
            (&mut *outgoing, &mut outgoing_seen)
        } else {
            (&mut *passing, &mut passing_seen)
        };
        if seen.insert(record.to_vec()) {
            list.copy(record);
        }
    }
}
