//! Statistics of everything, from what the index says the trace adds up to.

use analysis::stats::{
    CallIdStatistics, CategoryStatistics, DrawableTally, Histogram, MessageStatistics, Nesting,
    Statistics, ThreadCategoryStatistics, ThreadStatistics, Untold,
};
use std::collections::BTreeMap;
use trace_formats::slog2::TimeBBox;

use super::counting::{CountedArrows, StatisticsScope, WindowStatistics};
use crate::base::window::holds;
use crate::index::{DurationSum, TraceTotals};
use crate::trace::OpenTrace;

/// The numbers of a window that all of the trace is in; `None` if the totals have not what is wanted. All are those that
/// reading gives, but for bytes of calls, which are missing, and what is about messages.
pub(crate) fn of_totals(
    trace: &OpenTrace<'_>,
    scope: &StatisticsScope<'_>,
    timelines: usize,
    window: TimeBBox,
    totals: &TraceTotals,
) -> Option<WindowStatistics> {
    let all = trace.reader().root()?.bounds;
    let is_all = holds(window, all);
    let is_plain = scope.nesting == Nesting::Line
        && scope.arrows == CountedArrows::From
        && !scope.hidden.contains(&true)
        && totals.placeless == 0
        && totals.out_of_order == 0;
    // Time that several lines of one thread spend in states at once counts once, and totals do not tell it.
    let are_alone = trace
        .lines()
        .windows(2)
        .all(|two| two[0].lane < two[1].lane);
    // Those that nothing defines have one index for all.
    let mut used = (0u32..).zip(trace.kinds().iter().zip(&totals.kinds));
    let are_defined = used.clone().all(|(number, (kind, totals))| {
        totals.sum.count == 0 || trace.kind(kind.category.index) == Some(number)
    });
    if !(is_all && is_plain && are_alone && are_defined) {
        return None;
    }
    let shown = totals.lines.iter().zip(trace.lines()).zip(0u32..);
    let shown = shown.filter_map(|((totals, line), number)| {
        let timeline = (scope.timeline)(number)?;
        Some((timeline, line.lane, totals))
    });
    let shown: Vec<_> = shown.collect();
    let is_whole = shown.len() == totals.lines.len();
    let mut bytes: Vec<u64> = totals.kinds.iter().map(|kind| kind.bytes).collect();
    if !is_whole && bytes.iter().any(|&bytes| bytes > 0) {
        // Of a line there are the bytes of all kinds together.
        let [kind] = (0..)
            .zip(&bytes)
            .filter(|(_, bytes)| **bytes > 0)
            .map(|(kind, _)| kind)
            .collect::<Vec<usize>>()[..]
        else {
            return None;
        };
        bytes[kind] = shown.iter().map(|(_, _, line)| line.sent.bytes).sum();
    }
    let has_no_bytes = bytes.iter().all(|&bytes| bytes == 0)
        && used.all(|(_, (kind, totals))| totals.sum.count == 0 || kind.bytes.is_none());
    let mut ends = vec![f64::NEG_INFINITY; timelines];
    let mut categories: BTreeMap<i32, (u32, DrawableTally)> = BTreeMap::new();
    let (mut cells, mut threads) = (Vec::new(), Vec::new());
    for &(timeline, lane, line) in &shown {
        let (rank, thread) = (timeline as i32, lane as i32);
        for (kind, sum) in &line.kinds {
            let category = trace.kinds()[*kind as usize].category.index;
            let tally = tally(sum);
            let entry = categories.entry(category);
            entry
                .or_insert((*kind, DrawableTally::default()))
                .1
                .join(&tally);
            cells.push(ThreadCategoryStatistics {
                rank,
                thread,
                category,
                tally,
                counters: Vec::new(),
            });
        }
        if let Some(end) = ends.get_mut(timeline as usize) {
            *end = end.max(line.last);
        }
        if !line.kinds.is_empty() || (is_whole && line.received.count > 0) {
            threads.push(ThreadStatistics {
                rank,
                thread,
                covered: line.busy,
                ..ThreadStatistics::default()
            });
        }
    }
    cells.sort_unstable_by_key(|cell| (cell.rank, cell.thread, cell.category));
    threads.sort_by_key(|timeline| (timeline.rank, timeline.thread));
    let categories = categories.into_iter().map(|(index, (kind, tally))| {
        let category = &trace.kinds()[kind as usize].category;
        CategoryStatistics {
            index,
            name: category.name.clone(),
            topology: category.topology,
            tally,
            durations: Histogram::default(),
            counters: Vec::new(),
        }
    });
    let categories: Vec<CategoryStatistics> = categories.collect();
    Some(WindowStatistics {
        found: Statistics {
            window,
            drawables: categories.iter().map(|c| c.tally.count).sum(),
            categories,
            rows: threads,
            cells,
            messages: MessageStatistics::default(),
            callids: CallIdStatistics::default(),
            counters: Vec::new(),
            counted: BTreeMap::new(),
            untold: Untold::default(),
        },
        bytes,
        lengths: Vec::new(),
        ends,
        exact: has_no_bytes,
        has_extremes: true,
    })
}

fn tally(sum: &DurationSum) -> DrawableTally {
    DrawableTally {
        count: sum.count,
        total: sum.inclusive,
        exclusive: sum.exclusive,
        min: sum.min,
        max: sum.max,
    }
}
