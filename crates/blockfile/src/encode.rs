//! Writing the arguments of a call, on the hot path: plain stores through a pointer, no checks beyond debug ones.
//!
//! The caller has made sure beforehand that there is room (see the sizes here), so nothing in this module can fail.
//!
//! Builds with debug assertions do not put all of it in place in the recorder's wrappers: with checks, that is too much to compile.

use crate::record;

/// Length of an array whose pointer was NULL or a sentinel (MPI_UNWEIGHTED …).
pub const NO_ARRAY: u32 = u32::MAX;
/// Maximum size of an encoded status, bytes.
pub const STATUS_MAX: usize = 1 + 4 + 4 + 8 + 4;
/// Maximum size of a string, bytes. A longer string is cut.
pub const STRING_MAX: usize = 4096;

/// Bits of the byte a status begins with; 0 means that there is no status.
pub mod status {
    /// There is a status.
    pub const PRESENT: u8 = 1;
    /// The operation was cancelled.
    pub const CANCELLED: u8 = 2;
    /// An i32 error code ends it.
    pub const ERROR: u8 = 4;
    /// The byte count is a u64, not a u32.
    pub const WIDE_BYTES: u8 = 8;
    /// The source is an i32, not a u16.
    pub const WIDE_SOURCE: u8 = 16;
    /// The tag is an i32, not a u16.
    pub const WIDE_TAG: u8 = 32;
}

/// A status, decoded from the MPI library's own structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MpiStatus {
    /// MPI_SOURCE.
    pub source: i32,
    /// MPI_TAG.
    pub tag: i32,
    /// Class of the error of an operation that failed; 0 of one that worked.
    pub error: i32,
    /// Size of the message in bytes: the result of MPI_Get_count with MPI_BYTE.
    pub bytes: u64,
    /// The result of MPI_Test_cancelled.
    pub cancelled: bool,
}

/// Writes arguments one after the other.
#[derive(Debug)]
pub struct EncodeCursor {
    at: *mut u8,
}

impl EncodeCursor {
    /// A cursor at `at`.
    ///
    /// # Safety
    /// There must be room for all that is then written through it.
    #[inline(always)]
    pub unsafe fn new(at: *mut u8) -> EncodeCursor {
        EncodeCursor { at }
    }

    /// Position of the next byte to be written.
    #[inline(always)]
    pub fn position(&self) -> *mut u8 {
        self.at
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn put<T>(&mut self, v: T) {
        // SAFETY: `new` demands room for everything written.
        unsafe {
            self.at.cast::<T>().write_unaligned(v);
            self.at = self.at.add(size_of::<T>());
        }
    }

    /// A 4-byte integer.
    #[inline(always)]
    pub fn i32(&mut self, v: i32) {
        self.put(v);
    }

    /// A number in the short form of a record.
    #[inline(always)]
    pub fn u16(&mut self, v: u16) {
        self.put(v);
    }

    /// A length.
    #[inline(always)]
    pub fn u32(&mut self, v: u32) {
        self.put(v);
    }

    /// An 8-byte integer.
    #[inline(always)]
    pub fn i64(&mut self, v: i64) {
        self.put(v);
    }

    /// A double.
    #[inline(always)]
    pub fn f64(&mut self, v: f64) {
        self.put(v);
    }

    /// A handle of `N` bytes (4 or 6). With 6, writes 8 bytes of which the last two are overwritten by what follows.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn handle<const N: usize>(&mut self, v: u64) {
        if N == 4 {
            self.put(v as u32);
            return;
        }
        // SAFETY: `new` demands room; the sizes that callers sum up include SLACK for the bytes behind.
        unsafe {
            self.at.cast::<u64>().write_unaligned(v);
            self.at = self.at.add(N);
        }
    }

    /// A status, or its absence.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn status(&mut self, s: Option<MpiStatus>) {
        let Some(s) = s else {
            self.put(0u8);
            return;
        };
        let small = (s.source | s.tag) as u32 <= 0xFFFF && s.bytes <= u64::from(u32::MAX);
        if small && s.error == 0 && !s.cancelled {
            // Nearly every status: two stores.
            self.put(status::PRESENT);
            self.put(s.source as u64 | (s.tag as u64) << 16 | s.bytes << 32);
            return;
        }
        let mut head = status::PRESENT | if s.cancelled { status::CANCELLED } else { 0 };
        let place = self.at;
        self.put(0u8);
        if s.source as u32 <= 0xFFFF {
            self.put(s.source as u16);
        } else {
            head |= status::WIDE_SOURCE;
            self.put(s.source);
        }
        if s.tag as u32 <= 0xFFFF {
            self.put(s.tag as u16);
        } else {
            head |= status::WIDE_TAG;
            self.put(s.tag);
        }
        if s.bytes <= u64::from(u32::MAX) {
            self.put(s.bytes as u32);
        } else {
            head |= status::WIDE_BYTES;
            self.put(s.bytes);
        }
        if s.error != 0 {
            head |= status::ERROR;
            self.put(s.error);
        }
        // SAFETY: `place` is the first byte written above.
        unsafe { place.write(head) };
    }

    /// `n` bytes from `from`.
    ///
    /// # Safety
    /// `from` must be readable for `n` bytes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub unsafe fn bytes(&mut self, from: *const u8, n: usize) {
        // SAFETY: as above; the block does not overlap the program's memory.
        unsafe {
            std::ptr::copy_nonoverlapping(from, self.at, n);
            self.at = self.at.add(n);
        }
    }
}

/// Bytes after the last argument that a cursor may write to.
pub const SLACK: usize = 8;

/// Head of a record, written last, when the size is known.
#[derive(Clone, Copy, Debug)]
pub struct RecordHead {
    /// Function number and flags.
    pub word: u16,
    /// Start, ticks since the time base.
    pub start: u32,
    /// Duration, ticks (0 with [`record::LONG`]).
    pub duration: u32,
    /// CallID counter since the call base.
    pub call: u32,
}

impl RecordHead {
    /// Sets the size of the record whose head stands at `at`, bytes (a multiple of 4).
    ///
    /// # Safety
    /// `at` must be writable for [`record::HEAD`] bytes.
    #[inline(always)]
    pub unsafe fn set_size(at: *mut u8, size: usize) {
        debug_assert!(size.is_multiple_of(4) && size >= record::HEAD);
        // SAFETY: promised by the caller.
        unsafe { at.add(2).cast::<u16>().write_unaligned((size / 4) as u16) };
    }

    /// Writes the 16 bytes at `at` for a record of `size` bytes (a multiple of 4).
    ///
    /// # Safety
    /// `at` must be writable for [`record::HEAD`] bytes.
    #[inline(always)]
    pub unsafe fn write(self, at: *mut u8, size: usize) {
        debug_assert!(size.is_multiple_of(4) && size >= record::HEAD);
        let first = u64::from(self.word)
            | (((size / 4) as u64 & 0xFFFF) << 16)
            | (u64::from(self.start) << 32);
        let second = u64::from(self.duration) | (u64::from(self.call) << 32);
        // SAFETY: promised by the caller. Little-endian order of the halves is checked below.
        unsafe {
            at.cast::<u64>().write_unaligned(first);
            at.add(8).cast::<u64>().write_unaligned(second);
        }
    }
}

#[cfg(not(target_endian = "little"))]
compile_error!("block files are written on little-endian machines only");
