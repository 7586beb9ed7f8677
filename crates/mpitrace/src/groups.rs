//! The groups in which `mpitrace --help` lists the subcommands.

use clap::Command;

/// Headings and the subcommands below each. Every subcommand is in one group.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Record", &["run", "settings", "status", "recover"]),
    (
        "Look",
        &[
            "report", "compare", "verify", "view", "draw", "info", "stats", "io", "print", "query",
            "window", "navigate",
        ],
    ),
    (
        "Convert and edit",
        &[
            "convert",
            "filter",
            "merge",
            "join",
            "clock",
            "arrows",
            "lines",
            "composite",
        ],
    ),
    ("Below the ranks", &["ioserver", "dataserver", "blk"]),
    (
        "Maintain",
        &["check", "repair", "updates", "synth", "man", "completions"],
    ),
];

/// Has `--help` of `command` list its subcommands in groups.
pub fn show_in_help(command: Command) -> Command {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(&format!("{heading}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text.push_str(&format!("  {name:<11}  {about}\n"));
        }
        text.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}\n\n\
         `mpitrace COMMAND --help` shows all options of a command, with examples.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_subcommand_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        grouped.sort_unstable();
        let command = crate::Arguments::command();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }
}
