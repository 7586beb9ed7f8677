//! Records to drawables, one record at a time (`spec/slog2.md` sections 7.3 and 7.4): what FromClog2 and the source of
//! CLOG2 share.

use std::collections::BTreeMap;

use super::super::tree_builder::StateOnLine;
use super::super::types::LineIdMap;
use super::categories::{EventRole, LogCategories};
use super::counted::Counted;
use super::lines::LineNumbering;
use super::matching::{Meeting, MessageEndpoint, RecordMatching};
use super::warnings::{Warning, Warnings};
use crate::clog2::{
    self, Clog2Body, Clog2Msg, Clog2Record, Clog2RecordHeader, Endian, HEADER_SIZE, Preamble,
    RunOrigin, peek_rectype, peek_size, peek_time, rectype,
};
use trace_model::Drawable as NewDrawable;
use trace_model::Losses;
use trace_model::{Category, TimeBBox, Vertex};

use super::lines::LineOwner;

/// Receives the drawables of a conversion, each with the number of drawables that were complete when its first record came.
pub trait DrawableSink<E>: FnMut(&NewDrawable<'_>, u64) -> Result<(), E> {}

impl<E, F: FnMut(&NewDrawable<'_>, u64) -> Result<(), E>> DrawableSink<E> for F {}

/// A state that is known as a whole, and not by two records.
#[derive(Clone, Copy, Debug)]
pub struct WholeState<'a> {
    /// Communicator, rank and thread of the state, and its end.
    pub header: Clog2RecordHeader,
    /// Start of the state, seconds.
    pub start: f64,
    /// Numbers of the events that would begin and end the state in a CLOG2 file.
    pub etypes: [i32; 2],
    /// Info of the state: the data of its end event, as the format of its definition says, and further values, as the details of the definition
    /// say. Without details there may be more data than the format says, but only in files without counters ([`Drawing::name_counters`]): what
    /// stands there would be taken for their counts.
    pub info: &'a [u8],
    /// Counts of performance counters in the state, in the order of [`Drawing::name_counters`]; empty if nothing has.
    pub counts: &'a [i64],
}

/// Takes the records of a merged log in order of time and makes drawables of them.
#[derive(Debug)]
pub struct Drawing {
    pub(super) categories: LogCategories,
    pub(super) lines: LineNumbering,
    matching: RecordMatching,
    /// If there are any.
    counted: Option<Box<Counted>>,
    /// Info of a state with counts.
    with_counts: Vec<u8>,
    /// Number of drawables so far.
    drawn: u64,
    pub(super) warnings: Warnings,
    odd: Odd,
    /// Bytes of all records taken.
    pub(super) record_bytes: u64,
    check_end_times: bool,
    last_end: f64,
}

/// What became no drawable.
#[derive(Debug, Default)]
struct Odd {
    undescribed: u64,
    ends_without_start: u64,
    constants: u64,
    shifts: u64,
    collectives: u64,
    places: u64,
}

impl Drawing {
    /// World size, thread count and the ranges of event numbers of the preamble must be final.
    pub fn new(preamble: &Preamble, check_end_times: bool) -> Self {
        Drawing {
            categories: LogCategories::new(preamble),
            lines: LineNumbering::new(preamble),
            matching: RecordMatching::new(),
            counted: None,
            with_counts: Vec::new(),
            drawn: 0,
            warnings: Warnings::default(),
            odd: Odd::default(),
            record_bytes: 0,
            check_end_times,
            last_end: f64::NEG_INFINITY,
        }
    }

    /// Counts of the records so far that gave no drawable, or only a part of one.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        let open = self.categories.open();
        for (what, number) in [
            ("message without its other end", open.messages),
            ("state without an end", open.states),
            (
                "end of a state without a start",
                self.odd.ends_without_start,
            ),
            ("event that is described nowhere", self.odd.undescribed),
            ("constant of MPI", self.odd.constants),
            ("clock shift", self.odd.shifts),
            ("record of a collective operation", self.odd.collectives),
            ("place in the source", self.odd.places),
        ] {
            losses.add(what, number);
        }
        losses
    }

    /// The categories that are described or have drawables, and by index the numbers of their events.
    pub fn into_categories(self) -> (Vec<Category>, BTreeMap<i32, (i32, i32)>) {
        let etypes = self.categories.etypes();
        (self.categories.into_entered(), etypes)
    }

    /// Takes `count` numbers that no other category gets then; gives the first.
    pub fn reserve_categories(&mut self, count: i32) -> i32 {
        self.categories.reserve(count)
    }

    /// Defines a kind of states. `whole_name` is its name, where the definition may have only the beginning; `details` is the format of
    /// what [`WholeState::info`] has behind that, where it has such.
    pub fn define_state(
        &mut self,
        def: &clog2::Clog2StateDef,
        whole_name: Option<&str>,
        details: &str,
    ) {
        self.categories
            .define_state(def, whole_name, details, &mut self.warnings);
    }

    /// Defines a kind of events. `whole_name` is its name, where the definition may have only the beginning.
    pub fn define_event(&mut self, def: &clog2::Clog2EventDef, whole_name: Option<&str>) {
        self.categories
            .define_event(def, whole_name, &mut self.warnings);
    }

    /// Names of the performance counters whose values [`WholeState::counts`] has.
    pub fn name_counters(&mut self, names: &[String]) {
        self.counted = (!names.is_empty()).then(|| Box::new(Counted::new(names)));
    }

    /// Communicator, rank and thread of a line.
    pub fn place(&self, line: i32) -> LineOwner {
        self.lines.place(line)
    }

    /// Takes the next record; what is complete by it goes to `put`.
    ///
    /// # Errors
    /// The errors of `put`; what is odd in the records becomes a [`Warning`].
    #[inline]
    pub fn push<E>(
        &mut self,
        record: &Clog2Record,
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        self.record_bytes += record.size() as u64;
        let header = &record.header;
        match &record.body {
            Clog2Body::Bare { etype } => self.event(header, *etype, None, put),
            Clog2Body::Cargo { etype, bytes } => self.event(header, *etype, Some(bytes), put),
            Clog2Body::Msg(msg) => self.message(header, (msg, 0), put),
            Clog2Body::Comm(event) => {
                self.lines.announce(event);
                Ok(())
            }
            Clog2Body::StateDef(def) => {
                self.define_state(def, None, "");
                Ok(())
            }
            Clog2Body::EventDef(def) => {
                self.define_event(def, None);
                Ok(())
            }
            Clog2Body::ConstDef(def) => {
                self.odd.constants += u64::from(!RunOrigin::is_part(def));
                Ok(())
            }
            Clog2Body::TimeShift { shift } => {
                self.odd.shifts += u64::from(*shift != 0.0);
                Ok(())
            }
            Clog2Body::Coll { .. } => {
                self.odd.collectives += 1;
                Ok(())
            }
            Clog2Body::SrcLoc { .. } => {
                self.odd.places += 1;
                Ok(())
            }
            Clog2Body::EndBlock | Clog2Body::EndLog => Ok(()),
        }
    }

    /// Takes the next record, big-endian as in a merged file: what [`Drawing::push`] does, without making a [`Clog2Record`] of
    /// the most frequent ones.
    ///
    /// # Errors
    /// Also if `bytes` is no record; the offset of that error counts from their start.
    #[inline]
    pub fn push_encoded<E: From<clog2::Clog2Error>>(
        &mut self,
        bytes: &[u8],
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        let int = |at: usize| {
            let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
            i32::from_be_bytes(bytes.copied().unwrap_or_default())
        };
        let header = Clog2RecordHeader {
            time: peek_time(bytes),
            icomm: int(8),
            rank: int(12),
            thread: int(16),
        };
        const BODY: usize = HEADER_SIZE;
        match (peek_rectype(bytes), peek_size(bytes)) {
            (rectype::BAREEVT, size @ 1..) => {
                self.record_bytes += size as u64;
                self.event(&header, int(BODY), None, put)?;
            }
            (rectype::CARGOEVT, size @ 1..) => {
                self.record_bytes += size as u64;
                let cargo = bytes.get(BODY + 8..).and_then(|rest| rest.first_chunk());
                self.event(&header, int(BODY), cargo, put)?;
            }
            (rectype::MSGEVT, size @ 1..) => {
                self.record_bytes += size as u64;
                let msg = Clog2Msg {
                    etype: int(BODY),
                    icomm: int(BODY + 4),
                    rank: int(BODY + 8),
                    tag: int(BODY + 12),
                    size: int(BODY + 16),
                };
                self.message(&header, (&msg, 0), put)?;
            }
            _ => self.push(&Clog2Record::decode(bytes, Endian::Big)?, put)?,
        }
        Ok(())
    }

    /// A whole state, if it can be drawn as the last one of its kind was: of that nothing more is to be looked up. Counts it as drawn.
    #[inline]
    pub(super) fn known_state<'s>(&mut self, state: &WholeState<'s>) -> Option<StateOnLine<'s>> {
        let category = self.categories.drawn_state(state.etypes)?;
        let bounds = TimeBBox {
            earliest: state.start,
            latest: state.header.time,
        };
        let is_plain = state.counts.is_empty() && bounds.earliest <= bounds.latest;
        if !is_plain || self.check_end_times {
            return None;
        }
        self.drawn += 1;
        Some(StateOnLine {
            category,
            info: state.info,
            line: self.lines.line(&state.header),
            bounds,
        })
    }

    /// Draws a whole state.
    ///
    /// # Errors
    /// When `put` fails. A state that is odd becomes a [`Warning`].
    #[inline]
    pub fn state<E>(
        &mut self,
        state: &WholeState<'_>,
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        let born = self.drawn;
        if let Some(known) = self.known_state(state) {
            return put(&known.drawable(&known.vertices()), born);
        }
        let line = self.lines.line(&state.header);
        let times = [state.start, state.header.time];
        match self.categories.state(state.etypes) {
            Ok(slot) => {
                self.categories.draw_state(slot, state.etypes[1]);
                let [start, end] = times;
                let vertices = [Vertex { time: start, line }, Vertex { time: end, line }];
                if state.counts.is_empty() {
                    return self.draw(slot, Some(state.info), &vertices, born, put);
                }
                let info = &mut self.with_counts;
                info.clear();
                info.extend_from_slice(state.info);
                if let Some(counted) = &self.counted {
                    counted.append(&mut self.categories, slot, info, state.counts);
                }
                self.draw(slot, None, &vertices, born, put)
            }
            Err(unknown) => {
                for (etype, time) in unknown.into_iter().zip(times) {
                    if let Some(etype) = etype {
                        self.odd.undescribed += 1;
                        self.warnings
                            .add(Warning::UndescribedEvent { etype, time, line });
                    }
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn event<E>(
        &mut self,
        header: &Clog2RecordHeader,
        etype: i32,
        cargo: Option<&[u8; 32]>,
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        let line = self.lines.line(header);
        let time = header.time;
        let Some((role, slot)) = self.categories.role(etype) else {
            self.odd.undescribed += 1;
            self.warnings
                .add(Warning::UndescribedEvent { etype, time, line });
            return Ok(());
        };
        match role {
            EventRole::Start => {
                self.matching
                    .start((etype, slot), line, time, cargo, self.drawn);
                self.categories.slot(slot).open += 1;
                Ok(())
            }
            EventRole::End => {
                let Some(state) = self.matching.end(slot, line, time, cargo) else {
                    self.odd.ends_without_start += 1;
                    self.warnings
                        .add(Warning::EndWithoutStart { etype, time, line });
                    return Ok(());
                };
                self.categories.slot(slot).open -= 1;
                let info = state.info.bytes();
                self.draw(slot, Some(info), &state.vertices, state.born, put)
            }
            EventRole::Solo => {
                let info = cargo.map_or(&[][..], |bytes| bytes);
                self.draw(slot, Some(info), &[Vertex { time, line }], u64::MAX, put)
            }
        }
    }

    /// The end of a message that a record tells of, for who matches them elsewhere; `None` if it is neither a send nor a receive.
    #[inline]
    pub fn endpoint(&self, header: &Clog2RecordHeader, msg: &Clog2Msg) -> Option<MessageEndpoint> {
        MessageEndpoint::of(&self.lines, header, msg)
    }

    /// The views of these lines, which are ascending: by process, by communicator, by line.
    pub(super) fn views(&mut self, lines: &[i32]) -> Vec<LineIdMap> {
        let [processes, comms] = self.lines.views(lines, &mut self.warnings);
        vec![processes, comms, LineIdMap::identity(lines)]
    }

    /// Slots of categories whose infos have values of counters, and those of `others`, which other parts of the log have.
    pub fn counted_slots(&mut self, others: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let format = self
            .counted
            .as_ref()
            .map(|counted| counted.format().to_owned());
        if let Some(format) = format {
            for slot in others {
                self.categories.add_info(slot, &format);
            }
        }
        self.categories.slots_with_more_info()
    }

    /// Takes one end of a message.
    ///
    /// # Errors
    /// The errors of `put`.
    #[inline]
    pub fn message<E>(
        &mut self,
        header: &Clog2RecordHeader,
        (msg, ahead): (&Clog2Msg, i32),
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        let born = self.drawn;
        let message = LogCategories::MESSAGE;
        match self
            .matching
            .message(&self.lines, header, (msg, ahead), born)
        {
            Meeting::Unknown => {
                self.odd.undescribed += 1;
                self.warnings.add(Warning::UndescribedEvent {
                    etype: msg.etype,
                    time: header.time,
                    line: self.lines.line(header),
                });
                Ok(())
            }
            Meeting::Waits => {
                self.categories.slot(message).open += 1;
                Ok(())
            }
            Meeting::Complete(arrow) => {
                self.categories.slot(message).open -= 1;
                self.draw(message, Some(&arrow.info), &arrow.vertices, arrow.born, put)
            }
        }
    }

    /// Draws with this info, or with that in `with_counts`.
    #[inline]
    fn draw<E>(
        &mut self,
        slot: u32,
        info: Option<&[u8]>,
        vertices: &[Vertex],
        born: u64,
        put: &mut impl DrawableSink<E>,
    ) -> Result<(), E> {
        let (category, topology) = self.categories.use_for_drawable(slot);
        if let [first, last] = vertices {
            let (start, end) = (first.time, last.time);
            if end < start {
                self.warnings.add(Warning::Backward {
                    category,
                    start,
                    end,
                });
            }
        }
        if self.check_end_times {
            self.check_end(vertices);
        }
        let drawable = NewDrawable {
            topology,
            category,
            info: info.unwrap_or(&self.with_counts),
            vertices,
        };
        put(&drawable, born)?;
        self.drawn += 1;
        Ok(())
    }

    fn check_end(&mut self, vertices: &[Vertex]) {
        let end = vertices
            .iter()
            .fold(f64::NEG_INFINITY, |end, vertex| end.max(vertex.time));
        let before = std::mem::replace(&mut self.last_end, end);
        if end < before {
            self.warnings.add(Warning::EndTimeOrder { before, end });
        }
    }
}
