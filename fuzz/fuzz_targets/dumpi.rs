//! DUMPI .bin files: sections, stream, text; and what is left of one that was cut off.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;

fuzz_target!(|data: &[u8]| {
    for reader in [DumpiReader::open(data), DumpiReader::salvage(data)]
        .into_iter()
        .flatten()
    {
        let _ = reader.trailer();
        let _ = print(&reader, Sections::ALL, Zone::Utc, &mut io::sink());
    }
});
