//! The small types of SLOG2: places in the file and in the tree, line maps, the header (`spec/slog2.md` sections 1, 3
//! and 6).

use trace_model::{Text, TimeBBox};

/// Version string this crate writes.
pub const VERSION: &str = "SLOG 2.0.6";

/// The version before, which can be read too (`spec/slog2.md` section 11).
pub const VERSION_2_0_5: &str = "SLOG 2.0.5";

/// Bytes of the header.
pub const HEADER_SIZE: usize = 108;

/// Layout of categories and weights, given by the version string (`spec/slog2.md` section 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slog2Layout {
    /// `SLOG 2.0.5`: neither counts nor summaries.
    V205,
    /// `SLOG 2.0.6`.
    V206,
}

/// A part of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileBlockPtr {
    /// Bytes from the start of the file.
    pub offset: i64,
    /// Bytes.
    pub size: i32,
}

impl FileBlockPtr {
    /// True for (0, 0), which points to nothing.
    pub fn is_null(self) -> bool {
        self == FileBlockPtr::default()
    }
}

/// Place of a node in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TreeNodeId {
    /// 0 for a leaf, one more for each level above.
    pub depth: i16,
    /// 0, 1, 2 … from left to right in its level.
    pub xpos: i32,
}

/// A view: which numbers name each line; the path to it in the tree of labels that a viewer shows (`spec/slog2.md`
/// section 6.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineIdMap {
    /// Title of the view.
    pub title: Text,
    /// Labels of the columns behind the line ID.
    pub column_labels: Vec<Text>,
    /// Rows one after the other: line ID, then a number for each column; by ascending line ID.
    pub cells: Vec<i32>,
    /// Methods, such as 1 CONNECT_COMPOSITE_STATE; none from this crate.
    pub method_ids: Vec<i32>,
}

impl LineIdMap {
    /// A view without lines.
    pub fn new(title: &str, column_labels: &[&str]) -> Self {
        LineIdMap {
            title: title.into(),
            column_labels: column_labels.iter().map(|&label| label.into()).collect(),
            ..LineIdMap::default()
        }
    }

    /// The view in which each line is named by its own ID. Lines must be ascending.
    pub fn identity(lines: &[i32]) -> Self {
        let mut map = LineIdMap::new("Identity Map", &["LineID"]);
        map.cells = lines.iter().flat_map(|&line| [line, line]).collect();
        map
    }

    /// Adds a row. Rows must come by ascending line ID, with a number for each column.
    pub fn push(&mut self, line: i32, columns: &[i32]) {
        debug_assert_eq!(columns.len(), self.column_labels.len());
        self.cells.push(line);
        self.cells.extend_from_slice(columns);
    }

    /// Restricts the view to these lines, which are ascending; a line it does not have gets −1 in all columns, because viewers
    /// look up each line that has drawables in each view.
    #[must_use]
    pub fn restricted(&self, lines: &[i32]) -> LineIdMap {
        let mut rows: Vec<&[i32]> = self.rows().collect();
        rows.sort_by_key(|row| row[0]);
        let missing = vec![-1; self.column_labels.len()];
        let mut restricted = LineIdMap {
            cells: Vec::new(),
            ..self.clone()
        };
        for &line in lines {
            let found = rows.binary_search_by_key(&line, |row| row[0]);
            let columns = found.map_or(missing.as_slice(), |at| &rows[at][1..]);
            restricted.push(line, columns);
        }
        restricted
    }

    /// The rows: line ID, then a number for each column.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[i32]> + Clone {
        self.cells.chunks_exact(1 + self.column_labels.len())
    }
}

/// An entry of the tree directory (`spec/slog2.md` section 6.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirEntry {
    /// The node.
    pub id: TreeNodeId,
    /// Time bounds of the node.
    pub bounds: TimeBBox,
    /// Position of the node's bytes in the file.
    pub ptr: FileBlockPtr,
}

/// The header of a file (`spec/slog2.md` section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Slog2Header {
    /// Version string, such as [`VERSION`].
    pub version: Text,
    /// Children of an inner node.
    pub children_per_node: i16,
    /// Bytes of a full leaf.
    pub leaf_byte_size: i32,
    /// Depth of the root.
    pub max_depth: i16,
    /// Bytes of the largest part.
    pub max_buffer_size: i32,
    /// The category map.
    pub categories: FileBlockPtr,
    /// Reserved.
    pub method_defs: FileBlockPtr,
    /// The line ID map list.
    pub line_id_maps: FileBlockPtr,
    /// The root node.
    pub tree_root: FileBlockPtr,
    /// The tree directory.
    pub tree_dir: FileBlockPtr,
    /// Reserved.
    pub annotations: FileBlockPtr,
    /// Reserved.
    pub postamble: FileBlockPtr,
}

impl Default for Slog2Header {
    fn default() -> Self {
        let null = FileBlockPtr::default();
        Slog2Header {
            version: VERSION.into(),
            children_per_node: 2,
            leaf_byte_size: 65536,
            max_depth: 0,
            max_buffer_size: 0,
            categories: null,
            method_defs: null,
            line_id_maps: null,
            tree_root: null,
            tree_dir: null,
            annotations: null,
            postamble: null,
        }
    }
}
