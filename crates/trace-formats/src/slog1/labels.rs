//! Arguments as info and back: SLOG-1 has numbers of 32 bits with names, the model values of several types with texts
//! before them.
//!
//! What a name ends in tells what does not show in the number: `_hex` a number in hexadecimal, `_high` and `_low` the
//! halves of one of 64 bits in hexadecimal, `_upper` and `_lower` those of one in decimal.

use trace_model::{Category, InfoValue, Text};

/// Bytes of the longest name.
const LONGEST: usize = 33;
/// Arguments that a record can have at most, a size of 16 bits in mind.
const MAX_ARGUMENTS: usize = 8192;

/// Sets keys and types of the info of records with arguments of these names.
pub(super) fn info_format(names: &[Text], category: &mut Category) {
    let mut nth = 0;
    while let Some(name) = names.get(nth) {
        let next = names.get(nth + 1).map_or(&[][..], |next| &next.0);
        let pair = |first: &[u8], second: &[u8]| {
            let stem = name.0.strip_suffix(first)?;
            (next.strip_suffix(second)? == stem).then_some(stem)
        };
        let (stem, kind, count) = if let Some(stem) = pair(b"_high", b"_low") {
            (stem, b'X', 2)
        } else if let Some(stem) = pair(b"_upper", b"_lower") {
            (stem, b'l', 2)
        } else if let Some(stem) = name.0.strip_suffix(b"_hex") {
            (stem, b'x', 1)
        } else {
            (name.0.as_slice(), b'd', 1)
        };
        let separator: &[u8] = if nth == 0 { b"" } else { b", " };
        let equals: &[u8] = match kind {
            b'x' | b'X' => b"=0x",
            _ => b"=",
        };
        let key = [separator, stem, equals].concat();
        category.info_keys.push(Text(key));
        category.info_types.push(kind);
        nth += count;
    }
}

/// The names of the arguments of records with the infos of this category.
pub(super) fn names(category: &Category) -> Vec<Text> {
    let mut names = Vec::new();
    for (key, &kind) in category.info_keys.iter().zip(&category.info_types) {
        if names.len() + endings(kind).len() > MAX_ARGUMENTS {
            break;
        }
        for ending in endings(kind) {
            let stem = stem(&key.0);
            let stem = &stem[..stem.len().min(LONGEST - ending.len())];
            names.push(Text([stem, ending.as_bytes()].concat()));
        }
    }
    names
}

/// Appends the arguments of a value as big-endian bytes; false if it is of a type that arguments cannot hold.
pub(super) fn push(kind: u8, value: InfoValue<'_>, out: &mut Vec<u8>) -> bool {
    let number = match value {
        InfoValue::Integer(number) => number as u64,
        InfoValue::Hex(number) => number,
        InfoValue::Text(_) | InfoValue::Real(_) => return false,
    };
    let bytes = number.to_be_bytes();
    out.extend_from_slice(&bytes[8 - 4 * endings(kind).len()..]);
    true
}

/// The endings of the names of the arguments that a value of this type takes: none for one that cannot be held.
pub(super) fn endings(kind: u8) -> &'static [&'static str] {
    match kind {
        b'h' | b'd' => &[""],
        b'x' => &["_hex"],
        b'l' => &["_upper", "_lower"],
        b'X' => &["_high", "_low"],
        _ => &[],
    }
}

/// The name in the text before a value: `bytes` of `, bytes=`.
fn stem(key: &[u8]) -> &[u8] {
    let key = key.strip_suffix(b"0x").unwrap_or(key);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let first = key.iter().position(is_word);
    let last = key.iter().rposition(is_word);
    match (first, last) {
        (Some(first), Some(last)) => &key[first..=last],
        _ => b"value",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, InfoWriter, Topology, info_values};

    #[test]
    fn values_survive_the_way_there_and_back() {
        let mut category = Category::new(5, "x".into(), Topology::State, Color::WHITE);
        category.set_info_format(b"CallID=0x%X, bytes=%l, tag=%d, addr=0x%x, name=%s");
        let mut info = InfoWriter::default();
        info.long(0x0123_4567_89ab_cdef)
            .long(-5)
            .int(-7)
            .int(0x7fff_0001)
            .text(b"lost");
        let mut words = Vec::new();
        let kept: Vec<bool> = info_values(&category, info.bytes())
            .zip(&category.info_types)
            .map(|((_, value), &kind)| push(kind, value, &mut words))
            .collect();
        assert_eq!(kept, [true, true, true, true, false]);
        let names = names(&category);
        assert_eq!(words.len(), 4 * names.len());
        let mut again = Category::new(5, "x".into(), Topology::State, Color::WHITE);
        info_format(&names, &mut again);
        assert_eq!(again.info_types, b"Xldx");
        let all = |category: &Category, bytes: &[u8]| {
            info_values(category, bytes)
                .take(4)
                .map(|(key, value)| format!("{key:?} {value:?}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(all(&again, &words), all(&category, info.bytes()));
    }
}
