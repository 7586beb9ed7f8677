//! `mpitrace run --io`: servers and devices are followed while the program runs, and the SLOG2 file gets what they did.
//!
//! Ranks draw their own operations at MPI_Finalize. What servers and devices did is in block files that only this machine has: so
//! those of the ranks are kept, in a directory of our own, and the SLOG2 file is made again from all of them.

use crate::blk;
use crate::block_files::groups::{self, RunFiles};
use crate::block_files::machine_clock;
use crate::block_files::source::BlockFileInput;
use crate::failure::Failure;
use crate::recover::write;
use crate::system::own_program;
use crate::trace_files::input::OpenedInput;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time in which a server must come up, or end.
const SERVER_TIMEOUT: Duration = Duration::from_secs(30);

/// The options of `--io`.
#[derive(clap::Args)]
pub struct IoArguments {
    /// Draw the operations below MPI-IO: file calls of the ranks, requests of --ioserver, transfers of --blk. One SLOG2
    /// file contains them all
    #[arg(long)]
    pub io: bool,
    /// Start an I/O server that shows the folder BASE at MOUNT while the program runs
    #[arg(long, value_name = "BASE:MOUNT", requires = "io", value_parser = pair)]
    pub ioserver: Option<(PathBuf, PathBuf)>,
    /// Stripe the files of --ioserver over this number of data servers
    #[arg(long, value_name = "N", requires = "ioserver")]
    pub servers: Option<u32>,
    /// Size of a stripe in bytes
    #[arg(long, value_name = "BYTES", requires = "servers")]
    pub stripe: Option<String>,
    /// Follow the block devices of these files or folders [default: BASE of --ioserver, else this folder]
    #[arg(long, value_name = "PATH", requires = "io", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub blk: Vec<PathBuf>,
    /// Keep the block files of ranks, servers and devices, and print where they are
    #[arg(long, requires = "io")]
    pub keep: bool,
}

fn pair(text: &str) -> Result<(PathBuf, PathBuf), String> {
    match text.rsplit_once(':') {
        Some((base, mount)) if !base.is_empty() && !mount.is_empty() => {
            Ok((base.into(), mount.into()))
        }
        _ => Err("BASE:MOUNT is expected, two directories".to_owned()),
    }
}

impl IoArguments {
    /// Whether there is something to do when the program has ended.
    pub fn has_work(&self) -> bool {
        self.ioserver.is_some() || !self.blk.is_empty() || self.keep
    }
}

/// Servers and readers that run beside the program.
pub struct RunIoSession {
    folder: TempDir,
    server: Option<Child>,
    device: Option<blk::BlkSession>,
    keep: bool,
}

impl RunIoSession {
    /// Starts servers and followers.
    pub fn start(arguments: &IoArguments) -> Result<RunIoSession, Failure> {
        let base = std::env::var_os("TRACE_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = tempfile::Builder::new()
            .prefix("mpitrace-io.")
            .tempdir_in(&base)
            .map_err(|e| Failure::file(base, e))?;
        let mut session = RunIoSession {
            folder,
            server: None,
            device: None,
            keep: arguments.keep,
        };
        if let Some((base, mount)) = &arguments.ioserver {
            session.start_server(base, mount, arguments)?;
        }
        if !arguments.blk.is_empty() {
            let here = || PathBuf::from(".");
            let usual = || {
                arguments
                    .ioserver
                    .as_ref()
                    .map_or_else(here, |s| s.0.clone())
            };
            let named = arguments.blk.iter().map(|path| match path.as_os_str() {
                path if path.is_empty() => usual(),
                _ => path.clone(),
            });
            let options = blk::SessionOptions {
                paths: named.collect(),
                output: session.folder.path().join("device.blocks"),
                state: session.folder.path().join("device.state"),
                with_parent: true,
            };
            session.device = Some(blk::BlkSession::start(&options)?);
        }
        Ok(session)
    }

    fn start_server(
        &mut self,
        base: &Path,
        mount: &Path,
        arguments: &IoArguments,
    ) -> Result<(), Failure> {
        let failed = |e: io::Error| Failure::Data(format!("the I/O server: {e}"));
        let ready = self.folder.path().join("ready");
        let mut command = Command::new(own_program::path().map_err(failed)?);
        command
            .arg("ioserver")
            .arg("--trace")
            .arg(self.folder.path().join("ioserver.blocks"))
            .arg("--table")
            .arg(self.tids())
            .arg("--ready")
            .arg(&ready);
        if let Some(servers) = arguments.servers {
            command.args(["--servers", &servers.to_string()]);
        }
        if let Some(stripe) = &arguments.stripe {
            command.args(["--stripe", stripe]);
        }
        command
            .arg("--")
            .args([base, mount])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // Ctrl-C is for the program, whose files the server has to keep until it has ended.
            .process_group(0);
        // SAFETY: one system call that touches no memory.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                Ok(())
            });
        }
        let server = self.server.insert(command.spawn().map_err(failed)?);
        let begun = Instant::now();
        while !ready.exists() {
            if let Some(status) = server.try_wait().map_err(failed)? {
                self.server = None;
                // It has said why.
                return Err(Failure::Call(format!(
                    "the I/O server did not start: {status}"
                )));
            }
            if begun.elapsed() > SERVER_TIMEOUT {
                return Err(Failure::Data("the I/O server is not ready".to_owned()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// The table of the ranks' threads.
    fn tids(&self) -> PathBuf {
        self.folder.path().join("tids")
    }

    /// Environment variables for the recorder.
    pub fn settings(&self) -> Vec<(String, OsString)> {
        let mut settings = vec![
            ("TRACE_KEEP_BLOCKS".to_owned(), "yes".into()),
            ("TRACE_TMPDIR".to_owned(), self.folder.path().into()),
        ];
        if self.server.is_some() {
            settings.push(("TRACE_TIDS".to_owned(), self.tids().into()));
        }
        settings
    }

    /// The program has ended: stops servers and followers, and draws. Gives lines to be said.
    pub fn finish(mut self) -> Result<Vec<String>, Failure> {
        let mut complaints = Vec::new();
        if let Some(device) = self.device.take()
            && let Err(Failure::Data(why) | Failure::Call(why)) =
                device.stop(Some(self.folder.path()))
        {
            complaints.push(why);
        }
        complaints.extend(self.stop_server());
        let made = self.draw();
        let mut messages = Vec::new();
        if self.keep {
            self.folder.disable_cleanup(true);
            messages.push(format!(
                "block files are in {}",
                self.folder.path().display()
            ));
        }
        match made {
            Ok((files, failures)) => {
                messages.extend(files);
                complaints.extend(failures);
            }
            Err(Failure::Data(why) | Failure::Call(why)) => complaints.push(why),
            Err(closed) => return Err(closed),
        }
        if complaints.is_empty() {
            return Ok(messages);
        }
        complaints.extend(messages);
        Err(Failure::Data(complaints.join("\nmpitrace: ")))
    }

    fn stop_server(&mut self) -> Option<String> {
        let mut server = self.server.take()?;
        // SAFETY: a signal to a child that has not been waited for.
        unsafe { libc::kill(server.id() as libc::pid_t, libc::SIGTERM) };
        let begun = Instant::now();
        loop {
            match server.try_wait() {
                Ok(Some(status)) if status.success() => return None,
                Ok(Some(status)) => return Some(format!("the I/O server: {status}")),
                Ok(None) if begun.elapsed() < SERVER_TIMEOUT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(None) | Err(_) => {
                    drop(server.kill());
                    drop(server.wait());
                    return Some("the I/O server did not end: killed".to_owned());
                }
            }
        }
    }

    /// Makes the SLOG2 files anew from all block files. Gives what was made, and what went wrong.
    fn draw(&self) -> Result<(Vec<String>, Vec<String>), Failure> {
        let failed = |e: io::Error| Failure::file(self.folder.path(), e);
        let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
        let mut inputs = Vec::new();
        for entry in fs::read_dir(self.folder.path()).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension() == Some(OsStr::new("blocks")) {
                let input = OpenedInput::open_regular(&path)?;
                inputs.push((path, input));
            }
        }
        let notes = machine_clock::notes();
        let mut complaints = Vec::new();
        let mut sources = Vec::new();
        for (path, input) in &inputs {
            let file = input
                .blocks()
                .map_err(|error| format!("{}: {error}", path.display()));
            match file
                .and_then(|file| BlockFileInput::new(path, file, false, table, notes.as_ref()))
            {
                Ok(source) => sources.push(source),
                Err(message) => complaints.push(message),
            }
        }
        let (groups, left_out) = groups::of(sources);
        complaints.extend(left_out);
        let mut messages = Vec::new();
        for group in &groups {
            let base = base(group);
            match write::slog2(group, table, &base) {
                Ok(written) => {
                    let and = match group.servers.len() {
                        0 => String::new(),
                        1 => ", with a server or device".to_owned(),
                        n => format!(", with {n} servers and devices"),
                    };
                    messages.extend(written.files.iter().map(|file| format!("{file}{and}")));
                    messages.extend(written.notes);
                    complaints.extend(written.failures);
                }
                Err(error) => complaints.push(error.to_string()),
            }
        }
        Ok((messages, complaints))
    }
}

impl Drop for RunIoSession {
    fn drop(&mut self) {
        self.stop_server();
    }
}

/// The name that the recorder gave the run's files, or, if it did not come so far, one of the program's.
fn base(group: &RunFiles<'_>) -> PathBuf {
    let given = group
        .sources
        .iter()
        .filter(|source| source.info.rank == 0)
        .find_map(|source| fs::read(source.path.with_extension("trace")).ok());
    match given {
        Some(name) if !name.is_empty() => OsString::from_vec(name).into(),
        _ => merge::outputs::free_base(Path::new(&trace_model::files::part_of_name(
            group.program(),
        ))),
    }
}
