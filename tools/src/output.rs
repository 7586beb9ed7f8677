//! What every command asks before it writes a file: whether that may be.

use crate::failure::Failure;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The option of every command that writes files which the user names.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct Overwrite {
    /// Write over files that are there; never over what is read
    #[arg(long)]
    force: bool,
}

impl Overwrite {
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
        if there.is_dir() {
            let message = format!("{name}: this is a folder, expected the name of a file");
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
            if from.is_ok_and(|from| is_same(&from, &there)) {
                let input = crate::input::shown(input).display();
                return Err(Failure::Call(format!(
                    "{name}: this is the input {input}, expected the name of another file"
                )));
            }
        }
        if self.force {
            Ok(())
        } else {
            Err(in_the_way(output))
        }
    }

    /// The same for several files that a command writes.
    ///
    /// # Errors
    /// As there.
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

fn in_the_way(output: &Path) -> Failure {
    Failure::Call(format!(
        "{}: exists already; --force writes over it",
        output.display()
    ))
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
