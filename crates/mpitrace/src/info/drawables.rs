//! Information about a trace that can be read as drawables.

use super::report::{InfoReport, object};
use super::unfinished::UnfinishedCalls;
use crate::terminal::progress::TaskProgress;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use trace_model::{Actor, Definitions, Drawable, Line, Source, Topology, lane_of, thread_of};

/// Ranks, threads and hosts of some lines.
pub fn describe_lines<'l>(lines: impl Iterator<Item = &'l Line>, report: &mut InfoReport) {
    let (mut ranks, mut threads) = (BTreeSet::new(), BTreeSet::new());
    let (mut server_numbers, mut server_threads) = (BTreeSet::new(), BTreeSet::new());
    let (mut hosts, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut count = 0u64;
    for line in lines {
        count += 1;
        match lane_of(line).actor {
            Actor::Rank(_) => {
                ranks.insert(line.rank);
                threads.insert((line.rank, thread_of(line)));
            }
            // They count only where there are no ranks.
            _ => {
                server_numbers.insert(line.rank);
                server_threads.insert((line.rank, line.thread));
            }
        }
        hosts.extend(line.host.clone());
        names.extend(line.name.clone());
    }
    if ranks.is_empty() {
        (ranks, threads) = (server_numbers, server_threads);
    }
    report.put("ranks", ranks.len());
    report.put("threads", threads.len());
    report.put("lines", count);
    if !hosts.is_empty() {
        report.put("hosts", hosts.into_iter().collect::<Vec<_>>());
    }
    if !names.is_empty() {
        report.put("named_lines", names.into_iter().collect::<Vec<_>>());
    }
}

/// Counts of drawables by kind.
pub fn describe_kinds(counts: [u64; 3], report: &mut InfoReport) {
    let [events, states, arrows] = counts;
    report.put("drawables", events + states + arrows);
    report.put("states", states);
    report.put("arrows", arrows);
    report.put("events", events);
}

/// A category as a row; what follows is appended by the caller.
pub fn category(definitions: &Definitions, index: i32, count: u64) -> Value {
    let found = definitions.category(index);
    let name = found.map_or(String::new(), |c| c.name.to_str().into_owned());
    let kind = found.map_or(String::new(), |c| c.topology.name().to_lowercase());
    object([
        ("index", index.into()),
        ("name", name.into()),
        ("kind", kind.into()),
        ("count", count.into()),
    ])
}

/// Reads everything once: how many drawables of which category, when and on how many lines. Says what could not be read
/// as drawables.
pub fn describe(source: &dyn Source, report: &mut InfoReport) {
    let definitions = source.definitions();
    if !definitions.program.is_empty() {
        report.put("program", definitions.program.clone());
    }
    let mut kinds = [0u64; 3];
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut lines = BTreeSet::new();
    let mut unfinished = UnfinishedCalls::new(&definitions.categories);
    let progress = TaskProgress::drawables("reading", report.quiet);
    let read = source.for_each(&mut |drawable: &Drawable<'_>| {
        progress.step();
        kinds[match drawable.topology {
            Topology::Event => 0,
            Topology::State => 1,
            Topology::Arrow => 2,
        }] += 1;
        *counts.entry(drawable.category).or_default() += 1;
        unfinished.take(drawable.category, drawable.info);
        for vertex in drawable.vertices {
            from = from.min(vertex.time);
            to = to.max(vertex.time);
            lines.insert(vertex.line);
        }
        Ok(())
    });
    report.span(from, to);
    describe_kinds(kinds, report);
    unfinished.put(report);
    describe_lines(
        lines.iter().filter_map(|&line| definitions.line(line)),
        report,
    );
    let categories = counts.iter();
    let categories = categories.map(|(&index, &count)| category(definitions, index, count));
    report.put("categories", categories.collect::<Vec<_>>());
    match read {
        Ok(losses) if losses.is_empty() => {}
        Ok(losses) => {
            let losses = losses
                .iter()
                .map(|(what, count)| (what.to_owned(), count.into()));
            report.put("besides_drawables", Value::Object(losses.collect()));
        }
        Err(error) => report.problem(error),
    }
}
