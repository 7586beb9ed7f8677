//! SLOG-1 against files and texts of the original software; skipped where these are not at hand.

use crate::slog1::common::*;
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;
use trace_formats::slog1::*;

/// The folder of files that the original software made, if it is there.
fn golden() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/legacy");
    if !folder.is_dir() {
        println!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

const NAMES: [&str; 5] = [
    "endtime_reserved",
    "fpilog",
    "ring",
    "sample",
    "starttime_order",
];

/// The files by name.
fn golden_files() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = golden() else {
        return Vec::new();
    };
    let read = |name: &str| {
        let file = fs::read(folder.join(format!("slog1/{name}.slog"))).expect(name);
        (name.to_string(), file)
    };
    NAMES
        .iter()
        .copied()
        .chain(["sppm_ic2a"])
        .map(read)
        .collect()
}

#[test]
fn print_gives_the_text_of_slog_print() {
    let Some(folder) = golden() else { return };
    for (name, file) in golden_files() {
        let expected = fs::read(folder.join(format!("slog1/{name}.slog_print.txt")));
        let (text, result) = printed(&file, &format!("{name}.slog"));
        result.expect(&name);
        match expected {
            Ok(expected) => assert_same(&name, &text, &expected),
            // This one is kept compressed.
            Err(_) => {
                assert_eq!(name, "sppm_ic2a");
                let out = std::process::Command::new("zcat")
                    .arg(folder.join("slog1/sppm_ic2a.slog_print.txt.gz"))
                    .output()
                    .expect("zcat");
                assert_same(&name, &text, &out.stdout);
            }
        }
    }
}

#[test]
fn what_is_read_can_be_written_with_the_same_bytes() {
    for (name, file) in golden_files() {
        let mut again = Vec::new();
        copy(&Reader::new(&file).expect(&name), &mut again).expect(&name);
        assert_same(&name, &again, &file);
    }
}

#[test]
fn clog1_is_converted_as_by_clog2slog() {
    let Some(folder) = golden() else { return };
    let given = Options {
        frame_size: Some(8 << 10),
        frames_per_directory: Some(12),
    };
    for (name, options) in [("fpilog", Options::default()), ("ring", given)] {
        let clog = fs::read(folder.join(format!("clog1/{name}.clog"))).expect(name);
        let expected = fs::read(folder.join(format!("slog1/{name}.slog"))).expect(name);
        let reader = trace_formats::clog1::Reader::new(&clog).expect(name);
        let create = || Ok(Cursor::new(Vec::new()));
        let (file, conversion) = from_clog1(&reader, create, &options).expect(name);
        assert_same(name, &file.into_inner(), &expected);
        let all = Reader::new(&expected).expect(name);
        assert_eq!(conversion.written.header, *all.header());
        assert!(conversion.cut.is_none());
    }
}

/// The writer, given the tables and the real records of a file in their order, makes the same file. It can where no
/// room was reserved, because of that files do not tell.
#[test]
fn the_writer_makes_the_same_file_of_the_same_records() {
    for (name, file) in golden_files() {
        let reader = Reader::new(&file).expect(&name);
        let header = *reader.header();
        if header.has_reservations || name == "sppm_ic2a" {
            continue;
        }
        let made = rewritten(&reader);
        assert_same(&name, &made, &file);
    }
}

fn rewritten(reader: &Reader<'_>) -> Vec<u8> {
    let header = *reader.header();
    let associations = |key| reader.definition(key).expect("defined").associations;
    let kinds = reader.profile().expect("profile").map(|entry| {
        let display = entry.expect("entry");
        let associations = associations(display.key);
        Kind {
            display,
            associations,
        }
    });
    let tables = Tables {
        preview: reader.preview().expect("preview").to_vec(),
        threads: reader
            .threads()
            .expect("threads")
            .collect::<Result<_, _>>()
            .expect("threads"),
        kinds: kinds.collect(),
    };
    let statistics = reader.statistics().expect("statistics");
    let layout = Layout {
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
    let mut writer = Writer::new(Cursor::new(Vec::new()), &tables, &layout).expect("started");
    let other = if header.by_start {
        Sector::Outgoing
    } else {
        Sector::Incoming
    };
    let mut all: Vec<Record> = Vec::new();
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
