//! Performance counters: what a trace says was counted in calls, compared with what the kernel tells the program itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, process};
use trace_formats::dumpi::read::DumpiReader as Dumpi;

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// By function, the number of its records and the sum of what each counter counted in them.
type Sums = BTreeMap<String, (u64, Vec<i64>)>;

/// Reads a DUMPI file: names of counters, and by function the number of its records and the sums of their counts.
fn dumpi(path: &Path) -> (Vec<String>, Sums) {
    let bytes = fs::read(path).expect("a file");
    let reader = Dumpi::open(&bytes).expect("a DUMPI file");
    let labels = reader.perf_labels().expect("sound").unwrap_or_default();
    let names: Vec<String> = labels
        .into_iter()
        .map(|name| String::from_utf8(name).expect("text"))
        .collect();
    let mut sums = Sums::new();
    let mut before = vec![0; names.len()];
    for record in reader.records() {
        let record = record.expect("sound");
        let name = record.function.name;
        let values: Vec<(i64, i64)> = record.counters.iter().collect();
        assert_eq!(values.len(), names.len(), "{name}");
        let sum = sums.entry(name.to_owned()).or_default();
        sum.0 += 1;
        sum.1.resize(names.len(), 0);
        for (place, (entry, exit)) in values.into_iter().enumerate() {
            assert!(
                before[place] <= entry && entry <= exit,
                "{name}: they only grow"
            );
            sum.1[place] += exit - entry;
            before[place] = exit;
        }
    }
    (names, sums)
}

/// By rank and function, the number of calls and what counters counted in them.
type Shown = BTreeMap<(usize, String), (u64, Vec<i64>)>;

/// Output of `mpitrace stats` for a file: the names of its columns, and by rank and function the number of calls and the values in the
/// last columns, those of counters.
fn stats(file: &Path) -> (String, Shown) {
    let mut command = Command::new(tests::mpitrace());
    command.args(["stats", "-q", "--by", "rank,category", "--format", "csv"]);
    let reported = process::run(command.arg(file), Duration::from_secs(60)).succeeded();
    let mut lines = reported.stdout.lines();
    let head = lines.next().expect("names of columns").to_owned();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let values = cells.iter().skip(9).filter_map(|cell| cell.parse().ok());
        let of = (cells[0].parse().expect(line), cells[1].to_owned());
        (of, (cells[3].parse().expect(line), values.collect()))
    };
    let states = lines.filter(|line| line.contains(",state,"));
    (head, states.map(row).collect())
}

/// The program's own lines: rank, pages touched, page faults and context switches that getrusage saw.
fn truth(run: &TracedRun) -> BTreeMap<usize, [i64; 3]> {
    let lines = run.finished.stdout.lines().filter(|line| *line != "ok");
    lines
        .map(|line| {
            let words: Vec<i64> = line.split(' ').map(|w| w.parse().expect(line)).collect();
            (words[0] as usize, [words[1], words[2], words[3]])
        })
        .collect()
}

#[test]
fn page_faults_and_context_switches_are_those_that_the_kernel_tells() {
    for mpi in installed() {
        let program = Program::c("counted").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_PAPI", "page-faults,PAPI_NO_SUCH,context-switches")];
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        let printed = |line: &&str| line.contains("PAPI_NO_SUCH: not known; the other 2 are read");
        assert_eq!(
            run.finished.stderr.lines().filter(printed).count(),
            1,
            "{story}"
        );
        let truth = truth(&run);
        let shown = ["slog2", "meta"].map(|kind| {
            let (head, sums) = stats(&run.file(kind));
            assert!(
                head.ends_with("max_s,page-faults,context-switches"),
                "{head}"
            );
            sums
        });
        let text = run.print(&run.file("slog2"));
        assert!(text.contains("page-faults=+"), "{text}");
        assert_eq!(truth.len(), 2, "{story}");
        for (rank, file) in run.files("bin").iter().enumerate() {
            let (names, sums) = dumpi(file);
            assert_eq!(names, ["page-faults", "context-switches"]);
            let [pages, faults, switches] = truth[&rank];
            let (calls, counted) = &sums["MPI_Comm_delete_attr"];
            assert_eq!(*calls, 20);
            assert!(
                (pages..=faults).contains(&counted[0]),
                "{mpi:?} rank {rank}: {counted:?}, pages {pages}, getrusage {faults}"
            );
            let (calls, counted) = &sums["MPI_Barrier"];
            assert_eq!(*calls, 20);
            assert!(
                (0..=switches).contains(&counted[1]),
                "{mpi:?} rank {rank}: {counted:?}, getrusage {switches}"
            );
            assert!(
                rank == 0 || counted[1] > 0 || switches < 5,
                "{counted:?} of {switches}"
            );
            // The pages that are touched between calls are in none.
            let all: i64 = sums.values().map(|(_, counted)| counted[0]).sum();
            assert!(all < pages * 2, "{all}");
            for shown in &shown {
                for (function, (calls, counted)) in &sums {
                    // DUMPI's pair of records for a call that it has no number for is one state.
                    let Some((states, values)) = shown.get(&(rank, function.clone())) else {
                        assert!(function.starts_with("Function_"), "{function}");
                        continue;
                    };
                    assert_eq!(
                        (states, values),
                        (calls, counted),
                        "{mpi:?} {rank} {function}"
                    );
                }
            }
        }
        // In CLOG2 there is nothing of them.
        let clog2 = run.print(&run.file("clog2"));
        assert!(!clog2.contains(&i32::MIN.to_string()), "{mpi:?}");
        assert!(!stats(&run.file("clog2")).0.contains("page-faults"));
    }
}

#[test]
fn counters_that_are_all_unknown_leave_the_trace_as_it_is() {
    for mpi in installed() {
        let program = Program::c("counted").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_PAPI", "PAPI_NO_SUCH")];
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        assert!(
            run.finished.stderr.contains("no counter is left"),
            "{story}"
        );
        let (names, sums) = dumpi(&run.files("bin")[0]);
        assert!(names.is_empty());
        assert_eq!(sums["MPI_Barrier"], (20, Vec::new()));
        assert_eq!(run.closing_numbers().1, 0);
    }
}

/// Counts stand behind what a call's info has anyway: the CallID, bytes and offset of an access are those of the run without counters, in both ways
/// of merging.
#[test]
fn counters_leave_infos_as_they_are() {
    let accesses = |run: &TracedRun| -> Vec<String> {
        let text = run.print(&run.file("slog2"));
        let calls = text
            .lines()
            .filter(|line| line.contains("Primitive[") && line.contains("name=MPI_File_write_at,"));
        calls
            .map(|line| {
                let (_, info) = line.rsplit_once("]: ").expect(line);
                let (info, _) = info.split_once(']').expect(line);
                info.split(", page-faults=").next().expect(line).to_owned()
            })
            .collect()
    };
    for mpi in installed() {
        let program = Program::c("late_rank").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.variables = &[("TRACE_PAPI", "")];
        let plain = accesses(&tracing.run(&program, &["1", "3", "10"]));
        assert_eq!(plain.len(), 50, "{plain:?}");
        let first = "CallID=0x10000000006, bytes=128, offset=0";
        assert_eq!(plain.first().map(String::as_str), Some(first));
        for variables in [
            &[("TRACE_PAPI", "page-faults"), ("TRACE_MERGE", "tree")],
            &[("TRACE_PAPI", "page-faults"), ("TRACE_MERGE", "parallel")],
        ] {
            tracing.variables = variables;
            let run = tracing.run(&program, &["1", "3", "10"]);
            assert!(run.print(&run.file("slog2")).contains("page-faults=+"));
            assert_eq!(accesses(&run), plain, "{variables:?}");
        }
    }
}
