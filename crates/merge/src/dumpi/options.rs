//! Options of the DUMPI files of a run.

use std::path::PathBuf;
use trace_formats::dumpi::meta;
use trace_formats::dumpi::types::Mask;
use unify::functions::FunctionSelection;

/// Options of the DUMPI files of a run: their names and contents.
#[derive(Clone, Debug)]
pub struct DumpiOptions {
    /// Prefix of all file names (setting `fileroot`), directories included; they must exist.
    pub root: PathBuf,
    /// Whether the ranks' files lie in folders beside the metafile, those of [`DumpiOptions::RANKS_PER_FOLDER`] ranks in each.
    pub folders: bool,
    /// The run's time stamp in file names, `2026.11.20.05.32.58`: the same on all ranks.
    pub stamp: String,
    /// Whether cpu times are written, where they were recorded (setting `timestamp cpu` and `full`).
    pub cpu: bool,
    /// Whether wall times are written (setting `timestamp wall` and `full`).
    pub wall: bool,
    /// Status bits of the record masks (setting `statuses`): [`Mask::STATUSES`], [`Mask::STATUSES_OF_SUCCESS`] or 0.
    pub statuses: u8,
    /// Whether calls without a DUMPI id are written as pairs of pseudo calls (setting `extensions`).
    pub extensions: bool,
    /// Whether annotations have a Function_enter record (setting `tracing`). Their text is in the file in any case.
    pub enter: bool,
    /// Whether they have a Function_exit record.
    pub exit: bool,
    /// Whether calls that were running when the process died are written: as a Function_enter record with the function's name
    /// that no Function_exit follows. Their arguments are not known. An annotation tells of a process that did not come to MPI_Finalize.
    pub unfinished: bool,
    /// Functions of the program that are written.
    pub functions: FunctionSelection,
}

impl Default for DumpiOptions {
    /// Everything, in `dumpi-<stamp>…` of the working directory, the stamp empty.
    fn default() -> DumpiOptions {
        DumpiOptions {
            root: PathBuf::from("dumpi"),
            folders: false,
            stamp: String::new(),
            cpu: true,
            wall: true,
            statuses: Mask::STATUSES,
            extensions: true,
            enter: true,
            exit: true,
            unfinished: false,
            functions: FunctionSelection::default(),
        }
    }
}

impl DumpiOptions {
    /// Ranks whose files lie in one folder, if there are folders.
    pub const RANKS_PER_FOLDER: u32 = 256;

    /// Common prefix of the file names of the run: root and time stamp.
    pub(super) fn prefix(&self) -> PathBuf {
        let mut prefix = self.root.as_os_str().to_owned();
        prefix.push("-");
        prefix.push(&self.stamp);
        PathBuf::from(prefix)
    }

    /// Path of the file of a rank.
    pub fn bin_path(&self, rank: u32) -> PathBuf {
        let prefix = self.prefix();
        match self.folders {
            true => meta::bin_path_in_folder(&prefix, rank, 4, Self::RANKS_PER_FOLDER),
            false => meta::bin_path(&prefix, rank, 4),
        }
    }

    /// Path of the metafile.
    pub fn meta_path(&self) -> PathBuf {
        meta::meta_path(&self.prefix())
    }
}
