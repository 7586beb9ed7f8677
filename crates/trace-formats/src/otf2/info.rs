//! What the infos of calls tell: the values that events need, by name, and all others as attributes.

use trace_model::{Category, InfoValue, counter_of, info_values, value_names};

use super::event::{Attribute, AttributeValue};
use super::numbers::value_type;
use super::strings::StringTable;

/// Requests that one text names at most.
const MAX_NAMED: usize = 1 << 16;

/// A value that events need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    CallId,
    Request,
    Completes,
    Sends,
    Receives,
    Prepared,
    Root,
    Bytes,
    /// Number of a file among those of its process.
    Handle,
    /// Number of a file: in calls of DUMPI that of the handle, in operations that of the file.
    File,
    Path,
    Source,
    Tag,
    Size,
    Result,
    Role,
    CompleteAfter,
    /// Performance counter, by its position among those of the category.
    Counter(usize),
    Other,
}

impl Field {
    fn of(name: &str) -> Field {
        match name {
            "CallID" => Field::CallId,
            "request" => Field::Request,
            "completes" => Field::Completes,
            "sends" => Field::Sends,
            "receives" => Field::Receives,
            "prepared" => Field::Prepared,
            "root" => Field::Root,
            "bytes" => Field::Bytes,
            "handle" => Field::Handle,
            "file" => Field::File,
            "path" | "filename" => Field::Path,
            "source" => Field::Source,
            "tag" => Field::Tag,
            "size" => Field::Size,
            "result" => Field::Result,
            "role" => Field::Role,
            "complete (ns)" => Field::CompleteAfter,
            _ => Field::Other,
        }
    }

    /// Whether an attribute tells the value, too: not where it is only a number by which events are matched, or a text that is different in
    /// each call.
    fn is_shown(self, name: &str) -> bool {
        match self {
            Field::Request
            | Field::Completes
            | Field::Sends
            | Field::Receives
            | Field::Prepared
            | Field::Counter(_) => false,
            _ => !matches!(name, "details" | "makes" | "remote" | "sources" | "filler"),
        }
    }
}

/// Definitions of attributes: name and type. The reference of one is its position.
#[derive(Debug, Default)]
pub(super) struct AttributeTable {
    definitions: Vec<(u32, u8)>,
}

impl AttributeTable {
    fn id(&mut self, name: u32, value_type: u8) -> u32 {
        let wanted = (name, value_type);
        let at = self.definitions.iter().position(|found| *found == wanted);
        let at = at.unwrap_or_else(|| {
            self.definitions.push(wanted);
            self.definitions.len() - 1
        });
        u32::try_from(at).unwrap_or(0)
    }

    /// References of names, with types of [`value_type`].
    pub(super) fn definitions(&self) -> &[(u32, u8)] {
        &self.definitions
    }
}

/// Reads the infos of a category.
#[derive(Debug)]
pub(super) struct InfoReader {
    category: Category,
    /// By position of a value what it is, and the reference of its attribute.
    fields: Vec<(Field, Option<u32>)>,
    /// Names of the performance counters.
    pub counters: Vec<String>,
}

impl InfoReader {
    /// Reader of the infos of a category. With a table, its values are defined as attributes.
    pub(super) fn new(
        category: &Category,
        strings: &mut StringTable,
        mut attributes: Option<&mut AttributeTable>,
    ) -> Self {
        let mut counters = Vec::new();
        let names = value_names(category);
        let values = names.iter().zip(&category.info_types);
        let fields = values.zip(&category.info_keys).map(|((name, kind), key)| {
            let field = match counter_of(key) {
                Some(counter) => {
                    counters.push(counter.to_owned());
                    Field::Counter(counters.len() - 1)
                }
                None => Field::of(name),
            };
            let value_type = match kind {
                b's' => value_type::STRING,
                b'x' | b'X' => value_type::UINT64,
                b'e' | b'E' => value_type::DOUBLE,
                _ => value_type::INT64,
            };
            let table = attributes.as_mut().filter(|_| field.is_shown(name));
            let attribute = table.map(|table| table.id(strings.id(name), value_type));
            (field, attribute)
        });
        InfoReader {
            fields: fields.collect(),
            category: category.clone(),
            counters,
        }
    }

    /// The category.
    pub(super) fn category(&self) -> &Category {
        &self.category
    }

    /// Whether the values of a category name a file and its path, or tell which file a call of MPI is about.
    pub(super) fn tells_of_files(category: &Category) -> bool {
        let names = value_names(category);
        let has = |wanted: Field| names.iter().any(|name| Field::of(name) == wanted);
        has(Field::File) && (has(Field::Path) || has(Field::CallId))
    }

    /// Type of the only value if that is a number called `value`.
    pub(super) fn only_number(&self) -> Option<u8> {
        if value_names(&self.category) != ["value"] {
            return None;
        }
        match self.category.info_types.first()? {
            b'h' | b'd' | b'l' => Some(value_type::INT64),
            b'e' | b'E' => Some(value_type::DOUBLE),
            _ => None,
        }
    }

    /// Type and bits of the first value if that is a number.
    pub(super) fn number(&self, info: &[u8]) -> Option<(u8, u64)> {
        match info_values(&self.category, info).next()?.1 {
            InfoValue::Integer(number) => Some((value_type::INT64, number as u64)),
            InfoValue::Real(number) => Some((value_type::DOUBLE, number.to_bits())),
            _ => None,
        }
    }

    /// Reads an info. Texts that are new where there are too many already are counted in `left_out`.
    pub(super) fn attributes(
        &self,
        info: &[u8],
        strings: &mut StringTable,
        found: &mut Vec<Attribute>,
    ) -> u64 {
        found.clear();
        let mut left_out = 0;
        for ((_, value), (_, attribute)) in info_values(&self.category, info).zip(&self.fields) {
            let Some(attribute) = *attribute else {
                continue;
            };
            let value = match value {
                InfoValue::Integer(number) => AttributeValue::Signed(number),
                InfoValue::Hex(number) => AttributeValue::Unsigned(number),
                InfoValue::Real(number) => AttributeValue::Real(number),
                InfoValue::Text([]) => continue,
                InfoValue::Text(text) => match strings.info_text(text) {
                    Some(reference) => AttributeValue::Text(reference),
                    None => {
                        left_out += 1;
                        continue;
                    }
                },
            };
            found.push((attribute, value));
        }
        left_out
    }

    /// The values that events need.
    pub(super) fn values<'a>(&'a self, info: &'a [u8]) -> CallValues<'a> {
        let mut found = CallValues::default();
        for ((_, value), (field, _)) in info_values(&self.category, info).zip(&self.fields) {
            match value {
                InfoValue::Integer(number) => found.put_number(*field, number),
                InfoValue::Hex(number) if *field == Field::CallId => found.call = Some(number),
                InfoValue::Text(text) => found.put_text(*field, text),
                _ => {}
            }
        }
        found
    }

    /// The counts of the performance counters in a call, with their positions. A machine without the counter has -1, which is left out.
    pub(super) fn counts<'a>(
        &'a self,
        info: &'a [u8],
    ) -> impl Iterator<Item = (usize, i64)> + use<'a> {
        let values = info_values(&self.category, info).zip(&self.fields);
        values.filter_map(|((_, value), (field, _))| match (field, value) {
            (Field::Counter(at), InfoValue::Integer(count @ 0..)) => Some((*at, count)),
            _ => None,
        })
    }
}

/// What the info of a call says, of what events need. Negative numbers, which stand for nothing, are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallValues<'a> {
    pub call: Option<u64>,
    /// Number of the request that the call makes, or is about.
    pub request: Option<u32>,
    /// The one request that the call completes.
    pub completes_one: Option<u32>,
    /// The requests that the call completes, as a text such as `3,7-9`.
    pub completes: &'a [u8],
    /// The requests by which the call starts persistent sends, likewise.
    pub sends: &'a [u8],
    /// The requests by which the call starts persistent receives, likewise.
    pub receives: &'a [u8],
    /// Number of the persistent collective operation that the call makes or starts.
    pub prepared: Option<u32>,
    /// Requests and numbers of persistent collective operations that the call starts: `7:2,8:3`.
    pub started: &'a [u8],
    pub root: Option<i32>,
    pub bytes: Option<u64>,
    pub handle: Option<u32>,
    pub file: Option<i64>,
    pub path: Option<&'a [u8]>,
    /// Sender of the message that is asked for; `None` for any.
    pub source: Option<i32>,
    /// Tag of the message that is asked for; `None` for any.
    pub tag: Option<i32>,
    pub size: Option<u64>,
    /// What an operation returned, negative for an error.
    pub result: Option<i64>,
    /// Whether the file holds data, of a file whose role is told.
    pub is_side_file: bool,
    /// Time from the start of the call until its operation was complete, ns.
    pub complete_after: Option<u64>,
}

impl<'a> CallValues<'a> {
    /// Number by which a call of MPI names its file.
    pub(super) fn file_number(&self) -> Option<u32> {
        let file = || self.file.and_then(|file| u32::try_from(file).ok());
        self.handle.or_else(file)
    }

    fn put_number(&mut self, field: Field, number: i64) {
        let (u32, u64) = (u32::try_from(number).ok(), u64::try_from(number).ok());
        let not_negative = i32::try_from(number).ok().filter(|&number| number >= 0);
        match field {
            Field::Request => self.request = u32,
            Field::Completes => self.completes_one = u32,
            Field::Prepared => self.prepared = u32,
            Field::Root => self.root = not_negative,
            Field::Bytes => self.bytes = u64,
            Field::Handle => self.handle = u32,
            Field::File => self.file = Some(number).filter(|&number| number >= 0),
            Field::Source => self.source = not_negative,
            Field::Tag => self.tag = not_negative,
            Field::Size => self.size = u64,
            Field::Result => self.result = Some(number),
            Field::CompleteAfter => self.complete_after = u64,
            _ => {}
        }
    }

    fn put_text(&mut self, field: Field, text: &'a [u8]) {
        match field {
            Field::Completes => self.completes = text,
            Field::Sends => self.sends = text,
            Field::Receives => self.receives = text,
            Field::Prepared => self.started = text,
            Field::Path => self.path = Some(text).filter(|text| !text.is_empty()),
            Field::Role => self.is_side_file = text != b"data",
            _ => {}
        }
    }
}

/// The numbers that `3,7-9` stands for: 3, 7, 8, 9. What is no such text stands for none.
pub(super) fn numbers(text: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::new();
    let text = std::str::from_utf8(text).unwrap_or_default();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            let room = MAX_NAMED.saturating_sub(numbers.len());
            numbers.extend((first..=last).take(room));
        }
    }
    numbers
}

/// The pairs that `7:2,8:3` stands for. What is no such text stands for none.
pub(super) fn pairs(text: &[u8]) -> Vec<(u32, u32)> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let pair = |part: &str| {
        let (first, second) = part.split_once(':')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    };
    text.split(',').filter_map(pair).take(MAX_NAMED).collect()
}
