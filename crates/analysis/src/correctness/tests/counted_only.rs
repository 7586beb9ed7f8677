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
