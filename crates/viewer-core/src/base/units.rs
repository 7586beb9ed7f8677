//! Numbers as people read them.

pub use trace_model::units::{bytes, duration, percent};

/// One or more: `1 call`, `2 calls`.
pub fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!(duration(1.234), "1.23 s");
        assert_eq!(duration(0.0456), "45.6 ms");
        assert_eq!(duration(123e-6), "123 us");
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(duration(6000.0), "6000 s");
        let shown = [1e-9, 1.5e-6, 0.0123, 2.0, 1234.0].map(duration);
        assert_eq!(shown, ["1 ns", "1.50 us", "12.3 ms", "2.00 s", "1234 s"]);
        assert_eq!(bytes(1000), "1000 B");
        assert_eq!(bytes(3 << 19), "1.50 MiB");
        assert_eq!(percent(0.1234), "12.3 %");
        let little = [0.0, 4e-5, 6e-5].map(percent);
        assert_eq!(little, ["0.00 %", "<0.01 %", "0.01 %"]);
        assert_eq!(count(1, "call"), "1 call");
    }
}
