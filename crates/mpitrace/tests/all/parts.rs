//! Parts of a trace that threads read at once: together they are the whole.

use crate::exported::{stderr, succeeds};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use mpitrace::api::{
    DefinitionTable, RowBatches, RowSelection, TableKind, TraceFiles, WaitColumns,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use trace_formats::slog2::StartRange;
use trace_model::TimeBBox;

/// Times and place of the rows of a selection, in the order in which they come.
fn rows_of(
    trace: &Arc<TraceFiles>,
    selection: &RowSelection,
    parts: &[Vec<StartRange>],
) -> Vec<[i64; 4]> {
    let mut rows = Vec::new();
    for part in parts {
        let (waits, shared) = (WaitColumns::Unread, Arc::default());
        let part = part.clone();
        let batches = RowBatches::begin_part(trace.clone(), selection.clone(), waits, shared, part);
        for batch in batches.expect("rows") {
            let batch = batch.expect("rows");
            let schema = batch.schema();
            let numbers = |names: [&str; 2]| -> Vec<i64> {
                let found = names.iter().find_map(|name| batch.column_by_name(name));
                let column = found.unwrap_or_else(|| panic!("{schema}"));
                match column.as_primitive_opt::<Int64Type>() {
                    Some(column) => column.values().to_vec(),
                    None => {
                        let column = column.as_primitive::<Int32Type>();
                        column.values().iter().copied().map(i64::from).collect()
                    }
                }
            };
            let [from, to] = [["enter_ns", "send_ns"], ["leave_ns", "receive_ns"]].map(numbers);
            let [line, end] = [["line", "source_line"], ["line", "dest_line"]].map(numbers);
            let places = line.iter().zip(&end);
            let times = from.iter().zip(&to);
            rows.extend(
                times
                    .zip(places)
                    .map(|((&from, &to), (&line, &end))| [from, to, line, end]),
            );
        }
    }
    rows
}

/// What several threads read is what one reads, of the whole trace and of windows; the parts of the whole come by time, one of them and all in turn.
#[test]
fn parts_of_a_trace_have_its_rows_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = [
        "synth",
        "-q",
        "--ranks",
        "16",
        "--drawables",
        "90000",
        "run.slog2",
    ];
    succeeds(folder.path(), &arguments);
    let trace = TraceFiles::open(&[folder.path().join("run.slog2")]).expect("a trace");
    let trace = Arc::new(trace);
    let bounds = trace.bounds().expect("bounds").expect("drawables");
    let at = |part: f64| bounds.earliest + part * (bounds.latest - bounds.earliest);
    let window = |from, to| {
        let (earliest, latest) = (at(from), at(to));
        Some(TimeBBox { earliest, latest })
    };
    let everything = vec![StartRange::default()];
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for window in [None, window(0.1, 0.9), window(0.5, 0.51)] {
        let found = trace.parts(window).expect("parts");
        let parts = found.parts;
        assert!(
            parts.len() > 1 || threads == 1 || window.is_some(),
            "{parts:?}"
        );
        assert_eq!(found.is_by_first_vertex, window.is_none());
        for kind in [TableKind::Calls, TableKind::Messages] {
            let selection = RowSelection {
                window,
                ..RowSelection::all(kind)
            };
            let mut expected = rows_of(&trace, &selection, std::slice::from_ref(&everything));
            let mut rows = rows_of(&trace, &selection, &parts);
            if window.is_none() && kind == TableKind::Calls {
                for part in &parts {
                    let part = rows_of(&trace, &selection, std::slice::from_ref(part));
                    assert!(part.is_sorted_by_key(|row| row[0]) && !part.is_empty());
                }
            }
            expected.sort_unstable();
            rows.sort_unstable();
            assert!(
                !expected.is_empty() && rows == expected,
                "{kind:?} {window:?}"
            );
        }
    }
}

/// Whoever reads a trace that somebody shortens lives on, and is told.
#[test]
fn a_trace_that_is_shortened_while_it_is_open_is_no_trace_any_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.slog2");
    let make = [
        "synth",
        "-q",
        "--ranks",
        "4",
        "--drawables",
        "50000",
        "run.slog2",
    ];
    succeeds(folder.path(), &make);
    let trace = Arc::new(TraceFiles::open(std::slice::from_ref(&path)).expect("a trace"));
    let selection = || RowSelection::all(TableKind::Calls);
    let rows = |selection| {
        let batches = RowBatches::begin(trace.clone(), selection, WaitColumns::Absent);
        let batches = batches.map_err(|failure| failure.to_string())?;
        let counts = batches.map(|batch| batch.map(|batch| batch.num_rows()));
        let counts = counts.sum::<Result<usize, _>>();
        counts.map_err(|error| error.to_string())
    };
    assert!(rows(selection()).expect("rows") > 10_000);
    let file = std::fs::File::options().write(true).open(&path);
    file.and_then(|file| file.set_len(4096)).expect("own file");
    let told = [
        rows(selection()).map(drop),
        trace
            .bounds()
            .map(drop)
            .map_err(|failure| failure.to_string()),
        trace
            .waiting_calls()
            .map(drop)
            .map_err(|failure| failure.to_string()),
    ];
    for told in told {
        let told = told.expect_err("a shortened file");
        assert!(
            told.contains("run.slog2 was shortened while it was open"),
            "{told}"
        );
    }
}

/// What could not be read of a trace is told with its rows, once, and by a query.
#[test]
fn what_could_not_be_read_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let make = ["synth", "-q", "--ranks", "2", "--drawables", "500"];
    succeeds(at, &[&make[..], &["run.slog2"]].concat());
    succeeds(at, &["convert", "-q", "run.slog2", "run.clog2"]);
    succeeds(at, &["convert", "-q", "run.slog2", "run.trace"]);
    let path = at.join("run.trace");
    let mut text = std::fs::read(&path).expect("a text");
    // The last line has a value of one character and an end.
    text.truncate(text.len() - 3);
    std::fs::write(&path, text).expect("own file");
    // A CLOG2 file has three constants of MPI, which are no drawables and no losses.
    let cut = "run.trace: 1 x line that was cut off at the end of the file";
    for (name, expected) in [("run.trace", vec![cut]), ("run.clog2", vec![])] {
        let trace = TraceFiles::open(&[at.join(name)]).expect("a trace");
        let trace = Arc::new(trace);
        let selection = RowSelection::all(TableKind::Messages);
        let batches = RowBatches::begin(trace.clone(), selection, WaitColumns::Absent);
        let batches = batches.map(Iterator::collect::<Result<Vec<_>, _>>);
        assert!(!batches.expect("rows").expect("rows").is_empty());
        let notes: Vec<String> = trace.take_notes().into_iter().collect();
        let ends: Vec<bool> = notes
            .iter()
            .zip(&expected)
            .map(|(note, end)| note.ends_with(end))
            .collect();
        assert_eq!(ends, vec![true; expected.len()], "{notes:?}");
        assert_eq!(notes.len(), expected.len(), "{notes:?}");
        assert!(trace.take_notes().is_empty());
    }
    if cfg!(feature = "query") {
        let query = "select count(*) from messages";
        let told = stderr(&succeeds(at, &["query", "run.trace", query]));
        assert!(told.contains(cut), "{told}");
    }
}

/// Tables that the definitions tell have rows of some ranks, too.
#[test]
fn definitions_are_told_of_some_ranks() {
    let folder = tempfile::tempdir().expect("a folder");
    let make = [
        "synth",
        "-q",
        "--ranks",
        "5",
        "--drawables",
        "500",
        "run.slog2",
    ];
    succeeds(folder.path(), &make);
    let trace = TraceFiles::open(&[folder.path().join("run.slog2")]).expect("a trace");
    for table in DefinitionTable::ALL {
        for (ranks, expected) in [
            (None, vec![0, 1, 2, 3, 4]),
            (Some(vec![1, 4, 9]), vec![1, 4]),
        ] {
            let ranks = ranks.map(BTreeSet::from_iter);
            let batch = trace.definition_table(table, ranks.as_ref()).expect("rows");
            let column = batch.column_by_name("rank").expect("ranks");
            let found = column.as_primitive::<Int32Type>().values();
            assert_eq!(found.to_vec(), expected, "{table:?}");
        }
    }
}
