//! What rank 0 tells the others when all have met: settings, names and time stamp of the files, and its clock.

use super::plan::{choice, names};
use super::rank_summary::ZeroClock;
use super::trouble::{Trouble, said};
use crate::blocks::own;
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::spread::spread;
use crate::mpi::world::World;
use crate::platform::clock;
use crate::platform::host;
use blockfile::layout::Clock;
use merge::dumpi;
use settings::Settings;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

/// Version of what the ranks say to each other in MPI_Finalize. All ranks must have the same one.
const PROTOCOL: &str = concat!("libtrace merge 10 of ", env!("CARGO_PKG_VERSION"));

/// Decisions of rank 0 for all ranks.
pub struct FromZero {
    /// Rank 0's start and process stand in names of files.
    pub world: World,
    /// Rank 0's settings: which files there are, and what is in them.
    pub settings: Settings,
    /// Who differs from rank 0's settings in what, if this rank does.
    pub difference: Option<String>,
    /// Rank 0's clock.
    pub clock: ZeroClock,
    /// Options of this rank's DUMPI file.
    pub dumpi: dumpi::DumpiOptions,
    /// Path of the merged files without their endings.
    pub base: PathBuf,
    /// On rank 0 itself what keeps other runs from the names of its DUMPI files, as long as files are being written.
    pub claim: Option<dumpi::Claim>,
}

/// Options of DUMPI files below `root`. The contents of a rank's records depend on the rank's own settings.
pub fn dumpi_options(root: PathBuf, stamp: String, settings: &Settings) -> dumpi::DumpiOptions {
    dumpi::DumpiOptions {
        root,
        folders: settings.dumpi_folders,
        stamp,
        cpu: settings.timestamp.cpu(),
        wall: settings.timestamp.wall(),
        statuses: settings.statuses as u8,
        extensions: settings.extensions,
        enter: settings.tracing.enter,
        exit: settings.tracing.exit,
        unfinished: false,
        functions: choice(settings),
    }
}

/// Rank 0's clock, settings and names. Collective: nobody goes on before rank 0 is in MPI_Finalize.
pub fn from_zero(line: &Exchange, own: &World, settings: &Settings) -> Result<FromZero, Trouble> {
    let mut message = Vec::new();
    let mut claim = None;
    if own.rank == 0 {
        let clock = own_clock();
        let (root, stamp, base);
        (root, stamp, base, claim) = names(own, settings);
        for text in [
            PROTOCOL.as_bytes(),
            root.as_os_str().as_encoded_bytes(),
            stamp.as_bytes(),
            base.as_os_str().as_encoded_bytes(),
            settings.to_text().as_bytes(),
        ] {
            message.extend_from_slice(&(text.len() as u32).to_ne_bytes());
            message.extend_from_slice(text);
        }
        for number in [own.started as u64, u64::from(own.job), own.run] {
            message.extend_from_slice(&number.to_ne_bytes());
        }
        message.extend_from_slice(&clock.encode());
    }
    let message = spread(line, own.rank, own.size, message).map_err(said)?;
    let b = &mut blockfile::args::ByteCursor::new(&message);
    let text = |b: &mut blockfile::args::ByteCursor<'_>| {
        let text = b.string().flatten();
        text.map(|t| String::from_utf8_lossy(t).into_owned())
    };
    // Folders may have names that are no text.
    let path = |b: &mut blockfile::args::ByteCursor<'_>| {
        let bytes = b.string().flatten();
        bytes.map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)))
    };
    let protocol = text(b).unwrap_or_default();
    if protocol != PROTOCOL {
        return Err(format!(
            "rank 0 has another version of libtrace ('{}', here '{PROTOCOL}'): not merged",
            protocol.escape_debug()
        ));
    }
    let mut decoded = || {
        let (root, stamp, base) = (path(b)?, text(b)?, path(b)?);
        let of_zero = text(b)?;
        let (started, job, run) = (b.i64()?, b.u64()?, b.u64()?);
        let clock = ZeroClock::decode(b.rest())?;
        let world = World {
            started,
            job: job as u32,
            run,
            ..*own
        };
        Some(FromZero {
            world,
            difference: difference(&settings.to_text(), &of_zero, own),
            settings: if own.rank == 0 {
                settings.clone()
            } else {
                Settings::from_text(&of_zero).0
            },
            clock,
            dumpi: dumpi_options(root, stamp, settings),
            base,
            claim: None,
        })
    };
    let mut zero = decoded().ok_or_else(|| said(ExchangeFailure::Nonsense(0)))?;
    zero.settings.outputs = zero.settings.outputs.for_ranks(own.size as u32);
    zero.claim = claim;
    if let Some(store) = own::store() {
        // The block files of a merge that fails are put together by it.
        store.header().run.store(zero.world.run, Relaxed);
    }
    Ok(zero)
}

/// Names the settings in which this rank differs from rank 0, with its rank and host; `own` and `of_zero` are texts with one setting per line.
fn difference(own: &str, of_zero: &str, world: &World) -> Option<String> {
    let lines = |text: &'_ str| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
    let keys: BTreeSet<String> = lines(own)
        .symmetric_difference(&lines(of_zero))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    let keys: Vec<String> = keys.into_iter().collect();
    let (rank, host) = (world.rank, host::host());
    (!keys.is_empty()).then(|| format!("rank {rank} on {host}: {}", keys.join(", ")))
}

/// The clock readings of this process: the first, and one now; none if times are not ticks of a counter.
fn own_clock() -> ZeroClock {
    ZeroClock {
        boot: host::boot_id(),
        readings: match clock::source() {
            Clock::Tsc => vec![clock::first_reading(), clock::reading()],
            Clock::Monotonic => Vec::new(),
        },
    }
}
