//! A tree that another thread writes.

use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trace_formats::slog2::{Slog2Error, TreeBuilder, TreeOptions};
use trace_model::{Category, Drawable, Topology, Vertex};

const OPTIONS: TreeOptions = TreeOptions {
    children_per_node: 2,
    leaf_byte_size: 400,
};

/// Adds states, arrows and events of five lines, some of them long; `refused` gets the errors of two that no file can hold.
fn fill<W: Write + Seek>(
    builder: &mut TreeBuilder<W>,
    refused: &mut Vec<String>,
) -> Result<(), Slog2Error> {
    let long_info = vec![0; 1 << 15];
    for nth in 0..600 {
        let end = f64::from(nth);
        let start = end - [0.5, 0.0, 3.0, 90.0][nth as usize % 4];
        let line = |i: i32| (nth * i) % 5;
        let (topology, vertices) = match nth % 3 {
            0 => (Topology::State, vec![(start, line(1)), (end, line(1))]),
            1 => (Topology::Arrow, vec![(start, line(1)), (end, line(2))]),
            _ => (Topology::Event, vec![(end, line(3))]),
        };
        let vertices: Vec<Vertex> = (vertices.into_iter())
            .map(|(time, line)| Vertex { time, line })
            .collect();
        let drawable = Drawable {
            topology,
            category: topology.number(),
            info: &long_info[..8 * (nth as usize % 3)],
            vertices: &vertices,
        };
        builder.add(&drawable)?;
        if nth % 250 == 200 {
            let error = builder.add(&Drawable {
                info: &long_info,
                ..drawable
            });
            refused.push(error.expect_err("too long an info").to_string());
        }
    }
    Ok(())
}

/// All of a file, and why drawables were refused.
fn written<W: Write + Seek>(mut builder: TreeBuilder<W>) -> Result<(W, Vec<String>), Slog2Error> {
    let mut refused = Vec::new();
    fill(&mut builder, &mut refused)?;
    let categories = [Topology::Event, Topology::State, Topology::Arrow].map(Category::preview);
    let (out, _) = builder.close()?.finish(&categories, &[])?;
    Ok((out, refused))
}

#[test]
fn the_file_is_the_same() {
    let builder = || TreeBuilder::new(Cursor::new(Vec::new()), OPTIONS).expect("memory");
    let (here, refused_here) = written(builder()).expect("memory");
    let (there, refused_there) = written(builder().on_thread()).expect("memory");
    assert!(here.into_inner() == there.into_inner());
    assert_eq!(refused_here.len(), 2);
    assert_eq!(refused_here, refused_there);
    let empty = builder().on_thread().close().map(drop);
    let no_drawables = builder().close().map(drop);
    assert_eq!(
        empty.map_err(|e| e.to_string()),
        no_drawables.map_err(|e| e.to_string())
    );
}

/// Room for so many bytes. Tells when it is gone.
struct Room {
    left: usize,
    is_gone: Arc<AtomicBool>,
}

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(bytes.len()) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::StorageFull.into()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Room {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Ok(0)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.is_gone.store(true, Ordering::Release);
    }
}

#[test]
fn a_full_disk_is_told_with_its_place() {
    let file = |left| {
        let is_gone = Arc::default();
        TreeBuilder::new(Room { left, is_gone }, OPTIONS).expect("room for the header")
    };
    for left in (200..60_000).step_by(1777) {
        let [here, there] = [file(left), file(left).on_thread()]
            .map(|builder| written(builder).map(|(_, refused)| refused));
        let [here, there] = [here, there].map(|outcome| outcome.map_err(|e| e.to_string()));
        assert_eq!(here, there, "room for {left} bytes");
    }
    assert!(written(file(200).on_thread()).is_err());
}

/// What is dropped removes its file: that must have come to pass when a command ends.
#[test]
fn what_is_given_up_is_gone() {
    let is_gone = Arc::new(AtomicBool::new(false));
    let room = Room {
        left: usize::MAX,
        is_gone: Arc::clone(&is_gone),
    };
    let mut builder = TreeBuilder::new(room, OPTIONS).expect("room").on_thread();
    fill(&mut builder, &mut Vec::new()).expect("room");
    assert!(!is_gone.load(Ordering::Acquire));
    drop(builder);
    assert!(is_gone.load(Ordering::Acquire));
}
