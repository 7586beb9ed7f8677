//! Numbers about a window: statistics by category and timeline, messages by pair of timelines and by size, and the drawables one by one.

use analysis::stats::{DrawableTally, Nesting};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use trace_formats::slog2::{TimeBBox, Topology};

use super::answer::Answer;
use super::viewer::Viewer;
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::base::query::ApiQuery;
use crate::base::window::holds;
use crate::index::{DURATION_CLASSES, MessageTotals, TraceTotals, duration_from, size_from};
use crate::statistics::counting::{CountedArrows, StatisticsScope, WindowStatistics};
use crate::statistics::from_totals::of_totals;
use crate::statistics::gather::gather;
use crate::timelines::layout::TimelineLayout;
use crate::trace::TopologyName;
use crate::trace::class::ActivityClass;

/// Categories whose time is given timeline by timeline.
const MAX_CATEGORIES_BY_TIMELINE: usize = 8;

/// Answer to `stats`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct StatisticsAnswer {
    t0: f64,
    t1: f64,
    exact: bool,
    /// Whether numbers and times are exact. Those of the index are, which lacks the bytes of calls.
    exact_times: bool,
    pub(crate) categories: Vec<CategoryNumbers>,
    pub(crate) timelines: TimelineNumbers,
    span: f64,
    /// Threads whose time shares are of ([`shared_threads`]).
    threads: usize,
    drawables: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CategoryNumbers {
    pub kind: u32,
    pub name: String,
    pub topology: TopologyName,
    pub count: u64,
    pub incl: f64,
    pub excl: f64,
    pub min: Option<f64>,
    pub mean: Option<f64>,
    pub max: Option<f64>,
    pub timeline_of_max: Option<i32>,
    pub bytes: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TimelineNumbers {
    /// Seconds in states, by timeline.
    pub busy: Vec<f64>,
    /// Threads, by timeline.
    pub threads: Vec<u32>,
    pub top: Vec<CategoryByTimeline>,
    /// End of the last state, by timeline.
    pub ends: Vec<Option<f64>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CategoryByTimeline {
    pub kind: u32,
    pub excl: Vec<f64>,
}

/// Timeline of the sender, timeline of the receiver, messages, bytes.
type TimelinePair = (i32, i32, u64, u64);

/// Messages by pair of timelines.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct MatrixAnswer {
    pub cells: Vec<TimelinePair>,
    /// Timelines that are counted together; a cell names the first of them.
    pub group: u32,
    /// Whether these are all messages.
    pub exact: bool,
    /// All messages: those of the cells, and about how many others there are.
    pub messages: u64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct SizesAnswer {
    /// Least size, messages, bytes.
    messages: Vec<(u64, u64, u64)>,
    /// Least duration in seconds, drawables.
    durations: Vec<(f64, u64)>,
    exact: bool,
    /// All messages: those counted here, and about how many others there are.
    all: u64,
}

impl StatisticsAnswer {
    pub(crate) fn is_exact(&self) -> bool {
        self.exact
    }
}

impl Viewer<'_> {
    /// What the index says the trace adds up to; `None` of a trace that can be read, which tells more.
    fn totals(&self) -> Option<&TraceTotals> {
        let index = self.index().filter(|_| !self.is_small());
        index.and_then(|index| index.totals())
    }

    /// Counts what a question is about: window, timelines, hidden kinds; of arrows those of the pair that it names, else `arrows`. What is known of
    /// everything is taken from these totals.
    fn gathered(
        &self,
        query: &ApiQuery,
        hidden: &[bool],
        arrows: CountedArrows,
        totals: Option<&TraceTotals>,
        cancel: Cancel<'_>,
    ) -> Result<(WindowStatistics, usize), ApiError> {
        let window = self.point_or_window(query)?;
        let layout = self.layout(query, cancel)?;
        let (y0, y1) = (query.number("y0", 0u32)?, query.number("y1", u32::MAX)?);
        let timeline = |line: u32| {
            layout
                .timeline(line)
                .filter(|timeline| (y0..y1).contains(timeline))
        };
        let wanted = StatisticsScope {
            timeline: &timeline,
            hidden,
            nesting: match query.text("nesting") {
                "" | "line" => Nesting::Line,
                "thread" => Nesting::Thread,
                _ => return Err(ApiError::bad_request("nesting: expected line or thread")),
            },
            arrows: match query.get("from").is_some() || query.get("to").is_some() {
                true => CountedArrows::Pair(query.number("from", 0)?, query.number("to", 0)?),
                false => arrows,
            },
        };
        let timelines = layout.timelines.len();
        let trace = self.trace();
        let known = totals.and_then(|of| of_totals(trace, &wanted, timelines, window, of));
        let found = match known {
            Some(found) => found,
            None => gather(trace, &wanted, timelines, self.budget(window, cancel))?,
        };
        Ok((found, timelines))
    }

    /// As [`Viewer::window`]; a window may also be a point. Of one that reaches beyond the trace it is the part with the trace in it, as shares are of the time
    /// that the trace tells of.
    fn point_or_window(&self, query: &ApiQuery) -> Result<TimeBBox, ApiError> {
        let all = self
            .trace()
            .reader()
            .root()
            .map_or(crate::base::window::EMPTY, |root| root.bounds);
        let earliest = query.time("t0", all.earliest)?;
        let latest = query.time("t1", all.latest)?;
        if earliest <= latest {
            let meets = earliest <= all.latest && latest >= all.earliest;
            return Ok(match meets {
                true => TimeBBox {
                    earliest: earliest.max(all.earliest),
                    latest: latest.min(all.latest),
                },
                false => TimeBBox { earliest, latest },
            });
        }
        let message = format!("t0={earliest}&t1={latest}: expected t0 before t1");
        Err(ApiError::bad_request(message))
    }

    pub(crate) fn numbers(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<StatisticsAnswer, ApiError> {
        let hidden = self.hidden(query)?;
        let (gathered, timelines) =
            self.gathered(query, &hidden, CountedArrows::From, self.totals(), cancel)?;
        let trace = self.trace();
        let found = &gathered.found;
        let is_shown =
            |timeline: i32| usize::try_from(timeline).is_ok_and(|timeline| timeline < timelines);
        // The timeline of the longest, and the times of each timeline, by kind.
        let mut of_kind: BTreeMap<u32, (f64, i32, Vec<f64>)> = BTreeMap::new();
        for cell in found.cells.iter().filter(|cell| is_shown(cell.rank)) {
            let Some(kind) = trace.kind(cell.category) else {
                continue;
            };
            let entry = of_kind.entry(kind);
            let (max, timeline, excl) =
                entry.or_insert_with(|| (f64::NEG_INFINITY, -1, vec![0.0; timelines]));
            if cell.tally.max > *max {
                (*max, *timeline) = (cell.tally.max, cell.rank);
            }
            excl[cell.rank as usize] += cell.tally.exclusive;
        }
        let mut categories: Vec<CategoryNumbers> = Vec::new();
        for category in &found.categories {
            let kind = trace.kind_or_undefined(category.index, category.topology);
            let Some(kind) = kind else {
                continue;
            };
            let DrawableTally {
                count,
                total,
                exclusive,
                min,
                max,
            } = category.tally;
            let timeline = of_kind.get(&kind).map(|found| found.1);
            categories.push(CategoryNumbers {
                kind,
                name: trace.kinds()[kind as usize].name.clone(),
                topology: TopologyName::from(category.topology),
                count,
                incl: total,
                excl: exclusive,
                min: Some(min).filter(|min| min.is_finite() && gathered.has_extremes),
                mean: category.tally.mean(),
                max: Some(max).filter(|max| max.is_finite() && gathered.has_extremes),
                timeline_of_max: timeline
                    .filter(|&timeline| timeline >= 0 && gathered.has_extremes),
                bytes: gathered.bytes[kind as usize],
            });
        }
        let mut largest: Vec<&CategoryNumbers> = categories
            .iter()
            .filter(|c| c.topology == TopologyName::State)
            .collect();
        largest.sort_by(|a, b| b.excl.total_cmp(&a.excl).then(a.kind.cmp(&b.kind)));
        let top = largest
            .iter()
            .take(MAX_CATEGORIES_BY_TIMELINE)
            .filter_map(|category| {
                Some(CategoryByTimeline {
                    kind: category.kind,
                    excl: of_kind.get(&category.kind)?.2.clone(),
                })
            });
        let top = top.collect();
        let (mut busy, mut threads) = (vec![0.0; timelines], vec![0; timelines]);
        for timeline in found.rows.iter().filter(|timeline| is_shown(timeline.rank)) {
            busy[timeline.rank as usize] += timeline.covered;
            threads[timeline.rank as usize] += 1;
        }
        let ends = gathered.ends.iter().copied();
        Ok(StatisticsAnswer {
            t0: found.window.earliest,
            t1: found.window.latest,
            exact: gathered.exact,
            exact_times: gathered.has_extremes,
            categories,
            timelines: TimelineNumbers {
                busy,
                top,
                ends: ends
                    .map(|end| Some(end).filter(|end| end.is_finite()))
                    .collect(),
                threads,
            },
            span: found.span(),
            threads: shared_threads(
                &trace.rank_threads(),
                found
                    .rows
                    .iter()
                    .filter(|timeline| is_shown(timeline.rank))
                    .map(|timeline| usize::try_from(timeline.thread).unwrap_or(usize::MAX)),
            ),
            drawables: found.drawables,
        })
    }

    /// `stats`.
    pub(crate) fn stats(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let found = self.numbers(query, cancel)?;
        Answer::json(&found, found.exact)
    }

    /// By kind whether it is no message.
    fn hides_all_but_messages(&self, query: &ApiQuery) -> Result<Vec<bool>, ApiError> {
        let mut hidden = self.hidden(query)?;
        for (hidden, kind) in hidden.iter_mut().zip(self.trace().kinds()) {
            *hidden |= kind.class != ActivityClass::Message;
        }
        Ok(hidden)
    }

    /// The pairs of timelines that have messages.
    pub(crate) fn pairs(
        &self,
        query: &ApiQuery,
        cancel: Cancel<'_>,
    ) -> Result<MatrixAnswer, ApiError> {
        let hidden = self.hides_all_but_messages(query)?;
        if let Some(totals) = self.totals_of_messages(query, &hidden)? {
            let layout = self.layout(query, cancel)?;
            let rows = query.number("y0", 0u32)?..query.number("y1", u32::MAX)?;
            if let Some(pairs) = pairs_of_totals(
                &totals.messages,
                &layout,
                self.trace().lines().len() as u32,
                &rows,
            ) {
                return Ok(pairs);
            }
        }
        let (gathered, _) = self.gathered(query, &hidden, CountedArrows::From, None, cancel)?;
        let pairs = gathered.found.messages.by_pair.iter();
        let pairs = pairs
            .filter(|pair| pair.from >= 0 && pair.to >= 0)
            .map(|pair| (pair.from, pair.to, pair.volume.count, pair.volume.bytes));
        let cells: Vec<TimelinePair> = pairs.collect();
        let counted = cells.iter().map(|(_, _, count, _)| count).sum();
        Ok(MatrixAnswer {
            cells,
            group: 1,
            exact: gathered.exact,
            messages: match gathered.exact {
                true => counted,
                false => arrows_of(&gathered).max(counted),
            },
        })
    }

    /// The totals, if they tell what a question about messages asks: of all of the trace, whose arrows are messages that are shown.
    fn totals_of_messages(
        &self,
        query: &ApiQuery,
        hidden: &[bool],
    ) -> Result<Option<&TraceTotals>, ApiError> {
        let window = self.point_or_window(query)?;
        let Some(all) = self.trace().reader().root().map(|root| root.bounds) else {
            return Ok(None);
        };
        let totals = self.totals().filter(|_| holds(window, all));
        Ok(totals.filter(|totals| {
            let mut kinds = self.trace().kinds().iter().zip(&totals.kinds).zip(hidden);
            let are_messages = kinds.all(|((kind, totals), is_hidden)| {
                kind.category.topology != Topology::Arrow || totals.sum.count == 0 || !is_hidden
            });
            are_messages && totals.placeless == 0
        }))
    }

    /// `matrix`.
    pub(crate) fn matrix(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let pairs = self.pairs(query, cancel)?;
        Answer::json(&pairs, pairs.exact)
    }

    /// `sizes`.
    pub(crate) fn sizes(&self, query: &ApiQuery, cancel: Cancel<'_>) -> Result<Answer, ApiError> {
        let wanted = query.get("kind").filter(|kind| !kind.is_empty());
        let hidden = match wanted {
            None => self.hides_all_but_messages(query)?,
            Some(_) => {
                let kind: u32 = query.number("kind", 0)?;
                let kinds = 0..self.trace().kinds().len() as u32;
                if !kinds.contains(&kind) {
                    return Err(ApiError::not_found(format!("there is no kind {kind}")));
                }
                kinds.map(|other| other != kind).collect()
            }
        };
        // Messages are those of the matrix: between the timelines that are asked about.
        let arrows = match wanted {
            None => CountedArrows::Between,
            Some(_) => CountedArrows::From,
        };
        let is_plain = ["from", "to", "y0", "y1", "kind"]
            .iter()
            .all(|name| query.text(name).is_empty());
        let is_of_all = || -> Result<bool, ApiError> {
            let layout = self.layout(query, cancel)?;
            let mut lines = 0..self.trace().lines().len() as u32;
            Ok(lines.all(|line| layout.timeline(line).is_some()))
        };
        if is_plain
            && let Some(totals) = self.totals_of_messages(query, &hidden)?
            && is_of_all()?
        {
            let kinds = self.trace().kinds();
            let is_arrow = |kind: usize| kinds[kind].category.topology == Topology::Arrow;
            return Answer::json(&sizes_of_totals(totals, is_arrow), true);
        }
        let (gathered, _) = self.gathered(query, &hidden, arrows, None, cancel)?;
        let mut lengths = [0_u64; 64];
        for of_kind in &gathered.lengths {
            let pairs = lengths.iter_mut().zip(of_kind);
            pairs.for_each(|(sum, count)| *sum += count);
        }
        let classes = gathered.found.messages.by_size.iter();
        let durations = (0..).zip(lengths).filter(|(_, count)| *count > 0);
        let sizes = SizesAnswer {
            messages: classes
                .map(|class| (class.low, class.volume.count, class.volume.bytes))
                .collect(),
            durations: durations
                .map(|(power, count)| ((1_u64 << power) as f64 / 1e9, count))
                .collect(),
            exact: gathered.exact,
            all: arrows_of(&gathered),
        };
        Answer::json(&sizes, gathered.exact)
    }
}

/// Number of the lanes that shares are shares of: threads of ranks. Time that servers and devices spend is no time of the program, and lanes of
/// theirs would make all shares small. Where there are no others, it is theirs.
pub(super) fn shared_threads(
    rank_threads: &[Option<u32>],
    lanes: impl Iterator<Item = usize>,
) -> usize {
    let (mut threads, mut all) = (BTreeSet::new(), 0);
    for lane in lanes {
        all += 1;
        threads.extend(rank_threads.get(lane).copied().flatten());
    }
    if threads.is_empty() {
        all
    } else {
        threads.len()
    }
}

/// Number of arrows, those in previews among them.
fn arrows_of(gathered: &WindowStatistics) -> u64 {
    let categories = gathered.found.categories.iter();
    let arrows = categories.filter(|category| category.topology == Topology::Arrow);
    arrows.map(|category| category.tally.count).sum()
}

/// The pairs of a whole trace: between single timelines `rows`, or where the totals count lines in groups, between groups of timelines; `None` if
/// the groups are none of these timelines.
fn pairs_of_totals(
    messages: &MessageTotals,
    layout: &TimelineLayout,
    lines: u32,
    rows: &Range<u32>,
) -> Option<MatrixAnswer> {
    let timelines = layout.timelines.len() as u32;
    let in_order = || (0..lines).all(|line| layout.timeline(line) == Some(line));
    let are_all = rows.start == 0 && rows.end >= timelines;
    if messages.group > 1 && !(are_all && in_order()) {
        return None;
    }
    let mut cells: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    for flow in &messages.flows {
        let timeline = |group: u32| layout.timeline(group * messages.group);
        let (Some(from), Some(to)) = (timeline(flow.from), timeline(flow.to)) else {
            continue;
        };
        if rows.contains(&from) && rows.contains(&to) {
            let (count, bytes) = cells.entry((from, to)).or_default();
            *count += flow.volume.count;
            *bytes = bytes.saturating_add(flow.volume.bytes);
        }
    }
    Some(MatrixAnswer {
        messages: cells.values().map(|(count, _)| count).sum(),
        cells: cells
            .into_iter()
            .map(|((from, to), (count, bytes))| (from as i32, to as i32, count, bytes))
            .collect(),
        group: messages.group,
        exact: true,
    })
}

/// Sizes and durations of all messages; `is_arrow` by kind.
fn sizes_of_totals(totals: &TraceTotals, is_arrow: impl Fn(usize) -> bool) -> SizesAnswer {
    let mut durations = [0_u64; DURATION_CLASSES];
    let mut all = 0;
    for (_, arrows) in totals
        .kinds
        .iter()
        .enumerate()
        .filter(|(kind, _)| is_arrow(*kind))
    {
        all += arrows.sum.count;
        let pairs = durations.iter_mut().zip(arrows.durations);
        pairs.for_each(|(sum, count)| *sum += count);
    }
    let sizes = totals.messages.sizes.iter().enumerate();
    let durations = durations.into_iter().enumerate();
    SizesAnswer {
        messages: sizes
            .filter(|(_, volume)| volume.count > 0)
            .map(|(class, volume)| (size_from(class), volume.count, volume.bytes))
            .collect(),
        durations: durations
            .filter(|(_, count)| *count > 0)
            .map(|(class, count)| (duration_from(class), count))
            .collect(),
        exact: true,
        all,
    }
}
