//! Finds the libtrace.so that fits a program.

use super::family::{AbiFamily, RequiredMpi, has_name};
use crate::failure::Failure;
use regex::bytes::Regex;
use std::path::{Path, PathBuf};

const NAME: &str = "libtrace.so";

/// A recorder, as it says itself what it was built for; a library that says nothing is not ours, or of an early version.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecorderLibrary {
    path: PathBuf,
    built_for: Option<(AbiFamily, u8)>,
}

/// Finds the library for a program's MPI, or any if that is not known; always an absolute path.
///
/// `given` (`--lib`, `TRACE_LIB`) is taken as it is if it is a file that fits. Else the libraries in folder F and in the
/// folders in F are looked at, where F is `given`, or in turn `../lib` and `lib` from where this program is, and its own
/// folder. Of those that fit, the one goes first that knows the same generation of MPI functions as the program's library.
pub fn find(given: Option<&Path>, wanted: Option<&RequiredMpi>) -> Result<PathBuf, Failure> {
    let wrong = |message: String| Err(Failure::Call(message));
    let folders = match given {
        Some(path) if path.is_file() => return fitting(path, wanted),
        Some(path) if path.is_dir() => vec![path.to_path_buf()],
        Some(path) => return wrong(format!("{}: no such library", path.display())),
        None => own_folders(),
    };
    for folder in &folders {
        let mut there = recorders(folder);
        if there.is_empty() {
            continue;
        }
        match wanted {
            Some(wanted) => {
                there.retain(|recorder| recorder.fits(wanted.family));
                let generation = wanted.library.as_deref().and_then(generation_of);
                if let Some(best) = best(&there, generation) {
                    return checked(&best.path);
                }
            }
            None => {
                // Builds for several and no way to choose: the wrong one would refuse to record.
                let of = |recorder: &RecorderLibrary| recorder.built_for.map(|(family, _)| family);
                if there.iter().any(|other| of(other) != of(&there[0])) {
                    return wrong(format!(
                        "cannot tell which MPI the program uses; say --mpi {}",
                        AbiFamily::ALL.map(AbiFamily::word).join(", --mpi ")
                    ));
                }
                if let Some(best) = best(&there, None) {
                    return checked(&best.path);
                }
            }
        }
    }
    let tried: Vec<String> = folders
        .iter()
        .map(|folder| {
            format!(
                "\n  {}, {}",
                folder.join(NAME).display(),
                folder.join("*").join(NAME).display()
            )
        })
        .collect();
    let (what, how) = match wanted {
        Some(wanted) => (
            format!("no {NAME} for {}, {}", wanted.family, wanted.why),
            "; ci/build-all builds one for each MPI".to_string(),
        ),
        None => (format!("no {NAME}"), String::new()),
    };
    wrong(format!(
        "{what}; name it with --lib or TRACE_LIB{how}. Looked for:{}",
        tried.concat()
    ))
}

fn own_folders() -> Vec<PathBuf> {
    let Ok(own) = std::env::current_exe() else {
        return Vec::new();
    };
    let own = own.canonicalize().unwrap_or(own);
    let Some(folder) = own.parent() else {
        return Vec::new();
    };
    let mut folders = Vec::new();
    folders.extend(folder.parent().map(|above| above.join("lib")));
    folders.push(folder.join("lib"));
    folders.push(folder.to_path_buf());
    folders
}

/// The recorders in a folder and in the folders in it, in order of their paths.
fn recorders(folder: &Path) -> Vec<RecorderLibrary> {
    let below = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = below
        .filter_map(|entry| Some(entry.ok()?.path().join(NAME)))
        .collect();
    paths.sort();
    paths.insert(0, folder.join(NAME));
    paths.retain(|path| path.is_file());
    paths.into_iter().map(RecorderLibrary::read).collect()
}

impl RecorderLibrary {
    /// The ABI that the library names (`trace_abi` in the recorder's `api.rs`); if it names none, the name of its
    /// folder may be the word of a family.
    fn read(path: PathBuf) -> RecorderLibrary {
        let by_symbol = || {
            let bytes = std::fs::read(&path).ok()?;
            let words = Regex::new(r"(?-u)libtrace abi=([a-z]+) generation=([0-9])\x00").ok()?;
            let found = words.captures(&bytes)?;
            Some((AbiFamily::of_word(&found[1])?, found[2][0] - b'0'))
        };
        let by_folder = || {
            let folder = path.parent()?.file_name()?;
            Some((AbiFamily::of_word(folder.as_encoded_bytes())?, 0))
        };
        let built_for = by_symbol().or_else(by_folder);
        RecorderLibrary { path, built_for }
    }

    fn fits(&self, family: AbiFamily) -> bool {
        self.built_for.is_none_or(|(built, _)| built == family)
    }
}

/// The recorder whose functions are those of a library of this generation; else one that knows more, whose further functions
/// no program of this library calls; else the newest. One that does not say what it is goes last.
fn best(recorders: &[RecorderLibrary], generation: Option<u8>) -> Option<&RecorderLibrary> {
    let distance = |recorder: &&RecorderLibrary| {
        let Some((_, built)) = recorder.built_for else {
            return (2, 0);
        };
        match generation {
            Some(wanted) => (u8::from(built < wanted), built.abs_diff(wanted)),
            None => (0, u8::MAX - built),
        }
    };
    recorders.iter().min_by_key(distance)
}

/// Generation of an MPI library by the functions that it has. Recorders name the generation they know in the same way.
fn generation_of(library: &Path) -> Option<u8> {
    if has_name(library, "MPI_Abi_get_version")? {
        Some(5)
    } else if has_name(library, "MPI_Session_init")? {
        Some(4)
    } else {
        Some(3)
    }
}

/// A library that the user names.
fn fitting(path: &Path, wanted: Option<&RequiredMpi>) -> Result<PathBuf, Failure> {
    let recorder = RecorderLibrary::read(path.to_path_buf());
    match (recorder.built_for, wanted) {
        (Some((built, _)), Some(wanted)) if built != wanted.family => Err(Failure::Call(format!(
            "{}: built for {built}, but the program needs one for {}, {}",
            path.display(),
            wanted.family,
            wanted.why
        ))),
        _ => checked(path),
    }
}

/// The loader splits LD_PRELOAD at blanks and colons, so such a path cannot be preloaded.
fn checked(path: &Path) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::Call(format!("{}: {error}", path.display())))?;
    if path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .any(|byte| b" \t\n:;".contains(byte))
    {
        let message = "the dynamic loader cannot preload a path with a blank, colon or semicolon";
        return Err(Failure::Call(format!("{}: {message}", path.display())));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(libraries: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, says) in libraries {
            let below = folder.path().join(name);
            std::fs::create_dir_all(&below).expect("own folder");
            std::fs::write(below.join(NAME), format!("…{says}\0…")).expect("own folder");
        }
        folder
    }

    fn wanted(family: AbiFamily, library: Option<PathBuf>) -> RequiredMpi {
        RequiredMpi {
            family,
            library,
            why: "as the test says".into(),
        }
    }

    fn found(folder: &Path, wanted: Option<&RequiredMpi>) -> Result<String, String> {
        let short = |path: PathBuf| {
            let short = path.strip_prefix(folder).expect("in the folder");
            short.parent().expect("a folder").display().to_string()
        };
        find(Some(folder), wanted)
            .map(short)
            .map_err(|failure| match failure {
                Failure::Call(message) | Failure::Data(message) | Failure::Limit(message) => {
                    message
                }
                Failure::ClosedPipe => String::new(),
            })
    }

    #[test]
    fn the_library_of_the_programs_abi_and_generation_is_taken() {
        let lib = folder(&[
            ("a", "libtrace abi=mpich generation=4"),
            ("b", "libtrace abi=mpich generation=5"),
            ("c", "libtrace abi=openmpi generation=3"),
            ("d", "libtrace abi=abi generation=5"),
        ]);
        let path = lib.path();
        let mpi = |name: &str, functions: &str| {
            let path = path.join(name);
            std::fs::write(&path, functions).expect("own folder");
            Some(path)
        };
        let old = mpi("old", "…\0MPI_Send\0MPI_Session_init\0…");
        let new = mpi("new", "…\0MPI_Session_init\0MPI_Abi_get_version\0…");
        let oldest = mpi("oldest", "…\0MPI_Send\0…");
        for (wanted, expected) in [
            (wanted(AbiFamily::Mpich, old), "a"),
            (wanted(AbiFamily::Mpich, new), "b"),
            (wanted(AbiFamily::Mpich, oldest), "a"),
            (wanted(AbiFamily::Mpich, None), "b"),
            (wanted(AbiFamily::Openmpi, None), "c"),
            (wanted(AbiFamily::Abi, None), "d"),
        ] {
            assert_eq!(found(path, Some(&wanted)).as_deref(), Ok(expected));
        }
        assert!(found(path, None).is_err_and(|why| why.contains("--mpi abi")));
    }

    #[test]
    fn a_library_of_another_abi_is_not_taken() {
        let lib = folder(&[("x", "libtrace abi=openmpi generation=3")]);
        let mpich = wanted(AbiFamily::Mpich, None);
        let why = found(lib.path(), Some(&mpich)).expect_err("none fits");
        assert!(
            why.contains("MPICH") && why.contains("as the test says"),
            "{why}"
        );
        let file = lib.path().join("x").join(NAME);
        let why = match find(Some(&file), Some(&mpich)) {
            Err(Failure::Call(why)) => why,
            other => panic!("{:?}", other.map_err(|_| ())),
        };
        assert!(why.contains("built for Open MPI"), "{why}");
        assert_eq!(found(lib.path(), None).as_deref(), Ok("x"));
    }
}
