//! Files and handles: which one a call is about.

use trace_model::hash::Map;

use super::definition_writer::HandleDefinition;
use super::numbers::UNDEFINED_REF;
use super::operation_numbers::OperationNumbers;
use super::strings::StringTable;

/// References of the two interfaces to files.
pub(super) const POSIX: u8 = 0;
/// Interface of MPI_File functions.
pub(super) const MPI_IO: u8 = 1;

/// Most paths of files that are remembered.
const MAX_PATHS: usize = 1 << 16;

/// A thread of a process, by position of the process and number of the thread.
pub(super) type Thread = (usize, u32);

/// The last access of a thread to a file, or its last successful open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TouchedFile {
    /// CallID of the call of MPI.
    call: u64,
    /// Number of the file in the trace.
    pub file: i64,
    /// Time from the start of the call until the access is complete, ns.
    pub complete_after: Option<u64>,
}

/// Files and handles of an archive, and what is known of the numbers by which calls name them. The reference of a file or handle is its position.
#[derive(Debug, Default)]
pub(super) struct FileTable {
    /// References of the names of files.
    files: Vec<u32>,
    by_name: Map<u32, u32>,
    handles: Vec<HandleDefinition>,
    /// Of each handle the time at which it was first named, ns.
    named_at: Vec<u64>,
    /// Time of the event that is being written, ns.
    pub(super) now: u64,
    by_key: Map<(u32, u8, u32), u32>,
    /// References of the paths that the trace gives its files.
    paths: Map<i64, u32>,
    /// Handles that calls name by their own numbers, by process and number.
    opened: Map<(usize, u32), u32>,
    /// Handles of MPI that a process has opened on a file of the trace.
    on_file: Map<(usize, i64), u32>,
    /// Handles of MPI that a process has open, by the reference of the file's name.
    by_open_name: Map<(usize, u32), u32>,
    /// Files that hold no data of the program.
    side_files: Map<i64, ()>,
    touched: Map<Thread, TouchedFile>,
    operations: OperationNumbers,
}

impl FileTable {
    /// Remembers the path of a file of the trace, and whether it holds no data of the program. False if there are too many.
    pub(super) fn name(
        &mut self,
        file: i64,
        path: &[u8],
        is_side_file: bool,
        strings: &mut StringTable,
    ) -> bool {
        if self.paths.len() >= MAX_PATHS && !self.paths.contains_key(&file) {
            return false;
        }
        let path = strings.id(&String::from_utf8_lossy(path));
        self.paths.insert(file, path);
        if is_side_file {
            self.side_files.insert(file, ());
        }
        true
    }

    /// Whether a file holds no data of the program.
    pub(super) fn is_side_file(&self, file: i64) -> bool {
        self.side_files.contains_key(&file)
    }

    /// Remembers that a thread accesses or opens a file in a call.
    pub(super) fn touch(
        &mut self,
        thread: Thread,
        call: u64,
        file: i64,
        complete_after: Option<u64>,
    ) {
        let touched = TouchedFile {
            call,
            file,
            complete_after,
        };
        self.touched.insert(thread, touched);
    }

    /// The file that a thread has accessed or opened in this call.
    pub(super) fn touched(&self, thread: Thread, call: Option<u64>) -> Option<TouchedFile> {
        let touched = self.touched.get(&thread)?;
        (Some(touched.call) == call).then_some(*touched)
    }

    /// A number for an operation of a process, which no other one has.
    pub(super) fn next_operation(&mut self, process: usize) -> u64 {
        self.operations.next(process)
    }

    /// Reference of the name of a file of the trace: its path, or else its number.
    fn name_of(&self, file: i64, strings: &mut StringTable) -> u32 {
        match self.paths.get(&file) {
            Some(&path) => path,
            None => strings.id(&format!("file {file}")),
        }
    }

    /// Reference of the handle for a file with this name.
    pub(super) fn handle(&mut self, name: u32, paradigm: u8, comm: u32) -> u32 {
        if let Some(&handle) = self.by_key.get(&(name, paradigm, comm)) {
            return handle;
        }
        let file = match self.by_name.get(&name) {
            Some(&file) => file,
            None => {
                let file = u32::try_from(self.files.len()).unwrap_or(0);
                self.files.push(name);
                self.by_name.insert(name, file);
                file
            }
        };
        let handle = u32::try_from(self.handles.len()).unwrap_or(0);
        self.handles.push(HandleDefinition {
            name,
            file,
            paradigm,
            comm,
            parent: UNDEFINED_REF,
        });
        self.named_at.push(self.now);
        self.by_key.insert((name, paradigm, comm), handle);
        handle
    }

    /// Handle of the C library for a file of the trace.
    pub(super) fn posix(&mut self, file: i64, strings: &mut StringTable) -> u32 {
        let name = self.name_of(file, strings);
        self.handle(name, POSIX, UNDEFINED_REF)
    }

    /// Defines the handle of MPI for a file of the trace that is being opened.
    pub(super) fn expect(&mut self, file: i64, comm: u32, strings: &mut StringTable) {
        let name = self.name_of(file, strings);
        self.handle(name, MPI_IO, comm);
    }

    /// A process opens a file with MPI_File_open, under `number`. The path, or else a file of the trace, tells which.
    pub(super) fn open(
        &mut self,
        process: usize,
        number: u32,
        path: Option<&[u8]>,
        file: Option<i64>,
        comm: u32,
        strings: &mut StringTable,
    ) -> u32 {
        let name = match (path, file) {
            (Some(path), _) => strings.id(&String::from_utf8_lossy(path)),
            (None, Some(file)) => self.name_of(file, strings),
            (None, None) => strings.id(&unknown(number)),
        };
        let handle = self.handle(name, MPI_IO, comm);
        self.opened.insert((process, number), handle);
        self.by_open_name.insert((process, name), handle);
        if let Some(file) = file {
            self.on_file.insert((process, file), handle);
        }
        handle
    }

    /// A process closes a file.
    pub(super) fn close(&mut self, process: usize, number: u32) -> Option<u32> {
        let handle = self.opened.remove(&(process, number))?;
        let name_of = |handle: u32| self.handles.get(handle as usize).map(|found| found.name);
        if let Some(name) = name_of(handle) {
            // The file may be open more than once.
            let others = self.opened.iter().filter(|((of, _), _)| *of == process);
            let others = others.map(|(_, &other)| other);
            match others.filter(|&other| name_of(other) == Some(name)).min() {
                Some(other) => self.by_open_name.insert((process, name), other),
                None => self.by_open_name.remove(&(process, name)),
            };
        }
        self.on_file
            .retain(|(of, _), found| *of != process || *found != handle);
        Some(handle)
    }

    /// Handle of MPI for an access: that of the number, or else that of the file, or else that of the path; a new one for a file that was opened before
    /// the trace began.
    pub(super) fn of_access(
        &mut self,
        process: usize,
        number: Option<u32>,
        file: Option<i64>,
        path: Option<&[u8]>,
        strings: &mut StringTable,
    ) -> Option<u32> {
        let by_number = number.and_then(|number| self.opened.get(&(process, number)));
        let by_file = || file.and_then(|file| self.on_file.get(&(process, file)));
        if let Some(&handle) = by_number.or_else(by_file) {
            return Some(handle);
        }
        let path = path.map(|path| strings.id(&String::from_utf8_lossy(path)));
        let by_path = path.and_then(|path| self.by_open_name.get(&(process, path)));
        if let Some(&handle) = by_path {
            return Some(handle);
        }
        let name = match (file, path, number) {
            (Some(file), ..) => self.name_of(file, strings),
            (None, Some(path), _) => path,
            (None, None, Some(number)) => strings.id(&unknown(number)),
            (None, None, None) => return None,
        };
        let handle = self.handle(name, MPI_IO, UNDEFINED_REF);
        if let Some(number) = number {
            self.opened.insert((process, number), handle);
        }
        Some(handle)
    }

    /// The handles as they were named, each with the time at which that was first, ns; in the order of their references.
    pub(super) fn named_handles(&self) -> impl Iterator<Item = (u64, &HandleDefinition)> {
        self.named_at.iter().copied().zip(&self.handles)
    }

    /// References of the names of files.
    pub(super) fn files(&self) -> &[u32] {
        &self.files
    }

    /// Handles in the order of their references. The parent of a handle of the C library is the first one of MPI on the same file, if that was defined
    /// before it.
    pub(super) fn handles(&self) -> Vec<HandleDefinition> {
        let mut parents: Map<u32, u32> = Map::default();
        let mut handles = self.handles.clone();
        for (reference, handle) in (0u32..).zip(&mut handles) {
            match handle.paradigm {
                MPI_IO => _ = parents.entry(handle.file).or_insert(reference),
                _ => handle.parent = *parents.get(&handle.file).unwrap_or(&UNDEFINED_REF),
            }
        }
        handles
    }
}

/// What the name of a file begins with that the trace does not tell.
pub(super) const UNKNOWN: &str = "file opened as number ";

/// Name of a file that the trace does not tell.
fn unknown(number: u32) -> String {
    format!("{UNKNOWN}{number}")
}
