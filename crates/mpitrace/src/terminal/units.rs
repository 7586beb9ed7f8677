//! Numbers for people: times in three digits and a unit, and counted nouns; bytes are as in all crates.

pub use trace_model::units::{bytes, parse_bytes};

use trace_model::units::digits;

/// `850 ns`, `1.50 us`, `12.0 ms`, `123 s`.
pub fn time(ns: u64) -> String {
    let units = ["us", "ms", "s"];
    if ns < 1000 {
        return format!("{ns} ns");
    }
    let mut value = ns as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{} {}", digits(value), units[unit])
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let all = [
            0,
            999,
            1000,
            999_499,
            999_500,
            12_345_678,
            1_500_000_000,
            7_200_000_000_000,
        ];
        let shown = [
            "0 ns", "999 ns", "1.00 us", "999 us", "1.00 ms", "12.3 ms", "1.50 s", "7200 s",
        ];
        assert_eq!(all.map(time), shown);
    }
}
