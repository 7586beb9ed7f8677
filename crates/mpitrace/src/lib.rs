//! `mpitrace`: runs programs under the recorder, and reads, writes and converts traces of every format.
//!
//! Every subcommand ends with exit code 0 if all went well, 1 if a file is bad, 2 if the command line is, 3 if a limit that the user set is passed. `run` ends with the
//! exit code of the program it starts.

// It panics where stdout is full.
#![deny(clippy::print_stdout)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("mpitrace maps files as a whole into memory, which takes a processor of 64 bits");

// The subcommands, each in the module of its name.
mod arrows;
mod blk;
mod check;
mod clock;
mod compare;
mod completions;
mod composite;
mod convert;
mod dataserver;
mod draw;
mod filter;
mod info;
mod io;
mod ioserver;
mod join;
mod lines;
mod man;
mod merge;
mod navigate;
mod print;
mod query;
mod recover;
mod repair;
mod report;
mod run;
mod settings;
mod stats;
mod status;
mod synth;
mod updates;
mod verify;
mod view;
mod window;

// What other programs use of the command.
pub mod api;

// Modules that the subcommands share.
mod block_files;
mod failure;
mod groups;
mod system;
mod terminal;
mod trace_files;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs MPI programs under libtrace; prints, converts, checks, edits and shows traces of every format.
#[derive(Parser)]
#[command(name = "mpitrace", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Settings(settings::Arguments),
    Status(status::Arguments),
    Recover(recover::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Verify(verify::Arguments),
    View(Box<view::Arguments>),
    Draw(draw::Arguments),
    Info(info::Arguments),
    Stats(stats::Arguments),
    Io(io::Arguments),
    Print(print::Arguments),
    Query(query::Arguments),
    Window(window::Arguments),
    Navigate(navigate::Arguments),
    Convert(convert::Arguments),
    Filter(Box<filter::Arguments>),
    Merge(merge::Arguments),
    Join(join::Arguments),
    Clock(clock::Arguments),
    Arrows(arrows::Arguments),
    Lines(lines::Arguments),
    Composite(composite::Arguments),
    Ioserver(Box<ioserver::Arguments>),
    Dataserver(dataserver::Arguments),
    Blk(blk::Arguments),
    Check(check::Arguments),
    Repair(repair::Arguments),
    Updates(updates::Arguments),
    Synth(synth::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}

/// The command line with its subcommands in groups.
fn command_line() -> clap::Command {
    groups::show_in_help(Arguments::command())
}

/// Runs the command that the process was started with, and gives its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(run_command(std::env::args_os().collect()))
}

/// Runs the command in a process of another kind, such as one of Python, and ends the process with its exit code. `program` is what starts the
/// command when it is run with `arguments`.
pub fn main_within(program: PathBuf, arguments: Vec<OsString>) -> ! {
    let line = std::iter::once(program.clone().into_os_string()).chain(arguments.iter().cloned());
    let line = line.collect();
    system::own_program::set(program, arguments);
    std::process::exit(run_command(line).into())
}

/// Runs a command line, with the name of the program in front, and gives its exit code.
fn run_command(line: Vec<OsString>) -> u8 {
    let arguments = spell_out(line);
    let matches = match command_line().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => return explained(&error),
    };
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    // The programs that it starts would inherit what is ignored.
    if !matches!(arguments.command, Command::Run(_)) {
        system::signals::ignore_file_size_limit();
        system::interruption::remove_temporaries();
    }
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Settings(arguments) => settings::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Recover(arguments) => recover::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Draw(arguments) => draw::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Io(arguments) => io::run(&arguments),
        Command::Print(arguments) => print::run(&arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Window(arguments) => window::run(&arguments),
        Command::Navigate(arguments) => navigate::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Filter(arguments) => filter::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Join(arguments) => join::run(&arguments),
        Command::Clock(arguments) => clock::run(&arguments),
        Command::Arrows(arguments) => arrows::run(&arguments),
        Command::Lines(arguments) => lines::run(&arguments),
        Command::Composite(arguments) => composite::run(&arguments),
        Command::Ioserver(arguments) => ioserver::run(&arguments),
        Command::Dataserver(arguments) => dataserver::run(&arguments),
        Command::Blk(arguments) => blk::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Repair(arguments) => repair::run(&arguments),
        Command::Updates(arguments) => updates::run(&arguments),
        Command::Synth(arguments) => synth::run(&arguments),
        Command::Man(arguments) => man::run(&arguments, command_line()),
        Command::Completions(arguments) => completions::run(&arguments, command_line()),
    };
    exit_code(result)
}

/// The exit code for how a command ended. What went wrong is said.
fn exit_code(result: Result<(), Failure>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(Failure::ClosedPipe) => 0,
        Err(Failure::Data(message)) => {
            complain(&message);
            1
        }
        Err(Failure::Call(message)) => {
            complain(&message);
            2
        }
        Err(Failure::Limit(message)) => {
            complain(&message);
            3
        }
    }
}

/// Prints help or version, or what is wrong with the command line, and gives the exit code.
fn explained(error: &clap::Error) -> u8 {
    if error.use_stderr() {
        error.exit();
    }
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    exit_code(printed.map_err(|error| Failure::output("stdout", &error)))
}

/// Prints on stderr what went wrong.
fn complain(message: &str) {
    terminal::tell!("mpitrace: {message}");
}

/// Gives a second dash to the two-letter options of slog2print (`-is`), because clap has no such options.
fn spell_out(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|command| command == "print") {
        for argument in &mut arguments {
            if ["-is", "-ds", "-ie", "-de", "-ts", "-tf"]
                .iter()
                .any(|option| argument == option)
            {
                let mut long = OsString::from("-");
                long.push(&*argument);
                *argument = long;
            }
        }
    }
    arguments
}
