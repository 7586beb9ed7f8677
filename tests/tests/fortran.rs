//! Fortran through each of its three bindings: every call is recorded once, under its C name, whichever way the binding
//! takes into the library, and the sentinels arrive.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tests::tally::is_conversion;
use tests::trace::Tracing;
use tests::{Mpi, compile};

/// How many times one rank of `fortran.F90` calls each procedure.
const CALLS: [(&str, u64); 19] = [
    ("MPI_Init", 1),
    ("MPI_Comm_rank", 1),
    ("MPI_Comm_size", 1),
    ("MPI_Irecv", 3 + 2 + 2),
    ("MPI_Send", 3),
    ("MPI_Isend", 2 + 2),
    ("MPI_Wait", 3),
    ("MPI_Get_count", 1),
    ("MPI_Waitall", 2),
    ("MPI_Testall", 1),
    ("MPI_Sendrecv", 2),
    ("MPI_Allreduce", 2),
    ("MPI_Bcast", 1),
    ("MPI_Barrier", 1),
    ("MPI_Comm_split", 1),
    ("MPI_Comm_free", 1),
    ("MPI_Type_vector", 1),
    ("MPI_Type_commit", 1),
    ("MPI_Type_free", 1),
];

fn program(mpi: Mpi, binding: u8) -> PathBuf {
    let source = tests::root().join("tests/programs/fortran.F90");
    let folder = tests::target().join("tests-programs").join(mpi.suffix());
    std::fs::create_dir_all(&folder).expect("a folder below target/");
    let executable = folder.join(format!("fortran-{binding}"));
    let mut command = mpi.mpifort();
    command
        .args([
            "-O1",
            "-g",
            "-ffree-line-length-none",
            "-fallow-argument-mismatch",
        ])
        .arg(format!("-DBINDING={binding}"))
        .arg("-J")
        .arg(&folder)
        .arg(&source);
    compile::build(command, &executable, &[source], false);
    executable
}

fn binding(number: u8) {
    for mpi in Mpi::ALL {
        if !mpi.installed() {
            continue;
        }
        let executable = program(mpi, number);
        for ranks in [1, 2, 3] {
            let run = Tracing::new(mpi, ranks).run(&executable, &[]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            assert_eq!(run.finished.stdout.trim(), "ok", "{}", run.finished.story());
            let mut expected: BTreeMap<String, u64> = CALLS
                .iter()
                .map(|&(name, count)| (name.into(), count))
                .collect();
            expected.insert("MPI_Iprobe".into(), 1);
            expected.insert("MPI_Finalize".into(), 1);
            let counted = run.counted();
            assert_eq!(counted.len(), ranks);
            for (rank, counts) in counted {
                let counts: BTreeMap<String, u64> = counts
                    .into_iter()
                    .filter(|(name, _)| !is_conversion(name))
                    .collect();
                assert_eq!(counts, expected, "{mpi:?}, rank {rank} of {ranks}");
            }
            for (rank, counts) in run.in_dumpi() {
                assert_eq!(
                    counts.get("MPI_Sendrecv"),
                    Some(&2),
                    "{mpi:?}, rank {rank} of {ranks}"
                );
                assert_eq!(
                    counts.get("MPI_Waitall"),
                    Some(&2),
                    "{mpi:?}, rank {rank} of {ranks}"
                );
            }
        }
    }
}

#[test]
fn mpif_h() {
    binding(1);
}

#[test]
fn use_mpi() {
    binding(2);
}

#[test]
fn use_mpi_f08() {
    binding(3);
}
