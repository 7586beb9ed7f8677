//! DUMPI .bin files: sections, stream, text; and what is left of one that was cut off.
#![no_main]

use formats::dumpi::print::{Sections, Zone, print};
use formats::dumpi::read::Reader;
use libfuzzer_sys::fuzz_target;
use std::io;

fuzz_target!(|data: &[u8]| {
    for reader in [Reader::open(data), Reader::salvage(data)]
        .into_iter()
        .flatten()
    {
        let _ = reader.trailer();
        let _ = print(&reader, Sections::ALL, Zone::Utc, &mut io::sink());
    }
});
