//! Numbers of bytes as people read and write them, and three digits of any number.

/// Bytes in three digits and a unit of 1024: `512 B`, `1.50 KiB`, `12.0 GiB`.
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

/// Three digits, or all that stand before the point: `1.50`, `-12.0`, `1234`.
pub fn digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
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
}
