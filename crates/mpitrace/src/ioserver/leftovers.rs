//! Removes what a killed server has left outside its directories: the folder of its data servers' sockets. It carries the
//! process ID in its name, with the boot ID of the kernel and the number of the namespace in which that counts. The next server of the
//! same user and namespace removes those of processes that are gone. Hosts may share the folder, and the first namespace has the same number
//! on all of them.

use blockfile::machine;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Before the namespace in the name of a folder of sockets.
const SOCKETS: &str = "mpitrace-sockets.";

/// Prefix of the name of the socket folder of process `pid` of this namespace.
pub fn sockets(pid: u32) -> String {
    format!("{}{pid}.", prefix())
}

/// Digits of the boot ID that a name has. Names of sockets are short.
const BOOT_DIGITS: usize = 8;

/// The beginning of all names of this namespace of process IDs; containers may share a folder and count apart.
fn prefix() -> String {
    let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino());
    prefix_of(&machine::boot_id(), namespace)
}

/// The beginning of all names of a namespace under the kernel with this boot ID.
fn prefix_of(boot: &str, namespace: u64) -> String {
    let boot = boot.get(..BOOT_DIGITS).unwrap_or(boot);
    format!("{SOCKETS}{boot}.{namespace}.")
}

/// Removes what servers that are gone have left. That of other users and of other namespaces stays.
pub fn sweep() {
    sweep_folder(&std::env::temp_dir(), &prefix());
}

fn sweep_folder(folder: &Path, prefix: &str) {
    let user = rustix::process::geteuid().as_raw();
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
        if entry
            .metadata()
            .is_ok_and(|found| found.is_dir() && found.uid() == user)
        {
            drop(fs::remove_dir_all(entry.path()));
        }
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
        let own_namespace = fs::metadata("/proc/self/ns/pid").unwrap().ino();
        let gone = format!("{}abc", sockets(dead));
        let mut staying = [
            format!("{}abc", sockets(std::process::id())),
            format!("{}x.abc", prefix()),
            // Process `dead` of another namespace, and of another host that shares the folder: they may live.
            format!("{}{dead}.abc", prefix_of(&machine::boot_id(), 1)),
            format!("{}{dead}.abc", prefix_of("0b5c2a11-another", own_namespace)),
        ];
        for name in staying.iter().chain([&gone]) {
            let at = folder.path().join(name);
            fs::create_dir(&at).unwrap();
            fs::write(at.join("0"), "").unwrap();
        }
        sweep_folder(folder.path(), &prefix());
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        staying.sort();
        assert_eq!(left, staying);
    }
}
