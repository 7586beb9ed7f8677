//! A trace to be written: the name of the file, its format and the options of that format.

use crate::failure::Failure;
use crate::trace_files::format::Format;
use crate::trace_files::overwrite::is_stdout;
use crate::trace_files::shape::{FrameArguments, TreeArguments};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use trace_formats::paje;
use trace_model::{PendingFile, files};

/// Bytes that are written at once: enough for the file system, and little enough to stay in the processor's cache.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that is being written.
pub type OutputFile = BufWriter<PendingFile>;

/// A file to be written, with its format and the options of the formats.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name of the file; `-` is stdout.
    pub path: PathBuf,
    /// Format of the file.
    pub format: Format,
    /// Shape of an SLOG2 tree.
    pub tree: TreeArguments,
    /// Bytes of a block of a CLOG2 file, if asked for.
    pub block_size: Option<u32>,
    /// ALOG as MPE writes it.
    pub mpe: bool,
    /// Names of fields in a Pajé trace.
    pub dialect: paje::FieldDialect,
    /// Frames of an SLOG-1 file.
    pub frames: FrameArguments,
    /// Tables that say nothing about waiting.
    pub no_waits: bool,
}

impl Target {
    /// The target of this name: in the format asked for, or else in that of the name's ending.
    pub fn new(path: &Path, to: Option<Format>, tree: &TreeArguments) -> Result<Self, Failure> {
        let Some(format) = to.or_else(|| Format::of_name(path)) else {
            return Err(Failure::Call(format!(
                "{}: its name does not tell its format: use --to, or a name that ends in one of {}",
                path.display(),
                Format::known_endings()
            )));
        };
        let target = Target {
            path: path.to_path_buf(),
            format,
            tree: tree.clone(),
            block_size: None,
            mpe: false,
            dialect: paje::FieldDialect::New,
            frames: FrameArguments::default(),
            no_waits: false,
        };
        target.allow(tree.given(), &[Format::Slog2])?;
        Ok(target)
    }

    /// Refuses an option that means something only for another format than the target's.
    pub fn allow(&self, option: Option<&str>, only: &[Format]) -> Result<(), Failure> {
        match option.filter(|_| !only.contains(&self.format)) {
            None => Ok(()),
            Some(option) => Err(Failure::Call(format!(
                "{option} has no meaning for {}, which will be {}",
                self.path.display(),
                self.format.with_article()
            ))),
        }
    }

    /// Has `write` fill the file through a buffer, which it gives back with what it has to tell.
    pub fn fill<T>(
        &self,
        write: impl FnOnce(OutputFile) -> Result<(OutputFile, T), Failure>,
    ) -> Result<T, Failure> {
        self.place(|path| {
            let failed = |error: io::Error| Failure::output(self.path.display(), &error);
            let file = PendingFile::create(path).map_err(failed)?;
            let (out, result) = write(BufWriter::with_capacity(BUFFER_BYTES, file))?;
            PendingFile::persist_buffered(out).map_err(failed)?;
            Ok(result)
        })
    }

    /// Has `make` write the file, or the folder of an archive: at its own path, or, where that is stdout or a device, beside it to be copied there.
    pub fn place<T>(&self, make: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let to_stdout = is_stdout(&self.path);
        if self.format.is_folder() {
            let found = fs::metadata(&self.path);
            if to_stdout || found.is_ok_and(|found| !found.is_dir()) {
                let name = self.path.display();
                let message = format!(
                    "{name}: {} is a folder, expected the name of one",
                    self.format.with_article()
                );
                return Err(Failure::Call(message));
            }
            return make(&self.path);
        }
        let is_device = fs::metadata(&self.path).is_ok_and(|found| !found.is_file());
        if !to_stdout && !is_device {
            return make(&self.path);
        }
        let failed = |error: io::Error| Failure::output(self.path.display(), &error);
        // Before the work, which is in vain if nobody reads the pipe.
        let device = match to_stdout {
            true => None,
            false => Some(files::open_device(&self.path).map_err(failed)?),
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("trace");
        let made = make(&path)?;
        let mut file = File::open(&path).map_err(failed)?;
        match device {
            None => io::copy(&mut file, &mut io::stdout().lock()),
            Some(mut device) => io::copy(&mut file, &mut device),
        }
        .map_err(failed)?;
        Ok(made)
    }
}

/// Writes a file that is no trace, such as a picture, with all of its bytes at hand; `-` is stdout.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    // The format matters only for options that are not given here.
    let target = Target::new(path, Some(Format::Slog2), &TreeArguments::default())?;
    target.fill(|mut out| {
        let written = out.write_all(bytes);
        written.map_err(|error| Failure::output(path.display(), &error))?;
        Ok((out, ()))
    })
}
