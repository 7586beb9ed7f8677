//! Reads a file that was cut off or never finished: its nodes follow one another after the header,
//! each with its own place and size, so that they can be found without the directory at the end.

use super::cursor::Slog2Cursor;
use super::error::Slog2Error;
use super::node::{Slog2Node, Stub};
use super::read::read_header;
use super::types::{HEADER_SIZE, Slog2Header, Slog2Layout, VERSION_2_0_5};

/// The beginning of a file.
#[derive(Clone, Debug)]
pub struct Salvage<'a> {
    file: &'a [u8],
    header: Slog2Header,
    at: usize,
}

impl<'a> Salvage<'a> {
    /// Reads the header. That of a file whose writer was stopped has only default values.
    ///
    /// # Errors
    /// If the file ends in its header or is no SLOG2 file.
    pub fn new(file: &'a [u8]) -> Result<Self, Slog2Error> {
        Ok(Salvage {
            file,
            header: read_header(file)?,
            at: HEADER_SIZE,
        })
    }

    /// The header.
    pub fn header(&self) -> &Slog2Header {
        &self.header
    }

    /// Byte offset of the end of the nodes found so far.
    pub fn offset(&self) -> u64 {
        self.at as u64
    }

    fn next_node(&mut self) -> Option<Slog2Node<'a>> {
        let rest = self.file.get(self.at..)?;
        let stub = Stub::read(&mut Slog2Cursor::new(rest, self.at as u64)).ok()?;
        if usize::try_from(stub.ptr.offset).ok()? != self.at {
            return None;
        }
        let size = usize::try_from(stub.ptr.size).ok()?;
        let layout = match self.header.version.to_str().as_ref() {
            VERSION_2_0_5 => Slog2Layout::V205,
            _ => Slog2Layout::V206,
        };
        let mut part = Slog2Cursor::new(rest.get(..size)?, self.at as u64);
        let node = Slog2Node::read(&mut part, layout).ok()?;
        part.finish("tree node").ok()?;
        self.at += size;
        Some(node)
    }
}

/// The nodes that are whole, in the order of the file.
impl<'a> Iterator for Salvage<'a> {
    type Item = Slog2Node<'a>;

    fn next(&mut self) -> Option<Slog2Node<'a>> {
        self.next_node()
    }
}
