//! SLOG2: every node, and both texts.
#![no_main]

use formats::slog2;
use libfuzzer_sys::fuzz_target;
use std::io;

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = slog2::Reader::new(data) else {
        return;
    };
    for entry in reader.directory() {
        let _ = reader.node(entry.ptr);
    }
    let _ = slog2::print(&reader, &Default::default(), &mut io::sink());
    let _ = slog2::print_recursively(&reader, &Default::default(), &mut io::sink());
});
