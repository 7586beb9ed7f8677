//! What is said of the ends of ranks whose trace has been recovered.

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
