//! The calls and messages in the recorder's files, counted record by record with the project's own readers.

use crate::tally::CallTally;
use io_attribution::draw::{Shows, shows};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use trace_formats::clog2::{self, Clog2Body, msg_etype};
use trace_formats::dumpi::read::DumpiReader as Dumpi;
use trace_formats::dumpi::value::FieldValue;
use trace_formats::slog2::{self, Topology};
use trace_model::hash::Map;

/// Longest name of a state in CLOG2, its field having 32 bytes with the final zero.
const STATE_NAME: usize = 31;

/// Names under which the files show functions.
///
/// DUMPI has one number for a function and its large-count form.
pub fn without_large(counts: &CallTally) -> CallTally {
    rename(counts, |name| name.strip_suffix("_c").unwrap_or(name))
}

/// CLOG2 and SLOG2 cut names.
pub fn cut(counts: &CallTally) -> CallTally {
    rename(counts, |name| &name[..name.len().min(STATE_NAME)])
}

fn rename(counts: &CallTally, new: impl Fn(&str) -> &str) -> CallTally {
    let mut renamed = CallTally::new();
    for (name, count) in counts {
        *renamed.entry(new(name).to_owned()).or_default() += count;
    }
    renamed
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Calls in a DUMPI file, all of which have come to their end.
#[track_caller]
pub fn dumpi(path: &Path) -> CallTally {
    let (counts, unfinished) = dumpi_of_dead(path);
    assert_eq!(
        unfinished,
        [""; 0],
        "{}: functions entered and not left",
        path.display()
    );
    counts
}

/// Calls in a DUMPI file, and those in which the process died. A function that DUMPI has no number for stands there as `Function_enter` and `Function_exit`, whose
/// argument the address section names.
#[track_caller]
pub fn dumpi_of_dead(path: &Path) -> (CallTally, Vec<String>) {
    let bytes = bytes(path);
    let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", path.display()) };
    let reader = Dumpi::open(&bytes).unwrap_or_else(|error| fail(&error));
    assert!(reader.is_complete(), "{}: incomplete", path.display());
    let labels = reader.address_labels().unwrap_or_else(|error| fail(&error));
    let names: Map<u64, String> = labels
        .unwrap_or_default()
        .into_iter()
        .map(|label| {
            (
                label.key,
                String::from_utf8_lossy(&label.label).into_owned(),
            )
        })
        .collect();
    let mut counts = CallTally::new();
    let (mut entered, mut left) = (CallTally::new(), CallTally::new());
    for record in reader.records() {
        let record = record.unwrap_or_else(|error| fail(&error));
        let named = || match record.args().next() {
            Some((_, FieldValue::U64(key))) => names[&key].clone(),
            other => panic!("{}: {other:?} is no address", path.display()),
        };
        match record.function.name {
            "Function_enter" => *entered.entry(named()).or_default() += 1,
            "Function_exit" => *left.entry(named()).or_default() += 1,
            name => *counts.entry(name.to_owned()).or_default() += 1,
        }
    }
    let unfinished: Vec<String> = entered
        .iter()
        .flat_map(|(name, count)| {
            let left = left.get(name).copied().unwrap_or(0);
            assert!(left <= *count, "{}: {name}", path.display());
            (left..*count).map(|_| name.clone())
        })
        .collect();
    for (name, count) in left {
        *counts.entry(name).or_default() += count;
    }
    (counts, unfinished)
}

/// Calls and messages in a CLOG2 file.
#[derive(Debug, Default)]
pub struct Clog2Counts {
    /// Calls of each rank of MPI_COMM_WORLD.
    pub calls: BTreeMap<usize, CallTally>,
    /// Sends.
    pub sends: u64,
    /// Receives.
    pub receives: u64,
}

/// Reads a CLOG2 file: each start of a state must be followed by its end on the same rank and thread, times must not go
/// back.
#[track_caller]
pub fn clog2(path: &Path) -> Clog2Counts {
    let bytes = bytes(path);
    let reader = clog2::Clog2Reader::new(&bytes)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut names = Map::default();
    let mut ends = Map::default();
    let mut events = Vec::new();
    let mut worlds = Map::default();
    let mut contents = Clog2Counts::default();
    let mut last = f64::NEG_INFINITY;
    for record in reader.records() {
        let record = record.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let header = record.header;
        match record.body {
            Clog2Body::StateDef(state) => {
                names.insert(state.start_etype, state.name.to_str().into_owned());
                ends.insert(state.final_etype, state.start_etype);
                continue;
            }
            Clog2Body::EventDef(_) | Clog2Body::ConstDef(_) => continue,
            Clog2Body::Bare { etype } | Clog2Body::Cargo { etype, .. } => {
                let world = worlds.get(&(header.icomm, header.rank));
                let world =
                    world.unwrap_or_else(|| panic!("{}: {header:?}: unknown", path.display()));
                events.push((*world, header.thread, etype));
            }
            // events name the rank in their own communicator; an entry may be used again after its end
            Clog2Body::Comm(comm) => {
                worlds.insert((comm.icomm, comm.rank), comm.wrank);
            }
            Clog2Body::Msg(message) if message.etype == msg_etype::SEND => contents.sends += 1,
            Clog2Body::Msg(message) if message.etype == msg_etype::RECV => contents.receives += 1,
            _ => {}
        }
        assert!(
            header.time >= last,
            "{}: time goes back to {}",
            path.display(),
            header.time
        );
        last = header.time;
    }
    // definitions may come after the events they describe
    let mut calls: Map<(i32, i32), u64> = Map::default();
    let mut open: Map<(i32, i32), Vec<i32>> = Map::default();
    for (rank, thread, etype) in events {
        let stack = open.entry((rank, thread)).or_default();
        if names.contains_key(&etype) {
            *calls.entry((rank, etype)).or_default() += 1;
            stack.push(etype);
        } else if let Some(start) = ends.get(&etype) {
            assert_eq!(
                stack.pop(),
                Some(*start),
                "{}: an end without its start",
                path.display()
            );
        }
    }
    assert!(
        open.values().all(Vec::is_empty),
        "{}: states without end",
        path.display()
    );
    for ((rank, etype), number) in calls {
        let rank = usize::try_from(rank).expect("a rank");
        let of_rank = contents.calls.entry(rank).or_default();
        *of_rank.entry(names[&etype].clone()).or_default() += number;
    }
    contents
}

/// Drawables in an SLOG2 file.
#[derive(Debug, Default)]
pub struct Slog2Counts {
    /// States of calls by category, of all ranks together.
    pub states: CallTally,
    /// Messages.
    pub arrows: u64,
    /// Operations below MPI by category.
    pub operations: CallTally,
    /// Arrows from calls to operations by category.
    pub edges: CallTally,
}

/// Reads every node of an SLOG2 file. The counts in the category table must be those of the drawables.
#[track_caller]
pub fn slog2(path: &Path) -> Slog2Counts {
    let bytes = bytes(path);
    let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", path.display()) };
    let reader = slog2::Slog2Reader::new(&bytes).unwrap_or_else(|error| fail(&error));
    let categories: Map<i32, &slog2::Category> = reader
        .categories()
        .iter()
        .map(|category| (category.index, category))
        .collect();
    let mut drawn: Map<i32, u64> = Map::default();
    for entry in reader.directory() {
        let node = reader.node(entry.ptr).unwrap_or_else(|error| fail(&error));
        for drawable in node.nestable.iter().chain(&node.nestless) {
            *drawn.entry(drawable.category()).or_default() += 1;
        }
    }
    let mut contents = Slog2Counts::default();
    for (index, count) in drawn {
        let category = categories
            .get(&index)
            .unwrap_or_else(|| fail(&format!("no category {index}")));
        let counts = match (shows(category), category.topology) {
            (Some(Shows::Edge(_)), _) => &mut contents.edges,
            (Some(Shows::Operation(_)), _) => &mut contents.operations,
            (_, Topology::State) => &mut contents.states,
            (_, Topology::Arrow) => {
                contents.arrows += count;
                continue;
            }
            (_, Topology::Event) => continue,
        };
        *counts
            .entry(category.name.to_str().into_owned())
            .or_default() += count;
    }
    contents
}
