//! Views (line ID maps) of traces that were put together or whose lines were split.

use std::collections::BTreeMap;

use super::lines::usual_views;
use super::slog2::is_identity;
use trace_formats::slog2::{LineIdMap, Text};
use trace_model::Line;

/// The views of a trace that becomes a part of another.
pub(super) struct InputViews<'v> {
    pub(super) name: &'v str,
    pub(super) views: &'v [LineIdMap],
    /// Added to its line numbers.
    pub(super) line_offset: i32,
    /// Number of its lines.
    pub(super) lines: usize,
}

/// The usual views of all lines; behind the first one the parts' own views, of which those of the same kind are joined,
/// which the first word of their titles tells. The number of the part, 1 for the first, becomes their first column, and
/// the title tells which part that is.
pub(super) fn join(parts: &[InputViews<'_>], lines: &[Line]) -> Vec<LineIdMap> {
    let mut usual = usual_views(lines).into_iter();
    let mut views: Vec<LineIdMap> = usual
        .next()
        .map(|view| with_ranges(view, parts, lines))
        .into_iter()
        .collect();
    let mut kinds: Vec<String> = Vec::new();
    for view in parts.iter().flat_map(|part| part.views) {
        let kind = kind(view);
        if !is_identity(view) && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    views.extend(kinds.iter().map(|kind| join_kind(kind, parts)));
    views.extend(usual);
    views
}

/// The view by process, with a title that tells which ranks are those of which part.
fn with_ranges(mut view: LineIdMap, parts: &[InputViews<'_>], lines: &[Line]) -> LineIdMap {
    let mut rest = lines;
    let mut ranges = Vec::new();
    for part in parts {
        let (own, behind) = rest.split_at(part.lines.min(rest.len()));
        rest = behind;
        let ranks = || own.iter().map(|line| line.rank);
        ranges.push(match (ranks().min(), ranks().max()) {
            (Some(from), Some(to)) if from < to => format!("{from}-{to} {}", part.name),
            (Some(only), _) => format!("{only} {}", part.name),
            _ => part.name.to_owned(),
        });
    }
    let title = format!("{} ({})", view.title.to_str(), ranges.join(", "));
    view.title = Text(title.into_bytes());
    view
}

/// `Process` of `Process View` and of `Process-Thread View`.
fn kind(view: &LineIdMap) -> String {
    let title = view.title.to_str();
    let word = title.split([' ', '-', '(']).next().unwrap_or_default();
    word.to_owned()
}

fn join_kind(wanted: &str, parts: &[InputViews<'_>]) -> LineIdMap {
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
    let title = format!("File and {base} ({})", names.join("; "));
    let mut map = LineIdMap::new(&title, &["file"]);
    map.column_labels.extend(labels.iter().map(renamed));
    for (line, columns) in rows {
        map.push(line, &columns);
    }
    map
}

/// Numbers of a file must not be taken for those of the whole.
fn renamed(label: &Text) -> Text {
    match label.0.as_slice() {
        b"world_rank" => "rank".into(),
        b"commID" => "comm".into(),
        b"comm_rank" => "rank_in_comm".into(),
        b"node" => "node_of_file".into(),
        _ => label.clone(),
    }
}

/// The text in parentheses at the end of a title.
fn explanation(title: &str) -> Option<&str> {
    title.split_once(" (")?.1.strip_suffix(')')
}

/// Views of a trace whose lines were split: first those that name the sub-lines, then the old ones, in which sub-lines are
/// named as the lines they come from.
///
/// `sub_lines` has for each new line the old one and the number of the sub-line; old lines, which stay as sub-line 0, are
/// not in it.
pub(super) fn split(views: &[LineIdMap], sub_lines: &BTreeMap<i32, (i32, i32)>) -> Vec<LineIdMap> {
    let mut all = Vec::new();
    if let Some(first) = views.iter().find(|view| !is_identity(view)) {
        all.push(combined(first, sub_lines));
        let mut by_sub_line = extended(first, sub_lines, |columns, sub| columns.push(sub));
        by_sub_line.title = Text(format!("{}, split", first.title.to_str()).into_bytes());
        by_sub_line.column_labels.push("sub-line".into());
        all.push(by_sub_line);
    }
    let mut lines: Vec<i32> = views
        .iter()
        .flat_map(|view| view.rows())
        .map(|row| row[0])
        .chain(sub_lines.keys().copied())
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let mut by_line = LineIdMap::new("Line View, split", &["line", "sub-line"]);
    for line in lines {
        let (old, sub) = sub_lines.get(&line).copied().unwrap_or((line, 0));
        by_line.push(line, &[old, sub]);
    }
    all.push(by_line);
    all.extend(views.iter().map(|view| match is_identity(view) {
        true => view.clone(),
        false => extended(view, sub_lines, |_, _| ()),
    }));
    all
}

/// A view in which the last number of the path is joined with that of the sub-line, as in 12 for sub-line 2 of process 1:
/// viewers show the rows of a tree of labels only when it is unfolded, and these at once.
fn combined(view: &LineIdMap, sub_lines: &BTreeMap<i32, (i32, i32)>) -> LineIdMap {
    let most = sub_lines.values().map(|&(_, sub)| sub).max().unwrap_or(0);
    let mut factor: i32 = 10;
    while factor <= most {
        factor = factor.saturating_mul(10);
    }
    let mut new = extended(view, sub_lines, |columns, sub| {
        if let Some(last) = columns.last_mut() {
            *last = last.saturating_mul(factor).saturating_add(sub);
        }
    });
    if let Some(label) = new.column_labels.last_mut() {
        let text = format!("{} x {factor} + sub-line", label.to_str());
        new.title = Text(format!("{}, split ({text})", view.title.to_str()).into_bytes());
        *label = Text(text.into_bytes());
    }
    new
}

/// A view with rows for the new lines: those of the lines they come from, changed by `change`.
fn extended(
    view: &LineIdMap,
    sub_lines: &BTreeMap<i32, (i32, i32)>,
    change: impl Fn(&mut Vec<i32>, i32),
) -> LineIdMap {
    let rows: BTreeMap<i32, &[i32]> = view.rows().map(|row| (row[0], &row[1..])).collect();
    let mut new: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for line in rows.keys().chain(sub_lines.keys()) {
        let (old, sub) = sub_lines.get(line).copied().unwrap_or((*line, 0));
        if let Some(columns) = rows.get(&old) {
            let mut columns = columns.to_vec();
            change(&mut columns, sub);
            new.insert(*line, columns);
        }
    }
    let cells = new.into_iter().flat_map(|(line, columns)| {
        let columns = columns.into_iter();
        std::iter::once(line).chain(columns)
    });
    LineIdMap {
        cells: cells.collect(),
        ..view.clone()
    }
}
