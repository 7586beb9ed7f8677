//! Lines and the values on them (`spec/paje.md` section 1).

use super::error::Problem;

/// Values a line may have.
pub const MAX_VALUES: usize = 64;

/// Bytes a line may have.
pub const MAX_LINE: usize = 1 << 20;

/// A value: where it stands in its line, without its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ValueSpan {
    /// Position of the first byte in the line.
    pub start: u32,
    /// The byte behind it.
    pub end: u32,
}

impl ValueSpan {
    /// The bytes, of the line it was found on.
    pub fn of(self, line: &[u8]) -> &[u8] {
        line.get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// The bytes up to the end of a line, its end included.
pub fn first_line(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|&b| b == b'\n') {
        Some(at) => &bytes[..=at],
        None => bytes,
    }
}

/// Finds the values of a line; none on a blank line or a comment. A quote inside a word means nothing.
pub fn split(line: &[u8], tokens: &mut Vec<ValueSpan>) -> Result<(), Problem> {
    tokens.clear();
    if line.len() > MAX_LINE {
        return Err(Problem::LongLine);
    }
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if is_blank(byte) {
            at += 1;
            continue;
        }
        if byte == b'#' {
            break;
        }
        if tokens.len() == MAX_VALUES {
            return Err(Problem::ManyValues);
        }
        let rest = &line[at..];
        let (start, end, behind) = if byte == b'"' {
            let length = rest[1..].iter().position(|&b| b == b'"' || b == b'\n');
            match length {
                Some(length) if rest[1 + length] == b'"' => {
                    (at + 1, at + 1 + length, at + length + 2)
                }
                _ => return Err(Problem::Quote),
            }
        } else {
            let length = rest.iter().position(|&b| is_blank(b) || b == b'#');
            let end = at + length.unwrap_or(rest.len());
            (at, end, end)
        };
        // A line is shorter than 1 MiB.
        tokens.push(ValueSpan {
            start: start as u32,
            end: end as u32,
        });
        at = behind;
    }
    Ok(())
}

/// True for the bytes that C's `isspace` accepts in the C locale.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        split(line.as_bytes(), &mut tokens).expect("good line");
        let text =
            |token: &ValueSpan| String::from_utf8_lossy(token.of(line.as_bytes())).into_owned();
        tokens.iter().map(text).collect()
    }

    #[test]
    fn values_are_words_or_stand_in_quotes() {
        assert_eq!(
            values("12 \t0.5 \"a b\"c \"\" x\"y # z\r\n"),
            ["12", "0.5", "a b", "c", "", "x\"y"]
        );
        assert_eq!(values("a#b \"c\"\n"), ["a"]);
        assert_eq!(values("\"a#b\" c\r\n"), ["a#b", "c"]);
        assert!(values(" \r\n").is_empty() && values("# x \"\n").is_empty());
        let mut tokens = Vec::new();
        for bad in ["1 \"a\n", "1 \"", "1 \"a\n\""] {
            assert!(matches!(
                split(bad.as_bytes(), &mut tokens),
                Err(Problem::Quote)
            ));
        }
        let many = "1 ".repeat(65);
        assert!(matches!(
            split(many.as_bytes(), &mut tokens),
            Err(Problem::ManyValues)
        ));
    }
}
