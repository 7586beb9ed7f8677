//! What programs tell of themselves: `trace.h`'s regions, markers and texts, MPE's API, libdumpi's API.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, TestFolder, mpitrace, process};
use trace_formats::clog2::{Clog2Body, Clog2Reader as Clog2};

const SOON: Duration = Duration::from_secs(60);

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// Counts by name, and rank and thread or communicator and rank.
type Counts = BTreeMap<(String, i32, i32), u64>;

/// Events of a CLOG2 file that have a name.
#[derive(Default)]
struct Found {
    /// States begun, by rank in the communicator of the event and thread.
    begun: Counts,
    /// States ended.
    ended: Counts,
    /// Solo events.
    solo: Counts,
    /// Data of events, by name, in order.
    data: BTreeMap<String, Vec<[u8; 32]>>,
    /// Name, start and end number of the states.
    states: Vec<(String, i32, i32)>,
    /// Largest depth of open states of a rank.
    depth: usize,
}

fn clog2(path: &Path) -> Found {
    let bytes = fs::read(path).expect("a file");
    let reader = Clog2::new(&bytes).expect("a CLOG2 file");
    let records: Vec<_> = reader.records().map(|r| r.expect("sound")).collect();
    let mut found = Found::default();
    let mut names: BTreeMap<i32, (String, char)> = BTreeMap::new();
    for record in &records {
        match &record.body {
            Clog2Body::StateDef(d) => {
                let name = d.name.to_str().into_owned();
                names.insert(d.start_etype, (name.clone(), '+'));
                names.insert(d.final_etype, (name.clone(), '-'));
                found.states.push((name, d.start_etype, d.final_etype));
            }
            Clog2Body::EventDef(d) => {
                names.insert(d.etype, (d.name.to_str().into_owned(), '!'));
            }
            _ => {}
        }
    }
    let mut open: BTreeMap<(i32, i32, i32), Vec<String>> = BTreeMap::new();
    for record in &records {
        let (etype, data) = match record.body {
            Clog2Body::Bare { etype } => (etype, None),
            Clog2Body::Cargo { etype, bytes } => (etype, Some(bytes)),
            _ => continue,
        };
        let Some((name, what)) = names.get(&etype) else {
            continue;
        };
        let h = record.header;
        let key = (name.clone(), h.rank, h.thread);
        let stack = open.entry((h.icomm, h.rank, h.thread)).or_default();
        match what {
            '+' => {
                *found.begun.entry(key).or_default() += 1;
                stack.push(name.clone());
                found.depth = found.depth.max(stack.len());
            }
            '-' => {
                *found.ended.entry(key).or_default() += 1;
                // All states are nested.
                assert_eq!(stack.pop().as_ref(), Some(name), "nested");
            }
            _ => *found.solo.entry(key).or_default() += 1,
        }
        if let Some(data) = data {
            found.data.entry(name.clone()).or_default().push(data);
        }
    }
    found
}

fn of(counts: &Counts, name: &str, rank: i32, thread: i32) -> u64 {
    let key = (name.to_owned(), rank, thread);
    counts.get(&key).copied().unwrap_or(0)
}

/// Number that each rank printed after `signals of rank R:`.
fn signals(run: &TracedRun) -> BTreeMap<i32, u64> {
    let lines = run.finished.stdout.lines();
    lines
        .filter_map(|line| line.strip_prefix("signals of rank "))
        .map(|line| {
            let (rank, count) = line.split_once(": ").expect("a count");
            (
                rank.parse().expect("a rank"),
                count.parse().expect("a count"),
            )
        })
        .collect()
}

#[test]
fn regions_markers_and_texts_are_where_they_were() {
    for mpi in installed() {
        let program = Program::c("regions").compile(mpi);
        // The header alone: without the recorder nothing happens.
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.preload = false;
        let plain = tracing.run(&program, &[]);
        assert!(
            plain.finished.status.success(),
            "{}",
            plain.finished.story()
        );
        assert_eq!(signals(&plain).len(), 2);

        tracing.preload = true;
        let run = tracing.run(&program, &[]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        let made = signals(&run);
        let found = clog2(&run.file("clog2"));
        assert_eq!(found.begun, found.ended, "{mpi:?}");
        let (_, lost) = run.closing_numbers();
        let mut missed = 0;
        for rank in 0..2 {
            for (name, thread, count) in [
                ("whole", 0, 1),
                ("outer", 0, 2020),
                ("leaf", 0, 20),
                ("thread", 1, 1),
                ("in thread", 1, 20),
                ("doomed", 0, 0),
            ] {
                assert_eq!(
                    of(&found.begun, name, rank, thread),
                    count,
                    "{mpi:?} {name}"
                );
            }
            // An MPI library may call the function several times for one reduction, or once on one rank only.
            assert!(of(&found.begun, "callback", rank, 0) <= 40);
            for (name, count) in [("step", 20), ("half", 20), ("text", 10)] {
                assert_eq!(of(&found.solo, name, rank, 0), count, "{mpi:?} {name}");
            }
            let signals = of(&found.begun, "signal", rank, 0);
            assert!(signals >= 2 && signals <= made[&rank], "{story}");
            missed += made[&rank] - signals;
        }
        let callbacks: u64 = [0, 1]
            .map(|rank| of(&found.begun, "callback", rank, 0))
            .iter()
            .sum();
        assert!(callbacks >= 20, "{mpi:?}: {callbacks} callbacks");
        // Handlers that interrupt the recorder are told apart and counted: beginning and end, or one of them.
        assert!(lost >= missed && lost <= 2 * missed + 4, "{missed} {story}");
        assert!(found.depth >= 3);
        let step: Vec<i64> = found.data["step"]
            .iter()
            .map(|d| i64::from_be_bytes(d[..8].try_into().expect("8 bytes")))
            .collect();
        let sum: i64 = step.iter().sum();
        assert_eq!(sum, 2 * 190 + 20 * 100);
        assert!(found.data["text"].iter().all(|d| d[..6] == *b"\0\x04even"));
    }
}

#[test]
fn a_killed_run_shows_regions_as_unfinished() {
    for mpi in installed() {
        let program = Program::c("regions").compile(mpi);
        let run = TraceSetup::new(mpi, 2).run(&program, &["kill"]);
        let again = run.folder.path().join("again");
        let mut recover = Command::new(mpitrace());
        recover
            .args(["recover", "--formats=clog2", "--dir"])
            .arg(&again);
        recover.args(run.files("blocks"));
        process::run(&mut recover, SOON).succeeded();
        let files = fs::read_dir(&again).expect("made");
        let mut files = files.map(|f| f.expect("listed").path());
        let file = files
            .find(|f| f.extension().is_some_and(|e| e == "clog2"))
            .expect("a CLOG2 file");
        let found = clog2(&file);
        assert_eq!(found.begun, found.ended);
        for name in ["whole", "doomed", "in it"] {
            assert_eq!(of(&found.ended, name, 0, 0), 1, "{name}");
            let unfinished = &found.data[name];
            assert!(unfinished.iter().all(|d| d[2..12] == *b"unfinished"));
        }
        assert!(!found.data.contains_key("outer"));
    }
}

/// Compiles sources of `tests/programs` and links them with the recorder.
fn linked(compiler: Command, sources: &[&str], archive: bool) -> (TestFolder, PathBuf) {
    let library = tests::recorder();
    let how = if archive {
        let archive = library.with_extension("a").display().to_string();
        [&archive, "-lpthread", "-ldl", "-lm"]
            .map(str::to_owned)
            .to_vec()
    } else {
        let place = library.parent().expect("a folder").display();
        vec![
            format!("-L{place}"),
            "-ltrace".into(),
            format!("-Wl,-rpath,{place}"),
        ]
    };
    linked_so(compiler, sources, &how)
}

/// Compiles sources of `tests/programs` with these options for the linker.
fn linked_so(mut compiler: Command, sources: &[&str], how: &[String]) -> (TestFolder, PathBuf) {
    let folder = TestFolder::new("user");
    let program = folder.path().join("program");
    let root = tests::root();
    compiler.current_dir(folder.path());
    compiler.args(["-O1", "-w", "-I"]).arg(root.join("include"));
    compiler.arg("-I").arg(root.join("tests/programs"));
    compiler.args(sources.iter().map(|s| root.join(s)));
    compiler.args(how);
    if sources.iter().any(|source| source.ends_with(".cpp")) {
        // Without the C++ bindings of old, which need a library of their own.
        compiler.args(["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-lstdc++"]);
    }
    compiler.arg("-o").arg(&program);
    process::run(&mut compiler, Duration::from_secs(120)).succeeded();
    (folder, program)
}

fn run_linked(mpi: Mpi, program: &Path) -> TracedRun {
    run_linked_with(mpi, program, &[])
}

fn run_linked_with(mpi: Mpi, program: &Path, variables: &[(&str, &str)]) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.preload = false;
    tracing.variables = variables;
    let run = tracing.run(program, &[]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

#[test]
fn regions_are_found_in_the_archive() {
    for mpi in installed() {
        let (_folder, program) = linked(mpi.mpicc(), &["tests/programs/regions.c"], true);
        let found = clog2(&run_linked(mpi, &program).file("clog2"));
        assert_eq!(of(&found.begun, "outer", 1, 0), 2020);
    }
}

#[test]
fn mpes_programs_work_unchanged() {
    for mpi in installed() {
        let (_folder, program) = linked(mpi.mpicc(), &["tests/programs/mpe.c"], false);
        let run = run_linked(mpi, &program);
        // A launcher may bring the lines of different ranks in any order.
        let mut turns: Vec<&str> = run.finished.stdout.lines().collect();
        turns.retain(|line| line.starts_with("turn of rank "));
        turns.sort_unstable();
        let story = run.finished.story();
        assert_eq!(turns, ["turn of rank 0", "turn of rank 1"], "{story}");
        let file = run.file("clog2");
        assert!(file.ends_with("named_by_program.clog2"), "{file:?}");
        assert_eq!(
            story.matches("no debugger is started").count(),
            1,
            "{story}"
        );
        assert_eq!(
            story.matches("MPE_Start_debugger: process").count(),
            1,
            "{story}"
        );
        let found = clog2(&file);
        let number = |name: &str| {
            let state = found.states.iter().find(|s| s.0 == name);
            state.map(|s| (s.1, s.2)).expect("described")
        };
        assert_eq!(number("plain"), (600, 601));
        assert_eq!(number("with data"), (602, 603));
        for rank in 0..2 {
            // On the world and once more on a communicator of one.
            let more = if rank == 0 { 2 } else { 0 };
            assert_eq!(of(&found.begun, "plain", rank, 0), 10 + more);
            for name in ["with data", "crossed", "old style"] {
                assert_eq!(of(&found.begun, name, rank, 0), 10, "{name}");
            }
            assert_eq!(of(&found.solo, "tick", rank, 0), 10);
            assert_eq!(of(&found.begun, "wrapped", rank, 0), 1);
            assert_eq!(of(&found.solo, "noted", rank, 0), 1);
        }
        assert_eq!(found.begun, found.ended);
        let data = &found.data["with data"];
        assert_eq!(data.len(), 20);
        assert!(data.iter().all(|d| d[12..18] == *b"\0\x04text"));
        let print = run.print(&run.file("slog2"));
        let bytes = fs::read(&file).expect("a file");
        let reader = Clog2::new(&bytes).expect("a CLOG2 file");
        let ends = reader.records().filter(|record| {
            let body = record.as_ref().map(|r| r.body);
            matches!(body, Ok(Clog2Body::Msg(m)) if (m.tag, m.size) == (43, 8192))
        });
        assert_eq!(ends.count(), 2, "both ends of a message");
        assert_eq!(print.matches("i=9 e=2.25 s=text]").count(), 2, "info boxes");
        assert!(
            print.contains("msg_tag=42, msg_size=4096") || print.contains("42"),
            "arrow"
        );
    }
}

/// Under the name that a program gives MPE_Finish_log there are pipes, and links to files of value: the program ends unchanged,
/// what has the names stays, and the trace has another name or its block files stay.
#[test]
fn what_has_the_name_that_mpes_programs_give_stays() {
    for mpi in installed() {
        let (_folder, program) = linked(mpi.mpicc(), &["tests/programs/mpe.c"], false);
        let planted = TestFolder::new(&format!("{}-mpe-planted", mpi.suffix()));
        let at = |name: &str| planted.path().join(name);
        fs::write(at("value"), "of value").expect("own folder");
        let clog2 = at("named_by_program.clog2");
        std::os::unix::fs::symlink(at("value"), &clog2).expect("own folder");
        let slog2 = at("named_by_program.slog2");
        process::run(Command::new("mkfifo").arg(&slog2), SOON).succeeded();
        let folder = planted.path().to_str().expect("a name");
        let run = |overwrite: &str| {
            let mut tracing = TraceSetup::new(mpi, 2);
            tracing.preload = false;
            let variables = [
                ("TRACE_DIR", folder),
                ("TRACE_TMPDIR", folder),
                ("TRACE_OUTPUTS", "slog2,clog2"),
                ("TRACE_OVERWRITE", overwrite),
            ];
            tracing.variables = &variables;
            tracing.limit = SOON;
            tracing.run(&program, &[]).finished.succeeded().story()
        };
        // The program asks for its name, which it has given.
        let printed = run("no");
        assert!(clog2.is_symlink(), "{printed}");
        for name in ["named_by_program.2.clog2", "named_by_program.2.slog2"] {
            assert!(at(name).is_file(), "{printed}");
        }
        let printed = run("yes");
        let line = "named_by_program.slog2: a pipe, not a regular file";
        assert!(printed.contains(line), "{printed}");
        assert!(printed.contains("mpitrace recover"), "{printed}");
        // The link is replaced, not followed.
        assert!(!clog2.is_symlink() && clog2.is_file(), "{printed}");
        assert_eq!(fs::read(at("value")).expect("a file"), b"of value");
        let kind = fs::symlink_metadata(&slog2).expect("a pipe").file_type();
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind), "{printed}");
        let blocks = planted.files();
        assert!(blocks.iter().any(|name| name.ends_with(".blocks")));
    }
}

/// The link line of libmpe's manual, and the same with its archives.
#[test]
fn programs_link_with_the_names_of_mpes_libraries() {
    for mpi in installed() {
        let library = tests::recorder();
        let place = library.parent().expect("a folder").display();
        let search = format!("-L{place}");
        let rpath = format!("-Wl,-rpath,{place}");
        for how in [
            [&search, "-llmpe", "-lmpe", &rpath],
            [&search, "-l:liblmpe.a", "-l:libmpe.a", "-lm"],
        ] {
            let how = how.map(str::to_owned);
            let (_folder, program) = linked_so(mpi.mpicc(), &["tests/programs/mpe.c"], &how);
            let run = run_linked(mpi, &program);
            let found = clog2(&run.file("clog2"));
            assert_eq!(of(&found.begun, "with data", 1, 0), 10, "{mpi:?} {how:?}");
            assert_eq!(of(&found.begun, "MPI_Barrier", 1, 0), 10, "{mpi:?} {how:?}");
        }
    }
}

/// The error handler that libmpe has ends the program with a message.
#[test]
fn mpes_error_handler_says_what_is_wrong() {
    for mpi in installed() {
        let (_folder, program) = linked(mpi.mpicc(), &["tests/programs/mpe.c"], false);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.preload = false;
        let folder = TestFolder::new("wrong");
        let file = folder.path().join("said");
        let run = tracing.run(&program, &[file.to_str().expect("a name")]);
        let story = run.finished.story();
        assert!(!run.finished.status.success(), "{story}");
        assert!(!run.finished.stdout.contains("not reached"), "{story}");
        // The other rank may have been ended before it came so far.
        let printed = ["0", "1"].map(|rank| fs::read_to_string(file.with_extension(rank)));
        let reported =
            |text: &String| text.contains("trace: process ") && text.contains("(gdb -p ");
        assert!(
            printed.iter().flatten().any(reported),
            "{printed:?} {story}"
        );
    }
}

#[test]
fn libdumpis_api_switches_and_counts() {
    for mpi in installed() {
        let (_folder, program) = linked(mpi.mpicc(), &["tests/programs/libdumpi.c"], false);
        // The program checks the counts itself.
        let run = run_linked_with(mpi, &program, &[("TRACE_POLLING", "sample")]);
        let files = run.files("bin");
        assert_eq!(files.len(), 2);
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            assert!(name.starts_with("renamed-"), "{name}");
            let calls = tests::contents::dumpi(&file);
            let count = |name: &str| calls.get(name).copied().unwrap_or(0);
            assert_eq!(count("MPI_Allreduce"), 10 - 2);
            assert_eq!(count("MPI_Barrier"), 2);
        }
    }
}

#[test]
fn fortran_and_cpp_tell_regions_too() {
    for mpi in installed() {
        let sources = ["include/trace.f90", "tests/programs/regions.f90"];
        let mut compiler = mpi.mpifort();
        compiler.arg("-fallow-argument-mismatch");
        let (_folder, program) = linked(compiler, &sources, false);
        let run = run_linked(mpi, &program);
        let found = clog2(&run.file("clog2"));
        for rank in 0..2 {
            for (name, count) in [
                ("outer", 3),
                ("inner", 3),
                ("external", 1),
                ("Fortran state", 1),
            ] {
                assert_eq!(of(&found.begun, name, rank, 0), count, "{mpi:?} {name}");
                assert_eq!(of(&found.ended, name, rank, 0), count, "{mpi:?} {name}");
            }
            for (name, count) in [("step", 3), ("half", 3), ("text", 1), ("external mark", 1)] {
                assert_eq!(of(&found.solo, name, rank, 0), count, "{mpi:?} {name}");
            }
        }
        assert_eq!(found.data["Fortran state"][0][..4], 77i32.to_be_bytes());

        let mut compiler = mpi.mpicc();
        compiler.args(["-x", "c++"]);
        let (_folder, program) = linked(compiler, &["tests/programs/scopes.cpp"], false);
        let found = clog2(&run_linked(mpi, &program).file("clog2"));
        assert_eq!(found.begun, found.ended);
        assert_eq!(of(&found.begun, "left by throw", 0, 0), 5);
    }
}
