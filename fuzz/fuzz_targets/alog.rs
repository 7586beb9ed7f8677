//! ALOG: lines and copies of them, definitions, drawables, the way to CLOG-1.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::{alog, clog1};
use trace_model::Source as _;

fuzz_target!(|data: &[u8]| {
    alog::recognises(data);
    let reader = alog::AlogReader::new(data);
    for line in reader.lines().map_while(Result::ok) {
        if let alog::LineContent::Event(event) = line.content {
            let mut copy = Vec::new();
            event.write(&mut copy).expect("memory");
            let again =
                alog::AlogEvent::parse(&copy[..copy.len() - 1]).expect("what we write we can read");
            assert_eq!(again, event);
        }
    }
    let (source, _) = alog::AlogSource::salvaged(data);
    source.for_each(&mut |_| Ok(())).expect("nothing stops it");
    let _ = clog1::from_alog(&reader, io::sink());
});
