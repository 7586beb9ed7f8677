//! The real drawables of one open node, already encoded, and their order and nesting (`spec/slog2.md` sections 8.2, 8.5
//! and 8.6).

use super::super::encode::{f64_bytes, write_count};
use super::incoming::{
    DrawablePlacement, EncodedDrawable, FileDrawable, NewComposite, StateOnLine, push_head,
    push_primitive, push_short,
};
use super::shadow::{EndLines, NONE, ShadowIndex, Shadows, drawable_order, time_key};
use trace_model::{Drawable as NewDrawable, TimeBBox, Topology, Vertex};

/// The byte before a primitive in a list.
const PRIMITIVE_KIND: u8 = 0;
/// The byte before a composite.
const COMPOSITE_KIND: u8 = 1;

/// A drawable of the node: what its order depends on, and where its bytes are.
#[derive(Clone, Copy, Debug)]
struct StoredDrawable {
    bounds: TimeBBox,
    category: i32,
    lines: EndLines,
    /// Start of its bytes; they end where those of the next item begin. What is not in the list has none.
    at: u32,
    /// Index of its weight in the node's shadows, once these are made; [`NONE`] for a composite.
    weight: u32,
    /// `None` for a composite.
    topology: Option<Topology>,
}

impl StoredDrawable {
    /// Adds the drawable to the shadows, and notes its weight. A composite has none.
    #[inline]
    fn shade(&mut self, shadows: &mut Shadows, index: &mut ShadowIndex, times: [f64; 2]) {
        if let Some(topology) = self.topology {
            let (category, lines) = (self.category, self.lines);
            self.weight = shadows.add(index, topology, category, lines, times, self.bounds);
        }
    }
}

/// The drawables of a node that are nestless, or those that are nestable, and the shadows they make.
#[derive(Debug, Default)]
pub(super) struct Drawables {
    /// In order of arrival.
    items: Vec<StoredDrawable>,
    bytes: Vec<u8>,
    /// Index and times of the vertices, for items whose vertices are not at the ends of their bounds.
    odd_times: Vec<(u32, [f64; 2])>,
    /// Number of items that have no bytes.
    unlisted: usize,
    /// Bytes of those that are written elsewhere.
    elsewhere: usize,
    /// Whether shadows are made as drawables arrive, which is quicker, or later, by a thread that has the time.
    pub(super) shades_at_once: bool,
    /// Number of items whose shadows are made.
    shaded: usize,
    pub(super) shadows: Shadows,
    index: ShadowIndex,
}

/// Memory that closing a node needs for a while.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Items in the order of `spec/slog2.md` section 8.6.
    order: Vec<u32>,
    /// Whether that is the order of their arrival.
    in_order: bool,
    /// Start times and indices of the items.
    keys: Vec<u64>,
    /// Exclusive duration of each item, seconds.
    exclusive: Vec<f64>,
    /// Item below each item on the stack of its line.
    below: Vec<u32>,
    /// Top of the stack of items, by shadow.
    top: Vec<u32>,
    /// Sum of the exclusive ratios, by weight.
    sums: Vec<f32>,
}

impl Drawables {
    /// None so far; their shadows are made as they arrive.
    pub(super) fn shaded_at_once() -> Drawables {
        Drawables {
            shades_at_once: true,
            ..Drawables::default()
        }
    }

    #[inline]
    pub(super) fn add(
        &mut self,
        drawable: &NewDrawable<'_>,
        bounds: TimeBBox,
        place: DrawablePlacement,
    ) {
        let (first, last) = match *drawable.vertices {
            [] => return,
            [only] => (only, only),
            [first, .., last] => (first, last),
        };
        let lines = [first.line, last.line];
        let times = [first.time, last.time];
        self.note_odd_times(times, bounds);
        self.items.push(StoredDrawable {
            bounds,
            category: drawable.category,
            lines,
            at: self.bytes.len() as u32,
            weight: NONE,
            topology: Some(drawable.topology),
        });
        if place == DrawablePlacement::Listed {
            match drawable.vertices.try_into() {
                Ok(vertices) => self.encode(drawable.category, drawable.info, vertices),
                Err(_) => self.encode_any(drawable),
            }
        } else {
            self.unlisted += 1;
            if place == DrawablePlacement::Elsewhere {
                self.elsewhere += 1 + drawable.byte_size();
            }
        }
        if self.shades_at_once {
            self.shade(times);
        }
    }

    /// Lists a state on one line, whose start is no later than its end.
    #[inline]
    pub(super) fn add_state(&mut self, state: &StateOnLine<'_>) {
        let (category, bounds) = (state.category, state.bounds);
        self.items.push(StoredDrawable {
            bounds,
            category,
            lines: [state.line; 2],
            at: self.bytes.len() as u32,
            weight: NONE,
            topology: Some(Topology::State),
        });
        self.encode(category, state.info, &state.vertices());
        if self.shades_at_once {
            self.shade([bounds.earliest, bounds.latest]);
        }
    }

    /// Lists a composite. Its primitives must be added, too, as [`DrawablePlacement::Inside`].
    pub(super) fn add_composite(&mut self, composite: &NewComposite<'_>, bounds: TimeBBox) {
        let line = |primitive: Option<&NewDrawable<'_>>, end: usize| {
            primitive.map_or(0, |primitive| primitive.lines()[end])
        };
        self.items.push(StoredDrawable {
            bounds,
            category: composite.category,
            lines: [
                line(composite.primitives.first(), 0),
                line(composite.primitives.last(), 1),
            ],
            at: self.bytes.len() as u32,
            weight: NONE,
            topology: None,
        });
        if self.shades_at_once {
            self.shaded += 1;
        }
        let out = &mut self.bytes;
        out.push(COMPOSITE_KIND);
        push_head(out, composite.category, composite.info);
        push_short(out, composite.primitives.len());
        for primitive in composite.primitives {
            primitive.encode(out);
        }
    }

    /// Notes the times of the vertices of the item that comes next, where its bounds do not tell them.
    #[inline]
    fn note_odd_times(&mut self, [first, last]: [f64; 2], bounds: TimeBBox) {
        let is_even = first.to_bits() == bounds.earliest.to_bits()
            && last.to_bits() == bounds.latest.to_bits();
        if !is_even {
            self.odd_times
                .push((self.items.len() as u32, [first, last]));
        }
    }

    /// Makes the shadow of the item that has just come.
    #[inline]
    fn shade(&mut self, times: [f64; 2]) {
        if let Some(item) = self.items.get_mut(self.shaded) {
            item.shade(&mut self.shadows, &mut self.index, times);
            self.shaded += 1;
        }
    }

    /// Appends the bytes of a drawable of two vertices as they stand in a node: quickly for the sizes that nearly all have.
    #[inline]
    fn encode(&mut self, category: i32, info: &[u8], vertices: &[Vertex; 2]) {
        if let Ok(info) = info.try_into() {
            self.encode_sized::<0, 33>(category, info, vertices);
        } else if let Ok(info) = info.try_into() {
            self.encode_sized::<4, 37>(category, info, vertices);
        } else if let Ok(info) = info.try_into() {
            self.encode_sized::<8, 41>(category, info, vertices);
        } else if let Ok(info) = info.try_into() {
            self.encode_sized::<12, 45>(category, info, vertices);
        } else if let Ok(info) = info.try_into() {
            self.encode_sized::<32, 65>(category, info, vertices);
        } else {
            self.bytes.push(PRIMITIVE_KIND);
            push_primitive(&mut self.bytes, category, info, vertices);
        }
    }

    /// A drawable of two vertices and an info of `INFO` bytes, which takes `SIZE` bytes.
    #[inline]
    fn encode_sized<const INFO: usize, const SIZE: usize>(
        &mut self,
        category: i32,
        info: &[u8; INFO],
        vertices: &[Vertex; 2],
    ) {
        const { assert!(SIZE == 9 + INFO + 24) };
        // Written where they stay: a copy would have to wait for all these small writes.
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; SIZE]);
        let Some(bytes) = self.bytes[at..].first_chunk_mut::<SIZE>() else {
            return;
        };
        bytes[0] = PRIMITIVE_KIND;
        bytes[1..5].copy_from_slice(&category.to_be_bytes());
        bytes[5..7].copy_from_slice(&(INFO as u16).to_be_bytes());
        bytes[7..7 + INFO].copy_from_slice(info);
        bytes[7 + INFO..9 + INFO].copy_from_slice(&2u16.to_be_bytes());
        for (vertex, to) in vertices.iter().zip(bytes[9 + INFO..].chunks_exact_mut(12)) {
            to[..8].copy_from_slice(&f64_bytes(vertex.time));
            to[8..].copy_from_slice(&vertex.line.to_be_bytes());
        }
    }

    /// Adds a drawable by its bytes.
    #[inline]
    pub(super) fn add_encoded(&mut self, drawable: &EncodedDrawable<'_>) {
        let EncodedDrawable {
            bytes,
            topology,
            category,
            lines,
            times,
            bounds,
        } = *drawable;
        self.note_odd_times(times, bounds);
        self.items.push(StoredDrawable {
            bounds,
            category,
            lines,
            at: self.bytes.len() as u32,
            weight: NONE,
            topology: Some(topology),
        });
        let at = self.bytes.len();
        push_bytes(&mut self.bytes, bytes);
        if let Some(kind) = self.bytes.get_mut(at) {
            *kind = PRIMITIVE_KIND;
        }
        if self.shades_at_once {
            self.shade(times);
        }
    }

    fn encode_any(&mut self, drawable: &NewDrawable<'_>) {
        self.bytes.push(PRIMITIVE_KIND);
        drawable.encode(&mut self.bytes);
    }

    /// Bytes of the list in the node, without its count; those of what is written elsewhere included.
    #[inline]
    pub(super) fn byte_size(&self) -> usize {
        self.bytes.len() + self.elsewhere
    }

    /// Makes the shadows of the drawables that have none yet, when all of the node are there and no child is merged yet.
    pub(super) fn make_shadows(&mut self) {
        let from = std::mem::replace(&mut self.shaded, self.items.len());
        let mut odd = self.odd_times.iter().peekable();
        while odd.next_if(|&&(of, _)| (of as usize) < from).is_some() {}
        let new = self.items.get_mut(from..).unwrap_or_default();
        for (item, at) in new.iter_mut().zip(from as u32..) {
            let times = match odd.next_if(|(of, _)| *of == at) {
                Some(&(_, times)) => times,
                None => [item.bounds.earliest, item.bounds.latest],
            };
            item.shade(&mut self.shadows, &mut self.index, times);
        }
        for item in &self.items {
            let Some(weight) = self.shadows.weights.get_mut(item.weight as usize) else {
                continue;
            };
            let whole = self.shadows.list[weight.shadow as usize].bounds.duration();
            weight.ratios.inclusive += (item.bounds.duration() / whole) as f32;
        }
    }

    /// Merges the shadows of a child into the node's.
    pub(super) fn merge(&mut self, child: &Shadows) {
        self.shadows.merge(&mut self.index, child);
    }

    /// Brings `scratch.order` into the order of `spec/slog2.md` section 8.6.
    fn sort(&self, scratch: &mut Scratch) {
        let Scratch {
            order,
            keys,
            in_order,
            ..
        } = scratch;
        order.clear();
        keys.clear();
        let starts = |pair: &[StoredDrawable]| {
            let [earlier, later] = [0, 1].map(|i| time_key(pair[i].bounds.earliest));
            earlier < later
        };
        *in_order = self.items.windows(2).all(starts);
        if *in_order {
            order.extend(0..self.items.len() as u32);
            return;
        }
        let times = self.items.iter().map(|item| time_key(item.bounds.earliest));
        keys.extend(times);
        let (Some(&low), Some(&high)) = (keys.iter().min(), keys.iter().max()) else {
            return;
        };
        // One number with the upper bits of the time and the index below is sorted much quicker than the two.
        let index_bits = keys.len().ilog2() + 1;
        let time_bits = u64::BITS - (high - low).leading_zeros();
        let cut = (time_bits + index_bits).saturating_sub(u64::BITS);
        for (key, at) in keys.iter_mut().zip(0..) {
            *key = (*key - low) >> cut << index_bits | at;
        }
        keys.sort_unstable();
        let index = (1 << index_bits) - 1;
        order.extend(keys.iter().map(|key| (key & index) as u32));
        // Most start times differ, so that nearly always decides; what is equal so far is sorted again in full.
        let mut start = 0;
        for run in keys.chunk_by(|a, b| a >> index_bits == b >> index_bits) {
            let end = start + run.len();
            if run.len() > 1 {
                order[start..end].sort_by(|&a, &b| {
                    let (a, b) = (&self.items[a as usize], &self.items[b as usize]);
                    drawable_order(a.bounds, b.bounds)
                        .then((a.category, a.lines).cmp(&(b.category, b.lines)))
                });
            }
            start = end;
        }
    }

    /// Adds the exclusive ratios of the node's states to the shadows, after the children are merged.
    fn set_exclusive_ratios(&mut self, scratch: &mut Scratch) {
        let Scratch {
            order,
            exclusive,
            below,
            top,
            sums,
            ..
        } = scratch;
        reset(exclusive, self.items.len(), 0.0);
        reset(below, self.items.len(), NONE);
        reset(top, self.shadows.list.len(), NONE);
        let mut previous: Option<&StoredDrawable> = None;
        for &at in order.iter() {
            let item = &self.items[at as usize];
            let Some(weight) = self.shadows.weights.get(item.weight as usize) else {
                continue;
            };
            let twin = |other: &StoredDrawable| {
                (other.bounds, other.category, other.lines)
                    == (item.bounds, item.category, item.lines)
            };
            if previous.is_some_and(twin) {
                // The original keeps one of states that are equal in everything.
                continue;
            }
            previous = Some(item);
            let shadow = weight.shadow as usize;
            let mut own = item.bounds.duration();
            let mut child = self.shadows.list[shadow].last_child;
            while let Some(&(bounds, before)) = self.index.children.get(child as usize) {
                own -= intersection(item.bounds, bounds);
                child = before;
            }
            let mut under = top[shadow];
            while let Some(outer) = self.items.get(under as usize) {
                if outer.bounds.covers(item.bounds) {
                    exclusive[under as usize] -= own;
                    break;
                }
                under = below[under as usize];
            }
            exclusive[at as usize] = own;
            below[at as usize] = under;
            top[shadow] = at;
        }
        reset(sums, self.shadows.weights.len(), 0.0);
        for (item, &own) in self.items.iter().zip(exclusive.iter()) {
            let Some(weight) = self.shadows.weights.get(item.weight as usize) else {
                continue;
            };
            let whole = self.shadows.list[weight.shadow as usize].bounds.duration();
            sums[item.weight as usize] += (own / whole) as f32;
        }
        for (weight, &sum) in self.shadows.weights.iter_mut().zip(sums.iter()) {
            weight.ratios.exclusive += sum;
        }
    }

    /// Writes count and drawables, and completes the shadows if they are of states.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, scratch: &mut Scratch, nestable: bool) {
        self.sort(scratch);
        if nestable {
            self.set_exclusive_ratios(scratch);
        }
        write_count(out, self.items.len() - self.unlisted);
        if scratch.in_order {
            out.extend_from_slice(&self.bytes);
            return;
        }
        out.reserve(self.bytes.len());
        for &at in &scratch.order {
            let start = self.items[at as usize].at as usize;
            let end = match self.items.get(at as usize + 1) {
                Some(next) => next.at as usize,
                None => self.bytes.len(),
            };
            push_bytes(out, &self.bytes[start..end]);
        }
    }

    /// Empties the list and takes its shadows away, leaving the empty ones of `replacement`.
    pub(super) fn reset(&mut self, replacement: Shadows) -> Shadows {
        self.items.clear();
        self.bytes.clear();
        self.odd_times.clear();
        self.unlisted = 0;
        self.elsewhere = 0;
        self.shaded = 0;
        self.index.clear();
        std::mem::replace(&mut self.shadows, replacement)
    }
}

/// The two lists of drawables of a node, when nothing else is of interest.
#[derive(Debug, Default)]
pub(in super::super) struct Lists {
    sides: [Drawables; 2],
}

impl Lists {
    pub(in super::super) fn add(&mut self, drawable: &NewDrawable<'_>) {
        let side = usize::from(drawable.topology.is_nestable());
        self.sides[side].add(drawable, drawable.bounds(), DrawablePlacement::Listed);
    }

    /// Number of drawables in both lists.
    pub(in super::super) fn count(&self) -> usize {
        self.sides.iter().map(|side| side.items.len()).sum()
    }

    /// Bytes of both lists, without their counts.
    pub(in super::super) fn byte_size(&self) -> usize {
        self.sides.iter().map(Drawables::byte_size).sum()
    }

    /// Appends both lists in the order of `spec/slog2.md` section 8.6.
    pub(in super::super) fn write(&mut self, out: &mut Vec<u8>) {
        let mut scratch = Scratch::default();
        for side in &mut self.sides {
            side.write(out, &mut scratch, false);
        }
    }
}

/// Appends the bytes of a drawable, quickly if it has one of the sizes that nearly all have.
#[inline]
fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if let Ok(bytes) = <&[u8; 33]>::try_from(bytes) {
        out.extend_from_slice(bytes);
    } else if let Ok(bytes) = <&[u8; 37]>::try_from(bytes) {
        out.extend_from_slice(bytes);
    } else if let Ok(bytes) = <&[u8; 41]>::try_from(bytes) {
        out.extend_from_slice(bytes);
    } else if let Ok(bytes) = <&[u8; 45]>::try_from(bytes) {
        out.extend_from_slice(bytes);
    } else if let Ok(bytes) = <&[u8; 65]>::try_from(bytes) {
        out.extend_from_slice(bytes);
    } else {
        out.extend_from_slice(bytes);
    }
}

/// Length of what two stretches of time share, in seconds.
fn intersection(a: TimeBBox, b: TimeBBox) -> f64 {
    let shared = a.latest.min(b.latest) - a.earliest.max(b.earliest);
    if shared > 0.0 { shared } else { 0.0 }
}

fn reset<T: Copy>(list: &mut Vec<T>, length: usize, value: T) {
    list.clear();
    list.resize(length, value);
}
