//! Views (line ID maps) of traces that were put together or whose lines were split.

use std::collections::BTreeMap;

use super::slog2::is_identity;
use crate::slog2::{LineIdMap, Text};

/// The views of a trace that becomes a part of another.
pub(super) struct Part<'v> {
    pub(super) name: &'v str,
    pub(super) views: &'v [LineIdMap],
    /// Added to its line numbers.
    pub(super) line_offset: i32,
}

/// Joins views of the same kind, which the first word of their titles tells. The number of the part, 1 for the first, becomes
/// the first column, and the title tells which part that is.
pub(super) fn join(parts: &[Part<'_>]) -> Vec<LineIdMap> {
    let mut kinds: Vec<String> = Vec::new();
    for view in parts.iter().flat_map(|part| part.views) {
        let kind = kind(view);
        if !is_identity(view) && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut joined: Vec<LineIdMap> = kinds.iter().map(|kind| join_kind(kind, parts)).collect();
    joined.push(LineIdMap::identity(&[]));
    joined
}

/// `Process` of `Process View` and of `Process-Thread View`.
fn kind(view: &LineIdMap) -> String {
    let title = view.title.to_str();
    let word = title.split([' ', '-', '(']).next().unwrap_or_default();
    word.to_owned()
}

fn join_kind(wanted: &str, parts: &[Part<'_>]) -> LineIdMap {
    let chosen: Vec<Option<&LineIdMap>> = parts
        .iter()
        .map(|part| {
            let mut views = part.views.iter();
            views.find(|view| !is_identity(view) && kind(view) == wanted)
        })
        .collect();
    let mut labels: Vec<Text> = Vec::new();
    for view in chosen.iter().flatten() {
        for label in &view.column_labels {
            if !labels.contains(label) {
                labels.push(label.clone());
            }
        }
    }
    let mut rows: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let mut names = Vec::new();
    for (number, (part, view)) in (1..).zip(parts.iter().zip(&chosen)) {
        let title = view.map(|view| view.title.to_str().into_owned());
        names.push(match title.as_deref().and_then(explanation) {
            Some(explanation) => format!("{number} {}: {explanation}", part.name),
            None => format!("{number} {}", part.name),
        });
        // A part without such a view has its lines named by their numbers, behind the number of the part.
        let Some(view) = view else {
            for row in part.views.iter().flat_map(|view| view.rows()) {
                let mut columns = vec![number, row[0]];
                columns.resize(1 + labels.len().max(1), -1);
                rows.entry(row[0].wrapping_add(part.line_offset))
                    .or_insert(columns);
            }
            continue;
        };
        for row in view.rows() {
            let column = |label: &Text| {
                let at = view.column_labels.iter().position(|l| l == label);
                let missing = if label.0 == b"thread" { 0 } else { -1 };
                at.and_then(|at| row.get(1 + at))
                    .copied()
                    .unwrap_or(missing)
            };
            let columns = std::iter::once(number).chain(labels.iter().map(column));
            rows.insert(row[0].wrapping_add(part.line_offset), columns.collect());
        }
    }
    let base = match chosen
        .iter()
        .flatten()
        .find(|view| view.column_labels.len() == labels.len())
    {
        Some(view) => view.title.to_str().into_owned(),
        None => format!("{wanted} View"),
    };
    let base = base.split(" (").next().unwrap_or_default();
    let mut map = LineIdMap::new(&format!("{base} ({})", names.join("; ")), &["file"]);
    map.column_labels.extend(labels);
    for (line, columns) in rows {
        map.push(line, &columns);
    }
    map
}

/// What stands in parentheses at the end of a title.
fn explanation(title: &str) -> Option<&str> {
    title.split_once(" (")?.1.strip_suffix(')')
}

/// Views of a trace whose lines were split: first two that name the sub-lines, then the old ones, in which sub-lines are
/// named as the lines they come from.
///
/// `sub_lines` has for each new line the old one and the number of the sub-line; old lines, which stay as sub-line 0, are
/// not in it.
pub(super) fn split(views: &[LineIdMap], sub_lines: &BTreeMap<i32, (i32, i32)>) -> Vec<LineIdMap> {
    let origin = |line: i32| sub_lines.get(&line).copied().unwrap_or((line, 0));
    let extended = |view: &LineIdMap, with_sub: bool| {
        let rows: BTreeMap<i32, &[i32]> = view.rows().map(|row| (row[0], &row[1..])).collect();
        let lines = rows.keys().copied().chain(sub_lines.keys().copied());
        let mut cells: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for line in lines {
            let (old, sub) = origin(line);
            let Some(columns) = rows.get(&old) else {
                continue;
            };
            let mut columns = columns.to_vec();
            if with_sub {
                columns.push(sub);
            }
            cells.insert(line, columns);
        }
        let mut new = LineIdMap {
            cells: Vec::new(),
            ..view.clone()
        };
        if with_sub {
            new.title = Text(format!("{}, split", view.title.to_str()).into_bytes());
            new.column_labels.push("sub-line".into());
        }
        for (line, columns) in cells {
            new.push(line, &columns);
        }
        new
    };
    let mut all = Vec::new();
    all.extend(
        views
            .iter()
            .find(|view| !is_identity(view))
            .map(|view| extended(view, true)),
    );
    let mut by_line = LineIdMap::new("Line View, split", &["line", "sub-line"]);
    let mut lines: Vec<i32> = views
        .iter()
        .flat_map(|view| view.rows())
        .map(|row| row[0])
        .chain(sub_lines.keys().copied())
        .collect();
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        let (old, sub) = origin(line);
        by_line.push(line, &[old, sub]);
    }
    all.push(by_line);
    all.extend(views.iter().map(|view| match is_identity(view) {
        true => view.clone(),
        false => extended(view, false),
    }));
    all
}
