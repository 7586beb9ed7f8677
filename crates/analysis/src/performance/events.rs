//! Drawables, which come in order of their beginnings, as events in order of time: states begin and end, messages leave and arrive.
//!
//! That needs nothing of what an analysis finds, so another thread may do it: it puts events into an [`EventBatch`], and who takes that knows which
//! lanes come next.

use super::chosen_values::ChosenValues;
use super::clocks::{earlier_of, later_of};
use super::ending::{Ending, Endings};
use super::lane::LineUse;
use super::role::CategoryRole;
use trace_model::{
    Category, CommNames, Drawable, InfoValue, MessageField, NumberMap, TimeBBox, Topology,
};

/// Something that happens at a time. Times are seconds since the log's time zero.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The trace begins.
    Begin { time: f64 },
    /// A state begins.
    Enter(StateBegin),
    /// A drawable begins that tells of a file, whatever else it is. `line` is the number of the line of its first vertex.
    Tell {
        time: f64,
        end: f64,
        line: i32,
        category: u32,
        info: InfoPlace,
    },
    /// The state with this serial number ends.
    Leave { time: f64, lane: u32, serial: u64 },
    /// A message leaves, and has a place until it arrives.
    Send {
        time: f64,
        from: u32,
        to: u32,
        place: u32,
        /// Places of the lines that it leaves, and that it arrives at.
        lines: [u32; 2],
        /// Tag of the message; negative if that is not known.
        tag: i32,
        /// Bytes of the message; `None` if they are not known.
        bytes: Option<u64>,
    },
    /// The message at this place arrives.
    Receive { time: f64, place: u32 },
}

impl Event {
    /// The lane of which the event needs most; `None` if only the message tells.
    pub(super) fn lane(&self) -> Option<u32> {
        match *self {
            Event::Enter(StateBegin { lane, .. }) | Event::Leave { lane, .. } => Some(lane),
            Event::Send { from, .. } => Some(from),
            Event::Begin { .. } | Event::Tell { .. } | Event::Receive { .. } => None,
        }
    }
}

/// A state that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateBegin {
    pub time: f64,
    pub end: f64,
    /// Number of the state in order of beginnings, from 1.
    pub serial: u64,
    /// Place of the state's line among the lines of ranks.
    pub line: u32,
    pub lane: u32,
    pub category: u32,
    pub info: InfoPlace,
}

/// Where the info of a drawable is in the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct InfoPlace {
    at: u32,
    length: u32,
}

/// Events in order of time, with the infos of drawables.
#[derive(Debug, Default)]
pub(super) struct EventBatch {
    pub events: Vec<Event>,
    infos: Vec<u8>,
}

impl EventBatch {
    /// Events after which a batch is handed on: as many as stay in a processor's own cache.
    const ENOUGH: usize = 2048;
    /// Bytes of infos after which a batch is handed on.
    const ENOUGH_INFO: usize = 1 << 16;

    /// Whether the batch is to be handed on.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= EventBatch::ENOUGH || self.infos.len() >= EventBatch::ENOUGH_INFO
    }

    pub(super) fn info(&self, place: InfoPlace) -> &[u8] {
        let at = place.at as usize;
        self.infos
            .get(at..at + place.length as usize)
            .unwrap_or_default()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.infos.clear();
    }

    fn keep(&mut self, info: &[u8]) -> InfoPlace {
        let at = self.infos.len() as u32;
        self.infos.extend_from_slice(info);
        let length = info.len() as u32;
        InfoPlace { at, length }
    }
}

/// Counts of the drawables that were taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DrawableCounts {
    pub all: u64,
    pub messages: u64,
    pub message_bytes: u64,
    pub large_messages: u64,
    pub backward_messages: u64,
    pub out_of_order: u64,
    pub without_time: u64,
}

/// A message that begins at the time that is looked at, but after the states that begin then.
#[derive(Clone, Copy, Debug)]
struct HeldMessage {
    from: u32,
    to: u32,
    end: f64,
    lines: [u32; 2],
    tag: i32,
    bytes: Option<u64>,
}

/// A category, and what becomes of its drawables.
#[derive(Clone, Copy, Debug)]
pub(super) struct CategoryUse<'a> {
    pub category: &'a Category,
    pub role: CategoryRole,
    /// Whether each drawable tells of a file.
    pub tells: bool,
    /// Whether the info of its states is read.
    pub has_info: bool,
}

/// Puts what drawables are made of into the order of time.
#[derive(Debug)]
pub(super) struct EventOrder<'a> {
    categories: Vec<CategoryUse<'a>>,
    /// Tag and size of messages, by category.
    message_values: Vec<ChosenValues<MessageField>>,
    category_places: NumberMap<u32>,
    /// Places of lines, and their lanes, by the numbers of the lines.
    lines: NumberMap<(u32, u32)>,
    endings: Endings,
    held: Vec<HeldMessage>,
    /// Places of messages that have arrived.
    free: Vec<u32>,
    /// Places of messages in all.
    places: u32,
    now: f64,
    /// States that have begun so far.
    serial: u64,
    /// Messages that have left so far.
    sent: u64,
    pub counts: DrawableCounts,
    pub comm_names: CommNames,
    pub bounds: TimeBBox,
}

impl<'a> EventOrder<'a> {
    /// For a trace with these lines of ranks and categories.
    pub(super) fn new(
        lines: &[LineUse],
        categories: impl Iterator<Item = CategoryUse<'a>>,
    ) -> EventOrder<'a> {
        let categories: Vec<CategoryUse<'a>> = categories.collect();
        let category_places = (0..).zip(&categories);
        let values = |one: &CategoryUse<'_>| ChosenValues::of(one.category, MessageField::of);
        EventOrder {
            message_values: categories.iter().map(values).collect(),
            category_places: category_places
                .map(|(nth, one)| (one.category.index, nth))
                .collect(),
            categories,
            lines: (0..)
                .zip(lines)
                .map(|(nth, line)| (line.id, (nth, line.lane)))
                .collect(),
            endings: Endings::default(),
            held: Vec::new(),
            free: Vec::new(),
            places: 0,
            now: f64::NEG_INFINITY,
            serial: 0,
            sent: 0,
            counts: DrawableCounts::default(),
            comm_names: CommNames::default(),
            bounds: TimeBBox::EMPTY,
        }
    }

    /// Takes the next drawable in order of beginnings. Puts what happens until then into the batch, and the begin of a state.
    pub(super) fn put(&mut self, drawable: &Drawable<'_>, batch: &mut EventBatch) {
        let (Some(first), Some(last)) = (drawable.vertices.first(), drawable.vertices.last())
        else {
            self.counts.without_time += 1;
            return;
        };
        if !(first.time.is_finite() && last.time.is_finite()) {
            self.counts.without_time += 1;
            return;
        }
        self.counts.all += 1;
        self.comm_names.take(drawable);
        let Some(&category) = self.category_places.get(drawable.category) else {
            return;
        };
        let bounds = match drawable.vertices.len() {
            // Nearly all have two.
            2 => TimeBBox {
                earliest: earlier_of(first.time, last.time),
                latest: later_of(first.time, last.time),
            },
            _ => drawable.bounds(),
        };
        if self.bounds == TimeBBox::EMPTY {
            let time = bounds.earliest;
            batch.events.push(Event::Begin { time });
        }
        self.bounds.earliest = earlier_of(self.bounds.earliest, bounds.earliest);
        self.bounds.latest = later_of(self.bounds.latest, bounds.latest);
        let mut time = bounds.earliest;
        let is_backward = drawable.topology == Topology::Arrow && last.time < first.time;
        if is_backward {
            // By clocks that differ, it arrives before it was sent. It was sent before, and the call that receives it has not ended yet.
            time = later_of(time.next_down(), self.now.min(time));
        }
        if time < self.now {
            self.counts.out_of_order += 1;
            time = self.now;
        }
        if time > self.now {
            self.go_to(time, batch);
        }
        let end = bounds.latest.max(time);
        let CategoryUse {
            role,
            tells,
            has_info,
            ..
        } = self.categories[category as usize];
        let info = batch.keep(if tells || has_info {
            drawable.info
        } else {
            &[]
        });
        if tells {
            batch.events.push(Event::Tell {
                time,
                end,
                line: first.line,
                category,
                info,
            });
        }
        if drawable.topology == Topology::State
            && role != CategoryRole::Ignored
            && let Some(&(line, lane)) = self.lines.get(first.line)
        {
            self.serial += 1;
            let serial = self.serial;
            batch.events.push(Event::Enter(StateBegin {
                time,
                end,
                serial,
                line,
                lane,
                category,
                info,
            }));
            self.endings.push(Ending::state(end, serial, lane));
            return;
        }
        if (drawable.topology, role) == (Topology::Arrow, CategoryRole::Message)
            && let Some(&(line, from)) = self.lines.get(first.line)
            && let Some(&(to_line, to)) = self.lines.get(last.line)
        {
            let values = &self.message_values[category as usize];
            let (tag, bytes) = tag_and_bytes(values, drawable.info);
            self.counts.messages += 1;
            self.counts.message_bytes += bytes.unwrap_or(0);
            // The most that 32 bits tell.
            self.counts.large_messages += u64::from(bytes == Some(i32::MAX as u64));
            self.counts.backward_messages += u64::from(is_backward);
            let end = if is_backward { time } else { end };
            self.held.push(HeldMessage {
                from,
                to,
                end,
                lines: [line, to_line],
                tag,
                bytes,
            });
        }
    }

    /// Ends the input: puts the rest into the batch.
    pub(super) fn finish(&mut self, batch: &mut EventBatch) {
        self.go_to(f64::INFINITY, batch);
    }

    /// What begins from now on begins at `time`.
    fn go_to(&mut self, time: f64, batch: &mut EventBatch) {
        self.send_held(batch);
        while let Some(ending) = self.endings.pop_until(time) {
            let time = ending.time();
            batch.events.push(match ending.state_serial() {
                Some(serial) => Event::Leave {
                    time,
                    lane: ending.index,
                    serial,
                },
                None => {
                    self.free.push(ending.index);
                    Event::Receive {
                        time,
                        place: ending.index,
                    }
                }
            });
        }
        self.now = time;
    }

    fn send_held(&mut self, batch: &mut EventBatch) {
        for held in self.held.drain(..) {
            let place = self.free.pop().unwrap_or_else(|| {
                self.places += 1;
                self.places - 1
            });
            batch.events.push(Event::Send {
                time: self.now,
                from: held.from,
                to: held.to,
                place,
                lines: held.lines,
                tag: held.tag,
                bytes: held.bytes,
            });
            self.sent += 1;
            let end = held.end.max(self.now);
            self.endings.push(Ending::message(end, self.sent, place));
        }
    }
}

/// Tag of a message, negative if its info has none, and its bytes; `None` if its info does not have both tag and size.
fn tag_and_bytes(values: &ChosenValues<MessageField>, info: &[u8]) -> (i32, Option<u64>) {
    let (mut tag, mut size) = (None, None);
    values.read(info, |field, value| {
        let InfoValue::Integer(number) = value else {
            return;
        };
        match field {
            MessageField::Tag => tag = i32::try_from(number).ok(),
            MessageField::Size => size = u64::try_from(number).ok(),
        }
    });
    (tag.unwrap_or(-1), tag.and(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, Text, Vertex};

    /// What happens, in words, of these drawables: form, begin, end, lines of begin and end.
    fn told(drawables: &[(Topology, f64, f64, i32, i32)]) -> Vec<String> {
        let lines: [LineUse; 2] = std::array::from_fn(|nth| LineUse {
            id: 10 + nth as i32,
            lane: nth as u32,
            comm: 0,
            rank: nth as i32,
        });
        let category =
            |index, topology| Category::new(index, Text::from("one"), topology, Color(0));
        let state = category(7, Topology::State);
        let message = category(8, Topology::Arrow);
        let roles = [
            (&state, CategoryRole::OtherCall),
            (&message, CategoryRole::Message),
        ];
        let uses = roles.map(|(category, role)| CategoryUse {
            category,
            role,
            tells: false,
            has_info: true,
        });
        let mut order = EventOrder::new(&lines, uses.into_iter());
        let mut batch = EventBatch::default();
        for &(topology, from, to, first, last) in drawables {
            let vertices = [(from, first), (to, last)].map(|(time, line)| Vertex { time, line });
            let is_state = topology == Topology::State;
            order.put(
                &Drawable {
                    topology,
                    category: if is_state { 7 } else { 8 },
                    info: b"info",
                    vertices: &vertices,
                },
                &mut batch,
            );
        }
        order.finish(&mut batch);
        let tell = |event: &Event| match *event {
            Event::Begin { time } => format!("{time} begin"),
            Event::Enter(StateBegin {
                time,
                serial,
                lane,
                info,
                ..
            }) => {
                assert_eq!(batch.info(info), b"info");
                format!("{time} enter {serial} on {lane}")
            }
            Event::Tell { time, .. } => format!("{time} tell"),
            Event::Leave { time, lane, serial } => format!("{time} leave {serial} on {lane}"),
            Event::Send {
                time,
                from,
                to,
                place,
                ..
            } => format!("{time} send {from} to {to} at {place}"),
            Event::Receive { time, place } => format!("{time} receive {place}"),
        };
        batch.events.iter().map(tell).collect()
    }

    #[test]
    fn events_come_in_order_of_time() {
        let (state, arrow) = (Topology::State, Topology::Arrow);
        let events = told(&[
            (state, 1.0, 4.0, 10, 10),
            (arrow, 1.0, 3.0, 10, 11),
            (state, 1.0, 3.0, 11, 11),
            (state, 2.0, 4.0, 10, 10),
            (arrow, 3.5, 5.0, 11, 10),
            (state, 9.0, 9.0, 12, 12),
        ]);
        assert_eq!(
            events,
            [
                "1 begin",
                "1 enter 1 on 0",
                "1 enter 2 on 1",
                // After the states that begin when it is sent.
                "1 send 0 to 1 at 0",
                "2 enter 3 on 0",
                // Before the states that end when it is received.
                "3 receive 0",
                "3 leave 2 on 1",
                // At a place that is free again.
                "3.5 send 1 to 0 at 0",
                // The inner one first.
                "4 leave 3 on 0",
                "4 leave 1 on 0",
                "5 receive 0",
            ]
        );
    }

    #[test]
    fn what_comes_too_late_begins_when_it_comes() {
        let state = Topology::State;
        let events = told(&[(state, 2.0, 3.0, 10, 10), (state, 1.0, 1.5, 11, 11)]);
        let late = &events[2..];
        assert_eq!(late, ["2 enter 2 on 1", "2 leave 2 on 1", "3 leave 1 on 0"]);
    }
}
