//! Puts what the two passes found into the report.

use super::clocks::{BALANCED, FASTER, IDEAL, MEASURED};
use super::comm_sums::ByteSum;
use super::critical_path::PathPiece;
use super::history::RootCause;
use super::lane::ThreadLane;
use super::pass::WaitPass;
use super::phases::{PhaseLengths, PhaseRanges, ProgramPhases};
use super::report::{
    ActivityOnPath, ActivityTime, CommunicatorTimes, FocusTimes, PerformanceReport, PlaceInTrace,
    RankOnPath, RankTimes, RegionTimes, RootCauseSum, UnfinishedCalls, WaitGroup, WhatIf,
};
use super::role::CategoryRole;
use super::span_times::{Efficiencies, SpanTimes};
use super::spans::{Span, Spans};
use super::use_times::{TimeByUse, UseSums};
use super::wait::{Wait, WaitSum};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use trace_model::Definitions;
use trace_model::units::duration;

/// Part of the time of all ranks below which calls that ask and do not wait are not told.
const MIN_POLLING: f64 = 0.01;

/// What is said of collective calls on files and windows of which the trace does not tell which these are.
const MADE_BEFORE: [&str; 2] = [
    "collective call on a file or window that was made before the trace begins: waits there are not counted",
    "collective calls on files or windows that were made before the trace begins: waits there are not counted",
];
/// What is said of them in a file that has no arguments of some calls, as DUMPI has none of MPI_Win_allocate.
const MADE_UNSEEN: [&str; 2] = [
    "collective call on a file or window that was made before the trace begins, or by a call without arguments: waits there are not counted",
    "collective calls on files or windows that were made before the trace begins, or by a call without arguments: waits there are not counted",
];

/// What the second pass found.
pub(super) struct SecondOutcome<'a> {
    pub pass: WaitPass<'a>,
    pub phases: Option<PhaseRanges>,
    pub phase_spans: Option<Spans>,
    pub part_spans: Option<Spans>,
    /// Category of the program's own state with the most time.
    pub slowest: Option<u32>,
}

/// How long these phases are, which the pass has found.
pub(super) fn phase_lengths(pass: &WaitPass<'_>, phases: PhaseRanges) -> PhaseLengths {
    let seconds = pass.focus.seconds();
    let builder = ReportBuilder { pass, seconds };
    PhaseLengths::of(phases, &pass.focus, |nth| builder.name(nth))
}

/// A part of a whole; 0 of nothing.
fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { of / whole } else { 0.0 }
}

/// How one time compares with another one; of two times of 0, none is the longer one.
fn ratio(of: f64, to: f64) -> f64 {
    if to > 0.0 { of / to } else { 1.0 }
}

/// A note on one thing or on several: `1 drawable out of order`.
fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The lane that a path is on for most of the time between two times.
fn longest_on_path(path: &[PathPiece], from: f64, to: f64) -> Option<u32> {
    let first = path.partition_point(|piece| piece.to <= from);
    let mut seconds: BTreeMap<u32, f64> = BTreeMap::new();
    for piece in path[first..].iter().take_while(|piece| piece.from < to) {
        *seconds.entry(piece.lane).or_default() += piece.to.min(to) - piece.from.max(from);
    }
    let longest = seconds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    longest.map(|(lane, _)| lane)
}

/// Puts the results of the two passes into one report.
pub(super) fn build(
    definitions: &Definitions,
    first: &WaitPass<'_>,
    second: Option<&SecondOutcome<'_>>,
    path: &[PathPiece],
) -> PerformanceReport {
    let builder = ReportBuilder {
        pass: first,
        seconds: first.focus.seconds(),
    };
    let phases = second.and_then(|second| {
        let (ranges, spans) = (second.phases.as_ref()?, second.phase_spans.as_ref()?);
        let name = |nth| builder.name(nth);
        let lengths = PhaseLengths::of(ranges.clone(), &first.focus, name);
        let phases = builder.spans(spans, path);
        Some(ProgramPhases::of(lengths, spans, phases, name))
    });
    let parts = second.and_then(|second| second.part_spans.as_ref());
    PerformanceReport {
        program: definitions.program.clone(),
        ranks: builder.mains().count(),
        not_finalized: first.end_marks.not_finalized(),
        aborted: first.end_marks.aborted(),
        unfinished: builder.unfinished(),
        in_unfinished: first.in_open_calls,
        threads: first.lanes.iter().filter(|lane| lane.is_used).count(),
        hosts: definitions.hosts(),
        drawables: first.counts.drawables.all,
        calls: first.counts.calls,
        messages: first.counts.drawables.messages,
        unmatched: first.end_marks.unmatched,
        message_bytes: first.counts.drawables.message_bytes,
        focus: builder.focus(),
        time: builder.time(),
        unseen: first.unseen.seconds(),
        activities: builder.activities(),
        efficiencies: builder.efficiencies(),
        waits: builder.waits(),
        root_causes: builder.root_causes(),
        path_ranks: builder.path_ranks(path),
        path_activities: second.map_or(Vec::new(), |second| builder.path_activities(&second.pass)),
        what_if: second.map_or(Vec::new(), |second| builder.what_if(second)),
        phases,
        over_time: parts.map_or(Vec::new(), |parts| builder.spans(parts, path)),
        by_rank: builder.by_rank(),
        by_region: builder.by_region(),
        by_communicator: builder.by_communicator(),
        by_file: first.by_file.times(),
        pairs: first.pairs.matrix(),
        notes: builder.notes(),
    }
}

/// How ranks computed in a span of time; seconds.
struct SpanComputing {
    seconds: f64,
    /// Of all ranks.
    all: f64,
    longest: f64,
    longest_rank: i32,
    /// Length of a replay in which data moves in no time.
    ideal: f64,
}

struct ReportBuilder<'p, 'a> {
    pass: &'p WaitPass<'a>,
    /// Length of the focus.
    seconds: f64,
}

impl ReportBuilder<'_, '_> {
    fn mains(&self) -> impl Iterator<Item = &ThreadLane> {
        self.pass.lanes.iter().filter(|lane| lane.is_main())
    }

    /// Time of all ranks together.
    fn all(&self) -> f64 {
        self.seconds * self.mains().count() as f64
    }

    fn name(&self, category: u32) -> String {
        let category = self.pass.categories.get(category as usize);
        category.map_or_else(String::new, |category| category.name.to_str().into_owned())
    }

    fn rank(&self, lane: u32) -> (i32, i32) {
        let lane = self.pass.lanes.get(lane as usize);
        lane.map_or((0, 0), |lane| (lane.rank, lane.thread))
    }

    fn focus(&self) -> FocusTimes {
        let focus = &self.pass.focus;
        let bounds = self.pass.bounds;
        // Negative for a focus of no length before the input.
        let before = Some(focus.from - bounds.earliest).filter(|before| before.is_finite());
        let is_between_init_and_finalize = focus.is_automatic && focus.has_begin && focus.has_end;
        let first = focus
            .first_init_end
            .filter(|_| is_between_init_and_finalize);
        FocusTimes {
            from: focus.from,
            to: focus.to,
            seconds: self.seconds,
            ranges: focus.ranges().len(),
            before: before.unwrap_or(0.0),
            after: (bounds.latest - focus.to).max(0.0),
            init_spread: first.map_or(0.0, |first| (focus.from - first).max(0.0)),
            is_between_init_and_finalize,
        }
    }

    fn time(&self) -> TimeByUse {
        let mut sums = UseSums::default();
        self.mains().for_each(|lane| sums.add(&lane.sums));
        sums.of_all(self.all())
    }

    fn activities(&self) -> Vec<ActivityTime> {
        let all = self.all();
        let times = (0..).zip(&self.pass.times);
        let mut activities: Vec<ActivityTime> = times
            .filter(|(_, time)| time.exclusive > 0.0)
            .map(|(category, time)| ActivityTime {
                activity: Some(self.name(category)),
                count: time.count,
                seconds: time.exclusive,
                share: part(time.exclusive, all),
            })
            .collect();
        let used = self.pass.lanes.iter().filter(|lane| lane.is_used);
        let there = |lane: &ThreadLane| {
            let (from, to) = lane.known_to_be_there();
            self.pass.focus.within(from, to)
        };
        let there: f64 = used.map(there).sum();
        let in_states: f64 = activities.iter().map(|activity| activity.seconds).sum();
        let computing = (there - in_states).max(0.0);
        activities.push(ActivityTime {
            activity: None,
            count: 0,
            seconds: computing,
            share: part(computing, all),
        });
        activities.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        activities
    }

    fn efficiencies(&self) -> Efficiencies {
        let computing = |lane: &ThreadLane| lane.sums.computing;
        let longest = self
            .mains()
            .max_by(|a, b| computing(a).total_cmp(&computing(b)));
        let (ideal, _) = self.pass.lengths()[IDEAL];
        self.efficiencies_of(SpanComputing {
            seconds: self.seconds,
            all: self.mains().map(computing).sum(),
            longest: longest.map_or(0.0, computing),
            longest_rank: longest.map_or(0, |lane| lane.rank),
            ideal,
        })
    }

    fn efficiencies_of(&self, span: SpanComputing) -> Efficiencies {
        let mean_computing = part(span.all, self.mains().count() as f64);
        let longest_computing = span.longest;
        let ideal_seconds = span.ideal.min(span.seconds).max(longest_computing);
        Efficiencies {
            parallel: part(mean_computing, span.seconds),
            load_balance: ratio(mean_computing, longest_computing),
            communication: part(longest_computing, span.seconds),
            serialisation: ratio(longest_computing, ideal_seconds),
            transfer: part(ideal_seconds, span.seconds),
            ideal_seconds,
            longest_computing,
            longest_computing_rank: span.longest_rank,
            mean_computing,
        }
    }

    fn spans(&self, spans: &Spans, path: &[PathPiece]) -> Vec<SpanTimes> {
        let span = |span: &Span| {
            let seconds = self.pass.focus.within(span.from, span.to);
            let longest = span.causes.longest();
            SpanTimes {
                from: span.from,
                to: span.to,
                seconds,
                time: span.sums.of_all(seconds * self.mains().count() as f64),
                efficiencies: self.efficiencies_of(SpanComputing {
                    seconds,
                    all: span.sums.computing,
                    longest: span.longest_computing,
                    longest_rank: self.rank(span.longest_lane).0,
                    ideal: span.ideal_to - span.ideal_from,
                }),
                cause_rank: longest.map(|cause| self.rank(cause.lane).0),
                cause_activity: longest.and_then(|cause| self.activity(cause.activity)),
                path_rank: longest_on_path(path, span.from, span.to).map(|lane| self.rank(lane).0),
            }
        };
        spans.spans.iter().map(span).collect()
    }

    fn place(&self, wait: &Wait) -> PlaceInTrace {
        let (rank, thread) = self.rank(wait.lane);
        PlaceInTrace {
            rank,
            thread,
            call_from: wait.start,
            from: wait.from,
            to: wait.to,
            line: wait.line,
        }
    }

    fn activity(&self, activity: Option<u32>) -> Option<String> {
        activity.map(|category| self.name(category))
    }

    fn waits(&self) -> Vec<WaitGroup> {
        let all = self.all();
        let mut groups: Vec<WaitGroup> = (self.pass.waits.by_key.iter())
            .map(|(key, sum)| {
                let (culprit, culprit_thread) = self.rank(key.culprit);
                let cause = sum.cause();
                let (cause_rank, cause_thread) =
                    self.rank(cause.map_or(key.culprit, |cause| cause.lane));
                WaitGroup {
                    pattern: key.pattern,
                    call: self.name(key.category),
                    communicator: self.name_of_comm(sum),
                    culprit,
                    culprit_thread,
                    seconds: sum.seconds,
                    share: part(sum.seconds, all),
                    count: sum.count,
                    waiting: sum.lanes().count() as u32,
                    waiting_ranks: (sum.lanes().map(|lane| self.rank(lane).0))
                        .collect::<BTreeSet<i32>>()
                        .len() as u32,
                    caused_elsewhere: sum.caused_elsewhere,
                    wrong_order: sum.wrong_order,
                    first: self.place(&sum.first),
                    longest: self.place(&sum.longest),
                    cause_rank,
                    cause_thread,
                    cause_activity: self.activity(cause.and_then(|cause| cause.activity)),
                }
            })
            .collect();
        groups.sort_by(|a, b| {
            let key = |group: &WaitGroup| (group.culprit, group.call.clone(), group.pattern);
            b.seconds
                .total_cmp(&a.seconds)
                .then_with(|| key(a).cmp(&key(b)))
        });
        groups
    }

    /// The name of the communicator that all calls of a group are on, unless it is that of MPI_COMM_WORLD: calls on communicators without a timeline
    /// are on that, too.
    fn name_of_comm(&self, sum: &WaitSum) -> Option<String> {
        let number = self.pass.comm_numbers.get(sum.first.comm as usize);
        let number = number.filter(|&&number| number != 0 && sum.is_on_one_comm)?;
        self.pass.comm_names.get(*number).map(str::to_owned)
    }

    fn unfinished(&self) -> Vec<UnfinishedCalls> {
        let calls = self.pass.end_marks.unfinished();
        let calls = calls.map(|(function, ranks)| UnfinishedCalls {
            function: function.to_owned(),
            ranks,
        });
        let mut calls: Vec<UnfinishedCalls> = calls.collect();
        calls.sort_by_key(|calls| Reverse(calls.ranks.len()));
        calls
    }

    fn root_causes(&self) -> Vec<RootCauseSum> {
        let all = self.all();
        let mut causes: Vec<(RootCause, (f64, u64))> = (self.pass.waits.by_cause.iter())
            .map(|(cause, sum)| (*cause, *sum))
            .collect();
        causes.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then(a.0.cmp(&b.0)));
        let sums = causes.into_iter().map(|(cause, (seconds, count))| {
            let (rank, thread) = self.rank(cause.lane);
            RootCauseSum {
                rank,
                thread,
                activity: self.activity(cause.activity),
                seconds,
                share: part(seconds, all),
                count,
            }
        });
        sums.collect()
    }

    fn path_ranks(&self, path: &[PathPiece]) -> Vec<RankOnPath> {
        let mut seconds = vec![0.0; self.pass.lanes.len()];
        for piece in path {
            seconds[piece.lane as usize] += piece.to - piece.from;
        }
        let mut ranks: Vec<RankOnPath> = (0..)
            .zip(seconds)
            .filter(|&(_, seconds)| seconds > 0.0)
            .map(|(lane, seconds)| {
                let (rank, thread) = self.rank(lane);
                RankOnPath {
                    rank,
                    thread,
                    seconds,
                    share: part(seconds, self.seconds),
                }
            })
            .collect();
        ranks.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.rank.cmp(&b.rank)));
        ranks
    }

    fn path_activities(&self, second: &WaitPass<'_>) -> Vec<ActivityOnPath> {
        let Some(path) = &second.path else {
            return Vec::new();
        };
        let ranks = self.mains().count().max(1) as f64;
        let covered: f64 = self.pass.times.iter().map(|time| time.of_mains).sum();
        let mut activities: Vec<ActivityOnPath> = (path.by_category.iter())
            .map(|(&category, &seconds)| {
                let all = match category {
                    Some(category) => self.pass.times[category as usize].of_mains,
                    None => (self.all() - covered).max(0.0),
                };
                let mean = all / ranks;
                ActivityOnPath {
                    activity: self.activity(category),
                    seconds,
                    share: part(seconds, self.seconds),
                    mean,
                    imbalance_cost: (seconds - mean).max(0.0),
                }
            })
            .collect();
        activities.sort_by(|a, b| {
            let seconds = b.seconds.total_cmp(&a.seconds);
            seconds.then_with(|| a.activity.cmp(&b.activity))
        });
        activities
    }

    fn what_if(&self, second: &SecondOutcome<'_>) -> Vec<WhatIf> {
        let (measured, _) = self.pass.lengths()[MEASURED];
        let lengths = second.pass.lengths();
        let [(balanced, _), (faster, _)] = [BALANCED, FASTER].map(|nth| lengths[nth]);
        let slowest = second.slowest;
        let of = |assumption: String, length: f64| {
            // Relative to a replay of what was measured, so that what replays leave out cancels out.
            let seconds = self.seconds * part(length, measured);
            WhatIf {
                assumption,
                seconds,
                speedup: part(self.seconds, seconds),
            }
        };
        let mut all = Vec::new();
        if measured > 0.0 && self.mains().count() > 1 {
            all.push(of("all ranks compute as long as the mean".into(), balanced));
        }
        if let Some(category) = slowest.filter(|_| measured > 0.0) {
            let name = self.name(category);
            all.push(of(format!("{name} takes half of its time"), faster));
        }
        all
    }

    fn by_rank(&self) -> Vec<RankTimes> {
        let mut ranks: Vec<RankTimes> = self
            .mains()
            .map(|lane| RankTimes {
                rank: lane.rank,
                computing: lane.sums.computing,
                mpi: lane.sums.in_calls,
                waiting: lane.sums.waiting,
                files: lane.sums.files(),
                caused: lane.caused,
            })
            .collect();
        ranks.sort_by_key(|rank| rank.rank);
        ranks
    }

    fn by_region(&self) -> Vec<RegionTimes> {
        let all = self.all();
        let regions = (0u32..).zip(&self.pass.by_region).map(|(place, sums)| {
            let category = place.checked_sub(1);
            let count = category.map_or(0, |nth| self.pass.times[nth as usize].count);
            let time = sums.times();
            RegionTimes {
                region: self.activity(category),
                count,
                share: part(time.all, all),
                time,
            }
        });
        let mut regions: Vec<RegionTimes> =
            regions.filter(|region| region.time.all > 0.0).collect();
        regions.sort_by(|a, b| b.time.all.total_cmp(&a.time.all));
        regions
    }

    fn by_communicator(&self) -> Vec<CommunicatorTimes> {
        let all = self.all();
        let numbers = self.pass.comm_numbers.iter();
        let has_messages = !self.pass.lacking.hides_messages(numbers.len());
        let comms = numbers.zip(&self.pass.comms).zip(&self.pass.by_comm);
        let mut comms: Vec<CommunicatorTimes> = comms
            .filter(|(_, sums)| !sums.is_empty())
            .map(|((&communicator, comm), sums)| {
                let time = sums.uses.times();
                let are_told = !self.pass.lacking.hides_bytes(communicator);
                let told = |sum: ByteSum| sum.known().filter(|_| are_told);
                CommunicatorTimes {
                    communicator,
                    name: self.pass.comm_names.get(communicator).map(str::to_owned),
                    ranks: comm.size,
                    calls: sums.calls,
                    share: part(time.all, all),
                    time,
                    messages: has_messages.then_some(sums.messages),
                    message_bytes: sums.message_bytes.known().filter(|_| has_messages),
                    collective_sent: told(sums.sent),
                    collective_received: told(sums.received),
                }
            })
            .collect();
        comms.sort_by(|a, b| b.time.all.total_cmp(&a.time.all));
        comms
    }

    /// What is to be said of calls that ask and do not wait, if they take more than a little.
    fn polling_note(&self) -> Option<String> {
        let pass = self.pass;
        let is_poll = |nth: usize| {
            let name = pass.categories[nth].function_name();
            match pass.roles[nth] {
                CategoryRole::Completes => name.starts_with("MPI_Test"),
                CategoryRole::Probe => name.starts_with("MPI_I"),
                _ => false,
            }
        };
        let polls = (0..pass.times.len()).filter(|&nth| is_poll(nth));
        let seconds: f64 = polls.map(|nth| pass.times[nth].exclusive).sum();
        (seconds > MIN_POLLING * self.all()).then(|| {
            format!(
                "{} in MPI_Test, MPI_Iprobe and their kind count as transfer and overhead: a rank that asks again and again until a message is there waits, too",
                duration(seconds)
            )
        })
    }

    fn notes(&self) -> Vec<String> {
        let counts = self.pass.counts;
        let unknown_windows = match self.pass.lacking.hides_one_sided() {
            true => 0,
            false => counts.unknown_windows,
        };
        let notes = [
            (
                counts.unknown_roots,
                [
                    "collective call with a root that the trace does not tell: waits there are estimated",
                    "collective calls with a root that the trace does not tell: waits there are estimated",
                ],
            ),
            (
                counts.unknown_intercomms,
                [
                    "collective call of intercommunicators that the trace does not tell apart: waits there are not counted",
                    "collective calls of intercommunicators that the trace does not tell apart: waits there are not counted",
                ],
            ),
            (
                counts.unknown_objects,
                match self.pass.lacking.has_calls_without_arguments() {
                    true => MADE_UNSEEN,
                    false => MADE_BEFORE,
                },
            ),
            (
                unknown_windows,
                [
                    "call of one-sided communication on a window that was made before the trace begins: a wait there is not counted",
                    "calls of one-sided communication on windows that were made before the trace begins: waits there are not counted",
                ],
            ),
            (
                counts.unknown_neighbours,
                [
                    "neighbourhood call with neighbours that the trace does not tell: waits there are not counted",
                    "neighbourhood calls with neighbours that the trace does not tell: waits there are not counted",
                ],
            ),
            (
                self.pass.unmatched(),
                [
                    "collective operation of which the trace lacks calls of some ranks: who waited there is not known",
                    "collective operations of which the trace lacks calls of some ranks: who waited there is not known",
                ],
            ),
            (
                counts.drawables.backward_messages,
                [
                    "message that arrives before it was sent: the clocks differ",
                    "messages that arrive before they were sent: the clocks differ",
                ],
            ),
            (
                counts.drawables.large_messages,
                [
                    "message of 2147483647 bytes, the most that a trace with 32 bits for sizes tells: it is counted with so many and may be larger",
                    "messages of 2147483647 bytes, the most that a trace with 32 bits for sizes tells: they are counted with so many and may be larger",
                ],
            ),
            (
                counts.early_leaves,
                [
                    "collective call that ends before all the ranks have come that it needs: the clocks differ",
                    "collective calls that end before all the ranks have come that they need: the clocks differ",
                ],
            ),
            (
                self.pass.end_marks.unmatched,
                [
                    "end of a message that is not drawn, as the other end is left out or not known: waits for this message are not counted",
                    "ends of messages that are not drawn, as the other end is left out or not known: waits for these messages are not counted",
                ],
            ),
            (
                counts.drawables.out_of_order,
                ["drawable out of order", "drawables out of order"],
            ),
            (
                counts.drawables.without_time,
                [
                    "drawable with a time that is no number",
                    "drawables with a time that is no number",
                ],
            ),
            (
                self.pass.waits.ungrouped,
                [
                    "wait that is in no group: there are too many groups",
                    "waits that are in no group: there are too many groups",
                ],
            ),
        ];
        let notes = notes.into_iter().filter(|(number, _)| *number > 0);
        let notes = notes.map(|(number, [one, many])| counted(number, one, many));
        let notes = notes.chain(self.pass.lacking.notes());
        let polls = self.polling_note();
        notes
            .chain(self.pass.unseen.notes(self.all()))
            .chain(polls)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_thing_is_not_told_as_several() {
        let notes = [0, 1, 2].map(|number| counted(number, "call ends", "calls end"));
        assert_eq!(notes, ["0 calls end", "1 call ends", "2 calls end"]);
    }
}
