//! Forms of Open MPI's mpirun in which `-x` does not do: with the parameter mca_base_env_list, beside which it is refused, and with
//! `--app FILE`, whose programs it does not reach.

use super::env_command::assigned;
use super::launcher::{Launch, ProgramPart};
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};

/// Parameter that lists variables for all ranks, separated by `;`.
const ENV_LIST: &str = "mca_base_env_list";

/// Variable that sets the parameter.
pub const ENV_LIST_VARIABLE: &str = "OMPI_MCA_mca_base_env_list";

/// The launcher's own options, with their values.
fn options<'a>(argv: &'a [OsString], part: &ProgramPart) -> &'a [OsString] {
    &argv[part.start..part.program.unwrap_or(part.end)]
}

/// Whether a word is this option, behind one dash or two.
fn is_option(word: &OsStr, name: &str) -> bool {
    let word = word.to_str().and_then(|word| word.strip_prefix('-'));
    word.is_some_and(|word| word.strip_prefix('-').unwrap_or(word) == name)
}

/// The value of mca_base_env_list in the command line.
pub fn env_list(argv: &[OsString], launch: &Launch) -> Option<OsString> {
    let parts = launch.parts.iter().map(|part| options(argv, part));
    let mut triples = parts.flat_map(|options| options.windows(3));
    triples
        .find(|words| {
            ["mca", "gmca", "omca"]
                .iter()
                .any(|name| is_option(&words[0], name))
                && words[1] == ENV_LIST
        })
        .map(|words| words[2].clone())
}

/// The value that a list gives a variable; `inherited` if it only names it, or has nothing of it.
pub fn listed(list: &OsStr, variable: &str, inherited: Option<&OsStr>) -> Option<OsString> {
    let list = list.to_string_lossy();
    let mut values = list
        .split(';')
        .filter_map(|entry| assigned(entry.trim().as_ref(), variable));
    values.next_back().or_else(|| inherited.map(OsString::from))
}

/// The options by which the programs of `--app FILE` get variables; `None` if there is no such option. `has_list` says whether the
/// user sets mca_base_env_list.
pub fn for_app_file(
    argv: &[OsString],
    launch: &Launch,
    has_list: bool,
    variables: &[(OsString, OsString)],
) -> Result<Option<[OsString; 3]>, Failure> {
    let all = launch.parts.iter().flat_map(|part| options(argv, part));
    let all: Vec<&OsString> = all.collect();
    let Some(at) = all.iter().position(|word| is_option(word, "app")) else {
        return Ok(None);
    };
    let file = all
        .get(at + 1)
        .map_or(OsStr::new(""), |file| file.as_os_str());
    let cannot = |why: &str| {
        Err(Failure::Call(format!(
            "the programs of --app {} cannot be traced, as {why}: give its lines to mpirun itself, with ` : ` between them",
            file.display()
        )))
    };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let in_file = lines.any(|line| {
        line.split_whitespace()
            .any(|word| is_option(word.as_ref(), "x"))
    });
    if has_list {
        return cannot("mca_base_env_list is set");
    }
    if in_file || all.iter().any(|word| is_option(word, "x")) {
        return cannot("Open MPI takes no -x beside variables for all of them");
    }
    let mut list = OsString::new();
    for (name, value) in variables {
        // Lines of settings may end in either.
        let value = match name == "TRACE_SETTINGS" {
            true => value.to_string_lossy().replace(';', "\n").into(),
            false => value.clone(),
        };
        if value.as_encoded_bytes().contains(&b';') {
            return cannot(&format!("{} has a semicolon", name.display()));
        }
        for text in [name, OsStr::new("="), &value, OsStr::new(";")] {
            list.push(text);
        }
    }
    Ok(Some(["--mca".into(), ENV_LIST.into(), list]))
}
