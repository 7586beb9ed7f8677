//! Definition records: what a reader must know besides the calls. Each is written when it becomes known, before the records
//! that need it, so that a stream cut off anywhere can still be read.
//!
//! Payloads are sequences of the primitives of [`crate::encode`]; strings are a u32 length and bytes.

use crate::args::Bytes;

/// New bases: u64 time in ticks, u64 CallID counter.
pub const TIME_BASE: u16 = 0x0FFF;
/// Part of a record that is larger than a block: u32 total size, u32 offset of this part, bytes. Put together, the parts
/// give u16 function and flags, i32 return code, arguments; times and CallID are those of the parts.
pub const FRAGMENT: u16 = 0x0FFE;
/// Name of a function outside the table: u32 number, string.
pub const FUNCTION: u16 = 0x0FFD;
/// A communicator: see [`Comm`].
pub const COMM: u16 = 0x0FFC;
/// A datatype: see [`Type`].
pub const TYPE: u16 = 0x0FFB;
/// A predefined handle: see [`Predefined`].
pub const PREDEFINED: u16 = 0x0FFA;
/// A constant of the MPI library: string name, i64 value.
pub const CONSTANT: u16 = 0x0FF9;
/// A reading of all clocks: u64 ticks, u64 CLOCK_MONOTONIC ns, u64 CLOCK_REALTIME ns, u64 process CPU ns.
pub const CLOCK: u16 = 0x0FF8;
/// Result of a clock comparison with rank 0: u64 ticks, i64 shift in ns to add to this rank's time, u64 gap (round trip) in ns.
pub const SYNC: u16 = 0x0FF7;
/// Who this process is: see [`Process`].
pub const PROCESS: u16 = 0x0FF6;
/// Records that were not kept, at this place: u64 count, string reason.
pub const LOST: u16 = 0x0FF5;
/// Calls of a function that were counted and not recorded: u32 function, u64 calls. The last one of a function counts.
pub const IGNORED: u16 = 0x0FF4;
/// An annotation that the program made by MPI_Pcontrol, at the record's start: u64 key, string text. It has CPU times where
/// calls have them.
pub const ANNOTATION: u16 = 0x0FF3;

/// Kind of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommKind {
    /// Intracommunicator.
    Intra,
    /// Intercommunicator.
    Inter,
}

/// How a communicator came to be; part of what tells communicators with equal members apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Origin {
    /// MPI_COMM_WORLD.
    World = 0,
    /// MPI_COMM_SELF.
    SelfComm = 1,
    /// Made collectively from a parent communicator (dup, split, create, cart, graph, merge …).
    Parent = 2,
    /// Made from a group or from leaders, without one parent all members name (create_group, intercomm_create, sessions).
    Members = 3,
    /// Connects to processes outside MPI_COMM_WORLD (spawn, accept, connect, join, get_parent).
    Outside = 4,
}

impl Origin {
    fn from_u32(n: u32) -> Option<Origin> {
        [
            Origin::World,
            Origin::SelfComm,
            Origin::Parent,
            Origin::Members,
            Origin::Outside,
        ]
        .into_iter()
        .find(|&o| o as u32 == n)
    }
}

/// A communicator, as its maker saw it when it got the handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comm {
    /// Raw handle.
    pub handle: u64,
    /// Raw handle of the communicator it was made from (0 where there is none).
    pub parent: u64,
    /// Intra or inter.
    pub kind: CommKind,
    /// How it was made.
    pub origin: Origin,
    /// Rank of this process in it (in the local group).
    pub rank: i32,
    /// World ranks of its (local) members in order; −1 for processes outside MPI_COMM_WORLD.
    pub members: Vec<i32>,
    /// World ranks of the remote group's members; empty for an intracommunicator.
    pub remote: Vec<i32>,
}

/// A datatype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Raw handle.
    pub handle: u64,
    /// MPI_Type_size, bytes; −1 if it does not fit.
    pub size: i64,
    /// MPI_Type_get_extent, bytes.
    pub extent: i64,
    /// Name of a predefined type, else empty.
    pub name: String,
}

/// A handle that the MPI library defines, by its name in `mpi.h` (`MPI_COMM_WORLD`, `MPI_SUM`, …).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predefined {
    /// Raw handle.
    pub handle: u64,
    /// Name.
    pub name: String,
}

/// The process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Host name.
    pub host: String,
    /// Program (file name of the executable, without directory).
    pub program: String,
    /// User name.
    pub user: String,
    /// Kernel boot ID: processes with the same one share their clocks.
    pub boot: String,
}

fn text(b: &mut Bytes<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(b.string()??).into_owned())
}

/// Most members of a communicator that a definition is believed to have.
const MOST_RANKS: usize = 1 << 24;

fn ranks(b: &mut Bytes<'_>) -> Option<Vec<i32>> {
    // Runs of (first, count, stride), because most communicators are regular.
    let runs = b.u32()?;
    let mut all = Vec::new();
    for _ in 0..runs {
        let (first, count, stride) = (b.i32()?, b.u32()?, b.i32()?);
        if all.len() + count as usize > MOST_RANKS {
            return None;
        }
        all.extend((0..count as i32).map(|i| first.wrapping_add(i.wrapping_mul(stride))));
    }
    Some(all)
}

fn put_ranks(out: &mut Vec<u8>, ranks: &[i32]) {
    let mut runs: Vec<(i32, u32, i32)> = Vec::new();
    for &r in ranks {
        match runs.last_mut() {
            Some((first, count @ 1, stride)) => {
                *stride = r.wrapping_sub(*first);
                *count = 2;
            }
            Some((first, count, stride))
                if first.wrapping_add(stride.wrapping_mul(*count as i32)) == r =>
            {
                *count += 1;
            }
            _ => runs.push((r, 1, 1)),
        }
    }
    put_u32(out, runs.len() as u32);
    for (first, count, stride) in runs {
        put_u32(out, first as u32);
        put_u32(out, count);
        put_u32(out, stride as u32);
    }
}

fn put_u32(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_ne_bytes());
}
fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_ne_bytes());
}
fn put_text(out: &mut Vec<u8>, s: &str) {
    put_u32(out, s.len() as u32);
    out.extend_from_slice(s.as_bytes());
}

/// A decoded definition record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// [`FUNCTION`].
    Function {
        /// Its number.
        number: u16,
        /// Its name.
        name: String,
    },
    /// [`COMM`].
    Comm(Comm),
    /// [`TYPE`].
    Type(Type),
    /// [`PREDEFINED`].
    Predefined(Predefined),
    /// [`CONSTANT`].
    Constant {
        /// Name in `mpi.h`.
        name: String,
        /// Value.
        value: i64,
    },
    /// [`CLOCK`].
    Clock(ClockReading),
    /// [`SYNC`].
    Sync(Sync),
    /// [`PROCESS`].
    Process(Process),
    /// [`LOST`].
    Lost {
        /// How many records.
        count: u64,
        /// Why.
        reason: String,
    },
    /// [`IGNORED`].
    Ignored {
        /// Function number.
        function: u16,
        /// Calls counted and not recorded.
        calls: u64,
    },
    /// [`ANNOTATION`].
    Annotation {
        /// The program's own key, or one counted up from 4096.
        key: u64,
        /// Its text.
        text: String,
    },
}

/// All clocks read at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockReading {
    /// Ticks of the record clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC, ns.
    pub monotonic: u64,
    /// CLOCK_REALTIME, ns since the epoch.
    pub realtime: u64,
    /// CLOCK_PROCESS_CPUTIME_ID, ns.
    pub cpu: u64,
}

/// One comparison of this rank's clock with rank 0's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sync {
    /// Ticks of this rank's clock at the comparison.
    pub ticks: u64,
    /// What to add to this rank's time to get rank 0's, ns.
    pub shift: i64,
    /// Round-trip time of the probe, ns: the error is at most half of it.
    pub gap: u64,
}

impl Definition {
    /// Number of the record that holds it.
    pub fn number(&self) -> u16 {
        match self {
            Definition::Function { .. } => FUNCTION,
            Definition::Comm(_) => COMM,
            Definition::Type(_) => TYPE,
            Definition::Predefined(_) => PREDEFINED,
            Definition::Constant { .. } => CONSTANT,
            Definition::Clock(_) => CLOCK,
            Definition::Sync(_) => SYNC,
            Definition::Process(_) => PROCESS,
            Definition::Lost { .. } => LOST,
            Definition::Ignored { .. } => IGNORED,
            Definition::Annotation { .. } => ANNOTATION,
        }
    }

    /// Payload of the record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Definition::Function { number, name } => {
                put_u32(&mut out, u32::from(*number));
                put_text(&mut out, name);
            }
            Definition::Comm(c) => {
                put_u64(&mut out, c.handle);
                put_u64(&mut out, c.parent);
                put_u32(&mut out, u32::from(c.kind == CommKind::Inter));
                put_u32(&mut out, c.origin as u32);
                put_u32(&mut out, c.rank as u32);
                put_ranks(&mut out, &c.members);
                put_ranks(&mut out, &c.remote);
            }
            Definition::Type(t) => {
                put_u64(&mut out, t.handle);
                put_u64(&mut out, t.size as u64);
                put_u64(&mut out, t.extent as u64);
                put_text(&mut out, &t.name);
            }
            Definition::Predefined(p) => {
                put_u64(&mut out, p.handle);
                put_text(&mut out, &p.name);
            }
            Definition::Constant { name, value } => {
                put_text(&mut out, name);
                put_u64(&mut out, *value as u64);
            }
            Definition::Clock(c) => {
                for v in [c.ticks, c.monotonic, c.realtime, c.cpu] {
                    put_u64(&mut out, v);
                }
            }
            Definition::Sync(s) => {
                put_u64(&mut out, s.ticks);
                put_u64(&mut out, s.shift as u64);
                put_u64(&mut out, s.gap);
            }
            Definition::Process(p) => {
                for s in [&p.host, &p.program, &p.user, &p.boot] {
                    put_text(&mut out, s);
                }
            }
            Definition::Lost { count, reason } => {
                put_u64(&mut out, *count);
                put_text(&mut out, reason);
            }
            Definition::Ignored { function, calls } => {
                put_u32(&mut out, u32::from(*function));
                put_u64(&mut out, *calls);
            }
            Definition::Annotation { key, text } => {
                put_u64(&mut out, *key);
                put_text(&mut out, text);
            }
        }
        out
    }

    /// Decodes the payload of definition record `number`; `None` if it is damaged or of a kind unknown here.
    pub fn decode(number: u16, payload: &[u8]) -> Option<Definition> {
        let b = &mut Bytes::new(payload);
        Some(match number {
            FUNCTION => Definition::Function {
                number: b.u32()?.try_into().ok()?,
                name: text(b)?,
            },
            COMM => Definition::Comm(Comm {
                handle: b.u64()?,
                parent: b.u64()?,
                kind: if b.u32()? == 0 {
                    CommKind::Intra
                } else {
                    CommKind::Inter
                },
                origin: Origin::from_u32(b.u32()?)?,
                rank: b.i32()?,
                members: ranks(b)?,
                remote: ranks(b)?,
            }),
            TYPE => Definition::Type(Type {
                handle: b.u64()?,
                size: b.i64()?,
                extent: b.i64()?,
                name: text(b)?,
            }),
            PREDEFINED => Definition::Predefined(Predefined {
                handle: b.u64()?,
                name: text(b)?,
            }),
            CONSTANT => Definition::Constant {
                name: text(b)?,
                value: b.i64()?,
            },
            CLOCK => Definition::Clock(ClockReading {
                ticks: b.u64()?,
                monotonic: b.u64()?,
                realtime: b.u64()?,
                cpu: b.u64()?,
            }),
            SYNC => Definition::Sync(Sync {
                ticks: b.u64()?,
                shift: b.i64()?,
                gap: b.u64()?,
            }),
            PROCESS => Definition::Process(Process {
                host: text(b)?,
                program: text(b)?,
                user: text(b)?,
                boot: text(b)?,
            }),
            LOST => Definition::Lost {
                count: b.u64()?,
                reason: text(b)?,
            },
            IGNORED => Definition::Ignored {
                function: b.u32()?.try_into().ok()?,
                calls: b.u64()?,
            },
            ANNOTATION => Definition::Annotation {
                key: b.u64()?,
                text: text(b)?,
            },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn communicators_round_trip() {
        let comm = Definition::Comm(Comm {
            handle: 0x8400_0001,
            parent: 0x4400_0000,
            kind: CommKind::Inter,
            origin: Origin::Members,
            rank: 3,
            members: vec![0, 2, 4, 6, 7, 9, -1, -1],
            remote: (100..300).collect(),
        });
        let bytes = comm.encode();
        assert_eq!(Definition::decode(COMM, &bytes), Some(comm));
        for cut in 0..bytes.len() {
            assert_eq!(Definition::decode(COMM, &bytes[..cut]), None);
        }
    }

    #[test]
    fn annotations_round_trip() {
        for (key, text) in [(0, ""), (4096, "phase 1"), (u64::MAX, "größer \n\"")] {
            let text = text.to_owned();
            let annotation = Definition::Annotation { key, text };
            assert_eq!(annotation.number(), ANNOTATION);
            let bytes = annotation.encode();
            assert_eq!(Definition::decode(ANNOTATION, &bytes), Some(annotation));
            for cut in 0..bytes.len() {
                assert_eq!(Definition::decode(ANNOTATION, &bytes[..cut]), None);
            }
        }
    }
}
