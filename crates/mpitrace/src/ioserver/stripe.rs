//! Contents of files at several data servers, striped over them. Every piece takes the same path, however small it is.
//!
//! Each thread of the front end has a connection of its own to each server, so that a server works on as many pieces at a
//! time as there are requests. A server that does not answer makes the request fail with EIO.

use super::address::{Address, ServerStream, expect_own};
use super::clocks;
use super::inodes::KnownFile;
use super::layout::{StripeLayout, StripePiece};
use super::recording::{RequestWork, Result};
use super::secret::Secret;
use super::store::{FileStore, OpenFile, resize_here, sync_here};
use super::wire::{self, DATA_ONLY, NEW, ServerAction, ServerQuestion};
use crate::failure::Failure;
use crate::terminal::tell;
use blockfile::machine::now;
use blockfile::operation::{STRIPE_OTHER, STRIPE_READ, STRIPE_RESIZE, STRIPE_SYNC, STRIPE_WRITE};
use parking_lot::MutexGuard;
use rustix::fs::{self, FallocateFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Pieces that a server has been sent and has not answered, at most: their answers fit the buffers of a socket.
const MAX_PIECES_IN_FLIGHT: usize = 16;

/// Files at data servers.
pub struct Striped {
    layout: StripeLayout,
    servers: Vec<StripeServer>,
}

struct StripeServer {
    /// Place among the servers, which it has, too: another one's pieces are those of other places in files.
    number: usize,
    address: Address,
    /// Secret that is shared with servers reached over TCP.
    secret: Option<Arc<Secret>>,
    /// Whether it has been said that it does not answer.
    is_lost: AtomicBool,
}

thread_local! {
    static CONNECTIONS: RefCell<Vec<Option<ServerStream>>> = const { RefCell::new(Vec::new()) };
}

/// One question to one server.
struct ServerTask {
    server: usize,
    question: ServerQuestion,
    /// Place in the buffer of the bytes that go with it or come back.
    place: Range<usize>,
}

/// Bytes that go with the questions, or come back.
enum Buffer<'b> {
    Send(&'b [u8]),
    Receive(&'b mut [u8]),
}

impl Striped {
    /// Over these servers, in their order; those that are connected to by TCP have the secret.
    pub fn new(addresses: Vec<Address>, secret: Option<Secret>, stripe: u64) -> Striped {
        let layout = StripeLayout {
            servers: addresses.len() as u64,
            stripe,
        };
        let secret = secret.map(Arc::new);
        let server = |(number, address)| StripeServer {
            number,
            address,
            secret: secret.clone(),
            is_lost: AtomicBool::new(false),
        };
        Striped {
            layout,
            servers: addresses.into_iter().enumerate().map(server).collect(),
        }
    }

    /// Connects to each server once. Of one that is not there it is said so: it may come.
    ///
    /// # Errors
    /// When a server is another user's, does not have the secret, or has another number than its place.
    pub fn meet(&self) -> std::result::Result<(), Failure> {
        for server in &self.servers {
            match server
                .connect()
                .and_then(|mut stream| clocks::read(&mut stream))
            {
                Ok(_) => {}
                Err(e)
                    if [ErrorKind::PermissionDenied, ErrorKind::InvalidData]
                        .contains(&e.kind()) =>
                {
                    let message = format!("data server {}: {e}", server.address);
                    return Err(Failure::Data(message));
                }
                Err(e) => tell!(
                    "mpitrace: data server {}: {e}: what needs it fails until it is there",
                    server.address
                ),
            }
        }
        Ok(())
    }

    fn question(work: &RequestWork<'_>, inode: u64, action: ServerAction) -> ServerQuestion {
        ServerQuestion {
            action,
            flags: 0,
            call: work.call,
            unique: work.request.unique,
            inode,
            offset: 0,
            local: 0,
            size: 0,
            tid: work.request.tid,
        }
    }

    /// Asks every server what `question` makes of its number; `None` passes it over.
    fn ask_all(
        &self,
        work: &RequestWork<'_>,
        kind: u16,
        data: &[u8],
        question: impl Fn(usize) -> Option<ServerQuestion>,
    ) -> Result<()> {
        let task = |server| {
            Some(ServerTask {
                server,
                question: question(server)?,
                place: 0..data.len(),
            })
        };
        let tasks: Vec<ServerTask> = (0..self.servers.len()).filter_map(task).collect();
        self.run(work, kind, &tasks, Buffer::Send(data))
    }

    /// Moves a range of a file.
    fn transfer(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        action: ServerAction,
        (at, length): (u64, usize),
        buffer: Buffer<'_>,
    ) -> Result<()> {
        let task = |piece: StripePiece| {
            let begin = (piece.offset - at) as usize;
            ServerTask {
                server: piece.server,
                question: ServerQuestion {
                    offset: piece.offset,
                    local: piece.local,
                    size: piece.length,
                    ..Self::question(work, node.key.1, action)
                },
                place: begin..begin + piece.length as usize,
            }
        };
        let tasks: Vec<ServerTask> = self.layout.pieces(at, length as u64).map(task).collect();
        let kind = match action {
            ServerAction::Read => STRIPE_READ,
            _ => STRIPE_WRITE,
        };
        self.run(work, kind, &tasks, buffer)
    }

    /// Sends the tasks and waits for all answers; the first error is that of all.
    fn run(
        &self,
        work: &RequestWork<'_>,
        kind: u16,
        tasks: &[ServerTask],
        buffer: Buffer<'_>,
    ) -> Result<()> {
        CONNECTIONS.with_borrow_mut(|connections| {
            connections.resize_with(self.servers.len(), || None);
            let mut exchange = TasksUnderWay {
                servers: &self.servers,
                work,
                kind,
                buffer,
                connections,
                waiting: self.servers.iter().map(|_| VecDeque::new()).collect(),
                outcome: Ok(()),
            };
            for task in tasks {
                while exchange.waiting[task.server].len() >= MAX_PIECES_IN_FLIGHT {
                    exchange.collect(task.server);
                }
                exchange.send(task);
            }
            for task in tasks {
                exchange.collect(task.server);
            }
            exchange.outcome
        })
    }

    /// The size of a file, held until the guard goes.
    fn size<'n>(
        work: &RequestWork<'_>,
        node: &'n KnownFile,
    ) -> Result<(MutexGuard<'n, Option<u64>>, u64)> {
        let mut guard = work.wait(|| node.size.try_lock(), || node.size.lock());
        let size = match *guard {
            Some(size) => size,
            None => *guard.insert(node.stat()?.st_size as u64),
        };
        Ok((guard, size))
    }

    /// Cuts off everything after `size` at the servers.
    fn cut(&self, work: &RequestWork<'_>, node: &KnownFile, size: u64) -> Result<()> {
        self.ask_all(work, STRIPE_RESIZE, &[], |server| {
            Some(ServerQuestion {
                offset: 0,
                local: self.layout.local_size(server, size),
                size,
                ..Self::question(work, node.key.1, ServerAction::Cut)
            })
        })
    }
}

/// Tasks under way.
struct TasksUnderWay<'e, 'b> {
    servers: &'e [StripeServer],
    work: &'e RequestWork<'e>,
    kind: u16,
    buffer: Buffer<'b>,
    connections: &'e mut [Option<ServerStream>],
    /// By server, tasks that were sent and not answered, and when they were sent.
    waiting: Vec<VecDeque<(&'e ServerTask, u64)>>,
    outcome: Result<()>,
}

impl<'e> TasksUnderWay<'e, '_> {
    fn send(&mut self, task: &'e ServerTask) {
        let start = now();
        let data = match &self.buffer {
            Buffer::Send(data) => data.get(task.place.clone()).unwrap_or_default(),
            Buffer::Receive(_) => &[],
        };
        let server = &self.servers[task.server];
        let connection = &mut self.connections[task.server];
        let waiting = &mut self.waiting[task.server];
        // A server that has been lost in the middle of this exchange cannot have what it was sent before.
        let sent = match connection {
            None if !waiting.is_empty() => Err(std::io::ErrorKind::NotConnected.into()),
            None => server.connect().and_then(|mut stream| {
                wire::ask(&mut stream, &task.question, data)?;
                *connection = Some(stream);
                Ok(())
            }),
            Some(stream) => wire::ask(stream, &task.question, data),
        };
        if let Err(e) = sent {
            *connection = None;
            server.lost(&e);
        }
        waiting.push_back((task, start));
    }

    /// Takes the next answer of a server, if one is missing.
    fn collect(&mut self, server: usize) {
        let Some((task, start)) = self.waiting[server].pop_front() else {
            return;
        };
        let connection = &mut self.connections[server];
        let mut nothing = [];
        let place = match &mut self.buffer {
            Buffer::Send(_) => &mut nothing[..],
            Buffer::Receive(data) => data.get_mut(task.place.clone()).unwrap_or_default(),
        };
        let result = match connection {
            None => Err(Errno::IO),
            Some(stream) => match wire::answered(stream, place) {
                Ok(answer) => {
                    // Bytes that the server does not have are zeros of the file.
                    let moved = answer.unwrap_or(0).min(place.len());
                    place[moved..].fill(0);
                    answer
                }
                Err(e) => {
                    *connection = None;
                    self.servers[server].lost(&e);
                    Err(Errno::IO)
                }
            },
        };
        let question = &task.question;
        let range = match self.kind {
            STRIPE_READ | STRIPE_WRITE | STRIPE_RESIZE => {
                (question.offset as i64, question.size as i64)
            }
            _ => (-1, -1),
        };
        let moved = result.map(|moved| moved as i64);
        self.work.piece(self.kind, start, range, &moved);
        if let (Err(e), Ok(())) = (result, self.outcome) {
            self.outcome = Err(e);
        }
    }
}

impl StripeServer {
    fn connect(&self) -> std::io::Result<ServerStream> {
        let mut stream = ServerStream::connect(&self.address)?;
        if let Some(user) = stream.user()? {
            expect_own(user)?;
        } else if let Some(secret) = &self.secret {
            secret.ask(&mut stream)?;
            clocks::compare(&mut stream)?;
        }
        wire::ask(
            &mut stream,
            &ServerQuestion::about_server(ServerAction::Number),
            &[],
        )?;
        let number = wire::answered(&mut stream, &mut [])??;
        if number != self.number {
            let message = format!(
                "this is number {number}, expected number {}: servers are named in the order of their --number",
                self.number
            );
            return Err(std::io::Error::new(ErrorKind::InvalidData, message));
        }
        Ok(stream)
    }

    /// Reports that the server does not answer, the first time.
    fn lost(&self, e: &std::io::Error) {
        if !self.is_lost.swap(true, Relaxed) {
            tell!(
                "mpitrace: data server {}: {e}: what needs it fails",
                self.address
            );
        }
    }
}

impl FileStore for Striped {
    fn opened(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        seen: (u64, &Path),
        is_new: bool,
    ) -> Result<()> {
        let (device, path) = seen;
        let name = path.as_os_str().as_encoded_bytes();
        self.ask_all(work, STRIPE_OTHER, name, |_| {
            Some(ServerQuestion {
                flags: if is_new { NEW } else { 0 },
                size: device,
                ..Self::question(work, node.key.1, ServerAction::Open)
            })
        })
    }

    fn read(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        buffer: &mut [u8],
        at: u64,
    ) -> Result<usize> {
        let (_, size) = Self::size(work, &file.node)?;
        let there = size.saturating_sub(at).min(buffer.len() as u64) as usize;
        let buffer = &mut buffer[..there];
        let range = (at, there);
        self.transfer(
            work,
            &file.node,
            ServerAction::Read,
            range,
            Buffer::Receive(buffer),
        )?;
        Ok(there)
    }

    fn write(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        data: &[u8],
        at: u64,
    ) -> Result<usize> {
        let node = &file.node;
        let range = (at, data.len());
        let written = self.transfer(work, node, ServerAction::Write, range, Buffer::Send(data));
        let (mut guard, size) = Self::size(work, node)?;
        if let Err(e) = written {
            // Some servers may have got theirs, which must not appear when the file grows.
            if at + data.len() as u64 > size {
                let _ = self.cut(work, node, size);
            }
            return Err(e);
        }
        let end = at + data.len() as u64;
        if end > size {
            resize_here(work, node, Some(file), end)?;
            *guard = Some(end);
        } else {
            // Changes what writing changes besides contents: the time, and rights that a changed file must not have.
            fs::ftruncate(&file.fd, size)?;
        }
        Ok(data.len())
    }

    fn resize(
        &self,
        work: &RequestWork<'_>,
        node: &KnownFile,
        file: Option<&OpenFile>,
        size: u64,
    ) -> Result<()> {
        let (mut guard, old) = Self::size(work, node)?;
        if size < old {
            self.cut(work, node, size)?;
        }
        resize_here(work, node, file, size)?;
        *guard = Some(size);
        Ok(())
    }

    fn allocate(
        &self,
        work: &RequestWork<'_>,
        file: &OpenFile,
        mode: FallocateFlags,
        at: u64,
        length: u64,
    ) -> Result<()> {
        let known =
            FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
        // Moving what is behind would move it to other servers.
        if !known.contains(mode) {
            return Err(Errno::OPNOTSUPP);
        }
        let end = at.checked_add(length).ok_or(Errno::FBIG)?;
        let node = &file.node;
        let (mut guard, size) = Self::size(work, node)?;
        self.ask_all(work, STRIPE_RESIZE, &[], |server| {
            let local = self.layout.local_size(server, at);
            let length = self.layout.local_size(server, end) - local;
            (length > 0).then(|| ServerQuestion {
                flags: mode.bits() as u16,
                offset: at,
                local,
                size: length,
                ..Self::question(work, node.key.1, ServerAction::Allocate)
            })
        })?;
        if end > size && !mode.contains(FallocateFlags::KEEP_SIZE) {
            resize_here(work, node, Some(file), end)?;
            *guard = Some(end);
        }
        Ok(())
    }

    fn sync(&self, work: &RequestWork<'_>, file: &OpenFile, data_only: bool) -> Result<()> {
        self.ask_all(work, STRIPE_SYNC, &[], |_| {
            Some(ServerQuestion {
                flags: if data_only { DATA_ONLY } else { 0 },
                ..Self::question(work, file.node.key.1, ServerAction::Sync)
            })
        })?;
        sync_here(work, file, data_only)
    }

    fn closed(&self, work: &RequestWork<'_>, node: &KnownFile) -> Result<()> {
        self.ask_all(work, STRIPE_OTHER, &[], |_| {
            Some(Self::question(work, node.key.1, ServerAction::Close))
        })
    }

    fn removed(&self, work: &RequestWork<'_>, inode: u64) -> Result<()> {
        self.ask_all(work, STRIPE_OTHER, &[], |_| {
            Some(Self::question(work, inode, ServerAction::Remove))
        })
    }

    fn is_local(&self) -> bool {
        false
    }
}
