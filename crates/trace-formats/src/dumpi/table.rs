//! The function table of the DUMPI format (`spec/dumpi.md` section 8). The build script makes the rows from `wrappers/mpi.table`:
//! one call of [`function`] per function id, fields in stream order.
//!
//! A field reads `name:code`, with these additions:
//!
//! * `name:code[bound]` – an array whose length normally equals the field `bound`; `int[bound][3]` – rows of three;
//!   `str[]`, `str[][]` – lists of strings and lists of such lists;
//! * `*` behind it – the value is taken after the real call returned; `*?` – only if the call reports completion;
//! * `?root{ … }` – present only in the records of the root rank.

use super::notation::function;
use super::schema::{DumpiFunction, LibraryBinding};

/// All function ids that a table or a stream can name, in order; position = id.
pub(super) static FUNCTIONS: [DumpiFunction; 293] =
    include!(concat!(env!("OUT_DIR"), "/dumpi_functions.rs"));
