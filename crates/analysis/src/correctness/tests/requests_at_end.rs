//! What calls wait for at the end that complete requests, or send and receive at once.

use super::*;

impl Run<'_> {
    /// A rank begins to send a message with a request.
    fn begin_send(&mut self, rank: u32, to: i32, tag: i32, request: u64) {
        let asked = self.asked(to, tag, 1 << 22);
        self.call(rank, "MPI_Isend", |call| {
            call.send = asked;
            call.creates = vec![(ObjectKind::Request, request)];
        });
    }

    /// A rank is in a call that completes so many requests, the first of which are these.
    fn hang_with_requests(&mut self, rank: u32, name: &str, count: u32, first: &[u64]) {
        let unfinished = UnfinishedCall {
            request_count: Some(count),
            requests: std::array::from_fn(|nth| first.get(nth).copied()),
            ..UnfinishedCall::default()
        };
        self.hang(rank, name, unfinished);
    }

    /// A rank waits for a message.
    fn wait_for_message(&mut self, rank: u32, from: i32, tag: i32) {
        let asked = self.asked(from, tag, 4);
        self.hang(rank, "MPI_Recv", receive(asked));
    }
}

/// MPI_Waitall may name requests that are null, so that fewer operations are outstanding than it names.
#[test]
fn a_wait_for_many_is_stuck_by_one_of_the_first() {
    let table = wrappers::table().expect("the table");
    for (sent, found) in [(2, vec![FindingKind::Deadlock]), (3, vec![])] {
        let mut run = Run::new(table, 2);
        for tag in 0..3 {
            let asked = run.asked(1, tag, 4);
            run.post(0, asked, tag as u64 + 1);
        }
        for tag in 0..sent {
            let asked = run.asked(0, tag, 4);
            run.call(1, "MPI_Send", |call| call.send = asked);
        }
        run.hang_with_requests(0, "MPI_Waitall", 5, &[1, 2, 3]);
        run.pass.end_outside(1, OutsideCalls::Finalized);
        assert_eq!(kinds(&run.pass.finish()), found, "{sent}");
    }
}

/// Sends that are named first may be over, and what the call waits for may be named behind them.
#[test]
fn sends_named_first_do_not_make_a_wait_stuck() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for tag in 0..3 {
        run.begin_send(0, 1, tag, tag as u64 + 1);
    }
    let asked = run.asked(1, 7, 4);
    run.post(0, asked, 4);
    let asked = run.asked(0, 7, 4);
    run.call(1, "MPI_Send", |call| call.send = asked);
    run.hang_with_requests(0, "MPI_Waitall", 5, &[1, 2, 3]);
    run.wait_for_message(1, 0, 9);
    assert_eq!(kinds(&run.pass.finish()), []);
}

/// An exchange with a wrong tag on one side: rank 0 has what it receives, and its message is the one that nobody receives.
#[test]
fn a_send_that_nobody_receives_keeps_an_exchange_from_ending() {
    let table = wrappers::table().expect("the table");
    for (tag, found) in [(2, vec![FindingKind::Deadlock]), (1, vec![])] {
        let mut run = Run::new(table, 2);
        for (rank, other, tag) in [(0, 1, tag), (1, 0, 1)] {
            let asked = run.asked(other, 1, 1 << 22);
            run.post(rank, asked, 1);
            run.begin_send(rank, other, tag, 2);
        }
        for rank in 0..2 {
            run.hang_with_requests(rank, "MPI_Waitall", 2, &[1, 2]);
        }
        assert_eq!(kinds(&run.pass.finish()), found, "{tag}");
    }
}

/// A message that was received is not what its sender waits for, and one that is received later may not be.
#[test]
fn one_of_several_sends_may_be_what_a_wait_is_for() {
    let table = wrappers::table().expect("the table");
    for (is_received, end, found) in [
        (true, OutsideCalls::Computes, vec![]),
        (false, OutsideCalls::Computes, vec![]),
        (true, OutsideCalls::Finalized, vec![FindingKind::Deadlock]),
    ] {
        let mut run = Run::new(table, 3);
        run.begin_send(0, 1, 5, 1);
        run.begin_send(0, 2, 5, 2);
        if is_received {
            let asked = run.asked(0, 5, 1 << 22);
            run.call(1, "MPI_Recv", |call| call.receive = asked);
        }
        run.hang_with_requests(0, "MPI_Waitall", 2, &[1, 2]);
        run.wait_for_message(1, 0, 9);
        run.pass.end_outside(2, end);
        assert_eq!(kinds(&run.pass.finish()), found, "{is_received} {end:?}");
    }
}

/// What waits for any of some requests can end by a send, too.
#[test]
fn a_wait_for_any_can_end_by_a_send() {
    let table = wrappers::table().expect("the table");
    for name in ["MPI_Waitany", "MPI_Waitsome"] {
        let mut run = Run::new(table, 3);
        run.begin_send(0, 1, 1, 1);
        let asked = run.asked(2, 1, 4);
        run.post(0, asked, 2);
        run.hang_with_requests(0, name, 2, &[1, 2]);
        run.pass.end_outside(1, OutsideCalls::Computes);
        run.wait_for_message(2, 0, 2);
        assert_eq!(kinds(&run.pass.finish()), [], "{name}");
    }
}

/// MPI_Sendrecv may have sent its message to a buffer of MPI, and waits for what it receives; once that is there it waits for the receive.
#[test]
fn a_send_and_receive_waits_for_what_it_receives_first() {
    let table = wrappers::table().expect("the table");
    for (is_sent, found) in [(false, vec![]), (true, vec![FindingKind::Deadlock])] {
        let mut run = Run::new(table, 3);
        if is_sent {
            let asked = run.asked(0, 6, 4);
            run.call(2, "MPI_Send", |call| call.send = asked);
        }
        let unfinished = UnfinishedCall {
            send: run.asked(1, 5, 8),
            receive: run.asked(2, 6, 8),
            ..UnfinishedCall::default()
        };
        run.hang(0, "MPI_Sendrecv", unfinished);
        run.wait_for_message(1, 0, 7);
        run.pass.end_outside(2, OutsideCalls::Computes);
        assert_eq!(kinds(&run.pass.finish()), found, "{is_sent}");
    }
}

/// One posted receive gets one message, the first of the sender: the next one has none.
#[test]
fn a_posted_receive_serves_one_message() {
    let table = wrappers::table().expect("the table");
    for (before, found) in [(0, vec![]), (1, vec![FindingKind::Deadlock])] {
        let mut run = Run::new(table, 2);
        for _ in 0..before {
            let asked = run.asked(1, 1, 4);
            run.call(0, "MPI_Send", |call| call.send = asked);
        }
        let asked = run.asked(0, 1, 4);
        run.post(1, asked, 1);
        let asked = run.asked(1, 1, 4);
        run.hang(0, "MPI_Ssend", send(asked));
        run.wait_for_message(1, 0, 2);
        assert_eq!(kinds(&run.pass.finish()), found, "{before}");
    }
}

/// A receive that was posted before gets the only message, so neither a receive from anybody nor a probe finds one.
#[test]
fn an_earlier_receive_takes_the_message() {
    let table = wrappers::table().expect("the table");
    for (posted, peer, name) in [
        (Peer::Rank(0), Peer::Anybody, "MPI_Recv"),
        (Peer::Anybody, Peer::Rank(0), "MPI_Probe"),
        (Peer::Anybody, Peer::Anybody, "MPI_Recv"),
    ] {
        for (messages, found) in [(1, vec![FindingKind::Deadlock]), (2, vec![])] {
            let mut run = Run::new(table, 2);
            let from = |run: &Run<'_>, peer| {
                run.asked(0, 1, 4)
                    .map(|asked| AskedMessage { peer, ..asked })
            };
            let first = from(&run, posted);
            run.post(1, first, 1);
            for _ in 0..messages {
                let sent = run.asked(1, 1, 4);
                run.call(0, "MPI_Send", |call| call.send = sent);
            }
            let asked = from(&run, peer);
            run.hang(1, name, receive(asked));
            run.wait_for_message(0, 1, 3);
            assert_eq!(
                kinds(&run.pass.finish()),
                found,
                "{posted:?} {peer:?} {messages}"
            );
        }
    }
}
