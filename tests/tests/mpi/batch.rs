//! What batch systems do to a run: a temporary folder that goes with the job, jobs of an array, hosts that share no folder, and many
//! ranks that end alike.

use std::fs;
use std::path::Path;
use std::process::Command;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, process};

fn installed() -> impl Iterator<Item = Mpi> {
    Mpi::ALL.into_iter().filter(|mpi| mpi.installed())
}

fn with_ending(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("own folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    names
}

/// A run under a batch job, as Slurm has it, with a TMPDIR of the job's own in `folder`.
fn in_job(mpi: Mpi, ranks: usize, folder: &TestFolder, how: &str) -> process::FinishedCommand {
    let temporary = folder.path().join("job.77");
    fs::create_dir_all(&temporary).expect("own folder");
    let program = Program::c("alike").compile(mpi);
    let mut command = mpi.mpiexec(ranks);
    TraceSetup::new(mpi, ranks).settings(&mut command, folder);
    command
        .env_remove("TRACE_TMPDIR")
        .env("SLURM_JOB_ID", "77")
        .env("SLURM_ARRAY_TASK_ID", "5")
        .env("TMPDIR", &temporary)
        .env("TRACE_OUTPUT", "run-%a-%t")
        .arg("env")
        .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
        .arg(program)
        .arg(how);
    process::run(&mut command, LIMIT)
}

fn ours(finished: &process::FinishedCommand) -> Vec<&str> {
    let lines = finished.stderr.lines();
    lines.filter(|line| line.starts_with("trace: ")).collect()
}

#[test]
fn a_killed_job_keeps_its_calls_although_its_temporary_folder_goes() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-job", mpi.suffix()));
        let finished = in_job(mpi, 2, &folder, "kill");
        let lines = ours(&finished);
        assert_eq!(lines.len(), 1, "{}", finished.story());
        let trace = folder.path().join("trace");
        let advice = format!("mpitrace recover {}", trace.display());
        assert!(
            lines[0].contains(&advice) && lines[0].contains("end of job 77"),
            "{}",
            finished.story()
        );
        let temporary = folder.path().join("job.77");
        assert!(with_ending(&temporary, ".blocks").is_empty());
        fs::remove_dir_all(&temporary).expect("own folder");
        let mut recover = Command::new(tests::mpitrace());
        recover
            .arg("recover")
            .arg("--dir")
            .arg(folder.path())
            .arg(&trace);
        process::run(&mut recover, LIMIT).succeeded();
        assert_eq!(with_ending(folder.path(), ".slog2").len(), 1);
        assert_eq!(with_ending(folder.path(), ".bin").len(), 2);
        // The same folder is looked into when none is named.
        let mut recover = Command::new(tests::mpitrace());
        let reported = process::run(
            recover
                .args(["recover", "--count"])
                .current_dir(&trace)
                .env("TRACE_TMPDIR", folder.path()),
            LIMIT,
        );
        assert_eq!(reported.succeeded().stdout.lines().count(), 2);
    }
}

#[test]
fn a_job_that_ends_well_leaves_no_block_files_and_names_the_task_of_its_array() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-array", mpi.suffix()));
        let finished = in_job(mpi, 2, &folder, "well").succeeded();
        let trace = folder.path().join("trace");
        assert_eq!(with_ending(&trace, ".slog2"), ["run-5-0.slog2"]);
        assert!(with_ending(&trace, ".blocks").is_empty());
        assert_eq!(ours(&finished).len(), 2, "{}", finished.story());
    }
}

#[test]
fn a_folder_that_was_ordered_is_used_and_its_end_is_said() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-ordered", mpi.suffix()));
        let temporary = folder.path().join("77");
        fs::create_dir_all(&temporary).expect("own folder");
        let mut command = mpi.mpiexec(2);
        TraceSetup::new(mpi, 2).settings(&mut command, &folder);
        command
            .env("PBS_JOBID", "77.head")
            .env("TRACE_TMPDIR", &temporary)
            .arg("env")
            .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
            .arg(Program::c("alike").compile(mpi))
            .arg("kill");
        let finished = process::run(&mut command, LIMIT);
        assert_eq!(with_ending(&temporary, ".blocks").len(), 2);
        let lines = ours(&finished);
        assert!(
            lines.len() == 1 && lines[0].contains("set TRACE_TMPDIR to a folder that stays"),
            "{}",
            finished.story()
        );
    }
}

#[test]
fn many_ranks_that_end_alike_take_one_line_with_the_host() {
    for mpi in installed() {
        for (how, what) in [
            ("exit", "exits without MPI_Finalize"),
            ("abort", "MPI_Abort of rank"),
        ] {
            let folder = TestFolder::new(&format!("{}-alike", mpi.suffix()));
            let mut command = mpi.mpiexec(4);
            TraceSetup::new(mpi, 4).settings(&mut command, &folder);
            // Into a file: a launcher may lose what a rank says just before MPI_Abort, of MPICH itself, too.
            let reported = folder.path().join("told");
            command
                .args(["sh", "-c", "exec \"$@\" 2>>\"$0\""])
                .arg(&reported)
                .arg("env")
                .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
                .arg(Program::c("alike").compile(mpi))
                .arg(how);
            let finished = process::run(&mut command, LIMIT);
            let reported = fs::read_to_string(&reported).expect("the file that the ranks write to");
            let lines: Vec<&str> = reported
                .lines()
                .filter(|line| line.starts_with("trace: "))
                .collect();
            let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux");
            assert!(
                lines.len() == 1
                    && lines[0].contains(what)
                    && lines[0].contains(&format!(" on {}", host.trim())),
                "{mpi:?} {how}: {}\n{reported}",
                finished.story()
            );
        }
    }
}

/// A rank that sees another folder under the name of the output folder, as on a host with which it is not shared.
#[test]
fn files_that_rank_0_does_not_see_are_not_counted() {
    let mpi = Mpi::Mpich;
    let mut may = Command::new("unshare");
    may.args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]);
    if !mpi.installed() || !may.status().is_ok_and(|status| status.success()) {
        return tests::skip("no folder of its own for a process: not root");
    }
    let folder = TestFolder::new("unshared");
    let out = folder.path().join("trace");
    let program = Program::c("alike").compile(mpi);
    let own = format!(
        "mount -t tmpfs none '{}'; exec env LD_PRELOAD={} '{}' well",
        out.display(),
        tests::recorder().display(),
        program.display()
    );
    let mut command = mpi.mpiexec(1);
    TraceSetup::new(mpi, 2).settings(&mut command, &folder);
    command
        .env("TRACE_TMPDIR", folder.path())
        .env("TRACE_OUTPUTS", "all,otf2")
        .arg("env")
        .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
        .arg(&program)
        .args(["well", ":", "-n", "1", "unshare", "-m", "sh", "-c", &own]);
    let finished = process::run(&mut command, LIMIT).succeeded();
    let lines = ours(&finished);
    assert!(
        lines[0].contains(".meta + 1 .bin") && lines[1].contains("1 .bin file is not in"),
        "{}",
        finished.story()
    );
    assert_eq!(with_ending(&out, ".bin").len(), 1);
    // Nor can the ranks write the OTF2 archive together.
    let why = "is not here: the folder of the trace is not shared";
    let is_said = lines.iter().any(|line| {
        line.contains("rank 0 alone has written the OTF2 archive: ") && line.contains(why)
    });
    let archives = with_ending(&out, ".otf2").len();
    assert_eq!(archives, usize::from(is_said), "{}", finished.story());
    if archives == 0 {
        tests::skip("the OTF2 library is not installed");
    }
}
