//! The files of a DUMPI run: its metafile, the `.bin` files of its ranks, and the names of calls.

use crate::failure::Failure;
use crate::trace_files::input::{OpenedInput, shown};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace_formats::dumpi::MAGIC;
use trace_formats::dumpi::meta::{Meta, RankFiles};

/// Whether an input is a `.bin` file.
pub fn is_file(input: &OpenedInput) -> bool {
    input.starts_with(&MAGIC)
}

/// Bytes that a metafile has at most; texts of other formats are larger or no metafiles.
const MAX_META_BYTES: usize = 1 << 16;

/// Whether a region of this name stands for a call of MPI: one that DUMPI does not have, or one that never returned.
pub fn is_call(label: &str) -> bool {
    label.starts_with("MPI_") || label.starts_with("PMPI_")
}

/// Whether these bytes are a run's metafile.
pub fn is_meta(input: &[u8]) -> bool {
    input.len() <= MAX_META_BYTES && !input.starts_with(&MAGIC) && Meta::parse(input).is_ok()
}

/// Refuses a metafile where the file of one rank is wanted.
pub fn refuse_meta(input: &[u8], path: &Path) -> Result<(), Failure> {
    if !is_meta(input) {
        return Ok(());
    }
    let name = shown(path).display();
    Err(Failure::Call(format!(
        "{name}: the metafile of a run, expected the .bin file of one of its ranks"
    )))
}

/// The `.bin` files that a metafile stands for, of which there is at least one.
pub fn rank_files(path: &Path, input: &[u8]) -> Result<RankFiles, Failure> {
    let name = shown(path).display();
    let meta = Meta::parse(input).map_err(|error| Failure::Data(format!("{name}: {error}")))?;
    let files = meta.rank_files(path);
    if files.is_empty() {
        let prefix = String::from_utf8_lossy(&meta.fileprefix).into_owned();
        let message = format!("{name}: none of the files {prefix}-NNNN.bin is there");
        return Err(Failure::Data(message));
    }
    Ok(files)
}

/// The paths of the `.bin` files that a metafile stands for, and the number of processes of its run.
pub fn files_of_meta(path: &Path, input: &[u8]) -> Result<(Vec<PathBuf>, u32), Failure> {
    let files = rank_files(path, input)?;
    let paths = files.iter().map(|(_, path)| path.to_owned()).collect();
    Ok((paths, files.ranks()))
}

/// Refuses the files of more than one run: several metafiles, and several `.bin` files of one rank. `runs` are the metafiles, `files` the
/// `.bin` files with those that the metafiles stand for.
pub fn refuse_several_runs(
    runs: &[&Path],
    files: &[(PathBuf, OpenedInput)],
) -> Result<(), Failure> {
    if let [first, second, ..] = runs {
        let (first, second) = (shown(first).display(), shown(second).display());
        return Err(Failure::Call(format!(
            "{first} and {second}: each is the metafile of a run, expected the files of one run"
        )));
    }
    let mut ranks: BTreeMap<u32, &Path> = BTreeMap::new();
    for (path, _) in files {
        let Some(rank) = rank_of(path) else {
            continue;
        };
        if let Some(other) = ranks.insert(rank, path) {
            let (one, other) = (shown(path).display(), shown(other).display());
            return Err(Failure::Call(format!(
                "{other} and {one}: both are named as files of rank {rank}, expected the files of one run"
            )));
        }
    }
    Ok(())
}

/// The first and last rank of a stretch, for messages.
pub fn ranks_named((first, last): (u32, u32)) -> String {
    if first == last {
        format!("rank {first}")
    } else {
        format!("ranks {first} to {last}")
    }
}

/// Message about ranks whose `.bin` files are missing.
pub fn missing(gap: (u32, u32)) -> String {
    let (files, are) = if gap.0 == gap.1 {
        ("file", "is")
    } else {
        ("files", "are")
    };
    format!("the .bin {files} of {} {are} missing", ranks_named(gap))
}

/// The rank that the name of a `.bin` file ends with.
pub fn rank_of(path: &Path) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    let digits = stem.rsplit('-').next()?;
    digits.parse().ok()
}
