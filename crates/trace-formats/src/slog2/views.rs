//! Lines and the views that name them: line ID maps from what the model knows of a line, and the way back
//! (`spec/slog2.md` section 6.2).

use std::collections::BTreeMap;

use super::read::Slog2Reader;
use super::types::LineIdMap;
use trace_model::{Definitions, Line, columns_of_lane, lane_of, name_of_columns, named_lane};

/// Hosts whose names stand in the title of the view by node; a view has room for numbers only.
const NAMED_HOSTS: usize = 8;
const NODE_VIEW: &str = "Node View";
/// Title of the view by layer, which has lines of servers, devices and operations that overlap.
const IO_VIEW: &str = "I/O View (layers: 0 ranks, 1 servers, 2 data servers, 3 devices)";
/// Columns of the view of I/O timelines.
const IO_COLUMNS: [&str; 4] = ["layer", "number", "layer_thread", "lane"];

/// Title of the view by program, which runs of several programs have.
const PROGRAM_VIEW: &str = "Program View";

/// The view by node: host, rank, thread. It has no rows yet.
pub fn node_view(hosts: &[String]) -> LineIdMap {
    LineIdMap::new(
        &title_with(NODE_VIEW, hosts),
        &["node", "world_rank", "thread"],
    )
}

/// The view by program of a run of several: program, rank, thread. It has no rows yet.
pub fn program_view(programs: &[String]) -> LineIdMap {
    LineIdMap::new(
        &title_with(PROGRAM_VIEW, programs),
        &["program", "world_rank", "thread"],
    )
}

/// The title with the first names by number.
fn title_with(title: &str, names: &[String]) -> String {
    let named = names.iter().take(NAMED_HOSTS).enumerate();
    let mut list: Vec<String> = named.map(|(nth, name)| format!("{nth} {name}")).collect();
    if names.len() > NAMED_HOSTS {
        list.push("...".to_owned());
    }
    format!("{title} ({})", list.join(", "))
}

/// The hosts that the title of a view by node names.
fn named_hosts(title: &str) -> Vec<String> {
    let list = title
        .strip_prefix(NODE_VIEW)
        .and_then(|rest| rest.trim().strip_prefix('('))
        .and_then(|rest| rest.strip_suffix(')'));
    let names = list.into_iter().flat_map(|list| list.split(", "));
    let numbered = names.enumerate().map_while(|(nth, name)| {
        let name = name.strip_prefix(&format!("{nth} "))?;
        Some(name.to_owned())
    });
    numbered.collect()
}

/// Lines with what the views say about them, by ascending id. Views are recognised by their column labels.
pub fn lines(maps: &[LineIdMap]) -> BTreeMap<i32, Line> {
    let mut lines: BTreeMap<i32, Line> = BTreeMap::new();
    for map in maps {
        let column = |label: &str| {
            let labels = &map.column_labels;
            let at = labels.iter().position(|l| l.to_str() == label);
            at.map(|at| 1 + at)
        };
        let labels = ["world_rank", "thread", "commID", "comm_rank", "node"];
        let columns = labels.map(column);
        let layers = IO_COLUMNS.map(column);
        let hosts = named_hosts(&map.title.to_str());
        for row in map.rows() {
            let line = lines.entry(row[0]).or_insert_with(|| unnamed(row[0]));
            let [rank, thread, comm, comm_rank, node] = columns.map(|at| row.get(at?).copied());
            if let Some(rank) = rank {
                line.rank = rank;
                if named_lane(line).is_none() {
                    line.name = None;
                }
            }
            line.thread = thread.unwrap_or(line.thread);
            line.comm = comm.unwrap_or(line.comm);
            line.comm_rank = comm_rank.unwrap_or(line.comm_rank);
            if let Some(node) = node {
                let named = usize::try_from(node).ok().and_then(|at| hosts.get(at));
                line.host = Some(named.map_or_else(|| format!("node {node}"), Clone::clone));
            }
            let layers = layers.map(|at| row.get(at?).copied());
            if let [Some(layer), Some(number), Some(thread), Some(lane)] = layers
                && let Some(name) = name_of_columns([layer, number, thread, lane])
            {
                line.name = Some(name);
            }
        }
    }
    lines
}

impl Slog2Reader<'_> {
    /// Lines with what the views say about them, by id.
    pub fn lines(&self) -> BTreeMap<i32, Line> {
        lines(self.line_id_maps())
    }

    /// Categories, and lines that views tell of: what the file says before its nodes are read, which may use further lines.
    pub fn definitions(&self) -> Definitions {
        let real = self.categories().iter().filter(|c| c.index >= 0);
        Definitions {
            categories: real.cloned().collect(),
            lines: self.lines().into_values().collect(),
            ..Definitions::default()
        }
    }
}

/// A line of which nothing but the id is known.
pub(super) fn unnamed(id: i32) -> Line {
    let name = Some(format!("line {id}"));
    Line {
        name,
        ..Line::of_thread(id, id, 0)
    }
}

/// The views of these lines, in the order of the original's converter; the one by node comes last, if hosts are known.
pub fn views(lines: &[&Line]) -> Vec<LineIdMap> {
    let threads = lines.iter().any(|line| line.thread != 0);
    let (mut processes, mut comms) = process_and_comm_views(threads);
    let mut hosts: Vec<String> = Vec::new();
    let mut numbers: BTreeMap<&str, i32> = BTreeMap::new();
    let mut nodes = Vec::new();
    for line in lines {
        let last = threads.then_some(line.thread);
        let with_thread = |columns: &[i32]| -> Vec<i32> {
            let columns = columns.iter().copied();
            columns.chain(last).collect()
        };
        processes.push(line.id, &with_thread(&[line.rank]));
        comms.push(line.id, &with_thread(&[line.comm, line.comm_rank]));
        let node = line.host.as_deref().map_or(-1, |host| {
            *numbers.entry(host).or_insert_with(|| {
                hosts.push(host.to_owned());
                hosts.len() as i32 - 1
            })
        });
        nodes.extend([line.id, node, line.rank, line.thread]);
    }
    let ids: Vec<i32> = lines.iter().map(|line| line.id).collect();
    let mut views = vec![processes, comms, LineIdMap::identity(&ids)];
    if lines.iter().any(|line| named_lane(line).is_some()) {
        let mut by_layer = LineIdMap::new(IO_VIEW, &IO_COLUMNS);
        for line in lines {
            by_layer.push(line.id, &columns_of_lane(lane_of(line)));
        }
        views.push(by_layer);
    }
    if !hosts.is_empty() {
        let mut by_node = node_view(&hosts);
        by_node.cells = nodes;
        views.push(by_node);
    }
    views
}

/// The process and the communicator view, without rows.
pub(super) fn process_and_comm_views(threads: bool) -> (LineIdMap, LineIdMap) {
    if threads {
        (
            LineIdMap::new("Process-Thread View", &["world_rank", "thread"]),
            LineIdMap::new(
                "Communicator-Thread View",
                &["commID", "comm_rank", "thread"],
            ),
        )
    } else {
        (
            LineIdMap::new("Process View", &["world_rank"]),
            LineIdMap::new("Communicator View", &["commID", "comm_rank"]),
        )
    }
}

/// Number of lines with something that [`views`] cannot hold: a name, or the name of a host beyond those in the title.
pub(super) fn unnamed_in_views(lines: &[&Line]) -> [u64; 2] {
    let mut hosts: Vec<&str> = lines.iter().filter_map(|l| l.host.as_deref()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let has_name = |line: &&&Line| line.name.is_some() && named_lane(line).is_none();
    let names = lines.iter().filter(has_name).count();
    let unnamed = hosts.len().saturating_sub(NAMED_HOSTS);
    [names as u64, unnamed as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_the_views() {
        let line = |id: i32, rank: i32, thread: i32, host: &str| Line {
            comm: id / 4,
            comm_rank: rank,
            host: Some(host.to_owned()),
            ..Line::of_thread(id, rank, thread)
        };
        let lines = [
            line(0, 0, 0, "a"),
            line(1, 0, 1, "a"),
            line(2, 1, 0, "b, c"),
            line(4, 1, 0, "b, c"),
        ];
        let back = super::lines(&views(&lines.iter().collect::<Vec<_>>()));
        // A host's name with the separator in it is cut there, the others are as they were.
        let names = |line: &Line| line.host.clone().unwrap_or_default();
        assert_eq!(
            back.values().map(names).collect::<Vec<_>>(),
            ["a", "a", "b", "b"]
        );
        for (line, back) in lines.iter().zip(back.values()) {
            let host = back.host.clone();
            assert_eq!(
                &Line {
                    host,
                    ..line.clone()
                },
                back
            );
        }
    }

    #[test]
    fn lanes_of_operations_survive_the_views() {
        let named = |id: i32, rank: i32, thread: i32, name: &str| Line {
            name: Some(name.to_owned()),
            ..Line::of_thread(id, rank, thread)
        };
        let lines = [
            Line::of_thread(0, 0, 0),
            named(1, 0, 1, "rank 0 thread 0 AIO 1"),
            named(2, 1, 0, "server 0 thread 0"),
            named(3, 1, 2, "server 0 thread 1 lane 1"),
            named(4, 2, 0, "device 0 thread 0"),
        ];
        let all: Vec<&Line> = lines.iter().collect();
        let views = views(&all);
        assert_eq!(unnamed_in_views(&all), [0, 0]);
        let back: Vec<Line> = super::lines(&views).into_values().collect();
        assert_eq!(back, lines);
        let mut turned = views;
        turned.reverse();
        assert_eq!(
            super::lines(&turned).into_values().collect::<Vec<_>>(),
            lines
        );
    }

    #[test]
    fn hosts_beyond_the_title_keep_their_numbers() {
        let lines: Vec<Line> = (0..12)
            .map(|id| Line {
                host: Some(format!("host{id}")),
                ..Line::of_thread(id, id, 0)
            })
            .collect();
        let all: Vec<&Line> = lines.iter().collect();
        let back = super::lines(&views(&all));
        let hosts: Vec<_> = back.values().filter_map(|l| l.host.as_deref()).collect();
        assert_eq!(hosts[..2], ["host0", "host1"]);
        assert_eq!(hosts[10..], ["node 10", "node 11"]);
        assert_eq!(unnamed_in_views(&all), [0, 4]);
    }

    #[test]
    fn a_line_that_only_the_identity_map_has() {
        let lines = super::lines(&[LineIdMap::identity(&[3])]);
        assert_eq!(lines.get(&3), Some(&unnamed(3)));
    }
}
