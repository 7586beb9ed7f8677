//! A trace to be read: one or more files of one format.

use crate::block_files::found;
use crate::failure::Failure;
use crate::trace_files::dumpi_run;
use crate::trace_files::folder;
use crate::trace_files::format::Format;
use crate::trace_files::input::{OpenedInput, shown};
use blockfile::file::BlockFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One or more files that make up a trace.
pub struct TraceInput {
    /// Names and bytes of the files.
    pub files: Vec<(PathBuf, OpenedInput)>,
    /// Format of the files, which is the same for all.
    pub format: Format,
    /// Number of processes of the run, where something tells; else 0.
    pub processes: u32,
    /// Whether it was said what of the files is damaged.
    pub(super) damage_told: OnceLock<()>,
}

impl TraceInput {
    /// A file that is open and has this format.
    pub fn of_file(path: &Path, input: OpenedInput, format: Format) -> Self {
        TraceInput {
            files: vec![(path.to_path_buf(), input)],
            format,
            processes: 0,
            damage_told: OnceLock::new(),
        }
    }

    /// Opens a file; `-` is stdin.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        TraceInput::open_all(std::slice::from_ref(&path.to_path_buf()))
    }

    /// Opens the files of one trace: several block files, or the .bin files of a run; of other formats only one.
    pub fn open_all(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut format = None;
        let mut processes = 0;
        let mut runs: Vec<&Path> = Vec::new();
        let with_folders = with_folders(paths)?;
        for path in &with_folders {
            let input = OpenedInput::open(path)?;
            let found = Format::known(&input, path)?;
            let first = *format.get_or_insert(found);
            if found != first {
                let (name, other) = (shown(path).display(), shown(&paths[0]).display());
                return Err(Failure::Call(format!(
                    "{name} is a {found} file and {other} a {first} file: one trace has one format"
                )));
            }
            if found == Format::Dumpi && !dumpi_run::is_file(&input) {
                // The metafile of a run stands for the files of its ranks.
                runs.push(path);
                let (ranks, size) = dumpi_run::files_of_meta(path, &input)?;
                processes = processes.max(size);
                for path in ranks {
                    let input = OpenedInput::open_regular(&path)?;
                    files.push((path, input));
                }
                continue;
            }
            files.push((path.clone(), input));
        }
        if format == Some(Format::Dumpi) {
            dumpi_run::refuse_several_runs(&runs, &files)?;
        }
        let Some(format) = format else {
            return Err(Failure::Call("no input file".into()));
        };
        if files.len() > 1 && !matches!(format, Format::Blocks | Format::Dumpi) {
            let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
            return Err(Failure::Call(format!(
                "{} are {} traces; mpitrace merge and mpitrace join put traces together",
                names.join(" and "),
                files.len()
            )));
        }
        Ok(TraceInput {
            files,
            format,
            processes,
            damage_told: OnceLock::new(),
        })
    }

    /// The files as block files.
    ///
    /// # Errors
    /// One of them is none; they are of several runs.
    pub fn block_files(&self) -> Result<Vec<BlockFile<'_>>, Failure> {
        let mut files: Vec<BlockFile<'_>> = Vec::new();
        let mut first: Option<(u64, &Path)> = None;
        let mut ranks: BTreeMap<u32, &Path> = BTreeMap::new();
        for (path, input) in &self.files {
            let file = input.blocks();
            let file = file.map_err(|error| Failure::file(shown(path), error))?;
            let info = file.info();
            files.push(file);
            // A process that did not get through MPI_Init knew no run, and a server has none.
            let Ok(rank) = u32::try_from(info.rank) else {
                continue;
            };
            let (run, beside) = *first.get_or_insert((info.run, path));
            let same_rank = ranks.insert(rank, path);
            let (one, other, why) = match same_rank {
                _ if run != info.run => {
                    (beside, path.as_path(), "are of different runs".to_owned())
                }
                Some(other) => (other, path.as_path(), format!("are both of rank {rank}")),
                None => continue,
            };
            return Err(Failure::Data(format!(
                "{} and {} {why}: expected the block files of one run",
                shown(one).display(),
                shown(other).display()
            )));
        }
        Ok(files)
    }

    /// Name of the trace for messages: that of its first file.
    pub fn name(&self) -> &Path {
        shown(self.files.first().map_or(Path::new(""), |(path, _)| path))
    }

    /// Bytes of the first file.
    pub fn bytes(&self) -> &[u8] {
        self.files.first().map_or(&[], |(_, input)| input)
    }
}

/// The paths, with the block files in a folder in its place.
fn with_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        // A dataset of tables is refused when it is opened.
        if !path.is_dir() || folder::kind(path).is_some() {
            files.push(folder::file_of(path));
            continue;
        }
        let mut found = found::block_files(path, false)?;
        if found.is_empty() {
            return Err(found::none(path));
        }
        files.append(&mut found);
    }
    Ok(files)
}
