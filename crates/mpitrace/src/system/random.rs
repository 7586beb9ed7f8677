//! Random bytes for secrets, from the kernel.

use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt::Write;
use std::io;

/// `N` bytes that nobody can guess.
///
/// # Errors
/// When the kernel gives none.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// `N` bytes that nobody can guess, as `2 * N` hexadecimal digits.
///
/// # Errors
/// When the kernel gives none.
pub fn digits<const N: usize>() -> io::Result<String> {
    let mut text = String::new();
    for byte in bytes::<N>()? {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
