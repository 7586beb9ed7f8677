//! DUMPI .meta files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_formats::dumpi::meta::Meta;

fuzz_target!(|data: &[u8]| {
    if let Ok(meta) = Meta::parse(data) {
        let again = Meta::parse(&meta.text()).expect("what we write we can read");
        assert_eq!(again.numprocs, meta.numprocs);
    }
});
