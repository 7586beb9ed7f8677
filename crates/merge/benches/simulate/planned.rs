//! Plans for many ranks, made by the real code of synthetic histograms, and what follows from a plan for the busiest rank: messages,
//! bytes, memory, time. No records are merged.

use super::network::LogGp;
use merge::slices::{self, Histogram, SlicePlan, SliceShare, SliceTotals};
use trace_formats::slog2::TreeOptions;

/// Bytes of the size of an item, as ranks tell it to each other.
const ITEM_BYTES: u64 = 20;
/// Bytes after which what a rank has of a window is sent.
const SEGMENT_BYTES: u64 = slices::SEGMENT_BYTES as u64;

/// What a call costs, taken from a whole simulation.
#[derive(Clone, Copy, Debug)]
pub struct CallCost {
    /// Bytes of a call on its way to the owner of its window.
    pub bytes: f64,
    /// Processor time of a rank for each of its calls until it is sent, ns.
    pub drawn: f64,
    /// Processor time of the owner of a window for each call in it, ns.
    pub built: f64,
    /// Memory of the owner of a window for each byte of it.
    pub memory: f64,
    /// Processor time of rank 0 for each call of the job, where the ranks merge over it in a tree, ns.
    pub at_the_root: f64,
}

/// What a plan means for the busiest rank.
pub struct PlannedRank {
    pub windows: u64,
    pub rounds: u64,
    /// Sent and taken.
    pub messages: u64,
    /// Sent and taken.
    pub bytes: u64,
    /// Bytes at the same time.
    pub memory: u64,
    pub seconds: f64,
}

/// What is expected of the busiest rank for so many ranks with so many calls each.
pub type Model = fn(u32, u64, CallCost, LogGp) -> PlannedRank;

fn stages(ranks: u64) -> u64 {
    u64::from(ranks.next_power_of_two().trailing_zeros())
}

/// A plan for `ranks` with `calls` calls each, and what it means.
pub fn plan(ranks: u32, calls: u64, cost: CallCost, network: LogGp) -> PlannedRank {
    let n = u64::from(ranks);
    let totals = SliceTotals {
        share: SliceShare {
            calls: n * calls,
            start: 0.0,
            end: 600.0,
        },
        ranks,
        tree: TreeOptions {
            children_per_node: 2,
            leaf_byte_size: TreeOptions::leaf_for(n),
        },
        clog2_block: 0,
    };
    let mut histogram = Histogram::new(totals.bins(), totals.share.end);
    for bin in 0..totals.bins() {
        // A program of three phases, with an exchange every tenth of the time.
        let weight = [1, 5, 2][3 * bin / totals.bins()] + u64::from(bin % 10 == 0) * 20;
        let time = totals.share.end * (bin as f64 + 0.5) / totals.bins() as f64;
        histogram.add(time, weight * n * calls / totals.bins() as u64 / 4);
    }
    let plan = SlicePlan::new(&totals, &histogram, ranks);
    let (windows, rounds) = (plan.windows(), plan.rounds());
    // What a rank sends to the owners of windows, and what the busiest owner gets.
    let own_bytes = calls as f64 * cost.bytes;
    let owned = windows.div_ceil(n) as f64 / windows as f64 * n as f64;
    let in_window = (own_bytes / windows as f64) as u64;
    let each = in_window.div_ceil(SEGMENT_BYTES).max(1);
    let mut messages = windows * each + windows.div_ceil(n) * n * each;
    let mut bytes = (own_bytes * (1.0 + owned)) as u64;
    // What crosses windows, twice in each round.
    messages += rounds * 2 * 2 * stages(n);
    // Previews and sizes; the root of the tree of ranks has most of the latter.
    let mut items_built = vec![0u32; ranks as usize];
    let mut sizes = 0;
    for round in 0..rounds {
        let items = plan.items(round);
        sizes = sizes.max(items.len() as u64 * ITEM_BYTES);
        for id in &items {
            items_built[plan.builder(*id) as usize] += 1;
        }
        bytes += 3 * items.len() as u64 * ITEM_BYTES;
        messages += 4;
    }
    messages += u64::from(items_built.into_iter().max().unwrap_or(0));
    let histogram_bytes = 8 * totals.bins() as u64;
    messages += 8;
    bytes += 5 * histogram_bytes;
    let hops = stages(n) as f64;
    let small = network.latency + 2.0 * network.overhead;
    let ns = calls as f64 * (cost.drawn + owned * cost.built)
        + messages as f64 * network.overhead
        + bytes as f64 * network.per_byte
        + rounds as f64 * hops * 4.0 * small
        + hops * 2.0 * (small + 2.0 * histogram_bytes as f64 * network.per_byte)
        + rounds as f64 * hops * sizes as f64 * network.per_byte;
    let of_window = own_bytes * n as f64 / windows as f64 * cost.memory;
    PlannedRank {
        windows,
        rounds,
        messages,
        bytes,
        memory: of_window as u64
            + slices::MAX_UNDER_WAY as u64
            + 2 * sizes
            + 8 * plan.leaves() as u64,
        seconds: ns / 1e9,
    }
}

/// The merge over rank 0, by its model: rank 0 takes each record of the job in messages of 64 KB, which took a hop for each height of the tree.
pub fn tree(ranks: u32, calls: u64, cost: CallCost, network: LogGp) -> PlannedRank {
    let n = u64::from(ranks);
    let all = (n * calls) as f64;
    let bytes = (all * cost.bytes) as u64;
    let messages = bytes.div_ceil(SEGMENT_BYTES).max(2);
    let hop = network.latency + 2.0 * network.overhead + SEGMENT_BYTES as f64 * network.per_byte;
    let ns = all * cost.at_the_root + messages as f64 * network.overhead + stages(n) as f64 * hop;
    PlannedRank {
        windows: 0,
        rounds: 1,
        messages,
        bytes,
        // A leaf in the making, a preview for each height, and messages of both children.
        memory: TreeOptions::leaf_for(n) as u64 * 2 + 4 * SEGMENT_BYTES,
        seconds: ns / 1e9,
    }
}
