//! An SLOG-1 file as a source of drawables.

use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::{Bebits, RecordKey};
use super::labels;
use super::read::{Sector, SectorRecords, Slog1Frame, Slog1Reader};
use super::record::{Slog1Record, TaskId, is_arrow};
use super::types::Display;
use crate::mpe1::look;
use std::collections::{BTreeSet, HashMap};
use trace_model::{
    Category, Color, Definitions, Drawable, DrawableOrder, Line, Losses, Stop, Text, Topology,
    Vertex,
};

/// An SLOG-1 file that can be read as drawables: each interval once, however many frames repeat it.
///
/// A category is what the profile has an entry for; its index is the type, and of a first, middle or last piece of an
/// interval 65536, 131072 or 196608 more. Arrows go from the send to the receive, also those of messages that were
/// received first, whose labels say "backward". Lines are the threads of the table by their place in it.
#[derive(Debug)]
pub struct Slog1Source<'a> {
    reader: Slog1Reader<'a>,
    definitions: Definitions,
    /// Category with which records are drawn, by their key.
    kinds: HashMap<RecordKey, RecordCategory>,
    /// Line of a node and thread.
    lines: HashMap<(u16, u32), i32>,
    order: DrawableOrder,
    /// Frames before the damage.
    whole_frames: u64,
    losses: Losses,
}

#[derive(Clone, Copy, Debug)]
struct RecordCategory {
    category: i32,
    topology: Topology,
    is_backward: bool,
    /// Arguments that have a name.
    arguments: usize,
}

impl<'a> Slog1Source<'a> {
    /// Reads the whole file once for what it defines.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn new(file: &'a [u8]) -> Result<Self, Slog1Error> {
        let (source, damage) = Slog1Source::salvaged(Slog1Reader::new(file)?);
        damage.map_or(Ok(source), Err)
    }

    /// Source of a file that may be damaged: gives what stands before the damage, and the damage.
    pub fn salvaged(reader: Slog1Reader<'a>) -> (Self, Option<Slog1Error>) {
        let mut source = Slog1Source {
            reader,
            definitions: Definitions::default(),
            kinds: HashMap::new(),
            lines: HashMap::new(),
            order: DrawableOrder::Any,
            whole_frames: 0,
            losses: Losses::default(),
        };
        let damage = source.survey().err();
        (source, damage)
    }

    /// The file.
    pub fn reader(&self) -> &Slog1Reader<'a> {
        &self.reader
    }

    fn survey(&mut self) -> Result<(), Slog1Error> {
        let header = *self.reader.header();
        let preview = self.reader.preview()?;
        self.losses
            .add("preview text", u64::from(!preview.is_empty()));
        for thread in self.reader.threads()? {
            let thread = thread?;
            let has_ids = thread.process_id != 0 || thread.thread_id != 0;
            self.losses
                .add("process and thread id of the system", u64::from(has_ids));
            let rank = thread.application as i32;
            self.add_line(thread.node, thread.thread, rank);
        }
        let mut arrows = BTreeSet::new();
        let mut seen = RecordTally::new(header.by_start);
        let damage = self
            .walk(&mut arrows, &mut seen)
            .and_then(|()| self.check_statistics());
        // The profile comes last, because only records tell what is an arrow.
        let mut known = Vec::new();
        for entry in self.reader.profile()? {
            known.push(entry?);
        }
        for entry in known {
            let topology = topology(&entry, arrows.contains(&entry.key));
            self.add_kind(&entry, topology);
        }
        for key in &seen.keys {
            if !self.kinds.contains_key(key) {
                let entry = Display {
                    key: *key,
                    class: Text::default(),
                    label: Text::from(format!("type {}", key.intvltype).as_str()),
                    color: Text::default(),
                    arguments: None,
                };
                let topology = topology(&entry, arrows.contains(key));
                self.add_kind(&entry, topology);
            }
        }
        self.order = match (seen.is_sorted, header.by_start) {
            (false, _) => DrawableOrder::Any,
            (true, true) => DrawableOrder::Start,
            (true, false) => DrawableOrder::End,
        };
        self.losses.add("instruction address", seen.addresses);
        self.losses.add("association of records", seen.associations);
        self.losses.add("processor of a record", seen.processors);
        damage
    }

    /// Looks at every record.
    fn walk(
        &mut self,
        arrows: &mut BTreeSet<RecordKey>,
        seen: &mut RecordTally,
    ) -> Result<(), Slog1Error> {
        // Apart from the reader, which the frames borrow.
        let reader = self.reader.clone();
        for frame in reader.frames() {
            let frame = frame?;
            for record in FrameRecords::new(&frame, reader.header().by_start) {
                let record = record?;
                if is_arrow(record.rectype) {
                    arrows.insert(record.key);
                }
                seen.add(&record);
                for task in [Some(record.origin), record.destination]
                    .into_iter()
                    .flatten()
                {
                    self.add_line(task.node, task.thread, task.node.into());
                }
            }
            self.whole_frames += 1;
            // Copies are not drawn, but if they are damaged the file is.
            for sector in [Sector::Incoming, Sector::Passing, Sector::Outgoing] {
                for record in frame.records(sector) {
                    record?;
                }
            }
        }
        Ok(())
    }

    /// The statistics are not needed either; they are the end of a file, and what is cut off lacks them first.
    fn check_statistics(&self) -> Result<(), Slog1Error> {
        match self.reader.statistics() {
            Ok(statistics) => statistics.sets().try_for_each(|set| set.map(|_| ())),
            Err(error) if matches!(error.kind, Slog1ErrorKind::NoStatistics) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Adds a line unless there is one of this node and thread.
    fn add_line(&mut self, node: u16, thread: u32, rank: i32) {
        let id = self.definitions.lines.len() as i32;
        if let std::collections::hash_map::Entry::Vacant(free) = self.lines.entry((node, thread)) {
            free.insert(id);
            let line = Line::of_thread(id, rank, thread as i32);
            self.definitions.lines.push(line);
        }
    }

    fn add_kind(&mut self, entry: &Display, topology: Topology) {
        let key = entry.key;
        if self.kinds.contains_key(&key) {
            return;
        }
        let index = category_index(key);
        let color = look::color(&entry.color.0).unwrap_or(Color::PINK);
        let mut category = Category::new(index, entry.label.clone(), topology, color);
        let names = entry.arguments.as_deref().unwrap_or_default();
        labels::info_format(names, &mut category);
        if topology == Topology::Arrow {
            category.width = Category::message().width;
        }
        self.definitions.categories.push(category);
        let kind = RecordCategory {
            category: index,
            topology,
            is_backward: contains(&entry.label.0, b"backward"),
            arguments: names.len(),
        };
        self.kinds.insert(key, kind);
    }

    fn line(&self, task: TaskId) -> i32 {
        let line = self.lines.get(&(task.node, task.thread));
        line.copied().unwrap_or_default()
    }

    fn draw(
        &self,
        record: &Slog1Record<'_>,
        info: &mut Vec<u8>,
        losses: &mut Losses,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some(kind) = self.kinds.get(&record.key) else {
            losses.add("record without a category", 1);
            return Ok(());
        };
        info.clear();
        for group in record.arguments.groups() {
            info.extend_from_slice(group.bytes());
        }
        let named = kind.arguments * 4;
        if info.len() > named {
            let unnamed = (info.len() - named) / 4;
            losses.add("argument without a name", unnamed as u64);
            info.truncate(named);
        }
        let first = Vertex {
            time: record.start,
            line: self.line(record.origin),
        };
        let last = Vertex {
            time: record.end(),
            line: self.line(record.destination.unwrap_or(record.origin)),
        };
        let vertices = match kind.topology {
            // It was received at its origin before it was sent at its destination.
            Topology::Arrow if kind.is_backward => [last, first],
            _ => [first, last],
        };
        let is_arrow = kind.topology == Topology::Arrow;
        if is_arrow != record.destination.is_some() {
            losses.add("state that is of one kind with arrows", 1);
            return Ok(());
        }
        put(&Drawable {
            topology: kind.topology,
            category: kind.category,
            info,
            vertices: match kind.topology {
                Topology::Event => &vertices[..1],
                _ => &vertices,
            },
        })
    }
}

impl trace_model::Source for Slog1Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut losses = self.losses.clone();
        let mut info = Vec::new();
        for frame in self.reader.frames().map_while(Result::ok) {
            let is_whole = frame.index < self.whole_frames;
            for record in FrameRecords::new(&frame, self.reader.header().by_start) {
                match record {
                    Ok(record) => self.draw(&record, &mut info, &mut losses, put)?,
                    Err(error) if is_whole => return Err(error.into()),
                    // The damage that was told of.
                    Err(_) => return Ok(losses),
                }
            }
        }
        Ok(losses)
    }
}

/// Index of the category of records of this key.
pub(super) fn category_index(key: RecordKey) -> i32 {
    let piece = match key.bebits {
        Bebits::WHOLE => 0,
        bebits => i32::from(bebits.order()) + 1,
    };
    i32::from(key.intvltype) | piece << 16
}

fn topology(entry: &Display, is_arrow: bool) -> Topology {
    if is_arrow || entry.class.0.eq_ignore_ascii_case(b"message") {
        Topology::Arrow
    } else if entry.class.0.eq_ignore_ascii_case(b"event") {
        Topology::Event
    } else {
        Topology::State
    }
}

/// Whether a text has this word in it, in any case.
pub(super) fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len())
        .any(|part| part.eq_ignore_ascii_case(word))
}

/// Findings of the first look at the records.
struct RecordTally {
    keys: BTreeSet<RecordKey>,
    by_start: bool,
    is_sorted: bool,
    last: (f64, f64),
    addresses: u64,
    associations: u64,
    processors: u64,
}

impl RecordTally {
    fn new(by_start: bool) -> Self {
        RecordTally {
            keys: BTreeSet::new(),
            by_start,
            is_sorted: true,
            last: (f64::NEG_INFINITY, f64::INFINITY),
            addresses: 0,
            associations: 0,
            processors: 0,
        }
    }

    fn add(&mut self, record: &Slog1Record<'_>) {
        self.keys.insert(record.key);
        let (start, end) = (record.start, record.end());
        let place = if self.by_start {
            (start, end)
        } else {
            (end, start)
        };
        // As the orders of the model are: by the first time, at equal ones the larger second time first.
        let (first, second) = self.last;
        self.is_sorted &= first < place.0 || (first == place.0 && second >= place.1);
        self.last = place;
        self.addresses += u64::from(record.address != 0);
        self.associations += record.associations.len() as u64;
        let tasks = [Some(record.origin), record.destination];
        let has_cpu = tasks.into_iter().flatten().any(|task| task.cpu != 0);
        self.processors += u64::from(has_cpu);
    }
}

/// The real records of a frame in order of time: those of the current sector and those of the other sector that has no
/// copies, which depends on the order of the file (`spec/slog1.md` section 6).
struct FrameRecords<'a, 'r> {
    sources: [(
        SectorRecords<'a, 'r>,
        Option<Result<Slog1Record<'a>, Slog1Error>>,
    ); 2],
    by_start: bool,
}

impl<'a, 'r> FrameRecords<'a, 'r> {
    fn new(frame: &Slog1Frame<'a, 'r>, by_start: bool) -> Self {
        let other = if by_start {
            Sector::Outgoing
        } else {
            Sector::Incoming
        };
        let sources = [other, Sector::Current].map(|sector| {
            let mut records = frame.records(sector);
            let first = records.next();
            (records, first)
        });
        FrameRecords { sources, by_start }
    }

    fn time(&self, nth: usize) -> Option<f64> {
        match &self.sources[nth].1 {
            Some(Ok(record)) if self.by_start => Some(record.start),
            Some(Ok(record)) => Some(record.end()),
            // An error comes last, so that what can be read is.
            Some(Err(_)) => Some(f64::INFINITY),
            None => None,
        }
    }
}

impl<'a> Iterator for FrameRecords<'a, '_> {
    type Item = Result<Slog1Record<'a>, Slog1Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let nth = match (self.time(0), self.time(1)) {
            (None, None) => return None,
            (Some(_), None) => 0,
            (None, Some(_)) => 1,
            (Some(a), Some(b)) => usize::from(b < a),
        };
        let (records, next) = &mut self.sources[nth];
        std::mem::replace(next, records.next())
    }
}

/// Whether an error means that a file just ends too early.
pub fn is_cut(error: &Slog1Error) -> bool {
    matches!(
        error.kind,
        Slog1ErrorKind::Truncated { .. } | Slog1ErrorKind::NoPart(_)
    )
}
