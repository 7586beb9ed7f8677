//! Root causes of waits in made-up runs, against what each rank did at each moment.

use crate::made_up::{self, TICK};
use analysis::performance::PerformanceCollector;
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace_model::{Drawable, Topology, Vertex};

const RANKS: usize = 3;
const NAMES: [&str; 6] = [
    "long",
    "short",
    "middle",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Barrier",
];
const SEND: i32 = 3;
const RECV: i32 = 4;
const BARRIER: i32 = 5;
const MESSAGE: i32 = 6;

/// Rank, and category of what it does; outside of any state if it is negative.
type Cause = (usize, i32);

/// Form, category, and ends as tick and rank.
type MadeDrawable = (Topology, i32, [(u64, usize); 2]);

/// What a rank did from one tick to another one.
type Did = (u64, u64, Cause);

/// A step of the run; ticks.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A rank computes for so long in the state of a category.
    Compute(usize, u64, i32),
    /// A message from a rank to another one.
    Message(usize, usize),
    Barrier,
}

/// The run as it is made, and what each rank did because of whom.
#[derive(Default)]
struct Simulated {
    drawables: Vec<MadeDrawable>,
    now: [u64; RANKS],
    did: [Vec<Did>; RANKS],
    /// Ticks of waiting by root cause.
    causes: BTreeMap<Cause, u64>,
}

impl Simulated {
    /// A rank does something of its own until `to`.
    fn act(&mut self, rank: usize, to: u64, category: i32) {
        let from = self.now[rank];
        self.did[rank].push((from, to, (rank, category)));
        self.now[rank] = to;
    }

    /// A rank waits until `until` for another one, which had nothing to wait for then.
    fn wait(&mut self, rank: usize, culprit: usize, until: u64) {
        let from = self.now[rank];
        if until <= from {
            return;
        }
        let first = self.did[culprit].partition_point(|did| did.1 <= from);
        let did: Vec<Did> = self.did[culprit][first..]
            .iter()
            .map(|&(begin, end, cause)| (begin.max(from), end.min(until), cause))
            .filter(|(begin, end, _)| begin < end)
            .collect();
        for &(begin, end, cause) in &did {
            *self.causes.entry(cause).or_default() += end - begin;
        }
        self.did[rank].extend(did);
        self.now[rank] = until;
    }

    fn call(&mut self, category: i32, rank: usize, from: u64) {
        let ends = [from, self.now[rank]].map(|tick| (tick, rank));
        self.drawables.push((Topology::State, category, ends));
    }

    fn step(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::Compute(rank, ticks, category) => {
                self.act(rank, now[rank] + ticks, category);
                if category >= 0 {
                    self.call(category, rank, now[rank]);
                }
            }
            Step::Message(from, to) => {
                // Who receives is not late: it waits at least as long as the message takes.
                self.wait(to, from, now[from]);
                let arrived = now[from].max(now[to]) + 3;
                self.act(to, arrived, RECV);
                self.call(RECV, to, now[to]);
                self.act(from, now[from] + 1, SEND);
                self.call(SEND, from, now[from]);
                let ends = [(now[from], from), (arrived, to)];
                self.drawables.push((Topology::Arrow, MESSAGE, ends));
            }
            Step::Barrier => {
                // Of several that come last at the same time, all that came before know no difference.
                let last = (0..RANKS).max_by_key(|&rank| now[rank]).unwrap_or(0);
                for rank in 0..RANKS {
                    self.wait(rank, last, now[last]);
                }
                for rank in 0..RANKS {
                    self.act(rank, now[last] + 2, BARRIER);
                    self.call(BARRIER, rank, now[rank]);
                }
            }
        }
    }

    /// Ticks of waiting by root cause, as the report says.
    fn reported(&mut self) -> BTreeMap<Cause, f64> {
        let mut categories = made_up::states(&NAMES);
        categories.push(made_up::messages(MESSAGE));
        let definitions = made_up::definitions(categories, RANKS as i32);
        let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
        self.drawables
            .sort_by_key(|(_, _, [from, to])| (from.0, std::cmp::Reverse(to.0)));
        for (topology, category, ends) in &self.drawables {
            let vertices = ends.map(|(tick, rank)| Vertex {
                time: tick as f64 * TICK,
                line: rank as i32,
            });
            collector.put(&Drawable {
                topology: *topology,
                category: *category,
                info: &[0; 8],
                vertices: &vertices,
            });
        }
        let report = collector.finish();
        let category = |name: &Option<String>| {
            let place = name
                .as_ref()
                .and_then(|name| NAMES.iter().position(|known| known == name));
            place.map_or(-1, |place| place as i32)
        };
        let causes = report.root_causes.iter();
        causes
            .map(|cause| {
                (
                    (cause.rank as usize, category(&cause.activity)),
                    cause.seconds / TICK,
                )
            })
            .collect()
    }

    /// Ticks that the report puts down to other causes than what was done.
    fn wrong(&mut self) -> f64 {
        let mut wrong = self.reported();
        for (&cause, &ticks) in &self.causes {
            *wrong.entry(cause).or_default() -= ticks as f64;
        }
        wrong.values().map(|ticks| ticks.abs()).sum::<f64>() / 2.0
    }
}

fn step() -> impl Strategy<Value = Step> {
    let rank = || 0..RANKS;
    prop_oneof![
        // Rank 0 waits most of the time.
        6 => (1..RANKS, 1u64..50, -1i32..3).prop_map(|(rank, n, what)| Step::Compute(rank, n, what)),
        1 => (rank(), 1u64..50, -1i32..3).prop_map(|(rank, n, what)| Step::Compute(rank, n, what)),
        4 => (1..RANKS).prop_map(|from| Step::Message(from, 3 - from)),
        1 => (rank(), 1..RANKS).prop_map(|(from, by)| Step::Message(from, (from + by) % RANKS)),
        1 => Just(Step::Barrier),
    ]
}

proptest! {
    /// Of few steps, each moment of a wait has its cause.
    #[test]
    fn each_wait_has_its_causes(steps in prop::collection::vec(step(), 0..40)) {
        let mut run = Simulated::default();
        steps.iter().for_each(|step| run.step(*step));
        prop_assert!(run.wrong() < 1e-6, "{:?}", run.reported());
    }

    /// Of a culprit that changes what it does any number of times, each activity has about what it took.
    #[test]
    fn a_long_wait_has_the_causes_of_all_of_it(
        before in prop::collection::vec(step(), 0..30),
        turn in prop::collection::vec(step(), 1..12),
        turns in 10usize..400,
    ) {
        let mut run = Simulated::default();
        let repeated = turn.iter().filter(|step| match **step {
            Step::Compute(rank, ..) => rank > 0,
            Step::Message(from, to) => from > 0 && to > 0,
            Step::Barrier => false,
        });
        before.iter().for_each(|step| run.step(*step));
        run.step(Step::Barrier);
        let waited: u64 = run.causes.values().sum();
        let repeated: Vec<Step> = repeated.copied().collect();
        for _ in 0..turns {
            repeated.iter().for_each(|step| run.step(*step));
        }
        run.step(Step::Barrier);
        let wrong = run.wrong();
        let all = run.causes.values().sum::<u64>() - waited;
        prop_assert!(wrong <= 0.1 * all as f64 + 1e-6, "{wrong} of {all}: {:?}", run.reported());
    }
}
