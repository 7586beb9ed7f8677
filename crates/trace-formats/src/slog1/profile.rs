//! The display profile: a table whose entries are text in fields of a fixed width (`spec/slog1.md` section 4).

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::key::{Bebits, RecordKey};
use super::types::Display;
use trace_model::Text;

/// Bytes of a field: a string, its NUL and a TAB.
const FIELD: usize = 35;
/// Bytes of the longest string in a field.
const LONGEST: usize = FIELD - 2;

impl Display {
    /// Reads the entry at the front of `from`.
    pub(super) fn decode(from: &mut Slog1Cursor<'_>) -> Result<Self, Slog1Error> {
        let intvltype = number(from, "intvltype", u16::MAX.into())? as u16;
        let at = from.offset();
        let code = number(from, "bebits", u8::MAX.into())? as u8;
        let bebits = Bebits::from_code(code);
        let key = RecordKey {
            intvltype,
            bebits: bebits.ok_or_else(|| Slog1Error::new(at, Slog1ErrorKind::Bebits(code)))?,
        };
        let mut text = || Ok::<_, Slog1Error>(Text(string(from.take(FIELD)?).to_vec()));
        let (class, label, color) = (text()?, text()?, text()?);
        let arguments = if number(from, "flag of argument labels", 1)? == 0 {
            None
        } else {
            let count = number(from, "number of argument labels", u32::MAX)?;
            from.need(u64::from(count) * FIELD as u64)?;
            let labels = (0..count).map(|_| Ok(Text(string(from.take(FIELD)?).to_vec())));
            Some(labels.collect::<Result<_, Slog1Error>>()?)
        };
        // A line feed, which nobody looks at.
        from.take(1)?;
        Ok(Display {
            key,
            class,
            label,
            color,
            arguments,
        })
    }

    /// Appends the bytes of the entry.
    ///
    /// Bytes after the NUL of a string have no meaning; they are those that the original leaves there.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&decimal(self.key.intvltype.into()));
        out.extend_from_slice(&decimal(self.key.bebits.code().into()));
        for text in [&self.class, &self.label, &self.color] {
            out.extend_from_slice(&field(&text.0));
        }
        out.extend_from_slice(&decimal(self.arguments.is_some().into()));
        if let Some(labels) = &self.arguments {
            out.extend_from_slice(&decimal(labels.len() as u32));
            // One buffer for all: behind a short label stands the end of a longer one before it.
            let mut buffer = decimal(0);
            buffer[..2].fill(b' ');
            for label in labels {
                let label = string(&label.0);
                let size = label.len().min(LONGEST);
                buffer[..size].copy_from_slice(&label[..size]);
                buffer[size] = 0;
                out.extend_from_slice(&buffer);
            }
        }
        out.push(b'\n');
    }

    /// Appends the bytes of the entry, which was read from `original`, with what stands there behind the NULs.
    pub(super) fn encode_like(&self, original: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        self.encode(out);
        let fields = out[start..].chunks_exact_mut(FIELD);
        for (field, original) in fields.zip(original.chunks_exact(FIELD)) {
            if string(field) == string(original) {
                field.copy_from_slice(original);
            }
        }
    }

    /// The entry with its strings as they are read back.
    pub(super) fn trimmed(&self) -> Self {
        let text = |text: &Text| Text(string(&field(&text.0)).to_vec());
        Display {
            key: self.key,
            class: text(&self.class),
            label: text(&self.label),
            color: text(&self.color),
            arguments: self.arguments.clone(),
        }
    }

    /// Fails for what an entry cannot hold.
    pub(super) fn check(&self) -> Result<(), Slog1Error> {
        let mut labels = self.arguments.iter().flatten();
        match labels.find(|label| label.0.len() > LONGEST) {
            None => Ok(()),
            Some(label) => Err(Slog1Error::new(
                0,
                Slog1ErrorKind::LabelLength(label.to_str().into_owned()),
            )),
        }
    }
}

/// Appends the entry that fills room for entries to come.
pub(super) fn encode_spare(out: &mut Vec<u8>) {
    out.extend_from_slice(&decimal(u16::MAX.into()));
    out.extend_from_slice(&decimal(1));
    for text in [" ", " ", ""] {
        let mut field = [0; FIELD];
        field[..text.len()].copy_from_slice(text.as_bytes());
        field[FIELD - 1] = b'\t';
        out.extend_from_slice(&field);
    }
    out.extend_from_slice(&decimal(0));
    out.push(b'\n');
}

/// The string in a field.
pub(super) fn string(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|&byte| byte == 0);
    // Without a NUL only the TAB ends it.
    &field[..end.unwrap_or(field.len().min(FIELD - 1))]
}

/// A class, label or colour: cut, without what stands behind the last letter, digit or `_`.
pub(super) fn field(text: &[u8]) -> [u8; FIELD] {
    let text = string(text);
    let text = &text[..text.len().min(LONGEST)];
    let mut field = [0; FIELD];
    field[..text.len()].copy_from_slice(text);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    // The original's list of letters lacks the u: nothing is cut off where that is the only one.
    let is_listed = |byte: &u8| is_word(byte) && *byte != b'u';
    if text.iter().any(is_listed)
        && let Some(last) = text.iter().rposition(is_word)
    {
        field[last + 1] = 0;
    }
    for byte in field.iter_mut().take_while(|byte| **byte != 0) {
        if *byte == b'\t' {
            *byte = b' ';
        }
    }
    field[FIELD - 1] = b'\t';
    field
}

fn decimal(number: u32) -> [u8; FIELD] {
    let digits = number.to_string();
    let mut field = [b' '; FIELD];
    field[..digits.len()].copy_from_slice(digits.as_bytes());
    field[digits.len()] = 0;
    field[FIELD - 1] = b'\t';
    field
}

fn number(from: &mut Slog1Cursor<'_>, name: &'static str, most: u32) -> Result<u32, Slog1Error> {
    let offset = from.offset();
    let text = string(from.take(FIELD)?).trim_ascii();
    let number = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse::<u32>().ok());
    number.filter(|&number| number <= most).ok_or_else(|| {
        let found = String::from_utf8_lossy(text).into_owned();
        Slog1Error::new(offset, Slog1ErrorKind::Number { field: name, found })
    })
}
