//! Messages of which the trace has one end and cannot tell the other.

use super::{Folder, KILLED, STAMP, exchange, file};
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
