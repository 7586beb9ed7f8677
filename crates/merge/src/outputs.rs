//! The files made from the merged stream: CLOG2 and SLOG2, in one pass. If one of them fails, the other goes on.

use super::clog2::Clog2Sink;
use super::frame::constant;
use super::local::Merge;
use super::operations::DrawnOperations;
pub use super::output_plan::{OutputPlan, numbered};
use super::record::MergedRecord;
use super::slog2::Slog2Sink;
use super::stream::Notes;
use super::wire::RecordDecoder;
use std::convert::Infallible;
use std::fmt::Display;
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use trace_formats::clog2::{Clog2RecordHeader, CommTable, late_messages_name};
use trace_formats::slog2::PendingFile;
use unify::forward::{ForwardLimits, ForwardedMessages, Forwarding};

/// A finished file.
pub struct FinishedFile {
    /// Where.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

impl FinishedFile {
    fn of(path: PathBuf) -> FinishedFile {
        let size = std::fs::metadata(&path).map_or(0, |m| m.len());
        FinishedFile { path, size }
    }
}

/// What came of the files.
pub struct WrittenOutputs {
    /// Path of the files without ending.
    pub base: PathBuf,
    /// The files that are complete.
    pub files: Vec<FinishedFile>,
    /// Why other files are not complete, a line for each.
    pub failures: Vec<String>,
    /// What was put right, where that was asked for.
    pub corrected: Option<ForwardedMessages>,
}

impl WrittenOutputs {
    /// Where nothing is to be written.
    pub fn nothing(base: &Path) -> WrittenOutputs {
        WrittenOutputs {
            base: base.to_owned(),
            files: Vec::new(),
            failures: Vec::new(),
            corrected: None,
        }
    }
}

/// The files being written.
pub struct OutputFiles {
    plan: OutputPlan,
    clog2: Option<Clog2Sink>,
    slog2: Option<Box<Slog2Sink>>,
    /// Whether operations below MPI are drawn into the SLOG2 file.
    has_operations: bool,
    /// Where times of messages are put right.
    forwarding: Option<Box<Forwarding<MergedRecord>>>,
    decoder: RecordDecoder,
    failures: Vec<String>,
}

/// `base` with an ending added, whatever dots it has.
pub fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// `base`, or with a number behind it the first for which none of the files exists.
pub fn free_base(base: &Path) -> PathBuf {
    bases(base)
        .find(|base| ENDINGS.iter().all(|ending| is_free(base, ending)))
        .unwrap_or_else(|| base.to_owned())
}

/// Ending of SLOG2 files.
const SLOG2: &str = ".slog2";
/// Ending of CLOG2 files.
const CLOG2: &str = ".clog2";
/// Endings of the files.
const ENDINGS: [&str; 2] = [SLOG2, CLOG2];

/// `base`, then with numbers behind it.
fn bases(base: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered = (2..u32::MAX).map(|n| with_ending(base, &format!(".{n}")));
    std::iter::once(base.to_owned()).chain(numbered)
}

fn is_free(base: &Path, ending: &str) -> bool {
    with_ending(base, ending).symlink_metadata().is_err()
}

/// Gives the files their names, with one number for all, so that they are seen to belong together. Gives the base of the names.
fn take_names(base: &Path, files: &mut [(&'static str, PendingFile)]) -> io::Result<PathBuf> {
    let others = |base: &Path, files: &[(&str, PendingFile)]| {
        let mut others = ENDINGS.iter();
        others.all(|ending| files.iter().any(|(own, _)| own == ending) || is_free(base, ending))
    };
    for base in bases(base) {
        if !others(&base, files) {
            continue;
        }
        let mut named = 0;
        let taken = files.iter_mut().try_for_each(|(ending, file)| {
            file.take_name(&with_ending(&base, ending))?;
            named += 1;
            Ok::<(), io::Error>(())
        });
        let Err(error) = taken else {
            return Ok(base);
        };
        for (_, file) in &mut files[..named] {
            file.give_name_back()?;
        }
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(error);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl OutputFiles {
    /// Begins the files.
    pub fn new(plan: OutputPlan) -> OutputFiles {
        let mut outputs = OutputFiles {
            clog2: None,
            slog2: None,
            has_operations: false,
            decoder: RecordDecoder::default(),
            forwarding: (plan.forward).then(|| Box::new(Forwarding::new(ForwardLimits::STREAM))),
            failures: Vec::new(),
            plan,
        };
        make_folder(&outputs.plan);
        if outputs.plan.clog2 {
            outputs.clog2 = outputs.begin(CLOG2, |out, plan| Clog2Sink::new(out, &plan.preamble));
        }
        if outputs.plan.slog2 {
            outputs.slog2 =
                outputs.begin(SLOG2, |out, plan| Slog2Sink::new(out, plan).map(Box::new));
        }
        outputs
    }

    /// Begins the file with this ending; `None` if that fails, which is noted.
    fn begin<S, E: Display>(
        &mut self,
        ending: &str,
        sink: impl FnOnce(PendingFile, &OutputPlan) -> Result<S, E>,
    ) -> Option<S> {
        let path = with_ending(&self.plan.base, ending);
        let begun = self.plan.begin(&path).map_err(|e| e.to_string());
        let begun = begun.and_then(|out| sink(out, &self.plan).map_err(|e| e.to_string()));
        begun.map_err(|e| self.fail(ending, &e)).ok()
    }

    /// Notes what went wrong with the file with this ending.
    fn fail(&mut self, ending: &str, why: &dyn Display) {
        let path = with_ending(&self.plan.base, ending);
        self.failures.push(format!("{}: {why}", path.display()));
    }

    /// Adds operations to the SLOG2 file, drawn where [`crate::operations::base`] says; before the first record.
    pub fn draw(&mut self, drawn: DrawnOperations) {
        if let Some(slog2) = &mut self.slog2 {
            slog2.draw(drawn);
            self.has_operations = true;
        }
    }

    /// Draws operations that end at `time` or before.
    #[inline]
    fn draw_operations(&mut self, time: f64) {
        if self.has_operations {
            self.draw_operations_until(time);
        }
    }

    #[cold]
    fn draw_operations_until(&mut self, time: f64) {
        let Some(slog2) = &mut self.slog2 else {
            return;
        };
        match slog2.draw_operations(time) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => self.fail(SLOG2, &why),
            Err(e) => {
                self.slog2 = None;
                self.fail(SLOG2, &e);
            }
        }
    }

    /// Takes all records of a merge on this machine. Gives what could not be shown.
    pub fn take(&mut self, merge: &Merge<'_, '_, '_>) -> Notes {
        let enters = self.wants_enters();
        let sink = |record: &MergedRecord| {
            self.record(record);
            Ok::<(), Infallible>(())
        };
        let Ok(notes) = match enters {
            true => merge.run(sink),
            false => merge.run_whole_states(sink),
        };
        notes
    }

    /// Whether the beginnings of states are of use ([`super::MergedBody::Enter`]).
    fn wants_enters(&self) -> bool {
        self.clog2.is_some() || self.forwarding.is_some()
    }

    /// Takes the next record of the stream.
    #[inline]
    pub fn record(&mut self, record: &MergedRecord) {
        match self.forwarding {
            None => self.put(record),
            Some(_) => self.forward(record),
        }
    }

    /// Takes the next record as another rank has sent it; `None` if the bytes are none.
    pub fn encoded(&mut self, bytes: &[u8]) -> Option<()> {
        let mut decoder = mem::take(&mut self.decoder);
        let record = decoder.decode(bytes).map(|record| self.record(record));
        self.decoder = decoder;
        record
    }

    /// Takes the next record, and writes those whose times are known to be right.
    #[cold]
    fn forward(&mut self, record: &MergedRecord) {
        if let Some(mut forwarding) = self.forwarding.take() {
            forwarding.push(record.clone(), |record| self.put(record));
            self.forwarding = Some(forwarding);
        }
    }

    /// Ends the correction of times. How far it went is said in the log.
    fn end_forwarding(&mut self) -> Option<ForwardedMessages> {
        let forwarding = self.forwarding.take()?;
        let corrected = forwarding.finish(|record| self.put(record));
        if corrected.violations > 0 {
            let header = Clog2RecordHeader {
                time: corrected.last,
                icomm: 0,
                rank: 0,
                thread: 0,
            };
            let name = late_messages_name((corrected.largest * 1e9) as u64);
            let body = constant(0, &name);
            self.put(&MergedRecord { header, body });
        }
        Some(corrected)
    }

    #[inline]
    fn put(&mut self, record: &MergedRecord) {
        self.draw_operations(record.header.time);
        if let Some(clog2) = &mut self.clog2
            && let Err(e) = clog2.take(record)
        {
            self.clog2 = None;
            self.fail(CLOG2, &e);
        }
        if let Some(slog2) = &mut self.slog2
            && let Err(e) = slog2.take(record, &self.plan)
        {
            self.slog2 = None;
            self.fail(SLOG2, &e);
        }
    }

    /// Ends the files and gives them their names. What was there before stays, unless it is to be replaced.
    pub fn finish(mut self, table: &CommTable) -> WrittenOutputs {
        let corrected = self.end_forwarding();
        self.draw_operations(f64::INFINITY);
        let mut files: Vec<(&'static str, PendingFile)> = Vec::new();
        if let Some(slog2) = self.slog2.take() {
            match slog2.finish(&self.plan) {
                Ok(file) => files.push((SLOG2, file)),
                Err(e) => self.fail(SLOG2, &e),
            }
        }
        if let Some(clog2) = self.clog2.take() {
            match clog2.finish(table, &self.plan.preamble) {
                Ok(file) => files.push((CLOG2, file)),
                Err(e) => self.fail(CLOG2, &e),
            }
        }
        name_files(self.plan, files, self.failures, corrected)
    }
}

/// Makes the folder of the files. If that fails, it shows when the files are made.
fn make_folder(plan: &OutputPlan) {
    if let Some(folder) = plan.base.parent()
        && !folder.as_os_str().is_empty()
    {
        drop(std::fs::create_dir_all(folder));
    }
}

/// Gives complete files their names. What was there before stays, unless it is to be replaced.
fn name_files(
    plan: OutputPlan,
    mut files: Vec<(&'static str, PendingFile)>,
    failures: Vec<String>,
    corrected: Option<ForwardedMessages>,
) -> WrittenOutputs {
    let mut ended = WrittenOutputs {
        base: plan.base,
        files: Vec::new(),
        corrected,
        failures,
    };
    if plan.replace {
        for (ending, mut file) in files {
            let path = with_ending(&ended.base, ending);
            match file.complete() {
                Ok(()) => ended.files.push(FinishedFile::of(path)),
                Err(e) => ended.failures.push(format!("{}: {e}", path.display())),
            }
        }
        return ended;
    }
    match take_names(&ended.base, &mut files) {
        Ok(base) => {
            let paths = files.iter().map(|(ending, _)| with_ending(&base, ending));
            ended.files = paths.map(FinishedFile::of).collect();
            ended.base = base;
        }
        Err(e) => {
            let paths = files
                .iter()
                .map(|(ending, _)| with_ending(&ended.base, ending));
            let said = paths.map(|path| format!("{}: {e}", path.display()));
            ended.failures.extend(said);
        }
    }
    ended
}

/// Files that all ranks write together, as rank 0 holds them.
pub struct SharedOutputs {
    plan: OutputPlan,
    /// SLOG2, CLOG2.
    files: [Option<PendingFile>; 2],
    failures: Vec<String>,
}

impl SharedOutputs {
    /// Begins the files.
    pub fn new(plan: OutputPlan) -> SharedOutputs {
        make_folder(&plan);
        let mut failures = Vec::new();
        let wanted = [(plan.slog2, SLOG2), (plan.clog2, CLOG2)];
        let files = wanted.map(|(is_wanted, ending)| {
            let path = with_ending(&plan.base, ending);
            let begun = is_wanted.then(|| plan.begin(&path))?;
            begun
                .map_err(|e| failures.push(format!("{}: {e}", path.display())))
                .ok()
        });
        SharedOutputs {
            plan,
            files,
            failures,
        }
    }

    /// How the files are written.
    pub fn plan(&self) -> &OutputPlan {
        &self.plan
    }

    /// The files that could be begun: SLOG2, CLOG2.
    pub fn files(&self) -> &[Option<PendingFile>; 2] {
        &self.files
    }

    /// Writes the same bytes to the beginning of each file, so that others know them.
    ///
    /// # Errors
    /// In words, with the name of the file.
    pub fn mark(&mut self, mark: &[u8]) -> Result<(), String> {
        self.files.iter_mut().flatten().try_for_each(|file| {
            let written = file.write_all(mark);
            written.map_err(|e| format!("{}: {e}", file.current_path().display()))
        })
    }

    /// Gives the files their names that are complete: those without a reason in `failed`, SLOG2, CLOG2.
    pub fn finish(mut self, failed: [Option<String>; 2]) -> WrittenOutputs {
        let mut complete = Vec::new();
        let endings = [SLOG2, CLOG2];
        for ((file, failed), ending) in self.files.into_iter().zip(failed).zip(endings) {
            match (file, failed) {
                (Some(file), None) => complete.push((ending, file)),
                (Some(_), Some(why)) => self.failures.push(why),
                (None, _) => {}
            }
        }
        name_files(self.plan, complete, self.failures, None)
    }
}
