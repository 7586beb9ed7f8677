//! The rows of the page: which lines are in each, under which label, in which order.
//!
//! What the user asked for is a text, the *spec*, items joined by `;`, which stands in the page's URL:
//!
//! | item | |
//! |---|---|
//! | `map:N` | the line map whose labels are the rows; 0 is the first |
//! | `only:FILTER` | these leaves, as [`Selection`] has it: `0-63,!5,server*` |
//! | `hide:KEYS` | not these |
//! | `pin:KEYS` | these on top, in this order |
//! | `fold:LEVEL` | inner nodes of this level are one row each; 0 is the top |
//! | `shut:KEYS`, `open:KEYS` | these inner nodes, whatever the level says |
//! | `sort:WHAT` | by `label`, `busy`, `end`, `first` or `kind:N`, with `-` before it the largest first |
//! | `order:KEYS` | these first, in this order |
//! | `block:N` | as many neighbours are one row |
//! | `cluster:K` | rows that behave alike are one of so many |
//!
//! Keys are numbers of leaves, `3,7-9`, and of inner nodes, `n12`. Rows that are sorted, ordered, blocks or clusters have no
//! headings. An open inner node is a row of its own, a heading, with nothing on it.

use std::fmt::Write;
use std::ops::Range;

use crate::refusal::Refusal;
use crate::rows::{Row as Named, Selection};
use crate::trace::Trace;
use crate::tree::Tree;

/// In place of the row of a line that is on none.
pub const NO_ROW: u32 = u32::MAX;

/// Leaves or an inner node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// From this leaf to this one.
    Leaves(u32, u32),
    /// An inner node by number.
    Inner(u32),
}

/// What rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The order of the tree.
    Label,
    /// Seconds in states.
    Busy,
    /// End of the last state.
    End,
    /// Start of the first state.
    First,
    /// Exclusive seconds in a kind.
    Kind(u32),
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Number of the line map.
    pub map: usize,
    /// Which leaves, as it was written.
    pub only: String,
    /// Not these.
    pub hide: Vec<Key>,
    /// On top.
    pub pin: Vec<Key>,
    /// Level whose inner nodes are closed.
    pub fold: Option<u16>,
    /// Inner nodes that are closed.
    pub shut: Vec<Key>,
    /// Inner nodes that are open.
    pub open: Vec<Key>,
    /// Order, and whether the largest come first.
    pub sort: Option<(By, bool)>,
    /// First in this order.
    pub order: Vec<Key>,
    /// Neighbours in a row; less than 2 for none.
    pub block: u32,
    /// Number of clusters; 0 for none.
    pub cluster: u32,
}

/// Clusters at most.
const MOST_CLUSTERS: u32 = 256;

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    /// The item that is none, and what was expected.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut spec = Spec::default();
        for item in text.split(';').filter(|item| !item.trim().is_empty()) {
            let (name, value) = item.split_once(':').unwrap_or((item, ""));
            let value = value.trim();
            let expected = |what: &str| {
                let item: String = item.chars().take(60).collect();
                Refusal::wrong(format!("rows={item}: expected {what}"))
            };
            let number = || value.parse::<u32>().map_err(|_| expected("a number"));
            match name.trim() {
                "map" => spec.map = number()? as usize,
                "only" => {
                    Selection::parse(value).map_err(|message| expected(&message))?;
                    spec.only = value.to_owned();
                }
                "hide" => spec.hide = keys(value)?,
                "pin" => spec.pin = keys(value)?,
                "fold" => spec.fold = Some(number()?.try_into().unwrap_or(u16::MAX)),
                "shut" => spec.shut = keys(value)?,
                "open" => spec.open = keys(value)?,
                "order" => spec.order = keys(value)?,
                "block" => spec.block = number()?,
                "cluster" => spec.cluster = number()?.min(MOST_CLUSTERS),
                "sort" => {
                    let (by, is_descending) = match value.strip_prefix('-') {
                        Some(by) => (by, true),
                        None => (value, false),
                    };
                    let by = match by.split_once(':') {
                        None if by == "label" => By::Label,
                        None if by == "busy" => By::Busy,
                        None if by == "end" => By::End,
                        None if by == "first" => By::First,
                        Some(("kind", kind)) if kind.parse::<u32>().is_ok() => {
                            By::Kind(kind.parse().unwrap_or_default())
                        }
                        _ => return Err(expected("label, busy, end, first or kind:N")),
                    };
                    spec.sort = Some((by, is_descending));
                }
                _ => {
                    return Err(expected(
                        "map, only, hide, pin, fold, shut, open, sort, order, block or cluster",
                    ));
                }
            }
        }
        Ok(spec)
    }

    /// Whether rows have no headings.
    fn is_flat(&self) -> bool {
        let is_sorted = self.sort.is_some_and(|sort| sort != (By::Label, false));
        is_sorted || !self.order.is_empty() || self.block > 1 || self.cluster > 0
    }

    /// What is sorted by or clustered needs to be measured over the whole trace.
    pub fn needs_measures(&self) -> bool {
        let is_measured = |sort: (By, bool)| sort.0 != By::Label;
        self.cluster > 0 || self.sort.is_some_and(is_measured)
    }
}

impl std::fmt::Display for Spec {
    /// The canonical text: what says the same is the same.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut items: Vec<String> = Vec::new();
        if self.map > 0 {
            items.push(format!("map:{}", self.map));
        }
        if !self.only.is_empty() {
            items.push(format!("only:{}", self.only));
        }
        let mut listed = |name: &str, keys: &[Key]| {
            if !keys.is_empty() {
                items.push(format!("{name}:{}", text_of(keys)));
            }
        };
        listed("hide", &self.hide);
        listed("pin", &self.pin);
        listed("shut", &self.shut);
        listed("open", &self.open);
        listed("order", &self.order);
        if let Some(level) = self.fold {
            items.push(format!("fold:{level}"));
        }
        if let Some((by, is_descending)) = self.sort.filter(|&sort| sort != (By::Label, false)) {
            let by = match by {
                By::Label => "label".to_owned(),
                By::Busy => "busy".to_owned(),
                By::End => "end".to_owned(),
                By::First => "first".to_owned(),
                By::Kind(kind) => format!("kind:{kind}"),
            };
            items.push(format!("sort:{}{by}", if is_descending { "-" } else { "" }));
        }
        if self.block > 1 {
            items.push(format!("block:{}", self.block));
        }
        if self.cluster > 0 {
            items.push(format!("cluster:{}", self.cluster));
        }
        f.write_str(&items.join(";"))
    }
}

fn keys(text: &str) -> Result<Vec<Key>, Refusal> {
    let mut keys = Vec::new();
    for part in text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let key = match part.strip_prefix('n') {
            Some(inner) => inner.parse().ok().map(Key::Inner),
            None => match (first.parse(), last.parse()) {
                (Ok(first), Ok(last)) if first <= last => Some(Key::Leaves(first, last)),
                _ => None,
            },
        };
        keys.push(key.ok_or_else(|| {
            let part: String = part.chars().take(40).collect();
            Refusal::wrong(format!(
                "rows: {part} is no key; expected such as 3,7-9 or n12"
            ))
        })?);
    }
    Ok(keys)
}

fn text_of(keys: &[Key]) -> String {
    let mut text = String::new();
    for key in keys {
        if !text.is_empty() {
            text.push(',');
        }
        let _ = match key {
            Key::Inner(inner) => write!(text, "n{inner}"),
            Key::Leaves(first, last) if first == last => write!(text, "{first}"),
            Key::Leaves(first, last) => write!(text, "{first}-{last}"),
        };
    }
    text
}

/// What is known of each line over the whole trace, by number.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// Seconds in states, nested ones once.
    pub busy: Vec<f64>,
    /// Start of the first state; infinite where there is none.
    pub first: Vec<f64>,
    /// End of the last state; minus infinity where there is none.
    pub end: Vec<f64>,
    /// Exclusive seconds, by line and kind.
    pub exclusive: Vec<f32>,
    /// Number of kinds.
    pub kinds: usize,
    /// How each line behaves: shares of the most important kinds in stretches of the trace.
    pub behaviour: Vec<f32>,
    /// Numbers that describe the behaviour of a line.
    pub dimensions: usize,
}

/// A row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its label.
    pub label: String,
    /// By which the spec names it; empty for clusters.
    pub key: String,
    /// Level in the tree.
    pub depth: u16,
    /// How many lines are in it or below it.
    pub lines: u32,
    /// Whether it stands for several leaves.
    pub group: bool,
    /// Whether it is a heading, whose leaves are rows of their own.
    pub open: bool,
    /// Labels above it.
    pub path: Vec<String>,
}

/// The rows of the page, in order.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The canonical spec.
    pub spec: String,
    /// The rows.
    pub rows: Vec<Row>,
    /// How many of them are pinned; these come first.
    pub pinned: usize,
    /// By number of the line its row or [`NO_ROW`].
    pub row_of: Vec<u32>,
    /// Lines by row.
    lines: Vec<u32>,
    /// By row where its lines begin, and behind all of them.
    starts: Vec<u32>,
    /// By number of the line its unit or [`NO_ROW`]: lines of one row that differ in their communicator only. States nest
    /// within a unit. Units are numbered row by row.
    unit_of: Vec<u32>,
    /// By row its first unit, and behind all of them.
    units: Vec<u32>,
}

/// Leaves that are one row, or a heading.
#[derive(Clone, Debug)]
struct Piece {
    node: u32,
    leaves: Vec<u32>,
    open: bool,
}

impl Layout {
    /// Lays out rows.
    ///
    /// # Errors
    /// There is no such map.
    pub fn new(
        trace: &Trace<'_>,
        trees: &[Tree],
        spec: &Spec,
        measures: &Measures,
    ) -> Result<Self, Refusal> {
        let lines = trace.lines().len();
        let tree = trees.get(spec.map).ok_or_else(|| {
            let last = trees.len().saturating_sub(1);
            Refusal::missing(format!(
                "rows: there is no map {}, only 0 to {last}",
                spec.map
            ))
        })?;
        let mut plan = Plan::new(tree, spec, measures)?;
        let pinned = plan.take_pins();
        let mut layout = Layout {
            spec: spec.to_string(),
            pinned: pinned.len(),
            row_of: vec![NO_ROW; lines],
            starts: vec![0],
            ..Layout::default()
        };
        for piece in &pinned {
            layout.add_piece(tree, piece, true);
        }
        let rest = plan.pieces();
        if spec.cluster > 0 {
            for (label, leaves) in
                crate::cluster::clusters(tree, &rest_of(&rest), spec.cluster, measures)
            {
                layout.add_group(tree, label, String::new(), &leaves);
            }
        } else if spec.block > 1 {
            for block in rest.chunks(spec.block as usize) {
                let label = match block {
                    [only] => tree.full_label(only.node),
                    [first, .., last] => {
                        format!(
                            "{} – {}",
                            tree.full_label(first.node),
                            tree.full_label(last.node)
                        )
                    }
                    [] => continue,
                };
                let leaves = rest_of(block);
                layout.add_group(tree, label, key_of(&leaves), &leaves);
            }
        } else {
            for piece in &rest {
                layout.add_piece(tree, piece, spec.is_flat());
            }
        }
        layout.number_units(trace);
        Ok(layout)
    }

    fn number_units(&mut self, trace: &Trace<'_>) {
        let lane = |line: u32| trace.lines().get(line as usize).map(|l| l.lane);
        self.unit_of = vec![NO_ROW; trace.lines().len()];
        let mut units = 0;
        for row in 0..self.rows.len() {
            self.units.push(units);
            let mut lines: Vec<_> = self.lines_of(row).iter().map(|&l| (lane(l), l)).collect();
            lines.sort_unstable();
            for same in lines.chunk_by(|a, b| a.0 == b.0) {
                same.iter()
                    .for_each(|&(_, line)| self.unit_of[line as usize] = units);
                units += 1;
            }
        }
        self.units.push(units);
    }

    /// The unit of a line.
    #[inline]
    pub(crate) fn unit(&self, line: u32) -> Option<u32> {
        let unit = self.unit_of.get(line as usize).copied();
        unit.filter(|&unit| unit != NO_ROW)
    }

    /// The units of some rows.
    pub(crate) fn units(&self, rows: Range<usize>) -> Range<u32> {
        let at = |row: usize| {
            self.units
                .get(row)
                .or(self.units.last())
                .copied()
                .unwrap_or(0)
        };
        at(rows.start)..at(rows.end)
    }

    /// The lines of a row, by number.
    pub fn lines_of(&self, row: usize) -> &[u32] {
        let ends = self.starts.get(row).zip(self.starts.get(row + 1));
        let lines = ends.and_then(|(&from, &to)| self.lines.get(from as usize..to as usize));
        lines.unwrap_or_default()
    }

    /// The row of a line.
    #[inline]
    pub fn row(&self, line: u32) -> Option<u32> {
        let row = self.row_of.get(line as usize).copied();
        row.filter(|&row| row != NO_ROW)
    }

    fn add_piece(&mut self, tree: &Tree, piece: &Piece, is_flat: bool) {
        let node = &tree.nodes[piece.node as usize];
        let label = match is_flat {
            true => tree.full_label(piece.node),
            false => node.label.clone(),
        };
        let row = Row {
            label,
            key: match node.inner {
                Some(inner) => format!("n{inner}"),
                None => node.leaves[0].to_string(),
            },
            depth: if is_flat { 0 } else { node.depth },
            group: node.inner.is_some(),
            open: piece.open,
            path: if is_flat {
                Vec::new()
            } else {
                tree.path(piece.node)
            },
            lines: 0,
        };
        self.add(tree, row, &piece.leaves);
    }

    fn add_group(&mut self, tree: &Tree, label: String, key: String, leaves: &[u32]) {
        let row = Row {
            label,
            key,
            group: leaves.len() > 1,
            ..Row::default()
        };
        self.add(tree, row, leaves);
    }

    fn add(&mut self, tree: &Tree, mut row: Row, leaves: &[u32]) {
        let number = self.rows.len() as u32;
        for &leaf in leaves {
            let lines = &tree.lines[leaf as usize];
            row.lines += lines.len() as u32;
            if row.open {
                continue;
            }
            for &line in lines {
                if let Some(of) = self.row_of.get_mut(line as usize) {
                    *of = number;
                    self.lines.push(line);
                }
            }
        }
        self.rows.push(row);
        self.starts.push(self.lines.len() as u32);
    }
}

fn rest_of(pieces: &[Piece]) -> Vec<u32> {
    pieces
        .iter()
        .flat_map(|piece| piece.leaves.iter().copied())
        .collect()
}

/// Leaves as a list of keys, short if they follow each other.
fn key_of(leaves: &[u32]) -> String {
    let mut keys: Vec<Key> = Vec::new();
    for &leaf in leaves {
        match keys.last_mut() {
            Some(Key::Leaves(_, last)) if *last + 1 == leaf => *last = leaf,
            _ => keys.push(Key::Leaves(leaf, leaf)),
        }
    }
    text_of(&keys)
}

/// Which leaves are left to be placed.
struct Plan<'t> {
    tree: &'t Tree,
    spec: &'t Spec,
    measures: &'t Measures,
    /// By leaf whether it still is to become a row.
    wanted: Vec<bool>,
}

impl<'t> Plan<'t> {
    fn new(tree: &'t Tree, spec: &'t Spec, measures: &'t Measures) -> Result<Self, Refusal> {
        let mut wanted = vec![true; tree.leaves.len()];
        if !spec.only.is_empty() {
            let selection = Selection::parse(&spec.only).map_err(Refusal::wrong)?;
            for (leaf, wanted) in wanted.iter_mut().enumerate() {
                *wanted = selection.takes(&Named {
                    name: tree.full_label(tree.leaves[leaf]),
                    layer: 0,
                    number: leaf,
                });
            }
        }
        let mut plan = Plan {
            tree,
            spec,
            measures,
            wanted,
        };
        for key in &spec.hide {
            plan.take(key);
        }
        Ok(plan)
    }

    /// The leaves that a key names, and its node if it names one.
    fn leaves(&self, key: &Key) -> (std::ops::Range<usize>, Option<u32>) {
        let all = self.tree.leaves.len();
        match *key {
            Key::Leaves(first, last) => {
                let end = (last as usize).saturating_add(1).min(all);
                ((first as usize).min(end)..end, None)
            }
            Key::Inner(inner) => match self.tree.inner.get(inner as usize) {
                Some(&node) => {
                    let [from, to] = self.tree.nodes[node as usize].leaves;
                    (from as usize..to as usize, Some(node))
                }
                None => (0..0, None),
            },
        }
    }

    /// The leaves of a key that are left, which are left no more.
    fn take(&mut self, key: &Key) -> Vec<u32> {
        let (range, _) = self.leaves(key);
        let left = range.filter(|&leaf| std::mem::take(&mut self.wanted[leaf]));
        left.map(|leaf| leaf as u32).collect()
    }

    fn leaf(&self, leaf: u32) -> Piece {
        Piece {
            node: self.tree.leaves[leaf as usize],
            leaves: vec![leaf],
            open: false,
        }
    }

    /// The rows of these keys: a row for each leaf, and one for an inner node.
    fn take_rows(&mut self, keys: &[Key]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for key in keys {
            let (_, node) = self.leaves(key);
            let leaves = self.take(key);
            match node {
                Some(node) if !leaves.is_empty() => pieces.push(Piece {
                    node,
                    leaves,
                    open: false,
                }),
                _ => pieces.extend(leaves.into_iter().map(|leaf| self.leaf(leaf))),
            }
        }
        pieces
    }

    fn take_pins(&mut self) -> Vec<Piece> {
        self.take_rows(&self.spec.pin)
    }

    /// The rows of what is left.
    fn pieces(&mut self) -> Vec<Piece> {
        let first = self.take_rows(&self.spec.order);
        let mut rest = self.tree_rows();
        if self.spec.is_flat() {
            rest.retain(|piece| !piece.open);
        }
        if let Some((by, is_descending)) = self.spec.sort {
            self.sort(&mut rest, by, is_descending);
        }
        let mut pieces = first;
        pieces.append(&mut rest);
        pieces
    }

    fn tree_rows(&self) -> Vec<Piece> {
        let names = |keys: &[Key], inner: u32| keys.contains(&Key::Inner(inner));
        let mut pieces = Vec::new();
        let mut at = 0;
        while let Some(node) = self.tree.nodes.get(at) {
            let [from, to] = node.leaves;
            let left = (from..to).filter(|&leaf| self.wanted[leaf as usize]);
            let leaves: Vec<u32> = left.collect();
            let open = node.inner.is_some_and(|inner| {
                let is_shut = self.spec.fold == Some(node.depth) || names(&self.spec.shut, inner);
                !is_shut || names(&self.spec.open, inner)
            });
            let behind = if open { at + 1 } else { node.end as usize };
            if leaves.is_empty() {
                at = node.end as usize;
                continue;
            }
            pieces.push(Piece {
                node: at as u32,
                leaves,
                open,
            });
            at = behind;
        }
        pieces
    }

    fn sort(&self, pieces: &mut [Piece], by: By, is_descending: bool) {
        if by == By::Label {
            if is_descending {
                pieces.reverse();
            }
            return;
        }
        let value = |piece: &Piece| {
            let lines = piece
                .leaves
                .iter()
                .flat_map(|&leaf| &self.tree.lines[leaf as usize]);
            let m = self.measures;
            let of = |values: &[f64], line: u32, none| {
                values.get(line as usize).copied().unwrap_or(none)
            };
            match by {
                By::Busy | By::Label => lines.map(|&line| of(&m.busy, line, 0.0)).sum(),
                By::First => lines.fold(f64::INFINITY, |a, &line| a.min(of(&m.first, line, a))),
                By::End => lines.fold(f64::NEG_INFINITY, |a, &line| a.max(of(&m.end, line, a))),
                By::Kind(kind) => {
                    let at = |line: u32| (line as usize * m.kinds).checked_add(kind as usize);
                    let found = |line: u32| m.exclusive.get(at(line)?).copied();
                    let is_kind = (kind as usize) < m.kinds;
                    let found = lines.map(|&line| f64::from(found(line).unwrap_or(0.0)));
                    if is_kind { found.sum() } else { 0.0 }
                }
            }
        };
        let mut valued: Vec<(f64, Piece)> = pieces.iter().map(|p| (value(p), p.clone())).collect();
        valued.sort_by(|a, b| match is_descending {
            true => b.0.total_cmp(&a.0),
            false => a.0.total_cmp(&b.0),
        });
        for (place, (_, piece)) in pieces.iter_mut().zip(valued) {
            *place = piece;
        }
    }
}
