//! Annotations: MPI_Pcontrol's level 2, with a printf format and what it asks for behind it, and level 3, with a 64-bit key
//! before these, as DUMPI has them.
//!
//! The MPI standard has a level 2 of its own, "flush", without further arguments, and leaves all others to whoever listens: a
//! program may mean none of this by its levels. So nothing is taken for text that is not ([`crate::api::printf`]).

use crate::api::arguments::Arguments;
use crate::api::printf;
use crate::call::modes;
use crate::lifecycle::open;
use crate::platform::say;
use crate::thread::current;
use crate::thread::records;
use crate::thread::state::Thread;
use crate::thread::wiped::is_alone;
use crate::thread::within::inside;
use blockfile::define::Definition;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Keys that the program does not give count up from here.
const FIRST_KEY: u64 = 4096;
static NEXT_KEY: AtomicU64 = AtomicU64::new(FIRST_KEY);

/// Longest text that is kept, bytes: a record must fit a block, and DUMPI's labels have 16-bit lengths.
const MAX_TEXT_BYTES: usize = 32 << 10;

/// Takes what MPI_Pcontrol was called with, `arguments` being those behind the level. Nothing is done for other levels than
/// 2 and 3, while recording is off, and inside another MPI call.
///
/// # Safety
/// As [`Arguments::word`].
pub unsafe fn annotate(level: c_int, mut arguments: Arguments) {
    let t = running_thread();
    // SAFETY: the state of the running thread.
    if t.is_null() || unsafe { (*t).outer_stack } != 0 || !modes::wanted() || !is_alone() {
        return;
    }
    // SAFETY: the arguments by the caller, the state of the running thread.
    unsafe {
        let given = match level {
            2 => None,
            3 => Some(arguments.word()),
            _ => return,
        };
        let Some(text) = printf::text(arguments, MAX_TEXT_BYTES) else {
            return;
        };
        if let Some(key) = given
            && !(1..FIRST_KEY).contains(&key)
        {
            say::on_first_rank(&format!(
                "trace: MPI_Pcontrol(3, {key}, ...): the key is outside the recommended range 1 to {}",
                FIRST_KEY - 1
            ));
        }
        let key = given.unwrap_or_else(|| NEXT_KEY.fetch_add(1, Relaxed));
        records::put_moment(&mut *t, &Definition::Annotation { key, text });
    }
}

/// The running thread's state, made if need be; null when nothing can be recorded.
fn running_thread() -> *mut Thread {
    let t = current();
    if t.is_null() && !inside() {
        return open::start_thread();
    }
    t
}
