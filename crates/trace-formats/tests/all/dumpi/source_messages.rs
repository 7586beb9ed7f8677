//! Messages of DUMPI runs: which receive took which message.

use super::source::{Arrow, INT, Rank, WORLD, run, status};
use trace_formats::dumpi::value::DumpiStatus;

#[test]
fn receives_take_messages_in_the_order_of_their_posting() {
    let mut sender = Rank::new();
    for _ in 0..4 {
        sender.send(1, 3, WORLD);
    }
    let mut receiver = Rank::new();
    // The second one may take anything; what it took shows when it is complete, last of all.
    receiver
        .irecv((0, 3), 2)
        .irecv((-1, -1), 3)
        .irecv((0, 3), 4)
        .irecv((0, 3), 5)
        .wait(5, None)
        .wait(2, None)
        .wait(4, Some(status(0, 3)))
        .wait(3, Some(status(0, 3)));
    let drawn = run(vec![sender, receiver]);
    let ends = [[0, 11], [2, 15], [4, 13], [6, 9]];
    let expected: Vec<Arrow> = ends.iter().map(|&times| (3, 8, times, [0, 1])).collect();
    assert_eq!(drawn.arrows, expected);
    assert!(drawn.losses.is_empty(), "{}", drawn.losses);
}

#[test]
fn cancelled_freed_and_empty_receives_take_nothing() {
    let mut sender = Rank::new();
    sender
        .send(1, 3, WORLD)
        .send(1, 3, WORLD)
        .send(-1, 3, WORLD);
    let mut receiver = Rank::new();
    let cancelled = DumpiStatus {
        cancelled: 1,
        ..status(-1, -1)
    };
    receiver
        .irecv((0, 3), 2)
        .call("MPI_Cancel", &|c| _ = c.int(2))
        .wait(2, Some(cancelled))
        .irecv((0, 3), 2)
        .call("MPI_Request_free", &|c| _ = c.int(2))
        .recv((-1, 5), WORLD, Some((-1, -1)))
        .recv((0, 3), WORLD, None);
    let drawn = run(vec![sender, receiver]);
    assert_eq!(drawn.arrows, [(3, 8, [2, 13], [0, 1])]);
    let what = "receive whose request was freed before it was complete";
    assert_eq!(drawn.losses.count(what), 1);
    assert_eq!(drawn.losses.iter().count(), 1, "{}", drawn.losses);
}

/// MPICH 4.0 leaves in the status of a receive from MPI_PROC_NULL what was there before.
#[test]
fn nothing_is_received_before_it_is_sent() {
    let (mut sender, mut receiver) = (Rank::new(), Rank::new());
    receiver.recv((-1, 3), WORLD, Some((0, 3)));
    sender.now = 5000;
    sender.send(1, 3, WORLD);
    receiver.now = 5000;
    receiver.recv((0, 3), WORLD, Some((0, 3)));
    let drawn = run(vec![sender, receiver]);
    assert_eq!(drawn.arrows, [(3, 8, [4, 5], [0, 1])]);
    assert_eq!(drawn.losses.count("receive without a message"), 1);
    // Clocks of other hosts may be wrong.
    let (mut sender, mut receiver) = (Rank::new(), Rank::new());
    receiver.host = "node2";
    receiver.recv((-1, 3), WORLD, Some((0, 3)));
    sender.now = 5000;
    sender.send(1, 3, WORLD);
    let drawn = run(vec![sender, receiver]);
    assert_eq!(drawn.arrows.len(), 1);
    // What names its sender is no receive from MPI_PROC_NULL.
    let (mut sender, mut receiver) = (Rank::new(), Rank::new());
    receiver.recv((0, 3), WORLD, Some((0, 3)));
    sender.now = 5000;
    sender.send(1, 3, WORLD);
    let drawn = run(vec![sender, receiver]);
    assert_eq!(drawn.arrows.len(), 1);
}

/// Of MPI_Mrecv DUMPI holds nothing but the name: what it received is told from the rest by its size.
#[test]
fn a_receive_takes_the_message_of_its_size_where_others_are_not_seen() {
    let sizes = |unseen: bool| {
        let (mut sender, mut receiver) = (Rank::new(), Rank::new());
        for count in [1, 2, 3] {
            sender.call("MPI_Send", &|c| {
                _ = c.int(count).handle(INT).int(1).int(3).handle(WORLD);
            });
        }
        if unseen {
            receiver
                .call("Function_enter", &|c| _ = c.u64(7))
                .call("Function_exit", &|c| _ = c.u64(7));
        }
        receiver.now = 9000;
        receiver.recv((0, 3), WORLD, Some((0, 3)));
        let drawn = run(vec![sender, receiver]);
        drawn
            .arrows
            .iter()
            .map(|arrow| arrow.1)
            .collect::<Vec<i64>>()
    };
    assert_eq!(sizes(true), [8]);
    assert_eq!(sizes(false), [4]);
}

/// Sends so many integers to rank 1 in a call that ends when `stop` says, in ms after its start.
fn send_ints(rank: &mut Rank, count: i32, stop: u64) {
    let start = rank.now * 1000;
    rank.now += 1000 * (stop + 1);
    rank.span("MPI_Send", start, start + stop * 1_000_000, &|c| {
        _ = c.int(count).handle(INT).int(1).int(3).handle(WORLD);
    });
}

/// Receives from rank 0; the status says so many bytes.
fn recv_bytes(rank: &mut Rank, bytes: i32) {
    let status = DumpiStatus {
        bytes,
        ..status(0, 3)
    };
    rank.call("MPI_Recv", &|c| {
        c.int(9).handle(INT).int(0).int(3).handle(WORLD);
        c.statuses([status]);
    });
}

/// A call of which DUMPI holds nothing but the name: 7 is MPI_Mrecv, 8 is MPI_Isendrecv.
fn hidden_call(rank: &mut Rank, key: u64) {
    rank.call("Function_enter", &|c| _ = c.u64(key))
        .call("Function_exit", &|c| _ = c.u64(key));
}

/// The message that a receive gets may be sent by a call that ends after the receive, and MPI_Mrecv take the one before it.
#[test]
fn a_receive_beside_hidden_ones_waits_for_the_message_of_its_size() {
    let (mut sender, mut receiver) = (Rank::new(), Rank::new());
    for _ in 0..3 {
        send_ints(&mut sender, 1, 1);
        send_ints(&mut sender, 2, 20);
        receiver.now = sender.now - 15_000;
        recv_bytes(&mut receiver, 8);
        hidden_call(&mut receiver, 7);
    }
    let drawn = run(vec![sender, receiver]);
    let sizes: Vec<i64> = drawn.arrows.iter().map(|arrow| arrow.1).collect();
    assert_eq!(sizes, [8, 8, 8]);
    let whats: Vec<(&str, u64)> = drawn.losses.iter().collect();
    let what = "message to a rank with receives that DUMPI cannot hold, such as MPI_Mrecv";
    assert_eq!(whats, [(what, 3)]);
}

#[test]
fn a_receive_beside_hidden_sends_gets_the_message_of_its_size() {
    let run_of = |sizes: [i32; 2]| {
        let (mut sender, mut receiver) = (Rank::new(), Rank::new());
        hidden_call(&mut sender, 8);
        send_ints(&mut sender, 2, 1);
        receiver.now = 3000;
        for bytes in sizes {
            recv_bytes(&mut receiver, bytes);
            receiver.now = 9000;
        }
        run(vec![sender, receiver])
    };
    let drawn = run_of([4, 8]);
    let sizes: Vec<i64> = drawn.arrows.iter().map(|arrow| arrow.1).collect();
    assert_eq!(sizes, [8]);
    let hidden = "receive from a rank with sends that DUMPI cannot hold, such as MPI_Isendrecv";
    assert_eq!(drawn.losses.iter().collect::<Vec<_>>(), [(hidden, 1)]);
    // Of one size, either may be the one that MPI_Isendrecv has sent.
    let drawn = run_of([8, 8]);
    assert_eq!(drawn.arrows, []);
    let uncertain = "message whose other end is not certain, beside calls that DUMPI cannot hold, such as MPI_Mrecv";
    let mut expected = [(uncertain, 1), (hidden, 1)];
    expected.sort_unstable();
    let mut found: Vec<(&str, u64)> = drawn.losses.iter().collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// Ends that are left may belong to calls that DUMPI cannot hold: they are not told as faults of the program.
#[test]
fn what_may_belong_to_calls_that_dumpi_cannot_hold_is_told_as_that() {
    let losses = |label: Option<u64>| {
        let (mut one, mut other) = (Rank::new(), Rank::new());
        if let Some(key) = label {
            one.call("Function_enter", &|c| _ = c.u64(key))
                .call("Function_exit", &|c| _ = c.u64(key));
        }
        other.send(0, 3, WORLD).send(0, 4, WORLD);
        other.recv((0, 5), WORLD, Some((0, 5)));
        run(vec![one, other]).losses
    };
    let (message, receive) = ("message without a receive", "receive without a message");
    let unseen_receive =
        "message to a rank with receives that DUMPI cannot hold, such as MPI_Mrecv";
    let unseen_send =
        "receive from a rank with sends that DUMPI cannot hold, such as MPI_Isendrecv";
    for (label, expected) in [
        (None, [(message, 2), (receive, 1)]),
        // MPI_Mrecv, and MPI_Isendrecv, which sends, too.
        (Some(7), [(unseen_receive, 2), (receive, 1)]),
        (Some(8), [(unseen_receive, 2), (unseen_send, 1)]),
    ] {
        let found = losses(label);
        let found: Vec<(&str, u64)> = found.iter().collect();
        assert_eq!(found, expected, "{label:?}");
    }
}

#[test]
fn persistent_requests_and_sendrecv_move_messages_too() {
    let side = |peer: i32| {
        let mut rank = Rank::new();
        rank.call("MPI_Send_init", &|c| {
            c.int(1).handle(INT).int(peer).int(4).handle(WORLD).int(8);
        })
        .call("MPI_Recv_init", &|c| {
            c.int(1).handle(INT).int(peer).int(4).handle(WORLD).int(9);
        });
        for _ in 0..2 {
            rank.call("MPI_Startall", &|c| _ = c.int(2).ints([8, 9]))
                .call("MPI_Waitall", &|c| _ = c.int(2).ints([8, 9]).statuses([]));
        }
        rank.call("MPI_Sendrecv", &|c| {
            c.int(1).handle(INT).int(peer).int(5).int(1).handle(INT);
            c.int(peer).int(5).handle(WORLD).statuses([]);
        });
        rank
    };
    let drawn = run(vec![side(1), side(0)]);
    let mut expected: Vec<Arrow> = Vec::new();
    for ranks in [[0, 1], [1, 0]] {
        for times in [[4, 7], [8, 11]] {
            expected.push((4, 4, times, ranks));
        }
        expected.push((5, 4, [12, 13], ranks));
    }
    expected.sort();
    assert_eq!(drawn.arrows, expected);
    assert!(drawn.losses.is_empty(), "{}", drawn.losses);
}

/// Both MPIs give one handle to sends that are complete when they begin: infos tell requests by numbers of their own.
#[test]
fn requests_that_share_a_handle_have_numbers_of_their_own() {
    let waitall = |rank: &mut Rank, requests: &'static [i32]| {
        rank.call("MPI_Waitall", &|c| {
            let requests = requests.iter().copied();
            c.int(requests.len() as i32).ints(requests).statuses([]);
        });
    };
    let isend = |rank: &mut Rank, request: i32| {
        rank.call("MPI_Isend", &|c| {
            c.int(2)
                .handle(INT)
                .int(0)
                .int(5)
                .handle(WORLD)
                .int(request);
        });
    };
    let mut rank = Rank::new();
    rank.irecv((0, 5), 2).irecv((0, 5), 3);
    isend(&mut rank, 4);
    isend(&mut rank, 4);
    // The first is MPI_REQUEST_NULL.
    waitall(&mut rank, &[1, 2, 3, 4, 4]);
    isend(&mut rank, 4);
    rank.call("MPI_Cancel", &|c| _ = c.int(4));
    // The last was made by a call of which no file has the arguments.
    rank.wait(4, None).wait(9, None);
    rank.call("MPI_Send_init", &|c| {
        c.int(2).handle(INT).int(0).int(5).handle(WORLD).int(6);
    });
    // It is complete as long as it was not started.
    rank.wait(6, None);
    for _ in 0..2 {
        rank.call("MPI_Start", &|c| _ = c.int(6)).wait(6, None);
    }
    rank.call("MPI_Request_free", &|c| _ = c.int(6));
    let mut states = run(vec![rank]).states;
    states.sort_by_key(|(_, times, ..)| *times);
    let told = states.iter().map(|(name, _, _, info)| {
        let part = |key: &str| {
            let at = info.find(key).map(|at| &info[at + key.len()..])?;
            Some(at.split(", CYC").next().unwrap_or(at).to_string())
        };
        let text = part("request=Integer(").or(part("completes=Text("));
        (name.trim_start_matches("MPI_"), text.expect("a request"))
    });
    let text = |numbers: &str| format!("{:?})", numbers.as_bytes());
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("Irecv", "1)".to_string()),
            ("Irecv", "2)".into()),
            ("Isend", "3)".into()),
            ("Isend", "4)".into()),
            ("Waitall", text("1-4")),
            ("Isend", "5)".into()),
            ("Cancel", "5)".into()),
            ("Wait", text("5")),
            ("Wait", text("6")),
            ("Send_init", "7)".into()),
            ("Wait", text("")),
            ("Start", "7)".into()),
            ("Wait", text("7")),
            ("Start", "7)".into()),
            ("Wait", text("7")),
            ("Request_free", "7)".into()),
        ]
    );
}
