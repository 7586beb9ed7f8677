//! Programs of calls drawn at random (`programs/random_calls.c`): the files hold each call and each message, and no tool finds fault with a program that is
//! right. `RANDOM_PROGRAMS=200` runs as many of them on each MPI.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup, TracedRun};
use tests::{Mpi, Program, mpitrace, process};

/// Steps of a program.
const STEPS: &str = "150";

/// Number and bytes of the messages by sender and receiver, which the program has noted.
fn sent(run: &TracedRun) -> BTreeMap<(usize, usize), (u64, u64)> {
    let mut sent: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for rank in 0..run.ranks {
        let path = run.folder.path().join(format!("messages.{rank}"));
        let text = fs::read_to_string(path).expect("the program's notes");
        for line in text.lines() {
            let mut words = line.split(' ').map(|word| word.parse::<u64>());
            let mut number = || words.next().expect("three numbers").expect("a number");
            let (to, bytes) = (number() as usize, number());
            let sum = sent.entry((rank, to)).or_default();
            *sum = (sum.0 + 1, sum.1 + bytes);
        }
    }
    sent
}

/// Number and bytes of the messages by sender and receiver, which a trace has.
#[track_caller]
fn drawn(folder: &Path, file: &str) -> BTreeMap<(usize, usize), (u64, u64)> {
    let printed = command(folder, &["stats", "--by", "pair", "--format", "csv", file]);
    let rows = printed.lines().skip(1).map(|line| {
        let row: Vec<&str> = line.split(',').collect();
        let number = |nth: usize| row[nth].parse::<u64>().expect("a number");
        (
            (number(0) as usize, number(1) as usize),
            (number(2), number(3)),
        )
    });
    rows.collect()
}

/// What `mpitrace` prints.
#[track_caller]
fn command(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(mpitrace());
    command.args(arguments).current_dir(folder);
    process::run(&mut command, LIMIT).succeeded().stdout
}

#[test]
fn every_call_and_message_is_there() {
    let programs = std::env::var("RANDOM_PROGRAMS").map(|programs| programs.parse());
    let programs: usize = programs.map_or(2, |programs| programs.expect("a number of programs"));
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("random_calls").compile(mpi);
        for seed in 1..=programs {
            let merge = ["parallel", "tree"][seed % 2];
            let what = format!("{mpi:?}, seed {seed}, merge {merge}");
            let mut setup = TraceSetup::new(mpi, 2 + seed % 3);
            let variables = [("TRACE_MERGE", merge), ("TRACE_KEEP_BLOCKS", "yes")];
            setup.variables = &variables;
            let run = setup.run(&program, &[&seed.to_string(), STEPS]);
            assert!(
                run.finished.status.success(),
                "{what}: {}",
                run.finished.story()
            );
            let sent = sent(&run);
            let messages: u64 = sent.values().map(|(messages, _)| messages).sum();
            assert_eq!(run.holds(&run.made()), messages, "{what}");
            let folder = run.trace();
            for file in ["random_calls.slog2", "random_calls.clog2"] {
                assert_eq!(drawn(&folder, file), sent, "{what}: {file}");
                let found = command(&folder, &["check", file]);
                assert!(found.contains("0 errors, 0 warnings"), "{what}: {found}");
                let found = command(&folder, &["verify", file]);
                assert!(
                    found.contains("Nothing wrong was found"),
                    "{what}: {file}: {found}"
                );
            }
            let found = command(&folder, &["verify", "."]);
            assert!(found.contains("Nothing wrong was found"), "{what}: {found}");
            assert!(!found.contains("Not checked"), "{what}: {found}");
        }
    }
}
