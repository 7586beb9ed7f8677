//! Errors of SLOG2 files.

use std::fmt;
use std::io;

use trace_model::fault::Fault;
use trace_model::fault_kind;

/// An error in an SLOG2 file: what was expected, at which byte, of which file.
pub type Slog2Error = Fault<Slog2ErrorKind>;

/// The kinds of [`Slog2Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Slog2ErrorKind {
    /// The data end in the middle of something.
    Truncated {
        /// The expected item, according to the format.
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
        /// Name of the things that are counted.
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
        /// Offset at which it should begin.
        offset: i64,
        /// Length that the file gives.
        size: i32,
    },
    /// A part of the file that cannot be read any more.
    Unreadable {
        /// Name of the part.
        what: &'static str,
        /// Length of the part.
        size: i32,
    },
    /// The nodes of the directory overlap: together they are larger than the file.
    Overlap {
        /// Bytes of all nodes.
        nodes: u64,
    },
    /// A level of the directory is not in its place, or does not number its nodes 0, 1, 2 …
    DirectoryOrder {
        /// The level.
        depth: i16,
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
    /// The file is no annotation file: its leaves hold what they should.
    NoAnnotation,
    /// A leaf of an annotation file holds drawables.
    LeafNotEmpty,
    /// The CLOG2 file is not the one that the annotation file was made of.
    OtherClog2 {
        /// Name of the value that differs.
        what: &'static str,
        /// Value in the annotation file.
        expected: u64,
        /// Value in the CLOG2 file.
        found: u64,
    },
    /// The records of a leaf are not in the CLOG2 file.
    LeafRange {
        /// Offset at which they should begin.
        offset: u64,
        /// Length that the records should have, bytes.
        length: u64,
    },
    /// The records of a leaf are more than fit in one, or are those of another leaf, too.
    LeafRecords {
        /// Bytes that they make or take.
        found: u64,
        /// Bytes that they can.
        most: u64,
    },
    /// No record begins at a place that a leaf names.
    LeafPlaces,
    /// A meaning of an event number other than 0 (start), 1 (end) and 2 (event).
    Role(u8),
    /// Reading or writing failed.
    Io(io::Error),
}

impl fmt::Display for Slog2ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slog2ErrorKind::NotSlog2 => {
                write!(f, "not an SLOG2 file: it does not begin with \"SLOG 2\"")
            }
            Slog2ErrorKind::Version { found } => {
                write!(
                    f,
                    "version {found:?}, expected \"SLOG 2.0.6\" or \"SLOG 2.0.5\""
                )
            }
            Slog2ErrorKind::NoDrawables => write!(f, "the log holds no drawable"),
            Slog2ErrorKind::NoAnnotation => write!(
                f,
                "not an annotation file: nothing points to the CLOG2 file it was made of"
            ),
            Slog2ErrorKind::LeafNotEmpty => {
                write!(f, "a leaf with drawables, expected an empty one")
            }
            Slog2ErrorKind::OtherClog2 {
                what,
                expected,
                found,
            } => write!(
                f,
                "not the CLOG2 file that this annotation was made of: its {what} is {found}, expected {expected}"
            ),
            Slog2ErrorKind::LeafRange { offset, length } => write!(
                f,
                "records of a leaf: no {length} bytes at {offset} in the CLOG2 file"
            ),
            Slog2ErrorKind::LeafRecords { found, most } => write!(
                f,
                "records of leaves: {found} bytes, expected {most} at most"
            ),
            Slog2ErrorKind::LeafPlaces => write!(f, "no record begins where this leaf names one"),
            Slog2ErrorKind::Role(found) => {
                write!(f, "meaning of an event number {found}, expected 0 to 2")
            }
            Slog2ErrorKind::Truncated {
                what,
                expected,
                found,
            } => {
                write!(f, "{what}: {expected} bytes expected, {found} left")
            }
            Slog2ErrorKind::Count { what, found } => {
                write!(f, "number of {what} is {found}, expected 0 or more")
            }
            Slog2ErrorKind::Topology(found) => write!(f, "topology {found}, expected 0 to 2"),
            Slog2ErrorKind::DrawableKind(found) => {
                write!(f, "kind of drawable {found}, expected 0 or 1")
            }
            Slog2ErrorKind::Pointer { what, offset, size } => {
                write!(f, "{what}: no {size} bytes at {offset} in this file")
            }
            Slog2ErrorKind::Unreadable { what, size } => {
                write!(
                    f,
                    "{what}: its {size} bytes cannot be read any more; has the file been moved or changed?"
                )
            }
            Slog2ErrorKind::Overlap { nodes } => {
                write!(f, "the nodes take {nodes} bytes, more than the file has")
            }
            Slog2ErrorKind::DirectoryOrder { depth } => {
                write!(
                    f,
                    "tree directory: the nodes of depth {depth} are not in order, \
                     expected depths from the root's down and in each 0, 1, 2 ..."
                )
            }
            Slog2ErrorKind::TrailingBytes { what, left } => {
                write!(f, "{what}: {left} bytes left over at the end")
            }
            Slog2ErrorKind::NoVertices => write!(f, "a drawable without vertices"),
            Slog2ErrorKind::VertexCount { found } => {
                write!(f, "a drawable with {found} vertices, expected 1 or 2")
            }
            Slog2ErrorKind::TooLarge { what, size } => write!(f, "{what}: {size} is too large"),
            Slog2ErrorKind::Io(error) => write!(f, "{error}"),
        }
    }
}

fault_kind!(
    Slog2ErrorKind,
    whole_file: Slog2ErrorKind::NotSlog2
        | Slog2ErrorKind::Version { .. }
        | Slog2ErrorKind::NoDrawables
        | Slog2ErrorKind::NoAnnotation
);
