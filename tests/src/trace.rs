//! Running a program under its launcher with the recorder preloaded, and what the run left.

use crate::process::{self, Finished, Folder};
use crate::tally::{self, Counts};
use crate::{Mpi, mpitrace};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Time limit of one run; the slowest of ours takes some seconds on two cores.
pub const LIMIT: Duration = Duration::from_secs(90);

/// A traced run and its folder.
pub struct Run {
    /// Where the program ran; the trace is in `trace/` below it.
    pub folder: Folder,
    /// What it printed and how it ended.
    pub finished: Finished,
    /// How many ranks it had.
    pub ranks: usize,
}

/// How a traced run is to be made. The defaults suit most.
pub struct Tracing<'a> {
    /// The implementation.
    pub mpi: Mpi,
    /// Number of ranks.
    pub ranks: usize,
    /// Files to copy into the working directory first.
    pub files: &'a [PathBuf],
    /// Further environment variables.
    pub variables: &'a [(&'a str, &'a str)],
    /// Time limit.
    pub limit: Duration,
    /// Whether the recorder is preloaded; without it the run is the one to compare with.
    pub preload: bool,
}

impl<'a> Tracing<'a> {
    /// Preloaded, nothing else changed.
    pub fn new(mpi: Mpi, ranks: usize) -> Tracing<'a> {
        Tracing {
            mpi,
            ranks,
            files: &[],
            variables: &[],
            limit: LIMIT,
            preload: true,
        }
    }

    /// Runs a program with its arguments.
    #[track_caller]
    pub fn run(&self, program: &Path, arguments: &[&str]) -> Run {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let folder = Folder::new(&format!("{}-{name}-n{}", self.mpi.suffix(), self.ranks));
        for file in self.files {
            let to = folder.path().join(file.file_name().expect("a file"));
            fs::copy(file, to).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        }
        let mut command = self.mpi.mpiexec(self.ranks);
        self.settings(&mut command, &folder);
        if self.preload {
            // `env` comes between so that the launcher itself is not preloaded.
            command.args([
                "env".into(),
                format!("LD_PRELOAD={}", self.mpi.library().display()),
            ]);
        }
        command.arg(program).args(arguments);
        let finished = process::run(&mut command, self.limit);
        Run {
            folder,
            finished,
            ranks: self.ranks,
        }
    }

    /// Working directory and variables of a run in this folder.
    pub fn settings(&self, command: &mut Command, folder: &Folder) {
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
            .envs(self.variables.iter().copied());
    }
}

/// A program run with the recorder, all defaults.
#[track_caller]
pub fn traced(mpi: Mpi, ranks: usize, program: &Path) -> Run {
    Tracing::new(mpi, ranks).run(program, &[])
}

impl Run {
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

    /// What `mpitrace print` says of a file.
    #[track_caller]
    pub fn print(&self, file: &Path) -> String {
        let mut command = Command::new(mpitrace());
        command.arg("print").arg(file);
        process::run(&mut command, LIMIT).succeeded().stdout
    }

    /// The calls the program made by its own tally, per rank.
    pub fn made(&self) -> BTreeMap<usize, Counts> {
        tally::read(&self.folder.path().join("tally"))
    }

    /// The calls the recorder counted, per rank.
    #[track_caller]
    pub fn counted(&self) -> BTreeMap<usize, Counts> {
        let path = self.folder.path().join("counts");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| {
            panic!("{}: {error}\n{}", path.display(), self.finished.story())
        });
        tally::parse(&text)
    }

    /// The calls found in the DUMPI files, per rank.
    ///
    /// In the text of `dumpi2ascii` a call begins with `MPI_X entering at walltime`; calls that DUMPI has no number for
    /// are functions of an address section.
    #[track_caller]
    pub fn in_dumpi(&self) -> BTreeMap<usize, Counts> {
        self.files("bin")
            .iter()
            .map(|file| {
                let stem = file.file_stem().expect("a name").to_string_lossy();
                let rank = stem
                    .rsplit('-')
                    .next()
                    .and_then(|digits| digits.parse().ok());
                let rank = rank.unwrap_or_else(|| panic!("{stem}: no rank at the end"));
                let mut counts = Counts::new();
                for line in self.print(file).lines() {
                    if let Some((function, _)) = line.split_once(" entering at walltime ") {
                        *counts.entry(function.trim().to_owned()).or_default() += 1;
                    }
                }
                (rank, counts)
            })
            .collect()
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
