//! Extents of a file on its device (FIEMAP).

use super::device::{Device, SECTOR};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// FS_IOC_FIEMAP (linux/fs.h).
const FIEMAP: libc::c_ulong = 0xC020_660B;
/// Write the file out first, so that all of it has a place.
const SYNC: u32 = 1;
/// fe_flags: the last extent of the file.
const LAST: u32 = 0x0001;
/// The place is not known, or not decided yet.
const UNKNOWN: u32 = 0x0002 | 0x0004;
/// Flags of extents that do not hold the file's bytes as they are: encoded, encrypted, inline in metadata, packed with other files'.
const OTHER: u32 = 0x0008 | 0x0080 | 0x0200 | 0x0400;
/// Extents that one call asks for.
const EXTENTS_PER_CALL: usize = 512;
/// Most extents that are kept of a file.
const MAX_EXTENTS_PER_FILE: usize = 1 << 20;

/// An extent: offset in the file, offset on the disk, length, all in bytes.
pub type FileExtent = (u64, u64, u64);

/// The extents of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileExtents {
    /// Extents with a place on the disk, by offset in the file, neighbours joined.
    pub known: Vec<FileExtent>,
    /// Bytes that have no place yet.
    pub pending: u64,
    /// Bytes whose place says nothing about transfers (in the inode, encrypted, packed), or beyond what is kept.
    pub unusable: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MappedExtents {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more: [u32; 3],
}

#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [MappedExtents; EXTENTS_PER_CALL],
}

/// Asks for the extents of `file`; with `sync` it is written out before.
///
/// # Errors
/// The error of the file system.
pub fn of(file: &File, device: &Device, sync: bool) -> io::Result<FileExtents> {
    const NONE: MappedExtents = MappedExtents {
        logical: 0,
        physical: 0,
        length: 0,
        reserved: [0; 2],
        flags: 0,
        more: [0; 3],
    };
    let mut all = FileExtents::default();
    let mut start = 0;
    loop {
        let mut map = ExtentMap {
            start,
            length: u64::MAX - start,
            flags: if sync && start == 0 { SYNC } else { 0 },
            mapped: 0,
            count: EXTENTS_PER_CALL as u32,
            reserved: 0,
            extents: [NONE; EXTENTS_PER_CALL],
        };
        // SAFETY: the structure is that of the call (linux/fiemap.h), with room for as many extents as it says.
        if unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &mut map) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let found = map.extents.get(..map.mapped as usize).unwrap_or_default();
        for extent in found {
            all.add(extent, device.start * SECTOR);
        }
        match found.last() {
            Some(last) if last.flags & LAST == 0 && last.logical + last.length > start => {
                start = last.logical + last.length;
            }
            _ => return Ok(all),
        }
    }
}

impl FileExtents {
    fn add(&mut self, extent: &MappedExtents, device: u64) {
        if extent.flags & OTHER != 0 {
            self.unusable += extent.length;
            return;
        }
        if extent.flags & UNKNOWN != 0 {
            self.pending += extent.length;
            return;
        }
        let place = extent.physical.saturating_add(device);
        if let Some((logical, physical, length)) = self.known.last_mut()
            && *logical + *length == extent.logical
            && *physical + *length == place
        {
            *length += extent.length;
            return;
        }
        if self.known.len() >= MAX_EXTENTS_PER_FILE {
            self.unusable += extent.length;
            return;
        }
        self.known.push((extent.logical, place, extent.length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(size_of::<MappedExtents>(), 56);
        assert_eq!(std::mem::offset_of!(ExtentMap, extents), 32);
        let mut all = FileExtents::default();
        for (logical, physical, length, flags) in [
            (0, 1 << 20, 4096, 0),
            // Written and not written yet: one place all the same.
            (4096, (1 << 20) + 4096, 8192, 0x800),
            (12288, 0, 4096, 0x6),
            (16384, 1 << 21, 4096, 0),
            (20480, 100, 60, 0x200),
        ] {
            let extent = MappedExtents {
                logical,
                physical,
                length,
                reserved: [0; 2],
                flags,
                more: [0; 3],
            };
            all.add(&extent, 512);
        }
        assert_eq!(
            all,
            FileExtents {
                known: vec![(0, (1 << 20) + 512, 12288), (16384, (1 << 21) + 512, 4096)],
                pending: 4096,
                unusable: 60,
            }
        );
    }
}
