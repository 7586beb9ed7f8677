//! Values of a trace in JSON.

use serde_json::{Number, Value};
use trace_model::InfoValue;

/// A text of a trace, with U+FFFD for what is not UTF-8.
pub fn text(bytes: &[u8]) -> Value {
    Value::String(String::from_utf8_lossy(bytes).into_owned())
}

/// A number; a text where JSON has no such number.
pub fn real(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None => Value::String(value.to_string()),
    }
}

/// A value of an info. A text ends at its first NUL. What is shown in hexadecimal, such as a CallID, is a text, because the numbers of many
/// readers have 53 bits.
pub fn info_value(value: InfoValue<'_>) -> Value {
    match value {
        InfoValue::Text(bytes) => {
            let end = bytes.iter().position(|&byte| byte == 0);
            text(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default())
        }
        InfoValue::Integer(number) => number.into(),
        InfoValue::Hex(number) => format!("{number:#x}").into(),
        InfoValue::Real(number) => real(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json() {
        assert_eq!(info_value(InfoValue::Hex(u64::MAX)), "0xffffffffffffffff");
        assert_eq!(info_value(InfoValue::Text(b"a\xff\"\0rest")), "a\u{fffd}\"");
        assert_eq!(info_value(InfoValue::Real(f64::NAN)), "NaN");
        assert_eq!(info_value(InfoValue::Integer(-1)), -1);
    }
}
