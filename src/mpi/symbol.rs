//! The recorder's own lookups of symbols. The exported `dlsym` is the recorder's, so that these go to the real one.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// libc's function or that of another tool in line; before the first call, code that finds it.
pub static REAL: AtomicPtr<c_void> = AtomicPtr::new(first as *mut c_void);

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

/// The first version of glibc for the processor.
const FIRST_VERSION: &CStr = if cfg!(target_arch = "aarch64") {
    c"GLIBC_2.17"
} else {
    c"GLIBC_2.2.5"
};

/// Looks up, behind the recorder, a function that libc keeps for old programs only: [`symbol`] does not find those. `dlvsym` cannot lead
/// back to us.
pub fn symbol_of_old_programs(name: &CStr) -> Option<*mut c_void> {
    // glibc 2.4 brought functions that take a directory.
    [FIRST_VERSION, c"GLIBC_2.4"].iter().find_map(|version| {
        // SAFETY: dlvsym takes any names.
        let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), version.as_ptr()) };
        (!found.is_null()).then_some(found)
    })
}

/// Finds the real function. `dlvsym` cannot lead back to us.
extern "C" fn find() -> *const c_void {
    // glibc moved it from libdl into libc with version 2.34.
    let found = [c"GLIBC_2.34", FIRST_VERSION].iter().find_map(|version| {
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
    #[cfg(target_arch = "x86_64")]
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
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "stp x29, x30, [sp, -32]!",
        "mov x29, sp",
        "stp x0, x1, [sp, 16]",
        "bl {find}",
        "mov x16, x0",
        "ldp x0, x1, [sp, 16]",
        "ldp x29, x30, [sp], 32",
        "br x16",
        find = sym find,
    );
}
