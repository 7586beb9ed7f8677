//! Functions that the ranks of a file or window call together, as far as their class does not tell.

/// Names of these functions.
pub(crate) const ON_OBJECTS: [&str; 8] = [
    "MPI_File_set_view",
    "MPI_File_seek_shared",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_File_sync",
    "MPI_File_set_atomicity",
    "MPI_File_set_info",
    "MPI_Win_fence",
];
