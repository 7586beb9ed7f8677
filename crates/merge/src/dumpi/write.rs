//! The files of a run.

use super::convert::{CallOutcome, Converter};
use super::options::DumpiOptions;
use blockfile::counts;
use blockfile::define::{self, COUNTS, ClockReading, Definition, THREAD_END};
use blockfile::file::{BlockFile, ThreadBlocks};
use blockfile::function::FunctionStep;
use blockfile::layout::ended;
use blockfile::record::Record;
use blockfile::user::{UserEvent, UserEventContent};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use trace_formats::clog2::annotations::NO_FINALIZE;
use trace_formats::dumpi::meta::Meta;
use trace_formats::dumpi::types::{
    CLOCK_KEY, CLOCK_OF_ZERO, ClockOffsets, ClockSpan, DumpiHeader, DumpiTrailer, Keyval,
    MESSAGES_INCOMPLETE, MESSAGES_KEY, Mask, Version,
};
use trace_formats::dumpi::write::{DumpiWriteError, DumpiWriter, FileWriter, LIBDUMPI, RecordHead};
use trace_model::PendingFile;
use unify::clock::ClockMap;
use unify::functions::{FunctionNames, FunctionStack};
use unify::scan::Scan;
use unify::timeline::Timeline;
use wrappers::Table;

/// Result of writing the file of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpiFileSummary {
    /// The file.
    pub path: PathBuf,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Calls with a record of their own.
    pub calls: u64,
    /// Calls written as a pair of pseudo calls.
    pub extensions: u64,
    /// Annotations: those by MPI_Pcontrol, and that of a process that did not come to MPI_Finalize.
    pub annotations: u64,
    /// Calls without a record, because DUMPI has none for them and extensions are off.
    pub left_out: u64,
    /// Calls without a record, because their arguments cannot be read.
    pub damaged: u64,
}

/// Why the files of a run were not written.
#[derive(Debug)]
pub enum DumpiRunError {
    /// The block file was written with another function table.
    Table {
        /// Fingerprint in the block file.
        found: u64,
        /// Fingerprint of the table given.
        expected: u64,
    },
    /// The process has no rank: MPI_Init did not return.
    NoRank,
    /// Writing failed.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: DumpiWriteError,
    },
}

impl fmt::Display for DumpiRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DumpiRunError::Table { found, expected } => write!(
                f,
                "written with function table {found:016x}, this program has {expected:016x}"
            ),
            DumpiRunError::NoRank => write!(f, "the process ended before MPI_Init gave it a rank"),
            DumpiRunError::Write {
                error: error @ DumpiWriteError::File { .. },
                ..
            } => error.fmt(f),
            DumpiRunError::Write { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for DumpiRunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            DumpiRunError::Write { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Writes the `.bin` file of the process that left `file`, which `scan` was made of, with times on rank 0's clock as the scan has it.
///
/// # Errors
/// If `file` was written with another function table than `table`, has no rank, or the output fails; no file is left then.
pub fn write(
    file: &BlockFile<'_>,
    scan: &Scan,
    table: &Table,
    options: &DumpiOptions,
) -> Result<DumpiFileSummary, DumpiRunError> {
    let rank = scan.rank().ok_or(DumpiRunError::NoRank)?;
    let path = options.bin_path(rank);
    let failed = |error| DumpiRunError::Write {
        path: path.clone(),
        error,
    };
    check_table(file, table)?;
    if options.folders
        && let Some(folder) = path.parent()
    {
        // If it cannot be made, that shows when the file is.
        drop(fs::create_dir_all(folder));
    }
    let times = DumpiTimes::on_common_clock(scan);
    let mut writer = FileWriter::create(&path, times.offsets).map_err(failed)?;
    let mut converter = Converter::new(table, file.info().family, options);
    let mut summary =
        stream(file, scan, options, &times, &mut converter, &mut writer).map_err(failed)?;
    let trailer = trailer(converter, scan, &times);
    let index = writer.finish(&trailer, LIBDUMPI).map_err(failed)?;
    // The index is what the file ends with, the table of names what stands before it.
    summary.bytes = fs::metadata(&path).map_or(index.address_labels, |m| m.len());
    summary.path = path;
    Ok(summary)
}

/// As [`write()`] on the process's own clock, to any output and whatever the rank; gives the output back.
///
/// # Errors
/// If `file` was written with another function table than `table` or the output fails.
pub fn write_to<W: Write>(
    file: &BlockFile<'_>,
    table: &Table,
    options: &DumpiOptions,
    out: W,
) -> Result<(W, DumpiFileSummary), DumpiRunError> {
    let failed = |error| DumpiRunError::Write {
        path: PathBuf::from("DUMPI output"),
        error,
    };
    check_table(file, table)?;
    let scan = Scan::new(file);
    let times = DumpiTimes::on_own_clock(&scan);
    let mut writer = DumpiWriter::new(out, times.offsets).map_err(failed)?;
    let mut converter = Converter::new(table, file.info().family, options);
    let summary =
        stream(file, &scan, options, &times, &mut converter, &mut writer).map_err(failed)?;
    let trailer = trailer(converter, &scan, &times);
    let (out, _) = writer.finish(&trailer, LIBDUMPI).map_err(failed)?;
    Ok((out, summary))
}

/// Writes the metafile of the run that the process of `scan` was a part of: the business of rank 0. `present` are the ranks that
/// were recorded, in order; the others are named as absent. Gives its path.
///
/// # Errors
/// If the file cannot be written; none is left then.
pub fn write_meta(
    scan: &Scan,
    options: &DumpiOptions,
    present: impl IntoIterator<Item = u32>,
) -> Result<PathBuf, DumpiRunError> {
    let header = header(scan);
    let prefix = options.prefix();
    let mut meta = Meta {
        hostname: header.hostname,
        numprocs: scan.info.size,
        username: header.username,
        starttime: header.starttime,
        // Without directories: readers look beside the metafile.
        fileprefix: prefix
            .file_name()
            .unwrap_or_default()
            .as_encoded_bytes()
            .to_vec(),
        version: Version::CURRENT,
        absent: Vec::new(),
        ranks_per_folder: match options.folders {
            true => DumpiOptions::RANKS_PER_FOLDER,
            false => 0,
        },
    };
    meta.set_present(present);
    let path = options.meta_path();
    replace(&path, &meta.text()).map_err(|error| DumpiRunError::Write {
        path: path.clone(),
        error: DumpiWriteError::Io(error),
    })?;
    Ok(path)
}

/// Writes a file that appears under its name only when it is complete.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = PendingFile::create_regular(path)?;
    file.write_all(content)?;
    file.persist()
}

fn check_table(file: &BlockFile<'_>, table: &Table) -> Result<(), DumpiRunError> {
    let (found, expected) = (file.info().table, table.fingerprint());
    match found == expected {
        true => Ok(()),
        false => Err(DumpiRunError::Table { found, expected }),
    }
}

/// Header: where and when the process ran.
fn header(scan: &Scan) -> DumpiHeader {
    let process = scan.library.process();
    let user = match process.user.as_str() {
        "" => "<none>",
        user => user,
    };
    DumpiHeader {
        version: Version::CURRENT,
        starttime: first_reading(scan).realtime / SECOND,
        hostname: process.host.clone().into_bytes(),
        username: user.as_bytes().to_vec(),
        mesh_coords: Vec::new(),
        mesh_sizes: Vec::new(),
    }
}

/// First reading of the clocks of the process.
fn first_reading(scan: &Scan) -> ClockReading {
    let first = scan.readings.iter().min_by_key(|reading| reading.ticks);
    first.copied().unwrap_or_default()
}

/// Conversion of ticks to the times of a file.
struct DumpiTimes {
    clock: ClockMap,
    /// Whether `clock` is that of rank 0, which differs from the process's own.
    is_corrected: bool,
    /// The seconds that times count from: not later than any of them.
    offsets: ClockOffsets,
}

impl DumpiTimes {
    /// Times on the clock of the process's host, as the reference's files have them.
    fn on_own_clock(scan: &Scan) -> DumpiTimes {
        let clock = ClockMap::new(scan.info.clock, &scan.readings, &[]);
        DumpiTimes::of(scan, clock, false)
    }

    /// Times on rank 0's clock, where that is another one; else as [`DumpiTimes::on_own_clock`].
    fn on_common_clock(scan: &Scan) -> DumpiTimes {
        let own = DumpiTimes::on_own_clock(scan);
        let ticks = first_reading(scan).ticks;
        let shift = scan
            .clock
            .ns(ticks)
            .wrapping_sub(own.clock.monotonic_ns(ticks));
        match shift.unsigned_abs() >= LEAST_SHIFT {
            true => DumpiTimes::of(scan, scan.clock.clone(), true),
            false => own,
        }
    }

    fn of(scan: &Scan, clock: ClockMap, is_corrected: bool) -> DumpiTimes {
        let readings = scan.readings.iter().map(|reading| reading.ticks);
        let earliest = readings.chain(scan.first_tick()).min();
        let wall = earliest.map_or(0, |ticks| nanoseconds(&clock, ticks) / SECOND);
        DumpiTimes {
            clock,
            is_corrected,
            offsets: ClockOffsets {
                cpu: (first_reading(scan).cpu / SECOND) as i32,
                wall: wall as i32,
            },
        }
    }
}

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// Clocks that differ by less, in ns, are the same.
const LEAST_SHIFT: u64 = 1_000;

/// CLOCK_MONOTONIC at `ticks`, ns: of rank 0's host, where that is another one and known.
#[inline]
fn nanoseconds(clock: &ClockMap, ticks: u64) -> u64 {
    u64::try_from(clock.ns(ticks)).unwrap_or(0)
}

/// Writes all calls.
fn stream<W: Write>(
    file: &BlockFile<'_>,
    scan: &Scan,
    options: &DumpiOptions,
    times: &DumpiTimes,
    converter: &mut Converter<'_>,
    writer: &mut DumpiWriter<W>,
) -> Result<DumpiFileSummary, DumpiWriteError> {
    let heads = Heads::new(options, &times.clock);
    let mut beside = BesideCalls {
        functions: FunctionNames::new(&scan.entered, &options.functions),
        frames: vec![FunctionStack::default(); file.threads().len()],
        regions: vec![Vec::new(); file.threads().len()],
        counts: PendingCounts::new(file, scan.counters.len()),
        annotations: 0,
    };
    let mut outcomes = [0; CallOutcome::COUNT];
    let mut timeline = Timeline::new(file);
    while timeline.advance() {
        let (record, thread) = (timeline.record(), timeline.thread());
        if !record.is_call() {
            // DUMPI knows nothing of what is below MPI.
            if !record.is_operation() {
                beside.take(&record, timeline.position(), converter, writer, || {
                    heads.of(&record, thread)
                })?;
            }
            continue;
        }
        let mut head = heads.of(&record, thread);
        let values = beside.counts.of(timeline.position());
        if !values.is_empty() {
            head.mask.0 |= Mask::COUNTERS;
        }
        let outcome = converter.call(writer, &record, &head, values)?;
        outcomes[outcome as usize] += 1;
        beside.counts.forget(timeline.position());
    }
    if options.unfinished {
        let running = |thread: &ThreadBlocks<'_>| Some((thread.number, thread.open_call()?));
        let mut running: Vec<_> = file.threads().iter().filter_map(running).collect();
        running.sort_by_key(|(_, open)| open.start);
        for (thread, open) in running {
            let running = Record {
                start: open.start,
                ..Record::default()
            };
            converter.unfinished(writer, open.function, &heads.of(&running, thread))?;
        }
        if scan.info.ended != ended::FINALIZED {
            let end = Record {
                start: scan.last_tick().unwrap_or_default(),
                ..Record::default()
            };
            converter.text(writer, NO_FINALIZE.to_owned(), &heads.of(&end, 0))?;
            beside.annotations += 1;
        }
    }
    let of = |outcome: CallOutcome| outcomes[outcome as usize];
    Ok(DumpiFileSummary {
        calls: of(CallOutcome::Call),
        extensions: of(CallOutcome::Extension),
        annotations: beside.annotations,
        left_out: of(CallOutcome::LeftOut),
        damaged: of(CallOutcome::Damaged),
        ..DumpiFileSummary::default()
    })
}

/// What the heads of records are made of.
struct Heads<'t> {
    mask: u8,
    cpu: bool,
    clock: &'t ClockMap,
}

impl<'t> Heads<'t> {
    fn new(options: &DumpiOptions, clock: &'t ClockMap) -> Heads<'t> {
        let wall = if options.wall { Mask::WALL } else { 0 };
        Heads {
            mask: Mask::THREAD | (options.statuses & Mask::STATUSES) | wall,
            cpu: options.cpu,
            clock,
        }
    }

    /// Head for a record of this thread.
    #[inline(always)] // so that nothing is read of the record, and nothing kept of the head, that is not used
    fn of(&self, record: &Record<'_>, thread: u32) -> RecordHead {
        let cpu = record.cpu.filter(|_| self.cpu);
        RecordHead {
            mask: Mask(self.mask | cpu.map_or(0, |_| Mask::CPU)),
            thread: thread as u16,
            cpu: cpu.map_or(ClockSpan::default(), |(start, stop)| {
                ClockSpan::from_ns(start, stop)
            }),
            wall: ClockSpan::from_ns(
                nanoseconds(self.clock, record.start),
                nanoseconds(self.clock, record.stop()),
            ),
        }
    }
}

/// What stands between the calls: definitions, events and functions of the program, values of counters.
struct BesideCalls {
    functions: FunctionNames,
    /// Functions that each thread is in.
    frames: Vec<FunctionStack>,
    /// Numbers of the regions that each thread is in.
    regions: Vec<Vec<i32>>,
    counts: PendingCounts,
    annotations: u64,
}

impl BesideCalls {
    /// Takes a record that is no call, of the thread at `position`. `head` gives its head.
    fn take<W: Write>(
        &mut self,
        record: &Record<'_>,
        position: usize,
        converter: &mut Converter<'_>,
        writer: &mut DumpiWriter<W>,
        head: impl Fn() -> RecordHead,
    ) -> Result<(), DumpiWriteError> {
        if record.function == define::USER_EVENT {
            let Some(event) = UserEvent::decode(record.payload) else {
                return Ok(());
            };
            if let Some(open) = self.regions.get_mut(position) {
                follow(open, &event);
            }
            return converter.user_event(writer, &event, &head());
        }
        if record.function == THREAD_END {
            return self.end_thread(position, converter, writer, &head());
        }
        if record.function == COUNTS {
            self.counts.take(position, record.payload);
            return Ok(());
        }
        if let Some(step) = FunctionStep::of(record) {
            let head = head();
            let mut left = Vec::new();
            let open = self.frames.get_mut(position);
            let entered =
                open.is_some_and(|open| open.step(&step, 0.0, |frame| left.push(frame.address)));
            let all = left.into_iter().map(|address| (address, false));
            for (address, enters) in all.chain(entered.then_some((step.address, true))) {
                self.step(address, enters, converter, writer, &head)?;
            }
            return Ok(());
        }
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Annotation { key, text }) => {
                self.annotations += 1;
                converter.annotation(writer, key, &text, &head())
            }
            Some(definition) => {
                converter.define(&definition);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Writes that the program enters or leaves the function at this address, if it has a name.
    fn step<W: Write>(
        &self,
        address: u64,
        enters: bool,
        converter: &mut Converter<'_>,
        writer: &mut DumpiWriter<W>,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        match self.functions.name(address) {
            Some(name) => converter.step(writer, (address, name), enters, head),
            None => Ok(()),
        }
    }

    /// The thread at `position` has ended: the functions and regions that it is in end with it.
    fn end_thread<W: Write>(
        &mut self,
        position: usize,
        converter: &mut Converter<'_>,
        writer: &mut DumpiWriter<W>,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        let frames = self.frames.get_mut(position).map(std::mem::take);
        for frame in frames.unwrap_or_default().close() {
            self.step(frame.address, false, converter, writer, head)?;
        }
        let regions = self.regions.get_mut(position).map(std::mem::take);
        for number in regions.unwrap_or_default().into_iter().rev() {
            let exit = UserEvent {
                number,
                comm: None,
                inside: false,
                content: UserEventContent::Exit,
            };
            converter.user_event(writer, &exit, head)?;
        }
        Ok(())
    }
}

/// Follows which regions a thread is in: `open` are their numbers.
fn follow(open: &mut Vec<i32>, event: &UserEvent<'_>) {
    match event.content {
        UserEventContent::Enter => open.push(event.number),
        UserEventContent::Exit => {
            if let Some(last) = open.iter().rposition(|number| *number == event.number) {
                open.remove(last);
            }
        }
        _ => {}
    }
}

/// Values of counters that wait for their calls.
struct PendingCounts {
    /// Number of values that a call must have: as many as there are names.
    wanted: usize,
    by_thread: Vec<Vec<(i64, i64)>>,
}

impl PendingCounts {
    fn new(file: &BlockFile<'_>, wanted: usize) -> PendingCounts {
        PendingCounts {
            wanted,
            by_thread: vec![Vec::new(); file.threads().len()],
        }
    }

    /// Keeps the counter values of the next call of the thread at this position.
    fn take(&mut self, position: usize, payload: &[u8]) {
        if let Some(values) = self.by_thread.get_mut(position) {
            values.clear();
            values.extend(counts::decode(payload));
        }
    }

    /// Counter values of the running call of the thread at this position; empty if the file names other counters.
    #[inline]
    fn of(&self, position: usize) -> &[(i64, i64)] {
        if self.wanted == 0 {
            return &[];
        }
        let values = self.by_thread.get(position).map_or(&[][..], Vec::as_slice);
        if values.len() == self.wanted {
            values
        } else {
            &[]
        }
    }

    #[inline]
    fn forget(&mut self, position: usize) {
        if self.wanted == 0 {
            return;
        }
        if let Some(values) = self.by_thread.get_mut(position) {
            values.clear();
        }
    }
}

fn trailer(converter: Converter<'_>, scan: &Scan, times: &DumpiTimes) -> DumpiTrailer {
    let (footer, type_sizes, address_labels) = converter.finish();
    let corrected = Keyval {
        key: CLOCK_KEY.to_vec(),
        value: CLOCK_OF_ZERO.to_vec(),
    };
    let incomplete = Keyval {
        key: MESSAGES_KEY.to_vec(),
        value: MESSAGES_INCOMPLETE.to_vec(),
    };
    let pairs = [
        times.is_corrected.then_some(corrected),
        scan.is_cut.then_some(incomplete),
    ];
    DumpiTrailer {
        header: header(scan),
        footer,
        keyvals: pairs.into_iter().flatten().collect(),
        perf_labels: scan
            .counters
            .iter()
            .map(|name| name.clone().into_bytes())
            .collect(),
        type_sizes,
        address_labels,
    }
}
