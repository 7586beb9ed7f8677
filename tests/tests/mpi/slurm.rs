//! Jobs of a real Slurm: every way to start ranks in it, arrays, and jobs that are cancelled.

use std::fs;
use std::path::Path;
use tests::slurm::Slurm;
use tests::trace::LIMIT;
use tests::{Mpi, Program, TestFolder, process};

/// Calls of `alike` in each rank: MPI_Init, MPI_Comm_rank, 20 of MPI_Barrier, and MPI_Finalize.
const CALLS: usize = 23;

/// The MPIs that srun can start here, with the name of the protocol between both.
fn startable() -> impl Iterator<Item = (Mpi, &'static str)> {
    let all = [(Mpi::OpenMpi, "pmix"), (Mpi::Mpich5, "pmi2")];
    all.into_iter().filter(|(mpi, _)| mpi.installed())
}

/// Variables of the script that has these ranks traced into a folder.
fn settings(mpi: Mpi, trace: &Path) -> String {
    let mut probe = std::process::Command::new("true");
    mpi.environment(&mut probe);
    let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
    let variables = probe.get_envs();
    let variables = variables.filter_map(|(name, value)| Some((text(name), text(value?))));
    let mut script: String = variables
        .map(|(n, v)| format!("export {n}='{v}'\n"))
        .collect();
    script += &format!("export TRACE_DIR='{}' TRACE_OUTPUTS=all\n", trace.display());
    script
}

fn names(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    names
}

#[test]
fn ranks_of_srun_are_traced_in_every_way_to_start_them() {
    let folder = TestFolder::new("slurm-srun");
    let Some(slurm) = Slurm::start(&folder) else {
        return;
    };
    for (mpi, protocol) in startable() {
        let program = Program::c("alike").compile(mpi);
        let (program, mpitrace) = (program.display(), tests::mpitrace());
        let (mpitrace, recorder) = (mpitrace.display(), tests::recorder());
        let recorder = recorder.display();
        let srun = format!("srun -n 2 --mpi={protocol}");
        let multi = folder.path().join("multi.conf");
        fs::write(&multi, format!("0-1 {program}\n")).expect("own folder");
        for (way, command) in [
            ("run", format!("{mpitrace} run -- {srun} {program}")),
            (
                "export",
                format!("{srun} --export=ALL,LD_PRELOAD={recorder} {program}"),
            ),
            (
                "multi",
                format!("{mpitrace} run -- {srun} --multi-prog {}", multi.display()),
            ),
        ] {
            let place = folder.path().join(format!("{}-{way}", mpi.suffix()));
            fs::create_dir(&place).expect("own folder");
            let script = settings(mpi, &place) + &command;
            let job = slurm.submit(&place, &["--ntasks=2"], &script);
            job.wait();
            let story = format!("{mpi:?} {way}\n{}", job.story());
            let expected = format!("trace: 2 ranks, {} calls, 0 lost -> ", 2 * CALLS);
            assert_eq!(job.said().matches(&expected).count(), 1, "{story}");
            assert_eq!(names(&place, ".bin").len(), 2, "{story}");
            assert_eq!(names(&place, ".slog2"), ["alike.slog2"], "{story}");
        }
    }
}

#[test]
fn tasks_of_an_array_write_files_of_their_own() {
    let folder = TestFolder::new("slurm-array");
    let Some(slurm) = Slurm::start(&folder) else {
        return;
    };
    for (mpi, protocol) in startable() {
        let place = folder.path().join(mpi.suffix());
        fs::create_dir(&place).expect("own folder");
        let script = format!(
            "{}export TRACE_OUTPUT=%p-%a TRACE_OUTPUTS=slog2,dumpi\n{} run -- srun -n 2 --mpi={protocol} {}",
            settings(mpi, &place),
            tests::mpitrace().display(),
            Program::c("alike").compile(mpi).display()
        );
        let job = slurm.submit(&place, &["--ntasks=2", "--array=1-3"], &script);
        job.wait();
        let story = job.story();
        let expected = ["alike-1.slog2", "alike-2.slog2", "alike-3.slog2"];
        assert_eq!(names(&place, ".slog2"), expected, "{story}");
        // The metafiles of jobs that began in the same second do not meet.
        assert_eq!(names(&place, ".meta").len(), 3, "{story}");
        assert_eq!(names(&place, ".bin").len(), 6, "{story}");
    }
}

/// Slurm sends SIGTERM, and SIGKILL some seconds later, as it does at the time limit. The job's own /tmp goes with it.
#[test]
fn a_cancelled_job_keeps_its_calls() {
    let folder = TestFolder::new("slurm-cancel");
    let Some(slurm) = Slurm::start(&folder) else {
        return;
    };
    for (mpi, protocol) in startable() {
        let place = folder.path().join(mpi.suffix());
        fs::create_dir(&place).expect("own folder");
        let program = Program::c("waits_for_ever").compile(mpi);
        let script = format!(
            "{}srun -n 2 --mpi={protocol} --export=ALL,LD_PRELOAD={} {}",
            settings(mpi, &place),
            tests::recorder().display(),
            program.display()
        );
        let job = slurm.submit(&place, &["--ntasks=2"], &script);
        job.wait_until("both ranks wait", || names(&place, ".waits").len() == 2);
        job.cancel();
        job.wait();
        let said = job.said();
        assert!(
            said.contains("mpitrace recover"),
            "where block files are was not told: {said}"
        );
        assert_eq!(names(&place, ".blocks").len(), 2, "{said}");
        let mut recover = std::process::Command::new(tests::mpitrace());
        recover.current_dir(&place).args(["recover", "."]);
        let recovered = process::run(&mut recover, LIMIT).succeeded();
        // MPI_Init, MPI_Comm_rank and MPI_Barrier; MPI_Recv is the call in which each rank was.
        for rank in [0, 1] {
            let line = format!("  rank {rank}: 3 calls, died in MPI_Recv\n");
            assert!(recovered.stdout.contains(&line), "{}", recovered.story());
        }
    }
}
