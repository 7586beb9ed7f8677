//! Reading and writing with views, for the commands that make traces from traces.

use crate::failure::Failure;
use crate::terminal::progress::TaskProgress;
use crate::trace_files::format::Format;
use crate::trace_files::losses::failure_writing;
use crate::trace_files::target::Target;
use crate::trace_files::trace::TraceInput;
use crate::trace_files::write::CountingSource;
use trace_formats::slog2::{LineIdMap, Slog2Reader, TreeOptions};
use trace_model::{Category, Losses, Source};
use transform::{CategoryPattern, usual_views, write_slog2};

/// The views of a trace: its own if it is SLOG2, else those that it would be converted with.
pub fn views(trace: &TraceInput, source: &dyn Source) -> Result<Vec<LineIdMap>, Failure> {
    Ok(match slog2_reader(trace)? {
        Some(reader) => reader.line_id_maps().to_vec(),
        None => usual_views(&source.definitions().lines),
    })
}

/// The shape of the trees of a trace: its own if it is SLOG2.
pub fn shape(trace: &TraceInput) -> Result<TreeOptions, Failure> {
    Ok(
        slog2_reader(trace)?.map_or_else(TreeOptions::default, |reader| TreeOptions {
            children_per_node: reader.header().children_per_node,
            leaf_byte_size: reader.header().leaf_byte_size,
        }),
    )
}

/// Refuses categories that the trace does not have, which may be misspelt. `option` is the one that names them.
///
/// # Errors
/// A failure of the call that names the first such category.
pub fn known_categories(
    option: &str,
    wanted: &[CategoryPattern],
    trace: &TraceInput,
    source: &dyn Source,
) -> Result<(), Failure> {
    let categories = &source.definitions().categories;
    let is_known = |pattern: &CategoryPattern| {
        let means = |category: &Category| pattern.matches(category.index, &category.name.to_str());
        categories.iter().any(means)
    };
    match wanted.iter().find(|pattern| !is_known(pattern)) {
        None => Ok(()),
        Some(pattern) => Err(Failure::Call(format!(
            "{option} {}: {} has no such category",
            match pattern {
                CategoryPattern::Index(index) => index.to_string(),
                CategoryPattern::Name(name) => name.clone(),
            },
            trace.name().display()
        ))),
    }
}

fn slog2_reader(trace: &TraceInput) -> Result<Option<Slog2Reader<'_>>, Failure> {
    if trace.format != Format::Slog2 {
        return Ok(None);
    }
    let reader = Slog2Reader::new(trace.bytes());
    reader
        .map(Some)
        .map_err(|error| Failure::in_file(error, trace.name()))
}

/// Writes a trace: as SLOG2 with these views, in any other format with what it makes of the lines.
pub fn write(
    target: &Target,
    source: &dyn Source,
    views: &[LineIdMap],
    shape: TreeOptions,
    quiet: bool,
) -> Result<Losses, Failure> {
    if target.format != Format::Slog2 {
        return target.write(source, quiet);
    }
    let progress = TaskProgress::drawables(&target.path.display().to_string(), quiet);
    let counted = CountingSource {
        source,
        progress: &progress,
    };
    let tree = target
        .tree
        .options(source.definitions().lines.len() as u64, shape);
    target.fill(|out| {
        let (out, _, losses) = write_slog2(&counted, views, tree, out)
            .map_err(|stop| failure_writing(stop, &target.path))?;
        Ok((out, losses))
    })
}
