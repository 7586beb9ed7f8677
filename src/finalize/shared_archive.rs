//! The OTF2 archive beside the trace, made by several ranks together: each has the command write a part of it from the SLOG2 file, and rank 0 has it
//! put the parts together. Where that cannot be done, rank 0 makes the archive alone ([`super::written_archive`]).

use super::beside::tell;
use super::command::{CommandRun, command};
use super::slices::{MARK_BYTES, mark};
use super::trouble::on_rank;
use super::written_archive;
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::spread::{any_failure, spread};
use crate::mpi::world::World;
use crate::platform::environment;
use crate::platform::say::say;
use settings::Settings;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use trace_model::{PartNumber, TemporaryFolder};

/// Most parts. Each part reads the whole SLOG2 file, which takes a processor a third of what the whole archive takes: more parts would hardly be done
/// sooner.
const MAX_PARTS: u32 = 8;
/// Name of the file in the folder of the parts by which ranks see that it is the same folder.
const MARK: &str = "mark";

/// Makes the archive of the SLOG2 file that rank 0 has written; other ranks pass `None`. Whatever becomes of it is said. Collective.
///
/// # Errors
/// When the ranks could not go on together.
pub fn write(
    line: &Exchange,
    world: &World,
    settings: &Settings,
    slog2: Option<&Path>,
) -> Result<(), ExchangeFailure> {
    let slog2 = slog2.map(|slog2| environment::home().join(slog2));
    let offered = slog2
        .as_deref()
        .filter(|_| world.size > 1)
        .and_then(|slog2| Offer::new(slog2, settings).ok());
    let made = by_all(line, world, settings, offered.as_ref())?;
    let Some(slog2) = slog2 else {
        return Ok(());
    };
    // Room for what rank 0 may have to write alone.
    drop(offered);
    let made = match made {
        Shared::Written => Ok(written_archive::path_for(&slog2)),
        Shared::Late(why) => Err(why),
        Shared::Not(why) => {
            let alone = written_archive::write(&slog2, settings);
            if let (Ok(_), Some(why), false) = (&alone, why, settings.quiet) {
                say!("trace: rank 0 alone has written the OTF2 archive: {why}");
            }
            alone
        }
    };
    tell("OTF2 archive", made, settings);
    Ok(())
}

/// What came of the work of all ranks.
enum Shared {
    Written,
    /// Why it has failed, after so long a time that rank 0 alone would not have the archive before the deadline either.
    Late(String),
    /// Why it cannot be done; `None` if it was not begun.
    Not(Option<String>),
}

/// Has all ranks write the archive. Collective.
fn by_all(
    line: &Exchange,
    world: &World,
    settings: &Settings,
    offered: Option<&Offer>,
) -> Result<Shared, ExchangeFailure> {
    let (rank, size) = (world.rank, world.size);
    let offer = offered.map(Offer::encode).unwrap_or_default();
    let offer = spread(line, rank, size, offer)?;
    if offer.is_empty() {
        return Ok(Shared::Not(None));
    }
    let part = part_of(rank, size);
    let taken = TakenOffer::decode(&offer).and_then(|taken| {
        taken.look()?;
        part.as_ref().map_or(Ok(()), |_| command().map(drop))?;
        Ok(taken)
    });
    let (taken, seen) = match taken {
        Ok(taken) => (Some(taken), Ok(())),
        Err(why) => (None, Err(on_rank(world, &why))),
    };
    let mut failure = any_failure(line, rank, size, seen)?;
    let Some(taken) = taken.filter(|_| failure.is_none()) else {
        return Ok(Shared::Not(failure));
    };
    // The others wait for each step as long as the deadline.
    let limit = settings.deadline.map(|deadline| deadline * 3 / 4);
    let begun = Instant::now();
    let written = part.map_or(Ok(()), |part| taken.write(part, limit));
    let written = written.map_err(|why| on_rank(world, &why));
    failure = any_failure(line, rank, size, written)?;
    if failure.is_none() {
        let joined = offered.map_or(Ok(()), |offer| offer.join(settings, limit));
        failure = any_failure(line, rank, size, joined)?;
    }
    Ok(match failure {
        None => Shared::Written,
        Some(why) if limit.is_some_and(|limit| begun.elapsed() >= limit) => Shared::Late(why),
        why => Shared::Not(why),
    })
}

/// The part that a rank writes: it is the first of those whose locations are in it. `None` if it writes none.
fn part_of(rank: i32, size: i32) -> Option<PartNumber> {
    let (rank, size) = (u32::try_from(rank).ok()?, u32::try_from(size).ok()?);
    let parts = size.min(MAX_PARTS);
    (1..=parts)
        .filter_map(|nth| PartNumber::new(nth, parts))
        .find(|part| part.share(size.into()).start == u64::from(rank))
}

/// What rank 0 offers the others: the trace, and a folder for the parts.
struct Offer {
    slog2: PathBuf,
    folder: TemporaryFolder,
    mark: [u8; MARK_BYTES],
}

impl Offer {
    /// Makes the folder beside the trace.
    ///
    /// # Errors
    /// When it cannot be made, or an archive is in the way.
    fn new(slog2: &Path, settings: &Settings) -> io::Result<Offer> {
        let archive = written_archive::path_for(slog2);
        if !settings.overwrite && archive.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let folder = TemporaryFolder::beside(&archive.with_extension("parts"))?;
        let mark = mark();
        File::create_new(folder.path().join(MARK))?.write_all(&mark)?;
        Ok(Offer {
            slog2: slog2.to_owned(),
            folder,
            mark,
        })
    }

    /// Has the command put the parts together.
    ///
    /// # Errors
    /// Why there is no archive, in words.
    fn join(&self, settings: &Settings, limit: Option<Duration>) -> Result<(), String> {
        let parts = self.folder.path().as_os_str();
        let words = [OsStr::new("--join"), parts];
        written_archive::convert(&self.slog2, &words, settings.overwrite, limit).map(drop)
    }

    /// The mark, then length and bytes of the path of the trace, then the path of the folder.
    fn encode(&self) -> Vec<u8> {
        let slog2 = self.slog2.as_os_str().as_bytes();
        let folder = self.folder.path().as_os_str().as_bytes();
        let length = (slog2.len() as u32).to_ne_bytes();
        [&self.mark[..], &length[..], slog2, folder].concat()
    }
}

/// The offer of rank 0 as a rank takes it.
struct TakenOffer {
    slog2: PathBuf,
    folder: PathBuf,
    mark: [u8; MARK_BYTES],
}

impl TakenOffer {
    fn decode(bytes: &[u8]) -> Result<TakenOffer, String> {
        let decoded = || {
            let (mark, rest) = bytes.split_first_chunk()?;
            let (length, rest) = rest.split_first_chunk()?;
            let length = u32::from_ne_bytes(*length) as usize;
            let (slog2, folder) = rest.split_at_checked(length)?;
            let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
            Some(TakenOffer {
                slog2: path(slog2),
                folder: path(folder),
                mark: *mark,
            })
        };
        decoded().ok_or_else(|| "rank 0 names no folder".to_owned())
    }

    /// Looks whether the folder is here that rank 0 has made.
    ///
    /// # Errors
    /// Why it is not, in words.
    fn look(&self) -> Result<(), String> {
        let mut options = File::options();
        // Nothing is followed or waited for that somebody else may have put there.
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
        let mut found = [0; MARK_BYTES];
        let opened = options.read(true).open(self.folder.join(MARK));
        let read = opened.and_then(|mut file| file.read_exact(&mut found));
        let folder = self.folder.display();
        match read {
            Ok(()) if found == self.mark => Ok(()),
            Ok(()) => Err(format!("{folder}: another folder than that of rank 0")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(format!(
                "{folder} is not here: the folder of the trace is not shared"
            )),
            Err(error) => Err(format!("{folder}: {error}")),
        }
    }

    /// Has the command write a part.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn write(&self, part: PartNumber, limit: Option<Duration>) -> Result<(), String> {
        let part = part.to_string();
        let options = ["--quiet", "--part", &part, "--"].map(OsStr::new);
        let files = [self.slog2.as_os_str(), self.folder.as_os_str()];
        let run = CommandRun {
            subcommand: "convert",
            words: &options.into_iter().chain(files).collect::<Vec<_>>(),
            folder: &self.folder,
            out: None,
            deadline: limit,
        };
        run.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_a_rank_that_writes_its_own_locations() {
        for size in 1..100 {
            let parts: Vec<(i32, PartNumber)> = (0..size)
                .filter_map(|rank| Some((rank, part_of(rank, size)?)))
                .collect();
            let count = MAX_PARTS.min(size as u32);
            assert_eq!(parts.len(), count as usize, "{size} ranks");
            for (nth, (rank, part)) in (1..).zip(parts) {
                assert_eq!(part.to_string(), format!("{nth}/{count}"));
                // As the command deals processes out.
                let share = part.share(size as u64);
                assert!(share.contains(&(rank as u64)), "rank {rank} of {size}");
            }
        }
    }

    #[test]
    fn an_offer_comes_back() {
        let offer = TakenOffer::decode(b"0123456789abcdef\x02\0\0\0/a/b").expect("an offer");
        assert_eq!((offer.slog2, offer.folder), ("/a".into(), "/b".into()));
        assert_eq!(&offer.mark, b"0123456789abcdef");
        assert!(TakenOffer::decode(b"0123456789abcdef\x05\0\0\0/a/b").is_err());
        assert!(TakenOffer::decode(b"0123").is_err());
    }
}
