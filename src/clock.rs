//! Time stamps: raw ticks of the time-stamp counter where it is constant and nonstop, else CLOCK_MONOTONIC in ns.
//! Conversion to seconds is left to the readers, which find readings of all clocks in the trace.

use records::define::ClockReading;
use records::layout::Clock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static USE_TSC: AtomicBool = AtomicBool::new(false);

/// Chooses the source. The kernel itself must trust the counter: it then keeps time with it. `TRACE_CLOCK=monotonic` does
/// without the counter.
pub fn init() {
    if std::env::var("TRACE_CLOCK").is_ok_and(|v| v == "monotonic") {
        return;
    }
    let trusted = |path: &str| {
        std::fs::read_to_string(path).is_ok_and(|s| s.trim() == "tsc" || s.contains("nonstop_tsc"))
    };
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    USE_TSC.store(
        cfg!(target_arch = "x86_64") && (trusted(source) && trusted("/proc/cpuinfo")),
        Relaxed,
    );
}

/// Which source is in use.
pub fn source() -> Clock {
    if USE_TSC.load(Relaxed) {
        Clock::Tsc
    } else {
        Clock::Monotonic
    }
}

/// Now, in ticks of the source.
#[inline(always)]
pub fn now() -> u64 {
    if USE_TSC.load(Relaxed) {
        ticks()
    } else {
        monotonic()
    }
}

/// The time-stamp counter, where it is known to be the source.
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: rdtsc has no preconditions.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cold]
fn monotonic() -> u64 {
    posix(libc::CLOCK_MONOTONIC)
}

/// A POSIX clock in ns.
pub fn posix(clock: libc::clockid_t) -> u64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a valid place for the result.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time of the process in ns (some 370 ns per reading).
#[cold]
pub fn cpu() -> u64 {
    posix(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// All clocks at one moment: of several tries the one that took least time.
pub fn reading() -> ClockReading {
    let one = || {
        let before = now();
        let monotonic = posix(libc::CLOCK_MONOTONIC);
        let after = now();
        (after.wrapping_sub(before), before, monotonic)
    };
    let (width, before, monotonic) = (0..8)
        .map(|_| one())
        .min_by_key(|&(width, ..)| width)
        .unwrap_or_else(one);
    ClockReading {
        ticks: before + width / 2,
        monotonic,
        realtime: posix(libc::CLOCK_REALTIME)
            .wrapping_sub(posix(libc::CLOCK_MONOTONIC).wrapping_sub(monotonic)),
        cpu: cpu(),
    }
}
