//! SLOG2 annotation files, with the CLOG2 file that the seed was made of: every node, and the full file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::Cursor;
use trace_formats::slog2::{Annotated, Slog2Layout, Slog2Reader, rewrite};

const CLOG2: &[u8] = include_bytes!("../../crates/trace-formats/tests/data/clog2/small.clog2");

fuzz_target!(|data: &[u8]| {
    if let Ok(reader) = Slog2Reader::new(data) {
        let _ = rewrite(&reader, Slog2Layout::V205, Cursor::new(Vec::new()));
    }
    let Ok(both) = Annotated::new(data, CLOG2) else {
        return;
    };
    for entry in both.tree().directory() {
        let _ = both.node_bytes(entry.ptr);
    }
    let _ = both.expand(Cursor::new(Vec::new()));
});
