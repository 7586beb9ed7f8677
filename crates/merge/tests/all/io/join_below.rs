//! Servers and devices below the ranks: requests, their pieces, pages.

use crate::io::ranks::*;
use blockfile::define::Extents;
use blockfile::operation as op;
use io_attribution::event::{
    AccessEvent, AccessPosition, AttributionEvent, AttributionEventKind, EnclosingCall,
    ExtentsPart, OpenedHandle, OperationEvent, SeenFile,
};
use io_attribution::{Actor, AttributionRecord, Attributor, FileRole, Precision, Relation};

const RANK: Actor = Actor::Rank(0);
const SERVER: Actor = Actor::FrontEnd(0);
const DISK: Actor = Actor::Device(0);
const TID: u32 = 100;

/// A run with one rank, a server and a device on one machine.
struct Run {
    items: Vec<(i64, AttributionEvent)>,
}

fn operation(kind: u16, (start, stop): (i64, i64), offset: i64, bytes: i64) -> OperationEvent {
    OperationEvent {
        kind,
        lane: 0,
        start,
        stop,
        error: 0,
        record: op::OperationRecord {
            fd: 7,
            offset,
            size: bytes,
            result: bytes,
            ..Default::default()
        },
        file: None,
        inside: None,
        outstanding: false,
        arrived: start,
    }
}

impl Run {
    fn new() -> Run {
        let mut run = Run { items: Vec::new() };
        for (actor, tid) in [(SERVER, 500), (DISK, 600), (RANK, u64::from(TID))] {
            let machine = 9;
            run.put(
                i64::MIN,
                actor,
                0,
                AttributionEventKind::Thread { tid, machine },
            );
        }
        run.put(
            0,
            RANK,
            0,
            AttributionEventKind::Opened(OpenedHandle {
                handle: 0,
                key: 1,
                members: 1,
                rank: 0,
                name: "f".to_owned(),
            }),
        );
        run.put(
            0,
            RANK,
            0,
            AttributionEventKind::File(SeenFile {
                seen: 7,
                handle: Some(0),
                role: FileRole::Data,
                device: 1,
                inode: 2,
                name: "/f".to_owned(),
            }),
        );
        run
    }

    fn put(&mut self, time: i64, actor: Actor, thread: u32, what: AttributionEventKind) {
        let item = AttributionEvent {
            actor,
            thread,
            what,
        };
        self.items.push((time, item));
    }

    /// MPI_File_write_at from `time` to `time + 100`.
    fn write_at(&mut self, call: u64, time: i64, at: i64, bytes: u64) {
        let access = AccessEvent {
            call,
            function: 1,
            start: time,
            stop: time + 100,
            handle: Some(0),
            sequence: None,
            writes: true,
            position: AccessPosition::At(at),
            bytes: Some(bytes),
            outlasts: false,
            failed: false,
        };
        self.put(time, RANK, 0, AttributionEventKind::Access(access));
        let moved = Some(bytes);
        self.put(
            time + 100,
            RANK,
            0,
            AttributionEventKind::Complete {
                call,
                moved,
                failed: false,
            },
        );
    }

    /// An operation of the rank in a call that began at `from`.
    fn libc(&mut self, call: u64, from: i64, what: OperationEvent) {
        let inside = Some(EnclosingCall {
            call,
            function: 1,
            start: from,
        });
        let time = what.stop;
        let what = OperationEvent {
            file: Some(7),
            inside,
            ..what
        };
        self.put(time, RANK, 0, AttributionEventKind::Operation(what));
    }

    fn request(&mut self, unique: u64, tid: u32, call: Option<u64>, what: OperationEvent) {
        self.below(SERVER, 3, unique, tid, call, what);
    }

    fn below(
        &mut self,
        actor: Actor,
        thread: u32,
        unique: u64,
        tid: u32,
        call: Option<u64>,
        mut what: OperationEvent,
    ) {
        what.record.request = Some(op::ServerRequest {
            unique,
            inode: 2,
            tid,
            arrived: 0,
        });
        what.record.call = call;
        self.put(
            what.stop,
            actor,
            thread,
            AttributionEventKind::Operation(what),
        );
    }

    fn join(mut self) -> Found {
        self.items.sort_by_key(|i| i.0);
        let table = wrappers::table().unwrap();
        let mut attributor = Attributor::new(table);
        let mut found = Found::default();
        let mut put = |fact: &AttributionRecord| {
            found.take(fact);
            Ok(())
        };
        for (time, item) in self.items {
            attributor.push(time, item, &mut put).unwrap();
        }
        let totals = attributor.finish(&mut put).unwrap();
        found.totals = totals;
        found
    }
}

/// The operation of this kind and offset: the call that triggered it, and the calls it carries bytes of.
fn reported(found: &Found, kind: u16, offset: i64) -> (Option<u64>, Vec<(u64, u64)>) {
    let mut its = found.operations.values();
    let its = its.find(|o| o.kind == kind && o.record.offset == offset);
    let id = its.expect("the operation").id;
    let triggers = |e: &&io_attribution::AttributionEdge| {
        e.operation == id && e.relation == Relation::Triggers
    };
    let trigger = found.edges.iter().find(triggers).map(|e| e.call);
    (trigger, found.calls_of(id))
}

#[test]
fn requests_belong_to_the_call_into_libc_that_was_running() {
    let mut run = Run::new();
    run.write_at(5, 100, 0, 300);
    run.libc(5, 100, operation(op::PWRITE, (120, 180), 0, 300));
    run.request(
        1,
        TID,
        Some(5),
        operation(op::REQUEST_WRITE, (130, 140), 0, 200),
    );
    run.request(
        2,
        TID,
        Some(6),
        operation(op::REQUEST_WRITE, (150, 160), 200, 100),
    );
    // In the call, but in none into libc that is recorded.
    run.request(
        3,
        TID,
        Some(5),
        operation(op::REQUEST_GETATTR, (185, 190), -1, 0),
    );
    let inside = EnclosingCall {
        call: 5,
        function: 1,
        start: 100,
    };
    run.put(200, RANK, 0, AttributionEventKind::Returned(inside));
    // Of a process that nobody knows.
    run.request(
        4,
        77,
        Some(9),
        operation(op::REQUEST_READ, (150, 160), 5000, 100),
    );
    // Reading ahead that comes when the call is long over, and nothing it could belong to.
    let late = OperationEvent {
        arrived: 170,
        ..operation(op::REQUEST_READ, (210, 220), 400, 50)
    };
    run.request(5, TID, None, late);
    let found = run.join();
    assert_eq!(
        reported(&found, op::REQUEST_WRITE, 0),
        (Some(5), vec![(5, 200)])
    );
    assert_eq!(
        reported(&found, op::REQUEST_WRITE, 200),
        (Some(5), vec![(5, 100)])
    );
    assert_eq!(reported(&found, op::REQUEST_GETATTR, -1), (Some(5), vec![]));
    assert_eq!(reported(&found, op::REQUEST_READ, 5000), (None, vec![]));
    assert_eq!(reported(&found, op::REQUEST_READ, 400), (Some(5), vec![]));
    let unknown = found.operations.values().find(|o| o.record.offset == 5000);
    assert_eq!(unknown.unwrap().call, Some(9));
    let totals = &found.totals;
    assert_eq!(
        (totals.server_agreements, totals.server_differences),
        (2, 1)
    );
    assert_eq!(totals.server_unattributed, 1);
}

#[test]
fn threads_of_the_c_library_are_known_by_the_bytes_they_ask_for() {
    let mut run = Run::new();
    run.write_at(5, 100, 0, 1000);
    for (offset, control) in [(0, 11), (500, 12)] {
        let mut begun = operation(op::AIO_WRITE, (110, 120), offset, 500);
        begun.record.control = Some(control);
        begun.record.result = 0;
        begun.outstanding = true;
        begun.file = Some(7);
        begun.inside = Some(EnclosingCall {
            call: 5,
            function: 1,
            start: 100,
        });
        run.put(110, RANK, 0, AttributionEventKind::Begins(begun.clone()));
        begun.record.result = 500;
        begun.stop = 190;
        run.put(190, RANK, 0, AttributionEventKind::Operation(begun));
    }
    run.request(
        1,
        888,
        None,
        operation(op::REQUEST_WRITE, (130, 140), 600, 100),
    );
    // Answered before aio_write has returned; and known to be answered before the server says so.
    for (unique, times, offset) in [(2, (112, 118), 700), (3, (180, 195), 800)] {
        run.request(
            unique,
            888,
            None,
            operation(op::REQUEST_WRITE, times, offset, 100),
        );
    }
    // Not of these: nothing was under way any more, and not that part of the file.
    for (unique, times, offset) in [(4, (191, 199), 900), (5, (130, 140), 1000)] {
        run.request(
            unique,
            888,
            None,
            operation(op::REQUEST_WRITE, times, offset, 100),
        );
    }
    let found = run.join();
    for offset in [700, 800] {
        assert_eq!(
            reported(&found, op::REQUEST_WRITE, offset),
            (Some(5), vec![(5, 100)])
        );
    }
    for offset in [900, 1000] {
        assert_eq!(reported(&found, op::REQUEST_WRITE, offset), (None, vec![]));
        let mut all = found.operations.values();
        let request = all.find(|o| o.record.offset == offset).unwrap();
        assert_eq!(request.hole_bytes, 0, "whose bytes these are is not known");
    }
    assert_eq!(
        reported(&found, op::REQUEST_WRITE, 600),
        (Some(5), vec![(5, 100)])
    );
    assert_eq!(
        reported(&found, op::AIO_WRITE, 500),
        (Some(5), vec![(5, 500)])
    );
}

#[test]
fn pieces_at_data_servers_and_their_disk_calls_follow_the_request() {
    let mut run = Run::new();
    // Two calls' bytes in one stripe: the second one carries on where the first one ended.
    run.write_at(5, 100, 1000, 100);
    run.libc(5, 100, operation(op::PWRITE, (120, 180), 1000, 100));
    for (server, offset, store, bytes) in [(0, 1000, 488, 24), (1, 1024, 512, 76)] {
        let data = Actor::DataServer(server);
        let disk = operation(op::PWRITE, (140, 150), store, bytes);
        run.below(data, 1, 8, TID, Some(5), disk);
        let stripe = operation(op::STRIPE_WRITE, (135, 155), offset, bytes);
        run.below(data, 1, 8, TID, Some(5), stripe);
    }
    run.request(
        8,
        TID,
        Some(5),
        operation(op::REQUEST_WRITE, (130, 160), 1000, 100),
    );
    // An operation after the answer still belongs to it.
    let late = operation(op::FDATASYNC, (165, 170), -1, 0);
    run.below(SERVER, 3, 8, TID, Some(5), late);
    let found = run.join();
    for (kind, offset, bytes) in [
        (op::REQUEST_WRITE, 1000, 100),
        (op::STRIPE_WRITE, 1000, 24),
        (op::STRIPE_WRITE, 1024, 76),
        (op::PWRITE, 488, 24),
        (op::PWRITE, 512, 76),
    ] {
        assert_eq!(reported(&found, kind, offset), (Some(5), vec![(5, bytes)]));
    }
    assert_eq!(reported(&found, op::FDATASYNC, -1), (Some(5), vec![]));
    assert!(
        found
            .operations
            .values()
            .all(|o| o.hole_bytes == 0 && o.file == Some(0))
    );
}

#[test]
fn a_device_writes_the_pages_of_all_calls_since_it_wrote_them_last() {
    let mut run = Run::new();
    let extents = ExtentsPart {
        extents: Extents {
            device: 1,
            inode: 2,
            path: "/f".to_owned(),
            extents: vec![(0, 1 << 20, 1 << 20)],
        },
        ns: 10_000,
    };
    run.put(i64::MIN, DISK, 0, AttributionEventKind::Extents(extents));
    let disk = |run: &mut Run, kind, tid, flags, times, offset: i64, bytes: i64| {
        let mut what = operation(kind, times, offset + (1 << 20), bytes);
        what.record.flags = flags;
        what.record.call = None;
        what.record.request = Some(op::ServerRequest {
            tid,
            ..Default::default()
        });
        let time = what.stop;
        run.put(time, DISK, 0, AttributionEventKind::Operation(what));
    };
    // Ten calls of 100 bytes in one page, and one of two pages.
    for call in 0..10 {
        let (time, at) = (100 + 110 * call, 100 * call);
        run.write_at(call as u64, time, at, 100);
        run.libc(
            call as u64,
            time,
            operation(op::PWRITE, (time + 10, time + 20), at, 100),
        );
    }
    run.write_at(10, 1300, 4096, 8192);
    run.libc(10, 1300, operation(op::PWRITE, (1310, 1320), 4096, 8192));
    // fsync in call 20 writes the first two pages, a kernel thread the third one later.
    run.libc(20, 1500, operation(op::FSYNC, (1510, 1600), -1, 0));
    disk(&mut run, op::DEVICE_WRITE, TID, 0, (1520, 1590), 0, 8192);
    disk(&mut run, op::DEVICE_WRITE, 0, 0, (1700, 1710), 8192, 4096);
    // One call again, then written out from the page's start.
    run.write_at(11, 1800, 150, 10);
    run.libc(11, 1800, operation(op::PWRITE, (1810, 1820), 150, 10));
    disk(&mut run, op::DEVICE_WRITE, 0, 0, (1950, 1960), 0, 4096);
    // Past the page cache.
    run.write_at(12, 2000, 65536, 4096);
    run.libc(12, 2000, operation(op::PWRITE, (2010, 2090), 65536, 4096));
    disk(
        &mut run,
        op::DEVICE_WRITE,
        TID,
        op::DIRECT,
        (2020, 2080),
        65536,
        4096,
    );
    let found = run.join();
    let mut writes: Vec<_> = found
        .operations
        .values()
        .filter(|o| o.kind == op::DEVICE_WRITE)
        .map(|o| (o.place.ns, o.call, o.hole_bytes, found.calls_of(o.id)))
        .collect();
    writes.sort();
    let mut first: Vec<(u64, u64)> = (0..10).map(|call| (call, 100)).collect();
    first.push((10, 4096));
    assert_eq!(
        writes,
        [
            (1520, Some(20), 3096, first),
            (1700, None, 0, vec![(10, 4096)]),
            (1950, None, 4086, vec![(11, 10)]),
            (2020, Some(12), 0, vec![(12, 4096)]),
        ]
    );
    let page = found
        .edges
        .iter()
        .filter(|e| e.precision == Precision::Page);
    assert_eq!(page.map(|e| e.bytes).sum::<u64>(), 1000 + 8192 + 10);
    assert_eq!(found.totals.page, 1000 + 8192 + 10);
}
