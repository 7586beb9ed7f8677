//! CLOG2 and SLOG2 files of the block files on one machine, written by several threads.

use super::local::LocalSlices;
use super::{PartFile, PartFiles, WholeSlices};
use crate::local::Merge;
use crate::outputs::{SharedOutputs, WrittenOutputs};
use crate::slog2::WorldLines;
use crate::stream::Notes;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use trace_formats::slog2::PendingFile;

/// A file that several threads write to.
struct ThreadFile {
    file: File,
    path: PathBuf,
}

impl PartFile for ThreadFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|e| format!("{}: {e}", self.path.display()))
    }
}

/// A handle of the file for one more thread.
fn handle(file: &PendingFile) -> Result<ThreadFile, String> {
    let path = file.current_path().to_owned();
    match file.handle() {
        Ok(file) => Ok(ThreadFile { file, path }),
        Err(e) => Err(format!("{}: {e}", path.display())),
    }
}

/// Writes the outputs of `merge`, SLOG2 among them, with `threads` threads; the bytes do not depend on their number. Gives what was written, and
/// what could not be shown.
pub fn write_local(
    merge: &Merge<'_, '_, '_>,
    outputs: SharedOutputs,
    threads: u32,
) -> (WrittenOutputs, Notes) {
    let threads = threads.max(1);
    let plan = outputs.plan();
    let [has_slog2, has_clog2] = outputs.files().each_ref().map(Option::is_some);
    if !has_slog2 {
        return (outputs.finish([None, None]), Notes::default());
    }
    let mut handles: Vec<Result<PartFiles, [Option<String>; 2]>> = Vec::new();
    for _ in 0..threads {
        let opened = outputs
            .files()
            .each_ref()
            .map(|file| file.as_ref().map(handle));
        let failed = opened
            .each_ref()
            .map(|file| file.as_ref()?.as_ref().err().cloned());
        handles.push(match failed {
            [None, None] => Ok(opened.map(|file| {
                let file = file?.ok()?;
                Some(Box::new(file) as Box<dyn PartFile + Send>)
            })),
            failed => Err(failed),
        });
    }
    let handles: Result<Vec<PartFiles>, _> = handles.into_iter().collect();
    let handles = match handles {
        Ok(handles) => std::sync::Mutex::new(handles),
        Err(failed) => return (outputs.finish(failed), Notes::default()),
    };
    let take = |_: u32| {
        let taken = handles.lock().ok().and_then(|mut handles| handles.pop());
        taken.unwrap_or_default()
    };
    let preamble = plan.preamble.clone();
    let slices = LocalSlices::new(merge, preamble, plan.tree_options(), has_clog2, threads);
    let views = |whole: &WholeSlices, _: &[i32]| {
        let mut lines = WorldLines::default();
        for event in &whole.comms {
            lines.announce(event, plan);
        }
        lines.views(plan, &[])
    };
    let mut result = slices.write(threads, take, views);
    if let (Some(clog2), None) = (&outputs.files()[1], &result.failures[1]) {
        let end = slices.clog2_end(result.blocks, merge.comm_table());
        let written = handle(clog2).and_then(|mut file| {
            end?.into_iter()
                .try_for_each(|(at, bytes)| file.write_at(at, &bytes))
        });
        result.failures[1] = written.err();
    }
    (outputs.finish(result.failures), result.notes)
}
