//! What the pages of the documentation point to is there: files and headings behind links, files and folders of the tree that
//! they name, and the crates and targets of the cargo commands that they tell, which comments in sources tell as well.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folders that are made, not kept.
const MADE: [&str; 3] = ["target", "node_modules", "artifacts"];

/// Every file of the tree, by its path from the root.
fn tree() -> Vec<String> {
    let (root, mut found) = (root(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let (path, name) = (entry.as_ref().unwrap().path(), entry.unwrap().file_name());
            let name = name.to_str().unwrap();
            if path.is_dir() {
                if name != ".git" && !MADE.contains(&name) {
                    folders.push(path);
                }
            } else {
                let path = path.strip_prefix(&root).unwrap();
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// The texts of those files that end in one of `endings`.
fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let is_wanted = |path: &String| endings.iter().any(|ending| path.ends_with(ending));
    let files = tree().into_iter().filter(is_wanted);
    let read = |path: String| (fs::read_to_string(root().join(&path)), path);
    files
        .map(read)
        .map(|(text, path)| (path, text.unwrap()))
        .collect()
}

/// Name of a heading in links, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let shown = heading.trim().to_lowercase();
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    shown
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

fn anchors(page: &str) -> HashSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

/// The targets of a page's links, but for those that lead out of the tree.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let ends = page.split("](").skip(1);
    let targets = ends.filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://"))
}

/// A relative path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

/// The links of these pages that lead nowhere.
fn dead(pages: &[(String, String)]) -> Vec<String> {
    let known: HashMap<&Path, HashSet<String>> = pages
        .iter()
        .map(|(path, text)| (Path::new(path.as_str()), anchors(text)))
        .collect();
    let mut dead = Vec::new();
    for (path, text) in pages {
        for link in links(text) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(path).parent().unwrap();
            let file = if file.is_empty() {
                PathBuf::from(path)
            } else {
                plain(&folder.join(file))
            };
            let headings = known.get(&*file);
            let is_there = headings.is_some() || root().join(&file).exists();
            let is_heading = |headings: &HashSet<String>| headings.contains(heading);
            if !is_there || !(heading.is_empty() || headings.is_some_and(is_heading)) {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    dead
}

#[test]
fn links_lead_somewhere() {
    let pages = texts(&[".md"]);
    assert!(pages.len() > 15, "{}", pages.len());
    assert_eq!(dead(&pages), Vec::<String>::new());
}

/// The pages of the documentation, by their path from the root.
fn documentation() -> impl Iterator<Item = String> {
    let folders = ["docs/user/", "docs/internals/", "spec/"];
    tree()
        .into_iter()
        .filter(move |path| path.ends_with(".md") && folders.iter().any(|f| path.starts_with(f)))
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let named: HashSet<PathBuf> = links(&summary)
        .map(|link| plain(&Path::new("docs").join(link)))
        .collect();
    let mut missing: Vec<String> = documentation().collect();
    assert!(missing.len() > 25, "{}", missing.len());
    missing.retain(|page| !named.contains(Path::new(page)));
    assert_eq!(missing, Vec::<String>::new(), "docs/SUMMARY.md lacks these");
}

#[test]
fn dead_links_are_found() {
    let page = "# One\n## `Two`, and `3`\n[a](#one) [b](#two-and-3) [c](README.md) [d](https://example.org/none) \
                [e](#four) [f](none.md) [g](README.md#none)";
    let found = dead(&[("page.md".to_owned(), page.to_owned())]);
    assert_eq!(
        found,
        ["#four", "none.md", "README.md#none"].map(|link| format!("page.md: {link}"))
    );
}

/// The words of a page that stand between backticks on one line.
fn quoted(page: &str) -> impl Iterator<Item = &str> {
    page.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Whether a word can only be a file or folder of the tree: endings of sources, and folders by the name of those in it.
fn names_a_file(word: &str) -> bool {
    let endings = [
        ".rs", ".ts", ".tsx", ".mjs", ".c", ".f90", ".table", ".lj", ".toml",
    ];
    let is_path = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let is_file = endings
        .iter()
        .any(|end| word.ends_with(end) && word.len() > end.len());
    let is_placeholder = word.starts_with('/') || word.contains("NAME") || word.contains("PREFIX");
    word.chars().all(is_path) && (is_file || word.ends_with('/')) && !is_placeholder
}

/// Whether a file, or a folder with files in it, has this path, or one that ends so.
fn is_in(tree: &[String], word: &str) -> bool {
    tree.iter().any(|path| {
        let path = format!("/{path}");
        if word.ends_with('/') {
            path.contains(&format!("/{word}"))
        } else {
            path.ends_with(&format!("/{word}"))
        }
    })
}

#[test]
fn files_that_are_named_exist() {
    let tree = tree();
    assert!(is_in(&tree, "links.rs") && is_in(&tree, "tests/all/") && !is_in(&tree, "inks.rs"));
    let mut missing = Vec::new();
    // The specifications speak of files of other software.
    let pages = texts(&[".md"]);
    for (path, text) in pages.iter().filter(|(path, _)| !path.starts_with("spec/")) {
        let gone = quoted(text).filter(|word| names_a_file(word) && !is_in(&tree, word));
        missing.extend(gone.map(|word| format!("{path}: {word}")));
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// The word after `option` in a command.
fn reported<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == option)?;
    words.get(at + 1).copied()
}

/// Names the fault of the crate or the target that a cargo command names.
fn wrong(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let folder = match reported(&words, "-p") {
        Some("trace") | None => root(),
        Some(name @ ("wrappers" | "tests")) => root().join(name),
        Some(name) => root().join("crates").join(name),
    };
    let manifest = fs::read_to_string(folder.join("Cargo.toml"));
    let Ok(manifest) = manifest else {
        return Some(format!("no crate {}", folder.display()));
    };
    for (option, places) in [
        ("--test", "tests"),
        ("--bench", "benches"),
        ("--bin", "src/bin"),
    ] {
        let Some(name) = reported(&words, option) else {
            continue;
        };
        let is_file = [format!("{name}.rs"), format!("{name}/main.rs")]
            .iter()
            .any(|file| folder.join(places).join(file).exists());
        if !is_file && !manifest.contains(&format!("name = \"{name}\"")) {
            return Some(format!("no {option} {name} in {}", folder.display()));
        }
    }
    None
}

/// The cargo commands in a text that name a crate, each on one line.
fn commands(text: &str) -> Vec<String> {
    let text: Vec<&str> = text
        .lines()
        .map(|line| {
            line.trim_start()
                .trim_start_matches("//!")
                .trim_start_matches("///")
        })
        .collect();
    let text = text.join(" ");
    let begins = ["cargo test ", "cargo run ", "cargo bench ", "cargo build "];
    let mut found = Vec::new();
    for begin in begins {
        for (at, _) in text.match_indices(begin) {
            let rest = &text[at..];
            let end = rest.find(['`', '"', '#', ')', '\\']).unwrap_or(rest.len());
            let command = rest[..end].split(" -- ").next().unwrap();
            if command.contains(" -p ") {
                found.push(command.to_owned());
            }
        }
    }
    found
}

#[test]
fn cargo_commands_name_what_there_is() {
    let mut bad = Vec::new();
    let mut seen = 0;
    for (path, text) in texts(&[".md", ".rs", ".mjs"]) {
        if path.ends_with("all/links.rs") {
            continue;
        }
        for command in commands(&text) {
            seen += 1;
            bad.extend(wrong(&command).map(|why| format!("{path}: {command}: {why}")));
        }
    }
    assert!(seen > 10, "{seen} commands found");
    assert_eq!(bad, Vec::<String>::new());
    assert!(wrong("cargo test -p mpitrace --test none").is_some());
    assert!(wrong("cargo test -p none").is_some());
    assert!(wrong("cargo test -p mpitrace --test all").is_none());
}
