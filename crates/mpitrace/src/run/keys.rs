//! Settings on the command line, looked at before the program starts.

use crate::settings::no_such_key;
use settings::{ComplaintKind, OPTIONS, OTHER_VARIABLES, Settings, SettingsOption};
use std::io;

/// Name of the variable that sets an option, without `TRACE_`: `CLOCK_SYNC` for `clock-sync`.
pub fn variable(key: &str) -> String {
    key.to_ascii_uppercase().replace(['-', '.'], "_")
}

/// Whether a key names an MPI function rather than an option.
pub fn is_function(key: &str) -> bool {
    let is_default = OPTIONS.iter().any(|option| option.answers_to(key));
    (key.starts_with("MPI_") || key.starts_with("MPIO_")) && !is_default
}

/// Variables of the recorder's own that set the same option as the variable `name`, without that one: `TRACE_DIRECTORY` for `TRACE_DIR`.
pub fn other_variables(name: &str) -> Vec<String> {
    let of = |option: &SettingsOption| {
        let others = option.variables.iter().map(|variable| variable.name);
        let ours = others.filter(|other| other.starts_with("TRACE_"));
        let own = [option.variable()];
        own.into_iter()
            .chain(ours.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let mut options = OPTIONS.iter().map(of);
    let found = options.find(|names| names.iter().any(|known| known == name));
    let names = found.into_iter().flatten();
    names.filter(|other| other != name).collect()
}

/// Whether the value of a variable is a path that starts from the working directory.
pub fn is_path(name: &str) -> bool {
    ["TRACE_TMPDIR", "TRACE_DIR", "TRACE_DIRECTORY", "TRACE_CONF"].contains(&name)
}

/// Whether the recorder takes this value of this key; else what is wrong, with the values that are allowed or the key that may be
/// meant.
pub fn check(key: &str, value: &str) -> Result<(), String> {
    let table = wrappers::table().map_err(|error| error.to_string())?;
    let name = format!("TRACE_{}", variable(key));
    // Each of these says where more settings are, or is read without them.
    if OTHER_VARIABLES.iter().any(|(other, _)| *other == name) {
        return Ok(());
    }
    let is_variable = !is_function(key)
        && OPTIONS.iter().any(|option| {
            option.variable() == name || option.variables.iter().any(|v| v.name == name)
        });
    let env = |asked: &str| match is_variable {
        true => (asked == name).then(|| value.to_owned()),
        false => (asked == "TRACE_SETTINGS").then(|| format!("{key} {value}")),
    };
    let no_file = |_: &_, _| Err(io::ErrorKind::NotFound.into());
    let loaded = Settings::load(&env, &no_file, &|name| table.get(name).is_some());
    match loaded.complaints.into_iter().next().map(|c| c.matter) {
        None => Ok(()),
        Some(ComplaintKind::UnknownKey { suggestion, .. }) => Err(no_such_key(key, suggestion)),
        Some(ComplaintKind::Value { allowed, .. } | ComplaintKind::NoValue { allowed, .. }) => {
            Err(format!("allowed are {allowed}"))
        }
        Some(_) => Err("one value is expected".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_of_the_recorder_are_taken() {
        for (key, value) in [
            ("clock-sync", "yes"),
            ("CLOCK_SYNC", "no"),
            ("MPI_Default", "disable"),
            ("MPI_Send", "success"),
            ("tmpdir", "/tmp"),
            ("outputs", "slog2,dumpi"),
            ("quiet", ""),
            ("dir", "x"),
            ("conf", "no such file"),
            ("class", "p2p disable"),
        ] {
            assert_eq!(check(key, value), Ok(()), "{key}={value}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_allowed_or_near() {
        let wrong = |key, value| check(key, value).unwrap_err();
        assert!(wrong("clok-sync", "yes").ends_with("did you mean clock-sync?"));
        assert!(wrong("bogus", "1").ends_with("lists them"));
        assert!(wrong("MPI_Sned", "disable").ends_with("did you mean MPI_Send?"));
        assert_eq!(
            wrong("MPI_Send", "off"),
            "allowed are disable, success, enable"
        );
        assert!(wrong("outputs", "slogg").starts_with("allowed are a comma list of dumpi"));
        assert!(wrong("rank-bits", "99").starts_with("allowed are 8 to 32"));
    }
}
