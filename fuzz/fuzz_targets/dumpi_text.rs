//! Texts of dumpi2ascii: what is made of one can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_formats::dumpi::from_text::{FromTextOptions, Zone, from_text};
use trace_formats::dumpi::read::DumpiReader;

fuzz_target!(|data: &[u8]| {
    for as_ascii2dumpi in [false, true] {
        let options = FromTextOptions {
            zone: Zone::Utc,
            as_ascii2dumpi,
        };
        if let Ok((file, made)) = from_text(data, Vec::new(), &options) {
            let reader = DumpiReader::open(&file).expect("what we write we can read");
            assert_eq!(
                reader.records().filter(|r| r.is_ok()).count() as u64,
                made.records
            );
        }
    }
});
