//! Communicators, threads, files, clocks and running calls, from block files to CLOG2 and SLOG2.

use crate::block_files::ranks::*;
use blockfile::define::{ClockReading, CommCreation, Definition, Sync};
use blockfile::file::BlockFile;
use blockfile::layout::{BLOCK_SIZE, BlockHeader, FileHeader};
use merge::local::{Merge, MergeOptions};
use std::collections::HashSet;
use std::mem::offset_of;
use trace_formats::clog2::states::CallIdDisplay;
use trace_formats::clog2::{Clog2Body, Clog2CommKind, Clog2Reader, Clog2StateDef, comm_etype};
use unify::run_files::RunFilesError;

use V::{H, I, No, S};

fn state_defs(merged: &Merged) -> Vec<Clog2StateDef> {
    let body = |r: &trace_formats::clog2::Clog2Record| match r.body {
        Clog2Body::StateDef(d) => Some(d),
        _ => None,
    };
    merged.records.iter().filter_map(body).collect()
}

#[test]
fn every_call_is_a_state_and_every_state_is_described_once() {
    let mut a = rank(0, 2);
    let mut b = rank(1, 2);
    for r in [&mut a, &mut b] {
        r.call("MPI_Init", &[I(0), V::A(None)]);
        r.call("MPI_Comm_rank", &[H(WORLD), I(0)]);
    }
    b.call("MPI_Barrier", &[H(WORLD)]);
    b.define(&Definition::Function {
        number: blockfile::record::FIRST_UNKNOWN + 3,
        name: "MPIX_Own".to_owned(),
    });
    let now = b.now;
    b.record(blockfile::record::FIRST_UNKNOWN + 3, now, 5, &[]);
    b.now += 100;
    for r in [&mut a, &mut b] {
        r.call("MPI_Finalize", &[]);
    }
    let merged = merge(&[a, b]);
    let defs = state_defs(&merged);
    let names: Vec<_> = defs.iter().map(|d| d.name.to_str().into_owned()).collect();
    assert_eq!(
        names,
        [
            "MPI_Barrier",
            "MPI_Comm_rank",
            "MPI_Init",
            "MPI_Finalize",
            "MPIX_Own"
        ]
    );
    assert!(defs.is_sorted_by_key(|d| d.state_id));
    let (_, states, conversion) = merged.drawables();
    assert_eq!(states.len(), 8);
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(conversion.warnings, Default::default());
    let last = merged.preamble.user_event_id_start + 2 * merged.preamble.user_state_id_count;
    assert!(defs.iter().all(|d| d.final_etype < last));
    assert!(last <= merged.preamble.user_solo_event_id_start);
}

#[test]
fn communicators_are_announced_by_their_members_and_numbered_once() {
    let ranks: Vec<Blocks> = (0..4)
        .map(|r| {
            let mut b = rank(r, 4);
            // The even and the odd ranks, each half with another handle; then a duplicate of the halves, freed again.
            let half: Vec<i32> = (0..4).filter(|m| m % 2 == r % 2).collect();
            let (handle, dup) = (600 + r as u64, 700);
            intra(&mut b, handle, WORLD, CommCreation::Parent, r / 2, &half);
            b.call(
                "MPI_Comm_split",
                &[H(WORLD), I((r % 2).into()), I(0), H(handle)],
            );
            intra(&mut b, dup, handle, CommCreation::Parent, r / 2, &half);
            b.call("MPI_Comm_dup", &[H(handle), H(dup)]);
            b.call("MPI_Barrier", &[H(dup)]);
            b.call("MPI_Comm_free", &[H(dup)]);
            // The handle is used again.
            intra(&mut b, dup, WORLD, CommCreation::Parent, r, &[0, 1, 2, 3]);
            b.call("MPI_Comm_dup", &[H(WORLD), H(dup)]);
            b.call("MPI_Barrier", &[H(dup)]);
            b
        })
        .collect();
    let merged = merge(&ranks);
    let reader = Clog2Reader::new(&merged.clog2).expect("a CLOG2 file");
    let table = reader.comm_table().expect("a table");
    // Root's five; the three other SELFs and the odd half with its duplicate.
    let kinds: Vec<i32> = table.0.iter().map(|e| e.kind.number()).collect();
    assert_eq!(kinds, [1, 1, 1, 1, 1, -1, -1, -1, -1, -1]);
    assert!(table.0.iter().zip(0..).all(|(e, i)| e.lid == i));
    let distinct: HashSet<_> = table.0.iter().map(|e| e.gid).collect();
    assert_eq!(distinct.len(), 10);

    let of = |rank: i32| -> Vec<String> {
        let world = |r: &trace_formats::clog2::Clog2Record| match r.body {
            Clog2Body::Comm(c) if c.etype != comm_etype::FREE => Some((c.wrank, c.icomm, c.rank)),
            _ => None,
        };
        let all = merged.records.iter().filter_map(world);
        all.filter(|c| c.0 == rank)
            .map(|(_, lid, r)| format!("{lid}/{r}"))
            .collect()
    };
    assert_eq!(of(0), ["0/0", "1/0", "2/0", "3/0", "4/0"]);
    // Rank 3 is joined before rank 2, as in the tree of MPI_Finalize.
    assert_eq!(of(2), ["0/2", "9/0", "2/1", "3/1", "4/2"]);
    let odd = of(3);
    assert_eq!(odd[2..], [odd[2].clone(), odd[3].clone(), "4/3".to_owned()]);
    assert_eq!(of(1)[2].replace("/0", "/1"), odd[2]);

    let words: Vec<String> = merged.words();
    let own: Vec<&String> = words
        .iter()
        .filter(|w| w.starts_with("3/0 ") || w.starts_with("4/0 ") || w.starts_with("2/0 "))
        .collect();
    assert_eq!(
        own,
        [
            "2/0 -10",
            "2/0 +MPI_Comm_dup",
            "2/0 comm 100 3/0",
            "3/0 -10",
            "2/0 -MPI_Comm_dup",
            "3/0 +MPI_Barrier",
            "3/0 -MPI_Barrier",
            "3/0 +MPI_Comm_free",
            "3/0 comm 10 -999999999/-1",
            "3/0 -9",
            "3/0 -MPI_Comm_free",
            "4/0 -10",
            "4/0 +MPI_Barrier",
            "4/0 -MPI_Barrier",
        ]
    );
    let (_, states, conversion) = merged.drawables();
    assert_eq!(states.len(), 24);
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(conversion.warnings, Default::default());
}

#[test]
fn messages_cross_intercommunicators_in_both_directions() {
    let sides = [vec![0, 3], vec![2, 1, 4]];
    let side_of = |r: i32| usize::from(sides[1].contains(&r));
    let ranks: Vec<Blocks> = (0..5)
        .map(|r| {
            let mut b = rank(r, 5);
            let (mine, other) = (&sides[side_of(r)], &sides[1 - side_of(r)]);
            let place = mine.iter().position(|&m| m == r).unwrap() as i32;
            let handle = 900 + r as u64;
            let leaders = [H(WORLD), I(0), H(WORLD), I(0), I(1), H(handle)];
            inter(&mut b, handle, CommCreation::Members, place, mine, other);
            b.call("MPI_Intercomm_create", &leaders);
            if r == 3 {
                // World rank 3 is rank 1 of its side; it sends to world rank 4, rank 2 of the other one.
                let mut args = to(2, 8, 5);
                args[5] = H(handle);
                b.call("MPI_Send", &args);
            } else if r == 4 {
                let mut args = from(1, 8, 5, status(1, 8, 20));
                args[5] = H(handle);
                b.now += 50;
                b.call("MPI_Recv", &args);
                let mut args = to(0, 9, 5);
                args[5] = H(handle);
                b.call("MPI_Send", &args);
            } else if r == 0 {
                let mut args = from(-2, 9, 5, status(2, 9, 20));
                args[5] = H(handle);
                b.now += 400;
                b.call("MPI_Recv", &args);
            }
            let merged: Vec<i32> = [&sides[0][..], &sides[1][..]].concat();
            let at = merged.iter().position(|&m| m == r).unwrap() as i32;
            intra(&mut b, 77, handle, CommCreation::Parent, at, &merged);
            b.call("MPI_Intercomm_merge", &[H(handle), I(0), H(77)]);
            b.call("MPI_Barrier", &[H(77)]);
            b
        })
        .collect();
    let merged = merge(&ranks);
    let reader = Clog2Reader::new(&merged.clog2).expect("a CLOG2 file");
    let table = reader.comm_table().expect("a table");
    let place = |kind| {
        table
            .0
            .iter()
            .find(|e| e.kind == kind)
            .expect("an entry")
            .lid
    };
    let (local, remote) = (place(Clog2CommKind::Local), place(Clog2CommKind::Remote));
    let line = |lid: i32, rank: i32| lid * 5 + rank;
    let mut found = merged.messages();
    found.sort();
    assert_eq!(
        found,
        [
            (line(local, 1), line(remote, 2), 8, 20),
            (line(remote, 2), line(local, 0), 9, 20),
        ]
    );
    // One communicator for all after the merge: five SELFs, the world, two intercommunicators, their sides, the merged one.
    let distinct: HashSet<_> = table.0.iter().map(|e| e.gid).collect();
    assert_eq!(distinct.len(), 5 + 1 + 2 + 2 + 1);
    let (_, states, conversion) = merged.drawables();
    assert_eq!(states.len(), 5 * 3 + 4);
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(merged.notes, Default::default());
}

#[test]
fn threads_are_interleaved_and_handles_pass_between_them() {
    let mut a = rank(0, 2);
    a.threads.push(Vec::new());
    // Thread 0 waits long; thread 1 receives meanwhile what thread 0 has posted.
    call_at(&mut a, 1000, 1100, "MPI_Irecv", &to_with(1, 4, 1, 50));
    call_at(&mut a, 1200, 9000, "MPI_Barrier", &[H(WORLD)]);
    a.thread = 1;
    call_at(
        &mut a,
        2000,
        2500,
        "MPI_Wait",
        &[H(50), S(Some(status(1, 4, 4)))],
    );
    // A communicator made here is used by thread 0 as soon as it is there.
    intra(&mut a, 600, SELF, CommCreation::Parent, 0, &[0]);
    call_at(&mut a, 3000, 3500, "MPI_Comm_dup", &[H(SELF), H(600)]);
    a.thread = 0;
    call_at(&mut a, 9100, 9200, "MPI_Barrier", &[H(600)]);
    let mut b = rank(1, 2);
    call_at(&mut b, 1500, 1600, "MPI_Send", &to(0, 4, 1));
    let merged = merge(&[a, b]);
    assert_eq!(merged.preamble.max_thread_count, 2);
    let order: Vec<(String, i32)> = merged
        .words()
        .into_iter()
        .zip(merged.records.iter().filter(|r| {
            !matches!(
                r.body,
                Clog2Body::TimeShift { .. }
                    | Clog2Body::ConstDef(_)
                    | Clog2Body::StateDef(_)
                    | Clog2Body::EventDef(_)
            ) && !matches!(r.body, Clog2Body::Comm(c) if c.etype <= 1)
        }))
        .filter(|(_, r)| r.header.rank == 0 && r.header.icomm != 4)
        .map(|(w, r)| (w, r.header.thread))
        .collect();
    let expected = [
        ("0/0 -10", 0),
        ("0/0 +MPI_Irecv", 0),
        ("0/0 -MPI_Irecv", 0),
        ("0/0 +MPI_Barrier", 0),
        ("0/0 +MPI_Wait", 1),
        ("0/0 recv 0/1 tag 4 size 4", 1),
        ("0/0 -MPI_Wait", 1),
        ("1/0 +MPI_Comm_dup", 1),
        ("1/0 comm 100 2/0", 1),
        ("2/0 -10", 1),
        ("1/0 -MPI_Comm_dup", 1),
        ("0/0 -MPI_Barrier", 0),
        ("2/0 +MPI_Barrier", 0),
        ("2/0 -MPI_Barrier", 0),
        ("0/0 -9", 0),
    ];
    assert_eq!(order, expected.map(|(w, t)| (w.to_owned(), t)));
    // Lines: LID · N · T + rank · T + thread.
    let arrows = merged.arrows();
    assert_eq!((arrows[0].from.0, arrows[0].to.0), (2, 1));
}

#[test]
fn a_communicator_first_seen_in_use_is_announced_before_the_call() {
    let mut a = rank(0, 1);
    a.call("MPI_Comm_size", &[H(WORLD), I(1)]);
    intra(&mut a, 600, WORLD, CommCreation::Parent, 0, &[0]);
    a.call("MPI_Barrier", &[H(600)]);
    let words = merge(&[a]).words();
    assert_eq!(
        words[3..],
        [
            "0/0 comm 100 2/0",
            "2/0 -10",
            "2/0 +MPI_Barrier",
            "2/0 -MPI_Barrier",
            "0/0 -9"
        ]
    );
}

#[test]
fn file_calls_tell_their_call_id_bytes_and_offset() {
    let mut b = rank(3, 4);
    let fh = 0x7f00_1234_5678;
    let done = |bytes| S(Some(status(0, 0, bytes)));
    let (etype, etypes) = (H(DOUBLE), 8);
    b.call(
        "MPI_File_open",
        &[H(WORLD), V::T(Some("f")), I(1), H(0), H(fh)],
    );
    b.call(
        "MPI_File_write_at",
        &[H(fh), I(4096), No, I(3), H(INT), done(12)],
    );
    b.call("MPI_File_write", &[H(fh), No, I(3), H(INT), done(12)]);
    b.call("MPI_File_write_all", &[H(fh), No, I(5), H(CHAR), done(5)]);
    b.call(
        "MPI_File_set_view",
        &[
            H(fh),
            I(100),
            etype.clone(),
            etype,
            V::T(Some("native")),
            H(0),
        ],
    );
    b.call("MPI_File_read_all_begin", &[H(fh), No, I(2), H(DOUBLE)]);
    b.call("MPI_File_read_all_end", &[H(fh), No, done(16)]);
    b.call("MPI_File_iread", &[H(fh), No, I(4), H(DOUBLE), H(70)]);
    b.call("MPI_File_seek", &[H(fh), I(-1), I(602)]);
    b.call("MPI_File_read", &[H(fh), No, I(1), H(DOUBLE), done(etypes)]);
    b.call("MPI_File_seek", &[H(fh), I(0), I(604)]);
    b.call("MPI_File_read", &[H(fh), No, I(1), H(DOUBLE), done(0)]);
    b.call("MPI_File_get_position", &[H(fh), I(50)]);
    b.call("MPI_File_read", &[H(fh), No, I(1), H(DOUBLE), done(8)]);
    b.call(
        "MPI_File_write_shared",
        &[H(fh), No, I(1), H(DOUBLE), done(8)],
    );
    b.call("MPI_File_close", &[H(fh)]);
    let first = u64::from(3u32) << 40;
    let merged = merge_with(&[b], MergeOptions::default());
    let ends: Vec<String> = merged
        .words()
        .into_iter()
        .filter_map(|w| w.strip_prefix("0/3 -MPI_File_").map(str::to_owned))
        .collect();
    let parts: Vec<(String, u64, i64, i64)> = ends
        .iter()
        .map(|w| {
            let p: Vec<&str> = w.split(' ').collect();
            let id = u64::from_str_radix(p[1], 16).unwrap();
            (
                p[0].to_owned(),
                id,
                p[2].parse().unwrap(),
                p[3].parse().unwrap(),
            )
        })
        .collect();
    let ids: Vec<u64> = parts.iter().map(|p| p.1).collect();
    assert!(ids.windows(2).all(|w| w[0] + 1 == w[1]) && ids[0] > first && ids[0] < first + 100);
    let rest: Vec<(&str, i64, i64)> = parts.iter().map(|p| (&p.0[..], p.2, p.3)).collect();
    assert_eq!(
        rest,
        [
            ("open", 0, 0),
            ("write_at", 12, 4096),
            ("write", 12, 0),
            ("write_all", 5, 12),
            ("set_view", 100, 0),
            ("read_all_begin", 16, 0),
            ("read_all_end", 16, 0),
            ("iread", 32, 2),
            ("seek", -1, 0),
            ("read", 8, 5),
            ("seek", 0, 0),
            ("read", 0, -1),
            ("get_position", 50, 0),
            ("read", 8, 50),
            ("write_shared", 8, -1),
            ("close", 0, 0),
        ]
    );
    let write = state_defs(&merged)
        .into_iter()
        .find(|d| d.name.to_str() == "MPI_File_write_at");
    assert_eq!(
        write.unwrap().format.to_str(),
        "CallID=0x%X, bytes=%l, offset=%l"
    );
}

#[test]
fn call_ids_of_all_calls_on_request() {
    let run = |call_ids| {
        let ranks: Vec<Blocks> = (0..2)
            .map(|r| {
                let mut b = rank(r, 2);
                match r {
                    0 => b.call("MPI_Send", &to(1, 7, 4)),
                    _ => {
                        b.now += 50;
                        b.call("MPI_Recv", &from(0, 7, 4, status(0, 7, 16)));
                    }
                }
                b
            })
            .collect();
        let options = MergeOptions {
            call_ids,
            ..MergeOptions::default()
        };
        merge_with(&ranks, options)
    };
    let cargos = |m: &Merged| {
        let is = |r: &&trace_formats::clog2::Clog2Record| matches!(r.body, Clog2Body::Cargo { .. });
        m.records.iter().filter(is).count()
    };
    let all = run(CallIdDisplay::All);
    assert_eq!(cargos(&all), 2);
    assert_eq!(all.messages(), [(0, 1, 7, 16)]);
    assert!(
        state_defs(&all)
            .iter()
            .all(|d| d.format.to_str() == "CallID=0x%X")
    );
    assert_eq!(cargos(&run(CallIdDisplay::Files)), 0);
    assert_eq!(cargos(&run(CallIdDisplay::None)), 0);
}

#[test]
fn clocks_of_other_machines_are_shifted() {
    let ranks: Vec<Blocks> = (0..2)
        .map(|r| {
            let mut b = rank(r, 2);
            if r == 1 {
                b.define(&Definition::Process(blockfile::define::ProcessDefinition {
                    boot: "another".to_owned(),
                    ..Default::default()
                }));
                // 5 µs ahead of rank 0 at first, 6 µs at the end.
                for (ticks, shift) in [(6_000, -5_000), (1_006_000, -6_000)] {
                    b.define(&Definition::Sync(Sync {
                        ticks,
                        shift,
                        gap: 20_000,
                    }));
                }
                call_at(&mut b, 6_000, 7_000, "MPI_Barrier", &[H(WORLD)]);
                call_at(&mut b, 506_000, 1_016_000, "MPI_Barrier", &[H(WORLD)]);
            } else {
                call_at(&mut b, 1_000, 2_000, "MPI_Barrier", &[H(WORLD)]);
            }
            b
        })
        .collect();
    let merged = merge(&ranks);
    let (_, states, _) = merged.drawables();
    let times: Vec<_> = states.iter().map(|s| (s.1, s.2, s.3)).collect();
    // (5.5 µs are taken off in the middle; 999 ns off 7 000 − 5 001.)
    assert_eq!(times, [(0, 0, 1_000), (1, 0, 999), (1, 499_500, 1_009_000)]);
    let shifts: Vec<f64> = merged
        .records
        .iter()
        .filter_map(|r| match r.body {
            Clog2Body::TimeShift { shift } => Some(shift),
            _ => None,
        })
        .collect();
    // In order of time: rank 1 before its parent.
    assert_eq!(shifts, [5e-6, 0.0, 6e-6]);
    assert!(shifts[1].is_sign_negative());
}

#[test]
fn on_one_machine_there_is_one_clock() {
    let ranks: Vec<Blocks> = (0..2)
        .map(|r| {
            let mut b = rank(r, 2);
            let (ticks, shift, gap) = (1000, 300, 1);
            b.define(&Definition::Sync(Sync { ticks, shift, gap }));
            call_at(&mut b, 1_000, 2_000, "MPI_Barrier", &[H(WORLD)]);
            b
        })
        .collect();
    let (_, states, _) = merge(&ranks).drawables();
    assert!(states.iter().all(|s| (s.2, s.3) == (0, 1000)));
}

#[test]
fn drift_between_readings_of_one_machine_is_not_invented() {
    // Readings of rank 1 are noisy; rank 0's lie further apart and count for both.
    let ranks: Vec<Blocks> = (0..2)
        .map(|r| {
            let mut b = rank(r, 2);
            let (ticks, monotonic) = if r == 0 {
                (9_000_500, 9_000_500)
            } else {
                (500_500, 501_000)
            };
            b.define(&Definition::Clock(ClockReading {
                ticks,
                monotonic,
                ..ClockReading::default()
            }));
            call_at(&mut b, 1_000, 900_000, "MPI_Barrier", &[H(WORLD)]);
            b
        })
        .collect();
    let mut bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    for file in &mut bytes {
        let at = offset_of!(FileHeader, clock);
        file[at..at + 4].copy_from_slice(&1u32.to_ne_bytes());
    }
    let (_, states, _) = merge_bytes(&bytes, MergeOptions::default()).drawables();
    assert!(
        states.iter().all(|s| (s.2, s.3) == (0, 899_000)),
        "{states:?}"
    );
}

/// Makes thread `thread`'s last block say that a call is running.
fn leave_running(file: &mut [u8], function: u32, start: u64) {
    let last = (file.len() / BLOCK_SIZE - 1) * BLOCK_SIZE;
    let mut put =
        |at: usize, bytes: &[u8]| file[last + at..last + at + bytes.len()].copy_from_slice(bytes);
    put(
        offset_of!(BlockHeader, open_function),
        &(function + 1).to_ne_bytes(),
    );
    put(offset_of!(BlockHeader, open_start), &start.to_ne_bytes());
    put(offset_of!(BlockHeader, open_call), &77u64.to_ne_bytes());
}

#[test]
fn a_call_that_was_running_ends_with_the_trace() {
    let table = wrappers::table().expect("the table parses");
    let mut a = rank(0, 2);
    call_at(&mut a, 1_000, 2_000, "MPI_Barrier", &[H(WORLD)]);
    let mut b = rank(1, 2);
    call_at(&mut b, 1_500, 9_000, "MPI_Barrier", &[H(WORLD)]);
    let mut bytes = vec![a.bytes(), b.bytes()];
    let function = table.get("MPI_File_sync").unwrap().id as u32;
    leave_running(&mut bytes[0], function, 3_000);
    let shown = |bytes: &[Vec<u8>], recover| {
        let options = MergeOptions {
            recover,
            ..MergeOptions::default()
        };
        let merged = merge_bytes(bytes, options);
        let (_, states, conversion) = merged.drawables();
        assert_eq!(conversion.unmatched_events, 0);
        states
    };
    assert_eq!(shown(&bytes, false).len(), 2);
    let sync = |end| ("MPI_File_sync".to_owned(), 0, 2_000, end);
    assert_eq!(shown(&bytes, true)[2], sync(8_000));
    // The other rank was seen alive later, in a call of its own.
    leave_running(&mut bytes[1], function, 12_000);
    let states = shown(&bytes, true);
    assert_eq!(states[2], sync(11_000));
    assert_eq!(states[3], ("MPI_File_sync".to_owned(), 1, 11_000, 11_000));
}

/// A running collective call is drawn on its communicator, not on MPI_COMM_WORLD: there it would stand among others that it has nothing to do with.
#[test]
fn a_call_that_was_running_is_on_its_communicator() {
    let table = wrappers::table().expect("the table parses");
    let on = |name: &str, handle: u64| {
        let mut b = rank(0, 1);
        intra(&mut b, 600, WORLD, CommCreation::Parent, 0, &[0]);
        call_at(&mut b, 1_000, 2_000, "MPI_Barrier", &[H(600)]);
        call_at(&mut b, 2_000, 2_500, "MPI_Barrier", &[H(WORLD)]);
        let mut bytes = b.bytes();
        let function = table.get(name).expect(name).id as u32;
        leave_running(&mut bytes, function, 3_000);
        let at = (bytes.len() / BLOCK_SIZE - 1) * BLOCK_SIZE + offset_of!(BlockHeader, open_comm);
        bytes[at..at + 8].copy_from_slice(&handle.to_ne_bytes());
        let options = MergeOptions {
            recover: true,
            ..MergeOptions::default()
        };
        let merged = merge_bytes(&[bytes], options);
        // Communicators of the ends of the states of a function, by their lines.
        let lines = |name: &str| -> Vec<i32> {
            let defs = state_defs(&merged);
            let def = defs.iter().find(|def| def.name.to_str() == name);
            let ends = def
                .map(|def| [def.start_etype, def.final_etype])
                .expect(name);
            let ends = merged.records.iter().filter(|record| match record.body {
                Clog2Body::Cargo { etype, .. } | Clog2Body::Bare { etype } => ends.contains(&etype),
                _ => false,
            });
            ends.map(|record| record.header.icomm).collect()
        };
        (lines(name), lines("MPI_Barrier"))
    };
    let (open, barriers) = on("MPI_Allreduce", 600);
    assert_ne!(barriers[0], barriers[2], "{barriers:?}");
    assert_eq!(open, barriers[..2]);
    assert_eq!(on("MPI_Allreduce", WORLD).0, barriers[2..]);
    // What is not told, or is no communicator, is on MPI_COMM_WORLD.
    assert_eq!(on("MPI_Allreduce", 0).0, barriers[2..]);
    assert_eq!(on("MPI_Win_fence", 600).0, barriers[2..]);
}

#[test]
fn lines_beyond_31_bits_are_drawn_on_the_world() {
    // Of 200 000 ranks two are here. 10 737 communicators have room, fewer than these two make.
    let size = 200_000;
    let ranks: Vec<Blocks> = [0, 7]
        .into_iter()
        .map(|r| {
            let mut b = rank(r, size);
            let pair = [0, 7];
            let at = i32::from(r == 7);
            let mut previous = None;
            for _ in 0..12_000 {
                intra(&mut b, 600, WORLD, CommCreation::Parent, at, &pair);
                previous = Some(600);
            }
            let comm = previous.unwrap();
            let mut args = to(1, 5, 1);
            args[5] = H(comm);
            if r == 0 {
                b.call("MPI_Send", &args);
            } else {
                b.now += 50;
                args[3] = I(0);
                args.push(S(Some(status(0, 5, 4))));
                b.call("MPI_Recv", &args);
            }
            b
        })
        .collect();
    let merged = merge(&ranks);
    assert!(merged.notes.folded_comms > 2 * 1_000);
    assert_eq!(merged.messages(), [(0, 7, 5, 4)]);
}

#[test]
fn ranks_without_calls_and_missing_ranks_do_no_harm() {
    let mut c = rank(2, 5);
    c.call("MPI_Barrier", &[H(WORLD)]);
    // Rank 0 is missing: rank 1 describes the states. Rank 4 never got through MPI_Init.
    let mut lost = rank(4, 5);
    lost.rank = -1;
    let merged = merge(&[c, lost, rank(1, 5)]);
    let (_, states, conversion) = merged.drawables();
    assert_eq!(states, [("MPI_Barrier".to_owned(), 2, 0, 10)]);
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(merged.preamble.max_comm_world_size, 5);
    assert_eq!(state_defs(&merged).len(), 1);
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let table = wrappers::table().expect("the table parses");
    let refuse = |bytes: &[Vec<u8>]| {
        let files: Vec<BlockFile<'_>> = bytes.iter().map(|b| BlockFile::new(b).unwrap()).collect();
        Merge::new(&files, table, MergeOptions::default()).err()
    };
    let (a, b) = (rank(0, 2).bytes(), rank(1, 2).bytes());
    assert_eq!(refuse(&[a.clone(), b.clone()]), None);
    assert_eq!(refuse(&[]), Some(RunFilesError::NoRank));
    assert_eq!(
        refuse(&[a.clone(), a.clone()]),
        Some(RunFilesError::SameRank { file: 1, rank: 0 })
    );
    let mut other = b.clone();
    other[offset_of!(FileHeader, run)] ^= 1;
    assert_eq!(
        refuse(&[a.clone(), other]),
        Some(RunFilesError::OtherRun { file: 1 })
    );
    let mut other = b;
    other[offset_of!(FileHeader, table)] ^= 1;
    let error = refuse(&[a, other]).unwrap();
    assert!(matches!(error, RunFilesError::OtherTable { file: 1, .. }));
    assert!(error.to_string().contains("another version"));
}
