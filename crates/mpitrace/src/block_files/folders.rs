//! Folders in which recorders started from here put their block files: the folder of temporary files, or that of the output
//! files (in batch jobs whose temporary folder goes with the job).

use settings::{NameValues, Settings, expand};
use std::path::{Path, PathBuf};

/// The folders that these settings name. A folder for temporary files whose name has patterns is left out.
pub fn of_settings(settings: &Settings) -> Vec<PathBuf> {
    let output = Path::new(&expanded(&settings.directory, "%", u32::MAX)).join(expanded(
        &settings.output,
        "%",
        u32::MAX,
    ));
    let output = output.ancestors().skip(1).find(|folder| {
        // The last relative folder is an empty name.
        folder.as_os_str().is_empty() || folder.is_dir()
    });
    let output = match output {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in without_patterns(&settings.tmpdir)
        .into_iter()
        .chain([output])
    {
        let is_known = |other: &PathBuf| other.canonicalize().ok() == folder.canonicalize().ok();
        if !folders.iter().any(is_known) {
            folders.push(folder);
        }
    }
    folders
}

/// The folders, by the settings of a program that is started here.
pub fn usual() -> Vec<PathBuf> {
    of_settings(&Settings::of_child(&[], &|_| true).settings)
}

/// The folder of this name; `None` if the name has patterns that stand for something else in each run.
fn without_patterns(name: &str) -> Option<PathBuf> {
    let [one, other] = [("a", 1), ("b", 2)].map(|(word, number)| expanded(name, word, number));
    (one == other).then(|| one.into())
}

/// A name whose patterns stand for this word and this number.
fn expanded(name: &str, word: &str, number: u32) -> String {
    let values = NameValues {
        program: word,
        job: word,
        task: word,
        date: word,
        host: word,
        ranks: number,
        rank: number,
        pid: number,
    };
    expand(name, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_recorder() {
        let of = |text: &str| of_settings(&Settings::from_text(text).0);
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(of(""), paths(&["/tmp", "."]));
        assert_eq!(of("tmpdir /usr"), paths(&["/usr", "."]));
        let output = "directory /usr/no%x20such/%j\noutput a/b";
        assert_eq!(of(output), paths(&["/tmp", "/usr"]));
        assert_eq!(of("output /usr/x"), paths(&["/tmp", "/usr"]));
        assert_eq!(of("tmpdir /tmp/%j"), paths(&["."]));
        assert_eq!(of("tmpdir /no%x20such/50%%"), paths(&["/no such/50%", "."]));
    }
}
