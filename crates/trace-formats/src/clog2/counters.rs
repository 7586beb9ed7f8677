//! What performance counters counted in calls, on its way to SLOG2.
//!
//! A CLOG2 event has no room for it. So in front of the end event of a call stand CARGO records with numbers that no CLOG2 file
//! has ([`COUNTED`]), each with four numbers: i64, big-endian, in the order of the names that the ranks have agreed on. They go
//! through the merge as all records do; the CLOG2 file does not get them, in the SLOG2 file they are part of the call's info.

use super::{Body, CARGO_SIZE, COUNTED, peek_etype, peek_rectype, rectype};

/// Numbers in a record.
const NUMBERS: usize = CARGO_SIZE / 8;
/// Most names of a run: as many as its numbers have room for in records of their own.
pub const MAX_COUNTER_NAMES: usize = 512;

/// Adds the names that are not there yet. What a file says of the others has no place.
pub fn join(names: &mut Vec<String>, others: &[String]) {
    for name in others {
        if names.len() < MAX_COUNTER_NAMES && !names.contains(name) {
            names.push(name.clone());
        }
    }
}

/// Whether this is a record of numbers; `bytes` is a whole record, encoded as in a merged file.
#[inline]
pub fn is_counted(bytes: &[u8]) -> bool {
    peek_rectype(bytes) == rectype::CARGOEVT && part(peek_etype(bytes)).is_some()
}

/// Which of the records of numbers has this number.
#[inline]
pub(crate) fn part(etype: i32) -> Option<usize> {
    let part = etype.wrapping_sub(COUNTED) as u32 as usize;
    (part < MAX_COUNTER_NAMES / NUMBERS).then_some(part)
}

/// Puts the numbers of a record where they belong. `values` gets as many numbers as there are records so far have told.
pub(crate) fn unpack(part: usize, cargo: &[u8; CARGO_SIZE], values: &mut Vec<i64>) {
    values.truncate(part * NUMBERS);
    values.resize(part * NUMBERS, UNKNOWN);
    let (numbers, _) = cargo.as_chunks();
    values.extend(numbers.iter().map(|number| i64::from_be_bytes(*number)));
}

/// What stands for a counter that the process does not have.
const UNKNOWN: i64 = -1;

/// The counters of a process.
#[derive(Debug, Default)]
pub struct Counters {
    /// By place among its own the place among those of the run.
    places: Vec<Option<usize>>,
    /// What is given of the call at hand, for each counter of the run.
    values: Vec<i64>,
}

impl Counters {
    /// For a process that counts `own`, in a run with these `names`.
    pub fn new(own: &[String], names: &[String]) -> Counters {
        let place = |name: &String| names.iter().position(|n| n == name);
        Counters {
            places: own.iter().map(place).collect(),
            values: vec![UNKNOWN; names.len().next_multiple_of(NUMBERS)],
        }
    }

    /// The bodies of the records of a call with these values at its beginning and its end; none if they are not those that
    /// the process names.
    pub fn records(&mut self, pairs: &[(i64, i64)]) -> impl Iterator<Item = Body> + '_ {
        let is_whole = !pairs.is_empty() && pairs.len() == self.places.len();
        for (place, (entry, exit)) in self.places.iter().zip(pairs) {
            if let Some(value) = place.and_then(|place| self.values.get_mut(place)) {
                // Values of counters that take turns are estimates, which may go back a little.
                *value = exit.wrapping_sub(*entry).max(0);
            }
        }
        let (numbers, _) = self.values.as_chunks::<NUMBERS>();
        (COUNTED..)
            .zip(numbers)
            .filter(move |_| is_whole)
            .map(|(etype, numbers)| {
                let mut bytes = [0; CARGO_SIZE];
                for (to, number) in bytes.chunks_exact_mut(8).zip(numbers) {
                    to.copy_from_slice(&number.to_be_bytes());
                }
                Body::Cargo { etype, bytes }
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_packed_is_unpacked_in_the_order_of_the_run() {
        let mut run = names("a b c d");
        join(&mut run, &names("e b"));
        assert_eq!(run, names("a b c d e"));
        let mut counters = Counters::new(&names("e b"), &run);
        let mut values = Vec::new();
        for body in counters.records(&[(10, 13), (7, 5)]) {
            let Body::Cargo { etype, bytes } = body else {
                panic!("{body:?}")
            };
            unpack(part(etype).expect("one of them"), &bytes, &mut values);
        }
        assert_eq!(values[..5], [-1, 0, -1, -1, 3]);
        assert_eq!(counters.records(&[(1, 2)]).count(), 0);
        assert_eq!(counters.records(&[]).count(), 0);
        assert_eq!([part(-1), part(0), part(1 << 30)], [None; 3]);
    }
}
