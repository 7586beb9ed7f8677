//! The merge by slices of time: all ranks write one file together.
//!
//! A tree over time is cut into windows, which are dealt to the ranks ([`plan`]). Each rank draws its own records in order of time
//! ([`produce`]) and sends what is in a window to its owner, who builds the nodes of the window ([`window`]). All ranks are in about
//! the same window at any time, and as many windows are being built as there are ranks. A rank sends ahead as far as
//! [`MAX_UNDER_WAY`] allows. That cannot lock: of the first window that is not built the owner takes everything, and whoever has not sent
//! it has nothing under way.
//!
//! When the windows of a round are built, what crosses their borders is brought where it belongs: ends of messages meet at a rank
//! that follows from their channel ([`endpoint`]); states and arrows that reach over windows go to the rank that builds the node above
//! ([`upper`]); previews go up level by level. Then each rank tells the sizes of what it has built, so that all know where it is to
//! stand in the file, and writes it there. The nodes and their places depend on the plan alone, not on the number of ranks that
//! build.

mod agreement;
mod below;
mod ending;
mod endpoint;
mod job;
mod job_file;
mod local;
mod local_files;
mod local_jobs;
mod pace;
mod part_file;
mod peers;
mod plan;
mod produce;
mod upper;
mod window;

pub use agreement::{agree, any_failure};
pub use ending::{SliceSummary, WholeSlices, complete, end_clog2};
pub use job_file::{JobFileError, JobFileWriter, JobFiles};
pub use local::{LocalSliceResult, LocalSlices, PartFiles};
pub use local_files::{LocalJobs, write_local};
pub use pace::Histogram;
pub use part_file::PartFile;
pub use peers::{MessageTag, Peers, ThreadPeers, ThreadsGaveUp};
pub use plan::{SlicePlan, SliceShare, SliceTotals};

use crate::operations::DrawnOperations;
use crate::record::{MergedBody, MergedRecord};
use crate::stream::{MergeStream, Notes};
use below::OperationProducer;
use ending::RankTables;
use endpoint::{NumberedEndpoint, WaitingEndpoints};
use io_attribution::draw::CATEGORIES;
use part_file::write_part;
use peers::{Mail, join, receive, route, settle, spread};
use produce::{Cutter, Producer, add_crossing};
use std::collections::BTreeMap;
use std::convert::Infallible;
use trace_formats::clog2::{Clog2RecordHeader, PREAMBLE_SIZE, Preamble};
use trace_formats::slog2::{
    DirEntry, Drawing, FileBlockPtr, HEADER_SIZE, NewDrawable, NodePreview, NodeWriter, TreeNodeId,
};
use unify::function_set::FunctionSet;
use unify::schema::Schema;
use upper::{BuiltUpper, UpperNodes};
use window::{BuiltWindow, WindowInput};

/// Calls of a run from which on one process takes about a second or more to merge all.
const MANY_CALLS: u64 = 4 << 20;

/// Whether it is worth while to cut the merge of so many calls of so many processes by time.
pub fn is_worth_while(calls: u64, processes: usize) -> bool {
    calls >= MANY_CALLS && processes > 1
}

/// Bytes that a rank may have sent and others not yet taken, beyond one message. Those are few messages on purpose: a rank that takes them late answers
/// each, and MPI has not room for many answers to a rank that has left.
pub const MAX_UNDER_WAY: usize = 1 << 20;
/// Bytes after which what a rank has of a window is sent.
pub const SEGMENT_BYTES: usize = 64 << 10;

/// What a rank brings to a merge by slices.
pub struct SliceInput<'a> {
    /// The processes whose records this rank has: rank and records. With CLOG2 they must give the beginnings of states.
    pub processes: Vec<(u32, MergeStream<'a>)>,
    /// Number of ranks of the run.
    pub ranks: u32,
    /// Preamble of a CLOG2 file of the run.
    pub preamble: &'a Preamble,
    /// What calls mean.
    pub schema: &'a Schema<'a>,
    /// Names of the program's functions on all ranks, sorted.
    pub names: &'a [String],
    /// Functions of MPI that any rank has called.
    pub used: &'a FunctionSet,
    /// Names of performance counters.
    pub counters: &'a [String],
    /// Whether there are operations below MPI.
    pub has_operations: bool,
    /// On rank 0 the operations below MPI of all ranks, drawn where [`crate::operations::base`] says.
    pub operations: Option<DrawnOperations>,
}

/// The files of a merge by slices.
pub struct SliceFiles<'f> {
    /// The SLOG2 file.
    pub slog2: Option<&'f mut dyn PartFile>,
    /// The CLOG2 file.
    pub clog2: Option<&'f mut dyn PartFile>,
}

/// Sizes of what is built in a round, by item: the windows in their order, then the nodes above in the order in which they are complete.
#[derive(Clone, Copy, Debug, Default)]
struct ItemSize {
    bytes: u64,
    /// Bytes of the last node.
    last: u32,
    blocks: u32,
}

impl ItemSize {
    const BYTES: usize = 20;

    fn encode(self, item: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(&item.to_le_bytes());
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.extend_from_slice(&self.last.to_le_bytes());
        out.extend_from_slice(&self.blocks.to_le_bytes());
    }

    fn decode(bytes: &[u8; Self::BYTES]) -> (u32, ItemSize) {
        let int = |at: usize| {
            let bytes = bytes[at..].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        let size = ItemSize {
            bytes: u64::from(int(4)) | u64::from(int(8)) << 32,
            last: int(12),
            blocks: int(16),
        };
        (int(0), size)
    }
}

/// One rank at work.
struct Slices<'a, 'p, P: Peers> {
    peers: &'p mut P,
    plan: &'a SlicePlan,
    preamble: Option<&'a Preamble>,
    turns: Vec<u32>,
    cutter: Cutter<'a>,
    producers: Vec<Producer<'a>>,
    operations: Option<OperationProducer>,
    writer: NodeWriter,
    /// Ends of messages that wait at this rank for their other end.
    waiting: WaitingEndpoints,
    upper: UpperNodes,
    directory: Vec<DirEntry>,
    largest: usize,
    /// Where the next round begins in the files: offset, blocks.
    position: u64,
    blocks: u64,
    failures: [Option<String>; 2],
    root: Option<NodePreview>,
    root_place: FileBlockPtr,
}

/// Merges what all ranks have, and writes all nodes and blocks. Then [`complete`] is to be called. Collective: each of `peers` calls it
/// with the same plan. What a rank cannot write is told at the end, and does not keep the others.
///
/// # Errors
/// When the ranks could not go on together.
pub fn write<P: Peers>(
    peers: &mut P,
    plan: &SlicePlan,
    input: SliceInput<'_>,
    files: &mut SliceFiles<'_>,
) -> Result<SliceSummary, P::Failure> {
    let mut slices = Slices::new(peers, plan, input, files.clog2.is_some());
    for round in 0..plan.rounds() {
        let mut built = Vec::new();
        slices.windows(plan.windows_of(round), |window| built.push(window))?;
        slices.round(round, built, files)?;
    }
    slices.conclude(Notes::default(), RankTables::default())
}

fn define(drawing: &mut Drawing, definition: MergedBody) {
    let header = Clog2RecordHeader::default();
    match definition {
        MergedBody::State(state) => {
            drawing.define_state(&state.def, state.whole_name.as_deref(), &state.details);
        }
        MergedBody::SoloEvent(event) => {
            drawing.define_event(&event.def, event.whole_name.as_deref());
        }
        body => {
            let record = MergedRecord { header, body }.clog2();
            let Ok(()) = drawing.push(&record, &mut |_: &NewDrawable<'_>, _| {
                Ok::<(), Infallible>(())
            });
        }
    }
}

impl<'a, 'p, P: Peers> Slices<'a, 'p, P> {
    /// Begins, with what `input` defines.
    fn new(
        peers: &'p mut P,
        plan: &'a SlicePlan,
        input: SliceInput<'a>,
        has_clog2: bool,
    ) -> Slices<'a, 'p, P> {
        let mut drawing = Drawing::new(input.preamble, false);
        drawing.name_counters(input.counters);
        if input.has_operations {
            drawing.reserve_categories(CATEGORIES);
        }
        for definition in crate::frame::definitions(input.schema, input.names, input.used) {
            define(&mut drawing, definition);
        }
        let processes = input.processes.into_iter();
        Slices {
            peers,
            plan,
            preamble: has_clog2.then_some(input.preamble),
            turns: crate::local::turns(input.ranks),
            cutter: Cutter {
                plan,
                drawing,
                clog2: has_clog2,
                crossing: Mail::default(),
            },
            producers: processes
                .map(|(rank, stream)| Producer::new(rank, stream))
                .collect(),
            operations: input.operations.map(OperationProducer::new),
            writer: NodeWriter::default(),
            waiting: WaitingEndpoints::default(),
            upper: UpperNodes::default(),
            directory: Vec::new(),
            largest: 0,
            position: HEADER_SIZE as u64,
            blocks: 0,
            failures: [None, None],
            root: None,
            root_place: FileBlockPtr::default(),
        }
    }

    /// Some windows: draws and sends this rank's records, takes those of others, and builds the windows that this rank owns.
    fn windows(
        &mut self,
        windows: std::ops::Range<u64>,
        mut put: impl FnMut(BuiltWindow<'static>),
    ) -> Result<(), P::Failure> {
        let (rank, size) = (self.peers.rank(), self.peers.size());
        let mut to_send = windows.start;
        let mut own = windows
            .clone()
            .filter(|&window| self.plan.owner(window) == rank);
        let mut to_build = own.next();
        // What is there for windows whose turn has not come: own records, and what others have sent ahead.
        let mut kept: BTreeMap<u64, WindowInput> = BTreeMap::new();
        let mut producer = 0;
        let mut turn = 0;
        while to_send < windows.end || to_build.is_some() {
            let mut is_idle = true;
            if let Some(window) = to_build {
                while let Some((from, message)) = self.peers.take(None, self.tag(window))? {
                    // A sender that is far ahead may have sent for a later window of the same tag.
                    let number = window::window_of(&message);
                    let number = number.filter(|number| (window..windows.end).contains(number));
                    let input = number.map(|number| kept.entry(number).or_default());
                    let added = input.and_then(|input| input.add(message));
                    added.ok_or_else(|| self.peers.nonsense(from))?;
                    is_idle = false;
                }
                if kept.entry(window).or_default().complete == size {
                    let input = kept.remove(&window).unwrap_or_default();
                    put(self.build(window, input)?);
                    to_build = own.next();
                    is_idle = false;
                }
            }
            if to_send < windows.end && self.peers.under_way()? < MAX_UNDER_WAY {
                let message = self.segments(to_send, &mut producer);
                let is_last = message[0] == 1;
                let owner = self.plan.owner(to_send);
                if owner == rank {
                    kept.entry(to_send).or_default().add(message);
                } else {
                    let tag = self.tag(to_send);
                    self.peers.post(owner, tag, message)?;
                }
                if is_last {
                    producer = 0;
                    to_send += 1;
                }
                is_idle = false;
            }
            if is_idle {
                self.peers.idle(turn)?;
                turn += 1;
            } else {
                turn = 0;
            }
        }
        settle(self.peers)
    }

    /// A message for the owner of a window: whether this rank has no more for it, and segments of its producers from `producer` on, which
    /// becomes the next one.
    fn segments(&mut self, window: u64, producer: &mut usize) -> Vec<u8> {
        let mut message = vec![0];
        message.extend_from_slice(&window.to_le_bytes());
        let (count, limit) = (self.producers.len(), SEGMENT_BYTES);
        while message.len() < limit && *producer <= count {
            let (cutter, out) = (&mut self.cutter, &mut message);
            let is_all = match (self.producers.get_mut(*producer), &mut self.operations) {
                (Some(one), _) => one.fill(cutter, window, limit, out),
                (None, Some(operations)) => operations.fill(cutter, window, limit, out),
                (None, None) => true,
            };
            *producer += usize::from(is_all);
        }
        message[0] = u8::from(*producer > count);
        message
    }

    /// The tag of messages for a window.
    fn tag(&self, window: u64) -> MessageTag {
        let nth = window / u64::from(self.peers.size());
        MessageTag::Window((nth % u64::from(MessageTag::WINDOWS)) as u16)
    }

    fn build(
        &mut self,
        window: u64,
        input: WindowInput,
    ) -> Result<BuiltWindow<'static>, P::Failure> {
        let with = (self.turns.as_slice(), self.preamble);
        let built = window::build(self.plan, window, input, with, &mut self.writer);
        built.ok_or_else(|| self.peers.nonsense(self.peers.rank()))
    }

    /// What comes behind the windows of a round: what crosses their borders, the nodes above, and writing.
    fn round(
        &mut self,
        round: u64,
        mut windows: Vec<BuiltWindow<'_>>,
        files: &mut SliceFiles<'_>,
    ) -> Result<(), P::Failure> {
        let size = self.peers.size();
        let mut ends = Mail::default();
        for (end, turn) in windows.iter_mut().flat_map(|window| window.left.drain(..)) {
            let to = (end.meeting() % u64::from(size)) as u32;
            ends.add(to, |bytes| {
                bytes.extend_from_slice(&turn.to_le_bytes());
                end.encode(bytes);
            });
        }
        let mut mail = std::mem::take(&mut self.cutter.crossing);
        for thing in route(self.peers, ends)? {
            let end = thing.split_first_chunk().and_then(|(turn, end)| {
                Some((NumberedEndpoint::decode(end)?, u32::from_le_bytes(*turn)))
            });
            let (end, turn) = end.ok_or_else(|| self.peers.nonsense(self.peers.rank()))?;
            if let Some(arrow) = self.waiting.meet(&end, turn) {
                let [a, b] = arrow.vertices.map(|vertex| self.plan.leaf_of(vertex.time));
                let id = self.plan.node_of(a, b);
                add_crossing(&mut mail, self.plan, id, &arrow.drawable());
            }
        }
        for thing in route(self.peers, mail)? {
            let added = self.upper.add_crossing(&thing);
            added.ok_or_else(|| self.peers.nonsense(self.peers.rank()))?;
        }
        let uppers = self.climb(round, &mut windows)?;
        self.place(round, windows, uppers, files)
    }

    /// Sends previews up, level by level, and builds the nodes that are complete.
    fn climb(
        &mut self,
        round: u64,
        windows: &mut [BuiltWindow<'_>],
    ) -> Result<Vec<BuiltUpper>, P::Failure> {
        let (plan, rank) = (self.plan, self.peers.rank());
        let mut previews: Vec<NodePreview> = windows
            .iter_mut()
            .map(|window| std::mem::take(&mut window.preview))
            .collect();
        let mut uppers = Vec::new();
        for depth in plan.window_depth()..=plan.root_depth() {
            if depth == plan.root_depth() {
                if let Some(preview) = previews.pop() {
                    self.root = Some(preview);
                }
                break;
            }
            let tag = MessageTag::Preview(depth as u16);
            for preview in previews.drain(..) {
                let Some(parent) = plan.parent(preview.id()) else {
                    continue;
                };
                let builder = plan.builder(parent);
                if builder == rank {
                    self.upper.add_child(parent, preview);
                } else {
                    let mut bytes = Vec::new();
                    preview.encode(&mut bytes);
                    self.peers.post(builder, tag, bytes)?;
                }
            }
            for id in plan.completed(round, depth) {
                let for_this = |&parent: &TreeNodeId| plan.builder(parent) == rank;
                let Some(parent) = plan.parent(id).filter(for_this) else {
                    continue;
                };
                let from = plan.builder(id);
                if from == rank {
                    continue;
                }
                let bytes = receive(self.peers, from, tag)?;
                let preview = NodePreview::decode(&mut bytes.as_slice());
                let preview = preview.filter(|preview| preview.id() == id);
                let preview = preview.ok_or_else(|| self.peers.nonsense(from))?;
                self.upper.add_child(parent, preview);
            }
            settle(self.peers)?;
            for id in plan.completed(round, depth + 1) {
                if plan.builder(id) == rank {
                    let (node, preview) = self.upper.build(plan, id, &mut self.writer);
                    uppers.push(node);
                    previews.push(preview);
                }
            }
        }
        Ok(uppers)
    }

    /// Tells all ranks how large everything is, and writes what this rank has built.
    fn place(
        &mut self,
        round: u64,
        windows: Vec<BuiltWindow<'_>>,
        uppers: Vec<BuiltUpper>,
        files: &mut SliceFiles<'_>,
    ) -> Result<(), P::Failure> {
        let plan = self.plan;
        let block = self
            .preamble
            .map_or(1, |preamble| u64::from(preamble.block_size).max(1));
        let first = plan.windows_of(round).start;
        let items = plan.items(round);
        let numbers: BTreeMap<TreeNodeId, usize> = items.iter().copied().zip(0..).collect();
        let mut own = Vec::new();
        for window in &windows {
            let size = ItemSize {
                bytes: window.nodes.bytes.len() as u64,
                last: window.nodes.last_size() as u32,
                blocks: (window.blocks.len() as u64 / block) as u32,
            };
            size.encode((window.window - first) as u32, &mut own);
        }
        for upper in &uppers {
            let size = ItemSize {
                bytes: upper.run.bytes.len() as u64,
                last: upper.run.last_size() as u32,
                blocks: 0,
            };
            let item = numbers.get(&upper.id).copied().unwrap_or_default();
            size.encode(item as u32, &mut own);
        }
        let all = join(self.peers, own, |own, theirs| own.extend_from_slice(theirs))?;
        let all = spread(self.peers, all.unwrap_or_default())?;
        let mut sizes = vec![ItemSize::default(); items.len()];
        for bytes in all.as_chunks().0 {
            let (item, size) = ItemSize::decode(bytes);
            if let Some(room) = sizes.get_mut(item as usize) {
                *room = size;
            }
        }
        // Offset and first block of each item.
        let mut places = Vec::with_capacity(items.len());
        for size in &sizes {
            places.push((self.position, self.blocks));
            self.position += size.bytes;
            self.blocks += u64::from(size.blocks);
        }
        let place_of = |id: TreeNodeId| {
            let item = *numbers.get(&id)?;
            let (size, (offset, _)) = (sizes.get(item)?, places.get(item)?);
            Some(FileBlockPtr {
                offset: (offset + size.bytes - u64::from(size.last)) as i64,
                size: size.last as i32,
            })
        };
        for mut window in windows {
            let (offset, blocks) = places[(window.window - first) as usize];
            window.nodes.place(offset, &[], &mut self.directory);
            self.largest = self.largest.max(window.nodes.largest());
            let [slog2_failure, clog2_failure] = &mut self.failures;
            write_part(&mut files.slog2, slog2_failure, offset, &window.nodes.bytes);
            let blocks_at = PREAMBLE_SIZE as u64 + blocks * block;
            write_part(&mut files.clog2, clog2_failure, blocks_at, &window.blocks);
        }
        for mut upper in uppers {
            let children: Vec<FileBlockPtr> = upper
                .children
                .iter()
                .filter_map(|&(id, place)| place.or_else(|| place_of(id)))
                .collect();
            let item = numbers.get(&upper.id).copied().unwrap_or_default();
            upper
                .run
                .place(places[item].0, &children, &mut self.directory);
            self.largest = self.largest.max(upper.run.largest());
            let failure = &mut self.failures[0];
            write_part(&mut files.slog2, failure, places[item].0, &upper.run.bytes);
        }
        self.upper.place_children(place_of);
        if let Some(place) = place_of(plan.root()) {
            self.root_place = place;
        }
        Ok(())
    }

    /// What this rank knows of its processes: what could not be shown of them, and what rank 0 must know of their records.
    fn tables(&mut self) -> (Notes, RankTables) {
        let mut notes = Notes::default();
        let mut comms = Vec::new();
        for producer in &mut self.producers {
            notes.add(producer.notes());
            comms.append(&mut producer.comms);
        }
        let tables = RankTables {
            largest: self.largest as u64,
            slots: self.cutter.drawing.counted_slots([]),
            comms,
        };
        (notes, tables)
    }

    /// Gives rank 0 what it needs to complete the files. `more_notes` and `more` are of records that are not this rank's.
    fn conclude(mut self, more_notes: Notes, more: RankTables) -> Result<SliceSummary, P::Failure> {
        let rank = self.peers.rank();
        let (mut notes, mut tables) = self.tables();
        notes.add(more_notes);
        tables.join(more);
        let mut own = Vec::new();
        let root_builder = self.plan.builder(self.plan.root());
        let mut root = self.root.take();
        if root_builder != 0 {
            if rank == root_builder {
                let mut bytes = Vec::new();
                root.take().unwrap_or_default().encode(&mut bytes);
                self.peers.post(0, MessageTag::Preview(63), bytes)?;
                settle(self.peers)?;
            } else if rank == 0 {
                let bytes = receive(self.peers, root_builder, MessageTag::Preview(63))?;
                let preview = NodePreview::decode(&mut bytes.as_slice());
                root = Some(preview.ok_or_else(|| self.peers.nonsense(root_builder))?);
            }
        }
        tables.encode(&mut own);
        let all = join(self.peers, own, |own, theirs| own.extend_from_slice(theirs))?;
        let mut whole = None;
        if let Some(all) = all {
            let mut tables = RankTables::default();
            let mut rest = all.as_slice();
            while !rest.is_empty() {
                let next = RankTables::decode(&mut rest);
                tables.join(next.ok_or_else(|| self.peers.nonsense(0))?);
            }
            let mut drawing = self.cutter.drawing;
            drawing.counted_slots(tables.slots);
            let operations = self.operations.map(OperationProducer::end);
            let (others, operations_failure) = operations.unwrap_or_default();
            whole = Some(WholeSlices {
                comms: tables.comms,
                blocks: self.blocks,
                drawing,
                others,
                operations_failure,
                root: root.unwrap_or_default(),
                root_place: self.root_place,
                position: self.position,
                largest: tables.largest as usize,
            });
        }
        Ok(SliceSummary {
            failures: self.failures,
            notes,
            whole,
            directory: self.directory,
        })
    }
}
