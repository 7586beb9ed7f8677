//! `ci/simulate`: the merge in parallel with simulated ranks in one process, without MPI.
//!
//! The whole merge runs the code of `merge::slices` on synthetic records. Plans for more ranks are made by the same code of synthetic
//! histograms; messages and bytes follow from them.

mod full;
mod memory;
mod network;
mod planned;
#[path = "../../tests/all/block_files/ranks/mod.rs"]
mod ranks;

use network::LogGp;
use planned::CallCost;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: memory::CountingAllocator = memory::CountingAllocator;

const USAGE: &str = "usage: simulate [--ranks N,N...] [--plans N,N...] [--calls N] [--clog2] [--latency NS] [--overhead NS] [--per-byte NS]
  --ranks     ranks of whole merges [16,64,256,1024]
  --plans     ranks of plans [100,1000,10000,100000,1000000]
  --calls     calls of each rank in whole merges [4000]; those of plans have 40000
  --clog2     with a CLOG2 file in whole merges
  --latency   of a message, ns [1500]
  --overhead  processor time of either end of a message, ns [400]
  --per-byte  time of a byte on a link, ns [0.1: 10 GB/s]";

/// Calls of each rank in plans.
const PLANNED_CALLS: u64 = 40_000;
/// Processor time of rank 0 for each call of the job, ns (docs/user/benchmarks.md).
const ROOT_NS: f64 = 200.0;

struct Arguments {
    ranks: Vec<u32>,
    plans: Vec<u32>,
    calls: u64,
    has_clog2: bool,
    network: LogGp,
}

fn arguments() -> Option<Arguments> {
    let list = |word: String| -> Option<Vec<u32>> {
        let numbers = word.split(',').filter(|word| !word.is_empty());
        numbers.map(|number| number.parse().ok()).collect()
    };
    let mut arguments = Arguments {
        ranks: vec![16, 64, 256, 1024],
        plans: vec![100, 1_000, 10_000, 100_000, 1_000_000],
        calls: 4000,
        has_clog2: false,
        network: LogGp {
            latency: 1500.0,
            overhead: 400.0,
            per_byte: 0.1,
        },
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--ranks" => arguments.ranks = list(words.next()?)?,
            "--plans" => arguments.plans = list(words.next()?)?,
            "--calls" => arguments.calls = words.next()?.parse().ok()?,
            // Of `cargo bench` itself.
            "--bench" => {}
            "--clog2" => arguments.has_clog2 = true,
            "--latency" => arguments.network.latency = words.next()?.parse().ok()?,
            "--overhead" => arguments.network.overhead = words.next()?.parse().ok()?,
            "--per-byte" => arguments.network.per_byte = words.next()?.parse().ok()?,
            _ => return None,
        }
    }
    Some(arguments)
}

/// Prints the whole merges; gives what a call costs in the last of them.
fn whole_merges(arguments: &Arguments) -> CallCost {
    let mut cost = CallCost {
        bytes: 110.0,
        drawn: 250.0,
        built: 550.0,
        memory: 2.0,
        at_the_root: ROOT_NS,
    };
    println!(
        "Whole merges, {} calls on each rank: the busiest rank, and in brackets the mean",
        arguments.calls
    );
    println!();
    println!(
        "| ranks | windows | rounds | messages | MB sent and taken | memory, MB | processor time, ms | time, ms | bytes a call in the file |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for &ranks in &arguments.ranks {
        let result = full::simulate(
            ranks,
            arguments.calls,
            arguments.has_clog2,
            arguments.network,
        );
        let of = |what: fn(&full::RankResult) -> u64| {
            let all = result.ranks.iter().map(what);
            let most = all.clone().max().unwrap_or(0);
            (most as f64, all.sum::<u64>() as f64 / f64::from(ranks))
        };
        let messages = of(|(c, _)| c.messages_sent + c.messages_taken);
        let bytes = of(|(c, _)| c.bytes_sent + c.bytes_taken);
        let computed = of(|(c, _)| c.computed);
        let memory = of(|(_, peak)| *peak).0;
        let clock = of(|(c, _)| c.clock).0;
        println!(
            "| {ranks} | {} | {} | {} ({:.0}) | {:.1} ({:.1}) | {:.1} | {:.1} ({:.1}) | {:.1} | {:.1} |",
            result.windows,
            result.rounds,
            messages.0,
            messages.1,
            bytes.0 / 1e6,
            bytes.1 / 1e6,
            memory / 1e6,
            computed.0 / 1e6,
            computed.1 / 1e6,
            clock / 1e6,
            result.written as f64 / result.calls as f64,
        );
        let calls_each = result.calls as f64 / f64::from(ranks);
        cost.bytes = bytes.1 / 2.0 / calls_each;
        let own_bytes = cost.bytes * calls_each;
        if result.windows < u64::from(ranks) {
            // Who owns no window has drawn its own calls and done nothing else.
            let drawn = result.ranks.iter().map(|(c, _)| c.computed).min();
            cost.drawn = drawn.unwrap_or(0) as f64 / calls_each;
            cost.built = (computed.1 / calls_each - cost.drawn).max(0.0);
            let window = own_bytes * f64::from(ranks) / result.windows as f64;
            cost.memory = memory / window;
        }
    }
    cost
}

fn plans(arguments: &Arguments, cost: CallCost) {
    println!();
    println!(
        "Plans, {PLANNED_CALLS} calls on each rank: the busiest rank, with {:.0} bytes a call on its way, {:.0} ns to draw and {:.0} ns to build it",
        cost.bytes, cost.drawn, cost.built
    );
    println!();
    println!(
        "| ranks | merge | windows | rounds | messages | MB sent and taken | memory, MB | time, s |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|");
    for &ranks in &arguments.plans {
        let both = [
            ("tree", planned::tree as planned::Model),
            ("parallel", planned::plan),
        ];
        for (name, model) in both {
            let rank = model(ranks, PLANNED_CALLS, cost, arguments.network);
            println!(
                "| {ranks} | {name} | {} | {} | {} | {:.1} | {:.1} | {:.3} |",
                rank.windows,
                rank.rounds,
                rank.messages,
                rank.bytes as f64 / 1e6,
                rank.memory as f64 / 1e6,
                rank.seconds
            );
        }
    }
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let cost = whole_merges(&arguments);
    plans(&arguments, cost);
    ExitCode::SUCCESS
}
