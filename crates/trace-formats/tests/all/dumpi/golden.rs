//! Files and texts of the reference library and its tools: our text of each file is theirs, and each file read and
//! written again is the same file.

use std::path::{Path, PathBuf};

use test_support::golden;
use trace_formats::dumpi::meta::{Meta, bin_path};
use trace_formats::dumpi::print::{Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::types::DumpiTrailer;
use trace_formats::dumpi::write::{ASCII2DUMPI, DUMPI2DUMPI, DumpiWriter, FileSection, LIBDUMPI};

fn text(bytes: &[u8], sections: Sections) -> Vec<u8> {
    let reader = DumpiReader::open(bytes).expect("a sound file");
    let mut out = Vec::new();
    print(&reader, sections, Zone::Utc, &mut out).expect("a sound file");
    out
}

/// Fails with the first line that differs.
fn assert_same_text(path: &Path, ours: &[u8], theirs: &[u8]) {
    if ours == theirs {
        return;
    }
    for (i, (a, b)) in ours
        .split(|c| *c == b'\n')
        .zip(theirs.split(|c| *c == b'\n'))
        .enumerate()
    {
        assert_eq!(
            String::from_utf8_lossy(a),
            String::from_utf8_lossy(b),
            "line {} of {}",
            i + 1,
            path.display()
        );
    }
    panic!(
        "{}: {} bytes instead of {}",
        path.display(),
        ours.len(),
        theirs.len()
    );
}

#[test]
fn texts_are_those_of_dumpi2ascii() {
    let mut compared = 0;
    for path in golden::files("dumpi", ".bin") {
        let bytes = golden::read(&path);
        let theirs = golden::read(path.with_extension("txt"));
        assert_same_text(&path, &text(&bytes, Sections::ALL), &theirs);
        compared += 1;
    }
    assert!(compared > 80, "only {compared} files");
}

#[test]
fn each_option_prints_its_part() {
    let bytes = golden::read("dumpi/synthetic/allfuncs-perf-mesh.bin");
    let none = Sections::default();
    let parts = [
        Sections {
            header: true,
            ..none
        },
        Sections::STREAM,
        Sections {
            keyvals: true,
            ..none
        },
        Sections {
            footer: true,
            ..none
        },
        Sections {
            perf_labels: true,
            ..none
        },
        Sections {
            address_labels: true,
            ..none
        },
        Sections {
            type_sizes: true,
            ..none
        },
    ];
    let begins = [
        "version=",
        "MPI_Init entering",
        "Total keyvals",
        "MPI_Send called",
        "Performance",
        "Function address",
        "Datatype 0",
    ];
    let mut whole = Vec::new();
    for (part, begin) in parts.into_iter().zip(begins) {
        let part = text(&bytes, part);
        assert!(
            part.starts_with(begin.as_bytes()),
            "expected {begin}: {}",
            String::from_utf8_lossy(&part[..40])
        );
        whole.extend(part);
    }
    assert!(
        whole == text(&bytes, Sections::ALL),
        "the parts make up the whole"
    );
}

fn rewritten(reader: &DumpiReader<'_>, trailer: &DumpiTrailer, layout: &[FileSection]) -> Vec<u8> {
    let mut writer =
        DumpiWriter::new(Vec::new(), reader.offsets()).expect("a vector takes everything");
    for record in reader.records() {
        writer
            .record(&record.expect("a sound file"))
            .expect("what was read can be written");
    }
    let (bytes, index) = writer
        .finish(trailer, layout)
        .expect("what was read can be written");
    assert_eq!(
        &index,
        DumpiReader::open(&bytes).expect("our own file").index()
    );
    bytes
}

#[test]
fn files_written_again_are_the_same() {
    for path in golden::files("dumpi", ".bin") {
        let bytes = golden::read(&path);
        let reader = DumpiReader::open(&bytes).expect("a sound file");
        let layout = match path
            .parent()
            .and_then(Path::file_name)
            .and_then(|n| n.to_str())
        {
            Some("d2d") => DUMPI2DUMPI,
            Some("a2d") => ASCII2DUMPI,
            _ => LIBDUMPI,
        };
        let ours = rewritten(&reader, &reader.trailer().expect("a sound file"), layout);
        assert!(
            ours == bytes,
            "{}: {} bytes instead of {}",
            path.display(),
            ours.len(),
            bytes.len()
        );
    }
}

#[test]
fn files_without_an_index_are_salvaged_whole() {
    for path in golden::files("dumpi/synthetic", ".bin") {
        let bytes = golden::read(&path);
        let sound = DumpiReader::open(&bytes).expect("a sound file");
        let salvaged = DumpiReader::salvage(&bytes[..bytes.len() - 64]).expect("a sound beginning");
        assert!(!salvaged.is_complete());
        assert_eq!(salvaged.trailer(), sound.trailer(), "{}", path.display());
        let offsets = |r: &DumpiReader<'_>| {
            r.records()
                .map(|r| r.expect("a sound file").offset)
                .collect::<Vec<_>>()
        };
        assert_eq!(offsets(&salvaged), offsets(&sound));
    }
}

#[test]
fn metafiles_are_the_same_and_name_the_files() {
    let mut checked = 0;
    for path in golden::files("dumpi", ".meta") {
        let text = golden::read(&path);
        let meta = Meta::parse(&text).expect("a sound metafile");
        assert_eq!(
            String::from_utf8_lossy(&meta.text()),
            String::from_utf8_lossy(&text),
            "{}",
            path.display()
        );
        let expected: Vec<_> = (0..meta.numprocs)
            .map(|rank| bin_path(&path.with_extension(""), rank, 4))
            .collect();
        let found = meta.rank_files(&path);
        let found: Vec<_> = found.iter().map(|(_, file)| file.to_owned()).collect();
        let names = |files: &[PathBuf]| -> Vec<_> {
            files
                .iter()
                .map(|f| f.file_name().map(|n| n.to_owned()))
                .collect()
        };
        assert_eq!(names(&found), names(&expected), "{}", path.display());
        checked += 1;
    }
    assert!(checked > 20, "only {checked} metafiles");
}
