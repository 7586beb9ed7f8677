//! Operations below MPI-IO in the traces of real MPI programs.

use blockfile::file::BlockFile;
use blockfile::operation::{DEVICE_WRITE, kind};
use io_attribution::draw::{Shows, shows};
use io_attribution::{AttributionRecord, Relation, attribute_files, read_attribution};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use tests::process::FinishedCommand;
use tests::tally::CallTally;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, TracedRun, chain, contents, process};
use trace_formats::slog2;
use trace_model::{Source, Topology};

/// A program with blocking, nonblocking and collective accesses, and what it takes of the trace.
fn drawn(mpi: Mpi, variables: &[(&str, &str)]) -> TracedRun {
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = variables;
    let run = tracing.run(&Program::c("accesses").compile(mpi), &["data"]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

/// Arrows that follow accesses to a file are no messages: a program with 100 messages each way has 200 in all tables, and one
/// without messages has none.
#[test]
fn arrows_of_accesses_are_no_messages() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        for (messages, bytes) in [(100, 64), (0, 0)] {
            let program = Program::c("io_messages").compile(mpi);
            let number = messages.to_string();
            let run = TraceSetup::new(mpi, 2).run(&program, &["data", &number]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let slog2 = run.file("slog2");
            let arrows = contents::slog2(&slog2).arrows;
            let edges: u64 = contents::slog2(&slog2).edges.values().sum();
            assert!(edges > 0 && arrows == 2 * messages, "{arrows} {edges}");
            let stats = |by: &[&str]| {
                let mut command = Command::new(tests::mpitrace());
                command
                    .args(["stats", "--format", "csv"])
                    .args(by)
                    .arg(&slog2);
                process::run(&mut command, LIMIT).succeeded().stdout
            };
            let lines =
                |text: String| -> Vec<String> { text.lines().skip(1).map(str::to_owned).collect() };
            let of_pairs = lines(stats(&["--by", "pair"]));
            let of_sizes = lines(stats(&["--by", "size"]));
            let of_ranks = stats(&["--by", "rank"]);
            let volume = messages * bytes;
            if messages == 0 {
                assert!(
                    of_pairs.is_empty() && of_sizes.is_empty(),
                    "{of_pairs:?} {of_sizes:?}"
                );
            } else {
                let pair = |from, to| format!("{from},{to},{messages},{volume},{bytes}");
                assert_eq!(of_pairs, [pair(0, 1), pair(1, 0)]);
                assert_eq!(
                    of_sizes,
                    [format!("64,127,{},{}", 2 * messages, 2 * volume)]
                );
            }
            for line in lines(of_ranks) {
                let end = format!(",{messages},{volume},{messages},{volume}");
                assert!(line.ends_with(&end), "{line}");
            }
        }
    }
}

/// The SLOG2 file of MPI_Finalize has what ranks did below MPI-IO: nested in the calls, an arrow for each edge that the join of
/// the blocks finds, no matter who joined; and the CLOG2 file is that of a run without.
#[test]
fn operations_are_drawn_at_finalize() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = drawn(mpi, &[("TRACE_KEEP_BLOCKS", "yes")]);
        let path = run.file("slog2");
        let bytes = fs::read(&path).expect("own folder");
        let trace = slog2::Slog2Source::new(&bytes).expect("an SLOG2 file");
        let at_finalize = facts(&trace);
        let files: Vec<Vec<u8>> = run
            .files("blocks")
            .iter()
            .map(|path| fs::read(path).expect("own folder"))
            .collect();
        let files: Vec<BlockFile<'_>> = files
            .iter()
            .map(|bytes| BlockFile::new(bytes).expect("a block file"))
            .collect();
        let table = wrappers::table().expect("the table");
        let mut of_blocks = Tally::default();
        attribute_files(&files, &table, &mut |fact| {
            of_blocks.add(fact);
            Ok(())
        })
        .expect("one run");
        assert_eq!(at_finalize, of_blocks, "{mpi:?}");
        assert!(at_finalize.operations["pwrite"] > 0, "{mpi:?}");
        assert!(at_finalize.operations["aio_write"] > 0, "{mpi:?}");
        let contents = contents::slog2(&path);
        assert_eq!(contents.edges, at_finalize.edges, "{mpi:?}");
        nested(&trace);
        for command in ["check", "info"] {
            let mut command_line = Command::new(tests::mpitrace());
            command_line.arg(command).arg(&path);
            let reported = process::run(&mut command_line, LIMIT).succeeded().stdout;
            assert!(
                command != "check" || reported.contains("0 warnings"),
                "{reported}"
            );
        }
        // All that the trace has of calls is as it is in CLOG2, which has nothing else.
        let calls = contents::clog2(&run.file("clog2")).calls;
        let in_clog2: u64 = calls.values().flat_map(|counts| counts.values()).sum();
        assert_eq!(contents.states.values().sum::<u64>(), in_clog2, "{mpi:?}");
    }
}

/// Without operations, files are as ever: no category, no line, no view more.
#[test]
fn a_run_whose_file_calls_are_not_recorded() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = drawn(mpi, &[("TRACE_POSIX", "off")]);
        let contents = contents::slog2(&run.file("slog2"));
        assert!(contents.operations.is_empty() && contents.edges.is_empty());
        let bytes = fs::read(run.file("slog2")).expect("own folder");
        let reader = slog2::Slog2Reader::new(&bytes).expect("an SLOG2 file");
        assert!(reader.categories().iter().all(|c| shows(c).is_none()));
        assert_eq!(reader.line_id_maps().len(), 4);
    }
}

/// Numbers of operations by kind, and of edges by the names of their arrows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    calls: u64,
    files: u64,
    operations: CallTally,
    edges: CallTally,
    /// Bytes on edges that carry data.
    carried: u64,
}

impl Tally {
    fn add(&mut self, fact: &AttributionRecord) {
        let name = |number| kind(number).expect("a kind").name;
        match fact {
            AttributionRecord::File(_) => self.files += 1,
            AttributionRecord::Call(_) => self.calls += 1,
            AttributionRecord::Operation(o) => {
                *self.operations.entry(name(o.kind).to_owned()).or_default() += 1
            }
            AttributionRecord::Edge(edge) => {
                let verb = match edge.relation {
                    Relation::Triggers => "triggers",
                    Relation::Carries => {
                        self.carried += edge.bytes;
                        "carries"
                    }
                };
                let name = format!("{verb} {}", name(edge.kind));
                *self.edges.entry(name).or_default() += 1;
            }
        }
    }
}

fn facts(trace: &dyn Source) -> Tally {
    let mut tally = Tally::default();
    read_attribution(trace, &mut |fact| {
        tally.add(fact);
        Ok(())
    })
    .expect("a sound trace");
    tally
}

/// That each operation on the line of a thread lies in a state of an MPI call.
#[track_caller]
fn nested(trace: &slog2::Slog2Source<'_>) {
    let definitions = trace.definitions();
    let (mut calls, mut operations) = (Vec::new(), Vec::new());
    trace
        .for_each(&mut |drawable| {
            let category = definitions.category(drawable.category).expect("a category");
            let [start, end] = *drawable.vertices else {
                return Ok(());
            };
            let place = definitions.line(start.line).expect("a line");
            let span = (place.rank, place.thread, start.time, end.time);
            match (shows(category), category.topology) {
                (Some(Shows::Operation(_)), _) if place.name.is_none() => operations.push(span),
                (None, Topology::State) => calls.push(span),
                _ => {}
            }
            Ok(())
        })
        .expect("a sound trace");
    assert!(!operations.is_empty());
    for (rank, thread, start, end) in operations {
        assert!(
            calls
                .iter()
                .any(|c| (c.0, c.1) == (rank, thread) && c.2 <= start && end <= c.3),
            "an operation of rank {rank} from {start} to {end} is in no call"
        );
    }
}

/// `mpitrace run --io OPTIONS -o both` with two ranks of a program on a file, in a folder of their own.
fn run_io(
    mpi: Mpi,
    folder: &TestFolder,
    options: &[&str],
    program: &'static str,
    file: &Path,
) -> FinishedCommand {
    let launch = mpi.mpiexec(2);
    let mut command = Command::new(tests::mpitrace());
    command
        .args(["run", "--io", "-o", "both", "--lib"])
        .arg(tests::recorder())
        .args(options)
        .arg("--")
        .arg(launch.get_program())
        .args(launch.get_args())
        .arg(Program::c(program).compile(mpi))
        .arg(file)
        .current_dir(folder.path())
        .env("TRACE_TMPDIR", folder.path())
        .env("TALLY_DIR", folder.path());
    for (name, value) in launch.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    process::run(&mut command, LIMIT)
}

/// `mpitrace run --io` with a server of its own: one SLOG2 file in which every request and every piece of it hangs on the call
/// that caused it.
#[test]
fn a_run_through_a_striped_server() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let folder = TestFolder::new(&format!("{}-server", mpi.suffix()));
        let path = |name: &str| folder.path().join(name);
        for name in ["base", "mount"] {
            fs::create_dir(path(name)).expect("own folder");
        }
        let server = format!("{}:{}", path("base").display(), path("mount").display());
        let finished = run_io(
            mpi,
            &folder,
            &["--servers", "2", "--ioserver", &server],
            "accesses",
            &path("mount").join("data"),
        );
        if finished.stderr.contains("the I/O server did not start") {
            tests::skip(&format!("no I/O server: {}", finished.stderr));
            return;
        }
        assert!(finished.status.success(), "{}", finished.story());
        assert_eq!(finished.stdout, "ok\n", "{}", finished.story());
        let contents = contents::slog2(&path("both.slog2"));
        for kind in ["request write", "stripe write", "pwrite", "fsync"] {
            assert!(contents.operations[kind] > 0, "{:?}", contents.operations);
            let arrows = contents.edges[&format!("triggers {kind}")];
            assert_eq!(contents.operations[kind], arrows, "{mpi:?} {kind}");
        }
        let bytes = fs::read(path("both.slog2")).expect("own folder");
        let trace = slog2::Slog2Source::new(&bytes).expect("an SLOG2 file");
        let lines = trace.definitions().lines.iter();
        let names: Vec<&str> = lines.filter_map(|line| line.name.as_deref()).collect();
        for name in ["server 0 ", "data server 0 ", "data server 1 "] {
            assert!(names.iter().any(|line| line.starts_with(name)), "{names:?}");
        }
        nested(&trace);
        // Nothing is mounted any more, and what was kept for the picture is gone.
        assert_eq!(fs::read_dir(path("mount")).expect("a folder").count(), 0);
        let left = fs::read_dir(folder.path()).expect("own folder");
        let left: Vec<_> = left
            .map(|entry| entry.expect("own folder").file_name())
            .collect();
        let is_left = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            name.starts_with("mpitrace-io") || name.ends_with(".blocks")
        };
        assert!(!left.iter().any(is_left), "{left:?}");
    }
}

/// Every request at a server belongs to the call that caused it, though a thread of libc has made it, which may be done with it before
/// aio_write has returned: the truth is what the program says that it has written.
#[test]
fn requests_of_asynchronous_transfers() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let folder = TestFolder::new(&format!("{}-asynchronous", mpi.suffix()));
        let path = |name: &str| folder.path().join(name);
        for name in ["base", "mount"] {
            fs::create_dir(path(name)).expect("own folder");
        }
        let server = format!("{}:{}", path("base").display(), path("mount").display());
        let file = path("mount").join("data");
        let finished = run_io(mpi, &folder, &["--ioserver", &server], "iwrites", &file);
        if finished.stderr.contains("the I/O server did not start") {
            tests::skip(&format!("no I/O server: {}", finished.stderr));
            return;
        }
        assert!(finished.status.success(), "{}", finished.story());
        let written: u64 = finished.stdout.trim().parse().expect("a number");
        let stages = chain::exactness(&path("both.slog2"));
        for stage in ["libc calls of ranks", "requests at the server"] {
            let get = |column: &str| stages[stage].get(column).copied().unwrap_or(0);
            let figures = ["exact_bytes", "unknown_bytes", "hole_bytes"].map(get);
            assert_eq!(figures, [written, 0, 0], "{mpi:?} {stage}");
        }
    }
}

/// `mpitrace run --io --blk`: every byte that an MPI call has written is carried to the device once, by whichever thread of the
/// kernel wrote it out.
#[test]
fn a_run_down_to_the_device() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let folder = TestFolder::new(&format!("{}-device", mpi.suffix()));
        let path = |name: &str| folder.path().join(name);
        let finished = run_io(mpi, &folder, &["--blk"], "segments", &path("data"));
        // The call is refused before the program starts where there is no device to follow, or no right to.
        if finished.status.code() == Some(2) && finished.stdout.is_empty() {
            tests::skip(&format!(
                "block devices cannot be followed: {}",
                finished.stderr
            ));
            return;
        }
        assert!(finished.status.success(), "{}", finished.story());
        let bytes = fs::read(path("both.slog2")).expect("own folder");
        let trace = slog2::Slog2Source::new(&bytes).expect("an SLOG2 file");
        let mut asked = BTreeMap::new();
        let mut carried: BTreeMap<u64, u64> = BTreeMap::new();
        let mut writes = 0;
        read_attribution(&trace, &mut |fact| {
            match fact {
                AttributionRecord::Call(call) if call.writes => {
                    asked.insert(call.call, call.bytes);
                }
                AttributionRecord::Operation(o) if o.kind == DEVICE_WRITE => writes += 1,
                AttributionRecord::Edge(edge)
                    if edge.kind == DEVICE_WRITE && edge.relation == Relation::Carries =>
                {
                    *carried.entry(edge.call).or_default() += edge.bytes;
                }
                _ => {}
            }
            Ok(())
        })
        .expect("a sound trace");
        assert_eq!(asked.len(), 2, "{mpi:?}: each rank writes once");
        assert_eq!(carried, asked, "{mpi:?}, {writes} writes of the device");
        let lines = trace.definitions().lines.iter();
        let names: Vec<&str> = lines.filter_map(|line| line.name.as_deref()).collect();
        assert!(
            names.iter().any(|line| line.starts_with("device 0")),
            "{names:?}"
        );
    }
}
