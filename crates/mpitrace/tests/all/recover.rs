//! `mpitrace recover` and `mpitrace print` on block files made in memory: runs that end in all ways, damage, mixed folders.

#[path = "../../../merge/tests/all/block_files/ranks/mod.rs"]
pub(crate) mod common;

mod caution;
mod damage;
mod ends;
mod handles;
mod parts;
mod records;
mod removal;
mod unmatched;

use blockfile::define::Definition;
use blockfile::encode::MpiStatus;
use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader, FileHeader};
use common::{Blocks, V, WORLD, call_at, from, to};
use std::fs;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mpitrace(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).current_dir(folder).env("TZ", "UTC");
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("mpitrace-recover-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn run(&self, arguments: &[&str]) -> Output {
        mpitrace(&self.0, arguments)
    }

    /// With no more than ten seconds of processor time.
    fn run_shortly(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -t 10; exec \"$@\"", "sh"]);
        command.arg(env!("CARGO_BIN_EXE_mpitrace")).args(arguments);
        command.current_dir(&self.0).env("TZ", "UTC");
        command.output().unwrap()
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        assert_eq!(stderr(&output), "", "{arguments:?}");
        stdout(&output)
    }

    /// Runs what must end with exit code 1; gives both texts.
    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let (out, err) = (stdout(&output), stderr(&output));
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {out}{err}");
        (out, err)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// End of a process.
pub(crate) struct End {
    run: u64,
    ended: u32,
    lost: u64,
    /// Function that was running, with its start in ns.
    open: Option<(&'static str, u64)>,
}

pub(crate) const KILLED: End = End {
    run: 77,
    ended: 0,
    lost: 0,
    open: None,
};

/// The end of a process that was killed in a function, which it had called at this time, in ns.
pub(crate) fn killed_in(function: &'static str, start: u64) -> End {
    End {
        open: Some((function, start)),
        ..KILLED
    }
}

/// The file of a process that ended so.
pub(crate) fn file(b: &Blocks, end: &End) -> Vec<u8> {
    let mut bytes = b.bytes();
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(FileHeader, run), &end.run.to_ne_bytes());
    put(offset_of!(FileHeader, ended), &end.ended.to_ne_bytes());
    put(offset_of!(FileHeader, lost), &end.lost.to_ne_bytes());
    if let Some((function, start)) = end.open {
        let table = wrappers::table().unwrap();
        let number = table.get(function).unwrap().id as u32 + 1;
        put(
            BLOCK_SIZE + offset_of!(BlockHeader, open_function),
            &number.to_ne_bytes(),
        );
        put(
            BLOCK_SIZE + offset_of!(BlockHeader, open_start),
            &start.to_ne_bytes(),
        );
    }
    bytes
}

/// A rank that sent `messages` to the other one, or received them.
pub(crate) fn exchange(rank: i32, size: u32, messages: i64) -> Blocks {
    let mut b = common::rank(rank, size);
    let got = |tag: i64| MpiStatus {
        source: 0,
        tag: tag as i32,
        error: 0,
        bytes: 4,
        cancelled: false,
    };
    for tag in 0..messages {
        let start = 1000 + 1000 * tag as u32;
        if rank == 0 {
            call_at(&mut b, start, start + 100, "MPI_Send", &to(1, tag, 1));
        } else {
            call_at(
                &mut b,
                start + 50,
                start + 200,
                "MPI_Recv",
                &from(0, tag, 1, got(tag)),
            );
        }
    }
    b
}

/// Lines of `mpitrace print` of a file that contain `what`.
#[track_caller]
fn lines_with(folder: &Folder, file: &str, what: &str) -> usize {
    let text = folder.succeeds(&["print", file]);
    text.lines().filter(|line| line.contains(what)).count()
}

/// Stamp in the names of DUMPI files of these runs, which all begin in the same second.
const STAMP: &str = "2023.11.14.22.13.20";

#[test]
fn a_killed_run_becomes_the_files_of_one_that_ended() {
    let folder = Folder::new("killed");
    let open = Some(("MPI_Barrier", 5150));
    folder.write(
        "a.blocks",
        &file(&exchange(0, 2, 5), &End { open, ..KILLED }),
    );
    folder.write("b.blocks", &file(&exchange(1, 2, 5), &KILLED));
    let printed = folder.succeeds(&["recover", "--formats=dumpi,clog2,slog2", "."]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[0], format!("p, 2 ranks, {STAMP}"));
    assert_eq!(lines[1], "  rank 0: 5 calls, died in MPI_Barrier");
    assert_eq!(lines[2], "  rank 1: 5 calls, died outside MPI");
    assert!(lines[3].starts_with("  -> ./p.slog2 ("), "{}", lines[3]);
    assert_eq!(lines.len(), 4);
    let dumpi = format!("p-{STAMP}");
    assert_eq!(
        folder.names(),
        [
            "a.blocks".to_owned(),
            "b.blocks".to_owned(),
            format!("{dumpi}-0000.bin"),
            format!("{dumpi}-0001.bin"),
            format!("{dumpi}.meta"),
            "p.clog2".to_owned(),
            "p.slog2".to_owned(),
        ]
    );
    assert_eq!(
        lines_with(&folder, &format!("{dumpi}-0000.bin"), "MPI_Send entering"),
        5
    );
    assert_eq!(
        lines_with(&folder, &format!("{dumpi}-0001.bin"), "MPI_Recv entering"),
        5
    );
    assert_eq!(
        lines_with(&folder, "p.slog2", "name=message, topo=Arrow"),
        5 + 1
    );
    // The call in which rank 0 died is shown up to the end of the trace, one state beside its category.
    assert_eq!(lines_with(&folder, "p.slog2", "name=MPI_Barrier"), 1 + 1);
    assert_eq!(lines_with(&folder, "p.slog2", "name=MPI_Send"), 5 + 1);
    folder.succeeds(&["convert", "-q", "p.clog2", "again.slog2"]);
    assert_eq!(lines_with(&folder, "again.slog2", "name=MPI_Recv"), 5 + 1);
}

/// Cut by time, the files are the same with any number of threads, and tell what those in one order of time tell.
#[test]
fn all_threads_make_the_same_files() {
    let folder = Folder::new("threads");
    for rank in 0..5 {
        let name = format!("{rank}.blocks");
        folder.write(&name, &file(&exchange(rank, 5, 700), &KILLED));
    }
    let made = |out: &str, more: &[&str]| {
        let common = [
            "recover",
            "--formats=clog2,slog2",
            "--leaf",
            "2000",
            "--dir",
            out,
        ];
        folder.succeeds(&[&common, more, &["."]].concat());
        let read = |name: &str| fs::read(folder.0.join(out).join(name)).unwrap();
        (read("p.slog2"), read("p.clog2"))
    };
    let one = made("one", &["--merge", "parallel", "--threads", "1"]);
    for threads in ["2", "3", "7"] {
        let more = ["--merge", "parallel", "--threads", threads];
        assert!(made(threads, &more) == one, "{threads} threads");
    }
    made("tree", &[]);
    for name in ["p.slog2", "p.clog2"] {
        let files = ["one", "tree"].map(|out| format!("{out}/{name}"));
        let stats = files.each_ref().map(|file| {
            folder.succeeds(&["check", file]);
            stdout(&folder.run(&["stats", "--format", "csv", file]))
        });
        assert!(stats[0].lines().count() > 3, "{name}: {}", stats[0]);
        assert_eq!(stats[0], stats[1], "{name}");
    }
    assert_eq!(
        lines_with(&folder, "one/p.slog2", "name=MPI_Recv"),
        4 * 700 + 1
    );
}

/// Of the formats, those that a run writes unless others are asked for.
#[test]
fn clog2_is_made_only_if_asked_for() {
    let folder = Folder::new("usual");
    folder.write("a.blocks", &file(&exchange(0, 1, 5), &KILLED));
    folder.succeeds(&["recover", "."]);
    let endings = folder.names().into_iter();
    let endings = endings.filter_map(|name| Some(name.rsplit_once('.')?.1.to_owned()));
    assert_eq!(
        endings.collect::<Vec<_>>(),
        ["blocks", "bin", "meta", "slog2"]
    );
}

#[test]
fn every_end_has_its_words_and_missing_ranks_are_named() {
    let folder = Folder::new("ends");
    for (rank, ended, lost) in [(1, 1, 0), (2, 2, 3), (4, 3, 0)] {
        let end = End {
            ended,
            lost,
            ..KILLED
        };
        folder.write(
            &format!("{rank}.blocks"),
            &file(&exchange(rank, 9, 1), &end),
        );
    }
    let arguments = ["recover", "--dir", "new/out", "--output", "x.y", "."];
    let (printed, err) = folder.fails(&arguments);
    let expected = format!(
        "p, 9 ranks, {STAMP}\n  rank 1: 1 call, reached MPI_Finalize\n  \
         rank 2: 1 call, exited without MPI_Finalize, 3 lost\n  rank 4: 1 call, called MPI_Abort\n  \
         -> new/out/x.y.slog2 ("
    );
    assert!(printed.starts_with(&expected), "{printed}");
    let missing = format!(
        "mpitrace: p, 9 ranks, {STAMP}: no block file of rank 0, 3, 5-8: the trace is without it\n"
    );
    assert_eq!(err, missing);
    let meta = fs::read_to_string(folder.0.join(format!("new/out/x.y-{STAMP}.meta"))).unwrap();
    assert!(meta.contains("numprocs=9\n"), "{meta}");
    // Who ended early is in every format, and the first that a report says.
    folder.fails(&["recover", "--formats=clog2", "."]);
    let dumpi = format!("new/out/x.y-{STAMP}.meta");
    for trace in ["new/out/x.y.slog2", "p.clog2", &dumpi] {
        let printed = folder.succeeds(&["report", trace]);
        let (_, verdict) = printed.split_once("Verdict\n").expect("a verdict");
        let told = "  2 of the 3 ranks in the trace did not reach MPI_Finalize: ranks 2,4.";
        assert!(verdict.starts_with(told), "{trace}: {printed}");
        let condition = "ranks-not-finalized>0";
        let output = folder.run(&["report", "--json", "--fail-if", condition, trace]);
        assert_eq!(output.status.code(), Some(3), "{trace}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            report["not_finalized"],
            serde_json::json!([2, 4]),
            "{trace}"
        );
    }
    let printed = folder.run(&["verify", "p.clog2"]).stdout;
    let ends = "\nDid not come to MPI_Finalize\n  ranks 2,4: ended outside of MPI calls\n";
    let printed = String::from_utf8_lossy(&printed);
    assert!(printed.contains(ends), "{printed}");
    let printed = folder.succeeds(&["compare", "p.clog2", "new/out/x.y.slog2"]);
    let told = "x.y.slog2: 2 of the 3 ranks in the trace did not reach MPI_Finalize";
    assert!(printed.replace('\n', " ").contains(told), "{printed}");
}

/// A file of a few blocks that says it has 100 GB: what is a hole is not walked.
#[test]
fn holes_are_skipped() {
    let folder = Folder::new("holes");
    let whole = file(&exchange(0, 1, 0), &KILLED);
    let plain = Folder::new("no-holes");
    for (folder, length) in [(&plain, 0), (&folder, 100 << 30)] {
        let path = folder.write("0.blocks", &whole);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(length.max(whole.len() as u64)).unwrap();
    }
    // A last block behind the hole is one like any other.
    let last = &whole[whole.len() - BLOCK_SIZE..];
    let path = folder.0.join("0.blocks");
    let end = (100 << 30) - BLOCK_SIZE as u64;
    let sparse = fs::File::options().write(true).open(path).unwrap();
    sparse.write_all_at(last, end).unwrap();
    for arguments in [
        &["print", "0.blocks"][..],
        &["info", "0.blocks"],
        &["check", "0.blocks"],
        &["status", "--ended", "."],
        &["io", "."],
        &["recover", "--output", "x.slog2", "."],
    ] {
        let (expected, found) = (plain.run(arguments), folder.run_shortly(arguments));
        assert_eq!(found.status.code(), expected.status.code(), "{arguments:?}");
        if arguments[0] != "info" {
            let (found, expected) = (stdout(&found), stdout(&expected));
            assert_eq!(found, expected, "{arguments:?}");
        }
    }
}

#[test]
fn threads_die_in_calls_of_their_own() {
    let folder = Folder::new("threads");
    let mut b = exchange(0, 1, 0);
    b.threads.push(Vec::new());
    b.thread = 1;
    b.call("MPI_Barrier", &[V::H(WORLD)]);
    let open = Some(("MPI_Allreduce", 9000));
    folder.write("a.blocks", &file(&b, &End { open, ..KILLED }));
    let printed = folder.succeeds(&["recover", "."]);
    assert!(
        printed.contains("rank 0: 1 call, died in MPI_Allreduce (thread 0)\n"),
        "{printed}"
    );
}

#[test]
fn runs_are_told_apart_by_identity_and_without_one_by_rank() {
    let folder = Folder::new("runs");
    for (name, run, rank) in [
        ("a0", 5, 0),
        ("a1", 5, 1),
        ("b0", 6, 0),
        ("c0", 0, 0),
        ("d0", 0, 0),
    ] {
        let end = End { run, ..KILLED };
        folder.write(
            &format!("{name}.blocks"),
            &file(&exchange(rank, 2, 2), &end),
        );
    }
    let (printed, err) = folder.fails(&["recover", "."]);
    assert_eq!(printed.matches("p, 2 ranks").count(), 4, "{printed}");
    assert_eq!(err.matches("no block file of rank 1: ").count(), 3, "{err}");
    let slog2 = |name: &String| name.ends_with(".slog2");
    let names: Vec<String> = folder.names().into_iter().filter(slog2).collect();
    assert_eq!(names, ["p.2.slog2", "p.3.slog2", "p.4.slog2", "p.slog2"]);
    // Another rank 0 of the same run cannot be.
    let end = End { run: 5, ..KILLED };
    folder.write("e0.blocks", &file(&exchange(0, 2, 2), &end));
    let (_, err) = folder.fails(&["recover", "--dir", "again", "."]);
    assert!(err.contains("rank 0 of this run is there already"), "{err}");
}

/// A script below a launcher runs two programs of one process each: the identity of the run is the launcher's. A copy of a file is no third run.
#[test]
fn runs_of_single_processes_below_one_launcher_are_told_apart() {
    let folder = Folder::new("single-runs");
    for (name, pid) in [("a", 70_u32), ("b", 71), ("copy", 71)] {
        let mut bytes = file(&exchange(0, 1, 0), &KILLED);
        let at = offset_of!(FileHeader, pid);
        bytes[at..at + 4].copy_from_slice(&pid.to_ne_bytes());
        folder.write(&format!("{name}.blocks"), &bytes);
    }
    let (printed, err) = folder.fails(&["recover", "."]);
    assert_eq!(printed.matches("p, 1 rank").count(), 2, "{printed}");
    let twice = "copy.blocks: rank 0 of this run is there already, from ./b.blocks: left out";
    assert!(err.contains(twice), "{err}");
    assert_eq!(err.matches("left out").count(), 1, "{err}");
}

#[test]
fn counts_are_told_in_the_recorders_own_words() {
    let folder = Folder::new("count");
    let mut b = exchange(0, 2, 3);
    b.call("MPI_Barrier", &[V::H(WORLD)]);
    folder.write("a.blocks", &file(&b, &KILLED));
    folder.write("b.blocks", &file(&exchange(1, 2, 4), &KILLED));
    let printed = folder.succeeds(&["recover", "--count", "a.blocks", "b.blocks"]);
    assert_eq!(printed, "0 4 MPI_Send=3 MPI_Barrier=1\n1 4 MPI_Recv=4\n");
    assert_eq!(folder.names(), ["a.blocks", "b.blocks"]);
}

/// One rank died in MPI_Init when the others had come out of it: which one, its file's name says. What is made of all passes `check`,
/// which names the call.
#[test]
fn a_rank_that_died_in_mpi_init_is_put_in() {
    let folder = Folder::new("unborn");
    for rank in [0, 2] {
        let name = format!("libtrace.p.{rank}.{}.blocks", 500 + rank);
        folder.write(&name, &file(&exchange(rank, 3, 1), &KILLED));
    }
    let mut b = Blocks::new();
    (b.rank, b.size) = (-1, 0);
    let end = End {
        run: 0,
        open: Some(("MPI_Init", 1000)),
        ..KILLED
    };
    let mut bytes = file(&b, &end);
    let at = offset_of!(FileHeader, pid);
    bytes[at..at + 4].copy_from_slice(&501_u32.to_ne_bytes());
    folder.write("libtrace.p.1.501.blocks", &bytes);
    let printed = folder.succeeds(&["recover", "--formats=dumpi,clog2,slog2", "."]);
    assert!(
        printed.contains("rank 1: 0 calls, died in MPI_Init\n"),
        "{printed}"
    );
    for name in ["p.slog2", "p.clog2"] {
        folder.succeeds(&["check", name]);
    }
    let checked = folder.succeeds(&["check", "libtrace.p.1.501.blocks"]);
    assert!(checked.contains(": MPI_Init unfinished\n"), "{checked}");
    let meta = format!("p-{STAMP}.meta");
    let checked = folder.succeeds(&["check", &meta]);
    assert!(
        checked.contains("MPI_Init unfinished on rank 1"),
        "{checked}"
    );
    for file in [&meta, "p.slog2", "p.clog2"] {
        let info = folder.succeeds(&["info", file]);
        let mut lines = info.lines();
        let line = lines.find(|line| line.starts_with("calls unfinished"));
        assert_eq!(line.map(|line| line.ends_with(" 1")), Some(true), "{info}");
    }
    // Without the file's name nobody knows which rank it was.
    let path = folder.0.join("libtrace.p.1.501.blocks");
    fs::rename(path, folder.0.join("other.blocks")).unwrap();
    let (_, err) = folder.fails(&["recover", "--dir", "again", "."]);
    assert!(err.contains("no block file of rank 1: "), "{err}");
}

#[test]
fn what_is_left_of_a_finished_run_is_told_as_that() {
    let folder = Folder::new("left-over");
    let end = End { ended: 1, ..KILLED };
    folder.write("1.blocks", &file(&exchange(1, 2, 1), &end));
    let (_, err) = folder.fails(&["recover", "."]);
    assert!(
        err.contains("no block file of rank 0: all others reached MPI_Finalize"),
        "{err}"
    );
}

#[test]
fn a_process_that_died_in_mpi_init_is_told_of() {
    let folder = Folder::new("init");
    let mut b = Blocks::new();
    (b.rank, b.size) = (-1, 0);
    let end = End {
        run: 0,
        open: Some(("MPI_Init", 1000)),
        ..KILLED
    };
    let path = folder.write("a.blocks", &file(&b, &end));
    let verified = folder.succeeds(&["verify", "."]);
    let told =
        "\nDid not come to MPI_Finalize\n  1 process without a rank yet: ended in MPI_Init\n";
    assert!(verified.contains(told), "{verified}");
    let printed = folder.succeeds(&["recover", "--remove", "."]);
    assert_eq!(
        printed,
        format!("p, before MPI_Init returned, {STAMP}\n  process 0: 0 calls, died in MPI_Init\n")
    );
    assert!(path.exists());
}

#[test]
fn a_block_file_prints_a_line_for_each_record() {
    let folder = Folder::new("print");
    let mut b = exchange(1, 2, 1);
    b.cpu = true;
    b.call("MPI_Send", &to(-1, 3, 1));
    b.cpu = false;
    b.define(&Definition::Lost {
        count: 2,
        reason: "disk full".to_owned(),
    });
    common::failed_call(&mut b, 15, "MPI_Barrier", &[V::H(0x8400_0001)]);
    let open = Some(("MPI_Bcast", 1_000_003_050));
    let end = End { open, ..KILLED };
    folder.write("a.blocks", &file(&b, &end));
    let text = folder.succeeds(&["print", "a.blocks"]);
    let calls: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let id = |line: &str| line.split(' ').nth(3).unwrap().to_owned();
    assert_eq!(calls.len(), 4, "{text}");
    assert_eq!(
        calls[0],
        format!(
            "0 0.000000000 0.000000150 {} MPI_Recv(count=1, datatype={INT:#x}, source=0, tag=0, \
             comm=MPI_COMM_WORLD, status={{source=0, tag=0, bytes=4}})",
            id(calls[0]),
            INT = common::INT
        )
    );
    assert!(id(calls[0]).starts_with("0x10000000"), "{}", calls[0]);
    assert!(
        calls[1].ends_with(&format!(
            " MPI_Send(count=1, datatype={:#x}, dest=MPI_PROC_NULL, tag=3, comm=MPI_COMM_WORLD) \
             cpu 0.000000001",
            common::INT
        )),
        "{}",
        calls[1]
    );
    assert!(
        calls[2].ends_with(" MPI_Barrier(comm=0x84000001) failed with 15"),
        "{}",
        calls[2]
    );
    assert_eq!(calls[3], "0 1.000002000 running 0x10000000000 MPI_Bcast");
    assert!(
        text.starts_with("# p, process 0 on node, rank 1 of 2,"),
        "{text}"
    );
    for line in [
        "# 0 constant MPI_ANY_SOURCE is -2",
        "# 0 handle 0x44000000 is MPI_COMM_WORLD",
        "# 0 communicator 0x44000000 (Intra, World 0x0): rank 1 of [0, 1]",
        "# 0 2 records lost: disk full",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    let wrong = folder.run(&["print", "--java", "a.blocks"]);
    assert_eq!(wrong.status.code(), Some(2));
}
