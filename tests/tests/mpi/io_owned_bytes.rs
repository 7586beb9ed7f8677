//! Whose bytes a transfer carries, where that is hard to tell: ranks that overwrite each other, requests that overlap, and views of more
//! pieces than a trace lists. The truth are the buffers that strace saw.

use std::path::Path;
use std::process::Command;
use tests::owned_bytes::{self, OwnedBytes};
use tests::trace::{LIMIT, TraceSetup};
use tests::{Mpi, MpiTurns, Program, TracedRun, process, strace};

/// Patterns of `owned_bytes.c`, and whether ranks write the same bytes in one collective access and the trace tells where.
const PATTERNS: &[(&str, bool)] = &[
    ("chain", true),
    ("same", true),
    ("nested", true),
    ("apart", true),
    ("inside", true),
    ("blocks", true),
    ("many_blocks", true),
    ("atomic", true),
    ("requests", false),
    ("collective_requests", true),
    ("split", true),
    ("few", true),
    ("few_blocks", true),
    ("irregular", false),
    ("irregular_alone", false),
    ("irregular_overlap", false),
];

/// A way in which an MPI library does I/O: variables, hints.
type Way = (
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

const ROMIO: &[Way] = &[
    (&[], &[]),
    (
        &[],
        &["cb_nodes=3", "cb_buffer_size=1024", "romio_cb_write=enable"],
    ),
    (&[], &["romio_cb_write=disable"]),
    (&[], &["romio_cb_write=disable", "romio_ds_write=disable"]),
];

const OMPIO: &[Way] = &[
    (&[("OMPI_MCA_fcoll", "vulcan")], &[]),
    (&[("OMPI_MCA_fcoll", "dynamic")], &[]),
    (&[("OMPI_MCA_fcoll", "dynamic_gen2")], &[]),
    (&[("OMPI_MCA_fcoll", "individual")], &[]),
    (&[("OMPI_MCA_fcoll", "two_phase")], &[]),
    (
        &[
            ("OMPI_MCA_fcoll", "vulcan"),
            ("OMPI_MCA_io_ompio_num_aggregators", "2"),
            ("OMPI_MCA_io_ompio_bytes_per_agg", "1024"),
        ],
        &[],
    ),
    (&[("OMPI_MCA_io", "romio321")], &[]),
    (&[("OMPI_MCA_io", "romio321")], &["cb_buffer_size=1024"]),
];

/// Components of Open MPI 4.1 and patterns in which they destroy the heap, without a recorder, too: the program dies or hangs.
const DESTROY_THE_HEAP: &[(&str, &[&str])] = &[
    ("vulcan", &["nested", "few", "few_blocks"]),
    ("dynamic_gen2", &["nested", "inside", "few", "few_blocks"]),
    ("romio321", &["collective_requests", "few", "few_blocks"]),
];

fn destroys_the_heap((variables, _): Way, pattern: &str) -> bool {
    DESTROY_THE_HEAP.iter().any(|(component, patterns)| {
        variables.iter().any(|(_, value)| value == component) && patterns.contains(&pattern)
    })
}

/// Ways in which the `nth` pattern is written: with EVERY_MPI all that work, else one of them, so that between them the patterns try all.
fn ways(mpi: Mpi, nth: usize, pattern: &str) -> Vec<Way> {
    let all = if mpi.is_mpich() { ROMIO } else { OMPIO };
    let mut ways = all.to_vec();
    ways.retain(|&way| !destroys_the_heap(way, pattern));
    if pattern == "irregular_overlap" {
        // It takes seconds, and the ways differ as for `irregular`.
        ways.truncate(1);
    }
    if std::env::var_os("EVERY_MPI").is_none() {
        ways = vec![ways[nth % ways.len()]];
    }
    ways
}

/// Runs the program under strace with the recorder.
fn run(mpi: Mpi, program: &Path, (variables, hints): Way, pattern: &str) -> TracedRun {
    let mut all = vec![("TRACE_KEEP_BLOCKS", "yes")];
    all.extend(variables);
    // Many pieces take their time, under strace and with more ranks than processors.
    let ranks = match pattern {
        "many_blocks" | "irregular" | "irregular_alone" | "irregular_overlap" => 2,
        _ => 4,
    };
    let mut tracing = TraceSetup::new(mpi, ranks);
    tracing.variables = &all;
    let text = program.to_str().expect("a path of ours");
    let mut arguments = strace::IN_A_RANK.to_vec();
    arguments.push(text);
    arguments.extend(hints);
    arguments.push(pattern);
    let run = tracing.run(Path::new("/bin/sh"), &arguments);
    assert!(run.finished.status.success(), "{}", run.finished.story());
    run
}

/// Whether the report of the run's SLOG2 file says that ranks wrote the same bytes.
fn says_overwriting(run: &TracedRun) -> bool {
    let mut command = Command::new(tests::mpitrace());
    command.args(["io", "--json"]).arg(&run.files("slog2")[0]);
    let report = process::run(&mut command, LIMIT).succeeded();
    report.stdout.contains("\"finding\": \"overwriting\"")
}

/// OWNED_PATTERN names a pattern to be run alone.
#[test]
fn what_is_called_exact_is_what_strace_saw() {
    if !strace::works() {
        return;
    }
    let only = std::env::var("OWNED_PATTERN").ok();
    let is_wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let (mut wrong, mut all) = (Vec::new(), OwnedBytes::default());
    let turns = MpiTurns::new("bytes of each pattern");
    for (nth, &(pattern, overwrites)) in PATTERNS.iter().enumerate() {
        if !is_wanted(pattern) {
            continue;
        }
        for &mpi in turns.of(nth) {
            let program = Program::c("owned_bytes").compile(mpi);
            for way in ways(mpi, nth, pattern) {
                let name = format!("{mpi:?} {:?} {:?} {pattern}", way.0, way.1);
                let run = run(mpi, &program, way, pattern);
                let found = owned_bytes::compare(&run.trace(), run.folder.path());
                println!("{name}: {found}");
                assert!(found.transfers > 0, "{name}");
                let lines = found.differences.iter().take(3);
                wrong.extend(lines.map(|line| format!("{name}: {line}")));
                let says = says_overwriting(&run);
                if says != overwrites {
                    wrong.push(format!("{name}: ranks overwrite each other: {says}"));
                }
                all.add(&found);
            }
        }
    }
    println!("all: {all}");
    assert!(wrong.is_empty(), "{} differences: {wrong:#?}", wrong.len());
    assert!(only.is_some() || all.exact > 0 && all.uncertain > 0);
}
