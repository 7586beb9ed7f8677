//! SLOG2 files: what header, categories, views and directory tell. The nodes of the tree are read only if there are annotations, which tell of
//! unfinished calls.

use super::drawables::{describe_kinds, describe_lines};
use super::report::{InfoReport, object};
use super::unfinished::UnfinishedCalls;
use serde_json::Value;
use trace_formats::slog2::{
    Annotated, NodeDrawable, Salvage, Slog2Error, Slog2Layout, Slog2Reader, lines_of_views,
};
use trace_model::Topology;

pub fn describe(bytes: &[u8], report: &mut InfoReport) {
    let reader = match Slog2Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return describe_rest(bytes, &error, report),
    };
    let header = reader.header();
    report.put("version", header.version.to_str());
    report.put("byte_order", "big-endian");
    match Annotated::companion_of(&reader) {
        Ok(Some(companion)) => report.put(
            "drawables_are_in",
            object([
                ("name", companion.name.to_str().into()),
                ("bytes", companion.size.into()),
            ]),
        ),
        Ok(None) => {}
        Err(error) => report.problem(error),
    }
    let directory = reader.directory();
    let root = directory.get(0);
    if let Some(root) = root {
        report.span(root.bounds.earliest, root.bounds.latest);
    }
    report.put(
        "tree",
        object([
            ("depth", header.max_depth.into()),
            ("children_per_node", header.children_per_node.into()),
            ("leaf_bytes", header.leaf_byte_size.into()),
            ("largest_block", header.max_buffer_size.into()),
            ("nodes", directory.len().into()),
            ("leaves", directory.level(0).len().into()),
            ("node_bytes", directory.node_bytes().into()),
        ]),
    );
    let mut outside = 0u64;
    for entry in directory {
        let end = i128::from(entry.ptr.offset) + i128::from(entry.ptr.size);
        outside += u64::from(entry.ptr.offset < 0 || end > bytes.len() as i128);
    }
    if outside > 0 {
        let nodes = directory.len();
        report.problem(format!("{outside} of {nodes} nodes lie outside the file"));
    }

    let real = reader.categories().iter().filter(|c| c.index >= 0);
    if reader.layout() == Slog2Layout::V206 {
        let mut kinds = [0u64; 3];
        for category in real.clone() {
            let kind = match category.topology {
                Topology::Event => 0,
                Topology::State => 1,
                Topology::Arrow => 2,
            };
            kinds[kind] += u64::try_from(category.summary.count).unwrap_or(0);
        }
        describe_kinds(kinds, report);
    }
    let mut unfinished = UnfinishedCalls::new(reader.categories());
    if unfinished.is_possible() {
        // Damaged nodes are what `check` tells of.
        let nodes = directory
            .iter()
            .filter_map(|entry| reader.node(entry.ptr).ok());
        for node in nodes {
            for drawable in &node.nestless {
                if let NodeDrawable::Primitive(event) = drawable {
                    unfinished.take(event.category, event.info);
                }
            }
        }
    }
    unfinished.put(report);
    describe_lines(lines_of_views(reader.line_id_maps()).values(), report);
    let views = reader.line_id_maps().iter().map(|map| {
        let columns: Vec<_> = map
            .column_labels
            .iter()
            .map(|l| l.to_str().into_owned())
            .collect();
        object([
            ("title", map.title.to_str().into()),
            ("columns", columns.join(", ").into()),
            ("lines", map.rows().len().into()),
        ])
    });
    report.put("views", views.collect::<Vec<_>>());
    let mut categories: Vec<_> = real.collect();
    categories.sort_by_key(|category| category.index);
    let categories = categories.into_iter().map(|category| {
        let mut row = object([
            ("index", category.index.into()),
            ("name", category.name.to_str().into()),
            ("kind", category.topology.name().to_lowercase().into()),
        ]);
        if let (Slog2Layout::V206, Value::Object(row)) = (reader.layout(), &mut row) {
            let summary = category.summary;
            row.insert("count".into(), summary.count.into());
            row.insert("inclusive".into(), summary.inclusive.into());
            row.insert("exclusive".into(), summary.exclusive.into());
        }
        row
    });
    report.put("categories", categories.collect::<Vec<_>>());
}

/// A file whose end is missing: its nodes stand in front.
fn describe_rest(bytes: &[u8], error: &Slog2Error, report: &mut InfoReport) {
    let Ok(mut nodes) = Salvage::new(bytes) else {
        return report.problem(error);
    };
    report.put("version", nodes.header().version.to_str());
    let (mut count, mut drawables) = (0u64, 0u64);
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    for node in nodes.by_ref() {
        count += 1;
        for drawable in node.nestless.iter().chain(&node.nestable) {
            drawables += 1;
            from = from.min(drawable.bounds().earliest);
            to = to.max(drawable.bounds().latest);
        }
    }
    report.span(from, to);
    report.put("drawables", drawables);
    report.problem(format!(
        "{error}; {count} nodes are whole, as far as byte {}; categories and views are missing",
        nodes.offset()
    ));
}
