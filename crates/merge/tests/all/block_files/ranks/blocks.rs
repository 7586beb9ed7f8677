//! Block files built in memory, as the recorder writes them.
#![allow(
    dead_code,
    reason = "shared by several test programs, each of which uses a part"
)]

use blockfile::args::MAX_PARAMS;
use blockfile::define::{
    ClockReading, CommCreation, CommDefinition, CommDefinitionKind, DatatypeDefinition, Definition,
    PredefinedHandle, ProcessDefinition,
};
use blockfile::encode::{EncodeCursor, MpiStatus, NO_ARRAY, STATUS_MAX};
use blockfile::layout::{
    BLOCK_HEADER, BLOCK_MAGIC, BLOCK_SIZE, BlockHeader, Clock, FILE_MAGIC, Family, FileHeader,
    POINTER_BYTES, VERSION,
};
use blockfile::record;
use std::mem::offset_of;
use wrappers::{Carrier, ElementForm, ShortForm, ShortPlace, Table};

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub enum V {
    /// Buffers and functions: not recorded.
    No,
    I(i64),
    /// Before and after.
    Io(i64, i64),
    D(f64),
    H(u64),
    S(Option<MpiStatus>),
    T(Option<&'static str>),
    A(Option<Vec<V>>),
    Aio(Vec<V>, Vec<V>),
}

pub fn ints(values: &[i64]) -> V {
    V::A(Some(values.iter().map(|&v| V::I(v)).collect()))
}
pub fn handles(values: &[u64]) -> V {
    V::A(Some(values.iter().map(|&v| V::H(v)).collect()))
}
pub fn texts(values: &[Option<&'static str>]) -> V {
    V::A(Some(values.iter().map(|&v| V::T(v)).collect()))
}
pub fn statuses(values: &[MpiStatus]) -> V {
    V::A(Some(values.iter().map(|&v| V::S(Some(v))).collect()))
}
pub fn status(source: i32, tag: i32, bytes: u64) -> MpiStatus {
    MpiStatus {
        source,
        tag,
        bytes,
        ..MpiStatus::default()
    }
}

/// One process's block file.
pub struct Blocks {
    pub table: &'static Table,
    pub family: Family,
    pub rank: i32,
    pub size: u32,
    /// Records of each thread.
    pub threads: Vec<Vec<u8>>,
    pub thread: usize,
    /// Start of the next call, ns.
    pub now: u32,
    /// Whether the next calls have cpu times.
    pub cpu: bool,
    /// Counter of the next record.
    pub calls: u32,
    /// Whether records have the short form where they can.
    pub short: bool,
}

/// Handles of the library of these tests.
pub const WORLD: u64 = 0x4400_0000;
pub const SELF: u64 = 0x4400_0001;
pub const COMM_NULL: u64 = 0x0400_0000;
pub const INT: u64 = 0x4c00_0405;
pub const DOUBLE: u64 = 0x4c00_080b;
pub const CHAR: u64 = 0x4c00_0101;
pub const TYPE_NULL: u64 = 0x0c00_0000;
pub const REQUEST_NULL: u64 = 0x2c00_0000;
pub const SUM: u64 = 0x5800_0003;

impl Blocks {
    /// An empty one.
    pub fn empty(family: Family) -> Blocks {
        Blocks {
            table: wrappers::table().expect("the table parses"),
            family,
            rank: 0,
            size: 2,
            threads: vec![Vec::new()],
            thread: 0,
            now: 1000,
            cpu: false,
            calls: 0,
            short: true,
        }
    }

    /// One with the definitions that stand in front of every trace, of a library with MPICH's values.
    pub fn new() -> Blocks {
        let mut b = Blocks::empty(Family::Mpich);
        let constants = [
            ("MPI_ANY_SOURCE", -2),
            ("MPI_ANY_TAG", -1),
            ("MPI_PROC_NULL", -1),
            ("MPI_ROOT", -3),
            ("MPI_UNDEFINED", -32766),
            ("MPI_TAG_UB", 0x6440_0001),
            ("MPI_MODE_NOCHECK", 1024),
            ("MPI_MODE_NOPUT", 4096),
            ("MPI_MODE_RDONLY", 2),
            ("MPI_MODE_CREATE", 1),
            ("MPI_THREAD_MULTIPLE", 3),
            ("MPI_DISTRIBUTE_BLOCK", 121),
            ("MPI_DISTRIBUTE_DFLT_DARG", -49767),
            ("MPI_ORDER_C", 56),
        ];
        let predefined = [
            ("MPI_COMM_WORLD", WORLD),
            ("MPI_COMM_SELF", SELF),
            ("MPI_COMM_NULL", COMM_NULL),
            ("MPI_REQUEST_NULL", REQUEST_NULL),
            ("MPI_SUM", SUM),
            ("MPI_DATATYPE_NULL", TYPE_NULL),
            ("MPI_INT", INT),
            ("MPI_DOUBLE", DOUBLE),
            ("MPI_CHAR", CHAR),
        ];
        b.define_library("node7", &constants, &predefined);
        b.comm(WORLD, 0, &[0, 1]);
        b
    }

    /// The definitions that the recorder writes first: of process, clock and library, and three datatypes.
    pub fn define_library(
        &mut self,
        host: &str,
        constants: &[(&str, i64)],
        predefined: &[(&str, u64)],
    ) {
        self.define(&Definition::Process(ProcessDefinition {
            host: host.to_owned(),
            program: "p".to_owned(),
            user: "someone".to_owned(),
            boot: "b".to_owned(),
        }));
        self.define(&Definition::Clock(ClockReading {
            ticks: 500,
            monotonic: 500,
            realtime: 1_700_000_000_000_000_500,
            cpu: 0,
        }));
        for &(name, value) in constants {
            let name = name.to_owned();
            self.define(&Definition::Constant { name, value });
        }
        for &(name, handle) in predefined {
            let name = name.to_owned();
            self.define(&Definition::Predefined(PredefinedHandle { handle, name }));
        }
        for (handle, size, name) in [
            (INT, 4, "MPI_INT"),
            (DOUBLE, 8, "MPI_DOUBLE"),
            (CHAR, 1, "MPI_CHAR"),
        ] {
            self.datatype(handle, size, name);
        }
    }

    pub fn datatype(&mut self, handle: u64, size: i64, name: &str) {
        self.define(&Definition::Type(DatatypeDefinition {
            handle,
            size,
            extent: size,
            name: name.to_owned(),
        }));
    }

    pub fn comm(&mut self, handle: u64, rank: i32, members: &[i32]) {
        intra(self, handle, 0, CommCreation::Parent, rank, members);
    }

    pub fn define(&mut self, definition: &Definition) {
        let payload = definition.encode();
        self.record(definition.number(), 0, 0, &payload);
    }

    /// A call of 10 ns, 90 ns after the one before.
    pub fn call(&mut self, name: &str, args: &[V]) {
        let f = self
            .table
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in the table"));
        assert_eq!(f.params.len(), args.len(), "{name}");
        assert!(args.len() <= MAX_PARAMS);
        let short = f.short_form.as_ref().filter(|_| self.short);
        let short = short.and_then(|form| in_short_form(form, args, self.family));
        let out = short.unwrap_or_else(|| {
            let mut out = Vec::new();
            for (param, arg) in f.params.iter().zip(args) {
                put(
                    &mut out,
                    param.carrier(),
                    arg,
                    self.family,
                    &format!("{name} {}", param.name),
                );
            }
            out
        });
        let id = f.id as u16;
        let now = self.now;
        self.record(id, now, 10, &out);
        self.now += 100;
    }

    /// A record as it stands in a block.
    pub fn record(&mut self, function: u16, start: u32, duration: u32, payload: &[u8]) {
        let out = &mut self.threads[self.thread];
        let extra = if self.cpu { 16 } else { 0 };
        let size = (record::HEAD + extra + payload.len()).next_multiple_of(4);
        let word = function | if self.cpu { record::CPU } else { 0 };
        let at = out.len();
        out.extend_from_slice(&word.to_ne_bytes());
        out.extend_from_slice(&((size / 4) as u16).to_ne_bytes());
        out.extend_from_slice(&start.to_ne_bytes());
        out.extend_from_slice(&duration.to_ne_bytes());
        out.extend_from_slice(&self.calls.to_ne_bytes());
        if self.cpu {
            out.extend_from_slice(&7_000_000_001u64.to_ne_bytes());
            out.extend_from_slice(&7_000_000_002u64.to_ne_bytes());
        }
        out.extend_from_slice(payload);
        out.resize(at + size, 0);
        self.calls += 1;
    }

    /// The whole file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut file = vec![0; BLOCK_SIZE];
        let mut head = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        head(0, &FILE_MAGIC);
        head(offset_of!(FileHeader, version), &VERSION.to_ne_bytes());
        head(
            offset_of!(FileHeader, family),
            &(self.family as u32).to_ne_bytes(),
        );
        head(
            offset_of!(FileHeader, table),
            &self.table.fingerprint().to_ne_bytes(),
        );
        head(
            offset_of!(FileHeader, clock),
            &(Clock::Monotonic as u32).to_ne_bytes(),
        );
        head(offset_of!(FileHeader, counter_bits), &40u32.to_ne_bytes());
        head(offset_of!(FileHeader, rank), &self.rank.to_ne_bytes());
        head(offset_of!(FileHeader, size), &self.size.to_ne_bytes());
        for (thread, records) in (0u32..).zip(&self.threads) {
            for (sequence, part) in (0u64..).zip(parts(records)) {
                let mut block = vec![0; BLOCK_SIZE];
                let mut head = |at: usize, b: &[u8]| block[at..at + b.len()].copy_from_slice(b);
                head(offset_of!(BlockHeader, magic), &BLOCK_MAGIC.to_ne_bytes());
                head(offset_of!(BlockHeader, thread), &thread.to_ne_bytes());
                head(offset_of!(BlockHeader, sequence), &sequence.to_ne_bytes());
                head(
                    offset_of!(BlockHeader, committed),
                    &(part.len() as u32).to_ne_bytes(),
                );
                let tid = 1000 * (i64::from(self.rank) + 1) + i64::from(thread);
                head(offset_of!(BlockHeader, tid), &tid.to_ne_bytes());
                head(BLOCK_HEADER, part);
                file.extend_from_slice(&block);
            }
        }
        file
    }
}

pub fn intra(
    b: &mut Blocks,
    handle: u64,
    parent: u64,
    origin: CommCreation,
    rank: i32,
    members: &[i32],
) {
    b.define(&Definition::Comm(CommDefinition {
        handle,
        parent,
        kind: CommDefinitionKind::Intra,
        origin,
        rank,
        members: members.to_vec(),
        remote: Vec::new(),
    }));
}

/// Cuts records into blocks.
fn parts(records: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while at < records.len() {
        let size = usize::from(u16::from_ne_bytes([records[at + 2], records[at + 3]])) * 4;
        if at + size - from > BLOCK_SIZE - BLOCK_HEADER {
            parts.push(&records[from..at]);
            from = at;
        }
        at += size;
    }
    parts.push(&records[from..]);
    parts
}

/// The arguments in short form; `None` for values that it has no room for.
fn in_short_form(form: &ShortForm, args: &[V], family: Family) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for (place, arg) in form.places.iter().zip(args) {
        match (*place, arg) {
            (ShortPlace::Nothing, _) => put(&mut out, Carrier::Nothing, arg, family, "short"),
            (ShortPlace::I32, _) => put(&mut out, Carrier::I32, arg, family, "short"),
            (ShortPlace::Handle, _) => put(&mut out, Carrier::Handle, arg, family, "short"),
            (ShortPlace::U16, V::I(v)) => {
                out.extend_from_slice(&u16::try_from(*v).ok()?.to_ne_bytes());
            }
            (ShortPlace::SameAs(former), _) if args[former] == *arg => {}
            (ShortPlace::ReceivedBytes { source, tag }, V::S(Some(s)))
                if V::I(s.source.into()) == args[source]
                    && V::I(s.tag.into()) == args[tag]
                    && s.error == 0
                    && !s.cancelled =>
            {
                out.extend_from_slice(&u32::try_from(s.bytes).ok()?.to_ne_bytes());
            }
            _ => return None,
        }
    }
    Some(out)
}

fn put(out: &mut Vec<u8>, carrier: Carrier, arg: &V, family: Family, what: &str) {
    match (carrier, arg) {
        (Carrier::Nothing, V::No) => {}
        (Carrier::I32, V::I(v)) => out.extend_from_slice(&(*v as i32).to_ne_bytes()),
        (Carrier::I64, V::I(v)) => out.extend_from_slice(&v.to_ne_bytes()),
        (Carrier::I32InOut, V::Io(a, b)) => {
            out.extend_from_slice(&(*a as i32).to_ne_bytes());
            out.extend_from_slice(&(*b as i32).to_ne_bytes());
        }
        (Carrier::I64InOut, V::Io(a, b)) => {
            out.extend_from_slice(&a.to_ne_bytes());
            out.extend_from_slice(&b.to_ne_bytes());
        }
        (Carrier::F64, V::D(v)) => out.extend_from_slice(&v.to_bits().to_ne_bytes()),
        (Carrier::Handle, V::H(h)) => {
            out.extend_from_slice(&h.to_ne_bytes()[..family.handle_bytes()]);
        }
        (Carrier::Pointer, V::H(h)) => out.extend_from_slice(&h.to_ne_bytes()[..POINTER_BYTES]),
        (Carrier::Status, V::S(s)) => {
            let mut buffer = [0u8; STATUS_MAX + 8];
            let from = buffer.as_mut_ptr();
            // SAFETY: the buffer has room for the longest status.
            let mut cursor = unsafe { EncodeCursor::new(from) };
            cursor.status(*s);
            let used = cursor.position() as usize - from as usize;
            out.extend_from_slice(&buffer[..used]);
        }
        (Carrier::Text, V::T(t)) => match t {
            None => out.extend_from_slice(&NO_ARRAY.to_ne_bytes()),
            Some(t) => {
                out.extend_from_slice(&(t.len() as u32).to_ne_bytes());
                out.extend_from_slice(t.as_bytes());
            }
        },
        (Carrier::Array(elem), V::A(values)) => {
            put_array(out, elem, values.as_deref(), family, what)
        }
        (Carrier::ArrayInOut(elem), V::Aio(before, after)) => {
            put_array(out, elem, Some(before), family, what);
            put_array(out, elem, Some(after), family, what);
        }
        _ => panic!("{what} is a {carrier:?}, not {arg:?}"),
    }
}

fn put_array(
    out: &mut Vec<u8>,
    elem: ElementForm,
    values: Option<&[V]>,
    family: Family,
    what: &str,
) {
    let Some(values) = values else {
        out.extend_from_slice(&NO_ARRAY.to_ne_bytes());
        return;
    };
    out.extend_from_slice(&(values.len() as u32).to_ne_bytes());
    let carrier = match elem {
        ElementForm::I32 => Carrier::I32,
        ElementForm::I64 => Carrier::I64,
        ElementForm::Handle => Carrier::Handle,
        ElementForm::Pointer => Carrier::Pointer,
        ElementForm::Status => Carrier::Status,
        ElementForm::Text => Carrier::Text,
    };
    for v in values {
        put(out, carrier, v, family, what);
    }
}
