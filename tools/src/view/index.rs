//! Indexes of traces that are too large to be read for a picture: those that were kept, else made while the first pictures
//! are looked at. After them what the summaries of these traces say exactly.

use super::opened::Opened;
use super::store::Store;
use std::thread;
use view::Viewer;
use view::pyramid::{Builder, Identity, Index, Shape};

/// Drawables between two looks at whether the file is still what it was.
const STEP: u64 = 1 << 18;

/// Finds what was kept, and makes what is missing, one index after the other.
pub fn begin(traces: &mut [Opened]) {
    let mut missing = Vec::new();
    let mut large = Vec::new();
    for trace in traces.iter_mut() {
        let store = trace.store.take();
        if trace.viewer.is_small() {
            continue;
        }
        trace.viewer.set_summing(true);
        large.push((trace.mapped, trace.viewer));
        let kept = store.as_ref().and_then(Store::read);
        let kept = kept.and_then(|bytes| {
            // It stays as long as the trace, which is until the process ends.
            let bytes: &'static [u8] = bytes.leak();
            Index::decode(bytes, identity(trace.viewer), trace.viewer.trace())
        });
        match kept {
            Some(index) => trace.viewer.set_index(index),
            None => missing.push((trace.mapped, trace.viewer, store)),
        }
    }
    if large.is_empty() {
        return;
    }
    let make = move || {
        for (mapped, viewer, store) in missing {
            viewer.set_building(0);
            let trace = viewer.trace();
            // A trace that is damaged somewhere is shown without an index; what is asked there says what is wrong.
            let Ok(mut builder) = Builder::new(trace, Shape::of(trace)) else {
                continue;
            };
            while let Ok(more) = builder.step(STEP) {
                if mapped.trouble().is_some() {
                    break;
                }
                let done = builder.done();
                let percent = done.bytes.saturating_mul(100) / done.of_bytes.max(1);
                viewer.set_building(percent as u8);
                if !more {
                    viewer.set_index(builder.finish());
                    keep(viewer, store.as_ref());
                    break;
                }
            }
        }
        for (mapped, viewer) in large {
            // It is kept; where the trace is damaged or changed, previews stay what is known.
            drop(viewer.summary(&|| mapped.trouble().is_some()));
            viewer.set_summing(false);
        }
    };
    // Without it pictures of long windows stay coarse.
    drop(thread::Builder::new().name("index".into()).spawn(make));
}

/// What an index is of. When the trace was changed is known to its place.
fn identity(viewer: &Viewer<'_>) -> Identity {
    let trace = viewer.trace();
    Identity::new(trace, trace.reader().directory().node_bytes(), 0)
}

/// Where no index can be kept, the next one who looks has to wait again, no more.
fn keep(viewer: &Viewer<'_>, store: Option<&Store>) {
    if let (Some(index), Some(store)) = (viewer.index(), store) {
        drop(store.write(&index.encode(identity(viewer))));
    }
}
