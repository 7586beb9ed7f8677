//! Categories as kinds of records.

use super::super::key::{Bebits, RecordKey};
use super::super::labels;
use super::super::profile;
use super::super::record::{ARROW, STATE};
use super::super::source::{category_index, contains};
use super::super::types::Display;
use super::super::write::RecordKind;
use crate::mpe1::look;
use std::collections::{HashMap, HashSet};
use trace_model::{Category, Color, Losses, Text, Topology};

/// First type of arrows that have none of their own: that of `clog2slog` for messages.
const FIRST_ARROW: u16 = super::super::from_clog1::FORWARD;
/// The type that fills room for entries to come, which no record may have.
const SPARE: u16 = u16::MAX;

/// Form of the records of a category.
pub(super) struct RecordForm {
    pub(super) category: Category,
    /// Arguments of each record.
    pub(super) arguments: usize,
    forward: RecordKey,
    /// Key of arrows whose end comes before their start.
    backward: RecordKey,
}

impl RecordForm {
    pub(super) fn is_arrow(&self) -> bool {
        self.category.topology == Topology::Arrow
    }

    /// Record type and key.
    pub(super) fn record(&self, is_backward: bool) -> (u16, RecordKey) {
        match (self.is_arrow(), is_backward) {
            (true, true) => (ARROW, self.backward),
            (true, false) => (ARROW, self.forward),
            _ => (STATE, self.forward),
        }
    }
}

/// All kinds of records that a file may have.
pub(super) struct Kinds {
    pub(super) table: Vec<RecordKind>,
    /// Whether there are fewer types than categories need.
    pub(super) lacks_types: bool,
    shapes: HashMap<i32, RecordForm>,
}

impl Kinds {
    /// A category keeps its index as type, and one of a piece of an interval its piece, so that what was an SLOG-1 file
    /// becomes the same again. Arrows have two types, told apart by the words "forward" and "backward", by which
    /// Jumpshot-3 knows them.
    pub(super) fn new(categories: &[Category], losses: &mut Losses) -> Self {
        let real: Vec<&Category> = categories.iter().filter(|c| c.index >= 0).collect();
        let mut types = Types::new(&real);
        let mut kinds = Kinds {
            table: Vec::new(),
            lacks_types: false,
            shapes: HashMap::new(),
        };
        let mut made = HashSet::new();
        for &category in &real {
            let names = labels::names(category);
            let mut add = |key: RecordKey, name: Text, color: &str| {
                if made.insert(key) {
                    let display = Display {
                        key,
                        class: class(category.topology).into(),
                        label: name,
                        color: color.into(),
                        arguments: (!names.is_empty()).then(|| names.clone()),
                    };
                    let associations = 0;
                    kinds.table.push(RecordKind {
                        display,
                        associations,
                    });
                }
            };
            let (color, is_exact) = look::name(category.color);
            losses.add(
                "colour, for which the nearest is taken",
                u64::from(!is_exact),
            );
            let name = &category.name;
            let is_cut = profile::string(&profile::field(&name.0)) != name.0;
            losses.add("end of the name of a category", u64::from(is_cut));
            let own = types.own(category);
            let (forward, backward) = if category.topology != Topology::Arrow {
                add(own, name.clone(), color);
                (own, own)
            } else if let Some(is_backward) = direction(category) {
                add(own, name.clone(), color);
                let other = match counterpart(category, &real) {
                    Some(other) => types.own(other),
                    None => {
                        let other = types.next();
                        add(other, turned(name, is_backward), color);
                        other
                    }
                };
                if is_backward {
                    (other, own)
                } else {
                    (own, other)
                }
            } else {
                let (forward, backward) = (types.next(), types.next());
                if *name == Category::message().name && category.color == Color::WHITE {
                    // As clog2slog has them.
                    add(forward, "forward arrow".into(), "white");
                    add(backward, "backward arrow".into(), "grey");
                } else {
                    add(forward, named(name, " forward"), color);
                    add(backward, named(name, " backward"), color);
                }
                (forward, backward)
            };
            let shape = RecordForm {
                arguments: names.len(),
                category: category.clone(),
                forward,
                backward,
            };
            kinds.shapes.insert(category.index, shape);
        }
        kinds.lacks_types = types.is_used_up;
        kinds
    }

    /// The shape of the drawables of this category.
    pub(super) fn shape(&self, category: i32) -> Option<&RecordForm> {
        self.shapes.get(&category)
    }
}

fn class(topology: Topology) -> &'static str {
    match topology {
        Topology::State => "state",
        Topology::Event => "event",
        Topology::Arrow => "message",
    }
}

/// Whether the name of arrows says that they go backward, if it tells.
fn direction(category: &Category) -> Option<bool> {
    let name = &category.name.0;
    match (contains(name, b"forward"), contains(name, b"backward")) {
        (true, false) => Some(false),
        (false, true) => Some(true),
        _ => None,
    }
}

/// The arrows that are named and made as these but go the other way.
fn counterpart<'c>(category: &Category, all: &[&'c Category]) -> Option<&'c Category> {
    let is_backward = direction(category)?;
    let name = turned(&category.name, is_backward);
    let is_it = |other: &&&Category| {
        other.topology == Topology::Arrow
            && other.name.0.eq_ignore_ascii_case(&name.0)
            && labels::names(other) == labels::names(category)
    };
    all.iter().find(is_it).copied()
}

/// The name with the word for the other direction in it.
fn turned(name: &Text, is_backward: bool) -> Text {
    let words: [(&str, &str); 2] = [("forward", "backward"), ("Forward", "Backward")];
    let mut text = name.0.clone();
    for (forward, backward) in words {
        let (from, to) = if is_backward {
            (backward, forward)
        } else {
            (forward, backward)
        };
        if let Some(at) = find(&text, from.as_bytes()) {
            text.splice(at..at + from.len(), to.bytes());
            return Text(text);
        }
    }
    // The word is there in other letters.
    named(name, if is_backward { " forward" } else { " backward" })
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|part| part == word)
}

/// The name with something behind it, cut so that both fit into a label.
fn named(name: &Text, ending: &str) -> Text {
    const LONGEST: usize = 33;
    let stem = &name.0[..name.0.len().min(LONGEST - ending.len())];
    Text([stem, ending.as_bytes()].concat())
}

/// Gives out types.
struct Types {
    used: HashSet<u16>,
    own: HashMap<i32, RecordKey>,
    next: u16,
    is_used_up: bool,
}

impl Types {
    fn new(categories: &[&Category]) -> Self {
        let mut types = Types {
            used: categories.iter().map(|c| c.index as u16).collect(),
            own: HashMap::new(),
            next: FIRST_ARROW,
            is_used_up: false,
        };
        types.used.insert(SPARE);
        for category in categories {
            let piece = usize::try_from(category.index >> 16).unwrap_or(usize::MAX);
            let pieces = [
                Bebits::WHOLE,
                Bebits::ALL[0],
                Bebits::ALL[1],
                Bebits::ALL[2],
            ];
            let intvltype = category.index as u16;
            let key = match pieces.get(piece) {
                Some(&bebits) if intvltype != SPARE => RecordKey { intvltype, bebits },
                _ => RecordKey::whole(types.unused()),
            };
            debug_assert!(piece > 3 || intvltype == SPARE || category_index(key) == category.index);
            types.own.insert(category.index, key);
        }
        types
    }

    fn own(&self, category: &Category) -> RecordKey {
        let key = self.own.get(&category.index).copied();
        key.unwrap_or(RecordKey::whole(0))
    }

    fn next(&mut self) -> RecordKey {
        RecordKey::whole(self.unused())
    }

    /// A type that no category has; when all are used, the last one again.
    fn unused(&mut self) -> u16 {
        for _ in 0..=u16::MAX {
            let found = self.next;
            self.next = self.next.wrapping_add(1);
            if self.used.insert(found) {
                return found;
            }
        }
        self.is_used_up = true;
        SPARE - 1
    }
}
