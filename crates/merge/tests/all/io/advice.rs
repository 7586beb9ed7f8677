//! What is told of a run's I/O, and what is not worth a word, from attribution records whose numbers are known.

use crate::io::facts::{Story, file, id};
use analysis::io::{
    AtomicModes, CallSum, FileSystem, FileWaits, IoFinding, IoReport, IoReportCollector,
    IoReportOptions, RankSyncs, RunFacts, Sureness,
};
use blockfile::operation as op;
use io_attribution::{Actor, FileRole};

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

/// A report about one rank of several that do the same knows nothing of what the others did.
#[test]
fn one_rank_of_a_report_about_it_does_not_do_all() {
    let mut story = Story::new();
    for nth in 0..16 {
        let start = 10 * nth * MS;
        for rank in 0..2 {
            let place = (2 * nth + i64::from(rank)) * 4 * MIB;
            let time = (start, start + 9 * MS);
            write(&mut story, rank, nth as u64 + 1, time, place, 4 * MIB);
        }
    }
    let names = |rank: Option<u32>| {
        let mut collector = IoReportCollector::new(IoReportOptions {
            rank,
            ..IoReportOptions::default()
        });
        story.facts.iter().for_each(|fact| collector.put(fact));
        let waits = FileWaits {
            writes: 50 * MS as u64,
            ..FileWaits::default()
        };
        let facts = RunFacts {
            ranks: 2,
            waited_for: [(0, waits), (1, waits)].into(),
            is_of_one_rank: rank.is_some(),
            ..RunFacts::default()
        };
        let found = collector.finish().findings(&facts);
        found.iter().map(|one| one.name).collect::<Vec<_>>()
    };
    for rank in [None, Some(0), Some(1)] {
        assert_eq!(names(rank), [""; 0], "{rank:?}");
    }
}

/// A transfer of the program's own from or to a file.
fn own(story: &mut Story, rank: u32, kind: u16, file: u32, time: (i64, i64), range: (i64, i64)) {
    let operation = story.operation(Actor::Rank(rank), kind, None, time, range);
    operation.record.flags = op::OUTSIDE;
    operation.file = Some(file);
}

/// Only what goes to files that ranks share could go through MPI-IO together.
#[test]
fn files_of_one_rank_are_not_shared() {
    let found = |shared: i64| {
        let mut story = Story::new();
        for number in 1..4 {
            story.facts.push(file(number, "/data/f", FileRole::Other));
        }
        for rank in 0..2 {
            for nth in 0..100 {
                let time = (10 * nth * MS, (10 * nth + 1) * MS);
                own(
                    &mut story,
                    rank,
                    op::WRITE,
                    rank + 1,
                    time,
                    (nth * MIB, MIB),
                );
            }
            for nth in 0..shared {
                let time = ((10 * nth + 5) * MS, (10 * nth + 7) * MS);
                own(&mut story, rank, op::READ, 3, time, (nth * MIB, MIB));
                own(
                    &mut story,
                    rank,
                    op::WRITE,
                    3,
                    time,
                    ((2 * nth + i64::from(rank)) * MIB, 9),
                );
            }
        }
        let found = told(&story, &RunFacts::default(), "no_mpi_io")?;
        Some((found.figure("files"), found.figure("transfers"), found.ns))
    };
    assert_eq!(found(1), None);
    let expected = (Some(1), Some(120), 120 * 2 * MS as u64);
    assert_eq!(found(30), Some(expected));
}

/// How large a file is of which little is read, the trace does not tell.
#[test]
fn files_that_are_only_read_may_be_large() {
    let found = |kind: u16| {
        let mut story = Story::new();
        for nth in 1..=100 {
            story.facts.push(file(nth, "/data/f", FileRole::Other));
            let time = (10 * i64::from(nth) * MS, (10 * i64::from(nth) + 1) * MS);
            own(&mut story, 0, kind, nth, time, (0, 1024));
        }
        told(&story, &RunFacts::default(), "many_files")
    };
    let read = found(op::READ).expect("the finding");
    assert_eq!(read.sureness, Sureness::Likely);
    let begin = "Of 100 files 1.00 KiB each are read or written on average, in 100 accesses:";
    assert!(read.text.starts_with(begin), "{}", read.text);
    let written = found(op::WRITE).expect("the finding");
    assert_eq!(written.sureness, Sureness::Sure);
}

/// Linux moves 0x7ffff000 bytes in a call at most (write(2)).
#[test]
fn what_the_kernel_cuts_is_no_full_disk() {
    let is_short = |result: i64| {
        let mut story = Story::new();
        story.call(0, 1, "MPI_File_write_at", (0, 10 * MS), 3 << 30);
        let time = (MS, 9 * MS);
        let one = story.operation(
            Actor::Rank(0),
            op::PWRITE,
            Some(id(0, 1)),
            time,
            (0, 3 << 30),
        );
        one.record.result = result;
        told(&story, &RunFacts::default(), "short_writes").is_some()
    };
    assert!(is_short(0x7fff_e000) && is_short(1));
    assert!(!is_short(0x7fff_f000) && !is_short(3 << 30));
}

/// A file that is open for reading only is not written by calls that fail.
#[test]
fn what_failed_was_not_written_by_several() {
    let found = |failed: [bool; 2]| {
        let mut story = Story::new();
        for rank in 0..2 {
            let call = story.call(rank, 1, "MPI_File_write_at_all", (0, MS), 100);
            (call.bounding_extent, call.pieces) = (Some((0, 100)), 1);
            (call.sequence, call.overlaps) = (Some(0), true);
            call.failed = failed[rank as usize];
        }
        told(&story, &RunFacts::default(), "overwriting").is_some()
    };
    assert!(found([false, false]));
    assert!(!found([true, true]) && !found([true, false]));
}

/// A lock that somebody else has is no fault: fcntl(F_SETLK) tells so by EAGAIN or EACCES, flock by EWOULDBLOCK. Others are.
#[test]
fn locks_that_others_have_do_not_fail() {
    let failed = |kind: u16, error: i32| {
        let mut story = Story::new();
        story.operation(Actor::Rank(0), kind, Some(id(0, 1)), (0, 10), (0, 1));
        let one = story.operation(Actor::Rank(0), kind, Some(id(0, 2)), (20, 30), (0, 1));
        one.error = error;
        told(&story, &RunFacts::default(), "failed").and_then(|found| found.figure("operations"))
    };
    for kind in [op::FCNTL_LOCK, op::FLOCK] {
        assert_eq!(failed(kind, libc_errors::EAGAIN), None);
        assert_eq!(failed(kind, libc_errors::EACCES), None);
        // A signal has ended the wait for it (F_SETLKW).
        assert_eq!(failed(kind, libc_errors::EINTR), None);
        assert_eq!(failed(kind, libc_errors::ENOLCK), Some(1));
    }
    assert_eq!(failed(op::PREAD, libc_errors::EAGAIN), Some(1));
}

/// Whoever copies a file with sendfile asks until nothing comes: the last call moves nothing, and no disk is full.
#[test]
fn a_copy_that_ends_with_its_source_is_no_full_disk() {
    for (kind, expected) in [
        (op::SENDFILE, false),
        (op::COPY_FILE_RANGE, false),
        (op::WRITE, true),
    ] {
        let mut story = Story::new();
        story.facts.push(file(1, "/data/copy", FileRole::Other));
        own(&mut story, 0, kind, 1, (0, MS), (0, MIB));
        let last = story.operation(Actor::Rank(0), kind, None, (2 * MS, 3 * MS), (MIB, MIB));
        (last.record.flags, last.record.result) = (op::OUTSIDE, 0);
        let found = told(&story, &RunFacts::default(), "short_writes");
        assert_eq!(found.is_some(), expected, "{kind}");
    }
}

/// A file that is opened for its lock and closed has no transfers that stdio could have made.
#[test]
fn files_for_locks_are_not_of_stdio() {
    let found = |kinds: &[u16]| {
        let mut story = Story::new();
        story.facts.push(file(1, "/data/lock", FileRole::Other));
        for (nth, kind) in kinds.iter().enumerate() {
            let start = 10 * nth as i64 * MS;
            own(&mut story, 0, *kind, 1, (start, start + MS), (-1, 0));
        }
        told(&story, &RunFacts::default(), "stdio_or_mapped").is_some()
    };
    assert!(!found(&[op::OPEN, op::FLOCK, op::CLOSE]));
    assert!(!found(&[
        op::OPEN,
        op::FCNTL_LOCK,
        op::FCNTL_UNLOCK,
        op::CLOSE
    ]));
    assert!(found(&[op::OPEN, op::CLOSE]));
}

/// Reads need no rest of a block, and wait for no other rank. Ranks meet in files that several of them write, and in no others.
#[test]
fn what_borders_of_blocks_cost_is_what_they_can_cost() {
    let why = |kind: u16, ranks: u32, shared_input: bool| {
        let mut story = Story::new();
        for number in 1..4 {
            story.facts.push(file(number, "/data/f", FileRole::Other));
        }
        for nth in 0..100 {
            let (start, rank) = (10 * nth * MS, nth as u32 % ranks);
            let range = (nth * 8001, 8001);
            own(&mut story, rank, kind, 1, (start, start + MS), range);
        }
        for rank in 0..2 * u32::from(shared_input) {
            let time = (2000 * MS, 2001 * MS);
            own(&mut story, rank, op::READ, 2, time, (0, 4096));
        }
        let facts = RunFacts::default();
        let found = told(&story, &facts, "unaligned_requests").expect("the finding");
        let text = found.text.split_once(". ").expect("two sentences").1;
        (found.sureness, text.to_owned())
    };
    let meet = "Ranks meet in the blocks at the borders, which one has to wait for.";
    let rest = "The file system has to read the rest of a block before it can write it.";
    let whole = "The file system has to read the blocks at the borders as a whole.";
    for (kind, ranks, shared_input, expected) in [
        (op::WRITE, 2, false, (Sureness::Likely, meet)),
        (op::WRITE, 1, false, (Sureness::Possible, rest)),
        (op::WRITE, 1, true, (Sureness::Possible, rest)),
        (op::READ, 1, false, (Sureness::Possible, whole)),
        (op::READ, 2, true, (Sureness::Possible, whole)),
    ] {
        let (sureness, text) = why(kind, ranks, shared_input);
        assert_eq!(
            (sureness, &*text),
            expected,
            "{kind} {ranks} {shared_input}"
        );
    }
}

/// Numbers of errors on Linux.
mod libc_errors {
    pub const EINTR: i32 = 4;
    pub const EAGAIN: i32 = 11;
    pub const EACCES: i32 = 13;
    pub const ENOLCK: i32 = 37;
}
