//! Operations in block files: drawn into the trace of their run, nested in their calls, with the arrows that the join found; and the
//! same from traces that were made apart.

use crate::block_files::ranks::*;
use blockfile::define::{Definition, OpenFileDefinition, ServerDefinition, ServerKind};
use blockfile::file::BlockFile;
use blockfile::operation::{self as op, OperationRecord, ServerRequest};
use io_attribution::draw::{Shows, shows};
use io_attribution::{
    Actor, AttributionRecord, Precision, Relation, attribute_files, read_attribution,
};
use merge::local::{Merge, MergeOptions};
use merge::operations::draw_files;
use merge::outputs::{OutputFiles, OutputPlan, SharedOutputs};
use merge::slices::write_local;
use merge::{BlockFilesSource, operations};
use std::io::Cursor;
use std::path::Path;
use trace_formats::slog2;
use trace_model::{Drawable, Source as _, Topology, Vertex};
use transform::{Arrows, MergeInput, MergedTraces, usual_views, write_slog2};

const FILE: u64 = 0x50;

/// An operation inside the call that is recorded next.
fn inside(b: &mut Blocks, kind: u16, times: (u32, u32), operation: &OperationRecord) {
    let (payload, size) = operation.encode();
    b.record(kind, times.0, times.1 - times.0, &payload[..size]);
    b.calls -= 1;
}

/// The path behind a descriptor becomes known, with device and inode.
fn define_file(b: &mut Blocks, fd: i32, (device, inode): (u64, u64)) {
    b.define(&Definition::File(OpenFileDefinition {
        fd,
        flags: 2,
        device,
        inode,
        path: "/data/f".to_owned(),
    }));
    b.calls -= 1;
}

/// Opens the file by MPI from 1000 to 2000, as descriptor 7.
fn open_file(b: &mut Blocks) {
    define_file(b, 7, (1, 2));
    let opened = OperationRecord {
        fd: 7,
        offset: -1,
        result: 7,
        ..OperationRecord::default()
    };
    inside(b, op::OPEN, (1200, 1300), &opened);
    let open = [
        V::H(WORLD),
        V::T(Some("/data/f")),
        V::I(5),
        V::H(0),
        V::H(FILE),
    ];
    call_at(b, 1000, 2000, "MPI_File_open", &open);
}

/// Opens a file, writes 100 bytes at 100 times the rank, and closes it.
fn writer(nth: u32) -> Blocks {
    writer_of(nth, 1)
}

/// As [`writer`], with so many writes, one behind the other.
fn writer_of(nth: u32, writes: u32) -> Blocks {
    let mut b = rank(nth as i32, 2);
    open_file(&mut b);
    let at = i64::from(nth) * 100;
    let write = [V::H(FILE), V::I(at), V::No, V::I(25), V::H(INT), V::S(None)];
    let written = OperationRecord {
        fd: 7,
        offset: at,
        size: 100,
        result: 100,
        ..OperationRecord::default()
    };
    for start in (0..writes).map(|write| 3000 + 2000 * write) {
        inside(&mut b, op::PWRITE, (start + 100, start + 900), &written);
        call_at(&mut b, start, start + 1000, "MPI_File_write_at", &write);
    }
    let end = 3000 + 2000 * writes;
    let closed = OperationRecord {
        fd: 7,
        offset: -1,
        ..OperationRecord::default()
    };
    inside(&mut b, op::CLOSE, (end + 10, end + 20), &closed);
    call_at(&mut b, end, end + 100, "MPI_File_close", &[V::H(FILE)]);
    b
}

/// CallID of the write of a rank.
fn write_id(b: &Blocks) -> u64 {
    (b.rank as u64) << 40 | u64::from(b.calls - 2)
}

/// ROMIO looks for a file before it makes it.
#[test]
fn a_file_that_was_looked_for_before_it_was_made_has_its_device_and_inode() {
    let mut b = rank(0, 1);
    let looked_for = OperationRecord {
        fd: -1,
        offset: -1,
        result: -1,
        ..OperationRecord::default()
    };
    define_file(&mut b, -1, (0, 0));
    inside(&mut b, op::LSTAT, (1100, 1150), &looked_for);
    open_file(&mut b);
    let bytes = [b.bytes()];
    let files = [BlockFile::new(&bytes[0]).expect("blocks")];
    let table = wrappers::table().expect("the table");
    let mut found = Vec::new();
    let mut take = |record: &AttributionRecord| {
        if let AttributionRecord::File(file) = record {
            found.push((file.id, file.device, file.inode));
        }
        Ok(())
    };
    attribute_files(&files, table, &mut take).expect("sound");
    read_attribution(&source(&bytes), &mut take).expect("read");
    let each = [(0, 0, 0), (0, 1, 2)];
    assert_eq!(found, [each, each].concat());
}

/// A write of 4 MiB becomes more requests than are kept while the operation that made them is not known.
#[test]
fn all_requests_of_one_large_write_are_linked() {
    const REQUESTS: u32 = 8192;
    let bytes = i64::from(REQUESTS) * 512;
    let mut b = rank(0, 1);
    open_file(&mut b);
    let written = OperationRecord {
        fd: 7,
        offset: 0,
        size: bytes,
        result: bytes,
        ..OperationRecord::default()
    };
    let end = 4000 + 2 * REQUESTS;
    inside(&mut b, op::PWRITE, (3100, end), &written);
    let count = V::I(bytes / 4);
    let write = [V::H(FILE), V::I(0), V::No, count, V::H(INT), V::S(None)];
    call_at(&mut b, 3000, end + 10, "MPI_File_write_at", &write);
    let call = u64::from(b.calls - 1);
    let mut server = server(&[]);
    for nth in 0..REQUESTS {
        let request = OperationRecord {
            fd: -1,
            offset: i64::from(nth) * 512,
            size: 512,
            result: 512,
            call: Some(call),
            request: Some(ServerRequest {
                unique: u64::from(nth) + 2,
                inode: 2,
                tid: 1000,
                arrived: 3500 + 2 * u64::from(nth),
            }),
            ..OperationRecord::default()
        };
        let start = 3500 + 2 * nth;
        inside(&mut server, op::REQUEST_WRITE, (start, start + 1), &request);
    }
    let bytes = [b.bytes(), server.bytes()];
    let files = bytes.each_ref().map(|b| BlockFile::new(b).expect("blocks"));
    let table = wrappers::table().expect("the table");
    let mut carried = 0;
    let totals = attribute_files(&files, table, &mut |record| {
        if let AttributionRecord::Edge(edge) = record
            && edge.relation == Relation::Carries
            && edge.kind == op::REQUEST_WRITE
        {
            assert_eq!((edge.call, edge.bytes), (call, 512));
            assert_eq!(edge.precision, Precision::Exact);
            carried += 1;
        }
        Ok(())
    })
    .expect("sound");
    assert_eq!(totals.server_agreements, u64::from(REQUESTS));
    assert_eq!((totals.server_unattributed, carried), (0, REQUESTS));
}

/// A server that was asked by both ranks, from within their writes.
fn server(ranks: &[Blocks]) -> Blocks {
    let mut b = Blocks::empty(blockfile::layout::Family::Mpich);
    b.rank = -1;
    b.size = 0;
    b.define_library("node", &[], &[]);
    b.define(&Definition::Server(ServerDefinition {
        role: ServerKind::FrontEnd,
        number: 0,
        name: "/mnt".to_owned(),
    }));
    for (nth, rank) in (0u32..).zip(ranks) {
        let request = OperationRecord {
            fd: -1,
            offset: i64::from(nth) * 100,
            size: 100,
            result: 100,
            call: Some(write_id(rank)),
            request: Some(ServerRequest {
                unique: u64::from(nth) + 2,
                inode: 2,
                tid: 1000 * (nth + 1),
                arrived: 3200,
            }),
            ..OperationRecord::default()
        };
        let (start, stop) = (3200 + 300 * nth, 3400 + 300 * nth);
        inside(&mut b, op::REQUEST_WRITE, (start, stop), &request);
    }
    b
}

fn source<'a>(bytes: &'a [Vec<u8>]) -> BlockFilesSource<'a> {
    let files = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("a block file"));
    let table = wrappers::table().expect("the table");
    BlockFilesSource::new(files.collect(), table, MergeOptions::default()).expect("one run")
}

type Shown = (String, Topology, Vec<Vertex>, Vec<u8>);

/// All drawables: name of the category, corners, info.
fn all(source: &dyn trace_model::Source) -> Vec<Shown> {
    let definitions = source.definitions();
    let mut found = Vec::new();
    source
        .for_each(&mut |drawable: &Drawable<'_>| {
            let category = definitions.category(drawable.category).expect("a category");
            for vertex in drawable.vertices {
                definitions.line(vertex.line).expect("a line");
            }
            found.push((
                category.name.to_str().into_owned(),
                drawable.topology,
                drawable.vertices.to_vec(),
                drawable.info.to_vec(),
            ));
            Ok(())
        })
        .expect("sound");
    found.sort_by_key(|shown| format!("{shown:?}"));
    found
}

fn named<'s>(all: &'s [Shown], name: &str) -> Vec<&'s Shown> {
    all.iter().filter(|shown| shown.0 == name).collect()
}

#[test]
fn operations_are_nested_in_their_calls_and_arrows_lead_to_them() {
    let bytes: Vec<Vec<u8>> = (0..2).map(|nth| writer(nth).bytes()).collect();
    let source = source(&bytes);
    let all = all(&source);
    for (outer, inner) in [
        ("MPI_File_open", "open"),
        ("MPI_File_write_at", "pwrite"),
        ("MPI_File_close", "close"),
    ] {
        let (outer, inner) = (named(&all, outer), named(&all, inner));
        assert_eq!((outer.len(), inner.len()), (2, 2));
        for (outer, inner) in outer.iter().zip(inner) {
            let (outer, inner) = (&outer.2, &inner.2);
            assert!(outer[0].time < inner[0].time && inner[1].time < outer[1].time);
            assert_eq!(outer[0].line, inner[0].line);
        }
    }
    for name in ["open", "pwrite", "close"] {
        assert_eq!(named(&all, &format!("triggers {name}")).len(), 2);
    }
    let carries = named(&all, "carries pwrite");
    assert_eq!(carries.len(), 2);
    let calls = named(&all, "MPI_File_write_at");
    assert_eq!(carries[0].2[0], calls[0].2[0], "from the start of the call");
    let mut edges = 0;
    read_attribution(&source, &mut |fact| {
        if let AttributionRecord::Edge(edge) = fact
            && edge.relation == Relation::Carries
        {
            assert_eq!((edge.bytes, edge.precision), (100, Precision::Exact));
            edges += 1;
        }
        Ok(())
    })
    .expect("read");
    assert_eq!(edges, 2);
}

/// How files are made of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// In order of time, without operations.
    Calls,
    /// In order of time.
    Whole,
    /// By slices of time, with so many threads.
    Slices(u32),
}

/// The CLOG2 and the SLOG2 file that are made of blocks as in MPI_Finalize.
fn outputs(bytes: &[Vec<u8>], folder: &Path, way: Way) -> (Vec<u8>, Vec<u8>) {
    let files: Vec<BlockFile<'_>> = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("blocks"))
        .collect();
    let table = wrappers::table().expect("the table");
    let merge = Merge::new(&files, table, MergeOptions::default()).expect("one run");
    let base = folder.join(format!("{way:?}"));
    let plan = OutputPlan {
        base: base.clone(),
        replace: false,
        clog2: true,
        slog2: true,
        preamble: merge.preamble(),
        children: 2,
        leaf: Some(1024),
        nodes: vec![0, 0],
        hosts: vec!["node".to_owned()],
        program_of: vec![0, 0],
        programs: vec!["program".to_owned()],
        counters: Vec::new(),
        forward: false,
    };
    let drawn = || draw_files(&merge, &files, table, folder).expect("drawn");
    let ended = if let Way::Slices(threads) = way {
        write_local(&merge, SharedOutputs::new(plan), Some(drawn()), threads).0
    } else {
        let mut outputs = OutputFiles::new(plan);
        if way == Way::Whole {
            outputs.draw(drawn());
        }
        outputs.take(&merge);
        outputs.finish(merge.comm_table())
    };
    assert_eq!((ended.files.len(), ended.failures), (2, Vec::new()));
    let read =
        |ending: &str| std::fs::read(merge::outputs::with_ending(&base, ending)).expect("written");
    (read(".clog2"), read(".slog2"))
}

#[test]
fn the_files_of_a_merge_hold_what_the_blocks_show_and_clog2_stays_as_it_was() {
    let ranks: Vec<Blocks> = (0..2).map(writer).collect();
    let mut bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    bytes.push(server(&ranks).bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let (clog2, slog2) = outputs(&bytes, folder.path(), Way::Whole);
    let (without, plain) = outputs(&bytes, folder.path(), Way::Calls);
    assert_eq!(clog2, without);
    let from_blocks = source(&bytes);
    let made = slog2::Slog2Source::new(&slog2).expect("an SLOG2 file");
    assert_eq!(all(&made), all(&from_blocks));
    assert!(
        made.reader()
            .categories()
            .iter()
            .any(|c| shows(c).is_some())
    );
    let plain = slog2::Slog2Source::new(&plain).expect("an SLOG2 file");
    assert!(
        plain
            .reader()
            .categories()
            .iter()
            .all(|c| shows(c).is_none())
    );
    // A tree of several leaves, in which everything is in order.
    assert!(made.reader().directory().len() > 1);
    assert_eq!(
        trace_model::Source::order(&made),
        trace_model::DrawableOrder::Start
    );
    let names: Vec<_> = made
        .definitions()
        .lines
        .iter()
        .filter_map(|l| l.name.clone())
        .collect();
    assert_eq!(names, ["server 0 thread 0"]);
    let server = made.definitions().lines.last().expect("lines");
    assert_eq!((server.rank, server.host.as_deref()), (2, Some("node")));
}

/// A server may have worked for others before.
#[test]
fn what_servers_did_before_the_run_is_not_drawn_and_counted() {
    let ranks: Vec<Blocks> = (0..2).map(writer).collect();
    let mut bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    let mut b = Blocks::empty(blockfile::layout::Family::Mpich);
    (b.rank, b.size) = (-1, 0);
    b.define_library("node", &[], &[]);
    b.define(&Definition::Server(ServerDefinition {
        role: ServerKind::FrontEnd,
        number: 0,
        name: "/mnt".to_owned(),
    }));
    for start in [100, 300, 1500] {
        let request = OperationRecord {
            fd: -1,
            offset: -1,
            ..OperationRecord::default()
        };
        inside(&mut b, op::REQUEST_FLUSH, (start, start + 50), &request);
    }
    bytes.push(b.bytes());
    let source = source(&bytes);
    assert_eq!(named(&all(&source), "request flush (no call)").len(), 1);
    let losses = source.for_each(&mut |_| Ok(())).expect("sound");
    let what = "operation of a server or device before or after the run";
    assert_eq!(losses.count(what), 2);
    let files: Vec<BlockFile<'_>> = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("blocks"))
        .collect();
    let table = wrappers::table().expect("the table");
    let merge = Merge::new(&files, table, MergeOptions::default()).expect("one run");
    let folder = tempfile::tempdir().expect("a folder");
    let drawn = draw_files(&merge, &files, table, folder.path()).expect("drawn");
    assert_eq!(
        drawn.left_out.note(),
        Some(format!("not drawn: 2 x {what}"))
    );
}

#[test]
fn by_slices_operations_and_their_lines_are_the_same_as_in_order_of_time() {
    let ranks: Vec<Blocks> = (0..2).map(|nth| writer_of(nth, 300)).collect();
    let mut bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    // Among what the server does is a request that ends long after the last call.
    let mut server = server(&ranks);
    let late = OperationRecord {
        fd: -1,
        size: 10,
        result: 10,
        ..OperationRecord::default()
    };
    inside(&mut server, op::REQUEST_WRITE, (5_000, 2_000_000), &late);
    bytes.push(server.bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let (_, whole) = outputs(&bytes, folder.path(), Way::Whole);
    let whole = slog2::Slog2Source::new(&whole).expect("an SLOG2 file");
    let mut first: Option<Vec<u8>> = None;
    for threads in [1, 2, 3, 5] {
        let (_, sliced) = outputs(&bytes, folder.path(), Way::Slices(threads));
        let made = slog2::Slog2Source::new(&sliced).expect("an SLOG2 file");
        assert!(made.reader().directory().len() > 20, "a tree");
        assert!(all(&made) == all(&whole), "{threads} threads: others");
        let of = |source: &slog2::Slog2Source<'_>| {
            let reader = source.reader();
            let categories = reader.categories().iter().map(|category| {
                let mut category = category.clone();
                // Shares of the time depend on where leaves begin, counts do not.
                let count = std::mem::take(&mut category.summary).count;
                (category, count)
            });
            (
                categories.collect::<Vec<_>>(),
                reader.line_id_maps().to_vec(),
            )
        };
        assert_eq!(of(&made), of(&whole));
        let bounds = made
            .reader()
            .directory()
            .iter()
            .next()
            .expect("a root")
            .bounds;
        assert!(bounds.latest > 1.998e-3, "{bounds:?}");
        assert_eq!(*first.get_or_insert_with(|| sliced.clone()), sliced);
    }
}

#[test]
fn traces_made_apart_give_the_same_arrows() {
    let ranks: Vec<Blocks> = (0..2).map(writer).collect();
    let of_ranks: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    let of_server = [server(&ranks).bytes()];
    let together: Vec<Vec<u8>> = of_ranks.iter().chain(&of_server).cloned().collect();
    let (ranks, server) = (source(&of_ranks), source(&of_server));
    let slog2_of = |source: &BlockFilesSource<'_>| {
        let views = usual_views(&source.definitions().lines);
        let out = Cursor::new(Vec::new());
        let options = slog2::TreeOptions::default();
        let (out, ..) = write_slog2(source, &views, options, out).expect("written");
        out.into_inner()
    };
    let (ranks, server) = (slog2_of(&ranks), slog2_of(&server));
    let ranks = slog2::Slog2Source::new(&ranks).expect("an SLOG2 file");
    let server = slog2::Slog2Source::new(&server).expect("an SLOG2 file");
    let part = |source, name: &str, shift| MergeInput {
        source,
        views: Vec::new(),
        name: name.to_owned(),
        shift,
    };
    // The server's first request came 2200 ns after the first call.
    let parts = vec![
        part(&ranks as _, "ranks", 0.0),
        part(&server as _, "server", 2200e-9),
    ];
    let merged = MergedTraces::new(parts).expect("two traces");
    let mut operations = Vec::new();
    read_attribution(&merged, &mut |record| {
        if let AttributionRecord::Operation(operation) = record {
            operations.push(operation.id);
        }
        Ok(())
    })
    .expect("read");
    operations.sort_unstable();
    operations.dedup();
    assert_eq!(operations.len(), 8, "each has a number of its own");
    let arrows = Arrows::new(&merged);
    let found = all(&arrows);
    let expected = all(&source(&together));
    let triggers = |all: &[Shown]| -> Vec<(String, Vec<(i64, i32)>)> {
        let arrows = all.iter().filter(|shown| shown.0.starts_with("triggers "));
        let corner = |v: &Vertex| ((v.time * 1e9).round() as i64, v.line);
        let mut ends: Vec<_> = arrows
            .map(|shown| {
                (
                    shown.0.clone(),
                    shown.2.iter().map(corner).collect::<Vec<_>>(),
                )
            })
            .collect();
        ends.sort();
        ends
    };
    let lines = |source: &dyn trace_model::Source| source.definitions().lines.len();
    assert_eq!(lines(&arrows), lines(&source(&together)));
    assert_eq!(named(&found, "triggers request write").len(), 2);
    // Line numbers of servers differ; there is one.
    let by_rank = |mut ends: Vec<(String, Vec<(i64, i32)>)>| {
        for (_, corners) in &mut ends {
            for corner in corners {
                corner.1 = corner.1.min(2);
            }
        }
        ends
    };
    assert_eq!(by_rank(triggers(&found)), by_rank(triggers(&expected)));
    assert_eq!(arrows.statistics().arrows, 8);
}

#[test]
fn a_server_alone_is_drawn_from_its_first_request() {
    let ranks: Vec<Blocks> = (0..2).map(writer).collect();
    let bytes = [server(&ranks).bytes()];
    assert!(operations::is_server(
        &BlockFile::new(&bytes[0]).expect("blocks")
    ));
    let source = source(&bytes);
    let all = all(&source);
    assert_eq!(named(&all, "request write").len(), 2);
    assert_eq!(named(&all, "request write")[0].2[0].time, 0.0);
    let lane = trace_model::lane_of(&source.definitions().lines[0]);
    assert_eq!(lane.actor, Actor::FrontEnd(0));
    let edges = source.definitions().categories.iter();
    assert!(
        edges
            .into_iter()
            .all(|c| !matches!(shows(c), Some(Shows::Edge(_))))
    );
}
