//! Names: of slices by category, and of the values of their infos.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use trace_model::{Category, InfoValue, Topology, counter_of, info_values, value_names};

use super::EventLabel;

/// Number of a name in a [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(pub u32);

/// All names that are repeated in a trace, each with a number: 0, 1, ….
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    names: Vec<String>,
    numbers: HashMap<String, u32, RandomState>,
}

impl NameTable {
    /// The number of a name, which is added if it is new.
    pub(crate) fn id(&mut self, name: &str) -> NameId {
        if let Some(&number) = self.numbers.get(name) {
            return NameId(number);
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        NameId(number)
    }

    /// The name with this number.
    pub(crate) fn name(&self, id: NameId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }
}

/// A value with its name, beside a slice.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument<'a> {
    /// Name, in the table of names.
    pub name: NameId,
    /// Value.
    pub value: ArgumentValue<'a>,
}

/// Value of an [`Argument`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArgumentValue<'a> {
    /// Signed number.
    Integer(i64),
    /// Number to be shown in hexadecimal.
    Hex(u64),
    /// Floating-point number.
    Real(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// Text that is repeated: a name of the table.
    Name(NameId),
}

impl<'a> From<InfoValue<'a>> for ArgumentValue<'a> {
    fn from(value: InfoValue<'a>) -> Self {
        match value {
            InfoValue::Text(text) => {
                let end = text.iter().position(|&byte| byte == 0);
                let text = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
                ArgumentValue::Text(String::from_utf8_lossy(text))
            }
            InfoValue::Integer(number) => ArgumentValue::Integer(number),
            InfoValue::Hex(number) => ArgumentValue::Hex(number),
            InfoValue::Real(number) => ArgumentValue::Real(number),
        }
    }
}

/// Names of a category's slices and values.
#[derive(Debug)]
pub(super) struct CategoryLabels {
    pub category: Category,
    /// Name of its slices and events; of an arrow that of its start.
    pub label: EventLabel,
    /// Name of the end of an arrow.
    pub arrival: EventLabel,
    /// Names of the values.
    names: Vec<NameId>,
    /// Names of the performance counters, by position of the value.
    pub counters: Vec<(usize, String)>,
    /// Positions of the values called CallID, file and path.
    call: Option<usize>,
    file: Option<usize>,
    path: Option<usize>,
    /// Whether it is about messages between ranks; other arrows go from a call to an operation that it causes.
    pub is_message: bool,
    /// Whether it is an event with one number, which is drawn as a counter, too.
    pub is_counter: bool,
}

impl CategoryLabels {
    pub(super) fn new(category: &Category, table: &mut NameTable) -> Self {
        let names = value_names(category);
        let at = |name: &str| names.iter().position(|found| found == name);
        let name = category.name.to_str();
        let is_message = category.topology == Topology::Arrow
            && (at("msg_tag").is_some() || name.eq_ignore_ascii_case("message"));
        let is_io = at("operation").is_some() || at("file").is_some();
        let group = match &*name {
            name if name.starts_with("MPI_File_") => "mpi.io",
            name if name.starts_with("MPI_") => "mpi",
            _ if is_message => "message",
            _ if is_io => "io",
            _ => "user",
        };
        let group = table.id(group);
        let mut label = |name: &str| EventLabel {
            name: table.id(name),
            group,
        };
        let (label, arrival) = if is_message {
            let sent = format!("send {name}");
            (label(&sent), label(&format!("receive {name}")))
        } else {
            (label(&name), label(&name))
        };
        let is_numeric = |&kind: &u8| !matches!(kind, b's' | b'x' | b'X');
        let is_counter = category.topology == Topology::Event
            && names == ["value"]
            && category.info_types.iter().all(is_numeric);
        let counters = category.info_keys.iter().take(names.len()).enumerate();
        let counters = counters.filter_map(|(at, key)| Some((at, counter_of(key)?.to_owned())));
        CategoryLabels {
            counters: counters.collect(),
            call: at("CallID"),
            file: at("file"),
            path: at("path"),
            names: names.iter().map(|name| table.id(name)).collect(),
            category: category.clone(),
            label,
            arrival,
            is_message,
            is_counter,
        }
    }

    /// The values of an info with their names.
    pub(super) fn arguments<'a>(&'a self, info: &'a [u8], arguments: &mut Vec<Argument<'a>>) {
        let values = self.names.iter().zip(info_values(&self.category, info));
        arguments.extend(values.map(|(&name, (_, value))| Argument {
            name,
            value: value.into(),
        }));
    }

    /// Position of the value called path.
    pub(super) fn path_position(&self) -> Option<usize> {
        self.path
    }

    /// CallID, number of a file and its path, of those that an info has.
    pub(super) fn file_values<'a>(&'a self, info: &'a [u8]) -> FileValues<'a> {
        let mut found = FileValues::default();
        if self.call.is_none() && self.file.is_none() {
            return found;
        }
        for (at, (_, value)) in info_values(&self.category, info).enumerate() {
            match value {
                InfoValue::Hex(id) if Some(at) == self.call => found.call = Some(id),
                InfoValue::Integer(file) if Some(at) == self.file => found.file = Some(file),
                InfoValue::Text(path) if Some(at) == self.path => found.path = Some(path),
                _ => {}
            }
        }
        found
    }
}

/// What an info says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileValues<'a> {
    pub call: Option<u64>,
    pub file: Option<i64>,
    pub path: Option<&'a [u8]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::Color;

    #[test]
    fn groups_follow_from_names() {
        let mut table = NameTable::default();
        let mut group = |name: &str, topology, format: &str| {
            let mut category = Category::new(1, name.into(), topology, Color::WHITE);
            category.set_info_format(format.as_bytes());
            let labels = CategoryLabels::new(&category, &mut table);
            table.name(labels.label.group).to_owned()
        };
        assert_eq!(group("MPI_Send", Topology::State, ""), "mpi");
        assert_eq!(group("MPI_File_open", Topology::State, ""), "mpi.io");
        assert_eq!(group("message", Topology::Arrow, "msg_tag=%d"), "message");
        assert_eq!(group("pwrite", Topology::State, "file=%d"), "io");
        assert_eq!(group("solve", Topology::State, ""), "user");
    }
}
