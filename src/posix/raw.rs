//! Raw system calls, which stand in for functions of libc while these cannot be looked up.

/// The body of a naked function that makes the system call of this name with its own arguments, and ends as libc's function does.
#[cfg(target_arch = "x86_64")]
macro_rules! raw_call {
    ($number:ident) => {
        std::arch::naked_asm!(
            "mov rax, {number}",
            "mov r10, rcx",
            "syscall",
            "cmp rax, -4095",
            "jae {failed}",
            "ret",
            number = const $number,
            failed = sym $crate::posix::real::failed,
        )
    };
}

/// The body of a naked function that makes the system call of this name with its own arguments, and ends as libc's function does. The
/// kernel has no calls for aarch64 that newer ones include.
#[cfg(target_arch = "aarch64")]
macro_rules! raw_call {
    (SYS_open) => { raw_call!(instead open) };
    (SYS_creat) => { raw_call!(instead creat) };
    (SYS_unlink) => { raw_call!(instead unlink) };
    (SYS_rename) => { raw_call!(instead rename) };
    (SYS_dup2) => { raw_call!(instead dup2) };
    (SYS_stat) => { raw_call!(instead stat) };
    (SYS_lstat) => { raw_call!(instead lstat) };
    (SYS_access) => { raw_call!(instead access) };
    (instead $name:ident) => {
        std::arch::naked_asm!("b {instead}", instead = sym $crate::posix::raw::instead::$name)
    };
    ($number:ident) => {
        std::arch::naked_asm!(
            "mov x8, {number}",
            "svc 0",
            "cmn x0, 4095",
            "b.hs 2f",
            "ret",
            "2:",
            "b {failed}",
            number = const $number,
            failed = sym $crate::posix::real::failed,
        )
    };
}
pub(super) use raw_call;

/// Functions whose system calls the kernel has for older processors only, by newer calls.
#[cfg(target_arch = "aarch64")]
pub(super) mod instead {
    use crate::posix::{real, system};
    use libc::{AT_FDCWD, AT_SYMLINK_NOFOLLOW, O_CREAT, O_TRUNC, O_WRONLY};
    use std::ffi::{c_char, c_int, c_long, c_uint, c_void};

    type Name = *const c_char;

    /// Makes a system call, and ends as libc's function does.
    ///
    /// # Safety
    /// The arguments must be what the call wants.
    unsafe fn call(number: c_long, [a, b, c, d]: [usize; 4]) -> isize {
        // SAFETY: by the caller.
        match unsafe { system::call(number, a, b, c, d) } {
            error @ -4095..0 => real::fail(error as c_int),
            answer => answer,
        }
    }

    /// The directory that names without one are in.
    const HERE: usize = AT_FDCWD as usize;

    pub unsafe extern "C" fn open(path: Name, flags: c_int, mode: c_uint) -> isize {
        let arguments = [HERE, path as usize, flags as usize, mode as usize];
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_openat, arguments) }
    }

    pub unsafe extern "C" fn creat(path: Name, mode: c_uint) -> isize {
        // SAFETY: the arguments are the program's.
        unsafe { open(path, O_CREAT | O_WRONLY | O_TRUNC, mode) }
    }

    pub unsafe extern "C" fn unlink(path: Name) -> isize {
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_unlinkat, [HERE, path as usize, 0, 0]) }
    }

    pub unsafe extern "C" fn rename(old: Name, new: Name) -> isize {
        let arguments = [HERE, old as usize, HERE, new as usize];
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_renameat, arguments) }
    }

    pub unsafe extern "C" fn stat(path: Name, to: *mut c_void) -> isize {
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_newfstatat, [HERE, path as usize, to as usize, 0]) }
    }

    pub unsafe extern "C" fn lstat(path: Name, to: *mut c_void) -> isize {
        let arguments = [
            HERE,
            path as usize,
            to as usize,
            AT_SYMLINK_NOFOLLOW as usize,
        ];
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_newfstatat, arguments) }
    }

    pub unsafe extern "C" fn access(path: Name, mode: c_int) -> isize {
        let arguments = [HERE, path as usize, mode as usize, 0];
        // SAFETY: the arguments are the program's.
        unsafe { call(libc::SYS_faccessat, arguments) }
    }

    pub unsafe extern "C" fn dup2(old: c_int, new: c_int) -> isize {
        // SAFETY: numbers.
        unsafe {
            if old == new {
                // The newer call refuses this; the older one says whether the descriptor is open.
                let flags = call(
                    libc::SYS_fcntl,
                    [old as usize, libc::F_GETFD as usize, 0, 0],
                );
                return if flags < 0 { flags } else { new as isize };
            }
            call(libc::SYS_dup3, [old as usize, new as usize, 0, 0])
        }
    }
}
