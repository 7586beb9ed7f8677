//! The size of a page of memory.

/// Bytes of a page: 4096 on x86-64; on aarch64 as the kernel was built, up to 64 KiB.
#[cfg(target_arch = "x86_64")]
pub fn bytes() -> usize {
    4096
}

/// Bytes of a page: 4096 on x86-64; on aarch64 as the kernel was built, up to 64 KiB.
#[cfg(target_arch = "aarch64")]
pub fn bytes() -> usize {
    // SAFETY: asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(64 << 10)
}
