//! SLOG2: pointers, the directory, every node with its drawables and previews, the summaries, the views.

use super::findings::CheckFindings;
use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::trace_files::input::OpenedInput;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use trace_formats::slog2::{
    Annotated, Category, DirEntry, FileBlockPtr, HEADER_SIZE, NodeDrawable, NodeShadow, Primitive,
    Slog2Layout, Slog2Node, Slog2Reader, TreeNodeId, Vertex, preview_index,
};
use trace_model::{TimeBBox, Topology};

/// Largest deviation of a recomputed ratio from that of the file, which is a sum of floats.
const MAX_RATIO_DEVIATION: f64 = 1e-3;

/// A file, and if it is an annotation file also what it makes together with its CLOG2 file.
pub fn check(path: &Path, bytes: &[u8], findings: &mut CheckFindings) {
    check_tree(bytes, findings);
    let reader = Slog2Reader::new(bytes);
    let companion = reader.and_then(|reader| Annotated::companion_of(&reader));
    let Ok(Some(companion)) = companion else {
        return;
    };
    let name = companion.name.to_str().into_owned();
    if !path.with_file_name(&name).exists() {
        let what =
            format!("{name}, which has the drawables, is not beside it: they are not checked");
        return findings.warning_at("companion", "annotations", what);
    }
    match OpenedInput::open(path) {
        Ok(whole) => check_tree(&whole, findings),
        Err(Failure::Data(message) | Failure::Call(message)) => findings.unreadable(message),
        Err(Failure::ClosedPipe | Failure::Limit(_)) => {}
    }
}

fn check_tree(bytes: &[u8], findings: &mut CheckFindings) {
    let reader = match Slog2Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return findings.unreadable(error),
    };
    parts(bytes, &reader, findings);
    let is_ordered = directory(&reader, findings);
    let is_annotation = match Annotated::companion_of(&reader) {
        Ok(companion) => companion.is_some(),
        Err(error) => {
            findings.unreadable(error);
            true
        }
    };
    let lines = views(&reader, findings);
    let mut categories: HashMap<i32, &Category> = HashMap::new();
    for category in reader.categories() {
        if categories.insert(category.index, category).is_some() {
            let what = format!("category {} is there twice", category.index);
            findings.error_at("category twice", "category map", what);
        }
    }
    let mut tree = CheckedTree {
        reader: &reader,
        categories,
        lines,
        counts: BTreeMap::new(),
        seconds: BTreeMap::new(),
        below: HashMap::new(),
        is_annotation,
        findings,
    };
    // From the leaves up, so that what is below a node is known when it comes.
    let mut done = 0;
    let progress = TaskProgress::bytes(
        "checking",
        reader.directory().node_bytes(),
        tree.findings.quiet,
    );
    for entry in reader.directory().iter().rev() {
        tree.node(entry);
        done += u64::from(entry.ptr.size.unsigned_abs());
        progress.at(done);
    }
    if is_ordered && !is_annotation {
        tree.summaries();
    }
}

fn node_name(id: TreeNodeId) -> String {
    format!("node ({}, {})", id.depth, id.xpos)
}

fn end(ptr: FileBlockPtr) -> i64 {
    ptr.offset.saturating_add(ptr.size.into())
}

/// The parts of the file: where they are, and that readers' buffers hold them.
fn parts(bytes: &[u8], reader: &Slog2Reader<'_>, findings: &mut CheckFindings) {
    let header = reader.header();
    if header.children_per_node < 2 {
        let found = header.children_per_node;
        findings.error(
            "header",
            12,
            format!("{found} children per node, expected 2 or more"),
        );
    }
    if header.leaf_byte_size <= 0 {
        let found = header.leaf_byte_size;
        findings.error(
            "header",
            14,
            format!("leaf byte size {found}, expected more than 0"),
        );
    }
    let Some(root) = reader.directory().get(0) else {
        return findings.error_at(
            "tree directory",
            "tree directory",
            "no nodes, expected a root",
        );
    };
    if root.ptr != header.tree_root {
        let what = "the root of the header is not the first node of the directory";
        findings.error("header", 60, what);
    }
    if root.id.depth != header.max_depth {
        let (found, depth) = (header.max_depth, root.id.depth);
        findings.error(
            "header",
            18,
            format!("depth {found}, but that of the root is {depth}"),
        );
    }
    let mut all: Vec<(FileBlockPtr, String)> = [
        (header.categories, "category map"),
        (header.line_id_maps, "line ID maps"),
        (header.tree_dir, "tree directory"),
        (header.method_defs, "method definitions"),
        (header.annotations, "annotations"),
        (header.postamble, "postamble"),
    ]
    .map(|(ptr, name)| (ptr, name.to_owned()))
    .into();
    let nodes = reader.directory().iter();
    all.extend(nodes.map(|entry| (entry.ptr, node_name(entry.id))));
    all.retain(|(ptr, _)| !ptr.is_null());
    for (ptr, name) in &all {
        let size = bytes.len() as i64;
        if ptr.offset < HEADER_SIZE as i64 || ptr.size < 0 || end(*ptr) > size {
            let (at, length) = (ptr.offset, ptr.size);
            let what =
                format!("{name}: {length} bytes at {at}, expected within {HEADER_SIZE} to {size}");
            findings.error_at("place of a part", name, what);
        }
        if ptr.size > header.max_buffer_size && name != "annotations" {
            let (size, most) = (ptr.size, header.max_buffer_size);
            let what = format!("{size} bytes, but the header says that no part is above {most}");
            findings.error_at("largest part", name, what);
        }
    }
    all.sort_by_key(|(ptr, _)| (ptr.offset, ptr.size));
    for pair in all.windows(2) {
        let [(before, first), (ptr, name)] = pair else {
            continue;
        };
        if end(*before) > ptr.offset && ptr.size > 0 {
            let what = format!(
                "begins at byte {}, within {first}, which ends at {}",
                ptr.offset,
                end(*before)
            );
            findings.error_at("parts overlap", name, what);
        }
    }
    let last = all.iter().map(|(ptr, _)| end(*ptr)).max().unwrap_or(0);
    if last < bytes.len() as i64 {
        let left = bytes.len() as i64 - last;
        let what = format!("{left} bytes behind the last part, as of an older file of that name");
        findings.warning("bytes left over", last.unsigned_abs(), what);
    }
}

/// The order of the directory, and what bounds and places of nodes say about each other. False if levels cannot be told.
fn directory(reader: &Slog2Reader<'_>, findings: &mut CheckFindings) -> bool {
    let directory = reader.directory();
    let children = i32::from(reader.header().children_per_node.max(2));
    let mut is_ordered = true;
    let mut before: Option<DirEntry> = None;
    for entry in directory {
        let depth = entry.id.depth;
        let name = node_name(entry.id);
        let expected = match before {
            None => TreeNodeId { depth, xpos: 0 },
            Some(left) if left.id.depth == depth => TreeNodeId {
                depth,
                xpos: left.id.xpos.saturating_add(1),
            },
            Some(above) => TreeNodeId {
                depth: above.id.depth.saturating_sub(1),
                xpos: 0,
            },
        };
        if entry.id != expected {
            let expected = node_name(expected);
            findings.error_at(
                "order of the directory",
                &name,
                format!("expected {expected} here"),
            );
            is_ordered = false;
        }
        if entry.bounds.earliest > entry.bounds.latest {
            let TimeBBox { earliest, latest } = entry.bounds;
            findings.error_at("bounds", &name, format!("from {earliest} to {latest}"));
        }
        if let Some(left) = before.filter(|left| left.id.depth == depth)
            && left.bounds.latest != entry.bounds.earliest
        {
            let (found, expected) = (entry.bounds.earliest, left.bounds.latest);
            let what =
                format!("begins at {found}, expected {expected}, the end of its left neighbour");
            findings.error_at("bounds of neighbours", &name, what);
        }
        before = Some(entry);
    }
    if let Some(last) = before
        && last.id.depth != 0
    {
        let name = node_name(last.id);
        findings.error_at(
            "order of the directory",
            &name,
            "there are no leaves, of depth 0",
        );
        is_ordered = false;
    }
    if !is_ordered {
        return false;
    }
    for entry in directory {
        let Some(parent) = parent(entry.id, children) else {
            continue;
        };
        if entry.id.depth >= reader.header().max_depth {
            continue;
        }
        let name = node_name(entry.id);
        match directory.find(parent) {
            None => {
                let parent = node_name(parent);
                findings.error_at("parent", &name, format!("its parent {parent} is missing"));
            }
            Some(parent) if !parent.bounds.covers(entry.bounds) => {
                let parent = node_name(parent.id);
                findings.error_at(
                    "parent",
                    &name,
                    format!("its parent {parent} does not cover its time"),
                );
            }
            Some(_) => {}
        }
    }
    true
}

fn parent(id: TreeNodeId, children: i32) -> Option<TreeNodeId> {
    Some(TreeNodeId {
        depth: id.depth.checked_add(1)?,
        xpos: id.xpos / children,
    })
}

/// The lines that each view names.
fn views(reader: &Slog2Reader<'_>, findings: &mut CheckFindings) -> Vec<(String, HashSet<i32>)> {
    let mut found = Vec::new();
    for map in reader.line_id_maps() {
        let title = format!("view {:?}", map.title);
        let mut lines = HashSet::new();
        let mut before = None;
        for row in map.rows() {
            let line = row[0];
            if before.is_some_and(|before| line <= before) {
                findings.error_at(
                    "order of a view",
                    &title,
                    format!("line {line} is out of order or there twice"),
                );
            }
            before = Some(line);
            lines.insert(line);
        }
        found.push((title, lines));
    }
    if found.is_empty() {
        findings.warning_at(
            "views",
            "line ID maps",
            "there are no views, viewers want one",
        );
    }
    found
}

struct CheckedTree<'r, 'a, 'f> {
    reader: &'r Slog2Reader<'a>,
    categories: HashMap<i32, &'r Category>,
    lines: Vec<(String, HashSet<i32>)>,
    /// Drawables by category, and their durations.
    counts: BTreeMap<i32, i64>,
    seconds: BTreeMap<i32, f64>,
    /// Drawables in each subtree.
    below: HashMap<TreeNodeId, i64>,
    is_annotation: bool,
    findings: &'f mut CheckFindings,
}

impl CheckedTree<'_, '_, '_> {
    fn node(&mut self, entry: DirEntry) {
        let node = match self.reader.node(entry.ptr) {
            Ok(node) => node,
            Err(error) => return self.findings.unreadable(error),
        };
        let name = node_name(entry.id);
        if (node.stub.id, node.stub.ptr) != (entry.id, entry.ptr) {
            let found = node_name(node.stub.id);
            let what = format!(
                "says that it is {found}, {} bytes at {}",
                node.stub.ptr.size, node.stub.ptr.offset
            );
            self.findings.error_at("a node's own place", &name, what);
        }
        if node.stub.bounds != entry.bounds {
            let what = "its bounds are others than those in the directory";
            self.findings.error_at("a node's own bounds", &name, what);
        }
        for (drawables, is_nestable) in [(&node.nestless, false), (&node.nestable, true)] {
            let mut before: Option<&NodeDrawable<'_>> = None;
            for drawable in drawables {
                self.drawable(&name, &node, drawable, is_nestable);
                if before.is_some_and(|before| compare(before, drawable).is_gt()) {
                    let at = drawable.bounds().earliest;
                    let what = format!("the drawable that starts at {at} is out of order");
                    self.findings.error_at("order of drawables", &name, what);
                }
                before = Some(drawable);
            }
        }
        // Previews stand for what composites are made of.
        let parts = |drawable: &NodeDrawable<'_>| drawable.primitives().len() as i64;
        let mut below: i64 = node.nestless.iter().chain(&node.nestable).map(parts).sum();
        let children = i32::from(self.reader.header().children_per_node.max(2));
        let first = entry.id.xpos.saturating_mul(children);
        let directory = self.reader.directory();
        let expected = match entry.id.depth.checked_sub(1) {
            Some(depth @ 0..) => (first..first.saturating_add(children))
                .map_while(|xpos| directory.find(TreeNodeId { depth, xpos }))
                .collect(),
            _ => Vec::new(),
        };
        let shadowed: Vec<TreeNodeId> = node.shadows.iter().map(|buffer| buffer.stub.id).collect();
        let ids: Vec<TreeNodeId> = expected.iter().map(|child| child.id).collect();
        if shadowed != ids {
            let what = format!(
                "has previews of {} children, expected {}",
                shadowed.len(),
                ids.len()
            );
            self.findings.error_at("children", &name, what);
        }
        for (buffer, child) in node.shadows.iter().zip(&expected) {
            let child_name = node_name(child.id);
            let place = format!("{name}, preview of {child_name}");
            if buffer.stub.ptr != child.ptr {
                let what = format!(
                    "points to byte {}, but the node is at {}",
                    buffer.stub.ptr.offset, child.ptr.offset
                );
                self.findings.error_at("place of a child", &place, what);
            }
            let count = buffer.real_count();
            let real = self.below.get(&child.id).copied().unwrap_or(0);
            if count != real && !self.is_annotation {
                let what = format!("stands for {count} drawables, but there are {real} below");
                self.findings.error_at("count of a preview", &place, what);
            }
            below = below.saturating_add(real);
            for (shadows, is_nestable) in [(&buffer.nestless, false), (&buffer.nestable, true)] {
                for shadow in shadows {
                    self.shadow(&place, shadow, is_nestable);
                }
            }
        }
        self.below.insert(entry.id, below);
    }

    fn drawable(
        &mut self,
        place: &str,
        node: &Slog2Node<'_>,
        drawable: &NodeDrawable<'_>,
        is_nestable: bool,
    ) {
        let bounds = drawable.bounds();
        let index = drawable.category();
        let primitives = drawable.primitives();
        // Summaries count what composites are made of, and not composites.
        for primitive in primitives {
            let index = primitive.category;
            *self.counts.entry(index).or_default() += 1;
            *self.seconds.entry(index).or_default() += primitive.bounds.duration();
        }
        // Bounds pass over times that are no numbers.
        let mut vertices = primitives.iter().flat_map(Primitive::vertices);
        if let Some(Vertex { time, line }) = vertices.find(|vertex| !vertex.time.is_finite()) {
            let what = format!("a drawable of category {index} on line {line} at time {time}");
            return self.findings.error_at("time", place, what);
        }
        if bounds.earliest < node.stub.bounds.earliest {
            let (at, expected) = (bounds.earliest, node.stub.bounds.earliest);
            let what = format!("a drawable starts at {at}, before the node's {expected}");
            self.findings
                .error_at("drawable outside its node", place, what);
        }
        if bounds.latest > node.stub.bounds.latest {
            let (at, expected) = (bounds.latest, node.stub.bounds.latest);
            let what = format!(
                "a drawable ends at {at}, behind the node's {expected}: backward times in the log"
            );
            self.findings
                .warning_at("drawable behind its node", place, what);
        }
        match drawable {
            NodeDrawable::Primitive(primitive) => self.primitive(place, primitive, is_nestable),
            NodeDrawable::Composite(composite) => {
                if !self.categories.contains_key(&index) {
                    let what = format!("category {index} is not in the category map");
                    self.findings.error_at("unknown category", place, what);
                }
                for primitive in &composite.primitives {
                    let state = primitive.vertices().len() == 2
                        && primitive.first().line == primitive.last().line;
                    self.primitive(place, primitive, state);
                }
            }
        }
    }

    fn primitive(&mut self, place: &str, primitive: &Primitive<'_>, is_nestable: bool) {
        let index = primitive.category;
        self.lines_known(place, primitive);
        let vertices = primitive.vertices().len();
        let Some(category) = self.categories.get(&index) else {
            let what = format!("category {index} is not in the category map");
            return self.findings.error_at("unknown category", place, what);
        };
        let expected = match category.topology {
            Topology::Event => 1,
            Topology::State | Topology::Arrow => 2,
        };
        let is_state = category.topology == Topology::State;
        let kind = category.topology.name().to_lowercase();
        if vertices != expected {
            let what = format!(
                "{kind} {:?} with {vertices} vertices, expected {expected}",
                category.name
            );
            self.findings.error_at("vertices", place, what);
        } else if is_state && primitive.first().line != primitive.last().line {
            let (first, last) = (primitive.first().line, primitive.last().line);
            let what = format!(
                "state {:?} from line {first} to line {last}, expected one line",
                category.name
            );
            self.findings.error_at("vertices", place, what);
        } else if is_state != is_nestable {
            let list = if is_nestable { "nestable" } else { "nestless" };
            let what = format!(
                "{kind} {:?} is in the list of {list} drawables",
                category.name
            );
            self.findings.error_at("kind of drawable", place, what);
        } else if is_state && primitive.first().time > primitive.last().time {
            let what = format!(
                "state {:?} ends before it starts, at {}",
                category.name, primitive.bounds.earliest
            );
            self.findings.warning_at("backward state", place, what);
        } else if category.topology == Topology::Arrow
            && primitive.first().time > primitive.last().time
        {
            let what = format!(
                "arrow {:?} ends before it starts, at {}",
                category.name, primitive.bounds.earliest
            );
            self.findings.warning_at("backward arrow", place, what);
        }
        let needed = info_size(&category.info_types, primitive.info);
        let size = primitive.info.len();
        if size > 0 && needed.is_none() {
            let what = format!(
                "the info of {kind} {:?} has {size} bytes, too few for its format",
                category.name
            );
            self.findings.warning_at("info", place, what);
        }
    }

    fn lines_known(&mut self, place: &str, primitive: &Primitive<'_>) {
        for Vertex { line, .. } in primitive.vertices() {
            for (title, lines) in &self.lines {
                if !lines.contains(&line) {
                    let what = format!("line {line} is not in {title}");
                    self.findings
                        .error_at("line without a row in a view", place, what);
                }
            }
        }
    }

    fn shadow(&mut self, place: &str, shadow: &NodeShadow<'_>, is_nestable: bool) {
        let primitive = &shadow.primitive;
        self.lines_known(place, primitive);
        let vertices = primitive.vertices().len();
        let topology = match (vertices, is_nestable) {
            (1, false) => Topology::Event,
            (2, true) => Topology::State,
            (2, false) => Topology::Arrow,
            _ => {
                let what = format!("a preview with {vertices} vertices");
                return self.findings.error_at("vertices of a preview", place, what);
            }
        };
        if primitive.category != preview_index(topology) {
            let (found, expected) = (primitive.category, preview_index(topology));
            let what = format!("a preview of category {found}, expected {expected}");
            self.findings.error_at("category of a preview", place, what);
        }
        let mut sum = 0i64;
        let mut before = f32::NEG_INFINITY;
        for weight in shadow.weights() {
            sum = sum.saturating_add(weight.ratios.count);
            let known = self.categories.get(&weight.category);
            if known.is_none_or(|category| category.topology != topology) {
                let what = format!(
                    "a weight of category {}, of which there are no {}s",
                    weight.category,
                    topology.name().to_lowercase()
                );
                self.findings.error_at("weight of a preview", place, what);
            }
            if weight.ratios.inclusive < before {
                let what = "weights are not in order of their inclusive ratios";
                self.findings.error_at("order of weights", place, what);
            }
            before = weight.ratios.inclusive;
        }
        if self.reader.layout() == Slog2Layout::V206 && sum != shadow.count {
            let what = format!(
                "a preview of {} drawables with weights for {sum}",
                shadow.count
            );
            self.findings.error_at("weights of a preview", place, what);
        }
    }

    /// The counts and ratios of the category map. slog2filter adds them to those of its input, so that they are all twice
    /// as large or more.
    fn summaries(&mut self) {
        if self.reader.layout() != Slog2Layout::V206 {
            return;
        }
        let real = self.reader.categories().iter().filter(|c| c.index >= 0);
        let real: Vec<&Category> = real.collect();
        let count =
            |counts: &BTreeMap<i32, i64>, c: &Category| counts.get(&c.index).copied().unwrap_or(0);
        let is_filtered = real
            .iter()
            .all(|c| c.summary.count >= 2 * count(&self.counts, c))
            && real.iter().any(|c| c.summary.count > 0);
        if is_filtered {
            let what =
                "counts and ratios are twice what the drawables give, as slog2filter leaves them";
            return self
                .findings
                .warning_at("summaries of slog2filter", "category map", what);
        }
        let root = self.reader.directory().get(0);
        let span = root.map_or(0.0, |root| root.bounds.duration());
        for category in real {
            let place = format!("category {} {:?}", category.index, category.name);
            let found = category.summary;
            let expected = count(&self.counts, category);
            if found.count != expected {
                let what = format!("count {}, but there are {expected} drawables", found.count);
                self.findings.error_at("count of a category", &place, what);
            }
            let seconds = self.seconds.get(&category.index).copied().unwrap_or(0.0);
            let (expected, ratio) = (seconds / span, f64::from(found.inclusive));
            let is_told =
                category.topology != Topology::Event && expected.is_finite() && !ratio.is_nan();
            if is_told
                && (ratio - expected).abs()
                    > MAX_RATIO_DEVIATION * expected.abs().max(MAX_RATIO_DEVIATION)
            {
                let what = format!("inclusive ratio {ratio}, but the drawables give {expected}");
                self.findings
                    .warning_at("ratio of a category", &place, what);
            }
        }
    }
}

/// By start, then the longer one first, category, lines (`spec/slog2.md` section 8.6).
fn compare(a: &NodeDrawable<'_>, b: &NodeDrawable<'_>) -> Ordering {
    let (x, y) = (a.bounds(), b.bounds());
    let times = x
        .earliest
        .total_cmp(&y.earliest)
        .then(y.latest.total_cmp(&x.latest));
    let key = |d: &NodeDrawable<'_>| (d.category(), d.first().line, d.last().line);
    times.then_with(|| key(a).cmp(&key(b)))
}

/// Bytes that values of these types take in an info; `None` if it is too short.
fn info_size(types: &[u8], info: &[u8]) -> Option<usize> {
    let mut at = 0usize;
    for kind in types {
        at += match kind {
            b'h' => 2,
            b'd' | b'x' | b'e' => 4,
            b'l' | b'X' | b'E' => 8,
            b's' => {
                let length = info.get(at..)?.first_chunk()?;
                2 + usize::try_from(i16::from_be_bytes(*length)).unwrap_or(0)
            }
            _ => 0,
        };
    }
    (at <= info.len()).then_some(at)
}
