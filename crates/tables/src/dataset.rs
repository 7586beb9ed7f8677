//! The folder of a dataset, and the file that says what it is.

use serde_json::json;
use std::fs;
use std::io;
use std::path::Path;
use trace_model::FolderKind;

/// Name of the file. Readers of datasets pass over files that begin with an underscore.
const ABOUT: &str = "_libtrace.json";
/// First key of the file.
const MARK: &str = "libtrace-tables";

/// The folder of a dataset, for [`trace_model::PendingFolder`].
pub const DATASET: FolderKind = FolderKind {
    is_one: is_dataset,
    name: "a dataset of tables",
};

/// Whether a folder is a dataset that a [`TablesSink`](crate::TablesSink) has written.
pub fn is_dataset(path: &Path) -> bool {
    fs::read(path.join(ABOUT)).is_ok_and(|bytes| {
        let about: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        about.is_some_and(|about| about.get(MARK).is_some())
    })
}

/// Writes what the dataset says of itself: the version of its tables, the program, and the rows of each table.
pub fn describe(folder: &Path, program: &str, rows: &[(&str, u64)]) -> io::Result<()> {
    let tables: serde_json::Map<String, serde_json::Value> = rows
        .iter()
        .map(|(table, rows)| ((*table).to_owned(), json!({ "rows": rows })))
        .collect();
    let about = json!({ MARK: 1, "program": program, "tables": tables });
    fs::write(folder.join(ABOUT), format!("{about:#}\n"))
}
