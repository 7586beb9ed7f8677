//! Ranks that access files, with the operations that this took.

use blockfile::define::{Definition, FileView, OpenFileDefinition};
use blockfile::file::BlockFile;
use blockfile::layout::{BLOCK_SIZE, BlockHeader};
use blockfile::operation::{self as op, kind};
use blockfile::runs::{EvenRun, Runs};
use io_attribution::{
    AttributedOperation, AttributionEdge, AttributionRecord, AttributionTotals, DataAccessCall,
    OpenedFile, Precision, Relation, attribute_files,
};
use std::collections::BTreeMap;
use std::mem::offset_of;

pub use crate::block_files::ranks::*;

/// Bits of a CallID that count calls.
pub const BITS: u32 = 40;
/// The first MPI_File of a rank, and a request.
pub const FH: u64 = 0x7000_0010;
pub const REQUEST: u64 = 0x9800_0001;

/// The runs of pieces, offset and length of each, as the recorder makes them.
pub fn runs_of(pieces: &[(i64, u64)]) -> Vec<EvenRun> {
    let mut runs = Runs::default();
    for &(offset, length) in pieces {
        runs.append(offset, length, 1, 0).expect("few runs");
    }
    runs.into_vec()
}

/// A rank that is being made.
pub struct Rank {
    pub b: Blocks,
    /// Positions of the operations of the next call.
    operations: Vec<usize>,
}

impl Rank {
    pub fn new(number: i32, size: u32) -> Rank {
        Rank {
            b: rank(number, size),
            operations: Vec::new(),
        }
    }

    /// An operation of 1 ns in the next call, `at` ns after its start.
    pub fn operation(&mut self, at: u32, kind: u16, operation: op::OperationRecord) {
        let (payload, length) = operation.encode();
        let place = self.b.threads[self.b.thread].len();
        let start = self.b.now + at;
        self.b.record(kind, start, 1, &payload[..length]);
        self.operations.push(place);
    }

    /// A transfer that moves all it was asked for.
    pub fn transfer(&mut self, at: u32, kind: u16, fd: i32, offset: i64, bytes: i64) {
        let operation = op::OperationRecord {
            fd,
            offset,
            size: bytes,
            result: bytes,
            ..Default::default()
        };
        self.operation(at, kind, operation);
    }

    /// A call of 50 ns with the operations made since the last one. Gives its CallID.
    pub fn call(&mut self, name: &str, args: &[V]) -> u64 {
        let at = self.b.threads[self.b.thread].len();
        let now = self.b.now;
        call_at(&mut self.b, now, now + 50, name, args);
        let records = &mut self.b.threads[self.b.thread];
        let number: [u8; 4] = records[at + 12..at + 16].try_into().unwrap();
        for place in self.operations.drain(..) {
            records[place + 12..place + 16].copy_from_slice(&number);
        }
        (self.b.rank as u64) << BITS | u64::from(u32::from_ne_bytes(number))
    }

    pub fn file(&mut self, fd: i32, inode: u64, path: &str) {
        self.b.define(&Definition::File(OpenFileDefinition {
            fd,
            flags: 2,
            device: 1,
            inode,
            path: path.to_owned(),
        }));
    }

    /// MPI_File_open on MPI_COMM_WORLD.
    pub fn open(&mut self, fh: u64, fd: i32, inode: u64, name: &'static str) -> u64 {
        self.open_on(WORLD, fh, fd, inode, name)
    }

    pub fn open_on(&mut self, comm: u64, fh: u64, fd: i32, inode: u64, name: &'static str) -> u64 {
        self.file(fd, inode, &format!("/dir/{name}"));
        let operation = op::OperationRecord {
            fd,
            offset: -1,
            result: fd.into(),
            ..Default::default()
        };
        self.operation(5, op::OPEN, operation);
        let args = [V::H(comm), V::T(Some(name)), V::I(9), V::H(0), V::H(fh)];
        self.call("MPI_File_open", &args)
    }

    pub fn close(&mut self, fh: u64) -> u64 {
        self.call("MPI_File_close", &[V::H(fh)])
    }

    /// MPI_File_set_view with bytes as etype.
    pub fn view(&mut self, fh: u64, displacement: i64, extent: i64, pieces: &[(i64, u64)]) {
        self.define_view(FileView {
            file: fh,
            displacement,
            etype: 1,
            extent,
            size: pieces.iter().map(|p| p.1).sum(),
            runs: runs_of(pieces),
            ..FileView::default()
        });
    }

    /// MPI_File_set_view with a view as the recorder has made it.
    pub fn define_view(&mut self, view: FileView) {
        let args = [
            V::H(view.file),
            V::I(view.displacement),
            V::H(CHAR),
            V::H(CHAR),
            V::T(Some("native")),
            V::H(0),
        ];
        self.b.define(&Definition::View(view));
        self.call("MPI_File_set_view", &args);
    }

    /// An access at an explicit offset: `MPI_File_write_at_all` and the like.
    pub fn access_at(&mut self, name: &str, fh: u64, offset: i64, bytes: i64) -> u64 {
        let args = [V::H(fh), V::I(offset), V::No, V::I(bytes), V::H(CHAR)];
        self.access(name, &args)
    }

    /// An access by a file pointer.
    pub fn access_by_pointer(&mut self, name: &str, fh: u64, bytes: i64) -> u64 {
        let args = [V::H(fh), V::No, V::I(bytes), V::H(CHAR)];
        self.access(name, &args)
    }

    fn access(&mut self, name: &str, args: &[V]) -> u64 {
        let mut args = args.to_vec();
        if name.contains("_i") {
            args.push(V::H(REQUEST));
        } else if !name.contains("_begin") {
            args.push(V::S(None));
        }
        self.call(name, &args)
    }

    /// The file of a process that died in a call with the number 77.
    pub fn unfinished(&mut self, name: &str) -> Vec<u8> {
        let records = &mut self.b.threads[0];
        for place in self.operations.drain(..) {
            records[place + 12..place + 16].copy_from_slice(&77_u32.to_ne_bytes());
        }
        let function = self.b.table.get(name).expect("the function").id as u32;
        let mut bytes = self.b.bytes();
        let mut head = |at: usize, b: &[u8]| {
            let at = BLOCK_SIZE + at;
            bytes[at..at + b.len()].copy_from_slice(b);
        };
        let start = u64::from(self.b.now);
        head(
            offset_of!(BlockHeader, open_function),
            &(function + 1).to_ne_bytes(),
        );
        head(offset_of!(BlockHeader, open_start), &start.to_ne_bytes());
        head(offset_of!(BlockHeader, open_call), &77_u64.to_ne_bytes());
        bytes
    }

    pub fn wait(&mut self, bytes: u64) -> u64 {
        let status = status(0, 0, bytes);
        self.call("MPI_Wait", &[V::H(REQUEST), V::S(Some(status))])
    }
}

/// Of an operation: kind, offset, bytes of sieving holes, and the calls whose bytes it carries with their number.
pub type Carried = (&'static str, i64, u64, Vec<(u64, u64)>);

/// All that the join says.
#[derive(Debug, Default)]
pub struct Found {
    pub files: Vec<OpenedFile>,
    pub calls: BTreeMap<u64, DataAccessCall>,
    pub operations: BTreeMap<u64, AttributedOperation>,
    pub edges: Vec<AttributionEdge>,
    pub totals: AttributionTotals,
}

impl Found {
    /// Takes an attribution record, and sees that attribution records come in the order that is promised.
    pub fn take(&mut self, fact: &AttributionRecord) {
        let file = |id: u32| self.files.iter().any(|f| f.id == id);
        match fact {
            AttributionRecord::File(f) => {
                self.files.retain(|known| known.id != f.id);
                self.files.push(f.clone());
            }
            AttributionRecord::Call(c) => {
                assert!(file(c.file), "{c:?} before its file");
                assert!(
                    self.calls.insert(c.call, c.clone()).is_none(),
                    "{c:?} twice"
                );
            }
            AttributionRecord::Operation(o) => {
                assert!(o.file.is_none_or(file), "{o:?} before its file");
                let twice = self.operations.insert(o.id, o.clone());
                assert!(twice.is_none(), "{o:?} twice");
            }
            AttributionRecord::Edge(e) => {
                let operation = self.operations.get(&e.operation).expect("the operation");
                assert_eq!((e.kind, e.to), (operation.kind, operation.place));
                match (e.relation, self.calls.get(&e.call)) {
                    (Relation::Carries, None) => panic!("{e:?} before its call"),
                    (_, Some(call)) => assert_eq!(e.from, call.place),
                    _ => {}
                }
                self.edges.push(e.clone());
            }
        }
    }

    /// Joins these ranks.
    pub fn of(ranks: &[Rank]) -> Found {
        let bytes: Vec<Vec<u8>> = ranks.iter().map(|r| r.b.bytes()).collect();
        Found::of_bytes(&bytes)
    }

    pub fn of_bytes(bytes: &[Vec<u8>]) -> Found {
        let files: Vec<BlockFile<'_>> = bytes
            .iter()
            .map(|b| BlockFile::new(b).expect("a block file"))
            .collect();
        let table = wrappers::table().expect("the table parses");
        let mut found = Found::default();
        let totals = attribute_files(&files, table, &mut |fact| {
            found.take(fact);
            Ok(())
        });
        found.totals = totals.expect("joins");
        found
    }

    /// Of each operation that moved bytes: kind, offset, bytes of sieving holes, and the calls whose bytes it carries, in order of offset.
    pub fn carried(&self) -> Vec<Carried> {
        let mut all: Vec<_> = self
            .operations
            .values()
            .filter(|o| o.record.result > 0 && o.record.offset >= 0)
            .map(|o| {
                let name = kind(o.kind).map_or("", |k| k.name);
                (name, o.record.offset, o.hole_bytes, self.calls_of(o.id))
            })
            .collect();
        all.sort();
        all
    }

    /// Calls whose bytes an operation carries, and how many.
    pub fn calls_of(&self, operation: u64) -> Vec<(u64, u64)> {
        let its = self.edges.iter().filter(|e| e.operation == operation);
        let mut calls: Vec<_> = its
            .filter(|e| e.relation == Relation::Carries)
            .map(|e| (e.call, e.bytes))
            .collect();
        calls.sort();
        calls
    }

    /// Precisions of the edges that carry bytes.
    pub fn precisions(&self) -> Vec<Precision> {
        let carry = |e: &&AttributionEdge| e.relation == Relation::Carries;
        self.edges
            .iter()
            .filter(carry)
            .map(|e| e.precision)
            .collect()
    }

    /// The call that triggered the operation at this offset.
    pub fn trigger(&self, offset: i64) -> Option<u64> {
        let operation = self
            .operations
            .values()
            .find(|o| o.record.offset == offset)?;
        let its =
            |e: &&AttributionEdge| e.operation == operation.id && e.relation == Relation::Triggers;
        self.edges.iter().find(its).map(|e| e.call)
    }
}
