//! State of a rank during the attribution: its open files, and the accesses that are not complete.

use super::open_accesses::OpenAccesses;
use crate::event::{OpenedHandle, ViewPart};
use crate::ranges::ViewLayout;
use crate::record::FileRole;
use blockfile::define::FileView;
use std::sync::Arc;
use trace_model::hash::Map;

/// An open MPI_File of a rank.
#[derive(Debug)]
pub(super) struct FileHandle {
    pub opened: OpenedHandle,
    pub layout: Option<Arc<ViewLayout>>,
    /// True if accesses that are not recorded may still be going on.
    pub outlasting_left_out: bool,
    /// True if the library puts aside what is written by the shared file pointer, and moves it in a later call.
    pub puts_off: bool,
    /// A view whose last part has not come yet.
    partial: Option<FileView>,
}

/// The file that a descriptor refers to.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescriptorFile {
    pub file: u32,
    pub role: FileRole,
    pub handle: Option<u32>,
}

/// Open files and incomplete accesses of one rank.
#[derive(Debug, Default)]
pub(super) struct RankState {
    pub handles: Map<u32, FileHandle>,
    pub seen: Map<u32, DescriptorFile>,
    pub begun: OpenAccesses,
}

impl RankState {
    pub fn open(&mut self, opened: OpenedHandle) {
        self.handles.insert(
            opened.handle,
            FileHandle {
                opened,
                layout: Some(Arc::new(ViewLayout::bytes())),
                outlasting_left_out: false,
                puts_off: false,
                partial: None,
            },
        );
    }

    /// Part of a view has come.
    pub fn view(&mut self, part: ViewPart) {
        let Some(handle) = self.handles.get_mut(&part.handle) else {
            return;
        };
        let mut view = match handle.partial.take() {
            Some(mut view) if !part.first => {
                view.runs.extend(part.view.runs);
                view
            }
            _ => part.view,
        };
        if !part.last {
            handle.partial = Some(view);
            return;
        }
        // Of a view that says nothing of its pieces, ranges are not known.
        view.runs.shrink_to_fit();
        handle.layout = (!view.runs.is_empty() || view.size == 0 && !view.bounding_extent)
            .then(|| Arc::new(ViewLayout::new(&view)));
    }

    /// Whether transfers may have moved bytes for accesses that are not recorded, or that are complete.
    pub fn may_work_for_others(&self) -> bool {
        let mut handles = self.handles.values();
        handles.any(|h| h.outlasting_left_out || h.puts_off)
    }

    /// Whether the library puts aside what is written to this handle by the shared file pointer.
    pub fn puts_off(&self, handle: u32) -> bool {
        self.handles.get(&handle).is_some_and(|h| h.puts_off)
    }
}
