//! Running a command to its end: output caught, a time limit that ends all its processes, folders that are removed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
pub use test_support::limit_here;

/// Output and end of a command.
#[derive(Debug)]
pub struct FinishedCommand {
    /// Exit status of the command.
    pub status: ExitStatus,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Wall clock time it took.
    pub took: Duration,
    /// The command, for messages.
    pub command: String,
}

impl FinishedCommand {
    /// Fails the test with everything the command printed unless it succeeded.
    #[track_caller]
    pub fn succeeded(self) -> FinishedCommand {
        assert!(self.status.success(), "{}", self.story());
        self
    }

    /// Command, status and output in readable form.
    pub fn story(&self) -> String {
        let tail = |text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(60)..].join("\n")
        };
        format!(
            "{}\n{} after {:.2?}\n--- standard output\n{}\n--- standard error\n{}",
            self.command,
            self.status,
            self.took,
            tail(&self.stdout),
            tail(&self.stderr)
        )
    }
}

/// A command that did not come to its end.
#[derive(Debug)]
pub struct Hung {
    /// Output and end of the killed command.
    pub finished: FinishedCommand,
    /// Stacks of all threads of it and of the processes below it, before it was killed; says so where there is no gdb.
    pub stacks: String,
}

/// Runs a command to its end. After `limit`, or several times that ([`limit_here`]), all its processes are killed and the test
/// fails, with the stacks of what hung.
#[track_caller]
pub fn run(command: &mut Command, limit: Duration) -> FinishedCommand {
    run_within(command, limit).unwrap_or_else(|hung| {
        panic!(
            "not finished: {}\n--- stacks\n{}",
            hung.finished.story(),
            hung.stacks
        )
    })
}

/// Runs a command to its end, which is that of its output, too: a process that it leaves behind with its output open hangs.
/// After `limit`, or several times that ([`limit_here`]), all its processes are killed.
///
/// # Errors
/// If processes were killed at `limit`: what they had printed, and where they stood.
#[track_caller]
pub fn run_within(command: &mut Command, limit: Duration) -> Result<FinishedCommand, Box<Hung>> {
    let limit = limit_here(limit);
    let text = describe(command);
    let mark = new_mark();
    let start = Instant::now();
    let mut child = command
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0) // a signal for the group of the tests is not for it
        .spawn()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    command.env_remove(MARK);
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let pid = child.id();
    let mut has_ended = || {
        child.try_wait().expect("own child").is_some()
            && stdout.is_finished()
            && stderr.is_finished()
    };
    let mut stacks_at_limit = None;
    while !has_ended() {
        if start.elapsed() > limit {
            stacks_at_limit = Some(stacks(processes(&mark, pid)));
            kill(&mark, pid, has_ended);
            break;
        }
        thread::sleep(Duration::from_millis(2));
    }
    let finished = FinishedCommand {
        status: child.wait().expect("own child"),
        stdout: stdout.join().expect("reader of standard output"),
        stderr: stderr.join().expect("reader of standard error"),
        took: start.elapsed(),
        command: text,
    };
    match stacks_at_limit {
        Some(stacks) => Err(Box::new(Hung { finished, stacks })),
        None => Ok(finished),
    }
}

/// Variable by whose value all processes of one command are known. Launchers give ranks groups and sessions of their own, and who
/// loses its parent is no descendant any more.
const MARK: &str = "LIBTRACE_TESTED_COMMAND";

/// A value of [`MARK`] that no other command has.
fn new_mark() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// The processes that belong to a command: those with its mark, it and those below it.
fn processes(mark: &str, command: u32) -> BTreeSet<u32> {
    let marked = format!("{MARK}={mark}").into_bytes();
    let has_mark = |pid: &u32| {
        let variables = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|one| one == marked)
    };
    let mut processes: BTreeSet<u32> = pids().filter(has_mark).collect();
    // Its number is another's once it has been asked for its end.
    if descendants(std::process::id()).contains(&command) {
        processes.extend(descendants(command));
    }
    processes
}

/// Kills the processes that belong to a command, and those that they start meanwhile, until it has ended.
fn kill(mark: &str, command: u32, mut has_ended: impl FnMut() -> bool) {
    const PATIENCE: Duration = Duration::from_secs(30);
    let begun = Instant::now();
    while !has_ended() {
        let left = processes(mark, command);
        assert!(begun.elapsed() < PATIENCE, "not to be killed: {left:?}");
        let pids = left.iter().map(u32::to_string);
        let _ = Command::new("kill").arg("-KILL").args(pids).output();
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a command whose program starts processes by MPI_Comm_spawn. `None` if Open MPI hung in it by itself, which is said as a
/// test that cannot run here.
///
/// With PMIx 4, which Debian's Open MPI 4.1 uses, a started process now and then never gets the answer to its first question
/// to mpirun and stays in PMIx_Init (openpmix issue 2735): without a recorder in 1 of 100 starts of one process and in 1 of 10 of
/// two, on a machine of two cores with two busy loops. Such a process has not come into MPI yet.
#[track_caller]
pub fn run_starting(command: &mut Command) -> Option<FinishedCommand> {
    const LIMIT: Duration = Duration::from_secs(100);
    match run_within(command, LIMIT) {
        Ok(finished) => Some(finished),
        Err(hung) if hung.stacks.contains(" PMIx_Init ") => {
            test_support::skip("a process that MPI_Comm_spawn started hung in PMIx_Init");
            None
        }
        Err(hung) => panic!(
            "not finished: {}\n--- stacks\n{}",
            hung.finished.story(),
            hung.stacks
        ),
    }
}

/// All processes of this machine.
fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// A process and all processes below it.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let of = |pid: u32| -> Option<(u32, u32)> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?;
        Some((pid, parent.parse().ok()?))
    };
    let parents: Vec<(u32, u32)> = pids().filter_map(of).collect();
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        found.extend(parents.iter().filter(|of| of.1 == parent).map(|of| of.0));
        next += 1;
    }
    found
}

/// Stacks of all threads of these processes, as gdb tells them.
pub fn stacks(pids: impl IntoIterator<Item = u32>) -> String {
    let mut text = String::new();
    for pid in pids {
        let mut gdb = Command::new("timeout");
        gdb.args(["60", "gdb", "-batch", "-p", &pid.to_string(), "-ex"]);
        gdb.arg("thread apply all bt 40").stdin(Stdio::null());
        let reported = match gdb.output() {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(error) => return format!("gdb: {error}"),
        };
        let frames = reported
            .lines()
            .filter(|line| line.starts_with('#') || line.starts_with("Thread "));
        text += &format!("process {pid}\n");
        frames.for_each(|line| text += &format!("{line}\n"));
    }
    text
}

/// Reads a pipe to its end in a thread of its own, so that no program stalls on a full pipe.
fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    let mut pipe = pipe.expect("piped above");
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn describe(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(key, value)| Some(format!("{}={}", key.to_str()?, value?.to_str()?)))
        .collect();
    words.push(command.get_program().to_string_lossy().into_owned());
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}

/// Whether the process was ended by this signal.
pub fn killed_by(status: ExitStatus, signal: i32) -> bool {
    status.signal() == Some(signal)
}

/// An empty folder of its own for one run. It is removed when the test succeeds and kept when it fails.
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// Creates `target/tests-runs/<name>-<number>`.
    pub fn new(name: &str) -> TestFolder {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = crate::paths::target()
            .join("tests-runs")
            .join(format!("{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder below target/");
        TestFolder(path)
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The names of the files in it, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.0)
            .expect("own folder")
            .map(|entry| {
                entry
                    .expect("own folder")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("left for inspection: {}", self.0.display());
        } else {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process in a session of its own, which its parent leaves behind with the output open.
    #[test]
    fn what_holds_the_output_hangs_and_is_killed() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo started; setsid sleep 1000 & exit 0"]);
        let hung = run_within(&mut shell, Duration::from_secs(2)).expect_err("it hangs");
        assert_eq!(hung.finished.stdout, "started\n");
        assert!(hung.finished.took < Duration::from_secs(100), "{hung:?}");
        let processes = hung.stacks.matches("process ").count();
        assert_eq!(processes, 1, "{hung:?}");
    }

    #[test]
    fn what_ends_is_not_waited_for() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo all; echo is well >&2; exit 3"]);
        let ended = run_within(&mut shell, Duration::from_secs(100)).expect("it ends");
        assert_eq!(
            (ended.stdout.as_str(), ended.stderr.as_str()),
            ("all\n", "is well\n")
        );
        assert_eq!(ended.status.code(), Some(3));
    }
}
