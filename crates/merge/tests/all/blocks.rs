//! The recorder's block files: as drawables, which are those of the CLOG2 file made of them, and written again.

use crate::block_files::ranks::*;
use blockfile::define::{self, Definition};
use blockfile::file::BlockFile;
use blockfile::layout::BLOCK_SIZE;
use blockfile::rewrite;
use merge::BlockFilesSource;
use merge::local::MergeOptions;
use trace_formats::clog2;
use trace_model::{Drawable, Source as _};

fn two_ranks() -> Vec<Blocks> {
    let status = |source| status(source, 7, 8);
    let mut first = rank(0, 2);
    call_at(&mut first, 1000, 2000, "MPI_Send", &to(1, 7, 2));
    call_at(
        &mut first,
        3000,
        4000,
        "MPI_Recv",
        &from(1, 7, 2, status(1)),
    );
    let mut second = rank(1, 2);
    call_at(
        &mut second,
        1500,
        2500,
        "MPI_Recv",
        &from(0, 7, 2, status(0)),
    );
    call_at(&mut second, 2600, 2700, "MPI_Send", &to(0, 7, 2));
    vec![first, second]
}

fn shown(source: &dyn trace_model::Source) -> Vec<String> {
    let definitions = source.definitions();
    let mut list = Vec::new();
    let mut put = |drawable: &Drawable<'_>| {
        let category = definitions.category(drawable.category).expect("a category");
        let lines = drawable
            .vertices
            .iter()
            .map(|v| definitions.line(v.line).expect("a line"));
        let places: Vec<_> = lines
            .map(|l| (l.rank, l.comm, l.comm_rank, l.thread))
            .collect();
        let vertices = drawable.vertices;
        list.push(format!(
            "{vertices:?} {places:?} {:?} {:?}",
            category.name, drawable.info
        ));
        Ok(())
    };
    source.for_each(&mut put).expect("sound");
    list.sort();
    list
}

#[test]
fn blocks_give_the_drawables_of_the_clog2_file_made_of_them() {
    let ranks = two_ranks();
    let merged = merge(&ranks);
    let through_clog2 = clog2::Clog2Source::new(&merged.clog2).expect("sound");
    let bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    let files = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("a block file"))
        .collect();
    let table = wrappers::table().expect("the table");
    let source = BlockFilesSource::new(files, table, MergeOptions::default()).expect("one run");
    let found = shown(&source);
    assert_eq!(found, shown(&through_clog2));
    assert!(found.len() >= 6, "four calls and two messages");
    let definitions = source.definitions();
    assert_eq!(definitions.program, "p");
    assert!(
        definitions
            .lines
            .iter()
            .all(|line| line.host.as_deref() == Some("node"))
    );
    let losses = source.for_each(&mut |_| Ok(())).expect("sound");
    assert_eq!(losses.count("constant of MPI"), 3, "{losses}");
}

fn names(bytes: &[u8]) -> Vec<(u32, u16, u64)> {
    let file = BlockFile::new(bytes).expect("a block file");
    let mut found = Vec::new();
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            found.push((thread.number, record.function, record.start));
        }
    }
    found
}

#[test]
fn a_file_is_written_as_it_was_read() {
    for rank in two_ranks() {
        let mut bytes = rank.bytes();
        // Bytes after the committed ones, in unused blocks and in a block that is cut off, stay, too.
        *bytes.last_mut().expect("blocks") = 7;
        bytes.extend(vec![0; BLOCK_SIZE]);
        bytes.extend([1, 2, 3]);
        let mut copy = Vec::new();
        let dropped = rewrite(&bytes, &mut copy, |_, _| true).expect("memory");
        assert_eq!(dropped, 0);
        assert!(copy == bytes);
        for length in [0, 5, BLOCK_SIZE - 1, BLOCK_SIZE + 100] {
            let mut copy = Vec::new();
            rewrite(&bytes[..length], &mut copy, |_, _| false).expect("memory");
            assert!(copy == bytes[..length]);
        }
    }
}

#[test]
fn calls_are_left_out_and_definitions_stay() {
    let table = wrappers::table().expect("the table");
    let send = table.get("MPI_Send").expect("a function").id as u16;
    let bytes = two_ranks().remove(0).bytes();
    let mut out = Vec::new();
    let mut asked = 0;
    let dropped = rewrite(&bytes, &mut out, |_, record| {
        asked += 1;
        record.function != send
    });
    assert_eq!((dropped.expect("memory"), asked), (1, 2));
    let (before, after) = (names(&bytes), names(&out));
    let kept: Vec<_> = before
        .iter()
        .filter(|(_, function, _)| *function != send)
        .copied()
        .collect();
    assert_eq!(after, kept);
    assert_eq!(out.len(), bytes.len());
    assert!(
        BlockFile::new(&out)
            .expect("a block file")
            .damage()
            .is_empty()
    );
}

#[test]
fn calls_larger_than_a_block_leave_as_a_whole() {
    let mut blocks = rank(0, 1);
    let function = 3u16;
    let total = 40u32;
    let mut part = |offset: u32, bytes: &[u8]| {
        let payload = [&total.to_ne_bytes()[..], &offset.to_ne_bytes(), bytes].concat();
        blocks.record(define::FRAGMENT, 5, 6, &payload);
    };
    let mut first = [0; 20];
    first[..2].copy_from_slice(&function.to_ne_bytes());
    part(0, &first);
    part(20, &[1; 20]);
    blocks.define(&Definition::Constant {
        name: "behind".into(),
        value: 1,
    });
    let bytes = blocks.bytes();
    assert!(names(&bytes).iter().any(|(_, found, _)| *found == function));
    let mut out = Vec::new();
    let dropped = rewrite(&bytes, &mut out, |_, record| record.function != function);
    assert_eq!(dropped.expect("memory"), 1);
    let left = names(&out);
    assert_eq!(left.len() + 1, names(&bytes).len());
    assert!(
        left.iter()
            .all(|(_, found, _)| *found != function && *found != define::FRAGMENT)
    );
}
