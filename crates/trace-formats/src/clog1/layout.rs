//! Layout of the records of a file, recognised from its bytes (`spec/clog1.md` sections 6 and 7).

use super::error::{Clog1Error, Clog1ErrorKind};
use super::header::{HeaderInts, peek};
use super::record::{HEADER_SIZE, MAX_RANK, MAX_TIME, rectype};
use crate::clog2::Endian;
use crate::slog2::Color;

/// Layout of the records of a file: block size and form of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clog1Layout {
    /// Bytes of a block: 65536, or 1024 in files of MPICH 1.1.2 and older.
    pub block_size: usize,
    /// Whether RAW and STATEDEF records have four bytes without meaning before their texts, as all but the very oldest
    /// have.
    pub is_padded: bool,
    /// Byte order: big-endian according to the format.
    pub endian: Endian,
}

impl Default for Clog1Layout {
    fn default() -> Self {
        Clog1Layout {
            block_size: LARGE_BLOCK,
            is_padded: true,
            endian: Endian::Big,
        }
    }
}

pub(super) const LARGE_BLOCK: usize = 65536;
pub(super) const SMALL_BLOCK: usize = 1024;

impl Clog1Layout {
    /// Finds out how a file is laid out.
    ///
    /// # Errors
    /// [`Clog1ErrorKind::NotClog1`] if it does not begin with the records of a CLOG-1 file; the offset says how far it does.
    pub fn detect(file: &[u8]) -> Result<Self, Clog1Error> {
        let mut furthest = 0;
        for endian in [Endian::Big, Endian::Little] {
            match first_end(file, endian) {
                Ok(end) => {
                    let block_size = block_size(file, endian, end);
                    return Ok(Clog1Layout {
                        block_size,
                        // The oldest files all have small blocks; elsewhere a pad may be anything, text too.
                        is_padded: block_size == LARGE_BLOCK || is_padded(file, endian),
                        endian,
                    });
                }
                Err(at) => furthest = furthest.max(at),
            }
        }
        Err(Clog1Error::new(furthest as u64, Clog1ErrorKind::NotClog1))
    }
}

/// True if these bytes begin as a CLOG-1 file does: record headers up to the end of the first block (or of the bytes).
pub fn recognises(file: &[u8]) -> bool {
    Clog1Layout::detect(file).is_ok()
}

/// Walks the first block: the place of its end record and its type, if the file does not end before. Or the place of
/// what is no header.
fn first_end(file: &[u8], endian: Endian) -> Result<Option<(usize, i32)>, usize> {
    let block = file.get(..LARGE_BLOCK).unwrap_or(file);
    let mut at = 0;
    loop {
        let Some(header) = peek(&block[at..], endian) else {
            // A cut-off file is one all the same if a header or more of it is left.
            return if at > 0 && file.len() < LARGE_BLOCK {
                Ok(None)
            } else {
                Err(at)
            };
        };
        if !header.is_plausible(MAX_RANK, MAX_TIME) {
            return Err(at);
        }
        if let rectype::ENDBLOCK | rectype::ENDLOG = header.rectype {
            return Ok(Some((at, header.rectype)));
        }
        at = (at + header.size()).min(block.len());
    }
}

fn block_size(file: &[u8], endian: Endian, end: Option<(usize, i32)>) -> usize {
    let Some((at, rectype)) = end else {
        return LARGE_BLOCK;
    };
    if at + HEADER_SIZE > SMALL_BLOCK {
        return LARGE_BLOCK;
    }
    // MPE fills a block before it ends it: an early ENDBLOCK means small blocks unless the bytes say otherwise.
    let is_small = match rectype {
        rectype::ENDBLOCK if file.len() >= LARGE_BLOCK => file
            .get(SMALL_BLOCK..)
            .and_then(|rest| peek(rest, endian))
            .is_some_and(|header| header.is_plausible(MAX_RANK, MAX_TIME)),
        rectype::ENDBLOCK => true,
        _ => file.len() == SMALL_BLOCK,
    };
    if is_small { SMALL_BLOCK } else { LARGE_BLOCK }
}

/// Whether the texts of the first STATEDEF stand behind a pad: there, the colour has a name that is known, or the bytes
/// of the pad are no text.
fn is_padded(file: &[u8], endian: Endian) -> bool {
    let is_color = |bytes: &[u8]| {
        let name = bytes
            .split(|&byte| byte == 0 || byte == b':')
            .next()
            .unwrap_or_default();
        std::str::from_utf8(name).is_ok_and(|name| Color::from_name(name).is_some())
    };
    for block in file.chunks(SMALL_BLOCK) {
        let mut at = 0;
        while let Some(header) = peek(&block[at..], endian) {
            if !header.is_plausible(MAX_RANK, f64::INFINITY)
                || matches!(header.rectype, rectype::ENDBLOCK | rectype::ENDLOG)
            {
                break;
            }
            let body = &block[at + HEADER_SIZE..];
            if header.rectype == rectype::STATEDEF && body.get_int(0, endian).is_some() {
                let (Some(padded), Some(early)) = (body.get(16..40), body.get(12..36)) else {
                    return true;
                };
                return is_color(padded) || !(is_color(early) || early[0].is_ascii_alphabetic());
            }
            at = (at + header.size()).min(block.len());
        }
    }
    true
}
