//! Findings of an I/O report, for people and for programs.

use crate::terminal::units;
use analysis::io::{IoFinding, Paste};
use serde_json::{Map, Value, json};

/// Seconds that a finding cost, what it is, and how sure it is.
pub fn words(finding: &IoFinding) -> String {
    let little = match finding.costs_next_to_nothing() {
        true => " It costs next to nothing in this run.",
        false => "",
    };
    format!("{}{little} ({})", finding.text, finding.sureness.word())
}

/// The time that it cost; a dash for findings that are about results.
pub fn cost(finding: &IoFinding) -> String {
    match finding.ns {
        0 => "-".to_owned(),
        ns => units::time(ns),
    }
}

/// A line to paste, with what it is for.
pub fn paste(paste: &Paste) -> String {
    format!("{}: {}", paste.into.word(), paste.line)
}

/// The finding as a JSON object.
pub fn json(finding: &IoFinding) -> Value {
    let figures: Map<String, Value> = finding
        .figures
        .iter()
        .map(|(name, number)| ((*name).to_owned(), (*number).into()))
        .collect();
    let lines = finding.paste.iter();
    let lines = lines.map(|one| json!({ "for": one.into.word(), "line": one.line }));
    json!({
        "finding": finding.name,
        "text": finding.text,
        "cost_s": finding.ns as f64 / 1e9,
        "sureness": finding.sureness.word(),
        "figures": figures,
        "paste": lines.collect::<Vec<_>>(),
    })
}
