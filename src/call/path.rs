//! Choice of the path of calls: the hot one reads nothing but the time-stamp counter round a call.

use crate::call::matching_only;
use crate::counters;
use crate::platform::clock::{self, READS_CPU_TIME};
use crate::thread::wiped::WIPED;
use blockfile::layout::Clock;
use std::sync::atomic::Ordering::Relaxed;

/// Whether anything else is read round a call than ticks of the time-stamp counter. In forked children calls take the slow path, which
/// knows them.
#[inline(always)]
pub fn needs_slow_path() -> bool {
    !WIPED.only_ticks.load(Relaxed)
}

/// Notes what is read round calls, once it is known.
pub fn choose() {
    let needs_more = READS_CPU_TIME.load(Relaxed)
        || counters::is_on()
        || clock::source() != Clock::Tsc
        || matching_only::is_on();
    WIPED.only_ticks.store(!needs_more, Relaxed);
}
