//! A DUMPI file as both ranks of a run, drawn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_formats::dumpi::DumpiSource;
use trace_model::Source as _;

fuzz_target!(|data: &[u8]| {
    if let Ok(source) = DumpiSource::new(2, &[(0, data), (1, data)]) {
        let _ = source.for_each(&mut |_| Ok(()));
    }
});
