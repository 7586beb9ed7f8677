//! SLOG2: every node, all texts, windows, and the drawables in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io;
use trace_formats::slog2;
use trace_model::Source;

fuzz_target!(|data: &[u8]| {
    let Ok(reader) = slog2::Slog2Reader::new(data) else {
        return;
    };
    if let Ok(directory) = reader.whole_directory() {
        for entry in directory {
            let _ = reader.node(entry.ptr);
        }
    }
    let window = slog2::TimeBBox {
        earliest: 0.25,
        latest: 2.5,
    };
    for depth in [slog2::Depth::Bytes(2000), slog2::Depth::Lowest(0)] {
        let _ = reader.window(window, depth);
    }
    if let Ok(source) = slog2::Slog2Source::new(data) {
        let _ = source.for_each(&mut |_| Ok(()));
    }
    if let Ok(mut navigator) = slog2::Navigator::new(&reader, true) {
        for line in ["d=0", "+=1.5", ">", "- a", "s ts=-9 tf=9"] {
            let _ = navigator.obey(line, &mut io::sink());
        }
    }
    let _ = slog2::print(&reader, &Default::default(), &mut io::sink());
    let _ = slog2::print_recursively(&reader, &Default::default(), &mut io::sink());
});
