//! What a report says in sentences, for the text and for the page.

use super::focus::FocusChoice;
use crate::terminal::units::counted;
use analysis::performance::words::{did, rank};
use analysis::performance::{PerformanceReport, ProgramPhases, TimeByUse, WhatIf, median};
use trace_model::units::{digits, duration, percent};

/// Efficiencies above this need no attention.
const GOOD: f64 = 0.95;
/// A trend of phases smaller than this is not told.
const MIN_TREND: f64 = 0.05;
/// A trend of fewer phases than this is not told.
const MIN_PHASES_OF_TREND: usize = 8;
/// Phases out of the ordinary that are told.
const MAX_OUTLIERS: usize = 3;
/// Waits or file operations that take so many times as long as the other are told alone.
const MUCH: f64 = 10.0;
/// A replay that is less than so many times as fast gains nothing that could be told from noise.
const LEAST_SPEEDUP: f64 = 1.005;

/// What is in the trace: ranks, calls, messages.
pub fn contents(report: &PerformanceReport) -> String {
    let mut about = vec![counted(report.ranks as u64, "rank")];
    if report.threads > report.ranks {
        about.push(counted(report.threads as u64, "thread"));
    }
    if report.hosts > 0 {
        about.push(counted(report.hosts as u64, "host"));
    }
    about.push(counted(report.calls, "MPI call"));
    about.push(counted(report.messages, "message"));
    about.join(", ")
}

/// What the report is about.
pub fn focus(choice: &FocusChoice, report: &PerformanceReport) -> String {
    let focus = &report.focus;
    let length = duration(focus.seconds);
    if focus.is_between_init_and_finalize {
        return format!(
            "{length} between MPI_Init and MPI_Finalize; {} before, {} after, not looked at.",
            duration(focus.before),
            duration(focus.after)
        );
    }
    let named = match choice.words() {
        words if words.is_empty() => words,
        words => words + ": ",
    };
    let ranges = match focus.ranges {
        1 => String::new(),
        number => format!("{number} ranges of time "),
    };
    let (from, to) = (focus.from, focus.to);
    format!("{named}{length}, {ranges}from {from:.6} s to {to:.6} s of the trace.")
}

/// The largest loss in a sentence or two.
pub fn verdict(report: &PerformanceReport) -> String {
    let time = &report.time;
    let share = |seconds| time.share(seconds);
    let has_threads = report.threads > report.ranks;
    let mut sentences = Vec::new();
    sentences.extend(report.lost_ranks());
    sentences.extend(report.lesser_part());
    sentences.extend(report.unmatched_messages());
    let who = match has_threads {
        true => "The main threads of the ranks",
        false => "The ranks",
    };
    let computing = percent(share(time.computing));
    sentences.push(format!("{who} compute {computing} of the time."));
    let unseen = report.unseen_share();
    let is_unsure = unseen.is_some();
    sentences.extend(unseen.map(|unseen| format!("Calls may be missing in {unseen} of it.")));
    let in_threads = report.waiting_of_other_threads();
    let losses = [
        (time.waiting, "waiting for each other"),
        (time.transfer, "transfer and overhead in MPI"),
        (time.files, "files"),
    ];
    let largest = losses.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let is_waiting = |seconds| seconds == time.waiting;
    match largest.filter(|(seconds, _)| share(*seconds) >= 1.0 - GOOD) {
        Some((seconds, what)) => {
            let open = report.in_unfinished;
            let is_open = seconds == time.transfer && open > 0.05 * seconds;
            let open = is_open.then(|| {
                let open = duration(open);
                format!(", {open} of it in calls that had not returned")
            });
            sentences.push(format!(
                "The largest loss is {what}: {} ({}){}.",
                duration(seconds),
                percent(share(seconds)),
                open.unwrap_or_default()
            ));
            sentences.extend(report.first_cause().filter(|_| is_waiting(seconds)));
        }
        None if is_unsure || in_threads.is_some() => {}
        None => sentences.push("Nothing else takes much of it.".into()),
    }
    sentences.extend(in_threads.map(|seconds| {
        let waiting = duration(seconds);
        format!("Other threads of the ranks wait for {waiting} in all, which is no part of that.")
    }));
    sentences.extend(imbalance(report, has_threads));
    sentences.join(" ")
}

/// The sentence about the rank that computes longest, if that matters.
fn imbalance(report: &PerformanceReport, has_threads: bool) -> Option<String> {
    let efficiencies = &report.efficiencies;
    let whose = match has_threads {
        true => "The main thread of rank",
        false => "Rank",
    };
    let is_told = efficiencies.load_balance < GOOD && report.ranks > 1;
    is_told.then(|| {
        let mean = efficiencies.mean_computing.max(f64::MIN_POSITIVE);
        format!(
            "{whose} {} computes {} times as long as the mean.",
            efficiencies.longest_computing_rank,
            digits(efficiencies.longest_computing / mean)
        )
    })
}

/// Efficiencies as a tree: depth, name, value, and what it is.
pub fn efficiencies(report: &PerformanceReport) -> [(usize, &'static str, f64, &'static str); 5] {
    let found = &report.efficiencies;
    [
        (
            0,
            "parallel efficiency",
            found.parallel,
            "mean computing / time",
        ),
        (
            1,
            "load balance",
            found.load_balance,
            "mean / longest computing",
        ),
        (
            1,
            "communication efficiency",
            found.communication,
            "longest computing / time",
        ),
        (
            2,
            "serialisation",
            found.serialisation,
            serialising(&report.time),
        ),
        (2, "transfer", found.transfer, "data on its way, MPI itself"),
    ]
}

/// What a low serialisation efficiency comes from: the replay in which data moves in no time has waits and file operations, and both lower it.
fn serialising(time: &TimeByUse) -> &'static str {
    let (waiting, files) = (time.waiting, time.files);
    if waiting <= 0.0 && files <= 0.0 {
        "no rank is seen to wait"
    } else if files > MUCH * waiting {
        "file operations take time"
    } else if waiting > MUCH * files {
        "ranks wait for each other's work"
    } else {
        "ranks wait, files take time"
    }
}

/// Uses of time: what each is, its short name, seconds.
pub fn uses(time: &TimeByUse) -> [(&'static str, &'static str, f64); 4] {
    time.uses().map(|(name, seconds)| {
        let words = match name {
            "waiting" => "waiting for other ranks",
            "transfer" => "MPI: transfer and overhead",
            other => other,
        };
        (words, name, seconds)
    })
}

/// What a replay under another assumption shows.
pub fn what_if(report: &PerformanceReport, what_if: &WhatIf) -> String {
    if what_if.speedup < LEAST_SPEEDUP {
        return format!("{}: no faster", what_if.assumption);
    }
    format!(
        "{}: {} in place of {}, {} times as fast",
        what_if.assumption,
        duration(what_if.seconds),
        duration(report.focus.seconds),
        digits(what_if.speedup)
    )
}

/// Iterations of the main loop: how many, how long, and which are out of the ordinary; a sentence each.
pub fn phases(found: &ProgramPhases) -> Vec<String> {
    let of = match &found.lengths.consist_of[..] {
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, second, rest @ ..] => format!("{first}, {second} and {} more", rest.len()),
        [] => String::new(),
    };
    let mut sentences = vec![format!(
        "{} of {of}: {} each (median), {} of the time, median parallel efficiency {}",
        counted(found.lengths.iterations as u64, "iteration"),
        duration(found.lengths.median_seconds / found.lengths.iterations_each as f64),
        percent(found.lengths.covered),
        percent(found.median_parallel)
    )];
    if let Some(until) = found.lengths.looked_until {
        sentences.push(format!(
            "they are looked for up to {until:.6} s only, in the first million regions and calls of the lowest rank"
        ));
    }
    let is_clear =
        (found.lengths.trend * found.lengths.median_seconds).abs() > found.lengths.spread_seconds;
    if found.phases.len() >= MIN_PHASES_OF_TREND
        && is_clear
        && found.lengths.trend.abs() >= MIN_TREND
    {
        let trend = found.lengths.trend;
        let change = match trend {
            1.0.. => format!("{} times as long as", digits(1.0 + trend)),
            0.0.. => format!("{} longer than", percent(trend)),
            _ => format!("{} less than", percent(-trend)),
        };
        sentences.push(format!("the last quarter of them takes {change} the first"));
    }
    let outliers = found.lengths.outliers.iter().take(MAX_OUTLIERS);
    sentences.extend(outliers.map(|&number| outlier(found, number)));
    if found.lengths.outliers.len() > MAX_OUTLIERS {
        let number = found.lengths.outliers.len() - MAX_OUTLIERS;
        sentences.push(format!("{number} more take much longer than the median"));
    }
    sentences
}

/// A phase that takes much longer than the others, and what takes longer in it.
fn outlier(found: &ProgramPhases, number: usize) -> String {
    let phase = &found.phases[number - 1];
    let median = |nth: usize| {
        let phases = found.phases.iter();
        let mut values: Vec<f64> = phases.map(|phase| phase.time.uses()[nth].1).collect();
        median(&mut values)
    };
    let uses = phase.time.uses().into_iter().enumerate();
    let more = uses.map(|(nth, (name, seconds))| (name, seconds - median(nth)));
    let most = more.max_by(|a, b| a.1.total_cmp(&b.1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::performance::{PerformanceCollector, PhaseLengths, RootCauseSum, SpanTimes};
    use trace_model::Definitions;

    /// Of so many threads of two ranks: seconds of computing and waiting, and of waiting that is due to one of them.
    fn report(threads: usize, computing: f64, waiting: f64, caused: f64) -> PerformanceReport {
        let definitions = Definitions::default();
        let empty = PerformanceCollector::new(&definitions, &Default::default()).finish();
        PerformanceReport {
            ranks: 2,
            threads,
            time: TimeByUse {
                all: 100.0,
                computing,
                waiting,
                transfer: 100.0 - computing - waiting,
                files: 0.0,
            },
            root_causes: vec![RootCauseSum {
                rank: 1,
                thread: 0,
                activity: None,
                seconds: caused,
                share: caused / 100.0,
                count: 1,
            }],
            ..empty
        }
    }

    #[test]
    fn a_verdict_does_not_gainsay_the_waits_of_other_threads() {
        let one = verdict(&report(2, 60.0, 40.0, 40.0));
        assert!(
            one.contains("100 % of the waiting is due to rank 1"),
            "{one}"
        );
        let many = verdict(&report(4, 60.0, 20.0, 80.0));
        let all = "100 % of the waiting of all threads is due to rank 1";
        assert!(many.contains(all), "{many}");
        assert!(
            many.contains("Other threads of the ranks wait for 60.0 s"),
            "{many}"
        );
        let others = verdict(&report(4, 99.0, 0.0, 50.0));
        assert!(!others.contains("Nothing else"), "{others}");
        assert!(others.contains("wait for 50.0 s"), "{others}");
        let none = verdict(&report(4, 99.0, 0.0, 0.0));
        assert!(none.contains("Nothing else takes much of it."), "{none}");
    }

    /// One rank that computes and writes a file waits for nobody.
    #[test]
    fn serialisation_is_told_by_what_lowers_it() {
        let told = |waiting: f64, files: f64| {
            let mut report = report(2, 60.0, waiting, 0.0);
            report.time.files = files;
            efficiencies(&report)[3].3
        };
        let waits = "ranks wait for each other's work";
        let files = "file operations take time";
        assert_eq!(told(30.0, 0.0), waits);
        assert_eq!(told(30.0, 0.1), waits);
        assert_eq!(told(0.0, 30.0), files);
        assert_eq!(told(0.1, 30.0), files);
        assert_eq!(told(10.0, 20.0), "ranks wait, files take time");
        assert_eq!(told(0.0, 0.0), "no rank is seen to wait");
    }

    /// A trend is told as a share of the first quarter, and one of more than twice as long as a factor. What is not looked at is told.
    #[test]
    fn phases_are_told_with_their_trend_and_their_end() {
        let told = |trend: f64, looked_until: Option<f64>| {
            let empty = report(2, 60.0, 40.0, 40.0);
            let found = ProgramPhases {
                lengths: PhaseLengths {
                    consist_of: vec!["MPI_Bcast".into()],
                    parts: 1.0,
                    iterations: 8,
                    iterations_each: 1,
                    covered: 0.5,
                    median_seconds: 1.0,
                    spread_seconds: 0.0,
                    trend,
                    outliers: Vec::new(),
                    looked_until,
                    ranges: Vec::new(),
                },
                median_parallel: 0.25,
                activities: Vec::new(),
                phases: vec![empty_phase(&empty); 8],
            };
            phases(&found)
        };
        let first = "8 iterations of MPI_Bcast: 1.00 s each (median), 50.0 % of the time, median parallel efficiency 25.0 %";
        assert_eq!(told(0.0, None), [first]);
        let trends = [-0.5, 0.5, 4349.0].map(|trend| told(trend, None)[1].clone());
        let quarter = "the last quarter of them takes";
        assert_eq!(trends[0], format!("{quarter} 50.0 % less than the first"));
        assert_eq!(trends[1], format!("{quarter} 50.0 % longer than the first"));
        assert_eq!(
            trends[2],
            format!("{quarter} 4350 times as long as the first")
        );
        assert!(told(0.0, Some(2.5))[1].starts_with("they are looked for up to 2.500000 s only"));
    }

    fn empty_phase(report: &PerformanceReport) -> SpanTimes {
        SpanTimes {
            from: 0.0,
            to: 1.0,
            seconds: 1.0,
            time: report.time,
            efficiencies: report.efficiencies,
            cause_rank: None,
            cause_activity: None,
            path_rank: None,
        }
    }

    /// What takes long may be a call that never returned, in which nothing was transferred.
    #[test]
    fn a_verdict_tells_what_calls_that_had_not_returned_have_of_the_loss() {
        let mut report = report(2, 60.0, 10.0, 10.0);
        let told = verdict(&report);
        assert!(
            told.ends_with("transfer and overhead in MPI: 30.0 s (30.0 %)."),
            "{told}"
        );
        report.in_unfinished = 25.0;
        let told = verdict(&report);
        let open = "30.0 s (30.0 %), 25.0 s of it in calls that had not returned.";
        assert!(told.ends_with(open), "{told}");
    }

    #[test]
    fn a_verdict_does_not_blame_one_of_many() {
        let mut report = report(2, 60.0, 40.0, 10.0);
        let cause = report.root_causes[0].clone();
        let mut of = |rank: i32, seconds: f64| {
            let mut other = cause.clone();
            (other.rank, other.seconds) = (rank, seconds);
            report.root_causes.push(other);
            verdict(&report)
        };
        // The same rank, in another region.
        let one = of(1, 9.9);
        assert!(one.ends_with("rank 1, which was computing."), "{one}");
        let two = of(0, 9.8);
        assert!(
            two.contains("; about as much is due to another one."),
            "{two}"
        );
        let many = of(2, 9.7);
        assert!(many.contains("due to each of 2 others."), "{many}");
        assert!(of(3, 5.0).contains("due to each of 2 others."));
    }

    #[test]
    fn a_replay_that_gains_nothing_is_told_as_that() {
        let report = report(2, 60.0, 40.0, 40.0);
        let told = |speedup| {
            let seconds = 50.0 / speedup;
            let assumption = "all ranks rest".to_owned();
            what_if(
                &report,
                &WhatIf {
                    assumption,
                    seconds,
                    speedup,
                },
            )
        };
        assert_eq!(told(1.0), "all ranks rest: no faster");
        assert!(told(1.01).ends_with("1.01 times as fast"), "{}", told(1.01));
    }

    #[test]
    fn a_verdict_tells_what_it_is_not_about() {
        let mut report = report(2, 97.0, 3.0, 3.0);
        report.unseen = 48.5;
        let unsure = verdict(&report);
        assert!(
            unsure.contains("Calls may be missing in 50.0 % of it."),
            "{unsure}"
        );
        assert!(!unsure.contains("Nothing else"), "{unsure}");
        assert!(!unsure.contains("MPI_Finalize"), "{unsure}");
        report.focus.is_between_init_and_finalize = true;
        (report.focus.seconds, report.focus.after) = (1.0, 9.0);
        let early = verdict(&report);
        assert!(early.starts_with("This is about 1.00 s only"), "{early}");
        assert!(!early.contains("MPI_Init"), "{early}");
        // As where worlds join: the ranks of the second one start while the first works.
        report.focus.init_spread = 5.5;
        let both = verdict(&report);
        let words = "only: the last MPI_Init ended 5.50 s after the first one, and a rank came to MPI_Finalize 9.00 s before the end of the run. ";
        assert!(both.contains(words), "{both}");
        report.focus.after = 0.5;
        let late = verdict(&report);
        assert!(late.contains("5.50 s after the first one. "), "{late}");
        // Start-up of all ranks together is not a part of the run that is missed.
        (report.focus.init_spread, report.focus.before) = (0.1, 5.0);
        let all = verdict(&report);
        assert!(!all.contains("This is about"), "{all}");
    }
}
