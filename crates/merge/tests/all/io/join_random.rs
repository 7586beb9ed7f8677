//! The join against the truth found byte by byte: random files, views, and ways in which ranks share out the work; and what
//! it keeps in memory, and damaged block files.

use crate::io::ranks::*;
use blockfile::define::FileView;
use blockfile::operation as op;
use io_attribution::event::{
    AccessEvent, AccessPosition, AttributionEvent, AttributionEventKind, EnclosingCall,
    OpenedHandle, OperationEvent, SeenFile, ViewPart,
};
use io_attribution::{Actor, Attributor, FileRole};
use proptest::prelude::*;
use std::collections::BTreeMap;

const KEY: u128 = 77;

fn item(rank: u32, what: AttributionEventKind) -> AttributionEvent {
    AttributionEvent {
        actor: Actor::Rank(rank),
        thread: 0,
        what,
    }
}

/// A rank opens the file.
fn opened(rank: u32, members: u32) -> [AttributionEvent; 2] {
    [
        item(
            rank,
            AttributionEventKind::Opened(OpenedHandle {
                handle: 0,
                key: KEY,
                members,
                rank,
                name: "f".to_owned(),
            }),
        ),
        item(
            rank,
            AttributionEventKind::File(SeenFile {
                seen: 0,
                handle: Some(0),
                role: FileRole::Data,
                device: 1,
                inode: 2,
                name: "/f".to_owned(),
            }),
        ),
    ]
}

fn view(rank: u32, pieces: Vec<(i64, u64)>, extent: i64) -> AttributionEvent {
    item(
        rank,
        AttributionEventKind::View(ViewPart {
            handle: 0,
            first: true,
            last: true,
            view: FileView {
                etype: 1,
                extent,
                size: pieces.iter().map(|p| p.1).sum(),
                runs: runs_of(&pieces),
                ..FileView::default()
            },
        }),
    )
}

fn call_id(rank: u32, number: u64) -> u64 {
    u64::from(rank) << BITS | number
}

#[derive(Clone, Copy)]
struct Asks {
    sequence: Option<u64>,
    writes: bool,
    at: i64,
    bytes: u64,
    outlasts: bool,
}

fn access(rank: u32, number: u64, time: i64, asks: Asks) -> AttributionEvent {
    item(
        rank,
        AttributionEventKind::Access(AccessEvent {
            call: call_id(rank, number),
            function: 1,
            start: time,
            stop: time + 50,
            handle: Some(0),
            sequence: asks.sequence,
            writes: asks.writes,
            position: AccessPosition::At(asks.at),
            bytes: Some(asks.bytes),
            outlasts: asks.outlasts,
            failed: false,
        }),
    )
}

fn transfer(rank: u32, inside: u64, time: i64, write: bool, range: (u64, u64)) -> AttributionEvent {
    item(
        rank,
        AttributionEventKind::Operation(OperationEvent {
            kind: if write { op::PWRITE } else { op::PREAD },
            lane: 0,
            start: time,
            stop: time + 1,
            error: 0,
            record: op::OperationRecord {
                fd: 7,
                offset: range.0 as i64,
                size: (range.1 - range.0) as i64,
                result: (range.1 - range.0) as i64,
                ..Default::default()
            },
            file: Some(0),
            inside: Some(EnclosingCall {
                call: call_id(rank, inside),
                function: 1,
                start: 10,
            }),
            outstanding: false,
            arrived: time,
        }),
    )
}

fn complete(rank: u32, number: u64) -> AttributionEvent {
    let call = call_id(rank, number);
    let what = AttributionEventKind::Complete {
        call,
        moved: None,
        failed: false,
    };
    item(rank, what)
}

/// Joins items that are in order of time.
fn join(items: Vec<(i64, AttributionEvent)>) -> Found {
    let table = wrappers::table().unwrap();
    let mut attributor = Attributor::new(table);
    let mut found = Found::default();
    for (time, item) in items {
        let mut bytes = Vec::new();
        item.encode(&mut bytes);
        let item = AttributionEvent::decode(&bytes).expect("the item");
        let put = &mut |fact: &io_attribution::AttributionRecord| {
            found.take(fact);
            Ok(())
        };
        attributor.push(time, item, put).unwrap();
    }
    let put = &mut |fact: &io_attribution::AttributionRecord| {
        found.take(fact);
        Ok(())
    };
    let totals = attributor.finish(put).unwrap();
    found.totals = totals;
    found
}

/// Who owns each byte of a file; the view of a rank is its bytes of it.
fn pieces(owners: &[Option<u32>], rank: u32) -> Vec<(i64, u64)> {
    let mut pieces: Vec<(i64, u64)> = Vec::new();
    for (at, owner) in owners.iter().enumerate() {
        if *owner == Some(rank) {
            match pieces.last_mut() {
                Some(last) if last.0 + last.1 as i64 == at as i64 => last.1 += 1,
                _ => pieces.push((at as i64, 1)),
            }
        }
    }
    pieces
}

/// A file of cells that belong to a rank or to nobody.
fn owners(ranks: u32) -> impl Strategy<Value = Vec<Option<u32>>> {
    let cell = (0..=ranks, 1..12_usize);
    prop::collection::vec(cell, 1..40).prop_map(move |cells| {
        cells
            .into_iter()
            .flat_map(|(owner, n)| vec![(owner < ranks).then_some(owner); n])
            .collect()
    })
}

/// Shares of aggregators in a collective access: where a transfer ends, who makes it, and in how many copies of the view.
type Plan = Vec<(u64, u32)>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Two phases: the file is cut anywhere, and any rank transfers any part of it, in the call or in a Wait.
    #[test]
    fn collective_writes_are_shared_out_to_the_byte(
        (ranks, owners, cuts) in (2..6_u32).prop_flat_map(|ranks| {
            let cuts = prop::collection::vec((1..200_u64, 0..ranks), 1..30);
            (Just(ranks), owners(ranks), cuts)
        }),
        copies in 1..4_u64,
        put_off: bool,
        short in 0..3_u64,
    ) {
        let plan: Plan = cuts;
        let extent = owners.len() as u64;
        let mut items = Vec::new();
        let mut asked = BTreeMap::new();
        for rank in 0..ranks {
            items.extend(opened(rank, ranks).map(|i| (0, i)));
            let pieces = pieces(&owners, rank);
            let bytes = (pieces.iter().map(|p| p.1).sum::<u64>() * copies).saturating_sub(short);
            asked.insert(rank, bytes);
            items.push((1, view(rank, pieces, extent as i64)));
        }
        for rank in 0..ranks {
            let bytes = asked[&rank];
            let asks = Asks { sequence: Some(0), writes: true, at: 0, bytes, outlasts: put_off };
            items.push((10, access(rank, 1, 10, asks)));
        }
        // The truth: which rank asked for which byte of the file.
        let mut truth = BTreeMap::new();
        let mut left = asked.clone();
        for at in 0..extent * copies {
            if let Some(owner) = owners[(at % extent) as usize]
                && let Some(left) = left.get_mut(&owner).filter(|l| **l > 0)
            {
                *left -= 1;
                truth.insert(at, owner);
            }
        }
        let inside = if put_off { 2 } else { 1 };
        let mut at = 0;
        let mut expected = Vec::new();
        for (i, &(bytes, rank)) in plan.iter().cycle().enumerate() {
            let end = (at + bytes).min(extent * copies);
            items.push((20 + i as i64, transfer(rank, inside, 20 + i as i64, true, (at, end))));
            let mut carried: BTreeMap<u64, u64> = BTreeMap::new();
            for byte in at..end {
                if let Some(owner) = truth.get(&byte) {
                    *carried.entry(call_id(*owner, 1)).or_default() += 1;
                }
            }
            let hole_bytes = end - at - carried.values().sum::<u64>();
            expected.push(("pwrite", at as i64, hole_bytes, carried.into_iter().collect::<Vec<_>>()));
            at = end;
            if at == extent * copies {
                break;
            }
        }
        for rank in 0..ranks {
            items.push((1_000_000, complete(rank, 1)));
        }
        let found = join(items);
        expected.sort();
        prop_assert_eq!(found.carried(), expected);
        prop_assert_eq!(found.totals.unattributed, 0);
        prop_assert_eq!(found.totals.exact, truth.len() as u64);
    }

    /// Every rank works for itself: it reads and writes back windows that hold other ranks' bytes as well.
    #[test]
    fn data_sieving_carries_only_the_own_bytes(
        (ranks, owners) in (2..5_u32).prop_flat_map(|ranks| (Just(ranks), owners(ranks))),
        window in 3..100_u64,
        writes: bool,
    ) {
        let mut items = Vec::new();
        let mut expected = Vec::new();
        for rank in 0..ranks {
            items.extend(opened(rank, ranks).map(|i| (0, i)));
            items.push((1, view(rank, pieces(&owners, rank), owners.len() as i64)));
        }
        for rank in 0..ranks {
            let own: Vec<u64> = (0..owners.len() as u64)
                .filter(|&b| owners[b as usize] == Some(rank))
                .collect();
            let asks = Asks { sequence: Some(0), writes, at: 0, bytes: own.len() as u64, outlasts: false };
            items.push((10, access(rank, 1, 10, asks)));
            let (Some(&first), Some(&last)) = (own.first(), own.last()) else {
                continue;
            };
            let mut at = first;
            while at <= last {
                let end = (at + window).min(last + 1);
                if writes {
                    items.push((20, transfer(rank, 1, 20, false, (at, end))));
                    expected.push(("pread", at as i64, end - at, Vec::new()));
                }
                items.push((21, transfer(rank, 1, 21, writes, (at, end))));
                let bytes = own.iter().filter(|b| (at..end).contains(b)).count() as u64;
                let carried = if bytes > 0 { vec![(call_id(rank, 1), bytes)] } else { Vec::new() };
                let name = if writes { "pwrite" } else { "pread" };
                expected.push((name, at as i64, end - at - bytes, carried));
                at = end;
            }
        }
        for rank in 0..ranks {
            items.push((30, complete(rank, 1)));
        }
        items.sort_by_key(|i| i.0);
        let found = join(items);
        expected.sort();
        prop_assert_eq!(found.carried(), expected);
        prop_assert_eq!(found.totals.unattributed, 0);
    }

    /// Several nonblocking accesses are under way; pieces of all of them are written in any order in later calls.
    #[test]
    fn pieces_of_several_outstanding_accesses_find_theirs(
        accesses in prop::collection::vec((1..60_u64, 0..20_u64), 1..6),
        piece in 1..30_u64,
        order: u64,
    ) {
        let mut items: Vec<(i64, AttributionEvent)> = opened(0, 1).map(|i| (0, i)).to_vec();
        let mut at = 0;
        let mut expected = Vec::new();
        let mut parts = Vec::new();
        for (i, &(bytes, gap)) in accesses.iter().enumerate() {
            at += gap;
            let number = 1 + i as u64;
            let asks = Asks { sequence: None, writes: true, at: at as i64, bytes, outlasts: true };
            items.push((10 + i as i64, access(0, number, 10 + i as i64, asks)));
            for from in (at..at + bytes).step_by(piece as usize) {
                let to = (from + piece).min(at + bytes);
                parts.push((from, to));
                expected.push(("pwrite", from as i64, 0, vec![(call_id(0, number), to - from)]));
            }
            at += bytes;
        }
        parts.sort_by_key(|p| p.0.wrapping_mul(order | 1).rotate_left(7));
        for (i, &range) in parts.iter().enumerate() {
            let time = 100 + i as i64;
            items.push((time, transfer(0, 50, time, true, range)));
        }
        for i in 0..accesses.len() {
            items.push((10_000, complete(0, 1 + i as u64)));
        }
        let found = join(items);
        expected.sort();
        prop_assert_eq!(found.carried(), expected);
    }
}

#[test]
fn nothing_is_kept_of_what_is_complete() {
    let table = wrappers::table().unwrap();
    let mut attributor = Attributor::new(table);
    let (mut operations, mut edges, mut most) = (0_u64, 0_u64, 0);
    let mut put = |fact: &io_attribution::AttributionRecord| {
        match fact {
            io_attribution::AttributionRecord::Operation(_) => operations += 1,
            io_attribution::AttributionRecord::Edge(_) => edges += 1,
            _ => {}
        }
        Ok(())
    };
    for rank in 0..2 {
        for what in opened(rank, 2) {
            attributor.push(0, what, &mut put).unwrap();
        }
        let view = view(rank, vec![(i64::from(rank) * 8, 8)], 16);
        attributor.push(0, view, &mut put).unwrap();
    }
    let rounds = 20_000;
    for round in 0..rounds {
        let time = 100 * (1 + round as i64);
        for rank in 0..2 {
            let asks = Asks {
                sequence: Some(round),
                writes: true,
                at: 64 * round as i64,
                bytes: 64,
                outlasts: round % 2 == 0,
            };
            attributor
                .push(time, access(rank, 2 * round, time, asks), &mut put)
                .unwrap();
        }
        let from = 128 * round;
        let inside = 2 * round;
        let one = transfer(0, inside, time + 1, true, (from, from + 128));
        attributor.push(time + 1, one, &mut put).unwrap();
        for rank in 0..2 {
            attributor
                .push(time + 2, complete(rank, 2 * round), &mut put)
                .unwrap();
            let own = Asks {
                sequence: None,
                writes: true,
                at: 64 * round as i64,
                bytes: 64,
                outlasts: false,
            };
            let number = 2 * round + 1;
            attributor
                .push(time + 3, access(rank, number, time + 3, own), &mut put)
                .unwrap();
            for piece in 0..8 {
                let start = from + 16 * piece + 8 * u64::from(rank);
                let one = transfer(rank, number, time + 4, true, (start, start + 8));
                attributor.push(time + 4, one, &mut put).unwrap();
            }
            attributor
                .push(time + 5, complete(rank, number), &mut put)
                .unwrap();
        }
        most = most.max(attributor.waiting());
    }
    let totals = attributor.finish(&mut put).unwrap();
    assert!(most < 20, "{most} things are kept");
    assert_eq!(operations, rounds * 17);
    assert_eq!(edges, rounds * (3 + 2 * 16));
    assert_eq!((totals.hole_bytes, totals.unattributed), (0, 0));
    assert_eq!(totals.exact, rounds * 256);
}

/// Two ranks with all kinds of things in their files.
fn some() -> Vec<Vec<u8>> {
    let mut ranks = [0, 1].map(|r| {
        let mut rank = Rank::new(r, 2);
        rank.open(FH, 7, 99, "data");
        rank.view(FH, r as i64 * 10, 20, &[(0, 4), (6, 4)]);
        rank
    });
    for rank in &mut ranks {
        rank.transfer(10, op::PWRITE, 7, 0, 100);
        rank.access_by_pointer("MPI_File_write_all", FH, 60);
        let operation = op::OperationRecord {
            fd: 7,
            offset: 30,
            size: 50,
            control: Some(5),
            ..Default::default()
        };
        rank.operation(10, op::AIO_WRITE, operation);
        rank.access_at("MPI_File_iwrite_at", FH, 9, 33);
        let operation = op::OperationRecord {
            fd: -1,
            result: 50,
            control: Some(5),
            ..Default::default()
        };
        rank.operation(5, op::AIO_RETURN, operation);
        rank.wait(33);
        rank.transfer(10, op::PREAD, 7, 0, 10);
        rank.access_by_pointer("MPI_File_read_ordered", FH, 7);
        rank.close(FH);
    }
    ranks.iter().map(|r| r.b.bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn damaged_block_files_do_no_harm(
        flips in prop::collection::vec((65536..67500_usize, any::<u8>()), 1..12),
        long in prop::collection::vec((65536..67400_usize, any::<u64>()), 0..3),
        which in 0..2_usize,
    ) {
        let mut bytes = some();
        for (at, value) in flips {
            bytes[which][at] = value;
        }
        for (at, value) in long {
            bytes[which][at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        let files: Vec<_> = bytes.iter().filter_map(|b| blockfile::file::BlockFile::new(b).ok()).collect();
        let table = wrappers::table().unwrap();
        let _ = io_attribution::attribute_files(&files, table, &mut |_| Ok(()));
    }
}
