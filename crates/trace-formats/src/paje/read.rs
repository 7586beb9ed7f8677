//! Reader of events: lines, event definitions, files that name others (`spec/paje.md` sections 1 to 3 and 8).

use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::error::{PajeError, PajeErrorKind, Problem};
use super::line::{self, ValueSpan};
use super::names::{EventName, FIELDS, FieldType, KnownField};
use super::number;

/// The bytes of a trace, and of the files that it names in `PajeTraceFile`.
pub struct PajeTrace<'a> {
    parts: Vec<TracePart<'a>>,
}

struct TracePart<'a> {
    bytes: Box<dyn Deref<Target = [u8]> + 'a>,
    named: HashMap<Vec<u8>, usize>,
}

impl<'a> PajeTrace<'a> {
    /// A trace in one file.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut trace = PajeTrace { parts: Vec::new() };
        trace.add(bytes);
        trace
    }

    /// Adds a file that one of the parts names; returns its number. Part 0 is the trace itself.
    pub fn add(&mut self, bytes: impl Deref<Target = [u8]> + 'a) -> usize {
        let (bytes, named) = (Box::new(bytes), HashMap::new());
        self.parts.push(TracePart { bytes, named });
        self.parts.len() - 1
    }

    /// Says that part `by` calls this part so. No part is read a second time, however often it is named.
    pub fn link(&mut self, by: usize, name: &[u8], part: usize) {
        if let Some(by) = self.parts.get_mut(by) {
            by.named.insert(name.to_vec(), part);
        }
    }

    /// True if it begins with an event definition, be it after comments.
    pub fn recognises(bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let mut tokens = Vec::new();
        while !rest.is_empty() {
            let line = line::first_line(rest);
            rest = &rest[line.len()..];
            // Only what a comment may be long for is looked at further.
            match line::split(line, &mut tokens) {
                Ok(()) if tokens.is_empty() => continue,
                Ok(()) => return definition_word(line, &tokens).0 == b"EventDef",
                Err(_) => return false,
            }
        }
        false
    }

    /// The files that `PajeTraceFile` events name and that are not part of the trace yet: which part names them, and how;
    /// up to where the trace cannot be read.
    pub fn missing_files(&self) -> Vec<(usize, Vec<u8>)> {
        let mut missing = Vec::new();
        let named = |part: &TracePart<'_>| part.bytes.windows(13).any(|w| w == b"PajeTraceFile");
        if !self.parts.iter().any(named) {
            return missing;
        }
        let mut reader = PajeReader::new(self);
        while let Ok(Some(event)) = reader.next() {
            if event.definition.event == EventName::TraceFile {
                let part = event.place.part as usize;
                let name = event.field(KnownField::Filename);
                if !self.parts[part].named.contains_key(name) {
                    missing.push((part, name.to_vec()));
                }
            }
        }
        missing
    }

    /// Reads the event at a place that a reader told, and gives it to `use_event`.
    ///
    /// # Errors
    /// None that reading it the first time would not have given.
    pub fn event_at(
        &self,
        place: EventPosition,
        definition: &Rc<EventDefinition>,
        tokens: &mut Vec<ValueSpan>,
        use_event: &mut dyn FnMut(&PajeEvent<'_>),
    ) -> Result<(), PajeError> {
        let part = self.parts.get(place.part as usize);
        let from = usize::try_from(place.offset).unwrap_or(usize::MAX);
        let rest = part.and_then(|part| part.bytes.get(from..));
        let line = line::first_line(rest.unwrap_or_default());
        let mut event = PajeEvent {
            definition,
            place,
            number: 0,
            cut: false,
            line,
            tokens: &[],
        };
        line::split(line, tokens).map_err(|problem| event.fault(problem))?;
        event.tokens = tokens;
        use_event(&event);
        Ok(())
    }
}

/// Position of an event and its definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPosition {
    /// The file: 0 the trace itself.
    pub part: u32,
    /// Number of the definition in the reader.
    pub definition: u32,
    /// Byte of the file at which its line begins.
    pub offset: u64,
}

/// An event definition.
#[derive(Clone, Debug)]
pub struct EventDefinition {
    /// The event.
    pub event: EventName,
    /// Name of the event as written.
    pub name: Vec<u8>,
    /// The fields, without the number of the definition.
    pub fields: Vec<FieldDefinition>,
    /// Position of each known field.
    places: [u8; FIELDS],
}

/// A field of an event definition.
#[derive(Clone, Debug)]
pub struct FieldDefinition {
    /// Name of the field as written.
    pub name: Vec<u8>,
    /// Meaning of the field; `None` for a field of the user's own.
    pub field: Option<KnownField>,
    /// Type of the field's values.
    pub kind: FieldType,
}

const NOWHERE: u8 = u8::MAX;

impl EventDefinition {
    /// The fields of the user's own, with their places among the values.
    pub fn user_fields(&self) -> impl Iterator<Item = (usize, &FieldDefinition)> {
        let all = self.fields.iter().enumerate();
        all.filter(|(_, field)| field.field.is_none())
    }

    /// True if it has this field.
    pub fn has(&self, field: KnownField) -> bool {
        self.places[field as usize] != NOWHERE
    }
}

/// An event: a line of the second part of a trace.
#[derive(Clone, Copy, Debug)]
pub struct PajeEvent<'r> {
    /// Definition of the event.
    pub definition: &'r Rc<EventDefinition>,
    /// Position and definition of the event.
    pub place: EventPosition,
    number: u64,
    cut: bool,
    line: &'r [u8],
    tokens: &'r [ValueSpan],
}

impl<'r> PajeEvent<'r> {
    /// The value of a field; empty if the definition has none such.
    pub fn field(&self, field: KnownField) -> &'r [u8] {
        match self.definition.places[field as usize] {
            NOWHERE => &[],
            at => self.value(usize::from(at)),
        }
    }

    /// The value of the field at this place of the definition.
    pub fn value(&self, at: usize) -> &'r [u8] {
        let token = self.tokens.get(at + 1).copied();
        token.unwrap_or_default().of(self.line)
    }

    /// Values beyond the fields of the definition.
    pub fn surplus(&self) -> usize {
        self.tokens
            .len()
            .saturating_sub(1 + self.definition.fields.len())
    }

    /// Time of the event in seconds; `None` if its definition has none.
    ///
    /// # Errors
    /// The field is no number.
    pub fn time(&self) -> Result<Option<f64>, PajeError> {
        if !self.definition.has(KnownField::Time) {
            return Ok(None);
        }
        let text = self.field(KnownField::Time);
        match number::time(text) {
            Some(time) => Ok(Some(time)),
            None => Err(self.fault(Problem::Value {
                field: KnownField::Time,
                expected: "a number of seconds",
                found: shown(text),
            })),
        }
    }

    /// An error about this event.
    pub fn fault(&self, problem: Problem) -> PajeError {
        fault(self.place.offset, self.number, self.cut, problem)
    }
}

fn fault(offset: u64, line: u64, cut: bool, problem: Problem) -> PajeError {
    PajeError::new(offset, PajeErrorKind { line, cut, problem })
}

/// A value in a message, cut to 64 characters.
pub fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(&value[..value.len().min(256)]);
    text.chars().take(64).collect()
}

/// Reads the events of a trace one after the other. In memory are the event definitions.
pub struct PajeReader<'t, 'a> {
    trace: &'t PajeTrace<'a>,
    open: Vec<OpenPart>,
    /// Parts that have been begun; none is read twice.
    begun: Vec<bool>,
    definitions: Vec<Rc<EventDefinition>>,
    tokens: Vec<ValueSpan>,
    missing_files: u64,
}

/// A part that is being read.
#[derive(Debug)]
struct OpenPart {
    part: usize,
    offset: usize,
    /// Lines read.
    line: u64,
    /// Definitions by number as written. A file that another one names begins with those of that one.
    numbers: Rc<HashMap<Vec<u8>, u32, RandomState>>,
    /// Definitions that stand in this file itself, whose numbers are taken.
    own: HashMap<Vec<u8>, (), RandomState>,
    /// The definition that is being read: its number as written.
    defining: Option<(Vec<u8>, EventDefinition)>,
    started: bool,
}

impl<'t, 'a> PajeReader<'t, 'a> {
    /// A reader at the beginning of the trace.
    pub fn new(trace: &'t PajeTrace<'a>) -> Self {
        let mut begun = vec![false; trace.parts.len()];
        begun[0] = true;
        PajeReader {
            trace,
            open: vec![OpenPart::new(0, Rc::default())],
            begun,
            definitions: Vec::new(),
            tokens: Vec::new(),
            missing_files: 0,
        }
    }

    /// The definitions met so far, by the numbers in [`EventPosition`].
    pub fn definitions(&self) -> &[Rc<EventDefinition>] {
        &self.definitions
    }

    /// Number of files that the trace names and that are missing.
    pub fn missing_files(&self) -> u64 {
        self.missing_files
    }

    /// The next event. `PajeTraceFile` is given, too, before the events of its file.
    ///
    /// # Errors
    /// The line is no event, or its event has no definition or not enough values.
    #[allow(clippy::should_implement_trait)] // the event is lent
    pub fn next(&mut self) -> Result<Option<PajeEvent<'_>>, PajeError> {
        loop {
            let Some(open) = self.open.last_mut() else {
                return Ok(None);
            };
            let part = open.part;
            let bytes: &'t [u8] = &self.trace.parts[part].bytes;
            let Some(rest) = bytes.get(open.offset..).filter(|rest| !rest.is_empty()) else {
                let end = (bytes.len() as u64, open.line, open.started);
                let defining = open.defining.is_some();
                self.open.pop();
                if defining {
                    return Err(fault(end.0, end.1, false, Problem::OpenDefinition));
                }
                if part == 0 && !end.2 {
                    return Err(fault(end.0, end.1.max(1), false, Problem::NotPaje));
                }
                continue;
            };
            let line = line::first_line(rest);
            let offset = open.offset as u64;
            open.offset += line.len();
            open.line += 1;
            let (number, cut) = (open.line, !line.ends_with(b"\n"));
            let fail = |problem| fault(offset, number, cut, problem);
            line::split(line, &mut self.tokens).map_err(fail)?;
            let Some(first) = self.tokens.first() else {
                continue;
            };
            let first = first.of(line);
            if first.starts_with(b"%") {
                self.define(line).map_err(fail)?;
                continue;
            }
            if open.defining.is_some() {
                return Err(fail(Problem::Definition {
                    expected: "a field or %EndEventDef",
                    found: shown(first),
                }));
            }
            if !open.started && part == 0 {
                return Err(fail(Problem::NotPaje));
            }
            let Some(&definition) = open.numbers.get(first) else {
                return Err(fail(Problem::UnknownEvent(shown(first))));
            };
            let known = &self.definitions[definition as usize];
            let (expected, found) = (known.fields.len(), self.tokens.len() - 1);
            if found < expected {
                return Err(fail(Problem::FewValues { expected, found }));
            }
            let is_file = known.event == EventName::TraceFile;
            if is_file {
                self.enter(line, definition);
            }
            return Ok(Some(PajeEvent {
                definition: &self.definitions[definition as usize],
                place: EventPosition {
                    // Files are counted by the caller's memory, definitions by lines of at least 16 bytes in files
                    // whose events could not be told apart if they had more.
                    part: part as u32,
                    definition,
                    offset,
                },
                number,
                cut,
                line,
                tokens: &self.tokens,
            }));
        }
    }

    /// Goes on in the file that a `PajeTraceFile` names.
    fn enter(&mut self, line: &[u8], definition: u32) {
        let at = self.definitions[definition as usize].places[KnownField::Filename as usize];
        let token = self.tokens.get(usize::from(at) + 1).copied();
        let name = token.unwrap_or_default().of(line);
        let Some(open) = self.open.last() else {
            return;
        };
        match self.trace.parts[open.part].named.get(name) {
            None => self.missing_files += 1,
            Some(&part) if !self.begun[part] => {
                self.begun[part] = true;
                let numbers = open.numbers.clone();
                self.open.push(OpenPart::new(part, numbers));
            }
            Some(_) => {}
        }
    }

    /// A line that begins with `%`.
    fn define(&mut self, line: &[u8]) -> Result<(), Problem> {
        let Some(open) = self.open.last_mut() else {
            return Ok(());
        };
        let (word, rest) = definition_word(line, &self.tokens);
        let rest: Vec<&[u8]> = rest.iter().map(|token| token.of(line)).collect();
        let found = || shown(line.trim_ascii());
        let Some((id, mut definition)) = open.defining.take() else {
            let problem = match (word, rest.as_slice()) {
                (b"EventDef", &[name, id]) => {
                    if open.own.contains_key(id) {
                        return Err(Problem::DefinitionTaken(shown(id)));
                    }
                    open.started = true;
                    open.defining = Some((id.to_vec(), EventDefinition::begin(name)));
                    return Ok(());
                }
                _ if !open.started && open.part == 0 => Problem::NotPaje,
                _ => Problem::Definition {
                    expected: "%EventDef <event name> <number>",
                    found: found(),
                },
            };
            return Err(problem);
        };
        match (word, rest.as_slice()) {
            (b"EndEventDef", []) => {
                let needed = definition.event.obligatory();
                if let Some(&field) = needed.iter().find(|&&field| !definition.has(field)) {
                    return Err(Problem::FieldMissing(definition.event, field));
                }
                let number = self.definitions.len() as u32;
                self.definitions.push(Rc::new(definition));
                Rc::make_mut(&mut open.numbers).insert(id.clone(), number);
                open.own.insert(id, ());
                Ok(())
            }
            (b"", _) | (b"EventDef", _) | (b"EndEventDef", _) => Err(Problem::Definition {
                expected: "a field or %EndEventDef",
                found: found(),
            }),
            (name, &[kind]) => {
                definition.add(name, kind)?;
                open.defining = Some((id, definition));
                Ok(())
            }
            _ => Err(Problem::Definition {
                expected: "% <field name> <field type>",
                found: found(),
            }),
        }
    }
}

impl OpenPart {
    fn new(part: usize, numbers: Rc<HashMap<Vec<u8>, u32, RandomState>>) -> Self {
        OpenPart {
            part,
            offset: 0,
            line: 0,
            numbers,
            own: HashMap::default(),
            defining: None,
            started: false,
        }
    }
}

impl EventDefinition {
    fn begin(name: &[u8]) -> Self {
        EventDefinition {
            event: EventName::from_bytes(name),
            name: name.to_vec(),
            fields: Vec::new(),
            places: [NOWHERE; FIELDS],
        }
    }

    fn add(&mut self, name: &[u8], kind: &[u8]) -> Result<(), Problem> {
        let Some(kind) = FieldType::from_bytes(kind) else {
            return Err(Problem::FieldType(shown(kind)));
        };
        let at = self.fields.len();
        if at + 1 >= line::MAX_VALUES {
            return Err(Problem::ManyValues);
        }
        let field = KnownField::from_bytes(name);
        if let Some(field) = field {
            let place = &mut self.places[field as usize];
            if *place != NOWHERE {
                return Err(Problem::FieldTwice(shown(name)));
            }
            // At most 64.
            *place = at as u8;
        }
        let name = name.to_vec();
        self.fields.push(FieldDefinition { name, field, kind });
        Ok(())
    }
}

/// The word behind the `%` of a line, with which it may be one or not, and what follows.
pub fn definition_word<'l>(line: &'l [u8], tokens: &'l [ValueSpan]) -> (&'l [u8], &'l [ValueSpan]) {
    match tokens {
        [first, rest @ ..] => match (first.of(line), rest) {
            (b"%", [word, rest @ ..]) => (word.of(line), rest),
            ([b'%', word @ ..], rest) => (word, rest),
            _ => (b"", rest),
        },
        [] => (b"", &[]),
    }
}
