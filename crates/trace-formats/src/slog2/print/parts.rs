//! The lines that both printing tools share: header, categories, directory, line maps, drawables (slog2-tools.md
//! sections 4 and 5).

use std::rc::Rc;

use super::super::java::{push_double, push_float};
use super::super::node::{NodeDrawable, NodeShadow, Primitive};
use super::super::read::Slog2Reader;
use super::super::types::{FileBlockPtr, LineIdMap, Slog2Layout, TreeNodeId};
use crate::clog2::java_text;
use trace_model::{Category, Text, TimeBBox, Vertex};

/// Text in the making. Everything is appended to bytes, because names and infos may hold any.
pub(super) struct TextBuffer {
    pub(super) out: Vec<u8>,
    /// Text of each category, by index; made once, since each drawable repeats it in full.
    categories: Rc<[(i32, CategoryText)]>,
}

/// Text of a category, as each of its drawables has it.
struct CategoryText {
    /// The category in full, with `isUsed=true`.
    full: Vec<u8>,
    name: Text,
    /// Keys of the values in the info texts, as UTF-8.
    keys: Vec<String>,
    types: Vec<u8>,
}

impl TextBuffer {
    pub(super) fn new(reader: &Slog2Reader<'_>) -> Self {
        let mut printer = TextBuffer {
            out: Vec::new(),
            categories: Rc::new([]),
        };
        let mut categories = Vec::with_capacity(reader.categories().len());
        for category in reader.categories() {
            printer.category(category, reader.layout(), true);
            let full = std::mem::take(&mut printer.out);
            let keys = category
                .info_keys
                .iter()
                .map(|key| java_text(&key.0).into_owned());
            let text = CategoryText {
                full,
                name: category.name.clone(),
                keys: keys.collect(),
                types: category.info_types.clone(),
            };
            categories.push((category.index, text));
        }
        // Stable, and searched from the end: the last of several with one index counts, as in a map.
        categories.sort_by_key(|&(index, _)| index);
        printer.categories = categories.into();
        printer
    }

    pub(super) fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn decoded(&mut self, bytes: &[u8]) {
        let text = java_text(bytes);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn number(&mut self, number: impl itoa::Integer) {
        let mut buffer = itoa::Buffer::new();
        self.out.extend_from_slice(buffer.format(number).as_bytes());
    }

    pub(super) fn file_block_ptr(&mut self, ptr: FileBlockPtr) {
        self.text(&format!("FBinfo({} @ {})", ptr.size, ptr.offset));
    }

    pub(super) fn time_bbox(&mut self, bounds: TimeBBox) {
        self.text("TimeBBox(");
        push_double(&mut self.out, bounds.earliest);
        self.text(",");
        push_double(&mut self.out, bounds.latest);
        self.text(")");
    }

    pub(super) fn node_id(&mut self, id: TreeNodeId) {
        self.text(&format!("ID({},{})", id.depth, id.xpos));
    }

    /// The header, without the blank line behind it.
    pub(super) fn header(&mut self, reader: &Slog2Reader<'_>) {
        let header = reader.header();
        self.text("\t SLOG-2 Header:\nversion = ");
        self.decoded(&header.version.0);
        self.text(&format!(
            "\nNumOfChildrenPerNode = {}\nTreeLeafByteSize = {}\nMaxTreeDepth = {}\nMaxBufferByteSize = {}\n",
            header.children_per_node, header.leaf_byte_size, header.max_depth, header.max_buffer_size
        ));
        for (title, ptr) in [
            ("Categories  is ", header.categories),
            ("MethodDefs  is ", header.method_defs),
            ("LineIDMaps  is ", header.line_id_maps),
            ("TreeRoot    is ", header.tree_root),
            ("TreeDir     is ", header.tree_dir),
            ("Annotations is ", header.annotations),
            ("Postamble   is ", header.postamble),
        ] {
            self.text(title);
            self.file_block_ptr(ptr);
            self.text("\n");
        }
    }

    /// The categories, in the order of the table that the original's reader fills in the order of the file.
    pub(super) fn category_map(&mut self, reader: &Slog2Reader<'_>) {
        self.text("\t CategoryMap: \n");
        let categories = reader.categories();
        let order = super::super::java::hash_map_order(categories.iter().map(|c| c.index as u32));
        for (at, nth) in order.into_iter().zip(1i32..) {
            self.number(nth);
            self.text(": ");
            self.category(&categories[at], reader.layout(), false);
            self.text("\n");
        }
    }

    fn category(&mut self, category: &Category, layout: Slog2Layout, is_used: bool) {
        self.text("Category[ index=");
        self.number(category.index);
        self.text(", name=");
        self.name(&category.name);
        self.text(", topo=");
        self.text(category.topology.name());
        let [alpha, red, green, blue] = category.color.argb();
        self.text(&format!(
            ", color=({red},{green},{blue},{alpha},{}), isUsed={is_used}, width={}",
            category.is_color_changeable, category.width
        ));
        let (keys, kinds) = (&category.info_keys, &category.info_types);
        if !keys.is_empty() || !kinds.is_empty() {
            self.text(", info_fmt=< ");
            for nth in 0..keys.len().max(kinds.len()) {
                if let Some(key) = keys.get(nth) {
                    self.decoded(&key.0);
                }
                if let Some(&kind) = kinds.get(nth) {
                    self.text("%");
                    self.decoded(&[kind]);
                }
            }
            self.text(" >");
        }
        if !category.method_ids.is_empty() {
            self.text(", ");
            self.methods(&category.method_ids);
        }
        self.text(", vis=true, search=true");
        self.ratios(category.summary.inclusive, category.summary.exclusive, ", ");
        if layout == Slog2Layout::V206 {
            self.text(", count=");
            self.number(category.summary.count);
        }
        self.text(" ]");
    }

    /// A name; an empty one is Java's null.
    fn name(&mut self, name: &Text) {
        if name.is_empty() {
            self.text("null");
        } else {
            self.decoded(&name.0);
        }
    }

    fn ratios(&mut self, inclusive: f32, exclusive: f32, separator: &str) {
        self.text(separator);
        self.text("ratios=");
        push_float(&mut self.out, inclusive);
        self.text(",");
        push_float(&mut self.out, exclusive);
    }

    /// The tree directory.
    pub(super) fn directory(&mut self, reader: &Slog2Reader<'_>) {
        self.text("\t SLOG-2 Tree Directory\n");
        for entry in reader.directory() {
            self.node_id(entry.id);
            self.text(" -> DirVal[ ");
            self.time_bbox(entry.bounds);
            self.text(", ");
            self.file_block_ptr(entry.ptr);
            self.text(" ]\n");
        }
    }

    /// The views, each with a blank line behind it.
    pub(super) fn line_id_maps(&mut self, reader: &Slog2Reader<'_>) {
        self.text("\t LineIDMapList: \n");
        for (map, nth) in reader.line_id_maps().iter().zip(1i32..) {
            self.text("LineIDMap ");
            self.number(nth);
            self.text(": \n");
            self.line_id_map(map);
            self.text("\n");
        }
    }

    fn line_id_map(&mut self, map: &LineIdMap) {
        self.text("Title: ");
        self.name(&map.title);
        self.text("\nColumn Labels: LineID -> ");
        for label in &map.column_labels {
            self.name(label);
            self.text(" ");
        }
        self.text("\n");
        for (row, nth) in map.rows().zip(1i32..) {
            self.number(nth);
            self.text(", ");
            self.number(row[0]);
            self.text(":  ");
            for &cell in &row[1..] {
                self.number(cell);
                self.text(" ");
            }
            self.text("\n");
        }
        if !map.method_ids.is_empty() {
            self.methods(&map.method_ids);
            self.text("\n");
        }
    }

    /// A drawable, without the end of the line.
    pub(super) fn drawable(&mut self, drawable: &NodeDrawable<'_>) {
        match drawable {
            NodeDrawable::Primitive(primitive) => self.sized_primitive(primitive),
            NodeDrawable::Composite(composite) => {
                self.text("Composite[ ");
                self.info_box(composite.bounds, composite.category, composite.info);
                self.text(" ");
                for primitive in &composite.primitives {
                    self.sized_primitive(primitive);
                    self.text(" ");
                }
                self.text("]");
            }
        }
    }

    fn sized_primitive(&mut self, primitive: &Primitive<'_>) {
        self.primitive(primitive, primitive.bounds);
        self.text(" bsize=");
        self.number(primitive.byte_size());
    }

    /// The methods of a view or a category, in brackets.
    fn methods(&mut self, methods: &[i32]) {
        self.text("methods=< ");
        for &method in methods {
            self.text(match method {
                1 => "CONNECT_COMPOSITE_STATE ",
                _ => "Unknown Method ",
            });
        }
        self.text(">");
    }

    /// A shadow and its weights, with the ends of their lines.
    pub(super) fn shadow(&mut self, shadow: &NodeShadow<'_>, layout: Slog2Layout) {
        self.primitive(&shadow.primitive, shadow.bounds);
        self.text(" bsize=");
        self.number(shadow.byte_size());
        self.text(" Nrobjs=");
        self.number(shadow.count);
        for weight in shadow.weights() {
            self.text("\n(type=");
            self.number(weight.category);
            self.text(":");
            match self.category_text(weight.category) {
                Some(at) => {
                    let name = self.categories[at].1.name.clone();
                    self.name(&name);
                }
                None => self.text("null"),
            }
            self.ratios(weight.ratios.inclusive, weight.ratios.exclusive, "");
            if layout == Slog2Layout::V206 {
                self.text(", count=");
                self.number(weight.ratios.count);
            }
            self.text(")");
        }
        self.text("\n");
    }

    fn primitive(&mut self, primitive: &Primitive<'_>, bounds: TimeBBox) {
        self.text("Primitive[ ");
        self.info_box(bounds, primitive.category, primitive.info);
        for Vertex { time, line } in primitive.vertices() {
            self.text(" (");
            push_float(&mut self.out, time as f32);
            self.text(", ");
            self.number(line);
            self.text(")");
        }
        self.text(" ]");
    }

    fn category_text(&self, index: i32) -> Option<usize> {
        let behind = self
            .categories
            .partition_point(|&(other, _)| other <= index);
        let at = behind.checked_sub(1)?;
        (self.categories[at].0 == index).then_some(at)
    }

    fn info_box(&mut self, bounds: TimeBBox, category: i32, info: &[u8]) {
        self.text("infobox[ ");
        self.time_bbox(bounds);
        self.text(" Category=");
        let Some(at) = self.category_text(category) else {
            // A file that is whole has every category; without it the info cannot be decoded.
            self.text("null: ]");
            return;
        };
        let categories = Rc::clone(&self.categories);
        let text = &categories[at].1;
        self.out.extend_from_slice(&text.full);
        self.text(": ");
        self.info(&text.keys, &text.types, info);
        self.text("]");
    }

    /// Keys and values by turns: key 0, value 0, key 1, value 1, …
    fn info(&mut self, keys: &[String], types: &[u8], info: &[u8]) {
        if types.is_empty() {
            if info.is_empty() {
                for key in keys {
                    self.text(key);
                }
            } else {
                self.text(" **** Can't decode user byte[] with Missing format chars! **** ");
            }
            return;
        }
        let mut rest = info;
        for nth in 0..keys.len().max(types.len()) {
            if let Some(key) = keys.get(nth) {
                self.text(key);
            }
            match types.get(nth) {
                // The original fails at x and X without data.
                Some(_) if info.is_empty() => self.text("null"),
                Some(&kind) => self.value(kind, &mut rest),
                None => {}
            }
        }
        if info.is_empty() {
            self.text(" **** Missing user byte[] but Non-empty format chars! **** ");
        }
    }

    /// A value of this type (`spec/clog2.md` section 8); nothing where the data are too short or the type is unknown.
    fn value(&mut self, kind: u8, rest: &mut &[u8]) {
        match kind {
            b's' => {
                if let Some(length) = take(rest) {
                    let length = usize::try_from(i16::from_be_bytes(length)).unwrap_or(0);
                    let (text, behind) = rest.split_at(length.min(rest.len()));
                    *rest = behind;
                    self.decoded(text);
                }
            }
            b'h' => {
                if let Some(bytes) = take(rest) {
                    self.number(i16::from_be_bytes(bytes));
                }
            }
            b'd' => {
                if let Some(bytes) = take(rest) {
                    self.number(i32::from_be_bytes(bytes));
                }
            }
            b'l' => {
                if let Some(bytes) = take(rest) {
                    self.number(i64::from_be_bytes(bytes));
                }
            }
            b'x' => {
                if let Some(bytes) = take(rest) {
                    self.text(&format!("{:x}", u32::from_be_bytes(bytes)));
                }
            }
            b'X' => {
                if let Some(bytes) = take(rest) {
                    self.text(&format!("{:x}", u64::from_be_bytes(bytes)));
                }
            }
            b'e' => {
                if let Some(bytes) = take(rest) {
                    push_float(&mut self.out, f32::from_be_bytes(bytes));
                }
            }
            b'E' => {
                if let Some(bytes) = take(rest) {
                    push_double(&mut self.out, f64::from_be_bytes(bytes));
                }
            }
            _ => {}
        }
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*bytes)
}
