//! What `mpitrace` makes of the SLOG2 file at the end of a run: the report, and the OTF2 archive. Whatever happens to it, the program does not
//! notice.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Command;
use test_support::{program_file, skip};
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, process};

fn any_mpi() -> Mpi {
    let mut all = Mpi::ALL.into_iter();
    all.find(|mpi| mpi.installed()).expect("an MPI")
}

/// With the setting `report`, what `mpitrace report` prints stands beside the trace.
#[test]
fn a_report_is_written_beside_the_trace() {
    let mpi = any_mpi();
    let program = Program::c("late_rank").compile(mpi);
    let arguments = ["1", "4", "5"];
    let setup = TraceSetup {
        variables: &[("TRACE_REPORT", "yes")],
        ..TraceSetup::new(mpi, 2)
    };
    let run = setup.run(&program, &arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    let mut command = Command::new(tests::mpitrace());
    command.arg("report").arg(run.file("slog2"));
    let printed = process::run(&mut command, LIMIT).succeeded().stdout;
    let written = std::fs::read_to_string(run.file("txt")).expect("a report");
    // The first line names the trace as the recorder does, and is wrapped accordingly.
    let rest = |text: &str| {
        let rest = text.split_once("MPI calls").map(|(_, rest)| rest)?;
        Some(rest.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    assert_eq!(rest(&written), rest(&printed));
    assert!(
        rest(&written).is_some_and(|rest| rest.contains("Verdict")),
        "{written}"
    );
}

/// With `otf2` among the outputs there is an archive, in which OTF2's own reader finds each call, and the name that the program has given to a
/// communicator.
#[test]
fn an_archive_is_written_beside_the_trace() {
    let program = Program::c("told").compile(any_mpi());
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("told").compile(mpi);
        let setup = TraceSetup {
            variables: &[("TRACE_OUTPUTS", "otf2"), ("TOLD_NAME", "all rows")],
            ..TraceSetup::new(mpi, 2)
        };
        let run = setup.run(&program, &["7"]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let said = "trace: the OTF2 archive is in trace/told.otf2";
        assert!(
            run.finished.stderr.contains(said),
            "{}",
            run.finished.story()
        );
        let alone = "rank 0 alone has written";
        assert!(
            !run.finished.stderr.contains(alone),
            "{}",
            run.finished.story()
        );
        let Some(text) = printed(&run.trace().join("told.otf2")) else {
            return;
        };
        // The ranks together make what one process makes of the SLOG2 file.
        let converted = run.trace().join("converted.otf2");
        let mut command = Command::new(tests::mpitrace());
        let words = command.args(["convert", "--quiet"]).arg(run.file("slog2"));
        process::run(words.arg(&converted), LIMIT).succeeded();
        let converted = printed(&converted).expect("otf2-print was there before");
        assert_eq!(by_location(&text), by_location(&converted), "{mpi:?}");
        for location in ["0", "1"] {
            let barriers = text.lines().filter(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                words.starts_with(&["ENTER", location]) && line.contains("\"MPI_Barrier\"")
            });
            assert_eq!(barriers.count(), 7, "{mpi:?}: {text}");
            let named = text.lines().filter(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                words.starts_with(&["MPI_COLLECTIVE_END", location])
                    && line.contains("DESTROY_HANDLE")
                    && line.contains("Communicator: \"all rows (communicator ")
            });
            assert_eq!(named.count(), 1, "{mpi:?}: {text}");
        }
        // What the trace is made of stays what was asked for, and nothing of the parts is left.
        assert!(run.files("slog2").len() == 1 && run.files("meta").is_empty());
        let left = std::fs::read_dir(run.trace()).expect("own folder");
        let left = left.map(|entry| entry.expect("own folder").file_name());
        let mut left: Vec<_> = left.filter(|name| name != "counts").collect();
        left.sort();
        assert_eq!(left, ["converted.otf2", "told.otf2", "told.slog2"]);
    }
    rank_0_writes_alone_what_another_rank_cannot(&program);
    // Another one is never replaced.
    let (folder, mut command) = alone(&program);
    std::fs::create_dir(folder.path().join("told.otf2")).expect("own folder");
    std::fs::write(folder.path().join("told.otf2/mine"), "mine").expect("own file");
    command.env("LD_PRELOAD", tests::recorder());
    let finished = process::run(command.env("TRACE_OUTPUTS", "otf2"), LIMIT).succeeded();
    let told = "trace: no OTF2 archive: ";
    assert!(finished.stderr.contains(told), "{}", finished.story());
    assert_eq!(
        std::fs::read(folder.path().join("told.otf2/mine")).expect("own file"),
        b"mine"
    );
}

/// Where rank 1 has no OTF2 library, rank 0 writes the archive, and says why it did so.
fn rank_0_writes_alone_what_another_rank_cannot(program: &Path) {
    let hidden = TestFolder::new("no-otf2-library");
    let names = [
        "libopen-trace-format2.so.10",
        "libopen-trace-format2.so",
        "libotf2.so",
        "libotf2.so.10",
    ];
    for name in names {
        std::fs::write(hidden.path().join(name), "no library").expect("own folder");
    }
    let script =
        "[ ${PMI_RANK-$OMPI_COMM_WORLD_RANK} = 0 ] || export LD_LIBRARY_PATH=$1; exec \"$0\" 7";
    let setup = TraceSetup {
        variables: &[("TRACE_OUTPUTS", "otf2")],
        ..TraceSetup::new(any_mpi(), 2)
    };
    let (program, hidden) = (program.display().to_string(), hidden.path().display());
    let words = ["-c", script, &program, &hidden.to_string()];
    let run = setup.run(Path::new("/bin/sh"), &words);
    let told = "trace: rank 0 alone has written the OTF2 archive: ";
    let why = "OTF2 archives are read and written by the OTF2 library";
    let is_it =
        |line: &str| line.starts_with(told) && line.contains(why) && line.contains("(rank 1 on ");
    assert!(
        run.finished.stderr.lines().any(is_it),
        "{}",
        run.finished.story()
    );
    let text = printed(&run.trace().join("told.otf2")).expect("otf2-print was there before");
    assert_eq!(text.matches("Region: \"MPI_Barrier\"").count(), 2 * 2 * 7);
}

/// What `otf2-print` prints of an archive. `None` where there is none, which is said.
fn printed(archive: &Path) -> Option<String> {
    let anchor = archive.join("traces.otf2");
    let printed = match Command::new("otf2-print").arg(anchor).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skip("otf2-print is not installed");
            return None;
        }
        printed => printed.expect("otf2-print runs"),
    };
    assert!(printed.status.success());
    Some(String::from_utf8_lossy(&printed.stdout).into_owned())
}

/// The events of each location, as they follow each other there, without references: these are numbers such as `<12>`.
fn by_location(printed: &str) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut location = String::new();
    for line in printed.lines() {
        let mut parts = line.split(" <");
        let mut bare = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            bare.push_str(part.split_once('>').map_or("", |(_, rest)| rest));
        }
        if !bare.trim_start().starts_with("ADDITIONAL ATTRIBUTES") {
            let second = bare.split_whitespace().nth(1);
            location = second.unwrap_or_default().to_owned();
        }
        found.entry(location.clone()).or_default().push(bare);
    }
    found
}

/// A command that does not end, for a library with none near it, is ended at the deadline.
#[test]
fn a_command_that_never_ends_is_ended() {
    let program = Program::c("told").compile(any_mpi());
    let (folder, mut command) = alone(&program);
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("lib")).expect("own folder");
    std::fs::copy(tests::recorder(), at("lib/libtrace.so")).expect("a library");
    program_file::write_script(&at("mpitrace"), "sleep 1000");
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .env("PATH", format!("{}:{path}", folder.path().display()))
        .env("LD_PRELOAD", at("lib/libtrace.so"))
        .env("TRACE_OUTPUTS", "otf2")
        .env("TRACE_REPORT", "yes")
        .env("TRACE_DEADLINE", "1");
    let finished = process::run(&mut command, LIMIT).succeeded();
    for what in ["report", "OTF2 archive"] {
        let command = at("mpitrace");
        let told = format!(
            "trace: no {what}: {}: not done before the deadline",
            command.display()
        );
        assert!(finished.stderr.contains(&told), "{}", finished.story());
    }
    let mut left = folder.files();
    left.sort();
    assert_eq!(left, ["lib", "mpitrace", "told.slog2"]);
}

/// A program of one rank that makes three barriers, with a folder that it runs in.
fn alone(program: &Path) -> (TestFolder, Command) {
    let folder = TestFolder::new("beside-the-trace");
    let mut command = Command::new(program);
    any_mpi().environment(&mut command);
    command.arg("3").current_dir(folder.path());
    (folder, command)
}
