//! Mapping tables: which references of an archive stand for those in the events of a location.

/// A mapping table of a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MappingTable {
    /// What the references stand for, one of [`super::numbers::mapping`].
    pub kind: u8,
    /// By reference in the events that in the archive.
    pub references: Vec<u32>,
}

impl MappingTable {
    /// The table; `None` if all references stay as they are.
    pub(super) fn new(kind: u8, references: Vec<u32>) -> Option<MappingTable> {
        let is_needed = (0u32..).zip(&references).any(|(at, &to)| at != to);
        is_needed.then_some(MappingTable { kind, references })
    }

    /// The reference in the archive of one in events.
    pub(super) fn of(references: &[u32], reference: u32) -> u32 {
        let found = references.get(reference as usize);
        found.copied().unwrap_or(reference)
    }
}
