//! The timeline as drawables, in order of start or end.

use super::timeline::{CHECKPOINT_BYTES, SynthSize, SynthTimeline, TimeSpan};
use std::cell::Cell;
use trace_model::{
    Category, Color, Definitions, Drawable, DrawableOrder, Line, Losses, Source, Stop, Topology,
    Vertex,
};

/// Numbers of the categories of drawables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum SynthCategory {
    Message,
    Iteration,
    Compute,
    Irecv,
    Isend,
    Waitall,
    Allreduce,
    Checkpoint,
    FileOpen,
    FileWrite,
    FileClose,
    Open,
    Write,
    Close,
    Init,
    Finalize,
    Written,
}

use SynthCategory as K;

const KINDS: [(SynthCategory, &str, Topology, u32, &str); 17] = [
    (K::Message, "message", Topology::Arrow, 0xffffff, ""),
    (
        K::Iteration,
        "iteration",
        Topology::State,
        0xd9d9d9,
        "step=%d",
    ),
    (K::Compute, "compute", Topology::State, 0x7fc97f, ""),
    (
        K::Irecv,
        "MPI_Irecv",
        Topology::State,
        0x80b1d3,
        "CallID=0x%X, source=%d, bytes=%d",
    ),
    (
        K::Isend,
        "MPI_Isend",
        Topology::State,
        0x1f78b4,
        "CallID=0x%X, dest=%d, bytes=%d",
    ),
    (
        K::Waitall,
        "MPI_Waitall",
        Topology::State,
        0xe31a1c,
        "CallID=0x%X, count=%d",
    ),
    (
        K::Allreduce,
        "MPI_Allreduce",
        Topology::State,
        0x6a3d9a,
        "CallID=0x%X, bytes=%d",
    ),
    (
        K::Checkpoint,
        "checkpoint",
        Topology::State,
        0xffff99,
        "step=%d",
    ),
    (
        K::FileOpen,
        "MPI_File_open",
        Topology::State,
        0xfdbf6f,
        "CallID=0x%X",
    ),
    (
        K::FileWrite,
        "MPI_File_write_at_all",
        Topology::State,
        0xff7f00,
        "CallID=0x%X, offset=%l, bytes=%d",
    ),
    (
        K::FileClose,
        "MPI_File_close",
        Topology::State,
        0xb15928,
        "CallID=0x%X",
    ),
    (K::Open, "open", Topology::State, 0xcab2d6, "CallID=0x%X"),
    (
        K::Write,
        "pwrite64",
        Topology::State,
        0xfb9a99,
        "CallID=0x%X, offset=%l, bytes=%d",
    ),
    (K::Close, "close", Topology::State, 0xb2df8a, "CallID=0x%X"),
    (
        K::Init,
        "MPI_Init",
        Topology::State,
        0xa6cee3,
        "CallID=0x%X",
    ),
    (
        K::Finalize,
        "MPI_Finalize",
        Topology::State,
        0xa6cee3,
        "CallID=0x%X",
    ),
    (
        K::Written,
        "checkpoint written",
        Topology::Event,
        0xffff33,
        "step=%d",
    ),
];

/// A trace that is made anew each time it is read.
pub struct Synthetic {
    shape: SynthSize,
    order: DrawableOrder,
    definitions: Definitions,
    count: Cell<u64>,
}

impl Synthetic {
    /// The trace of this shape, in this order.
    pub fn new(shape: SynthSize, order: DrawableOrder) -> Self {
        let categories =
            (0..).zip(KINDS).map(
                |(index, (_, name, topology, color, format))| match topology {
                    Topology::Arrow => Category::message(),
                    _ => {
                        let mut category =
                            Category::new(index, name.into(), topology, Color::rgb(color));
                        category.set_info_format(format.as_bytes());
                        category
                    }
                },
            );
        // Eight nodes at most, four processes on each at least.
        let nodes = shape.ranks.div_ceil(4).min(8);
        let lines = (0..shape.ranks as i32).map(|rank| Line {
            host: Some(format!(
                "node{}",
                u64::from(rank as u32) * u64::from(nodes) / u64::from(shape.ranks)
            )),
            ..Line::of_thread(rank, rank, 0)
        });
        Synthetic {
            shape,
            order,
            definitions: Definitions {
                program: "synth".into(),
                categories: categories.collect(),
                lines: lines.collect(),
                ..Definitions::default()
            },
            count: Cell::new(0),
        }
    }

    /// Number of drawables in the last pass.
    pub fn count(&self) -> u64 {
        self.count.get()
    }
}

impl Source for Synthetic {
    fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    fn order(&self) -> DrawableOrder {
        self.order
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        let mut timeline = SynthTimeline::new(self.shape);
        let mut batch = Batch::new(self.order);
        for (rank, start) in (0..).zip(timeline.iterations()) {
            batch.state(K::Init, rank, start.whole, SynthInfo::call(rank, 0));
        }
        while timeline.advance() {
            // Nothing that is still to come starts before the first of these iterations, or ends before it.
            let first = timeline
                .iterations()
                .iter()
                .map(|iteration| iteration.whole.start);
            batch.give(first.min().unwrap_or(0), put)?;
            batch.add(&timeline);
        }
        for (rank, span) in (0..).zip(timeline.finalize()) {
            batch.state(
                K::Finalize,
                rank,
                span,
                SynthInfo::call(rank, u64::MAX >> 24),
            );
        }
        batch.give(u64::MAX, put)?;
        self.count.set(batch.given);
        Ok(Losses::default())
    }
}

/// Up to 24 bytes of info.
#[derive(Clone, Copy)]
struct SynthInfo {
    bytes: [u8; 24],
    length: u8,
}

impl SynthInfo {
    const NONE: SynthInfo = SynthInfo {
        bytes: [0; 24],
        length: 0,
    };

    /// The CallID of a rank's call: rank in the high 24 bits, number in the low 40.
    fn call(rank: u32, number: u64) -> Self {
        let id = u64::from(rank) << 40 | (number & (u64::MAX >> 24));
        SynthInfo::NONE.long(id)
    }

    fn long(mut self, value: u64) -> Self {
        let at = usize::from(self.length);
        self.bytes[at..at + 8].copy_from_slice(&value.to_be_bytes());
        self.length += 8;
        self
    }

    fn int(mut self, value: u32) -> Self {
        let at = usize::from(self.length);
        self.bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        self.length += 4;
        self
    }
}

#[derive(Clone, Copy)]
struct PendingDrawable {
    kind: SynthCategory,
    info: SynthInfo,
    from: (u64, u32),
    to: (u64, u32),
}

/// Drawables that are not given yet.
struct Batch {
    order: DrawableOrder,
    items: Vec<PendingDrawable>,
    /// Keys and places of the items.
    sorted: Vec<(u64, u64, u32)>,
    /// Drawables that have to wait for the next batch.
    kept: Vec<PendingDrawable>,
    given: u64,
}

impl Batch {
    fn new(order: DrawableOrder) -> Self {
        Batch {
            order,
            items: Vec::new(),
            sorted: Vec::new(),
            kept: Vec::new(),
            given: 0,
        }
    }

    fn state(&mut self, kind: SynthCategory, rank: u32, span: TimeSpan, info: SynthInfo) {
        self.items.push(PendingDrawable {
            kind,
            info,
            from: (span.start, rank),
            to: (span.end, rank),
        });
    }

    /// Adds the iteration of all ranks.
    fn add(&mut self, timeline: &SynthTimeline) {
        let step = timeline.number();
        for (rank, iteration) in (0..).zip(timeline.iterations()) {
            let neighbours = timeline.neighbours(rank);
            let sizes = timeline.sizes(rank);
            // Calls are numbered through; sixteen numbers for each iteration.
            let mut number = 16 * step;
            let mut id = || {
                number += 1;
                SynthInfo::call(rank, number)
            };
            let numbered = SynthInfo::NONE.int(step as u32);
            self.state(K::Iteration, rank, iteration.whole, numbered);
            self.state(K::Compute, rank, iteration.compute, SynthInfo::NONE);
            for (which, (from, span)) in neighbours.into_iter().zip(iteration.receives).enumerate()
            {
                let bytes = timeline.sizes(from)[1 - which];
                self.state(K::Irecv, rank, span, id().int(from).int(bytes));
            }
            let sends = neighbours.into_iter().zip(iteration.sends).zip(sizes);
            for (which, ((to, span), bytes)) in (0..).zip(sends) {
                self.state(K::Isend, rank, span, id().int(to).int(bytes));
                let received = timeline.iterations()[to as usize].wait.end;
                self.items.push(PendingDrawable {
                    kind: K::Message,
                    info: SynthInfo::NONE.int(which).int(bytes),
                    from: (span.start + 200, rank),
                    // A little before MPI_Waitall ends, one after the other.
                    to: (received - 100 - 50 * u64::from(which), to),
                });
            }
            self.state(K::Waitall, rank, iteration.wait, id().int(4));
            self.state(K::Allreduce, rank, iteration.reduce, id().int(8));
            let Some(checkpoint) = &iteration.checkpoint else {
                continue;
            };
            self.state(K::Checkpoint, rank, checkpoint.whole, numbered);
            let call = id();
            self.state(K::FileOpen, rank, checkpoint.open[0], call);
            self.state(K::Open, rank, checkpoint.open[1], call);
            let call = id();
            let offset = u64::from(rank) * CHECKPOINT_BYTES;
            let whole = call.long(offset).int(CHECKPOINT_BYTES as u32);
            self.state(K::FileWrite, rank, checkpoint.write, whole);
            let pieces = checkpoint.pieces as u64;
            for (nth, span) in (0..).zip(&checkpoint.writes[..checkpoint.pieces]) {
                let [start, end] = [nth, nth + 1].map(|nth| CHECKPOINT_BYTES * nth / pieces);
                let info = call.long(offset + start).int((end - start) as u32);
                self.state(K::Write, rank, *span, info);
            }
            let call = id();
            self.state(K::FileClose, rank, checkpoint.close[0], call);
            self.state(K::Close, rank, checkpoint.close[1], call);
            let written = checkpoint.write.end + 500;
            self.state(
                K::Written,
                rank,
                TimeSpan {
                    start: written,
                    end: written,
                },
                numbered,
            );
        }
    }

    /// Gives what comes before this time in the order.
    fn give(
        &mut self,
        before: u64,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.sorted.clear();
        self.kept.clear();
        for (item, at) in self.items.iter().zip(0..) {
            let (start, end) = (item.from.0.min(item.to.0), item.from.0.max(item.to.0));
            // Of those with an equal first key the other one decides, the larger first.
            let (key, other) = match self.order {
                DrawableOrder::End => (end, start),
                _ => (start, end),
            };
            if key < before {
                self.sorted.push((key, u64::MAX - other, at));
            } else {
                self.kept.push(*item);
            }
        }
        self.sorted.sort_unstable();
        for &(_, _, at) in &self.sorted {
            let item = &self.items[at as usize];
            let vertex = |(time, line): (u64, u32)| Vertex {
                time: time as f64 / 1e9,
                line: line as i32,
            };
            let vertices = [vertex(item.from), vertex(item.to)];
            let topology = KINDS[item.kind as usize].2;
            let corners = if topology == Topology::Event { 1 } else { 2 };
            put(&Drawable {
                topology,
                category: item.kind as i32,
                info: &item.info.bytes[..usize::from(item.info.length)],
                vertices: &vertices[..corners],
            })?;
        }
        self.given += self.sorted.len() as u64;
        std::mem::swap(&mut self.items, &mut self.kept);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use trace_model::{InfoValue, info_values, message};

    #[derive(Clone, Debug, PartialEq)]
    struct SynthDrawable {
        category: i32,
        info: Vec<u8>,
        vertices: Vec<(f64, i32)>,
    }

    impl SynthDrawable {
        fn span(&self) -> (f64, f64) {
            let times = self.vertices.iter().map(|vertex| vertex.0);
            (
                times.clone().fold(f64::INFINITY, f64::min),
                times.fold(0.0, f64::max),
            )
        }
    }

    fn drawn(ranks: u32, drawables: u64, order: DrawableOrder) -> (Synthetic, Vec<SynthDrawable>) {
        let shape = SynthSize {
            ranks,
            drawables,
            seed: 7,
        };
        let source = Synthetic::new(shape, order);
        let mut drawn = Vec::new();
        let mut put = |drawable: &Drawable<'_>| {
            drawn.push(SynthDrawable {
                category: drawable.category,
                info: drawable.info.to_vec(),
                vertices: drawable.vertices.iter().map(|v| (v.time, v.line)).collect(),
            });
            Ok(())
        };
        source.for_each(&mut put).expect("nothing to fail");
        (source, drawn)
    }

    #[test]
    fn either_order_is_kept_and_holds_the_same() {
        let (source, mut by_end) = drawn(33, 20_000, DrawableOrder::End);
        assert_eq!(source.count(), by_end.len() as u64);
        assert!((20_000..20_000 + 33 * 24).contains(&by_end.len()));
        let (_, mut by_start) = drawn(33, 20_000, DrawableOrder::Start);
        let ordered = |a: (f64, f64), b: (f64, f64)| a.0 < b.0 || (a.0 == b.0 && a.1 >= b.1);
        let ends = |d: &SynthDrawable| (d.span().1, d.span().0);
        assert!(by_end.is_sorted_by(|a, b| ordered(ends(a), ends(b))));
        assert!(by_start.is_sorted_by(|a, b| ordered(a.span(), b.span())));
        for list in [&mut by_end, &mut by_start] {
            list.sort_by_key(|d| {
                (
                    d.category,
                    d.vertices[0].0.to_bits(),
                    d.vertices[0].1,
                    d.info.clone(),
                )
            });
        }
        assert_eq!(by_end, by_start);
    }

    /// The states of a line nest, messages leave in the MPI_Isend that tells of them and arrive in MPI_Waitall, system
    /// calls are in the call whose CallID they carry.
    #[test]
    fn what_is_drawn_fits_together() {
        for ranks in [1, 2, 5] {
            let (source, drawn) = drawn(ranks, 1_500, DrawableOrder::Start);
            let category =
                |d: &SynthDrawable| source.definitions.category(d.category).expect("defined");
            let name = |d: &SynthDrawable| category(d).name.to_str().into_owned();
            let integers = |d: &SynthDrawable| -> Vec<i64> {
                let values = info_values(category(d), &d.info).map(|(_, value)| match value {
                    InfoValue::Integer(number) => number,
                    InfoValue::Hex(number) => number as i64,
                    other => panic!("{other:?}"),
                });
                values.collect()
            };
            let mut stacks: BTreeMap<i32, Vec<&SynthDrawable>> = BTreeMap::new();
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for state in drawn
                .iter()
                .filter(|d| category(d).topology == Topology::State)
            {
                let (start, end) = state.span();
                assert!(start < end, "{state:?}");
                let stack = stacks.entry(state.vertices[0].1).or_default();
                while stack.last().is_some_and(|outer| outer.span().1 <= start) {
                    stack.pop();
                }
                if let Some(outer) = stack.last() {
                    assert!(end <= outer.span().1, "{state:?} in {outer:?}");
                }
                if ["open", "pwrite64", "close"].contains(&name(state).as_str()) {
                    let outer = stack.last().expect("an MPI call around it");
                    assert!(name(outer).starts_with("MPI_File_"));
                    assert_eq!(integers(state)[0], integers(outer)[0]);
                }
                stack.push(state);
                *counts.entry(name(state)).or_default() += 1;
            }
            for (name, count) in &counts {
                assert!(*count >= ranks, "{name}");
            }
            let iterations = counts["iteration"];
            let inside = |name_of: &str, time: f64, line: i32| {
                let mut states = drawn
                    .iter()
                    .filter(|d| name(d) == name_of && d.vertices[0].1 == line);
                states
                    .find(|d| d.span().0 <= time && time <= d.span().1)
                    .cloned()
            };
            let arrows: Vec<&SynthDrawable> = drawn.iter().filter(|d| d.category == 0).collect();
            assert_eq!(arrows.len() as u32, 2 * iterations);
            for arrow in arrows {
                let [(sent, from), (received, to)] = arrow.vertices[..] else {
                    panic!("two corners")
                };
                assert!(sent < received);
                let size = message(category(arrow), &arrow.info)
                    .expect("a message")
                    .size;
                let call = inside("MPI_Isend", sent, from).expect("sent by a call");
                assert_eq!(integers(&call)[1..], [i64::from(to), size]);
                assert!(inside("MPI_Waitall", received, to).is_some());
            }
        }
    }
}
