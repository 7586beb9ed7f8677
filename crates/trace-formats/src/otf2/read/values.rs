//! Values of attributes and metrics.

use std::borrow::Cow;

use super::super::numbers::value_type;
use super::definitions::{GlobalDefinitions, MetricMember};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

/// The value that the bytes of a type are.
pub(super) fn value(definitions: &GlobalDefinitions, kind: u8, bits: u64) -> Value<'_> {
    let reference = bits as u32;
    match kind {
        value_type::UINT8 => Value::Integer((bits as u8).into()),
        value_type::UINT16 => Value::Integer((bits as u16).into()),
        value_type::UINT32 => Value::Integer((bits as u32).into()),
        value_type::INT8 => Value::Integer((bits as i8).into()),
        value_type::INT16 => Value::Integer((bits as i16).into()),
        value_type::INT32 => Value::Integer((bits as i32).into()),
        value_type::UINT64 | value_type::INT64 | value_type::LOCATION => {
            Value::Integer(bits as i64)
        }
        value_type::FLOAT => Value::Real(f32::from_bits(bits as u32).into()),
        value_type::DOUBLE => Value::Real(f64::from_bits(bits)),
        value_type::STRING => Value::Text(Cow::Borrowed(definitions.text(reference))),
        value_type::REGION => {
            let region = definitions.regions.get(&reference);
            let name = region.map_or("", |region| definitions.text(region.name));
            Value::Text(Cow::Borrowed(name))
        }
        // References of other definitions.
        _ => Value::Integer(reference.into()),
    }
}

/// Letter of a type in the format of an info.
pub(super) fn letter(kind: u8) -> u8 {
    match kind {
        value_type::FLOAT | value_type::DOUBLE => b'E',
        value_type::STRING | value_type::REGION => b's',
        _ => b'l',
    }
}

impl MetricMember {
    /// Whether its values are real numbers: they are by type, or because of the factor of their unit.
    pub(super) fn is_real(&self) -> bool {
        self.exponent != 0 || letter(self.value_type) == b'E'
    }

    /// A value in the unit of the metric.
    pub(super) fn scaled(&self, value: &Value<'_>) -> f64 {
        let number = match value {
            Value::Integer(number) => *number as f64,
            Value::Real(number) => *number,
            Value::Text(_) => 0.0,
        };
        let base: f64 = if self.is_binary { 2.0 } else { 10.0 };
        // Beyond that a number of 64 bits is nothing or infinite.
        number * base.powi(self.exponent.clamp(-2000, 2000) as i32)
    }
}
