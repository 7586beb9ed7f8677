//! Running a program under its launcher with the recorder preloaded, and what the run left.

use crate::process::{self, FinishedCommand, TestFolder};
use crate::tally::{self, CallTally, is_conversion};
use crate::{Mpi, contents, mpitrace};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time limit of one run; the slowest of ours takes some seconds on two cores.
pub const LIMIT: Duration = Duration::from_secs(300);

/// A traced run and its folder.
pub struct TracedRun {
    /// Folder in which the program ran; the trace is in `trace/` below it.
    pub folder: TestFolder,
    /// Output and end of the program.
    pub finished: FinishedCommand,
    /// Number of ranks.
    pub ranks: usize,
}

/// Setup of a traced run. The defaults suit most.
pub struct TraceSetup<'a> {
    /// The implementation.
    pub mpi: Mpi,
    /// Number of ranks.
    pub ranks: usize,
    /// Files to copy into the working directory first.
    pub files: &'a [PathBuf],
    /// Further environment variables; one with an empty value is taken away.
    pub variables: &'a [(&'a str, &'a str)],
    /// Time limit.
    pub limit: Duration,
    /// Libraries to be preloaded in front of the recorder.
    pub before: &'a [PathBuf],
    /// Libraries to be preloaded behind the recorder.
    pub behind: &'a [PathBuf],
    /// Whether the recorder is preloaded; without it the run is the one to compare with.
    pub preload: bool,
}

impl<'a> TraceSetup<'a> {
    /// Preloaded, nothing else changed.
    pub fn new(mpi: Mpi, ranks: usize) -> TraceSetup<'a> {
        TraceSetup {
            mpi,
            ranks,
            files: &[],
            variables: &[],
            limit: LIMIT,
            before: &[],
            behind: &[],
            preload: true,
        }
    }

    /// Runs a program with its arguments.
    #[track_caller]
    pub fn run(&self, program: &Path, arguments: &[&str]) -> TracedRun {
        let (folder, mut command) = self.command(program, arguments);
        let finished = process::run(&mut command, self.limit);
        TracedRun {
            folder,
            finished,
            ranks: self.ranks,
        }
    }

    /// Runs a program that starts others. `None` where MPI could not start them ([`process::run_starting`]).
    #[track_caller]
    pub fn run_starting(&self, program: &Path) -> Option<TracedRun> {
        let (folder, mut command) = self.command(program, &[]);
        let finished = process::run_starting(&mut command)?;
        Some(TracedRun {
            folder,
            finished,
            ranks: self.ranks,
        })
    }

    /// The launcher's command line, and the folder in which it is to run.
    fn command(&self, program: &Path, arguments: &[&str]) -> (TestFolder, Command) {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let folder = TestFolder::new(&format!("{}-{name}-n{}", self.mpi.suffix(), self.ranks));
        for file in self.files {
            let to = folder.path().join(file.file_name().expect("a file"));
            fs::copy(file, to).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
        let mut command = self.mpi.mpiexec(self.ranks);
        self.settings(&mut command, &folder);
        if self.preload {
            // `env` comes between so that the launcher itself is not preloaded.
            let mut preload = String::new();
            for library in self.before {
                preload += &format!("{}:", library.display());
            }
            preload += &crate::recorder().display().to_string();
            for library in self.behind {
                preload += &format!(":{}", library.display());
            }
            command.args(["env".into(), format!("LD_PRELOAD={preload}")]);
        }
        command.arg(program).args(arguments);
        (folder, command)
    }

    /// Working directory and variables of a run in this folder.
    pub fn settings(&self, command: &mut Command, folder: &TestFolder) {
        let trace = folder.path().join("trace");
        let tally = folder.path().join("tally");
        for path in [&trace, &tally] {
            fs::create_dir_all(path).expect("own folder");
        }
        command
            .current_dir(folder.path())
            .env("TALLY_DIR", &tally)
            .env("TRACE_DIR", &trace)
            .env("TRACE_TMPDIR", &trace)
            .env("TRACE_COUNTS", folder.path().join("counts"))
            .env("TRACE_OUTPUTS", "all")
            // Without what the user has set for all runs.
            .env("XDG_CONFIG_HOME", folder.path())
            .envs(self.variables.iter().copied());
        for (name, _) in self.variables.iter().filter(|(_, value)| value.is_empty()) {
            command.env_remove(name);
        }
    }
}

/// A program run with the recorder, which writes all outputs; the rest is as by default.
#[track_caller]
pub fn traced(mpi: Mpi, ranks: usize, program: &Path) -> TracedRun {
    TraceSetup::new(mpi, ranks).run(program, &[])
}

impl TracedRun {
    /// The folder of the trace.
    pub fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// The trace's files with this extension, in order of their names.
    pub fn files(&self, extension: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.trace())
            .expect("own folder")
            .map(|entry| entry.expect("own folder").path())
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .collect();
        files.sort();
        files
    }

    /// The one file with this extension.
    #[track_caller]
    pub fn file(&self, extension: &str) -> PathBuf {
        let files = self.files(extension);
        assert_eq!(
            files.len(),
            1,
            "files *.{extension}: {files:?}\n{}",
            self.finished.story()
        );
        files.into_iter().next().expect("just counted")
    }

    /// Output of `mpitrace print` for a file.
    #[track_caller]
    pub fn print(&self, file: &Path) -> String {
        let mut command = Command::new(mpitrace());
        command.arg("print").arg(file);
        process::run(&mut command, LIMIT).succeeded().stdout
    }

    /// The calls the program made by its own tally, per rank.
    pub fn made(&self) -> BTreeMap<usize, CallTally> {
        tally::read(&self.folder.path().join("tally"))
    }

    /// The calls the recorder counted, per rank.
    #[track_caller]
    pub fn counted(&self) -> BTreeMap<usize, CallTally> {
        let path = self.folder.path().join("counts");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}\n{}", path.display(), self.finished.story())
        });
        tally::parse(&text)
    }

    /// The calls found in the DUMPI files, per rank, under names without `_c`.
    #[track_caller]
    pub fn in_dumpi(&self) -> BTreeMap<usize, CallTally> {
        let read = |file: &PathBuf| {
            let stem = file.file_stem().expect("a name").to_string_lossy();
            let rank = stem
                .rsplit('-')
                .next()
                .and_then(|digits| digits.parse().ok());
            let rank = rank.unwrap_or_else(|| panic!("{stem}: no rank at the end"));
            (rank, contents::without_large(&contents::dumpi(file)))
        };
        self.files("bin").iter().map(read).collect()
    }

    /// That the recorder counted these calls, lost none, and that each stands once in DUMPI, CLOG2 and SLOG2. Returns
    /// what is in CLOG2 and SLOG2.
    #[track_caller]
    pub fn holds_calls(
        &self,
        calls: &BTreeMap<usize, CallTally>,
    ) -> (contents::Clog2Counts, contents::Slog2Counts) {
        assert_eq!(calls.len(), self.ranks, "ranks");
        same(
            "the program and the recorder's count",
            calls,
            &self.counted(),
        );
        let total: u64 = calls.values().flat_map(CallTally::values).sum();
        assert_eq!(
            self.closing_numbers(),
            (total, 0),
            "{}",
            self.closing_line()
        );
        let renamed = |how: fn(&CallTally) -> CallTally| -> BTreeMap<usize, CallTally> {
            calls
                .iter()
                .map(|(rank, counts)| (*rank, how(counts)))
                .collect()
        };
        same(
            "the program and DUMPI",
            &renamed(contents::without_large),
            &self.in_dumpi(),
        );
        let clog2 = contents::clog2(&self.file("clog2"));
        same(
            "the program and CLOG2",
            &renamed(contents::cut),
            &clog2.calls,
        );
        let slog2 = contents::slog2(&self.file("slog2"));
        let mut states = CallTally::new();
        for (name, count) in calls.values().flat_map(contents::cut) {
            *states.entry(name).or_default() += count;
        }
        same(
            "the program and SLOG2",
            &[(0, states)].into(),
            &[(0, slog2.states.clone())].into(),
        );
        (clog2, slog2)
    }

    /// As [`TracedRun::holds_calls`], and every message is sent, received and drawn. Returns the number of messages.
    #[track_caller]
    pub fn holds(&self, calls: &BTreeMap<usize, CallTally>) -> u64 {
        let (clog2, slog2) = self.holds_calls(calls);
        assert_eq!(
            clog2.sends, clog2.receives,
            "messages sent and received in CLOG2"
        );
        assert_eq!(
            slog2.arrows, clog2.receives,
            "arrows in SLOG2 and messages in CLOG2"
        );
        slog2.arrows
    }

    /// The line in which the recorder says what it wrote.
    #[track_caller]
    pub fn closing_line(&self) -> &str {
        let mut lines = self
            .finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("trace: ") && line.contains(" calls, "));
        let line = lines.next();
        let line = line.unwrap_or_else(|| panic!("no closing line\n{}", self.finished.story()));
        assert!(
            lines.next().is_none(),
            "two closing lines\n{}",
            self.finished.story()
        );
        line
    }

    /// The calls and the lost ones that the closing line names. Thousands may be set apart by spaces.
    #[track_caller]
    pub fn closing_numbers(&self) -> (u64, u64) {
        let line = self.closing_line();
        let number_before = |word: &str| {
            let head = line.split_once(word).unwrap_or_else(|| panic!("{line}")).0;
            let digits: String = head
                .rsplit([',', ':'])
                .next()
                .unwrap_or_default()
                .chars()
                .filter(char::is_ascii_digit)
                .collect();
            digits.parse().unwrap_or_else(|_| panic!("{line}"))
        };
        (number_before(" calls,"), number_before(" lost"))
    }
}

/// Compares calls per rank and function, conversions of handles apart, and names the differences only.
#[track_caller]
pub fn same(what: &str, left: &BTreeMap<usize, CallTally>, right: &BTreeMap<usize, CallTally>) {
    let empty = CallTally::new();
    for rank in left.keys().chain(right.keys()) {
        let left = left.get(rank).unwrap_or(&empty);
        let right = right.get(rank).unwrap_or(&empty);
        let differences: Vec<String> = left
            .keys()
            .chain(right.keys().filter(|name| !left.contains_key(*name)))
            .filter(|name| !is_conversion(name) && left.get(*name) != right.get(*name))
            .map(|name| format!("{name}: {:?}, {:?}", left.get(name), right.get(name)))
            .collect();
        assert!(
            differences.is_empty(),
            "rank {rank}, {what}: {differences:#?}"
        );
    }
}
