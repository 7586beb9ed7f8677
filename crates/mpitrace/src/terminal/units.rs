//! Numbers for people: times in three digits and a unit; bytes and counted nouns are as in all crates.

pub use trace_model::units::{bytes, counted, duration_ns as time, parse_bytes};

/// A duration in seconds, in the form of [`time`]: rounded to ns, and negative if it is.
pub fn seconds(seconds: f64) -> String {
    // More than the 584 years that ns can count.
    if seconds.abs() >= u64::MAX as f64 / 1e9 {
        return format!("{seconds:.2e} s");
    }
    let ns = (seconds.abs() * 1e9).round() as u64;
    let sign = if seconds < 0.0 && ns > 0 { "-" } else { "" };
    format!("{sign}{}", time(ns))
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn seconds_of_every_size() {
        let shown = [-1.5, -2e-10, 17.73, 1.8e10, 2e10, -3e300].map(seconds);
        assert_eq!(
            shown,
            [
                "-1.50 s",
                "0 ns",
                "17.7 s",
                "18000000000 s",
                "2.00e10 s",
                "-3.00e300 s"
            ]
        );
    }
}
