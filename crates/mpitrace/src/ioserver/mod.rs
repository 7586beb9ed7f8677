//! `mpitrace ioserver`: a directory shown at another place, where every request is recorded together with the MPI call that
//! caused it. A measuring instrument and no file system to work with.

pub mod address;
pub mod background;
pub mod clocks;
mod filesystem;
mod inodes;
mod layout;
mod leftovers;
pub mod mount;
pub mod objects;
mod privileges;
pub mod recording;
mod requests;
pub mod secret;
mod servers;
mod store;
mod stripe;
mod tids;
pub mod visitors;
pub mod wire;

use crate::failure::Failure;
use crate::system::absolute;
use crate::terminal::tell;
use crate::terminal::units;
use blockfile::define::{ServerDefinition as Named, ServerKind};
use clap::ValueEnum;
use recording::RequestRecorder;
use secret::Secret;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Way in which programs reach the server's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ServerMode {
    /// Each read and write of a program is one request of the same size, at once
    Direct,
    /// Through the page cache: writes are requests at once, cut at pages; reads come from the cache, which reads ahead
    Through,
}

/// Show a folder at another place and record the requests that programs make there
///
/// Every request is recorded from its arrival to its answer, with the disk calls of the server nested in it and the
/// CallID of the MPI call that caused it. Ranks under libtrace tell the CallID through the file that TRACE_TIDS names.
/// The command ends when the file system is unmounted, or on SIGINT or SIGTERM. A request costs about 20 microseconds
/// more than without the server.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace ioserver --background --trace io.blocks /data/base /mnt/x >started
  export $(cat started)       # TRACE_TIDS, for the ranks
  mpitrace run -- mpiexec -n 4 ./app /mnt/x/file
  umount /mnt/x               # fusermount3 -u /mnt/x, as a user
  mpitrace ioserver --servers 3 --stripe 64K /data/base /mnt/x")]
pub struct Arguments {
    /// The folder to show
    base: PathBuf,
    /// Mount point: an empty folder
    mount: PathBuf,
    /// Way in which programs reach the files
    #[arg(long, value_enum, default_value = "direct")]
    mode: ServerMode,
    /// Maximum size of a write request in bytes; the kernel may allow less (usually 1 MB)
    #[arg(long, value_name = "BYTES", default_value = "1M", value_parser = bytes)]
    max_write: u64,
    /// Number of requests that are served at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// Allow several writes to one file at a time. The order of overlapping writes is then undefined
    #[arg(long)]
    parallel: bool,
    /// Block file to record to [default: ioserver.PID.blocks]
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Record nothing
    #[arg(long, conflicts_with = "trace")]
    no_trace: bool,
    /// Make a link to the table in which ranks tell their calls, and put its name into TRACE_TIDS [default: no link]
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Start N data servers and stripe files over them. BASE then belongs to them alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    servers: Option<u32>,
    /// Size of a stripe in bytes
    #[arg(long, value_name = "BYTES", default_value = "64K", value_parser = bytes)]
    stripe: u64,
    /// Transport to the data servers of --servers: unix, tcp or tcp:HOST
    #[arg(long, value_name = "HOW", default_value = "unix")]
    listen: servers::Listen,
    /// Stripe files over data servers that are running already (mpitrace dataserver), in this order
    #[arg(
        long = "data-server",
        value_name = "ADDRESS",
        conflicts_with = "servers"
    )]
    data_servers: Vec<address::Address>,
    /// File with the secret of data servers at tcp: addresses (see mpitrace dataserver) [default:
    /// ~/.config/mpitrace/secret, which is created if missing; the servers of --servers have a secret of their own]
    #[arg(long, value_name = "FILE", requires = "data_servers")]
    secret: Option<PathBuf>,
    /// Go to the background after mounting
    #[arg(long)]
    background: bool,
    /// Also write the text that goes to stdout after mounting to this file. The file appears when it is complete
    #[arg(long, value_name = "FILE")]
    ready: Option<PathBuf>,
    /// Part of --background: close stdout and stderr once it is mounted
    #[arg(long, hide = true)]
    detach: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut place = mount::MountPoint::check(&arguments.base, &arguments.mount)?;
    if arguments.background {
        return background::start();
    }
    let signals = crate::system::signals::Signals::hold();
    leftovers::sweep();
    let pid = std::process::id();
    let link = arguments.table.as_deref().map(absolute).transpose()?;
    let tids = tids::Tids::create(link.as_deref()).map_err(|e| {
        let link = link.as_deref().unwrap_or(Path::new("table of threads"));
        Failure::file(link, e)
    })?;
    let table = tids.path();
    let trace = trace(arguments, &format!("ioserver.{pid}.blocks"))?;
    let mut announcement = format!("IOSERVER_PID={pid}\nTRACE_TIDS={}\n", table.display());
    if let Some(trace) = &trace {
        announcement.push_str(&format!("IOSERVER_TRACE={}\n", trace.display()));
    }
    let (store, children) = store(arguments, &mut place, trace.as_deref())?;
    let name = place.mount.display().to_string();
    let server = Named {
        role: ServerKind::FrontEnd,
        number: 0,
        name,
    };
    let recorder = Arc::new(RequestRecorder::create(
        trace.as_deref(),
        server,
        Some(tids),
    )?);
    let inodes = inodes::Inodes::new(&place.base, &place.mount)
        .map_err(|e| Failure::file(&place.base, std::io::Error::from(e)))?;
    let mut server = requests::FileSystem::new(inodes, store, Arc::clone(&recorder));
    server.is_direct = arguments.mode == ServerMode::Direct;
    server.is_parallel = arguments.parallel;
    server.max_write = u32::try_from(arguments.max_write).unwrap_or(u32::MAX);
    let ready =
        || background::announce(&announcement, arguments.ready.as_deref(), arguments.detach);
    let result = mount::serve(
        Arc::new(server),
        &place,
        arguments.threads as usize,
        signals,
        ready,
    );
    drop(children);
    recorder.finish();
    if recorder.lost() > 0 {
        tell!(
            "mpitrace: {} records could not be kept: no room on the disk",
            recorder.lost()
        );
    }
    result
}

/// Place of the contents, with the data servers that were started for it. The directory that is shown becomes that of
/// the names.
fn store(
    arguments: &Arguments,
    place: &mut mount::MountPoint,
    trace: Option<&Path>,
) -> Result<(Box<dyn store::FileStore>, Option<servers::Servers>), Failure> {
    let count = arguments
        .servers
        .unwrap_or(arguments.data_servers.len() as u32);
    if count == 0 {
        return Ok((Box::new(store::PlainDirectory), None));
    }
    let stripe = arguments.stripe;
    if stripe > wire::MAX_DATA_BYTES as u64 {
        return Err(Failure::Call(format!(
            "a stripe of {stripe} bytes is too large"
        )));
    }
    let layout = layout::StripeLayout {
        servers: u64::from(count),
        stripe,
    };
    let base = std::mem::take(&mut place.base);
    place.base = servers::prepare(&base, layout)?;
    if arguments.servers.is_none() {
        let addresses = arguments.data_servers.clone();
        let secret = Secret::for_addresses(arguments.secret.as_deref(), &addresses)?;
        let striped = stripe::Striped::new(addresses, secret, stripe);
        striped.meet()?;
        return Ok((Box::new(striped), None));
    }
    let traces = |number| Some(trace?.with_extension(format!("data{number}.blocks")));
    let servers =
        servers::Servers::start(&base, count, &arguments.listen, traces, arguments.detach)?;
    let addresses = servers.addresses.clone();
    let striped = stripe::Striped::new(addresses, servers.secret.clone(), stripe);
    Ok((Box::new(striped), Some(servers)))
}

/// The block file that is asked for.
fn trace(arguments: &Arguments, default: &str) -> Result<Option<PathBuf>, Failure> {
    if arguments.no_trace {
        return Ok(None);
    }
    let path = arguments.trace.clone().unwrap_or_else(|| default.into());
    absolute(&path).map(Some)
}

/// Parses the size of a stripe or of a write request, bytes.
fn bytes(text: &str) -> Result<u64, String> {
    match units::parse_bytes(text) {
        Some(bytes @ 512..) => Ok(bytes),
        _ => Err("expected a number of bytes from 512 on, such as 4096, 64K or 1M".to_owned()),
    }
}
