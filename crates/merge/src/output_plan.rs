//! The plan of the outputs: the files that are written of the merged stream, and how.

use std::io;
use std::path::{Path, PathBuf};
use trace_formats::clog2::Preamble;
use trace_formats::slog2::{PendingFile, TreeOptions};

/// The outputs to write.
#[derive(Clone, Debug)]
pub struct OutputPlan {
    /// Path without ending.
    pub base: PathBuf,
    /// Whether files of that name are replaced; else a number is put behind it.
    pub replace: bool,
    /// Whether to write CLOG2.
    pub clog2: bool,
    /// Whether to write SLOG2.
    pub slog2: bool,
    /// Preamble of the CLOG2 file.
    pub preamble: Preamble,
    /// Children of a node of the SLOG2 tree.
    pub children: u32,
    /// Bytes of a leaf of the SLOG2 tree; `None` for the rule.
    pub leaf: Option<u64>,
    /// Number of the host of each rank.
    pub nodes: Vec<i32>,
    /// Names of the hosts by number.
    pub hosts: Vec<String>,
    /// Number of the program of each rank.
    pub program_of: Vec<i32>,
    /// Names of the programs by number.
    pub programs: Vec<String>,
    /// Names of performance counters.
    pub counters: Vec<String>,
    /// Whether messages that arrive before they were sent are put right.
    pub forward: bool,
}

impl OutputPlan {
    /// Shape of the tree of the SLOG2 file.
    pub fn tree_options(&self) -> TreeOptions {
        let lines = u64::from(self.preamble.max_comm_world_size)
            * u64::from(self.preamble.max_thread_count);
        TreeOptions {
            children_per_node: i16::try_from(self.children).unwrap_or(i16::MAX),
            leaf_byte_size: match self.leaf {
                Some(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
                None => TreeOptions::leaf_for(lines),
            },
        }
    }

    /// Begins a file that is to be called `path`, or, where nothing is replaced, by the next name that is free.
    pub(super) fn begin(&self, path: &Path) -> io::Result<PendingFile> {
        match self.replace {
            true => PendingFile::create_regular(path),
            false => PendingFile::beside(path),
        }
    }
}

/// Numbers names in the order in which they first come: the names, and for each of `ranks` ranks the number of its own.
pub fn numbered<'n>(
    names: impl IntoIterator<Item = (u32, &'n str)>,
    ranks: u32,
) -> (Vec<String>, Vec<i32>) {
    let mut list: Vec<String> = Vec::new();
    let mut numbers = vec![0; ranks as usize];
    for (rank, name) in names {
        let number = list.iter().position(|known| known == name);
        let number = number.unwrap_or_else(|| {
            list.push(name.to_owned());
            list.len() - 1
        });
        if let Some(place) = numbers.get_mut(rank as usize) {
            *place = number as i32;
        }
    }
    (list, numbers)
}
