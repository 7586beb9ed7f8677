//! Names of regions and markers, and the numbers that events have in their place.
//!
//! A table of fixed size, filled without lock or allocation, as names may come from any thread and from signal handlers. A
//! place belongs to whoever takes it first; while its name is being written, others that look for the same name take another
//! place: a name may have several numbers, the ranks agree on names anyway.

use crate::platform::clock;
use crate::platform::errno::errno;
use crate::platform::errno::set_errno;
use crate::thread::records;
use crate::thread::state::Thread;
use blockfile::define::USER_CATEGORY;
use blockfile::user::UserCategoryKind;
use std::cell::UnsafeCell;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// Names that there is room for. The last place stands for all others.
const MAX_NAMES: usize = 4096;
/// Bytes of a name that are kept.
const MAX_NAME_BYTES: usize = 80;

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const READY: u8 = 2;

struct NamePlace {
    state: AtomicU8,
    /// Whether the name stands in a block.
    defined: AtomicBool,
    entry: UnsafeCell<NameEntry>,
}

#[derive(Clone, Copy)]
struct NameEntry {
    kind: UserCategoryKind,
    length: u8,
    hash: u32,
    name: [u8; MAX_NAME_BYTES],
}

// SAFETY: an entry is written by who took the place, and read only when that has said that it is ready.
unsafe impl Sync for NamePlace {}

static TABLE: [NamePlace; MAX_NAMES] = [const {
    NamePlace {
        state: AtomicU8::new(FREE),
        defined: AtomicBool::new(false),
        entry: UnsafeCell::new(NameEntry {
            kind: UserCategoryKind::Region,
            length: 0,
            hash: 0,
            name: [0; MAX_NAME_BYTES],
        }),
    }
}; MAX_NAMES];

/// Names that found no place.
static BEYOND: AtomicU64 = AtomicU64::new(0);

/// Number of lookups that found no room for their name.
pub fn beyond() -> u64 {
    BEYOND.load(Relaxed)
}

/// A name that has a place.
#[derive(Clone, Copy)]
pub struct EventName(u16);

impl EventName {
    /// The name with a number from [`EventName::number`], as the program passes it back; `None` if it is none.
    #[inline(always)]
    pub fn of_number(number: u32) -> Option<EventName> {
        let place = number.wrapping_sub(1);
        // Only those that are ready were given out.
        (TABLE.get(place as usize)?.state.load(Acquire) == READY).then_some(EventName(place as u16))
    }

    /// The name of these bytes, entered into the table if need be; `None` if there is no room.
    pub fn find(kind: UserCategoryKind, name: &[u8]) -> Option<EventName> {
        let mut length = name.len().min(MAX_NAME_BYTES);
        // Not in the midst of a character.
        while length < name.len() && length > 0 && name[length] & 0xC0 == 0x80 {
            length -= 1;
        }
        let name = &name[..length];
        let hash = name.iter().fold(0x811c_9dc5 ^ kind as u32, |h, &b| {
            (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
        });
        let first = (hash ^ hash >> 16) as usize;
        for i in 0..MAX_NAMES {
            let number = (first + i) % MAX_NAMES;
            let place = &TABLE[number];
            let found = || Some(EventName(number as u16));
            match place.state.load(Acquire) {
                READY => {
                    // SAFETY: ready, and never written again.
                    let entry = unsafe { &*place.entry.get() };
                    if entry.hash == hash && entry.kind == kind && entry.name() == name {
                        return found();
                    }
                }
                FREE if place
                    .state
                    .compare_exchange(FREE, TAKEN, Acquire, Relaxed)
                    .is_ok() =>
                {
                    // SAFETY: nobody else reads or writes a place that was taken here.
                    let entry = unsafe { &mut *place.entry.get() };
                    entry.kind = kind;
                    entry.length = length as u8;
                    entry.hash = hash;
                    entry.name[..length].copy_from_slice(name);
                    place.state.store(READY, Release);
                    return found();
                }
                _ => {}
            }
        }
        BEYOND.fetch_add(1, Relaxed);
        None
    }

    /// Number in events, from 1 on.
    #[inline(always)]
    pub fn number(self) -> i32 {
        i32::from(self.0) + 1
    }

    /// Whether a block says what the number stands for.
    #[inline(always)]
    pub fn is_defined(self) -> bool {
        TABLE[usize::from(self.0)].defined.load(Relaxed)
    }

    /// Says it in the block of `t`.
    #[cold]
    pub fn define(self, t: &mut Thread) {
        let place = &TABLE[usize::from(self.0)];
        // SAFETY: a name is made of a place that is ready.
        let entry = unsafe { &*place.entry.get() };
        let format: &[u8] = match entry.kind {
            UserCategoryKind::Integer => b"value=%l",
            UserCategoryKind::Real => b"value=%E",
            UserCategoryKind::Text => b"%s",
            UserCategoryKind::Region | UserCategoryKind::State | UserCategoryKind::Event => b"",
        };
        // As `blockfile::user::UserCategory` encodes it, without allocation.
        let mut payload = [0; 12 + 3 * 4 + MAX_NAME_BYTES + 8];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            payload[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&(entry.kind as u32).to_ne_bytes());
        put(&self.number().to_ne_bytes());
        put(&0i32.to_ne_bytes());
        for text in [entry.name(), b"", format] {
            put(&(text.len() as u32).to_ne_bytes());
            put(text);
        }
        let saved = errno();
        records::put_encoded(t, USER_CATEGORY, &payload[..at], clock::now());
        set_errno(saved);
        place.defined.store(true, Relaxed);
    }
}

impl NameEntry {
    fn name(&self) -> &[u8] {
        &self.name[..usize::from(self.length)]
    }
}
