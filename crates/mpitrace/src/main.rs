//! `mpitrace`: runs programs under the recorder, and reads, writes and converts traces of every format.
//!
//! Every subcommand ends with 0 when all went well, 1 when a file is bad, 2 when the call is. `run` ends as the program
//! it starts.

// The subcommands, each in the module of its name.
mod arrows;
mod blk;
mod check;
mod clock;
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
mod recover;
mod repair;
mod run;
mod stats;
mod status;
mod synth;
mod updates;
mod view;
mod window;

// What they share.
mod block_files;
mod failure;
mod journal;
mod system;
mod terminal;
mod trace_files;

use clap::{CommandFactory, Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs MPI programs under libtrace; prints, converts, checks and edits traces of every format.
#[derive(Parser)]
#[command(name = "mpitrace", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Blk(blk::Arguments),
    Print(print::Arguments),
    Convert(convert::Arguments),
    Filter(Box<filter::Arguments>),
    Merge(merge::Arguments),
    Arrows(arrows::Arguments),
    Lines(lines::Arguments),
    Navigate(navigate::Arguments),
    Window(window::Arguments),
    Draw(draw::Arguments),
    View(Box<view::Arguments>),
    Recover(recover::Arguments),
    Info(info::Arguments),
    Check(check::Arguments),
    Clock(clock::Arguments),
    Stats(stats::Arguments),
    Status(status::Arguments),
    Io(io::Arguments),
    Synth(synth::Arguments),
    Join(join::Arguments),
    Repair(repair::Arguments),
    Composite(composite::Arguments),
    Ioserver(Box<ioserver::Arguments>),
    Dataserver(dataserver::Arguments),
    Updates(updates::Arguments),
    Man(man::Arguments),
    Completions(completions::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(spell_out(std::env::args_os().collect()));
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Blk(arguments) => blk::run(&arguments),
        Command::Print(arguments) => print::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Filter(arguments) => filter::run(&arguments),
        Command::Merge(arguments) => merge::run(&arguments),
        Command::Arrows(arguments) => arrows::run(&arguments),
        Command::Lines(arguments) => lines::run(&arguments),
        Command::Navigate(arguments) => navigate::run(&arguments),
        Command::Window(arguments) => window::run(&arguments),
        Command::Draw(arguments) => draw::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Recover(arguments) => recover::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Clock(arguments) => clock::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Io(arguments) => io::run(&arguments),
        Command::Synth(arguments) => synth::run(&arguments),
        Command::Join(arguments) => join::run(&arguments),
        Command::Repair(arguments) => repair::run(&arguments),
        Command::Composite(arguments) => composite::run(&arguments),
        Command::Ioserver(arguments) => ioserver::run(&arguments),
        Command::Dataserver(arguments) => dataserver::run(&arguments),
        Command::Updates(arguments) => updates::run(&arguments),
        Command::Man(arguments) => man::run(&arguments, Arguments::command()),
        Command::Completions(arguments) => completions::run(&arguments, Arguments::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(Failure::Data(message)) => {
            complain(&message);
            ExitCode::from(1)
        }
        Err(Failure::Call(message)) => {
            complain(&message);
            ExitCode::from(2)
        }
    }
}

/// Says on stderr what went wrong.
fn complain(message: &str) {
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    match is_terminal {
        true => eprintln!("mpitrace: {}", terminal::clean(message)),
        false => eprintln!("mpitrace: {message}"),
    }
}

/// Makes the two-letter options that slog2print spells with one dash long ones, which is all clap knows.
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
