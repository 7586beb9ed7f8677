//! Runs over several hosts, which are made of namespaces ([`tests::hosts`]): separate clocks, a /tmp for each, and a network that can be cut.

use crate::io_advice::io_report;
use crate::io_trouble::finding;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tests::hosts::Hosts;
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, Program, TestFolder, TracedRun, contents, process};

/// The clock of the second host is so far ahead, s.
const AHEAD: u64 = 1000;

/// An MPI with each launcher. MPICH 4.0.2 with UCX, as Debian has it, hangs in its MPI_Finalize over TCP without any recorder: in 9 of 10
/// runs of `flight 500` on four ranks of two hosts.
fn installed() -> impl Iterator<Item = Mpi> {
    [Mpi::Mpich5, Mpi::OpenMpi]
        .into_iter()
        .filter(|mpi| mpi.installed())
}

/// What a run over several hosts is made of.
struct HostRun<'a> {
    mpi: Mpi,
    per_host: &'a [usize],
    variables: &'a [(&'a str, &'a str)],
    program: &'static str,
    arguments: &'a [&'a str],
}

impl HostRun<'_> {
    /// The launcher's command line. As with ssh, the ranks get the settings in the command only. What ranks of a host say goes to a file
    /// `said.HOST`: the way to the launcher may be cut.
    fn command(&self, hosts: &Hosts, folder: &TestFolder) -> Command {
        let mut command = hosts.mpiexec(self.mpi, self.per_host, folder.path());
        let tracing = TraceSetup::new(self.mpi, 0);
        let mut settings = Command::new("env");
        tracing.settings(&mut settings, folder);
        command.args(["sh", "-c", "exec \"$@\" 2>>said.$(hostname)", "sh", "env"]);
        for (name, value) in settings.get_envs() {
            let name = name.to_string_lossy();
            // Block files are in the /tmp of each host.
            if let Some(value) = value.filter(|_| name != "TRACE_TMPDIR") {
                command.arg(format!("{name}={}", value.to_string_lossy()));
            }
        }
        for (name, value) in self.variables {
            command.arg(format!("{name}={value}"));
        }
        command
            .arg(format!("LD_PRELOAD={}", tests::recorder().display()))
            .arg(Program::c(self.program).compile(self.mpi))
            .args(self.arguments);
        command
    }

    /// Number of ranks on all hosts.
    fn ranks(&self) -> usize {
        self.per_host.iter().sum()
    }

    /// Runs it to its end, where it prints that all is well.
    fn run(&self, hosts: &Hosts, folder: TestFolder) -> TracedRun {
        let run = self.run_printing(hosts, folder);
        assert_eq!(run.finished.stdout, "ok\n", "{}", run.finished.story());
        run
    }

    /// Runs it to its end, whatever it prints.
    fn run_printing(&self, hosts: &Hosts, folder: TestFolder) -> TracedRun {
        let mut finished = process::run(&mut self.command(hosts, &folder), LIMIT);
        finished.stderr += &said(folder.path());
        let run = TracedRun {
            folder,
            finished,
            ranks: self.ranks(),
        };
        assert!(run.finished.status.success(), "{}", run.finished.story());
        run
    }

    /// Starts it, and waits until every rank of the program `cut_off` has come to its pause.
    fn start(&self, hosts: &Hosts, folder: &TestFolder) -> Launcher {
        let printed = fs::File::create(folder.path().join("printed")).expect("own folder");
        let mut command = self.command(hosts, folder);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(printed);
        let launcher = Launcher(command.spawn().expect("a launcher"));
        let reached = |rank| folder.path().join(format!("reached.{rank}")).exists();
        wait_until(folder.path(), "all ranks come to the pause", || {
            (0..self.ranks()).all(reached)
        });
        launcher
    }
}

/// A launcher, which is killed in the end.
struct Launcher(Child);

impl Drop for Launcher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the ranks have said on all hosts.
fn said(folder: &Path) -> String {
    let texts = files(folder, |name| name.starts_with("said."));
    let texts = texts.iter().map(fs::read_to_string);
    texts.flatten().collect()
}

/// Files in a folder, by their names.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("own folder").flatten();
    let paths = entries.map(|entry| entry.path());
    let is_wanted = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        wanted(&name.to_string_lossy())
    };
    let mut found: Vec<PathBuf> = paths.filter(is_wanted).collect();
    found.sort();
    found
}

fn block_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, |name| name.ends_with(".blocks"))
}

#[track_caller]
fn wait_until(folder: &Path, what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        let printed = fs::read_to_string(folder.join("printed")).unwrap_or_default();
        let passed = begun.elapsed();
        assert!(
            passed < Duration::from_secs(30),
            "{what}: not in 30 s\n{printed}{}",
            said(folder)
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn checked(file: &Path) {
    let mut check = Command::new(tests::mpitrace());
    process::run(check.arg("check").arg(file), LIMIT).succeeded();
}

/// The files hold all calls and messages, in times of one clock.
fn is_whole(run: &TracedRun) {
    let messages = run.holds(&run.made());
    assert!(messages > 0);
    checked(&run.file("slog2"));
    checked(&run.file("clog2"));
    let last = last_time(&run.print(&run.file("clog2")));
    assert!(last < 60.0, "the run seems to take {last} s");
}

/// The latest time in a CLOG2 file in text.
fn last_time(text: &str) -> f64 {
    let times = text.lines().filter_map(|line| line.strip_prefix("ts="));
    let times = times.filter_map(|line| line.split(' ').next()?.parse::<f64>().ok());
    times.fold(0.0, f64::max)
}

#[test]
fn ranks_of_several_hosts_make_one_trace() {
    for mpi in installed() {
        for (merge, ahead) in [("tree", &[0, AHEAD][..]), ("parallel", &[AHEAD, 0, 7][..])] {
            let folder = TestFolder::new(&format!("{}-hosts-{merge}", mpi.suffix()));
            let Some(hosts) = Hosts::new(&folder, ahead) else {
                return;
            };
            let run = HostRun {
                mpi,
                per_host: &[2, 2, 2][..ahead.len()],
                variables: &[
                    ("TRACE_MERGE", merge),
                    ("TRACE_OUTPUTS", "clog2 slog2 dumpi"),
                ],
                program: "flight",
                arguments: &["500"],
            };
            let run = run.run(&hosts, folder);
            is_whole(&run);
            let story = run.finished.story();
            assert!(!story.contains("not in parallel"), "{story}");
            for n in 1..=ahead.len() {
                assert_eq!(block_files(&hosts.tmp(n)).len(), 0, "{story}");
            }
        }
    }
}

/// Two hosts with two ranks each, of which one writes for all. MPICH's hint says so, and Open MPI's variable.
#[test]
fn one_aggregator_for_all_hosts_is_named() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-hosts-aggregator", mpi.suffix()));
        let Some(hosts) = Hosts::new(&folder, &[0, 0]) else {
            return;
        };
        let run = HostRun {
            mpi,
            per_host: &[2, 2],
            variables: &[
                ("TRACE_POSIX", "all"),
                ("OMPI_MCA_io_ompio_num_aggregators", "1"),
            ],
            program: "io_trouble",
            arguments: &["one-aggregator"],
        };
        let report = io_report(&run.run_printing(&hosts, folder));
        let found = finding(&report, "one_aggregator");
        let found = found.unwrap_or_else(|| panic!("{mpi:?} {:#}", report["findings"]));
        let figures = &found["figures"];
        for (name, number) in [("groups", 10), ("of", 10), ("ranks", 4)] {
            assert_eq!(figures[name], number, "{mpi:?} {found:#}");
        }
    }
}

/// Block files of all hosts in a folder that they share: the ranks of each host wait for each other there, and not for those of the other one.
#[test]
fn ranks_of_hosts_that_share_the_folder_of_block_files_find_each_other() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-hosts-shared", mpi.suffix()));
        let Some(hosts) = Hosts::new(&folder, &[0, AHEAD]) else {
            return;
        };
        let trace = folder.path().join("trace");
        let run = HostRun {
            mpi,
            per_host: &[2, 1],
            variables: &[("TRACE_TMPDIR", &trace.to_string_lossy())],
            program: "cut_off",
            arguments: &["10", "end"],
        };
        let mut launcher = run.start(&hosts, &folder);
        let go =
            |rank| fs::write(folder.path().join(format!("go.{rank}")), "").expect("own folder");
        go(0);
        wait_until(folder.path(), "rank 0 waits for rank 1", || {
            !files(&trace, |name| name.ends_with(".arrived")).is_empty()
        });
        go(2);
        std::thread::sleep(Duration::from_millis(100));
        go(1);
        let begun = Instant::now();
        while launcher.0.try_wait().expect("own child").is_none() {
            let passed = begun.elapsed();
            assert!(passed < Duration::from_secs(30), "{}", said(folder.path()));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(files(&trace, |name| name.ends_with(".slog2")).len(), 1);
        assert!(block_files(&trace).is_empty(), "{}", said(folder.path()));
    }
}

/// Each host's clock is wrong by an offset and a drift.
#[test]
fn clocks_of_hosts_that_drift_are_corrected() {
    for mpi in installed() {
        for merge in ["tree", "parallel"] {
            let folder = TestFolder::new(&format!("{}-hosts-drift", mpi.suffix()));
            let Some(hosts) = Hosts::new(&folder, &[0, AHEAD]) else {
                return;
            };
            let run = HostRun {
                mpi,
                per_host: &[1, 1],
                variables: &[
                    ("TRACE_MERGE", merge),
                    ("TRACE_OUTPUTS", "clog2 slog2 dumpi"),
                    ("TRACE_CLOCK_SYNC", "twice"),
                    // Half a millisecond a second: ten times what clocks of machines do.
                    ("TRACE_TEST_CLOCK", "0,500000"),
                    ("TRACE_KEEP_BLOCKS", "yes"),
                ],
                program: "flight",
                arguments: &["2000"],
            };
            let run = run.run(&hosts, folder);
            is_whole(&run);
            let (count, worst, _) = super::clocks::messages(&run.print(&run.file("clog2")));
            assert!(worst > -100e-6, "a message takes {worst} s");
            // Each rank has written its DUMPI file by itself.
            let recovered = run.folder.path().join("recovered");
            let mut recover = Command::new(tests::mpitrace());
            recover.arg("recover").arg("--dir").arg(&recovered);
            recover.args([hosts.tmp(1), hosts.tmp(2)]);
            process::run(&mut recover, LIMIT).succeeded();
            let metas = files(&recovered, |name| name.ends_with(".meta"));
            for meta in [&run.file("meta")].into_iter().chain(&metas) {
                let converted = run.folder.path().join("dumpi.clog2");
                let mut convert = Command::new(tests::mpitrace());
                convert.args(["convert", "--force"]).arg(meta);
                process::run(convert.arg(&converted), LIMIT).succeeded();
                let found = super::clocks::messages(&run.print(&converted));
                assert_eq!(found.0, count, "{}", meta.display());
                assert!(found.1 > -100e-6, "{}: {found:?}", meta.display());
            }
            assert_eq!(metas.len(), 1);
        }
    }
}

/// The second host has a folder of its own under the name of the output folder: not all ranks can write the files together.
#[test]
fn an_output_folder_on_one_host_only_has_the_merged_files() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-hosts-apart", mpi.suffix()));
        let Some(hosts) = Hosts::new(&folder, &[0, AHEAD]) else {
            return;
        };
        let trace = folder.path().join("trace");
        fs::create_dir_all(&trace).expect("own folder");
        let apart = format!("mount -t tmpfs none '{}'", trace.display());
        hosts.run_on(2, &apart).succeeded();
        let run = HostRun {
            mpi,
            per_host: &[2, 2],
            variables: &[
                ("TRACE_MERGE", "parallel"),
                ("TRACE_OUTPUTS", "clog2 slog2 dumpi"),
            ],
            program: "flight",
            arguments: &["200"],
        };
        let run = run.run(&hosts, folder);
        let story = run.finished.story();
        assert!(
            story.contains("merged over rank 0, not in parallel") && story.contains("on node2"),
            "{story}"
        );
        assert!(story.contains("2 .bin files are not in"), "{story}");
        let made = run.made();
        let calls: u64 = made.values().flat_map(|calls| calls.values()).sum();
        assert_eq!(run.closing_numbers(), (calls, 0), "{story}");
        let clog2 = contents::clog2(&run.file("clog2"));
        assert_eq!(clog2.calls.len(), 4, "{story}");
        assert_eq!(clog2.sends, clog2.receives, "{story}");
        assert_eq!(contents::slog2(&run.file("slog2")).arrows, clog2.sends);
        checked(&run.file("slog2"));
        let there = hosts.run_on(2, &format!("ls '{}'", trace.display()));
        let there = there.succeeded().stdout;
        assert_eq!(
            there.lines().count(),
            2,
            "the DUMPI files of its ranks: {there}"
        );
    }
}

/// Number of calls of MPI_Sendrecv before a host is cut off.
const ROUNDS: &str = "2000";

/// What `mpitrace recover` makes of the block files of both hosts has all calls that had returned.
fn recovered_whole(folder: &TestFolder, hosts: &Hosts) {
    let mut found = [block_files(&hosts.tmp(1)), block_files(&hosts.tmp(2))];
    assert_eq!(
        found.each_mut().map(|files| files.len()),
        [2, 2],
        "{}",
        said(folder.path())
    );
    let out = folder.path().join("recovered");
    fs::create_dir_all(&out).expect("own folder");
    let mut recover = Command::new(tests::mpitrace());
    recover.arg("recover").arg("--dir").arg(&out);
    recover.args([hosts.tmp(1), hosts.tmp(2)]);
    let recovered = process::run(&mut recover, LIMIT).succeeded();
    let bins = files(&out, |name| name.ends_with(".bin"));
    assert_eq!(bins.len(), 4, "{}", recovered.story());
    let rounds = ROUNDS.parse().expect("a number");
    for bin in &bins {
        let (calls, _) = contents::dumpi_of_dead(bin);
        let calls = calls.get("MPI_Sendrecv").copied();
        assert!(calls.unwrap_or(0) >= rounds, "{calls:?}: {}", bin.display());
    }
    let slog2 = files(&out, |name| name.ends_with(".slog2"));
    assert_eq!(slog2.len(), 1, "{}", recovered.story());
    checked(&slog2[0]);
    let states = contents::slog2(&slog2[0]).states;
    assert!(states["MPI_Sendrecv"] >= 4 * rounds, "{states:?}");
}

#[test]
fn a_host_that_is_cut_off_leaves_block_files_on_both() {
    for mpi in installed() {
        let folder = TestFolder::new(&format!("{}-hosts-cut", mpi.suffix()));
        let Some(mut hosts) = Hosts::new(&folder, &[0, AHEAD]) else {
            return;
        };
        let run = HostRun {
            mpi,
            per_host: &[2, 2],
            variables: &[],
            program: "cut_off",
            arguments: &[ROUNDS, "middle"],
        };
        let launcher = run.start(&hosts, &folder);
        fs::write(folder.path().join("go"), "").expect("own folder");
        std::thread::sleep(Duration::from_millis(50));
        hosts.cut_off(2);
        std::thread::sleep(Duration::from_millis(100));
        // As a batch system ends the job: no program ends by itself.
        hosts.power_off(1);
        hosts.power_off(2);
        drop(launcher);
        recovered_whole(&folder, &hosts);
    }
}

/// The ranks of both hosts go on after the deadline, and say where the calls are. How long MPI itself then waits in MPI_Finalize is not the
/// recorder's. A merge is cut in the middle on one MPI in the tree and on the other in parallel, with EVERY_MPI on each in both.
#[test]
fn a_host_that_is_cut_off_in_the_merge_keeps_nobody() {
    let has_all = std::env::var_os("EVERY_MPI").is_some();
    if !has_all {
        tests::skip("a cut in each kind of merge on each MPI: only with EVERY_MPI=1");
    }
    for mpi in installed() {
        for (merge, when) in [("tree", "before"), ("parallel", "in"), ("tree", "in")] {
            let is_other = when == "in" && (merge == "tree") == mpi.is_mpich();
            if is_other && !has_all {
                continue;
            }
            let folder = TestFolder::new(&format!("{}-hosts-cut-{merge}", mpi.suffix()));
            let Some(mut hosts) = Hosts::new(&folder, &[0, AHEAD]) else {
                return;
            };
            // On a busy machine with a slow network seconds may pass before the merge begins.
            let deadline = if when == "before" { "1" } else { "8" };
            let run = HostRun {
                mpi,
                per_host: &[2, 2],
                variables: &[("TRACE_MERGE", merge), ("TRACE_DEADLINE", deadline)],
                program: "cut_off",
                arguments: &[ROUNDS, "end"],
            };
            let launcher = run.start(&hosts, &folder);
            let go = || fs::write(folder.path().join("go"), "").expect("own folder");
            let trace = folder.path().join("trace");
            if when == "before" {
                hosts.cut_off(2);
                go();
            } else {
                // Long enough for a merge to be cut in the middle.
                hosts.slow_down(1, 1);
                go();
                wait_until(folder.path(), "the merge begins", || {
                    !files(&trace, |name| name.contains(".slog2")).is_empty()
                });
                hosts.cut_off(2);
            }
            let both_said = || {
                let of = |n| fs::read_to_string(folder.path().join(format!("said.node{n}")));
                let is_there = |text: String| text.contains("mpitrace recover");
                [1, 2].into_iter().all(|n| of(n).is_ok_and(is_there))
            };
            wait_until(
                folder.path(),
                "both hosts say where the calls are",
                both_said,
            );
            let names = files(&trace, |name| name.ends_with(".slog2"));
            assert!(names.is_empty(), "{names:?}");
            hosts.power_off(1);
            hosts.power_off(2);
            drop(launcher);
            recovered_whole(&folder, &hosts);
        }
    }
}
