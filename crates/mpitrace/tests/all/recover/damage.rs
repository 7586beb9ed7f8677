//! Block files that are damaged, or are none: each is named with the place, and what the others have is recovered.

use super::*;

#[test]
fn what_is_left_of_damaged_files_comes_in_and_the_place_is_named() {
    let folder = Folder::new("damaged");
    // Some 48 bytes each: two blocks.
    let sends = file(&exchange(0, 2, 2000), &KILLED);
    assert_eq!(sends.len(), 3 * BLOCK_SIZE);
    folder.write("b.blocks", &file(&exchange(1, 2, 2000), &KILLED));
    let at = BLOCK_SIZE + offset_of!(BlockHeader, committed);
    let used = u32::from_ne_bytes(sends[at..at + 4].try_into().unwrap()) as usize;

    // The last records of the first block are gone, as when the machine lost power.
    let mut torn = sends.clone();
    let end = BLOCK_SIZE + BLOCK_HEADER + used;
    torn[end - 4000..end].fill(0);
    folder.write("a.blocks", &torn);
    let (out, err) = folder.fails(&["recover", "."]);
    let calls: usize = out
        .lines()
        .find_map(|line| {
            line.strip_prefix("  rank 0: ")?
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .unwrap();
    assert!((1880..1999).contains(&calls), "{out}");
    assert!(out.contains("rank 1: 2000 calls"), "{out}");
    let offset = err.strip_prefix("mpitrace: ./a.blocks: byte ").unwrap();
    let offset: usize = offset.split(':').next().unwrap().parse().unwrap();
    assert!((end - 4050..end - 3950).contains(&offset), "{err}");
    assert!(folder.0.join("p.slog2").exists());

    // A block in the middle is gone.
    let mut b = sends.clone();
    b[BLOCK_SIZE..2 * BLOCK_SIZE].fill(0);
    folder.write("a.blocks", &b);
    let (_, err) = folder.fails(&["recover", "."]);
    assert!(
        err.contains("block 1 of thread 0 stands here, block 0 was expected"),
        "{err}"
    );

    // The file was cut off: what it ends with is not the last block, but one that was moved there.
    let (first, second) = (BLOCK_SIZE..2 * BLOCK_SIZE, 2 * BLOCK_SIZE..3 * BLOCK_SIZE);
    let mut cut = sends.clone();
    cut[first.clone()].copy_from_slice(&sends[second.clone()]);
    cut[second].copy_from_slice(&sends[first]);
    folder.write("a.blocks", &cut);
    assert!(
        folder
            .succeeds(&["recover", "."])
            .contains("rank 0: 2000 calls")
    );
    cut.truncate(3 * BLOCK_SIZE - 1);
    folder.write("a.blocks", &cut);
    for command in [["recover", "."], ["print", "a.blocks"]] {
        let (_, err) = folder.fails(&command);
        assert!(err.contains("block 1 of thread 0 stands here"), "{err}");
    }
}

#[test]
fn files_that_cannot_be_used_are_named_and_others_recovered() {
    let folder = Folder::new("unusable");
    let good = file(&exchange(0, 1, 3), &KILLED);
    folder.write("a.blocks", &good);
    folder.write("b.blocks", b"LTRACE is not all of it");
    let mut other = good.clone();
    other[offset_of!(FileHeader, table)] ^= 1;
    folder.write("c.blocks", &other);
    folder.write("d.blocks", b"");
    let (out, err) = folder.fails(&["recover", "."]);
    assert!(out.contains("rank 0: 3 calls"), "{out}");
    assert!(
        err.contains("./b.blocks: byte 0: not a libtrace block file"),
        "{err}"
    );
    assert!(
        err.contains("./c.blocks: written by another version of libtrace"),
        "{err}"
    );
    assert!(err.contains("./d.blocks: byte 0"), "{err}");

    let (_, err) = folder.fails(&["recover", "e.blocks"]);
    assert!(err.contains("e.blocks: No such file"), "{err}");
    fs::create_dir(folder.0.join("empty")).unwrap();
    let (_, err) = folder.fails(&["recover", "empty"]);
    assert_eq!(err, "mpitrace: empty: no block files (*.blocks) here\n");
    let empty = folder.0.join("empty");
    let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .arg("recover")
        .current_dir(&empty)
        .env("TRACE_TMPDIR", &empty)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let none = format!(
        "mpitrace: no block files (*.blocks) in {}\n",
        empty.display()
    );
    assert_eq!(stderr(&output), none);
}

#[test]
fn a_header_full_of_nonsense_costs_no_memory() {
    let folder = Folder::new("nonsense");
    let mut bytes = file(&exchange(0, 1, 2), &KILLED);
    let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
    put(offset_of!(FileHeader, size), u32::MAX);
    put(offset_of!(FileHeader, rank), i32::MAX as u32);
    folder.write("a.blocks", &bytes);
    let (printed, err) = folder.fails(&["recover", "."]);
    assert!(
        printed.contains("rank 2147483647: 2 calls, died outside MPI\n"),
        "{printed}"
    );
    assert!(
        err.contains("no block file of rank 0-2147483646, "),
        "{err}"
    );
}
