//! What is said where the trace does not tell what calls did, or whom they waited for.

use super::*;

/// Rank 0 died in the call, so its arguments are not recorded.
#[test]
fn a_rank_of_which_nothing_is_known_is_not_said_to_do_as_others() {
    let table = wrappers::table().expect("the table");
    for unknown in [0, 3] {
        let mut run = Run::new(table, 4);
        for rank in 0..4 {
            run.call(rank, "MPI_Reduce", |call| {
                if rank != unknown {
                    call.signature.root = Some(0);
                    call.signature.bytes = Some(if rank == 2 { 4 } else { 8 });
                }
            });
        }
        let report = run.finalized();
        assert_eq!(kinds(&report), [FindingKind::CollectiveSize], "{unknown}");
        let calls = report.findings[0].calls.iter();
        let said: Vec<_> = calls
            .map(|call| (call.ranks.as_str(), call.bytes))
            .collect();
        let as_first = if unknown == 0 { "1,3" } else { "0-1" };
        assert_eq!(said, [(as_first, Some(8)), ("2", Some(4))]);
    }
}

/// Who waits for whom in one-sided communication is not followed, and that is said.
#[test]
fn waits_of_one_sided_calls_are_told() {
    let table = wrappers::table().expect("the table");
    let mut run = Run::new(table, 3);
    for (rank, name) in ["MPI_Win_start", "MPI_Win_start", "MPI_Win_lock"]
        .into_iter()
        .enumerate()
    {
        run.hang(rank as u32, name, UnfinishedCall::default());
    }
    let report = run.pass.finish();
    assert_eq!(kinds(&report), []);
    let told = report
        .not_checked
        .iter()
        .filter(|what| what.starts_with("whom "));
    let told: Vec<&str> = told.map(String::as_str).collect();
    assert_eq!(
        told,
        [
            "whom rank 2 waited for in MPI_Win_lock: taken for able to go on, so a deadlock of one-sided communication is not found",
            "whom ranks 0-1 waited for in MPI_Win_start: taken for able to go on, so a deadlock of one-sided communication is not found"
        ]
    );
}
