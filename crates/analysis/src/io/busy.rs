//! The time during which operations of a call ran.

use super::kinds::Doing;

/// Stretches of a call that are told apart; beyond, neighbours become one.
const STRETCHES: usize = 128;

/// When the operations of a call ran.
#[derive(Clone, Debug, Default)]
pub(super) struct BusyTime {
    stretches: Vec<Stretch>,
}

/// A time in which operations of one kind ran, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub start: i64,
    pub stop: i64,
    pub doing: Doing,
}

impl BusyTime {
    /// Adds the time of an operation; nothing, if it took none.
    pub fn add(&mut self, start: i64, stop: i64, doing: Doing) {
        let stretch = Stretch { start, stop, doing };
        if stop <= start {
            return;
        }
        match self.stretches.last_mut() {
            Some(last) if last.doing == doing && last.stop == start => last.stop = stop,
            _ => self.stretches.push(stretch),
        }
        if self.stretches.len() > 2 * STRETCHES {
            self.straighten();
            self.thin();
        }
    }

    /// Adds the stretches of another call, not in order.
    pub fn extend(&mut self, other: &BusyTime) {
        self.stretches.extend(&other.stretches);
    }

    /// Puts the stretches in order, none over another.
    pub fn straighten(&mut self) {
        self.stretches.sort_by_key(|s| (s.start, s.stop));
        let mut until = i64::MIN;
        self.stretches.retain_mut(|s| {
            s.start = s.start.max(until);
            until = until.max(s.stop);
            s.start < s.stop
        });
    }

    /// Closes the smallest gaps.
    fn thin(&mut self) {
        let gap = |pair: &[Stretch]| pair[1].start - pair[0].stop;
        let mut gaps: Vec<i64> = self.stretches.windows(2).map(gap).collect();
        let surplus = self.stretches.len().saturating_sub(STRETCHES);
        if surplus == 0 || gaps.is_empty() {
            return;
        }
        let at = surplus.min(gaps.len()) - 1;
        let (_, &mut most, _) = gaps.select_nth_unstable(at);
        let mut thinned: Vec<Stretch> = Vec::with_capacity(STRETCHES);
        for stretch in self.stretches.drain(..) {
            match thinned.last_mut() {
                Some(last) if stretch.start - last.stop <= most => {
                    // The longer one says what was done.
                    if stretch.stop - stretch.start > last.stop - last.start {
                        last.doing = stretch.doing;
                    }
                    last.stop = stretch.stop;
                }
                _ => thinned.push(stretch),
            }
        }
        self.stretches = thinned;
    }

    /// Time of all stretches, ns, once they are in order.
    pub fn total(&self) -> i64 {
        self.stretches.iter().map(|s| s.stop - s.start).sum()
    }

    /// Time of the stretches that lies in this window, ns.
    pub fn within(&self, from: i64, to: i64) -> u64 {
        let mut sum = 0;
        self.each_within(from, to, |stretch| sum += stretch.stop - stretch.start);
        u64::try_from(sum).unwrap_or(0)
    }

    /// Gives the parts of the stretches that lie in this window.
    pub fn each_within(&self, from: i64, to: i64, mut put: impl FnMut(Stretch)) {
        let first = self.stretches.partition_point(|s| s.stop <= from);
        let later = self.stretches[first..].iter();
        for s in later.take_while(|s| s.start < to) {
            put(Stretch {
                start: s.start.max(from),
                stop: s.stop.min(to),
                doing: s.doing,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_stretches_become_few() {
        let mut busy = BusyTime::default();
        // Pairs that are near each other, the pairs far apart, and not in order.
        for nth in (0..1000).rev() {
            busy.add(1000 * nth, 1000 * nth + 100, Doing::Write);
            busy.add(1000 * nth + 101, 1000 * nth + 200, Doing::Write);
        }
        busy.straighten();
        assert!(busy.stretches.len() <= 2 * STRETCHES);
        let all = busy.within(i64::MIN, i64::MAX);
        assert!(all >= 1000 * 199, "{all}");
        assert!(busy.stretches.windows(2).all(|s| s[0].stop <= s[1].start));
    }

    #[test]
    fn stretches_in_a_window() {
        let mut busy = BusyTime::default();
        for (start, stop) in [(10, 20), (30, 50), (40, 60), (5, 5)] {
            busy.add(start, stop, Doing::Read);
        }
        busy.straighten();
        assert_eq!(busy.within(0, 100), 10 + 30);
        assert_eq!(busy.within(15, 35), 5 + 5);
        assert_eq!(busy.within(60, 100), 0);
    }
}
