//! Puts the files of the viewer's page, which are in `page` (a link to `viewer/dist`), into the command: names and bytes, as far as they are there. What answers
//! in exported pages, `view.wasm`, is made by `ci/build-wasm`; a command that was built without it makes no such pages.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let set = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .ok_or(io::ErrorKind::NotFound)
    };
    let dist = set("CARGO_MANIFEST_DIR")?.join("page");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&dist)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.file_name().unwrap_or_default();
        let path = Path::new(file).display();
        let _ = writeln!(table, "({name:?}, include_bytes!(r\"{path}\")),");
    }
    table.push(']');
    fs::write(set("OUT_DIR")?.join("dist.rs"), table)
}
