//! Composites: drawables that belong together made one, in SLOG2, the only format that has them.
//!
//! A composite has a head, whose info and colour it gets, and a category named after the head's. Its parts stay what they
//! are; previews and summaries count them and not the composite (`spec/slog2.md` section 4.2 and the original's tree
//! builder).

mod bundle;
mod nested;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Seek, Write};

use super::call_id::CallIdCategories;
use super::in_order::in_order;
use super::select::CategoryPattern;
use super::slog2::{renewed, restricted};
use bundle::{Bundle, BundlePart, MAX_PARTS};
use nested::Nested;
use trace_formats::slog2::{
    LineIdMap, NewComposite, Ratios, Slog2Header, TreeBuilder, TreeOptions,
};
use trace_model::{
    Category, Definitions, Drawable, DrawableOrder, Losses, Sorter, Source, Stop, Topology, Vertex,
};

/// The method of a view in which viewers draw composites as one (`spec/slog2.md` section 6.2).
const CONNECT_COMPOSITE_STATE: i32 = 1;

/// Property that drawables of a composite have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKey {
    /// A state, and the states and events within it on its line.
    Nested,
    /// All that carries one CallID, on any lines. The head is what starts first.
    CallId,
}

/// A trace whose drawables are to be put together.
pub struct Composites<'s> {
    source: &'s dyn Source,
    together: GroupKey,
    definitions: Definitions,
    call_ids: CallIdCategories,
    /// By category of the head that of the composite.
    composites: BTreeMap<i32, i32>,
    /// Indices from here on are composites'.
    first: i32,
    statistics: RefCell<CompositeStatistics>,
}

/// Counts of the composites made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompositeStatistics {
    /// Drawables of the trace.
    pub drawables: u64,
    /// Composites made.
    pub composites: u64,
    /// Drawables in them.
    pub parts: u64,
    /// Groups of more parts than a composite can have, which are left apart.
    pub too_large: u64,
}

impl<'s> Composites<'s> {
    /// Prepares to put together what belongs to heads of these categories; of all if none is named.
    pub fn new(source: &'s dyn Source, together: GroupKey, heads: &[CategoryPattern]) -> Self {
        let mut definitions = source.definitions().clone();
        let call_ids = CallIdCategories::new(&definitions.categories);
        let is_head = |category: &&Category| {
            let can_be = match together {
                GroupKey::Nested => category.topology == Topology::State,
                GroupKey::CallId => call_ids.has(category.index),
            };
            let name = category.name.to_str();
            let mut named = heads.iter();
            can_be
                && category.index >= 0
                && (heads.is_empty() || named.any(|head| head.matches(category.index, &name)))
        };
        let heads = definitions.categories.iter().filter(is_head);
        let heads: Vec<Category> = heads.cloned().collect();
        let last = definitions.categories.iter().map(|c| c.index).max();
        let first = last.unwrap_or(-1).saturating_add(1).max(0);
        let mut composites = BTreeMap::new();
        for (head, index) in heads.into_iter().zip(first..i32::MAX) {
            let why = match together {
                GroupKey::Nested => "nested",
                GroupKey::CallId => "CallID",
            };
            composites.insert(head.index, index);
            definitions.categories.push(Category {
                index,
                name: format!("{} ({why})", head.name.to_str()).as_str().into(),
                topology: Topology::State,
                summary: Ratios::default(),
                ..head
            });
        }
        Composites {
            source,
            together,
            definitions,
            call_ids,
            composites,
            first,
            statistics: RefCell::default(),
        }
    }

    /// Counts, complete after the trace is written.
    pub fn statistics(&self) -> CompositeStatistics {
        *self.statistics.borrow()
    }

    /// Writes the trace with these views, cut to the lines that have drawables, and behind them the first one once more
    /// as one in which viewers draw composites as boxes of their own.
    ///
    /// # Errors
    /// The errors of the source and of the output, and [`trace_formats::slog2::Slog2ErrorKind::NoDrawables`] if there is none.
    pub fn write<W: Write + Seek + Send + 'static>(
        &self,
        views: &[LineIdMap],
        tree: TreeOptions,
        out: W,
    ) -> Result<(W, Slog2Header, Losses), Stop> {
        self.statistics.replace(CompositeStatistics::default());
        let mut sorter = Sorter::new(DrawableOrder::End);
        let losses = match self.together {
            GroupKey::Nested => self.put_nested(&mut sorter)?,
            GroupKey::CallId => self.put_by_call_id(&mut sorter)?,
        };
        let mut builder = TreeBuilder::new(out, tree)?.on_thread();
        sorter.finish(&mut |drawable| {
            if drawable.category < self.first {
                return Ok(builder.add(drawable)?);
            }
            let bundle = Bundle::decode(drawable.info);
            let parts: Vec<Drawable<'_>> = bundle.parts.iter().map(BundlePart::drawable).collect();
            Ok(builder.add_composite(&NewComposite {
                category: drawable.category,
                info: &bundle.info,
                primitives: &parts,
            })?)
        })?;
        let tree = builder.close()?;
        let mut maps = restricted(views, tree.lines());
        if let Some(first) = maps.first() {
            let mut boxes = first.clone();
            boxes.title = format!("{}, composites", first.title.to_str())
                .as_str()
                .into();
            boxes.method_ids = vec![CONNECT_COMPOSITE_STATE];
            maps.push(boxes);
        }
        let mut categories = renewed(&self.definitions.categories);
        categories.sort_by_key(|category| category.index >= 0);
        let (out, header) = tree.finish(&categories, &maps)?;
        Ok((out, header, losses))
    }

    fn put_nested(&self, sorter: &mut Sorter) -> Result<Losses, Stop> {
        let mut nested = Nested::default();
        let losses = in_order(self.source, DrawableOrder::Start, &mut |drawable| {
            self.statistics.borrow_mut().drawables += 1;
            let start = drawable.vertices.iter().map(|v| v.time);
            let start = start.fold(f64::INFINITY, f64::min);
            while let Some(parts) = nested.take_ended(start) {
                self.put_group(parts, sorter)?;
            }
            let is_head = self.composites.contains_key(&drawable.category);
            match nested.take(drawable, is_head) {
                nested::TakenAsPart::No => sorter.push(drawable)?,
                nested::TakenAsPart::Yes => {}
                nested::TakenAsPart::TooMany(parts) => {
                    self.statistics.borrow_mut().too_large += 1;
                    put_apart(&parts, sorter)?;
                    sorter.push(drawable)?;
                }
            }
            Ok(())
        })?;
        while let Some(parts) = nested.take_ended(f64::INFINITY) {
            self.put_group(parts, sorter)?;
        }
        Ok(losses)
    }

    /// Brings what has a CallID into the order of these, and puts together what stands together then.
    fn put_by_call_id(&self, sorter: &mut Sorter) -> Result<Losses, Stop> {
        let mut by_call_id = Sorter::new(DrawableOrder::Start);
        let losses = in_order(self.source, DrawableOrder::Start, &mut |drawable| {
            self.statistics.borrow_mut().drawables += 1;
            let Some(call_id) = self.call_ids.of(drawable.category, drawable.info) else {
                return Ok(sorter.push(drawable)?);
            };
            let mut bytes = call_id.to_ne_bytes().to_vec();
            BundlePart::of(drawable).encode(&mut bytes);
            // The key is the part of the CallID that a double can hold; CallIDs that share it are told apart below.
            let time = (call_id >> 11) as f64;
            Ok(by_call_id.push(&Drawable {
                topology: Topology::Event,
                category: 0,
                info: &bytes,
                vertices: &[Vertex { time, line: 0 }],
            })?)
        })?;
        let mut key = None;
        // In the order in which they were met, which is that of their start times.
        let mut groups: BTreeMap<u64, Vec<BundlePart>> = BTreeMap::new();
        by_call_id.finish(&mut |item| {
            let (call_id, mut bytes) = item.info.split_first_chunk().unwrap_or((&[0; 8], &[]));
            let call_id = u64::from_ne_bytes(*call_id);
            if key.replace(call_id >> 11) != Some(call_id >> 11) {
                for parts in std::mem::take(&mut groups).into_values() {
                    self.put_group(parts, sorter)?;
                }
            }
            let parts = groups.entry(call_id).or_default();
            parts.extend(BundlePart::decode(&mut bytes));
            if parts.len() > MAX_PARTS {
                // Those that follow make a group of their own.
                self.statistics.borrow_mut().too_large += 1;
                put_apart(&std::mem::take(parts), sorter)?;
            }
            Ok(())
        })?;
        for parts in groups.into_values() {
            self.put_group(parts, sorter)?;
        }
        Ok(losses)
    }

    /// Makes a composite of a head and what follows it, if there is something.
    fn put_group(&self, parts: Vec<BundlePart>, sorter: &mut Sorter) -> Result<(), Stop> {
        let head = parts.first().filter(|_| parts.len() > 1);
        let category = head.and_then(|head| self.composites.get(&head.category));
        let (Some(head), Some(&category)) = (head, category) else {
            return put_apart(&parts, sorter);
        };
        let mut statistics = self.statistics.borrow_mut();
        statistics.composites += 1;
        statistics.parts += parts.len() as u64;
        let times = parts.iter().flat_map(|part| &part.vertices);
        let times = times.map(|vertex| vertex.time);
        let start = times.clone().fold(f64::INFINITY, f64::min);
        let end = times.fold(f64::NEG_INFINITY, f64::max);
        let bundle = Bundle {
            info: head.info.clone(),
            parts,
        };
        Ok(sorter.push(&Drawable {
            topology: Topology::State,
            category,
            info: &bundle.encode(),
            vertices: &[start, end].map(|time| Vertex { time, line: 0 }),
        })?)
    }
}

fn put_apart(parts: &[BundlePart], sorter: &mut Sorter) -> Result<(), Stop> {
    for part in parts {
        sorter.push(&part.drawable())?;
    }
    Ok(())
}
