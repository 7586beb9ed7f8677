//! How calls are spread over time, so that leaves of about the same size can be cut before anything is drawn.

use crate::operations::DrawnOperations;
use unify::scan::Scan;

/// Calls by the time at which they ended, in bins of the same length from time zero on.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    bins: Vec<u64>,
    /// End of the last bin, seconds since time zero.
    end: f64,
}

impl Histogram {
    /// Without calls. `end` is the end of the last bin, seconds since time zero.
    pub fn new(bins: usize, end: f64) -> Histogram {
        Histogram {
            bins: vec![0; bins.max(1)],
            end: if end > 0.0 { end } else { 1e-9 },
        }
    }

    /// Adds calls that ended at `time`, seconds since time zero.
    pub fn add(&mut self, time: f64, calls: u64) {
        let place = time / self.end * self.bins.len() as f64;
        let bin = (place.max(0.0) as usize).min(self.bins.len() - 1);
        self.bins[bin] += calls;
    }

    /// Adds what `scan` found in one process; `zero_ns` is time zero on rank 0's clock.
    pub fn add_process(&mut self, scan: &Scan, zero_ns: i64) {
        let (ends, calls) = scan.pace.ends();
        for &ticks in ends {
            let ns = scan.clock.ns(ticks).wrapping_sub(zero_ns);
            self.add(ns as f64 / 1e9, calls);
        }
    }

    /// Adds operations below MPI.
    pub fn add_operations(&mut self, drawn: &DrawnOperations) {
        let (ends, operations) = drawn.pace.ends();
        for &ns in ends {
            self.add(ns as f64 / 1e9, operations);
        }
    }

    /// The bins as little-endian numbers.
    pub(super) fn encode(&self) -> Vec<u8> {
        self.bins.iter().flat_map(|bin| bin.to_le_bytes()).collect()
    }

    /// Adds encoded bins to others of the same number.
    pub(super) fn join_encoded(own: &mut [u8], theirs: &[u8]) {
        for (own, theirs) in own.as_chunks_mut().0.iter_mut().zip(theirs.as_chunks().0) {
            let sum = u64::from_le_bytes(*own).saturating_add(u64::from_le_bytes(*theirs));
            *own = sum.to_le_bytes();
        }
    }

    /// Takes the place of the bins by encoded ones of the same number.
    pub(super) fn replace(&mut self, encoded: &[u8]) {
        for (own, bin) in self.bins.iter_mut().zip(encoded.as_chunks().0) {
            *own = u64::from_le_bytes(*bin);
        }
    }

    /// Beginnings of `leaves` leaves with about as many calls each, and the end of the last one, `end`, seconds. They ascend.
    pub fn cuts(&self, leaves: usize, end: f64) -> Vec<f64> {
        let leaves = leaves.max(1);
        // Nothing is lost where nothing was counted: empty bins take some time, too.
        let total: u128 = self.bins.iter().map(|&calls| u128::from(calls)).sum();
        let length = self.end / self.bins.len() as f64;
        let mut cuts = Vec::with_capacity(leaves + 1);
        cuts.push(0.0);
        let (mut bin, mut before) = (0, 0u128);
        for leaf in 1..leaves {
            let wanted = total * leaf as u128;
            while bin + 1 < self.bins.len()
                && (before + u128::from(self.bins[bin])) * leaves as u128 <= wanted
            {
                before += u128::from(self.bins[bin]);
                bin += 1;
            }
            let within = (wanted - (before * leaves as u128).min(wanted)) as f64 / leaves as f64;
            let share = within / (self.bins[bin].max(1)) as f64;
            let cut = (bin as f64 + share.min(1.0)) * length;
            cuts.push(after(&cuts, cut));
        }
        cuts.push(after(&cuts, end));
        cuts
    }
}

/// `cut`, or if it is not behind the last of `cuts`, the next time behind that.
fn after(cuts: &[f64], cut: f64) -> f64 {
    match cuts.last() {
        Some(&last) if cut <= last => last.next_up(),
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_have_as_many_calls_each() {
        let mut histogram = Histogram::new(100, 10.0);
        // Nine tenths of the calls are in the last second.
        for nth in 0..1000 {
            histogram.add(9.0 * f64::from(nth) / 1000.0, 1);
            histogram.add(9.0 + f64::from(nth) / 1000.0, 9);
        }
        let cuts = histogram.cuts(10, 10.0);
        assert_eq!(cuts.len(), 11);
        assert!((cuts[1] - 9.0).abs() < 0.02, "{cuts:?}");
        assert!((cuts[5] - (9.0 + 4.0 / 9.0)).abs() < 0.02, "{cuts:?}");
    }

    #[test]
    fn cuts_ascend_whatever_is_counted() {
        let mut spike = Histogram::new(16, 1.0);
        spike.add(0.5, 1_000_000);
        for histogram in [Histogram::new(16, 0.0), Histogram::new(1, 1.0), spike] {
            for leaves in [1, 2, 7, 300] {
                let cuts = histogram.cuts(leaves, 1.0);
                assert_eq!(cuts.len(), leaves + 1);
                assert!(cuts.windows(2).all(|pair| pair[0] < pair[1]), "{cuts:?}");
            }
        }
    }
}
