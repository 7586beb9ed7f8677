//! Writes a file that was read once more: as it was, or in the layout of another version.

use std::io::{Seek, Write};

use super::encode;
use super::error::{Slog2Error, Slog2ErrorKind};
use super::node::Slog2Node;
use super::part_writer::PartWriter;
use super::read::Slog2Reader;

use super::types::{
    DirEntry, FileBlockPtr, HEADER_SIZE, Slog2Header, Slog2Layout, VERSION, VERSION_2_0_5,
};
use trace_model::hash::Map as HashMap;

/// Writes everything that was read: the same bytes, but for what no pointer leads to.
///
/// With another layout than the reader's, weights and categories lose their counts and summaries, or get zeros. To have
/// these right, the tree must be built anew: see [`update`](super::update()).
///
/// # Errors
/// The nodes are damaged, or the output cannot be written.
pub fn rewrite<W: Write + Seek>(
    reader: &Slog2Reader<'_>,
    layout: Slog2Layout,
    out: W,
) -> Result<(W, Slog2Header), Slog2Error> {
    let mut nodes: Vec<DirEntry> = reader.whole_directory()?.iter().collect();
    nodes.sort_by_key(|entry| entry.ptr.offset);
    let mut relocation = Relocation::new(out, layout)?;
    for entry in nodes {
        relocation.put(entry.ptr, reader.node(entry.ptr)?)?;
    }
    relocation.finish(reader)
}

/// Writes nodes one behind the other, with pointers to where they are now.
pub(super) struct Relocation<W> {
    out: PartWriter<W>,
    layout: Slog2Layout,
    /// New places of nodes, by their old ones.
    moved: HashMap<i64, FileBlockPtr>,
    directory: Vec<DirEntry>,
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Relocation<W> {
    /// Starts a file at the beginning of `out`, which should be empty.
    pub(super) fn new(out: W, layout: Slog2Layout) -> Result<Self, Slog2Error> {
        Ok(Relocation {
            out: PartWriter::new(out, &[0; HEADER_SIZE])?,
            layout,
            moved: HashMap::default(),
            directory: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Writes the node that was at `from`. Its children must have come before, as they do in every file.
    pub(super) fn put(
        &mut self,
        from: FileBlockPtr,
        mut node: Slog2Node<'_>,
    ) -> Result<(), Slog2Error> {
        let size = node.byte_size_as(self.layout);
        let ptr = self.out.next_pointer("tree node", size)?;
        node.stub.ptr = ptr;
        for buffer in &mut node.shadows {
            let child = buffer.stub.ptr;
            buffer.stub.ptr = *self.moved.get(&child.offset).ok_or_else(|| {
                let FileBlockPtr { offset, size } = child;
                let what = "child of a tree node";
                let at = from.offset as u64;
                Slog2Error::new(at, Slog2ErrorKind::Pointer { what, offset, size })
            })?;
        }
        self.moved.insert(from.offset, ptr);
        let id = node.stub.id;
        let bounds = node.stub.bounds;
        self.directory.push(DirEntry { id, bounds, ptr });
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        node.write_as(self.layout, &mut bytes);
        debug_assert_eq!(bytes.len(), size);
        let written = self.out.part("tree node", &bytes);
        self.bytes = bytes;
        written.map(|_| ())
    }

    /// Writes the rest of the file, and gives the output and the header.
    pub(super) fn finish(
        mut self,
        reader: &Slog2Reader<'_>,
    ) -> Result<(W, Slog2Header), Slog2Error> {
        let from = reader.header();
        let root = self.moved.get(&from.tree_root.offset).copied();
        let mut header = Slog2Header {
            version: match self.layout {
                Slog2Layout::V205 => VERSION_2_0_5,
                Slog2Layout::V206 => VERSION,
            }
            .into(),
            children_per_node: from.children_per_node,
            leaf_byte_size: from.leaf_byte_size,
            max_depth: from.max_depth,
            tree_root: root.unwrap_or_default(),
            ..Slog2Header::default()
        };
        let categories = encode::categories(reader.categories().iter(), self.layout);
        header.categories = self.out.part("category map", &categories)?;
        let maps = encode::line_id_maps(reader.line_id_maps());
        header.line_id_maps = self.out.part("line ID maps", &maps)?;
        let directory = encode::directory(&mut self.directory);
        header.tree_dir = self.out.part("tree directory", &directory)?;
        self.out.finish(header)
    }
}
