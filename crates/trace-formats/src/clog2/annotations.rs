//! What the recorder says by annotations: events of one category, each with a text. CLOG2 and SLOG2 have them, DUMPI some of them.

use trace_model::{Category, InfoValue, Topology, info_values};

/// Text of the annotation at the end of a rank that did not come to MPI_Finalize. The recorder's traces have it in CLOG2, SLOG2 and DUMPI.
pub const NO_FINALIZE: &str = "no MPI_Finalize";

/// Words behind the number in [`not_matched`].
const NOT_MATCHED: &str = " messages not matched";

/// Text of the annotation at the end of a rank that has sent or received messages that are not drawn, as their other ends are left out or not
/// known.
pub fn not_matched(messages: u64) -> String {
    // There is room for 30 bytes.
    format!("{}{NOT_MATCHED}", messages.min(999_999_999))
}

/// The number in a text that [`not_matched`] has made; `None` for any other text.
pub fn not_matched_of(text: &[u8]) -> Option<u64> {
    number_before(text, NOT_MATCHED)
}

/// Words behind the number in [`left_out`].
const LEFT_OUT: &str = " collectives left out";

/// Text of the annotation at the end of a rank of which collective calls on communicators were counted and not recorded.
pub fn left_out(collective_calls: u64) -> String {
    // There is room for 30 bytes.
    format!("{}{LEFT_OUT}", collective_calls.min(999_999_999))
}

/// The number in a text that [`left_out`] has made; `None` for any other text.
pub fn left_out_of(text: &[u8]) -> Option<u64> {
    number_before(text, LEFT_OUT)
}

/// The number in front of these words, which end a text.
fn number_before(text: &[u8], words: &str) -> Option<u64> {
    let number = text.strip_suffix(words.as_bytes())?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// What the text of the annotation at the beginning of an unfinished call begins with; its function follows.
pub const UNFINISHED: &str = "unfinished ";

/// The MPI function in the text of the annotation of an unfinished call; `None` for any other text.
pub fn unfinished_of(text: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(text).ok()?.strip_prefix(UNFINISHED)?;
    name.starts_with("MPI").then_some(name)
}

/// Whether drawables of a category are annotations of the recorder.
pub fn is_annotation(category: &Category) -> bool {
    category.topology == Topology::Event && category.name.0 == b"annotation"
}

/// The text of an annotation.
pub fn annotation_text<'i>(category: &'i Category, info: &'i [u8]) -> Option<&'i [u8]> {
    info_values(category, info).find_map(|(_, value)| match value {
        InfoValue::Text(text) => Some(text),
        _ => None,
    })
}
