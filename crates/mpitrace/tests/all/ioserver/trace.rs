//! What the traces of a server say: this test is the rank, and tells by the table in which call it is.

use super::instance::{Instance, Recorded, read};
use blockfile::define::{Definition, ServerKind};
use blockfile::operation::{
    FTRUNCATE, KINDS, Layer, PREAD, PWRITE, REQUEST_READ, REQUEST_SETATTR, REQUEST_WRITE,
    STRIPE_READ, STRIPE_WRITE, kind,
};
use blockfile::tids::{SLOTS, TIDS_HEADER, TIDS_SIZE, TidSlot, claim};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::Ordering::Relaxed;

/// CallID of the writing, in rank 3.
const WRITING: u64 = 3 << 40 | 17;
/// CallID of the reading.
const READING: u64 = 3 << 40 | 18;

/// Says in the table of `instance` that this thread is in a call.
struct Rank(memmap2::MmapMut);

impl Rank {
    fn new(instance: &Instance) -> Rank {
        let path = instance.reported("TRACE_TIDS");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        assert_eq!(file.metadata().unwrap().len(), TIDS_SIZE as u64);
        // SAFETY: the server made it of that size and leaves it so.
        Rank(unsafe { memmap2::MmapMut::map_mut(&file).unwrap() })
    }

    fn is_in(&self, call: u64) {
        // SAFETY: behind the header there are slots only, which are atomics.
        let slots = unsafe {
            let first = self.0.as_ptr().add(TIDS_HEADER).cast::<TidSlot>();
            std::slice::from_raw_parts(first, SLOTS)
        };
        claim(slots, tid()).unwrap().call.store(call, Relaxed);
    }
}

fn tid() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Operations of this kind that this thread has asked for.
fn of(all: &[Recorded], wanted: u16) -> Vec<&Recorded> {
    let ours = |r: &&Recorded| {
        r.kind == wanted
            && r.operation
                .request
                .is_some_and(|request| request.tid == tid())
    };
    all.iter().filter(ours).collect()
}

/// Writes 10 000 bytes at 100 and reads 9 000 at 1 000, each in its call, and makes the file shorter in none.
fn write_and_read(instance: &Instance, rank: &Rank) -> File {
    let data: Vec<u8> = (0..10_000).map(|i| (i % 251) as u8).collect();
    let path = instance.mount().join("file");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path);
    let file = file.unwrap();
    rank.is_in(WRITING);
    assert_eq!(file.write_at(&data, 100).unwrap(), data.len());
    rank.is_in(READING);
    let mut back = vec![0; 9_000];
    file.read_exact_at(&mut back, 1_000).unwrap();
    assert!(back == data[900..9_900]);
    rank.is_in(0);
    file.set_len(5_000).unwrap();
    file
}

pub fn plain() {
    let Some(instance) = Instance::start("trace", &[]) else {
        return;
    };
    let rank = Rank::new(&instance);
    let file = write_and_read(&instance, &rank);
    let seen = file.metadata().unwrap();
    drop(file);
    let store = std::fs::metadata(instance.base().join("file")).unwrap();
    instance.unmount();
    let (all, definitions) = read(&instance.trace());
    for (request, disk, call, offset, size) in [
        (REQUEST_WRITE, PWRITE, Some(WRITING), 100, 10_000),
        (REQUEST_READ, PREAD, Some(READING), 1_000, 9_000),
        (REQUEST_SETATTR, FTRUNCATE, None, 0, 5_000),
    ] {
        // The kernel may cut a transfer at pages.
        let (requests, disk) = (of(&all, request), of(&all, disk));
        assert!((1..=5).contains(&requests.len()) && requests.len() == disk.len());
        let mut next = offset;
        for (outer, inner) in requests.iter().zip(&disk) {
            let (o, i) = (outer.operation, inner.operation);
            assert_eq!((o.call, o.offset), (call, next));
            assert_eq!((i.call, i.offset, i.size), (o.call, o.offset, o.size));
            assert!(outer.start <= inner.start && inner.stop <= outer.stop);
            assert_eq!((i.result, inner.errno), (o.result, outer.errno));
            let (o, i) = (o.request.unwrap(), i.request.unwrap());
            assert_eq!((o.unique, o.inode), (i.unique, i.inode));
            assert_eq!(o.inode, store.ino());
            next += outer.operation.size;
        }
        assert_eq!(next, offset + size);
    }
    let is_file = |device, inode, path: std::path::PathBuf| {
        definitions.iter().any(|d| {
            matches!(d, Definition::File(f) if f.device == device && f.inode == inode && *f.path == *path)
        })
    };
    assert!(is_file(
        store.dev(),
        store.ino(),
        instance.base().join("file")
    ));
    assert!(is_file(
        seen.dev(),
        seen.ino(),
        instance.mount().join("file")
    ));
    let role =
        |d: &Definition| matches!(d, Definition::Server(s) if s.role == ServerKind::FrontEnd);
    assert!(definitions.iter().any(role));
    assert!(
        all.iter()
            .all(|r| kind(r.kind).is_some() && r.start <= r.stop)
    );
}

pub fn striped() {
    let Some(instance) = Instance::start("stripes", &["--servers", "3", "--stripe", "1000"]) else {
        return;
    };
    let rank = Rank::new(&instance);
    drop(write_and_read(&instance, &rank));
    instance.unmount();
    let (front, _) = read(&instance.trace());
    for (request, stripe, disk, call, range) in [
        (REQUEST_WRITE, STRIPE_WRITE, PWRITE, WRITING, 100..10_100),
        (REQUEST_READ, STRIPE_READ, PREAD, READING, 1_000..10_000),
    ] {
        let uniques: Vec<u64> = of(&front, request).iter().map(|r| unique(r)).collect();
        assert!(!uniques.is_empty());
        let mut waited: Vec<_> = of(&front, stripe).iter().map(|r| piece(r)).collect();
        waited.sort_unstable();
        let mut worked = Vec::new();
        for number in 0..3 {
            let (all, definitions) = read(&instance.data_trace(number));
            let is_it = |d: &Definition| matches!(d, Definition::Server(s) if s.role == ServerKind::DataServer && s.number == number);
            assert!(definitions.iter().any(is_it));
            let (pieces, disk) = (of(&all, stripe), of(&all, disk));
            assert_eq!(pieces.len(), disk.len());
            for (outer, inner) in pieces.iter().zip(&disk) {
                assert_eq!(outer.operation.call, Some(call));
                assert_eq!(inner.operation.call, Some(call));
                assert_eq!(unique(outer), unique(inner));
                assert!(uniques.contains(&unique(outer)));
                assert!(outer.start <= inner.start && inner.stop <= outer.stop);
                let offset = outer.operation.offset;
                assert_eq!(offset / 1000 % 3, i64::from(number));
                assert_eq!(inner.operation.offset, offset / 3000 * 1000 + offset % 1000);
                worked.push(piece(outer));
            }
        }
        worked.sort_unstable();
        assert_eq!(waited, worked);
        // All together they are the range, once.
        let mut next = range.start;
        for (offset, size, _) in worked {
            assert_eq!(offset, next);
            next += size;
        }
        assert_eq!(next, range.end);
    }
    assert_eq!(KINDS.iter().filter(|k| k.layer == Layer::Stripe).count(), 5);
}

fn unique(r: &Recorded) -> u64 {
    r.operation.request.unwrap().unique
}

fn piece(r: &Recorded) -> (i64, i64, u64) {
    assert_eq!(r.operation.result, r.operation.size);
    (r.operation.offset, r.operation.size, unique(r))
}
