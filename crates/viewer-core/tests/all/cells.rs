//! Cells, states, events and arrows of pictures against a painter that looks at every instant of every line by itself.

use crate::common::{Simple, categories, file};
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace_formats::slog2::{
    Depth, NodeDrawable, Primitive, Slog2Reader, TimeBBox, Topology, Vertex,
};
use viewer_core::picture::frame::DecodedFrame;
use viewer_core::{AnswerLimits, ApiQuery, Viewer};

/// Parts of a column, as the module `columns` has them.
const COLUMN: i64 = 1 << 24;

#[derive(Clone, Copy, Debug)]
struct State {
    line: i32,
    category: i32,
    start: f64,
    end: f64,
}

/// Contents of a file, by a reading of its own.
#[derive(Default)]
struct All {
    states: Vec<State>,
    events: Vec<(i32, f64)>,
    /// From line and time to line and time.
    arrows: Vec<(i32, f64, i32, f64)>,
}

impl All {
    fn of(reader: &Slog2Reader<'_>) -> All {
        let mut all = All::default();
        let bounds = reader.root().map_or(viewer_core::EMPTY, |root| root.bounds);
        let window = reader.window(bounds, Depth::Lowest(0)).unwrap();
        let topology = |p: &Primitive<'_>| {
            let of = reader.categories().iter().find(|c| c.index == p.category);
            of.unwrap().topology
        };
        let mut put = |p: &Primitive<'_>| {
            let (first, last) = (p.first(), p.last());
            match topology(p) {
                Topology::State => all.states.push(State {
                    line: first.line,
                    category: p.category,
                    start: first.time.min(last.time),
                    end: first.time.max(last.time),
                }),
                Topology::Event => all.events.push((first.line, first.time)),
                Topology::Arrow => {
                    all.arrows
                        .push((first.line, first.time, last.line, last.time));
                }
            }
        };
        for drawable in &window.drawables {
            match drawable {
                NodeDrawable::Primitive(primitive) => put(primitive),
                NodeDrawable::Composite(composite) => {
                    composite.primitives.iter().for_each(&mut put)
                }
            }
        }
        let by_order = |a: &State, b: &State| {
            let start = a.start.total_cmp(&b.start);
            start
                .then(b.end.total_cmp(&a.end))
                .then(a.category.cmp(&b.category))
        };
        all.states.sort_by(by_order);
        all
    }
}

/// The stretches in which each state is shown: between any two instants at which something begins or ends on its unit, the one
/// that began last. `None` for the state if none runs.
fn stretches(unit: &[State]) -> Vec<(State, f64, f64)> {
    let mut instants: Vec<f64> = unit.iter().flat_map(|s| [s.start, s.end]).collect();
    instants.sort_by(f64::total_cmp);
    instants.dedup();
    let mut shown: Vec<(usize, f64, f64)> = Vec::new();
    for (nth, &from) in instants.iter().enumerate() {
        let points = (0..unit.len()).filter(|&s| unit[s].start == from && unit[s].end == from);
        let before = shown.len();
        shown.extend(points.map(|s| (s, from, from)));
        let is_broken = shown.len() > before;
        let Some(&to) = instants.get(nth + 1) else {
            continue;
        };
        let runs = |&s: &usize| unit[s].start <= from && unit[s].end >= to;
        let Some(top) = (0..unit.len()).rfind(runs) else {
            continue;
        };
        match shown.last_mut() {
            Some(last) if !is_broken && last.0 == top && last.2 == from => last.2 = to,
            _ => shown.push((top, from, to)),
        }
    }
    shown
        .into_iter()
        .map(|(s, from, to)| (unit[s], from, to))
        .collect()
}

/// A question for a picture.
#[derive(Clone, Debug)]
struct Asked {
    window: TimeBBox,
    width: usize,
    timelines: &'static str,
    mode: &'static str,
    /// Numbers of kinds.
    hide: Vec<usize>,
}

fn byte(part: i64, whole: i64) -> u32 {
    (((part * 255) as f64 / whole as f64 + 0.5).floor() as u32).clamp(1, 255)
}

/// Compares an answer with what the painter says.
fn check(file: &[u8], asked: &Asked) {
    let viewer = Viewer::new("x", file, AnswerLimits::default()).unwrap();
    let hide: Vec<String> = asked.hide.iter().map(usize::to_string).collect();
    let TimeBBox { earliest, latest } = asked.window;
    let (width, mode) = (asked.width, asked.mode);
    let question = format!(
        "picture?t0={earliest}&t1={latest}&w={width}&timelines={}&mode={mode}&hide={}&arrows=all&max=1000000",
        asked.timelines,
        hide.join(",")
    );
    let answer = viewer.answer(&question, &|| false).unwrap();
    assert!(answer.exact);
    let frame = DecodedFrame::read(&answer.body).unwrap();
    let query = ApiQuery::parse(&question).unwrap();
    let layout = viewer.layout(&query, &|| false).unwrap();
    let trace = viewer.trace();
    let reader = trace.reader();
    let all = All::of(reader);
    let hidden = |kind: usize| asked.hide.contains(&kind);
    let kind_of = |category: i32| {
        let mut own = reader.categories().iter().filter(|c| c.index >= 0);
        own.position(|c| c.index == category).unwrap()
    };
    let place = |line: i32| {
        let number = trace.line(line).unwrap();
        (layout.timeline(number), trace.lines()[number as usize].lane)
    };
    let takes_part = |start: f64, end: f64| match start == end {
        true => earliest <= start && end <= latest,
        false => start < latest && earliest < end,
    };
    let at = |time: f64| {
        let end = width as i64 * COLUMN;
        let place = ((time - earliest) * (end as f64 / (latest - earliest))).round() as i64;
        place.clamp(0, end)
    };
    // By timeline and lane the states in order.
    let mut units: BTreeMap<(u32, u32), Vec<State>> = BTreeMap::new();
    for (number, line) in trace.lines().iter().enumerate() {
        if let Some(timeline) = layout.timeline(number as u32) {
            units.entry((timeline, line.lane)).or_default();
        }
    }
    for state in &all.states {
        let seen = takes_part(state.start, state.end) && !hidden(kind_of(state.category));
        if let ((Some(timeline), lane), true) = (place(state.line), seen) {
            units.entry((timeline, lane)).or_default().push(*state);
        }
    }
    let timelines = layout.timelines.len();
    let cells = timelines * width;
    let [category, busy, share1] = [1, 2, 10].map(|id| frame.numbers(id));
    let others = [6, 7, 8, 9].map(|id| frame.numbers(id));
    let deviation = match frame.numbers(3) {
        none if none.is_empty() => vec![0; cells],
        some => some,
    };
    let heat = mode
        .strip_prefix("heat:")
        .map(|kind| kind.parse::<usize>().unwrap());
    for timeline in 0..timelines {
        let of_timeline: Vec<_> = units
            .range((timeline as u32, 0)..(timeline as u32 + 1, 0))
            .collect();
        let shown: Vec<Vec<_>> = of_timeline
            .iter()
            .map(|(_, unit)| stretches(unit))
            .collect();
        for column in 0..width {
            let (sums, by_unit) =
                sums_of_column(&shown, column, width, &at, &takes_part, &kind_of, heat);
            let cell = timeline * width + column;
            let place = format!("timeline {timeline} column {column} of {asked:?}: {sums:?}");
            let whole = COLUMN * of_timeline.len() as i64;
            let mut order: Vec<(usize, i64)> = sums.iter().map(|(&k, &v)| (k, v)).collect();
            match mode {
                "rare" => order.sort_by_key(|&(kind, much)| (much, kind)),
                _ => order.sort_by_key(|&(kind, much)| (-much, kind)),
            }
            if let Some(wanted) = heat {
                order.retain(|part| part.0 == wanted);
            }
            let total: i64 = order.iter().map(|part| part.1).sum();
            match order.first() {
                None => assert_eq!((category[cell], busy[cell]), (0, 0), "{place}"),
                Some(first) => {
                    assert_eq!(category[cell], first.0 as u32 + 1, "{place}");
                    assert_eq!(busy[cell], byte(total, whole), "{place}");
                }
            }
            if mode == "stack" {
                let kind = |nth: usize| order.get(nth).map_or(0, |part| part.0 as u32 + 1);
                let share = |nth: usize| order.get(nth).map_or(0, |part| byte(part.1, whole));
                assert_eq!(share1[cell], share(0), "{place}");
                let found = [0, 1, 2, 3].map(|nth: usize| others[nth][cell]);
                assert_eq!(found, [kind(1), share(1), kind(2), share(2)], "{place}");
            }
            let ends = by_unit.iter().max().zip(by_unit.iter().min());
            let difference = ends.map_or(0, |(most, least)| most - least);
            let expected = match of_timeline.len() > 1 && difference > 0 {
                true => byte(difference, COLUMN),
                false => 0,
            };
            assert_eq!(deviation[cell], expected, "{place}");
        }
    }
    check_objects(
        &frame,
        &all,
        &units,
        asked,
        &place,
        &|category| !asked.hide.is_empty() && hidden(kind_of(category)),
        width,
        timelines,
    );
}

/// By kind how much of a column is taken, in all units together, and how much each unit has of what is shown as busy.
fn sums_of_column(
    shown: &[Vec<(State, f64, f64)>],
    column: usize,
    width: usize,
    at: &dyn Fn(f64) -> i64,
    takes_part: &dyn Fn(f64, f64) -> bool,
    kind_of: &dyn Fn(i32) -> usize,
    heat: Option<usize>,
) -> (BTreeMap<usize, i64>, Vec<i64>) {
    let (left, right) = (column as i64 * COLUMN, (column as i64 + 1) * COLUMN);
    let mut sums: BTreeMap<usize, i64> = BTreeMap::new();
    let mut by_unit = Vec::new();
    for unit in shown {
        let mut of_unit = 0;
        for &(state, from, to) in unit.iter().filter(|s| takes_part(s.1, s.2)) {
            let (a, b) = (at(from), at(to));
            let part = b.min(right) - a.max(left);
            let only = a.min(width as i64 * COLUMN - 1);
            let is_point = a == b && left <= only && only < right;
            if part > 0 || is_point {
                let kind = kind_of(state.category);
                *sums.entry(kind).or_default() += part.max(0);
                if heat.is_none_or(|wanted| wanted == kind) {
                    of_unit += part.max(0);
                }
            }
        }
        by_unit.push(of_unit);
    }
    (sums, by_unit)
}

/// Compares what is given one by one.
#[allow(clippy::too_many_arguments)]
fn check_objects(
    frame: &DecodedFrame,
    all: &All,
    units: &BTreeMap<(u32, u32), Vec<State>>,
    asked: &Asked,
    place: &dyn Fn(i32) -> (Option<u32>, u32),
    hidden: &dyn Fn(i32) -> bool,
    width: usize,
    timelines: usize,
) {
    let TimeBBox { earliest, latest } = asked.window;
    let length = latest - earliest;
    let mut expected = Vec::new();
    for ((timeline, _), unit) in units {
        for (nth, state) in unit.iter().enumerate() {
            let (start, end) = (
                state.start.max(earliest - length),
                state.end.min(latest + length),
            );
            let depth = unit[..nth]
                .iter()
                .filter(|below| below.end > state.start)
                .count();
            expected.push((
                (start - earliest) as f32,
                (end - start) as f32,
                *timeline,
                depth as u32,
            ));
        }
    }
    let (timelines_of, depths) = (frame.numbers(22), frame.numbers(24));
    let found = frame
        .reals(20)
        .into_iter()
        .zip(frame.reals(21))
        .zip(timelines_of.into_iter().zip(depths));
    let found: Vec<_> = found
        .map(|((start, length), (timeline, depth))| (start, length, timeline, depth))
        .collect();
    assert_eq!(found, expected, "{asked:?}");
    let inside = |time: f64| earliest <= time && time <= latest;
    // Category 7 of the random traces is their only kind of events.
    let is_seen = |line: i32, time: f64| inside(time) && place(line).0.is_some() && !hidden(7);
    let events: Vec<_> = all.events.iter().filter(|e| is_seen(e.0, e.1)).collect();
    let mut times: Vec<f32> = events.iter().map(|e| (e.1 - earliest) as f32).collect();
    let mut found = frame.reals(30);
    times.sort_by(f32::total_cmp);
    found.sort_by(f32::total_cmp);
    assert_eq!(found, times);
    let mut counts = vec![0u32; timelines * width];
    for &&(line, time) in &events {
        // A time at a border of columns, but for its last digits, is after the border.
        let parts = (time - earliest) * (width as f64 / length) * COLUMN as f64;
        let column = (parts.round() / COLUMN as f64) as usize;
        counts[place(line).0.unwrap() as usize * width + column.min(width - 1)] += 1;
    }
    let levels: Vec<u32> = counts
        .iter()
        .map(|&n| if n == 0 { 0 } else { 1 + n.ilog2() })
        .collect();
    match frame.section(4) {
        Some(_) => assert_eq!(frame.numbers(4), levels),
        None => assert!(events.is_empty()),
    }
    let seen = |a: &&(i32, f64, i32, f64)| {
        let timelines = [place(a.0).0, place(a.2).0];
        a.1.min(a.3) <= latest
            && a.1.max(a.3) >= earliest
            && !timelines.contains(&None)
            && !hidden(6)
    };
    let mut arrows: Vec<_> = all
        .arrows
        .iter()
        .filter(seen)
        .map(|a| (a.1 - earliest) as f32)
        .collect();
    let mut found = frame.reals(40);
    arrows.sort_by(f32::total_cmp);
    found.sort_by(f32::total_cmp);
    assert_eq!(found, arrows);
}

/// States nested as calls are, or across each other, some without length, at times with three decimals.
fn lines() -> impl Strategy<Value = Vec<Vec<(u32, u32, i32)>>> {
    let length = prop_oneof![1 => Just(0u32), 6 => 0..300u32, 3 => 0..5000u32];
    let state = (0..6000u32, length, 0..6i32);
    prop::collection::vec(prop::collection::vec(state, 0..40), 1..5)
}

type Random = Vec<(i32, Vec<Vertex>, Vec<u8>)>;

fn drawables(
    lines: &[Vec<(u32, u32, i32)>],
    arrows: &[(u32, u32, usize, usize)],
    events: &[(u32, usize)],
) -> Random {
    let time = |ms: u32| f64::from(ms) * 1e-3;
    let mut drawables: Random = Vec::new();
    for (line, states) in lines.iter().enumerate() {
        let states = states.iter().map(|&(start, length, kind)| -> Simple {
            (line as i32, kind, time(start), time(start + length))
        });
        drawables.extend(states.map(|(line, kind, start, end)| {
            let vertices = [start, end].map(|time| Vertex { time, line });
            (kind, vertices.to_vec(), Vec::new())
        }));
    }
    let line = |line: usize| (line % lines.len()) as i32;
    for &(from, to, a, b) in arrows {
        let ends = [(from, line(a)), (to, line(b))];
        let ends = ends.map(|(ms, line)| Vertex {
            time: time(ms),
            line,
        });
        drawables.push((6, ends.to_vec(), Vec::new()));
    }
    for &(at, of) in events {
        let vertex = Vertex {
            time: time(at),
            line: line(of),
        };
        drawables.push((7, vec![vertex], Vec::new()));
    }
    drawables
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn pictures_are_what_a_painter_says(
        lines in lines(),
        arrows in prop::collection::vec((0..9000u32, 0..9000u32, 0..5usize, 0..5usize), 0..20),
        events in prop::collection::vec((0..9000u32, 0..5usize), 0..40),
        part in (0u32..9000, 1u32..9000),
        width in 1usize..50,
        timelines in prop::sample::select(vec!["", "block:2", "hide:0", "sort:-label", "pin:1;block:9"]),
        mode in prop::sample::select(vec!["dominant", "rare", "stack", "heat:1"]),
        hide in prop::collection::vec(0usize..8, 0..3),
    ) {
        let mut drawables = drawables(&lines, &arrows, &events);
        prop_assume!(!drawables.is_empty());
        let file = file(&categories(), lines.len() as i32, &mut drawables);
        let window = TimeBBox {
            earliest: f64::from(part.0) * 1e-3,
            latest: f64::from(part.0 + part.1) * 1e-3,
        };
        check(&file, &Asked { window, width, timelines, mode, hide: hide.clone() });
        let whole = TimeBBox { earliest: 0.0, latest: 12.0 };
        check(&file, &Asked { window: whole, width, timelines, mode, hide });
    }
}

/// A state without length at the very end of the window is in the last column, beside the state that fills it.
#[test]
fn an_instant_at_the_end_of_the_window() {
    let lines = [vec![(3667, 1146, 1), (4813, 0, 1), (4813, 0, 2)]];
    let file = file(&categories(), 1, &mut drawables(&lines, &[], &[]));
    let window = TimeBBox {
        earliest: 2.174,
        latest: 4.813,
    };
    for mode in ["dominant", "rare", "stack", "heat:1"] {
        for (width, timelines) in [(1, ""), (41, ""), (41, "hide:0")] {
            let hide = Vec::new();
            check(
                &file,
                &Asked {
                    window,
                    width,
                    timelines,
                    mode,
                    hide,
                },
            );
        }
    }
}

/// The files that the original wrote.
#[test]
fn pictures_of_the_original_files() {
    let files = test_support::golden::contents("mpe", ".slog2");
    for (nth, (_, file)) in files.into_iter().enumerate() {
        let reader = Slog2Reader::new(&file).unwrap();
        let Some(root) = reader.root() else {
            continue;
        };
        let TimeBBox { earliest, latest } = root.bounds;
        let at = |part: f64| earliest + (latest - earliest) * part;
        let windows = [
            (earliest, latest),
            (at(0.4), at(0.45)),
            (at(0.499), at(0.5)),
        ];
        let timelines = ["", "map:1", "map:1;fold:0", "block:3"][nth % 4];
        let mode = ["dominant", "rare", "stack"][nth % 3];
        for (earliest, latest) in windows {
            let window = TimeBBox { earliest, latest };
            check(
                &file,
                &Asked {
                    window,
                    width: 137,
                    timelines,
                    mode,
                    hide: Vec::new(),
                },
            );
        }
    }
}
