//! The merge at MPI_Finalize, step by step.

use super::arrivals;
use super::beside;
use super::endpoints;
use super::last_words::own_last_words;
use super::operations::OperationMerge;
use super::outputs::{OutputFiles, WrittenOutputs};
use super::own_blocks::{self, OwnBlocks, Unread};
use super::plan::{call_ids, plan};
use super::rank_summary::{RankSummary, TextOfRank, reduce};
use super::report::{self, Conclusion, Diagnostics, WrittenFiles};
use super::shared_archive;
use super::slices::{self, SliceMerge, SliceSettings};
use super::tree_merge::{self, MergedRecords, NoSink};
use super::trouble::{Trouble, on_rank, said};
use super::zero::{FromZero, from_zero};
use crate::api::mpe;
use crate::blocks::own;
use crate::call::world_collectives;
use crate::define;
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::meeting::{self, AllWaiting, MeetingFailure, Missed};
use crate::exchange::spread::spread;
use crate::exchange::{clocks, neighbours};
use crate::memory;
use crate::mpi::world::World;
use crate::platform::say::say;
use crate::platform::{folder, host, program};
use crate::thread::callids;
use crate::thread::current;
use crate::thread::records::put_definition;
use blockfile::define::Definition;
use blockfile::file::BlockFile;
use io_attribution::EventExtract;
use merge::dumpi;
use merge::operations::{self, DrawnOperations};
use merge::outputs::{OutputPlan, SharedOutputs};
use merge::slices::{SliceInput, is_worth_while};
use merge::stream::{MergeSettings as StreamSettings, MergeStream};
use settings::{MergeWay, Settings};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace_formats::clog2::{Clog2CommKind, Gid, Preamble};
use unify::clock::ClockMap;
use unify::endpoints::DrawnEndpoints;
use unify::gids::GidTable;
use unify::polls::repeated;
use unify::run_files::reads_counter_of;
use unify::scan::Scan;
use unify::schema::Schema;
use wrappers::Table;

/// Bytes of memory without which no merge is begun.
const MIN_MEMORY_BYTES: usize = 4 << 20;

/// Bytes that limits must leave MPI for the messages of a parallel merge. MPICH ends the program where it cannot allocate a request.
const MIN_BYTES_FOR_MESSAGES: u64 = 64 << 20;

/// Bytes of address space that limits must leave MPI for each rank with which the recorder makes it exchange messages. UCX, below MPICH,
/// attaches 4.3 MB of the memory of each. Where it cannot, the message never comes.
const MIN_BYTES_OF_PARTNER: u64 = 5 << 20;

/// Longest wait for ranks of other hosts about which nothing is said: a job whose ranks end at different times need not hear of it.
const MAX_SILENT_WAIT: Duration = Duration::from_secs(10);

/// State that the caller of [`finish`] keeps, as a merge that is given up gives nothing back.
#[derive(Default)]
pub struct KeptForCaller {
    /// Claim that keeps other runs from the names of this one's DUMPI files.
    pub claim: Option<dumpi::Claim>,
    /// The way to the other ranks, as long as they wait for this one.
    pub waiting: Option<Exchange>,
}

/// Why there is no merged trace of all ranks.
pub enum Unmerged {
    /// The ranks cannot meet.
    Missed(Missed),
    /// The merge is left to a later command (`merge later`).
    Later,
    /// Anything else.
    Because(Trouble),
}

impl From<Trouble> for Unmerged {
    fn from(why: Trouble) -> Unmerged {
        Unmerged::Because(why)
    }
}

fn said_starved(ranks: u64, world: &World) -> Trouble {
    format!(
        "{ranks} of {} ranks have no memory for the merge: not merged",
        world.size
    )
}

/// Merges the records of all ranks and writes the files. Collective.
pub fn finish(
    world: &World,
    own_settings: &Settings,
    kept: &mut KeptForCaller,
) -> Result<(), Unmerged> {
    // SAFETY: the state of the running thread.
    let mut t = unsafe { current().as_mut() };
    if let Some(t) = t.as_deref_mut() {
        own_last_words(t);
    }
    let debug = Diagnostics::new(world, own_settings);
    debug.step("all ranks are asked for");
    let line = meet(world, own_settings)?;
    kept.waiting = Some(line);
    let mut zero = from_zero(&line, world, own_settings)?;
    kept.claim = zero.claim.take();
    let (world, settings) = (&zero.world, &zero.settings);
    // The merge does without it; then times are as this rank's own clock has them.
    let _ = clocks::compare(t.as_deref_mut(), &line, world);
    if let Some(t) = t {
        match zero.clock.readings.last() {
            // Recovered from the block files, the trace has the times that it gets here.
            Some(&reading) if world.rank == 0 => put_definition(t, &Definition::Clock(reading)),
            _ => define::clocks(t),
        }
    }
    if settings.merge == MergeWay::Later {
        let own = RankSummary {
            calls: callids::calls_given_out(),
            ..RankSummary::default()
        };
        let whole = reduce(&line, world.rank, world.size, own).map_err(said)?;
        kept.waiting = None;
        if world.rank == 0 {
            report::later(world, settings, &zero.base, Some(whole.calls));
        }
        return Err(Unmerged::Later);
    }
    let begun = Instant::now();

    let opened = memory::has(MIN_MEMORY_BYTES).then(|| OwnBlocks::open(world));
    let (blocks, missing) = match opened {
        Some((blocks, None)) => (blocks, None),
        Some((blocks, Some(Unread::Because(why)))) => (blocks, Some(why)),
        None | Some((_, Some(Unread::NoMemory))) => {
            // The others hear of it before they begin to merge.
            let part = RankSummary {
                starved: 1,
                ..RankSummary::default()
            };
            let whole = reduce(&line, world.rank, world.size, part).map_err(said)?;
            kept.waiting = None;
            return Err(said_starved(whole.starved, world).into());
        }
    };
    // Records that could not be read now may be read later.
    let unread = missing.clone().filter(|_| own::store().is_some());
    let file = blocks.file()?;
    mpe::merged(&zero.base);
    debug.step("rank 0 is there");
    let table = wrappers::table().map_err(|error| error.to_string())?;
    let scan = own_scan(&file, &zero);
    let mut part = own_part(&file, &scan, table, &zero, missing);
    let mut bin = None;
    if settings.outputs.dumpi {
        bin = write_dumpi(&file, &scan, table, &zero, &mut part);
        if let Some((path, bytes)) = &bin {
            debug.file(path, *bytes);
        }
    }
    let ids = callids::calls_given_out();
    report::counts(settings, world, ids, &scan, table);
    debug.calls(&scan, table);
    debug.step("own calls are read");
    let own_comms = part.comms.clone();
    let whole = reduce(&line, world.rank, world.size, part).map_err(said)?;

    if whole.starved > 0 {
        kept.waiting = None;
        // One of a trace that will not be there.
        drop(bin.map(|(path, _)| std::fs::remove_file(path)));
        return Err(said_starved(whole.starved, world).into());
    }
    debug.step("the ranks agree");
    let ranks = AllRanks {
        line: &line,
        zero: &zero,
        table,
        file: &file,
        scan: &scan,
        whole: &whole,
        gids: GidTable::new(&whole.comms),
        debug: &debug,
    };
    let Conclusion { slog2, result } = ranks.merge(&own_comms, begun)?;
    debug.step("all calls are passed on");
    make_beside(&line, &zero, slog2.as_deref())?;
    // Blocks are given up only when rank 0 has all that was asked for.
    let verdict = spread(
        &line,
        world.rank,
        world.size,
        vec![u8::from(result.is_ok())],
    );
    // Rank 0 may still come to its end although this rank waits no longer. What the verdict is, all know.
    let has_failed = |failure: &ExchangeFailure| !matches!(failure, ExchangeFailure::Silence(_));
    kept.waiting = kept
        .waiting
        .filter(|_| verdict.as_ref().is_err_and(has_failed));
    let result = match (result, verdict.map_err(said)?.first()) {
        (Err(why), _) => Err(why),
        (Ok(()), Some(1)) => unread.map_or(Ok(()), Err),
        (Ok(()), _) => Err("rank 0 could not write all files".to_owned()),
    };
    result.map_err(Unmerged::Because)
}

/// Makes what the settings ask for of the SLOG2 file that rank 0 has written. Collective.
fn make_beside(line: &Exchange, zero: &FromZero, slog2: Option<&Path>) -> Result<(), Trouble> {
    let (world, settings) = (&zero.world, &zero.settings);
    if settings.outputs.otf2 {
        shared_archive::write(line, world, settings, slog2).map_err(said)?;
    }
    if let Some(slog2) = slog2 {
        beside::report(slog2, settings);
    }
    Ok(())
}

/// The line to the other ranks, once all of them have come.
fn meet(world: &World, settings: &Settings) -> Result<Exchange, Unmerged> {
    gather_here(world, settings)?;
    let begun = Instant::now();
    let is_said = Cell::new(world.rank != 0 || settings.quiet);
    let mut waiting = AllWaiting::default();
    let comm = meeting::meet(settings.deadline, || {
        let limit = settings.deadline.map_or(MAX_SILENT_WAIT, |limit| limit / 4);
        if begun.elapsed() >= limit.min(MAX_SILENT_WAIT) && !is_said.replace(true) {
            say_who_is_waited_for(world, settings);
        }
        waiting.look(world.size)
    });
    let comm = comm.map_err(|missed| match missed {
        MeetingFailure::GivenUp(missed) => Unmerged::Missed(missed),
        missed => said(missed.failure()).into(),
    })?;
    Ok(Exchange::new(comm, world, settings.deadline))
}

/// Says which ranks may be the ones that do not come. Of those on other hosts nothing tells whether they have a recorder.
fn say_who_is_waited_for(world: &World, settings: &Settings) {
    let (count, first) =
        neighbours::Neighbours::now(world.size as u32).uncertain(world.size as u32);
    if count == 0 {
        return;
    }
    let first: Vec<String> = first.iter().map(u32::to_string).collect();
    say!(
        "trace: rank {} on {} waits in MPI_Finalize for {count} rank{} (first: {}), {}: from here nothing tells whether they have a recorder",
        world.rank,
        host::host(),
        if count == 1 { "" } else { "s" },
        first.join(", "),
        match settings.deadline {
            Some(limit) => format!("for at most {} s", limit.as_secs_f64()),
            None => "without a limit".to_owned(),
        },
    );
}

/// Scans this rank's block file, in times of rank 0 if both read the same counter.
fn own_scan(file: &BlockFile<'_>, zero: &FromZero) -> Scan {
    let mut scan = Scan::new(file);
    if reads_counter_of(&scan, &zero.clock.boot) && zero.clock.readings.len() > 1 {
        // The same time as rank 0's to the last bit.
        scan.clock = ClockMap::new(file.info().clock, &zero.clock.readings, &[]);
    }
    scan.name_functions(&zero.dumpi.functions);
    scan
}

/// Summary that this rank gives the others before they merge; `missing` says why its block file cannot be read.
fn own_part(
    file: &BlockFile<'_>,
    scan: &Scan,
    table: &Table,
    zero: &FromZero,
    missing: Option<Trouble>,
) -> RankSummary {
    let world = &zero.world;
    let rank = world.rank as u32;
    let of_rank = |text: String| TextOfRank::new(rank, text);
    let mut categories = scan.categories.clone();
    categories.set_rank(rank);
    RankSummary {
        named: scan.named.iter().map(|(_, name)| name.to_owned()).collect(),
        first_ns: scan.first_ns().unwrap_or(i64::MAX),
        began_ns: scan.began_ns().unwrap_or(i64::MAX),
        threads: scan.threads.max(1),
        width: scan.width(),
        calls: scan.calls,
        operations: scan.operations,
        ignored: scan.ignored,
        repeated: repeated(file, scan, table),
        lost: scan.lost,
        dropped: scan.info.dropped,
        cut: u64::from(scan.is_cut),
        lost_reason: match scan.lost_reasons.is_empty() {
            true => TextOfRank::default(),
            false => of_rank(on_rank(world, &scan.lost_reasons.join(", "))),
        },
        functions: scan.defined_functions(table),
        comms: scan.gids(),
        categories,
        counters: scan.counters.clone(),
        hosts: vec![(rank, host::host())],
        programs: vec![(rank, program::name())],
        differing: u64::from(zero.difference.is_some()),
        difference: of_rank(zero.difference.clone().unwrap_or_default()),
        limited: u64::from(!memory::limits_leave(MIN_BYTES_FOR_MESSAGES)),
        silent: u64::from(missing.is_some()),
        reason: of_rank(missing.map(|why| on_rank(world, &why)).unwrap_or_default()),
        ..RankSummary::default()
    }
}

/// Writes this rank's DUMPI file and notes in `part` what came of it. Gives the file's path and size in bytes.
fn write_dumpi(
    file: &BlockFile<'_>,
    scan: &Scan,
    table: &Table,
    zero: &FromZero,
    part: &mut RankSummary,
) -> Option<(PathBuf, u64)> {
    match dumpi::write(file, scan, table, &zero.dumpi) {
        Ok(summary) => {
            part.dumpi_bytes = summary.bytes;
            Some((summary.path, summary.bytes))
        }
        Err(e) => {
            part.dumpi_failures = 1;
            let why = on_rank(&zero.world, &e.to_string());
            part.dumpi_reason = TextOfRank::new(zero.world.rank as u32, why);
            None
        }
    }
}

/// Inputs of the merge of all ranks.
struct AllRanks<'a> {
    line: &'a Exchange,
    zero: &'a FromZero,
    table: &'static Table,
    file: &'a BlockFile<'a>,
    scan: &'a Scan,
    whole: &'a RankSummary,
    gids: GidTable,
    debug: &'a Diagnostics,
}

/// Agreement of the ranks on how records are read.
struct Reading {
    /// Names of the program's functions on all ranks, sorted.
    names: Vec<String>,
    /// Numbers of this rank's communicators in the merged file.
    lids: Vec<i32>,
    /// Whether the beginnings of states are given, too.
    enters: bool,
    /// The messages that are drawn, where calls are missing that some hang on.
    drawn_endpoints: Option<DrawnEndpoints>,
    /// On rank 0 the number of message endpoints that are not drawn.
    unmatched_endpoints: u64,
}

impl AllRanks<'_> {
    /// Passes the records of this rank on, and at rank 0 writes the files; `own_comms` are the communicators of this rank. Says what came of the
    /// files. Collective.
    fn merge(
        &self,
        own_comms: &[(Gid, Clog2CommKind)],
        begun: Instant,
    ) -> Result<Conclusion, Unmerged> {
        let (world, settings, whole) = (&self.zero.world, &self.zero.settings, self.whole);
        let mut schema = Schema::new(
            self.table,
            self.file.info().family,
            call_ids(settings),
            self.scan.library.functions(),
        )
        .with_categories(&whole.categories, false);
        if settings.details && settings.outputs.slog2 {
            schema = schema.with_details(self.table);
        }
        let preamble = schema.preamble(whole.width, whole.threads, &whole.functions);
        let output_plan = || plan(world, settings, &self.zero.base, whole, preamble.clone());
        let mut notes = Vec::new();
        let mut operations = None;
        if settings.outputs.slog2 && whole.operations > 0 {
            match self.operations(&schema, &preamble)? {
                Ok(drawn) => operations = drawn,
                Err(why) => notes.push(why),
            }
            self.debug.step("operations are passed on");
        }
        if self.is_parallel() {
            match self.in_parallel(&schema, own_comms, &output_plan(), &mut operations)? {
                Ok((written, unmatched_endpoints)) => {
                    return Ok(written.map_or(Conclusion::OF_OTHERS, |written| {
                        self.conclude(written, notes, unmatched_endpoints, begun)
                    }));
                }
                Err(why) if world.rank == 0 => say!("trace: {why}"),
                Err(_) => {}
            }
        }
        let mut outputs = (world.rank == 0).then(|| OutputFiles::new(output_plan()));
        if let (Some(outputs), Some(drawn)) = (&mut outputs, operations) {
            outputs.draw(drawn);
        }
        let mut unmatched_endpoints = 0;
        if settings.outputs.clog2 || settings.outputs.slog2 {
            unmatched_endpoints = self.calls(&schema, own_comms, outputs.as_mut())?;
        }
        Ok(match outputs {
            Some(outputs) => {
                let written = outputs.finish(self.gids.table());
                self.conclude(written, notes, unmatched_endpoints, begun)
            }
            None => Conclusion::OF_OTHERS,
        })
    }

    /// Whether all ranks write the files together, if that is possible.
    fn is_parallel(&self) -> bool {
        let settings = &self.zero.settings;
        let is_wanted = match settings.merge {
            MergeWay::Parallel => true,
            MergeWay::Auto => is_worth_while(
                self.whole.calls,
                self.zero.world.size.unsigned_abs() as usize,
            ),
            MergeWay::Tree | MergeWay::Later => false,
        };
        is_wanted && settings.outputs.slog2
    }

    /// Passes operations below MPI on, and at rank 0 has them drawn. The inner error says why that was not possible. Collective.
    fn operations(
        &self,
        schema: &Schema<'_>,
        preamble: &Preamble,
    ) -> Result<Result<Option<DrawnOperations>, String>, Trouble> {
        let operations = OperationMerge {
            line: self.line,
            world: &self.zero.world,
            folder: &folder::temporary(&self.zero.settings),
            table: self.table,
        };
        let comms = self.gids.table().0.len();
        let base = operations::base(preamble, self.whole.zero_ns(), comms);
        let own = EventExtract::new(self.file, self.scan, schema);
        operations.draw(own, base).map_err(said)
    }

    /// Passes the calls on, and at rank 0 has them written. Gives the number of messages whose other endpoint is not known.
    fn calls(
        &self,
        schema: &Schema<'_>,
        own_comms: &[(Gid, Clog2CommKind)],
        outputs: Option<&mut OutputFiles>,
    ) -> Result<u64, Trouble> {
        let (world, settings) = (&self.zero.world, &self.zero.settings);
        let enters = settings.outputs.clog2 || settings.clock_forward;
        let reading = self.reading(schema, own_comms, enters)?;
        let own = self.own_records(schema, &reading);
        let (rank, size) = (world.rank, world.size);
        let merged = match outputs {
            Some(outputs) => {
                tree_merge::take_part::<MergedRecords>(self.line, rank, size, own, outputs)
            }
            None => tree_merge::take_part::<MergedRecords>(self.line, rank, size, own, &mut NoSink),
        };
        merged.map_err(said)?;
        Ok(reading.unmatched_endpoints)
    }

    /// Agrees on how the records of all ranks are read; `enters` says whether the beginnings of states are needed. Collective.
    fn reading(
        &self,
        schema: &Schema<'_>,
        own_comms: &[(Gid, Clog2CommKind)],
        enters: bool,
    ) -> Result<Reading, Trouble> {
        let mut reading = Reading {
            names: self.whole.named.iter().cloned().collect(),
            lids: self.gids.lids(own_comms),
            enters,
            drawn_endpoints: None,
            unmatched_endpoints: 0,
        };
        if self.whole.cut > 0 {
            let all = self.own_records(schema, &reading);
            let (drawn, unmatched) =
                endpoints::agree(self.line, &self.zero.world, all).map_err(said)?;
            reading.drawn_endpoints = Some(drawn);
            reading.unmatched_endpoints = unmatched;
            self.debug.step("messages are counted");
        }
        Ok(reading)
    }

    /// The records of this rank.
    fn own_records<'s>(&'s self, schema: &'s Schema<'_>, reading: &'s Reading) -> MergeStream<'s> {
        let whole = self.whole;
        let settings = StreamSettings {
            ranks: whole.width,
            threads: whole.threads,
            zero_ns: whole.zero_ns(),
            open_until_ns: None,
            drawn_endpoints: reading.drawn_endpoints.as_ref(),
            describe: (self.zero.world.rank == 0).then_some(&whole.functions),
            functions: &reading.names,
            counters: self.counters(),
            enters: reading.enters,
        };
        MergeStream::new(schema, self.file, self.scan, &reading.lids, settings)
    }

    /// Names of the performance counters whose values are shown.
    fn counters(&self) -> &[String] {
        match self.zero.settings.outputs.slog2 {
            true => &self.whole.counters,
            false => &[],
        }
    }

    /// Has all ranks write the files together; `operations` are those below MPI, which rank 0 has drawn. Gives at rank 0 what was written, and
    /// the number of messages whose other endpoint is not known. The inner error says on all ranks why that cannot be. Collective.
    fn in_parallel(
        &self,
        schema: &Schema<'_>,
        own_comms: &[(Gid, Clog2CommKind)],
        plan: &OutputPlan,
        operations: &mut Option<DrawnOperations>,
    ) -> Result<Result<(Option<WrittenOutputs>, u64), Trouble>, Trouble> {
        let (world, settings, whole) = (&self.zero.world, &self.zero.settings, self.whole);
        if settings.clock_forward {
            return Ok(Err(slices::said_tree("clock-forward is set")));
        }
        if whole.limited > 0 {
            let why = "limits of memory (ulimit -v, -d) leave MPI less than 64 MB";
            return Ok(Err(slices::said_tree(why)));
        }
        let mut outputs = (world.rank == 0).then(|| SharedOutputs::new(plan.clone()));
        let slice_settings = SliceSettings {
            zero_ns: whole.zero_ns(),
            tree: plan.tree_options(),
            clog2_block: if plan.clog2 {
                plan.preamble.block_size
            } else {
                0
            },
            scan: self.scan,
            operations: operations.as_ref(),
        };
        let begun = SliceMerge::begin(self.line, world, outputs.as_mut(), &slice_settings);
        let merge = match begun.map_err(said)? {
            Ok(merge) => merge,
            Err(why) => return Ok(Err(slices::said_tree(&why))),
        };
        self.debug.step("the ranks have a plan");
        let reading = self.reading(schema, own_comms, settings.outputs.clog2)?;
        let own = self.own_records(schema, &reading);
        let input = SliceInput {
            processes: vec![(world.rank.unsigned_abs(), own)],
            ranks: world.size.unsigned_abs(),
            preamble: &plan.preamble,
            schema,
            names: &reading.names,
            used: &whole.functions,
            counters: self.counters(),
            has_operations: whole.operations > 0,
            operations: operations.take(),
        };
        let written = merge.run(input, outputs, self.gids.table());
        Ok(Ok((written.map_err(said)?, reading.unmatched_endpoints)))
    }

    /// Ends the files of rank 0 and says what has been written, or why it has not; `notes` are what went wrong before.
    fn conclude(
        &self,
        written: WrittenOutputs,
        mut notes: Vec<String>,
        unmatched_endpoints: u64,
        begun: Instant,
    ) -> Conclusion {
        let (world, settings) = (&self.zero.world, &self.zero.settings);
        let WrittenOutputs {
            base,
            files,
            mut failures,
            corrected,
        } = written;
        if let Some(store) = own::store().filter(|_| settings.keep_blocks) {
            failures.extend(own_blocks::name_trace(store.path(), &base).err());
        }
        failures.append(&mut notes);
        for file in &files {
            self.debug.file(&file.path, file.size);
        }
        let written = WrittenFiles {
            scan: self.scan,
            dumpi: &self.zero.dumpi,
            ranks: None,
            files: &files,
            unmatched_endpoints,
            corrected,
            begun,
        };
        report::conclude(world, settings, self.whole, &written, failures)
    }
}

/// Waits for the ranks of this host, where all of them have a recorder, before MPI is asked for anything; where one has none,
/// gives up at once. What cannot be told here shows when the ranks meet.
fn gather_here(world: &World, settings: &Settings) -> Result<(), Unmerged> {
    // Making a communicator takes a message with each of so many ranks, at least.
    let partners = u64::from(world.size.max(1).ilog2());
    let is_starved = !memory::address_space_leaves(MIN_BYTES_OF_PARTNER * partners);
    let folder = own::store().and_then(|store| store.path().parent());
    let expected = folder
        .and_then(|folder| neighbours::all_with_block_files(folder, world.size as u32, world.run));
    let starved = if let (Some(folder), Some(expected)) = (folder, expected) {
        let progress = meeting::MpiProgress::of(world.rank);
        let meanwhile = || progress.make();
        let here = arrivals::HostOfRun {
            run: world.run,
            host: &host::kernel_start(),
            expected,
        };
        let own = arrivals::Arrival {
            is_starved,
            collectives: world_collectives::begun(),
        };
        let arrivals =
            arrivals::wait(folder, here, own, settings.deadline, meanwhile).map_err(said)?;
        if let Some((least, most)) = arrivals.collectives
            && least != most
            && expected == world.size as u32
        {
            return Err(Unmerged::Missed(Missed::OutOfStep { least, most }));
        }
        arrivals.starved
    } else if world.size > 1
        && let Some(absent) = meeting::absent(world.size)
    {
        return Err(Unmerged::Missed(Missed::Absent(absent)));
    } else {
        u64::from(is_starved)
    };
    match starved {
        0 => Ok(()),
        starved => Err(said_starved(starved, world).into()),
    }
}
