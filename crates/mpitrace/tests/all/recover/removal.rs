//! What `mpitrace recover --remove` takes away, and when.

use super::*;

#[test]
fn block_files_are_removed_on_request_when_all_came_in() {
    let folder = Folder::new("remove");
    let whole = file(&exchange(0, 1, 3), &KILLED);
    folder.write("a.blocks", &whole);
    folder.succeeds(&["recover", "--remove", "--keep", "."]);
    assert!(folder.0.join("a.blocks").exists());
    folder.succeeds(&["recover", "--keep", "--remove", "."]);
    assert!(!folder.0.join("a.blocks").exists());
    assert!(folder.0.join("p.2.slog2").exists());

    let mut damaged = whole;
    let first = BLOCK_SIZE + BLOCK_HEADER;
    damaged[first + 2..first + 4].fill(0);
    folder.write("a.blocks", &damaged);
    folder.fails(&["recover", "--remove", "."]);
    assert!(folder.0.join("a.blocks").exists());
}

/// Ranks that were killed while they waited for others in MPI_Finalize leave the file by which they waited.
#[test]
fn what_ranks_said_in_finalize_goes_with_the_block_files() {
    let folder = Folder::new("arrivals");
    folder.write("a.blocks", &file(&exchange(0, 1, 3), &KILLED));
    let [own, other] = [KILLED.run, 78].map(|run| blockfile::arrivals::name(run, 1, 2));
    folder.write(&own, b"a");
    folder.write(&other, b"a");
    folder.succeeds(&["recover", "--remove", "a.blocks"]);
    assert!(!folder.0.join("a.blocks").exists());
    assert!(!folder.0.join(&own).exists());
    assert!(folder.0.join(&other).exists(), "of another run");
}
