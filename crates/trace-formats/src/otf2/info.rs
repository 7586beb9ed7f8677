//! What the infos of calls tell: the values that events need, by name, and all others as attributes.

use trace_model::{Category, InfoValue, counter_of, info_values, value_names};

use super::event::{Attribute, AttributeValue};
use super::numbers::value_type;
use super::strings::StringTable;
use super::values::{CallValues, DETAILS, Field};

/// Definitions of attributes: name and type. The reference of one is its position.
#[derive(Debug, Default)]
pub(super) struct AttributeTable {
    definitions: Vec<(u32, u8)>,
}

impl AttributeTable {
    /// Reference of the attribute of this name and type, which is defined if it is new.
    pub(super) fn id(&mut self, name: u32, value_type: u8) -> u32 {
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
    /// Position of the details of an operation.
    details: Option<usize>,
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
            details: names.iter().position(|name| *name == DETAILS),
            category: category.clone(),
            counters,
        }
    }

    /// The category.
    pub(super) fn category(&self) -> &Category {
        &self.category
    }

    /// Whether a value is the number of a request.
    pub(super) fn tells_requests(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|(field, _)| matches!(field, Field::Request | Field::Completes))
    }

    /// Whether the values of a category name a file and its path.
    pub(super) fn names_files(category: &Category) -> bool {
        InfoReader::has(category, &[Field::File, Field::Path])
    }

    /// Whether the values of a category tell which file a call of MPI is about.
    pub(super) fn tells_of_files(category: &Category) -> bool {
        InfoReader::has(category, &[Field::File, Field::CallId])
    }

    fn has(category: &Category, wanted: &[Field]) -> bool {
        let names = value_names(category);
        let has = |wanted: &Field| names.iter().any(|name| Field::of(name) == *wanted);
        wanted.iter().all(has)
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

    /// Whether an info has a text that no attribute tells.
    pub(super) fn has_details(&self, info: &[u8]) -> bool {
        self.details.is_some_and(|at| {
            let value = info_values(&self.category, info).nth(at);
            value.is_some_and(|(_, value)| !matches!(value, InfoValue::Text([])))
        })
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
