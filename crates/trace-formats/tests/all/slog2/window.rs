//! SLOG2 by window and as a source and a sink of drawables: against what a walk over all nodes finds.

use std::io::Cursor;
use std::sync::Arc;

use crate::slog2::common::{Drawn, sample};
use proptest::prelude::*;
use test_support::golden;
use trace_formats::slog2::{
    Category, Color, Depth, Navigator, NewDrawable, NodeDrawable, NodeShadow, NodeSurvey,
    Slog2ErrorKind, Slog2Reader, Slog2Sink, Slog2Source, StartRange, TimeBBox, Topology,
    TreeOptions, Vertex,
};
use trace_model::{Definitions, Line, Losses, Sink as _, Source as _, Stop};

/// A drawable that owns its parts.
#[derive(Clone, Debug)]
struct Owned {
    topology: Topology,
    category: i32,
    info: Vec<u8>,
    vertices: Vec<Vertex>,
}

impl Owned {
    /// Category 0 is of events, 1 of states, 2 of arrows.
    fn new(kind: usize, from: i32, length: i32, lines: [i32; 2], info: Vec<u8>) -> Self {
        let at = |time: i32, line| Vertex {
            time: f64::from(time) / 8.0,
            line,
        };
        let (first, last) = (at(from, lines[0]), at(from + length, lines[1]));
        let (topology, vertices) = match kind {
            0 => (Topology::Event, vec![first]),
            1 => (Topology::State, vec![first, at(from + length, lines[0])]),
            _ => (Topology::Arrow, vec![first, last]),
        };
        Owned {
            topology,
            category: topology.number(),
            info,
            vertices,
        }
    }

    fn borrow(&self) -> NewDrawable<'_> {
        NewDrawable {
            topology: self.topology,
            category: self.category,
            info: &self.info,
            vertices: &self.vertices,
        }
    }

    fn end(&self) -> f64 {
        let times = self.vertices.iter().map(|vertex| vertex.time);
        times.fold(f64::NEG_INFINITY, f64::max)
    }
}

fn definitions() -> Definitions {
    let category = |topology: Topology| {
        let name = topology.name().into();
        Category::new(topology.number(), name, topology, Color::rgb(0x123456))
    };
    Definitions {
        categories: [Topology::Event, Topology::State, Topology::Arrow]
            .map(category)
            .to_vec(),
        lines: (0..6)
            .map(|id| Line::of_thread(id, id / 2, id % 2))
            .collect(),
        ..Definitions::default()
    }
}

fn build(drawables: &[Owned], options: TreeOptions) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("made.slog2");
    let mut sink = Slog2Sink::create(&path, &definitions(), options).expect("starts");
    for drawable in drawables {
        sink.put(&drawable.borrow()).expect("takes");
    }
    assert_eq!(sink.count(), drawables.len() as u64);
    assert!(!path.exists());
    let (_, losses) = sink.close().expect("closes");
    assert!(losses.is_empty(), "{losses}");
    std::fs::read(&path).expect("complete")
}

fn log(longest: i32) -> impl Strategy<Value = Vec<Owned>> {
    let info = prop::collection::vec(any::<u8>(), 0..6);
    let one = (0..3usize, -50..800i32, 0..longest, 0..6i32, 0..6i32, info);
    let one = one.prop_map(|(kind, from, length, a, b, info)| {
        // Some arrows go backward.
        let length = if kind == 2 { length - 3 } else { length };
        Owned::new(kind, from, length, [a, b], info)
    });
    prop::collection::vec(one, 1..250)
}

fn shape() -> impl Strategy<Value = TreeOptions> {
    (2..5i16, 1..2500i32).prop_map(|(children_per_node, leaf_byte_size)| TreeOptions {
        children_per_node,
        leaf_byte_size,
    })
}

fn sorted_by_end(mut drawables: Vec<Owned>) -> Vec<Owned> {
    drawables.sort_by(|a, b| a.end().total_cmp(&b.end()));
    drawables
}

/// A drawable as text that can be sorted and compared.
fn text(drawable: &NodeDrawable<'_>) -> String {
    format!("{drawable:?}")
}

fn preview(shadow: &NodeShadow<'_>) -> String {
    format!("{shadow:?}")
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// Drawables in a window, by a walk over all nodes.
fn brute_force(
    reader: &Slog2Reader<'_>,
    window: TimeBBox,
    depth: i16,
) -> (Vec<String>, Vec<String>) {
    let (mut drawables, mut shadows) = (Vec::new(), Vec::new());
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).expect("node");
        if entry.id.depth >= depth {
            let all = node.nestless.iter().chain(&node.nestable);
            drawables.extend(all.filter(|d| window.overlaps(d.bounds())).map(text));
        }
        if entry.id.depth == depth {
            let all = node.shadows.iter();
            let all = all.flat_map(|b| b.nestless.iter().chain(&b.nestable));
            shadows.extend(all.filter(|s| window.overlaps(s.bounds)).map(preview));
        }
    }
    (sorted(drawables), sorted(shadows))
}

fn check_window(reader: &Slog2Reader<'_>, window: TimeBBox, depth: Depth) {
    let found = reader.window(window, depth).expect("opens");
    let lowest = found.reading.depth;
    let root = reader.header().max_depth;
    match depth {
        Depth::Lowest(depth) => assert_eq!(lowest, depth.clamp(0, root)),
        Depth::Bytes(most) => assert!(found.reading.bytes <= most || lowest == root),
    }
    let (drawables, shadows) = brute_force(reader, window, lowest);
    assert_eq!(
        sorted(found.drawables.iter().map(text).collect()),
        drawables
    );
    assert_eq!(sorted(found.shadows.iter().map(preview).collect()), shadows);
    let starts = found.drawables.iter().map(|d| d.bounds());
    assert!(starts.is_sorted_by(|a, b| (a.earliest, -a.latest) <= (b.earliest, -b.latest)));
    assert!(found.shadows.is_sorted_by(|a, b| a.compare(b).is_le()));
    // Drawables behind previews and those that are there add up.
    if window.covers(reader.root().expect("root").bounds) {
        let previewed: i64 = found.shadows.iter().map(|shadow| shadow.count).sum();
        let (all, _) = brute_force(reader, window, 0);
        assert_eq!(previewed + found.drawables.len() as i64, all.len() as i64);
    }
}

/// All drawables of a source, checked to be in the order it promises.
fn all_of(source: &Slog2Source<'_>) -> Vec<Drawn> {
    some_of(source, None)
}

/// The drawables of a source whose categories are of a topology, or all, checked to be in the order it promises.
fn some_of(source: &Slog2Source<'_>, topology: Option<Topology>) -> Vec<Drawn> {
    listed(source, &|put| match topology {
        Some(topology) => source.for_each_of(topology, put),
        None => source.for_each(put),
    })
}

/// What is given to a taker of drawables.
type Give<'g> = &'g dyn Fn(
    &mut dyn FnMut(&trace_model::Drawable<'_>) -> Result<(), Stop>,
) -> Result<Losses, Stop>;

/// The drawables that are given, checked to be in the order that their source promises.
fn listed(source: &Slog2Source<'_>, give: Give<'_>) -> Vec<Drawn> {
    let mut list: Vec<Drawn> = Vec::new();
    let mut last = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let put = &mut |drawable: &trace_model::Drawable<'_>| {
        let vertices = drawable.vertices.iter();
        let bounds = vertices.fold(TimeBBox::EMPTY, |mut bounds, v| {
            let (earliest, latest) = (v.time, v.time);
            bounds.include(TimeBBox { earliest, latest });
            bounds
        });
        let next = (bounds.earliest, -bounds.latest);
        if source.order() == trace_model::DrawableOrder::Start {
            assert!(last <= next, "{last:?} {next:?}");
        }
        last = next;
        let vertices = drawable.vertices.iter().map(|v| (v.time, v.line));
        list.push((
            drawable.topology,
            drawable.category,
            drawable.info.to_vec(),
            vertices.collect(),
        ));
        Ok(())
    };
    assert!(give(put).expect("reads").is_empty());
    list
}

fn by_text(list: &[Drawn]) -> Vec<String> {
    sorted(list.iter().map(|drawn| format!("{drawn:?}")).collect())
}

/// A file that can be read as a source keeps the order that it promises.
fn check_order(file: &[u8]) {
    let Ok(source) = Slog2Source::new(file) else {
        return;
    };
    let mut count = 0;
    let order = source.order();
    let mut last = f64::NEG_INFINITY;
    let put = &mut |drawable: &trace_model::Drawable<'_>| {
        count += 1;
        let times = drawable.vertices.iter().map(|v| v.time);
        let start = times.fold(f64::INFINITY, f64::min);
        assert!(order == trace_model::DrawableOrder::Any || last.total_cmp(&start).is_le());
        last = start;
        Ok(())
    };
    let again = source.for_each(put);
    again.expect("what was read once can be read again");
    assert!(count <= file.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn windows_hold_what_overlaps(
        drawables in log(120),
        shape in shape(),
        windows in prop::collection::vec((-80..900i32, 0..400i32, 0..9i16, 0..20_000u64), 1..6),
    ) {
        let file = build(&sorted_by_end(drawables), shape);
        let reader = Slog2Reader::new(&file).expect("reads");
        for (from, length, depth, bytes) in windows {
            let at = |time: i32| f64::from(time) / 8.0;
            let window = TimeBBox { earliest: at(from), latest: at(from + length) };
            check_window(&reader, window, Depth::Lowest(depth));
            check_window(&reader, window, Depth::Bytes(bytes));
        }
        let whole = TimeBBox { earliest: -1e9, latest: 1e9 };
        for depth in -1..=reader.header().max_depth + 1 {
            check_window(&reader, whole, Depth::Lowest(depth));
        }
    }

    #[test]
    fn a_source_gives_each_drawable_once_in_order(drawables in log(120), shape in shape()) {
        let file = build(&sorted_by_end(drawables), shape);
        let source = Slog2Source::new(&file).expect("reads");
        prop_assert_eq!(source.order(), trace_model::DrawableOrder::Start);
        let list = all_of(&source);
        prop_assert_eq!(by_text(&list), by_text(&crate::slog2::common::drawables(&file)));
    }

    /// Categories tell what is wanted. In files of other programs, what is in the lists of states may be of others.
    #[test]
    fn drawables_of_a_topology_are_given_without_the_others(
        drawables in log(120),
        shape in shape(),
        others in prop::collection::vec((any::<prop::sample::Index>(), 0..3i32), 0..3),
        is_sorted in any::<bool>(),
    ) {
        let mut drawables = match is_sorted {
            true => sorted_by_end(drawables),
            false => drawables,
        };
        for (which, category) in others {
            let length = drawables.len();
            drawables[which.index(length)].category = category;
        }
        let file = build(&drawables, shape);
        let source = Slog2Source::new(&file).expect("reads");
        let all = all_of(&source);
        let reader = Slog2Reader::new(&file).expect("reads");
        let survey = Arc::new(NodeSurvey::of(&reader).expect("reads"));
        let surveyed = Slog2Source::surveyed(reader, survey);
        let lines = |source: &Slog2Source<'_>| source.definitions().lines.clone();
        prop_assert_eq!(lines(&surveyed), lines(&source));
        prop_assert_eq!(&all_of(&surveyed), &all);
        for topology in [Topology::Event, Topology::State, Topology::Arrow] {
            let is_of_it = |drawn: &&Drawn| drawn.1 == topology.number();
            let expected: Vec<Drawn> = all.iter().filter(is_of_it).cloned().collect();
            let found = some_of(&source, Some(topology));
            prop_assert_eq!(by_text(&found), by_text(&expected));
        }
    }

    /// Ranges of begins that follow each other have all drawables together, in the same order, those of a topology, too.
    #[test]
    fn ranges_of_begins_have_all_drawables_together(
        drawables in log(120),
        shape in shape(),
        mut cuts in prop::collection::vec(-80..900i32, 0..6),
    ) {
        let file = build(&sorted_by_end(drawables), shape);
        let reader = Slog2Reader::new(&file).expect("reads");
        let survey = Arc::new(NodeSurvey::of(&reader).expect("reads"));
        prop_assert!(survey.is_divisible());
        let source = Slog2Source::surveyed(reader.clone(), survey);
        cuts.sort_unstable();
        let at = |time: i32| f64::from(time) / 8.0;
        let ends: Vec<Option<f64>> = cuts.iter().map(|&cut| Some(at(cut))).chain([None]).collect();
        let begins = std::iter::once(None).chain(ends.iter().copied());
        let cut: Vec<StartRange> = begins.zip(&ends).map(|(from, &to)| StartRange { from, to }).collect();
        let ever = TimeBBox { earliest: f64::NEG_INFINITY, latest: f64::INFINITY };
        let own = reader.start_ranges(ever, 1).expect("reads");
        for ranges in [cut, own] {
            for topology in [None, Some(Topology::Event), Some(Topology::State), Some(Topology::Arrow)] {
                let found = listed(&source, &|put| {
                    for &range in &ranges {
                        source.for_each_begun_in(range, topology, put)?;
                    }
                    Ok(Losses::default())
                });
                let is_of_it = |drawn: &&Drawn| topology.is_none_or(|wanted| drawn.0 == wanted);
                let found: Vec<Drawn> = found.iter().filter(is_of_it).cloned().collect();
                let expected = some_of(&source, topology);
                prop_assert_eq!(by_text(&found), by_text(&expected), "{:?}", ranges);
            }
        }
    }

    #[test]
    fn drawables_that_came_unsorted_are_all_there(drawables in log(300), shape in shape()) {
        let file = build(&drawables, shape);
        let source = Slog2Source::new(&file).expect("reads");
        let list = all_of(&source);
        prop_assert_eq!(by_text(&list), by_text(&crate::slog2::common::drawables(&file)));
        // Sorted on the way, they make the file that they make when they come sorted.
        let out = sink_of(&source, shape);
        let again = Slog2Source::new(&out).expect("reads");
        prop_assert_eq!(again.order(), trace_model::DrawableOrder::Start);
        prop_assert_eq!(by_text(&all_of(&again)), by_text(&list));
    }

    #[test]
    fn damage_gives_an_error_or_a_log(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        in_directory in any::<bool>(),
        window in (-1.0..6.0f64, 0.0..5.0f64),
        bytes in 0..30_000u64,
    ) {
        let (mut file, _) = sample(3).convert(400);
        let directory = Slog2Reader::new(&file).expect("reads").header().tree_dir;
        for (at, byte) in damage {
            let at = match in_directory {
                true => directory.offset as usize + 4 + at.index(directory.size as usize - 4),
                false => at.index(file.len()),
            };
            file[at] = byte;
        }
        if let Ok(reader) = Slog2Reader::new(&file) {
            let window = TimeBBox { earliest: window.0, latest: window.0 + window.1 };
            for depth in [Depth::Bytes(bytes), Depth::Lowest(1), Depth::Lowest(0)] {
                if let Ok(found) = reader.window(window, depth) {
                    prop_assert!(found.reading.bytes <= file.len() as u64);
                    let overlap = |d: &NodeDrawable<'_>| window.overlaps(d.bounds());
                    prop_assert!(found.drawables.iter().all(overlap));
                }
            }
            if let Ok(mut navigator) = Navigator::new(&reader, true) {
                for line in ["d=0", "+=1.5", ">", "- a", "s ts=-9 tf=9", "tf=1e9"] {
                    let _ = navigator.obey(line, &mut std::io::sink());
                }
            }
        }
        check_order(&file);
    }
}

/// Puts a source into a new file, by way of the model.
fn sink_of(source: &Slog2Source<'_>, options: TreeOptions) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("out.slog2");
    let sink = Slog2Sink::create(&path, source.definitions(), options).expect("starts");
    let losses = trace_model::convert(source, Box::new(sink)).expect("converts");
    assert_eq!(losses.count("drawable with other than 1 or 2 vertices"), 0);
    std::fs::read(&path).expect("complete")
}

#[test]
fn a_damaged_directory_breaks_no_promise() {
    let (file, _) = sample(3).convert(400);
    let directory = Slog2Reader::new(&file).expect("reads").header().tree_dir;
    let start = directory.offset as usize;
    for at in start + 4..start + directory.size as usize {
        for byte in [0, 1, 2, 255] {
            let mut file = file.clone();
            file[at] = byte;
            check_order(&file);
        }
    }
}

#[test]
fn every_truncation_is_an_error() {
    let (file, _) = sample(3).convert(400);
    let window = TimeBBox {
        earliest: 0.0,
        latest: 1.0,
    };
    for length in 0..file.len() {
        let part = &file[..length];
        assert!(Slog2Source::new(part).is_err());
        let found = Slog2Reader::new(part).and_then(|reader| {
            let window = reader.window(window, Depth::Lowest(0))?;
            Ok(window.drawables.len())
        });
        assert!(found.is_err());
    }
}

#[test]
fn what_the_format_cannot_hold_is_counted() {
    let mut sink = Slog2Sink::new(
        Cursor::new(Vec::new()),
        &definitions(),
        TreeOptions::default(),
        |out| {
            let file = out.into_inner();
            let reader = Slog2Reader::new(&file)?;
            assert_eq!(reader.directory().len(), 1);
            Ok(())
        },
    )
    .expect("starts");
    let state = Owned::new(1, 0, 8, [1, 1], Vec::new());
    let long = Owned::new(1, 0, 8, [7, 7], vec![0; 40_000]);
    let mut bent = state.clone();
    bent.vertices.push(bent.vertices[0]);
    let stray = Owned::new(0, 9, 0, [7, 7], vec![0; 4]);
    for drawable in [&state, &long, &bent, &stray] {
        sink.put(&drawable.borrow()).expect("takes");
    }
    let losses = Box::new(sink).finish().expect("closes");
    let counts: Vec<_> = losses.iter().collect();
    assert_eq!(
        counts,
        [
            ("drawable with an info above 32767 bytes", 1),
            ("drawable with other than 1 or 2 vertices", 1),
            ("line that nothing defines, named by its number", 1),
        ]
    );
    let empty = Slog2Sink::new(
        Cursor::new(Vec::new()),
        &definitions(),
        TreeOptions::default(),
        |_| panic!("completed without drawables"),
    );
    let error = empty.expect("starts").close().expect_err("nothing in it");
    assert!(error.to_string().contains("no drawable"), "{error}");
}

#[test]
fn a_directory_out_of_order_is_no_ground_for_windows() {
    let (file, _) = sample(12).convert(300);
    let reader = Slog2Reader::new(&file).expect("reads");
    let count = reader.directory().len();
    assert!(count > 10);
    let start = reader.header().tree_dir.offset as usize + 4;
    let mut turned = file.clone();
    for (nth, entry) in file[start..].chunks_exact(34).rev().enumerate() {
        turned[start + 34 * nth..][..34].copy_from_slice(entry);
    }
    let reader = Slog2Reader::new(&turned).expect("reads");
    let window = TimeBBox {
        earliest: 0.0,
        latest: 1.0,
    };
    let error = reader.window(window, Depth::Lowest(0)).expect_err("order");
    assert!(
        matches!(error.kind, Slog2ErrorKind::DirectoryOrder { .. }),
        "{error}"
    );
    // Single nodes are found all the same, and nothing is lost where order does not matter.
    for entry in reader.directory() {
        assert_eq!(reader.entry(entry.id), Some(entry));
    }
    assert_eq!(
        reader.root().map(|root| root.ptr),
        Some(reader.header().tree_root)
    );
    let source = Slog2Source::new(&turned).expect("reads");
    assert_eq!(source.order(), trace_model::DrawableOrder::Any);
    let whole = crate::slog2::common::drawables(&file);
    assert_eq!(by_text(&all_of(&source)), by_text(&whole));
}

#[test]
fn nodes_that_overlap_in_the_file_are_read_no_further_than_its_size() {
    let (file, _) = sample(40).convert(300);
    let reader = Slog2Reader::new(&file).expect("reads");
    let root = reader.header().tree_dir.offset as usize + 4;
    let largest = reader.directory().iter().max_by_key(|e| e.ptr.size);
    let largest = largest.expect("nodes").ptr;
    let mut damaged = file.clone();
    for entry in damaged[root..].chunks_exact_mut(34) {
        entry[22..30].copy_from_slice(&largest.offset.to_be_bytes());
        entry[30..34].copy_from_slice(&largest.size.to_be_bytes());
    }
    let reader = Slog2Reader::new(&damaged).expect("reads");
    let window = TimeBBox {
        earliest: 0.0,
        latest: 100.0,
    };
    let error = reader
        .window(window, Depth::Lowest(0))
        .expect_err("overlap");
    assert!(
        matches!(error.kind, Slog2ErrorKind::Overlap { .. }),
        "{error}"
    );
    assert!(Slog2Source::new(&damaged).is_err());
}

/// A log of states on four lines, four at a time, eight in a second.
fn long_log(count: i32) -> Vec<u8> {
    let state = |nth: i32| Owned::new(1, nth, 3, [nth % 4, nth % 4], Vec::new());
    let options = TreeOptions {
        leaf_byte_size: 4096,
        ..TreeOptions::default()
    };
    build(&(0..count).map(state).collect::<Vec<_>>(), options)
}

#[test]
fn bytes_read_grow_with_the_window_and_not_with_the_file() {
    let read = |file: &[u8], length: f64| {
        let reader = Slog2Reader::new(file).expect("reads");
        let window = TimeBBox {
            earliest: 500.0,
            latest: 500.0 + length,
        };
        let found = reader.window(window, Depth::Lowest(0)).expect("opens");
        assert!(found.drawables.len() as f64 >= 8.0 * length);
        found.reading
    };
    let (small, large) = (long_log(8_000), long_log(128_000));
    assert!(large.len() > 15 * small.len());
    // The same window in a file sixteen times as large: four levels more on the way, with little in each.
    let (a, b) = (read(&small, 10.0), read(&large, 10.0));
    assert!(b.bytes < 2 * a.bytes, "{a:?} {b:?}");
    assert!(b.nodes <= a.nodes + 8, "{a:?} {b:?}");
    assert!(b.bytes < 40_000, "{b:?}");
    // Ten windows' length takes about ten times as much of the leaves.
    let (c, d) = (read(&large, 100.0), read(&large, 1000.0));
    let ratio = d.bytes as f64 / c.bytes as f64;
    assert!((5.0..15.0).contains(&ratio), "{c:?} {d:?}");
    // With a limit on the bytes, the whole log takes no more than that.
    let reader = Slog2Reader::new(&large).expect("reads");
    let whole = TimeBBox {
        earliest: -1.0,
        latest: 1e6,
    };
    let found = reader.window(whole, Depth::Bytes(50_000)).expect("opens");
    assert!(found.reading.bytes <= 50_000 && found.reading.depth > 0);
    assert!(!found.shadows.is_empty());
    // Ranges of begins are about equal, and those of a window are in it but for what reaches over its ends.
    let ranges = reader.start_ranges(whole, 400_000).expect("reads");
    let lengths = ranges
        .iter()
        .filter_map(|range| Some(range.to? - range.from?));
    let lengths: Vec<f64> = lengths.collect();
    assert!(
        ranges.len() > 10 && lengths.len() == ranges.len() - 2,
        "{ranges:?}"
    );
    assert!(
        lengths
            .iter()
            .all(|length| (0.8..1.25).contains(&(length / lengths[0]))),
        "{lengths:?}"
    );
    let window = TimeBBox {
        earliest: 500.0,
        latest: 1500.0,
    };
    let ranges = reader.start_ranges(window, 50_000).expect("reads");
    assert!(
        ranges.len() > 1
            && ranges
                .iter()
                .filter_map(|range| range.to)
                .all(|to| (500.0..=1500.0).contains(&to)),
        "{ranges:?}"
    );
}

#[test]
fn windows_of_the_goldens() {
    for (_, file) in golden::contents("mpe", ".slog2") {
        let reader = Slog2Reader::new(&file).expect("reads");
        let bounds = reader.root().expect("root").bounds;
        for (from, to) in [(0.0, 1.0), (0.25, 0.5), (0.5, 0.5), (0.9, 2.0), (-1.0, 0.0)] {
            let at = |factor: f64| bounds.earliest + factor * bounds.duration();
            let window = TimeBBox {
                earliest: at(from),
                latest: at(to),
            };
            for depth in 0..=reader.header().max_depth {
                check_window(&reader, window, Depth::Lowest(depth));
            }
            check_window(&reader, window, Depth::screenful(reader.header()));
        }
    }
}

#[test]
fn goldens_as_sources_and_made_again() {
    let (mut same, mut files) = (0, 0);
    for (name, file) in golden::contents("mpe", ".slog2") {
        let source = Slog2Source::new(&file).expect("reads");
        let list = all_of(&source);
        assert_eq!(
            by_text(&list),
            by_text(&crate::slog2::common::drawables(&file)),
            "{name}"
        );
        let reader = source.reader();
        let header = reader.header();
        let out = sink_of(
            &source,
            TreeOptions {
                children_per_node: header.children_per_node,
                leaf_byte_size: header.leaf_byte_size,
            },
        );
        let again = Slog2Source::new(&out).expect("reads");
        assert_eq!(by_text(&all_of(&again)), by_text(&list), "{name}");
        let lines = |source: &Slog2Source<'_>| source.definitions().lines.clone();
        let used: Vec<Line> = lines(&source);
        for line in lines(&again) {
            assert!(used.contains(&line), "{name}: {line:?}");
        }
        files += 1;
        same += usize::from(out == file);
    }
    println!("{same} of {files} are the same in every byte");
}
