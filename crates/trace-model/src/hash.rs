//! A wide hash that makes the global ids of communicators, and the maps whose keys are handles.

use std::collections::HashMap;

/// A map whose keys are handles or other small things.
pub type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// 192 bits that stand for all words put in: three lanes, each multiplied and rotated with constants of its own. Not meant
/// to resist people, only chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wide(pub [u64; 3]);

impl Default for Wide {
    fn default() -> Self {
        Wide::new()
    }
}

impl Wide {
    const SEED: [u64; 3] = [
        0x243F_6A88_85A3_08D3,
        0x1319_8A2E_0370_7344,
        0xA409_3822_299F_31D0,
    ];
    const ODD: [u64; 3] = [
        0x9E37_79B1_85EB_CA87,
        0xC2B2_AE3D_27D4_EB4F,
        0x1656_67B1_9E37_79F9,
    ];

    /// A hash of no bytes.
    pub fn new() -> Wide {
        Wide(Wide::SEED)
    }

    /// Adds a word.
    #[must_use]
    pub fn word(self, word: u64) -> Wide {
        let ([a, b, c], [x, y, z]) = (self.0, Wide::ODD);
        Wide([
            add_word(a, word, x, 29),
            add_word(b, word, y, 31),
            add_word(c, word, z, 37),
        ])
    }

    /// Adds another hash.
    #[must_use]
    pub fn wide(self, other: Wide) -> Wide {
        other.0.into_iter().fold(self, Wide::word)
    }

    /// A list of numbers with its length, so that lists one after the other cannot be taken for each other.
    #[must_use]
    pub fn list(self, numbers: &[i32]) -> Wide {
        let start = self.word(numbers.len() as u64);
        numbers.iter().fold(start, |h, &n| h.word(n as u32 as u64))
    }

    /// Bytes with their number, so that bytes one after the other cannot be taken for each other.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Wide {
        let word = |hash: Wide, part: &[u8]| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            hash.word(u64::from_le_bytes(word))
        };
        let start = self.word(bytes.len() as u64);
        bytes.chunks(8).fold(start, word)
    }

    /// Last mixing. Take this before using single lanes.
    #[must_use]
    pub fn finish(self) -> Wide {
        let [a, b, c] = self.0;
        Wide([
            mix(a ^ b.rotate_left(17)),
            mix(b ^ c.rotate_left(23)),
            mix(c ^ a.rotate_left(41)),
        ])
    }
}

/// A lane of a [`Wide`] with a word added: multiplied by `odd`, rotated by `turn` bits.
fn add_word(lane: u64, word: u64, odd: u64, turn: u32) -> u64 {
    (lane ^ mix(word.wrapping_mul(odd)))
        .rotate_left(turn)
        .wrapping_mul(odd)
        .wrapping_add(word)
}

/// The finalizer of MurmurHash3: every bit in changes half of the bits out.
fn mix(mut n: u64) -> u64 {
    n ^= n >> 33;
    n = n.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    n ^= n >> 33;
    n = n.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    n ^ (n >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_of_many_similar_lists_agree_in_any_lane() {
        let mut seen = [HashSet::new(), HashSet::new(), HashSet::new()];
        let mut made = 0;
        for first in 0..64 {
            for len in 0..64 {
                let list: Vec<i32> = (first..first + len).collect();
                let hash = Wide::new().list(&list).word(1).finish();
                if len == 0 && first > 0 {
                    continue;
                }
                made += 1;
                for (set, lane) in seen.iter_mut().zip(hash.0) {
                    set.insert(lane);
                }
            }
        }
        assert_eq!(seen.map(|set| set.len()), [made; 3]);
        assert_ne!(
            Wide::new().list(&[1]).list(&[2, 3]).finish(),
            Wide::new().list(&[1, 2]).list(&[3]).finish()
        );
    }
}
