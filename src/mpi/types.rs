//! The types of MPI as the recorder itself has them: wide enough for the libraries of every binary interface.
#![allow(non_camel_case_types, reason = "the names of the standard")]

use crate::mpi::handles::Handle;

/// Communicator.
pub type MPI_Comm = Handle;
/// Datatype.
pub type MPI_Datatype = Handle;
/// Group of processes.
pub type MPI_Group = Handle;
/// Request.
pub type MPI_Request = Handle;
/// File.
pub type MPI_File = Handle;
/// Error handler.
pub type MPI_Errhandler = Handle;
/// Info.
pub type MPI_Info = Handle;
/// Session.
pub type MPI_Session = Handle;
/// Address or difference of addresses.
pub type MPI_Aint = i64;
/// Place in a file.
pub type MPI_Offset = i64;
/// Large count.
pub type MPI_Count = i64;
