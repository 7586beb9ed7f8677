//! Limits for clients that only connect: a connection that has not shown that it may ask is one of few and short-lived, and one
//! that takes no answer is closed.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections at once that have not shown that they may ask: one more closes the oldest.
    pub strangers: usize,
    /// Time for which such a connection is kept.
    pub stranger: Duration,
    /// Time for which a client may read nothing of an answer.
    pub unread: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            strangers: 256,
            stranger: Duration::from_secs(10),
            unread: Duration::from_secs(60),
        }
    }
}

/// A connection: whether it has shown that it may ask.
#[derive(Debug, Default)]
pub struct Guest {
    is_known: AtomicBool,
    unwanted: Notify,
}

impl Guest {
    /// Takes note that the client has shown that it may ask.
    pub fn is_let_in(&self) {
        self.is_known.store(true, Relaxed);
    }

    /// Ends when the connection is to be closed: it is too old, or one too many, and has not shown that it may ask.
    pub async fn is_unwanted(&self, limits: ConnectionLimits) {
        let too_old = tokio::time::timeout(limits.stranger, self.unwanted.notified()).await;
        if !self.is_known.load(Relaxed) {
            return;
        }
        drop(too_old);
        std::future::pending::<()>().await;
    }
}

/// The connections that have not shown that they may ask.
#[derive(Debug, Default)]
pub struct Strangers {
    waiting: Mutex<VecDeque<Arc<Guest>>>,
}

impl Strangers {
    /// Counts a new connection.
    pub fn add(&self, limits: ConnectionLimits) -> Arc<Guest> {
        let guest = Arc::new(Guest::default());
        let mut waiting = self.waiting.lock();
        // Those that nobody else holds are closed.
        waiting.retain(|one| !one.is_known.load(Relaxed) && Arc::strong_count(one) > 1);
        if waiting.len() >= limits.strangers
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.unwanted.notify_one();
        }
        waiting.push_back(Arc::clone(&guest));
        guest
    }
}

/// A stream on which writing fails when the other end has taken nothing for some time.
#[derive(Debug)]
pub struct Impatient<S> {
    stream: S,
    unread: Duration,
    /// Since when nothing could be written, and what wakes us when that is too long.
    stuck: Option<Pin<Box<Sleep>>>,
}

impl<S> Impatient<S> {
    /// A stream whose other end may take nothing for at most `unread`.
    pub fn new(stream: S, unread: Duration) -> Self {
        Impatient {
            stream,
            unread,
            stuck: None,
        }
    }

    fn limit<T>(
        &mut self,
        context: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.stuck = None;
            return result;
        }
        let until = Instant::now() + self.unread;
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limit(context, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.limit(context, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::UnixStream;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        strangers: 2,
        stranger: Duration::from_millis(50),
        unread: Duration::from_millis(50),
    };

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(future)
    }

    /// Whether the connection is to be closed within a second.
    async fn is_closed(guest: &Guest) -> bool {
        let long = Duration::from_secs(1);
        tokio::time::timeout(long, guest.is_unwanted(LIMITS))
            .await
            .is_ok()
    }

    #[test]
    fn who_does_not_show_that_he_may_ask_is_closed() {
        block_on(async {
            let strangers = Strangers::default();
            let (stranger, known) = (strangers.add(LIMITS), strangers.add(LIMITS));
            known.is_let_in();
            assert!(is_closed(&stranger).await);
            assert!(!is_closed(&known).await);
        });
    }

    #[test]
    fn one_too_many_closes_the_oldest() {
        block_on(async {
            let patient = ConnectionLimits {
                stranger: Duration::from_secs(3600),
                ..LIMITS
            };
            let strangers = Strangers::default();
            let known = strangers.add(patient);
            known.is_let_in();
            let guests = [(); 3].map(|()| strangers.add(patient));
            let long = Duration::from_millis(200);
            let mut closed = Vec::new();
            for guest in guests.iter().chain([&known]) {
                let unwanted = guest.is_unwanted(patient);
                closed.push(tokio::time::timeout(long, unwanted).await.is_ok());
            }
            assert_eq!(closed, [true, false, false, false]);
        });
    }

    #[test]
    fn who_takes_no_answer_is_given_up() {
        block_on(async {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let mut ours = Impatient::new(ours, LIMITS.unread);
            let bytes = vec![0; 1 << 16];
            let error = loop {
                let write = std::future::poll_fn(|c| Pin::new(&mut ours).poll_write(c, &bytes));
                if let Err(error) = write.await {
                    break error;
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(theirs);
        });
    }
}
