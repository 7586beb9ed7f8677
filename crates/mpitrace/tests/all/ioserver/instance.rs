//! A running `mpitrace ioserver` with directories of its own.

use blockfile::define::Definition;
use blockfile::file::BlockFile;
use blockfile::operation::OperationRecord;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use test_support::patience;

/// The program under test.
pub fn mpitrace() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
}

/// A server; it is unmounted at the end, and its directories go.
pub struct Instance {
    folder: PathBuf,
    /// Names and values that it printed when it was ready.
    reported: Vec<(String, String)>,
}

impl Instance {
    /// Starts one; `None`, said so, where file systems cannot be mounted.
    pub fn start(name: &str, options: &[&str]) -> Option<Instance> {
        let folder = std::env::temp_dir();
        let folder = folder.join(format!("mpitrace-ioserver-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        for part in ["base", "mnt", "plain"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        let mut instance = Instance {
            folder,
            reported: Vec::new(),
        };
        let output = instance.command(options).arg("--background").output();
        let output = output.unwrap();
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).into_owned();
            // Elsewhere than where there is no FUSE, a server that does not start is a failure.
            let possible = fs::File::options().read(true).write(true).open("/dev/fuse");
            let permitted = !why.contains("permitted") && !why.contains("needs root");
            assert!(possible.is_err() || !permitted, "{why}");
            test_support::skip(&why);
            return None;
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').unwrap();
            (name.to_owned(), value.to_owned())
        };
        instance.reported = text.lines().map(pair).collect();
        Some(instance)
    }

    /// The command that starts it in the foreground.
    pub fn command(&self, options: &[&str]) -> Command {
        let mut command = mpitrace();
        command.arg("ioserver").args(options);
        command.arg("--trace").arg(self.trace());
        command.arg(self.base()).arg(self.mount());
        command.stdin(Stdio::null());
        command
    }

    pub fn base(&self) -> PathBuf {
        self.folder.join("base")
    }

    pub fn mount(&self) -> PathBuf {
        self.folder.join("mnt")
    }

    /// A directory that is not shown by any server.
    pub fn plain(&self) -> PathBuf {
        self.folder.join("plain")
    }

    pub fn trace(&self) -> PathBuf {
        self.folder.join("io.blocks")
    }

    /// The block file of a data server.
    pub fn data_trace(&self, number: u32) -> PathBuf {
        self.folder.join(format!("io.data{number}.blocks"))
    }

    pub fn reported(&self, name: &str) -> &str {
        let found = self.reported.iter().find(|(n, _)| n == name);
        &found
            .unwrap_or_else(|| panic!("{name} is not in {:?}", self.reported))
            .1
    }

    pub fn pid(&self) -> i32 {
        self.reported("IOSERVER_PID").parse().unwrap()
    }

    pub fn is_mounted(&self) -> bool {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(&*self.mount().to_string_lossy())
    }

    /// Unmounts it and waits until it has ended.
    pub fn unmount(&self) {
        unmount_when_idle(&self.mount());
        self.wait();
    }

    /// Waits until it has ended.
    pub fn wait(&self) {
        let pid = self.pid();
        until("the server ends", || has_ended(pid));
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if self.is_mounted() {
            drop(unmount(&self.mount()));
            drop(Command::new("umount").arg("-l").arg(self.mount()).output());
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Unmounts a folder in which this process has closed all files. While another test is between fork and exec, its child has
/// copies of files that were open here, and the mount is busy for that moment.
pub fn unmount_when_idle(mount: &Path) {
    until("nobody holds a file of the mount", || {
        unmount(mount).status.success()
    });
}

fn unmount(mount: &Path) -> Output {
    match Command::new("umount").arg(mount).output() {
        Ok(output) if output.status.success() => output,
        failed => Command::new("fusermount3")
            .arg("-u")
            .arg(mount)
            .output()
            .or(failed)
            .unwrap(),
    }
}

/// Whether the process has ended; whoever started it may not have asked for its end yet.
pub fn has_ended(pid: i32) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat
            .rsplit(')')
            .next()
            .is_some_and(|s| s.trim_start().starts_with('Z')),
        Err(_) => true,
    }
}

/// Waits until something is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < patience(),
            "{what}: not after {:?}",
            patience()
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An operation of a trace.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "not every test looks at everything")]
pub struct Recorded {
    pub kind: u16,
    pub start: u64,
    pub stop: u64,
    pub errno: i32,
    pub operation: OperationRecord,
}

/// Reads the operations and definitions of a trace, in the order of its threads.
pub fn read(path: &Path) -> (Vec<Recorded>, Vec<Definition>) {
    let bytes = fs::read(path).unwrap();
    let file = BlockFile::new(&bytes).unwrap();
    assert_eq!(file.damage(), []);
    let (mut operations, mut definitions) = (Vec::new(), Vec::new());
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if record.is_definition() {
                let definition = Definition::decode(record.function, record.payload);
                definitions.push(definition.unwrap());
                continue;
            }
            operations.push(Recorded {
                kind: record.function,
                start: record.start,
                stop: record.stop(),
                errno: record.code,
                operation: OperationRecord::decode(record.payload).unwrap(),
            });
        }
    }
    (operations, definitions)
}
