//! The files that calls of MPI-IO are about, all calls at once: such a call names its file by a handle, or leaves it to the access and the operations
//! that have its CallID.

use std::collections::HashMap;
use trace_formats::slog2::Topology;
use trace_model::{InfoValue, info_values};

use super::files::for_each_file;
use crate::base::error::ApiError;
use crate::trace::class::ActivityClass;
use crate::trace::info::{file_number, name_of_key};
use crate::trace::names::NamedFile;
use crate::trace::scan::{DrawableSink, ReadBudget, scan};
use crate::trace::{DrawableKind, OpenTrace, TraceItem};

/// Most events that name files.
const MAX_NAMED_FILES: u64 = 1 << 16;

/// The files of a trace, and which of them calls of MPI-IO are about.
#[derive(Debug, Default)]
pub(crate) struct CallFiles {
    files: HashMap<i64, NamedFile>,
    /// By CallID the number of the file.
    of_calls: HashMap<u64, i64>,
}

/// The file of the first drawable of a call that has one.
#[derive(Clone, Copy, Debug)]
struct FirstFile {
    time: f64,
    file: i64,
}

/// A call of MPI-IO.
#[derive(Clone, Copy, Debug)]
struct FileCall {
    callid: u64,
    rank: i32,
    handle: Option<i64>,
    start: f64,
}

/// What the drawables of a trace tell about the files of calls.
struct CallFileReader<'t, 'a> {
    trace: &'t OpenTrace<'a>,
    files: HashMap<i64, NamedFile>,
    calls: Vec<FileCall>,
    accessed: HashMap<u64, FirstFile>,
    operated: HashMap<u64, FirstFile>,
    /// Of accesses and operations the first one on a file with data of the program.
    with_data: HashMap<u64, FirstFile>,
}

fn keep_first(of: &mut HashMap<u64, FirstFile>, id: u64, found: FirstFile) {
    of.entry(id)
        .and_modify(|known| {
            if found.time < known.time {
                *known = found;
            }
        })
        .or_insert(found);
}

impl<'a> DrawableSink<'a> for CallFileReader<'_, 'a> {
    fn item(&mut self, item: TraceItem<'a>) {
        let kind = &self.trace.kinds()[item.kind as usize];
        let is_access = item.topology == Topology::Event
            && [ActivityClass::Io, ActivityClass::Disk].contains(&kind.class);
        let is_operation = item.topology == Topology::State && kind.class == ActivityClass::Disk;
        if !(is_access || is_operation || kind.is_file_call()) {
            return;
        }
        let Some(id) = kind.callid_of(item.info) else {
            return;
        };
        let (mut file, mut handle) = (None, None);
        for (key, value) in info_values(&kind.category, item.info) {
            file = file.or_else(|| file_number(&key.to_str(), value));
            if let InfoValue::Integer(number @ 0..) = value
                && name_of_key(&key.0) == "handle"
            {
                handle = Some(number);
            }
        }
        if kind.is_file_call() {
            self.calls.push(FileCall {
                callid: id,
                rank: self.trace.lines()[item.line as usize].line.rank,
                handle,
                start: item.start,
            });
        } else if let Some(file) = file {
            let found = FirstFile {
                time: item.start,
                file,
            };
            let of = match is_access {
                true => &mut self.accessed,
                false => &mut self.operated,
            };
            keep_first(of, id, found);
            if self.files.get(&file).is_some_and(|file| file.has_data) {
                keep_first(&mut self.with_data, id, found);
            }
        }
    }
}

impl CallFiles {
    /// Reads the trace for them; of one that is too large to be read, what calls are about is not known.
    ///
    /// # Errors
    /// The file is damaged, the files are too many, or the answer is not wanted any more.
    pub fn read(trace: &OpenTrace<'_>, budget: ReadBudget<'_>) -> Result<CallFiles, ApiError> {
        let mut files = HashMap::new();
        for_each_file(trace, MAX_NAMED_FILES, budget, |file| {
            files.insert(file.number, file);
        })?;
        if !trace.kinds().iter().any(DrawableKind::is_file_call) {
            return Ok(CallFiles {
                files,
                of_calls: HashMap::new(),
            });
        }
        let mut reader = CallFileReader {
            trace,
            files,
            calls: Vec::new(),
            accessed: HashMap::new(),
            operated: HashMap::new(),
            with_data: HashMap::new(),
        };
        let scanned = scan(trace, budget, &mut reader)?;
        if scanned.cancelled {
            return Err(ApiError::cancelled());
        }
        let of_calls = match scanned.exact {
            true => reader.of_calls(),
            false => HashMap::new(),
        };
        Ok(CallFiles {
            files: reader.files,
            of_calls,
        })
    }

    /// The path of the file that the call of this CallID is about.
    pub fn path(&self, callid: u64) -> Option<&str> {
        let file = self.files.get(self.of_calls.get(&callid)?)?;
        Some(file.path.as_str()).filter(|path| !path.is_empty())
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &NamedFile> {
        self.files.values()
    }

    /// CallIDs of the calls, with the numbers of their files.
    pub(super) fn calls(&self) -> impl Iterator<Item = (u64, i64)> {
        self.of_calls.iter().map(|(&id, &file)| (id, file))
    }
}

impl CallFileReader<'_, '_> {
    /// By CallID the file that a call is about: that of its access, else that of its handle, else that of its first operation.
    fn of_calls(&mut self) -> HashMap<u64, i64> {
        self.calls.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut of_handles: HashMap<(i32, i64), i64> = HashMap::new();
        for call in &self.calls {
            if let Some(handle) = call.handle
                && let Some(found) = self.with_data.get(&call.callid)
            {
                of_handles.entry((call.rank, handle)).or_insert(found.file);
            }
        }
        let file = |call: &FileCall| {
            if let Some(found) = self.accessed.get(&call.callid) {
                return Some(found.file);
            }
            match call.handle {
                Some(handle) => of_handles.get(&(call.rank, handle)).copied(),
                None => self.operated.get(&call.callid).map(|found| found.file),
            }
        };
        let found = self
            .calls
            .iter()
            .map(|call| Some((call.callid, file(call)?)));
        found.flatten().collect()
    }
}
