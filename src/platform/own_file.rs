//! Small files that the recorder writes by name: lines of counts, the settings in force, the name of a trace. Their names come
//! from settings, and their folders may be open to others. So only a regular file of the user's own is written to, through no
//! link, and only one that the recorder has written before: a wrong name in a setting must not cost the user a file.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;
use trace_model::files;

/// Rights of files that are made, before the process's mask.
const FILE_MODE: u32 = 0o666;
/// Bytes of a file that are looked at, to tell what it is.
const MAX_BEGINNING_BYTES: u64 = 64;

/// Opens a file, made if need be, that is empty or of which `is_ours` knows the beginning.
fn open(path: &Path, append: bool, is_ours: &dyn Fn(&str) -> bool) -> io::Result<File> {
    let mut file = files::open_shared(path, append, FILE_MODE)?;
    let mut beginning = Vec::new();
    (&mut file)
        .take(MAX_BEGINNING_BYTES)
        .read_to_end(&mut beginning)?;
    if !beginning.is_empty() && !is_ours(&String::from_utf8_lossy(&beginning)) {
        let why = "there already, and no file of libtrace's: not written to";
        return Err(io::Error::new(ErrorKind::AlreadyExists, why));
    }
    Ok(file)
}

/// Appends a line to a file of such lines.
pub fn append(path: &Path, line: &str, is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    open(path, true, is_ours)?.write_all(line.as_bytes())
}

/// Writes a file, in place of an older one of its kind.
pub fn replace(path: &Path, text: &str, is_ours: &dyn Fn(&str) -> bool) -> io::Result<()> {
    let mut file = open(path, false, is_ours)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(text.as_bytes())
}

/// Makes a file beside a block file. One of that name, which a process of the same number has left, is removed if it is the
/// user's own.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let make = || File::options().write(true).create_new(true).open(path);
    let mut file = match make() {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            drop(files::open_shared(path, false, FILE_MODE)?);
            std::fs::remove_file(path)?;
            make()?
        }
        made => made?,
    };
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A folder with a file of value, and a planted name for each way by which that could be got at.
    fn planted(test: &str) -> (PathBuf, [PathBuf; 4]) {
        let folder = std::env::temp_dir().join(format!("libtrace-{test}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        let value = folder.join("value");
        std::fs::write(&value, "of value").unwrap();
        let names = ["link", "hard", "nowhere", "pipe"].map(|name| folder.join(name));
        symlink(&value, &names[0]).unwrap();
        std::fs::hard_link(&value, &names[1]).unwrap();
        symlink(folder.join("none"), &names[2]).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&names[3]).status();
        assert!(made.unwrap().success());
        (folder, names)
    }

    #[test]
    fn nothing_is_written_through_planted_names() {
        let (folder, names) = planted("planted");
        for name in &names {
            assert!(create(name, b"name").is_err(), "{}", name.display());
            assert!(append(name, "line\n", &|_| true).is_err());
            assert!(replace(name, "text", &|_| true).is_err());
        }
        assert_eq!(std::fs::read(folder.join("value")).unwrap(), b"of value");
        assert!(!folder.join("none").exists());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn own_files_are_made_anew_or_continued_and_others_stay() {
        let (folder, _) = planted("own");
        let path = folder.join("own");
        let text = || std::fs::read_to_string(&path).unwrap();
        let is_ours = |beginning: &str| beginning.starts_with("ours");
        create(&path, b"ours, long").unwrap();
        replace(&path, "ours", &is_ours).unwrap();
        append(&path, "+", &is_ours).unwrap();
        assert_eq!(text(), "ours+");
        create(&path, b"other").unwrap();
        assert!(append(&path, "+", &is_ours).is_err());
        assert!(replace(&path, "ours", &is_ours).is_err());
        assert_eq!(text(), "other");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
