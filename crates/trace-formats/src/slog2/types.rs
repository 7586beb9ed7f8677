//! The small types of SLOG2: times, places in the file and in the tree, categories, line maps, the header
//! (sections 1, 3 and 6).

use std::borrow::Cow;

use super::colors::Color;

/// Version string this crate writes.
pub const VERSION: &str = "SLOG 2.0.6";

/// The version before, which can be read too (section 11).
pub const VERSION_2_0_5: &str = "SLOG 2.0.5";

/// Bytes of the header.
pub const HEADER_SIZE: usize = 108;

/// How categories and weights are laid out, which the version string tells (section 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
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

/// A stretch of time, in seconds since the log's time zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeBBox {
    /// Where it begins.
    pub earliest: f64,
    /// Where it ends.
    pub latest: f64,
}

impl TimeBBox {
    /// Contains nothing; [`TimeBBox::include`] makes it grow.
    pub const EMPTY: TimeBBox = TimeBBox {
        earliest: f64::INFINITY,
        latest: f64::NEG_INFINITY,
    };

    /// Its length in seconds.
    pub fn duration(self) -> f64 {
        self.latest - self.earliest
    }

    /// Grows so that it contains `other`.
    #[inline]
    pub fn include(&mut self, other: TimeBBox) {
        if other.earliest < self.earliest {
            self.earliest = other.earliest;
        }
        if other.latest > self.latest {
            self.latest = other.latest;
        }
    }

    /// True if `other` lies within it.
    pub fn covers(self, other: TimeBBox) -> bool {
        self.earliest <= other.earliest && self.latest >= other.latest
    }

    /// True if the two have at least a point in common.
    pub fn overlaps(self, other: TimeBBox) -> bool {
        self.earliest <= other.latest && self.latest >= other.earliest
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

/// A corner of a drawable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vertex {
    /// Seconds since the log's time zero.
    pub time: f64,
    /// The line it is on (section 7.2).
    pub line: i32,
}

/// The kinds of drawables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topology {
    /// One vertex.
    Event,
    /// Two vertices on one line.
    State,
    /// Two vertices on any lines: the send, then the receive.
    Arrow,
}

impl Topology {
    /// Its number in the file.
    pub fn number(self) -> i32 {
        match self {
            Topology::Event => 0,
            Topology::State => 1,
            Topology::Arrow => 2,
        }
    }

    /// The topology of this number.
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            0 => Some(Topology::Event),
            1 => Some(Topology::State),
            2 => Some(Topology::Arrow),
            _ => None,
        }
    }

    /// The name the tools print.
    pub fn name(self) -> &'static str {
        match self {
            Topology::Event => "Event",
            Topology::State => "State",
            Topology::Arrow => "Arrow",
        }
    }

    /// True for states, which are listed apart from arrows and events (section 5).
    pub fn is_nestable(self) -> bool {
        self == Topology::State
    }
}

/// A string of the file. An empty one stands for Java's null as well.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<u8>);

impl Text {
    /// True if there is nothing in it, which the original reads as null.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, with U+FFFD for what is not UTF-8.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.as_bytes().to_vec())
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.to_str())
    }
}

/// Share of a category in a stretch of time (sections 8.5 and 8.7).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratios {
    /// Time in the category divided by the time of the whole.
    pub inclusive: f32,
    /// The same without the time in states nested in it. Always 0 for arrows and events.
    pub exclusive: f32,
    /// Number of drawables. 0 in files of version 2.0.5, which have no counts.
    pub count: i64,
}

/// What drawables of one kind have in common (section 6.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Category {
    /// Its number, by which drawables name it; negative for previews.
    pub index: i32,
    /// Name.
    pub name: Text,
    /// What its drawables look like.
    pub topology: Topology,
    /// Colour.
    pub color: Color,
    /// Whether a user may change the colour; always true.
    pub is_color_changeable: bool,
    /// Pixels of a line.
    pub width: i8,
    /// Texts before the values of the info, one or none more than there are values.
    pub info_keys: Vec<Text>,
    /// Types of the values, one character each (clog2.md section 8).
    pub info_types: Vec<u8>,
    /// Methods; none are known.
    pub method_ids: Vec<i32>,
    /// Over the whole file, all lines added up.
    pub summary: Ratios,
}

/// Index of the category of previews of events.
pub const PREVIEW_EVENT: i32 = -1;
/// Index of the category of previews of arrows.
pub const PREVIEW_ARROW: i32 = -2;
/// Index of the category of previews of states.
pub const PREVIEW_STATE: i32 = -3;

impl Category {
    /// A category without info, of width 1.
    pub fn new(index: i32, name: Text, topology: Topology, color: Color) -> Self {
        Category {
            index,
            name,
            topology,
            color,
            is_color_changeable: true,
            width: 1,
            info_keys: Vec::new(),
            info_types: Vec::new(),
            method_ids: Vec::new(),
            summary: Ratios::default(),
        }
    }

    /// The category of previews of this topology.
    pub fn preview(topology: Topology) -> Self {
        let translucent_white = Color(0xbfff_ffff);
        let (name, color) = match topology {
            Topology::Event => ("Preview_Event", translucent_white),
            Topology::State => ("Preview_State", translucent_white),
            Topology::Arrow => ("Preview_Arrow", Color::rgb(0xffff00)),
        };
        Category {
            width: 5,
            ..Category::new(preview_index(topology), name.into(), topology, color)
        }
    }

    /// The category of messages: index 0 of every converted log (section 7.1).
    pub fn message() -> Self {
        let mut message = Category::new(0, "message".into(), Topology::Arrow, Color::WHITE);
        message.width = 3;
        message.info_keys = vec!["msg_tag=".into(), ", msg_size=".into(), Text::default()];
        message.info_types = b"dd".to_vec();
        message
    }

    /// Sets keys and types of the info from a format string of CLOG2, such as `CallID=0x%X, bytes=%l` (section 7.1).
    ///
    /// A bare `%` at the end, which stops the original, is ignored.
    pub fn set_info_format(&mut self, format: &[u8]) {
        self.info_keys.clear();
        self.info_types.clear();
        for (nth, part) in format.split(|&b| b == b'%').enumerate() {
            let key = match part {
                _ if nth == 0 && part.is_empty() => continue,
                _ if nth == 0 => part,
                [] => continue,
                [kind, key @ ..] => {
                    self.info_types.push(*kind);
                    key
                }
            };
            self.info_keys.push(Text(key.to_vec()));
        }
    }

    /// The format string that gives these keys and types.
    pub fn info_format(&self) -> Vec<u8> {
        let mut format = Vec::new();
        let mut types = self.info_types.iter();
        for key in &self.info_keys {
            format.extend_from_slice(&key.0);
            if let Some(&kind) = types.next() {
                format.extend([b'%', kind]);
            }
        }
        format
    }
}

/// Index of the category of previews of this topology.
pub fn preview_index(topology: Topology) -> i32 {
    match topology {
        Topology::Event => PREVIEW_EVENT,
        Topology::Arrow => PREVIEW_ARROW,
        Topology::State => PREVIEW_STATE,
    }
}

/// A view: which numbers name each line; the path to it in the tree of labels that a viewer shows (section 6.2).
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

    /// The same view of these lines, which are ascending; a line it does not have gets −1 in all columns, because viewers
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

/// An entry of the tree directory (section 6.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirEntry {
    /// The node.
    pub id: TreeNodeId,
    /// Its bounds.
    pub bounds: TimeBBox,
    /// Its bytes.
    pub ptr: FileBlockPtr,
}

/// The header of a file (section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
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

impl Default for Header {
    fn default() -> Self {
        let null = FileBlockPtr::default();
        Header {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> (Vec<String>, String) {
        let mut category = Category::message();
        category.set_info_format(text.as_bytes());
        let keys = category
            .info_keys
            .iter()
            .map(|key| key.to_str().into_owned());
        let types = String::from_utf8_lossy(&category.info_types).into_owned();
        (keys.collect(), types)
    }

    #[test]
    fn formats_are_split_at_percent_signs() {
        let keys = |keys: &[&str]| keys.iter().map(|&key| key.to_string()).collect::<Vec<_>>();
        assert_eq!(
            format("step=%d ratio=%E name=%s."),
            (keys(&["step=", " ratio=", " name=", "."]), "dEs".into())
        );
        assert_eq!(format("%s/%s"), (keys(&["/", ""]), "ss".into()));
        assert_eq!(format(""), (keys(&[]), "".into()));
        assert_eq!(format("only text"), (keys(&["only text"]), "".into()));
        assert_eq!(format("x%"), (keys(&["x"]), "".into()));
    }
}
