//! Functions of programs compiled with `-finstrument-functions`: in DUMPI, CLOG2 and SLOG2, as often as the programs call them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::tally::CallTally;
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, compile, contents, mpitrace, process};
use trace_formats::clog2::{Clog2Body, Clog2Reader as Clog2};
use trace_formats::dumpi::read::DumpiReader as Dumpi;
use trace_formats::dumpi::value::FieldValue;

const SOON: Duration = Duration::from_secs(60);

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Functions that each rank of `called.c` calls: 15 fibonacci before MPI_Init and 25 in each of three threads.
const CALLED: [(&str, u64); 10] = [
    ("deep", 5),
    ("deepest", 5),
    ("exchange", 1),
    ("fibonacci", 90),
    ("jumps", 1),
    ("main", 1),
    ("once", 2),
    ("outer", 1),
    ("shared_twice", 1),
    ("work", 3),
];

fn called() -> CallTally {
    let named = CALLED.into_iter().map(|(name, n)| (name.to_owned(), n));
    named.collect()
}

/// `called.c` with its shared object, with further options.
fn compiled(mpi: Mpi, options: &[&'static str]) -> PathBuf {
    let folder = tests::target().join("tests-programs").join(mpi.suffix());
    fs::create_dir_all(&folder).expect("a folder below target/");
    let shared = folder.join("libcalled_shared.so");
    let source = tests::root().join("tests/programs/called_shared.c");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-O1", "-finstrument-functions"]);
    gcc.arg(&source);
    compile::build(gcc, &shared, &[source], true);
    let leaked = |text: String| -> &'static str { text.leak() };
    let mut all = vec![
        "-finstrument-functions",
        "-finstrument-functions-exclude-file-list=check.h,tally.h",
        leaked(shared.display().to_string()),
        leaked(format!("-Wl,-rpath,{}", folder.display())),
    ];
    all.extend(options);
    let program = Program {
        options: all.leak(),
        ..Program::c("called")
    };
    program.compile(mpi)
}

/// Functions that a DUMPI file says were entered and left, by name.
fn dumpi(path: &Path) -> [CallTally; 2] {
    let bytes = fs::read(path).expect("a file");
    let reader = Dumpi::open(&bytes).expect("a DUMPI file");
    let labels = reader.address_labels().expect("sound").unwrap_or_default();
    let labels: BTreeMap<u64, String> = labels
        .into_iter()
        .map(|l| (l.key, String::from_utf8(l.label).expect("text")))
        .collect();
    let mut counts = [CallTally::new(), CallTally::new()];
    for record in reader.records() {
        let record = record.expect("sound");
        let place = match record.function.name {
            "Function_enter" => 0,
            "Function_exit" => 1,
            _ => continue,
        };
        let Some((_, FieldValue::U64(key))) = record.args().next() else {
            panic!("no address");
        };
        *counts[place].entry(labels[&key].clone()).or_default() += 1;
    }
    counts
}

/// Those of `counts` that are functions of the program.
fn functions(counts: &CallTally) -> CallTally {
    let is_mpi = |name: &str| name.starts_with("MPI_");
    let own = counts.iter().filter(|(name, _)| !is_mpi(name));
    own.map(|(name, n)| (name.clone(), *n)).collect()
}

#[track_caller]
fn run(mpi: Mpi, program: &Path, variables: &[(&str, &str)]) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = variables;
    let run = tracing.run(program, &[]);
    let story = run.finished.story();
    assert!(run.finished.status.success(), "{story}");
    assert_eq!(run.finished.stdout, "ok\n", "{story}");
    run
}

#[test]
fn every_function_is_there_as_often_as_it_is_called() {
    for mpi in installed() {
        // Also where functions are inlined into each other and themselves.
        for options in [&["-O0"][..], &["-O2", "-Dnoinline=unused"]] {
            let program = compiled(mpi, options);
            let run = run(mpi, &program, &[]);
            let mut left = called();
            // It is in MPI_Finalize when the trace is made.
            left.remove("main");
            for file in run.files("bin") {
                let [entered, found] = dumpi(&file).map(|counts| functions(&counts));
                assert_eq!(entered, called(), "{mpi:?} {options:?}");
                assert_eq!(found, left, "{mpi:?} {options:?}");
            }
            // Reading it checks that states are in each other.
            let clog2 = contents::clog2(&run.file("clog2"));
            for rank in 0..2 {
                let counts = &clog2.calls[&rank];
                assert_eq!(functions(counts), called(), "{mpi:?} {options:?}");
                assert_eq!(counts["MPI_Allreduce"], 1);
            }
            let slog2 = contents::slog2(&run.file("slog2"));
            let twice: CallTally = called().into_iter().map(|(f, n)| (f, 2 * n)).collect();
            assert_eq!(functions(&slog2.states), twice, "{mpi:?} {options:?}");
            assert_eq!(run.closing_numbers().1, 0);
        }
    }
}

#[test]
fn functions_are_chosen_by_settings() {
    let mpi = Mpi::Mpich;
    if !mpi.installed() {
        return;
    }
    let program = compiled(mpi, &["-O1"]);
    let of = |variables: &[(&str, &str)]| {
        let run = run(mpi, &program, variables);
        let clog2 = contents::clog2(&run.file("clog2"));
        let counts = functions(&clog2.calls[&0]);
        (run, counts)
    };
    let (run, counts) = of(&[("TRACE_FUNCTIONS", "off")]);
    assert_eq!(counts, CallTally::new());
    assert_eq!(dumpi(&run.files("bin")[0])[0], CallTally::new());

    let include = ("TRACE_FUNCTIONS_INCLUDE", "deep*,ma?n");
    let (run, counts) = of(&[include, ("TRACE_FUNCTIONS_EXCLUDE", "deepest")]);
    let wanted = CallTally::from([("deep".to_owned(), 5), ("main".to_owned(), 1)]);
    assert_eq!(counts, wanted);
    assert_eq!(dumpi(&run.files("bin")[0])[0], wanted);

    let (_, counts) = of(&[("TRACE_FUNCTIONS_MIN", "1000000000")]);
    // Functions in which another one was entered, or that MPI called, cannot be taken back.
    assert_eq!(counts.get("fibonacci"), None);
    assert_eq!(counts.get("work"), None);
    assert_eq!(counts["exchange"], 1);

    // Threads that come one after the other share a line, and what it may hold.
    let (run, counts) = of(&[("TRACE_FUNCTIONS_LIMIT", "10")]);
    let clog2 = contents::clog2(&run.file("clog2"));
    let shown = clog2
        .calls
        .values()
        .flat_map(|c| functions(c).into_values());
    let lost = 2 * called().values().sum::<u64>() - shown.sum::<u64>();
    assert_eq!(run.closing_numbers().1, lost, "{}", run.closing_line());
    let one = counts.values().sum::<u64>();
    assert!((20..=40).contains(&one) && one % 10 == 0, "{counts:?}");

    let (run, counts) = of(&[("TRACE_TRACING", "disable")]);
    assert_eq!(counts, called(), "the setting is about DUMPI");
    assert_eq!(
        dumpi(&run.files("bin")[0]),
        [CallTally::new(), CallTally::new()]
    );
}

#[test]
fn exceptions_leave_functions() {
    for mpi in installed() {
        let folder = tests::target().join("tests-programs").join(mpi.suffix());
        fs::create_dir_all(&folder).expect("a folder below target/");
        let source = tests::root().join("tests/programs/called_cpp.cpp");
        let executable = folder.join("called_cpp");
        let mut compiler = mpi.mpicc();
        compiler
            .args(["-O1", "-finstrument-functions"])
            .arg("-finstrument-functions-exclude-file-list=/usr/")
            .args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"])
            .arg(&source)
            .arg("-lstdc++");
        compile::build(compiler, &executable, &[source], false);
        let run = run(mpi, &executable, &[]);
        let wanted = [
            ("main", 1),
            ("solver::Step::run(int)", 4),
            ("solver::after()", 1),
            ("solver::tried()", 1),
        ];
        let mut wanted: CallTally = wanted.map(|(name, n)| (name.to_owned(), n)).into();
        for file in run.files("bin") {
            let [entered, left] = dumpi(&file);
            assert_eq!(functions(&entered), wanted, "{mpi:?}");
            // The exception has left all four.
            assert_eq!(left["solver::Step::run(int)"], 4);
        }
        let clog2 = contents::clog2(&run.file("clog2"));
        assert_eq!(functions(&clog2.calls[&1]), wanted);
        wanted.values_mut().for_each(|n| *n *= 2);
        let slog2 = contents::slog2(&run.file("slog2"));
        assert_eq!(functions(&slog2.states), wanted);
    }
}

/// Names of the functions that a CLOG2 file says were not left, by rank, innermost first.
fn unfinished(path: &Path) -> BTreeMap<i32, Vec<String>> {
    let bytes = fs::read(path).expect("a file");
    let reader = Clog2::new(&bytes).expect("a CLOG2 file");
    let mut names = BTreeMap::new();
    let mut found: BTreeMap<i32, Vec<String>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.expect("sound");
        match record.body {
            Clog2Body::StateDef(state) => {
                names.insert(state.final_etype, state.name.to_str().into_owned());
            }
            Clog2Body::Cargo { etype, bytes } if bytes.starts_with(b"\0\x0aunfinished") => {
                let name = names[&etype].clone();
                found.entry(record.header.rank).or_default().push(name);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_killed_program_is_shown_in_the_functions_that_it_was_in() {
    for mpi in installed() {
        let program = compiled(mpi, &["-O1"]);
        let run = TraceSetup::new(mpi, 2).run(&program, &["killed"]);
        assert!(!run.finished.status.success());
        let again = run.folder.path().join("again");
        let mut recover = Command::new(mpitrace());
        recover
            .args(["recover", "--formats=clog2,slog2", "--dir"])
            .arg(&again);
        recover.arg(run.trace());
        process::run(&mut recover, SOON).succeeded();
        let file = |ending: &str| {
            let entries = fs::read_dir(&again).expect("made");
            let paths = entries.map(|entry| entry.expect("made").path());
            let mut found = paths.filter(|p| p.extension().is_some_and(|e| e == ending));
            found.next().expect(ending)
        };
        let clog2 = contents::clog2(&file("clog2"));
        let mut wanted = called();
        wanted.insert("stuck".to_owned(), 1);
        assert_eq!(functions(&clog2.calls[&1]), wanted, "{mpi:?}");
        let open = unfinished(&file("clog2"));
        assert_eq!(open[&1], ["stuck", "outer", "main"], "{mpi:?}");
        let slog2 = contents::slog2(&file("slog2"));
        assert_eq!(slog2.states["stuck"], 1);
    }
}

/// `mpitrace recover` shows what MPI_Finalize would have shown.
#[test]
fn recover_shows_what_the_settings_wanted() {
    let mpi = Mpi::Mpich;
    if !mpi.installed() {
        return;
    }
    let program = compiled(mpi, &["-O1"]);
    let variables = [
        ("TRACE_FUNCTIONS_INCLUDE", "deep*,ma?n,stuck"),
        ("TRACE_FUNCTIONS_EXCLUDE", "deepest"),
    ];
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = &variables;
    let run = tracing.run(&program, &["killed"]);
    assert!(!run.finished.status.success());
    let again = run.folder.path().join("again");
    let mut recover = Command::new(mpitrace());
    recover
        .args(["recover", "--formats=clog2,dumpi", "--dir"])
        .arg(&again);
    recover.arg(run.trace());
    process::run(&mut recover, SOON).succeeded();
    let mut wanted = CallTally::from([
        ("deep".to_owned(), 5),
        ("main".to_owned(), 1),
        ("stuck".to_owned(), 1),
    ]);
    let (mut clog2, mut bins) = (None, Vec::new());
    for entry in fs::read_dir(&again).expect("made") {
        let path = entry.expect("made").path();
        match path.extension().and_then(|e| e.to_str()) {
            Some("clog2") => clog2 = Some(path),
            Some("bin") => bins.push(path),
            _ => {}
        }
    }
    let clog2 = contents::clog2(&clog2.expect("a file"));
    assert_eq!(functions(&clog2.calls[&1]), wanted);
    bins.sort();
    // The rank was killed.
    wanted.insert("ANNOTATION: no MPI_Finalize".to_owned(), 1);
    assert_eq!(functions(&dumpi(&bins[1])[0]), wanted);
}
