//! What tests share that write runs of DUMPI themselves.

use std::fs;
use std::path::Path;
use trace_formats::dumpi::meta::{Meta, meta_path};
use trace_formats::dumpi::types::Version;

/// Writes the file that names a run of so many ranks; `root` is what the names of all its files begin with.
pub fn write_meta(root: &Path, ranks: u32) {
    let meta = Meta {
        hostname: b"here".to_vec(),
        numprocs: ranks,
        username: b"<none>".to_vec(),
        starttime: 0,
        fileprefix: root.as_os_str().as_encoded_bytes().to_vec(),
        version: Version::CURRENT,
        absent: Vec::new(),
        ranks_per_folder: 0,
    };
    fs::write(meta_path(root), meta.text()).expect("written");
}
