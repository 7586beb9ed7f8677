//! DUMPI files without some of their calls, clocks, counters or statuses: what dumpi2dumpi does (`spec/dumpi-tools.md`
//! section 4), and selection by thread, communicator and time besides.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::io::Write;

use super::region_times::{RegionTimes, region};
use super::select::{CategoryPattern, NumberRanges, PropertySelection};
use trace_formats::dumpi::DumpiError;
use trace_formats::dumpi::functions;
use trace_formats::dumpi::functions::{ALL_FUNCTIONS, FUNCTION_ENTER, FUNCTION_EXIT, FieldCode};
use trace_formats::dumpi::matching_order::MatchingOrder;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::ClockTime;
use trace_formats::dumpi::types::{
    ANNOTATION, AddressLabel, ClockOffsets, DumpiFooter, DumpiRecord, DumpiTrailer, FOOTER_ENTRIES,
    Keyval, MESSAGES_INCOMPLETE, MESSAGES_KEY, Mask, Version,
};
use trace_formats::dumpi::value::FieldValue;
use trace_formats::dumpi::write::{
    DUMPI2DUMPI, DumpiWriteError, DumpiWriter, FileSection, LIBDUMPI, RecordHead,
};

/// Filter for the calls of a DUMPI file.
#[derive(Clone, Debug, PartialEq)]
pub struct DumpiFilter {
    /// Functions whose calls are kept.
    pub functions: FunctionSet,
    /// Whether wall times are written.
    pub wall: bool,
    /// Whether cpu times are written.
    pub cpu: bool,
    /// Whether performance counters are written.
    pub counters: bool,
    /// Whether statuses are written.
    pub statuses: bool,
    /// Threads whose calls are kept.
    pub threads: PropertySelection<NumberRanges>,
    /// Communicators, among the arguments, whose calls are kept. A call without one is removed if any communicator is named to
    /// be kept.
    pub comms: PropertySelection<NumberRanges>,
    /// Stretches of wall time, in nanoseconds of the file's clock. A region counts as one, from its start to its end.
    pub windows: PropertySelection<(i64, i64)>,
    /// Keep the calls that would be removed, and the reverse.
    pub invert: bool,
    /// Write what dumpi2dumpi writes: the order of its sections, clocks that the input does not have as zeros, times
    /// that count from the first call, a total of calls that leaves out those written.
    pub like_original: bool,
}

impl Default for DumpiFilter {
    /// Keeps everything.
    fn default() -> Self {
        DumpiFilter {
            functions: FunctionSet::default(),
            wall: true,
            cpu: true,
            counters: true,
            statuses: true,
            threads: PropertySelection::default(),
            comms: PropertySelection::default(),
            windows: PropertySelection::default(),
            invert: false,
            like_original: false,
        }
    }
}

/// A set of functions, all at first.
///
/// DUMPI has numbers for the functions of MPI-2 only. A call of any other stands in a file as a pair of Function_enter and
/// Function_exit records whose key has a label, the name. Annotations and functions of the program are such pairs, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSet {
    /// By id.
    kept: Vec<bool>,
    /// Whether MPI functions without a number are kept that [`unnumbered`](Self::unnumbered) does not name.
    other_mpi: bool,
    /// MPI functions without a number, by name, and whether they are kept.
    unnumbered: BTreeMap<String, bool>,
    /// Whether MPI functions without a number are functions like those of the program, as for dumpi2dumpi.
    only_numbered: bool,
    /// Functions by id, and all by name.
    categories: PropertySelection<CategoryPattern>,
}

impl Default for FunctionSet {
    fn default() -> Self {
        FunctionSet {
            kept: vec![true; functions::all().len()],
            other_mpi: true,
            unnumbered: BTreeMap::new(),
            only_numbered: false,
            categories: PropertySelection::default(),
        }
    }
}

impl FunctionSet {
    /// All functions, as dumpi2dumpi knows them: MPI functions without a number are none of MPI's.
    pub fn only_numbered() -> Self {
        FunctionSet {
            only_numbered: true,
            ..FunctionSet::default()
        }
    }

    /// All functions, of which those without a number are taken as this set takes them.
    fn whole(&self) -> Self {
        match self.only_numbered {
            true => FunctionSet::only_numbered(),
            false => FunctionSet::default(),
        }
    }

    /// Keeps or removes all MPI functions.
    pub fn set_mpi(&mut self, keep: bool) {
        self.kept[..usize::from(ALL_FUNCTIONS)].fill(keep);
        self.other_mpi = keep;
        self.unnumbered.clear();
    }

    /// Keeps or removes one MPI function.
    ///
    /// # Errors
    /// If no function has this exact name.
    pub fn set(&mut self, name: &str, keep: bool) -> Result<(), UnknownFunction> {
        let found = functions::by_name(name).filter(|function| function.id < ALL_FUNCTIONS);
        if let Some(function) = found {
            self.kept[usize::from(function.id)] = keep;
            return Ok(());
        }
        if self.only_numbered || !functions::is_unnumbered(name) {
            return Err(UnknownFunction {
                name: name.to_owned(),
                only_numbered: self.only_numbered,
            });
        }
        self.unnumbered.insert(name.to_owned(), keep);
        Ok(())
    }

    /// Keeps or removes functions that are not MPI's (annotations), and their names.
    pub fn set_user(&mut self, keep: bool) {
        for id in [FUNCTION_ENTER, FUNCTION_EXIT] {
            self.kept[usize::from(id)] = keep;
        }
    }

    /// Removes the functions that the selection does not admit. An index is an id.
    pub fn select(&mut self, categories: PropertySelection<CategoryPattern>) {
        self.categories = categories;
    }

    /// The functions with a number: whether each is kept, by id.
    fn by_id(&self) -> Vec<bool> {
        let kept = functions::all().iter().zip(&self.kept);
        kept.map(|(function, &kept)| {
            let id = i32::from(function.id);
            let admits = |pattern: &CategoryPattern| pattern.matches(id, function.name);
            kept && self.categories.admits(admits)
        })
        .collect()
    }

    /// Whether the calls of this name are kept that have no number.
    fn contains_named(&self, name: &str) -> bool {
        let is_mpi = !self.only_numbered && functions::is_unnumbered(name);
        let kept = match is_mpi {
            true => self.unnumbered.get(name).copied().unwrap_or(self.other_mpi),
            false => self.kept[usize::from(FUNCTION_ENTER)],
        };
        let means = |pattern: &CategoryPattern| {
            let ids = [FUNCTION_ENTER, FUNCTION_EXIT];
            let is_id = |&id: &u16| {
                let own = functions::by_id(id).map_or("", |function| function.name);
                pattern.matches(i32::from(id), own)
            };
            pattern.matches(-1, name) || ids.iter().any(is_id)
        };
        kept && self.categories.admits(means)
    }
}

/// A name that is not in the function table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    /// The name.
    pub name: String,
    /// Whether only functions with a number in DUMPI were looked for.
    pub only_numbered: bool,
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.only_numbered {
            true => " of DUMPI",
            false => "",
        };
        write!(f, "{} is no MPI function{of}", self.name)
    }
}

impl std::error::Error for UnknownFunction {}

/// The functions of one file that are kept.
#[derive(Debug)]
struct KeptFunctions<'f> {
    set: &'f FunctionSet,
    by_id: Vec<bool>,
    /// Functions without a number, by the keys that have names in the file.
    by_key: HashMap<u64, bool>,
}

impl<'f> KeptFunctions<'f> {
    fn new(set: &'f FunctionSet, reader: &DumpiReader<'_>) -> Self {
        let labels = reader.address_labels().ok().flatten().unwrap_or_default();
        // Of two names of a key the first counts.
        let named = labels.iter().rev().map(|AddressLabel { key, label }| {
            let name = label.strip_prefix(ANNOTATION.as_bytes()).unwrap_or(label);
            let name = String::from_utf8_lossy(name);
            (*key, set.contains_named(&name))
        });
        KeptFunctions {
            set,
            by_id: set.by_id(),
            by_key: named.collect(),
        }
    }

    fn contains(&self, record: &DumpiRecord<'_>) -> bool {
        match region(record) {
            Some(key) => self.contains_key(key),
            None => {
                let kept = self.by_id.get(usize::from(record.function.id));
                kept.copied().unwrap_or(true)
            }
        }
    }

    fn contains_key(&self, key: u64) -> bool {
        let named = self.by_key.get(&key).copied();
        named.unwrap_or_else(|| self.set.contains_named(&format!("{key:#x}")))
    }
}

/// Counts of a filtered DUMPI file.
#[derive(Debug)]
pub struct Copied {
    /// Everything behind the stream, for [`DumpiWriter::finish`].
    pub trailer: DumpiTrailer,
    /// Calls written.
    pub kept: u64,
    /// Calls left out.
    pub removed: u64,
    /// Error at which a damaged file ends early; all calls before it were filtered.
    pub damage: Option<DumpiError>,
}

impl DumpiFilter {
    /// The order of the sections.
    pub fn layout(&self) -> &'static [FileSection] {
        if self.like_original {
            DUMPI2DUMPI
        } else {
            LIBDUMPI
        }
    }

    /// The seconds that the times of the new file count from, for [`DumpiWriter::new`].
    pub fn offsets(&self, reader: &DumpiReader<'_>) -> ClockOffsets {
        match reader.records().next() {
            Some(Ok(first)) if self.like_original => ClockOffsets {
                cpu: first.cpu.start.sec,
                wall: first.wall.start.sec,
            },
            _ => reader.offsets(),
        }
    }

    /// Copies the calls that are kept, and makes what follows them.
    ///
    /// # Errors
    /// Of the output only; damage to the input is in [`Copied`].
    pub fn copy<W: Write>(
        &self,
        reader: &DumpiReader<'_>,
        writer: &mut DumpiWriter<W>,
    ) -> Result<Copied, DumpiWriteError> {
        let functions = KeptFunctions::new(&self.functions, reader);
        let mut times = self.region_times(reader);
        let (mut kept, mut removed) = (0, 0);
        let mut seen = DumpiFooter::default();
        let mut regions = BTreeSet::new();
        let mut damage = None;
        let mut order = MatchingOrder::new(reader);
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            };
            let keep = self.keeps(&record, &functions, &mut times);
            seen.count(record.function.id, 1, u32::from(!keep));
            order.take(&record, keep);
            if keep {
                self.write(&record, writer)?;
                regions.extend(region(&record));
                kept += 1;
            } else {
                removed += 1;
            }
        }
        let trailer = reader.trailer().unwrap_or_else(|error| {
            damage.get_or_insert(error);
            DumpiTrailer {
                header: reader.header().cloned().unwrap_or_default(),
                ..DumpiTrailer::default()
            }
        });
        // A name stays with what it names, and where nothing is chosen by functions.
        let is_named = |label: &AddressLabel| {
            let key = label.key;
            functions.contains_key(key) != self.invert || regions.contains(&key)
        };
        let mut trailer = self.trailer(trailer, &seen);
        trailer.address_labels.retain(is_named);
        // dumpi2dumpi says nothing of it.
        if order.is_broken() && !reader.lacks_messages() && !self.like_original {
            trailer.keyvals.push(Keyval {
                key: MESSAGES_KEY.to_vec(),
                value: MESSAGES_INCOMPLETE.to_vec(),
            });
        }
        Ok(Copied {
            trailer,
            kept,
            removed,
            damage,
        })
    }

    /// Whether any call of a file is kept.
    pub fn keeps_any(&self, reader: &DumpiReader<'_>) -> bool {
        let functions = KeptFunctions::new(&self.functions, reader);
        let mut times = self.region_times(reader);
        let mut records = reader.records().map_while(Result::ok);
        records.any(|record| self.keeps(&record, &functions, &mut times))
    }

    /// When the regions of a file were, as far as that bears on what is kept.
    fn region_times(&self, reader: &DumpiReader<'_>) -> RegionTimes {
        match self.windows.is_empty() {
            true => RegionTimes::default(),
            false => RegionTimes::of(reader),
        }
    }

    /// Whether no call of any file is kept: what all calls have in common is inverted.
    pub fn removes_all(&self) -> bool {
        self.invert
            && *self
                == DumpiFilter {
                    invert: true,
                    ..self.whole()
                }
    }

    /// The filter that writes the same parts of calls, and of all calls.
    pub fn whole(&self) -> Self {
        DumpiFilter {
            functions: self.functions.whole(),
            threads: PropertySelection::default(),
            comms: PropertySelection::default(),
            windows: PropertySelection::default(),
            invert: false,
            ..self.clone()
        }
    }

    /// Whether a record is kept. Those of a file come one after the other; both of a region are kept, or none.
    fn keeps(
        &self,
        record: &DumpiRecord<'_>,
        functions: &KeptFunctions<'_>,
        times: &mut RegionTimes,
    ) -> bool {
        let (start, stop) = times.span(record);
        let comm = || {
            let mut comms = record
                .args()
                .filter(|(field, _)| field.code == FieldCode::Comm);
            match comms.next() {
                Some((_, FieldValue::Int(number))) => Some(number),
                _ => None,
            }
        };
        let keeps = functions.contains(record)
            && self.threads.admits_number(record.thread)
            && (self.comms.is_empty() || {
                let comm = comm();
                let means =
                    |numbers: &NumberRanges| comm.is_some_and(|comm| numbers.contains(comm));
                self.comms.admits(means)
            })
            && (self.windows.is_empty()
                || (self.windows).admits(|&(from, to)| start <= to && stop >= from));
        keeps != self.invert
    }

    fn write<W: Write>(
        &self,
        record: &DumpiRecord<'_>,
        writer: &mut DumpiWriter<W>,
    ) -> Result<(), DumpiWriteError> {
        let mut bits = record.mask.0;
        if self.like_original {
            bits |= Mask::THREAD | Mask::CPU | Mask::WALL;
        }
        for (keep, parts) in [
            (self.wall, Mask::WALL),
            (self.cpu, Mask::CPU),
            (self.counters, Mask::COUNTERS),
            (self.statuses, Mask::STATUSES),
        ] {
            if !keep {
                bits &= !parts;
            }
        }
        let head = RecordHead {
            mask: Mask(bits),
            thread: record.thread,
            cpu: record.cpu,
            wall: record.wall,
        };
        let counters: Vec<_> = record.counters.iter().collect();
        let mut call = writer.call(record.function.id, &head, &counters);
        for (field, arg) in record.args() {
            call.arg(field, &arg);
        }
        call.end()
    }

    /// The sections of the new file. A call counts as ignored if it made no record when it was recorded, or was
    /// removed here.
    fn trailer(&self, mut trailer: DumpiTrailer, seen: &DumpiFooter) -> DumpiTrailer {
        let before = &trailer.footer.ignored;
        let mut footer = DumpiFooter::default();
        for id in 0..FOOTER_ENTRIES {
            footer.called[id] = before[id].saturating_add(seen.called[id]);
            footer.ignored[id] = before[id].saturating_add(seen.ignored[id]);
        }
        let total = usize::from(ALL_FUNCTIONS);
        if self.like_original {
            footer.called[total] = before[total];
            footer.ignored[total] = before[total];
        }
        trailer.footer = footer;
        trailer.header.version = Version::CURRENT;
        if !self.counters && !self.like_original {
            trailer.perf_labels.clear();
        }
        trailer
    }
}

/// The first wall time of a file, in nanoseconds of its clock; `None` for a file without wall times.
pub fn first_wall_time(reader: &DumpiReader<'_>) -> Option<i64> {
    let first = reader.records().next()?.ok()?;
    first
        .mask
        .has(Mask::WALL)
        .then(|| ClockTime::ns(first.wall.start))
}
