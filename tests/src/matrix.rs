//! The table of `docs/user/programs.md`: kinds of programs by MPI implementation, and in each cell the calls that were found in the
//! trace and those that the program made.
//!
//! A test enters what it has found. With `UPDATE_DOCS=1` that goes into the table; without, the table must have the cell, so
//! that what it claims is what is tested. Rows and cells of tests that did not run stay as they are.

use crate::Mpi;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- matrix: UPDATE_DOCS=1 EVERY_MPI=1 cargo test --release -p tests --test mpi -- --test-threads=1 -->";
const END: &str = "<!-- end of the matrix -->";

/// Rows stand in the order of these groups, which are the words before the first colon of their names, and in a group in
/// the order of names.
const GROUPS: [&str; 8] = [
    "C",
    "C, large counts",
    "C++",
    "Fortran",
    "Python",
    "Rust",
    "Linked",
    "Shape",
];

/// Enters that a program of this kind made `made` calls, and that `seen` of them were found. `kind` is `GROUP: NAME`.
///
/// # Panics
/// If the numbers differ, or the docs lack this cell and are not to be renewed.
#[track_caller]
pub fn seen(kind: &str, mpi: Mpi, seen: u64, made: u64) {
    assert_eq!(
        seen, made,
        "{kind}, {mpi:?}: calls in the trace, calls made"
    );
    enter(kind, mpi, &format!("{seen}/{made}"));
}

/// Enters a figure of another kind, of a run that is too long to be made at each change: nothing without `UPDATE_DOCS=1`.
#[track_caller]
pub fn note(kind: &str, mpi: Mpi, text: &str) {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        enter(kind, mpi, text);
    }
}

/// Enters why there is no figure: a few words, such as `fails untraced`.
///
/// # Panics
/// If the docs lack this cell and are not to be renewed.
#[track_caller]
pub fn without(kind: &str, mpi: Mpi, why: &str) {
    enter(kind, mpi, why);
}

#[track_caller]
fn enter(kind: &str, mpi: Mpi, text: &str) {
    assert!(!text.contains('|') && !kind.contains('|'), "{kind}: {text}");
    let path = crate::root().join("docs/user/programs.md");
    let column = Mpi::KNOWN.iter().position(|known| *known == mpi);
    let column = column.expect("every implementation is known");
    let docs = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let (before, mut table, after) = parts(&docs);
        table.entry(kind.to_owned()).or_default()[column] = text.to_owned();
        write(&path, &format!("{before}{}{after}", shown(&table)));
    } else {
        let (_, table, _) = parts(&docs);
        let there = table.get(kind).is_some_and(|row| !row[column].is_empty());
        assert!(
            there,
            "docs/user/programs.md has no figure for {kind}, {mpi:?}: run this test with UPDATE_DOCS=1"
        );
    }
}

/// Complete or not at all, should two tests write.
fn write(path: &Path, text: &str) {
    let fresh = PathBuf::from(format!("{}.{}", path.display(), std::process::id()));
    fs::write(&fresh, text).expect("docs can be written");
    fs::rename(&fresh, path).expect("docs can be written");
}

type FunctionMatrix = BTreeMap<String, [String; Mpi::KNOWN.len()]>;

/// The docs before, in and behind the marks.
fn parts(docs: &str) -> (&str, FunctionMatrix, &str) {
    let (before, rest) = docs.split_once(BEGIN).unwrap_or((docs, END));
    let (table, after) = rest.split_once(END).unwrap_or((rest, ""));
    let rows = table.lines().filter_map(|line| {
        let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
        let kind = cells.next().filter(|kind| kind.contains(": "))?;
        let mut row: [String; Mpi::KNOWN.len()] = Default::default();
        for (cell, text) in row.iter_mut().zip(cells) {
            *cell = text.to_owned();
        }
        Some((kind.to_owned(), row))
    });
    (before, rows.collect(), after)
}

fn shown(table: &FunctionMatrix) -> String {
    let mut text = format!("{BEGIN}\n| program |");
    Mpi::KNOWN
        .iter()
        .for_each(|mpi| text += &format!(" {} |", mpi.title()));
    text += &format!("\n|---|{}\n", "---:|".repeat(Mpi::KNOWN.len()));
    let group = |kind: &str| {
        let group = kind.split(": ").next().unwrap_or_default();
        GROUPS.iter().position(|known| *known == group)
    };
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_by_key(|(kind, _)| (group(kind).unwrap_or(GROUPS.len()), *kind));
    for (kind, row) in rows {
        text += &format!("| {kind} |");
        row.iter().for_each(|cell| text += &format!(" {cell} |"));
        text.push('\n');
    }
    text + END
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let mut table = FunctionMatrix::new();
        table.entry("Python: suite".into()).or_default()[1] = "2/2".into();
        table.entry("C: p2p".into()).or_default()[4] = "fails untraced".into();
        let docs = format!("before\n{}\nafter", shown(&table));
        assert_eq!(parts(&docs), ("before\n", table, "\nafter"));
        assert!(docs.find("C: p2p") < docs.find("Python: suite"));
        assert_eq!(parts("no marks").1, FunctionMatrix::new());
    }
}
