//! Several files as one, as `clog2_join` puts them together (`spec/clog2.md` section 14): the local files of a crashed
//! run, or the merged ones of several MPI_COMM_WORLDs.

use std::collections::{HashMap, VecDeque};
use std::io::{Seek, Write};

use super::comm::{Clog2CommKind, CommTable};
use super::error::Clog2Error;
use super::gid::Gid;
use super::merging::Merging;
use super::preamble::Preamble;
use super::read::{Clog2Reader, RawClog2Records};
use super::record::{Clog2Body, Clog2Record};
use super::write::{Clog2Layout, Clog2Writer};

/// Result of joining CLOG2 files.
#[derive(Debug, Default)]
pub struct Joined {
    /// Number of records.
    pub records: u64,
    /// The inputs whose records ended too early, by their index, and why. What came before is in.
    pub cut_off: Vec<(usize, Clog2Error)>,
    /// The inputs without a usable communicator table; their COMM records stood in for it.
    pub without_table: Vec<usize>,
}

/// The preamble of the joined file: that of the first input with records, with the largest world, thread count and block
/// of all that have any.
pub fn joined_preamble(inputs: &[Clog2Reader<'_>]) -> Preamble {
    let has_records =
        |reader: &&Clog2Reader<'_>| reader.records().next().is_some_and(|r| r.is_ok());
    let mut with_records = inputs.iter().filter(has_records);
    let first = with_records.next().or(inputs.first());
    let mut preamble = first.map_or_else(Preamble::default, |reader| reader.preamble().clone());
    for other in with_records.map(|reader| reader.preamble()) {
        preamble.max_comm_world_size = preamble.max_comm_world_size.max(other.max_comm_world_size);
        preamble.max_thread_count = preamble.max_thread_count.max(other.max_thread_count);
        preamble.block_size = preamble.block_size.max(other.block_size);
    }
    preamble
}

/// Writes the records of all inputs in order of time to `writer`, which was started with [`joined_preamble`]. On equal
/// times the input goes on that is being read.
///
/// # Errors
/// Of the output only. Damaged inputs are taken as far as they go.
pub fn join<W: Write + Seek>(
    inputs: &[Clog2Reader<'_>],
    writer: Clog2Writer<W>,
) -> Result<(W, Joined), Clog2Error> {
    let preamble = joined_preamble(inputs);
    let mut writer = writer.with_layout(Clog2Layout::Joined, &preamble);
    let mut joined = Joined::default();
    let mut table = CommTable::default();
    let mut numbers = HashMap::new();
    let mut streams: Vec<InputStream<'_>> = Vec::with_capacity(inputs.len());
    for (index, reader) in inputs.iter().enumerate() {
        let own = reader.comm_table().unwrap_or_else(|_| {
            joined.without_table.push(index);
            reader.comm_table_of_records()
        });
        let lids = own.0.iter().map(|entry| {
            let is_inter = entry.kind == Clog2CommKind::Inter;
            (number(&mut table, &mut numbers, entry.gid), is_inter)
        });
        let merging = Merging::with_lids(reader.preamble(), lids);
        streams.push(InputStream::new(reader, merging));
    }
    // The streams that have records left, by the time of their next.
    let mut order: Vec<usize> = (0..streams.len())
        .filter(|&i| streams[i].next.is_some())
        .collect();
    order.sort_by(|&a, &b| streams[a].time().total_cmp(&streams[b].time()));
    let mut order = VecDeque::from(order);
    while let Some(current) = order.pop_front() {
        let limit = order
            .front()
            .map_or(f64::INFINITY, |&next| streams[next].time());
        let stream = &mut streams[current];
        while let Some((record, pad)) = stream.next {
            if record.header.time > limit {
                break;
            }
            writer.write_padded(&record, pad)?;
            joined.records += 1;
            stream.advance();
        }
        if streams[current].next.is_some() {
            let time = streams[current].time();
            let place = order.partition_point(|&other| streams[other].time() <= time);
            order.insert(place, current);
        }
    }
    for (index, stream) in streams.into_iter().enumerate() {
        joined
            .cut_off
            .extend(stream.error.map(|error| (index, error)));
    }
    let out = writer.finish(&table, &preamble)?;
    Ok((out, joined))
}

/// The number of a communicator in the joined file.
fn number(table: &mut CommTable, numbers: &mut HashMap<Gid, i32>, gid: Gid) -> i32 {
    let entry = numbers.entry(gid);
    *entry.or_insert_with(|| table.push_new(gid, Clog2CommKind::Unknown))
}

/// The records of one input as they go into the joined file.
struct InputStream<'a> {
    bytes: &'a [u8],
    records: RawClog2Records<'a>,
    merging: Merging,
    next: Option<(Clog2Record, [u8; 4])>,
    error: Option<Clog2Error>,
}

impl<'a> InputStream<'a> {
    fn new(reader: &Clog2Reader<'a>, merging: Merging) -> Self {
        let mut stream = InputStream {
            bytes: reader.bytes(),
            records: reader.raw_records(),
            merging,
            next: None,
            error: None,
        };
        stream.advance();
        stream
    }

    fn time(&self) -> f64 {
        self.next
            .map_or(f64::INFINITY, |(record, _)| record.header.time)
    }

    fn advance(&mut self) {
        self.next = None;
        loop {
            match self.records.next() {
                None => return,
                Some(Err(error)) => {
                    self.error = Some(error);
                    return;
                }
                Some(Ok((offset, record))) => {
                    let record = self.merging.apply(record);
                    if matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
                        continue;
                    }
                    let bytes = self.bytes.get(offset as usize..).unwrap_or_default();
                    self.next = Some((record, record.pad(bytes)));
                    return;
                }
            }
        }
    }
}
