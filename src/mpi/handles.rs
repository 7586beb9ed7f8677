//! Handles of MPI objects: an `int` in MPICH, a pointer in Open MPI and in the standard ABI; files are pointers in all of them.

use crate::mpi::family;
use blockfile::layout::{Family, POINTER_BYTES};
use std::ffi::{c_int, c_void};

/// A handle of any object in any binary interface: the number in its low bits, the rest zero.
///
/// Passed to a function of MPI it is right as it is, as a register's high half does not count where an `int` is expected. Where the
/// library writes one (machines are little-endian), it writes the low bits.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle(u64);

impl Handle {
    /// The handle with this number.
    pub const fn from_bits(bits: u64) -> Handle {
        Handle(bits)
    }

    /// The number.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// A handle, other than of a file, that came in a register, whose high half may hold anything where handles are ints.
    pub fn as_passed(self) -> Handle {
        match has_narrow() {
            true => Handle(u64::from(self.0 as u32)),
            false => self,
        }
    }

    /// The handle, other than of a file, at a place of the program's.
    ///
    /// # Safety
    /// There is a handle of the MPI library.
    pub unsafe fn read(place: *const c_void) -> Handle {
        // SAFETY: promised by the caller.
        unsafe {
            match has_narrow() {
                true => of(place.cast::<c_int>().read()),
                false => of(place.cast::<*mut c_void>().read()),
            }
        }
    }

    /// Writes a handle, other than of a file, to a place of the program's.
    ///
    /// # Safety
    /// There is room for a handle of the MPI library.
    pub unsafe fn write(self, place: *mut c_void) {
        // SAFETY: promised by the caller.
        unsafe {
            match has_narrow() {
                true => place.cast::<c_int>().write(self.0 as c_int),
                false => place.cast::<u64>().write(self.0),
            }
        }
    }

    /// The handles of an array that the MPI library has filled, which begins where `array` begins.
    pub fn spread(array: &mut [Handle]) {
        if !has_narrow() {
            return;
        }
        let first = array.as_ptr().cast::<u32>();
        for i in (0..array.len()).rev() {
            // SAFETY: an element of four bytes, which lies in the part of the array that is not spread yet.
            array[i] = Handle(u64::from(unsafe { first.add(i).read() }));
        }
    }
}

/// Whether handles, other than of files, are ints.
fn has_narrow() -> bool {
    family::family() == Family::Mpich
}

/// A handle as a function of MPI takes it.
pub trait HandleBits: Copy {
    /// Bytes of it in a record.
    const RECORD_BYTES: usize;
    /// The number.
    fn bits(self) -> u64;
}

impl HandleBits for c_int {
    const RECORD_BYTES: usize = Family::Mpich.handle_bytes();

    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self as u32)
    }
}

impl<T> HandleBits for *mut T {
    const RECORD_BYTES: usize = POINTER_BYTES;

    #[inline(always)]
    fn bits(self) -> u64 {
        self as usize as u64
    }
}

const _: () = assert!(Family::OpenMpi.handle_bytes() == POINTER_BYTES);
const _: () = assert!(Family::Standard.handle_bytes() == POINTER_BYTES);

/// A handle that was passed to a wrapper.
#[inline(always)]
pub fn of<T: HandleBits>(handle: T) -> Handle {
    Handle(handle.bits())
}

/// The handle that the call has written to the place that the program passed; `None` if it passed NULL, as MPI allows for some results.
///
/// # Safety
/// `place` is NULL or the place of a handle.
#[inline(always)]
pub unsafe fn at<T: HandleBits>(place: *const T) -> Option<Handle> {
    // SAFETY: by the caller.
    ((place as usize) >= 4096).then(|| of(unsafe { place.read_unaligned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the interface that holds before an MPI library is known, handles are ints.
    #[test]
    fn ints_in_an_array_are_spread() {
        let mut array = [Handle(0); 5];
        let numbers = [7_u32, u32::MAX, 0, 3, 0x4400_0000];
        // SAFETY: the array has twice the room.
        unsafe {
            array
                .as_mut_ptr()
                .cast::<u32>()
                .copy_from_nonoverlapping(numbers.as_ptr(), 5);
        }
        Handle::spread(&mut array);
        assert_eq!(array.map(Handle::bits), numbers.map(u64::from));
    }

    #[test]
    fn what_a_register_has_above_an_int_does_not_count() {
        assert_eq!(
            Handle(0xffff_ffff_4400_0000).as_passed(),
            Handle(0x4400_0000)
        );
        let mut place = [0_u32, 9];
        // SAFETY: room for two handles.
        unsafe {
            Handle(0x4400_0000).write(place.as_mut_ptr().cast());
            assert_eq!(Handle::read(place.as_ptr().cast()), Handle(0x4400_0000));
        }
        assert_eq!(place[1], 9);
    }
}
