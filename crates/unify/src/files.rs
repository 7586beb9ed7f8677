//! Offsets of accesses in their files, as far as the calls of one process tell.

use super::library::Library;
use super::plan::{FileCall, FunctionPlan};
use blockfile::record::Record;
use trace_model::hash::Map;
use wrappers::{FileAccessKind, Phase, Pointer};

/// Bytes and offset of an access; −1 where they are not known. The offset is what MPI calls so: in etypes of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessSize {
    /// Bytes read or written; −1 where not known.
    pub bytes: i64,
    /// Offset as the program counts it (in etypes of its view); −1 where not known.
    pub offset: i64,
}

/// An open file.
#[derive(Clone, Copy, Debug)]
struct OpenHandle {
    /// Bytes of an etype of the view.
    etype: u64,
    /// The individual file pointer in etypes.
    position: Option<i64>,
    /// Offset of the split collective access that has begun.
    begun: i64,
}

/// The open files of a process by handle.
#[derive(Debug, Default)]
pub struct OpenFiles {
    open: Map<u64, OpenHandle>,
}

impl OpenFiles {
    /// Follows a call that moves the file pointer without accessing the file.
    pub fn follow(
        &mut self,
        call: FileCall,
        plan: &FunctionPlan<'_>,
        record: &Record<'_>,
        library: &Library,
    ) {
        let payload = record.payload;
        let Some(handle) = plan.handle(payload, call.file()) else {
            return;
        };
        let open = self.open.entry(handle).or_insert(OpenHandle {
            etype: 1,
            position: None,
            begun: -1,
        });
        match call {
            FileCall::Open { amode, .. } => {
                let append = library.constant("MPI_MODE_APPEND").unwrap_or(0);
                let appends = plan.int(payload, amode).is_none_or(|m| m & append != 0);
                *open = OpenHandle {
                    etype: 1,
                    position: (!appends).then_some(0),
                    begun: -1,
                };
            }
            FileCall::Close { .. } => {
                self.open.remove(&handle);
            }
            FileCall::View { etype, .. } => {
                let size = plan
                    .handle(payload, etype)
                    .and_then(|t| library.type_size(t));
                open.etype = size.unwrap_or(0);
                open.position = Some(0);
            }
            FileCall::Seek { offset, whence, .. } => {
                open.position = plan.seek(payload, open.position, offset, whence, library);
            }
            FileCall::Position { offset, .. } => open.position = plan.int(payload, offset),
        }
    }

    /// Bytes and offset that a call accesses. Moves the file pointer past them.
    pub fn access(
        &mut self,
        io: FileAccessKind,
        file: usize,
        plan: &FunctionPlan<'_>,
        record: &Record<'_>,
        library: &Library,
    ) -> AccessSize {
        let payload = record.payload;
        let asked = plan.amount().and_then(|(count, datatype)| {
            let count = u64::try_from(plan.int(payload, count)?).ok()?;
            count.checked_mul(library.type_size(plan.handle(payload, datatype)?)?)
        });
        let done = plan
            .status
            .and_then(|i| plan.status(payload, i))
            .map(|s| s.bytes);
        let bytes = done
            .or(asked)
            .and_then(|b| i64::try_from(b).ok())
            .unwrap_or(-1);
        let mut unknown = OpenHandle {
            etype: 0,
            position: None,
            begun: -1,
        };
        let open = plan
            .handle(payload, file)
            .and_then(|handle| self.open.get_mut(&handle))
            .unwrap_or(&mut unknown);
        let offset = match (io.phase, io.pointer) {
            (Phase::End, _) => open.begun,
            (_, Pointer::Explicit) => plan
                .offset()
                .and_then(|i| plan.int(payload, i))
                .unwrap_or(-1),
            (_, Pointer::Individual) => {
                // A nonblocking access moves the pointer at once by what was asked for.
                let at = open.position;
                open.position = at.and_then(|at| {
                    let etypes = u64::try_from(bytes).ok()?.checked_div(open.etype)?;
                    at.checked_add(i64::try_from(etypes).ok()?)
                });
                at.unwrap_or(-1)
            }
            (_, Pointer::Shared) => -1,
        };
        if io.phase == Phase::Begin {
            open.begun = offset;
        }
        AccessSize { bytes, offset }
    }
}
