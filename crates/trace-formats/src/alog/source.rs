//! An ALOG file as a source of drawables.

use super::error::AlogError;
use super::event::AlogEvent;
use super::header::AlogHeader;
use super::read::{AlogReader, LineContent};
use crate::mpe1::{self, EventPairing, EventSurvey, ReadPlan, StateDefinition};
use trace_model::{Definitions, Drawable, DrawableOrder, Losses, Stop};

/// An ALOG file that can be read as drawables: states by their start and end events, messages by -101 and -102, all
/// other events as they are.
///
/// States pair with the latest start that is still open on their process, messages of a sender, receiver and tag in
/// their order (`spec/alog.md` section 3). What has no partner is lost, and counted.
#[derive(Debug)]
pub struct AlogSource<'a> {
    reader: AlogReader<'a>,
    header: AlogHeader,
    plan: ReadPlan,
}

impl<'a> AlogSource<'a> {
    /// Reads the whole file once for what it defines.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn new(file: &'a [u8]) -> Result<Self, AlogError> {
        let (source, damage) = AlogSource::salvaged(file);
        damage.map_or(Ok(source), Err)
    }

    /// Source of a file that may be damaged: gives what stands before the damage, and the damage.
    pub fn salvaged(file: &'a [u8]) -> (Self, Option<AlogError>) {
        let reader = AlogReader::new(file);
        let mut header = AlogHeader::default();
        let mut damage = None;
        for line in reader.lines() {
            // A state without a name is one without a definition; reading goes on.
            let taken = line.and_then(|line| header.take(&line));
            damage = damage.or(taken.err());
        }
        let mut survey = EventSurvey::new();
        for state in &header.states {
            survey.define_state(StateDefinition {
                start: state.start,
                end: state.end,
                look: state.look(),
                name: state.name.clone(),
            });
        }
        for (etype, name) in &header.events {
            survey.define_event(*etype, name);
        }
        let mut count = 0;
        for event in events(&reader) {
            survey.see(&plain(&event, &header));
            count += 1;
        }
        let announced = u64::try_from(header.counts[0].unwrap_or(0)).unwrap_or(0);
        let missing = announced.saturating_sub(count);
        survey
            .losses
            .add("event that the file announces but does not hold", missing);
        let formats = header
            .formats
            .iter()
            .filter(|(_, format)| !format.is_empty());
        survey
            .losses
            .add("printf format of an event", formats.count() as u64);
        survey.losses.add(
            "look of messages by their tag",
            header.messages.len() as u64,
        );
        let program = match header.creator.as_slice() {
            // MPE writes this name for every process, so it says nothing.
            b"Me" => String::new(),
            creator => String::from_utf8_lossy(creator).into_owned(),
        };
        let plan = survey.plan(program, false, &header.processes);
        let source = AlogSource {
            reader,
            header,
            plan,
        };
        (source, damage)
    }

    /// Header of the file.
    pub fn header(&self) -> &AlogHeader {
        &self.header
    }
}

/// The events of a file up to its end or its first damage.
fn events<'a>(reader: &AlogReader<'a>) -> impl Iterator<Item = AlogEvent<'a>> + use<'a> {
    let lines = reader.lines().map_while(Result::ok);
    lines.filter_map(|line| match line.content {
        LineContent::Event(event) if !event.is_header() => Some(event),
        _ => None,
    })
}

fn plain<'a>(event: &AlogEvent<'a>, header: &AlogHeader) -> mpe1::Mpe1Event<'a> {
    mpe1::Mpe1Event {
        time: header.seconds(event),
        rank: event.process,
        thread: event.task,
        etype: event.etype,
        data: event.data,
        text: event.text(),
    }
}

impl trace_model::Source for AlogSource<'_> {
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
        for event in events(&self.reader) {
            pairing.push(&plain(&event, &self.header), put)?;
        }
        Ok(pairing.finish())
    }
}
