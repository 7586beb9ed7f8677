//! Definitions of files: descriptors, views, extents on a device.

use crate::args::ByteCursor;
use crate::payload::{put_text, put_u32, put_u64, text};
use crate::runs::EvenRun;

/// The file that a descriptor stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenFileDefinition {
    /// Descriptor; -1 in the file of a process that is no rank.
    pub fd: i32,
    /// Flags of open(2).
    pub flags: i32,
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Absolute name when the file was opened.
    pub path: String,
}

impl OpenFileDefinition {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u32(out, self.fd as u32);
        put_u32(out, self.flags as u32);
        put_u64(out, self.device);
        put_u64(out, self.inode);
        put_text(out, &self.path);
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<OpenFileDefinition> {
        Some(OpenFileDefinition {
            fd: b.i32()?,
            flags: b.i32()?,
            device: b.u64()?,
            inode: b.u64()?,
            path: text(b)?,
        })
    }
}

/// A view of a file: which of its bytes an MPI_File sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileView {
    /// Raw handle of the MPI_File.
    pub file: u64,
    /// Displacement, bytes.
    pub displacement: i64,
    /// Size of an etype, bytes.
    pub etype: u64,
    /// Extent of the filetype, bytes: distance to its next copy.
    pub extent: i64,
    /// Bytes of data in a filetype.
    pub size: u64,
    /// Whether `runs` has one piece in place of all pieces. Only the first and the last byte of that piece are certain.
    pub bounding_extent: bool,
    /// Whether data are converted (`external32` and the like), so that the bytes in the file are not the bytes in memory.
    pub converted: bool,
    /// Pieces of the filetype, from the displacement on, in the order of the type map, neighbours joined.
    pub runs: Vec<EvenRun>,
}

impl FileView {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.file);
        put_u64(out, self.displacement as u64);
        put_u64(out, self.etype);
        put_u64(out, self.extent as u64);
        put_u64(out, self.size);
        put_u32(
            out,
            u32::from(self.bounding_extent) | u32::from(self.converted) << 1,
        );
        put_u32(out, self.runs.len() as u32);
        for run in &self.runs {
            put_u64(out, run.offset as u64);
            put_u64(out, run.length);
            put_u64(out, run.count);
            put_u64(out, run.stride as u64);
        }
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<FileView> {
        let mut view = FileView {
            file: b.u64()?,
            displacement: b.i64()?,
            etype: b.u64()?,
            extent: b.i64()?,
            size: b.u64()?,
            ..FileView::default()
        };
        let flags = b.u32()?;
        (view.bounding_extent, view.converted) = (flags & 1 != 0, flags & 2 != 0);
        // The count is not trusted: no room is made before the runs have been read.
        for _ in 0..b.u32()? {
            view.runs.push(EvenRun {
                offset: b.i64()?,
                length: b.u64()?,
                count: b.u64()?,
                stride: b.i64()?,
            });
        }
        Some(view)
    }
}

/// Positions of the parts of a file on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// `st_dev` of the file system.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Name.
    pub path: String,
    /// Offset in the file, offset on the device, length, all in bytes.
    pub extents: Vec<(u64, u64, u64)>,
}

impl Extents {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_u64(out, self.device);
        put_u64(out, self.inode);
        put_text(out, &self.path);
        put_u32(out, self.extents.len() as u32);
        for &(file, device, length) in &self.extents {
            for v in [file, device, length] {
                put_u64(out, v);
            }
        }
    }

    pub(super) fn decode(b: &mut ByteCursor<'_>) -> Option<Extents> {
        let mut file = Extents {
            device: b.u64()?,
            inode: b.u64()?,
            path: text(b)?,
            extents: Vec::new(),
        };
        for _ in 0..b.u32()? {
            file.extents.push((b.u64()?, b.u64()?, b.u64()?));
        }
        Some(file)
    }
}
