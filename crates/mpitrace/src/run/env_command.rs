//! `env` in a command line, before the launcher or before the program: the variables that it sets and takes away.

use super::launcher::{PREFIXES, executable, name};
use super::option_values::among;
use std::ffi::{OsStr, OsString};
use std::ops::Range;

/// Options of `env` with a value.
const WITH_VALUE: [(char, &str); 4] = [
    ('u', "unset"),
    ('C', "chdir"),
    ('S', "split-string"),
    ('a', "argv0"),
];

/// An `env` of a command line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EnvCommand {
    /// Where its assignments stand, behind its options.
    pub assignments: Range<usize>,
    /// Whether it begins with an empty environment.
    pub is_empty: bool,
    /// Variables that it takes away.
    unset: Vec<OsString>,
}

impl EnvCommand {
    /// Takes the `env` at `argv[at]` apart; the command line ends at `end`.
    fn parse(argv: &[OsString], at: usize, end: usize) -> EnvCommand {
        let mut env = EnvCommand::default();
        let mut next = at + 1;
        while next < end {
            let word = argv[next].to_string_lossy().into_owned();
            if !word.starts_with('-') {
                break;
            }
            next += 1;
            if word == "--" {
                break;
            }
            let (option, attached) = match word.strip_prefix("--") {
                Some(long) => {
                    let (long, value) = long
                        .split_once('=')
                        .map_or((long, None), |(long, value)| (long, Some(value)));
                    env.is_empty |= long == "ignore-environment";
                    let known = WITH_VALUE.iter().find(|(_, known)| *known == long);
                    (known.map(|(letter, _)| *letter), value.map(OsString::from))
                }
                None => {
                    let has_value = |letter: &char| WITH_VALUE.iter().any(|(l, _)| l == letter);
                    let flags = word[1..].chars().take_while(|letter| !has_value(letter));
                    // A dash alone is -i, too.
                    env.is_empty |= word == "-" || flags.clone().any(|flag| flag == 'i');
                    let mut rest = word[1..].chars().skip(flags.count());
                    let option = rest.next();
                    let value: String = rest.collect();
                    (option, (!value.is_empty()).then(|| value.into()))
                }
            };
            let Some(option) = option else { continue };
            let value = attached.or_else(|| {
                next += 1;
                argv[..end].get(next - 1).cloned()
            });
            if option == 'u' {
                env.unset.extend(value);
            }
        }
        let start = next.min(end);
        let is_assignment = |word: &&OsString| word.as_encoded_bytes().contains(&b'=');
        let count = argv[start..end].iter().take_while(is_assignment).count();
        env.assignments = start..start + count;
        env
    }

    /// Whether a variable of its own environment does not reach the program, unless an assignment sets it.
    pub fn takes_away(&self, variable: &str) -> bool {
        self.is_empty || self.unset.iter().any(|name| name == variable)
    }
}

/// Each `env` that is reached from `argv[start]` through it and other commands that start a command.
pub fn all(argv: &[OsString], start: usize, end: usize) -> Vec<EnvCommand> {
    let mut found = Vec::new();
    let mut at = start;
    while at < end {
        let command = name(&argv[at]);
        if command == "env" {
            let env = EnvCommand::parse(argv, at, end);
            at = env.assignments.end;
            found.push(env);
        } else if among(PREFIXES, &command) {
            // Values of its options are hardly programs.
            let program = |word: &OsString| executable(word).is_some();
            at = match argv[at + 1..end].iter().position(program) {
                Some(behind) => at + 1 + behind,
                None => end,
            };
        } else {
            break;
        }
    }
    found
}

/// The value of a variable behind the commands `argv[..end]`, if it is `inherited` before them.
pub fn value_behind(
    argv: &[OsString],
    end: usize,
    variable: &str,
    inherited: Option<OsString>,
) -> Option<OsString> {
    let mut value = inherited;
    for env in all(argv, 0, end) {
        value = value.filter(|_| !env.takes_away(variable));
        let words = argv[env.assignments].iter();
        value = words
            .filter_map(|word| assigned(word, variable))
            .next_back()
            .or(value);
    }
    value
}

/// The value in `variable=value`.
pub fn assigned(word: &OsStr, variable: &str) -> Option<OsString> {
    let value = word.to_str()?.strip_prefix(variable)?.strip_prefix('=')?;
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn assignments_stand_behind_options_and_their_values() {
        for (line, assignments) in [
            ("env A=1 B=2 ls C=3", 1..3),
            ("env -u A --chdir / -vuB --unset=C A=1 ls", 7..8),
            ("env -i -uA -- A=1 ls", 4..5),
            ("env - ls", 2..2),
            ("env -u", 2..2),
        ] {
            let argv = argv(line);
            let env = EnvCommand::parse(&argv, 0, argv.len());
            assert_eq!(env.assignments, assignments, "{line}");
        }
    }

    #[test]
    fn the_last_env_decides() {
        for (line, expected) in [
            ("env A=1 ls", Some("1")),
            ("env A=1 nice -n 5 env A=2 ls", Some("2")),
            ("env A=1 nice -n 5 env -u A ls", None),
            ("env -i ls", None),
            ("env B=1 ls", Some("0")),
            ("time ls env A=1", Some("0")),
        ] {
            let argv = argv(line);
            let value = value_behind(&argv, argv.len(), "A", Some("0".into()));
            assert_eq!(value, expected.map(OsString::from), "{line}");
        }
    }
}
