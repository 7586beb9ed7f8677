//! `docs/user/functions.md`, made from the function table; a test compares the file with it. Another one compares the wrapper that
//! `docs/internals/overview.md` shows with what is generated.

use std::fmt::Write;
use std::path::PathBuf;
use wrappers::abi::{MpiAbi, abi_facts};
use wrappers::{Carrier, Class, Function, TEXT, Table};

const HEAD: &str = "\
# Functions

<!-- Made from wrappers/mpi.table: UPDATE_DOCS=1 cargo test -p wrappers --test docs -->

The table has every function of MPI 5.0 that has a C binding, the tools interface included, and the functions that MPI-3.0 removed.
A recorder records all of them, with every MPI library that has them. An extension that the headers in `wrappers/abi` declare
(`MPIX_…`) is recorded by name, without arguments. `MPI_X` and `PMPI_X` are both recorded, once per call.

* `_c`: the large-count form `MPI_X_c` exists and is recorded in the same way, with its wide counts.
* Class: what the function does. It decides the colour of functions for which MPE has none.
* DUMPI: number of the function in DUMPI files. Calls without one are function-enter and function-exit records with their name
  there (setting `extensions`).
* State: number of MPE's CLOG2 state. Functions without one have a state of their own, numbered from 300 on.
* Recorded: the arguments of a record, besides return code, times, thread and CallID; `[]` marks arrays. Data, callbacks and
  addresses are not recorded. Functions of class `convert` only translate handles and are not recorded unless the
  setting `conversions` asks for it.

";

/// The text of `docs/user/functions.md`.
fn document(table: &Table) -> String {
    let mut text = HEAD.to_owned();
    // The table's own headings: `# --- Files: access ---`.
    let headings: Vec<(usize, &str)> = TEXT
        .lines()
        .enumerate()
        .filter_map(|(line, text)| Some((line + 1, text.strip_prefix("# --- ")?)))
        .map(|(line, text)| (line, text.trim_end_matches([' ', '-'])))
        .collect();
    for (i, (from, heading)) in headings.iter().enumerate() {
        let to = headings.get(i + 1).map_or(usize::MAX, |(line, _)| *line);
        let _ = writeln!(
            text,
            "## {heading}\n\n| function | `_c` | class | DUMPI | state | colour | recorded |\n|---|---|---|---|---|---|---|"
        );
        let here = |f: &&Function| !f.large && (*from..to).contains(&f.line);
        for f in table.functions.iter().filter(here) {
            text += &row(table, f);
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn row(table: &Table, f: &Function) -> String {
    let number = |n: Option<u16>| n.map_or_else(String::new, |n| n.to_string());
    let large = table.get(&format!("{}_c", f.name)).is_some();
    let recorded: Vec<String> = f
        .params
        .iter()
        .filter(|p| p.carrier() != Carrier::Nothing)
        .map(|p| match p.carrier() {
            Carrier::Array(_) | Carrier::ArrayInOut(_) => format!("{}[]", p.name),
            _ => p.name.clone(),
        })
        .collect();
    format!(
        "| `{}`{} | {} | {} | {} | {} | {} | {} |\n",
        f.name,
        if f.removed { " (removed)" } else { "" },
        if large { "yes" } else { "" },
        f.class.word(),
        number(f.dumpi),
        number(f.state),
        f.color,
        recorded.join(", ")
    )
}

#[test]
fn the_document_is_what_the_table_says() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/user/functions.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, document(table)).expect("docs/user/functions.md can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == document(table),
        "docs/user/functions.md is not up to date: run this test with UPDATE_DOCS=1"
    );
}

#[test]
fn every_function_has_one_row() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    let document = document(table);
    for f in table.functions.iter().filter(|f| !f.large) {
        let rows = document.matches(&format!("| `{}`", f.name)).count();
        assert_eq!(rows, 1, "{}", f.name);
    }
    let rows = document
        .lines()
        .filter(|l| l.starts_with("| `MPI_"))
        .count();
    assert_eq!(rows, table.functions.iter().filter(|f| !f.large).count());
    // A class that no function has would be a class that the table declares for nothing.
    for class in Class::ALL {
        assert!(
            document.contains(&format!("| {} |", class.word())),
            "{}",
            class.word()
        );
    }
}

/// Code with one blank between its words, without comments and the path of `transmute`.
fn plain(code: &str) -> String {
    let lines = code.lines().map(|line| match line.split_once("// ") {
        Some((code, _)) if !line.starts_with("///") => code,
        _ => line,
    });
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ").replace("std::mem::", "")
}

/// The page leaves parts of the wrapper out, with an ellipsis. What it shows of it is in the wrapper, in that order.
#[test]
fn the_overview_shows_a_wrapper_as_it_is_generated() {
    let table = wrappers::table().unwrap_or_else(|e| panic!("{e}"));
    let facts: Result<Vec<_>, _> = MpiAbi::ALL.into_iter().map(abi_facts).collect();
    let facts = facts.unwrap_or_else(|e| panic!("{e}"));
    let wrappers = wrappers::generate::generate(table, &facts).wrappers;
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/internals/overview.md");
    let page = std::fs::read_to_string(page).expect("docs/internals/overview.md");
    let (_, shown) = page.split_once("```rust\n").expect("a wrapper");
    let (shown, _) = shown.split_once("```").expect("the wrapper's end");
    let name = shown.lines().next().expect("the wrapper's name");
    let (_, made) = wrappers.split_once(name).expect(name);
    let (made, _) = made.split_once("\n} }\n").expect("the wrapper's end");
    let made = plain(&format!("{name}{made}\n}} }}"));
    let shown = plain(shown);
    let mut rest = made.as_str();
    for part in shown.split('…').map(str::trim) {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("`{part}` is not in\n{rest}"));
        rest = after;
    }
    assert_eq!(rest, "", "the page stops before the wrapper does");
}
