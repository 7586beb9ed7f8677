//! Numbers for people: bytes and times in three digits and a unit, and what is counted.

/// `512 B`, `1.50 KiB`, `12.0 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // What would be shown as 1024 is one of the next unit.
    while value >= 1023.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", digits(value), units[unit])
}

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

/// Three digits, or all before the point.
fn digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let all = [
            0,
            1023,
            1024,
            1536,
            10 << 10,
            (1 << 20) - 1,
            1 << 20,
            123 << 30,
        ];
        let shown = [
            "0 B", "1023 B", "1.00 KiB", "1.50 KiB", "10.0 KiB", "1.00 MiB", "1.00 MiB", "123 GiB",
        ];
        assert_eq!(all.map(bytes), shown);
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
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
