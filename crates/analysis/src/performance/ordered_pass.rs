//! A pass over drawables: whoever reads them puts them into the order of time, and another thread analyses them where there is one.

use super::events::{EventBatch, EventOrder};
use super::pass::WaitPass;
use std::sync::mpsc::{self, SendError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, panic, thread};
use trace_model::Drawable;

/// A pass that is made where the drawables are read.
pub(super) struct OrderedPass<'a> {
    order: EventOrder<'a>,
    batch: EventBatch,
    pub pass: WaitPass<'a>,
}

impl<'a> OrderedPass<'a> {
    /// A pass before its first drawable.
    pub(super) fn new(pass: WaitPass<'a>) -> OrderedPass<'a> {
        OrderedPass {
            order: pass.event_order(),
            batch: EventBatch::default(),
            pass,
        }
    }

    /// Takes the next drawable in order of beginnings.
    pub(super) fn put(&mut self, drawable: &Drawable<'_>) {
        self.order.put(drawable, &mut self.batch);
        if self.batch.is_full() {
            self.pass.take(&self.batch);
            self.batch.clear();
        }
    }

    /// Ends the input.
    pub(super) fn finish(mut self) -> WaitPass<'a> {
        self.order.finish(&mut self.batch);
        self.pass.take(&self.batch);
        self.pass.finish(&self.order);
        self.pass
    }
}

/// Batches that wait for the analysing thread, at most.
const MAX_WAITING: usize = 4;

/// Makes a pass over the drawables that `read` gives in order of their beginnings. It runs on a thread of its own beside `read`, unless there is one
/// processor only, or no thread to be had.
///
/// # Errors
/// The errors of `read`.
pub(super) fn pass_over<'a, E>(
    pass: WaitPass<'a>,
    read: impl FnOnce(&mut dyn FnMut(&Drawable<'_>)) -> Result<(), E>,
) -> Result<WaitPass<'a>, E> {
    let mut order = pass.event_order();
    let pass = Mutex::new(pass);
    let (full, to_analyse) = mpsc::sync_channel(MAX_WAITING);
    let (analysed, free) = mpsc::channel();
    let analyse = || {
        let mut pass = locked(&pass);
        for mut batch in to_analyse {
            pass.take(&batch);
            batch.clear();
            // Who reads may have come to an end.
            let _ = analysed.send(batch);
        }
    };
    let has_processors = thread::available_parallelism().is_ok_and(|number| number.get() > 1);
    let outcome = thread::scope(|scope| {
        let analyser = has_processors.then(|| thread::Builder::new().spawn_scoped(scope, analyse));
        let pass = &pass;
        // Gives a batch away, and gets an empty one. Without a thread it cannot be given to one. The thread ends with this.
        let hand_on = move |batch: EventBatch| match full.send(batch) {
            Ok(()) => free.try_recv().unwrap_or_default(),
            Err(SendError(mut batch)) => {
                locked(pass).take(&batch);
                batch.clear();
                batch
            }
        };
        let mut batch = EventBatch::default();
        let outcome = read(&mut |drawable| {
            order.put(drawable, &mut batch);
            if batch.is_full() {
                batch = hand_on(mem::take(&mut batch));
            }
        });
        order.finish(&mut batch);
        hand_on(batch);
        drop(hand_on);
        if let Some(Ok(analyser)) = analyser
            && let Err(panicked) = analyser.join()
        {
            panic::resume_unwind(panicked);
        }
        outcome
    });
    let mut pass = pass.into_inner().unwrap_or_else(PoisonError::into_inner);
    pass.finish(&order);
    outcome.map(|()| pass)
}

/// The pass, whoever had it before.
fn locked<'p, 'a>(pass: &'p Mutex<WaitPass<'a>>) -> MutexGuard<'p, WaitPass<'a>> {
    pass.lock().unwrap_or_else(PoisonError::into_inner)
}
