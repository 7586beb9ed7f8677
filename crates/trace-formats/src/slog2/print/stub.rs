//! One line about a node: where it is, what it covers, how much it holds.

use super::super::node::{ShadowBuffer, Slog2Node, Stub};
use super::parts::TextBuffer;

/// A node to print and what is known of it before it is read.
pub(super) struct PlannedNode {
    pub(super) stub: Stub,
    /// Number of drawables, if it is the root, else of the shadows in its parent, and their bytes.
    objects: usize,
    bytes: usize,
}

impl PlannedNode {
    pub(super) fn root(node: &Slog2Node<'_>) -> Self {
        let drawables = || node.nestless.iter().chain(&node.nestable);
        // The original counts one of the three list lengths later.
        let empty = Stub::SIZE + 8;
        PlannedNode {
            stub: node.stub,
            objects: drawables().count(),
            bytes: empty
                + drawables()
                    .map(|drawable| 1 + drawable.byte_size())
                    .sum::<usize>(),
        }
    }

    pub(super) fn child(buffer: &ShadowBuffer<'_>) -> Self {
        PlannedNode {
            stub: buffer.stub,
            objects: buffer.nestless.len() + buffer.nestable.len(),
            bytes: buffer.byte_size(),
        }
    }
}

/// The place of a node: its id, its time and where its bytes are.
pub(super) fn print_place(printer: &mut TextBuffer, stub: &Stub) {
    printer.node_id(stub.id);
    printer.text(" ");
    printer.time_bbox(stub.bounds);
    printer.text(" ");
    printer.file_block_ptr(stub.ptr);
}

/// The line about a node.
pub(super) fn print_stub(printer: &mut TextBuffer, planned: &PlannedNode) {
    printer.text("{ ");
    print_place(printer, &planned.stub);
    printer.text(&format!(
        " Nobjs={} bsize={} }}\n",
        planned.objects, planned.bytes
    ));
}
