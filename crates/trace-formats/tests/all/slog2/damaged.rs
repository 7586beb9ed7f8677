//! Damaged SLOG2 files: an error or a log, but never a panic, an endless loop or memory beyond what the file warrants.

use std::io::Cursor;

use crate::allocator;
use crate::slog2::common::sample;
use proptest::prelude::*;
use trace_formats::slog2::{
    ConvertOptions, RecursiveOptions, Slog2Error, Slog2PrintOptions, Slog2Reader, TreeOptions,
    convert, print, print_recursively,
};

/// Reads everything there is, and lets the printers walk over it.
fn use_all(file: &[u8]) -> Result<(), Slog2Error> {
    let reader = Slog2Reader::new(file)?;
    let mut nodes = Ok(());
    for entry in reader.directory() {
        match reader.node(entry.ptr) {
            Ok(node) => {
                let mut written = Vec::new();
                node.write(&mut written);
                // A string or info of negative length is written with length 0; everything else keeps its size.
                assert_eq!(written.len(), entry.ptr.size as usize);
            }
            Err(error) => nodes = Err(error),
        }
    }
    print(&reader, &Slog2PrintOptions::default(), &mut std::io::sink())?;
    print_recursively(&reader, &RecursiveOptions::default(), &mut std::io::sink())?;
    nodes
}

/// The same, and checks the memory it takes.
fn use_all_within_bounds(file: &[u8]) -> Result<(), Slog2Error> {
    let (result, largest) = allocator::largest(|| use_all(file));
    // The largest pieces are the text of a node, printed with its category in full for each drawable, and lists of what
    // takes more memory than bytes in the file.
    let bound = 64 * file.len() + (1 << 18);
    assert!(
        largest <= bound,
        "{largest} bytes in one piece for a file of {}",
        file.len()
    );
    result
}

#[test]
fn every_truncation_is_an_error() {
    let (file, _) = sample(3).convert(400);
    use_all_within_bounds(&file).expect("the whole file is in order");
    for length in 0..file.len() {
        let error = use_all_within_bounds(&file[..length]).expect_err("a part of the file");
        assert!(error.offset <= file.len() as u64, "{error}");
    }
}

#[test]
fn counts_and_pointers_beyond_the_file_are_errors() {
    let (file, _) = sample(1).convert(300);
    // Every field of four bytes anywhere, set to what a count or an offset should never be.
    for value in [i32::MAX, -1] {
        for at in 0..file.len() - 4 {
            let mut damaged = file.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_be_bytes());
            let _ = use_all_within_bounds(&damaged);
        }
    }
}

#[test]
fn a_node_that_is_its_own_child_is_printed_once() {
    let (file, _) = sample(12).convert(300);
    let reader = Slog2Reader::new(&file).expect("reads");
    let root = reader.root().expect("root");
    // Each pointer of a shadow buffer in any node, turned to the root.
    let mut damaged = file.clone();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).expect("node");
        for buffer in &node.shadows {
            let ptr = buffer.stub.ptr;
            let bytes = [&ptr.offset.to_be_bytes()[..], &ptr.size.to_be_bytes()].concat();
            let new = [
                &root.ptr.offset.to_be_bytes()[..],
                &root.ptr.size.to_be_bytes(),
            ]
            .concat();
            let range =
                entry.ptr.offset as usize..(entry.ptr.offset + i64::from(entry.ptr.size)) as usize;
            let node = &mut damaged[range];
            let at = node
                .windows(12)
                .rposition(|window| window == bytes)
                .expect("the pointer");
            node[at..at + 12].copy_from_slice(&new);
        }
    }
    let reader = Slog2Reader::new(&damaged).expect("reads");
    let mut text = Vec::new();
    print_recursively(&reader, &RecursiveOptions::default(), &mut text).expect("prints");
    let text = String::from_utf8_lossy(&text);
    assert_eq!(text.matches("*** Start of TreeNode ***").count(), 1);
}

#[test]
fn other_files_are_refused() {
    for file in [
        &b""[..],
        b"\0\nCLOG-02.44",
        b"CLOG-02.44",
        b"\0\nslog 2.0.6",
        &[0xff; 200],
    ] {
        let error = use_all(file).expect_err("not SLOG2");
        assert!(error.to_string().contains("not an SLOG2 file"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_damage_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (mut file, _) = sample(3).convert(400);
        for (at, byte) in damage {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        let _ = use_all_within_bounds(&file);
    }

    #[test]
    fn damaged_clog2_gives_an_error_or_a_whole_file(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        leaf_byte_size in 1..1000i32,
        children_per_node in 2..5i16,
    ) {
        let mut clog2 = sample(3).clog2();
        for (at, byte) in damage {
            let at = at.index(clog2.len());
            clog2[at] = byte;
        }
        let tree = TreeOptions { children_per_node, leaf_byte_size };
        let options = ConvertOptions { tree, check_end_times: true };
        if let Ok((file, conversion)) = convert(&clog2, Cursor::new(Vec::new()), options) {
            let file = file.into_inner();
            let reader = Slog2Reader::new(&file).expect("our own file");
            let mut count = 0;
            for entry in reader.directory() {
                let node = reader.node(entry.ptr).expect("our own node");
                count += node.nestless.len() + node.nestable.len();
            }
            assert_eq!(count as u64, conversion.drawables);
            let whole = reader.categories().iter().map(|category| category.summary.count);
            assert_eq!(whole.sum::<i64>(), count as i64);
            print(&reader, &Slog2PrintOptions::default(), &mut std::io::sink()).expect("prints");
            print_recursively(&reader, &RecursiveOptions::default(), &mut std::io::sink())
                .expect("prints");
        }
    }

    #[test]
    fn random_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut file = b"\0\x0aSLOG 2.0.6".to_vec();
        file.extend(bytes);
        let _ = use_all_within_bounds(&file);
    }
}
