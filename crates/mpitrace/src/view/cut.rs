//! The part of a trace that is in a window, as a small SLOG2 file.

use std::io::Cursor;
use trace_formats::slog2::{
    Depth, NodeDrawable, NodeShadow, Slog2Error, Slog2Reader, TimeBBox, Topologies, TreeBuilder,
    TreeOptions, Visit, in_order_of_insertion,
};
use viewer_core::ApiError;

/// Drawables of a part at most; some 40 bytes each in the file, twice that while it is made.
const MAX_DRAWABLES: usize = 500_000;
/// Bytes of the tree that are read at most to find them.
const MAX_READ_BYTES: u64 = 1 << 30;

/// The drawables that overlap a window, with all categories and line maps.
pub fn cut(reader: &Slog2Reader<'_>, window: TimeBBox) -> Result<Vec<u8>, ApiError> {
    let too_much = || {
        ApiError::too_large(format!(
            "there are more than {MAX_DRAWABLES} drawables in the window, too many for a page: zoom in"
        ))
    };
    let nodes = reader.directory();
    let inside = nodes.iter().filter(|node| node.bounds.overlaps(window));
    let bytes = inside.map(|node| u64::from(node.ptr.size.unsigned_abs()));
    if bytes.fold(0, u64::saturating_add) > MAX_READ_BYTES {
        return Err(too_much());
    }
    let mut found = FoundDrawables {
        drawables: Vec::new(),
        has_more: false,
    };
    reader.visit_window(window, Depth::Lowest(0), &mut found)?;
    if found.has_more {
        return Err(too_much());
    }
    // In which a tree is built.
    let ends = |drawable: &NodeDrawable<'_>| drawable.bounds().latest;
    found.drawables.sort_by(|a, b| ends(a).total_cmp(&ends(b)));
    build(reader, &found.drawables).map_err(|error| match error.kind {
        trace_formats::slog2::Slog2ErrorKind::NoDrawables => {
            ApiError::not_found("there is nothing in this window")
        }
        _ => error.into(),
    })
}

fn build(reader: &Slog2Reader<'_>, drawables: &[NodeDrawable<'_>]) -> Result<Vec<u8>, Slog2Error> {
    let lines = reader.lines().len() as u64;
    let options = TreeOptions {
        leaf_byte_size: TreeOptions::leaf_for(lines),
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(Cursor::new(Vec::new()), options)?;
    let topologies = Topologies::new(reader.categories());
    for drawable in drawables {
        builder.add_read(drawable, &topologies)?;
    }
    let categories = in_order_of_insertion(reader.categories());
    let tree = builder.close()?;
    let (out, _) = tree.finish(&categories, reader.line_id_maps())?;
    Ok(out.into_inner())
}

struct FoundDrawables<'a> {
    drawables: Vec<NodeDrawable<'a>>,
    has_more: bool,
}

impl<'a> Visit<'a> for FoundDrawables<'a> {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        if self.drawables.len() < MAX_DRAWABLES {
            self.drawables.push(drawable);
        } else {
            self.has_more = true;
        }
    }

    fn shadow(&mut self, _: NodeShadow<'a>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_part_has_what_the_window_has() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
        let file = std::fs::read(data.join("slog2/sample.slog2")).unwrap();
        let whole = Slog2Reader::new(&file).unwrap();
        let bounds = whole.root().unwrap().bounds;
        let at = |part: f64| bounds.earliest + part * (bounds.latest - bounds.earliest);
        let window = TimeBBox {
            earliest: at(0.4),
            latest: at(0.5),
        };
        let listed = |reader: &Slog2Reader<'_>, window| {
            let found = reader.window(window, Depth::Lowest(0)).unwrap();
            let drawables = found.drawables.iter();
            drawables
                .map(|drawable| format!("{drawable:?}"))
                .collect::<Vec<_>>()
        };
        let expected = listed(&whole, window);
        assert!(!expected.is_empty());
        let part = cut(&whole, window).unwrap();
        assert!(part.len() < file.len());
        let part = Slog2Reader::new(&part).unwrap();
        assert_eq!(listed(&part, part.root().unwrap().bounds), expected);
        assert_eq!(part.lines(), whole.lines());
        let none = TimeBBox {
            earliest: bounds.latest + 1.0,
            latest: bounds.latest + 2.0,
        };
        assert_eq!(cut(&whole, none).unwrap_err().status, 404);
    }
}
