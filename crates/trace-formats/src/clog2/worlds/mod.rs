//! The logs of several MPI_COMM_WORLDs that had to do with each other, as one: of programs that start others with
//! MPI_Comm_spawn, or meet them with MPI_Comm_connect and MPI_Comm_join.
//!
//! Each log comes from the recorder, which says in it when the run was ([`RunOrigin`]). So all get one clock and one numbering of
//! processes, those of the first log first. A communicator of processes of two worlds stands in both logs; where both are
//! found to be the same one ([`crossing`]), the two ends of each message on it meet.

mod crossing;
mod marks;

pub use marks::{
    RunOrigin, across_border, crossing_gid, late_messages, late_messages_name, remote_of,
    unmatched_endpoints, unmatched_endpoints_name,
};

use super::comm::{CommEntry, CommTable};
use super::error::Clog2Error;
use super::preamble::Preamble;
use super::read::{Clog2Reader, Clog2Records};
use super::record::{Clog2Body, Clog2EventDef, Clog2Record, Clog2StateDef, comm_etype};
use crossing::LogScan;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Why logs cannot be put together as those of several worlds. The number is the place in the list.
#[derive(Debug)]
pub enum WorldsError {
    /// The log does not say when it was made.
    NoOrigin(usize),
    /// The second log is of the same run as the first.
    SameRun(usize, usize),
    /// There are more lines than numbers for them.
    TooManyLines,
}

impl fmt::Display for WorldsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldsError::NoOrigin(_) => f.write_str(
                "does not tell when it was made, as logs of libtrace do: its clock cannot be compared",
            ),
            WorldsError::SameRun(..) => f.write_str("is of the same run as another one"),
            WorldsError::TooManyLines => {
                f.write_str("communicators, ranks and threads are more than there are numbers for lines")
            }
        }
    }
}

impl std::error::Error for WorldsError {}

/// Result of putting the logs of worlds together.
#[derive(Debug, Default)]
pub struct JoinedLogs {
    /// Number of records.
    pub records: u64,
    /// Communicators between two of the worlds that were recognised in both.
    pub recognised: usize,
    /// Communicators that reach beyond a world and were not recognised in another one.
    pub unknown: usize,
    /// Whether clocks of different machines had to be compared by the time of day.
    pub by_time_of_day: bool,
    /// The inputs whose records ended too early, by their index, and why. What came before is in.
    pub cut_off: Vec<(usize, Clog2Error)>,
}

/// Several logs that are ready to be put together.
pub struct Worlds<'a> {
    logs: Vec<WorldLog<'a>>,
    preamble: Preamble,
    table: CommTable,
    together: JoinedLogs,
}

/// One of the logs that are put together, and how its records are changed.
struct WorldLog<'a> {
    reader: &'a Clog2Reader<'a>,
    /// Seconds to add to its times.
    shift: f64,
    /// Number of its first rank.
    first_rank: i32,
    lids: HashMap<i32, i32>,
    /// Numbers of events that another log uses for something else.
    etypes: HashMap<i32, i32>,
}

impl<'a> Worlds<'a> {
    /// Looks through all logs.
    ///
    /// # Errors
    /// If one of them is not of the recorder, or of the same run as another.
    pub fn new(readers: &'a [Clog2Reader<'a>]) -> Result<Worlds<'a>, WorldsError> {
        let mut scans: Vec<LogScan> = Vec::new();
        for (i, reader) in readers.iter().enumerate() {
            let scan = LogScan::new(i, reader);
            if scan.origin == RunOrigin::default() {
                return Err(WorldsError::NoOrigin(i));
            }
            let twice =
                |other: &LogScan| scan.origin.run != 0 && other.origin.run == scan.origin.run;
            if let Some(first) = scans.iter().position(twice) {
                return Err(WorldsError::SameRun(first, i));
            }
            scans.push(scan);
        }
        let one_clock = scans
            .windows(2)
            .all(|w| w[0].origin.boot == w[1].origin.boot);
        let zero = |scan: &LogScan| match one_clock {
            true => scan.origin.zero,
            false => scan.origin.since_epoch,
        };
        let first = scans.iter().map(zero).min().unwrap_or(0);
        let shifts: Vec<f64> = scans
            .iter()
            .map(|scan| zero(scan).saturating_sub(first) as f64 / 1e9)
            .collect();
        let pairs = crossing::pairs(&scans, &shifts);
        let mut together = JoinedLogs {
            recognised: pairs.len(),
            by_time_of_day: !one_clock,
            ..JoinedLogs::default()
        };
        let crossings: usize = scans.iter().map(|scan| scan.crossings.len()).sum();
        together.unknown = crossings - 2 * pairs.len();
        let (table, lids) = numbers(readers, &scans, &pairs);
        let mut preamble = readers
            .first()
            .map_or_else(Preamble::default, |reader| reader.preamble().clone());
        let ranks: i32 = scans.iter().map(|scan| scan.ranks).sum();
        preamble.max_comm_world_size = ranks.max(1) as u32;
        for other in readers.iter().map(|reader| reader.preamble()) {
            let world = &mut preamble.max_comm_world_size;
            *world = (*world).max(other.max_comm_world_size);
            preamble.max_thread_count = preamble.max_thread_count.max(other.max_thread_count);
            preamble.block_size = preamble.block_size.max(other.block_size);
        }
        let lines = u64::from(preamble.max_comm_world_size)
            * u64::from(preamble.max_thread_count)
            * table.0.len() as u64;
        if i32::try_from(lines).is_err() {
            return Err(WorldsError::TooManyLines);
        }
        let mut logs = Vec::new();
        let mut first_rank = 0;
        let mut etypes = EtypeMeanings::default();
        let all = readers.iter().zip(&mut scans).zip(lids).zip(shifts);
        for (i, (((reader, scan), lids), shift)) in all.enumerate() {
            together
                .cut_off
                .extend(scan.cut_off.take().map(|error| (i, error)));
            logs.push(WorldLog {
                reader,
                shift,
                first_rank,
                lids,
                etypes: etypes.of(reader),
            });
            first_rank += scan.ranks;
        }
        Ok(Worlds {
            logs,
            preamble,
            table,
            together,
        })
    }

    /// Preamble of the file.
    pub fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// Communicator table of the file.
    pub fn table(&self) -> &CommTable {
        &self.table
    }

    /// The first rank of each log, as ranks are numbered in the file.
    pub fn first_ranks(&self) -> Vec<i32> {
        self.logs.iter().map(|log| log.first_rank).collect()
    }

    /// Gives all records in order of time to `sink`.
    ///
    /// # Errors
    /// The first error of `sink`; it gets nothing more then.
    pub fn run<E>(
        mut self,
        mut sink: impl FnMut(&Clog2Record) -> Result<(), E>,
    ) -> Result<JoinedLogs, E> {
        let mut described = WrittenDefinitions::default();
        let mut streams: Vec<WorldStream<'_>> = self.logs.iter().map(WorldStream::new).collect();
        loop {
            // As many as there are worlds: a few.
            let first = streams
                .iter()
                .enumerate()
                .filter_map(|(i, stream)| Some((i, stream.next?.header.time)))
                .min_by(|(_, a), (_, b)| a.total_cmp(b));
            let Some((i, _)) = first else { break };
            let stream = &mut streams[i];
            let Some(record) = stream.next else { break };
            stream.advance();
            if described.is_new(&record) {
                sink(&record)?;
                self.together.records += 1;
            }
        }
        Ok(self.together)
    }
}

/// Definitions that were written already; each log brings its own.
#[derive(Default)]
struct WrittenDefinitions {
    states: HashSet<i32>,
    events: HashSet<i32>,
    constants: HashSet<Vec<u8>>,
}

impl WrittenDefinitions {
    /// Whether a record is to be given. Where a log comes from is said of no other.
    fn is_new(&mut self, record: &Clog2Record) -> bool {
        match &record.body {
            Clog2Body::StateDef(state) => self.states.insert(state.start_etype),
            Clog2Body::EventDef(event) => self.events.insert(event.etype),
            Clog2Body::ConstDef(constant) => {
                !RunOrigin::is_part(constant)
                    && self.constants.insert(constant.name.as_bytes().to_vec())
            }
            // Whose lines they are is known now.
            Clog2Body::Comm(made) => made.etype != comm_etype::INTRA_REMOTE,
            _ => true,
        }
    }
}

/// Makes one communicator table for all logs, and for each log the numbers of its communicators in it.
fn numbers(
    readers: &[Clog2Reader<'_>],
    scans: &[LogScan],
    pairs: &[(crossing::Crossing, crossing::Crossing)],
) -> (CommTable, Vec<HashMap<i32, i32>>) {
    let tables: Vec<CommTable> = readers
        .iter()
        .map(|reader| {
            reader
                .comm_table()
                .unwrap_or_else(|_| reader.comm_table_of_records())
        })
        .collect();
    let lid = |world: usize, gid: &super::Gid| {
        let entry = tables.get(world)?.0.iter().find(|entry| entry.gid == *gid);
        entry.map(|entry| entry.lid)
    };
    // By log and LID the global id of what it is the same as.
    let mut same: HashMap<(usize, i32), super::Gid> = HashMap::new();
    for pair in pairs {
        for [(world, kept), other] in crossing::same(pair, scans, lid) {
            let gid = tables.get(world).and_then(|table| table.get(kept));
            same.extend(gid.map(|entry| (other, entry.gid)));
        }
    }
    let mut table = CommTable::default();
    let mut first = HashMap::new();
    let mut lids: Vec<HashMap<i32, i32>> = vec![HashMap::new(); tables.len()];
    for (world, own) in tables.iter().enumerate() {
        for entry in &own.0 {
            let gid = same.get(&(world, entry.lid)).copied();
            let gid = gid.unwrap_or(entry.gid);
            let index = i32::try_from(table.0.len()).unwrap_or(i32::MAX);
            let lid = *first.entry(gid).or_insert(index);
            let kind = entry.kind;
            table.0.push(CommEntry { gid, lid, kind });
            lids[world].insert(entry.lid, lid);
        }
    }
    (table, lids)
}

/// Meaning of event numbers in the logs so far.
#[derive(Default)]
struct EtypeMeanings {
    names: HashMap<i32, Vec<u8>>,
}

impl EtypeMeanings {
    /// The numbers that the events of a log get which another one uses for something else.
    fn of(&mut self, reader: &Clog2Reader<'_>) -> HashMap<i32, i32> {
        let mut changed = HashMap::new();
        for record in reader.records().map_while(Result::ok) {
            match record.body {
                Clog2Body::StateDef(Clog2StateDef {
                    start_etype,
                    final_etype,
                    name,
                    ..
                }) => {
                    for (etype, end) in [(start_etype, 0), (final_etype, 1)] {
                        let mut name = name.as_bytes().to_vec();
                        name.push(end);
                        self.number(etype, name, &mut changed);
                    }
                }
                Clog2Body::EventDef(Clog2EventDef { etype, name, .. }) => {
                    self.number(etype, name.as_bytes().to_vec(), &mut changed);
                }
                _ => {}
            }
        }
        changed
    }

    fn number(&mut self, etype: i32, name: Vec<u8>, changed: &mut HashMap<i32, i32>) {
        match self.names.get(&etype) {
            None => {
                self.names.insert(etype, name);
            }
            Some(known) if *known == name => {}
            Some(_) => {
                let free = self.names.keys().max().map_or(0, |&n| n.saturating_add(1));
                self.names.insert(free, name);
                changed.insert(etype, free);
            }
        }
    }
}

/// The records of one log as they go into the file.
struct WorldStream<'a> {
    log: &'a WorldLog<'a>,
    records: Clog2Records<'a>,
    next: Option<Clog2Record>,
}

impl<'a> WorldStream<'a> {
    fn new(log: &'a WorldLog<'a>) -> WorldStream<'a> {
        let mut stream = WorldStream {
            log,
            records: log.reader.records(),
            next: None,
        };
        stream.advance();
        stream
    }

    fn advance(&mut self) {
        self.next = loop {
            match self.records.next() {
                Some(Ok(record))
                    if matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) => {}
                Some(Ok(record)) => break Some(self.log.changed(record)),
                _ => break None,
            }
        };
    }
}

impl WorldLog<'_> {
    fn lid(&self, lid: i32) -> i32 {
        self.lids.get(&lid).copied().unwrap_or(lid)
    }

    fn etype(&self, etype: i32) -> i32 {
        self.etypes.get(&etype).copied().unwrap_or(etype)
    }

    fn changed(&self, mut record: Clog2Record) -> Clog2Record {
        record.header.time += self.shift;
        record.header.icomm = self.lid(record.header.icomm);
        match &mut record.body {
            Clog2Body::Bare { etype } | Clog2Body::Cargo { etype, .. } => {
                *etype = self.etype(*etype)
            }
            Clog2Body::StateDef(state) => {
                state.start_etype = self.etype(state.start_etype);
                state.final_etype = self.etype(state.final_etype);
            }
            Clog2Body::EventDef(event) => event.etype = self.etype(event.etype),
            Clog2Body::Msg(message) => message.icomm = self.lid(message.icomm),
            Clog2Body::Comm(made) => {
                made.icomm = self.lid(made.icomm);
                if made.wrank >= 0 {
                    made.wrank = made.wrank.saturating_add(self.first_rank);
                }
            }
            _ => {}
        }
        record
    }
}
