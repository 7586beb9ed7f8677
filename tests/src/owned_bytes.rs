//! Comparing what the attribution says of an `owned_bytes.c` run with the bytes that strace saw the ranks write.

use crate::chain::{self, RunAttribution};
use crate::strace::{self, Written};
use blockfile::operation::{self, Effect, Layer};
use io_attribution::{Actor, AttributedOperation, Precision};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

/// Owner of bytes as the program numbers them: 1 + rank + 4 * n for a rank's n-th call that writes to the file.
type Owner = u8;

/// Result of the comparison.
#[derive(Debug, Default)]
pub struct OwnedBytes {
    /// Transfers that wrote to the program's files.
    pub transfers: u64,
    /// Of them, those of which every link is said to be exact, and is.
    pub exact: u64,
    /// Of them, those that are said to be uncertain in some way, and that name every call whose bytes they hold.
    pub uncertain: u64,
    /// Links of transfers to calls that have no byte in them. Each of them is said to be uncertain.
    pub superfluous: u64,
    /// Bytes of calls that transfers hold, and for which strace saw no other place before.
    pub bytes: u64,
    /// Bytes at places for which their call has not asked: the MPI library's mistake.
    pub misplaced: u64,
    /// All that the attribution says and that is not so, a line each.
    pub differences: Vec<String>,
}

impl OwnedBytes {
    /// Adds the figures of another run.
    pub fn add(&mut self, other: &OwnedBytes) {
        self.transfers += other.transfers;
        self.exact += other.exact;
        self.uncertain += other.uncertain;
        self.superfluous += other.superfluous;
        self.bytes += other.bytes;
        self.misplaced += other.misplaced;
        self.differences.extend(other.differences.iter().cloned());
    }
}

impl fmt::Display for OwnedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} transfers, {} exact, {} uncertain, {} wrong; {} superfluous links, {} bytes, {} misplaced",
            self.transfers,
            self.exact,
            self.uncertain,
            self.differences.len(),
            self.superfluous,
            self.bytes,
            self.misplaced
        )
    }
}

/// The byte that `owned_bytes.c` writes for `owner` at `offset`.
fn hash(offset: u64) -> u8 {
    let product = offset.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    128 | (product >> 57) as u8
}

/// For each file and owner, the bytes that the call asks for.
type Claims = HashMap<String, BTreeMap<Owner, Vec<bool>>>;

/// Size of the program's files.
const FILE_BYTES: usize = 4 << 20;

fn claims(folder: &Path) -> Claims {
    let mut claims = Claims::new();
    for rank in 0..4 {
        let Ok(text) = fs::read_to_string(folder.join(format!("claims.{rank}"))) else {
            break;
        };
        for line in text.lines() {
            let mut words = line.split(' ');
            let file = words.next().expect("a file").to_owned();
            let owner = words.next().expect("an owner").parse().expect("a number");
            let mut bytes = vec![false; FILE_BYTES];
            for piece in words {
                let (offset, length) = piece.split_once('+').expect("OFFSET+LENGTH");
                let offset: usize = offset.parse().expect("a number");
                let length: usize = length.parse().expect("a number");
                bytes[offset..offset + length].fill(true);
            }
            claims.entry(file).or_default().insert(owner, bytes);
        }
    }
    claims
}

/// Owner of each CallID.
fn owners(facts: &RunAttribution) -> BTreeMap<u64, Owner> {
    let mut calls: Vec<_> = facts
        .calls
        .iter()
        .filter(|c| c.writes && c.bytes > 0)
        .collect();
    calls.sort_by_key(|call| (call.place.ns, call.call));
    let mut counts: BTreeMap<(Actor, u32), u8> = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for call in calls {
        let Actor::Rank(rank) = call.place.lane.actor else {
            continue;
        };
        let n = counts
            .entry((call.place.lane.actor, call.file))
            .or_default();
        owners.insert(call.call, 1 + rank as u8 + 4 * *n);
        *n += 1;
    }
    owners
}

/// Operations that wrote, by rank, file, offset and size, in the order in which they began.
type Operations<'a> = BTreeMap<(u32, String, u64, u64), VecDeque<&'a AttributedOperation>>;

fn operations(facts: &RunAttribution) -> Operations<'_> {
    let mut operations = Operations::new();
    let mut all: Vec<&AttributedOperation> = facts.operations.iter().collect();
    all.sort_by_key(|o| (o.place.ns, o.id));
    for operation in all {
        let kind = operation::kind(operation.kind);
        let writes = kind.is_some_and(|kind| {
            kind.layer == Layer::Libc && matches!(kind.effect, Effect::Write | Effect::StartWrite)
        });
        let name = operation.file.and_then(|f| facts.files.get(&f));
        if let (Actor::Rank(rank), Some(name), true) = (operation.place.lane.actor, name, writes) {
            let offset = operation.record.offset as u64;
            let size = operation.record.size as u64;
            let key = (rank, name.clone(), offset, size);
            operations.entry(key).or_default().push_back(operation);
        }
    }
    operations
}

/// Compares the attribution of the block files in `trace` with what the ranks of an `owned_bytes.c` run in `folder` wrote, as strace
/// saw it.
#[track_caller]
pub fn compare(trace: &Path, folder: &Path) -> OwnedBytes {
    let facts = chain::facts(trace, "owned.");
    let (owners, claims) = (owners(&facts), claims(folder));
    let mut operations = operations(&facts);
    let mut out = OwnedBytes::default();
    // For each file and owner, the bytes that some transfer has held.
    let mut held = Claims::new();
    let written = strace::written(folder, "owned.").into_iter();
    for written in written.filter(|written| !is_of_open_mpi(&written.file)) {
        let first = first_bytes(&written, &claims, &mut held, &mut out);
        let offset = written.offset.unwrap_or(u64::MAX);
        let size = written.bytes.len() as u64;
        let key = (written.rank, written.file.clone(), offset, size);
        let made = operations.get_mut(&key).and_then(VecDeque::pop_front);
        let what = format!("{} rank {} {size} at {offset}", written.file, written.rank);
        match made {
            Some(operation) => transfer(&facts, &owners, operation, &first, what, &mut out),
            None => out.differences.push(format!("{what}: not in the trace")),
        }
    }
    for (key, left) in operations.iter().filter(|(_, left)| !left.is_empty()) {
        let line = format!("{key:?}: {} that strace did not see", left.len());
        out.differences.push(line);
    }
    out
}

/// Whether a file is one that Open MPI makes beside the program's, for its shared file pointer.
fn is_of_open_mpi(file: &str) -> bool {
    file.contains("_cid-") || file.contains(".locktest")
}

/// Bytes of each call that no transfer has held before this one.
fn first_bytes(
    written: &Written,
    claims: &Claims,
    held: &mut Claims,
    out: &mut OwnedBytes,
) -> BTreeMap<Owner, u64> {
    let mut first = BTreeMap::new();
    let Some(claims) = claims.get(&written.file) else {
        return first;
    };
    let held = held.entry(written.file.clone()).or_default();
    for (at, byte) in (written.offset.unwrap_or(0)..).zip(&written.bytes) {
        let owner = byte ^ hash(at);
        // What the library had in its memory, or zeros of the file.
        let Some(claim) = claims.get(&owner) else {
            continue;
        };
        let place = at as usize;
        if !claim.get(place).copied().unwrap_or(false) {
            out.misplaced += 1;
            continue;
        }
        let held = held.entry(owner).or_insert_with(|| vec![false; FILE_BYTES]);
        if !std::mem::replace(&mut held[place], true) {
            *first.entry(owner).or_default() += 1;
            out.bytes += 1;
        }
    }
    first
}

fn transfer(
    facts: &RunAttribution,
    owners: &BTreeMap<u64, Owner>,
    operation: &AttributedOperation,
    first: &BTreeMap<Owner, u64>,
    mut what: String,
    out: &mut OwnedBytes,
) {
    out.transfers += 1;
    let mut named: BTreeMap<Owner, (u64, Precision)> = BTreeMap::new();
    for (call, bytes, precision) in facts.carried.get(&operation.id).into_iter().flatten() {
        let owner = owners.get(call).copied().unwrap_or(0);
        let entry = named.entry(owner).or_insert((0, *precision));
        entry.0 += bytes;
        entry.1 = entry.1.max(*precision);
    }
    let size = operation.record.size as u64;
    let holes = size - first.values().sum::<u64>();
    let is_exact = named.values().all(|(_, p)| *p == Precision::Exact);
    let bytes = |owner: &Owner| first.get(owner).copied().unwrap_or(0);
    let right = named.iter().all(|(owner, (n, precision))| match precision {
        Precision::Exact => *n == bytes(owner),
        Precision::BoundingExtent => true,
        _ => *n >= bytes(owner),
    });
    let all_named = first.keys().all(|owner| named.contains_key(owner));
    let right_holes = match is_exact {
        true => operation.hole_bytes == holes,
        false => operation.hole_bytes <= holes,
    };
    out.superfluous += named.keys().filter(|owner| bytes(owner) == 0).count() as u64;
    if right && all_named && right_holes {
        *(if is_exact {
            &mut out.exact
        } else {
            &mut out.uncertain
        }) += 1;
        return;
    }
    let _ = write!(what, ": says {named:?} holes {}", operation.hole_bytes);
    let _ = write!(what, ", strace saw {first:?} holes {holes}");
    out.differences.push(what);
}
