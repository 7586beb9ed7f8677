//! Numbers of bytes and lengths of time as people read and write them, and three digits of any number.

/// Bytes in three digits and a unit of 1024: `512 B`, `1.50 KiB`, `12.0 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // A value that would be shown as 1024 is one of the next unit.
    while value >= 1023.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", digits(value), units[unit])
}

/// A number of bytes as people write it: digits, then nothing, or K, M or G for 2^10, 2^20 or 2^30, in either case and with or
/// without a B. `None` for any other text, and for numbers beyond 64 bits.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" | "KB" => 10,
        "M" | "MB" => 20,
        "G" | "GB" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A length of time in seconds, shown in three digits: `850 ns`, `1.50 us`, `12.0 ms`, `123 s`.
pub fn duration(seconds: f64) -> String {
    scaled_ns(seconds * 1e9)
}

/// A length of time in ns, in the form of [`duration`].
pub fn duration_ns(ns: u64) -> String {
    scaled_ns(ns as f64)
}

fn scaled_ns(ns: f64) -> String {
    let (mut value, mut unit) = (ns, 0);
    let units = ["ns", "us", "ms", "s"];
    while value.abs() >= 999.5 && unit + 1 < units.len() {
        value /= 1e3;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0} ns"),
        _ => format!("{} {}", digits(value), units[unit]),
    }
}

/// A time in ns as seconds with nine places: `-1.500000000`.
pub fn exact_seconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A part of a whole: `12.3 %`. What is too little for two decimals is not nothing: `<0.01 %`.
pub fn percent(share: f64) -> String {
    let shown = share * 100.0;
    if shown > 0.0 && shown < 0.005 {
        return "<0.01 %".to_owned();
    }
    format!("{} %", digits(share * 100.0))
}

/// Three digits, or all that stand before the point: `1.50`, `-12.0`, `1234`.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
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
    fn bytes_have_three_digits() {
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
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let all = ["0", "4096", "64k", "64K", "1MB", "2g"];
        let read = [0, 4096, 65536, 65536, 1 << 20, 2 << 30];
        assert_eq!(all.map(parse_bytes), read.map(Some));
        for wrong in [
            "",
            "k",
            "-1",
            "1.5k",
            "1 k",
            "1KiB",
            "99999999999999999999",
            "99999999999G",
        ] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn durations_have_three_digits() {
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
        assert_eq!(all.map(duration_ns), shown);
        assert_eq!(duration(-0.0123), "-12.3 ms");
    }

    #[test]
    fn exact_seconds_have_nine_places() {
        assert_eq!(exact_seconds(1), "0.000000001");
        assert_eq!(exact_seconds(-1_500_000_000), "-1.500000000");
    }
}
