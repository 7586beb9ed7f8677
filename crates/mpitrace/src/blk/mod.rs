//! `mpitrace blk`: follows the transfers of the block devices on which files lie.
//!
//! The kernel's events of the block layer become operations in a block file of our own format: one for each transfer, from the
//! moment it was queued until the device was done with it, with the thread that asked for it. EXTENTS definitions tell where
//! the files lie on the device. What that means for MPI calls is found out with the ranks' block files, later.
//!
//! [`BlkSession`] is the same for other subcommands.

mod device;
mod events;
mod extents;
mod follow;
mod notify;
mod reader;
mod ring;
mod state;
mod tracefs;
mod transfers;

use crate::failure::Failure;
use crate::system::own_program;
use crate::terminal::{print_text, tell};
use clap::{Args, Subcommand};
use serde_json::Value;
use state::{SessionOrder, SessionState};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Follow the transfers of block devices (root; files on ext4 or xfs)
///
/// Between `start` and `stop`, every transfer of the devices that hold the named files is recorded: its kind, its place
/// on the device, its start and end, and the thread that asked for it. Together with the block files of the ranks, this
/// shows which MPI-IO calls reached the disk, when, and whose data a transfer carried.
#[derive(Args)]
#[command(after_help = "Examples:
  mpitrace blk start --output disk.blocks /scratch/out
  mpiexec -n 4 ./app /scratch/out/data
  mpitrace blk stop

The command needs root, because only root may use the tracing of the kernel.
The files must be on ext4 or xfs, directly on a disk, a partition or a loop device.
A message says why files cannot be followed. The next `start`, `stop` or `status`
removes what a killed session left.")]
pub struct Arguments {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Subcommand)]
enum SessionCommand {
    Start(StartArguments),
    Stop(StopArguments),
    Status(StatusArguments),
    #[command(hide = true)]
    Reader(ReaderArguments),
}

/// Start following, in the background
#[derive(Args)]
struct StartArguments {
    /// Block file to write; for each further device one more, with a number in its name
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "mpitrace-device.blocks"
    )]
    output: PathBuf,
    /// File that notes the session
    #[arg(long, value_name = "FILE", default_value = state::USUAL)]
    state: PathBuf,
    /// Do not say what is followed
    #[arg(short, long)]
    quiet: bool,
    /// Files, also such as are made later, and directories with all that is in them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
}

/// Write the followed files to disk, record where they are on the device, and end
#[derive(Args)]
struct StopArguments {
    /// File that notes the session
    #[arg(long, value_name = "FILE", default_value = state::USUAL)]
    state: PathBuf,
    /// Directory with block files of ranks: the files that they opened are taken too
    #[arg(long, value_name = "DIR")]
    blocks: Option<PathBuf>,
    /// Say nothing unless something went wrong
    #[arg(short, long)]
    quiet: bool,
}

/// Print what the session has seen so far; the exit code is 1 if there is no session
#[derive(Args)]
struct StatusArguments {
    /// File that notes the session
    #[arg(long, value_name = "FILE", default_value = state::USUAL)]
    state: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ReaderArguments {
    #[arg(long)]
    output: PathBuf,
    #[arg(long)]
    state: PathBuf,
    #[arg(long)]
    with_parent: bool,
    paths: Vec<PathBuf>,
}

/// A session: devices that are followed by a process in the background.
#[derive(Debug)]
pub struct BlkSession {
    state: PathBuf,
    /// The description printed at its beginning.
    begun: Value,
}

/// Options of a session.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Files and directories whose devices are followed.
    pub paths: Vec<PathBuf>,
    /// Block file that is written, which must not be there yet; further devices have a number in their names.
    pub output: PathBuf,
    /// State file.
    pub state: PathBuf,
    /// Whether it ends by itself when this process does.
    pub with_parent: bool,
}

impl BlkSession {
    /// Begins to follow; comes back when every later transfer is seen.
    ///
    /// # Errors
    /// Why that is not possible here.
    pub fn start(options: &SessionOptions) -> Result<BlkSession, Failure> {
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))
        };
        let paths = options
            .paths
            .iter()
            .map(|path| absolute(path))
            .collect::<Result<Vec<_>, _>>()?;
        // Refusals come before anything is touched.
        follow::devices(&paths).map_err(|refusal| Failure::Call(refusal.to_string()))?;
        tracefs::probe().map_err(Failure::Call)?;
        let state = absolute(&options.state)?;
        match state::find(&state).map_err(Failure::Call)? {
            SessionState::Runs { pid } => {
                return Err(Failure::Call(format!(
                    "process {pid} follows block devices already: `mpitrace blk stop`, or name another --state"
                )));
            }
            SessionState::Dead { .. } => state::remove(&state),
            SessionState::None => {}
        }
        let program =
            own_program::path().map_err(|error| Failure::Data(format!("this program: {error}")))?;
        let mut command = Command::new(program);
        command
            .args(["blk", "reader", "--output"])
            .arg(absolute(&options.output)?)
            .arg("--state")
            .arg(&state);
        if options.with_parent {
            command.arg("--with-parent");
        }
        let mut child = command
            .arg("--")
            .args(&paths)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            // Errors come through stdout.
            .stderr(Stdio::null())
            // Ctrl-C is for the program that is followed.
            .process_group(0)
            .spawn()
            .map_err(|error| Failure::Data(format!("the reader: {error}")))?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            drop(BufReader::new(output).read_line(&mut line));
        }
        let begun: Value = serde_json::from_str(&line).unwrap_or_default();
        if begun.get("pid").is_some() {
            return Ok(BlkSession { state, begun });
        }
        drop(child.wait());
        tracefs::clean();
        Err(Failure::Call(
            match begun.get("error").and_then(Value::as_str) {
                Some(error) => error.to_owned(),
                None => "the reader ended before it had begun".to_owned(),
            },
        ))
    }

    /// The session that has its state in this file, if there is one.
    fn at(state: &Path) -> Result<BlkSession, Failure> {
        let state = std::path::absolute(state)
            .map_err(|error| Failure::Call(format!("--state: {error}")))?;
        Ok(BlkSession {
            state,
            begun: Value::Null,
        })
    }

    /// The block files, one for each device.
    pub fn outputs(&self) -> Vec<PathBuf> {
        let devices = self.begun.get("devices").and_then(Value::as_array);
        let files = devices.into_iter().flatten().filter_map(|d| d.get("file"));
        files.filter_map(Value::as_str).map(PathBuf::from).collect()
    }

    /// The session's own files that lie on the devices of `paths`.
    fn own_traffic(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let device = |path: &PathBuf| {
            let meta = path
                .metadata()
                .or_else(|_| follow::folder_of(path).metadata());
            meta.ok().map(|meta| meta.dev())
        };
        let devices: Vec<_> = paths.iter().filter_map(device).collect();
        let mut outputs = self.outputs();
        outputs.retain(|output| device(output).is_some_and(|d| devices.contains(&d)));
        outputs
    }

    /// Takes the places of the files, also of those that block files in `blocks` name, and ends. What was seen comes back
    /// (members as `mpitrace blk status --json` has them).
    ///
    /// # Errors
    /// If the session has died, or what else went wrong.
    pub fn stop(&self, blocks: Option<&Path>) -> Result<Value, Failure> {
        stop(&self.state, blocks)
    }
}

fn stop(state: &Path, blocks: Option<&Path>) -> Result<Value, Failure> {
    let blocks = match blocks.map(std::path::absolute).transpose() {
        Ok(blocks) => blocks,
        Err(error) => return Err(Failure::Call(format!("--blocks: {error}"))),
    };
    match state::find(state).map_err(Failure::Call)? {
        SessionState::None => {
            tracefs::clean();
            Err(Failure::Call(format!(
                "{}: no block devices are followed",
                state.display()
            )))
        }
        SessionState::Runs { .. } => {
            let answer = state::send_order(state, &SessionOrder::Stop { blocks });
            answer.map_err(Failure::Data)
        }
        SessionState::Dead { pid, outputs } => {
            state::remove(state);
            tracefs::clean();
            let names: Vec<String> = outputs.iter().map(|p| p.display().to_string()).collect();
            Err(Failure::Data(format!(
                "process {pid}, which followed the devices, has died: transfers since then and the places of files are not in {}",
                names.join(", ")
            )))
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        SessionCommand::Start(arguments) => {
            let session = BlkSession::start(&SessionOptions {
                paths: arguments.paths.clone(),
                output: arguments.output.clone(),
                state: arguments.state.clone(),
                with_parent: false,
            })?;
            if !arguments.quiet {
                say(&session.begun, false);
                for output in session.own_traffic(&arguments.paths) {
                    tell!(
                        "mpitrace: {} lies on a device that is followed: writing it will be seen there",
                        output.display()
                    );
                }
            }
            Ok(())
        }
        SessionCommand::Stop(arguments) => {
            let session = BlkSession::at(&arguments.state)?;
            let report = session.stop(arguments.blocks.as_deref())?;
            if !arguments.quiet {
                say(&report, true);
            }
            Ok(())
        }
        SessionCommand::Status(arguments) => status(arguments),
        SessionCommand::Reader(arguments) => reader::run(&reader::ReaderTask {
            paths: arguments.paths.clone(),
            output: arguments.output.clone(),
            state: arguments.state.clone(),
            with_parent: arguments.with_parent,
        })
        .map_err(Failure::Data),
    }
}

fn status(arguments: &StatusArguments) -> Result<(), Failure> {
    let state = std::path::absolute(&arguments.state)
        .map_err(|error| Failure::Call(format!("--state: {error}")))?;
    match state::find(&state).map_err(Failure::Call)? {
        SessionState::Runs { .. } => {
            let report = state::send_order(&state, &SessionOrder::Status).map_err(Failure::Data)?;
            if arguments.json {
                print_text(&format!("{report:#}\n"))?;
            } else {
                say(&report, true);
            }
            Ok(())
        }
        SessionState::Dead { pid, .. } => {
            state::remove(&state);
            tracefs::clean();
            Err(Failure::Data(format!(
                "process {pid}, which followed block devices, has died; what it left is removed"
            )))
        }
        SessionState::None => {
            tracefs::clean();
            Err(Failure::Data("no block devices are followed".to_owned()))
        }
    }
}

/// Says on stderr what a session reports.
pub fn say(report: &Value, counts: bool) {
    let number = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or(0);
    let text = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
        text.to_owned()
    };
    for device in report
        .get("devices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        tell!(
            "mpitrace: transfers of {} to {}",
            text(device, "device"),
            text(device, "file")
        );
    }
    if counts {
        tell!(
            "mpitrace: {} transfers, {} bytes read, {} bytes written, {} files followed",
            number("operations"),
            number("bytes_read"),
            number("bytes_written"),
            number("files")
        );
    }
    for (key, what) in [
        (
            "events_lost",
            "events were lost: the kernel had no room for them",
        ),
        (
            "records_lost",
            "transfers were lost: there was no room on the disk",
        ),
        (
            "unfinished",
            "transfers were given up: their ends were not seen",
        ),
    ] {
        if number(key) > 0 {
            tell!("mpitrace: {} {what}", number(key));
        }
    }
    for note in report
        .get("notes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        tell!("mpitrace: {note}");
    }
}
