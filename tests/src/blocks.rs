//! Content of a block file: after a run that died, or with `TRACE_KEEP_BLOCKS=yes` beside the other files.

use crate::tally::CallTally;
use blockfile::args::{ArgValue, ArgValues};
use blockfile::define::{Definition, FILE, LOST, OpenFileDefinition, SkippedPolls};
use blockfile::file::{BlockFile, BlockFileInfo};
use blockfile::operation::{self, OperationRecord};
use blockfile::record::FIRST_UNKNOWN;
use std::fs;
use std::path::Path;

/// Contents of a block file in figures.
#[derive(Debug)]
pub struct RecordedCounts {
    /// Header of the block file.
    pub info: BlockFileInfo,
    /// Number of threads in the block file.
    pub threads: usize,
    /// Records of calls, per function.
    pub calls: CallTally,
    /// Polls that were counted and not recorded, per function.
    pub skipped: CallTally,
    /// Bytes of all records, headers of blocks not counted.
    pub bytes: u64,
}

/// The bytes of a file.
#[track_caller]
fn contents(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The block file at `path`, which has these bytes.
#[track_caller]
fn opened<'a>(path: &Path, bytes: &'a [u8]) -> BlockFile<'a> {
    BlockFile::new(bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a block file.
#[track_caller]
pub fn read(path: &Path) -> RecordedCounts {
    let bytes = contents(path);
    let file = opened(path, &bytes);
    let table = wrappers::table().expect("the function table");
    let mut recorded = RecordedCounts {
        info: file.info(),
        threads: file.threads().len(),
        calls: CallTally::new(),
        skipped: CallTally::new(),
        bytes: 0,
    };
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            recorded.bytes += record_bytes(record.payload.len());
            let name = |number: u16| match table.functions.get(usize::from(number)) {
                Some(function) => function.name.clone(),
                None => format!("function {number}"),
            };
            if let Some(skipped) = SkippedPolls::of(&record) {
                *recorded.skipped.entry(name(skipped.function)).or_default() += skipped.calls;
            }
            if record.is_call() {
                *recorded.calls.entry(name(record.function)).or_default() += 1;
            }
        }
    }
    recorded
}

/// Calls of one function in a block file, in the order in which they ended: bytes of the record, and the arguments that are numbers; a
/// status counts as three, source, tag and bytes.
#[track_caller]
pub fn arguments(path: &Path, function: &str) -> Vec<(u64, Vec<i64>)> {
    let bytes = contents(path);
    let file = opened(path, &bytes);
    let table = wrappers::table().expect("the function table");
    let function = table.get(function).expect("a function of MPI");
    let mut calls = Vec::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if !record.is_call() || usize::from(record.function) != function.id {
                continue;
            }
            let values = ArgValues::decode(function, file.info().family, record.payload);
            let values = values.expect("sound arguments");
            let numbers = values.values().iter().flat_map(|value| match value {
                ArgValue::Int(number) => vec![*number],
                ArgValue::Status(Some(status)) => {
                    vec![status.source.into(), status.tag.into(), status.bytes as i64]
                }
                _ => Vec::new(),
            });
            calls.push((record_bytes(record.payload.len()), numbers.collect()));
        }
    }
    calls
}

/// An operation below MPI.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedOperation {
    /// Name of its kind.
    pub name: &'static str,
    /// Number of the MPI call that it belongs to.
    pub call: u64,
    /// Start, ticks.
    pub start: u64,
    /// Duration, ticks.
    pub duration: u64,
    /// errno.
    pub error: i32,
    /// Name of the file, as far as it is known.
    pub file: String,
    /// All else.
    pub operation: OperationRecord,
}

/// Records about files in a block file.
#[derive(Debug, Default)]
pub struct RecordedFiles {
    /// The operations, thread by thread, in the order in which they ended.
    pub done: Vec<RecordedOperation>,
    /// Definitions of open files.
    pub files: Vec<OpenFileDefinition>,
    /// Records that are not there: how many, why.
    pub lost: Vec<(u64, String)>,
    /// Names of the MPI calls by their numbers.
    pub calls: std::collections::BTreeMap<u64, String>,
}

impl RecordedFiles {
    /// Number of operations of each kind for which `choose` holds.
    pub fn count(&self, choose: impl Fn(&RecordedOperation) -> bool) -> CallTally {
        let mut counts = CallTally::new();
        for done in self.done.iter().filter(|done| choose(done)) {
            *counts.entry(done.name.to_owned()).or_default() += 1;
        }
        counts
    }
}

/// Reads the operations of a block file.
#[track_caller]
pub fn files(path: &Path) -> RecordedFiles {
    let bytes = contents(path);
    let file = opened(path, &bytes);
    let table = wrappers::table().expect("the function table");
    let mut files = RecordedFiles::default();
    for thread in file.threads() {
        let mut names = std::collections::BTreeMap::new();
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if record.is_operation() {
                let operation = OperationRecord::decode(record.payload).expect("an operation");
                let kind = operation::kind(record.function).expect("a kind of operation");
                files.done.push(RecordedOperation {
                    name: kind.name,
                    call: record.call,
                    start: record.start,
                    duration: record.duration,
                    error: record.code,
                    file: names.get(&operation.fd).cloned().unwrap_or_default(),
                    operation,
                });
            } else if matches!(record.function, FILE | LOST) {
                match Definition::decode(record.function, record.payload) {
                    Some(Definition::File(file)) => {
                        names.insert(file.fd, file.path.clone());
                        files.files.push(file);
                    }
                    Some(Definition::Lost { count, reason }) => files.lost.push((count, reason)),
                    other => panic!("{other:?}"),
                }
            } else if record.is_call() && record.function < FIRST_UNKNOWN {
                let name = table.functions[usize::from(record.function)].name.clone();
                files.calls.insert(record.call, name);
            }
        }
    }
    files
}

/// Bytes of a record with the usual head and this payload; sizes are multiples of 4.
fn record_bytes(payload: usize) -> u64 {
    (blockfile::record::HEAD + payload).next_multiple_of(4) as u64
}
