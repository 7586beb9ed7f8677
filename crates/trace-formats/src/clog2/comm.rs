//! Communicators: their global ids and the table at the end of a file (`spec/clog2.md` section 5).

use super::bytes::{Endian, get_i32};
use super::error::{Clog2Error, Clog2ErrorKind};
use super::gid::Gid;
use super::record::{Clog2CommEvent, comm_etype};
use std::collections::HashMap;

/// Most communicators in a row that may be unknown because the records that made them are lost.
const MAX_SKIPPED_COMMS: usize = 64;

/// The LID of "no communicator": in the null body of a COMM record, and as partner of a message in a local file.
pub const UNKNOWN_LID: i32 = -999_999_999;

/// Kind of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clog2CommKind {
    /// Known from other ranks only (−1).
    Unknown,
    /// An intercommunicator (0); its local and remote side are the next two entries.
    Inter,
    /// An intracommunicator (1).
    Intra,
    /// The local side of the intercommunicator before it (2).
    Local,
    /// The remote side of the intercommunicator two places before it (3).
    Remote,
}

impl Clog2CommKind {
    /// The number in a file.
    pub fn number(self) -> i32 {
        match self {
            Clog2CommKind::Unknown => -1,
            Clog2CommKind::Inter => 0,
            Clog2CommKind::Intra => 1,
            Clog2CommKind::Local => 2,
            Clog2CommKind::Remote => 3,
        }
    }

    /// The kind with this number.
    pub fn from_number(number: i32) -> Option<Self> {
        match number {
            -1 => Some(Clog2CommKind::Unknown),
            0 => Some(Clog2CommKind::Inter),
            1 => Some(Clog2CommKind::Intra),
            2 => Some(Clog2CommKind::Local),
            3 => Some(Clog2CommKind::Remote),
            _ => None,
        }
    }
}

/// Entry of the communicator table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommEntry {
    /// Global id.
    pub gid: Gid,
    /// The number used in records: index of the first entry with the same GID.
    pub lid: i32,
    /// Kind of the communicator.
    pub kind: Clog2CommKind,
}

impl CommEntry {
    /// Bytes of an entry in a file.
    pub const SIZE: usize = 40;
}

/// The communicator table at the end of a file; the index is the one local files use as icomm (`spec/clog2.md`
/// section 5.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommTable(pub Vec<CommEntry>);

impl CommTable {
    /// Appends an entry and gives its LID: that of the first entry with the same GID, else its index.
    pub fn push(&mut self, gid: Gid, kind: Clog2CommKind) -> i32 {
        let lid = match self.0.iter().find(|entry| entry.gid == gid) {
            Some(entry) => entry.lid,
            None => i32::try_from(self.0.len()).unwrap_or(i32::MAX),
        };
        self.0.push(CommEntry { gid, lid, kind });
        lid
    }

    /// Appends an entry that is known to have a GID of its own, without looking.
    pub(super) fn push_new(&mut self, gid: Gid, kind: Clog2CommKind) -> i32 {
        let lid = i32::try_from(self.0.len()).unwrap_or(i32::MAX);
        self.0.push(CommEntry { gid, lid, kind });
        lid
    }

    /// The entry with this index, if there is one.
    pub fn get(&self, index: i32) -> Option<&CommEntry> {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.0.get(index))
    }

    /// Bytes of the table in a file.
    pub fn encoded_size(&self) -> usize {
        4 + CommEntry::SIZE * self.0.len()
    }

    /// The table as it stands in a merged file.
    pub fn encode(&self) -> Vec<u8> {
        self.encode_as(Endian::Big)
    }

    /// The table in this byte order.
    pub fn encode_as(&self, endian: Endian) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.encoded_size());
        let int = |bytes: &mut Vec<u8>, value: i32| {
            bytes.extend_from_slice(&match endian {
                Endian::Big => value.to_be_bytes(),
                Endian::Little => value.to_le_bytes(),
            });
        };
        int(&mut bytes, i32::try_from(self.0.len()).unwrap_or(i32::MAX));
        for entry in &self.0 {
            // The conversion from the big-endian form is its own inverse.
            bytes.extend_from_slice(&Gid::decode(entry.gid.0, endian).0);
            int(&mut bytes, entry.lid);
            int(&mut bytes, entry.kind.number());
        }
        bytes
    }

    /// The table that the COMM records of a file call for: for files without one, or with a damaged one.
    ///
    /// Each communicator stands where its records say, in local files its index, in merged ones its LID.
    pub(super) fn of_records<'r>(events: impl Iterator<Item = &'r Clog2CommEvent>) -> Self {
        let mut entries: Vec<CommEntry> = Vec::new();
        for event in events {
            let kind = match event.etype {
                comm_etype::WORLD_CREATE | comm_etype::SELF_CREATE | comm_etype::INTRA_CREATE => {
                    Clog2CommKind::Intra
                }
                comm_etype::INTER_CREATE => Clog2CommKind::Inter,
                comm_etype::INTRA_LOCAL => Clog2CommKind::Local,
                comm_etype::INTRA_REMOTE => Clog2CommKind::Remote,
                _ => continue,
            };
            // A damaged number must not make the table large: each record can add a few entries.
            let Ok(at) = usize::try_from(event.icomm) else {
                continue;
            };
            if event.gid == Gid::NULL || at > entries.len() + MAX_SKIPPED_COMMS {
                continue;
            }
            while entries.len() <= at {
                entries.push(CommEntry {
                    gid: Gid::NULL,
                    lid: entries.len() as i32,
                    kind: Clog2CommKind::Unknown,
                });
            }
            let entry = &mut entries[at];
            if entry.gid == Gid::NULL {
                (entry.gid, entry.kind) = (event.gid, kind);
            }
        }
        let mut first: HashMap<Gid, i32> = HashMap::default();
        for entry in &mut entries {
            if entry.gid != Gid::NULL {
                entry.lid = *first.entry(entry.gid).or_insert(entry.lid);
            }
        }
        CommTable(entries)
    }

    /// Reads a table; offsets of errors count from the start of `bytes`.
    pub fn decode(bytes: &[u8], endian: Endian) -> Result<Self, Clog2Error> {
        let truncated = |offset: usize, what, expected: u64| {
            let found = bytes.len().saturating_sub(offset) as u64;
            Clog2Error::new(
                offset as u64,
                Clog2ErrorKind::Truncated {
                    what,
                    expected,
                    found,
                },
            )
        };
        if bytes.len() < 4 {
            return Err(truncated(0, "communicator table count", 4));
        }
        let count = u32::from_be_bytes(get_i32(bytes, 0, endian).to_be_bytes());
        let expected = u64::from(count) * CommEntry::SIZE as u64;
        if ((bytes.len() - 4) as u64) < expected {
            return Err(truncated(4, "communicator table", expected));
        }
        let mut entries = Vec::with_capacity(count as usize);
        for (index, entry) in bytes[4..]
            .chunks_exact(CommEntry::SIZE)
            .take(count as usize)
            .enumerate()
        {
            let Some((gid, rest)) = entry.split_first_chunk::<32>() else {
                break;
            };
            let number = get_i32(rest, 4, endian);
            let Some(kind) = Clog2CommKind::from_number(number) else {
                let offset = 4 + index * CommEntry::SIZE + 36;
                return Err(Clog2Error::new(
                    offset as u64,
                    Clog2ErrorKind::CommKind(number),
                ));
            };
            entries.push(CommEntry {
                gid: Gid::decode(*gid, endian),
                lid: get_i32(rest, 0, endian),
                kind,
            });
        }
        Ok(CommTable(entries))
    }
}
