//! The kernel's tracefs: where it is, and an instance of our own in it, which disturbs nobody else's tracing.
//!
//! Nothing is to be left behind, whatever becomes of us. So an instance has the process that uses it in its name, and a mount
//! of ours has our name as its source: whoever comes next sees what nobody uses any more and removes it.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Place to mount tracefs if it is not mounted.
const USUAL: &str = "/sys/kernel/tracing";
/// Source of a mount that we made, and beginning of the names of our instances.
const NAME: &str = "mpitrace";
/// Most memory that the ring buffers of all processors take, KB.
const MAX_BUFFER_KB: usize = 256 * 1024;
/// Ring buffer of a processor, KB (`spec/io-chain.md` section 6).
const USUAL_KB: usize = 8192;

/// An instance, which is removed when this is dropped.
#[derive(Debug)]
pub struct Instance {
    folder: PathBuf,
}

/// A mount of tracefs.
struct Mount {
    folder: PathBuf,
    ours: bool,
}

/// The mount of tracefs, if there is one.
fn mounted() -> Option<Mount> {
    let text = fs::read_to_string("/proc/self/mounts").ok()?;
    let mut mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (source, folder, kind) = (words.next()?, words.next()?, words.next()?);
        (kind == "tracefs").then(|| Mount {
            folder: PathBuf::from(folder),
            ours: source == NAME,
        })
    });
    // The usual place if it is there: that of debugfs may be hidden by permissions.
    let first = mounts.next()?;
    if first.folder == Path::new(USUAL) {
        return Some(first);
    }
    Some(
        mounts
            .find(|mount| mount.folder == Path::new(USUAL))
            .unwrap_or(first),
    )
}

/// Folder of tracefs, mounted if it is not.
fn folder() -> Result<PathBuf, String> {
    if let Some(mount) = mounted() {
        return Ok(mount.folder);
    }
    if !Path::new(USUAL).is_dir() {
        return Err(format!(
            "this kernel has no tracing ({USUAL} is missing: CONFIG_TRACING, or /sys of a container)"
        ));
    }
    let (source, target) = (c(NAME), c(USUAL));
    // SAFETY: strings that end with zero, and no data.
    let done = unsafe {
        libc::mount(
            source.as_ptr(),
            target.as_ptr(),
            c"tracefs".as_ptr(),
            libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
            std::ptr::null(),
        )
    };
    match done {
        0 => Ok(PathBuf::from(USUAL)),
        _ => Err(refused(
            &format!("mounting tracefs on {USUAL}"),
            &io::Error::last_os_error(),
        )),
    }
}

fn refused(what: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            format!("only root may follow block devices ({what}: {error})")
        }
        _ => format!("{what}: {error}"),
    }
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// Start time of process `pid`, in clock ticks since the system booted. Together with the number it is a name that no other
/// process gets.
pub fn started(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let rest = text.get(text.rfind(')')? + 2..)?;
    let mut words = rest.split(' ');
    // A process that ended and was not waited for holds nothing any more.
    if words.next()? == "Z" {
        return None;
    }
    words.nth(18)?.parse().ok()
}

/// Whether the process that has this number and was started then still runs.
pub fn runs(pid: u32, when: u64) -> bool {
    started(pid) == Some(when)
}

/// Removes instances whose processes are gone, and then the mount, if it was ours and nobody uses it. Gives the number of
/// instances that were removed.
pub fn clean() -> usize {
    let Some(mount) = mounted() else {
        return 0;
    };
    let (mut removed, mut left) = (0, 0);
    for (folder, owner) in instances(&mount.folder) {
        if owner.is_some_and(|(pid, when)| runs(pid, when)) {
            left += 1;
            continue;
        }
        match remove(&folder) {
            Ok(()) => removed += 1,
            Err(_) => left += 1,
        }
    }
    if mount.ours && left == 0 {
        unmount(&mount.folder);
    }
    removed
}

/// Our instances and the process in the name of each.
fn instances(tracefs: &Path) -> Vec<(PathBuf, Option<(u32, u64)>)> {
    let Ok(entries) = fs::read_dir(tracefs.join("instances")) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let owner = name.strip_prefix(NAME)?.strip_prefix('-')?;
            let owner = owner
                .split_once('-')
                .and_then(|(pid, when)| Some((pid.parse().ok()?, when.parse().ok()?)));
            Some((entry.path(), owner))
        })
        .collect()
}

fn remove(folder: &Path) -> io::Result<()> {
    // Whoever looks into it at this moment keeps it busy.
    for _ in 0..20 {
        match fs::remove_dir(folder) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
    fs::remove_dir(folder)
}

fn unmount(folder: &Path) {
    let Ok(target) = CString::new(folder.as_os_str().as_bytes()) else {
        return;
    };
    let target: &CStr = &target;
    // It stays when somebody else uses it meanwhile: that is as well.
    // SAFETY: a string that ends with zero.
    unsafe { libc::umount2(target.as_ptr(), 0) };
}

/// Whether tracefs can be used at all, without leaving anything.
///
/// # Errors
/// Why not.
pub fn probe() -> Result<(), String> {
    let folder = folder()?;
    let result = check(&folder);
    clean();
    result
}

fn check(folder: &Path) -> Result<(), String> {
    if let Err(error) = fs::read_dir(folder.join("instances")) {
        return Err(refused(&folder.display().to_string(), &error));
    }
    for event in ["block_bio_queue", "block_rq_complete"] {
        if !folder.join("events/block").join(event).is_dir() {
            return Err(format!(
                "this kernel has no event {event} (CONFIG_BLK_DEV_IO_TRACE, CONFIG_EVENT_TRACING)"
            ));
        }
    }
    Ok(())
}

impl Instance {
    /// Makes an instance for this process, its buffers ready, its clock CLOCK_MONOTONIC, and tracing off. What the dead have
    /// left behind is removed before.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn new() -> Result<Instance, String> {
        clean();
        let tracefs = folder()?;
        let pid = std::process::id();
        let when = started(pid).ok_or("/proc is not readable")?;
        let folder = tracefs.join(format!("instances/{NAME}-{pid}-{when}"));
        let made = check(&tracefs).and_then(|()| {
            fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))
        });
        if let Err(why) = made {
            clean();
            return Err(why);
        }
        let instance = Instance { folder };
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono")?;
        let processors = instance.processors()?.len().max(1);
        let kb = (MAX_BUFFER_KB / processors).clamp(64, USUAL_KB);
        instance.write("buffer_size_kb", &kb.to_string())?;
        Ok(instance)
    }

    /// Path of a file of it.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Writes to a file of it.
    pub fn write(&self, file: &str, text: &str) -> Result<(), String> {
        let path = self.path(file);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads a file of it.
    pub fn read(&self, file: &str) -> Result<String, String> {
        let path = self.path(file);
        let fail = |error: io::Error| format!("{}: {error}", path.display());
        // Some files give what they have to the first read only, so that must not be a small one.
        let mut bytes = vec![0; 1 << 16];
        let mut length = 0;
        let mut file = fs::File::open(&path).map_err(fail)?;
        loop {
            match file.read(&mut bytes[length..]).map_err(fail)? {
                0 => break,
                n => length += n,
            }
            if length == bytes.len() {
                bytes.resize(2 * length, 0);
            }
        }
        bytes.truncate(length);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A file of tracefs that is the same for all instances.
    pub fn read_global(&self, file: &str) -> Result<String, String> {
        self.read(&format!("../../{file}"))
    }

    /// Numbers of the processors that have buffers.
    pub fn processors(&self) -> Result<Vec<u32>, String> {
        let path = self.path("per_cpu");
        let entries =
            fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut numbers: Vec<u32> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name().into_string().ok()?;
                name.strip_prefix("cpu")?.parse().ok()
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        drop(self.write("tracing_on", "0"));
        drop(remove(&self.folder));
        clean();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_have_a_start() {
        let pid = std::process::id();
        let when = started(pid).unwrap();
        assert!(runs(pid, when));
        assert!(!runs(pid, when + 1));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (number, start) = (child.id(), started(child.id()));
        child.wait().unwrap();
        assert!(start.is_none_or(|when| !runs(number, when)));
    }
}
