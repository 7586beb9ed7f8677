//! The block files of all processes of a run, merged by one of them: where there is no MPI_COMM_WORLD to do it with
//! ([`super::leaving`]). The files are what MPI_Finalize would have made.

use super::beside;
use super::outputs::{OutputFiles, WrittenOutputs};
use super::own_blocks::{self, of_mapping};
use super::plan::{call_ids, choice, names, plan};
use super::rank_summary::{RankSummary, TextOfRank};
use super::report::{self, WrittenFiles};
use super::zero::dumpi_options;
use crate::mpi::world::World;
use crate::platform::folder;
use blockfile::file::BlockFile;
use memmap2::Mmap;
use merge::dumpi;
use merge::local::{Merge, MergeOptions};
use merge::operations;
use settings::Settings;
use std::path::{Path, PathBuf};
use std::time::Instant;
use unify::polls::repeated;
use wrappers::Table;

/// Says what makes the trace of the block files `paths`, which stay. `world` is of the process that says it.
///
/// # Errors
/// In words, if one of them is no block file.
pub fn later(paths: &[PathBuf], world: &World, settings: &Settings) -> Result<(), String> {
    decoded(paths, &mapped(paths)?)?;
    let (_, _, base, claim) = names(world, settings);
    drop(claim);
    report::later(world, settings, &base, None);
    Ok(())
}

/// The contents of files.
fn mapped(paths: &[PathBuf]) -> Result<Vec<Mmap>, String> {
    let map = |path: &PathBuf| {
        let file = trace_model::files::open_found(path)?;
        // SAFETY: the processes that wrote the files have come to their ends, but for this one, of which only what is
        // committed is read.
        unsafe { Mmap::map(&file) }
    };
    let named = |path: &PathBuf| map(path).map_err(|e| format!("{}: {e}", path.display()));
    paths.iter().map(named).collect()
}

/// The block files in the contents of the files `paths`.
fn decoded<'a>(paths: &[PathBuf], mapped: &'a [Mmap]) -> Result<Vec<BlockFile<'a>>, String> {
    let all = paths.iter().zip(mapped);
    all.map(|(path, bytes)| of_mapping(bytes).map_err(|e| format!("{}: {e}", path.display())))
        .collect()
}

/// Merges the block files `paths` into the files that the settings ask for. `world` is of the process that does it.
///
/// # Errors
/// In words, if not all of them could be made: the block files are still needed then.
pub fn merge(paths: &[PathBuf], world: &World, settings: &Settings) -> Result<(), String> {
    let begun = Instant::now();
    let table = wrappers::table().map_err(|error| error.to_string())?;
    let mapped = mapped(paths)?;
    let files = decoded(paths, &mapped)?;
    let options = MergeOptions {
        call_ids: call_ids(settings),
        details: settings.details,
        // A thread may still be in a call.
        recover: true,
        functions: choice(settings),
    };
    let merge = Merge::new(&files, table, options).map_err(|e| e.to_string())?;
    let (root, stamp, base, claim) = names(world, settings);
    let _claim = claim;
    let dumpi_files = dumpi::DumpiOptions {
        unfinished: true,
        ..dumpi_options(root, stamp, settings)
    };
    let mut whole = RankSummary {
        named: merge.function_names().iter().cloned().collect(),
        counters: merge.counter_names().to_vec(),
        ..RankSummary::default()
    };
    let mut ranks = Vec::new();
    for (file, scan) in merge.processes() {
        whole.calls += scan.calls;
        whole.operations += scan.operations;
        whole.ignored += scan.ignored;
        whole.repeated += repeated(file, scan, table);
        whole.lost += scan.lost;
        whole.dropped += scan.info.dropped;
        whole.cut += u64::from(scan.is_cut);
        let rank = scan.rank().unwrap_or(0);
        ranks.push(rank);
        let who = scan.library.process();
        whole.hosts.push((rank, who.host.clone()));
        whole.programs.push((rank, who.program.clone()));
        let of_rank = World {
            rank: rank as i32,
            ..*world
        };
        // The blocks of a process do not tell how many more CallIDs it has given out.
        report::counts(settings, &of_rank, scan.calls, scan, table);
        if !settings.outputs.dumpi {
            continue;
        }
        match dumpi::write(file, scan, table, &dumpi_files) {
            Ok(summary) => whole.dumpi_bytes += summary.bytes,
            Err(e) => {
                whole.dumpi_failures += 1;
                let why = TextOfRank::new(rank, e.to_string());
                whole.dumpi_reason.join(why);
            }
        }
    }
    ranks.sort_unstable();
    ranks.dedup();
    let (mut ended, unmatched_endpoints) =
        merged(&merge, &files, table, &whole, &base, world, settings);
    if settings.keep_blocks {
        let lowest = paths
            .iter()
            .zip(&files)
            .min_by_key(|(_, file)| file.info().rank);
        let named = lowest.map(|(path, _)| own_blocks::name_trace(path, &base));
        ended.failures.extend(named.and_then(Result::err));
    }
    let first = merge.scans().next();
    let first = first.ok_or("no process has a rank")?;
    let written = WrittenFiles {
        scan: first,
        dumpi: &dumpi_files,
        ranks: Some(&ranks),
        files: &ended.files,
        unmatched_endpoints,
        corrected: ended.corrected,
        begun,
    };
    let ended = report::conclude(world, settings, &whole, &written, ended.failures.clone());
    if let Some(slog2) = &ended.slog2 {
        beside::make(slog2, settings);
    }
    ended.result
}

/// CLOG2 and SLOG2, as far as they are wanted, and how many message endpoints are not drawn because the other one is not known.
fn merged(
    merge: &Merge<'_, '_, '_>,
    files: &[BlockFile<'_>],
    table: &Table,
    whole: &RankSummary,
    base: &Path,
    world: &World,
    settings: &Settings,
) -> (WrittenOutputs, u64) {
    if !settings.outputs.clog2 && !settings.outputs.slog2 {
        return (WrittenOutputs::nothing(base), 0);
    }
    let mut outputs = OutputFiles::new(plan(world, settings, base, whole, merge.preamble()));
    let mut failure = None;
    if whole.operations > 0 && settings.outputs.slog2 {
        let folder = folder::temporary(settings);
        match operations::draw_files(merge, files, table, &folder) {
            Ok(drawn) => outputs.draw(drawn),
            Err(e) => {
                failure = Some(format!("operations below MPI are not in the trace: {e}"));
            }
        }
    }
    let notes = outputs.take(merge);
    let mut ended = outputs.finish(merge.comm_table());
    ended.failures.extend(failure);
    (ended, notes.unmatched_endpoints)
}
