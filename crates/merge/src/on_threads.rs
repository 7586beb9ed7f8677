//! Work that is done on each thing of a list, by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Gives what `work` makes of each of `things`, in their order; `threads` threads take them in turn. With one there is no other thread.
pub fn on_threads<'t, T: Sync, R: Send>(
    threads: usize,
    things: &'t [T],
    work: impl Fn(&'t T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(things.len());
    if threads < 2 {
        return things.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let made = Mutex::new(Vec::with_capacity(things.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(at) else { return };
                    let result = work(thing);
                    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                    made.push((at, result));
                }
            });
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_things() {
        let things: Vec<u32> = (0..100).collect();
        for threads in [0, 1, 2, 7, 200] {
            let doubled = on_threads(threads, &things, |n| n * 2);
            assert_eq!(doubled, things.iter().map(|n| n * 2).collect::<Vec<_>>());
        }
        assert_eq!(on_threads(3, &[], |n: &u32| *n), [0; 0]);
    }
}
