//! A file of the browser, read piece by piece: a page in a worker reads a slice of it while the caller waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use viewer_core::PositionedRead;

/// Bytes that are read at once if fewer are wanted: nodes that follow each other are mostly wanted one after the other.
const READ_AHEAD_BYTES: u64 = 256 << 10;

/// A file that the page has chosen. Bytes that were read are held until the instance goes.
#[derive(Debug)]
pub struct BrowserFile {
    size: u64,
    pieces: Mutex<HeldPieces>,
}

/// Pieces by their offset.
#[derive(Debug, Default)]
struct HeldPieces {
    by_offset: BTreeMap<u64, &'static [u8]>,
    bytes: usize,
}

impl BrowserFile {
    /// A file of so many bytes.
    pub fn new(size: u64) -> Self {
        BrowserFile {
            size,
            pieces: Mutex::default(),
        }
    }

    /// Bytes of the file that are held in memory.
    pub fn held_bytes(&self) -> usize {
        let pieces = self.pieces.lock();
        pieces.unwrap_or_else(PoisonError::into_inner).bytes
    }
}

impl HeldPieces {
    /// The wanted bytes, if one of the pieces has all of them.
    fn find(&self, offset: u64, size: usize) -> Option<&'static [u8]> {
        let (&start, piece) = self.by_offset.range(..=offset).next_back()?;
        let from = usize::try_from(offset - start).ok()?;
        piece.get(from..from.checked_add(size)?)
    }
}

impl PositionedRead for BrowserFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read(&self, offset: u64, size: usize) -> Option<&[u8]> {
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = pieces.find(offset, size) {
            return Some(found);
        }
        let next = pieces.by_offset.range(offset + 1..).next();
        let end = next.map_or(self.size, |(&start, _)| start.min(self.size));
        let ahead = end.saturating_sub(offset).min(READ_AHEAD_BYTES);
        let length = size.max(usize::try_from(ahead).ok()?);
        let mut piece = Vec::new();
        piece.try_reserve_exact(length).ok()?;
        piece.resize(length, 0);
        if !page_reads(offset, &mut piece) {
            return None;
        }
        let piece: &'static [u8] = Box::leak(piece.into_boxed_slice());
        pieces.bytes += piece.len();
        // One that begins alike and is shorter stays where it is, for whoever has it.
        pieces.by_offset.insert(offset, piece);
        piece.get(..size)
    }
}

/// Lets the page read the bytes from an offset on. False if it cannot.
#[cfg(target_arch = "wasm32")]
fn page_reads(offset: u64, into: &mut [u8]) -> bool {
    // SAFETY: the page writes as many bytes as `into` has, which nobody else looks at meanwhile, and calls nothing here.
    unsafe { page::read_at(offset as f64, into.as_mut_ptr(), into.len()) != 0 }
}

#[cfg(not(target_arch = "wasm32"))]
fn page_reads(_offset: u64, _into: &mut [u8]) -> bool {
    false
}

/// Whether the page wants the answer that is being made no more, because it takes too long.
#[cfg(target_arch = "wasm32")]
pub fn is_late() -> bool {
    // SAFETY: the page looks at its clock and calls nothing here.
    unsafe { page::is_late() != 0 }
}

/// Whether the page wants the answer that is being made no more.
#[cfg(not(target_arch = "wasm32"))]
pub fn is_late() -> bool {
    false
}

#[cfg(target_arch = "wasm32")]
mod page {
    #[link(wasm_import_module = "page")]
    unsafe extern "C" {
        /// Puts bytes of the file into memory. 0 if it cannot.
        pub fn read_at(offset: f64, into: *mut u8, size: usize) -> u32;
        /// 1 if the answer is late.
        pub fn is_late() -> u32;
    }
}
