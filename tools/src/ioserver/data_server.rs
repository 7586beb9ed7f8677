//! `mpitrace dataserver`: has the stripes of files for an I/O server, on this host or another one.

use super::address::{Address, Listener, Stream};
use super::clocks;
use super::objects::Objects;
use super::recording::{Recorder, Result, Work};
use super::wire::{self, Action, DATA_ONLY, NEW, Question};
use super::{absolute, at, recorder};
use crate::failure::Failure;
use crate::journal::now;
use crate::signals::Signals;
use records::define::{Definition, OpenFile, Role};
use records::operation::{
    self, STRIPE_OTHER, STRIPE_READ, STRIPE_RESIZE, STRIPE_SYNC, STRIPE_WRITE,
};
use rustix::fs::{self, FallocateFlags};
use rustix::io;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Keep stripes of files for mpitrace ioserver
///
/// An I/O server with --data-server ADDRESS splits what programs read and write over its data servers. Each piece is recorded
/// from its receipt to its answer, with the calls for this server's disk nested in it and the CallID of the MPI call it is
/// done for. Ends on SIGINT or SIGTERM. Whoever can connect to the address can read and write the store.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  node1$ mpitrace dataserver --listen tcp:node1:4711 --trace data0.blocks /scratch/store
  node2$ mpitrace dataserver --listen tcp:node2:4711 --number 1 --trace data1.blocks /scratch/store
  node0$ mpitrace ioserver --data-server tcp:node1:4711 --data-server tcp:node2:4711 base mnt")]
pub struct Arguments {
    /// The directory for the stripes
    store: PathBuf,
    /// Where to listen: unix:PATH or tcp:HOST:PORT; with port 0 the system chooses one, which is told
    #[arg(long, value_name = "ADDRESS")]
    listen: Address,
    /// The server's number, from 0 on
    #[arg(long, value_name = "N", default_value_t = 0)]
    number: u32,
    /// The block file to record to [default: dataserver.NUMBER.PID.blocks]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record nothing
    #[arg(long, conflicts_with = "trace")]
    no_trace: bool,
    /// End with the process that holds the other end of stdin
    #[arg(long, hide = true)]
    with_stdin: bool,
    /// Part of ioserver --background: close stderr once there is nothing more to tell
    #[arg(long, hide = true)]
    detach: bool,
}

/// What is told when the server can be connected to.
pub const LISTENING: &str = "listening ";

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> std::result::Result<(), Failure> {
    let signals = Signals::hold();
    super::mount::ignore_file_size_limit();
    let store = &arguments.store;
    let store = store.canonicalize().map_err(|e| at(store, &e))?;
    let default = format!(
        "dataserver.{}.{}.blocks",
        arguments.number,
        std::process::id()
    );
    let trace = match &arguments.trace {
        _ if arguments.no_trace => None,
        given => Some(absolute(given.as_deref().unwrap_or(default.as_ref()))?),
    };
    let name = store.display().to_string();
    let recorder = recorder(
        trace.as_deref(),
        Role::DataServer,
        arguments.number,
        name,
        None,
    )?;
    let bound = Listener::bind(&arguments.listen);
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
        super::background::detach();
    }
    let server = Arc::new(DataServer {
        objects: Objects::new(store),
        recorder: Arc::clone(&recorder),
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
    std::thread::spawn(move || {
        loop {
            match listener.accept() {
                Ok(stream) => {
                    let server = Arc::clone(&server);
                    std::thread::spawn(move || server.serve(stream));
                }
                Err(e) => {
                    eprintln!("mpitrace: data server: {e}");
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
            }
        }
    });
    // Neither sender goes away before it has sent.
    let _ = end.recv();
    recorder.finish();
    if let Address::Unix(path) = &arguments.listen {
        drop(std::fs::remove_file(path));
    }
    Ok(())
}

struct DataServer {
    objects: Objects,
    recorder: Arc<Recorder>,
}

impl DataServer {
    /// Answers one asker's questions until it goes.
    fn serve(&self, mut stream: Stream) {
        let (mut data, mut found) = (Vec::new(), Vec::new());
        loop {
            let question = match wire::question(&mut stream, &mut data) {
                Ok(Some(question)) => question,
                Ok(None) => return,
                Err(e) => {
                    eprintln!("mpitrace: data server: a connection is given up: {e}");
                    return;
                }
            };
            found.clear();
            let result = match question.action {
                Action::Clock => Ok(now() as usize),
                Action::Shift => {
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

    fn answer(&self, question: &Question, data: &[u8], found: &mut Vec<u8>) -> Result<usize> {
        let kind = match question.action {
            Action::Read => STRIPE_READ,
            Action::Write => STRIPE_WRITE,
            Action::Sync => STRIPE_SYNC,
            Action::Cut | Action::Allocate => STRIPE_RESIZE,
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
        work: &Work<'_>,
        question: &Question,
        data: &[u8],
        found: &mut Vec<u8>,
    ) -> Result<usize> {
        let (number, local) = (question.inode, question.local);
        let range = (local as i64, question.size as i64);
        match question.action {
            Action::Open => {
                self.recorder.define(&Definition::File(OpenFile {
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
            Action::Read => {
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
            Action::Write => {
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
            Action::Cut => {
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
            Action::Allocate => {
                let object = self.objects.get_or_make(work, number)?;
                let mode = FallocateFlags::from_bits_retain(u32::from(question.flags));
                let fd = Some(&object.fd as _);
                work.disk(operation::FALLOCATE, object.inode, fd, range, || {
                    fs::fallocate(&object.fd, mode, local, question.size)
                })?;
                Ok(0)
            }
            Action::Sync => {
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
            Action::Close => self.objects.close(work, number).map(|()| 0),
            Action::Remove => self.objects.remove(work, number).map(|()| 0),
            // Answered before they become work.
            Action::Clock | Action::Shift => Err(io::Errno::INVAL),
        }
    }
}
