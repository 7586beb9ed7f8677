//! Filters: what `programs/filters.c` does is known from its source, and each filter leaves exactly the part of it that it
//! names. MPI_Pcontrol is obeyed or not.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;
use tests::tally::CallTally;
use tests::trace::{TraceSetup, TracedRun, same};
use tests::{Mpi, Program, TestFolder, contents};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// A run of `filters.c` with these settings. The trace must be whole, and all that the program did is either recorded or
/// said to be counted only.
#[track_caller]
fn filtered(mpi: Mpi, settings: &str, arguments: &[&str]) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    let variables = [("TRACE_SETTINGS", settings)];
    tracing.variables = &variables;
    let run = tracing.run(&Program::c("filters").compile(mpi), arguments);
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    let made: u64 = run.made().values().flat_map(CallTally::values).sum();
    let recorded: u64 = run.in_dumpi().values().flat_map(CallTally::values).sum();
    assert_eq!(run.closing_numbers(), (recorded, 0), "{settings}");
    assert_eq!(recorded + counted_only(&run), made, "{settings}");
    let clog2 = contents::clog2(&run.file("clog2"));
    same(
        "DUMPI and CLOG2",
        &without_empty(run.in_dumpi()),
        &without_empty(clog2.calls),
    );
    run
}

fn without_empty(mut ranks: BTreeMap<usize, CallTally>) -> BTreeMap<usize, CallTally> {
    ranks.retain(|_, counts| !counts.is_empty());
    ranks
}

/// The number of calls that the closing line says were counted only.
fn counted_only(run: &TracedRun) -> u64 {
    let Some((head, _)) = run.closing_line().split_once(" counted only") else {
        return 0;
    };
    let digits = head.rsplit(',').next().unwrap_or_default();
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// Number of calls of these functions in each rank's DUMPI file.
#[track_caller]
fn expect(run: &TracedRun, what: &str, expected: &[(&str, [u64; 2])]) {
    let found = run.in_dumpi();
    for (function, calls) in expected {
        for (rank, calls) in calls.iter().enumerate() {
            let n = found.get(&rank).and_then(|counts| counts.get(*function));
            assert_eq!(
                n.copied().unwrap_or(0),
                *calls,
                "{what}: {function} of rank {rank}"
            );
        }
    }
}

/// Every message whose size is wanted is drawn, and nothing else, although all receives have the same large buffer.
#[test]
fn messages_by_size() {
    for mpi in installed() {
        for (range, bcasts) in [("1K-", 5), ("-1023", 5), ("256", 0)] {
            let run = filtered(mpi, &format!("message-size {range}"), &[]);
            let part = if range == "256" { 10 } else { 20 };
            // 100 bytes to and fro.
            let swaps = u64::from(range == "-1023");
            expect(
                &run,
                range,
                &[
                    ("MPI_Send", [part, 0]),
                    ("MPI_Recv", [0, part]),
                    ("MPI_Isend", [0, part]),
                    ("MPI_Irecv", [40, 0]),
                    ("MPI_Wait", [40, 40]),
                    ("MPI_Bcast", [bcasts, bcasts]),
                    ("MPI_Sendrecv", [swaps, swaps]),
                    ("MPI_Barrier", [7, 7]),
                ],
            );
            let clog2 = contents::clog2(&run.file("clog2"));
            let slog2 = contents::slog2(&run.file("slog2"));
            let messages = 2 * part + 2 * swaps;
            assert_eq!((clog2.sends, clog2.receives), (messages, messages));
            assert_eq!(slog2.arrows, messages, "{mpi:?} {range}");
        }
    }
}

#[test]
fn calls_by_communicator() {
    for mpi in installed() {
        let run = filtered(mpi, "comm-size 1", &[]);
        let allreduces = ("MPI_Allreduce", [10, 10]);
        let none = ["MPI_Send", "MPI_Irecv", "MPI_Bcast", "MPI_Comm_dup"].map(|f| (f, [0, 0]));
        expect(&run, "1", &[&none[..], &[allreduces]].concat());
        let run = filtered(mpi, "comm-size 2-", &[]);
        let barriers = ("MPI_Barrier", [7, 7]);
        expect(&run, "2-", &[allreduces, barriers, ("MPI_Send", [40, 0])]);
    }
}

/// The other rank is there, without calls.
#[test]
fn chosen_ranks() {
    for mpi in installed() {
        let run = filtered(mpi, "ranks 1,7-9", &[]);
        let found = run.in_dumpi();
        assert_eq!(found.len(), 2);
        let calls = |rank: usize| found[&rank].values().sum::<u64>();
        assert_eq!(calls(0), 0, "{mpi:?}");
        assert_eq!(calls(1), run.made()[&1].values().sum::<u64>());
        let slog2 = contents::slog2(&run.file("slog2"));
        assert_eq!(slog2.arrows, 0);
    }
}

#[test]
fn classes_of_functions() {
    for mpi in installed() {
        let settings = "class p2p local disable; class complete enable; MPI_Bcast disable";
        let run = filtered(mpi, settings, &[]);
        expect(
            &run,
            settings,
            &[
                ("MPI_Send", [0, 0]),
                ("MPI_Irecv", [0, 0]),
                ("MPI_Sendrecv", [0, 0]),
                ("MPI_Wait", [40, 40]),
                ("MPI_Comm_rank", [0, 0]),
                ("MPI_Bcast", [0, 0]),
                ("MPI_Allreduce", [20, 20]),
                ("MPI_Comm_split", [1, 1]),
            ],
        );
    }
}

#[test]
fn calls_by_number() {
    for mpi in installed() {
        let run = filtered(mpi, "first-calls 3", &[]);
        for (rank, made) in run.made() {
            let first = made.into_iter().map(|(f, n)| (f, n.min(3))).collect();
            let found = run.in_dumpi().remove(&rank).expect("a file");
            same(
                "first three",
                &[(rank, first)].into(),
                &[(rank, found)].into(),
            );
        }
        // The first three calls are MPI_Init, MPI_Comm_rank and MPI_Comm_size.
        let run = filtered(mpi, "calls 3-12", &[]);
        let first = [("MPI_Comm_size", [1, 1]), ("MPI_Comm_rank", [0, 0])];
        expect(&run, "calls", &first);
        expect(&run, "calls", &[("MPI_Send", [9, 0]), ("MPI_Recv", [0, 9])]);
        assert_eq!(run.closing_numbers(), (20, 0));
    }
}

/// What the program says of the broadcasts of each rank that began before the edge of the window: how many surely, how many perhaps.
fn broadcasts_before(run: &TracedRun) -> [(u64, u64); 2] {
    [0, 1].map(|rank| {
        let path = run.folder.path().join(format!("broadcasts.{rank}"));
        let text = fs::read_to_string(&path).expect("written by the program");
        let counts = text.split_once(' ').expect(&text);
        let count = |digits: &str| digits.parse().expect("a number");
        (count(counts.0), count(counts.1))
    })
}

#[test]
fn part_of_the_run() {
    for mpi in installed() {
        let broadcasts = |run: &TracedRun, rank: usize| {
            let found = run.in_dumpi();
            let of_rank = found.get(&rank).and_then(|calls| calls.get("MPI_Bcast"));
            of_rank.copied().unwrap_or(0)
        };
        let run = filtered(mpi, "time 1.5-", &["1500"]);
        let all = [("MPI_Barrier", [7, 7]), ("MPI_Finalize", [1, 1])];
        expect(&run, "behind", &all);
        for (rank, (surely, perhaps)) in broadcasts_before(&run).into_iter().enumerate() {
            let left_out = 10 - broadcasts(&run, rank);
            assert!(
                (surely..=perhaps).contains(&left_out),
                "{mpi:?}: {left_out}"
            );
        }
        let run = filtered(mpi, "time -1.5", &["1500"]);
        let none = [("MPI_Barrier", [0, 0]), ("MPI_Finalize", [0, 0])];
        expect(&run, "before", &none);
        for (rank, (surely, perhaps)) in broadcasts_before(&run).into_iter().enumerate() {
            let kept = broadcasts(&run, rank);
            assert!((surely..=perhaps).contains(&kept), "{mpi:?}: {kept}");
        }
    }
}

#[test]
fn pcontrol_is_recorded_and_may_be_ignored() {
    for mpi in installed() {
        let program = Program::c("pcontrol").compile(mpi);
        for (word, barriers) in [("obey", 5), ("ignore", 12)] {
            let variables = [("TRACE_PCONTROL", word)];
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.variables = &variables;
            let run = tracing.run(&program, &[]);
            assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
            let expected = [("MPI_Barrier", [barriers; 2]), ("MPI_Pcontrol", [3; 2])];
            expect(&run, word, &expected);
        }
    }
}

/// Whatever the configuration file is, the program runs, is told where it is wrong, and traced with the defaults.
#[test]
fn hostile_configuration_files() {
    for mpi in installed() {
        let program = Program::c("pcontrol").compile(mpi);
        let folder = TestFolder::new(&format!("{}-hostile", mpi.suffix()));
        let path = |name: &str| folder.path().join(name).display().to_string();
        let made = Command::new("mkfifo").arg(path("fifo")).status();
        assert!(made.expect("mkfifo").success());
        let rubbish: Vec<u8> = (0..20_000u32).map(|i| !((i * i) >> 3) as u8).collect();
        fs::write(path("rubbish"), rubbish).expect("own folder");
        for (name, reported) in [
            ("fifo", "fifo: "),
            ("rubbish", "rubbish:1: not UTF-8"),
            ("", ": "),
        ] {
            let named = path(name);
            let variables = [("TRACE_CONF", named.as_str())];
            let mut tracing = TraceSetup::new(mpi, 1);
            tracing.variables = &variables;
            tracing.limit = Duration::from_secs(60);
            let run = tracing.run(&program, &[]);
            let story = run.finished.story();
            assert_eq!(run.finished.stdout, "ok\n", "{story}");
            assert!(run.finished.stderr.contains(reported), "{story}");
            assert_eq!(run.in_dumpi()[&0]["MPI_Barrier"], 5, "{story}");
        }
    }
}
