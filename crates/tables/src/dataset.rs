//! The folder of a dataset, and the file that says what it is.

use crate::definition_table::DefinitionTable;
use crate::kind::TableKind;
use crate::table::TableFormat;
use crate::waits::WAITS;
use serde_json::json;
use std::fs;
use std::io;
use std::path::Path;
use trace_model::{EntryKind, FolderKind};

/// Name of the file. Readers of datasets pass over files that begin with an underscore.
const ABOUT: &str = "_libtrace.json";
/// First key of the file.
const MARK: &str = "libtrace-tables";

/// The folder of a dataset, for [`trace_model::PendingFolder`].
pub const DATASET: FolderKind = FolderKind {
    is_one: is_dataset,
    has_entry,
    name: "a dataset of tables",
};

/// Whether a folder is a dataset that a [`TablesSink`](crate::TablesSink) has written.
pub fn is_dataset(path: &Path) -> bool {
    fs::read(path.join(ABOUT)).is_ok_and(|bytes| {
        let about: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        about.is_some_and(|about| about.get(MARK).is_some())
    })
}

/// Whether an entry is one that a [`TablesSink`](crate::TablesSink) writes: the file that says what the folder is, and in the folder of a table its
/// files, those of a group of ranks in a folder of their own.
fn has_entry(path: &Path, kind: EntryKind) -> bool {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    match (parts.as_deref(), kind) {
        (Some([name]), EntryKind::File) => *name == ABOUT,
        (Some([table]), EntryKind::Folder) => is_table(table),
        (Some([_, group]), EntryKind::Folder) => is_group(group),
        (Some([_, file] | [_, _, file]), EntryKind::File) => is_table_file(file),
        _ => false,
    }
}

fn is_table(name: &str) -> bool {
    let is_of_kind = TableKind::ALL.iter().any(|kind| kind.name() == name);
    is_of_kind || name == WAITS || DefinitionTable::by_name(name).is_some()
}

fn is_group(name: &str) -> bool {
    let number = name.strip_prefix("rank_group=");
    number.is_some_and(|number| number.parse::<i64>().is_ok())
}

fn is_table_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(number, ending)| {
        let formats = [TableFormat::Parquet, TableFormat::Arrow];
        number.parse::<u64>().is_ok() && formats.iter().any(|format| format.ending() == ending)
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
