//! Sums over spans of time: phases of the program, or parts of the focus of equal length.

use super::cause_sums::{CauseSums, CausesOfWait};
use super::clocks::{earlier_of, later_of};
use super::use_times::UseSums;
use trace_model::TimeBBox;

/// Root causes that are kept of a span.
const MAX_CAUSES: usize = 16;

/// What a thread did in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    Computing,
    FileOperation,
    Call,
}

/// A span with its sums over the main threads of all ranks.
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub from: f64,
    pub to: f64,
    pub sums: UseSums,
    /// The longest computing time of a rank in it, and the lane of that rank.
    pub longest_computing: f64,
    pub longest_lane: u32,
    /// Latest clocks of a replay in which data moves in no time, at its begin and at its end.
    pub ideal_from: f64,
    pub ideal_to: f64,
    /// Seconds of waiting by root cause, as far as there is room.
    pub causes: CauseSums<MAX_CAUSES>,
    /// Seconds of all threads in each of the [`Spans::categories`] that are wanted; the last one is computing outside of any. Empty if none is.
    pub by_category: Vec<f64>,
}

/// Where a lane is.
#[derive(Clone, Copy, Debug, Default)]
struct LaneInSpans {
    /// The span that it is in, or that comes next.
    at: u32,
    is_inside: bool,
    /// Seconds that it computed in that span so far.
    computing: f64,
}

/// Spans in order of time, which do not overlap.
#[derive(Clone, Debug)]
pub(super) struct Spans {
    pub spans: Vec<Span>,
    /// The categories that have sums.
    pub categories: Vec<u32>,
    /// By category: where its sum stands.
    places: Vec<Option<u32>>,
    lanes: Vec<LaneInSpans>,
    /// The span that was looked up last: the next one is most often the same or a neighbour.
    latest: usize,
}

/// A stretch of time of a lane, and its clock of the ideal replay when it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneStretch {
    pub lane: u32,
    pub is_main: bool,
    pub doing: Doing,
    pub category: Option<u32>,
    pub from: f64,
    pub to: f64,
    pub clock: f64,
}

impl Spans {
    /// Spans without sums by category: one for each range, of a run with this number of lanes.
    pub(super) fn new(ranges: &[TimeBBox], lanes: usize) -> Spans {
        let span = |range: &TimeBBox| Span {
            from: range.earliest,
            to: range.latest,
            sums: UseSums::default(),
            longest_computing: 0.0,
            longest_lane: 0,
            ideal_from: 0.0,
            ideal_to: 0.0,
            causes: CauseSums::default(),
            by_category: Vec::new(),
        };
        Spans {
            spans: ranges.iter().map(span).collect(),
            categories: Vec::new(),
            places: Vec::new(),
            lanes: vec![LaneInSpans::default(); lanes],
            latest: 0,
        }
    }

    /// Sums for these categories, and for computing outside of any.
    pub(super) fn add_up(&mut self, categories: Vec<u32>) {
        let last = categories.iter().max().map_or(0, |&last| last as usize + 1);
        self.places = vec![None; last];
        for (place, &category) in (0..).zip(&categories) {
            self.places[category as usize] = Some(place);
        }
        for span in &mut self.spans {
            span.by_category = vec![0.0; categories.len() + 1];
        }
        self.categories = categories;
    }

    /// Adds a stretch. The stretches of a lane come in order.
    pub(super) fn add(&mut self, stretch: &LaneStretch) {
        let at = &mut self.lanes[stretch.lane as usize];
        let mut from = stretch.from;
        while let Some(span) = self.spans.get_mut(at.at as usize) {
            if stretch.to <= span.from {
                return;
            }
            // Computing and file operations take as long as they did in that replay, too.
            let clock_at = |time: f64| match stretch.doing {
                Doing::Call => stretch.clock,
                _ => stretch.clock + later_of(time - stretch.from, 0.0),
            };
            from = later_of(from, span.from);
            if !at.is_inside {
                at.is_inside = true;
                if stretch.is_main {
                    span.ideal_from = later_of(span.ideal_from, clock_at(from));
                }
            }
            let to = earlier_of(stretch.to, span.to);
            let seconds = later_of(to - from, 0.0);
            if let Some(sum) = match stretch.category {
                None => span.by_category.last_mut(),
                Some(category) => {
                    let place = self.places.get(category as usize).copied().flatten();
                    place.and_then(|place| span.by_category.get_mut(place as usize))
                }
            } {
                *sum += seconds;
            }
            if stretch.is_main {
                match stretch.doing {
                    Doing::Computing => {
                        span.sums.computing += seconds;
                        at.computing += seconds;
                    }
                    Doing::FileOperation => span.sums.file_operations += seconds,
                    Doing::Call => span.sums.in_calls += seconds,
                }
            }
            if stretch.to < span.to {
                return;
            }
            if stretch.is_main {
                span.ideal_to = later_of(span.ideal_to, clock_at(span.to));
                if at.computing > span.longest_computing {
                    span.longest_computing = at.computing;
                    span.longest_lane = stretch.lane;
                }
            }
            from = span.to;
            *at = LaneInSpans {
                at: at.at + 1,
                ..LaneInSpans::default()
            };
        }
    }

    /// Adds a wait of a main thread with its causes.
    pub(super) fn add_wait(&mut self, causes: &CausesOfWait) {
        let stretches = &causes.stretches[..];
        let ([first, ..], [.., last]) = (stretches, stretches) else {
            return;
        };
        let nth = self.first_behind(first.from);
        if let Some(span) = self.spans.get_mut(nth)
            && first.from >= span.from
            && last.to <= span.to
        {
            for &(cause, seconds) in causes.sums() {
                span.sums.waiting += seconds;
                span.causes.add(cause, seconds);
            }
            return;
        }
        for stretch in stretches {
            self.for_each_within(stretch.from, stretch.to, |span, seconds| {
                let seconds = seconds * stretch.part;
                span.sums.waiting += seconds;
                span.causes.add(stretch.cause, seconds);
            });
        }
    }

    /// Adds time of a main thread in MPI-IO in which it did not wait.
    pub(super) fn add_file_call(&mut self, from: f64, to: f64) {
        self.for_each_within(from, to, |span, seconds| span.sums.file_calls += seconds);
    }

    /// The first span that ends after this time.
    fn first_behind(&mut self, time: f64) -> usize {
        let is_before = |span: &Span| span.to <= time;
        let mut at = self.latest;
        while self.spans.get(at).is_some_and(is_before) {
            at += 1;
        }
        while at > 0 && !is_before(&self.spans[at - 1]) {
            at -= 1;
        }
        self.latest = at;
        at
    }

    fn for_each_within(&mut self, from: f64, to: f64, mut put: impl FnMut(&mut Span, f64)) {
        let first = self.first_behind(from);
        for span in &mut self.spans[first..] {
            if span.from >= to {
                break;
            }
            put(span, earlier_of(to, span.to) - later_of(from, span.from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::{CausedStretch, RootCause};
    use super::*;

    #[test]
    fn stretches_are_cut_at_the_borders_of_spans() {
        let range = |earliest, latest| TimeBBox { earliest, latest };
        let mut spans = Spans::new(&[range(1.0, 2.0), range(2.0, 3.0), range(5.0, 6.0)], 2);
        spans.add_up(vec![0]);
        let mut add = |lane, from, to, doing, category, clock| {
            spans.add(&LaneStretch {
                lane,
                is_main: true,
                doing,
                category,
                from,
                to,
                clock,
            });
        };
        add(0, 0.0, 2.5, Doing::Computing, None, 0.0);
        add(0, 2.5, 5.5, Doing::Call, Some(0), 2.5);
        add(0, 5.5, 9.0, Doing::Computing, None, 2.5);
        add(1, 0.0, 1.25, Doing::Computing, None, 0.0);
        add(1, 1.25, 9.0, Doing::Call, Some(0), 1.25);
        let cause = RootCause {
            lane: 0,
            activity: None,
        };
        let mut add_wait = |from: f64, to: f64| {
            let mut causes = CausesOfWait::default();
            causes.stretches.push(CausedStretch::new(from, to, cause));
            causes.add_up();
            spans.add_wait(&causes);
        };
        add_wait(1.5, 2.25);
        add_wait(5.5, 5.75);
        add_wait(5.75, 6.0);
        add_wait(6.5, 7.0);
        let all = |value: fn(&Span) -> f64| spans.spans.iter().map(value).collect::<Vec<f64>>();
        assert_eq!(all(|span| span.sums.computing), [1.25, 0.5, 0.5]);
        assert_eq!(all(|span| span.sums.in_calls), [0.75, 1.5, 1.5]);
        assert_eq!(all(|span| span.sums.waiting), [0.5, 0.25, 0.5]);
        assert_eq!(all(|span| span.longest_computing), [1.0, 0.5, 0.5]);
        assert_eq!(all(|span| span.ideal_to - span.ideal_from), [1.0, 0.5, 0.5]);
        assert_eq!(spans.spans[0].by_category, [0.75, 1.25]);
        assert_eq!(spans.spans[0].causes.sums, [(cause, 0.5)]);
    }
}
