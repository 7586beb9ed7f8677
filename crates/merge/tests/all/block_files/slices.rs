//! The merge by slices of time against the merge in order of time: the same drawables and records, whatever the number of threads.

use crate::block_files::random::{Chance, busy};
use crate::block_files::ranks::*;
use blockfile::file::BlockFile;
use merge::local::{Merge, MergeOptions};
use merge::outputs::{OutputPlan, SharedOutputs};
use merge::slices::{JobFileWriter, JobFiles, LocalJobs, LocalSlices, PartFile, write_local};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use trace_formats::clog2::{Clog2Body, Clog2Reader, Clog2Record, Clog2Writer};
use trace_formats::slog2::{
    ConvertOptions, NodeDrawable, Slog2Reader, TreeOptions, Vertex, convert,
};
use trace_model::PartNumber;

/// A file in memory to which several threads write.
#[derive(Clone, Default)]
struct MemoryFile(Arc<Mutex<Vec<u8>>>);

impl PartFile for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let mut file = self.0.lock().map_err(|e| e.to_string())?;
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        let length = file.len().max(end);
        file.resize(length, 0);
        file[start..end].copy_from_slice(bytes);
        Ok(())
    }
}

/// A drawable by the name of its category, its vertices and its info.
type Shown = (String, Vec<(u64, i32)>, Vec<u8>);

/// All drawables of a file, sorted; also checks that nodes are where the tree says and that previews count what is below them.
fn drawables(file: &[u8]) -> Vec<Shown> {
    let reader = Slog2Reader::new(file).expect("an SLOG2 file");
    let name = |category: i32| {
        let found = reader.categories().iter().find(|c| c.index == category);
        found.expect("a category").name.to_str().into_owned()
    };
    let mut all = Vec::new();
    let mut counts = std::collections::HashMap::new();
    let mut entries: Vec<_> = reader.directory().iter().collect();
    assert_eq!(entries[0].ptr, reader.header().tree_root);
    entries.reverse();
    for entry in entries {
        let node = reader.node(entry.ptr).expect("a node");
        let mut count = 0;
        for drawable in node.nestless.iter().chain(&node.nestable) {
            let NodeDrawable::Primitive(p) = drawable else {
                panic!("no composites");
            };
            let vertices = p
                .vertices()
                .map(|Vertex { time, line }| (time.to_bits(), line));
            all.push((name(p.category), vertices.collect(), p.info.to_vec()));
            let bounds = p.bounds;
            assert!(
                entry.bounds.earliest <= bounds.earliest,
                "{entry:?} {bounds:?}"
            );
            assert!(bounds.latest <= entry.bounds.latest, "{entry:?} {bounds:?}");
            count += 1;
        }
        for child in &node.shadows {
            assert_eq!(
                reader.directory().find(child.stub.id).map(|e| e.ptr),
                Some(child.stub.ptr)
            );
            assert_eq!(
                counts[&child.stub.id],
                child.real_count(),
                "{:?}",
                child.stub.id
            );
            count += child.real_count();
        }
        counts.insert(entry.id, count);
    }
    all.sort();
    all
}

struct SlicedFiles {
    slog2: Vec<u8>,
    records: Vec<Clog2Record>,
}

fn sliced(merge: &Merge<'_, '_, '_>, tree: TreeOptions, threads: u32) -> SlicedFiles {
    let preamble = merge.preamble();
    let mut slices = LocalSlices::new(merge, preamble.clone(), tree, true, None, threads);
    let (slog2, clog2) = (MemoryFile::default(), MemoryFile::default());
    let files =
        || [&slog2, &clog2].map(|file| Some(Box::new(file.clone()) as Box<dyn PartFile + Send>));
    let result = slices.write(threads, files, |_, _| Vec::new());
    assert_eq!(result.failures, [None, None]);
    let mut clog2 = clog2;
    let ended = slices.end_clog2(&mut clog2, result.blocks, merge.comm_table());
    ended.expect("fits, and is written");
    let take = |file: MemoryFile| std::mem::take(&mut *file.0.lock().expect("no panic"));
    let clog2 = take(clog2);
    let reader = Clog2Reader::new(&clog2).expect("a CLOG2 file");
    let records = reader.records().map(|record| record.expect("a record"));
    SlicedFiles {
        slog2: take(slog2),
        records: records.collect(),
    }
}

/// Merges in both ways and compares.
fn compare(ranks: &[Blocks], leaf_bytes: i32) {
    let bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    let table = wrappers::table().expect("the table parses");
    let files: Vec<BlockFile<'_>> = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("a block file"))
        .collect();
    let merge = Merge::new(&files, table, MergeOptions::default()).expect("ranks of one run");
    let mut records = Vec::new();
    let out = std::io::Cursor::new(Vec::new());
    let mut writer = Clog2Writer::new(out, &merge.preamble()).expect("starts");
    merge
        .run(|record| {
            records.push(record.clog2());
            writer.write(&record.clog2())
        })
        .expect("writes");
    let log = writer
        .finish(merge.comm_table(), &merge.preamble())
        .expect("ends")
        .into_inner();
    let tree = TreeOptions {
        children_per_node: 2,
        leaf_byte_size: leaf_bytes,
    };
    let options = ConvertOptions {
        tree,
        check_end_times: false,
    };
    let (out, _) = convert(&log, std::io::Cursor::new(Vec::new()), options).expect("converts");
    let expected = drawables(&out.into_inner());
    let mut first: Option<Vec<u8>> = None;
    for threads in [1, 2, 3, 5] {
        let files = sliced(&merge, tree, threads);
        assert_eq!(drawables(&files.slog2), expected, "{threads} threads");
        let same = files.records.iter().map(|r| (r.header, r.body));
        let same: Vec<_> = same
            .filter(|(_, body)| !matches!(body, Clog2Body::EndBlock | Clog2Body::EndLog))
            .collect();
        let wanted: Vec<_> = records.iter().map(|r| (r.header, r.body)).collect();
        assert!(same == wanted, "{threads} threads: other CLOG2 records");
        let slog2 = first.get_or_insert_with(|| files.slog2.clone());
        assert!(*slog2 == files.slog2, "{threads} threads: other bytes");
    }
    in_jobs(&merge, &files, leaf_bytes);
}

/// Several jobs make the bytes of one.
fn in_jobs(merge: &Merge<'_, '_, '_>, files: &[BlockFile<'_>], leaf_bytes: i32) {
    static FOLDERS: AtomicU32 = AtomicU32::new(0);
    let nth = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("merge-jobs-{}-{nth}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let ranks = merge.ranks() as usize;
    let plan = |name: &str| OutputPlan {
        base: folder.join(name),
        replace: true,
        clog2: true,
        slog2: true,
        preamble: merge.preamble(),
        children: 2,
        leaf: u64::try_from(leaf_bytes).ok(),
        nodes: vec![0; ranks],
        hosts: vec!["host".to_owned()],
        program_of: vec![0; ranks],
        programs: vec!["program".to_owned()],
        counters: merge.counter_names().to_vec(),
        forward: false,
    };
    let read = |base: &Path| {
        let file = |ending| fs::read(base.with_extension(ending)).expect("written");
        (file("slog2"), file("clog2"))
    };
    let (_, expected_notes) = write_local(merge, SharedOutputs::new(plan("one")), None, 2);
    let expected = read(&folder.join("one"));
    for of in [1, 2, 7] {
        let path = |nth| folder.join(format!("part-{nth}"));
        for nth in (1..=of).rev() {
            let jobs = LocalJobs::new(merge, files, &plan("all"), None, 1 + nth % 3);
            let out = JobFileWriter::create(&path(nth)).expect("begins");
            jobs.write(PartNumber::new(nth, of).expect("a part"), out)
                .expect("writes");
        }
        let parts: Vec<(PathBuf, Vec<u8>)> = (1..=of)
            .map(|nth| (path(nth), fs::read(path(nth)).expect("a part")))
            .collect();
        let jobs = LocalJobs::new(merge, files, &plan("all"), None, 2);
        let mut all = JobFiles::default();
        for (path, bytes) in &parts {
            all.add(path, bytes, jobs.identity()).expect("of this run");
        }
        assert_eq!(all.missing().next(), None);
        let outputs = SharedOutputs::new(plan("all"));
        let (written, notes) = jobs.join(&all, outputs).expect("joins");
        assert_eq!(written.failures, [""; 0]);
        assert_eq!(notes, expected_notes, "{of} jobs");
        assert!(
            read(&folder.join("all")) == expected,
            "{of} jobs: other bytes"
        );
    }
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn calls_of_all_kinds_are_the_same_as_in_order_of_time() {
    for seed in 1..4 {
        let mut chance = Chance(0x1234_5678_9ABC ^ seed);
        let ranks: Vec<Blocks> = (0..4)
            .map(|r| busy(r, 4, 1 + r as usize % 2, 2, &mut chance))
            .collect();
        for leaf in [1 << 11, 1 << 14, 1 << 20] {
            compare(&ranks, leaf);
        }
    }
}

/// Messages from everyone to everyone with few tags, received late and in another order of tags.
#[test]
fn messages_cross_leaves_and_windows() {
    let (size, rounds) = (5, 300);
    let ranks: Vec<Blocks> = (0..size)
        .map(|me| {
            let mut b = rank(me, size as u32);
            let mut now = 1_000 + me as u32;
            for round in 0..rounds {
                for other in (0..size).filter(|&other| other != me) {
                    let args = to(other.into(), (round % 3).into(), (8 * round).into());
                    call_at(&mut b, now, now + 40, "MPI_Send", &args);
                    now += 50 + (round % 7) as u32;
                }
                if round % 30 == 29 {
                    // Messages of the last thirty rounds, tag by tag.
                    for (tag, other) in (0..3).flat_map(|tag| (0..size).map(move |o| (2 - tag, o)))
                    {
                        for sent in round - 29..=round {
                            if sent % 3 != tag || other == me {
                                continue;
                            }
                            let got = blockfile::encode::MpiStatus {
                                source: other,
                                tag,
                                error: 0,
                                bytes: (8 * sent) as u64 * 4,
                                cancelled: false,
                            };
                            let args = from(other.into(), tag.into(), 100_000, got);
                            call_at(&mut b, now, now + 30, "MPI_Recv", &args);
                            now += 35;
                        }
                    }
                }
            }
            b
        })
        .collect();
    for leaf in [1 << 11, 1 << 13, 1 << 20] {
        compare(&ranks, leaf);
    }
}

/// A rank with few calls is ahead of a busy one by more windows than messages have tags.
#[test]
fn a_rank_may_be_far_ahead() {
    let mut busy = rank(0, 2);
    for nth in 0..120_000 {
        call_at(
            &mut busy,
            1_000 + 20 * nth,
            1_010 + 20 * nth,
            "MPI_Wtime",
            &[],
        );
    }
    let mut idle = rank(1, 2);
    call_at(&mut idle, 1_005, 1_015, "MPI_Wtime", &[]);
    compare(&[busy, idle], 1 << 11);
}

/// The second MPI_File_open fails, and gives MPI_FILE_NULL. The third file has the number that it has on ranks where the second open did not fail.
#[test]
fn a_file_that_could_not_be_opened_has_no_number() {
    use V::{H, I, T};
    let mut b = rank(0, 1);
    let open = |file| [H(WORLD), T(Some("f")), I(2), H(0), H(file)];
    b.call("MPI_File_open", &open(70));
    failed_call(&mut b, 42, "MPI_File_open", &open(0));
    b.call("MPI_File_open", &open(71));
    for file in [71, 70] {
        b.call("MPI_File_close", &[H(file)]);
    }
    let bytes = b.bytes();
    let files = [BlockFile::new(&bytes).expect("a block file")];
    let options = MergeOptions {
        details: true,
        ..MergeOptions::default()
    };
    let table = wrappers::table().expect("the table parses");
    let merge = Merge::new(&files, table, options).expect("a rank");
    let mut shown = drawables(&sliced(&merge, TreeOptions::default(), 1).slog2);
    shown.retain(|(name, ..)| name.starts_with("MPI_File_"));
    shown.sort_by_key(|(_, vertices, _)| vertices[0]);
    let handle = |info: &[u8]| i32::from_be_bytes(*info.last_chunk().expect("a number"));
    let handles: Vec<i32> = shown.iter().map(|(.., info)| handle(info)).collect();
    assert_eq!(handles, [0, -2, 2, 2, 0]);
}
