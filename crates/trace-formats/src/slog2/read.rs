//! Reads SLOG2 files that are in memory (or mapped), or piece by piece, versions 2.0.6 and 2.0.5.
//!
//! Nothing here panics or allocates more than the file itself warrants, whatever the bytes are.

use super::cursor::Slog2Cursor;
use super::directory::NodeDirectory;
use super::error::{Slog2Error, Slog2ErrorKind};
use super::file_bytes::{FileBytes, MissingPart, PositionedRead};
use super::node::Slog2Node;
use super::types::{
    DirEntry, FileBlockPtr, LineIdMap, Slog2Header, Slog2Layout, TreeNodeId, VERSION, VERSION_2_0_5,
};
use trace_model::{Category, Color, Ratios, Text, Topology};

/// Bytes that a header takes at most: a text of 16-bit length, and numbers.
const MAX_HEADER_BYTES: usize = 1 << 17;

/// An SLOG2 file: header, categories and line maps are read; directory and nodes can be, where they stand.
#[derive(Clone, Debug)]
pub struct Slog2Reader<'a> {
    file: FileBytes<'a>,
    layout: Slog2Layout,
    header: Slog2Header,
    categories: Vec<Category>,
    line_id_maps: Vec<LineIdMap>,
    directory: NodeDirectory<'a>,
}

impl<'a> Slog2Reader<'a> {
    /// Reads header, categories and line maps, given all bytes of a file; of the tree, no byte is touched.
    ///
    /// A version other than 2.0.6 and 2.0.5 is refused with [`Slog2ErrorKind::Version`]; see [`Slog2Reader::with_layout`].
    pub fn new(file: &'a [u8]) -> Result<Self, Slog2Error> {
        Slog2Reader::of_bytes(FileBytes::Memory(file))
    }

    /// Reads the same parts of a file that is not in memory. Directory and nodes are read when they are wanted.
    ///
    /// # Errors
    /// The file cannot be read, is no SLOG2 file, or is damaged.
    pub fn positioned(file: &'a dyn PositionedRead) -> Result<Self, Slog2Error> {
        Slog2Reader::of_bytes(FileBytes::Positioned(file))
    }

    fn of_bytes(file: FileBytes<'a>) -> Result<Self, Slog2Error> {
        let what = "header";
        let beginning = file.beginning(MAX_HEADER_BYTES).map_err(|_| {
            let size = MAX_HEADER_BYTES as i32;
            Slog2Error::new(0, Slog2ErrorKind::Unreadable { what, size })
        })?;
        let header = read_header(beginning)?;
        let layout = match header.version.to_str().as_ref() {
            VERSION => Slog2Layout::V206,
            VERSION_2_0_5 => Slog2Layout::V205,
            found => {
                let found = found.chars().take(32).collect();
                return Err(Slog2Error::new(0, Slog2ErrorKind::Version { found }));
            }
        };
        Slog2Reader::with_header(file, header, layout)
    }

    /// Reads a file of any version of SLOG2 as if it had this layout.
    pub fn with_layout(file: &'a [u8], layout: Slog2Layout) -> Result<Self, Slog2Error> {
        Slog2Reader::with_header(FileBytes::Memory(file), read_header(file)?, layout)
    }

    fn with_header(
        file: FileBytes<'a>,
        header: Slog2Header,
        layout: Slog2Layout,
    ) -> Result<Self, Slog2Error> {
        let mut reader = Slog2Reader {
            file,
            layout,
            header,
            categories: Vec::new(),
            line_id_maps: Vec::new(),
            directory: NodeDirectory::default(),
        };
        let mut part = reader.part(reader.header.tree_dir, "tree directory")?;
        reader.directory = NodeDirectory::read(&mut part)?;

        let mut part = reader.part(reader.header.categories, "category map")?;
        let count = part.count(26, "categories")?;
        for _ in 0..count {
            reader.categories.push(read_category(&mut part, layout)?);
        }
        part.finish("category map")?;

        let mut part = reader.part(reader.header.line_id_maps, "line ID maps")?;
        let count = part.count(12, "line ID maps")?;
        for _ in 0..count {
            reader.line_id_maps.push(read_line_id_map(&mut part)?);
        }
        part.finish("line ID maps")?;
        Ok(reader)
    }

    /// True if these bytes begin as an SLOG2 file of any version does.
    pub fn recognises(file: &[u8]) -> bool {
        file.get(2..)
            .is_some_and(|text| text.starts_with(b"SLOG 2"))
    }

    /// The header.
    pub fn header(&self) -> &Slog2Header {
        &self.header
    }

    /// Layout of the file's categories and weights.
    pub fn layout(&self) -> Slog2Layout {
        self.layout
    }

    /// Children of a full inner node, at least 2.
    pub(super) fn children(&self) -> usize {
        usize::try_from(self.header.children_per_node).map_or(2, |children| children.max(2))
    }

    /// The categories in the order of the file.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// The views.
    pub fn line_id_maps(&self) -> &[LineIdMap] {
        &self.line_id_maps
    }

    /// All nodes, the root first, then level by level downwards, from left to right in each.
    pub fn directory(&self) -> NodeDirectory<'a> {
        self.directory
    }

    /// Directory for callers that read all nodes: takes time and memory by their sizes, so these must be real.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::Overlap`] if together they are larger than the file.
    pub fn whole_directory(&self) -> Result<NodeDirectory<'a>, Slog2Error> {
        self.check_node_bytes(self.directory.node_bytes())?;
        Ok(self.directory)
    }

    /// Checks that nodes, which take this many bytes together, can all be in the file.
    pub(super) fn check_node_bytes(&self, nodes: u64) -> Result<(), Slog2Error> {
        if nodes > self.file.size() {
            let at = u64::try_from(self.header.tree_dir.offset).unwrap_or(0);
            return Err(Slog2Error::new(at, Slog2ErrorKind::Overlap { nodes }));
        }
        Ok(())
    }

    /// The directory entry of the root.
    pub fn root(&self) -> Option<DirEntry> {
        let is_root = |entry: &DirEntry| entry.ptr == self.header.tree_root;
        let first = self.directory.get(0).filter(is_root);
        first.or_else(|| self.directory.iter().find(is_root))
    }

    /// The directory entry of a node.
    pub fn entry(&self, id: TreeNodeId) -> Option<DirEntry> {
        self.directory.find(id)
    }

    /// The nodes of a level, from left to right.
    pub fn level(&self, depth: i16) -> NodeDirectory<'a> {
        self.directory.level(depth)
    }

    /// Reads the node at this place.
    pub fn node(&self, ptr: FileBlockPtr) -> Result<Slog2Node<'a>, Slog2Error> {
        let mut part = self.part(ptr, "tree node")?;
        let node = Slog2Node::read(&mut part, self.layout)?;
        part.finish("tree node")?;
        Ok(node)
    }

    pub(super) fn part(
        &self,
        ptr: FileBlockPtr,
        what: &'static str,
    ) -> Result<Slog2Cursor<'a>, Slog2Error> {
        let FileBlockPtr { offset, size } = ptr;
        let at = u64::try_from(offset).unwrap_or(0);
        match self.file.part(offset, size) {
            Ok(part) => Ok(Slog2Cursor::new(part, at)),
            Err(MissingPart::Outside) => {
                let kind = Slog2ErrorKind::Pointer { what, offset, size };
                Err(Slog2Error::new(at, kind))
            }
            Err(MissingPart::Unreadable) => {
                let kind = Slog2ErrorKind::Unreadable { what, size };
                Err(Slog2Error::new(at, kind))
            }
        }
    }
}

pub(super) fn read_header(file: &[u8]) -> Result<Slog2Header, Slog2Error> {
    if !Slog2Reader::recognises(file) {
        return Err(Slog2Error::new(0, Slog2ErrorKind::NotSlog2));
    }
    let mut cursor = Slog2Cursor::new(file, 0);
    let version = cursor.text("version")?;
    let ptr = |cursor: &mut Slog2Cursor<'_>| cursor.file_block_ptr("header");
    Ok(Slog2Header {
        version,
        children_per_node: cursor.i16("header")?,
        leaf_byte_size: cursor.i32("header")?,
        max_depth: cursor.i16("header")?,
        max_buffer_size: cursor.i32("header")?,
        categories: ptr(&mut cursor)?,
        method_defs: ptr(&mut cursor)?,
        line_id_maps: ptr(&mut cursor)?,
        tree_root: ptr(&mut cursor)?,
        tree_dir: ptr(&mut cursor)?,
        annotations: ptr(&mut cursor)?,
        postamble: ptr(&mut cursor)?,
    })
}

fn read_category(part: &mut Slog2Cursor<'_>, layout: Slog2Layout) -> Result<Category, Slog2Error> {
    let index = part.i32("category index")?;
    let name = part.text("category name")?;
    let topology = part.i32("topology")?;
    let Some(topology) = Topology::from_number(topology) else {
        return Err(part.error(Slog2ErrorKind::Topology(topology)));
    };
    let color = Color(part.i32("colour")? as u32);
    let is_color_changeable = part.u8("colour")? != 0;
    let width = part.u8("width")? as i8;
    let keys = part.short_count(2, "info keys")?;
    let info_keys = (0..keys)
        .map(|_| part.text("info key"))
        .collect::<Result<Vec<Text>, _>>()?;
    let types = part.short_count(1, "info types")?;
    let info_types = part.bytes(types, "info types")?.to_vec();
    let methods = part.short_count(4, "methods")?;
    let method_ids = (0..methods)
        .map(|_| part.i32("method"))
        .collect::<Result<_, _>>()?;
    let summary = match layout {
        Slog2Layout::V205 => Ratios::default(),
        Slog2Layout::V206 => Ratios {
            inclusive: part.f32("inclusive ratio")?,
            exclusive: part.f32("exclusive ratio")?,
            count: part.i64("count")?,
        },
    };
    Ok(Category {
        index,
        name,
        topology,
        color,
        is_color_changeable,
        width,
        info_keys,
        info_types,
        method_ids,
        summary,
    })
}

fn read_line_id_map(part: &mut Slog2Cursor<'_>) -> Result<LineIdMap, Slog2Error> {
    let title = part.text("title of a line ID map")?;
    let columns = part.count(2, "columns")?;
    let labels = (0..columns).map(|_| part.text("column label"));
    let column_labels = labels.collect::<Result<Vec<Text>, _>>()?;
    let width = 1 + columns;
    let rows = part.count(4 * width, "rows")?;
    let cells = part.bytes(4 * width * rows, "rows")?.chunks_exact(4);
    let cells = cells.map(|cell| cell.iter().fold(0, |n, &byte| n << 8 | i32::from(byte)));
    let cells = cells.collect();
    let methods = part.short_count(4, "methods")?;
    let method_ids = (0..methods)
        .map(|_| part.i32("method"))
        .collect::<Result<_, _>>()?;
    Ok(LineIdMap {
        title,
        column_labels,
        cells,
        method_ids,
    })
}
