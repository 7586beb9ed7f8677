//! Ranks of a run in memory, merged and converted.
#![allow(
    dead_code,
    reason = "shared by several test programs, each of which uses a part"
)]

pub mod blocks;

use blockfile::define::{CommCreation, CommDefinition, CommDefinitionKind, Definition};
use blockfile::file::BlockFile;
use blockfile::layout::Family;
use blockfile::record;
pub use blocks::*;
use merge::local::{Merge, MergeOptions};
use merge::stream::Notes;
use std::io::Cursor;
use trace_formats::clog2::{Clog2Body, Clog2Record, Clog2Writer, Preamble, comm_etype, msg_etype};
use trace_formats::slog2::{ConvertOptions, NodeDrawable, Slog2Conversion, Slog2Reader, Topology};

/// A rank of a run with MPICH's handles, with the definitions in front that the recorder writes.
pub fn rank(rank: i32, size: u32) -> Blocks {
    let mut b = Blocks::empty(Family::Mpich);
    b.rank = rank;
    b.size = size;
    let constants = [
        ("MPI_ANY_SOURCE", -2),
        ("MPI_ANY_TAG", -1),
        ("MPI_PROC_NULL", -1),
        ("MPI_UNDEFINED", -32766),
        ("MPI_ERR_TRUNCATE", 14),
        ("MPI_MODE_APPEND", 128),
        ("MPI_SEEK_SET", 600),
        ("MPI_SEEK_CUR", 602),
        ("MPI_SEEK_END", 604),
    ];
    let predefined = [
        ("MPI_COMM_WORLD", WORLD),
        ("MPI_COMM_SELF", SELF),
        ("MPI_COMM_NULL", COMM_NULL),
    ];
    b.define_library("node", &constants, &predefined);
    let all: Vec<i32> = (0..size as i32).collect();
    intra(&mut b, WORLD, 0, CommCreation::World, rank, &all);
    intra(&mut b, SELF, 0, CommCreation::SelfComm, 0, &[rank]);
    b
}

pub fn inter(
    b: &mut Blocks,
    handle: u64,
    origin: CommCreation,
    rank: i32,
    members: &[i32],
    remote: &[i32],
) {
    b.define(&Definition::Comm(CommDefinition {
        handle,
        parent: 0,
        kind: CommDefinitionKind::Inter,
        origin,
        rank,
        members: members.to_vec(),
        remote: remote.to_vec(),
    }));
}

/// A call from `start` to `stop`, both in ns.
pub fn call_at(b: &mut Blocks, start: u32, stop: u32, name: &str, args: &[V]) {
    let at = b.threads[b.thread].len();
    b.now = start;
    b.call(name, args);
    let records = &mut b.threads[b.thread];
    records[at + 8..at + 12].copy_from_slice(&(stop - start).to_ne_bytes());
    b.now = stop + 90;
}

/// A call that returned `code`.
pub fn failed_call(b: &mut Blocks, code: i32, name: &str, args: &[V]) {
    let at = b.threads[b.thread].len();
    b.call(name, args);
    let records = &mut b.threads[b.thread];
    let size = (records.len() - at + 4) / 4;
    records.splice(at + record::HEAD..at + record::HEAD, code.to_ne_bytes());
    records[at + 1] |= (record::ERROR >> 8) as u8;
    records[at + 2..at + 4].copy_from_slice(&(size as u16).to_ne_bytes());
}

/// Arguments of MPI_Send and the like.
pub fn to(dest: i64, tag: i64, count: i64) -> Vec<V> {
    vec![
        V::No,
        V::I(count),
        V::H(INT),
        V::I(dest),
        V::I(tag),
        V::H(WORLD),
    ]
}

/// Arguments of MPI_Isend and the like.
pub fn to_with(dest: i64, tag: i64, count: i64, request: u64) -> Vec<V> {
    let mut args = to(dest, tag, count);
    args.push(V::H(request));
    args
}

/// Arguments of MPI_Recv.
pub fn from(source: i64, tag: i64, count: i64, got: blockfile::encode::MpiStatus) -> Vec<V> {
    let mut args = to(source, tag, count);
    args.push(V::S(Some(got)));
    args
}

/// A merged run.
pub struct Merged {
    pub records: Vec<Clog2Record>,
    pub preamble: Preamble,
    pub gids: usize,
    pub notes: Notes,
    /// The CLOG2 file.
    pub clog2: Vec<u8>,
    table: &'static wrappers::Table,
}

/// Merges ranks.
pub fn merge(ranks: &[Blocks]) -> Merged {
    merge_with(ranks, MergeOptions::default())
}

pub fn merge_with(ranks: &[Blocks], options: MergeOptions) -> Merged {
    let bytes: Vec<Vec<u8>> = ranks.iter().map(Blocks::bytes).collect();
    merge_bytes(&bytes, options)
}

pub fn merge_bytes(bytes: &[Vec<u8>], options: MergeOptions) -> Merged {
    let table = wrappers::table().expect("the table parses");
    let files: Vec<BlockFile<'_>> = bytes
        .iter()
        .map(|b| BlockFile::new(b).expect("a block file"))
        .collect();
    let merge = Merge::new(&files, table, options).expect("ranks of one run");
    let preamble = merge.preamble();
    let mut writer = Clog2Writer::new(Cursor::new(Vec::new()), &preamble).expect("starts");
    let mut records = Vec::new();
    let notes = merge
        .run(|record| {
            let record = record.clog2();
            records.push(record);
            writer.write(&record)
        })
        .expect("writes");
    let out = writer
        .finish(merge.comm_table(), &preamble)
        .expect("finishes");
    let gids = merge.comm_table().0.len();
    for pair in records.windows(2) {
        assert!(pair[0].header.time <= pair[1].header.time, "times go back");
    }
    Merged {
        records,
        preamble,
        gids,
        notes,
        clog2: out.into_inner(),
        table,
    }
}

/// An arrow: (line and time in ns) of both ends, tag, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: (i32, i64),
    pub to: (i32, i64),
    pub tag: i32,
    pub bytes: i32,
}

/// A state: name, line, start and end in ns after the first call.
pub type Shown = (String, i32, i64, i64);

fn ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

impl Merged {
    /// Converted to SLOG2: arrows, states, and what the converter said.
    pub fn drawables(&self) -> (Vec<Arrow>, Vec<Shown>, Slog2Conversion) {
        let out = Cursor::new(Vec::new());
        let (out, conversion) =
            trace_formats::slog2::convert(&self.clog2, out, ConvertOptions::default())
                .expect("converts");
        let file = out.into_inner();
        let reader = Slog2Reader::new(&file).expect("an SLOG2 file");
        let name = |category: i32| {
            let found = reader.categories().iter().find(|c| c.index == category);
            found.map_or_else(String::new, |c| c.name.to_str().into_owned())
        };
        let (mut arrows, mut states) = (Vec::new(), Vec::new());
        for entry in reader.directory() {
            let node = reader.node(entry.ptr).expect("a node");
            for drawable in node.nestless.iter().chain(&node.nestable) {
                let NodeDrawable::Primitive(p) = drawable else {
                    continue;
                };
                let (a, b) = (p.first(), p.last());
                let ends = ((a.line, ns(a.time)), (b.line, ns(b.time)));
                let int = |at: usize| i32::from_be_bytes(p.info[at..at + 4].try_into().unwrap());
                match reader.categories().iter().find(|c| c.index == p.category) {
                    Some(c) if c.topology == Topology::Arrow => arrows.push(Arrow {
                        from: ends.0,
                        to: ends.1,
                        tag: int(0),
                        bytes: int(4),
                    }),
                    Some(c) if c.topology == Topology::State => {
                        states.push((name(c.index), a.line, ns(a.time), ns(b.time)));
                    }
                    _ => {}
                }
            }
        }
        arrows.sort();
        states.sort_by_key(|s| (s.2, s.1));
        (arrows, states, conversion)
    }

    /// The arrows alone, of a log without anything odd.
    pub fn arrows(&self) -> Vec<Arrow> {
        let (arrows, _, conversion) = self.drawables();
        assert_eq!(conversion.unmatched_events, 0);
        arrows
    }

    /// (from line, to line, tag, bytes) of all arrows.
    pub fn messages(&self) -> Vec<(i32, i32, i32, i32)> {
        let all = self.arrows();
        all.iter()
            .map(|a| (a.from.0, a.to.0, a.tag, a.bytes))
            .collect()
    }

    /// Records of one rank's calls in words: `+MPI_Send`, `send 1 7 16`, `-MPI_Send`.
    pub fn words(&self) -> Vec<String> {
        let name = |etype: i32| {
            let mut all = self.table.functions.iter();
            let found = all.find(|f| f.state.map(i32::from) == Some(etype / 2));
            let sign = if etype % 2 == 0 { '+' } else { '-' };
            found.map_or_else(
                || format!("{sign}state {}", etype / 2),
                |f| format!("{sign}{}", f.name),
            )
        };
        self.records
            .iter()
            .filter_map(|r| {
                let h = r.header;
                let at = format!("{}/{}", h.icomm, h.rank);
                Some(match r.body {
                    Clog2Body::Bare { etype } if etype >= 0 => format!("{at} {}", name(etype)),
                    Clog2Body::Bare { etype } => format!("{at} {etype}"),
                    Clog2Body::Cargo { etype, bytes } => {
                        let int = |i: usize| {
                            i64::from_be_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap())
                        };
                        format!("{at} {} {:x} {} {}", name(etype), int(0), int(1), int(2))
                    }
                    Clog2Body::Msg(m) => {
                        let way = if m.etype == msg_etype::SEND {
                            "send"
                        } else {
                            "recv"
                        };
                        format!(
                            "{at} {way} {}/{} tag {} size {}",
                            m.icomm, m.rank, m.tag, m.size
                        )
                    }
                    Clog2Body::Comm(c) if c.etype > comm_etype::SELF_CREATE => {
                        format!("{at} comm {} {}/{}", c.etype, c.icomm, c.rank)
                    }
                    _ => return None,
                })
            })
            .collect()
    }
}
