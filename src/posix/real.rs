//! The real functions behind ours.
//!
//! A slot holds libc's function, or that of another tool in line. Until it is known it holds code that finds it: the loader
//! runs [`resolve_all`], but other libraries' constructors may call before that. `dlsym` itself may lead to calls (an
//! allocator of the program's that opens a file); these are made as raw system calls.

use crate::mpi::library::CodeAddress;
use crate::mpi::symbol;
use crate::platform::errno::{errno, set_errno};
use crate::platform::jump::find_and_jump;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// One function.
#[repr(C)]
pub struct RealFunction {
    /// Address at which its calls go on. First, because exported functions jump through it.
    target: AtomicPtr<c_void>,
    /// Name of the function.
    name: &'static CStr,
    /// Makes the system call that it comes to, where there is one with the same arguments.
    raw: unsafe extern "C" fn(),
}

impl RealFunction {
    /// The function `name`, found by `first` at its first call.
    pub const fn new(
        name: &'static CStr,
        first: unsafe extern "C" fn(),
        raw: unsafe extern "C" fn(),
    ) -> RealFunction {
        RealFunction {
            target: AtomicPtr::new(first as *mut c_void),
            name,
            raw,
        }
    }

    /// Address of the function to call.
    #[inline(always)]
    pub fn target(&self) -> CodeAddress {
        self.target.load(Relaxed)
    }

    fn find(&self) -> Option<*mut c_void> {
        let in_libc = |library: *mut c_void| {
            // SAFETY: dlsym takes any name.
            let found = unsafe { symbol::symbol(library, self.name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        let kept = || symbol::symbol_of_old_programs(self.name);
        in_libc(libc::RTLD_NEXT).or_else(kept).or_else(|| {
            // Before glibc 2.34 the aio functions were in a library of their own, which only a plugin may have loaded.
            // SAFETY: dlopen takes any name; nothing is loaded.
            let library = unsafe {
                libc::dlopen(c"librt.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
            };
            if library.is_null() {
                None
            } else {
                in_libc(library)
            }
        })
    }
}

/// Declares `REAL`, the real function of this name, and `first`, which its slot holds until it is known. `$otherwise` is what is
/// called while it cannot be looked up.
macro_rules! real_function {
    ($name:ident, $otherwise:ident) => {
        pub static REAL: $crate::posix::real::RealFunction = $crate::posix::real::RealFunction::new(
            match std::ffi::CStr::from_bytes_with_nul(
                concat!(stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => c"",
            },
            first,
            $otherwise,
        );

        #[unsafe(naked)]
        unsafe extern "C" fn first() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(
                "lea r11, [rip + {function}]",
                "jmp {first_call}",
                function = sym REAL,
                first_call = sym $crate::posix::real::first_call,
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "adrp x11, {function}",
                "add x11, x11, :lo12:{function}",
                "b {first_call}",
                function = sym REAL,
                first_call = sym $crate::posix::real::first_call,
            );
        }
    };
}
pub(crate) use real_function;

/// Finds `function`; called by its first call.
pub extern "C" fn resolve(function: &RealFunction) -> CodeAddress {
    let raw = function.raw as CodeAddress;
    if is_resolving() {
        return raw;
    }
    let saved = errno();
    set_resolving(true);
    let found = function.find();
    set_resolving(false);
    set_errno(saved);
    match found {
        Some(code) => {
            function.target.store(code, Relaxed);
            code
        }
        None => raw,
    }
}

/// Finds all of `functions` ahead of their first calls, which may come from a signal handler.
pub fn resolve_all(functions: &[&RealFunction]) {
    for function in functions {
        resolve(function);
    }
}

std::arch::global_asm!(
    ".section .tbss.trace_resolving,\"awT\",@nobits",
    ".hidden trace_resolving",
    ".globl trace_resolving",
    ".type trace_resolving,@object",
    ".size trace_resolving,8",
    ".balign 8",
    "trace_resolving:",
    ".zero 8",
    ".text",
);

/// Whether this thread is inside `dlsym`.
fn is_resolving() -> bool {
    let value: u64;
    // SAFETY: reads the variable declared above; no memory is written.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {v}, qword ptr [rip + trace_resolving@GOTTPOFF]",
            "mov {v}, qword ptr fs:[{v}]",
            v = out(reg) value,
            options(nostack, preserves_flags, readonly),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {v}, :gottprel:trace_resolving",
            "ldr {v}, [{v}, :gottprel_lo12:trace_resolving]",
            "ldr {v}, [{block}, {v}]",
            block = out(reg) _,
            v = out(reg) value,
            options(nostack, preserves_flags, readonly),
        );
    }
    value != 0
}

fn set_resolving(is: bool) {
    // SAFETY: writes the variable declared above, which only this thread sees.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "mov {p}, qword ptr [rip + trace_resolving@GOTTPOFF]",
            "mov qword ptr fs:[{p}], {v}",
            p = out(reg) _,
            v = in(reg) u64::from(is),
            options(nostack, preserves_flags),
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "mrs {block}, tpidr_el0",
            "adrp {p}, :gottprel:trace_resolving",
            "ldr {p}, [{p}, :gottprel_lo12:trace_resolving]",
            "str {v}, [{block}, {p}]",
            block = out(reg) _,
            p = out(reg) _,
            v = in(reg) u64::from(is),
            options(nostack, preserves_flags),
        );
    }
}

/// Finds the function that r11 (x11 on aarch64) points to without changing a register that could hold an argument, and jumps there. None of
/// them takes floating-point arguments.
#[unsafe(naked)]
pub unsafe extern "C" fn first_call() {
    find_and_jump!(resolve);
}

/// Ends a raw system call that failed as libc does. The kernel's answer is in the register of results.
#[unsafe(naked)]
pub unsafe extern "C" fn failed() {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "sub rsp, 8",
        "mov edi, eax",
        "call {set}",
        "add rsp, 8",
        "ret",
        set = sym fail,
    );
    // There, a result and a first argument are in the same register.
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!("b {set}", set = sym fail);
}

pub(super) extern "C" fn fail(answer: c_int) -> isize {
    set_errno(-answer);
    -1
}
