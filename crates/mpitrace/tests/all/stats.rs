//! `mpitrace stats` as users call it.

use crate::exported::{fails, succeeds, synth};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use test_support::golden;

fn mpitrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .output()
        .expect("mpitrace")
}

/// The tables of dumpistats that lie among the goldens: name, case and options.
const TABLES: &[(&str, &str, &[&str])] = &[
    ("ring-n4-default", "ring-n4-default", &[]),
    (
        "ring-n4-count",
        "ring-n4-default",
        &[
            "-b",
            "all",
            "-c",
            "all",
            "-c",
            "mpi",
            "-c",
            "non-mpi",
            "-c",
            "sends",
            "-c",
            "recvs",
            "-c",
            "coll",
            "-c",
            "wait",
            "-c",
            "io",
            "-c",
            "mpi_.?send",
            "-c",
            "MPI_(I?probe|Get_count)",
        ],
    ),
    (
        "ring-n4-bytes",
        "ring-n4-default",
        &[
            "-b", "mpi", "-s", "sends", "-r", "recvs", "-s", "all", "-r", "all", "-x", "all",
        ],
    ),
    (
        "coll-n4-coll",
        "coll-n4-default",
        &[
            "-b",
            "init to finalize",
            "-c",
            "coll",
            "-s",
            "coll",
            "-r",
            "coll",
            "-t",
            "coll",
        ],
    ),
    (
        "nonblock-n2-lump",
        "nonblock-n2-default",
        &["-b", "all", "-l", "sends"],
    ),
    (
        "ring-n2-two",
        "ring-n2-default",
        &[
            "-b",
            "all",
            "-b",
            "start+0.001 to end",
            "-t",
            "mpi",
            "-c",
            "all",
        ],
    ),
    (
        "nonblock-n4-bins",
        "nonblock-n4-default",
        &["-b", "all by 0.05", "-c", "all", "-t", "wait"],
    ),
    (
        "thr-n2-mark",
        "thr-n2-default",
        &["-m", "/begin phase/end phase/", "-c", "all", "-t", "mpi"],
    ),
    (
        "thr-n2-gather",
        "thr-n2-default",
        &["-g", "/BEGIN phase/END phase/i", "-c", "all", "-t", "mpi"],
    ),
];

fn tables(folder: &Path, prefix: &str) -> Vec<(String, String)> {
    let files = fs::read_dir(folder)
        .expect("folder")
        .map(|file| file.expect("file").path());
    let mut found: Vec<_> = files
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let is_one = name.starts_with(&format!("{prefix}-bin")) && name.ends_with(".tbl");
            is_one.then(|| (name, fs::read_to_string(&path).expect("table")))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn the_tables_of_dumpistats() {
    let folder = golden::path("dumpi");
    let out = tempfile::tempdir().expect("folder");
    let mut compared = 0;
    for (name, case, options) in TABLES {
        let case = folder.join(case);
        let mut metas = fs::read_dir(&case)
            .expect("case")
            .map(|file| file.expect("file").path());
        let meta = metas.find(|path| path.extension().is_some_and(|e| e == "meta"));
        let meta = meta.expect("metafile").display().to_string();
        let root = out.path().join(name).display().to_string();
        let mut arguments = vec!["stats", "--quiet", &meta, "--dumpistats", &root];
        arguments.extend_from_slice(options);
        let output = mpitrace(&arguments);
        assert!(
            output.status.success(),
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let (found, expected) = (
            tables(out.path(), name),
            tables(&folder.join("tools/stats"), name),
        );
        let names =
            |tables: &[(String, String)]| tables.iter().map(|t| t.0.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected));
        for ((table, found), (_, expected)) in found.iter().zip(&expected) {
            if *name == "nonblock-n2-lump" {
                compare_lumps(found, expected);
            } else {
                assert!(found == expected, "{table}:\n{found}expected:\n{expected}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 14);
}

/// Counts and sizes that are as large as a file can hold give the largest sum that a table has, and none below 0.
#[test]
fn sums_of_dumpistats_end_at_the_largest_number() {
    let folder = tempfile::tempdir().expect("folder");
    let case = golden::path("dumpi").join("coll-n2-default");
    let largest = i32::MAX.to_string();
    for file in fs::read_dir(&case).expect("case") {
        let path = file.expect("file").path();
        let to = folder.path().join(path.file_name().expect("name"));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("meta") => _ = fs::copy(&path, &to).expect("metafile"),
            Some("bin") => {
                let text = golden::text(path.with_extension("txt"));
                let enlarged: Vec<String> = text
                    .lines()
                    .map(
                        |line| match (line.split_once("count="), line.split_once(" has size ")) {
                            (Some((before, count)), _) => {
                                let rest = count.trim_start_matches(|c: char| c.is_ascii_digit());
                                format!("{before}count={largest}{rest}")
                            }
                            (None, Some((datatype, _))) => format!("{datatype} has size {largest}"),
                            _ => line.to_owned(),
                        },
                    )
                    .collect();
                let from = to.with_extension("txt");
                fs::write(&from, enlarged.join("\n")).expect("text");
                let names = [from, to].map(|path| path.display().to_string());
                stdout(&["convert", "-q", &names[0], &names[1]]);
            }
            _ => {}
        }
    }
    let metas = fs::read_dir(folder.path()).expect("folder");
    let mut metas = metas.map(|file| file.expect("file").path());
    let meta = metas.find(|path| path.extension().is_some_and(|e| e == "meta"));
    let meta = meta.expect("metafile").display().to_string();
    let root = folder.path().join("large").display().to_string();
    let options = [
        "-s",
        "all",
        "-r",
        "all",
        "-x",
        "all",
        "-b",
        "0-9000000000 to end by 9000000000",
    ];
    stdout(&[&["stats", "-q", &meta, "--dumpistats", &root], &options[..]].concat());
    let made = tables(folder.path(), "large");
    let rows = made.iter().flat_map(|(_, table)| table.lines());
    let rows: Vec<&str> = rows.filter(|row| !row.starts_with('#')).collect();
    assert_eq!(rows.len(), 2);
    for row in rows {
        let sums: Vec<&str> = row.split_whitespace().skip(5).take(2).collect();
        let largest = i64::MAX.to_string();
        assert_eq!(sums, [&largest, &largest], "{row}");
    }
}

/// The original puts messages one class below that of their size, and none into the last. The sends of the golden
/// receive nothing.
fn compare_lumps(found: &str, expected: &str) {
    let split = |table: &str| -> (Vec<String>, Vec<Vec<String>>) {
        let (head, rows): (Vec<&str>, Vec<&str>) =
            table.lines().partition(|line| line.starts_with('#'));
        let rows = rows
            .iter()
            .map(|row| row.split_whitespace().map(str::to_owned).collect());
        (
            head.iter().map(|line| line.to_string()).collect(),
            rows.collect(),
        )
    };
    let ((head, rows), (expected_head, expected_rows)) = (split(found), split(expected));
    assert_eq!(head, expected_head);
    assert_eq!(rows.len(), expected_rows.len());
    for (row, expected) in rows.iter().zip(&expected_rows) {
        assert_eq!(row[..5], expected[..5]);
        assert_eq!(row[7..], expected[5..expected.len() - 2]);
        assert!(row[5..].iter().any(|count| count != "0"));
    }
}

/// A small SLOG2 file made of one in the tree.
fn small(folder: &Path) -> String {
    let log =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data/clog2/small.clog2");
    let file = folder.join("small.slog2").display().to_string();
    let output = mpitrace(&["convert", "--quiet", &log.display().to_string(), &file]);
    assert!(output.status.success());
    file
}

fn stdout(arguments: &[&str]) -> String {
    let output = mpitrace(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn tables_agree_with_each_other() {
    let folder = tempfile::tempdir().expect("folder");
    let file = small(folder.path());
    let all: serde_json::Value =
        serde_json::from_str(&stdout(&["stats", "--format", "json", &file])).expect("JSON");
    let categories = all["categories"].as_array().expect("categories");
    let number = |row: &serde_json::Value, column: &str| row[column].as_f64().unwrap_or(0.0);
    let sum = |table: &str, column: &str| -> f64 {
        all[table]
            .as_array()
            .expect("table")
            .iter()
            .map(|row| number(row, column))
            .sum()
    };
    assert_eq!(sum("categories", "count"), number(&all, "drawables"));
    assert_eq!(
        sum("threads_by_category", "count"),
        number(&all, "drawables")
    );
    assert_eq!(sum("ranks", "sent"), number(&all["messages"], "count"));
    assert_eq!(sum("pairs", "messages"), number(&all["messages"], "count"));
    assert_eq!(sum("pairs", "bytes"), number(&all["messages"], "bytes"));
    assert!(number(&all, "drawables") > 0.0);

    let csv = stdout(&["stats", "--by", "category", "--format", "csv", &file]);
    assert_eq!(csv.lines().count(), 1 + categories.len());
    assert!(csv.starts_with("category,kind,count,total_s,exclusive_s,"));
    let table = stdout(&["stats", "--by", "rank,category", &file]);
    assert_eq!(
        table
            .lines()
            .next()
            .map(|head| head.split_whitespace().count()),
        Some(9)
    );

    // A window that holds all gives all.
    let (from, to) = (number(&all, "from_s") - 1.0, number(&all, "to_s") + 1.0);
    let window = [from.to_string(), to.to_string()];
    let wide = stdout(&[
        "stats", "--window", &window[0], &window[1], "--format", "json", &file,
    ]);
    let wide: serde_json::Value = serde_json::from_str(&wide).expect("JSON");
    assert_eq!(wide["drawables"], all["drawables"]);
    assert_eq!(wide["pairs"], all["pairs"]);
}

#[test]
fn tables_fit_the_terminal() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("run.slog2").display().to_string();
    stdout(&["synth", "-q", "--ranks", "2", "--drawables", "4000", &file]);
    let lines = |columns: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
        let fixed = ["stats", "--by", "category"];
        command.args(fixed).args(arguments).arg(&file);
        let output = command.env("COLUMNS", columns).output().expect("mpitrace");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let widest = text.lines().map(|line| line.chars().count()).max();
        (widest.unwrap_or(0), text)
    };
    let (all, text) = lines("1000", &[]);
    assert!(all > 100 && !text.contains("--wide"), "{text}");
    for columns in [80, 100] {
        let (widest, text) = lines(&columns.to_string(), &[]);
        assert!(widest <= columns, "{text}");
        assert!(text.contains("(--wide also shows min, p95"), "{text}");
        assert_eq!(lines(&columns.to_string(), &["--wide"]).0, all);
    }
    assert_eq!(lines("80", &["--window", "1000", "2000"]).1, "");
}

#[test]
fn wrong_calls_and_bad_files() {
    let folder = tempfile::tempdir().expect("folder");
    let file = small(folder.path());
    let code = |arguments: &[&str]| mpitrace(arguments).status.code();
    assert_eq!(code(&["stats", "--window", "2", "1", &file]), Some(2));
    assert_eq!(code(&["stats", "--by", "pair,size", &file]), Some(2));
    assert_eq!(code(&["stats", "-c", "all", &file]), Some(2));
    assert_eq!(
        code(&["stats", "--dumpistats", "x", "-b", "never", &file]),
        Some(2)
    );
    assert_eq!(code(&["stats", "--dumpistats", "x", &file]), Some(1));
    assert_eq!(code(&["stats", "/nonexistent"]), Some(1));
    let bytes = fs::read(&file).expect("file");
    let cut = folder.path().join("cut.slog2").display().to_string();
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("file");
    assert_eq!(code(&["stats", &cut]), Some(1));
}

/// A window that goes beyond the log is that of the log.
#[test]
fn time_outside_the_log_counts_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    succeeds(at, &["convert", "-q", "run.slog2", "run.clog2"]);
    for trace in ["run.slog2", "run.clog2"] {
        let by_rank = |window: &[&str]| {
            let arguments = ["stats", "-q", "--by", "rank", "--format", "csv", trace];
            succeeds(at, &[&arguments, window].concat()).stdout
        };
        let whole = by_rank(&[]);
        assert_eq!(by_rank(&["--window", "-5", "1000"]), whole, "{trace}");
        let outside = ["stats", "-q", trace, "--window", "1000", "2000"];
        fails(at, &outside, 2, "outside the log");
    }
}
