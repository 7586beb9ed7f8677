//! SLOG2 files of MPE as archives: each state, message and marker is there once, where and when it was.

use std::collections::BTreeMap;

use test_support::golden;
use trace_formats::slog2::Slog2Source;
use trace_model::{Definitions, DrawableOrder, Sorter, Source, Topology, message};

use super::archive;
use super::printed::PrintedArchive;
use crate::perfetto::OwnedDrawable;

/// What was found or expected, and how often.
type Facts = BTreeMap<String, u32>;

fn count(facts: &mut Facts, fact: String) {
    *facts.entry(fact).or_default() += 1;
}

/// What an archive of these drawables has to hold.
fn expected(definitions: &Definitions, drawables: &[OwnedDrawable]) -> Facts {
    let first = drawables.first().map_or(0.0, |first| {
        let bounds = first.borrowed().bounds();
        bounds.earliest
    });
    let ns = |seconds: f64| ((seconds + (-first).max(0.0)) * 1e9).round() as u64;
    let mut facts = Facts::new();
    for drawable in drawables {
        let category = definitions.category(drawable.category).expect("a category");
        let (from, to) = (
            drawable.vertices[0],
            *drawable.vertices.last().expect("ends"),
        );
        let line = |id| definitions.line(id).expect("a line");
        let (own, other) = (line(from.line), line(to.line));
        let name = category.name.to_str();
        match drawable.topology {
            Topology::State | Topology::Event => {
                count(
                    &mut facts,
                    format!("{} enters {name} at {}", own.rank, ns(from.time)),
                );
                count(
                    &mut facts,
                    format!("{} leaves {name} at {}", own.rank, ns(to.time)),
                );
            }
            Topology::Arrow => {
                let found = message(category, &drawable.info).expect("a message");
                let what = format!("tag {} bytes {}", found.tag, found.size);
                let (time, receiver) = (ns(from.time), other.comm_rank);
                let sent = format!("{} sends to {receiver} at {time}: {what}", own.rank);
                let (time, sender) = (ns(to.time), own.comm_rank);
                let got = format!("{} receives from {sender} at {time}: {what}", other.rank);
                count(&mut facts, sent);
                count(&mut facts, got);
            }
        }
    }
    facts
}

/// What an archive holds.
fn found(archive: &PrintedArchive) -> Facts {
    let mut facts = Facts::new();
    for event in &archive.events {
        let (rank, time) = (event.location & 0xffff_ffff, event.time);
        let fact = match event.kind.as_str() {
            "ENTER" => format!("{rank} enters {} at {time}", event.value("Region")),
            "LEAVE" => format!("{rank} leaves {} at {time}", event.value("Region")),
            "MPI_SEND" | "MPI_RECV" => {
                let what = format!("tag {} bytes {}", event.value("Tag"), event.value("Length"));
                match event.kind.as_str() {
                    "MPI_SEND" => {
                        let receiver = event.value("Receiver");
                        format!("{rank} sends to {receiver} at {time}: {what}")
                    }
                    _ => {
                        let sender = event.value("Sender");
                        format!("{rank} receives from {sender} at {time}: {what}")
                    }
                }
            }
            "MPI_COLLECTIVE_BEGIN" | "MPI_COLLECTIVE_END" => continue,
            other => panic!("{other} without its arguments in the trace"),
        };
        count(&mut facts, fact);
    }
    facts
}

#[test]
fn states_messages_and_markers_are_there_once() {
    let (mut files, mut collectives) = (0, 0);
    for path in golden::files("mpe", ".slog2") {
        let bytes = golden::read(&path);
        let Ok(source) = Slog2Source::new(&bytes) else {
            continue;
        };
        let definitions = source.definitions();
        let mut sorter = Sorter::new(DrawableOrder::Start);
        let read = source.for_each(&mut |drawable| Ok(sorter.push(drawable)?));
        read.expect("a golden is whole");
        let mut drawables = Vec::new();
        let sorted = sorter.finish(&mut |drawable| {
            drawables.push(OwnedDrawable::from(drawable));
            Ok(())
        });
        sorted.expect("sorted");
        let Some((archive, _)) = archive(definitions, &drawables, true) else {
            return;
        };
        files += 1;
        let name = path.display();
        assert_eq!(found(&archive), expected(definitions, &drawables), "{name}");
        let begun = archive.of_kind("MPI_COLLECTIVE_BEGIN").count();
        assert_eq!(begun, archive.of_kind("MPI_COLLECTIVE_END").count());
        let calls = archive.of_kind("ENTER").filter(|event| {
            let collective = ["MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce"];
            collective.contains(&event.value("Region"))
        });
        assert!(calls.count() <= begun, "{name}");
        collectives += begun;
    }
    assert!(
        files > 20 && collectives > 0,
        "{files} files, {collectives}"
    );
}
