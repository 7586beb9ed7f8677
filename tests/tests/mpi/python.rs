//! The Python package on traces of real programs: what it finds against what the program did and what the command prints.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::process::{self, FinishedCommand, TestFolder};
use tests::trace::{LIMIT, TraceSetup, TracedRun};
use tests::{Mpi, Program, mpitrace};

/// The rank that computes longest, and the steps of the program.
const LATE: u64 = 1;
const STEPS: u64 = 10;
const RANKS: u64 = 3;

/// Python with what the package works with, where `ci/deps` has installed it.
fn python() -> Option<PathBuf> {
    let python = tests::target().join("venv-tables/bin/python");
    if !python.exists() {
        tests::skip("DuckDB, polars and pandas are not installed (ci/deps)");
        return None;
    }
    Some(python)
}

/// Runs a script with the package that `ci/build` has made.
fn runs(python: &Path, script: &str, folder: &Path) -> FinishedCommand {
    let mut command = Command::new(python);
    command.arg("-c").arg(script).current_dir(folder);
    command.env("PYTHONPATH", tests::python());
    process::run(&mut command, LIMIT)
}

/// What a script prints as JSON.
fn asked(python: &Path, script: &str, folder: &Path) -> Value {
    let finished = runs(python, script, folder).succeeded();
    serde_json::from_str(&finished.stdout).expect(script)
}

/// A run of the program with a late rank, in every format.
fn late_rank(mpi: Mpi) -> TracedRun {
    let program = Program::c("late_rank").compile(mpi);
    let run = TraceSetup {
        variables: &[
            ("TRACE_OUTPUTS", "slog2,clog2,dumpi"),
            ("TRACE_KEEP_BLOCKS", "yes"),
        ],
        ..TraceSetup::new(mpi, RANKS as usize)
    };
    let run = run.run(&program, &[&LATE.to_string(), &STEPS.to_string(), "20"]);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

/// The code of a notebook's cells, one after the other.
fn code(notebook: &Value) -> String {
    let cells = notebook["cells"].as_array().expect("cells").iter();
    let code = cells.filter(|cell| cell["cell_type"] == "code");
    let lines = code.flat_map(|cell| {
        cell["source"]
            .as_array()
            .into_iter()
            .flatten()
            .chain([&Value::Null])
    });
    lines.map(|line| line.as_str().unwrap_or("\n")).collect()
}

#[test]
fn the_notebook_finds_the_late_rank() {
    let Some(python) = python() else { return };
    let notebook = tests::root().join("docs/user/late-rank.ipynb");
    let notebook = std::fs::read_to_string(notebook).expect("a notebook");
    let code = code(&serde_json::from_str(&notebook).expect("JSON"));
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = late_rank(mpi);
        let trace = run.file("slog2");
        let script = format!(
            "{code}\nimport json\nprint(json.dumps([late_rank, report.verdict, waited.sum(), step._repr_svg_(), report._repr_html_()]))"
        );
        let found = asked(&python, &script, trace.parent().expect("a folder"));
        assert_eq!(found[0], LATE, "{mpi:?}");
        let verdict = found[1].as_str().expect("a sentence");
        assert!(verdict.contains("rank 1"), "{mpi:?}: {verdict}");
        // The others compute for 20 ms in a step, and the late one for 80. In every other step they meet before.
        let waited = found[2].as_f64().expect("seconds");
        let least = (RANKS - 1) as f64 * STEPS as f64 * 0.06 / 2.0;
        assert!(
            (0.9 * least..2.5 * least).contains(&waited),
            "{mpi:?}: {waited}"
        );
        for picture in [&found[3], &found[4]] {
            assert!(picture.as_str().is_some_and(|text| text.contains("svg")));
        }
    }
}

/// Calls by function and rank.
type Calls = BTreeMap<(String, u64), u64>;

/// Calls that the command prints of a trace.
fn printed(trace: &Path) -> Calls {
    let mut command = Command::new(tests::mpitrace());
    command.args(["print", "--json"]).arg(trace);
    let printed = process::run(&mut command, LIMIT).succeeded().stdout;
    let mut calls = Calls::new();
    for line in printed.lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        let function = row["function"].as_str().unwrap_or_default();
        if let (true, Some(rank)) = (function.starts_with("MPI_"), row["rank"].as_u64()) {
            *calls.entry((function.to_owned(), rank)).or_default() += 1;
        }
    }
    calls
}

#[test]
fn every_format_is_read() {
    let Some(python) = python() else { return };
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = late_rank(mpi);
        for ending in ["slog2", "clog2", "meta", "blocks"] {
            let file = match ending {
                "blocks" => run.file("slog2").with_file_name(""),
                _ => run.file(ending),
            };
            let script = format!(
                "import mpitrace, json
trace = mpitrace.open({file:?})
calls = trace.calls().to_pandas()
rows = calls.groupby(['function', 'rank'], observed=True).size().reset_index().astype({{'function': str}}).values.tolist()
import numpy, os
def refused(call, *arguments, **named):
    try:
        return call(*arguments, **named)
    except (OSError, TypeError, ValueError) as error:
        return type(error).__name__
odd = [refused(trace.calls, rank='12'), refused(trace.calls, rank=1.5), refused(trace.calls, rank=-1),
    refused(mpitrace.compare, trace.name, 'nothing.slog2'), refused(trace.draw, 'nothing/run.svg'), refused(trace.draw, 'run.svg', width=0), refused(trace.draw, colors='greys'),
    refused(trace.calls, t0=2, t1=1), refused(trace.window, float('nan'), 1),
    refused(trace.draw, width=1 << 33), refused(trace.draw, width=100), refused(trace.report, phases='a'), refused(trace.report, phases=0), refused(trace.report, phases=1 << 70),
    len(trace.window(0, 1).calls(t0=1e9))]
print(json.dumps([rows, len(trace.messages()), len(trace.calls(rank=numpy.int32(1))), len(trace.calls(rank=numpy.array([0, 2]))), odd, len(trace.table('ranks', rank=[0, 2]))]))"
            );
            let found = asked(&python, &script, run.folder.path());
            let rows = found[0].as_array().expect("rows").iter();
            let calls: Calls = rows
                .map(|row| {
                    let function = row[0].as_str().expect("a name").to_owned();
                    (
                        (function, row[1].as_u64().expect("a rank")),
                        row[2].as_u64().expect("a number"),
                    )
                })
                .collect();
            for rank in 0..RANKS {
                let times = |function: &str| {
                    calls
                        .get(&(function.to_owned(), rank))
                        .copied()
                        .unwrap_or(0)
                };
                assert_eq!(times("MPI_Allreduce"), STEPS, "{mpi:?} {ending}");
                assert_eq!(times("MPI_Sendrecv_replace"), STEPS / 2, "{mpi:?} {ending}");
                assert_eq!(times("MPI_Recv"), 0, "{mpi:?} {ending}");
            }
            if ending == "slog2" {
                assert_eq!(calls, printed(&file), "{mpi:?}");
                let script = format!(
                    "import mpitrace, json, shutil
shutil.copy({file:?}, 'in.svg')
trace = mpitrace.open('in.svg')
try:
    refused = trace.draw('in.svg')
except ValueError as error:
    refused = str(error)
whole = trace.draw(categories='MPI_Allreduce', height=200).svg
print(json.dumps([refused, whole == trace.window(float('-inf'), float('inf')).draw(categories=['MPI_Allreduce'], height=200).svg]))"
                );
                let found = asked(&python, &script, run.folder.path());
                let refused = found[0].as_str().unwrap_or_default();
                assert!(refused.contains("in.svg: this is the input"), "{refused}");
                assert_eq!(found[1], true, "{mpi:?}");
            }
            assert_eq!(found[1], RANKS * STEPS / 2, "{mpi:?} {ending}: messages");
            let of_ranks = |wanted: &[u64]| -> u64 {
                let of_ranks = calls.iter().filter(|((_, rank), _)| wanted.contains(rank));
                of_ranks.map(|(_, times)| times).sum()
            };
            assert_eq!(found[2], of_ranks(&[1]), "{mpi:?} {ending}");
            assert_eq!(found[3], of_ranks(&[0, 2]), "{mpi:?} {ending}");
            let odd = ["TypeError", "TypeError", "ValueError", "FileNotFoundError"];
            let odd = odd
                .into_iter()
                .chain(["FileNotFoundError", "ValueError", "ValueError"])
                .chain(["ValueError"; 4])
                .chain(["TypeError", "ValueError", "ValueError"])
                .map(Value::from)
                .chain([0.into()]);
            assert_eq!(found[4], Value::from_iter(odd), "{mpi:?} {ending}");
            assert_eq!(found[5], 2, "{mpi:?} {ending}");
        }
    }
}

/// What is missing in a trace is a warning, at the line that asked for rows.
#[test]
fn what_could_not_be_read_is_a_warning() {
    let Some(python) = python() else { return };
    let Some(mpi) = Mpi::ALL.into_iter().find(|mpi| mpi.installed()) else {
        return;
    };
    let run = late_rank(mpi);
    let file = run.file("meta");
    let script = format!(
        "import glob, json, mpitrace, os, warnings
warnings.simplefilter('always')
def told(rows):
    with warnings.catch_warnings(record=True) as told:
        len(rows)
    return [[str(warning.message), warning.category.__name__, warning.filename] for warning in told]
trace = mpitrace.open({file:?})
whole = told(trace.messages())
[last] = glob.glob('**/*-0002.bin', recursive=True)
os.remove(last)
trace = mpitrace.open({file:?})
print(json.dumps([whole, told(trace.messages())]))"
    );
    let found = asked(&python, &script, run.folder.path());
    assert_eq!(found[0], serde_json::json!([]));
    let warnings = found[1].as_array().expect("warnings");
    let is_one = |warning: &&Value| {
        let text = warning[0].as_str().unwrap_or_default();
        text.ends_with(": 1 x rank without a file")
            && warning[1] == "UserWarning"
            && warning[2] == "<string>"
    };
    assert_eq!(warnings.iter().filter(is_one).count(), 1, "{found}");
}

#[test]
fn waits_name_who_was_late() {
    let Some(python) = python() else { return };
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let run = late_rank(mpi);
        let file = run.file("slog2");
        let script = format!(
            "import mpitrace, json, duckdb
trace = mpitrace.open({file:?})
waits, calls = trace.waits(), trace.calls()
rows = duckdb.sql('''select waits.rank, culprit_rank, sum(to_ns - from_ns) / 1e9
    from waits join calls using (line, enter_ns, function) group by all''').fetchall()
unmatched = duckdb.sql('select count(*) from waits anti join calls using (line, enter_ns, function)').fetchall()[0][0]
end = trace.window(trace.t1, trace.t1)
print(json.dumps([rows, unmatched, len(waits), len(trace.waits(rank=1)), len(end.waits())]))"
        );
        let found = asked(&python, &script, run.folder.path());
        let waited = |rank: u64, culprit: u64| -> f64 {
            let rows = found[0].as_array().expect("rows").iter();
            let rows = rows.filter(|row| row[0] == rank && row[1] == culprit);
            rows.filter_map(|row| row[2].as_f64()).sum()
        };
        // In each step the others compute for 20 ms and the late one for 80. In every other step rank 2 gets a message from it first, and may then be
        // the last one to meet the others.
        for (rank, other) in [(0, 2), (2, 0)] {
            let (of_late, of_other) = (waited(rank, LATE), waited(rank, other));
            let all = of_late + of_other;
            assert!((0.48..1.2).contains(&all), "{mpi:?}: {rank} {all}");
            assert!(of_late > 0.24, "{mpi:?}: {rank} {of_late}");
        }
        let of_late = waited(LATE, 0) + waited(LATE, 2);
        assert!(of_late < 0.12, "{mpi:?}: {found}");
        assert_eq!(found[1], 0, "{mpi:?}: each wait is one of a call");
        assert!(found[2].as_u64() >= found[3].as_u64(), "{mpi:?}: {found}");
        assert!(found[3].as_u64() >= Some(2 * STEPS), "{mpi:?}: {found}");
        assert_eq!(found[4], 0, "{mpi:?}: at the end nobody waits");

        // A dataset says the same of each call.
        let dataset = run.folder.path().join("late.parquet");
        let mut convert = Command::new(mpitrace());
        convert.args(["convert", "--quiet"]).args([&file, &dataset]);
        process::run(&mut convert, LIMIT).succeeded();
        let script = format!(
            "import duckdb, json, mpitrace
rows = mpitrace.open({file:?}).calls(waits=True)
of_rows = duckdb.sql('select rank, sum(waiting_ns) / 1e9 from rows group by all').fetchall()
waits = duckdb.sql('''select rank, sum(to_ns - from_ns) / 1e9 from 'late.parquet/waits/*.parquet' group by all''').fetchall()
calls = duckdb.sql('''select rank, sum(waiting_ns) / 1e9 from 'late.parquet/calls/**/*.parquet' group by all''').fetchall()
wrong = duckdb.sql('''select count(*) from 'late.parquet/calls/**/*.parquet'
    where waiting_ns > leave_ns - enter_ns + 1 or (waiting_ns > 0) != (culprit_rank is not null)''').fetchall()[0][0]
print(json.dumps([waits, calls, of_rows, wrong]))"
        );
        let of_calls = asked(&python, &script, run.folder.path());
        for rank in 0..3 {
            let waited: f64 = (0..3).map(|culprit| waited(rank, culprit)).sum();
            for table in [&of_calls[0], &of_calls[1], &of_calls[2]] {
                let rows = table.as_array().expect("rows").iter();
                let of_rank = rows.filter(|row| row[0] == rank);
                let sum: f64 = of_rank.filter_map(|row| row[1].as_f64()).sum();
                assert!(
                    (sum - waited).abs() < 1e-6,
                    "{mpi:?}: {rank} {waited} {of_calls}"
                );
            }
        }
        assert_eq!(
            of_calls[3], 0,
            "{mpi:?}: no call waits longer than it lasts"
        );
    }
}

/// What a command prints and how it ends, without the name of the folder that it runs in.
fn outcome(command: &mut Command, folder: &Path) -> [String; 3] {
    let finished = process::run(command.current_dir(folder), LIMIT);
    let code = format!("{:?}", finished.status.code());
    [finished.stdout, finished.stderr, code]
}

#[test]
fn the_command_is_the_same_within_python() {
    let Some(python) = python() else { return };
    let Some(mpi) = Mpi::ALL.into_iter().find(|mpi| mpi.installed()) else {
        return;
    };
    // As pip puts it: a script, and the recorder in `lib` beside its folder.
    let place = TestFolder::new("script");
    let (bin, lib) = (place.path().join("bin"), place.path().join("lib"));
    for folder in [&bin, &lib] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let script = bin.join("mpitrace");
    let lines = format!(
        "#!{}\nimport sys\nfrom mpitrace.__main__ import main\nsys.exit(main())\n",
        python.display()
    );
    std::fs::write(&script, lines).expect("a script");
    let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, may_run).expect("a script");
    let library = lib.join("libtrace.so");
    std::fs::copy(tests::recorder(), &library).expect("the recorder");

    let run = late_rank(mpi);
    let trace = run.file("slog2");
    let folder = trace.parent().expect("a folder");
    let name = trace.file_name().expect("a name").to_str().expect("text");
    // Python itself changes LC_CTYPE in such an environment, and what its programs do at a closed pipe or a file too large.
    let inherited = ["run", "--output", "none", "--", "sh", "-c"];
    let inherited = inherited.into_iter().chain([
        "echo $LC_CTYPE; grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status; echo $LD_PRELOAD | grep -c libtrace; exit 7",
    ]);
    let lines: [Vec<&str>; 5] = [
        vec!["info", name],
        vec!["report", "nothing.slog2"],
        vec!["report", "--fail-if", "ranks>1", name],
        vec!["stats", "--no-such-option"],
        inherited.collect(),
    ];
    for line in lines {
        let [ours, pythons] = [mpitrace(), script.clone()].map(|program| {
            let mut command = Command::new(program);
            command.args(&line).env_remove("LC_ALL").env("LANG", "C");
            command.env("PYTHONPATH", tests::python());
            outcome(&mut command, folder)
        });
        // Each finds the recorder that is beside it.
        let [own, beside] =
            [tests::recorder(), library.clone()].map(|path| path.display().to_string());
        let ours = ours.map(|text| text.replace(&own, &beside));
        assert_eq!(pythons, ours, "{line:?}");
        assert!(!ours[0].is_empty() || !ours[1].is_empty(), "{line:?}");
    }

    // Ctrl-C.
    let [ours, pythons] = [mpitrace(), script].map(|program| {
        let mut command = Command::new("timeout");
        command
            .args(["--preserve-status", "--signal=INT", "3"])
            .arg(program);
        command.args(["view", "--no-open", name]);
        command.env("PYTHONPATH", tests::python());
        let [stdout, stderr, code] = outcome(&mut command, folder);
        assert!((stdout + &stderr).contains("http://127.0.0.1"), "{stderr}");
        code
    });
    assert_eq!(pythons, ours);
}
