//! The checks of calls that are made up, of which is known what is wrong.

mod attributes;
mod counted_only;
mod ended_receives;
mod intercommunicators;
mod nobody;
mod one_sided;
mod probed;
mod requests_at_end;
mod unknown;
mod waits_at_end;

use super::*;
use std::sync::Arc;
use wrappers::Table;

/// A run whose calls a test makes.
struct Run<'t> {
    table: &'t Table,
    pass: CorrectnessPass,
    processes: Vec<ProcessState>,
    world: CommKey,
    time: f64,
}

impl<'t> Run<'t> {
    fn new(table: &'t Table, ranks: u32) -> Run<'t> {
        let mut pass = CorrectnessPass::new(ranks);
        let members: Arc<[i32]> = (0..ranks as i32).collect();
        let world = pass.define_comm("MPI_COMM_WORLD".into(), members.clone(), members, None);
        Run {
            table,
            pass,
            processes: (0..ranks).map(ProcessState::new).collect(),
            world,
            time: 0.0,
        }
    }

    fn place(&mut self, rank: u32, name: &str) -> CallPlace {
        self.time += 1.0;
        CallPlace {
            rank,
            thread: 0,
            function: self.pass.function(name),
            start: self.time,
        }
    }

    /// A rank calls a function on MPI_COMM_WORLD; `change` sets the rest.
    fn call(&mut self, rank: u32, name: &str, change: impl FnOnce(&mut Call<'_>)) {
        let place = self.place(rank, name);
        let mut call = Call::new(place, self.table.get(name).expect(name));
        call.comm = Some(self.world);
        change(&mut call);
        self.processes[rank as usize].take(&call, &mut self.pass);
    }

    fn all(&mut self, name: &str) {
        for rank in 0..self.processes.len() as u32 {
            self.call(rank, name, |_| {});
        }
    }

    fn asked(&self, peer: i32, tag: i32, bytes: u64) -> Option<AskedMessage> {
        Some(AskedMessage {
            comm: self.world,
            peer: Peer::Rank(peer),
            tag: Some(tag),
            bytes: Some(bytes),
        })
    }

    /// A rank is in a call.
    fn hang(&mut self, rank: u32, name: &str, unfinished: UnfinishedCall) {
        let place = self.place(rank, name);
        let function = self.table.get(name).expect(name);
        let process = &self.processes[rank as usize];
        let waits = self.pass.waits_for(process, function, place, &unfinished);
        self.pass.end_in_call(place, waits);
    }

    /// The report, after MPI_Finalize of all ranks.
    fn finalized(mut self) -> CorrectnessReport {
        self.all("MPI_Finalize");
        self.ended()
    }

    /// The report of what there is.
    fn ended(mut self) -> CorrectnessReport {
        for process in &self.processes {
            self.pass
                .end_outside(process.rank(), OutsideCalls::Finalized);
            self.pass.end_process(process);
        }
        self.pass.finish()
    }
}

fn kinds(report: &CorrectnessReport) -> Vec<FindingKind> {
    report.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn the_last_session_ends_a_program_without_init() {
    let table = wrappers::table().expect("the table");
    let checked = |calls: &[&str]| {
        let mut run = Run::new(table, 2);
        for name in calls {
            run.all(name);
        }
        let report = run.ended();
        assert_eq!(kinds(&report), []);
        !report
            .not_checked
            .iter()
            .any(|what| what.contains("MPI_Finalize"))
    };
    let (begin, end) = ("MPI_Session_init", "MPI_Session_finalize");
    assert!(checked(&[begin, "MPI_Get_version", end]));
    assert!(checked(&[begin, end, begin, begin, end, end]));
    assert!(!checked(&[begin, begin, end]));
    assert!(!checked(&["MPI_Init", begin, end]));
    assert!(checked(&["MPI_Init", begin, end, "MPI_Finalize"]));
}

#[test]
fn what_is_right_is_not_found() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 3);
    run.all("MPI_Barrier");
    let (send, receive) = (run.asked(1, 7, 8), run.asked(0, 7, 16));
    // Posted in this order and completed in the other.
    for (request, tag) in [(1, 7), (2, 9)] {
        let asked = run.asked(0, tag, 8);
        run.call(1, "MPI_Irecv", |call| {
            call.receive = asked;
            call.creates = vec![(ObjectKind::Request, request)];
        });
        let asked = run.asked(1, tag, 8);
        run.call(0, "MPI_Send", |call| call.send = asked);
    }
    run.call(1, "MPI_Waitall", |call| {
        let completed = |request| CompletedOperation {
            request,
            status: None,
            worked: true,
        };
        call.completes = vec![completed(2), completed(1)];
    });
    run.call(0, "MPI_Send", |call| call.send = send);
    run.call(1, "MPI_Recv", |call| call.receive = receive);
    run.all("MPI_Comm_dup");
    let report = run.finalized();
    assert_eq!(kinds(&report), []);
    assert_eq!((report.messages, report.operations), (3, 2));
    assert_eq!(report.not_checked, [""; 0]);
}

#[test]
fn collective_calls_that_do_not_fit_are_found() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 4);
    run.all("MPI_Barrier");
    for rank in 0..4 {
        run.call(rank, "MPI_Bcast", |call| {
            call.signature.root = Some(i32::from(rank == 2));
            call.signature.bytes = Some(8);
        });
    }
    let [sum, max] = ["MPI_SUM", "MPI_MAX"].map(|name| run.pass.function(name));
    for rank in 0..4 {
        run.call(rank, "MPI_Reduce", |call| {
            call.signature.operation = Some(if rank == 1 { max } else { sum });
            call.signature.bytes = Some(if rank == 3 { 4 } else { 8 });
        });
    }
    run.call(0, "MPI_Allreduce", |_| {});
    for rank in 1..4 {
        run.call(rank, "MPI_Barrier", |_| {});
    }
    let report = run.finalized();
    let found = kinds(&report);
    use FindingKind::*;
    assert_eq!(
        found,
        [
            CollectiveOrder,
            CollectiveRoot,
            CollectiveOperation,
            CollectiveSize
        ]
    );
    let order = &report.findings[0];
    assert_eq!(order.number, Some(4));
    let calls: Vec<(&str, &str)> = order
        .calls
        .iter()
        .map(|call| (call.ranks.as_str(), call.function.as_str()))
        .collect();
    assert_eq!(calls, [("0", "MPI_Allreduce"), ("1-3", "MPI_Barrier")]);
    let root = &report.findings[1];
    assert_eq!(root.number, Some(2));
    let roots: Vec<_> = root
        .calls
        .iter()
        .map(|it| (it.ranks.as_str(), it.root))
        .collect();
    assert_eq!(roots, [("0-1,3", Some(0)), ("2", Some(1))]);
    let size = &report.findings[3];
    let bytes: Vec<_> = size.calls.iter().map(|it| (it.rank, it.bytes)).collect();
    assert_eq!(bytes, [(0, Some(8)), (3, Some(4))]);
}

#[test]
fn a_rank_that_does_not_come_is_found() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 3);
    run.all("MPI_Barrier");
    run.call(0, "MPI_Barrier", |_| {});
    run.call(2, "MPI_Barrier", |_| {});
    let report = run.finalized();
    assert_eq!(kinds(&report), [FindingKind::CollectiveMissing]);
    assert_eq!(report.findings[0].calls[0].waits_for.as_deref(), Some("1"));
}

#[test]
fn messages_and_objects_that_are_left_are_found() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let asked = run.asked(1, 7, 40);
    run.call(0, "MPI_Send", |call| call.send = asked);
    run.call(0, "MPI_Isend", |call| {
        call.send = asked;
        call.creates = vec![(ObjectKind::Request, 5)];
    });
    let asked = run.asked(0, 7, 8);
    run.call(1, "MPI_Recv", |call| {
        call.receive = asked;
        call.code = Some(14);
    });
    for _ in 0..2 {
        run.call(1, "MPI_Comm_group", |call| {
            call.creates = vec![(ObjectKind::Group, 9)]
        });
    }
    run.call(1, "MPI_Group_free", |call| {
        call.frees = Some((ObjectKind::Group, 9))
    });
    let report = run.finalized();
    use FindingKind::*;
    assert_eq!(
        kinds(&report),
        [Truncation, FailedCall, UnreceivedMessage, Leak, Leak]
    );
    assert_eq!(report.findings[0].calls[0].bytes, Some(8));
    assert_eq!(report.findings[0].calls[1].bytes, Some(40));
    assert_eq!(report.findings[1].error, Some(14));
    let left: Vec<_> = report.findings[3..]
        .iter()
        .map(|finding| (finding.object, finding.count, finding.calls[0].rank))
        .collect();
    assert_eq!(left, [(Some("request"), 1, 0), (Some("group"), 1, 1)]);
}

fn receive(asked: Option<AskedMessage>) -> UnfinishedCall {
    UnfinishedCall {
        receive: asked,
        ..UnfinishedCall::default()
    }
}

fn send(asked: Option<AskedMessage>) -> UnfinishedCall {
    UnfinishedCall {
        send: asked,
        ..UnfinishedCall::default()
    }
}

/// The ranks that a finding names, and whom each waits for.
fn waiting(found: &Finding) -> Vec<(u32, Option<&str>)> {
    let calls = found.calls.iter();
    calls
        .map(|call| (call.rank, call.waits_for.as_deref()))
        .collect()
}

#[test]
fn a_circle_is_found_and_who_waits_for_it() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 4);
    for rank in 0..3 {
        let asked = run.asked((rank as i32 + 1) % 3, 5, 4);
        run.hang(rank, "MPI_Recv", receive(asked));
    }
    let comm = Some(run.world);
    run.hang(
        3,
        "MPI_Barrier",
        UnfinishedCall {
            comm,
            ..UnfinishedCall::default()
        },
    );
    let report = run.pass.finish();
    assert_eq!(kinds(&report), [FindingKind::Deadlock]);
    let found = &report.findings[0];
    assert_eq!(found.count, 4);
    assert_eq!(
        waiting(found),
        [(0, Some("1")), (1, Some("2")), (2, Some("0"))]
    );
    assert_eq!(
        found.calls[0].awaited.as_deref(),
        Some("a message from rank 1 with tag 5 on MPI_COMM_WORLD")
    );
}

#[test]
fn who_can_go_on_is_not_stuck() {
    let table = wrappers::table().expect("the table");
    // A message is under way; a rank computes; two ranks meet.
    let mut run = Run::new(table, 5);
    let sent = run.asked(0, 5, 4);
    run.call(1, "MPI_Send", |call| call.send = sent);
    let asked = run.asked(1, 5, 4);
    run.hang(0, "MPI_Recv", receive(asked));
    let asked = run.asked(0, 5, 4);
    run.hang(1, "MPI_Recv", receive(asked));
    let asked = run.asked(3, 5, 4);
    run.hang(2, "MPI_Send", send(asked));
    let asked = run.asked(2, 5, 4);
    run.hang(3, "MPI_Recv", receive(asked));
    run.pass.end_outside(4, OutsideCalls::Computes);
    assert_eq!(kinds(&run.pass.finish()), []);
}

#[test]
fn one_of_several_senders_is_enough() {
    let table = wrappers::table().expect("the table");
    for (outside, found) in [
        (OutsideCalls::Computes, vec![]),
        (OutsideCalls::Exited, vec![FindingKind::Deadlock]),
    ] {
        let mut run = Run::new(table, 3);
        let anybody = run.asked(0, 5, 4).map(|asked| AskedMessage {
            peer: Peer::Anybody,
            ..asked
        });
        run.hang(0, "MPI_Recv", receive(anybody));
        let asked = run.asked(0, 5, 4);
        run.hang(1, "MPI_Recv", receive(asked));
        run.pass.end_outside(2, outside);
        assert_eq!(kinds(&run.pass.finish()), found, "{outside:?}");
    }
}

/// Calls of MPI_Gatherv in which ranks send and expect these bytes.
fn gathered(run: &mut Run<'_>, exchanged: [Option<[u64; 2]>; 3]) {
    for (rank, exchanged) in (0..).zip(exchanged) {
        run.call(rank, "MPI_Gatherv", |call| {
            call.signature.root = Some(0);
            call.signature.exchanged =
                exchanged.map(|[sent, expected]| ExchangedBytes { sent, expected });
        });
    }
}

#[test]
fn all_ranks_send_what_all_expect() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 3);
    gathered(&mut run, [Some([4, 24]), Some([8, 0]), Some([12, 0])]);
    // Of one rank it is not known.
    gathered(&mut run, [Some([4, 32]), None, Some([12, 0])]);
    // More than a number can hold.
    gathered(&mut run, [Some([u64::MAX, 0]), Some([1, 0]), Some([0, 0])]);
    let report = run.finalized();
    assert_eq!(kinds(&report), []);

    let mut run = Run::new(table, 3);
    for expected in [28, 20] {
        gathered(&mut run, [Some([4, expected]), Some([8, 0]), Some([12, 0])]);
    }
    let report = run.finalized();
    assert_eq!(kinds(&report), [FindingKind::CollectiveSize]);
    let finding = &report.findings[0];
    assert_eq!((finding.number, finding.count), (Some(1), 2));
    let call = &finding.calls[0];
    assert_eq!((call.sent, call.expected), (Some(24), Some(28)));
    assert_eq!(
        finding.message,
        "more or less data sent than expected in collective call 1 on MPI_COMM_WORLD: ranks 0-2: MPI_Gatherv, \
         24 bytes sent and 28 expected; 2 such calls"
    );
}

/// Where ranks name other roots, the bytes need not fit.
#[test]
fn other_roots_are_told_alone() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for (rank, root, expected) in [(0, 0, 8), (1, 1, 8)] {
        run.call(rank, "MPI_Gather", |call| {
            call.signature.root = Some(root);
            call.signature.exchanged = Some(ExchangedBytes { sent: 4, expected });
        });
    }
    assert_eq!(kinds(&run.finalized()), [FindingKind::CollectiveRoot]);
}

impl Run<'_> {
    /// A rank begins to receive a message with a request.
    fn post(&mut self, rank: u32, asked: Option<AskedMessage>, request: u64) {
        self.call(rank, "MPI_Irecv", |call| {
            call.receive = asked;
            call.creates = vec![(ObjectKind::Request, request)];
        });
    }
}

/// The calls of a rank may be read later than those of the rank that sends to it.
#[test]
fn a_send_whose_message_was_received_is_not_stuck() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let asked = run.asked(0, 3, 4);
    run.call(1, "MPI_Recv", |call| call.receive = asked);
    let asked = run.asked(1, 3, 4);
    run.hang(0, "MPI_Ssend", send(asked));
    let asked = run.asked(0, 4, 4);
    run.hang(1, "MPI_Recv", receive(asked));
    assert_eq!(kinds(&run.pass.finish()), []);

    // A receive that was posted gets the message, whatever its rank waits for.
    let mut run = Run::new(table, 2);
    let posted = run.asked(0, 3, 4);
    run.post(1, posted, 1);
    let asked = run.asked(1, 3, 4);
    run.hang(0, "MPI_Ssend", send(asked));
    let asked = run.asked(0, 4, 4);
    run.hang(1, "MPI_Recv", receive(asked));
    assert_eq!(kinds(&run.pass.finish()), []);
}

#[test]
fn a_message_is_received_once() {
    let table = wrappers::table().expect("the table");
    for (messages, found) in [(1, vec![FindingKind::Deadlock]), (2, vec![])] {
        let mut run = Run::new(table, 2);
        let asked = run.asked(0, 1, 4);
        run.post(1, asked, 1);
        let sent = run.asked(1, 1, 4);
        for _ in 0..messages {
            run.call(0, "MPI_Send", |call| call.send = sent);
        }
        run.hang(1, "MPI_Recv", receive(asked));
        run.pass.end_outside(0, OutsideCalls::Finalized);
        assert_eq!(kinds(&run.pass.finish()), found, "{messages}");
    }
    // From anybody, it has got the message as well, unless there is another one that it may have got.
    for (others, found) in [(0, vec![FindingKind::Deadlock]), (1, vec![])] {
        let mut run = Run::new(table, 3);
        let asked = run.asked(0, 1, 4);
        let anybody = asked.map(|asked| AskedMessage {
            peer: Peer::Anybody,
            ..asked
        });
        run.post(1, anybody, 1);
        let sent = run.asked(1, 1, 4);
        run.call(0, "MPI_Send", |call| call.send = sent);
        for _ in 0..others {
            run.call(2, "MPI_Send", |call| call.send = sent);
        }
        run.hang(1, "MPI_Recv", receive(asked));
        run.pass.end_outside(0, OutsideCalls::Finalized);
        run.pass.end_outside(2, OutsideCalls::Finalized);
        assert_eq!(kinds(&run.pass.finish()), found, "{others}");
    }
}

#[test]
fn every_circle_is_told() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 5);
    for rank in 0..4 {
        let asked = run.asked(rank as i32 ^ 1, 5, 4);
        run.hang(rank, "MPI_Recv", receive(asked));
    }
    let asked = run.asked(2, 5, 4);
    run.hang(4, "MPI_Recv", receive(asked));
    let report = run.pass.finish();
    let circles: Vec<_> = report
        .findings
        .iter()
        .map(|it| (it.count, it.calls[0].rank, it.calls[1].rank))
        .collect();
    assert_eq!(circles, [(2, 0, 1), (3, 2, 3)]);
}

/// Ranks that wait for one that has ended stand in one finding, which says how it ended.
#[test]
fn the_end_of_a_chain_is_told_once() {
    let table = wrappers::table().expect("the table");
    for (outside, words) in [
        (OutsideCalls::Finalized, "rank 3 has come to MPI_Finalize"),
        (
            OutsideCalls::Exited,
            "rank 3 has exited without MPI_Finalize",
        ),
    ] {
        let mut run = Run::new(table, 4);
        let comm = Some(run.world);
        for rank in 0..3 {
            let barrier = UnfinishedCall {
                comm,
                ..UnfinishedCall::default()
            };
            run.hang(rank, "MPI_Barrier", barrier);
        }
        run.pass.end_outside(3, outside);
        let report = run.pass.finish();
        let dead = &report.findings[0];
        assert_eq!((dead.kind, dead.count), (FindingKind::Deadlock, 3));
        assert!(dead.message.contains(words), "{}", dead.message);
        assert!(dead.message.ends_with("2 more ranks wait for them"));
        let others = &report.findings[1..];
        assert!(others.iter().all(|it| it.kind != FindingKind::Deadlock));
    }
}

#[test]
fn a_rank_does_not_wait_for_itself_among_others() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for rank in 0..2 {
        let anybody = run.asked(0, 5, 4).map(|asked| AskedMessage {
            peer: Peer::Anybody,
            ..asked
        });
        run.hang(rank, "MPI_Recv", receive(anybody));
    }
    let report = run.pass.finish();
    assert_eq!(
        waiting(&report.findings[0]),
        [(0, Some("1")), (1, Some("0"))]
    );
}

#[test]
fn a_buffered_send_waits_for_nobody() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    let asked = run.asked(1, 5, 4);
    run.hang(0, "MPI_Bsend", send(asked));
    run.pass.end_outside(1, OutsideCalls::Finalized);
    assert_eq!(kinds(&run.pass.finish()), []);
}

/// Of a run of four ranks, the file of one is given.
#[test]
fn ranks_without_a_file_are_told_apart() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 4);
    run.processes.truncate(1);
    run.pass.leave_out(Check::Messages, "there is no file");
    run.pass.leave_out(Check::Collectives, "there is no file");
    let report = run.finalized();
    assert_eq!(
        report.not_checked.last().map(String::as_str),
        Some("objects never freed by 3 of 4 ranks, of which there is no file")
    );
}

#[test]
fn a_receive_that_nobody_waits_for_receives() {
    let table = wrappers::table().expect("the table");
    use FindingKind::*;
    for (peer, sent, found) in [
        (Peer::Rank(0), 1, vec![Leak]),
        (Peer::Anybody, 1, vec![Leak]),
        (Peer::Anybody, 2, vec![UnreceivedMessage, Leak]),
    ] {
        let mut run = Run::new(table, 2);
        let asked = run.asked(0, 7, 4);
        run.post(1, asked.map(|asked| AskedMessage { peer, ..asked }), 1);
        let asked = run.asked(1, 7, 4);
        for _ in 0..sent {
            run.call(0, "MPI_Send", |call| call.send = asked);
        }
        let report = run.finalized();
        assert_eq!(kinds(&report), found, "{peer:?} {sent}");
        assert_eq!(report.not_checked, [""; 0]);
    }
}

#[test]
fn a_request_that_is_freed_before_it_starts_receives_nothing() {
    let table = wrappers::table().expect("the table");
    for (is_started, found) in [
        (false, vec![FindingKind::UnreceivedMessage]),
        (true, vec![]),
    ] {
        let mut run = Run::new(table, 2);
        let asked = run.asked(0, 7, 4);
        run.call(1, "MPI_Recv_init", |call| {
            call.receive = asked;
            call.creates = vec![(ObjectKind::Request, 1)];
        });
        if is_started {
            run.call(1, "MPI_Start", |call| call.starts = vec![1]);
        }
        run.call(1, "MPI_Request_free", |call| {
            call.frees = Some((ObjectKind::Request, 1));
        });
        let asked = run.asked(1, 7, 4);
        run.call(0, "MPI_Send", |call| call.send = asked);
        assert_eq!(kinds(&run.finalized()), found, "{is_started}");
    }
}

/// All ranks have made the operation, and one of them does not start it a second time.
#[test]
fn a_persistent_collective_call_waits_for_the_ranks_that_start_it() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 2);
    for rank in 0..2 {
        run.call(rank, "MPI_Barrier_init", |call| {
            call.creates = vec![(ObjectKind::Request, 1)];
        });
    }
    for (rank, name) in [(0, "MPI_Start"), (1, "MPI_Startall"), (0, "MPI_Start")] {
        run.call(rank, name, |call| call.starts = vec![1]);
        if rank == 1 {
            for rank in 0..2 {
                run.call(rank, "MPI_Wait", |call| {
                    call.completes = vec![CompletedOperation {
                        request: 1,
                        status: None,
                        worked: true,
                    }];
                });
            }
        }
    }
    let unfinished = UnfinishedCall {
        request_count: Some(1),
        requests: [Some(1), None, None],
        ..UnfinishedCall::default()
    };
    run.hang(0, "MPI_Wait", unfinished);
    let asked = run.asked(0, 5, 4);
    run.hang(1, "MPI_Recv", receive(asked));
    let report = run.pass.finish();
    assert_eq!(kinds(&report), [FindingKind::Deadlock]);
    assert_eq!(report.findings[0].count, 2);
}
