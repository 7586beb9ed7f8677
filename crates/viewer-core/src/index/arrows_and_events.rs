//! Aggregation of arrows and events, in any order.

use trace_formats::slog2::{Category, Topology};

use super::shape::IndexShape;
use super::sums::{KindAggregate, LineKindSums};
use super::totals::{MAX_LINE_GROUPS, MessageTotals, MessageVolume, SizeField, size_class};
use crate::base::columns::WindowColumns;
use crate::trace::{OpenTrace, TraceItem};

/// The arrows and events found.
#[derive(Debug)]
pub(super) struct ArrowsAndEvents<'t> {
    shape: IndexShape,
    columns: WindowColumns,
    lanes: u32,
    lane_of: Vec<u32>,
    /// By kind.
    sizes: Vec<(&'t Category, SizeField)>,
    /// Events by unit and bin; empty as long as there are none.
    pub events: Vec<u16>,
    pub sums: LineKindSums,
    pub kinds: Vec<KindAggregate>,
    pub lines: Vec<LineMessages>,
    pub messages: MessageTotals,
    pub groups: u32,
    /// Message volumes by group of the sender and group of the receiver.
    pub flows: Vec<MessageVolume>,
}

/// Messages that begin and end on a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineMessages {
    pub sent: MessageVolume,
    pub received: MessageVolume,
}

impl<'t> ArrowsAndEvents<'t> {
    pub fn new(trace: &'t OpenTrace<'_>, shape: IndexShape) -> Self {
        let lines = trace.lines().len();
        let group = (lines as u32).div_ceil(MAX_LINE_GROUPS).max(1);
        let groups = (lines as u32).div_ceil(group);
        let kinds = trace.kinds().iter();
        ArrowsAndEvents {
            shape,
            columns: WindowColumns::new(shape.window, shape.bins.max(1)),
            lanes: trace.lanes() as u32,
            lane_of: trace.lines().iter().map(|line| line.lane).collect(),
            sizes: kinds
                .map(|kind| (&kind.category, SizeField::of(&kind.category)))
                .collect(),
            events: Vec::new(),
            sums: LineKindSums::new(lines, trace.kinds().len()),
            kinds: vec![KindAggregate::default(); trace.kinds().len()],
            lines: vec![LineMessages::default(); lines],
            messages: MessageTotals {
                group,
                ..MessageTotals::default()
            },
            groups,
            flows: vec![MessageVolume::default(); groups as usize * groups as usize],
        }
    }

    /// Whether arrows are of any use.
    #[inline]
    pub fn takes_arrows(&self) -> bool {
        self.shape.totals
    }

    /// An arrow or an event.
    #[inline]
    pub fn take(&mut self, item: &TraceItem<'_>) {
        let (earliest, latest) = (item.start.min(item.end), item.start.max(item.end));
        let window = self.shape.window;
        if latest < window.earliest || earliest > window.latest {
            return;
        }
        if item.topology == Topology::Event {
            let bins = self.shape.bins.max(1) as usize;
            if self.events.is_empty() {
                self.events = vec![0; bins * self.lanes as usize];
            }
            let lane = self.lane_of[item.line as usize] as usize;
            let at = lane * bins + self.columns.column(item.start);
            self.events[at] = self.events[at].saturating_add(1);
        }
        if !self.shape.totals {
            return;
        }
        let duration = latest - earliest;
        let slot = self.sums.slot(item.line, item.kind);
        self.sums.sums[slot as usize].add(duration);
        if item.topology != Topology::Arrow {
            return;
        }
        let kind = &mut self.kinds[item.kind as usize];
        kind.add(duration, item.start, item.line);
        let (category, place) = self.sizes[item.kind as usize];
        let size = place.get(category, item.info);
        let bytes = size.unwrap_or(0);
        kind.totals.bytes = kind.totals.bytes.saturating_add(bytes);
        match size {
            Some(size) => self.messages.sizes[size_class(size)].add(size),
            None => self.messages.without_size += 1,
        }
        self.messages.backward += u64::from(item.end < item.start);
        self.lines[item.line as usize].sent.add(bytes);
        self.lines[item.to_line as usize].received.add(bytes);
        let [from, to] = [item.line, item.to_line].map(|line| line / self.messages.group);
        self.flows[(from * self.groups + to) as usize].add(bytes);
    }
}
