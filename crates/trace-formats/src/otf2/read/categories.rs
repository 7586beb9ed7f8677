//! Categories of regions and metrics: what their infos hold.

use trace_model::hash::Map;
use trace_model::{COUNTER_SIGN, Category, Color, Definitions, InfoWriter, Text, Topology};

use super::calls::RegionVisit;
use super::definitions::GlobalDefinitions;
use super::numbers::{group, paradigm, value_type};
use super::survey::{RegionUse, Survey};
use super::values::{Value, letter, value};
use crate::clog2::states::{CallIdDisplay, FunctionStates, color_of};

/// A value of the info of a call that events tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Root,
    Bytes,
    Request,
    Completes,
    Handle,
    Ranks,
    Target,
    Exclusive,
    Sends,
    Receives,
    Path,
    /// What archives do not tell.
    Nothing,
}

impl Fact {
    fn of(name: &str) -> Fact {
        match name {
            "root" => Fact::Root,
            "bytes" => Fact::Bytes,
            "request" => Fact::Request,
            "completes" => Fact::Completes,
            "handle" => Fact::Handle,
            "ranks" => Fact::Ranks,
            "target" => Fact::Target,
            "exclusive" => Fact::Exclusive,
            "sends" => Fact::Sends,
            "receives" => Fact::Receives,
            "path" => Fact::Path,
            _ => Fact::Nothing,
        }
    }
}

/// A value of an info: its letter, the attribute that tells it, and what tells it where there is no such attribute.
#[derive(Clone, Copy, Debug)]
struct Field {
    letter: u8,
    attribute: Option<u32>,
    fact: Fact,
}

/// The category of a region.
#[derive(Debug)]
pub(super) struct RegionCategory {
    pub index: i32,
    pub topology: Topology,
    fields: Vec<Field>,
    /// Metrics whose growth is told.
    members: Vec<u32>,
}

/// The categories of an archive.
#[derive(Debug, Default)]
pub(super) struct Categories {
    pub regions: Map<u32, RegionCategory>,
    /// Indices of metrics whose values are events, and whether they are real numbers.
    pub metrics: Map<u32, (i32, bool)>,
}

/// Index of messages.
pub(super) const MESSAGE: i32 = 0;

/// Longest text in an info, bytes.
const LONGEST: usize = 1 << 12;

impl Categories {
    /// Defines categories for all that events are about.
    pub(super) fn new(
        source: &GlobalDefinitions,
        survey: &Survey,
        is_own: bool,
        definitions: &mut Definitions,
    ) -> Categories {
        // Only a build with a damaged table of functions has none; names alone do then.
        let table = wrappers::table().ok();
        let states = table.as_ref().map(|table| {
            let behind = table.functions.len() as u16;
            let none = std::collections::BTreeMap::new();
            let mut states = FunctionStates::new(table, CallIdDisplay::None, behind..behind, &none);
            states.add_details(table);
            states
        });
        let mut categories = Categories::default();
        definitions.categories.push(Category::message());
        let mut index = MESSAGE;
        for (&region, used) in &survey.regions {
            index = index.saturating_add(1);
            let name = match source.region_name(region) {
                "" => format!("region {region}"),
                name => name.to_owned(),
            };
            let function = table.as_ref().and_then(|table| table.get(&name));
            let state = function.zip(states.as_ref());
            let state = state.and_then(|(function, states)| states.get(function.id as u16));
            let details = state.map_or(String::new(), |state| state.details.format());
            let (fields, mut format) = fields(source, used, &details, is_own);
            let members: Vec<u32> = used.members.iter().copied().collect();
            for member in &members {
                let found = source.metric_members.get(member);
                let name = found.map_or("", |found| source.text(found.name));
                push_key(&mut format, &name.replace('%', ""), COUNTER_SIGN, b'l');
            }
            let color = match function {
                Some(function) => Color::from_name(&function.color),
                None => Color::from_name(color_of(&name)),
            };
            let kind = source.regions.get(&region).map(|region| region.paradigm);
            let is_marker = is_own && used.is_momentary && kind == Some(paradigm::USER);
            let topology = if is_marker {
                Topology::Event
            } else {
                Topology::State
            };
            let mut category = Category::new(
                index,
                Text(name.into_bytes()),
                topology,
                color.unwrap_or(Color::WHITE),
            );
            category.set_info_format(format.as_bytes());
            definitions.categories.push(category);
            if let Some(state) = state {
                definitions
                    .etypes
                    .insert(index, (state.start(), state.end()));
            }
            categories.regions.insert(
                region,
                RegionCategory {
                    index,
                    topology,
                    fields,
                    members,
                },
            );
        }
        for &member in &survey.metrics {
            let Some(found) = source.metric_members.get(&member) else {
                continue;
            };
            index = index.saturating_add(1);
            let name = source.text(found.name);
            let color = Color::from_name(color_of(name)).unwrap_or(Color::WHITE);
            let mut category = Category::new(index, name.into(), Topology::Event, color);
            let is_real = found.is_real();
            category.set_info_format(if is_real { b"value=%E" } else { b"value=%l" });
            definitions.categories.push(category);
            categories.metrics.insert(member, (index, is_real));
        }
        categories
    }
}

fn push_key(format: &mut String, name: &str, sign: &str, letter: u8) {
    if !format.is_empty() {
        format.push_str(", ");
    }
    format.push_str(name);
    format.push_str(sign);
    format.extend(['%', char::from(letter)]);
}

/// The values of the infos of a region and their format: attributes, then what the recorder tells of such calls (`details`), then what else events
/// tell.
fn fields(
    source: &GlobalDefinitions,
    used: &RegionUse,
    details: &str,
    is_own: bool,
) -> (Vec<Field>, String) {
    let mut wanted: Vec<(String, u8)> = details
        .split(", ")
        .filter_map(|part| part.split_once("=%"))
        .map(|(name, letter)| (name.to_owned(), *letter.as_bytes().first().unwrap_or(&b'l')))
        .collect();
    let extra = [
        (used.has_root, "root", b'd'),
        (used.has_bytes, "bytes", b'l'),
        (used.has_request, "request", b'd'),
        (used.has_completed, "completes", b's'),
        (used.has_handle || used.has_window, "handle", b'd'),
        (used.has_target, "target", b'd'),
        (used.has_handle, "path", b's'),
    ];
    for (is_there, name, letter) in extra {
        if is_there && !wanted.iter().any(|(known, _)| known == name) {
            wanted.push((name.to_owned(), letter));
        }
    }
    // A call that starts persistent operations tells its requests by kind.
    if wanted.iter().any(|(name, _)| name == "sends") {
        wanted.retain(|(name, _)| name != "request");
    }
    let (mut fields, mut format) = (Vec::new(), String::new());
    let attributes = used.attributes.iter().filter_map(|&reference| {
        let &(name, kind) = source.attributes.get(&reference)?;
        Some((reference, source.text(name).replace('%', ""), kind))
    });
    let attributes: Vec<(u32, String, u8)> = attributes.collect();
    for (reference, name, kind) in &attributes {
        if wanted.iter().any(|(known, _)| known == name) {
            continue;
        }
        let is_hex = is_own && *kind == value_type::UINT64;
        let (sign, letter) = if is_hex {
            ("=0x", b'X')
        } else {
            ("=", letter(*kind))
        };
        push_key(&mut format, name, sign, letter);
        fields.push(Field {
            letter,
            attribute: Some(*reference),
            fact: Fact::Nothing,
        });
    }
    for (name, letter) in wanted {
        push_key(&mut format, &name, "=", letter);
        let attribute = attributes.iter().find(|(_, known, _)| *known == name);
        fields.push(Field {
            letter,
            attribute: attribute.map(|(reference, ..)| *reference),
            fact: Fact::of(&name),
        });
    }
    (fields, format)
}

/// Numbers and ranges such as `3,7-9`.
fn list(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// Number of a file or a window of a process. Both are counted together.
fn shared_number(visit: &RegionVisit) -> i64 {
    let facts = &visit.facts;
    let file = facts.handle.map(|handle| 2 * i64::from(handle));
    let window = facts.window.map(|window| 2 * i64::from(window) + 1);
    file.or(window).unwrap_or(-1)
}

/// Ranks in MPI_COMM_WORLD of the group that a call names.
fn ranks(source: &GlobalDefinitions, visit: &RegionVisit) -> String {
    let members = visit
        .facts
        .group
        .and_then(|group| source.groups.get(&group));
    let members = members.filter(|found| found.kind != group::COMM_LOCATIONS);
    let members = members.map_or(&[][..], |found| found.members.as_slice());
    let ranks: Vec<u32> = members
        .iter()
        .filter_map(|&rank| u32::try_from(rank).ok())
        .collect();
    list(&ranks)
}

/// Name of the file that a call is about.
fn path<'a>(source: &'a GlobalDefinitions, visit: &RegionVisit) -> &'a str {
    let handle = visit
        .facts
        .handle
        .and_then(|handle| source.io_handles.get(&handle));
    let file = handle.and_then(|handle| source.files.get(&handle.file));
    file.map_or("", |&name| source.text(name))
}

impl RegionCategory {
    /// Writes the info of a visit of the region.
    pub(super) fn write(
        &self,
        source: &GlobalDefinitions,
        visit: &RegionVisit,
        info: &mut InfoWriter,
    ) {
        info.clear();
        for field in &self.fields {
            let attribute = field.attribute.and_then(|wanted| {
                let found = visit
                    .attributes
                    .iter()
                    .find(|(reference, ..)| *reference == wanted)?;
                Some(value(source, found.1, found.2))
            });
            let text;
            let found = match attribute {
                Some(value) => value,
                None => {
                    let facts = &visit.facts;
                    let number = |number: Option<u32>| Value::Integer(number.map_or(-1, i64::from));
                    match field.fact {
                        Fact::Root => number(facts.root),
                        Fact::Bytes => Value::Integer(
                            facts
                                .bytes
                                .and_then(|bytes| i64::try_from(bytes).ok())
                                .unwrap_or(-1),
                        ),
                        Fact::Request => number(facts.request()),
                        Fact::Completes if field.letter != b's' => {
                            number(facts.completes.first().copied())
                        }
                        Fact::Handle => Value::Integer(shared_number(visit)),
                        Fact::Target => number(facts.target),
                        Fact::Exclusive => number(facts.is_exclusive.map(u32::from)),
                        Fact::Path => Value::Text(path(source, visit)),
                        Fact::Nothing if field.letter == b's' => Value::Text(""),
                        Fact::Nothing => Value::Integer(-1),
                        Fact::Completes => {
                            text = list(&facts.completes);
                            Value::Text(&text)
                        }
                        Fact::Sends => {
                            text = list(&facts.sends);
                            Value::Text(&text)
                        }
                        Fact::Receives => {
                            text = list(&facts.receives);
                            Value::Text(&text)
                        }
                        Fact::Ranks => {
                            text = ranks(source, visit);
                            Value::Text(&text)
                        }
                    }
                }
            };
            put(field.letter, found, info);
        }
        for member in &self.members {
            let spent = visit.sums.iter().find(|(known, _)| known == member);
            info.long(spent.map_or(-1, |(_, spent)| *spent));
        }
    }
}

/// Writes a value as its letter demands.
fn put(letter: u8, value: Value<'_>, info: &mut InfoWriter) {
    let integer = match value {
        Value::Integer(number) => number,
        Value::Real(number) => number as i64,
        Value::Text(_) => -1,
    };
    match (letter, value) {
        (b's', Value::Text(text)) => _ = info.text(cut(text)),
        (b's', Value::Integer(number)) => _ = info.text(number.to_string().as_bytes()),
        (b's', Value::Real(number)) => _ = info.text(number.to_string().as_bytes()),
        (b'd', _) => _ = info.int(i32::try_from(integer).unwrap_or(-1)),
        (b'E', Value::Real(number)) => _ = info.real(number),
        (b'E', _) => _ = info.real(integer as f64),
        _ => _ = info.long(integer),
    }
}

/// The beginning of a text, as far as an info has room.
fn cut(text: &str) -> &[u8] {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}
