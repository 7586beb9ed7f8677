//! `mpitrace run`: starts a program, under a launcher or not, so that its ranks, and only they, load libtrace.so.

mod command;
mod env_command;
mod family;
mod io;
mod keys;
mod launcher;
mod left;
mod library;
mod multi_prog;
mod no_trace;
mod open_mpi;
mod option_values;
mod supervise;

use crate::failure::Failure;
use crate::terminal::{print_text, tell};
use command::RunPlan;
use io::{IoArguments, RunIoSession};
use launcher::{Launch, LauncherKind};
use left::EarlierBlockFiles;
use no_trace::EarlierTraces;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Run a program under the recorder
///
/// `run` makes the launcher (mpiexec, mpirun, srun, …) preload libtrace.so into the ranks. A program without a launcher
/// is started directly. The exit code is that of the command. If the command leaves block files, `run` prints how to
/// make the trace from them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace run -- mpiexec -n 4 ./app input.dat
  mpitrace run --lib target/lib -- mpirun -n 2 lmp -in in.lj
  mpitrace run --io --ioserver /data/store:/mnt/x -- mpiexec -n 4 ./app /mnt/x/file
  mpitrace run --io --blk=/scratch -- mpiexec -n 4 ./app /scratch/file")]
pub struct Arguments {
    /// libtrace.so, or a folder that contains it
    #[arg(long, value_name = "PATH", env = "TRACE_LIB")]
    lib: Option<PathBuf>,
    /// Settings file of the recorder (TRACE_CONF)
    #[arg(long, value_name = "FILE")]
    conf: Option<PathBuf>,
    /// Name of the output files (TRACE_OUTPUT)
    #[arg(short, long, value_name = "NAME")]
    output: Option<OsString>,
    /// Folder of the output files (TRACE_DIR)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Any other setting of the recorder (TRACE_KEY) or of one MPI function. May be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    #[command(flatten)]
    io: IoArguments,
    /// Print the command instead of running it
    #[arg(long)]
    dry_run: bool,
    /// Do not print which library is preloaded
    #[arg(short, long)]
    quiet: bool,
    /// The command to run, usually after `--`
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// Runs the subcommand; comes back only if nothing was started, or with --io after a command that has ended well.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let say = |message: &str| {
        if !arguments.quiet {
            tell!("mpitrace: {message}");
        }
    };
    if let Some(program) = arguments.command.first()
        && !arguments.dry_run
        && launcher::executable(program).is_none()
    {
        let why = if !program.as_encoded_bytes().contains(&b'/') {
            "not found in PATH"
        } else if Path::new(program).exists() {
            "not an executable file"
        } else {
            "No such file"
        };
        return Err(Failure::Call(format!("{}: {why}", program.display())));
    }
    let launch = Launch::recognise(&arguments.command);
    let found = family::of_programs(&arguments.command, &launch);
    for warning in found.warnings(&launch) {
        say(&warning);
    }
    // Wrong settings are told before anything is begun; those of the session are known later.
    settings(arguments, Vec::new(), &launch)?;
    let library = library::find(arguments.lib.as_deref())?;
    say(&format!("preloading {}", library.display()));
    let session = match arguments.io.has_work() && !arguments.dry_run {
        true => Some(RunIoSession::start(&arguments.io)?),
        false => None,
    };
    let of_session = session.as_ref().map(RunIoSession::settings);
    let settings = settings(arguments, of_session.unwrap_or_default(), &launch)?;
    let plan = command::plan(&arguments.command, &launch, library.as_os_str(), &settings)?;
    if arguments.dry_run {
        return print_text(&format!("{}\n", plan.shell()));
    }
    let RunPlan { argv, env } = plan;
    let (program, rest) = argv
        .split_first()
        .ok_or_else(|| Failure::Call("no command".into()))?;
    let mut command = std::process::Command::new(program);
    // It is ours; the recorder would take it for a setting it does not know.
    command.args(rest).envs(env).env_remove("TRACE_LIB");
    let failed = |error| Failure::Call(format!("{}: {error}", program.display()));
    let before = EarlierBlockFiles::now(&settings);
    let traces = EarlierTraces::now(&settings);
    let status = supervise::to_the_end(&mut command).map_err(failed)?;
    let Some(session) = session else {
        // Block files that were to be kept are left by runs that end well.
        if let Some(advice) = before.advice().filter(|_| !keeps_blocks(&settings)) {
            say(&advice);
        } else if status.success()
            && let Some(advice) = traces.as_ref().and_then(EarlierTraces::advice)
        {
            say(&advice);
        }
        supervise::end_like(status);
    };
    let finished = session.finish();
    if let Ok(messages) = &finished {
        messages.iter().for_each(|line| say(line));
    }
    if status.success() {
        return finished.map(drop);
    }
    if let Err(Failure::Data(why) | Failure::Call(why)) = finished {
        tell!("mpitrace: {why}");
    }
    supervise::end_like(status);
}

/// Whether block files stay after a run that ends well.
fn keeps_blocks(variables: &[(OsString, OsString)]) -> bool {
    let Ok(table) = wrappers::table() else {
        return false;
    };
    let known = |name: &str| table.get(name).is_some();
    ::settings::Settings::of_child(variables, &known)
        .settings
        .keep_blocks
}

/// The environment variables of the settings options.
fn settings(
    arguments: &Arguments,
    of_session: Vec<(String, OsString)>,
    launch: &Launch,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut settings: Vec<(OsString, OsString)> = Vec::new();
    // Open MPI hands only named variables on to other nodes, Hydra all of them.
    if launch.kind == LauncherKind::OpenMpi {
        let ours = |name: &OsStr| {
            let name = name.as_encoded_bytes();
            (name.starts_with(b"TRACE_") && name != b"TRACE_LIB") || name == b"DUMPI_CONF"
        };
        settings.extend(std::env::vars_os().filter(|(name, _)| ours(name)));
        settings.sort();
    }
    // A stronger variable of the same option in the environment says then the same.
    let mut set = |name: String, value: OsString| {
        let others = keys::other_variables(&name);
        let is_set = |other: &&String| std::env::var_os(other).is_some();
        let names: Vec<&String> = others.iter().filter(is_set).chain([&name]).collect();
        settings.retain(|(known, _)| *known != *name && !others.iter().any(|o| *known == **o));
        settings.extend(names.into_iter().map(|name| (name.into(), value.clone())));
    };
    // Ranks may run in another directory.
    let absolute = |path: &PathBuf| {
        std::path::absolute(path)
            .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))
    };
    if let Some(path) = &arguments.conf {
        let found = std::fs::File::open(path);
        found.map_err(|error| Failure::Call(format!("--conf {}: {error}", path.display())))?;
        set("TRACE_CONF".into(), absolute(path)?.into());
    }
    if let Some(name) = &arguments.output {
        set("TRACE_OUTPUT".into(), name.clone());
    }
    if let Some(path) = &arguments.dir {
        set("TRACE_DIR".into(), absolute(path)?.into());
    }
    let own_options = [
        ("--conf", "TRACE_CONF", arguments.conf.is_some()),
        ("--output", "TRACE_OUTPUT", arguments.output.is_some()),
        ("--dir", "TRACE_DIR", arguments.dir.is_some()),
    ];
    // MPI functions have no variables of their own.
    let mut functions: Vec<String> = Vec::new();
    for setting in &arguments.settings {
        let Some((key, value)) = setting.split_once('=').filter(|(key, _)| is_key(key)) else {
            return Err(Failure::Call(format!(
                "--set {setting}: expected KEY=VALUE"
            )));
        };
        keys::check(key, value).map_err(|why| Failure::Call(format!("--set {setting}: {why}")))?;
        if keys::is_function(key) {
            functions.push(format!("{key} {value}"));
        } else {
            let name = format!("TRACE_{}", keys::variable(key));
            let is_same = |own: &str| own == name || keys::other_variables(own).contains(&name);
            if let Some((option, ..)) = own_options.iter().find(|(_, own, is)| *is && is_same(own))
            {
                return Err(Failure::Call(format!(
                    "--set {setting}: {option} says this, too; expected one of them"
                )));
            }
            let value = match keys::is_path(&name) && !value.is_empty() {
                true => absolute(&value.into())?.into(),
                false => value.into(),
            };
            set(name, value);
        }
    }
    for (name, value) in of_session {
        set(name, value);
    }
    if !functions.is_empty() {
        functions.extend(std::env::var("TRACE_SETTINGS"));
        set("TRACE_SETTINGS".into(), functions.join(";").into());
    }
    Ok(settings)
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
