//! Messages that matched probes take, and receives that a program has freed or cancelled.

use super::*;

/// Status of a message from a rank.
fn from(source: i32, tag: i32) -> Option<ReceivedStatus> {
    Some(ReceivedStatus {
        source,
        is_from_nobody: false,
        tag,
        cancelled: false,
    })
}

/// Rank 1 sends a message, rank 0 does something about it, by `does`, and then rank 0 waits for a message of rank 1 with this tag, and rank 1 for one of
/// rank 0.
fn hanging<'t>(table: &'t Table, tag: i32, does: impl FnOnce(&mut Run<'t>)) -> CorrectnessReport {
    let mut run = Run::new(table, 2);
    let sent = run.asked(0, 1, 8);
    run.call(1, "MPI_Send", |call| call.send = sent);
    does(&mut run);
    for (rank, tag) in [(0, tag), (1, 2)] {
        let asked = run.asked(1 - rank, tag, 8);
        run.hang(rank as u32, "MPI_Recv", receive(asked));
    }
    run.pass.finish()
}

/// Rank 0 takes a message of which it knows nothing before.
fn probe(run: &mut Run<'_>) {
    let asked = run.asked(1, 1, 8);
    run.call(0, "MPI_Mprobe", |call| {
        call.receive = asked.map(|asked| AskedMessage {
            peer: Peer::Anybody,
            tag: None,
            ..asked
        });
        call.status = from(1, 1);
        call.message = Some(5);
    });
}

#[test]
fn a_message_that_a_probe_has_taken_goes_to_no_other_receive() {
    let table = wrappers::table().expect("the table");
    let circle = [FindingKind::Deadlock];
    assert_eq!(kinds(&hanging(table, 1, |_| {})), []);
    assert_eq!(kinds(&hanging(table, 1, probe)), circle);
    // A second message is there for the receive.
    let two = hanging(table, 1, |run| {
        probe(run);
        let sent = run.asked(0, 1, 8);
        run.call(1, "MPI_Send", |call| call.send = sent);
    });
    assert_eq!(kinds(&two), []);
    // Received, and being received by a request.
    let received = hanging(table, 1, |run| {
        probe(run);
        run.call(0, "MPI_Mrecv", |call| {
            call.message = Some(5);
            call.receive = asked_of_anybody(call.comm);
        });
    });
    assert_eq!(kinds(&received), circle);
    let receiving = |run: &mut Run<'_>| {
        probe(run);
        run.call(0, "MPI_Imrecv", |call| {
            call.message = Some(5);
            call.receive = asked_of_anybody(call.comm);
            call.creates = vec![(ObjectKind::Request, 9)];
        });
    };
    assert_eq!(kinds(&hanging(table, 1, receiving)), circle);
    // The request takes that message and no other one.
    let other = hanging(table, 3, |run| {
        receiving(run);
        let sent = run.asked(0, 3, 8);
        run.call(1, "MPI_Send", |call| call.send = sent);
    });
    assert_eq!(kinds(&other), []);
}

fn asked_of_anybody(comm: Option<CommKey>) -> Option<AskedMessage> {
    Some(AskedMessage {
        comm: comm?,
        peer: Peer::Anybody,
        tag: None,
        bytes: Some(8),
    })
}

#[test]
fn a_send_waits_for_more_than_a_probe() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let sent = run.asked(0, 1, 8);
    run.hang(1, "MPI_Ssend", send(sent));
    probe(&mut run);
    let asked = run.asked(1, 2, 8);
    run.hang(0, "MPI_Recv", receive(asked));
    assert_eq!(kinds(&run.pass.finish()), [FindingKind::Deadlock]);
}

#[test]
fn a_message_that_is_only_probed_is_not_received() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let sent = run.asked(0, 1, 8);
    run.call(1, "MPI_Send", |call| call.send = sent);
    probe(&mut run);
    assert_eq!(kinds(&run.finalized()), [FindingKind::UnreceivedMessage]);
}

#[test]
fn a_receive_that_was_freed_takes_its_message_and_a_cancelled_one_does_not() {
    let table = wrappers::table().expect("the table");
    let freed = |cancels: bool| {
        hanging(table, 1, |run| {
            let asked = run.asked(1, 1, 8);
            run.call(0, "MPI_Irecv", |call| {
                call.receive = asked;
                call.creates = vec![(ObjectKind::Request, 9)];
            });
            if cancels {
                run.call(0, "MPI_Cancel", |call| call.cancels = Some(9));
            }
            run.call(0, "MPI_Request_free", |call| {
                call.frees = Some((ObjectKind::Request, 9));
            });
        })
    };
    assert_eq!(kinds(&freed(false)), [FindingKind::Deadlock]);
    assert_eq!(kinds(&freed(true)), []);
}

/// What has become of an operation that was cancelled is known only where a status tells it. What is not known is not called lost.
#[test]
fn a_message_that_may_have_been_cancelled_is_not_called_lost() {
    let table = wrappers::table().expect("the table");
    let lost = |cancels: bool, frees: bool, status: Option<ReceivedStatus>| {
        let mut run = Run::new(table, 2);
        let asked = run.asked(1, 1, 8);
        run.call(0, "MPI_Issend", |call| {
            call.send = asked;
            call.creates = vec![(ObjectKind::Request, 9)];
        });
        if cancels {
            run.call(0, "MPI_Cancel", |call| call.cancels = Some(9));
        }
        match frees {
            true => run.call(0, "MPI_Request_free", |call| {
                call.frees = Some((ObjectKind::Request, 9));
            }),
            false => run.call(0, "MPI_Wait", |call| {
                call.completes = vec![CompletedOperation {
                    request: 9,
                    status,
                    worked: true,
                }];
            }),
        }
        kinds(&run.finalized()) == [FindingKind::UnreceivedMessage]
    };
    let told = |cancelled| {
        Some(ReceivedStatus {
            source: 1,
            is_from_nobody: false,
            tag: 1,
            cancelled,
        })
    };
    assert!(lost(false, true, None) && lost(false, false, None));
    assert!(!lost(true, true, None) && !lost(true, false, None));
    assert!(!lost(true, false, told(true)) && lost(true, false, told(false)));
}

/// A receive that was cancelled, and of which no status tells whether it got a message, takes none for sure.
#[test]
fn a_cancelled_receive_without_a_status_is_paired_with_no_message() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let asked = run.asked(0, 1, 4);
    run.call(1, "MPI_Irecv", |call| {
        call.receive = asked;
        call.creates = vec![(ObjectKind::Request, 9)];
    });
    run.call(1, "MPI_Cancel", |call| call.cancels = Some(9));
    run.call(1, "MPI_Wait", |call| {
        call.completes = vec![CompletedOperation {
            request: 9,
            status: None,
            worked: true,
        }];
    });
    let sent = run.asked(1, 1, 8);
    run.call(0, "MPI_Send", |call| call.send = sent);
    let report = run.finalized();
    assert_eq!((report.messages, kinds(&report)), (0, vec![]));
    let not_checked = report.not_checked.join("\n");
    assert!(
        not_checked.contains("messages to ranks with receives"),
        "{not_checked}"
    );
}
