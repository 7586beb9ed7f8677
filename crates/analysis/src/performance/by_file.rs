//! Times by file: which file a call of MPI-IO or a file operation is about, and what they add up to.
//!
//! Four things in a trace tell the file. An `I/O access` names it at the begin of a call that accesses data. A `handle` is the number that a process
//! has for an open file; its calls without an access are about the file of other calls and operations with that handle. An operation during a
//! call names its file. Calls of OTF2, and MPI_File_open of DUMPI, have the name themselves. A trace without any `I/O access` tells the bytes in its
//! calls.

use super::focus::Focus;
use super::lane::ThreadLane;
use blockfile::operation::{Effect, KINDS, Layer};
use io_attribution::draw::{Shows, shows};
use serde::Serialize;
use std::collections::BTreeMap;
use trace_model::hash::Map;
use trace_model::{Actor, Category, Definitions, InfoValue, Line, info_values, lane_of};
use wrappers::Phase;

/// Files and handles that are told apart, at most.
const MAX_FILES: usize = 1 << 16;
/// Files of one handle that are remembered: the file itself and those that the library has beside it.
const MAX_FILES_OF_HANDLE: usize = 4;

/// Calls of main threads of all ranks on one file, and operations of all threads on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimesOfFile {
    /// Name of the file; `None` where the trace does not tell which one it is.
    pub file: Option<String>,
    /// Number of the calls of MPI-IO.
    pub calls: u64,
    /// Seconds in these calls, with waiting.
    pub seconds: f64,
    /// Seconds of waiting for other ranks in these calls.
    pub waiting: f64,
    /// Bytes that the calls access.
    pub bytes: u64,
    /// Number of file operations, in calls and outside of any.
    pub operations: u64,
    /// Seconds in these operations.
    pub operation_seconds: f64,
    /// Bytes that the operations read or wrote.
    pub moved_bytes: u64,
}

/// What drawables of a category tell about files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    /// The name of a file.
    Name,
    /// The file and the bytes of a call that begins at the same time.
    Access,
    /// An operation, and whether it moves bytes of the file.
    Operation {
        moves: bool,
    },
    /// A call that has the name of its file.
    NamingCall,
}

impl Told {
    fn by(category: &Category) -> Told {
        match shows(category) {
            Some(Shows::File) => Told::Name,
            Some(Shows::Access) => Told::Access,
            Some(Shows::Operation(_)) => Told::by_operation(&category.name.to_str()),
            Some(Shows::Edge(_)) => Told::Nothing,
            None => match category.info_keys.iter().any(|key| is(&key.0, "filename=")) {
                true => Told::NamingCall,
                false => Told::Nothing,
            },
        }
    }

    fn by_operation(name: &str) -> Told {
        let mut kinds = KINDS.iter();
        let kind = kinds.find(|kind| {
            let rest = name.strip_prefix(kind.name);
            rest.is_some_and(|rest| rest.is_empty() || rest == " (no call)")
        });
        match kind {
            Some(kind) if kind.layer == Layer::Libc => Told::Operation {
                moves: matches!(
                    kind.effect,
                    Effect::Read | Effect::StartRead | Effect::Write | Effect::StartWrite
                ),
            },
            _ => Told::Nothing,
        }
    }
}

/// Whether a key is this one. Text may stand before it.
fn is(key: &[u8], name: &str) -> bool {
    key.ends_with(name.as_bytes())
}

/// A file as the trace numbers it, or as a call names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum FileKey {
    Number(u32),
    Name(String),
}

/// Name of a file, and whether it has the program's data.
#[derive(Clone, Debug)]
struct KnownFile {
    name: String,
    has_data: bool,
}

/// A rank's number for an open file.
type Handle = (i32, u32);

/// What calls or operations add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    calls: u64,
    seconds: f64,
    waiting: f64,
    bytes: u64,
    operations: u64,
    operation_seconds: f64,
    moved_bytes: u64,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.waiting += other.waiting;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.operations += other.operations;
        self.operation_seconds += other.operation_seconds;
        self.moved_bytes = self.moved_bytes.saturating_add(other.moved_bytes);
    }
}

/// What is known of the call that a thread is in.
#[derive(Clone, Debug, Default)]
struct CallOfThread {
    /// Whether it has begun and not ended.
    is_open: bool,
    handle: Option<Handle>,
    /// File and bytes of its access.
    access: Option<(u32, u64)>,
    /// Name of its file, and bytes of its access, as its info has them.
    own: (Option<String>, u64),
    /// File of the first operation during it.
    first: Option<u32>,
}

/// A call of MPI-IO that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedFileCall {
    /// Seconds in it within the focus, with waiting.
    pub seconds: f64,
    /// Seconds of waiting in it within the focus.
    pub waiting: f64,
}

/// Adds up calls and operations by file.
#[derive(Debug, Default)]
pub(super) struct SumsOfFiles {
    /// By category.
    told: Vec<Told>,
    /// By category, whether the info of a call tells the bytes of its access.
    tells_bytes: Vec<bool>,
    /// Lanes of the lines of ranks, with those of operations that overlap.
    lanes: Map<i32, u32>,
    /// By lane.
    ranks: Vec<i32>,
    calls: Vec<CallOfThread>,
    /// Accesses that came before their call: time, file, bytes; by lane.
    early: Map<u32, (f64, u32, u64)>,
    known: Map<u32, KnownFile>,
    /// File of the operation that began last, if it tells one.
    latest: Option<u32>,
    files_of_handles: Map<Handle, Vec<FileKey>>,
    by_file: BTreeMap<FileKey, Sums>,
    /// In an order that does not change, as the sums of a file are those of several handles.
    by_handle: BTreeMap<Handle, Sums>,
    unknown: Sums,
}

impl SumsOfFiles {
    /// For a trace with these definitions, the categories in the order in which they are numbered, and lanes.
    pub(super) fn new(
        definitions: &Definitions,
        categories: &[&Category],
        lanes: &[ThreadLane],
    ) -> SumsOfFiles {
        let told: Vec<Told> = categories.iter().map(|one| Told::by(one)).collect();
        let tells = |told: &Told| *told != Told::Nothing;
        if !told.iter().any(tells) {
            return SumsOfFiles::default();
        }
        let has_accesses = told.contains(&Told::Access);
        let table = wrappers::table().ok();
        let tells_bytes = |one: &&Category| {
            let function = table.and_then(|table| table.get(&one.name.to_str()));
            let access = function.and_then(|function| function.io);
            // The call that begins a split access tells its bytes.
            !has_accesses && access.is_some_and(|access| access.phase != Phase::End)
        };
        let numbers: Map<(i32, i32), u32> = (0..)
            .zip(lanes)
            .map(|(number, lane)| ((lane.rank, lane.thread), number))
            .collect();
        let lane = |line: &Line| {
            let place = lane_of(line);
            let Actor::Rank(rank) = place.actor else {
                return None;
            };
            let key = (i32::try_from(rank).ok()?, i32::try_from(place.thread).ok()?);
            Some((line.id, *numbers.get(&key)?))
        };
        SumsOfFiles {
            tells_bytes: categories.iter().map(tells_bytes).collect(),
            told,
            lanes: definitions.lines.iter().filter_map(lane).collect(),
            ranks: lanes.iter().map(|lane| lane.rank).collect(),
            calls: vec![CallOfThread::default(); lanes.len()],
            ..SumsOfFiles::default()
        }
    }

    fn told(&self, category: u32) -> Told {
        let told = self.told.get(category as usize).copied();
        told.unwrap_or(Told::Nothing)
    }

    /// Whether each drawable of a category tells of a file.
    pub(super) fn tells(&self, category: u32) -> bool {
        !matches!(self.told(category), Told::Nothing | Told::NamingCall)
    }

    /// Whether states of a category are calls whose info names their file.
    fn is_naming_call(&self, category: u32) -> bool {
        self.told(category) == Told::NamingCall
    }

    /// Whether the infos of calls of a category tell their file, or bytes of an access to it.
    pub(super) fn reads_calls(&self, category: u32) -> bool {
        self.is_naming_call(category) || self.is_telling_bytes(category)
    }

    fn is_telling_bytes(&self, category: u32) -> bool {
        let tells = self.tells_bytes.get(category as usize);
        tells.copied().unwrap_or(false)
    }

    /// Whether drawables of a category are operations.
    pub(super) fn is_operation(&self, category: u32) -> bool {
        matches!(self.told(category), Told::Operation { .. })
    }

    /// An event or operation of a category that [`SumsOfFiles::tells`] begins on a line.
    pub(super) fn put(
        &mut self,
        (category, definition): (u32, &Category),
        line: i32,
        (start, end): (f64, f64),
        info: &[u8],
        focus: &Focus,
    ) {
        let told = self.told(category);
        let found = FileInfo::read(definition, info);
        if matches!(told, Told::Operation { .. }) {
            self.latest = found.file;
        }
        let Some(file) = found.file else {
            return;
        };
        if told == Told::Name {
            if self.known.len() < MAX_FILES {
                let (name, has_data) = (found.name, found.has_data);
                self.known.insert(file, KnownFile { name, has_data });
            }
            return;
        }
        let Some(&lane) = self.lanes.get(&line) else {
            return;
        };
        match told {
            Told::Access => self.access(lane, start, file, found.bytes),
            Told::Operation { moves } => {
                let is_in_focus = start < focus.to && end > focus.from;
                if is_in_focus || (start == end && start >= focus.from && start < focus.to) {
                    let moved_bytes = if moves { found.result } else { 0 };
                    let sums = Sums {
                        operations: 1,
                        operation_seconds: focus.within(start, end),
                        moved_bytes,
                        ..Sums::default()
                    };
                    self.add(FileKey::Number(file), &sums);
                }
                let call = &mut self.calls[lane as usize];
                if call.is_open {
                    call.first.get_or_insert(file);
                    self.bind(lane, FileKey::Number(file));
                }
            }
            _ => {}
        }
    }

    /// Whether the trace tells of any file that the MPI library has for itself.
    pub(super) fn has_hidden(&self) -> bool {
        self.known.values().any(|file| !file.has_data)
    }

    /// Whether the operation that began last is on a file that the MPI library has for itself, as that of a shared file pointer.
    pub(super) fn latest_is_hidden(&self) -> bool {
        let known = self.latest.and_then(|file| self.known.get(&file));
        known.is_some_and(|file| !file.has_data)
    }

    /// The call that begins on a lane at this time accesses a file.
    fn access(&mut self, lane: u32, time: f64, file: u32, bytes: u64) {
        let call = &mut self.calls[lane as usize];
        if call.is_open && call.access.is_none() {
            call.access = Some((file, bytes));
            self.bind(lane, FileKey::Number(file));
        } else {
            self.early.insert(lane, (time, file, bytes));
        }
    }

    /// The call that a lane is in says which file its handle stands for. Files that the MPI library has for itself, as the components that Open MPI loads in
    /// MPI_File_open, make room for others.
    fn bind(&mut self, lane: u32, file: FileKey) {
        let Some(handle) = self.calls[lane as usize].handle else {
            return;
        };
        let known = &self.known;
        let is_hidden = |file: &FileKey| match file {
            FileKey::Number(file) => known.get(file).is_some_and(|file| !file.has_data),
            FileKey::Name(_) => false,
        };
        if is_hidden(&file) {
            return;
        }
        let handles = self.files_of_handles.len();
        match self.files_of_handles.get_mut(&handle) {
            Some(files) if files.contains(&file) => {}
            Some(files) => {
                if files.len() >= MAX_FILES_OF_HANDLE {
                    files.retain(|file| !is_hidden(file));
                }
                if files.len() < MAX_FILES_OF_HANDLE {
                    files.push(file);
                }
            }
            None if handles < MAX_FILES => _ = self.files_of_handles.insert(handle, vec![file]),
            None => {}
        }
    }

    /// The call that a lane is in names its file. If its handle has had another name, that file was closed, and the number is used again.
    fn rename(&mut self, lane: u32, name: &str) {
        let Some(handle) = self.calls[lane as usize].handle else {
            return;
        };
        let is_other = |file: &FileKey| matches!(file, FileKey::Name(known) if known != name);
        let files = self.files_of_handles.get(&handle);
        if !files.is_some_and(|files| files.iter().any(is_other)) {
            return;
        }
        let file = self.file_of(handle).cloned();
        self.files_of_handles.remove(&handle);
        if let (Some(file), Some(sums)) = (file, self.by_handle.remove(&handle)) {
            self.add(file, &sums);
        }
    }

    /// A call begins on a lane, with the number of a file if it has one.
    pub(super) fn begin(
        &mut self,
        lane: u32,
        (category, definition): (u32, &Category),
        start: f64,
        handle: Option<u32>,
        info: &[u8],
    ) {
        let Some(&rank) = self.ranks.get(lane as usize) else {
            return;
        };
        self.calls[lane as usize] = CallOfThread {
            is_open: true,
            handle: handle.map(|handle| (rank, handle)),
            ..CallOfThread::default()
        };
        if let Some((time, file, bytes)) = self.early.remove(&lane)
            && time == start
        {
            self.access(lane, time, file, bytes);
        }
        if !self.reads_calls(category) {
            return;
        }
        let found = FileInfo::read(definition, info);
        let bytes = match self.is_telling_bytes(category) {
            true => found.bytes,
            false => 0,
        };
        let name = Some(found.name).filter(|name| !name.is_empty());
        if let Some(name) = &name {
            self.rename(lane, name);
            self.bind(lane, FileKey::Name(name.clone()));
        }
        self.calls[lane as usize].own = (name, bytes);
    }

    /// The call that a lane is in ends; `file_call` is what it took, if it is one of MPI-IO.
    pub(super) fn end(&mut self, lane: u32, file_call: Option<EndedFileCall>) {
        let Some(call) = self.calls.get_mut(lane as usize) else {
            return;
        };
        let call = std::mem::take(call);
        let Some(ended) = file_call else {
            return;
        };
        let sums = Sums {
            calls: 1,
            seconds: ended.seconds,
            waiting: ended.waiting,
            bytes: call.access.map_or(call.own.1, |(_, bytes)| bytes),
            ..Sums::default()
        };
        let has_room = self.by_handle.len() < MAX_FILES;
        match (call.access, call.handle, call.own.0, call.first) {
            (Some((file, _)), ..) | (None, None, None, Some(file)) => {
                self.add(FileKey::Number(file), &sums);
            }
            (_, Some(handle), ..) if has_room || self.by_handle.contains_key(&handle) => {
                self.by_handle.entry(handle).or_default().add(&sums);
            }
            (_, None, Some(name), _) => self.add(FileKey::Name(name), &sums),
            _ => self.unknown.add(&sums),
        }
    }

    fn add(&mut self, file: FileKey, sums: &Sums) {
        let has_room = self.by_file.len() < MAX_FILES;
        match has_room || self.by_file.contains_key(&file) {
            true => self.by_file.entry(file).or_default().add(sums),
            false => self.unknown.add(sums),
        }
    }

    /// What came so far does not count.
    pub(super) fn restart(&mut self) {
        self.by_file.clear();
        self.by_handle.clear();
        self.unknown = Sums::default();
    }

    /// The file that a handle stands for: of those that its calls name, the first one with data of the program.
    fn file_of(&self, handle: Handle) -> Option<&FileKey> {
        let files = self.files_of_handles.get(&handle)?;
        let has_data = |file: &&FileKey| match file {
            FileKey::Number(file) => self.known.get(file).is_some_and(|file| file.has_data),
            FileKey::Name(_) => true,
        };
        files.iter().find(has_data)
    }

    /// The sums of each file, the longest first. Numbers with the same name are one file.
    pub(super) fn times(&self) -> Vec<TimesOfFile> {
        let name = |file: &FileKey| match file {
            FileKey::Number(number) => self.known.get(number).map(|file| file.name.clone()),
            FileKey::Name(name) => Some(name.clone()),
        };
        let mut sums: BTreeMap<Option<String>, Sums> = BTreeMap::new();
        for (file, of_file) in &self.by_file {
            sums.entry(name(file)).or_default().add(of_file);
        }
        for (&handle, of_handle) in &self.by_handle {
            let file = self.file_of(handle).and_then(name);
            sums.entry(file).or_default().add(of_handle);
        }
        sums.entry(None).or_default().add(&self.unknown);
        let is_used = |(_, sums): &(_, Sums)| sums.calls > 0 || sums.operations > 0;
        let times = sums.into_iter().filter(is_used);
        let mut times: Vec<TimesOfFile> = times
            .map(|(file, sums)| TimesOfFile {
                file,
                calls: sums.calls,
                seconds: sums.seconds,
                waiting: sums.waiting,
                bytes: sums.bytes,
                operations: sums.operations,
                operation_seconds: sums.operation_seconds,
                moved_bytes: sums.moved_bytes,
            })
            .collect();
        let longest = |file: &TimesOfFile| file.seconds.max(file.operation_seconds);
        times.sort_by(|a, b| longest(b).total_cmp(&longest(a)));
        times
    }
}

/// What the info of a drawable says about a file.
#[derive(Debug, Default)]
struct FileInfo {
    file: Option<u32>,
    name: String,
    has_data: bool,
    bytes: u64,
    /// What an operation returned, if that is a number of bytes.
    result: u64,
}

impl FileInfo {
    fn read(category: &Category, info: &[u8]) -> FileInfo {
        let mut found = FileInfo::default();
        for (key, value) in info_values(category, info) {
            let key = &key.0;
            match value {
                InfoValue::Text(text) if is(key, "path=") || is(key, "filename=") => {
                    found.name = String::from_utf8_lossy(text).into_owned();
                }
                InfoValue::Text(text) if is(key, "role=") => found.has_data = text == b"data",
                InfoValue::Integer(number) if is(key, "file=") => {
                    found.file = u32::try_from(number).ok();
                }
                InfoValue::Integer(number) if is(key, "bytes=") => {
                    found.bytes = u64::try_from(number).unwrap_or(0);
                }
                InfoValue::Integer(number) if is(key, "result=") => {
                    found.result = u64::try_from(number).unwrap_or(0);
                }
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_handles_are_added_in_one_order() {
        let seconds = |handle: u32| 0.1 * f64::from(handle + 1).powi(3);
        let expected = (0..40).map(seconds).fold(0.0, |sum, next| sum + next);
        for _ in 0..8 {
            let mut sums = SumsOfFiles::default();
            for handle in (0..40).rev() {
                let of_handle = Sums {
                    calls: 1,
                    seconds: seconds(handle),
                    ..Sums::default()
                };
                sums.by_handle.insert((0, handle), of_handle);
            }
            assert_eq!(sums.times()[0].seconds, expected);
        }
    }

    /// Open MPI opens components and lock files in MPI_File_open, before and after it opens the file.
    #[test]
    fn a_handle_stands_for_the_file_with_data() {
        for is_known_first in [true, false] {
            let mut sums = SumsOfFiles {
                calls: vec![CallOfThread {
                    is_open: true,
                    handle: Some((0, 1)),
                    ..CallOfThread::default()
                }],
                ..SumsOfFiles::default()
            };
            let files = (0..20).map(|file| (file, file == 9));
            let known: Vec<(u32, bool)> = files.collect();
            let know = |sums: &mut SumsOfFiles, (file, has_data)| {
                let name = format!("file {file}");
                sums.known.insert(file, KnownFile { name, has_data });
            };
            for &file in &known {
                if is_known_first {
                    know(&mut sums, file);
                }
                sums.bind(0, FileKey::Number(file.0));
                know(&mut sums, file);
            }
            assert_eq!(sums.file_of((0, 1)), Some(&FileKey::Number(9)));
        }
    }
}
