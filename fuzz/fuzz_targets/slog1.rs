//! SLOG-1: the text, a copy, and all drawables.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::slog1;
use trace_model::Source as _;

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = slog1::Slog1Reader::new(data) else {
        return;
    };
    let _ = slog1::print(&reader, b"fuzz.slog", &mut io::sink());
    let _ = slog1::copy(&reader, &mut io::sink());
    let (source, _) = slog1::Slog1Source::salvaged(reader);
    let _ = source.for_each(&mut |_| Ok(()));
});
