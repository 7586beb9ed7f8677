//! Waits, replays and the critical path of made-up runs, against a simulator that makes the run one event at a time.

use crate::made_up::{self, TICK};
use analysis::performance::{
    PerformanceCollector, PerformanceOptions, PerformanceReport, TimeByUse, WaitGroup, WaitPattern,
    analyse_in_order,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::convert::Infallible;
use trace_model::{
    Category, Color, Definitions, Drawable, InfoWriter, Line, TimeBBox, Topology, Vertex,
};

const RANKS: usize = 4;
/// The line of rank 0's second thread, which few runs have.
const OTHER_THREAD: usize = RANKS;

const NAMES: [&str; 11] = [
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Scan",
    "step",
    "MPI_Probe",
    "MPI_Sendrecv",
];
const MESSAGE: i32 = 11;

/// A step of the run; ticks.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A rank computes; in a state of its own if that is wanted.
    Compute(usize, u32, bool),
    /// A message from a rank to another one, so long on its way. One that is handed over makes the sender wait for the receiver.
    Message(usize, usize, u32, bool),
    Barrier,
    Bcast(usize),
    Reduce(usize),
    Scan,
}

fn step() -> impl Strategy<Value = Step> {
    let rank = || 0..RANKS;
    prop_oneof![
        4 => (rank(), 1u32..50, any::<bool>()).prop_map(|(r, n, own)| Step::Compute(r, n, own)),
        4 => (rank(), 1..RANKS, 0u32..9, any::<bool>())
            .prop_map(|(from, by, n, sync)| Step::Message(from, (from + by) % RANKS, n, sync)),
        1 => Just(Step::Barrier),
        1 => rank().prop_map(Step::Bcast),
        1 => rank().prop_map(Step::Reduce),
        1 => Just(Step::Scan),
    ]
}

/// The run as it is made: drawables, and what is true of them.
#[derive(Default)]
struct Simulated {
    drawables: Vec<(Topology, i32, Vec<Vertex>, Vec<u8>)>,
    /// Ticks at which each rank has arrived, as it was and as it would be if data moved in no time.
    now: [u64; RANKS],
    ideal: [u64; RANKS],
    computed: [u64; RANKS],
    waits: BTreeMap<WaitPattern, u64>,
}

impl Simulated {
    fn call(&mut self, name: &str, rank: usize, from: u64, to: u64, root: Option<usize>) {
        let category = NAMES
            .iter()
            .position(|known| *known == name)
            .expect("known") as i32;
        let mut info = InfoWriter::default();
        if let Some(root) = root {
            info.int(root as i32).long(8);
        }
        let vertices = [from, to].map(|tick| vertex(tick, rank)).to_vec();
        self.drawables
            .push((Topology::State, category, vertices, info.bytes().to_vec()));
    }

    fn wait(&mut self, pattern: WaitPattern, begin: u64, until: u64, end: u64) {
        *self.waits.entry(pattern).or_default() += until.clamp(begin, end) - begin;
    }

    fn step(&mut self, step: Step) {
        let last = |of: &[u64]| of.iter().copied().max().unwrap_or(0);
        let (now, ideal) = (self.now, self.ideal);
        match step {
            Step::Compute(rank, ticks, is_own) => {
                let ticks = u64::from(ticks);
                if is_own {
                    self.call("step", rank, now[rank], now[rank] + ticks, None);
                }
                self.now[rank] += ticks;
                self.ideal[rank] += ticks;
                self.computed[rank] += ticks;
            }
            Step::Message(from, to, way, waits) => {
                let arrives = now[from].max(now[to]) + u64::from(way) + 1;
                let sent = if waits {
                    arrives.max(now[to] + 1)
                } else {
                    now[from] + 2
                };
                self.call("MPI_Send", from, now[from], sent, None);
                self.call("MPI_Recv", to, now[to], arrives, None);
                self.wait(WaitPattern::LateSender, now[to], now[from], arrives);
                if now[to] < sent {
                    self.wait(WaitPattern::LateReceiver, now[from], now[to], sent);
                }
                let mut info = InfoWriter::default();
                info.int(0).int(8);
                let ends = vec![vertex(now[from], from), vertex(arrives, to)];
                self.drawables
                    .push((Topology::Arrow, MESSAGE, ends, info.bytes().to_vec()));
                self.now[from] = sent;
                self.now[to] = arrives;
                self.ideal[to] = ideal[to].max(ideal[from]);
            }
            Step::Barrier => self.meet(
                "MPI_Barrier",
                WaitPattern::Barrier,
                None,
                |_| last(&now),
                |_| last(&ideal),
            ),
            Step::Bcast(root) => self.meet(
                "MPI_Bcast",
                WaitPattern::LateBroadcast,
                Some(root),
                |rank| now[rank].max(now[root]),
                |rank| ideal[rank].max(ideal[root]),
            ),
            Step::Reduce(root) => self.meet(
                "MPI_Reduce",
                WaitPattern::EarlyReduce,
                Some(root),
                |rank| if rank == root { last(&now) } else { now[rank] },
                |rank| {
                    if rank == root {
                        last(&ideal)
                    } else {
                        ideal[rank]
                    }
                },
            ),
            Step::Scan => self.meet(
                "MPI_Scan",
                WaitPattern::EarlyScan,
                None,
                |rank| last(&now[..=rank]),
                |rank| last(&ideal[..=rank]),
            ),
        }
    }

    /// All ranks make a collective call, each until the ranks that it needs have come, and three ticks more.
    fn meet(
        &mut self,
        name: &str,
        pattern: WaitPattern,
        root: Option<usize>,
        came: impl Fn(usize) -> u64,
        came_ideally: impl Fn(usize) -> u64,
    ) {
        for rank in 0..RANKS {
            let (begin, until) = (self.now[rank], came(rank));
            self.call(name, rank, begin, until + 3, root);
            self.wait(pattern, begin, until, until + 3);
            self.now[rank] = until + 3;
            self.ideal[rank] = came_ideally(rank);
        }
    }
}

fn vertex(tick: u64, rank: usize) -> Vertex {
    Vertex {
        // The first tick of the run is the end of MPI_Init.
        time: (tick + 8) as f64 * TICK,
        line: rank as i32,
    }
}

/// Makes a run of these steps.
fn simulate(steps: &[Step]) -> (Simulated, u64) {
    let mut run = Simulated::default();
    steps.iter().for_each(|step| run.step(*step));
    ended(run)
}

/// All ranks end a run at the same time.
fn ended(mut run: Simulated) -> (Simulated, u64) {
    let end = run.now.iter().copied().max().unwrap_or(0) + 1;
    for rank in 0..RANKS {
        let rest = (end - run.now[rank]) as u32;
        run.step(Step::Compute(rank, rest, false));
        run.call("MPI_Finalize", rank, end, end + 5, None);
        let init = [0.0, 8.0 * TICK].map(|time| Vertex {
            time,
            line: rank as i32,
        });
        run.drawables
            .push((Topology::State, 0, init.to_vec(), Vec::new()));
    }
    run.drawables.sort_by(|a, b| {
        let bounds = |of: &[Vertex]| (of[0].time.min(of[1].time), of[0].time.max(of[1].time));
        let (a, b) = (bounds(&a.2), bounds(&b.2));
        a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1))
    });
    (run, end)
}

/// A trace of which no timeline is a thread's own has no ranks and no critical path.
#[test]
fn a_trace_without_threads_is_analysed() {
    let definitions = Definitions {
        categories: vec![Category::new(
            0,
            "MPI_Send".into(),
            Topology::State,
            Color::WHITE,
        )],
        lines: vec![Line {
            name: Some("rank 0 thread 0 AIO 1".into()),
            ..Line::of_thread(0, 0, 0)
        }],
        ..Definitions::default()
    };
    let call = Drawable {
        topology: Topology::State,
        category: 0,
        vertices: &[vertex(0, 0), vertex(9, 0)],
        info: &[],
    };
    let options = PerformanceOptions::default();
    let Ok(report) = analyse_in_order::<Infallible>(&definitions, &options, |put| {
        put(&call);
        Ok(())
    });
    assert_eq!((report.ranks, report.path_ranks.len()), (0, 0));
    let mut collector = PerformanceCollector::new(&definitions, &options);
    collector.keep_waits();
    collector.put(&call);
    let found = collector.finish_with_waits();
    assert!(found.waits.is_some_and(|waits| waits.waits.is_empty()));
}

fn analysed(run: &Simulated, focus: &[TimeBBox]) -> PerformanceReport {
    let mut categories = made_up::states(&NAMES);
    for category in &mut categories[5..7] {
        category.set_info_format(b"root=%d, bytes=%l");
    }
    categories.push(made_up::messages(MESSAGE));
    let mut definitions = made_up::definitions(categories, RANKS as i32);
    let other_thread = Line::of_thread(OTHER_THREAD as i32, 0, 1);
    definitions.lines.push(other_thread);
    let options = PerformanceOptions {
        focus: focus.to_vec(),
        parts: 7,
    };
    let Ok(report) = analyse_in_order::<Infallible>(&definitions, &options, |put| {
        for (topology, category, vertices, info) in &run.drawables {
            put(&Drawable {
                topology: *topology,
                category: *category,
                info,
                vertices,
            });
        }
        Ok(())
    });
    report
}

#[test]
fn a_wait_counts_once_for_each_of_its_causes() {
    let steps = [true, false, true].map(|is_own| Step::Compute(0, 10, is_own));
    let (run, _) = simulate(&[&steps[..], &[Step::Barrier]].concat());
    let report = analysed(&run, &[]);
    let waits = RANKS as u64 - 1;
    let causes = report.root_causes.iter();
    let causes: Vec<_> = causes
        .map(|cause| (cause.activity.as_deref(), cause.count))
        .collect();
    assert_eq!(causes, [(Some("step"), waits), (None, waits)]);
}

/// A thread that makes one call, and may be gone after it, changes no number of the main threads.
#[test]
fn a_thread_with_one_call_is_not_on_the_critical_path() {
    let steps = [
        Step::Compute(1, 40, false),
        Step::Message(1, 0, 9, false),
        Step::Barrier,
    ];
    let (mut run, _) = simulate(&steps);
    let alone = analysed(&run, &[]);
    let vertices = [10, 12].map(|tick| vertex(tick, OTHER_THREAD)).to_vec();
    let call = (Topology::State, 10, vertices, Vec::new());
    let at = run
        .drawables
        .partition_point(|drawable| drawable.2[0].time < call.2[0].time);
    run.drawables.insert(at, call);
    let beside = analysed(&run, &[]);
    let told = |report: &PerformanceReport| {
        let (path, what_if) = (&report.path_ranks, &report.what_if);
        let activities = &report.path_activities;
        format!(
            "{:?} {path:?} {activities:?} {what_if:?}",
            report.efficiencies
        )
    };
    assert_eq!(told(&alone), told(&beside));
    let computing = |report: &PerformanceReport| {
        let all = report.activities.iter();
        let own: Vec<f64> = all
            .filter(|activity| activity.activity.is_none())
            .map(|activity| activity.seconds)
            .collect();
        own
    };
    assert_eq!(computing(&alone), computing(&beside));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    /// Clocks that differ change each wait by as much as they differ, and no wait is lost: neither of messages that arrive before they were sent, nor of
    /// collective calls that end before the last rank has come.
    #[test]
    fn clocks_that_differ_lose_no_wait(
        steps in proptest::collection::vec(step(), 1..25), shifts in proptest::array::uniform4(0u64..9),
    ) {
        // Steps of computing are long, as seen by the clocks.
        let steps: Vec<Step> = steps
            .into_iter()
            .map(|step| match step {
                Step::Compute(rank, ticks, is_own) => Step::Compute(rank, 100 * ticks, is_own),
                // Clocks do not tell whether a receive that is posted at about the time of its send was late.
                Step::Message(from, to, way, _) => Step::Message(from, to, way, false),
                step => step,
            })
            .collect();
        let (run, end) = simulate(&steps);
        let mut shifted = Simulated::default();
        for (topology, category, vertices, info) in &run.drawables {
            // No two clocks show the same time.
            let ticks = |rank: usize| shifts[rank] as f64 + rank as f64 / 8.0;
            let shift = |vertex: &Vertex| Vertex {
                time: vertex.time + ticks(vertex.line as usize) * TICK,
                line: vertex.line,
            };
            let vertices = vertices.iter().map(shift).collect();
            shifted.drawables.push((*topology, *category, vertices, info.clone()));
        }
        let earliest = |of: &[Vertex]| of[0].time.min(of[1].time);
        shifted.drawables.sort_by(|a, b| earliest(&a.2).total_cmp(&earliest(&b.2)));
        let focus = TimeBBox { earliest: 0.0, latest: (end + 30) as f64 * TICK };
        let report = analysed(&shifted, &[focus]);
        let scans = steps.iter().filter(|step| matches!(step, Step::Scan)).count();
        for (pattern, &ticks) in run.waits.iter().filter(|(pattern, _)| **pattern != WaitPattern::EarlyScan || scans == 0) {
            let groups = report.waits.iter().filter(|group| group.pattern == *pattern);
            let found: f64 = groups.map(|group| group.seconds / TICK).sum();
            let calls = (steps.len() * RANKS) as f64;
            prop_assert!((found - ticks as f64).abs() <= 8.0 * calls, "{pattern:?}: {found} of {ticks}: {shifts:?} {steps:?}");
        }
    }
}

/// Rank 1 gets a message of rank 0, which comes late, and sends one to rank 2, which comes hardly later, or much later. Whether the receive of what it sends
/// ends before its own call or behind it, is the same.
#[test]
fn a_receiver_that_is_late_by_chance_is_not_waited_for() {
    // When the receive is posted, how long the call waits, and whether for the receiver.
    for (posted, waits, is_receiver) in [(90, 100, false), (103, 100, false), (140, 140, true)] {
        let leave = posted.max(100) + 2;
        for received in [leave - 1, leave + 5] {
            let mut run = Simulated::default();
            run.call("MPI_Send", 0, 100, 101, None);
            run.call("MPI_Sendrecv", 1, 0, leave, None);
            run.call("MPI_Recv", 2, posted, received, None);
            for (sent, from, arrives) in [(0, 1, received), (100, 0, leave - 1)] {
                let ends = vec![vertex(sent, from), vertex(arrives, from + 1)];
                run.drawables
                    .push((Topology::Arrow, MESSAGE, ends, vec![0; 8]));
            }
            run.drawables
                .sort_by(|a, b| a.2[0].time.total_cmp(&b.2[0].time));
            let report = analysed(&run, &[]);
            let groups = report.waits.iter();
            let groups: Vec<_> = groups
                .filter(|group| group.call == "MPI_Sendrecv")
                .collect();
            let all: f64 = groups.iter().map(|group| group.seconds).sum();
            assert_eq!(
                all,
                f64::from(waits) * TICK,
                "{posted} {received}: {groups:?}"
            );
            let is_late = |group: &&WaitGroup| group.pattern == WaitPattern::LateReceiver;
            assert_eq!(groups.iter().any(is_late), is_receiver, "{groups:?}");
        }
    }
}

/// A message that was sent earlier and is received later is in the wrong order; two that one call receives are not.
#[test]
fn late_senders_in_the_wrong_order_are_told() {
    for (received, expected) in [([22, 30], 20.0), ([22, 22], 0.0), ([30, 22], 0.0)] {
        let mut run = Simulated::default();
        run.call("MPI_Recv", 1, 0, 22, None);
        run.call("MPI_Send", 0, 10, 11, None);
        run.call("MPI_Send", 0, 20, 21, None);
        run.call("MPI_Recv", 1, 23, 30, None);
        let [late, early] = received;
        for (sent, received) in [(20, late), (10, early)] {
            let ends = vec![vertex(sent, 0), vertex(received, 1)];
            run.drawables
                .push((Topology::Arrow, MESSAGE, ends, vec![0; 8]));
        }
        run.drawables
            .sort_by(|a, b| a.2[0].time.total_cmp(&b.2[0].time));
        let report = analysed(&run, &[]);
        let wrong: f64 = report.waits.iter().map(|group| group.wrong_order).sum();
        assert_eq!(wrong, expected * TICK, "{received:?}: {:?}", report.waits);
    }
}

/// A probe waits for the message that ended it, whichever is received first.
#[test]
fn probes_wait_for_what_is_received_after_another_message() {
    // When the other message is sent.
    for other in [1, 2, 33] {
        let mut run = Simulated::default();
        run.call("MPI_Probe", 1, 2, 31, None);
        run.call("MPI_Send", 0, 30, 31, None);
        run.call("MPI_Send", 2, other, other + 1, None);
        run.call("MPI_Recv", 1, 40, 41, None);
        run.call("MPI_Recv", 1, 42, 43, None);
        for (sent, from, received) in [(other, 2, 41), (30, 0, 43)] {
            let ends = vec![vertex(sent, from), vertex(received, 1)];
            run.drawables
                .push((Topology::Arrow, MESSAGE, ends, vec![0; 8]));
        }
        run.drawables
            .sort_by(|a, b| a.2[0].time.total_cmp(&b.2[0].time));
        let report = analysed(&run, &[]);
        let waits: Vec<(&str, i32, f64)> = (report.waits.iter())
            .map(|group| (group.call.as_str(), group.culprit, group.seconds))
            .collect();
        assert_eq!(waits, [("MPI_Probe", 0, 28.0 * TICK)], "{other}");
    }
}

/// All ranks but the first are in MPI_Init for 100 ticks more, as those of a spawned program.
#[test]
fn late_ends_of_init_are_told() {
    let report_of = |late: u64| {
        let mut run = Simulated::default();
        for rank in 1..RANKS {
            run.call("MPI_Init", rank, 0, late, None);
        }
        for rank in 0..RANKS {
            run.call("MPI_Finalize", rank, 150, 155, None);
        }
        run.call("MPI_Init", 0, 0, 8, None);
        run.drawables
            .sort_by(|a, b| a.2[0].time.total_cmp(&b.2[0].time));
        analysed(&run, &[])
    };
    let report = report_of(108);
    assert_eq!(report.focus.init_spread, 100.0 * TICK);
    assert_eq!(report.focus.seconds, 42.0 * TICK);
    let told = report.lesser_part().expect("a sentence");
    assert!(told.contains("the last MPI_Init ended"), "{told}");
    assert_eq!(report_of(8).lesser_part(), None);
}

/// Of ranks that compute 20, 40, 60 and 80 ticks before each barrier, the last one computes 50 if all compute as long as the mean.
#[test]
fn balanced_ranks_would_take_the_mean() {
    let computing = (0..RANKS).map(|rank| Step::Compute(rank, 20 * (rank as u32 + 1), false));
    let round: Vec<Step> = computing.chain([Step::Barrier]).collect();
    let (run, end) = simulate(&round.repeat(10));
    let report = analysed(&run, &[]);
    let mut all = report.what_if.iter();
    let balanced = all.find(|what_if| what_if.assumption.contains("mean"));
    let seconds = balanced.expect("a replay").seconds;
    let expected = (end - 10 * 30) as f64 * TICK;
    assert!(
        (seconds / expected - 1.0).abs() < 0.01,
        "{seconds} in place of {expected}"
    );
}

proptest! {
    /// What the report says is what the simulator did.
    #[test]
    fn reports_say_what_was_simulated(steps in prop::collection::vec(step(), 0..60)) {
        let (run, end) = simulate(&steps);
        let report = analysed(&run, &[]);
        let seconds = |ticks: u64| ticks as f64 * TICK;
        prop_assert_eq!(report.focus.seconds, seconds(end));
        prop_assert!(report.focus.is_between_init_and_finalize);
        for (pattern, ticks) in &run.waits {
            let groups = report.waits.iter().filter(|group| group.pattern == *pattern);
            let found: f64 = groups.map(|group| group.seconds).sum();
            prop_assert_eq!(found, seconds(*ticks), "{:?}: {:?}", pattern, report.waits);
        }
        for rank in &report.by_rank {
            prop_assert_eq!(rank.computing, seconds(run.computed[rank.rank as usize]));
            prop_assert!(rank.waiting <= rank.mpi);
        }
        let ideal = run.ideal.iter().copied().max().unwrap_or(0);
        prop_assert_eq!(report.efficiencies.ideal_seconds, seconds(ideal));
        let on_path: f64 = report.path_ranks.iter().map(|on_path| on_path.seconds).sum();
        prop_assert_eq!(on_path, seconds(end));
        let activities = report.path_activities.iter().map(|activity| activity.seconds);
        prop_assert_eq!(activities.sum::<f64>(), seconds(end));
        let caused: f64 = report.root_causes.iter().map(|cause| cause.seconds).sum();
        prop_assert_eq!(caused, report.time.waiting);
        prop_assert!(report.notes.is_empty(), "{:?}", report.notes);
        // Whoever computes less, nobody computes more.
        for what_if in &report.what_if {
            prop_assert!(what_if.seconds <= report.focus.seconds * (1.0 + 1e-9), "{:?}", what_if);
        }
    }

    /// Two windows together have what the whole has, and a focus of both.
    #[test]
    fn windows_add_up(
        steps in prop::collection::vec(step(), 1..40),
        part in 0.0f64..0.5,
        other in 0.5f64..1.0,
    ) {
        let (run, end) = simulate(&steps);
        let whole = analysed(&run, &[]);
        let at = |part: f64| (8.0 + (part * end as f64).round()) * TICK;
        let range = |from, to| TimeBBox { earliest: at(from), latest: at(to) };
        let ranges = [range(0.0, part), range(part, other), range(other, 1.0)];
        let ranges: Vec<TimeBBox> = ranges.into_iter().filter(|range| range.latest > range.earliest).collect();
        let parts: Vec<PerformanceReport> = ranges.iter().map(|range| analysed(&run, &[*range])).collect();
        let figures: [fn(&PerformanceReport) -> f64; 4] = [
            |report| report.focus.seconds,
            |report| report.time.computing,
            |report| report.time.waiting,
            |report| report.time.transfer,
        ];
        for figure in figures {
            prop_assert_eq!(parts.iter().map(figure).sum::<f64>(), figure(&whole));
        }
        if let ([first, _, last], [one, _, two]) = (&ranges[..], &parts[..]) {
            let both = analysed(&run, &[*first, *last]);
            for figure in figures {
                prop_assert_eq!(figure(one) + figure(two), figure(&both));
            }
            let groups: f64 = both.waits.iter().map(|group| group.seconds).sum();
            prop_assert_eq!(groups, both.time.waiting);
            let caused: f64 = both.root_causes.iter().map(|cause| cause.seconds).sum();
            prop_assert_eq!(caused, both.time.waiting);
            let on_path: f64 = both.path_ranks.iter().map(|on_path| on_path.seconds).sum();
            prop_assert_eq!(on_path, both.focus.seconds);
        }
    }

    /// What is told by part of the time, by region and by rank adds up to the whole.
    #[test]
    fn parts_add_up(steps in prop::collection::vec(step(), 0..60)) {
        let (run, _) = simulate(&steps);
        let report = analysed(&run, &[]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        for figure in [
            (|time| time.computing) as fn(&TimeByUse) -> f64,
            |time| time.waiting,
            |time| time.transfer,
            |time| time.all,
        ] {
            let whole = figure(&report.time);
            let parts: f64 = report.over_time.iter().map(|part| figure(&part.time)).sum();
            prop_assert!(near(parts, whole), "{parts} {whole}");
            let regions: f64 = report.by_region.iter().map(|region| figure(&region.time)).sum();
            prop_assert!(near(regions, whole), "{regions} {whole}: {:?}", report.by_region);
        }
        let ideal: f64 = report.over_time.iter().map(|part| part.efficiencies.ideal_seconds).sum();
        prop_assert!(ideal >= report.efficiencies.ideal_seconds - 1e-9);
        let longest = report.over_time.iter().map(|part| part.efficiencies.longest_computing);
        prop_assert!(longest.sum::<f64>() >= report.efficiencies.longest_computing - 1e-9);
        let world = &report.by_communicator;
        prop_assert!(world.iter().all(|comm| comm.communicator == 0 && comm.ranks == RANKS as u32));
        let waiting: f64 = world.iter().map(|comm| comm.time.waiting).sum();
        prop_assert!(near(waiting, report.time.waiting));
        let messages: Option<u64> = world.iter().map(|comm| comm.messages).sum();
        prop_assert_eq!(messages, Some(report.pairs.messages.iter().flatten().sum::<u64>()));
        let bytes: Option<u64> = world.iter().map(|comm| comm.message_bytes).sum();
        prop_assert_eq!(bytes, Some(report.pairs.bytes.iter().flatten().sum::<u64>()));
    }

    /// A loop of any steps that all ranks make together is found, with the time that each iteration took.
    #[test]
    fn iterations_are_found(
        body in prop::collection::vec(step(), 1..8),
        iterations in 4usize..20,
        slow in 0usize..20,
    ) {
        // What ends an iteration must not be part of it as well, to know how many there are.
        prop_assume!(body.iter().all(|step| !matches!(step, Step::Barrier)));
        let mut run = Simulated::default();
        for nth in 0..iterations {
            if nth == slow {
                run.step(Step::Compute(1, 5000, false));
            }
            body.iter().for_each(|step| run.step(*step));
            run.step(Step::Barrier);
        }
        let (run, end) = ended(run);
        let report = analysed(&run, &[]);
        let Some(phases) = &report.phases else {
            // What takes most of the time is no loop.
            prop_assert!(slow < iterations || end < 4 * iterations as u64 + 60, "{body:?}");
            return Ok(());
        };
        prop_assert!(phases.lengths.iterations >= iterations - 1, "{phases:?}");
        let time: f64 = phases.phases.iter().map(|phase| phase.time.all).sum();
        let uses = |time: &TimeByUse| time.computing + time.waiting + time.transfer;
        let sum: f64 = phases.phases.iter().map(|phase| uses(&phase.time)).sum();
        prop_assert!((time - sum).abs() < 1e-9);
        for pair in phases.phases.windows(2) {
            prop_assert!(pair[0].to <= pair[1].from);
        }
    }
}
