//! Brings drawables into order, in bounded memory: sorted pieces go to temporary files, which are then merged.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::batch::{HEAD, decode, encode, encoded_size};
use super::{Drawable, DrawableOrder, Losses, Sink, Source, Stop, Vertex};

/// Bytes of drawables that are sorted in memory.
const PIECE: usize = 32 << 20;
/// Bytes of a piece inside of a traced program, which has better use for its memory.
const SMALL_PIECE: usize = 4 << 20;
/// Temporary files that there are at a time; more are merged into one. A program may have few descriptors left.
const RUNS: usize = 24;

/// Puts everything of `source` into `sink`, sorted if the two differ in their order, and says what was lost on either side.
///
/// # Errors
/// The errors of the two, and of the temporary files.
pub fn convert(source: &dyn Source, mut sink: Box<dyn Sink>) -> Result<Losses, Stop> {
    let wanted = sink.order();
    let mut losses = for_each_in_order(source, wanted, &mut |drawable| sink.put(drawable))?;
    losses.merge(&sink.finish()?);
    Ok(losses)
}

/// Gives everything of `source` to `put` in this order, sorted in temporary files if the source has another one, and says what the source
/// holds that is no drawable.
///
/// # Errors
/// The errors of the source, of `put`, and of the temporary files.
pub fn for_each_in_order(
    source: &dyn Source,
    order: DrawableOrder,
    put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
) -> Result<Losses, Stop> {
    if order == DrawableOrder::Any || order == source.order() {
        return source.for_each(put);
    }
    let mut sorter = Sorter::new(order);
    let losses = source.for_each(&mut |drawable| Ok(sorter.push(drawable)?))?;
    sorter.finish(put)?;
    Ok(losses)
}

/// Sorts drawables; those that the order does not tell apart stay as they came.
#[derive(Debug)]
pub struct Sorter {
    order: DrawableOrder,
    piece: usize,
    /// Folder of temporary files; `None` for the system's.
    folder: Option<PathBuf>,
    items: Vec<SortItem>,
    /// The drawables of `items`, encoded.
    bytes: Vec<u8>,
    runs: Vec<File>,
}

#[derive(Clone, Copy, Debug)]
struct SortItem {
    key: Key,
    at: usize,
}

/// Two times, the second one descending.
#[derive(Clone, Copy, Debug)]
struct Key(f64, f64);

impl Key {
    fn cmp(self, other: Key) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.total_cmp(&self.1))
    }
}

impl Sorter {
    /// Sorts into this order.
    pub fn new(order: DrawableOrder) -> Self {
        Sorter::with_piece(order, PIECE)
    }

    fn with_piece(order: DrawableOrder, piece: usize) -> Self {
        Sorter {
            order,
            piece,
            folder: None,
            items: Vec::new(),
            bytes: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// A sorter in little memory, with temporary files in this folder. They have no name there and are gone with the process.
    pub fn in_folder(order: DrawableOrder, folder: &Path) -> Self {
        Sorter {
            folder: Some(folder.to_path_buf()),
            ..Sorter::with_piece(order, SMALL_PIECE)
        }
    }

    /// Takes a drawable.
    ///
    /// # Errors
    /// When a temporary file could not be written.
    pub fn push(&mut self, drawable: &Drawable<'_>) -> io::Result<()> {
        let key = key(self.order, drawable.vertices);
        let at = self.bytes.len();
        self.items.push(SortItem { key, at });
        encode(drawable, &mut self.bytes);
        if self.bytes.len() + self.items.len() * size_of::<SortItem>() > self.piece {
            self.spill()?;
        }
        Ok(())
    }

    /// Gives all drawables in order.
    ///
    /// # Errors
    /// The errors of `put` and of the temporary files.
    pub fn finish(
        self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut sorted = self.sorted()?;
        while let Some(drawable) = sorted.next()? {
            put(&drawable)?;
        }
        Ok(())
    }

    /// The drawables in order, to be taken one by one.
    ///
    /// # Errors
    /// The errors of the temporary files.
    pub fn sorted(mut self) -> io::Result<Sorted> {
        let mut sorted = Sorted {
            items: Vec::new().into_iter(),
            bytes: Vec::new(),
            runs: BinaryHeap::new(),
            current: Vec::new(),
            vertices: Vec::new(),
        };
        if self.runs.is_empty() {
            self.sort();
            sorted.items = self.items.into_iter();
            sorted.bytes = self.bytes;
            return Ok(sorted);
        }
        self.spill()?;
        sorted.runs = begun(self.runs, self.order)?;
        Ok(sorted)
    }

    fn sort(&mut self) {
        if self.order != DrawableOrder::Any {
            self.items.sort_by(|a, b| a.key.cmp(b.key));
        }
    }

    fn file(&self) -> io::Result<File> {
        match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// Writes what is in memory to a temporary file of its own.
    fn spill(&mut self) -> io::Result<()> {
        if self.items.is_empty() {
            return Ok(());
        }
        self.sort();
        let mut out = BufWriter::with_capacity(1 << 18, self.file()?);
        for item in &self.items {
            let rest = &self.bytes[item.at..];
            out.write_all(&rest[..encoded_size(rest)])?;
        }
        self.runs.push(rewound(out)?);
        self.items.clear();
        self.bytes.clear();
        if self.runs.len() >= RUNS {
            self.merge_runs()?;
        }
        Ok(())
    }

    /// Makes one temporary file of all.
    fn merge_runs(&mut self) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 18, self.file()?);
        let mut runs = begun(std::mem::take(&mut self.runs), self.order)?;
        while let Some(mut first) = runs.peek_mut() {
            out.write_all(&first.0.current)?;
            if !first.0.advance()? {
                PeekMut::pop(first);
            }
        }
        self.runs.push(rewound(out)?);
        Ok(())
    }
}

/// The file, to be read from its beginning.
fn rewound(out: BufWriter<File>) -> io::Result<File> {
    let mut file = out.into_inner()?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Temporary files in the order in which they were written, each at its first drawable.
fn begun(files: Vec<File>, order: DrawableOrder) -> io::Result<BinaryHeap<Reverse<SortedRun>>> {
    let mut runs = BinaryHeap::new();
    for (number, file) in files.into_iter().enumerate() {
        let mut run = SortedRun::new(file, number, order)?;
        if run.advance()? {
            runs.push(Reverse(run));
        }
    }
    Ok(runs)
}

/// Drawables in order.
#[derive(Debug, Default)]
pub struct Sorted {
    /// The items in memory that have not been given yet, and their bytes.
    items: std::vec::IntoIter<SortItem>,
    bytes: Vec<u8>,
    /// The sorted runs on disk.
    runs: BinaryHeap<Reverse<SortedRun>>,
    current: Vec<u8>,
    vertices: Vec<Vertex>,
}

impl Sorted {
    /// The time by which the next one comes: its start or its end.
    pub fn peek(&self) -> Option<f64> {
        let in_memory = self.items.as_slice().first().map(|item| item.key);
        let key = in_memory.or_else(|| self.runs.peek().map(|Reverse(run)| run.key));
        key.map(|key| key.0)
    }

    /// The next one.
    ///
    /// # Errors
    /// The errors of the temporary files.
    #[allow(clippy::should_implement_trait, reason = "it lends from its buffers")]
    pub fn next(&mut self) -> io::Result<Option<Drawable<'_>>> {
        if let Some(item) = self.items.next() {
            let bytes = self.bytes.get(item.at..).unwrap_or_default();
            return Ok(Some(decode(bytes, &mut self.vertices)));
        }
        let Some(mut first) = self.runs.peek_mut() else {
            return Ok(None);
        };
        std::mem::swap(&mut self.current, &mut first.0.current);
        if !first.0.advance()? {
            PeekMut::pop(first);
        }
        Ok(Some(decode(&self.current, &mut self.vertices)))
    }
}

/// A temporary file that is being read, with the drawable that comes next.
#[derive(Debug)]
struct SortedRun {
    file: BufReader<File>,
    number: usize,
    order: DrawableOrder,
    current: Vec<u8>,
    key: Key,
}

impl SortedRun {
    fn new(file: File, number: usize, order: DrawableOrder) -> io::Result<Self> {
        Ok(SortedRun {
            file: BufReader::with_capacity(1 << 15, file),
            number,
            order,
            current: Vec::new(),
            key: Key(0.0, 0.0),
        })
    }

    /// Reads the next drawable; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        let mut head = [0; HEAD];
        match self.file.read_exact(&mut head[..1]) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            result => result?,
        }
        self.file.read_exact(&mut head[1..])?;
        self.current.clear();
        self.current.extend_from_slice(&head);
        self.current.resize(encoded_size(&head), 0);
        self.file.read_exact(&mut self.current[HEAD..])?;
        let mut vertices = Vec::with_capacity(2);
        decode(&self.current, &mut vertices);
        self.key = key(self.order, &vertices);
        Ok(true)
    }
}

impl Ord for SortedRun {
    fn cmp(&self, other: &Self) -> Ordering {
        let keys = self.key.cmp(other.key);
        keys.then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for SortedRun {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortedRun {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortedRun {}

fn key(order: DrawableOrder, vertices: &[Vertex]) -> Key {
    let times = vertices.iter().map(|vertex| vertex.time);
    let start = times.clone().fold(f64::INFINITY, f64::min);
    let end = times.fold(f64::NEG_INFINITY, f64::max);
    match order {
        DrawableOrder::Start => Key(start, end),
        DrawableOrder::End => Key(end, start),
        DrawableOrder::Any => Key(0.0, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use proptest::prelude::*;

    /// Start, duration in whole seconds, so that many are equal; and how long the info is.
    fn sorted(
        order: DrawableOrder,
        piece: usize,
        spans: &[(u8, u8, u8)],
    ) -> Vec<(i32, f64, f64, usize)> {
        let mut sorter = Sorter::with_piece(order, piece);
        for (nth, &(start, duration, info)) in spans.iter().enumerate() {
            let start = f64::from(start);
            let vertices =
                [start, start + f64::from(duration)].map(|time| Vertex { time, line: 3 });
            let drawable = Drawable {
                topology: Topology::State,
                category: nth as i32,
                info: &vec![info; usize::from(info)],
                vertices: &vertices,
            };
            sorter.push(&drawable).expect("temporary file");
        }
        let mut found = Vec::new();
        let mut put = |drawable: &Drawable<'_>| {
            assert!(
                drawable
                    .info
                    .iter()
                    .all(|&b| usize::from(b) == drawable.info.len())
            );
            let [first, last] = drawable.vertices else {
                panic!("two vertices")
            };
            found.push((
                drawable.category,
                first.time,
                last.time,
                drawable.info.len(),
            ));
            Ok(())
        };
        sorter.finish(&mut put).expect("sorted");
        found
    }

    proptest! {
        #[test]
        fn pieces_on_disk_give_what_one_in_memory_gives(
            spans in proptest::collection::vec((0u8..9, 0u8..9, 0u8..40), 0..200),
            by_start: bool,
        ) {
            let order = if by_start { DrawableOrder::Start } else { DrawableOrder::End };
            let mut expected: Vec<_> = spans.iter().enumerate().map(|(nth, &(start, duration, info))| {
                let start = f64::from(start);
                (nth as i32, start, start + f64::from(duration), usize::from(info))
            }).collect();
            expected.sort_by(|a, b| match order {
                DrawableOrder::Start => a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)),
                _ => a.2.total_cmp(&b.2).then(b.1.total_cmp(&a.1)),
            });
            prop_assert_eq!(&sorted(order, usize::MAX, &spans), &expected);
            prop_assert_eq!(&sorted(order, 700, &spans), &expected);
        }
    }
}
