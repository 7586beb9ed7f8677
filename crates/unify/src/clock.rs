//! Converts ticks of the record clock to nanoseconds on rank 0's clock.
//!
//! Two steps, both linear: ticks to this machine's CLOCK_MONOTONIC by the first and the last CLOCK definition, and from there
//! to rank 0's clock by the comparisons in SYNC definitions. Between two comparisons the shift is interpolated (clocks
//! drift apart evenly), before the first and after the last it stays what it was. Where there are none, a process of another host can be placed by the time
//! of day.

use super::timeline::Timeline;
use blockfile::define::{ClockReading, Definition, Sync};
use blockfile::file::BlockFile;
use blockfile::layout::Clock;

/// ns per tick taken for a trace from which the rate cannot be found: a counter of 3 GHz.
const LIKELY_RATE: f64 = 1.0 / 3.0;

/// Binary digits of rates behind the point. Rates from 1/64 to below 32 lose none of theirs.
const RATE_BITS: u32 = 58;

/// Turns times of one process into ns.
#[derive(Clone, Debug)]
pub struct ClockMap {
    /// A tick at which the time is known.
    tick: u64,
    /// Time at `tick`, ns of CLOCK_MONOTONIC.
    ns: i64,
    /// ns per tick, in units of 2^-58: products with it take a third of the time of those of floating-point numbers.
    rate: i64,
    /// Ticks between the readings that the rate was found from.
    span: u64,
    /// Comparisons by time: own time in ns, what to add, round trip.
    points: Vec<ClockPoint>,
    /// Slopes between neighbouring points, one less than there are points.
    slopes: Vec<f64>,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC at the first reading, ns.
    realtime: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockPoint {
    ns: i64,
    shift: i64,
    gap: u64,
}

impl ClockMap {
    /// A map from ticks to time, made of readings and comparisons in any order.
    pub fn new(clock: Clock, readings: &[ClockReading], syncs: &[Sync]) -> ClockMap {
        let first = readings.iter().min_by_key(|r| r.ticks);
        let last = readings.iter().max_by_key(|r| r.ticks);
        let mut map = ClockMap {
            tick: 0,
            ns: 0,
            rate: fixed(1.0),
            span: 0,
            points: Vec::new(),
            slopes: Vec::new(),
            realtime: first.map_or(0, |r| (r.realtime as i64).wrapping_sub(r.monotonic as i64)),
        };
        if let (Clock::Tsc, Some(first), Some(last)) = (clock, first, last) {
            map.tick = first.ticks;
            map.ns = first.monotonic as i64;
            map.rate = fixed(rate(first, last));
            map.span = last.ticks.wrapping_sub(first.ticks);
        } else if clock == Clock::Tsc {
            map.rate = fixed(LIKELY_RATE);
        }
        map.points = syncs
            .iter()
            .map(|s| ClockPoint {
                ns: map.monotonic_ns(s.ticks),
                shift: s.shift,
                gap: s.gap,
            })
            .collect();
        map.points.sort_by_key(|p| p.ns);
        map.points.dedup_by_key(|p| p.ns);
        map.find_slopes();
        map
    }

    /// The clock map from the definitions in `file`.
    pub fn of(file: &BlockFile<'_>) -> ClockMap {
        let (mut readings, mut syncs) = (Vec::new(), Vec::new());
        let mut timeline = Timeline::new(file);
        while let Some(item) = timeline.next() {
            let record = item.record;
            if !record.is_definition() {
                continue;
            }
            match Definition::decode(record.function, record.payload) {
                Some(Definition::Clock(reading)) => readings.push(reading),
                Some(Definition::Sync(sync)) => syncs.push(sync),
                _ => {}
            }
        }
        ClockMap::new(file.info().clock, &readings, &syncs)
    }

    fn find_slopes(&mut self) {
        self.slopes = self
            .points
            .windows(2)
            .map(|w| (w[1].shift as f64 - w[0].shift as f64) / (w[1].ns as f64 - w[0].ns as f64))
            .collect();
    }

    /// Takes each shift that is not larger than its uncertainty, half the round trip, as 0. Right between processes that
    /// share a boot id, and so a clock.
    pub fn ignore_noise(&mut self) {
        for point in &mut self.points {
            if point.shift.unsigned_abs() <= point.gap / 2 {
                point.shift = 0;
            }
        }
        self.find_slopes();
    }

    /// Ticks between the readings that the rate was found from: the more, the better it is known.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Takes the ticks of both for those of one and the same clock, as they are on one machine, and `other` for the better
    /// reading of it; comparisons are dropped.
    pub fn adopt(&mut self, other: &ClockMap) {
        *self = ClockMap {
            points: Vec::new(),
            slopes: Vec::new(),
            ..other.clone()
        };
    }

    /// Time of this machine at `ticks`: CLOCK_MONOTONIC, ns.
    #[inline]
    pub fn monotonic_ns(&self, ticks: u64) -> i64 {
        let delta = ticks.wrapping_sub(self.tick) as i64;
        let units = i128::from(delta) * i128::from(self.rate);
        let ns = (units + (1 << (RATE_BITS - 1))) >> RATE_BITS;
        self.ns.wrapping_add(ns as i64)
    }

    /// Time on rank 0's clock at `ticks`: its CLOCK_MONOTONIC, ns.
    #[inline]
    pub fn ns(&self, ticks: u64) -> i64 {
        let ns = self.monotonic_ns(ticks);
        ns.wrapping_add(self.shift_at(ns))
    }

    /// Shift of this process's time at `ticks` to rank 0's clock, ns.
    pub fn shift(&self, ticks: u64) -> i64 {
        self.shift_at(self.monotonic_ns(ticks))
    }

    /// CLOCK_REALTIME of this machine at `ticks`, ns since the epoch.
    pub fn realtime_ns(&self, ticks: u64) -> i64 {
        self.monotonic_ns(ticks).wrapping_add(self.realtime)
    }

    /// Whether the clock was compared with rank 0's.
    pub fn is_compared(&self) -> bool {
        !self.points.is_empty()
    }

    /// CLOCK_REALTIME of this machine minus rank 0's clock at the first reading, ns.
    pub fn time_of_day_offset(&self) -> i64 {
        self.realtime.wrapping_sub(self.shift_at(self.ns))
    }

    /// Takes the time of day of this machine for that of rank 0's, which is by `offset` ns later than rank 0's clock. Comparisons are dropped.
    pub fn place_by_time_of_day(&mut self, offset: i64) {
        self.slopes = Vec::new();
        self.points = vec![ClockPoint {
            ns: self.ns,
            shift: self.realtime.wrapping_sub(offset),
            gap: 0,
        }];
    }

    /// CLOCK_REALTIME minus CLOCK_MONOTONIC, ns.
    pub fn realtime_offset(&self) -> i64 {
        self.realtime
    }

    #[inline]
    fn shift_at(&self, ns: i64) -> i64 {
        match &self.points[..] {
            [] => 0,
            [only] => only.shift,
            points => {
                // The last point that is not later; there are two in nearly all traces.
                let i = points.iter().rposition(|p| p.ns <= ns);
                match i {
                    None => points[0].shift,
                    Some(i) => {
                        let slope = self.slopes.get(i).copied().unwrap_or(0.0);
                        let since = ns.wrapping_sub(points[i].ns) as f64;
                        points[i].shift.wrapping_add(nearest(since * slope))
                    }
                }
            }
        }
    }
}

/// The nearest integer, halves away from zero, as [`f64::round`] has it: that is a call into a library on processors of the
/// oldest kind, for which the recorder is built.
#[inline]
fn nearest(value: f64) -> i64 {
    let whole = value as i64;
    // Exact, as both are close to each other.
    let rest = value - whole as f64;
    whole
        .saturating_add(i64::from(rest >= 0.5))
        .saturating_sub(i64::from(rest <= -0.5))
}

/// A rate below 32 in units of 2^-58.
fn fixed(rate: f64) -> i64 {
    (rate * (1u64 << RATE_BITS) as f64) as i64
}

/// ns per tick.
fn rate(first: &ClockReading, last: &ClockReading) -> f64 {
    let ticks = last.ticks.wrapping_sub(first.ticks) as f64;
    let ns = last.monotonic.wrapping_sub(first.monotonic) as i64 as f64;
    // A killed process may leave one reading only. The counter and the clock both start when the machine does.
    [ns / ticks, first.monotonic as f64 / first.ticks as f64]
        .into_iter()
        .find(|rate| (0.05..20.0).contains(rate))
        .unwrap_or(LIKELY_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(ticks: u64, monotonic: u64) -> ClockReading {
        ClockReading {
            ticks,
            monotonic,
            realtime: monotonic + 1_000_000,
            cpu: 0,
        }
    }

    fn sync(ticks: u64, shift: i64, gap: u64) -> Sync {
        Sync { ticks, shift, gap }
    }

    #[test]
    fn ticks_run_along_a_line() {
        let map = ClockMap::new(
            Clock::Tsc,
            &[reading(4000, 3000), reading(1000, 1500), reading(2000, 1)],
            &[],
        );
        assert_eq!(map.ns(1000), 1500);
        assert_eq!(map.ns(2500), 2250);
        assert_eq!(map.ns(5000), 3500);
        assert_eq!(map.ns(0), 1000);
        assert_eq!(map.realtime_ns(2000), 1_002_000);
    }

    #[test]
    fn shifts_are_interpolated_between_comparisons_and_constant_outside() {
        let syncs = [sync(3000, 100, 10), sync(1000, 50, 10)];
        let map = ClockMap::new(Clock::Monotonic, &[], &syncs);
        let shifts = [0, 1000, 1500, 2000, 3000, 9000].map(|t| map.ns(t) - t as i64);
        assert_eq!(shifts, [50, 50, 63, 75, 100, 100]);
    }

    #[test]
    fn noise_is_ignored_only_on_request() {
        let syncs = [sync(1000, 50, 100), sync(3000, -51, 100)];
        let mut map = ClockMap::new(Clock::Monotonic, &[], &syncs);
        assert_eq!(map.shift(0), 50);
        map.ignore_noise();
        assert_eq!(map.shift(0), 0);
        assert_eq!(map.shift(9000), -51);
    }

    proptest::proptest! {
        #[test]
        fn the_nearest_integer_is_that_of_the_standard_library(bits in proptest::num::u64::ANY, small in -1e7..1e7) {
            for value in [f64::from_bits(bits), small, (small * 2.0).round() / 2.0] {
                proptest::prop_assert_eq!(nearest(value), value.round() as i64, "{}", value);
            }
        }
    }

    #[test]
    fn one_reading_gives_a_plausible_rate() {
        let map = ClockMap::new(Clock::Tsc, &[reading(2_000_000, 1_000_000)], &[]);
        assert_eq!(map.ns(2_000_200), 1_000_100);
        let map = ClockMap::new(Clock::Tsc, &[reading(0, 1_000_000)], &[]);
        assert_eq!(map.ns(300), 1_000_100);
    }
}
