//! Every "section N" in the tree names the text it is in, and sections of `spec/` exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders in which nothing of ours is written.
const FOREIGN_FOLDERS: [&str; 7] = [
    ".git",
    "target",
    "node_modules",
    "dist",
    "golden",
    "data",
    "pictures",
];

/// Endings of files that cite sections.
const TEXT_ENDINGS: [&str; 16] = [
    "rs", "ts", "tsx", "mjs", "js", "css", "c", "h", "f90", "py", "table", "toml", "md", "sh",
    "html", "",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the tree") {
        let path = entry.expect("a folder of the tree").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        let ending = path.extension().map_or("".into(), |e| e.to_string_lossy());
        if path.is_dir() {
            if !FOREIGN_FOLDERS.contains(&name.as_ref()) {
                files(&path, found);
            }
        } else if TEXT_ENDINGS.contains(&ending.as_ref()) && !name.starts_with("LICENSE") {
            found.push(path);
        }
    }
}

/// The numbers of a text's headings, such as `8` and `8.3`.
fn headings(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| {
            line.strip_prefix('#')?
                .trim_start_matches('#')
                .split_whitespace()
                .next()
        })
        .map(|number| number.trim_end_matches('.').to_owned())
        .filter(|number| number.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

/// A text in one line: comments and lists without the signs that begin their lines, and without the backquotes of names.
fn in_one_line(text: &str) -> String {
    let begins = [' ', '\t', '/', '!', '*', '#', ';'];
    let lines = text.lines().map(|line| line.trim_start_matches(begins));
    lines.collect::<Vec<_>>().join(" ").replace('`', "")
}

/// A citation: the text before the word, and the numbers after it.
struct Citation<'t> {
    before: &'t str,
    numbers: Vec<&'t str>,
}

fn citations(text: &str) -> Vec<Citation<'_>> {
    let mut found = Vec::new();
    for (at, word) in text.match_indices("ection") {
        let before = &text[..at];
        // `Section`, `sections`, but no `intersection`.
        let Some(before) = before.strip_suffix(['s', 'S']) else {
            continue;
        };
        if before.ends_with(char::is_alphanumeric) {
            continue;
        }
        let after = &text[at + word.len()..];
        let after = after.strip_prefix('s').unwrap_or(after);
        let mut numbers = Vec::new();
        let mut rest = after;
        // `8`, `8.2 and 8.3`, `1, 3 and 6`, `3 to 5`.
        let mut between: &[&str] = &[" "];
        while let Some(next) = between
            .iter()
            .filter_map(|between| rest.strip_prefix(between))
            .find(|next| next.starts_with(|c: char| c.is_ascii_digit()))
        {
            let end = next
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(next.len());
            numbers.push(next[..end].trim_end_matches('.'));
            rest = &next[end..];
            between = &[", and ", " and ", " to ", ", "];
            if next[..end].ends_with('.') {
                break;
            }
        }
        if !numbers.is_empty() {
            found.push(Citation { before, numbers });
        }
    }
    found
}

/// The text of `spec/` that is named right before a citation, as in `spec/slog2.md section 8`.
fn named(before: &str) -> Option<&str> {
    let name = before.trim_end().rsplit([' ', '(']).next()?;
    name.rsplit('/').next()?.strip_suffix(".md")
}

/// Texts of others that the tree cites by section.
fn is_foreign(before: &str) -> bool {
    let mut words = before.trim_end().rsplit([' ', '(']);
    let last = words.next().unwrap_or_default();
    let last_but_one = words.next().unwrap_or_default();
    before.ends_with("System V ABI (")
        || before.ends_with("paper on SLOG2 (")
        || before.ends_with("SLOG2 paper, ")
        || last_but_one == "RFC"
        || last_but_one == "MPI" && last.starts_with(|c: char| c.is_ascii_digit())
}

#[test]
fn every_cited_section_exists() {
    let root = test_support::root();
    let mut specs = BTreeMap::new();
    for entry in std::fs::read_dir(test_support::spec_folder()).expect("spec/") {
        let path = entry.expect("spec/").path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let name = path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            specs.insert(
                name,
                headings(&std::fs::read_to_string(&path).expect("text")),
            );
        }
    }
    assert!(specs.len() > 10, "{specs:?}");
    let mut all = Vec::new();
    files(&root, &mut all);
    let (mut checked, mut wrong) = (0, Vec::new());
    for path in all {
        if path.ends_with("citations.rs") {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let line = in_one_line(&text);
        let is_spec = path.parent().is_some_and(|folder| folder.ends_with("spec"));
        let own = path.file_stem().expect("a name").to_string_lossy();
        for citation in citations(&line) {
            let spec = match named(citation.before) {
                Some(spec) => spec,
                None if is_foreign(citation.before) => continue,
                None if is_spec => &own,
                None => "none",
            };
            for number in citation.numbers {
                checked += 1;
                if !specs
                    .get(spec)
                    .is_some_and(|headings| headings.contains(number))
                {
                    let context: String = citation.before.chars().rev().take(60).collect();
                    let context: String = context.chars().rev().collect();
                    let path = path.strip_prefix(&root).expect("in the tree").display();
                    wrong.push(format!("{path}: …{context}section {number}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 250, "only {checked} citations");
}
