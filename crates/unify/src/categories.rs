//! Categories of the program's own events ([`blockfile::user`]) that the ranks agree on, and their numbers in CLOG2.
//!
//! States and events of MPE's API are the same on all ranks if their numbers are, as with MPE: all ranks take the same numbers in
//! the same order. Regions and markers are the same if their names are. All ranks get the same list and number it alike.
//!
//! Numbers that MPE hands out are kept (`spec/clog2.md` section 6): pairs from 600 on, which are states 300 on, and solo
//! events from 5000 on. All others get numbers behind these: what old programs made up themselves, pairs that are
//! crossed, regions and markers. The states of functions come after them.

use blockfile::args::ByteCursor;
use blockfile::user::{UserCategory, UserCategoryKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trace_formats::clog2::states::USER_STATES;
use trace_formats::clog2::{Clog2EventDef, Clog2StateDef, FixedText};
use trace_formats::slog2::Color;
use trace_model::hash::Map;

/// First of the numbers that MPE hands out for states.
const FIRST_PAIR: i32 = 2 * USER_STATES;
/// First of those that it hands out for solo events.
const FIRST_SOLO: i32 = 5000;
/// States for which there is no room below the solo events get numbers from here on.
const FAR_STATES: i32 = 1_000_000;
/// Solo events from here on were not handed out.
const LAST_SOLO: i32 = 100_000;
/// Most categories of a run.
const MAX_CATEGORIES: usize = 1 << 16;

/// Colours of what has none.
const COLORS: [&str; 16] = [
    "SteelBlue",
    "DarkSeaGreen",
    "goldenrod",
    "IndianRed",
    "MediumPurple",
    "turquoise",
    "salmon",
    "YellowGreen",
    "orchid",
    "SkyBlue",
    "tan",
    "coral",
    "CadetBlue",
    "plum",
    "khaki",
    "RosyBrown",
];

/// The categories of a process, of a part of a run, or of all of it.
#[derive(Clone, Debug, Default)]
pub struct UserCategories {
    /// In the order in which they came up.
    all: Vec<UserCategory>,
    /// The rank that has described each of them.
    ranks: Vec<u32>,
    /// By name.
    names: HashMap<(UserCategoryKind, String), usize>,
    /// States and events of MPE's API, by kind, start and end.
    numbers: BTreeMap<(UserCategoryKind, i32, i32), usize>,
    /// Numbers of events of MPE's API that came up.
    used: BTreeSet<i32>,
}

impl UserCategories {
    /// Whether the program told anything.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.used.is_empty()
    }

    /// Takes a description; a later one of the same process counts, as with MPE.
    pub fn define(&mut self, category: UserCategory) {
        match self.find(&category) {
            Some(i) => self.all[i] = category,
            None => self.push(category, 0),
        }
    }

    /// Says whose descriptions these are: those of a process with this rank.
    pub fn set_rank(&mut self, rank: u32) {
        self.ranks.fill(rank);
    }

    /// An event of MPE's API came up.
    #[inline]
    pub fn note(&mut self, number: i32) {
        if !self.used.contains(&number) && self.used.len() < MAX_CATEGORIES {
            self.used.insert(number);
        }
    }

    /// Adds those of other ranks. What is known already keeps its place; of two descriptions that of the lower rank counts.
    pub fn join(&mut self, other: UserCategories) {
        for (category, rank) in other.all.into_iter().zip(other.ranks) {
            match self.find(&category) {
                None => self.push(category, rank),
                Some(i) if rank < self.ranks[i] => {
                    self.all[i] = category;
                    self.ranks[i] = rank;
                }
                Some(_) => {}
            }
        }
        self.used.extend(other.used);
    }

    fn find(&self, c: &UserCategory) -> Option<usize> {
        match c.kind {
            UserCategoryKind::State | UserCategoryKind::Event => {
                self.numbers.get(&(c.kind, c.number, c.end)).copied()
            }
            _ => self.names.get(&(c.kind, c.name.clone())).copied(),
        }
    }

    fn push(&mut self, category: UserCategory, rank: u32) {
        if self.all.len() >= MAX_CATEGORIES {
            return;
        }
        let at = self.all.len();
        match category.kind {
            UserCategoryKind::State | UserCategoryKind::Event => {
                let key = (category.kind, category.number, category.end);
                self.numbers.insert(key, at);
            }
            _ => {
                self.names
                    .insert((category.kind, category.name.clone()), at);
            }
        }
        self.all.push(category);
        self.ranks.push(rank);
    }

    /// Encodes the categories for [`UserCategories::decode`] on another rank.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = (self.all.len() as u32).to_ne_bytes().to_vec();
        for (category, rank) in self.all.iter().zip(&self.ranks) {
            out.extend(rank.to_ne_bytes());
            out.extend(category.encode());
        }
        out.extend((self.used.len() as u32).to_ne_bytes());
        for number in &self.used {
            out.extend(number.to_ne_bytes());
        }
        out
    }

    /// Takes from `b` what [`UserCategories::encode`] gave.
    pub fn decode(b: &mut ByteCursor<'_>) -> Option<UserCategories> {
        let mut categories = UserCategories::default();
        for _ in 0..b.u32()? {
            let rank = b.u32()?;
            let category = UserCategory::decode(b)?;
            if categories.find(&category).is_none() {
                categories.push(category, rank);
            }
        }
        for _ in 0..b.u32()? {
            categories.used.insert(b.i32()?);
        }
        Some(categories)
    }
}

/// The numbers in the CLOG2 file of what one category gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryEtypes {
    /// Number of the start event.
    pub start: i32,
    /// Number of the end event.
    pub end: i32,
}

/// The agreed categories with their numbers in the CLOG2 file.
#[derive(Clone, Debug, Default)]
pub struct NumberedCategories {
    states: Vec<Clog2StateDef>,
    /// By position of a state its name, of which the definition may have only the beginning.
    state_names: Vec<String>,
    events: Vec<Clog2EventDef>,
    /// By position of an event its name, of which the definition may have only the beginning.
    event_names: Vec<String>,
    names: HashMap<(UserCategoryKind, String), CategoryEtypes>,
    /// Of events of MPE's API.
    numbers: Map<i32, i32>,
    /// End events of states of MPE's API, by start event in the CLOG2 file.
    ends: Map<i32, i32>,
    pairs: i32,
    solo: i32,
    /// Colours given to what has none.
    colors: usize,
}

impl NumberedCategories {
    /// Numbers `categories`, leaving room for the states of functions. `recover` says that the run was killed: a region that
    /// did not end says so.
    pub fn new(categories: &UserCategories, functions: i32, recover: bool) -> NumberedCategories {
        let mut layout = NumberedCategories::default();
        let room = (FIRST_SOLO - FIRST_PAIR) / 2 - functions;
        layout.keep(categories, room);
        let mut far = FAR_STATES;
        let mut taken: BTreeSet<i32> = layout.numbers.keys().copied().collect();
        for category in &categories.all {
            match category.kind {
                UserCategoryKind::State => {
                    let numbers = [category.number, category.end];
                    if numbers.iter().any(|n| taken.contains(n)) {
                        continue;
                    }
                    taken.extend(numbers);
                    let id = layout.next_state(room, &mut far);
                    layout.state(category, id, "");
                }
                UserCategoryKind::Region => {
                    let id = layout.next_state(room, &mut far);
                    let etypes = layout.state(category, id, if recover { "%s" } else { "" });
                    layout
                        .names
                        .insert((category.kind, category.name.clone()), etypes);
                }
                UserCategoryKind::Event if taken.insert(category.number) => {
                    let etype = layout.next_solo();
                    layout.event(category, etype);
                    layout.numbers.insert(category.number, etype);
                }
                UserCategoryKind::Event => {}
                UserCategoryKind::Integer | UserCategoryKind::Real | UserCategoryKind::Text => {
                    let etype = layout.next_solo();
                    layout.event(category, etype);
                    let etypes = CategoryEtypes {
                        start: etype,
                        end: etype,
                    };
                    layout
                        .names
                        .insert((category.kind, category.name.clone()), etypes);
                }
            }
        }
        for &number in &categories.used {
            if taken.insert(number) {
                // Nobody has described it.
                let etype = layout.next_solo();
                let category = UserCategory {
                    kind: UserCategoryKind::Event,
                    name: format!("event {number}"),
                    ..UserCategory::default()
                };
                layout.event(&category, etype);
                layout.numbers.insert(number, etype);
            }
        }
        layout
    }

    /// Numbers that MPE has handed out are kept.
    fn keep(&mut self, categories: &UserCategories, room: i32) {
        for category in &categories.all {
            let number = category.number;
            match category.kind {
                UserCategoryKind::State
                    if number % 2 == 0
                        && category.end.wrapping_sub(number) == 1
                        && (FIRST_PAIR..FIRST_PAIR + 2 * room).contains(&number) =>
                {
                    let id = number / 2;
                    self.pairs = self.pairs.max(id + 1 - USER_STATES);
                    self.state(category, id, "");
                }
                UserCategoryKind::Event if (FIRST_SOLO..LAST_SOLO).contains(&number) => {
                    self.solo = self.solo.max(number + 1 - FIRST_SOLO);
                    self.event(category, number);
                    self.numbers.insert(number, number);
                }
                _ => {}
            }
        }
    }

    /// The colour of a category: its own, if viewers know it, else the next one.
    fn color(&mut self, category: &UserCategory) -> FixedText<24> {
        if Color::from_name(category.color.trim()).is_some() {
            return FixedText::new(&category.color);
        }
        self.colors += 1;
        FixedText::new(COLORS[(self.colors - 1) % COLORS.len()])
    }

    fn next_state(&mut self, room: i32, far: &mut i32) -> i32 {
        if self.pairs < room {
            self.pairs += 1;
            USER_STATES + self.pairs - 1
        } else {
            *far += 1;
            *far - 1
        }
    }

    fn next_solo(&mut self) -> i32 {
        self.solo += 1;
        FIRST_SOLO + self.solo - 1
    }

    fn state(&mut self, category: &UserCategory, id: i32, format: &str) -> CategoryEtypes {
        let (start, end) = (2 * id, 2 * id + 1);
        let color = self.color(category);
        let format = if format.is_empty() {
            &category.format
        } else {
            format
        };
        self.state_names.push(category.name.clone());
        self.states.push(Clog2StateDef {
            state_id: id,
            start_etype: start,
            final_etype: end,
            color,
            name: FixedText::new(&category.name),
            format: FixedText::new(format),
        });
        if category.kind == UserCategoryKind::State {
            self.numbers.insert(category.number, start);
            self.numbers.insert(category.end, end);
            self.ends.insert(start, end);
        }
        CategoryEtypes { start, end }
    }

    fn event(&mut self, category: &UserCategory, etype: i32) {
        let color = self.color(category);
        self.event_names.push(category.name.clone());
        self.events.push(Clog2EventDef {
            etype,
            color,
            name: FixedText::new(&category.name),
            format: FixedText::new(&category.format),
        });
    }

    /// Whether there are no categories.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty() && self.events.is_empty()
    }

    /// Number of states below the solo events: those of functions come behind them.
    pub fn pairs(&self) -> i32 {
        self.pairs
    }

    /// Number of solo events: others come behind them.
    pub fn solo(&self) -> i32 {
        self.solo
    }

    /// Definitions of states.
    pub fn states(&self) -> &[Clog2StateDef] {
        &self.states
    }

    /// Definitions of states, each with its name, of which the definition may have only the beginning.
    pub fn named_states(&self) -> impl Iterator<Item = (&Clog2StateDef, &String)> {
        self.states.iter().zip(&self.state_names)
    }

    /// Definitions of solo events.
    pub fn events(&self) -> &[Clog2EventDef] {
        &self.events
    }

    /// Definitions of solo events, each with its name, of which the definition may have only the beginning.
    pub fn named_events(&self) -> impl Iterator<Item = (&Clog2EventDef, &String)> {
        self.events.iter().zip(&self.event_names)
    }

    /// Numbers of the category with this kind and name; `None` if there is none.
    pub fn named(&self, kind: UserCategoryKind, name: &str) -> Option<CategoryEtypes> {
        self.names.get(&(kind, name.to_owned())).copied()
    }

    /// Number in the merged file of an event of MPE's API; `None` if it is not defined.
    #[inline]
    pub fn number(&self, number: i32) -> Option<i32> {
        self.numbers.get(&number).copied()
    }

    /// The end event of the state of MPE's API that begins with `etype`.
    #[inline]
    pub fn end_of(&self, etype: i32) -> Option<i32> {
        self.ends.get(&etype).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn category(kind: UserCategoryKind, number: i32, end: i32, name: &str) -> UserCategory {
        UserCategory {
            kind,
            number,
            end,
            name: name.to_owned(),
            ..UserCategory::default()
        }
    }

    fn made() -> UserCategories {
        let mut all = UserCategories::default();
        all.define(category(UserCategoryKind::Region, 1, 0, "solve"));
        all.define(category(UserCategoryKind::State, 602, 603, "handed out"));
        all.define(category(UserCategoryKind::State, 1, 2, "made up"));
        all.define(category(UserCategoryKind::State, 605, 607, "crossed"));
        all.define(category(UserCategoryKind::Event, 5001, 0, "tick"));
        all.define(category(UserCategoryKind::Event, 604, 0, "single"));
        all.define(category(UserCategoryKind::Integer, 2, 0, "step"));
        all.note(602);
        all.note(777);
        all
    }

    #[test]
    fn colors_are_known_to_viewers() {
        assert!(COLORS.iter().all(|c| Color::from_name(c).is_some()));
    }

    #[test]
    fn numbers_that_mpe_hands_out_are_kept_and_others_come_behind() {
        let layout = NumberedCategories::new(&made(), 100, false);
        assert_eq!(layout.number(602), Some(602));
        assert_eq!(layout.number(603), Some(603));
        assert_eq!(layout.number(5001), Some(5001));
        assert_eq!(layout.end_of(602), Some(603));
        let region = layout.named(UserCategoryKind::Region, "solve").unwrap();
        assert_eq!((region.start, region.end), (604, 605));
        assert_eq!(layout.number(1), Some(606));
        assert_eq!(layout.number(605), Some(608));
        assert_eq!(layout.number(604), Some(5002));
        assert_eq!(layout.number(777), Some(5004));
        assert_eq!((layout.pairs(), layout.solo()), (5, 5));
        // All numbers differ.
        let states = layout.states().iter();
        let mut all: Vec<i32> = states
            .flat_map(|s| [s.start_etype, s.final_etype])
            .collect();
        all.extend(layout.events().iter().map(|e| e.etype));
        let different: BTreeSet<i32> = all.iter().copied().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn what_finds_no_room_below_the_solo_events_goes_far_behind() {
        let mut all = UserCategories::default();
        for i in 0..3000 {
            all.define(category(
                UserCategoryKind::Region,
                i,
                0,
                &format!("region {i}"),
            ));
            all.define(category(
                UserCategoryKind::State,
                600 + 2 * i,
                601 + 2 * i,
                "state",
            ));
        }
        let layout = NumberedCategories::new(&all, 900, false);
        assert_eq!(layout.pairs(), 2200 - 900);
        let mut numbers: Vec<i32> = layout.states().iter().map(|s| s.start_etype).collect();
        assert_eq!(numbers.len(), 6000);
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 6000);
        assert!(numbers.iter().all(|n| *n < 600 + 2600 || *n >= 2_000_000));
    }

    #[test]
    fn ranks_agree_by_number_and_by_name() {
        let mut a = made();
        let mut b = UserCategories::default();
        b.define(category(UserCategoryKind::Region, 7, 0, "solve"));
        b.define(category(UserCategoryKind::Region, 8, 0, "other"));
        b.define(category(
            UserCategoryKind::State,
            602,
            603,
            "named otherwise",
        ));
        b.note(778);
        let bytes = b.encode();
        for cut in 0..bytes.len() {
            assert!(UserCategories::decode(&mut ByteCursor::new(&bytes[..cut])).is_none());
        }
        a.join(UserCategories::decode(&mut ByteCursor::new(&bytes)).unwrap());
        assert_eq!(a.all.len(), made().all.len() + 1);
        let layout = NumberedCategories::new(&a, 100, false);
        let kept = layout.states().iter().find(|s| s.state_id == 301).unwrap();
        assert_eq!(kept.name.to_str(), "handed out");
        assert!(layout.number(778).is_some());
    }
}
