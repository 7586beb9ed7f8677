//! The checks where calls of some functions were counted and not recorded.

use super::*;

#[test]
fn only_objects_of_the_kind_that_unseen_calls_free_are_left_out() {
    let table = wrappers::table().expect("the table");
    let left = |counted_only: &str| {
        let mut run = Run::new(table, 1);
        let created = [
            ("MPI_Comm_dup", ObjectKind::Communicator),
            ("MPI_Type_contiguous", ObjectKind::Datatype),
            ("MPI_Ibarrier", ObjectKind::Request),
        ];
        for (handle, (name, kind)) in (7..).zip(created) {
            run.call(0, name, |call| call.creates = vec![(kind, handle)]);
        }
        run.pass
            .leave_out_for(table.get(counted_only).expect(counted_only));
        let report = run.finalized();
        let leaks = report.findings.iter().filter_map(|it| it.object);
        let leaks: Vec<&str> = leaks.collect();
        let notes = report.not_checked.into_iter();
        let notes: Vec<String> = notes.filter(|it| it.contains("never freed")).collect();
        (leaks, notes)
    };
    let (leaks, notes) = left("MPI_Comm_free");
    assert_eq!(leaks, ["datatype", "request"]);
    let why = "communicators never freed: calls of MPI_Comm_free were counted only";
    assert_eq!(notes, [why]);
    let (leaks, notes) = left("MPI_Type_create_resized");
    assert_eq!(leaks, ["communicator", "request"]);
    assert!(notes[0].starts_with("datatypes never freed"), "{notes:?}");
    // What completes requests ends them.
    let (leaks, notes) = left("MPI_Waitall");
    assert_eq!(leaks, ["communicator", "datatype"]);
    assert!(notes[0].starts_with("requests never freed"), "{notes:?}");
    // A blocking receive takes a message and has no object.
    assert_eq!(left("MPI_Mrecv").0, ["communicator", "datatype", "request"]);
}

/// Rank 0 has sent to rank 1 and waits for its answer, rank 1 waits for that message and for one of rank 2, which computes. It ends
/// once rank 2 sends.
#[test]
fn a_rank_whose_message_may_have_no_record_is_not_stuck() {
    let table = wrappers::table().expect("the table");
    let found = |counted_only: Option<&str>| {
        let mut run = Run::new(table, 3);
        if counted_only.is_none() {
            let asked = run.asked(1, 1, 8);
            run.call(0, "MPI_Send", |call| call.send = asked);
        }
        for (request, source) in [(1, 0), (2, 2)] {
            let asked = run.asked(source, 1, 8);
            run.call(1, "MPI_Irecv", |call| {
                call.receive = asked;
                call.creates = vec![(ObjectKind::Request, request)];
            });
        }
        if let Some(name) = counted_only {
            run.pass.leave_out_for(table.get(name).expect(name));
        }
        let answer = run.asked(1, 2, 8);
        run.hang(0, "MPI_Recv", receive(answer));
        let requests = UnfinishedCall {
            request_count: Some(2),
            requests: [Some(1), Some(2), None],
            ..UnfinishedCall::default()
        };
        run.hang(1, "MPI_Waitall", requests);
        run.pass.end_outside(2, OutsideCalls::Computes);
        let report = run.pass.finish();
        let notes = report.not_checked.iter();
        let notes = notes.filter(|it| it.starts_with("deadlock by")).count();
        (kinds(&report), notes, report.waits.len())
    };
    assert_eq!(found(None), (vec![], 0, 2));
    assert_eq!(found(Some("MPI_Send")), (vec![], 1, 2));
    // What has nothing to do with messages does not hide a circle, which is one where the message was never sent.
    let circle = vec![FindingKind::Deadlock];
    assert_eq!(found(Some("MPI_Barrier")), (circle, 1, 0));
}
