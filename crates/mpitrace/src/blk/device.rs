//! Finds the block device of a file, and whether its transfers can be attributed to the file.
//!
//! FIEMAP tells where a file lies in the address space of its file system's device. That is good for ext4 and xfs directly on
//! a disk, a loop device or a partition. Everything else is refused, because what would come out is wrong and not merely
//! incomplete.

use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Bytes of a sector, whatever the device's own is.
pub const SECTOR: u64 = 512;

/// The device of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `st_dev` of the files.
    pub st_dev: u64,
    /// Name of the device in the system.
    pub name: String,
    /// Kernel number of the file system's own device.
    pub own: u32,
    /// Kernel number of the disk that the device is a part of, else of the device itself.
    pub disk: u32,
    /// First sector on the disk.
    pub start: u64,
    /// Sectors.
    pub sectors: u64,
}

/// Why the transfers of a file cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFollowable(pub String);

impl fmt::Display for NotFollowable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `f_type` of the file systems that are followed (linux/magic.h); ext2 and ext3 have that of ext4.
const FOLLOWED: [i64; 2] = [0xEF53, 0x5846_5342];
/// Others, and why not.
const REFUSED: &[(i64, &str, &str)] = &[
    (
        0x9123_683E,
        "btrfs",
        "its extents are addresses of its own, not of a device, and it writes every block to a new place",
    ),
    (
        0x794C_7630,
        "overlay",
        "its files lie on another file system: name the files below",
    ),
    (0x0102_1994, "tmpfs", "it lies in memory"),
    (0x8584_58F6, "ramfs", "it lies in memory"),
    (
        0x6573_5546,
        "FUSE",
        "a process serves it: name the files in which that keeps the data",
    ),
    (0x6969, "NFS", "its data lie on other hosts"),
    (0xFF53_4D42, "CIFS", "its data lie on other hosts"),
    (0xFE53_4D42, "SMB", "its data lie on other hosts"),
    (0x00C3_6400, "Ceph", "its data lie on other hosts"),
    (0x0BD0_0BD0, "Lustre", "its data lie on other hosts"),
    (0x1983_0326, "BeeGFS", "its data lie on other hosts"),
    (0x0102_1997, "9P", "its data lie outside of this system"),
    (
        0x2FC1_2FC1,
        "ZFS",
        "it tells no places on a device and writes every block to a new one",
    ),
    (0xF2F5_2010, "F2FS", "it writes every block to a new place"),
    (0x9FA0, "proc", "it has no device"),
    (0x6265_6572, "sysfs", "it has no device"),
];

/// The device on which `path`, a file or directory, lies.
///
/// # Errors
/// Why its transfers cannot be followed.
pub fn of(path: &Path) -> Result<Device, NotFollowable> {
    let refuse = |what: String| NotFollowable(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    let meta = file.metadata().map_err(|error| refuse(error.to_string()))?;
    if !meta.is_file() && !meta.is_dir() {
        return Err(refuse("is neither a file nor a directory".to_owned()));
    }
    let kind = file_system(&file).map_err(|error| refuse(error.to_string()))?;
    if !FOLLOWED.contains(&kind) {
        return Err(refuse(
            match REFUSED.iter().find(|(magic, ..)| *magic == kind) {
                Some((_, name, why)) => {
                    format!("is on {name}, whose transfers cannot be followed: {why}")
                }
                None => format!(
                    "is on a file system of type {kind:#x}; only transfers of ext4 and xfs can be followed"
                ),
            },
        ));
    }
    in_sysfs(meta.dev()).map_err(refuse)
}

/// `f_type`.
fn file_system(file: &File) -> std::io::Result<i64> {
    // SAFETY: all bytes zero is a value of the structure.
    let mut found: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor of our own and a valid place for the result.
    match unsafe { libc::fstatfs(file.as_raw_fd(), &mut found) } {
        // The type is a signed integer on some machines, and 32 bits of it count.
        0 => Ok(found.f_type as i64 & 0xFFFF_FFFF),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Number of a device within the kernel, which trace events have.
fn kernel_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor
}

/// Looks a device up in sysfs.
fn in_sysfs(st_dev: u64) -> Result<Device, String> {
    let (major, minor) = (libc::major(st_dev), libc::minor(st_dev));
    let link = format!("/sys/dev/block/{major}:{minor}");
    let folder = fs::canonicalize(&link).map_err(|error| {
        format!("its device {major}:{minor} is no block device ({link}: {error})")
    })?;
    let name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    for (part, what) in [("dm", "the device mapper"), ("md", "md")] {
        if folder.join(part).exists() {
            return Err(format!(
                "is on {name}, a device of {what}: its transfers go on to other devices under other addresses, which is not followed"
            ));
        }
    }
    let number = |file: &str| -> Result<u64, String> {
        let path = folder.join(file);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        text.trim()
            .parse()
            .map_err(|_| format!("{}: expected a number, found {text:?}", path.display()))
    };
    let sectors = number("size")?;
    let own = kernel_number(major, minor);
    let (mut disk, mut start) = (own, 0);
    if folder.join("partition").exists() {
        start = number("start")?;
        let path = folder.join("../dev");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        disk = text
            .trim()
            .split_once(':')
            .and_then(|(major, minor)| {
                Some(kernel_number(major.parse().ok()?, minor.parse().ok()?))
            })
            .ok_or_else(|| format!("{}: expected MAJOR:MINOR, found {text:?}", path.display()))?;
    }
    Ok(Device {
        st_dev,
        name,
        own,
        disk,
        start,
        sectors,
    })
}

impl Device {
    /// Whether a range of sectors of the disk belongs to it; ranges without sectors (flushes) cannot tell.
    pub fn holds(&self, sector: u64, sectors: u64) -> bool {
        sectors == 0 || (sector >= self.start && sector < self.start.saturating_add(self.sectors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_device_is_refused() {
        let refusal = of(Path::new("/proc/self/status")).unwrap_err();
        assert!(refusal.0.contains("is on proc"), "{refusal}");
        let refusal = of(Path::new("/no/such/file")).unwrap_err();
        assert!(refusal.0.starts_with("/no/such/file: "), "{refusal}");
    }

    #[test]
    fn ranges_are_those_of_the_partition() {
        let device = Device {
            st_dev: 0x801,
            name: "sda1".to_owned(),
            own: kernel_number(8, 1),
            disk: kernel_number(8, 0),
            start: 2048,
            sectors: 100,
        };
        assert_eq!(device.own, 0x80_0001);
        assert!(device.holds(2048, 8) && device.holds(2147, 1) && device.holds(0, 0));
        assert!(!device.holds(2040, 8) && !device.holds(2148, 1));
    }
}
