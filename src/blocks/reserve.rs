//! Room in the address space for MPI_Finalize. A program may run under a limit (`ulimit -v`) and come close to it; an allocation that
//! fails would end it. So what the merge needs is set aside in MPI_Init, without any memory behind it, and given back when the
//! merge begins.

use parking_lot::Mutex;

/// What a merge takes, with the pieces in which the allocator grows.
const BYTES: usize = 40 << 20;

struct Held(*mut libc::c_void);
// SAFETY: an address that nobody reads or writes.
unsafe impl Send for Held {}

static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// Sets it aside, if there is so much.
pub fn hold() {
    // SAFETY: a new mapping at an address of the kernel's choice, which nobody may touch.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            BYTES,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if address != libc::MAP_FAILED {
        *HELD.lock() = Some(Held(address));
    }
}

/// Gives it back.
pub fn release() {
    if let Some(Held(address)) = HELD.lock().take() {
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(address, BYTES) };
    }
}
