//! CLOG2 on a small log of our own with every record type, stored in `tests/data/clog2`.
//!
//! `small.clog2`, `small.txt` and `small.java.txt` are what the log of `crate::clog2::common::small_log` looks like; after a wanted
//! change run this test with `REGENERATE=1` and read the difference.

use crate::clog2::common::*;
use std::fs;
use trace_formats::clog2::*;

#[test]
fn stored_files_stay_the_same() {
    let (preamble, records, table) = small_log();
    let file = written(&preamble, &records, &table);
    let (text, result) = printed(&file);
    result.unwrap();
    let (java, result) = java_printed(&file);
    result.unwrap();
    for (name, made) in [
        ("small.clog2", &file),
        ("small.txt", &text),
        ("small.java.txt", &java),
    ] {
        if std::env::var_os("REGENERATE").is_some() {
            fs::write(data(name), made).unwrap();
        }
        let stored = fs::read(data(name)).unwrap();
        assert!(*made == stored, "{name} differs from what is made now");
    }
}

#[test]
fn reading_gives_what_was_written() {
    let (preamble, records, table) = small_log();
    let file = fs::read(data("small.clog2")).unwrap();
    let reader = Clog2Reader::new(&file).unwrap();
    let read: Vec<Clog2Record> = reader.records().collect::<Result<_, _>>().unwrap();
    assert_eq!(read, records);
    assert_eq!(reader.comm_table().unwrap(), table);
    let expected = Preamble {
        comm_table_offset: reader.preamble().comm_table_offset,
        ..preamble
    };
    assert_eq!(*reader.preamble(), expected);
    assert_eq!(
        expected.comm_table_offset as usize + table.encoded_size(),
        file.len()
    );
    let types: std::collections::BTreeSet<i32> = reader
        .raw_records()
        .map(|found| found.unwrap().1.body.rectype())
        .collect();
    assert_eq!(types.len(), 12, "the log has every record type");
}

/// `spec/clog2.md` section 3: a record goes into the block only if used + size + 24 < block size; the ENDBLOCK has its
/// time.
#[test]
fn blocks_are_closed_where_mpe_closes_them() {
    let bare = |time| Clog2Record {
        header: Clog2RecordHeader {
            time,
            icomm: 3,
            rank: 4,
            thread: 5,
        },
        body: Clog2Body::Bare { etype: 1 },
    };
    // Seven records of 32 bytes and the reserve make 248; at 248 the seventh no longer fits, at 256 it does.
    for (block_size, in_first_block) in [(248, 6), (256, 7)] {
        let preamble = Preamble {
            block_size,
            ..Preamble::default()
        };
        let records: Vec<Clog2Record> = (0..8).map(|number| bare(f64::from(number))).collect();
        let file = written(&preamble, &records, &CommTable::default());
        let reader = Clog2Reader::new(&file).unwrap();
        let raw: Vec<Clog2Record> = reader.raw_records().map(|found| found.unwrap().1).collect();
        let end = raw
            .iter()
            .position(|record| record.body == Clog2Body::EndBlock)
            .unwrap();
        assert_eq!(end, in_first_block);
        let header = Clog2RecordHeader {
            time: in_first_block as f64,
            icomm: 0,
            rank: 0,
            thread: 0,
        };
        assert_eq!(raw[end].header, header);
        let last = raw.last().unwrap();
        assert_eq!(
            (last.body, last.header.time),
            (Clog2Body::EndLog, ENDLOG_TIME)
        );
        assert_eq!(file.len(), PREAMBLE_SIZE + 2 * block_size as usize + 4);
    }
}

#[test]
fn a_record_larger_than_a_block_is_an_error() {
    let preamble = Preamble {
        block_size: 159,
        ..Preamble::default()
    };
    let mut writer = Clog2Writer::new(std::io::Cursor::new(Vec::new()), &preamble).unwrap();
    let header = Clog2RecordHeader::default();
    let error = writer
        .write(&Clog2Record {
            header,
            body: Clog2Body::StateDef(Clog2StateDef::default()),
        })
        .unwrap_err();
    assert!(
        matches!(
            error.kind,
            Clog2ErrorKind::TooLarge {
                size: 136,
                block_size: 159
            }
        ),
        "{error}"
    );
}

/// A local file: little-endian, not finished, without a table, times in the rank's own clock.
#[test]
fn local_file_after_a_crash() {
    let mut file = Preamble {
        endian: Endian::Little,
        is_finalized: false,
        block_size: 256,
        ..Preamble::default()
    }
    .encode()
    .to_vec();
    let le = |time: f64, rectype: i32| {
        let mut bytes = time.to_le_bytes().to_vec();
        for int in [0, 3, 0, rectype] {
            bytes.extend(i32::to_le_bytes(int));
        }
        bytes
    };
    file.extend(le(0.5, rectype::TIMESHIFT));
    file.extend(2.0f64.to_le_bytes());
    file.extend(le(1.0, rectype::BAREEVT));
    file.extend([42, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef]);
    file.extend(le(1.5, rectype::ENDBLOCK));
    file.resize(PREAMBLE_SIZE + 256, 0xcc);

    let (text, result) = printed(&file);
    let text = String::from_utf8(text).unwrap();
    let records: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("ts="))
        .collect();
    assert_eq!(
        records,
        [
            "ts=2.500000 icomm=0 rank=3 thd=0 type=shft shift=-2.000000",
            "ts=3.000000 icomm=0 rank=3 thd=0 type=bare et=42"
        ]
    );
    let error = result.unwrap_err();
    assert!(matches!(error.kind, Clog2ErrorKind::NoEndLog), "{error}");
    assert_eq!(error.offset, 1280);
    let error = Clog2Reader::new(&file).unwrap().comm_table().unwrap_err();
    assert!(matches!(error.kind, Clog2ErrorKind::NoCommTable), "{error}");
}

#[test]
fn create_replaces_the_file_only_when_it_is_complete() {
    let folder = std::env::temp_dir().join(format!("clog2-own-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("log.clog2");
    fs::write(&path, "older").unwrap();
    let (preamble, records, table) = small_log();

    drop(Clog2Writer::create(&path, &preamble).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"older");
    assert_eq!(
        fs::read_dir(&folder).unwrap().count(),
        1,
        "the unfinished file is removed"
    );

    let mut writer = Clog2Writer::create(&path, &preamble).unwrap();
    for record in &records {
        writer.write(record).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), b"older");
    writer.finish(&table, &preamble).unwrap();
    assert_eq!(
        fs::read(&path).unwrap(),
        written(&preamble, &records, &table)
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    let error = Clog2Writer::create(folder.join("missing/log.clog2"), &preamble).unwrap_err();
    assert!(error.to_string().contains("missing/log.clog2"), "{error}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn errors_name_the_place() {
    let (preamble, records, table) = small_log();
    let good = written(&preamble, &records, &table);
    let message = |file: &[u8]| {
        let error = printed(file).1.unwrap_err();
        error.in_file("x.clog2").to_string()
    };

    let mut file = good.clone();
    file[..10].copy_from_slice(b"CLOG-02.43");
    assert_eq!(
        message(&file),
        "x.clog2: byte 0: not a CLOG2 file: version \"CLOG-02.43\", expected \"CLOG-02.44\""
    );

    let mut file = good.clone();
    file[PREAMBLE_SIZE + 20..PREAMBLE_SIZE + 24].copy_from_slice(&[0, 0, 0, 12]);
    assert_eq!(
        message(&file),
        "x.clog2: byte 1044: record type 12, expected 0 to 11"
    );

    let mut file = good.clone();
    let at = file
        .windows(4)
        .position(|bytes| bytes == b"\x00512")
        .unwrap()
        + 1;
    file[at..at + 3].copy_from_slice(b"5x2");
    assert_eq!(
        message(&file),
        format!(
            "x.clog2: byte {at}: preamble field block_size=: expected 24 to 1073741824, found \"5x2\""
        )
    );

    assert_eq!(
        message(&good[..PREAMBLE_SIZE + 100]),
        "x.clog2: byte 1056: the file ends in a record: 72 bytes expected, 68 left"
    );
}

#[test]
fn java_cuts_blanks_at_both_ends_of_texts() {
    let (preamble, mut records, table) = small_log();
    let def = records
        .iter_mut()
        .find_map(|record| match &mut record.body {
            Clog2Body::StateDef(def) => Some(def),
            _ => None,
        });
    let def = def.unwrap();
    def.name = FixedText::new(" \t two words ");
    def.format = FixedText::new(" x=%d end ");
    let file = written(&preamble, &records, &table);
    let text = String::from_utf8(java_printed(&file).0).unwrap();
    assert!(text.contains("name=two words, format=x=%d end ]"), "{text}");
}
