//! Time stamps: raw ticks of the processor's counter where the kernel keeps time with it, else CLOCK_MONOTONIC in ns. On x86-64 that is the
//! time-stamp counter, where it is constant and nonstop; on aarch64 the virtual counter of the generic timer.
//! Conversion to seconds is left to the readers, which find readings of all clocks in the trace.

use crate::platform::environment;
use crate::platform::launcher;
use blockfile::define::ClockReading;
use blockfile::layout::Clock;
use blockfile::machine;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant};

static USE_TSC: AtomicBool = AtomicBool::new(false);
/// For tests, by how much this process's CLOCK_MONOTONIC is wrong: ns, and ns per s. Both 0 otherwise.
static OFFSET: AtomicI64 = AtomicI64::new(0);
static DRIFT: AtomicI64 = AtomicI64::new(0);

/// Most by which a clock is wrong in a test: a hundred years, ns.
const MAX_TEST_OFFSET_NS: i64 = 100 * 365 * 86400 * 1_000_000_000;
/// Most by which a clock is too fast or too slow in a test, ns per s: it goes twice as fast, or not at all.
const MAX_TEST_DRIFT: i64 = 1_000_000_000;

/// Chooses the source. The kernel itself must trust the counter: it then keeps time with it. `TRACE_CLOCK=monotonic` does
/// without the counter.
pub fn init() {
    if let Some((offset, drift)) = wrong() {
        OFFSET.store(offset, Relaxed);
        DRIFT.store(drift, Relaxed);
        return;
    }
    if environment::var("TRACE_CLOCK").is_some_and(|v| v == "monotonic") {
        return;
    }
    USE_TSC.store(is_counter_trusted(), Relaxed);
}

/// Whether the kernel keeps time with the counter, which it does not where it has found it wanting.
fn is_counter_trusted() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).unwrap_or_default();
    if cfg!(target_arch = "aarch64") {
        return source.trim() == "arch_sys_counter";
    }
    let is_nonstop = |about: String| about.contains("nonstop_tsc");
    source.trim() == "tsc" && std::fs::read_to_string("/proc/cpuinfo").is_ok_and(is_nonstop)
}

/// `TRACE_TEST_CLOCK=OFFSET,DRIFT` makes the clock of rank r wrong by r times as many ns, and ns per s, and the ranks count as
/// running under kernels of their own: what several hosts are like, for tests on one. A value by which no clock is wrong counts as none.
fn wrong() -> Option<(i64, i64)> {
    let text = environment::var("TRACE_TEST_CLOCK")?;
    let (offset, drift) = text.split_once(',')?;
    let rank = i64::from(launcher::rank()?);
    Some((
        times(offset, rank, MAX_TEST_OFFSET_NS)?,
        times(drift, rank, MAX_TEST_DRIFT)?,
    ))
}

/// The number in a text times the rank; `None` where it is beyond `most` to either side.
fn times(text: &str, rank: i64, most: i64) -> Option<i64> {
    let wrong = text.parse::<i64>().ok()?.checked_mul(rank)?;
    (-most..=most).contains(&wrong).then_some(wrong)
}

/// Whether the clock is not that of other ranks of this machine.
pub fn is_wrong() -> bool {
    OFFSET.load(Relaxed) != 0 || DRIFT.load(Relaxed) != 0
}

/// The source of time stamps in use.
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

/// The processor's counter, where it is known to be the source.
#[inline(always)]
pub fn ticks() -> u64 {
    machine::counter()
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
    let ns = t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64;
    if clock == libc::CLOCK_MONOTONIC && is_wrong() {
        let drift = i128::from(ns) * i128::from(DRIFT.load(Relaxed)) / 1_000_000_000;
        return ns.wrapping_add_signed(OFFSET.load(Relaxed) + drift as i64);
    }
    ns
}

/// Whether records have CPU times (setting `timestamp`).
pub static READS_CPU_TIME: AtomicBool = AtomicBool::new(false);

/// CPU time of the process in ns (some 370 ns per reading).
#[cold]
pub fn cpu() -> u64 {
    posix(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Sleeps for about `time`: shorter where a signal comes, and not at all where the program has forbidden itself to sleep. Whoever calls it looks again
/// whether there is still something to wait for. [`std::thread::sleep`] goes on after each signal, for ever if they come often, and panics where it may not sleep.
pub fn nap(time: Duration) {
    let time = libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    };
    // SAFETY: a valid time; what is left of it is not asked for.
    unsafe { libc::nanosleep(&time, std::ptr::null_mut()) };
}

/// Number of clock ticks in `ns` nanoseconds. Measures for a millisecond.
pub fn ticks_of(ns: u64) -> u64 {
    if ns == 0 || !USE_TSC.load(Relaxed) {
        return ns;
    }
    let millisecond = Duration::from_millis(1);
    let (before, begun) = (reading(), Instant::now());
    while begun.elapsed() < millisecond {
        nap(millisecond);
    }
    let after = reading();
    let ticks = u128::from(after.ticks.wrapping_sub(before.ticks));
    let passed = u128::from(after.monotonic.wrapping_sub(before.monotonic)).max(1);
    (u128::from(ns) * ticks / passed) as u64
}

/// The first reading of all clocks, made at the process's first MPI call.
static FIRST_READING: OnceLock<ClockReading> = OnceLock::new();

/// Makes the first reading of all clocks, once.
pub fn read_first() {
    FIRST_READING.get_or_init(reading);
}

/// The first reading of all clocks; zeros before it has been made.
pub fn first_reading() -> ClockReading {
    FIRST_READING.get().copied().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn clocks_are_wrong_by_no_more_than_numbers_can_say() {
        assert_eq!(times("-5", 3, 100), Some(-15));
        assert_eq!(times("50", 3, 100), None);
        for text in ["9223372036854775807", "-9223372036854775808", "x"] {
            for rank in [1, 2] {
                assert_eq!(times(text, rank, i64::MAX - 1), None);
            }
        }
    }
}
