//! Columns while they are filled.

use crate::optional_values::OptionalValues;
use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, StringBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_schema::DataType;
use std::sync::Arc;
use trace_model::InfoValue;

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 32 bits with a sign: ranks, threads, tags.
    Small,
    /// 64 bits with a sign: times, bytes.
    Integer,
    /// 64 bits without a sign: what is shown in hexadecimal, such as CallIDs.
    Hex,
    /// 64 bits with a floating point.
    Real,
    /// UTF-8.
    Text,
}

impl ColumnType {
    /// The type for values of this type letter of an info.
    pub fn of(letter: u8) -> ColumnType {
        match letter {
            b's' => ColumnType::Text,
            b'x' | b'X' => ColumnType::Hex,
            b'e' | b'E' => ColumnType::Real,
            _ => ColumnType::Integer,
        }
    }

    /// A word for the type, for names of columns that would be the same.
    pub fn word(self) -> &'static str {
        match self {
            ColumnType::Small | ColumnType::Integer => "number",
            ColumnType::Hex => "hex",
            ColumnType::Real => "real",
            ColumnType::Text => "text",
        }
    }

    /// The type in Arrow.
    pub fn arrow(self) -> DataType {
        match self {
            ColumnType::Small => DataType::Int32,
            ColumnType::Integer => DataType::Int64,
            ColumnType::Hex => DataType::UInt64,
            ColumnType::Real => DataType::Float64,
            ColumnType::Text => DataType::Utf8,
        }
    }
}

/// Values of a column that are gathered.
#[derive(Debug)]
pub enum Column {
    /// 32 bits with a sign.
    Small(OptionalValues<i32>),
    /// 64 bits with a sign.
    Integer(OptionalValues<i64>),
    /// 64 bits without a sign.
    Hex(OptionalValues<u64>),
    /// Floating point.
    Real(OptionalValues<f64>),
    /// Texts.
    Text(StringBuilder),
}

impl Column {
    /// An empty column.
    pub fn new(kind: ColumnType) -> Column {
        match kind {
            ColumnType::Small => Column::Small(OptionalValues::default()),
            ColumnType::Integer => Column::Integer(OptionalValues::default()),
            ColumnType::Hex => Column::Hex(OptionalValues::default()),
            ColumnType::Real => Column::Real(OptionalValues::default()),
            ColumnType::Text => Column::Text(StringBuilder::new()),
        }
    }

    /// Number of values so far.
    pub fn len(&self) -> usize {
        match self {
            Column::Small(values) => values.len(),
            Column::Integer(values) => values.len(),
            Column::Hex(values) => values.len(),
            Column::Real(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    /// Adds a number.
    #[inline]
    pub fn push(&mut self, value: i64) {
        match self {
            Column::Small(values) => values.push(i32::try_from(value).ok()),
            Column::Integer(values) => values.push_value(value),
            Column::Hex(values) => values.push_value(value as u64),
            Column::Real(values) => values.push_value(value as f64),
            Column::Text(values) => values.append_value(value.to_string()),
        }
    }

    /// Adds nothing as often as there are values missing to so many.
    #[inline]
    pub fn pad(&mut self, length: usize) {
        match self {
            Column::Small(values) => values.pad(length),
            Column::Integer(values) => values.pad(length),
            Column::Hex(values) => values.pad(length),
            Column::Real(values) => values.pad(length),
            Column::Text(values) => values.append_nulls(length.saturating_sub(values.len())),
        }
    }

    /// Adds nothing.
    pub fn push_null(&mut self) {
        self.pad(self.len() + 1);
    }

    /// Adds a value of an info as that of this row, counted from 0. Rows before it without a value have none.
    #[inline]
    pub fn put(&mut self, row: usize, value: InfoValue<'_>) {
        match (&mut *self, value) {
            (Column::Integer(values), InfoValue::Integer(value)) => values.put(row, value),
            (Column::Hex(values), InfoValue::Hex(value)) => values.put(row, value),
            _ => {
                self.pad(row);
                self.push_value(value);
            }
        }
    }

    /// Adds a value of an info. A text ends at its first NUL; what is no UTF-8 in it becomes U+FFFD.
    #[inline]
    pub fn push_value(&mut self, value: InfoValue<'_>) {
        match (self, value) {
            (Column::Text(values), InfoValue::Text(bytes)) => {
                let end = bytes.iter().position(|&byte| byte == 0);
                let bytes = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
                values.append_value(String::from_utf8_lossy(bytes));
            }
            (Column::Real(values), InfoValue::Real(value)) => values.push_value(value),
            (Column::Hex(values), InfoValue::Hex(value)) => values.push_value(value),
            (column, InfoValue::Integer(value)) => column.push(value),
            // The plan gives each value a column of its type.
            (column, _) => column.push_null(),
        }
    }

    /// The values so far; the column is empty afterwards.
    pub fn finish(&mut self) -> ArrayRef {
        match self {
            Column::Small(values) => values.finish::<Int32Type>(),
            Column::Integer(values) => values.finish::<Int64Type>(),
            Column::Hex(values) => values.finish::<UInt64Type>(),
            Column::Real(values) => values.finish::<Float64Type>(),
            Column::Text(values) => Arc::new(values.finish()),
        }
    }
}
