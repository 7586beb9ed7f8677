//! `mpitrace run`: starts a program, under a launcher or not, so that its ranks, and only they, load libtrace.so.

mod command;
mod family;
mod launcher;
mod library;

use crate::failure::Failure;
use command::Plan;
use family::Family;
use launcher::{Kind, Launch};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;

/// Run a program under the recorder
///
/// The launcher (mpiexec, mpirun, srun, …) is told to preload libtrace.so into the ranks. Without one the program is
/// started directly. `run` ends as the command does.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace run -- mpiexec -n 4 ./app input.dat
  mpitrace run --lib target/lib -- mpirun -n 2 lmp -in in.lj")]
pub struct Arguments {
    /// libtrace.so, or a directory that holds it or mpich/libtrace.so and openmpi/libtrace.so
    #[arg(long, value_name = "PATH", env = "TRACE_LIB")]
    lib: Option<PathBuf>,
    /// The MPI the program uses, if it cannot be seen from its libraries
    #[arg(long, value_name = "FAMILY")]
    mpi: Option<Family>,
    /// Settings file of the recorder (TRACE_CONF)
    #[arg(long, value_name = "FILE")]
    conf: Option<PathBuf>,
    /// Name of the output files (TRACE_OUTPUT)
    #[arg(long, value_name = "NAME")]
    output: Option<OsString>,
    /// Directory of the output files (TRACE_DIR)
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Any other setting of the recorder (TRACE_KEY), or of one MPI function; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Print the command instead of running it
    #[arg(long)]
    dry_run: bool,
    /// Do not say which library is preloaded
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

/// Runs the subcommand; comes back only if nothing was started.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let say = |message: &str| {
        if !arguments.quiet {
            eprintln!("mpitrace: {message}");
        }
    };
    let launch = Launch::recognise(&arguments.command);
    let found = family::of_programs(&arguments.command, &launch);
    for warning in found.warnings(&launch) {
        say(&warning);
    }
    let wanted = match arguments.mpi {
        Some(family) => Some((family, "as --mpi says".to_string())),
        None => found.family(&launch),
    };
    let library = library::find(
        arguments.lib.as_deref(),
        wanted.as_ref().map(|(family, _)| *family),
    )?;
    match &wanted {
        Some((family, why)) => say(&format!(
            "preloading {} for {family}, {why}",
            library.display()
        )),
        None => say(&format!("preloading {}", library.display())),
    }
    let plan = command::plan(
        &arguments.command,
        &launch,
        library.as_os_str(),
        &settings(arguments, &launch)?,
    )?;
    if arguments.dry_run {
        println!("{}", plan.shell());
        return Ok(());
    }
    let Plan { argv, env } = plan;
    let (program, rest) = argv
        .split_first()
        .ok_or_else(|| Failure::Call("no command".into()))?;
    let mut command = std::process::Command::new(program);
    // It is ours; the recorder would take it for a setting it does not know.
    command.args(rest).envs(env).env_remove("TRACE_LIB");
    let error = command.exec();
    Err(Failure::Call(format!("{}: {error}", program.display())))
}

/// The environment variables of the settings options.
fn settings(arguments: &Arguments, launch: &Launch) -> Result<Vec<(OsString, OsString)>, Failure> {
    let mut settings: Vec<(OsString, OsString)> = Vec::new();
    // Open MPI hands only named variables on to other nodes, Hydra all of them.
    if launch.kind == Kind::OpenMpi {
        let ours = |name: &OsStr| {
            let name = name.as_encoded_bytes();
            (name.starts_with(b"TRACE_") && name != b"TRACE_LIB") || name == b"DUMPI_CONF"
        };
        settings.extend(std::env::vars_os().filter(|(name, _)| ours(name)));
        settings.sort();
    }
    let mut set = |name: String, value: OsString| {
        settings.retain(|(known, _)| *known != *name);
        settings.push((name.into(), value));
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
    // MPI functions have no variables of their own.
    let mut functions: Vec<String> = Vec::new();
    for setting in &arguments.settings {
        let Some((key, value)) = setting.split_once('=').filter(|(key, _)| is_key(key)) else {
            return Err(Failure::Call(format!(
                "--set {setting}: expected KEY=VALUE"
            )));
        };
        if key.starts_with("MPI_") || key.starts_with("MPIO_") {
            functions.push(format!("{key} {value}"));
        } else {
            let key = key.to_ascii_uppercase().replace(['-', '.'], "_");
            set(format!("TRACE_{key}"), value.into());
        }
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
