//! Text fields of fixed width.

use std::borrow::Cow;
use std::fmt;

/// A text field of `N` bytes as it stands in a record: at most `N − 1` characters, a NUL, and bytes without meaning
/// behind it (`spec/clog2.md` section 4.2).
///
/// Two texts are equal when they are equal up to the NUL.
#[derive(Clone, Copy)]
pub struct FixedText<const N: usize>([u8; N]);

impl<const N: usize> FixedText<N> {
    /// Copies `text`, cut to `N − 1` bytes and never inside a UTF-8 character; the rest is zero.
    pub const fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut end = if bytes.len() < N {
            bytes.len()
        } else {
            N.saturating_sub(1)
        };
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let mut field = [0; N];
        let mut i = 0;
        while i < end {
            field[i] = bytes[i];
            i += 1;
        }
        FixedText(field)
    }

    /// The field as it stands in a file.
    pub fn from_bytes(bytes: [u8; N]) -> Self {
        FixedText(bytes)
    }

    /// All `N` bytes, those behind the NUL included.
    pub fn field(&self) -> &[u8; N] {
        &self.0
    }

    /// The bytes before the first NUL (all `N` if there is none).
    pub fn as_bytes(&self) -> &[u8] {
        until_nul(&self.0)
    }

    /// The text, with U+FFFD for what is not UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }
}

impl<const N: usize> Default for FixedText<N> {
    fn default() -> Self {
        FixedText([0; N])
    }
}

impl<const N: usize> PartialEq for FixedText<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for FixedText<N> {}

impl<const N: usize> fmt::Debug for FixedText<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

/// The bytes before the first NUL, all of them if there is none: how C's `%s` and `%.32s` see a field.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|&b| b == 0) {
        Some(end) => &bytes[..end],
        None => bytes,
    }
}

/// The text of these bytes as Java decodes UTF-8: U+FFFD for what is not UTF-8.
///
/// As `from_utf8_lossy`, but a UTF-16 surrogate in three bytes is one fault, not three.
pub(crate) fn java_text(bytes: &[u8]) -> Cow<'_, str> {
    let lead = |rest: &[u8]| matches!(rest, [0xED, 0xA0..=0xBF, ..]);
    let Some(first) = bytes.windows(2).position(lead) else {
        return String::from_utf8_lossy(bytes);
    };
    let mut text = String::new();
    let (mut sound, mut rest) = bytes.split_at(first);
    loop {
        text.push_str(&String::from_utf8_lossy(sound));
        if rest.is_empty() {
            return Cow::Owned(text);
        }
        text.push(char::REPLACEMENT_CHARACTER);
        let fault = if matches!(rest, [_, _, 0x80..=0xBF, ..]) {
            3
        } else {
            2
        };
        rest = &rest[fault..];
        let next = rest.windows(2).position(lead).unwrap_or(rest.len());
        (sound, rest) = rest.split_at(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_utf_8_are_those_java_sees() {
        // The texts that Java 17 made of these bytes.
        for (bytes, java) in [
            (&b"plain \xc3\xa9"[..], "plain é"),
            (b"\xed\xa0\x80x", "\u{fffd}x"),
            (
                b"\xed\xbe\xe1\x9e\xbd\x90\xd1\xc0",
                "\u{fffd}\u{17bd}\u{fffd}\u{fffd}\u{fffd}",
            ),
            (b"a\xed\xbf", "a\u{fffd}"),
            (b"\xed\xa0\x80\xed\xb0\x80", "\u{fffd}\u{fffd}"),
            (b"\xed\x9f\xbf", "\u{d7ff}"),
            (b"\xe0\x80\x80", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(java_text(bytes), java, "{bytes:x?}");
        }
    }
}
