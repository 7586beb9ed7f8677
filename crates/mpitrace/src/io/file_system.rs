//! The kind of file system that a run's files are on: by their device number, and by the files themselves where they are still there.

use analysis::io::{FileSystem, IoReport};
use io_attribution::{FileRole, OpenedFile};
use rustix::fs::statfs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// `f_type` of Lustre.
const LUSTRE: u64 = 0x0BD0_0BD0;
/// `f_type` of file systems in the memory of a host, or that put local ones over each other: tmpfs, ramfs, overlayfs, btrfs, zfs.
const LOCAL: [u64; 5] = [
    0x0102_1994,
    0x8584_58F6,
    0x794C_7630,
    0x9123_683E,
    0x2FC1_2FC1,
];
/// `f_type` of file systems that hosts share, and that are no Lustre: NFS, SMB, CIFS, GPFS, BeeGFS, CephFS, AFS.
const SHARED: [u64; 7] = [
    0x6969,
    0xFE53_4D42,
    0xFF53_4D42,
    0x4750_4653,
    0x1983_0326,
    0x00C3_6400,
    0x5346_414F,
];

/// The kind of file system of the data files of a run; unknown where the files are on several.
pub fn of(report: &IoReport) -> FileSystem {
    let files = report.files.values();
    let used = files
        .filter(|file| file.device != 0 && matches!(file.role, FileRole::Data | FileRole::Other));
    let mut devices: Vec<&OpenedFile> = used.collect();
    devices.sort_by_key(|file| file.device);
    devices.dedup_by_key(|file| file.device);
    let mut kinds = devices.into_iter().map(of_file);
    let first = kinds.next().unwrap_or_default();
    match kinds.all(|kind| kind == first) {
        true => first,
        false => FileSystem::Unknown,
    }
}

fn of_file(file: &OpenedFile) -> FileSystem {
    // A file system on a block device has the device's number, and one host.
    if libc::major(file.device) != 0 {
        return FileSystem::Local;
    }
    // The name of a file, or of its folder, means this file only if it is on the device of the run.
    let path = Path::new(&file.name);
    let here = [Some(path), path.parent()].into_iter().flatten();
    let same = here
        .filter(|path| path.is_absolute())
        .find(|path| std::fs::metadata(path).is_ok_and(|about| about.dev() == file.device));
    let Some(found) = same.and_then(|path| statfs(path).ok()) else {
        return FileSystem::Unknown;
    };
    // The type of the field differs between machines; all kinds are of 32 bits.
    match found.f_type as u64 & 0xFFFF_FFFF {
        LUSTRE => FileSystem::Lustre,
        kind if LOCAL.contains(&kind) => FileSystem::Local,
        kind if SHARED.contains(&kind) => FileSystem::Shared,
        _ => FileSystem::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, device: u64) -> OpenedFile {
        OpenedFile {
            id: 0,
            role: FileRole::Data,
            name: name.to_owned(),
            device,
            inode: 1,
        }
    }

    #[test]
    fn a_device_with_a_number_is_of_one_host() {
        assert_eq!(of_file(&file("x", libc::makedev(8, 1))), FileSystem::Local);
        assert_eq!(
            of_file(&file("x", libc::makedev(0, 77))),
            FileSystem::Unknown
        );
        // What is here under the name is another file.
        assert_eq!(
            of_file(&file("/dev/shm", libc::makedev(0, 4095))),
            FileSystem::Unknown
        );
        if let Ok(about) = std::fs::metadata("/dev/shm") {
            assert_eq!(
                of_file(&file("/dev/shm/absent", about.dev())),
                FileSystem::Local
            );
        }
    }
}
