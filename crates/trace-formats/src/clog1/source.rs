//! A CLOG-1 file as a source of drawables.

use super::error::Clog1Error;
use super::read::Clog1Reader;
use super::record::{Clog1Body, Clog1Record};
use crate::mpe1::{self, EventPairing, EventSurvey, Mpe1Event, ReadPlan, StateDefinition};
use std::io::Write;
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Stop};

/// A CLOG-1 file that can be read as drawables: as [`crate::alog::AlogSource`]. The states of MPE's wrappers have their
/// names also where the definitions, which stand at the end, are missing.
#[derive(Debug)]
pub struct Clog1Source<'a> {
    reader: Clog1Reader<'a>,
    plan: ReadPlan,
}

impl<'a> Clog1Source<'a> {
    /// Reads the whole file once for what it defines.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn new(file: &'a [u8]) -> Result<Self, Clog1Error> {
        let (source, damage) = Clog1Source::salvaged(Clog1Reader::new(file)?);
        damage.map_or(Ok(source), Err)
    }

    /// Source of a file that may be damaged: gives what stands before the damage, and the damage.
    pub fn salvaged(reader: Clog1Reader<'a>) -> (Self, Option<Clog1Error>) {
        let mut survey = EventSurvey::new();
        let mut scratch = Vec::new();
        let mut damage = None;
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    damage = Some(error);
                    break;
                }
            };
            if let Some(event) = event(&record, &mut scratch) {
                survey.see(&event);
                continue;
            }
            match &record.body {
                Clog1Body::StateDef(def) => survey.define_state(StateDefinition {
                    start: def.start_etype,
                    end: def.end_etype,
                    look: def.color.as_bytes().to_vec(),
                    name: def.name.as_bytes().to_vec(),
                }),
                Clog1Body::EventDef(def) => survey.define_event(def.etype, def.name.as_bytes()),
                body => survey.losses.add(lost(body), 1),
            }
        }
        let plan = survey.plan(String::new(), true, &[]);
        (Clog1Source { reader, plan }, damage)
    }

    /// The file.
    pub fn reader(&self) -> &Clog1Reader<'a> {
        &self.reader
    }
}

/// Names the loss of a record that is neither event nor definition.
fn lost(body: &Clog1Body) -> &'static str {
    match body {
        Clog1Body::Comm(_) => "record of a communicator",
        Clog1Body::SrcLoc(_) => "place in the source",
        Clog1Body::Shift(_) => "shift of a clock",
        _ => "record of no known type",
    }
}

/// The event of a record, if it is one. `scratch` takes the text of a message record.
fn event<'r>(record: &'r Clog1Record, scratch: &'r mut Vec<u8>) -> Option<Mpe1Event<'r>> {
    let header = &record.header;
    let (etype, data, text) = match &record.body {
        Clog1Body::Raw(raw) => (raw.etype, raw.data, raw.text.as_bytes()),
        Clog1Body::Msg(msg) => {
            scratch.clear();
            if let mpe1::SEND | mpe1::RECEIVE = msg.etype {
                // Writing to memory cannot fail.
                let _ = write!(scratch, "{} {}", msg.tag, msg.size);
            }
            (msg.etype, msg.partner, scratch.as_slice())
        }
        Clog1Body::Coll(coll) => (coll.etype, coll.root, &[][..]),
        _ => return None,
    };
    Some(Mpe1Event {
        time: header.time,
        rank: header.rank,
        thread: 0,
        etype,
        data,
        text,
    })
}

impl trace_model::Source for Clog1Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.plan.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.plan.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut pairing = EventPairing::new(&self.plan);
        let mut scratch = Vec::new();
        for record in self.reader.records().map_while(Result::ok) {
            if let Some(event) = event(&record, &mut scratch) {
                pairing.push(&event, put)?;
            }
        }
        Ok(pairing.finish())
    }
}
