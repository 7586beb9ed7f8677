//! Block files: the input stands behind the definitions of a rank, in its only block, where its calls would. They are
//! read as drawables, as the rank's DUMPI records, and for damage. A whole file is taken as it is.
#![no_main]

#[path = "../../crates/merge/tests/all/block_files/ranks/mod.rs"]
mod common;

use blockfile::define::{Definition, OpenFileDefinition, SkippedPolls};
use blockfile::encode::MpiStatus;
use blockfile::file::BlockFile;
use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE, BlockHeader, FILE_MAGIC, Family, FileHeader};
use blockfile::operation::{KINDS, OperationRecord};
use common::{V, from, to};
use io_attribution::EventExtract;
use libfuzzer_sys::fuzz_target;
use merge::dumpi;
use merge::stream::{MergeSettings, MergeStream};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::Path;
use std::sync::LazyLock;
use trace_formats::clog2::states::CallIdDisplay;
use unify::gids::GidTable;
use unify::scan::Scan;
use unify::schema::Schema;

static RANK: LazyLock<Vec<u8>> = LazyLock::new(|| common::rank(0, 2).bytes());
/// Schemas for handles of 4 and of 6 bytes: made once, since that takes longer than to read an input.
static SCHEMAS: LazyLock<[Schema<'static>; 2]> = LazyLock::new(|| {
    [Family::Mpich, Family::OpenMpi]
        .map(|family| Schema::new(table(), family, CallIdDisplay::Files, &BTreeMap::new()))
});

fn table() -> &'static wrappers::Table {
    wrappers::table().expect("the table of this build")
}

fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            for (name, bytes) in seeds() {
                std::fs::write(Path::new(&folder).join(name), bytes).expect("a seed");
            }
        }
    },
    |data: &[u8]| {
        let table = table();
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
        let Ok(file) = BlockFile::new(&bytes) else {
            return;
        };
        let _ = file.damage();
        // Its table of functions is made anew for each file, so only one input in eight goes there.
        if data.len().is_multiple_of(8) {
            let _ = dumpi::write_to(&file, table, &dumpi::DumpiOptions::default(), std::io::sink());
        }
        let schema = &SCHEMAS[usize::from(file.info().family != Family::Mpich)];
        let scan = Scan::new(&file);
        let own = scan.gids();
        let settings = MergeSettings {
            ranks: scan.ranks(),
            threads: scan.threads,
            zero_ns: scan.first_ns().unwrap_or(0),
            open_until_ns: scan.last_ns(),
            drawn_endpoints: None,
            functions: &[],
            describe: Some(&scan.functions),
            counters: &scan.counters,
            enters: true,
        };
        let lids = GidTable::new(&own).lids(&own);
        let mut stream = MergeStream::new(schema, &file, &scan, &lids, settings);
        while stream.next_record().is_some() {}
        let mut items = EventExtract::new(&file, &scan, schema);
        while items.next().is_some() {}
    }
);

/// Inputs to begin with: calls, each kind of operation with all that it can say, and definitions between them.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut add = |name: &str, write: &dyn Fn(&mut common::Blocks)| {
        let mut rank = common::rank(0, 2);
        let before = rank.threads[0].len();
        write(&mut rank);
        all.push((name.to_owned(), rank.threads[0][before..].to_vec()));
    };
    add("calls", &|rank| {
        let status = MpiStatus {
            source: 1,
            bytes: 12,
            ..MpiStatus::default()
        };
        rank.call("MPI_Send", &to(1, 5, 3));
        rank.call("MPI_Recv", &from(1, 5, 3, status));
        rank.call("MPI_Comm_rank", &[V::H(common::WORLD), V::I(0)]);
    });
    add("definitions", &|rank| {
        rank.define(&Definition::Skipped(SkippedPolls {
            calls: 7,
            ..SkippedPolls::default()
        }));
        rank.define(&Definition::Messages { least: 8, most: 9 });
        rank.define(&Definition::Position { file: 5, etypes: 9 });
        rank.define(&Definition::Annotation {
            key: 1,
            text: "text".into(),
        });
    });
    for number in 0..KINDS.len() as u16 {
        add(KINDS[usize::from(number)].name, &|rank| {
            rank.define(&Definition::File(OpenFileDefinition {
                fd: 3,
                inode: 5,
                path: "/f".into(),
                ..OpenFileDefinition::default()
            }));
            let operation = OperationRecord {
                fd: 3,
                offset: 4096,
                size: 512,
                result: 512,
                ..OperationRecord::default()
            };
            let (payload, size) = operation.encode();
            rank.record(
                blockfile::operation::FIRST + number,
                0,
                10,
                &payload[..size],
            );
        });
    }
    all
}

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
