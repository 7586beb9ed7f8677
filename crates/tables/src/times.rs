//! Times as the tables have them.

/// A time in whole ns.
pub fn ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}
