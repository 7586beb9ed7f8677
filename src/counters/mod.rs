//! Performance counters (setting `PAPI`): values before and after each call, in a record in front of the call's
//! ([`blockfile::counts`]). Each thread has its own, opened at its first call.
//!
//! What a name means is in [`names`]; values come from the kernel's counters ([`perf`]) or, where those are forbidden, from
//! getrusage(2) ([`usage`]). What cannot be counted is said once and left out.

mod names;
mod perf;
mod usage;

use crate::platform::launcher;
use crate::platform::say::say;
use blockfile::counts::PAIR_BYTES;
use names::{PerfEvent, SOFTWARE};
use parking_lot::Mutex;
use perf::CounterGroup;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use usage::{Usage, UsageReading};

/// Whether there are counters to be read.
static ON: AtomicBool = AtomicBool::new(false);
/// The counters that the settings want.
static WANTED: Mutex<Option<Arc<CounterChoice>>> = Mutex::new(None);
/// Number of the latest choice of counters.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// A choice of counters that this machine can count.
struct CounterChoice {
    number: u64,
    asked: Vec<String>,
    names: Vec<String>,
    events: Vec<PerfEvent>,
    /// Whether their names are in the block file.
    defined: AtomicBool,
}

/// The counters of a thread.
pub struct ThreadCounters {
    wanted: Arc<CounterChoice>,
    groups: Vec<CounterGroup>,
    /// Values that come from getrusage, and their places.
    usage: Vec<(Usage, usize)>,
    before: Vec<i64>,
    after: Vec<i64>,
    /// Whether `before` and `after` are those of the running call.
    begun: bool,
    ended: bool,
}

/// Whether calls have values of counters.
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Takes the names of counters that the settings have.
pub fn apply(asked: &[String]) {
    let mut wanted = WANTED.lock();
    if wanted.as_ref().map_or(&[][..], |w| &w.asked) == asked {
        return;
    }
    let mut refused = Vec::new();
    let mut chosen = CounterChoice {
        number: LATEST.load(Relaxed) + 1,
        asked: asked.to_vec(),
        names: Vec::new(),
        events: Vec::new(),
        defined: AtomicBool::new(false),
    };
    for name in asked {
        if chosen.names.contains(name) {
            continue;
        }
        let why = match names::event(name) {
            None => "not known".to_owned(),
            Some(event) => match CounterGroup::new(&event, 0) {
                Err(error) if event.usage.is_none() => {
                    format!("cannot be counted here, {}", reason(&error))
                }
                _ => {
                    chosen.names.push(name.clone());
                    chosen.events.push(event);
                    continue;
                }
            },
        };
        refused.push(format!("{name}: {why}"));
    }
    if !refused.is_empty() && launcher::rank().unwrap_or(0) == 0 {
        let rest = match chosen.names.len() {
            0 => "no counter is left".to_owned(),
            n => format!("the other {n} are read"),
        };
        say!("trace: counters: {}; {rest}", refused.join("; "));
    }
    ON.store(!chosen.names.is_empty(), Relaxed);
    LATEST.store(chosen.number, Relaxed);
    *wanted = Some(Arc::new(chosen));
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            "this machine has no such counter".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the system forbids it (/proc/sys/kernel/perf_event_paranoid)".to_owned()
        }
        _ => error.to_string(),
    }
}

/// Number of the latest choice of counters; 0 before the first one.
pub fn latest_choice() -> u64 {
    LATEST.load(Relaxed)
}

impl ThreadCounters {
    /// Opens those that are wanted now for the running thread; `None` if not all can be counted any more.
    pub fn open() -> Option<Box<ThreadCounters>> {
        let wanted = WANTED.lock().clone()?;
        let mut counters = ThreadCounters {
            groups: Vec::new(),
            usage: Vec::new(),
            before: vec![0; wanted.names.len()],
            after: vec![0; wanted.names.len()],
            begun: false,
            ended: false,
            wanted,
        };
        // Those of the kernel and those of the hardware apart: one group runs always, the other may take turns.
        for software in [true, false] {
            let mut group: Option<CounterGroup> = None;
            for (place, event) in counters.wanted.events.iter().enumerate() {
                if (event.kind == SOFTWARE) != software {
                    continue;
                }
                if let Some(group) = &mut group
                    && group.join(event, place).is_ok()
                {
                    continue;
                }
                match CounterGroup::new(event, place) {
                    Ok(new) => counters.groups.extend(group.replace(new)),
                    Err(_) => counters.usage.push((event.usage?, place)),
                }
            }
            counters.groups.extend(group);
        }
        debug_assert_eq!(
            counters.groups.iter().map(CounterGroup::len).sum::<usize>() + counters.usage.len(),
            counters.before.len()
        );
        Some(Box::new(counters))
    }

    fn read(groups: &[CounterGroup], usage: &[(Usage, usize)], values: &mut [i64]) -> bool {
        if !usage.is_empty() {
            let reading = UsageReading::now();
            for &(which, place) in usage {
                if let Some(to) = values.get_mut(place) {
                    *to = reading.get(which);
                }
            }
        }
        groups.iter().all(|group| group.read(values))
    }

    /// Number of the choice of counters that these are of.
    pub fn choice(&self) -> u64 {
        self.wanted.number
    }

    /// The names of the counters, once in a process: for their definition in the block file.
    pub fn names_to_define(&self) -> Option<Vec<String>> {
        (!self.wanted.defined.swap(true, Relaxed)).then(|| self.wanted.names.clone())
    }

    /// A call of the running thread begins.
    pub fn begin(&mut self) {
        self.ended = false;
        self.begun = ThreadCounters::read(&self.groups, &self.usage, &mut self.before);
    }

    /// The call has returned.
    pub fn end(&mut self) {
        self.ended = self.begun && ThreadCounters::read(&self.groups, &self.usage, &mut self.after);
        self.begun = false;
    }

    /// Payload of the record of the call that has just returned, if it has one.
    pub fn payload(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.ended) || self.choice() != latest_choice() {
            return None;
        }
        let mut bytes = Vec::with_capacity(self.before.len() * PAIR_BYTES);
        for (before, after) in self.before.iter().zip(&self.after) {
            bytes.extend_from_slice(&before.to_ne_bytes());
            bytes.extend_from_slice(&after.to_ne_bytes());
        }
        Some(bytes)
    }
}
