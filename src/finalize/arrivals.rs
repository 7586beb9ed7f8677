//! Waiting for the ranks of this host in MPI_Finalize, without a message of ours: each adds a word to a file beside the block
//! files, and goes on when there are as many as ranks on this host. The word is the number of collective calls that the rank has made on
//! MPI_COMM_WORLD, and a letter. So a rank that never comes leaves no request of ours pending
//! in MPI, of which some libraries complain. The file is a hint: what it says wrongly shows when the ranks meet. Hosts may share the
//! folder, so each has a file of its own.

use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::pause;
use crate::exchange::patience::Patience;
use crate::platform::job;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;
use trace_model::files;

/// A rank has come.
const ARRIVED: u8 = b'a';
/// A rank has come, and its limits leave MPI no memory for messages of the merge.
const STARVED: u8 = b's';
/// A rank has given up: nobody needs to wait any more.
const GIVEN_UP: u8 = b'g';

/// The ranks of a run on one host, which wait for each other.
#[derive(Clone, Copy)]
pub struct HostOfRun<'a> {
    /// Identity of the run; 0 if it has none.
    pub run: u64,
    /// Identity of the host, as no other host of the run has it.
    pub host: &'a str,
    /// Number of ranks of the run on the host.
    pub expected: u32,
}

/// What a rank says when it comes.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// Whether its limits leave MPI no memory for messages of the merge.
    pub is_starved: bool,
    /// Number of collective calls on MPI_COMM_WORLD that it has begun.
    pub collectives: u64,
}

/// What the ranks of a host have said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Number of ranks that have no memory for messages.
    pub starved: u64,
    /// Least and most collective calls on MPI_COMM_WORLD that a rank has begun; `None` where not every rank has told it.
    pub collectives: Option<(u64, u64)>,
}

/// Waits until all ranks of `here` have come, which write their block files to `folder`, and gives what they have said. `own` is what this one
/// says. `meanwhile` is called again and again: the ranks that have not come may need something of this one.
///
/// # Errors
/// One did not come within the `deadline`, or another has given up. Where the file cannot be used there is none.
pub fn wait(
    folder: &Path,
    here: HostOfRun<'_>,
    own: Arrival,
    deadline: Option<Duration>,
    meanwhile: impl Fn(),
) -> Result<Arrivals, ExchangeFailure> {
    let HostOfRun {
        run,
        host,
        expected,
    } = here;
    let alone = Arrivals {
        starved: u64::from(own.is_starved),
        collectives: None,
    };
    let letter = if own.is_starved { STARVED } else { ARRIVED };
    let word = format!("{}{}", own.collectives, char::from(letter));
    let (host, user) = (job::hash(host), files::user());
    let path = folder.join(blockfile::arrivals::name(run, host, user));
    let Ok(mut file) = files::open_shared(&path, true, 0o600) else {
        return Ok(alone);
    };
    if run == 0 || expected < 2 || file.write_all(word.as_bytes()).is_err() {
        drop(std::fs::remove_file(&path));
        return Ok(alone);
    }
    let mut patience = Patience::new(deadline);
    for turn in 0.. {
        let said = read(&mut file);
        let count = |wanted: u8| said.iter().filter(|&&byte| byte == wanted).count() as u64;
        let starved = count(STARVED);
        let are_all_here = count(ARRIVED) + starved >= u64::from(expected);
        if are_all_here {
            // Whoever still waits has it open.
            drop(std::fs::remove_file(&path));
        }
        if said.contains(&GIVEN_UP) {
            return Err(ExchangeFailure::Absent);
        }
        if are_all_here {
            return Ok(Arrivals {
                starved,
                collectives: collectives(&said),
            });
        }
        if patience.is_over() {
            drop(file.write_all(&[GIVEN_UP]));
            return Err(ExchangeFailure::Absent);
        }
        meanwhile();
        pause(turn);
    }
    Ok(alone)
}

/// Everything that the ranks have written so far.
fn read(file: &mut File) -> Vec<u8> {
    let mut said = Vec::new();
    drop(file.rewind().and_then(|()| file.read_to_end(&mut said)));
    said
}

/// Least and most of the numbers in front of the letters; `None` if one has no number.
fn collectives(said: &[u8]) -> Option<(u64, u64)> {
    let words = said.split_inclusive(|byte| !byte.is_ascii_digit());
    let numbers: Option<Vec<u64>> = words
        .map(|word| {
            let (_, digits) = word.split_last()?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        })
        .collect();
    let numbers = numbers?;
    Some((*numbers.iter().min()?, *numbers.iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(expected: u32) -> HostOfRun<'static> {
        HostOfRun {
            run: 7,
            host: "a",
            expected,
        }
    }

    /// What a rank with memory says.
    fn own(collectives: u64) -> Arrival {
        Arrival {
            is_starved: false,
            collectives,
        }
    }

    fn told(starved: u64, collectives: (u64, u64)) -> Result<Arrivals, ExchangeFailure> {
        Ok(Arrivals {
            starved,
            collectives: Some(collectives),
        })
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("arrivals-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn all_go_on_when_the_last_has_come() {
        let folder = folder("all");
        let limit = Some(Duration::from_secs(60));
        let arrive = || wait(&folder, here(3), own(12), limit, || ());
        std::thread::scope(|scope| {
            let ranks: Vec<_> = (0..3).map(|_| scope.spawn(arrive)).collect();
            for rank in ranks {
                assert_eq!(rank.join().unwrap(), told(0, (12, 12)));
            }
        });
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().count(),
            0,
            "nothing is left"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn all_hear_of_ranks_that_are_out_of_step() {
        let folder = folder("step");
        let limit = Some(Duration::from_secs(60));
        let arrive = |collectives| wait(&folder, here(3), own(collectives), limit, || ());
        std::thread::scope(|scope| {
            let ranks = [10, 9, 10].map(|count| scope.spawn(move || arrive(count)));
            for rank in ranks {
                assert_eq!(rank.join().unwrap(), told(0, (9, 10)));
            }
        });
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_recorder_that_tells_no_number_of_calls_leaves_it_open() {
        assert_eq!(collectives(b"10a9s10a"), Some((9, 10)));
        assert_eq!(collectives(b"0a"), Some((0, 0)));
        assert_eq!(collectives(b"10aa10a"), None);
        assert_eq!(collectives(b""), None);
    }

    #[test]
    fn all_hear_of_ranks_without_memory() {
        let folder = folder("starved");
        let limit = Some(Duration::from_secs(60));
        let arrive = |is_starved| {
            let own = Arrival {
                is_starved,
                ..own(1)
            };
            wait(&folder, here(3), own, limit, || ())
        };
        std::thread::scope(|scope| {
            let ranks =
                [true, false, true].map(|is_starved| scope.spawn(move || arrive(is_starved)));
            for rank in ranks {
                assert_eq!(rank.join().unwrap(), told(2, (1, 1)));
            }
        });
        let starved = Arrival {
            is_starved: true,
            ..own(1)
        };
        let alone = wait(&folder, here(1), starved, limit, || ()).unwrap();
        assert_eq!(alone.starved, 1);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn whoever_comes_too_late_does_not_wait_again() {
        let folder = folder("late");
        let first = wait(
            &folder,
            here(2),
            own(1),
            Some(Duration::from_millis(20)),
            || (),
        );
        assert_eq!(first, Err(ExchangeFailure::Absent));
        assert_eq!(
            wait(&folder, here(2), own(1), None, || ()),
            Err(ExchangeFailure::Absent)
        );
        assert_eq!(
            std::fs::read_dir(&folder).unwrap().count(),
            0,
            "nothing is left"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Ranks of another host come and go while a rank waits for its neighbour.
    #[test]
    fn hosts_that_share_the_folder_do_not_count_each_other() {
        let folder = folder("hosts");
        let limit = Some(Duration::from_secs(60));
        let arrive = |host, expected| {
            let here = HostOfRun {
                host,
                ..here(expected)
            };
            wait(&folder, here, own(1), limit, || ())
        };
        std::thread::scope(|scope| {
            let first = scope.spawn(|| arrive("a", 2));
            while std::fs::read_dir(&folder).unwrap().count() == 0 {
                std::thread::yield_now();
            }
            assert_eq!(arrive("b", 1).unwrap().starved, 0);
            assert!(!first.is_finished(), "one of two ranks has come");
            assert_eq!(arrive("a", 2), told(0, (1, 1)));
            assert_eq!(first.join().unwrap(), told(0, (1, 1)));
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}
