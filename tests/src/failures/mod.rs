//! Runs that end badly, and what is left of them. The truth is what `tests/programs/ends.c` counts in mapped files of its own:
//! for each thread and function, how many calls have begun and how many have returned. What `mpitrace recover` makes of the
//! block files must lie between, function by function: a call that had returned is there, once.

mod judge;
mod ways;

pub use judge::RunOutcome;
pub use ways::{EndKind, WAYS};

use crate::process::{self, TestFolder};
use crate::trace::TraceSetup;
use crate::{Mpi, Program};
use judge::{ProgramCounts, judge, truths};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use ways::{EndTime, Victim};

/// Numbers without pattern (splitmix64).
pub struct RandomNumbers(pub u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Between these, short times as often as long ones: µs.
    fn moment(&mut self, least: f64, most: f64) -> u64 {
        let x = self.next() as f64 / u64::MAX as f64;
        (least * (most / least).powf(x)) as u64
    }
}

/// The letter of the state of a process in /proc, if it is there.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.trim().chars().next()
}

/// Whether a process is there and not only waits to be asked how it ended.
fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z' && state != 'X')
}

fn signal(signal: &str, pids: impl IntoIterator<Item = u32>) {
    let pids: Vec<String> = pids.into_iter().map(|pid| pid.to_string()).collect();
    if !pids.is_empty() {
        let _ = Command::new("kill")
            .arg(format!("-{signal}"))
            .args(pids)
            .stderr(Stdio::null())
            .status();
    }
}

/// A run that is going on.
struct RunGoing {
    launcher: Child,
    folder: PathBuf,
    ranks: usize,
    begun: Instant,
    /// When a call was seen for the last time.
    latest: Instant,
    limit: Duration,
    /// Whether it is of interest where processes are that have to be killed: it must end by itself.
    keeps_stacks: bool,
}

/// Time that a run may take without a call of any rank. How long a run takes in all, the machine decides.
const LIMIT: Duration = Duration::from_secs(30);
/// Time after which a run that still makes calls is one that does not end.
const MAX_RUN_TIME: Duration = Duration::from_secs(300);
/// As [`LIMIT`], of runs in which a rank never comes to its end.
const LIMIT_OF_HUNG: Duration = Duration::from_secs(8);
/// `deadline` of runs in which a rank is stopped.
const DEADLINE_OF_STOPPED: Duration = Duration::from_secs(2);
/// Time that such a run may take when the rank goes on, beyond the deadline.
const END_OF_STOPPED: Duration = Duration::from_secs(10);

impl RunGoing {
    fn pids(&self) -> Vec<u32> {
        let alive = truths(&self.folder, self.ranks);
        let pids = alive.values().map(|t| t.pid);
        pids.filter(|&pid| is_alive(pid)).collect()
    }

    /// Waits until every rank has come out of MPI_Init.
    fn wait_for_init(&mut self) {
        let ready = |t: &ProgramCounts| t.calls.get("MPI_Comm_size").is_some_and(|m| m.ended > 0);
        while self.begun.elapsed() < self.limit {
            let truths = truths(&self.folder, self.ranks);
            let over = matches!(self.launcher.try_wait(), Ok(Some(_)));
            if over || (truths.len() == self.ranks && truths.values().all(ready)) {
                return;
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until a rank is stopped, and gives it; `None` if the run is over before.
    fn wait_for_stop(&mut self) -> Option<u32> {
        loop {
            let is_stopped = |pid: &u32| state(*pid) == Some('T');
            if let Some(stopped) = self.pids().into_iter().find(is_stopped) {
                return Some(stopped);
            }
            let is_over = matches!(self.launcher.try_wait(), Ok(Some(_)));
            if is_over || self.begun.elapsed() > self.limit {
                return None;
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until launcher and ranks are gone. When a part of them is, the others have `patience` to follow. Gives how the
    /// launcher ended, if all ended by themselves. Of processes that are killed, `stacks` in the folder has the stacks.
    fn end(mut self, patience: Duration) -> Option<ExitStatus> {
        let mut calls = 0;
        let mut is_killed = false;
        let mut first_gone: Option<Instant> = None;
        loop {
            let status = self.launcher.try_wait().ok().flatten();
            let alive = self.pids();
            let truths = truths(&self.folder, self.ranks);
            let known = truths.len();
            let made = truths.values().flat_map(|truth| truth.calls.values());
            let made: u64 = made.map(|made| made.begun + made.ended).sum();
            if made > calls && self.begun.elapsed() < MAX_RUN_TIME {
                (calls, self.latest) = (made, Instant::now());
            }
            if status.is_some() && alive.is_empty() {
                return status.filter(|_| !is_killed);
            }
            if status.is_some() || alive.len() < known {
                first_gone.get_or_insert_with(Instant::now);
            }
            let late = first_gone.is_some_and(|t| t.elapsed() > patience);
            if late || self.latest.elapsed() > self.limit {
                let stacks = self.folder.join("stacks");
                if self.keeps_stacks && !stacks.exists() {
                    let all = alive.iter().copied().chain([self.launcher.id()]);
                    fs::write(&stacks, process::stacks(all)).expect("own folder");
                }
                is_killed |= !alive.is_empty();
                signal("KILL", alive);
                // The launcher has an end of its own to make; then it has had its time, too.
                if first_gone.is_some_and(|t| t.elapsed() > patience + Duration::from_secs(5))
                    || self.latest.elapsed() > self.limit + Duration::from_secs(5)
                {
                    let group = format!("-{}", self.launcher.id());
                    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                    let _ = self.launcher.wait();
                    return None;
                }
                sleep(Duration::from_millis(50));
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// Parameters of a run.
#[derive(Clone, Debug)]
struct FailurePlan {
    mpi: Mpi,
    way: EndKind,
    /// The ranks that have the recorder.
    traced: Vec<bool>,
    /// µs until the end begins, or KB that are left.
    moment: u64,
    threads: u32,
    files: u64,
}

impl FailurePlan {
    /// Of two ranks or three.
    fn new(mpi: Mpi, way: EndKind, random: &mut RandomNumbers) -> FailurePlan {
        // Ranks spin while they wait. Those of a parallel merge send messages past the tree if they are more than two.
        let ranks = match way.parallel {
            true => 2 + random.below(2),
            false if mpi.is_mpich() && !way.partly => 2,
            false => 2 + random.below(2),
        };
        let ranks = ranks as usize;
        let threads = way
            .threads
            .unwrap_or_else(|| [1, 1, 3][random.below(3) as usize]);
        let mut traced = vec![true; ranks];
        if way.partly {
            // Neither none nor all.
            let some = 1 + random.below((1 << ranks) - 2);
            traced = (0..ranks).map(|rank| some >> rank & 1 == 1).collect();
        }
        FailurePlan {
            mpi,
            way,
            traced,
            threads,
            // Operations below MPI are merged up the tree.
            files: if way.parallel { 0 } else { random.below(2) },
            moment: match way.when {
                EndTime::Merge if way.parallel => random.moment(1000.0, 1_200_000.0),
                EndTime::Anywhen => random.moment(20.0, 150_000.0),
                EndTime::Merge => random.moment(50.0, 150_000.0),
                EndTime::Init => random.moment(1000.0, 400_000.0),
            },
        }
    }

    fn ranks(&self) -> usize {
        self.traced.len()
    }

    /// Of `ends`.
    fn arguments(&self) -> [String; 7] {
        let rank = match self.way.who {
            Victim::One => self.ranks() as i64 - 1,
            Victim::Each => -1,
            Victim::All | Victim::Launcher(_) | Victim::Nobody => self.ranks() as i64,
        };
        [
            self.way.ends_by().to_owned(),
            rank.to_string(),
            self.moment.to_string(),
            self.threads.to_string(),
            self.files.to_string(),
            self.way.rounds().to_string(),
            self.way.local().to_string(),
        ]
    }

    /// Starts the program in `folder`.
    fn start(&self, folder: &TestFolder) -> RunGoing {
        let (mpi, ranks) = (self.mpi, self.ranks());
        let program = Program::c("ends").compile(mpi);
        // Ranks that are alike are started together.
        let mut alike: Vec<(bool, usize)> = Vec::new();
        for &is_traced in &self.traced {
            match alike.last_mut() {
                Some((last, count)) if *last == is_traced => *count += 1,
                _ => alike.push((is_traced, 1)),
            }
        }
        let mut command = mpi.mpiexec(alike[0].1);
        for (i, (is_traced, count)) in alike.into_iter().enumerate() {
            if i > 0 {
                command.args([":", "-n", &count.to_string()]);
            }
            if is_traced {
                command.arg("env");
                command.arg(format!("LD_PRELOAD={}", crate::recorder().display()));
            }
            command.arg(&program).args(self.arguments());
        }
        let deadline = match self.way.name {
            "hang" => "1".to_owned(),
            _ => DEADLINE_OF_STOPPED.as_secs().to_string(),
        };
        let mut variables = Vec::new();
        if self.way.name == "hang" || self.way.stops() {
            variables.push(("TRACE_DEADLINE", deadline.as_str()));
        }
        if self.way.parallel {
            variables.push(("TRACE_MERGE", "parallel"));
        }
        let tracing = TraceSetup {
            variables: &variables,
            ..TraceSetup::new(mpi, ranks)
        };
        tracing.settings(&mut command, folder);
        let printed = fs::File::create(folder.path().join("stderr")).expect("own folder");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(printed)
            .process_group(0);
        RunGoing {
            launcher: command.spawn().expect("the launcher is installed"),
            folder: folder.path().to_owned(),
            ranks,
            begun: Instant::now(),
            latest: Instant::now(),
            limit: match self.way.name {
                "hang" => LIMIT_OF_HUNG,
                _ if self.way.ends_by_itself() => MAX_RUN_TIME,
                _ => LIMIT,
            },
            keeps_stacks: self.way.ends_by_itself(),
        }
    }

    /// Exit status of the launcher if no rank has the recorder.
    fn untraced(&self) -> Option<ExitStatus> {
        let plan = FailurePlan {
            traced: vec![false; self.ranks()],
            // MPI_Finalize is soon over.
            moment: match self.way.when {
                EndTime::Merge => 0,
                EndTime::Anywhen | EndTime::Init => self.moment,
            },
            ..self.clone()
        };
        let folder = TestFolder::new(&format!("{}-{}-bare", self.mpi.suffix(), self.way.name));
        plan.start(&folder).end(MAX_RUN_TIME)
    }
}

/// Whether two launchers ended alike, by themselves. MPICH's launcher joins the bits of its processes' exit statuses: SIGKILL (9) of
/// one, and SIGTERM (15) or SIGKILL of the others, which is left to chance. If the rank was killed in MPI_Finalize, the launcher
/// may find out by the lost connection first, and ends with 255: MPICH 4.0.2 did so in 7 of 40 runs without any recorder. It may also
/// write to that connection, and die of SIGPIPE: so did a run without a recorder.
fn is_same_end(
    mpi: Mpi,
    when: EndTime,
    one: Option<ExitStatus>,
    other: Option<ExitStatus>,
) -> bool {
    const SIGPIPE: i32 = 13;
    let is_lost =
        |status: ExitStatus| status.code() == Some(255) || process::killed_by(status, SIGPIPE);
    let is_kill = |status: Option<ExitStatus>| {
        status.is_some_and(|status| {
            matches!(status.code(), Some(9 | 15)) || when == EndTime::Merge && is_lost(status)
        })
    };
    let codes = [one, other].map(|status| status.and_then(|status| status.code()));
    match codes {
        [Some(one), Some(other)] if one == other => true,
        _ => mpi.is_mpich() && is_kill(one) && is_kill(other),
    }
}

/// One run that ends this way, and what was recovered of it.
pub fn run(mpi: Mpi, way: EndKind, random: &mut RandomNumbers) -> RunOutcome {
    let plan = FailurePlan::new(mpi, way, random);
    let bare = way.partly.then(|| plan.untraced());
    let folder = TestFolder::new(&format!("{}-{}", mpi.suffix(), way.name));
    let mut going = plan.start(&folder);
    let mut went_on = None;
    match way.who {
        Victim::One if way.stops() => {
            if let Some(stopped) = going.wait_for_stop() {
                // Before the others give up, while they do, or after it.
                sleep(Duration::from_micros(random.moment(1e5, 7e6)));
                signal("CONT", [stopped]);
                went_on = Some(Instant::now());
            }
        }
        Victim::All => {
            going.wait_for_init();
            sleep(Duration::from_micros(plan.moment));
            signal("KILL", going.pids());
        }
        Victim::Launcher(name) => {
            going.wait_for_init();
            sleep(Duration::from_micros(plan.moment));
            signal(name, [going.launcher.id()]);
        }
        Victim::One | Victim::Each | Victim::Nobody => {}
    }
    let patience = match way.name {
        "hang" => Duration::from_secs(4),
        // The time to the end depends on the machine.
        _ if way.ends_by_itself() => MAX_RUN_TIME,
        _ => Duration::from_millis(700),
    };
    let status = going.end(patience);
    let took = went_on.map(|begun| begun.elapsed());
    let mut outcome = judge(&folder, &plan.traced, way);
    if way.runs_on && !status.is_some_and(|status| status.success()) {
        let fault = "the program did not end well, or not by itself";
        outcome.faults.push(fault.to_owned());
    }
    if let Some(took) = took.filter(|took| *took > DEADLINE_OF_STOPPED + END_OF_STOPPED) {
        let fault = format!("{took:.1?} from SIGCONT to the end");
        outcome.faults.push(fault);
    }
    if let Some(bare) = bare {
        // A rank that is to end in MPI_Finalize may have come through it before.
        let is_through =
            way.when == EndTime::Merge && status.is_some_and(|status| status.success());
        if !is_same_end(mpi, way.when, status, bare) && !is_through {
            let fault = format!("ended with {status:?}, without a recorder with {bare:?}");
            outcome.faults.push(fault);
        }
    }
    outcome.runs = 1;
    if !outcome.is_good() {
        let story = format!(
            "{} {} traced {:?}: {outcome:?}\n{}",
            mpi.suffix(),
            plan.arguments().join(" "),
            plan.traced,
            ["stderr", "stacks"]
                .map(|name| fs::read_to_string(folder.path().join(name)).unwrap_or_default())
                .join("\n")
        );
        outcome.faults.push(story);
        // For whoever looks for the reason.
        let kept = crate::target().join("failures");
        let _ = fs::create_dir_all(&kept);
        let name = folder.path().file_name().expect("a name");
        let _ = fs::rename(folder.path(), kept.join(name));
    }
    outcome
}
