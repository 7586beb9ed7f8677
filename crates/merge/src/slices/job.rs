//! A merge by slices in several jobs that do not see each other: each builds the nodes of some windows and leaves them in a file; then one
//! job puts them together, makes the nodes above, and writes the files.

use super::ending::RankTables;
use super::endpoint::NumberedEndpoint;
use super::job_file::{EntryKind, JobFileError, JobFileWriter, JobFiles};
use super::peers::{Mail, Peers, join, spread};
use super::plan::SlicePlan;
use super::window::{BuiltWindow, NodeRun};
use super::{SliceFiles, SliceInput, SliceSummary, Slices};
use crate::stream::Notes;
use std::ops::Range;
use trace_formats::slog2::{BuiltNode, NodePreview, TreeNodeId};
use trace_model::{PartNumber, TimeBBox};

/// Draws what is in some windows, builds these and leaves all in `out`. `input` has all records of the run. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub(super) fn write_job<P: Peers>(
    peers: &mut P,
    plan: &SlicePlan,
    windows: Range<u64>,
    (input, has_clog2): (SliceInput<'_>, bool),
    out: &JobFileWriter,
) -> Result<Option<String>, P::Failure> {
    let mut slices = Slices::new(peers, plan, input, has_clog2);
    slices.skip_to(windows.start);
    for round in 0..plan.rounds() {
        let all = plan.windows_of(round);
        let own = all.start.max(windows.start)..all.end.min(windows.end);
        if own.is_empty() {
            continue;
        }
        let mut bytes = Vec::new();
        slices.windows(own, |window| {
            bytes.clear();
            encode_window(&window, &mut bytes);
            out.add(EntryKind::Window, window.window, &bytes);
        })?;
        let crossing = std::mem::take(&mut slices.cutter.crossing);
        if !crossing.bytes().is_empty() {
            out.add(EntryKind::Crossing, round, crossing.bytes());
        }
        // A thread that is ahead must not send for windows of the same tag.
        join(slices.peers, Vec::new(), |_, _| {})?;
        spread(slices.peers, Vec::new())?;
    }
    let (mut notes, mut tables) = slices.tables();
    // Who draws the end of the run has seen all records.
    if windows.end < plan.windows() || windows.is_empty() {
        notes = Notes::default();
    }
    if windows.is_empty() {
        tables = RankTables::default();
    }
    let mut bytes = Vec::new();
    for count in counts(&mut notes) {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    tables.encode(&mut bytes);
    out.add(EntryKind::Tables, 0, &bytes);
    let operations = slices.operations.take();
    Ok(operations.and_then(|operations| operations.end().1))
}

/// Puts the parts of all jobs together and writes all nodes and blocks. `input` has no processes. Then [`super::complete`] is to be called.
///
/// # Errors
/// If a part is damaged, or `None` when the ranks could not go on together.
pub(super) fn join_jobs<P: Peers>(
    peers: &mut P,
    plan: &SlicePlan,
    input: SliceInput<'_>,
    parts: &JobFiles<'_>,
    files: &mut SliceFiles<'_>,
) -> Result<SliceSummary, Option<JobFileError>> {
    let mut slices = Slices::new(peers, plan, input, files.clog2.is_some());
    for round in 0..plan.rounds() {
        let mut windows = Vec::new();
        for window in plan.windows_of(round) {
            let mut entries = parts.entries(EntryKind::Window, window);
            let (bytes, part) = entries.next().ok_or_else(|| {
                let damaged = parts.damaged(part_of(plan, window, parts));
                Some(damaged)
            })?;
            let built = decode_window(window, bytes);
            windows.push(built.ok_or_else(|| Some(parts.damaged(part)))?);
        }
        let crossing = &mut slices.cutter.crossing;
        for (bytes, _) in parts.entries(EntryKind::Crossing, round) {
            for (_, thing) in Mail::things(bytes) {
                crossing.add(0, |bytes| bytes.extend_from_slice(thing));
            }
        }
        slices.round(round, windows, files).map_err(|_| None)?;
    }
    let (mut notes, mut tables) = (Notes::default(), RankTables::default());
    for (bytes, part) in parts.entries(EntryKind::Tables, 0) {
        let mut rest = bytes;
        let one = decode_tables(&mut rest).filter(|_| rest.is_empty());
        let (more_notes, more) = one.ok_or_else(|| Some(parts.damaged(part)))?;
        notes.add(more_notes);
        tables.join(more);
    }
    slices.conclude(notes, tables).map_err(|_| None)
}

/// The part in which a window should be.
fn part_of(plan: &SlicePlan, window: u64, parts: &JobFiles<'_>) -> PartNumber {
    let found = parts
        .numbers()
        .find(|part| part.share(plan.windows()).contains(&window));
    found.unwrap_or(PartNumber::WHOLE)
}

impl<P: Peers> Slices<'_, '_, P> {
    /// Passes over all that is before a window.
    fn skip_to(&mut self, window: u64) {
        if window == 0 {
            return;
        }
        let plan = self.plan;
        let time = plan.cut(plan.leaves_of(window.min(plan.windows())).start);
        for producer in &mut self.producers {
            producer.skip(&mut self.cutter, time);
        }
        if let Some(operations) = &mut self.operations {
            operations.skip(time);
        }
    }
}

fn counts(notes: &mut Notes) -> [&mut u64; 7] {
    let Notes {
        folded_comms,
        unknown_messages,
        unwanted_messages,
        unmatched_endpoints,
        large_messages,
        unknown_calls,
        unknown_events,
    } = notes;
    [
        folded_comms,
        unknown_messages,
        unwanted_messages,
        unmatched_endpoints,
        large_messages,
        unknown_calls,
        unknown_events,
    ]
}

fn decode_tables(rest: &mut &[u8]) -> Option<(Notes, RankTables)> {
    let mut notes = Notes::default();
    for count in counts(&mut notes) {
        *count = take_word(rest)?;
    }
    Some((notes, RankTables::decode(rest)?))
}

/// Appends a window for [`decode_window`]: little-endian numbers, its blocks and nodes last.
fn encode_window(window: &BuiltWindow<'_>, out: &mut Vec<u8>) {
    let word = |out: &mut Vec<u8>, number: u64| out.extend_from_slice(&number.to_le_bytes());
    window.preview.encode(out);
    word(out, window.nodes.nodes.len() as u64);
    for (node, offset, children) in &window.nodes.nodes {
        word(out, node.id.depth as u64);
        word(out, node.id.xpos as u64);
        word(out, node.bounds.earliest.to_bits());
        word(out, node.bounds.latest.to_bits());
        word(out, node.size as u64);
        word(out, *offset as u64);
        for list in [&node.child_pointers, children] {
            word(out, list.len() as u64);
            list.iter().for_each(|&number| word(out, number as u64));
        }
    }
    word(out, window.left.len() as u64);
    for (end, turn) in &window.left {
        out.extend_from_slice(&turn.to_le_bytes());
        end.encode(out);
    }
    word(out, window.blocks.len() as u64);
    out.extend_from_slice(&window.blocks);
    out.extend_from_slice(&window.nodes.bytes);
}

/// The window in these bytes, of which it borrows blocks and nodes; `None` if they are damaged.
fn decode_window(window: u64, bytes: &[u8]) -> Option<BuiltWindow<'_>> {
    let mut rest = bytes;
    let preview = NodePreview::decode(&mut rest)?;
    let mut nodes = Vec::new();
    for _ in 0..take_word(&mut rest)? {
        let id = TreeNodeId {
            depth: take_word(&mut rest)? as i16,
            xpos: take_word(&mut rest)? as i32,
        };
        let bounds = TimeBBox {
            earliest: f64::from_bits(take_word(&mut rest)?),
            latest: f64::from_bits(take_word(&mut rest)?),
        };
        let size = take_word(&mut rest)? as usize;
        let offset = take_word(&mut rest)? as usize;
        let child_pointers = take_list(&mut rest)?;
        let children = take_list(&mut rest)?;
        let node = BuiltNode {
            id,
            bounds,
            size,
            child_pointers,
        };
        nodes.push((node, offset, children));
    }
    let mut left = Vec::new();
    for _ in 0..take_word(&mut rest)? {
        let (turn, behind) = rest.split_first_chunk()?;
        left.push((NumberedEndpoint::decode(behind)?, u32::from_le_bytes(*turn)));
        rest = behind.get(NumberedEndpoint::SIZE..)?;
    }
    let length = usize::try_from(take_word(&mut rest)?).ok()?;
    let (blocks, node_bytes) = rest.split_at_checked(length)?;
    let is_within = |&(ref node, offset, _): &(BuiltNode, usize, Vec<usize>)| {
        let end = offset.checked_add(node.size);
        end.is_some_and(|end| end <= node_bytes.len())
    };
    nodes.iter().all(is_within).then(|| BuiltWindow {
        window,
        nodes: NodeRun {
            bytes: node_bytes.into(),
            nodes,
        },
        preview,
        blocks: blocks.into(),
        left,
    })
}

fn take_word(rest: &mut &[u8]) -> Option<u64> {
    let (word, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*word))
}

fn take_list(rest: &mut &[u8]) -> Option<Vec<usize>> {
    let count = usize::try_from(take_word(rest)?).ok()?;
    if count > rest.len() / 8 {
        return None;
    }
    let list = (0..count).map(|_| Some(take_word(rest)? as usize));
    list.collect()
}
