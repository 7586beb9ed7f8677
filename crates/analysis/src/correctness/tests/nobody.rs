//! Receives from MPI_PROC_NULL.

use super::*;

/// A receive that may be from anybody or from MPI_PROC_NULL, as DUMPI tells both by one number: its status says which.
#[test]
fn a_receive_whose_status_is_from_nobody_receives_nothing() {
    let table = wrappers::table().expect("the table");
    for (is_from_nobody, found) in [
        (true, vec![FindingKind::UnreceivedMessage]),
        (false, vec![]),
    ] {
        let mut run = Run::new(table, 2);
        let asked = run.asked(1, 7, 4);
        run.call(0, "MPI_Send", |call| call.send = asked);
        let asked = run.asked(0, 7, 4).map(|asked| AskedMessage {
            peer: Peer::Anybody,
            ..asked
        });
        run.post(1, asked, 1);
        let tag = if is_from_nobody { -1 } else { 7 };
        let status = ReceivedStatus {
            source: if is_from_nobody { -1 } else { 0 },
            is_from_nobody,
            tag,
            cancelled: false,
        };
        run.call(1, "MPI_Wait", |call| {
            call.completes = vec![CompletedOperation {
                request: 1,
                status: Some(status),
                worked: true,
            }];
        });
        assert_eq!(kinds(&run.finalized()), found, "{is_from_nobody}");
    }
}
