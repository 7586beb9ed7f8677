//! `docs/user/commands.md` is what `--help` says, and the man pages and completions that are made of the same can be used.
//!
//! `UPDATE_DOCS=1 cargo test -p mpitrace --test all docs` writes it anew.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

fn mpitrace(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .env_remove("RUST_BACKTRACE")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The subcommands with the headings of their groups, in the order in which `mpitrace --help` lists them.
fn groups() -> Vec<(String, Vec<String>)> {
    let help = mpitrace(&["--help"]);
    let list = help.split("\n\n").skip(2);
    let group = |text: &str| {
        let mut lines = text.lines();
        let heading = lines.next()?.strip_suffix(':')?.to_owned();
        let names = lines.filter_map(|line| line.split_whitespace().next());
        Some((heading, names.map(str::to_owned).collect()))
    };
    list.map_while(group)
        .take_while(|(heading, _)| heading != "Options")
        .collect()
}

fn subcommands() -> Vec<String> {
    let groups = groups().into_iter();
    groups.flat_map(|(_, names)| names).collect()
}

/// The text of `--help` of a command, as the page has it.
fn help_block(command: &[&str]) -> String {
    let help = mpitrace(&[command, &["--help"]].concat());
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n```text\n{}\n```\n", lines.join("\n"))
}

/// The commands below one, as its help lists them.
fn nested(help: &str) -> Vec<&str> {
    let list = help
        .split_once("\nCommands:\n")
        .map_or("", |(_, list)| list);
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.filter(|&name| name != "help").collect()
}

#[test]
fn commands_are_described_as_help_describes_them() {
    let mut text = String::from(
        "# The commands of mpitrace\n\n\
         This page is the text of `mpitrace COMMAND --help`; a test keeps it so. `mpitrace man FOLDER` makes man pages of the same\n\
         text, and `mpitrace completions SHELL` completions. The exit code is 0 if all went well, 1 if a file is bad, 2 if the\n\
         command line is, and 3 if `verify` finds something or a condition of `report --fail-if` holds; `run` ends with the exit\n\
         code of the program it starts. `-` is standard input or output where that makes sense. Work of more than a second shows a\n\
         progress bar on a terminal.\n",
    );
    for (heading, names) in groups() {
        writeln!(text, "\n# {heading}").unwrap();
        for name in names {
            let help = help_block(&[&name]);
            write!(text, "\n## {name}\n{help}").unwrap();
            for below in nested(&help) {
                write!(
                    text,
                    "\n### {name} {below}\n{}",
                    help_block(&[&name, below])
                )
                .unwrap();
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/user/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let same = found == text;
    assert!(same, "docs/user/commands.md is out of date: UPDATE_DOCS=1");
}

#[test]
fn the_readme_lists_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let table = readme.split("\n## Commands\n").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    // The second cell of each row names commands between backticks.
    let mut listed: Vec<&str> = table
        .lines()
        .filter_map(|line| line.split('|').nth(2))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    listed.sort_unstable();
    let mut commands = subcommands();
    commands.sort_unstable();
    assert_eq!(listed, commands);
    assert!(readme.lines().count() <= 150);
}

#[test]
fn every_command_gives_examples_and_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    mpitrace(&["man", folder.path().to_str().unwrap()]);
    for name in subcommands() {
        let help = mpitrace(&[&name, "--help"]);
        assert!(help.contains("Examples:"), "{name} --help shows no example");
        let page = folder.path().join(format!("mpitrace-{name}.1"));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
        assert!(!page.contains(".SH EXTRA"), "{name}: {page}");
        // What the page calls the synopsis is what --help calls the usage.
        let usage = help.split("\nUsage: ").nth(1).unwrap();
        let usage = usage.lines().next().unwrap().replace('-', "\\-");
        let synopsis = page.split(".SH SYNOPSIS\n.nf\n").nth(1).unwrap();
        assert_eq!(synopsis.lines().next(), Some(usage.as_str()), "{name}");
        // An example is a line of its own. Help wraps those that are longer than 100 characters.
        let examples = help.split("\nExamples:\n").nth(1).unwrap();
        let example = examples.lines().next().unwrap().replace('-', "\\-");
        let written = page.split(".SH EXAMPLES\n.nf\n").nth(1).unwrap();
        let (first, _) = written.split_once('\n').unwrap();
        let first = first.replace("\\(ti", "~").replace("\\(aq", "'");
        assert!(first.starts_with(&example), "{name}: {first}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let completions = mpitrace(&["completions", shell]);
        for name in subcommands() {
            assert!(completions.contains(&name), "{name} in {shell}");
        }
    }
}

/// Arguments of an example in a help text: words of a shell, up to the first thing that only a shell does.
fn words(example: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in example.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            (' ', None) => words.push(String::new()),
            (c, _) => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// The command line of every example is one that the command takes: files may be missing, which ends with 1.
#[test]
fn examples_are_calls_that_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "merge", "join", "stats", "window", "convert", "recover", "io", "filter",
    ] {
        let help = mpitrace(&[name, "--help"]);
        let examples = help.split("Examples:\n").nth(1).unwrap();
        let lines = examples.lines().map(str::trim);
        let lines: Vec<&str> = lines.filter(|line| line.starts_with("mpitrace ")).collect();
        assert!(!lines.is_empty(), "{name}");
        // Options may also stand between the names of files.
        let between = match name {
            "convert" => vec!["mpitrace convert run.clog2 --leaf auto run.slog2"],
            "join" => vec!["mpitrace join a.clog2 -q b.clog2 both.clog2"],
            _ => vec![],
        };
        for line in lines.into_iter().chain(between) {
            // Text after two blanks explains; text after < > | is the shell's.
            let call = line.split("  ").next().unwrap();
            let call = call.split(['<', '>', '|']).next().unwrap().trim();
            let output = Command::new(env!("CARGO_BIN_EXE_mpitrace"))
                .args(&words(call)[1..])
                .current_dir(folder.path())
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("Usage:"), "{call}: {stderr}");
        }
    }
}
