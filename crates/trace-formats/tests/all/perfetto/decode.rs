//! A decoder of Perfetto's traces that shares nothing with the writer: the wire format, and the messages as Perfetto's public
//! definitions declare them.

use std::fmt::Write as _;

/// Type of a field.
#[derive(Clone, Copy)]
pub enum FieldKind {
    Uint,
    Int,
    Bool,
    Fixed,
    Double,
    Text,
    Enum(&'static [&'static str]),
    Message(&'static MessageKind),
}

/// A message: its fields by number.
pub struct MessageKind(&'static [(u64, &'static str, FieldKind)]);

use FieldKind::{Bool, Double, Enum, Fixed, Int, Message, Text, Uint};

const INTERNED: MessageKind = MessageKind(&[(1, "iid", Uint), (2, "name", Text)]);
const INTERNED_STRING: MessageKind = MessageKind(&[(1, "iid", Uint), (2, "str", Text)]);
const INTERNED_DATA: MessageKind = MessageKind(&[
    (1, "event_categories", Message(&INTERNED)),
    (2, "event_names", Message(&INTERNED)),
    (3, "debug_annotation_names", Message(&INTERNED)),
    (
        29,
        "debug_annotation_string_values",
        Message(&INTERNED_STRING),
    ),
]);
const DEBUG_ANNOTATION: MessageKind = MessageKind(&[
    (1, "name_iid", Uint),
    (2, "bool_value", Bool),
    (3, "uint_value", Uint),
    (4, "int_value", Int),
    (5, "double_value", Double),
    (6, "string_value", Text),
    (7, "pointer_value", Uint),
    (10, "name", Text),
    (17, "string_value_iid", Uint),
]);
const EVENT_TYPES: &[&str] = &[
    "TYPE_UNSPECIFIED",
    "TYPE_SLICE_BEGIN",
    "TYPE_SLICE_END",
    "TYPE_INSTANT",
    "TYPE_COUNTER",
];
const TRACK_EVENT: MessageKind = MessageKind(&[
    (3, "category_iids", Uint),
    (4, "debug_annotations", Message(&DEBUG_ANNOTATION)),
    (9, "type", Enum(EVENT_TYPES)),
    (10, "name_iid", Uint),
    (11, "track_uuid", Uint),
    (22, "categories", Text),
    (23, "name", Text),
    (30, "counter_value", Int),
    (44, "double_counter_value", Double),
    (47, "flow_ids", Fixed),
    (48, "terminating_flow_ids", Fixed),
]);
const PROCESS: MessageKind = MessageKind(&[
    (1, "pid", Int),
    (6, "process_name", Text),
    (8, "process_labels", Text),
]);
const THREAD: MessageKind =
    MessageKind(&[(1, "pid", Int), (2, "tid", Int), (5, "thread_name", Text)]);
const UNITS: &[&str] = &[
    "UNIT_UNSPECIFIED",
    "UNIT_TIME_NS",
    "UNIT_COUNT",
    "UNIT_SIZE_BYTES",
];
const COUNTER: MessageKind = MessageKind(&[(3, "unit", Enum(UNITS)), (6, "unit_name", Text)]);
const ORDERINGS: &[&str] = &["UNKNOWN", "LEXICOGRAPHIC", "CHRONOLOGICAL", "EXPLICIT"];
const PROCESS_ORDERINGS: &[&str] = &["PROCESS_ORDERING_UNSPECIFIED", "PROCESS_ORDERING_EXPLICIT"];
const THREAD_ORDERINGS: &[&str] = &["THREAD_ORDERING_UNSPECIFIED", "THREAD_ORDERING_EXPLICIT"];
const TRACK_DESCRIPTOR: MessageKind = MessageKind(&[
    (1, "uuid", Uint),
    (2, "name", Text),
    (3, "process", Message(&PROCESS)),
    (4, "thread", Message(&THREAD)),
    (5, "parent_uuid", Uint),
    (8, "counter", Message(&COUNTER)),
    (11, "child_ordering", Enum(ORDERINGS)),
    (12, "sibling_order_rank", Int),
    (19, "process_ordering", Enum(PROCESS_ORDERINGS)),
    (20, "thread_ordering", Enum(THREAD_ORDERINGS)),
]);
const PACKET: MessageKind = MessageKind(&[
    (8, "timestamp", Uint),
    (10, "trusted_packet_sequence_id", Uint),
    (11, "track_event", Message(&TRACK_EVENT)),
    (12, "interned_data", Message(&INTERNED_DATA)),
    (13, "sequence_flags", Uint),
    (60, "track_descriptor", Message(&TRACK_DESCRIPTOR)),
    (87, "first_packet_on_sequence", Bool),
]);
const TRACE: MessageKind = MessageKind(&[(1, "packet", Message(&PACKET))]);

/// A value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(u64),
    Signed(i64),
    Real(f64),
    Flag(bool),
    Word(&'static str),
    Text(String),
    Message(Decoded),
}

/// A message: its fields in the order of their numbers, as the text format of protocol buffers has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    fields: Vec<(u64, &'static str, Value)>,
}

/// The packets of a trace. Panics where it is not what the definitions declare.
pub fn packets(trace: &[u8]) -> Vec<Decoded> {
    let packets = decode(trace, &TRACE).fields.into_iter();
    packets
        .map(|(_, _, value)| match value {
            Value::Message(packet) => packet,
            other => panic!("a packet, not {other:?}"),
        })
        .collect()
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a number that ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at_checked(count).expect("enough bytes");
    *bytes = rest;
    taken
}

fn decode(mut bytes: &[u8], kind: &MessageKind) -> Decoded {
    let mut decoded = Decoded::default();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let (number, wire) = (tag >> 3, tag & 7);
        let declared = kind.0.iter().find(|declared| declared.0 == number);
        let &(_, name, field) = declared.unwrap_or_else(|| panic!("no field {number}"));
        let value = match (wire, field) {
            (0, Uint) => Value::Number(varint(&mut bytes)),
            (0, Int) => Value::Signed(varint(&mut bytes) as i64),
            (0, Bool) => Value::Flag(varint(&mut bytes) != 0),
            (0, Enum(words)) => Value::Word(words[varint(&mut bytes) as usize]),
            (1, Fixed | Double) => {
                let bytes = take(&mut bytes, 8).try_into().expect("eight bytes");
                match field {
                    Double => Value::Real(f64::from_le_bytes(bytes)),
                    _ => Value::Number(u64::from_le_bytes(bytes)),
                }
            }
            (2, Text | Message(_)) => {
                let length = varint(&mut bytes) as usize;
                let content = take(&mut bytes, length);
                match field {
                    Message(kind) => Value::Message(decode(content, kind)),
                    _ => Value::Text(String::from_utf8(content.to_vec()).expect("UTF-8")),
                }
            }
            _ => panic!("field {name} with wire type {wire}"),
        };
        decoded.fields.push((number, name, value));
    }
    decoded.fields.sort_by_key(|field| field.0);
    decoded
}

impl Decoded {
    /// All values of a field.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &Value> {
        let named = self.fields.iter().filter(move |field| field.1 == name);
        named.map(|field| &field.2)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.all(name).next()
    }

    pub fn message(&self, name: &str) -> Option<&Decoded> {
        match self.get(name)? {
            Value::Message(message) => Some(message),
            other => panic!("a message {name}, not {other:?}"),
        }
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Value::Number(number) => Some(*number),
            other => panic!("a number {name}, not {other:?}"),
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(text) => Some(text),
            other => panic!("a text {name}, not {other:?}"),
        }
    }

    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Word(word) => Some(word),
            other => panic!("a word {name}, not {other:?}"),
        }
    }

    /// The message in the text format of protocol buffers.
    pub fn print(&self, depth: usize, out: &mut String) {
        for (_, name, value) in &self.fields {
            let indent = "  ".repeat(depth);
            let _ = match value {
                Value::Number(number) => writeln!(out, "{indent}{name}: {number}"),
                Value::Signed(number) => writeln!(out, "{indent}{name}: {number}"),
                Value::Real(number) => writeln!(out, "{indent}{name}: {number}"),
                Value::Flag(flag) => writeln!(out, "{indent}{name}: {flag}"),
                Value::Word(word) => writeln!(out, "{indent}{name}: {word}"),
                Value::Text(text) => writeln!(out, "{indent}{name}: {text:?}"),
                Value::Message(message) => {
                    let _ = writeln!(out, "{indent}{name} {{");
                    message.print(depth + 1, out);
                    writeln!(out, "{indent}}}")
                }
            };
        }
    }
}
