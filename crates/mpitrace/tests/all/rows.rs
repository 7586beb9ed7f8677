//! `mpitrace print --json` and `--csv`: rows of calls.

use crate::recover::common::{self, Blocks, V, WORLD, call_at, from, status, to};
use crate::recover::{KILLED, file, killed_in};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use test_support::golden;

fn mpitrace(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    command.args(arguments).current_dir(folder).env("TZ", "UTC");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    mpitrace(folder, arguments).output().expect("it runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of a file as JSON and as CSV, which must say the same.
#[track_caller]
fn rows(folder: &Path, name: &str) -> Vec<Value> {
    let output = run(folder, &["print", "--json", name]);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let rows: Vec<Value> = lines.collect();
    let output = run(folder, &["print", "--csv", "--raw-cells", name]);
    assert!(output.status.success(), "{name}: {}", stderr(&output));
    let mut reader = csv::Reader::from_reader(&*output.stdout);
    let columns = reader.headers().expect("a head").clone();
    let records: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("CSV")).collect();
    assert_eq!(rows.len(), records.len(), "{name}");
    for (row, record) in rows.iter().zip(&records) {
        let row = row.as_object().expect("an object");
        let names: Vec<&str> = row.keys().map(String::as_str).collect();
        assert_eq!(names, columns.iter().collect::<Vec<_>>(), "{name}");
        for ((column, value), cell) in row.iter().zip(record) {
            let expected = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            assert_eq!(cell, expected, "{name}: {column}");
        }
    }
    rows
}

/// Two ranks that open a file, write to it and pass messages on.
fn ranks() -> [Blocks; 2] {
    [0, 1].map(|rank| {
        let mut b = common::rank(rank, 2);
        let fh = 0x7f00_1234_5678;
        let done = |bytes| V::S(Some(status(0, 0, bytes)));
        let name = V::T(Some("a \"b\",\n=c"));
        let open = [V::H(WORLD), name, V::I(1), V::H(0), V::H(fh)];
        call_at(&mut b, 1000, 1100, "MPI_File_open", &open);
        for nth in 0..3 {
            let start = 2000 + 1000 * nth + 10 * rank as u32;
            let args = [
                V::H(fh),
                V::I(i64::from(nth) * 8),
                V::No,
                V::I(8),
                V::H(common::CHAR),
                done(8),
            ];
            call_at(&mut b, start, start + 50 + nth, "MPI_File_write_at", &args);
            let (start, stop) = (start + 200, start + 500);
            let tag = i64::from(nth);
            match rank {
                0 => call_at(&mut b, start, stop, "MPI_Send", &to(1, tag, 1)),
                _ => call_at(
                    &mut b,
                    start,
                    stop,
                    "MPI_Recv",
                    &from(0, tag, 1, status(0, nth as i32, 4)),
                ),
            }
        }
        b
    })
}

/// What all formats tell of the calls of a rank, with times since its first call.
fn calls(rows: &[Value], rank: i64) -> Vec<(String, i64, i64)> {
    let of_rank = || rows.iter().filter(|row| row["rank"] == rank);
    let int = |row: &Value, name: &str| row[name].as_i64().expect("a number");
    let first = of_rank().map(|row| int(row, "start_ns")).min();
    let call = |row: &Value| {
        let function = row["function"].as_str().expect("a name").to_owned();
        let start = int(row, "start_ns") - first.unwrap_or(0);
        (function, start, int(row, "duration_ns"))
    };
    of_rank().map(call).collect()
}

fn argument(rows: &[Value], rank: i64, function: &str, name: &str) -> Vec<Value> {
    let of = rows
        .iter()
        .filter(|row| row["rank"] == rank && row["function"] == function);
    of.map(|row| row["arguments"][name].clone()).collect()
}

#[test]
fn the_formats_of_a_run_agree() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    for (rank, blocks) in ranks().iter().enumerate() {
        fs::write(at.join(format!("{rank}.blocks")), file(blocks, &KILLED)).expect("written");
    }
    let made = run(at, &["recover", "--formats=dumpi,clog2,slog2", "."]);
    assert!(made.status.success(), "{}", stderr(&made));
    let slog2 = rows(at, "p.slog2");
    let clog2 = rows(at, "p.clog2");
    for rank in [0, 1] {
        let blocks = rows(at, &format!("{rank}.blocks"));
        let dumpi = rows(at, &format!("p-2023.11.14.22.13.20-000{rank}.bin"));
        let expected = calls(&blocks, rank);
        assert_eq!(expected.len(), 7);
        assert_eq!(calls(&dumpi, rank), expected, "DUMPI of rank {rank}");
        assert_eq!(calls(&slog2, rank), expected, "SLOG2 of rank {rank}");
        assert_eq!(calls(&clog2, rank), expected, "CLOG2 of rank {rank}");

        // CallIDs are those of the block file where a format has them.
        let ids = |rows: &[Value]| -> Vec<Value> {
            let writes = rows
                .iter()
                .filter(|row| row["function"] == "MPI_File_write_at");
            let of_rank = writes.filter(|row| row["rank"] == rank);
            of_rank.map(|row| row["call_id"].clone()).collect()
        };
        let expected = ids(&blocks);
        let numbers: Vec<u64> = expected
            .iter()
            .filter_map(|id| u64::from_str_radix(id.as_str()?.strip_prefix("0x")?, 16).ok())
            .collect();
        assert_eq!(numbers.len(), 3);
        assert!(numbers.iter().all(|id| id >> 40 == rank as u64));
        assert!(numbers.is_sorted());
        assert_eq!(ids(&clog2), expected);
        assert_eq!(ids(&slog2), expected);
        assert!(dumpi.iter().all(|row| row["call_id"].is_null()));

        for name in ["offset", "count", "datatype", "status"] {
            let expected = argument(&blocks, rank, "MPI_File_write_at", name);
            if name != "datatype" {
                assert_eq!(
                    argument(&dumpi, rank, "MPI_File_write_at", name),
                    expected,
                    "{name}"
                );
            }
        }
        let expected = argument(&blocks, rank, "MPI_File_write_at", "offset");
        assert_eq!(
            argument(&slog2, rank, "MPI_File_write_at", "offset"),
            expected
        );
        assert_eq!(expected, [json!(0), json!(8), json!(16)]);
        let names = argument(&blocks, rank, "MPI_File_open", "filename");
        assert_eq!(names, [json!("a \"b\",\n=c")]);
        assert_eq!(argument(&dumpi, rank, "MPI_File_open", "filename"), names);
        let (function, peer) = [("MPI_Send", "dest"), ("MPI_Recv", "source")][rank as usize];
        let expected = argument(&blocks, rank, function, peer);
        assert_eq!(expected, vec![json!(1 - rank); 3]);
        assert_eq!(argument(&dumpi, rank, function, peer), expected);
    }

    // The metafile stands for all ranks, whose times have one zero.
    let meta = "p-2023.11.14.22.13.20.meta";
    let of_run = rows(at, meta);
    let ends = |rows: &[Value]| {
        let of = |rank: i64| rows.iter().filter(move |row| row["rank"] == rank);
        [0, 1].map(|rank| {
            let starts = of(rank).map(|row| row["start_ns"].as_i64().expect("a number"));
            starts.min().expect("rows")
        })
    };
    let ([zero, one], [first, second]) = (ends(&slog2), ends(&of_run));
    assert_eq!((first.min(second), second - first), (0, one - zero));
    for rank in [0, 1] {
        assert_eq!(calls(&of_run, rank), calls(&slog2, rank));
    }
    fs::remove_file(at.join("p-2023.11.14.22.13.20-0001.bin")).expect("removed");
    let output = run(at, &["print", "--csv", meta]);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("{meta}: the .bin file of rank 1 is missing");
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!(printed, 1 + calls(&slog2, 0).len());
}

#[test]
fn block_files_tell_errors_and_calls_that_did_not_return() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    let mut b = common::rank(3, 4);
    common::failed_call(&mut b, 6, "MPI_Send", &to(9, 1, 1));
    let end = killed_in("MPI_Barrier", 5150);
    fs::write(at.join("3.blocks"), file(&b, &end)).expect("written");
    let rows = rows(at, "3.blocks");
    assert_eq!(rows.len(), 2);
    assert_eq!(
        (&rows[0]["error"], &rows[0]["rank"]),
        (&json!(6), &json!(3))
    );
    assert_eq!(rows[0]["arguments"]["dest"], 9);
    assert_eq!(rows[0]["arguments"]["comm"], "MPI_COMM_WORLD");
    assert_eq!(rows[1]["function"], "MPI_Barrier");
    assert!(rows[1]["duration_ns"].is_null() && rows[1]["error"].is_null());
}

/// As many rows as DUMPI has records of calls and other formats have states, whatever was recorded.
#[test]
fn every_golden_has_its_rows() {
    for path in golden::files("mpe", ".slog2").into_iter().take(12) {
        let name = path.to_str().expect("a name");
        let folder = Path::new(".");
        let rows = rows(folder, name);
        let info = run(folder, &["info", "--json", name]);
        let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
        assert_eq!(
            Some(rows.len() as u64),
            info[0]["states"].as_u64(),
            "{name}"
        );
        let starts: Vec<i64> = rows
            .iter()
            .filter_map(|row| row["start_ns"].as_i64())
            .collect();
        assert!(starts.is_sorted(), "{name}");
    }
    for path in golden::files("dumpi", ".bin") {
        let name = path.to_str().expect("a name");
        let text = run(Path::new("."), &["print", name]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        let calls = text.lines().filter(|line| line.contains(" entering at "));
        let enters = calls
            .clone()
            .filter(|line| line.starts_with("Function_enter"));
        let exits = calls
            .clone()
            .filter(|line| line.starts_with("Function_exit"));
        let (calls, enters, exits) = (calls.count(), enters.count(), exits.count());
        let rows = rows(Path::new("."), name).len();
        assert!(
            rows <= calls && rows >= calls - enters.min(exits) - 1,
            "{name}: {rows} of {calls}"
        );
    }
}

#[test]
fn cells_that_look_like_formulas_are_none() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    let paje = golden::text("paje/mpi_sample.trace");
    let name = "MPI_Recv";
    assert!(paje.contains(name));
    fs::write(at.join("x.trace"), paje.replace(name, "=cmd()")).expect("written");
    let csv = |arguments: &[&str]| {
        let output = run(at, &[&["print", "--csv"], arguments, &["x.trace"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(csv(&[]).contains(",'=cmd(),"));
    assert!(csv(&["--raw-cells"]).contains(",=cmd(),"));
}

#[test]
fn wrong_calls_are_refused() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    let made = run(at, &["synth", "-q", "--drawables", "100", "x.slog2"]);
    assert!(made.status.success());
    for (arguments, expected) in [
        (&["--json", "--csv"][..], "cannot be used with '--csv'"),
        (&["--json", "-a"], "-a has no meaning with --json and --csv"),
        (
            &["--csv", "--java"],
            "--java has no meaning with --json and --csv",
        ),
    ] {
        let output = run(at, &[&["print"], arguments, &["x.slog2"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
    let full = fs::File::options()
        .write(true)
        .open("/dev/full")
        .expect("there");
    let output = mpitrace(at, &["print", "--json", "x.slog2"])
        .stdout(full)
        .output()
        .expect("run");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("stdout: No space left"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let at = folder.path();
    let made = run(at, &["synth", "-q", "--drawables", "20000", "x.slog2"]);
    assert!(made.status.success());
    for option in ["--json", "--csv"] {
        let mut command = mpitrace(at, &["print", option, "x.slog2"]);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("a line");
        drop(out);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            (output.status.code(), stderr(&output)),
            (Some(0), String::new()),
            "{option}"
        );
    }
}
