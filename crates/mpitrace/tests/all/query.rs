//! SQL on traces, with answers that other subcommands give, and with conditions that decide what is read beside such that do not.

use crate::exported::{CallSums, fails, printed_calls, succeeds};
use serde_json::Value;
use std::path::Path;

/// A folder with a trace of 16 ranks, `run.slog2`.
fn trace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "synth",
        "-q",
        "--ranks",
        "16",
        "--drawables",
        "40000",
        "run.slog2",
    ];
    succeeds(folder.path(), &arguments);
    folder
}

/// Rows of an answer.
fn rows(folder: &Path, file: &str, query: &str) -> Vec<Value> {
    let printed = succeeds(folder, &["query", "--format", "json", file, query]).stdout;
    let lines = String::from_utf8(printed).expect("UTF-8");
    let row = |line: &str| serde_json::from_str(line).expect("a row");
    lines.lines().map(row).collect()
}

/// The one number of an answer.
fn number(folder: &Path, file: &str, query: &str) -> i64 {
    let rows = rows(folder, file, query);
    let [Value::Object(row)] = &rows[..] else {
        panic!("{query}: {rows:?}")
    };
    let values: Vec<&Value> = row.values().collect();
    values[0]
        .as_i64()
        .unwrap_or_else(|| panic!("{query}: {rows:?}"))
}

#[test]
fn the_calls_are_those_that_are_printed() {
    let folder = trace();
    let at = folder.path();
    succeeds(at, &["convert", "run.slog2", "run.clog2"]);
    for file in ["run.slog2", "run.clog2"] {
        let expected = printed_calls(at, file);
        let query = "select function, rank, count(*) as calls, sum(leave_ns - enter_ns) as ns from calls group by function, rank";
        let found: CallSums = rows(at, file, query)
            .iter()
            .map(|row| {
                let of = |name: &str| row[name].as_i64().unwrap_or_else(|| panic!("{row}"));
                let function = row["function"].as_str().expect("a name").to_owned();
                ((function, of("rank")), (of("calls"), of("ns")))
            })
            .collect();
        assert!(expected.len() > 16 * 4, "{}", expected.len());
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn waits_are_those_of_the_report() {
    let folder = trace();
    let at = folder.path();
    let report = succeeds(at, &["report", "--json", "run.slog2"]).stdout;
    let report: Value = serde_json::from_slice(&report).expect("JSON");
    let groups = report["waits"].as_array().expect("groups").iter();
    let expected: f64 = groups
        .map(|group| group["seconds"].as_f64().expect("seconds"))
        .sum();
    let found = number(
        at,
        "run.slog2",
        "select sum(to_ns - from_ns) as ns from waits",
    );
    assert!(expected > 0.0);
    let difference = (found as f64 / 1e9 - expected).abs();
    assert!(difference < 1e-3 * expected, "{found} ns, {expected} s");
}

/// Every wait belongs to a call, and a call with one wait waited as long as that, to the rounding of its begin and its end.
#[test]
fn calls_tell_how_long_they_waited_and_for_whom() {
    let folder = trace();
    let at = folder.path();
    let of = |query: &str| number(at, "run.slog2", query);
    let waited = of("select count(*) as calls from calls where waiting_ns > 0");
    assert!(waited > 0);
    let different = "select count(distinct arrow_cast(line, 'Utf8') || ' ' || arrow_cast(enter_ns, 'Utf8')) as calls from waits where to_ns > from_ns";
    assert_eq!(waited, of(different));
    let single = "with single as (select line, enter_ns, sum(to_ns - from_ns) as ns, max(culprit_rank) as culprit
        from waits group by line, enter_ns having count(*) = 1)
        select count(*) as calls from calls join single using (line, enter_ns)";
    assert!(of(single) > 0);
    let wrong =
        format!("{single} where abs(waiting_ns - ns) > 1 or culprit_rank is distinct from culprit");
    assert_eq!(of(&wrong), 0);
    // One that waited for nobody has no culprit, and a query of other columns has all rows, too.
    let none = "select count(*) as calls from calls where waiting_ns = 0 and culprit_rank is null";
    assert_eq!(of(none) + waited, of("select count(*) as calls from calls"));
    let summed = of("select count(*) as calls from calls where rank >= 0");
    assert_eq!(summed, of(none) + waited);
}

/// Rows that a query with a condition reads of the trace, as the engine counts them.
fn rows_read(folder: &Path, query: &str) -> i64 {
    let plan = rows(folder, "run.slog2", &format!("explain analyze {query}"));
    let text = plan[0]["plan"].as_str().expect("a plan");
    let filter = text.split("selectivity=").nth(1).expect("a filter");
    // `12.5% (250/2.00 K)`
    let count = filter.split(['/', ')']).nth(1).expect("a count");
    let (number, factor) = match count.split_once(' ') {
        Some((number, "K")) => (number, 1e3),
        Some((_, unit)) => panic!("{unit}: {text}"),
        None => (count, 1.0),
    };
    (number.parse::<f64>().expect("a number") * factor) as i64
}

#[test]
fn conditions_leave_most_of_the_trace_unread_and_no_row_out() {
    let folder = trace();
    let at = folder.path();
    let middle = number(
        at,
        "run.slog2",
        "select (min(enter_ns) + max(leave_ns)) / 2 as ns from calls",
    );
    let (from, to) = (middle, middle + 20_000_000);
    // With each condition one that says the same, and of which the tree knows nothing.
    let cases = [
        (
            "calls",
            format!("enter_ns between {from} and {to}"),
            format!("enter_ns * 2 >= {from} * 2 and enter_ns * 2 <= {to} * 2"),
        ),
        (
            "calls",
            format!("leave_ns < {from}"),
            format!("leave_ns * 2 < {from} * 2"),
        ),
        (
            "calls",
            format!("{to} <= leave_ns"),
            format!("leave_ns * 2 >= {to} * 2"),
        ),
        (
            "calls",
            "rank in (2, 5, 7, 9)".to_owned(),
            "abs(rank) in (2, 5, 7, 9)".to_owned(),
        ),
        (
            "calls",
            "function = 'MPI_Waitall'".to_owned(),
            "function || '' = 'MPI_Waitall'".to_owned(),
        ),
        (
            "calls",
            "function in ('MPI_Isend', 'MPI_Nothing')".to_owned(),
            "upper(function) = 'MPI_ISEND'".to_owned(),
        ),
        (
            "messages",
            "source_rank = 3 and dest_rank = 4".to_owned(),
            "abs(source_rank) = 3 and abs(dest_rank) = 4".to_owned(),
        ),
        (
            "messages",
            format!("send_ns < {to} and receive_ns > {from}"),
            format!("send_ns * 2 < {to} * 2 and receive_ns * 2 > {from} * 2"),
        ),
    ];
    for (table, condition, same) in cases {
        let [found, expected] = [&condition, &same].map(|condition| {
            number(
                at,
                "run.slog2",
                &format!("select count(*) as n from {table} where {condition}"),
            )
        });
        assert_eq!(found, expected, "{condition}");
        assert!(found > 0, "{condition}");
        let all = number(
            at,
            "run.slog2",
            &format!("select count(*) as n from {table}"),
        );
        let read = rows_read(at, &format!("select * from {table} where {condition}"));
        // Counts above a thousand have three digits.
        let is_part = read < all * 3 / 5 && read >= found - found / 100;
        assert!(is_part, "{condition}: {read} of {all} rows");
    }
    let nothing = "select count(*) as n from calls where rank = 77 or rank = -1";
    assert_eq!(number(at, "run.slog2", nothing), 0);
}

/// Each part of the trace is read by a thread, and rows that are only read come by time all the same: the plan says so, and sorts nothing.
#[test]
fn threads_read_parts_of_the_trace_and_rows_come_by_time() {
    let folder = trace();
    let at = folder.path();
    let plan = |query: &str| {
        let plan = rows(at, "run.slog2", &format!("explain {query}"));
        plan.iter()
            .map(|row| row["plan"].as_str().unwrap_or_default())
            .collect::<String>()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let all = plan("select function, count(*) from calls group by function");
    let parts = format!("partition_sizes={}", threads.min(2));
    assert!(threads > 2 || all.contains(&parts), "{all}");
    for query in [
        "select enter_ns from calls",
        "select enter_ns from calls order by enter_ns",
    ] {
        let sorts = plan(query).replace("SortPreservingMergeExec", "");
        assert!(!sorts.contains("SortExec"), "{sorts}");
        let found = rows(at, "run.slog2", query);
        let times: Vec<i64> = found
            .iter()
            .map(|row| row["enter_ns"].as_i64().expect("a time"))
            .collect();
        assert!(times.len() > 1000 && times.is_sorted(), "{query}");
    }
    // The first rows are read by one.
    let few = plan("select * from calls limit 3");
    assert!(few.contains("partition_sizes=1"), "{few}");
    let sorted = rows(at, "run.slog2", "select * from messages order by send_ns");
    let times = sorted.iter().map(|row| row["send_ns"].as_i64());
    assert!(times.is_sorted());
}

#[test]
fn answers_are_printed_for_people_and_programs() {
    let folder = trace();
    let at = folder.path();
    let query = "select '=1+1' as text, 7 as number union all select 'a,b', null order by number";
    let csv = succeeds(at, &["query", "--format", "csv", "run.slog2", query]).stdout;
    assert_eq!(
        String::from_utf8_lossy(&csv),
        "text,number\n'=1+1,7\n\"a,b\",\n"
    );
    let raw = succeeds(
        at,
        &[
            "query",
            "--format",
            "csv",
            "--raw-cells",
            "run.slog2",
            query,
        ],
    )
    .stdout;
    assert_eq!(
        String::from_utf8_lossy(&raw),
        "text,number\n=1+1,7\n\"a,b\",\n"
    );
    let json = succeeds(at, &["query", "--format", "json", "run.slog2", query]).stdout;
    assert!(String::from_utf8_lossy(&json).starts_with("{\"text\":\"=1+1\",\"number\":7}\n"));
    let table = succeeds(at, &["query", "run.slog2", query]).stdout;
    assert!(String::from_utf8_lossy(&table).contains("| =1+1 | 7      |"));
    let empty = succeeds(
        at,
        &[
            "query",
            "run.slog2",
            "select rank from calls where rank = 77",
        ],
    )
    .stdout;
    assert!(String::from_utf8_lossy(&empty).contains("| rank |"));
    let tables = succeeds(at, &["query", "run.slog2"]).stdout;
    let tables = String::from_utf8_lossy(&tables).into_owned();
    for expected in [
        "calls\n",
        "waits\n",
        "timelines\n",
        "ranks\n",
        "communicators\n",
        "  enter_ns                 bigint\n",
    ] {
        assert!(tables.contains(expected), "{tables}");
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let folder = trace();
    let at = folder.path();
    fails(
        at,
        &["query", "run.slog2", "select * from nothing"],
        2,
        "the tables are calls,",
    );
    fails(
        at,
        &["query", "run.slog2", "select no_column from calls"],
        2,
        "no_column",
    );
    fails(at, &["query", "run.slog2", "selekt 1"], 2, "query: ");
    fails(at, &["query", "none.slog2", "select 1"], 1, "none.slog2");
    for writes in [
        "copy (select 1) to 'stolen.csv'",
        "create external table t stored as csv location '/etc/passwd'",
        "create table t as select 1",
        "drop table calls",
        "set datafusion.execution.batch_size = 1",
    ] {
        fails(at, &["query", "run.slog2", writes], 2, "query: ");
    }
    assert!(!at.join("stolen.csv").exists());
    let deep = format!("select {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    fails(at, &["query", "run.slog2", &deep], 2, "query: ");
    // A damaged file.
    let bytes = std::fs::read(at.join("run.slog2")).expect("a trace");
    std::fs::write(at.join("cut.slog2"), &bytes[..bytes.len() / 2]).expect("a trace");
    fails(
        at,
        &["query", "cut.slog2", "select count(*) from calls"],
        1,
        "cut.slog2",
    );
    let mut damaged = bytes;
    let quarter = damaged.len() / 4;
    damaged[quarter..quarter + 400].fill(0xff);
    std::fs::write(at.join("holed.slog2"), damaged).expect("a trace");
    fails(
        at,
        &["query", "holed.slog2", "select count(*) from calls"],
        1,
        "holed.slog2",
    );
}
