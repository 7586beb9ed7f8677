//! The data of CLOG2 events.

use trace_formats::clog2::CARGO_SIZE;

/// The data of an event.
pub type Cargo = [u8; CARGO_SIZE];

/// The beginning of a text, as the token `s` has it.
pub(super) fn text_cargo(text: &[u8]) -> Cargo {
    let mut end = text.len().min(CARGO_SIZE - 2);
    while end < text.len() && end > 0 && text[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    let mut bytes = [0; CARGO_SIZE];
    bytes[..2].copy_from_slice(&(end as u16).to_be_bytes());
    bytes[2..2 + end].copy_from_slice(&text[..end]);
    bytes
}
