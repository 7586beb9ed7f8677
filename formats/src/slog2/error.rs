//! What can be wrong with an SLOG2 file, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error in an SLOG2 file: what was expected, at which byte, of which file.
#[derive(Debug)]
pub struct Error {
    /// The file, when it is known; see [`Error::in_file`].
    pub path: Option<PathBuf>,
    /// Byte offset from the start of the file.
    pub offset: u64,
    /// What is wrong there.
    pub kind: ErrorKind,
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data end in the middle of something.
    Truncated {
        /// What stands there according to the format.
        what: &'static str,
        /// Bytes it takes, at least.
        expected: u64,
        /// Bytes that are left.
        found: u64,
    },
    /// The file does not begin with `SLOG 2`.
    NotSlog2,
    /// The file is of a version whose layout is not known.
    Version {
        /// The version string.
        found: String,
    },
    /// A count is negative.
    Count {
        /// What is counted.
        what: &'static str,
        /// The number found.
        found: i32,
    },
    /// A topology outside 0 … 2.
    Topology(i32),
    /// A kind of drawable other than 0 (primitive) and 1 (composite).
    DrawableKind(u8),
    /// A pointer to a part that the file does not hold.
    Pointer {
        /// Name of the part.
        what: &'static str,
        /// Where it should begin.
        offset: i64,
        /// How long it should be.
        size: i32,
    },
    /// The nodes of the directory overlap: together they are larger than the file.
    Overlap {
        /// Bytes of all nodes.
        nodes: u64,
    },
    /// A part is shorter than the size in its pointer.
    TrailingBytes {
        /// Name of the part.
        what: &'static str,
        /// Bytes left over.
        left: u64,
    },
    /// A drawable has no vertices, so it has no place in time.
    NoVertices,
    /// A drawable to write has more or fewer vertices than its topology asks for.
    VertexCount {
        /// Vertices it has.
        found: usize,
    },
    /// Something to write is too large for the field that holds its size.
    TooLarge {
        /// Name of the field.
        what: &'static str,
        /// The size.
        size: u64,
    },
    /// There is no drawable in the log, so there is nothing to write.
    NoDrawables,
    /// Reading or writing failed.
    Io(io::Error),
}

impl Error {
    pub(crate) fn new(offset: u64, kind: ErrorKind) -> Self {
        Error {
            path: None,
            offset,
            kind,
        }
    }

    pub(crate) fn io(offset: u64, error: io::Error) -> Self {
        Error::new(offset, ErrorKind::Io(error))
    }

    /// The same error with the name of the file it is about.
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.path = Some(path.as_ref().to_path_buf());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        match &self.kind {
            ErrorKind::NotSlog2 => {
                return write!(f, "not an SLOG2 file: it does not begin with \"SLOG 2\"");
            }
            ErrorKind::Version { found } => {
                return write!(
                    f,
                    "version {found:?}, expected \"SLOG 2.0.6\" or \"SLOG 2.0.5\""
                );
            }
            ErrorKind::NoDrawables => return write!(f, "the log holds no drawable"),
            _ => write!(f, "byte {}: ", self.offset)?,
        }
        match &self.kind {
            ErrorKind::Truncated {
                what,
                expected,
                found,
            } => {
                write!(f, "{what}: {expected} bytes expected, {found} left")
            }
            ErrorKind::Count { what, found } => {
                write!(f, "number of {what} is {found}, expected 0 or more")
            }
            ErrorKind::Topology(found) => write!(f, "topology {found}, expected 0 to 2"),
            ErrorKind::DrawableKind(found) => {
                write!(f, "kind of drawable {found}, expected 0 or 1")
            }
            ErrorKind::Pointer { what, offset, size } => {
                write!(f, "{what}: no {size} bytes at {offset} in this file")
            }
            ErrorKind::Overlap { nodes } => {
                write!(f, "the nodes take {nodes} bytes, more than the file has")
            }
            ErrorKind::TrailingBytes { what, left } => {
                write!(f, "{what}: {left} bytes left over at the end")
            }
            ErrorKind::NoVertices => write!(f, "a drawable without vertices"),
            ErrorKind::VertexCount { found } => {
                write!(f, "a drawable with {found} vertices, expected 1 or 2")
            }
            ErrorKind::TooLarge { what, size } => write!(f, "{what}: {size} is too large"),
            ErrorKind::Io(error) => write!(f, "{error}"),
            ErrorKind::NotSlog2 | ErrorKind::Version { .. } | ErrorKind::NoDrawables => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}
