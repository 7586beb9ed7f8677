//! The tree directory, read where it stands (`spec/slog2.md` section 6.3).
//!
//! It has 34 bytes for each node, root first, then level by level downwards, from left to right in each. So whoever looks
//! for a node, or for those of a stretch of time, finds them in place, and a file of any size opens at once.

use super::cursor::Slog2Cursor;
use super::error::{Slog2Error, Slog2ErrorKind};
use super::types::{DirEntry, FileBlockPtr, TreeNodeId};
use trace_model::TimeBBox;

/// Bytes of an entry: a node ID, a time box and a pointer.
const ENTRY_SIZE: usize = 34;

/// The nodes of a tree, or some that follow each other in its directory.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeDirectory<'a> {
    entries: &'a [[u8; ENTRY_SIZE]],
    /// Offset of the first entry in the file.
    offset: u64,
}

impl<'a> NodeDirectory<'a> {
    /// Takes the part of the file that holds the directory. Nothing but its size is looked at.
    pub(super) fn read(part: &mut Slog2Cursor<'a>) -> Result<Self, Slog2Error> {
        let what = "tree directory";
        let count = part.count(ENTRY_SIZE, "tree directory entries")?;
        let offset = part.offset();
        let (entries, _) = part.bytes(count * ENTRY_SIZE, what)?.as_chunks();
        part.finish(what)?;
        Ok(NodeDirectory { entries, offset })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry at this place.
    pub fn get(&self, at: usize) -> Option<DirEntry> {
        self.entries.get(at).map(decode)
    }

    /// The entries in the order of the file.
    pub fn iter(&self) -> NodeDirectoryEntries<'a> {
        NodeDirectoryEntries(self.entries.iter())
    }

    /// The entry of a node. A directory that is not in the order of the format is searched from end to end.
    pub fn find(&self, id: TreeNodeId) -> Option<DirEntry> {
        let level = self.level(id.depth);
        let at = level.entries.partition_point(|e| xpos(e) < id.xpos);
        let found = level.get(at).filter(|entry| entry.id == id);
        found.or_else(|| self.iter().find(|entry| entry.id == id))
    }

    /// The nodes of a level, from left to right.
    pub fn level(&self, of_depth: i16) -> Self {
        let start = self.entries.partition_point(|e| depth(e) > of_depth);
        let rest = &self.entries[start..];
        let count = rest.partition_point(|e| depth(e) >= of_depth);
        self.slice(start, start + count)
    }

    /// The nodes whose bounds overlap a stretch of time. Only of a level, whose bounds ascend.
    pub(super) fn overlapping(&self, window: TimeBBox) -> Self {
        let start = self
            .entries
            .partition_point(|e| bounds(e).latest < window.earliest);
        let rest = &self.entries[start..];
        let count = rest.partition_point(|e| bounds(e).earliest <= window.latest);
        self.slice(start, start + count)
    }

    /// Nodes of a level that are children of consecutive nodes of the level above.
    pub(super) fn below(&self, parents: &Self, children: usize) -> Self {
        let end = |parent: &[u8; ENTRY_SIZE], next: usize| {
            let parent = usize::try_from(xpos(parent)).unwrap_or(0);
            (parent + next).saturating_mul(children).min(self.len())
        };
        match (parents.entries.first(), parents.entries.last()) {
            (Some(first), Some(last)) => {
                let start = end(first, 0);
                self.slice(start, end(last, 1).max(start))
            }
            _ => self.slice(0, 0),
        }
    }

    fn slice(&self, start: usize, end: usize) -> Self {
        NodeDirectory {
            entries: &self.entries[start..end],
            offset: self.offset + (ENTRY_SIZE * start) as u64,
        }
    }

    /// Bytes of all nodes together, at most `u64::MAX`.
    pub fn node_bytes(&self) -> u64 {
        let sizes = self.entries.iter().map(|e| ptr(e).size.unsigned_abs());
        sizes.map(u64::from).sum()
    }

    /// The levels from the root's down to the leaves, of a tree whose nodes have this many children.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::DirectoryOrder`] if they do not follow each other as the format has it, which searching relies on.
    /// Only their ends are looked at.
    pub(super) fn levels(&self, children: usize) -> Result<Vec<Self>, Slog2Error> {
        match self.full_levels(children) {
            Some(levels) => Ok(levels),
            None => self.searched_levels(),
        }
    }

    /// The levels of a tree as the original builds it: all nodes but the last of a level have all children. Then their
    /// places follow from the number of leaves, and nothing has to be searched.
    fn full_levels(&self, children: usize) -> Option<Vec<Self>> {
        let mut width = usize::try_from(self.entries.last().map(xpos)?).ok()? + 1;
        let root = usize::try_from(self.entries.first().map(depth)?).ok()?;
        let mut levels = Vec::new();
        let mut end = self.len();
        for of_depth in 0..=root {
            let level = self.slice(end.checked_sub(width)?, end);
            if !level.is_level(i16::try_from(of_depth).ok()?) {
                return None;
            }
            levels.push(level);
            end -= width;
            width = width.div_ceil(children.max(2));
        }
        levels.reverse();
        (end == 0).then_some(levels)
    }

    fn searched_levels(&self) -> Result<Vec<Self>, Slog2Error> {
        let mut levels = Vec::new();
        let mut rest = *self;
        let mut expected = rest.entries.first().map(depth);
        while let (Some(of_depth), false) = (expected, rest.is_empty()) {
            let level = rest.level(of_depth);
            if level.offset != rest.offset || !level.is_level(of_depth) {
                let depth = of_depth;
                return Err(Slog2Error::new(
                    rest.offset,
                    Slog2ErrorKind::DirectoryOrder { depth },
                ));
            }
            levels.push(level);
            rest = rest.slice(level.len(), rest.len());
            expected = of_depth.checked_sub(1);
        }
        Ok(levels)
    }

    /// Whether these begin and end as the nodes of this depth.
    fn is_level(&self, of_depth: i16) -> bool {
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            return false;
        };
        let last_xpos = usize::try_from(xpos(last));
        [depth(first), depth(last)] == [of_depth; 2]
            && xpos(first) == 0
            && last_xpos == Ok(self.len() - 1)
    }
}

impl std::fmt::Debug for NodeDirectory<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for NodeDirectory<'a> {
    type Item = DirEntry;
    type IntoIter = NodeDirectoryEntries<'a>;

    fn into_iter(self) -> NodeDirectoryEntries<'a> {
        self.iter()
    }
}

/// The entries of a [`NodeDirectory`].
#[derive(Clone, Debug)]
pub struct NodeDirectoryEntries<'a>(std::slice::Iter<'a, [u8; ENTRY_SIZE]>);

impl Iterator for NodeDirectoryEntries<'_> {
    type Item = DirEntry;

    fn next(&mut self) -> Option<DirEntry> {
        self.0.next().map(decode)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl DoubleEndedIterator for NodeDirectoryEntries<'_> {
    fn next_back(&mut self) -> Option<DirEntry> {
        self.0.next_back().map(decode)
    }
}

impl ExactSizeIterator for NodeDirectoryEntries<'_> {}

fn decode(entry: &[u8; ENTRY_SIZE]) -> DirEntry {
    let id = TreeNodeId {
        depth: depth(entry),
        xpos: xpos(entry),
    };
    DirEntry {
        id,
        bounds: bounds(entry),
        ptr: ptr(entry),
    }
}

fn depth(entry: &[u8; ENTRY_SIZE]) -> i16 {
    i16::from_be_bytes(field(entry, 0))
}

fn xpos(entry: &[u8; ENTRY_SIZE]) -> i32 {
    i32::from_be_bytes(field(entry, 2))
}

fn bounds(entry: &[u8; ENTRY_SIZE]) -> TimeBBox {
    TimeBBox {
        earliest: f64::from_be_bytes(field(entry, 6)),
        latest: f64::from_be_bytes(field(entry, 14)),
    }
}

fn ptr(entry: &[u8; ENTRY_SIZE]) -> FileBlockPtr {
    FileBlockPtr {
        offset: i64::from_be_bytes(field(entry, 22)),
        size: i32::from_be_bytes(field(entry, 30)),
    }
}

fn field<const N: usize>(entry: &[u8; ENTRY_SIZE], at: usize) -> [u8; N] {
    std::array::from_fn(|nth| entry[at + nth])
}
