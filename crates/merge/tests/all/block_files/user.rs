//! What programs tell of themselves, in all projections, from block files made in memory.

use crate::block_files::ranks::*;
use blockfile::define::{Definition, THREAD_END, USER_EVENT};
use blockfile::file::BlockFile;
use blockfile::user::{UserCategory, UserCategoryKind, UserEvent, UserEventContent, UserMessage};
use merge::MergedBody;
use merge::dumpi::{DumpiOptions as Dumpi, write_to};
use merge::local::{Merge, MergeOptions};
use trace_formats::clog2::Clog2Body;
use trace_formats::dumpi::read::DumpiReader;
use trace_formats::dumpi::value::FieldValue;

fn define(b: &mut Blocks, kind: UserCategoryKind, number: i32, end: i32, name: &str) {
    b.define(&Definition::UserCategory(UserCategory {
        kind,
        number,
        end,
        name: name.to_owned(),
        ..UserCategory::default()
    }));
}

/// An event at `start`, ns.
fn tell(b: &mut Blocks, start: u32, number: i32, inside: bool, what: UserEventContent<'_>) {
    tell_on(b, start, number, None, inside, what);
}

fn tell_on(
    b: &mut Blocks,
    start: u32,
    number: i32,
    comm: Option<u64>,
    inside: bool,
    what: UserEventContent<'_>,
) {
    let payload = UserEvent {
        number,
        comm,
        inside,
        content: what,
    }
    .encode();
    b.record(USER_EVENT, start, 0, &payload);
}

/// States of the lines, as (name, line, start, end), times from 1 µs before the first event on.
fn states(merged: &Merged) -> Vec<Shown> {
    let (_, states, conversion) = merged.drawables();
    assert_eq!(conversion.unmatched_events, 0);
    states
}

fn shown(name: &str, line: i32, start: i64, end: i64) -> Shown {
    (name.to_owned(), line, start, end)
}

/// CLOG2 has room for 31 bytes of a name: two regions or markers that begin alike are two for whoever writes SLOG2.
#[test]
fn regions_and_markers_have_their_whole_names_beside_those_of_clog2() {
    let names = [
        "assemble the stiffness matrix of the upper half",
        "assemble the stiffness matrix of the lower half",
        "short",
    ];
    let mut blocks = rank(0, 1);
    for (number, name) in (1..).zip(names) {
        define(&mut blocks, UserCategoryKind::Region, number, 0, name);
    }
    for number in 1..=3 {
        let at = 2000 + 10 * number;
        tell(
            &mut blocks,
            at,
            number as i32,
            false,
            UserEventContent::Enter,
        );
        tell(
            &mut blocks,
            at + 5,
            number as i32,
            false,
            UserEventContent::Exit,
        );
    }
    let markers = [
        "residual of the coarse grid, upper half",
        "residual of the coarse grid, lower half",
    ];
    for (number, name) in (4..).zip(markers) {
        define(&mut blocks, UserCategoryKind::Integer, number, 0, name);
        let at = 3000 + 10 * number;
        tell(
            &mut blocks,
            at as u32,
            number,
            false,
            UserEventContent::Mark(1),
        );
    }
    let bytes = blocks.bytes();
    let files = [BlockFile::new(&bytes).expect("a block file")];
    let table = wrappers::table().expect("the table parses");
    let merge = Merge::new(&files, table, MergeOptions::default()).expect("a run");
    let mut found = Vec::new();
    let taken: Result<_, ()> = merge.run(|record| {
        if let MergedBody::State(state) = &record.body
            && (300..303).contains(&state.def.state_id)
        {
            let short = state.def.name.to_str().into_owned();
            found.push((short, state.whole_name.clone()));
        }
        if let MergedBody::SoloEvent(event) = &record.body
            && event.whole_name.is_some()
        {
            let short = event.def.name.to_str().into_owned();
            found.push((short, event.whole_name.clone()));
        }
        Ok(())
    });
    taken.expect("nothing to fail");
    let whole = names.into_iter().chain(markers);
    let expected: Vec<_> = whole
        .map(|name| (name[..name.len().min(31)].to_owned(), Some(name.to_owned())))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn regions_are_states_that_the_ranks_agree_on_by_name() {
    let (mut a, mut b) = (rank(0, 2), rank(1, 2));
    define(&mut a, UserCategoryKind::Region, 1, 0, "outer");
    define(&mut a, UserCategoryKind::Region, 2, 0, "inner");
    tell(&mut a, 2000, 1, false, UserEventContent::Enter);
    tell(&mut a, 2010, 2, false, UserEventContent::Enter);
    call_at(&mut a, 2020, 2030, "MPI_Barrier", &[V::H(WORLD)]);
    tell(&mut a, 2040, 2, false, UserEventContent::Exit);
    tell(&mut a, 2050, 1, false, UserEventContent::Exit);
    // An end without a beginning is none.
    tell(&mut a, 2060, 2, false, UserEventContent::Exit);
    // The other rank has the names in another order, and another one.
    define(&mut b, UserCategoryKind::Region, 1, 0, "inner");
    define(&mut b, UserCategoryKind::Region, 2, 0, "third");
    tell(&mut b, 2005, 1, false, UserEventContent::Enter);
    call_at(&mut b, 2020, 2030, "MPI_Barrier", &[V::H(WORLD)]);
    tell(&mut b, 2035, 1, false, UserEventContent::Exit);
    tell(&mut b, 2036, 2, false, UserEventContent::Enter);
    call_at(&mut b, 2100, 2110, "MPI_Barrier", &[V::H(WORLD)]);
    let merged = merge(&[a, b]);
    assert_eq!(
        states(&merged),
        [
            shown("outer", 0, 1000, 1050),
            shown("inner", 1, 1005, 1035),
            shown("inner", 0, 1010, 1040),
            shown("MPI_Barrier", 0, 1020, 1030),
            shown("MPI_Barrier", 1, 1020, 1030),
            // Never ended: to the end of its rank's log.
            shown("third", 1, 1036, 1110),
            shown("MPI_Barrier", 1, 1100, 1110),
        ]
    );
    assert_eq!(merged.notes.unknown_events, 1);
    // All definitions stand before all events, and their numbers are pre-defined.
    let first_event = merged
        .records
        .iter()
        .position(|r| matches!(r.body, Clog2Body::Bare { etype } if etype >= 0))
        .expect("events");
    let defined: Vec<(usize, i32, String)> = merged
        .records
        .iter()
        .enumerate()
        .filter_map(|(i, r)| match r.body {
            Clog2Body::StateDef(d) if d.state_id < 303 && d.state_id >= 300 => {
                Some((i, d.state_id, d.name.to_str().into_owned()))
            }
            _ => None,
        })
        .collect();
    let names: Vec<(i32, &str)> = defined.iter().map(|d| (d.1, d.2.as_str())).collect();
    assert_eq!(names, [(300, "outer"), (301, "inner"), (302, "third")]);
    assert!(defined.iter().all(|d| d.0 < first_event));
    let count = merged.preamble.user_state_id_count;
    let without = {
        let mut b = rank(0, 1);
        call_at(&mut b, 1000, 1010, "MPI_Barrier", &[V::H(WORLD)]);
        merge(&[b]).preamble.user_state_id_count
    };
    assert_eq!(count, without + 3);
}

#[test]
fn events_inside_calls_stand_between_their_ends() {
    let mut b = rank(0, 1);
    define(&mut b, UserCategoryKind::Region, 1, 0, "callback");
    // Records of calls stand behind the events that came while they ran.
    tell(&mut b, 2010, 1, true, UserEventContent::Enter);
    tell(&mut b, 2020, 1, true, UserEventContent::Exit);
    call_at(&mut b, 2000, 2100, "MPI_Barrier", &[V::H(WORLD)]);
    // Inside a call that has no record.
    tell(&mut b, 2200, 1, true, UserEventContent::Enter);
    tell(&mut b, 2210, 1, true, UserEventContent::Exit);
    tell(&mut b, 2300, 1, false, UserEventContent::Enter);
    tell(&mut b, 2310, 1, false, UserEventContent::Exit);
    tell(&mut b, 2400, 1, true, UserEventContent::Enter);
    tell(&mut b, 2410, 1, true, UserEventContent::Exit);
    call_at(&mut b, 2500, 2600, "MPI_Barrier", &[V::H(WORLD)]);
    tell(&mut b, 2700, 1, true, UserEventContent::Enter);
    tell(&mut b, 2710, 1, true, UserEventContent::Exit);
    let merged = merge(&[b]);
    assert_eq!(
        states(&merged),
        [
            shown("MPI_Barrier", 0, 1000, 1100),
            shown("callback", 0, 1010, 1020),
            shown("callback", 0, 1200, 1210),
            shown("callback", 0, 1300, 1310),
            shown("callback", 0, 1400, 1410),
            shown("MPI_Barrier", 0, 1500, 1600),
            shown("callback", 0, 1700, 1710),
        ]
    );
}

#[test]
fn regions_of_threads_are_on_their_lines() {
    let mut b = rank(0, 1);
    define(&mut b, UserCategoryKind::Region, 1, 0, "work");
    tell(&mut b, 2000, 1, false, UserEventContent::Enter);
    tell(&mut b, 2100, 1, false, UserEventContent::Exit);
    b.threads.push(Vec::new());
    b.thread = 1;
    tell(&mut b, 2050, 1, false, UserEventContent::Enter);
    tell(&mut b, 2150, 1, false, UserEventContent::Exit);
    let merged = merge(&[b]);
    let wanted = [shown("work", 0, 1000, 1100), shown("work", 1, 1050, 1150)];
    assert_eq!(states(&merged), wanted);
    assert_eq!(merged.preamble.max_thread_count, 2);
}

/// What a thread that pthread_exit has ended had begun ends with it. The thread that goes on with its line has regions of its own.
#[test]
fn regions_end_with_their_thread() {
    let mut b = rank(0, 1);
    define(&mut b, UserCategoryKind::Region, 1, 0, "work");
    define(&mut b, UserCategoryKind::Region, 2, 0, "inner");
    tell(&mut b, 2000, 1, false, UserEventContent::Enter);
    b.threads.push(Vec::new());
    b.thread = 1;
    tell(&mut b, 2010, 1, false, UserEventContent::Enter);
    tell(&mut b, 2020, 2, false, UserEventContent::Enter);
    b.record(THREAD_END, 2030, 0, &[]);
    tell(&mut b, 2500, 2, false, UserEventContent::Enter);
    tell(&mut b, 2600, 2, false, UserEventContent::Exit);
    b.thread = 0;
    tell(&mut b, 2900, 1, false, UserEventContent::Exit);
    let mut found = states(&merge(&[b]));
    found.sort();
    let wanted = [
        shown("inner", 1, 1020, 1030),
        shown("inner", 1, 1500, 1600),
        shown("work", 0, 1000, 1900),
        shown("work", 1, 1010, 1030),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn markers_and_texts_are_solo_events_with_data() {
    let mut b = rank(0, 1);
    define(&mut b, UserCategoryKind::Integer, 1, 0, "step");
    define(&mut b, UserCategoryKind::Real, 2, 0, "residual");
    define(&mut b, UserCategoryKind::Text, 3, 0, "text");
    tell(&mut b, 2000, 1, false, UserEventContent::Mark(-7i64 as u64));
    tell(
        &mut b,
        2010,
        2,
        false,
        UserEventContent::Mark(0.25f64.to_bits()),
    );
    let long = "ab456789012345678901234567890äx";
    tell(
        &mut b,
        2020,
        3,
        false,
        UserEventContent::Text(long.as_bytes()),
    );
    let merged = merge(&[b]);
    let cargo: Vec<(i32, [u8; 32])> = merged
        .records
        .iter()
        .filter_map(|r| match r.body {
            Clog2Body::Cargo { etype, bytes } => Some((etype, bytes)),
            _ => None,
        })
        .collect();
    let etypes: Vec<i32> = cargo.iter().map(|c| c.0).collect();
    assert_eq!(etypes, [5000, 5001, 5002]);
    assert_eq!(cargo[0].1[..8], (-7i64).to_be_bytes());
    assert_eq!(cargo[1].1[..8], 0.25f64.to_be_bytes());
    assert_eq!(cargo[2].1[..31], *b"\0\x1dab456789012345678901234567890");
    assert_eq!(merged.preamble.user_solo_event_id_count, 3);
}

#[test]
fn mpes_events_are_on_their_communicator_and_messages_are_arrows() {
    let (mut a, mut b) = (rank(0, 2), rank(1, 2));
    const DUP: u64 = 0x8400_0000;
    for (rank, b) in [(0, &mut a), (1, &mut b)] {
        define(b, UserCategoryKind::State, 600, 601, "mine");
        define(b, UserCategoryKind::State, 1, 2, "old style");
        intra(
            b,
            DUP,
            WORLD,
            blockfile::define::CommCreation::Parent,
            rank,
            &[0, 1],
        );
        call_at(b, 2000, 2010, "MPI_Comm_dup", &[V::H(WORLD), V::H(DUP)]);
        tell_on(b, 2020, 600, Some(DUP), false, UserEventContent::Mpe(None));
        tell_on(
            b,
            2030,
            601,
            Some(DUP),
            false,
            UserEventContent::Mpe(Some(&[9; 32])),
        );
        tell(b, 2040, 1, false, UserEventContent::Mpe(None));
        tell(b, 2050, 2, false, UserEventContent::Mpe(None));
        let message = UserMessage {
            partner: 1 - rank,
            tag: 5,
            bytes: 77,
        };
        let what = if rank == 0 {
            UserEventContent::Send(message)
        } else {
            UserEventContent::Receive(message)
        };
        tell_on(b, 2060 + rank as u32, 0, Some(DUP), false, what);
        let nobody = UserMessage {
            partner: -1,
            ..message
        };
        tell(b, 2070, 0, false, UserEventContent::Send(nobody));
        // A number that nobody has described.
        tell(b, 2080, 4711, false, UserEventContent::Mpe(None));
    }
    let merged = merge(&[a, b]);
    let (arrows, _, conversion) = merged.drawables();
    assert_eq!(conversion.unmatched_events, 0);
    assert_eq!(arrows.len(), 1);
    assert_eq!((arrows[0].tag, arrows[0].bytes), (5, 77));
    let mine: Vec<(i32, i32, bool)> = merged
        .records
        .iter()
        .filter_map(|r| match r.body {
            Clog2Body::Bare { etype: 600 } => Some((r.header.icomm, r.header.rank, false)),
            Clog2Body::Cargo { etype: 601, bytes } => {
                assert_eq!(bytes, [9; 32]);
                Some((r.header.icomm, r.header.rank, true))
            }
            _ => None,
        })
        .collect();
    let comm = mine[0].0;
    assert!(comm > 0);
    for wanted in [(comm, 0, false), (comm, 1, false), (comm, 0, true)] {
        assert!(mine.contains(&wanted), "{mine:?}");
    }
    // Numbers that the program chose do not fall on events of MPI functions.
    let names: Vec<String> = states(&merged).into_iter().map(|s| s.0).collect();
    assert_eq!(names.iter().filter(|n| *n == "old style").count(), 2);
    assert_eq!(merged.notes.unknown_messages, 0);
    assert!(merged.records.iter().any(|r| matches!(
        r.body,
        Clog2Body::EventDef(d) if d.name.to_str() == "event 4711"
    )));
}

#[test]
fn after_a_kill_what_was_open_is_shown_as_unfinished() {
    let (mut a, mut b) = (rank(0, 2), rank(1, 2));
    define(&mut a, UserCategoryKind::Region, 1, 0, "loop");
    define(&mut a, UserCategoryKind::State, 600, 601, "state");
    tell(&mut a, 2000, 1, false, UserEventContent::Enter);
    tell(&mut a, 2010, 600, false, UserEventContent::Mpe(None));
    call_at(&mut a, 2020, 2030, "MPI_Barrier", &[V::H(WORLD)]);
    call_at(&mut b, 2020, 2900, "MPI_Barrier", &[V::H(WORLD)]);
    let options = MergeOptions {
        recover: true,
        ..MergeOptions::default()
    };
    let merged = merge_with(&[a, b], options);
    assert_eq!(
        states(&merged),
        [
            shown("loop", 0, 1000, 1900),
            shown("state", 0, 1010, 1900),
            shown("MPI_Barrier", 0, 1020, 1030),
            shown("MPI_Barrier", 1, 1020, 1900),
        ]
    );
    let unfinished = merged.records.iter().filter(|r| match r.body {
        Clog2Body::Cargo { bytes, .. } => &bytes[2..12] == b"unfinished",
        _ => false,
    });
    assert_eq!(unfinished.count(), 1);
}

#[test]
fn dumpi_has_regions_as_pseudo_calls_with_their_names() {
    let mut b = rank(0, 1);
    define(&mut b, UserCategoryKind::Region, 1, 0, "outer");
    define(&mut b, UserCategoryKind::Real, 2, 0, "residual");
    define(&mut b, UserCategoryKind::State, 600, 601, "state");
    tell(&mut b, 2000, 1, false, UserEventContent::Enter);
    tell(&mut b, 2010, 600, false, UserEventContent::Mpe(None));
    call_at(&mut b, 2020, 2030, "MPI_Barrier", &[V::H(WORLD)]);
    tell(
        &mut b,
        2040,
        2,
        false,
        UserEventContent::Mark(1.5f64.to_bits()),
    );
    tell(&mut b, 2050, 601, false, UserEventContent::Mpe(None));
    // pthread_exit leaves the region.
    b.record(THREAD_END, 2060, 0, &[]);
    let bytes = b.bytes();
    let file = BlockFile::new(&bytes).expect("a block file");
    let (out, _) = write_to(&file, b.table, &Dumpi::default(), Vec::new()).expect("written");
    let reader = DumpiReader::open(&out).expect("a DUMPI file");
    let labels = reader.address_labels().expect("sound").expect("there");
    let label = |key: u64| {
        let found = labels.iter().find(|l| l.key == key).expect("a label");
        String::from_utf8_lossy(&found.label).into_owned()
    };
    let records: Vec<(String, String, i32)> = reader
        .records()
        .map(|record| {
            let record = record.expect("sound");
            let label = match record.args().next() {
                Some((_, FieldValue::U64(key))) => label(key),
                _ => String::new(),
            };
            (
                record.function.name.to_owned(),
                label,
                record.wall.start.nsec,
            )
        })
        .collect();
    let is = |name: &str, label: &str, at| (name.to_owned(), label.to_owned(), at);
    assert_eq!(
        records,
        [
            is("Function_enter", "outer", 2000),
            is("Function_enter", "state", 2010),
            is("MPI_Barrier", "", 2020),
            is("Function_enter", "ANNOTATION: residual=1.5", 2040),
            is("Function_exit", "ANNOTATION: residual=1.5", 2040),
            is("Function_exit", "state", 2050),
            is("Function_exit", "outer", 2060),
        ]
    );
}
