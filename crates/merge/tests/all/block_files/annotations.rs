//! Annotations of the program (MPI_Pcontrol) in all projections, from block files made in memory.

use crate::block_files::ranks::*;
use blockfile::define::{ANNOTATION, Definition};
use blockfile::file::BlockFile;
use merge::dumpi::{DumpiOptions, write_to};
use std::io::Cursor;
use trace_formats::clog2::Clog2Body;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::Mask;
use trace_formats::slog2::{NodeDrawable, Slog2Reader as Slog2, Topology};

/// An annotation at `start`, ns.
fn annotate(b: &mut Blocks, start: u32, key: u64, text: &str) {
    let text = text.to_owned();
    let payload = Definition::Annotation { key, text }.encode();
    b.record(ANNOTATION, start, 0, &payload);
}

/// Name, key of a pseudo call, start in ns, thread.
type Shown = (String, u64, i32, u16);

/// All records, and the labels with their keys.
fn dumpi(b: &Blocks, options: &DumpiOptions) -> (Vec<Shown>, Vec<(u64, String)>) {
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).expect("a block file");
    let (out, summary) = write_to(&file, b.table, options, Vec::new()).expect("written");
    let reader = DumpiReader::open(&out).expect("a DUMPI file");
    let labels = reader.address_labels().expect("sound").expect("there");
    let labels: Vec<_> = labels
        .iter()
        .map(|l| (l.key, String::from_utf8_lossy(&l.label).into_owned()))
        .collect();
    assert!(summary.annotations >= labels.iter().filter(|l| l.1.starts_with("ANN")).count() as u64);
    let records = reader.records().map(|record| {
        let record = record.expect("sound");
        assert_eq!(record.mask.0 & Mask::CPU != 0, b.cpu);
        let key = match record.args().next() {
            Some((_, trace_formats::dumpi::value::FieldValue::U64(key))) => key,
            _ => 0,
        };
        let name = record.function.name.to_owned();
        (name, key, record.wall.start.nsec, record.thread)
    });
    (records.collect(), labels)
}

/// Calls and annotations, one of a key that comes twice.
fn annotated() -> Blocks {
    let mut b = rank(0, 1);
    annotate(&mut b, 900, 4096, "before all");
    call_at(&mut b, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    annotate(&mut b, 1020, 17, "note");
    annotate(&mut b, 1030, 4097, "");
    let thing = b
        .table
        .get("MPI_Ibarrier")
        .expect("in the table")
        .name
        .clone();
    call_at(&mut b, 1100, 1110, &thing, &[V::H(WORLD), V::H(0x5000)]);
    annotate(&mut b, 1200, 17, "another note");
    annotate(&mut b, 1300, u64::MAX, "the last one");
    b
}

#[test]
fn dumpi_has_pairs_and_labels() {
    let b = annotated();
    let (records, labels) = dumpi(&b, &DumpiOptions::default());
    let of = |key: u64, at: i32| {
        ["Function_enter", "Function_exit"].map(|name| (name.to_owned(), key, at, 0))
    };
    let ibarrier = labels.iter().find(|l| l.1 == "MPI_Ibarrier").expect("it").0;
    let mut want = Vec::new();
    want.extend(of(4096, 900));
    want.push(("MPI_Barrier".to_owned(), 0, 1000, 0));
    want.extend(of(17, 1020));
    want.extend(of(4097, 1030));
    want.extend(of(ibarrier, 1100));
    want[8].2 = 1110;
    want.extend(of(17, 1200));
    want.extend(of(u64::MAX, 1300));
    assert_eq!(records, want);
    // By the exclusive or of the four low bytes: 0 of the last key, 0x10, 0x11 and 0x11 by first use.
    let label = |key: u64, text: &str| (key, format!("ANNOTATION: {text}"));
    let xor = (ibarrier as u32)
        .to_be_bytes()
        .into_iter()
        .fold(0, |x, b| x ^ b);
    let mut want = vec![
        (0, label(u64::MAX, "the last one")),
        (0x10, label(4096, "before all")),
        (0x11, label(17, "note")),
        (0x11, label(4097, "")),
        (xor, (ibarrier, "MPI_Ibarrier".to_owned())),
    ];
    want.sort_by_key(|w| w.0);
    assert_eq!(labels, want.into_iter().map(|w| w.1).collect::<Vec<_>>());
}

#[test]
fn tracing_switches_the_halves_and_never_the_labels() {
    let b = annotated();
    let all = dumpi(&b, &DumpiOptions::default()).1;
    for (enter, exit) in [(true, true), (true, false), (false, true), (false, false)] {
        let options = DumpiOptions {
            enter,
            exit,
            ..DumpiOptions::default()
        };
        let (records, labels) = dumpi(&b, &options);
        assert_eq!(labels, all);
        let count = |name: &str| records.iter().filter(|r| r.0 == name).count();
        // Five annotations, and the pair of MPI_Ibarrier, which is not theirs.
        assert_eq!(count("Function_enter"), 5 * usize::from(enter) + 1);
        assert_eq!(count("Function_exit"), 5 * usize::from(exit) + 1);
    }
}

#[test]
fn cpu_times_and_threads_are_the_annotations_own() {
    let mut b = rank(0, 1);
    b.cpu = true;
    call_at(&mut b, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    b.threads.push(Vec::new());
    b.thread = 1;
    annotate(&mut b, 1005, 1, "meanwhile");
    let (records, _) = dumpi(&b, &DumpiOptions::default());
    let order: Vec<_> = records.iter().map(|r| (r.0.as_str(), r.3)).collect();
    let pair = [("Function_enter", 1), ("Function_exit", 1)];
    assert_eq!(order, [pair[0], pair[1], ("MPI_Barrier", 0)]);
}

/// Time in ns, rank, thread and text of the solo events 5000.
fn events(merged: &Merged) -> Vec<(i64, i32, i32, String)> {
    let all = merged.records.iter().filter_map(|r| match r.body {
        Clog2Body::Cargo { etype: 5000, bytes } => {
            let length = usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
            let text = String::from_utf8(bytes[2..2 + length].to_vec()).expect("whole characters");
            let h = r.header;
            Some(((h.time * 1e9).round() as i64, h.rank, h.thread, text))
        }
        _ => None,
    });
    all.collect()
}

#[test]
fn clog2_has_solo_events_described_by_the_first_rank() {
    let (mut a, mut b) = (rank(0, 2), rank(1, 2));
    for rank in [&mut a, &mut b] {
        call_at(rank, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    }
    b.threads.push(Vec::new());
    b.thread = 1;
    // 28 characters, then one of two bytes, of which 30 bytes would cut the second.
    annotate(&mut b, 1500, 4096, "ab456789012345678901234567890äx");
    annotate(&mut b, 1600, 4097, "short");
    let merged = merge(&[a, b]);
    assert_eq!(merged.preamble.user_solo_event_id_count, 1);
    let cut = "ab456789012345678901234567890".to_owned();
    assert_eq!(
        events(&merged),
        [(500, 1, 1, cut), (600, 1, 1, "short".to_owned())]
    );
    let described: Vec<_> = merged
        .records
        .iter()
        .filter_map(|r| match r.body {
            Clog2Body::EventDef(d) if d.etype == 5000 => Some((
                r.header.rank,
                d.name.to_str().into_owned(),
                d.format.to_str().into_owned(),
            )),
            _ => None,
        })
        .collect();
    assert_eq!(described, [(0, "annotation".to_owned(), "%s".to_owned())]);

    let (_, states, conversion) = merged.drawables();
    assert_eq!((states.len(), conversion.unmatched_events), (2, 0));
    let out = Cursor::new(Vec::new());
    let (out, _) =
        trace_formats::slog2::convert(&merged.clog2, out, Default::default()).expect("made");
    let file = out.into_inner();
    let reader = Slog2::new(&file).expect("an SLOG2 file");
    let category = reader.categories().iter();
    let category = category
        .clone()
        .find(|c| c.name.to_str() == "annotation")
        .expect("a category");
    assert_eq!(category.topology, Topology::Event);
    let nodes = reader
        .directory()
        .iter()
        .map(|e| reader.node(e.ptr).expect("a node"));
    let shown: usize = nodes
        .map(|node| {
            let all = node.nestless.iter().chain(&node.nestable);
            all.filter(|d| matches!(d, NodeDrawable::Primitive(p) if p.category == category.index))
                .count()
        })
        .sum();
    assert_eq!(shown, 2);
}

#[test]
fn time_zero_is_not_later_than_the_first_annotation() {
    let merged = merge(&[annotated()]);
    let times: Vec<i64> = events(&merged).iter().map(|e| e.0).collect();
    assert_eq!(times, [0, 120, 130, 300, 400]);
}

#[test]
fn without_annotations_nothing_is_said_about_them() {
    let mut b = rank(0, 1);
    call_at(&mut b, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    let merged = merge(&[b]);
    assert_eq!(merged.preamble.user_solo_event_id_count, 0);
    let about = |body: &Clog2Body| matches!(body, Clog2Body::EventDef(d) if d.etype >= 0);
    assert!(!merged.records.iter().any(|r| about(&r.body)));
}

/// Verify of such a trace must not take what a filter has left out for calls that a rank did not make.
#[test]
fn a_rank_says_how_many_collective_calls_were_counted_only() {
    let (mut a, mut b, mut c) = (rank(0, 3), rank(1, 3), rank(2, 3));
    for rank in [&mut a, &mut b] {
        call_at(rank, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    }
    let leave_out = |rank: &mut Blocks, name: &str, calls: u64| {
        let function = rank.table.get(name).expect("in the table").id as u16;
        rank.define(&Definition::Ignored { function, calls });
    };
    for name in [
        "MPI_Send",
        "MPI_Wtime",
        "MPI_Comm_create_group",
        "MPI_File_write_all",
    ] {
        leave_out(&mut a, name, 7);
    }
    for (name, calls) in [
        ("MPI_Recv", 1000),
        ("MPI_Bcast", 3),
        ("MPI_Ineighbor_alltoall", 20),
        ("MPI_Comm_dup", 100),
    ] {
        leave_out(&mut b, name, calls);
    }
    // A rank that records nothing, as the setting `ranks` says.
    leave_out(&mut c, "MPI_Barrier", u64::MAX);
    let merged = merge(&[a, b, c]);
    let said = |text: &str| text.to_owned();
    assert_eq!(
        events(&merged),
        [
            (0, 2, 0, said("999999999 collectives left out")),
            (10, 1, 0, said("123 collectives left out")),
        ]
    );
    assert_eq!(merged.preamble.user_solo_event_id_count, 1);
}

#[test]
fn other_calls_that_were_counted_only_are_not_annotated() {
    let mut b = rank(0, 1);
    call_at(&mut b, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
    let function = b.table.get("MPI_Send").expect("in the table").id as u16;
    b.define(&Definition::Ignored { function, calls: 9 });
    let merged = merge(&[b]);
    assert_eq!(
        (events(&merged), merged.preamble.user_solo_event_id_count),
        (vec![], 0)
    );
}
