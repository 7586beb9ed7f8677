//! Definitions come back as they were written, and a cut payload is damage.

use super::*;
use crate::runs::EvenRun;

#[test]
fn communicators_round_trip() {
    let comm = Definition::Comm(CommDefinition {
        handle: 0x8400_0001,
        parent: 0x4400_0000,
        kind: CommDefinitionKind::Inter,
        origin: CommCreation::Members,
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
fn neighbours_and_groups_round_trip() {
    let neighbours = Definition::Neighbours(Neighbours {
        comm: 0x8400_0001,
        sources: vec![1, 3, 4, 12],
    });
    for definition in [neighbours, Definition::Group(vec![7, 8, 9, -1])] {
        let (number, bytes) = (definition.number(), definition.encode());
        assert_eq!(Definition::decode(number, &bytes), Some(definition));
        for cut in 0..bytes.len() {
            assert_eq!(Definition::decode(number, &bytes[..cut]), None);
        }
    }
}

#[test]
fn files_round_trip() {
    for definition in [
        Definition::File(OpenFileDefinition {
            fd: 7,
            flags: 2,
            device: 1,
            inode: u64::MAX,
            path: "/a b/ü".to_owned(),
        }),
        Definition::View(FileView {
            file: 5,
            displacement: 100,
            etype: 8,
            extent: 4096,
            size: 48,
            bounding_extent: true,
            converted: false,
            runs: vec![
                EvenRun::piece(-8, 16),
                EvenRun {
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
        Definition::Server(ServerDefinition {
            role: ServerKind::DataServer,
            number: 2,
            name: "store".to_owned(),
        }),
        Definition::Messages {
            least: 1,
            most: u64::MAX,
        },
        Definition::Skipped(SkippedPolls {
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
        Definition::Settings("callids all\ndetails no\n".to_owned()),
        Definition::ThreadEnd,
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
