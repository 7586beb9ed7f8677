//! Collective calls on windows of which the trace does not tell the window, as in CLOG2.

use analysis::performance::{PerformanceCollector, PerformanceOptions};
use trace_model::{Category, Color, Definitions, Drawable, Line, TimeBBox, Topology, Vertex};

/// Two halves of four ranks each make a window: in each half its second rank comes late, by 20 s and by 10 s.
#[test]
fn windows_on_subcommunicators_are_made_apart() {
    let category = Category::new(0, "MPI_Win_create".into(), Topology::State, Color::WHITE);
    let lines = (0..4).map(|rank| Line {
        comm: 1 + rank / 2,
        comm_rank: rank % 2,
        ..Line::of_thread(rank, rank, 0)
    });
    let definitions = Definitions {
        categories: vec![category],
        lines: lines.collect(),
        ..Definitions::default()
    };
    let options = PerformanceOptions {
        focus: vec![TimeBBox {
            earliest: 0.0,
            latest: 100.0,
        }],
        parts: 0,
    };
    let mut collector = PerformanceCollector::new(&definitions, &options);
    for (line, from, to) in [
        (0, 0.0, 21.0),
        (2, 0.0, 11.0),
        (3, 10.0, 11.0),
        (1, 20.0, 21.0),
    ] {
        let vertices = [from, to].map(|time| Vertex { time, line });
        collector.put(&Drawable {
            topology: Topology::State,
            category: 0,
            info: &[],
            vertices: &vertices,
        });
    }
    let report = collector.finish();
    let waiting = &report.pairs.waiting;
    assert_eq!((waiting[0][1], waiting[2][3]), (20.0, 10.0), "{waiting:?}");
    assert_eq!(report.time.waiting, 30.0);
}
