//! Handles of MPI objects as numbers, and back: an `int` in MPICH, a pointer in Open MPI.

use std::ffi::c_int;

/// A handle as a number.
pub trait HandleBits: Copy {
    /// The number.
    fn bits(self) -> u64;
}

impl HandleBits for c_int {
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}

impl<T> HandleBits for *mut T {
    #[inline(always)]
    fn bits(self) -> u64 {
        self as usize as u64
    }
}

/// A handle as a number.
#[inline(always)]
pub fn bits<T: HandleBits>(handle: T) -> u64 {
    handle.bits()
}

/// A handle from its number.
pub trait FromBits {
    /// The handle.
    fn from_bits(bits: u64) -> Self;
}

impl FromBits for c_int {
    fn from_bits(bits: u64) -> c_int {
        bits as u32 as c_int
    }
}

impl<T> FromBits for *mut T {
    fn from_bits(bits: u64) -> *mut T {
        bits as usize as *mut T
    }
}

/// A handle from its number.
pub fn from_bits<T: FromBits>(bits: u64) -> T {
    T::from_bits(bits)
}
