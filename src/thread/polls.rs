//! The row of unsuccessful polls that a thread is in ([`crate::call::poll`] follows it).

use std::ptr::null_mut;

/// Most different calls that take turns in one row.
pub const MAX_POLL_TURNS: usize = 8;
/// One of the calls that take turns.
#[derive(Clone, Copy)]
pub struct PollTurn {
    /// Index of the function.
    pub index: u16,
    /// Hash of the arguments.
    pub key: u64,
    /// Number of the function in records.
    pub number: u16,
    /// The record that counts those between the first and the last; null before there is one.
    pub skipped: *mut u8,
}

/// The row that a thread is in.
pub struct PollRow {
    /// The calls; the first `used` count.
    pub turns: [PollTurn; MAX_POLL_TURNS],
    /// Number of calls that take turns.
    pub used: usize,
    /// Start of the record of the latest poll.
    pub tail: *mut u8,
    /// Index of the latest poll in `turns`.
    pub turn: usize,
    /// Whether it may be taken back: the first of its kind may not.
    pub counts: bool,
    /// The block it is in.
    pub sequence: u64,
}

impl PollRow {
    /// No row.
    pub const fn new() -> PollRow {
        let turn = PollTurn {
            index: 0,
            key: 0,
            number: 0,
            skipped: null_mut(),
        };
        PollRow {
            turns: [turn; MAX_POLL_TURNS],
            used: 0,
            tail: null_mut(),
            turn: 0,
            counts: false,
            sequence: 0,
        }
    }
}
