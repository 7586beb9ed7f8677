//! Whether this rank has been stopped (SIGSTOP, a suspended job) while others waited for it.

use crate::platform::clock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// When [`has_stopped`] was asked last, in ns of the monotonic clock; 0 before the first time.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// Whether so much time has passed since this was asked last that others, who wait no longer than `deadline`, may have given up. Work that
/// takes as long counts, too.
pub fn has_stopped(deadline: Option<Duration>) -> bool {
    let now = clock::posix(libc::CLOCK_MONOTONIC).max(1);
    let latest = LATEST.swap(now, Relaxed);
    is_long(latest, now, deadline)
}

fn is_long(latest: u64, now: u64, deadline: Option<Duration>) -> bool {
    let passed = Duration::from_nanos(now.saturating_sub(latest));
    latest != 0 && deadline.is_some_and(|deadline| passed > deadline / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_deadline_is_long() {
        let second = 1_000_000_000;
        let deadline = Some(Duration::from_secs(2));
        assert!(!is_long(second, 2 * second, deadline));
        assert!(is_long(second, 2 * second + 1, deadline));
        assert!(!is_long(second, 100 * second, None));
        assert!(!is_long(0, 100 * second, deadline));
    }
}
