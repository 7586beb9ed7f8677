//! Reading the program's arguments for a record. Everything here takes pointers as the program passed them: NULL, small
//! sentinel numbers and addresses of sentinels are recognised, nothing is read that the standard does not say is there.
//! Nothing need be aligned: Fortran programs keep statuses in arrays of integers.

use crate::mpi::abi::Abi;
use crate::mpi::constants;
pub use crate::mpi::handles::HandleBits;
use crate::mpi::status::{self, AbiStatus};
use blockfile::encode::{EncodeCursor, MpiStatus, NO_ARRAY, STRING_MAX};
use blockfile::layout::POINTER_BYTES;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;

/// Whether a pointer can be one to data: sentinels are NULL, small numbers, or −1.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn is_address(p: *const c_void) -> bool {
    let a = p as usize;
    a >= 4096 && a != usize::MAX && !constants::is_sentinel(p)
}

/// The head's flag for a buffer argument.
#[inline(always)]
pub fn in_place<A: Abi>(p: *const c_void) -> u16 {
    if p as usize == A::MPI_IN_PLACE {
        blockfile::record::IN_PLACE
    } else {
        0
    }
}

/// MPI_STATUS_IGNORE.
#[inline(always)]
pub fn status_ignore<A: Abi>() -> *mut A::Status {
    A::MPI_STATUS_IGNORE as *mut A::Status
}

/// MPI_STATUSES_IGNORE.
#[inline(always)]
pub fn statuses_ignore<A: Abi>() -> *mut A::Status {
    A::MPI_STATUSES_IGNORE as *mut A::Status
}

/// Value that a pointer points at; 0 if it is NULL or a sentinel.
///
/// # Safety
/// An address must be readable.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn value<T: Copy + Default>(p: *const T) -> T {
    if (p as usize) < 4096 {
        T::default()
    } else {
        // SAFETY: the program passed it as the place of a value.
        unsafe { p.read_unaligned() }
    }
}

/// A length as the program gave it; negative ones are errors that the MPI library reports.
#[inline(always)]
pub fn length(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// The handle that a pointer points at; 0 where it is NULL.
///
/// # Safety
/// An address must be readable.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn handle_at<T: HandleBits>(p: *const T) -> u64 {
    if (p as usize) < 4096 {
        0
    } else {
        // SAFETY: the program passed it as the place of a handle.
        unsafe { p.read_unaligned() }.bits()
    }
}

/// Integers of which arrays are made.
pub trait ArrayInteger: Copy {
    /// The number as an `i64`.
    fn wide(self) -> i64;
}
impl ArrayInteger for i32 {
    fn wide(self) -> i64 {
        self.into()
    }
}
impl ArrayInteger for u32 {
    fn wide(self) -> i64 {
        self.into()
    }
}
impl ArrayInteger for i64 {
    fn wide(self) -> i64 {
        self
    }
}

/// Sum of the non-negative elements of an array.
///
/// # Safety
/// An address must be readable for `n` elements.
pub unsafe fn sum<T: ArrayInteger>(p: *const T, n: usize) -> usize {
    if !is_address(p.cast()) {
        return 0;
    }
    // SAFETY: promised by the caller.
    (0..n)
        .map(|i| length(unsafe { p.add(i).read_unaligned() }.wide()))
        .sum()
}

/// Last element of an array.
///
/// # Safety
/// An address must be readable for `n` elements.
pub unsafe fn last<T: ArrayInteger>(p: *const T, n: usize) -> usize {
    if n == 0 || !is_address(p.cast()) {
        return 0;
    }
    // SAFETY: promised by the caller.
    length(unsafe { p.add(n - 1).read_unaligned() }.wide())
}

/// Room for what must be kept from before a call, in the thread's own buffer.
pub struct KeptArguments {
    room: *mut Vec<u8>,
}

/// Elements that are kept.
pub struct KeptSlice<T> {
    at: usize,
    len: Option<usize>,
    of: PhantomData<T>,
}

impl<T> Clone for KeptSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for KeptSlice<T> {}

impl<T> KeptSlice<T> {
    /// Number of elements; `None` where the program passed no array.
    #[inline(always)]
    pub fn len(&self) -> Option<usize> {
        self.len
    }
}

impl KeptArguments {
    /// Arguments kept in `room`, which is emptied first.
    ///
    /// # Safety
    /// `room` must be the running thread's own and stay so while the call runs.
    #[inline(always)]
    pub unsafe fn new(room: *mut Vec<u8>) -> KeptArguments {
        // SAFETY: promised by the caller.
        unsafe { (*room).clear() };
        KeptArguments { room }
    }

    /// Room for `n` statuses that nobody has set yet.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn statuses<S: AbiStatus>(&self, n: usize) -> KeptSlice<S> {
        // SAFETY: `new` demands that the buffer is ours.
        let room = unsafe { &mut *self.room };
        let at = room.len().next_multiple_of(8);
        room.resize(at + n * size_of::<S>(), 0);
        let slice = KeptSlice {
            at,
            len: Some(n),
            of: PhantomData,
        };
        let place: *mut S = self.place(slice);
        for i in 0..n {
            // SAFETY: room for n statuses begins there.
            unsafe { place.add(i).write(unset_status()) };
        }
        slice
    }

    /// Copies an array.
    ///
    /// # Safety
    /// An address must be readable for `n` elements.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub unsafe fn copy<T: Copy>(&self, p: *const T, n: usize) -> KeptSlice<T> {
        if !is_address(p.cast()) {
            return KeptSlice {
                at: 0,
                len: None,
                of: PhantomData,
            };
        }
        // SAFETY: `new` demands that the buffer is ours; the source is promised by the caller.
        unsafe {
            let room = &mut *self.room;
            let at = room.len().next_multiple_of(8);
            let bytes = n * size_of::<T>();
            room.reserve(bytes + 8);
            std::ptr::copy_nonoverlapping(p.cast::<u8>(), room.as_mut_ptr().add(at), bytes);
            room.set_len(at + bytes);
            KeptSlice {
                at,
                len: Some(n),
                of: PhantomData,
            }
        }
    }

    /// Address of kept elements. Valid only while nothing more is kept.
    #[inline(always)]
    pub fn place<T>(&self, slice: KeptSlice<T>) -> *mut T {
        // SAFETY: `new` demands that the buffer is ours, and slices lie within it.
        unsafe { (*self.room).as_mut_ptr().add(slice.at).cast() }
    }
}

/// Writes an array of numbers.
///
/// # Safety
/// `p` must be readable for `n` elements, and there must be room.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn put_numbers<T: Copy>(w: &mut EncodeCursor, p: *const T, n: Option<usize>) {
    let Some(n) = n else {
        w.u32(NO_ARRAY);
        return;
    };
    w.u32(n as u32);
    // SAFETY: promised by the caller.
    unsafe { w.bytes(p.cast(), n * size_of::<T>()) };
}

/// Writes a handle as wide as it is in records of this binary interface.
#[inline(always)]
pub fn put_handle<T: HandleBits>(w: &mut EncodeCursor, bits: u64) {
    // Known when this is compiled.
    match T::RECORD_BYTES {
        4 => w.handle::<4>(bits),
        _ => put_pointer(w, bits),
    }
}

/// Writes a handle that is a pointer in every binary interface.
#[inline(always)]
pub fn put_pointer(w: &mut EncodeCursor, bits: u64) {
    w.handle::<POINTER_BYTES>(bits);
}

/// Writes an array of handles.
///
/// # Safety
/// `p` must be readable for `n` elements, and there must be room.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn put_handles<T: HandleBits>(w: &mut EncodeCursor, p: *const T, n: Option<usize>) {
    let Some(n) = n else {
        w.u32(NO_ARRAY);
        return;
    };
    w.u32(n as u32);
    if size_of::<T>() == T::RECORD_BYTES {
        // SAFETY: promised by the caller.
        unsafe { w.bytes(p.cast(), n * T::RECORD_BYTES) };
    } else {
        for i in 0..n {
            // SAFETY: promised by the caller.
            put_handle::<T>(w, unsafe { p.add(i).read_unaligned() }.bits());
        }
    }
}

/// Source in a status of the recorder's own that the MPI library has not set, as it does for sends.
const UNSET: c_int = c_int::MIN;

/// A status of the recorder's own before the call.
#[inline(always)]
pub fn unset_status<S: AbiStatus>() -> S {
    // SAFETY: a status consists of integers.
    let mut status: S = unsafe { std::mem::zeroed() };
    status.set_source(UNSET);
    status
}

/// The status at `p` after a call that returned `code`, with the class of that in its error field; `None` where there is none.
///
/// # Safety
/// An address must hold a status.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn status<S: AbiStatus>(p: *const S, code: c_int) -> Option<MpiStatus> {
    if (p as usize) < 4096 {
        return None;
    }
    // SAFETY: promised by the caller.
    let s = unsafe { p.read_unaligned() };
    if s.source() == UNSET {
        return None;
    }
    let status = s.decode();
    if code != 0 {
        return Some(status::failed(status, code));
    }
    Some(status)
}

/// Size in bytes of a message with this status if that is all there is to say of it: it came from `source` and with `tag`, it was not
/// cancelled and has no error, and the size is below 2^32.
#[inline(always)]
pub fn received_as_named(status: Option<MpiStatus>, source: c_int, tag: c_int) -> Option<u32> {
    let expected =
        |s: &MpiStatus| s.source == source && s.tag == tag && s.error == 0 && !s.cancelled;
    let status = status.filter(expected)?;
    u32::try_from(status.bytes).ok()
}

/// Whether the statuses of a call that returned `code`, an error, tell what became of messages.
#[inline(always)]
pub fn tells_outcomes(code: c_int) -> bool {
    code != 0 && status::tells_outcomes(code)
}

/// Writes an array of statuses after a call that returned `code`. If that is an error, each status has one of its own, and counts as none if its
/// operation is still under way.
///
/// # Safety
/// `p` must hold `n` statuses, and there must be room.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn put_statuses<S: AbiStatus>(
    w: &mut EncodeCursor,
    p: *const S,
    n: Option<usize>,
    code: c_int,
) {
    let Some(n) = n.filter(|_| p as usize >= 4096) else {
        w.u32(NO_ARRAY);
        return;
    };
    w.u32(n as u32);
    for i in 0..n {
        // SAFETY: promised by the caller.
        let one = unsafe { status(p.add(i), 0) };
        w.status(match code {
            0 => one,
            // SAFETY: as above.
            _ => one
                .and_then(|one| status::outcome(one, unsafe { p.add(i).read_unaligned() }.error())),
        });
    }
}

/// A text of the program, cut at [`STRING_MAX`].
///
/// # Safety
/// With `significant`, `p` must be readable up to its NUL or `limit`.
pub unsafe fn text<'a>(p: *const c_char, significant: bool, limit: usize) -> Option<&'a [u8]> {
    if !significant || (p as usize) < 4096 {
        return None;
    }
    // SAFETY: promised by the caller.
    unsafe {
        let n = libc::strnlen(p, limit.min(STRING_MAX));
        Some(std::slice::from_raw_parts(p.cast(), n))
    }
}

/// Bytes of a text in a record, without its length.
#[inline(always)]
pub fn text_len(text: Option<&[u8]>) -> usize {
    text.map_or(0, <[u8]>::len)
}

/// Writes a text.
///
/// # Safety
/// There must be room.
#[cfg_attr(not(debug_assertions), inline(always))]
pub unsafe fn put_text(w: &mut EncodeCursor, text: Option<&[u8]>) {
    match text {
        None => w.u32(NO_ARRAY),
        Some(t) => {
            w.u32(t.len() as u32);
            // SAFETY: promised by the caller.
            unsafe { w.bytes(t.as_ptr(), t.len()) };
        }
    }
}

/// Texts of an array up to its NULL or `count`, encoded.
unsafe fn append_texts(out: &mut Vec<u8>, p: *const *const c_char, count: Option<usize>) -> u32 {
    let mut n = 0;
    while count.is_none_or(|c| (n as usize) < c) && n < 1 << 16 {
        // SAFETY: the program promises a NULL, or `count` entries.
        let t = unsafe { text(p.add(n as usize).read_unaligned(), true, usize::MAX) };
        match t {
            None if count.is_none() => break,
            None => out.extend_from_slice(&NO_ARRAY.to_ne_bytes()),
            Some(t) => {
                out.extend_from_slice(&(t.len() as u32).to_ne_bytes());
                out.extend_from_slice(t);
            }
        }
        n += 1;
    }
    n
}

/// An array of texts as it stands in a record: those up to NULL, or `count` of them.
///
/// # Safety
/// With `significant`, `p` must be such an array.
pub unsafe fn texts(p: *const *const c_char, significant: bool, count: Option<usize>) -> Vec<u8> {
    if !significant {
        return NO_ARRAY.to_ne_bytes().to_vec();
    }
    let mut out = vec![0; 4];
    // SAFETY: promised by the caller.
    let n = unsafe { append_texts(&mut out, p, count) };
    out[..4].copy_from_slice(&n.to_ne_bytes());
    out
}

/// `count` arrays of texts, each up to its NULL, which is recorded.
///
/// # Safety
/// With `significant`, `p` must be such an array.
pub unsafe fn text_lists(
    p: *const *const *const c_char,
    significant: bool,
    count: usize,
) -> Vec<u8> {
    if !significant {
        return NO_ARRAY.to_ne_bytes().to_vec();
    }
    let mut out = vec![0; 4];
    let mut n = 0;
    for i in 0..count {
        // SAFETY: promised by the caller.
        unsafe {
            let list = p.add(i).read_unaligned();
            if is_address(list.cast()) {
                n += append_texts(&mut out, list, None);
            }
        }
        out.extend_from_slice(&NO_ARRAY.to_ne_bytes());
        n += 1;
    }
    out[..4].copy_from_slice(&n.to_ne_bytes());
    out
}

/// The program's arguments, from what it passes to MPI_Init.
///
/// # Safety
/// `argc` and `argv` must be as MPI_Init wants them, or NULL.
pub unsafe fn program_arguments(argc: *const c_int, argv: *mut *mut *mut c_char) -> Vec<u8> {
    // SAFETY: promised by the caller.
    unsafe {
        let n = length(value(argc).into());
        if argv.is_null() || (*argv).is_null() {
            return texts(std::ptr::null(), true, Some(0));
        }
        texts((*argv).cast(), true, Some(n))
    }
}
