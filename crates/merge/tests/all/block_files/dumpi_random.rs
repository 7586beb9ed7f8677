//! Every function of the table with arguments of chance, and block files with damage: whatever records hold, the DUMPI file
//! must be sound.

use crate::block_files::ranks::blocks::*;
use blockfile::file::BlockFile;
use blockfile::layout::{BLOCK_HEADER, BLOCK_SIZE, Family, FileHeader};
use merge::dumpi::{DumpiOptions, write_to};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::mem::offset_of;
use trace_formats::dumpi::read::DumpiReader;
use wrappers::{Carrier, ElementForm};

/// Numbers without pattern (xorshift).
struct Chance(u64);

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
        match self.below(4) {
            0 => -3 + self.below(4) as i64,
            1 => self.next() as i64,
            _ => self.below(100) as i64,
        }
    }

    fn elem(&mut self, elem: ElementForm) -> V {
        match elem {
            ElementForm::I32 | ElementForm::I64 => V::I(self.int()),
            ElementForm::Handle | ElementForm::Pointer => V::H(self.below(9)),
            ElementForm::Status => V::S(
                (self.below(3) > 0)
                    .then(|| status(self.int() as i32, self.int() as i32, self.next())),
            ),
            ElementForm::Text => V::T([None, Some(""), Some("text")][self.below(3) as usize]),
        }
    }

    fn list(&mut self, elem: ElementForm) -> Vec<V> {
        (0..self.below(5)).map(|_| self.elem(elem)).collect()
    }

    fn value(&mut self, carrier: Carrier) -> V {
        match carrier {
            Carrier::Nothing => V::No,
            Carrier::I32 | Carrier::I64 => V::I(self.int()),
            Carrier::I32InOut | Carrier::I64InOut => V::Io(self.int(), self.int()),
            Carrier::F64 => V::D(self.int() as f64),
            Carrier::Handle | Carrier::Pointer => V::H(self.below(9)),
            Carrier::Status => self.elem(ElementForm::Status),
            Carrier::Text => self.elem(ElementForm::Text),
            Carrier::Array(elem) => V::A((self.below(4) > 0).then(|| self.list(elem))),
            Carrier::ArrayInOut(elem) => V::Aio(self.list(elem), self.list(elem)),
        }
    }
}

#[test]
fn every_function() {
    for family in [Family::Mpich, Family::OpenMpi] {
        let mut chance = Chance(0x1234_5678_9abc_def1);
        let mut b = Blocks::new();
        b.family = family;
        // Communicators among the random handles, this process being rank 0, 1 …
        for raw in 0..6 {
            b.comm(raw, raw as i32 % 3, &[0, 1, 2]);
        }
        let functions: Vec<_> = b.table.functions.iter().map(|f| f.name.clone()).collect();
        for name in &functions {
            for _ in 0..20 {
                let args: Vec<V> = {
                    let params = &b.table.get(name).unwrap().params;
                    params.iter().map(|p| chance.value(p.carrier())).collect()
                };
                b.call(name, &args);
            }
        }
        let bytes = b.bytes();
        let file = BlockFile::new(&bytes).unwrap();
        let (out, summary) =
            write_to(&file, b.table, &DumpiOptions::default(), Vec::new()).unwrap();
        assert_eq!(summary.damaged, 0);
        assert_eq!(
            summary.calls + summary.extensions,
            20 * functions.len() as u64
        );
        let reader = DumpiReader::open(&out).unwrap();
        let mut per_id = vec![0; 293];
        for record in reader.records() {
            let record = record.unwrap();
            per_id[usize::from(record.function.id)] += 1;
            assert_eq!(record.args().count(), record.function.fields().len());
        }
        let written = |id: u16| per_id[usize::from(id)];
        assert_eq!(written(291), summary.extensions);
        assert_eq!(written(292), summary.extensions);
        for f in b.table.functions.iter().filter_map(|f| f.dumpi) {
            assert!(written(f) >= 20, "function id {f}: {}", written(f));
        }
    }
}

/// Calls that receive what they name, and nearly such calls: records of both forms give one DUMPI file, and the short ones are short.
#[test]
fn short_records_say_the_same() {
    for (family, bytes) in [
        (Family::Mpich, [36, 40, 40]),
        (Family::OpenMpi, [40, 44, 44]),
    ] {
        let names = ["MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace"];
        for (name, bytes) in names.into_iter().zip(bytes) {
            let made = [false, true].map(|short| {
                let mut chance = Chance(0x1234_5678_9abc_def1);
                let mut b = Blocks::new();
                b.family = family;
                b.short = short;
                b.comm(5, 1, &[0, 1, 2]);
                let params = &b.table.get(name).unwrap().params;
                let mut least = usize::MAX;
                for nth in 0..200 {
                    let mut args: Vec<V> = params
                        .iter()
                        .map(|p| match p.carrier() {
                            Carrier::Nothing => V::No,
                            Carrier::Handle => V::H(5),
                            Carrier::Status => V::S(Some(status(3, 3, 1 << 20))),
                            _ => V::I(3),
                        })
                        .collect();
                    // The first is as the short form has it, the others have one value of chance, or two.
                    for _ in 0..nth.min(1 + nth % 2) {
                        let at = chance.below(args.len() as u64) as usize;
                        args[at] = chance.value(params[at].carrier());
                    }
                    let from = b.threads[0].len();
                    b.call(name, &args);
                    least = least.min(b.threads[0].len() - from);
                }
                let bytes = b.bytes();
                let file = BlockFile::new(&bytes).unwrap();
                let options = DumpiOptions::default();
                let (out, summary) = write_to(&file, b.table, &options, Vec::new()).unwrap();
                assert_eq!(summary.damaged, 0, "{name}");
                (out, least)
            });
            let [(full, longer), (short, least)] = made;
            assert_eq!(least, bytes, "{name}, {family:?}");
            assert!(longer > least, "{name}, {family:?}");
            assert!(full == short, "{name}, {family:?}");
        }
    }
}

/// Files of the versions before are read; of versions that are not known it is said which are.
#[test]
fn versions_of_block_files() {
    let mut b = Blocks::new();
    b.short = false;
    b.call("MPI_Barrier", &[V::H(WORLD)]);
    let mut bytes = b.bytes();
    let mut read = |version: u32| {
        let at = offset_of!(FileHeader, version);
        bytes[at..at + 4].copy_from_slice(&version.to_ne_bytes());
        BlockFile::new(&bytes)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    for version in 1..=3 {
        assert_eq!(read(version), Ok(()));
    }
    for version in [0, 4] {
        let refusal = read(version).unwrap_err();
        let told = format!("version {version}, this program reads 1 to 3");
        assert!(refusal.contains(&told), "{refusal}");
    }
}

/// Damage anywhere in the blocks: no panic, and what is written can be read.
#[test]
fn damage() {
    let mut chance = Chance(77);
    let mut b = Blocks::new();
    for name in [
        "MPI_Waitall",
        "MPI_Alltoallw",
        "MPI_Comm_spawn_multiple",
        "MPI_Gatherv",
        "MPI_Send_c",
        "MPI_Ibarrier",
    ] {
        for _ in 0..4 {
            let args: Vec<V> = {
                let params = &b.table.get(name).unwrap().params;
                params.iter().map(|p| chance.value(p.carrier())).collect()
            };
            b.call(name, &args);
        }
    }
    let sound = b.bytes();
    let used = b.threads[0].len();
    let place = BLOCK_SIZE + BLOCK_HEADER..BLOCK_SIZE + BLOCK_HEADER + used;
    let damage = prop::collection::vec((place, any::<u8>()), 1..12);
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&damage, |changes| {
            let mut bytes = sound.clone();
            for (at, byte) in changes {
                bytes[at] = byte;
            }
            let file = BlockFile::new(&bytes).expect("the header is whole");
            let (out, _) = write_to(&file, b.table, &DumpiOptions::default(), Vec::new())
                .expect("a Vec takes everything");
            let reader = DumpiReader::open(&out).expect("a sound file");
            for record in reader.records() {
                prop_assert!(record.is_ok());
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn another_table_is_refused() {
    let mut b = Blocks::new();
    b.call("MPI_Barrier", &[V::H(WORLD)]);
    let mut bytes = b.bytes();
    let at = std::mem::offset_of!(blockfile::layout::FileHeader, table);
    bytes[at] ^= 1;
    let file = BlockFile::new(&bytes).unwrap();
    let error = write_to(&file, b.table, &DumpiOptions::default(), Vec::new()).unwrap_err();
    assert!(error.to_string().contains("function table"), "{error}");
}
