//! Values as JSON (RFC 8259).

/// Appends a text in quotes.
pub(super) fn text(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
}

/// Appends a number; as a text where JSON has no such number.
pub(super) fn real(json: &mut String, value: f64) {
    if value.is_finite() {
        json.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        text(json, &value.to_string());
    }
}

/// Appends a whole number.
pub(super) fn integer(json: &mut String, value: impl itoa::Integer) {
    json.push_str(itoa::Buffer::new().format(value));
}

/// Appends a time in ns as us, with its three decimals.
pub(super) fn microseconds(json: &mut String, ns: u64) {
    integer(json, ns / 1000);
    json.push_str(&format!(".{:03}", ns % 1000));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_json() {
        let mut json = String::new();
        text(&mut json, "a\"\\\n\u{1}é\u{1f600}");
        assert_eq!(json, "\"a\\\"\\\\\\n\\u0001é\u{1f600}\"");
        let mut json = String::new();
        real(&mut json, 0.5);
        json.push(' ');
        real(&mut json, f64::NAN);
        json.push(' ');
        integer(&mut json, -3i64);
        json.push(' ');
        microseconds(&mut json, 12_034_005);
        assert_eq!(json, "0.5 \"NaN\" -3 12034.005");
    }
}
