//! The report for people: one screen of 80 columns.

use super::focus::FocusChoice;
use super::words;
use crate::terminal;
use analysis::performance::words::rank;
use analysis::performance::{PerformanceReport, WaitGroup};
use trace_model::units::{duration, percent};

/// Columns of the page.
const COLUMNS: usize = 80;
/// Lines of a list; the rest is in the JSON.
const MAX_LINES: usize = 8;
/// What takes less than this share is not listed.
const MIN_SHARE: f64 = 0.001;

/// All of a report on the trace of this name, which is about this part of it.
pub fn text(name: &str, focus: &FocusChoice, report: &PerformanceReport) -> String {
    let mut page = Page::default();
    page.wrapped("", &format!("{name}: {}", words::contents(report)));
    page.wrapped("", &words::focus(focus, report));
    page.head("Verdict");
    page.wrapped("  ", &words::verdict(report));
    time(&mut page, report);
    efficiencies(&mut page, report);
    waits(&mut page, report);
    path(&mut page, report);
    what_if(&mut page, report);
    if let Some(found) = &report.phases {
        page.head("Phases");
        for sentence in words::phases(found) {
            page.wrapped("  ", &sentence);
        }
    }
    notes(&mut page, report);
    page.text
}

/// Text in lines.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn head(&mut self, title: &str) {
        self.text.push('\n');
        self.line(title);
    }

    /// A text behind `first`, wrapped at the end of the page.
    fn wrapped(&mut self, first: &str, text: &str) {
        for line in terminal::wrapped(first, text, COLUMNS) {
            self.line(&line);
        }
    }
}

fn time(page: &mut Page, report: &PerformanceReport) {
    let time = &report.time;
    page.head("Where the time goes                       all ranks     share");
    for (what, _, seconds) in words::uses(time) {
        let share = time.share(seconds);
        if seconds > 0.0 {
            let bar = "█".repeat((share * 16.0).round() as usize);
            page.line(&format!(
                "  {what:<36} {:>12}  {:>8}  {bar}",
                duration(seconds),
                percent(share)
            ));
        }
    }
}

fn efficiencies(page: &mut Page, report: &PerformanceReport) {
    page.head("Efficiency");
    for (depth, name, value, text) in words::efficiencies(report) {
        let name = format!("{}{name}", "  ".repeat(depth));
        page.line(&format!("  {name:<36} {:>8}  {text}", percent(value)));
    }
}

fn waits(page: &mut Page, report: &PerformanceReport) {
    let shown: Vec<&WaitGroup> = (report.waits.iter())
        .filter(|group| group.share >= MIN_SHARE)
        .collect();
    page.head("Waits, by pattern, call and culprit");
    if shown.is_empty() {
        page.line("  No rank waits for another for long.");
        return;
    }
    for group in shown.iter().take(MAX_LINES) {
        let first = format!(
            "  {:>8}  {:>6}  ",
            duration(group.seconds),
            percent(group.share)
        );
        let longest = &group.longest;
        let text = format!(
            "{}; longest {} at {:.6} s",
            group.words(),
            duration(longest.to - longest.from),
            longest.from
        );
        page.wrapped(&first, &text);
    }
    if shown.len() > MAX_LINES {
        let rest: f64 = shown[MAX_LINES..].iter().map(|group| group.seconds).sum();
        let number = shown.len() - MAX_LINES;
        page.line(&format!(
            "  {:>8}          in {number} more groups",
            duration(rest)
        ));
    }
}

fn path(page: &mut Page, report: &PerformanceReport) {
    page.head("Critical path");
    let ranks: Vec<String> = (report.path_ranks.iter().take(4))
        .filter(|on_path| on_path.share >= 0.01)
        .map(|on_path| {
            let rank = rank(on_path.rank, on_path.thread);
            format!("{rank} {}", percent(on_path.share))
        })
        .collect();
    page.wrapped("  runs on   ", &ranks.join(", "));
    let activities: Vec<String> = (report.path_activities.iter().take(6))
        .filter(|on_path| on_path.share >= 0.01)
        .map(|on_path| {
            let name = on_path.activity.as_deref().unwrap_or("computing");
            format!("{name} {}", percent(on_path.share))
        })
        .collect();
    page.wrapped("  consists of   ", &activities.join(", "));
    let costliest = (report.path_activities.iter())
        .max_by(|a, b| a.imbalance_cost.total_cmp(&b.imbalance_cost));
    if let Some(costly) =
        costliest.filter(|costly| costly.imbalance_cost > 0.02 * report.focus.seconds)
    {
        let name = costly.activity.as_deref().unwrap_or("computing");
        let text = format!(
            "{name} takes {} on the path and {} on the mean of the ranks",
            duration(costly.seconds),
            duration(costly.mean)
        );
        page.wrapped("  imbalance   ", &text);
    }
}

fn what_if(page: &mut Page, report: &PerformanceReport) {
    if report.what_if.is_empty() {
        return;
    }
    page.head("What if");
    for what_if in &report.what_if {
        page.wrapped("  ", &words::what_if(report, what_if));
    }
}

fn notes(page: &mut Page, report: &PerformanceReport) {
    if report.notes.is_empty() {
        return;
    }
    page.head("Not in the trace, or not right in it");
    for note in &report.notes {
        page.wrapped("  ", note);
    }
}
