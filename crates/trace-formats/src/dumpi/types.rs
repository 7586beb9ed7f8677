//! Elements of a DUMPI file: times, records and the sections after the stream (`spec/dumpi.md` sections 3 to 5).

use std::fmt;

use super::cursor::DumpiCursor;
use super::dialect::StreamDialect;
use super::schema::{DumpiField, DumpiFunction, MAX_FIELDS};
use super::value::{self, FieldValue};

pub use super::dialect::{Mask, Version};

/// A point of one of the two clocks, the file's offset added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClockTime {
    /// Seconds. The stream keeps 16 bits of them: after 18.2 hours they start again.
    pub sec: i32,
    /// Nanoseconds, 0 to 999 999 999 in a sound file.
    pub nsec: i32,
}

impl ClockTime {
    /// Makes a time from nanoseconds since the clock's zero.
    #[inline]
    pub fn from_ns(ns: u64) -> Self {
        Self {
            sec: (ns / 1_000_000_000) as i32,
            nsec: (ns % 1_000_000_000) as i32,
        }
    }

    /// Nanoseconds since the clock's zero.
    pub fn ns(self) -> i64 {
        i64::from(self.sec) * 1_000_000_000 + i64::from(self.nsec)
    }
}

/// Start and end of a call by one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSpan {
    /// Entry.
    pub start: ClockTime,
    /// Return.
    pub stop: ClockTime,
}

impl ClockSpan {
    /// Makes a span from start and stop, nanoseconds since the clock's zero.
    #[inline]
    pub fn from_ns(start: u64, stop: u64) -> Self {
        let from = ClockTime::from_ns(start);
        // Most calls end in the second in which they began: that saves a division.
        let nsec = stop.wrapping_sub(start).saturating_add(from.nsec as u64);
        let to = match nsec < 1_000_000_000 {
            true => ClockTime {
                sec: from.sec,
                nsec: nsec as i32,
            },
            false => ClockTime::from_ns(stop),
        };
        Self {
            start: from,
            stop: to,
        }
    }
}

/// The seconds that the stream subtracts from its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockOffsets {
    /// Offset of the CPU clock, seconds.
    pub cpu: i32,
    /// Offset of the wall clock, seconds.
    pub wall: i32,
}

/// One recorded call, borrowed from the file.
#[derive(Clone, Copy, Debug)]
pub struct DumpiRecord<'a> {
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// The function called.
    pub function: &'static DumpiFunction,
    /// Optional parts of the record.
    pub mask: Mask,
    /// Number of the calling thread; 0 if not recorded.
    pub thread: u16,
    /// Cpu times; zero if not recorded.
    pub cpu: ClockSpan,
    /// Wall times; zero if not recorded.
    pub wall: ClockSpan,
    /// Performance counters.
    pub counters: CallCounters<'a>,
    pub(super) args: &'a [u8],
    pub(super) dialect: StreamDialect,
}

impl<'a> DumpiRecord<'a> {
    /// The arguments in stream order, absent ones included.
    pub fn args(&self) -> FieldValues<'a> {
        FieldValues::new(
            self.function,
            self.mask,
            self.dialect,
            DumpiCursor::at(self.args, 0),
        )
    }

    /// The arguments by position among the fields of the function; absent beyond the last field.
    pub fn arg_array(&self) -> [FieldValue<'a>; MAX_FIELDS] {
        let mut args = [FieldValue::Absent; MAX_FIELDS];
        for (place, (_, arg)) in args.iter_mut().zip(self.args()) {
            *place = arg;
        }
        args
    }
}

/// The values of a record's fields, in stream order.
#[derive(Clone, Debug)]
pub struct FieldValues<'a> {
    cursor: DumpiCursor<'a>,
    function: &'static DumpiFunction,
    mask: Mask,
    dialect: StreamDialect,
    next: usize,
    rank: i32,
    root: i32,
}

impl<'a> FieldValues<'a> {
    pub(super) fn new(
        function: &'static DumpiFunction,
        mask: Mask,
        dialect: StreamDialect,
        cursor: DumpiCursor<'a>,
    ) -> Self {
        Self {
            cursor,
            function,
            mask,
            dialect,
            next: 0,
            rank: 0,
            root: 0,
        }
    }

    /// The next field and its value; `Err` with the field if the bytes end within it.
    #[inline]
    pub(super) fn pull(
        &mut self,
    ) -> Option<Result<(&'static DumpiField, FieldValue<'a>), &'static DumpiField>> {
        let i = self.next;
        let field = self.function.fields().get(i)?;
        self.next += 1;
        if field.root_only && self.rank != self.root {
            return Some(Ok((field, FieldValue::Absent)));
        }
        let taken = if self.dialect == StreamDialect::CURRENT {
            value::take(&mut self.cursor, field, self.mask, self.dialect)
        } else {
            self.take_old(i, field)
        };
        let Some(arg) = taken else {
            return Some(Err(field));
        };
        if let (Some((rank, root)), FieldValue::Int(v)) = (self.function.root, arg) {
            if i == usize::from(rank) {
                self.rank = v;
            } else if i == usize::from(root) {
                self.root = v;
            }
        }
        Some(Ok((field, arg)))
    }

    #[cold]
    fn take_old(&mut self, i: usize, field: &DumpiField) -> Option<FieldValue<'a>> {
        if self.dialect.single(self.function.id, i) {
            return value::take_single(&mut self.cursor);
        }
        if self.dialect.init_word(self.function.id) {
            return value::take_old_argv(&mut self.cursor);
        }
        value::take(&mut self.cursor, field, self.mask, self.dialect)
    }

    /// Offset behind the last value taken.
    pub(super) fn pos(&self) -> usize {
        self.cursor.pos()
    }
}

impl<'a> Iterator for FieldValues<'a> {
    type Item = (&'static DumpiField, FieldValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.pull()?.ok()
    }
}

/// Performance counter values at entry and return, in the order of the counter labels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallCounters<'a>(pub(super) &'a [u8]);

impl<'a> CallCounters<'a> {
    /// Number of counters.
    pub fn len(&self) -> usize {
        self.0.len() / 16
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// (entry, return) of each counter.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (i64, i64)> + use<'a> {
        self.0.as_chunks::<16>().0.iter().map(|pair| {
            let mut c = DumpiCursor::at(pair, 0);
            (c.i64().unwrap_or(0), c.i64().unwrap_or(0))
        })
    }
}

impl fmt::Debug for CallCounters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The header section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpiHeader {
    /// Version of the writer.
    pub version: Version,
    /// Start of the rank's recorder, seconds since 1970.
    pub starttime: u64,
    /// Name of the host on which the rank ran.
    pub hostname: Vec<u8>,
    /// Name of the user who ran it; `<none>` if unknown.
    pub username: Vec<u8>,
    /// Position of the node in the machine's mesh.
    pub mesh_coords: Vec<i32>,
    /// Size of the mesh.
    pub mesh_sizes: Vec<i32>,
}

impl Default for DumpiHeader {
    /// Everything empty, of the current version.
    fn default() -> Self {
        Self {
            version: Version::CURRENT,
            starttime: 0,
            hostname: Vec::new(),
            username: Vec::new(),
            mesh_coords: Vec::new(),
            mesh_sizes: Vec::new(),
        }
    }
}

/// Entries in each table of the footer: a function per id 0 … 289 and the total.
pub const FOOTER_ENTRIES: usize = 291;

/// The footer section: how often each function was called. Positions are function ids, the last is the total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpiFooter {
    /// Entries into the wrappers, by function.
    pub called: Box<[u32; FOOTER_ENTRIES]>,
    /// Calls that made no record, by function.
    pub ignored: Box<[u32; FOOTER_ENTRIES]>,
}

impl Default for DumpiFooter {
    fn default() -> Self {
        Self {
            called: Box::new([0; FOOTER_ENTRIES]),
            ignored: Box::new([0; FOOTER_ENTRIES]),
        }
    }
}

impl DumpiFooter {
    /// Counts `called` calls of a function, `ignored` of them without a record, in its own entry and in the total.
    /// Pseudo calls, which the format never counts, are left out.
    pub fn count(&mut self, id: u16, called: u32, ignored: u32) {
        let id = usize::from(id);
        if id >= FOOTER_ENTRIES - 1 {
            return;
        }
        for i in [id, FOOTER_ENTRIES - 1] {
            self.called[i] = self.called[i].saturating_add(called);
            self.ignored[i] = self.ignored[i].saturating_add(ignored);
        }
    }
}

/// A function address or annotation key and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressLabel {
    /// The address, or the key of an annotation.
    pub key: u64,
    /// The name.
    pub label: Vec<u8>,
}

/// Key of the pair that says whose wall clock the times are of, where that is not the clock of the rank's host. libdumpi prints it and
/// takes no notice.
pub const CLOCK_KEY: &[u8] = b"libtrace.clock";
/// Value of the key for the clock of rank 0's host.
pub const CLOCK_OF_ZERO: &[u8] = b"rank 0";

/// What the labels of annotations begin with, which libtrace writes as functions of the program.
pub const ANNOTATION: &str = "ANNOTATION: ";

/// Key of the pair that says that calls are missing which messages hang on, so that the n-th send of those that are there need not belong to the n-th
/// receive.
pub const MESSAGES_KEY: &[u8] = b"libtrace.messages";
/// Value of the key where such calls are missing.
pub const MESSAGES_INCOMPLETE: &[u8] = b"incomplete";

/// A free pair of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyval {
    /// The key.
    pub key: Vec<u8>,
    /// Value of the pair.
    pub value: Vec<u8>,
}

/// Everything behind the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpiTrailer {
    /// Header of the file.
    pub header: DumpiHeader,
    /// Call counts.
    pub footer: DumpiFooter,
    /// Free pairs of strings: [`CLOCK_KEY`] and [`MESSAGES_KEY`]; no other known writer has any.
    pub keyvals: Vec<Keyval>,
    /// Names of the performance counters.
    pub perf_labels: Vec<Vec<u8>>,
    /// Size in bytes of each datatype number; 0 = never seen.
    pub type_sizes: Vec<i32>,
    /// Names of function addresses and annotations.
    pub address_labels: Vec<AddressLabel>,
}

/// Offsets of the sections, 0 = absent (`spec/dumpi.md` section 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionIndex {
    /// Datatype sizes.
    pub type_sizes: u64,
    /// Function addresses.
    pub address_labels: u64,
    /// Counter labels.
    pub perf_labels: u64,
    /// Header.
    pub header: u64,
    /// Stream.
    pub body: u64,
    /// Footer.
    pub footer: u64,
    /// Keyval record.
    pub keyvals: u64,
}
