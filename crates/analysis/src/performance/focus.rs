//! What is looked at: one range of time, or several with gaps between them.

use super::clocks::{earlier_of, later_of};
use trace_model::TimeBBox;

/// The time that is looked at.
#[derive(Clone, Debug)]
pub(super) struct Focus {
    pub from: f64,
    /// Infinite as long as the end has not come.
    pub to: f64,
    /// What is left out between the two, in order.
    gaps: Vec<TimeBBox>,
    /// Whether it follows from the calls that begin and end the run; else it was given.
    pub is_automatic: bool,
    /// Whether a rank has left MPI_Init, and whether one has come to MPI_Finalize.
    pub has_begin: bool,
    pub has_end: bool,
    /// When a rank left MPI_Init first.
    pub first_init_end: Option<f64>,
}

impl Focus {
    /// A focus on these ranges, which are in order and do not overlap. Of no ranges: what calls that begin and end the run tell.
    pub(super) fn new(ranges: &[TimeBBox]) -> Focus {
        let gap = |pair: &[TimeBBox]| TimeBBox {
            earliest: pair[0].latest,
            latest: pair[1].earliest,
        };
        Focus {
            from: ranges
                .first()
                .map_or(f64::NEG_INFINITY, |first| first.earliest),
            to: ranges.last().map_or(f64::INFINITY, |last| last.latest),
            gaps: ranges.windows(2).map(gap).collect(),
            is_automatic: ranges.is_empty(),
            has_begin: false,
            has_end: false,
            first_init_end: None,
        }
    }

    /// Ranges of the focus in order.
    pub(super) fn ranges(&self) -> Vec<TimeBBox> {
        let mut ranges = Vec::new();
        self.parts(self.from, self.to, |earliest, latest| {
            ranges.push(TimeBBox { earliest, latest });
        });
        ranges
    }

    /// Whether there are gaps in it.
    pub(super) fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }

    /// Whether a time lies in it.
    #[inline]
    pub(super) fn has(&self, time: f64) -> bool {
        if time < self.from || time >= self.to {
            return false;
        }
        let next = self.gaps.partition_point(|gap| gap.latest <= time);
        self.gaps.get(next).is_none_or(|gap| time < gap.earliest)
    }

    /// Seconds of it between two times.
    #[inline]
    pub(super) fn within(&self, from: f64, to: f64) -> f64 {
        let (from, to) = (later_of(from, self.from), earlier_of(to, self.to));
        if to <= from {
            return 0.0;
        }
        if self.gaps.is_empty() {
            return to - from;
        }
        let mut seconds = 0.0;
        self.parts(from, to, |from, to| seconds += to - from);
        seconds
    }

    /// Gives the parts of it between two times, in order.
    pub(super) fn parts(&self, from: f64, to: f64, mut put: impl FnMut(f64, f64)) {
        let (mut from, to) = (from.max(self.from), to.min(self.to));
        let first = self.gaps.partition_point(|gap| gap.latest <= from);
        for gap in &self.gaps[first..] {
            if gap.earliest >= to {
                break;
            }
            if gap.earliest > from {
                put(from, gap.earliest);
            }
            from = gap.latest;
        }
        if to > from {
            put(from, to);
        }
    }

    /// Length of the focus, seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.within(self.from, self.to)
    }

    /// The input has these bounds; it cannot be longer.
    pub(super) fn end(&mut self, bounds: TimeBBox) {
        self.to = self.to.min(bounds.latest);
        self.from = self.from.max(bounds.earliest).min(self.to);
        let (from, to) = (self.from, self.to);
        self.gaps
            .retain(|gap| gap.latest > from && gap.earliest < to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_do_not_count() {
        let range = |earliest, latest| TimeBBox { earliest, latest };
        let mut focus = Focus::new(&[range(1.0, 2.0), range(4.0, 6.0), range(7.0, 8.0)]);
        assert_eq!(focus.seconds(), 4.0);
        assert_eq!(focus.within(0.0, 1.5), 0.5);
        assert_eq!(focus.within(1.5, 5.0), 1.5);
        assert_eq!(focus.within(2.5, 3.5), 0.0);
        assert_eq!(focus.within(5.0, 5.5), 0.5);
        assert_eq!(focus.within(3.0, 9.0), 3.0);
        assert_eq!(focus.within(9.0, 10.0), 0.0);
        assert_eq!(focus.ranges().len(), 3);
        let inside = [0.5, 1.0, 2.0, 3.0, 4.0, 6.5, 7.5, 8.0].map(|time| focus.has(time));
        assert_eq!(
            inside,
            [false, true, false, false, true, false, true, false]
        );
        // As many gaps as a region has states, and a look at them for each message.
        let many = 1 << 19;
        let ranges: Vec<TimeBBox> = (0..many)
            .map(|nth| range(f64::from(nth), f64::from(nth) + 0.5))
            .collect();
        let of_many = Focus::new(&ranges);
        let is_inside = |nth: &i32| of_many.has(f64::from(*nth) / 4.0);
        assert_eq!((0..4 * many).filter(is_inside).count(), 2 * many as usize);
        focus.end(range(0.0, 7.5));
        assert_eq!(focus.seconds(), 3.5);
        focus.end(range(0.0, 3.0));
        assert_eq!(focus.seconds(), 1.0);
        assert!(Focus::new(&[]).is_automatic);
    }
}
