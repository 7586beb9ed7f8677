//! Polling: of a row of calls that ask in vain, or for the time, the first and the last are kept and the others counted, and the
//! closing line says when that would help. `programs/polling.c` and `programs/clock_loops.c` make the rows.

use std::fs;
use std::process::Command;
use std::time::Duration;
use tests::trace::{TraceSetup, TracedRun, same};
use tests::{Mpi, Program, blocks, mpitrace, process};
use trace_formats::clog2::{Clog2Body, Clog2Reader as Clog2};
use trace_formats::dumpi::read::DumpiReader as Dumpi;

/// Number of MPI_Iprobe in DUMPI's footer.
const IPROBE: usize = 22;
/// Number of MPI_Wtime in DUMPI's footer; MPI_Wtick is the next.
const WTIME: usize = 122;

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Each poll is counted; of a row the first and the last stand in the files, and an event says how many were between.
#[test]
fn polling_is_sampled() {
    for mpi in installed() {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_POLLING", "sample")];
        let program = Program::c("polling").compile(mpi);
        let run = tracing.run(&program, &["100000"]);
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        same("program and count", &run.made(), &run.counted());
        for (rank, found) in run.in_dumpi() {
            let n = |f: &str| found.get(f).copied().unwrap_or(0);
            // Two of the long row, the first of those in turn with MPI_Test, two of each of the ten short rows.
            assert_eq!(n("MPI_Iprobe"), 2 + 1 + 2 * 10, "{found:?}");
            // First and last in turn with MPI_Iprobe, and those behind the barrier, where the row may be none.
            assert!((2 + 1..=2 + 3).contains(&n("MPI_Test")), "{found:?}");
            for f in ["MPI_Testall", "MPI_Testany", "MPI_Testsome"] {
                assert_eq!(n(f), 2, "{f}: {found:?}");
            }
            assert_eq!(n("MPI_Request_get_status"), 2 + 1, "{found:?}");
            // DUMPI's footer has the calls that are left out.
            let bin = &run.files("bin")[rank];
            let bytes = fs::read(bin).expect("a file");
            let reader = Dumpi::open(&bytes).expect("a DUMPI file");
            let footer = reader.footer().expect("sound").expect("there");
            let made = run.made()[&rank]["MPI_Iprobe"];
            assert_eq!(u64::from(footer.called[IPROBE]), made);
            let ignored = u64::from(footer.ignored[IPROBE]);
            assert_eq!(ignored, made - n("MPI_Iprobe"));
        }
        let bytes = fs::read(run.file("clog2")).expect("a file");
        let mut skipped = [0; 2];
        for record in Clog2::new(&bytes).expect("a CLOG2 file").records() {
            let record = record.expect("sound");
            if let Clog2Body::Cargo { etype: 5000, bytes } = record.body {
                let length = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
                let text = String::from_utf8_lossy(&bytes[2..2 + length]).into_owned();
                let number = text.trim_start_matches('+').split(' ').next();
                let number: u64 = number.and_then(|n| n.parse().ok()).expect("a number");
                skipped[record.header.rank as usize] += number;
            }
        }
        for (rank, made) in run.made() {
            let recorded: u64 = run.in_dumpi()[&rank].values().sum();
            let made: u64 = made.values().sum();
            assert_eq!(skipped[rank], made - recorded, "{mpi:?} rank {rank}");
        }
        let size = fs::metadata(run.file("slog2")).expect("a file").len();
        assert!(size < 40_000, "{size} bytes");
    }
}

/// Counts of a killed process stand in its blocks, with performance counters, too.
#[test]
fn polls_survive_a_kill() {
    for mpi in installed() {
        for counters in ["", "task-clock"] {
            let mut tracing = TraceSetup::new(mpi, 1);
            let variables = [("TRACE_POLLING", "sample"), ("TRACE_PAPI", counters)];
            tracing.variables = &variables;
            let run = tracing.run(&Program::c("polling").compile(mpi), &["50000", "die"]);
            let recorded = blocks::read(&run.file("blocks"));
            assert_eq!(recorded.calls["MPI_Iprobe"], 2, "{counters}");
            assert_eq!(recorded.skipped["MPI_Iprobe"], 49_998, "{counters}");
        }
    }
}

/// Numbers of calls that the program printed, by function; both ranks do the same.
fn printed(run: &TracedRun) -> Vec<(String, u64)> {
    let words: Vec<&str> = run.finished.stdout.split_whitespace().collect();
    let pairs = words.chunks_exact(2);
    pairs
        .map(|pair| (pair[0].to_owned(), pair[1].parse().expect("a number")))
        .collect()
}

/// A million readings of the clock make a small block file and a small trace, and every one is counted.
#[test]
fn readings_of_the_clock_are_polls() {
    for mpi in installed() {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_POLLING", "sample"), ("TRACE_KEEP_BLOCKS", "1")];
        let program = Program::c("clock_loops").compile(mpi);
        let run = tracing.run(&program, &["1000000"]);
        let story = run.finished.story();
        let truth = printed(&run);
        assert_eq!(truth.len(), 3, "{story}");
        // A row of MPI_Wtime alone, one in turn with MPI_Wtick, one in turn with MPI_Iprobe.
        let kept = [6, 2, 2];
        same("program and count", &run.made(), &run.counted());
        let kept_blocks = run.files("blocks");
        assert_eq!(kept_blocks.len(), 2, "{story}");
        for file in &kept_blocks {
            assert!(
                fs::metadata(file).expect("kept").len() < 512 << 10,
                "{story}"
            );
            let found = blocks::read(file);
            for ((name, calls), kept) in truth.iter().zip(kept) {
                assert!(found.calls[name] <= kept, "{name}: {found:?}");
                assert_eq!(found.calls[name] + found.skipped[name], *calls, "{name}");
            }
        }
        for (extension, most) in [("slog2", 20_000), ("clog2", 200_000), ("bin", 20_000)] {
            for file in run.files(extension) {
                let size = fs::metadata(&file).expect("a file").len();
                assert!(size < most, "{}: {size} bytes", file.display());
            }
        }
        for bin in run.files("bin") {
            let bytes = fs::read(bin).expect("a file");
            let reader = Dumpi::open(&bytes).expect("a DUMPI file");
            let footer = reader.footer().expect("sound").expect("there");
            assert_eq!(u64::from(footer.called[WTIME]), truth[0].1);
            assert_eq!(u64::from(footer.called[WTIME + 1]), truth[1].1);
            assert!(u64::from(footer.ignored[WTIME]) >= truth[0].1 - kept[0]);
        }
        // Drawn and counted calls make up all calls of both ranks.
        for extension in ["slog2", "clog2"] {
            let stats = |arguments: &[&str]| {
                let mut command = Command::new(mpitrace());
                command
                    .arg("stats")
                    .args(arguments)
                    .arg(run.file(extension));
                let finished = process::run(&mut command, Duration::from_secs(60));
                finished.succeeded().stdout
            };
            let (drawn, text) = (stats(&["--format", "csv"]), stats(&[]));
            let line = text.lines().find(|line| line.contains("counted only: "));
            let (_, counted) = line.and_then(|l| l.split_once(": ")).expect("the line");
            for (name, calls) in &truth {
                let mut rows = drawn
                    .lines()
                    .map(|line| line.split(',').collect::<Vec<_>>());
                let row = rows.find(|row| row[0] == name).expect("drawn");
                let drawn: u64 = row[2].parse().expect("a number");
                let each = counted
                    .split(", ")
                    .find_map(|c| c.strip_suffix(&format!(" {name}")));
                let between: u64 = each.expect("counted").parse().expect("a number");
                assert_eq!(drawn + between, 2 * calls, "{extension}: {name}: {text}");
            }
        }
        assert!(!run.finished.stderr.contains(ADVICE), "{story}");
    }
}

/// Beginning of the line about the setting.
const ADVICE: &str = "with TRACE_POLLING=sample";

/// If more than half of all calls are polls that were recorded one by one, the closing line says what would help, with the
/// number of calls that would be counted only; it says nothing where the setting would not help.
#[test]
fn a_flood_of_polls_is_told() {
    for mpi in installed() {
        let tracing = TraceSetup::new(mpi, 2);
        let program = Program::c("clock_loops").compile(mpi);
        let run = tracing.run(&program, &["20000"]);
        let story = run.finished.story();
        let all: u64 = printed(&run).iter().map(|(_, calls)| 2 * calls).sum();
        // Of each rank ten polls stay, as in the test above.
        let grouped = format!("{} {:03} of ", (all - 20) / 1000, (all - 20) % 1000);
        assert_eq!(run.finished.stderr.matches(ADVICE).count(), 1, "{story}");
        assert!(run.finished.stderr.contains(&grouped), "{grouped}: {story}");
        // Tests that bring something, and clocks that are read once before and once behind what is timed, are no such polls.
        let run = tracing.run(&Program::c("timed").compile(mpi), &["2000"]);
        assert!(
            !run.finished.stderr.contains(ADVICE),
            "{}",
            run.finished.story()
        );
        assert_eq!(run.finished.stdout, "ok\n");
    }
}

/// `success` leaves out what failed or found nothing; a clock that was read is neither.
#[test]
fn success_keeps_readings_of_the_clock() {
    for mpi in installed() {
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_SETTINGS", "MPI_Default success")];
        let run = tracing.run(&Program::c("clock_loops").compile(mpi), &["100"]);
        let truth = printed(&run);
        for found in run.in_dumpi().values() {
            assert_eq!(found["MPI_Wtime"], truth[0].1, "{}", run.finished.story());
            assert_eq!(found.get("MPI_Iprobe"), None);
        }
    }
}
