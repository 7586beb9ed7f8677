//! Ranks that have come to a collective operation, for those who need some of them.

use super::clocks::{ReplayClocks, later};
use trace_model::hash::Map;

/// A rank that has come to an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub time: f64,
    pub lane: u32,
    pub clocks: ReplayClocks,
}

/// The two ranks that came last, and the latest clocks of all that came.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestArrivals {
    latest: Option<Arrival>,
    before_latest: Option<Arrival>,
    clocks: ReplayClocks,
}

impl LatestArrivals {
    pub(super) fn add(&mut self, arrival: Arrival) {
        let is_later = |other: Option<Arrival>| other.is_none_or(|o| o.time <= arrival.time);
        if is_later(self.latest) {
            self.before_latest = self.latest.replace(arrival);
        } else if is_later(self.before_latest) {
            self.before_latest = Some(arrival);
        }
        self.clocks = later(&self.clocks, &arrival.clocks);
    }

    /// The one of another lane that came last, and the clocks of all.
    pub(super) fn others(&self, lane: u32) -> LastOfSome {
        let is_other = |arrival: &Arrival| arrival.lane != lane;
        let latest = self.latest.filter(is_other);
        LastOfSome {
            last: latest.or(self.before_latest.filter(is_other)),
            clocks: self.clocks,
        }
    }

    pub(super) fn restart(&mut self) {
        self.clocks = ReplayClocks::default();
        for arrival in [&mut self.latest, &mut self.before_latest]
            .into_iter()
            .flatten()
        {
            arrival.clocks = ReplayClocks::default();
        }
    }
}

/// Who came last of some ranks, and the latest clocks of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastOfSome {
    pub last: Option<Arrival>,
    pub clocks: ReplayClocks,
}

impl LastOfSome {
    pub(super) fn add(&mut self, arrival: Arrival) {
        if self.last.is_none_or(|last| last.time < arrival.time) {
            self.last = Some(arrival);
        }
        self.clocks = later(&self.clocks, &arrival.clocks);
    }

    pub(super) fn join(&mut self, other: &LastOfSome) {
        if let Some(last) = other.last {
            self.add(last);
        }
        self.clocks = later(&self.clocks, &other.clocks);
    }

    fn restart(&mut self) {
        self.clocks = ReplayClocks::default();
        if let Some(last) = &mut self.last {
            last.clocks = ReplayClocks::default();
        }
    }
}

/// Arrivals of which ranks need those of lower ranks: a Fenwick tree over the ranks, in which node n has those of ranks n − (n & −n) to n − 1.
#[derive(Clone, Debug)]
pub(super) struct LowerArrivals {
    nodes: Vec<LastOfSome>,
}

impl LowerArrivals {
    /// Of so many ranks.
    pub(super) fn new(ranks: u32) -> LowerArrivals {
        LowerArrivals {
            nodes: vec![LastOfSome::default(); ranks as usize + 1],
        }
    }

    pub(super) fn add(&mut self, rank: i32, arrival: Arrival) {
        let mut at = usize::try_from(rank).unwrap_or(0) + 1;
        while let Some(node) = self.nodes.get_mut(at) {
            node.add(arrival);
            at += at & at.wrapping_neg();
        }
    }

    /// Who came last of the ranks below this one.
    pub(super) fn below(&self, rank: i32) -> LastOfSome {
        let mut last = LastOfSome::default();
        let mut at = usize::try_from(rank).unwrap_or(0);
        at = at.min(self.nodes.len() - 1);
        while at > 0 {
            last.join(&self.nodes[at]);
            at &= at - 1;
        }
        last
    }

    fn restart(&mut self) {
        self.nodes.iter_mut().for_each(LastOfSome::restart);
    }
}

/// Arrivals of which each rank needs those of other ones.
#[derive(Clone, Debug, Default)]
pub(super) enum RankArrivals {
    #[default]
    None,
    Lower(LowerArrivals),
    Each(Map<i32, Arrival>),
}

impl RankArrivals {
    pub(super) fn restart(&mut self) {
        match self {
            RankArrivals::None => {}
            RankArrivals::Lower(lower) => lower.restart(),
            RankArrivals::Each(each) => {
                for arrival in each.values_mut() {
                    arrival.clocks = ReplayClocks::default();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(lane: u32, time: f64) -> Arrival {
        Arrival {
            time,
            lane,
            clocks: [time, 0.0, 0.0],
        }
    }

    #[test]
    fn the_last_of_lower_ranks_is_found() {
        let times = [5.0, 1.0, 7.0, 2.0, 9.0, 3.0, 4.0];
        let mut lower = LowerArrivals::new(times.len() as u32);
        let mut come: Vec<usize> = Vec::new();
        for rank in [3, 0, 6, 4, 2, 1, 5] {
            lower.add(rank as i32, arrival(rank as u32, times[rank]));
            come.push(rank);
            for below in 0..=times.len() {
                let of_these = come.iter().filter(|&&other| other < below);
                let expected = of_these.max_by(|&&a, &&b| times[a].total_cmp(&times[b]));
                let found = lower.below(below as i32);
                assert_eq!(found.last.map(|last| last.lane as usize), expected.copied());
                assert_eq!(found.clocks[0], expected.map_or(0.0, |&rank| times[rank]));
            }
        }
    }

    #[test]
    fn the_last_of_the_others_is_found() {
        let mut latest = LatestArrivals::default();
        for (lane, time) in [(0, 3.0), (1, 5.0), (2, 4.0), (3, 1.0)] {
            latest.add(arrival(lane, time));
        }
        let of = |lane| latest.others(lane).last.map(|arrival| arrival.lane);
        assert_eq!([of(0), of(1), of(2)], [Some(1), Some(2), Some(1)]);
        assert_eq!(latest.clocks[0], 5.0);
    }
}
