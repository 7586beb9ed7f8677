//! CLOG2: records, communicator table, both texts, conversion to SLOG2.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::{clog2, slog2};

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = clog2::Clog2Reader::new(data) else {
        return;
    };
    let _ = reader.comm_table();
    let _ = clog2::print::print(&reader, &mut io::sink());
    let _ = clog2::java::print(&reader, &mut io::sink());
    let out = io::Cursor::new(Vec::new());
    if let Ok((file, _)) = slog2::convert(data, out, Default::default()) {
        slog2::Slog2Reader::new(file.get_ref()).expect("what we write we can read");
    }
});
