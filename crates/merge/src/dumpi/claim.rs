//! The right to a run's names. Runs that begin in the same second and write to the same folder have the same names: one of
//! them gets them, the others go on to the next second.

use super::options::DumpiOptions;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

/// The names of a run, which no other run gets as long as this value lives, nor afterwards once the metafile is there.
///
/// The claim is an empty file beside the metafile. When a process is killed it stays, and with it the names of the files that may
/// have been written by then.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
}

impl Claim {
    /// Claims the names of `options`; `None` if they are another run's.
    ///
    /// # Errors
    /// If nothing can be written where the files are to be.
    pub fn new(options: &DumpiOptions) -> io::Result<Option<Claim>> {
        let mut path = options.meta_path().into_os_string();
        path.push(".tmp");
        let path = PathBuf::from(path);
        match File::options().write(true).create_new(true).open(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(error),
        }
        let claim = Claim { path };
        // Looked for after the claim: who had it before has written its metafile before giving it up.
        let taken = [options.meta_path(), options.bin_path(0)]
            .iter()
            .any(|path| path.symlink_metadata().is_ok());
        Ok((!taken).then_some(claim))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Nobody is left to tell if this fails, and the name says that the file is a temporary one.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let folder = std::env::temp_dir().join(format!("claim-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("temporary folder");
        let options = DumpiOptions {
            root: folder.join("dumpi"),
            stamp: "now".to_owned(),
            ..DumpiOptions::default()
        };
        let claimed = || Claim::new(&options).expect("a folder");
        let first = claimed();
        assert!(first.is_some() && claimed().is_none());
        drop(first);
        let again = claimed();
        assert!(again.is_some());
        fs::write(options.bin_path(0), b"").expect("written");
        drop(again);
        assert!(claimed().is_none());
        fs::remove_file(options.bin_path(0)).expect("there");
        fs::write(options.meta_path(), b"").expect("written");
        assert!(claimed().is_none());
        fs::remove_dir_all(&folder).expect("removed");
        Claim::new(&options).expect_err("no folder");
    }
}
