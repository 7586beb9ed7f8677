//! Finds entries of a list by their keys: a hash table that holds only their indices, for the look-ups that every
//! drawable needs.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

/// A power of two.
const SMALLEST: usize = 1 << 6;

/// No entry.
const VACANT: u32 = u32::MAX;

/// Lines, and topology or category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64, pub(super) u32);

/// Places of the entries of a list. The keys are in the list, or follow from what is there.
#[derive(Debug)]
pub(super) struct EntryOffsets {
    /// Indices, each at the first vacant place from that of its hash on; at least half of them vacant.
    places: Vec<u32>,
    taken: usize,
    /// Bits of a hash that are too many to tell one of the places.
    surplus: u32,
    /// Chosen at random, so that files cannot be made whose keys collide.
    factors: [u64; 2],
}

impl Default for EntryOffsets {
    fn default() -> Self {
        let random = RandomState::default();
        EntryOffsets {
            places: vec![VACANT; SMALLEST],
            taken: 0,
            surplus: u64::BITS - SMALLEST.ilog2(),
            factors: [0u64, 1].map(|number| random.hash_one(number) | 1),
        }
    }
}

impl EntryOffsets {
    /// The upper bits of the products depend on all of the key.
    #[inline]
    fn hash(&self, key: Key) -> usize {
        let [first, second] = self.factors;
        let sum = first
            .wrapping_mul(key.0)
            .wrapping_add(second.wrapping_mul(u64::from(key.1)));
        (sum >> self.surplus) as usize
    }

    /// The entry of this key, if `is_it` tells that there is one.
    #[inline]
    pub(super) fn find(&self, key: Key, is_it: impl Fn(usize) -> bool) -> Option<u32> {
        let mut place = self.hash(key);
        loop {
            let entry = self.places[place];
            if entry == VACANT {
                return None;
            }
            if is_it(entry as usize) {
                return Some(entry);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Takes in a new entry; `key_of` gives the keys of those that are there, if they must move.
    pub(super) fn insert(&mut self, key: Key, entry: u32, key_of: impl Fn(usize) -> Key) {
        self.taken += 1;
        if 2 * self.taken > self.places.len() {
            let length = 2 * self.places.len();
            let before = std::mem::replace(&mut self.places, vec![VACANT; length]);
            self.surplus -= 1;
            for entry in before {
                if entry != VACANT {
                    self.put(key_of(entry as usize), entry);
                }
            }
        }
        self.put(key, entry);
    }

    fn put(&mut self, key: Key, entry: u32) {
        let mut place = self.hash(key);
        while self.places[place] != VACANT {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = entry;
    }

    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.places.fill(VACANT);
        self.taken = 0;
    }
}
