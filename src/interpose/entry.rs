//! The way in: every exported MPI function is a jump through a slot.
//!
//! The slot ([`slots`]) is empty until the function's first call, which finds out what it shall do from then on. A jump leaves all
//! argument registers and the stack as they are, so that a function that is only passed through cannot be disturbed,
//! whatever its arguments.

use crate::api;
use crate::finalize::ends;
use crate::in_force;
use crate::interpose::wrappers::WRAPPERS;
use crate::interpose::{fortran, longjmp, weak};
use crate::lifecycle::{fork, open};
use crate::mpi::family;
use crate::mpi::functions::CONVERSIONS;
use crate::mpi::library;
use crate::mpi::slots::{self, CodeAddress, ENTRY, find_real, is_fortran, missing};
use crate::platform::jump::find_and_jump;
use crate::platform::{environment, say};
use crate::posix;
use settings::Conversions;

/// Runs when the library is loaded: a private MPI library must be made global before anybody looks for one.
extern "C" fn at_load() {
    say::at_load();
    posix::at_load();
    longjmp::at_load();
    library::configured();
    ends::watch_quick_exit();
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Whether handle conversions are recorded; asked before there may be settings.
fn records_conversions() -> bool {
    in_force::with(|settings| match settings {
        Some(settings) => settings.conversions == Conversions::Record,
        None => environment::var("TRACE_CONVERSIONS").is_some_and(|v| v == "record"),
    })
}

/// Whether slot `index` is one of a function that begins MPI.
fn begins_mpi(index: usize) -> bool {
    let name = slots::name(index).to_bytes();
    let name = name.strip_prefix(b"P").unwrap_or(name);
    matches!(name, b"MPI_Init" | b"MPI_Init_thread" | b"MPI_Session_init")
}

/// Decides where the calls of slot `index` go. Called by the stubs below at a function's first call.
extern "C" fn resolve(index: usize, caller: CodeAddress) -> CodeAddress {
    open::register_hooks();
    // Programs refer to these weakly, which alone would not take them out of an archive.
    std::hint::black_box(api::ALL);
    // First, as what is found counts only where an MPI library is there.
    let is_usable = library::is_usable(caller);
    let real = find_real(index, caller);
    let wanted = if is_fortran(index) {
        // A library that has no more of MPI than Fortran's names (a serial stand-in) is none.
        real != missing::nothing as CodeAddress && library::is_there(caller)
    } else {
        !CONVERSIONS.contains(&(index / 2)) || records_conversions()
    };
    if !family::is_known() {
        // No MPI so far: the next call looks again. A function of a serial stand-in for MPI stays what it is.
        if !missing::is(real) {
            ENTRY[index].set(real);
        }
        return real;
    }
    weak::answer();
    open::tell_family();
    if slots::is_bypassed() && begins_mpi(index) {
        fork::tell_if_rank_is_child();
    }
    let wrapper = fortran::guard(index).unwrap_or(WRAPPERS[family::index()][index]);
    let target = if wanted && is_usable && !slots::is_bypassed() && !wrapper.is_null() {
        wrapper
    } else {
        real
    };
    ENTRY[index].set(target);
    if slots::is_bypassed_by_now() {
        // bypass() may have passed this slot between our test and our store.
        ENTRY[index].set(real);
        return real;
    }
    target
}

/// Finds the target of a first call without changing a register that could hold an argument, and jumps there.
/// r11 (x11 on aarch64) holds the slot's number.
#[unsafe(naked)]
pub unsafe extern "C" fn first_call() {
    find_and_jump!(resolve, vectors);
}

/// Exports functions that jump through a slot.
macro_rules! export {
    ($($index:literal $name:ident)*) => {$(
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(
                "mov r11, [rip + {entry} + 8 * {index}]",
                "test r11, r11",
                "je 2f",
                "jmp r11",
                "2:",
                "mov r11d, {index}",
                "jmp {first}",
                entry = sym $crate::mpi::slots::ENTRY,
                index = const $index,
                first = sym $crate::interpose::entry::first_call,
            );
            // Loaded in order: what the thread that set the slot had written before is seen from there on.
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "adrp x16, {entry} + 8 * {index}",
                "add x16, x16, :lo12:{entry} + 8 * {index}",
                "ldar x16, [x16]",
                "cbz x16, 2f",
                "br x16",
                "2:",
                "mov w11, {index}",
                "b {first}",
                entry = sym $crate::mpi::slots::ENTRY,
                index = const $index,
                first = sym $crate::interpose::entry::first_call,
            );
        }
    )*};
}
pub(crate) use export;
