//! Numbers as people read them.

pub use trace_model::units::bytes;

use trace_model::units::digits;

/// Seconds with three digits: `1.23 s`, `45.6 µs`.
pub fn seconds(seconds: f64) -> String {
    let (unit, factor) = match seconds.abs() {
        0.0 => return "0 s".to_owned(),
        s if s < 1e-6 => ("ns", 1e9),
        s if s < 1e-3 => ("µs", 1e6),
        s if s < 1.0 => ("ms", 1e3),
        s if s < 600.0 => ("s", 1.0),
        _ => ("min", 1.0 / 60.0),
    };
    format!("{} {unit}", digits(seconds * factor))
}

/// A share: `12.3 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", digits(share * 100.0))
}

/// One or more: `1 call`, `2 calls`.
pub fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!(seconds(1.234), "1.23 s");
        assert_eq!(seconds(0.0456), "45.6 ms");
        assert_eq!(seconds(123e-6), "123 µs");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(6000.0), "100 min");
        assert_eq!(bytes(1000), "1000 B");
        assert_eq!(bytes(3 << 19), "1.50 MiB");
        assert_eq!(percent(0.1234), "12.3 %");
        assert_eq!(count(1, "call"), "1 call");
    }
}
