//! Text fields of fixed width.

use std::borrow::Cow;
use std::fmt;

/// A text field of `N` bytes as it stands in a record: at most `N − 1` characters, a NUL, and bytes without meaning
/// behind it (section 4.2).
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
