//! Golden files: what the original libraries and tools made of programs of ours, in `tests/golden`.
//!
//! Every function here fails the test when a file is missing. Long texts are kept compressed: a file `NAME.gz` is found and
//! read under `NAME`.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The environment variable that names a folder of traces which other packages ship and which are not ours to copy. It is
/// laid out as `tests/golden`. Tests read these files as well where the variable is set.
const SHIPPED: &str = "TRACE_SHIPPED_GOLDENS";

/// The place of a golden file or folder, such as `mpe/ring_n2.clog2`. A compressed file has no place: see [`read`].
#[track_caller]
pub fn path(name: impl AsRef<Path>) -> PathBuf {
    let path = folder().join(name);
    assert!(path.exists(), "no golden {}", path.display());
    path
}

/// The content of a golden file: a name below `tests/golden`, or a path that [`path`] or [`files`] gave.
#[track_caller]
pub fn read(name: impl AsRef<Path>) -> Vec<u8> {
    let path = folder().join(name);
    read_at(&path).unwrap_or_else(|| panic!("no golden {}", path.display()))
}

/// The content of a golden file that is text: see [`read`].
#[track_caller]
pub fn text(name: impl AsRef<Path>) -> String {
    String::from_utf8(read(name)).expect("a golden text is UTF-8")
}

/// Whether a golden file of this name is there, compressed or not.
pub fn exists(name: impl AsRef<Path>) -> bool {
    let path = folder().join(name);
    path.is_file() || compressed(&path).is_file()
}

/// The golden files below a folder whose names end so, sorted: at least one. A compressed file `NAME.gz` stands as `NAME`.
#[track_caller]
pub fn files(folder_name: impl AsRef<Path>, ending: &str) -> Vec<PathBuf> {
    let start = path(folder_name);
    let mut folders = vec![start.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of goldens") {
            let path = entry.expect("a folder of goldens").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_compressed = path.extension().is_some_and(|ending| ending == "gz");
            let path = if is_compressed {
                path.with_extension("")
            } else {
                path
            };
            let name = path.file_name().expect("a file").to_string_lossy();
            if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "no *{ending} in {}", start.display());
    found.sort();
    found
}

/// Names and contents of the golden files below a folder whose names end so, sorted by path: see [`files`].
#[track_caller]
pub fn contents(folder_name: &str, ending: &str) -> Vec<(String, Vec<u8>)> {
    let name = |path: &Path| {
        let name = path.file_name().expect("a file").to_string_lossy();
        name.into_owned()
    };
    files(folder_name, ending)
        .into_iter()
        .map(|path| (name(&path), read(&path)))
        .collect()
}

/// A file of the shipped traces, such as `legacy/alog/sam_hyp.16.log`: `None` unless `TRACE_SHIPPED_GOLDENS` names their
/// folder, in which it must be.
#[track_caller]
pub fn shipped(name: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os(SHIPPED)?;
    let path = Path::new(&folder).join(name);
    Some(read_at(&path).unwrap_or_else(|| panic!("{SHIPPED}: no {}", path.display())))
}

fn folder() -> PathBuf {
    crate::root().join("tests/golden")
}

fn compressed(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".gz");
    name.into()
}

/// The content of a file or of the compressed one with its name; `None` if neither is there.
fn read_at(path: &Path) -> Option<Vec<u8>> {
    if path.is_file() {
        return Some(std::fs::read(path).expect("a golden that can be read"));
    }
    let file = std::fs::File::open(compressed(path)).ok()?;
    let mut content = Vec::new();
    (flate2::read::GzDecoder::new(file).read_to_end(&mut content)).expect("a sound gzip file");
    Some(content)
}
