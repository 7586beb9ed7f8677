//! Nodes above the windows: what crosses the borders of windows is in them, and the previews of what is below.

use super::plan::SlicePlan;
use super::produce::crossing;
use super::window::NodeRun;
use std::collections::BTreeMap;
use trace_formats::slog2::{
    EncodedDrawable, FileBlockPtr, NodeContents, NodePreview, NodeWriter, TreeNodeId,
};

/// The nodes above the windows that this rank builds, as far as they are not complete.
#[derive(Debug, Default)]
pub(super) struct UpperNodes {
    open: BTreeMap<TreeNodeId, UpperNode>,
}

#[derive(Debug, Default)]
struct UpperNode {
    /// Encoded drawables one behind the other.
    drawables: Vec<u8>,
    /// By place in their level; where they are in the file is known at the end of their round.
    children: BTreeMap<i32, UpperChild>,
}

#[derive(Debug)]
struct UpperChild {
    preview: NodePreview,
    place: Option<FileBlockPtr>,
}

impl UpperNodes {
    /// Takes a drawable that [`super::produce::add_crossing`] sent; `None` if it is damaged.
    pub(super) fn add_crossing(&mut self, bytes: &[u8]) -> Option<()> {
        let (id, drawable) = crossing(bytes)?;
        EncodedDrawable::first_of(drawable).filter(|found| found.bytes.len() == drawable.len())?;
        let node = self.open.entry(id).or_default();
        node.drawables.extend_from_slice(drawable);
        Some(())
    }

    /// Takes the preview of a child of `parent`.
    pub(super) fn add_child(&mut self, parent: TreeNodeId, preview: NodePreview) {
        let node = self.open.entry(parent).or_default();
        let xpos = preview.id().xpos;
        let place = None;
        node.children.insert(xpos, UpperChild { preview, place });
    }

    /// Says where the children are that came in this round.
    pub(super) fn place_children(&mut self, place_of: impl Fn(TreeNodeId) -> Option<FileBlockPtr>) {
        for child in self
            .open
            .values_mut()
            .flat_map(|node| node.children.values_mut())
        {
            if child.place.is_none() {
                child.place = place_of(child.preview.id());
            }
        }
    }

    /// Builds a node that is complete. Gives it with its preview, and the children whose place was known before.
    pub(super) fn build(
        &mut self,
        plan: &SlicePlan,
        id: TreeNodeId,
        writer: &mut NodeWriter,
    ) -> (BuiltUpper, NodePreview) {
        let UpperNode {
            drawables,
            children,
        } = self.open.remove(&id).unwrap_or_default();
        let mut sorted = Vec::new();
        let mut rest = drawables.as_slice();
        while let Some(drawable) = EncodedDrawable::first_of(rest) {
            rest = rest.get(drawable.bytes.len()..).unwrap_or_default();
            sorted.push(drawable);
        }
        // They came by many ways: whatever these were, the same file is written.
        sorted.sort_unstable_by(|a, b| {
            let by_time = a.bounds.latest.total_cmp(&b.bounds.latest);
            by_time.then_with(|| a.bytes.cmp(b.bytes))
        });
        let mut contents = NodeContents::default();
        for drawable in &sorted {
            contents.add_encoded(drawable);
        }
        let mut places = Vec::with_capacity(children.len());
        let mut previews = Vec::with_capacity(children.len());
        for child in children.into_values() {
            places.push((child.preview.id(), child.place));
            previews.push(child.preview);
        }
        let mut run = NodeRun::default();
        let bounds = plan.bounds(id);
        let preview = run.push(writer, (id, bounds), contents, previews, Vec::new());
        let children = places;
        (BuiltUpper { id, run, children }, preview)
    }
}

/// A node above the windows that is built.
#[derive(Debug)]
pub(super) struct BuiltUpper {
    pub(super) id: TreeNodeId,
    pub(super) run: NodeRun<'static>,
    /// The children, and the places of those of earlier rounds.
    pub(super) children: Vec<(TreeNodeId, Option<FileBlockPtr>)>,
}
