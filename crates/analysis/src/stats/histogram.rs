//! Distributions of durations and sizes in little memory: buckets of equal relative width.

/// Buckets for each power of two.
const STEPS: u32 = 64;
/// Bits of a float's mantissa below those that tell the bucket.
const SHIFT: u32 = 52 - STEPS.trailing_zeros();

/// Counts values of 0 and more in buckets that are each 1/64 of a power of two wide.
///
/// Only buckets that hold something take memory, 16 bytes each: durations from nanoseconds to hours are spread over some
/// 2700. Smallest and largest value are kept as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Bucket and count, ascending.
    buckets: Vec<(u32, u64)>,
    count: u64,
    min: f64,
    max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            buckets: Vec::new(),
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl Histogram {
    /// The largest relative error of [`Histogram::percentile`].
    pub const ERROR: f64 = 1.0 / (2 * STEPS) as f64;

    /// Counts a value; one below 0 counts as 0, NaN is ignored.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        // Adding 0 makes 0 of −0.
        let value = value.max(0.0) + 0.0;
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        // The bits of floats that are not negative ascend as their values do.
        let bucket = (value.to_bits() >> SHIFT) as u32;
        match self.buckets.binary_search_by_key(&bucket, |entry| entry.0) {
            Ok(at) => self.buckets[at].1 += 1,
            Err(at) => self.buckets.insert(at, (bucket, 1)),
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value; `None` if there are none.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value; `None` if there are none.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The value that `percent` % of the values do not exceed (nearest rank), within a relative [`Histogram::ERROR`];
    /// 0 % and 100 % are exact. `None` if there are none.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = (percent / 100.0 * self.count as f64).ceil();
        if rank <= 1.0 {
            return Some(self.min);
        }
        if rank >= self.count as f64 {
            return Some(self.max);
        }
        let rank = rank as u64;
        let mut seen = 0;
        for &(bucket, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                return Some(middle(bucket).clamp(self.min, self.max));
            }
        }
        Some(self.max)
    }

    /// Takes over the values of another one.
    pub fn merge(&mut self, other: &Histogram) {
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        for &(bucket, count) in &other.buckets {
            match self.buckets.binary_search_by_key(&bucket, |entry| entry.0) {
                Ok(at) => self.buckets[at].1 += count,
                Err(at) => self.buckets.insert(at, (bucket, count)),
            }
        }
    }

    /// Lower and upper border of each bucket that holds something, and how many values it holds.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = (f64, f64, u64)> + '_ {
        let borders = |bucket| (border(bucket), border(bucket + 1));
        self.buckets.iter().map(move |&(bucket, count)| {
            let (low, high) = borders(bucket);
            (low, high, count)
        })
    }
}

fn border(bucket: u32) -> f64 {
    f64::from_bits(u64::from(bucket) << SHIFT)
}

fn middle(bucket: u32) -> f64 {
    let (low, high) = (border(bucket), border(bucket + 1));
    // The first bucket holds 0 and what is too small to be anything else.
    if bucket == 0 {
        0.0
    } else if high.is_finite() {
        low + (high - low) / 2.0
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_thousand_numbers() {
        let mut histogram = Histogram::default();
        for number in (1..=1000).rev() {
            histogram.add(f64::from(number) * 1e-6);
        }
        for percent in [0.1, 1.0, 25.0, 50.0, 90.0, 99.0, 99.9] {
            let expected = percent * 10.0 * 1e-6;
            let found = histogram.percentile(percent).unwrap();
            assert!(
                (found - expected).abs() <= expected * Histogram::ERROR,
                "{percent} %: {found}, expected {expected}"
            );
        }
        assert_eq!(histogram.percentile(0.0), Some(1e-6));
        assert_eq!(histogram.percentile(100.0), Some(1000.0 * 1e-6));
        assert_eq!(histogram.count(), 1000);
        assert!(histogram.buckets().len() < 650);
    }

    #[test]
    fn odd_values() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(50.0), None);
        histogram.add(f64::NAN);
        assert_eq!(histogram.min(), None);
        histogram.add(-1.0);
        histogram.add(-0.0);
        histogram.add(f64::INFINITY);
        histogram.add(f64::MAX);
        assert_eq!(histogram.percentile(50.0), Some(0.0));
        assert_eq!(histogram.percentile(100.0), Some(f64::INFINITY));
        let mut both = histogram.clone();
        both.merge(&histogram);
        assert_eq!(both.count(), 8);
        assert_eq!(both.buckets().map(|(_, _, count)| count).sum::<u64>(), 8);
        assert_eq!(both.percentile(75.0), histogram.percentile(75.0));
    }
}
