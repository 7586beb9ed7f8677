//! Messages of two and more ranks, from block files to the arrows of an SLOG2 file.

use crate::block_files::ranks::*;
use blockfile::define::CommCreation;

use V::{H, I, No, S};

/// Two ranks, and what each of them calls.
fn pair(calls: impl Fn(&mut Blocks, i32)) -> Merged {
    let ranks: Vec<Blocks> = (0..2)
        .map(|r| {
            let mut b = rank(r, 2);
            calls(&mut b, r);
            b
        })
        .collect();
    merge(&ranks)
}

#[test]
fn a_blocking_message() {
    let merged = pair(|b, r| match r {
        0 => call_at(b, 1000, 1500, "MPI_Send", &to(1, 7, 4)),
        _ => call_at(
            b,
            1100,
            2000,
            "MPI_Recv",
            &from(-2, -1, 10, status(0, 7, 16)),
        ),
    });
    let (arrows, states, conversion) = merged.drawables();
    let arrow = Arrow {
        from: (0, 0),
        to: (1, 1000),
        tag: 7,
        bytes: 16,
    };
    assert_eq!(arrows, [arrow]);
    let named = |name: &str, line, a, b| (name.to_owned(), line, a, b);
    assert_eq!(
        states,
        [
            named("MPI_Send", 0, 0, 500),
            named("MPI_Recv", 1, 100, 1000)
        ]
    );
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(merged.notes, Default::default());
    assert_eq!(
        merged.words(),
        [
            "0/0 -10",
            "0/0 +MPI_Send",
            "0/0 send 0/1 tag 7 size 16",
            "0/1 -10",
            "0/1 +MPI_Recv",
            "0/0 -MPI_Send",
            "0/0 -9",
            "0/1 recv 0/0 tag 7 size 16",
            "0/1 -MPI_Recv",
            "0/1 -9",
        ]
    );
}

#[test]
fn what_is_no_message_gives_no_arrow() {
    let merged = pair(|b, r| {
        if r == 0 {
            b.call("MPI_Send", &to(-1, 7, 4));
            b.call("MPI_Recv", &from(-1, -1, 10, status(-1, -1, 0)));
            failed_call(b, 6, "MPI_Send", &to(1, 7, 4));
            b.call("MPI_Irecv", &to_with(1, 3, 4, 50));
            let cancelled = blockfile::encode::MpiStatus {
                cancelled: true,
                ..status(1, 3, 0)
            };
            b.call("MPI_Wait", &[H(50), S(Some(cancelled))]);
            b.call("MPI_Irecv", &to_with(1, 3, 4, 50));
            failed_call(b, 15, "MPI_Wait", &[H(50), S(Some(status(1, 3, 16)))]);
            b.call("MPI_Irecv", &to_with(1, 3, 4, 50));
            b.call("MPI_Request_free", &[H(50)]);
            b.call("MPI_Wait", &[H(50), S(Some(status(1, 3, 16)))]);
            b.call("MPI_Test", &[H(50), I(1), S(None)]);
        } else {
            let mut recv = from(0, 7, 1, status(0, 7, 16));
            *recv.last_mut().unwrap() = S(None);
            failed_call(b, 15, "MPI_Recv", &recv);
        }
    });
    assert_eq!(merged.messages(), []);
}

#[test]
fn requests_are_followed_to_every_kind_of_completion() {
    let sends = ["MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend"];
    let merged = pair(|b, r| {
        if r == 0 {
            // The small ones come back with one and the same handle.
            for tag in 0..24 {
                b.call(sends[tag % 4], &to_with(1, tag as i64, 2, 9));
            }
            b.call(
                "MPI_Waitall",
                &[I(2), handles(&[9, 9]), statuses(&[status(0, 0, 0); 2])],
            );
            return;
        }
        let mut tag = 0;
        let mut irecv = |b: &mut Blocks, request: u64| {
            b.call("MPI_Irecv", &to_with(-2, tag, 100, request));
            tag += 1;
            status(0, tag as i32 - 1, 8)
        };
        let got = irecv(b, 50);
        b.call("MPI_Wait", &[H(50), S(Some(got))]);
        let got = irecv(b, 50);
        b.call("MPI_Test", &[H(50), I(0), S(None)]);
        b.call("MPI_Test", &[H(50), I(1), S(Some(got))]);

        let many: Vec<u64> = (60..66).collect();
        let got: Vec<_> = many.iter().map(|&h| irecv(b, h)).collect();
        b.call(
            "MPI_Testany",
            &[I(6), handles(&many), I(-32766), I(0), S(None)],
        );
        b.call(
            "MPI_Testany",
            &[I(6), handles(&many), I(2), I(1), S(Some(got[2]))],
        );
        b.call(
            "MPI_Waitany",
            &[I(6), handles(&many), I(5), S(Some(got[5]))],
        );
        b.call(
            "MPI_Waitsome",
            &[
                I(6),
                handles(&many),
                I(2),
                ints(&[4, 0]),
                statuses(&[got[4], got[0]]),
            ],
        );
        b.call(
            "MPI_Testsome",
            &[I(6), handles(&many), I(1), ints(&[1]), statuses(&[got[1]])],
        );
        b.call(
            "MPI_Testsome",
            &[I(6), handles(&many), I(0), ints(&[]), statuses(&[])],
        );
        b.call("MPI_Testall", &[I(1), handles(&[63]), I(0), V::A(None)]);
        b.call("MPI_Request_get_status", &[H(63), I(1), S(Some(got[3]))]);
        b.call(
            "MPI_Testall",
            &[I(1), handles(&[63]), I(1), statuses(&[got[3]])],
        );

        let many: Vec<u64> = (100..116).collect();
        let got: Vec<_> = many.iter().map(|&h| irecv(b, h)).collect();
        b.call("MPI_Waitall", &[I(16), handles(&many), statuses(&got)]);
    });
    let expected: Vec<_> = (0..24).map(|tag| (0, 1, tag, 8)).collect();
    let mut found = merged.messages();
    found.sort();
    assert_eq!(found, expected);
}

/// A program learns by MPI_Request_get_status that receives are complete, and frees their requests or waits for them: each message is drawn once, to the
/// call that told.
#[test]
fn receives_that_are_looked_at_and_freed_are_drawn() {
    let merged = pair(|b, r| {
        if r == 0 {
            for tag in 0..7 {
                b.call("MPI_Send", &to(1, tag, 2));
            }
            return;
        }
        for (handle, tag) in (50..).zip(0..6) {
            b.call("MPI_Irecv", &to_with(-2, tag, 100, handle));
        }
        let got: Vec<_> = (0..7).map(|tag| status(0, tag, 8)).collect();
        let look = "MPI_Request_get_status";
        b.call(look, &[H(50), I(0), S(None)]);
        for _ in 0..2 {
            b.call(look, &[H(50), I(1), S(Some(got[0]))]);
        }
        b.call("MPI_Request_free", &[H(50)]);
        b.call(
            &format!("{look}_any"),
            &[I(2), handles(&[51, 52]), I(1), I(1), S(Some(got[2]))],
        );
        b.call("MPI_Request_free", &[H(52)]);
        b.call(
            &format!("{look}_some"),
            &[
                I(2),
                handles(&[51, 53]),
                I(1),
                ints(&[1]),
                statuses(&[got[3]]),
            ],
        );
        b.call("MPI_Wait", &[H(53), S(Some(got[3]))]);
        let both = [handles(&[54, 55]), I(1), statuses(&[got[4], got[5]])];
        b.call(&format!("{look}_all"), &[&[I(2)], &both[..]].concat());
        b.call("MPI_Request_free", &[H(54)]);
        b.call("MPI_Request_free", &[H(55)]);
        // Nobody has learned what became of this one.
        b.call("MPI_Request_free", &[H(51)]);
        // A persistent request is not active before its start, and receives at each.
        b.call("MPI_Recv_init", &to_with(0, 6, 100, 60));
        let nothing = S(Some(status(-2, -1, 0)));
        b.call(look, &[H(60), I(1), nothing]);
        b.call("MPI_Start", &[H(60)]);
        b.call(look, &[H(60), I(1), S(Some(got[6]))]);
        b.call("MPI_Wait", &[H(60), S(Some(got[6]))]);
        b.call("MPI_Request_free", &[H(60)]);
    });
    let (arrows, states, conversion) = merged.drawables();
    assert_eq!(conversion.unmatched_events, 1);
    let looks = states
        .iter()
        .filter(|state| state.0.starts_with("MPI_Request_get_status"));
    let ends: Vec<_> = looks.map(|look| look.3).collect();
    assert_eq!(ends.len(), 8);
    let mut found: Vec<_> = arrows.iter().map(|arrow| (arrow.tag, arrow.to.1)).collect();
    found.sort_unstable();
    let expected = [(0, 1), (2, 3), (3, 4), (4, 5), (5, 5), (6, 7)];
    assert_eq!(found, expected.map(|(tag, look)| (tag, ends[look])));
}

#[test]
fn of_a_failed_waitall_only_what_was_completed_counts() {
    let merged = pair(|b, r| {
        if r == 0 {
            for tag in 1..5 {
                b.call("MPI_Send", &to(1, tag, 1));
            }
            return;
        }
        for tag in 1..5 {
            b.call("MPI_Irecv", &to_with(0, tag, 1, 50 + tag as u64));
        }
        let with = |error, tag| {
            S(Some(blockfile::encode::MpiStatus {
                error,
                ..status(0, tag, 4)
            }))
        };
        // One that is still under way has no status; the last message was cut short.
        let all = V::A(Some(vec![with(0, 1), with(15, 2), S(None), with(14, 4)]));
        failed_call(
            b,
            17,
            "MPI_Waitall",
            &[I(4), handles(&[51, 52, 53, 54]), all],
        );
        b.call("MPI_Wait", &[H(53), S(Some(status(0, 3, 4)))]);
        b.call("MPI_Wait", &[H(52), S(Some(status(0, 2, 4)))]);
    });
    let (arrows, _, conversion) = merged.drawables();
    let tags: Vec<i32> = arrows.iter().map(|a| a.tag).collect();
    assert_eq!(tags, [1, 3, 4]);
    assert_eq!(conversion.unmatched_events, 1);
}

#[test]
fn a_receive_that_cuts_its_message_short_uses_it_up() {
    let merged = pair(|b, r| {
        let other = i64::from(1 - r);
        let cut = blockfile::encode::MpiStatus {
            error: 14,
            ..status(1 - r, 7, 4)
        };
        if r == 0 {
            b.call("MPI_Send", &to(1, 7, 9));
            b.call("MPI_Send", &to(1, 7, 2));
            return;
        }
        failed_call(b, 14, "MPI_Recv", &from(other, 7, 1, cut));
        b.call("MPI_Recv", &from(other, 7, 8, status(0, 7, 8)));
    });
    let arrows = merged.arrows();
    let calls: Vec<_> = arrows.iter().map(|a| (a.from.1, a.bytes)).collect();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].0 < calls[1].0 && [calls[0].1, calls[1].1] == [36, 8]);
    assert!(arrows[0].to.1 < arrows[1].to.1);
}

#[test]
fn sendrecv_sends_at_its_start_and_receives_at_its_end() {
    let merged = pair(|b, r| {
        let other = i64::from(1 - r);
        let got = status(1 - r, 5, 12);
        let swap = [
            No,
            I(3),
            H(INT),
            I(other),
            I(5),
            No,
            I(9),
            H(INT),
            I(other),
            I(-1),
            H(WORLD),
        ];
        let mut blocking = swap.to_vec();
        blocking.push(S(Some(got)));
        call_at(b, 1000, 1400, "MPI_Sendrecv", &blocking);
        let replace = [
            No,
            I(3),
            H(INT),
            I(other),
            I(6),
            I(other),
            I(6),
            H(WORLD),
            S(Some(status(1 - r, 6, 12))),
        ];
        call_at(b, 1500, 1800, "MPI_Sendrecv_replace", &replace);
        let mut begun = swap.to_vec();
        begun.push(H(77));
        call_at(b, 2000, 2100, "MPI_Isendrecv", &begun);
        call_at(b, 2200, 2300, "MPI_Wait", &[H(77), S(Some(got))]);
    });
    let all = merged.arrows();
    let ends: Vec<_> = all.iter().map(|a| (a.from, a.to, a.tag, a.bytes)).collect();
    assert_eq!(
        ends,
        [
            ((0, 0), (1, 400), 5, 12),
            ((0, 500), (1, 800), 6, 12),
            ((0, 1000), (1, 1300), 5, 12),
            ((1, 0), (0, 400), 5, 12),
            ((1, 500), (0, 800), 6, 12),
            ((1, 1000), (0, 1300), 5, 12),
        ]
    );
}

#[test]
fn persistent_and_partitioned_operations_send_at_each_start() {
    let merged = pair(|b, r| {
        let parts = |tag| {
            vec![
                No,
                I(4),
                I(3),
                H(DOUBLE),
                I(i64::from(1 - r)),
                I(tag),
                H(WORLD),
                H(0),
                H(90),
            ]
        };
        if r == 0 {
            b.call("MPI_Send_init", &to_with(1, 1, 2, 80));
            b.call("MPI_Ssend_init", &to_with(1, 2, 3, 81));
            b.call("MPI_Psend_init", &parts(3));
            for _ in 0..2 {
                b.call("MPI_Startall", &[I(2), handles(&[81, 80])]);
                b.call("MPI_Start", &[H(90)]);
                b.call("MPI_Pready_range", &[I(0), I(3), H(90)]);
                b.call(
                    "MPI_Waitall",
                    &[
                        I(3),
                        handles(&[80, 81, 90]),
                        statuses(&[status(-2, -1, 0); 3]),
                    ],
                );
            }
            b.call("MPI_Request_free", &[H(80)]);
        } else {
            b.call("MPI_Recv_init", &to_with(-2, 1, 2, 80));
            b.call("MPI_Recv_init", &to_with(0, 2, 3, 81));
            b.call("MPI_Precv_init", &parts(3));
            // Not started: nothing is completed.
            b.call("MPI_Wait", &[H(80), S(Some(status(0, 1, 8)))]);
            for _ in 0..2 {
                b.call("MPI_Startall", &[I(3), handles(&[80, 81, 90])]);
                let got = [status(0, 1, 8), status(0, 2, 12), status(-2, -1, 0)];
                b.call(
                    "MPI_Waitall",
                    &[I(3), handles(&[80, 81, 90]), statuses(&got)],
                );
                b.call(
                    "MPI_Waitall",
                    &[I(3), handles(&[80, 81, 90]), statuses(&got)],
                );
            }
        }
    });
    let once = [(0, 1, 2, 12), (0, 1, 1, 8), (0, 1, 3, 96)];
    let mut expected = [once, once].concat();
    expected.sort();
    let mut found = merged.messages();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn matched_messages_come_on_the_communicator_of_their_probe() {
    let merged = pair(|b, r| {
        intra(b, 600, WORLD, CommCreation::Parent, r, &[0, 1]);
        b.call("MPI_Comm_dup", &[H(WORLD), H(600)]);
        if r == 0 {
            for tag in 1..4 {
                let mut args = to(1, tag, 1);
                args[5] = H(600);
                b.call("MPI_Send", &args);
            }
            return;
        }
        let got = |tag| S(Some(status(0, tag, 4)));
        b.call("MPI_Mprobe", &[I(-2), I(-1), H(600), H(5), got(1)]);
        b.call("MPI_Improbe", &[I(-2), I(-1), H(600), I(1), H(6), got(2)]);
        b.call(
            "MPI_Improbe",
            &[I(-2), I(-1), H(WORLD), I(0), H(5), S(None)],
        );
        b.call("MPI_Imrecv", &[No, I(1), H(INT), H(6), H(70)]);
        b.call("MPI_Mrecv", &[No, I(1), H(INT), H(5), got(1)]);
        b.call("MPI_Mprobe", &[I(-2), I(-1), H(600), H(5), got(3)]);
        b.call("MPI_Mrecv", &[No, I(1), H(INT), H(5), got(3)]);
        b.call("MPI_Wait", &[H(70), got(2)]);
    });
    let mut found = merged.messages();
    found.sort();
    // MPI_COMM_WORLD and root's MPI_COMM_SELF are 0 and 1.
    let line = |rank: i32| 2 * 2 + rank;
    assert_eq!(found, [1, 2, 3].map(|tag| (line(0), line(1), tag, 4)));
}

#[test]
fn without_a_status_the_arguments_count() {
    let merged = pair(|b, r| match r {
        0 => b.call("MPI_Send", &to(1, 7, 4)),
        _ => {
            let mut args = to(0, 7, 4);
            args.push(S(None));
            b.call("MPI_Recv", &args);
        }
    });
    assert_eq!(merged.messages(), [(0, 1, 7, 16)]);
}

#[test]
fn a_status_of_something_else_does_not_count() {
    let merged = pair(|b, r| match r {
        0 => b.call("MPI_Send", &to(1, 7, 4)),
        _ => {
            b.now = 9000;
            b.call("MPI_Irecv", &to_with(0, 7, 4, 50));
            b.call("MPI_Wait", &[H(50), S(Some(status(0, 6, 99)))]);
        }
    });
    assert_eq!(merged.messages(), [(0, 1, 7, 16)]);
}

#[test]
fn large_counts_are_cut_to_what_a_record_holds() {
    let merged = pair(|b, r| {
        let args = [No, I(1 << 40), H(INT), I(i64::from(1 - r)), I(7), H(WORLD)];
        match r {
            0 => b.call("MPI_Send_c", &args),
            _ => {
                let mut args = args.to_vec();
                args.push(S(Some(status(0, 7, 1 << 42))));
                b.call("MPI_Recv_c", &args);
            }
        }
    });
    assert_eq!(merged.messages(), [(0, 1, 7, i32::MAX)]);
}

#[test]
fn a_datatype_that_is_made_again_counts_from_then_on() {
    let merged = pair(|b, r| {
        if r == 1 {
            // Of a message received before it was sent the converter shows no size.
            b.now = 9000;
            for bytes in [24, 40] {
                b.call("MPI_Recv", &from(0, 1, 9, status(0, 1, bytes)));
            }
            return;
        }
        for size in [12, 20] {
            b.datatype(700, size, "");
            b.call("MPI_Type_contiguous", &[I(size / 4), H(INT), H(700)]);
            let mut args = to(1, 1, 2);
            args[2] = H(700);
            b.call("MPI_Send", &args);
            b.call("MPI_Type_free", &[H(700)]);
        }
    });
    assert_eq!(merged.messages(), [(0, 1, 1, 24), (0, 1, 1, 40)]);
}

#[test]
fn a_cancelled_send_is_no_message() {
    let merged = pair(|b, r| {
        if r == 1 {
            b.now = 9000;
            b.call("MPI_Recv", &from(0, 1, 9, status(0, 1, 8)));
            return;
        }
        for request in [50, 51] {
            b.call("MPI_Isend", &to_with(1, 1, 2, request));
        }
        b.call("MPI_Cancel", &[H(50)]);
        let cancelled = blockfile::encode::MpiStatus {
            cancelled: true,
            ..status(-2, -1, 0)
        };
        let both = statuses(&[status(-2, -1, 0), cancelled]);
        b.call("MPI_Waitall", &[I(2), handles(&[51, 50]), both]);
    });
    let all = merged.arrows();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].from, (0, 100));
}

#[test]
fn a_handle_whose_operation_was_lost_is_no_receive_any_more() {
    // The first receive was completed while recording was off; a broadcast then got its handle.
    let merged = pair(|b, r| match r {
        0 => b.call("MPI_Send", &to(1, 7, 4)),
        _ => {
            b.call("MPI_Irecv", &to_with(0, 7, 4, 50));
            b.call("MPI_Ibcast", &[No, I(1), H(INT), I(0), H(WORLD), H(50)]);
            b.call("MPI_Wait", &[H(50), S(Some(status(0, 7, 4)))]);
        }
    });
    let (arrows, ..) = merged.drawables();
    assert_eq!(arrows, []);
}

#[test]
fn messages_across_the_border_of_mpi_comm_world_have_one_end() {
    let merged = pair(|b, r| {
        inter(b, 6, CommCreation::Outside, r, &[0, 1], &[-1, -1]);
        intra(b, 7, 6, CommCreation::Parent, r, &[0, 1, -1, -1]);
        let on = |handle, args: Vec<V>| {
            args.into_iter()
                .map(|v| match v {
                    H(WORLD) => H(handle),
                    other => other,
                })
                .collect::<Vec<_>>()
        };
        b.call("MPI_Send", &on(6, to(r.into(), 7, 4)));
        b.call("MPI_Recv", &on(6, from(0, 7, 4, status(0, 7, 16))));
        b.call("MPI_Send", &on(7, to(3, 7, 4)));
        match r {
            0 => b.call("MPI_Send", &on(7, to(1, 8, 4))),
            _ => b.call("MPI_Recv", &on(7, from(0, 8, 4, status(0, 8, 16)))),
        }
    });
    let (arrows, _, conversion) = merged.drawables();
    assert_eq!(arrows.len(), 1);
    assert_eq!(arrows[0].tag, 8);
    // Of each rank two sends and a receive: the other ends are in another log.
    assert_eq!(conversion.unmatched_events, 2 * 3);
}

/// Records of messages have 32 bits for a size. What they cannot tell is counted.
#[test]
fn messages_above_2_gib_are_counted() {
    const MEBIBYTE: u64 = 0x4c00_0001;
    let amount = |other: i64, count: i64| vec![No, I(count), H(MEBIBYTE), I(other), I(7), H(WORLD)];
    let merged = pair(|b, r| {
        b.datatype(MEBIBYTE, 1 << 20, "");
        for count in [2047, 2048, 3000] {
            let mut args = amount(i64::from(1 - r), count);
            match r {
                0 => b.call("MPI_Send", &args),
                _ => {
                    args.push(S(Some(status(0, 7, (count as u64) << 20))));
                    b.call("MPI_Recv", &args);
                }
            }
        }
    });
    assert_eq!(merged.notes.large_messages, 2);
    let sizes: Vec<i32> = merged.arrows().iter().map(|arrow| arrow.bytes).collect();
    assert_eq!(sizes, [2047 << 20, i32::MAX, i32::MAX]);
}
