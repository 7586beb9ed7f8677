//! One block file: what process it is of and how that ended.

use super::clock::Notes;
use formats::project::library::Library;
use formats::project::timeline::Timeline;
use records::define::{ClockReading, Definition, Process};
use records::file::{Error, File, Info};
use records::layout::Clock;
use std::fs;
use std::path::Path;
use wrappers::Table;

/// A block file that can be read.
pub struct Source<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Its contents.
    pub file: File<'a>,
    /// Its header.
    pub info: Info,
    /// What cannot be read of it.
    pub damage: Vec<Error>,
    /// The process that wrote it.
    pub process: Process,
    /// Start of the process's first call, ns since the epoch; 0 where that is not known.
    pub started: u64,
    /// Whether the process is still there and writing.
    pub running: bool,
}

/// `ended` of a file header.
mod ended {
    pub const FINALIZED: u32 = 1;
    pub const EXITED: u32 = 2;
    pub const ABORTED: u32 = 3;
}

impl<'a> Source<'a> {
    /// Opens it. `notes` is what this machine's clocks say, for files of processes that could not say it.
    pub fn new(
        path: &'a Path,
        bytes: &'a [u8],
        table: &Table,
        notes: Option<&'a Notes>,
    ) -> Result<Source<'a>, String> {
        let mut file = File::new(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        let info = file.info();
        if info.table != table.fingerprint() {
            return Err(format!(
                "{}: written by another version of libtrace: function table {:016x}, expected {:016x}",
                path.display(),
                info.table,
                table.fingerprint()
            ));
        }
        let damage = file.damage();
        let (process, readings) = introduction(&file);
        if let Some(notes) = notes
            && info.clock == Clock::Tsc
            && let [only] = &readings[..]
            && notes.continues(&process.boot, only)
        {
            file.add(&notes.block);
        }
        Ok(Source {
            running: is_writing(info.pid, path),
            started: readings.first().map_or(0, |r| r.realtime),
            path,
            file,
            info,
            damage,
            process,
        })
    }

    /// How the process ended, in words.
    pub fn end(&self, table: &Table, library: &Library) -> String {
        match self.info.ended {
            _ if self.running => return "still running".to_owned(),
            ended::FINALIZED => return "reached MPI_Finalize".to_owned(),
            ended::EXITED => return "exited without MPI_Finalize".to_owned(),
            ended::ABORTED => return "called MPI_Abort".to_owned(),
            _ => {}
        }
        let name = |number: u16| {
            let known = table.functions.get(usize::from(number));
            known
                .map(|f| f.name.as_str())
                .or_else(|| library.function(number))
                .map_or_else(|| format!("function {number}"), str::to_owned)
        };
        let threads = self.file.threads();
        let open: Vec<String> = threads
            .iter()
            .filter_map(|thread| {
                let function = name(thread.open_call()?.function);
                Some(match threads.len() {
                    1 => function,
                    _ => format!("{function} (thread {})", thread.number),
                })
            })
            .collect();
        if open.is_empty() {
            "died outside MPI".to_owned()
        } else {
            format!("died in {}", open.join(", "))
        }
    }
}

/// What a process says before its first call: who it is, and what its clocks say. All readings are given, so that it shows
/// whether there are later ones.
fn introduction(file: &File<'_>) -> (Process, Vec<ClockReading>) {
    let mut process = Process::default();
    let mut readings = Vec::new();
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let record = item.record;
        if !record.is_definition() {
            continue;
        }
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Process(p)) => process = p,
            Some(Definition::Clock(reading)) => readings.push(reading),
            _ => {}
        }
    }
    readings.sort_by_key(|r| r.ticks);
    (process, readings)
}

/// Whether process `pid` of this machine has the file mapped.
fn is_writing(pid: u32, path: &Path) -> bool {
    let (Ok(maps), Ok(path)) = (
        fs::read_to_string(format!("/proc/{pid}/maps")),
        fs::canonicalize(path),
    ) else {
        return false;
    };
    let path = path.display().to_string();
    maps.lines().any(|line| line.ends_with(&path))
}
