//! Cache of the index, the summary, the waits and the tracks of a trace, in `NAME.slog2.idx`, `NAME.slog2.sum`, `NAME.slog2.waits` and
//! `NAME.slog2.tracks` beside the trace, or in the user's cache folder where that cannot be written. They belong to a trace of one size, time of last change and content of
//! header and tree directory, and to none else.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use trace_formats::slog2::Slog2Reader;
use trace_model::PendingFile;
use trace_model::files;

/// Bytes of such a file that are read at most.
const MAX_STORE_BYTES: u64 = 512 << 20;

/// Cached file of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachedTrace {
    Index,
    Summary,
    Waits,
    Tracks,
}

/// First bytes of a kept file.
type Magic = [u8; 8];

impl CachedTrace {
    /// Ending of the name of its file.
    fn ending(self) -> &'static str {
        match self {
            CachedTrace::Index => "idx",
            CachedTrace::Summary => "sum",
            CachedTrace::Waits => "waits",
            CachedTrace::Tracks => "tracks",
        }
    }

    /// First bytes of its file. The key and the contents follow.
    fn magic(self) -> &'static Magic {
        match self {
            CachedTrace::Index => b"LTIDX\0\0\x01",
            CachedTrace::Summary => b"LTSUM\0\0\x03",
            CachedTrace::Waits => b"LTWAI\0\0\x01",
            CachedTrace::Tracks => b"LTTRK\0\0\x01",
        }
    }
}

/// Identity of the trace that a kept file belongs to: size, time of last change in seconds and nanoseconds, hash.
type Key = [u8; 32];

/// Folder with the cached files of a trace.
pub struct CacheFolder {
    key: Key,
    /// Whose the trace is.
    owner: u32,
    /// Paths to look at, in this order, without the ending; the first that can be written gets a new file.
    places: Vec<PathBuf>,
}

impl CacheFolder {
    /// The store for the trace in this file. `cache` is the user's cache folder.
    pub fn of(
        path: &Path,
        reader: &Slog2Reader<'_>,
        file: &[u8],
        cache: Option<PathBuf>,
    ) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let metadata = fs::metadata(&path)?;
        let directory = reader.header().tree_dir;
        let start = usize::try_from(directory.offset).unwrap_or(0);
        let length = usize::try_from(directory.size).unwrap_or(0);
        let directory = file.get(start..start.saturating_add(length)).unwrap_or(&[]);
        let head = &file[..file.len().min(trace_formats::slog2::HEADER_SIZE)];
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
        Ok(CacheFolder {
            key,
            owner: metadata.uid(),
            places,
        })
    }

    fn places(&self, kept: CachedTrace) -> impl Iterator<Item = PathBuf> {
        self.places.iter().map(move |place| {
            let mut path = place.clone().into_os_string();
            path.push(".");
            path.push(kept.ending());
            path.into()
        })
    }

    /// The file of this, if it is kept of this trace, its name, and where in the file its bytes are, before which it is read on.
    pub fn find(&self, kept: CachedTrace) -> Option<(File, PathBuf, Range<usize>)> {
        self.places(kept).find_map(|path| {
            let mut file = files::open_regular(&path).ok()?;
            let metadata = file.metadata().ok()?;
            let mut head = [0; size_of::<Magic>() + size_of::<Key>()];
            let is_right = self.is_believed(&metadata) && metadata.len() <= MAX_STORE_BYTES;
            file.read_exact(&mut head).ok().filter(|()| is_right)?;
            let (magic, key) = head.split_at(size_of::<Magic>());
            let bytes = head.len()..usize::try_from(metadata.len()).ok()?;
            (magic == kept.magic() && key == self.key).then_some((file, path, bytes))
        })
    }

    /// Whether a file can come from nobody who could not change the trace itself. Whoever can read the trace can make one with
    /// its key that says something else, in a folder that is open to all.
    fn is_believed(&self, metadata: &Metadata) -> bool {
        [files::user(), self.owner, 0].contains(&metadata.uid())
    }

    /// Keeps this, and says where. `write` writes its bytes.
    ///
    /// # Errors
    /// Why it cannot be kept, in the last of the places.
    pub fn write(
        &self,
        kept: CachedTrace,
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
        kept: CachedTrace,
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
fn is_replaceable(path: &Path, kept: CachedTrace) -> bool {
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

/// Start value of the hash.
const FNV: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    fn sample() -> Vec<u8> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
        fs::read(data.join("slog2/sample.slog2")).unwrap()
    }

    fn read(store: &CacheFolder) -> Option<Vec<u8>> {
        let (mut file, path, bytes) = store.find(CachedTrace::Index)?;
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, fs::read(path).unwrap()[bytes]);
        Some(rest)
    }

    fn write(store: &CacheFolder, index: &[u8]) -> io::Result<PathBuf> {
        store.write(CachedTrace::Index, &|out| out.write_all(index))
    }

    #[test]
    fn an_index_belongs_to_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.slog2");
        let bytes = sample();
        fs::write(&path, &bytes).unwrap();
        let store = |file: &[u8]| {
            CacheFolder::of(&path, &Slog2Reader::new(&bytes).unwrap(), file, None).unwrap()
        };
        assert!(read(&store(&bytes)).is_none());
        let place = folder.path().join("a.slog2.idx");
        assert_eq!(
            write(&store(&bytes), b"index").unwrap(),
            place.canonicalize().unwrap()
        );
        assert_eq!(read(&store(&bytes)).unwrap(), b"index");
        // Another thing
        let kept = store(&bytes);
        assert!(kept.find(CachedTrace::Summary).is_none());
        (kept.write(CachedTrace::Summary, &|out| out.write_all(b"summary"))).unwrap();
        let (_, summary, at) = kept.find(CachedTrace::Summary).unwrap();
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
        let reader = Slog2Reader::new(&bytes).unwrap();
        let store = CacheFolder::of(&path, &reader, &bytes, None).unwrap();
        assert!(write(&store, b"index").is_err());
        let store = CacheFolder::of(&path, &reader, &bytes, Some(cache.clone())).unwrap();
        assert!(write(&store, b"index").unwrap().starts_with(&cache));
        assert_eq!(read(&store).unwrap(), b"index");
        assert_eq!(fs::read(&place).unwrap(), b"somebody's notes");
    }

    /// In a folder that is open to others there may be anything beside a trace: nothing is waited for, and nothing of it believed
    /// or harmed.
    #[test]
    fn what_others_have_put_beside_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let bytes = sample();
        for name in ["a.slog2", "b.slog2"] {
            fs::write(at(name), &bytes).unwrap();
        }
        let reader = Slog2Reader::new(&bytes).unwrap();
        let store = |name| CacheFolder::of(&at(name), &reader, &bytes, Some(at("cache"))).unwrap();
        let a = store("a.slog2");
        // Both have the same content, and differ in the time.
        let later = SystemTime::now() + Duration::from_secs(5);
        let other = File::options().write(true).open(at("b.slog2")).unwrap();
        other.set_modified(later).unwrap();
        write(&store("b.slog2"), b"of b").unwrap();
        fs::write(at("notes"), "somebody's notes").unwrap();
        let of_b = fs::read(at("b.slog2.idx")).unwrap();
        let idx = at("a.slog2.idx");

        let pipe = |path: &Path| Command::new("mkfifo").arg(path).status().unwrap();
        assert!(pipe(&at("pipe")).success());
        for (target, is_kept_there) in [("pipe", false), ("notes", false), ("b.slog2.idx", true)] {
            symlink(at(target), &idx).unwrap();
            assert!(soon(&at("pipe"), || read(&a)).is_none(), "{target}");
            let kept = soon(&at("pipe"), || write(&a, b"of a").unwrap());
            assert_eq!(kept == idx.canonicalize().unwrap(), is_kept_there);
            assert_eq!(read(&a).unwrap(), b"of a");
            assert_eq!(idx.is_symlink(), !is_kept_there);
            fs::remove_file(kept).unwrap();
            if !is_kept_there {
                fs::remove_file(&idx).unwrap();
            }
        }
        assert_eq!(fs::read(at("notes")).unwrap(), b"somebody's notes");
        assert_eq!(fs::read(at("b.slog2.idx")).unwrap(), of_b);

        assert!(pipe(&idx).success());
        assert!(soon(&idx, || read(&a)).is_none());
        let kept = soon(&idx, || write(&a, b"of a").unwrap());
        assert!(kept.starts_with(at("cache")), "{}", kept.display());
        fs::remove_file(kept).unwrap();
        fs::remove_file(&idx).unwrap();

        // One with the right key that somebody else has made; whose the trace is may make it.
        if files::user() != 0 {
            test_support::skip("files of another user: only root can act as two users");
            return;
        }
        write(&a, b"false").unwrap();
        chown(&idx, Some(65534), None).unwrap();
        assert!(read(&a).is_none());
        chown(at("a.slog2"), Some(65534), None).unwrap();
        assert_eq!(read(&store("a.slog2")).unwrap(), b"false");
    }

    /// Runs `act`, which must not wait for somebody to write to this pipe. If it does, somebody opens it at last, so that the
    /// test ends.
    fn soon<T>(pipe: &Path, act: impl FnOnce() -> T) -> T {
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let (found, waited) = std::thread::scope(|scope| {
            let helper = scope.spawn(move || {
                let waits = is_done.recv_timeout(Duration::from_secs(20)).is_err();
                if waits {
                    drop(File::options().read(true).write(true).open(pipe));
                }
                waits
            });
            let found = act();
            // It has gone if it has waited too long.
            let _ = done.send(());
            (found, helper.join().unwrap())
        });
        assert!(!waited, "waits for {}", pipe.display());
        found
    }
}
