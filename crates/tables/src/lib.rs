//! Traces as tables: datasets of Parquet or Arrow files and batches in memory, for DuckDB, pandas, polars, Spark and whatever else reads them.
//!
//! A [`TablesSink`] takes the drawables of a trace in order of start. Each kind of drawable has a table of its own ([`TableKind`]), in a
//! folder of that name. Times are whole ns since time zero of the trace. What a category has in its info becomes columns of the table
//! (`bytes`, `root`, `call_id` …), empty where a row's category lacks it. `docs/user/tables.md` describes every table and column.
//!
//! A table with a rank in each row is cut by ranges of ranks: `calls/rank_group=0/` has those of ranks 0 to 63. In a file rows are in order of their
//! time, and each group of rows has the least and largest value of each column, so that a query for a stretch of time reads only what it needs.
//!
//! What calls waited for comes from the `analysis` crate: each wait is a row of the table `waits`, and the table of calls says how long each
//! call waited and for whom.
//!
//! [`SelectedRows`] gathers some rows of one table as Arrow's batches, for programs that go on with them in memory.
#![deny(missing_docs)]

mod category_plan;
mod column;
mod dataset;
mod definition_table;
mod encoders;
mod error;
mod gathered;
mod kind;
mod lines;
mod optional_values;
mod rows;
mod selection;
mod sink;
mod table;
mod times;

mod waits;

pub use dataset::{DATASET, is_dataset};
pub use definition_table::DefinitionTable;
pub use error::{TablesError, TablesErrorKind};
pub use kind::TableKind;
pub use selection::{RowSelection, SelectedRows};
pub use sink::TablesSink;
pub use table::TableFormat;
pub use waits::{WaitTable, WaitingCalls};
