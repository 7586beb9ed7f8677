//! CLOG-1: golden files, a small log of our own in `tests/data/clog1`, arbitrary content, damage.
//!
//! After a wanted change run with `REGENERATE=1` and read the difference.

use crate::legacy::*;
use proptest::prelude::*;
use trace_formats::clog1::*;
use trace_formats::clog2::{Endian, FixedText};

const SMALL: Clog1Layout = Clog1Layout {
    block_size: 1024,
    is_padded: true,
    endian: Endian::Big,
};

#[test]
fn files_are_copied_byte_for_byte() {
    for (name, file) in clog1_files() {
        let (copy, result) = copied(&file);
        result.unwrap();
        assert!(copy == file, "{name}");
    }
}

/// Without what has no meaning in the files: the same records make the same blocks.
#[test]
fn files_are_written_as_mpe_divides_them() {
    for (name, file) in clog1_files() {
        let reader = Clog1Reader::new(&file).unwrap();
        let records: Vec<Clog1Record> = reader.records().map(Result::unwrap).collect();
        let again = written(&records, reader.layout());
        let ends = |file: &[u8]| -> Vec<(u64, i32, f64, i32)> {
            let raw = Clog1Reader::with_layout(file, reader.layout()).raw_records();
            raw.map(Result::unwrap)
                .map(|raw| {
                    let header = raw.record.header;
                    let rectype = raw.record.body.rectype();
                    (raw.offset, rectype, header.time, header.rank)
                })
                .collect()
        };
        assert_eq!(ends(&again), ends(&file), "{name}");
        assert_eq!(again.len(), file.len());
    }
}

#[test]
fn goldens_are_printed_as_clog_print_does() {
    for (name, file, expected) in clog1_and(|name| format!("clog1/{name}.clog_print.txt")) {
        let (text, result) = printed(&file);
        result.unwrap();
        assert!(text == expected, "{name}");
    }
}

#[test]
fn the_oldest_layout_is_found_out() {
    let file = std::fs::read(data("clog1/early.clog")).unwrap();
    let reader = Clog1Reader::new(&file).unwrap();
    let expected = Clog1Layout {
        is_padded: false,
        ..SMALL
    };
    assert_eq!(reader.layout(), expected);
    let states: Vec<(String, String)> = reader
        .records()
        .filter_map(|record| match record.unwrap().body {
            Clog1Body::StateDef(def) => Some((
                def.color.to_str().into_owned(),
                def.name.to_str().into_owned(),
            )),
            _ => None,
        })
        .collect();
    assert!(states.contains(&("blue:gray3".into(), "Solve".into())));
}

#[test]
fn stored_files_stay_the_same() {
    let file = written(&small_log(), SMALL);
    assert_stored("clog1/small.clog", &file);
    let (text, result) = printed(&file);
    result.unwrap();
    assert_stored("clog1/small.txt", &text);
    let early = Clog1Layout {
        is_padded: false,
        ..SMALL
    };
    assert_stored("clog1/early.clog", &written(&small_log(), early));
}

#[test]
fn reading_gives_what_was_written_in_every_layout() {
    for endian in [Endian::Big, Endian::Little] {
        for block_size in [1024, 65536] {
            for is_padded in [true, false] {
                if block_size == 65536 && !is_padded {
                    continue;
                }
                let layout = Clog1Layout {
                    block_size,
                    is_padded,
                    endian,
                };
                let file = written(&small_log(), layout);
                let reader = Clog1Reader::new(&file).unwrap();
                assert_eq!(reader.layout(), layout);
                let read: Vec<Clog1Record> = reader.records().map(Result::unwrap).collect();
                assert_eq!(read, small_log());
                assert!(recognises(&file));
            }
        }
    }
}

#[test]
fn an_empty_log_is_one_block_with_endlog() {
    let file = written(&[], Clog1Layout::default());
    assert_eq!(file.len(), 65536);
    let (text, result) = printed(&file);
    result.unwrap();
    assert_eq!(
        text,
        b"ts=1000000.000000 type=elog len=3, pid=0 end of log\n"
    );
}

/// `spec/clog1.md` section 4: ENDBLOCK stands where fewer than 161 bytes are left.
#[test]
fn blocks_end_where_mpe_ends_them() {
    let records: Vec<Clog1Record> = (0..40)
        .map(|nth| raw(f64::from(nth), 0, 11, nth, ""))
        .collect();
    let file = written(&records, SMALL);
    let ends: Vec<(u64, f64)> = Clog1Reader::new(&file)
        .unwrap()
        .raw_records()
        .map(Result::unwrap)
        .filter(|raw| raw.record.body == Clog1Body::EndBlock)
        .map(|raw| (raw.offset, raw.record.header.time))
        .collect();
    // 16 records of 56 bytes: 896 + 160 >= 1024, and 15 of them: 840 + 160 < 1024.
    assert_eq!(ends, [(896, 15.0), (1024 + 896, 31.0)]);
}

#[test]
fn unknown_types_are_passed_over_by_their_length() {
    let other = Clog1Body::Other {
        rectype: 77,
        bytes: (0..40).collect(),
    };
    let records = [
        raw(1.0, 0, 11, 1, ""),
        record(1.5, 0, other),
        raw(2.0, 0, 12, 1, ""),
    ];
    let file = written(&records, Clog1Layout::default());
    let reader = Clog1Reader::with_layout(&file, Clog1Layout::default());
    let read: Vec<Clog1Record> = reader.records().map(Result::unwrap).collect();
    assert_eq!(read, records);
    let mut text = Vec::new();
    print::print(&reader, &mut text).unwrap();
    let line = "ts=1.500000 type=unknown(77) len=8, pid=0 unrecognized record type";
    assert_eq!(String::from_utf8(text).unwrap().lines().nth(1), Some(line));
}

#[test]
fn records_that_fit_no_block_are_refused() {
    let other = Clog1Body::Other {
        rectype: 77,
        bytes: vec![0; 1000],
    };
    let mut writer = Clog1Writer::new(Vec::new(), SMALL);
    let error = writer.write(&record(1.0, 0, other)).unwrap_err();
    assert!(
        matches!(error.kind, Clog1ErrorKind::TooLarge { .. }),
        "{error}"
    );
}

#[test]
fn every_truncation_gives_the_records_before_it_and_an_error() {
    let records = small_log();
    let file = written(&records, SMALL);
    let ends: Vec<usize> = Clog1Reader::new(&file)
        .unwrap()
        .raw_records()
        .map(Result::unwrap)
        .filter(|raw| !raw.record.is_end())
        .map(|raw| raw.offset as usize + raw.record.size())
        .collect();
    for length in 0..file.len() {
        let cut = &file[..length];
        let (_, result) = printed(cut);
        let error = result.unwrap_err();
        assert!(error.offset as usize <= length, "{error}");
        assert_eq!(recognises(cut), length >= HEADER_SIZE, "{length}");
        let reader = Clog1Reader::with_layout(cut, SMALL);
        let read: Vec<Clog1Record> = reader.records().map_while(Result::ok).collect();
        let expected = ends.iter().filter(|&&end| end <= length).count();
        assert_eq!(read, records[..expected], "cut to {length} bytes");
    }
}

#[test]
fn other_files_are_not_recognised() {
    for other in [
        &b""[..],
        &[0; 65536],
        &[0xff; 65536],
        b"CLOG-02.44",
        b"-1 0 0 0 0 0 Me\n-2 0 0 1 0 0\n",
    ] {
        assert!(!recognises(other));
        let error = Clog1Reader::new(other).unwrap_err();
        assert!(matches!(error.kind, Clog1ErrorKind::NotClog1), "{error}");
    }
    for (at, byte) in [(0, 0x7f), (11, 9), (15, 4), (16, 0x80)] {
        let mut file = written(&small_log(), Clog1Layout::default());
        file[at] = byte;
        assert!(!recognises(&file), "byte {at}");
    }
}

#[test]
fn errors_name_place_and_expectation() {
    let mut file = written(&small_log(), SMALL);
    file[72 + 15] = 99;
    let error = printed(&file).1.unwrap_err().in_file("x.clog").to_string();
    assert_eq!(
        error,
        "x.clog: byte 72: not a CLOG-1 file: expected a record header with a type from -2 to 8 and its length"
    );
    let reader = Clog1Reader::with_layout(&file, SMALL);
    let error = reader.records().find_map(Result::err).unwrap().to_string();
    assert_eq!(
        error,
        "byte 84: a record of type 4 says that it is 99 times 8 bytes long, expected 5"
    );
}

fn text<const N: usize>() -> impl Strategy<Value = FixedText<N>> {
    prop::collection::vec(any::<u8>(), N).prop_map(|bytes| {
        let mut field = [0; N];
        field.copy_from_slice(&bytes);
        FixedText::from_bytes(field)
    })
}

fn body() -> impl Strategy<Value = Clog1Body> {
    let ints = any::<[i32; 6]>();
    let pad = any::<[u8; 4]>();
    prop_oneof![
        Just(Clog1Body::Undefined),
        (ints, pad, text::<16>()).prop_map(|(n, pad, text)| Clog1Body::Raw(RawEvent {
            etype: n[0],
            data: n[1],
            srcloc: n[2],
            pad,
            text,
        })),
        ints.prop_map(|n| Clog1Body::Msg(Clog1Msg {
            etype: n[0],
            tag: n[1],
            partner: n[2],
            comm: n[3],
            size: n[4],
            srcloc: n[5],
        })),
        (ints, pad).prop_map(|(n, pad)| Clog1Body::Coll(Coll {
            etype: n[0],
            root: n[1],
            comm: n[2],
            size: n[3],
            srcloc: n[4],
            pad,
        })),
        ints.prop_map(|n| Clog1Body::Comm(Clog1Comm {
            etype: n[0],
            parent: n[1],
            comm: n[2],
            srcloc: n[3],
        })),
        (ints, pad, text::<16>()).prop_map(|(n, pad, name)| Clog1Body::EventDef(Clog1EventDef {
            etype: n[0],
            pad,
            name,
        })),
        (ints, pad, text::<24>(), text::<16>()).prop_map(|(n, pad, color, name)| {
            Clog1Body::StateDef(Clog1StateDef {
                state_id: n[0],
                start_etype: n[1],
                end_etype: n[2],
                pad,
                color,
                name,
            })
        }),
        (ints, text::<40>()).prop_map(|(n, file)| Clog1Body::SrcLoc(SrcLoc {
            srcloc: n[0],
            line: n[1],
            file,
        })),
        any::<f64>()
            .prop_filter("comparable", |shift| !shift.is_nan())
            .prop_map(Clog1Body::Shift),
        (9i32..1000, prop::collection::vec(any::<u64>(), 0..20)).prop_map(|(rectype, words)| {
            Clog1Body::Other {
                rectype,
                bytes: words.iter().flat_map(|word| word.to_be_bytes()).collect(),
            }
        }),
    ]
}

fn any_record() -> impl Strategy<Value = Clog1Record> {
    (-1e6..1e6, any::<i32>(), any::<[u8; 4]>(), body()).prop_map(|(time, rank, pad, body)| {
        Clog1Record {
            header: Clog1RecordHeader { time, rank, pad },
            body,
        }
    })
}

fn read_all(file: &[u8]) {
    let _ = printed(file);
    let _ = copied(file);
    for layout in [SMALL, Clog1Layout::default()] {
        let count = Clog1Reader::with_layout(file, layout).raw_records().count();
        assert!(count <= file.len() / HEADER_SIZE + 1);
    }
}

proptest! {
    #[test]
    fn any_content_is_read_as_it_was_written(
        records in prop::collection::vec(any_record(), 0..60),
        is_small: bool,
        is_padded: bool,
        is_little: bool,
    ) {
        let layout = Clog1Layout {
            block_size: if is_small { 1024 } else { 65536 },
            is_padded,
            endian: if is_little { Endian::Little } else { Endian::Big },
        };
        let file = written(&records, layout);
        prop_assert_eq!(file.len() % layout.block_size, 0);
        let reader = Clog1Reader::with_layout(&file, layout);
        let read: Vec<Clog1Record> = reader.records().map(Result::unwrap).collect();
        prop_assert_eq!(&read, &records);
        let mut writer = Clog1Writer::new(Vec::new(), layout);
        for raw in reader.raw_records() {
            writer.write_raw(&raw.unwrap()).unwrap();
        }
        prop_assert!(writer.finish().unwrap() == file);
    }

    #[test]
    fn flipped_bytes_do_not_panic(
        changes in prop::collection::vec((0usize..2048, any::<u8>()), 1..12),
        length in 0usize..2049,
    ) {
        let mut file = written(&small_log(), SMALL);
        for (at, byte) in changes {
            if let Some(to) = file.get_mut(at) {
                *to = byte;
            }
        }
        read_all(&file);
        read_all(&file[..length.min(file.len())]);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        rectype in -3i32..12,
        length in -1i32..20,
    ) {
        if let Some(to) = bytes.get_mut(8..16) {
            to[..4].copy_from_slice(&rectype.to_be_bytes());
            to[4..].copy_from_slice(&length.to_be_bytes());
        }
        if let Ok(record) = Clog1Record::decode(&bytes, SMALL) {
            let mut again = Vec::new();
            record.encode(SMALL, &mut again);
            prop_assert_eq!(&again[..], &bytes[..record.size()]);
        }
        read_all(&bytes);
    }
}
