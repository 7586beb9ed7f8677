//! Values of a column while they are gathered, some of which may be missing.

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, NullBuffer};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// Values of a column in which some may be missing.
#[derive(Debug)]
pub struct OptionalValues<N> {
    /// Anything where one is missing.
    values: Vec<N>,
    /// Where values are missing, in order. Noting only these is quicker than a bit for each value.
    missing: Vec<Range<usize>>,
}

impl<N> Default for OptionalValues<N> {
    fn default() -> Self {
        OptionalValues {
            values: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl<N: ArrowNativeType> OptionalValues<N> {
    /// Number of values, missing ones included.
    #[inline]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Adds a value, or that it is missing.
    #[inline]
    pub fn push(&mut self, value: Option<N>) {
        match value {
            Some(value) => self.push_value(value),
            None => self.pad(self.values.len() + 1),
        }
    }

    /// Adds a value.
    #[inline]
    pub fn push_value(&mut self, value: N) {
        self.values.push(value);
    }

    /// Adds a value as that at this place, and missing ones before it.
    #[inline]
    pub fn put(&mut self, at: usize, value: N) {
        self.pad(at);
        self.push_value(value);
    }

    /// Adds missing values until there are so many.
    #[inline]
    pub fn pad(&mut self, length: usize) {
        let from = self.values.len();
        if from < length {
            match self.missing.last_mut() {
                Some(last) if last.end == from => last.end = length,
                _ => self.missing.push(from..length),
            }
            self.values.resize(length, N::default());
        }
    }

    /// The values so far, which are gathered no more.
    pub fn finish<T: ArrowPrimitiveType<Native = N>>(&mut self) -> ArrayRef {
        let nulls = validity(&self.missing, self.values.len());
        self.missing.clear();
        let values = emptied(&mut self.values).into();
        Arc::new(PrimitiveArray::<T>::new(values, nulls))
    }
}

/// A bit for each of so many values that is not among the `missing` ones; `None` if none is.
fn validity(missing: &[Range<usize>], length: usize) -> Option<NullBuffer> {
    if missing.is_empty() {
        return None;
    }
    let mut bits = vec![u8::MAX; length.div_ceil(8)];
    for range in missing {
        let (first, last) = (range.start / 8, range.end / 8);
        // Bits from the first missing one on, and below the first behind them.
        let (from, below) = (u8::MAX << (range.start % 8), (1u8 << (range.end % 8)) - 1);
        if first == last {
            bits[first] &= !(from & below);
            continue;
        }
        bits[first] &= !from;
        bits[first + 1..last].fill(0);
        if let Some(byte) = bits.get_mut(last) {
            *byte &= !below;
        }
    }
    Some(NullBuffer::new(BooleanBuffer::new(bits.into(), 0, length)))
}

/// The values of a column, which is empty afterwards and has room for as many.
pub fn emptied<N>(values: &mut Vec<N>) -> Vec<N> {
    let room = values.capacity();
    mem::replace(values, Vec::with_capacity(room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use proptest::prelude::*;

    proptest! {
        /// Places without a value are made up for by the next value, or at the end.
        #[test]
        fn any_values_may_be_missing(
            mut rows in prop::collection::vec(any::<Option<i32>>(), 0..200),
            more in 0usize..40,
        ) {
            let mut values = OptionalValues::<i32>::default();
            for (nth, value) in rows.iter().enumerate() {
                match value {
                    Some(value) => values.put(nth, *value),
                    None if nth % 3 == 0 && values.len() == nth => values.push(None),
                    None => {}
                }
            }
            rows.resize(rows.len() + more, None);
            values.pad(rows.len());
            let found = values.finish::<Int32Type>();
            let found: Vec<Option<i32>> = found.as_primitive::<Int32Type>().iter().collect();
            prop_assert_eq!(found, rows);
        }
    }

    #[test]
    fn missing_values_are_where_they_are_missing() {
        let mut values = OptionalValues::<i32>::default();
        for value in [Some(1), None, Some(3)] {
            values.push(value);
        }
        values.pad(2);
        values.pad(5);
        values.push_value(6);
        let found = values.finish::<Int32Type>();
        let found: Vec<Option<i32>> = found.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(found, [Some(1), None, Some(3), None, None, Some(6)]);
        values.push_value(7);
        let found = values.finish::<Int32Type>();
        assert_eq!((found.len(), found.null_count()), (1, 0));
    }
}
