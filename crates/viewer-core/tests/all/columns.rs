//! Every column of pixels of every band shows the category that takes most of its time, found by going through all states
//! for each column.

use crate::common::{Simple, content, of_states};
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace_formats::slog2::TimeBBox;
use viewer_core::{PictureLayout, PictureStyle, PictureTimeline, SpanFill, WindowContent};

/// States that are nested as calls are, from steps: how long until the next, and what begins there or 6 for the end of the
/// innermost one.
fn nested(line: i32, steps: &[(u32, i32)]) -> Vec<Simple> {
    let mut now = 0.0;
    let mut open: Vec<(i32, f64)> = Vec::new();
    let mut states = Vec::new();
    for &(wait, what) in steps {
        now += f64::from(wait) * 1e-6;
        match what {
            // No deeper than there are bands.
            0..6 if open.len() < 8 => open.push((what, now)),
            _ => states.extend(open.pop().map(|(kind, start)| (line, kind, start, now))),
        }
    }
    let rest = open.into_iter().rev().enumerate();
    states.extend(
        rest.map(|(nth, (kind, start))| (line, kind, start, now + 1e-6 * (nth + 1) as f64)),
    );
    states
}

/// On how many others a state lies: those that contain it. Of equal ones the lower category is below.
fn depth(states: &[Simple], nth: usize) -> usize {
    let (line, kind, start, end) = states[nth];
    let contains = |&(at, &(l, k, s, e)): &(usize, &Simple)| {
        let longer = s < start || e > end;
        let older = (k, at) < (kind, nth) && start < end;
        l == line && s <= start && e >= end && e > start && (longer || older)
    };
    states
        .iter()
        .enumerate()
        .filter(|&(at, _)| at != nth)
        .filter(contains)
        .count()
}

fn shown(
    content: &WindowContent,
    timeline: &PictureTimeline,
    depth: usize,
    column: u32,
) -> Option<i32> {
    let spans = &timeline.strips.get(depth)?.band.spans;
    let span = spans
        .iter()
        .find(|span| (span.from..span.to).contains(&column))?;
    let kind = match span.fill {
        SpanFill::DrawnState(nth) => content.states[nth].kind,
        SpanFill::Cells { kind, .. } => kind,
        SpanFill::DrawnPreview(_) => panic!("nothing was previewed"),
    };
    Some(content.kinds[kind as usize].category.index)
}

/// Compares each column of a picture with what all states say of it.
fn check(states: &[Simple], content: &WindowContent, picture: &PictureLayout<'_>) {
    let depths: Vec<usize> = (0..states.len()).map(|nth| depth(states, nth)).collect();
    let columns = picture.plot[2] as u32;
    let window = content.window;
    let width = window.duration() / f64::from(columns);
    for timeline in &picture.timelines {
        for level in 0..8 {
            for column in 0..columns {
                let left = window.earliest + f64::from(column) * width;
                let right = left + width;
                let mut times: BTreeMap<i32, f64> = BTreeMap::new();
                let mut near = false;
                for (&(line, kind, start, end), &depth) in states.iter().zip(&depths) {
                    if !timeline.timelines.contains(&(line as u32)) || depth != level {
                        continue;
                    }
                    let tolerance = width * 1e-6;
                    // A state that ends where the column begins may be in it or not by the last bit.
                    near |= (start - right).abs() < tolerance || (end - left).abs() < tolerance;
                    if start < right - tolerance && end > left + tolerance {
                        *times.entry(kind).or_default() += end.min(right) - start.max(left);
                    }
                }
                let found = shown(content, timeline, level, column);
                let most = times.values().copied().fold(0.0, f64::max);
                match found {
                    None => assert!(times.is_empty(), "{level} {column}: {times:?} is lost"),
                    Some(_) if times.is_empty() => assert!(near, "{level} {column} {found:?}"),
                    Some(kind) => {
                        let time = times.get(&kind).copied().unwrap_or(0.0);
                        let enough = time >= most - width * 1e-5;
                        assert!(enough, "{level} {column}: {found:?} of {times:?}");
                    }
                }
            }
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<(u32, i32)>> {
    let wait = prop_oneof![4 => 0..20u32, 2 => 0..1000u32, 1 => 0..30_000u32];
    prop::collection::vec((wait, 0..11i32), 2..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn columns_show_what_takes_most_of_their_time(
        timelines in prop::collection::vec(steps(), 1..4),
        part in (0.0..0.9f64, 0.0..1.0f64),
        zoomed: bool,
    ) {
        let states = timelines.iter().enumerate().flat_map(|(line, steps)| nested(line as i32, steps));
        let states: Vec<Simple> = states.filter(|s| s.3 > s.2).collect();
        prop_assume!(!states.is_empty());
        let file = of_states(timelines.len() as i32, &states);
        let all = content(&file, None).window;
        let from = all.earliest + all.duration() * part.0;
        let window = TimeBBox { earliest: from, latest: from + (all.latest - from) * part.1.max(0.01) };
        let content = content(&file, zoomed.then_some(window));
        let look = PictureStyle { width: 400, ..PictureStyle::default() };
        let picture = PictureLayout::new(&content, &look);
        check(&states, &content, &picture);
    }

    #[test]
    fn timelines_that_are_drawn_as_one_show_what_takes_most_of_their_time(
        timelines in prop::collection::vec(steps(), 3..12),
    ) {
        // As many timelines as there is no room for.
        let lines = 60;
        let states = (0..lines).flat_map(|line| nested(line, &timelines[line as usize % timelines.len()]));
        let states: Vec<Simple> = states.filter(|s| s.3 > s.2).collect();
        prop_assume!(!states.is_empty());
        let file = of_states(lines, &states);
        let content = content(&file, None);
        let look = PictureStyle { width: 400, height: Some(200), ..PictureStyle::default() };
        let picture = PictureLayout::new(&content, &look);
        prop_assert!(picture.timelines.len() < 60);
        check(&states, &content, &picture);
    }
}

#[test]
fn a_state_without_length_is_not_lost() {
    let file = of_states(1, &[(0, 0, 0.0, 0.0), (0, 1, 0.5, 0.5), (0, 2, 1.0, 1.0)]);
    let content = content(&file, None);
    let picture = PictureLayout::new(&content, &PictureStyle::default());
    let columns = picture.plot[2] as u32;
    let timeline = &picture.timelines[0];
    let there: Vec<_> = (0..columns)
        .filter_map(|c| Some((c, shown(&content, timeline, 0, c)?)))
        .collect();
    assert_eq!(there, [(0, 0), (columns / 2, 1), (columns - 1, 2)]);
}
