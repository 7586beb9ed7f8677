//! The findings.

use std::collections::BTreeMap;
use trace_formats::slog2::{TimeBBox, Topology};

use super::causes::{Causes, Partner};
use super::pass::{LONGEST, Late, Meeting, Pass, Stretch};
use super::words::{bytes, count, percent, seconds};
use super::{Card, Entry, Target};
use crate::answer::Viewer;
use crate::class::Class;
use crate::numbers::gather::Gathered;
use crate::refusal::Refusal;
use crate::scan::Reach;

/// Places that a card names.
const MOST: usize = 5;
/// Ranks that compute longer than the mean by less than this are not named.
const LEAST_MORE: f64 = 0.02;

/// What the cards are made of.
struct Dealer<'d, 'a> {
    viewer: &'d Viewer<'a>,
    gathered: &'d Gathered,
    /// By lane of a rank its rank.
    ranks: &'d BTreeMap<u32, i32>,
    causes: Causes<'d, 'a>,
    all: TimeBBox,
}

/// What a thread computed, and the longest stretch of it with the call behind it, where that is known.
struct Computed {
    line: u32,
    seconds: f64,
    longest: Option<(f64, f64, Stretch)>,
}

/// A call in which a rank waited.
struct Wait<'p> {
    /// The call, until the one that it waited for was there.
    state: Stretch,
    /// The collective call that it is part of.
    meeting: Option<&'p Meeting>,
    /// Whom it waited for.
    partner: Partner,
}

/// All cards that have something to say.
pub fn all(
    viewer: &Viewer<'_>,
    gathered: &Gathered,
    pass: Option<&Pass>,
    ranks: &BTreeMap<u32, i32>,
    reach: Reach<'_>,
) -> Result<Vec<Card>, Refusal> {
    let dealer = Dealer {
        viewer,
        gathered,
        ranks,
        causes: Causes::new(viewer.trace(), reach),
        all: viewer.trace().bounds(),
    };
    let mut cards = vec![dealer.top(), dealer.imbalance(pass)?];
    if let Some(pass) = pass {
        cards.push(dealer.waits(pass)?);
        cards.push(dealer.phases(pass));
    }
    cards.push(dealer.io(pass));
    cards.push(dealer.communication());
    if let Some(pass) = pass {
        cards.push(dealer.trouble(pass));
    }
    Ok(cards.into_iter().flatten().collect())
}

impl<'a> Dealer<'_, 'a> {
    fn name(&self, kind: u32) -> &str {
        &self.viewer.trace().kinds()[kind as usize].name
    }

    fn class(&self, kind: u32) -> Class {
        self.viewer.trace().kinds()[kind as usize].class
    }

    /// The leaf of a line in the first line map.
    fn leaf(&self, line: u32) -> Option<u32> {
        self.viewer
            .trees()
            .first()?
            .leaf_of
            .get(line as usize)
            .copied()
    }

    fn label(&self, line: u32) -> String {
        let tree = self.viewer.trees().first();
        let leaf = self.leaf(line).and_then(|leaf| {
            let tree = tree?;
            Some(tree.full_label(*tree.leaves.get(leaf as usize)?))
        });
        leaf.unwrap_or_else(|| format!("line {line}"))
    }

    /// A line of a lane.
    fn line_of(&self, lane: u32) -> Option<u32> {
        let lines = self.viewer.trace().lines();
        let at = lines.iter().position(|line| line.lane == lane)?;
        u32::try_from(at).ok()
    }

    /// The spec that has these lines on top.
    fn pinned(&self, first: &str, lines: &[u32]) -> String {
        let mut leaves: Vec<String> = Vec::new();
        for leaf in lines.iter().filter_map(|&line| self.leaf(line)) {
            let leaf = leaf.to_string();
            if !leaves.contains(&leaf) {
                leaves.push(leaf);
            }
        }
        let pins = format!("pin:{}", leaves.join(","));
        match (first, leaves.is_empty()) {
            (_, true) => first.to_owned(),
            ("", false) => pins,
            _ => format!("{pins};{first}"),
        }
    }

    /// A stretch of time with something around it.
    fn around(&self, from: f64, to: f64) -> Target {
        let margin = ((to - from) * 0.25).max(1e-7);
        Target {
            t0: (from - margin).max(self.all.earliest),
            t1: (to + margin).min(self.all.latest),
            ..Target::default()
        }
    }

    fn everywhere(&self) -> Target {
        Target {
            t0: self.all.earliest,
            t1: self.all.latest,
            ..Target::default()
        }
    }

    fn at(&self, state: &Stretch, lines: &[u32]) -> Target {
        Target {
            rows: self.pinned("", lines),
            sel: state.reference(self.viewer.trace()),
            ..self.around(state.start, state.end)
        }
    }

    fn approximately(&self) -> &'static str {
        if self.gathered.exact { "" } else { "≈ " }
    }

    /// Exclusive seconds and drawables by kind, on the threads of ranks, and the lane with the most.
    fn times(&self) -> Vec<(u32, f64, u64, u32, f64)> {
        let mut kinds: BTreeMap<u32, (f64, u64, u32, f64)> = BTreeMap::new();
        for cell in &self.gathered.found.cells {
            let lane = u32::try_from(cell.rank).unwrap_or(u32::MAX);
            let kind = self.viewer.trace().kind(cell.category);
            let (Some(kind), true) = (kind, self.ranks.contains_key(&lane)) else {
                continue;
            };
            let topology = self.viewer.trace().kinds()[kind as usize].category.topology;
            if topology != Topology::State {
                continue;
            }
            let found = kinds
                .entry(kind)
                .or_insert((0.0, 0, lane, f64::NEG_INFINITY));
            found.0 += cell.tally.exclusive;
            found.1 += cell.tally.count;
            if cell.tally.exclusive > found.3 {
                (found.2, found.3) = (lane, cell.tally.exclusive);
            }
        }
        let kinds = kinds.into_iter();
        let mut times: Vec<_> = kinds
            .map(|(kind, (a, b, c, d))| (kind, a, b, c, d))
            .collect();
        times.sort_by(|a, b| b.1.total_cmp(&a.1));
        times
    }

    fn top(&self) -> Option<Card> {
        // Every run starts and ends: that stands apart.
        let is_end = |kind: u32| {
            let name = self.name(kind);
            ["MPI_Init", "MPI_Init_thread", "MPI_Finalize"].contains(&name)
        };
        let (ends, times): (Vec<_>, Vec<_>) =
            self.times().into_iter().partition(|time| is_end(time.0));
        let all = self.gathered.found.span() * self.ranks.len() as f64;
        let share = |seconds: f64| if all > 0.0 { seconds / all } else { 0.0 };
        let first = times.first()?;
        let about = self.approximately();
        let mut items = Vec::new();
        for &(kind, time, calls, lane, most) in times.iter().take(MOST) {
            let mean = time / self.ranks.len().max(1) as f64;
            let line = self.line_of(lane);
            let who = line.map_or_else(String::new, |line| self.label(line));
            let times = if mean > 0.0 { most / mean } else { 1.0 };
            items.push(Entry {
                text: format!(
                    "{}: {}, most on {who} ({times:.1} × the mean)",
                    self.name(kind),
                    count(calls, "call")
                ),
                value: format!("{about}{} ({})", seconds(time), percent(share(time))),
                target: Target {
                    rows: line.map_or_else(String::new, |line| self.pinned("", &[line])),
                    panel: "stats".into(),
                    ..self.everywhere()
                },
            });
        }
        if !ends.is_empty() {
            let time: f64 = ends.iter().map(|end| end.1).sum();
            let names: Vec<&str> = ends.iter().map(|end| self.name(end.0)).collect();
            items.push(Entry {
                text: format!("start-up and end: {}", names.join(", ")),
                value: format!("{about}{} ({})", seconds(time), percent(share(time))),
                target: Target {
                    panel: "stats".into(),
                    ..self.everywhere()
                },
            });
        }
        Some(Card {
            id: "top".into(),
            title: "Top categories".into(),
            value: format!("{about}{}", percent(share(first.1))),
            sentence: format!(
                "{} takes the most time: {about}{} of {} that all threads have together.",
                self.name(first.0),
                seconds(first.1),
                seconds(all)
            ),
            from: "all states of ranks, without what is nested in them".into(),
            items,
        })
    }

    /// What the main threads of ranks computed, the longest first.
    fn computed(&self, pass: Option<&Pass>) -> Vec<Computed> {
        let mut all: Vec<Computed> = match pass {
            Some(pass) => (self.ranks.keys())
                .filter_map(|&lane| (*pass.threads.get(lane as usize)?).as_ref())
                .map(|thread| Computed {
                    line: thread.line,
                    seconds: thread.computing,
                    longest: thread.longest,
                })
                .collect(),
            None => self.computed_of_times(),
        };
        // Threads beside the main one may do nothing but compute, or wait for work outside of MPI.
        let lines = self.viewer.trace().lines();
        all.retain(|computed| lines[computed.line as usize].line.thread == 0);
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all
    }

    /// The same from the times in MPI calls, as previews have them.
    fn computed_of_times(&self) -> Vec<Computed> {
        let mut in_calls: BTreeMap<u32, f64> = self.ranks.keys().map(|&lane| (lane, 0.0)).collect();
        for cell in &self.gathered.found.cells {
            let lane = u32::try_from(cell.rank).ok();
            let kind = self.viewer.trace().kind(cell.category);
            if let (Some(seconds), Some(kind)) = (lane.and_then(|l| in_calls.get_mut(&l)), kind)
                && !matches!(self.class(kind), Class::User | Class::Other)
            {
                *seconds += cell.tally.exclusive.max(0.0);
            }
        }
        let span = self.gathered.found.span();
        (in_calls.into_iter())
            .filter_map(|(lane, seconds)| {
                Some(Computed {
                    line: self.line_of(lane)?,
                    seconds: (span - seconds).max(0.0),
                    longest: None,
                })
            })
            .collect()
    }

    fn imbalance(&self, pass: Option<&Pass>) -> Result<Option<Card>, Refusal> {
        let threads = self.computed(pass);
        let mean = threads.iter().map(|t| t.seconds).sum::<f64>() / threads.len().max(1) as f64;
        let Some(worst) = threads.first().filter(|_| threads.len() > 1 && mean > 0.0) else {
            return Ok(None);
        };
        let about = self.approximately();
        let more = worst.seconds / mean - 1.0;
        let mut items = Vec::new();
        for (nth, thread) in threads.iter().take(3).enumerate() {
            let more = thread.seconds / mean - 1.0;
            if nth > 0 && more < LEAST_MORE {
                break;
            }
            let mut text = format!(
                "{} computes {about}{} longer than the mean",
                self.label(thread.line),
                percent(more),
            );
            let mut target = self.everywhere();
            if let (Some((from, to, next)), Some(pass)) = (thread.longest, pass) {
                let before = self.name(next.kind);
                text.push_str(&format!(
                    "; here for {} before {before}",
                    seconds(to - from)
                ));
                target = self.around(from, self.end_of_waiting(pass, from, to).max(to));
                target.sel = next.reference(self.viewer.trace());
            }
            items.push(Entry {
                text,
                value: format!("{about}{}", seconds(thread.seconds)),
                target: Target {
                    rows: self.pinned("sort:busy", &[thread.line]),
                    panel: "rows".into(),
                    ..target
                },
            });
        }
        let mut sentence = format!(
            "{} computes {about}{} longer than the mean of all ranks ({} against {}).",
            self.label(worst.line),
            percent(more),
            seconds(worst.seconds),
            seconds(mean)
        );
        let mut from = "time outside of MPI calls on the main threads of ranks".to_owned();
        if let Some(pass) = pass {
            from.push_str("; collective calls, matched by their order on each communicator");
            if let Some(late) = latest(pass) {
                sentence.push_str(&format!(
                    " {} comes last to {} without having waited itself, and keeps the others waiting for {} together.",
                    self.label(late.costliest.last.line),
                    count(late.meetings, "collective call"),
                    seconds(late.waited)
                ));
                items.push(self.late(late));
            }
            let (meetings, waited) = pass.passed_on;
            if meetings > 0 {
                sentence.push_str(&format!(
                    " In {} the last one was waited for ({} together), but waited itself.",
                    count(meetings, "collective call"),
                    seconds(waited)
                ));
            }
        }
        Ok(Some(Card {
            id: "imbalance".into(),
            title: "Imbalance".into(),
            value: format!("{about}{}", percent(more)),
            sentence,
            from,
            items,
        }))
    }

    /// When what waits at the end of a stretch goes on: the end of the longest wait that overlaps it.
    fn end_of_waiting(&self, pass: &Pass, from: f64, to: f64) -> f64 {
        let waits = pass.waits.iter().map(|(state, _)| state);
        let overlapping = waits.filter(|state| state.start < to && state.end > from);
        let ends = overlapping.map(|state| state.end);
        ends.fold(to, f64::max).min(to + (to - from))
    }

    /// The collective call at which others waited most for one that comes last.
    fn late(&self, late: &Late) -> Entry {
        let meeting = &late.costliest;
        let last = &meeting.last;
        Entry {
            text: format!(
                "{} comes last to {}, {} after the first",
                self.label(last.line),
                self.name(last.kind),
                seconds(last.start - meeting.first)
            ),
            value: seconds(meeting.waited),
            target: Target {
                rows: self.pinned("sort:busy", &[last.line]),
                sel: last.reference(self.viewer.trace()),
                ..self.around(meeting.first, last.end)
            },
        }
    }

    /// The calls that waited longest, with the collective call that they belong to and whom they waited for. The rest of such a
    /// call, in which data moves, is no wait; nor is a call of which nobody knows what it waited for.
    fn longest_waits<'p>(&self, pass: &'p Pass) -> Result<Vec<Wait<'p>>, Refusal> {
        let mut waits = Vec::new();
        for (state, key) in &pass.waits {
            let meeting = key.and_then(|key| pass.meeting(key));
            let partner = match meeting {
                Some(meeting) => Some(Partner {
                    line: meeting.last.line,
                    did: "came last",
                    until: meeting.last.start,
                })
                // A rank that has left does not wait for those that come then.
                .filter(|last| last.line != state.line && last.until < state.end),
                None => self.causes.partner(state)?,
            };
            if let Some(partner) = partner.filter(|partner| partner.until > state.start) {
                let end = partner.until.min(state.end);
                waits.push(Wait {
                    state: Stretch { end, ..*state },
                    meeting,
                    partner,
                });
            }
        }
        waits.sort_by(|a, b| b.state.duration().total_cmp(&a.state.duration()));
        waits.truncate(LONGEST);
        Ok(waits)
    }

    fn waits(&self, pass: &Pass) -> Result<Option<Card>, Refusal> {
        let waits = self.longest_waits(pass)?;
        let Some(longest) = waits.first().map(|wait| wait.state) else {
            return Ok(None);
        };
        let mut items = Vec::new();
        let mut because = String::new();
        for (nth, found) in waits.iter().enumerate() {
            let (wait, meeting, partner) = (&found.state, found.meeting, &found.partner);
            let mut lines = vec![wait.line];
            let mut text = format!("{} on {}", self.name(wait.kind), self.label(wait.line));
            if let Some(others) = meeting.map(|m| m.came.saturating_sub(2)).filter(|&n| n > 0) {
                text.push_str(&format!(" and {}", count(others.into(), "other")));
            }
            lines.push(partner.line);
            let mut why = format!("{} {}", self.label(partner.line), partner.did);
            if let Some((own, last)) = self.causes.behind(partner, wait.start)? {
                lines.push(last.line);
                why.push_str(&format!(
                    ", waiting itself in {} as {} {}",
                    self.name(own.kind),
                    self.label(last.line),
                    last.did
                ));
            }
            if nth == 0 {
                because = format!("; {why}");
            }
            text.push_str(&format!(": {why}"));
            items.push(Entry {
                text,
                value: seconds(wait.duration()),
                target: self.at(wait, &lines),
            });
        }
        Ok(Some(Card {
            id: "waits".into(),
            title: "Longest waits".into(),
            value: seconds(longest.duration()),
            sentence: format!(
                "The longest: {} on {}{because}.",
                self.name(longest.kind),
                self.label(longest.line)
            ),
            from: "point-to-point, waiting and blocking collective calls, each from its start until the rank that it waited for was there; who came last, the message of those received in the call that was sent last, and whether those waited themselves for most of that time".into(),
            items,
        }))
    }

    fn phases(&self, pass: &Pass) -> Option<Card> {
        // The rarest call that comes regularly and all through the run marks the iterations.
        let regular = pass.beats.iter().filter(|(_, beat)| {
            beat.count >= 5
                && beat.spread() < 0.5
                && beat.last - beat.first > 0.4 * self.all.duration()
        });
        let (&kind, beat) = regular.min_by_key(|(kind, beat)| (beat.count, **kind))?;
        let (from, to) = beat.longest;
        Some(Card {
            id: "phases".into(),
            title: "Phases".into(),
            value: format!("{} × {}", beat.count - 1, seconds(beat.mean())),
            sentence: format!(
                "{} begins every {} on {}, {} times: so long is an iteration.",
                self.name(kind),
                seconds(beat.mean()),
                self.label(0),
                beat.count
            ),
            from: format!("starts of {} on {}", self.name(kind), self.label(0)),
            items: vec![Entry {
                text: "the longest one".into(),
                value: seconds(to - from),
                target: self.around(from, to),
            }],
        })
    }

    fn io(&self, pass: Option<&Pass>) -> Option<Card> {
        let about = self.approximately();
        let of_io: Vec<_> = self
            .times()
            .into_iter()
            .filter(|t| self.class(t.0) == Class::Io)
            .collect();
        let time: f64 = of_io.iter().map(|t| t.1).sum();
        let calls: u64 = of_io.iter().map(|t| t.2).sum();
        if calls == 0 {
            return None;
        }
        let moved: u64 = (0..)
            .zip(&self.gathered.bytes)
            .filter(|(kind, _)| self.class(*kind) == Class::Io)
            .filter(|(kind, _)| {
                let kind = &self.viewer.trace().kinds()[*kind as usize];
                kind.category.topology == Topology::State
                    && kind
                        .category
                        .info_keys
                        .iter()
                        .any(|k| k.to_str().contains("bytes"))
            })
            .map(|(_, bytes)| bytes)
            .sum();
        let mut items = Vec::new();
        let mut by_lane: BTreeMap<u32, f64> = BTreeMap::new();
        for cell in &self.gathered.found.cells {
            let kind = self.viewer.trace().kind(cell.category);
            if let (Some(kind), Ok(lane)) = (kind, u32::try_from(cell.rank))
                && self.class(kind) == Class::Io
                && self.ranks.contains_key(&lane)
            {
                *by_lane.entry(lane).or_default() += cell.tally.total;
            }
        }
        let worst = by_lane.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((lane, time)) = worst
            && let Some(line) = self.line_of(lane)
        {
            items.push(Entry {
                text: format!("{} spends most time in MPI-IO", self.label(line)),
                value: format!("{about}{}", seconds(time)),
                target: Target {
                    rows: self.pinned("", &[line]),
                    panel: "io".into(),
                    ..self.everywhere()
                },
            });
        }
        for (state, _) in pass.iter().flat_map(|pass| pass.io.iter().take(MOST)) {
            items.push(Entry {
                text: format!(
                    "{} on {}, and the disk operations below",
                    self.name(state.kind),
                    self.label(state.line)
                ),
                value: seconds(state.duration()),
                target: Target {
                    panel: "io".into(),
                    ..self.at(state, &[state.line])
                },
            });
        }
        let mut sentence = format!(
            "{about}{} {} {about}{}",
            count(calls, "MPI-IO call"),
            if calls == 1 { "takes" } else { "take" },
            seconds(time)
        );
        // Previews do not tell bytes.
        let moved = if self.gathered.exact { moved } else { 0 };
        if moved > 0 {
            sentence.push_str(&format!(" and move {}", bytes(moved)));
            if time > 0.0 {
                let rate = bytes((moved as f64 / time) as u64);
                sentence.push_str(&format!(", {rate}/s for each rank in them"));
            }
        }
        let accesses = pass.map(|pass| &pass.accesses);
        if let Some(accesses) = accesses.filter(|accesses| accesses.calls > 0) {
            sentence.push_str(&format!(
                "; of {}, {} move less than 64 KiB and {} do not begin at a multiple of 4 KiB",
                count(accesses.calls, "access").replace("accesss", "accesses"),
                accesses.small,
                accesses.unaligned
            ));
        }
        sentence.push('.');
        let most = accesses.and_then(|found| found.by_file.iter().max_by_key(|(_, bytes)| **bytes));
        if let (Some((file, moved)), Some(accesses)) = (most, accesses) {
            let unnamed = format!("file {file}");
            let path = accesses.paths.get(file).unwrap_or(&unnamed);
            sentence.push_str(&format!(
                " Operations move most bytes of {path}: {}.",
                bytes(*moved)
            ));
        }
        Some(Card {
            id: "io".into(),
            title: "I/O".into(),
            value: if moved > 0 {
                bytes(moved)
            } else {
                format!("{about}{}", seconds(time))
            },
            sentence,
            from: "MPI_File calls, their bytes and offsets, and the operations below them".into(),
            items,
        })
    }

    fn communication(&self) -> Option<Card> {
        let messages = &self.gathered.found.messages;
        let is_message = |kind: u32| self.class(kind) == Class::Message;
        let kinds = (0..self.viewer.trace().kinds().len() as u32).filter(|&kind| is_message(kind));
        let sent: u64 = kinds
            .clone()
            .map(|kind| self.gathered.bytes[kind as usize])
            .sum();
        let arrows: u64 = (self.gathered.found.categories.iter())
            .filter(|c| self.viewer.trace().kind(c.index).is_some_and(is_message))
            .map(|c| c.tally.count)
            .sum();
        if arrows == 0 {
            return None;
        }
        let about = self.approximately();
        let tiny: u64 = (messages.by_size.iter())
            .filter(|class| class.high < 64)
            .map(|class| class.volume.count)
            .sum();
        let mut items = Vec::new();
        let mut pairs = messages.by_pair.clone();
        pairs.retain(|pair| pair.from >= 0 && pair.to >= 0);
        pairs.sort_by_key(|pair| std::cmp::Reverse((pair.volume.bytes, pair.volume.count)));
        for pair in pairs.iter().take(3) {
            let lines = [pair.from, pair.to].map(|lane| self.line_of(lane as u32).unwrap_or(0));
            items.push(Entry {
                text: format!(
                    "{} to {}: {}",
                    self.label(lines[0]),
                    self.label(lines[1]),
                    count(pair.volume.count, "message")
                ),
                value: bytes(pair.volume.bytes),
                target: Target {
                    rows: self.pinned("", &lines),
                    panel: "matrix".into(),
                    ..self.everywhere()
                },
            });
        }
        let mut sentence = format!("{about}{}", count(arrows, "message"));
        if self.gathered.exact {
            sentence.push_str(&format!(" with {}", bytes(sent)));
            if tiny > 0 {
                let share = tiny as f64 / arrows as f64;
                let tiny = format!("; {} of them are smaller than 64 bytes", percent(share));
                sentence.push_str(&tiny);
            }
        }
        sentence.push('.');
        Some(Card {
            id: "communication".into(),
            title: "Communication".into(),
            value: if self.gathered.exact {
                bytes(sent)
            } else {
                format!("{about}{arrows}")
            },
            sentence,
            from: "arrows of messages; collective calls send without".into(),
            items,
        })
    }

    fn trouble(&self, pass: &Pass) -> Option<Card> {
        let (_, _, worst) = pass.backward.first().copied()?;
        let items = pass.backward.iter().map(|&(line, reference, by)| {
            let (_, to) = reference.to.unwrap_or_default();
            Entry {
                text: format!("{} from {}", self.name(reference.kind), self.label(line)),
                value: seconds(by),
                target: Target {
                    rows: self.pinned("", &[line]),
                    sel: reference.to_string(),
                    ..self.around(to, reference.start)
                },
            }
        });
        Some(Card {
            id: "trouble".into(),
            title: "Trouble".into(),
            value: pass.backward_count.to_string(),
            sentence: format!(
                "{} before they begin, by up to {}: the clocks are apart by at least that.",
                match pass.backward_count {
                    1 => "1 message ends".to_owned(),
                    more => format!("{more} messages end"),
                },
                seconds(worst)
            ),
            from: "arrows whose end is earlier than their start".into(),
            items: items.collect(),
        })
    }
}

/// Who cost the others most by coming last to collective calls.
fn latest(pass: &Pass) -> Option<&Late> {
    let lates = pass.late.values();
    lates.max_by(|a, b| a.waited.total_cmp(&b.waited))
}
