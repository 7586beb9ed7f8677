//! Where libtrace.so is.

use super::family::Family;
use crate::failure::Failure;
use std::path::{Path, PathBuf};

const NAME: &str = "libtrace.so";

/// Finds the library for a family, or any if the family is not known; always an absolute path.
///
/// `given` (`--lib`, `TRACE_LIB`) is taken as it is if it is a file. Else it is tried, from a folder F: F/FAMILY, and F
/// itself, where F is `given`, or in turn `../lib` and `lib` from where this program is, and its own folder. The folder of
/// a family goes first as what lies there is known to fit.
pub fn find(given: Option<&Path>, family: Option<Family>) -> Result<PathBuf, Failure> {
    let wrong = |message: String| Err(Failure::Call(message));
    let folders = match given {
        Some(path) if path.is_file() => return checked(path),
        Some(path) if path.is_dir() => vec![path.to_path_buf()],
        Some(path) => return wrong(format!("{}: no such library", path.display())),
        None => own_folders(),
    };
    let tried = candidates(&folders, family);
    let mut found = tried.iter().filter(|path| path.is_file());
    let Some(first) = found.next() else {
        let tried: Vec<String> = tried
            .iter()
            .map(|path| format!("\n  {}", path.display()))
            .collect();
        return wrong(format!(
            "{NAME} not found; name it with --lib or TRACE_LIB. Looked for:{}",
            tried.concat()
        ));
    };
    // Two builds and no way to choose: the wrong one would refuse to record.
    if family.is_none() && is_in_family_folder(first) && found.any(|path| is_in_family_folder(path))
    {
        return wrong(
            "cannot tell which MPI the program uses; say --mpi mpich or --mpi openmpi".into(),
        );
    }
    checked(first)
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

fn candidates(folders: &[PathBuf], family: Option<Family>) -> Vec<PathBuf> {
    let families = match &family {
        Some(family) => std::slice::from_ref(family),
        None => &Family::ALL[..],
    };
    let in_families = folders.iter().flat_map(|folder| {
        families
            .iter()
            .map(|family| folder.join(family.folder()).join(NAME))
    });
    in_families
        .chain(folders.iter().map(|folder| folder.join(NAME)))
        .collect()
}

fn is_in_family_folder(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    Family::ALL
        .iter()
        .any(|family| folder.is_some_and(|folder| folder == family.folder()))
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
