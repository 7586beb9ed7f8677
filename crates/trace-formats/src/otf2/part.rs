//! Parts of an archive, which several processes write at the same time.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use super::places::Places;

/// A part of an archive: the locations of some of the trace's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchivePart {
    /// Number of the part, from 0 on.
    index: u32,
    /// Number of parts, not 0.
    count: u32,
}

impl ArchivePart {
    /// All of an archive.
    pub(super) const WHOLE: ArchivePart = ArchivePart { index: 0, count: 1 };

    /// Part `index`, from 0 on, of `count` parts; `None` if there is no such part.
    pub(super) fn new(index: u32, count: u32) -> Option<ArchivePart> {
        (index < count).then_some(ArchivePart { index, count })
    }

    /// Name of the folder of this part, in the folder of all parts.
    pub(super) fn folder_name(self) -> String {
        format!("part-{}-of-{}", self.index + 1, self.count)
    }

    /// The parts in a folder, if all of them are there.
    pub(super) fn all_in(folder: &Path) -> io::Result<Option<Vec<ArchivePart>>> {
        let mut parts = BTreeSet::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let part = entry
                .file_name()
                .to_str()
                .and_then(ArchivePart::of_folder_name);
            if let Some(part) = part.filter(|_| entry.path().is_dir()) {
                parts.insert((part.count, part.index));
            }
        }
        let count = parts.first().map_or(0, |(count, _)| *count);
        let is_all = parts.len() as u64 == u64::from(count)
            && parts.iter().all(|(other, _)| *other == count)
            && count > 0;
        let parts = parts.into_iter();
        let parts = parts.map(|(count, index)| ArchivePart { index, count });
        Ok(is_all.then(|| parts.collect()))
    }

    fn of_folder_name(name: &str) -> Option<ArchivePart> {
        let (nth, count) = name.strip_prefix("part-")?.split_once("-of-")?;
        let part = ArchivePart::new(
            nth.parse::<u32>().ok()?.checked_sub(1)?,
            count.parse().ok()?,
        )?;
        // Nothing else, such as zeros in front of numbers.
        (part.folder_name() == name).then_some(part)
    }

    /// Whether this is all of the archive.
    pub(super) fn is_whole(self) -> bool {
        self.count == 1
    }

    /// For each process of a trace, by position, whether its locations belong to the part.
    pub(super) fn processes(self, places: &Places) -> Vec<bool> {
        let ranks = places.ranks();
        let processes = 0..places.processes.len();
        processes.map(|process| self.has(ranks, process)).collect()
    }

    /// Whether the locations of the process at this position belong to the part. Ranks that follow each other are in one part, servers and devices are
    /// dealt out in turn.
    fn has(self, ranks: usize, process: usize) -> bool {
        let (process, ranks) = (process as u64, ranks as u64);
        let (index, count) = (u64::from(self.index), u64::from(self.count));
        match process < ranks {
            true => process * count / ranks == index,
            false => process % count == index,
        }
    }
}

/// As `3/8`, the third of eight.
impl fmt::Display for ArchivePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

impl FromStr for ArchivePart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let numbers = numbers.and_then(|(i, n)| Some((i.parse::<u32>().ok()?, n.parse().ok()?)));
        let part = numbers.and_then(|(nth, count)| ArchivePart::new(nth.checked_sub(1)?, count));
        part.ok_or_else(|| "expected I/N, such as 3/8, where I is from 1 to N".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Definitions, Line};

    #[test]
    fn a_part_is_told_as_it_is_named() {
        let part: ArchivePart = "3/8".parse().expect("a part");
        assert_eq!(
            (part.to_string(), part.folder_name()),
            ("3/8".into(), "part-3-of-8".into())
        );
        for bad in ["", "3", "0/8", "9/8", "3/8/1", "1/0", "-1/2"] {
            assert!(bad.parse::<ArchivePart>().is_err(), "{bad}");
        }
        assert_eq!(ArchivePart::of_folder_name("part-3-of-8"), Some(part));
        for bad in [
            "part-03-of-8",
            "part-3-of-+8",
            "part-0-of-8",
            "part-9-of-8",
            "part-3",
        ] {
            assert_eq!(ArchivePart::of_folder_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_number_of_parts_in_a_name_is_not_believed() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = || ArchivePart::all_in(folder.path()).expect("a folder");
        let make = |name: &str| fs::create_dir(folder.path().join(name)).expect("a folder");
        assert_eq!(all(), None);
        make("part-1-of-2");
        assert_eq!(all(), None);
        make("part-2-of-2");
        make("others");
        assert_eq!(all().map(|parts| parts.len()), Some(2));
        make("part-1-of-4294967295");
        assert_eq!(all(), None);
    }

    #[test]
    fn each_process_is_in_one_part() {
        let named = |id, name: String| Line {
            name: Some(name),
            ..Line::of_thread(id, 0, 0)
        };
        let ranks = (0..5).map(|rank| Line::of_thread(rank, rank, 0));
        let servers = (0..3).map(|server| named(10 + server, format!("server {server} thread 0")));
        let definitions = Definitions {
            lines: ranks.chain(servers).collect(),
            ..Definitions::default()
        };
        let places = Places::new(&definitions);
        for count in 1..8 {
            let parts = (0..count).filter_map(|index| ArchivePart::new(index, count));
            let parts: Vec<Vec<bool>> = parts.map(|part| part.processes(&places)).collect();
            for process in 0..8 {
                let owners = parts.iter().filter(|part| part[process]).count();
                assert_eq!(owners, 1, "{process} of {count} parts");
            }
        }
    }
}
