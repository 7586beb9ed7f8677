//! Traces as tables: datasets that DuckDB, polars and pandas read, with figures that `mpitrace` prints elsewhere.

use crate::exported::{CallSums, fails, of_each_format, printed_calls, stderr, succeeds, synth};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python with the engines, where `ci/deps` has installed it.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv-tables/bin/python");
    if !python.exists() {
        test_support::skip("DuckDB, polars and pandas are not installed (ci/deps)");
        return None;
    }
    Some(python)
}

/// Python with Spark, where `ci/deps --spark` has installed it.
fn python_with_spark() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv-spark/bin/python");
    if !python.exists() {
        test_support::skip("Spark is not installed (ci/deps --spark)");
        return None;
    }
    Some(python)
}

/// A folder with a dataset `run.parquet`, and `run.slog2` from which it was made.
fn dataset() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    synth(folder.path(), "run.slog2");
    succeeds(folder.path(), &["convert", "run.slog2", "run.parquet"]);
    folder
}

/// What a script prints as JSON: rows.
fn asked(python: &Path, folder: &Path, script: &str) -> Vec<Value> {
    let mut command = Command::new(python);
    command.arg("-c").arg(script).current_dir(folder);
    let output = command.output().expect("Python");
    assert!(output.status.success(), "{script}\n{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A number of a row.
fn number(row: &Value, at: usize) -> i64 {
    row[at].as_i64().unwrap_or_else(|| panic!("{at}: {row}"))
}

/// Sums from rows `[function, rank, calls, ns]`.
fn sums(rows: &[Value]) -> CallSums {
    let function = |row: &Value| row[0].as_str().expect("a name").to_owned();
    let rows = rows.iter();
    rows.map(|row| {
        let sums = (number(row, 2), number(row, 3));
        ((function(row), number(row, 1)), sums)
    })
    .collect()
}

const BY_DUCKDB: &str = "
import duckdb, json
rows = duckdb.sql('''select function, rank, count(*), sum(leave_ns - enter_ns)::bigint
    from 'run.parquet/calls/**/*.parquet' group by all''').fetchall()
print(json.dumps(rows))";

const BY_POLARS: &str = "
import polars as pl, json
calls = pl.scan_parquet('run.parquet/calls/**/*.parquet').with_columns(pl.col('function').cast(pl.String))
sums = calls.group_by('function', 'rank').agg(pl.len(), (pl.col('leave_ns') - pl.col('enter_ns')).sum())
print(json.dumps(sums.collect().rows()))";

const BY_PANDAS: &str = "
import pandas as pd, json
calls = pd.read_parquet('run.parquet/calls')
calls['ns'] = calls.leave_ns - calls.enter_ns
sums = calls.groupby(['function', 'rank'], observed=True).ns.agg(['count', 'sum']).reset_index()
print(json.dumps(sums.astype({'function': str}).values.tolist()))";

#[test]
fn engines_find_the_calls_that_are_printed() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let arguments = ["synth", "-q", "--ranks", "130", "--drawables", "40000"];
    succeeds(at, &[&arguments[..], &["run.slog2"]].concat());
    succeeds(at, &["convert", "run.slog2", "run.parquet"]);
    let expected = printed_calls(at, "run.slog2");
    assert!(expected.len() > 130 * 4, "{}", expected.len());
    for script in [BY_DUCKDB, BY_POLARS, BY_PANDAS] {
        assert_eq!(sums(&asked(&python, at, script)), expected, "{script}");
    }
    succeeds(at, &["convert", "run.slog2", "run.arrow"]);
    let by_polars = BY_POLARS
        .replace("parquet", "ipc")
        .replace("run.ipc", "run.arrow")
        .replace("*.ipc", "*.arrow");
    assert_eq!(sums(&asked(&python, at, &by_polars)), expected);
    // Ranks 0 to 63, 64 to 127, 128 and 129.
    for group in 0..3 {
        let file = format!("run.parquet/calls/rank_group={group}/00000.parquet");
        assert!(at.join(&file).is_file(), "{file}");
    }
}

/// Three questions to a cluster of two Spark workers on this machine: time by function and rank, late senders, operations by the CallID of
/// their call.
const BY_SPARK: &str = "
import json
from pyspark.sql import SparkSession
builder = SparkSession.builder.master('local-cluster[2,1,1024]').config('spark.ui.enabled', 'false')
spark = builder.config('spark.sql.shuffle.partitions', '4').getOrCreate()
for table in ['calls', 'regions', 'waits']:
    spark.read.parquet('run.parquet/' + table).createOrReplaceTempView(table)
def rows(query):
    return [list(row) for row in spark.sql(query).collect()]
profile = rows('select function, rank, count(*), sum(leave_ns - enter_ns) from calls group by all')
late = rows('''select culprit_rank, count(*), sum(to_ns - from_ns) from waits where pattern = 'late sender' group by all''')
caused = rows('''select c.function, count(*), bool_and(o.enter_ns >= c.enter_ns and o.leave_ns <= c.leave_ns)
    from calls c join regions o using (call_id) group by all order by all''')
spark.stop()
print(json.dumps([profile, late, caused]))";

#[test]
fn spark_finds_what_the_commands_print() {
    let Some(python) = python_with_spark() else {
        return;
    };
    let folder = dataset();
    let at = folder.path();
    let found = asked(&python, at, BY_SPARK);
    let rows = |nth: usize| found[nth].as_array().expect("rows").as_slice();
    assert_eq!(sums(rows(0)), printed_calls(at, "run.slog2"));

    let report = succeeds(at, &["report", "--json", "run.slog2"]).stdout;
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let groups = report["waits"].as_array().expect("waits").iter();
    let mut expected: BTreeMap<i64, (i64, f64)> = BTreeMap::new();
    for group in groups.filter(|group| group["pattern"] == "late-sender") {
        let culprit = group["culprit"].as_i64().expect("a rank");
        let (count, seconds) = expected.entry(culprit).or_default();
        *count += group["count"].as_i64().expect("a number");
        *seconds += group["seconds"].as_f64().expect("a number");
    }
    assert_eq!(rows(1).len(), expected.len());
    for row in rows(1) {
        let (count, seconds) = expected[&number(row, 0)];
        assert_eq!(number(row, 1), count, "{row}");
        // Each begin and each end is rounded to ns.
        let differs = (number(row, 2) as f64 / 1e9 - seconds).abs();
        assert!(differs <= 1e-9 * count as f64, "{row}: {seconds}");
    }

    let functions: Vec<&str> = rows(2).iter().filter_map(|row| row[0].as_str()).collect();
    let expected = ["MPI_File_close", "MPI_File_open", "MPI_File_write_at_all"];
    assert_eq!(functions, expected);
    assert!(rows(2).iter().all(|row| row[2] == true));
}

#[test]
fn arrow_files_have_the_rows_of_parquet_files() {
    let Some(python) = python() else { return };
    let folder = dataset();
    let at = folder.path();
    succeeds(at, &["convert", "run.slog2", "run.arrow"]);
    let script = "
import json, os, pyarrow as pa, pyarrow.dataset as ds, pyarrow.ipc
def rows(table, format):
    # A file of each group of ranks, in the order of groups.
    files = sorted(ds.dataset(f'run.{format}/{table}', format=format).files)
    tables = [ds.dataset(file, format=format).to_table() for file in files]
    return pa.concat_tables(tables).to_pylist()
tables = sorted(name for name in os.listdir('run.arrow') if name[0] != '_')
assert tables == sorted(name for name in os.listdir('run.parquet') if name[0] != '_')
for table in tables:
    assert rows(table, 'arrow') == rows(table, 'parquet'), table
mapped = pa.memory_map('run.arrow/timelines/00000.arrow')
print(json.dumps([tables, pyarrow.ipc.open_file(mapped).read_all().num_rows]))";
    let found = asked(&python, at, script);
    let tables: Vec<&str> = found[0]
        .as_array()
        .expect("names")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for table in [
        "calls",
        "communicators",
        "messages",
        "ranks",
        "regions",
        "timelines",
        "waits",
    ] {
        assert!(tables.contains(&table), "{tables:?}");
    }
    assert!(found[1].as_u64() > Some(0));
    fails(at, &["convert", "run.slog2", "run.arrow"], 2, "--force");
    fails(at, &["stats", "run.arrow"], 1, "a dataset of tables");
}

#[test]
fn messages_are_those_of_the_statistics() {
    let Some(python) = python() else { return };
    let folder = dataset();
    let at = folder.path();
    let script = "
import duckdb, json
rows = duckdb.sql('''select source_rank, dest_rank, count(*), sum(bytes)::bigint
    from 'run.parquet/messages/**/*.parquet' group by all order by all''').fetchall()
print(json.dumps(rows))";
    let found: Vec<[i64; 4]> = asked(&python, at, script)
        .iter()
        .map(|row| [0, 1, 2, 3].map(|at| number(row, at)))
        .collect();
    let stats = succeeds(
        at,
        &["stats", "--format", "csv", "--by", "pair", "run.slog2"],
    )
    .stdout;
    let stats = String::from_utf8_lossy(&stats).into_owned();
    let mut lines = stats
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("a head");
    let place = |name: &str| {
        let place = head.iter().position(|column| *column == name);
        place.unwrap_or_else(|| panic!("{name}: {head:?}"))
    };
    let wanted = ["from", "to", "messages", "bytes"].map(place);
    let mut expected: Vec<[i64; 4]> = lines
        .map(|line| wanted.map(|at| line[at].parse().expect("a number")))
        .collect();
    expected.sort();
    assert_eq!(found, expected);
    assert!(!found.is_empty());
}

#[test]
fn what_a_call_caused_is_found_by_its_call_id() {
    let Some(python) = python() else { return };
    let folder = dataset();
    let at = folder.path();
    // System calls of a synthetic trace are states of the rank with a CallID, which no attribution has made.
    let script = "
import duckdb, json
rows = duckdb.sql('''select c.function, count(*), bool_and(o.enter_ns >= c.enter_ns and o.leave_ns <= c.leave_ns)
    from 'run.parquet/calls/**/*.parquet' c join 'run.parquet/regions/**/*.parquet' o using (call_id)
    group by all order by all''').fetchall()
print(json.dumps(rows))";
    let rows = asked(&python, at, script);
    let functions: Vec<&str> = rows.iter().filter_map(|row| row[0].as_str()).collect();
    let expected = ["MPI_File_close", "MPI_File_open", "MPI_File_write_at_all"];
    assert_eq!(functions, expected);
    for row in &rows {
        assert!(number(row, 1) > 0 && row[2] == true, "{row}");
    }
}

#[test]
fn every_format_becomes_a_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    synth(at, "run.slog2");
    for trace in of_each_format(at) {
        let target = format!("{trace}.parquet");
        succeeds(at, &["convert", "-q", trace, &target]);
        for part in ["_libtrace.json", "timelines/00000.parquet", "calls"] {
            assert!(at.join(&target).join(part).exists(), "{trace}: {part}");
        }
        // Each folder is a table of which the numbers of rows tell.
        let about = fs::read(at.join(&target).join("_libtrace.json")).expect("a file");
        let about: Value = serde_json::from_slice(&about).expect("JSON");
        let told: BTreeSet<String> = about["tables"]
            .as_object()
            .expect("tables")
            .keys()
            .cloned()
            .collect();
        let folders = fs::read_dir(at.join(&target))
            .expect("a folder")
            .map(|entry| entry.expect("an entry"));
        let folders = folders.filter(|entry| entry.path().is_dir());
        let folders: BTreeSet<String> = folders
            .map(|entry| entry.file_name().into_string().expect("a name"))
            .collect();
        assert_eq!(told, folders, "{trace}");
    }
}

#[test]
fn a_dataset_replaces_only_a_dataset_and_is_refused_as_input() {
    let folder = dataset();
    let at = folder.path();
    fails(
        at,
        &["convert", "run.slog2", "run.parquet"],
        2,
        "run.parquet: ",
    );
    succeeds(at, &["convert", "--force", "run.slog2", "run.parquet"]);
    assert!(at.join("run.parquet/waits/00000.parquet").exists());
    let without = ["convert", "--no-waits", "run.slog2", "without.parquet"];
    succeeds(at, &without);
    assert!(
        at.join("without.parquet/calls").exists() && !at.join("without.parquet/waits").exists()
    );
    let misplaced = ["convert", "--no-waits", "run.slog2", "run.clog2"];
    fails(at, &misplaced, 2, "--no-waits");
    std::fs::create_dir(at.join("other.parquet")).expect("own folder");
    std::fs::write(at.join("other.parquet/kept"), "").expect("own file");
    let forced = ["convert", "--force", "run.slog2", "other.parquet"];
    fails(at, &forced, 2, "other.parquet: ");
    assert!(at.join("other.parquet/kept").exists());
    let refusal = "run.parquet: a dataset of tables, which mpitrace writes and does not read";
    fails(at, &["print", "run.parquet"], 1, refusal);
    let to_stdout = ["convert", "--to", "parquet", "run.slog2", "-"];
    fails(at, &to_stdout, 2, "-: a dataset of tables is a folder");
}

#[test]
fn a_dataset_that_cannot_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    synth(at, "run.slog2");
    let script = "ulimit -f 8; trap '' XFSZ; exec \"$0\" convert run.slog2 run.parquet";
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script, env!("CARGO_BIN_EXE_mpitrace")])
        .current_dir(at);
    let output = shell.output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("run.parquet: "),
        "{}",
        stderr(&output)
    );
    assert_eq!(std::fs::read_dir(at).expect("own folder").count(), 1);
}
