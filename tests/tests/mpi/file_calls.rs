//! The recorder of libc's file calls: what it says of each call, that it changes none, and that as many are recorded as strace
//! sees in a run without it.

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use tests::blocks::{self, RecordedFiles};
use tests::tally::CallTally;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, TracedRun, process};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

/// The operations of each rank.
fn operations(run: &TracedRun) -> Vec<RecordedFiles> {
    let files = run.files("blocks");
    assert_eq!(files.len(), run.ranks, "{}", run.finished.story());
    files.iter().map(|file| blocks::files(file)).collect()
}

/// Runs a program with these settings on a folder of its own; gives the run and the folder.
fn run(
    mpi: Mpi,
    program: &Path,
    ranks: usize,
    preload: bool,
    settings: &str,
) -> (TracedRun, TestFolder) {
    run_on(None, mpi, program, ranks, preload, settings)
}

/// Runs a program as [`run`] does, below another one that makes an old kernel of this one.
fn run_on(
    on: Option<&Path>,
    mpi: Mpi,
    program: &Path,
    ranks: usize,
    preload: bool,
    settings: &str,
) -> (TracedRun, TestFolder) {
    let data = TestFolder::new("data");
    let mut tracing = TraceSetup::new(mpi, ranks);
    // UCX puts its own mmap in the place of everybody else's.
    let variables = [
        ("TRACE_KEEP_BLOCKS", "yes"),
        ("TRACE_SETTINGS", settings),
        ("UCX_MEM_EVENTS", "no"),
    ];
    tracing.variables = &variables;
    tracing.preload = preload;
    let folder = data.path().display().to_string();
    let run = match on {
        None => tracing.run(program, &[&folder]),
        Some(kernel) => tracing.run(kernel, &[&program.display().to_string(), &folder]),
    };
    assert!(run.finished.status.success(), "{}", run.finished.story());
    (run, data)
}

/// A record as text, in the form in which `file_calls.c` prints the expected one.
fn line(done: &blocks::RecordedOperation) -> String {
    let o = &done.operation;
    format!(
        "{} fd {} at {} size {} gives {} errno {}",
        done.name, o.fd, o.offset, o.size, o.result, done.error
    )
}

#[test]
fn each_call_is_recorded_as_it_was_made() {
    for mpi in installed() {
        let program = Program::c("file_calls").compile(mpi);
        let (run, data) = run(mpi, &program, 1, true, "posix all");
        let folder = data.path().display().to_string();
        let files = &operations(&run)[0];
        let outside =
            |d: &blocks::RecordedOperation| d.operation.flags & blockfile::operation::OUTSIDE != 0;
        let recorded: Vec<String> = files.done.iter().filter(|d| outside(d)).map(line).collect();
        let made: Vec<&str> = run.finished.stdout.lines().collect();
        assert!(made.len() > 130, "{}", run.finished.story());
        for (i, (recorded, made)) in recorded.iter().zip(&made).enumerate() {
            assert_eq!(recorded, made, "call {i} of {mpi:?}");
        }
        assert_eq!(recorded.len(), made.len());
        assert_eq!(files.lost, []);
        // Every file has been named before it was used, by its absolute name.
        let own =
            |f: &&blockfile::define::OpenFileDefinition| f.fd >= 0 && f.path.starts_with(&folder);
        for file in files.files.iter().filter(own) {
            assert!(file.inode != 0 && file.device != 0, "{file:?}");
            assert_ne!(file.path, folder);
        }
        let names = files.files.iter().map(|f| f.path.as_str());
        for name in ["a", "b", "c", "file0", "file1", "file0.reopened"] {
            let name = format!("{folder}/{name}");
            assert!(
                names.clone().any(|path| path == name),
                "{name} is not named"
            );
        }
        assert!(
            !names
                .clone()
                .any(|path| path.starts_with("/proc") || path.starts_with("/dev/null"))
        );
    }
}

#[test]
fn calls_give_what_they_give_without_the_recorder() {
    for mpi in installed() {
        let program = Program::c("file_calls").compile(mpi);
        let mut seen = Vec::new();
        for (preload, settings) in [
            (false, ""),
            (true, "posix all;rusage on"),
            (true, ""),
            (true, "posix off"),
        ] {
            let (run, data) = run(mpi, &program, 1, preload, settings);
            // Which number a descriptor has, and where a mapping lies, is another thing.
            let plain = |line: &str| {
                let numbered = ["open", "openat", "creat", "mmap"]
                    .iter()
                    .any(|n| line.starts_with(n));
                let mut words = line.split(' ');
                let mut kept = Vec::new();
                while let Some(word) = words.next() {
                    kept.push(word);
                    let failed = line.contains("gives -1");
                    if word == "fd" || word == "gives" && numbered && !failed {
                        words.next();
                    }
                }
                kept.join(" ")
            };
            let output: Vec<String> = run.finished.stdout.lines().map(plain).collect();
            seen.push((output, contents(data.path())));
            if preload && settings != "posix all;rusage on" {
                // The program makes no MPI_File call.
                assert_eq!(operations(&run)[0].done, [], "{settings}");
            }
        }
        for other in &seen[1..] {
            assert_eq!(other, &seen[0], "{mpi:?}");
        }
    }
}

/// Names, sizes, modes and bytes of the files in a folder, but for those with random names.
fn contents(folder: &Path) -> BTreeMap<String, (u64, Vec<u8>)> {
    let entry = |path: PathBuf| {
        let length = fs::metadata(&path).expect("a file").len();
        // One of them has a hole of 8 GB.
        let bytes = if length < 1 << 20 {
            fs::read(&path).expect("a file")
        } else {
            Vec::new()
        };
        (
            path.file_name()
                .expect("a file")
                .to_string_lossy()
                .into_owned(),
            (length, bytes),
        )
    };
    fs::read_dir(folder)
        .expect("own folder")
        .map(|e| entry(e.expect("own folder").path()))
        .collect()
}

#[test]
fn transfers_are_recorded_with_sectors() {
    for mpi in installed() {
        let program = Program::c("file_calls").compile(mpi);
        let (run, _data) = run(mpi, &program, 1, true, "posix all;rusage on");
        for done in &operations(&run)[0].done {
            let transfer = [
                "read",
                "write",
                "pread",
                "pwrite",
                "readv",
                "writev",
                "preadv",
                "pwritev",
                "preadv2",
                "pwritev2",
                "copy_file_range",
                "sendfile",
            ]
            .contains(&done.name);
            assert_eq!(done.operation.sectors.is_some(), transfer, "{done:?}");
        }
    }
}

#[test]
fn files_are_chosen_by_name() {
    for mpi in installed() {
        let program = Program::c("file_calls").compile(mpi);
        for (settings, in_a, in_file0, elsewhere) in [
            ("posix all;posix-include */data*/a", true, false, false),
            ("posix all;posix-exclude */file?", true, false, true),
            ("posix all;posix-include /nowhere/", false, false, true),
        ] {
            let (run, data) = run(mpi, &program, 1, true, settings);
            let files = &operations(&run)[0];
            let has = |name: &str| {
                let path = format!("{}/{name}", data.path().display());
                files.files.iter().any(|f| f.path == path)
            };
            assert_eq!(has("a"), in_a, "{settings}");
            assert_eq!(has("file0"), in_file0, "{settings}");
            let failed = files.done.iter().any(|d| d.name == "open" && d.error == 2);
            assert_eq!(failed, elsewhere, "{settings}");
        }
    }
}

/// The system call that a kind of operation comes to, or a newer one that includes this system call.
fn system_call(kind: &str) -> &str {
    match kind {
        "open" | "openat" | "creat" => "openat",
        "pread" => "pread64",
        "pwrite" => "pwrite64",
        "fcntl lock" | "fcntl unlock" => "fcntl",
        "posix_fallocate" => "fallocate",
        "stat" | "lstat" | "fstat" | "fstatat" => "newfstatat",
        "access" | "faccessat2" => "faccessat",
        other => other,
    }
}

/// Part of the names of all files that the programs access by MPI-IO.
const DATA: &str = ".data";

/// Whether this names one of them. Semaphores are opened by sem_open, inside libc.
fn is_data(text: &str) -> bool {
    text.contains(DATA) && !text.contains("/sem.")
}

/// Operations on those files, by the system call that they come to. The transfers of asynchronous I/O are made by threads of
/// libc.
fn by_system_call(files: &RecordedFiles) -> CallTally {
    let mut counts = CallTally::new();
    for done in files.done.iter().filter(|done| is_data(&done.file)) {
        if !done.name.starts_with("aio") && done.name != "lio_listio" {
            *counts.entry(system_call(done.name).to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Calls on those files in what strace says of one thread.
fn seen_by_strace(text: &str) -> CallTally {
    let mut counts = CallTally::new();
    for line in text.lines().filter(|line| is_data(line)) {
        let name = line.split('(').next().unwrap_or_default();
        // fcntl is recorded where it locks.
        if name != "execve" && (name != "fcntl" || line.contains("SETLK")) {
            *counts.entry(system_call(name).to_owned()).or_default() += 1;
        }
    }
    counts
}

/// File calls that the recorder knows, by strace's names.
const KNOWN: &str = "execve,openat,open,creat,close,read,write,pread64,pwrite64,readv,writev,preadv,pwritev,preadv2,\
                     pwritev2,lseek,ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,fcntl,flock,unlink,\
                     unlinkat,rename,mmap,msync,copy_file_range,sendfile,?stat,?lstat,fstat,newfstatat,statx,\
                     ?access,faccessat,faccessat2";

/// Counts of a run under strace and without the recorder: for each rank those of the thread that calls MPI.
fn under_strace(mpi: Mpi, program: &Path, ranks: usize) -> Vec<CallTally> {
    let folder = TestFolder::new("strace");
    let mut tracing = TraceSetup::new(mpi, ranks);
    tracing.preload = false;
    let mut command = mpi.mpiexec(ranks);
    tracing.settings(&mut command, &folder);
    command
        .args(["strace", "-ff", "-y", "-qq", "-e"])
        .arg(format!("trace={KNOWN}"))
        .arg("-o")
        .arg(folder.path().join("calls"))
        .arg(program);
    process::run(&mut command, LIMIT).succeeded();
    let started = format!("execve(\"{}\"", program.display());
    let mut counts = Vec::new();
    for entry in fs::read_dir(folder.path()).expect("own folder") {
        let path = entry.expect("own folder").path();
        if path.file_stem().is_some_and(|stem| stem == "calls") {
            let text = fs::read_to_string(&path).expect("what strace has written");
            if text.starts_with(&started) {
                counts.push(seen_by_strace(&text));
            }
        }
    }
    assert_eq!(counts.len(), ranks);
    counts
}

/// Open MPI 4.1 hangs now and then, traced or not, when several ranks open one file after another: an open fails on one rank
/// that succeeds on the others.
fn hangs(mpi: Mpi, program: &str, ranks: usize) -> bool {
    mpi == Mpi::OpenMpi && program == "file_access" && ranks > 1
}

#[test]
fn as_many_calls_are_recorded_as_strace_sees() {
    if !tests::strace::works() {
        return;
    }
    for mpi in installed() {
        for (name, ranks) in [("file_access", 1), ("file_access", 3), ("io", 1), ("io", 3)] {
            let program = Program::c(name).compile(mpi);
            if !hangs(mpi, name, ranks) {
                let (run, _data) = run(mpi, &program, ranks, true, "");
                let mut recorded: Vec<CallTally> =
                    operations(&run).iter().map(by_system_call).collect();
                let mut seen = under_strace(mpi, &program, ranks);
                recorded.sort();
                seen.sort();
                let calls: usize = seen
                    .iter()
                    .flat_map(BTreeMap::values)
                    .map(|&n| n as usize)
                    .sum();
                println!("{mpi:?}, {name}, {ranks} ranks: {calls} calls");
                assert_eq!(recorded, seen, "{mpi:?}, {name}, {ranks} ranks");
                assert!(calls > 50);
            }
        }
    }
}

#[test]
fn all_that_mpi_io_does_belongs_to_a_call() {
    for mpi in installed() {
        let name = if hangs(mpi, "file_access", 2) {
            "io"
        } else {
            "file_access"
        };
        let program = Program::c(name).compile(mpi);
        let (run, _data) = run(mpi, &program, 2, true, "");
        for files in operations(&run) {
            assert_eq!(files.lost, []);
            assert!(!files.done.is_empty());
            for done in &files.done {
                let call = files.calls.get(&done.call);
                let in_file = call.is_some_and(|name| name.starts_with("MPI_File_"));
                let deferred = done.operation.flags & blockfile::operation::DEFERRED != 0;
                assert!(
                    call.is_some() && in_file != deferred,
                    "{done:?} in {call:?}"
                );
            }
        }
    }
}

#[test]
fn signal_handlers_write_while_records_are_written() {
    for mpi in installed() {
        let program = Program::c("file_signals").compile(mpi);
        let (run, _data) = run(mpi, &program, 1, true, "posix all");
        let files = &operations(&run)[0];
        let numbers: Vec<u64> = run
            .finished
            .stdout
            .split_whitespace()
            .map(|n| n.parse().expect("a number"))
            .collect();
        let [handled, small, made] = numbers[..] else {
            panic!("{}", run.finished.story());
        };
        let count = |name: &str, file: &str| {
            files
                .done
                .iter()
                .filter(|d| d.name == name && d.file.ends_with(file))
                .count() as u64
        };
        assert_eq!(count("pwrite", "/own"), small);
        assert_eq!(count("pwrite", "signals.data"), made);
        let lost: u64 = files.lost.iter().map(|(n, _)| n).sum();
        println!(
            "{mpi:?}: {handled} signals, {small} and {made} writes; {lost} of the handler left out"
        );
        assert_eq!(count("write", "/log") + lost, handled);
        let at = files
            .done
            .iter()
            .filter(|d| d.name == "write" && d.file.ends_with("/log"));
        let offsets: Vec<i64> = at.map(|d| d.operation.offset).collect();
        let places: std::collections::BTreeSet<i64> = offsets.iter().copied().collect();
        assert!(places.len() == offsets.len() && places.last() < Some(&(4 * handled as i64)));
        assert!(offsets.iter().all(|at| at % 4 == 0));
        assert!(handled > 1000 && lost < handled / 3, "{handled} {lost}");
        let calls = files
            .calls
            .values()
            .filter(|name| *name == "MPI_File_write_at")
            .count();
        assert_eq!(calls as u64, made);
    }
}

#[test]
fn threads_that_never_call_mpi() {
    for mpi in installed() {
        let program = Program::c("file_workers").compile(mpi);
        let (run, data) = run(mpi, &program, 1, true, "posix all");
        let folder = format!("{}/", data.path().display());
        let files = &operations(&run)[0];
        // Of a descriptor that another thread has opened no name stands in the thread's own records.
        let counts = files.count(|d| d.file.starts_with(&folder) || d.file.is_empty());
        let recorded: Vec<String> = ["open", "write", "pread", "close"]
            .map(|name| format!("{name} {}", counts.get(name).unwrap_or(&0)))
            .into();
        let made: Vec<&str> = run.finished.stdout.lines().collect();
        assert_eq!(recorded, made, "{mpi:?}: {:?}", files.lost);
        assert_eq!(made[1], "write 1700");
        // Whose thread has ended leaves its line to the next; who uses no file has none.
        let threads = blocks::read(&run.files("blocks")[0]).threads;
        assert!((2..=1 + 3).contains(&threads), "{mpi:?}: {threads} threads");
    }
}

#[test]
fn children_leave_the_record_alone() {
    for mpi in installed() {
        let program = Program::c("file_children").compile(mpi);
        let old_kernel = Program::c("old_kernel").compile(mpi);
        for on in [None, Some(&*old_kernel)] {
            children_left_it_alone(run_on(on, mpi, &program, 1, true, "posix all"));
        }
    }
}

fn children_left_it_alone((run, _data): (TracedRun, TestFolder)) {
    let files = &operations(&run)[0];
    let made: usize = run.finished.stdout.trim().parse().expect("a number");
    assert_eq!(made, 401);
    // One is that of MPI_File_write_at.
    for (file, calls) in [("/own", made - 1), ("/children.data", 1)] {
        let is_it = |d: &&blocks::RecordedOperation| d.name == "pwrite" && d.file.ends_with(file);
        assert_eq!(files.done.iter().filter(is_it).count(), calls, "{file}");
    }
    let said = &run.finished.stderr;
    assert!(
        said.contains("trace: "),
        "the child of vfork has closed its standard error only: {said}"
    );
    let writes = files
        .done
        .iter()
        .filter(|d| d.name == "write" && d.file.ends_with("/own"));
    let offsets: Vec<i64> = writes.map(|d| d.operation.offset).collect();
    assert_eq!(offsets, [0, 16], "the child has moved the position");
    assert!(!files.files.iter().any(|f| f.path.ends_with("/child")));
}

#[test]
fn the_shared_table_tells_which_call_a_thread_is_in() {
    for mpi in installed() {
        let program = Program::c("tids").compile(mpi);
        let folder = TestFolder::new("tids");
        let mut bytes = blockfile::tids::TIDS_MAGIC.to_vec();
        bytes.resize(blockfile::tids::TIDS_SIZE, 0);
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let table = fs::File::from(memfd_create("tids", flags).expect("memory"));
        (&table).write_all(&bytes).expect("memory");
        fcntl_add_seals(&table, SealFlags::SHRINK).expect("no mapping that writes");
        let mut tracing = TraceSetup::new(mpi, 2);
        let name = format!("/proc/{}/fd/{}", std::process::id(), table.as_raw_fd());
        let variables = [("TRACE_TIDS", &*name)];
        tracing.variables = &variables;
        let run = tracing.run(&program, &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        let mut ranks = Vec::new();
        for line in run.finished.stdout.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [rank, reported, seen, after] = words[..] else {
                panic!("{line}");
            };
            let reported = u64::from_str_radix(reported, 16).expect("a CallID");
            assert_eq!(
                reported >> 40,
                rank.parse::<u64>().expect("a rank"),
                "{line}"
            );
            assert!(reported & 0xFF_FFFF_FFFF > 0, "{line}");
            assert_eq!(u64::from_str_radix(seen, 16), Ok(reported), "{line}");
            assert_eq!(after, "0", "{line}");
            ranks.push(rank);
        }
        ranks.sort();
        assert_eq!(ranks, ["0", "1"]);
        // A file that somebody could make shorter is left alone, and the program runs on.
        let other = folder.path().join("other");
        fs::write(&other, &bytes).expect("own folder");
        let name = other.display().to_string();
        let variables = [("TRACE_TIDS", &*name)];
        tracing.variables = &variables;
        let run = tracing.run(&Program::c("io").compile(mpi), &[]);
        assert!(run.finished.status.success(), "{}", run.finished.story());
        assert!(
            run.finished.stderr.contains("TRACE_TIDS"),
            "{}",
            run.finished.story()
        );
        assert_eq!(fs::read(&other).ok(), Some(bytes));
    }
}
