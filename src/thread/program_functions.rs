//! Functions of the program (`-finstrument-functions`): whether they are recorded now, and what a thread keeps of those that it has
//! entered.

use crate::platform::clock;
use settings::Settings;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Whether steps are recorded now.
pub static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
/// Value of [`STATE`]: nothing has been entered yet.
pub const UNDECIDED: u8 = 0;
/// Value of [`STATE`]: functions are not recorded.
pub const OFF: u8 = 1;
/// Value of [`STATE`]: functions are recorded.
pub const ON: u8 = 2;

/// Whether the settings want functions.
pub static WANTED: AtomicBool = AtomicBool::new(true);
/// Most functions that a thread records.
pub static MAX_FUNCTIONS: AtomicU64 = AtomicU64::new(u64::MAX);
/// Functions that take fewer ticks and call no others are left out.
pub static MIN_TICKS: AtomicU64 = AtomicU64::new(0);

/// The functions of the program that a thread has entered, and those of the threads that had its state before.
#[derive(Debug)]
pub struct ProgramFunctions {
    /// Number of functions of the program that threads recorded which have ended.
    pub recorded_before: u64,
    /// Number of functions of the program that were entered and recorded.
    pub recorded: u64,
    /// Number of functions of the program that were not recorded because there are too many.
    pub beyond: u64,
    /// Functions not recorded that have not been left.
    pub open_beyond: u64,
    /// Number of the block that the following are about.
    block: u64,
    /// Number of functions of the program that were entered in it and not left, as far as no frame was thrown away.
    open: usize,
    /// Ends of the records of their entries, the latest ones.
    entries: [usize; MAX_OPEN_ENTRIES],
}

/// Nested functions that can be taken back.
const MAX_OPEN_ENTRIES: usize = 64;

impl Default for ProgramFunctions {
    fn default() -> Self {
        ProgramFunctions {
            recorded_before: 0,
            recorded: 0,
            beyond: 0,
            open_beyond: 0,
            block: u64::MAX,
            open: 0,
            entries: [0; MAX_OPEN_ENTRIES],
        }
    }
}

impl ProgramFunctions {
    /// The thread has ended: what it had entered the next one never leaves, and has room for as many functions of its own.
    pub fn thread_ended(&mut self) {
        *self = ProgramFunctions {
            recorded_before: self.recorded_before + self.recorded,
            beyond: self.beyond,
            ..ProgramFunctions::default()
        };
    }

    /// The record of an entry ends at `end` in block number `block`.
    pub fn note(&mut self, block: u64, end: usize) {
        if self.block != block {
            self.block = block;
            self.open = 0;
        }
        self.entries[self.open % MAX_OPEN_ENTRIES] = end;
        self.open += 1;
    }

    /// End of the record of the entry that belongs to the next exit; 0 if not known.
    pub fn latest(&mut self, block: u64) -> usize {
        if self.block != block || self.open == 0 {
            return 0;
        }
        self.open -= 1;
        self.entries[self.open % MAX_OPEN_ENTRIES]
    }
}

/// Takes what the settings say; `on` is whether recording is switched on.
pub fn apply(settings: &Settings, on: bool) {
    WANTED.store(settings.program_functions, Relaxed);
    MAX_FUNCTIONS.store(u64::from(settings.functions_limit), Relaxed);
    MIN_TICKS.store(clock::ticks_of(settings.functions_min.into()), Relaxed);
    switch(on);
}

/// Recording is switched on or off.
pub fn switch(on: bool) {
    let state = if on && WANTED.load(Relaxed) { ON } else { OFF };
    STATE.store(state, Relaxed);
}
