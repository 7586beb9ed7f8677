//! The line that rank 0 prints at the end, and the counts for whoever checks them.

use super::outputs::FinishedFile;
use super::rank_summary::RankSummary;
use crate::blocks::own;
use crate::mpi::world::World;
use crate::platform::environment;
use crate::platform::own_file;
use crate::platform::say::{on_first_rank, say};
use crate::platform::{host, launcher, program};
use merge::dumpi;
use settings::{DebugSet, MAX_DUMPI_RANKS, OutputSet, Settings};
use std::path::{Path, PathBuf};
use std::time::Instant;
use trace_model::units;
use unify::forward::ForwardedMessages;
use unify::scan::Scan;
use wrappers::Table;

/// Fewer polls than this hurt nobody: no setting is advised.
const MIN_POLLS_FOR_ADVICE: u64 = 1000;

/// Contents of the report.
struct FinalReport<'a> {
    /// The ranks.
    world: &'a World,
    /// Number of ranks with a recorder.
    processes: usize,
    /// Summary of their records.
    whole: &'a RankSummary,
    /// Files of rank 0.
    files: &'a [FinishedFile],
    /// DUMPI files, if wanted.
    dumpi: Option<&'a dumpi::DumpiOptions>,
    /// Whether there would be DUMPI files, were there fewer ranks.
    lacks_dumpi: bool,
    /// DUMPI files of ranks that rank 0 sees.
    seen: u64,
    /// Files that have been written where rank 0 does not see them.
    unseen: u64,
    /// Message endpoints that are not drawn.
    unmatched_endpoints: u64,
    /// Corrections of message times.
    corrected: Option<ForwardedMessages>,
    /// Duration of reading, merging and writing.
    seconds: f64,
    /// Files that could not be written, and why.
    failures: &'a [String],
}

/// The written files, and when writing began.
pub struct WrittenFiles<'a> {
    /// Scan of the first process with a recorder.
    pub scan: &'a Scan,
    /// Options of the DUMPI files.
    pub dumpi: &'a dumpi::DumpiOptions,
    /// Ranks that have a recorder, in order, if not all of them have one.
    pub ranks: Option<&'a [u32]>,
    /// Files of rank 0.
    pub files: &'a [FinishedFile],
    /// Message endpoints that are not drawn because the other end is not known.
    pub unmatched_endpoints: u64,
    /// Corrections of message times, if they were asked for.
    pub corrected: Option<ForwardedMessages>,
    /// When the merge began.
    pub begun: Instant,
}

/// What came of the files.
pub struct Conclusion {
    /// The SLOG2 file, if there is one.
    pub slog2: Option<PathBuf>,
    /// Whether everything that was asked for is there.
    pub result: Result<(), String>,
}

impl Conclusion {
    /// Of a rank that writes no files.
    pub const OF_OTHERS: Conclusion = Conclusion {
        slog2: None,
        result: Ok(()),
    };
}

/// Ends the work on the process that has written the files: DUMPI's metafile, and the closing line with all `failures`.
pub fn conclude(
    world: &World,
    settings: &Settings,
    whole: &RankSummary,
    written: &WrittenFiles<'_>,
    mut failures: Vec<String>,
) -> Conclusion {
    let processes = written.ranks.map_or(world.size as usize, <[u32]>::len);
    let any_dumpi = settings.outputs.dumpi && whole.dumpi_failures < processes as u64;
    if any_dumpi {
        let made = match written.ranks {
            Some(ranks) => dumpi::write_meta(written.scan, written.dumpi, ranks.iter().copied()),
            None => dumpi::write_meta(written.scan, written.dumpi, 0..world.size as u32),
        };
        failures.extend(made.err().map(|e| e.to_string()));
    }
    if whole.dumpi_failures > 0 {
        failures.push(format!(
            "{} DUMPI files not written: {}",
            whole.dumpi_failures,
            whole.dumpi_reason.as_str()
        ));
    }
    failures.dedup();
    let written_dumpi = processes as u64 - whole.dumpi_failures;
    let seen = match any_dumpi {
        true => seen(written.dumpi, world.size as u32),
        false => 0,
    };
    let report = FinalReport {
        world,
        processes,
        whole,
        files: written.files,
        dumpi: any_dumpi.then_some(written.dumpi),
        lacks_dumpi: settings.outputs.is_auto && !settings.outputs.dumpi,
        seen,
        unseen: written_dumpi.saturating_sub(seen) * u64::from(any_dumpi),
        unmatched_endpoints: written.unmatched_endpoints,
        corrected: written.corrected,
        seconds: written.begun.elapsed().as_secs_f64(),
        failures: &failures,
    };
    if !settings.quiet {
        report.print();
    }
    Conclusion {
        slog2: report.slog2().map(Path::to_path_buf),
        result: match failures.is_empty() {
            true => Ok(()),
            false => Err("not all files could be written".to_owned()),
        },
    }
}

/// Says what makes the trace of the block files, which stay; `calls` is the number of calls of all ranks, if it is known, `base` the path of the files
/// without ending.
pub fn later(world: &World, settings: &Settings, base: &Path, calls: Option<u64>) {
    let Some(store) = own::store().filter(|_| !settings.quiet) else {
        return;
    };
    let folder = store.path().parent().unwrap_or(Path::new("."));
    let folder = path_quoted(&folder.display().to_string());
    say!(
        "trace: {}{}, not merged (merge later): the block files stay, those of {} in {folder}; `mpitrace recover {} {folder}` makes the trace{}",
        plural(world.size as u64, "rank"),
        calls.map_or_else(String::new, |calls| format!(", {}", plural(calls, "call"))),
        host::host(),
        recover_options(settings, base),
        left_to_others(settings),
    );
}

/// What the settings ask for and `mpitrace recover` does not make, with the commands that make it of the trace.
fn left_to_others(settings: &Settings) -> &'static str {
    match (
        settings.outputs.otf2,
        settings.outputs.slog2 && settings.report,
    ) {
        (false, false) => "",
        (true, false) => ", `mpitrace convert` the OTF2 archive of it",
        (false, true) => ", `mpitrace report` the report of it",
        (true, true) => {
            ", `mpitrace convert` and `mpitrace report` the OTF2 archive and the report of it"
        }
    }
}

/// The options with which `mpitrace recover` makes the files that MPI_Finalize would have made, as far as it can: there is no OTF2 among them.
fn recover_options(settings: &Settings, base: &Path) -> String {
    let to = base.parent().filter(|to| !to.as_os_str().is_empty());
    let to = to.map(shown).filter(|to| !to.is_empty());
    let mut options = format!("--dir {}", path_quoted(to.as_deref().unwrap_or(".")));
    if settings.output != "%p"
        && let Some(name) = base.file_name()
    {
        let name = name.to_string_lossy();
        // A name that begins as an option does is the value of this one where it stands in the same word.
        let between = if name.starts_with('-') { '=' } else { ' ' };
        options += &format!(" --output{between}{}", quoted(&name));
    }
    let wanted = OutputSet {
        otf2: false,
        ..settings.outputs
    };
    let wanted = wanted.names();
    if !wanted.is_empty() && wanted != ["dumpi", "slog2"] {
        options += &format!(" --formats {}", wanted.join(","));
    }
    options
}

/// Number of the ranks' DUMPI files that rank 0 sees: hosts may each have a folder of their own under one name.
fn seen(options: &dumpi::DumpiOptions, ranks: u32) -> u64 {
    let is_there = |rank: &u32| options.bin_path(*rank).exists();
    (0..ranks).filter(is_there).count() as u64
}

/// `8604` as `8 604`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// A path as seen from where the program began, which is where its user is, wherever the program has gone.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(environment::home())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+/%=:,@".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// The name of a file or folder as a shell and a command take it: none that begins as an option does.
fn path_quoted(path: &str) -> String {
    match path.starts_with('-') {
        true => quoted(&format!("./{path}")),
        false => quoted(path),
    }
}

fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(n), if n == 1 { "" } else { "s" })
}

impl FinalReport<'_> {
    /// Path of the SLOG2 file, if there is one.
    fn slog2(&self) -> Option<&Path> {
        let mut paths = self.files.iter().map(|file| file.path.as_path());
        paths.find(|path| {
            path.extension()
                .is_some_and(|extension| extension == "slog2")
        })
    }

    /// Prints one line, and one more for each thing that went wrong.
    fn print(&self) {
        let mut line = format!(
            "trace: {}{}, {}, {}{} lost -> ",
            match self.processes {
                n if n < self.world.size as usize => format!("{n} of "),
                _ => String::new(),
            },
            plural(self.world.size as u64, "rank"),
            plural(self.whole.calls, "call"),
            match self.whole.ignored {
                0 => String::new(),
                n => format!("{} counted only, ", grouped(n)),
            },
            grouped(self.whole.lost)
        );
        let mut parts: Vec<String> = self
            .files
            .iter()
            .map(|f| format!("{} ({})", shown(&f.path), units::bytes(f.size)))
            .collect();
        if let Some(options) = self.dumpi {
            parts.push(format!(
                "{} + {} .bin ({})",
                shown(&options.meta_path()),
                self.seen,
                units::bytes(self.whole.dumpi_bytes)
            ));
        }
        if parts.is_empty() {
            parts.push("no files".to_owned());
        }
        line += &parts.join(", ");
        line += &format!(", merge {:.2} s", self.seconds);
        if let Some(slog2) = self.slog2() {
            line += &format!("; next: mpitrace report {}", path_quoted(&shown(slog2)));
        }
        say!("{line}");
        if let (1, Some(started @ 2..)) = (self.world.size, launcher::size()) {
            on_first_rank(&format!(
                "trace: MPI_COMM_WORLD has this rank only, though the launcher has started {started}: if it is that of another MPI, each rank ran alone and has a trace of its own"
            ));
        }
        if self.lacks_dumpi {
            say!(
                "trace: no DUMPI files, as there are more than {MAX_DUMPI_RANKS} ranks: TRACE_OUTPUTS=slog2,dumpi writes a file for each"
            );
        }
        if self.whole.lost > 0 {
            say!(
                "trace: {} could not be recorded: {}",
                plural(self.whole.lost, "call"),
                match self.whole.lost_reason.as_str() {
                    "" => "no room for blocks",
                    reason => reason,
                }
            );
        }
        if self.whole.dropped > 0 {
            say!(
                "trace: {} before these were given up for newer ones (at-disk-limit newest)",
                plural(self.whole.dropped, "call")
            );
        }
        if self.unmatched_endpoints > 0 {
            say!(
                "trace: {} not drawn, whose other end is left out or not known",
                plural(self.unmatched_endpoints, "message endpoint")
            );
        }
        if let Some(c) = &self.corrected {
            let more = match c.given_up {
                0 => String::new(),
                n => format!("; {} without their sends", plural(n, "receive")),
            };
            say!(
                "trace: {} of {} arrived before they were sent, at most {:.9} s: {} moved forward, at most {:.9} s{more}",
                grouped(c.violations),
                plural(c.messages, "message"),
                c.largest,
                plural(c.moved, "record"),
                c.farthest
            );
        }
        if self.whole.silent > 0 {
            say!(
                "trace: {} of {} ranks recorded nothing: {}",
                self.whole.silent,
                self.world.size,
                self.whole.reason.as_str()
            );
        }
        if self.whole.differing > 0 {
            say!(
                "trace: the settings of {} differ from rank 0's ({}): files are written as rank 0's say",
                plural(self.whole.differing, "rank"),
                self.whole.difference.as_str()
            );
        }
        if self.whole.repeated >= MIN_POLLS_FOR_ADVICE && self.whole.repeated > self.whole.calls / 2
        {
            say!(
                "trace: {} of {} only asked again, in vain or for the time (MPI_Test, MPI_Iprobe, MPI_Wtime …): \
                 with TRACE_POLLING=sample these are counted, and the trace is small",
                grouped(self.whole.repeated),
                plural(self.whole.calls, "call"),
            );
        }
        if let (Some(options), 1..) = (self.dumpi, self.unseen) {
            say!(
                "trace: {} not in {} as {} sees it: that folder is not shared, each is in the one of its rank's host",
                match self.unseen {
                    1 => "1 .bin file is".to_owned(),
                    n => format!("{} .bin files are", grouped(n)),
                },
                options.root.parent().unwrap_or(Path::new(".")).display(),
                host::host()
            );
        }
        for failure in self.failures {
            say!("trace: {failure}");
        }
    }
}

/// Appends this rank's line to the file that the setting `counts` names: rank, number of CallIDs given out (`ids`), and recorded
/// calls by function, with the polls that were skipped between them.
pub fn counts(settings: &Settings, world: &World, ids: u64, scan: &Scan, table: &Table) {
    let Some(path) = &settings.counts else { return };
    let path = settings::expand(
        path,
        &settings::NameValues {
            program: &program::name(),
            job: &world.job.to_string(),
            task: &environment::array_task(),
            date: "",
            host: &host::host(),
            ranks: world.size as u32,
            rank: world.rank as u32,
            pid: std::process::id(),
        },
    );
    let mut line = format!("{} {ids}", world.rank);
    let names = table
        .functions
        .iter()
        .map(|f| (f.id as u16, f.name.as_str()));
    let unknown = scan.library.functions();
    for (number, name) in names.chain(unknown.iter().map(|(n, name)| (*n, name.as_str()))) {
        let calls = scan.calls_of(number) + scan.skipped_of(number);
        if calls > 0 {
            line += &format!(" {name}={calls}");
        }
    }
    line.push('\n');
    let written = own_file::append(&environment::home().join(&path), &line, &is_counts);
    if let Err(e) = written {
        on_first_rank(&format!("trace: {path}: {e}"));
    }
}

/// Whether a file begins as one of counts does: two numbers, and a function or the end of the line.
fn is_counts(beginning: &str) -> bool {
    let mut words = beginning.split([' ', '\n']);
    let mut number = || {
        let word = words.next().unwrap_or_default();
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
    };
    number() && number()
}

/// Messages of the setting `debug`, from the first ranks only.
pub struct Diagnostics {
    rank: i32,
    begun: Instant,
    wanted: DebugSet,
}

impl Diagnostics {
    /// Begins to take the time.
    pub fn new(world: &World, settings: &Settings) -> Diagnostics {
        Diagnostics {
            rank: world.rank,
            begun: Instant::now(),
            wanted: if world.rank < 4 {
                settings.debug
            } else {
                DebugSet::NONE
            },
        }
    }

    /// Something has been reached.
    pub fn step(&self, what: &str) {
        if self.wanted.libdumpi {
            let seconds = self.begun.elapsed().as_secs_f64();
            say!("trace: rank {}: {seconds:.6} s: {what}", self.rank);
        }
    }

    /// A file has been written.
    pub fn file(&self, path: &Path, bytes: u64) {
        if self.wanted.traceio {
            let path = path.display();
            say!("trace: rank {}: {path}, {bytes} bytes", self.rank);
        }
    }

    /// Says how often each function was called.
    pub fn calls(&self, scan: &Scan, table: &Table) {
        if !self.wanted.mpicalls {
            return;
        }
        for function in &table.functions {
            let calls = scan.calls_of(function.id as u16);
            if calls > 0 {
                say!("trace: rank {}: {calls} {}", self.rank, function.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_counts_are_told_from_others() {
        assert!(is_counts("0 12 MPI_Init=1 MPI_Send=10\n"));
        assert!(is_counts("17 0\n"));
        for text in ["export PATH", "12\n", "#!/bin/sh\n", " 1 2", "1 x", "-1 2 "] {
            assert!(!is_counts(text), "{text}");
        }
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(8604), "8 604");
        assert_eq!(grouped(1_234_567), "1 234 567");
    }
}
