//! Records that are no calls: regions, functions of the program, values of counters, gap markers, ends of threads.

use super::common::{self, Blocks, call_at, from, status};
use super::{Folder, KILLED, STAMP, exchange, file, lines_with};
use blockfile::define::{
    COUNTS, ClockReading, Definition, ENTER, EXIT, GAP, ProcessDefinition, USER_EVENT,
};
use blockfile::function::FunctionStep;
use blockfile::user::{UserCategory, UserCategoryKind, UserEvent, UserEventContent};

/// A rank that has defined region 1.
fn rank_with_region() -> Blocks {
    let mut b = common::rank(0, 1);
    b.define(&Definition::UserCategory(UserCategory {
        kind: UserCategoryKind::Region,
        number: 1,
        name: "work".to_owned(),
        ..UserCategory::default()
    }));
    b
}

fn region(b: &mut Blocks, start: u32, content: UserEventContent<'_>) {
    let event = UserEvent {
        number: 1,
        comm: None,
        inside: false,
        content,
    };
    b.record(USER_EVENT, start, 0, &event.encode());
}

/// A run that recorded what the program tells, and no call, becomes a trace, too.
#[test]
fn regions_without_calls_are_recovered() {
    let folder = Folder::new("no-calls");
    let mut b = rank_with_region();
    for start in [2000, 3000, 4000] {
        region(&mut b, start, UserEventContent::Enter);
        region(&mut b, start + 500, UserEventContent::Exit);
    }
    folder.write("0.blocks", &file(&b, &KILLED));
    folder.succeeds(&["recover", "--formats=slog2", "."]);
    let stats = folder.succeeds(&["stats", "p.slog2"]);
    let work = stats.lines().find(|line| line.starts_with("work "));
    let words: Vec<&str> = work.expect("the region").split_whitespace().collect();
    assert_eq!(words[..3], ["work", "state", "3"]);
}

/// Each kind of record that the recorder writes is sound, and has a line of its own.
#[test]
fn records_of_all_kinds_are_checked_and_printed() {
    let folder = Folder::new("all-records");
    let mut b = rank_with_region();
    let step = |enters| FunctionStep::new(enters, 0x4711, 0x1000, false).encode();
    b.record(ENTER, 2000, 0, &step(true));
    region(&mut b, 2100, UserEventContent::Enter);
    let values: Vec<u8> = [5_i64, 8].iter().flat_map(|n| n.to_ne_bytes()).collect();
    b.record(COUNTS, 2200, 0, &values);
    call_at(
        &mut b,
        2200,
        2300,
        "MPI_Barrier",
        &[common::V::H(common::WORLD)],
    );
    b.record(EXIT, 2400, 0, &step(false));
    b.record(GAP, 2500, 0, &[]);
    b.define(&Definition::ThreadEnd);
    folder.write("0.blocks", &file(&b, &KILLED));
    let printed = folder.succeeds(&["print", "0.blocks"]);
    for line in [
        "enters the function at 0x4711",
        "leaves the function at 0x4711",
        "# 0 counters of the next call: 5 to 8",
        "# 0 calls may be missing from here on",
        "# 0 the thread has ended",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert!(!printed.contains("damaged"), "{printed}");
    let checked = folder.run(&["check", "0.blocks"]);
    let checked = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.contains(" 0 errors"), "{checked}");
}

/// What is in DUMPI files, the settings of the run say, as in MPI_Finalize.
#[test]
fn dumpi_files_have_the_statuses_that_the_settings_ask_for() {
    for (settings, with, without) in [("", 3, 0), ("statuses disable\n", 0, 3)] {
        let folder = Folder::new("dumpi-settings");
        for rank in 0..2 {
            let mut b = exchange(rank, 2, 3);
            b.define(&Definition::Settings(settings.to_owned()));
            folder.write(&format!("{rank}.blocks"), &file(&b, &KILLED));
        }
        folder.succeeds(&["recover", "--formats", "dumpi", "."]);
        let receiver = format!("p-{STAMP}-0001.bin");
        let count = |what: &str| lines_with(&folder, &receiver, what);
        assert_eq!(count("status=[{bytes=4"), with, "{settings}");
        assert_eq!(count("status=<IGNORED>"), without, "{settings}");
    }
}

/// Of a killed run nobody has compared the clocks. CLOCK_MONOTONIC counts from the start of a host, so ranks of several hosts are placed by the
/// time of day: here the other host has run two seconds longer.
#[test]
fn ranks_of_several_hosts_are_placed_by_the_time_of_day() {
    const LONGER: u32 = 2_000_000_000;
    for (settings, span) in [("", 0.000_002..0.000_01), ("clock-sync no\n", 1.9..2.1)] {
        let folder = Folder::new("time-of-day");
        folder.write("0.blocks", &file(&exchange(0, 2, 3), &KILLED));
        let mut b = common::rank(1, 2);
        b.define(&Definition::Settings(settings.to_owned()));
        b.define(&Definition::Process(ProcessDefinition {
            host: "other".to_owned(),
            program: "p".to_owned(),
            user: "someone".to_owned(),
            boot: "of the other".to_owned(),
        }));
        b.define(&Definition::Clock(ClockReading {
            ticks: 400,
            monotonic: 400,
            realtime: 1_700_000_000_000_000_400 - u64::from(LONGER),
            cpu: 0,
        }));
        for tag in 0..3 {
            let start = LONGER + 1050 + 1000 * tag as u32;
            let got = from(0, tag, 1, status(0, tag as i32, 4));
            call_at(&mut b, start, start + 150, "MPI_Recv", &got);
        }
        folder.write("1.blocks", &file(&b, &KILLED));
        let printed = folder.succeeds(&["recover", "--formats", "slog2", "."]);
        let said = "1 rank on another host is placed by the time of day";
        assert_eq!(printed.contains(said), settings.is_empty(), "{printed}");
        let about = folder.succeeds(&["info", "p.slog2"]);
        let found = about.lines().find_map(|line| line.strip_prefix("span s "));
        let found: f64 = found.expect("a span").trim().parse().expect("a number");
        assert!(span.contains(&found), "{settings}: {about}");
    }
}
