//! Files that are read piece by piece say the same as files in memory, and touch no more than is wanted.

use super::small_logs::sample;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trace_formats::slog2::{
    Depth, PositionedRead, Slog2Error, Slog2ErrorKind, Slog2Reader, TimeBBox,
};

/// A file whose pieces are counted, and which may go.
#[derive(Debug)]
struct CountedFile {
    bytes: Vec<u8>,
    reads: Mutex<Vec<(u64, usize)>>,
    is_gone: AtomicBool,
}

impl CountedFile {
    fn new(bytes: Vec<u8>) -> Self {
        CountedFile {
            bytes,
            reads: Mutex::default(),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Bytes that were read since the last call.
    fn take_read(&self) -> usize {
        let mut reads = self.reads.lock().unwrap();
        reads.drain(..).map(|(_, size)| size).sum()
    }
}

impl PositionedRead for CountedFile {
    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, offset: u64, size: usize) -> Option<&[u8]> {
        if self.is_gone.load(Ordering::Relaxed) {
            return None;
        }
        self.reads.lock().unwrap().push((offset, size));
        self.bytes.get(offset as usize..offset as usize + size)
    }
}

fn listed(reader: &Slog2Reader<'_>, window: TimeBBox) -> Result<Vec<String>, Slog2Error> {
    let found = reader.window(window, Depth::Lowest(0))?;
    let drawables = found.drawables.iter();
    Ok(drawables.map(|drawable| format!("{drawable:?}")).collect())
}

#[test]
fn pieces_say_the_same_and_are_no_more_than_is_wanted() {
    let (bytes, _) = sample(400).convert(512);
    let file = CountedFile::new(bytes.clone());
    let (whole, pieces) = (
        Slog2Reader::new(&bytes).unwrap(),
        Slog2Reader::positioned(&file).unwrap(),
    );
    // As text: a number that is none does not equal itself.
    let categories = |reader: &Slog2Reader<'_>| format!("{:?}", reader.categories());
    assert_eq!(categories(&whole), categories(&pieces));
    assert_eq!(whole.lines(), pieces.lines());
    assert_eq!(whole.root(), pieces.root());
    file.take_read();
    let bounds = whole.root().unwrap().bounds;
    let part = TimeBBox {
        earliest: bounds.earliest + 0.5 * bounds.duration(),
        latest: bounds.earliest + 0.51 * bounds.duration(),
    };
    let found = listed(&pieces, part).unwrap();
    assert!(!found.is_empty());
    assert_eq!(found, listed(&whole, part).unwrap());
    let read = file.take_read();
    assert!(
        read < bytes.len() / 4,
        "{read} of {} bytes for a hundredth",
        bytes.len()
    );
    assert_eq!(
        listed(&pieces, bounds).unwrap(),
        listed(&whole, bounds).unwrap()
    );
}

#[test]
fn a_file_that_goes_is_an_error_that_names_the_part() {
    let (bytes, _) = sample(40).convert(512);
    let file = CountedFile::new(bytes);
    let reader = Slog2Reader::positioned(&file).unwrap();
    file.is_gone.store(true, Ordering::Relaxed);
    let error = reader.node(reader.header().tree_root).unwrap_err();
    assert!(
        matches!(
            error.kind,
            Slog2ErrorKind::Unreadable {
                what: "tree node",
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("cannot be read any more"),
        "{error}"
    );
    let error = Slog2Reader::positioned(&file).unwrap_err();
    assert!(
        matches!(
            error.kind,
            Slog2ErrorKind::Unreadable { what: "header", .. }
        ),
        "{error}"
    );
}

#[test]
fn files_that_are_cut_off_or_no_traces_fail_alike() {
    let (bytes, _) = sample(40).convert(512);
    for length in (0..bytes.len()).step_by(97) {
        let cut = bytes[..length].to_vec();
        let file = CountedFile::new(cut.clone());
        let (expected, found) = (Slog2Reader::new(&cut), Slog2Reader::positioned(&file));
        assert_eq!(
            expected.map(|_| ()).map_err(|e| e.to_string()),
            found.map(|_| ()).map_err(|e| e.to_string()),
            "{length} bytes"
        );
    }
}
