//! The DUMPI files of a run: their names, the metafile, and what cannot be written.

use crate::block_files::dumpi::calls_of;
use crate::block_files::ranks::blocks::*;
use V::H;
use blockfile::file::BlockFile;
use merge::dumpi::{DumpiOptions, write, write_meta};
use unify::scan::Scan;

#[test]
fn files_of_a_run() {
    let dir = std::env::temp_dir().join(format!("project-dumpi-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let mut b = Blocks::new();
    b.rank = 12;
    b.call("MPI_Barrier", &[H(WORLD)]);
    let options = DumpiOptions {
        root: dir.join("run"),
        stamp: "2026.11.20.05.32.58".to_owned(),
        ..DumpiOptions::default()
    };
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).unwrap();
    let scan = Scan::new(&file);
    let summary = write(&file, &scan, b.table, &options).unwrap();
    assert_eq!(summary.path, dir.join("run-2026.11.20.05.32.58-0012.bin"));
    let written = std::fs::read(&summary.path).unwrap();
    assert_eq!(summary.bytes, written.len() as u64);
    assert_eq!(calls_of(&written).len(), 1);
    let meta = write_meta(&scan, &options, 0..2).unwrap();
    assert_eq!(
        std::fs::read_to_string(&meta).unwrap(),
        "hostname=node7\nnumprocs=2\nusername=someone\nstartime=1700000000\nfileprefix=run-2026.11.20.05.32.58\nversion=13\nsubversion=0\nsubsubversion=0\n"
    );
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "run-2026.11.20.05.32.58-0012.bin",
            "run-2026.11.20.05.32.58.meta"
        ]
    );

    b.rank = -1;
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).unwrap();
    let error = write(&file, &Scan::new(&file), b.table, &options).unwrap_err();
    assert!(error.to_string().contains("before MPI_Init"), "{error}");
    let nowhere = DumpiOptions {
        root: dir.join("no/run"),
        ..options
    };
    b.rank = 0;
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).unwrap();
    let error = write(&file, &Scan::new(&file), b.table, &nowhere).unwrap_err();
    assert!(error.to_string().contains("no/run"), "{error}");
    std::fs::remove_dir_all(&dir).unwrap();
}
