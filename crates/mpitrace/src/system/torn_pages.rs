//! Mapped files whose pages may go while they are read, since somebody shortens the file: reading such a page is answered by SIGBUS, which ends a
//! process. Of a mapping that has a [`PageGuard`] a page of zeros takes its place, and the guard is marked: whoever has
//! computed something from the mapping looks at the mark before he tells it.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Mappings that can be guarded at once.
pub const MAX_GUARDS: usize = 4096;

/// Address range of a mapped file. The handler finds by it whose page is gone.
#[derive(Debug)]
struct Region {
    is_taken: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
}

static REGIONS: [Region; MAX_GUARDS] = [const {
    Region {
        is_taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_torn: AtomicBool::new(false),
    }
}; MAX_GUARDS];
/// Former action of SIGBUS.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

/// The guard of a mapping. It has to be dropped before the mapping goes.
#[derive(Debug)]
pub struct PageGuard(&'static Region);

impl PageGuard {
    /// Has the handler look after a mapping; none if there are too many.
    pub fn of(mapping: &[u8]) -> Option<PageGuard> {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let take = |region: &&Region| !region.is_taken.swap(true, Ordering::AcqRel);
        let region = REGIONS.iter().find(take)?;
        let start = mapping.as_ptr() as usize;
        let end = start + mapping.len().next_multiple_of(rustix::param::page_size());
        region.end.store(end, Ordering::Relaxed);
        // From here on the handler may take it.
        region.start.store(start, Ordering::Release);
        Some(PageGuard(region))
    }

    /// Whether a part of the file was found gone; costs one load.
    pub fn is_torn(&self) -> bool {
        self.0.is_torn.load(Ordering::Relaxed)
    }
}

impl Drop for PageGuard {
    fn drop(&mut self) {
        self.0.start.store(0, Ordering::Release);
        self.0.is_torn.store(false, Ordering::Relaxed);
        self.0.is_taken.store(false, Ordering::Release);
    }
}

fn install() {
    // SAFETY: plain data, filled in by the call and read by the handler only; the handler has the signature that
    // SA_SIGINFO asks for, and calls nothing but atomics and system calls.
    unsafe {
        let before = Box::leak(Box::new(std::mem::zeroed::<libc::sigaction>()));
        libc::sigaction(libc::SIGBUS, std::ptr::null(), before);
        BEFORE.store(before, Ordering::Release);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

extern "C" fn on_bus_error(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over a valid siginfo_t; errno is this thread's. The pages that are replaced belong to a
    // mapping that is there, as it has a region, and is only read; those who read it see the mark.
    unsafe {
        let errno = *libc::__errno_location();
        let at = (*info).si_addr() as usize;
        let start = |region: &Region| region.start.load(Ordering::Acquire);
        let holds = |region: &&Region| {
            start(region) != 0 && (start(region)..region.end.load(Ordering::Relaxed)).contains(&at)
        };
        if let Some(region) = REGIONS.iter().find(holds) {
            region.is_torn.store(true, Ordering::Relaxed);
            // All later pages are gone as well.
            let page = at & !(libc::sysconf(libc::_SC_PAGESIZE) as usize - 1);
            let zeros = libc::mmap(
                page as *mut libc::c_void,
                region.end.load(Ordering::Relaxed) - page,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            );
            if zeros != libc::MAP_FAILED {
                *libc::__errno_location() = errno;
                return;
            }
        }
        // Not ours: it happens again, and goes where it went before.
        libc::sigaction(signal, BEFORE.load(Ordering::Acquire), std::ptr::null_mut());
    }
}
