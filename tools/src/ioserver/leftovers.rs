//! What a server that was killed leaves outside of its directories: its table of threads and the folder of its data servers'
//! sockets. Both carry its process ID in their name, and the next server removes those of processes that are gone.

use std::fs;
use std::path::{Path, PathBuf};

/// Where tables of threads are.
const SHARED_MEMORY: &str = "/dev/shm";
/// Before the process ID in the name of a table.
const TABLE: &str = "mpitrace-tids.";
/// Before the process ID in the name of a folder of sockets.
const SOCKETS: &str = "mpitrace-sockets.";

/// The table of process `pid`.
pub fn table(pid: u32) -> PathBuf {
    Path::new(SHARED_MEMORY).join(format!("{TABLE}{pid}"))
}

/// How the name of the folder of sockets of process `pid` begins.
pub fn sockets(pid: u32) -> String {
    format!("{SOCKETS}{pid}.")
}

/// Removes what servers that are gone have left. What cannot be removed, such as that of other users, stays.
pub fn sweep() {
    sweep_folder(Path::new(SHARED_MEMORY), TABLE);
    sweep_folder(&std::env::temp_dir(), SOCKETS);
}

fn sweep_folder(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(prefix)) else {
            continue;
        };
        let pid = rest.split('.').next().unwrap_or_default();
        let is_number = !pid.is_empty() && pid.bytes().all(|digit| digit.is_ascii_digit());
        if !is_number || Path::new("/proc").join(pid).exists() {
            continue;
        }
        let path = entry.path();
        drop(match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_dead_processes_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let alive = std::process::id();
        let at = |name: &str| folder.path().join(name);
        for file in [
            format!("{TABLE}{dead}"),
            format!("{TABLE}{alive}"),
            format!("{TABLE}x"),
        ] {
            fs::write(at(&file), "").unwrap();
        }
        let gone = at(&format!("{}abc", sockets(dead)));
        fs::create_dir(&gone).unwrap();
        fs::write(gone.join("0"), "").unwrap();
        sweep_folder(folder.path(), TABLE);
        sweep_folder(folder.path(), SOCKETS);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = [format!("{TABLE}{alive}"), format!("{TABLE}x")];
        expected.sort();
        assert_eq!(left, expected);
    }
}
