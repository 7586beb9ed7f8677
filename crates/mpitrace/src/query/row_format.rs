//! Ways to print rows.

use clap::ValueEnum;

/// Ways to print rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// For people: all rows are read before the first is printed
    Table,
    /// For spreadsheets
    Csv,
    /// For programs: an object a line
    Json,
}
