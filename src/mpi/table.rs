//! The function table, read once when it is first needed: at MPI_Finalize.

use std::sync::OnceLock;
use wrappers::Table;

/// The table; `None` cannot happen in a library that passed its tests.
pub fn table() -> Option<&'static Table> {
    static TABLE: OnceLock<Option<Table>> = OnceLock::new();
    TABLE.get_or_init(|| wrappers::table().ok()).as_ref()
}
