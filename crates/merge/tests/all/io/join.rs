//! The rules of the join, one by one, on block files made by hand.

use crate::io::ranks::*;
use blockfile::define::{ClockReading, Definition, FileView};
use blockfile::operation as op;
use blockfile::runs::EvenRun;
use io_attribution::{FileRole, Precision};

/// Two ranks with a file; a view of every second block of ten bytes.
fn two() -> [Rank; 2] {
    [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open(FH, 7, 99, "data");
        rank.view(FH, r as i64 * 10, 20, &[(0, 10)]);
        rank
    })
}

fn aio(kind: u16, fd: i32, offset: i64, bytes: i64) -> (u16, op::OperationRecord) {
    let operation = op::OperationRecord {
        fd,
        offset,
        size: bytes,
        control: Some(0xABC0 + offset as u64),
        ..Default::default()
    };
    (kind, operation)
}

fn aio_return(offset: i64, bytes: i64) -> (u16, op::OperationRecord) {
    let operation = op::OperationRecord {
        fd: -1,
        offset: -1,
        result: bytes,
        control: Some(0xABC0 + offset as u64),
        ..Default::default()
    };
    (op::AIO_RETURN, operation)
}

#[test]
fn an_aggregator_carries_the_bytes_of_all_ranks() {
    let mut ranks = two();
    ranks[0].transfer(10, op::PWRITE, 7, 0, 100);
    ranks[0].transfer(20, op::PREAD, 7, 100, 40);
    ranks[0].transfer(30, op::PWRITE, 7, 100, 40);
    let a = ranks[0].access_by_pointer("MPI_File_write_all", FH, 55);
    let b = ranks[1].access_by_pointer("MPI_File_write_all", FH, 60);
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [
            ("pread", 100, 40, vec![]),
            ("pwrite", 0, 0, vec![(a, 50), (b, 50)]),
            // Up to 120 is asked for, but five bytes of it by nobody.
            ("pwrite", 100, 25, vec![(a, 5), (b, 10)]),
        ]
    );
    assert_eq!(found.trigger(0), Some(a));
    assert_eq!(found.files.len(), 1);
    assert_eq!(
        (found.files[0].role, found.files[0].inode),
        (FileRole::Data, 99)
    );
    let call = &found.calls[&b];
    assert_eq!((call.bounding_extent, call.pieces), (Some((10, 120)), 6));
    assert_eq!(
        (call.sequence, call.bytes, call.writes),
        (Some(0), 60, true)
    );
    assert_eq!((found.totals.exact, found.totals.hole_bytes), (115, 65));
    assert_eq!(found.totals.unattributed, 0);
}

#[test]
fn a_collective_access_that_every_rank_makes_for_itself_credits_nobody_twice() {
    let mut ranks = two();
    // Data sieving: each writes back what lies between its blocks.
    ranks[0].transfer(10, op::PREAD, 7, 0, 50);
    ranks[0].transfer(20, op::PWRITE, 7, 0, 50);
    let a = ranks[0].access_by_pointer("MPI_File_write_all", FH, 30);
    ranks[1].transfer(10, op::PREAD, 7, 10, 50);
    ranks[1].transfer(20, op::PWRITE, 7, 10, 50);
    let b = ranks[1].access_by_pointer("MPI_File_write_all", FH, 30);
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [
            ("pread", 0, 50, vec![]),
            ("pread", 10, 50, vec![]),
            ("pwrite", 0, 20, vec![(a, 30)]),
            ("pwrite", 10, 20, vec![(b, 30)]),
        ]
    );
    assert_eq!(found.totals.independent, 1);
}

#[test]
fn work_that_was_put_off_belongs_to_what_was_begun() {
    let mut ranks = two();
    let a = ranks[0].access_by_pointer("MPI_File_iwrite_all", FH, 30);
    let b = ranks[1].access_by_pointer("MPI_File_iwrite_all", FH, 30);
    ranks[0].transfer(10, op::PWRITE, 7, 0, 60);
    let wait = ranks[0].wait(30);
    ranks[1].wait(30);
    // Complete: a later transfer is nobody's.
    ranks[0].transfer(10, op::PWRITE, 7, 0, 60);
    let barrier = ranks[0].call("MPI_Barrier", &[V::H(WORLD)]);
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [
            ("pwrite", 0, 0, vec![(a, 30), (b, 30)]),
            ("pwrite", 0, 60, vec![]),
        ]
    );
    assert_eq!(found.trigger(0), Some(wait));
    assert!(found.edges.iter().any(|e| e.call == barrier));
    assert!(found.calls[&a].complete > found.calls[&a].stop);
}

#[test]
fn asynchronous_transfers_last_from_submission_until_the_result_is_asked_for() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    let (kind, operation) = aio(op::AIO_WRITE, 7, 100, 30);
    rank.operation(10, kind, operation);
    let (kind, operation) = aio(op::AIO_WRITE, 7, 130, 30);
    rank.operation(20, kind, operation);
    let a = rank.access_at("MPI_File_iwrite_at", FH, 100, 60);
    for offset in [130, 100] {
        let (kind, operation) = aio_return(offset, 30);
        rank.operation(if offset == 130 { 10 } else { 20 }, kind, operation);
    }
    let wait = rank.wait(60);
    let found = Found::of(&[rank]);
    assert_eq!(
        found.carried(),
        [
            ("aio_write", 100, 0, vec![(a, 30)]),
            ("aio_write", 130, 0, vec![(a, 30)]),
        ]
    );
    assert_eq!(found.trigger(100), Some(a));
    assert!(found.edges.iter().all(|e| e.call != wait));
    let both: Vec<_> = found
        .operations
        .values()
        .filter(|o| o.outstanding)
        .collect();
    // They overlap, so each has a line of its own beside that of the thread.
    let mut lanes: Vec<u32> = both.iter().map(|o| o.place.lane.lane).collect();
    lanes.sort_unstable();
    assert_eq!(lanes, [1, 2]);
    assert!(both.iter().all(|o| o.stop > found.calls[&a].stop));
}

#[test]
fn split_accesses_are_groups_and_end_with_their_end() {
    let mut ranks = two();
    let calls: Vec<u64> = ranks
        .iter_mut()
        .map(|r| r.access_at("MPI_File_write_at_all_begin", FH, 20, 20))
        .collect();
    ranks[1].transfer(10, op::PWRITE, 7, 40, 40);
    for rank in &mut ranks {
        let args = [V::H(FH), V::No, V::S(Some(status(0, 0, 20)))];
        rank.call("MPI_File_write_at_all_end", &args);
    }
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [("pwrite", 40, 0, vec![(calls[0], 20), (calls[1], 20)])]
    );
}

#[test]
fn ordered_accesses_stand_in_the_order_of_ranks() {
    let mut ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open(FH, 7, 99, "data");
        rank
    });
    ranks[1].transfer(10, op::PWRITE, 7, 500, 50);
    let calls: Vec<u64> = (0..2)
        .map(|r| ranks[r].access_by_pointer("MPI_File_write_ordered", FH, 20 + 10 * r as i64))
        .collect();
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [("pwrite", 500, 0, vec![(calls[0], 20), (calls[1], 30)])]
    );
    assert_eq!(found.calls[&calls[1]].bounding_extent, Some((520, 550)));
}

#[test]
fn ordered_accesses_that_each_rank_made_for_itself_stand_where_it_put_them() {
    // ROMIO without collective buffering: rank 0 is two calls ahead when rank 1 comes.
    let mut ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open(FH, 7, 99, "data");
        rank
    });
    let mut calls = Vec::new();
    for (r, offset) in [(0, 0), (0, 20), (1, 40), (1, 70)] {
        let bytes = 20 + 10 * r as i64;
        ranks[r].transfer(10, op::PWRITE, 7, offset, bytes);
        let call = ranks[r].access_by_pointer("MPI_File_write_ordered", FH, bytes);
        calls.push((call, bytes as u64));
    }
    let found = Found::of(&ranks);
    let carried: Vec<_> = found.carried().into_iter().map(|c| (c.2, c.3)).collect();
    let expected: Vec<_> = calls.iter().map(|&c| (0, vec![c])).collect();
    assert_eq!(carried, expected);
}

#[test]
fn shared_pointers_are_where_the_own_transfer_is() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    rank.file(8, 77, "/dir/.data.shfp.1234");
    rank.transfer(10, op::PREAD, 8, 0, 8);
    rank.transfer(20, op::PWRITE, 8, 0, 8);
    rank.transfer(30, op::PWRITE, 7, 1000, 64);
    let call = rank.access_by_pointer("MPI_File_write_shared", FH, 64);
    let found = Found::of(&[rank]);
    assert_eq!(
        found.carried(),
        [
            ("pread", 0, 0, vec![]),
            ("pwrite", 0, 0, vec![]),
            ("pwrite", 1000, 0, vec![(call, 64)]),
        ]
    );
    assert!(
        found
            .files
            .iter()
            .any(|f| f.role == FileRole::SharedPointer)
    );
    assert_eq!(found.calls[&call].bounding_extent, Some((1000, 1064)));
}

/// Open MPI's and ROMIO's own files beside the data are known by their names, which a data file may have as well.
#[test]
fn a_data_file_may_be_named_as_files_of_the_library_are() {
    for name in ["mesh.sm", "a.shfp.b", "x.locktest.1"] {
        let mut rank = Rank::new(0, 1);
        rank.open(FH, 7, 99, name);
        rank.transfer(10, op::PWRITE, 7, 0, 64);
        let call = rank.access_at("MPI_File_write_at", FH, 0, 64);
        let found = Found::of(&[rank]);
        assert_eq!(found.carried(), [("pwrite", 0, 0, vec![(call, 64)])]);
        assert_eq!(found.files[0].role, FileRole::Data);
    }
}

/// ROMIO reads what the file has, writes it back, and writes zeros behind it.
#[test]
fn what_a_call_fills_a_file_with_is_no_hole() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    rank.transfer(10, op::PREAD, 7, 0, 64);
    rank.transfer(20, op::PWRITE, 7, 0, 64);
    rank.transfer(30, op::PWRITE, 7, 64, 36);
    rank.call("MPI_File_preallocate", &[V::H(FH), V::I(100)]);
    let found = Found::of(&[rank]);
    assert_eq!(
        found.carried(),
        [
            ("pread", 0, 0, vec![]),
            ("pwrite", 0, 0, vec![]),
            ("pwrite", 64, 0, vec![]),
        ]
    );
    assert_eq!((found.totals.moved, found.totals.hole_bytes), (164, 0));
}

/// Open MPI's sharedfp component `individual` keeps the data in a file of its own until a collective call.
#[test]
fn what_a_shared_pointer_put_off_is_no_hole_later() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    rank.file(8, 77, "/dir/data.data.0");
    rank.transfer(10, op::PWRITE, 8, 0, 64);
    rank.access_by_pointer("MPI_File_write_shared", FH, 64);
    rank.transfer(10, op::PWRITE, 7, 0, 64);
    rank.transfer(20, op::PWRITE, 7, 64, 10);
    rank.access_by_pointer("MPI_File_write_ordered", FH, 10);
    let found = Found::of(&[rank]);
    // The bytes of the first call are no holes, and none of them are called those of the second.
    assert_eq!(found.totals.hole_bytes, 0);
    assert_eq!((found.totals.moved, found.totals.exact), (74, 0));
    assert!(found.carried().iter().all(|one| one.3.is_empty()));
}

#[test]
fn the_smallest_of_several_writes_has_the_byte_and_readers_are_ambiguous() {
    let mut ranks = two();
    // Both aggregate; rank 0 has rank 1's whole transfer inside of what it writes back.
    ranks[0].transfer(5, op::PREAD, 7, 0, 100);
    ranks[0].transfer(10, op::PWRITE, 7, 0, 100);
    ranks[1].transfer(10, op::PWRITE, 7, 40, 20);
    let w: Vec<u64> = ranks
        .iter_mut()
        .map(|r| r.access_at("MPI_File_write_at_all", FH, 0, 50))
        .collect();
    // One rank reads everything, the other one a part of it.
    ranks[0].transfer(10, op::PREAD, 7, 0, 100);
    ranks[0].transfer(20, op::PREAD, 7, 40, 20);
    let r: Vec<u64> = ranks
        .iter_mut()
        .map(|r| r.access_at("MPI_File_read_at_all", FH, 0, 50))
        .collect();
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [
            ("pread", 0, 0, vec![(r[0], 50), (r[1], 50)]),
            ("pread", 0, 100, vec![]),
            ("pread", 40, 0, vec![(r[0], 10), (r[1], 10)]),
            ("pwrite", 0, 20, vec![(w[0], 40), (w[1], 40)]),
            ("pwrite", 40, 0, vec![(w[0], 10), (w[1], 10)]),
        ]
    );
    let mut precisions = found.precisions();
    precisions.sort();
    assert_eq!(precisions[..4], [Precision::Exact; 4]);
    assert_eq!(precisions[4..], [Precision::Ambiguous; 4]);
}

#[test]
fn handles_are_used_again_for_other_files() {
    let mut ranks = two();
    let mut calls = Vec::new();
    for (i, name) in ["data", "other"].into_iter().enumerate() {
        for rank in &mut ranks {
            if i == 1 {
                rank.close(FH);
                rank.open(FH, 7, 55, name);
            }
        }
        ranks[0].transfer(10, op::PWRITE, 7, 0, 40);
        for rank in &mut ranks {
            calls.push(rank.access_at("MPI_File_write_at_all", FH, 20 * rank.b.rank as i64, 20));
        }
    }
    let found = Found::of(&ranks);
    assert_eq!(found.files.len(), 2);
    let carried: Vec<_> = found
        .operations
        .values()
        .filter(|o| o.record.result == 40)
        .collect();
    assert_eq!(carried.len(), 2);
    assert_ne!(carried[0].file, carried[1].file);
    // The new handle has the view of a file that was just opened.
    let first = found.calls_of(carried[0].id);
    let second = found.calls_of(carried[1].id);
    assert_eq!(first, [(calls[0], 20)]);
    assert_eq!(second, [(calls[2], 20), (calls[3], 20)]);
}

#[test]
fn a_rank_whose_records_are_missing_does_not_keep_the_others_from_their_share() {
    let [mut rank, _] = two();
    rank.transfer(10, op::PWRITE, 7, 0, 100);
    let call = rank.access_by_pointer("MPI_File_write_all", FH, 50);
    rank.close(FH);
    let found = Found::of(&[rank]);
    // The rest may be the other rank's: nobody knows what it asked for.
    assert_eq!(found.carried(), [("pwrite", 0, 0, vec![(call, 50)])]);
}

#[test]
fn accesses_that_were_left_out_count_and_their_bytes_are_not_called_holes() {
    let mut ranks = two();
    // The second of three is not recorded on rank 1.
    let mut calls = Vec::new();
    for (i, offset) in [0, 40, 80].into_iter().enumerate() {
        ranks[0].transfer(10, op::PWRITE, 7, offset, 40);
        calls.push(ranks[0].access_by_pointer("MPI_File_write_all", FH, 20));
        if i == 1 {
            ranks[1].b.now += 50;
        } else {
            calls.push(ranks[1].access_at("MPI_File_write_at_all", FH, offset / 2, 20));
        }
        if i == 1 {
            ranks[1].b.define(&Definition::LeftOut {
                file: FH,
                collective: 1,
                outlasts: false,
            });
        }
    }
    let found = Found::of(&ranks);
    let both = |a: usize| vec![(calls[a], 20), (calls[a + 1], 20)];
    assert_eq!(
        found.carried(),
        [
            ("pwrite", 0, 0, both(0)),
            ("pwrite", 40, 0, vec![(calls[2], 20)]),
            ("pwrite", 80, 0, both(3)),
        ]
    );
    assert_eq!(found.totals.hole_bytes, 0);
    assert_eq!(found.calls[&calls[4]].sequence, Some(2));
}

#[test]
fn what_a_nonblocking_access_that_was_left_out_moves_in_a_wait_is_no_hole() {
    for is_told in [false, true] {
        let mut rank = Rank::new(0, 1);
        rank.open(FH, 7, 99, "data");
        if is_told {
            rank.b.define(&Definition::LeftOut {
                file: FH,
                collective: 0,
                outlasts: true,
            });
        }
        rank.transfer(10, op::PWRITE, 7, 0, 60);
        rank.wait(60);
        let found = Found::of(&[rank]);
        let hole_bytes = if is_told { 0 } else { 60 };
        assert_eq!(found.carried(), [("pwrite", 0, hole_bytes, vec![])]);
    }
}

#[test]
fn a_view_counts_though_the_call_that_set_it_was_left_out() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    rank.b.define(&Definition::View(FileView {
        file: FH,
        displacement: 10,
        etype: 1,
        extent: 20,
        size: 10,
        runs: vec![EvenRun::piece(0, 10)],
        ..FileView::default()
    }));
    rank.transfer(10, op::PWRITE, 7, 0, 40);
    let call = rank.access_by_pointer("MPI_File_write", FH, 20);
    let found = Found::of(&[rank]);
    assert_eq!(found.carried(), [("pwrite", 0, 20, vec![(call, 20)])]);
    assert_eq!(found.calls[&call].bounding_extent, Some((10, 40)));
}

#[test]
fn whose_bytes_stay_where_ranks_overwrite_each_other_is_not_known() {
    let mut ranks = [0, 1, 2].map(|r| {
        let mut rank = Rank::new(r, 3);
        rank.open(FH, 7, 99, "data");
        rank
    });
    ranks[0].transfer(10, op::PWRITE, 7, 0, 1900);
    let offsets = [0, 400, 800].into_iter();
    let calls: Vec<u64> = ranks
        .iter_mut()
        .zip(offsets)
        .map(|(rank, offset)| rank.access_at("MPI_File_write_at_all", FH, offset, 1000))
        .collect();
    let found = Found::of(&ranks);
    let carried = calls.iter().map(|&call| (call, 1000)).collect();
    // The last hundred bytes nobody asked for.
    assert_eq!(found.carried(), [("pwrite", 0, 100, carried)]);
    assert_eq!(found.precisions(), [Precision::MayCarry; 3]);
    assert_eq!(found.totals.overwritten, 1000);
    assert!(found.calls.values().all(|call| call.overlaps));
    assert_eq!((found.totals.exact, found.totals.may_carry), (0, 3000));
}

/// A view with `size` bytes in pieces that are too many to be listed: only its first and last byte are known.
fn long_view(rank: &mut Rank, displacement: i64, extent: i64, size: u64) {
    let view = FileView {
        file: FH,
        displacement,
        etype: 1,
        extent,
        size,
        bounding_extent: true,
        runs: vec![EvenRun::piece(0, extent as u64)],
        ..FileView::default()
    };
    rank.define_view(view);
}

#[test]
fn pieces_of_a_view_that_is_not_known_are_linked_to_their_call() {
    // Every rank writes its own pieces: as many bytes as it asked for, from its first to its last one.
    let mut ranks = two();
    let mut calls = Vec::new();
    for (r, rank) in ranks.iter_mut().enumerate() {
        let first = 10 * r as i64;
        long_view(rank, first, 1000, 6);
        for (offset, bytes) in [(0, 1), (40, 2), (997, 3)] {
            rank.transfer(10, op::PWRITE, 7, first + offset, bytes);
        }
        calls.push(rank.access_at("MPI_File_write_at_all", FH, 0, 6));
    }
    let found = Found::of(&ranks);
    let mut carried = found.carried();
    carried.sort();
    let expected = |at: i64, n: u64, call: usize| ("pwrite", at, 0, vec![(calls[call], n)]);
    let mut all = [
        expected(0, 1, 0),
        expected(40, 2, 0),
        expected(997, 3, 0),
        expected(10, 1, 1),
        expected(50, 2, 1),
        expected(1007, 3, 1),
    ];
    all.sort();
    assert_eq!(carried, all);
    assert_eq!(found.precisions(), [Precision::BoundingExtent; 6]);

    // One rank writes for both: every transfer may have bytes of each of them.
    let mut ranks = two();
    for rank in &mut ranks {
        long_view(rank, 0, 1000, 6);
    }
    for (offset, bytes) in [(0, 3), (100, 1), (992, 8)] {
        ranks[0].transfer(10, op::PWRITE, 7, offset, bytes);
    }
    let calls: Vec<u64> = ranks
        .iter_mut()
        .map(|r| r.access_at("MPI_File_write_at_all", FH, 0, 6))
        .collect();
    let found = Found::of(&ranks);
    for (_, _, holes, carried) in found.carried() {
        let named: Vec<u64> = carried.iter().map(|c| c.0).collect();
        assert_eq!((named, holes), (calls.clone(), 0));
    }
    assert_eq!(found.precisions(), [Precision::BoundingExtent; 6]);
}

#[test]
fn a_part_of_a_view_that_is_not_known_may_be_far_behind() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    long_view(&mut rank, 100, 1000, 6);
    // The second byte of six is at least 4 bytes before the end of the view.
    rank.transfer(10, op::PWRITE, 7, 1095, 1);
    let call = rank.access_at("MPI_File_write_at", FH, 1, 1);
    let found = Found::of(&[rank]);
    assert_eq!(found.calls[&call].bounding_extent, Some((101, 1096)));
    assert_eq!(found.calls[&call].pieces, 0);
    assert_eq!(found.carried(), [("pwrite", 1095, 0, vec![(call, 1)])]);
    assert_eq!(found.precisions(), [Precision::BoundingExtent]);
}

#[test]
fn more_pieces_than_are_compared_are_not_called_exact() {
    // 200 000 pieces of three bytes each, those of rank 1 a byte behind, or in the gaps.
    for (shift, precision) in [(1, Precision::Ambiguous), (3, Precision::Exact)] {
        let mut ranks = two();
        let run = EvenRun {
            offset: 0,
            length: 3,
            count: 200_000,
            stride: 8,
        };
        for (r, rank) in ranks.iter_mut().enumerate() {
            rank.define_view(FileView {
                file: FH,
                displacement: shift * r as i64,
                etype: 1,
                extent: 1_600_000,
                size: 600_000,
                runs: vec![run],
                ..FileView::default()
            });
        }
        ranks[0].transfer(10, op::PWRITE, 7, 0, 1_599_998);
        for rank in &mut ranks {
            rank.access_at("MPI_File_write_at_all", FH, 0, 600_000);
        }
        let found = Found::of(&ranks);
        assert_eq!(found.precisions(), [precision; 2], "{shift}");
        assert!(found.calls.values().all(|call| !call.overlaps));
    }
}

#[test]
fn what_is_written_twice_without_having_been_read_may_be_of_either() {
    let mut ranks = two();
    ranks[0].transfer(10, op::PWRITE, 7, 0, 100);
    ranks[1].transfer(10, op::PWRITE, 7, 40, 20);
    let calls: Vec<u64> = ranks
        .iter_mut()
        .map(|r| r.access_at("MPI_File_write_at_all", FH, 0, 50))
        .collect();
    let found = Found::of(&ranks);
    assert_eq!(
        found.carried(),
        [
            ("pwrite", 0, 0, vec![(calls[0], 50), (calls[1], 50)]),
            ("pwrite", 40, 0, vec![(calls[0], 10), (calls[1], 10)]),
        ]
    );
    let mut precisions = found.precisions();
    precisions.sort();
    assert_eq!(precisions[..2], [Precision::Exact; 2]);
    assert_eq!(precisions[2..], [Precision::Ambiguous; 2]);
}

#[test]
fn a_file_may_be_opened_by_the_name_of_a_link() {
    let mut rank = Rank::new(0, 1);
    rank.file(7, 99, "/elsewhere/real");
    let operation = op::OperationRecord {
        fd: 7,
        offset: -1,
        result: 7,
        ..Default::default()
    };
    rank.operation(5, op::OPEN, operation);
    let args = [
        V::H(WORLD),
        V::T(Some("nfs:link")),
        V::I(9),
        V::H(0),
        V::H(FH),
    ];
    rank.call("MPI_File_open", &args);
    rank.transfer(10, op::PWRITE, 7, 0, 10);
    let call = rank.access_at("MPI_File_write_at", FH, 0, 10);
    let found = Found::of(&[rank]);
    assert_eq!(found.carried(), [("pwrite", 0, 0, vec![(call, 10)])]);
    assert_eq!(found.files.len(), 1);
    assert_eq!(found.files[0].role, FileRole::Data);
}

#[test]
fn a_call_that_never_returned_has_its_operations() {
    let mut rank = Rank::new(0, 1);
    rank.open(FH, 7, 99, "data");
    rank.transfer(10, op::PWRITE, 7, 0, 10);
    let bytes = rank.unfinished("MPI_File_write_at");
    let found = Found::of_bytes(&[bytes]);
    let write = found
        .operations
        .values()
        .find(|o| o.kind == op::PWRITE)
        .unwrap();
    // Its arguments are not known, so neither are the sieving holes.
    assert_eq!((write.call, write.hole_bytes), (Some(77), 0));
    assert_eq!(found.trigger(0), Some(77));
}

#[test]
fn what_happens_outside_of_mpi_has_no_call() {
    let mut rank = Rank::new(0, 1);
    rank.file(3, 5, "/dir/log");
    let operation = op::OperationRecord {
        flags: op::OUTSIDE,
        fd: 3,
        size: 10,
        result: 10,
        ..Default::default()
    };
    rank.operation(0, op::WRITE, operation);
    rank.b.now += 10;
    rank.open(FH, 7, 99, "data");
    let found = Found::of(&[rank]);
    assert_eq!(found.edges.len(), 1);
    let write = found
        .operations
        .values()
        .find(|o| o.kind == op::WRITE)
        .unwrap();
    assert_eq!((write.call, write.hole_bytes), (None, 0));
}

#[test]
fn an_unfinished_run_is_joined_as_far_as_it_goes() {
    let mut ranks = two();
    ranks[0].transfer(10, op::PWRITE, 7, 0, 40);
    let a = ranks[0].access_by_pointer("MPI_File_iwrite_all", FH, 20);
    let (kind, operation) = aio(op::AIO_WRITE, 7, 10, 10);
    ranks[1].operation(10, kind, operation);
    let b = ranks[1].access_by_pointer("MPI_File_iwrite_all", FH, 20);
    for rank in &mut ranks {
        let now = u64::from(rank.b.now);
        rank.b.define(&Definition::Clock(ClockReading {
            ticks: now,
            monotonic: now,
            ..Default::default()
        }));
    }
    let found = Found::of(&ranks);
    assert_eq!(found.calls.len(), 2);
    // The asynchronous transfer has no result: it moved nothing that is known of.
    assert_eq!(found.carried(), [("pwrite", 0, 0, vec![(a, 20), (b, 20)])]);
    assert_eq!(
        found.operations.values().filter(|o| o.outstanding).count(),
        1
    );
}
