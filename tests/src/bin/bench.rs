//! `ci/bench overhead`: what recording costs, traced and untraced in turn within one run, as a table for
//! `docs/user/benchmarks.md`.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use tests::trace::TraceSetup;
use tests::{Mpi, Program, TestFolder, blocks, process};

/// Name of the loop in `loops.c`, what it is called in the table, added ns per call that are to be reached.
const LOOPS: [(&str, &str, f64); 5] = [
    ("comm_rank", "MPI_Comm_rank", 40.0),
    ("iprobe", "MPI_Iprobe", 40.0),
    ("sendrecv", "MPI_Sendrecv to self", 60.0),
    (
        "nonblocking",
        "MPI_Irecv + MPI_Isend + MPI_Waitall to self (per call)",
        60.0,
    ),
    ("allreduce", "MPI_Allreduce on MPI_COMM_SELF", 45.0),
];
/// Largest ratio of times of a step of the halo exchange.
const HALO: f64 = 1.5;
/// Bytes of record that a plain call may take; one that sends or receives has twice as many arguments, and a status.
const BYTES: f64 = 48.0;
const ROUNDS: usize = 5;
const LIMIT: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() != Some("overhead") {
        eprintln!("usage: ci/bench overhead");
        return ExitCode::from(2);
    }
    let mut reached = true;
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        println!(
            "\n{}, one process, 200 000 calls, best of 5 in each of {ROUNDS} runs\n",
            mpi.suffix()
        );
        println!("| loop | untraced ns/call | traced | added | to reach | bytes/call |");
        println!("|---|---:|---:|---:|---:|---:|");
        for (name, title, limit) in LOOPS {
            let program = Program::c("loops").compile(mpi);
            let mut untraced = f64::INFINITY;
            let mut traced = f64::INFINITY;
            let mut bytes = 0.0;
            for _ in 0..ROUNDS {
                untraced = untraced.min(one_loop(mpi, &program, name, false).0);
                let (time, record) = one_loop(mpi, &program, name, true);
                traced = traced.min(time);
                bytes = record;
            }
            let added = traced - untraced;
            println!(
                "| {title} | {untraced:.1} | {traced:.1} | {added:.1} | {limit:.0} | {bytes:.1} |"
            );
            let plain = !matches!(name, "sendrecv" | "nonblocking");
            reached &= added <= limit && (!plain || bytes <= BYTES);
        }
        let (untraced, traced) = halo(mpi);
        let ratio = traced / untraced;
        println!(
            "\nHalo exchange, 2 ranks: {untraced:.2} us/step untraced, {traced:.2} traced, {ratio:.2}x (to reach: {HALO}x)"
        );
        reached &= ratio <= HALO;
    }
    println!(
        "\n{}",
        if reached {
            "all figures reached"
        } else {
            "NOT all figures reached"
        }
    );
    ExitCode::from(u8::from(!reached))
}

/// ns per call of a loop, and bytes of record per call when traced. The program is a world of one, without a launcher.
fn one_loop(mpi: Mpi, program: &Path, name: &str, traced: bool) -> (f64, f64) {
    let folder = TestFolder::new("loop");
    // where blocks go by default, so that the file system is the one a user has
    let blocks_in = std::env::temp_dir().join(format!("trace-bench-{}", std::process::id()));
    std::fs::create_dir_all(&blocks_in).expect("a folder for block files");
    let mut command = Command::new(program);
    mpi.environment(&mut command);
    command.arg(name).current_dir(folder.path());
    if traced {
        command
            .env("LD_PRELOAD", tests::recorder_of_release())
            .env("TRACE_TMPDIR", &blocks_in);
    }
    let output = process::run(&mut command, LIMIT).succeeded().stdout;
    let mut words = output
        .split_whitespace()
        .map(|word| word.parse::<f64>().expect("a number"));
    let (time, calls) = (words.next().expect("ns"), words.next().expect("calls"));
    let files: Vec<_> = std::fs::read_dir(&blocks_in)
        .expect("own folder")
        .map(|entry| entry.expect("own folder").path())
        .collect();
    let bytes = match &files[..] {
        [] if !traced => 0.0,
        [file] if traced => blocks::read(file).bytes as f64 / calls,
        other => panic!("block files: {other:?}"),
    };
    std::fs::remove_dir_all(&blocks_in).expect("own folder");
    (time, bytes)
}

/// Microseconds per step of the halo exchange, untraced and traced, the best of all runs of each.
fn halo(mpi: Mpi) -> (f64, f64) {
    let program = Program::c("halo").compile(mpi);
    let mut best = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (best, preload) in best.iter_mut().zip([false, true]) {
            let run = TraceSetup {
                preload,
                ..TraceSetup::new(mpi, 2)
            }
            .run(&program, &[]);
            let finished = run.finished.succeeded();
            let step: f64 = finished.stdout.trim().parse().expect("a number");
            *best = best.min(step);
        }
    }
    best.into()
}
