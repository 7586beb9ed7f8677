//! Findings of `mpitrace io` on programs with bad I/O, against the programs' own clock readings, and none on well-behaved ones.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TracedRun, clocks, process};

/// What a case must be found to be: the case, the finding, and figures of it.
struct Expected {
    case: &'static str,
    finding: &'static str,
    figures: &'static [(&'static str, u64)],
    /// Whose clock readings are the cost.
    cost: Cost,
}

/// The clock readings that are the cost of a finding.
#[derive(Clone, Copy, PartialEq)]
enum Cost {
    /// Of all ranks.
    AllRanks,
    /// Of the second rank.
    SecondRank,
}

const fn case(
    case: &'static str,
    finding: &'static str,
    figures: &'static [(&'static str, u64)],
    cost: Cost,
) -> Expected {
    Expected {
        case,
        finding,
        figures,
        cost,
    }
}

const BAD: [Expected; 15] = [
    case(
        "files",
        "many_files",
        &[("files", 600), ("opens", 1200), ("accesses", 600)],
        Cost::AllRanks,
    ),
    case(
        "one-rank",
        "one_rank_writes",
        &[("rank", 0), ("bytes", 64 << 20)],
        Cost::SecondRank,
    ),
    case(
        "unaligned",
        "unaligned_requests",
        &[("unaligned", 800), ("accesses", 800)],
        Cost::AllRanks,
    ),
    case(
        "unaligned",
        "no_collectives",
        &[("accesses", 800), ("ranks", 2), ("bytes", 800 * 10_007)],
        Cost::AllRanks,
    ),
    case(
        "random-reads",
        "random_reads",
        &[("accesses", 1600)],
        Cost::AllRanks,
    ),
    case(
        "hinted",
        "collectives_made_independent",
        &[("groups", 4), ("transfers", 32_000)],
        Cost::AllRanks,
    ),
    case(
        "reread",
        "redundant_reads",
        &[("accesses", 198), ("bytes", 198 << 20)],
        Cost::AllRanks,
    ),
    case(
        "rewrite",
        "redundant_writes",
        &[("accesses", 198), ("bytes", 198 << 20)],
        Cost::AllRanks,
    ),
    case(
        "same-reads",
        "same_reads_of_ranks",
        &[("reads", 128), ("bytes", 16 << 20)],
        Cost::SecondRank,
    ),
    case("at-once", "waited_at_once", &[], Cost::AllRanks),
    case(
        "shared-pointer",
        "shared_pointers",
        &[("calls", 200)],
        Cost::AllRanks,
    ),
    case("syncs", "syncs", &[("syncs", 40)], Cost::AllRanks),
    case(
        "metadata",
        "metadata",
        &[("calls", 604), ("accesses", 0)],
        Cost::AllRanks,
    ),
    case(
        "overlapping",
        "overlapping_writes",
        &[("accesses", 1), ("bytes", 1 << 20)],
        Cost::SecondRank,
    ),
    case(
        "no-mpi-io",
        "no_mpi_io",
        &[("files", 1), ("transfers", 800)],
        Cost::AllRanks,
    ),
];

/// Runs a case on two ranks.
fn run(mpi: Mpi, case: &str) -> TracedRun {
    // What the hint does in ROMIO, the component does in OMPIO.
    let collective = match case {
        "hinted" => "individual",
        _ => "",
    };
    run_with(mpi, case, collective)
}

/// Runs a case on two ranks, with this component of OMPIO for collective accesses; with the one that it chooses if none is named.
fn run_with(mpi: Mpi, case: &str, collective: &str) -> TracedRun {
    let program = Program::c("bad_io").compile(mpi);
    let mut setup = TraceSetup::new(mpi, 2);
    let all = [("TRACE_POSIX", "all"), ("OMPI_MCA_fcoll", collective)];
    setup.variables = match collective {
        "" => &all[..1],
        _ => &all,
    };
    let run = setup.run(&program, &[case]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

/// The report of `mpitrace io` on a run, as JSON.
pub fn io_report(run: &TracedRun) -> Value {
    let mut command = Command::new(tests::mpitrace());
    command.args(["io", "--json"]).arg(run.file("slog2"));
    let printed = process::run(&mut command, LIMIT).succeeded();
    serde_json::from_str(&printed.stdout).expect("JSON")
}

/// The findings of a report of `mpitrace io`.
pub fn findings(report: &Value) -> &[Value] {
    report["findings"].as_array().expect("a list")
}

/// Calls and seconds of each rank, as the program's clocks have them.
fn truth(run: &TracedRun) -> [(u64, f64); 2] {
    let mut lines = run.finished.stdout.lines();
    std::array::from_fn(|rank| {
        let line = lines.next().expect("a line for each rank");
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words[1], rank.to_string(), "{line}");
        let number = |text: &str| text.parse::<f64>().expect(line);
        (number(words[2]) as u64, number(words[3]))
    })
}

/// What every report must hold.
#[track_caller]
fn holds(report: &Value, mpi: Mpi, uses_mpi_io: bool) {
    let library = if mpi.is_mpich() { "ROMIO" } else { "OMPIO" };
    match uses_mpi_io {
        true => assert_eq!(report["mpi_io_library"], library),
        false => assert_eq!(report["mpi_io_library"], Value::Null),
    }
    assert_eq!(report["hosts"], 1);
    let costs = findings(report)
        .iter()
        .map(|f| f["cost_s"].as_f64().expect("a number"));
    let costs: Vec<f64> = costs.collect();
    // What costs something, then what is about results only, then what costs next to nothing.
    let place = |cost: f64| match cost {
        0.0 => 1,
        cost if cost < 1e-3 => 2,
        _ => 0,
    };
    let in_order = |a: &f64, b: &f64| (place(*a), -a) <= (place(*b), -b);
    assert!(costs.is_sorted_by(in_order), "{costs:?}");
    let lines = findings(report)
        .iter()
        .flat_map(|f| f["paste"].as_array().expect("a list"));
    let known: BTreeSet<&str> = lines
        .map(|line| line["for"].as_str().expect("a word"))
        .collect();
    let mut fits = BTreeSet::from(["program", library]);
    // Where the tests run may be on a file system of which it is not known how many hosts share it.
    if report["file_system"] != "local" {
        fits.insert("Lustre");
    }
    assert!(known.is_subset(&fits), "{known:?}");
}

#[test]
fn bad_io_is_named_with_what_it_costs() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for expected in &BAD {
            clocks::in_one_of_three_runs(|| cost_agrees(mpi, expected));
        }
    }
}

/// Runs a case, in which all that can be counted must be found as expected.
///
/// # Errors
/// There is no such finding, or its cost is not what the program's clocks say.
fn cost_agrees(mpi: Mpi, expected: &Expected) -> Result<(), String> {
    let case = expected.case;
    let run = run(mpi, case);
    let report = io_report(&run);
    holds(&report, mpi, expected.finding != "no_mpi_io");
    let mut all = findings(&report).iter();
    let Some(found) = all.find(|one| one["finding"] == expected.finding) else {
        return Err(format!("{mpi:?} {case}: {:#}", report["findings"]));
    };
    for (name, number) in expected.figures {
        assert_eq!(found["figures"][*name], *number, "{mpi:?} {found:#}");
    }
    let [first, second] = truth(&run);
    if case == "at-once" {
        let calls = found["figures"]["calls"].as_u64().expect("a number");
        assert!(calls.abs_diff(first.0 + second.0) <= 2, "{found:#}");
    }
    let seconds = match expected.cost {
        Cost::AllRanks => first.1 + second.1,
        Cost::SecondRank => second.1,
    };
    let cost = found["cost_s"].as_f64().expect("a number");
    // Calls that are at the limit of what is at once may count here or there, and take long on a busy machine.
    let is_at_limit = case == "at-once" && (cost - seconds).abs() < 0.03;
    if clocks::agree(cost, seconds) || is_at_limit {
        return Ok(());
    }
    Err(format!(
        "{mpi:?} {case}: {cost} s in place of {seconds} s: {found:#}"
    ))
}

/// Of so many accesses of a rank to blocks that its sequence of random numbers draws from 2048, those that are here and there.
pub fn jumps(rank: u32, accesses: u32) -> u64 {
    let (mut at, mut count) = (12_345 + 77 * rank, 0);
    let (mut before, mut stride): (Option<i64>, Option<i64>) = (None, None);
    for _ in 0..accesses {
        at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let block = i64::from((at >> 8) % 2048);
        let Some(last) = before.replace(block) else {
            continue;
        };
        let known = stride.replace(block - last);
        let is_regular = block == last + 1 || known == Some(block - last) || block == last;
        count += u64::from(known.is_some() && !is_regular);
    }
    count
}

/// The number of jumps is that of the program's own sequence of random numbers.
#[test]
fn jumps_are_counted_exactly() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let report = io_report(&run(mpi, "random-reads"));
        let mut all = findings(&report).iter();
        let found = all
            .find(|one| one["finding"] == "random_reads")
            .expect("found");
        assert_eq!(
            found["figures"]["random"],
            jumps(0, 800) + jumps(1, 800),
            "{mpi:?}"
        );
    }
}

/// What the advice says makes the finding go away, and well-behaved programs have none.
#[test]
fn well_behaved_programs_have_no_findings() {
    let good = [
        "good-collective",
        "good-own",
        "files-better",
        "one-rank-better",
    ];
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for case in good {
            let report = io_report(&run(mpi, case));
            holds(&report, mpi, true);
            assert_eq!(findings(&report), [] as [Value; 0], "{mpi:?} {case}");
        }
    }
    // Open MPI writes piece by piece there, if nobody tells it otherwise.
    if Mpi::Mpich.installed() {
        for case in ["unaligned-better", "pieces"] {
            let report = io_report(&run(Mpi::Mpich, case));
            assert_eq!(findings(&report), [] as [Value; 0], "{case}");
        }
    }
}

/// A file that is open for 1.3 s before its first use costs nothing, and the time is named.
#[test]
fn a_file_that_is_opened_early() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let report = io_report(&run(mpi, "early"));
        let [found] = findings(&report) else {
            panic!("{mpi:?} {:#}", report["findings"]);
        };
        assert_eq!(found["finding"], "opened_early");
        assert_eq!(found["cost_s"], 0.0);
        let idle = found["figures"]["idle_ns"].as_u64().expect("a number") as f64 / 1e9;
        assert!((1.3..1.4).contains(&idle), "{mpi:?} {idle}");
    }
}

/// Operations of a run.
fn operations(report: &Value) -> u64 {
    let rows = report["operations"].as_array().expect("a list");
    let counts = rows
        .iter()
        .map(|row| row["count"].as_u64().expect("a number"));
    counts.sum()
}

/// The program changed as the lines to paste say does with a fraction of the operations, and the finding is gone.
#[test]
fn what_the_advice_says_saves_operations() {
    let changes = [
        ("files", "many_files", "files-better", 100),
        (
            "shared-pointer",
            "shared_pointers",
            "shared-pointer-better",
            0,
        ),
        ("sieved", "pieces_without_collectives", "sieved-better", 0),
        ("reread", "redundant_reads", "reread-better", 3),
        ("syncs", "syncs", "syncs-better", 0),
    ];
    let names = |report: &Value| -> Vec<String> {
        let names = findings(report).iter().map(|one| one["finding"].as_str());
        names.map(|name| name.expect("a name").to_owned()).collect()
    };
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for (case, finding, better, times) in changes {
            let [before, after] = [case, better].map(|case| io_report(&run(mpi, case)));
            assert!(
                names(&before).iter().any(|name| name == finding),
                "{mpi:?} {case}"
            );
            assert!(
                !names(&after).iter().any(|name| name == finding),
                "{mpi:?} {better}"
            );
            let (before, after) = (operations(&before), operations(&after));
            assert!(
                after * times <= before && after <= before,
                "{mpi:?} {case}: {before}, {after}"
            );
        }
    }
}

/// The setting that the report of an Open MPI run names, pasted behind the launcher, joins 32 000 transfers to a few.
#[test]
fn the_line_for_ompio_makes_collective_accesses_of_pieces() {
    if !Mpi::OpenMpi.installed() {
        return;
    }
    let before = io_report(&run(Mpi::OpenMpi, "pieces"));
    let mut all = findings(&before).iter();
    let found = all.find(|one| one["finding"] == "collectives_made_independent");
    let found = found.unwrap_or_else(|| panic!("{:#}", before["findings"]));
    let mut lines = found["paste"].as_array().expect("a list").iter();
    let line = lines.find(|line| line["for"] == "OMPIO").expect("a line");
    let line = line["line"].as_str().expect("text");
    let component = line.strip_prefix("--mca fcoll ").expect("a component");
    let after = io_report(&run_with(Mpi::OpenMpi, "pieces", component));
    assert_eq!(findings(&after), [] as [Value; 0]);
    let (before, after) = (operations(&before), operations(&after));
    assert!(before > 32_000 && after < 100, "{before}, {after}");
}

/// The picture of the I/O leaves out timelines without any.
#[test]
fn a_picture_of_the_io_only() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = run(mpi, "one-rank");
        let drawn = |more: &[&str]| {
            let mut command = Command::new(tests::mpitrace());
            command.args(["draw", "--quiet"]).arg(run.file("slog2"));
            command.arg("-").args(more);
            process::run(&mut command, LIMIT).succeeded().stdout
        };
        let (all, io) = (drawn(&[]), drawn(&["--focus", "io"]));
        assert!(all.contains(">MPI_Init</text>") && !io.contains(">MPI_Init</text>"));
        assert!(io.contains(">rank 0</text>") && io.contains(">rank 1</text>"));
        assert!(io.contains("MPI_File_write_at"), "{io}");
    }
}
