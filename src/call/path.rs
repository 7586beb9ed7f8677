//! Choice of the path of calls: the hot one reads nothing but the time-stamp counter round a call.

use crate::call::matching_only;
use crate::counters;
use crate::platform::clock::{self, READS_CPU_TIME};
use blockfile::layout::Clock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether anything else is read round a call than ticks of the time-stamp counter.
pub static NEEDS_SLOW_PATH: AtomicBool = AtomicBool::new(true);

/// Notes what is read round calls, once it is known.
pub fn choose() {
    NEEDS_SLOW_PATH.store(
        READS_CPU_TIME.load(Relaxed)
            || counters::is_on()
            || clock::source() != Clock::Tsc
            || matching_only::is_on(),
        Relaxed,
    );
}
