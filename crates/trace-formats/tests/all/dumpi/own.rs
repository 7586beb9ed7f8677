//! Files of our own: what the writer makes, what it refuses, and how older versions read.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use trace_formats::dumpi::functions::{self, DumpiField, FieldCode, FieldShape};
use trace_formats::dumpi::meta::{Meta, MetaError, bin_path_in_folder, meta_path, prefix};
use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::{
    ClockOffsets, ClockSpan, ClockTime, DumpiTrailer, Keyval, Mask, Version,
};
use trace_formats::dumpi::value::{DumpiStatus, FieldValue};
use trace_formats::dumpi::write::{
    ASCII2DUMPI, DumpiWriteError, DumpiWriter, FileWriter, LIBDUMPI, RecordBuilder, RecordHead,
};
use trace_formats::dumpi::{DumpiError, DumpiErrorKind};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/dumpi")
        .join(name)
}

fn text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    let reader = DumpiReader::open(bytes).expect("a sound file");
    print(&reader, Sections::ALL, Zone::Utc, &mut out).expect("a sound file");
    String::from_utf8(out).expect("names of the test are UTF-8")
}

const HEAD: RecordHead = RecordHead {
    mask: Mask::DEFAULT,
    thread: 0,
    cpu: ClockSpan {
        start: ClockTime { sec: 0, nsec: 1 },
        stop: ClockTime { sec: 0, nsec: 2 },
    },
    wall: ClockSpan {
        start: ClockTime { sec: 9, nsec: 3 },
        stop: ClockTime { sec: 9, nsec: 4 },
    },
};

/// The stored files were written by [`write_data`] and their text was read through by eye against the format
/// description.
#[test]
fn every_kind_of_field() {
    let bytes = crate::dumpi::common::every_kind().expect("a vector takes everything");
    let stored = fs::read(data("every-kind.bin")).expect("a file of this repository");
    assert!(bytes == stored, "the writer makes another file than before");
    let expected = fs::read_to_string(data("every-kind.txt")).expect("a file of this repository");
    for (i, (ours, theirs)) in text(&bytes).lines().zip(expected.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}", i + 1);
    }
    assert_eq!(text(&bytes), expected);
}

#[test]
#[ignore = "rewrites the stored files after a wanted change"]
fn write_data() {
    let bytes = crate::dumpi::common::every_kind().expect("a vector takes everything");
    fs::write(data("every-kind.txt"), text(&bytes)).expect("a writable directory");
    fs::write(data("every-kind.bin"), bytes).expect("a writable directory");
}

#[test]
fn records_that_do_not_fit_are_left_out() {
    let mut writer =
        DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector takes everything");
    let before = writer.len();
    let misfit = |result| match result {
        Err(DumpiWriteError::Misfit {
            function,
            written,
            needed,
        }) => (function, written, needed),
        other => panic!("expected a misfit, found {other:?}"),
    };
    // One field too few, one too many, a root-only field off root, a wrong width.
    let mut call = writer.call(82, &HEAD, &[]);
    call.handle(2);
    assert_eq!(misfit(call.end()), ("MPI_Comm_rank", 2, Some(6)));
    let mut call = writer.call(52, &HEAD, &[]);
    call.handle(2).int(0);
    assert_eq!(misfit(call.end()), ("MPI_Barrier", 6, Some(2)));
    let mut call = writer.call(54, &HEAD, &[]);
    call.int(1)
        .int(4)
        .handle(9)
        .int(0)
        .handle(2)
        .int(8)
        .handle(2);
    assert_eq!(misfit(call.end()), ("MPI_Gather", 22, Some(16)));
    let mut call = writer.call(13, &HEAD, &[]);
    call.int(2);
    assert_eq!(misfit(call.end()), ("MPI_Wait", 4, None));
    for id in [128, 290, 293, 999] {
        assert!(
            matches!(writer.call(id, &HEAD, &[]).end(), Err(DumpiWriteError::UnknownFunction(found)) if found == id)
        );
    }
    // Without end() there is no record either.
    writer.call(82, &HEAD, &[]).handle(2).int(0);
    assert_eq!(writer.len(), before);

    writer
        .call(125, &HEAD, &[])
        .end()
        .expect("MPI_Finalize has no arguments");
    let (bytes, _) = writer
        .finish(&DumpiTrailer::default(), LIBDUMPI)
        .expect("a vector takes everything");
    let reader = DumpiReader::open(&bytes).expect("our own file");
    let names: Vec<_> = reader
        .records()
        .map(|r| r.expect("our own file").function.name)
        .collect();
    assert_eq!(names, ["MPI_Finalize"]);
}

#[test]
fn names_longer_than_their_length_field_are_refused() {
    let writer = || {
        DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector takes everything")
    };
    let mut trailer = DumpiTrailer {
        perf_labels: vec![vec![b'x'; 65535]],
        ..DumpiTrailer::default()
    };
    assert!(writer().finish(&trailer, LIBDUMPI).is_ok());
    trailer.perf_labels[0].push(b'x');
    let refused = writer().finish(&trailer, LIBDUMPI);
    assert!(matches!(
        refused,
        Err(DumpiWriteError::TooLong {
            what: "counter label",
            len: 65536
        })
    ));
}

#[test]
fn keyvals_are_indexed_when_there_are_any() {
    let keyvals = vec![Keyval {
        key: b"a".to_vec(),
        value: b"b".to_vec(),
    }];
    let trailer = DumpiTrailer {
        keyvals,
        ..DumpiTrailer::default()
    };
    let writer =
        DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector takes everything");
    let (bytes, _) = writer
        .finish(&trailer, LIBDUMPI)
        .expect("a vector takes everything");
    assert_eq!(
        DumpiReader::open(&bytes).and_then(|r| r.trailer()),
        Ok(trailer)
    );
}

#[test]
fn times_wrap_after_16_bits_of_seconds() {
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets { cpu: 0, wall: 1000 })
        .expect("a vector takes everything");
    let wall = ClockSpan::from_ns(1000 * 1_000_000_000 + 5, 66_537 * 1_000_000_000);
    writer
        .call(125, &RecordHead { wall, ..HEAD }, &[])
        .end()
        .expect("MPI_Finalize has no arguments");
    let (bytes, _) = writer
        .finish(&DumpiTrailer::default(), LIBDUMPI)
        .expect("a vector takes everything");
    let record = DumpiReader::open(&bytes)
        .expect("our own file")
        .records()
        .next()
        .expect("a record")
        .expect("sound");
    assert_eq!(
        record.wall,
        ClockSpan {
            start: ClockTime { sec: 1000, nsec: 5 },
            stop: ClockTime { sec: 1001, nsec: 0 }
        }
    );
    assert_eq!(record.wall.start.ns(), 1_000_000_000_005);
}

#[test]
fn files_appear_when_complete() {
    let dir = std::env::temp_dir().join(format!("dumpi-own-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a writable directory");
    let target = dir.join("run-0000.bin");
    let listing = || fs::read_dir(&dir).expect("our directory").count();

    drop(FileWriter::create(&target, ClockOffsets::default()).expect("a writable directory"));
    assert_eq!(listing(), 0, "an abandoned file is removed");

    let mut file =
        FileWriter::create(&target, ClockOffsets::default()).expect("a writable directory");
    for _ in 0..20_000 {
        let mut call = file.call(82, &HEAD, &[]);
        call.handle(2).int(0);
        call.end().expect("a writable file");
    }
    assert!(!target.exists() && listing() == 1);
    let index = file
        .finish(&DumpiTrailer::default(), LIBDUMPI)
        .expect("a writable file");
    assert_eq!(listing(), 1);
    let bytes = fs::read(&target).expect("the finished file");
    let reader = DumpiReader::open(&bytes).expect("our own file");
    assert_eq!(reader.index(), &index);
    assert_eq!(reader.records().filter(|r| r.is_ok()).count(), 20_000);

    let missing = FileWriter::create(&dir.join("no/such/dir.bin"), ClockOffsets::default());
    assert!(
        missing
            .expect_err("no such directory")
            .to_string()
            .contains("no/such/dir.bin")
    );
    fs::remove_dir_all(&dir).expect("our directory");
}

#[test]
fn files_in_folders_are_found_and_strays_are_not() {
    let folder = std::env::temp_dir().join(format!("dumpi-folders-{}", std::process::id()));
    let prefix = folder.join("run");
    let meta = Meta::parse(b"numprocs=600\nfileprefix=run\nranksperfolder=256\n").expect("sound");
    assert_eq!(Meta::parse(&meta.text()).expect("what was written"), meta);
    let mut expected = Vec::new();
    for rank in [0, 255, 256, 599] {
        let path = bin_path_in_folder(&prefix, rank, 4, 256);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, b"").expect("written");
        expected.push((rank, path));
    }
    assert!(expected[2].1.ends_with("run.1/run-0256.bin"));
    // Of another run, of a rank that there is not, in the folder of other ranks, beside the metafile.
    for stray in [
        "run.0/other-0001.bin",
        "run.2/run-0600.bin",
        "run.1/run-0002.bin",
        "run-0003.bin",
    ] {
        fs::write(folder.join(stray), b"").expect("written");
    }
    let found = meta.rank_files(&meta_path(&prefix));
    let found: Vec<_> = found
        .iter()
        .map(|(rank, path)| (rank, path.to_owned()))
        .collect();
    assert_eq!(found, expected);
    fs::remove_dir_all(&folder).expect("our folder");
    let bad = Meta::parse(b"numprocs=1\nfileprefix=r\nranksperfolder=-1\n");
    assert_eq!(
        bad.map_err(|e| e.to_string()).expect_err("no number"),
        "line 3: ranksperfolder is not a number that is possible here"
    );
}

#[test]
fn metafiles() {
    let text = b"numprocs=3\nfuture=7\nfileprefix=a/b=c\nstartime=12\nversion=13\n";
    let meta = Meta::parse(text).expect("a sound metafile");
    assert_eq!(
        (meta.numprocs, meta.fileprefix.as_slice(), meta.starttime),
        (3, b"a/b=c".as_slice(), 12)
    );
    assert_eq!(meta.version, Version::new(13, 0, 0));
    assert_eq!(
        Meta::parse(b"fileprefix=a\n"),
        Err(MetaError::Missing("numprocs"))
    );
    assert_eq!(
        Meta::parse(b"numprocs=1\n"),
        Err(MetaError::Missing("fileprefix"))
    );
    // Ranks that were not traced have a line of their own, which other readers do not know.
    let text = b"hostname=\nnumprocs=9\nusername=\nstartime=0\nfileprefix=r\nversion=0\nsubversion=0\nsubsubversion=0\n";
    let mut meta = Meta::parse(text).expect("a sound metafile");
    meta.set_present(0..9);
    assert_eq!(meta.text(), text);
    meta.set_present([0, 2, 3]);
    assert_eq!(meta.absent, [(1, 1), (4, 8)]);
    assert!(meta.text().ends_with(b"\nabsent=1,4-8\n"));
    assert_eq!(Meta::parse(&meta.text()).expect("what was written"), meta);
    for absent in ["", "x", "1-", "3-2", "1,,2", "1-4294967296"] {
        let text = format!("numprocs=9\nfileprefix=r\nabsent={absent}\n");
        let bad = MetaError::NotANumber {
            line: 3,
            key: "absent",
        };
        assert_eq!(Meta::parse(text.as_bytes()), Err(bad), "{absent}");
    }
    let bad = MetaError::NotANumber {
        line: 2,
        key: "numprocs",
    };
    assert_eq!(Meta::parse(b"fileprefix=a\nnumprocs=-1\n"), Err(bad));
    assert_eq!(
        prefix(b"dumpi-", 1_795_152_778, Zone::Utc),
        b"dumpi--2026.11.20.05.32.58"
    );
}

#[test]
fn moved_and_partial_runs_are_found() {
    let dir = std::env::temp_dir().join(format!("dumpi-meta-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a writable directory");
    let metafile = dir.join("r.meta");
    let meta = |text: &str| Meta::parse(text.as_bytes()).expect("a sound metafile");
    // The prefix names a directory that is not there any more; rank 1 is missing; ranks have three digits.
    for name in ["r-000.bin", "r-002.bin"] {
        fs::write(dir.join(name), "").expect("a writable directory");
    }
    let expected = [(0, dir.join("r-000.bin")), (2, dir.join("r-002.bin"))];
    let found = |text: &str| meta(text).rank_files(&metafile);
    for text in [
        "numprocs=3\nfileprefix=gone/r\n",
        "numprocs=3\nfileprefix=/gone/r\n",
    ] {
        let files = found(text);
        let there: Vec<_> = files
            .iter()
            .map(|(rank, path)| (rank, path.to_owned()))
            .collect();
        assert_eq!(there, expected);
        assert_eq!(files.missing(), 1);
        assert_eq!(files.gaps().collect::<Vec<_>>(), [(1, 1)]);
    }
    assert!(found("numprocs=3\nfileprefix=q\n").is_empty());
    // Four thousand million ranks are but a number in a file.
    let files = found("numprocs=4294967295\nfileprefix=r\n");
    assert_eq!(files.missing(), u32::MAX - 2);
    let gaps: Vec<_> = files.gaps().collect();
    assert_eq!(gaps, [(1, 1), (3, u32::MAX - 1)]);
    assert!(found("numprocs=4294967295\nfileprefix=q\n").is_empty());
    // Ranks that the metafile says to have no file are not missing; what it says beyond the run counts for nothing.
    let files = found("numprocs=6\nfileprefix=r\nabsent=1,4-4294967295,0\n");
    assert_eq!(files.gaps().collect::<Vec<_>>(), [(3, 3)]);
    assert_eq!(files.missing(), 1);
    assert_eq!(files.absent().collect::<Vec<_>>(), [(0, 0), (1, 1), (4, 5)]);
    // A file that such a rank has all the same is of another run.
    assert_eq!(files.iter().map(|(rank, _)| rank).collect::<Vec<_>>(), [2]);
    // Ranks that the run does not have are none of it, and a width is one of the whole run.
    fs::write(dir.join("r-0001.bin"), "").expect("a writable directory");
    let files = found("numprocs=2\nfileprefix=r\n");
    assert_eq!(files.iter().map(|(rank, _)| rank).collect::<Vec<_>>(), [0]);
    fs::remove_dir_all(&dir).expect("our directory");
}

/// A file of an older version: `stream` as it stands, a header of that version, an index of `words` words.
fn old_file(version: Version, stream: &[u8], words: usize) -> Vec<u8> {
    let mut b = b"\xff\xaa\xddDUMPI".to_vec();
    b.extend_from_slice(&[0; 8]);
    b.extend_from_slice(stream);
    b.extend_from_slice(&293u16.to_be_bytes());
    let header = b.len() as u64;
    b.extend_from_slice(&[version.major, version.minor, version.patch]);
    b.extend_from_slice(&7u64.to_be_bytes());
    b.extend_from_slice(b"\0\x01h\0\x01u\0\0\0\0");
    let labels = b.len() as u64;
    b.extend_from_slice(&[0; 4]);
    let magic = u64::from_be_bytes(*b"\xff\xaa\xddDUMPI");
    let all = [0, labels, labels, header, 8, 0, 0];
    for word in std::iter::once(magic).chain(all[8 - words..].iter().copied()) {
        b.extend_from_slice(&word.to_be_bytes());
    }
    b
}

fn only_record(file: &[u8]) -> String {
    let reader = DumpiReader::open(file).expect("a sound file");
    let mut records = reader.records();
    let record = records.next().expect("a record").expect("sound");
    assert!(records.next().is_none());
    format!(
        "{:?}",
        record.args().map(|(_, arg)| arg).collect::<Vec<_>>()
    )
}

#[test]
fn older_index_records() {
    for (words, labels) in [
        (5, (false, false)),
        (6, (true, false)),
        (7, (true, true)),
        (8, (true, true)),
    ] {
        let file = old_file(Version::new(0, 4, 0), &[0, 125, 0], words);
        let reader = DumpiReader::open(&file).expect("a sound file");
        let has = (
            reader.perf_labels().expect("sound").is_some(),
            reader.address_labels().expect("sound").is_some(),
        );
        assert_eq!(has, labels, "{words} words");
        assert_eq!(reader.version(), Version::new(0, 4, 0));
        assert_eq!(only_record(&file), "[]");
    }
}

#[test]
fn older_streams() {
    let file = |minor, patch, stream: &[u8]| old_file(Version::new(0, minor, patch), stream, 8);
    // MPI_Init with a word of no use behind the count.
    let init = b"\0\x7c\0\0\0\0\x01\0\0\0\x09\0\0\0\x01a";
    assert_eq!(only_record(&file(6, 1, init)), "[Strs([[97]])]");
    assert!(
        DumpiReader::open(&file(6, 2, init))
            .expect("a header")
            .records()
            .any(|r| r.is_err())
    );
    // MPI_Wait with a status without tag.
    let wait = b"\0\x0d\x03\0\0\0\x02\0\0\0\x01\0\0\0\x04\0\0\0\x05\0\x06";
    let status = "DumpiStatus { bytes: 4, source: 5, cancelled: 0, error: 6, tag: 0 }";
    assert_eq!(
        only_record(&file(6, 2, wait)),
        format!("[Int(2), Statuses([{status}])]")
    );
    // MPI_Cart_get with one coordinate.
    let cart =
        b"\0\x69\0\0\0\0\x01\0\x02\0\0\0\x01\0\0\0\x01\0\0\0\x07\0\0\0\x01\0\0\0\x08\0\0\0\x09";
    assert_eq!(
        only_record(&file(6, 7, cart)),
        "[Int(1), Int(2), Int(1), Ints([7]), Ints([8]), Ints([9])]"
    );
    // MPI_Type_struct with one index.
    let of_struct = b"\0\x28\0\0\0\0\x01\0\0\0\x01\0\0\0\x07\0\0\0\x08\0\0\0\x01\0\x09\0\x1c";
    assert_eq!(
        only_record(&file(6, 8, of_struct)),
        "[Int(1), Ints([7]), Ints([8]), Handles([9]), Int(28)]"
    );
}

#[test]
fn a_send_id_behind_finalize_ends_the_stream() {
    let file = old_file(Version::new(1, 0, 0), &[0, 125, 0, 0, 0, 9, 9], 8);
    let records = DumpiReader::open(&file).expect("a sound file").records();
    assert_eq!(
        records
            .map(|r| r.expect("sound").function.id)
            .collect::<Vec<_>>(),
        [functions::FINALIZE]
    );
}

#[test]
fn a_record_cannot_reach_into_the_next_section() {
    let damage = |file: &[u8]| {
        let records = DumpiReader::open(file).expect("a header").records();
        records.filter_map(Result::err).collect::<Vec<_>>()
    };
    // With the end mark taken for its rank, MPI_Comm_rank would still need two bytes of the header.
    let mut file = old_file(Version::new(1, 0, 0), &[0, 82, 0, 0, 2], 8);
    let (function, field) = ("MPI_Comm_rank", "rank");
    let kind = DumpiErrorKind::ShortRecord { function, field };
    assert_eq!(damage(&file), [DumpiError::new(16, kind)]);
    file[16..18].copy_from_slice(&290u16.to_be_bytes());
    let [error] = &damage(&file)[..] else {
        panic!("expected one error")
    };
    assert_eq!(
        error.to_string(),
        "byte 16: expected a function id of 0 to 293, found 290"
    );
}

#[test]
fn ascii2dumpi_layout_has_no_counter_labels() {
    let writer =
        DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector takes everything");
    let trailer = DumpiTrailer {
        type_sizes: vec![1, 2],
        ..DumpiTrailer::default()
    };
    let (bytes, index) = writer
        .finish(&trailer, ASCII2DUMPI)
        .expect("a vector takes everything");
    assert_eq!(index.perf_labels, 0);
    assert_eq!(
        DumpiReader::open(&bytes).and_then(|r| r.perf_labels()),
        Ok(None)
    );
    assert!(text(&bytes).contains("Performance counters: 0\nDatatype 0"));
}

/// A value as the test chose it, to be compared with what the reader gives.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Absent,
    Number(i64),
    Unsigned(u64),
    Bytes(Vec<u8>),
    Numbers(Vec<i32>),
    Rows(Vec<Vec<i32>>),
    Texts(Vec<Vec<u8>>),
    Lists(Vec<Vec<Vec<u8>>>),
    Statuses(Vec<DumpiStatus>),
}

/// Random numbers for one record.
struct Dice<'a>(std::slice::Iter<'a, i32>);

impl Dice<'_> {
    fn roll(&mut self) -> i32 {
        self.0.next().copied().unwrap_or(1)
    }

    fn several<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.roll().rem_euclid(4)).map(|_| one(self)).collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.several(|d| d.roll() as u8)
    }
}

/// Writes a random value for the field and tells which.
fn put(
    call: &mut RecordBuilder<'_, Vec<u8>>,
    field: &DumpiField,
    dice: &mut Dice<'_>,
    statuses: bool,
) -> Value {
    let narrow = |v: i32| match field.code {
        FieldCode::Cmp | FieldCode::Order => i32::from(v as i8),
        code if code.width() == 1 => i32::from(v as u8),
        code if code.width() == 2 => i32::from(v as i16),
        _ => v,
    };
    match (field.shape, field.code) {
        (_, FieldCode::Stat) => {
            let list = dice.several(|d| DumpiStatus {
                bytes: d.roll(),
                source: d.roll(),
                cancelled: d.roll() as i8,
                error: d.roll() as i8,
                tag: d.roll(),
            });
            call.statuses(list.iter().copied());
            Value::Statuses(if statuses { list } else { Vec::new() })
        }
        (FieldShape::One, FieldCode::I64) => {
            let v = i64::from(dice.roll()) << 20;
            call.i64(v);
            Value::Number(v)
        }
        (FieldShape::One, FieldCode::U64) => {
            let v = u64::MAX - u64::from(dice.roll() as u32);
            call.u64(v);
            Value::Unsigned(v)
        }
        (FieldShape::One, FieldCode::Str) => {
            let v = dice.bytes();
            call.string(&v);
            Value::Bytes(v)
        }
        (FieldShape::One, code) => {
            let v = dice.roll();
            match code.width() {
                4 => call.int(v),
                2 => call.handle(v),
                _ => call.code(v),
            };
            Value::Number(narrow(v).into())
        }
        (FieldShape::Array { .. }, code) => {
            let v = dice.several(Dice::roll);
            match code.width() {
                4 => call.ints(v.iter().copied()),
                2 => call.handles(v.iter().copied()),
                _ => call.codes(v.iter().copied()),
            };
            Value::Numbers(v.into_iter().map(narrow).collect())
        }
        (FieldShape::Rows { .. }, _) => {
            let v = dice.several(|d| [d.roll(), d.roll(), d.roll()]);
            call.rows(v.iter().copied());
            Value::Rows(v.into_iter().map(Vec::from).collect())
        }
        (FieldShape::List, _) => {
            let v = dice.several(Dice::bytes);
            call.strings(&v);
            Value::Texts(v)
        }
        (FieldShape::Lists, _) => {
            let v = dice.several(|d| d.several(Dice::bytes));
            call.string_lists(&v);
            Value::Lists(v)
        }
    }
}

fn owned(arg: FieldValue<'_>) -> Value {
    match arg {
        FieldValue::Absent => Value::Absent,
        FieldValue::Int(v) => Value::Number(v.into()),
        FieldValue::I64(v) => Value::Number(v),
        FieldValue::U64(v) => Value::Unsigned(v),
        FieldValue::Str(v) => Value::Bytes(v.to_vec()),
        FieldValue::Ints(v) => Value::Numbers(v.iter().collect()),
        FieldValue::Handles(v) => Value::Numbers(v.iter().map(i32::from).collect()),
        FieldValue::Enums(v) => Value::Numbers(v.iter().map(|v| i32::from(*v)).collect()),
        FieldValue::Rows(v) => Value::Rows(v.iter().map(|row| row.iter().collect()).collect()),
        FieldValue::Strs(v) => Value::Texts(v.iter().map(<[u8]>::to_vec).collect()),
        FieldValue::StrLists(v) => Value::Lists(
            v.iter()
                .map(|l| l.iter().map(<[u8]>::to_vec).collect())
                .collect(),
        ),
        FieldValue::Statuses(v) => Value::Statuses(v.iter().collect()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Every function with random masks, times, counters and arguments comes back as it was written, and so does a
    /// copy of the file.
    #[test]
    fn what_is_written_is_read(
        mask: u8,
        thread: u16,
        times in proptest::collection::vec(0u64..60_000_000_000_000, 4),
        counters in proptest::collection::vec(any::<(i64, i64)>(), 0..4),
        seed in proptest::collection::vec(any::<i32>(), 1..80),
        root: bool,
    ) {
        let mask = Mask(mask);
        let (cpu, wall) = (ClockSpan::from_ns(times[0], times[1]), ClockSpan::from_ns(times[2], times[3]));
        let head = RecordHead { mask, thread, cpu, wall };
        let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector takes everything");
        let mut expected = Vec::new();
        for f in functions::all().iter().filter(|f| f.id != 128 && f.id != 290) {
            let mut call = writer.call(f.id, &head, &counters);
            let mut dice = Dice(seed.iter());
            let mut values = Vec::new();
            let depends = f.fields().iter().any(|field| field.root_only);
            for field in f.fields() {
                if field.root_only && !root {
                    values.push(Value::Absent);
                } else if depends && ["commrank", "oldcommrank", "root"].contains(&field.name) {
                    let v = i32::from(field.name == "root" || root);
                    call.int(v);
                    values.push(Value::Number(v.into()));
                } else {
                    values.push(put(&mut call, field, &mut dice, mask.statuses()));
                }
            }
            call.end().expect("what fits the table");
            expected.push((f.id, values));
        }
        let (bytes, _) = writer.finish(&DumpiTrailer::default(), LIBDUMPI).expect("a vector takes everything");

        let reader = DumpiReader::open(&bytes).expect("our own file");
        let mut copy = DumpiWriter::new(Vec::new(), reader.offsets()).expect("a vector takes everything");
        let mut found = Vec::new();
        for record in reader.records() {
            let record = record.expect("our own file");
            prop_assert_eq!(record.mask, mask);
            prop_assert_eq!(record.thread, if mask.has(Mask::THREAD) { thread } else { 0 });
            prop_assert_eq!(record.cpu, if mask.has(Mask::CPU) { cpu } else { ClockSpan::default() });
            prop_assert_eq!(record.wall, if mask.has(Mask::WALL) { wall } else { ClockSpan::default() });
            let written = if mask.has(Mask::COUNTERS) { counters.as_slice() } else { &[] };
            prop_assert_eq!(record.counters.iter().collect::<Vec<_>>(), written);
            found.push((record.function.id, record.args().map(|(_, arg)| owned(arg)).collect::<Vec<_>>()));
            copy.record(&record).expect("what was read can be written");
        }
        prop_assert_eq!(found, expected);
        let (copy, _) = copy.finish(&DumpiTrailer::default(), LIBDUMPI).expect("a vector takes everything");
        prop_assert!(copy == bytes, "a copy differs");
    }
}
