//! Messages of more than 2 GiB: DUMPI files tell their sizes by count and datatype, and so does every format that has room for them.

use crate::dumpi_run::write_meta;
use crate::exported::{stderr, succeeds};
use std::fs;
use std::path::Path;
use std::process::Command;
use trace_formats::dumpi::functions::by_name;
use trace_formats::dumpi::meta::bin_path;
use trace_formats::dumpi::types::{ClockOffsets, ClockSpan, DumpiTrailer, Mask};
use trace_formats::dumpi::write::{FileWriter, LIBDUMPI, RecordHead};

/// Number and size of the elements.
const ELEMENTS: [i32; 2] = [3000, 1 << 20];
const BYTES: &str = "3145728000";

/// Writes a run in which rank 0 sends a message of [`BYTES`] and then one of a single element.
fn run(root: &Path) {
    for (rank, name) in ["MPI_Send", "MPI_Recv"].into_iter().enumerate() {
        let path = bin_path(root, rank as u32, 4);
        let mut writer = FileWriter::create(&path, ClockOffsets::default()).expect("begins");
        for (nth, count) in [ELEMENTS[0], 1].into_iter().enumerate() {
            let start = (1000 * nth + 100 * rank) as u64;
            let head = RecordHead {
                mask: Mask(Mask::DEFAULT.0 & !Mask::STATUSES),
                thread: 0,
                cpu: ClockSpan::default(),
                wall: ClockSpan::from_ns(start, start + 50),
            };
            let mut call = writer.call(by_name(name).expect("a function").id, &head, &[]);
            call.int(count).handle(2).int(1 - rank as i32);
            call.int(7).handle(2);
            call.end().expect("a call");
        }
        let trailer = DumpiTrailer {
            type_sizes: vec![0, 0, ELEMENTS[1]],
            ..DumpiTrailer::default()
        };
        writer.finish(&trailer, LIBDUMPI).expect("written");
    }
    write_meta(root, 2);
}

#[test]
fn sizes_above_2_gib_are_told_where_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    run(&at.join("run"));
    let small = (1 << 20).to_string();
    let has_both = |text: &str| text.contains(BYTES) && text.contains(&small);
    for name in ["run.slog2", "run.json", "run.trace"] {
        succeeds(at, &["convert", "-q", "run.meta", name]);
    }
    let printed = succeeds(at, &["print", "run.slog2"]).stdout;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let arrows = printed.lines().filter(|line| line.contains("msg_size"));
    assert!(has_both(&arrows.collect::<Vec<_>>().join(" ")), "{printed}");
    for trace in ["run.meta", "run.slog2"] {
        let report = succeeds(at, &["report", "--json", trace]).stdout;
        let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
        let sum = u64::from(ELEMENTS[1].unsigned_abs()) * 3001;
        assert_eq!(report["message_bytes"], sum, "{trace}");
    }
    let json = fs::read_to_string(at.join("run.json")).expect("a text");
    assert!(has_both(&json), "{json}");
    // CLOG2 has 32 bits for a size.
    let output = succeeds(at, &["convert", "run.meta", "run.clog2"]);
    let said = stderr(&output);
    assert!(said.contains("1 x size of a message above 2 GiB"), "{said}");

    let report = succeeds(at, &["report", "--json", "run.clog2"]).stdout;
    let report = String::from_utf8_lossy(&report).into_owned();
    let note = "1 message of 2147483647 bytes, the most that a trace with 32 bits for sizes tells";
    assert!(report.contains(note), "{report}");

    let archive = ["convert", "-q", "run.slog2", "run.otf2"];
    let made = crate::exported::mpitrace(at, &archive);
    let mut print = Command::new("otf2-print");
    let Some(printed) = print.arg(at.join("run.otf2/traces.otf2")).output().ok() else {
        return test_support::skip("otf2-print is not installed");
    };
    if stderr(&made).contains("OTF2 library 3.0") {
        return test_support::skip("the OTF2 library is not installed");
    }
    assert!(has_both(&String::from_utf8_lossy(&printed.stdout)));
    // An archive is read with the sizes that it has.
    succeeds(at, &["convert", "-q", "run.otf2", "again.slog2"]);
    let printed = succeeds(at, &["print", "again.slog2"]).stdout;
    assert!(has_both(&String::from_utf8_lossy(&printed)));
}
