//! The temporary files and folders that are there: whoever ends a process in the middle of its work can have them removed.

use std::path::Path;
use std::sync::OnceLock;

/// Who is told of temporary files and folders.
#[derive(Clone, Copy, Debug)]
pub struct TemporaryObserver {
    /// One is about to be made.
    pub begin: fn(),
    /// One of this name has been made.
    pub made: fn(&Path),
    /// One of this name has been removed, or has its final name.
    pub gone: fn(&Path),
}

static OBSERVER: OnceLock<TemporaryObserver> = OnceLock::new();

/// Has this observer told of all temporary files and folders that are made from now on, by any thread. The first observer stays.
pub fn observe_temporaries(observer: TemporaryObserver) {
    OBSERVER.get_or_init(|| observer);
}

pub(crate) fn begin() {
    if let Some(observer) = OBSERVER.get() {
        (observer.begin)();
    }
}

pub(crate) fn made(path: &Path) {
    if let Some(observer) = OBSERVER.get() {
        (observer.made)(path);
    }
}

pub(crate) fn gone(path: &Path) {
    if let Some(observer) = OBSERVER.get() {
        (observer.gone)(path);
    }
}
