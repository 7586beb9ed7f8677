//! Counters of the kernel: perf_event_open(2), one group of them for each read.
//!
//! A read is a system call. Hardware counters are read without one where the kernel allows it: it shows in a page which register
//! counts, and what is to be added to it.

use super::names::{PerfEvent, SOFTWARE};
use std::io;
use std::os::raw::{c_int, c_ulong};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed, compiler_fence};

/// `struct perf_event_attr` as its first version has it.
#[repr(C)]
#[derive(Default)]
struct PerfAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// Times enabled and running, all values of the group.
const FORMAT: u64 = 1 | 2 | 8;
const CLOSE_ON_EXEC: c_ulong = 8;

/// Most counters in a group, and what a read of it gives in front of the values.
const MAX_COUNTERS: usize = blockfile::counts::MAX_COUNTERS;
const FRONT: usize = 3;

/// Counters that are read together.
pub struct CounterGroup {
    leader: c_int,
    members: Vec<GroupMember>,
    /// Whether all can be read without a system call.
    by_register: bool,
}

struct GroupMember {
    fd: c_int,
    page: Option<PerfPage>,
    /// Place of its value.
    place: usize,
}

fn open(event: &PerfEvent, leader: c_int, flags: u64) -> io::Result<c_int> {
    let attributes = PerfAttributes {
        kind: event.kind,
        size: size_of::<PerfAttributes>() as u32,
        config: event.config,
        read_format: FORMAT,
        flags,
        ..PerfAttributes::default()
    };
    // SAFETY: asks for a descriptor that counts for the running thread on any processor.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0,
            -1,
            leader,
            CLOSE_ON_EXEC,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(moved_away(fd as c_int))
}

/// A descriptor among the numbers that programs hardly come to: what closes all it does not know must not make us read a file
/// that is opened then.
fn moved_away(fd: c_int) -> c_int {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the limit; our own descriptor.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let from = limit.rlim_cur.min(4096) / 4 * 3;
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, from as c_int);
        if high < 0 {
            return fd;
        }
        libc::syscall(libc::SYS_close, fd);
        high
    }
}

/// Closes without passing through the program's or our own `close`.
fn close(fd: c_int) {
    // SAFETY: our own descriptor.
    unsafe { libc::syscall(libc::SYS_close, fd) };
}

/// Opens an event, without the kernel's part where the system demands it and something is left then.
fn open_allowed(event: &PerfEvent, leader: c_int) -> io::Result<c_int> {
    let user_only = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    if event.user_only {
        return open(event, leader, user_only);
    }
    match open(event, leader, 0) {
        // The kernel counts software events in the kernel: without the kernel nothing would be left.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && event.kind != SOFTWARE => {
            open(event, leader, user_only)
        }
        result => result,
    }
}

impl CounterGroup {
    /// Opens a counter for the running thread, whose value goes to `place`.
    pub fn new(event: &PerfEvent, place: usize) -> io::Result<CounterGroup> {
        let fd = open_allowed(event, -1)?;
        let mut group = CounterGroup {
            leader: fd,
            members: Vec::new(),
            by_register: true,
        };
        group.add(event, fd, place);
        Ok(group)
    }

    /// Adds a counter; fails if it cannot be counted together with the others.
    pub fn join(&mut self, event: &PerfEvent, place: usize) -> io::Result<()> {
        let fd = open_allowed(event, self.leader)?;
        self.add(event, fd, place);
        Ok(())
    }

    fn add(&mut self, event: &PerfEvent, fd: c_int, place: usize) {
        let page = (READS_REGISTERS && event.kind != SOFTWARE)
            .then(|| PerfPage::map(fd))
            .flatten();
        self.by_register &= page.is_some();
        self.members.push(GroupMember { fd, page, place });
    }

    /// Reads all counters to their places. False if that is no longer possible.
    pub fn read(&self, values: &mut [i64]) -> bool {
        self.by_register && self.read_registers(values) || self.read_all(values)
    }

    fn read_registers(&self, values: &mut [i64]) -> bool {
        for member in &self.members {
            // SAFETY: the page says that the register may be read, and which.
            let value = |page: &PerfPage| page.value(|register| unsafe { rdpmc(register) });
            let Some(found) = member.page.as_ref().and_then(value) else {
                return false;
            };
            if let Some(to) = values.get_mut(member.place) {
                *to = found;
            }
        }
        true
    }

    fn read_all(&self, values: &mut [i64]) -> bool {
        let mut buffer = [0u64; FRONT + MAX_COUNTERS];
        let wanted = (FRONT + self.members.len()) * 8;
        // SAFETY: there is room for as many values as there can be. errno is kept: it is the program's.
        let n = unsafe {
            let errno = *libc::__errno_location();
            let n = libc::syscall(libc::SYS_read, self.leader, buffer.as_mut_ptr(), wanted);
            *libc::__errno_location() = errno;
            n
        };
        let [count, enabled, running, rest @ ..] = &buffer;
        if n != wanted as i64 || *count != self.members.len() as u64 {
            return false;
        }
        for (member, &raw) in self.members.iter().zip(rest) {
            if let Some(to) = values.get_mut(member.place) {
                *to = scaled(raw, *enabled, *running);
            }
        }
        true
    }

    /// Number of counters.
    pub fn len(&self) -> usize {
        self.members.len()
    }
}

impl Drop for CounterGroup {
    fn drop(&mut self) {
        for member in self.members.drain(..) {
            drop(member.page);
            close(member.fd);
        }
    }
}

/// Value that a counter would show had it run all the time: counters take turns if there are more of them than registers.
fn scaled(raw: u64, enabled: u64, running: u64) -> i64 {
    if running == 0 || running >= enabled {
        return raw as i64;
    }
    (u128::from(raw) * u128::from(enabled) / u128::from(running)) as i64
}

/// The page that the kernel shows of a counter (`struct perf_event_mmap_page`).
struct PerfPage(NonNull<u8>);

const PAGE: usize = 4096;
const LOCK: usize = 8;
const INDEX: usize = 12;
const OFFSET: usize = 16;
const ENABLED: usize = 24;
const RUNNING: usize = 32;
const CAPABILITIES: usize = 40;
const WIDTH: usize = 48;
/// The register may be read by programs.
const USER_RDPMC: u64 = 1 << 2;

impl PerfPage {
    fn map(fd: c_int) -> Option<PerfPage> {
        // SAFETY: a new mapping of our own descriptor.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_READ,
                libc::MAP_SHARED,
                fd,
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return None;
        }
        let page = PerfPage(NonNull::new(address.cast())?);
        // SAFETY: the page just mapped, which is unmapped when it is not wanted.
        (unsafe { page.get::<u64>(CAPABILITIES) } & USER_RDPMC != 0).then_some(page)
    }

    /// # Safety
    /// A `T` stands at this offset.
    unsafe fn get<T>(&self, at: usize) -> T {
        // SAFETY: within the page; the kernel may change it at any time.
        unsafe { self.0.as_ptr().add(at).cast::<T>().read_volatile() }
    }

    /// The value, if the counter runs now and has always done so. `register` reads one.
    fn value(&self, register: impl Fn(u32) -> u64) -> Option<i64> {
        // SAFETY: the lock is an aligned word that the kernel stores to.
        let lock = unsafe { &*self.0.as_ptr().add(LOCK).cast::<AtomicU32>() };
        loop {
            let before = lock.load(Relaxed);
            compiler_fence(std::sync::atomic::Ordering::SeqCst);
            // SAFETY: the offsets are those of the structure.
            let (index, offset, width, always) = unsafe {
                (
                    self.get::<u32>(INDEX),
                    self.get::<i64>(OFFSET),
                    self.get::<u16>(WIDTH),
                    self.get::<u64>(ENABLED) == self.get::<u64>(RUNNING),
                )
            };
            if index == 0 || !always || !(1..=64).contains(&width) {
                return None;
            }
            let unused = 64 - u32::from(width);
            let counted = (register(index - 1) << unused) as i64 >> unused;
            compiler_fence(std::sync::atomic::Ordering::SeqCst);
            if lock.load(Relaxed) == before {
                return Some(offset.wrapping_add(counted));
            }
        }
    }
}

impl Drop for PerfPage {
    fn drop(&mut self) {
        // SAFETY: the mapping is our own.
        unsafe { libc::munmap(self.0.as_ptr().cast(), PAGE) };
    }
}

/// Whether this processor's counting registers are read here. On aarch64 a counter must be asked for in another way to be readable,
/// which few kernels allow; there, every read is a system call.
const READS_REGISTERS: bool = cfg!(target_arch = "x86_64");

/// Reads no register, as nobody asks for one here.
///
/// # Safety
/// None.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn rdpmc(_: u32) -> u64 {
    0
}

/// Reads a counting register.
///
/// # Safety
/// The kernel must have said that the program may.
#[cfg(target_arch = "x86_64")]
unsafe fn rdpmc(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: promised by the caller.
    unsafe {
        std::arch::asm!("rdpmc", in("ecx") register, out("eax") low, out("edx") high, options(nomem, nostack));
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::names::event;

    /// A page that stands where a kernel would map one.
    fn page(index: u32, offset: i64, width: u16, running: u64) -> PerfPage {
        // SAFETY: a new mapping, written to as far as it goes.
        unsafe {
            let at = libc::mmap(
                std::ptr::null_mut(),
                PAGE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
            .cast::<u8>();
            at.add(INDEX).cast::<u32>().write(index);
            at.add(OFFSET).cast::<i64>().write(offset);
            at.add(WIDTH).cast::<u16>().write(width);
            at.add(ENABLED).cast::<u64>().write(100);
            at.add(RUNNING).cast::<u64>().write(running);
            PerfPage(NonNull::new(at).expect("mapped"))
        }
    }

    #[test]
    fn registers_are_added_with_their_sign() {
        let read = |p: PerfPage, raw: u64| p.value(|register| if register == 2 { raw } else { 0 });
        assert_eq!(read(page(3, 1000, 48, 100), 5), Some(1005));
        // 48 bits that have been set back to −5.
        assert_eq!(read(page(3, 1000, 48, 100), (1 << 48) - 5), Some(995));
        // It does not run now, or has not always run.
        assert_eq!(read(page(0, 1000, 48, 100), 5), None);
        assert_eq!(read(page(3, 1000, 48, 99), 5), None);
    }

    #[test]
    fn values_that_took_turns_are_scaled() {
        assert_eq!(scaled(10, 100, 50), 20);
        assert_eq!(scaled(10, 100, 100), 10);
        assert_eq!(scaled(10, 100, 0), 10);
        assert_eq!(scaled(1 << 60, 300, 100), 3 << 60);
    }

    #[test]
    fn page_faults_are_counted_where_that_is_allowed() {
        let Some(faults) = event("page-faults") else {
            panic!("its name is known")
        };
        let Ok(mut group) = CounterGroup::new(&faults, 1) else {
            eprintln!("perf_event_open is forbidden here");
            return;
        };
        let switches = event("context-switches").expect("its name is known");
        group.join(&switches, 0).expect("both are software");
        let (mut before, mut after) = ([0; 2], [0; 2]);
        assert!(group.read(&mut before));
        // Not to be left out by the compiler.
        let pages = std::hint::black_box(vec![1u8; 64 * 4096]);
        assert!(group.read(&mut after));
        assert!(after[1] - before[1] >= 60, "{before:?} {after:?}");
        assert_eq!(pages.len(), 64 * 4096);
        close(group.leader);
        assert!(!group.read(&mut after), "a descriptor that is gone");
    }
}
