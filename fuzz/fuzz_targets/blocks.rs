//! Block files: the input stands behind the definitions of a rank, in its only block, where its calls would. They are
//! read as drawables, as the rank's DUMPI records, and for damage. A whole file is taken as it is.
#![no_main]

#[path = "../../formats/tests/project_common/mod.rs"]
mod common;

use formats::model::Source as _;
use formats::project::Source;
use formats::project::dumpi;
use formats::project::merge::Options;
use libfuzzer_sys::fuzz_target;
use records::file::File;
use records::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader, FILE_MAGIC, FileHeader};
use std::mem::offset_of;
use std::sync::LazyLock;

static TABLE: LazyLock<wrappers::Table> =
    LazyLock::new(|| wrappers::table().expect("the table of this build"));
static RANK: LazyLock<Vec<u8>> = LazyLock::new(|| common::rank(0, 2).bytes());

fuzz_target!(|data: &[u8]| {
    let table = &*TABLE;
    let bytes = if data.starts_with(&FILE_MAGIC) {
        let mut bytes = data.to_vec();
        let at = offset_of!(FileHeader, table);
        if let Some(word) = bytes.get_mut(at..at + 8) {
            word.copy_from_slice(&table.fingerprint().to_ne_bytes());
        }
        bytes
    } else {
        with_records(data)
    };
    let Ok(file) = File::new(&bytes) else {
        return;
    };
    let _ = file.damage();
    let _ = dumpi::write_to(&file, table, &dumpi::Options::default(), std::io::sink());
    let options = Options {
        recover: true,
        ..Options::default()
    };
    if let Ok(source) = Source::new(vec![file], table.clone(), options) {
        let _ = source.for_each(&mut |_| Ok(()));
    }
});

/// A block file of rank 0 of 2 with these bytes behind its records.
fn with_records(data: &[u8]) -> Vec<u8> {
    let mut bytes = RANK.clone();
    let at = BLOCK_SIZE + offset_of!(BlockHeader, committed);
    let word = |bytes: &[u8]| bytes[at..at + 4].try_into().expect("four bytes");
    let committed = u32::from_ne_bytes(word(&bytes)) as usize;
    let begin = BLOCK_SIZE + BLOCK_HEADER + committed;
    let data = &data[..data.len().min(2 * BLOCK_SIZE - begin)];
    bytes[begin..begin + data.len()].copy_from_slice(data);
    bytes[at..at + 4].copy_from_slice(&((committed + data.len()) as u32).to_ne_bytes());
    bytes
}
