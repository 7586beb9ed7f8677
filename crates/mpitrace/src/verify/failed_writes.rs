//! Writes to files that failed below a call of MPI-IO that returned success.

use blockfile::operation::{Effect, OUTSIDE, OperationRecord, kind};
use blockfile::record::Record;
use std::collections::HashMap;
use wrappers::{Class, Function};

/// Name of an error of the system by which data do not get into the file. After other errors, MPI libraries write again in another way.
fn name(errno: i32) -> Option<&'static str> {
    Some(match errno {
        libc::EFBIG => "EFBIG (the file is too large)",
        libc::ENOSPC => "ENOSPC (no space left)",
        libc::EDQUOT => "EDQUOT (quota exceeded)",
        libc::EIO => "EIO (input/output error)",
        _ => return None,
    })
}

/// The latest write that failed in a call, by thread.
#[derive(Default)]
pub(super) struct FailedWrites(HashMap<u32, (u64, &'static str)>);

impl FailedWrites {
    /// Takes the next operation of a thread.
    pub(super) fn take_operation(&mut self, thread: u32, record: &Record<'_>) {
        let Some(name) = name(record.code) else {
            return;
        };
        let is_write = kind(record.function).is_some_and(|kind| kind.effect == Effect::Write);
        let is_in_call = || {
            let operation = OperationRecord::decode(record.payload);
            operation.is_some_and(|operation| operation.flags & OUTSIDE == 0)
        };
        if is_write && is_in_call() {
            self.0.insert(thread, (record.start, name));
        }
    }

    /// Takes the next call of a thread. Gives the error of a write in it, if it is a call on a file and returned success.
    pub(super) fn take_call(
        &mut self,
        thread: u32,
        function: &Function,
        record: &Record<'_>,
    ) -> Option<&'static str> {
        let is_on_file = matches!(
            function.class,
            Class::FileOpen | Class::FileClose | Class::FileAccess | Class::FileMeta
        );
        // Calls that the one on the file makes may stand between.
        let &(_, name) = (self.0.get(&thread)).filter(|(start, _)| *start >= record.start)?;
        self.0.remove(&thread);
        (is_on_file && record.code == 0).then_some(name)
    }
}
