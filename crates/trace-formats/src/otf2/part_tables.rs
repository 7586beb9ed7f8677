//! What the events of a part of an archive refer to: a file beside them, from which the definitions of the archive are made.

use super::events::EventMaker;
use super::numbers::UNDEFINED_REF;

/// Name of the file in the folder of a part. It is there when the part is complete.
pub(super) const FILE_NAME: &str = "references";
/// What the file begins with: only the version that wrote it reads it.
const HEAD: &[u8] = concat!(
    "mpitrace archive part 1 of ",
    env!("CARGO_PKG_VERSION"),
    "\n"
)
.as_bytes();

/// A location of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PartLocation {
    pub id: u64,
    pub name: String,
    /// Position of the process.
    pub process: usize,
    /// Number of its events.
    pub events: u64,
}

/// A handle of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// The bytes of the file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = HEAD.to_vec();
        put(&mut out, self.trace);
        put_list(&mut out, &self.strings, |out, text| put_text(out, text));
        put_list(&mut out, &self.attributes, |out, &(name, kind)| {
            put(out, name);
            put(out, kind);
        });
        put_list(&mut out, &self.pairs, |out, groups| {
            groups.iter().for_each(|&group| put(out, group as u64));
        });
        put_list(&mut out, &self.groups, |out, members| {
            put_list(out, members, |out, &member| put(out, member));
        });
        put_list(&mut out, &self.windows, |out, &(comm, number, at)| {
            put(out, comm as u32);
            put(out, number);
            put(out, at);
        });
        put_list(
            &mut out,
            &self.window_names,
            |out, (window, process, name)| {
                put(out, *window);
                put(out, *process as u64);
                put_text(out, name);
            },
        );
        put_list(&mut out, &self.handles, |out, handle| {
            put(out, handle.at);
            put(out, handle.name);
            put(out, handle.paradigm);
            put(out, handle.comm);
        });
        put_list(&mut out, &self.comm_names, |out, (comm, rank, name)| {
            put(out, *comm as u32);
            put(out, *rank as u32);
            put_text(out, name);
        });
        put_list(&mut out, &self.locations, |out, location| {
            put(out, location.id);
            put_text(out, &location.name);
            put(out, location.process as u64);
            put(out, location.events);
        });
        put_list(&mut out, self.span.as_slice(), |out, &(first, last)| {
            put(out, first);
            put(out, last);
        });
        out
    }

    /// Reads the bytes of the file. `None` if another version wrote them, or they are damaged.
    pub(super) fn decode(bytes: &[u8]) -> Option<PartTables> {
        let mut rest = bytes.strip_prefix(HEAD)?;
        let from = &mut rest;
        let index = |number: u64| usize::try_from(number).ok();
        let tables = PartTables {
            trace: u64(from)?,
            strings: list(from, text)?,
            attributes: list(from, |from| Some((u32(from)?, u8(from)?)))?,
            pairs: list(from, |from| Some([index(u64(from)?)?, index(u64(from)?)?]))?,
            groups: list(from, |from| list(from, u64))?,
            windows: list(from, |from| {
                Some((u32(from)? as i32, u32(from)?, u64(from)?))
            })?,
            window_names: list(from, |from| {
                Some((u32(from)?, index(u64(from)?)?, text(from)?))
            })?,
            handles: list(from, |from| {
                Some(PartHandle {
                    at: u64(from)?,
                    name: u32(from)?,
                    paradigm: u8(from)?,
                    comm: u32(from)?,
                })
            })?,
            comm_names: list(from, |from| {
                Some((u32(from)? as i32, u32(from)? as i32, text(from)?))
            })?,
            locations: list(from, |from| {
                Some(PartLocation {
                    id: u64(from)?,
                    name: text(from)?,
                    process: index(u64(from)?)?,
                    events: u64(from)?,
                })
            })?,
            span: list(from, |from| Some((u64(from)?, u64(from)?)))?.pop(),
        };
        (rest.is_empty() && tables.is_consistent()).then_some(tables)
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

/// A number as it stands in the file: its bytes, the lowest first.
trait Number {
    fn put(self, out: &mut Vec<u8>);
}

impl Number for u8 {
    fn put(self, out: &mut Vec<u8>) {
        out.push(self);
    }
}

impl Number for u32 {
    fn put(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

impl Number for u64 {
    fn put(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
}

fn put(out: &mut Vec<u8>, number: impl Number) {
    number.put(out);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn put_list<T>(out: &mut Vec<u8>, list: &[T], each: impl Fn(&mut Vec<u8>, &T)) {
    put(out, list.len() as u64);
    list.iter().for_each(|item| each(out, item));
}

fn u8(from: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = from.split_first()?;
    *from = rest;
    Some(*byte)
}

fn u32(from: &mut &[u8]) -> Option<u32> {
    let (bytes, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(u32::from_le_bytes(*bytes))
}

fn u64(from: &mut &[u8]) -> Option<u64> {
    let (bytes, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(u64::from_le_bytes(*bytes))
}

fn text(from: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(u64(from)?).ok()?;
    let (bytes, rest) = from.split_at_checked(length)?;
    *from = rest;
    String::from_utf8(bytes.to_vec()).ok()
}

/// The items of a list, each of which takes a byte or more.
fn list<T>(from: &mut &[u8], each: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let length = usize::try_from(u64(from)?).ok()?;
    let mut items = Vec::with_capacity(length.min(from.len() / size_of::<T>().max(1)));
    for _ in 0..length {
        items.push(each(from)?);
    }
    Some(items)
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

    #[test]
    fn tables_come_back() {
        for tables in [tables(), PartTables::default()] {
            assert_eq!(PartTables::decode(&tables.encode()), Some(tables));
        }
    }

    #[test]
    fn damage_is_no_table() {
        let bytes = tables().encode();
        for length in 0..bytes.len() {
            assert_eq!(PartTables::decode(&bytes[..length]), None, "{length}");
        }
        assert_eq!(PartTables::decode(&[&bytes[..], &[0]].concat()), None);
        // Lengths are not believed.
        for at in HEAD.len()..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] = 0xFF;
            let _ = PartTables::decode(&damaged);
        }
        let nameless = PartTables {
            strings: Vec::new(),
            ..tables()
        };
        assert_eq!(PartTables::decode(&nameless.encode()), None);
    }
}
