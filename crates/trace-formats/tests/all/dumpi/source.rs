//! DUMPI runs as drawables: states of all calls, arrows of all messages as MPI matches them.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use test_support::golden;
use trace_formats::dumpi::functions::by_name;
use trace_formats::dumpi::meta::Meta;
use trace_formats::dumpi::types::{
    AddressLabel, ClockOffsets, ClockSpan, DumpiHeader, DumpiTrailer, Mask,
};
use trace_formats::dumpi::value::DumpiStatus;
use trace_formats::dumpi::write::{DumpiWriter, LIBDUMPI, RecordBuilder, RecordHead};
use trace_formats::dumpi::{DumpiSource, read::DumpiReader};
use trace_model::{CommNames, Drawable, Losses, Source as _, Topology, info_values, message};

type Put<'a> = &'a dyn Fn(&mut RecordBuilder<'_, Vec<u8>>);

/// One rank's file: each call takes a millisecond.
pub(super) struct Rank {
    writer: DumpiWriter<Vec<u8>>,
    /// Microseconds.
    pub(super) now: u64,
    pub(super) thread: u16,
    pub(super) mask: u8,
    pub(super) host: &'static str,
    /// Names of the performance counters, and their values in each call.
    pub(super) labels: &'static [&'static str],
    pub(super) counters: &'static [(i64, i64)],
}

pub(super) const WORLD: i32 = 2;
const SELF: i32 = 3;
pub(super) const INT: i32 = 9;

impl Rank {
    pub(super) fn new() -> Self {
        let writer =
            DumpiWriter::new(Vec::new(), ClockOffsets { cpu: 0, wall: 0 }).expect("memory");
        Rank {
            writer,
            now: 1000,
            thread: 0,
            mask: Mask::DEFAULT.0,
            host: "node1",
            labels: &["CYC"],
            counters: &[(10, 17)],
        }
    }

    pub(super) fn call(&mut self, name: &str, put: Put<'_>) -> &mut Self {
        let (start, stop) = (self.now * 1000, (self.now + 1000) * 1000);
        self.now += 2000;
        self.span(name, start, stop, put)
    }

    pub(super) fn span(&mut self, name: &str, start: u64, stop: u64, put: Put<'_>) -> &mut Self {
        let head = RecordHead {
            mask: Mask(self.mask),
            thread: self.thread,
            cpu: ClockSpan::default(),
            wall: ClockSpan::from_ns(start, stop),
        };
        let id = by_name(name).expect("a function").id;
        let mut call = self.writer.call(id, &head, self.counters);
        put(&mut call);
        call.end().expect("a record that fits");
        self
    }

    pub(super) fn send(&mut self, dest: i32, tag: i32, comm: i32) -> &mut Self {
        self.call("MPI_Send", &|c| {
            _ = c.int(2).handle(INT).int(dest).int(tag).handle(comm);
        })
    }

    pub(super) fn recv(
        &mut self,
        (source, tag): (i32, i32),
        comm: i32,
        from: Option<(i32, i32)>,
    ) -> &mut Self {
        self.call("MPI_Recv", &|c| {
            c.int(9).handle(INT).int(source).int(tag).handle(comm);
            c.statuses(from.map(|(source, tag)| status(source, tag)));
        })
    }

    pub(super) fn irecv(&mut self, (source, tag): (i32, i32), request: i32) -> &mut Self {
        self.call("MPI_Irecv", &|c| {
            c.int(9)
                .handle(INT)
                .int(source)
                .int(tag)
                .handle(WORLD)
                .int(request);
        })
    }

    pub(super) fn wait(&mut self, request: i32, status: Option<DumpiStatus>) -> &mut Self {
        self.call("MPI_Wait", &|c| _ = c.int(request).statuses(status))
    }

    pub(super) fn file(self) -> Vec<u8> {
        let trailer = DumpiTrailer {
            header: DumpiHeader {
                hostname: self.host.into(),
                ..DumpiHeader::default()
            },
            type_sizes: vec![0, 0, 1, 1, 1, 1, 4, 2, 2, 4],
            perf_labels: self.labels.iter().map(|&label| label.into()).collect(),
            address_labels: vec![
                AddressLabel {
                    key: 5,
                    label: b"ANNOTATION: phase".to_vec(),
                },
                AddressLabel {
                    key: 7,
                    label: b"MPI_Mrecv".to_vec(),
                },
                AddressLabel {
                    key: 8,
                    label: b"MPI_Isendrecv".to_vec(),
                },
            ],
            ..DumpiTrailer::default()
        };
        self.writer.finish(&trailer, LIBDUMPI).expect("memory").0
    }
}

pub(super) fn status(source: i32, tag: i32) -> DumpiStatus {
    DumpiStatus {
        bytes: 8,
        source,
        tag,
        ..DumpiStatus::default()
    }
}

/// An arrow: tag, size, start and end in milliseconds, ranks.
pub(super) type Arrow = (i32, i64, [i64; 2], [i32; 2]);

pub(super) struct Drawn {
    pub(super) arrows: Vec<Arrow>,
    /// Name, start and end in milliseconds, rank, values shown.
    pub(super) states: Vec<(String, [i64; 2], i32, String)>,
    pub(super) losses: Losses,
}

fn drawn(size: u32, files: &[(u32, &[u8])]) -> Drawn {
    let source = DumpiSource::new(size, files).unwrap_or_else(|(nth, e)| panic!("file {nth}: {e}"));
    let definitions = source.definitions();
    let (mut arrows, mut states) = (Vec::new(), Vec::new());
    let mut put = |drawable: &Drawable<'_>| {
        let category = definitions.category(drawable.category).expect("a category");
        let [first, last] = drawable.vertices else {
            panic!("two ends")
        };
        let times = [first, last].map(|vertex| (vertex.time * 1e3).round() as i64);
        let ranks = [first, last].map(|v| definitions.line(v.line).expect("a line").rank);
        if drawable.topology == Topology::Arrow {
            let message = message(category, drawable.info).expect("a message");
            arrows.push((message.tag, message.size, times, ranks));
        } else {
            let values = info_values(category, drawable.info);
            let shown = values.map(|(key, value)| format!("{}{value:?}", key.to_str()));
            let shown = shown.collect::<String>();
            states.push((category.name.to_str().into_owned(), times, ranks[0], shown));
        }
        Ok(())
    };
    let losses = source.for_each(&mut put).expect("sound");
    arrows.sort();
    states.sort();
    Drawn {
        arrows,
        states,
        losses,
    }
}

pub(super) fn run(ranks: Vec<Rank>) -> Drawn {
    let files: Vec<Vec<u8>> = ranks.into_iter().map(Rank::file).collect();
    let files: Vec<(u32, &[u8])> = (0..).zip(files.iter().map(Vec::as_slice)).collect();
    drawn(files.len() as u32, &files)
}

#[test]
fn calls_are_states_with_what_matters_of_their_arguments() {
    let mut rank = Rank::new();
    rank.mask = 0xcf;
    rank.send(0, 7, SELF)
        .recv((0, 7), SELF, Some((0, 7)))
        .call("MPI_File_open", &|c| {
            c.handle(2).string(b"a/b").code(1).handle(0).handle(1);
        })
        .call("MPI_File_write_at", &|c| {
            c.handle(1).i64(1 << 40).int(3).handle(INT).statuses([]);
        });
    let drawn = run(vec![rank]);
    let states: Vec<_> = drawn
        .states
        .iter()
        .map(|(name, times, _, info)| (name.as_str(), *times, info.as_str()))
        .collect();
    assert_eq!(
        states,
        [
            (
                "MPI_File_open",
                [4, 5],
                "comm=Integer(2), filename=Text([97, 47, 98]), file=Integer(1), CYC=+Integer(7)"
            ),
            (
                "MPI_File_write_at",
                [6, 7],
                "file=Integer(1), offset=Integer(1099511627776), bytes=Integer(12), CYC=+Integer(7)"
            ),
            (
                "MPI_Recv",
                [2, 3],
                "bytes=Integer(8), source=Integer(0), tag=Integer(7), comm=Integer(3), CYC=+Integer(7)"
            ),
            (
                "MPI_Send",
                [0, 1],
                "bytes=Integer(8), dest=Integer(0), tag=Integer(7), comm=Integer(3), CYC=+Integer(7)"
            ),
        ]
    );
    assert_eq!(drawn.arrows, [(7, 8, [0, 3], [0, 0])]);
    assert!(drawn.losses.is_empty(), "{}", drawn.losses);
}

/// Four ranks that make communicators of every kind and send on each of them to the next rank; the tag tells, as 10 times
/// the sender plus the receiver, both by their ranks in the world.
#[test]
fn communicators_are_followed() {
    let mut ranks: Vec<Rank> = (0..4).map(|_| Rank::new()).collect();
    let ring = |ranks: &mut Vec<Rank>, members: &[usize], numbers: &[i32]| {
        let count = members.len();
        for (nth, (&me, &comm)) in members.iter().zip(numbers).enumerate() {
            let (next, before) = ((nth + 1) % count, (nth + count - 1) % count);
            let tag = |from: usize, to: usize| (10 * from + to) as i32;
            ranks[me].send(next as i32, tag(me, members[next]), comm);
            let source = before as i32;
            ranks[me].recv((source, tag(members[before], me)), comm, None);
        }
        let latest = ranks.iter().map(|rank| rank.now).max().unwrap_or(0);
        ranks.iter_mut().for_each(|rank| rank.now = latest);
    };
    // A duplicate, whose number differs from rank to rank.
    for (me, rank) in ranks.iter_mut().enumerate() {
        rank.call("MPI_Comm_dup", &|c| {
            _ = c.handle(WORLD).handle(4 + me as i32)
        });
    }
    ring(&mut ranks, &[0, 1, 2, 3], &[4, 5, 6, 7]);
    // Odd and even ranks of it, from the last to the first.
    for (me, rank) in ranks.iter_mut().enumerate() {
        rank.call("MPI_Comm_split", &|c| {
            c.handle(4 + me as i32)
                .int(me as i32 % 2)
                .int(-(me as i32))
                .handle(10);
        });
    }
    ring(&mut ranks, &[2, 0], &[10, 10]);
    ring(&mut ranks, &[3, 1], &[10, 10]);
    // A group of three in an order of its own; number 10 is given again.
    for (me, rank) in ranks.iter_mut().enumerate() {
        let made = if me == 2 { 1 } else { 10 };
        rank.call("MPI_Comm_group", &|c| _ = c.handle(WORLD).handle(3))
            .call("MPI_Group_incl", &|c| {
                _ = c.handle(3).int(3).ints([3, 0, 1]).handle(4)
            })
            .call("MPI_Comm_create", &|c| {
                _ = c.handle(WORLD).handle(4).handle(made)
            });
    }
    ring(&mut ranks, &[3, 0, 1], &[10, 10, 10]);
    // Rows of a grid of two by two.
    for rank in &mut ranks {
        rank.call("MPI_Cart_create", &|c| {
            c.handle(WORLD)
                .int(2)
                .ints([2, 2])
                .ints([0, 0])
                .int(0)
                .handle(11);
        })
        .call("MPI_Cart_sub", &|c| {
            _ = c.int(2).handle(11).ints([0, 1]).handle(12)
        });
    }
    ring(&mut ranks, &[0, 1], &[12, 12]);
    ring(&mut ranks, &[2, 3], &[12, 12]);
    // Two halves, the intercommunicator between them, and both as one, the second half first.
    for (me, rank) in ranks.iter_mut().enumerate() {
        let half = me as i32 / 2;
        rank.call("MPI_Comm_split", &|c| {
            _ = c.handle(WORLD).int(half).int(0).handle(13)
        })
        .call("MPI_Intercomm_create", &|c| {
            c.handle(13)
                .int(0)
                .handle(WORLD)
                .int(2 - 2 * half)
                .int(1)
                .handle(14);
        });
        let peer = (me + 2) % 4;
        rank.send(me as i32 % 2, (10 * me + peer) as i32, 14);
        rank.recv((me as i32 % 2, (10 * peer + me) as i32), 14, None);
        rank.call("MPI_Intercomm_merge", &|c| {
            _ = c.handle(14).int(1 - half).handle(15)
        });
    }
    ring(&mut ranks, &[2, 3, 0, 1], &[15; 4]);
    let drawn = run(ranks);
    assert!(drawn.losses.is_empty(), "{}", drawn.losses);
    assert_eq!(drawn.arrows.len(), 4 + 4 + 3 + 4 + 4 + 4);
    for (tag, _, _, [from, to]) in drawn.arrows {
        assert_eq!(tag, 10 * from + to);
    }
}

#[test]
fn a_name_is_that_of_the_communicator_that_gets_it() {
    let mut ranks = [Rank::new(), Rank::new()];
    for (me, rank) in ranks.iter_mut().enumerate() {
        let made = 4 + me as i32;
        rank.call("MPI_Comm_dup", &|c| _ = c.handle(WORLD).handle(made))
            .call("MPI_Comm_set_name", &|c| _ = c.handle(made).string(b"halo"));
    }
    let files = ranks.map(Rank::file);
    let files = [(0, &files[0][..]), (1, &files[1][..])];
    let source = DumpiSource::new(2, &files).expect("sound files");
    let names = CommNames::of(&source).expect("sound files");
    let lines = &source.definitions().lines;
    let comms: BTreeSet<i32> = lines.iter().map(|line| line.comm).collect();
    let named = comms
        .iter()
        .filter_map(|&comm| Some((comm > 0, names.get(comm)?)));
    assert_eq!(named.collect::<Vec<_>>(), [(true, "halo")]);
}

#[test]
fn what_cannot_be_followed_is_counted() {
    let side = |peer: i32| {
        let mut rank = Rank::new();
        rank.send(peer, 1, 77)
            .call("MPI_Cart_create", &|c| {
                c.handle(WORLD).int(1).ints([2]).ints([0]).int(1).handle(11);
            })
            .send(peer, 2, 11)
            .send(peer, 3, WORLD)
            .call("Function_exit", &|c| _ = c.u64(5))
            .call("Function_enter", &|c| _ = c.u64(5));
        rank
    };
    let drawn = run(vec![side(1), side(0)]);
    for (what, number) in [
        ("message on a communicator that cannot be followed", 4),
        ("message without a receive", 2),
        ("end of a region without a start", 2),
        ("call or region without an end", 2),
    ] {
        assert_eq!(drawn.losses.count(what), number, "{what}: {}", drawn.losses);
    }
    assert!(drawn.arrows.is_empty());
    // Of a run that misses a file, only what needs no other rank is followed.
    let (mut a, b) = (side(1), side(0));
    a.call("MPI_Comm_dup", &|c| _ = c.handle(WORLD).handle(4))
        .send(1, 9, 4);
    drop(b);
    let file = a.file();
    let alone = drawn_alone(&file);
    assert_eq!(alone.count("rank without a file"), 1);
    assert_eq!(
        alone.count("message on a communicator that cannot be followed"),
        3
    );
}

fn drawn_alone(file: &[u8]) -> Losses {
    drawn(2, &[(0, file)]).losses
}

#[test]
fn regions_are_states_around_calls() {
    let mut rank = Rank::new();
    rank.call("Function_enter", &|c| _ = c.u64(5))
        .call("Function_enter", &|c| _ = c.u64(6))
        .send(-1, 0, WORLD)
        .call("Function_exit", &|c| _ = c.u64(6))
        .call("Function_exit", &|c| _ = c.u64(5));
    let drawn = run(vec![rank]);
    let states: Vec<_> = drawn
        .states
        .iter()
        .map(|(name, times, ..)| (name.as_str(), *times))
        .collect();
    assert_eq!(
        states,
        [("0x6", [2, 7]), ("MPI_Send", [4, 5]), ("phase", [0, 9])]
    );
}

#[test]
fn clocks_go_on_after_eighteen_hours_and_hosts_are_put_beside_each_other() {
    let second = 1_000_000_000;
    let mut rank = Rank::new();
    let nothing: Put<'_> = &|_| ();
    rank.span("MPI_Wtime", 0, second, nothing)
        .span("MPI_Wtime", 60_000 * second, 65_000 * second, nothing)
        .span("MPI_Wtime", 65_500 * second, 66_000 * second, nothing)
        .span("MPI_Wtime", 90_000 * second, 95_000 * second, nothing)
        .span("MPI_Wtime", 120_000 * second, 125_000 * second, nothing)
        .span("MPI_Wtime", 126_000 * second, 132_000 * second, nothing);
    let times: Vec<_> = run(vec![rank]).states.iter().map(|state| state.1).collect();
    let ms = 1000;
    assert_eq!(
        times,
        [
            [0, ms],
            [60_000 * ms, 65_000 * ms],
            [65_500 * ms, 66_000 * ms],
            [90_000 * ms, 95_000 * ms],
            [120_000 * ms, 125_000 * ms],
            [126_000 * ms, 132_000 * ms]
        ]
    );
    let init: Put<'_> = &|c| _ = c.strings(["./a"]);
    let (mut a, mut b) = (Rank::new(), Rank::new());
    a.span("MPI_Init", 100 * second, 101 * second, init);
    b.span("MPI_Init", 5000 * second, 5001 * second, init);
    b.host = "node2";
    let drawn = run(vec![a, b]);
    assert_eq!(drawn.states[0].1, drawn.states[1].1);
    let what = "host whose clock is put to the others' by the end of MPI_Init alone";
    assert_eq!(drawn.losses.count(what), 1);
}

/// Barriers of a rank at these times, as they are read.
fn barriers_read(spans: &[[u64; 2]]) -> Vec<[i64; 2]> {
    let mut rank = Rank::new();
    for &[start, stop] in spans {
        let ns = [start, stop].map(|seconds| seconds * 1_000_000_000);
        rank.span("MPI_Barrier", ns[0], ns[1], &|c| _ = c.handle(WORLD));
    }
    let states = run(vec![rank]).states;
    let mut times: Vec<_> = states
        .iter()
        .map(|state| state.1.map(|ms| ms / 1000))
        .collect();
    times.sort_unstable();
    times
}

/// The stream keeps 65536 s. Records are in the order of their ends, so less than that between two ends tells the turn.
#[test]
fn half_a_turn_of_the_seconds_may_pass_in_a_call_or_between_calls() {
    for spans in [
        [[0, 1], [50_000, 50_001], [86_001, 86_002], [90_000, 90_001]],
        [
            [0, 1],
            [50_000, 86_000],
            [90_000, 90_001],
            [90_002, 150_000],
        ],
        [
            [0, 1],
            [50_000, 78_800],
            [90_000, 90_001],
            [155_000, 155_100],
        ],
        [
            [0, 60_000],
            [60_001, 125_000],
            [125_001, 190_000],
            [255_000, 255_001],
        ],
    ] {
        let expected = spans.map(|span| span.map(|s| s as i64));
        assert_eq!(barriers_read(&spans), expected);
    }
}

/// What MPI_Mrecv begins with stands where the call ends, behind calls of other threads that ended meanwhile.
#[test]
fn the_entry_to_a_long_call_is_no_turn_of_the_seconds() {
    let second = 1_000_000_000;
    let mut rank = Rank::new();
    rank.span("MPI_Barrier", 0, second, &|c| _ = c.handle(WORLD));
    rank.span("MPI_Barrier", 4000 * second, 5000 * second, &|c| {
        _ = c.handle(WORLD)
    });
    rank.thread = 1;
    let key: Put<'_> = &|c| _ = c.u64(7);
    rank.span("Function_enter", 2 * second, 2 * second, key);
    rank.span("Function_exit", 5001 * second, 5001 * second, key);
    let states = run(vec![rank]).states;
    let found = states.iter().find(|(name, ..)| name == "MPI_Mrecv");
    assert_eq!(found.map(|state| state.1), Some([2000, 5_001_000]));
}

#[test]
fn damaged_files_are_refused_and_unfinished_ones_taken_as_far_as_they_go() {
    let mut rank = Rank::new();
    rank.send(-1, 0, WORLD).send(-1, 1, WORLD);
    let whole = rank.file();
    let cut = &whole[..16 + 45 + 20];
    let drawn = drawn(1, &[(0, cut)]);
    assert_eq!(drawn.states.len(), 1);
    let what = "file that was not completed, taken as far as it goes";
    assert_eq!(drawn.losses.count(what), 1);
    let mut damaged = whole.clone();
    damaged[16] = 9;
    let (nth, error) = DumpiSource::new(1, &[(0, &damaged)]).expect_err("refused");
    assert_eq!((nth, error.offset), (0, 16));
}

#[test]
fn communicators_without_members_and_circles_of_names_come_to_an_end() {
    let mut rank = Rank::new();
    rank.call("MPI_Cart_create", &|c| {
        c.handle(WORLD).int(1).ints([0]).ints([0]).int(0).handle(11);
    })
    .call("MPI_Comm_dup", &|c| _ = c.handle(11).handle(12))
    .call("MPI_Comm_dup", &|c| _ = c.handle(12).handle(12))
    .call("MPI_Comm_dup", &|c| _ = c.handle(12).handle(11));
    let file = rank.file();
    assert_eq!(drawn(1, &[(0, &file)]).states.len(), 4);
}

#[test]
fn runs_of_the_reference_lose_no_message() {
    let metas = golden::files("dumpi", ".meta");
    assert!(metas.len() > 25, "{} runs", metas.len());
    for path in metas {
        let name = path.display();
        let meta = Meta::parse(&fs::read(&path).expect("readable")).expect("a metafile");
        let files: Vec<Vec<u8>> = meta
            .rank_files(&path)
            .iter()
            .map(|(_, file)| fs::read(file).expect("readable"))
            .collect();
        let files: Vec<(u32, &[u8])> = (0..).zip(files.iter().map(Vec::as_slice)).collect();
        let drawn = drawn(meta.numprocs, &files);
        let records = files.iter().flat_map(|(_, file)| {
            let reader = DumpiReader::open(file).expect("sound");
            reader
                .records()
                .map(|r| r.expect("sound").function.id)
                .collect::<Vec<_>>()
        });
        // Every call is a state, every two of the pseudo calls are one.
        let ids: Vec<u16> = records.collect();
        let pseudo = ids.iter().filter(|id| **id > 290).count();
        assert_eq!(drawn.states.len(), ids.len() - pseudo / 2, "{name}");
        // Those made with a selection of functions miss the other half of some messages.
        if !path.to_string_lossy().contains("select") {
            for what in ["message without a receive", "receive without a message"] {
                assert_eq!(drawn.losses.count(what), 0, "{name}: {}", drawn.losses);
            }
        }
        for (_, _, [start, end], _) in &drawn.arrows {
            assert!(
                start <= end
                    || path.to_string_lossy().contains("bare")
                    || path.to_string_lossy().contains("select"),
                "{name}"
            );
        }
    }
}

/// The files of two ranks that make communicators and groups in many ways.
fn makers() -> [Vec<u8>; 2] {
    [0, 1].map(|me: i32| {
        let mut rank = Rank::new();
        rank.call("MPI_Comm_group", &|c| _ = c.handle(WORLD).handle(3))
            .call("MPI_Group_range_incl", &|c| {
                c.handle(3).int(1).rows([[0, 1, 1]]).handle(4);
            })
            .call("MPI_Group_union", &|c| _ = c.handle(4).handle(3).handle(5))
            .call("MPI_Comm_create", &|c| {
                _ = c.handle(WORLD).handle(5).handle(6)
            })
            .call("MPI_Comm_split", &|c| {
                _ = c.handle(6).int(me).int(0).handle(7)
            })
            .call("MPI_Intercomm_create", &|c| {
                c.handle(7)
                    .int(0)
                    .handle(WORLD)
                    .int(1 - me)
                    .int(1)
                    .handle(8);
            })
            .call("MPI_Intercomm_merge", &|c| {
                _ = c.handle(8).int(me).handle(9)
            })
            .call("MPI_Cart_create", &|c| {
                c.handle(9)
                    .int(2)
                    .ints([1, 2])
                    .ints([0, 0])
                    .int(0)
                    .handle(10);
            })
            .call("MPI_Cart_sub", &|c| {
                _ = c.int(2).handle(10).ints([0, 1]).handle(11)
            })
            .send(1 - me, 3, 11)
            .recv((-1, -1), 11, Some((1 - me, 3)));
        rank.file()
    })
}

#[test]
fn the_files_to_be_damaged_are_sound() {
    let [a, b] = makers();
    let drawn = drawn(2, &[(0, &a), (1, &b)]);
    assert_eq!(
        (drawn.arrows.len(), drawn.losses.iter().count()),
        (2, 0),
        "{}",
        drawn.losses
    );
}

proptest! {
    #[test]
    fn damaged_files_never_panic(
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        every_kind: bool,
        cut in 0usize..300,
    ) {
        let [sound, mut damaged] = makers();
        if every_kind {
            damaged = crate::dumpi::common::every_kind().expect("made");
        }
        for (at, to) in damage {
            // The stream of calls is in front.
            let at = at.index(damaged.len().min(900));
            damaged[at] = to;
        }
        damaged.truncate(damaged.len() - cut);
        for files in [[(0, &sound[..]), (1, &damaged[..])], [(0, &damaged[..]), (1, &sound[..])]] {
            if let Ok(source) = DumpiSource::new(2, &files) {
                prop_assert!(source.for_each(&mut |_| Ok(())).is_ok());
            }
        }
    }
}
