//! Bins of calls: stretches of time, and intervals between annotations.

use super::columns::{Column, ColumnSums, RunShape, cell};
use super::range::{Marks, RankTimeRange, TimeRange};
use super::traffic::Traffic;
use regex::{Regex, RegexBuilder};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use trace_formats::dumpi::functions::FUNCTION_ENTER;
use trace_formats::dumpi::types::{ANNOTATION, DumpiRecord};
use trace_formats::dumpi::value::FieldValue;
use trace_model::units::exact_seconds;

/// A bin option.
#[derive(Clone, Debug)]
pub enum BinOption {
    /// -b
    Range(RankTimeRange),
    /// -m and -g
    MarkedIntervals(MarkedIntervals),
}

/// Intervals from an annotation to another one.
#[derive(Clone, Debug)]
pub struct MarkedIntervals {
    start: Regex,
    end: Regex,
    /// As they were asked for.
    texts: [String; 2],
    /// Whether all intervals of a rank count together.
    gather: bool,
}

impl MarkedIntervals {
    /// Reads `/start/end/` or `/start/end/i`, with any character in place of the slash; a backslash in front of that
    /// character makes it part of an expression.
    pub fn parse(text: &str, gather: bool) -> Result<Self, String> {
        let wrong = || format!("{text:?}: expected /start/end/ or /start/end/i");
        let mut rest = text.chars();
        let delimiter = rest.next().ok_or_else(wrong)?;
        let mut expression = || {
            let mut found = String::new();
            loop {
                match rest.next()? {
                    c if c == delimiter => return Some(found),
                    '\\' => match rest.next()? {
                        c if c == delimiter => found.push(c),
                        c => found.extend(['\\', c]),
                    },
                    c => found.push(c),
                }
            }
        };
        let texts = expression().zip(expression()).ok_or_else(wrong)?;
        let any_case = match rest.as_str() {
            "" => false,
            "i" => true,
            _ => return Err(wrong()),
        };
        let regex = |text: &str| {
            let mut builder = RegexBuilder::new(text);
            builder.case_insensitive(any_case);
            builder
                .build()
                .map_err(|error| format!("{text:?}: {error}"))
        };
        Ok(MarkedIntervals {
            start: regex(&texts.0)?,
            end: regex(&texts.1)?,
            texts: [texts.0, texts.1],
            gather,
        })
    }
}

impl BinOption {
    /// Heading of the table of a bin.
    pub fn head(&self, stretch: TimeRange, titles: &[String]) -> String {
        let mut head = "#".repeat(56) + "\n";
        let columns: [&str; 5] = match self {
            BinOption::Range(range) => {
                let TimeRange { from, to } = stretch;
                let lines = [
                    format!("Trace file statistics for call matching \"{}\"", range.text),
                    format!("First timestamp considered is {}", exact_seconds(from)),
                    format!("Last timestamp considered is {}", exact_seconds(to)),
                    format!("Bin size is {}", exact_seconds(range.width)),
                ];
                for line in lines {
                    let _ = writeln!(head, "# {line}");
                }
                head.push_str(
                    "#\n\
                     # Note that the range over which collection is active is\n\
                     # less-than-or-equal-to total bin width, since each node\n\
                     # starts and ends collection inside a profiled MPI call\n\
                     #\n",
                );
                [
                    "rank",
                    "the number of intervals collected (always 1)",
                    "first timestamp enountered inside the bin",
                    "last timestamp encountered inside the bin",
                    "total time during which collection was active",
                ]
            }
            BinOption::MarkedIntervals(marked) => {
                let [start, end] = &marked.texts;
                let _ = write!(
                    head,
                    "# Trace file statistics for calls marked by the annotations\n\
                     #     regex_t({start})\n\
                     # and\n\
                     #     regex_t({end})\n\
                     # with accumulate = {}\n\
                     #\n",
                    marked.gather
                );
                [
                    "rank",
                    "total number of intervals collected",
                    "first timestamp at which collection was active",
                    "last timestamp at which collection was active",
                    "total time during which collection was active",
                ]
            }
        };
        let titles = columns.into_iter().chain(titles.iter().map(String::as_str));
        let mut numbers = String::from("# ");
        for (nth, title) in titles.enumerate() {
            let _ = writeln!(head, "# Column {} is {title}", nth + 1);
            cell(&mut numbers, &(nth + 1));
        }
        let _ = writeln!(head, "#\n{numbers}");
        head
    }

    /// Begins a rank. `labels` are those of its function addresses.
    pub fn of_rank(&self, marks: &Marks, labels: &BTreeMap<u64, String>) -> RankBins<'_> {
        let (stretch, sides) = match self {
            BinOption::Range(range) => (range.of(marks), [HashSet::new(), HashSet::new()]),
            BinOption::MarkedIntervals(marked) => {
                let keys = |expression: &Regex| {
                    let annotations = labels.iter().filter(|(_, l)| l.starts_with(ANNOTATION));
                    let found = annotations.filter(|(_, label)| expression.is_match(label));
                    found.map(|(&key, _)| key).collect()
                };
                let stretch = TimeRange { from: 0, to: 0 };
                (stretch, [keys(&marked.start), keys(&marked.end)])
            }
        };
        RankBins {
            bins: self,
            stretch,
            sides,
            open: None,
            intervals: 0,
            found: BTreeMap::new(),
        }
    }
}

/// The bins of one rank.
pub struct RankBins<'b> {
    bins: &'b BinOption,
    pub stretch: TimeRange,
    /// Keys of the annotations that begin and end intervals.
    sides: [HashSet<u64>; 2],
    /// Number of the bin of the interval that has begun.
    open: Option<i64>,
    intervals: i64,
    found: BTreeMap<i64, Bin>,
}

/// One bin of one rank; times in ns.
struct Bin {
    first: i64,
    last: i64,
    /// Number of intervals; of one that stands alone its number.
    intervals: i64,
    /// Start of the last interval.
    begun: i64,
    /// Time of all intervals.
    active: i64,
    sums: ColumnSums,
}

impl RankBins<'_> {
    /// Takes the next call.
    pub fn add(
        &mut self,
        shape: &RunShape<'_>,
        record: &DumpiRecord<'_>,
        traffic: Option<&Traffic>,
    ) {
        match self.bins {
            BinOption::Range(range) => self.add_by_time(range.width, shape, record, traffic),
            BinOption::MarkedIntervals(marked) => {
                self.add_marked(marked.gather, shape, record, traffic)
            }
        }
    }

    fn add_by_time(
        &mut self,
        width: i64,
        shape: &RunShape<'_>,
        record: &DumpiRecord<'_>,
        traffic: Option<&Traffic>,
    ) {
        let (start, stop) = (record.wall.start.ns(), record.wall.stop.ns());
        let TimeRange { from, to } = self.stretch;
        // The entry into a region is no call: the exit from it, which follows at once, stands for the region.
        if start < from || start >= to || record.function.id == FUNCTION_ENTER {
            return;
        }
        let nth = start.saturating_sub(from).checked_div(width).unwrap_or(0);
        let bin = self.found.entry(nth).or_insert_with(|| Bin {
            first: start,
            last: stop,
            intervals: 1,
            begun: start,
            active: 0,
            sums: ColumnSums::new(shape),
        });
        bin.last = stop;
        bin.active = stop.saturating_sub(bin.first);
        bin.sums.add(shape.columns, record, traffic);
    }

    fn add_marked(
        &mut self,
        gather: bool,
        shape: &RunShape<'_>,
        record: &DumpiRecord<'_>,
        traffic: Option<&Traffic>,
    ) {
        let start = record.wall.start.ns();
        let key = match record.args().next() {
            Some((_, FieldValue::U64(key))) if record.function.id == FUNCTION_ENTER => Some(key),
            _ => None,
        };
        let is = |side: usize| key.is_some_and(|key| self.sides[side].contains(&key));
        let (begins, ends) = (self.open.is_none() && is(0), self.open.is_some() && is(1));
        if begins {
            self.intervals += 1;
            let nth = if gather { 0 } else { self.intervals };
            self.open = Some(nth);
            let bin = self.found.entry(nth).or_insert_with(|| Bin {
                first: start,
                last: start,
                intervals: 0,
                begun: start,
                active: 0,
                sums: ColumnSums::new(shape),
            });
            bin.intervals = self.intervals;
            bin.begun = start;
            bin.sums.pause();
        }
        let Some(bin) = self.open.and_then(|nth| self.found.get_mut(&nth)) else {
            return;
        };
        bin.sums.add(shape.columns, record, traffic);
        // An interval that nothing ends lasts until the last call.
        bin.last = if ends { start } else { record.wall.stop.ns() };
        if ends {
            bin.active = bin
                .active
                .saturating_add(bin.last.saturating_sub(bin.begun));
            self.open = None;
        }
    }

    /// The rows of the rank, by number of the bin.
    pub fn rows(self, rank: u32) -> impl Iterator<Item = (i64, String)> {
        let by_time = matches!(self.bins, BinOption::Range(_));
        let gather = matches!(self.bins, BinOption::MarkedIntervals(marked) if marked.gather);
        let open = self.open;
        self.found.into_iter().map(move |(nth, bin)| {
            // The total of the original counts the last interval twice; without gathering it is the time of its end.
            let unfinished = if open == Some(nth) {
                bin.last.saturating_sub(bin.begun)
            } else {
                0
            };
            let active = match (by_time, gather) {
                (true, _) => bin.active,
                (false, true) => {
                    let last = bin.last.saturating_sub(bin.begun);
                    bin.active.saturating_add(unfinished).saturating_add(last)
                }
                (false, false) => bin.last,
            };
            let mut row = format!("{rank:>22} ");
            if by_time {
                let _ = write!(row, "{:>22} ", bin.intervals);
            } else {
                cell(&mut row, &bin.intervals);
            }
            for time in [bin.first, bin.last, active] {
                cell(&mut row, &exact_seconds(time));
            }
            bin.sums.write(&mut row);
            row.push('\n');
            (nth, row)
        })
    }
}

/// Reads -c, -t, … of an option's letter: which is which.
pub fn needs_traffic(columns: &[Column]) -> bool {
    use super::columns::ColumnKind::{Exchange, Lump, Received, Sent};
    let counts_bytes = |column: &Column| matches!(column.kind, Sent | Received | Exchange | Lump);
    columns.iter().any(counts_bytes)
}
