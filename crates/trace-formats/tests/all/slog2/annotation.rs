//! SLOG2 annotation files: with the CLOG2 file they are what a conversion makes of it, node by node and byte by byte; with
//! any other file they are refused.

use std::io::Cursor;

use proptest::prelude::*;
use test_support::golden;
use trace_formats::clog2::{
    Clog2Body, Clog2Record, Clog2RecordHeader, Clog2StateDef, Clog2Writer, CommTable, FixedText,
    Preamble,
};
use trace_formats::slog2::{
    Annotated, ConvertError, ConvertOptions, Slog2ErrorKind, Slog2PrintOptions, Slog2Reader,
    TreeOptions, annotate, convert, print,
};

use crate::slog2::common::{Log, sample};

fn options(leaf_byte_size: i32, children_per_node: i16) -> ConvertOptions {
    ConvertOptions {
        tree: TreeOptions {
            leaf_byte_size,
            children_per_node,
        },
        ..ConvertOptions::default()
    }
}

fn annotated(clog2: &[u8], options: ConvertOptions) -> Vec<u8> {
    let out = Cursor::new(Vec::new());
    let (out, _) = annotate(clog2, "log.clog2", out, options).expect("annotates");
    out.into_inner()
}

fn full(clog2: &[u8], options: ConvertOptions) -> Vec<u8> {
    let (out, _) = convert(clog2, Cursor::new(Vec::new()), options).expect("converts");
    out.into_inner()
}

/// Compares a file with its annotation, and gives the sizes of both.
fn compare(name: &str, clog2: &[u8], options: ConvertOptions) -> [usize; 2] {
    let slog2 = full(clog2, options);
    let slog2a = annotated(clog2, options);
    let reader = Slog2Reader::new(&slog2).expect("full file");
    let both = Annotated::new(&slog2a, clog2).expect("annotation");

    let nodes = both.tree().directory();
    assert_eq!(nodes.len(), reader.directory().len(), "{name}: nodes");
    // From the last to the first: a leaf needs none before it.
    for (entry, ours) in reader.directory().iter().zip(nodes.iter()).rev() {
        assert_eq!((entry.id, entry.bounds), (ours.id, ours.bounds), "{name}");
        let node = reader.node(entry.ptr).expect("node");
        let bytes = both.node_bytes(ours.ptr).expect("node of both");
        let mut rebuilt = both.read_node(&bytes).expect("its own bytes");
        assert_eq!(rebuilt.nestless, node.nestless, "{name} {:?}", entry.id);
        assert_eq!(rebuilt.nestable, node.nestable, "{name} {:?}", entry.id);
        assert_eq!(rebuilt.stub.bounds, node.stub.bounds);
        // NaN ratios are not equal to themselves, so shadows are compared as bytes, but for the pointers.
        rebuilt.stub.ptr = node.stub.ptr;
        assert_eq!(rebuilt.shadows.len(), node.shadows.len(), "{name}");
        for (a, b) in rebuilt.shadows.iter_mut().zip(&node.shadows) {
            a.stub.ptr = b.stub.ptr;
        }
        let bytes = [&rebuilt, &node].map(|node| {
            let mut bytes = Vec::new();
            node.write(&mut bytes);
            bytes
        });
        assert_eq!(bytes[0], bytes[1], "{name} {:?}", entry.id);
        let plain = both.tree().node(ours.ptr).expect("plain node");
        if entry.id.depth == 0 {
            assert!(plain.nestless.is_empty() && plain.nestable.is_empty());
        }
    }
    let (expanded, _) = both.expand(Cursor::new(Vec::new())).expect("expands");
    assert!(expanded.into_inner() == slog2, "{name}: expanded");
    [slog2.len(), slog2a.len()]
}

#[test]
fn goldens_are_the_same_with_and_without() {
    let shapes = [
        (65536, 2),
        (1024, 2),
        (1024, 4),
        (600, 3),
        (200, 2),
        (60, 2),
    ];
    let mut sums = [[0, 0]; 6];
    let mut files = golden::contents("mpe", ".clog2");
    // Only merged files can be converted.
    files.retain(|(name, _)| !name.contains(".local"));
    assert!(files.len() > 20, "only {} golden files", files.len());
    for (name, clog2) in files {
        for ((leaf, children), sum) in shapes.into_iter().zip(&mut sums) {
            let sizes = compare(&name, &clog2, options(leaf, children));
            sum[0] += sizes[0];
            sum[1] += sizes[1];
        }
    }
    println!("bytes full and annotated, by shape: {sums:?}");
}

#[test]
fn a_sample_of_everything() {
    for steps in [1, 10, 100] {
        let clog2 = sample(steps).clog2();
        for leaf in [60, 100, 600, 4096, 65536] {
            compare("sample", &clog2, options(leaf, 2));
            compare("sample", &clog2, options(leaf, 3));
        }
    }
}

/// Definitions in the middle that change what numbers mean.
#[test]
fn numbers_change_their_meaning() {
    let mut log = Log::new(2, 1);
    let round = |log: &mut Log, from: i32| {
        for step in from..from + 40 {
            for (rank, offset) in [(0, 0.0), (1, 0.25)] {
                let time = f64::from(step) + offset;
                log.bare(time, (0, rank, 0), 9000);
                log.bare(time + 0.05, (0, rank, 0), 9002);
                log.bare(time + 0.1, (0, rank, 0), 9001);
                log.bare(time + 0.2, (0, rank, 0), 9003);
            }
        }
    };
    // Nothing is known of them, then they are states, then they belong to others.
    round(&mut log, 0);
    log.state_def([9000, 9001], "first", "red", "");
    round(&mut log, 100);
    log.state_def([9002, 9003], "second", "blue", "");
    round(&mut log, 200);
    log.state_def([9000, 9100], "third", "green", "");
    round(&mut log, 300);
    let clog2 = log.clog2();
    for leaf in [100, 300, 1000, 10000] {
        compare("meanings", &clog2, options(leaf, 2));
    }
}

/// A log in any order: what the writer of records does, here with times that jump.
fn any_log() -> impl Strategy<Value = Vec<u8>> {
    let record = (0u8..8, 0i32..3, 0i32..2, 0u32..12, 0u8..4);
    (prop::collection::vec(record, 1..300), 0u8..3, 0usize..3).prop_map(
        |(records, disorder, block)| {
            let mut log = Log::new(3, 1);
            log.state_def([600, 601], "user", "red", "n=%d");
            for (nth, (kind, rank, comm, jump, more)) in records.into_iter().enumerate() {
                let time = match disorder {
                    // As it should be, with many equal times; a little wrong; any.
                    0 => (nth / 3) as f64,
                    1 => nth as f64 - f64::from(jump),
                    _ => f64::from(jump),
                };
                let place = (comm, rank, 0);
                let partner = i32::from(more) % 3;
                match kind {
                    0 => log.bare(time, place, 48),
                    1 => log.bare(time, place, 49),
                    2 => log.cargo(time, place, 600, &[0, 0, 0, more]),
                    3 => log.bare(time, place, 601),
                    4 => log.cargo(time, place, 601, &[more; 4]),
                    5 => log.send(time, place, partner, 1, nth as i32),
                    6 => log.recv(time, place, partner, 1, 7),
                    _ => log.bare(time, place, -9),
                }
            }
            let mut file = Cursor::new(Vec::new());
            let preamble = Preamble {
                block_size: [512, 1024, 65536][block],
                ..log.preamble.clone()
            };
            let mut writer = Clog2Writer::new(&mut file, &preamble).expect("memory");
            // One drawable at least.
            let last = Clog2RecordHeader {
                time: 1e3,
                ..Clog2RecordHeader::default()
            };
            log.records.push(Clog2Record {
                header: last,
                body: Clog2Body::Bare { etype: -9 },
            });
            for record in &log.records {
                writer.write(record).expect("memory");
            }
            writer
                .finish(&CommTable::default(), &preamble)
                .expect("memory");
            file.into_inner()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_records(clog2 in any_log(), leaf in 60i32..800, children in 2i16..5) {
        compare("random", &clog2, options(leaf, children));
    }
}

#[test]
fn most_of_a_file_is_in_its_leaves() {
    let clog2 = sample(3000).clog2();
    let [full, annotated] = compare("large", &clog2, ConvertOptions::default());
    println!("full {full}, annotated {annotated} bytes");
    assert!(annotated * 10 < full, "{annotated} of {full} bytes");
}

#[test]
fn another_clog2_is_refused() {
    let clog2 = sample(100).clog2();
    let slog2a = annotated(&clog2, options(600, 2));
    let refused = |clog2: &[u8]| match Annotated::new(&slog2a, clog2) {
        Err(ConvertError::Slog2(error)) => {
            assert!(
                matches!(error.kind, Slog2ErrorKind::OtherClog2 { .. }),
                "{error}"
            );
            error.to_string()
        }
        other => panic!("{other:?}"),
    };
    assert!(refused(&clog2[..clog2.len() - 1]).contains("its size is"));
    let mut other = clog2.clone();
    *other.last_mut().expect("bytes") ^= 1;
    assert!(refused(&other).contains("hash"));
    assert!(refused(&[]).contains("size"));
    // A plain file is no annotation file.
    let plain = full(&clog2, options(600, 2));
    let error = Annotated::new(&plain, &clog2).expect_err("a plain file");
    assert!(
        error.to_string().contains("not an annotation file"),
        "{error}"
    );
    let reader = Slog2Reader::new(&plain).expect("plain file");
    assert_eq!(Annotated::companion_of(&reader).expect("sound"), None);
    let reader = Slog2Reader::new(&slog2a).expect("annotation file");
    let companion = Annotated::companion_of(&reader)
        .expect("sound")
        .expect("one");
    assert_eq!(companion.name.to_str(), "log.clog2");
    assert_eq!(companion.size, clog2.len() as u64);
}

/// A change in the middle of a large file: the leaf that is concerned tells.
#[test]
fn changed_records_are_found() {
    let mut clog2 = sample(2000).clog2();
    let slog2a = annotated(&clog2, options(4096, 2));
    let middle = clog2.len() / 2;
    clog2[middle] ^= 1;
    let both = Annotated::new(&slog2a, &clog2).expect("beginning and end are the same");
    let leaves = both.tree().level(0);
    let bad: Vec<String> = leaves
        .iter()
        .filter_map(|leaf| both.node_bytes(leaf.ptr).err())
        .map(|error| error.to_string())
        .collect();
    assert_eq!(bad.len(), 1, "{bad:?}");
    assert!(bad[0].contains("hash of the records of a leaf"), "{bad:?}");
    assert!(both.expand(Cursor::new(Vec::new())).is_err());
}

/// Walks over everything; errors are fine, panics are not.
fn walk(slog2a: &[u8], clog2: &[u8]) -> bool {
    let Ok(both) = Annotated::new(slog2a, clog2) else {
        return false;
    };
    let nodes = both.tree().directory();
    let all = nodes.iter().all(|entry| both.node_bytes(entry.ptr).is_ok());
    both.expand(Cursor::new(Vec::new())).is_ok() && all
}

#[test]
fn damage_gives_errors() {
    let clog2 = sample(3).clog2();
    let slog2a = annotated(&clog2, options(300, 2));
    assert!(walk(&slog2a, &clog2));
    for length in 0..slog2a.len() {
        assert!(!walk(&slog2a[..length], &clog2), "{length} bytes");
    }
    for at in 0..slog2a.len() {
        let mut damaged = slog2a.clone();
        damaged[at] ^= [0x01, 0x80, 0xff][at % 3];
        walk(&damaged, &clog2);
    }
}

#[test]
fn every_reader_shows_the_previews() {
    let clog2 = sample(100).clog2();
    let slog2a = annotated(&clog2, options(600, 2));
    let reader = Slog2Reader::new(&slog2a).expect("a valid SLOG2 file");
    let mut text = Vec::new();
    print(&reader, &Slog2PrintOptions::default(), &mut text).expect("prints");
    assert!(String::from_utf8_lossy(&text).contains("SLOG-2 Tree Directory"));
    let root = reader.root().expect("root");
    let root = reader.node(root.ptr).expect("root node");
    let shown: i64 = root.shadows.iter().map(|buffer| buffer.real_count()).sum();
    let real = crate::slog2::common::drawables(&full(&clog2, options(600, 2))).len();
    assert_eq!(
        shown as usize + root.nestless.len() + root.nestable.len(),
        real
    );
}

#[test]
fn logs_without_drawables_make_no_file() {
    let mut log = Log::new(1, 1);
    log.bare(0.5, (0, 0, 0), 48);
    let error = annotate(&log.clog2(), "x", Cursor::new(Vec::new()), options(600, 2));
    assert!(matches!(
        error,
        Err(ConvertError::Slog2(error)) if matches!(error.kind, Slog2ErrorKind::NoDrawables)
    ));
}

/// Definitions that no event uses take no harm.
#[test]
fn many_definitions() {
    let mut log = Log::new(1, 1);
    for number in 0..200 {
        let def = Clog2StateDef {
            state_id: number,
            start_etype: 10_000 + 2 * number,
            final_etype: 10_001 + 2 * number,
            color: FixedText::new("red"),
            name: FixedText::new(&format!("state {number}")),
            format: FixedText::new(""),
        };
        log.records.push(Clog2Record {
            header: Clog2RecordHeader::default(),
            body: Clog2Body::StateDef(def),
        });
        log.bare(f64::from(number), (0, 0, 0), 10_000 + 2 * number);
        log.bare(f64::from(number) + 0.5, (0, 0, 0), 10_001 + 2 * number);
    }
    compare("definitions", &log.clog2(), options(300, 2));
}
