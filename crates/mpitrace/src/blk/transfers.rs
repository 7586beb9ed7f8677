//! Builds transfers from events. A transfer is what a task asked for at once (a bio), from the moment it was queued until the
//! device was
//! done with all of it.
//!
//! On its way it may be merged with its neighbours into one request, or be cut into several. So issue and completion are
//! joined with it by action and sectors: a request completes those sectors of the transfers under way that it names. Where two
//! of the same action name the same sectors, the older one is done first.

use super::device::{Device, SECTOR};
use super::events::{BlockEvent, Flags, SectorRange, TimedBlockEvent, TransferAction};
use blockfile::operation::{self as op, OperationRecord, ServerRequest};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Most transfers under way that are remembered; a device has some hundred.
const MAX_TRANSFERS_UNDER_WAY: usize = 1 << 20;
/// Most threads of which it is remembered whether they are the kernel's, or in a transfer past the page cache.
const MAX_THREADS: usize = 1 << 16;

/// A transfer that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedTransfer {
    /// Position of the device.
    pub device: usize,
    /// Number of the kind of operation.
    pub kind: u16,
    /// Time of queuing, ns of CLOCK_MONOTONIC.
    pub start: u64,
    /// Time of completion, ns of CLOCK_MONOTONIC.
    pub stop: u64,
    /// Error number, 0 if it succeeded.
    pub error: i32,
    /// The record.
    pub operation: OperationRecord,
}

/// Counts of transfers with unknown properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncertainCounts {
    /// Completions of sectors of which nobody saw when they were asked for.
    pub unknown: u64,
    /// Transfers of which nobody saw the end.
    pub unfinished: u64,
}

/// A transfer under way.
#[derive(Debug)]
struct Bio {
    sector: u64,
    sectors: u64,
    flags: Flags,
    tid: u32,
    inode: Option<u64>,
    queued: u64,
    issued: u64,
    unique: u64,
    error: i32,
    /// Ranges of sectors that are not done yet.
    left: Vec<(u64, u64)>,
}

/// A transfer of a file past the page cache.
#[derive(Clone, Copy, Debug)]
struct Direct {
    device: u32,
    inode: u64,
    bytes: u64,
    writes: bool,
}

/// Transfers under way on one device.
#[derive(Debug, Default)]
struct UnderWay {
    /// By first sector and number.
    bios: BTreeMap<(u64, u64), Bio>,
    /// No transfer is longer, sectors.
    longest: u64,
    /// Flushes without data, in order.
    flushes: VecDeque<Bio>,
}

/// Follows the transfers of some devices.
pub struct Transfers<'d> {
    devices: &'d [Device],
    under_way: Vec<UnderWay>,
    direct: HashMap<u32, Direct>,
    kernel: HashMap<u32, bool>,
    is_kernel: fn(u32) -> bool,
    unique: u64,
    counts: UncertainCounts,
}

impl<'d> Transfers<'d> {
    /// `is_kernel` tells whether a thread is one of the kernel's.
    pub fn new(devices: &'d [Device], is_kernel: fn(u32) -> bool) -> Transfers<'d> {
        Transfers {
            devices,
            under_way: devices.iter().map(|_| UnderWay::default()).collect(),
            direct: HashMap::new(),
            kernel: HashMap::new(),
            is_kernel,
            unique: 0,
            counts: UncertainCounts::default(),
        }
    }

    /// Counts so far of transfers with unknown properties.
    pub fn counts(&self) -> UncertainCounts {
        self.counts
    }

    /// Number of transfers under way.
    pub fn under_way(&self) -> usize {
        let each = self.under_way.iter();
        each.map(|d| d.bios.len() + d.flushes.len()).sum()
    }

    /// Forgets what is under way and was queued before `time`, since events were lost.
    pub fn forget(&mut self, time: u64) {
        for device in &mut self.under_way {
            let before = device.bios.len() + device.flushes.len();
            device.bios.retain(|_, bio| bio.queued >= time);
            device.flushes.retain(|bio| bio.queued >= time);
            let after = device.bios.len() + device.flushes.len();
            self.counts.unfinished += (before - after) as u64;
        }
    }

    /// Takes the next event; they come in order of time. `put` gets what it completes.
    pub fn event(&mut self, event: &TimedBlockEvent, put: &mut dyn FnMut(CompletedTransfer)) {
        match event.what {
            BlockEvent::Queue(range) => self.queue(event, range),
            BlockEvent::Issue(range) => {
                if let Some(i) = self.disk(&range) {
                    self.under_way[i].issue(event.time, &range);
                }
            }
            BlockEvent::Complete(range, error) => {
                if let Some(i) = self.disk(&range) {
                    self.complete(i, event.time, &range, error, true, put);
                }
            }
            BlockEvent::CompleteBio(range, error) => {
                if let Some(i) = self.device(&range) {
                    self.complete(i, event.time, &range, error, false, put);
                }
            }
            BlockEvent::BeginDirect {
                device,
                inode,
                bytes,
                writes,
            } => {
                if self.direct.len() >= MAX_THREADS {
                    self.direct.clear();
                }
                let direct = Direct {
                    device,
                    inode,
                    bytes,
                    writes,
                };
                self.direct.insert(event.tid, direct);
            }
            BlockEvent::EndDirect => {
                self.direct.remove(&event.tid);
            }
        }
    }

    /// Position of the device that a bio is for. Kernels before 5.12 name the disk and not the partition.
    fn device(&self, range: &SectorRange) -> Option<usize> {
        self.devices.iter().position(|device| {
            range.device == device.own
                || range.device == device.disk && device.holds(range.sector, range.sectors)
        })
    }

    /// Position of the device that a request is for: requests always name the disk.
    fn disk(&self, range: &SectorRange) -> Option<usize> {
        let with = |device: &&Device| range.device == device.disk;
        // A flush has no sectors: with several partitions of a disk it belongs to the one that waits for it.
        let mut found = self.devices.iter().enumerate().filter(|(_, d)| with(d));
        if range.sectors == 0 {
            let waits = |(i, _): &(usize, &Device)| self.under_way[*i].waits(range.sector);
            return found.find(waits).map(|(i, _)| i);
        }
        found
            .find(|(_, device)| device.holds(range.sector, range.sectors))
            .map(|(i, _)| i)
    }

    fn queue(&mut self, event: &TimedBlockEvent, range: SectorRange) {
        let Some(i) = self.device(&range) else {
            return;
        };
        let inode = match self.direct.get_mut(&event.tid) {
            Some(direct)
                if direct.device == self.devices[i].own
                    && (!direct.writes || range.flags.action == TransferAction::Write)
                    && !range.flags.metadata
                    && range.sectors > 0
                    && direct.bytes > 0 =>
            {
                // The last block of a file is transferred whole.
                direct.bytes = direct.bytes.saturating_sub(range.sectors * SECTOR);
                Some(direct.inode)
            }
            _ => None,
        };
        if self.kernel.len() >= MAX_THREADS {
            self.kernel.clear();
        }
        let is_kernel = self.is_kernel;
        let kernel = *self
            .kernel
            .entry(event.tid)
            .or_insert_with(|| is_kernel(event.tid));
        self.unique += 1;
        let bio = Bio {
            sector: range.sector,
            sectors: range.sectors,
            flags: range.flags,
            tid: if kernel { 0 } else { event.tid },
            inode,
            queued: event.time,
            issued: 0,
            unique: self.unique,
            error: 0,
            left: vec![(range.sector, range.sector.saturating_add(range.sectors))],
        };
        let device = &mut self.under_way[i];
        if device.bios.len() + device.flushes.len() >= MAX_TRANSFERS_UNDER_WAY {
            device.bios.clear();
            device.flushes.clear();
            self.counts.unfinished += MAX_TRANSFERS_UNDER_WAY as u64;
        }
        if range.sectors == 0 {
            device.flushes.push_back(bio);
            return;
        }
        if device.bios.is_empty() {
            device.longest = 0;
        }
        device.longest = device.longest.max(range.sectors);
        device.bios.insert((range.sector, bio.unique), bio);
    }

    fn complete(
        &mut self,
        i: usize,
        time: u64,
        range: &SectorRange,
        error: i32,
        request: bool,
        put: &mut dyn FnMut(CompletedTransfer),
    ) {
        let device = &mut self.under_way[i];
        if range.sectors == 0 {
            // The end of a flush, alone or round a transfer that waited for it.
            let waiting = device.waiting(range.sector);
            let bio = match waiting {
                Some(key) => device.bios.remove(&key),
                None => device.flushes.pop_front(),
            };
            match bio {
                Some(bio) => put(bio.done(i, time, error)),
                None => self.counts.unknown += 1,
            }
            return;
        }
        let mut known = false;
        for key in device.overlapping(range) {
            let Some(bio) = device.bios.get_mut(&key) else {
                continue;
            };
            known = true;
            bio.error = if error == 0 { bio.error } else { error };
            // When the block layer does the flushes that a transfer asks for, it takes them out of the request's letters, and
            // completes it once more when they are done.
            let asked = bio.flags.fua || bio.flags.flush;
            let more = request && asked && !range.flags.fua && error == 0;
            if bio.left.is_empty()
                && !more
                && let Some(bio) = device.bios.remove(&key)
            {
                put(bio.done(i, time, 0));
            }
        }
        if !known {
            self.counts.unknown += 1;
        }
    }
}

impl UnderWay {
    /// The transfer that begins at `sector`, has all its data transferred, and waits for a flush.
    fn waiting(&self, sector: u64) -> Option<(u64, u64)> {
        let mut from = self.bios.range((sector, 0)..=(sector, u64::MAX));
        from.find(|(_, bio)| bio.left.is_empty())
            .map(|(key, _)| *key)
    }

    fn waits(&self, sector: u64) -> bool {
        !self.flushes.is_empty() || self.waiting(sector).is_some()
    }

    fn issue(&mut self, time: u64, range: &SectorRange) {
        if range.sectors == 0 {
            if let Some(bio) = self.flushes.iter_mut().find(|bio| bio.issued == 0) {
                bio.issued = time;
            }
            return;
        }
        let end = range.sector.saturating_add(range.sectors);
        let mut first = range.sector;
        // A transfer that is cut was issued with its first part.
        let mut new: Vec<(u64, u64)> = Vec::new();
        for (key, bio) in self.candidates(range) {
            if bio.issued == 0 && key.0 <= first && first < key.0 + bio.sectors {
                new.push(key);
                first = (key.0 + bio.sectors).min(end);
            } else if bio.issued == 0 && key.0 >= first {
                new.push(key);
                first = key.0 + bio.sectors;
            }
        }
        for key in new {
            if let Some(bio) = self.bios.get_mut(&key) {
                bio.issued = time;
            }
        }
    }

    /// Transfers of the same action that have sectors in common with `range`, by first sector, then by age.
    fn candidates(&self, range: &SectorRange) -> impl Iterator<Item = ((u64, u64), &Bio)> {
        let end = range.sector.saturating_add(range.sectors);
        let from = range.sector.saturating_sub(self.longest);
        let (sector, action) = (range.sector, range.flags.action);
        self.bios
            .range((from, 0)..(end, 0))
            .filter(move |(_, bio)| {
                bio.flags.action == action && bio.sector.saturating_add(bio.sectors) > sector
            })
            .map(|(key, bio)| (*key, bio))
    }

    /// Takes the sectors of `range` from what the transfers have left, from the oldest one where several want the same, and
    /// gives those that lost some.
    fn overlapping(&mut self, range: &SectorRange) -> Vec<(u64, u64)> {
        let mut keys: Vec<(u64, u64)> = self
            .candidates(range)
            .filter(|(_, bio)| !bio.left.is_empty())
            .map(|(key, _)| key)
            .collect();
        keys.sort_unstable_by_key(|&(_, unique)| unique);
        let mut need = vec![(range.sector, range.sector.saturating_add(range.sectors))];
        keys.retain(|key| {
            let Some(bio) = self.bios.get_mut(key) else {
                return false;
            };
            let taken = common(&bio.left, &need);
            for &(from, to) in &taken {
                subtract(&mut bio.left, from, to);
                subtract(&mut need, from, to);
            }
            !taken.is_empty()
        });
        // Transfers that end at one moment are given in the order of their sectors.
        keys.sort_unstable();
        keys
    }
}

/// Intersection of two lists of ranges.
fn common(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    a.iter()
        .flat_map(|&(from, to)| b.iter().map(move |&(f, t)| (from.max(f), to.min(t))))
        .filter(|(from, to)| from < to)
        .collect()
}

/// Takes a range out of a list of ranges.
fn subtract(ranges: &mut Vec<(u64, u64)>, from: u64, to: u64) {
    // Nearly always one range is taken whole.
    if let [one] = ranges[..]
        && from <= one.0
        && one.1 <= to
    {
        ranges.clear();
        return;
    }
    let pieces = ranges.iter().flat_map(|&(f, t)| {
        [(f, t.min(from)), (f.max(to), t)]
            .into_iter()
            .filter(|(f, t)| f < t)
    });
    *ranges = pieces.collect();
}

impl Bio {
    fn done(&self, device: usize, stop: u64, error: i32) -> CompletedTransfer {
        let error = -(if self.error == 0 { error } else { self.error });
        let bytes = self.sectors.saturating_mul(SECTOR).min(i64::MAX as u64) as i64;
        let kind = match (self.flags.action, self.flags.metadata) {
            _ if self.sectors == 0 => op::DEVICE_FLUSH,
            (TransferAction::Discard, _) => op::DEVICE_DISCARD,
            (TransferAction::Read, false) => op::DEVICE_READ,
            (TransferAction::Read, true) => op::DEVICE_METADATA_READ,
            (TransferAction::Write, false) => op::DEVICE_WRITE,
            (TransferAction::Write, true) => op::DEVICE_METADATA_WRITE,
        };
        CompletedTransfer {
            device,
            kind,
            start: self.queued,
            stop: stop.max(self.queued),
            error,
            operation: OperationRecord {
                flags: if self.inode.is_some() { op::DIRECT } else { 0 },
                fd: -1,
                offset: match self.sectors {
                    0 => -1,
                    _ => self.sector.saturating_mul(SECTOR).min(i64::MAX as u64) as i64,
                },
                size: bytes,
                result: if error == 0 { bytes } else { -1 },
                request: Some(ServerRequest {
                    unique: self.unique,
                    inode: self.inode.unwrap_or(0),
                    tid: self.tid,
                    arrived: self.issued.max(self.queued),
                }),
                ..OperationRecord::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DISK: u32 = 7 << 20;

    fn device() -> Device {
        Device {
            st_dev: 0x700,
            name: "loop0".to_owned(),
            own: DISK,
            disk: DISK,
            start: 0,
            sectors: 1 << 40,
        }
    }

    fn flags(action: TransferAction) -> Flags {
        Flags {
            action,
            flush: false,
            fua: false,
            metadata: false,
        }
    }

    fn range(sector: u64, sectors: u64, flags: Flags) -> SectorRange {
        SectorRange {
            device: DISK,
            sector,
            sectors,
            flags,
        }
    }

    /// Gives the transfers that events at 1, 2, 3 … of threads 101, 102, 103 … complete; thread 105 is the kernel's.
    fn run(events: &[BlockEvent]) -> (Vec<CompletedTransfer>, UncertainCounts, usize) {
        let devices = [device()];
        let mut transfers = Transfers::new(&devices, |tid| tid == 105);
        let mut done = Vec::new();
        for (i, &what) in events.iter().enumerate() {
            let event = TimedBlockEvent {
                time: i as u64 + 1,
                tid: i as u32 + 101,
                what,
            };
            transfers.event(&event, &mut |d| done.push(d));
        }
        (done, transfers.counts(), transfers.under_way())
    }

    fn short(done: &[CompletedTransfer]) -> Vec<(u16, u64, u64, i64, i64, u32)> {
        done.iter()
            .map(|d| {
                let tid = d.operation.request.unwrap().tid;
                (
                    d.kind,
                    d.start,
                    d.stop,
                    d.operation.offset,
                    d.operation.size,
                    tid,
                )
            })
            .collect()
    }

    #[test]
    fn merged_and_cut() {
        let w = flags(TransferAction::Write);
        let (done, counts, left) = run(&[
            BlockEvent::Queue(range(100, 8, w)),
            BlockEvent::Queue(range(108, 8, w)),
            BlockEvent::Queue(range(92, 8, w)),
            BlockEvent::Queue(range(1000, 4096, w)),
            BlockEvent::Queue(range(100, 8, flags(TransferAction::Read))),
            BlockEvent::Issue(range(92, 24, w)),
            BlockEvent::Issue(range(1000, 2560, w)),
            BlockEvent::Issue(range(3560, 1536, w)),
            BlockEvent::Complete(range(3560, 1536, w), 0),
            BlockEvent::Complete(range(92, 24, w), 0),
            BlockEvent::Complete(range(1000, 2560, w), -5),
        ]);
        assert_eq!(
            short(&done),
            [
                (op::DEVICE_WRITE, 3, 10, 92 * 512, 4096, 103),
                (op::DEVICE_WRITE, 1, 10, 100 * 512, 4096, 101),
                (op::DEVICE_WRITE, 2, 10, 108 * 512, 4096, 102),
                (op::DEVICE_WRITE, 4, 11, 1000 * 512, 4096 * 512, 104),
            ]
        );
        let issued: Vec<u64> = done
            .iter()
            .map(|d| d.operation.request.unwrap().arrived)
            .collect();
        assert_eq!(issued, [6, 6, 6, 7]);
        assert_eq!((done[3].error, done[3].operation.result), (5, -1));
        assert_eq!((counts, left), (UncertainCounts::default(), 1));
    }

    #[test]
    fn the_older_of_two_equal_ones_is_done_first() {
        let r = flags(TransferAction::Read);
        let (done, _, left) = run(&[
            BlockEvent::Queue(range(8, 8, r)),
            BlockEvent::Queue(range(8, 8, r)),
            BlockEvent::Complete(range(8, 8, r), 0),
            BlockEvent::Complete(range(8, 8, r), 0),
            BlockEvent::Complete(range(8, 8, r), 0),
        ]);
        let times: Vec<_> = done.iter().map(|d| (d.start, d.stop)).collect();
        assert_eq!((times, left), (vec![(1, 3), (2, 4)], 0));
    }

    #[test]
    fn flushes() {
        let w = flags(TransferAction::Write);
        let flush = Flags { flush: true, ..w };
        let journal = Flags {
            flush: true,
            fua: true,
            metadata: true,
            ..w
        };
        let (done, counts, left) = run(&[
            BlockEvent::Queue(range(0, 0, flush)),
            BlockEvent::Queue(range(500, 2, journal)),
            BlockEvent::Complete(range(0, 0, w), 0),
            BlockEvent::Complete(range(500, 2, w), 0),
            // Kernel thread; its device can do FUA by itself.
            BlockEvent::Queue(range(600, 2, journal)),
            BlockEvent::Complete(range(500, 0, w), 0),
            BlockEvent::Complete(range(600, 2, Flags { fua: true, ..w }), 0),
            BlockEvent::Complete(range(600, 0, w), 0),
        ]);
        assert_eq!(
            short(&done),
            [
                (op::DEVICE_FLUSH, 1, 3, -1, 0, 101),
                (op::DEVICE_METADATA_WRITE, 2, 6, 500 * 512, 1024, 102),
                (op::DEVICE_METADATA_WRITE, 5, 7, 600 * 512, 1024, 0),
            ]
        );
        assert_eq!((counts, left), (UncertainCounts::default(), 0));
    }

    #[test]
    fn past_the_page_cache() {
        let devices = [device()];
        let mut transfers = Transfers::new(&devices, |_| false);
        let mut done = Vec::new();
        let w = flags(TransferAction::Write);
        let begin = BlockEvent::BeginDirect {
            device: DISK,
            inode: 12,
            bytes: 4096,
            writes: true,
        };
        for (time, what) in [
            begin,
            BlockEvent::Queue(range(0, 8, flags(TransferAction::Read))),
            BlockEvent::Queue(range(16, 8, w)),
            BlockEvent::EndDirect,
            BlockEvent::Queue(range(32, 8, w)),
            BlockEvent::Complete(range(0, 8, flags(TransferAction::Read)), 0),
            BlockEvent::Complete(range(16, 8, w), 0),
            BlockEvent::Complete(range(32, 8, w), 0),
        ]
        .into_iter()
        .enumerate()
        {
            let event = TimedBlockEvent {
                time: time as u64,
                tid: 9,
                what,
            };
            transfers.event(&event, &mut |d| done.push(d.operation));
        }
        let direct: Vec<_> = done
            .iter()
            .map(|o| (o.flags & op::DIRECT != 0, o.request.unwrap().inode))
            .collect();
        assert_eq!(direct, [(false, 0), (true, 12), (false, 0)]);
    }

    #[test]
    fn partitions_lie_on_their_disk() {
        let devices = [Device {
            own: DISK | 1,
            start: 2048,
            sectors: 100,
            ..device()
        }];
        let mut transfers = Transfers::new(&devices, |_| false);
        let mut done = Vec::new();
        let w = flags(TransferAction::Write);
        let own = SectorRange {
            device: DISK | 1,
            ..range(2048, 8, w)
        };
        for what in [
            BlockEvent::Queue(own),
            // Of another partition; and as old kernels name it.
            BlockEvent::Queue(range(8, 8, w)),
            BlockEvent::Queue(range(2056, 8, w)),
            BlockEvent::Complete(range(8, 8, w), 0),
            BlockEvent::Complete(range(2048, 16, w), 0),
        ] {
            let event = TimedBlockEvent {
                time: 1,
                tid: 9,
                what,
            };
            transfers.event(&event, &mut |d| done.push(d.operation.offset));
        }
        assert_eq!(done, [2048 * 512, 2056 * 512]);
        assert_eq!(transfers.counts(), UncertainCounts::default());
    }

    proptest! {
        /// Whatever is merged and cut how and done in whatever order: each transfer is done once, when its last part is.
        #[test]
        fn all_are_done(
            lengths in prop::collection::vec(1..40u64, 1..60),
            cuts in prop::collection::vec(1..100u64, 1..60),
            order in any::<u64>(),
        ) {
            let w = flags(TransferAction::Write);
            let mut events = Vec::new();
            let mut end = 0;
            for &length in &lengths {
                events.push(BlockEvent::Queue(range(end, length, w)));
                end += length;
            }
            let mut parts = Vec::new();
            let (mut at, mut i) = (0, 0);
            while at < end {
                let length = cuts[i % cuts.len()].min(end - at);
                parts.push(range(at, length, w));
                at += length;
                i += 1;
            }
            let mut state = order | 1;
            parts.sort_by_cached_key(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 33
            });
            let first = events.len() as u64 + 1;
            events.extend(parts.iter().map(|&part| BlockEvent::Complete(part, 0)));
            let (done, counts, left) = run(&events);
            prop_assert_eq!((done.len(), counts, left), (lengths.len(), UncertainCounts::default(), 0));
            for d in done {
                let from = d.operation.offset as u64 / 512;
                let to = from + d.operation.size as u64 / 512;
                let last = parts.iter().rposition(|p| p.sector < to && p.sector + p.sectors > from);
                prop_assert_eq!(d.stop, first + last.unwrap() as u64);
            }
        }
    }
}
