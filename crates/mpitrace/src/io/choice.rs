//! The ranks and files of a trace that `--rank` and `--file` can choose.

use io_attribution::{Actor, AttributionRecord};
use std::collections::BTreeSet;

/// Files that are named where none is meant.
const MAX_NAMED_FILES: usize = 5;

/// Ranks that did something with files, and the names of these.
#[derive(Debug, Default)]
pub struct RanksAndFiles {
    ranks: BTreeSet<u32>,
    files: BTreeSet<String>,
}

impl RanksAndFiles {
    /// Takes the next record.
    pub fn see(&mut self, record: &AttributionRecord) {
        let actor = match record {
            AttributionRecord::Call(call) => call.place.lane.actor,
            AttributionRecord::Operation(operation) => operation.place.lane.actor,
            AttributionRecord::File(file) => {
                self.files.insert(file.name.clone());
                return;
            }
            _ => return,
        };
        if let Actor::Rank(rank) = actor {
            self.ranks.insert(rank);
        }
    }

    /// Whether there is something of this rank and of a file with this in its name; else what there is.
    pub fn allows(&self, rank: Option<u32>, file: Option<&str>) -> Result<(), String> {
        if let Some(rank) = rank.filter(|rank| !self.ranks.contains(rank)) {
            let known = match self.ranks.is_empty() {
                true => "no MPI-IO call and no file operation of any rank was found".to_owned(),
                false => format!(
                    "that rank did nothing with files; ranks that did: {}",
                    runs(&self.ranks)
                ),
            };
            return Err(format!("--rank {rank}: {known}"));
        }
        let Some(part) = file.filter(|part| !self.files.iter().any(|name| name.contains(part)))
        else {
            return Ok(());
        };
        if self.files.is_empty() {
            return Err(format!("--file {part}: no file was found"));
        }
        let mut names: Vec<&str> = self
            .files
            .iter()
            .map(String::as_str)
            .take(MAX_NAMED_FILES)
            .collect();
        if self.files.len() > MAX_NAMED_FILES {
            names.push("...");
        }
        Err(format!(
            "--file {part}: no file has that in its name; there are {}",
            names.join(", ")
        ))
    }
}

/// Numbers with those that follow each other put together: `0-3, 7`.
fn runs(numbers: &BTreeSet<u32>) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let shown = runs.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_is_named() {
        let choice = RanksAndFiles {
            ranks: BTreeSet::from([0, 1, 2, 7]),
            files: BTreeSet::from(["/a/data".to_owned()]),
        };
        assert_eq!(choice.allows(Some(2), Some("dat")), Ok(()));
        let rank = choice.allows(Some(77), None).unwrap_err();
        assert!(
            rank.contains("--rank 77") && rank.ends_with("0-2, 7"),
            "{rank}"
        );
        let file = choice.allows(None, Some("zzz")).unwrap_err();
        assert!(
            file.contains("--file zzz") && file.ends_with("/a/data"),
            "{file}"
        );
        let none = RanksAndFiles::default();
        assert_eq!(none.allows(None, None), Ok(()));
        let rank = none.allows(Some(77), Some("x")).unwrap_err();
        assert!(rank.starts_with("--rank 77: no MPI-IO call"), "{rank}");
        let file = none.allows(None, Some("zzz")).unwrap_err();
        assert_eq!(file, "--file zzz: no file was found");
    }
}
