//! The report as one page: the text with pictures, which needs nothing else and can be printed.

pub mod charts;
mod timelines;

use super::breakdown::{self, Breakdown};
use super::focus::FocusChoice;
use super::words;
use crate::failure::Failure;
use crate::terminal::table::has_long_word;
use crate::trace_files::trace::TraceInput;
use analysis::performance::words::{did, rank};
use analysis::performance::{PerformanceReport, ProgramPhases};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use timelines::TimelinePictures;
use trace_model::units::{digits, duration, percent};
use viewer_core::trace::class_colors::ThemeColors;
use viewer_core::{ActivityClass, Theme};

/// Waits with a picture.
const MAX_PICTURES: usize = 6;
/// Rows of a table; the rest is in the JSON.
const MAX_ROWS: usize = 20;
/// What takes less than this share has no row.
const MIN_SHARE: f64 = 0.001;

const STYLE: &str = include_str!("page.css");

/// The colours that the page shares with the viewer, as variables of its style.
fn shared_colors() -> String {
    let [transfer, files] =
        [ActivityClass::P2p, ActivityClass::Io].map(|class| ThemeColors::of_class(class).light);
    let waiting = Theme::Light.waiting();
    format!(":root {{ --waiting: {waiting}; --transfer: {transfer}; --files: {files}; }}\n")
}

/// The page on the trace of this name, which is about this part of it.
pub fn page(
    name: &str,
    trace: &TraceInput,
    focus: &FocusChoice,
    report: &PerformanceReport,
    quiet: bool,
) -> Result<String, Failure> {
    let pictures = TimelinePictures::of(trace, quiet)?;
    let head = html! {
        h1 { (name) }
        p { (words::contents(report)) ". " (words::focus(focus, report)) }
    };
    let main = html! {
        section {
            h2 { "Verdict" }
            p.verdict { (words::verdict(report)) }
            div.columns { (time(report)) (efficiencies(report)) }
        }
        (over_time(report))
        (waits(report, &pictures)?)
        (path(report))
        (what_if(report))
        @if let Some(found) = &report.phases { (phases(found)) }
        (pairs(report))
        (ranks(report))
        (breakdown(report, Breakdown::Communicator, "Communicators"))
        (breakdown(report, Breakdown::File, "Files"))
        (notes(report))
    };
    Ok(framed(&format!("Report on {name}"), &head, &main, "report"))
}

/// A page with this head and contents, which a subcommand has made.
pub fn framed(title: &str, head: &Markup, main: &Markup, subcommand: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(shared_colors())) (PreEscaped(STYLE)) }
            }
            body {
                header { (head) }
                main { (main) }
                footer {
                    "Made by mpitrace " (subcommand) " " (env!("CARGO_PKG_VERSION"))
                    ". All times are on rank 0's clock. Each number is defined in docs/user/report.md of libtrace."
                }
            }
        }
    };
    page.into_string()
}

/// The time by something as a table, if there is more than one row.
fn breakdown(report: &PerformanceReport, by: Breakdown, title: &str) -> Markup {
    let mut table = breakdown::table(report, by);
    let all = table.rows.len();
    table.rows.truncate(MAX_ROWS);
    html! {
        @if all > 1 {
            section {
                h2 { (title) }
                (table.html())
                @if table.rows.len() < all { p.faint { "The first " (MAX_ROWS) " of " (all) "." } }
            }
        }
    }
}

fn time(report: &PerformanceReport) -> Markup {
    let time = &report.time;
    html! {
        div {
            h3 { "Where the time goes" }
            (charts::use_bar(time))
            table {
                thead { tr { th { } th.number { "all ranks" } th.number { "share" } } }
                tbody {
                    @for (name, class, seconds) in words::uses(time) {
                        @if seconds > 0.0 {
                            tr {
                                td { span.key.(class) { } (name) }
                                td.number { (duration(seconds)) }
                                td.number { (percent(time.share(seconds))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn efficiencies(report: &PerformanceReport) -> Markup {
    html! {
        div {
            h3 { "Efficiency" }
            table {
                tbody {
                    @for (depth, name, value, text) in words::efficiencies(report) {
                        tr {
                            td style={ "padding-left:" (depth) "em" } { (name) }
                            td.number { (percent(value)) }
                            td { (charts::share_bar(value)) }
                            td.faint { (text) }
                        }
                    }
                }
            }
        }
    }
}

fn over_time(report: &PerformanceReport) -> Markup {
    html! {
        @if !report.over_time.is_empty() {
            section {
                h2 { "Over time" }
                (charts::over_time(&report.over_time))
                (charts::legend())
                p.faint {
                    "Share of the time of all ranks by use, in " (report.over_time.len())
                    " parts of equal length. The strip below shows the rank that the critical path is on."
                }
            }
        }
    }
}

fn waits(report: &PerformanceReport, pictures: &TimelinePictures<'_>) -> Result<Markup, Failure> {
    let shown = report.waits.iter().filter(|group| group.share >= MIN_SHARE);
    let shown: Vec<_> = shown.take(MAX_ROWS).collect();
    let pictured = &shown[..shown.len().min(MAX_PICTURES)];
    let figures = pictured.iter().zip(pictures.of_waits(pictured)?);
    Ok(html! {
        section {
            h2 { "Waits" }
            @if shown.is_empty() {
                p { "No rank waits for another for long." }
            } @else {
                table {
                    thead {
                        tr {
                            th.number { "all ranks" } th.number { "share" } th { "why" } th { "in" } th { "for" }
                            th.number { "times" } th.number { "waiting ranks" } th { "cause" }
                        }
                    }
                    tbody {
                        @for group in &shown {
                            tr {
                                td.number { (duration(group.seconds)) }
                                td.number { (percent(group.share)) }
                                td { (group.pattern.name()) }
                                td.long[has_long_word(&group.call)] { (group.call) }
                                td { (rank(group.culprit, group.culprit_thread)) }
                                td.number { (group.count) }
                                td.number { (group.waiting) }
                                td.long[has_long_word(&did(group.cause_activity.as_deref()))] { (rank(group.cause_rank, 0)) ", " (did(group.cause_activity.as_deref())) }
                            }
                        }
                    }
                }
                @for (group, picture) in figures {
                    figure {
                        (picture)
                        figcaption {
                            "The longest " (group.pattern.name()) " in " (group.call) ": " (rank(group.longest.rank, group.longest.thread))
                            " waits " (duration(group.longest.to - group.longest.from)) " for " (rank(group.culprit, group.culprit_thread))
                            ", from " (format!("{:.6}", group.longest.from)) " s on."
                        }
                    }
                }
            }
        }
    })
}

fn path(report: &PerformanceReport) -> Markup {
    let name = |activity: &Option<String>| activity.clone().unwrap_or_else(|| "computing".into());
    let ranks = report
        .path_ranks
        .iter()
        .filter(|on_path| on_path.share >= 0.01);
    let activities = (report.path_activities.iter()).filter(|on_path| on_path.share >= 0.001);
    html! {
        section {
            h2 { "Critical path" }
            p.faint {
                "Backwards from the end: along a rank, and at a wait over to the rank that was waited for. "
                "What takes long here makes the run long."
            }
            div.columns {
                table {
                    thead { tr { th { "done on it" } th.number { "on the path" } th.number { "share" }
                        th.number { "mean of ranks" } th.number { "imbalance" } } }
                    tbody {
                        @for on_path in activities.take(MAX_ROWS) {
                            tr {
                                td.long[has_long_word(&name(&on_path.activity))] { (name(&on_path.activity)) }
                                td.number { (duration(on_path.seconds)) }
                                td.number { (percent(on_path.share)) }
                                td.number { (duration(on_path.mean)) }
                                td.number { (duration(on_path.imbalance_cost)) }
                            }
                        }
                    }
                }
                table {
                    thead { tr { th { "runs on" } th.number { "time" } th.number { "share" } } }
                    tbody {
                        @for on_path in ranks.take(MAX_ROWS) {
                            tr {
                                td { (rank(on_path.rank, on_path.thread)) }
                                td.number { (duration(on_path.seconds)) }
                                td.number { (percent(on_path.share)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn what_if(report: &PerformanceReport) -> Markup {
    html! {
        @if !report.what_if.is_empty() {
            section {
                h2 { "What if" }
                ul {
                    @for what_if in &report.what_if { li { (words::what_if(report, what_if)) } }
                }
            }
        }
    }
}

fn phases(found: &ProgramPhases) -> Markup {
    html! {
        section {
            h2 { "Phases" }
            ul { @for sentence in words::phases(found) { li { (sentence) } } }
            (charts::phases(&found.phases, found.lengths.median_seconds))
            (charts::legend())
            p.faint { "Length of each phase, divided by use as the time of its ranks is. The line is the median." }
        }
    }
}

fn pairs(report: &PerformanceReport) -> Markup {
    let pairs = &report.pairs;
    html! {
        @if pairs.first_ranks.len() > 1 {
            section {
                h2 { "Who waits for whom, who sends to whom" }
                div.columns {
                    figure {
                        (charts::matrix(&pairs.first_ranks, &pairs.waiting, "waits", "is waited for", |seconds| duration(*seconds)))
                        figcaption { "Waiting: rows wait, columns are waited for." }
                    }
                    figure {
                        (charts::matrix(&pairs.first_ranks, &pairs.bytes, "sends", "receives", |bytes| trace_model::units::bytes(*bytes)))
                        figcaption { "Bytes of messages: rows send, columns receive." }
                    }
                }
                @if pairs.ranks_each > 1 {
                    p.faint { "A row or column is " (pairs.ranks_each) " ranks." }
                }
            }
        }
    }
}

fn ranks(report: &PerformanceReport) -> Markup {
    let mut ranks: Vec<_> = report.by_rank.iter().collect();
    let all = ranks.len();
    if all > 2 * MAX_ROWS {
        ranks.sort_by(|a, b| b.caused.total_cmp(&a.caused));
        ranks.truncate(2 * MAX_ROWS);
    }
    html! {
        section {
            h2 { "Ranks" }
            @if ranks.len() < all {
                p.faint { "The " (ranks.len()) " of " (all) " ranks that others waited for most." }
            }
            table.ranks {
                thead {
                    tr {
                        th.number { "rank" } th { } th.number { "computing" } th.number { "waiting" }
                        th.number { "files" } th.number { "waits due to it" }
                    }
                }
                tbody {
                    @for of in ranks {
                        tr {
                            td.number { (of.rank) }
                            td { (charts::use_bar(&charts::times_of(of, report.focus.seconds))) }
                            td.number { (duration(of.computing)) }
                            td.number { (duration(of.waiting)) }
                            td.number { (duration(of.files)) }
                            td.number { (duration(of.caused)) }
                        }
                    }
                }
            }
            @let longest = report.efficiencies.longest_computing;
            @let mean = report.efficiencies.mean_computing;
            @if mean > 0.0 {
                p.faint {
                    "Rank " (report.efficiencies.longest_computing_rank) " computes longest: "
                    (duration(longest)) ", " (digits(longest / mean)) " times the mean."
                }
            }
        }
    }
}

fn notes(report: &PerformanceReport) -> Markup {
    html! {
        @if !report.notes.is_empty() {
            section {
                h2 { "Not in the trace, or not right in it" }
                ul { @for note in &report.notes { li { (note) } } }
            }
        }
    }
}
