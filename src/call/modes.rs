//! Sets what becomes of the calls of each function, by settings, filters, and what the program has switched.

use crate::blocks::own;
use crate::call::filter::{self, ByteRange, Verdict};
use crate::call::hooks;
use crate::call::matching_only;
use crate::call::mode::{FILTERED, MATCHING_ONLY, OFF, ON, SAMPLED, SUCCESS, modes};
use crate::call::path;
use crate::in_force;
use crate::mpi::functions::{CLASSES, MOVES_MESSAGES, NAMES};
use crate::mpi::types::MPI_Comm;
use crate::thread::program_functions;
use crate::thread::wiped::is_alone;
use settings::{Polling, Setting, Settings};
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
    fence,
};

/// Whether recording is wanted now (`trace_off`, MPI_Pcontrol).
static WANTED: AtomicBool = AtomicBool::new(true);
/// Whether the program has switched recording: the settings then no longer say whether it is on.
static SWITCHED: AtomicBool = AtomicBool::new(false);

/// Switches recording on or off for the whole process, also before there are settings.
pub fn want(on: bool) {
    SWITCHED.store(true, Relaxed);
    WANTED.store(on, Relaxed);
    set();
}

/// Whether recording is switched on.
pub fn wanted() -> bool {
    WANTED.load(Relaxed)
}

/// Takes from the settings whether recording is on, unless the program has switched it.
pub fn start_as(settings: &Settings) {
    if !SWITCHED.load(Relaxed) {
        WANTED.store(settings.start, Relaxed);
    }
}

/// Nothing is recorded any more, for good.
pub fn stop() {
    all_off();
    WANTED.store(false, Relaxed);
    program_functions::switch(false);
}

/// No function's calls are recorded.
pub fn all_off() {
    modes().iter().for_each(|m| m.store(OFF, Relaxed));
}

/// The mode of a function whose calls are not to be in the trace.
fn off(function: usize) -> u8 {
    match matching_only::is_on() && MOVES_MESSAGES[function] {
        true => MATCHING_ONLY | FILTERED,
        false => OFF,
    }
}

/// Whether the call of function `index` is left out: call number `number`, on a communicator if it names one, with these
/// pieces of data.
#[cold]
#[inline(never)]
pub fn leaves_out(index: usize, number: u64, comm: Option<MPI_Comm>, data: &[ByteRange]) -> bool {
    match filter::verdict(index, number, comm, data) {
        Verdict::Record => false,
        Verdict::RecordLast => {
            modes()[index].store(off(index), Relaxed);
            false
        }
        Verdict::LeaveOut => true,
        Verdict::LeaveOutFromNow => {
            modes()[index].store(off(index), Relaxed);
            true
        }
        Verdict::WindowOver => {
            set();
            true
        }
    }
}

/// Sets for each function what becomes of its calls; nothing where there are no settings yet, and in a forked child, where they stay off.
pub fn set() {
    if !is_alone() {
        return;
    }
    in_force::with(|settings| settings.map(set_by));
}

fn set_by(settings: &Settings) {
    let sampled = match settings.polling {
        Polling::Sample => SAMPLED,
        Polling::All => 0,
    };
    let flags = filter::flag(settings) | sampled;
    // Of a rank that is not chosen there are no messages that could be drawn.
    let is_chosen = filter::is_of_chosen_rank(settings, own::rank());
    if matching_only::apply(settings, is_chosen, filter::cuts(settings) || !wanted()) {
        path::choose();
        // Before any mode says that a call is recorded for matching only.
        fence(SeqCst);
    }
    let is_on = || wanted() && filter::is_open() && is_chosen;
    loop {
        let on = is_on();
        switch(settings, flags, on);
        // Another thread may have switched meanwhile, and have been overtaken: whoever is last sees it.
        if on == is_on() {
            return;
        }
    }
}

/// Sets the mode of every function where recording is on or off; `flags` are those of recorded calls.
fn switch(settings: &Settings, flags: u8, on: bool) {
    program_functions::switch(on);
    hooks::switched(on);
    for (function, mode) in modes().iter().enumerate() {
        let name = NAMES[function].to_str().unwrap_or("P");
        let name = name.strip_prefix('P').unwrap_or(name);
        let value = match settings.setting_of(name, CLASSES[function]) {
            _ if !on || filter::has_enough(function) => off(function),
            Setting::Disable => off(function),
            Setting::Success => SUCCESS | flags,
            Setting::Enable => ON | flags,
        };
        mode.store(value, Relaxed);
    }
}
