//! The end of the server, by a signal or by itself, and what must not be left behind then.

use crate::system::signals::Signals;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files and folders that go when the command ends.
#[derive(Clone, Default)]
pub struct Ending(Arc<EndingState>);

#[derive(Default)]
struct EndingState {
    paths: Mutex<Vec<PathBuf>>,
    is_serving: AtomicBool,
}

impl Ending {
    /// Ends the command at a signal, from now on.
    pub fn at(signals: Signals) -> std::io::Result<Ending> {
        let ending = Ending::default();
        let watched = ending.clone();
        let watch = move || {
            let signal = signals.wait();
            watched.clean();
            // To be told to end is how a server ends; a conversion that was broken off has failed.
            let is_serving = watched.0.is_serving.load(Ordering::Relaxed);
            std::process::exit(if is_serving { 0 } else { 128 + signal });
        };
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(watch)?;
        Ok(ending)
    }

    /// Says that everything is ready: a signal is no failure any more.
    pub fn serving(&self) {
        self.0.is_serving.store(true, Ordering::Relaxed);
    }

    /// Has this file or folder removed at the end.
    pub fn removes(&self, path: &Path) {
        self.0.paths.lock().push(path.to_path_buf());
    }

    /// Leaves it alone, since it is gone.
    pub fn forgets(&self, path: &Path) {
        self.0.paths.lock().retain(|kept| kept != path);
    }

    /// Removes it all.
    pub fn clean(&self) {
        for path in self.0.paths.lock().drain(..) {
            // Files that are gone already need not be removed.
            drop(match path.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false => std::fs::remove_file(&path),
            });
        }
    }
}
