//! What is told of a run's I/O, and what is not worth a word, from attribution records whose numbers are known.

use crate::io::facts::{Story, id};
use analysis::io::{
    AtomicModes, CallSum, FileSystem, IoFinding, IoReport, IoReportCollector, IoReportOptions,
    RankSyncs, RunFacts, Sureness,
};
use blockfile::operation as op;
use io_attribution::Actor;

/// One microsecond and one millisecond, ns.
const US: i64 = 1000;
const MS: i64 = 1_000_000;
const MIB: i64 = 1 << 20;

fn report(story: &Story) -> IoReport {
    let mut collector = IoReportCollector::new(IoReportOptions::default());
    story.facts.iter().for_each(|fact| collector.put(fact));
    collector.finish()
}

fn told(story: &Story, facts: &RunFacts, name: &str) -> Option<IoFinding> {
    let found = report(story).findings(facts);
    found.into_iter().find(|one| one.name == name)
}

/// A write of bytes from `at` on by a rank.
fn write(story: &mut Story, rank: u32, nth: u64, time: (i64, i64), at: i64, bytes: i64) {
    let call = story.call(rank, nth, "MPI_File_write_at", time, bytes as u64);
    (call.bounding_extent, call.pieces) = (Some((at as u64, (at + bytes) as u64)), 1);
    let inside = (time.0 + 1, time.1 - 1);
    let who = Actor::Rank(rank);
    story.operation(who, op::PWRITE, Some(id(rank, nth)), inside, (at, bytes));
}

/// A wait for the device in a call that is no access.
fn sync(story: &mut Story, rank: u32, nth: u64, time: (i64, i64)) {
    let (who, call) = (Actor::Rank(rank), Some(id(rank, nth)));
    let operation = story.operation(who, op::FSYNC, call, time, (-1, -1));
    operation.record.result = 0;
}

/// Writing again what a wait for the device has made safe is how the next checkpoint is made.
#[test]
fn what_was_made_safe_may_be_written_again() {
    let checkpoints = |is_safe: bool| {
        let mut story = Story::new();
        for step in 0..20 {
            let (start, nth) = (10 * step * MS, 2 * step as u64);
            write(&mut story, 0, nth + 1, (start, start + MS), 0, MIB);
            if is_safe {
                sync(&mut story, 0, nth + 2, (start + 2 * MS, start + 3 * MS));
            }
        }
        told(&story, &RunFacts::default(), "redundant_writes")
    };
    let again = checkpoints(false).and_then(|found| found.figure("accesses"));
    assert_eq!(again, Some(19));
    assert_eq!(checkpoints(true), None);
}

/// Of a request of 1 MiB the ends are less than a hundredth. On a file system of several hosts others may wait for the lock of a block there.
#[test]
fn large_requests_need_no_borders_of_blocks() {
    let unaligned = |bytes: i64, ranks: u32, file_system| {
        let mut story = Story::new();
        for nth in 0..60 {
            let start = 10 * nth * MS;
            let rank = nth as u32 % ranks;
            let place = nth * (bytes + 1) + 7;
            write(
                &mut story,
                rank,
                nth as u64 + 1,
                (start, start + MS),
                place,
                bytes,
            );
        }
        let facts = RunFacts {
            file_system,
            ..RunFacts::default()
        };
        told(&story, &facts, "unaligned_requests").and_then(|found| found.figure("unaligned"))
    };
    for (bytes, ranks, file_system, expected) in [
        (MIB - 1, 2, FileSystem::Local, Some(60)),
        (MIB, 2, FileSystem::Local, None),
        (MIB, 2, FileSystem::Unknown, None),
        (MIB, 2, FileSystem::Lustre, Some(60)),
        (MIB, 2, FileSystem::Shared, Some(60)),
        (MIB, 1, FileSystem::Lustre, None),
    ] {
        let found = unaligned(bytes, ranks, file_system);
        assert_eq!(found, expected, "{bytes} {ranks} {file_system:?}");
    }
}

/// MPI_File_sync is collective: one of the program is one of each rank. It is a habit if one rank waits often for one file.
#[test]
fn one_sync_of_many_ranks_is_no_habit() {
    let syncs = |ranks: u32, of_a_rank: i64| {
        let mut story = Story::new();
        for rank in 0..ranks {
            for nth in 0..of_a_rank {
                let start = 100 * nth * MS;
                sync(&mut story, rank, nth as u64 + 1, (start, start + MS));
            }
        }
        let count = u64::from(ranks) * of_a_rank as u64;
        let calls = CallSum {
            calls: count,
            ns: count * MS as u64,
        };
        let facts = RunFacts {
            calls: [("MPI_File_sync".to_owned(), calls)].into(),
            ..RunFacts::default()
        };
        let found = told(&story, &facts, "syncs");
        found.map(|found| (found.figure("syncs"), found.ns))
    };
    assert_eq!(syncs(16, 1), None);
    assert_eq!(syncs(16, 7), None);
    assert_eq!(syncs(2, 8), Some((Some(16), 16 * MS as u64)));
}

/// Of a run without operations the calls tell: as many files as waits is no habit.
#[test]
fn syncs_without_operations() {
    let is_told = |syncs: u64, opens: u64| {
        let calls = CallSum {
            calls: 2 * syncs,
            ns: 1000 * MS as u64,
        };
        let facts = RunFacts {
            calls: [("MPI_File_sync".to_owned(), calls)].into(),
            syncs: [
                (0, RankSyncs { syncs, opens }),
                (1, RankSyncs { syncs, opens }),
            ]
            .into(),
            ..RunFacts::default()
        };
        told(&Story::new(), &facts, "syncs").is_some()
    };
    assert!(!is_told(20, 20) && !is_told(7, 1));
    assert!(is_told(20, 1) && is_told(8, 0));
}

#[test]
fn only_calls_that_ask_for_atomic_mode_count() {
    let mut story = Story::new();
    write(&mut story, 0, 1, (0, 10 * MS), 0, MIB);
    let locked = (MS, 3 * MS);
    story.operation(
        Actor::Rank(0),
        op::FCNTL_LOCK,
        Some(id(0, 1)),
        locked,
        (0, 1),
    );
    let told = |asked: u64, unknown: u64| {
        let facts = RunFacts {
            atomic: AtomicModes { asked, unknown },
            ..RunFacts::default()
        };
        told(&story, &facts, "atomic_mode").map(|found| (found.figure("calls"), found.sureness))
    };
    assert_eq!(told(0, 0), None);
    assert_eq!(told(2, 0), Some((Some(2), Sureness::Likely)));
    assert_eq!(told(0, 1), Some((Some(1), Sureness::Possible)));
}

/// What failed was not moved, and is no access that could be made in another way.
#[test]
fn failed_calls_ask_for_nothing() {
    let mut story = Story::new();
    for nth in 0..60 {
        let time = (10 * nth * MS, (10 * nth + 1) * MS);
        let call = story.call(0, nth as u64 + 1, "MPI_File_write_at", time, 100);
        (call.bounding_extent, call.pieces) = (Some((0, 100)), 1);
        call.failed = nth > 0;
    }
    let found = report(&story);
    assert_eq!(
        (found.writes.calls, found.writes.failed, found.writes.asked),
        (60, 59, 100)
    );
    let findings = found.findings(&RunFacts::default());
    let names: Vec<&str> = findings.iter().map(|one| one.name).collect();
    assert_eq!(names, ["failed"]);
    assert_eq!(findings[0].text, "Calls failed: 59 x MPI_File_write_at.");
    assert_eq!(findings[0].figure("calls"), Some(59));
}

/// A cost of microseconds comes last, behind what is about results only; what fails comes first.
#[test]
fn microseconds_lead_no_list() {
    let mut story = Story::new();
    for nth in 0..60 {
        let start = 10 * nth * US;
        write(&mut story, 0, nth as u64 + 1, (start, start + US), 0, 100);
    }
    let call = story.call(0, 90, "MPI_File_write_at", (MS, 2 * MS), 100);
    call.failed = true;
    let findings = report(&story).findings(&RunFacts::default());
    let names: Vec<_> = findings
        .iter()
        .map(|one| (one.name, one.costs_next_to_nothing()))
        .collect();
    assert_eq!(names[0], ("failed", false), "{names:?}");
    assert!(
        names.len() > 1 && names[1..].iter().all(|(_, little)| *little),
        "{names:?}"
    );
}

/// On a file system that hosts share, each open, close and seek is a question to one server, however fast this run was answered.
#[test]
fn many_questions_for_few_accesses() {
    let is_told = |questions: u64, accesses: u64| {
        let mut story = Story::new();
        for nth in 0..accesses as i64 {
            let start = 100 * nth * MS;
            write(
                &mut story,
                0,
                nth as u64 + 1,
                (start, start + 50 * MS),
                nth * MIB,
                MIB,
            );
        }
        let calls = CallSum {
            calls: questions,
            ns: MS as u64,
        };
        let facts = RunFacts {
            calls: [("MPI_File_get_size".to_owned(), calls)].into(),
            ..RunFacts::default()
        };
        told(&story, &facts, "metadata").map(|found| found.sureness)
    };
    assert_eq!(is_told(6000, 20), Some(Sureness::Possible));
    assert_eq!(is_told(6000, 601), None);
    assert_eq!(is_told(999, 2), None);
}
