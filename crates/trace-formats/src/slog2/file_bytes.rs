//! The bytes of a file as the reader takes them: all at hand, or read piece by piece when they are wanted.

use std::fmt::Debug;

/// A file whose pieces are read when they are wanted, for readers that cannot have all of it in memory.
pub trait PositionedRead: Debug + Send + Sync {
    /// Bytes of the file.
    fn size(&self) -> u64;

    /// The `size` bytes from `offset` on, which are within the file. Bytes that were read stay where they are as long as the file is
    /// borrowed. `None` if they cannot be read any more.
    fn read(&self, offset: u64, size: usize) -> Option<&[u8]>;
}

/// Why a part of a file is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingPart {
    /// The file does not reach so far.
    Outside,
    /// The file cannot be read any more.
    Unreadable,
}

/// The bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileBytes<'a> {
    /// All at hand.
    Memory(&'a [u8]),
    /// Read when they are wanted.
    Positioned(&'a dyn PositionedRead),
}

impl<'a> FileBytes<'a> {
    /// Bytes of the file.
    pub fn size(self) -> u64 {
        match self {
            FileBytes::Memory(file) => file.len() as u64,
            FileBytes::Positioned(file) => file.size(),
        }
    }

    /// The `size` bytes from `offset` on.
    pub fn part(self, offset: i64, size: i32) -> Result<&'a [u8], MissingPart> {
        let range = u64::try_from(offset).ok().zip(usize::try_from(size).ok());
        let (offset, size) = range.ok_or(MissingPart::Outside)?;
        match self {
            FileBytes::Memory(file) => {
                let start = usize::try_from(offset).ok();
                let part = start.and_then(|at| file.get(at..at.checked_add(size)?));
                part.ok_or(MissingPart::Outside)
            }
            FileBytes::Positioned(file) => {
                let end = offset.checked_add(size as u64);
                if end.is_none_or(|end| end > file.size()) {
                    return Err(MissingPart::Outside);
                }
                let part = file.read(offset, size);
                part.filter(|part| part.len() == size)
                    .ok_or(MissingPart::Unreadable)
            }
        }
    }

    /// The first bytes of the file, at most so many.
    pub fn beginning(self, most: usize) -> Result<&'a [u8], MissingPart> {
        match self {
            FileBytes::Memory(file) => Ok(file),
            FileBytes::Positioned(file) => {
                let size = usize::try_from(file.size()).map_or(most, |size| size.min(most));
                file.read(0, size).ok_or(MissingPart::Unreadable)
            }
        }
    }
}
