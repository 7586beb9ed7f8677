//! Damaged files: what makes traces out of traces gives errors or what is left, and ends.

use std::io::Cursor;

use crate::edit::common::{Drawn, any_drawn, file};
use crate::small_logs::sample;
use proptest::prelude::*;
use trace_formats::clog2::Clog2Writer;
use trace_formats::dumpi;
use trace_formats::slog2::{Slog2Reader, Slog2Source, TreeOptions};
use trace_model::Source as _;
use transform::{
    Arrows, Clog2Filter, DumpiFilter, MergeInput, MergedTraces, Selection, Slog2Filter, Split,
    align_by_call_ids, usual_views, write_slog2,
};

/// Everything that is done with SLOG2 files. True if it could be read at all.
fn slog2(bytes: &[u8]) -> bool {
    let out = || Cursor::new(Vec::new());
    if let Ok(reader) = Slog2Reader::new(bytes) {
        for like_original in [false, true] {
            let filter = Slog2Filter {
                like_original,
                ..Slog2Filter::default()
            };
            let _ = filter.run(&reader, out(), || ());
        }
    }
    let Ok(source) = Slog2Source::new(bytes) else {
        return false;
    };
    let views = usual_views(&source.definitions().lines);
    let _ = write_slog2(&Arrows::new(&source), &views, TreeOptions::default(), out());
    if let Ok(split) = Split::new(&source) {
        let views = split.views(&views);
        let _ = write_slog2(&split, &views, TreeOptions::default(), out());
    }
    let _ = align_by_call_ids(&source, &source);
    let part = || MergeInput {
        source: &source,
        views: source.reader().line_id_maps().to_vec(),
        name: "same".to_owned(),
        shift: 0.5,
    };
    if let Ok(merged) = MergedTraces::new(vec![part(), part()]) {
        let _ = write_slog2(&merged, merged.views(), TreeOptions::default(), out());
    }
    true
}

fn clog2(bytes: &[u8]) -> bool {
    let Ok(filter) = Clog2Filter::new(bytes) else {
        return false;
    };
    let preamble = filter.reader().preamble().clone();
    let selection = Selection {
        invert: true,
        ..Selection::default()
    };
    let writer = Clog2Writer::new(Cursor::new(Vec::new()), &preamble);
    let selected = filter.select(&selection);
    let both = writer.ok().zip(selected.ok());
    both.is_some_and(|(writer, selected)| filter.run(&selected, writer).is_ok())
}

fn dumpi_file(bytes: &[u8]) -> bool {
    let reader = dumpi::read::DumpiReader::open(bytes);
    let Ok(reader) = reader.or_else(|_| dumpi::read::DumpiReader::salvage(bytes)) else {
        return false;
    };
    let filter = DumpiFilter::default();
    let writer = dumpi::write::DumpiWriter::new(Vec::new(), filter.offsets(&reader));
    let mut writer = writer.expect("memory");
    let copied = filter.copy(&reader, &mut writer).expect("memory");
    writer.finish(&copied.trailer, filter.layout()).is_ok()
}

fn small_slog2() -> Vec<u8> {
    let call = |id: u64, line, from, to| {
        let info = [id.to_be_bytes(), 5u64.to_be_bytes()].concat();
        Drawn::new(2, &info, &[(from, line), (to, line)])
    };
    let mut drawn = vec![Drawn::new(0, &[0; 8], &[(0.5, 0), (2.5, 2)])];
    for nth in 0..4 {
        let time = f64::from(nth);
        drawn.push(call(1, nth % 2, time, time + 1.5));
        drawn.push(Drawn::new(3, &[0, 0, 0, 1], &[(time, 2)]));
    }
    file(&drawn, 200)
}

fn small_dumpi() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-formats/tests/data/dumpi/every-kind.bin"
    );
    std::fs::read(path).expect("a file of this repository")
}

#[test]
fn every_truncation() {
    let (a, b, c) = (small_slog2(), sample(1).clog2(), small_dumpi());
    assert!(slog2(&a) && clog2(&b) && dumpi_file(&c));
    for end in 0..a.len() {
        assert!(!slog2(&a[..end]), "the directory is at the end");
    }
    for end in (0..b.len()).step_by(7) {
        clog2(&b[..end]);
    }
    let salvaged = (0..c.len()).filter(|&end| dumpi_file(&c[..end])).count();
    assert!(salvaged > c.len() / 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn flipped_bytes(at in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        type Reading = fn(&[u8]) -> bool;
        let files: [(Vec<u8>, Reading); 3] = [
            (small_slog2(), slog2),
            (sample(1).clog2(), clog2),
            (small_dumpi(), dumpi_file),
        ];
        for (mut bytes, read) in files {
            for (index, value) in &at {
                let place = index.index(bytes.len());
                bytes[place] = *value;
            }
            read(&bytes);
        }
    }

    #[test]
    fn times_that_are_no_numbers(
        mut list in prop::collection::vec(any_drawn(4), 1..20),
        odd in prop::collection::vec((any::<prop::sample::Index>(), any::<f64>()), 1..5),
    ) {
        for (index, time) in odd {
            let place = index.index(list.len());
            list[place].vertices[0].0 = time;
        }
        slog2(&file(&list, 300));
    }
}
