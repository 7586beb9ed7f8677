//! How long a rank waits for others. Only the time counts in which it has run: a rank that was stopped (SIGSTOP, a job that the batch system
//! suspends) finds what has come meanwhile, and does not leave in the middle of an exchange because of a time that others have waited
//! through.

use std::time::{Duration, Instant};

/// Most time that counts between two looks. Whoever waits looks many times in it, if it runs.
const MAX_COUNTED: Duration = Duration::from_millis(200);

/// A wait that comes to an end.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// `None` waits for ever.
    limit: Option<Duration>,
    spent: Duration,
    latest: Instant,
}

impl Patience {
    /// A wait that begins now and is over when `limit` is spent.
    pub fn new(limit: Option<Duration>) -> Patience {
        Patience::from(Instant::now(), limit)
    }

    fn from(now: Instant, limit: Option<Duration>) -> Patience {
        Patience {
            limit,
            spent: Duration::ZERO,
            latest: now,
        }
    }

    /// Whether it is over. To be asked at each turn of the wait: of a longer time without a look only a part counts.
    pub fn is_over(&mut self) -> bool {
        self.is_over_at(Instant::now())
    }

    fn is_over_at(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.latest);
        self.spent = self.spent.saturating_add(passed.min(MAX_COUNTED));
        self.latest = now;
        self.limit.is_some_and(|limit| self.spent > limit)
    }

    /// Begins anew: something has come.
    pub fn renew(&mut self) {
        *self = Patience::new(self.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Option<Duration> = Some(Duration::from_secs(2));

    /// Looks every 50 ms, from one time to another in ms since `begun`; gives the time at which the wait was over.
    fn over(patience: &mut Patience, begun: Instant, from: u64, to: u64) -> Option<u64> {
        (from..to)
            .step_by(50)
            .find(|&ms| patience.is_over_at(begun + Duration::from_millis(ms)))
    }

    #[test]
    fn a_wait_is_over_when_its_limit_has_passed() {
        let begun = Instant::now();
        let mut patience = Patience::from(begun, LIMIT);
        assert_eq!(over(&mut patience, begun, 0, 10_000), Some(2050));
        let mut patience = Patience::from(begun, None);
        assert_eq!(over(&mut patience, begun, 0, 10_000), None);
    }

    #[test]
    fn a_rank_that_was_stopped_waits_on() {
        let begun = Instant::now();
        let mut patience = Patience::from(begun, LIMIT);
        assert_eq!(over(&mut patience, begun, 0, 1050), None);
        // An hour later it is as if 200 ms had passed.
        assert_eq!(
            over(&mut patience, begun, 3_601_000, 3_700_000),
            Some(3_601_850)
        );
    }
}
