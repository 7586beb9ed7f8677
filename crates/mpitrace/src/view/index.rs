//! Indexes of traces that are too large to be read for a picture: those that were kept, else made while the first pictures
//! are looked at: cells first, since pictures need them, then what the trace adds up to. After them what the summaries of
//! these traces say exactly, unless that was kept, too.

use super::mapped::Mapped;
use super::opened::OpenedTrace;
use super::store::{CacheFolder, CachedTrace};
use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use viewer_core::index::{
    Aggregated, Aggregation, IndexBuilder, IndexIdentity, IndexShape, OverviewIndex, ReadProgress,
    StateBatch, join_halves,
};
use viewer_core::summary::TraceSummary;
use viewer_core::{TraceTracks, TraceWaits, Viewer};

/// Batches that are on their way from those who read to those who take, and back: so many that none of the three threads waits
/// for another one that has just lost its processor.
const BATCHES: usize = 4;

/// The priority of what pictures wait for, but not the first ones; and the lowest there is.
const LATER: i32 = 10;
const LAST: i32 = 19;

/// Finds what was kept, and makes what is missing, one index after the other.
pub fn begin(traces: &mut [OpenedTrace]) {
    let mut large = Vec::new();
    for trace in traces.iter_mut() {
        let store = trace.store.take();
        let viewer = trace.viewer;
        if viewer.is_small() {
            continue;
        }
        if let Some((index, mapped)) = store.as_ref().and_then(|store| kept(viewer, store)) {
            viewer.set_index(index);
            trace.index = Some(mapped);
        } else {
            viewer.set_building(0);
        }
        // They come from one pass over the trace: who lacks one makes all.
        match store.as_ref().and_then(|store| kept_pass(viewer, store)) {
            Some((summary, waits, tracks)) => {
                viewer.set_summary(summary);
                viewer.set_waits(waits);
                viewer.set_tracks(tracks);
            }
            None => viewer.set_summing(true),
        }
        large.push((trace.mapped, viewer, store));
    }
    let is_whole = |viewer: &Viewer<'_>| viewer.index().is_some() && viewer.has_summary();
    large.retain(|(_, viewer, _)| !is_whole(viewer));
    if large.is_empty() {
        return;
    }
    let viewers: Vec<_> = large.iter().map(|(_, viewer, _)| *viewer).collect();
    let make_all = move || {
        // Answers are made before. On Linux this is about this thread, and those that it starts, only.
        let _ = rustix::process::setpriority_process(None, LATER);
        let mut uncounted = Vec::new();
        for (mapped, viewer, store) in &large {
            if viewer.index().is_some() {
                continue;
            }
            let progress = |done: ReadProgress| {
                let percent = done.bytes.saturating_mul(100) / done.of_bytes.max(1);
                viewer.set_building(percent as u8);
            };
            // A trace that is damaged somewhere is shown without an index; what is asked there says what is wrong.
            let shape = IndexShape {
                totals: false,
                ..IndexShape::of(viewer.trace())
            };
            let Some(index) = make(viewer, mapped, shape, &progress) else {
                viewer.end_building();
                continue;
            };
            viewer.set_index(index);
            uncounted.push((mapped, viewer, store));
        }
        for (mapped, viewer, store) in uncounted {
            let Some(index) = viewer.index() else {
                continue;
            };
            // Pictures of everything have waited for no more than the finest cells.
            index.coarsen();
            // Cells there are already.
            let shape = IndexShape {
                bins: 1,
                ..IndexShape::of(viewer.trace())
            };
            let totals = make(viewer, mapped, shape, &|_| {}).and_then(OverviewIndex::into_totals);
            let Some(totals) = totals else {
                continue;
            };
            index.set_totals(totals);
            // If no index can be kept, the next one who looks has to wait again, no more.
            if let Some(store) = store {
                let (identity, kept) = (identity(viewer), CachedTrace::Index);
                drop(store.write(kept, &|out| {
                    index.write(identity, |part| out.write_all(part))
                }));
            }
        }
        // Whoever looks at anything meanwhile goes first.
        let _ = rustix::process::setpriority_process(None, LAST);
        for (mapped, viewer, store) in large {
            // If the trace is damaged or has changed, only previews are known.
            let summary = viewer.summary(&|| mapped.trouble().is_some());
            viewer.set_summing(false);
            if let (Ok(summary), Some(store)) = (summary, store)
                && let Ok(text) = serde_json::to_vec(&*summary)
            {
                drop(store.write(CachedTrace::Summary, &|out| out.write_all(&text)));
                if let Some(waits) = viewer.waits() {
                    let whole = waits.encode(viewer.trace(), f64::NEG_INFINITY, f64::INFINITY);
                    drop(store.write(CachedTrace::Waits, &|out| out.write_all(&whole)));
                }
                if let Some(Ok(text)) = viewer.tracks().map(serde_json::to_vec) {
                    drop(store.write(CachedTrace::Tracks, &|out| out.write_all(&text)));
                }
            }
        }
    };
    let begun = thread::Builder::new().name("index".into()).spawn(make_all);
    // Without it pictures of long windows stay coarse.
    if begun.is_err() {
        for viewer in viewers {
            viewer.end_building();
            viewer.set_summing(false);
        }
    }
}

/// Makes an index, on this thread and two others. `None` if the trace is damaged or was changed.
fn make(
    viewer: &Viewer<'_>,
    mapped: &Mapped,
    shape: IndexShape,
    progress: &dyn Fn(ReadProgress),
) -> Option<OverviewIndex<'static>> {
    let builder = IndexBuilder::new(viewer.trace(), shape).ok()?;
    let (mut reading, [upper, lower]) = builder.parts();
    thread::scope(|scope| {
        let upper = Taker::begin(scope, upper)?;
        let lower = Taker::begin(scope, lower)?;
        let mut is_more = true;
        while is_more {
            let (mut of_upper, mut of_lower) = (upper.room()?, lower.room()?);
            is_more = reading.next([&mut of_upper, &mut of_lower]).ok()?;
            if mapped.trouble().is_some() {
                return None;
            }
            progress(reading.done());
            upper.give(of_upper)?;
            lower.give(of_lower)?;
        }
        let (upper, lower) = (upper.end(), lower.end());
        let halves = [upper.join().ok()?, lower.join().ok()?];
        Some(join_halves(reading, halves))
    })
}

/// A thread that takes the states of half of the units.
struct Taker<'s> {
    give: SyncSender<StateBatch>,
    given_back: Receiver<StateBatch>,
    thread: ScopedJoinHandle<'s, Aggregated>,
}

impl<'s> Taker<'s> {
    fn begin<'e>(scope: &'s Scope<'s, 'e>, mut aggregation: Aggregation) -> Option<Self> {
        let (give, given) = sync_channel::<StateBatch>(BATCHES);
        let (give_back, given_back) = sync_channel::<StateBatch>(BATCHES);
        for _ in 0..BATCHES {
            give_back.send(StateBatch::default()).ok()?;
        }
        let thread = thread::Builder::new().name("index-states".into());
        let thread = thread.spawn_scoped(scope, move || {
            for batch in given {
                aggregation.take(&batch);
                // There is room for all there are.
                drop(give_back.send(batch));
            }
            aggregation.finish()
        });
        Some(Taker {
            give,
            given_back,
            thread: thread.ok()?,
        })
    }

    /// A batch to be filled, once there is one.
    fn room(&self) -> Option<StateBatch> {
        self.given_back.recv().ok()
    }

    fn give(&self, batch: StateBatch) -> Option<()> {
        self.give.send(batch).ok()
    }

    /// There are no more batches.
    fn end(self) -> ScopedJoinHandle<'s, Aggregated> {
        self.thread
    }
}

/// The index that was kept, which stays in its file: what is never looked at takes no memory.
fn kept(
    viewer: &Viewer<'_>,
    store: &CacheFolder,
) -> Option<(OverviewIndex<'static>, &'static Mapped)> {
    let (file, path, bytes) = store.find(CachedTrace::Index)?;
    // It stays as long as the trace, which is until the process ends.
    let mapped: &'static Mapped = Box::leak(Box::new(Mapped::of(file, &path).ok()?));
    let index = OverviewIndex::decode(mapped.get(bytes)?, identity(viewer), viewer.trace())?;
    Some((index, mapped))
}

/// What one pass over the trace has found, if all of it was kept.
fn kept_pass(
    viewer: &Viewer<'_>,
    store: &CacheFolder,
) -> Option<(TraceSummary, TraceWaits, TraceTracks)> {
    let tracks = kept_bytes(store, CachedTrace::Tracks)?;
    let tracks = serde_json::from_slice(&tracks).ok();
    let tracks = tracks.filter(|tracks| viewer.has_such_tracks(tracks))?;
    Some((kept_summary(store)?, kept_waits(viewer, store)?, tracks))
}

/// The summary that was kept, unless that was before summaries had verdicts and phases.
fn kept_summary(store: &CacheFolder) -> Option<TraceSummary> {
    let bytes = kept_bytes(store, CachedTrace::Summary)?;
    let kept: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    kept.get("verdict").and(kept.get("phases"))?;
    serde_json::from_value(kept).ok()
}

/// The waits that were kept.
fn kept_waits(viewer: &Viewer<'_>, store: &CacheFolder) -> Option<TraceWaits> {
    TraceWaits::decode(viewer.trace(), &kept_bytes(store, CachedTrace::Waits)?)
}

/// All of what was kept of one kind.
fn kept_bytes(store: &CacheFolder, what: CachedTrace) -> Option<Vec<u8>> {
    let (file, _, at) = store.find(what)?;
    let mut bytes = Vec::new();
    file.take(at.len() as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Identity of the trace of an index. The place of the index knows when the trace was changed.
fn identity(viewer: &Viewer<'_>) -> IndexIdentity {
    let trace = viewer.trace();
    IndexIdentity::new(trace, trace.reader().directory().node_bytes(), 0)
}
