//! What changed from one trace to another: by activity, region and rank, and the whole in a sentence.

use crate::terminal::table::{TableCell, TextTable};
use analysis::performance::{ActivityInPhases, PerformanceReport};
use std::collections::BTreeMap;
use trace_model::units::{digits, duration};

/// Rows that are shown.
const MAX_ROWS: usize = 15;
/// A change of less than this share of the longer run is not shown.
const MIN_SHARE: f64 = 0.001;
/// A change is beyond noise if it is so many times what it may be by chance.
const CERTAIN: f64 = 3.0;
/// Standard error of a median, in standard deviations divided by the root of the number of values.
const MEDIAN_ERROR: f64 = 1.2533;

/// Two reports of which the second is compared with the first.
#[derive(Clone, Copy)]
pub struct ReportPair<'r> {
    pub before: &'r PerformanceReport,
    pub after: &'r PerformanceReport,
}

/// What changed from one trace to another.
pub struct TraceChanges {
    /// The change in a sentence or two, with the names of the traces.
    pub words: String,
    /// Activities, regions and ranks, each with its title.
    pub tables: [(&'static str, TextTable); 3],
}

impl TraceChanges {
    /// What changed from the first to the second of two traces, each with its name and its report.
    pub fn between(
        before: (&str, &PerformanceReport),
        after: (&str, &PerformanceReport),
    ) -> TraceChanges {
        let pair = ReportPair {
            before: before.1,
            after: after.1,
        };
        TraceChanges {
            words: format!("From {} to {}: {}", before.0, after.0, pair.words()),
            tables: [
                ("What changed, time of all threads", pair.activities()),
                (
                    "Regions, time of all ranks without what is nested",
                    pair.regions(),
                ),
                ("Computing by rank", pair.ranks()),
            ],
        }
    }

    /// Whether nothing changed much.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|(_, table)| table.rows.is_empty())
    }
}

/// A part of a whole; nothing of nothing.
pub fn part(of: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| of / whole)
}

impl<'r> ReportPair<'r> {
    /// Seconds below which a change is not shown.
    fn least(self) -> f64 {
        MIN_SHARE * self.before.time.all.max(self.after.time.all)
    }

    /// What became of the length, and of the mean time of a rank by use: a sentence or two.
    pub fn words(self) -> String {
        let [before, after] = [self.before, self.after].map(|report| report.focus.seconds);
        let factor = |of: f64, to: f64| digits(part(of, to).unwrap_or(f64::INFINITY));
        let speed = if (after - before).abs() < 0.005 * before {
            "as fast".to_owned()
        } else if after < before {
            format!("{} times as fast", factor(before, after))
        } else {
            format!("{} times as slow", factor(after, before))
        };
        let mut text = format!(
            "{} in place of {}: {speed}.",
            duration(after),
            duration(before)
        );
        let means = |report: &PerformanceReport| {
            let ranks = report.ranks.max(1) as f64;
            report
                .time
                .uses()
                .map(|(name, seconds)| (name, seconds / ranks))
        };
        let pairs = means(self.before).into_iter().zip(means(self.after));
        let mut changes: Vec<(&str, f64)> = pairs
            .map(|((name, before), (_, after))| (name, after - before))
            .filter(|(_, change)| change.abs() >= MIN_SHARE * before.max(after))
            .collect();
        changes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let changes: Vec<String> = changes
            .into_iter()
            .map(|(name, change)| {
                let more = if change > 0.0 { "more" } else { "less" };
                format!("{} {more} {name}", duration(change.abs()))
            })
            .collect();
        if !changes.is_empty() {
            text.push_str(&format!(" A rank has on average {}.", changes.join(", ")));
        }
        text
    }

    /// What takes more or less time, the largest change first. Where both traces have phases, a phase's median stands beside it, and whether
    /// the change of that is beyond what it may be by chance.
    pub fn activities(self) -> TextTable {
        let columns = [
            "activity",
            "before_s",
            "after_s",
            "change_s",
            "ratio",
            "phase_before_s",
            "phase_after_s",
            "beyond_noise",
        ];
        let mut table = TextTable::new("changes", &columns);
        table.rare = vec!["phase_before_s", "phase_after_s"];
        let mut times: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for (nth, report) in [self.before, self.after].into_iter().enumerate() {
            for activity in &report.activities {
                let name = activity.activity.as_deref().unwrap_or("computing");
                times.entry(name).or_default()[nth] += activity.seconds;
            }
        }
        for (name, [before, after]) in self.largest(times) {
            let phases = [self.before, self.after].map(|report| in_phases(report, name));
            let medians = phases.map(|phases| phases.map(|(activity, _)| activity.median));
            let certain = match phases {
                [Some(before), Some(after)] => TableCell::Text(
                    if is_beyond_noise(before, after) {
                        "yes"
                    } else {
                        "no"
                    }
                    .into(),
                ),
                _ => TableCell::None,
            };
            let mut row = vec![TableCell::Text(name.to_owned())];
            row.extend(change(before, after));
            row.extend(medians.map(|median| TableCell::optional(median, TableCell::Seconds)));
            row.push(certain);
            table.rows.push(row);
        }
        table.without_empty(&["phase_before_s", "phase_after_s", "beyond_noise"])
    }

    /// Regions that take more or less time, without those nested in them, the largest change first.
    pub fn regions(self) -> TextTable {
        let columns = ["region", "before_s", "after_s", "change_s", "ratio"];
        let mut table = TextTable::new("regions", &columns);
        let mut times: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
        for (nth, report) in [self.before, self.after].into_iter().enumerate() {
            for region in &report.by_region {
                if let Some(name) = region.region.as_deref() {
                    times.entry(name).or_default()[nth] += region.time.all;
                }
            }
        }
        for (name, [before, after]) in self.largest(times) {
            let mut row = vec![TableCell::Text(name.to_owned())];
            row.extend(change(before, after));
            table.rows.push(row);
        }
        table
    }

    /// Ranks that compute more or less than before, the largest change first; of runs on the same number of ranks.
    pub fn ranks(self) -> TextTable {
        let columns = ["rank", "before_s", "after_s", "change_s", "ratio"];
        let mut table = TextTable::new("ranks", &columns);
        if self.before.ranks != self.after.ranks {
            return table;
        }
        let mut times: BTreeMap<i32, [f64; 2]> = BTreeMap::new();
        for (nth, report) in [self.before, self.after].into_iter().enumerate() {
            for rank in &report.by_rank {
                times.entry(rank.rank).or_default()[nth] += rank.computing;
            }
        }
        for (rank, [before, after]) in self.largest(times) {
            let mut row = vec![TableCell::Number(rank.into())];
            row.extend(change(before, after));
            table.rows.push(row);
        }
        table
    }

    /// Entries that changed most, the largest change first.
    fn largest<K: Ord>(self, times: BTreeMap<K, [f64; 2]>) -> Vec<(K, [f64; 2])> {
        let least = self.least();
        let mut times: Vec<(K, [f64; 2])> = times.into_iter().collect();
        times.retain(|(_, [before, after])| (after - before).abs() >= least);
        times.sort_by(|(_, a), (_, b)| (b[1] - b[0]).abs().total_cmp(&(a[1] - a[0]).abs()));
        times.truncate(MAX_ROWS);
        times
    }
}

fn change(before: f64, after: f64) -> [TableCell; 4] {
    [
        TableCell::Seconds(before),
        TableCell::Seconds(after),
        TableCell::Seconds(after - before),
        TableCell::optional(part(after, before), TableCell::Real),
    ]
}

/// An activity in the phases of a trace, and the number of these.
fn in_phases<'r>(
    report: &'r PerformanceReport,
    name: &str,
) -> Option<(&'r ActivityInPhases, usize)> {
    let phases = report.phases.as_ref()?;
    let is_it = |of: &&ActivityInPhases| of.activity.as_deref().unwrap_or("computing") == name;
    Some((phases.activities.iter().find(is_it)?, phases.phases.len()))
}

/// Whether medians over phases differ by more than they may by chance.
fn is_beyond_noise(before: (&ActivityInPhases, usize), after: (&ActivityInPhases, usize)) -> bool {
    let error = |(activity, phases): (&ActivityInPhases, usize)| {
        MEDIAN_ERROR * activity.spread / (phases.max(1) as f64).sqrt()
    };
    let noise = error(before).hypot(error(after));
    (after.0.median - before.0.median).abs() > CERTAIN * noise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_over_phases_is_noise() {
        let activity = |median, spread| ActivityInPhases {
            activity: None,
            median,
            spread,
        };
        let beyond = |before: &ActivityInPhases, after: &ActivityInPhases, phases| {
            is_beyond_noise((before, phases), (after, phases))
        };
        let (before, after) = (activity(1.0, 0.2), activity(1.1, 0.2));
        // 3 times 1.2533 times 0.2 times the root of 2/n is 0.0996 of 114 phases.
        assert!(!beyond(&before, &after, 113));
        assert!(beyond(&before, &after, 114));
        assert!(!beyond(&before, &before, 10));
        assert!(beyond(&activity(1.0, 0.0), &activity(1.001, 0.0), 4));
    }
}
