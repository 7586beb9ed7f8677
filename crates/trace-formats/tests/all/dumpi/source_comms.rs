//! DUMPI runs on communicators: where their calls and messages are, and what collective calls tell of their bytes.

use super::source::{INT, Rank, WORLD, run, status};
use trace_formats::dumpi::DumpiSource;
use trace_model::{Source as _, Topology};

/// Values of the calls of a function, by rank.
fn values(ranks: Vec<Rank>, function: &str) -> Vec<String> {
    let mut states = run(ranks).states;
    states.retain(|(name, ..)| name == function);
    states.sort_by_key(|(_, _, rank, _)| *rank);
    let values = states.into_iter().map(|(.., shown)| shown);
    values
        .map(|shown| {
            shown
                .replace("Integer(", "")
                .replace(')', "")
                .replace(", CYC=+-1", "")
        })
        .collect()
}

/// Three ranks; an int has four bytes. Bytes are those that MPI defines for the arguments, as in other formats: of what a rank passes, and the sums of
/// its counts.
#[test]
fn collective_calls_tell_bytes_as_other_formats_do() {
    let ranks = || -> Vec<Rank> { (0..3).map(|_| Rank::new()).collect() };
    let mut all = ranks();
    for (me, rank) in (0..).zip(&mut all) {
        rank.call("MPI_Gather", &|c| {
            // The root passes MPI_IN_PLACE.
            let own = if me == 1 { 0 } else { 2 };
            c.int(me).int(own).handle(INT).int(1).handle(WORLD);
            if me == 1 {
                c.int(2).handle(INT);
            }
        });
        rank.call("MPI_Scatter", &|c| {
            c.int(me).int(4).handle(INT).int(0).handle(WORLD);
            if me == 0 {
                c.int(4).handle(INT);
            }
        });
        rank.call("MPI_Gatherv", &|c| {
            c.int(me)
                .int(3)
                .int(me + 1)
                .handle(INT)
                .int(2)
                .handle(WORLD);
            if me == 2 {
                c.ints([1, 2, 3]).ints([0, 1, 3]);
            }
            c.handle(if me == 2 { INT } else { 0 });
        });
        rank.call("MPI_Scatterv", &|c| {
            c.int(me).int(3).handle(INT).int(me + 1).handle(INT);
            c.int(0).handle(WORLD);
            if me == 0 {
                c.ints([1, 2, 3]).ints([0, 1, 3]);
            }
        });
        rank.call("MPI_Allgather", &|c| {
            c.int(5).handle(INT).int(5).handle(INT).handle(WORLD);
        });
        rank.call("MPI_Alltoallv", &|c| {
            c.int(3).ints([me, me, me]).ints([0, 3, 6]).handle(INT);
            c.ints([0, 1, 2]).ints([0, 3, 6]).handle(INT).handle(WORLD);
        });
        rank.call("MPI_Reduce_scatter", &|c| {
            c.int(3).ints([1, 2, 3]).handle(INT).code(2).handle(WORLD);
        });
    }
    let mut states = run(all).states;
    states.sort_by_key(|(_, times, rank, _)| (*times, *rank));
    let shown = |name: &str| -> Vec<String> {
        let of = states.iter().filter(|(found, ..)| found == name);
        let of = of.map(|(.., shown)| shown.replace("Integer(", "").replace(')', ""));
        of.map(|shown| shown.replace(", CYC=+-1", "")).collect()
    };
    let world = |texts: [&str; 3]| texts.map(|text| format!("{text}, comm=2"));
    assert_eq!(shown("MPI_Gather"), world(["bytes=8, root=1"; 3]));
    assert_eq!(shown("MPI_Scatter"), world(["bytes=16, root=0"; 3]));
    let expected = [
        "bytes=4, received=-1, root=2",
        "bytes=8, received=-1, root=2",
        "bytes=12, received=24, root=2",
    ];
    assert_eq!(shown("MPI_Gatherv"), world(expected));
    let expected = [
        "bytes=4, sent=24, root=0",
        "bytes=8, sent=-1, root=0",
        "bytes=12, sent=-1, root=0",
    ];
    assert_eq!(shown("MPI_Scatterv"), world(expected));
    assert_eq!(shown("MPI_Allgather"), world(["bytes=20"; 3]));
    let expected = [
        "bytes=0, received=12",
        "bytes=12, received=12",
        "bytes=24, received=12",
    ];
    assert_eq!(shown("MPI_Alltoallv"), world(expected));
    let expected = [
        "bytes=24, received=4",
        "bytes=24, received=8",
        "bytes=24, received=12",
    ];
    assert_eq!(shown("MPI_Reduce_scatter"), world(expected));
}

/// Two ends of a message: communicator, rank in it and thread of its line.
type Ends = [(i32, i32, u32); 2];

fn message_ends(ranks: Vec<Rank>) -> (Vec<Ends>, Vec<(i32, i32, i32)>) {
    let files: Vec<Vec<u8>> = ranks.into_iter().map(Rank::file).collect();
    let files: Vec<(u32, &[u8])> = (0..).zip(files.iter().map(Vec::as_slice)).collect();
    let source = DumpiSource::new(files.len() as u32, &files).expect("sound files");
    let definitions = source.definitions();
    let mut ends = Vec::new();
    let mut put = |drawable: &trace_model::Drawable<'_>| {
        if let (Topology::Arrow, &[from, to]) = (drawable.topology, drawable.vertices) {
            ends.push([from, to].map(|vertex| {
                let line = definitions.line(vertex.line).expect("a line");
                (line.comm, line.comm_rank, line.thread as u32)
            }));
        }
        Ok(())
    };
    let losses = source.for_each(&mut put).expect("sound");
    assert!(losses.is_empty(), "{losses}");
    let lines = definitions.lines.iter();
    let others = lines.filter(|line| line.comm != 0);
    let others = others.map(|line| (line.comm, line.comm_rank, line.rank));
    (ends, others.collect())
}

/// A communicator with the ranks in reverse: its messages are between its ranks, and all of its members have a timeline.
#[test]
fn messages_are_on_the_timelines_of_their_communicator() {
    let mut ranks: Vec<Rank> = (0..3).map(|_| Rank::new()).collect();
    for (me, rank) in (0..).zip(&mut ranks) {
        rank.call("MPI_Comm_split", &|c| {
            _ = c.handle(WORLD).int(0).int(-me).handle(5)
        });
    }
    ranks[2].send(2, 7, 5).send(0, 8, WORLD);
    ranks[0]
        .call("MPI_Irecv", &|c| {
            c.int(9).handle(INT).int(0).int(7).handle(5).int(2);
        })
        .irecv((2, 8), 3);
    // Another thread completes both.
    ranks[0].thread = 1;
    ranks[0]
        .wait(2, Some(status(0, 7)))
        .wait(3, Some(status(2, 8)));
    let (ends, others) = message_ends(ranks);
    let comm = others[0].0;
    assert_eq!(ends, [[(comm, 0, 0), (comm, 2, 1)], [(0, 2, 0), (0, 0, 1)]]);
    let mut members: Vec<_> = others
        .iter()
        .map(|&(comm, own, rank)| (comm, own, rank))
        .collect();
    members.sort_unstable();
    members.dedup();
    assert_eq!(members, [(comm, 0, 2), (comm, 1, 1), (comm, 2, 0)]);
}

/// Ranks 0 and 1 on one side, rank 2 on the other.
#[test]
fn the_sides_of_an_intercommunicator_are_two_communicators() {
    let make = || {
        let mut ranks: Vec<Rank> = (0..3).map(|_| Rank::new()).collect();
        for (me, rank) in (0..).zip(&mut ranks) {
            let half = me / 2;
            rank.call("MPI_Comm_split", &|c| {
                _ = c.handle(WORLD).int(half).int(0).handle(5)
            })
            .call("MPI_Intercomm_create", &|c| {
                c.handle(5)
                    .int(0)
                    .handle(WORLD)
                    .int(2 - 2 * half)
                    .int(1)
                    .handle(6);
            });
        }
        ranks[1].send(0, 7, 6);
        ranks[2].recv((1, 7), 6, Some((1, 7)));
        ranks
    };
    let (ends, mut others) = message_ends(make());
    let [(first, 1, 0), (second, 0, 0)] = ends[0] else {
        panic!("{ends:?}")
    };
    assert!(first != second && first != 0 && second != 0);
    others.retain(|&(comm, ..)| comm == first || comm == second);
    others.sort_unstable_by_key(|&(.., rank)| rank);
    assert_eq!(others, [(first, 0, 0), (first, 1, 1), (second, 0, 2)]);
    let expected = |made: i32, remote: i32| format!("makes={made}, remote={remote}");
    let made = values(make(), "MPI_Intercomm_create");
    let of = |nth: usize| {
        made[nth]
            .rsplit_once(", makes")
            .map(|(_, rest)| format!("makes{rest}"))
    };
    assert_eq!(of(0), Some(expected(first, second)));
    assert_eq!(of(2), Some(expected(second, first)));
}

/// The second rank lacks a counter: its values go to the others by name.
#[test]
fn counters_go_by_name() {
    let mut ranks: Vec<Rank> = (0..2).map(|_| Rank::new()).collect();
    ranks[0].labels = &["FAULTS", "CYC"];
    ranks[0].counters = &[(1, 4), (10, 17)];
    ranks[1].labels = &["CYC"];
    ranks[1].counters = &[(10, 15)];
    for rank in &mut ranks {
        rank.mask = 0xcf;
        rank.call("MPI_Barrier", &|c| _ = c.handle(WORLD));
    }
    let shown = values(ranks, "MPI_Barrier");
    assert_eq!(
        shown,
        ["comm=2, FAULTS=+3, CYC=+7", "comm=2, FAULTS=+-1, CYC=+5"]
    );
}
