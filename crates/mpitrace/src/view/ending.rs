//! The end of the server, by a signal or by itself, and what must not be left behind then.

use crate::system::signals::Signals;
use parking_lot::Mutex;
use std::fs;
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
            // Held to the end: nothing is made any more.
            let mut paths = watched.0.paths.lock();
            remove(&mut paths);
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

    /// Makes a file or folder that is removed at the end, and tells its path. A signal that comes meanwhile waits until it is made.
    ///
    /// # Errors
    /// The error of `make`.
    pub fn makes<T, E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> Result<T, E> {
        let mut paths = self.0.paths.lock();
        let made = make()?;
        paths.push(path(&made));
        Ok(made)
    }

    /// Leaves it alone, since it is gone.
    pub fn forgets(&self, path: &Path) {
        self.0.paths.lock().retain(|kept| kept != path);
    }

    /// Removes it all.
    pub fn clean(&self) {
        remove(&mut self.0.paths.lock());
    }
}

/// How often a folder is removed into which somebody may just have put a file.
const MOST_TRIES: usize = 100;

/// Removes files and folders; files that are gone already need not be.
fn remove(paths: &mut Vec<PathBuf>) {
    for path in paths.drain(..) {
        if !path.is_dir() {
            drop(fs::remove_file(&path));
            continue;
        }
        // Under another name, so that nobody finds it who still writes into it.
        let mut name = path.clone().into_os_string();
        name.push(".removed");
        let folder = match fs::rename(&path, &name) {
            Ok(()) => PathBuf::from(name),
            Err(_) => path,
        };
        for _ in 0..MOST_TRIES {
            if fs::remove_dir_all(&folder).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversion goes on writing until the command has ended.
    #[test]
    fn a_folder_goes_although_somebody_writes_into_it() {
        let kept = tempfile::tempdir().expect("a folder");
        let ending = Ending::default();
        for round in 0..50 {
            let folder = kept.path().join(round.to_string());
            let made = ending.makes(|| fs::create_dir(&folder), |()| folder.clone());
            made.expect("a folder");
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for file in 0.. {
                        drop(fs::write(folder.join(file.to_string()), "rows"));
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                std::thread::yield_now();
                ending.clean();
                is_over.store(true, Ordering::Relaxed);
            });
            let left = fs::read_dir(kept.path()).expect("a folder").count();
            assert_eq!(left, 0, "round {round}");
        }
    }
}
