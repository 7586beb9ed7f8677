//! `dlsym`, for programs that load MPI privately and look its functions up themselves (Julia, Python's ctypes and cffi, plugins):
//! they get ours where they would have got those of an MPI library.
//!
//! Where no MPI is loaded that they could see, the answer is that there is none, as it would be without us; mpi4py asks.
//! All other questions go on to the real function with the caller's return address on the stack, as that decides what
//! RTLD_NEXT and RTLD_DEFAULT mean. Lookups of the recorder's own go to [`symbol`].

use crate::interpose::entry::{self, Code};
use crate::interpose::generated::{COUNT, EXPORTS, NAMES, SLOTS, SYMBOLS};
use crate::interpose::library;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// libc's function or that of another tool in line; before the first call, code that finds it.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(first as *mut c_void);

/// Instead of an address: there is no such symbol.
const NOT_THERE: usize = 1;

/// Looks a symbol up, without a detour.
///
/// # Safety
/// As dlsym: a handle of dlopen, and text with an end.
pub unsafe fn symbol(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    if REAL.load(Relaxed) == first as *mut c_void {
        find();
    }
    // SAFETY: the real function has this signature.
    unsafe {
        std::mem::transmute::<
            *mut c_void,
            unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
        >(REAL.load(Relaxed))(handle, name)
    }
}

/// Finds the real function. `dlvsym` cannot lead back to us.
extern "C" fn find() -> Code {
    // glibc moved it from libdl into libc with version 2.34.
    let found = [c"GLIBC_2.34", c"GLIBC_2.2.5"].iter().find_map(|version| {
        // SAFETY: dlvsym takes any names.
        let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) };
        (!found.is_null()).then_some(found)
    });
    let code = found.unwrap_or(nowhere as *mut c_void);
    REAL.store(code, Relaxed);
    code
}

/// A libc without dlsym has not loaded us.
extern "C" fn nowhere() -> *mut c_void {
    std::ptr::null_mut()
}

#[unsafe(naked)]
unsafe extern "C" fn first() {
    std::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {find}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        find = sym find,
    )
}

/// `void *dlsym(void *handle, const char *name)`. Names of MPI begin with m, M, p or P.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym() {
    std::arch::naked_asm!(
        "test rsi, rsi",
        "je 3f",
        "movzx eax, byte ptr [rsi]",
        "or eax, 32",
        "cmp eax, 109",
        "je 2f",
        "cmp eax, 112",
        "jne 3f",
        "2:",
        "push rdi",
        "push rsi",
        "mov rdx, [rsp + 16]",
        "sub rsp, 8",
        "call {answer}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "je 3f",
        "cmp rax, {not_there}",
        "je 4f",
        "ret",
        "4:",
        "xor eax, eax",
        "ret",
        "3:",
        "jmp qword ptr [rip + {real}]",
        answer = sym answer,
        not_there = const NOT_THERE,
        real = sym REAL,
    )
}

/// What to answer: one of our functions, that there is none, or null to ask the real dlsym.
extern "C" fn answer(handle: *mut c_void, name: *const c_char, caller: Code) -> Code {
    // SAFETY: the program passes a text to dlsym.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(slot) = slot(name) else {
        return std::ptr::null();
    };
    if handle == libc::RTLD_NEXT {
        return std::ptr::null();
    }
    // SAFETY: the program's own arguments. RTLD_DEFAULT means the same to us but for what only the caller sees.
    let found = unsafe { symbol(handle, name.as_ptr()) };
    if found.is_null() {
        return std::ptr::null();
    }
    if library::is_ours(found) {
        return if library::is_preloaded() && !library::is_behind(name, caller) {
            // For dlerror's message, without which programs take the answer for a symbol at address 0: the C library has none of
            // MPI. Behind this library there may be another recorder.
            // SAFETY: the C library is loaded, and stays; dlsym takes any name.
            unsafe {
                let libc = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                symbol(libc, name.as_ptr());
            }
            NOT_THERE as Code
        } else {
            std::ptr::null()
        };
    }
    if !library::is_mpi(found) || !library::is_usable(found) {
        return std::ptr::null();
    }
    entry::set_real(slot, found);
    EXPORTS[slot]
}

/// The slot of an exported function.
fn slot(name: &CStr) -> Option<usize> {
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
    .filter(|&slot| slot < SLOTS && !EXPORTS[slot].is_null())
}
