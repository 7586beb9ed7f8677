//! Mounting, serving until the end, and the end: by unmounting, or by a signal.

use super::filesystem::FuseRequests;
use super::requests::FileSystem;
use crate::failure::Failure;
use crate::system::signals::Signals;
use crate::terminal::tell;
use fuser::{Config, MountOption, Session, SessionACL};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time for which programs that still use the file system are served after a signal.
const UNMOUNT_GRACE_PERIOD: Duration = Duration::from_secs(3);
/// The device through which the kernel asks.
const DEVICE: &str = "/dev/fuse";

/// A directory and the place where it is to be seen, both absolute and there.
pub struct MountPoint {
    pub base: PathBuf,
    pub mount: PathBuf,
}

impl MountPoint {
    /// Refuses what cannot be, with the reason.
    pub fn check(base: &Path, mount: &Path) -> Result<MountPoint, Failure> {
        let directory = |path: &Path| {
            let refuse = |why: String| Failure::Call(format!("{}: {why}", path.display()));
            match path
                .metadata()
                .and_then(|m| Ok((m.is_dir(), path.canonicalize()?)))
            {
                Ok((true, whole)) => Ok(whole),
                Ok((false, _)) => Err(refuse("is no directory".to_owned())),
                Err(e) if e.raw_os_error() == Some(libc::ENOTCONN) => Err(refuse(
                    "a file system whose server has died is mounted here: umount it first"
                        .to_owned(),
                )),
                Err(e) => Err(refuse(e.to_string())),
            }
        };
        let (base, mount) = (directory(base)?, directory(mount)?);
        let refuse = |why: &str| Failure::Call(format!("{}: {why}", mount.display()));
        if is_fuse(&mount) {
            return Err(refuse("a file system is mounted here already"));
        }
        if mount == base || mount.starts_with(&base) || base.starts_with(&mount) {
            return Err(refuse("one directory is inside the other"));
        }
        let mut names = std::fs::read_dir(&mount).map_err(|e| refuse(&e.to_string()))?;
        if names.next().is_some() {
            return Err(refuse("is not empty: what is in it would not be seen"));
        }
        match File::options().read(true).write(true).open(DEVICE) {
            Ok(_) => Ok(MountPoint { base, mount }),
            Err(e) if e.kind() == ErrorKind::NotFound => Err(Failure::Data(format!(
                "{DEVICE} is not there: the kernel has no FUSE, or this container was not given the device"
            ))),
            Err(e) => Err(Failure::Data(format!("{DEVICE}: {e}"))),
        }
    }
}

/// Whether this directory is that of a mounted FUSE file system of its own.
fn is_fuse(mount: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    // Blanks and the like are written as octal numbers there.
    let shown: String = mount
        .to_string_lossy()
        .chars()
        .map(|c| match c {
            ' ' => "\\040".to_owned(),
            '\t' => "\\011".to_owned(),
            '\n' => "\\012".to_owned(),
            '\\' => "\\134".to_owned(),
            c => c.to_string(),
        })
        .collect();
    mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(1);
        fields.next() == Some(&shown) && fields.next().is_some_and(|t| t.starts_with("fuse"))
    })
}

/// Mounts `server`, says so by `ready`, and serves until the file system is unmounted or a signal comes.
pub fn serve(
    server: Arc<FileSystem>,
    place: &MountPoint,
    threads: usize,
    signals: Signals,
    ready: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    // Modes of new files have been masked by the kernel.
    rustix::process::umask(rustix::fs::Mode::empty());
    super::privileges::leave_groups();
    more_descriptors();
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName(place.base.display().to_string().replace(',', "_")),
        MountOption::Subtype("mpitrace".to_owned()),
        MountOption::DefaultPermissions,
    ];
    config.n_threads = Some(threads);
    if rustix::process::geteuid().is_root() {
        config.acl = SessionACL::All;
    }
    let mut session = Session::new(FuseRequests(Arc::clone(&server)), &place.mount, &config)
        .map_err(|e| Failure::Data(format!("{}: {}", place.mount.display(), refused(&e))))?;
    let mut unmounter = session.unmount_callable();
    let recorder = Arc::clone(&server.recorder);
    let mount = place.mount.clone();
    let serving = std::thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || session.run())
        .map_err(|e| Failure::Data(e.to_string()))?;
    // The mount answers from here on.
    if let Ok(stat) = rustix::fs::stat(&place.mount) {
        let _known = server.inodes.mounted_device.set(stat.st_dev);
    }
    let ready = ready();
    if ready.is_err() {
        drop(unmounter.unmount());
        return ready;
    }
    let (ended, end) = std::sync::mpsc::channel();
    let waiter = ended.clone();
    std::thread::spawn(move || {
        signals.wait();
        drop(ended.send(None));
    });
    std::thread::spawn(move || drop(waiter.send(Some(serving.join()))));
    if let Ok(Some(result)) = end.recv() {
        return outcome(result);
    }
    if let Err(e) = unmounter.unmount() {
        tell!(
            "mpitrace: {}: {e}: detached, programs that use it are served {} seconds more",
            mount.display(),
            UNMOUNT_GRACE_PERIOD.as_secs()
        );
        let detach = rustix::mount::UnmountFlags::DETACH;
        if rustix::mount::unmount(&mount, detach).is_err() {
            drop(
                std::process::Command::new("fusermount3")
                    .args(["-u", "-z", "-q", "--"])
                    .arg(&mount)
                    .status(),
            );
        }
    }
    match end.recv_timeout(UNMOUNT_GRACE_PERIOD) {
        Ok(Some(result)) => outcome(result),
        // Those who still use it get an error as soon as this process ends.
        _ => {
            recorder.finish();
            Ok(())
        }
    }
}

fn outcome(result: std::thread::Result<std::io::Result<()>>) -> Result<(), Failure> {
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(e)) => Err(Failure::Data(format!("{DEVICE}: {e}"))),
        Err(_) => Err(Failure::Data("a thread of the server died".to_owned())),
    }
}

/// Names the likely reason that mounting failed.
fn refused(e: &std::io::Error) -> String {
    match e.kind() {
        ErrorKind::PermissionDenied => {
            format!("{e}: needs root, or fusermount3 (package fuse3), or a user namespace")
        }
        ErrorKind::NotFound => format!(
            "{e}: mounting is not permitted, and fusermount3 (package fuse3) is not installed"
        ),
        _ => e.to_string(),
    }
}

/// Raises the limit of descriptors as far as possible: every file that the kernel knows takes one, every connection two.
pub fn more_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let _ = setrlimit(Resource::Nofile, most);
}
