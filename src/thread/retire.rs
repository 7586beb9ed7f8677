//! Threads that end: what a thread kept goes to the next one that begins. So a program that starts a thousand short threads
//! has as many lines in its trace, blocks and states as it had threads at a time, and not a thousand.
//!
//! One that ends inside an MPI call (cancelled, or left by pthread_exit in a callback) keeps its state for good: what it was
//! doing shows as unfinished. So does the thread that called first, whose line is that of the process.

use crate::thread::current;
use crate::thread::current::set_current;
use crate::thread::records::put_definition;
use crate::thread::state::Thread;
use crate::thread::tids;
use crate::thread::wiped::is_alone;
use crate::thread::within::within;
use blockfile::define::Definition;
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

/// A state whose thread has ended.
struct IdleThread(NonNull<Thread>);
// SAFETY: states live until the process ends; this one has no thread that would touch it.
unsafe impl Send for IdleThread {}

static IDLE: Mutex<Vec<IdleThread>> = Mutex::new(Vec::new());

/// The system's key by whose destructor the end of a thread is seen; it runs behind the destructors of C++'s thread-local
/// variables, which may still call MPI.
fn key() -> Option<libc::pthread_key_t> {
    static KEY: OnceLock<Option<libc::pthread_key_t>> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the destructor is a function of this library, which is never unloaded: the program calls into it.
        let failed = unsafe { libc::pthread_key_create(&mut key, Some(ended)) };
        (failed == 0).then_some(key)
    })
}

/// Keys for whose values the C library has places in each thread.
const KEYS_WITHOUT_ALLOCATION: libc::pthread_key_t = 32;

/// Notes that `t` is the running thread's state, to be given back when the thread ends. With `anywhere` memory for the note is
/// not to be taken: where it would need some, the state is not given back.
pub fn watch(t: *mut Thread, anywhere: bool) {
    if let Some(key) = key().filter(|&key| key < KEYS_WITHOUT_ALLOCATION || !anywhere) {
        // SAFETY: a key of ours. Where the system has no memory for it, the state is not given back.
        unsafe { libc::pthread_setspecific(key, t.cast()) };
    }
}

/// Most times that a beginning thread lets others run while one of them has the list.
const MAX_LOCK_TRIES: usize = 64;

/// The state of a thread that has ended, for the running one; `None` if there is none, or others have the list for long: that
/// may be what this thread was doing when a signal came, so it is not waited for without end.
pub fn take() -> Option<NonNull<Thread>> {
    for _ in 0..MAX_LOCK_TRIES {
        if let Some(mut idle) = IDLE.try_lock() {
            return idle.pop().map(|idle| idle.0);
        }
        std::thread::yield_now();
    }
    None
}

unsafe extern "C" fn ended(t: *mut c_void) {
    let Some(mut state) = NonNull::new(t.cast::<Thread>()) else {
        return;
    };
    // SAFETY: the state of the running thread, which nobody else touches.
    let t = unsafe { state.as_mut() };
    if t.outer_stack != 0 || current() != state.as_ptr() || !is_alone() {
        return;
    }
    // Functions and regions that pthread_exit has left open are the next thread's no more.
    within(|| put_definition(t, &Definition::ThreadEnd));
    t.functions.thread_ended();
    if t.number == 0 {
        return;
    }
    // From here on a call of this thread, in another key's destructor, is that of a new one.
    set_current(std::ptr::null_mut());
    within(|| {
        if tids::in_use() {
            // Who asks from outside knows the thread by its number in the system: it must not stand for two.
            if !t.discarding {
                t.store.put_full(t.block);
            }
        } else {
            IDLE.lock().push(IdleThread(state));
        }
    });
}
