//! What the events of a part of an archive refer to: a file beside them, from which the definitions of the archive are made.

use serde::{Deserialize, Serialize};
use std::io;

use super::events::EventMaker;
use super::numbers::UNDEFINED_REF;

/// Name of the file in the folder of a part. It is there when the part is complete.
pub(super) const FILE_NAME: &str = "references";
/// What the file begins with: only the version that wrote it reads it.
const HEAD: &[u8] = concat!(
    "mpitrace archive part 2 of ",
    env!("CARGO_PKG_VERSION"),
    "\n"
)
.as_bytes();

/// A location of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartLocation {
    pub id: u64,
    pub name: String,
    /// Position of the process.
    pub process: usize,
    /// Number of its events.
    pub events: u64,
}

/// A handle of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartHandle {
    /// Time at which it was first named, ns.
    pub at: u64,
    /// Reference of the name.
    pub name: u32,
    pub paradigm: u8,
    /// Reference of the communicator.
    pub comm: u32,
}

/// The tables of a part, in the order of their references in its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartTables {
    /// Number of the trace that the part was made of.
    pub trace: u64,
    pub strings: Vec<String>,
    /// Name and type.
    pub attributes: Vec<(u32, u8)>,
    /// Positions of the groups of intercommunicators.
    pub pairs: Vec<[usize; 2]>,
    /// Positions of the processes of groups that are no communicators.
    pub groups: Vec<Vec<u64>>,
    /// Communicator, number among its windows, and the time at which it was first made, ns.
    pub windows: Vec<(i32, u32, u64)>,
    /// Window, position of the process that has named it, name.
    pub window_names: Vec<(u32, usize, String)>,
    pub handles: Vec<PartHandle>,
    /// Communicator, and the rank that has named it, with the name.
    pub comm_names: Vec<(i32, i32, String)>,
    pub locations: Vec<PartLocation>,
    /// Times of the first and the last event, ns.
    pub span: Option<(u64, u64)>,
}

impl PartTables {
    /// The tables of a part of `trace` whose events are written; `counts` has the number of events of each location, by position.
    pub(super) fn of(trace: u64, maker: &EventMaker, counts: &[u64]) -> PartTables {
        let locations = maker.places.locations.iter().zip(counts);
        let own = locations.filter(|(location, _)| maker.is_own(location.process));
        let named = maker.windows.given_names();
        PartTables {
            trace,
            strings: maker.strings.texts().to_vec(),
            attributes: maker.attributes.definitions().to_vec(),
            pairs: maker.comms.pairs().collect(),
            groups: maker.comms.other_groups().to_vec(),
            windows: maker.windows.made(),
            window_names: named
                .map(|(at, of, name)| (at, of, name.to_owned()))
                .collect(),
            handles: (maker.files.named_handles())
                .map(|(at, handle)| PartHandle {
                    at,
                    name: handle.name,
                    paradigm: handle.paradigm,
                    comm: handle.comm,
                })
                .collect(),
            comm_names: (maker.comm_names.iter())
                .map(|(comm, rank, name)| (comm, rank, name.to_owned()))
                .collect(),
            locations: own
                .map(|(location, &events)| PartLocation {
                    id: location.id,
                    name: location.name.clone(),
                    process: location.process,
                    events,
                })
                .collect(),
            span: maker.span,
        }
    }

    /// The bytes of the file: a line that names the version, then JSON.
    ///
    /// # Errors
    /// What JSON cannot hold; tables have nothing of the kind.
    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let mut out = HEAD.to_vec();
        serde_json::to_writer(&mut out, self)?;
        Ok(out)
    }

    /// Reads the bytes of the file. `None` if another version wrote them, or they are damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<PartTables> {
        let json = bytes.strip_prefix(HEAD)?;
        let tables: PartTables = serde_json::from_slice(json).ok()?;
        tables.is_consistent().then_some(tables)
    }

    /// Whether all references in the tables have something that they stand for.
    fn is_consistent(&self) -> bool {
        let is_name = |name: u32| (name as usize) < self.strings.len();
        let mut handles = self.handles.iter();
        let has_comm = |comm: u32| comm == UNDEFINED_REF || comm <= i32::MAX as u32;
        self.attributes.iter().all(|(name, _)| is_name(*name))
            && handles.all(|handle| is_name(handle.name) && has_comm(handle.comm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> PartTables {
        PartTables {
            trace: 1 << 60,
            strings: vec![String::new(), "größe".into()],
            attributes: vec![(1, 8)],
            pairs: vec![[1, 2]],
            groups: vec![vec![3, 1], Vec::new()],
            windows: vec![(0, 0, 4), (-5, 1, 3)],
            window_names: vec![(1, 2, "halo".into())],
            handles: vec![PartHandle {
                at: 1 << 40,
                name: 1,
                paradigm: 1,
                comm: UNDEFINED_REF,
            }],
            comm_names: vec![(7, 3, "rows".into())],
            locations: vec![PartLocation {
                id: 1 << 48,
                name: "thread 0".into(),
                process: 4,
                events: 9,
            }],
            span: Some((5, 6)),
        }
    }

    fn encoded(tables: &PartTables) -> Vec<u8> {
        tables.encode().expect("memory")
    }

    #[test]
    fn tables_come_back() {
        for tables in [tables(), PartTables::default()] {
            assert_eq!(PartTables::decode(&encoded(&tables)), Some(tables));
        }
    }

    #[test]
    fn damage_is_no_table() {
        let bytes = encoded(&tables());
        for length in 0..bytes.len() {
            assert_eq!(PartTables::decode(&bytes[..length]), None, "{length}");
        }
        assert_eq!(PartTables::decode(&[&bytes[..], &[0]].concat()), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] = 0xFF;
            assert_eq!(PartTables::decode(&damaged), None, "{at}");
        }
        let nameless = PartTables {
            strings: Vec::new(),
            ..tables()
        };
        assert_eq!(PartTables::decode(&encoded(&nameless)), None);
    }
}
