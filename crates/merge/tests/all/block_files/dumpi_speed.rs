//! Speed of making a DUMPI file from blocks, on demand:
//!
//! ```text
//! cargo test --release -p trace-formats --test all project::dumpi_speed -- --ignored --nocapture
//! ```

use crate::block_files::ranks::blocks::V::{H, I, No, S};
use crate::block_files::ranks::blocks::*;
use blockfile::file::BlockFile;
use merge::dumpi::{DumpiOptions, write_to};
use std::time::Instant;

const ROUNDS: u64 = 150_000;

/// A halo exchange: per round four requests, a Waitall and an Allreduce; a program that probes and sends.
#[test]
#[ignore = "takes long and proves nothing about being right"]
fn halo() {
    let mut b = Blocks::new();
    let get = |b: &mut Blocks, name: &str, args: &[V]| {
        let start = b.threads[0].len();
        b.call(name, args);
        let record = b.threads[0][start..].to_vec();
        b.threads[0].truncate(start);
        record
    };
    let message =
        |peer: i64, request: u64| [No, I(512), H(DOUBLE), I(peer), I(7), H(WORLD), H(request)];
    let all: Vec<V> = (0..4u64).map(|i| H(0x9c00_0000 + i)).collect();
    let got: Vec<V> = (0..4).map(|i| S(Some(status(i, 7, 4096)))).collect();
    let mut round = Vec::new();
    for (name, peer, request) in [
        ("MPI_Irecv", 1, 0),
        ("MPI_Irecv", 3, 1),
        ("MPI_Isend", 1, 2),
        ("MPI_Isend", 3, 3),
    ] {
        round.extend(get(&mut b, name, &message(peer, 0x9c00_0000 + request)));
    }
    let wait = [I(4), V::A(Some(all)), V::A(Some(got))];
    round.extend(get(&mut b, "MPI_Waitall", &wait));
    let sum = [No, No, I(1), H(DOUBLE), H(SUM), H(WORLD)];
    round.extend(get(&mut b, "MPI_Allreduce", &sum));
    for _ in 0..ROUNDS {
        b.threads[0].extend_from_slice(&round);
    }
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).unwrap();
    for _ in 0..3 {
        let start = Instant::now();
        let (out, summary) = write_to(
            &file,
            b.table,
            &DumpiOptions::default(),
            Vec::with_capacity(200 << 20),
        )
        .unwrap();
        let took = start.elapsed().as_secs_f64();
        assert_eq!(summary.calls, 6 * ROUNDS);
        println!(
            "{} calls, {:.1} MB of DUMPI: {:.2} million calls/s",
            summary.calls,
            out.len() as f64 / 1e6,
            summary.calls as f64 / took / 1e6
        );
    }
}
