//! Attribution records about I/O made by hand.

#![allow(dead_code, reason = "each test file uses its part")]

use blockfile::operation as op;
use io_attribution::{
    Actor, AttributedOperation, AttributionEdge, AttributionRecord, DataAccessCall, FileRole, Lane,
    OpenedFile, PicturePoint, Precision, Relation,
};

/// CallID of the `nth` call of a rank.
pub fn id(rank: u32, nth: u64) -> u64 {
    u64::from(rank) << 40 | nth
}

pub fn place(actor: Actor, ns: i64) -> PicturePoint {
    let lane = Lane {
        actor,
        thread: 0,
        lane: 0,
    };
    PicturePoint { lane, ns }
}

pub fn file(id: u32, name: &str, role: FileRole) -> AttributionRecord {
    AttributionRecord::File(OpenedFile {
        id,
        role,
        name: name.to_owned(),
        device: 1,
        inode: u64::from(id) + 100,
    })
}

/// Attribution records, numbered as they come.
#[derive(Default)]
pub struct Story {
    pub facts: Vec<AttributionRecord>,
    operations: u64,
}

impl Story {
    pub fn new() -> Self {
        let mut story = Story::default();
        story.facts.push(file(0, "/data/out.dat", FileRole::Data));
        story
    }

    /// A blocking call of `rank` on file 0.
    pub fn call(
        &mut self,
        rank: u32,
        nth: u64,
        name: &str,
        time: (i64, i64),
        bytes: u64,
    ) -> &mut DataAccessCall {
        self.facts.push(AttributionRecord::Call(DataAccessCall {
            call: id(rank, nth),
            function: name
                .bytes()
                .fold(0, |sum: u16, b| sum.wrapping_mul(31) ^ u16::from(b)),
            name: name.into(),
            place: place(Actor::Rank(rank), time.0),
            stop: time.1,
            complete: time.1,
            file: 0,
            sequence: None,
            writes: name.contains("write"),
            bytes,
            bounding_extent: None,
            pieces: 0,
            overlaps: false,
            failed: false,
        }));
        match self.facts.last_mut() {
            Some(AttributionRecord::Call(call)) => call,
            _ => unreachable!(),
        }
    }

    /// An operation, during `call` or on its behalf.
    pub fn operation(
        &mut self,
        actor: Actor,
        kind: u16,
        call: Option<u64>,
        time: (i64, i64),
        range: (i64, i64),
    ) -> &mut AttributedOperation {
        self.operations += 1;
        self.facts
            .push(AttributionRecord::Operation(AttributedOperation {
                id: self.operations,
                kind,
                place: place(actor, time.0),
                stop: time.1,
                error: 0,
                record: op::OperationRecord {
                    fd: 3,
                    offset: range.0,
                    size: range.1,
                    result: range.1,
                    ..op::OperationRecord::default()
                },
                file: Some(0),
                call,
                outstanding: false,
                hole_bytes: 0,
            }));
        match self.facts.last_mut() {
            Some(AttributionRecord::Operation(operation)) => operation,
            _ => unreachable!(),
        }
    }

    /// The number of the latest operation.
    pub fn latest(&self) -> u64 {
        self.operations
    }

    /// An edge from `call` of `rank` to operation `nth`, which must be there.
    pub fn edge(
        &mut self,
        call: u64,
        nth: u64,
        relation: Relation,
        bytes: u64,
    ) -> &mut AttributionEdge {
        let operation = self.facts.iter().rev().find_map(|fact| match fact {
            AttributionRecord::Operation(operation) if operation.id == nth => {
                Some((operation.kind, operation.place))
            }
            _ => None,
        });
        let (kind, to) = operation.expect("an operation of this number");
        self.facts.push(AttributionRecord::Edge(AttributionEdge {
            call,
            from: place(Actor::Rank((call >> 40) as u32), 0),
            operation: nth,
            kind,
            to,
            relation,
            bytes,
            precision: Precision::Exact,
        }));
        match self.facts.last_mut() {
            Some(AttributionRecord::Edge(edge)) => edge,
            _ => unreachable!(),
        }
    }

    /// That operation `nth` is triggered by `call` and carries so many bytes of it.
    pub fn both(&mut self, call: u64, nth: u64, bytes: u64) {
        self.edge(call, nth, Relation::Triggers, 0);
        self.edge(call, nth, Relation::Carries, bytes);
    }
}

/// Two ranks write 100 bytes each in a collective call; rank 0 does it all in one transfer of 256 bytes, of which it read
/// 256 before, under a lock.
pub fn two_phase() -> Story {
    let mut story = Story::new();
    let (first, second) = (id(0, 1), id(1, 1));
    let rank = Actor::Rank(0);
    story.operation(rank, op::FCNTL_LOCK, Some(first), (200, 250), (0, 256));
    story
        .operation(rank, op::PREAD, Some(first), (250, 300), (0, 256))
        .hole_bytes = 256;
    story
        .operation(rank, op::PWRITE, Some(first), (300, 700), (0, 256))
        .hole_bytes = 56;
    story.operation(rank, op::FCNTL_UNLOCK, Some(first), (700, 750), (0, 256));
    story
        .call(0, 1, "MPI_File_write_all", (100, 800), 100)
        .sequence = Some(0);
    story
        .call(1, 1, "MPI_File_write_all", (50, 900), 100)
        .sequence = Some(0);
    for nth in [1, 2, 4] {
        story.edge(first, nth, Relation::Triggers, 0);
    }
    story.both(first, 3, 100);
    story.edge(second, 3, Relation::Carries, 100);
    story
}

/// A write of rank 3 through a server that splits it into two requests, each for another data server; the kernel writes
/// the data out later. Gives also the CallID.
pub fn served() -> (Story, u64) {
    let mut story = Story::new();
    let call = id(3, 9);
    let front = Actor::FrontEnd(0);
    story.operation(Actor::Rank(3), op::PWRITE, Some(call), (0, 1000), (0, 300));
    let request = op::ServerRequest {
        unique: 7,
        ..op::ServerRequest::default()
    };
    story
        .operation(front, op::REQUEST_QUEUED, Some(call), (90, 100), (0, 0))
        .record
        .request = Some(request);
    for (offset, size) in [(0, 200), (200, 100)] {
        let at = 100 + offset;
        story
            .operation(
                front,
                op::REQUEST_WRITE,
                Some(call),
                (at, at + 90),
                (offset, size),
            )
            .record
            .request = Some(request);
    }
    for (server, start, size) in [(0, 110, 200), (1, 310, 100)] {
        let actor = Actor::DataServer(server);
        story
            .operation(
                front,
                op::STRIPE_WRITE,
                Some(call),
                (start - 5, start + 40),
                (0, size),
            )
            .record
            .request = Some(request);
        story
            .operation(
                actor,
                op::STRIPE_WRITE,
                Some(call),
                (start, start + 30),
                (0, size),
            )
            .record
            .request = Some(request);
        story
            .operation(
                actor,
                op::PWRITE,
                Some(call),
                (start + 10, start + 20),
                (0, size),
            )
            .record
            .request = Some(request);
    }
    let device = Actor::Device(0);
    story
        .operation(
            device,
            op::DEVICE_WRITE,
            None,
            (5000, 6000),
            (1 << 20, 4096),
        )
        .record
        .result = 0;
    story.operation(device, op::DEVICE_FLUSH, Some(call), (6000, 6100), (-1, 0));
    story.call(3, 9, "MPI_File_write_at", (0, 1010), 300);
    story
        .edge(call, story.latest() - 1, Relation::Carries, 300)
        .precision = Precision::Page;
    (story, call)
}
