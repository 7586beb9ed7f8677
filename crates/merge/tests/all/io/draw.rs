//! Attribution records drawn into SLOG2 files and read from them again.

use blockfile::operation::{self as op, KINDS, ServerRequest};
use io_attribution::draw::{CATEGORIES, DrawingBase};
use io_attribution::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, Lane,
    OpenedFile, OperationDrawer, PicturePoint, Precision, Relation, read_attribution,
    read_attribution_by_time,
};
use proptest::prelude::*;
use std::io::Cursor;
use trace_formats::slog2::{self, TreeOptions};
use trace_model::{Definitions, Drawable, Line, Losses, Source, Stop, Topology, Vertex};
use transform::write_slog2;

/// Time zero of what is drawn; the attribution records read back count from it.
const ZERO: i64 = 5_000_000_000_000;

fn base() -> DrawingBase {
    DrawingBase {
        zero_ns: ZERO,
        ranks: 2,
        threads: 2,
        first_line: 4,
        first_category: 700,
    }
}

/// Drawables that were made of attribution records.
#[derive(Default)]
struct Drawn {
    definitions: Definitions,
    drawables: Vec<(Topology, i32, Vec<u8>, Vec<Vertex>)>,
}

impl Drawn {
    fn of(facts: &[AttributionRecord]) -> Drawn {
        let mut drawn = Drawn::default();
        let mut drawer = OperationDrawer::new(base());
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
        let threads = (0..4).map(|id| Line::of_thread(id, id / 2, id % 2));
        drawn.definitions.lines = threads.chain(drawer.lines()).collect();
        drawn
    }
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

/// The attribution records in an SLOG2 file made of these, in a settled order.
fn through_slog2(facts: &[AttributionRecord]) -> Vec<AttributionRecord> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.slog2");
    let drawn = Drawn::of(facts);
    let sink = slog2::Slog2Sink::create(&path, drawn.definitions(), TreeOptions::default())
        .expect("starts");
    let losses = trace_model::convert(&drawn, Box::new(sink)).expect("converts");
    assert!(losses.is_empty(), "{:?}", losses.iter().collect::<Vec<_>>());
    let bytes = std::fs::read(&path).expect("written");
    let source = slog2::Slog2Source::new(&bytes).expect("an SLOG2 file");
    sorted(collected(&source))
}

fn collected(source: &dyn Source) -> Vec<AttributionRecord> {
    let mut found = Vec::new();
    read_attribution(source, &mut |fact| {
        found.push(fact.clone());
        Ok(())
    })
    .expect("read");
    found
}

fn sorted(mut facts: Vec<AttributionRecord>) -> Vec<AttributionRecord> {
    facts.sort_by_key(|fact| format!("{fact:?}"));
    facts
}

/// As it is read back: times count from zero.
fn from_zero(mut fact: AttributionRecord) -> AttributionRecord {
    let shift = |place: &mut PicturePoint| place.ns -= ZERO;
    match &mut fact {
        AttributionRecord::File(_) => {}
        AttributionRecord::Call(call) => {
            shift(&mut call.place);
            call.stop -= ZERO;
            call.complete -= ZERO;
        }
        AttributionRecord::Operation(operation) => {
            shift(&mut operation.place);
            operation.stop -= ZERO;
        }
        AttributionRecord::Edge(edge) => {
            shift(&mut edge.from);
            shift(&mut edge.to);
        }
    }
    fact
}

fn lane() -> impl Strategy<Value = Lane> {
    let actor = prop_oneof![
        (0u32..2).prop_map(Actor::Rank),
        (0u32..2).prop_map(Actor::FrontEnd),
        (0u32..3).prop_map(Actor::DataServer),
        (0u32..2).prop_map(Actor::Device),
    ];
    (actor, 0u32..2, 0u32..3).prop_map(|(actor, thread, lane)| Lane {
        actor,
        thread,
        lane,
    })
}

fn place() -> impl Strategy<Value = PicturePoint> {
    (lane(), 0i64..4_000_000_000_000).prop_map(|(lane, ns)| PicturePoint {
        lane,
        ns: ZERO + ns,
    })
}

fn file() -> impl Strategy<Value = AttributionRecord> {
    let role = prop_oneof![
        Just(FileRole::Data),
        Just(FileRole::SharedPointer),
        Just(FileRole::Side),
        Just(FileRole::Other),
    ];
    (0u32..9, role, "[ -~ä]{0,40}", any::<u64>(), any::<u64>()).prop_map(
        |(id, role, name, device, inode)| {
            AttributionRecord::File(OpenedFile {
                id,
                role,
                name,
                device,
                inode,
            })
        },
    )
}

fn call() -> impl Strategy<Value = AttributionRecord> {
    let numbers = (any::<u64>(), any::<u16>(), 0u32..9, any::<bool>());
    let extent = (
        0u64..1 << 62,
        proptest::option::of((0u64..1 << 62, 0u64..1 << 62)),
        0u64..99,
    );
    let ends = (
        0i64..1 << 40,
        0i64..1 << 40,
        proptest::option::of(0u64..1 << 62),
    );
    (place(), numbers, extent, ends).prop_map(
        |(
            place,
            (call, function, file, writes),
            (bytes, bounding_extent, pieces),
            (a, b, sequence),
        )| {
            AttributionRecord::Call(DataAccessCall {
                call,
                function,
                name: "MPI_File_write_at_all".into(),
                place,
                stop: place.ns + a,
                complete: place.ns + b,
                file,
                sequence,
                writes,
                bytes,
                bounding_extent,
                pieces,
                overlaps: writes && pieces % 2 == 1,
                failed: pieces % 3 == 1,
            })
        },
    )
}

fn kind() -> impl Strategy<Value = u16> {
    (0..KINDS.len() as u16).prop_map(|at| op::FIRST + at)
}

fn record(call: Option<u64>) -> impl Strategy<Value = op::OperationRecord> {
    let flags = prop_oneof![Just(0), Just(op::DEFERRED), Just(op::OUTSIDE | op::DIRECT)];
    let request = (any::<u64>(), any::<u64>(), any::<u32>(), any::<u64>());
    let numbers = (any::<i32>(), any::<i64>(), any::<i64>(), any::<i64>());
    let reported = prop_oneof![Just(None), Just(call), any::<u64>().prop_map(Some)];
    (
        (flags, numbers, reported),
        proptest::option::of(any::<u64>()),
        proptest::option::of((any::<u64>(), any::<u64>())),
        proptest::option::of(request),
        proptest::option::of((any::<i32>(), any::<i64>())),
    )
        .prop_map(
            |((flags, (fd, offset, size, result), call), control, sectors, request, peer)| {
                op::OperationRecord {
                    flags,
                    fd,
                    offset,
                    size,
                    result,
                    call,
                    control,
                    sectors,
                    request: request.map(|(unique, inode, tid, arrived)| ServerRequest {
                        unique,
                        inode,
                        tid,
                        arrived,
                    }),
                    peer,
                }
            },
        )
}

fn operation() -> impl Strategy<Value = AttributionRecord> {
    let numbers = (any::<u64>(), 0i64..1 << 40, any::<i32>(), any::<bool>());
    let of = (proptest::option::of(0u32..9), 0u64..1 << 62);
    (
        place(),
        kind(),
        numbers,
        of,
        proptest::option::of(any::<u64>()),
    )
        .prop_flat_map(|(place, kind, numbers, of, call)| {
            (Just((place, kind, numbers, of, call)), record(call))
        })
        .prop_map(
            |((place, kind, (id, lasts, error, outstanding), (file, hole_bytes), call), record)| {
                AttributionRecord::Operation(AttributedOperation {
                    id,
                    kind,
                    place,
                    stop: place.ns + lasts,
                    error,
                    record,
                    file,
                    call,
                    outstanding,
                    hole_bytes,
                })
            },
        )
}

fn edge() -> impl Strategy<Value = AttributionRecord> {
    let relation = prop_oneof![Just(Relation::Triggers), Just(Relation::Carries)];
    let precision = prop_oneof![
        Just(Precision::Exact),
        Just(Precision::Page),
        Just(Precision::BoundingExtent),
        Just(Precision::Ambiguous),
    ];
    let numbers = (any::<u64>(), any::<u64>(), 0u64..1 << 62);
    (place(), place(), kind(), numbers, relation, precision).prop_map(
        |(from, to, kind, (call, operation, bytes), relation, precision)| {
            AttributionRecord::Edge(AttributionEdge {
                call,
                from,
                operation,
                kind,
                to,
                relation,
                bytes,
                precision,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_drawn_is_read(
        files in proptest::collection::vec(file(), 0..4),
        others in proptest::collection::vec(prop_oneof![call(), operation(), edge()], 1..60),
    ) {
        let mut files = files;
        files.sort_by_key(|fact| match fact { AttributionRecord::File(file) => file.id, _ => 0 });
        files.dedup_by_key(|fact| match fact { AttributionRecord::File(file) => file.id, _ => 0 });
        let facts: Vec<AttributionRecord> = files.into_iter().chain(others).collect();
        let expected = sorted(facts.iter().cloned().map(from_zero).collect());
        prop_assert_eq!(through_slog2(&facts), expected);
    }
}

fn at(actor: Actor, lane: u32, ns: i64) -> PicturePoint {
    PicturePoint {
        lane: Lane {
            actor,
            thread: 0,
            lane,
        },
        ns: ZERO + ns,
    }
}

fn pwrite(id: u64, place: PicturePoint, call: Option<u64>) -> AttributionRecord {
    AttributionRecord::Operation(AttributedOperation {
        id,
        kind: op::PWRITE,
        place,
        stop: place.ns + 50,
        error: 0,
        record: op::OperationRecord {
            fd: 5,
            offset: 4096,
            size: 100,
            result: 100,
            ..op::OperationRecord::default()
        },
        file: Some(0),
        call,
        outstanding: false,
        hole_bytes: 0,
    })
}

#[test]
fn files_come_before_what_names_them_and_edges_behind_their_ends() {
    let facts = [
        AttributionRecord::File(OpenedFile {
            id: 0,
            role: FileRole::Data,
            name: "a".to_owned(),
            device: 1,
            inode: 2,
        }),
        pwrite(7, at(Actor::Rank(0), 0, 1000), Some(3)),
        AttributionRecord::Edge(AttributionEdge {
            call: 3,
            from: at(Actor::Rank(0), 0, 900),
            operation: 7,
            kind: op::PWRITE,
            to: at(Actor::Rank(0), 0, 1000),
            relation: Relation::Triggers,
            bytes: 100,
            precision: Precision::Exact,
        }),
    ];
    let drawn = Drawn::of(&facts);
    let found = collected(&drawn);
    assert!(matches!(
        found[..],
        [
            AttributionRecord::File(_),
            AttributionRecord::Operation(_),
            AttributionRecord::Edge(_)
        ]
    ));
}

#[test]
fn a_file_is_drawn_again_when_mpi_opens_it() {
    let file = |role, name: &str| {
        AttributionRecord::File(OpenedFile {
            id: 0,
            role,
            name: name.to_owned(),
            device: 1,
            inode: 2,
        })
    };
    let facts = [
        file(FileRole::Other, "/data/a"),
        pwrite(7, at(Actor::Rank(0), 0, 1000), None),
        file(FileRole::Data, "a"),
        pwrite(8, at(Actor::Rank(0), 0, 2000), Some(3)),
        file(FileRole::Data, "a"),
        pwrite(9, at(Actor::Rank(0), 0, 3000), Some(4)),
    ];
    let drawn = Drawn::of(&facts);
    let expected: Vec<_> = [0, 1, 2, 3, 5]
        .map(|nth| from_zero(facts[nth].clone()))
        .into();
    assert_eq!(collected(&drawn), expected);
    assert_eq!(through_slog2(&facts), sorted(expected));
    // Each operation meets the file as it was at its time, also where operations are read with all else.
    let mut roles = Vec::new();
    let mut role = None;
    read_attribution_by_time(&drawn, &mut |fact| {
        match fact {
            AttributionRecord::File(file) => role = Some(file.role),
            _ => roles.extend(role),
        }
        Ok(())
    })
    .expect("read");
    assert_eq!(roles, [FileRole::Other, FileRole::Data, FileRole::Data]);
}

#[test]
fn the_info_says_what_a_user_wants_to_know() {
    let drawn = Drawn::of(&[
        pwrite(7, at(Actor::Rank(1), 0, 1000), Some(0x100_0000_0005)),
        pwrite(8, at(Actor::Rank(1), 1, 1000), None),
    ]);
    let names: Vec<_> = drawn
        .definitions
        .categories
        .iter()
        .map(|category| category.name.to_str().into_owned())
        .collect();
    assert_eq!(names, ["pwrite", "pwrite (no call)"]);
    let shown = |nth: usize| {
        let (_, index, info, vertices) = &drawn.drawables[nth];
        let category = drawn.definitions.category(*index).expect("defined");
        let values = trace_model::info_values(category, info);
        let text: Vec<String> = values
            .map(|(key, value)| format!("{}{value:?}", key.to_str()))
            .collect();
        (vertices[0].line, text.join(""))
    };
    let (line, text) = shown(0);
    assert_eq!(line, 2, "nested on the thread's own line");
    for part in [
        "CallID=0xHex(1099511627781)",
        "offset=Integer(4096)",
        "result=Integer(100)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let (line, text) = shown(1);
    assert_eq!(line, 4, "on a sub-line");
    assert!(!text.contains("CallID"), "{text}");
    let ids = drawn.definitions.categories.iter().map(|c| c.index);
    assert!(
        ids.into_iter()
            .all(|id| (700..700 + CATEGORIES).contains(&id))
    );
    let sub = drawn.definitions.line(4).expect("defined");
    assert_eq!(sub.name.as_deref(), Some("rank 1 thread 0 AIO 1"));
    assert_eq!((sub.rank, sub.thread), (1, 2));
}

#[test]
fn views_made_for_a_trace_keep_servers_and_lanes() {
    let facts = [
        pwrite(1, at(Actor::Rank(0), 2, 10), Some(1)),
        pwrite(2, at(Actor::FrontEnd(0), 1, 20), Some(1)),
        pwrite(3, at(Actor::Device(1), 0, 30), None),
    ];
    let drawn = Drawn::of(&facts);
    let views = transform::usual_views(&drawn.definitions.lines);
    let out = Cursor::new(Vec::new());
    let (out, ..) = write_slog2(&drawn, &views, TreeOptions::default(), out).expect("written");
    let bytes = out.into_inner();
    let source = slog2::Slog2Source::new(&bytes).expect("an SLOG2 file");
    let expected = sorted(facts.into_iter().map(from_zero).collect());
    assert_eq!(sorted(collected(&source)), expected);
}
