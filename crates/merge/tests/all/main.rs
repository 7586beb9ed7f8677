//! Block files of ranks that never ran: merged, written as every format, and attributed.

mod block_files;
mod blocks;
mod io;
