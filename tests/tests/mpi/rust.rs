//! A Rust program on the crates `mpi` and `mpi-sys`: the calls that its source makes are those in the trace.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;
use tests::trace::TraceSetup;
use tests::{Mpi, matrix, process};

/// Calls of one rank of `tests/programs/rust`: what its source makes, and rsmpi itself, which asks for the size whenever it
/// is given a rank.
const CALLS: &[(&str, u64)] = &[
    ("MPI_Init_thread", 1),
    ("MPI_Initialized", 1),
    ("MPI_Comm_get_parent", 1),
    ("MPI_Comm_rank", 1),
    ("MPI_Comm_size", 1 + 10),
    ("MPI_Send", 5),
    ("MPI_Recv", 5),
    ("MPI_Allreduce", 1),
    ("MPI_Barrier", 3),
    ("MPI_Finalize", 1),
];

fn traced(mpi: Mpi) {
    if !mpi.installed() {
        return;
    }
    let target = tests::target().join(format!("rust-{}", mpi.suffix()));
    let mut build = Command::new(env!("CARGO"));
    build
        .args(["build", "--quiet", "--locked", "--target-dir"])
        .arg(&target)
        .current_dir(tests::root().join("tests/programs/rust"))
        .env("MPICC", mpi.mpicc().get_program());
    process::run(&mut build, Duration::from_secs(600)).succeeded();
    let run = TraceSetup::new(mpi, 2).run(&target.join("debug/rust"), &[]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout.trim(), "ok", "{}", run.finished.story());
    let expected: BTreeMap<String, u64> = (CALLS.iter())
        .map(|&(name, count)| (name.to_owned(), count))
        .collect();
    let counted = run.counted();
    assert_eq!(counted.len(), 2, "{}", run.finished.story());
    let mut seen = 0;
    for (rank, counts) in counted {
        seen += counts.values().sum::<u64>();
        assert_eq!(counts, expected, "{mpi:?}, rank {rank}");
    }
    matrix::seen(
        "Rust: rsmpi and mpi-sys",
        mpi,
        seen,
        2 * expected.values().sum::<u64>(),
    );
}

#[test]
fn openmpi() {
    traced(Mpi::OpenMpi);
}

/// Compiles the bindings once more, which takes a minute.
#[test]
#[ignore = "takes a minute"]
fn mpich() {
    traced(Mpi::Mpich);
}
