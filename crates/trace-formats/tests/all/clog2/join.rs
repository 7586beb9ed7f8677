//! clog2_join and clog2_repair: several files as one, files completed, and copies of files of either byte order.

use crate::clog2::common::*;
use proptest::prelude::*;
use std::io::Cursor;
use test_support::golden;
use trace_formats::clog2::*;

fn joined(files: &[&[u8]]) -> (Vec<u8>, Joined) {
    let readers: Vec<Clog2Reader<'_>> = files
        .iter()
        .map(|file| Clog2Reader::new(file).unwrap())
        .collect();
    let preamble = joined_preamble(&readers);
    let writer = Clog2Writer::new(Cursor::new(Vec::new()), &preamble).unwrap();
    let (out, joined) = join(&readers, writer).unwrap();
    (out.into_inner(), joined)
}

fn repaired(file: &[u8]) -> Result<(Vec<u8>, Repair), Clog2Error> {
    let reader = Clog2Reader::new(file)?;
    let writer = Clog2Writer::new(Cursor::new(Vec::new()), reader.preamble())?;
    let (out, repair) = repair(&reader, writer)?;
    Ok((out.into_inner(), repair))
}

/// The local file of a rank in a byte order, as it is in the middle of a run or after it.
fn local(endian: Endian, rank: i32, shift: f64) -> Vec<u8> {
    let gid = |number: i32| Gid::new(number, 2.5, b"node");
    let preamble = Preamble {
        endian,
        is_finalized: false,
        block_size: 256,
        max_comm_world_size: 2,
        ..Preamble::default()
    };
    let file = Cursor::new(Vec::new());
    let mut writer = Clog2Writer::new(file, &preamble)
        .unwrap()
        .with_layout(Clog2Layout::AsGiven, &preamble);
    let header = |time| Clog2RecordHeader {
        time,
        icomm: 0,
        rank,
        thread: 0,
    };
    let comm = |etype, icomm, rank, gid| {
        Clog2Body::Comm(Clog2CommEvent {
            etype,
            icomm,
            rank,
            wrank: rank,
            gid,
        })
    };
    let message = |etype| {
        Clog2Body::Msg(Clog2Msg {
            etype,
            icomm: UNKNOWN_LID,
            rank: 1 - rank,
            tag: 9,
            size: 4,
        })
    };
    let mut records = vec![
        (0.0, Clog2Body::TimeShift { shift }),
        (0.0, comm(comm_etype::WORLD_CREATE, 0, rank, gid(7))),
        (0.0, comm(comm_etype::SELF_CREATE, 1, 0, gid(8 + rank))),
        (0.0, Clog2Body::EndBlock),
    ];
    for step in 0..3 {
        let time = 1.0 + f64::from(step);
        records.push((time, Clog2Body::Bare { etype: 48 }));
        let etype = if rank == 0 {
            msg_etype::SEND
        } else {
            msg_etype::RECV
        };
        records.push((time + 0.25, message(etype)));
        records.push((time + 0.5, Clog2Body::Bare { etype: 49 }));
        records.push((time + 0.5, Clog2Body::EndBlock));
    }
    *records.last_mut().unwrap() = (1e8, Clog2Body::EndLog);
    for (time, body) in records {
        let header = header(time);
        writer.write(&Clog2Record { header, body }).unwrap();
    }
    let mut table = CommTable::default();
    table.push(gid(7), Clog2CommKind::Intra);
    table.push(gid(8 + rank), Clog2CommKind::Intra);
    writer.finish(&table, &preamble).unwrap().into_inner()
}

#[test]
fn joined_files_are_those_of_clog2_join() {
    let file = |name: &str| golden::read(format!("mpe/{name}"));
    let parts = [file("flush_n2.local0.clog2"), file("flush_n2.local1.clog2")];
    let (ours, joined) = joined(&[&parts[0], &parts[1]]);
    assert!(joined.cut_off.is_empty() && joined.without_table.is_empty());
    assert!(ours == file("flush_n2.joined.clog2"), "the bytes differ");
}

#[test]
fn local_files_of_either_byte_order_are_joined_by_time_and_communicator() {
    let expected: Vec<(f64, i32, i32, i32)> = vec![(0.5, 0, 1, 11), (0.5, 0, 1, 9), (0.5, 0, 1, 9)];
    for endians in [
        [Endian::Big, Endian::Little],
        [Endian::Little, Endian::Little],
    ] {
        let files = [local(endians[0], 0, 1.0), local(endians[1], 1, 0.5)];
        let (out, joined) = joined(&[&files[0], &files[1]]);
        assert_eq!(joined.records, 24);
        let reader = Clog2Reader::new(&out).unwrap();
        let table = reader.comm_table().unwrap();
        assert_eq!(table.0.len(), 3);
        let records: Vec<Clog2Record> = reader.records().map(Result::unwrap).collect();
        let first: Vec<_> = records[..3]
            .iter()
            .map(|r| {
                (
                    r.header.time,
                    r.header.icomm,
                    r.header.rank,
                    r.body.rectype(),
                )
            })
            .collect();
        assert_eq!(first, expected);
        assert!(records.is_sorted_by(|a, b| a.header.time <= b.header.time));
        assert_eq!(records[0].body, Clog2Body::TimeShift { shift: -0.5 });
        for record in &records {
            if let Clog2Body::Msg(msg) = record.body {
                assert_eq!(msg.icomm, 0, "the partner's communicator is the world");
            }
            if let Clog2Body::Comm(event) = record.body {
                assert_eq!(table.get(event.icomm).unwrap().gid, event.gid);
            }
        }
    }
}

/// Every byte of every file, whatever its byte order, flavour and block size.
#[test]
fn sound_files_are_copied_to_the_byte() {
    let mut files = golden_files();
    files.push(("big".into(), local(Endian::Big, 0, 1.0)));
    files.push(("little".into(), local(Endian::Little, 1, 0.0)));
    let (preamble, records, table) = small_log();
    files.push(("small".into(), written(&preamble, &records, &table)));
    for (name, file) in files {
        let (copy, repair) = repaired(&file).unwrap();
        assert!(repair.was_sound(), "{name}: {repair:?}");
        assert!(copy == file, "{name}: the copy differs");
    }
}

/// A crash leaves whole blocks and no table; a full disk leaves less.
#[test]
fn files_cut_off_anywhere_are_completed_with_every_whole_record() {
    for whole in [local(Endian::Little, 1, 0.0), local(Endian::Big, 0, 0.0)] {
        let reader = Clog2Reader::new(&whole).unwrap();
        let ends: Vec<(u64, Clog2Record)> = reader.raw_records().map(Result::unwrap).collect();
        let table_at = reader.preamble().comm_table_offset as usize;
        let mut cut = whole.clone();
        let unfinished = Preamble {
            comm_table_offset: 0,
            ..reader.preamble().clone()
        };
        cut[..PREAMBLE_SIZE].copy_from_slice(&unfinished.encode());
        for length in PREAMBLE_SIZE..whole.len() {
            let whole_records = |(offset, record): &&(u64, Clog2Record)| {
                record.size() > HEADER_SIZE && *offset as usize + record.size() <= length
            };
            let expected: Vec<&(u64, Clog2Record)> = ends.iter().filter(whole_records).collect();
            let result = repaired(&cut[..length]);
            if expected.is_empty() {
                assert!(matches!(result.unwrap_err().kind, Clog2ErrorKind::NoEndLog));
                continue;
            }
            let (out, repair) = result.unwrap();
            assert_eq!(repair.records + repair.records_lost, expected.len() as u64);
            assert!(!repair.was_sound());
            // The end mark of the last block is there, but what is behind it may not be.
            let ended = ends.last().unwrap().0 as usize + HEADER_SIZE <= length;
            assert_eq!(repair.had_no_end, !ended, "{length} of {table_at}");
            let again = Clog2Reader::new(&out).unwrap();
            let records: Vec<Clog2Record> = again.records().map(Result::unwrap).collect();
            assert_eq!(records.len() as u64, repair.records);
            for (a, (_, b)) in records.iter().zip(&expected) {
                assert_eq!(a, b);
            }
            let comms = records
                .iter()
                .filter(|r| r.body.rectype() == rectype::COMMEVT)
                .count();
            assert_eq!(again.comm_table().unwrap().0.len(), comms);
            assert!(repaired(&out).unwrap().1.was_sound());
        }
    }
}

#[test]
fn damage_in_one_block_leaves_the_others() {
    let mut file = local(Endian::Little, 0, 0.0);
    // The type of the second block's first record.
    let at = PREAMBLE_SIZE + 256 + 20;
    file[at..at + 4].copy_from_slice(&77i32.to_le_bytes());
    let (out, repair) = repaired(&file).unwrap();
    assert_eq!(
        (repair.records, repair.damages, repair.bytes_lost),
        (9, 1, 236)
    );
    assert!(!repair.had_no_end && !repair.had_no_table);
    let kinds = &repair.damage[0];
    assert!(
        matches!(kinds.kind, Clog2ErrorKind::RecordType(77)),
        "{kinds}"
    );
    let reader = Clog2Reader::new(&out).unwrap();
    assert_eq!(reader.records().filter(|r| r.is_ok()).count(), 9);
}

#[test]
fn intercommunicators_get_their_kinds_back() {
    let (preamble, records, table) = small_log();
    let mut file = written(&preamble, &records, &table);
    let unfinished = Preamble {
        comm_table_offset: 0,
        ..preamble
    };
    let table_at = file.len() - table.encoded_size();
    file.truncate(table_at);
    file[..PREAMBLE_SIZE].copy_from_slice(&unfinished.encode());
    let (out, repair) = repaired(&file).unwrap();
    assert!(repair.had_no_table && !repair.had_no_end);
    let found = Clog2Reader::new(&out).unwrap().comm_table().unwrap();
    // Entry 3 repeats entry 0, and no record tells of it; of entry 5 neither.
    for index in [0, 1, 2, 4] {
        assert_eq!(found.get(index), table.get(index), "{index}");
    }
}

proptest! {
    #[test]
    fn damaged_files_never_panic(
        at in proptest::collection::vec((0usize..2000, any::<u8>()), 0..6),
        length in 0usize..2400,
    ) {
        let sound = local(Endian::Big, 1, 0.0);
        let mut file = local(Endian::Little, 0, 0.0);
        for (at, to) in at {
            let length = file.len();
            file[at % length] = to;
        }
        file.truncate(length);
        let Ok(reader) = Clog2Reader::new(&file) else { return Ok(()) };
        if reader.preamble().block_size > 1 << 20 {
            return Ok(());
        }
        let _ = repaired(&file);
        let (out, _) = joined(&[&sound, &file]);
        prop_assert!(Clog2Reader::new(&out).unwrap().records().all(|r| r.is_ok()));
    }
}
