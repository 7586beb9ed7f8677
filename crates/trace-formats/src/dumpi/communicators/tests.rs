//! Communicators of small runs, made by calls written to files in memory.

use super::super::ids;
use super::super::read::DumpiReader;
use super::super::types::{ClockOffsets, ClockSpan, DumpiTrailer, Mask};
use super::super::write::{DumpiWriter, LIBDUMPI, RecordBuilder, RecordHead};
use super::*;

const WORLD_NUMBER: i32 = 2;
const SELF_NUMBER: i32 = 3;
const NULL_NUMBER: i32 = 1;

/// Writes the call of a function, its arguments put in by the last parameter.
fn call(
    writer: &mut DumpiWriter<Vec<u8>>,
    id: u16,
    arguments: impl FnOnce(&mut RecordBuilder<'_, Vec<u8>>),
) {
    call_at(writer, id, ClockSpan::default(), arguments);
}

/// Writes the call of a function at this time.
fn call_at(
    writer: &mut DumpiWriter<Vec<u8>>,
    id: u16,
    wall: ClockSpan,
    arguments: impl FnOnce(&mut RecordBuilder<'_, Vec<u8>>),
) {
    let head = RecordHead {
        mask: Mask::DEFAULT,
        thread: 0,
        cpu: ClockSpan::default(),
        wall,
    };
    let mut call = writer.call(id, &head, &[]);
    arguments(&mut call);
    call.end().expect("a call that fits its function");
}

/// The calls of a rank that make communicators, and its handles after the last of them.
fn creations(write: impl FnOnce(&mut DumpiWriter<Vec<u8>>)) -> (HandleNames, Vec<CommCreation>) {
    let mut writer = DumpiWriter::new(Vec::new(), ClockOffsets::default()).expect("a vector grows");
    write(&mut writer);
    let (bytes, _) = (writer.finish(&DumpiTrailer::default(), LIBDUMPI)).expect("a vector grows");
    let reader = DumpiReader::open(&bytes).expect("a file just made");
    let mut names = HandleNames::default();
    let mut list = Vec::new();
    for record in reader.records() {
        let record = record.expect("a record just made");
        list.extend(names.take(&record));
    }
    (names, list)
}

/// World ranks of the members of the communicator that a rank calls `number`.
fn members(comms: &Communicators, names: &HandleNames, rank: u32, number: i32) -> Option<Vec<u32>> {
    let comm = comms.index(rank as usize, names.comm(number))?;
    let (size, _) = comms.size_and_rank(comm, rank)?;
    (0..size)
        .map(|peer| comms.world_rank(comm, rank, peer as i32))
        .collect()
}

#[test]
fn split_dup_group_and_create() {
    // 0..4 split into even and odd by falling key, each part duplicated; world's ranks 3 and 1 made one of a group.
    let mut names = Vec::new();
    let mut calls = Vec::new();
    for rank in 0..4 {
        let (handles, list) = creations(|writer| {
            call(writer, ids::COMM_SPLIT, |c| {
                c.handle(WORLD_NUMBER).int(rank % 2).int(-rank).handle(4);
            });
            call(writer, ids::COMM_DUP, |c| {
                c.handle(4).handle(5);
            });
            call(writer, ids::COMM_GROUP, |c| {
                c.handle(WORLD_NUMBER).handle(3);
            });
            call(writer, ids::GROUP_INCL, |c| {
                c.handle(3).int(2).ints([3, 1]).handle(4);
            });
            let new = if rank % 2 == 1 { 6 } else { NULL_NUMBER };
            call(writer, ids::COMM_CREATE, |c| {
                c.handle(WORLD_NUMBER).handle(4).handle(new);
            });
            call(writer, ids::COMM_JOIN, |c| {
                c.int(0).handle(7);
            });
            call(writer, ids::COMM_DUP, |c| {
                c.handle(7).handle(8);
            });
        });
        names.push(handles);
        calls.push((rank as u32, list));
    }
    let comms = Communicators::new(4, &calls, ReorderedTopologies::Unknown);
    for rank in 0..4u32 {
        let members = |number| members(&comms, &names[rank as usize], rank, number);
        let half = Some(vec![2 + rank % 2, rank % 2]);
        let pair = (rank % 2 == 1).then(|| vec![3, 1]);
        let made: Vec<_> = (4..9).map(members).collect();
        assert_eq!(made, [half.clone(), half, pair, None, None], "rank {rank}");
    }
    let split = comms.index(3, names[3].comm(4)).expect("followed");
    assert_eq!(comms.size_and_rank(split, 3), Some((2, 0)));
    assert_eq!(comms.size_and_rank(split, 0), None, "not a member");
    assert_eq!(comms.size_and_rank(WORLD, 2), Some((4, 2)));
}

/// A library gives the handle of a communicator to another thread as soon as it is free, before the call that frees it returns.
#[test]
fn a_number_that_is_given_anew_while_it_is_freed_stays() {
    let after = |freed: ClockSpan| {
        let (names, list) = creations(|writer| {
            call_at(writer, ids::COMM_DUP, ClockSpan::from_ns(10, 20), |c| {
                c.handle(WORLD_NUMBER).handle(4);
            });
            call_at(writer, ids::COMM_SPLIT, ClockSpan::from_ns(25, 40), |c| {
                c.handle(WORLD_NUMBER).int(0).int(0).handle(4);
            });
            call_at(writer, ids::COMM_FREE, freed, |c| {
                c.handle(4);
            });
        });
        assert_eq!(list.len(), 2);
        names.comm(4)
    };
    assert_eq!(after(ClockSpan::from_ns(30, 50)), CommName::Made(1));
    assert_eq!(after(ClockSpan::from_ns(40, 50)), CommName::Unknown);
}

#[test]
fn a_rank_that_never_comes() {
    let (names, list) = creations(|writer| {
        call(writer, ids::COMM_DUP, |c| {
            c.handle(WORLD_NUMBER).handle(4);
        });
        call(writer, ids::COMM_DUP, |c| {
            c.handle(SELF_NUMBER).handle(5);
        });
    });
    let calls = [(0, list), (1, Vec::new())];
    let comms = Communicators::new(2, &calls, ReorderedTopologies::Unknown);
    assert_eq!(members(&comms, &names, 0, 4), None);
    assert_eq!(members(&comms, &names, 0, 5), Some(vec![0]));
}

#[test]
fn topologies_that_may_be_reordered() {
    let one = || {
        creations(|writer| {
            call(writer, ids::CART_CREATE, |c| {
                let (dims, periods, reorder) = ([1], [0], 1);
                c.handle(WORLD_NUMBER).int(1).ints(dims).ints(periods);
                c.int(reorder).handle(4);
            });
        })
    };
    let (names, list) = one();
    let calls = [(0, list)];
    for (reordered, expected) in [
        (ReorderedTopologies::Unknown, None),
        (ReorderedTopologies::KeepOrder, Some(vec![0])),
    ] {
        let comms = Communicators::new(1, &calls, reordered);
        assert_eq!(members(&comms, &names, 0, 4), expected);
    }
}
