//! `ci/bench formats`: how fast traces are converted, printed and opened, on traces that `mpitrace synth` makes. Prints the
//! tables of docs/user/benchmarks.md.
//!
//! Commands are timed as a whole, start included, by the processor time they take (user and system), which other work
//! on the machine changes little; each is the best of three.

use memmap2::Mmap;
use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::slog2::{Depth, Slog2Reader, TimeBBox};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ROUNDS: usize = 3;
/// Drawables that fill a screen.
const SCREENFUL: f64 = 10_000.0;
/// Windows opened per file.
const WINDOWS: u64 = 400;

fn main() -> ExitCode {
    // cargo bench passes --bench.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let large = match arguments.as_slice() {
        [] => 190_000_000,
        [number] if number.parse::<u64>().is_ok() => number.parse().unwrap_or(0),
        _ => {
            eprintln!("usage: ci/bench formats [DRAWABLES OF THE LARGE FILE]");
            return ExitCode::from(2);
        }
    };
    match measure(large) {
        Ok(true) => {
            println!("\nall figures reached");
            ExitCode::SUCCESS
        }
        Ok(false) => {
            println!("\nNOT all figures reached");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("ci/bench formats: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(large: u64) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let mut reached = true;

    println!("| what | figure | to reach |\n|---|---:|---:|");
    let mut row = |what: &str, figure: f64, unit: &str, goal: f64, at_most: bool| {
        let good = if at_most {
            figure <= goal
        } else {
            figure >= goal
        };
        let sign = if at_most { "at most" } else { "at least" };
        println!("| {what} | {figure:.1} {unit} | {sign} {goal} |");
        reached &= good;
    };

    for (ranks, drawables) in [(16, 4_000_000), (16, 16_000_000), (1024, 4_000_000)] {
        let (from, to) = (file("a.clog2"), file("a.slog2"));
        let made = synth(ranks, drawables, &from)?;
        let cost = best(|| {
            // Freeing the file of the round before is not conversion.
            if to.exists() {
                std::fs::remove_file(&to)?;
            }
            mpitrace(&["convert", "--quiet", "--leaf", "auto"], &[&from, &to])
        })?;
        let what = format!(
            "CLOG2 to SLOG2, {ranks} ranks, {:.1} million drawables",
            millions(made)
        );
        row(
            &what,
            millions(made) / cost.seconds,
            "million drawables/s",
            10.0,
            false,
        );
        row(&what, cost.memory as f64 / 1048576.0, "MiB", 64.0, true);
    }

    let from = file("p.clog2");
    synth(16, 2_000_000, &from)?;
    let lines = lines_of(&from)?;
    let cost = best(|| mpitrace(&["print"], &[&from]))?;
    row(
        "print CLOG2",
        millions(lines) / cost.seconds,
        "million lines/s",
        5.0,
        false,
    );

    let from = file("p.slog2");
    synth(16, 2_000_000, &from)?;
    let lines = lines_of(&from)?;
    let cost = best(|| mpitrace(&["print"], &[&from]))?;
    row(
        "print SLOG2",
        millions(lines) / cost.seconds,
        "million lines/s",
        3.0,
        false,
    );

    let meta = file("p.meta");
    synth(2, 2_000_000, &meta)?;
    let from = first_bin(folder.path())?;
    let lines = lines_of(&from)?;
    let cost = best(|| mpitrace(&["print"], &[&from]))?;
    row(
        "print DUMPI",
        millions(lines) / cost.seconds,
        "million lines/s",
        5.0,
        false,
    );
    let rate = iterate(&from)?;
    row(
        "DUMPI records by iterator",
        rate,
        "million records/s",
        20.0,
        false,
    );

    let mut medians = Vec::new();
    for drawables in [large / 100, large] {
        let path = file("w.slog2");
        let begun = Instant::now();
        let made = synth(64, drawables, &path)?;
        let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let (median, worst, shown, read) = windows(&path, made)?;
        let what = format!("open a file of {megabytes:.0} MB and a window of {shown:.0} drawables");
        row(&format!("{what}: median"), median, "ms", 10.0, true);
        row(
            &format!("{what}: slowest of {WINDOWS}"),
            worst,
            "ms",
            10.0,
            true,
        );
        println!(
            "| {what}: bytes read, on average | {:.0} kB | |\n| synth: that file, {:.1} million drawables | {:.1} s | |",
            read / 1e3,
            millions(made),
            begun.elapsed().as_secs_f64()
        );
        medians.push(median);
        std::fs::remove_file(&path)?;
    }
    if let [small, large] = medians[..] {
        row(
            "window: the large file to the small one",
            large / small,
            "x",
            1.5,
            true,
        );
    }
    Ok(reached)
}

fn millions(number: u64) -> f64 {
    number as f64 / 1e6
}

/// Time and memory that a command took.
#[derive(Clone, Copy)]
struct Cost {
    /// Of processor time.
    seconds: f64,
    /// Largest resident size, bytes.
    memory: u64,
}

fn best(run: impl Fn() -> Result<Cost>) -> Result<Cost> {
    let mut best = run()?;
    for _ in 1..ROUNDS {
        let cost = run()?;
        best.seconds = best.seconds.min(cost.seconds);
        best.memory = best.memory.max(cost.memory);
    }
    Ok(best)
}

/// Runs a command and gives what it took; what it prints is thrown away.
fn mpitrace(options: &[&str], files: &[&Path]) -> Result<Cost> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(options).args(files);
    // A pipe or file would cost what its reader or disk takes; the text is made and written all the same.
    command.stdout(Stdio::null());
    let child = command.spawn()?;
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the right types, and the child is ours and not waited for yet.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    if waited < 0 || status != 0 {
        return Err(format!("mpitrace {} failed with status {status}", options.join(" ")).into());
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Cost {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        memory: usage.ru_maxrss as u64 * 1024,
    })
}

/// Makes a trace, and says how many drawables it asked for.
fn synth(ranks: u32, drawables: u64, path: &Path) -> Result<u64> {
    let (ranks, number) = (ranks.to_string(), drawables.to_string());
    let options = [
        "synth",
        "--quiet",
        "--force",
        "--ranks",
        &ranks,
        "--drawables",
        &number,
    ];
    mpitrace(&options, &[path])?;
    Ok(drawables)
}

/// Lines that `mpitrace print` prints of a file.
fn lines_of(path: &Path) -> Result<u64> {
    use std::io::Read;
    let mut child = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .arg("print")
        .arg(path)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut out = child.stdout.take().ok_or("no stdout")?;
    let mut buffer = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        let size = out.read(&mut buffer)?;
        if size == 0 {
            break;
        }
        lines += buffer[..size].iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
    child.wait()?;
    Ok(lines)
}

fn first_bin(folder: &Path) -> Result<PathBuf> {
    let mut bins: Vec<PathBuf> = std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "bin"))
        .collect();
    bins.sort();
    bins.into_iter().next().ok_or_else(|| "no .bin file".into())
}

/// Million records a second, best of three.
fn iterate(path: &Path) -> Result<f64> {
    let file = File::open(path)?;
    // SAFETY: the file is this program's own, in a folder of its own, and nobody shortens it.
    let bytes = unsafe { Mmap::map(&file)? };
    let mut best = 0.0f64;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let mut records = 0u64;
        for record in DumpiReader::open(&bytes)?.records() {
            std::hint::black_box(record?);
            records += 1;
        }
        best = best.max(millions(records) / begun.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Opens the file anew for each window; ms in the median and at worst, drawables shown and bytes read on average.
fn windows(path: &Path, drawables: u64) -> Result<(f64, f64, f64, f64)> {
    let file = File::open(path)?;
    // SAFETY: as above.
    let bytes = unsafe { Mmap::map(&file)? };
    let whole = Slog2Reader::new(&bytes)?.root().ok_or("no root")?.bounds;
    let width = whole.duration() * SCREENFUL / drawables as f64;
    let (mut times, mut shown, mut read) = (Vec::new(), 0, 0);
    for nth in 0..WINDOWS {
        // Spread evenly, and in no order.
        let part = (nth * 7919 % WINDOWS) as f64 / WINDOWS as f64;
        let earliest = whole.earliest + part * (whole.duration() - width);
        let bounds = TimeBBox {
            earliest,
            latest: earliest + width,
        };
        let mut once = || -> Result<f64> {
            let begun = Instant::now();
            let reader = Slog2Reader::new(&bytes)?;
            let window = reader.window(bounds, Depth::Lowest(0))?;
            let time = begun.elapsed().as_secs_f64() * 1e3;
            shown += window.drawables.len();
            read += window.reading.bytes;
            Ok(time)
        };
        // The first time maps the pages, which are in the cache, into this process.
        times.push(once()?.min(once()?));
    }
    times.sort_by(f64::total_cmp);
    let looks = 2.0 * WINDOWS as f64;
    Ok((
        times[times.len() / 2],
        times[times.len() - 1],
        shown as f64 / looks,
        read as f64 / looks,
    ))
}
