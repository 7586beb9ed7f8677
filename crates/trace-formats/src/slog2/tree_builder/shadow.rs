//! Shadows (previews) of one node: averages over its real drawables and those of its children (`spec/slog2.md`
//! section 8.5).

use std::cmp::Ordering;

use super::super::encode::{write_bounds, write_count, write_f32, write_f64};
use super::super::node::Stub;
use super::super::places::{EntryOffsets, Key};
use trace_model::{Ratios, TimeBBox, Topology, preview_index};

/// End of a chain of indices.
pub(super) const NONE: u32 = u32::MAX;

/// Weights that are found without a look into a table.
const RECENT: usize = 32;

/// Lines of the first and the last vertex; the same one twice for an event.
pub(super) type EndLines = [i32; 2];

#[inline]
fn key([first, last]: EndLines, number: i32) -> Key {
    Key(
        u64::from(first as u32) << 32 | u64::from(last as u32),
        number as u32,
    )
}

/// What a category contributes to a shadow, and the next category of that shadow.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightSlot {
    pub(super) category: i32,
    /// Index of the shadow.
    pub(super) shadow: u32,
    pub(super) ratios: Ratios,
    next: u32,
}

/// A preview in the making.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowingShadow {
    pub(super) topology: Topology,
    pub(super) lines: EndLines,
    /// Average times of the vertices; an event has only the first.
    pub(super) times: [f64; 2],
    pub(super) bounds: TimeBBox,
    pub(super) count: i64,
    /// Chain of its weights in order of arrival.
    first_weight: u32,
    last_weight: u32,
    pub(super) weights: u32,
    /// Chain, from the last one back, of the children's shadows that were merged into it; kept for states with real
    /// drawables only.
    pub(super) last_child: u32,
    /// Whether the node itself holds drawables of this shadow.
    has_real: bool,
}

/// The shadows of one node that are nestless, or those that are nestable, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Shadows {
    pub(super) list: Vec<GrowingShadow>,
    pub(super) weights: Vec<WeightSlot>,
}

/// Finds shadows, and the weights of the node's own drawables, by what they are for. Only nodes that are open have one.
#[derive(Debug)]
pub(super) struct ShadowIndex {
    shadows: EntryOffsets,
    weights: EntryOffsets,
    /// Indices of weights that were found last, by category: programs do few different things on few lines at a time.
    recent: [u32; RECENT],
    /// Bounds of children's shadows, each with the one before in its chain.
    pub(super) children: Vec<(TimeBBox, u32)>,
}

impl Default for ShadowIndex {
    fn default() -> ShadowIndex {
        ShadowIndex {
            shadows: EntryOffsets::default(),
            weights: EntryOffsets::default(),
            recent: [NONE; RECENT],
            children: Vec::new(),
        }
    }
}

impl ShadowIndex {
    pub(super) fn clear(&mut self) {
        self.shadows.clear();
        self.weights.clear();
        self.recent = [NONE; RECENT];
        self.children.clear();
    }
}

impl Shadows {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.weights.clear();
    }

    /// Adds a real drawable and gives the index of its weight.
    #[inline]
    pub(super) fn add(
        &mut self,
        index: &mut ShadowIndex,
        topology: Topology,
        category: i32,
        lines: EndLines,
        times: [f64; 2],
        bounds: TimeBBox,
    ) -> u32 {
        let slot = self.weight(index, topology, category, lines);
        let weight = &mut self.weights[slot as usize];
        weight.ratios.count += 1;
        let shadow = &mut self.list[weight.shadow as usize];
        shadow.has_real = true;
        let n = shadow.count as f64;
        if shadow.count == 0 {
            shadow.times = times;
        } else {
            for (mean, time) in shadow.times.iter_mut().zip(times) {
                *mean = (*mean * n + time) / (n + 1.0);
            }
        }
        shadow.bounds.include(bounds);
        shadow.count += 1;
        slot
    }

    /// The weight of the node's own drawables of this category on these lines, a new one if need be.
    #[inline]
    fn weight(
        &mut self,
        index: &mut ShadowIndex,
        topology: Topology,
        category: i32,
        lines: EndLines,
    ) -> u32 {
        let recent = category as usize % RECENT;
        let last = index.recent[recent];
        if let Some(weight) = self.weights.get(last as usize)
            && weight.category == category
            && self.list[weight.shadow as usize].lines == lines
        {
            return last;
        }
        let slot = self.weight_in_table(index, topology, category, lines);
        index.recent[recent] = slot;
        slot
    }

    /// The weight of a category on these lines by the table, a new one if need be, without a look at the weights found last.
    fn weight_in_table(
        &mut self,
        index: &mut ShadowIndex,
        topology: Topology,
        category: i32,
        lines: EndLines,
    ) -> u32 {
        let key_of = |(list, weights): (&[GrowingShadow], &[WeightSlot]), at: usize| {
            let weight = &weights[at];
            key(list[weight.shadow as usize].lines, weight.category)
        };
        let wanted = key(lines, category);
        let is_it = |at| key_of((&self.list, &self.weights), at) == wanted;
        if let Some(found) = index.weights.find(wanted, is_it) {
            return found;
        }
        let shadow = self.shadow(index, topology, lines);
        let slot = self.push_weight(shadow, category, Ratios::default());
        let key_of = |at| key_of((&self.list, &self.weights), at);
        index.weights.insert(wanted, slot, key_of);
        slot
    }

    /// The shadow of this key, a new one if need be.
    #[inline]
    fn shadow(&mut self, index: &mut ShadowIndex, topology: Topology, lines: EndLines) -> u32 {
        let key_of = |shadow: &GrowingShadow| key(shadow.lines, shadow.topology.number());
        let wanted = key(lines, topology.number());
        let is_it = |at: usize| key_of(&self.list[at]) == wanted;
        if let Some(found) = index.shadows.find(wanted, is_it) {
            return found;
        }
        let new = self.list.len() as u32;
        index
            .shadows
            .insert(wanted, new, |at| key_of(&self.list[at]));
        self.push_preview(topology, lines, [0.0; 2], TimeBBox::EMPTY, 0)
    }

    /// Appends a preview that has no weights yet, and gives its index.
    pub(super) fn push_preview(
        &mut self,
        topology: Topology,
        lines: EndLines,
        times: [f64; 2],
        bounds: TimeBBox,
        count: i64,
    ) -> u32 {
        self.list.push(GrowingShadow {
            topology,
            lines,
            times,
            bounds,
            count,
            first_weight: NONE,
            last_weight: NONE,
            weights: 0,
            last_child: NONE,
            has_real: false,
        });
        self.list.len() as u32 - 1
    }

    pub(super) fn push_weight(&mut self, shadow: u32, category: i32, ratios: Ratios) -> u32 {
        let slot = self.weights.len() as u32;
        let owner = &mut self.list[shadow as usize];
        match self.weights.get_mut(owner.last_weight as usize) {
            Some(last) => last.next = slot,
            None => owner.first_weight = slot,
        }
        owner.last_weight = slot;
        owner.weights += 1;
        self.weights.push(WeightSlot {
            category,
            shadow,
            ratios,
            next: NONE,
        });
        slot
    }

    /// The weights of a shadow in order of arrival.
    pub(super) fn weights_of(&self, shadow: &GrowingShadow) -> impl Iterator<Item = &WeightSlot> {
        let mut next = shadow.first_weight;
        std::iter::from_fn(move || {
            let weight = self.weights.get(next as usize)?;
            next = weight.next;
            Some(weight)
        })
    }

    /// Merges the shadows of a child, which is complete, into these.
    pub(super) fn merge(&mut self, index: &mut ShadowIndex, child: &Shadows) {
        for other in &child.list {
            let at = self.shadow(index, other.topology, other.lines);
            let own = &mut self.list[at as usize];
            if own.count == 0 {
                own.times = other.times;
                own.bounds = other.bounds;
                own.count = other.count;
                for weight in child.weights_of(other) {
                    self.push_weight(at, weight.category, weight.ratios);
                }
                continue;
            }
            let (n, m) = (own.count as f64, other.count as f64);
            for (mean, other) in own.times.iter_mut().zip(other.times) {
                *mean = (*mean * n + other * m) / (n + m);
            }
            let before = own.bounds.duration();
            own.bounds.include(other.bounds);
            own.count += other.count;
            if own.has_real && own.topology.is_nestable() {
                index.children.push((other.bounds, own.last_child));
                own.last_child = index.children.len() as u32 - 1;
            }
            let now = own.bounds.duration();
            if now != before {
                let factor = (before / now) as f32;
                let mut next = own.first_weight;
                while let Some(weight) = self.weights.get_mut(next as usize) {
                    weight.ratios.inclusive *= factor;
                    weight.ratios.exclusive *= factor;
                    next = weight.next;
                }
            }
            let factor = (other.bounds.duration() / now) as f32;
            // Most often the child's categories came in the order of these, so the search begins behind the last find.
            let mut from = self.list[at as usize].first_weight;
            for weight in child.weights_of(other) {
                let scaled = Ratios {
                    inclusive: weight.ratios.inclusive * factor,
                    exclusive: weight.ratios.exclusive * factor,
                    count: weight.ratios.count,
                };
                match self.find_weight(at, weight.category, from) {
                    Some(slot) => {
                        let own = &mut self.weights[slot as usize];
                        own.ratios.inclusive += scaled.inclusive;
                        own.ratios.exclusive += scaled.exclusive;
                        own.ratios.count += scaled.count;
                        from = own.next;
                    }
                    None => {
                        self.push_weight(at, weight.category, scaled);
                    }
                }
            }
        }
    }

    /// Searches a shadow's weights for a category, from one of them on and then from the first.
    fn find_weight(&self, shadow: u32, category: i32, from: u32) -> Option<u32> {
        let search = |mut at: u32, end: u32| {
            while at != end {
                let weight = self.weights.get(at as usize)?;
                if weight.category == category {
                    return Some(at);
                }
                at = weight.next;
            }
            None
        };
        let first = self.list[shadow as usize].first_weight;
        search(from, NONE).or_else(|| search(first, from))
    }

    /// Writes count and shadows as they stand in a shadow buffer. The two lists are scratch memory.
    fn write(&self, out: &mut Vec<u8>, order: &mut Vec<u32>, weights: &mut Vec<WeightSlot>) {
        order.clear();
        order.extend(0..self.list.len() as u32);
        order.sort_unstable_by(|&a, &b| {
            let key = |at: u32| {
                let shadow = &self.list[at as usize];
                (shadow.bounds, preview_index(shadow.topology), shadow.lines)
            };
            let ((a, b), tie) = ((key(a), key(b)), a.cmp(&b));
            drawable_order(a.0, b.0)
                .then((a.1, a.2).cmp(&(b.1, b.2)))
                .then(tie)
        });
        write_count(out, order.len());
        for &at in order.iter() {
            let shadow = &self.list[at as usize];
            out.extend_from_slice(&preview_index(shadow.topology).to_be_bytes());
            let no_info = 0i16;
            out.extend_from_slice(&no_info.to_be_bytes());
            let vertices = vertex_count(shadow.topology);
            out.extend_from_slice(&(vertices as i16).to_be_bytes());
            for (&time, line) in shadow.times.iter().zip(shadow.lines).take(vertices) {
                write_f64(out, time);
                out.extend_from_slice(&line.to_be_bytes());
            }
            write_bounds(out, shadow.bounds);
            out.extend_from_slice(&shadow.count.to_be_bytes());
            weights.clear();
            weights.extend(self.weights_of(shadow));
            // Stable: equal ratios, whose order is free (`spec/slog2.md` section 8.8), stay in order of arrival. NaN
            // goes last.
            weights.sort_by(|a, b| {
                let (a, b) = (a.ratios.inclusive, b.ratios.inclusive);
                a.partial_cmp(&b)
                    .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
            });
            write_count(out, weights.len());
            for weight in weights.iter() {
                out.extend_from_slice(&weight.category.to_be_bytes());
                write_f32(out, weight.ratios.inclusive);
                write_f32(out, weight.ratios.exclusive);
                out.extend_from_slice(&weight.ratios.count.to_be_bytes());
            }
        }
    }
}

/// Vertices of a drawable of this topology.
pub(super) fn vertex_count(topology: Topology) -> usize {
    match topology {
        Topology::Event => 1,
        Topology::State | Topology::Arrow => 2,
    }
}

/// The first two keys of the order of `spec/slog2.md` section 8.6: ascending start, then descending end.
pub(super) fn drawable_order(a: TimeBBox, b: TimeBBox) -> Ordering {
    let start = time_key(a.earliest).cmp(&time_key(b.earliest));
    start.then_with(|| time_key(b.latest).cmp(&time_key(a.latest)))
}

/// A number that orders as the time does: both zeros alike, NaN at an end.
#[inline]
pub(super) fn time_key(time: f64) -> u64 {
    // Adding zero turns -0.0 into 0.0.
    let bits = (time + 0.0).to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// The shadows of a node that is written but whose parent is still open.
#[derive(Debug)]
pub(super) struct DoneShadows {
    pub(super) stub: Stub,
    /// Nestless, then nestable.
    pub(super) sides: [Shadows; 2],
}

impl DoneShadows {
    pub(super) fn write(
        &self,
        out: &mut Vec<u8>,
        order: &mut Vec<u32>,
        weights: &mut Vec<WeightSlot>,
    ) {
        self.stub.write(out);
        for side in &self.sides {
            side.write(out, order, weights);
        }
    }
}
