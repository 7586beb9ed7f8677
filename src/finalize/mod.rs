//! MPI_Finalize: from the blocks of all ranks to files.
//!
//! Every rank reads its own block file as `mpitrace recover` would, and writes its DUMPI file from it. Then the ranks agree on
//! what must be common ([`agree`]), turn their records into streams of CLOG2 records, and merge them in a binary tree
//! ([`merge`]); rank 0 writes CLOG2 and SLOG2 from the merged stream ([`outputs`]). Operations below MPI go before, in the same
//! way, as rank 0 has to know them when it begins the SLOG2 file ([`operations`]). All messages are the recorder's own
//! and none is waited for beyond the deadline ([`exchange`]): when the merge fails, the block files stay and are named.

mod agree;
pub mod clocks;
mod exchange;
mod merge;
mod operations;
mod outputs;
mod report;

use crate::define;
use crate::fill::{self, put_definition};
use crate::process;
use crate::say;
use crate::settings::{CallIds, Names, Settings, expand, job_id};
use crate::start::{self, World};
use crate::table::table;
use crate::thread;
use agree::{Part, ZeroClock};
use exchange::{Exchange, Failure};
use formats::dumpi::meta;
use formats::dumpi::print::Zone;
use formats::io::Extract;
use formats::project::clock::ClockMap;
use formats::project::clog2::{Schema, Settings as StreamSettings, Stream};
use formats::project::dumpi;
use formats::project::gids::GidTable;
use formats::project::scan::Scan;
use formats::project::states;
use merge::{Clog2, Nowhere, Sink};
use operations::Operations;
use outputs::{Outputs, Plan, free_base};
use records::define::Definition;
use records::file::File;
use records::layout::Clock;
use report::{Diagnostics, Report};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Merges and writes the trace. Collective; called once, before the real MPI_Finalize. A rank that could not record anything
/// takes part like the others.
pub fn run() {
    let store = process::store();
    let Some(world) = start::agreed() else {
        if let Some(store) = store {
            say!(
                "trace: no MPI_COMM_WORLD to merge the ranks with: the calls of this process are in {} (mpitrace recover reads it)",
                store.path().display()
            );
        }
        return;
    };
    let settings = process::settings();
    // A mistake of ours must not end the program: it becomes one more reason why there is no merged trace.
    let finished = catch_unwind(AssertUnwindSafe(|| finish(&world, &settings)))
        .unwrap_or_else(|_| Err("the recorder failed: not merged".to_owned()));
    match (finished, store) {
        (Ok(()), store) => {
            start::free(world.comm);
            if let Some(store) = store.filter(|_| !settings.keep_blocks) {
                store.remove();
            }
        }
        // Of thousands of ranks, a few lines tell enough.
        (Err(why), Some(store)) if world.rank < 4 => say!(
            "trace: rank {}: {why}; its calls are in {} (mpitrace recover reads it)",
            world.rank,
            store.path().display()
        ),
        (Err(why), None) if world.rank < 4 => {
            say!("trace: rank {}: {why}", world.rank);
        }
        (Err(_), _) => {}
    }
}

/// Most bytes of a CLOG2 record.
const LARGEST: usize = 136;

/// This process's block file, or an empty one.
enum Blocks {
    Mapped(memmap2::Mmap),
    Empty(Vec<u8>),
}

impl Blocks {
    /// Reads the file back. Without one, the reason goes to rank 0, and the rank counts as one without calls.
    fn open(world: &World) -> (Blocks, Option<Wrong>) {
        let read = || {
            let store = process::store().ok_or_else(process::why_no_store)?;
            let named = |e: std::io::Error| format!("{}: {e}", store.path().display());
            let file = std::fs::File::open(store.path()).map_err(named)?;
            // SAFETY: the file is this process's own; what changes in it while it is read are blocks of threads that
            // still call, and those are only read up to what they have committed.
            let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(named)?;
            File::new(&bytes).map_err(|e| format!("{}: {e}", store.path().display()))?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => (Blocks::Mapped(bytes), None),
            Err(why) => (Blocks::Empty(process::empty_file(world)), Some(why)),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Blocks::Mapped(bytes) => bytes,
            Blocks::Empty(bytes) => bytes,
        }
    }
}

/// What went wrong, in words.
type Wrong = String;

fn said(failure: Failure) -> Wrong {
    format!("{failure}: not merged")
}

fn finish(world: &World, settings: &Settings) -> Result<(), Wrong> {
    let line = Exchange::new(world.comm, settings.deadline);
    let debug = Diagnostics::new(world, settings);
    last_words(world);
    debug.step("all ranks are asked for");
    let zero = from_zero(&line, world, settings).map_err(said)?;
    let begun = Instant::now();

    let (blocks, missing) = Blocks::open(world);
    let file = File::new(blocks.bytes()).map_err(|e| e.to_string())?;
    debug.step("rank 0 is there");
    let table = table().ok_or("the function table cannot be read")?;
    let mut scan = Scan::new(&file);
    let counter = file.info().clock == Clock::Tsc;
    if counter && zero.clock.boot == scan.library.process().boot && zero.clock.readings.len() > 1 {
        // The same counter as rank 0's: the same time to the last bit, whatever namespace shifts the other clocks.
        scan.clock = ClockMap::new(file.info().clock, &zero.clock.readings, &[]);
    }
    let mut part = Part {
        first_ns: scan.first_ns().unwrap_or(i64::MAX),
        threads: scan.threads.max(1),
        calls: scan.calls,
        operations: scan.operations,
        ignored: scan.ignored,
        lost: scan.lost,
        functions: scan.functions,
        comms: scan.gids(),
        hosts: vec![(world.rank as u32, define::host())],
        silent: u64::from(missing.is_some()),
        reason: missing.unwrap_or_default(),
        ..Part::default()
    };
    if settings.outputs.dumpi {
        match dumpi::write(&file, table, &zero.dumpi) {
            Ok(summary) => {
                debug.file(&summary.path, summary.bytes);
                part.dumpi_bytes = summary.bytes;
            }
            Err(e) => {
                part.dumpi_failures = 1;
                part.dumpi_reason = e.to_string();
            }
        }
    }
    report::counts(settings, world, &scan, table);
    debug.calls(&scan, table);
    debug.step("own calls are read");
    let own = part.comms.clone();
    let whole = agree::join(&line, world.rank, world.size, part).map_err(said)?;

    debug.step("the ranks agree");
    let gids = GidTable::new(&whole.comms);
    let call_ids = match settings.callids {
        CallIds::All => states::CallIds::All,
        CallIds::Io => states::CallIds::Files,
        CallIds::None => states::CallIds::None,
    };
    let schema = Schema::new(
        table,
        file.info().family,
        call_ids,
        scan.library.functions(),
    );
    let stream_settings = StreamSettings {
        ranks: world.size as u32,
        threads: whole.threads,
        zero_ns: whole.first_ns,
        open_until_ns: None,
        describe: (world.rank == 0).then_some(&whole.functions),
    };
    let merged = settings.outputs.clog2 || settings.outputs.slog2;
    let mut outputs =
        (world.rank == 0).then(|| Outputs::new(plan(world, settings, &zero, &whole, &schema)));
    let mut notes = Vec::new();
    if settings.outputs.slog2 && whole.operations > 0 {
        let operations = Operations {
            line: &line,
            world,
            folder: Path::new(&settings.tmpdir),
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
        let mut stream = Stream::new(&schema, &file, &scan, &gids.lids(&own), stream_settings);
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
        if let Some(store) = process::store().filter(|_| settings.keep_blocks) {
            // For who makes something else of the blocks; without it, a name of its own is found.
            let name = zero.base.as_os_str().as_encoded_bytes();
            drop(std::fs::write(store.path().with_extension("trace"), name));
        }
        let (files, mut failures) = outputs.finish(gids.table());
        failures.append(&mut notes);
        for file in &files {
            debug.file(&file.path, file.size);
        }
        let any_dumpi = settings.outputs.dumpi && whole.dumpi_failures < world.size as u64;
        if any_dumpi && let Err(e) = dumpi::write_meta(&file, &zero.dumpi) {
            failures.push(e.to_string());
        }
        if whole.dumpi_failures > 0 {
            failures.push(format!(
                "{} DUMPI files not written: {}",
                whole.dumpi_failures, whole.dumpi_reason
            ));
        }
        failures.dedup();
        let report = Report {
            world,
            whole: &whole,
            files: &files,
            dumpi: any_dumpi.then_some(&zero.dumpi),
            seconds: begun.elapsed().as_secs_f64(),
            failures: &failures,
        };
        if !settings.quiet {
            report.print();
        }
        if failures.is_empty() {
            Ok(())
        } else {
            Err("not all files could be written".to_owned())
        }
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
    match (result, verdict.map_err(said)?.first()) {
        (Err(why), _) => Err(why),
        (Ok(()), Some(1)) => Ok(()),
        (Ok(()), _) => Err("rank 0 could not write all files".to_owned()),
    }
}

/// What this rank has to say before its records are read: clocks, and calls that were not recorded.
fn last_words(world: &World) {
    // SAFETY: the state of the running thread.
    let mut t = unsafe { thread::current().as_mut() };
    // The merge does without it; then times are as the first comparison has them.
    let _ = clocks::compare(t.as_deref_mut(), world);
    let Some(t) = t else { return };
    define::clocks(t);
    for (index, calls) in process::ignored().into_iter().enumerate() {
        if calls > 0 {
            put_definition(
                t,
                &Definition::Ignored {
                    function: crate::generated::NUMBERS[index],
                    calls,
                },
            );
        }
    }
    if t.discarding {
        fill::count_lost(t);
    }
}

/// What rank 0 decides for all.
struct FromZero {
    clock: ZeroClock,
    dumpi: dumpi::Options,
    base: PathBuf,
}

/// Rank 0's clock and names. Collective: nobody goes on before rank 0 is in MPI_Finalize.
fn from_zero(line: &Exchange, world: &World, settings: &Settings) -> Result<FromZero, Failure> {
    let mut message = Vec::new();
    if world.rank == 0 {
        let clock = own_clock();
        let (root, stamp, base) = names(world, settings);
        for text in [
            root.as_os_str().as_encoded_bytes(),
            stamp.as_bytes(),
            base.as_os_str().as_encoded_bytes(),
        ] {
            message.extend_from_slice(&(text.len() as u32).to_ne_bytes());
            message.extend_from_slice(text);
        }
        message.extend_from_slice(&clock.encode());
    }
    let message = agree::spread(line, world.rank, world.size, message)?;
    let b = &mut records::args::Bytes::new(&message);
    let mut text = || {
        b.string()
            .flatten()
            .map(|t| String::from_utf8_lossy(t).into_owned())
    };
    let (root, stamp, base) = (text(), text(), text());
    let nonsense = Failure::Nonsense(0);
    Ok(FromZero {
        dumpi: dumpi::Options {
            root: root.ok_or(nonsense)?.into(),
            stamp: stamp.ok_or(nonsense)?,
            cpu: settings.timestamp.cpu(),
            wall: settings.timestamp.wall(),
            statuses: settings.statuses as u8,
            extensions: settings.extensions,
            enter: settings.tracing.enter,
            exit: settings.tracing.exit,
        },
        base: base.ok_or(nonsense)?.into(),
        clock: ZeroClock::decode(b.rest()).ok_or(nonsense)?,
    })
}

/// The clock readings of this process: the first, and one now.
fn own_clock() -> ZeroClock {
    ZeroClock {
        boot: define::boot_id(),
        readings: vec![process::first_reading(), crate::clock::reading()],
    }
}

/// Root of the DUMPI files, their time stamp, and base of the merged files.
fn names(world: &World, settings: &Settings) -> (PathBuf, String, PathBuf) {
    let job = job_id(&|name| std::env::var(name).ok()).unwrap_or_else(|| world.job.to_string());
    let stamp_of = |second: i64| {
        let prefix = meta::prefix(b"", u64::try_from(second).unwrap_or(0), Zone::Local);
        String::from_utf8_lossy(&prefix)
            .trim_start_matches('-')
            .to_owned()
    };
    let (program, host) = (define::program(), define::host());
    let names = |stamp: &str| -> [PathBuf; 3] {
        let names = Names {
            program: &program,
            job: &job,
            date: stamp,
            host: &host,
            ranks: world.size as u32,
            rank: 0,
            pid: std::process::id(),
        };
        [&settings.directory, &settings.fileroot, &settings.output]
            .map(|p| expand(p, &names).into())
    };
    // A world that was spawned runs beside the one that spawned it, in the same directory.
    let spawned = |name: PathBuf| {
        if world.spawned {
            formats::project::outputs::with_ending(&name, &format!("-spawned-{}", world.job))
        } else {
            name
        }
    };
    let mut second = world.started;
    loop {
        let stamp = stamp_of(second);
        let [directory, root, base] = names(&stamp);
        // Without the dots of a relative name: the paths are shown to the user.
        let directory: PathBuf = process::home().join(directory).components().collect();
        let (root, base) = (spawned(directory.join(root)), spawned(directory.join(base)));
        let options = dumpi::Options {
            root: root.clone(),
            stamp: stamp.clone(),
            ..dumpi::Options::default()
        };
        // Another run of the same second has this name: the next one is free.
        if !settings.overwrite && options.meta_path().exists() {
            second += 1;
            continue;
        }
        if let Some(parent) = root.parent() {
            // A directory that cannot be made shows when the files are.
            drop(std::fs::create_dir_all(parent));
        }
        let base = if settings.overwrite {
            base
        } else {
            free_base(&base)
        };
        return (root, stamp, base);
    }
}

fn plan(
    world: &World,
    settings: &Settings,
    zero: &FromZero,
    whole: &Part,
    schema: &Schema<'_>,
) -> Plan {
    let mut preamble = schema.preamble(world.size as u32, whole.threads, &whole.functions);
    preamble.block_size = u32::try_from(settings.clog2_block).unwrap_or(65536);
    let mut hosts: Vec<String> = Vec::new();
    let mut nodes = vec![0; world.size as usize];
    for (rank, host) in &whole.hosts {
        let number = hosts.iter().position(|h| h == host).unwrap_or_else(|| {
            hosts.push(host.clone());
            hosts.len() - 1
        });
        if let Some(node) = nodes.get_mut(*rank as usize) {
            *node = number as i32;
        }
    }
    Plan {
        base: zero.base.clone(),
        clog2: settings.outputs.clog2,
        slog2: settings.outputs.slog2,
        preamble,
        children: settings.children,
        leaf: settings.leaf,
        nodes,
        hosts,
    }
}
