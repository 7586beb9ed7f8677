//! What a program has set up for itself: floating-point traps and flags, a limit of file sizes.

use tests::trace::TraceSetup;
use tests::{Mpi, Program, TracedRun};

fn run(mpi: Mpi, arguments: &[&str]) -> TracedRun {
    let program = Program::c("own_state").compile(mpi);
    let run = TraceSetup::new(mpi, 2).run(&program, arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
    run
}

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

#[test]
fn floating_point_traps_and_flags_stay_as_they_are() {
    for mpi in installed() {
        let run = run(mpi, &[]);
        assert!(run.closing_numbers().0 > 40_000);
        assert_eq!(run.files("slog2").len(), 1, "{}", run.finished.story());
    }
}

#[test]
fn files_beyond_the_limit_are_reported_and_the_program_goes_on() {
    for mpi in installed() {
        let run = run(mpi, &["1000000"]);
        assert!(
            run.finished.stderr.contains("File too large"),
            "{}",
            run.finished.story()
        );
        assert_eq!(run.files("clog2").len(), 0);
        assert_eq!(run.files("blocks").len(), 2, "{}", run.finished.story());
    }
}
