//! Readings of this machine's clocks for block files of killed processes. A killed process has read its clocks once, when it
//! began: the rate of its time-stamp
//! counter follows from that and from a reading made at any later time, as long as the machine has not been started again.

use blockfile::define::{ClockReading, Definition, ProcessDefinition};
use blockfile::definitions_block;
use blockfile::file::BlockFile;
use blockfile::layout::Clock;
use blockfile::machine;
use std::time::Duration;
use unify::timeline::Timeline;

/// A reading of the clocks of this machine.
#[derive(Debug)]
pub struct MachineClock {
    /// The reading as a block that can be added to a block file.
    block: Vec<u8>,
    boot: String,
    reading: ClockReading,
    /// Rate of the counter as measured just now, ns per tick: rough, and surely of the right size.
    rate: f64,
}

/// Largest relative deviation of the rate since the process began from the one measured now. A counter that was stopped or set
/// meanwhile is farther off.
const MAX_RATE_DEVIATION: f64 = 1e-2;

/// Reads the clocks; `None` where there is no time-stamp counter.
pub fn notes() -> Option<MachineClock> {
    let boot = Some(machine::boot_id()).filter(|boot| !boot.is_empty())?;
    let first = reading()?;
    std::thread::sleep(Duration::from_millis(5));
    let reading = reading()?;
    Some(MachineClock {
        block: definitions_block(&[Definition::Clock(reading)]),
        boot,
        rate: rate(&first, &reading),
        reading,
    })
}

/// Seconds since the moment `ticks` of the clock that a running process on this machine takes its times from.
pub fn seconds_since(source: Clock, ticks: u64) -> Option<f64> {
    use std::sync::OnceLock;
    static NOTES: OnceLock<Option<MachineClock>> = OnceLock::new();
    let notes = NOTES.get_or_init(notes).as_ref()?;
    let ns = match source {
        Clock::Tsc => notes.reading.ticks.saturating_sub(ticks) as f64 * notes.rate,
        Clock::Monotonic => notes.reading.monotonic.saturating_sub(ticks) as f64,
    };
    Some(ns / 1e9)
}

/// ns per tick between two readings.
fn rate(first: &ClockReading, last: &ClockReading) -> f64 {
    last.monotonic.wrapping_sub(first.monotonic) as f64
        / last.ticks.wrapping_sub(first.ticks) as f64
}

/// Definition of the process that wrote `file`, and its clock readings in order.
pub fn introduction(file: &BlockFile<'_>) -> (ProcessDefinition, Vec<ClockReading>) {
    let mut process = ProcessDefinition::default();
    let mut readings = Vec::new();
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let record = item.record;
        if !record.is_definition() {
            continue;
        }
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Process(p)) => process = p,
            Some(Definition::Clock(reading)) => readings.push(reading),
            _ => {}
        }
    }
    readings.sort_by_key(|r| r.ticks);
    (process, readings)
}

impl MachineClock {
    /// Adds the reading to a file that has one only, if it is of the same clocks.
    pub fn complete<'a>(
        &'a self,
        file: &mut BlockFile<'a>,
        process: &ProcessDefinition,
        readings: &[ClockReading],
    ) {
        if file.info().clock == Clock::Tsc
            && let [only] = readings
            && self.continues(&process.boot, only)
        {
            file.add(&self.block);
        }
    }

    /// Whether the clocks have gone on from `earlier`, read under the kernel `boot`, to this reading.
    fn continues(&self, boot: &str, earlier: &ClockReading) -> bool {
        boot == self.boot
            && earlier.ticks < self.reading.ticks
            && earlier.monotonic < self.reading.monotonic
            && (rate(earlier, &self.reading) / self.rate - 1.0).abs() < MAX_RATE_DEVIATION
    }
}

#[cfg(target_arch = "x86_64")]
fn reading() -> Option<ClockReading> {
    // SAFETY: rdtsc has no preconditions.
    let ticks = || unsafe { std::arch::x86_64::_rdtsc() };
    let one = || {
        let before = ticks();
        let monotonic = machine::posix_clock(libc::CLOCK_MONOTONIC);
        (ticks().wrapping_sub(before), before, monotonic)
    };
    // Of several tries the one that was interrupted least.
    let (width, before, monotonic) = (0..8).map(|_| one()).min_by_key(|&(width, ..)| width)?;
    Some(ClockReading {
        ticks: before + width / 2,
        monotonic,
        realtime: machine::posix_clock(libc::CLOCK_REALTIME),
        cpu: 0,
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn reading() -> Option<ClockReading> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ticks: u64, monotonic: u64) -> ClockReading {
        ClockReading {
            ticks,
            monotonic,
            realtime: 0,
            cpu: 0,
        }
    }

    #[test]
    fn only_clocks_that_went_on_are_believed() {
        let notes = MachineClock {
            block: Vec::new(),
            boot: "b".to_owned(),
            reading: at(20_000_000, 10_000_000),
            rate: 0.5,
        };
        assert!(notes.continues("b", &at(2_000_000, 1_000_000)));
        assert!(
            !notes.continues("c", &at(2_000_000, 1_000_000)),
            "another kernel"
        );
        assert!(
            !notes.continues("b", &at(2_000_000, 9_000_000)),
            "counter stopped"
        );
        assert!(
            !notes.continues("b", &at(30_000_000, 1_000_000)),
            "counter set back"
        );
        assert!(
            !notes.continues("b", &at(2_000_000, 11_000_000)),
            "other clock"
        );
    }
}
