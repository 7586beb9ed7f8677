//! DUMPI files of a run: one `.bin` per process, made from its block file, and the `.meta` file that names them.
//!
//! The stream is written in one pass over the timeline; sizes of datatypes, call counts and names are gathered on the way and
//! stand behind it. Nothing is allocated per call.
//!
//! What is written is what SST-DUMPI writes for the same program, handle numbers included, but for the following, where
//! it is wrong or has no answer:
//!
//! * Arrays of MPI_Aint hold one 32-bit value for each element. Displacements and addresses keep their low 32 bits, so that
//!   differences stay right; sizes, extents, strides and counts saturate.
//! * The number of edges of a graph is the last element of its index array; MPI_Dims_create shows its dimensions as
//!   they were before; a value that MPI_Info_get did not find is empty; error codes of MPI_Comm_spawn are raw.
//! * Assertions of windows are the set of flags that readers expect. A combined file mode is 0: the format has single flags.
//! * A datatype handle that comes back with another size gets a new number; request numbers have 32 bits.
//! * MPI_Init has its true duration; the two records of an annotation have one and the same time.
//! * Statuses are there whenever the call delivered one, also where the program ignored it.
//! * Arrays that are not significant because of MPI_IN_PLACE are zeros.
//! * A call of a large-count (`_c`) function is a record of its small form if all of its counts fit; if not, and for all
//!   functions without an id of their own, it is a pair of pseudo calls with the function's name
//!   ([`DumpiOptions::extensions`]).
//! * A call that was running when the process died is a Function_enter record without a Function_exit, and a
//!   process that did not come to MPI_Finalize has an annotation at its end ([`DumpiOptions::unfinished`]).
//!
//! Numbers of sections in this module refer to the project's specification of the format.

mod claim;
mod constants;
mod convert;
mod encoded;
mod extension;
mod fields;
mod numbers;
mod options;
mod user;
mod user_names;
mod write;

pub use claim::Claim;
pub use constants::constant_names;
pub use options::DumpiOptions;
pub use write::{DumpiFileSummary, DumpiRunError, write, write_meta, write_to};
