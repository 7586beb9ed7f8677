//! The report on I/O, from attribution records whose numbers are known.

use crate::io::facts::{Story, file, id, served, two_phase};
use analysis::io::chain::Search;
use analysis::io::{
    Doing, FileSystem, IoReport, IoReportCollector, IoReportOptions, KindKey, OperationOwner,
    RunFacts, Stage, Sureness, Waits,
};
use blockfile::operation::{self as op, Layer};
use io_attribution::{Actor, AttributionRecord, FileRole, Precision, Relation};

fn report(facts: &[AttributionRecord], options: IoReportOptions) -> IoReport {
    let mut collector = IoReportCollector::new(options);
    for fact in facts {
        collector.put(fact);
    }
    collector.finish()
}

fn key(who: OperationOwner, kind: u16) -> KindKey {
    let role = FileRole::Data;
    KindKey { who, kind, role }
}

#[test]
fn what_was_not_asked_for_is_not_short() {
    let is_short = |found: &IoReport| {
        let found = found.findings(&RunFacts::default());
        found.iter().any(|f| f.name == "short_writes")
    };
    for (outstanding, result, expected) in [
        (true, 0, false),
        (true, 7, true),
        (true, 100, false),
        (false, 0, true),
    ] {
        let mut story = Story::new();
        story.call(0, 1, "MPI_File_iwrite_at", (0, 10), 100);
        let rank = Actor::Rank(0);
        let kind = match outstanding {
            true => op::AIO_WRITE,
            false => op::PWRITE,
        };
        let operation = story.operation(rank, kind, Some(id(0, 1)), (1, 90), (0, 100));
        (operation.outstanding, operation.record.result) = (outstanding, result);
        let found = report(&story.facts, IoReportOptions::default());
        assert_eq!(is_short(&found), expected, "{outstanding} {result}");
    }
}

#[test]
fn files_that_are_only_removed_were_not_opened() {
    let mut story = Story::new();
    story.facts.push(file(1, "/data/log", FileRole::Other));
    let rank = Actor::Rank(0);
    let own_call = |story: &mut Story, kind, time, range| {
        let operation = story.operation(rank, kind, None, time, range);
        operation.record.flags = op::OUTSIDE;
        operation.file = Some(1);
    };
    own_call(&mut story, op::UNLINK, (1, 2), (-1, 0));
    let own = |story: &Story| {
        let own = report(&story.facts, IoReportOptions::default()).own;
        (own.unseen_files, own.files)
    };
    assert_eq!(own(&story), (0, 0));
    own_call(&mut story, op::OPEN, (3, 4), (-1, 0));
    assert_eq!(own(&story), (1, 1));
    own_call(&mut story, op::WRITE, (5, 6), (0, 9));
    assert_eq!(own(&story), (0, 1));
    // In a call that was not recorded, it is not of the program's own.
    let one = story.operation(rank, op::WRITE, None, (7, 8), (0, 9));
    one.file = Some(2);
    let own = report(&story.facts, IoReportOptions::default()).own;
    assert_eq!((own.written.calls, own.written.bytes, own.files), (1, 9, 1));
}

/// In a trace without the rank that moved its data, a write has not moved nothing: nobody knows what it moved.
#[test]
fn what_others_moved_is_missing_without_them() {
    let mut story = two_phase();
    story.facts.retain(|fact| match fact {
        AttributionRecord::Call(call) => call.place.lane.actor == Actor::Rank(1),
        AttributionRecord::File(_) => true,
        _ => false,
    });
    let found = report(&story.facts, IoReportOptions::default()).writes;
    assert_eq!((found.calls, found.asked, found.missing), (1, 100, 100));
    assert_eq!(found.amplification(), None);
    let whole = report(&two_phase().facts, IoReportOptions::default()).writes;
    assert_eq!((whole.asked, whole.missing), (200, 0));
}

#[test]
fn results_that_nobody_asked_for_are_counted() {
    let mut story = Story::new();
    story.call(0, 1, "MPI_File_iwrite_at", (0, 10), 100);
    let rank = Actor::Rank(0);
    let operation = story.operation(rank, op::AIO_WRITE, Some(id(0, 1)), (1, 90), (0, 100));
    (operation.outstanding, operation.record.result) = (true, 0);
    let found = report(&story.facts, IoReportOptions::default());
    let row = &found.kinds[&key(OperationOwner::Rank, op::AIO_WRITE)];
    assert_eq!((row.unasked, row.unasked_bytes, row.short), (1, 100, 0));
    // The call's pieces are not known, and an operation belongs to it.
    assert_eq!(found.writes.missing, 0);
    assert_eq!(found.writes.amplification(), Some(0.0));
}

/// A filter that is asked after the call leaves the call out and keeps its operations.
#[test]
fn transfers_of_calls_that_are_not_recorded_are_unknown() {
    let mut story = Story::new();
    let rank = Actor::Rank(0);
    story.operation(rank, op::PWRITE, None, (1, 2), (0, 100));
    let own = story.operation(rank, op::PWRITE, None, (3, 4), (100, 10));
    own.record.flags = op::OUTSIDE;
    let found = report(&story.facts, IoReportOptions::default());
    let stage = Stage {
        who: OperationOwner::Rank,
        layer: Layer::Libc,
    };
    let known = found.attribution.get(&stage).copied().unwrap_or_default();
    assert_eq!((known.transfers, known.moved, known.settled), (1, 100, 0));
    assert_eq!((known.exact, known.unattributed), (0, 100));
}

#[test]
fn a_collective_write() {
    let found = report(&two_phase().facts, IoReportOptions::default());
    let all = &found.functions["MPI_File_write_all"];
    assert_eq!((all.calls, all.asked, all.carried), (2, 200, 200));
    assert_eq!(
        (all.hole_bytes_read, all.hole_bytes_written, all.modifying),
        (256, 56, 1)
    );
    assert_eq!(all.moved(), 512);
    assert_eq!(all.amplification(), Some(2.56));
    assert_eq!((all.operations, all.transfers, all.ns), (4, 2, 700 + 850));
    assert_eq!(
        (all.times.transfer, all.times.lock, all.times.busy()),
        (450, 100, 550)
    );
    // Four of rank 0, and the one that carries data of rank 1.
    assert_eq!((all.caused.operations, all.caused.most), (5, 4));
    assert_eq!(
        all.kinds[&key(OperationOwner::Rank, op::PWRITE)].operations,
        2
    );
    assert_eq!(
        all.kinds[&key(OperationOwner::Rank, op::PREAD)].mean(2),
        Some(0.5)
    );
    assert_eq!(found.by_rank[&1].operations, 0);
    assert_eq!(found.by_rank[&1].carried, 100);
    assert_eq!(found.by_file[&(0, true)].calls, 2);
    assert_eq!(found.span, Some((50, 900)));

    let aggregator = &found.aggregators[&0];
    assert_eq!(
        (aggregator.own_bytes, aggregator.served_bytes()),
        (100, 100)
    );
    assert_eq!(aggregator.serves[&1].count, 1);
    assert!(!found.aggregators.contains_key(&1));

    let row = &found.kinds[&key(OperationOwner::Rank, op::PWRITE)];
    assert_eq!(
        (row.count, row.bytes, row.hole_bytes, row.carried_calls),
        (1, 256, 56, 2)
    );
    assert_eq!((found.triggers, found.carries), (4, 2));
    assert_eq!((found.callids, found.causing, found.caused), (2, 2, 5));
    assert_eq!(found.operations_per_causing_call(), Some(2.5));
    assert_eq!(found.categories_with_callid(), 1 + 4);
    assert_eq!(found.late, 0);
}

#[test]
fn edges_may_come_before_their_operations() {
    let story = two_phase();
    let (edges, others): (Vec<AttributionRecord>, Vec<AttributionRecord>) = story
        .facts
        .iter()
        .cloned()
        .partition(|fact| matches!(fact, AttributionRecord::Edge(_)));
    let (files, others) = others.split_at(1);
    let as_drawn = [files, &edges, others].concat();
    for rank in [None, Some(0), Some(1)] {
        let options = IoReportOptions {
            rank,
            ..IoReportOptions::default()
        };
        let expected = report(&story.facts, options.clone());
        assert_eq!(report(&as_drawn, options), expected);
    }
}

#[test]
fn where_the_time_of_a_collective_write_went() {
    let found = report(&two_phase().facts, IoReportOptions::default());
    let collectives = &found.collectives;
    assert_eq!((collectives.groups, collectives.with_one_worker), (1, 1));
    let first = collectives.ranks[&0].waits;
    let second = collectives.ranks[&1].waits;
    assert_eq!(
        first,
        Waits {
            own: 550,
            others: 0,
            late: 0,
            rest: 150
        }
    );
    // It came at 50, rank 0 at 100.
    assert_eq!(
        second,
        Waits {
            own: 0,
            others: 550,
            late: 50,
            rest: 250
        }
    );
    assert_eq!(second.all(), 850);
    let waited = &collectives.waited_for[&(1, 0)];
    let expected = [(Doing::Read, 50), (Doing::Write, 400), (Doing::Lock, 100)];
    assert_eq!(waited.clone().into_iter().collect::<Vec<_>>(), expected);
    assert!(!collectives.waited_for.contains_key(&(0, 1)));
    let slow = &found.slowest[0];
    assert_eq!((slow.made.call, slow.waits), (id(1, 1), Some(second)));
    assert_eq!(slow.caused.len(), 1);
    assert!(slow.longest[0].elsewhere);
    assert_eq!((slow.longest[0].ns, slow.longest[0].bytes), (400, 100));
    assert_eq!(found.slowest[1].caused.len(), 4);
    let findings = found.findings(&RunFacts::default());
    let told: Vec<_> = findings.iter().map(|f| (f.name, f.ns)).collect();
    // Others waited 550 ns for the one that did it all; its write with holes took 400 ns, the read before it 50 ns.
    let expected = [
        ("one_aggregator", 550),
        ("sieving_holes_of_writes", 400),
        ("read_modify_write", 50),
    ];
    assert_eq!(told, expected);
    let figure = |nth: usize, name: &str| findings[nth].figure(name);
    assert_eq!(
        (figure(0, "groups"), figure(0, "ranks")),
        (Some(1), Some(2))
    );
    assert_eq!(
        (figure(1, "asked"), figure(1, "moved")),
        (Some(200), Some(512))
    );
    assert_eq!(
        (figure(2, "calls"), figure(2, "bytes")),
        (Some(1), Some(256))
    );
    // On one host there is nothing to choose.
    let one_host = RunFacts {
        hosts: 1,
        ..RunFacts::default()
    };
    assert_eq!(found.findings(&one_host).len(), 2);
    // Its own file system may be as fast with holes as without.
    let local = RunFacts {
        file_system: FileSystem::Local,
        ..one_host.clone()
    };
    let sureness = |facts| found.findings(facts).iter().map(|f| f.sureness).max();
    assert_eq!(sureness(&one_host), Some(Sureness::Likely));
    let least = found.findings(&local).iter().map(|f| f.sureness).min();
    assert_eq!(least, Some(Sureness::Possible));
}

#[test]
fn selections() {
    let mut story = two_phase();
    story
        .facts
        .insert(1, file(1, "/data/other", FileRole::Data));
    story
        .operation(
            Actor::Rank(1),
            op::PWRITE,
            Some(id(1, 2)),
            (1000, 1100),
            (0, 10),
        )
        .file = Some(1);
    let latest = story.latest();
    story.call(1, 2, "MPI_File_write_at", (990, 1110), 10).file = 1;
    story.both(id(1, 2), latest, 10);
    let of = |rank: Option<u32>, file: Option<&str>| {
        let options = IoReportOptions {
            rank,
            file: file.map(str::to_owned),
            ..IoReportOptions::default()
        };
        report(&story.facts, options)
    };
    let all = of(None, None);
    assert_eq!((all.callids, all.operations(), all.carries), (3, 5, 3));
    let other = of(None, Some("other"));
    assert_eq!(
        (
            other.callids,
            other.operations(),
            other.triggers,
            other.carries
        ),
        (1, 1, 1, 1)
    );
    assert_eq!(other.files.len(), 1);
    let second = of(Some(1), None);
    assert_eq!((second.callids, second.operations()), (2, 1));
    assert_eq!(second.by_rank[&1].carried, 110);
    let none = of(None, Some("absent"));
    assert_eq!((none.callids, none.operations(), none.carries), (0, 0, 0));
}

#[test]
fn deferred_work_counts_for_the_call_that_asked() {
    let mut story = Story::new();
    let (begins, waits) = (id(0, 1), id(0, 2));
    // One piece is submitted in the call, another one in the MPI_Wait that completes it.
    story
        .operation(
            Actor::Rank(0),
            op::AIO_WRITE,
            Some(begins),
            (110, 400),
            (0, 64),
        )
        .outstanding = true;
    story.operation(
        Actor::Rank(0),
        op::PWRITE,
        Some(waits),
        (310, 350),
        (64, 64),
    );
    story
        .call(0, 1, "MPI_File_iwrite", (100, 120), 128)
        .complete = 420;
    story.both(begins, 1, 64);
    story.edge(waits, 2, Relation::Triggers, 0);
    story.edge(begins, 2, Relation::Carries, 64);
    let found = report(&story.facts, IoReportOptions::default());
    let access = &found.functions["MPI_File_iwrite"];
    assert_eq!(
        (access.carried, access.operations, access.transfers),
        (128, 1, 1)
    );
    assert_eq!(
        (access.caused.operations, access.deferred, access.pending),
        (2, 1, 300)
    );
    assert_eq!((access.times.outstanding, access.times.busy()), (290, 0));
    assert_eq!(
        (
            found.other.calls,
            found.other.transfers,
            found.other.times.transfer
        ),
        (1, 1, 40)
    );
    let libc = found.attribution[&Stage {
        who: OperationOwner::Rank,
        layer: Layer::Libc,
    }];
    assert_eq!(
        (libc.transfers, libc.settled, libc.moved, libc.exact),
        (2, 2, 128, 128)
    );
}

#[test]
fn how_exact_it_is() {
    let mut story = Story::new();
    story
        .facts
        .push(file(1, "/data/.out.dat.shfp.1", FileRole::SharedPointer));
    let call = id(0, 1);
    let rank = Actor::Rank(0);
    story.operation(rank, op::PREAD, Some(call), (0, 10), (0, 100));
    story
        .operation(rank, op::PREAD, Some(call), (10, 20), (100, 100))
        .hole_bytes = 40;
    story.operation(rank, op::PREAD, Some(call), (20, 30), (200, 100));
    // Neither what is no data nor what the program does by itself needs a call.
    story
        .operation(rank, op::PREAD, Some(call), (30, 40), (0, 8))
        .file = Some(1);
    let own = story.operation(rank, op::PREAD, None, (2000, 2010), (0, 50));
    own.record.flags = op::OUTSIDE;
    story.call(0, 1, "MPI_File_read", (0, 100), 250);
    story.both(call, 1, 100);
    story.edge(call, 2, Relation::Carries, 30).precision = Precision::BoundingExtent;
    story.edge(call, 3, Relation::Carries, 100).precision = Precision::Ambiguous;
    let found = report(&story.facts, IoReportOptions::default());
    let libc = found.attribution[&Stage {
        who: OperationOwner::Rank,
        layer: Layer::Libc,
    }];
    assert_eq!((libc.transfers, libc.settled, libc.moved), (3, 1, 300));
    assert_eq!(
        (
            libc.hole_bytes,
            libc.exact,
            libc.bounding_extent,
            libc.ambiguous
        ),
        (40, 100, 30, 100)
    );
    assert_eq!(libc.unattributed, 30);
    let pointer = KindKey {
        role: FileRole::SharedPointer,
        ..key(OperationOwner::Rank, op::PREAD)
    };
    assert_eq!(found.kinds[&pointer].count, 1);
    let read = &found.functions["MPI_File_read"];
    assert_eq!((read.operations, read.transfers), (4, 3));
    assert_eq!((read.times.transfer, read.times.other), (30, 10));
    assert_eq!(found.read_sizes.all().count, 3);
}

/// SLOG2 files tell it, too: by the records of requests and the arrows to them.
#[test]
fn callids_of_requests_are_compared_with_those_of_file_calls() {
    let mut story = Story::new();
    let mut request = |named: Option<u64>, call: Option<u64>, is_found: bool| {
        let server = Actor::FrontEnd(0);
        let made = story.operation(server, op::REQUEST_WRITE, call, (1, 2), (0, 10));
        made.record.request = Some(op::ServerRequest::default());
        made.record.call = named;
        if let (true, Some(call)) = (is_found, call) {
            let nth = story.latest();
            story.edge(call, nth, Relation::Triggers, 0);
        }
    };
    let (first, second) = (id(0, 1), id(1, 1));
    request(Some(first), Some(first), true);
    request(Some(second), Some(second), true);
    request(Some(second), Some(first), true);
    request(None, Some(first), true);
    request(Some(first), Some(first), false);
    request(None, None, false);
    let found = report(&story.facts, IoReportOptions::default());
    let callids = found.below.request_callids;
    let numbers = (callids.agree(), callids.differ, callids.unknown());
    assert_eq!(numbers, (2, 1, 2));
}

#[test]
fn servers_and_devices() {
    let (story, call) = served();
    let front = Actor::FrontEnd(0);
    let found = report(&story.facts, IoReportOptions::default());
    let below = &found.below;
    let row = &below.servers[&front];
    assert_eq!(
        (
            row.writes.volume.count,
            row.bytes(),
            row.passed_on.volume.count
        ),
        (2, 300, 2)
    );
    assert_eq!(
        (
            row.queued.volume.count,
            row.queued.ns,
            row.disk_writes.volume.count
        ),
        (1, 10, 0)
    );
    let row = &below.servers[&Actor::DataServer(0)];
    assert_eq!(
        (
            row.bytes(),
            row.disk_writes.volume.bytes,
            row.passed_on.volume.count
        ),
        (200, 200, 0)
    );
    assert_eq!(below.requests_per_transfer(), Some(2.0));
    assert_eq!(below.imbalance(), Some(4.0 / 3.0));
    let row = &below.devices[&0];
    assert_eq!(
        (
            row.writes.volume.bytes,
            row.by_kernel.count,
            row.calls_in_writes
        ),
        (4096, 1, 1)
    );
    assert_eq!(row.flushes.volume.count, 1);
    let device = found.attribution[&Stage {
        who: OperationOwner::Device,
        layer: Layer::Device,
    }];
    assert_eq!((device.page, device.unattributed), (300, 3796));
    let with_rank = report(
        &story.facts,
        IoReportOptions {
            rank: Some(3),
            ..IoReportOptions::default()
        },
    );
    assert_eq!(with_rank.below.servers, below.servers);
    let another = report(
        &story.facts,
        IoReportOptions {
            rank: Some(2),
            ..IoReportOptions::default()
        },
    );
    assert!(another.below.servers.is_empty());

    // The same as a tree.
    let mut search = Search::new(call);
    story.facts.iter().for_each(|fact| search.look(fact));
    let mut tree = search.found().expect("the call is there");
    story.facts.iter().for_each(|fact| tree.collect(fact));
    let chain = tree.chain();
    let children = |nth: usize| chain.links[nth].children.clone();
    let kind = |nth: usize| chain.links[nth].operation.kind;
    let kinds = |list: &[usize]| list.iter().map(|&nth| kind(nth)).collect::<Vec<_>>();
    assert_eq!(
        kinds(&chain.top),
        [op::PWRITE, op::DEVICE_WRITE, op::DEVICE_FLUSH]
    );
    let requests = children(chain.top[0]);
    assert_eq!(
        kinds(&requests),
        [op::REQUEST_QUEUED, op::REQUEST_WRITE, op::REQUEST_WRITE]
    );
    for (request, server, bytes) in [(requests[1], 0, 200), (requests[2], 1, 100)] {
        let [sent] = children(request)[..] else {
            panic!()
        };
        let [piece] = children(sent)[..] else {
            panic!()
        };
        let [disk] = children(piece)[..] else {
            panic!()
        };
        let operation = &chain.links[disk].operation;
        assert_eq!(operation.place.lane.actor, Actor::DataServer(server));
        assert_eq!(
            (operation.kind, operation.record.result),
            (op::PWRITE, bytes)
        );
    }
    assert_eq!(
        chain.links[chain.top[1]].own.carries,
        Some((300, Precision::Page))
    );
    assert_eq!(chain.more, 0);
}

#[test]
fn transfers_that_the_driver_got_together() {
    let mut story = Story::new();
    for (start, issued) in [(100, 150), (110, 150), (120, 160), (130, 0), (400, 90)] {
        let time = (start, start + 100);
        let device = Actor::Device(2);
        let transfer = story.operation(device, op::DEVICE_READ, None, time, (start, 10));
        transfer.record.request = Some(op::ServerRequest {
            arrived: issued,
            ..op::ServerRequest::default()
        });
    }
    let found = report(&story.facts, IoReportOptions::default());
    let row = &found.below.devices[&2];
    assert_eq!((row.reads.volume.count, row.merged), (5, 1));
    // Of one it is not known, of another it is on no clock that is known.
    assert_eq!((row.issued, row.queued), (3, 50 + 40 + 40));
}

#[test]
fn the_tree_of_a_call_whose_data_another_rank_wrote() {
    let story = two_phase();
    let mut search = Search::new(id(1, 1));
    story.facts.iter().for_each(|fact| search.look(fact));
    let mut tree = search.found().expect("the call is there");
    story.facts.iter().for_each(|fact| tree.collect(fact));
    let chain = tree.chain();
    assert_eq!((chain.top.len(), chain.group.len()), (1, 1));
    let link = &chain.links[0];
    assert_eq!(
        (link.own.triggered, link.own.carries),
        (false, Some((100, Precision::Exact)))
    );
    assert_eq!(
        (link.sharers[0].call, link.sharers[0].bytes),
        (id(0, 1), 100)
    );
    let mut nobody = Search::new(id(1, 99));
    story.facts.iter().for_each(|fact| nobody.look(fact));
    assert!(nobody.found().is_none());
}

#[test]
fn a_long_trace_is_counted_whole() {
    // More calls than are remembered, each complete when the next one comes, but for one far operation at the end.
    let mut collector = IoReportCollector::new(IoReportOptions {
        slowest: 3,
        ..IoReportOptions::default()
    });
    let calls = 140_000;
    let mut put = |story: &mut Story| {
        story.facts.iter().for_each(|fact| collector.put(fact));
        story.facts.clear();
    };
    let mut story = Story::new();
    for nth in 1..=calls {
        let (call, start) = (id(0, nth), 1000 * nth as i64);
        for piece in 0..nth as i64 % 4 {
            let time = (start + 10 * piece, start + 10 * piece + 5);
            story.operation(Actor::Rank(0), op::PWRITE, Some(call), time, (0, 8));
        }
        story.call(
            0,
            nth,
            "MPI_File_write",
            (start, start + 100 + nth as i64 % 7),
            8 * (nth % 4),
        );
        let latest = story.latest();
        for operation in latest + 1 - nth % 4..=latest {
            story.both(call, operation, 8);
        }
        put(&mut story);
    }
    story.operation(
        Actor::Device(0),
        op::DEVICE_WRITE,
        Some(id(0, 3)),
        (0, 1),
        (0, 4096),
    );
    put(&mut story);
    let found = collector.finish();
    let all = &found.functions["MPI_File_write"];
    let operations = calls / 4 * 6;
    assert_eq!((all.calls, all.operations), (calls, operations));
    assert_eq!((all.asked, all.carried), (8 * operations, 8 * operations));
    assert_eq!(all.caused.mean(calls), Some(1.5));
    let percentiles = [25.0, 50.0, 75.0, 99.0].map(|p| all.caused.percentile(p, calls));
    assert_eq!(percentiles, [0.0, 1.0, 2.0, 3.0].map(Some));
    let slowest: Vec<_> = found.slowest.iter().map(|slow| slow.made.call).collect();
    assert_eq!(slowest, [id(0, 6), id(0, 13), id(0, 20)]);
    assert_eq!((found.callids, found.late), (calls, 1));
    let libc = found.attribution[&Stage {
        who: OperationOwner::Rank,
        layer: Layer::Libc,
    }];
    assert_eq!((libc.transfers, libc.settled), (operations, operations));
}
