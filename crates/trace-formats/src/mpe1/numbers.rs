//! Event numbers for categories.

use super::look;
use super::{HashMap, calls};
use std::collections::BTreeSet;
use trace_model::{Category, Definitions, Losses, Topology};

/// First number of what is not in MPE's table.
const FIRST: i32 = 500;

/// A state and its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateNumbers {
    /// Index of the category.
    pub(crate) category: i32,
    /// Number of the start event.
    pub(crate) start: i32,
    /// Number of the end event.
    pub(crate) end: i32,
    /// `COLOR` or `COLOR:BITMAP`.
    pub(crate) look: String,
    /// Name.
    pub(crate) name: Vec<u8>,
    /// Name in MPE's table, if it is there.
    pub(crate) short_name: Option<&'static str>,
}

/// An event and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventNumber {
    /// Index of the category.
    pub(crate) category: i32,
    /// Number.
    pub(crate) etype: i32,
    /// Name.
    pub(crate) name: Vec<u8>,
}

/// Gives numbers to all states and events: MPI calls those of MPE's table, others those they have in the source if
/// `may_keep` likes them, else from 500 up.
pub(super) fn number(
    definitions: &Definitions,
    may_keep: fn(i32, i32) -> bool,
    losses: &mut Losses,
) -> (Vec<StateNumbers>, Vec<EventNumber>) {
    let categories = || {
        definitions
            .categories
            .iter()
            .filter(|found| found.index >= 0)
    };
    let is = |topology| move |found: &&Category| found.topology == topology;
    let mut given: HashMap<i32, (i32, i32)> = HashMap::default();
    let mut taken = BTreeSet::new();
    for state in categories().filter(is(Topology::State)) {
        if let Some(call) = calls::by_name(&state.name.to_str())
            && taken.insert(call.start)
        {
            taken.insert(call.start + 1);
            given.insert(state.index, (call.start, call.start + 1));
        }
    }
    for found in categories().filter(|found| found.topology != Topology::Arrow) {
        let Some(&(start, end)) = definitions.etypes.get(&found.index) else {
            continue;
        };
        let is_state = found.topology == Topology::State;
        if !given.contains_key(&found.index)
            && (start >= 0 && end >= 0 && (start != end) == is_state)
            && may_keep(start, end)
            && !taken.contains(&start)
            && !taken.contains(&end)
        {
            taken.extend([start, end]);
            given.insert(found.index, (start, end));
        }
    }
    let mut next = FIRST;
    let mut free = || {
        // In pairs, also for events: clogTOslog2 takes an even number for the start of a state.
        while taken.contains(&next) || taken.contains(&(next + 1)) {
            next += 2;
        }
        next += 2;
        next - 2
    };
    // Events first, because clogTOslog2 knows no number from 560 up that no state has.
    let mut events = Vec::new();
    for event in categories().filter(is(Topology::Event)) {
        let kept = given.get(&event.index).map(|&(etype, _)| etype);
        events.push(EventNumber {
            category: event.index,
            etype: kept.unwrap_or_else(&mut free),
            name: name_of(event, "event"),
        });
    }
    losses.add("colour of an event category", events.len() as u64);
    let mut states = Vec::new();
    for state in categories().filter(is(Topology::State)) {
        let (start, end) = given.get(&state.index).copied().unwrap_or_else(|| {
            let start = free();
            (start, start + 1)
        });
        let call = calls::by_name(&state.name.to_str());
        let (color, is_exact) = look::name(state.color);
        losses.add(
            "colour without a name, replaced by the nearest",
            u64::from(!is_exact),
        );
        let known = call.filter(|call| look::color(call.look.as_bytes()) == Some(state.color));
        states.push(StateNumbers {
            category: state.index,
            start,
            end,
            look: known.map_or(color, |call| call.look).to_owned(),
            name: name_of(state, "state"),
            short_name: call.map(|call| call.name),
        });
    }
    (states, events)
}

/// The name on one line; one that is made up if there is none.
fn name_of(category: &Category, kind: &str) -> Vec<u8> {
    let mut name = category.name.0.trim_ascii().to_vec();
    for byte in &mut name {
        if matches!(*byte, b'\n' | b'\r' | 0) {
            *byte = b' ';
        }
    }
    if name.is_empty() {
        name = format!("{kind} {}", category.index).into_bytes();
    }
    name
}
