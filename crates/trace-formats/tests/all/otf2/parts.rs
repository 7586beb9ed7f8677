//! Archives that are put together of parts hold what those have that one process writes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use trace_formats::otf2::{Otf2PartSink, join_parts};
use trace_model::{Definitions, PartNumber, Sink};

use super::printed::{PrintedArchive, PrintedEvent};
use super::sample::without_references;
use crate::perfetto::OwnedDrawable;

/// Events by location, as they follow each other there. References, which are numbers, are left out: their names are printed beside them.
fn events(archive: &PrintedArchive) -> BTreeMap<u64, Vec<PrintedEvent>> {
    let mut found: BTreeMap<u64, Vec<PrintedEvent>> = BTreeMap::new();
    for event in &archive.events {
        // Numbers of metrics and of request attributes have no name.
        found.entry(event.location).or_default().push(PrintedEvent {
            text: without_references(&event.text),
            attributes: without_references(&event.attributes),
            ..event.clone()
        });
    }
    found
}

/// Definitions without their references, in no order. Without `has_order` ranks may name a file for the first time in the same nanosecond, so that nothing tells
/// which handle was there first and is the parent of the other one.
fn definitions_of(archive: &PrintedArchive, has_order: bool) -> Vec<String> {
    let bare = |line: &String| {
        let mut line = without_references(line);
        if !has_order && line.starts_with("IO_HANDLE") {
            line.truncate(line.find(", Parent: ").unwrap_or(line.len()));
        }
        let mut words: Vec<&str> = line.split_whitespace().collect();
        // The second word is the reference itself.
        if words.len() > 1 && words[1].chars().all(|c| c.is_ascii_digit()) {
            words.remove(1);
        }
        words.join(" ")
    };
    let mut lines: Vec<String> = archive.definitions.iter().map(bare).collect();
    lines.sort();
    lines
}

/// Number of the trace.
const TRACE: u64 = 7;

fn write_part(parts: &Path, part: &str, definitions: &Definitions, drawables: &[OwnedDrawable]) {
    let part: PartNumber = part.parse().expect("a part");
    let mut sink = Otf2PartSink::create(parts, part, definitions, TRACE).expect("begun");
    for drawable in drawables {
        sink.put(&drawable.borrowed()).expect("written");
    }
    Box::new(sink).finish().expect("completed");
}

/// Writes the archive of some drawables in two parts, which must have the events and the definitions of this one. `has_order` is as in [`definitions_of`].
pub fn same_in_parts(
    definitions: &Definitions,
    drawables: &[OwnedDrawable],
    archive: &PrintedArchive,
    has_order: bool,
) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (parts, path) = (folder.path().join("parts"), folder.path().join("run.otf2"));
    fs::create_dir(&parts).expect("own folder");
    // The second one first: they are written in any order.
    write_part(&parts, "2/2", definitions, drawables);
    assert!(
        join_parts(&path, definitions, TRACE, &parts).is_err(),
        "one of two"
    );
    write_part(&parts, "1/2", definitions, drawables);
    assert!(!path.exists());
    join_parts(&path, definitions, TRACE, &parts).expect("joined");
    let joined = PrintedArchive::of(&path).expect("otf2-print was there before");
    assert_eq!(events(&joined), events(archive));
    let of = |archive| definitions_of(archive, has_order);
    assert_eq!(of(&joined), of(archive));
}

/// What is no part is told with its file, and nothing gets the name of the archive.
#[test]
fn damaged_parts_are_no_archive() {
    let (definitions, drawables) = super::sample::sample();
    let Some((folder, _)) = super::written(&definitions, &drawables) else {
        return;
    };
    let (parts, path) = (
        folder.path().join("parts"),
        folder.path().join("joined.otf2"),
    );
    fs::create_dir(&parts).expect("own folder");
    for part in ["1/2", "2/2"] {
        write_part(&parts, part, &definitions, &drawables);
    }
    let references = parts.join("part-2-of-2/references");
    let bytes = fs::read(&references).expect("of the part");
    let refused = || {
        let error = join_parts(&path, &definitions, TRACE, &parts).expect_err("damaged");
        assert!(!path.exists());
        error.to_string()
    };
    fs::write(&references, &bytes[..bytes.len() - 1]).expect("own file");
    let told = refused();
    assert!(told.contains("part-2-of-2/references: "), "{told}");
    // A part twice.
    fs::copy(parts.join("part-1-of-2/references"), &references).expect("own file");
    let told = refused();
    assert!(told.contains("not all the parts of this archive"), "{told}");
    // A part of other counts.
    fs::write(&references, &bytes).expect("own file");
    write_part(&parts, "1/3", &definitions, &drawables);
    refused();
    fs::remove_dir_all(parts.join("part-1-of-3")).expect("own folder");
    let error = join_parts(&path, &definitions, TRACE + 1, &parts).expect_err("of another trace");
    let told = error.to_string();
    assert!(
        told.contains("part-1-of-2/references: this part was made of another trace"),
        "{told}"
    );
    fs::write(parts.join("other"), "").expect("own folder");
    join_parts(&path, &definitions, TRACE, &parts).expect("whole again");
    let left: Vec<_> = fs::read_dir(&parts).expect("it stays").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
