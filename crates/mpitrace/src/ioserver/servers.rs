//! The data servers that a front end starts for itself, and the directory in which it keeps everything:
//!
//! ```text
//! BASE/stripe      how many servers there are, and the size of a stripe
//! BASE/names       names and attributes, as the mount shows them
//! BASE/data.0 …    what the servers have
//! ```

use super::address::{Address, LISTENING};
use super::layout::StripeLayout;
use super::secret::Secret;
use crate::failure::Failure;
use crate::system::own_program;
use crate::terminal::tell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time in which data servers must end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Transport to local data servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// By Unix sockets in a directory of our own.
    Unix,
    /// By TCP at this host, each at a port of its own.
    Tcp(String),
}

impl std::str::FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        match text.split_once(':') {
            None if text == "unix" => Ok(Listen::Unix),
            None if text == "tcp" => Ok(Listen::Tcp("127.0.0.1".to_owned())),
            Some(("tcp", host)) if !host.is_empty() => Ok(Listen::Tcp(host.to_owned())),
            _ => Err("unix, tcp or tcp:HOST is expected".to_owned()),
        }
    }
}

/// Prepares the directory `base` for this layout, or takes it as it is if it has been prepared so. Gives the directory of
/// names.
pub fn prepare(base: &Path, layout: StripeLayout) -> Result<PathBuf, Failure> {
    let description = base.join("stripe");
    let names = base.join("names");
    let ours = format!("servers {}\nstripe {}\n", layout.servers, layout.stripe);
    match fs::read_to_string(&description) {
        Ok(found) if found == ours => {}
        Ok(found) => {
            return Err(Failure::Call(format!(
                "{}: made with {}, not with {}",
                base.display(),
                found.trim().replace('\n', ", "),
                ours.trim().replace('\n', ", ")
            )));
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            if fs::read_dir(base)
                .map_err(|e| Failure::file(base, e))?
                .next()
                .is_some()
            {
                return Err(Failure::Call(format!(
                    "{}: is neither empty nor made by a striped server: what is in it could not be seen",
                    base.display()
                )));
            }
            fs::create_dir(&names).map_err(|e| Failure::file(&names, e))?;
            fs::write(&description, ours).map_err(|e| Failure::file(&description, e))?;
        }
        Err(e) => return Err(Failure::file(&description, e)),
    }
    Ok(names)
}

/// Data servers that are this process's children. They end with it.
pub struct Servers {
    children: Vec<(Child, Option<ChildStdin>)>,
    /// Address of each server.
    pub addresses: Vec<Address>,
    /// Secret for connections by TCP.
    pub secret: Option<Secret>,
    _sockets: TempDir,
}

impl Servers {
    /// Starts `count` of them with stores in `base`; server n records to `traces(n)`. With `detach` they leave stderr once
    /// they listen.
    pub fn start(
        base: &Path,
        count: u32,
        listen: &Listen,
        traces: impl Fn(u32) -> Option<PathBuf>,
        detach: bool,
    ) -> Result<Servers, Failure> {
        let failed = |e: std::io::Error| Failure::Data(format!("data servers: {e}"));
        let mut servers = Servers {
            children: Vec::new(),
            addresses: Vec::new(),
            secret: None,
            _sockets: tempfile::Builder::new()
                .prefix(&super::leftovers::sockets(std::process::id()))
                .tempdir()
                .map_err(failed)?,
        };
        if let Listen::Tcp(_) = listen {
            let secret = servers._sockets.path().join("secret");
            Secret::make(&secret).map_err(|e| Failure::file(&secret, e))?;
            servers.secret = Some(Secret::read(&secret)?);
        }
        for number in 0..count {
            let store = base.join(format!("data.{number}"));
            fs::create_dir_all(&store).map_err(|e| Failure::file(&store, e))?;
            let address = match listen {
                Listen::Unix => Address::Unix(servers._sockets.path().join(number.to_string())),
                Listen::Tcp(host) => Address::Tcp(format!("{host}:0")),
            };
            let mut command = Command::new(own_program::path().map_err(failed)?);
            command.args(["dataserver", "--with-stdin"]);
            command.args(["--number", &number.to_string()]);
            command.args(["--listen", &address.to_string()]);
            if let Some(secret) = &servers.secret {
                command.arg("--secret").arg(&secret.path);
            }
            if detach {
                command.arg("--detach");
            }
            match traces(number) {
                Some(trace) => command.arg("--trace").arg(trace),
                None => command.arg("--no-trace"),
            };
            // Of a terminal's signals only the front end gets to know.
            let mut child = command
                .arg(&store)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .process_group(0)
                .spawn()
                .map_err(failed)?;
            let stdin = child.stdin.take();
            let stdout = child.stdout.take();
            servers.children.push((child, stdin));
            let mut line = String::new();
            if let Some(stdout) = stdout {
                BufReader::new(stdout)
                    .read_line(&mut line)
                    .map_err(failed)?;
            }
            let address = line.trim_end().strip_prefix(LISTENING);
            let address = address.and_then(|a| a.parse().ok());
            servers.addresses.push(address.ok_or_else(|| {
                // It has said why.
                Failure::Data(format!("data server {number} did not start"))
            })?);
        }
        Ok(servers)
    }

    /// Ends them: their traces are complete then.
    pub fn stop(&mut self) {
        for (_, stdin) in &mut self.children {
            drop(stdin.take());
        }
        let begun = Instant::now();
        for (number, (child, _)) in self.children.iter_mut().enumerate() {
            loop {
                match child.try_wait() {
                    Ok(Some(status)) if status.success() => break,
                    Ok(Some(status)) => {
                        tell!("mpitrace: data server {number} died: {status}");
                        break;
                    }
                    Ok(None) if begun.elapsed() < EXIT_TIMEOUT => {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    Ok(None) | Err(_) => {
                        tell!("mpitrace: data server {number} does not end and is killed");
                        drop(child.kill());
                        drop(child.wait());
                        break;
                    }
                }
            }
        }
        self.children.clear();
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}
