//! The findings.

use formats::slog2::{TimeBBox, Topology};
use std::collections::BTreeMap;

use super::pass::{Meeting, Pass, Stretch, Thread, is_nonblocking};
use super::words::{bytes, count, percent, seconds};
use super::{Card, Entry, Target};
use crate::answer::Viewer;
use crate::class::Class;
use crate::numbers::gather::Gathered;
use crate::refusal::Refusal;
use crate::scan::{Reach, Take, scan};
use crate::trace::Item;

/// Places that a card names.
const MOST: usize = 5;
/// Bytes that are read to find out what a call waited for.
const BYTES_FOR_PARTNER: u64 = 16 << 20;

/// What the cards are made of.
struct Dealer<'d, 'a> {
    viewer: &'d Viewer<'a>,
    gathered: &'d Gathered,
    /// By lane of a rank its rank.
    ranks: &'d BTreeMap<u32, i32>,
    reach: Reach<'d>,
    all: TimeBBox,
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
        reach,
        all: viewer.trace().bounds(),
    };
    let mut cards = vec![dealer.top()];
    if let Some(pass) = pass {
        cards.push(dealer.imbalance(pass));
        cards.push(dealer.waits(pass)?);
        cards.push(dealer.phases(pass));
        cards.push(dealer.io(pass));
    }
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
        let times = self.times();
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
        Some(Card {
            id: "top",
            title: "Top categories",
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

    fn imbalance(&self, pass: &Pass) -> Option<Card> {
        let mut threads: Vec<(u32, Thread)> = (self.ranks.keys())
            .filter_map(|&lane| Some((lane, (*pass.threads.get(lane as usize)?)?)))
            .collect();
        // Threads beside the main one may do nothing but compute, or wait for work outside of MPI.
        threads.retain(|(_, thread)| {
            self.viewer.trace().lines()[thread.line as usize]
                .line
                .thread
                == 0
        });
        if threads.len() < 2 {
            return None;
        }
        let mean = threads.iter().map(|(_, t)| t.computing).sum::<f64>() / threads.len() as f64;
        threads.sort_by(|a, b| b.1.computing.total_cmp(&a.1.computing));
        let (_, worst) = *threads.first()?;
        if mean <= 0.0 {
            return None;
        }
        let more = worst.computing / mean - 1.0;
        let mut items = Vec::new();
        for (nth, (_, thread)) in threads.iter().take(3).enumerate() {
            let more = thread.computing / mean - 1.0;
            if nth > 0 && more < 0.02 {
                break;
            }
            let Some((from, to, next)) = thread.longest else {
                continue;
            };
            let until = self.end_of_waiting(pass, from, to).max(to);
            items.push(Entry {
                text: format!(
                    "{} computes {} longer than the mean; here for {} before {}",
                    self.label(thread.line),
                    percent(more),
                    seconds(to - from),
                    self.name(next.kind)
                ),
                value: seconds(thread.computing),
                target: Target {
                    rows: self.pinned("sort:busy", &[thread.line]),
                    sel: next.reference(self.viewer.trace()),
                    panel: "rows".into(),
                    ..self.around(from, until)
                },
            });
        }
        let mut sentence = format!(
            "{} computes {} longer than the mean of all ranks ({} against {}).",
            self.label(worst.line),
            percent(more),
            seconds(worst.computing),
            seconds(mean)
        );
        if let Some((line, meetings, waited, costliest)) = self.late(pass) {
            sentence.push_str(&format!(
                " {} comes last to {} and keeps the others waiting for {} together.",
                self.label(line),
                count(meetings, "collective call"),
                seconds(waited)
            ));
            items.push(Entry {
                text: format!(
                    "{} comes last to {}, {} after the first",
                    self.label(line),
                    self.name(costliest.last.kind),
                    seconds(costliest.last.start - costliest.first)
                ),
                value: seconds(costliest.waited),
                target: Target {
                    rows: self.pinned("sort:busy", &[line]),
                    sel: costliest.last.reference(self.viewer.trace()),
                    ..self.around(costliest.first, costliest.last.end)
                },
            });
        }
        Some(Card {
            id: "imbalance",
            title: "Imbalance",
            value: percent(more),
            sentence,
            from: "time outside of MPI calls on the main threads of ranks; collective calls, matched by their order on each communicator".into(),
            items,
        })
    }

    /// When what waits at the end of a stretch goes on: the end of the longest wait that overlaps it.
    fn end_of_waiting(&self, pass: &Pass, from: f64, to: f64) -> f64 {
        let waits = pass.waits.iter().map(|(state, _)| state);
        let overlapping = waits.filter(|state| state.start < to && state.end > from);
        let ends = overlapping.map(|state| state.end);
        ends.fold(to, f64::max).min(to + (to - from))
    }

    /// The line that cost the others most by coming last to collective calls: how often, how much, the costliest one.
    fn late(&self, pass: &Pass) -> Option<(u32, u64, f64, Meeting)> {
        let mut lanes: BTreeMap<u32, (u64, f64, Meeting)> = BTreeMap::new();
        for meeting in pass.meetings.values() {
            if meeting.came < 2 || is_nonblocking(self.name(meeting.last.kind)) {
                continue;
            }
            let lane = self.viewer.trace().lines()[meeting.last.line as usize].lane;
            let entry = lanes.entry(lane).or_insert((0, 0.0, *meeting));
            entry.0 += 1;
            entry.1 += meeting.waited;
            let key = |m: &Meeting| (m.waited, -m.first);
            if key(meeting) > key(&entry.2) {
                entry.2 = *meeting;
            }
        }
        let worst = lanes.into_iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let (_, (meetings, waited, costliest)) = worst?;
        (waited > 0.0).then_some((costliest.last.line, meetings, waited, costliest))
    }

    fn waits(&self, pass: &Pass) -> Result<Option<Card>, Refusal> {
        let Some((longest, _)) = pass.waits.first() else {
            return Ok(None);
        };
        let mut items = Vec::new();
        let mut because = String::new();
        for (nth, (state, meeting)) in pass.waits.iter().enumerate() {
            let meeting = meeting.and_then(|key| pass.meetings.get(&key));
            let partner = match meeting {
                Some(meeting) => Some((meeting.last.line, "came last")).filter(|_| {
                    meeting.last.line != state.line && meeting.last.start > state.start
                }),
                None => self.sender(state)?.map(|line| (line, "sent late")),
            };
            let mut lines = vec![state.line];
            let mut text = format!("{} on {}", self.name(state.kind), self.label(state.line));
            if let Some((line, why)) = partner {
                lines.push(line);
                let why = format!("{} {why}", self.label(line));
                if nth == 0 {
                    because = format!("; {why}");
                }
                text.push_str(&format!(": {why}"));
            }
            items.push(Entry {
                text,
                value: seconds(state.duration()),
                target: self.at(state, &lines),
            });
        }
        Ok(Some(Card {
            id: "waits",
            title: "Longest waits",
            value: seconds(longest.duration()),
            sentence: format!(
                "The longest: {} on {}{because}.",
                self.name(longest.kind),
                self.label(longest.line)
            ),
            from: "point-to-point, waiting and blocking collective calls; who came last, and the arrow that ends last in the call".into(),
            items,
        }))
    }

    /// Who sent the message that came last while a call waited.
    fn sender(&self, state: &Stretch) -> Result<Option<u32>, Refusal> {
        let mut latest = Latest {
            lane: self.viewer.trace().lines()[state.line as usize].lane,
            state: *state,
            trace: self.viewer.trace(),
            found: None,
        };
        let reach = Reach {
            window: TimeBBox {
                earliest: state.start,
                latest: state.end,
            },
            bytes: self.reach.bytes.min(BYTES_FOR_PARTNER),
            stop: self.reach.stop,
        };
        scan(self.viewer.trace(), reach, &mut latest)?;
        let found = latest.found.filter(|arrow| arrow.start > state.start);
        Ok(found.map(|arrow| arrow.line))
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
            id: "phases",
            title: "Phases",
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

    fn io(&self, pass: &Pass) -> Option<Card> {
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
                value: seconds(time),
                target: Target {
                    rows: self.pinned("", &[line]),
                    panel: "io".into(),
                    ..self.everywhere()
                },
            });
        }
        for (state, ()) in pass.io.iter().take(MOST) {
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
        let accesses = &pass.accesses;
        let mut sentence = format!("{} take {}", count(calls, "MPI-IO call"), seconds(time));
        if moved > 0 {
            sentence.push_str(&format!(" and move {}", bytes(moved)));
            if time > 0.0 {
                let rate = bytes((moved as f64 / time) as u64);
                sentence.push_str(&format!(", {rate}/s for each rank in them"));
            }
        }
        if accesses.calls > 0 {
            sentence.push_str(&format!(
                "; of {}, {} move less than 64 KiB and {} do not begin at a multiple of 4 KiB",
                count(accesses.calls, "access").replace("accesss", "accesses"),
                accesses.small,
                accesses.unaligned
            ));
        }
        sentence.push('.');
        let most = accesses.by_file.iter().max_by_key(|(_, bytes)| **bytes);
        if let Some((file, moved)) = most {
            let unnamed = format!("file {file}");
            let path = accesses.paths.get(file).unwrap_or(&unnamed);
            sentence.push_str(&format!(
                " Operations move most bytes of {path}: {}.",
                bytes(*moved)
            ));
        }
        Some(Card {
            id: "io",
            title: "I/O",
            value: if moved > 0 {
                bytes(moved)
            } else {
                seconds(time)
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
            id: "communication",
            title: "Communication",
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
            id: "trouble",
            title: "Trouble",
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

/// The message that arrives last in a call.
struct Latest<'l, 'a> {
    lane: u32,
    state: Stretch,
    trace: &'l crate::trace::Trace<'a>,
    found: Option<Item<'a>>,
}

impl<'a> Take<'a> for Latest<'_, 'a> {
    fn item(&mut self, item: Item<'a>) {
        if item.topology != Topology::Arrow {
            return;
        }
        let is_here = self.trace.lines()[item.to_line as usize].lane == self.lane
            && self.trace.kinds()[item.kind as usize].class == Class::Message
            && (self.state.start..=self.state.end).contains(&item.end);
        if is_here && self.found.is_none_or(|found| found.end < item.end) {
            self.found = Some(item);
        }
    }
}
