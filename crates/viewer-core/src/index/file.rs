//! The bytes of an index, to be kept beside the trace.
//!
//! Little-endian. 8 bytes [`INDEX_MAGIC`], then what the index is of ([`IndexIdentity`]), then values one after the other; the cells last
//! of all. Whoever reads it trusts nothing: every count is checked against the bytes that are left before memory is taken.

use std::borrow::Cow;
use std::sync::OnceLock;
use trace_formats::slog2::TimeBBox;

use super::levels::DetailLevels;
use super::totals::{
    DURATION_CLASSES, DurationSum, KindTotals, LineTotals, LongDrawable, MAX_LONGEST, MessageFlow,
    MessageTotals, MessageVolume, SIZE_CLASSES, TraceTotals,
};
use super::{EventCounts, KindTimes, OverviewIndex};
use crate::trace::OpenTrace;

/// The first bytes; the last two are the version.
pub const INDEX_MAGIC: [u8; 8] = *b"LTINDX02";
/// Most levels of detail in a file.
const MAX_LEVELS: usize = 8;

/// Identity of the trace of an index, to recognise an index that is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexIdentity {
    /// Bytes of the trace.
    pub bytes: u64,
    /// Time of the last change, ns since 1970, or another number that changes with the trace.
    pub changed: u64,
    /// Hash of what the trace defines and of the directory of its tree.
    pub hash: u64,
}

impl IndexIdentity {
    /// The identity of a trace of so many bytes, changed at that time.
    pub fn new(trace: &OpenTrace<'_>, bytes: u64, changed: u64) -> Self {
        // FNV-1a over what places of drawables hang on; it need not withstand those who want it to collide.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |number: u64| hash = (hash ^ number).wrapping_mul(0x100_0000_01b3);
        for kind in trace.kinds() {
            add(kind.category.index as u64);
            kind.name.bytes().for_each(|byte| add(byte.into()));
        }
        for line in trace.lines() {
            add(line.line.id as u64);
            add(line.lane.into());
        }
        for entry in trace.reader().directory() {
            add(entry.ptr.offset as u64);
            add(entry.bounds.earliest.to_bits());
            add(entry.bounds.latest.to_bits());
        }
        IndexIdentity {
            bytes,
            changed,
            hash,
        }
    }
}

impl OverviewIndex<'_> {
    /// The bytes of the index.
    pub fn encode(&self, identity: IndexIdentity) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.detail.bytes() + (1 << 20));
        self.write(identity, |part| {
            bytes.extend_from_slice(part);
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap_or_else(|never| match never {});
        bytes
    }

    /// Hands on its bytes in parts, the largest of which are the cells where they stand.
    ///
    /// # Errors
    /// The errors of `put`.
    pub fn write<E>(
        &self,
        identity: IndexIdentity,
        mut put: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut out = IndexWriter(Vec::new());
        out.0.extend_from_slice(&INDEX_MAGIC);
        for number in [identity.bytes, identity.changed, identity.hash] {
            out.u64(number);
        }
        out.f64(self.window.earliest);
        out.f64(self.window.latest);
        out.u64(u64::from(self.out_of_order));
        out.u64(self.drawables);
        out.u64(self.detail.lanes().into());
        out.u64(self.detail.kinds().into());
        out.u64(self.overview.bins.into());
        self.overview.seconds.iter().for_each(|&s| out.f64(s));
        match self.totals() {
            None => out.u64(0),
            Some(totals) => {
                out.u64(1);
                out.totals(totals);
            }
        }
        match &self.events {
            None => out.u64(0),
            Some(events) => {
                out.u64(events.bins.into());
                put(&std::mem::take(&mut out.0))?;
                put(&events.classes)?;
            }
        }
        out.u64(self.detail.levels().count() as u64);
        for level in self.detail.levels() {
            out.u64(level.bins().into());
            put(&std::mem::take(&mut out.0))?;
            level.parts().try_for_each(&mut put)?;
        }
        put(&out.0)
    }
}

impl<'a> OverviewIndex<'a> {
    /// Reads what [`OverviewIndex::encode`] wrote of this trace; cells stay where they are. `None` if it is of another trace or of
    /// another version, or damaged.
    pub fn decode(bytes: &'a [u8], identity: IndexIdentity, trace: &OpenTrace<'_>) -> Option<Self> {
        let mut part = IndexReader(bytes.strip_prefix(&INDEX_MAGIC)?);
        let [bytes, changed, hash] = [part.u64()?, part.u64()?, part.u64()?];
        let found = IndexIdentity {
            bytes,
            changed,
            hash,
        };
        if found != identity {
            return None;
        }
        OverviewIndex::state_reader(&mut part, trace.lines().len(), trace.kinds().len())
    }

    fn state_reader(part: &mut IndexReader<'a>, lines: usize, of_kinds: usize) -> Option<Self> {
        let window = TimeBBox {
            earliest: part.f64()?,
            latest: part.f64()?,
        };
        if !(window.duration() > 0.0 && window.duration().is_finite()) {
            return None;
        }
        let out_of_order = part.u64()? != 0;
        let drawables = part.u64()?;
        let (lanes, kinds) = (part.u32()?, part.u32()?);
        if lanes as usize > lines || kinds as usize != of_kinds {
            return None;
        }
        let bins = part.u32()?;
        let sums = (bins as usize).checked_mul(of_kinds)?;
        let seconds = part.take(sums.checked_mul(8)?)?;
        let overview = KindTimes {
            bins,
            kinds,
            seconds: (seconds.as_chunks().0.iter())
                .map(|bytes| f64::from_le_bytes(*bytes))
                .collect(),
        };
        let totals = match part.u64()? {
            0 => OnceLock::new(),
            _ => OnceLock::from(part.totals(lines, of_kinds)?),
        };
        let events = match part.u32()? {
            0 => None,
            bins => {
                let size = (bins as usize).checked_mul(lanes as usize)?;
                Some(EventCounts {
                    bins,
                    classes: Cow::Borrowed(part.take(size)?),
                })
            }
        };
        let mut levels = Vec::new();
        let count = part.count(1).filter(|&count| count <= MAX_LEVELS)?;
        for _ in 0..count {
            let bins = part.u32()?;
            let cells = (bins as usize).checked_mul(lanes as usize)?;
            let names = cells.checked_mul(DetailLevels::name_bytes(kinds))?;
            let names = part.take(names)?;
            let shares = part.take(cells.checked_mul(super::NAMES_PER_CELL)?)?;
            levels.push((bins, names, shares));
        }
        part.0.is_empty().then_some(OverviewIndex {
            window,
            detail: DetailLevels::of(lanes, kinds, levels)?,
            events,
            overview,
            drawables,
            totals,
            out_of_order,
        })
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> OverviewIndex<'static> {
        OverviewIndex {
            window: self.window,
            detail: self.detail.into_owned(),
            events: self.events.map(|events| EventCounts {
                bins: events.bins,
                classes: Cow::Owned(events.classes.into_owned()),
            }),
            overview: self.overview,
            drawables: self.drawables,
            totals: self.totals,
            out_of_order: self.out_of_order,
        }
    }
}

struct IndexWriter(Vec<u8>);

impl IndexWriter {
    fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn f64(&mut self, number: f64) {
        self.u64(number.to_bits());
    }

    fn sum(&mut self, sum: &DurationSum) {
        self.u64(sum.count);
        for number in [sum.inclusive, sum.exclusive, sum.min, sum.max] {
            self.f64(number);
        }
    }

    fn volume(&mut self, volume: MessageVolume) {
        self.u64(volume.count);
        self.u64(volume.bytes);
    }

    fn totals(&mut self, totals: &TraceTotals) {
        self.u64(totals.drawables);
        self.u64(totals.placeless);
        self.u64(totals.out_of_order);
        for kind in &totals.kinds {
            self.sum(&kind.sum);
            kind.durations.iter().for_each(|&count| self.u64(count));
            self.u64(kind.longest.len() as u64);
            for long in &kind.longest {
                self.f64(long.duration);
                self.f64(long.start);
                self.u64(long.line.into());
            }
            self.u64(kind.bytes);
        }
        for line in &totals.lines {
            self.u64(line.kinds.len() as u64);
            for (kind, sum) in &line.kinds {
                self.u64((*kind).into());
                self.sum(sum);
            }
            for number in [line.first, line.last, line.busy] {
                self.f64(number);
            }
            self.volume(line.sent);
            self.volume(line.received);
        }
        let messages = &totals.messages;
        self.u64(messages.group.into());
        self.u64(messages.flows.len() as u64);
        for flow in &messages.flows {
            self.u64(flow.from.into());
            self.u64(flow.to.into());
            self.volume(flow.volume);
        }
        messages
            .sizes
            .iter()
            .for_each(|&volume| self.volume(volume));
        self.u64(messages.backward);
        self.u64(messages.without_size);
    }
}

struct IndexReader<'a>(&'a [u8]);

impl<'a> IndexReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (aggregated, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(aggregated)
    }

    fn u64(&mut self) -> Option<u64> {
        let (aggregated, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*aggregated))
    }

    fn u32(&mut self) -> Option<u32> {
        u32::try_from(self.u64()?).ok()
    }

    fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    /// A count of things that take so many bytes each, at least: no more than there can be.
    fn count(&mut self, least: usize) -> Option<usize> {
        let count = usize::try_from(self.u64()?).ok()?;
        (count <= self.0.len() / least).then_some(count)
    }

    fn sum(&mut self) -> Option<DurationSum> {
        Some(DurationSum {
            count: self.u64()?,
            inclusive: self.f64()?,
            exclusive: self.f64()?,
            min: self.f64()?,
            max: self.f64()?,
        })
    }

    fn volume(&mut self) -> Option<MessageVolume> {
        Some(MessageVolume {
            count: self.u64()?,
            bytes: self.u64()?,
        })
    }

    /// A number below `end`, which something is looked up by.
    fn below(&mut self, end: usize) -> Option<u32> {
        self.u32().filter(|&number| (number as usize) < end)
    }

    fn totals(&mut self, lines: usize, kinds: usize) -> Option<TraceTotals> {
        let mut totals = TraceTotals {
            drawables: self.u64()?,
            placeless: self.u64()?,
            out_of_order: self.u64()?,
            ..TraceTotals::default()
        };
        for _ in 0..kinds {
            let mut kind = KindTotals {
                sum: self.sum()?,
                ..KindTotals::default()
            };
            for class in 0..DURATION_CLASSES {
                kind.durations[class] = self.u64()?;
            }
            for _ in 0..self.count(24).filter(|&count| count <= MAX_LONGEST)? {
                kind.longest.push(LongDrawable {
                    duration: self.f64()?,
                    start: self.f64()?,
                    line: self.below(lines)?,
                });
            }
            kind.bytes = self.u64()?;
            totals.kinds.push(kind);
        }
        for _ in 0..lines {
            let mut line = LineTotals::default();
            for _ in 0..self.count(48)? {
                line.kinds.push((self.below(kinds)?, self.sum()?));
            }
            [line.first, line.last, line.busy] = [self.f64()?, self.f64()?, self.f64()?];
            line.sent = self.volume()?;
            line.received = self.volume()?;
            totals.lines.push(line);
        }
        let mut messages = MessageTotals {
            group: self.u32()?.max(1),
            ..MessageTotals::default()
        };
        for _ in 0..self.count(32)? {
            messages.flows.push(MessageFlow {
                from: self.below(lines)?,
                to: self.below(lines)?,
                volume: self.volume()?,
            });
        }
        for class in 0..SIZE_CLASSES {
            messages.sizes[class] = self.volume()?;
        }
        messages.backward = self.u64()?;
        messages.without_size = self.u64()?;
        totals.messages = messages;
        Some(totals)
    }
}
