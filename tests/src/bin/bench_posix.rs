//! `ci/bench posix`: what recording libc's file calls costs, as a table for `docs/user/benchmarks.md`: calls of 8 bytes that pass
//! through, that are looked at, that are recorded; with and without the recorder in turn within one run.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;
use tests::{Mpi, Program, TestFolder, process};

/// Places of the calls: path, name, further settings, and the ns per call that may be added on a file.
const PLACES: [(&str, &str, &str, Option<f64>); 6] = [
    ("outside", "outside MPI: passed through", "", Some(PASSED)),
    (
        "comm",
        "inside another MPI call: looked at",
        "",
        Some(LOOKED_AT),
    ),
    (
        "file",
        "inside an MPI_File call: recorded",
        "",
        Some(RECORDED),
    ),
    (
        "file",
        "inside an MPI_File call, `posix off`",
        "posix off",
        Some(LOOKED_AT),
    ),
    (
        "outside",
        "outside MPI, `posix all`: recorded",
        "posix all",
        Some(RECORDED),
    ),
    ("file", "recorded with `rusage on`", "rusage on", None),
];
/// ns that nobody measures: more than this is said.
const PASSED: f64 = 5.0;
/// ns for a look at what the descriptor is.
const LOOKED_AT: f64 = 15.0;
/// ns for a record.
const RECORDED: f64 = 40.0;
const ROUNDS: usize = 7;
const LIMIT: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let mut reached = true;
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = Program::c("file_loops").compile(mpi);
        println!(
            "\n{}, one process, 200 000 calls of 8 bytes, best of 5 in each of {ROUNDS} runs; ns per call\n",
            mpi.suffix()
        );
        println!("| calls | pwrite, tmpfs | pread, tmpfs | pwrite, /dev/null | to reach |");
        println!("|---|---:|---:|---:|---:|");
        let file = format!("/dev/shm/trace-bench-{}", std::process::id());
        let columns = [
            ("pwrite", &*file),
            ("pread", &*file),
            ("pwrite", "/dev/null"),
        ];
        let mut best = [[f64::INFINITY; 3]; PLACES.len() + 1];
        for _ in 0..ROUNDS {
            for (column, &(function, file)) in columns.iter().enumerate() {
                let mut take = |row: usize, place, settings| {
                    let time = one_loop(mpi, &program, [function, file, place], settings);
                    best[row][column] = best[row][column].min(time);
                };
                take(0, "outside", None);
                for (row, (place, _, settings, _)) in PLACES.iter().enumerate() {
                    take(row + 1, place, Some(settings));
                }
            }
        }
        std::fs::remove_file(&file).expect("own file");
        let [base, rows @ ..] = best;
        println!(
            "| without the recorder | {:.1} | {:.1} | {:.1} | |",
            base[0], base[1], base[2]
        );
        for (row, (_, title, _, limit)) in rows.iter().zip(PLACES) {
            let added: Vec<f64> = row
                .iter()
                .zip(base)
                .map(|(time, base)| time - base)
                .collect();
            let cell = |i: usize| format!("{:.1} ({:+.1})", row[i], added[i]);
            let to_reach = limit.map_or(String::new(), |limit| format!("+{limit:.0}"));
            println!(
                "| {title} | {} | {} | {} | {to_reach} |",
                cell(0),
                cell(1),
                cell(2)
            );
            reached &= limit.is_none_or(|limit| added.iter().all(|&added| added <= limit));
        }
    }
    println!(
        "\n{}",
        if reached {
            "all figures reached"
        } else {
            "NOT all figures reached"
        }
    );
    ExitCode::from(u8::from(!reached))
}

/// ns per call; with the recorder where there are settings for it.
fn one_loop(mpi: Mpi, program: &Path, arguments: [&str; 3], settings: Option<&str>) -> f64 {
    let folder = TestFolder::new("loop");
    // where blocks go by default, so that the file system is the one a user has
    let blocks_in = std::env::temp_dir().join(format!("trace-bench-{}", std::process::id()));
    std::fs::create_dir_all(&blocks_in).expect("a folder for block files");
    let mut command = Command::new(program);
    mpi.environment(&mut command);
    command.args(arguments).current_dir(folder.path());
    if let Some(settings) = settings {
        command
            .env("LD_PRELOAD", tests::recorder_of_release())
            .env("TRACE_SETTINGS", settings)
            .env("TRACE_TMPDIR", &blocks_in);
    }
    let output = process::run(&mut command, LIMIT).succeeded().stdout;
    std::fs::remove_dir_all(&blocks_in).expect("own folder");
    output.trim().parse().expect("ns")
}
