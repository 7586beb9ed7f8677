//! The error type that the formats share: what is wrong with a file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

/// An error in a file: what was expected, at which byte, of which file. `K` names the kinds of one format; its text
/// says what was found and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<K> {
    /// The file, when it is known; see [`Fault::in_file`].
    pub path: Option<PathBuf>,
    /// Byte offset from the start of the file (or of the buffer that was decoded).
    pub offset: u64,
    /// Kind of the fault.
    pub kind: K,
}

/// A kind of error.
pub trait FaultKind: fmt::Display + fmt::Debug {
    /// False for errors about a file as a whole, of which no offset is shown.
    fn has_place(&self) -> bool {
        true
    }

    /// The error beneath, if there is one.
    fn beneath(&self) -> Option<&(dyn std::error::Error + 'static)> {
        None
    }
}

impl<K> Fault<K> {
    /// An error at this byte.
    pub fn new(offset: u64, kind: K) -> Self {
        Fault {
            path: None,
            offset,
            kind,
        }
    }

    /// A failure of the system at this byte.
    pub fn io(offset: u64, error: std::io::Error) -> Self
    where
        K: From<std::io::Error>,
    {
        Fault::new(offset, error.into())
    }

    /// This error, `base` bytes further on: for an error in a part of a file.
    #[must_use]
    pub fn moved(mut self, base: u64) -> Self {
        self.offset = self.offset.saturating_add(base);
        self
    }

    /// This error with the name of the file it is about.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.path = Some(path.as_ref().to_path_buf());
        self
    }
}

impl<K: FaultKind> fmt::Display for Fault<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        // A failure of the system at the start is one to open or to make the file.
        let is_to_open = self.offset == 0 && self.kind.beneath().is_some();
        if self.kind.has_place() && !is_to_open {
            write!(f, "byte {}: ", self.offset)?;
        }
        fmt::Display::fmt(&self.kind, f)
    }
}

impl<K: FaultKind> std::error::Error for Fault<K> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.beneath()
    }
}

/// The text of the kinds `Truncated`.
pub fn ends_in(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    expected: impl fmt::Display,
    found: impl fmt::Display,
) -> fmt::Result {
    write!(
        f,
        "the file ends in a {what}: {expected} bytes expected, {found} left"
    )
}

/// Makes a type with an arm `Io` a [`FaultKind`]: failures of the system become that arm and are the error beneath. Behind
/// `whole_file:` stand the arms that are about a file as a whole.
#[macro_export]
macro_rules! fault_kind {
    ($kind:ident $(, whole_file: $whole:pat)?) => {
        impl $crate::FaultKind for $kind {
            $(
                fn has_place(&self) -> bool {
                    !matches!(self, $whole)
                }
            )?

            fn beneath(&self) -> Option<&(dyn std::error::Error + 'static)> {
                match self {
                    $kind::Io(error) => Some(error),
                    _ => None,
                }
            }
        }

        impl From<std::io::Error> for $kind {
            fn from(error: std::io::Error) -> Self {
                $kind::Io(error)
            }
        }
    };
}
