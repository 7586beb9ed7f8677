//! A file that is held open for the whole life of a process whose program knows nothing of it. Programs close descriptors that they
//! do not know (daemons all of them), and the next file that they open gets the number: what is then written or mapped must not be
//! the program's file.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use trace_model::files;

/// A file on a descriptor out of the program's way, and what tells that the descriptor is still the file's.
pub struct HeldFile {
    file: File,
    /// Device and inode.
    identity: (u64, u64),
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

impl HeldFile {
    /// Moves the file out of the way.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new(file: File) -> io::Result<HeldFile> {
        let file = files::out_of_the_way(file)?;
        let identity = identity(&file)?;
        Ok(HeldFile { file, identity })
    }

    /// The file, to be used at once: a system call more, so not for each call of MPI. If the program has closed the descriptor, the
    /// file is opened anew by `name`, for this use only.
    ///
    /// # Errors
    /// If the program has closed the descriptor, and the file has no name or is not the one of that name.
    pub fn get(&self, name: Option<&Path>) -> io::Result<FileInUse<'_>> {
        if identity(&self.file).is_ok_and(|identity| identity == self.identity) {
            return Ok(FileInUse::Held(&self.file));
        }
        let reopened = name.and_then(|name| {
            let mut options = File::options();
            let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
            options.read(true).write(true).custom_flags(flags);
            let file = files::out_of_the_way(options.open(name).ok()?).ok()?;
            (identity(&file).ok()? == self.identity).then_some(file)
        });
        reopened.map(FileInUse::Reopened).ok_or_else(|| {
            io::Error::other("the program has closed the descriptor of the block file")
        })
    }
}

/// The file of a [`HeldFile`] while it is used.
pub enum FileInUse<'a> {
    /// The descriptor that is held.
    Held(&'a File),
    /// Another descriptor, closed after this use.
    Reopened(File),
}

impl Deref for FileInUse<'_> {
    type Target = File;

    fn deref(&self) -> &File {
        match self {
            FileInUse::Held(file) => file,
            FileInUse::Reopened(file) => file,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_closed_descriptor_is_replaced_by_the_name() {
        let folder = std::env::temp_dir().join(format!("held-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, other) = (folder.join("blocks"), folder.join("other"));
        std::fs::write(&other, "another's").unwrap();
        let mut file = File::create_new(&path).unwrap();
        file.write_all(b"calls").unwrap();
        let held = HeldFile::new(file).unwrap();
        assert!(held.get(None).is_ok());
        // The next file that the program opens gets the number of the closed descriptor.
        let programs = File::open(&other).unwrap();
        // SAFETY: two descriptors of this test.
        unsafe { libc::dup2(programs.as_raw_fd(), held.file.as_raw_fd()) };
        assert!(held.get(None).is_err());
        assert!(held.get(Some(&other)).is_err(), "another file");
        assert!(held.get(Some(&folder.join("gone"))).is_err());
        let reopened = held.get(Some(&path)).unwrap();
        let mut text = String::new();
        (&*reopened).read_to_string(&mut text).unwrap();
        assert_eq!(text, "calls");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
