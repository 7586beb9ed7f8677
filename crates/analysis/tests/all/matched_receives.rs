//! The receive that a message got and the message that a probe found, in made-up runs in which both are known.

use crate::made_up::{self, TICK};
use analysis::performance::{PerformanceCollector, PerformanceReport};
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace_model::{Drawable, InfoWriter, Line, Topology, Vertex};

/// Name and info of each category; its number is its place.
const CATEGORIES: [(&str, &[u8]); 7] = [
    ("MPI_Irecv", b"request=%d, source=%d, tag=%d"),
    ("MPI_Start", b"request=%d, source=%d, tag=%d, prepared=%d"),
    ("MPI_Waitall", b"completes=%s"),
    ("MPI_Ssend", b""),
    ("MPI_Issend", b"request=%d"),
    ("MPI_Probe", b"source=%d, tag=%d"),
    ("MPI_Recv", b""),
];
const IRECV: i32 = 0;
const START: i32 = 1;
const WAITALL: i32 = 2;
const SSEND: i32 = 3;
const ISSEND: i32 = 4;
const PROBE: i32 = 5;
const RECV: i32 = 6;
const MESSAGE: i32 = 7;
const RANKS: i32 = 4;
/// The line of rank 0's second thread.
const OTHER_THREAD: i32 = RANKS;
/// Lines of the ranks on another communicator, in which each has the rank that it has in MPI_COMM_WORLD.
const OTHER_COMM: i32 = OTHER_THREAD + 1;

/// Form, category, ends as tick and line, and info.
type MadeDrawable = (Topology, i32, [(u32, i32); 2], Vec<u8>);

#[derive(Debug, Default)]
struct Run(Vec<MadeDrawable>);

impl Run {
    fn call(&mut self, category: i32, line: i32, from: u32, to: u32, info: &[u8]) {
        let ends = [from, to].map(|tick| (tick, line));
        self.0.push((Topology::State, category, ends, info.into()));
    }

    fn message(&mut self, sent: (u32, i32), received: (u32, i32), tag: i32) {
        let info = ints(&[tag, 8]);
        self.0
            .push((Topology::Arrow, MESSAGE, [sent, received], info));
    }

    fn report(mut self) -> PerformanceReport {
        let mut categories = made_up::states_with_infos(&CATEGORIES);
        categories.push(made_up::messages(MESSAGE));
        let mut definitions = made_up::definitions(categories, RANKS);
        definitions.lines.push(Line::of_thread(OTHER_THREAD, 0, 1));
        definitions.lines.extend((0..RANKS).map(|rank| Line {
            comm: 1,
            ..Line::of_thread(OTHER_COMM + rank, rank, 0)
        }));
        self.0
            .sort_by_key(|(.., ends, _)| (ends[0].0, -i64::from(ends[1].0)));
        let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
        for (topology, category, ends, info) in &self.0 {
            let vertices = ends.map(|(tick, line)| Vertex {
                time: f64::from(tick) * TICK,
                line,
            });
            collector.put(&Drawable {
                topology: *topology,
                category: *category,
                info,
                vertices: &vertices,
            });
        }
        collector.finish()
    }
}

fn ints(values: &[i32]) -> Vec<u8> {
    let mut info = InfoWriter::default();
    for &value in values {
        info.int(value);
    }
    info.bytes().to_vec()
}

fn text(value: &str) -> Vec<u8> {
    let mut info = InfoWriter::default();
    info.text(value.as_bytes());
    info.bytes().to_vec()
}

/// Ticks of waits by the rank that waited and by its culprit.
fn waits(report: &PerformanceReport) -> BTreeMap<(usize, usize), u32> {
    let ranks = 0..RANKS as usize;
    let pairs = ranks
        .clone()
        .flat_map(|rank| ranks.clone().map(move |culprit| (rank, culprit)));
    pairs
        .map(|(rank, culprit)| ((rank, culprit), report.pairs.waiting[rank][culprit] / TICK))
        .filter(|(_, ticks)| *ticks > 0.0)
        .map(|(pair, ticks)| (pair, ticks as u32))
        .collect()
}

/// A receive that rank 0 posts some ticks after the one before: sender, tag, whether it asks for any sender if the tag tells the message, and whether
/// it is a persistent one.
type Post = (u32, i32, i32, bool, bool);

/// Rank 0 waits for a message on another communicator from anyone, and posts late a receive on MPI_COMM_WORLD that names sender and tag: the message on
/// the other communicator, of that sender and tag, is not what the late one gets.
#[test]
fn a_receive_gets_messages_of_its_own_communicator() {
    let mut run = Run::default();
    run.call(IRECV, OTHER_COMM, 0, 1, &ints(&[1, -1, -1]));
    run.call(SSEND, OTHER_COMM + 1, 1, 3, &[]);
    run.call(SSEND, 1, 5, 60, &[]);
    run.call(IRECV, 0, 50, 51, &ints(&[2, 1, 1]));
    run.call(WAITALL, 0, 52, 60, &text("1-2"));
    run.message((1, OTHER_COMM + 1), (60, OTHER_COMM), 1);
    run.message((5, 1), (60, 0), 1);
    let expected = BTreeMap::from([((1, 0), 45)]);
    assert_eq!(waits(&run.report()), expected);
}

proptest! {
    /// One call completes receives that were posted at different times. Each synchronous send waits for the receive that gets its message, whatever
    /// the order in which the senders send.
    #[test]
    fn each_message_gets_the_receive_that_asked_for_it(
        posts in prop::collection::vec(
            (1u32..40, 1..RANKS, 0i32..3, any::<bool>(), any::<bool>()), 1..12),
        order in prop::collection::vec(0usize..100, 12),
        pauses in prop::collection::vec(0u32..60, 12),
    ) {
        let posts: Vec<Post> = posts;
        let mut run = Run::default();
        // Ticks at which receives of each sender and tag are posted.
        let mut posted: BTreeMap<(i32, i32), Vec<u32>> = BTreeMap::new();
        let mut now = 0;
        for (request, &(after, source, tag, is_any, is_persistent)) in (1..).zip(&posts) {
            now += after;
            let is_known_by_tag = posts.iter().filter(|other| other.2 == tag).count() == 1;
            let asked = if is_any && is_known_by_tag { -1 } else { source };
            let (category, info) = match is_persistent {
                true => (START, ints(&[request, asked, tag, -1])),
                false => (IRECV, ints(&[request, asked, tag])),
            };
            run.call(category, 0, now, now, &info);
            posted.entry((source, tag)).or_default().push(now);
        }
        // Each rank sends what rank 0 receives of it, in any order.
        let mut to_send: Vec<(usize, i32, i32)> = order.iter().zip(&posts)
            .map(|(&order, post)| (order, post.1, post.2)).collect();
        to_send.sort_unstable();
        let mut clocks = [0u32; RANKS as usize];
        let mut expected: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let mut sent = Vec::new();
        for (&(_, source, tag), pause) in to_send.iter().zip(pauses) {
            let clock = &mut clocks[source as usize];
            let enter = *clock + pause;
            let post = posted.get_mut(&(source, tag)).expect("a receive").remove(0);
            *clock = enter.max(post) + 1;
            run.call(SSEND, source, enter, *clock, &[]);
            sent.push(((enter, source), tag));
            let wait = post.saturating_sub(enter);
            if wait > 0 {
                *expected.entry((source as usize, 0)).or_default() += wait;
            }
        }
        let end = clocks.into_iter().max().unwrap_or(0).max(now + 1) + 1;
        let completes = format!("1-{}", posts.len());
        run.call(WAITALL, 0, now + 1, end, &text(&completes));
        for (at, tag) in sent {
            run.message(at, (end, 0), tag);
        }
        let mut found = waits(&run.report());
        // Rank 0 waits for the last message.
        found.retain(|(rank, _), _| *rank > 0);
        prop_assert_eq!(found, expected, "{:?}", posts);
    }
}

/// The thread that waits for a send need not be the one that has begun it.
#[test]
fn a_send_is_waited_for_by_another_thread() {
    let mut run = Run::default();
    run.call(ISSEND, 0, 1, 2, &ints(&[1]));
    run.call(WAITALL, OTHER_THREAD, 3, 51, &text("1"));
    run.call(RECV, 1, 50, 52, &[]);
    run.message((1, 0), (52, 1), 7);
    assert_eq!(waits(&run.report()), BTreeMap::from([((0, 1), 47)]));
}

/// A call that receives and sends waits for the sender first and then for the receiver, whichever of the two calls of that message ends first.
#[test]
fn a_late_receiver_counts_behind_a_late_sender() {
    for receive_ends in [58, 62] {
        let mut run = Run::default();
        run.call(IRECV, 0, 0, 1, &ints(&[1, 2, 7]));
        run.call(ISSEND, 0, 1, 2, &ints(&[2]));
        run.call(WAITALL, 0, 3, 60, &text("1-2"));
        run.call(SSEND, 2, 20, 60, &[]);
        run.call(RECV, 1, 50, receive_ends, &[]);
        run.message((20, 2), (60, 0), 7);
        run.message((1, 0), (receive_ends, 1), 7);
        let mut found = waits(&run.report());
        found.retain(|(rank, _), _| *rank == 0);
        assert_eq!(
            found,
            BTreeMap::from([((0, 2), 17), ((0, 1), 30)]),
            "{receive_ends}"
        );
    }
}

/// A receive that was posted before a probe gets the first message, so the probe finds the second one, which comes much later.
#[test]
fn a_probe_does_not_find_what_a_posted_receive_gets() {
    for (source, tag) in [(1, 7), (-1, 7), (1, -1)] {
        let mut run = Run::default();
        run.call(IRECV, 0, 0, 1, &ints(&[1, source, tag]));
        run.call(PROBE, 0, 2, 60, &ints(&[1, 7]));
        run.call(SSEND, 1, 6, 8, &[]);
        run.call(SSEND, 1, 55, 63, &[]);
        run.call(RECV, 0, 61, 62, &[]);
        run.call(WAITALL, 0, 64, 65, &text("1"));
        run.message((6, 1), (65, 0), 7);
        run.message((55, 1), (62, 0), 7);
        let found = waits(&run.report());
        assert_eq!(found.get(&(0, 1)), Some(&53), "{source} {tag}: {found:?}");
    }
}

/// A probe for a message of a rank waits for that rank, though another one's message comes meanwhile and is received first.
#[test]
fn a_probe_finds_what_it_asks_for() {
    // Sender and tag that the probe asks for, and who is waited for how long. Rank 2 sends at 26 with tag 7, rank 3 at 48 with tag 8.
    for (source, tag, expected) in [
        (3, 8, (3, 46)),
        (3, -1, (3, 46)),
        (-1, 8, (3, 46)),
        (2, 7, (2, 24)),
    ] {
        let mut run = Run::default();
        run.call(PROBE, 1, 2, 51, &ints(&[source, tag]));
        run.call(SSEND, 2, 26, 62, &[]);
        run.call(SSEND, 3, 48, 72, &[]);
        run.call(RECV, 1, 60, 62, &[]);
        run.call(RECV, 1, 70, 72, &[]);
        run.message((26, 2), (62, 1), 7);
        run.message((48, 3), (72, 1), 8);
        let report = run.report();
        let probes = report
            .waits
            .iter()
            .filter(|group| group.call == "MPI_Probe");
        let late: Vec<_> = probes
            .map(|group| (group.culprit, (group.seconds / TICK) as u32))
            .collect();
        assert_eq!(late, [expected], "{source} {tag}");
    }
}
