//! CLOG2 readers on damaged files: never a panic, and what is whole before the damage is read.

use crate::clog2::common::*;
use proptest::prelude::*;
use trace_formats::clog2::*;

#[test]
fn every_truncation_gives_the_records_before_it_and_an_error() {
    let (preamble, records, table) = small_log();
    let file = written(&preamble, &records, &table);
    let whole = Clog2Reader::new(&file).unwrap();
    let ends: Vec<usize> = whole
        .raw_records()
        .map(Result::unwrap)
        .filter(|(_, record)| !matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog))
        .map(|(offset, record)| offset as usize + record.size())
        .collect();
    for length in 0..file.len() {
        let cut = &file[..length];
        let (_, result) = printed(cut);
        let error = result.unwrap_err();
        assert!(error.offset as usize <= file.len(), "{error}");
        assert_eq!(Clog2Reader::new(cut).is_ok(), length >= PREAMBLE_SIZE);
        let Ok(reader) = Clog2Reader::new(cut) else {
            continue;
        };
        let read: Vec<Clog2Record> = reader.records().map_while(Result::ok).collect();
        let expected = ends.iter().filter(|&&end| end <= length).count();
        assert_eq!(read, records[..expected], "cut to {length} bytes");
    }
}

/// Runs everything that reads.
fn read_all(file: &[u8]) {
    let _ = printed(file);
    let _ = java_printed(file);
    if let Ok(reader) = Clog2Reader::new(file) {
        let _ = reader.comm_table();
        let count = reader.raw_records().count();
        assert!(count <= file.len() / HEADER_SIZE + 1);
    }
}

proptest! {
    #[test]
    fn flipped_bytes_do_not_panic(
        changes in prop::collection::vec((0usize..2600, any::<u8>()), 1..12),
        length in 0usize..2600,
    ) {
        let (preamble, records, table) = small_log();
        let mut file = written(&preamble, &records, &table);
        for (at, byte) in changes {
            if let Some(to) = file.get_mut(at) {
                *to = byte;
            }
        }
        read_all(&file);
        read_all(&file[..length.min(file.len())]);
    }

    #[test]
    fn any_preamble_is_read_or_refused(
        block_size in 0u32..600,
        offset in any::<u64>(),
        little in any::<bool>(),
        finalized in any::<bool>(),
        blocks in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        let preamble = Preamble {
            endian: if little { Endian::Little } else { Endian::Big },
            is_finalized: finalized,
            block_size,
            comm_table_offset: offset,
            ..Preamble::default()
        };
        let mut file = preamble.encode().to_vec();
        file.extend(blocks);
        prop_assert_eq!(Preamble::decode(&file).is_ok(), block_size >= 24);
        if let Ok(read) = Preamble::decode(&file) {
            prop_assert_eq!(read, preamble);
        }
        read_all(&file);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..160), rectype in -1i32..13) {
        let mut bytes = bytes;
        if let Some(to) = bytes.get_mut(20..24) {
            to.copy_from_slice(&rectype.to_be_bytes());
        }
        let size = peek_size(&bytes);
        match Clog2Record::decode(&bytes, Endian::Big) {
            Ok(record) => {
                prop_assert_eq!(record.size(), size);
                let mut again = [0; MAX_RECORD_SIZE];
                prop_assert_eq!(record.encode(&mut again), size);
                prop_assert_eq!(record.encode(&mut again[..size - 1]), 0);
            }
            Err(_) => prop_assert_eq!(size, 0),
        }
    }
}
