//! Recording of the work on a request: the request itself, and nested in it the server's own calls for its disk.
//! Everything that one piece of work does has its CallID, that of the MPI call in which the asking thread was when the
//! request arrived.

use super::tids::Tids;
use crate::failure::Failure;
use blockfile::define::{Definition, ServerDefinition};
use blockfile::machine::now;
use blockfile::operation::{self, OperationRecord, ServerRequest};
use blockfile::writer::{BlockFileWriter, ThreadWriter};
use rustix::io::Errno;
use std::cell::RefCell;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

/// Result of a system call.
pub type Result<T> = std::result::Result<T, Errno>;

/// Recorder of the requests of a process. There is one per process, because threads keep their place in its file.
pub struct RequestRecorder {
    file: Option<BlockFileWriter>,
    tids: Option<Tids>,
}

thread_local! {
    static WRITER: RefCell<Option<ThreadWriter>> = const { RefCell::new(None) };
}

impl RequestRecorder {
    /// Records the work of `server` to a new block file at `trace`, or nowhere, with the CallIDs that `tids` tells.
    ///
    /// # Errors
    /// When the file exists already or cannot be made.
    pub fn create(
        trace: Option<&Path>,
        server: ServerDefinition,
        tids: Option<Tids>,
    ) -> std::result::Result<RequestRecorder, Failure> {
        let file = match trace {
            None => None,
            Some(path) => {
                Some(BlockFileWriter::create(path, server).map_err(|e| Failure::file(path, e))?)
            }
        };
        Ok(RequestRecorder::new(file, tids))
    }

    /// Records to `file`, if there is one, with the CallIDs that `tids` tells.
    pub fn new(file: Option<BlockFileWriter>, tids: Option<Tids>) -> RequestRecorder {
        RequestRecorder { file, tids }
    }

    /// Begins work on a request of thread `tid` that has just arrived.
    pub fn request(&self, kind: u16, unique: u64, inode: u64, tid: u32) -> RequestWork<'_> {
        // A request of the kernel itself, such as the last close, is in nobody's call.
        let call = match (&self.tids, tid) {
            (Some(tids), 1..) => tids.call_of(tid),
            _ => None,
        };
        self.work(kind, unique, inode, tid, call)
    }

    /// Begins work that was passed on from where its call is known.
    pub fn work(
        &self,
        kind: u16,
        unique: u64,
        inode: u64,
        tid: u32,
        call: Option<u64>,
    ) -> RequestWork<'_> {
        let now = now();
        RequestWork {
            recorder: self,
            kind,
            call,
            request: ServerRequest {
                unique,
                inode,
                tid,
                arrived: now,
            },
            offset: -1,
            size: -1,
        }
    }

    /// Writes a definition in front of what the thread records next.
    pub fn define(&self, definition: &Definition) {
        self.with_writer(|writer| writer.define(definition));
    }

    /// Completes the file.
    pub fn finish(&self) {
        if let Some(file) = &self.file {
            file.finish();
        }
    }

    /// Records that there was no room for.
    pub fn lost(&self) -> u64 {
        self.file.as_ref().map_or(0, BlockFileWriter::lost)
    }

    fn with_writer(&self, write: impl FnOnce(&mut ThreadWriter)) {
        let Some(file) = &self.file else {
            return;
        };
        WRITER.with_borrow_mut(|writer| write(writer.get_or_insert_with(|| file.thread())));
    }
}

/// Work on one request.
pub struct RequestWork<'r> {
    recorder: &'r RequestRecorder,
    kind: u16,
    /// CallID of the MPI call it is done for.
    pub call: Option<u64>,
    /// Origin of the request.
    pub request: ServerRequest,
    /// Offset in the file, -1 where there is none.
    pub offset: i64,
    /// Bytes asked for, or the new size; -1 where there are none.
    pub size: i64,
}

impl RequestWork<'_> {
    /// The range of the file it is about.
    pub fn range(mut self, offset: u64, size: u64) -> Self {
        self.offset = offset as i64;
        self.size = size as i64;
        self
    }

    /// Recorder of the request.
    pub fn recorder(&self) -> &RequestRecorder {
        self.recorder
    }

    /// Makes a call for the disk and records it. `inode` is that of the file in the store.
    pub fn disk<T: RecordedResult>(
        &self,
        kind: u16,
        inode: u64,
        fd: Option<&dyn AsRawFd>,
        (offset, size): (i64, i64),
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let start = now();
        let result = call();
        let operation = OperationRecord {
            fd: fd.map_or(-1, |fd| fd.as_raw_fd() as RawFd),
            offset,
            size,
            request: Some(ServerRequest {
                inode,
                ..self.request
            }),
            ..self.operation()
        };
        self.put(kind, start, operation, &result);
        result
    }

    /// Waits until `lock` gives what it guards; if somebody else holds it, the time is recorded.
    pub fn wait<G>(&self, attempt: impl FnOnce() -> Option<G>, lock: impl FnOnce() -> G) -> G {
        if let Some(guard) = attempt() {
            return guard;
        }
        let start = now();
        let guard = lock();
        let queued: Result<i64> = Ok(0);
        self.put(operation::REQUEST_QUEUED, start, self.operation(), &queued);
        guard
    }

    /// Records a piece of the work that was done elsewhere and took from `start` until now.
    pub fn piece(&self, kind: u16, start: u64, (offset, size): (i64, i64), result: &Result<i64>) {
        let operation = OperationRecord {
            offset,
            size,
            ..self.operation()
        };
        self.put(kind, start, operation, result);
    }

    /// Ends the work: it is answered now. `moved` are the bytes of a transfer, else 0.
    pub fn end<T>(self, result: &Result<T>, moved: impl FnOnce(&T) -> i64) {
        let result = result.as_ref().map(moved).map_err(|&errno| errno);
        self.put(self.kind, self.request.arrived, self.operation(), &result);
    }

    fn operation(&self) -> OperationRecord {
        OperationRecord {
            fd: -1,
            offset: self.offset,
            size: self.size,
            call: self.call,
            request: Some(self.request),
            ..OperationRecord::default()
        }
    }

    fn put<T: RecordedResult>(
        &self,
        kind: u16,
        start: u64,
        operation: OperationRecord,
        result: &Result<T>,
    ) {
        if self.recorder.file.is_none() {
            return;
        }
        let stop = now();
        let (result, errno) = match result {
            Ok(value) => (value.moved(), 0),
            Err(errno) => (-1, errno.raw_os_error()),
        };
        let operation = OperationRecord {
            result,
            ..operation
        };
        self.recorder
            .with_writer(|writer| writer.put(kind, start, stop, errno, &operation));
    }
}

/// Result of a call as a number for its record.
pub trait RecordedResult {
    /// Bytes moved, or the descriptor, or 0.
    fn moved(&self) -> i64;
}

impl RecordedResult for usize {
    fn moved(&self) -> i64 {
        *self as i64
    }
}

impl RecordedResult for i64 {
    fn moved(&self) -> i64 {
        *self
    }
}

impl RecordedResult for () {
    fn moved(&self) -> i64 {
        0
    }
}

impl RecordedResult for std::os::fd::OwnedFd {
    fn moved(&self) -> i64 {
        i64::from(self.as_raw_fd())
    }
}
