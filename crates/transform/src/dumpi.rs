//! DUMPI files without some of their calls, clocks, counters or statuses: what dumpi2dumpi does (`spec/dumpi-tools.md`
//! section 4), and selection by thread, communicator and time besides.

use std::fmt;
use std::io::Write;

use super::select::{NumberRanges, PropertySelection};
use trace_formats::dumpi::DumpiError;
use trace_formats::dumpi::functions;
use trace_formats::dumpi::functions::{ALL_FUNCTIONS, FUNCTION_ENTER, FUNCTION_EXIT, FieldCode};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::ClockTime;
use trace_formats::dumpi::types::{
    AddressLabel, ClockOffsets, DumpiFooter, DumpiRecord, DumpiTrailer, FOOTER_ENTRIES, Mask,
    Version,
};
use trace_formats::dumpi::value::FieldValue;
use trace_formats::dumpi::write::{
    DUMPI2DUMPI, DumpiWriteError, DumpiWriter, FileSection, LIBDUMPI, RecordHead,
};

/// Filter for the calls of a DUMPI file.
#[derive(Clone, Debug)]
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
    /// Stretches of wall time, in nanoseconds of the file's clock.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSet {
    /// By id.
    kept: Vec<bool>,
}

impl Default for FunctionSet {
    fn default() -> Self {
        FunctionSet {
            kept: vec![true; functions::all().len()],
        }
    }
}

impl FunctionSet {
    /// Keeps or removes all MPI functions.
    pub fn set_mpi(&mut self, keep: bool) {
        self.kept[..usize::from(ALL_FUNCTIONS)].fill(keep);
    }

    /// Keeps or removes one function.
    ///
    /// # Errors
    /// If no function has this exact name.
    pub fn set(&mut self, name: &str, keep: bool) -> Result<(), UnknownFunction> {
        let found = functions::by_name(name).filter(|function| function.id < ALL_FUNCTIONS);
        let function = found.ok_or_else(|| UnknownFunction(name.to_owned()))?;
        self.kept[usize::from(function.id)] = keep;
        Ok(())
    }

    /// Keeps or removes functions that are not MPI's (annotations), and the table of their names.
    pub fn set_user(&mut self, keep: bool) {
        for id in [FUNCTION_ENTER, FUNCTION_EXIT] {
            self.kept[usize::from(id)] = keep;
        }
    }

    /// Removes the functions that `keep` does not want, given id and name.
    pub fn retain(&mut self, keep: impl Fn(u16, &str) -> bool) {
        for function in functions::all() {
            if !keep(function.id, function.name) {
                self.kept[usize::from(function.id)] = false;
            }
        }
    }

    fn contains(&self, id: u16) -> bool {
        self.kept.get(usize::from(id)).copied().unwrap_or(true)
    }
}

/// A name that is not in the function table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction(pub String);

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is no MPI function of DUMPI", self.0)
    }
}

impl std::error::Error for UnknownFunction {}

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
        let (mut kept, mut removed) = (0, 0);
        let mut seen = DumpiFooter::default();
        let mut damage = None;
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            };
            let keep = self.keeps(&record);
            seen.count(record.function.id, 1, u32::from(!keep));
            if keep {
                self.write(&record, writer)?;
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
        Ok(Copied {
            trailer: self.trailer(trailer, &seen),
            kept,
            removed,
            damage,
        })
    }

    /// Whether any call of a file is kept.
    pub fn keeps_any(&self, reader: &DumpiReader<'_>) -> bool {
        let records = reader.records().map_while(Result::ok);
        records.into_iter().any(|record| self.keeps(&record))
    }

    fn keeps(&self, record: &DumpiRecord<'_>) -> bool {
        let comm = || {
            let mut comms = record
                .args()
                .filter(|(field, _)| field.code == FieldCode::Comm);
            match comms.next() {
                Some((_, FieldValue::Int(number))) => Some(number),
                _ => None,
            }
        };
        let keeps = self.functions.contains(record.function.id)
            && self.threads.admits_number(record.thread)
            && (self.comms.is_empty() || {
                let comm = comm();
                let means =
                    |numbers: &NumberRanges| comm.is_some_and(|comm| numbers.contains(comm));
                self.comms.admits(means)
            })
            && (self.windows.is_empty() || {
                let (start, stop) = (record.wall.start.ns(), record.wall.stop.ns());
                self.windows
                    .admits(|&(from, to)| start <= to && stop >= from)
            });
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
        if !self.functions.contains(FUNCTION_ENTER) {
            // Names of addresses and annotations; without the calls nothing refers to them.
            trailer.address_labels = Vec::<AddressLabel>::new();
        }
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
