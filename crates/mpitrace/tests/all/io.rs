//! `mpitrace io` as users call it.

#[path = "../../../merge/tests/all/io/facts.rs"]
mod io_facts;

use crate::json_fields::{documented, fields};
use analysis::io::IoFinding;
use io_attribution::draw::DrawingBase;
use io_attribution::{AttributionRecord, FileRole, OperationDrawer};
use io_facts::{id, served, two_phase};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;
use test_support::golden;
use trace_formats::slog2;
use trace_model::{Definitions, Drawable, Line, Losses, Source, Stop, Topology, Vertex};

fn mpitrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .arg("io")
        .args(arguments)
        .output()
        .expect("mpitrace")
}

/// Runs the command, which must succeed, and gives its output.
fn shown(arguments: &[&str]) -> String {
    let output = mpitrace(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    assert!(output.stderr.is_empty(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&shown(arguments)).expect("JSON")
}

/// The page has every finding, every field of the findings and the summary, and the name of every table.
#[test]
fn the_json_is_documented() {
    let page = include_str!("../../../../docs/user/io-advice.md");
    let (_folder, path) = trace(&two_phase().facts);
    let all = json(&["--json", path.to_str().unwrap()]);
    let mut found: BTreeSet<String> = all
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    fields(&all["findings"], &mut found);
    fields(&all["summary"], &mut found);
    assert!(
        found.contains("cost_s") && found.contains("common_sizes"),
        "{found:?}"
    );
    found.extend(IoFinding::NAMES.map(str::to_owned));
    documented(page, "io-advice.md", &found);
}

/// Only what fits the run is to be pasted: no launcher options of Open MPI for MPICH, none of Lustre for a local disk.
#[test]
fn lines_to_paste_fit_the_run() {
    let mut story = two_phase();
    story
        .facts
        .insert(1, io_facts::file(1, "/etc/romio-hints", FileRole::Other));
    let (_folder, path) = trace(&story.facts);
    let path = path.to_str().unwrap();
    let all = json(&["--json", path]);
    assert_eq!(all["mpi_io_library"], "ROMIO");
    let text = shown(&[path]);
    assert!(
        text.contains("ROMIO: echo 'romio_ds_write disable' > hints"),
        "{text}"
    );
    assert!(!text.contains("OMPIO"), "{text}");
    story.facts.insert(
        1,
        io_facts::file(2, "/tmp/out.dat.locktest.0", FileRole::Side),
    );
    let (_folder, path) = trace(&story.facts);
    let text = shown(&[path.to_str().unwrap()]);
    assert!(
        text.contains("OMPIO: --mca") && !text.contains("ROMIO"),
        "{text}"
    );
}

/// Drawables that were made of attribution records.
#[derive(Default)]
struct Drawn {
    definitions: Definitions,
    drawables: Vec<(Topology, i32, Vec<u8>, Vec<Vertex>)>,
}

impl Source for Drawn {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        for (topology, category, info, vertices) in &self.drawables {
            put(&Drawable {
                topology: *topology,
                category: *category,
                info,
                vertices,
            })?;
        }
        Ok(Losses::default())
    }
}

/// An SLOG2 file with these attribution records, in a folder of its own.
fn trace(facts: &[AttributionRecord]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.slog2");
    let mut drawn = Drawn::default();
    let mut drawer = OperationDrawer::new(DrawingBase {
        zero_ns: 0,
        ranks: 4,
        threads: 1,
        first_line: 4,
        first_category: 700,
    });
    let mut put = |d: &Drawable<'_>| {
        let parts = (d.topology, d.category, d.info.to_vec(), d.vertices.to_vec());
        drawn.drawables.push(parts);
        Ok(())
    };
    for fact in facts {
        drawer.draw(fact, &mut put).expect("drawn");
    }
    drawer.finish(&mut put).expect("drawn");
    drawn.definitions.categories = drawer.categories();
    let threads = (0..4).map(|rank| Line::of_thread(rank, rank, 0));
    drawn.definitions.lines = threads.chain(drawer.lines()).collect();
    let options = slog2::TreeOptions::default();
    let sink = slog2::Slog2Sink::create(&path, drawn.definitions(), options).expect("starts");
    trace_model::convert(&drawn, Box::new(sink)).expect("converts");
    (folder, path)
}

#[test]
fn a_collective_write_for_people() {
    let (_folder, path) = trace(&two_phase().facts);
    let text = shown(&[path.to_str().unwrap()]);
    for part in [
        "2 data accesses of 2 ranks to 1 file in 850 ns; 4 operations below them",
        "200 B asked to be written by 2 calls, 512 B moved (2.56 for each asked for)",
        "2 different CallIDs in 5 categories; on average 2.50 operations per CallID having any",
        "4 arrows triggers, 2 arrows carries",
        "Read-modify-write in 1 of 2 writing calls: 256 B read and 56 B written",
        "Rank 1 waited 550 ns while operations of rank 0 ran: read 50 ns, write 400 ns, lock 100 ns",
        "850 ns  rank 1 MPI_File_write_all 100 B of /data/out.dat at 50 ns, CallID 0x10000000001",
        "own operations 0 ns, waited for those of others 550 ns, for late ranks 50 ns, rest 250 ns",
        "1 x pwrite, 100 B, 400 ns, the longest 400 ns",
        "its data were moved by rank 0",
        "Not seen: stores into mapped files",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(120), "{widest:?}\n{text}");
}

#[test]
fn selections_and_tables() {
    let (_folder, path) = trace(&two_phase().facts);
    let path = path.to_str().unwrap();
    let csv = shown(&["--csv", "waited-for", path]);
    assert_eq!(
        csv,
        "rank,waited_for,operations,waited_s\n1,0,read,0.00000005\n1,0,write,0.0000004\n1,0,lock,0.0000001\n"
    );
    let csv = shown(&["--csv", "functions", "--rank", "1", path]);
    let row = csv.lines().nth(1).expect("a row");
    assert!(
        row.starts_with("MPI_File_write_all,1,100,100,0,0,0,100,1,0,0,0,1,"),
        "{row}"
    );
    // Rank 0 moves its data.
    let text = shown(&["--rank", "1", path]);
    assert!(text.contains("; 0 operations below them\n"), "{text}");
    assert!(
        text.contains(
            "Operations of other ranks are not counted. Bytes that they moved for this rank are."
        ),
        "{text}"
    );
    for (choice, message) in [
        (
            ["--file", "absent"],
            "--file absent: no file has that in its name; there are",
        ),
        (
            ["--rank", "77"],
            "--rank 77: that rank did nothing with files; ranks that did: 0-1",
        ),
    ] {
        let output = mpitrace(&[&choice[..], &["--csv", "functions", path]].concat());
        assert_eq!(output.status.code(), Some(1), "{choice:?}");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(message), "{printed}");
    }
    for table in [
        "files",
        "ranks",
        "per-call",
        "operations",
        "call-sizes",
        "transfer-sizes",
        "aggregators",
        "waits",
        "slowest",
        "exactness",
    ] {
        let csv = shown(&["--csv", table, path]);
        assert!(csv.lines().count() > 1, "{table}: {csv}");
    }
    let all = json(&["--json", "--top", "1", path]);
    assert_eq!(all["functions"][0]["moved_bytes"], 512);
    assert_eq!(all["callid"]["operations_per_causing_call"], 2.5);
    assert_eq!(all["slowest"].as_array().map(Vec::len), Some(1));
    assert_eq!(all["slowest"][0]["callid"], "0x10000000001");
    assert_eq!(all["waits"][1]["others_s"], 5.5e-7);
    assert_eq!(all["exactness"][0]["exact_bytes"], 200);
    let findings = all["findings"].as_array().expect("a list");
    assert_eq!(findings[0]["finding"], "one_aggregator");
    assert_eq!(findings[0]["cost_s"], 5.5e-7);
    assert_eq!(findings[1]["figures"]["moved"], 512);
}

/// Each run counts CallIDs, files and operations from 0.
#[test]
fn of_merged_runs_the_report_has_the_sums() {
    let (folder, first) = trace(&two_phase().facts);
    let (_other, second) = trace(&served().0.facts);
    let paths = [&first, &second, &second].map(|path| path.to_str().unwrap());
    let both = folder.path().join("both.slog2");
    let both = both.to_str().unwrap();
    let merged = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(["merge", "-q"])
        .args(paths)
        .arg(both)
        .output()
        .expect("mpitrace");
    assert!(merged.status.success(), "{merged:?}");
    let alone = paths.map(|path| json(&["--json", path]));
    let all = json(&["--json", both]);
    let sum = |of: &dyn Fn(&Value) -> u64| alone.iter().map(of).sum::<u64>();
    for field in [
        "exact_bytes",
        "unknown_bytes",
        "page_bytes",
        "transfers",
        "moved_bytes",
        "settled",
    ] {
        let of = |all: &Value| {
            let rows = all["exactness"].as_array().expect("rows").iter();
            rows.map(|row| {
                row[field]
                    .as_u64()
                    .unwrap_or_else(|| panic!("{field}: {row}"))
            })
            .sum::<u64>()
        };
        assert_eq!(of(&all), sum(&of), "{field}");
    }
    for field in ["different", "arrows_triggers", "arrows_carries"] {
        let of = |all: &Value| all["callid"][field].as_u64().expect(field);
        assert_eq!(of(&all), sum(&of), "{field}");
    }
    for table in ["files", "ranks", "devices", "aggregators", "servers"] {
        let of = |all: &Value| all[table].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(of(&all), sum(&of), "{table}");
    }
}

#[test]
fn one_call_down_to_the_disk() {
    let (story, call) = served();
    let (_folder, path) = trace(&story.facts);
    let path = path.to_str().unwrap();
    let id = format!("0x{call:x}");
    let text = shown(&["--call", &id, path]);
    let expected = "\
MPI_File_write_at of rank 3, CallID 0x30000000009: 300 B to /data/out.dat in 1.01 us
|- +0 ns rank 3: pwrite 300 B at 0, 1.00 us
|  |- +90 ns server 0: queued, 10 ns
|  |- +100 ns server 0: request write 200 B at 0, 90 ns
|  |  `- +105 ns server 0: stripe write 200 B at 0, 45 ns
|  |     `- +110 ns data server 0: stripe write 200 B at 0, 30 ns
|  |        `- +120 ns data server 0: pwrite 200 B at 0, 10 ns
|  `- +300 ns server 0: request write 100 B at 200, 90 ns
|     `- +305 ns server 0: stripe write 100 B at 0, 45 ns
|        `- +310 ns data server 1: stripe write 100 B at 0, 30 ns
|           `- +320 ns data server 1: pwrite 100 B at 0, 10 ns
|- +5.00 us device 0: device write 4.00 KiB at 1048576, 1.00 us, carries 300 B (page), triggered by no call
`- +6.00 us device 0: device flush, 100 ns
";
    assert_eq!(text, expected);
    let all = json(&["--json", "--call", &call.to_string(), path]);
    let piece = &all["operations"][0]["operations"][2]["operations"][0];
    assert_eq!(piece["operations"][0]["by"], "data server 1");
    assert_eq!(all["operations"][1]["precision"], "page");

    let text = shown(&[path]);
    for part in [
        "2.00 requests to read or write for each transfer of a rank",
        "balance: the data server with most bytes has 1.33 times the mean",
        "device 0: 1 write of 4.00 KiB by the kernel itself (write-back)",
        "page: the page cache writes whole pages",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn the_call_of_another_rank_is_named() {
    let (_folder, path) = trace(&two_phase().facts);
    let id = format!("0x{:x}", id(1, 1));
    let text = shown(&["--call", &id, path.to_str().unwrap()]);
    let expected = "\
MPI_File_write_all of rank 1, CallID 0x10000000001: 100 B to /data/out.dat in 850 ns
  collective access 0 of the file, with 1 other call: 0x1
`- +250 ns rank 0: pwrite 256 B at 0, 400 ns, carries 100 B, 56 B sieving holes, triggered by 0x1, also of 0x1 (100 B)
";
    assert_eq!(text, expected);
}

#[test]
fn what_cannot_be_reported() {
    let (folder, path) = trace(&two_phase().facts);
    let path = path.to_str().unwrap();
    let unknown = mpitrace(&["--call", "0x77", path]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no call 0x77 caused anything"));
    assert_eq!(mpitrace(&["--call", "seven", path]).status.code(), Some(2));
    assert_eq!(
        mpitrace(&["--json", "--csv", "files", path]).status.code(),
        Some(2)
    );
    let other = folder.path().join("x.clog2");
    let bytes = include_bytes!("../../../trace-formats/tests/data/clog2/small.clog2");
    std::fs::write(&other, bytes).expect("written");
    let refused = mpitrace(&[other.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    // Traces of other formats have accesses and do not tell what became of them.
    let made = golden::files("mpe", "mpiio_n2.slog2");
    let made = made.first().expect("a golden").to_str().unwrap();
    for arguments in [&[made][..], &["--csv", "files", made], &["--json", made]] {
        let lacking = mpitrace(arguments);
        assert_eq!(lacking.status.code(), Some(1));
        let said = String::from_utf8_lossy(&lacking.stderr);
        let sentence = "20 accesses to data in files the trace does not tell which operations carried the data";
        assert!(said.contains(sentence), "{said}");
    }
    // A trace without I/O has an empty report.
    let plain = include_bytes!("../../../trace-formats/tests/data/slog2/sample.slog2");
    let plain_path = folder.path().join("plain.slog2");
    std::fs::write(&plain_path, plain).expect("written");
    let text = shown(&[plain_path.to_str().unwrap()]);
    assert!(
        text.contains("No MPI-IO call and no file operation was found."),
        "{text}"
    );
}
