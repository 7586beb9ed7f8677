//! The merge by slices: all ranks write the merged files together ([`merge::slices`]).

use super::outputs::WrittenOutputs;
use super::trouble::{Trouble, on_rank};
use crate::exchange::failure::ExchangeFailure;
use crate::exchange::line::Exchange;
use crate::exchange::peers::MpiPeers;
use crate::exchange::spread::spread;
use crate::mpi::world::World;
use merge::operations::DrawnOperations;
use merge::outputs::SharedOutputs;
use merge::slices::{
    PartFile, SliceFiles, SliceInput, SlicePlan, SliceShare, SliceTotals, agree, any_failure,
    complete, end_clog2, write,
};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;
use trace_formats::clog2::CommTable;
use trace_formats::slog2::TreeOptions;
use unify::scan::Scan;

/// Bytes that rank 0 writes into each file, so that the others know that they have opened the same one.
pub const MARK_BYTES: usize = 16;

/// A file that all ranks write to.
struct SharedFile {
    file: File,
    path: PathBuf,
    /// Of this rank, which failures name.
    world: World,
}

impl PartFile for SharedFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|e| on_rank(&self.world, &format!("{}: {e}", self.path.display())))
    }
}

/// A merge by slices that is ready to begin: all ranks have opened the files.
pub struct SliceMerge<'a> {
    peers: MpiPeers<'a>,
    plan: SlicePlan,
    /// SLOG2, CLOG2.
    files: [Option<SharedFile>; 2],
}

/// Inputs that [`SliceMerge::begin`] needs.
pub struct SliceSettings<'a> {
    /// Time zero on rank 0's clock, ns.
    pub zero_ns: i64,
    /// Shape of the tree.
    pub tree: TreeOptions,
    /// Bytes of a block of the CLOG2 file; 0 if there is none.
    pub clog2_block: u32,
    /// Scan of this rank's block file.
    pub scan: &'a Scan,
    /// On rank 0 the operations below MPI of all ranks.
    pub operations: Option<&'a DrawnOperations>,
}

impl<'a> SliceMerge<'a> {
    /// Has all ranks open the files that rank 0 has begun, `outputs`, and agree on a plan. The inner error says why the files cannot be written
    /// by all; it is the same on all ranks. Collective.
    pub fn begin(
        line: &'a Exchange,
        world: &World,
        outputs: Option<&mut SharedOutputs>,
        settings: &SliceSettings<'_>,
    ) -> Result<Result<SliceMerge<'a>, String>, ExchangeFailure> {
        let mut peers = MpiPeers::new(line);
        let mut offer = Vec::new();
        let mut marked = Ok(());
        if let Some(outputs) = outputs {
            let mark = mark();
            offer.extend_from_slice(&mark);
            for file in outputs.files() {
                let path = file
                    .as_ref()
                    .map(|file| file.current_path().as_os_str().as_bytes());
                let path = path.unwrap_or_default();
                offer.extend_from_slice(&(path.len() as u32).to_ne_bytes());
                offer.extend_from_slice(path);
            }
            marked = outputs.mark(&mark);
        }
        let offer = spread(line, world.rank, world.size, offer)?;
        let opened = marked.and_then(|()| open_all(&offer, world));
        let (files, opened) = match opened {
            Ok(files) => (files, Ok(())),
            Err(why) => ([None, None], Err(why)),
        };
        if let Some(why) = any_failure(&mut peers, opened)? {
            return Ok(Err(why));
        }
        let scan = settings.scan;
        let mut share = SliceShare::of_process(scan, settings.zero_ns);
        if let Some(drawn) = settings.operations {
            share = share.with_operations(drawn);
        }
        let totals = SliceTotals {
            share,
            ranks: world.size.unsigned_abs(),
            tree: settings.tree,
            clog2_block: settings.clog2_block,
        };
        let plan = agree(&mut peers, totals, |histogram| {
            histogram.add_process(scan, settings.zero_ns);
            if let Some(drawn) = settings.operations {
                histogram.add_operations(drawn);
            }
        })?;
        Ok(Ok(SliceMerge { peers, plan, files }))
    }

    /// Merges, and at rank 0 completes the files that it has begun. Gives there what has been written. Collective.
    pub fn run(
        mut self,
        input: SliceInput<'_>,
        outputs: Option<SharedOutputs>,
        comms: &CommTable,
    ) -> Result<Option<WrittenOutputs>, ExchangeFailure> {
        let preamble = input.preamble;
        let [slog2, clog2] = &mut self.files;
        let mut files = SliceFiles {
            slog2: part(slog2),
            clog2: part(clog2),
        };
        let summary = write(&mut self.peers, &self.plan, input, &mut files)?;
        let clog2_failure = summary.failures[1].clone().map_or(Ok(()), Err);
        let blocks = summary.whole.as_ref().map_or(0, |whole| whole.blocks);
        let operations_failure = summary
            .whole
            .as_ref()
            .and_then(|whole| whole.operations_failure.clone());
        let plan = outputs.as_ref().map(SharedOutputs::plan);
        let views = |whole: &merge::slices::WholeSlices, _: &[i32]| {
            plan.map_or_else(Vec::new, |plan| whole.world_views(plan))
        };
        let slog2_failure = complete(&mut self.peers, &self.plan, summary, part(slog2), views)?;
        let mut clog2_failure = any_failure(&mut self.peers, clog2_failure)?;
        if let (Some(_), Some(file), None) = (plan, clog2, &clog2_failure) {
            clog2_failure = end_clog2(file, preamble, blocks, comms).err();
        }
        Ok(outputs.map(|outputs| {
            let mut written = outputs.finish([slog2_failure, clog2_failure]);
            written.failures.extend(operations_failure);
            written
        }))
    }
}

fn part(file: &mut Option<SharedFile>) -> Option<&mut dyn PartFile> {
    match file {
        Some(file) => Some(file),
        None => None,
    }
}

/// Bytes that are not in a file by chance.
pub fn mark() -> [u8; MARK_BYTES] {
    let mut mark = [0; MARK_BYTES];
    // Without random numbers, process number and time tell files apart well enough.
    let random = File::open("/dev/urandom").and_then(|mut chance| chance.read_exact(&mut mark));
    if random.is_err() {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_nanos()) ^ u128::from(std::process::id()) << 96;
        mark = now.to_ne_bytes();
    }
    mark
}

/// Opens the files of rank 0's offer: the mark, then for each file the length of its path and the path.
fn open_all(offer: &[u8], world: &World) -> Result<[Option<SharedFile>; 2], String> {
    let damaged = || "rank 0 names no files".to_owned();
    let (mark, mut rest) = offer
        .split_first_chunk::<MARK_BYTES>()
        .ok_or_else(damaged)?;
    let mut files = [None, None];
    for place in &mut files {
        let (length, behind) = rest.split_first_chunk().ok_or_else(damaged)?;
        let length = u32::from_ne_bytes(*length) as usize;
        let (path, behind) = behind.split_at_checked(length).ok_or_else(damaged)?;
        rest = behind;
        if path.is_empty() {
            continue;
        }
        let path = PathBuf::from(std::ffi::OsString::from_vec(path.to_vec()));
        let opened = open(path.clone(), mark, world);
        let opened = opened.map_err(|why| on_rank(world, &format!("{}: {why}", path.display())));
        *place = Some(opened?);
    }
    Ok(files)
}

fn open(path: PathBuf, mark: &[u8; MARK_BYTES], world: &World) -> Result<SharedFile, String> {
    let mut options = File::options();
    options.read(true).write(true);
    // Nothing is followed or waited for that somebody else may have put there.
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open(&path).map_err(|e| e.to_string())?;
    if !file.metadata().is_ok_and(|found| found.is_file()) {
        return Err("not a regular file".to_owned());
    }
    let mut found = [0; MARK_BYTES];
    match file.read_exact_at(&mut found, 0) {
        Ok(()) if found == *mark => Ok(SharedFile {
            file,
            path,
            world: *world,
        }),
        _ => Err("another file than that of rank 0".to_owned()),
    }
}

/// Message for a merge by slices that was wanted and is not possible.
pub fn said_tree(why: &str) -> Trouble {
    format!("merged over rank 0, not in parallel: {why}")
}
