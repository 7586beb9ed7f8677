//! The table of every MPI function, `mpi.table`, and its parser.
//!
//! The table is the only source of what the project knows about MPI functions: the wrappers, the record schema, the
//! names in text dumps and the support table in the docs are made from it. This library has no dependency, reads no
//! file at run time and needs no MPI, so that every other crate can have it as a build dependency. What an installed
//! `mpi.h` declares is the business of the module `header`, behind the feature of the same name.
//!
//! ```
//! let table = wrappers::table().unwrap();
//! let send = table.get("MPI_Send").unwrap();
//! assert_eq!(send.dumpi, Some(0));
//! assert_eq!(send.params[3].kind, wrappers::Kind::Dest);
//! // The large-count form is derived, not listed.
//! let large = table.get("MPI_Send_c").unwrap();
//! assert_eq!(large.params[1].ctype, wrappers::CType::Count);
//! assert_eq!(large.base, Some(send.id));
//! ```
#![deny(missing_docs)]

use std::sync::OnceLock;

pub mod abi;
mod canonical;
mod carrier;
mod class;
mod collective;
pub mod generate;
#[cfg(feature = "header")]
pub mod header;
mod kind;
mod length;
mod parse;
mod short;
mod table;

pub use carrier::{Carrier, ElementForm};
pub use class::{Class, FileAccessKind, Phase, Pointer};
pub use collective::{CollectiveOperation, ToldBytes};
pub use kind::{CType, Direction, Kind};
pub use length::{LengthQuery, LengthRule, Property};
pub use parse::ParseError;
pub use short::{ShortForm, ShortPlace};
pub use table::{
    BufferAmount, BufferExtent, COLLECTIVE_ON_OBJECTS, Fortran, Function, Param, PollOutcome,
    Sentinel, Table, is_called_by_group,
};

/// The text of the table.
pub const TEXT: &str = include_str!("../mpi.table");

/// The table. The process reads it when it is first asked for.
///
/// # Errors
/// The first line of `mpi.table` that does not follow the rules in its header. The tests read it, so a program that
/// passed them never sees one.
pub fn table() -> Result<&'static Table, ParseError> {
    static TABLE: OnceLock<Result<Table, ParseError>> = OnceLock::new();
    TABLE
        .get_or_init(|| parse::parse(TEXT))
        .as_ref()
        .map_err(Clone::clone)
}
