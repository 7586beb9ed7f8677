//! The way in: every exported MPI function is a jump through a slot.
//!
//! A slot holds what the function does now: 0 until the first call, then the wrapper that records, or the real function
//! where nothing is to be recorded (a program of another ABI family, a forked child, after MPI_Finalize). A jump leaves all
//! argument registers and the stack as they are, so that a function that is only passed through cannot be disturbed,
//! whatever its arguments.
//!
//! Slot `2 f` belongs to `MPI_X`, slot `2 f + 1` to `PMPI_X` of function number f: Fortran bindings and ROMIO enter there.
//! Behind them are those of the Fortran symbols that have to be wrapped themselves.

use crate::interpose::fortran;
use crate::interpose::generated::{
    CONVERSIONS, COUNT, MISSING, NAMES, SLOTS, SYMBOLS, WRAPPERS, missing,
};
use crate::interpose::library;
use crate::process;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Code address.
pub type Code = *const c_void;

/// One pointer that may be read and replaced at any time.
#[repr(transparent)]
pub struct Slot(AtomicPtr<c_void>);

impl Slot {
    const fn empty() -> Slot {
        Slot(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Its value.
    #[inline(always)]
    pub fn get(&self) -> Code {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, code: Code) {
        self.0.store(code.cast_mut(), Ordering::Release);
    }
}

/// Where a call of an exported function goes on. Exported functions jump through it by offset.
pub static ENTRY: [Slot; SLOTS] = [const { Slot::empty() }; SLOTS];
/// The next function in line behind ours: the MPI library's, or that of another tool.
pub static REAL: [Slot; SLOTS] = [const { Slot::empty() }; SLOTS];

/// Set when wrappers must not be entered any more.
static BYPASS: AtomicBool = AtomicBool::new(false);

/// The real function behind slot `index`, resolved if need be; never null: without one it is a function that returns an
/// MPI error.
#[inline(always)]
pub fn real(index: usize) -> Code {
    let code = REAL[index].get();
    if code.is_null() {
        find_real(index, std::ptr::null())
    } else {
        code
    }
}

/// The real function behind slot `index`, of which a wrapper is running: its first call has found it.
#[inline(always)]
pub fn found(index: usize) -> Code {
    REAL[index].get()
}

/// Whether a slot belongs to a symbol of a Fortran binding.
fn is_fortran(index: usize) -> bool {
    index >= 2 * COUNT
}

/// Name of the function of slot `index`, with the P where it has one.
pub fn name(index: usize) -> &'static CStr {
    if let Some(symbol) = index.checked_sub(2 * COUNT) {
        return SYMBOLS[symbol];
    }
    let name = NAMES[index / 2];
    // SAFETY: names are stored as `PMPI_…\0`; without its P a name is as long as itself.
    unsafe {
        CStr::from_bytes_with_nul_unchecked(
            &name.to_bytes_with_nul()[usize::from(index.is_multiple_of(2))..],
        )
    }
}

/// Notes the function behind slot `index` where it has been found otherwise.
pub fn set_real(index: usize, code: Code) {
    if REAL[index].get().is_null() {
        REAL[index].set(code);
    }
}

#[cold]
fn find_real(index: usize, caller: Code) -> Code {
    let known = REAL[index].get();
    if !known.is_null() {
        return known;
    }
    let found = library::find(name(index), caller);
    let code = if !found.is_null() {
        found
    } else if is_fortran(index) {
        missing::nothing as Code
    } else {
        MISSING[index / 2]
    };
    REAL[index].set(code);
    code
}

/// Decides where the calls of slot `index` go. Called by the stubs below at a function's first call.
extern "C" fn resolve(index: usize, caller: Code) -> Code {
    let real = find_real(index, caller);
    let wanted = if is_fortran(index) {
        // A library that has no more of MPI than Fortran's names (a serial stand-in) is none.
        real != missing::nothing as Code && library::is_there(caller)
    } else {
        !CONVERSIONS.contains(&(index / 2)) || process::records_conversions()
    };
    let target = if wanted && library::is_usable(caller) && !BYPASS.load(Ordering::Acquire) {
        fortran::guard(index).unwrap_or(WRAPPERS[index])
    } else {
        real
    };
    ENTRY[index].set(target);
    if BYPASS.load(Ordering::Acquire) {
        // bypass() may have passed this slot between our test and our store.
        ENTRY[index].set(real);
        return real;
    }
    target
}

/// From now on all calls go to the real functions, without a detour.
pub fn bypass() {
    BYPASS.store(true, Ordering::Release);
    for (entry, real) in ENTRY.iter().zip(&REAL) {
        if !entry.get().is_null() && !real.get().is_null() {
            entry.set(real.get());
        }
    }
}

/// Finds the target of a first call without changing a register that could hold an argument, and jumps there.
/// r11 holds the slot's number.
#[unsafe(naked)]
pub unsafe extern "C" fn first_call() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "push rax",
        "push r10",
        "sub rsp, 128",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, r11",
        "mov rsi, [rbp + 8]",
        "and rsp, -16",
        "call {resolve}",
        "mov r11, rax",
        "lea rsp, [rbp - 192]",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop r10",
        "pop rax",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "pop rbp",
        "jmp r11",
        resolve = sym resolve,
    )
}

/// Exports functions that jump through a slot.
#[macro_export]
macro_rules! export {
    ($($index:literal $name:ident)*) => {$(
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "mov r11, [rip + {entry} + 8 * {index}]",
                "test r11, r11",
                "je 2f",
                "jmp r11",
                "2:",
                "mov r11d, {index}",
                "jmp {first}",
                entry = sym $crate::interpose::entry::ENTRY,
                index = const $index,
                first = sym $crate::interpose::entry::first_call,
            )
        }
    )*};
}

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the recorder's entry points exist for x86-64 only");
