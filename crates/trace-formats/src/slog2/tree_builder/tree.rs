//! A tree whose nodes are all written: what its root tells about the whole log, and the rest of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};

use super::super::encode;
use super::super::error::{Slog2Error, Slog2ErrorKind};
use super::super::java::hash_map_order;
use super::super::node::Stub;
use super::super::types::{LineIdMap, Slog2Header, Slog2Layout};
use super::TreeBuilder;
use super::shadow::{DoneShadows, vertex_count};
use trace_model::{Category, Ratios, Topology, preview_index};

/// What the shadows of the root, which are never written, tell about the whole log.
#[derive(Debug)]
struct RootSummary {
    lines: Vec<i32>,
    topologies: Vec<Topology>,
    categories: BTreeMap<i32, Ratios>,
    /// By category what each shadow contributes, in the order in which the original adds it up.
    parts: BTreeMap<i32, Vec<Ratios>>,
}

impl RootSummary {
    fn new(root: &DoneShadows, composites: &BTreeSet<i32>) -> Self {
        let shadows = || root.sides.iter().flat_map(|side| &side.list);
        let mut lines: Vec<i32> = shadows().flat_map(|shadow| shadow.lines).collect();
        lines.sort_unstable();
        lines.dedup();
        let mut topologies: Vec<Topology> = shadows().map(|shadow| shadow.topology).collect();
        topologies.sort_unstable();
        topologies.dedup();
        let mut parts: BTreeMap<i32, Vec<Ratios>> = BTreeMap::new();
        let whole = root.stub.bounds.duration();
        // Float sums depend on their order: that of the original's hash table, one for nestless and nestable shadows.
        let hashes = shadows().map(|shadow| {
            let lines = &shadow.lines[..vertex_count(shadow.topology)];
            let key = std::iter::once(shadow.topology.number()).chain(lines.iter().copied());
            key.fold(1u32, |hash, part| {
                hash.wrapping_mul(31).wrapping_add(part as u32)
            })
        });
        let [nestless, nestable] = &root.sides;
        for at in hash_map_order(hashes) {
            let (side, at) = match at.checked_sub(nestless.list.len()) {
                Some(at) => (nestable, at),
                None => (nestless, at),
            };
            let shadow = &side.list[at];
            let factor = (shadow.bounds.duration() / whole) as f32;
            for weight in side.weights_of(shadow) {
                parts.entry(weight.category).or_default().push(Ratios {
                    count: weight.ratios.count,
                    inclusive: weight.ratios.inclusive * factor,
                    exclusive: weight.ratios.exclusive * factor,
                });
            }
        }
        // Composites are used, though their primitives are what counts.
        for &category in composites {
            parts.entry(category).or_default();
        }
        let sums = parts
            .iter()
            .map(|(&category, parts)| (category, add_up(Ratios::default(), parts)));
        RootSummary {
            lines,
            topologies,
            categories: sums.collect(),
            parts,
        }
    }
}

/// Adds the parts to what is there, one by one.
fn add_up(mut sum: Ratios, parts: &[Ratios]) -> Ratios {
    for part in parts {
        sum.count += part.count;
        sum.inclusive += part.inclusive;
        sum.exclusive += part.exclusive;
    }
    sum
}

/// A tree whose nodes are all written; the rest of the file is not.
#[derive(Debug)]
pub struct WrittenTree<W> {
    builder: TreeBuilder<W>,
    root: Stub,
    summary: RootSummary,
}

impl<W: Write + Seek> TreeBuilder<W> {
    /// Writes all nodes that are still open; the tree is then complete (`spec/slog2.md` sections 8.4 and 8.7).
    ///
    /// # Errors
    /// [`Slog2ErrorKind::NoDrawables`] if nothing was added.
    pub fn close(self) -> Result<WrittenTree<W>, Slog2Error> {
        self.close_with(Vec::new())
    }

    /// Closes the tree, and writes `record` after the last leaf.
    pub(in super::super) fn close_with(
        mut self,
        record: Vec<u8>,
    ) -> Result<WrittenTree<W>, Slog2Error> {
        self.leaf_record = record;
        if self.count == 0 {
            return Err(Slog2Error::new(
                self.out.position(),
                Slog2ErrorKind::NoDrawables,
            ));
        }
        for level in 0..self.open.len() {
            self.close_node(level)?;
        }
        let root = self.open.pop().and_then(|mut root| root.done.pop());
        let Some(root) = root else {
            return Err(Slog2Error::new(
                self.out.position(),
                Slog2ErrorKind::NoDrawables,
            ));
        };
        Ok(WrittenTree {
            summary: RootSummary::new(&root, &self.composites),
            builder: self,
            root: root.stub,
        })
    }
}

impl<W: Write + Seek> WrittenTree<W> {
    /// The lines that have drawables, ascending.
    pub fn lines(&self) -> &[i32] {
        &self.summary.lines
    }

    /// Number and ratios of the drawables of each category that has any, by category index.
    pub fn summary(&self) -> &BTreeMap<i32, Ratios> {
        &self.summary.categories
    }

    /// Has a category written even if no drawable is of it.
    pub fn keep_category(&mut self, index: i32) {
        self.summary.parts.entry(index).or_default();
    }

    /// Writes categories, views, directory and the final header, and gives the output and the header.
    ///
    /// `categories` are all categories, in the order in which the original inserts them in its table, previews included.
    /// Those without drawables are left out; the summaries of the others are added to what they hold.
    pub fn finish(
        self,
        categories: &[Category],
        line_id_maps: &[LineIdMap],
    ) -> Result<(W, Slog2Header), Slog2Error> {
        self.finish_with(categories, line_id_maps, &[])
    }

    /// Finishes the file, with annotations at the end if there are any.
    pub(in super::super) fn finish_with(
        self,
        categories: &[Category],
        line_id_maps: &[LineIdMap],
        annotations: &[u8],
    ) -> Result<(W, Slog2Header), Slog2Error> {
        let WrittenTree {
            builder: mut tree,
            root,
            summary,
        } = self;
        let order = hash_map_order(categories.iter().map(|category| category.index as u32));
        let used: Vec<Category> = order
            .into_iter()
            .map(|at| &categories[at])
            .filter_map(|category| {
                let mut category = category.clone();
                if let Some(parts) = summary.parts.get(&category.index) {
                    category.summary = add_up(category.summary, parts);
                } else if !summary
                    .topologies
                    .iter()
                    .any(|&topology| preview_index(topology) == category.index)
                {
                    return None;
                }
                Some(category)
            })
            .collect();
        let mut header = Slog2Header {
            children_per_node: tree.options.children_per_node,
            leaf_byte_size: tree.options.leaf_byte_size,
            max_depth: root.id.depth,
            tree_root: root.ptr,
            ..Slog2Header::default()
        };
        header.categories = tree.out.part(
            "category map",
            &encode::categories(used.iter(), Slog2Layout::V206),
        )?;
        header.line_id_maps = tree
            .out
            .part("line ID maps", &encode::line_id_maps(line_id_maps))?;
        let directory = encode::directory(&mut tree.directory);
        header.tree_dir = tree.out.part("tree directory", &directory)?;
        if !annotations.is_empty() {
            header.annotations = tree.out.part("annotations", annotations)?;
        }
        tree.out.finish(header)
    }
}
