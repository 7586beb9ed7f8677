//! The values of a drawable: which of them is the CallID or a number of bytes, and how keys and values are shown.

use trace_model::{COUNTER_SIGN, InfoValue};

use crate::base::text::visible;

/// A key as a table shows it: `, CallID=0x` is `CallID`. What stands before the last comma belongs to the value before.
fn shown_key(key: &str) -> String {
    let key = key.rsplit([',', ';']).next().unwrap_or(key).trim();
    let key = key.strip_suffix("0x").unwrap_or(key).trim_end();
    visible(key.trim_end_matches(['=', ':']).trim_end())
}

/// A value as a table shows it.
pub(crate) fn shown_value(value: InfoValue<'_>) -> String {
    match value {
        InfoValue::Text(text) => visible(&String::from_utf8_lossy(text)),
        InfoValue::Integer(number) => number.to_string(),
        InfoValue::Hex(number) => format!("0x{number:x}"),
        InfoValue::Real(real) => format!("{real}"),
    }
}

/// The CallID, if this value is one.
pub(crate) fn callid(key: &str, value: InfoValue<'_>) -> Option<u64> {
    if !is_callid(key) {
        return None;
    }
    match value {
        InfoValue::Hex(id) => Some(id),
        InfoValue::Integer(id) => Some(id as u64),
        _ => None,
    }
}

/// Whether the value behind this key is a CallID.
pub(crate) fn is_callid(key: &str) -> bool {
    let name = shown_key(key);
    let last = name.rsplit([' ', ',']).next().unwrap_or_default();
    last.eq_ignore_ascii_case("callid")
}

/// Bytes, if this value says so.
pub(crate) fn bytes(key: &str, value: InfoValue<'_>) -> Option<i64> {
    match value {
        // Operations that move none, or an unknown number, have a negative one.
        InfoValue::Integer(bytes @ 0..) if is_bytes(key) => Some(bytes),
        _ => None,
    }
}

/// Whether an integer behind this key says how many bytes a message or an access has.
pub(crate) fn is_bytes(key: &str) -> bool {
    matches!(shown_key(key).as_str(), "bytes" | "msg_size" | "size")
}

/// The number of a file, if this value is one.
pub(crate) fn file_number(key: &str, value: InfoValue<'_>) -> Option<i64> {
    match value {
        InfoValue::Integer(number) if shown_key(key) == "file" => Some(number),
        _ => None,
    }
}

/// The name that a key gives a value: `msg_size` of `, msg_size=`; of a performance counter its name without what says how it is counted, such as
/// `cycles` of `, perf::cycles:u=+`.
pub(crate) fn name_of_key(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key).to_lowercase();
    if let Some(counter) = key.strip_suffix(COUNTER_SIGN) {
        let counter = counter.trim_start_matches([',', ';', ' ']);
        let counter = counter.strip_prefix("perf::").unwrap_or(counter);
        let name = counter.split(':').next().unwrap_or(counter);
        return name.to_owned();
    }
    let key = key.trim().strip_suffix("0x").unwrap_or(key.trim());
    let key = key.trim_end_matches(['=', ':', ' ']);
    let start = key.rfind([',', ';', ' ']).map_or(0, |at| at + 1);
    key[start..].to_owned()
}

/// A value as it stands behind its key, which says `0x` itself.
pub(crate) fn value_after_key(value: InfoValue<'_>) -> String {
    match value {
        InfoValue::Text(text) => visible(&String::from_utf8_lossy(text)),
        InfoValue::Integer(number) => number.to_string(),
        InfoValue::Hex(number) => format!("{number:x}"),
        InfoValue::Real(real) => format!("{real}"),
    }
}
