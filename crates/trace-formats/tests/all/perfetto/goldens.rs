//! SLOG2 files of MPE as Perfetto traces: nothing is missing, nothing is added.

use std::collections::BTreeMap;

use test_support::golden;
use trace_formats::slog2::Slog2Source;
use trace_model::{Sorter, Source, Topology, lane_of};

use super::timeline::timeline;
use super::{OwnedDrawable, trace};

type Counts = BTreeMap<String, u64>;

#[test]
fn slices_per_rank_are_the_states_and_flows_the_arrows() {
    let mut files = 0;
    for path in golden::files("mpe", ".slog2") {
        let bytes = golden::read(&path);
        let Ok(source) = Slog2Source::new(&bytes) else {
            continue;
        };
        files += 1;
        let definitions = source.definitions();
        let mut sorter = Sorter::new(trace_model::DrawableOrder::Start);
        let read = source.for_each(&mut |drawable| Ok(sorter.push(drawable)?));
        read.expect("a golden is whole");
        let (mut drawables, mut states, mut seconds) = (Vec::new(), Counts::new(), 0.0);
        let (mut arrows, mut events) = (0, 0);
        let sorted = sorter.finish(&mut |drawable| {
            drawables.push(OwnedDrawable::from(drawable));
            match drawable.topology {
                Topology::State => {
                    let line = definitions.line(drawable.vertices[0].line).expect("a line");
                    let lane = lane_of(line);
                    *states.entry(format!("{:?}", lane.actor)).or_default() += 1;
                    seconds += drawable.bounds().duration();
                }
                // One that arrives before it is sent has no flow.
                Topology::Arrow => {
                    arrows += u64::from(drawable.vertices[0].time <= drawable.vertices[1].time);
                }
                Topology::Event => events += 1,
            }
            Ok(())
        });
        sorted.expect("sorted");
        let (bytes, losses) = trace(definitions, &drawables);
        let timeline = timeline(&bytes);
        let name = path.display();
        let topology = |name: &str| {
            let mut categories = definitions.categories.iter();
            let found = categories.find(|category| category.name.to_str() == name);
            found.map(|category| category.topology)
        };
        let (mut found, mut found_seconds, mut found_events) = (Counts::new(), 0.0, 0);
        for slice in &timeline.slices {
            match topology(&slice.name) {
                Some(Topology::State) => {
                    let rank = slice.process.trim_start_matches("rank ");
                    *found.entry(format!("Rank({rank})")).or_default() += 1;
                    found_seconds += (slice.end - slice.start) as f64 / 1e9;
                }
                Some(Topology::Event) => found_events += 1,
                // The ends of arrows have names of their own.
                _ => {}
            }
        }
        assert_eq!(found, states, "{name}");
        assert_eq!(timeline.flows.len() as u64, arrows, "{name}");
        assert_eq!(found_events, events, "{name}");
        let most = 1e-9 * drawables.len() as f64;
        assert!(
            (seconds - found_seconds).abs() <= most,
            "{name}: {seconds} {found_seconds}"
        );
        let colours = definitions
            .categories
            .iter()
            .filter(|c| c.index >= 0)
            .count() as u64;
        assert_eq!(losses.count("colour of a category"), colours, "{name}");
    }
    assert!(files > 20, "{files}");
}
