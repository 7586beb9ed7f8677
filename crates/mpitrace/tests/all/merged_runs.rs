//! Runs that `mpitrace merge` puts into one trace stay runs of their own: calls of one do not wait for calls of the other.

use crate::exported::succeeds;
use crate::recover::common::{Blocks, V, WORLD, call_at, intra, rank};
use crate::recover::{KILLED, file};
use blockfile::define::CommCreation;
use std::fs;
use std::path::Path;

const DUP: u64 = 700;
const HALF: u64 = 701;

/// A rank of two: rank 1 comes last to each call, and rank 0 waits for it for 3, 2 and 1 µs. The first MPI_Comm_dup makes a communicator on which
/// MPI_Barrier is called, the second one on which nothing is.
fn run(nth: i32) -> Vec<u8> {
    let mut b = rank(nth, 2);
    let late = |ns: u32| if nth == 1 { ns } else { 0 };
    let at = |b: &mut Blocks, start: u32, wait: u32, name: &str, args: &[V]| {
        call_at(b, start + late(wait), start + wait + 100, name, args);
    };
    at(&mut b, 1000, 3000, "MPI_Barrier", &[V::H(WORLD)]);
    intra(&mut b, DUP, WORLD, CommCreation::Parent, nth, &[0, 1]);
    at(
        &mut b,
        10_000,
        2000,
        "MPI_Comm_dup",
        &[V::H(WORLD), V::H(DUP)],
    );
    at(&mut b, 20_000, 1000, "MPI_Barrier", &[V::H(DUP)]);
    intra(&mut b, HALF, DUP, CommCreation::Parent, nth, &[0, 1]);
    at(&mut b, 30_000, 0, "MPI_Comm_dup", &[V::H(DUP), V::H(HALF)]);
    file(&b, &KILLED)
}

/// The waits of a report on a trace: pattern, call, rank that waits, ns; the first ranks of both runs are called 0.
fn waits(at: &Path, trace: &str) -> Vec<(String, String, u64, u64)> {
    let printed = succeeds(at, &["report", "--json", trace]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&printed).expect("JSON");
    let waits = report["waits"].as_array().expect("waits").iter();
    let mut found: Vec<_> = waits
        .map(|wait| {
            let text = |key: &str| wait[key].as_str().expect(key).to_owned();
            let rank = wait["first"]["rank"].as_u64().expect("a rank");
            let culprit = wait["culprit"].as_u64().expect("a rank");
            assert_eq!(culprit, rank + 1, "{wait:#}");
            let ns = wait["seconds"].as_f64().expect("seconds") * 1e9;
            (text("pattern"), text("call"), rank, ns.round() as u64)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn calls_of_merged_runs_wait_for_their_own_run_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for nth in 0..2 {
        fs::write(at.join(format!("{nth}.blocks")), run(nth)).expect("written");
    }
    succeeds(at, &["recover", "--formats", "slog2", "--output", "a", "."]);
    let alone = waits(at, "a.slog2");
    let sum = |waits: &[(String, String, u64, u64)], rank| -> u64 {
        let own = waits.iter().filter(|wait| wait.2 == rank);
        own.map(|wait| wait.3).sum()
    };
    assert_eq!(sum(&alone, 0), 3000 + 2000 + 1000, "{alone:?}");

    // The second run one second later, and while the first is in its calls.
    for shift in ["1", "0.000000500"] {
        let merge = [
            "merge",
            "-q",
            "--force",
            "--shift",
            shift,
            "a.slog2",
            "a.slog2",
            "both.slog2",
        ];
        succeeds(at, &merge);
        let both = waits(at, "both.slog2");
        assert_eq!(both.len(), 2 * alone.len(), "{both:?}");
        assert_eq!([0, 2].map(|rank| sum(&both, rank)), [6000; 2], "{both:?}");
    }
}
