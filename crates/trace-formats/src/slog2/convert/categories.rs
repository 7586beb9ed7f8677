//! Categories of a log, and the event numbers that belong to them (`spec/slog2.md` section 7.1).

use std::collections::BTreeMap;
use std::ops::Range;

use super::warnings::{Warning, Warnings};
use crate::clog2::{Clog2EventDef, Clog2StateDef, Preamble};
use trace_model::hash::Map as HashMap;
use trace_model::{Category, Color, DefaultColors, Text, Topology};

/// Event numbers below this have a table of their own; those of MPE and of most users are.
const LOW_ETYPES: usize = 8192;

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slog2) enum EventRole {
    /// Starts a state.
    Start,
    /// Ends a state.
    End,
    /// Stands alone.
    Solo,
}

/// What an event number means from some record on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slog2) struct Binding {
    pub(in crate::slog2) etype: i32,
    pub(in crate::slog2) role: EventRole,
    /// Index of the category.
    pub(in crate::slog2) category: i32,
}

/// A category and what the conversion must know beside it.
#[derive(Debug)]
pub(super) struct OpenCategory {
    pub(super) category: Category,
    /// Whether it is in the category map: it is from its first definition or drawable on.
    entered: bool,
    /// What its infos have behind what its definition says: format of the details, and of the counts of counters.
    details: Box<str>,
    more_info: Option<Box<str>>,
    /// Number of definition records.
    definitions: u64,
    /// Open states, or unmatched ends of messages.
    pub(super) open: u64,
}

/// Numbers of things that wait for their other end.
#[derive(Debug, Default)]
pub(super) struct OpenCounts {
    pub(super) states: u64,
    pub(super) messages: u64,
}

/// A range of event numbers of the preamble.
#[derive(Clone, Debug)]
struct PreambleRange {
    etypes: Range<i64>,
    topology: Topology,
    /// Category of the first number.
    index: i64,
}

/// All categories of a log. They are made when they are first met; their indices are those of the preamble's ranges.
#[derive(Debug)]
pub(super) struct LogCategories {
    slots: Vec<OpenCategory>,
    /// End event and index of the states of each slot, once one was drawn: what is to be known of the next.
    drawn_states: Vec<Option<(i32, i32)>>,
    /// Slots in the order in which they entered the category map.
    entered: Vec<u32>,
    /// In order of precedence: later ranges of the preamble hide earlier ones.
    predefined: Vec<PreambleRange>,
    /// Slots of predefined categories that were met.
    by_index: HashMap<i64, u32>,
    /// Event numbers that were met.
    by_etype: HashMap<i32, (EventRole, u32)>,
    /// Event numbers that were met, by the number, for small ones from 0 on: nearly all are, and they are quicker to look up here.
    low_etypes: Vec<Option<(EventRole, u32)>>,
    /// What event numbers came to mean, in the order in which that became known.
    bindings: Vec<Binding>,
    next_index: i64,
    default_colors: DefaultColors,
}

impl LogCategories {
    /// Slot of the category of messages.
    pub(super) const MESSAGE: u32 = 0;

    pub(super) fn new(preamble: &Preamble) -> Self {
        let mut next_index = 1;
        let mut predefined: Vec<PreambleRange> = [
            (
                preamble.known_event_id_start,
                preamble.known_state_id_count,
                Topology::State,
            ),
            (
                preamble.user_event_id_start,
                preamble.user_state_id_count,
                Topology::State,
            ),
            (
                preamble.known_solo_event_id_start,
                preamble.known_solo_event_id_count,
                Topology::Event,
            ),
            (
                preamble.user_solo_event_id_start,
                preamble.user_solo_event_id_count,
                Topology::Event,
            ),
        ]
        .into_iter()
        .map(|(start, count, topology)| {
            let (start, count) = (i64::from(start), i64::from(count.max(0)));
            let etypes_each = if topology == Topology::State { 2 } else { 1 };
            let index = next_index;
            next_index += count;
            PreambleRange {
                etypes: start..start + etypes_each * count,
                topology,
                index,
            }
        })
        .collect();
        predefined.reverse();
        LogCategories {
            slots: vec![OpenCategory {
                category: Category::message(),
                entered: true,
                details: Box::default(),
                more_info: None,
                definitions: 1,
                open: 0,
            }],
            drawn_states: vec![None],
            entered: vec![Self::MESSAGE],
            predefined,
            by_index: HashMap::default(),
            by_etype: HashMap::default(),
            low_etypes: vec![None; LOW_ETYPES],
            bindings: Vec::new(),
            next_index,
            default_colors: DefaultColors::new(),
        }
    }

    /// Takes `count` numbers that no other category gets then; gives the first.
    pub(super) fn reserve(&mut self, count: i32) -> i32 {
        let first = self.next_index;
        self.next_index += i64::from(count);
        i32::try_from(first).unwrap_or(i32::MAX)
    }

    /// What an event number does, and for which slot; `None` if nothing is known about it.
    #[inline]
    pub(super) fn role(&mut self, etype: i32) -> Option<(EventRole, u32)> {
        if let Some(&Some(found)) = self.low_etypes.get(etype as u32 as usize) {
            return Some(found);
        }
        match self.by_etype.get(&etype) {
            Some(&found) => Some(found),
            None => self.predefined_role(etype),
        }
    }

    fn set_role(&mut self, etype: i32, role: EventRole, slot: u32) {
        let category = self.slots[slot as usize].category.index;
        self.bindings.push(Binding {
            etype,
            role,
            category,
        });
        match self.low_etypes.get_mut(etype as u32 as usize) {
            Some(low) => *low = Some((role, slot)),
            None => {
                self.by_etype.insert(etype, (role, slot));
            }
        }
    }

    /// What event numbers came to mean, in the order in which that became known.
    pub(super) fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    #[cold]
    fn predefined_role(&mut self, etype: i32) -> Option<(EventRole, u32)> {
        let number = i64::from(etype);
        let range = self
            .predefined
            .iter()
            .find(|range| range.etypes.contains(&number))?;
        let offset = number - range.etypes.start;
        let (role, index) = match range.topology {
            Topology::State if offset % 2 == 0 => (EventRole::Start, range.index + offset / 2),
            Topology::State => (EventRole::End, range.index + offset / 2),
            Topology::Event | Topology::Arrow => (EventRole::Solo, range.index + offset),
        };
        let topology = range.topology;
        let slot = match self.by_index.get(&index) {
            Some(&slot) => slot,
            None => {
                let slot = self.push(index, topology);
                self.by_index.insert(index, slot);
                slot
            }
        };
        self.set_role(etype, role, slot);
        Some((role, slot))
    }

    fn push(&mut self, index: i64, topology: Topology) -> u32 {
        self.slots.push(OpenCategory {
            category: Category::new(index as i32, Text::default(), topology, Color::PINK),
            entered: false,
            details: Box::default(),
            more_info: None,
            definitions: 0,
            open: 0,
        });
        self.drawn_states.push(None);
        self.slots.len() as u32 - 1
    }

    fn push_next(&mut self, topology: Topology) -> u32 {
        let index = self.next_index;
        self.next_index += 1;
        self.push(index, topology)
    }

    /// The slot of the states with these start and end events; else the events of which nothing is known.
    #[inline]
    pub(super) fn state(&mut self, etypes: [i32; 2]) -> Result<u32, [Option<i32>; 2]> {
        match [self.role(etypes[0]), self.role(etypes[1])] {
            [Some((EventRole::Start, start)), Some((EventRole::End, end))] if start == end => {
                Ok(start)
            }
            roles => {
                let unknown = |at: usize| roles[at].is_none().then_some(etypes[at]);
                Err([unknown(0), unknown(1)])
            }
        }
    }

    /// The category of the states with these start and end events, where one was drawn since they were defined; else `None`.
    #[inline]
    pub(super) fn drawn_state(&self, [start, end]: [i32; 2]) -> Option<i32> {
        let &(_, slot) = self.low_etypes.get(start as u32 as usize)?.as_ref()?;
        let &(known_end, category) = self.drawn_states.get(slot as usize)?.as_ref()?;
        (known_end == end).then_some(category)
    }

    /// A state of this slot, which ends with this event, is drawn.
    pub(super) fn draw_state(&mut self, slot: u32, end: i32) {
        let (category, _) = self.use_for_drawable(slot);
        self.drawn_states[slot as usize] = Some((end, category));
    }

    /// Takes the definition of a state. Its name is `whole_name`, where there is one.
    pub(super) fn define_state(
        &mut self,
        def: &Clog2StateDef,
        whole_name: Option<&str>,
        details: &str,
        warnings: &mut Warnings,
    ) {
        let etypes = [def.start_etype, def.final_etype];
        let slot = match etypes.map(|etype| self.role(etype)) {
            [Some((_, start)), Some((_, end))] if start == end => start,
            [Some(_), Some(_)] => {
                let name = def.name.to_str().into_owned();
                return warnings.add(Warning::ConflictingDefinition { name, etypes });
            }
            _ => {
                let slot = self.push_next(Topology::State);
                self.set_role(def.start_etype, EventRole::Start, slot);
                self.set_role(def.final_etype, EventRole::End, slot);
                slot
            }
        };
        self.define(
            slot,
            def.name.as_bytes(),
            def.color.as_bytes(),
            def.format.as_bytes(),
            warnings,
        );
        if let Some(name) = whole_name {
            self.slots[slot as usize].category.name = Text(name.as_bytes().to_vec());
        }
        self.slots[slot as usize].details = details.into();
    }

    /// Takes the definition of a solo event. Its name is `whole_name`, where there is one.
    pub(super) fn define_event(
        &mut self,
        def: &Clog2EventDef,
        whole_name: Option<&str>,
        warnings: &mut Warnings,
    ) {
        let slot = match self.role(def.etype) {
            Some((EventRole::Solo, slot)) => slot,
            Some((EventRole::Start | EventRole::End, _)) => {
                let name = def.name.to_str().into_owned();
                let etypes = [def.etype; 2];
                return warnings.add(Warning::ConflictingDefinition { name, etypes });
            }
            None => {
                let slot = self.push_next(Topology::Event);
                self.set_role(def.etype, EventRole::Solo, slot);
                slot
            }
        };
        self.define(
            slot,
            def.name.as_bytes(),
            def.color.as_bytes(),
            def.format.as_bytes(),
            warnings,
        );
        if let Some(name) = whole_name {
            self.slots[slot as usize].category.name = Text(name.as_bytes().to_vec());
        }
    }

    fn define(
        &mut self,
        slot: u32,
        name: &[u8],
        color: &[u8],
        format: &[u8],
        warnings: &mut Warnings,
    ) {
        self.enter(slot);
        self.drawn_states[slot as usize] = None;
        let OpenCategory {
            category,
            definitions,
            ..
        } = &mut self.slots[slot as usize];
        *definitions += 1;
        category.name = Text(trim(name).to_vec());
        let color = String::from_utf8_lossy(trim(color));
        category.color = Color::from_name(&color).unwrap_or_else(|| {
            warnings.add(Warning::UnknownColor {
                color: color.into_owned(),
                category: category.name.to_str().into_owned(),
            });
            Color::PINK
        });
        category.set_info_format(trim(format));
    }

    fn enter(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        if !entry.entered {
            entry.entered = true;
            self.entered.push(slot);
        }
    }

    /// The category of a drawable that is complete: index and topology. Makes up name and colour if it has none.
    #[inline]
    pub(super) fn use_for_drawable(&mut self, slot: u32) -> (i32, Topology) {
        let entry = &self.slots[slot as usize];
        if !entry.entered || entry.category.name.is_empty() {
            self.make_up(slot);
        }
        let category = &self.slots[slot as usize].category;
        (category.index, category.topology)
    }

    #[cold]
    fn make_up(&mut self, slot: u32) {
        self.enter(slot);
        let category = &mut self.slots[slot as usize].category;
        if category.name.is_empty() {
            category.name = Text(format!("UnknownType-{}", category.index).into_bytes());
            category.color = self.default_colors.next_color();
        }
    }

    /// From now on infos of this category have values of this format behind those of its own.
    pub(super) fn add_info(&mut self, slot: u32, format: &str) {
        if let Some(entry) = self.slots.get_mut(slot as usize) {
            entry.more_info.get_or_insert_with(|| format.into());
        }
    }

    /// Slots of the categories that have [`LogCategories::add_info`].
    pub(super) fn slots_with_more_info(&self) -> Vec<u32> {
        let slots = self.slots.iter().zip(0..);
        slots
            .filter(|(entry, _)| entry.more_info.is_some())
            .map(|(_, slot)| slot)
            .collect()
    }

    #[inline]
    pub(super) fn slot(&mut self, slot: u32) -> &mut OpenCategory {
        &mut self.slots[slot as usize]
    }

    /// Unmatched events as the original counts them: once for each definition record of the category (`spec/slog2.md`
    /// section 7.7).
    pub(super) fn unmatched(&self) -> u64 {
        self.slots
            .iter()
            .map(|slot| slot.definitions * slot.open)
            .sum()
    }

    /// What waits for its other end.
    pub(super) fn open(&self) -> OpenCounts {
        let mut open = OpenCounts::default();
        for (slot, entry) in self.slots.iter().enumerate() {
            if slot as u32 == Self::MESSAGE {
                open.messages += entry.open;
            } else {
                open.states += entry.open;
            }
        }
        open
    }

    /// By index of each category of states or events that was met, the numbers of its start and end event.
    pub(super) fn etypes(&self) -> BTreeMap<i32, (i32, i32)> {
        let mut etypes = BTreeMap::new();
        let low = (0..).zip(&self.low_etypes);
        let low = low.filter_map(|(etype, role)| Some((etype, (*role)?)));
        let others = self.by_etype.iter().map(|(&etype, &role)| (etype, role));
        for (etype, (role, slot)) in low.chain(others) {
            let index = self.slots[slot as usize].category.index;
            let (start, end) = etypes.entry(index).or_insert((etype, etype));
            match role {
                EventRole::Start => *start = etype,
                EventRole::End => *end = etype,
                EventRole::Solo => {}
            }
        }
        etypes
    }

    /// The categories that were described or used.
    pub(super) fn into_entered(self) -> Vec<Category> {
        let previews = 3;
        let mut list = self.into_insertion_order();
        list.drain(..previews.min(list.len()));
        list
    }

    /// All categories of the category map, previews included, in the order in which the original inserts them.
    pub(super) fn into_insertion_order(mut self) -> Vec<Category> {
        let previews = [Topology::Event, Topology::State, Topology::Arrow];
        let mut list: Vec<Category> = previews.into_iter().map(Category::preview).collect();
        for &slot in &self.entered {
            let empty = Category::message();
            let slot = &mut self.slots[slot as usize];
            let mut category = std::mem::replace(&mut slot.category, empty);
            for more in [Some(&slot.details), slot.more_info.as_ref()]
                .into_iter()
                .flatten()
            {
                if more.is_empty() {
                    continue;
                }
                let mut format = category.info_format();
                if !format.is_empty() {
                    format.extend(b", ");
                }
                format.extend(more.bytes());
                category.set_info_format(&format);
            }
            list.push(category);
        }
        list
    }
}

/// Cuts blanks and control characters off both ends, as Java's `trim` does.
fn trim(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| *byte <= b' ';
    let start = text
        .iter()
        .position(|byte| !is_blank(byte))
        .unwrap_or(text.len());
    let end = text
        .iter()
        .rposition(|byte| !is_blank(byte))
        .map_or(start, |last| last + 1);
    &text[start..end]
}
