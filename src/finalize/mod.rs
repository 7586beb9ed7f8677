//! MPI_Finalize: from the blocks of all ranks to files.
//!
//! The ranks meet on a communicator that is made now ([`crate::exchange::meeting`]). Every rank reads its own block file as `mpitrace recover` would, and writes its DUMPI file from it. Then the ranks agree on
//! what must be common ([`rank_summary`]), turn their records into streams of CLOG2 records, and merge them in a binary tree
//! ([`tree_merge`]); rank 0 writes CLOG2 and SLOG2 from the merged stream ([`outputs`]). With the setting `merge parallel` all ranks write
//! them together instead ([`slices`]). Operations below MPI go before, in the same
//! way, as rank 0 has to know them when it begins the SLOG2 file ([`operations`]). All messages are the recorder's own
//! and none is waited for beyond the deadline ([`crate::exchange`]): when the merge fails, the block files stay and are named.

mod alone;
mod arrivals;
mod beside;
mod command;
mod endpoints;
pub(crate) mod ends;
mod finish;
mod first;
mod last_words;
mod leaving;
mod operations;
mod outputs;
mod own_blocks;
mod plan;
mod rank_summary;
mod report;
mod run;
mod sessions;
mod shared_archive;
mod slices;
mod tree_merge;
mod trouble;
mod written_archive;
mod written_report;
mod zero;
