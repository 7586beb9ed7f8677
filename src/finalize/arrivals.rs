//! Waiting for the ranks of this host in MPI_Finalize, without a message of ours: each adds a byte to a file beside the block
//! files, and goes on when there are as many as ranks on this host. So a rank that never comes leaves no request of ours pending
//! in MPI, of which some libraries complain. The file is a hint: what it says wrongly shows when the ranks meet.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::pause;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use trace_model::files;

/// A rank has come.
const ARRIVED: u8 = b'a';
/// A rank has given up: nobody needs to wait any more.
const GIVEN_UP: u8 = b'g';

/// Waits until `expected` ranks of the run with identity `run` have come here, which write their block files to `folder`.
/// `meanwhile` is called again and again: the ranks that have not come may need something of this one.
///
/// # Errors
/// One did not come within the `deadline`, or another has given up. Where the file cannot be used there is none.
pub fn wait(
    folder: &Path,
    run: u64,
    expected: u32,
    deadline: Option<Duration>,
    meanwhile: impl Fn(),
) -> Result<(), ExchangeFailure> {
    let path = folder.join(format!("libtrace.{run:016x}.{}.arrived", files::user()));
    let Ok(mut file) = files::open_shared(&path, true, 0o600) else {
        return Ok(());
    };
    if run == 0 || expected < 2 || file.write_all(&[ARRIVED]).is_err() {
        drop(std::fs::remove_file(&path));
        return Ok(());
    }
    let begun = Instant::now();
    for turn in 0.. {
        let said = read(&mut file);
        let arrived = said.iter().filter(|&&byte| byte == ARRIVED).count();
        let are_all_here = arrived >= expected as usize;
        if are_all_here {
            // Whoever still waits has it open.
            drop(std::fs::remove_file(&path));
        }
        if said.contains(&GIVEN_UP) {
            return Err(ExchangeFailure::Absent);
        }
        if are_all_here {
            return Ok(());
        }
        if deadline.is_some_and(|limit| begun.elapsed() > limit) {
            drop(file.write_all(&[GIVEN_UP]));
            return Err(ExchangeFailure::Absent);
        }
        meanwhile();
        pause(turn);
    }
    Ok(())
}

/// Everything that the ranks have written so far.
fn read(file: &mut File) -> Vec<u8> {
    let mut said = Vec::new();
    drop(file.rewind().and_then(|()| file.read_to_end(&mut said)));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("arrivals-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn all_go_on_when_the_last_has_come() {
        let folder = folder("all");
        let arrive = || wait(&folder, 7, 3, Some(Duration::from_secs(60)), || ());
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..3).map(|_| scope.spawn(arrive)).collect();
            assert!(ranks.into_iter().all(|rank| rank.join().unwrap() == Ok(())));
        });
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().count(),
            0,
            "nothing is left"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn whoever_comes_too_late_does_not_wait_again() {
        let folder = folder("late");
        let first = wait(&folder, 7, 2, Some(Duration::from_millis(20)), || ());
        assert_eq!(first, Err(ExchangeFailure::Absent));
        assert_eq!(
            wait(&folder, 7, 2, None, || ()),
            Err(ExchangeFailure::Absent)
        );
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().count(),
            0,
            "nothing is left"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }
}
