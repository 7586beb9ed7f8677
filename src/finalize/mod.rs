//! MPI_Finalize: from the blocks of all ranks to files.
//!
//! The ranks meet on a communicator that is made now ([`meeting`]). Every rank reads its own block file as `mpitrace recover` would, and writes its DUMPI file from it. Then the ranks agree on
//! what must be common ([`agree`]), turn their records into streams of CLOG2 records, and merge them in a binary tree
//! ([`mod@merge`]); rank 0 writes CLOG2 and SLOG2 from the merged stream ([`outputs`]). Operations below MPI go before, in the same
//! way, as rank 0 has to know them when it begins the SLOG2 file ([`operations`]). All messages are the recorder's own
//! and none is waited for beyond the deadline ([`exchange`]): when the merge fails, the block files stay and are named.

mod agree;
pub mod alone;
mod arrivals;
pub mod clocks;
mod exchange;
mod giving_up;
mod halves;
pub mod leaving;
pub mod meeting;
mod merge;
mod neighbours;
mod operations;
mod outputs;
mod report;
mod under_way;
mod zero;

use crate::api::functions;
use crate::api::mpe;
use crate::blocks::Contents;
use crate::blocks::fill::{self, put_definition};
use crate::blocks::thread::{self, Thread};
use crate::define;
use crate::memory::{self, Unfinished};
use crate::mpi::functions::NUMBERS;
use crate::mpi::library;
use crate::mpi::table::table;
use crate::platform::environment;
use crate::platform::folder;
use crate::platform::host;
use crate::platform::own_file;
use crate::process;
use crate::process::first;
use crate::process::start::{self, World};
use crate::say;
use crate::settings::{CallIds, Names, Settings, expand, job_id};
use agree::Part;
use blockfile::define::Definition;
use blockfile::file::File;
use blockfile::layout::Clock;
use exchange::{Exchange, Failure};
use leaving::Leaving;
use meeting::{Absent, Missed};
use merge::{Clog2, Nowhere, Sink};
use operations::Operations;
use outputs::{Ended, Outputs, Plan};
use report::{Diagnostics, Written};
use std::path::{Path, PathBuf};
use std::time::Instant;
use trace_formats::clog2::Preamble;
use trace_formats::clog2::states;
use trace_formats::dumpi::meta;
use trace_formats::dumpi::print::Zone;
use trace_formats::io::Extract;
use trace_formats::project::clock::ClockMap;
use trace_formats::project::clog2::{Schema, Settings as StreamSettings, Stream};
use trace_formats::project::dumpi;
use trace_formats::project::functions::Choice;
use trace_formats::project::gids::GidTable;
use trace_formats::project::polls::repeated;
use trace_formats::project::scan::Scan;
use zero::from_zero;

/// Merges and writes the trace. Collective; called once, before the real MPI_Finalize. A rank that could not record anything
/// takes part like the others.
pub fn run() {
    memory::merging();
    merge();
    memory::merged();
}

fn merge() {
    let store = process::store();
    let Some(world) = start::known() else {
        if let Some(store) = store {
            store.write_out();
            say!(
                "trace: no MPI_COMM_WORLD to merge the ranks with: the calls of this process are in {} on {} (mpitrace recover reads it)",
                store.path().display(),
                host::host()
            );
        }
        return;
    };
    let settings = process::settings();
    // Neither a mistake of ours nor want of memory must end the program: it becomes one more reason why there is no merged trace.
    let mut kept = Kept::default();
    let finished = memory::unless_exhausted(|| finish(&world, &settings, &mut kept))
        .unwrap_or_else(|why| Err(Unmerged::Because(unfinished(why))));
    let failed = finished.as_ref().err();
    let waiting = kept.waiting.filter(|_| failed.is_some());
    if let (Some(Unmerged::Because(why)), Some(line)) = (failed, waiting) {
        // Memory may be what is wrong. Then the others find it out at the deadline.
        let _ = memory::unless_exhausted(|| {
            let first = giving_up::reason().unwrap_or_else(|| on_rank(&world, why));
            giving_up::tell(&line, &first);
        });
    }
    drop(kept.claim);
    if let Some(store) = store.filter(|_| finished.is_err() || settings.keep_blocks) {
        store.write_out();
    }
    match finished {
        Ok(()) => {
            under_way::release();
            meeting::part();
            if let Some(store) = store.filter(|_| !settings.keep_blocks) {
                store.remove();
            }
        }
        Err(Unmerged::Absent(absent)) => go_on_without(&world, &absent, &settings),
        Err(Unmerged::Because(why)) => files_stay(&world, &why),
    }
    if let Some(line) = waiting {
        giving_up::part(&line, settings.deadline);
    }
    under_way::release();
}

/// What the caller of [`finish`] keeps, as a merge that is given up gives nothing back.
#[derive(Default)]
struct Kept {
    /// What keeps other runs from the names of this one's DUMPI files.
    claim: Option<dumpi::Claim>,
    /// The way to the other ranks, as long as they wait for this one.
    waiting: Option<Exchange>,
}

/// Why there is no merged trace of all ranks.
enum Unmerged {
    /// Some ranks have no recorder.
    Absent(Absent),
    /// Anything else.
    Because(Wrong),
}

impl From<Wrong> for Unmerged {
    fn from(why: Wrong) -> Unmerged {
        Unmerged::Because(why)
    }
}

/// Names the block files, which stay. Of all ranks that have come so far and whose files lie together, the lowest one says it.
fn files_stay(world: &World, why: &str) {
    let (rank, host) = (world.rank, host::host());
    match process::store() {
        Some(store) => {
            // Memory may be what is wrong.
            let found = memory::unless_exhausted(|| first::others_if_lowest(store));
            if let Some(others) = found.unwrap_or(Some(0)) {
                let calls = first::where_calls_are(store, others);
                say!("trace: rank {rank} on {host}: {why}; {calls}");
            }
        }
        None if rank == 0 => say!("trace: rank {rank} on {host}: {why}"),
        None => {}
    }
}

/// Merges the ranks that have a recorder, if all ranks are on this host; otherwise the block files stay.
fn go_on_without(world: &World, absent: &Absent, settings: &Settings) {
    let (size, host) = (world.size as u32, host::host());
    let list: Vec<String> = absent.ranks.iter().take(4).map(u32::to_string).collect();
    let more = if absent.ranks.len() > list.len() {
        " …"
    } else {
        ""
    };
    let who = format!(
        "{} of {size} ranks {} no recorder (on {host}: rank {}{more})",
        absent.ranks.len(),
        if absent.ranks.len() == 1 {
            "has"
        } else {
            "have"
        },
        list.join(", "),
    );
    let first = (0..size).find(|rank| !absent.ranks.contains(rank));
    let is_first = first == Some(world.rank as u32);
    let Some(store) = process::store().filter(|_| absent.are_all_here && world.run != 0) else {
        files_stay(world, &format!("{who}: not merged"));
        return;
    };
    if is_first {
        say!("trace: {who}: the trace is of the others");
    }
    let leaving = Leaving {
        store,
        rank: world.rank as u32,
        world: leaving::world(size, world.run, world.spawned),
        processes: size - absent.ranks.len() as u32,
    };
    let left = memory::unless_exhausted(|| leaving.leave(settings));
    if let Err(why) = left.unwrap_or_else(|why| Err(unfinished(why))) {
        files_stay(world, &why);
    }
}

/// Why there is no merged trace, where the merge did not come to its end.
fn unfinished(why: Unfinished) -> Wrong {
    match why {
        Unfinished::Exhausted => "no more memory: not merged".to_owned(),
        Unfinished::Panicked => "the recorder failed: not merged".to_owned(),
    }
}

/// Most bytes of a CLOG2 record.
const LARGEST: usize = 136;

/// This process's block file, or an empty one.
enum Blocks {
    Own(Contents),
    Empty(Vec<u8>),
}

impl Blocks {
    /// Reads the file back. Without one, the reason goes to rank 0, and the rank counts as one without calls.
    fn open(world: &World) -> (Blocks, Option<Wrong>) {
        let read = || {
            let store = process::store().ok_or_else(process::why_no_store)?;
            let named = |e: std::io::Error| format!("{}: {e}", store.path().display());
            // By its descriptor, as its folder may have gone meanwhile.
            // SAFETY: the file is this process's own; what changes in it while it is read are blocks of threads that
            // still call, and those are only read up to what they have committed.
            let bytes = unsafe { store.read() }.map_err(named)?;
            of_contents(&bytes).map_err(|e| format!("{}: {e}", store.path().display()))?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => (Blocks::Own(bytes), None),
            Err(why) => (Blocks::Empty(process::empty_file(world)), Some(why)),
        }
    }

    fn file(&self) -> Result<File<'_>, Wrong> {
        match self {
            Blocks::Own(bytes) => of_contents(bytes),
            Blocks::Empty(bytes) => File::new(bytes),
        }
        .map_err(|e| e.to_string())
    }
}

/// This process's block file.
fn of_contents(contents: &Contents) -> Result<File<'_>, blockfile::file::Error> {
    match contents {
        Contents::File(bytes) => of_mapping(bytes),
        Contents::Copy(bytes) => File::new(bytes),
    }
}

/// A block file of any size, read in little memory.
fn of_mapping(bytes: &memmap2::Mmap) -> Result<File<'_>, blockfile::file::Error> {
    // SAFETY: memmap2 maps whole files shared, and nobody writes through a map that is for reading.
    unsafe { File::mapped(bytes, std::slice::from_ref(&(0..bytes.len()))) }
}

/// What went wrong, in words.
type Wrong = String;

/// What went wrong, and where: rank 0 says it, of all ranks that had a reason.
fn on_rank(world: &World, why: &str) -> String {
    format!("{why} (rank {} on {})", world.rank, host::host())
}

fn said(failure: Failure) -> Wrong {
    let first = giving_up::reason().filter(|_| matches!(failure, Failure::GivenUp(_)));
    first.unwrap_or_else(|| format!("{failure}: not merged"))
}

/// Memory without which no merge is begun.
const ENOUGH: usize = 4 << 20;

fn said_starved(ranks: u64, world: &World) -> Wrong {
    format!(
        "{ranks} of {} ranks have no memory for the merge: not merged",
        world.size
    )
}

/// Merges.
fn finish(world: &World, own_settings: &Settings, kept: &mut Kept) -> Result<(), Unmerged> {
    // SAFETY: the state of the running thread.
    let mut t = unsafe { thread::current().as_mut() };
    if let Some(t) = t.as_deref_mut() {
        own_last_words(t);
    }
    let debug = Diagnostics::new(world, own_settings);
    debug.step("all ranks are asked for");
    gather_here(world, own_settings)?;
    let comm = meeting::meet(own_settings.deadline, || meeting::absent(world.size));
    let comm = comm.map_err(|missed| match missed {
        Missed::GivenUp(absent) => Unmerged::Absent(absent),
        missed => said(missed.failure()).into(),
    })?;
    let line = Exchange::new(comm, world, own_settings.deadline);
    kept.waiting = Some(line);
    let mut zero = from_zero(&line, world, own_settings)?;
    kept.claim = zero.claim.take();
    let (world, settings) = (&zero.world, &zero.settings);
    // The merge does without it; then times are as this rank's own clock has them.
    let _ = clocks::compare(t.as_deref_mut(), &line, world);
    if let Some(t) = t {
        define::clocks(t);
    }
    let begun = Instant::now();

    if !memory::has(ENOUGH) {
        // The others hear of it before they begin to merge.
        let part = Part {
            starved: 1,
            ..Part::default()
        };
        let whole = agree::join(&line, world.rank, world.size, part).map_err(said)?;
        kept.waiting = None;
        return Err(said_starved(whole.starved, world).into());
    }
    let (blocks, missing) = Blocks::open(world);
    // What could not be read now may be read later.
    let unread = missing.clone().filter(|_| process::store().is_some());
    let file = blocks.file()?;
    mpe::merged(&zero.base);
    debug.step("rank 0 is there");
    let table = table().ok_or_else(|| "the function table cannot be read".to_owned())?;
    let mut scan = Scan::new(&file);
    let counter = file.info().clock == Clock::Tsc;
    if counter && zero.clock.boot == scan.library.process().boot && zero.clock.readings.len() > 1 {
        // The same counter as rank 0's: the same time to the last bit, whatever namespace shifts the other clocks.
        scan.clock = ClockMap::new(file.info().clock, &zero.clock.readings, &[]);
    }
    scan.name_functions(&zero.dumpi.functions);
    let mut part = Part {
        named: scan.named.iter().map(|(_, name)| name.to_owned()).collect(),
        first_ns: scan.first_ns().unwrap_or(i64::MAX),
        threads: scan.threads.max(1),
        width: scan.width(),
        calls: scan.calls,
        operations: scan.operations,
        ignored: scan.ignored,
        repeated: repeated(&file, &scan, table),
        lost: scan.lost,
        dropped: scan.info.dropped,
        cut: u64::from(scan.is_cut),
        lost_reason: match scan.lost_reasons.is_empty() {
            true => String::new(),
            false => on_rank(world, &scan.lost_reasons.join(", ")),
        },
        functions: scan.functions,
        comms: scan.gids(),
        categories: scan.categories.clone(),
        counters: scan.counters.clone(),
        hosts: vec![(world.rank as u32, host::host())],
        programs: vec![(world.rank as u32, host::program())],
        differing: u64::from(zero.difference.is_some()),
        difference: zero.difference.clone().unwrap_or_default(),
        silent: u64::from(missing.is_some()),
        reason: missing.map(|why| on_rank(world, &why)).unwrap_or_default(),
        ..Part::default()
    };
    let mut bin = None;
    if settings.outputs.dumpi {
        match dumpi::write(&file, table, &zero.dumpi, Some(&scan.clock)) {
            Ok(summary) => {
                debug.file(&summary.path, summary.bytes);
                part.dumpi_bytes = summary.bytes;
                bin = Some(summary.path);
            }
            Err(e) => {
                part.dumpi_failures = 1;
                part.dumpi_reason = on_rank(world, &e.to_string());
            }
        }
    }
    let ids = process::calls_given_out();
    report::counts(settings, world, ids, &scan, table);
    debug.calls(&scan, table);
    debug.step("own calls are read");
    let own = part.comms.clone();
    let whole = agree::join(&line, world.rank, world.size, part).map_err(said)?;

    if whole.starved > 0 {
        kept.waiting = None;
        // One of a trace that will not be there.
        drop(bin.map(std::fs::remove_file));
        return Err(said_starved(whole.starved, world).into());
    }
    debug.step("the ranks agree");
    let gids = GidTable::new(&whole.comms);
    let names: Vec<String> = whole.named.iter().cloned().collect();
    let schema = Schema::new(
        table,
        file.info().family,
        call_ids(settings),
        scan.library.functions(),
    )
    .with_categories(&whole.categories, false);
    let mut stream_settings = StreamSettings {
        ranks: whole.width,
        threads: whole.threads,
        zero_ns: whole.first_ns,
        open_until_ns: None,
        halves: None,
        describe: (world.rank == 0).then_some(&whole.functions),
        functions: &names,
        counters: if settings.outputs.slog2 {
            &whole.counters
        } else {
            &[]
        },
    };
    let merged = settings.outputs.clog2 || settings.outputs.slog2;
    let mut outputs = (world.rank == 0).then(|| {
        let preamble = schema.preamble(whole.width, whole.threads, &whole.functions);
        Outputs::new(plan(world, settings, &zero.base, &whole, preamble))
    });
    let mut notes = Vec::new();
    let mut half_messages = 0;
    if settings.outputs.slog2 && whole.operations > 0 {
        let operations = Operations {
            line: &line,
            world,
            folder: &folder::temporary(settings),
            zero_ns: whole.first_ns,
            table,
        };
        let own = Extract::new(&file, &scan, &schema);
        let failed = operations
            .draw(own, outputs.as_mut(), gids.table().0.len())
            .map_err(said)?;
        notes.extend(failed);
        debug.step("operations are passed on");
    }
    if merged {
        let lids = gids.lids(&own);
        let halves;
        if whole.cut > 0 {
            let all = Stream::new(&schema, &file, &scan, &lids, stream_settings);
            (halves, half_messages) = halves::agree(&line, world, all).map_err(said)?;
            stream_settings.halves = Some(&halves);
            debug.step("messages are counted");
        }
        let mut stream = Stream::new(&schema, &file, &scan, &lids, stream_settings);
        let own_records = |buffer: &mut Vec<u8>| match stream.next() {
            Some(record) => {
                buffer.resize(LARGEST, 0);
                let size = record.encode(buffer);
                buffer.truncate(size);
            }
            None => buffer.clear(),
        };
        let sink: &mut dyn Sink = match &mut outputs {
            Some(outputs) => outputs,
            None => &mut Nowhere,
        };
        merge::take_part::<Clog2>(&line, world.rank, world.size, own_records, sink)
            .map_err(said)?;
    }
    let result = if let Some(outputs) = outputs {
        let Ended {
            base,
            files,
            mut failures,
            corrected,
        } = outputs.finish(gids.table());
        if let Some(store) = process::store().filter(|_| settings.keep_blocks) {
            // For who makes something else of the blocks; without it, a name of its own is found.
            let name = base.as_os_str().as_encoded_bytes();
            let path = store.path().with_extension("trace");
            if let Err(e) = own_file::create(&path, name) {
                failures.push(format!("{}: {e}", path.display()));
            }
        }
        failures.append(&mut notes);
        for file in &files {
            debug.file(&file.path, file.size);
        }
        let written = Written {
            blocks: &file,
            dumpi: &zero.dumpi,
            processes: world.size as usize,
            files: &files,
            half_messages,
            corrected,
            begun,
        };
        report::conclude(world, settings, &whole, &written, failures)
    } else {
        Ok(())
    };
    debug.step("all calls are passed on");
    // Blocks are given up only when rank 0 has all that was asked for.
    let verdict = agree::spread(
        &line,
        world.rank,
        world.size,
        vec![u8::from(result.is_ok())],
    );
    // Rank 0 may still come to its end although this rank waits no longer. What the verdict is, all know.
    let has_failed = |failure: &Failure| !matches!(failure, Failure::Silence(_));
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

/// Waits for the ranks of this host, where all of them have a recorder, before MPI is asked for anything; where one has none,
/// gives up at once. What cannot be told here shows when the ranks meet.
fn gather_here(world: &World, settings: &Settings) -> Result<(), Unmerged> {
    let folder = process::store().and_then(|store| store.path().parent());
    let expected = folder.and_then(neighbours::all_with_block_files);
    if let (Some(folder), Some(expected)) = (folder, expected) {
        let progress = meeting::Progress::of(world.rank);
        let meanwhile = || progress.make();
        arrivals::wait(folder, world.run, expected, settings.deadline, meanwhile)
            .map_err(|why| said(why).into())
    } else {
        meeting::absent(world.size).map_or(Ok(()), |absent| Err(Unmerged::Absent(absent)))
    }
}

/// For which calls the info box shows the CallID.
fn call_ids(settings: &Settings) -> states::CallIds {
    match settings.callids {
        CallIds::All => states::CallIds::All,
        CallIds::Io => states::CallIds::Files,
        CallIds::None => states::CallIds::None,
    }
}

/// What this rank has to say before its records are read, and needs no other rank for: clocks, and calls that were not recorded.
pub fn own_last_words(t: &mut Thread) {
    define::clocks(t);
    functions::last_words(t);
    for (index, calls) in process::ignored().into_iter().enumerate() {
        if calls > 0 {
            put_definition(
                t,
                &Definition::Ignored {
                    function: NUMBERS[index],
                    calls,
                },
            );
        }
    }
    if t.discarding {
        fill::count_lost(t);
    }
}

/// Which functions of the program are shown, by names as people write them.
fn choice(settings: &Settings) -> Choice {
    Choice {
        include: settings.functions_include.clone(),
        exclude: settings.functions_exclude.clone(),
        demangle: Some(library::demangled),
    }
}

/// Root of the DUMPI files, their time stamp, base of the merged files, and what keeps other runs from the DUMPI names.
fn names(world: &World, settings: &Settings) -> (PathBuf, String, PathBuf, Option<dumpi::Claim>) {
    let job = job_id(&environment::var).unwrap_or_else(|| world.job.to_string());
    let stamp_of = |second: i64| {
        let prefix = meta::prefix(b"", u64::try_from(second).unwrap_or(0), Zone::Local);
        String::from_utf8_lossy(&prefix)
            .trim_start_matches('-')
            .to_owned()
    };
    let (program, host) = (host::program(), host::host());
    let names = |stamp: &str| -> [PathBuf; 3] {
        let names = Names {
            program: &program,
            job: &job,
            task: &environment::array_task(),
            date: stamp,
            host: &host,
            ranks: world.size as u32,
            rank: 0,
            pid: std::process::id(),
        };
        let mut all: [PathBuf; 3] = [&settings.directory, &settings.fileroot, &settings.output]
            .map(|p| expand(p, &names).into());
        // As the program names its log with MPE_Finish_log, unless the user names it.
        if let Some(prefix) =
            mpe::prefix().filter(|_| settings.output == Settings::default().output)
        {
            all[2] = prefix;
        }
        all
    };
    // A world that was spawned runs beside the one that spawned it, in the same directory.
    let spawned = |name: PathBuf| {
        if world.spawned {
            trace_formats::project::outputs::with_ending(&name, &format!("-spawned-{}", world.job))
        } else {
            name
        }
    };
    let mut second = world.started;
    loop {
        let stamp = stamp_of(second);
        let [directory, root, base] = names(&stamp);
        // Without the dots of a relative name: the paths are shown to the user.
        let directory: PathBuf = environment::home().join(directory).components().collect();
        let (root, base) = (spawned(directory.join(root)), spawned(directory.join(base)));
        let options = dumpi::Options {
            root: root.clone(),
            stamp: stamp.clone(),
            ..dumpi::Options::default()
        };
        if let Some(parent) = root.parent() {
            // A directory that cannot be made shows when the files are.
            drop(std::fs::create_dir_all(parent));
        }
        let mut claim = None;
        if settings.outputs.dumpi && !settings.overwrite {
            match dumpi::Claim::new(&options) {
                // Another run of the same second has this name: the next one is free.
                Ok(None) => {
                    second += 1;
                    continue;
                }
                Ok(own) => claim = own,
                // Nothing can be written there: that shows when the files are.
                Err(_) => {}
            }
        }
        return (root, stamp, base, claim);
    }
}

/// What is to be written: as the settings say, below `base`, of the processes that `whole` tells of.
fn plan(
    world: &World,
    settings: &Settings,
    base: &Path,
    whole: &Part,
    mut preamble: Preamble,
) -> Plan {
    preamble.block_size = u32::try_from(settings.clog2_block).unwrap_or(65536);
    let numbered = |names: &[(u32, String)]| {
        let names = names.iter().map(|(rank, name)| (*rank, name.as_str()));
        outputs::numbered(names, world.size as u32)
    };
    let (hosts, nodes) = numbered(&whole.hosts);
    let (programs, program_of) = numbered(&whole.programs);
    Plan {
        base: base.to_path_buf(),
        replace: settings.overwrite,
        clog2: settings.outputs.clog2,
        slog2: settings.outputs.slog2,
        preamble,
        children: settings.children,
        leaf: settings.leaf,
        nodes,
        hosts,
        program_of,
        programs,
        functions: whole.named.iter().cloned().collect(),
        counters: whole.counters.clone(),
        forward: settings.clock_forward,
    }
}
