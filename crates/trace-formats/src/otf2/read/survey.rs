//! The first pass over an archive: what its events are about, so that categories and lines are known before the first drawable.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::Otf2Error;
use super::super::numbers::{CPU_THREAD, metric_mode};
use super::super::values::COMPLETE_AFTER;
use super::archive::ReadArchive;
use super::calls::{BegunCalls, LocationState, RegionVisit};
use super::comms::Comms;
use super::definitions::{GlobalDefinitions, Location};
use super::event::EventKind;
use super::files;
use super::places::Places;
use super::requests::RequestNumbers;

/// Sets of attributes by which visits of one region are told apart, at most.
const MAX_VARIANTS: usize = 8;

/// What visits of a region tell, of all together.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionUse {
    /// References of attributes.
    pub attributes: BTreeSet<u32>,
    /// The sets of attributes that single visits have, unless there are more than [`MAX_VARIANTS`].
    sets: Vec<BTreeSet<u32>>,
    /// Accumulated metrics.
    pub members: BTreeSet<u32>,
    /// Names of values that events tell.
    told: BTreeSet<&'static str>,
    /// Whether a visit takes any time.
    pub takes_time: bool,
}

impl RegionUse {
    fn take(&mut self, visit: &RegionVisit, definitions: &GlobalDefinitions) {
        if self.sets.len() <= MAX_VARIANTS && !self.sets.iter().any(|set| visit.has_attributes(set))
        {
            let attributes = visit.attributes.iter().map(|(reference, ..)| *reference);
            let set: BTreeSet<u32> = attributes.collect();
            self.attributes.extend(&set);
            self.sets.push(set);
        } else if self.sets.len() > MAX_VARIANTS {
            let attributes = visit.attributes.iter().map(|(reference, ..)| *reference);
            self.attributes.extend(attributes);
        }
        self.members
            .extend(visit.sums.iter().map(|(member, _)| *member));
        self.takes_time |= visit.start != visit.end;
        let facts = &visit.facts;
        let has_begun = facts.request().is_some();
        let told = [
            (facts.root.is_some(), "root"),
            (facts.bytes.is_some(), "bytes"),
            (has_begun, "request"),
            (has_begun, "sends"),
            (has_begun, "receives"),
            (!facts.completes.is_empty(), "completes"),
            (facts.handle.is_some() || facts.window.is_some(), "handle"),
            (!files::path(definitions, visit).is_empty(), "filename"),
            (facts.group.is_some(), "ranks"),
            (facts.target.is_some(), "target"),
            (facts.is_exclusive.is_some(), "exclusive"),
            (facts.complete_after.is_some(), COMPLETE_AFTER),
        ];
        let told = told.into_iter().filter(|(is_told, _)| *is_told);
        self.told.extend(told.map(|(_, name)| name));
    }

    /// The visits apart that have other attributes than others, at most [`MAX_VARIANTS`]; if there are more, all together.
    pub(super) fn variants(&self) -> Vec<RegionUse> {
        if self.sets.len() > MAX_VARIANTS {
            return vec![self.clone()];
        }
        let variant = |attributes: &BTreeSet<u32>| RegionUse {
            attributes: attributes.clone(),
            ..self.clone()
        };
        self.sets.iter().map(variant).collect()
    }

    /// Whether events tell the value of this name.
    pub(super) fn tells(&self, name: &str) -> bool {
        self.told.contains(name)
    }
}

/// What the events of an archive are about.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub regions: BTreeMap<u32, RegionUse>,
    /// Metrics whose values are events of their own.
    pub metrics: BTreeSet<u32>,
    /// Lines of threads, and communicators of calls and messages there.
    pub comms_on: BTreeSet<(i32, u32)>,
    /// Earliest time, ticks.
    pub first: Option<u64>,
    /// Reference of the name of the program.
    pub program: Option<u32>,
    /// Bytes of the largest message.
    pub largest_message: u64,
}

/// What becomes of the values of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricUse {
    /// What a sum grows by during a call is a value of the call.
    OfCalls,
    /// Each value is an event.
    Events,
    Nothing,
}

/// What becomes of the values of a metric that a location has.
pub(super) fn metric_use(
    definitions: &GlobalDefinitions,
    member: u32,
    at: &Location,
    is_own: bool,
) -> MetricUse {
    let Some(member) = definitions.metric_members.get(&member) else {
        return MetricUse::Nothing;
    };
    let is_sum = member.mode & metric_mode::VALUE_BITS == metric_mode::ACCUMULATED;
    match (is_sum, at.kind) {
        (true, CPU_THREAD) if !member.is_real() => MetricUse::OfCalls,
        // The value of a marker stands among its attributes, too.
        _ if is_own => MetricUse::Nothing,
        _ => MetricUse::Events,
    }
}

impl Survey {
    /// Reads all events of an archive whose locations are open.
    ///
    /// # Errors
    /// The archive is damaged.
    pub(super) fn new(
        archive: &ReadArchive,
        definitions: &GlobalDefinitions,
        places: &Places,
        comms: &Comms,
        is_own: bool,
    ) -> Result<Survey, Otf2Error> {
        let mut survey = Survey::default();
        for place in &places.locations {
            let Some(mut events) = archive.events(&place.definition)? else {
                continue;
            };
            let mut state = LocationState::new(place.line, place.rank);
            let mut requests = RequestNumbers::new(definitions, is_own);
            let mut begun = BegunCalls::default();
            while let Some(event) = events.next()? {
                let time = state.time(&event);
                survey.first = Some(survey.first.map_or(time, |first| first.min(time)));
                match event.kind {
                    EventKind::Enter { region, attributes } => {
                        state.enter(region, time, attributes)
                    }
                    EventKind::Leave { region, attributes } => {
                        if let Some(mut visit) = state.leave(region, time) {
                            visit.take_attributes(&attributes, is_own);
                            visit.take_comm(comms);
                            survey.take(&visit, definitions);
                            begun.keep(visit, definitions.region_name(region));
                        }
                    }
                    EventKind::Metric { metric, values } => {
                        let members = definitions.members_of(metric).iter().zip(&values);
                        for (&member, &(_, bits)) in members {
                            match metric_use(definitions, member, &place.definition, is_own) {
                                MetricUse::OfCalls => state.accumulate(member, bits as i64),
                                MetricUse::Events => _ = survey.metrics.insert(member),
                                MetricUse::Nothing => {}
                            }
                        }
                    }
                    EventKind::Program { name } => _ = survey.program.get_or_insert(name),
                    kind => {
                        if let EventKind::Send(end, _) | EventKind::Receive(end, _) = &kind {
                            survey.comms_on.insert((place.line, end.comm));
                            survey.largest_message = survey.largest_message.max(end.bytes);
                        }
                        if let EventKind::IoComplete { id, .. } = kind
                            && let Some(visit) = begun.complete_access(place.rank, id, time)
                        {
                            survey.take(&visit, definitions);
                        }
                        let complete = state.take(&kind, definitions, comms, &mut requests);
                        let visit = complete.and_then(|(request, facts)| {
                            begun.complete(place.rank, request, &facts)
                        });
                        if let Some(visit) = visit {
                            survey.take(&visit, definitions);
                        }
                    }
                }
            }
        }
        Ok(survey)
    }

    fn take(&mut self, visit: &RegionVisit, definitions: &GlobalDefinitions) {
        let region = self.regions.entry(visit.region).or_default();
        region.take(visit, definitions);
        if let Some(comm) = visit.facts.comm {
            self.comms_on.insert((visit.thread, comm));
        }
    }
}
