//! A window: what its owner gets of all processes, and the nodes and blocks made of it.

use super::endpoint::{NumberedEndpoint, WaitingEndpoints};
use super::plan::SlicePlan;
use super::produce::SEGMENT_HEAD;
use std::borrow::Cow;
use std::io::Cursor;
use trace_formats::clog2::{
    Clog2RecordHeader, Clog2Writer, PREAMBLE_SIZE, Preamble, peek_size, peek_time,
};
use trace_formats::slog2::{
    BuiltNode, DirEntry, EncodedDrawable, FileBlockPtr, NodeContents, NodePreview, NodeWriter,
    TreeNodeId,
};
use trace_model::TimeBBox;

/// What a process has in a window, or a part of it: its rank, drawables and ends of messages, CLOG2 records.
type ReadSegment<'a> = (u32, &'a [u8], &'a [u8]);

/// Bytes in front of the segments of a message: whether it is the sender's last one for the window, and the number of the window.
pub(super) const MESSAGE_HEAD: usize = 9;

/// The window that a message is for; `None` if it is too short.
pub(super) fn window_of(message: &[u8]) -> Option<u64> {
    let number = message.get(1..)?.first_chunk()?;
    Some(u64::from_le_bytes(*number))
}

/// What has come for a window.
#[derive(Debug, Default)]
pub(super) struct WindowInput {
    /// Messages as [`WindowInput::add`] takes them.
    messages: Vec<Vec<u8>>,
    /// Senders that have sent all they have.
    pub(super) complete: u32,
}

impl WindowInput {
    /// Takes a message of a sender: whether it has sent all then, 1 or 0, the number of the window, and segments of processes, each with
    /// its head. `None` if it is too short.
    pub(super) fn add(&mut self, message: Vec<u8>) -> Option<()> {
        window_of(&message)?;
        self.complete += u32::from(*message.first()?);
        self.messages.push(message);
        Some(())
    }

    /// The segments by process, those of one process in the order in which they came: process, drawables, CLOG2 records. `None` if they
    /// are damaged.
    fn segments(&self) -> Option<Vec<ReadSegment<'_>>> {
        let mut segments = Vec::new();
        for message in &self.messages {
            let (_, mut rest) = message.split_at_checked(MESSAGE_HEAD)?;
            while !rest.is_empty() {
                let (head, behind) = rest.split_first_chunk::<SEGMENT_HEAD>()?;
                let number = |at: usize| Some(u32::from_le_bytes(*head[at..].first_chunk()?));
                let (drawn, behind) = behind.split_at_checked(number(4)? as usize)?;
                let (clog2, behind) = behind.split_at_checked(number(8)? as usize)?;
                segments.push((number(0)?, drawn, clog2));
                rest = behind;
            }
        }
        segments.sort_by_key(|&(process, ..)| process);
        Some(segments)
    }
}

/// Nodes one behind the other, which are to be written as one.
#[derive(Debug, Default)]
pub(super) struct NodeRun<'b> {
    pub(super) bytes: Cow<'b, [u8]>,
    /// Each with its offset in the bytes and the places of its children in this list.
    pub(super) nodes: Vec<(BuiltNode, usize, Vec<usize>)>,
}

impl NodeRun<'_> {
    /// Bytes of the last node, which is above all others of a window.
    pub(super) fn last_size(&self) -> usize {
        self.nodes.last().map_or(0, |(node, ..)| node.size)
    }

    /// Bytes of the largest node.
    pub(super) fn largest(&self) -> usize {
        self.nodes
            .iter()
            .map(|(node, ..)| node.size)
            .max()
            .unwrap_or(0)
    }

    /// Puts all pointers in, for nodes that begin at offset `at` of the file; `others` are the places of the children of the last node
    /// that are elsewhere. Adds the nodes to the directory.
    pub(super) fn place(
        &mut self,
        at: u64,
        others: &[FileBlockPtr],
        directory: &mut Vec<DirEntry>,
    ) {
        let pointer = |(node, offset, _): &(BuiltNode, usize, Vec<usize>)| FileBlockPtr {
            offset: (at + *offset as u64) as i64,
            size: node.size as i32,
        };
        for node in &self.nodes {
            let (built, offset, children) = node;
            let within: Vec<FileBlockPtr> = children
                .iter()
                .filter_map(|&child| self.nodes.get(child).map(pointer))
                .collect();
            let children = if within.is_empty() { others } else { &within };
            let own = pointer(node);
            let bytes = self.bytes.to_mut();
            let bytes = bytes.get_mut(*offset..*offset + built.size);
            built.place(bytes.unwrap_or_default(), own, children);
            directory.push(built.entry(own));
        }
    }

    /// Appends a node.
    pub(super) fn push(
        &mut self,
        writer: &mut NodeWriter,
        (id, bounds): (TreeNodeId, TimeBBox),
        contents: NodeContents,
        children: Vec<NodePreview>,
        places: Vec<usize>,
    ) -> NodePreview {
        let offset = self.bytes.len();
        let (built, preview) = writer.build(id, bounds, contents, children, self.bytes.to_mut());
        self.nodes.push((built, offset, places));
        preview
    }
}

/// What is made of a window.
#[derive(Debug)]
pub(super) struct BuiltWindow<'b> {
    pub(super) window: u64,
    pub(super) nodes: NodeRun<'b>,
    /// Of its highest node.
    pub(super) preview: NodePreview,
    /// Whole blocks of a CLOG2 file.
    pub(super) blocks: Cow<'b, [u8]>,
    /// Ends of messages whose other end is in another window, each with the turn of its process.
    pub(super) left: Vec<(NumberedEndpoint, u32)>,
}

/// The drawables of the nodes of a window, by height and place.
struct WindowNodes<'a> {
    plan: &'a SlicePlan,
    first_leaf: usize,
    levels: Vec<Vec<NodeContents>>,
}

impl<'a> WindowNodes<'a> {
    fn new(plan: &'a SlicePlan, window: u64) -> WindowNodes<'a> {
        let leaves = plan.leaves_of(window);
        let mut levels = Vec::new();
        for depth in 0..=plan.window_depth() {
            let last = plan.node_above(leaves.end - 1, depth);
            let first = plan.node_above(leaves.start, depth);
            let count = (last.xpos - first.xpos + 1) as usize;
            levels.push((0..count).map(|_| NodeContents::default()).collect());
        }
        WindowNodes {
            plan,
            first_leaf: leaves.start,
            levels,
        }
    }

    #[inline]
    fn contents(&mut self, id: TreeNodeId) -> Option<&mut NodeContents> {
        let first = self.plan.node_above(self.first_leaf, id.depth as u32).xpos;
        let level = self.levels.get_mut(id.depth as usize)?;
        level.get_mut((id.xpos - first) as usize)
    }

    /// Builds all nodes, from the leaves up; gives the preview of the highest.
    fn build(self, writer: &mut NodeWriter, run: &mut NodeRun<'_>) -> NodePreview {
        let plan = self.plan;
        let mut below: Vec<(usize, NodePreview)> = Vec::new();
        for (level, depth) in self.levels.into_iter().zip(0u32..) {
            let first = plan.node_above(self.first_leaf, depth).xpos;
            let mut previews = below.into_iter().peekable();
            let mut built = Vec::with_capacity(level.len());
            for (contents, xpos) in level.into_iter().zip(first..) {
                let id = TreeNodeId {
                    depth: depth as i16,
                    xpos,
                };
                let mut children = Vec::new();
                let mut places = Vec::new();
                while let Some((place, preview)) =
                    previews.next_if(|(_, preview)| plan.parent(preview.id()) == Some(id))
                {
                    places.push(place);
                    children.push(preview);
                }
                let preview = run.push(writer, (id, plan.bounds(id)), contents, children, places);
                built.push((run.nodes.len() - 1, preview));
            }
            below = built;
        }
        below.pop().map(|(_, preview)| preview).unwrap_or_default()
    }
}

/// Makes nodes and blocks of a window. `turns` has the turn of each process among records of equal time. `None` if what has come is
/// damaged.
pub(super) fn build(
    plan: &SlicePlan,
    window: u64,
    input: WindowInput,
    (turns, clog2): (&[u32], Option<&Preamble>),
    writer: &mut NodeWriter,
) -> Option<BuiltWindow<'static>> {
    let segments = input.segments()?;
    let turn = |process: u32| turns.get(process as usize).copied().unwrap_or(process);
    let leaves = plan.leaves_of(window);
    let mut nodes = WindowNodes::new(plan, window);
    let mut waiting = WaitingEndpoints::default();
    let (mut leaf, mut of_process) = (leaves.start, None);
    for &(process, drawn, _) in &segments {
        if of_process.replace(process) != Some(process) {
            leaf = leaves.start;
        }
        let mut rest = drawn;
        while let Some(&kind) = rest.first() {
            if NumberedEndpoint::is_one(kind) {
                let end = NumberedEndpoint::decode(rest)?;
                rest = rest.get(NumberedEndpoint::SIZE..)?;
                if let Some(arrow) = waiting.meet(&end, turn(process)) {
                    let times = arrow.vertices.map(|vertex| plan.leaf_of(vertex.time));
                    let id = plan.node_of(times[0], times[1]);
                    nodes.contents(id)?.add(&arrow.drawable());
                }
                continue;
            }
            let drawable = EncodedDrawable::first_of(rest)?;
            rest = rest.get(drawable.bytes.len()..)?;
            let bounds = drawable.bounds;
            leaf = plan.leaf_from(leaf, leaves.end, bounds.latest);
            let id = match bounds.earliest < plan.cut(leaf) {
                true => plan.node_of(plan.leaf_of(bounds.earliest), leaf),
                false => plan.node_above(leaf, 0),
            };
            nodes.contents(id)?.add_encoded(&drawable);
        }
    }
    let blocks = match clog2 {
        Some(preamble) => blocks(&segments, turn, preamble, plan.cut(leaves.end))?,
        None => Vec::new(),
    };
    drop(segments);
    // The nodes take as much memory once more.
    drop(input);
    let mut run = NodeRun::default();
    let preview = nodes.build(writer, &mut run);
    Some(BuiltWindow {
        window,
        nodes: run,
        preview,
        blocks: blocks.into(),
        left: waiting.drain().collect(),
    })
}

/// The blocks of a CLOG2 file with the records of all segments, in order of time. `end` is the end of the window, seconds.
fn blocks(
    segments: &[ReadSegment<'_>],
    turn: impl Fn(u32) -> u32,
    preamble: &Preamble,
    end: f64,
) -> Option<Vec<u8>> {
    let mut records: Vec<(f64, u32, &[u8])> = Vec::new();
    for &(process, _, mut rest) in segments {
        while !rest.is_empty() {
            let (record, behind) = rest.split_at_checked(peek_size(rest).max(1))?;
            records.push((peek_time(record), turn(process), record));
            rest = behind;
        }
    }
    // Stable, so that records of one process at one time stay in their order.
    records.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut out = Clog2Writer::new(Cursor::new(Vec::new()), preamble).ok()?;
    for (_, _, record) in records {
        out.write_encoded(record).ok()?;
    }
    let next = Clog2RecordHeader {
        time: end,
        ..Clog2RecordHeader::default()
    };
    let mut bytes = out.into_blocks(&next).ok()?.into_inner();
    Some(bytes.split_off(PREAMBLE_SIZE.min(bytes.len())))
}
