//! Files in folders that others may write to, and under names that others may have chosen: opened without ever waiting, and
//! only what they should be. A pipe, a device or a socket under the name of a file would make whoever opens it wait for
//! ever; a link would lead to another file; a file of another user may change or shrink while it is read.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest wait for a reader of a pipe.
const MAX_READER_WAIT: Duration = Duration::from_secs(2);
/// Interval at which a pipe is tried anew.
const READER_POLL: Duration = Duration::from_millis(10);

/// Flags of every open here: nothing is waited for, no terminal becomes the process's, no child gets the descriptor.
const FLAGS: i32 = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;

/// The user in whose name the process acts.
pub fn user() -> u32 {
    // SAFETY: asks for a number, and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether a file is this user's own or root's. To root every file is: it may read them all.
pub fn is_trusted(metadata: &Metadata) -> bool {
    let user = user();
    user == 0 || metadata.uid() == user || metadata.uid() == 0
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why.to_owned())
}

/// Refuses a file that is not regular, and names its type.
fn not_regular(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    Err(refused(match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a folder, not a file",
        () if kind.is_symlink() => "a symbolic link, which is not followed",
        () if kind.is_fifo() => "a pipe, not a regular file",
        () if kind.is_socket() => "a socket, not a regular file",
        () => "a device, not a regular file",
    }))
}

/// Says in plain words what a link is answered with that is not to be followed.
fn in_words(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ELOOP) => refused("a symbolic link, which is not followed"),
        // Opening a socket, or for writing a pipe that nobody reads.
        Some(libc::ENXIO) => refused("a pipe, a socket or a device, not a regular file"),
        _ => error,
    }
}

fn open(path: &Path, flags: i32) -> io::Result<(File, Metadata)> {
    let mut options = File::options();
    options.read(true).custom_flags(FLAGS | flags);
    let file = options.open(path).map_err(in_words)?;
    let metadata = file.metadata()?;
    not_regular(&metadata)?;
    Ok((file, metadata))
}

/// Opens a regular file of anybody's for reading, also behind a link: one that the user has named.
///
/// # Errors
/// The error of the system, or the type of a file that is not regular.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(path, 0).map(|(file, _)| file)
}

/// Opens a regular file for reading that was found in a folder: this user's own or root's (root: anybody's), no link.
///
/// # Errors
/// The error of the system, or why the file is refused.
pub fn open_found(path: &Path) -> io::Result<File> {
    let (file, metadata) = open(path, libc::O_NOFOLLOW)?;
    match is_trusted(&metadata) {
        true => Ok(file),
        false => Err(refused("another user's file")),
    }
}

/// Whether nobody but its owner can have written to a file, and there is no second name of it by which it came here.
fn is_owners_alone(metadata: &Metadata) -> io::Result<()> {
    match () {
        () if metadata.uid() != user() => Err(refused("another user's file")),
        () if metadata.nlink() > 1 => Err(refused("a file with several names")),
        () => Ok(()),
    }
}

/// Opens a file for reading and writing that this user's processes share, and makes it if it is not there, with these
/// access `rights`. It is a regular file of this user's own with one name, and no link.
///
/// # Errors
/// The error of the system, or why the file is refused.
pub fn open_shared(path: &Path, append: bool, rights: u32) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).append(append).create(true);
    options.mode(rights).custom_flags(FLAGS | libc::O_NOFOLLOW);
    let file = options.open(path).map_err(in_words)?;
    let metadata = file.metadata()?;
    not_regular(&metadata)?;
    is_owners_alone(&metadata)?;
    match metadata.mode() & 0o777 & !rights {
        0 => Ok(file),
        _ => Err(refused("a file that others may write to or read")),
    }
}

/// Opens a device or a pipe, which the user has named, for writing. A pipe needs a reader, or gets one within two seconds.
///
/// # Errors
/// What the system says, or in words that nobody reads the pipe.
pub fn open_device(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).custom_flags(FLAGS);
    let begun = Instant::now();
    loop {
        match options.open(path) {
            Ok(file) => {
                // SAFETY: flags of a descriptor of ours. What is written from here on waits for a slow reader, as everywhere.
                match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) } {
                    0 => return Ok(file),
                    _ => return Err(io::Error::last_os_error()),
                }
            }
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                if !path.metadata()?.file_type().is_fifo() {
                    return Err(in_words(error));
                }
                if begun.elapsed() >= MAX_READER_WAIT {
                    return Err(refused("a pipe that nobody reads"));
                }
                sleep(READER_POLL);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Moves a file that is held open for long to a descriptor that programs hardly come to. In a process that was started without
/// standard output a new file gets its number, and what the process prints would be written into the file; and programs close
/// descriptors that they do not know.
///
/// # Errors
/// The error of the system, if the file is on the descriptor of a standard stream and no other descriptor is free.
pub fn out_of_the_way(file: File) -> io::Result<File> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the limit.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    let high = i32::try_from(limit.rlim_cur.min(4096) / 4 * 3).unwrap_or_default();
    for least in [high, libc::STDERR_FILENO + 1] {
        if file.as_raw_fd() >= least {
            break;
        }
        // SAFETY: duplicates a descriptor that is open as long as `file` lives.
        let moved = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) };
        if moved >= 0 {
            // SAFETY: a new descriptor that belongs to nobody else.
            let moved = unsafe { OwnedFd::from_raw_fd(moved) };
            return Ok(File::from(moved));
        }
    }
    match file.as_raw_fd() > libc::STDERR_FILENO {
        true => Ok(file),
        false => Err(io::Error::last_os_error()),
    }
}

/// Whether a file may be given the name `path`: nothing has it, or a regular file. A link is replaced, not followed.
///
/// # Errors
/// In words what has the name.
pub fn may_replace(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => match path.metadata() {
            // A link that leads nowhere.
            Err(_) => Ok(()),
            Ok(target) => not_regular(&target),
        },
        Ok(metadata) => not_regular(&metadata),
        // A folder that cannot be read shows when the file is made.
        Err(_) => Ok(()),
    }
}

/// Most bytes of a part of a file name: names have at most 255, and endings follow.
const LONGEST: usize = 160;

/// Makes a text from a trace, such as a program's name, safe as part of a file name: the result cannot lead to another folder,
/// nor change
/// how a line on a terminal looks.
pub fn part_of_name(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        let is_harmless = c != '/' && !c.is_control() && !is_direction(c);
        let c = if is_harmless { c } else { '_' };
        if name.len() + c.len_utf8() > LONGEST {
            break;
        }
        name.push(c);
    }
    match name.as_str() {
        "" => "unknown".to_owned(),
        // A hidden file, or the folder itself and the one above.
        _ if name.starts_with(['.', '-']) => format!("_{}", &name[1..]),
        _ => name,
    }
}

/// Whether a character changes the direction of the text that follows.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = std::env::temp_dir().join(format!("files-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("temporary folder");
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).expect("own folder");
        }
    }

    fn fifo(path: &Path) {
        let path = CString::new(path.as_os_str().as_encoded_bytes()).expect("no NUL");
        // SAFETY: a NUL-terminated path.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }

    #[test]
    fn only_regular_files_are_opened_and_nothing_is_waited_for() {
        let folder = Folder::new("kinds");
        let at = |name: &str| folder.0.join(name);
        fs::write(at("file"), "x").expect("own folder");
        fifo(&at("pipe"));
        symlink(at("file"), at("link")).expect("own folder");
        symlink(at("pipe"), at("link to a pipe")).expect("own folder");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("own folder");
        open_regular(&at("file")).expect("a file");
        open_regular(&at("link")).expect("a file");
        open_found(&at("file")).expect("a file");
        for name in ["pipe", "link to a pipe", "socket", "."] {
            open_regular(&at(name)).expect_err(name);
            open_found(&at(name)).expect_err(name);
            open_shared(&at(name), true, 0o600).expect_err(name);
            may_replace(&at(name)).expect_err(name);
        }
        let message = open_found(&at("link")).expect_err("a link").to_string();
        assert!(message.contains("link"), "{message}");
        open_shared(&at("link"), true, 0o600).expect_err("a link");
        may_replace(&at("link")).expect("the link is replaced");
        may_replace(&at("nothing")).expect("a free name");
    }

    #[test]
    fn a_pipe_for_output_needs_a_reader() {
        let folder = Folder::new("output");
        let pipe = folder.0.join("pipe");
        fifo(&pipe);
        let begun = Instant::now();
        let error = open_device(&pipe).expect_err("no reader").to_string();
        assert_eq!(error, "a pipe that nobody reads");
        assert!(begun.elapsed() < MAX_READER_WAIT * 5);
        // A reader that comes a little later, and reads later still.
        let text = vec![b'x'; 1 << 20];
        let length = text.len();
        let reader = std::thread::spawn(move || {
            sleep(READER_POLL * 10);
            let mut file = File::open(pipe).expect("a writer");
            sleep(READER_POLL * 10);
            io::copy(&mut file, &mut io::sink()).expect("a writer")
        });
        let mut file = open_device(&folder.0.join("pipe")).expect("a reader");
        io::Write::write_all(&mut file, &text).expect("a reader");
        drop(file);
        assert_eq!(reader.join().expect("a reader"), length as u64);
        let _socket = std::os::unix::net::UnixListener::bind(folder.0.join("socket"));
        open_device(&folder.0.join("socket")).expect_err("a socket");
        open_device(Path::new("/dev/null")).expect("a device");
    }

    #[test]
    fn a_part_of_a_name_stays_in_its_folder() {
        for (text, name) in [
            ("lmp", "lmp"),
            ("../../xx", "_._.._xx"),
            ("..", "_."),
            (".bashrc", "_bashrc"),
            ("/etc/passwd", "_etc_passwd"),
            ("a\nb\u{202e}c", "a_b_c"),
            ("-rf", "_rf"),
            ("", "unknown"),
        ] {
            assert_eq!(part_of_name(text), name);
        }
        let long = part_of_name(&"ü".repeat(200));
        assert!(long.len() <= LONGEST && long.len() > LONGEST - 2);
    }

    #[test]
    fn what_processes_share_is_their_users_alone() {
        let folder = Folder::new("shared");
        let at = |name: &str| folder.0.join(name);
        let made = open_shared(&at("new"), true, 0o600).expect("made");
        assert_eq!(made.metadata().expect("there").mode() & 0o777, 0o600);
        open_shared(&at("new"), true, 0o600).expect("again");
        fs::hard_link(at("new"), at("second name")).expect("own folder");
        open_shared(&at("new"), true, 0o600).expect_err("two names");
        fs::write(at("open"), "").expect("own folder");
        fs::set_permissions(at("open"), fs::Permissions::from_mode(0o666)).expect("own file");
        open_shared(&at("open"), true, 0o600).expect_err("writable by others");
        open_shared(&at("open"), true, 0o666).expect("as wanted");
    }
}
