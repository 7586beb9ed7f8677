//! `mpitrace check`: good files are good, each kind of damage is found, nothing stops it.

use super::recover::{KILLED, exchange, file};
use blockfile::layout;
use serde_json::Value;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use test_support::golden;
use trace_formats::clog2::{
    Clog2Body, Clog2CommEvent, Clog2CommKind, Clog2EventDef, Clog2Msg, Clog2Record,
    Clog2RecordHeader, Clog2StateDef, Clog2Writer, CommTable, FixedText, Gid, Preamble, comm_etype,
    msg_etype,
};
use trace_formats::slog2;

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command
        .arg("check")
        .args(arguments)
        .output()
        .expect("mpitrace")
}

/// A folder with one file in it, which is written anew for each check.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Bench {
            folder: tempfile::tempdir().expect("folder"),
        }
    }

    /// The exit code and the findings.
    fn check(&self, bytes: &[u8]) -> (Option<i32>, Value) {
        let path = self.folder.path().join("file");
        fs::write(&path, bytes).expect("file");
        let output = run(&["--json", &path.display().to_string()]);
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), all[0].clone())
    }

    /// That the file is bad because of this.
    fn is_bad(&self, bytes: &[u8], subject: &str) {
        let (code, found) = self.check(bytes);
        assert_eq!(code, Some(1), "{subject}");
        assert!(has(&found, "error", subject), "no {subject:?} in {found:#}");
    }

    /// That the file is good, with a warning of this.
    fn is_odd(&self, bytes: &[u8], subject: &str) {
        let (code, found) = self.check(bytes);
        assert_eq!(code, Some(0), "{subject}: {found:#}");
        assert!(
            has(&found, "warning", subject),
            "no {subject:?} in {found:#}"
        );
    }
}

fn has(found: &Value, severity: &str, subject: &str) -> bool {
    let findings = found["findings"].as_array().expect("findings");
    findings
        .iter()
        .any(|f| f["severity"] == severity && f["subject"] == subject)
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../trace-formats/tests/data")
        .join(name)
}

#[test]
fn goldens_of_the_original_tools_are_good() {
    let mut files = Vec::new();
    for ending in [
        ".slog2", ".clog2", ".bin", ".meta", ".alog", ".clog", ".slog", ".trace",
    ] {
        let found = golden::files("", ending);
        files.extend(found.iter().map(|path| path.display().to_string()));
    }
    assert!(files.len() > 180, "{}", files.len());
    let mut arguments = vec!["--quiet"];
    arguments.extend(files.iter().map(String::as_str));
    let output = run(&arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert_eq!(text, "");
}

fn patched(file: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut patched = file.to_vec();
    patched[at..at + bytes.len()].copy_from_slice(bytes);
    patched
}

/// A tree of several levels, with the places in it.
struct Tree {
    file: Vec<u8>,
    directory: usize,
    /// Of the nodes in the order of the directory.
    nodes: Vec<usize>,
    categories: usize,
    views: usize,
}

impl Tree {
    fn sample() -> Self {
        let file = fs::read(data("slog2/sample.slog2")).expect("sample");
        let reader = slog2::Slog2Reader::new(&file).expect("sample");
        let header = reader.header();
        let at = |ptr: slog2::FileBlockPtr| ptr.offset as usize;
        let (directory, categories, views) = (
            at(header.tree_dir),
            at(header.categories),
            at(header.line_id_maps),
        );
        let nodes: Vec<usize> = reader
            .directory()
            .iter()
            .map(|entry| at(entry.ptr))
            .collect();
        assert!(nodes.len() > 5 && header.max_depth > 1);
        Tree {
            directory,
            nodes,
            categories,
            views,
            file,
        }
    }

    /// Place of an entry of the directory: depth, xpos, earliest, latest, offset, size.
    fn entry(&self, nth: usize) -> usize {
        self.directory + 4 + 34 * nth
    }

    /// Place of the first state of the last node that has one: kind, category, length of the info, info, number of
    /// vertices, vertices.
    fn state(&self) -> usize {
        let reader = slog2::Slog2Reader::new(&self.file).expect("sample");
        let nodes = reader.directory().iter().rev();
        let mut nodes = nodes.map(|entry| reader.node(entry.ptr).expect("node"));
        let found = nodes
            .find(|node| !node.nestable.is_empty())
            .expect("a state");
        let nestless: usize = found.nestless.iter().map(|d| 1 + d.byte_size()).sum();
        found.stub.ptr.offset as usize + 34 + 4 + nestless + 4
    }

    /// Place of the first vertex of that state.
    fn vertex(&self) -> usize {
        let at = self.state() + 5;
        let info = u16::from_be_bytes([self.file[at], self.file[at + 1]]);
        at + 2 + usize::from(info) + 2
    }
}

#[test]
fn damage_to_a_tree() {
    let bench = Bench::new();
    let tree = Tree::sample();
    let file = &tree.file;
    let (code, found) = bench.check(file);
    assert_eq!(code, Some(0), "{found:#}");
    assert_eq!(found["errors"], 0);

    bench.is_bad(&patched(file, 12, &[0, 1]), "header");
    bench.is_bad(&patched(file, 20, &[0, 0, 0, 40]), "largest part");
    let (first, second) = (
        tree.entry(tree.nodes.len() - 2),
        tree.entry(tree.nodes.len() - 1),
    );
    let mut swapped = patched(file, first, &file[second..second + 34]);
    swapped[second..second + 34].copy_from_slice(&file[first..first + 34]);
    bench.is_bad(&swapped, "order of the directory");
    let moved = patched(file, second + 6, &1e9f64.to_be_bytes());
    bench.is_bad(&moved, "bounds of neighbours");
    bench.is_bad(&moved, "a node's own bounds");
    bench.is_bad(&patched(file, second + 14, &1e9f64.to_be_bytes()), "parent");
    bench.is_bad(&patched(file, second + 22, &[0; 8]), "place of a part");
    let other = &file[first + 22..first + 34];
    bench.is_bad(&patched(file, second + 22, other), "parts overlap");

    let leaf = tree.nodes[tree.nodes.len() - 1];
    bench.is_bad(
        &patched(file, leaf + 18, &[0, 0, 0, 99]),
        "a node's own place",
    );
    let state = tree.state();
    bench.is_bad(
        &patched(file, state + 1, &9999i32.to_be_bytes()),
        "unknown category",
    );
    bench.is_bad(&patched(file, state, &[7]), "cannot be read");
    let vertex = tree.vertex();
    bench.is_bad(&patched(file, vertex, &f64::NAN.to_be_bytes()), "time");
    bench.is_bad(
        &patched(file, vertex, &(-1e9f64).to_be_bytes()),
        "drawable outside its node",
    );
    bench.is_bad(
        &patched(file, vertex + 8, &4242i32.to_be_bytes()),
        "line without a row in a view",
    );
    bench.is_bad(
        &patched(file, vertex + 8, &4242i32.to_be_bytes()),
        "vertices",
    );

    // The first preview in the root: primitive, bounds, count, weights.
    let reader = slog2::Slog2Reader::new(file).expect("sample");
    let root = reader.node(reader.header().tree_root).expect("root");
    let drawables = root.nestless.iter().chain(&root.nestable);
    let drawables: usize = drawables.map(|d| 1 + d.byte_size()).sum();
    let preview = tree.nodes[0] + 34 + 4 + 4 + drawables + 4;
    bench.is_bad(&patched(file, preview + 18, &[0, 0, 0, 99]), "children");
    bench.is_bad(&patched(file, preview + 22, &[0; 8]), "place of a child");
    let shadow = root.shadows[0].nestless.first().expect("a preview");
    let count = preview + 34 + 4 + shadow.primitive.byte_size() + 16;
    assert_eq!(file[count..count + 8], shadow.count.to_be_bytes());
    let wrong = patched(file, count, &(shadow.count + 1).to_be_bytes());
    bench.is_bad(&wrong, "count of a preview");
    bench.is_bad(&wrong, "weights of a preview");

    // The first view: title, columns, number of rows, rows.
    let title = usize::from(u16::from_be_bytes([
        file[tree.views + 4],
        file[tree.views + 5],
    ]));
    let columns = tree.views + 6 + title;
    let view = &reader.line_id_maps()[0];
    let labels: usize = view
        .column_labels
        .iter()
        .map(|label| 2 + label.0.len())
        .sum();
    let row = columns + 4 + labels + 4;
    let line = view.rows().next().expect("a row")[0];
    assert_eq!(file[row..row + 4], line.to_be_bytes());
    bench.is_bad(
        &patched(file, row, &(-5i32).to_be_bytes()),
        "line without a row in a view",
    );

    // The count at the end of the category map belongs to its last category.
    let end = tree.categories + reader.header().categories.size as usize;
    let last = reader.categories().last().expect("a category");
    assert_eq!(file[end - 8..end], last.summary.count.to_be_bytes());
    bench.is_bad(
        &patched(file, end - 8, &12345i64.to_be_bytes()),
        "count of a category",
    );

    bench.is_odd(&[file.as_slice(), b"tail"].concat(), "bytes left over");
}

/// The records of a small log of two ranks, which is good.
fn records() -> Vec<Clog2Record> {
    let mut records = Vec::new();
    let mut push = |time, rank, body| {
        let header = Clog2RecordHeader {
            time,
            icomm: 0,
            rank,
            thread: 0,
        };
        records.push(Clog2Record { header, body });
    };
    for rank in 0..2 {
        let event = Clog2CommEvent {
            etype: comm_etype::WORLD_CREATE,
            icomm: 0,
            rank,
            wrank: rank,
            gid: gid(),
        };
        push(0.0, rank, Clog2Body::Comm(event));
    }
    let msg = |etype, rank| {
        Clog2Body::Msg(Clog2Msg {
            etype,
            icomm: 0,
            rank,
            tag: 3,
            size: 8,
        })
    };
    push(1.0, 0, Clog2Body::Bare { etype: 10 });
    push(1.1, 1, Clog2Body::Bare { etype: 10 });
    push(1.2, 0, msg(msg_etype::SEND, 1));
    push(1.3, 1, msg(msg_etype::RECV, 0));
    push(1.4, 0, Clog2Body::Bare { etype: 11 });
    push(1.5, 1, Clog2Body::Bare { etype: 11 });
    let state = Clog2StateDef {
        state_id: 5,
        start_etype: 10,
        final_etype: 11,
        color: FixedText::new("red"),
        name: FixedText::new("exchange"),
        format: FixedText::new(""),
    };
    push(2.0, 0, Clog2Body::StateDef(state));
    records
}

fn gid() -> Gid {
    Gid::new(1, 0.0, b"here")
}

fn log(records: &[Clog2Record]) -> Vec<u8> {
    let preamble = Preamble {
        max_comm_world_size: 2,
        block_size: 1024,
        ..Preamble::default()
    };
    let mut out = Cursor::new(Vec::new());
    let mut writer = Clog2Writer::new(&mut out, &preamble).expect("writer");
    for record in records {
        writer.write(record).expect("record");
    }
    let mut table = CommTable::default();
    table.push(gid(), Clog2CommKind::Intra);
    writer.finish(&table, &preamble).expect("finished");
    out.into_inner()
}

#[test]
fn damage_to_a_log() {
    let bench = Bench::new();
    let good = records();
    let (code, found) = bench.check(&log(&good));
    assert_eq!(code, Some(0), "{found:#}");
    assert_eq!(
        (&found["errors"], &found["warnings"]),
        (&0.into(), &0.into()),
        "{found:#}"
    );

    let without = |nth: usize| {
        let mut records = good.clone();
        records.remove(nth);
        log(&records)
    };
    bench.is_bad(&without(0), "line without announcement");
    bench.is_bad(&without(2), "end without a start");
    bench.is_odd(&without(4), "message with one end");
    bench.is_bad(&without(6), "start without an end");
    let with = |nth: usize, change: &dyn Fn(&mut Clog2Record)| {
        let mut records = good.clone();
        change(&mut records[nth]);
        log(&records)
    };
    bench.is_bad(
        &with(6, &|r| r.body = Clog2Body::Bare { etype: 9999 }),
        "unknown event",
    );
    bench.is_bad(&with(6, &|r| r.header.icomm = 7), "unknown communicator");
    bench.is_bad(&with(6, &|r| r.header.rank = 2), "rank");
    bench.is_bad(&with(6, &|r| r.header.thread = 1), "thread");
    bench.is_bad(&with(6, &|r| r.header.time = f64::NAN), "time");
    bench.is_odd(&with(6, &|r| r.header.time = 0.5), "order of time");
    let kind = |r: &mut Clog2Record| {
        if let Clog2Body::Msg(msg) = &mut r.body {
            msg.etype = 5;
        }
    };
    bench.is_bad(&with(4, &kind), "kind of message");
    let size = |r: &mut Clog2Record| {
        if let Clog2Body::Msg(msg) = &mut r.body {
            msg.size = 99;
        }
    };
    bench.is_odd(&with(5, &size), "size of a message");
    // Two messages of a channel, of 99 bytes and of what the first one has, whose receives were completed the other way round.
    let mut crossed = good.clone();
    crossed.insert(5, good[4]);
    crossed.insert(6, good[5]);
    size(&mut crossed[5]);
    size(&mut crossed[6]);
    let (code, found) = bench.check(&log(&crossed));
    assert_eq!(
        (code, &found["warnings"]),
        (Some(0), &0.into()),
        "{found:#}"
    );
    size(&mut crossed[7]);
    bench.is_odd(&log(&crossed), "size of a message");
    let twice = |r: &mut Clog2Record| {
        if let Clog2Body::StateDef(def) = &mut r.body {
            def.final_etype = def.start_etype;
        }
    };
    bench.is_bad(&with(8, &twice), "definition of a state");
    let comm = |r: &mut Clog2Record| {
        if let Clog2Body::Comm(event) = &mut r.body {
            event.etype = 77;
        }
    };
    bench.is_bad(&with(1, &comm), "kind of communicator event");
    let solo = Clog2Record {
        header: good[2].header,
        body: Clog2Body::EventDef(Clog2EventDef::default()),
    };
    let mut more = good.clone();
    more.push(solo);
    assert_eq!(bench.check(&log(&more)).0, Some(0));

    let whole = log(&good);
    bench.is_odd(&[whole.as_slice(), b"tail"].concat(), "bytes left over");
    bench.is_bad(&whole[..whole.len() - 1], "cannot be read");
    bench.is_bad(
        &patched(&whole, whole.len() - 8, &[0, 0, 0, 9]),
        "LID of a communicator",
    );
}

#[test]
fn damage_to_calls() {
    let bench = Bench::new();
    let file = fs::read(data("dumpi/every-kind.bin")).expect("sample");
    let (code, found) = bench.check(&file);
    assert_eq!(code, Some(0), "{found:#}");
    let reader = trace_formats::dumpi::read::DumpiReader::open(&file).expect("sample");
    let index = reader.index();
    // Behind the mark of the footer the calls of function 0, MPI_Send.
    let called = index.footer as usize + 8;
    bench.is_bad(
        &patched(&file, called, &[0, 0, 0, 99]),
        "call counts of the footer",
    );
    // Function, mask and thread of the first record, then its wall times: seconds, ns.
    let first = reader.records().next().expect("a call").expect("a call");
    let at = first.offset as usize;
    bench.is_bad(&patched(&file, at, &[9, 9]), "cannot be read");
    bench.is_bad(&file[..file.len() - 9], "cannot be read");
    let in_stream = at
        + 5
        + if first.mask.has(trace_formats::dumpi::types::Mask::CPU) {
            12
        } else {
            0
        };
    if first.mask.has(trace_formats::dumpi::types::Mask::WALL) {
        bench.is_bad(&patched(&file, in_stream + 2, &[0x7F; 4]), "time");
    }
    let folder = tempfile::tempdir().expect("folder");
    let meta = folder.path().join("run.meta");
    fs::write(&meta, "numprocs=2\nfileprefix=run\n").expect("file");
    fs::write(folder.path().join("run-0000.bin"), &file).expect("file");
    let output = run(&[&meta.display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains(".bin file of rank 1 is missing"), "{text}");
    // A rank that was not traced has none, and the metafile says so.
    fs::write(&meta, "numprocs=2\nfileprefix=run\nabsent=1\n").expect("file");
    let output = run(&[&meta.display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("rank 1: not in the trace"), "{text}");
    assert!(!text.contains("rank without a file"), "{text}");
    // Several stretches of such ranks are one warning.
    let absent = "numprocs=9\nfileprefix=run\nabsent=1-5,7-8\n";
    fs::write(folder.path().join("run-0006.bin"), &file).expect("file");
    fs::write(&meta, absent).expect("file");
    let output = run(&[&meta.display().to_string()]);
    let text = String::from_utf8_lossy(&output.stdout);
    let named = "ranks 1 to 5, ranks 7 to 8: not in the trace";
    assert!(text.contains(named), "{text}");
    assert_eq!(text.matches("not in the trace").count(), 1, "{text}");
}

/// A datatype that a program makes and never uses needs no size; one that it sends does.
#[test]
fn a_datatype_that_nothing_uses_needs_no_size() {
    use trace_formats::dumpi::functions::by_name;
    use trace_formats::dumpi::types::{ClockOffsets, ClockSpan, DumpiTrailer, Mask};
    use trace_formats::dumpi::write::{DumpiWriter, LIBDUMPI, RecordHead};
    /// `MPI_Type_contiguous` of 4 `MPI_INT`, then perhaps an `MPI_Send` of what it made.
    fn file(sends: bool) -> Vec<u8> {
        let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("begins");
        let head = |start| RecordHead {
            mask: Mask(Mask::DEFAULT.0 & !Mask::STATUSES),
            thread: 0,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(start, start + 50),
        };
        let made = 28;
        let id = |name| by_name(name).expect("a function").id;
        let mut call = writer.call(id("MPI_Type_contiguous"), &head(0), &[]);
        call.int(4).handle(9).handle(made);
        call.end().expect("a call");
        if sends {
            let mut call = writer.call(id("MPI_Send"), &head(100), &[]);
            call.int(1).handle(made).int(1).int(7).handle(2);
            call.end().expect("a call");
        }
        let trailer = DumpiTrailer {
            type_sizes: vec![4; 12],
            ..DumpiTrailer::default()
        };
        writer.finish(&trailer, LIBDUMPI).expect("written").0
    }
    let bench = Bench::new();
    for sends in [false, true] {
        let (code, found) = bench.check(&file(sends));
        assert_eq!(code, Some(0), "{found:#}");
        assert_eq!(has(&found, "warning", "datatype"), sends, "{found:#}");
    }
}

/// A call that begins in the last second that there is, and ends in the next.
#[test]
fn times_at_the_end_of_the_clock_are_told_as_wrong() {
    use trace_formats::dumpi::functions::by_name;
    use trace_formats::dumpi::types::{ClockOffsets, ClockSpan, ClockTime, DumpiTrailer, Mask};
    use trace_formats::dumpi::write::{DumpiWriter, LIBDUMPI, RecordHead};
    let offsets = ClockOffsets {
        cpu: 0,
        wall: i32::MAX,
    };
    let mut writer = DumpiWriter::new(Vec::new(), offsets).expect("begins");
    let at = |sec| ClockTime { sec, nsec: 0 };
    let head = RecordHead {
        mask: Mask(Mask::DEFAULT.0 & !Mask::STATUSES),
        thread: 0,
        cpu: ClockSpan::default(),
        wall: ClockSpan {
            start: at(i32::MAX),
            stop: at(i32::MIN),
        },
    };
    let barrier = by_name("MPI_Barrier").expect("a function").id;
    let mut call = writer.call(barrier, &head, &[]);
    call.handle(2);
    call.end().expect("a call");
    let written = writer.finish(&DumpiTrailer::default(), LIBDUMPI);
    let (code, found) = Bench::new().check(&written.expect("written").0);
    assert!(code.is_some_and(|code| code <= 1), "{found:#}");
    assert_eq!(found["format"], "DUMPI", "{found:#}");
}

#[test]
fn an_annotation_file_with_and_without_its_log() {
    let folder = tempfile::tempdir().expect("folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let (clog2, slog2) = (name("log.clog2"), name("log.slog2"));
    fs::write(&clog2, log(&records())).expect("file");
    let mut convert = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    let status = convert
        .args(["convert", "--quiet", "--annotation", &clog2, &slog2])
        .status();
    assert!(status.expect("mpitrace").success());
    let check = || {
        let output = run(&["--json", &slog2]);
        let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), all[0].clone())
    };
    let (code, found) = check();
    assert_eq!(
        (code, &found["warnings"]),
        (Some(0), &0.into()),
        "{found:#}"
    );
    fs::write(&clog2, log(&records()[..7])).expect("file");
    assert_eq!(check().0, Some(1), "another log");
    fs::remove_file(&clog2).expect("file");
    let (code, found) = check();
    assert_eq!(code, Some(0), "{found:#}");
    assert!(has(&found, "warning", "companion"), "{found:#}");
}

#[test]
fn every_cut_is_found() {
    let bench = Bench::new();
    for name in [
        "slog2/sample.slog2",
        "dumpi/every-kind.bin",
        "slog1/small.slog",
    ] {
        let whole = fs::read(data(name)).expect("sample");
        for part in 0..60 {
            let length = whole.len() * part / 60;
            let (code, found) = bench.check(&whole[..length]);
            assert_eq!(
                code,
                Some(1),
                "{name} cut to {length} of {} bytes: {found}",
                whole.len()
            );
        }
    }
}

#[test]
fn nothing_stops_it() {
    let bench = Bench::new();
    let names = [
        "clog2/small.clog2",
        "slog2/sample.slog2",
        "dumpi/every-kind.bin",
        "alog/small_from_clog.alog",
        "clog1/early.clog",
        "slog1/small.slog",
        "paje/mixed.trace",
    ];
    for name in names {
        let whole = fs::read(data(name)).expect("sample");
        for step in 0..40usize {
            let mut bytes = whole.clone();
            // Bytes all over the file, and lengths that claim much.
            let at = step * 104_729 % bytes.len();
            let end = (at + 1 + step % 4).min(bytes.len());
            bytes[at..end].fill(if step % 2 == 0 { 0xFF } else { 0x7F });
            let (code, found) = bench.check(&bytes);
            assert!(matches!(code, Some(0 | 1)), "{name} {step}: {code:?}");
            assert_eq!(found["is_good"], code == Some(0), "{name} {step}");
        }
    }
}

#[test]
fn what_it_says() {
    let folder = tempfile::tempdir().expect("folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let (good, odd, bad) = (name("good"), name("odd"), name("bad"));
    fs::write(&good, log(&records())).expect("file");
    fs::write(&odd, [log(&records()).as_slice(), b"x"].concat()).expect("file");
    let mut many = records();
    for _ in 0..5 {
        many.push(many[2]);
    }
    fs::write(&bad, log(&many)).expect("file");
    let text = |arguments: &[&str]| {
        let output = run(arguments);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    assert_eq!(text(&["--quiet", &good, &odd]), (Some(0), String::new()));
    assert_eq!(
        text(&[&good]),
        (
            Some(0),
            format!("{good}: good: CLOG2, 0 errors, 0 warnings\n")
        )
    );
    assert_eq!(text(&["--strict", &odd]).0, Some(1));
    let (code, printed) = text(&["--quiet", "--most", "2", &bad]);
    assert_eq!(code, Some(1));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{printed}");
    let start = format!("{bad}: error: byte ");
    assert!(
        lines[0].starts_with(&start) && lines[0].ends_with("never ends"),
        "{printed}"
    );
    assert_eq!(
        lines[2],
        format!("{bad}: error: and 3 more: start without an end")
    );
    assert_eq!(text(&[&good, &name("nothing")]).0, Some(1));
    assert_eq!(text(&[]).0, Some(2));
}

/// A block file that ends within a block, or in which no thread has written, is bad.
#[test]
fn a_block_file_that_was_cut_off_is_bad() {
    let bench = Bench::new();
    let whole = file(&exchange(0, 1, 4000), &KILLED);
    assert!(
        whole.len() > 2 * layout::BLOCK_SIZE,
        "{} bytes",
        whole.len()
    );
    bench.is_odd(&whole, "end of the run");
    for length in [100, layout::BLOCK_SIZE + 4000, whole.len() - 1] {
        bench.is_bad(&whole[..length], "cannot be read");
    }
    let mut empty = whole.clone();
    empty[layout::BLOCK_SIZE..].fill(0);
    bench.is_bad(&empty, "cannot be read");
}

/// An endless input is refused at once, or read only as far as needed to see that it is no trace.
#[test]
fn devices_and_holes_end_no_command() {
    let folder = tempfile::tempdir().expect("folder");
    let hole = folder.path().join("hole");
    let made = fs::File::create(&hole).and_then(|file| file.set_len(100 << 30));
    made.expect("a sparse file");
    for (name, printed) in [
        (hole.to_str().expect("text"), "of no known format"),
        ("/dev/zero", "a device"),
    ] {
        for command in ["info", "check", "print", "stats", "io"] {
            let mut limited = Command::new("sh");
            limited
                .args(["-c", "ulimit -t 5; exec \"$0\" \"$@\""])
                .args([env!("CARGO_BIN_EXE_mpitrace"), command, name]);
            let output = limited.output().expect("sh");
            let all = [output.stdout, output.stderr].concat();
            let all = String::from_utf8_lossy(&all);
            assert_eq!(output.status.code(), Some(1), "{command} {name}: {all}");
            assert!(all.contains(printed), "{command} {name}: {all}");
        }
    }
}
