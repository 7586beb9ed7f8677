//! A run's accesses in few numbers: files by kind, common sizes and strides, bandwidth, slowest and fastest rank.

use super::IoReport;
use super::pattern::Part;
use serde::Serialize;
use std::collections::BTreeMap;

/// Sizes and strides that are named: the most frequent ones.
const COMMON: usize = 4;

/// A size or a stride, and how often it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Common {
    /// Size, or distance from the begin of an access to that of the next, bytes.
    pub bytes: i64,
    /// Number of accesses.
    pub count: u64,
}

/// Time of a rank in data accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankTime {
    /// The rank.
    pub rank: u32,
    /// Time in its accesses, seconds.
    pub seconds: f64,
    /// Bytes that it asked for.
    pub bytes: u64,
}

/// Accesses of a run in few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AccessSummary {
    /// Files that were read only.
    pub files_read: u64,
    /// Files that were written only.
    pub files_written: u64,
    /// Files that were read and written.
    pub files_read_and_written: u64,
    /// Files that several ranks accessed.
    pub files_shared: u64,
    /// The most frequent sizes of accesses.
    pub common_sizes: Vec<Common>,
    /// The most frequent strides of independent accesses of a rank to a file.
    pub common_strides: Vec<Common>,
    /// Rank with the longest time in accesses.
    pub slowest_rank: Option<RankTime>,
    /// Rank with the shortest time in accesses, among those with any.
    pub fastest_rank: Option<RankTime>,
    /// Bytes of all ranks divided by the time of the slowest one: an estimate of the bandwidth, bytes per second.
    pub bytes_per_second: Option<f64>,
}

impl IoReport {
    /// The accesses in few numbers.
    pub fn summary(&self) -> AccessSummary {
        let accesses = &self.accesses;
        // By file: whether it was read, whether it was written, and the first rank or several.
        let mut files: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        for &(file, writes) in self.by_file.keys() {
            files.entry(file).or_default()[usize::from(writes)] = true;
        }
        for &(file, _, writes) in accesses.patterns.keys() {
            files.entry(file).or_default()[usize::from(writes)] = true;
        }
        let of_kind =
            |kind: [bool; 2]| files.values().filter(|found| **found == kind).count() as u64;
        let mut strides: BTreeMap<i64, u64> = BTreeMap::new();
        for pattern in accesses.patterns.values() {
            for (&stride, &count) in &pattern.strides {
                *strides.entry(stride).or_default() += count;
            }
        }
        let mut ranks: BTreeMap<u32, Part> = BTreeMap::new();
        for (&(rank, _), part) in &accesses.ranks {
            ranks.entry(rank).or_default().join(part);
        }
        let time = |(&rank, part): (&u32, &Part)| RankTime {
            rank,
            seconds: part.ns as f64 / 1e9,
            bytes: part.bytes,
        };
        let slowest = ranks.iter().max_by_key(|(_, part)| part.ns).map(time);
        let bytes: u64 = ranks
            .values()
            .map(|part| part.bytes)
            .fold(0, u64::saturating_add);
        let seconds = slowest
            .map(|rank| rank.seconds)
            .filter(|&seconds| seconds > 0.0);
        let sizes = accesses.sizes.iter();
        AccessSummary {
            files_read: of_kind([true, false]),
            files_written: of_kind([false, true]),
            files_read_and_written: of_kind([true, true]),
            files_shared: accesses.shared_files,
            common_sizes: common(sizes.map(|(&size, &count)| (size as i64, count))),
            common_strides: common(strides.into_iter()),
            slowest_rank: slowest,
            fastest_rank: ranks.iter().min_by_key(|(_, part)| part.ns).map(time),
            bytes_per_second: seconds.map(|seconds| bytes as f64 / seconds),
        }
    }
}

/// The most frequent ones, the first of equal ones first.
fn common(counts: impl Iterator<Item = (i64, u64)>) -> Vec<Common> {
    let mut all: Vec<Common> = counts
        .map(|(bytes, count)| Common { bytes, count })
        .collect();
    all.sort_by_key(|one| (std::cmp::Reverse(one.count), one.bytes));
    all.truncate(COMMON);
    all
}
