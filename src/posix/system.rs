//! System calls of the recorder itself, not through libc, whose functions are ours, and without touching errno.

use std::arch::asm;
use std::ffi::{CStr, c_char, c_int, c_long};
use std::mem::MaybeUninit;

/// Makes system call `number`; gives the kernel's answer, -errno where it failed.
///
/// # Safety
/// The arguments must be what the call wants.
#[inline(always)]
pub(super) unsafe fn call(number: c_long, a: usize, b: usize, c: usize, d: usize) -> isize {
    let answer: isize;
    // SAFETY: the caller vouches for the arguments.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
        #[cfg(target_arch = "aarch64")]
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => answer,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            options(nostack),
        );
    }
    answer
}

/// File position of the descriptor; `None` if it has none.
pub fn position(fd: c_int) -> Option<i64> {
    // SAFETY: asks for a number.
    let at = unsafe { call(libc::SYS_lseek, fd as usize, 0, libc::SEEK_CUR as usize, 0) };
    (at >= 0).then_some(at as i64)
}

/// Status of the descriptor's file; `None` if it is not open.
pub fn status(fd: c_int) -> Option<libc::stat> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a place for the result, which is there when the call succeeds.
    unsafe {
        let answer = call(
            libc::SYS_fstat,
            fd as usize,
            status.as_mut_ptr() as usize,
            0,
            0,
        );
        (answer == 0).then(|| status.assume_init())
    }
}

/// Status of the file that the name refers to, else errno: EFAULT where there is no text at that address.
pub fn status_at(directory: c_int, name: *const c_char, flags: c_int) -> Result<libc::stat, c_int> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel looks whether it can read the name; a place for the result, which is there when the call succeeds.
    unsafe {
        let answer = call(
            libc::SYS_newfstatat,
            directory as usize,
            name as usize,
            status.as_mut_ptr() as usize,
            flags as usize,
        );
        match answer {
            0 => Ok(status.assume_init()),
            error => Err(-error as c_int),
        }
    }
}

/// The descriptor's flags, as open(2) has them.
pub fn flags(fd: c_int) -> c_int {
    // SAFETY: asks for a number.
    let flags = unsafe { call(libc::SYS_fcntl, fd as usize, libc::F_GETFL as usize, 0, 0) };
    flags.max(0) as c_int
}

/// The working directory, into `room`; how many bytes.
pub fn working_directory(room: &mut [u8]) -> usize {
    // SAFETY: room for the result and its length.
    let n = unsafe {
        call(
            libc::SYS_getcwd,
            room.as_mut_ptr() as usize,
            room.len(),
            0,
            0,
        )
    };
    // With the 0 at the end.
    (n.max(1) - 1) as usize
}

/// Reads the target of a symbolic link into `room`. Returns its number of bytes.
pub fn link(name: &CStr, room: &mut [u8]) -> usize {
    // SAFETY: a name that ends with 0; room for the result and its length.
    let n = unsafe {
        call(
            libc::SYS_readlinkat,
            libc::AT_FDCWD as usize,
            name.as_ptr() as usize,
            room.as_mut_ptr() as usize,
            room.len(),
        )
    };
    n.max(0) as usize
}

/// Sectors of 512 bytes that the kernel has charged this thread with: read from devices, to be written to them.
pub fn sectors() -> (u64, u64) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: room for the result; it is all numbers.
    let usage = unsafe {
        call(
            libc::SYS_getrusage,
            libc::RUSAGE_THREAD as usize,
            usage.as_mut_ptr() as usize,
            0,
            0,
        );
        usage.assume_init()
    };
    (usage.ru_inblock as u64, usage.ru_oublock as u64)
}
