//! What few of all units are doing at a time, kept in sight where many units share a timeline of the picture.
//!
//! A rank for which a thousand others wait is one of many in its cell, and what takes most of the cell hides it. So each cell remembers the
//! two rarest things of at least half a unit in it, which may be to be in no state. When the whole picture is known, those that few of all units do in
//! that column take the place of what takes most. What all units do a little of is not that: a cell must have far more of it than others.

use crate::base::columns::COLUMN;

/// Units that a picture has at least, and the part of them that counts as few.
const MIN_UNITS: i64 = 64;
const FEW: i64 = 50;
/// How many times as much of it a cell has at least as cells of its column have on average.
const FAR_MORE: i64 = 3;

/// Number of what a unit in no state does; a kind has one more than its own number.
const NOTHING: u16 = 0;

/// Parts of a unit that a cell tells apart, so that a part fits into 4 bytes: there are a million cells.
const STEPS: i64 = 64;
/// In place of how much, where a cell has no such part.
const ABSENT: u16 = u16::MAX;

/// Something that takes part of a cell: how much, in units times [`STEPS`], and its number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    much: u16,
    number: u16,
}

const NO_PART: Part = Part {
    much: ABSENT,
    number: NOTHING,
};

/// The rarest parts of the cells of a picture, and the sums of its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RareParts {
    width: usize,
    /// By number, then by column, how much all units have of it; empty where no unit has any.
    sums: Vec<Vec<i64>>,
    /// Units of timelines with several.
    units: i64,
    /// Such timelines.
    timelines: i64,
    /// By cell the rarest parts, the rarest first.
    of_cells: Vec<[Part; 2]>,
}

impl RareParts {
    /// No parts, of so many cells.
    pub fn new(width: usize, cells: usize) -> RareParts {
        RareParts {
            width,
            sums: Vec::new(),
            units: 0,
            timelines: 0,
            of_cells: vec![[NO_PART; 2]; cells],
        }
    }

    /// Adds the cell at `at`: the parts of kinds, in all of its units together, and what else there is.
    #[inline]
    pub fn add(&mut self, at: usize, parts: &[(u32, i64)], rest: i64, units: i64) {
        let column = at % self.width.max(1);
        // Each timeline has a cell in each column.
        if column == 0 {
            self.units += units;
            self.timelines += 1;
        }
        let mut nothing = units * COLUMN - rest;
        for &(kind, much) in parts {
            nothing -= much;
            self.part(at, column, kind as u16 + 1, much);
        }
        self.part(at, column, NOTHING, nothing);
    }

    #[inline]
    fn part(&mut self, at: usize, column: usize, number: u16, much: i64) {
        if much <= 0 {
            return;
        }
        if self.sums.len() <= usize::from(number) {
            self.sums.resize(usize::from(number) + 1, Vec::new());
        }
        let sums = &mut self.sums[usize::from(number)];
        if sums.is_empty() {
            sums.resize(self.width, 0);
        }
        sums[column] += much;
        if 2 * much < COLUMN {
            return;
        }
        let much = (much / (COLUMN / STEPS)).min((ABSENT - 1).into()) as u16;
        let part = Part { much, number };
        let [first, second] = &mut self.of_cells[at];
        if much < first.much {
            (*first, *second) = (part, *first);
        } else if much < second.much {
            *second = part;
        }
    }

    /// Adds the timelines that follow.
    pub fn extend(&mut self, below: RareParts) {
        let numbers = self.sums.len().max(below.sums.len());
        self.sums.resize(numbers, Vec::new());
        for (sums, more) in self.sums.iter_mut().zip(below.sums) {
            match sums.is_empty() {
                true => *sums = more,
                false => sums
                    .iter_mut()
                    .zip(more)
                    .for_each(|(sum, more)| *sum += more),
            }
        }
        self.units += below.units;
        self.timelines += below.timelines;
        self.of_cells.extend(below.of_cells);
    }

    /// Gives the cells that have something rare, each with the kind, `None` for no state.
    pub fn for_each(&self, mut put: impl FnMut(usize, Option<u16>)) {
        if self.units < MIN_UNITS {
            return;
        }
        let few = (self.units / FEW).max(1) * COLUMN;
        for (at, parts) in self.of_cells.iter().enumerate() {
            let column = at % self.width.max(1);
            let is_rare = |part: &&Part| {
                let sums = self.sums.get(usize::from(part.number));
                let sum = sums.and_then(|sums| sums.get(column));
                let sum = *sum.unwrap_or(&i64::MAX);
                let mean = sum / self.timelines.max(1) / (COLUMN / STEPS);
                part.much != ABSENT && sum <= few && i64::from(part.much) >= FAR_MORE * mean
            };
            if let Some(part) = parts.iter().find(is_rare) {
                put(at, part.number.checked_sub(1));
            }
        }
    }
}
