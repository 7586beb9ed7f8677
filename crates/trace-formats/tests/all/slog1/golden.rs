//! SLOG-1 against files and texts of the original software.

use crate::legacy::clog1_and;
use crate::slog1::common::*;
use std::io::Cursor;
use test_support::golden;
use trace_formats::slog1::*;

/// Files of the original library and of its clog2slog, with their names; then those that other packages ship, where
/// [`golden::shipped`] has them.
fn golden_files() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = Vec::new();
    for name in ["endtime_reserved", "ring", "starttime_order"] {
        files.push((name, golden::read(format!("legacy/slog1/{name}.slog"))));
    }
    for name in ["fpilog", "sample", "sppm_ic2a"] {
        let file = golden::shipped(&format!("legacy/slog1/{name}.slog"));
        files.extend(file.map(|file| (name, file)));
    }
    files
}

#[test]
fn print_gives_the_text_of_slog_print() {
    for (name, file) in golden_files() {
        let printed_by_original = format!("legacy/slog1/{name}.slog_print.txt");
        let expected = if golden::exists(&printed_by_original) {
            golden::read(&printed_by_original)
        } else {
            golden::shipped(&printed_by_original).expect("shipped with its text")
        };
        let (text, result) = printed(&file, &format!("{name}.slog"));
        result.expect(name);
        assert_same(name, &text, &expected);
    }
}

#[test]
fn what_is_read_can_be_written_with_the_same_bytes() {
    for (name, file) in golden_files() {
        let mut again = Vec::new();
        copy(&Slog1Reader::new(&file).expect(name), &mut again).expect(name);
        assert_same(name, &again, &file);
    }
}

#[test]
fn clog1_is_converted_as_by_clog2slog() {
    let given = Slog1Options {
        frame_size: Some(8 << 10),
        frames_per_directory: Some(12),
    };
    for (name, clog, expected) in clog1_and(|name| format!("slog1/{name}.slog")) {
        let options = if name == "ring" {
            given
        } else {
            Slog1Options::default()
        };
        let reader = trace_formats::clog1::Clog1Reader::new(&clog).expect(name);
        let create = || Ok(Cursor::new(Vec::new()));
        let (file, conversion) = from_clog1(&reader, create, &options).expect(name);
        assert_same(name, &file.into_inner(), &expected);
        let all = Slog1Reader::new(&expected).expect(name);
        assert_eq!(conversion.written.header, *all.header());
        assert!(conversion.cut.is_none());
    }
}

/// The writer, given the tables and the real records of a file in their order, makes the same file. It can where no
/// room was reserved, because of that files do not tell.
#[test]
fn the_writer_makes_the_same_file_of_the_same_records() {
    for (name, file) in golden_files() {
        let reader = Slog1Reader::new(&file).expect(name);
        let header = *reader.header();
        if header.has_reservations || name == "sppm_ic2a" {
            continue;
        }
        let made = rewritten(&reader);
        assert_same(name, &made, &file);
    }
}

fn rewritten(reader: &Slog1Reader<'_>) -> Vec<u8> {
    let header = *reader.header();
    let associations = |key| reader.definition(key).expect("defined").associations;
    let kinds = reader.profile().expect("profile").map(|entry| {
        let display = entry.expect("entry");
        let associations = associations(display.key);
        RecordKind {
            display,
            associations,
        }
    });
    let tables = FileTables {
        preview: reader.preview().expect("preview").to_vec(),
        threads: reader
            .threads()
            .expect("threads")
            .collect::<Result<_, _>>()
            .expect("threads"),
        kinds: kinds.collect(),
    };
    let statistics = reader.statistics().expect("statistics");
    let layout = FileLayout {
        frame_size: header.frame_size,
        frame_reserved: header.frame_reserved,
        frames_per_directory: header.frames_per_directory,
        order: if header.by_start {
            TimeOrder::Start
        } else {
            TimeOrder::End
        },
        bins: statistics.bins,
        spare_entries: 0,
    };
    let mut writer = Slog1Writer::new(Cursor::new(Vec::new()), &tables, &layout).expect("started");
    let other = if header.by_start {
        Sector::Outgoing
    } else {
        Sector::Incoming
    };
    let mut all: Vec<Slog1Record> = Vec::new();
    for frame in reader.frames() {
        let frame = frame.expect("frame");
        let both = frame.records(Sector::Current).chain(frame.records(other));
        all.extend(both.map(|record| record.expect("record")));
    }
    all.sort_by(|a, b| {
        if header.by_start {
            a.start.total_cmp(&b.start)
        } else {
            a.end().total_cmp(&b.end())
        }
    });
    for record in &all {
        writer.write(record).expect("written");
    }
    let (out, written) = writer.finish().expect("finished");
    assert_eq!(written.records, all.len() as u64);
    out.into_inner()
}
