//! `srun --multi-prog FILE`: the programs stand in a file, a line `RANKS PROGRAM ARGUMENTS` for each. Nothing can be put in front of
//! them there, so srun is told by `--export` which variables its tasks get besides its own environment.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The option by which srun takes its programs from a file.
pub const OPTION: &str = "--multi-prog";

/// The words of each line behind the ranks: a program and its arguments. A line ends in `\` where the next one goes on with it.
pub fn programs(file: &Path) -> Vec<Vec<OsString>> {
    std::fs::read_to_string(file).map_or(Vec::new(), |text| of_text(&text))
}

fn of_text(text: &str) -> Vec<Vec<OsString>> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let words = line.split_whitespace().skip(1);
            words.map(|word| word.trim_matches(['"', '\'']).into())
        })
        .map(Iterator::collect)
        .collect()
}

/// Works variables into the options `argv[start..end]` of srun: behind what its `--export` says, else behind `inherited`, which
/// SLURM_EXPORT_ENV says, else behind the whole environment.
pub fn export(
    argv: &mut Vec<OsString>,
    (start, end): (usize, usize),
    inherited: Option<&OsStr>,
    variables: &[(OsString, OsString)],
) {
    let mut at = None;
    let mut before = inherited.unwrap_or(OsStr::new("ALL")).to_os_string();
    for nth in start..end {
        let word = argv[nth].to_string_lossy().into_owned();
        if let Some(value) = word.strip_prefix("--export=") {
            (at, before) = (Some(nth..nth + 1), value.into());
        } else if word == "--export" && nth + 1 < end {
            (at, before) = (Some(nth..nth + 2), argv[nth + 1].clone());
        }
    }
    let mut option = OsString::from("--export=");
    let mut comma = "";
    // NONE stands alone: variables that are named are then all that there are.
    if !["NONE", "NIL", ""].contains(&&*before.to_string_lossy()) {
        option.push(before);
        comma = ",";
    }
    for (name, value) in variables {
        let quote = match value.as_encoded_bytes().contains(&b',') {
            true => "'",
            false => "",
        };
        for part in [
            OsStr::new(comma),
            quote.as_ref(),
            name,
            "=".as_ref(),
            value,
            quote.as_ref(),
        ] {
            option.push(part);
        }
        comma = ",";
    }
    argv.splice(at.unwrap_or(start..start), [option]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_stand_behind_ranks() {
        let text = "# ocean first\n0-1,5 ./ocean in.nc\\\n -v\n\n* '/opt/my/atmosphere' %t\n";
        assert_eq!(
            of_text(text),
            [
                vec!["./ocean", "in.nc", "-v"],
                vec!["/opt/my/atmosphere", "%t"]
            ]
        );
    }

    #[test]
    fn what_is_exported_stays() {
        for (line, inherited, expected) in [
            ("srun f", None, "srun --export=ALL,A=1,'B=x,y' f"),
            ("srun f", Some("C"), "srun --export=C,A=1,'B=x,y' f"),
            (
                "srun --export=C=2 f",
                None,
                "srun --export=C=2,A=1,'B=x,y' f",
            ),
            (
                "srun -n 2 --export NONE f",
                None,
                "srun -n 2 --export=A=1,'B=x,y' f",
            ),
        ] {
            let mut argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let end = argv.len() - 1;
            let variables = [("A".into(), "1".into()), ("B".into(), "x,y".into())];
            export(&mut argv, (1, end), inherited.map(OsStr::new), &variables);
            let words: Vec<_> = argv.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }
}
