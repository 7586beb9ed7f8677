//! Two things at once, on this thread and another one. Pages without a server have one thread only.

use std::panic::resume_unwind;
use std::thread;

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
