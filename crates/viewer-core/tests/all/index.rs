//! The index against statistics of the whole file, and pictures of it against those that are read from the tree.

use crate::common::{file, of_states};
use analysis::stats::{StatisticsCollector, StatisticsOptions};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use trace_formats::slog2::{self, Category, Color, Slog2Source, TimeBBox, Topology, Vertex};
use trace_model::Source as _;
use viewer_core::index::{IndexBuilder, IndexIdentity, IndexShape, OverviewIndex};
use viewer_core::picture::frame::DecodedFrame;
use viewer_core::trace::OpenTrace;
use viewer_core::{AnswerLimits, Viewer};

fn build(trace: &OpenTrace<'_>, window: TimeBBox, bins: u32, step: u64) -> OverviewIndex<'static> {
    let shape = IndexShape {
        window,
        bins,
        totals: true,
    };
    let mut builder = IndexBuilder::new(trace, shape).unwrap();
    while builder.step(step).unwrap() {}
    assert_eq!(builder.done().bytes, builder.done().of_bytes);
    builder.finish()
}

/// The totals of the index equal those of `mpitrace stats`.
fn check_totals(bytes: &[u8], step: u64) {
    let trace = OpenTrace::new(bytes).unwrap();
    let index = build(&trace, trace.bounds(), 64, step);
    let totals = index.totals().unwrap();
    let source = Slog2Source::new(bytes).unwrap();
    let mut collector =
        StatisticsCollector::new(source.definitions(), StatisticsOptions::default());
    source
        .for_each(&mut |drawable| {
            collector.put(drawable);
            Ok(())
        })
        .unwrap();
    let expected = collector.finish();
    assert_eq!(totals.drawables, expected.drawables);
    assert_eq!((totals.placeless, totals.out_of_order), (0, 0));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    let mut found = 0;
    for category in &expected.categories {
        let kind = trace.kind(category.index).unwrap();
        let of = &totals.kinds[kind as usize];
        let (sum, tally) = (of.sum, category.tally);
        assert_eq!(sum.count, tally.count);
        assert!(near(sum.inclusive, tally.total), "{sum:?} {tally:?}");
        assert!(near(sum.exclusive, tally.exclusive), "{sum:?} {tally:?}");
        assert_eq!((sum.min, sum.max), (tally.min, tally.max));
        if category.topology != Topology::Event {
            assert_eq!(of.durations.iter().sum::<u64>(), tally.count);
            let first = of.longest.first().unwrap();
            assert_eq!(first.duration, tally.max);
            assert!(of.longest.is_sorted_by(|a, b| a.duration >= b.duration));
            assert_eq!(of.longest.len() as u64, tally.count.min(100));
        }
        found += sum.count;
    }
    assert_eq!(found, expected.drawables);
    let by_line = totals.lines.iter().flat_map(|line| &line.kinds);
    assert_eq!(by_line.map(|entry| entry.1.count).sum::<u64>(), found);
    let flows = totals.messages.flows.iter().map(|flow| flow.volume.count);
    assert_eq!(flows.sum::<u64>(), expected.messages.all.count);
    assert_eq!(totals.messages.backward, expected.messages.backward);
}

/// With bins as columns, a picture from the index equals that from the tree.
fn check_picture(bytes: &[u8], width: usize, bins: u32, mode: &str, timelines: &str) {
    let question = format!("picture?w={width}&mode={mode}&timelines={timelines}&max=0");
    let exact = Viewer::new("x", bytes, AnswerLimits::default()).unwrap();
    let expected = exact.answer(&question, &|| false).unwrap();
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let indexed = Viewer::new("x", bytes, limits).unwrap();
    let index = build(indexed.trace(), indexed.trace().bounds(), bins, 7);
    let has_events = index.events().is_some();
    indexed.set_index(index);
    let found = indexed.answer(&question, &|| false).unwrap();
    assert_eq!(found.exact, !has_events);
    let [found, expected] = [&found, &expected].map(|a| DecodedFrame::read(&a.body).unwrap());
    assert_eq!(found.header.flags & 16, 16);
    assert_eq!(expected.header.flags & 17, 1);
    let kinds = [&found, &expected].map(|f| f.numbers(1));
    let busy = [&found, &expected].map(|f| f.numbers(2));
    // As many bins as columns: the sums are the same but for the last byte; two kinds of nearly the same share may swap.
    for cell in 0..kinds[0].len() {
        assert_eq!(kinds[0][cell] == 0, kinds[1][cell] == 0, "cell {cell}");
        let difference = f64::from(busy[0][cell]) - f64::from(busy[1][cell]);
        let one_kind = kinds[0][cell] == kinds[1][cell];
        if mode != "rare" && one_kind {
            assert!(difference.abs() <= 5.0, "cell {cell}: {difference}");
        }
    }
    let same = (0..kinds[0].len()).filter(|&cell| kinds[0][cell] == kinds[1][cell]);
    assert!(same.count() * 20 >= kinds[0].len() * 19, "{kinds:?}");
}

/// A written index is read for its trace and for no other; damage is never worse than a wrong picture.
#[test]
fn as_bytes() {
    let states = [
        (0, 0, 0.0, 9.0),
        (0, 1, 1.0, 2.0),
        (1, 2, 0.5, 0.5),
        (3, 5, 3.0, 8.0),
    ];
    let bytes = of_states(4, &states);
    let trace = OpenTrace::new(&bytes).unwrap();
    let index = build(&trace, trace.bounds(), 64, 5);
    let identity = IndexIdentity::new(&trace, bytes.len() as u64, 7);
    let kept = index.encode(identity);
    let found = OverviewIndex::decode(&kept, identity, &trace).unwrap();
    assert_eq!(found, index);
    assert_eq!(found.into_owned(), index);
    let later = IndexIdentity {
        changed: 8,
        ..identity
    };
    assert!(OverviewIndex::decode(&kept, later, &trace).is_none());
    let other = of_states(4, &states[1..]);
    let other = OpenTrace::new(&other).unwrap();
    assert_ne!(IndexIdentity::new(&other, bytes.len() as u64, 7), identity);
    for end in 0..kept.len() {
        assert!(OverviewIndex::decode(&kept[..end], identity, &trace).is_none());
    }
    for at in (0..kept.len()).step_by(17) {
        let mut damaged = kept.clone();
        damaged[at] ^= 0xff;
        let Some(found) = OverviewIndex::decode(&damaged, identity, &trace) else {
            continue;
        };
        let viewer = Viewer::new(
            "x",
            &bytes,
            AnswerLimits {
                tree_bytes: 0,
                ..AnswerLimits::default()
            },
        );
        let viewer = viewer.unwrap();
        viewer.set_index(found.into_owned());
        for question in [
            "picture?w=40",
            "picture?w=99&timelines=block:2&mode=stack",
            "overview?bins=9",
        ] {
            let _ = viewer.answer(question, &|| false);
        }
    }
}

#[test]
fn of_the_original_s_sample() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-formats/tests/data/slog2/sample.slog2"
    );
    let bytes = std::fs::read(data).unwrap();
    check_totals(&bytes, 3);
    for (width, bins) in [(64, 64), (16, 64), (64, 1024)] {
        check_picture(&bytes, width, bins, "dominant", "");
        check_picture(&bytes, width, bins, "dominant", "block:2");
    }
}

/// Cells first and what they add up to in another pass is the same as all at once.
#[test]
fn totals_may_come_later() {
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../trace-formats/tests/data/slog2/sample.slog2"
    );
    let bytes = std::fs::read(data).unwrap();
    let trace = OpenTrace::new(&bytes).unwrap();
    let pass = |bins, totals| {
        let window = trace.bounds();
        let shape = IndexShape {
            window,
            bins,
            totals,
        };
        let mut builder = IndexBuilder::new(&trace, shape).unwrap();
        while builder.step(11).unwrap() {}
        builder.finish()
    };
    let index = pass(256, false);
    assert_eq!(index.totals(), None);
    let whole = pass(256, true);
    assert!(
        whole
            .totals()
            .is_some_and(|totals| totals.messages.flows.len() > 1)
    );
    index.set_totals(pass(1, true).into_totals().unwrap());
    assert_eq!(index, whole);
}

/// So much that it is drawn in parts, and so many kinds that their names are wide.
#[test]
fn large_ones() {
    let kinds = (0..300).map(|kind| {
        let name = format!("kind {kind}");
        let color = Color::rgb(kind as u32);
        Category::new(kind, name.as_str().into(), Topology::State, color)
    });
    let kinds: Vec<Category> = kinds.collect();
    let at = |time: f64, line| Vertex { time, line };
    let mut drawables = Vec::new();
    for step in 0..4000 {
        let (line, start) = (step * 7 % 100, f64::from(step / 50));
        let ends = vec![at(start, line), at(start + 1.5, line)];
        drawables.push((step * 13 % 300, ends, Vec::new()));
    }
    let bytes = file(&kinds, 100, &mut drawables);
    for timelines in ["", "block:16", "pin:3;block:30"] {
        check_picture(&bytes, 8192, 8192, "dominant", timelines);
        check_picture(&bytes, 4096, 8192, "dominant", timelines);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn of_random_states(
        states in prop::collection::vec((0..4i32, 0..6i32, 0..1000u32, 0..200u32), 1..200),
        step in 1..50u64,
    ) {
        let states: Vec<_> = states
            .into_iter()
            .map(|(line, kind, start, length)| {
                let start = f64::from(start) / 16.0;
                (line, kind, start, start + f64::from(length) / 16.0)
            })
            .collect();
        let bytes = of_states(4, &states);
        check_totals(&bytes, step);
        check_picture(&bytes, 64, 64, "dominant", "");
        check_picture(&bytes, 32, 64, "dominant", "block:2");
    }
}

/// States of categories that nothing defines are in order, too, however many a node has.
#[test]
fn of_categories_without_definition() {
    let mut builder = slog2::TreeBuilder::new(
        std::io::Cursor::new(Vec::new()),
        slog2::TreeOptions::default(),
    )
    .unwrap();
    // On one of four lines each: a hundred in each long one, which stands further up in the tree.
    let mut add = |nth: u32, start: f64, end: f64| {
        let vertices = [start, end].map(|time| Vertex {
            time,
            line: (nth / 101 % 4) as i32,
        });
        let drawable = slog2::NewDrawable {
            topology: Topology::State,
            category: 1,
            info: &[],
            vertices: &vertices,
        };
        builder.add(&drawable).unwrap();
    };
    let count = 3000 * 101;
    for nth in 0..count {
        let time = f64::from(nth);
        match nth % 101 {
            100 => add(nth, time - 100.5, time),
            _ => add(nth, time, time + 0.5),
        }
    }
    let tree = builder.close().unwrap();
    let map = slog2::LineIdMap::identity(tree.lines());
    let (out, _) = tree.finish(&[], &[map]).unwrap();
    let bytes = out.into_inner();
    let trace = OpenTrace::new(&bytes).unwrap();
    let index = build(&trace, trace.bounds(), 64, 1000);
    let totals = index.totals().unwrap();
    assert_eq!((totals.drawables, totals.out_of_order), (count.into(), 0));
    let exclusive: f64 = totals.kinds.iter().map(|kind| kind.sum.exclusive).sum();
    assert_eq!(exclusive, f64::from(count / 101) * 100.5);
}

/// What every rank does for a hundredth of the time hides nothing, however many share a timeline.
#[test]
fn a_little_of_all_is_not_rare() {
    let lines = 1280;
    let mut states = Vec::new();
    for line in 0..lines {
        states.push((line, 0, 0.0, 0.97));
        states.push((line, 1, 0.97, 0.98));
        states.push((line, 0, 0.99, 10.0));
    }
    let bytes = of_states(lines, &states);
    let viewer = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    let question = "picture?w=10&mode=dominant&max=0&timelines=block:640";
    let answer = viewer.answer(question, &|| false).unwrap();
    let frame = DecodedFrame::read(&answer.body).unwrap();
    assert_eq!(frame.numbers(1), vec![1; 20]);
    assert_eq!(frame.numbers(2)[0], 252);
}

/// What one of a thousand ranks does, or does not do, is seen although it shares a timeline with 31 others; what many do hides nothing.
#[test]
fn the_one_that_differs_is_seen_among_many() {
    const LINES: i32 = 1280;
    const BLOCK: usize = 32;
    let [late, alone, mixed] = [777, 300, 1000];
    let mut states = Vec::new();
    for line in 0..LINES {
        states.push((line, 0, 0.0, 1.0));
        if line != late {
            states.push((line, 0, 1.0, 2.0));
        }
        if line == alone {
            states.push((line, 2, 3.0, 4.0));
        }
        // Half of all are in something, and one of them in something else.
        if line % 2 == 0 {
            let kind = if line == mixed { 3 } else { 1 };
            states.push((line, kind, 5.0, 6.0));
        }
        states.push((line, 0, 9.0, 10.0));
    }
    let bytes = of_states(LINES, &states);
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let indexed = Viewer::new("x", &bytes, limits).unwrap();
    indexed.set_index(build(indexed.trace(), indexed.trace().bounds(), 10, 7));
    let exact = Viewer::new("x", &bytes, AnswerLimits::default()).unwrap();
    for viewer in [&exact, &indexed] {
        let cells = |mode: &str| {
            let question = format!("picture?w=10&mode={mode}&max=0&timelines=block:{BLOCK}");
            let answer = viewer.answer(&question, &|| false).unwrap();
            let frame = DecodedFrame::read(&answer.body).unwrap();
            assert_eq!(frame.header.timelines as usize, LINES as usize / BLOCK);
            [frame.numbers(1), frame.numbers(2)]
        };
        let [kinds, busy] = cells("dominant");
        let cell = |line: i32, column: usize| (line as usize / BLOCK) * 10 + column;
        let at = |line: i32, column: usize| (kinds[cell(line, column)], busy[cell(line, column)]);
        for line in (0..LINES).step_by(BLOCK) {
            let is_of = |other: i32| line == other - other % BLOCK as i32;
            assert_eq!(at(line, 0), (1, 255), "{line}");
            let waiting = if is_of(late) { (0, 0) } else { (1, 255) };
            assert_eq!(at(line, 1), waiting, "{line}");
            let writing = if is_of(alone) { (3, 255) } else { (0, 0) };
            assert_eq!(at(line, 3), writing, "{line}");
            let half = if is_of(mixed) { (4, 255) } else { (2, 128) };
            let (kind, share) = at(line, 5);
            assert_eq!(kind, half.0, "{line}");
            assert!(share.abs_diff(half.1) <= 1, "{line}: {share}");
        }
        // Who asks for shares gets shares.
        let [kinds, busy] = cells("stack");
        assert_eq!(kinds[cell(late, 1)], 1);
        assert!(busy[cell(late, 1)].abs_diff(247) <= 1);
    }
}

/// However early time is up, what every line does for nearly half of the time is in the picture that the index makes.
#[test]
fn a_picture_is_not_blank_when_time_is_up() {
    const LINES: i32 = 200;
    let states: Vec<_> = (0..LINES)
        .flat_map(|line| [(line, 0, 0.0, 4.5), (line, 1, 5.5, 10.0)])
        .collect();
    let bytes = of_states(LINES, &states);
    let limits = AnswerLimits {
        tree_bytes: 0,
        ..AnswerLimits::default()
    };
    let indexed = Viewer::new("x", &bytes, limits).unwrap();
    indexed.set_index(build(indexed.trace(), indexed.trace().bounds(), 1024, 7));
    let in_time = indexed.answer("picture?w=512&max=0", &|| false).unwrap();
    assert!(in_time.exact);
    let mut cut = 0;
    for looks in (0..LINES as usize).step_by(9) {
        let looked = AtomicUsize::new(0);
        let is_over = || looked.fetch_add(1, Ordering::Relaxed) >= looks;
        let Ok(answer) = indexed.answer("picture?w=512&max=0", &is_over) else {
            continue;
        };
        let frame = DecodedFrame::read(&answer.body).unwrap();
        cut += usize::from(frame.header.flags & 2 == 2);
        let (kinds, busy) = (frame.numbers(1), frame.numbers(2));
        for line in 0..LINES as usize {
            for (column, kind) in [(100, 1), (400, 2)] {
                let cell = line * 512 + column;
                assert_eq!((kinds[cell], busy[cell]), (kind, 255), "{looks}: {line}");
            }
        }
    }
    assert!(cut > 10, "{cut}");
}
