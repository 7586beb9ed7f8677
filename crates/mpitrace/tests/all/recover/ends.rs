//! What is said of the ends of ranks whose trace has been recovered.

use super::common::{V, WORLD, call_at};
use super::{Folder, KILLED, STAMP, exchange, file, killed_in, stdout};

/// A rank is killed in a call, of which DUMPI holds the name only, and another one outside of any.
#[test]
fn verify_says_of_dumpi_what_killed_ranks_ended_in() {
    let folder = Folder::new("ends-in-dumpi");
    let in_barrier = killed_in("MPI_Barrier", 5150);
    folder.write("0.blocks", &file(&exchange(0, 2, 5), &in_barrier));
    folder.write("1.blocks", &file(&exchange(1, 2, 5), &KILLED));
    folder.succeeds(&["recover", "--formats=dumpi", "."]);
    let verified = stdout(&folder.run(&["verify", &format!("p-{STAMP}.meta")]));
    let ends = "\nDid not come to MPI_Finalize\n  rank 0: ended in MPI_Barrier\n  rank 1: ended outside of MPI calls\n";
    assert!(verified.contains(ends), "{verified}");
    // Not one of the functions that DUMPI has no records for.
    assert!(!verified.contains("calls of MPI_Barrier"), "{verified}");
}

/// A rank calls MPI_Abort while another one waits: the call tells, in every format, and the report says so first.
#[test]
fn who_called_abort_is_told() {
    let folder = Folder::new("ends-by-abort");
    let mut aborting = exchange(0, 2, 5);
    let arguments = [V::H(WORLD), V::I(1)];
    call_at(&mut aborting, 6000, 6001, "MPI_Abort", &arguments);
    folder.write("0.blocks", &file(&aborting, &KILLED));
    let in_barrier = killed_in("MPI_Barrier", 5300);
    folder.write("1.blocks", &file(&exchange(1, 2, 5), &in_barrier));
    folder.succeeds(&["recover", "--formats=slog2,clog2,dumpi", "."]);
    let ends = "\nDid not come to MPI_Finalize\n  rank 0: called MPI_Abort\n  rank 1: ended in MPI_Barrier\n";
    for trace in ["p.slog2", "p.clog2", &format!("p-{STAMP}.meta")] {
        let verified = stdout(&folder.run(&["verify", trace]));
        assert!(verified.contains(ends), "{trace}: {verified}");
        let report = folder.succeeds(&["report", trace]);
        let report = report.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = "None of the 2 ranks in the trace reached MPI_Finalize. MPI_Abort was called by rank 0. ";
        assert!(report.contains(said), "{trace}: {report}");
        assert!(!report.contains("mpitrace verify"), "{trace}: {report}");
        let json = folder.succeeds(&["report", "--json", trace]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["aborted"], serde_json::json!([0]), "{trace}");
    }
}

/// A rank is killed in a collective call to which the other one has not come: `verify` says so, although nobody is stuck.
#[test]
fn verify_names_whom_a_killed_rank_waited_for() {
    let folder = Folder::new("ends-waiting");
    folder.write("0.blocks", &file(&exchange(0, 2, 5), &KILLED));
    let in_barrier = killed_in("MPI_Barrier", 5300);
    folder.write("1.blocks", &file(&exchange(1, 2, 5), &in_barrier));
    folder.succeeds(&["recover", "."]);
    let verified = folder.succeeds(&["verify", "p.slog2"]);
    let waits = "\nWaiting for others at the end\n  rank 1: in MPI_Barrier, for rank 0 in collective call 1 on MPI_COMM_WORLD\n";
    assert!(verified.contains(waits), "{verified}");
    let report = folder.succeeds(&["report", "p.slog2"]).replace("\n  ", " ");
    let advice = "had not returned; `mpitrace verify` looks for ranks that wait for each other.";
    assert!(report.contains(advice), "{report}");
}
