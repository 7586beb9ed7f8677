//! The functions of libc that are found in place of its own: one line for each, with its other names, its arguments, the
//! system call that stands in while it cannot be looked up, and what is done round it.
//!
//! An exported function is a few instructions that jump on to the real one, all registers as they are, unless the thread is
//! inside MPI (or calls outside are recorded as well). Those marked `always` are followed wherever they are called, because
//! they end what a descriptor stands for.

use super::aio::{begin as begin_aio, begin_list, end as end_aio};
use super::calls::{
    asking, close_all, closing, coded, control, copy, duplicate, duplicate_to, lock_here, named,
    opening, plain, seek, splice as splice_pipe, transfer, transfer_vector,
};
use super::maps::{map, sync as sync_map};
use super::printing;
use super::raw::raw_call;
use super::real::{self, RealFunction};
use super::stdio::{close_stream, open_stream, open_temporary, reopen_stream, use_stream};
use super::watch;
use crate::mpi::library::CodeAddress;
use crate::thread::state::Thread;
use blockfile::operation::*;
use libc::*;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::offset_of;

type Data = *mut c_void;
type Name = *const c_char;
type File = *mut FILE;

/// There is no system call with the same arguments.
const NONE: i64 = -1;

/// Flags with which mkstemp and its kind open the file that they make. The name is in the place of its template when they return.
const OF_MKSTEMP: c_int = O_RDWR | O_CREAT | O_EXCL;

/// Makes a module for each name: the real function, what finds it, what records, and what is exported.
macro_rules! functions {
    ($($when:ident [$($name:ident)+] $arguments:tt -> $result:ty, $raw:ident => $how:ident $given:tt;)*) => {
        $($(function!($when $name $arguments -> $result, $raw => $how $given);)+)*

        /// All of them.
        static FUNCTIONS: &[&RealFunction] = &[$($(&$name::REAL),+),*];
    };
}

macro_rules! function {
    ($when:ident $name:ident ($($argument:ident: $type:ty),*) -> $result:ty, $raw:ident => $how:ident($($given:expr),*)) => {
        mod $name {
            #[allow(unused_imports, reason = "each uses some of them")]
            use super::*;

            real::real_function!($name, raw);

            #[unsafe(naked)]
            unsafe extern "C" fn raw() {
                raw_call!($raw);
            }

            #[allow(unused_variables, reason = "some arguments are only passed on")]
            unsafe extern "C" fn record($($argument: $type),*) -> $result {
                // SAFETY: the real function has this signature, and gets what the program gave.
                let real = || unsafe {
                    std::mem::transmute::<
                        CodeAddress,
                        unsafe extern "C" fn($($type),*) -> $result,
                    >(REAL.target())($($argument),*)
                };
                // SAFETY: the arguments are the program's.
                #[allow(unused_unsafe, reason = "not all look behind pointers")]
                unsafe {
                    $how(real, $($given),*)
                }
            }

            enter!($when $name);
        }
    };
}

/// The exported function itself.
macro_rules! enter {
    (inside $name:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!(
                "mov r11, qword ptr [rip + trace_current_thread@GOTTPOFF]",
                "mov r11, qword ptr fs:[r11]",
                "test r11, r11",
                "je 2f",
                "cmp qword ptr [r11 + {outer_stack}], 0",
                "jne 3f",
                "2:",
                "cmp byte ptr [rip + {outside}], 0",
                "jne 3f",
                "jmp qword ptr [rip + {real}]",
                "3:",
                "jmp {record}",
                outer_stack = const offset_of!(Thread, outer_stack),
                outside = sym watch::ALSO_OUTSIDE,
                real = sym REAL,
                record = sym record,
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!(
                "mrs x16, tpidr_el0",
                "adrp x17, :gottprel:trace_current_thread",
                "ldr x17, [x17, :gottprel_lo12:trace_current_thread]",
                "ldr x16, [x16, x17]",
                "cbz x16, 2f",
                "ldr x16, [x16, {outer_stack}]",
                "cbnz x16, 3f",
                "2:",
                "adrp x16, {outside}",
                "ldrb w16, [x16, :lo12:{outside}]",
                "cbnz w16, 3f",
                "adrp x16, {real}",
                "ldr x16, [x16, :lo12:{real}]",
                "br x16",
                "3:",
                "b {record}",
                outer_stack = const offset_of!(Thread, outer_stack),
                outside = sym watch::ALSO_OUTSIDE,
                real = sym REAL,
                record = sym record,
            );
        }
    };
    (always $name:ident) => {
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            #[cfg(target_arch = "x86_64")]
            std::arch::naked_asm!("jmp {record}", record = sym record);
            #[cfg(target_arch = "aarch64")]
            std::arch::naked_asm!("b {record}", record = sym record);
        }
    };
}

functions! {
    inside [open open64](path: Name, flags: c_int, mode: c_uint) -> c_int, SYS_open
        => opening(OPEN, AT_FDCWD, path, flags);
    inside [__open_2 __open64_2](path: Name, flags: c_int) -> c_int, SYS_open
        => opening(OPEN, AT_FDCWD, path, flags);
    inside [openat openat64](directory: c_int, path: Name, flags: c_int, mode: c_uint) -> c_int, SYS_openat
        => opening(OPENAT, directory, path, flags);
    inside [__openat_2 __openat64_2](directory: c_int, path: Name, flags: c_int) -> c_int, SYS_openat
        => opening(OPENAT, directory, path, flags);
    inside [creat creat64](path: Name, mode: c_uint) -> c_int, SYS_creat
        => opening(CREAT, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC);
    inside [mkstemp mkstemp64](template: Name) -> c_int, NONE
        => opening(OPEN, AT_FDCWD, template, OF_MKSTEMP);
    inside [mkostemp mkostemp64](template: Name, flags: c_int) -> c_int, NONE
        => opening(OPEN, AT_FDCWD, template, OF_MKSTEMP | flags);
    inside [mkstemps mkstemps64](template: Name, suffix: c_int) -> c_int, NONE
        => opening(OPEN, AT_FDCWD, template, OF_MKSTEMP);
    inside [mkostemps mkostemps64](template: Name, suffix: c_int, flags: c_int) -> c_int, NONE
        => opening(OPEN, AT_FDCWD, template, OF_MKSTEMP | flags);
    always [close](fd: c_int) -> c_int, SYS_close => closing(fd);

    inside [read](fd: c_int, to: Data, size: usize) -> isize, SYS_read
        => transfer(READ, fd, -1, size as i64);
    inside [__read_chk](fd: c_int, to: Data, size: usize, room: usize) -> isize, SYS_read
        => transfer(READ, fd, -1, size as i64);
    inside [write](fd: c_int, from: Data, size: usize) -> isize, SYS_write
        => transfer(WRITE, fd, -1, size as i64);
    inside [pread pread64](fd: c_int, to: Data, size: usize, at: i64) -> isize, SYS_pread64
        => transfer(PREAD, fd, at, size as i64);
    inside [__pread_chk __pread64_chk](fd: c_int, to: Data, size: usize, at: i64, room: usize) -> isize, SYS_pread64
        => transfer(PREAD, fd, at, size as i64);
    inside [pwrite pwrite64](fd: c_int, from: Data, size: usize, at: i64) -> isize, SYS_pwrite64
        => transfer(PWRITE, fd, at, size as i64);
    inside [readv](fd: c_int, to: *const iovec, count: c_int) -> isize, SYS_readv
        => transfer_vector(READV, fd, -1, to, (count, 0));
    inside [writev](fd: c_int, from: *const iovec, count: c_int) -> isize, SYS_writev
        => transfer_vector(WRITEV, fd, -1, from, (count, 0));
    inside [preadv preadv64](fd: c_int, to: *const iovec, count: c_int, at: i64) -> isize, SYS_preadv
        => transfer_vector(PREADV, fd, at, to, (count, 0));
    inside [pwritev pwritev64](fd: c_int, from: *const iovec, count: c_int, at: i64) -> isize, SYS_pwritev
        => transfer_vector(PWRITEV, fd, at, from, (count, 0));
    inside [preadv2 preadv64v2](fd: c_int, to: *const iovec, count: c_int, at: i64, how: c_int) -> isize, NONE
        => transfer_vector(PREADV2, fd, at, to, (count, how));
    inside [pwritev2 pwritev64v2](fd: c_int, from: *const iovec, count: c_int, at: i64, how: c_int) -> isize, NONE
        => transfer_vector(PWRITEV2, fd, at, from, (count, how));
    inside [copy_file_range](from: c_int, from_at: *mut i64, to: c_int, to_at: *mut i64, size: usize, how: c_uint) -> isize, NONE
        => copy(COPY_FILE_RANGE, (from, from_at), (to, to_at), size as i64);
    inside [sendfile sendfile64](to: c_int, from: c_int, from_at: *mut i64, size: usize) -> isize, SYS_sendfile
        => copy(SENDFILE, (from, from_at), (to, std::ptr::null()), size as i64);

    inside [splice](from: c_int, from_at: *mut i64, to: c_int, to_at: *mut i64, size: usize, how: c_uint) -> isize, SYS_splice
        => splice_pipe(from, to);

    inside [lseek lseek64](fd: c_int, to: i64, from: c_int) -> i64, SYS_lseek
        => seek(LSEEK, fd);
    inside [ftruncate ftruncate64](fd: c_int, size: i64) -> c_int, SYS_ftruncate
        => plain(FTRUNCATE, fd, -1, size);
    inside [truncate truncate64](path: Name, size: i64) -> c_int, SYS_truncate
        => named(TRUNCATE, AT_FDCWD, path, size);
    inside [fallocate fallocate64](fd: c_int, mode: c_int, at: i64, size: i64) -> c_int, SYS_fallocate
        => plain(FALLOCATE, fd, at, size);
    inside [posix_fallocate posix_fallocate64](fd: c_int, at: i64, size: i64) -> c_int, NONE
        => coded(POSIX_FALLOCATE, fd, at, size);
    inside [fsync](fd: c_int) -> c_int, SYS_fsync => plain(FSYNC, fd, -1, 0);
    inside [fdatasync](fd: c_int) -> c_int, SYS_fdatasync => plain(FDATASYNC, fd, -1, 0);
    inside [sync_file_range](fd: c_int, at: i64, size: i64, how: c_uint) -> c_int, SYS_sync_file_range
        => plain(SYNC_FILE_RANGE, fd, at, size);
    inside [flock](fd: c_int, what: c_int) -> c_int, SYS_flock => plain(FLOCK, fd, -1, 0);
    inside [fcntl fcntl64](fd: c_int, command: c_int, argument: usize) -> c_int, SYS_fcntl
        => control(fd, command, argument);
    inside [lockf lockf64](fd: c_int, what: c_int, length: i64) -> c_int, NONE => lock_here(fd, what, length);

    inside [unlink remove](path: Name) -> c_int, SYS_unlink => named(UNLINK, AT_FDCWD, path, 0);
    inside [unlinkat](directory: c_int, path: Name, flags: c_int) -> c_int, SYS_unlinkat
        => named(UNLINKAT, directory, path, 0);
    inside [rename](old: Name, new: Name) -> c_int, SYS_rename => named(RENAME, AT_FDCWD, old, 0);

    inside [stat stat64](path: Name, to: Data) -> c_int, SYS_stat => named(STAT, AT_FDCWD, path, 0);
    inside [lstat lstat64](path: Name, to: Data) -> c_int, SYS_lstat => named(LSTAT, AT_FDCWD, path, 0);
    inside [fstat fstat64](fd: c_int, to: Data) -> c_int, SYS_fstat => plain(FSTAT, fd, -1, 0);
    inside [fstatat fstatat64](directory: c_int, path: Name, to: Data, flags: c_int) -> c_int, SYS_newfstatat
        => asking(FSTATAT, directory, path, flags);
    inside [statx](directory: c_int, path: Name, flags: c_int, mask: c_uint, to: Data) -> c_int, SYS_statx
        => asking(STATX, directory, path, flags);
    // As programs call them that were linked with glibc before 2.33.
    inside [__xstat __xstat64](version: c_int, path: Name, to: Data) -> c_int, NONE => named(STAT, AT_FDCWD, path, 0);
    inside [__lxstat __lxstat64](version: c_int, path: Name, to: Data) -> c_int, NONE => named(LSTAT, AT_FDCWD, path, 0);
    inside [__fxstat __fxstat64](version: c_int, fd: c_int, to: Data) -> c_int, NONE => plain(FSTAT, fd, -1, 0);
    inside [__fxstatat __fxstatat64](version: c_int, directory: c_int, path: Name, to: Data, flags: c_int) -> c_int, NONE
        => asking(FSTATAT, directory, path, flags);
    inside [access](path: Name, mode: c_int) -> c_int, SYS_access => named(ACCESS, AT_FDCWD, path, 0);
    inside [faccessat](directory: c_int, path: Name, mode: c_int, flags: c_int) -> c_int, NONE
        => asking(FACCESSAT, directory, path, flags);

    inside [aio_read aio_read64](block: *mut aiocb) -> c_int, NONE => begin_aio(AIO_READ, block);
    inside [aio_write aio_write64](block: *mut aiocb) -> c_int, NONE => begin_aio(AIO_WRITE, block);
    inside [aio_fsync aio_fsync64](how: c_int, block: *mut aiocb) -> c_int, NONE => begin_aio(AIO_FSYNC, block);
    inside [aio_return aio_return64](block: *mut aiocb) -> isize, NONE => end_aio(block);
    inside [lio_listio lio_listio64](mode: c_int, list: *const *mut aiocb, count: c_int, then: Data) -> c_int, NONE
        => begin_list(list, count);

    inside [mmap mmap64](address: Data, size: usize, protection: c_int, how: c_int, fd: c_int, at: i64) -> Data, NONE
        => map(size, fd, at);
    inside [msync](address: Data, size: usize, how: c_int) -> c_int, SYS_msync => sync_map(address, size);

    inside [dup](old: c_int) -> c_int, SYS_dup => duplicate(old);
    always [dup2](old: c_int, new: c_int) -> c_int, SYS_dup2 => duplicate_to(old, new);
    always [dup3](old: c_int, new: c_int, flags: c_int) -> c_int, SYS_dup3 => duplicate_to(old, new);
    always [close_range](first: c_uint, last: c_uint, flags: c_int) -> c_int, SYS_close_range
        => close_all(first, last, flags);
    always [closefrom](first: c_int) -> (), NONE => close_all(first.max(0) as c_uint, c_uint::MAX, 0);
    inside [fopen fopen64](path: Name, mode: Name) -> File, NONE => open_stream(path, mode);
    inside [tmpfile tmpfile64]() -> File, NONE => open_temporary();
    always [freopen freopen64](path: Name, mode: Name, stream: File) -> File, NONE
        => reopen_stream(path, mode, stream);
    always [fdopen](fd: c_int, mode: Name) -> File, NONE => use_stream(fd);
    always [fclose](stream: File) -> c_int, NONE => close_stream(stream);
}

/// Finds the real functions when the library is loaded, so that a signal handler need not.
pub fn at_load() {
    real::resolve_all(FUNCTIONS);
    printing::at_load();
}
