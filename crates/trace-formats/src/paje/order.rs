//! Through a trace from its first event to its last, by time if the file is not in order.

use std::collections::BinaryHeap;
use std::rc::Rc;

use super::error::{PajeError, PajeRule};
use super::names::EventName;
use super::read::{EventDefinition, EventPosition, PajeEvent, PajeReader, PajeTrace};
use super::simulate::{Entity, Simulator};
use trace_model::Stop;

/// Events that are sorted in memory at a time, in as many passes over the file as it takes.
const PIECE: usize = 1 << 21;

/// Takes what is over, with the state of things and the event definitions met so far.
pub type EntitySink<'p> =
    dyn FnMut(&Simulator, &[Rc<EventDefinition>], &Entity) -> Result<(), Stop> + 'p;

/// Result of a pass over a trace.
#[derive(Debug)]
pub struct SimulationResult {
    /// The state at the end.
    pub simulator: Simulator,
    /// The event definitions, by their numbers in [`EventPosition`].
    pub definitions: Vec<Rc<EventDefinition>>,
    /// Error that ended the simulation early.
    pub error: Option<PajeError>,
    /// Files that were named and are not there.
    pub missing_files: u64,
}

impl SimulationResult {
    /// True if events of one type on one container stand in the file in another order than that of their times.
    pub fn is_disordered(&self) -> bool {
        self.simulator.broken.contains_key(&PajeRule::TimeOrder)
    }
}

/// Simulates the trace in the order of the file, and gives `put` what is over, with the definitions met so far. An
/// error in the trace ends it early; so does one of `put`, which is returned.
pub fn simulate(trace: &PajeTrace<'_>, put: &mut EntitySink<'_>) -> Result<SimulationResult, Stop> {
    let mut reader = PajeReader::new(trace);
    let mut simulator = Simulator::default();
    let mut over = Vec::new();
    let error = loop {
        match reader.next() {
            Ok(None) => break None,
            Ok(Some(event)) => {
                if let Err(error) = simulator.step(&event) {
                    break Some(error);
                }
            }
            Err(error) => break Some(error),
        }
        give(&mut simulator, reader.definitions(), &mut over, put)?;
    };
    simulator.finish();
    give(&mut simulator, reader.definitions(), &mut over, put)?;
    Ok(SimulationResult {
        simulator,
        definitions: reader.definitions().to_vec(),
        error,
        missing_files: reader.missing_files(),
    })
}

/// Simulates the trace in order of time; events at one time as they stand in the file. All definitions, and the containers, are
/// made first.
pub fn simulate_sorted(
    trace: &PajeTrace<'_>,
    put: &mut EntitySink<'_>,
) -> Result<SimulationResult, Stop> {
    sorted(trace, PIECE, put)
}

fn sorted(
    trace: &PajeTrace<'_>,
    piece: usize,
    put: &mut EntitySink<'_>,
) -> Result<SimulationResult, Stop> {
    let mut simulator = Simulator::default();
    let mut tokens = Vec::new();
    let mut over = Vec::new();
    let mut after: Option<Key> = None;
    loop {
        // The first events behind those that were already given.
        let mut next = BinaryHeap::with_capacity(piece.min(1 << 12));
        let mut reader = PajeReader::new(trace);
        let mut number = 0;
        let mut error = loop {
            let event = match reader.next() {
                Ok(None) => break None,
                Ok(Some(event)) => event,
                Err(error) => break Some(error),
            };
            number += 1;
            let at_once = event.definition.event == EventName::CreateContainer;
            match event.time() {
                Ok(Some(time)) if !at_once => {
                    let key = Key {
                        time,
                        number,
                        place: event.place,
                    };
                    if after.is_none_or(|after| key > after) {
                        next.push(key);
                        if next.len() > piece {
                            next.pop();
                        }
                    }
                }
                Ok(_) if after.is_some() => {}
                Ok(_) => {
                    if let Err(error) = simulator.step(&event) {
                        break Some(error);
                    }
                }
                Err(error) => break Some(error),
            }
        };
        let definitions = reader.definitions();
        let whole = next.len() < piece;
        for key in next.into_sorted_vec() {
            after = Some(key);
            let Some(definition) = definitions.get(key.place.definition as usize) else {
                continue;
            };
            let mut stepped = Ok(());
            let mut step = |event: &PajeEvent<'_>| stepped = simulator.step(event);
            trace.event_at(key.place, definition, &mut tokens, &mut step)?;
            if let Err(wrong) = stepped {
                error = Some(wrong);
                break;
            }
            give(&mut simulator, definitions, &mut over, put)?;
        }
        if whole || error.is_some() {
            simulator.finish();
            give(&mut simulator, definitions, &mut over, put)?;
            return Ok(SimulationResult {
                simulator,
                definitions: definitions.to_vec(),
                error,
                missing_files: reader.missing_files(),
            });
        }
    }
}

fn give(
    simulator: &mut Simulator,
    definitions: &[Rc<EventDefinition>],
    over: &mut Vec<Entity>,
    put: &mut EntitySink<'_>,
) -> Result<(), Stop> {
    over.extend(simulator.over());
    for entity in over.drain(..) {
        put(simulator, definitions, &entity)?;
    }
    Ok(())
}

/// An event, by time and by its number in the file.
#[derive(Clone, Copy, Debug)]
struct Key {
    time: f64,
    number: u64,
    place: EventPosition,
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let times = self.time.total_cmp(&other.time);
        times.then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}
