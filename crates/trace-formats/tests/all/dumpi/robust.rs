//! Damaged files: errors, never a panic, an endless loop or memory beyond what the file itself could fill.

use crate::allocator;
use proptest::prelude::*;
use trace_formats::dumpi::print::{PrintError, Sections, Zone, print};
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::{DumpiError, DumpiErrorKind};

/// A program may print as it goes; the text of one record is all that has to be in memory.
const MAX_BYTES: usize = 1 << 18;

/// Reads everything there is, in every way there is, and gives the number of calls.
fn use_up(reader: &DumpiReader<'_>) -> Result<usize, DumpiError> {
    let trailer = reader.trailer();
    let printed = print(reader, Sections::ALL, Zone::Utc, &mut std::io::sink());
    let mut calls = 0;
    let mut damage = None;
    for record in reader.records() {
        match record {
            Ok(record) => {
                calls += 1;
                let fields = record.function.fields().len();
                assert_eq!(
                    record.args().count(),
                    fields,
                    "a record that was measured has all its arguments"
                );
                assert!(!format!("{record:?}").is_empty());
            }
            Err(e) => damage = Some(e),
        }
    }
    match (damage, printed) {
        (Some(e), printed) => {
            assert!(
                matches!(printed, Err(PrintError::Input(_))),
                "the text ends with an error too"
            );
            Err(e)
        }
        (None, Err(PrintError::Input(e))) => Err(e),
        (None, _) => trailer.map(|_| calls),
    }
}

/// `open` and `salvage`, each with what it leads to.
fn read_both(bytes: &[u8]) -> [Result<usize, DumpiError>; 2] {
    let (results, largest) = allocator::largest(|| {
        [DumpiReader::open(bytes), DumpiReader::salvage(bytes)]
            .map(|reader| reader.and_then(|r| use_up(&r)))
    });
    assert!(
        largest <= MAX_BYTES,
        "{largest} bytes at once for a file of {}",
        bytes.len()
    );
    results
}

#[test]
fn every_truncation() {
    let whole = crate::dumpi::common::small().expect("a vector takes everything");
    assert_eq!(read_both(&whole), [Ok(5), Ok(5)]);
    let stream_end = DumpiReader::open(&whole)
        .expect("our own file")
        .index()
        .header as usize;
    let mut most = 0;
    for len in 0..whole.len() {
        let [opened, salvaged] = read_both(&whole[..len]);
        let e = opened.expect_err("no index");
        assert!(
            matches!(e.kind, DumpiErrorKind::NoMagic | DumpiErrorKind::NoIndex),
            "{len}: {e}"
        );
        if len >= stream_end {
            assert_eq!(salvaged, Ok(5), "{len} bytes hold all calls");
        } else {
            let e = salvaged.expect_err("the stream is cut");
            assert!(e.offset as usize <= len, "{len}: {e}");
        }
        if let Ok(reader) = DumpiReader::salvage(&whole[..len]) {
            let calls = reader.records().filter(|r| r.is_ok()).count();
            assert!(calls >= most, "more bytes, not fewer calls");
            most = calls;
        }
    }
    assert_eq!(most, 5);
}

/// Each byte becomes each of some values; the file is 2.8 KB, most of it footer.
#[test]
fn every_byte_changed() {
    let whole = crate::dumpi::common::small().expect("a vector takes everything");
    for at in 0..whole.len() {
        for value in [0, 0xff, whole[at] ^ 0x40] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            // It only matters that this returns; a changed tag is not an error.
            _ = read_both(&damaged);
        }
    }
}

#[test]
fn false_counts_do_not_allocate() {
    let whole = crate::dumpi::common::every_kind().expect("a vector takes everything");
    for at in 0..whole.len().saturating_sub(4) {
        let mut damaged = whole.clone();
        damaged[at..at + 4].copy_from_slice(&0x1000_0000u32.to_be_bytes());
        _ = read_both(&damaged);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn many_bytes_changed(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40)) {
        let mut damaged = crate::dumpi::common::every_kind().expect("a vector takes everything");
        for (at, value) in changes {
            let at = at.index(damaged.len());
            damaged[at] = value;
        }
        _ = read_both(&damaged);
    }

    #[test]
    fn noise_behind_the_magic(noise in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let mut bytes = b"\xff\xaa\xddDUMPI".to_vec();
        bytes.extend_from_slice(&noise);
        _ = read_both(&bytes);
        bytes.extend_from_slice(b"\xff\xaa\xddDUMPI");
        for word in [20u64, 30, 40, 50, 8, 60, 70] {
            bytes.extend_from_slice(&word.to_be_bytes());
        }
        _ = read_both(&bytes);
    }
}
