//! Objects that callbacks of attributes may free in MPI_Finalize.

use super::*;

#[test]
fn what_callbacks_may_free_is_no_finding() {
    let table = wrappers::table().expect("the table");
    // A communicator of the program's own is freed before MPI_Finalize, or is left itself.
    for (name, is_free) in [
        ("MPI_COMM_SELF", false),
        ("MPI_COMM_WORLD", false),
        ("of my own", true),
    ] {
        let mut run = Run::new(table, 2);
        let members: Arc<[i32]> = [0].into();
        let comm = match name {
            "MPI_COMM_WORLD" => run.world,
            _ => run
                .pass
                .define_comm(name.to_owned(), members.clone(), members, None),
        };
        for rank in 0..2 {
            run.call(rank, "MPI_Comm_create_keyval", |call| {
                call.creates = vec![(ObjectKind::Keyval, 7)];
            });
        }
        run.call(0, "MPI_Comm_set_attr", |call| call.comm = Some(comm));
        let report = run.finalized();
        assert_eq!(kinds(&report), [FindingKind::Leak], "{name}");
        let left = |rank| format!("1 keyval made by MPI_Comm_create_keyval on rank {rank}");
        let both = "2 keyvals made by MPI_Comm_create_keyval on ranks 0-1".to_owned();
        assert_eq!(
            report.findings[0].message,
            if is_free { both } else { left(1) }
        );
        let notes: Vec<&String> = report.not_checked.iter().collect();
        assert_eq!(notes.len(), usize::from(!is_free), "{notes:?}");
        assert!(
            notes.iter().all(|note| note.ends_with(&left(0))),
            "{notes:?}"
        );
    }
}
