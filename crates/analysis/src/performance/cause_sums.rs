//! Seconds of waiting by root cause, of as many causes as there is room for.

use super::history::{CausedStretch, RootCause};

/// Sums of the causes that came first, at most `MOST`.
#[derive(Clone, Debug, Default)]
pub(super) struct CauseSums<const MOST: usize> {
    /// The causes as numbers: these are looked through for each stretch of each wait.
    numbers: Vec<u64>,
    pub sums: Vec<(RootCause, f64)>,
}

impl<const MOST: usize> CauseSums<MOST> {
    /// Adds to the sum of a cause, if it has one or there is room.
    #[inline]
    pub(super) fn add(&mut self, cause: RootCause, seconds: f64) {
        let number = cause.number();
        if let Some(at) = self.numbers.iter().position(|&known| known == number) {
            self.sums[at].1 += seconds;
        } else if self.sums.len() < MOST {
            self.numbers.push(number);
            self.sums.push((cause, seconds));
        }
    }

    /// The cause with the largest sum; of equal ones the last.
    pub(super) fn longest(&self) -> Option<RootCause> {
        let most = self.sums.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(cause, _)| *cause)
    }
}

/// The causes of one wait.
#[derive(Debug, Default)]
pub(super) struct CausesOfWait {
    /// Stretches of the wait in order of time.
    pub stretches: Vec<CausedStretch>,
    by_cause: CauseSums<{ usize::MAX }>,
}

impl CausesOfWait {
    /// Forgets all, and keeps the room.
    pub(super) fn clear(&mut self) {
        self.stretches.clear();
        self.by_cause.numbers.clear();
        self.by_cause.sums.clear();
    }

    /// Adds the stretches up, so that each cause is there once.
    pub(super) fn add_up(&mut self) {
        for stretch in &self.stretches {
            self.by_cause.add(stretch.cause, stretch.seconds());
        }
    }

    /// Each cause with its seconds, once they have been added up.
    pub(super) fn sums(&self) -> &[(RootCause, f64)] {
        &self.by_cause.sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_causes_have_sums() {
        let cause = |lane, activity| RootCause { lane, activity };
        let causes = [
            cause(0, None),
            cause(0, Some(0)),
            cause(1, None),
            cause(1, Some(u32::MAX)),
            cause(2, None),
        ];
        let mut sums = CauseSums::<4>::default();
        for turn in [1.0, 2.0] {
            for (nth, &cause) in (0u8..).zip(&causes) {
                sums.add(cause, turn * f64::from(nth));
            }
        }
        let expected: Vec<_> = causes[..4]
            .iter()
            .copied()
            .zip([0.0, 3.0, 6.0, 9.0])
            .collect();
        assert_eq!(sums.sums, expected);
        assert_eq!(sums.longest(), Some(causes[3]));
    }
}
