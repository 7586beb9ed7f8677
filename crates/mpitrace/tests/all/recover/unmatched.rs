//! Messages of which the trace has one end and cannot tell the other.

use super::common::{self, Blocks, call_at, from, to};
use super::{End, Folder, KILLED, STAMP, exchange, file};
use blockfile::encode::MpiStatus;
use blockfile::layout::FileHeader;
use std::mem::offset_of;

/// Where the oldest calls were given up, nobody knows which send belongs to which receive: no format has a message, and a report says what is missing.
#[test]
fn messages_of_a_run_whose_beginning_is_gone_are_not_guessed() {
    let folder = Folder::new("given-up");
    for rank in 0..2 {
        let mut bytes = file(&exchange(rank, 2, 5), &KILLED);
        let at = offset_of!(FileHeader, dropped);
        bytes[at..at + 8].copy_from_slice(&(3 + rank as u64).to_ne_bytes());
        folder.write(&format!("{rank}.blocks"), &bytes);
    }
    folder.succeeds(&["recover", "--formats=clog2,slog2,dumpi", "."]);
    let dumpi = format!("p-{STAMP}.meta");
    for trace in ["p.slog2", "p.clog2", &dumpi] {
        let printed = folder.succeeds(&["report", "--json", trace]);
        let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(report["messages"], 0, "{trace}");
        assert_eq!(report["unmatched"], 10, "{trace}: {report:#}");
        let told = "of 100 % of their ends the trace does not tell the other one.";
        let printed = folder.succeeds(&["report", trace]).replace("\n  ", " ");
        assert!(printed.contains(told), "{trace}: {printed}");
    }
    let verified = folder.succeeds(&["verify", &dumpi]).replace("\n  ", " ");
    let why = "messages never received: calls that messages hang on were left out or given up";
    assert!(verified.contains(why), "{verified}");
}

/// One of two ranks: the first sent ten messages of different sizes with one tag, and of its calls these are missing.
fn ten_messages(rank: i32, missing: &[i64]) -> Blocks {
    let mut b = common::rank(rank, 2);
    for nth in 0..10 {
        let start = 1000 + 1000 * nth as u32;
        let got = MpiStatus {
            source: 0,
            tag: 0,
            error: 0,
            bytes: 4 * (nth as u64 + 1),
            cancelled: false,
        };
        match rank {
            0 if missing.contains(&nth) => {}
            0 => call_at(&mut b, start, start + 100, "MPI_Send", &to(1, 0, nth + 1)),
            _ => call_at(
                &mut b,
                start + 50,
                start + 200,
                "MPI_Recv",
                &from(0, 0, 10, got),
            ),
        }
    }
    b
}

/// Where calls could not be kept, arrows end at the first of them: after it, nobody knows which send belongs to which receive. The sizes
/// of the messages tell which of them is which.
#[test]
fn messages_after_lost_calls_are_not_guessed() {
    let ended = End { ended: 1, ..KILLED };
    // Calls are numbered from 0, and each begins 1000 ticks after the one before. A file of an older recorder does not say when the loss began.
    for (since, drawn) in [(6000, 5), (0, 0)] {
        let folder = Folder::new(&format!("lost-calls-{since}"));
        let mut sender = file(&ten_messages(0, &[5, 6]), &End { lost: 2, ..ended });
        let at = offset_of!(FileHeader, lost_since);
        sender[at..at + 8].copy_from_slice(&u64::to_ne_bytes(since));
        folder.write("0.blocks", &sender);
        folder.write("1.blocks", &file(&ten_messages(1, &[]), &ended));
        folder.succeeds(&["recover", "--formats=clog2,slog2", "."]);
        for trace in ["p.slog2", "p.clog2"] {
            let printed = folder.succeeds(&["report", "--json", trace]);
            let report: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
            assert_eq!(report["messages"], drawn, "{trace}");
            assert_eq!(report["unmatched"], 18 - 2 * drawn, "{trace}");
        }
        let printed = folder.succeeds(&["print", "p.clog2"]);
        let sizes = |kind: &str| {
            let lines = printed.lines().filter(|line| line.contains(kind));
            let size = |line: &str| line.split(" sz=").nth(1)?.trim().parse().ok();
            lines.filter_map(size).collect::<Vec<u64>>()
        };
        let expected: Vec<u64> = (1..=drawn).map(|n| 4 * n).collect();
        assert_eq!(sizes("et=send"), expected);
        assert_eq!(sizes("et=recv"), expected);
    }
}
