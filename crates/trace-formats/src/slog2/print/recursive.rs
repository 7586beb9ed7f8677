//! PrintRecursively: the tree level by level, with all previews (`spec/slog2-tools.md` section 5).

use std::collections::HashSet;
use std::io::Write;

use super::super::error::Slog2Error;
use super::super::node::{NodeDrawable, ShadowBuffer, Slog2Node};
use super::super::read::Slog2Reader;
use super::order::PrintOrder;
use super::parts::TextBuffer;
use super::stub::{PlannedNode, print_place, print_stub};
use super::trunk::Trunk;
use super::{PrintedParts, flush, flush_if_long, print_head, time_window};

/// Options of PrintRecursively.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecursiveOptions {
    /// Only nodes that overlap this part of the time axis; factors 0 to 1 of the length of the log (`-ts`, `-tf`).
    pub window: (f64, f64),
    /// The lowest level to print (`-d`).
    pub lowest_depth: i16,
    /// Whether to print one merged list of the drawables in the window (`-t`), instead of node by node (`-n`).
    pub merged: bool,
}

impl Default for RecursiveOptions {
    fn default() -> Self {
        RecursiveOptions {
            window: (0.0, 1.0),
            lowest_depth: 0,
            merged: false,
        }
    }
}

/// Writes what PrintRecursively writes on its standard output. (On the other it tells the window, [`time_window`].)
pub fn print_recursively(
    reader: &Slog2Reader<'_>,
    options: &RecursiveOptions,
    out: &mut impl Write,
) -> Result<(), Slog2Error> {
    let mut printer = TextBuffer::new(reader);
    print_head(&mut printer, reader, PrintedParts::All);
    printer.text("\n");
    let window = time_window(reader, options.window);
    if options.merged {
        let mut trunk = Trunk::new(reader)?;
        trunk.begin(window, i64::from(options.lowest_depth))?;
        trunk.print_window(window, &mut printer, out)?;
        printer.text("\n");
        return flush(&mut printer, out);
    }
    let root = reader.node(reader.header().tree_root)?;
    let mut level = vec![PlannedNode::root(&root)];
    let mut bytes = 0;
    // In a damaged file nodes may be the children of several others, and even of themselves.
    let mut seen = HashSet::from([root.stub.ptr.offset]);
    let mut levels = 0;
    while !level.is_empty() {
        levels += 1;
        printer.text("\n");
        for planned in &level {
            print_stub(&mut printer, planned);
        }
        printer.text("\n");
        let mut next = Vec::new();
        for (nth, planned) in level.iter().enumerate() {
            bytes += u64::from(planned.stub.ptr.size.unsigned_abs());
            reader.check_node_bytes(bytes)?;
            let node = reader.node(planned.stub.ptr)?;
            if nth > 0 {
                printer.text("\n");
            }
            print_node(&mut printer, &node, reader, out)?;
            let wanted = |buffer: &&ShadowBuffer<'_>| {
                buffer.stub.id.depth >= options.lowest_depth
                    && window.overlaps(buffer.stub.bounds)
                    && seen.insert(buffer.stub.ptr.offset)
            };
            next.extend(node.shadows.iter().filter(wanted).map(PlannedNode::child));
        }
        printer.text("\n\n");
        level = next;
    }
    // The floors below, of which nothing was read, are printed like the others.
    for _ in levels..=root.stub.id.depth {
        printer.text("\n\n\n");
    }
    printer.text("\n");
    flush(&mut printer, out)
}

fn print_node(
    printer: &mut TextBuffer,
    node: &Slog2Node<'_>,
    reader: &Slog2Reader<'_>,
    out: &mut impl Write,
) -> Result<(), Slog2Error> {
    printer.text("\t*** Start of TreeNode ***\n    BufForDrawables{ ");
    print_place(printer, &node.stub);
    printer.text(" }\n");
    let mut drawables: Vec<&NodeDrawable<'_>> =
        node.nestless.iter().chain(&node.nestable).collect();
    drawables.sort_by(|a, b| PrintOrder::IncreasingStart.compare(a, b));
    for (drawable, nth) in drawables.into_iter().zip(1u64..) {
        printer.text(&format!("{nth}: "));
        printer.drawable(drawable);
        printer.text("\n");
        flush_if_long(printer, out)?;
    }
    printer.text("\n");
    for (nth, buffer) in node.shadows.iter().enumerate() {
        printer.text(&format!("\t BufForShadows No. {nth}\n    BufForShadows{{ "));
        print_place(printer, &buffer.stub);
        printer.text(&format!(" Nrobjs={} }}\n", buffer.real_count()));
        let mut shadows: Vec<_> = buffer.nestless.iter().chain(&buffer.nestable).collect();
        shadows.sort_by(|a, b| a.compare(b));
        for (shadow, nth) in shadows.into_iter().zip(1u64..) {
            printer.text(&format!("{nth}: "));
            printer.shadow(shadow, reader.layout());
            flush_if_long(printer, out)?;
        }
    }
    printer.text("\t*** End of TreeNode ***\n");
    Ok(())
}
