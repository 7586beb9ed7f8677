//! What `mpitrace recover --remove` takes away, and when.

use super::*;
use blockfile::operation::{self, OperationRecord};

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

/// CLOG2 and DUMPI files have no operations below MPI.
#[test]
fn block_files_with_operations_stay_where_no_file_has_them() {
    let folder = Folder::new("operations");
    let mut b = exchange(0, 1, 3);
    let (written, size) = OperationRecord {
        fd: 7,
        size: 100,
        result: 100,
        ..OperationRecord::default()
    }
    .encode();
    b.record(operation::PWRITE, 9000, 10, &written[..size]);
    b.calls -= 1;
    folder.write("a.blocks", &file(&b, &KILLED));
    for formats in ["clog2", "dumpi", "clog2,dumpi"] {
        let printed = folder.succeeds(&["recover", "--remove", "--formats", formats, "."]);
        let note = "block files stay: operations below MPI are in none of these files";
        assert!(printed.contains(note), "{formats}: {printed}");
        assert!(folder.0.join("a.blocks").exists(), "{formats}");
    }
    let printed = folder.succeeds(&[
        "recover",
        "--remove",
        "--formats=slog2",
        "--output=whole",
        ".",
    ]);
    assert!(!printed.contains("block files stay"), "{printed}");
    assert!(!folder.0.join("a.blocks").exists());
    assert_eq!(lines_with(&folder, "whole.slog2", "name=pwrite"), 1 + 1);
    // Nothing is made of a process without calls, whatever else its file has.
    let mut b = common::rank(0, 1);
    b.record(operation::PWRITE, 9000, 10, &written[..size]);
    b.calls -= 1;
    folder.write("a.blocks", &file(&b, &KILLED));
    folder.succeeds(&["recover", "--remove", "."]);
    assert!(folder.0.join("a.blocks").exists());
}
