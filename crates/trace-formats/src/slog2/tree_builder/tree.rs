//! A tree whose nodes are all written: what its root tells about the whole log, and the rest of the file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};

use super::super::encode;
use super::super::error::{Slog2Error, Slog2ErrorKind};
use super::super::java::hash_map_order;
use super::super::node::Stub;
use super::super::part_writer::pointer;
use super::super::types::{DirEntry, FileBlockPtr, LineIdMap, Slog2Header, Slog2Layout};
use super::node_file::NodeFile;
use super::node_parts::NodePreview;
use super::shadow::{DoneShadows, vertex_count};
use super::{TreeBuilder, TreeOptions};
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

impl RootSummary {
    /// The categories that have drawables, of all in `categories`, with their summaries, in the order of the original's hash table.
    fn used(&self, categories: &[Category]) -> Vec<Category> {
        let order = hash_map_order(categories.iter().map(|category| category.index as u32));
        let used = order.into_iter().map(|at| &categories[at]);
        let used = used.filter_map(|category| {
            let mut category = category.clone();
            if let Some(parts) = self.parts.get(&category.index) {
                category.summary = add_up(category.summary, parts);
            } else if !self
                .topologies
                .iter()
                .any(|&topology| preview_index(topology) == category.index)
            {
                return None;
            }
            Some(category)
        });
        used.collect()
    }
}

/// What comes behind the nodes of a tree that several builders have made, and the header.
#[derive(Debug)]
pub struct TreeEnd {
    summary: RootSummary,
    root: Stub,
}

impl TreeEnd {
    /// `root` is the preview of the root, which is at `ptr`.
    pub fn new(root: &NodePreview, ptr: FileBlockPtr) -> TreeEnd {
        let root_stub = Stub { ptr, ..root.0.stub };
        TreeEnd {
            summary: RootSummary::new(&root.0, &BTreeSet::new()),
            root: root_stub,
        }
    }

    /// The lines that have drawables, ascending.
    pub fn lines(&self) -> &[i32] {
        &self.summary.lines
    }

    /// The category map and the line ID maps, which stand at offset `at` of the file, and the header of the file. Behind them comes the
    /// directory, of `nodes` nodes; the first of [`TreeEnd::DIRECTORY_COUNT`] bytes of it are among the bytes given. `largest` is the
    /// size of the largest node.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::TooLarge`] if a part is larger than the format can tell.
    pub fn parts(
        &self,
        options: TreeOptions,
        categories: &[Category],
        line_id_maps: &[LineIdMap],
        (at, nodes, largest): (u64, usize, usize),
    ) -> Result<(Vec<u8>, Vec<u8>), Slog2Error> {
        let mut parts = encode::categories(self.summary.used(categories).iter(), Slog2Layout::V206);
        let category_bytes = parts.len();
        parts.extend(encode::line_id_maps(line_id_maps));
        let map_bytes = parts.len() - category_bytes;
        encode::write_count(&mut parts, nodes);
        let directory_bytes = Self::DIRECTORY_COUNT + encode::DIRECTORY_ENTRY_BYTES * nodes;
        let maps_at = at + category_bytes as u64;
        let header = Slog2Header {
            children_per_node: options.children_per_node,
            leaf_byte_size: options.leaf_byte_size,
            max_depth: self.root.id.depth,
            max_buffer_size: [largest, category_bytes, map_bytes, directory_bytes]
                .into_iter()
                .max()
                .and_then(|bytes| i32::try_from(bytes).ok())
                .unwrap_or(i32::MAX),
            tree_root: self.root.ptr,
            categories: pointer("category map", at, category_bytes)?,
            line_id_maps: pointer("line ID maps", maps_at, map_bytes)?,
            tree_dir: pointer(
                "tree directory",
                maps_at + map_bytes as u64,
                directory_bytes,
            )?,
            ..Slog2Header::default()
        };
        Ok((parts, encode::header(&header)))
    }

    /// Bytes in front of the entries of a directory.
    pub const DIRECTORY_COUNT: usize = 4;

    /// Bytes of an entry of a directory.
    pub const DIRECTORY_ENTRY: usize = encode::DIRECTORY_ENTRY_BYTES;

    /// Appends an entry of the directory.
    pub fn encode_entry(entry: &DirEntry, out: &mut Vec<u8>) {
        encode::directory_entry(out, entry);
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
    file: Box<NodeFile<W>>,
    options: TreeOptions,
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
            return Err(no_drawables(self.nodes.position()));
        }
        for level in 0..self.open.len() {
            self.close_node(level)?;
        }
        let mut file = self.nodes.finish()?;
        let root = file.take_root();
        let root = root.ok_or_else(|| no_drawables(file.out.position()))?;
        Ok(WrittenTree {
            summary: RootSummary::new(&root, &self.composites),
            options: self.options,
            root: root.stub,
            file,
        })
    }
}

fn no_drawables(position: u64) -> Slog2Error {
    Slog2Error::new(position, Slog2ErrorKind::NoDrawables)
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
            mut file,
            options,
            root,
            summary,
        } = self;
        let used = summary.used(categories);
        let mut header = Slog2Header {
            children_per_node: options.children_per_node,
            leaf_byte_size: options.leaf_byte_size,
            max_depth: root.id.depth,
            tree_root: root.ptr,
            ..Slog2Header::default()
        };
        header.categories = file.out.part(
            "category map",
            &encode::categories(used.iter(), Slog2Layout::V206),
        )?;
        header.line_id_maps = file
            .out
            .part("line ID maps", &encode::line_id_maps(line_id_maps))?;
        let directory = encode::directory(&mut file.directory);
        header.tree_dir = file.out.part("tree directory", &directory)?;
        if !annotations.is_empty() {
            header.annotations = file.out.part("annotations", annotations)?;
        }
        file.out.finish(header)
    }
}
