//! SLOG-1 against files and texts of the original software; skipped where these are not at hand.

use formats::slog1::*;
use std::fs;
use std::path::PathBuf;

/// The folder of files that the original software made, if it is there.
fn golden() -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/legacy");
    if !folder.is_dir() {
        println!("SKIPPED: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

const NAMES: [&str; 5] = [
    "endtime_reserved",
    "fpilog",
    "ring",
    "sample",
    "starttime_order",
];

/// The files by name.
fn golden_files() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = golden() else {
        return Vec::new();
    };
    let read = |name: &str| {
        let file = fs::read(folder.join(format!("slog1/{name}.slog"))).expect(name);
        (name.to_string(), file)
    };
    NAMES
        .iter()
        .copied()
        .chain(["sppm_ic2a"])
        .map(read)
        .collect()
}

fn printed(file: &[u8], name: &str) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    print(&Reader::new(file)?, name.as_bytes(), &mut text)?;
    Ok(text)
}

#[track_caller]
fn assert_same(name: &str, found: &[u8], expected: &[u8]) {
    let difference = found.iter().zip(expected).position(|(a, b)| a != b);
    assert_eq!(
        (difference, found.len()),
        (None, expected.len()),
        "{name}: {:?} against {:?}",
        around(found, difference),
        around(expected, difference)
    );
}

fn around(bytes: &[u8], at: Option<usize>) -> String {
    let at = at.unwrap_or(bytes.len());
    let part = &bytes[at.saturating_sub(60)..bytes.len().min(at + 60)];
    String::from_utf8_lossy(part).into_owned()
}

#[test]
fn print_gives_the_text_of_slog_print() {
    let Some(folder) = golden() else { return };
    for (name, file) in golden_files() {
        let expected = fs::read(folder.join(format!("slog1/{name}.slog_print.txt")));
        let text = printed(&file, &format!("{name}.slog")).expect(&name);
        match expected {
            Ok(expected) => assert_same(&name, &text, &expected),
            // This one is kept compressed.
            Err(_) => {
                assert_eq!(name, "sppm_ic2a");
                let out = std::process::Command::new("zcat")
                    .arg(folder.join("slog1/sppm_ic2a.slog_print.txt.gz"))
                    .output()
                    .expect("zcat");
                assert_same(&name, &text, &out.stdout);
            }
        }
    }
}
