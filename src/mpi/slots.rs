//! Slots: where the calls of each function go on, and where the real function is.
//!
//! A slot of [`ENTRY`] holds what an exported function does now: 0 until its first call, then the wrapper that records, or the real
//! function where nothing is to be recorded (a program of another ABI family, a forked child, after MPI_Finalize). A slot of
//! [`REAL`] holds the real function, once it is known.
//!
//! Slot `2 f` belongs to `MPI_X`, slot `2 f + 1` to `PMPI_X` of function number f: Fortran bindings and ROMIO enter there.
//! After them come the slots of the Fortran symbols that have to be wrapped themselves.

use crate::mpi::constants;
use crate::mpi::family;
use crate::mpi::functions::{COUNT, NAMES, RETURNS_CODE, SLOTS, SYMBOLS};
use crate::mpi::library;
pub use crate::mpi::library::CodeAddress;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, fence};

/// One pointer that may be read and replaced at any time.
#[repr(transparent)]
pub struct PointerSlot(AtomicPtr<c_void>);

impl PointerSlot {
    const fn empty() -> PointerSlot {
        PointerSlot(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// Code address in the slot; null until it is known.
    #[inline(always)]
    pub fn get(&self) -> CodeAddress {
        self.0.load(Ordering::Relaxed)
    }

    /// Replaces the code address.
    pub fn set(&self, code: CodeAddress) {
        self.0.store(code.cast_mut(), Ordering::Release);
    }
}

/// Address at which a call of an exported function continues. Exported functions jump through it by offset.
pub static ENTRY: [PointerSlot; SLOTS] = [const { PointerSlot::empty() }; SLOTS];
/// The next function in line behind ours: the MPI library's, or that of another tool.
pub static REAL: [PointerSlot; SLOTS] = [const { PointerSlot::empty() }; SLOTS];

/// Set when wrappers must not be entered any more.
static BYPASS: AtomicBool = AtomicBool::new(false);

/// The real function behind slot `index`, resolved if need be; never null: without one it is a function that returns an
/// MPI error.
#[inline(always)]
pub fn real(index: usize) -> CodeAddress {
    let code = REAL[index].get();
    if code.is_null() {
        find_real(index, std::ptr::null())
    } else {
        code
    }
}

/// The real function behind slot `index`, of which a wrapper is running: its first call has found it.
#[inline(always)]
pub fn found(index: usize) -> CodeAddress {
    REAL[index].get()
}

/// Whether the MPI library has function number `function`.
pub fn is_there(function: usize) -> bool {
    has_real(2 * function + 1)
}

/// Whether the MPI library has the function of slot `index`.
pub fn has_real(index: usize) -> bool {
    !missing::is(real(index))
}

/// Whether a slot belongs to a symbol of a Fortran binding.
pub fn is_fortran(index: usize) -> bool {
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

/// The slot of an exported function, by its name.
pub fn of_name(name: &CStr) -> Option<usize> {
    let bytes = name.to_bytes();
    let slot = if bytes.starts_with(b"MPI_") || bytes.starts_with(b"MPIX_") {
        NAMES
            .iter()
            .position(|n| &n.to_bytes()[1..] == bytes)
            .map(|i| 2 * i)
    } else if bytes.starts_with(b"PMPI_") || bytes.starts_with(b"PMPIX_") {
        NAMES
            .iter()
            .position(|n| n.to_bytes() == bytes)
            .map(|i| 2 * i + 1)
    } else {
        None
    };
    slot.or_else(|| {
        let symbol = SYMBOLS.iter().position(|s| *s == name)?;
        Some(2 * COUNT + symbol)
    })
}

/// Notes the function behind slot `index` where it has been found otherwise.
pub fn set_real(index: usize, code: CodeAddress) {
    if REAL[index].get().is_null() {
        REAL[index].set(code);
    }
}

/// The real function of slot `index`, looked for if need be; `caller` is where the call comes from, null where that is not known. As
/// long as no MPI library is there, it is looked for again at every call.
#[cold]
pub fn find_real(index: usize, caller: CodeAddress) -> CodeAddress {
    let known = REAL[index].get();
    if !known.is_null() {
        return known;
    }
    let found = library::find(name(index), caller);
    let code = if !found.is_null() {
        found
    } else if is_fortran(index) {
        missing::nothing as CodeAddress
    } else if RETURNS_CODE[index / 2] {
        missing::error as CodeAddress
    } else {
        missing::nothing as CodeAddress
    };
    if family::is_known() {
        REAL[index].set(code);
    }
    code
}

/// Whether wrappers must not be entered any more.
pub fn is_bypassed() -> bool {
    BYPASS.load(Ordering::Acquire)
}

/// As [`is_bypassed`], for who has just set a slot.
pub fn is_bypassed_by_now() -> bool {
    fence(Ordering::SeqCst);
    is_bypassed()
}

/// Sends all further calls directly to the real functions.
pub fn bypass() {
    BYPASS.store(true, Ordering::Release);
    // A slot that is set at this moment is seen below, or sees this ([`is_bypassed_by_now`]).
    fence(Ordering::SeqCst);
    for (entry, real) in ENTRY.iter().zip(&REAL) {
        if !entry.get().is_null() && !real.get().is_null() {
            entry.set(real.get());
        }
    }
}

/// A table of code addresses.
#[repr(transparent)]
pub struct AddressTable<const N: usize>(pub [CodeAddress; N]);

// SAFETY: addresses of functions are valid in every thread.
unsafe impl<const N: usize> Sync for AddressTable<N> {}

impl<const N: usize> std::ops::Index<usize> for AddressTable<N> {
    type Output = CodeAddress;

    fn index(&self, i: usize) -> &CodeAddress {
        &self.0[i]
    }
}

/// Stands in for a function that the MPI library lacks: a program that asks whether a function exists finds ours and
/// may call it, which must not end it.
pub mod missing {
    use super::CodeAddress;
    use std::ffi::c_int;

    /// Whether this is such a function.
    pub fn is(code: CodeAddress) -> bool {
        code == error as CodeAddress || code == nothing as CodeAddress
    }

    /// An MPI error.
    pub unsafe extern "C" fn error() -> c_int {
        super::constants::integers().err_other
    }

    /// 0, in an integer register and as a double.
    #[unsafe(naked)]
    pub unsafe extern "C" fn nothing() {
        #[cfg(target_arch = "x86_64")]
        std::arch::naked_asm!("xor eax, eax", "xorps xmm0, xmm0", "ret");
        #[cfg(target_arch = "aarch64")]
        std::arch::naked_asm!("mov x0, xzr", "movi d0, #0", "ret");
    }
}
