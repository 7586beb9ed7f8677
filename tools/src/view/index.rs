//! Indexes of traces that are too large to be read for a picture: those that were kept, else made while the first pictures
//! are looked at. After them what the summaries of these traces say exactly.

use super::mapped::Mapped;
use super::opened::Opened;
use super::store::Store;
use std::sync::mpsc::sync_channel;
use std::thread;
use view::Viewer;
use view::pyramid::{Batch, Builder, Done, Identity, Index, Shape, join};

/// Batches that are on their way from those who read to those who take, and back: one that is read, one that is taken, one
/// between.
const BATCHES: usize = 3;

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
        match store.as_ref().and_then(|store| kept(trace.viewer, store)) {
            Some((index, mapped)) => {
                trace.viewer.set_index(index);
                trace.index = Some(mapped);
            }
            None => missing.push((trace.mapped, trace.viewer, store)),
        }
    }
    if large.is_empty() {
        return;
    }
    let make_all = move || {
        for (mapped, viewer, store) in missing {
            viewer.set_building(0);
            let tell = |done: Done| {
                let percent = done.bytes.saturating_mul(100) / done.of_bytes.max(1);
                viewer.set_building(percent as u8);
            };
            // A trace that is damaged somewhere is shown without an index; what is asked there says what is wrong.
            let Some(index) = make(viewer, mapped, &tell) else {
                continue;
            };
            viewer.set_index(index);
            // Where no index can be kept, the next one who looks has to wait again, no more.
            if let (Some(index), Some(store)) = (viewer.index(), &store) {
                let identity = identity(viewer);
                drop(store.write(&|out| index.write(identity, |part| out.write_all(part))));
            }
        }
        for (mapped, viewer) in large {
            // It is kept; where the trace is damaged or changed, previews stay what is known.
            drop(viewer.summary(&|| mapped.trouble().is_some()));
            viewer.set_summing(false);
        }
    };
    // Without it pictures of long windows stay coarse.
    drop(thread::Builder::new().name("index".into()).spawn(make_all));
}

/// Makes an index, on this thread and another one. `None` if the trace is damaged or was changed.
fn make(viewer: &Viewer<'_>, mapped: &Mapped, tell: &dyn Fn(Done)) -> Option<Index<'static>> {
    let trace = viewer.trace();
    let builder = Builder::new(trace, Shape::of(trace)).ok()?;
    let (mut reading, mut taking) = builder.parts();
    let (give, given) = sync_channel::<Batch>(BATCHES);
    let (give_back, given_back) = sync_channel::<Batch>(BATCHES);
    for _ in 0..BATCHES {
        give_back.send(Batch::default()).ok()?;
    }
    thread::scope(|scope| {
        let taker = thread::Builder::new().name("index-states".into());
        let taker = taker.spawn_scoped(scope, move || {
            for batch in given {
                taking.take(&batch);
                // There is room for all there are.
                drop(give_back.send(batch));
            }
            taking
        });
        let taker = taker.ok()?;
        let mut is_more = true;
        while is_more {
            let mut batch = given_back.recv().ok()?;
            is_more = reading.next(&mut batch).ok()?;
            if mapped.trouble().is_some() {
                return None;
            }
            tell(reading.done());
            give.send(batch).ok()?;
        }
        drop(give);
        Some(join(reading, taker.join().ok()?))
    })
}

/// The index that was kept, which stays in its file: what is never looked at takes no memory.
fn kept(viewer: &Viewer<'_>, store: &Store) -> Option<(Index<'static>, &'static Mapped)> {
    let (path, bytes) = store.find()?;
    // It stays as long as the trace, which is until the process ends.
    let mapped: &'static Mapped = Box::leak(Box::new(Mapped::open(path).ok()?));
    let index = Index::decode(mapped.get(bytes)?, identity(viewer), viewer.trace())?;
    Some((index, mapped))
}

/// What an index is of. When the trace was changed is known to its place.
fn identity(viewer: &Viewer<'_>) -> Identity {
    let trace = viewer.trace();
    Identity::new(trace, trace.reader().directory().node_bytes(), 0)
}
