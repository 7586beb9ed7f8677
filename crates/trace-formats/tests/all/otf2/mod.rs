//! OTF2 archives, as the tool `otf2-print` of the OTF2 library prints them.

mod goldens;
mod parts;
mod printed;
mod random;
mod read;
mod requests;
mod sample;
mod windows;

use test_support::skip;
use trace_formats::otf2::{Otf2ErrorKind, Otf2Sink};
use trace_model::{Definitions, Losses, Sink};

use crate::perfetto::OwnedDrawable;
use printed::PrintedArchive;

/// A folder with the archive of some drawables, which are in order of start, `run.otf2`. `None` where the library is missing, which is said.
pub fn written(
    definitions: &Definitions,
    drawables: &[OwnedDrawable],
) -> Option<(tempfile::TempDir, Losses)> {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("run.otf2");
    let mut sink = match Otf2Sink::create(&path, definitions) {
        Ok(sink) => sink,
        Err(error) if matches!(error.kind, Otf2ErrorKind::NoLibrary) => {
            skip("the OTF2 library is not installed");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    for drawable in drawables {
        sink.put(&drawable.borrowed()).expect("written");
        assert!(!path.exists());
    }
    let losses = Box::new(sink).finish().expect("completed");
    let names = std::fs::read_dir(folder.path()).expect("folder");
    assert_eq!(names.count(), 1);
    Some((folder, losses))
}

/// The archive of some drawables, which are in order of start, and which ranks may write in parts. Without `has_order` several may begin in the same nanosecond.
/// `None` where the library or `otf2-print` is missing, which is said.
pub fn archive(
    definitions: &Definitions,
    drawables: &[OwnedDrawable],
    has_order: bool,
) -> Option<(PrintedArchive, Losses)> {
    let (folder, losses) = written(definitions, drawables)?;
    let archive = PrintedArchive::of(&folder.path().join("run.otf2"))?;
    parts::same_in_parts(definitions, drawables, &archive, has_order);
    Some((archive, losses))
}
