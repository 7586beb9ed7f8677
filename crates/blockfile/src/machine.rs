//! This machine: its clocks, its name, and what identifies the start of its kernel.

use crate::define::{ClockReading, ProcessDefinition};
use std::ffi::{CStr, c_char};

/// CLOCK_MONOTONIC, ns.
pub fn now() -> u64 {
    posix_clock(libc::CLOCK_MONOTONIC)
}

/// A POSIX clock, ns; 0 for a clock that the kernel does not have.
pub fn posix_clock(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result.
    unsafe { libc::clock_gettime(id, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor's counter that goes on at one rate: the time-stamp counter.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn counter() -> u64 {
    // SAFETY: rdtsc has no preconditions.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The processor's counter that goes on at one rate: the virtual counter of the generic timer. As with x86-64's, the processor may
/// read it a few instructions early.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn counter() -> u64 {
    let ticks;
    // SAFETY: a register is read that the kernel lets programs read.
    unsafe {
        std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags));
    }
    ticks
}

/// All clocks at this moment, for files whose ticks are ns of CLOCK_MONOTONIC.
pub fn monotonic_reading() -> ClockReading {
    let monotonic = now();
    ClockReading {
        ticks: monotonic,
        monotonic,
        realtime: posix_clock(libc::CLOCK_REALTIME),
        cpu: posix_clock(libc::CLOCK_PROCESS_CPUTIME_ID),
    }
}

/// Definition of this process.
pub fn process() -> ProcessDefinition {
    let file_name = |path: std::path::PathBuf| {
        let name = path.file_name()?;
        Some(name.to_string_lossy().into_owned())
    };
    ProcessDefinition {
        host: host(),
        program: std::env::current_exe()
            .ok()
            .and_then(file_name)
            .unwrap_or_default(),
        user: std::env::var("LOGNAME").unwrap_or_default(),
        boot: boot_id(),
    }
}

/// ID of this boot of the kernel: processes with equal boot IDs read the same clocks. Empty without /proc.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// Name of this host.
pub fn host() -> String {
    let mut name = [0 as c_char; 256];
    // SAFETY: the buffer is one byte longer than what may be written, and zero.
    unsafe {
        libc::gethostname(name.as_mut_ptr(), name.len() - 1);
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    }
}
