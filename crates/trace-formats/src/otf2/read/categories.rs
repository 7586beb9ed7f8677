//! Categories of regions and metrics: what their infos hold.

use std::borrow::Cow;
use std::collections::BTreeSet;

use trace_model::hash::Map;
use trace_model::{COUNTER_SIGN, Category, Color, Definitions, InfoWriter, Text, Topology};

use super::super::numbers::{group_type, is_event, paradigm, value_type};
use super::super::values::{COMPLETE_AFTER, list, numbers};
use super::calls::RegionVisit;
use super::definitions::GlobalDefinitions;
use super::files::{self, FILE_VALUES, OPERATION_VALUES};
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
    File,
    Done,
    CompleteAfter,
    Zero,
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
            "filename" => Fact::Path,
            COMPLETE_AFTER => Fact::CompleteAfter,
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

/// The category of a region, or of its visits with certain attributes.
#[derive(Debug)]
pub(super) struct RegionCategory {
    pub index: i32,
    /// References of the attributes.
    attributes: BTreeSet<u32>,
    pub topology: Topology,
    fields: Vec<Field>,
    /// Metrics whose growth is told.
    members: Vec<u32>,
    /// Whether it is an operation of the C library on a file.
    pub is_operation: bool,
}

/// The categories of an archive.
#[derive(Debug, Default)]
pub(super) struct Categories {
    regions: Map<u32, Vec<RegionCategory>>,
    /// Indices of metrics whose values are events, and whether they are real numbers.
    pub metrics: Map<u32, (i32, bool)>,
    /// Index of the events that name the files of operations. mpitrace itself writes such events as markers.
    pub file: Option<i32>,
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
        let states = table.map(|table| {
            let behind = table.functions.len() as u16;
            let none = std::collections::BTreeMap::new();
            let mut states = FunctionStates::new(table, CallIdDisplay::None, behind..behind, &none);
            states.add_details(table);
            states
        });
        let mut categories = Categories::default();
        let messages = Category::messages_up_to(survey.largest_message);
        definitions.categories.push(messages);
        let mut index = MESSAGE;
        // Those of mpitrace tell all attributes at each visit, but for empty texts.
        let variants = |(region, used): (&u32, &RegionUse)| {
            let variants = match is_own {
                true => vec![used.clone()],
                false => used.variants(),
            };
            variants.into_iter().map(|used| (*region, used)).collect()
        };
        let uses: Vec<Vec<(u32, RegionUse)>> = survey.regions.iter().map(variants).collect();
        for (region, used) in uses.iter().flatten() {
            let region = *region;
            index = index.saturating_add(1);
            let name = match source.region_name(region) {
                "" => format!("region {region}"),
                name => name.to_owned(),
            };
            let function = table.and_then(|table| table.get(&name));
            let state = function.zip(states.as_ref());
            let state = state.and_then(|(function, states)| states.get(function.id as u16));
            let defined = source.regions.get(&region);
            let kind = defined.map(|region| region.paradigm);
            let described = defined.and_then(|region| is_event(source.text(region.description)));
            let is_marker =
                is_own && described.unwrap_or(!used.takes_time && kind == Some(paradigm::USER));
            let state = state.filter(|_| !is_marker);
            let details = state.map_or(String::new(), |state| state.details.format());
            let told = ToldValues::of(source, used);
            let is_own_operation = is_own && kind == Some(paradigm::NONE);
            let operation = match is_own_operation {
                true => Some(files::own_operation_name(&name, told.has(CALL_ID))),
                false => told.operation_name(used, &name),
            };
            let is_operation = operation.is_some();
            let (name, (fields, mut format)) = match operation {
                Some(name) => (name, told.of_operation()),
                None if is_marker && name == FILE => (name, told.of_file()),
                None => (name, fields(source, used, &details, is_own)),
            };
            // Operations and events that name files have just the values by which they are known, and nothing grows while an event takes no time.
            let members = match is_operation || is_marker {
                true => Vec::new(),
                false => used.members.iter().copied().collect(),
            };
            for member in &members {
                let found = source.metric_members.get(member);
                let name = found.map_or("", |found| source.text(found.name));
                push_key(&mut format, &name.replace('%', ""), COUNTER_SIGN, b'l');
            }
            let color = match function {
                Some(function) => Color::from_name(&function.color),
                None => Color::from_name(color_of(&name)),
            };
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
            let known = categories.regions.entry(region).or_default();
            known.push(RegionCategory {
                index,
                attributes: used.attributes.clone(),
                topology,
                fields,
                members,
                is_operation,
            });
        }
        categories.add_events(source, survey, is_own, definitions);
        categories
    }

    /// Defines the categories of what has no duration and is no region.
    fn add_events(
        &mut self,
        source: &GlobalDefinitions,
        survey: &Survey,
        is_own: bool,
        definitions: &mut Definitions,
    ) {
        let mut regions = self.regions.values().flatten();
        if !is_own && regions.any(|region| region.is_operation) {
            let index = next_index(definitions);
            self.file = Some(index);
            let gold = Color::rgb(0x00ff_d700);
            let mut category = Category::new(index, FILE.into(), Topology::Event, gold);
            let (_, format) = ToldValues::default().of_file();
            category.set_info_format(format.as_bytes());
            definitions.categories.push(category);
        }
        for &member in &survey.metrics {
            let Some(found) = source.metric_members.get(&member) else {
                continue;
            };
            let index = next_index(definitions);
            let name = source.text(found.name);
            let color = Color::from_name(color_of(name)).unwrap_or(Color::WHITE);
            let mut category = Category::new(index, name.into(), Topology::Event, color);
            let is_real = found.is_real();
            category.set_info_format(if is_real { b"value=%E" } else { b"value=%l" });
            definitions.categories.push(category);
            self.metrics.insert(member, (index, is_real));
        }
    }

    /// The category of a visit.
    pub(super) fn of(&self, visit: &RegionVisit) -> Option<&RegionCategory> {
        match self.regions.get(&visit.region)?.as_slice() {
            [only] => Some(only),
            variants => {
                let of_visit =
                    |variant: &&RegionCategory| visit.has_attributes(&variant.attributes);
                variants.iter().find(of_visit).or(variants.last())
            }
        }
    }
}

/// Index of the category that is defined next.
pub(super) fn next_index(definitions: &Definitions) -> i32 {
    i32::try_from(definitions.categories.len()).unwrap_or(i32::MAX)
}

/// Name of the events that name files.
const FILE: &str = "file";
/// Attribute that joins an operation to the call of MPI around it.
const CALL_ID: &str = "CallID";

/// The attributes of a region by the names of the values that they tell.
#[derive(Debug, Default)]
struct ToldValues(Vec<(String, u32)>);

impl ToldValues {
    fn of(source: &GlobalDefinitions, used: &RegionUse) -> ToldValues {
        let attributes = used.attributes.iter().filter_map(|&reference| {
            let (name, _) = source.attributes.get(&reference)?;
            Some((source.text(*name).to_owned(), reference))
        });
        ToldValues(attributes.collect())
    }

    fn attribute(&self, wanted: &str) -> Option<u32> {
        let found = self.0.iter().find(|(name, _)| name == wanted);
        found.map(|(_, reference)| *reference)
    }

    fn has(&self, wanted: &str) -> bool {
        self.attribute(wanted).is_some()
    }

    /// The name of the operation of the C library that a region of another tool is, if it is one and events or attributes tell its file.
    fn operation_name(&self, used: &RegionUse, region: &str) -> Option<String> {
        let has_file = used.tells("handle") || self.has(FILE);
        files::operation_name(region, self.has(CALL_ID)).filter(|_| has_file)
    }

    /// The values of an operation, which are those of the recorder, and their format.
    fn of_operation(&self) -> (Vec<Field>, String) {
        let call = Some((CALL_ID, b'X')).filter(|_| self.has(CALL_ID));
        self.fields(
            call.into_iter().chain(OPERATION_VALUES),
            |name| match name {
                FILE => Fact::File,
                "size" => Fact::Bytes,
                "result" => Fact::Done,
                "filler" | "errno" | "operation" => Fact::Zero,
                _ => Fact::Nothing,
            },
        )
    }

    /// The values of an event that names a file, and their format.
    fn of_file(&self) -> (Vec<Field>, String) {
        self.fields(FILE_VALUES, |_| Fact::Nothing)
    }

    /// Values of these names and letters, and their format. `fact` says what tells one where there is no attribute.
    fn fields(
        &self,
        values: impl IntoIterator<Item = (&'static str, u8)>,
        fact: impl Fn(&str) -> Fact,
    ) -> (Vec<Field>, String) {
        let mut format = String::new();
        let field = |(name, letter): (&'static str, u8)| {
            let sign = if letter == b'X' { "=0x" } else { "=" };
            push_key(&mut format, name, sign, letter);
            Field {
                letter,
                attribute: self.attribute(name),
                fact: fact(name),
            }
        };
        let fields = values.into_iter().map(field).collect();
        (fields, format)
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
        ("root", b'd'),
        ("bytes", b'l'),
        ("request", b'd'),
        ("completes", b's'),
        ("handle", b'd'),
        ("target", b'd'),
        ("filename", b's'),
        (COMPLETE_AFTER, b'l'),
    ];
    for (name, letter) in extra {
        if !wanted.iter().any(|(known, _)| known == name) {
            wanted.push((name.to_owned(), letter));
        }
    }
    let attributes = used.attributes.iter().filter_map(|&reference| {
        let &(name, kind) = source.attributes.get(&reference)?;
        Some((reference, source.text(name).replace('%', ""), kind))
    });
    let attributes: Vec<(u32, String, u8)> = attributes.collect();
    let is_attribute = |name: &str| attributes.iter().any(|(_, known, _)| known == name);
    // All but requests and names of files mpitrace itself writes as attributes, too.
    let is_no_attribute = |name: &str| {
        matches!(
            name,
            "request" | "completes" | "sends" | "receives" | "filename" | COMPLETE_AFTER
        )
    };
    let is_told = |name: &str| used.tells(name) && (!is_own || is_no_attribute(name));
    wanted.retain(|(name, _)| is_told(name) || is_attribute(name));
    // A call that starts persistent operations tells its requests by kind.
    if wanted.iter().any(|(name, _)| name == "sends") {
        wanted.retain(|(name, _)| name != "request");
    }
    let (mut fields, mut format) = (Vec::new(), String::new());
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
    let members = members.filter(|found| found.kind != group_type::COMM_LOCATIONS);
    let members = members.map_or(&[][..], |found| found.members.as_slice());
    let ranks: Vec<u32> = members
        .iter()
        .filter_map(|&rank| u32::try_from(rank).ok())
        .collect();
    list(&ranks)
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
            put(field.letter, field.value(source, visit), info);
        }
        for member in &self.members {
            let spent = visit.sums.iter().find(|(known, _)| known == member);
            info.long(spent.map_or(-1, |(_, spent)| *spent));
        }
    }

    /// Number of the file that an operation is about.
    pub(super) fn file(&self, source: &GlobalDefinitions, visit: &RegionVisit) -> Option<u32> {
        let field = self.fields.iter().find(|field| field.fact == Fact::File)?;
        match field.value(source, visit) {
            Value::Integer(number) => u32::try_from(number).ok(),
            _ => None,
        }
    }
}

impl Field {
    /// The value in a visit of the region: that of the attribute, or else what events tell.
    fn value<'a>(&self, source: &'a GlobalDefinitions, visit: &RegionVisit) -> Value<'a> {
        let mut attributes = visit.attributes.iter();
        let wanted = self.attribute;
        let attribute = attributes.find(|(reference, ..)| Some(*reference) == wanted);
        let facts = &visit.facts;
        if let Some(&(_, kind, bits)) = attribute {
            let told = value(source, kind, bits);
            return match (self.fact, told) {
                // The attribute tells those that no event tells.
                (Fact::Completes, Value::Text(text)) => {
                    let mut all = numbers(text.as_bytes());
                    all.extend(&facts.completes);
                    all.sort_unstable();
                    Value::Text(Cow::Owned(list(&all)))
                }
                (_, told) => told,
            };
        }
        let number = |number: Option<u32>| Value::Integer(number.map_or(-1, i64::from));
        let bytes = |bytes: Option<u64>, unknown| {
            let bytes = bytes.and_then(|bytes| i64::try_from(bytes).ok());
            Value::Integer(bytes.unwrap_or(unknown))
        };
        let text = |text: String| Value::Text(Cow::Owned(text));
        match self.fact {
            Fact::Root => number(facts.root),
            Fact::Bytes => bytes(facts.bytes, -1),
            Fact::Done => bytes(facts.done, 0),
            Fact::CompleteAfter => bytes(facts.complete_after.map(|ticks| source.ns(ticks)), -1),
            Fact::Request => number(facts.request()),
            Fact::Completes if self.letter == b's' => text(list(&facts.completes)),
            Fact::Completes => number(facts.completes.first().copied()),
            Fact::Handle => Value::Integer(shared_number(visit)),
            Fact::Target => number(facts.target),
            Fact::Exclusive => number(facts.is_exclusive.map(u32::from)),
            Fact::Path => Value::Text(Cow::Borrowed(files::path(source, visit))),
            Fact::File => number(files::number(source, visit)),
            Fact::Sends => text(list(&facts.sends)),
            Fact::Receives => text(list(&facts.receives)),
            Fact::Ranks => text(ranks(source, visit)),
            Fact::Zero => Value::Integer(0),
            Fact::Nothing if self.letter == b's' => Value::Text(Cow::Borrowed("")),
            Fact::Nothing => Value::Integer(-1),
        }
    }
}

/// Writes a value as its letter demands.
fn put(letter: u8, value: Value<'_>, info: &mut InfoWriter) {
    let integer = match &value {
        Value::Integer(number) => *number,
        Value::Real(number) => *number as i64,
        Value::Text(_) => -1,
    };
    match (letter, value) {
        (b's', Value::Text(text)) => _ = info.text(cut(&text)),
        (b's', Value::Integer(number)) => _ = info.text(number.to_string().as_bytes()),
        (b's', Value::Real(number)) => _ = info.text(number.to_string().as_bytes()),
        (b'd', _) => _ = info.int(i32::try_from(integer).unwrap_or(-1)),
        (b'E', Value::Real(number)) => _ = info.real(number),
        (b'E', _) => _ = info.real(integer as f64),
        _ => _ = info.long(integer),
    }
}

/// The beginning of a text, as far as an info has room.
pub(super) fn cut(text: &str) -> &[u8] {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text.as_bytes()[..end]
}
