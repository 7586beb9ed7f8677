//! The arrows of a frame: all of them, those that take longest, or bundles of those that go the same way.

use std::collections::BTreeMap;

use super::frame::{FrameWriter, arrow_flag, flag, section};
use super::request::{ArrowSelection, PictureRequest};

/// Arrows above which those with the longest flight are given only.
const MAX_WORST_ARROWS: usize = 200;
/// Arrows above which bundles are given.
const MAX_ARROWS: usize = 3000;
/// Bundles, and parts of the window that have bundles of their own.
const MAX_BUNDLES: usize = 400;
const BUNDLE_PARTS: u32 = 8;
/// An arrow between two timelines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineArrow {
    /// Start, seconds.
    pub from: f64,
    /// End, seconds; may lie before the start.
    pub to: f64,
    /// Timeline where it begins.
    pub timeline_from: u32,
    /// Timeline where it ends.
    pub timeline_to: u32,
    /// Kind.
    pub kind: u32,
    /// Bytes of the message.
    pub bytes: u64,
}

/// Writes arrows, as many as the eye can separate. Gives the flags that follow from that.
pub(super) fn write_arrows(
    writer: &mut FrameWriter,
    request: &PictureRequest<'_>,
    mut arrows: Vec<TimelineArrow>,
) -> u32 {
    let mut flags = 0;
    let flight = |arrow: &TimelineArrow| (arrow.to - arrow.from).abs();
    let longest_first = |a: &TimelineArrow, b: &TimelineArrow| flight(b).total_cmp(&flight(a));
    let mut bundles = Vec::new();
    if request.arrows == ArrowSelection::All && arrows.len() > MAX_ARROWS {
        bundles = bundled(request, &arrows);
        flags |= flag::ARROWS_CUT;
    } else if request.arrows == ArrowSelection::Worst && arrows.len() > MAX_WORST_ARROWS {
        arrows.sort_by(longest_first);
        arrows.truncate(MAX_WORST_ARROWS);
        flags |= flag::ARROWS_CUT;
    } else if arrows.len() > MAX_ARROWS {
        arrows.sort_by(longest_first);
        arrows.truncate(MAX_ARROWS);
        flags |= flag::ARROWS_CUT;
    }
    let arrows = if bundles.is_empty() {
        arrows
    } else {
        Vec::new()
    };
    let is_bundle = !bundles.is_empty();
    if !is_bundle {
        bundles = arrows.into_iter().map(|arrow| (arrow, 1)).collect();
    }
    if bundles.is_empty() {
        return flags;
    }
    let all = || bundles.iter();
    let offset = |time: f64| (time - request.window.earliest) as f32;
    let flags_of = |arrow: &TimelineArrow, count: u32| {
        u16::from(arrow.to < arrow.from) * arrow_flag::BACKWARD
            + u16::from(count > 1) * arrow_flag::BUNDLE
    };
    let [
        from,
        to,
        timeline_from,
        timeline_to,
        kind,
        flag,
        count,
        bytes,
    ] = section::ARROWS;
    writer.section(from, all().map(|(a, _)| offset(a.from)));
    writer.section(to, all().map(|(a, _)| offset(a.to)));
    writer.section(timeline_from, all().map(|(a, _)| a.timeline_from));
    writer.section(timeline_to, all().map(|(a, _)| a.timeline_to));
    writer.section(kind, all().map(|(a, _)| a.kind as u16));
    writer.section(flag, all().map(|(a, count)| flags_of(a, *count)));
    if is_bundle {
        writer.section(count, all().map(|(_, count)| *count));
        writer.section(bytes, all().map(|(a, _)| a.bytes as f32));
    }
    flags
}

/// Arrows that go the same way at about the same time.
#[derive(Clone, Copy, Default)]
struct ArrowSum {
    /// Sums of their times after the begin of the window, and of their timelines.
    times: [f64; 2],
    timelines: [u64; 2],
    bytes: u64,
    count: u32,
}

impl ArrowSum {
    fn add(&mut self, other: &ArrowSum) {
        for end in 0..2 {
            self.times[end] += other.times[end];
            self.timelines[end] += other.timelines[end];
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
    }
}

/// Arrows as bundles: those of the same kind from the same timelines to the same timelines in the same part of the window, with as many
/// neighbouring timelines together as it takes until they are few. Bundles begin and end at the average times and timelines.
fn bundled(request: &PictureRequest<'_>, arrows: &[TimelineArrow]) -> Vec<(TimelineArrow, u32)> {
    let window = request.window;
    let pinned = request.layout.pinned as u32;
    let together = |timeline: u32, power: u32| match timeline.checked_sub(pinned) {
        Some(below) => pinned + (below >> power),
        None => timeline,
    };
    type Key = (u32, [u32; 2], u32);
    let mut bundles: BTreeMap<Key, ArrowSum> = BTreeMap::new();
    for arrow in arrows {
        let middle = (arrow.from + arrow.to) / 2.0 - window.earliest;
        let part = (middle / window.duration()).clamp(0.0, 1.0) * f64::from(BUNDLE_PARTS);
        let key = (
            part as u32,
            [arrow.timeline_from, arrow.timeline_to],
            arrow.kind,
        );
        bundles.entry(key).or_default().add(&ArrowSum {
            times: [arrow.from, arrow.to].map(|time| time - window.earliest),
            timelines: [arrow.timeline_from, arrow.timeline_to].map(u64::from),
            bytes: arrow.bytes,
            count: 1,
        });
    }
    for power in 1..u32::BITS {
        if bundles.len() <= MAX_BUNDLES {
            break;
        }
        let mut fewer: BTreeMap<Key, ArrowSum> = BTreeMap::new();
        for ((part, _, kind), bundle) in &bundles {
            let timelines = bundle.timelines.map(|sum| {
                let timeline = sum / u64::from(bundle.count.max(1));
                together(timeline as u32, power)
            });
            // An arrow among neighbours would only cover them.
            if timelines[0] != timelines[1] {
                fewer
                    .entry((*part, timelines, *kind))
                    .or_default()
                    .add(bundle);
            }
        }
        if fewer.is_empty() {
            break;
        }
        bundles = fewer;
    }
    let mut bundles: Vec<(TimelineArrow, u32)> = bundles
        .into_iter()
        .map(|((_, _, kind), bundle)| {
            let count = bundle.count.max(1);
            let [from, to] = bundle
                .times
                .map(|sum| window.earliest + sum / f64::from(count));
            let [timeline_from, timeline_to] =
                bundle.timelines.map(|sum| (sum / u64::from(count)) as u32);
            let arrow = TimelineArrow {
                from,
                to,
                timeline_from,
                timeline_to,
                kind,
                bytes: bundle.bytes,
            };
            (arrow, count)
        })
        .collect();
    bundles
        .sort_by_key(|(arrow, count)| (std::cmp::Reverse(arrow.bytes), std::cmp::Reverse(*count)));
    bundles.truncate(MAX_BUNDLES);
    bundles
}
