//! State of a session, for other processes: a file that names the process, and beside it the socket through
//! which it takes orders. When the process is gone, so is the session; what is left of it is removed by whoever looks next.

use super::tracefs;
use blockfile::define::Definition;
use blockfile::layout::FILE_MAGIC;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Default path of the state file.
pub const USUAL: &str = "/run/mpitrace-blk.json";
/// Longest order.
const MAX_ORDER_BYTES: u64 = 1 << 16;

/// The files of a session that runs in this process; removed when this is dropped.
pub struct SessionFiles {
    path: PathBuf,
}

/// The state of a session, from its state file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionState {
    /// There is no session.
    None,
    /// The process of the session runs.
    Runs {
        /// The process.
        pid: u32,
    },
    /// The process is gone and did not end the session.
    Dead {
        /// The process.
        pid: u32,
        /// The block files that it wrote.
        outputs: Vec<PathBuf>,
    },
}

/// An order to a running session.
pub enum SessionOrder {
    /// Report what has been seen so far.
    Status,
    /// End the session.
    Stop {
        /// A folder of block files whose files' places are wanted too.
        blocks: Option<PathBuf>,
    },
}

fn socket(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".socket");
    name.into()
}

impl SessionFiles {
    /// Makes the files for this process.
    ///
    /// # Errors
    /// Why that is not possible; another session uses them.
    pub fn create(
        path: &Path,
        outputs: &[PathBuf],
        paths: &[PathBuf],
    ) -> Result<(SessionFiles, UnixListener), String> {
        let fail = |error: io::Error| format!("{}: {error}", path.display());
        match find(path)? {
            SessionState::None => {}
            SessionState::Runs { pid } => {
                return Err(format!(
                    "{}: process {pid} follows block devices already; stop it, or name another --state",
                    path.display()
                ));
            }
            SessionState::Dead { .. } => remove(path),
        }
        let pid = std::process::id();
        let names = |paths: &[PathBuf]| -> Vec<String> {
            paths
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect()
        };
        let value = json!({
            "pid": pid,
            "started": tracefs::started(pid),
            "outputs": names(outputs),
            "paths": names(paths),
        });
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(fail)?;
        let state = SessionFiles {
            path: path.to_path_buf(),
        };
        let socket = socket(path);
        drop(fs::remove_file(&socket));
        let made = writeln!(file, "{value}")
            .and_then(|()| UnixListener::bind(&socket))
            .and_then(|listener| {
                fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
                listener.set_nonblocking(true)?;
                Ok(listener)
            });
        match made {
            Ok(listener) => Ok((state, listener)),
            Err(error) => Err(format!("{}: {error}", socket.display())),
        }
    }

    /// Removes the files.
    pub fn remove(&self) {
        remove(&self.path);
    }
}

impl Drop for SessionFiles {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes the files of a session.
pub fn remove(path: &Path) {
    drop(fs::remove_file(socket(path)));
    drop(fs::remove_file(path));
}

/// The session that has its state in this file.
///
/// # Errors
/// If the file is none of ours.
pub fn find(path: &Path) -> Result<SessionState, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SessionState::None),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let pid = value.get("pid").and_then(Value::as_u64);
    let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) else {
        // One that was killed while it wrote this has left nothing yet.
        if text.trim().is_empty() {
            return Ok(SessionState::Dead {
                pid: 0,
                outputs: Vec::new(),
            });
        }
        return Err(format!(
            "{}: expected the state of a session of `mpitrace blk`",
            path.display()
        ));
    };
    let started = value.get("started").and_then(Value::as_u64);
    if started.is_some_and(|when| tracefs::runs(pid, when)) {
        return Ok(SessionState::Runs { pid });
    }
    let outputs = value.get("outputs").and_then(Value::as_array);
    let outputs = outputs.into_iter().flatten().filter_map(Value::as_str);
    Ok(SessionState::Dead {
        pid,
        outputs: outputs.map(PathBuf::from).collect(),
    })
}

/// Gives an order to the session with this state and waits for the answer.
///
/// # Errors
/// If it cannot be reached or says that something failed.
pub fn send_order(path: &Path, order: &SessionOrder) -> Result<Value, String> {
    let fail = |error: io::Error| format!("{}: {error}", socket(path).display());
    let mut stream = UnixStream::connect(socket(path)).map_err(fail)?;
    let value = match order {
        SessionOrder::Status => json!({ "order": "status" }),
        SessionOrder::Stop { blocks } => json!({
            "order": "stop",
            "blocks": blocks.as_ref().map(|path| path.to_string_lossy()),
        }),
    };
    writeln!(stream, "{value}").map_err(fail)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(fail)?;
    let value: Value = serde_json::from_str(&answer).map_err(|_| {
        format!(
            "{}: the session ended without an answer",
            socket(path).display()
        )
    })?;
    match value.get("error").and_then(Value::as_str) {
        Some(error) => Err(error.to_owned()),
        None => Ok(value),
    }
}

/// The order that comes through a connection.
///
/// # Errors
/// If it is none.
pub fn order(stream: &UnixStream) -> io::Result<SessionOrder> {
    let mut line = String::new();
    BufReader::new(stream.take(MAX_ORDER_BYTES)).read_line(&mut line)?;
    let value: Value = serde_json::from_str(&line)?;
    match value.get("order").and_then(Value::as_str) {
        Some("status") => Ok(SessionOrder::Status),
        Some("stop") => Ok(SessionOrder::Stop {
            blocks: value
                .get("blocks")
                .and_then(Value::as_str)
                .map(PathBuf::from),
        }),
        _ => Err(io::Error::other("expected the order status or stop")),
    }
}

/// The files that the block files in a folder name: path, device, inode.
///
/// # Errors
/// If the folder cannot be read.
pub fn files_in(folder: &Path) -> Result<BTreeSet<(PathBuf, u64, u64)>, String> {
    let mut files = BTreeSet::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let Ok(mut file) = File::open(entry.path()) else {
            continue;
        };
        let mut magic = [0; 8];
        if file.read_exact(&mut magic).is_err() || magic != FILE_MAGIC {
            continue;
        }
        // SAFETY: what others write meanwhile is not believed any more than the rest.
        let Ok(bytes) = (unsafe { memmap2::Mmap::map(&file) }) else {
            continue;
        };
        let Ok(file) = blockfile::file::BlockFile::new(&bytes) else {
            continue;
        };
        for thread in file.threads() {
            let mut records = thread.records();
            while let Some(record) = records.next() {
                if record.function == blockfile::define::FILE
                    && let Some(Definition::File(file)) =
                        Definition::decode(record.function, record.payload)
                    && file.inode != 0
                {
                    files.insert((PathBuf::from(file.path), file.device, file.inode));
                }
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        assert_eq!(find(&path), Ok(SessionState::None));
        let outputs = [PathBuf::from("/a b.blocks")];
        let (state, _listener) = SessionFiles::create(&path, &outputs, &[]).unwrap();
        let pid = std::process::id();
        assert_eq!(find(&path), Ok(SessionState::Runs { pid }));
        assert!(SessionFiles::create(&path, &outputs, &[]).is_err());
        let text = fs::read_to_string(&path).unwrap();
        // The same number, another process.
        let started = tracefs::started(pid).unwrap();
        fs::write(&path, text.replace(&started.to_string(), "1")).unwrap();
        let outputs = outputs.to_vec();
        assert_eq!(find(&path), Ok(SessionState::Dead { pid, outputs }));
        drop(state);
        assert_eq!(find(&path), Ok(SessionState::None));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(&path, "something else").unwrap();
        assert!(find(&path).is_err());
    }

    #[test]
    fn orders_arrive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let (_state, listener) = SessionFiles::create(&path, &[], &[]).unwrap();
        listener.set_nonblocking(false).unwrap();
        let served = std::thread::spawn(move || {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().unwrap();
                let answer = match order(&stream) {
                    Ok(SessionOrder::Stop { blocks }) => json!({ "blocks": blocks }),
                    _ => json!({ "error": "no" }),
                };
                writeln!(stream, "{answer}").unwrap();
            }
        });
        let blocks = Some(PathBuf::from("/x"));
        let answer = send_order(&path, &SessionOrder::Stop { blocks }).unwrap();
        assert_eq!(answer, json!({ "blocks": "/x" }));
        assert_eq!(
            send_order(&path, &SessionOrder::Status),
            Err("no".to_owned())
        );
        served.join().unwrap();
    }
}
