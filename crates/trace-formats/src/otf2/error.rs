//! What can go wrong with an OTF2 archive that is read or written.

use std::fmt;
use std::io;

use trace_model::Fault;

/// An error of an OTF2 archive that is read or written.
pub type Otf2Error = Fault<Otf2ErrorKind>;

/// Kind of an [`Otf2Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Otf2ErrorKind {
    /// No library of OTF2 could be loaded.
    NoLibrary,
    /// A library of OTF2 was loaded that lacks this function: its version is below 3.0.
    OldLibrary(&'static str),
    /// A function of the library failed.
    Library {
        /// Name of the function.
        function: &'static str,
        /// What the library says of the error.
        message: String,
    },
    /// A part of the archive cannot be read.
    Part {
        /// The file in the folder, and the place in it.
        place: String,
        /// What is wrong there.
        message: String,
    },
    /// A folder or file does not have all the parts of the archive, as this version writes them.
    NoPart,
    /// A part was made of another trace.
    OtherTrace,
    /// The archive has no name, or one that C functions cannot take.
    Name,
    /// The archive could not be created, or not be renamed.
    Io(io::Error),
}

impl fmt::Display for Otf2ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Otf2ErrorKind::NoLibrary => f.write_str(
                "OTF2 archives are read and written by the OTF2 library 3.0 or later, which is not here; install libotf2-trace-dev (Debian, Ubuntu), \
                 or put the folder of libotf2.so into LD_LIBRARY_PATH",
            ),
            Otf2ErrorKind::OldLibrary(lacks) => write!(
                f,
                "the OTF2 library that was found lacks {lacks}: version 3.0 or later is needed"
            ),
            Otf2ErrorKind::Library { function, message } => {
                write!(f, "the OTF2 library says in {function}: {message}")
            }
            Otf2ErrorKind::Part { place, message } => write!(f, "{place}: {message}"),
            Otf2ErrorKind::NoPart => f.write_str(
                "these are not all the parts of this archive, as this version of mpitrace writes them",
            ),
            Otf2ErrorKind::OtherTrace => f.write_str("this part was made of another trace"),
            Otf2ErrorKind::Name => f.write_str("no name for an OTF2 archive, which is a folder"),
            Otf2ErrorKind::Io(error) => error.fmt(f),
        }
    }
}

trace_model::fault_kind!(
    Otf2ErrorKind,
    whole_file: Otf2ErrorKind::NoLibrary
        | Otf2ErrorKind::OldLibrary(_)
        | Otf2ErrorKind::Library { .. }
        | Otf2ErrorKind::Part { .. }
        | Otf2ErrorKind::NoPart
        | Otf2ErrorKind::OtherTrace
        | Otf2ErrorKind::Name
);

impl From<Otf2ErrorKind> for Otf2Error {
    fn from(kind: Otf2ErrorKind) -> Self {
        Fault::new(0, kind)
    }
}
