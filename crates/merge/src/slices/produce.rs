//! What a rank draws of its own records, cut by windows.
//!
//! States and events are drawn where they were recorded. Of a message, each rank knows one end: it numbers the messages of each
//! channel, and whoever gets both ends of the same number draws the arrow.

use super::endpoint::NumberedEndpoint;
use super::peers::Mail;
use super::plan::SlicePlan;
use crate::record::{MergedBody, MergedRecord};
use crate::slog2::whole;
use crate::stream::{MergeStream, Notes};
use std::convert::Infallible;
use trace_formats::clog2::{Clog2CommEvent, MAX_RECORD_SIZE};
use trace_formats::slog2::{Drawing, EncodedDrawable, MessageEndpoint, NewDrawable, TreeNodeId};
use trace_model::hash::Map;

/// Messages so far by channel: whether they were sent, sender, receiver, tag.
type ChannelNumbers = Map<(bool, i32, i32, i32), u32>;

/// Gives the next end of a message of a channel its number, which is as many higher as it is ahead of its turn.
#[inline]
fn number(numbers: &mut ChannelNumbers, end: MessageEndpoint, ahead: i32) -> NumberedEndpoint {
    let channel = (end.is_send, end.sender, end.receiver, end.tag);
    let next = numbers.entry(channel).or_default();
    let number = next.wrapping_add_signed(ahead);
    *next = next.wrapping_add(1);
    NumberedEndpoint { end, number }
}

/// The records of one process, on their way to the owners of windows.
pub(super) struct Producer<'a> {
    /// Rank of the process.
    process: u32,
    stream: MergeStream<'a>,
    /// The leaf in which the latest record was.
    leaf: usize,
    numbers: ChannelNumbers,
    /// Records of communicators.
    pub(super) comms: Vec<Clog2CommEvent>,
}

/// What a process has in a window, or a part of it.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Encoded drawables and ends of messages.
    pub(super) drawn: Vec<u8>,
    /// Records as they stand in a CLOG2 file.
    pub(super) clog2: Vec<u8>,
}

/// Bytes in front of a segment: rank of its process, bytes of either part.
pub(super) const SEGMENT_HEAD: usize = 12;

impl Segment {
    pub(super) fn len(&self) -> usize {
        self.drawn.len() + self.clog2.len()
    }

    /// Appends the segment, with its head, and empties it.
    pub(super) fn encode(&mut self, process: u32, out: &mut Vec<u8>) {
        if self.len() == 0 {
            return;
        }
        for number in [process, self.drawn.len() as u32, self.clog2.len() as u32] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.append(&mut self.drawn);
        out.append(&mut self.clog2);
    }
}

/// What is made of records, and what of it belongs to no window.
pub(super) struct Cutter<'a> {
    pub(super) plan: &'a SlicePlan,
    pub(super) drawing: Drawing,
    /// Whether CLOG2 is written.
    pub(super) clog2: bool,
    /// Drawables of nodes above the windows, for who builds these.
    pub(super) crossing: Mail,
}

impl<'a> Producer<'a> {
    pub(super) fn new(process: u32, stream: MergeStream<'a>) -> Producer<'a> {
        Producer {
            process,
            stream,
            leaf: 0,
            numbers: Map::default(),
            comms: Vec::new(),
        }
    }

    /// What could not be shown; complete when the records have come to an end.
    pub(super) fn notes(&self) -> Notes {
        self.stream.notes()
    }

    /// Appends what the process has before the end of a window to `out`, until that has `limit` bytes. Whether that was all.
    pub(super) fn fill(
        &mut self,
        cutter: &mut Cutter<'_>,
        window: u64,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let leaves = cutter.plan.leaves_of(window);
        let end = cutter.plan.end_of(leaves.end - 1);
        self.leaf = self.leaf.max(leaves.start);
        let mut segment = Segment::default();
        let is_all = loop {
            match self.stream.peek_time() {
                Some(time) if time < end => {
                    self.leaf = cutter.plan.leaf_from(self.leaf, leaves.end, time);
                }
                _ => break true,
            }
            if out.len() + segment.len() >= limit {
                break false;
            }
            let Some(record) = self.stream.next_record() else {
                break true;
            };
            if cutter.clog2 {
                let mut bytes = [0; MAX_RECORD_SIZE];
                let size = record.clog2().encode(&mut bytes);
                segment.clog2.extend_from_slice(&bytes[..size]);
            }
            match &record.body {
                MergedBody::Message { message, ahead } => {
                    let Some(end) = cutter.drawing.endpoint(&record.header, message) else {
                        continue;
                    };
                    number(&mut self.numbers, end, *ahead).encode(&mut segment.drawn);
                }
                MergedBody::Comm(event) => self.comms.push(*event),
                _ => cutter.draw(record, self.leaf, &mut segment.drawn),
            }
        };
        segment.encode(self.process, out);
        is_all
    }

    /// Passes over what the process has before `time`, which others draw: only counts messages, and opens and closes what the program's
    /// own events begin and end.
    pub(super) fn skip(&mut self, cutter: &mut Cutter<'_>, time: f64) {
        while self.stream.peek_time().is_some_and(|next| next < time) {
            let Some(record) = self.stream.next_record() else {
                return;
            };
            match &record.body {
                MergedBody::Message { message, ahead } => {
                    if let Some(end) = cutter.drawing.endpoint(&record.header, message) {
                        number(&mut self.numbers, end, *ahead);
                    }
                }
                MergedBody::Event { .. } => {
                    let mut nothing = |_: &NewDrawable<'_>, _| Ok::<(), Infallible>(());
                    let Ok(()) = cutter.drawing.push(&record.clog2(), &mut nothing);
                }
                _ => {}
            }
        }
    }
}

impl Cutter<'_> {
    /// Draws what a record completes, which is in `leaf`.
    fn draw(&mut self, record: &MergedRecord, leaf: usize, out: &mut Vec<u8>) {
        let (plan, crossing) = (self.plan, &mut self.crossing);
        let mut put = |drawable: &NewDrawable<'_>, _| {
            put(plan, crossing, (drawable, leaf), out);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = match &record.body {
            MergedBody::Leave(state) => self.drawing.state(&whole(record, state), &mut put),
            MergedBody::Event { .. } => self.drawing.push(&record.clog2(), &mut put),
            // What is defined, all ranks know already.
            _ => Ok(()),
        };
    }
}

/// Appends a drawable that ends in a leaf to what its window gets, or sends it to who builds its node above the windows.
#[inline]
pub(super) fn put(
    plan: &SlicePlan,
    crossing: &mut Mail,
    (drawable, leaf): (&NewDrawable<'_>, usize),
    out: &mut Vec<u8>,
) {
    let start = drawable.bounds().earliest;
    if start < plan.cut(leaf) {
        let id = plan.node_of(plan.leaf_of(start), leaf);
        if id.depth as u32 > plan.window_levels {
            return add_crossing(crossing, plan, id, drawable);
        }
    }
    EncodedDrawable::encode(drawable, out);
}

/// Sends a drawable to who builds its node.
pub(super) fn add_crossing(
    mail: &mut Mail,
    plan: &SlicePlan,
    id: TreeNodeId,
    drawable: &NewDrawable<'_>,
) {
    mail.add(plan.builder(id), |bytes| {
        bytes.extend_from_slice(&id.depth.to_le_bytes());
        bytes.extend_from_slice(&id.xpos.to_le_bytes());
        EncodedDrawable::encode(drawable, bytes);
    });
}

/// Reads what [`add_crossing`] sent.
pub(super) fn crossing(bytes: &[u8]) -> Option<(TreeNodeId, &[u8])> {
    let (depth, rest) = bytes.split_first_chunk()?;
    let (xpos, rest) = rest.split_first_chunk()?;
    let id = TreeNodeId {
        depth: i16::from_le_bytes(*depth),
        xpos: i32::from_le_bytes(*xpos),
    };
    Some((id, rest))
}
