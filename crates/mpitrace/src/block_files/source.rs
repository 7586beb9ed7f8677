//! One block file: what process it is of and how that ended.

use crate::block_files::machine_clock::{self, Introduction, MachineClock, introduction};
use blockfile::define::ProcessDefinition;
use blockfile::file::{BlockFile, BlockFileError, BlockFileInfo, OpenCall, ThreadBlocks};
use blockfile::layout::ended;
use settings::Settings;
use std::path::Path;
use unify::library::Library;
use wrappers::Table;

/// A block file that can be read.
pub struct BlockFileInput<'a> {
    /// Name of the file.
    pub path: &'a Path,
    /// Contents of the file.
    pub file: BlockFile<'a>,
    /// Header of the file.
    pub info: BlockFileInfo,
    /// Parts of the file that cannot be read.
    pub damage: Vec<BlockFileError>,
    /// The process that wrote it.
    pub process: ProcessDefinition,
    /// The settings that were in force after MPI_Init, but for those of single functions; the defaults where they are not known.
    pub settings: Settings,
    /// Start of the process's first call, ns since the epoch; 0 where that is not known.
    pub started: u64,
    /// Whether the process is still there and writing, and this a copy of what it had written.
    pub running: bool,
    /// Of a running process, what it was in after the files of all others had been read, if somebody looked.
    pub second_look: Option<SecondLook>,
}

/// What a running process is in, seen a second time. Files are copied one after the other: a call that was running in the copy and in a second look, taken
/// when all copies were there, was running all the time between.
#[derive(Clone, Debug, Default)]
pub struct SecondLook {
    /// By number of the thread, the call that is running, and for how many seconds if the clock tells.
    calls: Vec<(u32, OpenCall, Option<f64>)>,
}

impl SecondLook {
    /// What stands in the file of a running process.
    pub fn at(file: &BlockFile<'_>) -> SecondLook {
        let clock = file.info().clock;
        let threads = file.threads().iter();
        let calls = threads.filter_map(|thread| {
            let open = thread.open_call()?;
            let since = machine_clock::seconds_since(clock, open.start);
            Some((thread.number, open, since))
        });
        SecondLook {
            calls: calls.collect(),
        }
    }

    /// Whether a thread is still in this call, and for how many seconds if the clock tells.
    pub fn still_in(&self, thread: u32, call: OpenCall) -> Option<Option<f64>> {
        let mut calls = self.calls.iter();
        let found = calls.find(|(number, open, _)| (*number, *open) == (thread, call));
        found.map(|(.., since)| *since)
    }
}

impl<'a> BlockFileInput<'a> {
    /// Opens it. `running` is whether `bytes` are a copy of what a process is writing, `notes` what this machine's clocks say,
    /// for files of processes that could not say it.
    pub fn new(
        path: &'a Path,
        mut file: BlockFile<'a>,
        running: bool,
        table: &Table,
        notes: Option<&'a MachineClock>,
    ) -> Result<BlockFileInput<'a>, String> {
        let info = file.info();
        if info.table != table.fingerprint() {
            return Err(format!(
                "{}: written by another version of libtrace: function table {:016x}, expected {:016x}",
                path.display(),
                info.table,
                table.fingerprint()
            ));
        }
        if running {
            file.cut_at_gaps();
        }
        let damage = file.damage();
        let Introduction {
            process,
            settings,
            readings,
        } = introduction(&file);
        if let Some(notes) = notes {
            notes.complete(&mut file, &process, &readings);
        }
        Ok(BlockFileInput {
            running,
            second_look: None,
            started: readings.first().map_or(0, |r| r.realtime),
            path,
            file,
            info,
            damage,
            process,
            settings: Settings::from_text(&settings).0,
        })
    }

    /// The rank that the launcher had told of before MPI_Init, as it stands in the file's name: `libtrace.PROGRAM.RANK.PID.blocks`.
    pub fn rank_of_name(&self) -> Option<u32> {
        let name = self.path.file_name()?.to_str()?;
        let pid = self.info.pid.to_string();
        let parts: Vec<&str> = name.split('.').collect();
        let at = parts.iter().rposition(|part| *part == pid)?;
        parts.get(at.checked_sub(1)?)?.parse().ok()
    }

    /// Sets rank, size and run of a process that died in MPI_Init and so could not write them.
    pub fn set_rank(&mut self, rank: u32, size: u32, run: u64) {
        self.file.set_rank(rank, size, run);
        self.info = self.file.info();
    }

    /// Whether the process came to MPI_Finalize.
    pub fn reached_finalize(&self) -> bool {
        self.info.ended == ended::FINALIZED
    }

    /// The call that a thread is in. `None` if it is in none, or a second look has found it elsewhere.
    pub fn open_call(&self, thread: &ThreadBlocks<'_>) -> Option<OpenCall> {
        let open = thread.open_call()?;
        let is_still = |look: &SecondLook| look.still_in(thread.number, open).is_some();
        self.second_look
            .as_ref()
            .is_none_or(is_still)
            .then_some(open)
    }

    /// Whether the MPI library or the program has ended the process by itself, not somebody else.
    pub fn ended_itself(&self) -> bool {
        !self.running && matches!(self.info.ended, ended::EXITED | ended::ABORTED)
    }

    /// Description of how the process ended.
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
