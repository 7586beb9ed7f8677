//! The folder of the block file. A batch system may give a job a temporary folder of its own and remove it when the job ends: of a
//! job that is killed nothing would be left there. Then the block file lies in the folder of the output files, if nobody has
//! ordered another one and a file can be mapped there as well as on a disk of this host.

use crate::platform::environment::{self, home};
use crate::platform::{host, launcher, program};
use settings::{self, NameValues, Settings, expand};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Variables by which batch systems name the temporary folder that goes with the job.
const FOLDERS_OF_JOBS: [&str; 3] = ["SLURM_TMPDIR", "PBS_JOBDIR", "FLUX_JOB_TMPDIR"];

/// Folders that the block file may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The folders to try, best first.
    pub choice: Vec<PathBuf>,
    /// The temporary folder, and the batch job that it seems to be removed with.
    pub goes_with: Option<(PathBuf, String)>,
}

impl Folders {
    /// The folders for these settings; `is_ordered` says whether somebody has chosen `tmpdir` for the recorder.
    pub fn of(settings: &Settings, is_ordered: bool) -> Folders {
        let temporary = temporary(settings);
        let job = settings::job_id(&environment::var).filter(|job| goes_with(&temporary, job));
        let goes_with = job.map(|job| (temporary.clone(), job));
        let mut choice = vec![temporary];
        if goes_with.is_some()
            && !is_ordered
            && let Some(folder) = output(settings).filter(|folder| maps_like_a_disk(folder))
        {
            choice.insert(0, folder);
        }
        Folders { choice, goes_with }
    }

    /// Message at the start about a block file in `folder`; `None` if the file stays there anyway.
    pub fn notice(&self, folder: &Path) -> Option<String> {
        let (temporary, job) = self.goes_with.as_ref()?;
        let (host, shown) = (host::host(), folder.display());
        Some(match folder == temporary {
            true => format!(
                "trace: block files are in {shown} (on {host}), which seems to be removed at the end of job {job}: to keep what a killed job has recorded, set TRACE_TMPDIR to a folder that stays"
            ),
            false => format!(
                "trace: block files are in {shown}, as {} (on {host}) seems to be removed at the end of job {job}: if the job is killed, `mpitrace recover {shown}` makes the trace",
                temporary.display()
            ),
        })
    }
}

/// Replaces patterns in the name of a folder before MPI_Init, as far as the launcher has told their values.
fn expanded(name: &str, rank: u32) -> String {
    let (program, host) = (program::name(), host::host());
    let job = settings::job_id(&environment::var);
    let names = NameValues {
        program: &program,
        job: job.as_deref().unwrap_or_default(),
        task: &environment::array_task(),
        date: "",
        host: &host,
        ranks: launcher::size().unwrap_or(0),
        rank,
        pid: std::process::id(),
    };
    expand(name, &names)
}

/// The folder of temporary files.
pub fn temporary(settings: &Settings) -> PathBuf {
    let rank = launcher::rank().unwrap_or(0);
    home().join(expanded(&settings.tmpdir, rank))
}

/// The folder of the CLOG2 and SLOG2 files, or of the folders above it the first that is there already: it is made in MPI_Finalize,
/// and parts of its name may not be known before. `None` if nothing can be written there.
fn output(settings: &Settings) -> Option<PathBuf> {
    let [folder, file] = [&settings.directory, &settings.output].map(|name| expanded(name, 0));
    let file: PathBuf = home().join(folder).join(file).components().collect();
    let there = file.ancestors().skip(1).find(|folder| folder.is_dir())?;
    let name = CString::new(there.as_os_str().as_bytes()).ok()?;
    // SAFETY: a NUL-terminated path.
    let is_writable = unsafe { libc::access(name.as_ptr(), libc::W_OK | libc::X_OK) } == 0;
    // Everything is below the root folder: nobody has meant it.
    (is_writable && there.parent().is_some()).then(|| there.to_path_buf())
}

/// Whether the batch system seems to remove a folder with `job`: its name or that of what is mounted there has the job's number, or
/// the batch system calls it the job's.
fn goes_with(folder: &Path, job: &str) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let is_named = |name: &&str| {
        let named = environment::var_os(name).filter(|value| !value.is_empty());
        named.is_some_and(|named| folder.starts_with(named))
    };
    settings::is_of_job(&folder.to_string_lossy(), job)
        || FOLDERS_OF_JOBS.iter().any(is_named)
        || mounted_from(folder, &mounts).is_some_and(|root| settings::is_of_job(root, job))
}

/// The folder of a file system that is mounted where `folder` is, in the text of /proc/self/mountinfo. A batch system may give each job a
/// /tmp of its own like this, whose name tells nothing.
fn mounted_from<'a>(folder: &Path, mounts: &'a str) -> Option<&'a str> {
    let of_line = |line: &'a str| {
        let mut words = line.split(' ').skip(3);
        let (root, at) = (words.next()?, words.next()?);
        folder.starts_with(at).then_some((at.len(), root))
    };
    // Of mounts at one place the last one is seen.
    let found = mounts.lines().filter_map(of_line);
    found
        .max_by_key(|(length, _)| *length)
        .map(|(_, root)| root)
}

/// Whether a mapped file in this folder is as good as one on a disk of this host. On file systems that a process serves (FUSE, 9P) and
/// on SMB a store into a page may end the program by SIGBUS when the server goes away, and memory file systems do not outlive the node.
fn maps_like_a_disk(folder: &Path) -> bool {
    const FUSE: i64 = 0x6573_5546;
    const NINE_P: i64 = 0x0102_1997;
    const SMB: [i64; 3] = [0x517B, 0xFF53_4D42, 0xFE53_4D42];
    const AFS: i64 = 0x5346_414F;
    let Ok(name) = CString::new(folder.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: numbers, for which zero is a value.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a NUL-terminated path, a place for the result.
    let is_known = unsafe { libc::statfs(name.as_ptr(), &mut about) } == 0;
    let kind = about.f_type as i64 & 0xFFFF_FFFF;
    is_known && ![FUSE, NINE_P, AFS].contains(&kind) && !SMB.contains(&kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_tell_of_folders_of_jobs() {
        let mounts = "22 1 8:1 / / rw - ext4 /dev/a rw\n\
                      90 22 8:2 /slurm/771/.771 /tmp rw - xfs /dev/b rw\n\
                      91 22 0:9 / /tmpfs rw - tmpfs tmpfs rw\n";
        let root = |folder: &str| mounted_from(Path::new(folder), mounts);
        assert_eq!(root("/tmp/x"), Some("/slurm/771/.771"));
        assert_eq!(root("/tmpfs"), Some("/"));
        assert_eq!(root("/var/tmp"), Some("/"));
        assert!(settings::is_of_job(root("/tmp").unwrap(), "771"));
    }

    #[test]
    fn a_folder_of_the_job_is_said_and_named() {
        let folders = Folders {
            choice: vec!["/home/me/run".into(), "/local/job.77".into()],
            goes_with: Some(("/local/job.77".into(), "77".into())),
        };
        let out = folders.notice(Path::new("/home/me/run")).unwrap();
        assert!(out.contains("mpitrace recover /home/me/run"), "{out}");
        let temporary = folders.notice(Path::new("/local/job.77")).unwrap();
        assert!(temporary.contains("set TRACE_TMPDIR"), "{temporary}");
        let none = Folders {
            goes_with: None,
            ..folders
        };
        assert_eq!(none.notice(Path::new("/home/me/run")), None);
    }
}
