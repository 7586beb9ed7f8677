//! Comparing what the join says with the truth: whose bytes each transfer of an `io_pattern.c` run carried, as `truth.c` saw
//! it in the buffers.

use crate::{compile, process};
use blockfile::file::BlockFile;
use blockfile::operation::{self, Effect, Layer};
use io_attribution::{
    Actor, AttributedOperation, AttributionRecord, DataAccessCall, FileRole, Precision, Relation,
    attribute_files,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use trace_model::Stop;

/// Bytes per mark: 1 + rank + 8 * (n % 31) for a rank's n-th call that writes bytes to the file.
type ByteMarks = BTreeMap<u64, u64>;

/// A transfer as it was seen in its buffer.
#[derive(Debug)]
struct SeenTransfer {
    function: String,
    offset: i64,
    size: i64,
    result: i64,
    marks: ByteMarks,
}

/// Result of the comparison.
#[derive(Debug, Default)]
pub struct ChainComparison {
    /// Transfers that wrote to the program's files.
    pub transfers: u64,
    /// Of them, those of which the join names each call and the number of its bytes, and they are right.
    pub exact: u64,
    /// Transfers where ranks overwrite each other, of which the join names every call that has bytes in it, and says that these may
    /// be others'.
    pub may_carry: u64,
    /// Transfers with data of several ranks.
    pub several: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes written that no call had asked for.
    pub hole_bytes: u64,
    /// Calls that write bytes.
    pub writes: u64,
    /// Of them, those whose bytes are found once each.
    pub delivered: u64,
    /// Calls that read bytes.
    pub reads: u64,
    /// Of them, those whose bytes are found once each.
    pub served: u64,
    /// Of them, those whose bytes several transfers may have served.
    pub ambiguous: u64,
    /// All that differs, a line each.
    pub differences: Vec<String>,
}

impl ChainComparison {
    /// Adds the figures of another run.
    pub fn add(&mut self, other: &ChainComparison) {
        self.transfers += other.transfers;
        self.exact += other.exact;
        self.may_carry += other.may_carry;
        self.several += other.several;
        self.written += other.written;
        self.hole_bytes += other.hole_bytes;
        self.writes += other.writes;
        self.delivered += other.delivered;
        self.reads += other.reads;
        self.served += other.served;
        self.ambiguous += other.ambiguous;
        self.differences.extend(other.differences.iter().cloned());
    }
}

/// The attribution records of a run that concern some of its files.
#[derive(Default)]
pub struct RunAttribution {
    /// Names without folder.
    pub files: BTreeMap<u32, String>,
    /// Data accesses.
    pub calls: Vec<DataAccessCall>,
    /// Operations on the files.
    pub operations: Vec<AttributedOperation>,
    /// Of each operation, the calls whose data it carries: CallID, bytes, how sure it is.
    pub carried: BTreeMap<u64, Vec<(u64, u64, Precision)>>,
}

impl RunAttribution {
    fn take(&mut self, fact: &AttributionRecord, prefix: &str) {
        match fact {
            AttributionRecord::File(file) => {
                let base = file.name.rsplit('/').next().unwrap_or_default();
                if base.starts_with(prefix) && file.role == FileRole::Data {
                    self.files.insert(file.id, base.to_owned());
                }
            }
            AttributionRecord::Call(call) if self.files.contains_key(&call.file) => {
                self.calls.push(call.clone());
            }
            AttributionRecord::Operation(operation)
                if operation.file.is_some_and(|f| self.files.contains_key(&f)) =>
            {
                self.operations.push(operation.clone());
            }
            AttributionRecord::Edge(edge) if edge.relation == Relation::Carries => {
                let entry = (edge.call, edge.bytes, edge.precision);
                self.carried.entry(edge.operation).or_default().push(entry);
            }
            _ => {}
        }
    }

    fn file(&self, file: Option<u32>) -> &str {
        file.and_then(|f| self.files.get(&f))
            .map_or("?", String::as_str)
    }

    /// Bytes of each call that operations carry.
    pub fn found(&self) -> BTreeMap<u64, u64> {
        let mut bytes = BTreeMap::new();
        for (call, n, _) in self.carried.values().flatten() {
            *bytes.entry(*call).or_default() += n;
        }
        bytes
    }
}

fn rank(actor: Actor) -> Option<u32> {
    match actor {
        Actor::Rank(rank) => Some(rank),
        _ => None,
    }
}

/// Joins the block files of a folder; gives what concerns data files whose names begin with `prefix`.
#[track_caller]
pub fn facts(trace: &Path, prefix: &str) -> RunAttribution {
    let mut contents = Vec::new();
    for entry in fs::read_dir(trace).expect("a folder") {
        let path = entry.expect("own folder").path();
        if path.extension().is_some_and(|e| e == "blocks") {
            contents.push(fs::read(&path).expect("own folder"));
        }
    }
    let files: Vec<BlockFile<'_>> = contents
        .iter()
        .map(|bytes| BlockFile::new(bytes).expect("a block file"))
        .collect();
    let table = wrappers::table().expect("the function table");
    let mut facts = RunAttribution::default();
    let mut put = |fact: &AttributionRecord| -> Result<(), Stop> {
        facts.take(fact, prefix);
        Ok(())
    };
    attribute_files(&files, table, &mut put).expect("files of one run");
    facts
}

/// Reads what `truth.c` has written, per rank and file.
fn truth(folder: &Path) -> BTreeMap<(u32, String), Vec<SeenTransfer>> {
    let mut all: BTreeMap<(u32, String), Vec<SeenTransfer>> = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("own folder").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(rank) = name.strip_prefix("truth.") else {
            continue;
        };
        let rank: u32 = rank.parse().expect("files are named by rank");
        for line in fs::read_to_string(&path).expect("own folder").lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |i: usize| -> i64 { words[i].parse().expect("a number") };
            let mark = |word: &&str| {
                let (mark, bytes) = word.split_once(':').expect("MARK:BYTES");
                let mark: u64 = mark.parse().expect("a number");
                (mark, bytes.parse().expect("a number"))
            };
            all.entry((rank, words[0].to_owned()))
                .or_default()
                .push(SeenTransfer {
                    function: words[1].to_owned(),
                    offset: number(2),
                    size: number(3),
                    result: number(4),
                    marks: words[5..].iter().map(mark).collect(),
                });
        }
    }
    all
}

/// The library that is to be preloaded behind the recorder, compiled.
#[track_caller]
pub fn truth_library() -> PathBuf {
    let folder = crate::target().join("tests-programs");
    fs::create_dir_all(&folder).expect("a folder below target/");
    let source = crate::root().join("tests/programs/truth.c");
    let library = folder.join("libtruth.so");
    let mut command = Command::new("cc");
    command.args(["-O1", "-g", "-Wall", "-shared", "-fPIC"]);
    command.arg(&source).args(["-ldl", "-lpthread"]);
    compile::build(command, &library, &[source], false);
    library
}

/// Precision of the report of a trace, `mpitrace io --csv exactness`: by stage and column.
pub fn exactness(trace: &Path) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut command = Command::new(crate::mpitrace());
    command.args(["io", "--csv", "exactness"]).arg(trace);
    let reported = process::run(&mut command, Duration::from_secs(60));
    assert!(reported.status.success(), "{}", reported.story());
    let mut lines = reported.stdout.lines();
    let columns: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |line: &str| {
        let (stage, cells) = line.split_once(',')?;
        let cells = columns.iter().skip(1).zip(cells.split(','));
        let cells = cells.filter_map(|(&name, cell)| Some((name.to_owned(), cell.parse().ok()?)));
        Some((stage.to_owned(), cells.collect()))
    };
    lines.filter_map(row).collect()
}

/// Compares the join of the block files in `trace` with what [`truth_library`] left in the folder `truth_folder`.
#[track_caller]
pub fn compare(trace: &Path, truth_folder: &Path) -> ChainComparison {
    let mut facts = facts(trace, "pattern.");
    let mut out = ChainComparison::default();
    facts.calls.sort_by_key(|call| (call.place.ns, call.call));
    let mut counts: BTreeMap<(u32, String), u64> = BTreeMap::new();
    let mut marks: BTreeMap<u64, u64> = BTreeMap::new();
    for call in &facts.calls {
        let Some(rank) = rank(call.place.lane.actor).filter(|_| call.writes && call.bytes > 0)
        else {
            continue;
        };
        let name = facts.file(Some(call.file)).to_owned();
        let n = counts.entry((rank, name)).or_default();
        marks.insert(call.call, 1 + u64::from(rank) + 8 * (*n % 31));
        *n += 1;
    }
    transfers(&facts, truth(truth_folder), &marks, &mut out);
    coverage(&facts, &mut out);
    out
}

/// Transfer by transfer, in the order in which each rank made them to each file.
fn transfers(
    facts: &RunAttribution,
    mut truth: BTreeMap<(u32, String), Vec<SeenTransfer>>,
    marks: &BTreeMap<u64, u64>,
    out: &mut ChainComparison,
) {
    let mut made: BTreeMap<(u32, String), Vec<&AttributedOperation>> = BTreeMap::new();
    for operation in &facts.operations {
        let Some(kind) = operation::kind(operation.kind) else {
            continue;
        };
        let writes = matches!(kind.effect, Effect::Write | Effect::StartWrite);
        if let Some(rank) = rank(operation.place.lane.actor)
            && writes
            && kind.layer == Layer::Libc
        {
            let file = facts.file(operation.file).to_owned();
            made.entry((rank, file)).or_default().push(operation);
        }
    }
    for (key, operations) in &mut made {
        operations.sort_by_key(|o| (o.place.ns, o.id));
        let seen = truth.remove(key).unwrap_or_default();
        if seen.len() != operations.len() {
            out.differences.push(format!(
                "{key:?}: {} transfers in the trace, {} seen",
                operations.len(),
                seen.len()
            ));
        }
        for (operation, seen) in operations.iter().zip(&seen) {
            transfer(facts, operation, seen, marks, out);
        }
    }
    for (key, seen) in &truth {
        let first = &seen[0];
        out.differences.push(format!(
            "{key:?}: no transfer in the trace, {} seen: {first:?}",
            seen.len()
        ));
    }
}

fn transfer(
    facts: &RunAttribution,
    operation: &AttributedOperation,
    seen: &SeenTransfer,
    marks: &BTreeMap<u64, u64>,
    out: &mut ChainComparison,
) {
    let kind = operation::kind(operation.kind).map_or("?", |kind| kind.name);
    let record = &operation.record;
    let mut what = format!(
        "{} {:?} {kind} at {} of {}",
        facts.file(operation.file),
        operation.place.lane.actor,
        record.offset,
        record.size
    );
    if let Some(call) = operation.call {
        what += &format!(" in {call:#x}");
    }
    out.transfers += 1;
    let same_result = kind == "aio_write" || record.result == seen.result;
    if (kind, record.offset, record.size) != (&seen.function, seen.offset, seen.size)
        || !same_result
    {
        out.differences.push(format!("{what}: seen as {seen:?}"));
        return;
    }
    let mut found = ByteMarks::new();
    let mut precise = true;
    for (call, bytes, precision) in facts.carried.get(&operation.id).into_iter().flatten() {
        *found
            .entry(marks.get(call).copied().unwrap_or(0))
            .or_default() += bytes;
        precise &= *precision == Precision::Exact;
    }
    // Bytes of calls that were complete before are what the transfer's read has found in the file.
    let is_old = |mark: &u64| {
        let mut before = facts.calls.iter().filter(|call| {
            marks.get(&call.call) == Some(mark)
                && Some(call.file) == operation.file
                && call.place.ns <= operation.place.ns
        });
        before
            .next_back()
            .is_some_and(|call| call.complete < operation.place.ns)
    };
    let seen_marks: ByteMarks = seen
        .marks
        .iter()
        .filter(|(mark, _)| found.contains_key(mark) || !is_old(mark))
        .map(|(mark, bytes)| (*mark, *bytes))
        .collect();
    let all = u64::try_from(record.size).unwrap_or(0);
    let hole_bytes = all.saturating_sub(seen_marks.values().sum());
    out.written += all;
    out.hole_bytes += hole_bytes;
    let mut ranks: Vec<u64> = seen_marks.keys().map(|mark| (mark - 1) % 8).collect();
    ranks.dedup();
    ranks.sort_unstable();
    ranks.dedup();
    out.several += u64::from(ranks.len() > 1);
    // Whose bytes stay where ranks overwrite each other is not defined: they must be among those that the join names.
    let may_carry = is_overlapping(facts.file(operation.file))
        && seen_marks
            .iter()
            .all(|(mark, bytes)| found.get(mark) >= Some(bytes));
    // What fills a new part of the file is in no sieving hole.
    let is_filled = facts.file(operation.file) == PREALLOCATED && seen_marks.is_empty();
    let has_holes = operation.hole_bytes == if is_filled { 0 } else { hole_bytes };
    if found == seen_marks && precise && has_holes {
        out.exact += 1;
    } else if may_carry && !precise && has_holes {
        out.may_carry += 1;
    } else {
        out.differences.push(format!(
            "{what}: carries {found:?} holes {}{}, seen {:?} holes {hole_bytes}",
            operation.hole_bytes,
            if precise { "" } else { " not exact" },
            seen.marks
        ));
    }
}

/// The file of which MPI_File_preallocate writes a part.
const PREALLOCATED: &str = "pattern.sizes";

/// Whether ranks overwrite each other in this file.
fn is_overlapping(file: &str) -> bool {
    file == "pattern.overlapping"
}

/// Each byte of a call once.
fn coverage(facts: &RunAttribution, out: &mut ChainComparison) {
    let mut bytes: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
    for (call, n, precision) in facts.carried.values().flatten() {
        let entry = bytes.entry(*call).or_default();
        entry.0 += n;
        entry.1 |= matches!(precision, Precision::Ambiguous | Precision::MayCarry);
    }
    let ranks = facts.calls.iter().map(|call| call.place.lane.actor);
    let ranks = ranks.collect::<BTreeSet<Actor>>().len() as u64;
    for call in facts.calls.iter().filter(|call| call.bytes > 0) {
        let mut expected = call.bytes;
        if facts.file(Some(call.file)) == "pattern.behind_end"
            && let Some((first, behind)) = call.bounding_extent
        {
            // Each rank has written 1000 bytes; no more can be read.
            expected = behind.min(1000 * ranks).saturating_sub(first);
        }
        let (found, ambiguous) = bytes.get(&call.call).copied().unwrap_or_default();
        let (all, once) = if call.writes {
            (&mut out.writes, &mut out.delivered)
        } else {
            (&mut out.reads, &mut out.served)
        };
        *all += 1;
        if ambiguous
            && call.writes
            && is_overlapping(facts.file(Some(call.file)))
            && found >= expected
        {
            *once += 1;
        } else if ambiguous {
            out.ambiguous += 1;
        } else if found == expected {
            *once += 1;
        } else {
            out.differences.push(format!(
                "{} {:?} {} {:#x}: {found} of {expected} bytes found",
                facts.file(Some(call.file)),
                call.place.lane.actor,
                call.name,
                call.call
            ));
        }
    }
}
