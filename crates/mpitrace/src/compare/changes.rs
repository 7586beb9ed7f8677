//! What changed from one trace to another: by activity, region and rank, and the whole in a sentence.

use crate::terminal::table::{TableCell, TextTable};
use analysis::performance::{ActivityInPhases, PerformanceReport};
use std::collections::BTreeMap;
use trace_model::units::{digits, duration};

/// Rows of a table that are shown to people.
const MAX_ROWS: usize = 15;
/// A change of less than this share of the longer run is not shown.
const MIN_SHARE: f64 = 0.001;
/// A change is beyond noise if it is so many times what it may be by chance.
const CERTAIN: f64 = 3.0;
/// Iterations with so many times as many regions and calls are not the same.
const MANY_MORE: f64 = 1.5;
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
    /// Activities, regions and ranks, each with its title and with all that changed.
    pub tables: [(&'static str, TextTable); 3],
}

/// The rows of a table that changed most.
pub struct ShownChanges {
    pub title: &'static str,
    /// The table with these rows only.
    pub table: TextTable,
    /// Number of the rows that are left out.
    left_out: usize,
}

impl ShownChanges {
    /// A sentence about the rows that are left out, if there are any.
    pub fn rest(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("1 more changed less.".to_owned()),
            number => Some(format!("{number} more changed less.")),
        }
    }
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

    /// The tables for people: those that have rows, and the largest changes of each.
    pub fn shown(&self) -> impl Iterator<Item = ShownChanges> {
        let tables = self.tables.iter();
        tables
            .filter(|(_, table)| !table.rows.is_empty())
            .map(|(title, whole)| {
                let mut table = whole.clone();
                table.rows.truncate(MAX_ROWS);
                ShownChanges {
                    title,
                    left_out: whole.rows.len() - table.rows.len(),
                    table,
                }
            })
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
        let mut text = format!("{} in place of {}", duration(after), duration(before));
        if (after - before).abs() <= 0.005 * before {
            text.push_str(": as fast");
        } else if let Some(factor) = part(before, after).filter(|_| after < before) {
            text.push_str(&format!(": {} times as fast", digits(factor)));
        } else if let Some(factor) = part(after, before).filter(|_| after > before) {
            text.push_str(&format!(": {} times as slow", digits(factor)));
        }
        text.push('.');
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
            .filter(|(_, change)| {
                change.abs() > 0.0 && change.abs() >= MIN_SHARE * before.max(after)
            })
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

    /// What takes more or less time, the largest change first. Where both traces have phases of the same regions and calls, the median of an iteration
    /// stands beside it, and whether the change of that is beyond what it may be by chance.
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
        let are_alike = self.has_alike_phases();
        for (name, [before, after]) in self.largest(times) {
            let phases = [self.before, self.after];
            let phases = phases.map(|report| in_phases(report, name).filter(|_| are_alike));
            let medians = phases.map(|phases| phases.map(|phases| phases.median));
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

    /// Whether an iteration is the same in both traces: of the same regions and calls, and about as many of them. Two turns of a loop may be one
    /// iteration in one of the traces only.
    fn has_alike_phases(self) -> bool {
        let lengths = |report: &'r PerformanceReport| report.phases.as_ref().map(|it| &it.lengths);
        let both = lengths(self.before).zip(lengths(self.after));
        both.is_some_and(|(before, after)| {
            let more = before.parts.max(after.parts) / before.parts.min(after.parts);
            before.consist_of == after.consist_of && more < MANY_MORE
        })
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
        times.retain(|(_, [before, after])| {
            let change = (after - before).abs();
            change > 0.0 && change >= least
        });
        times.sort_by(|(_, a), (_, b)| (b[1] - b[0]).abs().total_cmp(&(a[1] - a[0]).abs()));
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

/// Time of an activity in the iterations of a trace.
#[derive(Clone, Copy, Debug)]
struct TimeInIterations {
    /// Median over phases of the mean of their iterations, seconds.
    median: f64,
    /// Spread of these means, seconds.
    spread: f64,
    /// Number of phases.
    phases: usize,
}

fn in_phases(report: &PerformanceReport, name: &str) -> Option<TimeInIterations> {
    let phases = report.phases.as_ref()?;
    let is_it = |of: &&ActivityInPhases| of.activity.as_deref().unwrap_or("computing") == name;
    let activity = phases.activities.iter().find(is_it)?;
    let each = phases.lengths.iterations_each.max(1) as f64;
    Some(TimeInIterations {
        median: activity.median / each,
        spread: activity.spread / each,
        phases: phases.phases.len(),
    })
}

/// Whether medians over phases differ by more than they may by chance.
fn is_beyond_noise(before: TimeInIterations, after: TimeInIterations) -> bool {
    let error = |of: TimeInIterations| MEDIAN_ERROR * of.spread / (of.phases.max(1) as f64).sqrt();
    let noise = error(before).hypot(error(after));
    (after.median - before.median).abs() > CERTAIN * noise
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::performance::RankTimes;

    #[test]
    fn spread_over_phases_is_noise() {
        let beyond = |before: (f64, f64), after: (f64, f64), phases| {
            let of = |(median, spread)| TimeInIterations {
                median,
                spread,
                phases,
            };
            is_beyond_noise(of(before), of(after))
        };
        let (before, after) = ((1.0, 0.2), (1.1, 0.2));
        // 3 times 1.2533 times 0.2 times the root of 2/n is 0.0996 of 114 phases.
        assert!(!beyond(before, after, 113));
        assert!(beyond(before, after, 114));
        assert!(!beyond(before, before, 10));
        assert!(beyond((1.0, 0.0), (1.001, 0.0), 4));
    }

    /// The report of iterations that compute for two ticks and have as many calls of MPI_Allreduce each, the last one of which takes a tick.
    fn report_of(iterations: u32, calls_each: u32) -> PerformanceReport {
        use analysis::performance::{PerformanceOptions, analyse_in_order};
        use trace_model::{Category, Color, Definitions, Drawable, Line, Topology, Vertex};
        let names = ["step", "MPI_Allreduce"];
        let categories = (0..)
            .zip(names)
            .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::WHITE));
        let definitions = Definitions {
            categories: categories.collect(),
            lines: (0..2).map(|rank| Line::of_thread(rank, rank, 0)).collect(),
            ..Definitions::default()
        };
        let options = PerformanceOptions::default();
        let made = analyse_in_order(&definitions, &options, |put| {
            for nth in 0..iterations {
                let begin = f64::from(nth * 4);
                let calls = (0..calls_each).map(|call| {
                    let at = begin + 2.0 + f64::from(call) / f64::from(calls_each);
                    (1, at, at + 1.0 / f64::from(calls_each))
                });
                for (category, from, to) in std::iter::once((0, begin, begin + 2.0)).chain(calls) {
                    for line in 0..2 {
                        let vertices = [from, to].map(|time| Vertex { time, line });
                        put(&Drawable {
                            topology: Topology::State,
                            category,
                            info: &[],
                            vertices: &vertices,
                        });
                    }
                }
            }
            Ok::<(), std::convert::Infallible>(())
        });
        match made {
            Ok(report) => report,
            Err(never) => match never {},
        }
    }

    /// Of what takes no time, as a part of a run between two calls, nothing is told in times.
    #[test]
    fn lengths_of_nothing_have_no_ratio() {
        let told = |before: f64, after: f64| {
            let [mut first, mut second] = [(); 2].map(|()| report_of(0, 0));
            (first.focus.seconds, second.focus.seconds) = (before, after);
            let (before, after) = (&first, &second);
            ReportPair { before, after }.words()
        };
        assert_eq!(told(0.0, 0.0), "0 ns in place of 0 ns: as fast.");
        assert_eq!(told(0.0, 2.0), "2.00 s in place of 0 ns.");
        assert_eq!(told(2.0, 0.0), "0 ns in place of 2.00 s.");
        assert_eq!(
            told(1.0, 2.0),
            "2.00 s in place of 1.00 s: 2.00 times as slow."
        );
        assert_eq!(
            told(2.0, 1.0),
            "1.00 s in place of 2.00 s: 2.00 times as fast."
        );
    }

    /// Forty ranks that compute more, each by another time: people see fifteen of them, and programs all.
    #[test]
    fn rows_that_are_not_shown_are_told() {
        let of = |more: f64| {
            let mut report = report_of(4, 1);
            report.ranks = 40;
            report.time.all = 100.0;
            let rank = report.by_rank[0];
            let computing = |rank: i32| 1.0 + more * f64::from(rank + 1);
            let ranks = (0..40).map(|number| RankTimes {
                rank: number,
                computing: computing(number),
                ..rank
            });
            report.by_rank = ranks.collect();
            report
        };
        let (before, after) = (of(0.0), of(1.0));
        let changes = TraceChanges::between(("a", &before), ("b", &after));
        let shown: Vec<ShownChanges> = changes.shown().collect();
        let [only] = &shown[..] else {
            panic!("{} tables changed", shown.len());
        };
        assert_eq!(only.table.rows.len(), 15);
        assert_eq!(only.table.rows[0][0], TableCell::Number(39));
        assert_eq!(only.rest().as_deref(), Some("25 more changed less."));
        let all = changes.tables.iter().map(|(_, table)| table.rows.len());
        assert_eq!(all.collect::<Vec<_>>(), [0, 0, 40]);
    }

    /// Iterations are compared, however many of them are one phase, and only with iterations that consist of the same.
    #[test]
    fn only_iterations_of_the_same_are_compared() {
        let step = |report: &PerformanceReport| in_phases(report, "step").map(|it| it.median);
        let (few, many, other) = (report_of(4000, 1), report_of(4200, 1), report_of(4000, 2));
        let each = many.phases.as_ref().map(|it| it.lengths.iterations_each);
        assert_eq!(each, Some(2));
        // Two seconds of each of two ranks.
        assert_eq!([step(&few), step(&many)], [Some(4.0); 2]);
        for (after, are_alike) in [(&many, true), (&other, false)] {
            let pair = ReportPair {
                before: &few,
                after,
            };
            assert_eq!(pair.has_alike_phases(), are_alike);
        }
    }
}
