//! The summary as text, for terminals and logs.

use super::opened::OpenedTrace;
use crate::failure::Failure;
use std::fmt::Write as _;
use std::io::Write as _;
use viewer_core::summary::{FindingItem, TraceSummary};

/// Columns of the bar.
const WIDTH: f64 = 40.0;

/// Prints the summaries of the traces.
pub fn print(traces: &[OpenedTrace]) -> Result<(), Failure> {
    let mut out = crate::terminal::stdout();
    for (nth, trace) in traces.iter().enumerate() {
        let summary = (trace.viewer)
            .summary(&|| false)
            .map_err(|error| Failure::Data(format!("{}: {error}", trace.name)))?;
        let blank = if nth > 0 { "\n" } else { "" };
        write!(out, "{blank}{}", text(&summary))
            .map_err(|error| Failure::output("stdout", &error))?;
    }
    out.flush()
        .map_err(|error| Failure::output("stdout", &error))
}

fn text(summary: &TraceSummary) -> String {
    let mut text = String::new();
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut about = vec![plural(summary.ranks, "rank")];
    if summary.threads > summary.ranks {
        about.push(plural(summary.threads, "thread"));
    }
    if summary.nodes > 0 {
        about.push(plural(summary.nodes, "node"));
    }
    let sign = if summary.exact { "" } else { "≈ " };
    about.push(format!("{:.6} s", summary.duration));
    about.push(format!("{sign}{} drawables", summary.drawables));
    let _ = writeln!(text, "{}: {}", summary.name, about.join(", "));
    for lost in &summary.lost {
        let _ = writeln!(text, "! {lost}");
    }
    let _ = writeln!(text, "\nWhere the time goes");
    for part in &summary.bar {
        let bar = "█".repeat((part.share * WIDTH).round().clamp(0.0, WIDTH) as usize);
        let (share, seconds) = (part.share * 100.0, part.seconds);
        let _ = writeln!(
            text,
            "  {:<11}{share:>6.2} % {seconds:>13.6} s  {bar}",
            part.class
        );
    }
    for finding in &summary.findings {
        let _ = writeln!(text, "\n{}: {}", finding.title, finding.value);
        let _ = writeln!(text, "  {}", finding.sentence);
        for item in &finding.items {
            line(&mut text, item);
        }
        let _ = writeln!(text, "  (from {})", finding.from);
    }
    text
}

fn line(text: &mut String, item: &FindingItem) {
    let target = &item.target;
    let (from, to) = (target.t0, target.t1);
    let _ = writeln!(
        text,
        "  - {}: {}, at {from:.6} to {to:.6} s",
        item.text, item.value
    );
}
