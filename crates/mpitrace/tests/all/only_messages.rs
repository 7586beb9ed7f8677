//! Conversion to formats in which every arrow is a message.

use crate::exported::{stderr, succeeds, synth};
use serde_json::Value;

/// The arrows that `mpitrace arrows` draws from calls to operations are not counted as messages behind a conversion.
#[test]
fn arrows_that_are_no_messages_stay_behind() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    synth(at, "run.slog2");
    succeeds(at, &["arrows", "-q", "run.slog2", "arrows.slog2"]);
    let arrows = |file: &str| {
        let printed = succeeds(at, &["info", "--json", file]).stdout;
        let info: Value = serde_json::from_slice(&printed).unwrap();
        info[0]["arrows"].as_u64().unwrap()
    };
    let others = arrows("arrows.slog2") - arrows("run.slog2");
    assert!(others > 0);
    for format in ["clog2", "alog", "clog1"] {
        let converted = succeeds(
            at,
            &["convert", "-q", "--to", format, "arrows.slog2", format],
        );
        let told = stderr(&converted);
        let expected = format!("{others} x arrow that is no message");
        assert!(told.contains(&expected), "{format}: {told}");
        succeeds(at, &["convert", "-q", format, "back.slog2", "--force"]);
        assert_eq!(arrows("back.slog2"), arrows("run.slog2"), "{format}");
        let printed = succeeds(at, &["report", "-q", format]).stdout;
        let has_note = String::from_utf8_lossy(&printed).contains("does not tell communicators");
        assert_eq!(has_note, format != "clog2", "{format}");
    }
}
