//! The check before a command writes a file: it must not be an input, nor exist already without `--force`.

use crate::failure::Failure;
use crate::trace_files::folder;
use crate::trace_files::input::OpenedInput;
use crate::trace_files::{annotation, dumpi_run};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use trace_model::FolderKind;

/// The option of every command that writes files which the user names.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct Overwrite {
    /// Overwrite existing files. An input file is never overwritten
    #[arg(long)]
    force: bool,
}

impl Overwrite {
    /// As with --force.
    pub const FORCED: Overwrite = Overwrite { force: true };

    /// Refuses to write `output` if that is one of the `inputs`, by whatever name or link, or, without --force, if
    /// anything has the name. Devices and pipes have nothing that could be lost.
    ///
    /// # Errors
    /// A failure of the call that names both.
    pub fn allow<I: AsRef<Path>>(self, output: &Path, inputs: &[I]) -> Result<(), Failure> {
        let name = output.display();
        if is_stdout(output) {
            return Ok(());
        }
        let Ok(there) = fs::metadata(output) else {
            // A link to nothing is a file of the user's all the same.
            return match fs::symlink_metadata(output) {
                Ok(_) if !self.force => Err(in_the_way(output)),
                _ => Ok(()),
            };
        };
        if let Some(kind) = folder::kind(output).filter(|_| there.is_dir()) {
            return self.allow_folder(output, kind, inputs);
        }
        if there.is_dir() {
            let message = format!("{name}: this is a folder and no trace, expected another name");
            return Err(Failure::Call(message));
        }
        if !there.is_file() {
            return Ok(());
        }
        for input in inputs {
            let input = input.as_ref();
            let from = if input == Path::new("-") {
                fs::metadata("/dev/stdin")
            } else {
                fs::metadata(input)
            };
            let shown = crate::trace_files::input::shown(input).display();
            if from.as_ref().is_ok_and(|from| is_same(from, &there)) {
                return Err(Failure::Call(format!(
                    "{name}: this is the input {shown}, expected the name of another file"
                )));
            }
            // A pipe can be read only once, and names no other files.
            let read_with = match from {
                Ok(from) if from.is_file() && input != Path::new("-") => read_with(input),
                _ => Vec::new(),
            };
            let is_output = |path: &PathBuf| fs::metadata(path).is_ok_and(|m| is_same(&m, &there));
            if read_with.iter().any(is_output) {
                return Err(Failure::Call(format!(
                    "{name}: this is the input that {shown} names, expected the name of another file"
                )));
            }
        }
        if self.force {
            Ok(())
        } else {
            Err(in_the_way(output))
        }
    }

    /// [`Overwrite::allow`] for an output that is a folder of this kind now.
    fn allow_folder<I: AsRef<Path>>(
        self,
        output: &Path,
        kind: FolderKind,
        inputs: &[I],
    ) -> Result<(), Failure> {
        let name = output.display();
        for input in inputs {
            let file = folder::file_of(input.as_ref());
            let is_one = |from: Metadata| {
                let own = fs::metadata(folder::file_of(output));
                own.is_ok_and(|own| is_same(&from, &own))
            };
            let what = match fs::metadata(&file).is_ok_and(is_one) {
                true => "this is",
                false if is_in(&file, output) => "in this folder is",
                false => continue,
            };
            let shown = crate::trace_files::input::shown(input.as_ref()).display();
            return Err(Failure::Call(format!(
                "{name}: {what} the input {shown}, expected another name"
            )));
        }
        if !self.force {
            return Err(in_the_way(output));
        }
        let allowed = kind.may_replace(output);
        allowed.map_err(|error| Failure::Call(format!("{name}: {error}")))
    }

    /// [`Overwrite::allow`] for several files that a command writes.
    ///
    /// # Errors
    /// The failure for the first file that may not be written.
    pub fn allow_all<I: AsRef<Path>>(
        self,
        outputs: &[PathBuf],
        inputs: &[I],
    ) -> Result<(), Failure> {
        outputs
            .iter()
            .try_for_each(|output| self.allow(output, inputs))
    }
}

/// The files that an input names and that are read with it: the CLOG2 file of an annotation, the files of a run's ranks.
/// None where the input cannot be read, which the command says when it opens it.
fn read_with(input: &Path) -> Vec<PathBuf> {
    let Ok(bytes) = OpenedInput::open_regular(input) else {
        return Vec::new();
    };
    if dumpi_run::is_meta(&bytes) {
        return dumpi_run::files_of_meta(input, &bytes)
            .map_or_else(|_| Vec::new(), |(files, _)| files);
    }
    annotation::companion(input, &bytes).into_iter().collect()
}

fn in_the_way(output: &Path) -> Failure {
    Failure::Call(format!(
        "{}: exists already; --force writes over it",
        output.display()
    ))
}

/// Whether a file is in a folder or in one of its folders, by whatever links.
fn is_in(file: &Path, folder: &Path) -> bool {
    let whole = (fs::canonicalize(file), fs::canonicalize(folder));
    matches!(whole, (Ok(file), Ok(folder)) if file.starts_with(&folder))
}

/// Whether both are one file.
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether a path is stdout, which may be a file whose name nobody knows.
pub fn is_stdout(path: &Path) -> bool {
    const NAMES: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    NAMES.iter().any(|name| path == Path::new(name))
}
