//! Values of a column while they are gathered, some of which may be missing.

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, NullBufferBuilder};
use std::mem;
use std::sync::Arc;

/// Values of a column in which some may be missing.
#[derive(Debug)]
pub struct OptionalValues<N> {
    /// Anything where one is missing.
    values: Vec<N>,
    /// A bit for each value: whether it is missing.
    nulls: NullBufferBuilder,
}

impl<N> Default for OptionalValues<N> {
    fn default() -> Self {
        OptionalValues {
            values: Vec::new(),
            nulls: NullBufferBuilder::new(0),
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
        self.nulls.append_non_null();
        self.values.push(value);
    }

    /// Adds missing values until there are so many.
    #[inline]
    pub fn pad(&mut self, length: usize) {
        if self.values.len() < length {
            self.nulls.append_n_nulls(length - self.values.len());
            self.values.resize(length, N::default());
        }
    }

    /// The values so far, which are gathered no more.
    pub fn finish<T: ArrowPrimitiveType<Native = N>>(&mut self) -> ArrayRef {
        let values = emptied(&mut self.values).into();
        Arc::new(PrimitiveArray::<T>::new(values, self.nulls.finish()))
    }
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
