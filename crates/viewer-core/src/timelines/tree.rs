//! Trees of labels: each line map of a trace names its lines by numbers in columns, and the columns are the levels of a tree.
//!
//! Leaves become timelines. Lines with the same numbers are one leaf, since they are about the same thing.

use io_attribution::{Actor, Lane};
use std::collections::HashMap;
use trace_formats::slog2::LineIdMap;
use trace_model::{CommNames, Line, lane_of};

use crate::base::text::visible;
use crate::trace::OpenTrace;

/// Levels of a tree; no trace has more columns than five.
const MAX_LEVELS: usize = 16;

/// A node of a tree of labels. Nodes stand in a list, each before what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelNode {
    /// Label of the node, without those above.
    pub label: String,
    /// 0 for those at the top.
    pub depth: u16,
    /// Position of the one above.
    pub parent: Option<u32>,
    /// Position behind the last one below it.
    pub end: u32,
    /// The leaves in it, from the first to before the last.
    pub leaves: [u32; 2],
    /// Number among the inner nodes; `None` for leaves.
    pub inner: Option<u32>,
    /// Whether all in it are lanes of one server or device, which say little one by one.
    pub is_server: bool,
}

/// The tree of a line map.
#[derive(Clone, Debug, Default)]
pub struct LabelTree {
    /// Title of the map.
    pub name: String,
    /// Labels of its columns.
    pub columns: Vec<String>,
    /// The nodes.
    pub nodes: Vec<LabelNode>,
    /// Position of each leaf among the nodes.
    pub leaves: Vec<u32>,
    /// Position of each inner node among the nodes.
    pub inner: Vec<u32>,
    /// By leaf the numbers of its lines.
    pub lines: Vec<Vec<u32>>,
    /// By number of the line its leaf.
    pub leaf_of: Vec<u32>,
}

/// A label and what it is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LabelPart {
    order: (u8, i64, u32),
    label: String,
    /// Whether nothing is lost without it: the first thread or lane.
    is_plain: bool,
}

impl LabelTree {
    /// The trees of all line maps of a trace, in which communicators have these names; of one without line maps a single one, of its lines.
    pub fn all(trace: &OpenTrace<'_>, comms: &CommNames) -> Vec<LabelTree> {
        let maps = trace.reader().line_id_maps();
        let identity = LineIdMap::new("Lines", &["LineID"]);
        let maps = match maps {
            [] => std::slice::from_ref(&identity),
            maps => maps,
        };
        maps.iter()
            .map(|map| LabelTree::new(trace, comms, map))
            .collect()
    }

    fn new(trace: &OpenTrace<'_>, comms: &CommNames, map: &LineIdMap) -> LabelTree {
        let labels = map.column_labels.iter().take(MAX_LEVELS);
        let columns: Vec<String> = labels.map(|l| visible(&l.to_str())).collect();
        let title = map.title.to_str();
        let names = NamesInMap {
            listed: numbered_names(&title),
            comms,
        };
        let mut rows: HashMap<i32, &[i32]> = HashMap::new();
        for row in map.rows() {
            rows.entry(row[0]).or_insert(row);
        }
        let mut paths: Vec<(Vec<LabelPart>, u32)> = (0u32..)
            .zip(trace.lines())
            .map(|(number, line)| {
                let path = match rows.get(&line.line.id) {
                    Some(row) if row.len() > 1 => {
                        let parts = columns.iter().zip(&row[1..]);
                        let parts = parts.map(|(column, &n)| part(column, n, &line.line, &names));
                        parts.collect()
                    }
                    _ => vec![unmapped(&line.line)],
                };
                (path, number)
            })
            .collect();
        paths.sort();
        let mut tree = LabelTree {
            name: visible(&title),
            columns,
            ..LabelTree::default()
        };
        tree.add(&paths, 0, None, String::new());
        tree.mark_servers(trace);
        tree.leaf_of = vec![0; trace.lines().len()];
        for (leaf, lines) in (0u32..).zip(&tree.lines) {
            lines
                .iter()
                .for_each(|&line| tree.leaf_of[line as usize] = leaf);
        }
        tree
    }

    fn mark_servers(&mut self, trace: &OpenTrace<'_>) {
        for node in &mut self.nodes {
            let leaves = node.leaves[0] as usize..node.leaves[1] as usize;
            let mut actors = self.lines[leaves]
                .iter()
                .flatten()
                .map(|&line| lane_of(&trace.lines()[line as usize].line).actor);
            let first = actors.next();
            let is_below = first.is_some_and(|actor| !matches!(actor, Actor::Rank(_)));
            node.is_server = is_below && actors.all(|actor| Some(actor) == first);
        }
    }

    /// Adds the nodes for these paths, of which the first `level` parts are the same.
    fn add(
        &mut self,
        paths: &[(Vec<LabelPart>, u32)],
        level: usize,
        parent: Option<u32>,
        above: String,
    ) {
        for same in paths.chunk_by(|a, b| a.0.get(level) == b.0.get(level)) {
            let Some(part) = same[0].0.get(level) else {
                continue;
            };
            let is_said = part.is_plain && !above.is_empty();
            let label = match (is_said, above.is_empty()) {
                (true, _) => above.clone(),
                (false, true) => part.label.clone(),
                (false, false) => format!("{above} {}", part.label),
            };
            let next = level + 1;
            let is_leaf = same.iter().all(|path| path.0.len() <= next);
            // A node with a single one below it is one with that one.
            let is_chain = same
                .iter()
                .all(|path| path.0.get(next) == same[0].0.get(next));
            if !is_leaf && is_chain {
                self.add(same, next, parent, label);
                continue;
            }
            let at = self.nodes.len() as u32;
            let leaf = self.leaves.len() as u32;
            self.nodes.push(LabelNode {
                label,
                depth: parent.map_or(0, |p| self.nodes[p as usize].depth + 1),
                parent,
                end: at + 1,
                leaves: [leaf, leaf + 1],
                inner: None,
                is_server: false,
            });
            if is_leaf {
                self.leaves.push(at);
                self.lines.push(same.iter().map(|path| path.1).collect());
                continue;
            }
            self.nodes[at as usize].inner = Some(self.inner.len() as u32);
            self.inner.push(at);
            // Paths that end here are sorted first.
            let ending = same.partition_point(|path| path.0.len() <= next);
            let (ending, below) = same.split_at(ending);
            self.add(below, next, Some(at), String::new());
            let end = [self.nodes.len() as u32, self.leaves.len() as u32];
            if let Some(lines) = self.lines.get_mut(leaf as usize) {
                lines.extend(ending.iter().map(|path| path.1));
            }
            let node = &mut self.nodes[at as usize];
            node.end = end[0];
            node.leaves[1] = end[1];
        }
    }

    /// Labels from the top down to above a node.
    pub fn path(&self, node: u32) -> Vec<String> {
        let mut path = Vec::new();
        let mut above = self.nodes[node as usize].parent;
        while let Some(at) = above {
            path.push(self.nodes[at as usize].label.clone());
            above = self.nodes[at as usize].parent;
        }
        path.reverse();
        path
    }

    /// The label of a node with those above it.
    pub fn full_label(&self, node: u32) -> String {
        let mut path = self.path(node);
        path.push(self.nodes[node as usize].label.clone());
        path.join(" ")
    }
}

/// The names in a title such as `Node View (0 alpha, 1 beta, ...)`.
fn numbered_names(title: &str) -> Vec<String> {
    let list = title
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    let names = list.into_iter().flat_map(|list| list.split(", "));
    let names = names.enumerate().map_while(|(nth, name)| {
        let name = name.strip_prefix(&format!("{nth} "))?;
        Some(visible(name))
    });
    names.collect()
}

/// A line that a map does not have.
fn unmapped(line: &Line) -> LabelPart {
    let label = line.name.as_ref().map(|name| visible(name));
    LabelPart {
        order: (u8::MAX, i64::from(line.id), 0),
        label: label.unwrap_or_else(|| format!("line {}", line.id)),
        is_plain: false,
    }
}

/// Names for numbers of a map.
struct NamesInMap<'n> {
    /// Names that the title of the map lists.
    listed: Vec<String>,
    comms: &'n CommNames,
}

fn part(column: &str, number: i32, line: &Line, names: &NamesInMap<'_>) -> LabelPart {
    let order = (0, i64::from(number), 0);
    let plain = |what: &str| LabelPart {
        order,
        label: format!("{what} {number}"),
        is_plain: false,
    };
    if number < 0 {
        return LabelPart {
            order: (u8::MAX - 1, i64::from(number), 0),
            label: format!("no {}", word(column)),
            is_plain: false,
        };
    }
    let lane = lane_of(line);
    match column {
        "world_rank" => actor(lane),
        "thread" | "layer_thread" => thread(lane, number, column == "thread"),
        "lane" => LabelPart {
            is_plain: number == 0,
            ..plain("lane")
        },
        "layer" => LabelPart {
            label: match number {
                0 => "ranks".to_owned(),
                1 => "servers".to_owned(),
                2 => "data servers".to_owned(),
                3 => "devices".to_owned(),
                _ => format!("layer {number}"),
            },
            ..plain("")
        },
        "number" => actor(lane),
        "node" | "program" => {
            let name = usize::try_from(number)
                .ok()
                .and_then(|nth| names.listed.get(nth));
            LabelPart {
                label: name.map_or_else(|| format!("{column} {number}"), Clone::clone),
                ..plain("")
            }
        }
        "commID" if let Some(name) = names.comms.get(number).filter(|_| number > 0) => LabelPart {
            label: format!("{} (communicator {number})", visible(name)),
            ..plain("")
        },
        other => plain(word(other)),
    }
}

/// Word for the subject of a column of the usual maps.
fn word(column: &str) -> &str {
    match column {
        "commID" => "communicator",
        "comm_rank" => "rank",
        "LineID" => "line",
        other => other,
    }
}

fn actor(lane: Lane) -> LabelPart {
    let (layer, what, number) = match lane.actor {
        Actor::Rank(n) => (0, "rank", n),
        Actor::FrontEnd(n) => (1, "server", n),
        Actor::DataServer(n) => (2, "data server", n),
        Actor::Device(n) => (3, "device", n),
    };
    LabelPart {
        order: (layer, i64::from(number), 0),
        label: format!("{what} {number}"),
        is_plain: false,
    }
}

/// Lanes are numbered as threads in views that have no column for them.
fn thread(lane: Lane, number: i32, has_lanes: bool) -> LabelPart {
    if !has_lanes || lane.lane == 0 {
        return LabelPart {
            order: (0, i64::from(number), 0),
            label: format!("thread {number}"),
            is_plain: number == 0,
        };
    }
    let what = match lane.actor {
        Actor::Rank(_) => "AIO",
        _ => "lane",
    };
    let of_thread = match lane.thread {
        0 => String::new(),
        thread => format!("thread {thread} "),
    };
    LabelPart {
        order: (0, i64::from(lane.thread), lane.lane),
        label: format!("{of_thread}{what} {}", lane.lane),
        is_plain: false,
    }
}
