//! Linking with `-ltrace` in place of the preload, as shared library and as archive.

use std::time::Duration;
use tests::{Folder, Mpi, Run, process, trace::Tracing};

/// Compiles a program with these linker arguments in front of MPI's own and runs it with 2 ranks, nothing preloaded.
fn linked(mpi: Mpi, source: &str, how: &[String]) -> Run {
    let folder = Folder::new("linking");
    let program = folder.path().join("program");
    let sources = tests::root().join("tests/programs");
    // compiling p2p once leaves the tally header where it is looked for
    let header = tests::Program::c("groups").compile(mpi);
    let mut compiler = mpi.mpicc();
    compiler
        .args(["-O1", "-w", "-I"])
        .arg(header.parent().expect("a folder"))
        .arg("-I")
        .arg(&sources)
        .arg(sources.join(source))
        .args(how)
        .arg("-o")
        .arg(&program);
    process::run(&mut compiler, Duration::from_secs(60)).succeeded();
    let mut tracing = Tracing::new(mpi, 2);
    tracing.preload = false;
    tracing.run(&program, &[])
}

fn check(run: &Run) {
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n");
    assert_eq!(run.counted(), run.made());
    assert_eq!(run.files("bin").len(), 2);
    run.file("slog2");
}

#[test]
fn shared() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let library = mpi.library();
        let folder = library.parent().expect("a folder").display();
        let how = [
            format!("-L{folder}"),
            "-ltrace".into(),
            format!("-Wl,-rpath,{folder}"),
        ];
        for source in ["p2p.c", "collectives.c"] {
            check(&linked(mpi, source, &how));
        }
    }
}

#[test]
fn archive() {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let archive = mpi.library().with_extension("a");
        let how = [
            archive.display().to_string(),
            "-lpthread".into(),
            "-ldl".into(),
            "-lm".into(),
        ];
        check(&linked(mpi, "p2p.c", &how));
    }
}
