//! Random traces: whatever is put in, the rules of the format hold, and what was put in is there.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trace_model::{Category, Topology};

use super::timeline::timeline;
use super::{OwnedDrawable, category, definitions, trace};

/// Start and duration in quarters of a second, so that many are equal; line of each end.
type Span = (u8, i8, u8, u8, u8);

fn drawables(spans: &[Span]) -> Vec<OwnedDrawable> {
    let mut drawables: Vec<OwnedDrawable> = spans
        .iter()
        .map(|&(kind, length, start, from, to)| {
            let start = f64::from(start) / 4.0;
            let (from, to) = (i32::from(from), i32::from(to));
            match kind % 4 {
                0 => OwnedDrawable::new(Topology::Event, 1, &[], &[(start, from)]),
                1 => {
                    let end = start + f64::from(length) / 4.0;
                    let info = [0, 0, 0, 1, 0, 0, 0, 8];
                    OwnedDrawable::new(Topology::Arrow, 0, &info, &[(start, from), (end, to)])
                }
                _ => {
                    let end = start + f64::from(length.unsigned_abs()) / 4.0;
                    OwnedDrawable::new(Topology::State, 2, &[], &[(start, from), (end, from)])
                }
            }
        })
        .collect();
    let start = |drawable: &OwnedDrawable| {
        let times = drawable.vertices.iter().map(|vertex| vertex.time);
        times.fold(f64::INFINITY, f64::min)
    };
    let end = |drawable: &OwnedDrawable| {
        let times = drawable.vertices.iter().map(|vertex| vertex.time);
        times.fold(f64::NEG_INFINITY, f64::max)
    };
    drawables.sort_by(|a, b| {
        let starts = start(a).total_cmp(&start(b));
        starts.then(end(b).total_cmp(&end(a)))
    });
    drawables
}

fn categories() -> Vec<Category> {
    vec![
        Category::message(),
        category(1, "mark", Topology::Event, ""),
        category(2, "work", Topology::State, ""),
    ]
}

proptest! {
    #[test]
    fn slices_are_the_states_and_flows_the_arrows(
        spans in proptest::collection::vec((0u8..8, -3i8..6, 0u8..24, 0u8..3, 0u8..3), 0..80),
    ) {
        let places = [(0, 0), (0, 1), (1, 0)];
        let definitions = definitions(categories(), &places);
        let drawables = drawables(&spans);
        let (bytes, losses) = trace(&definitions, &drawables);
        let timeline = timeline(&bytes);
        // The earliest time is that of the first drawable.
        let bounds = drawables.first().map(|first| first.borrowed().bounds().earliest);
        let shift = bounds.map_or(0.0, |earliest| (-earliest).max(0.0));
        let ns = |seconds: f64| ((seconds + shift) * 1e9).round() as u64;

        type States = BTreeMap<(String, u64, u64), u32>;
        let (mut expected, mut found) = (States::new(), States::new());
        for state in drawables.iter().filter(|d| d.topology == Topology::State) {
            let (rank, thread) = places[state.vertices[0].line as usize];
            let place = format!("rank {rank} thread {thread}");
            let key = (place, ns(state.vertices[0].time), ns(state.vertices[1].time));
            *expected.entry(key).or_default() += 1;
        }
        for slice in timeline.slices.iter().filter(|slice| slice.name == "work") {
            let own = slice.track.split(" overlap").next().unwrap_or_default();
            let key = (format!("{} {own}", slice.process), slice.start, slice.end);
            *found.entry(key).or_default() += 1;
        }
        prop_assert_eq!(found, expected);

        let arrows = drawables.iter().filter(|d| d.topology == Topology::Arrow);
        let (mut expected, mut backward) = (Vec::new(), 0);
        for arrow in arrows {
            let [send, receive] = [0, 1].map(|end| ns(arrow.vertices[end].time));
            if send <= receive {
                expected.push((send, receive));
            } else {
                backward += 1;
            }
        }
        let time = |at: usize| timeline.slices[at].start;
        let mut found: Vec<(u64, u64)> =
            timeline.flows.iter().map(|&(start, end)| (time(start), time(end))).collect();
        found.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(found, expected);
        let lost = losses.count("arrow that ends before it starts, without a flow");
        prop_assert_eq!(lost, backward);
        let marks = timeline.slices.iter().filter(|slice| slice.name == "mark").count();
        let events = drawables.iter().filter(|d| d.topology == Topology::Event).count();
        prop_assert_eq!(marks, events);
    }

    /// Drawables that no file should have: in no order, of unknown lines and categories, with any times and infos.
    #[test]
    fn nothing_breaks_the_rules(
        all in proptest::collection::vec(
            (
                0i32..3,
                -1i32..12,
                proptest::collection::vec(any::<u8>(), 0..30),
                proptest::collection::vec(
                    (
                        prop_oneof![any::<f64>(), -9.0..9.0, Just(1e300), Just(9e9)],
                        -1i32..6,
                    ),
                    0..4,
                ),
            ),
            0..40,
        ),
    ) {
        let (definitions, _) = super::sample::sample();
        let drawables: Vec<OwnedDrawable> = all
            .iter()
            .filter_map(|(topology, category, info, ends)| {
                let topology = Topology::from_number(*topology)?;
                Some(OwnedDrawable::new(topology, *category, info, ends))
            })
            .collect();
        let (bytes, _) = trace(&definitions, &drawables);
        timeline(&bytes);
    }
}

/// Zero has two signs, and both are one time: a message from the one to the other takes no time.
#[test]
fn messages_between_zeros_have_a_flow_that_starts_first() {
    let (definitions, _) = super::sample::sample();
    for ends in [[-0.0, 0.0], [0.0, -0.0]] {
        let arrow = OwnedDrawable::new(Topology::Arrow, 0, &[], &ends.map(|time| (time, 0)));
        let (bytes, losses) = trace(&definitions, &[arrow]);
        timeline(&bytes);
        assert_eq!(
            losses.count("arrow that ends before it starts, without a flow"),
            0
        );
    }
}
