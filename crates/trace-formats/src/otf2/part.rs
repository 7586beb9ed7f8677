//! Parts of an archive, which several processes write at the same time: each has the locations of some of the trace's processes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use trace_model::PartNumber;

use super::places::Places;

/// The parts in a folder, if all of them are there.
pub(super) fn all_in(folder: &Path) -> io::Result<Option<Vec<PartNumber>>> {
    let mut parts = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let part = entry.file_name().to_str().and_then(PartNumber::of_name);
        parts.extend(part.filter(|_| entry.path().is_dir()));
    }
    let of = parts.first().map_or(0, |first: &PartNumber| first.of());
    let is_all =
        of > 0 && parts.len() as u64 == u64::from(of) && parts.iter().all(|part| part.of() == of);
    Ok(is_all.then(|| parts.into_iter().collect()))
}

/// For each process of a trace, by position, whether its locations belong to a part.
pub(super) fn processes(part: PartNumber, places: &Places) -> Vec<bool> {
    let ranks = places.ranks();
    let processes = 0..places.processes.len();
    processes.map(|process| has(part, ranks, process)).collect()
}

/// Whether the locations of the process at this position belong to a part. Ranks that follow each other are in one part, servers and devices are dealt
/// out in turn.
fn has(part: PartNumber, ranks: usize, process: usize) -> bool {
    match process < ranks {
        true => part.share(ranks as u64).contains(&(process as u64)),
        false => process as u64 % u64::from(part.of()) == u64::from(part.nth() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Definitions, Line};

    #[test]
    fn the_number_of_parts_in_a_name_is_not_believed() {
        let folder = tempfile::tempdir().expect("a folder");
        let all = || all_in(folder.path()).expect("a folder");
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
            let parts = (1..=count).filter_map(|nth| PartNumber::new(nth, count));
            let parts: Vec<Vec<bool>> = parts.map(|part| processes(part, &places)).collect();
            for process in 0..8 {
                let owners = parts.iter().filter(|part| part[process]).count();
                assert_eq!(owners, 1, "{process} of {count} parts");
            }
        }
    }
}
