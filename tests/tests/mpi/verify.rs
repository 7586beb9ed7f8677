//! `mpitrace verify` of real programs that are wrong in one way each, of programs that hang, and of one that is right.

use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, TestFolder, process};

fn verify(trace: &Path) -> Output {
    let mut command = Command::new(tests::mpitrace());
    command.args(["verify", "--json", "--quiet"]).arg(trace);
    command.output().expect("mpitrace")
}

/// The report on a trace of one run.
#[track_caller]
fn report(trace: &Path) -> Value {
    let output = verify(trace);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}: {stderr}", trace.display()));
    let found = report["findings"].as_array().expect("findings").len();
    let code = if found == 0 { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(code), "{report:#}\n{stderr}");
    report
}

/// The kinds of findings, each once.
fn kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().expect("findings");
    let mut kinds: Vec<&str> = findings
        .iter()
        .filter_map(|it| it["kind"].as_str())
        .collect();
    kinds.dedup();
    kinds
}

/// A run of the program that comes to its end, well or not, and leaves its block files.
fn run(mpi: Mpi, program: &Path, fault: &str) -> TracedRun {
    let mut setup = TraceSetup::new(mpi, 3);
    setup.variables = &[("TRACE_KEEP_BLOCKS", "yes")];
    setup.run(program, &[fault])
}

/// Faults with what is found of them in block files: kinds, ranks of the first call, and the number or count.
const FAULTS: &[(&str, &[&str])] = &[
    ("none", &[]),
    ("op", &["collective-operation"]),
    ("unreceived", &["unreceived-message"]),
    ("leaks", &["leak"]),
    ("callbacks", &[]),
];

#[test]
fn faults_of_programs_that_end_are_found() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("faults").compile(mpi);
        for &(fault, expected) in FAULTS {
            let run = run(mpi, &program, fault);
            let blocks = report(&run.trace());
            assert_eq!(kinds(&blocks), expected, "{mpi:?} {fault}: {blocks:#}");
            let dumpi = report(&run.file("meta"));
            assert_eq!(kinds(&dumpi), expected, "{mpi:?} {fault}: {dumpi:#}");
            for report in [&blocks, &dumpi] {
                check(fault, report);
            }
            let slog2 = report(&run.file("slog2"));
            assert_eq!(kinds(&slog2), [""; 0], "{mpi:?} {fault}: {slog2:#}");
            let not_checked = slog2["not_checked"].as_array().expect("a list");
            let says = |what: &str| {
                let mut all = not_checked.iter().filter_map(Value::as_str);
                all.any(|text| text.starts_with(what))
            };
            assert!(says("messages never received:"), "{slog2:#}");
            assert!(says("objects never freed:"), "{slog2:#}");
        }
    }
}

/// What a report must say of a fault beside its kind.
#[track_caller]
fn check(fault: &str, report: &Value) {
    let findings = report["findings"].as_array().expect("findings");
    match fault {
        "op" => {
            // In the order in which the ranks came to it.
            let calls = findings[0]["calls"].as_array().expect("calls");
            let of = |operation: &str| {
                let call = calls.iter().find(|call| call["operation"] == operation);
                call.map(|call| call["ranks"].clone())
            };
            assert_eq!(of("MPI_SUM"), Some("0,2".into()), "{report:#}");
            assert_eq!(of("MPI_MAX"), Some("1".into()), "{report:#}");
            assert_eq!(findings[0]["number"], 2);
        }
        "unreceived" => {
            let call = &findings[0]["calls"][0];
            assert_eq!(
                (&call["rank"], &call["waits_for"]),
                (&0.into(), &"1".into())
            );
            assert_eq!(
                (&findings[0]["tag"], &findings[0]["count"]),
                (&7.into(), &1.into())
            );
            assert_eq!(call["bytes"], 4);
        }
        "leaks" => {
            let mut left: Vec<(&str, u64)> = findings
                .iter()
                .map(|it| {
                    assert_eq!(it["calls"][0]["ranks"], "1", "{report:#}");
                    let maker = it["calls"][0]["function"].as_str();
                    assert!(maker.is_some_and(|name| name != "MPI_Start"), "{it:#}");
                    let object = it["object"].as_str().expect("an object");
                    (object, it["count"].as_u64().expect("a number"))
                })
                .collect();
            left.sort_unstable();
            let expected = [
                ("communicator", 1),
                ("datatype", 1),
                ("error handler", 1),
                ("file", 1),
                ("group", 1),
                ("info object", 1),
                ("keyval", 1),
                ("keyval", 1),
                ("reduction operation", 1),
                ("request", 1),
                ("request", 2),
            ];
            assert_eq!(left, expected, "{report:#}");
        }
        "callbacks" => {
            let notes = report["not_checked"].as_array().expect("a list");
            let mut notes = notes.iter().filter_map(Value::as_str);
            let note = notes.find(|note| note.starts_with("whether what is left at MPI_Finalize"));
            let note = note.unwrap_or_else(|| panic!("{report:#}"));
            for left in [
                "3 communicators made by MPI_Comm_dup on ranks 0-2",
                "3 keyvals made by MPI_Comm_create_keyval on ranks 0-2",
            ] {
                assert!(note.contains(left), "{note}");
            }
        }
        _ => {}
    }
}

/// Checks the bytes that the SLOG2 file of a run without fault tells of calls with a count for each rank. The numbers are those of the program.
fn tells_bytes_by_rank(slog2: &Path) {
    let mut command = Command::new(tests::mpitrace());
    command.args(["print", "--json"]).arg(slog2);
    let output = command.output().expect("mpitrace");
    let printed = String::from_utf8(output.stdout).expect("text");
    let mut found = BTreeMap::<(i64, String), Vec<[Option<i64>; 3]>>::new();
    for line in printed.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let function = row["function"].as_str().expect("a name").to_owned();
        let value = |name: &str| row["arguments"][name].as_i64();
        let values = ["bytes", "received", "sent"].map(value);
        let rank = row["rank"].as_i64().expect("a rank");
        found.entry((rank, function)).or_default().push(values);
    }
    for rank in 0..3i64 {
        let own = Some(4 * (rank + 1));
        // At ranks that are not the root nothing tells what the root gets or gives; in place, not what the root itself has.
        let (at_root, in_place) = match rank {
            1 => (Some(24), Some(-1)),
            _ => (Some(-1), own),
        };
        let to_all = [Some(12 * (rank + 1)), Some(24), None];
        let between = if rank == 2 { Some(12) } else { own };
        for (function, expected) in [
            (
                "MPI_Gatherv",
                vec![[own, at_root, None], [in_place, at_root, None]],
            ),
            (
                "MPI_Scatterv",
                vec![[own, None, at_root], [in_place, None, at_root]],
            ),
            (
                "MPI_Allgatherv",
                vec![
                    [own, Some(24), None],
                    [Some(-1), Some(24), None],
                    [between, Some(12), None],
                ],
            ),
            ("MPI_Alltoallv", vec![to_all]),
            ("MPI_Alltoallw", vec![to_all]),
            ("MPI_Reduce_scatter", vec![[Some(24), own, None]]),
            ("MPI_Iallgatherv", vec![[own, Some(24), None]]),
            ("MPI_Igatherv", vec![[own, at_root, None]]),
        ] {
            let calls = found.get(&(rank, function.to_owned()));
            assert_eq!(calls, Some(&expected), "{function} of rank {rank}");
        }
    }
}

/// What the report says of the communicators: of one the program says the bytes, and on MPI_COMM_WORLD there are calls with data in place.
fn tells_bytes_by_communicator(run: &TracedRun) {
    let of = |format| {
        let mut command = Command::new(tests::mpitrace());
        command.args(["report", "--json"]).arg(run.file(format));
        let finished = tests::process::run(&mut command, tests::trace::LIMIT).succeeded();
        let found: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        found["by_communicator"].as_array().expect("a list").clone()
    };
    let comms = of("slog2");
    let figures = |is: &dyn Fn(&Value) -> bool| {
        let comm = comms.iter().find(|comm| is(comm)).expect("a communicator");
        let names = [
            "messages",
            "message_bytes",
            "collective_sent",
            "collective_received",
        ];
        names.map(|name| comm[name].as_u64())
    };
    let known = figures(&|comm| comm["name"] == "known bytes");
    assert_eq!(known, [3, 24, 176, 196].map(Some), "{comms:#?}");
    let world = figures(&|comm| comm["communicator"] == 0);
    assert_eq!(world, [Some(0), Some(0), None, None], "{comms:#?}");
    // Messages of DUMPI files are drawn on MPI_COMM_WORLD, whatever communicator they are on.
    let told = of("meta").iter().any(|comm| !comm["messages"].is_null());
    assert!(!told);
}

/// Ranks that together send less than they expect. The numbers are those of the program's calls, of integers of 4 bytes.
#[test]
fn collective_calls_that_send_less_than_is_expected_are_found() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("collective_sizes").compile(mpi);
        let run_without_fault = run(mpi, &program, "none");
        let blocks = report(&run_without_fault.trace());
        assert_eq!(kinds(&blocks), [""; 0], "{mpi:?}: {blocks:#}");
        // Calls inside of others are none that these checks need.
        let not_checked = blocks["not_checked"].as_array().expect("a list");
        assert!(not_checked.is_empty(), "{mpi:?}: {not_checked:?}");
        let dumpi = report(&run_without_fault.file("meta"));
        assert_eq!(kinds(&dumpi), [""; 0], "{mpi:?}: {dumpi:#}");
        let not_checked = dumpi["not_checked"].to_string();
        assert!(
            !not_checked.contains("counted only"),
            "{mpi:?}: {not_checked}"
        );
        tells_bytes_by_rank(&run_without_fault.file("slog2"));
        tells_bytes_by_communicator(&run_without_fault);
        let mut faults = vec![("gatherv", "MPI_Gatherv", 24, 28, 1)];
        // Open MPI ends a program that expects more here.
        if mpi.is_mpich() {
            faults.push(("alltoallv", "MPI_Alltoallv", 36, 48, 2));
        }
        for (fault, function, sent, expected, count) in faults {
            let blocks = report(&run(mpi, &program, fault).trace());
            assert_eq!(kinds(&blocks), ["collective-size"], "{mpi:?}: {blocks:#}");
            let finding = &blocks["findings"][0];
            let call = &finding["calls"][0];
            assert_eq!(call["function"], function, "{mpi:?}");
            assert_eq!(
                (&call["sent"], &call["expected"]),
                (&sent.into(), &expected.into())
            );
            assert_eq!(
                (&call["ranks"], &finding["count"]),
                (&"0-2".into(), &count.into())
            );
        }
    }
}

#[test]
fn a_message_that_is_too_large_is_found() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("faults").compile(mpi);
        let run = run(mpi, &program, "truncate");
        let report = report(&run.trace());
        let mut expected = vec!["truncation", "failed-call"];
        // Open MPI returns success for a write that the limit of the file's size forbids.
        if !mpi.is_mpich() {
            expected.push("failed-write");
            let words = report["findings"][2]["message"].as_str();
            let what =
                "MPI_File_write_at returned success, and a write to the file failed with EFBIG";
            assert!(
                words.is_some_and(|words| words.starts_with(what)),
                "{report:#}"
            );
            assert_eq!(report["findings"][2]["calls"][0]["ranks"], "2");
        }
        assert_eq!(kinds(&report), expected, "{mpi:?}: {report:#}");
        let calls = &report["findings"][0]["calls"];
        assert_eq!(
            (&calls[0]["bytes"], &calls[1]["bytes"]),
            (&8.into(), &16.into())
        );
        // MPICH returns an error for the write of rank 2, which is before or after the receive.
        let failed = report["findings"].as_array().expect("a list");
        let mut failed = failed.iter().filter(|one| one["kind"] == "failed-call");
        let failed = failed.find(|one| one["calls"][0]["ranks"] == "1");
        let words = failed.and_then(|one| one["message"].as_str());
        assert!(
            words.is_some_and(|words| words.contains("MPI_ERR_TRUNCATE")),
            "{report:#}"
        );
    }
}

#[test]
fn a_root_that_does_not_exist_is_a_failed_call_only() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("faults").compile(mpi);
        let report = report(&run(mpi, &program, "badroot").trace());
        assert_eq!(kinds(&report), ["failed-call"], "{mpi:?}: {report:#}");
    }
}

/// A rank that was killed while it computed would have come.
#[test]
fn nobody_is_stuck_by_a_rank_that_was_killed() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("faults").compile(mpi);
        let report = report(&run(mpi, &program, "killed").trace());
        assert_eq!(kinds(&report), [""; 0], "{mpi:?}: {report:#}");
        let ends = report["ends"].as_array().expect("a list");
        assert!(
            ends.contains(&"rank 1: died outside MPI".into()),
            "{ends:?}"
        );
        let not_checked = report["not_checked"].to_string();
        let asked = "whom rank 1 waited for, who asked again and again by MPI_Win_test";
        assert!(not_checked.contains(asked), "{mpi:?}: {not_checked}");
    }
}

/// Runs a program until its block files, which are looked at while it runs, show a deadlock of all three ranks. Gives the report. An earlier look may
/// rightly tell of two ranks that wait for each other while the third is still on its way.
fn hung(mpi: Mpi, program: &Path, fault: &str) -> Value {
    let folder = TestFolder::new(&format!("{}-faults-{fault}", mpi.suffix()));
    let mut command = mpi.mpiexec(3);
    TraceSetup::new(mpi, 3).settings(&mut command, &folder);
    let child = command
        .arg("env")
        .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
        .arg(program)
        .arg(fault)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    let mut child = child.expect("a launcher");
    let trace = folder.path().join("trace");
    let begun = Instant::now();
    let mut last = String::new();
    let found = loop {
        let output = verify(&trace);
        last = String::from_utf8_lossy(&output.stdout).into_owned() + &last;
        if let Ok(report) = serde_json::from_slice::<Value>(&output.stdout)
            && kinds(&report).contains(&"deadlock")
            && report["findings"][0]["count"] == 3
        {
            break Some(report);
        }
        if begun.elapsed() > process::limit_here(Duration::from_secs(60)) {
            break None;
        }
        last.truncate(4000);
        std::thread::sleep(Duration::from_millis(100));
    };
    let group = format!("-{}", child.id());
    let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
    killed.expect("kill");
    child.wait().expect("own child");
    found.unwrap_or_else(|| panic!("{mpi:?} {fault}: no deadlock: {last}"))
}

/// By rank of the circle, the function and the ranks it waits for.
fn circle(report: &Value) -> Vec<(u64, String, String)> {
    let calls = report["findings"][0]["calls"].as_array().expect("calls");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut circle: Vec<(u64, String, String)> = calls
        .iter()
        .map(|call| {
            let rank = call["rank"].as_u64().expect("a rank");
            (rank, text(&call["function"]), text(&call["waits_for"]))
        })
        .collect();
    circle.sort();
    circle
}

#[test]
fn who_waits_for_whom_is_told_while_it_hangs() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("faults").compile(mpi);
        // A library may wait at once, or where what it has put off is needed.
        for (fault, functions) in [
            ("circle", ["MPI_Recv"; 2]),
            ("ssend", ["MPI_Ssend"; 2]),
            ("waitall", ["MPI_Waitall"; 2]),
            ("locks", ["MPI_Win_lock", "MPI_Win_unlock"]),
            ("starts", ["MPI_Win_start", "MPI_Win_complete"]),
        ] {
            let report = hung(mpi, &program, fault);
            let next = |rank: u64| ((rank + 1) % 3).to_string();
            let is_first = circle(&report)[0].1 == functions[0];
            let function = functions[usize::from(!is_first)];
            let expected: Vec<(u64, String, String)> = (0..3)
                .map(|rank| (rank, function.to_owned(), next(rank)))
                .collect();
            assert_eq!(circle(&report), expected, "{mpi:?} {fault}: {report:#}");
            let ends = format!("ranks 0-2: running in {function}");
            assert_eq!(report["ends"], serde_json::json!([ends]), "{report:#}");
        }
        let report = hung(mpi, &program, "exposed");
        let expected: Vec<(u64, String, String)> = (0..3)
            .map(|rank| {
                let previous = ((rank + 2) % 3).to_string();
                (rank, "MPI_Win_wait".to_owned(), previous)
            })
            .collect();
        assert_eq!(circle(&report), expected, "{mpi:?}: {report:#}");
        // Each waits for the sender of what it receives. Its own message may be under way, so nobody waits for the receiver of that.
        let report = hung(mpi, &program, "tags");
        let expected: Vec<(u64, String, String)> = (0..3)
            .map(|rank| {
                (
                    rank,
                    "MPI_Sendrecv".to_owned(),
                    ((rank + 2) % 3).to_string(),
                )
            })
            .collect();
        assert_eq!(circle(&report), expected, "{mpi:?}: {report:#}");
        // Rank 0 and either of the others are a circle; the one that is stuck first is in it.
        let report = hung(mpi, &program, "sides");
        let found = circle(&report);
        let expected = |other| {
            [
                (0, "MPI_Wait".to_owned(), "1-2".to_owned()),
                (other, "MPI_Recv".to_owned(), "0".to_owned()),
            ]
        };
        assert!(
            found == expected(1) || found == expected(2),
            "{mpi:?}: {report:#}"
        );
        // Ranks 0 and 2 wait in a call that rank 1 has not come to, as it waits for a message that rank 0 sends later.
        for (fault, function) in [
            ("skip", "MPI_Barrier"),
            ("fence", "MPI_Win_fence"),
            ("write", "MPI_File_write_all"),
        ] {
            let report = hung(mpi, &program, fault);
            let found = circle(&report);
            let expected = [
                (0, function.to_owned(), "1".to_owned()),
                (1, "MPI_Recv".to_owned(), "0".to_owned()),
            ];
            assert_eq!(found, expected, "{mpi:?}: {report:#}");
        }
    }
}
