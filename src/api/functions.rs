//! Functions of the program: what a compiler's `-finstrument-functions` has each of them call when it is entered and left.
//!
//! A record is 28 bytes ([`blockfile::function`]). Nothing is recorded inside MPI calls, where calls are drawn as one, and nothing
//! while the recorder itself is busy on the thread. Names are looked up after the run; [`crate::define::modules`] says where the code
//! came from.

use crate::define::modules;
use crate::lifecycle::open;
use crate::mpi::library;
use crate::platform::clock;
use crate::platform::errno::{errno, set_errno};
use crate::thread::current;
use crate::thread::program_functions::{MAX_FUNCTIONS, MIN_TICKS, OFF, ON, STATE, UNDECIDED};
use crate::thread::records;
use crate::thread::registry;
use crate::thread::state::Thread;
use crate::thread::wiped::is_alone;
use crate::thread::within::inside;
use crate::thread::within::within;
use blockfile::define::{Definition, ENTER, EXIT};
use blockfile::encode::{EncodeCursor, RecordHead, SLACK};
use blockfile::function::{INLINED, PAYLOAD};
use blockfile::record::HEAD;
use std::ptr::NonNull;
use std::sync::atomic::{
    Ordering::{Relaxed, SeqCst},
    compiler_fence,
};

/// Bytes of a record.
const RECORD_BYTES: usize = HEAD + PAYLOAD;

/// The call that tells of a function's entry stands among its first bytes, unless the function was inlined.
const MAX_PROLOGUE_BYTES: u64 = 256;

/// Records, at the end of the run, the modules of the functions entered and the number of functions beyond `functions-limit`.
pub fn last_words(t: &mut Thread) {
    let (recorded, beyond) = registry::functions();
    if recorded > 0 {
        modules::look(t);
    }
    if beyond > 0 {
        let reason = "functions beyond the setting functions-limit".to_owned();
        let count = beyond;
        records::put_definition(t, &Definition::Lost { count, reason });
    }
}

macro_rules! hook {
    ($name:ident, $record:ident) => {
        /// Called by the compiler's code with the address of the function and the place that it was called from.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(
                "cmp byte ptr [rip + {state}], {off}",
                "je 2f",
                "mov rsi, rsp",
                "jmp {record}",
                "2:",
                "ret",
                state = sym STATE,
                off = const OFF,
                record = sym $record,
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "adrp x16, {state}",
                "ldrb w16, [x16, :lo12:{state}]",
                "cmp w16, {off}",
                "b.eq 2f",
                "stp x29, x30, [sp, -16]!",
                "mov x29, sp",
                "add x1, sp, 8",
                "bl {record}",
                "ldp x29, x30, [sp], 16",
                "2:",
                "ret",
                state = sym STATE,
                off = const OFF,
                record = sym $record,
            );
        }
    };
}

hook!(__cyg_profile_func_enter, enter);
hook!(__cyg_profile_func_exit, exit);

/// # Safety
/// The word at `stack` is the place in the program that has called the hook.
unsafe extern "C" fn enter(function: u64, stack: *const u64) {
    let Some(mut t) = running() else { return };
    // SAFETY: the state of the running thread, which nobody else writes.
    let t = unsafe { t.as_mut() };
    // SAFETY: promised by the caller.
    let place = unsafe { *stack };
    let inlined = if place.wrapping_sub(function) < MAX_PROLOGUE_BYTES {
        0
    } else {
        INLINED
    };
    if t.functions.recorded >= MAX_FUNCTIONS.load(Relaxed) {
        t.functions.beyond += 1;
        t.functions.open_beyond += 1;
        return;
    }
    t.functions.recorded += 1;
    record(t, ENTER, function | inlined, stack, clock::now());
    if MIN_TICKS.load(Relaxed) > 0 {
        let end = t.at as usize;
        t.functions.note(t.sequence, end);
    }
}

unsafe extern "C" fn exit(function: u64, stack: *const u64) {
    let Some(mut t) = running() else { return };
    // SAFETY: the state of the running thread, which nobody else writes.
    let t = unsafe { t.as_mut() };
    if t.functions.open_beyond > 0 {
        t.functions.open_beyond -= 1;
        return;
    }
    let now = clock::now();
    let least = MIN_TICKS.load(Relaxed);
    if least > 0 {
        let entry = t.functions.latest(t.sequence);
        if entry == t.at as usize && taken_back(t, function, now, least) {
            return;
        }
    }
    record(t, EXIT, function, stack, now);
}

/// The running thread, if what it does is recorded now.
#[inline(always)]
fn running() -> Option<NonNull<Thread>> {
    let t = current();
    if t.is_null() || STATE.load(Relaxed) != ON {
        return first(t);
    }
    let running = NonNull::new(t)?;
    // SAFETY: the state of the running thread, which nobody else writes.
    let t = unsafe { running.as_ref() };
    (t.outer_stack == 0 && t.busy == 0 && is_alone()).then_some(running)
}

/// The thread's first function, or the process's.
#[cold]
#[inline(never)]
fn first(t: *mut Thread) -> Option<NonNull<Thread>> {
    if inside() {
        return None;
    }
    if STATE.load(Relaxed) == UNDECIDED {
        // Until MPI is there, nobody asks for a trace.
        let usable = within(|| library::is_usable(std::ptr::null()));
        if !usable {
            let _ = STATE.compare_exchange(UNDECIDED, OFF, Relaxed, Relaxed);
            return None;
        }
        if !t.is_null() {
            return None;
        }
    }
    let kept = errno();
    let t = if t.is_null() { open::start_thread() } else { t };
    let mut running = None;
    // SAFETY: the state of the running thread, which nobody else writes.
    if let Some(t) = unsafe { t.as_mut() }
        && STATE.load(Relaxed) == ON
        && t.outer_stack == 0
        && t.busy == 0
    {
        modules::look(t);
        running = Some(NonNull::from(t));
    }
    set_errno(kept);
    running
}

/// Writes a record.
#[inline(always)]
fn record(t: &mut Thread, number: u16, function: u64, stack: *const u64, now: u64) {
    t.busy = 1;
    // A signal handler of this thread must see it before anything of the record.
    compiler_fence(SeqCst);
    let far = now.wrapping_sub(t.time_base) >> 32 != 0;
    if far || RECORD_BYTES + SLACK > (t.end as usize) - (t.at as usize) {
        make_room(t, now);
    }
    // SAFETY: there is room in the thread's own block.
    unsafe {
        let at = t.at;
        let mut out = EncodeCursor::new(at.add(HEAD));
        out.i64(function as i64);
        out.u32(stack as usize as u32);
        RecordHead {
            word: number,
            start: now.wrapping_sub(t.time_base) as u32,
            duration: 0,
            call: t.next_call.wrapping_sub(t.call_base) as u32,
        }
        .write(at, RECORD_BYTES);
        t.at = at.add(RECORD_BYTES);
        let committed = t.at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
    compiler_fence(SeqCst);
    t.busy = 0;
}

#[cold]
#[inline(never)]
fn make_room(t: &mut Thread, now: u64) {
    let kept = errno();
    let room = RECORD_BYTES + SLACK;
    records::make_room(t, room, now, t.next_call);
    modules::look(t);
    records::make_room(t, room, now, t.next_call);
    set_errno(kept);
}

/// Takes back the entry of a function that ends now, is the latest record and took less than `least` ticks.
#[cold]
fn taken_back(t: &mut Thread, function: u64, now: u64, least: u64) -> bool {
    // SAFETY: the latest record of the thread's own block is an entry.
    unsafe {
        let at = t.at.sub(RECORD_BYTES);
        let word = at.cast::<u16>().read_unaligned();
        let start = at.add(4).cast::<u32>().read_unaligned();
        let entered = at.add(HEAD).cast::<u64>().read_unaligned() & !INLINED;
        let duration = (now.wrapping_sub(t.time_base) as u32).wrapping_sub(start);
        if word != ENTER || entered != function || u64::from(duration) >= least {
            return false;
        }
        t.at = at;
        let committed = at as usize - t.block.start() as usize;
        (*t.block.header()).committed.publish(committed as u32);
    }
    t.functions.recorded -= 1;
    true
}
