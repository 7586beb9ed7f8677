//! CLOG2 to CLOG2: the records of the drawables that are kept, in their order, and all records that are no parts of
//! drawables, such as definitions and communicators.

use std::collections::{HashMap, VecDeque};
use std::io::{Seek, Write};

use super::select::{Judge, Selection};
use trace_formats::clog2::{
    CARGO_SIZE, Clog2Body, Clog2Error, Clog2Msg, Clog2Reader, Clog2Record, Clog2RecordHeader,
    Clog2Source, Clog2Writer, Preamble, msg_etype,
};
use trace_model::{Source as _, Topology};

/// A merged CLOG2 file and what of it is kept.
#[derive(Debug)]
pub struct Clog2Filter<'a> {
    source: Clog2Source<'a>,
}

/// What is selected of a CLOG2 file.
#[derive(Debug)]
pub struct SelectedRecords {
    removed: RecordSet,
    /// Drawables that are kept.
    drawables: u64,
}

impl SelectedRecords {
    /// Whether no drawable is kept of those that there are.
    pub fn is_nothing(&self) -> bool {
        self.drawables == 0 && !self.removed.words.is_empty()
    }
}

/// Counts of a filtered CLOG2 file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilteredRecords {
    /// Records written.
    pub kept: u64,
    /// Records left out.
    pub removed: u64,
}

impl<'a> Clog2Filter<'a> {
    /// Opens a file. Files of single ranks, which have no communicators of their own yet, are better joined first.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn new(file: &'a [u8]) -> Result<Self, Clog2Error> {
        Clog2Source::new(file).map(|source| Clog2Filter { source })
    }

    /// The file.
    pub fn reader(&self) -> &Clog2Reader<'a> {
        self.source.reader()
    }

    /// Writes the records that are kept. `writer` was begun with the file's preamble.
    ///
    /// # Errors
    /// The file is damaged, or the output cannot be written.
    pub fn run<W: Write + Seek>(
        &self,
        selected: &SelectedRecords,
        mut writer: Clog2Writer<W>,
    ) -> Result<(W, FilteredRecords), Clog2Error> {
        let mut count = FilteredRecords::default();
        for (number, record) in self.reader().encoded_records().enumerate() {
            let record = record?;
            if selected.removed.contains(number) {
                count.removed += 1;
            } else {
                writer.write_encoded(record)?;
                count.kept += u64::from(record.len() > trace_formats::clog2::HEADER_SIZE);
            }
        }
        // A file that was cut off has none, but its records call for one.
        let table = self.reader().comm_table();
        let table = table.unwrap_or_else(|_| self.reader().comm_table_of_records());
        let out = writer.finish(&table, self.reader().preamble())?;
        Ok((out, count))
    }

    /// Goes over the records, pairs them, and judges the pairs. A state's two records, and those of a message, are kept or removed together; one
    /// without its partner is taken for itself.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn select(&self, selection: &Selection) -> Result<SelectedRecords, Clog2Error> {
        let definitions = self.source.definitions();
        let judge = Judge::new(selection, definitions);
        let mut roles: HashMap<i32, (i32, EventRole)> = HashMap::new();
        for category in &definitions.categories {
            let Some(&(start, end)) = definitions.etypes.get(&category.index) else {
                continue;
            };
            if category.topology == Topology::State {
                roles.insert(start, (category.index, EventRole::Start));
                roles.insert(end, (category.index, EventRole::End));
            } else {
                roles.insert(start, (category.index, EventRole::Solo));
            }
        }
        let mut pairing = RecordPairing {
            numbering: LineNumbering::new(self.reader().preamble()),
            roles,
            judge,
            states: HashMap::new(),
            sends: HashMap::new(),
            receives: HashMap::new(),
            selected: SelectedRecords {
                removed: RecordSet::default(),
                drawables: 0,
            },
        };
        for (number, record) in self.reader().encoded_records().enumerate() {
            let record = Clog2Record::decode(record?, self.reader().preamble().endian)?;
            pairing.take(number, &record);
        }
        Ok(pairing.finish())
    }
}

/// Role of an event: start or end of a state, or an event alone.
#[derive(Clone, Copy, Debug)]
enum EventRole {
    Start,
    End,
    Solo,
}

/// Numbering of lines (`spec/slog2.md` section 7.2).
#[derive(Clone, Copy, Debug)]
struct LineNumbering {
    ranks: i32,
    threads: i32,
}

impl LineNumbering {
    fn new(preamble: &Preamble) -> Self {
        LineNumbering {
            ranks: (preamble.max_comm_world_size as i32).max(1),
            threads: (preamble.max_thread_count as i32).max(1),
        }
    }

    fn process(self, comm: i32, rank: i32) -> i32 {
        comm.wrapping_mul(self.ranks).wrapping_add(rank)
    }

    fn line(self, header: &Clog2RecordHeader) -> i32 {
        self.process(header.icomm, header.rank)
            .wrapping_mul(self.threads)
            .wrapping_add(header.thread)
    }
}

/// A record that waits for its partner.
#[derive(Clone, Copy, Debug)]
struct WaitingRecord {
    number: usize,
    time: f64,
    line: i32,
    info: InfoBytes,
}

/// The bytes of an info, as far as they may be needed.
type InfoBytes = Option<[u8; CARGO_SIZE]>;
/// Tag, sender and receiver.
type MessageRoute = (i32, i32, i32);
type WaitingRecords<K> = HashMap<K, VecDeque<WaitingRecord>>;

/// Index of the category of messages.
const MESSAGE: i32 = 0;
/// Stands for the category of an event that nothing describes.
const UNKNOWN: i32 = i32::MIN;

/// Pairs records as the converter to SLOG2 does: first in, first out.
struct RecordPairing<'s> {
    numbering: LineNumbering,
    roles: HashMap<i32, (i32, EventRole)>,
    judge: Judge<'s>,
    /// By category and line.
    states: WaitingRecords<(i32, i32)>,
    sends: WaitingRecords<MessageRoute>,
    receives: WaitingRecords<MessageRoute>,
    selected: SelectedRecords,
}

impl RecordPairing<'_> {
    fn take(&mut self, number: usize, record: &Clog2Record) {
        let header = &record.header;
        let waiting = |info| WaitingRecord {
            number,
            time: header.time,
            line: self.numbering.line(header),
            info,
        };
        match &record.body {
            Clog2Body::Bare { etype } => self.event(*etype, waiting(None)),
            Clog2Body::Cargo { etype, bytes } => self.event(*etype, waiting(Some(*bytes))),
            Clog2Body::Msg(msg) => {
                let mut info = [0; CARGO_SIZE];
                info[..4].copy_from_slice(&msg.tag.to_be_bytes());
                info[4..8].copy_from_slice(&msg.size.to_be_bytes());
                self.message(header, msg, waiting(Some(info)));
            }
            _ => (),
        }
    }

    fn event(&mut self, etype: i32, this: WaitingRecord) {
        match self.roles.get(&etype).copied() {
            None => self.alone(UNKNOWN, this, this.time),
            Some((category, EventRole::Solo)) => self.alone(category, this, this.time),
            Some((category, EventRole::Start)) => {
                let queue = self.states.entry((category, this.line)).or_default();
                queue.push_back(this);
            }
            Some((category, EventRole::End)) => {
                let queue = self.states.get_mut(&(category, this.line));
                match queue.and_then(VecDeque::pop_front) {
                    None => self.alone(category, this, this.time),
                    Some(start) => self.pair(category, start, this, this.info.or(start.info)),
                }
            }
        }
    }

    fn message(&mut self, header: &Clog2RecordHeader, msg: &Clog2Msg, this: WaitingRecord) {
        let own = self.numbering.process(header.icomm, header.rank);
        let partner = self.numbering.process(msg.icomm, msg.rank);
        let (route, others, same) = match msg.etype {
            msg_etype::SEND => ((msg.tag, own, partner), &mut self.receives, &mut self.sends),
            msg_etype::RECV => ((msg.tag, partner, own), &mut self.sends, &mut self.receives),
            _ => return self.alone(UNKNOWN, this, this.time),
        };
        match others.get_mut(&route).and_then(VecDeque::pop_front) {
            None => same.entry(route).or_default().push_back(this),
            Some(other) => self.pair(MESSAGE, other, this, other.info),
        }
    }

    fn pair(
        &mut self,
        category: i32,
        first: WaitingRecord,
        second: WaitingRecord,
        info: InfoBytes,
    ) {
        let info = info.as_ref().map_or(&[][..], |info| info);
        let lines = [first.line, second.line].into_iter();
        let times = [first.time, second.time].into_iter();
        if self.judge.admits_parts(category, info, lines, times) {
            self.selected.drawables += 1;
        } else {
            self.selected.removed.insert(first.number);
            self.selected.removed.insert(second.number);
        }
    }

    /// A record without a partner, about something that lasts until `end`.
    fn alone(&mut self, category: i32, this: WaitingRecord, end: f64) {
        let info = this.info.as_ref().map_or(&[][..], |info| info);
        let times = [this.time, end].into_iter();
        let lines = std::iter::once(this.line);
        if self.judge.admits_parts(category, info, lines, times) {
            self.selected.drawables += 1;
        } else {
            self.selected.removed.insert(this.number);
        }
    }

    fn finish(mut self) -> SelectedRecords {
        for ((category, _), queue) in std::mem::take(&mut self.states) {
            for start in queue {
                self.alone(category, start, f64::INFINITY);
            }
        }
        let sends = std::mem::take(&mut self.sends);
        let receives = std::mem::take(&mut self.receives);
        for (_, queue) in sends.into_iter().chain(receives) {
            for end in queue {
                self.alone(MESSAGE, end, end.time);
            }
        }
        self.selected
    }
}

/// A set of numbers of records, one bit each.
#[derive(Debug, Default)]
struct RecordSet {
    words: Vec<u64>,
}

impl RecordSet {
    fn insert(&mut self, number: usize) {
        let word = number / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
    }

    fn contains(&self, number: usize) -> bool {
        let word = self.words.get(number / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }
}
