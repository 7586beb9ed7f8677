//! A conversion by several threads: one reads, one sorts if need be, one writes. The bytes are those of one thread, since the drawables
//! keep their order.

use crate::failure::Failure;
use crate::trace_files::losses::failure;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use trace_model::{Drawable, DrawableBatch, DrawableOrder, Losses, Sink, Sorter, Source, Stop};

/// Bytes of drawables that go to the next thread together.
const BATCH_BYTES: usize = 256 << 10;
/// Batches that may wait for a thread.
const BATCHES: usize = 4;

/// What goes from one thread to the next.
enum Step {
    Batch(DrawableBatch),
    /// All drawables have come; without it the one before has failed.
    End,
}

/// What a thread says when the next one takes nothing more: that one has failed, and its own error is the one to tell.
const NOBODY_TAKES: &str = "the conversion has failed";

/// The way to the next thread.
struct Sending {
    batch: DrawableBatch,
    to: SyncSender<Step>,
}

impl Sending {
    fn new(to: SyncSender<Step>) -> Sending {
        let batch = DrawableBatch::default();
        Sending { batch, to }
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.batch.push(drawable);
        match self.batch.size() < BATCH_BYTES {
            true => Ok(()),
            false => self.send(),
        }
    }

    fn send(&mut self) -> Result<(), Stop> {
        let batch = std::mem::take(&mut self.batch);
        let sent = self.to.send(Step::Batch(batch));
        sent.map_err(|_| NOBODY_TAKES.into())
    }

    fn end(mut self) -> Result<(), Stop> {
        self.send()?;
        self.to.send(Step::End).map_err(|_| NOBODY_TAKES.into())
    }
}

/// Gives what comes to `put`; whether all has come.
fn receive(
    from: &Receiver<Step>,
    mut put: impl FnMut(&Drawable<'_>) -> Result<(), Stop>,
) -> Result<bool, Stop> {
    for step in from {
        match step {
            Step::Batch(batch) => batch.for_each(&mut put)?,
            Step::End => return Ok(true),
        }
    }
    Ok(false)
}

/// Puts everything of `source` into the sink that `make` makes, as [`trace_model::convert`] does, and says what was lost on either side.
///
/// # Errors
/// The errors of the two, and of temporary files. The file gets no name then.
pub fn convert(
    source: &dyn Source,
    make: impl FnOnce() -> Result<Box<dyn Sink>, Failure> + Send,
) -> Result<Losses, Failure> {
    std::thread::scope(|scope| {
        let (to_sink, batches) = sync_channel(BATCHES);
        let (tell_order, order) = sync_channel(1);
        let writer = scope.spawn(move || write(make, &tell_order, &batches));
        // Without an order there is no sink, and the writer says why.
        let read = match order.recv() {
            Ok(order) => read(source, order, to_sink, scope),
            Err(_) => Err(NOBODY_TAKES.into()),
        };
        let written = joined(writer);
        match (read, written) {
            (Ok(mut losses), Ok(Some(more))) => {
                losses.merge(&more);
                Ok(losses)
            }
            (_, Err(why)) => Err(why),
            (Err(stop), Ok(_)) => Err(failure(stop)),
            (Ok(_), Ok(None)) => Err(failure(NOBODY_TAKES.into())),
        }
    })
}

/// Reads, and has what is read sorted where the writer wants another order.
fn read<'s>(
    source: &dyn Source,
    wanted: DrawableOrder,
    to_sink: SyncSender<Step>,
    scope: &'s Scope<'s, '_>,
) -> Result<Losses, Stop> {
    if wanted == DrawableOrder::Any || wanted == source.order() {
        let mut sending = Sending::new(to_sink);
        let losses = source.for_each(&mut |drawable| sending.put(drawable))?;
        sending.end()?;
        return Ok(losses);
    }
    let (to_sorter, batches) = sync_channel(BATCHES);
    let sorter = scope.spawn(move || sort(wanted, &batches, to_sink));
    let mut sending = Sending::new(to_sorter);
    let read = source.for_each(&mut |drawable| sending.put(drawable));
    let read = read.and_then(|losses| sending.end().map(|()| losses));
    let sorted = joined(sorter);
    match (read, sorted) {
        // The sorter fails first.
        (_, Err(stop)) => Err(stop),
        (read, Ok(())) => read,
    }
}

/// Sorts what comes, and passes it on.
fn sort(wanted: DrawableOrder, from: &Receiver<Step>, to: SyncSender<Step>) -> Result<(), Stop> {
    let mut sorter = Sorter::new(wanted);
    if !receive(from, |drawable| Ok(sorter.push(drawable)?))? {
        return Ok(());
    }
    let mut sending = Sending::new(to);
    sorter.finish(&mut |drawable| sending.put(drawable))?;
    sending.end()
}

/// Writes what comes; `None` if not all came.
fn write(
    make: impl FnOnce() -> Result<Box<dyn Sink>, Failure>,
    order: &SyncSender<DrawableOrder>,
    batches: &Receiver<Step>,
) -> Result<Option<Losses>, Failure> {
    let mut sink = make()?;
    // Whoever waits for the order is there until it has come.
    let _ = order.send(sink.order());
    let is_all = receive(batches, |drawable| sink.put(drawable)).map_err(failure)?;
    match is_all {
        true => sink.finish().map(Some).map_err(failure),
        false => Ok(None),
    }
}

/// The result of a thread, which panics with it.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
