//! Where the index of a trace is kept, and its summary: in `NAME.slog2.idx` and `NAME.slog2.sum` beside the trace, or in the
//! user's cache folder where that cannot be written. They belong to a trace of one size, time of last change and content of
//! header and tree directory, and to none else.

use formats::PendingFile;
use formats::files;
use formats::slog2::Reader;
use std::fs;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes of such a file that are read at most.
const MOST: u64 = 512 << 20;

/// What is kept of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Index,
    Summary,
}

/// How a file begins that is kept.
type Magic = [u8; 8];

impl Kept {
    /// What the name of its file ends with.
    fn ending(self) -> &'static str {
        match self {
            Kept::Index => "idx",
            Kept::Summary => "sum",
        }
    }

    /// How its file begins. What follows are the key and its bytes.
    fn magic(self) -> &'static Magic {
        match self {
            Kept::Index => b"LTIDX\0\0\x01",
            Kept::Summary => b"LTSUM\0\0\x01",
        }
    }
}

/// What a trace must be for what is kept to belong to it: size, time of last change in seconds and nanoseconds, hash.
type Key = [u8; 32];

/// Where what is kept of one trace is.
pub struct Store {
    key: Key,
    /// Where to look, in this order, but for the ending; the first that can be written gets a new one.
    places: Vec<PathBuf>,
}

impl Store {
    /// Of the trace in this file. `cache` is the user's cache folder.
    pub fn of(
        path: &Path,
        reader: &Reader<'_>,
        file: &[u8],
        cache: Option<PathBuf>,
    ) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let metadata = fs::metadata(&path)?;
        let directory = reader.header().tree_dir;
        let start = usize::try_from(directory.offset).unwrap_or(0);
        let length = usize::try_from(directory.size).unwrap_or(0);
        let directory = file.get(start..start.saturating_add(length)).unwrap_or(&[]);
        let head = &file[..file.len().min(formats::slog2::HEADER_SIZE)];
        let hash = fnv(fnv(FNV, head), directory);
        let parts = [
            metadata.len().to_le_bytes(),
            metadata.mtime().to_le_bytes(),
            metadata.mtime_nsec().to_le_bytes(),
            hash.to_le_bytes(),
        ];
        let mut key = Key::default();
        for (place, part) in key.chunks_exact_mut(8).zip(parts) {
            place.copy_from_slice(&part);
        }
        // Traces in other folders may have the same name.
        let whole = fnv(FNV, path.as_os_str().as_bytes());
        let cached = cache.map(|cache| cache.join("mpitrace").join(format!("{whole:016x}")));
        let places = [path].into_iter().chain(cached).collect();
        Ok(Store { key, places })
    }

    fn places(&self, kept: Kept) -> impl Iterator<Item = PathBuf> {
        self.places.iter().map(move |place| {
            let mut path = place.clone().into_os_string();
            path.push(".");
            path.push(kept.ending());
            path.into()
        })
    }

    /// Where this is, if it is kept of this trace, and where in the file its bytes are.
    pub fn find(&self, kept: Kept) -> Option<(PathBuf, Range<usize>)> {
        self.places(kept).find_map(|path| {
            let mut file = files::open_regular(&path).ok()?;
            let metadata = file.metadata().ok()?;
            let mut head = [0; size_of::<Magic>() + size_of::<Key>()];
            let is_right = metadata.is_file() && metadata.len() <= MOST;
            file.read_exact(&mut head).ok().filter(|()| is_right)?;
            let (magic, key) = head.split_at(size_of::<Magic>());
            let bytes = head.len()..usize::try_from(metadata.len()).ok()?;
            (magic == kept.magic() && key == self.key).then_some((path, bytes))
        })
    }

    /// Keeps this, and says where. `write` writes its bytes.
    ///
    /// # Errors
    /// Why it cannot be kept, in the last of the places.
    pub fn write(
        &self,
        kept: Kept,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<PathBuf> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for (n, path) in self.places(kept).enumerate() {
            match self.write_to(&path, kept, write, n > 0) {
                Ok(()) => return Ok(path),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn write_to(
        &self,
        path: &Path,
        kept: Kept,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
        makes_folder: bool,
    ) -> io::Result<()> {
        if !is_replaceable(path, kept) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if makes_folder && let Some(folder) = path.parent() {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut file = PendingFile::create_regular(path)?;
        file.write_all(kept.magic())?;
        file.write_all(&self.key)?;
        write(&mut file)?;
        file.persist()
    }
}

/// Whether there is nothing under this name, or what we have kept there.
fn is_replaceable(path: &Path, kept: Kept) -> bool {
    let mut magic = Magic::default();
    match files::open_regular(path) {
        Ok(mut file) => file.read_exact(&mut magic).is_ok() && &magic == kept.magic(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// The user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    set("XDG_CACHE_HOME")
        .filter(absolute)
        .or_else(|| Some(set("HOME").filter(absolute)?.join(".cache")))
}

/// FNV-1a of 64 bits, which is the same in every version of this program.
fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(hash, step)
}

/// Where the hash begins.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn sample() -> Vec<u8> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/data");
        fs::read(data.join("slog2/sample.slog2")).unwrap()
    }

    fn read(store: &Store) -> Option<Vec<u8>> {
        let (path, bytes) = store.find(Kept::Index)?;
        Some(fs::read(path).unwrap()[bytes].to_vec())
    }

    fn write(store: &Store, index: &[u8]) -> io::Result<PathBuf> {
        store.write(Kept::Index, &|out| out.write_all(index))
    }

    #[test]
    fn an_index_belongs_to_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.slog2");
        let bytes = sample();
        fs::write(&path, &bytes).unwrap();
        let store =
            |file: &[u8]| Store::of(&path, &Reader::new(&bytes).unwrap(), file, None).unwrap();
        assert!(read(&store(&bytes)).is_none());
        let place = folder.path().join("a.slog2.idx");
        assert_eq!(
            write(&store(&bytes), b"index").unwrap(),
            place.canonicalize().unwrap()
        );
        assert_eq!(read(&store(&bytes)).unwrap(), b"index");
        // Another thing
        let kept = store(&bytes);
        assert!(kept.find(Kept::Summary).is_none());
        (kept.write(Kept::Summary, &|out| out.write_all(b"summary"))).unwrap();
        let (summary, at) = kept.find(Kept::Summary).unwrap();
        assert_eq!(&fs::read(summary).unwrap()[at], b"summary");
        assert_eq!(read(&kept).unwrap(), b"index");
        // Another content
        let mut other = bytes.clone();
        other[10] ^= 1;
        assert!(read(&store(&other)).is_none());
        // Another time
        let later = SystemTime::now() + Duration::from_secs(5);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(later)
            .unwrap();
        assert!(read(&store(&bytes)).is_none());
        write(&store(&bytes), b"newer").unwrap();
        assert_eq!(read(&store(&bytes)).unwrap(), b"newer");
        // Cut off
        fs::write(&place, &fs::read(&place).unwrap()[..20]).unwrap();
        assert!(read(&store(&bytes)).is_none());
    }

    #[test]
    fn what_is_not_ours_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.slog2");
        let bytes = sample();
        fs::write(&path, &bytes).unwrap();
        let place = folder.path().join("a.slog2.idx");
        fs::write(&place, "somebody's notes").unwrap();
        let cache = folder.path().join("cache");
        let reader = Reader::new(&bytes).unwrap();
        let store = Store::of(&path, &reader, &bytes, None).unwrap();
        assert!(write(&store, b"index").is_err());
        let store = Store::of(&path, &reader, &bytes, Some(cache.clone())).unwrap();
        assert!(write(&store, b"index").unwrap().starts_with(&cache));
        assert_eq!(read(&store).unwrap(), b"index");
        assert_eq!(fs::read(&place).unwrap(), b"somebody's notes");
    }
}
