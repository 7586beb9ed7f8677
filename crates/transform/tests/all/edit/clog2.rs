//! CLOG2 files filtered record by record.

use std::io::Cursor;

use crate::edit::common::{all, sort};
use crate::small_logs::sample;
use test_support::golden;
use trace_formats::clog2::{self, Clog2Reader, Clog2Writer};
use transform::{Clog2Filter, Filtered, FilteredRecords, PropertySelection, Selection};

fn filtered(input: &[u8], selection: &Selection) -> (Vec<u8>, FilteredRecords) {
    let filter = Clog2Filter::new(input).expect("reads");
    let preamble = filter.reader().preamble().clone();
    let writer = Clog2Writer::new(Cursor::new(Vec::new()), &preamble).expect("memory");
    let selected = filter.select(selection).expect("reads");
    let (out, records) = filter.run(&selected, writer).expect("filters");
    (out.into_inner(), records)
}

fn remove(patterns: &[&str]) -> Selection {
    Selection {
        categories: PropertySelection {
            keep: Vec::new(),
            remove: patterns.iter().map(|&text| text.into()).collect(),
        },
        ..Selection::default()
    }
}

#[test]
fn filtering_nothing_gives_the_same_records() {
    let mut files = 0;
    for path in golden::files("mpe", ".clog2") {
        let input = golden::read(&path);
        let preamble = Clog2Reader::new(&input).expect("reads").preamble().clone();
        let name = path.display();
        if !preamble.is_finalized || name.to_string().contains("joined") {
            continue;
        }
        let (output, records) = filtered(&input, &Selection::default());
        assert_eq!(records.removed, 0, "{name}");
        // Behind the last record of a block MPE leaves what stood there before.
        let (before, after) = (
            Clog2Reader::new(&input).expect("reads"),
            Clog2Reader::new(&output).expect("reads"),
        );
        let records = |reader: &Clog2Reader<'_>| -> Vec<Vec<u8>> {
            let encoded = reader.encoded_records();
            encoded
                .map(|record| record.expect("reads").to_vec())
                .collect()
        };
        assert_eq!(records(&before), records(&after), "{name}");
        assert_eq!(input.len(), output.len(), "{name}");
        assert_eq!(input[..1024], output[..1024], "{name}");
        assert_eq!(
            before.comm_table().expect("reads"),
            after.comm_table().expect("reads")
        );
        files += 1;
    }
    assert!(files == 0 || files > 10, "{files} files");
    let small = sample(4).clog2();
    assert!(filtered(&small, &Selection::default()).0 == small);
}

/// The drawables of the filtered file are those that filtering the drawables of the file gives.
#[test]
fn the_same_as_filtering_drawables() {
    let number = |text: &str| vec![text.parse().expect("numbers")];
    let keep = |keep| PropertySelection {
        keep,
        remove: Vec::new(),
    };
    let selections = [
        remove(&["message"]),
        remove(&["MPI_*", "step"]),
        Selection {
            categories: PropertySelection {
                keep: vec!["step".into(), "MPI_Comm*".into(), "message".into()],
                remove: Vec::new(),
            },
            ..Selection::default()
        },
        Selection {
            ranks: keep(number("1")),
            ..Selection::default()
        },
        Selection {
            ranks: PropertySelection {
                keep: Vec::new(),
                remove: number("1"),
            },
            invert: true,
            ..Selection::default()
        },
        Selection {
            threads: keep(number("1")),
            ..Selection::default()
        },
        Selection {
            comms: keep(number("3")),
            ..Selection::default()
        },
        Selection {
            windows: PropertySelection {
                keep: vec![(0.2, 1.1)],
                remove: vec![(0.8, 0.9)],
            },
            ..Selection::default()
        },
    ];
    let mut inputs = vec![sample(6).clog2()];
    for path in golden::files("mpe", ".clog2") {
        let input = golden::read(path);
        if Clog2Reader::new(&input)
            .expect("reads")
            .preamble()
            .is_finalized
        {
            inputs.push(input);
        }
    }
    let mut changed = 0;
    for input in &inputs {
        for selection in &selections {
            let before = clog2::Clog2Source::new(input).expect("reads");
            let mut expected = all(&Filtered::new(&before, selection));
            sort(&mut expected);
            let (output, records) = filtered(input, selection);
            let after = clog2::Clog2Source::new(&output).expect("reads");
            assert_eq!(all(&after), expected, "{selection:?}");
            let count =
                |file: &[u8]| Clog2Reader::new(file).expect("reads").records().count() as u64;
            assert_eq!(count(&output), records.kept);
            assert_eq!(count(input), records.kept + records.removed);
            changed += u64::from(records.removed > 0);
        }
    }
    assert!(changed > 5);
}

#[test]
fn what_has_no_partner_is_judged_for_itself() {
    let log = sample(2);
    let input = log.clog2();
    // The send of tag 78 is received nowhere, the MPI_Comm_rank of rank 2 has no end.
    let late = Selection {
        windows: PropertySelection {
            keep: vec![(100.0, 200.0)],
            remove: Vec::new(),
        },
        ..Selection::default()
    };
    let (output, _) = filtered(&input, &late);
    let reader = Clog2Reader::new(&output).expect("reads");
    let events = reader
        .records()
        .map(|record| record.expect("reads"))
        .filter(|record| {
            matches!(
                record.body,
                clog2::Clog2Body::Bare { .. } | clog2::Clog2Body::Msg(_)
            )
        })
        .count();
    assert_eq!(events, 1, "the state that is still open");
}
