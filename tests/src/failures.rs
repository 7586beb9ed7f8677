//! Runs that end badly, and what is left of them. The truth is what `tests/programs/ends.c` counts in mapped files of its own:
//! for each thread and function, how many calls have begun and how many have returned. What `mpitrace recover` makes of the
//! block files must lie between, function by function: a call that had returned is there, once.

use crate::process::{self, Folder};
use crate::tally::Counts;
use crate::trace::Tracing;
use crate::{Mpi, Program, contents, mpitrace};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Who comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The last rank, by its own hand.
    One,
    /// Every rank, by its own hand.
    Each,
    /// Every rank, by SIGKILL from outside.
    All,
    /// The launcher, by this signal.
    Launcher(&'static str),
}

/// When that is, counted from what the program has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// At some time in the run.
    Anywhen,
    /// While MPI_Init goes on, or soon after it.
    Init,
    /// From the moment at which MPI_Finalize is called.
    Merge,
}

/// A way to end.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Its name for `ends`.
    pub name: &'static str,
    /// For readers.
    pub what: &'static str,
    who: Who,
    when: When,
    /// Threads that call MPI, where it is not left to chance.
    threads: Option<u32>,
    /// What `mpitrace recover` must say of the rank that came to its end, if that is sure.
    said: Option<&'static str>,
    /// Whether the program must end as if nothing had happened.
    runs_on: bool,
}

const fn way(name: &'static str, what: &'static str, who: Who, when: When) -> Way {
    Way {
        name,
        what,
        who,
        when,
        threads: None,
        said: None,
        runs_on: false,
    }
}

impl Way {
    const fn said(self, said: &'static str) -> Way {
        Way {
            said: Some(said),
            ..self
        }
    }

    const fn runs_on(self) -> Way {
        Way {
            runs_on: true,
            ..self
        }
    }

    const fn threads(self, threads: u32) -> Way {
        Way {
            threads: Some(threads),
            ..self
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Way> {
        WAYS.into_iter().find(|way| way.name == name)
    }
}

/// All of them.
pub const WAYS: [Way; 19] = {
    use When::{Anywhen, Init, Merge};
    use Who::{All, Each, Launcher, One};
    [
        way("kill", "SIGKILL of one rank", One, Anywhen).said("died"),
        way("kill-all", "SIGKILL of all ranks", All, Anywhen).said("died"),
        way("term", "SIGTERM of one rank", One, Anywhen).said("died"),
        way("segv", "SIGSEGV in one rank", One, Anywhen).said("died"),
        way("abort", "abort() in one rank", One, Anywhen).said("died"),
        way("quick", "_exit() of one rank", One, Anywhen).said("died"),
        way("mpi-abort", "MPI_Abort by another rank", One, Anywhen)
            .said("called MPI_Abort")
            .threads(1),
        way("mpi-error", "a fatal MPI error", One, Anywhen)
            .said("died in MPI_Send")
            .threads(1),
        way(
            "launcher-kill",
            "SIGKILL of mpiexec",
            Launcher("KILL"),
            Anywhen,
        ),
        way(
            "launcher-term",
            "SIGTERM to mpiexec, as batch systems do",
            Launcher("TERM"),
            Anywhen,
        ),
        way("exit", "exit() without MPI_Finalize", Each, Anywhen)
            .said("exited without MPI_Finalize")
            .threads(1),
        way("exit-thread", "exit() while threads call MPI", One, Anywhen)
            .said("exited without MPI_Finalize")
            .threads(3),
        // What other threads call while MPI_Finalize runs is not recorded: it is an error of the program.
        way(
            "hang",
            "a rank that never comes to MPI_Finalize (`deadline`)",
            One,
            Merge,
        )
        .threads(1),
        way("merge-kill", "SIGKILL of one rank in the merge", One, Merge).threads(1),
        way(
            "merge-kill-all",
            "SIGKILL of all ranks in the merge",
            Each,
            Merge,
        )
        .threads(1),
        way("merge-term", "SIGTERM of one rank in the merge", One, Merge).threads(1),
        way(
            "merge-as",
            "no more address space in the merge (`ulimit -v`)",
            Each,
            Merge,
        )
        .threads(1)
        .runs_on(),
        way(
            "merge-data",
            "no more data in the merge (`ulimit -d`)",
            Each,
            Merge,
        )
        .threads(1)
        .runs_on(),
        way("init-kill", "SIGKILL of one rank in MPI_Init", One, Init),
    ]
};

/// What came of a run, or of many.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Runs.
    pub runs: u64,
    /// Calls that had returned, by the program's own count.
    pub expected: u64,
    /// Of those, what was recovered.
    pub recovered: u64,
    /// Calls that had returned and are not there.
    pub lost: u64,
    /// Calls that are there and were never made.
    pub invented: u64,
    /// Calls that had begun and not returned.
    pub running: u64,
    /// Of those, what is there: as unfinished, or as the record that was complete before the program could count it.
    pub shown: u64,
    /// Runs whose trace was complete all the same.
    pub complete: u64,
    /// What else was wrong, in words.
    pub faults: Vec<String>,
}

impl Outcome {
    /// Adds another one.
    pub fn add(&mut self, other: Outcome) {
        self.runs += other.runs;
        self.expected += other.expected;
        self.recovered += other.recovered;
        self.lost += other.lost;
        self.invented += other.invented;
        self.running += other.running;
        self.shown += other.shown;
        self.complete += other.complete;
        self.faults.extend(other.faults);
    }

    /// Whether nothing is lost, invented or wrong.
    pub fn is_good(&self) -> bool {
        self.lost == 0 && self.invented == 0 && self.faults.is_empty()
    }
}

/// Numbers without pattern (splitmix64).
pub struct Random(pub u64);

impl Random {
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

/// How often a rank's thread has begun and ended calls of a function.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    begun: u64,
    ended: u64,
}

/// What the program counted on one rank.
#[derive(Debug, Default)]
struct Truth {
    pid: u32,
    /// Over all threads.
    calls: BTreeMap<String, Made>,
}

/// Reads `RANK.ends`, the `struct map` of ends.c.
fn truth(path: &Path) -> Option<Truth> {
    const NAME: usize = 32;
    let bytes = fs::read(path).ok()?;
    let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (functions, threads) = (word(0)? as usize, word(8)? as usize);
    let mut truth = Truth {
        pid: word(16)? as u32,
        ..Truth::default()
    };
    let names = 32;
    let counts = (names + functions * NAME).next_multiple_of(8);
    for function in 0..functions {
        let name = bytes
            .get(names + function * NAME..)?
            .split(|b| *b == 0)
            .next()?;
        let mut made = Made::default();
        for thread in 0..threads {
            let at = counts + (thread * functions + function) * 16;
            made.begun += word(at)?;
            made.ended += word(at + 8)?;
        }
        if made.begun > 0 {
            let name = String::from_utf8_lossy(name).into_owned();
            truth.calls.insert(name, made);
        }
    }
    Some(truth)
}

fn truths(folder: &Path, ranks: usize) -> BTreeMap<usize, Truth> {
    let of = |rank: usize| Some((rank, truth(&folder.join(format!("{rank}.ends")))?));
    (0..ranks)
        .filter_map(of)
        .filter(|(_, t)| t.pid != 0)
        .collect()
}

/// Whether a process is there and not only waits to be asked how it ended.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
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
struct Going {
    launcher: Child,
    folder: PathBuf,
    ranks: usize,
    begun: Instant,
}

/// Time that a run may take until it ends by itself, and then until its processes are gone.
const LIMIT: Duration = Duration::from_secs(30);

impl Going {
    fn pids(&self) -> Vec<u32> {
        let alive = truths(&self.folder, self.ranks);
        let pids = alive.values().map(|t| t.pid);
        pids.filter(|&pid| is_alive(pid)).collect()
    }

    /// Waits until every rank has come out of MPI_Init.
    fn wait_for_init(&mut self) {
        let ready = |t: &Truth| t.calls.get("MPI_Comm_size").is_some_and(|m| m.ended > 0);
        while self.begun.elapsed() < LIMIT {
            let truths = truths(&self.folder, self.ranks);
            let over = matches!(self.launcher.try_wait(), Ok(Some(_)));
            if over || (truths.len() == self.ranks && truths.values().all(ready)) {
                return;
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until launcher and ranks are gone. When a part of them is, the others have `patience` to follow. Gives whether all
    /// ended by themselves, without an error.
    fn end(mut self, patience: Duration) -> bool {
        let mut is_killed = false;
        let mut first_gone: Option<Instant> = None;
        loop {
            let over = matches!(self.launcher.try_wait(), Ok(Some(_)));
            let alive = self.pids();
            let known = truths(&self.folder, self.ranks).len();
            if over && alive.is_empty() {
                let status = self.launcher.try_wait();
                return !is_killed && matches!(status, Ok(Some(status)) if status.success());
            }
            if over || alive.len() < known {
                first_gone.get_or_insert_with(Instant::now);
            }
            let late = first_gone.is_some_and(|t| t.elapsed() > patience);
            if late || self.begun.elapsed() > LIMIT {
                is_killed |= !alive.is_empty();
                signal("KILL", alive);
                // The launcher has an end of its own to make; then it has had its time, too.
                if first_gone.is_some_and(|t| t.elapsed() > patience + Duration::from_secs(5))
                    || self.begun.elapsed() > LIMIT + Duration::from_secs(5)
                {
                    let group = format!("-{}", self.launcher.id());
                    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                    let _ = self.launcher.wait();
                    return false;
                }
                sleep(Duration::from_millis(50));
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// One run on two ranks or three that ends this way, and what was recovered of it.
pub fn run(mpi: Mpi, way: Way, random: &mut Random) -> Outcome {
    let ranks = if mpi.is_mpich() {
        2
    } else {
        2 + random.below(2) as usize
    };
    let threads = way
        .threads
        .unwrap_or_else(|| [1, 1, 3][random.below(3) as usize]);
    let files = random.below(2);
    let moment = match way.when {
        When::Anywhen => random.moment(20.0, 150_000.0),
        When::Merge => random.moment(50.0, 150_000.0),
        When::Init => random.moment(1000.0, 400_000.0),
    };
    let folder = Folder::new(&format!("{}-{}", mpi.suffix(), way.name));
    let rank = match way.who {
        Who::One => ranks as i64 - 1,
        Who::Each => -1,
        Who::All | Who::Launcher(_) => ranks as i64,
    };
    let arguments = [
        way.name.to_owned(),
        rank.to_string(),
        moment.to_string(),
        threads.to_string(),
        files.to_string(),
    ];
    let program = Program::c("ends").compile(mpi);
    let mut command = mpi.mpiexec(ranks);
    let variables = [("TRACE_DEADLINE", "1")];
    let tracing = Tracing {
        variables: if way.name == "hang" { &variables } else { &[] },
        ..Tracing::new(mpi, ranks)
    };
    tracing.settings(&mut command, &folder);
    let said = fs::File::create(folder.path().join("stderr")).expect("own folder");
    command
        .arg("env")
        .arg(format!("LD_PRELOAD={}", mpi.library().display()))
        .arg(program)
        .args(&arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said)
        .process_group(0);
    let mut going = Going {
        launcher: command.spawn().expect("the launcher is installed"),
        folder: folder.path().to_owned(),
        ranks,
        begun: Instant::now(),
    };
    match way.who {
        Who::All => {
            going.wait_for_init();
            sleep(Duration::from_micros(moment));
            signal("KILL", going.pids());
        }
        Who::Launcher(name) => {
            going.wait_for_init();
            sleep(Duration::from_micros(moment));
            signal(name, [going.launcher.id()]);
        }
        Who::One | Who::Each => {}
    }
    let patience = match way.name {
        "hang" => 4000,
        _ if way.runs_on => 10_000,
        _ => 700,
    };
    let is_well = going.end(Duration::from_millis(patience));
    let mut outcome = judge(&folder, ranks, way);
    if way.runs_on && !is_well {
        let fault = "the program did not end well, or not by itself";
        outcome.faults.push(fault.to_owned());
    }
    outcome.runs = 1;
    if !outcome.is_good() {
        let story = format!(
            "{} {}: {outcome:?}\n{}",
            mpi.suffix(),
            arguments.join(" "),
            fs::read_to_string(folder.path().join("stderr")).unwrap_or_default()
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

fn tool(folder: &Path, arguments: &[&str]) -> process::Finished {
    let mut command = Command::new(mpitrace());
    command.current_dir(folder).args(arguments);
    process::run(&mut command, Duration::from_secs(60))
}

/// Calls by rank, as `--count` tells them. Those of processes that never got a rank are added up under the one behind the last.
fn counted(text: &str, ranks: usize) -> Option<BTreeMap<usize, Counts>> {
    let mut all: BTreeMap<usize, Counts> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let rank: i64 = words.next()?.parse().ok()?;
        let total: u64 = words.next()?.parse().ok()?;
        let of_rank = all
            .entry(usize::try_from(rank).unwrap_or(ranks))
            .or_default();
        let mut sum = 0;
        for word in words {
            let (name, count) = word.split_once('=')?;
            let count: u64 = count.parse().ok()?;
            *of_rank.entry(name.to_owned()).or_default() += count;
            sum += count;
        }
        if sum != total {
            return None;
        }
    }
    Some(all)
}

/// The DUMPI files of a folder, by rank: calls that ended, and how many did not.
fn in_dumpi(folder: &Path) -> BTreeMap<usize, (Counts, Vec<String>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let bins = entries
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bin"));
    bins.filter_map(|path| {
        let stem = path.file_stem()?.to_str()?.to_owned();
        let rank = stem.rsplit('-').next()?.parse().ok()?;
        Some((rank, contents::dumpi_of_dead(&path)))
    })
    .collect()
}

fn the_one(folder: &Path, extension: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten().map(|e| e.path());
    entries
        .into_iter()
        .find(|p| p.extension().is_some_and(|e| e == extension))
}

/// Compares what the program counted with what is there.
fn judge(folder: &Folder, ranks: usize, way: Way) -> Outcome {
    let mut outcome = Outcome::default();
    let truths = truths(folder.path(), ranks);
    let trace = folder.path().join("trace");
    let blocks = fs::read_dir(&trace).expect("own folder").flatten();
    let blocks = blocks
        .filter(|e| e.path().extension().is_some_and(|e| e == "blocks"))
        .count();
    let whole = ["meta", "clog2", "slog2"]
        .iter()
        .all(|e| the_one(&trace, e).is_some());
    // Every rank has written its blocks, or rank 0 the whole trace.
    let (recorded, out) = if whole {
        outcome.complete = 1;
        let calls = in_dumpi(&trace).into_iter();
        (
            calls.map(|(rank, (calls, _))| (rank, calls)).collect(),
            trace,
        )
    } else {
        if blocks < truths.len() && way.when != When::Init {
            let fault = format!("{blocks} block files of {} ranks", truths.len());
            outcome.faults.push(fault);
        }
        if blocks == 0 {
            return outcome;
        }
        let count = tool(folder.path(), &["recover", "--count", "trace"]);
        let Some(recorded) = counted(&count.stdout, ranks).filter(|_| count.status.success())
        else {
            outcome.faults.push(count.story());
            return outcome;
        };
        let full = tool(
            folder.path(),
            &["recover", "--dir", "out", "--output", "all", "trace"],
        );
        if !full.status.success() {
            outcome.faults.push(full.story());
            return outcome;
        }
        says(way, ranks, &full.stdout, &mut outcome);
        (recorded, folder.path().join("out"))
    };
    let none = Counts::new();
    let drawn = the_one(&out, "clog2").map(|path| contents::clog2(&path).calls);
    let drawn = drawn.unwrap_or_default();
    let dumpi = in_dumpi(&out);
    let has_rank = |rank: &usize| dumpi.contains_key(rank);
    for (rank, truth) in &truths {
        // Without MPI_Init's end it has no rank to be shown under; --count has it.
        let place = if recorded.contains_key(rank) {
            *rank
        } else {
            ranks
        };
        let recorded = recorded.get(&place).unwrap_or(&none);
        let drawn = drawn.get(rank).unwrap_or(&none);
        for (name, made) in &truth.calls {
            let of = |counts: &Counts| counts.get(name).copied().unwrap_or(0);
            let there = of(recorded);
            outcome.expected += made.ended;
            outcome.recovered += there.min(made.ended);
            outcome.lost += made.ended.saturating_sub(there);
            outcome.invented += there.saturating_sub(made.begun);
            outcome.running += made.begun - made.ended;
            if !has_rank(rank) {
                continue;
            }
            let in_clog2 = of(drawn);
            let (in_dumpi, unfinished) = dumpi.get(rank).map_or((0, 0), |(calls, running)| {
                let running = running.iter().filter(|running| *running == name);
                (of(calls), running.count() as u64)
            });
            outcome.shown += in_clog2.saturating_sub(made.ended);
            if in_dumpi != there || in_clog2 != there + unfinished || in_clog2 > made.begun {
                outcome.faults.push(format!(
                    "rank {rank}, {name}: {made:?}, {there} counted, {in_clog2} in CLOG2, {in_dumpi} and {unfinished} unfinished in DUMPI"
                ));
            }
        }
        for name in recorded
            .keys()
            .filter(|name| !truth.calls.contains_key(*name))
        {
            outcome
                .faults
                .push(format!("rank {rank}: {name} was never called"));
        }
    }
    if let Some(slog2) = the_one(&out, "slog2") {
        let check = tool(&out, &["check", &slog2.to_string_lossy()]);
        if !check.status.success() {
            outcome.faults.push(check.story());
        }
        let states: u64 = contents::slog2(&slog2).states.values().sum();
        let calls: u64 = drawn.values().flat_map(Counts::values).sum();
        if states != calls {
            let fault = format!("{states} states in SLOG2, {calls} in CLOG2");
            outcome.faults.push(fault);
        }
    } else if truths.keys().any(has_rank) {
        outcome.faults.push("no SLOG2 file".to_owned());
    }
    outcome
}

/// Whether the report tells how the rank ended.
fn says(way: Way, ranks: usize, text: &str, outcome: &mut Outcome) {
    let Some(said) = way.said else { return };
    // Of those that all end by themselves the quickest ends the others.
    let mut lines = text.lines().filter(|line| match way.who {
        Who::One => line.starts_with(&format!("  rank {}: ", ranks - 1)),
        _ => line.starts_with("  rank "),
    });
    if !lines.any(|line| line.contains(said)) {
        let fault = format!("expected: {said}\n{text}");
        outcome.faults.push(fault);
    }
}
