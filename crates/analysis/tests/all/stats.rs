//! Statistics against brute force, and against the summaries that the original converter writes into SLOG2 files.

use analysis::stats;
use analysis::stats::{
    Histogram, Nesting, Statistics, StatisticsCollector, StatisticsOptions, Volume,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use test_support::golden;
use trace_formats::slog2;
use trace_model::{
    Category, Color, Definitions, Drawable, DrawableOrder, InfoWriter, Line, Sorter, TimeBBox,
    Topology, Vertex,
};

/// A drawable that owns what it has.
#[derive(Clone, Debug)]
struct Own {
    topology: Topology,
    category: i32,
    info: Vec<u8>,
    vertices: Vec<Vertex>,
}

impl Own {
    fn bounds(&self) -> TimeBBox {
        let times = self.vertices.iter().map(|v| v.time);
        TimeBBox {
            earliest: times.clone().fold(f64::INFINITY, f64::min),
            latest: times.fold(f64::NEG_INFINITY, f64::max),
        }
    }

    fn line(&self) -> i32 {
        self.vertices[0].line
    }

    /// Its seconds in the window, if it takes part.
    fn seconds(&self, window: Option<TimeBBox>) -> Option<f64> {
        let bounds = self.bounds();
        let Some(w) = window else {
            return Some(bounds.duration());
        };
        let inside = bounds.latest.min(w.latest) - bounds.earliest.max(w.earliest);
        let momentary = bounds.duration() == 0.0 && inside >= 0.0;
        let reaches_in =
            bounds.duration() > 0.0 && bounds.latest > w.earliest && bounds.earliest < w.latest;
        (momentary || reaches_in).then_some(inside)
    }
}

fn sorted(mut drawables: Vec<Own>) -> Vec<Own> {
    let key = |d: &Own| (d.bounds().earliest, -d.bounds().latest);
    drawables.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
    drawables
}

fn collect(definitions: &Definitions, drawables: &[Own], options: StatisticsOptions) -> Statistics {
    let mut collector = StatisticsCollector::new(definitions, options);
    for own in drawables {
        collector.put(&Drawable {
            topology: own.topology,
            category: own.category,
            info: &own.info,
            vertices: &own.vertices,
        });
    }
    collector.finish()
}

const STATES: i32 = 4;
const MESSAGE: i32 = 0;
const EVENT: i32 = 9;
const LINES: i32 = 5;

/// Message, four states of which two carry CallIDs, an event; five lines of three ranks, the last with two threads.
fn definitions() -> Definitions {
    let mut categories = vec![Category::message()];
    for index in 1..=STATES {
        let name = format!("state {index}");
        let mut state = Category::new(index, name.as_str().into(), Topology::State, Color::WHITE);
        if index <= 2 {
            state.set_info_format(b"CallID=0x%X, bytes=%l");
        }
        categories.push(state);
    }
    categories.push(Category::new(
        EVENT,
        "event".into(),
        Topology::Event,
        Color::WHITE,
    ));
    let mut lines: Vec<Line> = [(0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 2, 1), (4, 0, 0)]
        .map(|(id, rank, thread)| Line::of_thread(id, rank, thread))
        .into();
    lines[4].comm = 1;
    Definitions {
        categories,
        lines,
        ..Definitions::default()
    }
}

fn rank_of(line: i32) -> (i32, i32) {
    let found = definitions();
    let line = found.line(line).unwrap();
    (line.rank, line.thread)
}

fn drawable() -> impl Strategy<Value = Own> {
    (
        0u8..10,
        0..LINES,
        0..LINES,
        0u8..30,
        0u8..12,
        0u64..6,
        any::<bool>(),
    )
        .prop_map(|(kind, line, other, start, duration, value, backward)| {
            let (start, end) = (f64::from(start), f64::from(start) + f64::from(duration));
            let at = |time, line| Vertex { time, line };
            let mut info = InfoWriter::default();
            match kind {
                0 => Own {
                    topology: Topology::Event,
                    category: EVENT,
                    info: Vec::new(),
                    vertices: vec![at(start, line)],
                },
                1 | 2 => Own {
                    topology: Topology::Arrow,
                    category: MESSAGE,
                    info: info.int(7).int(1 << value).bytes()[..if value == 5 { 4 } else { 8 }]
                        .to_vec(),
                    vertices: match backward {
                        true => vec![at(end, line), at(start, other)],
                        false => vec![at(start, line), at(end, other)],
                    },
                },
                _ => {
                    let category = 1 + i32::from(kind) % STATES;
                    Own {
                        topology: Topology::State,
                        category,
                        info: match category {
                            1 | 2 => info.long(value as i64).long(0).bytes().to_vec(),
                            _ => Vec::new(),
                        },
                        vertices: vec![at(start, line), at(end, line)],
                    }
                }
            }
        })
}

/// Count, inclusive and exclusive seconds by rank, thread and category.
type Cells = BTreeMap<((i32, i32), i32), (u64, f64, f64)>;

/// The same by looking at every pair.
fn by_brute_force(drawables: &[Own], options: StatisticsOptions) -> Cells {
    let mut cells = Cells::new();
    let nests = |outer: &Own, inner: &Own| {
        let together = match options.nesting {
            Nesting::Line => outer.line() == inner.line(),
            Nesting::Thread => rank_of(outer.line()) == rank_of(inner.line()),
        };
        together && outer.bounds().covers(inner.bounds())
    };
    for (nth, own) in drawables.iter().enumerate() {
        let Some(seconds) = own.seconds(options.window) else {
            continue;
        };
        let cell = cells
            .entry((rank_of(own.line()), own.category))
            .or_default();
        cell.0 += 1;
        cell.1 += seconds;
        if own.topology != Topology::State {
            continue;
        }
        cell.2 += seconds;
        let before = drawables[..nth].iter().rev();
        let outer = before
            .filter(|outer| outer.topology == Topology::State)
            .find(|outer| nests(outer, own));
        if let Some(outer) = outer {
            let cell = cells
                .entry((rank_of(outer.line()), outer.category))
                .or_default();
            cell.2 -= seconds;
        }
    }
    cells.retain(|_, cell| cell.0 > 0);
    cells
}

fn window() -> impl Strategy<Value = Option<TimeBBox>> {
    proptest::option::of((0u8..40, 0u8..20).prop_map(|(start, length)| TimeBBox {
        earliest: f64::from(start) - 0.5 * f64::from(length % 2),
        latest: f64::from(start) + f64::from(length),
    }))
}

proptest! {
    #[test]
    fn times_are_those_of_brute_force(
        drawables in proptest::collection::vec(drawable(), 0..60),
        window in window(),
        by_line: bool,
    ) {
        let drawables = sorted(drawables);
        let nesting = if by_line { Nesting::Line } else { Nesting::Thread };
        let options = StatisticsOptions { window, nesting };
        let found = collect(&definitions(), &drawables, options);
        let expected = by_brute_force(&drawables, options);

        // Whole and half seconds add up exactly.
        let cells: BTreeMap<_, _> = found.cells.iter().map(|cell| {
            let tally = cell.tally;
            (((cell.rank, cell.thread), cell.category), (tally.count, tally.total, tally.exclusive))
        }).collect();
        prop_assert_eq!(&cells, &expected);

        let by_rank: u64 = found.cells_by_rank().iter().map(|cell| cell.tally.count).sum();
        prop_assert_eq!(by_rank, found.drawables);
        for category in &found.categories {
            let mine = || expected.iter().filter(|((_, index), _)| *index == category.index);
            prop_assert_eq!(category.tally.count, mine().map(|(_, cell)| cell.0).sum::<u64>());
            prop_assert_eq!(category.tally.total, mine().map(|(_, cell)| cell.1).sum::<f64>());
            prop_assert_eq!(category.tally.exclusive, mine().map(|(_, cell)| cell.2).sum::<f64>());
            let mut seconds: Vec<f64> = drawables.iter().filter(|own| own.category == category.index)
                .filter_map(|own| own.seconds(window)).collect();
            seconds.sort_by(f64::total_cmp);
            prop_assert_eq!(category.tally.min, seconds[0]);
            prop_assert_eq!(category.tally.max, seconds[seconds.len() - 1]);
            if category.topology == Topology::Event {
                continue;
            }
            for percent in [1.0, 50.0, 90.0, 99.0] {
                let rank = (percent / 100.0 * seconds.len() as f64).ceil() as usize;
                let exact = seconds[rank.max(1) - 1];
                let close = category.durations.percentile(percent).unwrap();
                prop_assert!((close - exact).abs() <= exact * Histogram::ERROR, "{} % is {}, not {}", percent, close, exact);
            }
        }

        // Time in any state, half second by half second.
        for row in &found.rows {
            let states: Vec<_> = drawables.iter().filter(|own| own.topology == Topology::State)
                .filter(|own| rank_of(own.line()) == (row.rank, row.thread)).map(Own::bounds).collect();
            let covered = (0..160).map(|half| f64::from(half) * 0.5).filter(|&t| {
                let inside = window.is_none_or(|w| w.earliest <= t && t < w.latest);
                inside && states.iter().any(|s| s.earliest <= t && t < s.latest)
            }).count();
            prop_assert_eq!(row.covered, covered as f64 * 0.5);
        }
    }

    #[test]
    fn messages_are_those_of_brute_force(
        drawables in proptest::collection::vec(drawable(), 0..60),
        window in window(),
    ) {
        let drawables = sorted(drawables);
        let found = collect(&definitions(), &drawables, StatisticsOptions { window, ..StatisticsOptions::default() });
        let arrows = || drawables.iter()
            .filter(|own| own.topology == Topology::Arrow && own.seconds(window).is_some());
        let size = |own: &Own| (own.info.len() == 8).then(|| u64::from(own.info[7]));
        let mut pairs: BTreeMap<(i32, i32), Volume> = BTreeMap::new();
        let mut classes: BTreeMap<u64, Volume> = BTreeMap::new();
        for arrow in arrows() {
            let ranks = [0, 1].map(|end| rank_of(arrow.vertices[end].line).0);
            let mut volumes = vec![pairs.entry((ranks[0], ranks[1])).or_default()];
            volumes.extend(size(arrow).map(|size| classes.entry(size).or_default()));
            for volume in volumes {
                volume.count += 1;
                volume.bytes += size(arrow).unwrap_or(0);
            }
        }
        let messages = &found.messages;
        prop_assert_eq!(messages.all.count, arrows().count() as u64);
        prop_assert_eq!(messages.without_size, arrows().filter(|own| size(own).is_none()).count() as u64);
        let backward = arrows().filter(|own| own.vertices[1].time < own.vertices[0].time);
        prop_assert_eq!(messages.backward, backward.count() as u64);
        let found_pairs: BTreeMap<_, _> = messages.by_pair.iter().map(|pair| ((pair.from, pair.to), pair.volume)).collect();
        prop_assert_eq!(&found_pairs, &pairs);
        // All sizes are powers of two, so each has a class of its own and is its smallest.
        let found_classes: BTreeMap<_, _> = messages.by_size.iter().map(|class| (class.low, class.volume)).collect();
        prop_assert_eq!(&found_classes, &classes);
        let sum = |volume: fn(&analysis::stats::ThreadStatistics) -> Volume| found.rows.iter().map(|row| volume(row).bytes).sum::<u64>();
        prop_assert_eq!(sum(|row| row.sent), messages.all.bytes);
        prop_assert_eq!(sum(|row| row.received), messages.all.bytes);
    }

    #[test]
    fn callids_are_those_of_brute_force(drawables in proptest::collection::vec(drawable(), 0..60)) {
        let drawables = sorted(drawables);
        let found = collect(&definitions(), &drawables, StatisticsOptions::default()).callids;
        let mut calls: BTreeMap<u8, Vec<i32>> = BTreeMap::new();
        for own in drawables.iter().filter(|own| (1..=2).contains(&own.category)) {
            calls.entry(own.info[7]).or_default().push(own.category);
        }
        prop_assert_eq!(found.categories, 2);
        prop_assert_eq!(found.calls, calls.len() as u64);
        prop_assert_eq!(found.drawables, calls.values().map(|call| call.len() as u64).sum::<u64>());
        prop_assert_eq!(found.causing, calls.values().filter(|call| call.len() > 1).count() as u64);
        prop_assert_eq!(found.operations, found.drawables - found.calls);
        for (category, caused) in &found.by_call {
            let mine = || calls.values().filter(|call| call[0] == *category);
            prop_assert_eq!(caused.calls, mine().count() as u64);
            prop_assert_eq!(caused.most, mine().map(|call| call.len() as u64 - 1).max().unwrap_or(0));
            for operation in 1..=2 {
                let expected = mine().flat_map(|call| &call[1..]).filter(|c| **c == operation).count() as u64;
                prop_assert_eq!(caused.by_operation.get(&operation).copied().unwrap_or(0), expected);
            }
        }
        prop_assert!(found.is_exact);
    }

    #[test]
    fn windows_side_by_side_add_up(drawables in proptest::collection::vec(drawable(), 0..60), cut in 0u8..40) {
        let drawables = sorted(drawables);
        let definitions = definitions();
        let whole = collect(&definitions, &drawables, StatisticsOptions::default());
        let part = |earliest, latest| {
            let window = Some(TimeBBox { earliest, latest });
            collect(&definitions, &drawables, StatisticsOptions { window, ..StatisticsOptions::default() })
        };
        let parts = [part(-1.0, f64::from(cut)), part(f64::from(cut), 100.0)];
        for category in &whole.categories {
            let sum = |what: fn(&analysis::stats::DrawableTally) -> f64| -> f64 {
                parts.iter().filter_map(|part| part.category(category.index)).map(|found| what(&found.tally)).sum()
            };
            prop_assert_eq!(sum(|tally| tally.total), category.tally.total);
            prop_assert_eq!(sum(|tally| tally.exclusive), category.tally.exclusive);
        }
    }
}

#[test]
fn what_cannot_be_placed_is_counted() {
    let state = |category, line, start, end| Own {
        topology: Topology::State,
        category,
        info: Vec::new(),
        vertices: vec![Vertex { time: start, line }, Vertex { time: end, line }],
    };
    let mut drawables = vec![
        state(1, 77, 0.0, 1.0),
        state(50, 0, 2.0, 3.0),
        state(1, 0, 1.0, 4.0),
        state(1, 0, f64::NAN, 4.0),
    ];
    drawables.push(Own {
        vertices: Vec::new(),
        ..drawables[0].clone()
    });
    let found = collect(&definitions(), &drawables, StatisticsOptions::default());
    assert_eq!(found.drawables, 3);
    let untold = found.untold;
    assert_eq!((untold.unknown_line, untold.unknown_category), (1, 1));
    assert_eq!((untold.without_time, untold.out_of_order), (2, 1));
    assert_eq!(
        found.rows.iter().map(|row| row.rank).collect::<Vec<_>>(),
        [0, 77]
    );
    assert_eq!((found.window.earliest, found.window.latest), (0.0, 4.0));
    assert_eq!(found.ranks(), 2);

    // Lines without end, as damage makes them, take no memory without end.
    let many: Vec<Own> = (0..100_000)
        .map(|n| state(1000 + n, 1000 + n, 0.0, 1.0))
        .collect();
    let found = collect(&definitions(), &many, StatisticsOptions::default());
    assert_eq!(found.drawables, 100_000);
    assert!(found.rows.len() < 20_000 && found.categories.len() < 20_000);
}

/// The drawables of an SLOG2 file in order of start.
fn drawables_of(reader: &slog2::Slog2Reader<'_>) -> Vec<Own> {
    let mut all = Vec::new();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).expect("node");
        for drawable in node.nestless.iter().chain(&node.nestable) {
            let slog2::NodeDrawable::Primitive(primitive) = drawable else {
                panic!("no composites in the goldens");
            };
            all.push(Own {
                topology: match primitive.vertices().count() {
                    1 => Topology::Event,
                    _ if node.nestless.contains(drawable) => Topology::Arrow,
                    _ => Topology::State,
                },
                category: primitive.category,
                info: primitive.info.to_vec(),
                vertices: primitive.vertices().collect(),
            });
        }
    }
    sorted(all)
}

#[test]
fn summaries_of_the_original_converter() {
    let mut compared = 0;
    for (name, bytes) in golden::contents("mpe", ".slog2") {
        // slog2filter doubles the summaries.
        if name.ends_with(".filter.slog2") {
            continue;
        }
        let reader = slog2::Slog2Reader::new(&bytes).expect("golden");
        let map = &reader.line_id_maps()[0];
        let definitions = Definitions {
            categories: reader.categories().to_vec(),
            lines: map
                .rows()
                .map(|row| Line::of_thread(row[0], row[1], row.get(2).copied().unwrap_or(0)))
                .collect(),
            ..Definitions::default()
        };
        let found = collect(
            &definitions,
            &drawables_of(&reader),
            StatisticsOptions::default(),
        );
        let span = found.span();
        let close = |a: f64, b: f32| {
            (a - f64::from(b)).abs() <= 1e-5 * a.abs().max(f64::from(b).abs()) + 1e-7
        };
        let mut seen = BTreeSet::new();
        for category in reader
            .categories()
            .iter()
            .filter(|category| category.index >= 0)
        {
            let mine = found
                .category(category.index)
                .unwrap_or_else(|| panic!("{name}: {:?}", category.name));
            assert_eq!(
                mine.tally.count as i64, category.summary.count,
                "{name}: {:?}",
                category.name
            );
            if category.topology == Topology::Event {
                continue;
            }
            let ratios = (mine.tally.total / span, mine.tally.exclusive / span);
            assert!(
                close(ratios.0, category.summary.inclusive),
                "{name}: {:?}: {ratios:?}, {:?}",
                category.name,
                category.summary
            );
            // In a tree of several levels the original estimates what lies in other nodes by their previews.
            if category.topology == Topology::State && reader.header().max_depth == 0 {
                assert!(
                    close(ratios.1, category.summary.exclusive),
                    "{name}: {:?}: {ratios:?}, {:?}",
                    category.name,
                    category.summary
                );
                seen.insert(category.index);
            }
        }
        compared += seen.len();
        assert_eq!(found.untold, Default::default(), "{name}");
    }
    assert!(compared > 100, "only {compared} categories compared");
}

#[test]
fn the_order_of_sources_does_not_matter() {
    // End order, as CLOG2 gives it, sorted as `collect` does.
    let mut sorter = Sorter::new(DrawableOrder::Start);
    let state = |start, end, category| {
        let vertices = [start, end].map(|time| Vertex { time, line: 0 });
        (category, vertices)
    };
    let drawables = [state(1.0, 2.0, 2), state(3.0, 4.0, 2), state(0.0, 5.0, 1)];
    for (category, vertices) in &drawables {
        let drawable = Drawable {
            topology: Topology::State,
            category: *category,
            info: &[],
            vertices,
        };
        sorter.push(&drawable).expect("memory");
    }
    let mut collector = StatisticsCollector::new(&definitions(), StatisticsOptions::default());
    sorter
        .finish(&mut |drawable| {
            collector.put(drawable);
            Ok(())
        })
        .expect("memory");
    let found = collector.finish();
    assert_eq!(found.category(1).map(|c| c.tally.exclusive), Some(3.0));
    assert_eq!(found.category(2).map(|c| c.tally.exclusive), Some(2.0));
}

/// A state that is full of states of a tenth of a second has no time of its own, and not less than none.
#[test]
fn what_rounding_leaves_is_no_negative_time() {
    let state = |category, start: u8, end: u8| Own {
        topology: Topology::State,
        category,
        info: Vec::new(),
        vertices: [start, end]
            .map(|tenth| Vertex {
                time: f64::from(tenth) * 0.1,
                line: 0,
            })
            .to_vec(),
    };
    let mut seen = 0;
    for length in 2..60 {
        let mut drawables = vec![state(3, 0, length)];
        drawables.extend((0..length).map(|tenth| state(4, tenth, tenth + 1)));
        let found = collect(&definitions(), &drawables, StatisticsOptions::default());
        let exclusive = found.category(3).expect("state").tally.exclusive;
        assert!((0.0..1e-9).contains(&exclusive), "{length}: {exclusive}");
        let parts = (0..length).map(|tenth| f64::from(tenth + 1) * 0.1 - f64::from(tenth) * 0.1);
        let rest = parts.fold(f64::from(length) * 0.1, |rest, part| rest - part);
        seen += usize::from(rest < 0.0);
    }
    assert!(seen > 0, "no rest of rounding is below 0");
}

#[test]
fn windows_of_slog2_files_read_only_their_nodes() {
    for name in [
        "nonblk_n5.ls1k.slog2",
        "nonblk_n5.ls1k_nc4.slog2",
        "ring_n4.ls600_nc3.slog2",
        "coll_n4.slog2",
    ] {
        let bytes = golden::read(format!("mpe/{name}"));
        let source = slog2::Slog2Source::new(&bytes).expect("golden");
        let (whole, losses) =
            stats::collect(&source, StatisticsOptions::default()).expect("golden");
        assert!(losses.is_empty(), "{name}");
        let at = |part: f64| whole.window.earliest + part * whole.span();
        for (from, to) in [(0.0, 1.0), (0.2, 0.3), (0.5, 0.5), (0.9, 2.0), (-1.0, -0.5)] {
            let window = TimeBBox {
                earliest: at(from),
                latest: at(to),
            };
            for nesting in [Nesting::Line, Nesting::Thread] {
                let options = StatisticsOptions {
                    window: Some(window),
                    nesting,
                };
                let (expected, _) = stats::collect(&source, options).expect("golden");
                let (found, _) =
                    stats::collect_slog2(source.reader(), window, options).expect("golden");
                assert!(found == expected, "{name} {from} to {to}");
                assert_eq!(found.drawables > 0, to >= 0.0, "{name} {from} to {to}");
            }
        }
    }
}

#[test]
fn windows_in_order_are_what_a_sorted_window_has() {
    use std::ops::ControlFlow;
    use trace_formats::slog2::{Depth, InOrder, Slog2Reader, TreeBuilder};
    use trace_model::{Category, Color, Drawable, Topology, Vertex};

    // With a small leaf a tree; with a large one a single node, whose first two states then change places.
    let states = |disordered: bool| {
        let options = slog2::TreeOptions {
            leaf_byte_size: if disordered { 1 << 16 } else { 600 },
            ..Default::default()
        };
        let mut builder = TreeBuilder::new(std::io::Cursor::new(Vec::new()), options).unwrap();
        for nth in 0..400 {
            let (end, line) = (f64::from(nth), nth % 3);
            let vertices = [end - (end * 7.0) % 40.0, end].map(|time| Vertex { time, line });
            let added = builder.add(&Drawable {
                topology: Topology::State,
                category: 0,
                info: &[],
                vertices: &vertices,
            });
            added.unwrap();
        }
        let category = Category::new(0, "x".into(), Topology::State, Color::WHITE);
        let mut view = slog2::LineIdMap::new("Process View", &["world_rank"]);
        (0..3).for_each(|line| view.push(line, &[line]));
        let tree = builder.close().unwrap();
        let (out, _) = tree.finish(&[category], &[view]).unwrap();
        let mut file = out.into_inner();
        if disordered {
            let node = Slog2Reader::new(&file).unwrap().header().tree_root.offset as usize;
            let (first, second) = file[node + 42..node + 108].split_at_mut(33);
            first.swap_with_slice(second);
        }
        file
    };
    for disordered in [false, true] {
        let file = states(disordered);
        let reader = Slog2Reader::new(&file).unwrap();
        for (earliest, latest) in [(-50.0, 500.0), (100.0, 101.5), (250.0, 250.0)] {
            let window = TimeBBox { earliest, latest };
            let mut found = Vec::new();
            let mut put = |primitive: &slog2::Primitive<'_>| {
                found.push((primitive.bounds.earliest, primitive.bounds.latest));
                ControlFlow::Continue(())
            };
            let end = reader.for_each_in_order(window, &mut put).unwrap();
            let options = StatisticsOptions::default();
            let (statistics, _) = stats::collect_slog2(&reader, window, options).unwrap();
            let source = slog2::Slog2Source::new(&file).unwrap();
            let options = StatisticsOptions {
                window: Some(window),
                ..options
            };
            assert!(statistics == stats::collect(&source, options).unwrap().0);
            if disordered {
                assert_eq!(end, InOrder::Disordered);
                continue;
            }
            assert_eq!(end, InOrder::Complete { composites: 0 });
            let sorted = reader.window(window, Depth::Lowest(0)).unwrap().drawables;
            let sorted: Vec<_> = sorted.iter().map(|d| d.bounds()).collect();
            let sorted: Vec<_> = sorted.iter().map(|b| (b.earliest, b.latest)).collect();
            assert_eq!(found, sorted);
            assert!(!found.is_empty());
        }
    }
}
