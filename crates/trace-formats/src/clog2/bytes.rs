//! Byte order, and numbers at a place in a slice of bytes.

/// Byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endian {
    /// Most significant byte first: every merged file.
    Big,
    /// Least significant byte first: local files of x86 and ARM machines.
    Little,
}

/// `N` bytes from `at` on; zeros where `bytes` is too short, which callers have ruled out.
#[inline]
pub(super) fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<N>())
        .copied()
        .unwrap_or([0; N])
}

/// The int at `at`; 0 where `bytes` is too short.
#[inline]
pub(super) fn get_i32(bytes: &[u8], at: usize, endian: Endian) -> i32 {
    match endian {
        Endian::Big => i32::from_be_bytes(get(bytes, at)),
        Endian::Little => i32::from_le_bytes(get(bytes, at)),
    }
}

/// The double at `at`; 0 where `bytes` is too short.
#[inline]
pub(super) fn get_f64(bytes: &[u8], at: usize, endian: Endian) -> f64 {
    match endian {
        Endian::Big => f64::from_be_bytes(get(bytes, at)),
        Endian::Little => f64::from_le_bytes(get(bytes, at)),
    }
}
