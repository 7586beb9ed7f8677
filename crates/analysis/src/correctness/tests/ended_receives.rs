//! Processes that ended in a receive.

use super::*;

/// Rank 1 ended in a receive. A message that was sent to it may have been too large; one with another tag has nothing to do with it.
#[test]
fn a_message_that_may_have_been_too_large_is_told() {
    let table = wrappers::table().expect("the table");
    for (function, tag, is_told) in [
        ("MPI_Recv", 3, true),
        ("MPI_Recv", 4, false),
        ("MPI_Wait", 3, true),
    ] {
        let mut run = Run::new(table, 2);
        let asked = run.asked(1, tag, 16);
        run.call(0, "MPI_Send", |call| call.send = asked);
        let asked = run.asked(0, 3, 8);
        let unfinished = match function {
            "MPI_Wait" => {
                run.post(1, asked, 5);
                UnfinishedCall {
                    request_count: Some(1),
                    requests: [Some(5), None, None],
                    ..UnfinishedCall::default()
                }
            }
            _ => receive(asked),
        };
        let place = run.place(1, function);
        run.pass.ended_in(&run.processes[1], place, &unfinished);
        let told = run.pass.finish().not_checked.join("\n");
        let text = format!(
            "whether the message of 16 bytes from rank 0 with tag 3 was too large for {function}, in which rank 1 ended"
        );
        assert_eq!(told.contains(&text), is_told, "{function} {tag}: {told}");
    }
}
