//! `ci/failures`: many runs that end badly, each at another moment, and what was recovered of them, as the table of
//! `docs/user/reliability.md`.

use std::fmt::Write;
use std::process::ExitCode;
use tests::Mpi;
use tests::failures::{EndKind, RandomNumbers, RunOutcome, WAYS, run};

const USAGE: &str =
    "usage: failures [--runs N] [--mpi NAME]... [--way NAME]... [--seed N] [--write]
  --runs   runs of each way to end with each MPI [50]
  --mpi    mpich, openmpi, mpich5, openmpi5 [the first two]
  --way    some ways only
  --seed   of the moments at which runs end [the time]
  --write  put the table into docs/user/reliability.md";

struct Arguments {
    runs: u64,
    mpis: Vec<Mpi>,
    ways: Vec<EndKind>,
    seed: u64,
    write: bool,
}

fn arguments() -> Option<Arguments> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut arguments = Arguments {
        runs: 50,
        mpis: Vec::new(),
        ways: Vec::new(),
        seed: now.map_or(0, |d| d.as_secs()),
        write: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--runs" => arguments.runs = words.next()?.parse().ok()?,
            "--seed" => arguments.seed = words.next()?.parse().ok()?,
            "--write" => arguments.write = true,
            "--way" => arguments.ways.push(EndKind::named(&words.next()?)?),
            "--mpi" => {
                let name = words.next()?;
                let known = Mpi::EVERY.into_iter().find(|mpi| mpi.suffix() == name);
                arguments.mpis.push(known?);
            }
            _ => return None,
        }
    }
    if arguments.ways.is_empty() {
        arguments.ways = WAYS.to_vec();
    }
    if arguments.mpis.is_empty() {
        arguments.mpis = Mpi::ALL.to_vec();
    }
    Some(arguments)
}

/// `1234567` as `1 234 567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

fn row(name: &str, mpi: &str, o: &RunOutcome) -> String {
    format!(
        "| {name} | {mpi} | {} | {} | {} | {} | {} of {} |",
        o.runs,
        grouped(o.expected),
        grouped(o.recovered),
        o.lost,
        o.shown,
        o.running
    )
}

/// Lines of the document between which the table stands.
const BEGIN: &str = "<!-- begin of the table that ci/failures writes -->";
const END: &str = "<!-- end of the table -->";

fn write(table: &str) -> std::io::Result<()> {
    let path = tests::root().join("docs/user/reliability.md");
    let text = std::fs::read_to_string(&path)?;
    let parts = text.split_once(BEGIN).zip(text.split_once(END));
    let Some(((before, _), (_, after))) = parts else {
        return Err(std::io::Error::other("no place for the table"));
    };
    std::fs::write(path, format!("{before}{BEGIN}\n{table}{END}{after}"))
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut table = String::from(
        "| end | MPI | runs | calls that had returned | recovered | lost | running calls shown |\n\
         |---|---|---:|---:|---:|---:|---:|\n",
    );
    print!("{table}");
    let mut all = RunOutcome::default();
    let mut random = RandomNumbers(arguments.seed);
    for way in &arguments.ways {
        for mpi in arguments.mpis.iter().filter(|mpi| mpi.installed()) {
            let mut sum = RunOutcome::default();
            for _ in 0..arguments.runs {
                sum.add(run(*mpi, *way, &mut random));
            }
            let row = row(way.what, mpi.suffix(), &sum);
            println!("{row}");
            // Writing to a String cannot fail.
            let _ = writeln!(table, "{row}");
            for fault in &sum.faults {
                eprintln!("{fault}");
            }
            all.add(sum);
        }
    }
    let row = row("all", "", &all);
    println!("{row}");
    let _ = writeln!(table, "{row}");
    if arguments.write
        && let Err(error) = write(&table)
    {
        eprintln!("docs/user/reliability.md: {error}");
        return ExitCode::FAILURE;
    }
    println!(
        "seed {}: {} runs, {} lost, {} invented, {} faults, {} traces complete all the same",
        arguments.seed,
        all.runs,
        all.lost,
        all.invented,
        all.faults.len(),
        all.complete
    );
    if all.is_good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
