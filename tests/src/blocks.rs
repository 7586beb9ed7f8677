//! What stands in a block file: after a run that died, or with `TRACE_KEEP_BLOCKS=yes` beside the other files.

use crate::tally::Counts;
use records::file::{File, Info};
use records::record::FIRST_UNKNOWN;
use std::fs;
use std::path::Path;

/// Contents of a block file in figures.
#[derive(Debug)]
pub struct Recorded {
    /// Its header.
    pub info: Info,
    /// Records of calls, per function.
    pub calls: Counts,
    /// Bytes of all records, headers of blocks not counted.
    pub bytes: u64,
}

/// Reads a block file.
#[track_caller]
pub fn read(path: &Path) -> Recorded {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = File::new(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let table = wrappers::table().expect("the function table");
    let mut recorded = Recorded {
        info: file.info(),
        calls: Counts::new(),
        bytes: 0,
    };
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            recorded.bytes += record_bytes(record.payload.len());
            if !record.is_call() {
                continue;
            }
            let name = if record.function < FIRST_UNKNOWN {
                table.functions[usize::from(record.function)].name.clone()
            } else {
                format!("function {}", record.function)
            };
            *recorded.calls.entry(name).or_default() += 1;
        }
    }
    recorded
}

/// Bytes of a record with the usual head and this payload; sizes are multiples of 4.
fn record_bytes(payload: usize) -> u64 {
    (records::record::HEAD + payload).next_multiple_of(4) as u64
}
