//! `mpitrace recover` on what real programs leave that die by SIGKILL. The truth is what the program itself counted in
//! shared memory up to that moment.
//!
//! Needs the recorder (`ci/build tested`) and that MPI; says so and passes where they are not there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use test_support::patience;

/// An MPI implementation.
struct Mpi {
    name: &'static str,
    launcher: &'static str,
    library: PathBuf,
}

/// Those for which there are compiler, launcher and recorder.
fn installed() -> Vec<Mpi> {
    let all = [("mpich", "mpiexec.mpich"), ("openmpi", "mpirun.openmpi")];
    let found = all.into_iter().filter_map(|(name, launcher)| {
        let library = test_support::recorder(name)?;
        Some(Mpi {
            name,
            launcher,
            library,
        })
    });
    found.collect()
}

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("mpitrace-killed-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Runs the program on two ranks with the recorder, in `folder`, until it is dead.
fn run_until_killed(mpi: &Mpi, folder: &Path, arguments: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/counting.c");
    let compiled = Command::new(format!("mpicc.{}", mpi.name))
        .args(["-O1", "-pthread", "-o", "counting"])
        .arg(source)
        .current_dir(folder)
        .status();
    assert!(compiled.unwrap().success());
    let mut launched = Command::new(mpi.launcher)
        .args(["-n", "2", "env"])
        .arg(format!("LD_PRELOAD={}", mpi.library.display()))
        .arg("./counting")
        .args(arguments)
        .current_dir(folder)
        .env("TRACE_TMPDIR", folder)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = launched.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > patience() {
            launched.kill().unwrap();
            panic!("{}: the launcher does not end", mpi.name);
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(!status.success(), "the program was to be killed");
}

/// Calls begun and done on a rank, over all its threads.
fn truth(folder: &Path, rank: usize) -> (u64, u64) {
    let bytes = fs::read(folder.join(format!("{rank}.counts"))).unwrap();
    let word = |b: &[u8]| u64::from_ne_bytes(b.try_into().unwrap());
    bytes.chunks_exact(64).fold((0, 0), |(begun, done), c| {
        (begun + word(&c[..8]), done + word(&c[8..16]))
    })
}

#[track_caller]
fn mpitrace(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success(), "{arguments:?}: {out}{err}");
    out
}

/// The number after the rank, and the functions.
fn counted(text: &str) -> BTreeMap<usize, (u64, BTreeMap<String, u64>)> {
    let line = |line: &str| {
        let mut words = line.split(' ');
        let rank = words.next().unwrap().parse().unwrap();
        let total = words.next().unwrap().parse().unwrap();
        let functions = words.map(|word| {
            let (name, count) = word.split_once('=').unwrap();
            (name.to_owned(), count.parse().unwrap())
        });
        (rank, (total, functions.collect()))
    };
    text.lines().map(line).collect()
}

fn check(mpi: &Mpi, threads: usize) {
    let folder = Folder::new(&format!("{}-{threads}", mpi.name));
    let folder = folder.0.as_path();
    run_until_killed(mpi, folder, &[&threads.to_string(), "6000"]);
    let all = counted(&mpitrace(folder, &["recover", "--count", "."]));
    assert_eq!(all.len(), 2, "{}: ranks", mpi.name);
    let printed = mpitrace(
        folder,
        &[
            "recover",
            "--formats=dumpi,clog2,slog2",
            "--dir",
            "out",
            "--output",
            "killed",
            ".",
        ],
    );
    assert!(!printed.contains("no block file"), "{printed}");
    for (rank, (total, functions)) in &all {
        let (begun, done) = truth(folder, *rank);
        // The progress of the other one before it was killed, too, is up to the launcher.
        assert!(begun > if *rank == 1 { 12_000 } else { 0 });
        assert!(begun - done <= threads as u64, "{begun} begun, {done} done");
        assert!(
            (done..=begun).contains(total),
            "{} rank {rank}: {done} done, {begun} begun, {total} recovered",
            mpi.name
        );
        assert!(
            printed.contains(&format!("rank {rank}: {total} calls, died ")),
            "{printed}"
        );
        assert_eq!(functions["MPI_Init_thread"], 1);
        // Every call of the rank is in its DUMPI file, each function as often as in the block file.
        let dumpi = fs::read_dir(folder.join("out")).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            name.ends_with(&format!("-{rank:04}.bin")).then_some(name)
        });
        let text = mpitrace(folder, &["print", &dumpi.unwrap()]);
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for line in text.lines() {
            if let Some((function, _)) = line.split_once(" entering at ") {
                *calls.entry(function.to_owned()).or_default() += 1;
            }
        }
        // Threads that were in a call when the rank was killed: it is there without its end. An annotation has both, and says that the rank was.
        let [entered, left] = ["Function_enter", "Function_exit"].map(|name| calls.remove(name));
        assert_eq!(left, Some(1));
        assert!((1..=1 + threads as u64).contains(&entered.unwrap_or_default()));
        assert_eq!(&calls, functions, "{} rank {rank}", mpi.name);
    }
    // A message to itself for each completed MPI_Sendrecv, and the states of both ranks.
    let clog2 = mpitrace(folder, &["print", "out/killed.clog2"]);
    let sends = clog2
        .lines()
        .filter(|line| line.contains(" et=send "))
        .count();
    let exchanges: u64 = all
        .values()
        .filter_map(|(_, f)| f.get("MPI_Sendrecv"))
        .sum();
    let open = printed.matches("MPI_Sendrecv").count() as u64;
    let sends = sends as u64;
    assert!(
        (exchanges..=exchanges + open).contains(&sends),
        "{sends} of {exchanges}"
    );
    let report = mpitrace(folder, &["report", "out/killed.slog2"]);
    let told = "None of the 2 ranks in the trace reached MPI_Finalize.";
    assert!(report.contains(told), "{report}");
    // Nothing is left when all of it came into a trace.
    mpitrace(folder, &["recover", "--remove", "--dir", "again", "."]);
    let left = fs::read_dir(folder).unwrap();
    let is_block = |name: &Path| name.extension().is_some_and(|e| e == "blocks");
    assert!(
        !left
            .map(|entry| entry.unwrap().path())
            .any(|path| is_block(&path))
    );
}

#[test]
fn all_calls_of_killed_ranks_are_recovered() {
    for mpi in installed() {
        check(&mpi, 1);
    }
}

#[test]
fn all_calls_of_killed_ranks_with_threads_are_recovered() {
    for mpi in installed() {
        check(&mpi, 3);
    }
}
