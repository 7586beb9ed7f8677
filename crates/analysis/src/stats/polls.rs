//! Calls that are not drawn: of a row of polls the recorder's `polling sample` keeps the first and the last, and an annotation such
//! as `+999998 MPI_Iprobe` says how many were between them.

use std::collections::BTreeMap;
use trace_formats::clog2::annotations::annotation_text;
use trace_model::Category;

/// Names that are told apart; no MPI library has so many functions that ask.
const MAX_POLL_FUNCTIONS: usize = 64;

/// Adds what an annotation says, by name of the function. Gives whether it says anything of polls.
pub(crate) fn add(counted: &mut BTreeMap<String, u64>, category: &Category, info: &[u8]) -> bool {
    let Some((name, calls)) = annotation_text(category, info).and_then(polls_of) else {
        return false;
    };
    if counted.len() < MAX_POLL_FUNCTIONS || counted.contains_key(name) {
        let sum = counted.entry(name.to_owned()).or_default();
        *sum = sum.saturating_add(calls);
    }
    true
}

/// Function and number of calls in a text such as `+999998 MPI_Iprobe`.
fn polls_of(text: &[u8]) -> Option<(&str, u64)> {
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('\0');
    let (calls, name) = text.strip_prefix('+')?.split_once(' ')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls = calls.parse().ok()?;
    (name.starts_with("MPI_") && name.chars().all(is_name)).then_some((name, calls))
}

#[cfg(test)]
mod tests {
    use super::polls_of;

    #[test]
    fn only_polls_are_counted() {
        assert_eq!(
            polls_of(b"+999998 MPI_Iprobe"),
            Some(("MPI_Iprobe", 999_998))
        );
        for text in [
            "",
            "MPI_Iprobe",
            "+3 apples",
            "+x MPI_Test",
            "+1MPI_Test",
            "+1 MPI_Test, unfinished",
            "+-1 MPI_Test",
        ] {
            assert_eq!(polls_of(text.as_bytes()), None, "{text}");
        }
    }
}
