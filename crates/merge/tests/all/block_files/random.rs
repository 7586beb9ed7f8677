//! Every function of the table with arguments of chance, on several threads of several ranks, and block files with damage:
//! whatever records hold, each call becomes one state, and nothing panics.

use crate::block_files::ranks::*;
use blockfile::define::CommCreation;
use blockfile::file::BlockFile;
use blockfile::layout::BLOCK_SIZE;
use merge::local::{Merge, MergeOptions};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use trace_formats::clog2::states::CallIdDisplay;
use wrappers::{Carrier, ElementForm, Kind};

/// Numbers without pattern (xorshift).
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn int(&mut self) -> i64 {
        match self.below(8) {
            0 => self.next() as i64,
            1 => -1 - self.below(3) as i64,
            _ => self.below(6) as i64,
        }
    }

    /// Few, so that they are met again: communicators, requests, datatypes and what not.
    fn handle(&mut self, kind: Kind) -> u64 {
        let n = self.below(6);
        match kind {
            Kind::Comm => [WORLD, SELF, COMM_NULL, 600, 601, 602][n as usize],
            Kind::Datatype => [INT, DOUBLE, CHAR, 700, 701, 702][n as usize],
            _ => 50 + n,
        }
    }

    fn status(&mut self) -> V {
        let status = blockfile::encode::MpiStatus {
            source: self.int() as i32,
            tag: self.int() as i32,
            error: if self.below(4) == 0 { 18 } else { 0 },
            bytes: self.next() >> self.below(64),
            cancelled: self.below(8) == 0,
        };
        V::S((self.below(4) > 0).then_some(status))
    }

    fn array(&mut self, elem: ElementForm, kind: Kind) -> Vec<V> {
        let n = self.below(5);
        let one = |c: &mut Chance| match elem {
            ElementForm::I32 | ElementForm::I64 => V::I(c.int()),
            ElementForm::Handle | ElementForm::Pointer => V::H(c.handle(kind)),
            ElementForm::Status => c.status(),
            ElementForm::Text => V::T(Some("text")),
        };
        (0..n).map(|_| one(self)).collect()
    }

    fn arg(&mut self, carrier: Carrier, kind: Kind) -> V {
        match carrier {
            Carrier::Nothing => V::No,
            Carrier::I32 | Carrier::I64 => V::I(self.int()),
            Carrier::I32InOut | Carrier::I64InOut => V::Io(self.int(), self.int()),
            Carrier::F64 => V::D(0.5),
            Carrier::Handle | Carrier::Pointer => V::H(self.handle(kind)),
            Carrier::Status => self.status(),
            Carrier::Text => V::T(Some("name")),
            Carrier::Array(_) if self.below(6) == 0 => V::A(None),
            Carrier::Array(elem) => V::A(Some(self.array(elem, kind))),
            Carrier::ArrayInOut(elem) => V::Aio(self.array(elem, kind), self.array(elem, kind)),
        }
    }
}

/// A rank that calls every function `times` times, in its own order, on `threads` threads.
pub fn busy(
    rank_number: i32,
    size: u32,
    threads: usize,
    times: usize,
    chance: &mut Chance,
) -> Blocks {
    let mut b = rank(rank_number, size);
    b.threads.resize(threads, Vec::new());
    let table = wrappers::table().expect("the table parses");
    let mut order: Vec<usize> = (0..times).flat_map(|_| 0..table.functions.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, chance.below(i as u64 + 1) as usize);
    }
    let mut free_from = vec![1_000; threads];
    for i in order {
        let f = &table.functions[i];
        let kinds = f.params.iter().map(|p| (p.carrier(), p.kind));
        let args: Vec<V> = kinds.map(|(c, k)| chance.arg(c, k)).collect();
        b.thread = chance.below(threads as u64) as usize;
        match chance.below(20) {
            0 => b.datatype(700 + chance.below(3), chance.int(), ""),
            1 => {
                let handle = 600 + chance.below(3);
                let parent = chance.handle(Kind::Comm);
                let all: Vec<i32> = (0..size as i32).collect();
                let (low, high) = all.split_at(chance.below(u64::from(size) + 1) as usize);
                let at = |group: &[i32]| group.iter().position(|&m| m == rank_number);
                match (chance.below(2), at(low), at(high)) {
                    (0, Some(at), _) => {
                        inter(&mut b, handle, CommCreation::Members, at as i32, low, high)
                    }
                    (0, None, Some(at)) => {
                        inter(&mut b, handle, CommCreation::Outside, at as i32, high, low)
                    }
                    _ => intra(
                        &mut b,
                        handle,
                        parent,
                        CommCreation::Parent,
                        rank_number,
                        &all,
                    ),
                }
            }
            _ => {}
        }
        let start = free_from[b.thread] + chance.below(50) as u32;
        let stop = start + chance.below(500) as u32;
        free_from[b.thread] = stop;
        if chance.below(10) == 0 {
            b.now = start;
            failed_call(&mut b, 1 + chance.below(20) as i32, &f.name, &args);
            free_from[b.thread] = b.now;
        } else {
            call_at(&mut b, start, stop, &f.name, &args);
        }
    }
    b
}

#[test]
fn each_call_is_one_state_whatever_its_arguments() {
    let functions = wrappers::table().expect("the table parses").functions.len();
    for seed in 1..3 {
        let mut chance = Chance(0x9E37_79B9_7F4A_7C15 ^ seed);
        let ranks: Vec<Blocks> = (0..3)
            .map(|r| busy(r, 3, 1 + r as usize, 2, &mut chance))
            .collect();
        for call_ids in [CallIdDisplay::Files, CallIdDisplay::All] {
            let options = MergeOptions {
                call_ids,
                recover: true,
                ..MergeOptions::default()
            };
            // The merge checks that times never go back.
            let merged = merge_with(&ranks, options);
            assert_eq!(merged.notes.unknown_calls, 0);
            let (_, states, _) = merged.drawables();
            assert_eq!(states.len(), 3 * 2 * functions);
            assert!(states.iter().all(|s| s.2 <= s.3));
        }
    }
}

#[test]
fn damage_does_no_harm() {
    let mut chance = Chance(77);
    let table = wrappers::table().expect("the table parses");
    let whole: Vec<Vec<u8>> = (0..2)
        .map(|r| busy(r, 2, 2, 1, &mut chance).bytes())
        .collect();
    let len = whole[0].len();
    let inside = prop_oneof![BLOCK_SIZE..len, BLOCK_SIZE..BLOCK_SIZE + 4096];
    let body = prop::collection::vec((inside, any::<u8>()), 1..40);
    let header = prop::collection::vec((0..64usize, any::<u8>()), 1..3);
    let damage = prop_oneof![8 => body, 1 => header];
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(60)
    });
    let run = |changes: &[(usize, u8)]| {
        let mut bytes = whole.clone();
        for &(at, value) in changes {
            bytes[0][at] = value;
        }
        let files: Vec<BlockFile<'_>> = bytes
            .iter()
            .filter_map(|b| BlockFile::new(b).ok())
            .collect();
        let options = MergeOptions {
            recover: true,
            ..MergeOptions::default()
        };
        let Ok(merge) = Merge::new(&files, table, options) else {
            return;
        };
        // Definitions of the program's functions, which damage can make up, stand before time zero.
        let mut last = f64::NEG_INFINITY;
        let done: Result<_, ()> = merge.run(|record| {
            assert!(record.header.time >= last);
            last = record.header.time;
            Ok(())
        });
        assert!(done.is_ok());
    };
    runner
        .run(&damage, |changes| {
            run(&changes);
            Ok(())
        })
        .expect("no panic");
}
