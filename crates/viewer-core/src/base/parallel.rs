//! Two things at once, on this thread and another one. Pages without a server have one thread only.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Whether an answer is not wanted any more.
pub type Stop<'s> = &'s dyn Fn() -> bool;

/// Does both; one after the other where there can be no other thread.
pub fn both<A, B: Send>(here: impl FnOnce() -> A, there: impl Fn() -> B + Sync) -> (A, B) {
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

/// The same of what asks every now and then whether to stop. Only this thread can ask `stop`; the other one is told.
pub fn both_until<A, B: Send>(
    stop: Stop<'_>,
    here: impl FnOnce(Stop<'_>) -> A,
    there: impl Fn(Stop<'_>) -> B + Sync,
) -> (A, B) {
    let is_stopped = AtomicBool::new(false);
    let asked = || {
        let stop = stop();
        is_stopped.fetch_or(stop, Ordering::Relaxed);
        stop
    };
    let told = || is_stopped.load(Ordering::Relaxed);
    both(|| here(&asked), || there(&told))
}
