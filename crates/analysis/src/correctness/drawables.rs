//! The checks of traces that have drawables only: collective calls, with root and bytes where the infos tell, and what ranks are in at the end.

use super::call::{CallPlace, CommKey, FunctionKey, Signature};
use super::collective::{Arrival, OperationNumber};
use super::deadlock::{OutsideCalls, WaitsFor};
use super::pass::{Check, CorrectnessPass};
use super::report::{
    CALLED_ABORT, CorrectnessReport, RankSet, end_in_words, lines_of_ends, ranks_in_words,
};
use super::role::{CollectiveOn, comes_together_on};
use io_attribution::draw::is_message;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use trace_formats::clog2::annotations::{
    NO_FINALIZE, annotation_text, is_annotation, left_out_of, not_matched_of, unfinished_of,
};
use trace_model::{
    Actor, Category, Definitions, Drawable, InfoValue, NumberMap, Topology, info_values, lane_of,
};
use wrappers::Class;

/// Most members of all communicators together. Those of a damaged file may be any number.
const MAX_MEMBERS: i32 = 1 << 23;

/// What the states of a category are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StateRole {
    /// A collective call on the communicator of its line, and whether sizes are compared.
    Collective(FunctionKey, bool),
    Finalize,
    /// A call with which a program begins to use MPI.
    Init,
    /// MPI_Pcontrol, which may switch recording off.
    Control,
    Abort,
    /// Another MPI call.
    Other,
}

/// A timeline.
#[derive(Clone, Copy, Debug)]
struct LineUse {
    rank: u32,
    thread: u32,
    comm: CommKey,
}

/// The checks of a trace with these definitions. Drawables come in order of their beginnings.
pub struct DrawableChecks<'a> {
    pass: CorrectnessPass,
    categories: NumberMap<(&'a Category, Option<StateRole>)>,
    lines: NumberMap<LineUse>,
    /// Category of annotations, which mark unfinished calls.
    annotation: Option<i32>,
    /// Unfinished calls by rank and thread: name of the function, and begin.
    unfinished: Vec<(u32, u32, String, f64)>,
    /// Collective calls by rank and thread that have begun last, as an unfinished one is marked behind.
    latest: HashMap<(u32, u32), (CommKey, u64, FunctionKey, f64)>,
    finalized: HashSet<u32>,
    /// Ranks that were seen to begin to use MPI: nothing before that is missing.
    initialized: HashSet<u32>,
    /// Ranks with calls.
    calling: HashSet<u32>,
    /// Whether the trace was made by a recorder that records MPI_Init: it tells roots of collective calls, or has MPI_Init of a rank.
    records_init: bool,
    /// Whether recording may have been off for a time.
    has_controls: bool,
    /// Whether the recorder says of messages that their other ends were left out or are not known.
    has_unmatched: bool,
    /// Ranks of which the recorder says that collective calls were counted only.
    left_out: BTreeSet<u32>,
    /// Ranks of which the recorder says that they did not come to MPI_Finalize.
    not_finalized: BTreeSet<u32>,
    /// Ranks that called MPI_Abort.
    aborted: BTreeSet<u32>,
    ranks: HashSet<u32>,
    has_states: bool,
}

impl<'a> DrawableChecks<'a> {
    /// Before the first drawable.
    pub fn new(definitions: &'a Definitions) -> DrawableChecks<'a> {
        let mut members: BTreeMap<i32, BTreeMap<i32, i32>> = BTreeMap::new();
        let mut ranks = HashSet::new();
        for line in &definitions.lines {
            let place = lane_of(line);
            let (Actor::Rank(rank), 0) = (place.actor, place.lane) else {
                continue;
            };
            ranks.insert(rank);
            let comm = members.entry(line.comm).or_default();
            comm.insert(line.comm_rank, line.rank);
        }
        let mut pass = CorrectnessPass::new(ranks.len() as u32);
        let mut comms = HashMap::new();
        let mut room = MAX_MEMBERS;
        for (&number, by_rank) in &members {
            let last = by_rank.keys().next_back();
            let size = last.map_or(0, |&last| last.max(-1).saturating_add(1));
            let list: Arc<[i32]> = (0..size.min(room))
                .map(|rank| by_rank.get(&rank).copied().unwrap_or(-1))
                .collect();
            room -= list.len() as i32;
            let name = match number {
                0 => "MPI_COMM_WORLD".to_owned(),
                _ => format!("communicator {number} of {size} ranks"),
            };
            let is_whole = !list.contains(&-1);
            let key = pass.define_comm(name, list.clone(), list, None);
            comms.insert(number, key);
            if !is_whole {
                pass.note_unchecked(format!(
                    "collective calls on communicator {number}, of which ranks are not in the trace"
                ));
            }
        }
        let mut lines = Vec::new();
        for line in &definitions.lines {
            let place = lane_of(line);
            if let (Actor::Rank(rank), 0) = (place.actor, place.lane) {
                let comm = comms[&line.comm];
                let thread = place.thread;
                lines.push((line.id, LineUse { rank, thread, comm }));
            }
        }
        let table = wrappers::table().ok();
        let mut categories = Vec::new();
        let mut tells_root = false;
        for category in &definitions.categories {
            let name = category.function_name();
            let function = table.and_then(|table| table.get(&name));
            let role = match (category.topology, function) {
                (Topology::State, Some(function)) => {
                    let key = pass.function(name.strip_suffix("_c").unwrap_or(&name));
                    Some(match function.class {
                        Class::Finalize => StateRole::Finalize,
                        Class::Init => StateRole::Init,
                        Class::Session if name == "MPI_Session_init" => StateRole::Init,
                        _ if name == "MPI_Pcontrol" => StateRole::Control,
                        _ if function.name == "MPI_Abort" => StateRole::Abort,
                        _ if comes_together_on(function) == Some(CollectiveOn::Communicator) => {
                            tells_root |=
                                category.info_keys.iter().any(|k| k.0.ends_with(b"root="));
                            StateRole::Collective(key, CorrectnessPass::compares_size(function))
                        }
                        _ => StateRole::Other,
                    })
                }
                _ => None,
            };
            categories.push((category.index, (category, role)));
        }
        let mut categories_of_trace = definitions.categories.iter();
        let annotation = categories_of_trace.find(|category| is_annotation(category));
        let why = "this format does not hold it; DUMPI and block files do";
        pass.leave_out(Check::Messages, why);
        pass.leave_out(Check::Leaks, why);
        pass.leave_out(
            Check::Failures,
            "this format does not hold it; block files do",
        );
        pass.note_unchecked(format!("reduction operations of collective calls, and collective calls on files and windows: {why}"));
        pass.note_unchecked(
            "bytes that collective calls send against those that they expect: this format does not hold it; block files do"
                .to_owned(),
        );
        if !tells_root {
            pass.note_unchecked(
                "roots and sizes of collective calls: the trace has no such details".to_owned(),
            );
        }
        DrawableChecks {
            pass,
            categories: categories.into_iter().collect(),
            lines: lines.into_iter().collect(),
            annotation: annotation.map(|category| category.index),
            unfinished: Vec::new(),
            latest: HashMap::new(),
            finalized: HashSet::new(),
            initialized: HashSet::new(),
            calling: HashSet::new(),
            records_init: tells_root,
            has_controls: false,
            has_unmatched: false,
            left_out: BTreeSet::new(),
            not_finalized: BTreeSet::new(),
            aborted: BTreeSet::new(),
            ranks,
            has_states: false,
        }
    }

    /// Takes the next drawable in order of beginnings.
    pub fn put(&mut self, drawable: &Drawable<'_>) {
        let Some(first) = drawable.vertices.first() else {
            return;
        };
        let bounds = drawable.bounds();
        let Some(&(category, role)) = self.categories.get(drawable.category) else {
            return;
        };
        if category.topology == Topology::Arrow && is_message(category) {
            self.pass.messages.matched += 1;
            return;
        }
        let Some(&LineUse { rank, thread, comm }) = self.lines.get(first.line) else {
            return;
        };
        if self.annotation == Some(drawable.category) {
            let Some(text) = annotation_text(category, drawable.info) else {
                return;
            };
            if text == NO_FINALIZE.as_bytes() {
                self.not_finalized.insert(rank);
            } else if not_matched_of(text).is_some() {
                self.has_unmatched = true;
            } else if left_out_of(text).is_some() {
                self.left_out.insert(rank);
            } else if let Some(function) = unfinished_of(text) {
                self.unfinished
                    .push((rank, thread, function.to_owned(), bounds.earliest));
            }
            return;
        }
        let Some(role) = role else { return };
        self.has_states = true;
        self.pass.counts.calls += 1;
        self.calling.insert(rank);
        match role {
            StateRole::Init => {
                self.initialized.insert(rank);
                self.records_init = true;
            }
            StateRole::Control => self.has_controls = true,
            StateRole::Finalize => {
                self.finalized.insert(rank);
            }
            StateRole::Abort => {
                self.aborted.insert(rank);
            }
            StateRole::Collective(function, compares_size) => {
                let mut signature = Signature::default();
                for (key, value) in info_values(category, drawable.info) {
                    match value {
                        InfoValue::Integer(root) if key.0.ends_with(b"root=") && root >= 0 => {
                            signature.root = i32::try_from(root).ok();
                        }
                        InfoValue::Integer(bytes)
                            if key.0.ends_with(b"bytes=") && compares_size =>
                        {
                            signature.bytes = u64::try_from(bytes).ok();
                        }
                        _ => {}
                    }
                }
                let start = bounds.earliest;
                let place = CallPlace {
                    rank,
                    thread,
                    function,
                    start,
                };
                let arrival = Arrival { place, signature };
                if let Some(operation) = self.pass.come(comm, rank, arrival) {
                    let latest = (comm, operation.number, function, start);
                    self.latest.insert((rank, thread), latest);
                }
            }
            StateRole::Other => {}
        }
    }

    /// Ends the checks. `None` if the trace has no MPI calls.
    pub fn finish(mut self) -> Option<CorrectnessReport> {
        if !self.has_states {
            return None;
        }
        let hung: HashMap<u32, ()> = self.unfinished.iter().map(|it| (it.0, ())).collect();
        for &rank in &self.ranks {
            if !hung.contains_key(&rank) {
                let outside = match self.finalized.contains(&rank) {
                    true => OutsideCalls::Finalized,
                    false => OutsideCalls::Computes,
                };
                self.pass.end_outside(rank, outside);
            }
        }
        let ends = self.ends();
        let mut is_known = self.unfinished.is_empty();
        for (rank, thread, name, start) in std::mem::take(&mut self.unfinished) {
            let function = self.pass.function(&name);
            let place = CallPlace {
                rank,
                thread,
                function,
                start,
            };
            let waits = match self.latest.get(&(rank, thread)) {
                Some(&(comm, number, latest, begin)) if latest == function && begin >= start => {
                    is_known = true;
                    let own = OperationNumber { comm, number };
                    self.pass.wait_of_collective(own, function)
                }
                _ => WaitsFor::Unknown,
            };
            if name == "MPI_Finalize" {
                self.pass.end_outside(rank, OutsideCalls::Finalized);
            } else {
                self.pass.end_in_call(place, waits);
            }
        }
        if let Some(why) = self.unrecorded_calls() {
            self.pass.leave_out(Check::Collectives, &why);
            self.pass.leave_out(Check::Deadlock, &why);
        } else if !is_known {
            let why =
                "the unfinished calls of this trace do not tell; the block files of the run do";
            self.pass.leave_out(Check::Deadlock, why);
        }
        // Without MPI_Finalize in it, the trace may be a part of the run.
        let mut report = self.pass.finish();
        report.ends = ends;
        Some(report)
    }

    /// Why collective calls of some ranks may be missing in the middle of others; `None` if they are not.
    fn unrecorded_calls(&self) -> Option<String> {
        if self.has_controls {
            return Some("MPI_Pcontrol may have switched recording off for some calls".to_owned());
        }
        if !self.left_out.is_empty() {
            let mut ranks = RankSet::default();
            self.left_out.iter().for_each(|&rank| ranks.insert(rank));
            let ranks = ranks_in_words(&ranks.to_string());
            return Some(format!("collective calls of {ranks} were counted only"));
        }
        // Of a run that was killed, messages were under way.
        if self.has_unmatched && self.not_finalized.is_empty() {
            return Some(
                "the trace has messages without their other ends, so calls may have been left out"
                    .to_owned(),
            );
        }
        let mut late = RankSet::default();
        let mut calling: Vec<u32> = self
            .calling
            .difference(&self.initialized)
            .copied()
            .collect();
        calling.sort_unstable();
        calling.into_iter().for_each(|rank| late.insert(rank));
        let ranks = late.to_string();
        (self.records_init && !ranks.is_empty()).then(|| {
            let ranks = ranks_in_words(&ranks);
            format!("what {ranks} did before the first recorded call is not known")
        })
    }

    /// The ranks that did not come to MPI_Finalize, as the recorder says, and the calls they were in.
    fn ends(&self) -> Vec<String> {
        let mut by_end: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for &rank in &self.not_finalized {
            let of_rank = self.unfinished.iter().filter(|call| call.0 == rank);
            let calls: Vec<&str> = of_rank.map(|call| call.2.as_str()).collect();
            let end = match self.aborted.contains(&rank) {
                true => CALLED_ABORT.to_owned(),
                false => end_in_words(&calls),
            };
            by_end.entry(end).or_default().push(rank);
        }
        lines_of_ends(by_end)
    }
}

/// Checks a trace. `None` if it has no MPI calls.
///
/// # Errors
/// The errors of the source, or of sorting its drawables.
#[cfg(feature = "spill")]
pub fn check(
    source: &dyn trace_model::Source,
) -> Result<Option<CorrectnessReport>, trace_model::Stop> {
    use trace_model::{DrawableOrder, for_each_in_order};
    let mut checks = DrawableChecks::new(source.definitions());
    for_each_in_order(source, DrawableOrder::Start, &mut |drawable| {
        checks.put(drawable);
        Ok(())
    })?;
    Ok(checks.finish())
}

#[cfg(test)]
mod tests {
    use super::super::report::FindingKind;
    use super::*;
    use trace_model::{Color, Line, Vertex};

    #[test]
    fn ranks_in_communicators_are_not_believed() {
        let line = |id, comm, comm_rank| Line {
            comm,
            comm_rank,
            ..Line::of_thread(id, id, 0)
        };
        let of_any = |id: i32| line(id, id, [i32::MAX, i32::MIN, -1, 1 << 22][id as usize % 4]);
        let definitions = Definitions {
            lines: (0..200).map(of_any).collect(),
            ..Definitions::default()
        };
        let checks = DrawableChecks::new(&definitions);
        assert_eq!(checks.ranks.len(), 200);
    }
    /// Two ranks of a whole run that make different collective calls, as where a filter has left out some: the annotation at the end of a rank
    /// tells that something was.
    #[test]
    fn traces_with_calls_left_out_are_not_compared() {
        let names = ["MPI_Init", "MPI_Barrier", "MPI_Bcast", "MPI_Finalize"];
        let mut categories: Vec<Category> = (0..)
            .zip(names)
            .map(|(index, name)| Category::new(index, name.into(), Topology::State, Color::WHITE))
            .collect();
        let mut annotation = Category::new(9, "annotation".into(), Topology::Event, Color::WHITE);
        annotation.set_info_format(b"%s");
        categories.push(annotation);
        let definitions = Definitions {
            categories,
            lines: (0..2).map(|rank| Line::of_thread(rank, rank, 0)).collect(),
            ..Definitions::default()
        };
        let checked = |text: Option<&str>| {
            let mut checks = DrawableChecks::new(&definitions);
            for (nth, calls) in [[0, 1, 3], [0, 2, 3]].into_iter().enumerate() {
                for (time, category) in (0..).zip(calls) {
                    let at = |time| Vertex {
                        time,
                        line: nth as i32,
                    };
                    let start = f64::from(time);
                    checks.put(&Drawable {
                        topology: Topology::State,
                        category,
                        info: &[],
                        vertices: &[at(start), at(start + 0.5)],
                    });
                }
            }
            if let Some(text) = text {
                let info = [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat();
                checks.put(&Drawable {
                    topology: Topology::Event,
                    category: 9,
                    info: &info,
                    vertices: &[Vertex { time: 3.0, line: 0 }],
                });
            }
            checks.finish().expect("MPI calls")
        };
        let kinds = |report: &CorrectnessReport| -> Vec<FindingKind> {
            report.findings.iter().map(|finding| finding.kind).collect()
        };
        for text in [None, Some("2 calls left out"), Some("collectives left out")] {
            assert_eq!(kinds(&checked(text)), [FindingKind::CollectiveOrder]);
        }
        for (text, why) in [
            (
                "6 messages not matched",
                "messages without their other ends",
            ),
            (
                "999999999 collectives left out",
                "collective calls of rank 0 were counted only",
            ),
        ] {
            let report = checked(Some(text));
            assert_eq!(kinds(&report), []);
            let not_checked = report.not_checked.join("\n");
            assert!(not_checked.contains(why), "{not_checked}");
        }
    }
}
