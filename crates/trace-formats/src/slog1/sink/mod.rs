//! Makes an SLOG-1 file of drawables from any source.

mod kinds;
mod plan;

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::from_clog1::Slog1Options;
use super::key::RecordKey;
use super::labels;
use super::record::{Arguments, Slog1Record, TaskId, WordArray};
use super::types::{RecordDefinition, Slog1Thread};
use super::write::{FileLayout, FileTables, RecordKind, Slog1Writer, TimeOrder};
use kinds::{Kinds, RecordForm};
use plan::FramePlan;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use trace_model::PendingFile;
use trace_model::{
    Complete, Definitions, Drawable, DrawableOrder, Line, Losses, Stop, info_values,
};

/// An SLOG-1 file in the making. Wants drawables by end time, as files with statistics have their records.
///
/// The contents of a frame depend on the records of later ones that reach into it. So records wait in a temporary file
/// until all are known; then frames are laid out such that each has room for its copies.
pub struct Slog1Sink<W> {
    kinds: Kinds,
    threads: Threads,
    options: Slog1Options,
    spool: BufWriter<File>,
    records: u64,
    /// Bytes of the record and its arguments that are being put together.
    scratch: (Vec<u8>, Vec<u8>),
    losses: Losses,
    create: Box<dyn Fn() -> io::Result<W>>,
    complete: Complete<W>,
}

impl Slog1Sink<PendingFile> {
    /// Starts the file at `path`, which gets its name when it is complete.
    ///
    /// # Errors
    /// When it cannot be created, or there is no room for temporary files.
    pub fn create(
        path: impl AsRef<Path>,
        definitions: &Definitions,
        options: Slog1Options,
    ) -> Result<Self, Slog1Error> {
        let path = path.as_ref().to_path_buf();
        // The file is made at the end; that it cannot be should be known at the start.
        drop(PendingFile::create(&path).map_err(|error| Slog1Error::io(0, error).in_file(&path))?);
        let named = path.clone();
        Slog1Sink::new(
            move || PendingFile::create(&path),
            definitions,
            options,
            |file| {
                let done = file.persist();
                Ok(done.map_err(|error| Slog1Error::io(0, error).in_file(named))?)
            },
        )
    }
}

impl<W: Read + Write + Seek> Slog1Sink<W> {
    /// Starts a file. `create` makes the output, more than once if frames have to be larger than was thought;
    /// `complete` gets it when everything is written.
    ///
    /// # Errors
    /// When there is no room for temporary files, or there are more categories than types of records.
    pub fn new(
        create: impl Fn() -> io::Result<W> + 'static,
        definitions: &Definitions,
        options: Slog1Options,
        complete: impl FnOnce(W) -> Result<(), Stop> + 'static,
    ) -> Result<Self, Slog1Error> {
        let mut losses = Losses::default();
        losses.add(
            "name of the program",
            u64::from(!definitions.program.is_empty()),
        );
        let kinds = Kinds::new(&definitions.categories, &mut losses);
        if kinds.lacks_types {
            let count = definitions.categories.len();
            return Err(Slog1Error::new(0, Slog1ErrorKind::Types(count)));
        }
        let spool = tempfile::tempfile().map_err(|error| Slog1Error::io(0, error))?;
        Ok(Slog1Sink {
            kinds,
            threads: Threads::new(&definitions.lines, &mut losses),
            options,
            spool: BufWriter::with_capacity(1 << 18, spool),
            records: 0,
            scratch: Default::default(),
            losses,
            create: Box::new(create),
            complete: Box::new(complete),
        })
    }

    fn add(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let Some(shape) = self.kinds.shape(drawable.category) else {
            self.losses.add("drawable without a category", 1);
            return Ok(());
        };
        let (Some(&first), Some(&last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            self.losses.add("drawable without a vertex", 1);
            return Ok(());
        };
        if drawable.vertices.len() > 2 {
            self.losses.add("vertex of a drawable beyond two", 1);
        }
        // An arrow that arrives before it leaves is one of a message that was received before it was sent.
        let is_backward = last.time < first.time;
        let (first, last) = if is_backward {
            (last, first)
        } else {
            (first, last)
        };
        let (encoded, arguments) = &mut self.scratch;
        arguments.clear();
        encode_info(shape, drawable.info, arguments, &mut self.losses);
        let (rectype, key) = shape.record(is_backward);
        let is_arrow = shape.is_arrow();
        let record = Slog1Record {
            rectype,
            key,
            start: first.time,
            duration: last.time - first.time,
            origin: self.threads.task(first.line),
            destination: is_arrow.then(|| self.threads.task(last.line)),
            address: 0,
            associations: WordArray::default(),
            arguments: Arguments::Fixed(WordArray::new(arguments)),
        };
        encoded.clear();
        record.encode(encoded);
        self.spool
            .write_all(encoded)
            .map_err(|error| Slog1Error::io(0, error))?;
        self.records += 1;
        Ok(())
    }

    fn close(self) -> Result<Losses, Stop> {
        let spool = self.spool.into_inner();
        let mut spool = spool.map_err(|error| Slog1Error::io(0, error.into_error()))?;
        let tables = FileTables {
            preview: Vec::new(),
            threads: self.threads.table,
            kinds: self.kinds.table,
        };
        let defined = definitions(&tables.kinds);
        let mut plan = FramePlan::new(&self.options);
        let out = loop {
            plan.settle(|put| for_each(&mut spool, &defined, put))?;
            let layout = FileLayout {
                frame_size: plan.frame_size,
                frame_reserved: plan.reserved,
                frames_per_directory: plan.directory(),
                order: TimeOrder::End,
                bins: 512,
                spare_entries: 0,
            };
            let out = (self.create)().map_err(|error| Slog1Error::io(0, error))?;
            let mut writer = Slog1Writer::new(out, &tables, &layout)?;
            let written = for_each(&mut spool, &defined, &mut |record| writer.write(record));
            match written.and_then(|()| writer.finish()) {
                Ok((out, written)) => {
                    debug_assert_eq!(written.records, self.records);
                    break out;
                }
                // Times are rounded when durations are added to starts, which moves records by a frame now and then.
                Err(error) if matches!(error.kind, Slog1ErrorKind::FrameFull { .. }) => {
                    plan.grow(error)?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        (self.complete)(out)?;
        Ok(self.losses)
    }
}

impl<W: Read + Write + Seek> trace_model::Sink for Slog1Sink<W> {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::End
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.add(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        (*self).close()
    }
}

/// Appends the values of an info as arguments, all that the kind has names for.
fn encode_info(shape: &RecordForm, info: &[u8], out: &mut Vec<u8>, losses: &mut Losses) {
    let category = &shape.category;
    let values = info_values(category, info).zip(&category.info_types);
    let mut lost = 0;
    for ((_, value), &kind) in values {
        lost += u64::from(!labels::push(kind, value, out));
    }
    losses.add("text or real number of an info", lost);
    // A record has as many arguments as there are names, also where the info was shorter or there were too many.
    out.resize(shape.arguments * 4, 0);
}

/// The definitions by which records of these kinds are read.
fn definitions(kinds: &[RecordKind]) -> HashMap<RecordKey, RecordDefinition> {
    let all = kinds.iter().map(|kind| (kind.key(), kind.definition()));
    all.collect()
}

/// Gives all records of the temporary file.
fn for_each(
    spool: &mut File,
    defined: &HashMap<RecordKey, RecordDefinition>,
    put: &mut dyn FnMut(&Slog1Record<'_>) -> Result<(), Slog1Error>,
) -> Result<(), Slog1Error> {
    let failed = |error| Slog1Error::io(0, error);
    spool.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut from = BufReader::with_capacity(1 << 18, spool);
    let mut bytes = Vec::new();
    loop {
        let mut size = [0; 2];
        match from.read_exact(&mut size) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            result => result.map_err(failed)?,
        }
        bytes.clear();
        bytes.extend_from_slice(&size);
        bytes.resize(usize::from(u16::from_be_bytes(size)).max(2), 0);
        from.read_exact(&mut bytes[2..]).map_err(failed)?;
        let mut cursor = Slog1Cursor::over(&bytes, 0, "record");
        put(&Slog1Record::decode(&mut cursor, |key| {
            defined.get(&key).copied()
        })?)?;
    }
}

/// Lines as threads.
struct Threads {
    table: Vec<Slog1Thread>,
    /// Node and thread of a line.
    of_line: HashMap<i32, (u16, u32)>,
}

impl Threads {
    /// A rank is a node; lines of other communicators are those of the same thread.
    fn new(lines: &[Line], losses: &mut Losses) -> Self {
        let mut threads = Threads {
            table: Vec::new(),
            of_line: HashMap::new(),
        };
        let mut seen = HashSet::new();
        for line in lines {
            losses.add("communicator of a line", u64::from(line.comm != 0));
            losses.add("host of a line", u64::from(line.host.is_some()));
            losses.add("name of a line", u64::from(line.name.is_some()));
            let node = u16::try_from(line.rank);
            let thread = u32::try_from(line.thread);
            let (node, thread) = match (node, thread) {
                (Ok(node), Ok(thread)) => (node, thread),
                _ => {
                    losses.add("rank or thread of a line, which has a node of its own", 1);
                    (u16::MAX, line.id as u32)
                }
            };
            threads.of_line.insert(line.id, (node, thread));
            if seen.insert((node, thread)) {
                threads.table.push(Slog1Thread {
                    node,
                    thread,
                    application: line.rank as u32,
                    ..Slog1Thread::default()
                });
            }
        }
        threads
    }

    fn task(&self, line: i32) -> TaskId {
        let (node, thread) = match self.of_line.get(&line) {
            Some(&place) => place,
            None => (u16::MAX, line as u32),
        };
        TaskId {
            node,
            cpu: 0,
            thread,
        }
    }
}
