//! Primitives of the payloads of definitions: integers in the machine's byte order, and strings as a u32 length and bytes.
//!
//! Functions named `put_…` append to a payload; the others take from one and give `None` when it ends too early.

use crate::args::ByteCursor;

pub fn put_u32(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_ne_bytes());
}

pub fn put_u64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_ne_bytes());
}

pub fn put_text(out: &mut Vec<u8>, s: &str) {
    put_u32(out, s.len() as u32);
    out.extend_from_slice(s.as_bytes());
}

/// Appends a u32 count and the strings.
pub fn put_texts(out: &mut Vec<u8>, texts: &[String]) {
    put_u32(out, texts.len() as u32);
    texts.iter().for_each(|text| put_text(out, text));
}

/// A string. Bytes that are not UTF-8 become U+FFFD.
pub fn text(b: &mut ByteCursor<'_>) -> Option<String> {
    Some(String::from_utf8_lossy(b.string()??).into_owned())
}

/// Strings after a u32 count.
pub fn texts(b: &mut ByteCursor<'_>) -> Option<Vec<String>> {
    let mut texts = Vec::new();
    for _ in 0..b.u32()? {
        texts.push(text(b)?);
    }
    Some(texts)
}
