//! `dlsym`, for programs that load MPI privately and look its functions up themselves (Julia, Python's ctypes and cffi, plugins):
//! they get ours where they would have got those of an MPI library.
//!
//! Where no MPI is loaded that they could see, the answer is that there is none, as it would be without us; mpi4py asks.
//! A layer over MPI that looks up the library below it gets that library's functions.
//!
//! All other questions go on to the real function with the caller's return address where it was, as that decides what
//! RTLD_NEXT and RTLD_DEFAULT mean. Lookups of the recorder's own go to [`symbol()`], which knows the real function.

use crate::interpose::exports::EXPORTS;
use crate::mpi::library;
use crate::mpi::slots::{self, CodeAddress};
use crate::mpi::symbol::{self, symbol};
use std::ffi::{CStr, c_char, c_void};

/// Instead of an address: there is no such symbol.
const NOT_THERE: usize = 1;

/// `void *dlsym(void *handle, const char *name)`. Names of MPI begin with m, M, p or P.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym() {
    #[cfg(target_arch = "x86_64")]
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
        real = sym symbol::REAL,
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "cbz x1, 3f",
        "ldrb w16, [x1]",
        "orr w16, w16, 32",
        "cmp w16, 109",
        "b.eq 2f",
        "cmp w16, 112",
        "b.ne 3f",
        "2:",
        "stp x29, x30, [sp, -32]!",
        "mov x29, sp",
        "stp x0, x1, [sp, 16]",
        "mov x2, x30",
        "bl {answer}",
        "mov x16, x0",
        "ldp x0, x1, [sp, 16]",
        "ldp x29, x30, [sp], 32",
        "cbz x16, 3f",
        "cmp x16, {not_there}",
        "csel x0, xzr, x16, eq",
        "ret",
        "3:",
        "adrp x16, {real}",
        "ldr x16, [x16, :lo12:{real}]",
        "br x16",
        answer = sym answer,
        not_there = const NOT_THERE,
        real = sym symbol::REAL,
    );
}

/// Answers dlsym: one of our functions, the sign that there is none, or null to ask the real dlsym.
extern "C" fn answer(handle: *mut c_void, name: *const c_char, caller: CodeAddress) -> CodeAddress {
    // SAFETY: the program passes a text to dlsym.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(slot) = slots::of_name(name) else {
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
            NOT_THERE as CodeAddress
        } else {
            std::ptr::null()
        };
    }
    let is_for_program =
        library::is_mpi(found) && !library::is_asked_by_layer(handle, name, caller);
    if !is_for_program || !library::is_usable(found) {
        return std::ptr::null();
    }
    slots::set_real(slot, found);
    // Once more, for dlerror: the recorder's lookups since then may have failed, and programs ask it whether theirs has.
    // SAFETY: as above.
    unsafe { symbol(handle, name.as_ptr()) };
    EXPORTS[slot]
}
