//! Drawables to events.

use super::numbers::{EventNumber, StateNumbers, number};
use super::{HashMap, MAX_DEFINITIONS, Mpe1Event, RECEIVE, SEND, key};
use std::collections::HashSet;
use std::io::Write;
use trace_model::{
    Category, Definitions, Drawable, DrawablePoint, InfoValue, Losses, MessageInfo, PointKind,
    Points, Stop, Topology, info_values, message,
};

/// Takes drawables in order of start and gives their events in order of time.
#[derive(Debug)]
pub(crate) struct Emitter {
    points: Points,
    /// Findings about categories and lines.
    pub(crate) book: Book,
}

/// The numbers of categories and the places of lines.
#[derive(Debug)]
pub(crate) struct Book {
    /// The states.
    pub(crate) states: Vec<StateNumbers>,
    /// The events.
    pub(crate) events: Vec<EventNumber>,
    /// Count of what the target format cannot hold.
    pub(crate) losses: Losses,
    categories: HashMap<i32, NumberedCategory>,
    places: HashMap<i32, (i32, i32)>,
    /// By category, rank and thread the states that are open, in order of their starts.
    open: HashMap<(i32, i32, i32), Vec<u64>>,
    text: Vec<u8>,
    /// Bytes that a text may have.
    longest: usize,
}

#[derive(Debug)]
struct NumberedCategory {
    category: Category,
    /// Start and end event; of an arrow the events of a message.
    etypes: (i32, i32),
}

type EventOutput<'a> = &'a mut dyn FnMut(&Mpe1Event<'_>) -> Result<(), Stop>;

impl Emitter {
    /// Numbers the categories: see [`number`]. Values that would make a text longer than `longest` are left out.
    pub(crate) fn new(
        definitions: &Definitions,
        may_keep: fn(i32, i32) -> bool,
        longest: usize,
    ) -> Self {
        let mut losses = Losses::default();
        let (states, events) = number(definitions, may_keep, &mut losses);
        let mut etypes: HashMap<i32, (i32, i32)> = HashMap::default();
        etypes.extend(
            states
                .iter()
                .map(|state| (state.category, (state.start, state.end))),
        );
        etypes.extend(
            events
                .iter()
                .map(|event| (event.category, (event.etype, event.etype))),
        );
        let categories = definitions.categories.iter().map(|category| {
            let etypes = etypes.get(&category.index).copied();
            let kind = NumberedCategory {
                category: category.clone(),
                etypes: etypes.unwrap_or((SEND, RECEIVE)),
            };
            (category.index, kind)
        });
        let places = places(definitions);
        let all: HashSet<(i32, i32)> = places.values().copied().collect();
        for (what, count) in [
            (
                "rank or thread beyond the first 65536, which is not read back",
                all.len(),
            ),
            (
                "kind of state beyond the first 65536, which is not read back",
                states.len(),
            ),
            (
                "kind of event beyond the first 65536, which is not read back",
                events.len(),
            ),
        ] {
            losses.add(what, count.saturating_sub(MAX_DEFINITIONS) as u64);
        }
        Emitter {
            points: Points::default(),
            book: Book {
                categories: categories.collect(),
                states,
                events,
                losses,
                places,
                open: HashMap::default(),
                text: Vec::new(),
                longest,
            },
        }
    }

    /// Takes a drawable.
    ///
    /// # Errors
    /// The errors of `put`.
    pub(crate) fn push(
        &mut self,
        drawable: &Drawable<'_>,
        put: EventOutput<'_>,
    ) -> Result<(), Stop> {
        let Emitter { points, book } = self;
        if !book.accepts(drawable) {
            return Ok(());
        }
        points.push(drawable, &mut |point| book.event(point, put))
    }

    /// Gives the rest, and says what was lost.
    ///
    /// # Errors
    /// The errors of `put`.
    pub(crate) fn finish(self, put: EventOutput<'_>) -> Result<Book, Stop> {
        let Emitter { points, mut book } = self;
        points.finish(&mut |point| book.event(point, put))?;
        Ok(book)
    }
}

/// Rank and thread of each line. Lines of no rank get one behind all ranks.
fn places(definitions: &Definitions) -> HashMap<i32, (i32, i32)> {
    let highest = definitions.lines.iter().map(|line| line.rank).max();
    let mut next = highest.unwrap_or(-1).max(-1).saturating_add(1);
    let mut places = HashMap::default();
    for line in &definitions.lines {
        let rank = if line.rank >= 0 {
            line.rank
        } else {
            next = next.saturating_add(1);
            next - 1
        };
        places.insert(line.id, (rank, line.thread));
    }
    places
}

impl Book {
    /// The lines' ranks and threads.
    pub(crate) fn places(&self) -> impl Iterator<Item = (i32, i32)> {
        self.places.values().copied()
    }

    /// Rank and thread of this line.
    pub(crate) fn place(&self, line: i32) -> (i32, i32) {
        self.places.get(&line).copied().unwrap_or((line.max(0), 0))
    }

    fn accepts(&mut self, drawable: &Drawable<'_>) -> bool {
        let problem = match drawable.vertices {
            _ if !self.categories.contains_key(&drawable.category) => "drawable without a category",
            [first, last] if drawable.topology == Topology::State && first.line != last.line => {
                "state that begins on another line than it ends on"
            }
            [] => "drawable without a place",
            vertices if vertices.iter().any(|vertex| !vertex.time.is_finite()) => {
                "drawable at no finite time"
            }
            _ => return true,
        };
        self.losses.add(problem, 1);
        false
    }

    fn event(&mut self, point: &DrawablePoint, put: EventOutput<'_>) -> Result<(), Stop> {
        let Some(kind) = self.categories.get(&point.category) else {
            return Ok(());
        };
        let (rank, thread) = self.place(point.line);
        self.text.clear();
        let (etype, data) = match point.what {
            PointKind::Send | PointKind::Receive => {
                let (partner, _) = self.place(point.partner);
                let found = message(&kind.category, &point.info);
                if point.what == PointKind::Send && found.is_none() {
                    self.losses
                        .add("arrow without tag and size, written as a message", 1);
                }
                let MessageInfo { tag, size } = found.unwrap_or_default();
                // Writing to memory cannot fail.
                let _ = write!(self.text, "{tag} {size}");
                if self.text.len() > self.longest {
                    // Digits cut off would make another size.
                    self.text.clear();
                    let _ = write!(self.text, "{tag}");
                    self.losses
                        .add("size of a message whose tag and size do not fit", 1);
                }
                let etype = if point.what == PointKind::Send {
                    SEND
                } else {
                    RECEIVE
                };
                (etype, partner)
            }
            PointKind::Enter | PointKind::Leave | PointKind::At => {
                let is_end = point.what == PointKind::Leave;
                if point.what != PointKind::At {
                    let open = self.open.entry((point.category, rank, thread)).or_default();
                    // Readers take an end for that of the last start.
                    if !is_end {
                        open.push(point.drawable);
                    } else if open.pop() != Some(point.drawable) {
                        let what = "state that overlaps one of its own category on its line, ends exchanged";
                        self.losses.add(what, 1);
                    }
                }
                let (category, text) = (&kind.category, &mut self.text);
                let data = match is_made_of_events(category) {
                    true => values(category, &point.info, is_end, text),
                    false => {
                        if !is_end {
                            let left_out = describe(category, &point.info, self.longest, text);
                            self.losses
                                .add("value of an info that does not fit", left_out);
                        }
                        0
                    }
                };
                let (start, end) = kind.etypes;
                (if is_end { end } else { start }, data)
            }
        };
        put(&Mpe1Event {
            time: point.time,
            rank,
            thread,
            etype,
            data,
            text: &self.text,
        })
    }
}

/// Whether the infos of a category were made of events such as these, into which they go back.
fn is_made_of_events(category: &Category) -> bool {
    let ours = [key::DATA, key::END_DATA, key::TEXT, key::END_TEXT];
    let mut keys = category.info_keys.iter();
    keys.all(|key| ours.iter().any(|ours| plain(&key.0) == ours.as_bytes()))
}

/// Data and text of the start or the end event of a drawable: returns the data, and appends the text to `text`.
fn values(category: &Category, info: &[u8], is_end: bool, text: &mut Vec<u8>) -> i32 {
    let (data_key, text_key) = if is_end {
        (key::END_DATA, key::END_TEXT)
    } else {
        (key::DATA, key::TEXT)
    };
    let mut data = 0;
    for (key, value) in info_values(category, info) {
        match value {
            InfoValue::Integer(number) if plain(&key.0) == data_key.as_bytes() => {
                data = i32::try_from(number).unwrap_or_default();
            }
            InfoValue::Text(found) if plain(&key.0) == text_key.as_bytes() => {
                text.extend_from_slice(found);
            }
            _ => {}
        }
    }
    data
}

/// A key without the comma before it.
fn plain(key: &[u8]) -> &[u8] {
    key.strip_prefix(b", ").unwrap_or(key)
}

/// All values with their keys, as viewers show them; returns how many were left out. A number is never cut, since it
/// would be another number.
fn describe(category: &Category, info: &[u8], longest: usize, text: &mut Vec<u8>) -> u64 {
    let mut shown = 0;
    let mut left_out = 0;
    for (key, value) in info_values(category, info) {
        let before = text.len();
        let is_first = before == 0;
        text.extend_from_slice(if is_first { plain(&key.0) } else { &key.0 });
        // Writing to memory cannot fail.
        let _ = match value {
            InfoValue::Text(found) => text.write_all(found),
            InfoValue::Integer(number) => write!(text, "{number}"),
            InfoValue::Hex(number) => write!(text, "{number:x}"),
            InfoValue::Real(number) => write!(text, "{number}"),
        };
        if text.len() > longest && !matches!(value, InfoValue::Text(_)) {
            text.truncate(before);
            left_out += 1;
        }
        shown += 1;
    }
    if shown > 0
        && left_out == 0
        && let Some(last) = category.info_keys.get(shown)
    {
        text.extend_from_slice(&last.0);
    }
    left_out
}
