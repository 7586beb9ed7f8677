//! Findings for people: 80 columns, most severe first.

use crate::terminal;
use crate::terminal::units::counted;
use analysis::correctness::{CorrectnessReport, Finding, ranks_in_words};
use std::fmt::Write;
use trace_model::units::duration;

/// Columns of the page.
const COLUMNS: usize = 80;
/// Findings of one kind that are shown; the rest is in the JSON.
const MAX_SHOWN: usize = 8;
/// Calls of one finding that are shown, and lines of what ranks wait for.
const MAX_CALLS: usize = 12;

/// All of a report on the trace of this name.
pub fn text(name: &str, report: &CorrectnessReport) -> String {
    let mut page = String::new();
    let about = [
        counted(u64::from(report.ranks), "rank"),
        counted(report.calls, "MPI call"),
        counted(report.operations, "collective operation"),
        counted(report.messages, "message"),
    ];
    wrapped(&mut page, "", &format!("{name}: {}", about.join(", ")));
    page.push('\n');
    if report.findings.is_empty() {
        page.push_str(match report.ends.is_empty() {
            true => "Nothing wrong was found.\n",
            false => "Nothing wrong was found in the calls that there are.\n",
        });
    } else {
        let number = counted(report.findings.len() as u64, "finding");
        page.push_str(&format!("{number}, most severe first\n"));
    }
    let mut kind = None;
    let mut shown = 0;
    for finding in &report.findings {
        if kind != Some(finding.kind) {
            kind = Some(finding.kind);
            shown = 0;
            page.push_str(&format!("\n{}\n", finding.kind.name()));
        }
        shown += 1;
        if shown <= MAX_SHOWN {
            put(&mut page, finding);
        } else if shown == MAX_SHOWN + 1 {
            let all = report.findings.iter().filter(|it| it.kind == finding.kind);
            let more = all.count() - MAX_SHOWN;
            page.push_str(&format!("  and {more} more; --json has all\n"));
        }
    }
    if !report.ends.is_empty() {
        page.push_str("\nDid not come to MPI_Finalize\n");
        for end in &report.ends {
            wrapped(&mut page, "  ", end);
        }
    }
    if !report.waits.is_empty() {
        page.push_str("\nWaiting for others at the end\n");
        for wait in report.waits.iter().take(MAX_CALLS) {
            wrapped(&mut page, "  ", wait);
        }
        if report.waits.len() > MAX_CALLS {
            let more = report.waits.len() - MAX_CALLS;
            page.push_str(&format!("  and {more} more; --json has them\n"));
        }
    }
    if !report.not_checked.is_empty() {
        page.push_str("\nNot checked\n");
        for what in &report.not_checked {
            wrapped(&mut page, "  ", what);
        }
    }
    page
}

fn wrapped(page: &mut String, first: &str, text: &str) {
    for line in terminal::wrapped(first, text, COLUMNS) {
        page.push_str(line.trim_end());
        page.push('\n');
    }
}

/// A finding and its calls.
fn put(page: &mut String, finding: &Finding) {
    wrapped(page, "  ", &finding.message);
    for call in finding.calls.iter().take(MAX_CALLS) {
        let mut text = format!(
            "{} in {} at {:.6} s",
            ranks_in_words(&call.ranks),
            call.function,
            call.time
        );
        if call.thread > 0 {
            let _ = write!(text, ", thread {}", call.thread);
        }
        if let Some(seconds) = call.running {
            let _ = write!(text, ", for {}", duration(seconds));
        }
        if let Some(awaited) = &call.awaited {
            let _ = write!(text, ": waits for {awaited}");
        }
        wrapped(page, "    ", &text);
    }
    if finding.calls.len() > MAX_CALLS {
        let more = finding.calls.len() - MAX_CALLS;
        page.push_str(&format!("    and {more} more calls\n"));
    }
}
