//! The comparison as one page, which needs nothing else and can be printed.

use super::changes::TraceChanges;
use crate::report::html::{charts, framed};
use crate::terminal::table::{TextTable, has_long_word};
use analysis::performance::PerformanceReport;
use maud::{Markup, html};

/// The page on these traces, with a row for each in `traces`, and on what changed from the first to the last one.
pub fn page(
    reports: &[(String, PerformanceReport)],
    traces: &TextTable,
    changes: &TraceChanges,
) -> String {
    let names: Vec<&str> = reports.iter().map(|(name, _)| name.as_str()).collect();
    let title = format!("Comparison of {}", names.join(", "));
    let head = html! {
        h1 { (names.join(" → ")) }
        p.verdict { (changes.words) }
    };
    let main = html! {
        section {
            h2 { "Traces" }
            (traces.html())
            h3 { "Where the time goes" }
            table.ranks.traces {
                tbody {
                    @for (name, report) in reports {
                        tr { td.long[has_long_word(name)] { (name) } td { (charts::use_bar(&report.time)) } }
                    }
                }
            }
            (charts::legend())
        }
        @for shown in changes.shown() {
            section {
                h2 { (shown.title) }
                (shown.table.html())
                @if let Some(rest) = shown.rest() { p { (rest) } }
            }
        }
        (phases(reports))
    };
    framed(&title, &head, &main, "compare")
}

/// The phases of each trace, if all have a main loop.
fn phases(reports: &[(String, PerformanceReport)]) -> Markup {
    let all_have = reports.iter().all(|(_, report)| report.phases.is_some());
    html! {
        @if all_have {
            section {
                h2 { "Phases" }
                @for (name, report) in reports {
                    @if let Some(found) = &report.phases {
                        h3 { (name) }
                        (charts::phases(&found.phases, found.lengths.median_seconds))
                    }
                }
                (charts::legend())
            }
        }
    }
}
