//! Addresses of data servers, and streams to them: Unix sockets on this host, TCP to any.

use rustix::net::sockopt::socket_peercred;
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Time after which a server that does not answer is taken for dead.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Interval at which a waiting data server checks how long it has waited.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A data server writes this and its address to stdout when it can be connected to.
pub const LISTENING: &str = "listening ";

/// Address on which a data server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Name of a Unix socket.
    Unix(PathBuf),
    /// Host and port.
    Tcp(String),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Address::Unix(path.into())),
            Some(("tcp", place)) if place.contains(':') => Ok(Address::Tcp(place.to_owned())),
            _ => Err("unix:PATH or tcp:HOST:PORT is expected".to_owned()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(place) => write!(f, "tcp:{place}"),
        }
    }
}

/// Sees that the user at the other end of a connection is this process's own, or root.
pub fn expect_own(user: u32) -> io::Result<()> {
    let own = trace_model::files::user();
    if user == own || user == 0 {
        return Ok(());
    }
    let why = format!(
        "the other end is user {user}, this one is user {own}: both must be of one user, or the other one root"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// A connection.
#[derive(Debug)]
pub enum ServerStream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// Takes connections.
#[derive(Debug)]
pub enum ServerListener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl ServerStream {
    /// Connects to a data server.
    pub fn connect(address: &Address) -> io::Result<ServerStream> {
        let stream = match address {
            Address::Unix(path) => ServerStream::Unix(UnixStream::connect(path)?),
            Address::Tcp(place) => ServerStream::Tcp(TcpStream::connect(place)?),
        };
        stream.set_patience(ANSWER_TIMEOUT)?;
        Ok(stream)
    }

    /// Reading gives up after `read`, writing after [`ANSWER_TIMEOUT`]; small messages are sent at once.
    fn set_patience(&self, read: Duration) -> io::Result<()> {
        match self {
            ServerStream::Unix(stream) => {
                stream.set_read_timeout(Some(read))?;
                stream.set_write_timeout(Some(ANSWER_TIMEOUT))
            }
            ServerStream::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(read))?;
                stream.set_write_timeout(Some(ANSWER_TIMEOUT))
            }
        }
    }

    /// The user at the other end, if that is on this host and known.
    pub fn user(&self) -> io::Result<Option<u32>> {
        match self {
            ServerStream::Unix(stream) => Ok(Some(socket_peercred(stream)?.uid.as_raw())),
            ServerStream::Tcp(_) => Ok(None),
        }
    }

    /// A second handle of the connection.
    pub fn try_clone(&self) -> io::Result<ServerStream> {
        Ok(match self {
            ServerStream::Unix(stream) => ServerStream::Unix(stream.try_clone()?),
            ServerStream::Tcp(stream) => ServerStream::Tcp(stream.try_clone()?),
        })
    }

    /// Ends the connection, whoever uses it.
    pub fn close(&self) {
        // It may have ended already.
        drop(match self {
            ServerStream::Unix(stream) => stream.shutdown(Shutdown::Both),
            ServerStream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        });
    }
}

impl ServerListener {
    /// Listens there.
    pub fn bind(address: &Address) -> io::Result<ServerListener> {
        Ok(match address {
            Address::Unix(path) => ServerListener::Unix(UnixListener::bind(path)?),
            Address::Tcp(place) => ServerListener::Tcp(TcpListener::bind(place)?),
        })
    }

    /// Address on which it listens, with the port that the system chose for port 0.
    pub fn address(&self, asked: &Address) -> Address {
        match self {
            ServerListener::Tcp(listener) => match listener.local_addr() {
                Ok(local) => Address::Tcp(local.to_string()),
                Err(_) => asked.clone(),
            },
            ServerListener::Unix(_) => asked.clone(),
        }
    }

    /// The next connection. Reading from it gives up after each [`POLL_INTERVAL`].
    pub fn accept(&self) -> io::Result<ServerStream> {
        let stream = match self {
            ServerListener::Unix(listener) => ServerStream::Unix(listener.accept()?.0),
            ServerListener::Tcp(listener) => ServerStream::Tcp(listener.accept()?.0),
        };
        stream.set_patience(POLL_INTERVAL)?;
        Ok(stream)
    }
}

impl Read for ServerStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            ServerStream::Unix(stream) => stream.read(buffer),
            ServerStream::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for ServerStream {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self {
            ServerStream::Unix(stream) => stream.write(data),
            ServerStream::Tcp(stream) => stream.write(data),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            ServerStream::Unix(stream) => stream.write_vectored(parts),
            ServerStream::Tcp(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in ["unix:/tmp/a:b", "tcp:node1:4711", "tcp:[::1]:0"] {
            assert_eq!(good.parse::<Address>().unwrap().to_string(), good);
        }
        for bad in ["", "unix:", "tcp:node1", "node1:4711"] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }
}
