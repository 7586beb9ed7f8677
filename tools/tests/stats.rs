//! `mpitrace stats` as users call it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn mpitrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .output()
        .expect("mpitrace")
}

fn golden(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/golden")
        .join(folder);
    if !path.exists() {
        println!("SKIPPED: no {}", path.display());
        return None;
    }
    Some(path)
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
    let Some(folder) = golden("dumpi") else {
        return;
    };
    let out = tempfile::tempdir().expect("folder");
    let mut compared = 0;
    for (name, case, options) in TABLES {
        let case = folder.join(case);
        let metas = fs::read_dir(&case)
            .expect("case")
            .map(|file| file.expect("file").path());
        let meta = metas
            .filter(|path| path.extension().is_some_and(|e| e == "meta"))
            .next();
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
