//! `mpitrace blk` on file systems in files, behind loop devices: needs root, tracefs, loop devices and the mkfs of each file
//! system, and says so where they are missing.

use blockfile::define::{Definition, ServerKind};
use blockfile::operation::{self as op, OperationRecord};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use test_support::patience;

/// One after the other: what is left behind is looked for in the whole system.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poison| poison.into_inner())
}

fn mpitrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpitrace"))
        .args(arguments)
        .output()
        .unwrap()
}

/// Output of a command of the system, if there is such a command and it ends well.
fn system(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// A file system on a loop device, and a place beside it for the trace.
struct Disk {
    folder: TempDir,
    /// Block devices from the one that is mounted on to the one that is to be let go.
    device: String,
    lower: String,
}

impl Disk {
    /// `None`, with a message, where this is not possible.
    fn new(kind: &str, part: Option<u64>) -> Option<Disk> {
        let made = Disk::try_new(kind, part);
        if made.is_none() {
            test_support::skip(&format!(
                "{kind}: needs root, losetup, mkfs.{kind}, mount and, for partitions, addpart"
            ));
        }
        made
    }

    fn try_new(kind: &str, part: Option<u64>) -> Option<Disk> {
        let folder = tempfile::tempdir().ok()?;
        let image = folder.path().join("image");
        File::create(&image).ok()?.set_len(400 << 20).ok()?;
        let image = image.to_str()?;
        let lower = system("losetup", &["-f", "-P", "--show", image])?;
        let mut disk = Disk {
            folder,
            device: lower.clone(),
            lower,
        };
        if let Some(start) = part {
            let sectors = (380 << 20) / 512;
            system(
                "addpart",
                &[&disk.lower, "1", &start.to_string(), &sectors.to_string()],
            )?;
            disk.device = format!("{}p1", disk.lower);
        }
        system(&format!("mkfs.{kind}"), &["-q", &disk.device])?;
        let mount = disk.path("mount");
        fs::create_dir(&mount).ok()?;
        system("mount", &[&disk.device, mount.to_str()?])?;
        Some(disk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path("mount").join(name)
    }

    /// Starts to follow `paths`; `None`, with a message, where there is no tracing.
    fn start(&self, paths: &[&Path]) -> Option<()> {
        let (output, state) = (self.path("disk.blocks"), self.path("state"));
        let mut arguments = vec!["blk", "start", "--output", output.to_str().unwrap()];
        arguments.extend(["--state", state.to_str().unwrap()]);
        arguments.extend(paths.iter().map(|path| path.to_str().unwrap()));
        let output = mpitrace(&arguments);
        let printed = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert_eq!(output.status.code(), Some(2), "{printed}");
            assert!(
                ["only root", "tracefs", "tracing", "no event"]
                    .iter()
                    .any(|why| printed.contains(why)),
                "{printed}"
            );
            test_support::skip(&printed);
            return None;
        }
        Some(())
    }

    fn command(&self, command: &str, more: &[&str]) -> (i32, String) {
        let state = self.path("state");
        let mut arguments = vec!["blk", command, "--state", state.to_str().unwrap()];
        arguments.extend(more);
        let output = mpitrace(&arguments);
        let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap(), printed)
    }

    fn stop(&self, more: &[&str]) -> Trace {
        let (code, printed) = self.command("stop", more);
        assert_eq!(code, 0, "{printed}");
        assert!(!printed.contains("lost"), "{printed}");
        nothing_left();
        assert!(!self.path("state").exists());
        Trace::read(&self.path("disk.blocks"))
    }

    fn reader(&self) -> i32 {
        let state = fs::read_to_string(self.path("state")).unwrap();
        let pid = state.split("\"pid\":").nth(1).unwrap();
        pid.split(',').next().unwrap().trim().parse().unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.path("state").exists() {
            self.command("stop", &[]);
        }
        let mount = self.path("mount");
        for _ in 0..50 {
            let mounted = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
            if !mounted.contains(mount.to_str().unwrap())
                || system("umount", &[mount.to_str().unwrap()]).is_some()
            {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        if self.device != self.lower {
            system("delpart", &[&self.lower, "1"]);
        }
        system("losetup", &["-d", &self.lower]);
    }
}

/// No instance of ours is in tracefs, and no mount of ours.
fn nothing_left() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains("mpitrace /sys/kernel"), "{mounts}");
    if let Ok(instances) = fs::read_dir("/sys/kernel/tracing/instances") {
        for instance in instances.flatten() {
            let name = instance.file_name().into_string().unwrap();
            assert!(!name.starts_with("mpitrace-"), "{name}");
        }
    }
}

struct Transfer {
    kind: u16,
    time: u64,
    operation: OperationRecord,
}

impl Transfer {
    fn tid(&self) -> u32 {
        self.operation.request.unwrap().tid
    }
}

/// Offset in the file, on the device, length.
type Extents = Vec<(u64, u64, u64)>;

struct Trace {
    transfers: Vec<Transfer>,
    /// Time, inode, extents.
    extents: Vec<(u64, u64, Extents)>,
    device: String,
}

impl Trace {
    fn read(path: &Path) -> Trace {
        let bytes = fs::read(path).unwrap();
        let file = blockfile::file::BlockFile::new(&bytes).unwrap();
        assert_eq!(file.damage(), []);
        Trace::of(&file)
    }

    /// Waits until what has been written so far is as wanted.
    fn until(path: &Path, is_so: impl Fn(&Trace) -> bool) {
        let begun = Instant::now();
        loop {
            let bytes = fs::read(path).unwrap();
            let file = blockfile::file::BlockFile::new(&bytes).unwrap();
            if is_so(&Trace::of(&file)) {
                return;
            }
            assert!(begun.elapsed() < patience(), "it is not written");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn of(file: &blockfile::file::BlockFile<'_>) -> Trace {
        let mut trace = Trace {
            transfers: Vec::new(),
            extents: Vec::new(),
            device: String::new(),
        };
        for thread in file.threads() {
            let (mut records, mut last) = (thread.records(), 0);
            while let Some(record) = records.next() {
                if record.is_operation() {
                    assert!(record.stop() >= last, "in order of their ends");
                    last = record.stop();
                    assert_eq!(record.code, 0);
                    trace.transfers.push(Transfer {
                        kind: record.function,
                        time: record.start,
                        operation: OperationRecord::decode(record.payload).unwrap(),
                    });
                    continue;
                }
                match Definition::decode(record.function, record.payload).unwrap() {
                    Definition::Extents(file) => {
                        trace.extents.push((record.start, file.inode, file.extents));
                    }
                    Definition::Server(server) => {
                        assert_eq!(server.role, ServerKind::Device);
                        trace.device = server.name;
                    }
                    _ => {}
                }
            }
        }
        trace
    }

    /// Of each 512 bytes of a file how often they were transferred by operations of this kind and threads of this kind, with
    /// the places that were true at the time of each: those told next, else those told last.
    fn found(&self, kind: u16, inode: u64, size: u64, by: impl Fn(&Transfer) -> bool) -> Vec<u32> {
        let mut found = vec![0; size.div_ceil(512) as usize];
        for transfer in &self.transfers {
            if transfer.kind != kind || !by(transfer) {
                continue;
            }
            let (from, to) = (
                transfer.operation.offset as u64,
                (transfer.operation.offset + transfer.operation.size) as u64,
            );
            let of_file = || self.extents.iter().filter(|(_, i, _)| *i == inode);
            let places = of_file()
                .find(|(time, ..)| *time >= transfer.time)
                .or_else(|| of_file().next_back());
            for (logical, place, length) in places.into_iter().flat_map(|(.., e)| e) {
                let (first, last) = (from.max(*place), to.min(place + length));
                for at in (first..last.max(first)).step_by(512) {
                    if let Some(n) = found.get_mut(((at - place + logical) / 512) as usize) {
                        *n += 1;
                    }
                }
            }
        }
        found
    }

    fn writes(&self, inode: u64, size: u64, by: impl Fn(&Transfer) -> bool) -> Vec<u32> {
        self.found(op::DEVICE_WRITE, inode, size, by)
    }
}

fn tid() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

fn open(path: &Path, flags: i32) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(flags)
        .open(path)
        .unwrap()
}

/// A buffer as O_DIRECT wants it.
struct Aligned(Vec<u8>, usize);

impl Aligned {
    fn new(size: usize) -> Aligned {
        let bytes = vec![7u8; size + 4096];
        let at = bytes.as_ptr().align_offset(4096);
        Aligned(bytes, at)
    }
    fn bytes(&mut self) -> &mut [u8] {
        let (at, size) = (self.1, self.0.len() - 4096);
        &mut self.0[at..at + size]
    }
}

fn counts(found: &[u32]) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for &n in found {
        *counts.entry(n).or_default() += 1;
    }
    counts
}

/// Every byte of every file is found once for each time that it was written out.
fn every_byte_once(kind: &str) {
    let _alone = alone();
    let Some(disk) = Disk::new(kind, None) else {
        return;
    };
    let Some(()) = disk.start(&[&disk.path("mount")]) else {
        return;
    };
    let me = tid();
    let by_me = |t: &Transfer| t.tid() == me;

    // Past the page cache: 8 times 64 KB, in two orders, and read again.
    let direct = open(&disk.file("direct"), libc::O_DIRECT);
    let mut buffer = Aligned::new(64 * 1024);
    for i in [0, 1, 2, 3, 7, 6, 5, 4] {
        direct.write_all_at(buffer.bytes(), i * 64 * 1024).unwrap();
    }
    for i in 0..4 {
        direct.read_exact_at(buffer.bytes(), i * 64 * 1024).unwrap();
    }
    // In the page cache: written by pieces, out at fsync; twice page 0; then more, left to whoever writes it out.
    let cached = open(&disk.file("cached"), 0);
    for i in 0..40 {
        cached.write_all_at(&[1; 100], i * 100).unwrap();
    }
    for i in 0..8 {
        cached
            .write_all_at(&[2; 256 * 1024], 65_536 + i * 256 * 1024)
            .unwrap();
    }
    cached.sync_all().unwrap();
    cached.write_all_at(&[3; 50], 1000).unwrap();
    cached.sync_data().unwrap();
    cached.write_all_at(&[4; 512 * 1024], 8 << 20).unwrap();
    // Read from the device, since the cache has it no more.
    let cold = open(&disk.file("cold"), 0);
    cold.write_all_at(&[5; 300_000], 0).unwrap();
    cold.sync_all().unwrap();
    // SAFETY: a plain call on our descriptor.
    unsafe { libc::posix_fadvise(cold.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    let mut all = Vec::new();
    File::open(disk.file("cold"))
        .unwrap()
        .read_to_end(&mut all)
        .unwrap();
    // Removed, made longer, made anew: all before the end.
    let gone = open(&disk.file("gone"), 0);
    gone.write_all_at(&[6; 200_000], 0).unwrap();
    gone.sync_all().unwrap();
    let gone_inode = gone.metadata().unwrap().ino();
    drop(gone);
    // Its place must be known before it goes.
    Trace::until(&disk.path("disk.blocks"), |trace| {
        trace.extents.iter().any(|of| of.1 == gone_inode)
    });
    fs::remove_file(disk.file("gone")).unwrap();
    let inode = |file: &File| file.metadata().unwrap().ino();
    let inodes = [inode(&direct), inode(&cached), inode(&cold)];
    drop((direct, cached, cold));
    let trace = disk.stop(&[]);
    assert!(trace.device.starts_with("loop"), "{}", trace.device);

    let size = 512 * 1024;
    assert_eq!(
        counts(&trace.writes(inodes[0], size, by_me)),
        [(1, 1024)].into()
    );
    assert_eq!(
        counts(&trace.writes(inodes[0], size, |_| true)),
        [(1, 1024)].into()
    );
    let reads = trace.found(op::DEVICE_READ, inodes[0], size, by_me);
    assert_eq!(counts(&reads), [(0, 512), (1, 512)].into());
    assert_eq!(counts(&reads[..512]), [(1, 512)].into());
    // Reads of what is there are known to have passed the cache by.
    for transfer in &trace.transfers {
        let direct = transfer.operation.flags & op::DIRECT != 0;
        let inode = transfer.operation.request.unwrap().inode;
        assert!(!direct || inode == inodes[0], "{inode}");
    }
    let direct = trace.found(op::DEVICE_READ, inodes[0], size, |t| {
        t.operation.flags & op::DIRECT != 0
    });
    // Kernels before 6.6 do not tell.
    assert!(direct == reads || !direct.contains(&1));

    let size = (8 << 20) + 512 * 1024;
    let found = trace.writes(inodes[1], size, |_| true);
    let page = 8;
    let block = fs_block(kind) / 512;
    assert_eq!(counts(&found[..block]), [(2, block)].into());
    assert!(found[block..page].iter().all(|n| [1, 2].contains(n)));
    assert_eq!(counts(&found[page..128]), [(0, 120)].into());
    assert_eq!(counts(&found[128..128 + 4096]), [(1, 4096)].into());
    assert_eq!(
        counts(&found[128 + 4096..16384]),
        [(0, 16384 - 4224)].into()
    );
    assert_eq!(counts(&found[16384..]), [(1, 1024)].into());
    let mine = trace.writes(inodes[1], size, by_me);
    assert_eq!(counts(&mine[128..128 + 4096]), [(1, 4096)].into());
    let late = trace.writes(inodes[1], size, |t| t.tid() == 0);
    assert_eq!(counts(&late[16384..]), [(1, 1024)].into());

    let reads = trace.found(op::DEVICE_READ, inodes[2], 300_000, by_me);
    assert_eq!(counts(&reads), [(1, 300_000usize.div_ceil(512))].into());
    assert_eq!(
        counts(&trace.writes(gone_inode, 200_000, by_me)),
        [(1, 200_000usize.div_ceil(512))].into()
    );
}

/// Smallest unit that is written out of a page.
fn fs_block(kind: &str) -> usize {
    // mkfs.ext4 takes 1 KB for small devices.
    if kind == "ext4" { 1024 } else { 4096 }
}

#[test]
fn every_byte_once_ext4() {
    every_byte_once("ext4");
}

#[test]
fn every_byte_once_xfs() {
    every_byte_once("xfs");
}

#[test]
fn partitions() {
    let _alone = alone();
    let start = 12_288;
    let Some(disk) = Disk::new("ext4", Some(start)) else {
        return;
    };
    // A file that is not there yet.
    let path = disk.file("later");
    let Some(()) = disk.start(&[&path]) else {
        return;
    };
    let file = open(&path, 0);
    file.write_all_at(&[9; 100_000], 0).unwrap();
    file.sync_all().unwrap();
    let inode = file.metadata().unwrap().ino();
    drop(file);
    let other = open(&disk.file("other"), 0);
    other.write_all_at(&[9; 100_000], 0).unwrap();
    let other = other.metadata().unwrap().ino();
    let trace = disk.stop(&[]);
    let found = trace.writes(inode, 100_000, |t| t.tid() == tid());
    assert_eq!(counts(&found), [(1, 100_000usize.div_ceil(512))].into());
    let (.., extents) = trace.extents.last().unwrap();
    assert!(extents.iter().all(|(_, place, _)| *place >= start * 512));
    assert!(
        trace.extents.iter().all(|(_, i, _)| *i != other),
        "was not named"
    );
    // On the disk below, the file's bytes stand there.
    let mut below = vec![0; 4096];
    let image = File::open(disk.path("image")).unwrap();
    image.read_exact_at(&mut below, extents[0].1).unwrap();
    assert_eq!(below, [9; 4096]);
}

#[test]
fn what_is_killed_leaves_nothing() {
    let _alone = alone();
    let Some(disk) = Disk::new("ext4", None) else {
        return;
    };
    let Some(()) = disk.start(&[&disk.path("mount")]) else {
        return;
    };
    let (code, printed) = disk.command("status", &["--json"]);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("\"operations\""), "{printed}");
    // A second one with the same state is refused.
    let output = disk.path("disk.blocks");
    let again = disk.command(
        "start",
        &["-o", "/dev/null", disk.path("mount").to_str().unwrap()],
    );
    assert_eq!(again.0, 2, "{}", again.1);
    assert!(again.1.contains("already"), "{}", again.1);
    let kill = |disk: &Disk| {
        let reader = disk.reader();
        // SAFETY: a process that we started.
        unsafe { libc::kill(reader, libc::SIGKILL) };
        let begun = Instant::now();
        let stat = format!("/proc/{reader}/stat");
        while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
            assert!(begun.elapsed() < patience());
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let file = open(&disk.file("f"), 0);
    file.write_all_at(&[1; 50_000], 0).unwrap();
    file.sync_all().unwrap();
    Trace::until(&output, |trace| {
        trace.transfers.iter().any(|t| t.tid() == tid())
    });
    kill(&disk);
    let (code, printed) = disk.command("stop", &[]);
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("has died") && printed.contains("disk.blocks"),
        "{printed}"
    );
    nothing_left();
    assert!(!disk.path("state").exists() && !disk.path("state.socket").exists());
    // Everything written until then is there.
    let trace = Trace::read(&output);
    assert!(trace.transfers.iter().any(|t| t.tid() == tid()));
    fs::remove_file(&output).unwrap();
    // The next start cleans, too.
    disk.start(&[&disk.path("mount")]).unwrap();
    kill(&disk);
    fs::remove_file(&output).unwrap();
    disk.start(&[&disk.path("mount")]).unwrap();
    disk.stop(&[]);
    let (code, printed) = disk.command("stop", &[]);
    assert_eq!(code, 2, "{printed}");
    assert_eq!(disk.command("status", &[]).0, 1);
}

#[test]
fn a_signal_ends_it_well() {
    let _alone = alone();
    let Some(disk) = Disk::new("ext4", None) else {
        return;
    };
    let Some(()) = disk.start(&[&disk.path("mount")]) else {
        return;
    };
    let file = open(&disk.file("f"), 0);
    file.write_all_at(&[1; 50_000], 0).unwrap();
    // SAFETY: a process that we started.
    unsafe { libc::kill(disk.reader(), libc::SIGTERM) };
    let begun = Instant::now();
    while disk.path("state").exists() {
        assert!(begun.elapsed() < patience());
        std::thread::sleep(Duration::from_millis(10));
    }
    nothing_left();
    let trace = Trace::read(&disk.path("disk.blocks"));
    let inode = file.metadata().unwrap().ino();
    let found = trace.writes(inode, 50_000, |_| true);
    assert_eq!(counts(&found), [(1, 98)].into());
}

#[test]
fn lost_events_are_counted() {
    let _alone = alone();
    let Some(disk) = Disk::new("ext4", None) else {
        return;
    };
    let Some(()) = disk.start(&[&disk.path("mount")]) else {
        return;
    };
    let reader = disk.reader();
    let instances = fs::read_dir("/sys/kernel/tracing/instances").unwrap();
    for instance in instances.flatten() {
        if instance
            .file_name()
            .to_string_lossy()
            .contains(&format!("-{reader}-"))
        {
            fs::write(instance.path().join("buffer_size_kb"), "8").unwrap();
        }
    }
    // SAFETY: a process that we started.
    unsafe { libc::kill(reader, libc::SIGSTOP) };
    let direct = open(&disk.file("direct"), libc::O_DIRECT);
    let mut buffer = Aligned::new(4096);
    for i in 0..2000 {
        direct.write_all_at(buffer.bytes(), i % 16 * 4096).unwrap();
    }
    // SAFETY: as above.
    unsafe { libc::kill(reader, libc::SIGCONT) };
    let (code, printed) = disk.command("stop", &[]);
    assert_eq!(code, 0, "{printed}");
    let line = printed
        .lines()
        .find(|line| line.contains("events were lost"));
    let count = line.unwrap().split(' ').nth(1).unwrap();
    assert!(count.parse::<u64>().unwrap() > 4000, "{printed}");
    let bytes = fs::read(disk.path("disk.blocks")).unwrap();
    let file = blockfile::file::BlockFile::new(&bytes).unwrap();
    let mut reported = 0;
    for thread in file.threads() {
        let mut records = thread.records();
        while let Some(record) = records.next() {
            if let Some(Definition::Lost { count, .. }) =
                Definition::decode(record.function, record.payload)
            {
                reported += count;
            }
        }
    }
    assert!(reported > 4000, "{reported}");
    nothing_left();
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let output = folder.path().join("x.blocks");
    let start = |path: &str| {
        let output = mpitrace(&[
            "blk",
            "start",
            "--state",
            state.to_str().unwrap(),
            "-o",
            output.to_str().unwrap(),
            path,
        ]);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), printed)
    };
    let (code, printed) = start("/proc/self");
    assert_eq!(code, Some(2));
    assert!(printed.contains("is on proc"), "{printed}");
    if Path::new("/dev/shm").is_dir() {
        let (code, printed) = start("/dev/shm/x");
        assert_eq!(code, Some(2));
        assert!(
            printed.contains("tmpfs") && printed.contains("memory"),
            "{printed}"
        );
    }
    let (code, printed) = start("/no/such/folder/x");
    assert_eq!(code, Some(2), "{printed}");
    assert!(!state.exists() && !output.exists());
    nothing_left();
}
