//! Functions of higher floors that calls need, registered before the first call can come in: every exported function registers
//! it
//! when it is called for the first time.

use crate::thread::state::Thread;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Functions of higher floors.
pub struct Hooks {
    /// Makes the state of the running thread, and of the process at its first call; null when nothing can be recorded.
    pub start_thread: fn() -> *mut Thread,
    /// Recording has been switched on or off.
    pub switched: fn(bool),
    /// This is a forked child, of which nothing has told so far.
    pub forked: fn(),
}

static HOOKS: AtomicPtr<Hooks> = AtomicPtr::new(std::ptr::null_mut());

/// Registers the functions.
pub fn register(hooks: &'static Hooks) {
    HOOKS.store(std::ptr::from_ref(hooks).cast_mut(), Ordering::Release);
}

fn registered() -> Option<&'static Hooks> {
    // SAFETY: null, or what `register` was given, which is never changed.
    unsafe { HOOKS.load(Ordering::Acquire).as_ref() }
}

/// Makes the state of the running thread; null when nothing can be recorded.
pub fn start_thread() -> *mut Thread {
    registered().map_or(std::ptr::null_mut(), |hooks| (hooks.start_thread)())
}

/// Says that recording has been switched on or off.
pub fn switched(on: bool) {
    if let Some(hooks) = registered() {
        (hooks.switched)(on);
    }
}

/// Says that this is a forked child.
#[cold]
pub fn forked() {
    if let Some(hooks) = registered() {
        (hooks.forked)();
    }
}
