//! Waits of real programs: what `mpitrace report` says against clock readings of the programs themselves.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, clocks, process};

/// Begin and end of the call of a rank in a round that a case is about, seconds.
type Span = (f64, f64);
/// The calls of a round by rank.
type Round = BTreeMap<usize, Span>;

/// Who waits for whom in a case.
#[derive(Clone, Copy)]
enum Truth {
    /// Each of these for the other one.
    Pairs(&'static [(usize, usize)]),
    /// Everyone in a group for all others of it.
    Everyone(&'static [&'static [usize]]),
    /// All for this one.
    For(usize),
    /// This one for all others.
    By(usize),
    /// Everyone for lower ranks.
    Lower,
    /// Each of these for the last of some others.
    Of(&'static [(usize, &'static [usize])]),
    /// The first one until the second one gives something back, in a call.
    Return(usize, usize),
}

const WORLD: &[&[usize]] = &[&[0, 1, 2, 3]];
const HALVES: &[&[usize]] = &[&[0, 2], &[1, 3]];

/// Each rank of a ring for both of its neighbours.
const RING: &[(usize, &[usize])] = &[(0, &[1, 3]), (1, &[0, 2]), (2, &[1, 3]), (3, &[0, 2])];

/// Any call.
const ANY: &str = "";

/// A case: name, pattern, call, truth.
type Case = (&'static str, &'static str, &'static str, Truth);

/// A program with cases that can stand in one run, as their waits differ in pattern or call, and the formats that have what is needed.
type Run = (&'static str, &'static [&'static str], &'static [Case]);

const RUNS: [Run; 6] = [
    (
        "waits",
        &["slog2", "meta"],
        &[
            (
                "late-sender",
                "late-sender",
                "MPI_Recv",
                Truth::Pairs(&[(1, 0)]),
            ),
            (
                "late-sender-sendrecv",
                "late-sender",
                "MPI_Sendrecv",
                Truth::Pairs(&[(1, 0), (0, 1)]),
            ),
            (
                "late-sender-probe",
                "late-sender",
                "MPI_Mprobe",
                Truth::Pairs(&[(1, 0)]),
            ),
            (
                "late-sender-persistent",
                "late-sender",
                "MPI_Wait",
                Truth::Pairs(&[(1, 0)]),
            ),
            (
                "late-receiver",
                "late-receiver",
                "MPI_Send",
                Truth::Pairs(&[(0, 1)]),
            ),
            (
                "late-receiver-ssend",
                "late-receiver",
                "MPI_Ssend",
                Truth::Pairs(&[(0, 1)]),
            ),
            (
                "late-receiver-isend",
                "late-receiver",
                "MPI_Wait",
                Truth::Pairs(&[(0, 1)]),
            ),
            ("allreduce", "nx-n", "MPI_Allreduce", Truth::Everyone(WORLD)),
            ("iallreduce", "nx-n", "MPI_Wait", Truth::Everyone(WORLD)),
            ("bcast", "late-broadcast", "MPI_Bcast", Truth::For(0)),
            ("reduce", "early-reduce", "MPI_Reduce", Truth::By(0)),
            ("scan", "early-scan", "MPI_Scan", Truth::Lower),
        ],
    ),
    (
        "waits",
        &["slog2", "meta"],
        &[
            (
                "late-sender-big",
                "late-sender",
                "MPI_Recv",
                Truth::Pairs(&[(1, 0)]),
            ),
            // Nobody waits in these two.
            ("bcast-leaf", "late-broadcast", "MPI_Bcast", Truth::For(0)),
            ("reduce-root", "early-reduce", "MPI_Reduce", Truth::By(0)),
            (
                "late-sender-irecv",
                "late-sender",
                "MPI_Wait",
                Truth::Pairs(&[(1, 0)]),
            ),
            (
                "subcommunicator",
                "nx-n",
                "MPI_Allreduce",
                Truth::Everyone(HALVES),
            ),
            (
                "file",
                "file-collective",
                "MPI_File_write_at_all",
                Truth::Everyone(HALVES),
            ),
            ("window", "window", "MPI_Win_fence", Truth::Everyone(HALVES)),
        ],
    ),
    (
        "waits_of_some",
        &["slog2"],
        &[
            (
                "neighbours",
                "nx-n",
                "MPI_Neighbor_alltoall",
                Truth::Of(RING),
            ),
            (
                "neighbours-nonblocking",
                "nx-n",
                "MPI_Waitall",
                Truth::Of(RING),
            ),
            (
                "inter-sender",
                "late-sender",
                "MPI_Recv",
                Truth::Pairs(&[(3, 2)]),
            ),
            (
                "inter-bcast",
                "late-broadcast",
                "MPI_Bcast",
                Truth::Pairs(&[(1, 2), (3, 2)]),
            ),
            (
                "inter-reduce",
                "early-reduce",
                "MPI_Reduce",
                Truth::Of(&[(2, &[1, 3])]),
            ),
            ("late-post", "late-post", ANY, Truth::Pairs(&[(1, 0)])),
            // Nobody waits.
            ("shared-lock", "lock-contention", ANY, Truth::Pairs(&[])),
            ("shared-lock-all", "lock-contention", ANY, Truth::Pairs(&[])),
        ],
    ),
    (
        "waits_of_some",
        &["slog2"],
        &[
            (
                "from-below",
                "nx-n",
                "MPI_Neighbor_allgather",
                Truth::Pairs(&[(0, 3), (1, 0), (2, 1), (3, 2)]),
            ),
            (
                "persistent-allreduce",
                "nx-n",
                "MPI_Wait",
                Truth::Everyone(WORLD),
            ),
            (
                "startall",
                "late-receiver",
                "MPI_Waitall",
                Truth::Pairs(&[(0, 1)]),
            ),
            (
                "partitioned",
                "late-sender",
                "MPI_Wait",
                Truth::Pairs(&[(1, 0)]),
            ),
            (
                "late-complete",
                "late-complete",
                "MPI_Win_wait",
                Truth::Pairs(&[(0, 1)]),
            ),
            ("lock", "lock-contention", ANY, Truth::Return(1, 0)),
        ],
    ),
    (
        "waits_of_some",
        &["slog2"],
        &[("lock-all", "lock-contention", ANY, Truth::Return(1, 0))],
    ),
    (
        "waits_of_some",
        &["slog2"],
        &[
            ("idup", "communicator", "MPI_Wait", Truth::Everyone(WORLD)),
            (
                "create-group",
                "communicator",
                "MPI_Comm_create_group",
                Truth::Everyone(&[&[0, 2]]),
            ),
            (
                "inter-create",
                "communicator",
                "MPI_Intercomm_create",
                Truth::Everyone(WORLD),
            ),
        ],
    ),
];

impl Truth {
    /// Least and most seconds that ranks wait in a round: each from the begin of its call until the last that it waits for has come, but not
    /// beyond its end.
    fn seconds(self, round: &Round) -> [f64; 2] {
        let wait = |own: usize, others: &mut dyn Iterator<Item = usize>| {
            let (begin, end) = round[&own];
            let last = others.map(|other| round[&other].0).fold(begin, f64::max);
            (last.min(end) - begin).max(0.0)
        };
        let ranks = 0..4;
        let exact = match self {
            Truth::Pairs(pairs) => {
                let waits = pairs
                    .iter()
                    .map(|&(own, other)| wait(own, &mut [other].into_iter()));
                waits.sum()
            }
            Truth::Everyone(groups) => {
                let members = groups
                    .iter()
                    .flat_map(|group| group.iter().map(move |own| (*own, *group)));
                members
                    .map(|(own, group)| wait(own, &mut group.iter().copied()))
                    .sum()
            }
            Truth::For(root) => ranks.map(|own| wait(own, &mut [root].into_iter())).sum(),
            Truth::By(root) => wait(root, &mut ranks.clone()),
            Truth::Lower => ranks.map(|own| wait(own, &mut (0..own))).sum(),
            Truth::Of(groups) => {
                let waits = groups
                    .iter()
                    .map(|(own, others)| wait(*own, &mut others.iter().copied()));
                waits.sum()
            }
            Truth::Return(own, other) => {
                let (begin, end) = round[&own];
                let (calls, returns) = round[&other];
                return [calls, returns].map(|time| (time.min(end) - begin).max(0.0));
            }
        };
        [exact; 2]
    }
}

/// The rounds that the program has printed, by case.
fn rounds(text: &str) -> BTreeMap<String, Vec<Round>> {
    let mut cases: BTreeMap<String, Vec<Round>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [case, rank, round, begin, end] = words[..] else {
            panic!("{line}");
        };
        let number = |text: &str| text.parse::<f64>().expect(line);
        let rounds = cases.entry(case.to_owned()).or_default();
        let round: usize = round.parse().expect(line);
        rounds.resize(rounds.len().max(round + 1), Round::new());
        rounds[round].insert(rank.parse().expect(line), (number(begin), number(end)));
    }
    cases
}

fn report(file: &std::path::Path) -> Value {
    report_of(file, &[])
}

fn report_of(file: &std::path::Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(tests::mpitrace());
    command.args(["report", "--json"]).args(arguments).arg(file);
    let printed = process::run(&mut command, LIMIT).succeeded();
    serde_json::from_str(&printed.stdout).expect("JSON")
}

/// Seconds of the waits with a pattern in a call.
fn waited(report: &Value, pattern: &str, call: &str) -> f64 {
    let groups = report["waits"].as_array().expect("a list").iter();
    let is_call = |group: &Value| call == ANY || group["call"] == call;
    let wanted = groups.filter(|group| group["pattern"] == pattern && is_call(group));
    wanted
        .map(|group| group["seconds"].as_f64().expect("a number"))
        .sum()
}

/// Every figure is that of the program's own clock readings, also where it is zero.
#[test]
fn waits_are_as_long_as_the_programs_clocks_say() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for (program, formats, cases) in RUNS {
            let program = Program::c(program).compile(mpi);
            clocks::in_one_of_three_runs(|| waits_agree(mpi, &program, formats, cases));
        }
    }
}

/// In a collective write that each rank does by itself, nobody waits for the one that comes late.
#[test]
fn ranks_that_write_by_themselves_wait_for_nobody() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("waits").compile(mpi);
        clocks::in_one_of_three_runs(|| {
            let mut setup = TraceSetup::new(mpi, 4);
            setup.variables = &[("OMPI_MCA_fcoll", "individual")];
            let run = setup.run(&program, &["20", "4", "file-alone"]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let rounds = &rounds(&run.finished.stdout)["file-alone"];
            // The calls are longer than the last rank is late: nothing but the begin of the first transfer tells that they do not wait.
            let late = rounds.iter().map(|round| round[&3].0 - round[&0].0);
            let late: f64 = late.sum();
            let found = waited(
                &report(&run.file("slog2")),
                "file-collective",
                "MPI_File_write_at_all",
            );
            match found < late / 10.0 {
                true => Ok(()),
                false => Err(format!(
                    "{mpi:?}: {found} s, where the last rank is late by {late} s"
                )),
            }
        });
    }
}

/// The call that completes a collective write waits for the last rank, in ROMIO. OMPIO writes without it, and tells so by its operations.
#[test]
fn nonblocking_file_accesses_wait_where_they_are_completed() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("waits").compile(mpi);
        clocks::in_one_of_three_runs(|| {
            let run = TraceSetup::new(mpi, 4).run(&program, &["20", "4", "file-nonblocking"]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let rounds = &rounds(&run.finished.stdout)["file-nonblocking"];
            let waits = rounds
                .iter()
                .map(|round| Truth::Everyone(WORLD).seconds(round)[0]);
            let truth = if mpi.is_mpich() { waits.sum() } else { 0.0 };
            let found = waited(&report(&run.file("slog2")), "file-collective", "MPI_Wait");
            match clocks::agree(found, truth) {
                true => Ok(()),
                false => Err(format!("{mpi:?}: {found} s in place of {truth} s")),
            }
        });
    }
}

/// Runs a program on 4 ranks. What its trace tells must hold together in all formats.
///
/// # Errors
/// A wait that is not what the program's clocks say.
fn waits_agree(mpi: Mpi, program: &Path, formats: &[&str], cases: &[Case]) -> Result<(), String> {
    let names = cases.iter().map(|case| case.0);
    let arguments: Vec<&str> = ["20", "4"].into_iter().chain(names).collect();
    let run = TraceSetup::new(mpi, 4).run(program, &arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let truth = rounds(&run.finished.stdout);
    let mut wrong = Vec::new();
    for format in formats {
        let report = report(&run.file(format));
        for (case, pattern, call, who) in cases {
            // DUMPI knows the arguments of MPI-1 and MPI-2 only: neither a request nor a message of these.
            if *format == "meta" && ["iallreduce", "late-sender-probe"].contains(case) {
                continue;
            }
            let rounds = &truth[*case];
            assert_eq!(rounds.len(), 4);
            let [least, most] = [0, 1].map(|nth| {
                let waits = rounds.iter().map(|round| who.seconds(round)[nth]);
                waits.sum::<f64>()
            });
            let found = waited(&report, pattern, call);
            let tolerance = clocks::tolerance(most);
            if !(least - tolerance..=most + tolerance).contains(&found) {
                wrong.push(format!(
                    "{mpi:?} {format} {case}: {found} s in place of {least} to {most} s: {:#}",
                    report["waits"]
                ));
            }
        }
        // Those same calls are named as ones that DUMPI has no arguments of: the collective ones, and those that receive.
        let lacks = |name: &&str| cases.iter().any(|case| case.0 == *name);
        let lacking = ["iallreduce", "late-sender-probe"]
            .iter()
            .filter(|name| lacks(name));
        let lacking = lacking.count() * usize::from(*format == "meta");
        let notes = report["notes"].as_array().expect("notes");
        let is_told = |note: &Value| {
            note.as_str()
                .is_some_and(|it| it.contains("the file has no arguments"))
        };
        assert_eq!(notes.len(), lacking, "{mpi:?} {format}: {notes:?}");
        assert!(notes.iter().all(is_told), "{mpi:?} {format}: {notes:?}");
        sums_agree(&report);
    }
    // What calls on files tell stands before what the analysis needs.
    let printed = run.print(&run.file("slog2"));
    let writes = printed
        .lines()
        .filter(|line| line.contains("name=MPI_File_write_at_all"));
    for line in writes.filter(|line| line.contains("Primitive")) {
        assert!(line.contains(", bytes=8, offset="), "{line}");
        assert!(line.contains(", handle="), "{line}");
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n")),
    }
}

/// What holds for every report.
fn sums_agree(report: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let list = |name: &str| report[name].as_array().expect("a list").clone();
    let sum = |name: &str, field: &str| list(name).iter().map(|v| number(&v[field])).sum::<f64>();
    let close = |a: f64, b: f64, what: &str| assert!((a - b).abs() < 1e-6, "{what}: {a} {b}");
    let time = &report["time"];
    let seconds = number(&report["focus"]["seconds"]);
    close(sum("waits", "seconds"), number(&time["waiting"]), "waits");
    close(
        sum("root_causes", "seconds"),
        number(&time["waiting"]),
        "root causes",
    );
    close(sum("path_ranks", "seconds"), seconds, "path by rank");
    close(
        sum("path_activities", "seconds"),
        seconds,
        "path by activity",
    );
    let parts = ["computing", "waiting", "transfer", "files"].map(|part| number(&time[part]));
    close(parts.iter().sum(), number(&time["all"]), "uses of time");
    let of = |name: &str| number(&report["efficiencies"][name]);
    close(
        of("parallel"),
        of("load_balance") * of("communication"),
        "parallel",
    );
    close(
        of("communication"),
        of("serialisation") * of("transfer"),
        "communication",
    );
}

/// Ranks that hand a message on compute one after the other: a quarter of the time each.
#[test]
fn a_chain_is_serial() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("waits").compile(mpi);
        clocks::in_one_of_three_runs(|| chain_is_serial(mpi, &program));
    }
}

/// Runs the chain on 4 ranks.
///
/// # Errors
/// A serialisation that is not what the program's clocks say.
fn chain_is_serial(mpi: Mpi, program: &Path) -> Result<(), String> {
    let run = TraceSetup::new(mpi, 4).run(program, &["30", "5", "chain"]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let truth = &rounds(&run.finished.stdout)["chain"];
    // From the end of its receive to the begin of its send a rank computes; nobody else does meanwhile.
    let computed = |rank: usize| {
        let spans = truth.iter().map(|round| round[&rank].0 - round[&rank].1);
        spans.sum::<f64>()
    };
    let all: Vec<f64> = (0..4).map(computed).collect();
    let report = report(&run.file("slog2"));
    let serialisation = report["efficiencies"]["serialisation"]
        .as_f64()
        .expect("a number");
    let longest = all.iter().copied().fold(0.0, f64::max);
    let expected = longest / all.iter().sum::<f64>();
    sums_agree(&report);
    match (serialisation - expected).abs() < 0.02 {
        true => Ok(()),
        false => Err(format!(
            "{mpi:?}: {serialisation} in place of {expected}: {report:#}"
        )),
    }
}

/// One rank computes four times as long as the others: the report names it, in numbers and in words.
#[test]
fn a_late_rank_is_named() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("late_rank").compile(mpi);
        let run = TraceSetup::new(mpi, 3).run(&program, &["1", "10", "20"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert!(
            run.finished
                .stderr
                .contains("; next: mpitrace report trace/late_rank.slog2"),
            "{}",
            run.finished.story()
        );
        let report = report(&run.file("slog2"));
        assert_eq!(
            report["efficiencies"]["longest_computing_rank"], 1,
            "{mpi:?}: {report:#}"
        );
        assert_eq!(report["root_causes"][0]["rank"], 1, "{mpi:?}: {report:#}");
        assert_eq!(report["messages"], 15, "{mpi:?}");
        sums_agree(&report);
        let mut command = Command::new(tests::mpitrace());
        command.args(["view", "--summary"]).arg(run.file("slog2"));
        let text = process::run(&mut command, LIMIT).succeeded().stdout;
        // Lines end where the page does.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("due to rank 1, which was computing"),
            "{mpi:?}: {text}"
        );
        let limited = [
            "--fail-if",
            "parallel-efficiency<0.999",
            "--fail-if",
            "seconds<0",
        ];
        let mut command = Command::new(tests::mpitrace());
        command.arg("report").args(limited).arg(run.file("slog2"));
        let failed = process::run(&mut command, LIMIT);
        assert_eq!(failed.status.code(), Some(3), "{}", failed.story());
        assert!(
            failed.stderr.contains("parallel-efficiency is 0."),
            "{}",
            failed.stderr
        );
        assert!(!failed.stderr.contains("seconds is"), "{}", failed.stderr);
    }
}

/// The numbers of the lines that begin with a word: three of each.
fn lines(text: &str, word: &str) -> Vec<[f64; 3]> {
    let lines = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [first, rest @ ..] = &words[..] else {
            return None;
        };
        let number = |nth: usize| rest[nth].parse::<f64>().expect(line);
        (*first == word).then(|| [number(0), number(1), number(2)])
    });
    lines.collect()
}

/// Seconds in which at least one of these ranges is: rank, begin, end.
fn union(ranges: &[[f64; 3]]) -> f64 {
    let mut ranges = ranges.to_vec();
    ranges.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let mut until = f64::NEG_INFINITY;
    let mut seconds = 0.0;
    for [_, begin, end] in ranges {
        seconds += (end - begin.max(until)).max(0.0);
        until = until.max(end);
    }
    seconds
}

/// Whether a figure of a report is the program's.
///
/// # Errors
/// What it is in place of what.
fn near(found: &Value, expected: f64, what: &str) -> Result<(), String> {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    match clocks::agree(found, expected) {
        true => Ok(()),
        false => Err(format!("{what}: {found} in place of {expected}")),
    }
}

/// The steps of the main loop are found, the slow one is told, and a report about a part has the times of that part, all by the program's own clock.
#[test]
fn phases_are_as_long_as_the_programs_clock_says() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("phases").compile(mpi);
        clocks::in_one_of_three_runs(|| phases_agree(mpi, &program));
    }
}

/// Runs the program of phases on 3 ranks. The steps and their causes must be found as they are.
///
/// # Errors
/// A time that is not what the program's clocks say.
fn phases_agree(mpi: Mpi, program: &Path) -> Result<(), String> {
    let run = TraceSetup::new(mpi, 3).run(program, &["20", "12", "7"]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let printed = &run.finished.stdout;
    let file = run.file("slog2");
    let whole = report(&file);
    let phases = &whole["phases"];
    let all_steps = lines(printed, "step");
    let steps = all_steps.iter().filter(|[rank, ..]| *rank == 0.0);
    let steps: Vec<[f64; 3]> = steps.copied().collect();
    assert_eq!(phases["iterations"], steps.len(), "{mpi:?}: {phases:#}");
    assert_eq!(phases["consist_of"][0], "step", "{mpi:?}: {phases:#}");
    // Unless the machine is busy with something else, so that other steps take much longer, too.
    let mut lengths: Vec<f64> = steps.iter().map(|[_, begin, end]| end - begin).collect();
    lengths.sort_by(f64::total_cmp);
    let outliers = &phases["outliers"];
    if lengths[10] < 1.5 * lengths[0] && *outliers != serde_json::json!([7]) {
        return Err(format!("steps {outliers} are outliers, not 7 alone"));
    }
    for (nth, [_, begin, end]) in steps.iter().enumerate() {
        let found = &phases["phases"][nth]["seconds"];
        near(found, end - begin, &format!("{mpi:?}: step {nth} from 0"))?;
    }
    let cause = &phases["phases"][6]["cause_rank"];
    if *cause != 1 {
        return Err(format!("{mpi:?}: step 7 is due to rank {cause}"));
    }
    let slow = report_of(&file, &["--focus", "phase 7"]);
    near(
        &slow["focus"]["seconds"],
        steps[6][2] - steps[6][1],
        "focus on step 7",
    )?;
    let cause = &slow["root_causes"][0]["rank"];
    if *cause != 1 {
        return Err(format!("{mpi:?}: waits in step 7 are due to rank {cause}"));
    }
    let region = report_of(&file, &["--focus", "region step"]);
    let computed: f64 = lines(printed, "computed").iter().map(|line| line[1]).sum();
    near(&region["time"]["computing"], computed, "computing in steps")?;
    near(&region["focus"]["seconds"], union(&all_steps), "all steps")?;
    assert_eq!(region["by_region"][0]["region"], "step", "{mpi:?}");
    let output = report_of(&file, &["--focus", "region output"]);
    near(
        &output["focus"]["seconds"],
        union(&lines(printed, "output")),
        "output",
    )?;
    let barriers = lines(printed, "barrier");
    let last = barriers.iter().map(|line| line[1]).fold(0.0, f64::max);
    let waited: f64 = barriers.iter().map(|line| last - line[1]).sum();
    near(&output["time"]["waiting"], waited, "waiting for the output")?;
    assert_eq!(output["waits"][0]["culprit"], 0, "{mpi:?}: {output:#}");
    for report in [&whole, &slow, &region, &output] {
        sums_agree(report);
    }
    Ok(())
}
