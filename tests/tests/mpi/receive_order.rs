//! Arrows end where their own messages were received, whatever the order in which a program completes its receives: `programs/receive_order.c` and
//! others print which message each completion gave.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::process;
use tests::trace::{TraceSetup, TracedRun};
use tests::{Mpi, Program, TestFolder};
use trace_formats::slog2::{NodeDrawable, Slog2Reader, Topology};

/// Sender, tag and bytes of a message.
type Message = [i64; 3];

/// The messages in the order in which the program saw them completed.
fn completed(run: &TracedRun) -> Vec<Message> {
    let number = |word: &str| word.parse::<i64>().expect("a number");
    let lines = run.finished.stdout.lines();
    let words = lines.map(|line| line.split(' ').map(number).collect::<Vec<i64>>());
    words
        .map(|words| words.try_into().expect("source, tag, bytes"))
        .collect()
}

/// The SLOG2 file that the command makes of the block files of a run.
fn of_block_files(run: &TracedRun) -> PathBuf {
    let made = run.folder.path().join("of-blocks.slog2");
    let mut convert = Command::new(tests::mpitrace());
    convert.args(["convert", "--quiet"]);
    convert.args(run.files("blocks")).arg(&made);
    process::run(&mut convert, Duration::from_secs(60)).succeeded();
    made
}

/// The arrows to rank 0 in the order of their ends. Their bytes are the sender's.
fn drawn(file: &Path) -> Vec<Message> {
    let bytes = fs::read(file).expect("a file");
    let reader = Slog2Reader::new(&bytes).expect("an SLOG2 file");
    let categories = reader.categories().iter();
    let arrows_of: Vec<i32> = categories
        .filter(|category| category.topology == Topology::Arrow)
        .map(|category| category.index)
        .collect();
    let mut arrows = Vec::new();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).expect("sound");
        for drawable in node.nestable.iter().chain(&node.nestless) {
            let NodeDrawable::Primitive(arrow) = drawable else {
                continue;
            };
            let (first, last) = (arrow.first(), arrow.last());
            if arrows_of.contains(&arrow.category) && last.line == 0 {
                let info = arrow.info.try_into().expect("tag and size");
                let info = u64::from_be_bytes(info);
                let (tag, size) = ((info >> 32) as i64, (info as u32).into());
                arrows.push((last.time, [first.line.into(), tag, size]));
            }
        }
    }
    arrows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    arrows.into_iter().map(|(_, message)| message).collect()
}

/// Compares the arrows to rank 0 with what a program says, which prints so many messages, on all MPIs and by both ways to merge.
fn compare(program: impl Fn(Mpi) -> PathBuf, ranks: usize, messages: usize) {
    for mpi in Mpi::ALL.into_iter().filter(|mpi| mpi.installed()) {
        let program = program(mpi);
        for merge in ["tree", "parallel"] {
            let mut setup = TraceSetup::new(mpi, ranks);
            let variables = [("TRACE_MERGE", merge), ("TRACE_KEEP_BLOCKS", "yes")];
            setup.variables = &variables;
            let run = setup.run(&program, &[]);
            assert!(run.finished.status.success(), "{}", run.finished.story());
            let completed = completed(&run);
            assert_eq!(completed.len(), messages, "{mpi:?} {merge}");
            for file in [run.file("slog2"), of_block_files(&run)] {
                let drawn = drawn(&file);
                let differ = completed.iter().zip(&drawn).position(|(a, b)| a != b);
                assert_eq!(
                    differ.map(|at| (at, completed[at], drawn[at])),
                    None,
                    "{mpi:?} {merge} {file:?}"
                );
                assert_eq!(completed.len(), drawn.len(), "{mpi:?} {merge} {file:?}");
            }
        }
    }
}

#[test]
fn each_message_is_drawn_to_the_call_that_received_it() {
    // Of 40 rounds of 16 messages, one in eight has a message that nobody sees.
    compare(
        |mpi| Program::c("receive_order").compile(mpi),
        3,
        40 * 16 - 5,
    );
}

#[test]
fn a_message_that_is_cut_short_is_received() {
    compare(
        |mpi| Program::c("cut_short").compile(mpi),
        2,
        5 + 3 + 3 + 6 * 3,
    );
}

#[test]
fn a_section_of_a_fortran_array_has_the_size_of_its_elements() {
    let folder = TestFolder::new("sections");
    let compile = |mpi: Mpi| {
        let program = folder.path().join(format!("sections-{}", mpi.suffix()));
        let mut compiler = mpi.mpifort();
        compiler.arg(tests::root().join("tests/programs/sections.f90"));
        compiler.arg("-o").arg(&program);
        process::run(&mut compiler, Duration::from_secs(60)).succeeded();
        program
    };
    compare(compile, 2, 6);
}
