//! The views of a trace, made anew from what is known of its lines.

use trace_formats::slog2;
use trace_formats::slog2::{LineIdMap, views_of_lines};
use trace_model::Line;

/// Naming of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineView {
    /// Rank in MPI_COMM_WORLD: all threads and communicators of a process are one row.
    Process,
    /// Rank and thread.
    Thread,
    /// Communicator, rank in it, and thread if there are several.
    Communicator,
    /// Node, rank and thread.
    Node,
    /// The line's own number: each line is a row.
    Line,
}

/// The view of these lines, which are ascending. The view by node is there only if a node is known, from the lines'
/// hosts or from `node`, which gives that of a rank.
pub fn view(
    kind: LineView,
    lines: &[Line],
    node: &dyn Fn(i32) -> Option<String>,
) -> Option<LineIdMap> {
    let threads = lines.iter().any(|line| line.thread != 0);
    let mut map = match kind {
        LineView::Process => LineIdMap::new("Process View", &["world_rank"]),
        LineView::Thread => LineIdMap::new("Process-Thread View", &["world_rank", "thread"]),
        LineView::Communicator if threads => LineIdMap::new(
            "Communicator-Thread View",
            &["commID", "comm_rank", "thread"],
        ),
        LineView::Communicator => LineIdMap::new("Communicator View", &["commID", "comm_rank"]),
        LineView::Node => return node_view(lines, node),
        LineView::Line => {
            let ids: Vec<i32> = lines.iter().map(|line| line.id).collect();
            return Some(LineIdMap::identity(&ids));
        }
    };
    for line in lines {
        let columns: &[i32] = match kind {
            LineView::Process => &[line.rank],
            LineView::Thread => &[line.rank, line.thread],
            _ if threads => &[line.comm, line.comm_rank, line.thread],
            _ => &[line.comm, line.comm_rank],
        };
        map.push(line.id, columns);
    }
    Some(map)
}

/// The views that a converted log has: by process, by communicator, by line, and by node if hosts are known.
pub fn usual_views(lines: &[Line]) -> Vec<LineIdMap> {
    views_of_lines(&lines.iter().collect::<Vec<_>>())
}

fn node_view(lines: &[Line], node: &dyn Fn(i32) -> Option<String>) -> Option<LineIdMap> {
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    for line in lines {
        let name = node(line.rank).or_else(|| line.host.clone());
        let number = name.map_or(-1, |name| {
            let found = names.iter().position(|known| *known == name);
            found.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            }) as i32
        });
        rows.push([number, line.rank, line.thread]);
    }
    if names.is_empty() {
        return None;
    }
    let mut map = slog2::node_view(&names);
    for (line, columns) in lines.iter().zip(&rows) {
        map.push(line.id, columns);
    }
    Some(map)
}
