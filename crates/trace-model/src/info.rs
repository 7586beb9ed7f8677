//! The info of a drawable: big-endian values, one for each type of its category (`spec/clog2.md` section 8).

use super::{Category, MessageField, Text};

/// A value of an info.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InfoValue<'a> {
    /// `%s`.
    Text(&'a [u8]),
    /// `%h`, `%d`, `%l`.
    Integer(i64),
    /// `%x`, `%X`: to be shown in hexadecimal.
    Hex(u64),
    /// `%e`, `%E`.
    Real(f64),
}

/// The values of an info with their keys, the texts that stand before them. Ends where the bytes or the types do.
#[inline]
pub fn info_values<'a>(
    category: &'a Category,
    info: &'a [u8],
) -> impl Iterator<Item = (&'a Text, InfoValue<'a>)> {
    let mut rest = info;
    let pairs = category.info_keys.iter().zip(&category.info_types);
    pairs.map_while(move |(key, &kind)| Some((key, value(kind, &mut rest)?)))
}

#[inline]
fn value<'a>(kind: u8, rest: &mut &'a [u8]) -> Option<InfoValue<'a>> {
    Some(match kind {
        b's' => {
            let length = usize::try_from(i16::from_be_bytes(take(rest)?)).unwrap_or(0);
            let (text, behind) = rest.split_at(length.min(rest.len()));
            *rest = behind;
            InfoValue::Text(text)
        }
        b'h' => InfoValue::Integer(i16::from_be_bytes(take(rest)?).into()),
        b'd' => InfoValue::Integer(i32::from_be_bytes(take(rest)?).into()),
        b'l' => InfoValue::Integer(i64::from_be_bytes(take(rest)?)),
        b'x' => InfoValue::Hex(u32::from_be_bytes(take(rest)?).into()),
        b'X' => InfoValue::Hex(u64::from_be_bytes(take(rest)?)),
        b'e' => InfoValue::Real(f32::from_be_bytes(take(rest)?).into()),
        b'E' => InfoValue::Real(f64::from_be_bytes(take(rest)?)),
        _ => return None,
    })
}

#[inline]
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*bytes)
}

/// Writes the values of an info one after the other, in the order of the category's types.
#[derive(Clone, Debug, Default)]
pub struct InfoWriter {
    bytes: Vec<u8>,
}

impl InfoWriter {
    /// Begins a new info.
    pub fn clear(&mut self) -> &mut Self {
        self.bytes.clear();
        self
    }

    /// `%d`.
    pub fn int(&mut self, value: i32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// `%l`, `%X`.
    pub fn long(&mut self, value: i64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// `%E`.
    pub fn real(&mut self, value: f64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// `%s`; cut at 32767 bytes.
    pub fn text(&mut self, text: &[u8]) -> &mut Self {
        let text = &text[..text.len().min(i16::MAX as usize)];
        self.bytes
            .extend_from_slice(&(text.len() as i16).to_be_bytes());
        self.bytes.extend_from_slice(text);
        self
    }

    /// The info of a message, in place of what there is: tag and size as a category has them that [`Category::messages_up_to`] makes. A size for
    /// which it has no room becomes the largest.
    pub fn message(&mut self, category: &Category, tag: i32, bytes: u64) -> &mut Self {
        self.clear().int(tag);
        match category.info_types.get(1) {
            Some(b'l') => self.long(i64::try_from(bytes).unwrap_or(i64::MAX)),
            _ => self.int(i32::try_from(bytes).unwrap_or(i32::MAX)),
        }
    }

    /// The bytes of the info.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Sign between the name of a performance counter and its count in a call. The keys of such values end with it.
pub const COUNTER_SIGN: &str = "=+";

/// The performance counter that a value with this key is of.
pub fn counter_of(key: &Text) -> Option<&str> {
    let name = std::str::from_utf8(&key.0)
        .ok()?
        .strip_suffix(COUNTER_SIGN)?;
    Some(name.strip_prefix(", ").unwrap_or(name)).filter(|name| !name.is_empty())
}

/// Names of a category's values: what stands before each, without signs. A unit that stands after a value is put into its name:
/// `lasts=%l ns, complete=%l ns` has `lasts (ns)` and `complete (ns)`. No name is there twice.
pub fn value_names(category: &Category) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut keys = category.info_keys.iter().map(|key| key.to_str());
    for _ in &category.info_types {
        let key = keys.next().unwrap_or_default();
        let key = match key.rsplit_once([',', ';']) {
            Some((unit, key)) => {
                append_unit(&mut names, unit);
                key.to_owned()
            }
            None => key.into_owned(),
        };
        names.push(bare_name(&key));
    }
    if let Some(unit) = keys.next() {
        append_unit(&mut names, &unit);
    }
    for at in 0..names.len() {
        let is_before = |name: &str| names.iter().take(at).any(|before| before == name);
        let mut name = names[at].clone();
        for number in 2.. {
            if !is_before(&name) {
                break;
            }
            name = format!("{} {number}", names[at]);
        }
        names[at] = name;
    }
    names
}

/// Puts what stands between a value and the next name into the name of the value.
fn append_unit(names: &mut [String], unit: &str) {
    let unit = unit.trim_matches([' ', ',', ';', '.', ')', '(']);
    if let Some(last) = names.last_mut().filter(|_| !unit.is_empty()) {
        *last = format!("{last} ({unit})");
    }
}

/// `CallID` of ` CallID=0x`.
fn bare_name(key: &str) -> String {
    let key = key.trim();
    let key = key.strip_suffix("0x").unwrap_or(key);
    let key = key.strip_suffix(COUNTER_SIGN).unwrap_or(key);
    match key.trim_end_matches(['=', ':', ' ']) {
        "" => "value".to_owned(),
        name => name.to_owned(),
    }
}

/// Values in the info of a message arrow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageInfo {
    /// Tag.
    pub tag: i32,
    /// Bytes.
    pub size: i64,
}

/// The message that an arrow stands for: one whose info has both values of a message.
#[inline]
pub fn message(category: &Category, info: &[u8]) -> Option<MessageInfo> {
    let (mut tag, mut size) = (None, None);
    for (key, value) in info_values(category, info) {
        let InfoValue::Integer(number) = value else {
            continue;
        };
        match MessageField::of(&key.0) {
            Some(MessageField::Tag) => tag = i32::try_from(number).ok(),
            Some(MessageField::Size) => size = Some(number),
            None => {}
        }
    }
    Some(MessageInfo {
        tag: tag?,
        size: size?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, Topology};

    #[test]
    fn what_is_written_is_read() {
        let mut category = Category::new(7, "x".into(), Topology::State, Color::WHITE);
        category.set_info_format(b"CallID=0x%X, bytes=%l, name=%s, t=%E, n=%d");
        let mut info = InfoWriter::default();
        info.long(0x1_0000_0002).long(-5).text(b"a/b").real(0.5);
        let values: Vec<_> = info_values(&category, info.bytes())
            .map(|(key, value)| (key.to_str().into_owned(), value))
            .collect();
        assert_eq!(
            values,
            [
                ("CallID=0x".to_owned(), InfoValue::Hex(0x1_0000_0002)),
                (", bytes=".to_owned(), InfoValue::Integer(-5)),
                (", name=".to_owned(), InfoValue::Text(b"a/b")),
                (", t=".to_owned(), InfoValue::Real(0.5)),
            ]
        );
        info.clear().int(3).int(80);
        let found = message(&Category::message(), info.bytes());
        assert_eq!(found, Some(MessageInfo { tag: 3, size: 80 }));
    }

    fn names(format: &str) -> Vec<String> {
        let mut category = Category::new(1, "x".into(), Topology::State, Color::WHITE);
        category.set_info_format(format.as_bytes());
        value_names(&category)
    }

    #[test]
    fn values_have_names() {
        assert_eq!(
            names("CallID=0x%X, bytes=%l, offset=%l"),
            ["CallID", "bytes", "offset"]
        );
        assert_eq!(
            names("lasts=%l ns, complete=%l ns"),
            ["lasts (ns)", "complete (ns)"]
        );
        assert_eq!(names("page-faults=+%l"), ["page-faults"]);
        assert_eq!(names("rank %d sent %d: %s"), ["rank", "sent", "value"]);
        assert_eq!(names("a=%d%d%d, a=%d"), ["a", "value", "value 2", "a 2"]);
        assert!(names("").is_empty());
    }
}
