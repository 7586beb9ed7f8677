//! Suggestions for misspelt keys.

use super::{
    complaint::{Complaint, ComplaintKind, SettingPlace},
    options::{OPTIONS, OTHER_VARIABLES},
};

/// Longer keys are no misspellings, and comparing them would take long.
const MAX_BYTES: usize = 64;

/// The key of an option or the name of a function that is nearest to `key`. `known` says what is an MPI function.
pub fn nearest_key(key: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
    if key.len() > MAX_BYTES || !key.is_ascii() {
        return None;
    }
    let keys = OPTIONS
        .iter()
        .flat_map(|option| option.synonyms.iter().chain([&option.key]));
    nearest(key, keys.copied())
        .map(str::to_owned)
        .or_else(|| nearest_function(key, known))
}

/// Complaints about `TRACE_…` variables among `names` that nobody reads and that are nearly one that is read.
///
/// Only near ones: the prefix is a common word and other programs use it, too.
pub fn misspelt_variables(names: impl Iterator<Item = String>) -> Vec<Complaint> {
    let mut ours: Vec<String> = OPTIONS.iter().map(|option| option.variable()).collect();
    ours.extend(
        OPTIONS
            .iter()
            .flat_map(|option| option.variables)
            .map(|variable| variable.name.into()),
    );
    ours.extend(OTHER_VARIABLES.iter().map(|(name, _)| name.to_string()));
    names
        .filter(|name| {
            name.starts_with("TRACE_") && name.len() <= MAX_BYTES && !ours.contains(name)
        })
        .filter_map(|name| {
            // The prefix is left out of the comparison: it would make short names look alike.
            let ends = ours.iter().filter_map(|ours| ours.strip_prefix("TRACE_"));
            let end = &name["TRACE_".len()..];
            let suggestion = match nearest(end, ends) {
                Some(end) => format!("TRACE_{end}"),
                // Functions have no variables of their own: their names tell case apart.
                None if end.starts_with("MPI_") || end.starts_with("MPIO_") => {
                    "TRACE_SETTINGS".into()
                }
                None => return None,
            };
            let suggestion = Some(suggestion);
            let matter = ComplaintKind::UnknownKey {
                key: name,
                suggestion,
            };
            let place = SettingPlace::Variable("environment".into());
            Some(Complaint {
                place,
                matter,
                used: String::new(),
            })
        })
        .collect()
}

/// The nearest of `words`, if it is near enough to be meant: one error in five letters, at least one, at most two.
fn nearest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (word.len() / 5).clamp(1, 2);
    words
        .map(|known| (distance(word, known), known))
        .filter(|(errors, _)| *errors <= most)
        .min()
        .map(|(_, known)| known)
}

/// The number of letters to insert, leave out, replace or swap with their neighbour to make `b` of `a`; case is no
/// difference.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<u8> = a.bytes().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<u8> = b.bytes().map(|c| c.to_ascii_lowercase()).collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut errors = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                errors = errors.min(rows[i - 2][j - 2] + 1);
            }
            row.push(errors);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The MPI function that `key` is but for case, the prefix or one letter.
fn nearest_function(key: &str, known: &dyn Fn(&str) -> bool) -> Option<String> {
    let (prefix, rest) = key.split_once('_').unwrap_or(("", key));
    let (prefix, rest) = match prefix.to_ascii_uppercase().as_str() {
        prefix @ ("MPI" | "MPIO" | "MPIX") => (prefix.to_owned(), rest),
        _ => ("MPI".to_owned(), key),
    };
    // MPI writes the first letter behind the prefix large, all others small (but for a few constants in names).
    let mut name = rest.to_ascii_lowercase();
    name.get_mut(..1)?.make_ascii_uppercase();
    let function = |rest: &str| Some(format!("{prefix}_{rest}")).filter(|name| known(name));
    function(&name).or_else(|| one_letter_off(&name).find_map(|name| function(&name)))
}

/// Everything that one missing, surplus, wrong or swapped letter makes of `word`, an ASCII text.
fn one_letter_off(word: &str) -> impl Iterator<Item = String> {
    const LETTERS: &str = "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    (0..=word.len()).flat_map(move |at| {
        let (head, tail) = word.split_at(at);
        let mut words = Vec::new();
        if let Some(rest) = tail.get(1..) {
            words.push(format!("{head}{rest}"));
            words.extend(
                LETTERS
                    .chars()
                    .map(|letter| format!("{head}{letter}{rest}")),
            );
        }
        if let (Some(first), Some(second), Some(rest)) =
            (tail.get(..1), tail.get(1..2), tail.get(2..))
        {
            words.push(format!("{head}{second}{first}{rest}"));
        }
        words.extend(
            LETTERS
                .chars()
                .map(|letter| format!("{head}{letter}{tail}")),
        );
        words
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(key: &str) -> String {
        let known = |name: &str| {
            [
                "MPI_Send",
                "MPI_File_write_at_all",
                "MPIO_Wait",
                "MPI_Type_create_f90_real",
            ]
            .contains(&name)
        };
        nearest_key(key, &known).unwrap_or_default()
    }

    #[test]
    fn near_keys_and_functions_are_suggested() {
        for (key, meant) in [
            ("timestmap", "timestamp"),
            ("Timestamp", "timestamp"),
            ("rank_bits", "rank-bits"),
            ("filroot", "fileroot"),
            ("MPI_default", "MPI_Default"),
            ("MPI_ALL_FUNCTION", "MPI_ALL_FUNCTIONS"),
            ("MPI_SEND", "MPI_Send"),
            ("Send", "MPI_Send"),
            ("MPI_Sned", "MPI_Send"),
            ("MPI_Sendd", "MPI_Send"),
            ("MPI_Sen", "MPI_Send"),
            ("mpio_wait", "MPIO_Wait"),
            ("MPI_File_Write_At_All", "MPI_File_write_at_all"),
            ("MPI_Type_create_f9_real", "MPI_Type_create_f90_real"),
        ] {
            assert_eq!(suggestion(key), meant, "{key}");
        }
    }

    #[test]
    fn far_ones_are_not() {
        for key in [
            "",
            "x",
            "colour",
            "MPI_",
            "_",
            "MPI_Zzz",
            "é",
            "MPI_é",
            &"a".repeat(10_000),
        ] {
            assert_eq!(suggestion(key), "", "{key}");
        }
    }

    #[test]
    fn a_variable_is_complained_of_only_when_nearly_ours() {
        let names = [
            "TRACE_TIMESTMAP",
            "TRACE_LEVEL",
            "TRACE_TIMESTAMP",
            "TRACE_DIR",
            "TRACE_CONF",
            "TRACE_",
            "HOME",
        ];
        let names = names
            .iter()
            .chain(&["TRACE_MPI_SEND", "TRACE_MPI_DEFAULT", "TRACE_é"]);
        let complaints = misspelt_variables(names.map(|name| name.to_string()));
        let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
        let expected = [
            "trace: environment: unknown key 'TRACE_TIMESTMAP', left out; did you mean TRACE_TIMESTAMP?",
            "trace: environment: unknown key 'TRACE_MPI_SEND', left out; did you mean TRACE_SETTINGS?",
        ];
        assert_eq!(lines, expected);
    }
}
