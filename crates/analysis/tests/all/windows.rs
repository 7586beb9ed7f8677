//! Collective calls on windows of which the trace does not tell the window, as in CLOG2.

use crate::made_up;
use analysis::performance::PerformanceCollector;
use trace_model::{Definitions, Drawable, InfoWriter, Line};

/// Two halves of four ranks each make a window: in each half its second rank comes late, by 20 s and by 10 s.
#[test]
fn windows_on_subcommunicators_are_made_apart() {
    let lines = (0..4).map(|rank| Line {
        comm: 1 + rank / 2,
        comm_rank: rank % 2,
        ..Line::of_thread(rank, rank, 0)
    });
    let definitions = Definitions {
        categories: made_up::states(&["MPI_Win_create"]),
        lines: lines.collect(),
        ..Definitions::default()
    };
    let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
    for (line, from, to) in [
        (0, 0.0, 21.0),
        (2, 0.0, 11.0),
        (3, 10.0, 11.0),
        (1, 20.0, 21.0),
    ] {
        made_up::put_state(|state| collector.put(state), (0, line), [from, to], &[]);
    }
    let report = collector.finish();
    let waiting = &report.pairs.waiting;
    assert_eq!((waiting[0][1], waiting[2][3]), (20.0, 10.0), "{waiting:?}");
    assert_eq!(report.time.waiting, 30.0);
}

const MADE_UP: [(&str, &[u8]); 4] = [
    ("MPI_Init", b""),
    ("MPI_Win_create", b"handle=%d"),
    ("MPI_Win_fence", b"handle=%d"),
    ("MPI_Session_init", b""),
];

/// A call: its category, rank, times and number of the window.
type WindowCall = (i32, i32, [f64; 2], i32);

fn report_of(calls: &[WindowCall]) -> analysis::performance::PerformanceReport {
    let definitions = made_up::definitions(made_up::states_with_infos(&MADE_UP), 2);
    let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
    for &(category, rank, times, window) in calls {
        let info = &window.to_be_bytes()[..if matches!(category, 0 | 3) { 0 } else { 4 }];
        made_up::put_state(|state| collector.put(state), (category, rank), times, info);
    }
    collector.finish()
}

/// Two windows, and rank 1 is 5 s late at a fence of the first one. Where the calls of rank 0 before it made the second window are not recorded, that is
/// its first one, and it numbers the windows the other way round: then the trace does not tell what is what.
#[test]
fn windows_that_a_rank_made_before_its_trace_begins_are_not_taken_for_others() {
    let whole: [WindowCall; 10] = [
        (0, 0, [0.0, 1.0], 0),
        (0, 1, [0.0, 1.0], 0),
        (1, 0, [2.0, 3.0], 0),
        (1, 1, [2.0, 4.0], 0),
        (1, 0, [3.5, 5.0], 1),
        (1, 1, [4.0, 5.0], 1),
        (2, 0, [10.0, 15.0], 0),
        (2, 1, [15.0, 16.5], 0),
        (2, 0, [16.0, 17.0], 1),
        (2, 1, [17.0, 17.0], 1),
    ];
    let waits_of = |calls: &[WindowCall]| {
        let report = report_of(calls);
        let waiting = &report.pairs.waiting;
        ([waiting[0][1], waiting[1][0]], report.notes)
    };
    let made_before = "collective calls on files or windows that were made before the trace begins";
    let (waits, notes) = waits_of(&whole);
    // Rank 0 at the second making, and at the fences of both windows.
    assert_eq!(waits, [0.5 + 5.0 + 1.0, 0.0]);
    assert!(!notes.iter().any(|note| note.contains(made_before)));
    // So it is in a program with sessions only.
    let sessions = whole.map(|(category, rank, times, window)| {
        let category = if category == 0 { 3 } else { category };
        (category, rank, times, window)
    });
    assert_eq!(waits_of(&sessions).0, waits);
    let mut calls = vec![whole[1], whole[3]];
    calls.extend(whole[4..].iter().map(|&(category, rank, times, window)| {
        let window = if rank == 0 { 1 - window } else { window };
        (category, rank, times, window)
    }));
    let (waits, notes) = waits_of(&calls);
    // At no fence. The two calls that make a window come together as far as the trace tells.
    assert_eq!(waits, [0.0, 1.5]);
    let said = format!("4 {made_before}: waits there are not counted");
    assert!(notes.contains(&said), "{notes:?}");
}

/// Rank 1 comes 3 s late to a call that makes no window on rank 0, where it fails. The fences after it are those of the window that was made before.
#[test]
fn ranks_come_together_in_a_call_that_fails_to_make_a_window() {
    const FAILED: i32 = -2;
    let report = report_of(&[
        (0, 0, [0.0, 1.0], 0),
        (0, 1, [0.0, 1.0], 0),
        (1, 0, [2.0, 3.0], 0),
        (1, 1, [2.0, 3.0], 0),
        (1, 0, [4.0, 8.0], FAILED),
        (1, 1, [7.0, 8.0], 1),
        (1, 0, [9.0, 11.0], 2),
        (1, 1, [10.0, 11.0], 2),
        (2, 0, [12.0, 17.0], 2),
        (2, 1, [17.0, 17.0], 2),
    ]);
    let waiting = &report.pairs.waiting;
    assert_eq!([waiting[0][1], waiting[1][0]], [3.0 + 1.0 + 5.0, 0.0]);
}

/// Rank 0 waits from second 2 to second 7 for the post of rank 1.
#[test]
fn one_sided_calls_on_windows_that_the_trace_does_not_tell_are_counted() {
    let formats: [(&str, &[u8]); 4] = [
        ("MPI_Win_create", b"handle=%d"),
        ("MPI_Win_start", b"handle=%d, ranks=%s"),
        ("MPI_Win_post", b"handle=%d, ranks=%s"),
        ("MPI_Put", b"target=%d"),
    ];
    let definitions = made_up::definitions(made_up::states_with_infos(&formats), 2);
    let report_of = |is_made: bool| {
        let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
        let mut put = |category: i32, rank: i32, times: [f64; 2]| {
            let mut info = InfoWriter::default();
            info.int(if category == 3 { 1 } else { 0 });
            if matches!(category, 1 | 2) {
                info.text((1 - rank).to_string().as_bytes());
            }
            let put = |state: &Drawable<'_>| collector.put(state);
            made_up::put_state(put, (category, rank), times, info.bytes());
        };
        if is_made {
            (0..2).for_each(|rank| put(0, rank, [0.0, 1.0]));
        }
        put(1, 0, [2.0, 8.0]);
        put(2, 1, [7.0, 7.5]);
        put(3, 0, [8.0, 9.0]);
        collector.finish()
    };
    let is_told = |note: &String| note.starts_with("2 calls of one-sided communication on windows");
    let [whole, part] = [true, false].map(report_of);
    assert_eq!(
        (whole.time.waiting, whole.notes.iter().any(is_told)),
        (5.0, false)
    );
    assert_eq!(
        (part.time.waiting, part.notes.iter().any(is_told)),
        (0.0, true)
    );
}

/// A file has the arguments of MPI_Bcast and MPI_Win_fence, and none of MPI_Win_allocate, as DUMPI.
#[test]
fn a_window_that_a_call_without_arguments_makes_is_not_told_as_older_than_the_trace() {
    let formats: [(&str, &[u8]); 3] = [
        ("MPI_Bcast", b"comm=%d"),
        ("MPI_Win_allocate", b""),
        ("MPI_Win_fence", b"win=%d"),
    ];
    let definitions = made_up::definitions(made_up::states_with_infos(&formats), 1);
    let notes_of = |calls: &[i32]| {
        let mut collector = PerformanceCollector::new(&definitions, &made_up::whole());
        for (nth, &category) in (0..).zip(calls) {
            let time = f64::from(nth);
            let info = &[0; 4][..if category == 1 { 0 } else { 4 }];
            let put = |state: &Drawable<'_>| collector.put(state);
            made_up::put_state(put, (category, 0), [time, time + 0.5], info);
        }
        collector.finish().notes
    };
    let unseen = "1 collective call on a file or window that was made before the trace begins, or by a call without arguments: ";
    for (calls, is_told) in [(&[0, 1, 2][..], true), (&[0, 2], false)] {
        let notes = notes_of(calls);
        assert_eq!(
            notes.iter().any(|note| note.starts_with(unseen)),
            is_told,
            "{notes:?}"
        );
        let told = "1 collective call on a file or window that was made before the trace begins";
        assert!(notes.iter().any(|note| note.starts_with(told)), "{notes:?}");
    }
}
