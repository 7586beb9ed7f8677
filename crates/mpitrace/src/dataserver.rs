//! `mpitrace dataserver`: has the stripes of files for an I/O server, on this host or another one.

use crate::failure::Failure;
use crate::ioserver::address::{Address, LISTENING, ServerListener, ServerStream};
use crate::ioserver::clocks;
use crate::ioserver::objects::Objects;
use crate::ioserver::recording::{RequestRecorder, RequestWork, Result};
use crate::ioserver::secret::Secret;
use crate::ioserver::visitors::{Visitor, Visitors};
use crate::ioserver::wire::{self, DATA_ONLY, NEW, ServerAction, ServerQuestion, Until};
use crate::system::absolute;
use crate::system::signals::Signals;
use blockfile::define::{Definition, OpenFileDefinition, ServerDefinition, ServerKind};
use blockfile::machine::now;
use blockfile::operation::{
    self, STRIPE_OTHER, STRIPE_READ, STRIPE_RESIZE, STRIPE_SYNC, STRIPE_WRITE,
};
use rustix::fs::{self, FallocateFlags};
use rustix::io;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time in which a connection must prove that it may ask.
const AUTHENTICATION_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of the stack of a thread that serves a connection.
const STACK_BYTES: usize = 512 << 10;

/// Keep stripes of files for mpitrace ioserver
///
/// An I/O server with --data-server ADDRESS distributes reads and writes over its data servers. Each piece is recorded
/// from its receipt to its answer, with the disk calls of this server nested in it and the CallID of the MPI call that
/// caused it. The command ends on SIGINT or SIGTERM.
///
/// At a Unix socket, processes of the same user and root may use the store. The I/O server looks, too: it takes data
/// servers of its own user and of root only, so that of root none of another user. By TCP, everyone with the secret of
/// this server may. Contents cross the network unencrypted: whoever can read or change packets there can read or change
/// them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  node1$ mpitrace dataserver --listen tcp:node1:4711 --trace data0.blocks /scratch/store
  node2$ mpitrace dataserver --listen tcp:node2:4711 --number 1 --trace data1.blocks /scratch/store
  node0$ mpitrace ioserver --data-server tcp:node1:4711 --data-server tcp:node2:4711 base mnt")]
pub struct Arguments {
    /// Folder of the stripes
    store: PathBuf,
    /// Address to listen on: unix:PATH or tcp:HOST:PORT. With port 0 the system chooses a port, which is printed
    #[arg(long, value_name = "ADDRESS")]
    listen: Address,
    /// Number of the server, from 0 on: its place among the --data-server of the I/O server
    #[arg(long, value_name = "N", default_value_t = 0)]
    number: u32,
    /// Block file to record to [default: dataserver.NUMBER.PID.blocks]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record nothing
    #[arg(long, conflicts_with = "trace")]
    no_trace: bool,
    /// File with the secret that clients by TCP must have: at least 16 bytes, readable by its owner only, equal for all
    /// servers of a file system [default: ~/.config/mpitrace/secret, which is created if missing]
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// End with the process that holds the other end of stdin
    #[arg(long, hide = true)]
    with_stdin: bool,
    /// Part of ioserver --background: close stderr once there is nothing more to tell
    #[arg(long, hide = true)]
    detach: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> std::result::Result<(), Failure> {
    let signals = Signals::hold();
    crate::ioserver::mount::more_descriptors();
    let store = &arguments.store;
    let store = store.canonicalize().map_err(|e| Failure::file(store, e))?;
    let default = format!(
        "dataserver.{}.{}.blocks",
        arguments.number,
        std::process::id()
    );
    let trace = match &arguments.trace {
        _ if arguments.no_trace => None,
        given => Some(absolute(given.as_deref().unwrap_or(default.as_ref()))?),
    };
    let named = ServerDefinition {
        role: ServerKind::DataServer,
        number: arguments.number,
        name: store.display().to_string(),
    };
    let recorder = Arc::new(RequestRecorder::create(trace.as_deref(), named, None)?);
    let secret = Secret::for_addresses(arguments.secret.as_deref(), [&arguments.listen])?;
    let bound = ServerListener::bind(&arguments.listen);
    let listener = bound.map_err(|e| Failure::Data(format!("{}: {e}", arguments.listen)))?;
    let mut out = std::io::stdout().lock();
    drop(writeln!(
        out,
        "{LISTENING}{}",
        listener.address(&arguments.listen)
    ));
    drop(out.flush());
    drop(out);
    if arguments.detach {
        crate::ioserver::background::detach();
    }
    let server = Arc::new(DataServer {
        number: arguments.number,
        objects: Objects::new(store),
        recorder: Arc::clone(&recorder),
        secret,
    });
    let (ended, end) = std::sync::mpsc::channel();
    let by_signal = ended.clone();
    std::thread::spawn(move || {
        signals.wait();
        by_signal.send(())
    });
    if arguments.with_stdin {
        std::thread::spawn(move || {
            drop(std::io::stdin().read_to_end(&mut Vec::new()));
            ended.send(())
        });
    }
    std::thread::spawn(move || accept(&server, &listener));
    // Neither sender goes away before it has sent.
    let _ = end.recv();
    recorder.finish();
    if let Address::Unix(path) = &arguments.listen {
        drop(std::fs::remove_file(path));
    }
    Ok(())
}

/// Serves each connection in a thread of its own. One that cannot be served is closed, and the next one is waited for.
fn accept(server: &Arc<DataServer>, listener: &ServerListener) {
    let visitors = Arc::new(Visitors::default());
    loop {
        let stream = match listener.accept() {
            Ok(stream) => stream,
            Err(e) => {
                visitors.report(&e);
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        let Some(visitor) = visitors.add(&stream) else {
            visitors.report(&"there are too many");
            continue;
        };
        let server = Arc::clone(server);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        if let Err(e) = thread.spawn(move || server.serve(stream, &visitor)) {
            visitors.report(&e);
        }
    }
}

struct DataServer {
    /// Place among the servers of a file system.
    number: u32,
    objects: Objects,
    recorder: Arc<RequestRecorder>,
    /// Secret that clients over TCP must prove to have.
    secret: Option<Secret>,
}

impl DataServer {
    /// Finds out whether an asker may ask.
    fn let_in(&self, stream: &mut ServerStream) -> std::io::Result<()> {
        match stream.user()? {
            Some(user) => crate::ioserver::address::expect_own(user).inspect_err(|_| {
                drop(wire::answer(stream, Err(io::Errno::ACCESS), &[]));
            }),
            None => match &self.secret {
                Some(secret) => secret.check(stream, Until::after(AUTHENTICATION_TIMEOUT)),
                None => Err(std::io::ErrorKind::PermissionDenied.into()),
            },
        }
    }

    /// Answers one asker's questions until it goes.
    fn serve(&self, mut stream: ServerStream, visitor: &Visitor) {
        if let Err(e) = self.let_in(&mut stream) {
            visitor.others().report(&e);
            return;
        }
        visitor.is_let_in();
        let (mut data, mut found) = (Vec::new(), Vec::new());
        loop {
            let question = match wire::question(&mut stream, &mut data) {
                Ok(Some(question)) => question,
                Ok(None) => return,
                Err(e) => return visitor.others().report(&e),
            };
            found.clear();
            found.shrink_to(wire::KEPT_BUFFER_BYTES);
            let result = match question.action {
                ServerAction::Clock => Ok(now() as usize),
                ServerAction::Number => Ok(self.number as usize),
                ServerAction::Shift => {
                    clocks::note(&question, &data, &self.recorder);
                    Ok(0)
                }
                _ => self.answer(&question, &data, &mut found),
            };
            if wire::answer(&mut stream, result, &found).is_err() {
                // The asker is gone, and with it whoever wanted to know.
                return;
            }
        }
    }

    fn answer(&self, question: &ServerQuestion, data: &[u8], found: &mut Vec<u8>) -> Result<usize> {
        let kind = match question.action {
            ServerAction::Read => STRIPE_READ,
            ServerAction::Write => STRIPE_WRITE,
            ServerAction::Sync => STRIPE_SYNC,
            ServerAction::Cut | ServerAction::Allocate => STRIPE_RESIZE,
            _ => STRIPE_OTHER,
        };
        let (unique, inode) = (question.unique, question.inode);
        let work = self
            .recorder
            .work(kind, unique, inode, question.tid, question.call);
        let work = match kind {
            STRIPE_READ | STRIPE_WRITE | STRIPE_RESIZE => {
                work.range(question.offset, question.size)
            }
            _ => work,
        };
        let result = self.act(&work, question, data, found);
        work.end(&result, |&moved| moved as i64);
        result
    }

    fn act(
        &self,
        work: &RequestWork<'_>,
        question: &ServerQuestion,
        data: &[u8],
        found: &mut Vec<u8>,
    ) -> Result<usize> {
        let (number, local) = (question.inode, question.local);
        let range = (local as i64, question.size as i64);
        match question.action {
            ServerAction::Open => {
                self.recorder.define(&Definition::File(OpenFileDefinition {
                    fd: -1,
                    flags: 0,
                    device: question.size,
                    inode: number,
                    path: String::from_utf8_lossy(data).into_owned(),
                }));
                if question.flags & NEW != 0 {
                    self.objects.remove(work, number)?;
                } else {
                    self.objects.get(work, number)?;
                }
                Ok(0)
            }
            ServerAction::Read => {
                let Some(object) = self.objects.get(work, number)? else {
                    return Ok(0);
                };
                found.resize(question.size as usize, 0);
                let fd = Some(&object.fd as _);
                let moved = work.disk(operation::PREAD, object.inode, fd, range, || {
                    io::pread(&object.fd, &mut found[..], local)
                });
                found.truncate(moved.unwrap_or(0));
                moved
            }
            ServerAction::Write => {
                let object = self.objects.get_or_make(work, number)?;
                let mut done = 0;
                while done < data.len() {
                    let (at, rest) = (local + done as u64, &data[done..]);
                    let range = (at as i64, rest.len() as i64);
                    let fd = Some(&object.fd as _);
                    match work.disk(operation::PWRITE, object.inode, fd, range, || {
                        io::pwrite(&object.fd, rest, at)
                    }) {
                        Ok(0) => return Err(io::Errno::IO),
                        Ok(moved) => done += moved,
                        Err(io::Errno::INTR) => {}
                        Err(e) => return Err(e),
                    }
                }
                Ok(done)
            }
            ServerAction::Cut => {
                let Some(object) = self.objects.get(work, number)? else {
                    return Ok(0);
                };
                if fs::fstat(&object.fd)?.st_size as u64 > local {
                    let (fd, range) = (Some(&object.fd as _), (0, local as i64));
                    work.disk(operation::FTRUNCATE, object.inode, fd, range, || {
                        fs::ftruncate(&object.fd, local)
                    })?;
                }
                Ok(0)
            }
            ServerAction::Allocate => {
                let object = self.objects.get_or_make(work, number)?;
                let mode = FallocateFlags::from_bits_retain(u32::from(question.flags));
                let fd = Some(&object.fd as _);
                work.disk(operation::FALLOCATE, object.inode, fd, range, || {
                    fs::fallocate(&object.fd, mode, local, question.size)
                })?;
                Ok(0)
            }
            ServerAction::Sync => {
                let Some(object) = self.objects.get(work, number)? else {
                    return Ok(0);
                };
                let fd = Some(&object.fd as _);
                if question.flags & DATA_ONLY != 0 {
                    work.disk(operation::FDATASYNC, object.inode, fd, (-1, -1), || {
                        fs::fdatasync(&object.fd)
                    })?;
                } else {
                    work.disk(operation::FSYNC, object.inode, fd, (-1, -1), || {
                        fs::fsync(&object.fd)
                    })?;
                }
                Ok(0)
            }
            ServerAction::Close => self.objects.close(work, number).map(|()| 0),
            ServerAction::Remove => self.objects.remove(work, number).map(|()| 0),
            // Answered before they become work.
            ServerAction::Clock | ServerAction::Shift | ServerAction::Number => {
                Err(io::Errno::INVAL)
            }
        }
    }
}
