//! An ALOG file as a source of drawables.

use super::error::Error;
use super::event::Event;
use super::header::Header;
use super::read::{Content, Reader};
use crate::mpe1::{self, Pairing, Plan, State, Survey};
use trace_model::{Definitions, Drawable, Losses, Order, Stop};

/// An ALOG file that can be read as drawables: states by their start and end events, messages by -101 and -102, all
/// other events as they are.
///
/// States pair with the latest start that is still open on their process, messages of a sender, receiver and tag in
/// their order (`spec/alog.md` section 3). What has no partner is lost, and counted.
#[derive(Debug)]
pub struct Source<'a> {
    reader: Reader<'a>,
    header: Header,
    plan: Plan,
}

impl<'a> Source<'a> {
    /// Reads the whole file once for what it defines.
    ///
    /// # Errors
    /// The file is damaged, wherever.
    pub fn new(file: &'a [u8]) -> Result<Self, Error> {
        let (source, damage) = Source::salvaged(file);
        damage.map_or(Ok(source), Err)
    }

    /// Source of a file that may be damaged: gives what stands before the damage, and the damage.
    pub fn salvaged(file: &'a [u8]) -> (Self, Option<Error>) {
        let reader = Reader::new(file);
        let mut header = Header::default();
        let mut damage = None;
        for line in reader.lines() {
            // A state without a name is one without a definition; reading goes on.
            let taken = line.and_then(|line| header.take(&line));
            damage = damage.or(taken.err());
        }
        let mut survey = Survey::new();
        for state in &header.states {
            survey.define_state(State {
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
            // What MPE writes there says nothing.
            b"Me" => String::new(),
            creator => String::from_utf8_lossy(creator).into_owned(),
        };
        let plan = survey.plan(program, false, &header.processes);
        let source = Source {
            reader,
            header,
            plan,
        };
        (source, damage)
    }

    /// What the file says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }
}

/// The events of a file up to its end or its first damage.
fn events<'a>(reader: &Reader<'a>) -> impl Iterator<Item = Event<'a>> + use<'a> {
    let lines = reader.lines().map_while(Result::ok);
    lines.filter_map(|line| match line.content {
        Content::Event(event) if !event.is_header() => Some(event),
        _ => None,
    })
}

fn plain<'a>(event: &Event<'a>, header: &Header) -> mpe1::Event<'a> {
    mpe1::Event {
        time: header.seconds(event),
        rank: event.process,
        thread: event.task,
        etype: event.etype,
        data: event.data,
        text: event.text(),
    }
}

impl trace_model::Source for Source<'_> {
    fn definitions(&self) -> &Definitions {
        &self.plan.definitions
    }

    fn order(&self) -> Order {
        self.plan.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut pairing = Pairing::new(&self.plan);
        for event in events(&self.reader) {
            pairing.push(&plain(&event, &self.header), put)?;
        }
        Ok(pairing.finish())
    }
}
