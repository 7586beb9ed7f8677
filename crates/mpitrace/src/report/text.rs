//! The report for people: one screen of 80 columns.

use super::focus::FocusChoice;
use crate::terminal;
use crate::terminal::units::counted;
use analysis::performance::words::{did, rank};
use analysis::performance::{PerformanceReport, ProgramPhases, TimeByUse, WaitGroup};
use trace_model::units::{digits, duration, percent};

/// Columns of the page.
const COLUMNS: usize = 80;
/// Lines of a list; the rest is in the JSON.
const MAX_LINES: usize = 8;
/// What takes less than this share is not listed.
const MIN_SHARE: f64 = 0.001;
/// A trend of phases smaller than this is not told.
const MIN_TREND: f64 = 0.05;
/// A trend of fewer phases than this is not told.
const MIN_PHASES_OF_TREND: usize = 8;
/// Phases out of the ordinary that are told.
const MAX_OUTLIERS: usize = 3;
/// Efficiencies above this need no attention.
const GOOD: f64 = 0.95;

/// All of a report on the trace of this name, which is about this part of it.
pub fn text(name: &str, focus: &FocusChoice, report: &PerformanceReport) -> String {
    let mut page = Page::default();
    head(&mut page, name, focus, report);
    verdict(&mut page, report);
    time(&mut page, report);
    efficiencies(&mut page, report);
    waits(&mut page, report);
    path(&mut page, report);
    what_if(&mut page, report);
    if let Some(found) = &report.phases {
        phases(&mut page, found);
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

fn head(page: &mut Page, name: &str, choice: &FocusChoice, report: &PerformanceReport) {
    let focus = &report.focus;
    let mut about = vec![counted(report.ranks as u64, "rank")];
    if report.threads > report.ranks {
        about.push(counted(report.threads as u64, "thread"));
    }
    if report.hosts > 0 {
        about.push(counted(report.hosts as u64, "host"));
    }
    about.push(counted(report.calls, "MPI call"));
    about.push(counted(report.messages, "message"));
    page.wrapped("", &format!("{name}: {}", about.join(", ")));
    let length = duration(focus.seconds);
    let text = match focus.is_between_init_and_finalize {
        true => format!(
            "{length} between MPI_Init and MPI_Finalize; {} before, {} after, not looked at.",
            duration(focus.before),
            duration(focus.after)
        ),
        false => format!(
            "{}{length}, {}from {:.6} s to {:.6} s of the trace.",
            match choice.words() {
                words if words.is_empty() => words,
                words => words + ": ",
            },
            match focus.ranges {
                1 => String::new(),
                number => format!("{number} ranges of time "),
            },
            focus.from,
            focus.to
        ),
    };
    page.wrapped("", &text);
}

/// The largest loss in a sentence or two.
fn verdict(page: &mut Page, report: &PerformanceReport) {
    let time = &report.time;
    let efficiencies = &report.efficiencies;
    let share = |seconds| time.share(seconds);
    page.head("Verdict");
    let mut text = format!(
        "The ranks compute {} of the time.",
        percent(share(time.computing))
    );
    let losses = [
        (time.waiting, "waiting for each other"),
        (time.transfer, "transfer and overhead in MPI"),
        (time.files, "files"),
    ];
    let largest = losses.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    match largest {
        Some((seconds, _)) if share(seconds) < 1.0 - GOOD => {
            text.push_str(" Nothing else takes much of it.");
        }
        Some((seconds, what)) => {
            text.push_str(&format!(
                " The largest loss is {what}: {} ({}).",
                duration(seconds),
                percent(share(seconds))
            ));
            let cause = report
                .root_causes
                .first()
                .filter(|_| seconds == time.waiting);
            if let Some(cause) = cause {
                text.push_str(&format!(" {}", cause.words(time.waiting)));
            }
        }
        None => {}
    }
    if efficiencies.load_balance < GOOD && report.ranks > 1 {
        text.push_str(&format!(
            " Rank {} computes {} times as long as the mean.",
            efficiencies.longest_computing_rank,
            digits(
                efficiencies.longest_computing / efficiencies.mean_computing.max(f64::MIN_POSITIVE)
            )
        ));
    }
    page.wrapped("  ", &text);
}

fn time(page: &mut Page, report: &PerformanceReport) {
    let time = &report.time;
    page.head("Where the time goes                       all ranks     share");
    for (what, seconds) in [
        ("computing", time.computing),
        ("waiting for other ranks", time.waiting),
        ("MPI: transfer and overhead", time.transfer),
        ("files", time.files),
    ] {
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
    let found = &report.efficiencies;
    page.head("Efficiency");
    let mut line = |indent: usize, name: &str, value: f64, text: &str| {
        let name = format!("{}{name}", "  ".repeat(indent));
        page.line(&format!("  {name:<36} {:>8}  {text}", percent(value)));
    };
    line(
        0,
        "parallel efficiency",
        found.parallel,
        "mean computing / time",
    );
    line(
        1,
        "load balance",
        found.load_balance,
        "mean / longest computing",
    );
    line(
        1,
        "communication efficiency",
        found.communication,
        "longest computing / time",
    );
    line(
        2,
        "serialisation",
        found.serialisation,
        "ranks wait for each other's work",
    );
    line(2, "transfer", found.transfer, "data on its way, MPI itself");
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
        let text = format!(
            "{}: {} in place of {}, {} times as fast",
            what_if.assumption,
            duration(what_if.seconds),
            duration(report.focus.seconds),
            digits(what_if.speedup)
        );
        page.wrapped("  ", &text);
    }
}

/// Iterations of the main loop: how many, how long, and which are out of the ordinary.
fn phases(page: &mut Page, found: &ProgramPhases) {
    page.head("Phases");
    let of = match &found.consist_of[..] {
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
        [] => String::new(),
    };
    let text = format!(
        "{} of {of}: {} each (median), {} of the time, parallel efficiency {}",
        counted(found.iterations as u64, "iteration"),
        duration(found.median_seconds / found.iterations_each as f64),
        percent(found.covered),
        percent(found.median_parallel)
    );
    page.wrapped("  ", &text);
    let is_clear = (found.trend * found.median_seconds).abs() > found.spread_seconds;
    if found.phases.len() >= MIN_PHASES_OF_TREND && is_clear && found.trend.abs() >= MIN_TREND {
        let text = format!(
            "the last quarter of them takes {} {} than the first",
            percent(found.trend.abs()),
            if found.trend > 0.0 { "longer" } else { "less" }
        );
        page.wrapped("  ", &text);
    }
    for &number in found.outliers.iter().take(MAX_OUTLIERS) {
        page.wrapped("  ", &outlier(found, number));
    }
    if found.outliers.len() > MAX_OUTLIERS {
        let number = found.outliers.len() - MAX_OUTLIERS;
        page.line(&format!("  {number} more take much longer than the median"));
    }
}

/// A phase that takes much longer than the others, and what takes longer in it.
fn outlier(found: &ProgramPhases, number: usize) -> String {
    let phase = &found.phases[number - 1];
    let median = |value: fn(&TimeByUse) -> f64| {
        let mut values: Vec<f64> = (found.phases.iter())
            .map(|phase| value(&phase.time))
            .collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let uses: [(&str, fn(&TimeByUse) -> f64); 4] = [
        ("computing", |time| time.computing),
        ("waiting", |time| time.waiting),
        ("transfer", |time| time.transfer),
        ("files", |time| time.files),
    ];
    let more = uses.map(|(name, value)| (name, value(&phase.time) - median(value)));
    let most = more.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (use_name, seconds) = most.unwrap_or(("", 0.0));
    let mut text = format!(
        "phase {number} at {:.6} s takes {}: {} more {use_name} of all ranks",
        phase.from,
        duration(phase.seconds),
        duration(seconds)
    );
    if let (Some(cause), "waiting") = (phase.cause_rank, use_name) {
        text.push_str(&format!(
            ", for {}, {}",
            rank(cause, 0),
            did(phase.cause_activity.as_deref())
        ));
    }
    text
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
