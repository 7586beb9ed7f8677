//! Keys of the recorder's settings, to tell a wrong one before the program starts.

/// The recorder's table of options: a row has its keys in quotes in front of `=>`, other variables stand as `"TRACE_NAME"`.
const OPTIONS: &str = include_str!("../../../../src/settings/options.rs");

/// All keys, in capitals and with `_` as in names of variables, without `TRACE_`.
fn all() -> Vec<String> {
    let quoted = |text: &'static str| text.split('"').skip(1).step_by(2);
    let rows = OPTIONS
        .lines()
        .filter(|line| line.trim_start().starts_with('"'));
    let keys = rows
        .filter_map(|line| line.split_once(" => "))
        .map(|row| row.0);
    let variables = OPTIONS.lines().flat_map(quoted);
    let variables = variables.filter_map(|name| name.strip_prefix("TRACE_"));
    let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let mut all: Vec<String> = keys
        .flat_map(quoted)
        .chain(variables)
        .map(variable)
        .collect();
    all.retain(|name| is_name(name) && !name.is_empty());
    all
}

/// A key as it stands in the name of a variable.
pub fn variable(key: &str) -> String {
    key.to_ascii_uppercase().replace(['-', '.'], "_")
}

/// Whether the recorder knows a key; else what is wrong, with the key that may be meant.
pub fn check(key: &str) -> Result<(), String> {
    let name = variable(key);
    let all = all();
    if all.contains(&name) {
        return Ok(());
    }
    let near = all
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, &name), known));
    let near = near.filter(|&(errors, _)| errors <= 2).min();
    let meant = near.map_or(
        "docs/user/settings.md lists them".to_owned(),
        |(_, known)| {
            let known = known.to_ascii_lowercase().replace('_', "-");
            format!("did you mean {known}?")
        },
    );
    Err(format!("no setting has the key {key}; {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_recorder() {
        for key in [
            "clock-sync",
            "CLOCK_SYNC",
            "MPI_Default",
            "tmpdir",
            "quiet",
            "dir",
            "conf",
            "class",
        ] {
            assert_eq!(check(key), Ok(()));
        }
        let known = all().len();
        assert!((50..100).contains(&known), "{known}: {:?}", all());
    }

    #[test]
    fn what_is_near_is_named() {
        assert!(
            check("clok-sync")
                .unwrap_err()
                .ends_with("did you mean clock-sync?")
        );
        assert!(check("bogus").unwrap_err().ends_with("lists them"));
    }
}
