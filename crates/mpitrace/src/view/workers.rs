//! Work that takes time, done by threads of their own for as long as somebody waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Requests that are worked on at once.
pub const WORKERS: usize = 8;

/// Has one of the workers do something that takes time. `work` is given a question that it asks now and then: whether
/// nobody waits for it any more.
pub async fn work<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
) -> Result<T, tokio::task::JoinError> {
    let is_dropped = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_dropped);
    let handle = tokio::task::spawn_blocking(move || work(&|| asked.load(Ordering::Relaxed)));
    let _waiter = Waiter {
        is_dropped,
        work: handle.abort_handle(),
    };
    handle.await
}

/// While this is there, somebody waits for the work.
struct Waiter {
    is_dropped: Arc<AtomicBool>,
    work: tokio::task::AbortHandle,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.is_dropped.store(true, Ordering::Relaxed);
        // Work that has not begun is dropped.
        self.work.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        runtime.block_on(future)
    }

    #[test]
    fn work_that_nobody_waits_for_ends() {
        block_on(async {
            let (begins, begun) = std::sync::mpsc::channel();
            let (ends, ended) = std::sync::mpsc::channel();
            let mut long = Box::pin(work(move |is_unwanted| {
                begins.send(()).unwrap();
                while !is_unwanted() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                ends.send(()).unwrap();
            }));
            // Only what has been begun says that it ends: the rest is never run.
            assert!(
                tokio::time::timeout(Duration::ZERO, &mut long)
                    .await
                    .is_err()
            );
            begun.recv_timeout(Duration::from_secs(60)).unwrap();
            drop(long);
            ended.recv_timeout(Duration::from_secs(60)).unwrap();
            assert_eq!(work(|_| 7).await.unwrap(), 7);
        });
    }

    #[test]
    fn a_panic_ends_one_work_only() {
        block_on(async {
            let panicked = work(|_| -> u32 { std::panic::panic_any("on purpose") }).await;
            assert!(panicked.unwrap_err().is_panic());
            assert_eq!(work(|_| 7).await.unwrap(), 7);
        });
    }
}
