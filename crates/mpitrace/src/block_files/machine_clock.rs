//! Readings of this machine's clocks for block files of killed processes. A killed process has read its clocks once, when it
//! began: the rate of the processor's counter follows from that and from a reading made at any later time, as long as the machine has
//! not been started again.

use blockfile::define::{ClockReading, Definition, ProcessDefinition};
use blockfile::definitions_block;
use blockfile::file::BlockFile;
use blockfile::layout::Clock;
use blockfile::machine;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;
use trace_model::{PendingFile, files};
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

/// Most bytes of a reading as text.
const MAX_TEXT_BYTES: u64 = 1 << 10;

/// Reads the clocks; `None` where there is no counter of the processor's that is known.
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

/// What [`notes`] gives, or what the first of several jobs has written to `path`, so that all of them place times alike. A job that only
/// reads gets what is there.
pub fn shared_notes(path: &Path, only_read: bool) -> Result<Option<MachineClock>, String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let read = || match files::open_found(path) {
        Ok(file) => {
            let mut text = String::new();
            let read = file.take(MAX_TEXT_BYTES).read_to_string(&mut text);
            read.map_err(failed)?;
            let notes = MachineClock::from_text(&text);
            let notes = notes.ok_or_else(|| format!("{}: no reading of clocks", path.display()));
            notes.map(Some)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    };
    if let Some(there) = read()? {
        return Ok(there);
    }
    if only_read {
        return Ok(None);
    }
    let text = notes().map_or_else(String::new, |notes| notes.text());
    let mut file = PendingFile::beside(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    match file.take_name(path) {
        Ok(()) => {}
        // Another job was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    drop(file);
    read().map(Option::flatten)
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

/// What a process says of itself in its block file.
#[derive(Default)]
pub struct Introduction {
    pub process: ProcessDefinition,
    /// Settings that are not the defaults, as lines of a `dumpi.conf`.
    pub settings: String,
    /// Readings of its clocks, in order.
    pub readings: Vec<ClockReading>,
}

/// What the process that wrote `file` says of itself.
pub fn introduction(file: &BlockFile<'_>) -> Introduction {
    let mut found = Introduction::default();
    let mut timeline = Timeline::new(file);
    while let Some(item) = timeline.next() {
        let record = item.record;
        if !record.is_definition() {
            continue;
        }
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Process(p)) => found.process = p,
            Some(Definition::Settings(lines)) => found.settings = lines,
            Some(Definition::Clock(reading)) => found.readings.push(reading),
            _ => {}
        }
    }
    found.readings.sort_by_key(|r| r.ticks);
    found
}

impl MachineClock {
    /// The reading as text, for [`MachineClock::from_text`].
    fn text(&self) -> String {
        let ClockReading {
            ticks,
            monotonic,
            realtime,
            cpu,
        } = self.reading;
        let rate = self.rate.to_bits();
        format!(
            "{} {ticks} {monotonic} {realtime} {cpu} {rate}\n",
            self.boot
        )
    }

    /// The reading that a text has; one without any where it is empty. `None` if it is none.
    fn from_text(text: &str) -> Option<Option<MachineClock>> {
        let mut words = text.split_ascii_whitespace();
        let Some(boot) = words.next() else {
            return Some(None);
        };
        let mut number = || words.next()?.parse().ok();
        let reading = ClockReading {
            ticks: number()?,
            monotonic: number()?,
            realtime: number()?,
            cpu: number()?,
        };
        Some(Some(MachineClock {
            block: definitions_block(&[Definition::Clock(reading)]),
            boot: boot.to_owned(),
            rate: f64::from_bits(number()?),
            reading,
        }))
    }

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

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn reading() -> Option<ClockReading> {
    let one = || {
        let before = machine::counter();
        let monotonic = machine::posix_clock(libc::CLOCK_MONOTONIC);
        (machine::counter().wrapping_sub(before), before, monotonic)
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

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
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
