//! Numbers for people: times in three digits and a unit; bytes and counted nouns are as in all crates.

pub use trace_model::units::{bytes, counted, duration_ns as time, parse_bytes};

/// A duration in seconds, in the form of [`time`]: rounded to ns, and negative if it is.
pub fn seconds(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    // Too large ones become the largest.
    format!("{sign}{}", time((seconds.abs() * 1e9).round() as u64))
}
