//! `mpitrace man`: man pages, from the definition of the command line.

use crate::failure::Failure;
use clap_mangen::Man;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Write the man pages
///
/// There is one page for mpitrace and one per subcommand, with the text of --help.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace man ~/.local/share/man/man1      then: man mpitrace-convert")]
pub struct Arguments {
    /// Folder of the man pages
    folder: PathBuf,
}

/// Runs the subcommand for this command line.
pub fn run(arguments: &Arguments, command_line: clap::Command) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let failed = |error: io::Error| Failure::output(folder.display(), &error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut command_line = command_line.disable_help_subcommand(true);
    command_line.build();
    write_pages(&command_line, folder).map_err(failed)
}

/// Writes the page of a command, and those of the commands below it.
fn write_pages(command: &clap::Command, folder: &Path) -> io::Result<()> {
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        write_pages(below, folder)?;
    }
    let man = Man::new(command.clone()).source(concat!("mpitrace ", env!("CARGO_PKG_VERSION")));
    std::fs::write(folder.join(man.get_filename()), page(&man, command)?)
}

/// The page of a command. Synopsis and examples are the lines of `--help`: clap_mangen leaves out that an argument may come several times,
/// and fills examples as if they were prose.
fn page(man: &Man, command: &clap::Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage:").unwrap_or(&usage);
    lines_as_they_are(&mut page, "SYNOPSIS", usage.lines().map(str::trim))?;
    man.render_description_section(&mut page)?;
    if command
        .get_arguments()
        .any(|argument| !argument.is_hide_set())
    {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        let after = after.to_string();
        let (notes, examples) = match after.split_once("Examples:\n") {
            Some((notes, examples)) => (notes, examples),
            None => (after.as_str(), ""),
        };
        for (heading, text) in [("NOTES", notes), ("EXAMPLES", examples)] {
            if !text.trim().is_empty() {
                lines_as_they_are(&mut page, heading, text.trim_end().lines())?;
            }
        }
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Adds a section whose lines are neither joined nor broken.
fn lines_as_they_are<'a>(
    page: &mut Vec<u8>,
    heading: &str,
    lines: impl Iterator<Item = &'a str>,
) -> io::Result<()> {
    writeln!(page, ".SH {heading}\n.nf")?;
    for line in lines {
        writeln!(page, "{}", escaped(line))?;
    }
    writeln!(page, ".fi")
}

/// A line of text for roff, which gives the characters of a shell another look, and takes a line that begins with a dot or an apostrophe
/// for a request.
fn escaped(line: &str) -> String {
    let mut text = String::new();
    for c in line.chars() {
        match c {
            '\\' => text.push_str("\\e"),
            '-' => text.push_str("\\-"),
            '\'' => text.push_str("\\(aq"),
            '`' => text.push_str("\\(ga"),
            '^' => text.push_str("\\(ha"),
            '~' => text.push_str("\\(ti"),
            '.' if text.is_empty() => text.push_str("\\&."),
            _ => text.push(c),
        }
    }
    text
}
