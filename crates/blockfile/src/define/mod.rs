//! Definition records: what a reader must know besides the calls. Each is written when it becomes known, before the records
//! that need it, so that a stream cut off anywhere can still be read.
//!
//! Payloads are sequences of the primitives of [`crate::encode`]; strings are a u32 length and bytes.

use crate::args::Bytes;
use crate::record::{self, Record};
use crate::runs::Run;
use crate::user::Category;

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

/// A descriptor stands for a file from here on: see [`OpenFile`].
pub const FILE: u16 = 0x0FF2;
/// A view of a file: see [`View`].
pub const VIEW: u16 = 0x0FE0;
/// Where the individual file pointer stands before the access that follows: u64 handle of the MPI_File, i64 in etypes.
pub const POSITION: u16 = 0x0FF0;
/// Accesses to a file that were made and not recorded, at this place: u64 handle of the MPI_File, u32 collective ones among them that no
/// record in front of this one has counted, u32 1 if work of some may go on when they have returned.
pub const LEFT_OUT: u16 = 0x0FE1;
/// What a process is that is no rank: see [`Server`].
pub const SERVER: u16 = 0x0FEF;
/// Where parts of a file lie on a device: see [`Extents`].
pub const EXTENTS: u16 = 0x0FEE;
/// A function of the program was entered: see [`crate::function`].
pub const ENTER: u16 = 0x0FEB;
/// It was left.
pub const EXIT: u16 = 0x0FEA;
/// An object whose functions have addresses: see [`Module`].
pub const MODULE: u16 = 0x0FE9;
/// Names of the performance counters whose values follow: u32 count, strings.
pub const COUNTERS: u16 = 0x0FE8;
/// Values of the performance counters around the call whose record is the next one of the thread: see [`crate::counts`].
pub const COUNTS: u16 = 0x0FE7;

/// Polls that were counted and not recorded, at this place: see [`Skipped`].
pub const SKIPPED: u16 = 0x0FE6;
/// A call that the settings leave out, but that must be known for telling which send belongs to which receive: see [`hidden`].
/// Not for the picture, and no call for who counts them.
pub const HIDDEN: u16 = 0x0FE5;
/// From here to the next record of a call, calls may be missing that send, receive, or begin or complete such operations. No
/// payload.
pub const CUT: u16 = 0x0FE4;
/// Which messages are wanted: u64 fewest, u64 most bytes. Calls of others are not in the blocks.
pub const MESSAGES: u16 = 0x0FE3;
/// Which functions of the program are shown: u32 count, strings, patterns of which names match one; the same again, patterns of those
/// that are left out. Not there if all are.
pub const CHOICE: u16 = 0x0FE2;
/// What the program tells of itself at a moment: see [`crate::user::Event`].
pub const USER_EVENT: u16 = 0x0FED;
/// One kind of that: see [`crate::user::Category`].
pub const USER_CATEGORY: u16 = 0x0FEC;

/// Bytes in front of the arguments in the payload of a [`HIDDEN`] record: u32 function and flags, i32 return code.
pub const HIDDEN_HEAD: usize = 8;

/// The call that stands in a [`HIDDEN`] record.
pub fn hidden<'a>(record: &Record<'a>) -> Option<Record<'a>> {
    let b = &mut Bytes::new(record.payload);
    if record.function != HIDDEN {
        return None;
    }
    let word = b.u32()? as u16;
    let call = Record {
        function: word & record::FUNCTION,
        in_place: word & record::IN_PLACE != 0,
        code: b.i32()?,
        payload: b.rest(),
        ..*record
    };
    call.is_call().then_some(call)
}

/// Whether later records may need definitions of this kind, however old they are. The others stand for a moment of the run.
pub fn is_lasting(number: u16) -> bool {
    matches!(
        number,
        FUNCTION
            | COMM
            | TYPE
            | PREDEFINED
            | CONSTANT
            | CLOCK
            | SYNC
            | PROCESS
            | LOST
            | IGNORED
            | FILE
            | VIEW
            | SERVER
            | EXTENTS
            | MESSAGES
            | CHOICE
            | USER_CATEGORY
            | MODULE
            | COUNTERS
    )
}

/// What a descriptor stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenFile {
    /// Descriptor; -1 in what is no rank's.
    pub fd: i32,
    /// Flags of open(2).
    pub flags: i32,
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Absolute name at that moment.
    pub path: String,
}

/// A view of a file: which of its bytes an MPI_File sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Raw handle of the MPI_File.
    pub file: u64,
    /// Displacement, bytes.
    pub displacement: i64,
    /// Size of an etype, bytes.
    pub etype: u64,
    /// Extent of the filetype, bytes: where its next copy begins.
    pub extent: i64,
    /// Bytes of data in a filetype.
    pub size: u64,
    /// One piece stands for all there are: only its first and its last byte are sure.
    pub hull: bool,
    /// Data are converted on their way (`external32` and the like): bytes in the file are not those asked for.
    pub converted: bool,
    /// Pieces of the filetype, from the displacement on, in the order of the type map, neighbours joined.
    pub runs: Vec<Run>,
}

/// A process or device whose operations are recorded and that is no rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Server {
    /// What it is.
    pub role: Role,
    /// Its number among those of its role.
    pub number: u32,
    /// What it is called: directory, address, device.
    pub name: String,
}

/// What a process is that is no rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum Role {
    /// The I/O server that programs see as a file system.
    #[default]
    FrontEnd = 1,
    /// A data server behind it.
    DataServer = 2,
    /// A block device.
    Device = 3,
}

/// Where a file lies on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// `st_dev` of the file system.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Name.
    pub path: String,
    /// Offset in the file, offset on the device, length, all in bytes.
    pub extents: Vec<(u64, u64, u64)>,
}

/// The program or a shared object, as it is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Absolute path.
    pub path: String,
    /// What is added to addresses of the file to get those in memory.
    pub base: u64,
    /// First address in memory of what can be executed.
    pub start: u64,
    /// Address behind it.
    pub end: u64,
    /// GNU build ID; empty if it has none.
    pub build: Vec<u8>,
}

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

/// Calls that asked in vain and were counted instead of recorded, between two that were. While they go on, the record is
/// rewritten in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Function number.
    pub function: u16,
    /// How many there were.
    pub calls: u64,
    /// Start of the first of them, ticks.
    pub first: u64,
    /// End of the last of them, ticks.
    pub last: u64,
}

impl Skipped {
    /// Bytes of the payload: u64 calls, u64 first, u64 last, u32 function.
    pub const SIZE: usize = 28;

    /// The payload.
    pub fn encode(&self) -> [u8; Skipped::SIZE] {
        let mut out = [0; Skipped::SIZE];
        out[..8].copy_from_slice(&self.calls.to_ne_bytes());
        out[8..16].copy_from_slice(&self.first.to_ne_bytes());
        out[16..24].copy_from_slice(&self.last.to_ne_bytes());
        out[24..].copy_from_slice(&u32::from(self.function).to_ne_bytes());
        out
    }

    /// One more, which ended at `stop`.
    ///
    /// # Safety
    /// `payload` must be the place of a payload that nobody else writes.
    #[inline]
    pub unsafe fn count(payload: *mut u8, stop: u64) {
        // SAFETY: promised by the caller; records stand at multiples of 4 bytes.
        unsafe {
            let calls = payload.cast::<u64>();
            calls.write_unaligned(calls.read_unaligned() + 1);
            calls.add(2).write_unaligned(stop);
        }
    }

    /// What `record` says, if it is such a record.
    pub fn of(record: &Record<'_>) -> Option<Skipped> {
        match Definition::decode(record.function, record.payload) {
            Some(Definition::Skipped(skipped)) if record.function == SKIPPED => Some(skipped),
            _ => None,
        }
    }
}

fn texts(b: &mut Bytes<'_>) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for _ in 0..b.u32()? {
        texts.push(text(b)?);
    }
    Some(texts)
}

pub(crate) fn text(b: &mut Bytes<'_>) -> Option<String> {
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

fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_u32(out, texts.len() as u32);
    texts.iter().for_each(|text| put_text(out, text));
}

pub(crate) fn put_u32(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_ne_bytes());
}
fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_ne_bytes());
}
pub(crate) fn put_text(out: &mut Vec<u8>, s: &str) {
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
    /// [`FILE`].
    File(OpenFile),
    /// [`VIEW`].
    View(View),
    /// [`POSITION`].
    Position {
        /// Raw handle of the MPI_File.
        file: u64,
        /// Etypes of the view; -1 if the library did not tell.
        etypes: i64,
    },
    /// [`LEFT_OUT`].
    LeftOut {
        /// Raw handle of the MPI_File.
        file: u64,
        /// Collective accesses since the record before.
        collective: u32,
        /// Whether work of some may go on when they have returned: nonblocking ones, first halves of split ones.
        outlasts: bool,
    },
    /// [`SERVER`].
    Server(Server),
    /// [`EXTENTS`].
    Extents(Extents),
    /// [`SKIPPED`].
    Skipped(Skipped),
    /// [`MESSAGES`].
    Messages {
        /// Fewest bytes of a message.
        least: u64,
        /// Most bytes.
        most: u64,
    },
    /// [`CHOICE`].
    Choice {
        /// Of the names that are shown; of all, if there is none.
        include: Vec<String>,
        /// Of those that are not.
        exclude: Vec<String>,
    },
    /// [`USER_CATEGORY`].
    UserCategory(Category),
    /// [`MODULE`].
    Module(Module),
    /// [`COUNTERS`].
    Counters {
        /// Their names, in the order of the values.
        names: Vec<String>,
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
            Definition::File(_) => FILE,
            Definition::View(_) => VIEW,
            Definition::Position { .. } => POSITION,
            Definition::LeftOut { .. } => LEFT_OUT,
            Definition::Server(_) => SERVER,
            Definition::Extents(_) => EXTENTS,
            Definition::Skipped(_) => SKIPPED,
            Definition::Messages { .. } => MESSAGES,
            Definition::UserCategory(_) => USER_CATEGORY,
            Definition::Module(_) => MODULE,
            Definition::Counters { .. } => COUNTERS,
            Definition::Choice { .. } => CHOICE,
        }
    }

    /// Payload of the record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Definition::UserCategory(category) => return category.encode(),
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
            Definition::File(f) => {
                put_u32(&mut out, f.fd as u32);
                put_u32(&mut out, f.flags as u32);
                put_u64(&mut out, f.device);
                put_u64(&mut out, f.inode);
                put_text(&mut out, &f.path);
            }
            Definition::View(v) => {
                put_u64(&mut out, v.file);
                put_u64(&mut out, v.displacement as u64);
                put_u64(&mut out, v.etype);
                put_u64(&mut out, v.extent as u64);
                put_u64(&mut out, v.size);
                put_u32(&mut out, u32::from(v.hull) | u32::from(v.converted) << 1);
                put_u32(&mut out, v.runs.len() as u32);
                for run in &v.runs {
                    put_u64(&mut out, run.offset as u64);
                    put_u64(&mut out, run.length);
                    put_u64(&mut out, run.count);
                    put_u64(&mut out, run.stride as u64);
                }
            }
            Definition::Skipped(s) => out.extend_from_slice(&s.encode()),
            Definition::Messages { least, most } => {
                put_u64(&mut out, *least);
                put_u64(&mut out, *most);
            }
            Definition::Position { file, etypes } => {
                put_u64(&mut out, *file);
                put_u64(&mut out, *etypes as u64);
            }
            Definition::LeftOut {
                file,
                collective,
                outlasts,
            } => {
                put_u64(&mut out, *file);
                put_u32(&mut out, *collective);
                put_u32(&mut out, u32::from(*outlasts));
            }
            Definition::Server(s) => {
                put_u32(&mut out, s.role as u32);
                put_u32(&mut out, s.number);
                put_text(&mut out, &s.name);
            }
            Definition::Extents(e) => {
                put_u64(&mut out, e.device);
                put_u64(&mut out, e.inode);
                put_text(&mut out, &e.path);
                put_u32(&mut out, e.extents.len() as u32);
                for &(file, device, length) in &e.extents {
                    for v in [file, device, length] {
                        put_u64(&mut out, v);
                    }
                }
            }
            Definition::Module(m) => {
                put_text(&mut out, &m.path);
                for v in [m.base, m.start, m.end] {
                    put_u64(&mut out, v);
                }
                put_u32(&mut out, m.build.len() as u32);
                out.extend_from_slice(&m.build);
            }
            Definition::Counters { names } => put_texts(&mut out, names),
            Definition::Choice { include, exclude } => {
                put_texts(&mut out, include);
                put_texts(&mut out, exclude);
            }
        }
        out
    }

    /// Decodes the payload of definition record `number`; `None` if it is damaged or of a kind unknown here.
    pub fn decode(number: u16, payload: &[u8]) -> Option<Definition> {
        let b = &mut Bytes::new(payload);
        Some(match number {
            USER_CATEGORY => Definition::UserCategory(Category::decode(b)?),
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
            FILE => Definition::File(OpenFile {
                fd: b.i32()?,
                flags: b.i32()?,
                device: b.u64()?,
                inode: b.u64()?,
                path: text(b)?,
            }),
            VIEW => {
                let mut view = View {
                    file: b.u64()?,
                    displacement: b.i64()?,
                    etype: b.u64()?,
                    extent: b.i64()?,
                    size: b.u64()?,
                    ..View::default()
                };
                let flags = b.u32()?;
                (view.hull, view.converted) = (flags & 1 != 0, flags & 2 != 0);
                // No room is made before the runs are seen to be there.
                for _ in 0..b.u32()? {
                    view.runs.push(Run {
                        offset: b.i64()?,
                        length: b.u64()?,
                        count: b.u64()?,
                        stride: b.i64()?,
                    });
                }
                Definition::View(view)
            }
            POSITION => Definition::Position {
                file: b.u64()?,
                etypes: b.i64()?,
            },
            LEFT_OUT => Definition::LeftOut {
                file: b.u64()?,
                collective: b.u32()?,
                outlasts: b.u32()? != 0,
            },
            SKIPPED => Definition::Skipped(Skipped {
                calls: b.u64()?,
                first: b.u64()?,
                last: b.u64()?,
                function: b.u32()?.try_into().ok()?,
            }),
            MESSAGES => Definition::Messages {
                least: b.u64()?,
                most: b.u64()?,
            },
            SERVER => Definition::Server(Server {
                role: match b.u32()? {
                    1 => Role::FrontEnd,
                    2 => Role::DataServer,
                    3 => Role::Device,
                    _ => return None,
                },
                number: b.u32()?,
                name: text(b)?,
            }),
            EXTENTS => {
                let mut file = Extents {
                    device: b.u64()?,
                    inode: b.u64()?,
                    path: text(b)?,
                    extents: Vec::new(),
                };
                for _ in 0..b.u32()? {
                    file.extents.push((b.u64()?, b.u64()?, b.u64()?));
                }
                Definition::Extents(file)
            }
            MODULE => Definition::Module(Module {
                path: text(b)?,
                base: b.u64()?,
                start: b.u64()?,
                end: b.u64()?,
                build: b.string()??.to_vec(),
            }),
            COUNTERS => Definition::Counters { names: texts(b)? },
            CHOICE => Definition::Choice {
                include: texts(b)?,
                exclude: texts(b)?,
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
    fn files_round_trip() {
        for definition in [
            Definition::File(OpenFile {
                fd: 7,
                flags: 2,
                device: 1,
                inode: u64::MAX,
                path: "/a b/ü".to_owned(),
            }),
            Definition::View(View {
                file: 5,
                displacement: 100,
                etype: 8,
                extent: 4096,
                size: 48,
                hull: true,
                converted: false,
                runs: vec![
                    Run::piece(-8, 16),
                    Run {
                        offset: 64,
                        length: 32,
                        count: 1 << 40,
                        stride: 33,
                    },
                ],
            }),
            Definition::Position {
                file: 5,
                etypes: -1,
            },
            Definition::LeftOut {
                file: 5,
                collective: 3,
                outlasts: true,
            },
            Definition::Server(Server {
                role: Role::DataServer,
                number: 2,
                name: "store".to_owned(),
            }),
            Definition::Messages {
                least: 1,
                most: u64::MAX,
            },
            Definition::Skipped(Skipped {
                function: 17,
                calls: 1_000_000,
                first: 1,
                last: u64::MAX,
            }),
            Definition::Extents(Extents {
                device: 1,
                inode: 2,
                path: "x".to_owned(),
                extents: vec![(0, 4096, 8192)],
            }),
            Definition::Module(Module {
                path: "/usr/lib/x.so".to_owned(),
                base: 0x7F00_0000_0000,
                start: 0x7F00_0000_1000,
                end: 0x7F00_0000_2000,
                build: vec![1, 2, 0],
            }),
            Definition::Choice {
                include: vec!["solve*".to_owned()],
                exclude: vec!["*inner".to_owned(), "x?".to_owned()],
            },
            Definition::Counters {
                names: vec!["page-faults".to_owned(), "PAPI_TOT_CYC".to_owned()],
            },
        ] {
            let bytes = definition.encode();
            for cut in 0..bytes.len() {
                assert_eq!(Definition::decode(definition.number(), &bytes[..cut]), None);
            }
            assert_eq!(
                Definition::decode(definition.number(), &bytes),
                Some(definition)
            );
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
