//! What a file system of `mpitrace ioserver` costs: time of a pwrite and a pread of some sizes, one client, in a file of 16 MB
//! that the page cache below holds. `cargo bench -p mpitrace --bench ioserver`; results stand in docs/user/ioserver.md.

#[path = "../tests/all/ioserver/instance.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod instance;

use instance::Instance;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

const FILE: u64 = 16 << 20;
const SIZES: [usize; 4] = [8, 4 << 10, 64 << 10, 1 << 20];
/// Of so many rounds the best counts.
const ROUNDS: usize = 5;
/// Longest time of a round.
const ROUND: Duration = Duration::from_millis(150);

/// Best time of `transfer` of `size` bytes, at one offset after the other.
fn best(size: usize, mut transfer: impl FnMut(u64)) -> Duration {
    let round = || {
        let begun = Instant::now();
        let mut count = 0;
        while begun.elapsed() < ROUND && count < 20_000 {
            transfer(u64::from(count) * size as u64 % FILE);
            count += 1;
        }
        begun.elapsed() / count
    };
    let mut rounds = std::iter::repeat_with(round).take(ROUNDS);
    let first = rounds.next().unwrap_or_default();
    rounds.fold(first, Duration::min)
}

/// A line of the table: time of writing and reading each size, and MB/s of those that are large.
fn measure(what: &str, folder: &Path) {
    let path = folder.join("file");
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    let file: File = options.open(&path).unwrap();
    let mut buffer = vec![1; FILE as usize];
    file.write_all_at(&buffer, 0).unwrap();
    print!("| {what}");
    for is_write in [true, false] {
        for size in SIZES {
            let part = &mut buffer[..size];
            let time = best(size, |at| match is_write {
                true => file.write_all_at(part, at).unwrap(),
                false => file.read_exact_at(part, at).unwrap(),
            });
            let us = time.as_secs_f64() * 1e6;
            match size {
                ..65_536 => print!(" | {us:.1}"),
                _ => print!(" | {us:.0} / {:.0}", size as f64 / us),
            }
        }
    }
    println!(" |");
    drop(file);
    std::fs::remove_file(path).unwrap();
}

fn main() {
    println!("us a call (/ MB/s), best of {ROUNDS} rounds");
    println!("| | w 8 B | w 4 KB | w 64 KB | w 1 MB | r 8 B | r 4 KB | r 64 KB | r 1 MB |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let plain = std::env::temp_dir().join(format!("mpitrace-bench-{}", std::process::id()));
    std::fs::create_dir_all(&plain).unwrap();
    measure("without", &plain);
    std::fs::remove_dir_all(&plain).unwrap();
    let rows: [(&str, &[&str]); 5] = [
        ("direct", &[]),
        ("direct, 1 thread", &["--threads", "1"]),
        ("through", &["--mode", "through"]),
        ("3 servers, 64 KB, Unix", &["--servers", "3"]),
        (
            "3 servers, 64 KB, TCP",
            &["--servers", "3", "--listen", "tcp"],
        ),
    ];
    for (what, options) in rows {
        let name = what.replace([',', ' '], "");
        if let Some(instance) = Instance::start(&name, options) {
            measure(what, &instance.mount());
            instance.unmount();
        }
    }
}
