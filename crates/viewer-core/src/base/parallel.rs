//! Work on two threads, and cancelling it. Pages without a server have one thread only.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Tells long work whether it is cancelled: its answer is not wanted any more.
pub type Cancel<'s> = &'s dyn Fn() -> bool;

/// Runs two pieces of work side by side; one after the other where there can be no other thread.
pub fn run_parallel<A, B: Send>(here: impl FnOnce() -> A, there: impl Fn() -> B + Sync) -> (A, B) {
    thread::scope(|scope| {
        let other = thread::Builder::new().name("second".into());
        let other = other.spawn_scoped(scope, &there);
        let a = here();
        let b = match other {
            Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => there(),
        };
        (a, b)
    })
}

/// Runs two pieces of work side by side that check now and then whether they are cancelled. Only this thread asks `cancel`; the other one reads what it found.
pub fn run_parallel_cancellable<A, B: Send>(
    cancel: Cancel<'_>,
    here: impl FnOnce(Cancel<'_>) -> A,
    there: impl Fn(Cancel<'_>) -> B + Sync,
) -> (A, B) {
    let is_cancelled = AtomicBool::new(false);
    let is_cancelled_here = || {
        let cancel = cancel();
        is_cancelled.fetch_or(cancel, Ordering::Relaxed);
        cancel
    };
    let is_cancelled_there = || is_cancelled.load(Ordering::Relaxed);
    run_parallel(|| here(&is_cancelled_here), || there(&is_cancelled_there))
}
