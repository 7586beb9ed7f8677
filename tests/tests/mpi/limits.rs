//! What a process may take runs out while it is traced, or at MPI_Finalize. The program's results are those that it has without
//! the recorder; what could not be recorded is counted and said once, and what is there is whole.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, MpiTurns, Program, TestFolder, TracedRun, blocks, process, skip};

/// Calls whose blocks take more than any of the limits.
const ROUNDS: &str = "40000";

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// The program as it runs with the recorder. It must do what it does without.
fn limited(mpi: Mpi, kind: &str, variables: &[(&str, &str)]) -> Option<TracedRun> {
    let program = Program::c("limits").compile(mpi);
    let mut tracing = TraceSetup::new(mpi, 2);
    tracing.variables = variables;
    tracing.limit = Duration::from_secs(300);
    if kind != "vanish" {
        tracing.preload = false;
        let bare = tracing.run(&program, &[kind, ROUNDS]);
        if !bare.finished.status.success() {
            skip(&format!("{mpi:?} itself cannot do with the limit {kind}"));
            return None;
        }
        tracing.preload = true;
    }
    let run = tracing.run(&program, &[kind, ROUNDS]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    // Without files, layers below MPI complain on standard output.
    let mut lines = run.finished.stdout.lines();
    assert!(lines.any(|line| line == "ok"), "{}", run.finished.story());
    Some(run)
}

/// All that the program called is in the files or said to be lost; said once. Gives the lost calls.
fn nothing_unsaid(run: &TracedRun) -> u64 {
    let (calls, lost) = run.closing_numbers();
    let made: u64 = run.made().values().flat_map(|calls| calls.values()).sum();
    assert_eq!(calls + lost, made, "{}", run.finished.story());
    let printed = run.finished.stderr.matches("could not be recorded").count();
    assert_eq!(printed, usize::from(lost > 0), "{}", run.finished.story());
    lost
}

/// The DUMPI files are whole and hold what the closing line says.
fn files_are_whole(run: &TracedRun) {
    let written: u64 = run.in_dumpi().values().flat_map(|c| c.values()).sum();
    assert_eq!(written, run.closing_numbers().0, "{}", run.finished.story());
    for extension in ["slog2", "clog2"] {
        let check = Command::new(tests::mpitrace())
            .arg("check")
            .arg(run.file(extension))
            .output()
            .expect("mpitrace");
        assert!(check.status.success(), "{check:?}");
    }
}

#[test]
fn files_may_not_be_larger() {
    for mpi in installed() {
        let Some(run) = limited(mpi, "fsize", &[]) else {
            continue;
        };
        assert!(nothing_unsaid(&run) > 0, "{}", run.finished.story());
        // The CLOG2 file of what was recorded is larger than files may be; it says so, and the blocks stay.
        assert!(run.finished.stderr.contains(".clog2"));
        assert_eq!(run.files("blocks").len(), 2, "{}", run.finished.story());
        assert!(blocks::read(&run.files("blocks")[0]).info.lost > 0);
    }
}

#[test]
fn no_more_files_can_be_opened() {
    for mpi in installed() {
        let Some(run) = limited(mpi, "nofile", &[]) else {
            continue;
        };
        // The program's own count is a file, too.
        assert_eq!(run.closing_numbers().1, 0);
        // No file could be opened, so none is there, the reason is said, and the blocks stay.
        assert!(
            run.finished.stderr.contains("Too many open files"),
            "{}",
            run.finished.story()
        );
        assert_eq!(run.files("slog2").len() + run.files("bin").len(), 0);
        assert_eq!(run.files("blocks").len(), 2);
        let calls: u64 = blocks::read(&run.files("blocks")[0]).calls.values().sum();
        assert!(calls > 40000, "{calls}");
    }
}

#[test]
fn hardly_any_memory_left() {
    for mpi in installed() {
        let Some(run) = limited(mpi, "as", &[]) else {
            continue;
        };
        // Whether the trace could be made in so little is not said here; what was recorded is somewhere.
        if run.files("blocks").is_empty() {
            assert_eq!(nothing_unsaid(&run), 0);
            files_are_whole(&run);
        } else {
            let calls: u64 = blocks::read(&run.files("blocks")[0]).calls.values().sum();
            assert!(calls > 40000, "{}", run.finished.story());
        }
    }
}

/// A program that says how much data it may have, and takes it.
#[test]
fn hardly_any_data_left() {
    for mpi in installed() {
        let Some(run) = limited(mpi, "data", &[]) else {
            continue;
        };
        // The merge takes nothing of what the program may have.
        assert_eq!(nothing_unsaid(&run), 0, "{}", run.finished.story());
        files_are_whole(&run);
    }
}

/// Address space that the recorder takes by being loaded, in KB.
fn size_of_recorder() -> u64 {
    let mut command = Command::new("size");
    command.arg(tests::recorder());
    let told = process::run(&mut command, LIMIT).succeeded();
    // A line of titles, then text, data, bss and their sum.
    let numbers = told.stdout.lines().nth(1).expect("a line of numbers");
    let sum = numbers.split_whitespace().nth(3).expect("a sum");
    sum.parse::<u64>().expect("a number") >> 10
}

/// A limit that is there from the start, somewhat above what the program needs: it runs with the recorder, too, and what was
/// recorded is in a trace or in the block files. The least one leaves MPI too little for the recorder's first message, which is longer than the program's: UCX, below
/// MPICH, cannot attach the memory of the other rank then, and the message never comes.
#[test]
fn limits_from_the_start() {
    let turns = MpiTurns::new("each limit");
    for &mpi in turns.all() {
        let program = Program::c("limits").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.limit = Duration::from_secs(100);
        // Whoever waits, waits for ever.
        tracing.variables = &[("TRACE_DEADLINE", "0")];
        tracing.preload = false;
        let bare = tracing.run(&program, &["from-start-as", "3000"]);
        let needs = |what: &str| -> u64 {
            let (_, rest) = bare.finished.stderr.split_once(what).expect("a line");
            let number = rest.split(' ').next().expect("a number");
            number.parse().expect("a number")
        };
        let (space, data) = (needs("peak ") + size_of_recorder(), needs("data "));
        let spaces =
            [3, 13, 25, 35, 39, 41, 43, 49].map(|more| ("from-start-as", space + (more << 10)));
        let data = [4, 5, 6, 8, 12].map(|more| ("from-start-data", data + (more << 10)));
        let limits = spaces.into_iter().chain(data).enumerate();
        let limits = limits.filter(|(nth, _)| turns.of(*nth).contains(&mpi));
        for (_, (kind, kilobytes)) in limits {
            let most = kilobytes.to_string();
            let arguments = [kind, "3000", &most];
            tracing.preload = false;
            let bare = tracing.run(&program, &arguments);
            if !bare.finished.status.success() {
                skip(&format!("{mpi:?} itself cannot do with {kind} {kilobytes}"));
                continue;
            }
            tracing.preload = true;
            let run = tracing.run(&program, &arguments);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{kind} {kilobytes}: {story}");
            let mut lines = run.finished.stdout.lines();
            assert!(
                lines.any(|line| line == "ok"),
                "{kind} {kilobytes}: {story}"
            );
            if run.files("blocks").is_empty() {
                assert_eq!(nothing_unsaid(&run), 0, "{kind} {kilobytes}");
                files_are_whole(&run);
            } else {
                assert!(story.contains("not merged"), "{kind} {kilobytes}: {story}");
                assert_eq!(run.files("blocks").len(), 2, "{kind} {kilobytes}: {story}");
                for file in run.files("blocks") {
                    assert_eq!(blocks::read(&file).calls["MPI_Sendrecv"], 3001, "{story}");
                }
            }
        }
    }
}

/// Communicators whose merge takes more than the memory that is left. Half as many take it, too.
const COMMUNICATORS: &str = "80000";

/// The merge of many communicators needs more memory than there is: it is given up, and the program does not notice.
#[test]
fn a_merge_that_has_no_memory_is_given_up() {
    for mpi in installed() {
        let program = Program::c("limits").compile(mpi);
        let mut tracing = TraceSetup::new(mpi, 2);
        tracing.limit = Duration::from_secs(300);
        tracing.variables = &[("TRACE_DEADLINE", "5")];
        let run = tracing.run(&program, &["comms", COMMUNICATORS]);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        assert_eq!(run.finished.stdout, "ok\n", "{story}");
        assert!(story.contains("no more memory: not merged"), "{story}");
        assert_eq!(run.files("blocks").len(), 2, "{story}");
        let found = blocks::read(&run.files("blocks")[0]);
        let made = found.calls["MPI_Comm_dup"];
        assert_eq!(made.to_string(), COMMUNICATORS, "{story}");
        // Nothing half-written is left.
        assert_eq!(run.files("tmp").len(), 0, "{story}");
    }
}

/// One rank has no room to read its own block file back: the trace is not made without its calls.
#[test]
fn a_block_file_that_has_no_room_is_left_to_recover() {
    for mpi in installed() {
        let mut tracing = TraceSetup::new(mpi, 2);
        // Whoever waits, waits for ever.
        tracing.variables = &[("TRACE_DEADLINE", "0")];
        // A million calls of each rank are 50 MB; rank 1 may have 6 MB more.
        let arguments = ["merge-as", "1", "6000", "1", "0", "10", "50000"];
        let run = tracing.run(&Program::c("ends").compile(mpi), &arguments);
        let story = run.finished.story();
        assert!(run.finished.status.success(), "{story}");
        let why = "1 of 2 ranks have no memory for the merge: not merged";
        assert!(run.finished.stderr.contains(why), "{story}");
        assert_eq!(run.files("blocks").len(), 2, "{story}");
        for extension in ["slog2", "meta", "bin", "tmp"] {
            assert_eq!(run.files(extension).len(), 0, "{extension}: {story}");
        }
    }
}

/// One rank has no memory for its part: all others, above and below it in the tree, hear of it and wait no longer.
#[test]
fn a_rank_that_gives_up_the_merge_holds_up_nobody() {
    for mpi in installed() {
        let program = Program::c("limits").compile(mpi);
        let ranks = if mpi.is_mpich() { 2 } else { 4 };
        for kind in ["comms-first", "comms-last"] {
            let mut tracing = TraceSetup::new(mpi, ranks);
            tracing.limit = Duration::from_secs(500);
            // Whoever waits, waits for ever.
            tracing.variables = &[("TRACE_DEADLINE", "0")];
            let run = tracing.run(&program, &[kind, COMMUNICATORS]);
            let story = run.finished.story();
            assert!(run.finished.status.success(), "{story}");
            assert_eq!(run.finished.stdout, "ok\n", "{story}");
            // One line, of the rank that speaks for all: why, and which rank that was.
            let rank = if kind == "comms-first" { 0 } else { ranks - 1 };
            let lines: Vec<&str> = run.finished.stderr.lines().collect();
            let printed: Vec<_> = lines.iter().filter(|l| l.contains("not merged")).collect();
            assert_eq!(printed.len(), 1, "{story}");
            assert!(printed[0].contains("no more memory: not merged"), "{story}");
            assert!(printed[0].contains(&format!("rank {rank} on ")), "{story}");
            assert_eq!(run.files("blocks").len(), ranks, "{story}");
        }
    }
}

#[test]
fn the_folder_of_the_blocks_goes_away() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-vanish", mpi.suffix()));
        let blocks = folder.path().join("a b ü");
        std::fs::create_dir(&blocks).expect("own folder");
        let name = blocks.to_str().expect("a name");
        let run = limited(mpi, "vanish", &[("TRACE_TMPDIR", name)]).expect("no limit");
        assert!(!blocks.exists());
        assert_eq!(nothing_unsaid(&run), 0);
        files_are_whole(&run);
    }
}

/// A file system of its own, or `None` where none can be mounted.
struct Mounted(PathBuf);

impl Mounted {
    fn new(folder: &Path, options: &str) -> Option<Mounted> {
        let path = folder.join("mounted");
        std::fs::create_dir(&path).expect("own folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&path)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Mounted(path));
        }
        skip("no file system can be mounted");
        None
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a name")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

/// A file system in a file, with a quota. It takes each change to a new place, so that no space can be reserved.
struct Quota {
    mounted: Mounted,
}

impl Quota {
    fn new(folder: &Path, most: &str) -> Option<Quota> {
        let image = folder.join("image");
        let path = folder.join("mounted");
        std::fs::create_dir(&path).expect("own folder");
        let file = std::fs::File::create(&image).expect("own folder");
        file.set_len(160 << 20).expect("a file without contents");
        let done = |name: &str, arguments: &[&str], more: &[&Path]| {
            let output = Command::new(name).args(arguments).args(more).output();
            output.is_ok_and(|output| output.status.success())
        };
        if done("mkfs.btrfs", &["-q"], &[&image])
            && done("mount", &["-o", "loop"], &[&image, &path])
        {
            let mounted = Mounted(path);
            let limited = done("btrfs", &["quota", "enable"], &[&mounted.0])
                && done("btrfs", &["qgroup", "limit", most, "0/5"], &[&mounted.0]);
            if limited {
                return Some(Quota { mounted });
            }
        }
        skip("no file system with a quota can be mounted");
        None
    }
}

/// The quota ends in the midst of the run: the program goes on, where a store into a mapped file would kill it.
#[test]
fn no_more_quota_for_blocks() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-quota", mpi.suffix()));
        let Some(quota) = Quota::new(folder.path(), "2M") else {
            return;
        };
        let run = limited(mpi, "", &[("TRACE_TMPDIR", quota.mounted.name())]).expect("no limit");
        assert!(nothing_unsaid(&run) > 0, "{}", run.finished.story());
        assert!(run.closing_numbers().0 > 2000, "{}", run.finished.story());
        files_are_whole(&run);
        // Without one all is kept on such a file system, too.
        let enough = Command::new("btrfs")
            .args(["qgroup", "limit", "none", "0/5", quota.mounted.name()])
            .status();
        assert!(enough.is_ok_and(|status| status.success()));
        let run = limited(mpi, "", &[("TRACE_TMPDIR", quota.mounted.name())]).expect("no limit");
        assert_eq!(nothing_unsaid(&run), 0, "{}", run.finished.story());
        files_are_whole(&run);
    }
}

#[test]
fn no_more_quota_for_the_trace() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-quota-out", mpi.suffix()));
        let Some(quota) = Quota::new(folder.path(), "1M") else {
            return;
        };
        let run = limited(mpi, "", &[("TRACE_DIR", quota.mounted.name())]).expect("no limit");
        let story = run.finished.story();
        assert!(run.finished.stderr.contains("quota exceeded"), "{story}");
        for entry in std::fs::read_dir(&quota.mounted.0).expect("mounted") {
            let name = entry.expect("mounted").file_name();
            let name = name.to_string_lossy();
            let whole = [".bin", ".meta", ".slog2", ".clog2"];
            assert!(whole.iter().any(|end| name.ends_with(end)), "{name}");
        }
        assert_eq!(run.files("blocks").len(), 2, "{story}");
        let calls: u64 = blocks::read(&run.files("blocks")[1]).calls.values().sum();
        assert!(calls > 40000, "{calls}");
    }
}

#[test]
fn no_room_for_more_blocks() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-full", mpi.suffix()));
        let Some(small) = Mounted::new(folder.path(), "size=2m") else {
            return;
        };
        let run = limited(mpi, "", &[("TRACE_TMPDIR", small.name())]).expect("no limit");
        assert!(nothing_unsaid(&run) > 0, "{}", run.finished.story());
        files_are_whole(&run);
        // The same with the newest calls kept: recording goes on.
        let variables = [
            ("TRACE_TMPDIR", small.name()),
            ("TRACE_AT_DISK_LIMIT", "newest"),
        ];
        let run = limited(mpi, "", &variables).expect("no limit");
        let (_, lost) = run.closing_numbers();
        assert_eq!(lost, 0, "{}", run.finished.story());
        assert!(run.finished.stderr.contains("given up for newer ones"));
        assert_eq!(run.in_dumpi()[&1].get("MPI_Finalize"), Some(&1));
        files_are_whole(&run);
    }
}

#[test]
fn no_room_for_the_trace() {
    for mpi in installed() {
        for options in ["size=1m", "ro"] {
            let folder = TestFolder::new(&format!("{}-out", mpi.suffix()));
            let Some(small) = Mounted::new(folder.path(), options) else {
                return;
            };
            let run = limited(mpi, "", &[("TRACE_DIR", small.name())]).expect("no limit");
            let reason = match options {
                "ro" => "Read-only file system",
                _ => "No space left on device",
            };
            assert!(
                run.finished.stderr.contains(reason),
                "{}",
                run.finished.story()
            );
            // No pieces of files are left, but for the files that had room.
            for entry in std::fs::read_dir(&small.0).expect("mounted") {
                let name = entry.expect("mounted").file_name();
                let name = name.to_string_lossy();
                let whole = [".bin", ".meta", ".slog2", ".clog2"];
                assert!(whole.iter().any(|end| name.ends_with(end)), "{name}");
            }
            assert_eq!(run.files("blocks").len(), 2, "{}", run.finished.story());
            let calls: u64 = blocks::read(&run.files("blocks")[1]).calls.values().sum();
            assert!(calls > 40000, "{calls}");
        }
    }
}
