//! Traces that are folders.

use std::path::{Path, PathBuf};
use trace_model::FolderKind;

/// Every kind of trace that is a folder.
const KINDS: &[FolderKind] = &[
    trace_formats::otf2::ARCHIVE,
    #[cfg(feature = "tables")]
    tables::DATASET,
];

/// What kind of trace a folder is; `None` if it is none.
pub fn kind(path: &Path) -> Option<FolderKind> {
    KINDS.iter().copied().find(|kind| (kind.is_one)(path))
}

/// The file that stands for a trace: the anchor file of a folder that is an OTF2 archive, else the path itself.
pub fn file_of(path: &Path) -> PathBuf {
    match trace_formats::otf2::is_archive(path) {
        true => trace_formats::otf2::anchor(path),
        false => path.to_path_buf(),
    }
}

/// Name of a trace on a page: that of its file, or of the folder of an archive, whose anchor file is called as in any other archive.
pub fn name_of(path: &Path) -> String {
    let parent = path
        .parent()
        .filter(|parent| trace_formats::otf2::anchor(parent) == path);
    let named = parent.filter(|parent| parent.file_name().is_some());
    let named = named.unwrap_or(path);
    let name = named.file_name().unwrap_or(named.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Names of traces on a page. Those of different traces that are called alike begin with as many folders as tell them apart.
pub fn names_of(paths: &[&Path]) -> Vec<String> {
    let whole: Vec<PathBuf> = paths
        .iter()
        .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()))
        .collect();
    let names: Vec<String> = paths.iter().map(|path| name_of(path)).collect();
    // The folders above what a trace is called by, the nearest first.
    let folders = |nth: usize| {
        let mut above = whole[nth].ancestors();
        above.find(|path| (path.file_name()).is_some_and(|last| *last == *names[nth]));
        let above = above.filter_map(Path::file_name);
        above.map(|folder| folder.to_string_lossy().into_owned())
    };
    let name = |nth: usize| {
        let alike = (0..paths.len())
            .filter(|&other| names[other] == names[nth] && whole[other] != whole[nth]);
        let own: Vec<String> = folders(nth).collect();
        let shared = alike.map(|other| {
            let pairs = own.iter().zip(folders(other));
            1 + pairs.take_while(|(own, other)| *own == other).count()
        });
        let told = shared.max().unwrap_or(0).min(own.len());
        let told = own[..told].iter().rev().map(String::as_str);
        let parts: Vec<&str> = told.chain([names[nth].as_str()]).collect();
        parts.join("/")
    };
    (0..paths.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_that_are_called_alike_are_told_apart_by_folders() {
        let names = |paths: &[&str]| {
            let paths: Vec<&Path> = paths.iter().map(Path::new).collect();
            names_of(&paths)
        };
        assert_eq!(
            names(&["/t/old/run.slog2", "/t/new/run.slog2", "/t/new/x.slog2"]),
            ["old/run.slog2", "new/run.slog2", "x.slog2"]
        );
        assert_eq!(
            names(&["/a/t/run.slog2", "/b/t/run.slog2", "/b/u/run.slog2"]),
            ["a/t/run.slog2", "b/t/run.slog2", "u/run.slog2"]
        );
        assert_eq!(
            names(&["/a/s/traces.otf2", "/b/s/traces.otf2"]),
            ["a/s", "b/s"]
        );
        // The same trace twice, and what has no folders.
        assert_eq!(names(&["/a/x", "/a/x", "-"]), ["x", "x", "-"]);
        assert_eq!(names(&["/run", "/a/run"]), ["run", "a/run"]);
    }

    #[test]
    fn an_archive_is_called_by_its_folder() {
        let name = |path: &str| name_of(Path::new(path));
        assert_eq!(name("a/run.slog2"), "run.slog2");
        assert_eq!(name("a/scorep/traces.otf2"), "scorep");
        assert_eq!(name("traces.otf2"), "traces.otf2");
        assert_eq!(name("-"), "-");
    }
}
