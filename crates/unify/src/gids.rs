//! The communicator table of a merged file: how the ranks' communicators get one numbering (`spec/clog2.md` sections 5.3
//! and 12.1).

use trace_formats::clog2::{Clog2CommKind, CommEntry, CommTable, Gid};
use trace_model::hash::Map;

/// A communicator table that finds global ids quickly.
#[derive(Clone, Debug, Default)]
pub struct GidTable {
    table: CommTable,
    lids: Map<Gid, i32>,
}

impl GidTable {
    /// The table of one rank: root's, when it is to become that of the file.
    pub fn new(entries: &[(Gid, Clog2CommKind)]) -> GidTable {
        let mut table = GidTable::default();
        for &(gid, kind) in entries {
            table.push(gid, kind);
        }
        table
    }

    /// Appends those of another rank's global ids that are not in the table yet.
    pub fn absorb(&mut self, gids: impl IntoIterator<Item = Gid>) {
        for gid in gids {
            if !self.lids.contains_key(&gid) {
                self.push(gid, Clog2CommKind::Unknown);
            }
        }
    }

    /// Number of this communicator in records; `None` if it is not in the table.
    pub fn lid(&self, gid: Gid) -> Option<i32> {
        self.lids.get(&gid).copied()
    }

    /// Numbers for all entries of a rank's table.
    pub fn lids(&self, entries: &[(Gid, Clog2CommKind)]) -> Vec<i32> {
        let lid = |&(gid, _): &(Gid, Clog2CommKind)| {
            self.lid(gid).unwrap_or(trace_formats::clog2::UNKNOWN_LID)
        };
        entries.iter().map(lid).collect()
    }

    /// The table as the writer wants it.
    pub fn table(&self) -> &CommTable {
        &self.table
    }

    fn push(&mut self, gid: Gid, kind: Clog2CommKind) {
        let index = i32::try_from(self.table.0.len()).unwrap_or(i32::MAX);
        let lid = *self.lids.entry(gid).or_insert(index);
        self.table.0.push(CommEntry { gid, lid, kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_first_places() {
        let gid = |n| Gid::new(n, 0.0, b"x");
        let own = [
            (gid(1), Clog2CommKind::Intra),
            (gid(2), Clog2CommKind::Intra),
            (gid(3), Clog2CommKind::Inter),
            (gid(2), Clog2CommKind::Local),
            (gid(4), Clog2CommKind::Remote),
        ];
        let mut table = GidTable::new(&own);
        table.absorb([gid(1), gid(5), gid(4), gid(5)]);
        assert_eq!(table.lids(&own), [0, 1, 2, 1, 4]);
        assert_eq!(table.lid(gid(5)), Some(5));
        let kinds: Vec<_> = table.table().0.iter().map(|e| e.kind.number()).collect();
        assert_eq!(kinds, [1, 1, 0, 2, 3, -1]);
    }
}
