//! Mode of the calls of each function: the one thing that the hot path looks at.

use crate::mpi::functions::COUNT;
use crate::thread::wiped::WIPED;
use std::sync::atomic::AtomicU8;

/// Calls of the function are counted only.
pub const OFF: u8 = 0;
/// Calls of the function are recorded.
pub const ON: u8 = 1;
/// Calls are recorded unless they failed, or tested for something that was not there.
pub const SUCCESS: u8 = 2;
/// Flag: the filters have to be asked.
pub const FILTERED: u8 = 4;
/// Flag: of a run of unsuccessful polls, record only the first and the last, plus a count.
pub const SAMPLED: u8 = 8;
/// Flag: calls are left out of the trace but recorded for matching, because messages depend on them.
pub const MATCHING_ONLY: u8 = 16;

/// Mode of the calls of each function. All are `OFF` while recording is switched off, before there are settings, and in forked children.
#[inline(always)]
pub fn modes() -> &'static [AtomicU8; COUNT] {
    &WIPED.modes
}
