//! SLOG2 annotation files: their leaves are in a CLOG2 file beside them. To the commands such a file is what both make
//! together.

use crate::failure::Failure;
use crate::trace_files::input::{OpenedInput, map, shown};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use trace_formats::slog2::{Annotated, ConvertError, Slog2Reader};

impl OpenedInput {
    /// Opens `path`; `-` is stdin. An annotation file is opened with its CLOG2 file, as the SLOG2 file that both make.
    ///
    /// # Errors
    /// When the file, or the CLOG2 file of an annotation file, cannot be read.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        complete(path, OpenedInput::open_raw(path)?)
    }
}

/// Whether this is an annotation file, which stands for more than itself.
pub fn is_annotation(input: &[u8]) -> bool {
    let tree = Slog2Reader::recognises(input).then(|| Slog2Reader::new(input));
    let companion = tree.and_then(|tree| Annotated::companion_of(&tree.ok()?).ok()?);
    companion.is_some()
}

/// The CLOG2 file that this annotation file, at `path`, is read with; none if it is no annotation file or names none.
pub fn companion(path: &Path, input: &[u8]) -> Option<PathBuf> {
    if !Slog2Reader::recognises(input) {
        return None;
    }
    let companion = Annotated::companion_of(&Slog2Reader::new(input).ok()?).ok()??;
    let clog2 = PathBuf::from(companion.name.to_str().as_ref());
    clog2.file_name().map(|name| path.with_file_name(name))
}

/// The full SLOG2 file of an annotation file; any other file is returned as it is.
///
/// That one is made in a temporary file, so memory does not grow with it.
pub fn complete(path: &Path, input: OpenedInput) -> Result<OpenedInput, Failure> {
    if !Slog2Reader::recognises(&input) {
        return Ok(input);
    }
    let name = shown(path);
    // Damage is for the command to find, in its own words.
    let companion = Slog2Reader::new(&input).and_then(|tree| Annotated::companion_of(&tree));
    let Ok(Some(companion)) = companion else {
        return Ok(input);
    };
    let clog2 = PathBuf::from(companion.name.to_str().as_ref());
    let Some(clog2) = clog2.file_name().map(|name| path.with_file_name(name)) else {
        let message = "it names no CLOG2 file that it belongs to";
        return Err(Failure::Data(format!("{}: {message}", name.display())));
    };
    let records = OpenedInput::open_regular(&clog2).map_err(|failure| match failure {
        Failure::Data(message) => Failure::Data(format!(
            "{}: an annotation file, which needs its CLOG2 file beside it: {message}",
            name.display()
        )),
        other => other,
    })?;
    let failed = |error: ConvertError| {
        Failure::Data(match error {
            ConvertError::Clog2(error) => error.in_file(&clog2).to_string(),
            ConvertError::LittleEndian => format!("{}: {error}", clog2.display()),
            ConvertError::Slog2(error) => {
                format!("{} ({})", error.in_file(name), clog2.display())
            }
        })
    };
    let full = || -> io::Result<Result<OpenedInput, ConvertError>> {
        let file = tempfile::tempfile()?;
        let out = BufWriter::with_capacity(1 << 18, file);
        let written = Annotated::new(&input, &records).and_then(|both| both.expand(out));
        Ok(match written {
            Ok((out, _)) => Ok(map(&out.into_inner()?)?),
            Err(error) => Err(error),
        })
    };
    full()
        .map_err(|error| Failure::output("a temporary file", &error))?
        .map_err(failed)
}
