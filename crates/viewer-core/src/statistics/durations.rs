//! How long the drawables of one kind last: a histogram whose classes are ten for each power of ten.

use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::error::ApiError;
use crate::trace::scan::{DrawableSink, ReadBudget, scan_parallel};
use crate::trace::{OpenTrace, TraceItem};

/// Preferred numbers: ten for each power of ten, nearly equally far from one another.
const PREFERRED: [f64; 10] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.15, 4.0, 5.0, 6.3, 8.0];
/// Powers of ten, from a nanosecond on.
const DECADES: u32 = 14;

/// Most parts of a window that are counted one after the other.
const MOST_PARTS: u64 = 16;
/// Bytes of leaves that are worth a part of their own.
const PART_BYTES: u64 = 1 << 20;

/// Least durations of the classes, seconds, in order: 0, then preferred numbers from 1 ns on. Each is the number that a search reads where it is
/// written with the unit that suits it.
pub(crate) fn least_durations() -> Vec<f64> {
    let nanoseconds = (0..DECADES).flat_map(|decade| {
        let power = 10_f64.powi(decade.cast_signed());
        PREFERRED.map(|number| number * power)
    });
    let seconds = nanoseconds.map(|ns| match ns {
        ns if ns < 1e3 => ns / 1e9,
        ns if ns < 1e6 => (ns / 1e3) / 1e6,
        ns if ns < 1e9 => (ns / 1e6) / 1e3,
        ns => ns / 1e9,
    });
    std::iter::once(0.0).chain(seconds).collect()
}

/// The class of a duration, given the least durations of all.
pub(crate) fn class_of(seconds: f64, least: &[f64]) -> usize {
    least
        .partition_point(|&least| least <= seconds)
        .saturating_sub(1)
}

struct DurationCounter<'w> {
    kind: u32,
    is_shown: &'w [bool],
    window: TimeBBox,
    has_end: bool,
    least: &'w [f64],
    counts: Vec<u64>,
}

impl<'a> DrawableSink<'a> for DurationCounter<'_> {
    fn item(&mut self, item: TraceItem<'a>) {
        let is_on = |line: u32| self.is_shown[line as usize];
        let TimeBBox { earliest, latest } = self.window;
        let begins_inside =
            item.start >= earliest && (item.start < latest || self.has_end && item.start <= latest);
        let is_wanted = item.kind == self.kind
            && item.topology != Topology::Event
            && begins_inside
            && (is_on(item.line) || is_on(item.to_line));
        if is_wanted {
            self.counts[class_of((item.end - item.start).abs(), self.least)] += 1;
        }
    }
}

/// How many drawables there are of each class.
#[derive(Debug)]
pub(crate) struct CountedDurations {
    /// By class.
    pub counts: Vec<u64>,
    /// When time was up: those that begin before this time are counted, seconds, and none of the others.
    pub until: Option<f64>,
}

/// Counts by class the drawables of a kind that begin in the window of `budget`, on lines that are shown, from the begin of the window on as long as there is
/// time; `None` if not all of it may be read.
///
/// # Errors
/// The file is damaged.
pub(crate) fn count_durations(
    trace: &OpenTrace<'_>,
    kind: u32,
    is_shown: &[bool],
    budget: ReadBudget<'_>,
) -> Result<Option<CountedDurations>, ApiError> {
    let least = least_durations();
    let mut counts = vec![0; least.len()];
    let bytes = trace.reader().bytes_in(budget.window)? / MOST_PARTS;
    let parts = trace
        .reader()
        .start_ranges(budget.window, bytes.max(PART_BYTES))?;
    for part in parts {
        let window = part.within(budget.window);
        let is_last = part.to.is_none();
        let new = || DurationCounter {
            kind,
            is_shown,
            window,
            has_end: is_last && window.latest >= trace.bounds().latest,
            least: &least,
            counts: vec![0; least.len()],
        };
        let (counters, scanned) = scan_parallel(trace, ReadBudget { window, ..budget }, new)?;
        if scanned.cancelled {
            let until = Some(window.earliest);
            return Ok(Some(CountedDurations { counts, until }));
        }
        if !scanned.exact {
            return Ok(None);
        }
        for counter in &counters {
            let pairs = counts.iter_mut().zip(&counter.counts);
            pairs.for_each(|(sum, count)| *sum += count);
        }
    }
    let until = None;
    Ok(Some(CountedDurations { counts, until }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ten_for_each_power_of_ten_and_begin_where_they_say() {
        let least = least_durations();
        assert!(least.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(least[..4], [0.0, 1.0 / 1e9, 1.25 / 1e9, 1.6 / 1e9]);
        for (text, seconds) in [
            ("3.15us", 3.15 / 1e6),
            ("125us", 125.0 / 1e6),
            ("1.6ms", 1.6 / 1e3),
            ("20s", 20.0),
        ] {
            assert!(least.contains(&seconds), "{text}");
        }
        for (class, &from) in least.iter().enumerate() {
            assert_eq!(class_of(from, &least), class);
            assert_eq!(class_of(from.next_down(), &least), class.saturating_sub(1));
        }
        assert_eq!(class_of(1e9, &least), least.len() - 1);
    }
}
