//! CLOG-1: records and copies of them, both texts, drawables.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::{alog, clog1};
use trace_model::Source as _;

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = clog1::Clog1Reader::new(data) else {
        return;
    };
    let _ = clog1::print::print(&reader, &mut io::sink());
    let _ = alog::from_clog1(&reader, &mut io::sink());
    let mut writer = clog1::Clog1Writer::new(Vec::new(), reader.layout());
    let is_whole = reader.raw_records().all(|raw| match raw {
        Ok(raw) => writer.write_raw(&raw).is_ok(),
        Err(_) => false,
    });
    if is_whole {
        assert!(writer.finish().expect("memory") == data);
    }
    let (source, _) = clog1::Clog1Source::salvaged(reader);
    source.for_each(&mut |_| Ok(())).expect("nothing stops it");
});
