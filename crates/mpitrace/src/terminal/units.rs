//! Numbers for people: times in three digits and a unit, and counted nouns; bytes are as in all crates.

pub use trace_model::units::{bytes, duration_ns as time, parse_bytes};

/// A duration in seconds, in the form of [`time`]: rounded to ns, and negative if it is.
pub fn seconds(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "-" } else { "" };
    // Too large ones become the largest.
    format!("{sign}{}", time((seconds.abs() * 1e9).round() as u64))
}

/// `1 file`, `2 files`, `2 accesses`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = match count {
        1 => "",
        _ if what.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {what}{plural}")
}
