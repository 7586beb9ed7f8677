//! Connections: HTTP/1.1 on the loopback interface or a socket in the file system, each request given to [`ViewSite`].
//!
//! One thread waits for all connections. What takes time is done by [`WORKERS`] others, further requests wait in a row. Of
//! a connection that its client has closed the request is dropped, and with it what is worked on for it.

use super::limits::{ConnectionLimits, Guest, Impatient, Strangers};
use super::site::ViewSite;
use super::workers::WORKERS;
use crate::failure::Failure;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

/// Connections at once; further ones wait to be accepted.
const CONNECTIONS: usize = 512;
/// Bytes of a request's head, in which the state of the page can stand.
const HEAD: usize = 64 << 10;
/// Bytes of what is posted: a token.
const POSTED: usize = 256;
/// Time in which a client must send a request, and for which a connection is kept that brings none.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause when the system has no descriptor or memory for another connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Listening socket for requests.
pub enum HttpListener {
    Port(std::net::TcpListener),
    Socket(std::os::unix::net::UnixListener),
}

impl HttpListener {
    /// On the loopback interface; port 0 is any that is free.
    pub fn port(port: u16) -> Result<Self, Failure> {
        let failed = |error| Failure::Data(format!("port {port}: {error}"));
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(HttpListener::Port(listener))
    }

    /// On a socket that only this user can connect to. One that a server has left behind is replaced.
    pub fn socket(path: &Path) -> Result<Self, Failure> {
        use std::os::unix::fs::FileTypeExt;
        use std::os::unix::net::{UnixListener, UnixStream};
        let failed = |error: std::io::Error| Failure::file(path, error);
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let only_mine = rustix::fs::Mode::from(0o177);
        let before = rustix::process::umask(only_mine);
        let listener = UnixListener::bind(path);
        rustix::process::umask(before);
        let listener = listener.map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(HttpListener::Socket(listener))
    }

    /// The port's address.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            HttpListener::Port(listener) => listener.local_addr().ok(),
            HttpListener::Socket(_) => None,
        }
    }
}

/// Answers requests, until nobody has asked for as long as `idle` says.
pub fn serve(
    site: Arc<ViewSite>,
    listener: HttpListener,
    idle: Option<Duration>,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Data(format!("the server: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .thread_name("answers")
        .build()
        .map_err(failed)?;
    let result = runtime.block_on(async {
        let accepting = match listener {
            HttpListener::Port(listener) => {
                let listener = TcpListener::from_std(listener)?;
                tokio::spawn(accept(
                    Arc::clone(&site),
                    ConnectionLimits::default(),
                    async move || {
                        let (stream, _) = listener.accept().await?;
                        // An answer is written at once, so that nothing is gained by waiting for more of it.
                        stream.set_nodelay(true)?;
                        Ok(stream)
                    },
                ))
            }
            HttpListener::Socket(listener) => {
                let listener = UnixListener::from_std(listener)?;
                tokio::spawn(accept(
                    Arc::clone(&site),
                    ConnectionLimits::default(),
                    async move || Ok(listener.accept().await?.0),
                ))
            }
        };
        match idle {
            None => drop(accepting.await),
            Some(idle) => until_idle(&site, idle).await,
        }
        Ok(())
    });
    // Whoever still computes something does it for nobody.
    runtime.shutdown_background();
    result.map_err(failed)
}

async fn until_idle(site: &ViewSite, idle: Duration) {
    while let Some(left) = idle
        .checked_sub(site.unasked())
        .filter(|left| !left.is_zero())
    {
        tokio::time::sleep(left).await;
    }
}

async fn accept<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    site: Arc<ViewSite>,
    limits: ConnectionLimits,
    next: impl AsyncFn() -> std::io::Result<S>,
) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let strangers = Strangers::default();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let stream = match next().await {
            Ok(stream) => stream,
            // The client is gone already, or descriptors have run out.
            Err(_) => {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let site = Arc::clone(&site);
        let guest = strangers.add(limits);
        tokio::spawn(async move {
            let answer = service_fn(|request| respond(Arc::clone(&site), &guest, request));
            let mut connection = http1::Builder::new();
            connection
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_TIMEOUT)
                .max_buf_size(HEAD);
            // Errors of a connection are the client's affair.
            let stream = TokioIo::new(Impatient::new(stream, limits.unread));
            let served = connection.serve_connection(stream, answer);
            let mut served = pin!(served);
            let mut unwanted = pin!(guest.is_unwanted(limits));
            poll_fn(|context| {
                let is_served = served.as_mut().poll(context).is_ready();
                match is_served || unwanted.as_mut().poll(context).is_ready() {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
            drop(place);
        });
    }
}

async fn respond(
    site: Arc<ViewSite>,
    guest: &Guest,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let mut posted = Bytes::new();
    if head.method == Method::POST {
        let limited = tokio::time::timeout(REQUEST_TIMEOUT, Limited::new(body, POSTED).collect());
        if let Ok(Ok(body)) = limited.await {
            posted = body.to_bytes();
        }
    }
    if site.is_let_in(&head) {
        guest.is_let_in();
    }
    Ok(ViewSite::respond(site, &head, &posted).await)
}
