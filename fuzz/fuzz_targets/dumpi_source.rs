//! A DUMPI file as both ranks of a run, drawn.
#![no_main]

use formats::dumpi::Source;
use formats::model::Source as _;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(source) = Source::new(2, &[(0, data), (1, data)]) {
        let _ = source.for_each(&mut |_| Ok(()));
    }
});
