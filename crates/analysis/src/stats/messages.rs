//! Messages: how many bytes went between which ranks, and in how large pieces.

use super::HashMap;
use super::histogram::Histogram;

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Messages.
    pub count: u64,
    /// Bytes of those whose size is known.
    pub bytes: u64,
}

impl Volume {
    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(super) fn join(&mut self, other: Volume) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Messages of sizes from `low` to `high` bytes, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Smallest size of the class.
    pub low: u64,
    /// Largest size of the class.
    pub high: u64,
    /// Number and bytes of the messages.
    pub volume: Volume,
}

/// A cell of the communication matrix: what one rank sent to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankPair {
    /// Rank of the sender in MPI_COMM_WORLD.
    pub from: i32,
    /// Rank of the receiver.
    pub to: i32,
    /// Number and bytes of the messages.
    pub volume: Volume,
}

/// All arrows of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageStatistics {
    /// All of them.
    pub all: Volume,
    /// Arrows whose info tells no size; they count with 0 bytes in pairs and not at all by size.
    pub without_size: u64,
    /// Arrows that end before they start, which clocks that differ make of messages.
    pub backward: u64,
    /// Sizes in bytes.
    pub sizes: Histogram,
    /// Messages by size class in bytes: 0, 1, 2 to 3, 4 to 7, …; without empty classes.
    pub by_size: Vec<SizeClass>,
    /// Messages by sender and receiver, ascending; without empty pairs.
    pub by_pair: Vec<RankPair>,
}

/// Counts messages.
#[derive(Debug)]
pub(super) struct MessageCounter {
    all: Volume,
    without_size: u64,
    backward: u64,
    sizes: Histogram,
    classes: [Volume; 65],
    pairs: HashMap<(i32, i32), Volume>,
}

impl Default for MessageCounter {
    fn default() -> Self {
        MessageCounter {
            all: Volume::default(),
            without_size: 0,
            backward: 0,
            sizes: Histogram::default(),
            classes: [Volume::default(); 65],
            pairs: HashMap::default(),
        }
    }
}

impl MessageCounter {
    pub(super) fn add(&mut self, from: i32, to: i32, size: Option<u64>, backward: bool) {
        let bytes = size.unwrap_or(0);
        self.all.add(bytes);
        self.backward += u64::from(backward);
        self.pairs.entry((from, to)).or_default().add(bytes);
        match size {
            Some(size) => {
                self.sizes.add(size as f64);
                self.classes[class(size)].add(size);
            }
            None => self.without_size += 1,
        }
    }

    pub(super) fn finish(self) -> MessageStatistics {
        let classes = self.classes.iter().enumerate();
        let by_size = classes.filter(|(_, volume)| volume.count > 0);
        let mut by_pair: Vec<RankPair> = self
            .pairs
            .iter()
            .map(|(&(from, to), &volume)| RankPair { from, to, volume })
            .collect();
        by_pair.sort_unstable_by_key(|pair| (pair.from, pair.to));
        MessageStatistics {
            all: self.all,
            without_size: self.without_size,
            backward: self.backward,
            sizes: self.sizes,
            by_size: by_size
                .map(|(class, &volume)| SizeClass {
                    low: if class == 0 { 0 } else { 1 << (class - 1) },
                    high: u64::MAX.checked_shr(64 - class as u32).unwrap_or(0),
                    volume,
                })
                .collect(),
            by_pair,
        }
    }
}

/// 0 for 0, else the number of binary digits.
fn class(size: u64) -> usize {
    (u64::BITS - size.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_sizes() {
        let mut counter = MessageCounter::default();
        for size in [0, 1, 2, 3, 4, 7, 8, 1 << 20, u64::MAX] {
            counter.add(1, 0, Some(size), false);
        }
        counter.add(0, 1, None, true);
        let found = counter.finish();
        let classes: Vec<_> = found
            .by_size
            .iter()
            .map(|class| (class.low, class.high, class.volume.count))
            .collect();
        let million = 1 << 20;
        let expected = [
            (0, 0, 1),
            (1, 1, 1),
            (2, 3, 2),
            (4, 7, 2),
            (8, 15, 1),
            (million, 2 * million - 1, 1),
            (1 << 63, u64::MAX, 1),
        ];
        assert_eq!(classes, expected);
        assert_eq!(
            (found.without_size, found.backward, found.all.count),
            (1, 1, 10)
        );
        let pairs: Vec<_> = found
            .by_pair
            .iter()
            .map(|p| (p.from, p.to, p.volume.count))
            .collect();
        assert_eq!(pairs, [(0, 1, 1), (1, 0, 9)]);
    }
}
