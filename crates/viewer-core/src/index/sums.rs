//! Sums by line and kind, and by kind, while they are made.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::totals::{DurationSum, KindTotals, LongDrawable, MAX_LONGEST, duration_class};

/// Lines times kinds up to which there is a place for each sum.
const MAX_DIRECT_SUMS: usize = 1 << 20;
/// Lines times kinds up to which slots of sums are kept in a table.
const MAX_TABLE_SLOTS: usize = 1 << 24;

/// Sums of kinds on lines.
#[derive(Debug)]
pub(super) struct LineKindSums {
    slots: SumSlots,
    kinds: usize,
    pub sums: Vec<DurationSum>,
    /// Line and kind of each of `sums`, if not all have a slot.
    owners: Vec<(u32, u32)>,
}

/// Place of the sum of a kind on a line.
#[derive(Debug)]
enum SumSlots {
    /// All have one, kind by kind: mostly one kind of arrows goes to many lines in turn.
    All {
        lines: u32,
    },
    /// By line and kind; `u32::MAX` if there is none yet.
    Table(Vec<u32>),
    Map(HashMap<(u32, u32), u32>),
}

impl LineKindSums {
    pub fn new(lines: usize, kinds: usize) -> Self {
        let count = lines * kinds;
        LineKindSums {
            slots: if count <= MAX_DIRECT_SUMS {
                let lines = lines as u32;
                SumSlots::All { lines }
            } else if count <= MAX_TABLE_SLOTS {
                SumSlots::Table(vec![u32::MAX; count])
            } else {
                SumSlots::Map(HashMap::new())
            },
            kinds,
            sums: vec![DurationSum::default(); if count <= MAX_DIRECT_SUMS { count } else { 0 }],
            owners: Vec::new(),
        }
    }

    /// Slot of the sum of a kind on a line.
    #[inline]
    pub fn slot(&mut self, line: u32, kind: u32) -> u32 {
        let place = match &mut self.slots {
            SumSlots::All { lines } => return kind * *lines + line,
            SumSlots::Table(table) => &mut table[line as usize * self.kinds + kind as usize],
            SumSlots::Map(map) => map.entry((line, kind)).or_insert(u32::MAX),
        };
        if *place == u32::MAX {
            *place = self.sums.len() as u32;
            self.sums.push(DurationSum::default());
            self.owners.push((line, kind));
        }
        *place
    }

    /// Line, kind and sum of what there is.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, &DurationSum)> {
        let owner = |place: usize| match &self.slots {
            SumSlots::All { lines } => (place as u32 % lines, place as u32 / lines),
            _ => self.owners[place],
        };
        let sums = self.sums.iter().enumerate();
        sums.filter(|(_, sum)| sum.count > 0)
            .map(move |(place, sum)| (owner(place).0, owner(place).1, sum))
    }
}

/// Totals of a kind.
#[derive(Clone, Debug)]
pub(super) struct KindAggregate {
    pub totals: KindTotals,
    longest: BinaryHeap<Reverse<(u64, LongestKey)>>,
    /// A drawable that is shorter is none of the longest.
    floor: f64,
}

/// Bits of the start, negated so that of equal ones the first are kept, and the line.
type LongestKey = (Reverse<u64>, u32);

impl Default for KindAggregate {
    fn default() -> Self {
        KindAggregate {
            totals: KindTotals::default(),
            longest: BinaryHeap::new(),
            floor: -1.0,
        }
    }
}

impl KindAggregate {
    #[inline]
    pub fn add(&mut self, duration: f64, start: f64, line: u32) {
        self.totals.durations[duration_class(duration)] += 1;
        // Of those that last as long the first are kept, and units do not come in the order of time.
        if duration >= self.floor {
            self.keep(duration, start, line);
        }
    }

    fn keep(&mut self, duration: f64, start: f64, line: u32) {
        // Bits of floats that are not negative ascend as their values do; of starts only the order among equals hangs on it.
        let found = (duration.to_bits(), (Reverse(start.to_bits()), line));
        if self.longest.len() == MAX_LONGEST {
            match self.longest.peek_mut() {
                Some(mut least) if least.0 < found => *least = Reverse(found),
                _ => return,
            }
        } else {
            self.longest.push(Reverse(found));
        }
        if self.longest.len() == MAX_LONGEST
            && let Some(Reverse((least, _))) = self.longest.peek()
        {
            self.floor = f64::from_bits(*least);
        }
    }

    /// Takes over what another one found.
    pub fn join(&mut self, other: KindAggregate) {
        let durations = self.totals.durations.iter_mut();
        for (count, arrows_and_events) in durations.zip(other.totals.durations) {
            *count += arrows_and_events;
        }
        self.totals.bytes = self.totals.bytes.saturating_add(other.totals.bytes);
        for Reverse((duration, (Reverse(start), line))) in other.longest {
            self.keep(f64::from_bits(duration), f64::from_bits(start), line);
        }
    }

    pub fn finish(self) -> KindTotals {
        let mut totals = self.totals;
        let longest = self.longest.into_sorted_vec().into_iter();
        totals.longest = longest
            .map(|Reverse((duration, (Reverse(start), line)))| LongDrawable {
                duration: f64::from_bits(duration),
                start: f64::from_bits(start),
                line,
            })
            .collect();
        totals
    }
}
